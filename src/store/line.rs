//! One entry as one JSON line, and back.
//!
//! Reading never loses a line that is a JSON object with an id: a type this version does not know, or a known one that
//! it can't read, becomes [`EntryKind::Unknown`] with everything that stood there. What Pi forgives is forgiven here:
//! bytes that are no UTF-8, half surrogate pairs, messages without content.

use crate::proto::entry::{Entry, EntryKind};
use crate::proto::ids::{EntryId, SessionId};
use crate::proto::message::Message;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version that is written. Older ones are read.
pub const FORMAT_VERSION: u32 = 3;

/// The first line of a session file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The session.
    pub id: SessionId,
    /// Format version; 1 when the file does not say.
    pub version: u32,
    /// When the session began, ISO 8601, UTC.
    pub timestamp: String,
    /// Working directory.
    pub cwd: PathBuf,
    /// File of the session that this one was forked from.
    pub parent_session: Option<String>,
}

impl Header {
    /// The header of a session that begins now.
    pub fn new(id: SessionId, cwd: impl Into<PathBuf>, now: jiff::Timestamp) -> Self {
        Self { id, version: FORMAT_VERSION, timestamp: timestamp(now), cwd: cwd.into(), parent_session: None }
    }
}

/// A time as the log writes it: ISO 8601, UTC, milliseconds.
pub fn timestamp(time: jiff::Timestamp) -> String {
    format!("{time:.3}")
}

/// Milliseconds since the Unix epoch of a time in the log; 0 for a text that is no time.
pub fn millis(timestamp: &str) -> i64 {
    timestamp.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HeaderLine<'a> {
    r#type: &'static str,
    version: u32,
    id: &'a SessionId,
    timestamp: &'a str,
    cwd: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session: Option<&'a str>,
}

/// The header as a line, newline included.
///
/// # Errors
/// None in practice: all fields are text and numbers.
pub fn write_header(header: &Header) -> serde_json::Result<String> {
    let mut line = serde_json::to_string(&HeaderLine {
        r#type: "session",
        version: header.version,
        id: &header.id,
        timestamp: &header.timestamp,
        cwd: &header.cwd.to_string_lossy(),
        parent_session: header.parent_session.as_deref(),
    })?;
    line.push('\n');
    Ok(line)
}

/// An entry as a line, newline included: type, id, parentId and timestamp first, as Pi writes them.
///
/// # Errors
/// Data that JSON can't hold.
pub fn write_entry(entry: &Entry) -> serde_json::Result<String> {
    let (whole, tag) = match &entry.kind {
        EntryKind::Unknown(map) => (write_unknown(map)?, map.get("type").cloned().unwrap_or_default()),
        known => (serde_json::to_string(known)?, Value::from(type_name(known))),
    };
    // The tag comes first; the envelope goes right behind it without a second pass over the data.
    let tag = format!(r#"{{"type":{tag}"#);
    let rest = whole.strip_prefix(&tag).unwrap_or("}");
    let id = serde_json::to_string(&entry.id)?;
    let parent = serde_json::to_string(&entry.parent_id)?;
    let timestamp = serde_json::to_string(&entry.timestamp)?;
    Ok(format!("{tag},\"id\":{id},\"parentId\":{parent},\"timestamp\":{timestamp}{rest}\n"))
}

/// An unknown entry as JSON, its type first and without its envelope.
fn write_unknown(map: &Map<String, Value>) -> serde_json::Result<String> {
    let mut out = String::from(r#"{"type":"#);
    out.push_str(&serde_json::to_string(map.get("type").unwrap_or(&Value::Null))?);
    for (name, value) in map {
        if !matches!(name.as_str(), "type" | "id" | "parentId" | "timestamp") {
            out.push(',');
            out.push_str(&serde_json::to_string(name)?);
            out.push(':');
            out.push_str(&serde_json::to_string(value)?);
        }
    }
    out.push('}');
    Ok(out)
}

const fn type_name(kind: &EntryKind) -> &'static str {
    match kind {
        EntryKind::Message { .. } => "message",
        EntryKind::ModelChange { .. } => "model_change",
        EntryKind::ThinkingLevelChange { .. } => "thinking_level_change",
        EntryKind::Compaction { .. } => "compaction",
        EntryKind::BranchSummary { .. } => "branch_summary",
        EntryKind::Custom { .. } => "custom",
        EntryKind::CustomMessage { .. } => "custom_message",
        EntryKind::Label { .. } => "label",
        EntryKind::SessionInfo { .. } => "session_info",
        EntryKind::Usage { .. } => "usage",
        EntryKind::ContextEdit { .. } => "context_edit",
        EntryKind::Unknown(_) => "",
    }
}

/// Types that become an [`EntryKind`] of their own when they can be read.
const KNOWN_TYPES: [&str; 11] = [
    "message",
    "model_change",
    "thinking_level_change",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
    "usage",
    "context_edit",
];

/// Why a line is no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// No JSON object, or only a part of one.
    #[error("is damaged")]
    NotJson,
    /// Without an id it has no place in the tree.
    #[error("has no id")]
    NoId,
}

