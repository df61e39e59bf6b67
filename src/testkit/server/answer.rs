//! From a [`Step`] to what is done with the socket, as a list of actions: pure, so that every fault can be looked at
//! without a network.

use super::step::{Block, Fault, GateEnd, ReplyKind, Step};
use super::{anthropic, chat, responses};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

/// A wire dialect, told by the path of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
}

impl Dialect {
    /// The dialect of a path.
    pub fn of_path(path: &str) -> Option<Self> {
        if path.ends_with("/v1/messages") {
            Some(Self::Messages)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else {
            None
        }
    }
}

/// What a response is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Number of the request, from 1: ids are made of it.
    pub number: usize,
    /// Model the client named.
    pub model: &'a str,
    /// The client wants usage in the stream (Chat Completions only sends it on request).
    pub include_usage: bool,
}

/// A response as the wire shows it.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pub body: Vec<Frame>,
    /// The events that close the response.
    pub closing: Vec<String>,
    /// Ids that may only be replayed together with the thinking of the same response: (id, signature or item id).
    pub ties: Vec<(String, String)>,
}

/// One server-sent event.
#[derive(Debug)]
pub(super) struct Frame {
    pub text: String,
    /// It carries a piece of content.
    pub is_piece: bool,
}

impl Frames {
    pub fn event(&mut self, text: String) {
        self.body.push(Frame { text, is_piece: false });
    }

    pub fn piece(&mut self, text: String) {
        self.body.push(Frame { text, is_piece: true });
    }
}

/// Something to do with the socket of a streamed response.
#[derive(Debug)]
pub(super) enum Action {
    /// Send this as one chunk.
    Send(String),
    /// Wait.
    Pause(Duration),
    /// Wait until the test opens the gate.
    Pass(GateEnd),
    /// Wait until the client leaves.
    Hang,
    /// Drop the connection.
    Cut,
}

/// What is sent back.
#[derive(Debug)]
pub(super) enum Reply {
    /// An event stream; it ends with the last action.
    Stream { headers: Vec<(String, String)>, actions: Vec<Action> },
    /// A body of known length.
    Whole { status: u16, headers: Vec<(String, String)>, body: String },
    /// Nothing: the connection is reset.
    Refuse,
}

impl Reply {
    /// A JSON body.
    pub fn json(status: u16, mut headers: Vec<(String, String)>, body: &Value) -> Self {
        headers.push(("content-type".to_owned(), "application/json".to_owned()));
        Self::Whole { status, headers, body: body.to_string() }
    }
}

/// The reply to a request in a dialect, and the ids that are tied to its thinking.
pub(super) fn reply(dialect: Dialect, step: &Step, asked: Asked<'_>) -> (Reply, Vec<(String, String)>) {
    let mut headers = step.headers.clone();
    match step.reply {
        ReplyKind::Refuse => (Reply::Refuse, Vec::new()),
        ReplyKind::Page => {
            headers.push(("content-type".to_owned(), "text/html; charset=utf-8".to_owned()));
            let body = "<!doctype html>\n<title>Welcome</title>\n<p>Please sign in to use this network.\n";
            (Reply::Whole { status: 200, headers, body: body.to_owned() }, Vec::new())
        }
        ReplyKind::Status(status) => {
            let body = error_body(dialect, status, step, asked.model);
            (Reply::json(status, headers, &body), Vec::new())
        }
        ReplyKind::Stream => {
            headers.push(("content-type".to_owned(), "text/event-stream".to_owned()));
            headers.push(("cache-control".to_owned(), "no-cache".to_owned()));
            let filled = with_filler(step);
            let frames = match dialect {
                Dialect::Messages => anthropic::frames(&filled, asked),
                Dialect::Chat => chat::frames(&filled, asked),
                Dialect::Responses => responses::frames(&filled, asked),
            };
            let Frames { body, closing, ties } = frames;
            (Reply::Stream { headers, actions: timeline(dialect, &filled, body, closing) }, ties)
        }
    }
}

/// A step with a fault and no content gets some, so that there are pieces to break off after.
fn with_filler(step: &Step) -> Step {
    let mut filled = step.clone();
    if step.fault.is_some() && step.blocks.is_empty() {
        let words = step.fault_after.min(100) + 3;
        filled.blocks.push(Block::Text("scripted word ".repeat(words)));
    }
    filled
}

