use super::*;
use crate::proto::ids::CallId;
use crate::proto::message::{
    AssistantMessage, Block, StopReason, SystemMessage, ToolCall, ToolResultMessage, UserMessage,
};
use crate::proto::model::ThinkingLevel;
use crate::proto::usage::{Cost, Usage};
use proptest::prelude::*;
use serde_json::json;

const FIXTURE: &str = include_str!("../../tests/fixtures/pi/session-v3-pi-1.6.0.jsonl");

fn text() -> impl Strategy<Value = String> {
    prop_oneof![".*", Just(String::new()), Just("a\nb\t\"\\u0000\u{2028}\u{1F426}".to_owned())]
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((text(), json_value()), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

fn usage() -> impl Strategy<Value = Usage> {
    (any::<u64>(), any::<u32>(), prop::option::of(any::<u64>()), 0.0..1000.0).prop_map(
        |(a, b, reasoning, price)| Usage {
            input: a,
            output: b.into(),
            cache_read: 1,
            cache_write: 2,
            reasoning,
            total_tokens: b.into(),
            cost: Cost { input: price, total: price, ..Cost::default() },
        },
    )
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        (text(), prop::option::of(text()))
            .prop_map(|(text, text_signature)| Block::Text { text, text_signature }),
        (text(), prop::option::of(text()), any::<bool>()).prop_map(
            |(thinking, thinking_signature, redacted)| Block::Thinking {
                thinking,
                thinking_signature,
                redacted
            }
        ),
        text().prop_map(|data| Block::Image { data, mime_type: "image/png".to_owned() }),
        (text(), object()).prop_map(|(id, arguments)| Block::ToolCall(ToolCall {
            id: CallId::new(id),
            name: "read".to_owned(),
            arguments,
            thought_signature: None,
            malformed: None,
        })),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let blocks = || prop::collection::vec(block(), 0..3);
    prop_oneof![
        (blocks(), any::<i64>())
            .prop_map(|(content, timestamp)| Message::User(UserMessage { content, timestamp })),
        (text(), object(), any::<i64>()).prop_map(|(content, sections, timestamp)| Message::System(
            SystemMessage { content, sections, tools_added: vec![], tools_removed: vec![], timestamp }
        )),
        (blocks(), usage(), prop::option::of(text())).prop_map(|(content, usage, error_message)| {
            Message::Assistant(AssistantMessage {
                content,
                api: "a".to_owned(),
                provider: "p".to_owned(),
                model: "m".to_owned(),
                response_model: None,
                usage,
                stop_reason: StopReason::ToolUse,
                error_message,
                timestamp: 3,
                response_id: None,
                raw_stop_reason: None,
                duration_ms: Some(5),
                thinking_level: Some(ThinkingLevel::High),
            })
        }),
        (blocks(), json_value(), any::<bool>()).prop_map(|(content, details, is_error)| {
            Message::ToolResult(ToolResultMessage {
                tool_call_id: CallId::new("c"),
                tool_name: "bash".to_owned(),
                content,
                // `null` and absent are the same on disk.
                details: Some(details).filter(|details| !details.is_null()),
                usage: None,
                is_error,
                duration_ms: None,
                timestamp: 1,
            })
        }),
    ]
}

fn kind() -> impl Strategy<Value = EntryKind> {
    prop_oneof![
        4 => message().prop_map(|message| EntryKind::Message { message: Arc::new(message) }),
        1 => (text(), text()).prop_map(|(provider, model_id)| EntryKind::ModelChange { provider, model_id }),
        1 => text().prop_map(|thinking_level| EntryKind::ThinkingLevelChange { thinking_level }),
        1 => (text(), text(), any::<u64>(), prop::option::of(usage())).prop_map(
            |(summary, kept, tokens_before, usage)| EntryKind::Compaction {
                summary,
                first_kept_entry_id: EntryId::new(kept),
                tokens_before,
                system_message: None,
                usage,
                details: None,
            }
        ),
        1 => (text(), prop::option::of(text())).prop_map(|(summary, from_id)| EntryKind::BranchSummary {
            from_id,
            summary,
            usage: None
        }),
        1 => (text(), json_value()).prop_map(|(custom_type, data)| EntryKind::Custom { custom_type, data }),
        1 => (text(), json_value(), any::<bool>()).prop_map(|(custom_type, content, display)| {
            EntryKind::CustomMessage { custom_type, content, display, details: None }
        }),
        1 => (text(), prop::option::of(text()))
            .prop_map(|(target, label)| EntryKind::Label { target_id: EntryId::new(target), label }),
        1 => text().prop_map(|name| EntryKind::SessionInfo { name }),
        1 => (text(), usage()).prop_map(|(kind, usage)| EntryKind::Usage {
            kind,
            provider: "p".to_owned(),
            model: "m".to_owned(),
            usage
        }),
        1 => (text(), json_value()).prop_map(|(target, replacement)| EntryKind::ContextEdit {
            target_id: EntryId::new(target),
            replacement
        }),
    ]
}

/// Any entry of a known kind.
pub(crate) fn entry() -> impl Strategy<Value = Entry> {
    (text(), prop::option::of(text()), text(), kind()).prop_map(|(id, parent, timestamp, kind)| Entry {
        id: EntryId::new(id),
        parent_id: parent.map(EntryId::new),
        timestamp,
        kind,
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(entry in entry()) {
        let line = write_entry(&entry).expect("an entry can be written");
        prop_assert!(line.ends_with("}\n"), "no line end");
        prop_assert_eq!(line.matches('\n').count(), 1);
        prop_assert_eq!(read_entry(line.as_bytes()), Ok(Read { entry, unreadable: false }));
    }

    #[test]
    fn unknown_types_survive(fields in object(), kind in "x_[a-z]+") {
        let mut map = Map::from_iter([
            ("type".to_owned(), Value::from(kind)),
            ("id".to_owned(), json!("1")),
            ("parentId".to_owned(), Value::Null),
            ("timestamp".to_owned(), json!("t")),
        ]);
        map.extend(fields.into_iter().filter(|(name, _)| !["type", "id", "parentId", "timestamp"].contains(&name.as_str())));
        let line = Value::Object(map.clone()).to_string();
        let read = read_entry(line.as_bytes()).expect("it has an id");
        prop_assert_eq!(&read.entry.kind, &EntryKind::Unknown(map));
        prop_assert_eq!(write_entry(&read.entry).expect("it can be written"), line + "\n");
    }

    #[test]
    fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_entry(&bytes);
        let _ = read_beginning(&bytes);
    }

    #[test]
    fn text_without_half_pairs_stays(text in text()) {
        let json = serde_json::to_string(&text).expect("text is JSON");
        prop_assert_eq!(without_half_pairs(&json), json);
    }
}

#[test]
fn pi_lines_keep_their_envelope_and_meaning() {
    for line in FIXTURE.lines().skip(1) {
        let read = read_entry(line.as_bytes()).expect("Pi's lines are entries");
        assert!(!read.unreadable, "{line}");
        assert!(!matches!(read.entry.kind, EntryKind::Unknown(_)), "{line}");
        let written = write_entry(&read.entry).expect("it can be written");
        let ours: Map<String, Value> = serde_json::from_str(&written).expect("we write JSON");
        let theirs: Map<String, Value> = serde_json::from_str(line).expect("Pi writes JSON");
        let first = |map: &Map<String, Value>| map.keys().take(5).cloned().collect::<Vec<_>>();
        assert_eq!(first(&ours), first(&theirs));
    }
}

#[test]
fn the_header_is_pis() {
    let first = FIXTURE.lines().next().expect("a first line");
    let header = header_of(&parse_object(first.as_bytes()).expect("JSON")).expect("a header");
    assert_eq!(header.version, 3);
    assert_eq!(header.cwd, Path::new("/home/user/project"));
    assert_eq!(write_header(&header).expect("it can be written"), format!("{first}\n"));
    let forked = Header { parent_session: Some("/s.jsonl".to_owned()), ..header };
    let line = write_header(&forked).expect("it can be written");
    assert_eq!(header_of(&parse_object(line.as_bytes()).expect("JSON")), Some(forked));
}

#[test]
fn what_can_be_mended_is_mended_and_the_rest_is_kept() {
    let read = |line: &str| read_entry(line.as_bytes());
    let content = |line: &str| match read(line).map(|read| read.entry.kind) {
        Ok(EntryKind::Message { message }) => match &*message {
            Message::User(user) => user.content.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let null = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":null,"timestamp":1}}"#;
    assert_eq!(content(null), []);
    let half = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"x\ud83d \\ud83d \ud83d\udc26","timestamp":1}}"#;
    assert_eq!(content(half), [Block::text("x\u{FFFD} \\ud83d \u{1F426}")]);
    let latin = b"{\"type\":\"session_info\",\"id\":\"a\",\"name\":\"caf\xe9\"}";
    let name = read_entry(latin).map(|read| read.entry.kind);
    assert_eq!(name, Ok(EntryKind::SessionInfo { name: "caf\u{FFFD}".to_owned() }));

    let role = read(r#"{"type":"message","id":"a","message":{"role":"oracle"}}"#).expect("it has an id");
    assert!(role.unreadable && matches!(role.entry.kind, EntryKind::Unknown(_)));
    let foreign = read(r#"{"type":"dance","id":"a"}"#).expect("it has an id");
    assert!(!foreign.unreadable && matches!(foreign.entry.kind, EntryKind::Unknown(_)));
    assert_eq!(read(r#"{"type":"message"}"#), Err(BadLine::NoId));
    assert_eq!(read(r#"[1]"#), Err(BadLine::NotJson));
    assert_eq!(read(r#"{"type":"mess"#), Err(BadLine::NotJson));
}

#[test]
fn every_known_type_is_in_the_list() {
    for kind in KNOWN_TYPES {
        let error = EntryKind::deserialize(&json!({ "type": kind }));
        assert!(error.is_ok() || !error.is_err_and(|e| e.to_string().contains("unknown variant")), "{kind}");
    }
}

#[test]
fn the_beginning_of_a_cut_line_gives_its_place() {
    let head = br#"{"type":"message","id":"a","parentId":"b","timestamp":"t","message":{"role":"user","content":[{"x":1,"data":"AAAA"#;
    let map = read_beginning(head).expect("the envelope is whole");
    assert_eq!(Value::Object(map), json!({"type":"message","id":"a","parentId":"b","timestamp":"t"}));
    assert_eq!(read_beginning(b"{\"data\":\"AAAA"), None);
}

#[test]
fn times() {
    let time = jiff::Timestamp::from_millisecond(1_796_045_278_024).expect("in range");
    assert_eq!(timestamp(time), "2026-11-30T13:27:58.024Z");
    assert_eq!(millis("2026-11-30T13:27:58.024Z"), 1_796_045_278_024);
    assert_eq!(millis("yesterday"), 0);
}
