//! A provider without a model behind it: it answers from a script. It is what a machine without keys starts on, and
//! what drives demonstrations, recordings and tests.
//!
//! Invariant: the answer depends on the request alone. Where the script stands is read from the calls in the
//! conversation, whose ids say which step made them; there are no counters. So it goes on after a restart.

pub mod script;

use super::models::blank_model;
use super::{BoxFuture, Dialect, Model, Provider, Request, StreamEvent, StreamSender};
use crate::proto::ids::CallId;
use crate::proto::message::{AssistantMessage, Message, StopReason, ToolResultMessage, text_of};
use crate::proto::model::{ModelRef, ThinkingLevel};
use script::{Facts, Script, ScriptError, Step, fill_arguments, holds};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Provider id of all scripts.
pub const PROVIDER: &str = "demo";

/// Model id of the embedded script. Any other id is the path of a script.
pub const TOUR: &str = "tour";

/// What the embedded script is called.
pub const TOUR_NAME: &str = "Demo tour (not a real model)";

/// A script file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptFileError {
    /// It cannot be read.
    #[error("The demo script {path} could not be read ({source}).")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is no script.
    #[error("The demo script {path} cannot be used. {source}")]
    Script {
        /// The file.
        path: String,
        /// Why.
        source: ScriptError,
    },
}

/// The id is that of the embedded script.
pub fn is_listed(id: &str) -> bool {
    id == TOUR
}

/// A script as a model. It can think, it costs nothing, and its name says what it is.
pub fn model(id: &str) -> Model {
    let name = if is_listed(id) {
        TOUR_NAME.to_owned()
    } else {
        // What is wrong with the file is for the first request to say.
        let name = load(id).map_or_else(|_| id.to_owned(), |script| script.name);
        format!("{name} (not a real model)")
    };
    Model { name, reasoning: true, ..blank_model(ModelRef::new(PROVIDER, id), Dialect::Scripted) }
}

/// The script of a model id: the embedded one, or a file.
pub fn load(id: &str) -> Result<Script, ScriptFileError> {
    let path = id.to_owned();
    let text = if is_listed(id) {
        include_str!("../../../assets/demo/tour.toml").to_owned()
    } else {
        match std::fs::read_to_string(id) {
            Ok(text) => text,
            Err(source) => return Err(ScriptFileError::Read { path, source }),
        }
    };
    text.parse().map_err(|source| ScriptFileError::Script { path, source })
}

/// Answers from a script.
pub struct ScriptedProvider {
    script: Arc<Script>,
}

impl ScriptedProvider {
    /// Answers from this script.
    pub fn new(script: Script) -> Self {
        Self { script: Arc::new(script) }
    }
}

impl Provider for ScriptedProvider {
    fn stream(&self, request: Arc<Request>, events: StreamSender) -> BoxFuture<'static, ()> {
        let script = Arc::clone(&self.script);
        Box::pin(async move {
            let pause = Duration::from_millis(script.delay_ms);
            for event in events_of(&script, &request) {
                let is_piece = matches!(
                    event,
                    StreamEvent::TextDelta { .. }
                        | StreamEvent::ThinkingDelta { .. }
                        | StreamEvent::ToolCallDelta { .. }
                );
                if is_piece && !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                if events.send(event).is_err() {
                    return;
                }
            }
        })
    }
}

/// Where a script stands in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    turn: usize,
    /// The next step, unless it is skipped.
    step: usize,
    /// Place of the message that began the turn.
    since: usize,
}

