//! Runs of work as one line: screens, keys and clicks.

use super::*;
use crate::app::effect::Effect;
use crate::transcript::item::Body;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;

fn folded(stage: fn() -> Stage) -> Stage {
    let mut stage = stage();
    stage.state.display.folded = true;
    stage
}

/// A turn with a run under a reply and one at the edge, a thought before words, and a notice in between.
fn runs() -> Stage {
    let mut stage = first_rounds();
    stage.event(AgentEvent::Notice {
        level: NoticeLevel::Info,
        text: "The tests were changed on disk.".to_owned(),
    });
    let edit = call("3", "edit", json!({"path": "src/lexer.rs", "edits": [{}]}));
    let test = call("4", "bash", json!({"command": "cargo test parser"}));
    stage.says(
        "two",
        vec![thinking_block("Now the change."), Block::ToolCall(edit.clone()), Block::ToolCall(test.clone())],
    );
    stage.runs(&edit, "Edited src/lexer.rs.", json!({ "patch": PATCH }), false, 8);
    let output = "running 3 tests\ntest parser::empty_input ... FAILED\n\nCommand exited with code 101";
    stage.runs(&test, output, json!({"exitCode": 101}), true, 24_100);
    stage.says("three", vec![Block::text("One caller unwraps the first token; fixed.")]);
    stage.prompt("And the help?");
    stage.says(
        "four",
        vec![thinking_block("The help is in `cli.rs`."), Block::text("Next: the help text in the CLI.")],
    );
    stage
}

fn settled() -> Stage {
    let mut stage = folded(runs);
    stage.event(AgentEvent::TurnFinished {
        turn: TurnId(1),
        ticket: TicketId(1),
        outcome: TicketOutcome::Completed,
    });
    stage.change(|view, _| view.running = None);
    stage
}

fn opened_run() -> Stage {
    let mut stage = settled();
    stage.draw();
    let run = first_run(&mut stage);
    stage.click(&Target::Run(run));
    stage
}

/// A call runs under a reply.
fn live() -> Stage {
    let mut stage = folded(first_rounds);
    let test = call("3", "bash", json!({"command": "cargo test --workspace", "timeout": 120}));
    stage.says("two", vec![Block::text("Running everything now."), Block::ToolCall(test.clone())]);
    stage.starts(&test);
    stage.wait(4_250);
    stage
}

fn live_thinking() -> Stage {
    folded(thinking)
}

/// The run of the calls, by its first item.
fn first_run(stage: &mut Stage) -> usize {
    stage.draw();
    let items = stage.state.conversation.items();
    items.iter().position(|item| matches!(item.body, Body::Call(_))).expect("a call")
}

/// Wide and high enough for all of it.
fn roomy(stage: fn() -> Stage) -> Stage {
    let mut stage = stage();
    stage.state.size = (130, 70);
    stage.draw();
    stage
}

fn line_of(stage: &mut Stage, text: &str) -> String {
    let screen = stage.screen();
    screen
        .lines()
        .find(|line| line.contains(text))
        .unwrap_or_else(|| panic!("{text:?} in\n{screen}"))
        .to_owned()
}

/// Rows with a spinner.
fn spinners(stage: &mut Stage) -> Vec<String> {
    let is_spinner = |line: &&str| line.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c));
    stage.screen().lines().filter(is_spinner).map(str::to_owned).collect()
}

#[test]
fn screens_of_runs() {
    show("fold_settled", settled, Ground::Dark);
    show("fold_open", opened_run, Ground::Dark);
    show("fold_live", live, Ground::Dark);
    show("fold_thinking", live_thinking, Ground::Dark);
    show("fold_open", opened_run, Ground::Light);
    show("fold_live", live, Ground::Light);
    show("fold_open", opened_run, Ground::Ansi);
    show("fold_live", live, Ground::Ansi);
}

