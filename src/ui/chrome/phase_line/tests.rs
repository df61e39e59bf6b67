use super::*;
use crate::config::verbs::Verbs;
use crate::proto::compaction::{CompactionOutcome, CompactionReason};
use crate::proto::event::AgentEvent;
use crate::proto::ids::TurnId;
use crate::proto::message::Block;
use crate::theme::Theme;
use crate::ui::chrome::phase::tests::{Tape, call, thinking};
use crate::ui::chrome::screen_tests::{Screen, row};
use crate::ui::chrome::spinner::Spinner;
use proptest::prelude::*;

fn line(screen: &mut Screen, phase: &Phase, above: Option<&str>) -> String {
    line_with(screen, phase, above, true)
}

fn line_with(screen: &mut Screen, phase: &Phase, above: Option<&str>, spinner: bool) -> String {
    screen.draw(|look, area, buffer, _, next| draw(phase, look, area, above, spinner, buffer, next));
    row(&screen.buffer, 0)
}

/// A prompt whose second request thinks.
fn thinking_tape(screen: &Screen) -> Tape {
    let mut tape = Tape::new(screen.epoch);
    tape.turn(0).round(0).begin(300).open(700, Block::text("")).append(700, "1234").finish(1000, 64);
    tape.round(70_000).begin(70_100).open(71_300, thinking()).append(72_000, &"x".repeat(1388));
    tape
}

#[test]
fn parts_go_in_order_when_it_gets_narrow() {
    let at = |width: u16| {
        let mut screen = Screen::new(width, 1);
        let tape = thinking_tape(&screen);
        screen.now = screen.at(79_450);
        line(&mut screen, &tape.phase, None)
    };
    let table = [
        (
            100,
            "─ ⡱⢎⡱ Thinking… 00:08.1 ↓ 347 tokens ──────────────────── TPS 64.0 ─ TTFT 0.7–1.3s ─ Time 01:19.4 ─",
        ),
        (79, "─ ⡱⢎⡱ Thinking… 00:08.1 ↓ 347 tokens ──────────── TTFT 0.7–1.3s ─ Time 01:19.4 ─"),
        (62, "─ ⡱⢎⡱ Thinking… 00:08.1 ↓ 347 tokens ──────── Time 01:19.4 ─"),
        (48, "─ ⡱⢎⡱ Thinking… 00:08.1 ─────── Time 01:19.4 ─"),
        (36, "─ ⡱⢎⡱ Thinking… 00:08.1 ───────────"),
        (12, "─ ⡱⢎⡱ Think…"),
        (1, "…"),
    ];
    for (width, expected) in table {
        let found = at(width);
        assert!(crate::text::width::of(&found) <= usize::from(width));
        // The frame of the spinner and the length of the rule are other tests' business.
        let blur = |text: &str| {
            let blurred = text.chars().enumerate().map(|(at, c)| if (2..5).contains(&at) { '#' } else { c });
            let blurred: String = blurred.collect();
            let parts =
                blurred.split("──").map(|part| part.trim_matches('─')).filter(|part| !part.is_empty());
            parts.collect::<Vec<_>>().join("──")
        };
        assert_eq!(blur(found.trim_end()), blur(expected), "{width}");
    }
}