/// The whole response to a request.
fn events_of(script: &Script, request: &Request) -> Vec<StreamEvent> {
    let mut events = vec![StreamEvent::Started { response_id: None, response_model: None }];
    let mut blocks = Blocks { events: &mut events, count: 0, piece: script.piece };
    let Some((position, facts)) = position(script, &request.messages).map(|position| {
        let facts = facts(script, &request.messages, position);
        (position, facts)
    }) else {
        blocks.text("The script has no answer to this prompt.");
        events.push(StreamEvent::Done { reason: StopReason::Stop, raw_reason: None });
        return events;
    };
    let Some((place, step)) = next_step(script, position, &facts, request) else {
        blocks.text("The script has no more steps.");
        events.push(StreamEvent::Done { reason: StopReason::Stop, raw_reason: None });
        return events;
    };
    if request.thinking != ThinkingLevel::Off {
        blocks.thinking(&step.thinking.fill(&facts));
    }
    blocks.text(&step.text.fill(&facts));
    for call in &step.calls {
        let origin = Origin { turn: position.turn, step: place, call: &call.name };
        let arguments = Value::Object(fill_arguments(&call.arguments, &facts)).to_string();
        blocks.call(origin.id(request.messages.len()), &call.tool, &arguments);
    }
    events.push(StreamEvent::Usage(step.usage.with_total()));
    let reason = if step.calls.is_empty() { StopReason::Stop } else { StopReason::ToolUse };
    events.push(StreamEvent::Done { reason, raw_reason: None });
    events
}

/// Reads from the conversation where the script stands. `None`: no turn fits.
fn position(script: &Script, messages: &[Arc<Message>]) -> Option<Position> {
    let mut used = BTreeSet::new();
    let mut current: Option<Position> = None;
    for (place, message) in messages.iter().enumerate() {
        match &**message {
            Message::User(user) => {
                let prompt = text_of(&user.content);
                // Said into a turn that is not over, it belongs to that turn, unless another turn is about it.
                if current.is_some_and(|position| !is_for_another_turn(script, position.turn, &prompt, &used))
                {
                    continue;
                }
                current =
                    turn_for(script, &prompt, &used).map(|turn| Position { turn, step: 0, since: place });
                used.extend(current.map(|position| position.turn));
            }
            Message::Assistant(answer) => match answer.stop_reason {
                // It did not get to its end, so the same step comes again.
                StopReason::Error | StopReason::Aborted | StopReason::Pending => {}
                StopReason::Stop | StopReason::Length | StopReason::ToolUse | StopReason::Other => {
                    current = after(script, answer, current);
                    used.extend(current.map(|position| position.turn));
                }
            },
            Message::System(_)
            | Message::ToolResult(_)
            | Message::BashExecution(_)
            | Message::Custom(_)
            | Message::BranchSummary(_)
            | Message::CompactionSummary(_) => {}
        }
    }
    let afresh = || turn_for(script, "", &used).map(|turn| Position { turn, step: 0, since: messages.len() });
    current.or_else(afresh)
}

/// The position after an answer: the next step, or none if it ended the turn or was not the script's.
fn after(script: &Script, answer: &AssistantMessage, current: Option<Position>) -> Option<Position> {
    let origin = answer.tool_calls().filter_map(|call| Origin::of_id(&call.id)).last()?;
    (origin.turn < script.turns.len()).then(|| Position {
        turn: origin.turn,
        step: origin.step + 1,
        since: current.map_or(0, |position| position.since),
    })
}

fn turn_for(script: &Script, prompt: &str, used: &BTreeSet<usize>) -> Option<usize> {
    script.turns.iter().enumerate().position(|(place, turn)| {
        let fits = turn.prompt.as_ref().is_none_or(|pattern| pattern.is_match(prompt));
        fits && (turn.repeat || !used.contains(&place))
    })
}

fn is_for_another_turn(script: &Script, current: usize, prompt: &str, used: &BTreeSet<usize>) -> bool {
    turn_for(script, prompt, used)
        .filter(|turn| *turn != current)
        .and_then(|turn| script.turns.get(turn))
        .is_some_and(|turn| turn.prompt.is_some())
}

