//! Turns wheel events into lines, the same feel on every terminal.
//!
//! Pure: events and times in, lines out. Terminals send one, three or nine events for a notch of a wheel, and many for a
//! stroke on a trackpad. Events that follow each other within [`GAP`] in one direction are a stream; a turn of direction
//! begins a new one. A notch is so many lines as the user wants; parts of a line are carried on within a stream.

use std::time::{Duration, Instant};

/// A pause longer than this ends a stream.
pub const GAP: Duration = Duration::from_millis(80);
/// Most lines within [`WINDOW`]: a free-spinning wheel must not run away.
const CAP: i32 = 256;
const WINDOW: Duration = Duration::from_millis(16);
/// Events closer than this, several in a row, come from a trackpad where a notch is a single event.
const DENSE: Duration = Duration::from_millis(20);
const DENSE_FROM: u32 = 3;

/// Where the wheel turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards earlier text.
    Up,
    /// Towards later text.
    Down,
}

/// Where in a stream of events we are.
#[derive(Debug)]
pub struct Wheel {
    events_a_notch: i32,
    lines_a_notch: i32,
    stream: Option<Stream>,
    window: Option<(Instant, i32)>,
}

#[derive(Debug, Clone, Copy)]
struct Stream {
    direction: Direction,
    last: Instant,
    dense: u32,
    /// What is owed, in parts of a line: `1 / events_a_notch` each. Negative after the first event, which always moves.
    carried: i32,
}

impl Wheel {
    /// For a terminal that sends so many events for a notch (see [`events_a_notch`]) and a user who wants a notch to move so
    /// many lines.
    pub fn new(events_a_notch: u8, lines_a_notch: u8) -> Self {
        Self {
            events_a_notch: i32::from(events_a_notch.max(1)),
            lines_a_notch: i32::from(lines_a_notch.max(1)),
            stream: None,
            window: None,
        }
    }

    /// One event. Returns how many lines to move now: down is positive.
    pub fn turn(&mut self, direction: Direction, now: Instant) -> i32 {
        let going = self.stream.filter(|stream| {
            stream.direction == direction && now.saturating_duration_since(stream.last) <= GAP
        });
        let first = going.is_none();
        let mut stream = going.unwrap_or(Stream { direction, last: now, dense: 0, carried: 0 });
        if !first && now.saturating_duration_since(stream.last) <= DENSE {
            stream.dense += 1;
        } else {
            stream.dense = 0;
        }
        let trackpad = stream.dense >= DENSE_FROM;
        stream.carried +=
            if trackpad { self.lines_a_notch.min(self.events_a_notch) } else { self.lines_a_notch };
        stream.last = now;
        let mut lines = stream.carried.div_euclid(self.events_a_notch).max(0);
        if first {
            // The first event is felt at once; what it borrowed is paid back by the next.
            lines = lines.max(1);
        }
        stream.carried -= lines * self.events_a_notch;
        self.stream = Some(stream);
        let lines = self.capped(lines, now);
        match direction {
            Direction::Up => -lines,
            Direction::Down => lines,
        }
    }

    fn capped(&mut self, lines: i32, now: Instant) -> i32 {
        let (start, used) = self
            .window
            .filter(|(start, _)| now.saturating_duration_since(*start) < WINDOW)
            .unwrap_or((now, 0));
        let lines = lines.min(CAP - used);
        self.window = Some((start, used + lines));
        lines
    }
}

/// How many events a notch is, by the value of `TERM_PROGRAM`, or by the name that the terminal gives when it is asked:
/// over SSH that is all there is.
pub fn events_a_notch(terminal: Option<&str>) -> u8 {
    let begins =
        |names: &[&str]| terminal.is_some_and(|terminal| names.iter().any(|name| terminal.starts_with(name)));
    // VS Code calls itself by its terminal's name.
    if begins(&["iTerm", "WezTerm", "vscode", "xterm.js"]) {
        1
    } else if begins(&["ghostty", "Warp"]) {
        9
    } else {
        3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINES: u8 = 3;

    /// Lines for events at these pauses, all downwards.
    fn turned(events_a_notch: u8, pauses: &[u64]) -> Vec<i32> {
        let mut wheel = Wheel::new(events_a_notch, LINES);
        let mut now = Instant::now();
        let step = |pause: &u64| {
            now += Duration::from_millis(*pause);
            wheel.turn(Direction::Down, now)
        };
        pauses.iter().map(step).collect()
    }

    #[test]
    fn a_notch_is_three_lines_on_every_terminal() {
        assert_eq!(turned(1, &[0]), [3]);
        assert_eq!(turned(3, &[0, 1, 1]), [1, 1, 1]);
        assert_eq!(turned(9, &[0; 9]), [1, 0, 0, 0, 0, 1, 0, 0, 1]);
        assert_eq!(turned(1, &[0, 200, 200]), [3, 3, 3]);
        assert_eq!(turned(1, &[0, 60, 60]), [3, 3, 3]);
    }

    #[test]
    fn a_notch_is_as_many_lines_as_the_user_wants() {
        let total = |events, lines| {
            let mut wheel = Wheel::new(events, lines);
            let now = Instant::now();
            (0..events).map(|_| wheel.turn(Direction::Down, now + Duration::from_millis(40))).sum::<i32>()
        };
        for events in [1, 3] {
            for lines in [1, 2, 3, 5, 20] {
                assert_eq!(total(events, lines), i32::from(lines), "{lines} lines in {events} events");
            }
        }
    }

    #[test]
    fn terminals_are_known_by_variable_and_by_name() {
        let table = [
            (Some("iTerm.app"), 1),
            (Some("iTerm2 3.5.1"), 1),
            (Some("xterm.js(5.6.0-beta)"), 1),
            (Some("vscode"), 1),
            (Some("ghostty 1.1.0"), 9),
            (Some("WarpTerminal"), 9),
            (Some("kitty(0.42)"), 3),
            (Some("tmux 3.5a"), 3),
            (None, 3),
        ];
        for (name, events) in table {
            assert_eq!(events_a_notch(name), events, "{name:?}");
        }
    }

    #[test]
    fn a_trackpad_moves_a_line_an_event() {
        let lines = turned(1, &[8; 20]);
        assert_eq!(lines.get(4..), Some(&[1; 16][..]));
    }

    #[test]
    fn a_turn_of_direction_is_felt_at_once() {
        let mut wheel = Wheel::new(9, LINES);
        let now = Instant::now();
        assert_eq!(wheel.turn(Direction::Down, now), 1);
        assert_eq!(wheel.turn(Direction::Down, now), 0);
        assert_eq!(wheel.turn(Direction::Up, now), -1);
        assert_eq!(wheel.turn(Direction::Down, now + GAP * 2), 1);
    }

    #[test]
    fn a_free_spinning_wheel_is_capped() {
        let total: i32 = turned(1, &[0; 1000]).iter().sum();
        assert_eq!(total, CAP);
    }

    proptest! {
        /// Never against the direction, and over a stream as many lines as the events are worth.
        #[test]
        fn nothing_is_lost_or_added(events in 1u8..=12, pauses in prop::collection::vec(21u64..80, 1..200)) {
            let lines = turned(events, &pauses);
            prop_assert!(lines.iter().all(|lines| *lines >= 0));
            let worth = i32::try_from(pauses.len()).unwrap() * i32::from(LINES) / i32::from(events);
            prop_assert_eq!(lines.iter().sum::<i32>(), worth.max(1));
        }
    }
}