#[test]
fn a_key_and_a_command_fold_and_the_choice_is_kept() {
    let kept = |value: &str| vec![Effect::Save { key: "display.folded", value: value.to_owned() }];
    let mut stage = roomy(conversation);
    assert!(stage.screen().contains("$ cargo fmt"));
    assert_eq!(stage.keys(&["alt+o"]), kept("true"));
    assert!(!stage.screen().contains("$ cargo fmt"));
    assert_eq!(stage.keys(&["alt+o"]), kept("false"));
    let said = |stage: &mut Stage, line: &str| {
        let saves = |effect: &Effect| matches!(effect, Effect::Save { .. });
        stage.line(line).into_iter().filter(saves).collect::<Vec<_>>()
    };
    assert_eq!(said(&mut stage, "/fold on"), kept("true"));
    assert_eq!(said(&mut stage, "/fold"), kept("false"));
    assert_eq!(said(&mut stage, "/fold off"), kept("false"));
    assert_eq!(said(&mut stage, "/fold sometimes"), []);
    assert_eq!(stage.toast(), "Write /fold on or /fold off.");
    assert!(!stage.state.display.folded);
}

#[test]
fn a_run_is_one_line_under_its_reply() {
    let mut stage = roomy(settled);
    let screen = stage.screen();
    let lines: Vec<&str> = screen.lines().collect();
    let at = lines.iter().position(|line| line.contains("Read 1 file")).unwrap();
    // It hangs: no blank row above it, set in under the words.
    assert!(lines[at - 1].contains("then change the guard"), "{screen}");
    assert!(lines[at].starts_with("  ● Read 1 file, searched for 1 pattern, edited lexer.rs, ran 1 command, cargo test parser failed, "), "{screen}");
    // The notice stands in it without splitting it.
    assert_eq!(screen.matches("failed").count(), 1);
    assert!(screen.contains("The tests were changed on disk."));
    // Thinking alone stands directly above the words that it led to.
    let at = lines.iter().rposition(|line| line.starts_with("∴ Thought for 3.2s")).unwrap();
    assert!(lines[at + 1].starts_with("● Next: the help text"), "{screen}");
}

#[test]
fn a_click_opens_a_run_and_close_closes_it() {
    let mut stage = roomy(settled);
    let run = first_run(&mut stage);
    let (_, before) = stage.cell("Read 1 file");
    stage.click(&Target::Run(run));
    let screen = stage.screen();
    assert!(screen.contains("│ ● edit src/lexer.rs") && screen.contains("╰─ close"), "{screen}");
    // What stands above stays where it is.
    assert_eq!(stage.cell("Read 1 file").1, before);
    // A click on a row inside is for the row.
    stage.click(&Target::Item(run + 1));
    stage.state.layers.clear();
    assert!(stage.screen().contains("╰─ close"));
    let (x, y) = stage.cell("close");
    stage.mouse(crossterm::event::MouseEventKind::Down(crossterm::event::MouseButton::Left), x, y);
    stage.mouse(crossterm::event::MouseEventKind::Up(crossterm::event::MouseButton::Left), x, y);
    assert!(!stage.screen().contains("close"));
}

#[test]
fn one_key_opens_all_and_a_click_then_closes_one() {
    let mut stage = roomy(settled);
    stage.key("ctrl+o");
    assert_eq!(stage.screen().matches("╰─ close").count(), 3);
    // The thought is read in full, once, without a second label.
    let screen = stage.screen();
    assert!(screen.contains("│   The help is in cli.rs."), "{screen}");
    // The labels of two runs, and of what was thought between the calls of the third.
    assert_eq!(screen.matches("Thought for 3.2s").count(), 3, "{screen}");
    let run = first_run(&mut stage);
    stage.click(&Target::Run(run));
    assert_eq!(stage.screen().matches("╰─ close").count(), 2);
    stage.key("ctrl+o");
    assert_eq!(stage.screen().matches("╰─ close").count(), 0);
}

#[test]
fn keys_go_to_the_line_and_into_the_run() {
    let mut stage = roomy(settled);
    let run = first_run(&mut stage);
    while stage.state.pane.focused() != Some(run) {
        stage.key("ctrl+up");
        stage.draw();
    }
    assert_eq!(stage.state.pane.focused_run(), Some(run));
    let words =
        "Read 1 file, searched for 1 pattern, edited lexer.rs, ran 1 command, cargo test parser failed";
    assert_eq!(stage.keys(&["y"]), [Effect::Copy(words.to_owned())]);
    stage.key("enter");
    assert!(stage.screen().contains("╰─ close"));
    assert_eq!(stage.state.pane.focused_run(), Some(run));
    // From the line to its first row, and to the next one, and back.
    stage.key("ctrl+down");
    assert_eq!((stage.state.pane.focused(), stage.state.pane.focused_run()), (Some(run), None));
    stage.key("ctrl+down");
    assert_eq!(stage.state.pane.focused(), Some(run + 1));
    stage.keys(&["ctrl+up", "ctrl+up"]);
    assert_eq!(stage.state.pane.focused_run(), Some(run));
    stage.key("enter");
    assert!(!stage.screen().contains("╰─ close"));
    // What is behind a line has no focus.
    stage.key("ctrl+down");
    assert_ne!(stage.state.pane.focused(), Some(run + 1));
}

