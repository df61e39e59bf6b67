use super::*;
use crate::store::line;
use crate::store::tree::Tree;
use serde_json::json;

/// A chain of entries: each gets the place in the list as id, the one before as parent.
fn context(entries: &[Value]) -> Context {
    let mut tree = Tree::default();
    for (place, entry) in entries.iter().enumerate() {
        let mut entry = entry.clone();
        entry["id"] = json!(place.to_string());
        entry["parentId"] = if place == 0 { Value::Null } else { json!((place - 1).to_string()) };
        entry["timestamp"] = json!("2026-01-01T00:00:01.000Z");
        let read = line::read_entry(entry.to_string().as_bytes()).expect("an entry");
        assert!(!read.unreadable, "{entry}");
        tree.push(read.entry);
    }
    tree.context()
}

fn user(text: &str) -> Value {
    json!({"type":"message","message":{"role":"user","content":text,"timestamp":1}})
}

fn assistant(text: &str) -> Value {
    json!({"type":"message","message":{"role":"assistant","content":[{"type":"text","text":text}],
        "provider":"p","model":"m","stopReason":"stop","usage":{"input":1,"cost":{"total":0.5}}}})
}

fn system(sections: Value) -> Value {
    json!({"type":"message","message":{"role":"system","content":"","sections":sections,"timestamp":1}})
}

fn compaction(kept: &str) -> Value {
    json!({"type":"compaction","summary":"S","firstKeptEntryId":kept,"tokensBefore":9})
}

fn edit(target: &str, replacement: Value) -> Value {
    json!({"type":"context_edit","targetId":target,"replacement":replacement})
}

