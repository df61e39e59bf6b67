//! Presses, drags and keys on the real layouts.

use super::*;
use crate::transcript::select::Unit;
use std::time::Duration;

macro_rules! look {
    ($world:expr) => {
        Look {
            theme: &$world.theme,
            keymap: &$world.keymap,
            now: $world.now,
            epoch: $world.epoch,
            motion: true,
            glyphs: true,
            display: crate::config::display::Display::default(),
            home: Path::new("/home"),
            cwd: Path::new("/home/u"),
        }
    };
}

impl World {
    /// Draws with the layouts of the program.
    fn see(&mut self, width: u16, height: u16) -> Buffer {
        // Room around the window: a pointer leaves it.
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height + 6));
        let look = look!(self);
        (self.hits, self.next) = (HitMap::new(), NextDeadline::default());
        let area = Rect::new(0, 3, width, height);
        self.pane.draw(&mut self.conversation, &look, area, &mut buffer, &mut self.hits, &mut self.next);
        buffer
    }

    fn lines(&mut self, width: u16, height: u16) -> Vec<String> {
        let buffer = self.see(width, height);
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (3..height + 3).map(row).collect()
    }

    fn press(&mut self, x: u16, y: u16, unit: Unit) {
        let look = look!(self);
        self.pane.press(&mut self.conversation, &look, Position::new(x, y + 3), unit, false);
    }

    fn extend_to(&mut self, x: u16, y: u16) {
        let look = look!(self);
        self.pane.press(&mut self.conversation, &look, Position::new(x, y + 3), Unit::Character, true);
        self.pane.release(&mut self.conversation, &look, Position::new(x, y + 3));
    }

    fn release(&mut self, x: u16, y: u16) -> bool {
        let look = look!(self);
        self.pane.release(&mut self.conversation, &look, Position::new(x, y + 3))
    }

    /// A press, a move and a release; then the copy.
    fn select(&mut self, from: (u16, u16), to: (u16, u16), unit: Unit) -> String {
        self.press(from.0, from.1, unit);
        self.pane.drag(Position::new(to.0, to.1 + 3));
        self.release(to.0, to.1);
        self.copied()
    }

    fn copied(&mut self) -> String {
        self.copied_in_parts(usize::MAX).0
    }

    fn copied_in_parts(&mut self, rows: usize) -> (String, usize) {
        let Some(mut gather) = self.pane.gather() else { return (String::new(), 0) };
        for part in 1.. {
            let look = look!(self);
            match self.pane.gather_on(&mut self.conversation, &look, gather, rows) {
                Gathered::Whole(text) => return (text, part),
                Gathered::Part(rest) => gather = *rest,
                Gathered::Gone => break,
            }
        }
        (String::new(), 0)
    }

    fn keys(&mut self, motions: &[Motion]) -> String {
        for motion in motions {
            let look = look!(self);
            self.pane.extend_selection(&mut self.conversation, &look, *motion);
        }
        self.copied()
    }

    /// Cells with the ground of what is selected, as text, row by row.
    fn marked(&mut self, width: u16, height: u16) -> Vec<String> {
        // On the page, and on the ground of what the user said.
        let grounds = [ratatui::style::Color::Reset, self.theme.color(Role::UserMessageBg)]
            .map(|under| self.theme.selected_on(under));
        let buffer = self.see(width, height);
        (3..height + 3)
            .map(|y| {
                let cells = (0..width).map(|x| &buffer[(x, y)]).filter(|cell| grounds.contains(&cell.bg));
                cells.map(ratatui::buffer::Cell::symbol).collect()
            })
            .collect()
    }
}

