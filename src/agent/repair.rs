//! Provider-valid history: every call answered once, right after the message that made it.
//!
//! Providers refuse a whole conversation for one stray result, so one bad entry would make every later request fail.
//! Pure; a valid history is left as it is, message by message.
//!
//! Ids are matched within their message: some providers use the same call ids in every response, so a result belongs to
//! the nearest message before it that made such a call. Responses that failed or were aborted are never sent; their
//! calls need no results, and results of theirs go.

use crate::proto::ids::CallId;
use crate::proto::message::{AssistantMessage, Block, Message, StopReason, ToolCall, ToolResultMessage};
use crate::proto::tool::INTERRUPTED;
use std::collections::HashMap;
use std::sync::Arc;

/// What was wrong, and is not any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Further results of an answered call: dropped.
    pub duplicates: usize,
    /// Results that did not follow their call: moved there, or dropped if no message made the call.
    pub misplaced: usize,
    /// Calls without a result: answered with [`INTERRUPTED`].
    pub missing: usize,
    /// Results of a failed or aborted response: dropped.
    pub of_failed: usize,
}

impl Repairs {
    /// Nothing was wrong.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// Makes a history provider-valid and tells what had to be done.
pub fn repair(messages: &mut Vec<Arc<Message>>) -> Repairs {
    if is_valid(messages) {
        return Repairs::default();
    }
    let (answers, mut repairs) = collect_results(messages);
    *messages = rebuild(messages, answers, &mut repairs);
    repairs
}

/// Every call of a message that counts is answered once in the run of results behind it, and there are no others.
pub fn is_valid(messages: &[Arc<Message>]) -> bool {
    let mut messages = messages.iter().map(Arc::as_ref).peekable();
    while let Some(message) = messages.next() {
        let mut open: Vec<&CallId> = match message {
            Message::ToolResult(_) => return false,
            Message::Assistant(assistant) if !is_failed(assistant) => {
                distinct_calls(assistant).map(|call| &call.id).collect()
            }
            Message::Assistant(_)
            | Message::System(_)
            | Message::User(_)
            | Message::BashExecution(_)
            | Message::Custom(_)
            | Message::BranchSummary(_)
            | Message::CompactionSummary(_) => continue,
        };
        while let Some(Message::ToolResult(result)) = messages.peek() {
            let Some(place) = open.iter().position(|id| **id == result.tool_call_id) else { return false };
            open.swap_remove(place);
            messages.next();
        }
        if !open.is_empty() {
            return false;
        }
    }
    true
}

/// First and second pass: the results worth keeping, by the place of the message that made the call.
fn collect_results(messages: &[Arc<Message>]) -> (HashMap<usize, Vec<Arc<Message>>>, Repairs) {
    let mut repairs = Repairs::default();
    let mut makers: HashMap<&CallId, (usize, &AssistantMessage)> = HashMap::new();
    let mut answers: HashMap<usize, Vec<Arc<Message>>> = HashMap::new();
    let mut run_of = None;
    for (place, message) in messages.iter().enumerate() {
        match message.as_ref() {
            Message::Assistant(assistant) => {
                makers.extend(assistant.tool_calls().map(|call| (&call.id, (place, assistant))));
                run_of = Some(place);
            }
            Message::ToolResult(result) => match makers.get(&result.tool_call_id) {
                None => repairs.misplaced += 1,
                Some((_, maker)) if is_failed(maker) => repairs.of_failed += 1,
                Some((maker, _)) => {
                    let kept = answers.entry(*maker).or_default();
                    if kept.iter().any(|kept| answers_call(kept, &result.tool_call_id)) {
                        repairs.duplicates += 1;
                        continue;
                    }
                    if run_of != Some(*maker) {
                        repairs.misplaced += 1;
                    }
                    kept.push(Arc::clone(message));
                }
            },
            Message::System(_)
            | Message::User(_)
            | Message::BashExecution(_)
            | Message::Custom(_)
            | Message::BranchSummary(_)
            | Message::CompactionSummary(_) => run_of = None,
        }
    }
    (answers, repairs)
}

/// Third pass: every message but the results, each followed by its answers, made up where there is none.
fn rebuild(
    messages: &[Arc<Message>],
    mut answers: HashMap<usize, Vec<Arc<Message>>>,
    repairs: &mut Repairs,
) -> Vec<Arc<Message>> {
    let mut valid = Vec::with_capacity(messages.len());
    for (place, message) in messages.iter().enumerate() {
        match message.as_ref() {
            Message::ToolResult(_) => {}
            Message::Assistant(assistant) if !is_failed(assistant) => {
                valid.push(Arc::clone(message));
                let kept = answers.remove(&place).unwrap_or_default();
                let missing: Vec<_> = distinct_calls(assistant)
                    .filter(|call| !kept.iter().any(|kept| answers_call(kept, &call.id)))
                    .map(|call| Arc::new(interrupted(call, assistant)))
                    .collect();
                repairs.missing += missing.len();
                valid.extend(kept);
                valid.extend(missing);
            }
            Message::Assistant(_)
            | Message::System(_)
            | Message::User(_)
            | Message::BashExecution(_)
            | Message::Custom(_)
            | Message::BranchSummary(_)
            | Message::CompactionSummary(_) => valid.push(Arc::clone(message)),
        }
    }
    valid
}

fn is_failed(message: &AssistantMessage) -> bool {
    matches!(message.stop_reason, StopReason::Error | StopReason::Aborted)
}

/// The calls of a message; of several with the same id the first, as one result answers them all.
fn distinct_calls(message: &AssistantMessage) -> impl Iterator<Item = &ToolCall> {
    message
        .tool_calls()
        .enumerate()
        .filter(|(place, call)| !message.tool_calls().take(*place).any(|earlier| earlier.id == call.id))
        .map(|(_, call)| call)
}

fn answers_call(message: &Message, id: &CallId) -> bool {
    matches!(message, Message::ToolResult(result) if result.tool_call_id == *id)
}

/// The timestamp is the response's, so that repairing the same history twice gives the same bytes.
fn interrupted(call: &ToolCall, maker: &AssistantMessage) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: vec![Block::text(INTERRUPTED)],
        details: None,
        usage: None,
        is_error: true,
        duration_ms: None,
        timestamp: maker.timestamp,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::message::UserMessage;
    use crate::proto::usage::Usage;
    use proptest::prelude::*;
    use serde_json::Map;

