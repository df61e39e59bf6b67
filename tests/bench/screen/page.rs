//! Whole frames: what a frame, a key, a scroll step and a resize cost in short and long conversations, and what a stream
//! costs.

use super::figures::tell;
use super::median_millis;
use mynah::app::draw::draw;
use mynah::app::msg::Msg;
use mynah::app::state::{AppState, Beginning};
use mynah::app::update::update;
use mynah::config::keymap::Keymap;
use mynah::config::load::Loaded;
use mynah::proto::entry::EntryPatch;
use mynah::proto::event::AgentEvent;
use mynah::proto::ids::{CallId, EntryId};
use mynah::proto::message::{
    AssistantMessage, Block, Message, StopReason, ToolCall, ToolResultMessage, UserMessage,
};
use mynah::proto::usage::Usage;
use mynah::term::input::Input;
use mynah::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

const SIZE: (u16, u16) = (200, 60);
const SHORT: usize = 100;
const LONG: usize = 100_000;

/// A program without a session, in which something was said.
fn state(messages: usize) -> AppState {
    let mut state = AppState::new(Beginning {
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
        now: Instant::now(),
    });
    state.conversation.load((0..messages).map(message));
    state
}

/// Prompts, replies with code, and commands with their outputs, in turn.
fn message(index: usize) -> Arc<Message> {
    Arc::new(match index % 4 {
        0 => Message::User(UserMessage {
            content: vec![Block::text(format!("Do step {index}."))],
            timestamp: 0,
        }),
        1 => assistant(vec![
            Block::text(format!(
                "Step **{index}**: the guard must let an empty buffer pass.\n\n- one\n- two\n\n```rust\nfn main() {{}}\n```\n"
            )),
            Block::ToolCall(ToolCall {
                id: CallId::new(format!("c{index}")),
                name: "bash".to_owned(),
                arguments: json!({"command": "cargo test"}).as_object().cloned().unwrap_or_default(),
                thought_signature: None,
                malformed: None,
            }),
        ]),
        2 => Message::ToolResult(ToolResultMessage {
            tool_call_id: CallId::new(format!("c{}", index - 1)),
            tool_name: "bash".to_owned(),
            content: vec![Block::text("test parser::empty ... ok\n".repeat(40))],
            details: Some(json!({"exitCode": 0})),
            usage: None,
            is_error: false,
            duration_ms: Some(1200),
            timestamp: 0,
        }),
        _ => assistant(vec![Block::text("That went well. On to the next one.")]),
    })
}

fn assistant(content: Vec<Block>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        api: String::new(),
        provider: "openai".to_owned(),
        model: "any".to_owned(),
        response_model: None,
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        timestamp: 0,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: None,
        thinking_level: None,
    })
}

fn frame(state: &mut AppState) {
    let mut buffer = Buffer::empty(Rect::new(0, 0, state.size.0, state.size.1));
    draw(state, Instant::now(), &mut buffer);
}

fn key(state: &mut AppState, code: KeyCode) {
    let key = KeyEvent::new(code, KeyModifiers::NONE);
    update(state, Msg::Input(Input::Key(key)), Instant::now());
    frame(state);
}

/// The cost of one thing in a short and a long conversation.
fn grows(name: &str, times: usize, mut run: impl FnMut(&mut AppState)) {
    let mut cost = |messages: usize| {
        let mut state = state(messages);
        frame(&mut state);
        median_millis(times, || run(&mut state))
    };
    let (short, long) = (cost(SHORT), cost(LONG));
    tell(&format!("draw {name}, {LONG} entries"), long, "ms");
    tell(&format!("draw {name}, {LONG} entries / {SHORT} entries"), long / short, "");
}

pub fn run() {
    grows("frame", 31, frame);
    grows("key", 31, |state| key(state, KeyCode::Char('x')));
    // Few enough that the short one has as many pages.
    grows("page up", 11, |state| key(state, KeyCode::PageUp));
    let mut wide = false;
    grows("resize", 31, |state| {
        wide = !wide;
        let (columns, rows) = if wide { (180, 52) } else { SIZE };
        update(state, Msg::Input(Input::Resize { columns, rows }), Instant::now());
        frame(state);
    });
    stream();
}

/// A long answer, a frame every 30 tokens: the last tenth may cost no more than the first.
fn stream() {
    const TOKENS: usize = 100_000;
    let mut state = state(0);
    let id = EntryId::new("e");
    let tell_state = |state: &mut AppState, patch: EntryPatch| {
        let event = AgentEvent::Entry { id: id.clone(), patch };
        update(state, Msg::Agent(Box::new(event)), Instant::now());
    };
    tell_state(&mut state, EntryPatch::Start(Arc::new(assistant(Vec::new()))));
    tell_state(&mut state, EntryPatch::Open { index: 0, block: Block::text("") });
    let text = "The guard must let an *empty* buffer pass, and `tokens` too.\n\n- one thing\n- another\n\n```rust\nfn \
                tokens(&self) -> Vec<Token> {\n    self.buffer.clone()\n}\n```\n\n";
    let pieces: Vec<&str> = text.split_inclusive(' ').collect();
    let mut tenths = Vec::new();
    let mut told = 0;
    for _ in 0..10 {
        let begun = Instant::now();
        for _ in 0..TOKENS / 10 {
            let piece = pieces[told % pieces.len()];
            let delta = piece.to_owned();
            tell_state(&mut state, EntryPatch::Append { index: 0, delta, usage: Usage::default() });
            told += 1;
            if told.is_multiple_of(30) {
                frame(&mut state);
            }
        }
        tenths.push(super::millis(begun.elapsed()));
    }
    let (first, last) = (tenths[0], tenths[9]);
    tell(&format!("draw stream, {TOKENS} tokens, a frame every 30"), tenths.iter().sum(), "ms");
    tell("draw stream, last tenth / first tenth", last / first, "");
}