#[test]
fn a_drag_takes_both_cells_and_what_is_between() {
    let mut world = World::new();
    world.say("The quick brown fox jumps over the lazy dog");
    assert_eq!(world.lines(22, 4)[..2], ["❯ The quick brown fox", "  jumps over the lazy"]);
    assert_eq!(world.select((6, 0), (10, 0), Unit::Character), "quick");
    assert_eq!(world.select((10, 0), (6, 0), Unit::Character), "quick");
    assert_eq!(world.select((18, 0), (6, 1), Unit::Character), "fox jumps");
    // Beside the text: the begin of the row and its end.
    assert_eq!(world.select((11, 1), (0, 1), Unit::Character), "jumps over");
    assert_eq!(world.select((18, 0), (21, 0), Unit::Character), "fox");
    assert_eq!(world.select((18, 0), (0, 1), Unit::Character), "fox ");
    // Below all text: the end of it.
    assert_eq!(world.select((2, 2), (15, 3), Unit::Character), "dog");
    assert_eq!(world.marked(22, 4), ["", "", "dog", ""]);
}

#[test]
fn words_and_lines_grow_by_words_and_lines() {
    let mut world = World::new();
    world.say("first line\nsee https://example.org/a/long/address?q=1 and src/main.rs:12 there\nlast line");
    let lines = world.lines(24, 9);
    assert_eq!(lines[2], "  https://example.org/a/", "{lines:?}");
    let link = "https://example.org/a/long/address?q=1";
    world.press(6, 2, Unit::Word);
    assert!(world.release(6, 2));
    assert_eq!(world.copied(), link);
    world.press(3, 3, Unit::Word);
    assert_eq!((world.release(3, 3), world.copied().as_str()), (true, link));
    assert_eq!(world.select((3, 0), (3, 3), Unit::Word), format!("first line\nsee {link}"));
    assert_eq!(world.select((3, 3), (9, 0), Unit::Word), format!("line\nsee {link}"));
    let line = "see https://example.org/a/long/address?q=1 and src/main.rs:12 there";
    world.press(3, 3, Unit::Line);
    assert_eq!((world.release(3, 3), world.copied().as_str()), (true, line));
    assert_eq!(world.select((3, 3), (4, 0), Unit::Line), format!("first line\n{line}"));
    // Where nothing stands, there is no word.
    world.press(20, 0, Unit::Word);
    assert!(!world.release(20, 0) && !world.pane.has_selection());
}

#[test]
fn shift_extends_what_is_selected_and_what_was_pressed() {
    let mut world = World::new();
    world.say("one two three four five");
    world.see(40, 3);
    world.select((6, 0), (8, 0), Unit::Character);
    world.extend_to(14, 0);
    assert_eq!(world.copied(), "two three");
    world.extend_to(2, 0);
    assert_eq!(world.copied(), "one t");
    world.press(6, 0, Unit::Character);
    world.release(6, 0);
    assert_eq!(world.copied(), "");
    world.extend_to(14, 0);
    assert_eq!(world.copied(), "two three");
    world.press(10, 0, Unit::Word);
    world.release(10, 0);
    world.extend_to(17, 0);
    assert_eq!(world.copied(), "three four");
}

#[test]
fn a_copy_is_what_was_written() {
    let mut world = World::new();
    world.say("Do it:\n  indented");
    world.open_reply();
    world.append("Some **bold** text that is wrapped here.\n\n```rust\nfn main() {\n    let a = 1;\n}\n```\n\n- one\n- two\n");
    for id in ["a", "b"] {
        world.start_call(id);
        world.finish_call(id, "");
    }
    world.conversation.notice(NoticeLevel::Info, "end");
    let lines = world.lines(24, 24);
    let last =
        u16::try_from(lines.iter().position(|line| line == "· end" || line.ends_with("end")).expect("drawn"))
            .expect("few");
    let copied = world.select((0, 0), (23, last), Unit::Character);
    let reply = "Some bold text that is wrapped here.\n\nrust\nfn main() {\n    let a = 1;\n}\n\n";
    assert!(copied.starts_with("Do it:\n  indented\n\nSome bold text that is wrapped here.\n"), "{copied:?}");
    assert!(copied.contains("\nfn main() {\n    let a = 1;\n}\n"), "{copied:?} {reply}");
    // The calls stand together, all else apart.
    assert!(copied.ends_with("read\nread\n\nend") || copied.contains("\n\nend"), "{copied:?}");
    assert_eq!(copied.matches("\n\nend").count(), 1);
    for parts in [1, 3, 7] {
        assert_eq!(world.copied_in_parts(parts).0, copied, "{parts} rows at once");
    }
}

