//! What one thing costs in a short and in a long conversation: from the event to the terminal's bytes.

use super::figures::{median, millis, tell};
use super::judge;
use super::world::{LONG, SHORT, SIZE, World};
use ratatui::crossterm::event::{KeyCode, KeyModifiers, MouseEventKind};
use std::time::Instant;

/// A long conversation may cost so much more than a short one.
const GOAL: f64 = 1.5;

/// The same thing in both, several times, in turn: whatever else the machine does hits both.
fn grows(name: &str, times: usize, run: impl FnMut(&mut World, usize)) {
    grows_in(World::of, name, times, run);
}

fn grows_in(world: fn(usize) -> World, name: &str, times: usize, mut run: impl FnMut(&mut World, usize)) {
    let (mut short, mut long) = (world(SHORT), world(LONG));
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

/// Runs of work are one line each.
fn folded(messages: usize) -> World {
    let mut world = World::of(messages);
    world.state.display.folded = true;
    world.frame();
    world
}

/// All that was said is a single run.
fn one_run(messages: usize) -> World {
    let mut world = World::of_run(messages);
    world.state.display.folded = true;
    world.frame();
    world
}

fn fold_figures() {
    grows_in(folded, "folded frame", 41, |world, _| {
        world.frame();
    });
    grows_in(folded, "folded page up and down", 41, |world, turn| {
        world.press(if turn % 6 < 3 { KeyCode::PageUp } else { KeyCode::PageDown }, KeyModifiers::NONE);
    });
    grows_in(one_run, "frame of one closed run", 41, |world, _| {
        world.frame();
    });
    // The heights of all items are estimated anew, so this one grows; it happens once a key.
    let mut long = World::of(LONG);
    let toggles = (0..11).map(|_| {
        let begun = Instant::now();
        long.press(KeyCode::Char('o'), KeyModifiers::ALT);
        millis(begun.elapsed())
    });
    tell(&format!("fold and unfold, {LONG} messages"), median(toggles.collect()), "ms");
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
    fold_figures();
    grows("fold all", 21, |world, _| {
        world.press(KeyCode::Char('o'), KeyModifiers::CONTROL);
    });
}