    fn user(text: &str) -> Arc<Message> {
        Arc::new(Message::User(UserMessage { content: vec![Block::text(text)], timestamp: 1 }))
    }

    fn assistant(stop_reason: StopReason, calls: &[&str]) -> Arc<Message> {
        let call = |id: &&str| {
            Block::ToolCall(ToolCall {
                id: CallId::new(*id),
                name: "bash".to_owned(),
                arguments: Map::new(),
                thought_signature: None,
                malformed: None,
            })
        };
        Arc::new(Message::Assistant(AssistantMessage {
            content: calls.iter().map(call).collect(),
            api: String::new(),
            provider: String::new(),
            model: String::new(),
            response_model: None,
            usage: Usage::default(),
            stop_reason,
            error_message: None,
            timestamp: 7,
            response_id: None,
            raw_stop_reason: None,
            duration_ms: None,
            thinking_level: None,
        }))
    }

    fn calls(ids: &[&str]) -> Arc<Message> {
        assistant(StopReason::ToolUse, ids)
    }

    fn result(id: &str, text: &str) -> Arc<Message> {
        Arc::new(Message::ToolResult(ToolResultMessage {
            tool_call_id: CallId::new(id),
            tool_name: "bash".to_owned(),
            content: vec![Block::text(text)],
            details: None,
            usage: None,
            is_error: false,
            duration_ms: None,
            timestamp: 2,
        }))
    }

    fn lost(id: &str) -> Arc<Message> {
        let Message::ToolResult(mut message) = result(id, INTERRUPTED).as_ref().clone() else { panic!() };
        (message.is_error, message.timestamp) = (true, 7);
        Arc::new(Message::ToolResult(message))
    }