#[test]
fn what_is_selected_stays_while_a_reply_streams_and_ends() {
    let mut world = World::new();
    world.say("Question");
    world.open_reply();
    world.append("First paragraph of the answer.\n\nA tail with **some bold");
    let lines = world.lines(40, 12);
    assert_eq!(lines[2], "● First paragraph of the answer.");
    assert_eq!(world.select((2, 2), (16, 2), Unit::Character), "First paragraph");
    let marks = world.marked(40, 12);
    assert_eq!(marks[2], "First paragraph");
    world.append(" words** and\n\n- more\n- and more\n");
    assert_eq!(world.marked(40, 12)[2], "First paragraph");
    // In the tail, what is made anew before the place does not move it.
    let row = world.lines(40, 12).iter().position(|line| line.contains("bold words")).expect("drawn");
    let row = u16::try_from(row).expect("few");
    assert_eq!(world.select((24, row), (31, row), Unit::Word), "words and");
    world.append("\n\nEnd");
    assert_eq!(world.copied(), "words and");
    // Another width, another fold of another item.
    for width in [17, 60] {
        world.see(width, 12);
        assert_eq!(world.copied(), "words and", "{width}");
        assert_eq!(world.marked(width, 14).concat().replace(' ', ""), "wordsand", "{width}");
    }
}

#[test]
fn a_mark_of_emphasis_that_closes_does_not_move_the_selection() {
    let mut world = World::new();
    world.open_reply();
    world.append("A tail with **some bold and a place in it that counts");
    let line = world.lines(70, 4)[0].clone();
    let at = u16::try_from(
        line.chars()
            .collect::<Vec<_>>()
            .windows(5)
            .position(|c| c.iter().collect::<String>() == "place")
            .expect("there"),
    )
    .expect("few");
    assert_eq!(world.select((at, 0), (at + 4, 0), Unit::Character), "place");
    world.append("** and so on");
    world.see(70, 4);
    assert_eq!(world.copied(), "place");
    assert_eq!(world.marked(70, 4)[0], "place");
}

#[test]
fn another_text_than_the_selected_is_never_marked() {
    let mut world = World::new();
    world.start_call("a");
    world.finish_call("a", "first\nsecond\nthird\nfourth");
    world.pane.set_expanded(true);
    let lines = world.lines(40, 8);
    let row =
        u16::try_from(lines.iter().position(|line| line.contains("third")).expect("open")).expect("few");
    assert!(world.select((4, row), (20, row), Unit::Line).contains("third"));
    world.pane.set_expanded(false);
    world.see(40, 8);
    assert!(!world.pane.has_selection());
}

#[test]
fn the_window_stands_still_under_a_held_button_and_follows_again() {
    let mut world = World::new();
    world.open_reply();
    for line in 0..20 {
        world.append(&format!("line {line}\n\n"));
    }
    let before = world.lines(30, 8);
    world.press(2, 1, Unit::Character);
    world.pane.drag(Position::new(5, 6));
    for line in 20..30 {
        world.append(&format!("line {line}\n\n"));
        let after = world.lines(30, 8);
        // The mark that there is more stands in the last row.
        assert_eq!(after[..7], before[..7], "{line}");
        assert_eq!(world.next, NextDeadline::default(), "no timer while nothing scrolls");
    }
    assert!(world.release(5, 3));
    assert!(world.lines(30, 8).iter().any(|line| line.ends_with("line 29")));
    assert!(world.pane.is_following() && world.pane.has_selection());
    // Somebody who reads further up is left there.
    world.pane.scroll_by(-10);
    world.see(30, 8);
    world.press(2, 1, Unit::Character);
    world.see(30, 8);
    world.release(2, 1);
    world.see(30, 8);
    assert!(!world.pane.is_following());
}

