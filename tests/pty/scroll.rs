//! Every gesture that scrolls, on every kind of terminal, in a session of some hundred messages: a notch moves the same
//! everywhere, what went up comes down to the same rows, the window never leaves the transcript, and the end is followed
//! again exactly when it is reached.

use super::long_session::{LAST, lines, opened, window};
use super::{ask, leave, serve};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use mynah::testkit::server::{Gate, ModelServer, Step};
use mynah::testkit::terminal::Terminal;
use mynah::testkit::terminal::answers::Profile;
use mynah::testkit::terminal::keys::MouseAction::{self, Drag, Press, Release, WheelDown, WheelUp};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Lines of a notch, as the settings have it.
const NOTCH: isize = 3;
/// Events of a stroke on a trackpad.
const STROKE: usize = 12;
/// Longer pauses end a stream of events. A machine that is slower than this decides itself where they end.
const GAP: Duration = Duration::from_millis(80);
/// And events that are further apart than this come from no trackpad.
const DENSE: Duration = Duration::from_millis(20);

/// A terminal, and how many events it sends for a notch.
struct Kind {
    profile: Profile,
    program: Option<&'static str>,
    events: usize,
}

/// Rows that a move took the window up, down if negative.
fn moved(before: &[String], after: &[String]) -> isize {
    let (old, new) = (lines(before), lines(after));
    let moves: Vec<isize> = old
        .iter()
        .filter_map(|(number, y)| Some(isize::try_from(*new.get(number)?).ok()? - isize::try_from(*y).ok()?))
        .collect();
    let first = *moves.first().unwrap_or_else(|| panic!("nothing in common:\n{before:#?}\n{after:#?}"));
    assert!(moves.iter().all(|rows| *rows == first), "torn apart:\n{before:#?}\n{after:#?}");
    first
}

struct World {
    pty: Pty,
    kind: Kind,
    server: ModelServer,
    gate: Gate,
    _home: Home,
}

impl World {
    fn new(profile: Profile, program: Option<&'static str>, events: usize) -> Self {
        let home = Home::new();
        let first = "While it is written";
        let rest: String = (0..30).map(|n| format!("Further part {n}.\n\n")).collect();
        let (step, gate) = Step::text(format!("{first}{rest}That is all.")).pieces(first.len()).gate_after(1);
        let server = serve(vec![step]);
        let variables = program.map(|program| ("TERM_PROGRAM", program));
        let pty = opened(&home, &server, |start| start.profile(profile).envs(variables));
        Self { pty, kind: Kind { profile, program, events }, server, gate, _home: home }
    }

    fn name(&self) -> String {
        format!("{:?} {:?}", self.kind.profile, self.kind.program)
    }

    /// Waits until all that was done is seen: a letter that was typed after it is, and is gone again.
    fn settle(&mut self) -> Vec<String> {
        let is_empty = |terminal: &Terminal| terminal.text().contains("Ask anything");
        self.pty.type_text("x");
        self.pty.wait_until("the letter", |terminal| !is_empty(terminal));
        self.pty.press("ctrl+u");
        self.pty.wait_until("no letter", is_empty);
        let window = self.pty.look(window);
        assert!(window.iter().any(|row| !row.is_empty()), "{}: an empty window", self.name());
        window
    }

    fn window(&self) -> Vec<String> {
        self.pty.look(window)
    }

    /// The end is in sight, and stays there.
    fn is_following(&self) -> bool {
        let rows = self.window();
        // It may stand in the free row below the window.
        let shows_mark = self.pty.text().contains(" ↓ ");
        let shows_end = rows.iter().any(|row| row.contains(LAST));
        assert_ne!(shows_mark, shows_end, "{}: {rows:#?}", self.name());
        shows_end
    }

    /// So many events of the wheel at once. Returns the rows that the window went up, and how long that took at most.
    fn turn(&mut self, wheel: MouseAction, events: usize) -> (isize, Duration) {
        let before = self.window();
        let begun = Instant::now();
        for _ in 0..events {
            self.pty.mouse(wheel, 40, 10);
        }
        let after = self.settle();
        (moved(&before, &after), begun.elapsed())
    }

    fn notch(&mut self, wheel: MouseAction) {
        let (rows, took) = self.turn(wheel, self.kind.events);
        let up = if wheel == WheelUp { rows } else { -rows };
        // On a terminal with many events a pause between them is felt.
        let most = if took > GAP && self.kind.events > 3 { self.kind.events.cast_signed() } else { NOTCH };
        assert!((NOTCH..=most).contains(&up), "{}: a notch is {up} rows", self.name());
    }

    fn key(&mut self, key: &str) -> Vec<String> {
        self.pty.press(key);
        self.settle()
    }

    /// Rows and columns of the thumb.
    fn thumb(&self) -> (u16, u16) {
        self.pty.look(|terminal| {
            let rows = 0..terminal.size().height;
            let y = rows.into_iter().find(|y| terminal.row(*y).ends_with('▐'));
            (terminal.size().width - 1, y.expect("a thumb"))
        })
    }