#[test]
fn only_one_spinner_moves_while_a_run_is_live() {
    let mut stage = live();
    let found = spinners(&mut stage);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("Ran 1 command"), "{found:?}");
    assert!(line_of(&mut stage, "Running bash").starts_with("─ Running bash…"));
    // Words stand where they will when it is over.
    assert!(found[0].chars().nth(4) == Some('R'), "{found:?}");
    // Out of sight it moves nothing, and the divider has its own again.
    stage.state.size = (100, 10);
    stage.draw();
    stage.state.pane.to_start();
    stage.draw();
    let found = spinners(&mut stage);
    assert!(found.len() == 1 && found[0].contains("Running bash"), "{found:?}");
    let mut unfolded = working();
    assert!(spinners(&mut unfolded)[0].contains("Running bash"));
}

#[test]
fn what_stands_still_stands_still() {
    let mut stage = live();
    stage.state.motion = false;
    // Within a second not even the times change.
    let over = 1_000 - stage.now.saturating_duration_since(stage.state.epoch).as_millis() % 1_000;
    stage.wait(u64::try_from(over).unwrap() + 100);
    let frames: Vec<Buffer> = (0..2)
        .map(|_| {
            stage.wait(400);
            stage.draw().0
        })
        .collect();
    assert_eq!(frames[0], frames[1]);
    stage.state.motion = true;
    let moved = stage.draw().0;
    stage.wait(80);
    assert_ne!(moved, stage.draw().0);
}

#[test]
fn a_search_opens_the_run_of_what_it_finds() {
    let mut stage = roomy(settled);
    stage.key("f3");
    stage.type_text("running 3 tests");
    stage.draw();
    stage.draw();
    let screen = stage.screen();
    assert!(screen.contains("│") && screen.contains("running 3 tests"), "{screen}");
    assert!(screen.contains("╰─ close"), "{screen}");
    // Where nothing is found it is closed again.
    stage.type_text(" nowhere");
    stage.draw();
    stage.draw();
    assert!(!stage.screen().contains("╰─ close"));
}

#[test]
fn thoughts_that_the_provider_keeps_are_named_as_such() {
    let mut stage = stage();
    stage.state.display.folded = true;
    stage.prompt("And the help?");
    let withheld = thinking_block("");
    stage.begins("one");
    stage.streams("one", 0, &withheld);
    // The wait is told by the divider.
    assert!(!stage.screen().contains("Thought"));
    stage.entry("one", EntryPatch::Close { index: 0, block: withheld.clone(), usage: Usage::default() });
    let content = vec![withheld, Block::text("Here it is.")];
    stage.entry("one", EntryPatch::Finish(Arc::new(Message::Assistant(said(content, StopReason::Stop)))));
    assert!(stage.screen().contains("∴ Thought for 3.2s\n● Here it is."), "{}", stage.screen());
    stage.key("ctrl+o");
    assert!(stage.screen().contains("│   no thinking text\n╰─ close"), "{}", stage.screen());
}

#[test]
fn what_is_hidden_is_not_copied() {
    let mut stage = roomy(settled);
    stage.draw();
    let run = first_run(&mut stage);
    let gathered = |stage: &mut Stage| {
        let now = stage.now;
        let (pane, conversation, look) = stage.state.reading(now);
        pane.select_all(conversation, &look);
        let gather = pane.gather().expect("a selection");
        match pane.gather_on(conversation, &look, gather, usize::MAX) {
            crate::ui::pane::Gathered::Whole(text) => text,
            _ => panic!("all of it"),
        }
    };
    let text = gathered(&mut stage);
    assert!(text.contains("Read 1 file, searched for 1 pattern"), "{text}");
    assert!(!text.contains("running 3 tests") && !text.contains("↑") && !text.contains("● "), "{text}");
    stage.click(&Target::Run(run));
    stage.draw();
    let text = gathered(&mut stage);
    assert!(
        text.contains("running 3 tests") && !text.contains("Read 1 file") && !text.contains("close"),
        "{text}"
    );
}

