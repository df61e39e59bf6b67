use super::*;
use crate::proto::entry::{Entry, EntryKind};
use crate::proto::message::Message;
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::store::line::write_entry;
use proptest::prelude::*;

const FIXTURE: &str = include_str!("../../tests/fixtures/pi/session-v3-pi-1.6.0.jsonl");
const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;

fn replay(text: impl AsRef<[u8]>) -> Result<Replay, StoreError> {
    read_from(text.as_ref(), Path::new("/s.jsonl"))
}

fn named(id: &str, parent: Option<&str>) -> String {
    let parent = parent.map_or_else(|| "null".to_owned(), |id| format!("\"{id}\""));
    format!(r#"{{"type":"session_info","id":"{id}","parentId":{parent},"timestamp":"t","name":"{id}"}}"#)
}

fn ids(replay: &Replay) -> Vec<&str> {
    replay.tree.entries().iter().map(|entry| entry.id.as_str()).collect()
}

#[test]
fn a_session_of_pi_opens_as_pi_shows_it() {
    let replay = replay(FIXTURE).expect("Pi's file opens");
    assert_eq!(replay.warnings, [] as [&str; 0]);
    assert!(replay.terminated);
    assert_eq!(replay.tree.entries().len(), FIXTURE.lines().count() - 1);
    let context = replay.tree.context();
    // Pi's own projection: the summary, what it kept, what came after.
    let ids: Vec<_> = context.messages.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["1e92962e", "f989013d", "3f59acb6", "57a0cc54", "772a5bf8"]);
    assert!(matches!(&*context.messages[0].1, Message::CompactionSummary(_)));
    assert_eq!(context.model, Some(ModelRef::new("mock", "mock-model")));
    assert_eq!(context.thinking, Some(ThinkingLevel::Low));
    assert_eq!(context.name.as_deref(), Some("Recorded session"));
    let system = context.system.expect("the compaction has a checkpoint");
    assert_eq!(system.sections.len(), 5);
    assert_eq!(system.tools_added.len(), 4);
    assert_eq!(context.usage.input, 635 + 642 + 655 + 658 + 665 + 671 + 556 + 643);
}

#[test]
fn a_header_alone_is_a_session() {
    for text in [HEADER.to_owned(), format!("{HEADER}\n")] {
        let replay = replay(&text).expect("it opens");
        assert_eq!(replay.tree, Tree::default());
        assert_eq!(replay.terminated, text.ends_with('\n'));
        assert_eq!(replay.tree.context().messages, []);
    }
}

#[test]
fn what_is_no_session_says_so() {
    let first_entry = named("a", None);
    for text in ["", "\n\n", "hello\n", "[1,2]\n", "{}\n", &first_entry, r#"{"type":"session","version":3}"#]
    {
        assert!(matches!(replay(text), Err(StoreError::NotASession { .. })), "{text}");
    }
    let newer = HEADER.replace("\"version\":3", "\"version\":4");
    assert!(matches!(replay(newer), Err(StoreError::NewerFormat { version: 4, .. })));
}

#[test]
fn damaged_lines_are_skipped_told_and_cost_nothing_else() {
    let text = [
        "not json",
        HEADER,
        &named("a", None),
        "{\"type\":\"message\",\"id\":\"b\",\"par",
        "",
        &named("c", Some("a")),
        r#"{"type":"message","id":"d","parentId":"c","message":{"role":"oracle"}}"#,
        HEADER,
        &named("e", Some("b")),
    ]
    .join("\n");
    let replay = replay(text).expect("it opens");
    assert_eq!(ids(&replay), ["a", "c", "d", "e"]);
    assert_eq!(
        replay.warnings,
        [
            "Line 1 is damaged; it was skipped and kept.",
            "Line 4 is damaged; it was skipped and kept.",
            "Line 7 can't be read by this version; it was kept.",
            "Line 8 is a second session header; everything is read as one session.",
            "Entries whose predecessor is not there: 1. What came before them is not part of their branch.",
        ]
    );
}

#[test]
fn a_flood_of_damage_is_counted() {
    let replay = replay(format!("{HEADER}\n{}", "x\n".repeat(100))).expect("it opens");
    assert_eq!(replay.warnings.len(), MAX_WARNINGS + 1);
    assert_eq!(replay.warnings.last().map(String::as_str), Some("92 more lines like these."));
}

#[test]
fn version_1_gets_ids_that_stay_the_same() {
    let text = concat!(
        r#"{"type":"session","id":"s","timestamp":"t","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","timestamp":"t","message":{"role":"user","content":"one","timestamp":1}}"#,
        "\nbroken\n",
        r#"{"type":"message","timestamp":"t","message":{"role":"hookMessage","customType":"h","content":"two","display":true,"timestamp":2}}"#,
        "\n",
        r#"{"type":"compaction","timestamp":"t","summary":"S","firstKeptEntryIndex":2,"tokensBefore":1}"#,
        "\n",
        r#"{"type":"session_info","id":"ours","parentId":"00000002","timestamp":"t","name":"n"}"#,
        "\n",
    );
    let replay = replay(text).expect("it opens");
    assert_eq!(replay.header.version, 1);
    assert_eq!(ids(&replay), ["00000001", "00000002", "00000003", "ours"]);
    let path = |leaf: &str| replay.tree.path_to(Some(&EntryId::new(leaf))).len();
    assert_eq!((path("00000003"), path("ours")), (3, 3));
    let context = replay.tree.context_at(Some(&EntryId::new("00000003")));
    let said: Vec<_> = context.messages.iter().map(|(id, message)| (id.as_str(), &**message)).collect();
    assert!(matches!(
        said.as_slice(),
        [("00000003", Message::CompactionSummary(_)), ("00000002", Message::Custom(_))]
    ));
}

#[test]
fn version_2_renames_the_role() {
    let header = HEADER.replace("\"version\":3", "\"version\":2");
    let message = r#"{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"hookMessage","customType":"h","content":"x","display":true,"timestamp":2}}"#;
    let replay = replay(format!("{header}\n{message}\n")).expect("it opens");
    let context = replay.tree.context();
    assert!(matches!(&*context.messages[0].1, Message::Custom(custom) if custom.custom_type == "h"));
}

/// How a file gets damaged.
#[derive(Clone, Debug)]
enum Damage {
    Garbage(Vec<u8>),
    CutAt(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80).prop_map(Damage::Garbage),
        any::<prop::sample::Index>().prop_map(Damage::CutAt),
    ]
}

