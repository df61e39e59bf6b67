//! Searching and selecting in a long conversation: each frame a slice, the whole as long as there is text.

use super::figures::{millis, tell};
use super::judge;
use super::world::{LONG, World};
use mynah::app::effect::Effect;
use mynah::app::msg::{Done, Msg};
use ratatui::crossterm::event::{KeyCode, KeyModifiers};
use std::time::{Duration, Instant};

/// No slice of the work may hold a key up longer.
const MOST_MILLIS: f64 = 8.0;
const SOME: usize = LONG / 10;

pub fn run() {
    let (some, _) = search(SOME);
    let (all, worst) = search(LONG);
    tell(&format!("search through {LONG} messages"), millis(all), "ms");
    judge("search, the longest frame of it", worst, MOST_MILLIS, "ms");
    judge(&format!("search, time a message, {LONG} / {SOME} messages"), growth(all, some), 1.5, "");

    let (some, _, _) = select_all(SOME);
    let (all, worst, bytes) = select_all(LONG);
    tell(&format!("copy of all of {LONG} messages"), millis(all), "ms");
    tell("copy of all, text", bytes, "MB");
    judge("copy of all, the longest part of it", worst, MOST_MILLIS, "ms");
    judge(&format!("copy of all, time a message, {LONG} / {SOME} messages"), growth(all, some), 1.5, "");
}

fn growth(all: Duration, some: Duration) -> f64 {
    let times = LONG / SOME;
    all.as_secs_f64() / some.as_secs_f64() / f64::from(u32::try_from(times).unwrap_or(u32::MAX))
}

/// The time of a search for something that stands in few places, and its longest frame.
fn search(messages: usize) -> (Duration, f64) {
    let mut world = World::of(messages);
    world.press(KeyCode::F(3), KeyModifiers::NONE);
    let begun = Instant::now();
    let mut worst = Duration::ZERO;
    for letter in "part_7".chars() {
        let step = Instant::now();
        world.press(KeyCode::Char(letter), KeyModifiers::NONE);
        worst = worst.max(step.elapsed());
    }
    while !world.state.pane.search_status().is_done {
        let step = Instant::now();
        world.frame();
        worst = worst.max(step.elapsed());
    }
    assert!(world.state.pane.search_status().total > 0, "it stands there");
    (begun.elapsed(), millis(worst))
}

/// The time of a copy of all, its longest part, and how much text it is.
fn select_all(messages: usize) -> (Duration, f64, f64) {
    let mut world = World::of(messages);
    world.press(KeyCode::Up, KeyModifiers::CONTROL);
    let begun = Instant::now();
    let mut worst = Duration::ZERO;
    let mut effects = Vec::new();
    for (code, held) in [
        (KeyCode::Char('A'), KeyModifiers::ALT | KeyModifiers::SHIFT),
        (KeyCode::Char('y'), KeyModifiers::NONE),
    ] {
        let step = Instant::now();
        effects = world.press(code, held);
        worst = worst.max(step.elapsed());
    }
    loop {
        if let Some(text) = effects.iter().find_map(|effect| match effect {
            Effect::CopySelection(text) => Some(text),
            _ => None,
        }) {
            let megabytes = f64::from(u32::try_from(text.len() / 1024).unwrap_or(u32::MAX)) / 1024.0;
            return (begun.elapsed(), millis(worst), megabytes);
        }
        assert!(effects.contains(&Effect::GatherOn), "the copy goes on");
        let step = Instant::now();
        effects = world.tell(Msg::Done(Done::GatherOn));
        world.frame();
        worst = worst.max(step.elapsed());
    }
}