/// Puts gate, fault and pauses between the frames. Both happen at the latest before the closing events.
fn timeline(dialect: Dialect, step: &Step, body: Vec<Frame>, closing: Vec<String>) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut gate = step.gate.clone();
    let mut fault = step.fault.clone();
    let mut pieces = 0;
    for frame in body {
        if frame.is_piece {
            if pieces >= step.gate_after {
                actions.extend(gate.take().map(Action::Pass));
            }
            if pieces >= step.fault_after
                && let Some(fault) = fault.take()
                && !go_on_after(dialect, step, fault, &mut actions)
            {
                return actions;
            }
            if pieces > 0 && !step.drip.is_zero() {
                actions.push(Action::Pause(step.drip));
            }
            pieces += 1;
        }
        actions.push(Action::Send(frame.text));
    }
    actions.extend(gate.map(Action::Pass));
    if let Some(fault) = fault
        && !go_on_after(dialect, step, fault, &mut actions)
    {
        return actions;
    }
    actions.extend(closing.into_iter().map(Action::Send));
    actions
}

/// Adds what a fault does; false when nothing follows it.
fn go_on_after(dialect: Dialect, step: &Step, fault: Fault, actions: &mut Vec<Action>) -> bool {
    match fault {
        Fault::Error(kind) => {
            let message = step.message.as_deref().unwrap_or("Scripted error in the stream.");
            actions.push(Action::Send(match dialect {
                Dialect::Messages => anthropic::error_frame(&kind, message),
                Dialect::Chat => chat::error_frame(&kind, message),
                Dialect::Responses => responses::error_frames(&kind, message),
            }));
            false
        }
        Fault::Cut => {
            actions.push(Action::Cut);
            false
        }
        Fault::EndEarly => false,
        Fault::Hang => {
            actions.push(Action::Hang);
            false
        }
        Fault::Garbage => {
            let event = match dialect {
                Dialect::Messages => "event: content_block_delta\n",
                Dialect::Chat => "",
                Dialect::Responses => "event: response.output_text.delta\n",
            };
            actions.push(Action::Send(format!("{event}data: {{\"type\": \"brok\n\n")));
            true
        }
        Fault::HugeLine(bytes) => {
            actions.push(Action::Send("data: ".to_owned()));
            let mut left = bytes;
            while left > 0 {
                let size = left.min(64 * 1024);
                actions.push(Action::Send("x".repeat(size)));
                left -= size;
            }
            actions.push(Action::Send("\n\n".to_owned()));
            true
        }
    }
}

/// The body of an HTTP error, in the dialect's shape.
fn error_body(dialect: Dialect, status: u16, step: &Step, model: &str) -> Value {
    let (anthropic_type, openai_type, openai_code) = match status {
        401 => ("authentication_error", "invalid_request_error", Some("invalid_api_key")),
        403 => ("permission_error", "invalid_request_error", None),
        404 => ("not_found_error", "invalid_request_error", Some("model_not_found")),
        413 => ("request_too_large", "invalid_request_error", None),
        429 => ("rate_limit_error", "requests", Some("rate_limit_exceeded")),
        529 => ("overloaded_error", "server_error", None),
        500.. => ("api_error", "server_error", None),
        _ => ("invalid_request_error", "invalid_request_error", None),
    };
    let usual = match (status, dialect) {
        (404, Dialect::Messages) => format!("model: {model}"),
        (404, Dialect::Chat | Dialect::Responses) => {
            format!("The model `{model}` does not exist or you do not have access to it.")
        }
        _ => format!("Scripted error with status {status}."),
    };
    let message = step.message.clone().unwrap_or(usual);
    match dialect {
        Dialect::Messages => {
            let kind = step.code.as_deref().unwrap_or(anthropic_type);
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"})
        }
        Dialect::Chat | Dialect::Responses => {
            let code = step.code.as_deref().or(openai_code);
            json!({"error": {"message": message, "type": openai_type, "param": null, "code": code}})
        }
    }
}

/// Content as it is sent: pieces of so many characters.
pub(super) fn pieces(text: &str, chars: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(chars).map(|piece| piece.iter().collect()).collect()
}

/// The order in which the pieces of several calls go out: (call, piece).
pub(super) fn in_turns(calls: &[Vec<String>]) -> Vec<(usize, String)> {
    let rounds = calls.iter().map(Vec::len).max().unwrap_or(0);
    let of_round = |round: usize| {
        calls.iter().enumerate().filter_map(move |(call, pieces)| Some((call, pieces.get(round)?.clone())))
    };
    (0..rounds).flat_map(of_round).collect()
}

/// A signature that only this text has: a client that replays another text with it is found out.
pub(super) fn sign(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("sig_{:016x}", hasher.finish())
}

/// A server-sent event with a name.
pub(super) fn named_event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}