#[test]
fn the_window_scrolls_under_a_pointer_at_its_edge() {
    let mut world = World::new();
    for index in 0..40 {
        world.say(&format!("prompt {index}"));
    }
    world.pane.to_start();
    let top = |world: &mut World| world.lines(30, 8)[0].clone();
    assert_eq!(top(&mut world), "❯ prompt 0");
    world.pane.scroll_by(20);
    let begin = top(&mut world);
    // Along the row at the edge nothing moves: it is there to be selected.
    world.press(4, 7, Unit::Character);
    world.pane.drag(Position::new(9, 10));
    assert_eq!((top(&mut world), world.next), (begin.clone(), NextDeadline::default()));
    // From another row it does.
    world.release(9, 7);
    world.press(4, 2, Unit::Character);
    world.pane.drag(Position::new(9, 10));
    let first = top(&mut world);
    assert_ne!(first, begin);
    let step = Duration::from_millis(50);
    assert_eq!(world.next.figure, Some(world.now + step));
    assert_eq!(top(&mut world), first, "not before its time");
    for _ in 0..4 {
        world.now += step;
        world.see(30, 8);
    }
    // A row a step: five rows of prompts with a blank row each.
    let slow = world.copied();
    assert!(slow.lines().count() >= 8, "{slow}");
    // Further out it is faster.
    let anchor = world.pane.top;
    world.pane.drag(Position::new(9, 13));
    world.now += step;
    world.see(30, 8);
    assert_eq!(world.pane.shown()[0].entry - anchor.expect("drawn").entry, 2);
    // In the window it stops, without a timer.
    world.pane.drag(Position::new(9, 6));
    world.see(30, 8);
    assert_eq!(world.next, NextDeadline::default());
    // At the end of all there is nothing to wait for.
    world.pane.drag(Position::new(9, 13));
    for _ in 0..100 {
        world.now += step;
        world.see(30, 8);
    }
    assert_eq!(world.next, NextDeadline::default());
    assert!(world.release(20, 10) && world.copied().ends_with("prompt 39"));
    // Upwards as well, and a release ends it.
    world.press(4, 2, Unit::Character);
    world.pane.drag(Position::new(4, 0));
    world.see(30, 8);
    assert!(world.next.figure.is_some() && !world.pane.is_following());
    world.release(4, 0);
    let stopped = top(&mut world);
    world.now += step;
    assert_eq!((top(&mut world), world.next), (stopped, NextDeadline::default()));
}

#[test]
fn keys_move_one_end() {
    let mut world = World::new();
    world.say("one two\nthree");
    world.say("four 日本語 six");
    world.see(30, 8);
    world.pane.set_focus(Some(0));
    world.see(30, 8);
    assert_eq!(world.keys(&[Motion::Right, Motion::Right]), "on");
    assert_eq!(world.keys(&[Motion::Left]), "o");
    assert_eq!(world.keys(&[Motion::WordRight, Motion::WordRight]), "one two");
    assert_eq!(world.keys(&[Motion::Down]), "one two\nthree");
    assert_eq!(world.keys(&[Motion::Down, Motion::LineStart]), "one two\nthree");
    assert_eq!(world.keys(&[Motion::WordRight, Motion::WordRight]), "one two\nthree\n\nfour 日本語");
    assert_eq!(world.keys(&[Motion::Left, Motion::Left]), "one two\nthree\n\nfour 日");
    assert_eq!(world.keys(&[Motion::Up, Motion::LineEnd]), "one two\nthree");
    assert_eq!(world.keys(&[Motion::Up]), "one t");
    // Past where it began it turns, and there is an end to everything.
    assert_eq!(world.keys(&[Motion::Up, Motion::Up, Motion::Left]), "");
    assert_eq!(world.keys(&[Motion::Down; 9]), "one two\nthree\n\nfour 日本語 six");
    let look = look!(world);
    world.pane.clear_selection();
    world.pane.select_all(&mut world.conversation, &look);
    assert_eq!(world.copied(), "one two\nthree\n\nfour 日本語 six");
}