/// What the results of the turn's calls tell.
fn facts(script: &Script, messages: &[Arc<Message>], position: Position) -> Facts {
    let mut facts = Facts::new();
    if let Some(Message::User(user)) = messages.get(position.since).map(Arc::as_ref) {
        facts.insert(script::PROMPT.to_owned(), text_of(&user.content));
    }
    let results: Vec<(&str, &ToolResultMessage)> = messages
        .iter()
        .skip(position.since)
        .filter_map(|message| match &**message {
            Message::ToolResult(result) => {
                let origin =
                    Origin::of_id(&result.tool_call_id).filter(|origin| origin.turn == position.turn)?;
                Some((origin.call, result))
            }
            _ => None,
        })
        .collect();
    for rule in &script.facts {
        let latest = results.iter().rfind(|(call, _)| *call == rule.call).map(|(_, result)| result);
        let value = latest
            .filter(|result| result.is_error == rule.failed)
            .and_then(|result| rule.learn(&text_of(&result.content)));
        if let Some(value) = value {
            facts.entry(rule.name.clone()).or_insert(value);
        }
    }
    facts
}

/// The first step from the position on whose conditions hold and whose tools are offered.
fn next_step<'a>(
    script: &'a Script,
    position: Position,
    facts: &Facts,
    request: &Request,
) -> Option<(usize, &'a Step)> {
    let is_offered = |tool: &str| request.tools.iter().any(|spec| spec.name == tool);
    let steps = script.turns.get(position.turn)?.steps.iter().enumerate().skip(position.step);
    steps
        .filter(|(_, step)| step.calls.iter().all(|call| is_offered(&call.tool)))
        .find(|(_, step)| holds(&step.when, facts))
}

/// The step that made a call, and the call's name in the script: what its id says.
struct Origin<'a> {
    turn: usize,
    step: usize,
    call: &'a str,
}

impl<'a> Origin<'a> {
    /// Unique in the conversation: `count` is the number of messages before it.
    fn id(&self, count: usize) -> CallId {
        CallId::new(format!("demo-{}-{}-{}-{count}", self.turn, self.step, self.call))
    }

    fn of_id(id: &'a CallId) -> Option<Self> {
        let mut parts = id.as_str().strip_prefix("demo-")?.split('-');
        let turn = parts.next()?.parse().ok()?;
        let step = parts.next()?.parse().ok()?;
        Some(Self { turn, step, call: parts.next()? })
    }
}

/// Puts content blocks into events, in pieces.
struct Blocks<'a> {
    events: &'a mut Vec<StreamEvent>,
    count: usize,
    piece: usize,
}

impl Blocks<'_> {
    fn next(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let index = self.next();
        self.events.push(StreamEvent::TextStart { index });
        self.events.extend(pieces(text, self.piece).map(|delta| StreamEvent::TextDelta { index, delta }));
        self.events.push(StreamEvent::TextEnd { index, signature: None });
    }

    fn thinking(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let index = self.next();
        self.events.push(StreamEvent::ThinkingStart { index });
        self.events.extend(pieces(text, self.piece).map(|delta| StreamEvent::ThinkingDelta { index, delta }));
        self.events.push(StreamEvent::ThinkingEnd { index, signature: None, redacted: false });
    }

    fn call(&mut self, id: CallId, tool: &str, arguments: &str) {
        let index = self.next();
        self.events.push(StreamEvent::ToolCallStart { index, id, name: tool.to_owned() });
        self.events
            .extend(pieces(arguments, self.piece).map(|delta| StreamEvent::ToolCallDelta { index, delta }));
        self.events.push(StreamEvent::ToolCallEnd {
            index,
            signature: None,
            corrected: None,
            arguments: None,
        });
    }
}

/// Pieces of so many characters.
fn pieces(text: &str, size: usize) -> impl Iterator<Item = String> {
    let mut letters = text.chars().peekable();
    std::iter::from_fn(move || {
        letters.peek()?;
        Some(letters.by_ref().take(size).collect())
    })
}

#[cfg(test)]
mod tests;
