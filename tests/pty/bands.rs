//! A run of thirty mixed calls, as a person sees it: live, finished, folded, opened, popped up and after a resume.

use super::{LIT, QUIET, ask, leave, mynah, open, serve};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::{ModelServer, Step};
use mynah::testkit::terminal::keys::MouseAction;
use ratatui::style::Color;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const COLUMNS: u16 = 120;
/// All thirty calls stand on one screen of this height, so that it can be read at once.
const ROWS: u16 = 150;

/// What the grounds of the bands are in the dark theme.
const OK: Color = Color::Rgb(0x2e, 0x38, 0x2d);
const FAILED: Color = Color::Rgb(0x3e, 0x2d, 0x2d);
const TIMED_OUT: Color = Color::Rgb(0x3f, 0x38, 0x2c);
const STOPPED: Color = Color::Rgb(0x2b, 0x2b, 0x2d);

fn bash(command: &str, timeout: u64) -> (&'static str, Value) {
    ("bash", json!({"command": command, "timeout": timeout}))
}

fn step(text: &str, calls: Vec<(&str, Value)>) -> Step {
    calls.into_iter().fold(Step::text(text), |step, (tool, arguments)| step.call(tool, arguments))
}

/// Thirty calls in five responses; the last of them goes on until somebody stops it.
fn steps() -> Vec<Step> {
    let file = |n: usize| format!("src/part_{n}.rs");
    let reads = |from: usize| (from..from + 6).map(|n| ("read", json!({"path": file(n)})));
    let mut looking: Vec<_> = reads(0).collect();
    looking.push(("grep", json!({"pattern": "fn part", "path": "src"})));
    looking.push(("grep", json!({"pattern": "nowhere to be found", "path": "src"})));
    looking.push(("find", json!({"pattern": "*.rs"})));
    looking.push(("ls", json!({"path": "src"})));
    let edit = json!({"path": file(3), "edits": [{"oldText": "fn part_3", "newText": "fn third_part"}]});
    let changing = vec![
        ("edit", edit),
        ("write", json!({"path": "notes.md", "content": "# Notes\n\nOne.\nTwo.\n\tTabbed.\nLast.\n"})),
        ("read", json!({"path": "missing.rs"})),
        ("edit", json!({"path": file(1), "edits": [{"oldText": "not in it", "newText": "x"}]})),
    ];
    let running = vec![
        bash("echo one; echo two >&2; exit 3", 30),
        bash("seq 1 5000", 30),
        bash("echo before; sleep 60", 1),
        bash("printf 'a\\tb  \\nend'", 30),
        bash("echo several\necho lines", 30),
        bash("true", 30),
    ];
    let more: Vec<_> =
        reads(2).chain([("ls", json!({})), ("grep", json!({"pattern": "x", "path": "src"}))]).collect();
    vec![
        step("I'll look first.", looking).thinking("Where could it be? I should look."),
        step("Now I change it.", changing),
        step("And try it.", running),
        step("", more),
        step(
            "One takes longer.",
            vec![bash("seq 1 300; echo begun; sleep 600", 120), bash("echo never", 30)],
        ),
    ]
}

struct World {
    pty: Pty,
    server: ModelServer,
    home: Home,
    copies: usize,
}

fn program(home: &Home, server: &ModelServer, more: &[&str]) -> Program {
    mynah(home, server)
        .size(COLUMNS, ROWS)
        .envs([("SSH_TTY", "/dev/pts/9")])
        .ground(0x1a, 0x1a, 0x1d)
        .args(["--yolo"])
        .args(more)
}

impl World {
    /// The program, with the last call running.
    fn running() -> Self {
        let home = Home::new();
        for n in 0..8 {
            let body: String = (0..n * 7 + 3).map(|line| format!("    let line_{line} = {n};\n")).collect();
            home.write(&format!("src/part_{n}.rs"), &format!("fn part_{n}() {{\n{body}}}\n"));
        }
        let server = serve(steps());
        let mut pty = open(program(&home, &server, &[]));
        ask(&mut pty, "find it and fix it");
        pty.wait_for("One takes longer.");
        pty.wait_for("begun");
        Self { pty, server, home, copies: 0 }
    }