    fn go_to_end(&mut self) {
        self.key("end");
        assert!(self.is_following(), "{}: {}", self.name(), self.pty.text());
    }

    /// A notch at a time, and back.
    fn notches(&mut self) {
        for pause in [GAP * 2, DENSE * 3 / 2] {
            let mut seen = vec![self.window()];
            for _ in 0..5 {
                self.pty.wait_quiet(pause);
                self.notch(WheelUp);
                seen.push(self.window());
            }
            let follows = |seen: &[String]| seen.iter().any(|row| row.contains(LAST));
            seen.pop();
            while let Some(before) = seen.pop() {
                self.pty.wait_quiet(pause);
                assert!(!self.is_following() || self.kind.events > 3, "{}: too early", self.name());
                self.notch(WheelDown);
                if self.kind.events <= 3 {
                    assert_eq!(self.window(), before, "{}: what went up comes down", self.name());
                    assert_eq!(self.is_following(), follows(&before), "{}", self.name());
                }
            }
            self.end_if_lost();
        }
    }

    /// Where a slow machine may have lost count of the events, the end is gone to.
    fn end_if_lost(&mut self) {
        if self.kind.events > 3 && !self.is_following() {
            self.go_to_end();
        }
    }

    /// The first event after a turn moves at once.
    fn turned(&mut self) {
        self.key("pageup");
        self.pty.wait_quiet(GAP * 2);
        let events = self.kind.events;
        let before = self.window();
        let begun = Instant::now();
        for _ in 0..events {
            self.pty.mouse(WheelUp, 40, 10);
        }
        self.pty.mouse(WheelDown, 40, 10);
        let up = moved(&before, &self.settle());
        let one = if events == 1 { NOTCH } else { 1 };
        if events <= 3 || begun.elapsed() <= GAP {
            assert_eq!(up, NOTCH - one, "{}: a turn is felt at once", self.name());
        }
        if events <= 3 {
            for _ in 1..events {
                self.pty.mouse(WheelDown, 40, 10);
            }
            assert_eq!(self.settle(), before, "{}: a notch up and a notch down", self.name());
        }
        self.go_to_end();
    }

    /// Many events at once, as from a trackpad.
    fn stroke(&mut self) {
        let before = self.window();
        let want = match self.kind.events {
            // Three until it is known for a trackpad.
            1 => STROKE + 6,
            events => STROKE * 3 / events,
        };
        for wheel in [WheelUp, WheelDown] {
            self.pty.wait_quiet(GAP * 2);
            let (rows, took) = self.turn(wheel, STROKE);
            let least = want.min(STROKE).cast_signed();
            let most = if took > DENSE { STROKE.cast_signed() * NOTCH } else { want.cast_signed() };
            let up = if wheel == WheelUp { rows } else { -rows };
            assert!((least..=most).contains(&up), "{}: {up} rows for a stroke", self.name());
        }
        if self.kind.events == 3 {
            assert_eq!(self.window(), before, "{}: what went up comes down", self.name());
        }
        self.go_to_end();
    }

    /// A key several times, then the one that goes back as often.
    fn up_and_down(&mut self, up: &str, down: &str) {
        let mut seen = vec![self.window()];
        for _ in 0..4 {
            let before = self.window();
            let after = self.key(up);
            assert_ne!(before, after, "{}: {up}", self.name());
            seen.push(after);
        }
        seen.pop();
        while let Some(before) = seen.pop() {
            assert!(!self.is_following(), "{}: too early", self.name());
            assert_eq!(self.key(down), before, "{}: {up}, then {down}", self.name());
        }
        assert!(self.is_following(), "{}", self.name());
    }

    /// Pages and notches show the same lines: none is passed over, none stays under the heading or the mark.
    fn is_whole(&mut self) {
        let numbers = |window: &[String]| lines(window).into_keys();
        let mut by_page: BTreeSet<usize> = numbers(&self.window()).collect();
        for _ in 0..4 {
            by_page.extend(numbers(&self.key("pageup")));
        }
        let mut by_notch: BTreeSet<usize> = numbers(&self.window()).collect();
        // Far more than needed: where notches follow each other fast, each is taken for a trackpad's and moves one row.
        for _ in 0..400 {
            if self.is_following() {
                break;
            }
            self.turn(WheelDown, self.kind.events);
            by_notch.extend(numbers(&self.window()));
        }
        assert!(self.is_following(), "{}", self.name());
        assert!(by_page.len() > 30);
        assert_eq!(by_page, by_notch, "{}", self.name());
    }

    fn ends(&mut self) {
        let first = self.key("home");
        assert!(first.iter().take(2).any(|row| row.contains("Prompt 00")), "{}: {first:#?}", self.name());
        for key in ["pageup", "alt+pageup", "home"] {
            assert_eq!(self.key(key), first, "{}: {key} beyond the start", self.name());
        }
        self.turn(WheelUp, STROKE);
        assert_eq!(self.window(), first, "{}: the wheel beyond the start", self.name());
        self.go_to_end();
        let last = self.window();
        for key in ["pagedown", "alt+pagedown", "ctrl+shift+down", "end"] {
            assert_eq!(self.key(key), last, "{}: {key} beyond the end", self.name());
        }
        self.turn(WheelDown, STROKE);
        assert_eq!(self.window(), last, "{}: the wheel beyond the end", self.name());
        assert!(self.is_following());
    }