/// An entry, and whether its type is known but could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The entry.
    pub entry: Entry,
    /// It is of a known type and was kept as [`EntryKind::Unknown`].
    pub unreadable: bool,
}

/// The line of a message: most lines are one, so that they are read in a single pass without a map in between.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageLine {
    #[expect(dead_code, reason = "decides that the line is a message")]
    r#type: MessageTag,
    id: EntryId,
    #[serde(default)]
    parent_id: Option<EntryId>,
    #[serde(default)]
    timestamp: String,
    message: RoleFirst,
}

/// A message whose first field is its role, as every writer puts it. Knowing the role first, the rest is read straight
/// into place; otherwise serde would copy all of it to look for the role.
struct RoleFirst(Message);

impl<'de> Deserialize<'de> for RoleFirst {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RoleFirstVisitor).map(Self)
    }
}

struct RoleFirstVisitor;

impl<'de> Visitor<'de> for RoleFirstVisitor {
    type Value = Message;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message that begins with its role")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
        let first: Option<Cow<'_, str>> = map.next_key()?;
        if first.as_deref() != Some("role") {
            return Err(A::Error::custom("the role is not the first field"));
        }
        let role: Cow<'_, str> = map.next_value()?;
        let rest = MapAccessDeserializer::new(map);
        Ok(match &*role {
            "system" => Message::System(Deserialize::deserialize(rest)?),
            "user" => Message::User(Deserialize::deserialize(rest)?),
            "assistant" => Message::Assistant(Deserialize::deserialize(rest)?),
            "toolResult" => Message::ToolResult(Deserialize::deserialize(rest)?),
            // Rare ones go the general way.
            _ => return Err(A::Error::custom("a rare role")),
        })
    }
}

#[derive(Deserialize)]
enum MessageTag {
    #[serde(rename = "message")]
    Message,
}