fn said(context: &Context) -> Vec<(String, String)> {
    let say = |message: &Message| match message {
        Message::User(m) => crate::proto::message::text_of(&m.content),
        Message::Assistant(m) => m.text(),
        Message::ToolResult(m) => crate::proto::message::text_of(&m.content),
        Message::Custom(m) => crate::proto::message::text_of(&m.content),
        Message::BranchSummary(m) => format!("branch {}", m.summary),
        Message::CompactionSummary(m) => format!("compacted {}", m.summary),
        Message::BashExecution(m) => format!("$ {}", m.command),
        Message::System(_) => "system".to_owned(),
    };
    context.messages.iter().map(|(id, message)| (id.to_string(), say(message))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn a_plain_branch_is_its_messages() {
    let context = context(&[
        system(json!({"rules":"r"})),
        json!({"type":"model_change","provider":"a","modelId":"b/c"}),
        json!({"type":"thinking_level_change","thinkingLevel":"high"}),
        user("one"),
        json!({"type":"custom","customType":"mynah.leaf","data":null}),
        json!({"type":"custom_message","customType":"x","content":"note","display":true}),
        json!({"type":"branch_summary","fromId":"9","summary":"B"}),
        json!({"type":"branch_summary","fromId":"9","summary":""}),
        json!({"type":"dance","steps":3}),
        json!({"type":"session_info","name":"  Name "}),
    ]);
    assert_eq!(said(&context), pairs(&[("3", "one"), ("5", "note"), ("6", "branch B")]));
    assert_eq!(context.model, Some(ModelRef::new("a", "b/c")));
    assert_eq!(context.thinking, Some(ThinkingLevel::High));
    assert_eq!(context.name.as_deref(), Some("Name"));
    assert_eq!(context.system.map(|s| s.sections), json!({"rules":"r"}).as_object().cloned());
}

#[test]
fn the_model_that_answered_last_counts_and_an_empty_name_clears() {
    let context = context(&[
        json!({"type":"model_change","provider":"a","modelId":"b"}),
        assistant("x"),
        json!({"type":"session_info","name":"n"}),
        json!({"type":"session_info","name":""}),
        json!({"type":"thinking_level_change","thinkingLevel":"enormous"}),
    ]);
    assert_eq!(context.model, Some(ModelRef::new("p", "m")));
    assert_eq!(context.name, None);
    assert_eq!(context.thinking, None);
}

#[test]
fn the_newest_compaction_stands_first_and_keeps_from_its_mark_on() {
    let two = context(&[user("0"), compaction("0"), user("2"), user("3"), compaction("2"), user("5")]);
    assert_eq!(said(&two), pairs(&[("4", "compacted S"), ("2", "2"), ("3", "3"), ("5", "5")]));
    let older_inside =
        context(&[user("0"), user("1"), compaction("1"), user("3"), compaction("1"), user("5")]);
    assert_eq!(said(&older_inside), pairs(&[("4", "compacted S"), ("1", "1"), ("3", "3"), ("5", "5")]));
}

#[test]
fn a_compaction_that_names_itself_or_nothing_known_keeps_nothing() {
    for kept in ["1", "gone"] {
        let context = context(&[user("0"), compaction(kept), user("2")]);
        assert_eq!(said(&context), pairs(&[("1", "compacted S"), ("2", "2")]));
    }
}

#[test]
fn what_was_known_of_a_compaction_is_kept() {
    let mut entry = compaction("0");
    entry["details"] = json!({"reason":"manual","tokensAfter":7,"durationMs":41,"readFiles":["a"]});
    let facts = |entry: &Value| match &*context(&[user("0"), entry.clone()]).messages[0].1 {
        Message::CompactionSummary(summary) => serde_json::to_value(summary.facts).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(facts(&entry), json!({"reason":"manual","tokensAfter":7,"durationMs":41}));
    entry["usage"] = json!({"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,
        "cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.25}});
    assert_eq!(facts(&entry)["cost"], json!(0.25));
    assert_eq!(facts(&compaction("0")), json!({}));
}

#[test]
fn prompts_fold_in_order_and_a_checkpoint_replaces_what_was_before() {
    let folded = context(&[
        system(json!({"a":"1","b":"2","c":"3"})),
        user("x"),
        system(json!({"a":null,"c":"4","d":"5"})),
    ]);
    let sections = folded.system.expect("declared").sections;
    assert_eq!(Value::Object(sections.clone()), json!({"b":"2","c":"4","d":"5"}));
    assert_eq!(sections.keys().collect::<Vec<_>>(), ["b", "c", "d"]);

    let mut checkpoint = compaction("1");
    checkpoint["systemMessage"] = json!({"role":"system","content":"","sections":{"z":"9"},"timestamp":1,
        "toolsAdded":[{"name":"read"},{"name":"bash"}]});
    let mut later = system(json!({"y":"8"}));
    later["message"]["toolsRemoved"] = json!([{"name":"read"}]);
    later["message"]["toolsAdded"] = json!([{"name":"bash","description":"new"},{"name":"ls"}]);
    let after = context(&[system(json!({"a":"1"})), system(json!({"kept":"no"})), checkpoint, later]);
    let system = after.system.expect("declared");
    assert_eq!(Value::Object(system.sections), json!({"z":"9","y":"8"}));
    let tools: Vec<_> = system.tools_added.iter().map(|tool| (&*tool.name, &*tool.description)).collect();
    assert_eq!(tools, [("bash", "new"), ("ls", "")]);

    let without = context(&[system_only(), compaction("0")]);
    assert_eq!(without.system, None);
}

fn system_only() -> Value {
    system(json!({"a":"1"}))
}

#[test]
fn edits_leave_out_or_replace_and_the_last_one_counts() {
    let context = context(&[
        user("0"),
        assistant("1"),
        user("2"),
        json!({"type":"custom_message","customType":"x","content":"3"}),
        user("4"),
        edit("0", Value::Null),
        edit("1", json!({"content":"new"})),
        edit("2", Value::Null),
        edit("2", json!({"content":[{"type":"text","text":"again"}]})),
        edit("3", json!("plain")),
        edit("4", json!({"content":7})),
        edit("nobody", Value::Null),
    ]);
    assert_eq!(said(&context), pairs(&[("1", "new"), ("2", "again"), ("3", "plain"), ("4", "4")]));
    assert!(matches!(&*context.messages[0].1, Message::Assistant(m) if m.model == "m"));
}

#[test]
fn usage_is_of_the_whole_file() {
    let usage = json!({"input":10,"cost":{"total":1.0}});
    let mut tree = Tree::default();
    let mut push = |id: &str, parent: Option<&str>, mut entry: Value| {
        entry["id"] = json!(id);
        entry["parentId"] = json!(parent);
        tree.push(line::read_entry(entry.to_string().as_bytes()).expect("an entry").entry);
    };
    push("a", None, assistant("x"));
    push("b", Some("a"), assistant("left"));
    push("c", Some("a"), json!({"type":"usage","kind":"k","provider":"p","model":"m","usage":usage}));
    push("d", Some("c"), json!({"type":"compaction","summary":"","firstKeptEntryId":"d","usage":usage}));
    push("e", Some("d"), json!({"type":"branch_summary","summary":"s","usage":usage}));
    push(
        "f",
        Some("e"),
        json!({"type":"message","message":{"role":"toolResult","toolCallId":"c","toolName":"t",
        "content":[],"usage":usage}}),
    );
    let sum = tree.context().usage;
    assert_eq!(sum.input, 42);
    assert!((sum.cost.total - 5.0).abs() < 1e-9);
}
