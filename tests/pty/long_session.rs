//! A session of some hundred messages as a file, and how much of it is in the window.

use super::{mynah, open};
use mynah::proto::entry::EntryKind;
use mynah::proto::ids::{CallId, SessionId};
use mynah::proto::message::{
    AssistantMessage, Block, Message, StopReason, ToolCall, ToolResultMessage, UserMessage,
};
use mynah::proto::usage::Usage;
use mynah::store::line::Header;
use mynah::store::log::Log;
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::ModelServer;
use mynah::testkit::terminal::Terminal;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub const TURNS: usize = 70;
/// Stands in the last row of the last answer.
pub const LAST: &str = "The last words of it.";

/// Numbers lines, so that a row of the screen tells which one it is.
struct Lines(usize);

impl Lines {
    fn next(&mut self, count: usize) -> String {
        let line = |number: usize| format!("line {number:05} 漢字 and more\n");
        let text = (self.0..self.0 + count).map(line).collect();
        self.0 += count;
        text
    }
}

fn said(content: Vec<Block>, stop_reason: StopReason) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        api: String::new(),
        provider: "openai".to_owned(),
        model: "any".to_owned(),
        response_model: None,
        usage: Usage::default(),
        stop_reason,
        error_message: None,
        timestamp: 0,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: None,
        thinking_level: None,
    })
}

/// A prompt, a command with its output, and an answer of code, a table and wide characters. Every tenth prompt is long.
fn turn(number: usize, lines: &mut Lines) -> [Message; 4] {
    let id = CallId::new(format!("c{number}"));
    let mut prompt = format!("Prompt {number:02} asks for more.");
    if number % 10 == 5 {
        prompt.push_str(&"\nIt goes on and on about what is wanted.".repeat(300));
    }
    let call = ToolCall {
        id: id.clone(),
        name: "bash".to_owned(),
        arguments: json!({"command": format!("make part_{number}")}).as_object().cloned().unwrap(),
        thought_signature: None,
        malformed: None,
    };
    let result = ToolResultMessage {
        tool_call_id: id,
        tool_name: "bash".to_owned(),
        content: vec![Block::text(lines.next(40))],
        details: Some(json!({"exitCode": 0})),
        usage: None,
        is_error: false,
        duration_ms: Some(1200),
        timestamp: 0,
    };
    let code = lines.next(3 + number * 7 % 31);
    let last = if number + 1 == TURNS { LAST } else { "On to the next." };
    let answer = format!("```\n{code}```\n\n| a | b |\n|---|---|\n| 日本語 | {number} |\n\n{last}");
    [
        Message::User(UserMessage { content: vec![Block::text(prompt)], timestamp: 0 }),
        said(vec![Block::text("I look."), Block::ToolCall(call)], StopReason::ToolUse),
        Message::ToolResult(result),
        said(vec![Block::text(answer)], StopReason::Stop),
    ]
}

fn write(home: &Home) -> PathBuf {
    let path = home.project().join("long.jsonl");
    let now = jiff::Timestamp::now();
    let header = Header::new(SessionId::fresh(), home.project(), now);
    let mut log = Log::create(path.clone(), header).expect("a new file");
    let mut lines = Lines(0);
    for message in (0..TURNS).flat_map(|number| turn(number, &mut lines)) {
        log.append(log.fresh_id(), EntryKind::Message { message: Arc::new(message) }, now);
    }
    path
}

/// The program with that session, opened; `change` says in which terminal.
pub fn opened(home: &Home, server: &ModelServer, change: impl FnOnce(Program) -> Program) -> Pty {
    let file = write(home);
    let pty = open(change(mynah(home, server)).args(["--session"]).args([file]));
    pty.wait_for(LAST);
    pty
}

/// The rows of the window on the transcript, without the bar at its edge: where the bar is, there it is.
pub fn window(terminal: &Terminal) -> Vec<String> {
    let rows = (0..terminal.size().height).map(|row| terminal.row(row));
    let rows = rows.filter_map(|row| Some(row.strip_suffix(['▕', '▐'])?.trim_end().to_owned()));
    rows.collect()
}

/// Numbered lines in the window, and in which of its rows.
pub fn lines(window: &[String]) -> BTreeMap<usize, usize> {
    let number = |row: &String| row.split_once("line ")?.1.get(..5)?.parse().ok();
    window.iter().enumerate().filter_map(|(y, row)| Some((number(row)?, y))).collect()
}