    fn prompts(&mut self) {
        let at_top = |window: &[String], number: usize| {
            window.iter().take(2).any(|row| row.contains(&format!("Prompt {number:02}")))
        };
        // The long ones among them.
        for number in (60..70).rev() {
            let window = self.key("ctrl+shift+up");
            assert!(at_top(&window, number), "{}: {number} in {window:#?}", self.name());
        }
        for number in 61..70 {
            let window = self.key("ctrl+shift+down");
            assert!(at_top(&window, number), "{}: {number} in {window:#?}", self.name());
        }
        self.key("ctrl+shift+down");
        assert!(self.is_following(), "{}", self.name());
    }

    fn drags(&mut self) {
        let rows = u16::try_from(self.window().len()).unwrap();
        let (x, y) = self.thumb();
        self.pty.mouse(Press, x, y);
        let mut before = usize::MAX;
        for to in [rows * 3 / 4, rows / 2, rows / 4] {
            self.pty.mouse(Drag, x, to);
            let window = self.settle();
            let seen = lines(&window);
            let first = *seen.keys().next().unwrap_or(&before);
            assert!(first <= before, "{}: {to} {window:#?}", self.name());
            assert!(!self.is_following());
            before = first;
        }
        self.pty.mouse(Drag, x, 0);
        let start = self.settle();
        assert!(start.iter().take(2).any(|row| row.contains("Prompt 00")), "{}: {start:#?}", self.name());
        self.pty.mouse(Drag, x, rows / 2);
        let middle = self.settle();
        assert!(middle != start && !self.is_following());
        // Away from the bar the thumb is still held.
        self.pty.mouse(Drag, 3, rows + 5);
        self.settle();
        assert!(self.is_following(), "{}", self.name());
        self.pty.mouse(Release, 3, rows + 5);
        // In the middle a notch is what it is at the end.
        let (x, y) = self.thumb();
        self.pty.mouse(Press, x, y);
        self.pty.mouse(Drag, x, rows / 2);
        self.pty.mouse(Release, x, rows / 2);
        self.settle();
        self.notch(WheelUp);
        self.pty.wait_quiet(GAP * 2);
        self.notch(WheelDown);
        self.go_to_end();
    }

    /// An answer comes while somebody reads: what is read stays, and at the end it is followed again.
    fn answered(&mut self) {
        ask(&mut self.pty, "go on");
        self.pty.wait_for("While it is written");
        // The end is far enough away.
        for _ in 0..3 {
            self.pty.press("pageup");
        }
        self.settle();
        let before = self.window();
        self.gate.open();
        self.pty.wait_gone("Writing reply");
        let after = self.settle();
        let rows = before.len() - 1;
        assert_eq!(after[..rows], before[..rows], "{}: the window moved", self.name());
        for _ in 0..400 {
            if self.pty.text().contains("That is all.") {
                break;
            }
            for _ in 0..self.kind.events * 3 {
                self.pty.mouse(WheelDown, 40, 10);
            }
            self.settle();
        }
        self.pty.wait_for("That is all.");
        self.pty.wait_gone("↓ below");
    }
}

fn scrolls(profile: Profile, program: Option<&'static str>, events: usize) {
    let mut world = World::new(profile, program, events);
    world.settle();
    assert!(world.is_following(), "{}: {}", world.name(), world.pty.text());
    world.notches();
    world.turned();
    world.stroke();
    world.up_and_down("pageup", "pagedown");
    world.up_and_down("alt+pageup", "alt+pagedown");
    world.is_whole();
    world.ends();
    world.prompts();
    world.drags();
    world.answered();
    assert_eq!(world.server.violations(), [""; 0]);
    leave(&mut world.pty);
}

#[test]
fn every_gesture_scrolls_where_the_terminal_tells_no_program() {
    scrolls(Profile::Kitty, None, 3);
}

/// Over a slow line the name comes after it was waited for, and no variable tells it.
#[test]
fn the_wheel_goes_by_a_name_that_comes_late() {
    let mut world = World::new(Profile::Mute, None, 3);
    world.settle();
    world.notch(WheelUp);
    world.pty.send(b"\x1bP>|iTerm2 3.5.1\x1b\\");
    world.settle();
    world.kind.events = 1;
    world.pty.wait_quiet(GAP * 2);
    world.notch(WheelUp);
    leave(&mut world.pty);
}

#[test]
fn every_gesture_scrolls_in_iterm() {
    scrolls(Profile::Kitty, Some("iTerm.app"), 1);
}

#[test]
fn every_gesture_scrolls_in_vs_code() {
    scrolls(Profile::Xterm, Some("vscode"), 1);
}

#[test]
fn every_gesture_scrolls_in_ghostty() {
    scrolls(Profile::Kitty, Some("ghostty"), 9);
}

#[test]
fn every_gesture_scrolls_in_tmux() {
    scrolls(Profile::Tmux, Some("tmux"), 3);
}
