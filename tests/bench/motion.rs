//! What moving rows cost in the real program, in a terminal of 200 columns and 60 rows: processor time as a share of one
//! core, and bytes written a second. A figure with a goal has it behind it, and the run ends with an error if one is
//! missed.
//!
//! `cargo bench --bench motion` runs all, `cargo bench --bench motion -- sweep` those whose name holds the word.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench fails by stopping and tells by printing"
)]

mod figures;
mod goals;

use figures::{Bench, median, millis, tell};
use goals::Goals;
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::{ModelServer, Step};
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

/// Each scene is looked at so often, and so long. What counts is the median: other programs run, too.
const WINDOWS: usize = 3;
const WINDOW: Duration = Duration::from_millis(2200);

static GOALS: Goals = Goals::new();

const BENCHES: &[Bench] = &[
    ("fill", fill),
    ("sweep", sweep),
    ("fold", fold),
    ("reply", reply),
    ("thinking", thinking),
    ("draft", draft),
    ("unfocused", unfocused),
    ("finished", finished),
];

fn main() -> ExitCode {
    figures::run(BENCHES);
    GOALS.verdict()
}

/// A program that was asked something, and what keeps it going.
struct Scene {
    pty: Pty,
    _server: ModelServer,
    _home: Home,
}

fn scene(steps: Vec<Step>, settings: &[&str]) -> Scene {
    let home = Home::new();
    let server = ModelServer::start(steps);
    let keys = [("OPENAI_BASE_URL", server.openai_base_url()), ("OPENAI_API_KEY", "x".to_owned())];
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    let mut pty = Program::new(env!("CARGO_BIN_EXE_mynah"))
        .envs(home.variables())
        .envs(keys)
        .folder(home.project())
        .size(200, 60)
        .args(["--model", "openai/bench", "--yolo"])
        .args(settings)
        .start();
    pty.wait_until("an open session", |terminal| {
        terminal.text().contains("Ask anything") && !terminal.text().contains("starting…")
    });
    pty.type_text("go");
    pty.wait_for("go");
    pty.press("enter");
    Scene { pty, _server: server, _home: home }
}

/// Watches the scene once this text is seen.
fn watch(name: &str, scene: &Scene, text: &str, cpu: f64, kilobytes: f64) {
    scene.pty.wait_for(text);
    // The begin of a scene is not the scene.
    let _begin = scene.pty.activity_within(Duration::from_millis(1500));
    let windows: Vec<_> = (0..WINDOWS).map(|_| scene.pty.activity_within(WINDOW)).collect();
    let seconds = WINDOW.as_secs_f64();
    let share = median(windows.iter().map(|window| millis(window.cpu) / 10.0 / seconds).collect());
    let written = median(windows.iter().map(|window| count(window.bytes) / 1000.0 / seconds).collect());
    let wake_ups = median(windows.iter().map(|window| count(window.wake_ups) / seconds).collect());
    GOALS.judge(&format!("{name}_cpu"), share, cpu, "% of a core");
    GOALS.judge(&format!("{name}_bytes"), written, kilobytes, "kB/s");
    tell(&format!("{name}_wake_ups"), wake_ups, "/s");
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred thousand")]
fn count(count: u64) -> f64 {
    count as f64
}

fn bash(command: &str, timeout: u64) -> Step {
    Step::text("").call("bash", json!({"command": command, "timeout": timeout}))
}

/// A command that fills towards its limit.
fn fill() {
    let scene = scene(vec![bash("echo begun; exec cat <(sleep 60)", 120)], &[]);
    watch("fill", &scene, "begun", 2.0, 12.0);
}

/// A command without a limit.
fn sweep() {
    let scene = scene(vec![bash("echo begun; exec cat <(sleep 60)", 0)], &[]);
    watch("sweep", &scene, "begun", 2.0, 12.0);
}

/// The same in a folded run.
fn fold() {
    let scene = scene(vec![bash("exec cat <(sleep 60)", 120)], &["display.folded=true"]);
    watch("fold", &scene, "Ran 1 command", 2.0, 12.0);
}

/// A reply at a hundred tokens a second.
fn reply() {
    let words = "Words that a model writes, one after the other. ".repeat(400);
    let step = Step::text(words).pieces(8).drip(Duration::from_millis(20));
    let scene = scene(vec![step], &[]);
    watch("reply", &scene, "Words that", 2.0, 12.0);
}

/// Thinking at the same speed.
fn thinking() {
    let words = "Thoughts that a model has, one after the other. ".repeat(400);
    let step = Step::text("Done.").thinking(words).pieces(8).drip(Duration::from_millis(20));
    let scene = scene(vec![step], &[]);
    watch("thinking", &scene, "Thoughts that", 2.5, 12.0);
}

/// A file that is being written, at the same speed.
fn draft() {
    let content = "let line = of_a_file(that, is, written);\n".repeat(400);
    let step = Step::text("")
        .call("write", json!({"path": "a.rs", "content": content}))
        .pieces(8)
        .drip(Duration::from_millis(20));
    let scene = scene(vec![step], &[]);
    watch("draft", &scene, "of_a_file", 3.0, 12.0);
}

/// A sweep in a window that has not the focus: only the times go on.
fn unfocused() {
    let mut scene = scene(vec![bash("echo begun; exec cat <(sleep 60)", 0)], &[]);
    scene.pty.wait_for("begun");
    scene.pty.focus(false);
    watch("unfocused", &scene, "begun", 1.0, 3.0);
}

/// Nothing runs any more.
fn finished() {
    let scene = scene(vec![bash("echo begun", 120), Step::text("That is all.")], &[]);
    scene.pty.wait_for("That is all.");
    scene.pty.wait_for("∎ ");
    let _flash = scene.pty.activity_within(Duration::from_secs(2));
    let activity = scene.pty.activity_within(WINDOW * 3);
    GOALS.judge("finished_bytes", count(activity.bytes), 0.0, "bytes");
    GOALS.judge("finished_wake_ups", count(activity.wake_ups), 0.0, "wake-ups");
}