    fn stop(&mut self) {
        self.pty.press("esc");
        self.pty.wait_for("Stopped after");
        // What ended shines for a moment.
        self.pty.wait_quiet(LIT);
    }

    fn rows(&self) -> Vec<String> {
        self.pty.text().lines().map(str::to_owned).collect()
    }

    /// The row in which a text stands; the first of several.
    fn row(&self, text: &str) -> u16 {
        let rows = self.rows();
        let found = rows.iter().position(|row| row.contains(text));
        u16::try_from(found.unwrap_or_else(|| panic!("{text:?} in\n{}", rows.join("\n")))).unwrap()
    }

    fn ground(&self, text: &str) -> Color {
        let y = self.row(text);
        self.pty.look(|terminal| terminal.to_buffer()[(0, y)].bg)
    }

    fn click(&mut self, text: &str) {
        let (x, y) = self.cell(text);
        self.pty.mouse(MouseAction::Press, x, y);
        self.pty.mouse(MouseAction::Release, x, y);
    }

    fn cell(&self, text: &str) -> (u16, u16) {
        let y = self.row(text);
        let row = &self.rows()[usize::from(y)];
        let before = row.split(text).next().unwrap_or_default();
        (u16::try_from(before.chars().count()).unwrap(), y)
    }

    /// What the terminal is asked to copy next.
    fn copied(&mut self) -> String {
        let wanted = self.copies + 1;
        let mut found = None;
        self.pty.wait_until(&format!("copy {wanted}"), |terminal| {
            found = terminal.modes().clipboard.get(wanted - 1).cloned();
            found.is_some()
        });
        self.copies = wanted;
        String::from_utf8(STANDARD.decode(found.unwrap()).unwrap()).unwrap()
    }
}

/// Rows of bands and their times, without what differs from run to run.
fn bands(rows: &[String]) -> Vec<String> {
    rows.iter().filter(|row| row.starts_with("● ")).cloned().collect()
}

#[test]
fn a_run_of_thirty_calls_is_told_live_and_when_it_is_over() {
    let mut world = World::running();
    // Live: how long, and of how much.
    let row = world.rows()[usize::from(world.row("$ seq 1 300; echo begun; sleep 600"))].clone();
    assert!(row.contains(" / 2m00s"), "{row}");
    world.pty.wait_for("Running bash…");
    assert!(world.rows().iter().any(|row| row.contains("$ echo never") && row.contains("queued")));
    world.stop();
    let table = [
        ("read src/part_0.rs", OK, "5 lines"),
        ("grep /fn part/ in src", OK, "8 matches in 8 files"),
        ("grep /nowhere to be found/", OK, "no matches"),
        ("find *.rs", OK, "8 files"),
        ("ls src", OK, "8 entries"),
        ("edit src/part_3.rs", OK, "+1 −1"),
        ("write notes.md", OK, "6 lines"),
        ("read missing.rs", FAILED, "failed"),
        ("edit src/part_1.rs", FAILED, "failed"),
        ("$ echo one; echo two", FAILED, "exit 3"),
        ("$ seq 1 5000", OK, ""),
        ("$ echo before; sleep 60", TIMED_OUT, "timed out"),
        ("$ echo several", OK, "2 commands"),
        ("$ seq 1 300; echo begun; sleep 600", STOPPED, "stopped"),
    ];
    for (title, ground, told) in table {
        let row = world.rows()[usize::from(world.row(title))].clone();
        assert!(row.contains(told), "{told} in {row}");
        assert_eq!(world.ground(title), ground, "{row}");
    }
    for text in ["5000", "… 4,996 earlier lines", "∴ Thought", "third_part", "∎ Stopped after"] {
        assert!(world.pty.text().contains(text), "{text} in\n{}", world.pty.text());
    }
    assert_eq!(bands(&world.rows()).len(), 34, "thirty calls and four replies");
    // A finished screen draws no frame.
    let activity = world.pty.activity_within(std::time::Duration::from_secs(1));
    assert_eq!((activity.bytes, activity.wake_ups), (0, 0), "{activity:?}");
    assert_eq!(world.server.violations(), [""; 0]);
    leave(&mut world.pty);
}

