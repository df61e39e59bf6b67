//! The real program while a job floods: how soon it answers a key, and what it holds. The same flood beside a program that
//! has nothing to do with it says what the processors alone make of a key.

use super::{FLOOD, GOALS, memory, printing};
use crate::figures::{millis, tell};
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::{ModelServer, Step};
use serde_json::json;
use std::time::{Duration, Instant};

/// Keys that are typed.
const KEYS: usize = 60;

/// Keys are answered as soon as ever while a job prints as fast as it can.
pub fn frames() {
    let home = Home::new();
    // Printed again and again, as long as keys are typed.
    let command = format!("while [ ! -e stop ]; do {}; done", printing(FLOOD));
    let beside = beside(&command);
    let server = ModelServer::start(vec![
        Step::text("").call("shell_job_start", json!({"title": "Flood", "command": command})),
        Step::text("It prints."),
        Step::text("It is over."),
    ]);
    let mut pty = Program::new(env!("CARGO_BIN_EXE_mynah"))
        .envs(home.variables())
        .envs([("OPENAI_BASE_URL", server.openai_base_url().as_str()), ("OPENAI_API_KEY", "sk-bench")])
        .folder(home.project())
        .args([
            "--model",
            "openai/any",
            "--yolo",
            "--set",
            "screen.reduced_motion=true",
            "--set",
            "jobs.at_quit=stop",
        ])
        .start();
    pty.wait_for("Ask anything");
    pty.type_text("print");
    pty.press("enter");
    pty.wait_for("It prints.");
    pty.wait_for("▸ a line of output");
    let process = pty.process().to_string();
    let before = memory(&process);
    let times = keys(&mut pty);
    tell("key_during_flood_median", at(&times, 50), "ms");
    tell("key_during_flood_p90", at(&times, 90), "ms");
    tell("key_beside_flood_median", at(&beside, 50), "ms");
    tell("key_beside_flood_p90", at(&beside, 90), "ms");
    GOALS.judge("key_during_flood_more", at(&times, 50) - at(&beside, 50), 8.0, "ms");
    GOALS.judge("memory_during_flood", memory(&process) - before, 32.0, "MB more");
    let window = pty.activity_within(Duration::from_secs(3));
    tell("cpu_during_flood", millis(window.cpu) / 30.0, "% of a core");
    // A frame is drawn in one of them at most.
    let frame = millis(window.cpu) / (window.wake_ups.max(1) as f64);
    GOALS.judge("frame_during_flood", frame, 8.0, "ms");
    std::fs::write(home.project().join("stop"), "").expect("a file");
    pty.wait_for("It is over.");
}

/// The same keys in a program that runs no job, while the same is printed into a file by others.
fn beside(command: &str) -> Vec<f64> {
    let home = Home::new();
    let mut pty = Program::new(env!("CARGO_BIN_EXE_mynah"))
        .envs(home.variables())
        .folder(home.project())
        .args(["--set", "screen.reduced_motion=true"])
        .start();
    pty.wait_for("Ask anything");
    let mut flood = std::process::Command::new("bash")
        .args(["-c", &format!("({command}) | cat > flood")])
        .current_dir(home.project())
        .spawn()
        .expect("a shell");
    let times = keys(&mut pty);
    std::fs::write(home.project().join("stop"), "").expect("a file");
    flood.wait().expect("its end");
    times
}

/// How long each key takes from the hand to the screen.
fn keys(pty: &mut Pty) -> Vec<f64> {
    let shown = pty.look(|terminal| terminal.text().matches('x').count());
    let mut times = Vec::new();
    for key in 1..=KEYS {
        let begun = Instant::now();
        pty.type_text("x");
        pty.wait_until("a key", |terminal| terminal.text().matches('x').count() >= shown + key);
        times.push(millis(begun.elapsed()));
        let _pause = pty.activity_within(Duration::from_millis(25));
    }
    times.sort_by(f64::total_cmp);
    times
}

fn at(times: &[f64], share: usize) -> f64 {
    times.get(times.len() * share / 100).copied().unwrap_or(f64::MAX)
}