#[test]
fn a_long_name_goes_before_the_line_is_cut() {
    let mut screen = Screen::new(30, 1);
    let mut tape = Tape::new(screen.epoch);
    tape.turn(0).round(0).begin(0).open(0, call("write")).append(0, r#"{"path":"a_rather_long_name.rs""#);
    screen.now = screen.at(1040);
    assert!(line(&mut screen, &tape.phase, None).contains(" Writing… 00:01.0 ─"));
    tape.finish(1000, 1).tool(1000, "a", "a_rather_long_tool_of_a_server");
    screen.now = screen.at(2080);
    assert!(line(&mut screen, &tape.phase, None).contains(" Running… 00:01.0 ─"));
}

#[test]
fn an_idle_line_keeps_the_figures_of_the_last_prompt() {
    let mut screen = Screen::new(60, 1);
    assert_eq!(line(&mut screen, &Phase::default(), None), "─".repeat(60));
    let mut tape = thinking_tape(&screen);
    tape.finish(80_000, 300).end(104_000);
    screen.now = screen.at(900_000);
    let found = line(&mut screen, &tape.phase, None);
    assert!(
        found.starts_with("───") && found.ends_with("─ TPS 33.1 ─ TTFT 0.7–1.3s ─ Last 01:44.0 ─"),
        "{found}"
    );
    assert_eq!(screen.next, NextDeadline::default());
    let mut narrow = Screen::new(15, 1);
    assert_eq!(line(&mut narrow, &tape.phase, None), "── Last 01:44 ─");
    assert_eq!(line(&mut Screen::new(5, 1), &tape.phase, None), "─────");
}

#[test]
fn rows_above_are_always_told() {
    let mut screen = Screen::new(60, 1);
    let found = line(&mut screen, &Phase::default(), Some("↑ 3 more"));
    assert!(found.ends_with("── ↑ 3 more ─"), "{found}");
    let mut narrow = Screen::new(40, 1);
    let tape = thinking_tape(&narrow);
    narrow.now = narrow.at(79_400);
    let found = line(&mut narrow, &tape.phase, Some("↑ 3 more"));
    assert!(found.ends_with(" ↑ 3 more ─") && !found.contains("Time"), "{found}");
}

#[test]
fn waiting_for_the_user_moves_nothing() {
    let mut screen = Screen::new(80, 1);
    let mut tape = Tape::new(screen.epoch);
    tape.turn(0).round(0).ask(1000);
    screen.now = screen.at(5_400);
    let found = line(&mut screen, &tape.phase, None);
    assert!(found.starts_with("─ ⣏⠀⣹ Waiting for you ─") && found.ends_with("───"), "{found}");
    assert_eq!(screen.next, NextDeadline::default());
}

#[test]
fn a_retry_names_the_key_that_stops_it() {
    let mut screen = Screen::new(80, 1);
    let mut tape = Tape::new(screen.epoch);
    tape.turn(0).round(0).retry(1000, 2000);
    screen.now = screen.at(2000);
    let found = line(&mut screen, &tape.phase, None);
    assert!(found.starts_with("─ ⣿⡇⠀ Retrying in 1s · attempt 1 of 3 · esc stops ─"), "{found}");
}

#[test]
fn without_motion_figures_are_whole_seconds_and_nothing_turns() {
    let mut screen = Screen::new(80, 1);
    screen.motion = false;
    let tape = thinking_tape(&screen);
    let mut drawn = Vec::new();
    for millis in [79_010, 79_500, 79_990] {
        screen.now = screen.at(millis);
        drawn.push(line(&mut screen, &tape.phase, None));
        assert_eq!(screen.next.animation, None);
        assert_eq!(screen.next.figure, Some(screen.at(80_000)));
    }
    drawn.dedup();
    assert_eq!(drawn.len(), 1, "{drawn:?}");
    assert!(drawn[0].starts_with("─ ⢌⡱⢎ Thinking… 00:07 ↓ 347 tokens ─"), "{drawn:?}");
}

#[test]
fn within_a_step_of_the_grid_no_figure_changes() {
    let mut screen = Screen::new(100, 1);
    let tape = thinking_tape(&screen);
    let mut figures = |millis| {
        screen.now = screen.at(millis);
        let text = line(&mut screen, &tape.phase, None);
        text.chars().skip(5).collect::<String>()
    };
    assert_eq!(figures(79_440), figures(79_519));
    assert_ne!(figures(79_440), figures(79_520));
}

/// What is drawn, with colours.
fn cells(screen: &mut Screen, phase: &Phase, spinner: bool) -> Buffer {
    line_with(screen, phase, None, spinner);
    screen.buffer.clone()
}

fn next_frame(screen: &Screen) -> Option<u64> {
    let next = [screen.next.animation, screen.next.figure].into_iter().flatten().min()?;
    Some(u64::try_from((next - screen.epoch).as_millis()).unwrap())
}

/// A frame is asked for when the line is another one, and not before.
#[test]
fn no_frame_shows_what_is_shown_already() {
    type Act = fn(&mut Tape);
    let acts: [Act; 9] = [
        |tape| {
            tape.turn(0);
        },
        |tape| {
            tape.turn(0).round(0);
        },
        |tape| {
            tape.turn(0).round(0).begin(10);
        },
        |tape| {
            tape.turn(0).round(0).begin(10).open(20, thinking()).append(500, "some words");
        },
        |tape| {
            tape.turn(0).round(0).begin(10).open(20, call("bash"));
        },
        |tape| {
            tape.turn(0).round(0).begin(10).open(20, Block::text("")).append(500, &"x".repeat(900));
        },
        |tape| {
            tape.turn(0).tool(0, "a", "bash");
        },
        |tape| {
            tape.turn(0).round(0).retry(0, 8000);
        },
        |tape| {
            tape.turn(0).event(0, &compaction_started());
        },
    ];
    for (act, spinner, width) in
        acts.into_iter().flat_map(|act| [(act, true, 100), (act, false, 100), (act, true, 46)])
    {
        let mut screen = Screen::new(width, 1);
        let mut tape = Tape::new(screen.epoch);
        act(&mut tape);
        let mut millis = 600;
        let mut frames = 0;
        while millis < 12_000 {
            screen.now = screen.at(millis);
            let drawn = cells(&mut screen, &tape.phase, spinner);
            let next = next_frame(&screen).expect("a turn runs");
            assert!(next > millis);
            for between in (millis..next).step_by(10) {
                screen.now = screen.at(between);
                assert_eq!(cells(&mut screen, &tape.phase, spinner), drawn, "{millis} {between} {next}");
            }
            screen.now = screen.at(next);
            assert_ne!(cells(&mut screen, &tape.phase, spinner), drawn, "{millis} {next}");
            millis = next;
            frames += 1;
        }
        assert!(frames < 12 * 25, "{frames}");
    }
}

fn compaction_started() -> AgentEvent {
    AgentEvent::CompactionStarted { reason: CompactionReason::Auto, tokens_before: 112_000 }
}

#[test]
fn each_kind_of_work_has_its_spinner_and_the_word_its_column() {
    let mut screen = Screen::new(100, 1);
    let mut tape = Tape::new(screen.epoch);
    // A moment at which all of them are at their second look or later.
    let mut at = |tape: &Tape, seen: Duration, words: &str| {
        screen.now = screen.epoch + seen;
        let found = line(&mut screen, &tape.phase, None);
        assert!(found.chars().skip(6).collect::<String>().starts_with(words), "{found} {words}");
        found.chars().skip(2).take(3).collect::<String>()
    };
    let seen = Duration::from_millis(10_960);
    let spun = |spinner: Spinner| spinner.at(seen).into_owned();
    tape.turn(10_000);
    assert_eq!(at(&tape, seen, "Preparing… 00:00.9"), spun(Spinner::Ping));
    tape.round(10_000);
    assert_eq!(at(&tape, seen, "Sending request… 00:00.9 ↑"), spun(Spinner::Ping));
    tape.begin(10_000);
    assert_eq!(at(&tape, seen, "Waiting for the model… 00:00.9 ─"), spun(Spinner::Ping));
    tape.open(10_000, thinking());
    assert_eq!(at(&tape, seen, "Thinking… "), spun(Spinner::Helix));
    tape.open(10_000, call("bash"));
    assert_eq!(at(&tape, seen, "Writing bash call… "), spun(Spinner::PrintHead));
    tape.open(10_000, Block::text(""));
    assert_eq!(at(&tape, seen, "Writing reply… "), Spinner::Wave.frame(0));
    tape.finish(10_000, 1).tool(10_000, "a", "bash");
    assert_eq!(at(&tape, seen, "Running bash… "), spun(Spinner::Comet));
    tape.tool(10_000, "b", "subagent");
    assert_eq!(at(&tape, seen, "Running 2 tools… "), spun(Spinner::Comet));
    tape.tool_end(10_000, "a").tool(10_000, "c", "mesh__agent_request").tool(10_000, "d", "peers.message");
    assert_eq!(at(&tape, seen, "Running 3 tools… "), spun(Spinner::TwoComets));
    tape.tool(10_000, "e", "commit_message");
    assert_eq!(at(&tape, seen, "Running 4 tools… "), spun(Spinner::Comet));
    tape.event(10_000, &compaction_started());
    assert_eq!(at(&tape, seen, "Compacting… 00:00.9 · esc stops ─"), spun(Spinner::Squeeze));
    tape.phase.branch_summary_started(tape.at(10_500));
    assert_eq!(at(&tape, seen, "Summing up the branch… 00:00.4 · esc stops ─"), spun(Spinner::Snake));
    tape.phase.branch_summary_finished(tape.at(10_600));
    assert_eq!(at(&tape, seen, "Running 4 tools… 00:00.9"), spun(Spinner::Comet));
    tape.retry(10_000, 2000);
    assert_eq!(at(&tape, seen, "Retrying in 2s · attempt 1 of 3 · esc stops ─"), Spinner::Drain.frame(12));
}

#[test]
fn a_compaction_takes_the_place_of_the_step_and_gives_it_back() {
    let mut screen = Screen::new(100, 1);
    let mut tape = Tape::new(screen.epoch);
    tape.turn(0).event(5000, &compaction_started());
    screen.now = screen.at(7040);
    assert!(line(&mut screen, &tape.phase, None).contains(" Compacting… 00:02.0 · esc stops ─"));
    tape.event(9000, &AgentEvent::CompactionFinished { outcome: CompactionOutcome::Cancelled });
    screen.now = screen.at(9480);
    assert!(line(&mut screen, &tape.phase, None).contains(" Preparing… 00:00.4 ─"));
    // Without a prompt that runs, what the last one took stays.
    tape.end(10_000).event(20_000, &compaction_started());
    screen.now = screen.at(21_040);
    let found = line(&mut screen, &tape.phase, None);
    assert!(found.contains(" Compacting… 00:01.0 ") && found.ends_with(" Last 00:10.0 ─"), "{found}");
}

#[test]
fn where_a_line_of_the_transcript_turns_nothing_turns_here() {
    let mut screen = Screen::new(100, 1);
    let tape = thinking_tape(&screen);
    let mut drawn = Vec::new();
    for millis in [79_440, 79_480, 79_500, 79_510] {
        screen.now = screen.at(millis);
        let found = line_with(&mut screen, &tape.phase, None, false);
        assert!(found.starts_with("─ Thinking… 00:08.1 ↓ 347 tokens ─"), "{found}");
        assert_eq!(screen.next.animation, None);
        drawn.push(screen.buffer.clone());
    }
    drawn.dedup();
    assert_eq!(drawn.len(), 1);
}

#[test]
fn a_guess_is_marked_until_the_provider_has_counted() {
    let mut screen = Screen::new(100, 1);
    let mut tape = Tape::new(screen.epoch);
    let stream = |tape: &mut Tape, from: u64| {
        tape.round(from).begin(from).open(from, Block::text(""));
        for step in 0..20 {
            tape.append(from + step * 100, &"x".repeat(10));
        }
    };
    let mut speed = |tape: &Tape, millis| {
        screen.now = screen.at(millis);
        let found = line(&mut screen, &tape.phase, None);
        found
            .split(" ─ ")
            .find(|part| part.contains("TPS"))
            .unwrap()
            .trim_start_matches(['─', ' '])
            .to_owned()
    };
    tape.turn(0);
    stream(&mut tape, 0);
    assert!(speed(&tape, 2000).contains("TPS ~2"), "{}", speed(&tape, 2000));
    // 200 characters were 100 tokens: two for each.
    tape.finish(4000, 100);
    assert!(speed(&tape, 8000).ends_with("TPS 25.0"), "{}", speed(&tape, 8000));
    stream(&mut tape, 10_000);
    let found = speed(&tape, 12_000);
    assert!(found.contains("TPS 4") || found.contains("TPS 5"), "{found}");
    assert!(line(&mut screen, &tape.phase, None).contains("↓ "));
}

#[test]
fn a_verb_lasts_for_the_whole_prompt() {
    let screen = Screen::new(100, 1);
    let mut tape = Tape::new(screen.epoch);
    let verbs = Verbs::parse("Whistling|Whistled").unwrap();
    tape.turn(0);
    tape.phase.set_verb(verbs.of(TurnId(1)).map(|verb| verb.present.clone()));
    tape.round(0).begin(0).open(0, thinking()).append(100, &"x".repeat(400));
    let at = |tape: &Tape, width, millis| {
        let mut screen = Screen { now: tape.at(millis), epoch: screen.epoch, ..Screen::new(width, 1) };
        line(&mut screen, &tape.phase, None).chars().skip(6).collect::<String>()
    };
    let found = at(&tape, 100, 9040);
    assert!(found.starts_with("Whistling… 00:09.0 · thinking ↓ 100 tokens ─"), "{found}");
    assert!(at(&tape, 44, 9040).starts_with("Whistling… 00:09.0 · thinking ─"));
    assert!(at(&tape, 34, 9040).starts_with("Whistling… 00:09.0 ─"), "{}", at(&tape, 34, 9040));
    tape.open(10_000, call("write")).append(10_000, r#"{"path":"main.md""#);
    assert!(at(&tape, 100, 10_400).starts_with("Whistling… 00:00.4 · writing main.md ↓ "));
    tape.ask(11_000);
    assert!(at(&tape, 100, 11_400).starts_with("Waiting for you ─"));
}

#[test]
fn the_mark_is_lit_when_a_prompt_is_done_and_then_nothing_moves() {
    let mut screen = Screen::new(100, 1);
    let mut tape = thinking_tape(&screen);
    tape.finish(80_000, 300).end(104_000);
    let (mut millis, mut drawn) = (104_000, Vec::new());
    loop {
        screen.now = screen.at(millis);
        let found = line(&mut screen, &tape.phase, None);
        drawn.push(found.chars().skip(2).take(3).collect::<String>());
        assert!(found.ends_with("─ TPS 33.1 ─ TTFT 0.7–1.3s ─ Last 01:44.0 ─"), "{found}");
        let Some(next) = next_frame(&screen) else { break };
        millis = next;
    }
    drawn.dedup();
    let expected =
        ["───", "⡇⠀⠀", "⣿⠀⠀", "⣿⡇⠀", "⣿⣿⠀", "⣿⣿⡇", "⣿⣿⣿", "⢸⣿⣿", "⠀⣿⣿", "⠀⢸⣿", "⠀⠀⣿", "⠀⠀⢸", "───"];
    assert_eq!(drawn, expected);
    assert_eq!(millis, 104_760);
    assert_eq!(screen.next, NextDeadline::default());
}

#[test]
fn no_mark_is_lit_for_what_was_stopped_or_where_nothing_moves() {
    let mut screen = Screen::new(100, 1);
    let mut tape = thinking_tape(&screen);
    tape.stop(104_000);
    screen.now = screen.at(104_200);
    assert!(line(&mut screen, &tape.phase, None).starts_with("────"));
    assert_eq!(screen.next, NextDeadline::default());
    let mut tape = thinking_tape(&screen);
    tape.end(104_000);
    screen.motion = false;
    assert!(line(&mut screen, &tape.phase, None).starts_with("────"));
    screen.motion = true;
    assert!(line(&mut screen, &tape.phase, None).starts_with("─ ⣿⣿"));
    // It gives way to the next prompt, and to the figures where there is no room beside them.
    tape.turn(104_100);
    assert!(line(&mut screen, &tape.phase, None).contains("Preparing"));
    tape.end(104_150);
    let mut narrow = Screen { now: screen.at(104_300), epoch: screen.epoch, ..Screen::new(14, 1) };
    assert_eq!(line(&mut narrow, &tape.phase, None), "─ Last 00:00 ─");
}

#[test]
fn phases_at_three_widths() {
    type Act = fn(&mut Tape);
    let acts: [Act; 10] = [
        |tape| {
            tape.turn(0).round(1000);
        },
        |tape| {
            tape.turn(0).round(0).begin(10).open(20, thinking()).append(500, &"x".repeat(1388));
        },
        |tape| {
            tape.turn(0).round(0).begin(10).open(20, call("write")).append(500, r#"{"path":"docs/main.md""#);
        },
        |tape| {
            tape.turn(0).tool(0, "a", "bash");
        },
        |tape| {
            tape.turn(0).tool(0, "a", "subagent");
        },
        |tape| {
            tape.turn(0).round(0).begin(10).open(20, Block::text("")).append(8000, &"x".repeat(900));
        },
        |tape| {
            tape.turn(0).round(0).retry(8000, 4000);
        },
        |tape| {
            tape.turn(0).ask(5000);
        },
        |tape| {
            tape.turn(0).event(0, &compaction_started());
        },
        |tape| {
            tape.turn(0).round(0).begin(600).open(700, Block::text("")).finish(5000, 300).end(8_500);
        },
    ];
    let themes = [
        ("phases", Theme::quiet_dark(), vec![60, 100, 160]),
        ("phases_light", Theme::quiet_light(), vec![100]),
        ("phases_terminal", Theme::terminal(), vec![100]),
    ];
    for (case, theme, widths) in themes {
        for width in widths {
            let mut screen = Screen::new(width, 10);
            screen.theme = theme.clone();
            screen.now = screen.at(8_800);
            let epoch = screen.epoch;
            screen.draw(|look, area, buffer, _, next| {
                for (act, y) in acts.iter().zip(0..) {
                    let mut tape = Tape::new(epoch);
                    act(&mut tape);
                    draw(&tape.phase, look, Rect { y, height: 1, ..area }, None, true, buffer, next);
                }
            });
            crate::assert_screen!("phase", case, &screen.buffer, None);
        }
    }
}

#[test]
fn a_wave_that_stands_asks_for_no_frames() {
    let mut screen = Screen::new(100, 1);
    screen.theme = Theme::terminal();
    let mut tape = Tape::new(screen.epoch);
    tape.turn(0).round(0).begin(0).open(0, Block::text(""));
    for step in 0..20 {
        tape.append(step * 50, "twenty characters, or");
    }
    screen.now = screen.at(1000);
    line(&mut screen, &tape.phase, None);
    assert_eq!(screen.next.animation, Some(screen.at(1040)));
    screen.now = screen.at(6000);
    line(&mut screen, &tape.phase, None);
    assert_eq!(screen.next.animation, None);
}

#[test]
fn slow_steps_change_their_colour() {
    let mut screen = Screen::new(100, 1);
    let mut tape = Tape::new(screen.epoch);
    tape.turn(0).round(0);
    let mut look_at = |tape: &Tape, millis| {
        screen.now = screen.at(millis);
        line(&mut screen, &tape.phase, None);
        // The spinner: no light crosses it.
        screen.buffer[(2, 0)].fg
    };
    let theme = Theme::quiet_dark();
    assert_eq!(look_at(&tape, 9_900), theme.color(Role::Accent));
    assert_ne!(look_at(&tape, 15_000), theme.color(Role::Accent));
    assert_eq!(look_at(&tape, 20_000), theme.color(Role::Error));
    tape.begin(20_000).open(20_000, thinking());
    assert_eq!(look_at(&tape, 40_000), theme.color(Role::Warning));
    tape.open(40_000, call("write"));
    assert_eq!(look_at(&tape, 100_000), theme.color(Role::Accent));
    assert_eq!(look_at(&tape, 200_000), theme.color(Role::Error));
    tape.append(200_000, "{");
    assert_eq!(look_at(&tape, 205_000), theme.color(Role::Accent));
    tape.finish(205_000, 1).tool(205_000, "a", "bash");
    assert_eq!(look_at(&tape, 999_000), theme.color(Role::Accent));
}

/// A stream of 100 tokens a second, drawn whenever the line asks for it: what a terminal gets for that in ten seconds.
/// About 4 KB a second with whole escape sequences, a third of what all of the screen may cost.
#[test]
fn a_fast_stream_costs_little() {
    let mut screen = Screen::new(120, 1);
    let mut tape = Tape::new(screen.epoch);
    tape.turn(0).round(0).begin(0).open(0, Block::text(""));
    let (mut bytes, mut changed, mut frames, mut heard) = (0, 0, 0, 0);
    let mut millis = 0;
    while millis < 10_000 {
        while heard <= millis {
            tape.append(heard, "some 20 characters, ");
            heard += 50;
        }
        screen.now = screen.at(millis);
        let before = screen.buffer.clone();
        line(&mut screen, &tape.phase, None);
        let mut last = None;
        for (x, _, cell) in before.diff(&screen.buffer) {
            let look = (cell.fg, cell.modifier);
            bytes += cell.symbol().len();
            // Moving there, and changing the colour.
            bytes += if last.is_some_and(|(at, _)| at + 1 == x) { 0 } else { 8 };
            bytes += if last.is_some_and(|(_, same)| same == look) { 0 } else { 20 };
            last = Some((x, look));
            changed += 1;
        }
        frames += 1;
        millis = next_frame(&screen).unwrap();
    }
    assert!(frames <= 10 * 20, "{frames} frames");
    assert!(changed < 10 * 200, "{changed} cells");
    assert!(bytes < 10 * 4 * 1024, "{bytes} bytes");
}

proptest! {
    #[test]
    fn any_width_and_moment_holds(
        width in 0_u16..=300,
        step in 0_usize..9,
        spinner: bool,
        millis in 0_u64..400_000,
        motion: bool,
        above in prop::option::of("↑ [0-9]{1,3} more"),
    ) {
        let mut screen = Screen::new(width, 1);
        screen.motion = motion;
        let mut tape = Tape::new(screen.epoch);
        type Act = fn(&mut Tape);
        let acts: [Act; 8] = [
            |tape| { tape.turn(0); },
            |tape| { tape.round(0); },
            |tape| { tape.begin(0).open(10, thinking()).append(100, "12345"); },
            |tape| { tape.open(200, call("a\u{202e}日本語")).append(200, "{"); },
            |tape| { tape.retry(1000, 4000); },
            |tape| { tape.tool(2000, "a", "bash").tool(2000, "b", "bash"); },
            |tape| { tape.event(2500, &compaction_started()); },
            |tape| { tape.end(3000); },
        ];
        for act in acts.iter().take(step) {
            act(&mut tape);
        }
        screen.now = screen.at(millis);
        line_with(&mut screen, &tape.phase, above.as_deref(), spinner);
    }
}
