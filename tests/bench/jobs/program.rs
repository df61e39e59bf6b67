//! The real program while a job floods: how soon it answers a key, and what it holds.

use super::{FLOOD, GOALS, memory, printing};
use crate::figures::{millis, tell};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Program;
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
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(f64::MAX);
    tell("key_during_flood_median", at(50), "ms");
    GOALS.judge("key_during_flood_p90", at(90), 8.0, "ms");
    GOALS.judge("memory_during_flood", memory(&process) - before, 32.0, "MB more");
    let window = pty.activity_within(Duration::from_secs(3));
    tell("cpu_during_flood", millis(window.cpu) / 30.0, "% of a core");
    std::fs::write(home.project().join("stop"), "").expect("a file");
    pty.wait_for("It is over.");
}