#[test]
fn a_run_is_folded_opened_and_closed_by_keys_and_clicks() {
    let mut world = World::running();
    world.stop();
    world.pty.press("alt+o");
    world.pty.wait_for("Read 6 files, searched for 3 patterns, listed 1 folder");
    let text = world.pty.text();
    assert!(!text.contains("src/part_0.rs") && text.contains("And try it."), "{text}");
    assert!(text.contains("Edited 2 files") || text.contains("edited"), "{text}");
    let width = |world: &World| {
        let rows = world.rows();
        rows.iter().find(|row| row.contains("part_0.rs")).map(|row| row.chars().count())
    };
    world.click("Read 6 files");
    world.pty.wait_for("╰─ close");
    world.pty.wait_for("part_0.rs");
    let open = width(&world);
    assert!(open.is_some());
    world.click("╰─ close");
    world.pty.wait_gone("part_0.rs");
    // The same by keys.
    world.pty.press("ctrl+o");
    world.pty.wait_for("part_0.rs");
    assert_eq!(width(&world), open);
    world.pty.press("ctrl+o");
    world.pty.wait_gone("part_0.rs");
    world.pty.press("alt+o");
    world.pty.wait_gone("Read 6 files");
    world.pty.wait_for("part_0.rs");
    leave(&mut world.pty);
}

#[test]
fn a_call_is_popped_up_and_copied_byte_by_byte() {
    let mut world = World::running();
    // Also while it runs.
    world.click("$ seq 1 300; echo begun; sleep 600");
    world.pty.wait_for("copy output");
    world.pty.wait_for("output of 3 · sleep 600");
    world.pty.press("esc");
    world.pty.wait_gone("copy output");
    world.stop();
    world.click("$ seq 1 5000");
    world.pty.wait_for("copy output");
    world.pty.wait_for("following");
    world.pty.press("o");
    let all: String = (1..=5000).map(|n| format!("{n}\n")).collect();
    let copied = world.copied();
    // What the model got: the last two thousand lines, as the tool says.
    assert!(all.trim_end().ends_with(copied.trim_end()) && copied.lines().count() == 2000, "{copied}");
    world.pty.press("c");
    assert_eq!(world.copied(), "seq 1 5000");
    world.pty.press("/");
    world.pty.type_text("4242");
    world.pty.press("enter");
    world.pty.wait_for("4242");
    world.pty.press("esc");
    world.pty.press("esc");
    world.pty.wait_gone("copy output");
    // From the keyboard.
    world.click("$ printf");
    world.pty.wait_for("copy output");
    world.click("copy output");
    assert_eq!(world.copied(), "a\tb\nend");
    world.click("✕");
    world.pty.wait_gone("copy output");
    leave(&mut world.pty);
}

#[test]
fn a_resumed_run_looks_as_it_did() {
    let mut world = World::running();
    world.stop();
    let before = bands(&world.rows());
    leave(&mut world.pty);
    let mut pty = open(program(&world.home, &world.server, &["--continue"]));
    pty.wait_for("One takes longer.");
    pty.wait_quiet(QUIET);
    let rows: Vec<String> = pty.text().lines().map(str::to_owned).collect();
    let after = bands(&rows);
    // Times, facts and failures: all of them.
    let (before, after): (BTreeSet<_>, BTreeSet<_>) =
        (before.into_iter().collect(), after.into_iter().collect());
    assert_eq!(before.difference(&after).collect::<Vec<_>>(), Vec::<&String>::new());
    leave(&mut pty);
}
