//! What moving rows cost, one figure a line: `name value unit`.
//!
//! `cargo bench --bench bands` runs all, `cargo bench --bench bands -- sweep` those whose name holds the word. Time is
//! made up: frames are drawn whenever the frame before asks for one, so a run of some seconds takes as long as its frames
//! do. A figure with a goal has it behind it, and the run ends with an error if one is missed.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench tells by printing")]

#[expect(dead_code, reason = "figures that are summed up need no median")]
mod figures;

use figures::{Bench, tell};
use mynah::app::draw::draw;
use mynah::app::frame::ANIMATION_GAP;
use mynah::app::state::{AppState, Beginning};
use mynah::config::keymap::Keymap;
use mynah::config::load::Loaded;
use mynah::proto::event::AgentEvent;
use mynah::proto::ids::CallId;
use mynah::proto::message::Block;
use mynah::proto::tool::ToolOutput;
use mynah::term::screen::{Frame, Screen};
use mynah::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const BENCHES: &[Bench] = &[
    ("one_sweep", one_sweep),
    ("twenty_sweeps", twenty_sweeps),
    ("live_fill", live_fill),
    ("finished", finished),
];

const SIZE: (u16, u16) = (200, 60);

/// Made-up time of a run.
const RUN: Duration = Duration::from_secs(22);

static MISSED: AtomicUsize = AtomicUsize::new(0);

fn main() -> ExitCode {
    figures::run(BENCHES);
    match MISSED.load(Ordering::Relaxed) {
        0 => ExitCode::SUCCESS,
        missed => {
            eprintln!("{missed} figures miss their goal");
            ExitCode::FAILURE
        }
    }
}

/// A figure that may be no higher than `goal`.
fn judge(name: &str, value: f64, goal: f64, unit: &str) {
    let verdict = if value <= goal { "ok" } else { "MISSED" };
    println!("{name} {value:.3} {unit} (goal {goal}, {verdict})");
    if value > goal {
        MISSED.fetch_add(1, Ordering::Relaxed);
    }
}

fn one_sweep() {
    run("one_sweep", 1, None, (2.0, 12.0));
}

fn twenty_sweeps() {
    run("twenty_sweeps", 20, None, (3.0, 100.0));
}

fn live_fill() {
    run("live_fill", 1, Some(30_000), (2.0, 12.0));
}

/// What has ended: no frame once nothing stands out any more.
fn finished() {
    let start = Instant::now();
    let mut state = state(start);
    begin(&mut state, 3, None, start);
    for call in 0..3 {
        let finished = AgentEvent::ToolFinished {
            call: CallId::new(format!("c{call}")),
            tool: "bash".to_owned(),
            output: Arc::new(ToolOutput {
                content: vec![Block::text("done")],
                details: None,
                is_error: false,
                usage: None,
            }),
            duration_ms: Some(1200),
        };
        state.conversation.apply(&finished, start, (12, 0));
    }
    let run = animate(&mut state, start);
    judge("finished_last_frame", figures::millis(run.last_frame), 900.0, "ms");
}

/// Draws calls that run and judges percent of a core and kilobytes a second.
fn run(name: &str, calls: usize, limit_ms: Option<u64>, (core, kilobytes): (f64, f64)) {
    let start = Instant::now();
    let mut state = state(start);
    begin(&mut state, calls, limit_ms, start);
    let run = animate(&mut state, start);
    let seconds = RUN.as_secs_f64();
    tell(&format!("{name}_frames"), f64::from(run.frames) / seconds, "frames/s");
    judge(&format!("{name}_core"), run.spent.as_secs_f64() / seconds * 100.0, core, "%");
    judge(&format!("{name}_bytes"), run.bytes / seconds / 1000.0, kilobytes, "KB/s");
}

fn state(now: Instant) -> AppState {
    AppState::new(Beginning {
        loaded: Loaded::defaults(),
        cwd: "/project".into(),
        home: "/home/u".into(),
        term_program: None,
        no_session: true,
        pick_session: false,
        themes: Vec::new(),
        theme: Theme::quiet_dark(),
        page_known: true,
        keymap: Keymap::defaults(),
        notices: Vec::new(),
        prompts: Vec::new(),
        size: SIZE,
        now,
    })
}

/// Starts calls, each with some output under it so far.
fn begin(state: &mut AppState, calls: usize, limit_ms: Option<u64>, now: Instant) {
    for call in 0..calls {
        let id = CallId::new(format!("c{call}"));
        let arguments =
            json!({"command": format!("cargo test --workspace --package part_{call} -- --nocapture")});
        let started = AgentEvent::ToolStarted {
            call: id.clone(),
            tool: "bash".to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            limit_ms,
        };
        state.conversation.apply(&started, now, (12, 0));
    }
}

struct Run {
    frames: u32,
    /// Time that drawing and painting took.
    spent: Duration,
    bytes: f64,
    /// When the last frame was drawn.
    last_frame: Duration,
}

/// Draws every frame that is asked for.
fn animate(state: &mut AppState, start: Instant) -> Run {
    let mut screen = Screen::new(true, true);
    let mut spare = Buffer::default();
    let mut out = Vec::new();
    let mut run = Run { frames: 0, spent: Duration::ZERO, bytes: 0.0, last_frame: Duration::ZERO };
    let mut now = start;
    loop {
        let begun = Instant::now();
        let mut cells = std::mem::take(&mut spare);
        cells.resize(Rect::new(0, 0, SIZE.0, SIZE.1));
        cells.reset();
        let caret = draw(state, now, &mut cells);
        out.clear();
        spare = screen.paint(Frame { cells, caret, ..Frame::default() }, &mut out);
        // The first frame is that of a program that starts.
        if run.frames > 0 {
            run.spent += begun.elapsed();
            run.bytes += f64::from(u32::try_from(out.len()).unwrap_or(u32::MAX));
        }
        run.frames += 1;
        run.last_frame = now.saturating_duration_since(start);
        let next = state.scene.next_deadline;
        let Some(at) = [next.animation, next.figure].into_iter().flatten().min() else { return run };
        now = at.max(now + ANIMATION_GAP);
        if now.saturating_duration_since(start) > RUN {
            return run;
        }
    }
}
