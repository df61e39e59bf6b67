use super::super::phase::tests::{Tape, call, thinking};
use super::super::screen_tests::{Screen, row};
use super::*;
use crate::proto::message::Block;
use crate::theme::Theme;
use proptest::prelude::*;

fn line(screen: &mut Screen, phase: &Phase, above: Option<&str>) -> String {
    screen.draw(|look, area, buffer, _, next| draw(phase, look, area, above, true, buffer, next));
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
    screen.now = screen.at(1000);
    assert!(line(&mut screen, &tape.phase, None).contains(" Writing… 00:01.0 ─"));
    tape.finish(1000, 1).tool(1000, "a", "a_rather_long_tool_of_a_server");
    screen.now = screen.at(2000);
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
        assert_eq!(screen.next.figure, Some(screen.at(millis / 100 * 100 + 100)));
        text.chars().skip(5).collect::<String>()
    };
    assert_eq!(figures(79_400), figures(79_499));
    assert_ne!(figures(79_400), figures(79_500));
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

/// A stream of 100 tokens a second for 20 seconds, drawn whenever the line asks for it: what a terminal gets for that.
#[test]
fn a_fast_stream_costs_little() {
    let mut screen = Screen::new(120, 1);
    let mut tape = Tape::new(screen.epoch);
    tape.turn(0).round(0).begin(0).open(0, Block::text(""));
    let (mut bytes, mut frames, mut heard) = (0, 0, 0);
    let mut millis = 0;
    while millis < 20_000 {
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
        }
        frames += 1;
        let next = [screen.next.animation, screen.next.figure].into_iter().flatten().min().unwrap();
        millis = u64::try_from((next - screen.epoch).as_millis()).unwrap();
    }
    assert!(frames <= 20 * 25, "{frames} frames");
    assert!(bytes < 100 * 1024, "{bytes} bytes");
}

proptest! {
    #[test]
    fn any_width_and_moment_holds(
        width in 0_u16..=300,
        step in 0_usize..8,
        millis in 0_u64..400_000,
        motion: bool,
        above in prop::option::of("↑ [0-9]{1,3} more"),
    ) {
        let mut screen = Screen::new(width, 1);
        screen.motion = motion;
        let mut tape = Tape::new(screen.epoch);
        type Act = fn(&mut Tape);
        let acts: [Act; 7] = [
            |tape| { tape.turn(0); },
            |tape| { tape.round(0); },
            |tape| { tape.begin(0).open(10, thinking()).append(100, "12345"); },
            |tape| { tape.open(200, call("a\u{202e}日本語")).append(200, "{"); },
            |tape| { tape.retry(1000, 4000); },
            |tape| { tape.tool(2000, "a", "bash").tool(2000, "b", "bash"); },
            |tape| { tape.end(3000); },
        ];
        for act in acts.iter().take(step) {
            act(&mut tape);
        }
        screen.now = screen.at(millis);
        line(&mut screen, &tape.phase, above.as_deref());
    }
}