#[test]
fn the_end_that_keys_move_is_seen() {
    let mut world = World::new();
    for index in 0..40 {
        world.say(&format!("prompt {index}"));
    }
    world.pane.to_start();
    world.see(30, 8);
    world.pane.set_focus(Some(0));
    world.see(30, 8);
    for index in 1..20 {
        world.keys(&[Motion::Down]);
        let lines = world.lines(30, 8);
        assert!(lines.iter().any(|line| line.ends_with(&format!("prompt {index}"))), "{index}: {lines:?}");
    }
}

#[test]
fn marks_lie_under_what_is_selected() {
    let mut world = World::new();
    world.say("Prose with 日本語 and 👩‍🚀 in it, long enough to be wrapped");
    world.open_reply();
    world.append("Text.\n\n```rust\nfn main() {\n\n    let a = 1;\n}\n```\n\n| name | size |\n|---|---:|\n| one | 1 |\n| two | 22 |\n");
    world.see(34, 20);
    world.select((12, 0), (14, 17), Unit::Character);
    assert_screen!("pane", "selected", &world.see(34, 20));
    world.theme = Theme::terminal();
    assert_screen!("pane", "selected_in_16_colours", &world.see(34, 20));
}

#[test]
fn a_long_selection_costs_what_is_seen() {
    let mut world = World::notices(10_000);
    world.rows(20, 10);
    world.pane.to_start();
    world.rows(20, 10);
    world.laid_out.set(0);
    let look = look!(world);
    let setter = Setter { lay_out: &plain, estimate: &|_, _| 2 };
    world.pane.select_all_with(setter, &mut world.conversation, &look);
    let kept = world.pane.layouts.len();
    for _ in 0..5 {
        world.rows(20, 10);
    }
    assert!(world.laid_out.get() <= 4, "{}", world.laid_out.get());
    // The copy lays all out once and keeps nothing of it.
    let look = look!(world);
    let laid_out = Cell::new(0);
    let counted = |item: &Item, cx: &EntryCx<'_>| {
        laid_out.set(laid_out.get() + 1);
        plain(item, cx)
    };
    let setter = Setter { lay_out: &counted, estimate: &|_, _| 2 };
    let mut gather = world.pane.gather().expect("all is selected");
    let mut parts = 1;
    let text = loop {
        let before = laid_out.get();
        match world.pane.gather_with(setter, &mut world.conversation, &look, gather, 1000) {
            Gathered::Whole(text) => break text,
            Gathered::Part(rest) => gather = *rest,
            Gathered::Gone => panic!("it is still there"),
        }
        assert!(laid_out.get() - before <= 500);
        parts += 1;
    };
    assert!(parts >= 20 && laid_out.get() <= 10_000, "{parts} {}", laid_out.get());
    assert_eq!(text.split("\n\n").count(), 10_000);
    assert!(world.pane.layouts.len() <= kept + 2);
}

#[test]
fn what_is_selected_stays_so_out_of_sight() {
    let mut world = World::new();
    for index in 0..60 {
        world.say(&format!("prompt {index} of many"));
    }
    world.pane.to_start();
    world.see(30, 8);
    assert_eq!(world.select((4, 0), (6, 2), Unit::Character), "ompt 0 of many\n\npromp");
    let marks = world.marked(30, 8);
    // Of a line that goes on below, its end is marked, too.
    assert_eq!((marks[0].as_str(), marks[2].as_str()), ("ompt 0 of many ", "promp"));
    // Half of it, and none of it.
    world.pane.scroll_by(1);
    // In the last row is the mark that there is more below.
    assert_eq!(world.marked(30, 8)[..7].concat(), "promp");
    for width in [30, 12, 50] {
        world.pane.to_end();
        assert_eq!(world.marked(width, 8).concat(), "");
        assert_eq!(world.copied(), "ompt 0 of many\n\npromp", "{width}");
    }
    world.pane.to_start();
    assert_eq!(world.marked(30, 8), marks);
}