#[test]
fn folding_keeps_the_place_that_is_read() {
    let mut stage = first_rounds();
    stage.says("again", vec![Block::text("And now all of it.")]);
    for round in 0..30 {
        let id = format!("bash{round}");
        let run = call(&id, "bash", json!({ "command": format!("make part{round}") }));
        stage.says(&id, vec![Block::ToolCall(run.clone())]);
        stage.runs(&run, "one\ntwo\nthree", json!({}), false, 5);
    }
    let words: String = (0..60).map(|line| format!("Line {line}\n\n")).collect();
    stage.says("end", vec![Block::text(words)]);
    stage.draw();
    stage.state.pane.scroll_by(-160);
    stage.draw();
    // The prompt stands over the first row.
    let head = |stage: &mut Stage| stage.screen().lines().take(3).collect::<Vec<_>>().join("\n");
    assert!(stage.screen().contains("make part20"));
    stage.key("alt+o");
    let folded = head(&mut stage);
    assert!(folded.contains("Ran 30 commands"), "{folded}");
    stage.key("alt+o");
    let unfolded = head(&mut stage);
    assert!(unfolded.contains("make part0"), "{unfolded}");
}

#[test]
fn opening_wraps_nothing_anew() {
    // As wide as there is room for beside a mark, were there no rule.
    let text = "x".repeat(98);
    let rows = |stage: &mut Stage| stage.screen().lines().filter(|line| line.contains("xxx")).count();
    let mut stage = folded(first_rounds);
    stage.event(AgentEvent::Notice { level: NoticeLevel::Info, text });
    let list = call("9", "ls", json!({"path": "src"}));
    stage.says("nine", vec![Block::ToolCall(list.clone())]);
    stage.runs(&list, "a\nb", json!({}), false, 5);
    let run = first_run(&mut stage);
    let closed = rows(&mut stage);
    stage.click(&Target::Run(run));
    assert_eq!((closed, rows(&mut stage)), (2, 2));
}

#[test]
fn live_thoughts_are_shown_in_one_place() {
    let mut stage = live_thinking();
    let closed = stage.screen();
    assert!(!closed.contains("what an empty input means") && closed.contains("Read 1 file"), "{closed}");
    assert_eq!(spinners(&mut stage).len(), 1);
    stage.key("ctrl+t");
    let peeked = stage.screen();
    assert_eq!(thought_rows(&peeked), 3, "{peeked}");
    assert!(!peeked.contains("╰─ close"), "{peeked}");
    // They have nothing that could be opened: a click on them goes to the run's line.
    let run = first_run(&mut stage);
    stage.click(&Target::Run(run));
    let open = stage.screen();
    assert_eq!(words_of(&open).matches("what an empty input means").count(), 1, "{open}");
    assert!(open.contains("╰─ close"), "{open}");
    stage.key("ctrl+t");
    let open = stage.screen();
    assert_eq!(words_of(&open).matches("what an empty input means").count(), 1, "{open}");
    stage.click(&Target::Run(run));
    let closed = stage.screen();
    assert!(!words_of(&closed).contains("what an empty input means"), "{closed}");
}

