//! What one thing costs in a short and in a long conversation: from the event to the terminal's bytes.

use super::figures::{median, millis, tell};
use super::judge;
use super::world::{LONG, SHORT, SIZE, World};
use ratatui::crossterm::event::{KeyCode, KeyModifiers, MouseEventKind};
use std::time::Instant;

/// A long conversation may cost so much more than a short one.
const GOAL: f64 = 1.5;

/// The same thing in both, several times, in turn: whatever else the machine does hits both.
fn grows(name: &str, times: usize, mut run: impl FnMut(&mut World, usize)) {
    let (mut short, mut long) = (World::of(SHORT), World::of(LONG));
    let mut cost = |world: &mut World, turn: usize| {
        let begun = Instant::now();
        run(world, turn);
        millis(begun.elapsed())
    };
    let (mut of_short, mut of_long) = (Vec::new(), Vec::new());
    for turn in 0..times {
        of_short.push(cost(&mut short, turn));
        of_long.push(cost(&mut long, turn));
    }
    let (short, long) = (median(of_short), median(of_long));
    tell(&format!("{name}, {LONG} messages"), long, "ms");
    judge(&format!("{name}, {LONG} / {SHORT} messages"), long / short, GOAL, "");
}

pub fn run() {
    const NONE: KeyModifiers = KeyModifiers::NONE;
    grows("frame", 41, |world, _| {
        world.frame();
    });
    grows("key", 41, |world, _| {
        world.press(KeyCode::Char('x'), NONE);
    });
    // The first pages are laid out, then seen again: both kinds count.
    grows("page up and down", 41, |world, turn| {
        world.press(if turn % 6 < 3 { KeyCode::PageUp } else { KeyCode::PageDown }, NONE);
    });
    grows("wheel notch", 61, |world, turn| {
        let kind = if turn % 40 < 30 { MouseEventKind::ScrollUp } else { MouseEventKind::ScrollDown };
        world.mouse(kind, 50, 20);
    });
    grows("ends of the transcript", 21, |world, turn| {
        world.press(if turn % 2 == 0 { KeyCode::Home } else { KeyCode::End }, NONE);
    });
    grows("resize", 41, |world, turn| world.resize(if turn % 2 == 0 { (180, 52) } else { SIZE }));
    grows("fold all", 21, |world, _| {
        world.press(KeyCode::Char('o'), KeyModifiers::CONTROL);
    });
}
