//! What the engine costs, one figure a line: `name value unit`.
//!
//! `cargo bench --bench engine` runs all, `cargo bench --bench engine -- rounds` those whose name holds the word. Times
//! are medians of several runs; figures that must grow linearly are given as ratios within the same run.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench fails by stopping and tells by printing"
)]

mod figures;

use figures::{Bench, median, millis, tell};
use mynah::config::env::Env;
use mynah::config::places::Places;
use mynah::llm::models::{Models, ModelsOptions};
use mynah::llm::sse::SseParser;
use mynah::proto::entry::EntryKind;
use mynah::proto::ids::SessionId;
use mynah::proto::message::{Block, Message, UserMessage};
use mynah::store::line::Header;
use mynah::store::log::Log;
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const MYNAH: &str = env!("CARGO_BIN_EXE_mynah");

const BENCHES: &[Bench] = &[
    ("version", version),
    ("start", start_to_request),
    ("rounds", shell_rounds),
    ("burst", burst),
    ("sse", sse),
    ("catalogue", catalogue),
    ("session", session_load),
];

fn main() {
    figures::run(BENCHES);
}

fn headless(home: &Home, server: &ModelServer, arguments: &[&str]) -> Command {
    let mut command = home.command(MYNAH);
    command
        .env("OPENAI_BASE_URL", server.openai_base_url())
        .env("OPENAI_API_KEY", "x")
        .args(["--model", "openai/bench", "--yolo"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// `mynah --version`, exec to exit.
fn version() {
    let times = (0..21).map(|_| {
        let begun = Instant::now();
        let status = Command::new(MYNAH).arg("--version").stdout(Stdio::null()).status().expect("runs");
        assert!(status.success());
        millis(begun.elapsed())
    });
    tell("version_start", median(times.collect()), "ms");
}

/// Exec to the arrival of the first request, and the size of its body.
fn start_to_request() {
    let mut body = 0;
    let times = (0..11).map(|_| {
        let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("ok")]));
        let begun = Instant::now();
        let status = headless(&home, &server, &["-p", "hi"]).status().expect("runs");
        assert!(status.success());
        let request = server.requests().into_iter().next().expect("a request");
        body = request.body_bytes.len();
        millis(request.time.duration_since(begun))
    });
    tell("headless_start_to_request", median(times.collect()), "ms");
    tell("first_request_body", f64::from(u32::try_from(body).unwrap_or(u32::MAX)), "bytes");
}

/// 50 shell rounds against a server that answers at once: wall time, time a round, memory at the end.
fn shell_rounds() {
    let mut walls = Vec::new();
    let mut rounds = Vec::new();
    let mut memory = Vec::new();
    for _ in 0..5 {
        let steps = (0..50)
            .map(|n| Step::text("").call("bash", json!({"command": format!("echo step-{n}")})))
            .chain([Step::text("done")]);
        let (home, server) = (Home::new(), ModelServer::start(steps.collect()));
        let begun = Instant::now();
        let mut child = headless(&home, &server, &["-p", "go"]).spawn().expect("runs");
        assert!(server.wait_for_requests(51, Duration::from_secs(60)), "all rounds run");
        // The last request has come, the process still stands: this is its size after the work.
        memory.push(peak_memory(child.id()));
        assert!(child.wait().expect("ends").success());
        walls.push(begun.elapsed().as_secs_f64());
        let times: Vec<Instant> = server.requests().iter().map(|request| request.time).collect();
        rounds.extend(times.windows(2).map(|pair| millis(pair[1].duration_since(pair[0]))));
    }
    tell("rounds_50_wall", median(walls), "s");
    tell("rounds_50_each", median(rounds), "ms");
    tell("rounds_50_peak_memory", median(memory), "MiB");
}

/// 20,000 pieces of text at once, exec to exit.
fn burst() {
    let text = "word and ".repeat(20_000 * 6 / 9);
    let times = (0..5).map(|_| {
        let (home, server) = (Home::new(), ModelServer::start(vec![Step::text(text.clone()).pieces(6)]));
        let begun = Instant::now();
        assert!(headless(&home, &server, &["-p", "go"]).status().expect("runs").success());
        begun.elapsed().as_secs_f64()
    });
    tell("burst_20000_wall", median(times.collect()), "s");
}

/// Peak resident memory of a process, MiB.
fn peak_memory(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let kibibytes: f64 =
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_default();
    kibibytes / 1024.0
}

/// Server-sent events out of bytes, and how the cost grows.
fn sse() {
    let time = |frames: usize| {
        let bytes =
            "event: message\ndata: {\"choices\":[{\"delta\":{\"content\":\"word\"}}]}\n\n".repeat(frames);
        let times = (0..5).map(|_| {
            let begun = Instant::now();
            let mut parser = SseParser::default();
            let mut seen = Vec::new();
            for chunk in bytes.as_bytes().chunks(1400) {
                parser.push(chunk, &mut seen).expect("small frames");
            }
            assert_eq!(seen.len(), frames);
            begun.elapsed().as_secs_f64()
        });
        median(times.collect())
    };
    let (few, many) = (time(1_000), time(100_000));
    tell("sse_100000_frames", many * 1000.0, "ms");
    tell("sse_growth_100x", many / few / 100.0, "ratio");
}

/// Choosing a model out of the shipped catalogue, from nothing.
fn catalogue() {
    let home = Home::new();
    let env = Env::of([("HOME", "/nonexistent"), ("ANTHROPIC_API_KEY", "x")]);
    let places = Places::from_env(&Env::of(home.variables()));
    let times = (0..21).map(|_| {
        let begun = Instant::now();
        let options = ModelsOptions { api_key: None, offline: true, idle: None };
        let (models, _warnings) = Models::load(&places, &env, options);
        models.select("anthropic/claude-sonnet-4-5").expect("listed");
        millis(begun.elapsed())
    });
    tell("catalogue_choose", median(times.collect()), "ms");
}

/// Opening a long session, and how the cost grows.
fn session_load() {
    let folder = tempfile::tempdir().expect("folder");
    let time = |entries: usize| {
        let path = folder.path().join(format!("{entries}.jsonl"));
        write_session(&path, entries);
        let times = (0..5).map(|_| {
            let begun = Instant::now();
            let (_log, opened) = Log::open(&path).expect("opens");
            assert_eq!(opened.tree.context().messages.len(), entries);
            begun.elapsed().as_secs_f64()
        });
        median(times.collect())
    };
    let (few, many) = (time(1_000), time(100_000));
    tell("session_open_100000", many * 1000.0, "ms");
    tell("session_open_growth_100x", many / few / 100.0, "ratio");
}

fn write_session(path: &Path, entries: usize) {
    let now = jiff::Timestamp::now();
    let header = Header::new(SessionId::fresh(), "/project", now);
    let mut log = Log::create(path.to_owned(), header).expect("a new file");
    for n in 0..entries {
        let content =
            vec![Block::text(format!("message {n}: some words that a person could have typed here"))];
        let message = Arc::new(Message::User(UserMessage { content, timestamp: 0 }));
        log.append(log.fresh_id(), EntryKind::Message { message }, now);
    }
}