proptest! {
    /// Between good lines stands anything, the last line is torn: the good lines are all there, unchanged.
    #[test]
    fn no_damage_keeps_the_good_lines_from_loading(
        kinds in prop::collection::vec((crate::store::line::tests::entry(), prop::option::of(damage())), 0..12),
    ) {
        let mut bytes = format!("{HEADER}\n").into_bytes();
        let mut good: Vec<Entry> = Vec::new();
        for (place, (mut entry, damage)) in kinds.into_iter().enumerate() {
            entry.id = EntryId::new(format!("good{place}"));
            bytes.extend(write_entry(&entry).expect("an entry can be written").bytes());
            match damage {
                None => {}
                Some(Damage::Garbage(garbage)) => bytes.extend(garbage),
                Some(Damage::CutAt(at)) => {
                    let torn = named("torn", None);
                    bytes.extend(&torn.as_bytes()[..at.index(torn.len() - 1)]);
                }
            }
            bytes.push(b'\n');
            good.push(entry);
        }
        let replay = replay(&bytes).expect("it opens");
        let read: Vec<_> = replay.tree.entries().iter().filter(|e| e.id.as_str().starts_with("good")).cloned().collect();
        prop_assert_eq!(read, good);
    }

    #[test]
    fn any_bytes_end_in_a_session_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = replay(&bytes);
        let mut with_header = format!("{HEADER}\n").into_bytes();
        with_header.extend(bytes);
        prop_assert!(replay(&with_header).is_ok());
    }
}

#[test]
fn a_line_that_is_too_long_keeps_its_place() {
    let raw = RawLine {
        number: 2,
        offset: 0,
        length: 0,
        bytes: br#"{"type":"message","id":"big","parentId":"a","timestamp":"t","message":{"role":"user","content":"AAAA"#,
        cut: true,
    };
    let read = Decoder::new(3).read(raw).expect("the envelope is whole").expect("an entry");
    assert_eq!(read.entry.id, EntryId::new("big"));
    assert_eq!(read.entry.parent_id, Some(EntryId::new("a")));
    assert!(matches!(read.entry.kind, EntryKind::Unknown(_)));
}

/// Not a bound, which a busy machine would break: a figure on request.
/// `cargo test --release --lib store::replay -- --ignored --nocapture`
#[test]
#[ignore = "measures"]
fn time_of_100_000_entries() {
    let mut text = format!("{HEADER}\n");
    let lines: Vec<&str> = FIXTURE.lines().skip(3).filter(|line| line.contains("\"message\"")).collect();
    for place in 0..100_000_usize {
        let map = crate::store::line::parse_object(lines[place % lines.len()].as_bytes()).expect("JSON");
        let mut map = map;
        map["id"] = Value::from(format!("{place:08x}"));
        map["parentId"] = place.checked_sub(1).map_or(Value::Null, |p| Value::from(format!("{p:08x}")));
        text.push_str(&Value::Object(map).to_string());
        text.push('\n');
    }
    let start = std::time::Instant::now();
    let replay = replay(&text).expect("it opens");
    let read = start.elapsed();
    let context = replay.tree.context();
    println!("{} MB: read {read:?}, with context {:?}", text.len() / 1_000_000, start.elapsed());
    assert_eq!(replay.tree.entries().len(), 100_000);
    assert!(!context.messages.is_empty());
}