#[test]
fn another_session_has_no_selection() {
    let mut world = World::new();
    world.say("one two three");
    world.see(30, 5);
    assert_eq!(world.select((2, 0), (4, 0), Unit::Character), "one");
    let gather = world.pane.gather().expect("selected");
    world.conversation.clear();
    world.say("other words here");
    let look = look!(world);
    let gone = world.pane.gather_on(&mut world.conversation, &look, gather, 100);
    assert!(matches!(gone, Gathered::Gone));
    world.see(30, 5);
    assert!(!world.pane.has_selection());
    assert!(
        world
            .keymap
            .hint(crate::config::action::Action::SelectAll)
            .is_some_and(|key| key == "alt+shift+a".parse().expect("a key"))
    );
}

/// Plain output as commands print it: indentation and tabs, wide and joined characters, addresses, empty lines.
fn output() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        6 => "[a-z]{1,14}",
        3 => " {1,4}",
        1 => Just("\t".to_owned()),
        1 => prop::sample::select(vec!["日本語", "👩‍🚀", "e\u{301}", "1\u{fe0f}\u{20e3}", "https://example.org/a/long/path?q=1", "…", "│"])
            .prop_map(str::to_owned),
    ];
    let line = prop::collection::vec(part, 0..14).prop_map(|parts| parts.concat());
    // At both ends something stands: empty lines there are not shown.
    (prop::collection::vec(line, 0..7), "[a-z]{1,9}", "[a-z]{1,90}")
        .prop_map(|(lines, first, last)| [vec![first], lines, vec![last]].concat().join("\n"))
}

fn whole(text: &str) -> Message {
    Message::Assistant(AssistantMessage {
        content: vec![Block::text(text)],
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        response_model: None,
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        timestamp: 0,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: None,
        thinking_level: None,
    })
}

#[derive(Clone, Debug)]
enum Source {
    Prompt(String),
    Code(String),
}

impl Source {
    fn text(&self) -> &str {
        match self {
            Self::Prompt(text) | Self::Code(text) => text,
        }
    }
}

