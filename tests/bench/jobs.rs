//! What background jobs and commands cost, one figure a line: `name value unit`.
//!
//! `cargo bench --bench jobs` runs all, `cargo bench --bench jobs -- rest` those whose name holds the word. A figure with a
//! goal has it behind it, and the run ends with an error if one is missed.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    reason = "a bench fails by stopping and tells by printing"
)]

mod figures;
mod goals;
#[path = "jobs/program.rs"]
mod program;

use figures::{Bench, median, millis, tell};
use goals::Goals;
use mynah::jobs::table::{DEFAULT_LOG_CAP, Hooks, JobSpec, JobTable, KeeperProgram, Setup};
use mynah::jobs::{Jobs, SaveAbove, ShellCommand};
use mynah::proto::ids::SessionId;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

const BENCHES: &[Bench] = &[
    ("start", start),
    ("flood", flood),
    ("command_flood", command_flood),
    ("frames", program::frames),
    ("rest", rest),
];

/// What was missed.
pub static GOALS: Goals = Goals::new();

/// Bytes that a job prints here.
const FLOOD: u64 = 200_000_000;
/// Jobs at rest.
const MANY: usize = 50;
/// Those are looked at for so long.
const WINDOW: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    figures::run(BENCHES);
    GOALS.verdict()
}

/// Lines of text, so many bytes of them, as fast as a pipe takes them.
fn printing(bytes: u64) -> String {
    format!("yes 'a line of output that a build might print, with numbers 12345' | head -c {bytes}")
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

fn table(root: &Path) -> Arc<JobTable> {
    let keeper =
        KeeperProgram { path: env!("CARGO_BIN_EXE_mynah").into(), arguments: vec!["keep-job".into()] };
    let setup = Setup {
        root: root.join("jobs"),
        session: SessionId::new("bench"),
        keeper,
        limit: 100,
        log_cap: DEFAULT_LOG_CAP,
    };
    // Output is looked at as the program does it.
    JobTable::new(setup, Hooks::channel().0)
}

fn spec(command: &str, cwd: &Path) -> JobSpec {
    JobSpec {
        title: "A job".to_owned(),
        command: command.to_owned(),
        cwd: cwd.to_owned(),
        shell: "/bin/bash".into(),
        terminal: None,
        time_limit: None,
        env: Vec::new(),
        secret_env: Vec::new(),
    }
}

/// From the call to the name.
fn start() {
    let dir = tempfile::tempdir().expect("a folder");
    runtime().block_on(async {
        let table = table(dir.path());
        let mut times = Vec::new();
        for _ in 0..20 {
            let begun = Instant::now();
            let view = table.start(spec("true", dir.path())).await.expect("a job");
            times.push(millis(begun.elapsed()));
            let _ended = table.wait(&view.id, WINDOW).await;
        }
        GOALS.judge("job_start", median(times), 50.0, "ms");
        table.end(&[]).await;
    });
}

/// A job that prints as fast as it can: its keeper writes the log, we follow it.
fn flood() {
    let dir = tempfile::tempdir().expect("a folder");
    let before = memory("self");
    runtime().block_on(async {
        let table = table(dir.path());
        let begun = Instant::now();
        let view = table.start(spec(&printing(FLOOD), dir.path())).await.expect("a job");
        let view = table.wait(&view.id, Duration::from_secs(100)).await.expect("its end");
        let seconds = begun.elapsed().as_secs_f64();
        assert_eq!(view.printed, FLOOD, "all of it");
        let rate = FLOOD as f64 / 1e6 / seconds;
        tell("job_flood", rate, "MB/s");
        GOALS.judge("job_flood_of_300", 300.0 / rate, 1.0, "of the time it may take");
        table.end(&[]).await;
    });
    GOALS.judge("job_flood_memory", memory("self") - before, 32.0, "MB more");
}

/// A command of the agent that does: its output goes through the ring, and into a file.
fn command_flood() {
    let dir = tempfile::tempdir().expect("a folder");
    let before = memory("self");
    runtime().block_on(async {
        let jobs = Jobs::new();
        let command = ShellCommand {
            text: printing(FLOOD),
            shell: "/bin/bash".into(),
            cwd: dir.path().to_owned(),
            timeout: None,
            secret_env: Vec::new(),
            env: Vec::new(),
            output_dir: dir.path().join("output"),
            save: SaveAbove { lines: 2_000, bytes: 50_000 },
            steps: None,
            sleeps: None,
        };
        let begun = Instant::now();
        let finished = jobs.run(command, &CancellationToken::new(), drop).await.expect("its end");
        let rate = FLOOD as f64 / 1e6 / begun.elapsed().as_secs_f64();
        assert_eq!(finished.raw_bytes, FLOOD, "all of it");
        tell("command_flood", rate, "MB/s");
        GOALS.judge("command_flood_of_300", 300.0 / rate, 1.0, "of the time it may take");
    });
    GOALS.judge("command_flood_memory", memory("self") - before, 32.0, "MB more");
}

/// Many jobs that do nothing: neither we nor their keepers wake up.
fn rest() {
    let dir = tempfile::tempdir().expect("a folder");
    runtime().block_on(async {
        let table = table(dir.path());
        for _ in 0..MANY {
            table.start(spec("exec sleep 600", dir.path())).await.expect("a job");
        }
        let keepers = keepers(dir.path());
        assert_eq!(keepers.len(), MANY, "a keeper each");
        // Threads that had work go to sleep for good.
        tokio::time::sleep(Duration::from_secs(12)).await;
        let woken = |keepers: &[String]| keepers.iter().map(|keeper| switches(keeper)).sum::<u64>();
        let (theirs, ours) = (woken(&keepers), switches("self"));
        // This thread wakes up once, at the end.
        std::thread::sleep(WINDOW);
        let (theirs, ours) = (woken(&keepers) - theirs, switches("self") - ours);
        GOALS.judge("jobs_at_rest_keepers", theirs as f64, 0.0, "wake-ups");
        GOALS.judge("jobs_at_rest_table", ours as f64, 1.0, "wake-ups");
        let each = keepers.iter().map(|keeper| memory(keeper)).sum::<f64>() / MANY as f64;
        tell("jobs_at_rest_memory", each, "MB a keeper");
        let begun = Instant::now();
        table.end(&[]).await;
        GOALS.judge("jobs_end", millis(begun.elapsed()), 1_000.0, "ms");
    });
}

/// The keepers of the jobs below this folder.
fn keepers(folder: &Path) -> Vec<String> {
    let folder = folder.as_os_str().as_encoded_bytes();
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let names = processes.filter_map(|process| process.file_name().into_string().ok());
    let is_keeper = |name: &String| {
        let line = std::fs::read(format!("/proc/{name}/cmdline")).unwrap_or_default();
        let holds = |part: &[u8]| line.windows(part.len()).any(|window| window == part);
        holds(b"keep-job") && holds(folder)
    };
    names.filter(|name| name.parse::<u32>().is_ok()).filter(is_keeper).collect()
}

/// Times that a process woke up, all threads.
fn switches(process: &str) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of_thread = |path: &Path| {
        let status = std::fs::read_to_string(path.join("status")).unwrap_or_default();
        let counts = status.lines().filter(|line| line.starts_with("voluntary_ctxt_switches"));
        counts.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum::<u64>()
    };
    threads.map(|thread| of_thread(&thread.path())).sum()
}

/// Memory that a process holds, in megabytes.
pub fn memory(process: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or_default()
        / 1000.0
}