/// Without line breaks and rules.
fn words_of(screen: &str) -> String {
    screen.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// Rows of what is thought now, below the line.
fn thought_rows(screen: &str) -> usize {
    assert_eq!(words_of(screen).matches("what an empty input means").count(), 1, "{screen}");
    let below = screen.lines().skip_while(|line| !line.contains("Read 1 file")).skip(1);
    below.take_while(|line| !line.trim().is_empty()).count()
}

#[test]
fn thoughts_that_are_collapsed_show_when_they_are_wished() {
    let mut stage = live_thinking();
    stage.state.display.thinking = crate::config::display::ThinkingStyle::Collapsed;
    assert!(!words_of(&stage.screen()).contains("what an empty input means"));
    stage.key("ctrl+t");
    assert_eq!(thought_rows(&stage.screen()), 3);
}

#[test]
fn a_key_closes_the_run_around_the_focus_and_the_keys_are_named() {
    let mut stage = roomy(settled);
    let run = first_run(&mut stage);
    while stage.state.pane.focused() != Some(run) {
        stage.key("ctrl+up");
        stage.draw();
    }
    let hints = |stage: &mut Stage| line_of(stage, "back to writing");
    let named = hints(&mut stage);
    assert!(named.contains("enter opens the run") && named.contains("alt+o unfolds"), "{named}");
    // On a closed one it does nothing.
    stage.key("left");
    assert!(!stage.screen().contains("╰─ close"));
    stage.key("enter");
    let named = hints(&mut stage);
    assert!(named.contains("enter closes the run"), "{named}");
    stage.keys(&["ctrl+down", "ctrl+down", "ctrl+down"]);
    let named = hints(&mut stage);
    assert!(named.contains("enter opens ·") && named.contains("h closes the run"), "{named}");
    assert_ne!(stage.state.pane.focused(), Some(run));
    stage.key("left");
    assert!(!stage.screen().contains("╰─ close"));
    assert_eq!(stage.state.pane.focused_run(), Some(run));
    // A click that closes it takes the focus out of it too, and it stays on the line when that opens again.
    stage.keys(&["enter", "ctrl+down", "ctrl+down"]);
    stage.draw();
    stage.click(&Target::Run(run));
    stage.key("enter");
    assert!(stage.screen().contains("╰─ close"));
    assert_eq!(stage.state.pane.focused_run(), Some(run));
}

#[test]
fn a_key_that_means_the_runs_is_not_named_for_what_a_row_hides() {
    let mut stage = roomy(first_rounds);
    let list = call("9", "bash", json!({"command": "seq 1 50"}));
    stage.says("nine", vec![Block::ToolCall(list.clone())]);
    let output: String = (0..50).map(|line| format!("{line}\n")).collect();
    stage.runs(&list, &output, json!({}), false, 5);
    let prompt: String = (0..60).map(|line| format!("Line {line}.\n")).collect();
    stage.prompt(&prompt);
    let named = |stage: &mut Stage| {
        let screen = stage.screen();
        let notes: Vec<&str> = screen.lines().filter(|line| line.contains("… ")).collect();
        assert!(notes.len() > 1, "{screen}");
        notes.iter().filter(|note| note.contains("ctrl+o")).count()
    };
    assert!(named(&mut stage) > 1);
    // The same rows, and the same layouts would be found.
    stage.keys(&["alt+o", "ctrl+o"]);
    assert_eq!(named(&mut stage), 0);
    stage.key("alt+o");
    assert!(named(&mut stage) > 1);
}

#[test]
fn two_comets_turn_while_all_that_runs_waits_for_agents() {
    use crate::ui::chrome::spinner::Spinner;
    let mut stage = folded(first_rounds);
    stage.state.motion = false;
    let ask = call("3", "subagent", json!({"task": "look at the lexer"}));
    let read = call("4", "read", json!({"path": "src/lexer.rs"}));
    stage.says("two", vec![Block::ToolCall(ask.clone()), Block::ToolCall(read.clone())]);
    let spinner = |stage: &mut Stage| spinners(stage).remove(0);
    stage.starts(&ask);
    assert!(spinner(&mut stage).starts_with(&*Spinner::TwoComets.still()), "{}", spinner(&mut stage));
    stage.starts(&read);
    assert!(spinner(&mut stage).starts_with(&*Spinner::Comet.still()), "{}", spinner(&mut stage));
    stage.runs(&read, "", json!({}), false, 5);
    assert!(spinner(&mut stage).starts_with(&*Spinner::TwoComets.still()), "{}", spinner(&mut stage));
}

/// What a frame costs the terminal, in cells: about so many are written anew in each step of a live line.
#[test]
fn a_step_of_a_live_line_changes_few_cells() {
    let mut stage = live();
    stage.state.size = (200, 60);
    let (mut cells, mut before) = (0, stage.draw().0);
    for _ in 0..50 {
        stage.wait(20);
        let after = stage.draw().0;
        cells += before.content.iter().zip(&after.content).filter(|(a, b)| a != b).count();
        before = after;
    }
    // A second of it; a cell with its colour is no more than 25 bytes.
    assert!(cells * 25 < 12 * 1024, "{cells}");
}