    #[test]
    fn repairs_by_table() {
        let counts =
            |duplicates, misplaced, missing, of_failed| Repairs { duplicates, misplaced, missing, of_failed };
        let (a, b) = (|| result("a", "A"), || result("b", "B"));
        let table = [
            ("empty", vec![], vec![], counts(0, 0, 0, 0)),
            (
                "answered in another order",
                vec![user("u"), calls(&["a", "b"]), b(), a(), user("v")],
                vec![user("u"), calls(&["a", "b"]), b(), a(), user("v")],
                counts(0, 0, 0, 0),
            ),
            ("duplicate", vec![calls(&["a"]), a(), a()], vec![calls(&["a"]), a()], counts(1, 0, 0, 0)),
            (
                "answered behind a user message",
                vec![calls(&["a", "b"]), b(), user("u"), a()],
                vec![calls(&["a", "b"]), b(), a(), user("u")],
                counts(0, 1, 0, 0),
            ),
            ("before its call", vec![a(), calls(&["a"])], vec![calls(&["a"]), lost("a")], counts(0, 1, 1, 0)),
            ("of no call", vec![user("u"), a(), user("v")], vec![user("u"), user("v")], counts(0, 1, 0, 0)),
            (
                "not answered",
                vec![calls(&["a", "b"]), a(), user("u")],
                vec![calls(&["a", "b"]), a(), lost("b"), user("u")],
                counts(0, 0, 1, 0),
            ),
            (
                "ids used again",
                vec![calls(&["a"]), a(), calls(&["a"]), result("a", "2")],
                vec![calls(&["a"]), a(), calls(&["a"]), result("a", "2")],
                counts(0, 0, 0, 0),
            ),
            (
                "ids used again, first not answered",
                vec![calls(&["a"]), calls(&["a"]), a()],
                vec![calls(&["a"]), lost("a"), calls(&["a"]), a()],
                counts(0, 0, 1, 0),
            ),
            (
                "aborted",
                vec![assistant(StopReason::Aborted, &["a", "b"]), a(), user("u")],
                vec![assistant(StopReason::Aborted, &["a", "b"]), user("u")],
                counts(0, 0, 0, 1),
            ),
            (
                "failed",
                vec![assistant(StopReason::Error, &["a"])],
                vec![assistant(StopReason::Error, &["a"])],
                counts(0, 0, 0, 0),
            ),
            (
                "two calls of one id",
                vec![calls(&["a", "a"]), a()],
                vec![calls(&["a", "a"]), a()],
                counts(0, 0, 0, 0),
            ),
            (
                "cut off by the limit",
                vec![assistant(StopReason::Length, &["a"])],
                vec![assistant(StopReason::Length, &["a"]), lost("a")],
                counts(0, 0, 1, 0),
            ),
        ];
        for (name, mut history, expected, repairs) in table {
            assert_eq!(repair(&mut history), repairs, "{name}");
            assert_eq!(history, expected, "{name}");
        }
    }

    #[test]
    fn a_valid_history_keeps_its_messages() {
        let before = vec![user("u"), calls(&["a"]), result("a", "A"), user("v")];
        let mut after = before.clone();
        assert!(repair(&mut after).is_empty());
        assert!(before.iter().zip(&after).all(|(a, b)| Arc::ptr_eq(a, b)));
    }

    fn any_message() -> impl Strategy<Value = Arc<Message>> {
        let id = prop::sample::select(vec!["a", "b", "c"]);
        let stop = prop::sample::select(vec![
            StopReason::ToolUse,
            StopReason::Stop,
            StopReason::Error,
            StopReason::Aborted,
        ]);
        prop_oneof![
            Just(user("u")),
            (stop, prop::collection::vec(id.clone(), 0..4)).prop_map(|(stop, ids)| assistant(stop, &ids)),
            id.prop_map(|id| result(id, id)),
        ]
    }

    proptest! {
        #[test]
        fn any_history_becomes_valid_once_and_for_all(before in prop::collection::vec(any_message(), 0..24)) {
            let mut after = before.clone();
            let repairs = repair(&mut after);
            prop_assert!(is_valid(&after));
            prop_assert_eq!(repairs.is_empty(), is_valid(&before));
            let others = |history: &[Arc<Message>]| -> Vec<Arc<Message>> {
                history.iter().filter(|m| !matches!(m.as_ref(), Message::ToolResult(_))).cloned().collect()
            };
            prop_assert_eq!(others(&before), others(&after));
            let once = after.clone();
            prop_assert!(repair(&mut after).is_empty());
            prop_assert!(once.iter().zip(&after).all(|(a, b)| Arc::ptr_eq(a, b)));
        }
    }
}