fn sources() -> impl Strategy<Value = Vec<Source>> {
    let word = prop_oneof![
        "[a-z]{1,12}",
        Just("日本語".to_owned()),
        Just("👩‍🚀".to_owned()),
        Just("e\u{301}".to_owned())
    ];
    let line = prop::collection::vec(word, 1..12).prop_map(|words| words.join(" "));
    let prompt = prop::collection::vec(line.clone(), 1..4).prop_map(|lines| Source::Prompt(lines.join("\n")));
    let code = prop::collection::vec((0_usize..9, line), 1..5).prop_map(|lines| {
        let lines = lines.into_iter().map(|(indent, line)| format!("{}{line}", " ".repeat(indent)));
        Source::Code(lines.collect::<Vec<_>>().join("\n"))
    });
    prop::collection::vec(prop_oneof![prompt, code], 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The output of a tool, opened: any selection copies what was printed, blanks at the ends of lines left out.
    #[test]
    fn a_copy_of_plain_output_is_what_was_printed(
        printed in output(),
        (tool, arguments) in prop::sample::select(vec![
            ("bash", serde_json::json!({"command": "make"})),
            ("other", serde_json::json!({})),
            ("read", serde_json::json!({"path": "notes.txt"})),
        ]),
        width in 12_u16..70,
        other in 12_u16..70,
        from in (0_u16..70, 0_u16..40),
        to in (0_u16..70, 0_u16..40),
    ) {
        let mut world = World::new();
        let (call, tool) = (CallId::new("call"), tool.to_owned());
        let serde_json::Value::Object(arguments) = arguments else { unreachable!("an object") };
        world.apply(&AgentEvent::ToolStarted { call: call.clone(), tool: tool.clone(), arguments, limit_ms: None });
        let output = Arc::new(ToolOutput::text(&printed));
        world.apply(&AgentEvent::ToolFinished { call, tool, output, duration_ms: Some(1) });
        world.pane.set_expanded(true);
        let buffer = world.see(width, 40);
        let look = look!(world);
        world.pane.select_all(&mut world.conversation, &look);
        let whole = world.copied();
        let lines: Vec<&str> = printed.split('\n').map(|line| line.trim_end_matches(' ')).collect();
        // Before it stands the head; where there is little room, the command again.
        let before = whole.strip_suffix(&lines.join("\n"));
        prop_assert!(before.is_some_and(|head| head.len() > 1 && head.ends_with('\n')), "{whole:?}");
        prop_assert!(!whole.contains("1ms"), "how long it took is no text: {whole:?}");

        world.pane.clear_selection();
        let (from, to) = ((from.0 % width, from.1), (to.0 % width, to.1));
        let copied = world.select(from, to, Unit::Character);
        if let Some((begin, end)) = world.pane.selecting.selection.map(|selection| selection.ends()) {
            prop_assert_eq!(Some(copied.as_str()), whole.get(begin.offset..end.offset));
        }
        // It begins and ends with the characters that were pressed on. Below all text the last row counts.
        let is_on_text = [from, to].iter().all(|(x, y)| matches!(world.hits.at(Position::new(*x, y + 3)), Some(Target::Text(_))));
        let (first, last) = if (from.1, from.0) <= (to.1, to.0) { (from, to) } else { (to, from) };
        let letter = |(x, y): (u16, u16)| {
            let symbol = buffer[(x, y + 3)].symbol();
            (is_on_text && from != to && symbol.chars().all(|c| c.is_ascii_lowercase())).then(|| symbol.to_owned())
        };
        prop_assert!(letter(first).is_none_or(|letter| copied.starts_with(&letter)), "{:?} {copied:?}", letter(first));
        prop_assert!(letter(last).is_none_or(|letter| copied.ends_with(&letter)), "{:?} {copied:?}", letter(last));
        // At another width the head may be another text, and what is near it not be found again. It is never something else.
        world.see(other, 20);
        let later = world.copied();
        prop_assert!(later == copied || later.is_empty(), "{later:?} {copied:?}");
    }

    /// Whatever is dragged over at whatever width: the copy is a piece of what was written.
    #[test]
    fn a_copy_is_a_slice_of_the_source(
        sources in sources(),
        width in 12_u16..60,
        other in 12_u16..60,
        from in (0_u16..60, 0_u16..40),
        to in (0_u16..60, 0_u16..40),
        more in "[a-z \n]{0,40}",
    ) {
        let mut world = World::new();
        for source in &sources {
            match source {
                Source::Prompt(text) => world.say(text),
                Source::Code(text) => {
                    let message = whole(&format!("~~~~\n{text}\n~~~~"));

                    world.conversation.load([Arc::new(message)]);
                }
            }
        }
        let buffer = world.see(width, 40);
        let (from, to) = ((from.0 % width, from.1), (to.0 % width, to.1));
        let copied = world.select(from, to, Unit::Character);
        let whole = sources.iter().map(Source::text).collect::<Vec<_>>().join("\n\n");
        prop_assert!(whole.contains(&copied), "{copied:?} of {whole:?}");
        if let Some((begin, end)) = world.pane.selecting.selection.map(|selection| selection.ends()) {
            let mut pieces = Vec::new();
            for (item, source) in sources.iter().enumerate() {
                let start = if item == begin.item { begin.offset } else { 0 };
                let stop = if item == end.item { end.offset } else { source.text().len() };
                if (begin.item..=end.item).contains(&item) && start < stop {
                    pieces.push(source.text().get(start..stop).expect("on boundaries"));
                }
            }
            prop_assert_eq!(&copied, &pieces.join("\n\n"));
        }
        // The characters under both ends are part of it.
        for (x, y) in [from, to] {
            let symbol = buffer[(x, y + 3)].symbol().trim();
            let is_text = symbol.chars().all(|c| c.is_ascii_lowercase()) && x > 2 && !symbol.is_empty();
            // "copy" and "text" are labels of cards.
            if is_text && from != to && !whole.is_empty() && world.hits.at(Position::new(x, y + 3)).is_some_and(|hit| matches!(hit, Target::Text(_))) {
                prop_assert!(copied.contains(symbol), "{symbol} in {copied:?}");
            }
        }
        // More text and another width leave it as it is.
        world.open_reply();
        world.append(&more);
        world.see(other, 20);
        prop_assert_eq!(world.copied(), copied);
    }
}