/// Reads a line of a version 3 file.
///
/// # Errors
/// The line is no entry: see [`BadLine`].
pub fn read_entry(line: &[u8]) -> Result<Read, BadLine> {
    if let Ok(MessageLine { r#type: _, id, parent_id, timestamp, message }) = serde_json::from_slice(line) {
        let entry =
            Entry { id, parent_id, timestamp, kind: EntryKind::Message { message: Arc::new(message.0) } };
        return Ok(Read { entry, unreadable: false });
    }
    read_map(parse_object(line)?)
}

/// Reads an entry out of a parsed line.
///
/// # Errors
/// The line has no id.
pub fn read_map(map: Map<String, Value>) -> Result<Read, BadLine> {
    let known = map.get("type").and_then(Value::as_str).is_some_and(|kind| KNOWN_TYPES.contains(&kind));
    let kind = if known { read_kind(&map) } else { None };
    let mut read = read_unknown(map)?;
    read.unreadable = known && kind.is_none();
    if let Some(kind) = kind {
        read.entry.kind = kind;
    }
    Ok(read)
}

/// An entry of a known type. Tries once more with an empty content where a message has none: old files and hands leave
/// it out.
fn read_kind(map: &Map<String, Value>) -> Option<EntryKind> {
    if let Ok(kind) = EntryKind::deserialize(map) {
        return Some(kind);
    }
    let mut mended = map.clone();
    let message = mended.get_mut("message")?.as_object_mut()?;
    if !message.get("content").is_none_or(Value::is_null) {
        return None;
    }
    message.insert("content".to_owned(), Value::Array(Vec::new()));
    EntryKind::deserialize(&mended).ok()
}

/// Takes an entry out of a parsed line without a look at what it is.
///
/// # Errors
/// The line has no id.
pub fn read_unknown(map: Map<String, Value>) -> Result<Read, BadLine> {
    let text = |name: &str| map.get(name).and_then(Value::as_str);
    let id = text("id").map(EntryId::new).ok_or(BadLine::NoId)?;
    let parent_id = text("parentId").map(EntryId::new);
    let timestamp = text("timestamp").unwrap_or_default().to_owned();
    Ok(Read { entry: Entry { id, parent_id, timestamp, kind: EntryKind::Unknown(map) }, unreadable: false })
}

/// A line as a JSON object.
///
/// # Errors
/// It is none, even after bytes that no JSON text can hold were replaced.
pub fn parse_object(line: &[u8]) -> Result<Map<String, Value>, BadLine> {
    let parsed = serde_json::from_slice(line).or_else(|_| {
        let text = String::from_utf8_lossy(line);
        serde_json::from_str(&text).or_else(|_| serde_json::from_str(&without_half_pairs(&text)))
    });
    // What the parser says about a damaged line helps nobody: the file and the line number do.
    #[expect(clippy::map_err_ignore, reason = "the position inside the line is of no use")]
    parsed.map_err(|_| BadLine::NotJson)
}

/// Replaces escapes of half surrogate pairs. JavaScript writes them when it cuts a text inside a pair; strict JSON
/// readers refuse the whole line for them.
fn without_half_pairs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match code_unit(escape) {
            Some(0xD800..=0xDBFF) if matches!(escape.get(6..).and_then(code_unit), Some(0xDC00..=0xDFFF)) => {
                12
            }
            Some(0xD800..=0xDFFF) => {
                out.push_str("\\ufffd");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            Some(_) => 6,
            // A backslash and the character behind it, so that `\\u` is not taken for an escape.
            None => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (escape, after) = escape.split_at(length);
        out.push_str(escape);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The code unit of a `\uXXXX` at the start of the text.
fn code_unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// Reads a header out of a parsed line. `None` when it is none.
pub fn header_of(map: &Map<String, Value>) -> Option<Header> {
    let text = |name: &str| map.get(name).and_then(Value::as_str);
    (text("type")? == "session").then_some(())?;
    let version = map.get("version").and_then(Value::as_u64).unwrap_or(1);
    Some(Header {
        id: SessionId::new(text("id")?),
        version: u32::try_from(version).unwrap_or(u32::MAX),
        timestamp: text("timestamp").unwrap_or_default().to_owned(),
        cwd: Path::new(text("cwd").unwrap_or_default()).to_owned(),
        parent_session: text("parentSession").map(str::to_owned),
    })
}

/// Brings a line of an older version to the present one.
///
/// Version 1 is a plain sequence without ids: an entry gets its place in the file as id, which stays the same each time
/// the file is read because nothing in it ever moves. Version 2 calls the `custom` role `hookMessage`.
pub fn upgrade(map: &mut Map<String, Value>, version: u32, place: u64, previous: Option<&EntryId>) {
    if version < 2 && !map.contains_key("id") {
        let parent = previous.map_or(Value::Null, |id| Value::from(id.as_str()));
        if let Some(place) = map.remove("firstKeptEntryIndex").as_ref().and_then(Value::as_u64) {
            map.insert("firstKeptEntryId".to_owned(), Value::from(id_of_place(place)));
        }
        let rest = std::mem::take(map);
        let kind = rest.get("type").cloned().unwrap_or_default();
        map.extend([
            ("type".to_owned(), kind),
            ("id".to_owned(), Value::from(id_of_place(place))),
            ("parentId".to_owned(), parent),
        ]);
        map.extend(rest.into_iter().filter(|(name, _)| name != "type"));
    }
    if version < 3
        && let Some(role) = map.get_mut("message").and_then(|message| message.get_mut("role"))
        && role == "hookMessage"
    {
        *role = Value::from("custom");
    }
}

fn id_of_place(place: u64) -> String {
    format!("{place:08x}")
}

/// The envelope of a line of which only the beginning is at hand: everything in front of the first field that is cut.
pub fn read_beginning(head: &[u8]) -> Option<Map<String, Value>> {
    let head = head.get(..head.len().min(4096))?;
    let cuts = head.windows(2).enumerate().rev().filter(|(_, pair)| pair == b",\"");
    cuts.map(|(at, _)| at).find_map(|at| {
        let mut candidate = head.get(..at)?.to_vec();
        candidate.push(b'}');
        serde_json::from_slice::<Map<String, Value>>(&candidate).ok()
    })
}

#[cfg(test)]
#[path = "line_tests.rs"]
pub(crate) mod tests;
