//! Which message is meant: the nearest one before the end of a branch that a model finished by itself and that says
//! something. What broke off, was stopped, ran out of room or only called tools is passed over, and so is whatever no
//! model said: a wrong message is worse than an older one.

use crate::proto::entry::{Entry, EntryKind};
use crate::proto::ids::EntryId;
use crate::proto::message::{Message, StopReason};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The text of a message that can be a reference: a model's, finished by itself, not blank. Text blocks only, joined
/// by line ends.
pub fn completed(message: &Message) -> Option<String> {
    let Message::Assistant(answer) = message else { return None };
    if answer.stop_reason != StopReason::Stop {
        return None;
    }
    let text = answer.text();
    (!text.trim().is_empty()).then_some(text)
}

/// The source message of the branch that ends in `leaf`. `entries` are those of the session's log in its order: after
/// a compaction the original message is still among them, and counts. Entries that the user left out of later requests
/// are passed over. `None` for a leaf that is not there, and where a parent is missing: nothing is guessed.
pub fn nearest<'a>(entries: &'a [Entry], leaf: Option<&EntryId>) -> Option<(&'a EntryId, &'a Arc<Message>)> {
    // Of two entries with one id the later one is meant, as in the log.
    let places: HashMap<&EntryId, usize> =
        entries.iter().enumerate().map(|(i, entry)| (&entry.id, i)).collect();
    let mut next = leaf;
    let mut left_out = HashSet::new();
    let mut seen = HashSet::new();
    while let Some(id) = next {
        let place = *places.get(id)?;
        if !seen.insert(place) {
            return None;
        }
        let entry = entries.get(place)?;
        match &entry.kind {
            EntryKind::ContextEdit { target_id, .. } => {
                left_out.insert(target_id);
            }
            EntryKind::Message { message }
                if !left_out.contains(&entry.id) && completed(message).is_some() =>
            {
                return Some((&entry.id, message));
            }
            _ => {}
        }
        next = entry.parent_id.as_ref();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// An entry: its id, its parent, what it is.
    type Row = (&'static str, Option<&'static str>, Value);

    fn said(stop: &str, text: &str) -> Value {
        let message =
            json!({"role": "assistant", "stopReason": stop, "content": [{"type": "text", "text": text}]});
        json!({"type": "message", "message": message})
    }

    fn user() -> Value {
        json!({"type": "message", "message": {"role": "user", "content": "go on", "timestamp": 0}})
    }

    fn entries(rows: &[Row]) -> Vec<Entry> {
        let entry = |(id, parent, kind): &Row| Entry {
            id: EntryId::new(*id),
            parent_id: parent.map(EntryId::new),
            timestamp: String::new(),
            kind: serde_json::from_value(kind.clone()).unwrap(),
        };
        rows.iter().map(entry).collect()
    }

    fn found(rows: &[Row], leaf: &str) -> Option<String> {
        let entries = entries(rows);
        let (id, message) = nearest(&entries, Some(&EntryId::new(leaf)))?;
        Some(format!("{id}: {}", completed(message).unwrap()))
    }

    #[test]
    fn trees() {
        let tool_result = json!({"type": "message", "message": {"role": "toolResult", "toolCallId": "t", "toolName": "ls", "content": "x"}});
        let custom = json!({"type": "message", "message":
            {"role": "custom", "customType": "note", "content": "a program says this", "display": true}});
        let custom_entry =
            json!({"type": "custom_message", "customType": "note", "content": "c", "display": true});
        let branch = json!({"type": "branch_summary", "fromId": "b", "summary": "left"});
        let compaction =
            json!({"type": "compaction", "summary": "all", "firstKeptEntryId": "d", "tokensBefore": 9});
        let summary = json!({"type": "message", "message": {"role": "compactionSummary", "summary": "all"}});
        let blocks = json!({"type": "message", "message": {"role": "assistant", "stopReason": "stop", "content": [
            {"type": "thinking", "thinking": "hidden"},
            {"type": "text", "text": "one"},
            {"type": "toolCall", "id": "t", "name": "ls", "arguments": {}},
            {"type": "text", "text": "two"},
        ]}});
        let left_out = json!({"type": "context_edit", "targetId": "b", "replacement": null});
        let table: Vec<(&str, Vec<Row>, &str, Option<&str>)> = vec![
            ("plain", vec![("a", None, user()), ("b", Some("a"), said("stop", "hi"))], "b", Some("b: hi")),
            (
                "a new prompt does not hide the answer before it",
                vec![("a", None, said("stop", "hi")), ("b", Some("a"), user())],
                "b",
                Some("a: hi"),
            ),
            (
                "aborted",
                vec![("a", None, said("stop", "hi")), ("b", Some("a"), said("aborted", "half"))],
                "b",
                Some("a: hi"),
            ),
            (
                "error and length",
                vec![
                    ("a", None, said("stop", "hi")),
                    ("b", Some("a"), said("error", "x")),
                    ("c", Some("b"), said("length", "y")),
                ],
                "c",
                Some("a: hi"),
            ),
            (
                "tools at work",
                vec![
                    ("a", None, said("stop", "hi")),
                    ("b", Some("a"), said("toolUse", "I look")),
                    ("c", Some("b"), tool_result),
                ],
                "c",
                Some("a: hi"),
            ),
            (
                "streaming",
                vec![("a", None, said("stop", "hi")), ("b", Some("a"), said("pending", "so f"))],
                "b",
                Some("a: hi"),
            ),
            (
                "an unknown reason is no end",
                vec![("a", None, said("stop", "hi")), ("b", Some("a"), said("paused", "so f"))],
                "b",
                Some("a: hi"),
            ),
            (
                "programs and summaries",
                vec![
                    ("a", None, said("stop", "hi")),
                    ("b", Some("a"), custom),
                    ("c", Some("b"), custom_entry),
                    ("d", Some("c"), branch),
                    ("e", Some("d"), summary),
                ],
                "e",
                Some("a: hi"),
            ),
            (
                "a fork goes its own way",
                vec![
                    ("a", None, said("stop", "root")),
                    ("b", Some("a"), said("stop", "left")),
                    ("c", Some("a"), said("aborted", "right")),
                ],
                "c",
                Some("a: root"),
            ),
            (
                "rewound to before the last answer",
                vec![
                    ("a", None, said("stop", "first")),
                    ("b", Some("a"), user()),
                    ("c", Some("b"), said("stop", "second")),
                ],
                "b",
                Some("a: first"),
            ),
            (
                "compacted away, and still meant",
                vec![
                    ("a", None, user()),
                    ("b", Some("a"), said("stop", "the original")),
                    ("c", Some("b"), compaction),
                    ("d", Some("c"), user()),
                ],
                "d",
                Some("b: the original"),
            ),
            (
                "text blocks alone",
                vec![("a", None, user()), ("b", Some("a"), blocks)],
                "b",
                Some("b: one\ntwo"),
            ),
            (
                "blank",
                vec![("a", None, said("stop", "hi")), ("b", Some("a"), said("stop", " \n"))],
                "b",
                Some("a: hi"),
            ),
            ("a parent is missing", vec![("b", Some("gone"), user())], "b", None),
            ("nothing was said", vec![("a", None, user())], "a", None),
            (
                "left out by the user",
                vec![
                    ("a", None, said("stop", "hi")),
                    ("b", Some("a"), said("stop", "not this")),
                    ("c", Some("b"), left_out),
                ],
                "c",
                Some("a: hi"),
            ),
            ("a loop ends", vec![("a", Some("b"), user()), ("b", Some("a"), user())], "b", None),
            ("a leaf that is not there", vec![("a", None, said("stop", "hi"))], "z", None),
        ];
        assert!(table.len() >= 15);
        for (name, rows, leaf, expected) in table {
            assert_eq!(found(&rows, leaf).as_deref(), expected, "{name}");
        }
        assert!(nearest(&entries(&[("a", None, said("stop", "hi"))]), None).is_none());
    }
}
