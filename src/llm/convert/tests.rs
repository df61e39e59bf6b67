use super::*;
use crate::llm::Dialect;
use crate::llm::fixtures::{any_message, assistant, call, image, model, result, stopped, thinking, user};
use crate::proto::message::{BashExecutionMessage, BranchSummaryMessage, CompactionSummaryMessage};
use proptest::prelude::*;
use serde_json::json;

fn claude() -> Model {
    let mut model = model(Dialect::AnthropicMessages);
    model.reference.id = "claude".to_owned();
    model
}

fn gpt() -> Model {
    let mut model = model(Dialect::OpenAiResponses);
    model.reference.id = "gpt".to_owned();
    model
}

fn shared(messages: Vec<Message>) -> Vec<Arc<Message>> {
    messages.into_iter().map(Arc::new).collect()
}

/// The conversation in one line a message.
fn outline(messages: Vec<Message>, model: &Model) -> Vec<String> {
    let messages = shared(messages);
    convert(&messages, model, IdRule::AtMost(64)).iter().map(line).collect()
}

fn line(item: &Item<'_>) -> String {
    let part = |part: &Part<'_>| match part {
        Part::Text(text) => text.to_string(),
        Part::Image { mime_type, .. } => format!("<{mime_type}>"),
    };
    match item {
        Item::User(parts) => format!("user: {}", parts.iter().map(part).collect::<Vec<_>>().join(" | ")),
        Item::Assistant { parts, own } => {
            let said = parts.iter().map(|part| match part {
                AssistantPart::Text { text, signature } => format!("{text}{}", signature.unwrap_or_default()),
                AssistantPart::Thinking { thinking, signature, redacted } => {
                    format!(
                        "[{thinking}{}{}]",
                        signature.unwrap_or_default(),
                        if *redacted { "!" } else { "" }
                    )
                }
                AssistantPart::Call { id, name, arguments, .. } => {
                    format!("{name}#{id}{}", serde_json::to_string(arguments).unwrap())
                }
            });
            let who = if *own { "own" } else { "other" };
            format!("{who}: {}", said.collect::<Vec<_>>().join(" | "))
        }
        Item::ToolResult(result) => {
            let mark = if result.is_error { "!" } else { "" };
            let parts: Vec<_> = result.parts.iter().map(part).collect();
            format!("result{mark} #{}: {}", result.call_id, parts.join(" | "))
        }
    }
}

#[test]
fn failed_and_stopped_answers_fall_away_with_their_results() {
    let model = claude();
    for reason in [StopReason::Error, StopReason::Aborted, StopReason::Pending] {
        let lines = outline(
            vec![
                user("a"),
                stopped(&model, vec![Block::text("half"), call("c1", "read", json!({}))], reason),
                result("c1", vec![Block::text("late")]),
                user("b"),
            ],
            &model,
        );
        assert_eq!(lines, ["user: a", "user: b"], "{reason:?}");
    }
}

#[test]
fn every_call_is_answered_in_place_and_in_order() {
    let model = claude();
    let lines = outline(
        vec![
            assistant(
                &model,
                vec![
                    call("c1", "read", json!({"path": "x"})),
                    call("c2", "ls", json!({})),
                    call("c3", "ls", json!({})),
                ],
            ),
            result("c2", vec![Block::text("two")]),
            user("wait"),
            result("c1", vec![]),
            result("stray", vec![Block::text("lost")]),
        ],
        &model,
    );
    assert_eq!(
        lines,
        [
            r#"own: read#c1{"path":"x"} | ls#c2{} | ls#c3{}"#,
            "result #c1: (no output)",
            "result #c2: two",
            "result! #c3: No result was recorded for this call: it was interrupted before it ended.",
            "user: wait",
        ]
    );
}

#[test]
fn calls_with_the_same_id_are_told_apart() {
    let model = claude();
    let lines = outline(
        vec![
            assistant(&model, vec![call("c", "read", json!({})), call("c", "ls", json!({}))]),
            result("c", vec![Block::text("one")]),
            result("c", vec![Block::text("two")]),
            assistant(&model, vec![call("c", "read", json!({}))]),
            result("c", vec![Block::text("three")]),
        ],
        &model,
    );
    let results: Vec<_> = lines.iter().filter(|line| line.starts_with("result")).collect();
    assert!(results[0].starts_with("result #c: one"));
    assert!(results[1].ends_with(": two") && !results[1].contains("#c:"));
    assert!(results[2].ends_with(": three") && !results[2].contains("#c:"));
}

#[test]
fn another_model_gets_thinking_as_text_and_no_signatures() {
    let (claude, gpt) = (claude(), gpt());
    let answer = || {
        vec![
            thinking("deep", Some("sig")),
            Block::Thinking {
                thinking: String::new(),
                thinking_signature: Some("x".to_owned()),
                redacted: true,
            },
            Block::Text { text: "hi".to_owned(), text_signature: Some("-t".to_owned()) },
        ]
    };
    assert_eq!(outline(vec![assistant(&claude, answer())], &claude), ["own: [deepsig] | [x!] | hi-t"]);
    assert_eq!(outline(vec![assistant(&claude, answer())], &gpt), ["other: deep | hi"]);
    let mut same_id = gpt;
    same_id.reference.id = "claude".to_owned();
    assert_eq!(outline(vec![assistant(&claude, answer())], &same_id), ["other: deep | hi"]);
}

#[test]
fn what_says_nothing_is_left_out() {
    let model = claude();
    let lines = outline(
        vec![
            user("  \n"),
            assistant(&model, vec![thinking("only thought", Some("s"))]),
            assistant(&model, vec![Block::text(""), Block::Unknown]),
            assistant(&model, vec![thinking("", None), Block::text(" \n"), Block::text("said")]),
        ],
        &model,
    );
    assert_eq!(lines, ["own: said"]);
}

#[test]
fn pictures_for_models_that_take_none() {
    let mut model = claude();
    let messages = || {
        let tiff = Block::Image { data: "AA".to_owned(), mime_type: "image/tiff".to_owned() };
        vec![Message::User(crate::proto::message::UserMessage {
            content: vec![image(), image(), Block::text("look"), tiff],
            timestamp: 0,
        })]
    };
    assert_eq!(
        outline(messages(), &model),
        [
            "user: <image/png> | <image/png> | look | (A picture was left out: its format is not one that models take.)"
        ]
    );
    model.images = false;
    assert_eq!(
        outline(messages(), &model),
        [
            "user: (A picture was left out: this model takes none.) | look | (A picture was left out: this model takes none.)"
        ]
    );
}

#[test]
fn messages_of_programs_become_user_messages() {
    let run = |exit_code, exclude_from_context| {
        Message::BashExecution(BashExecutionMessage {
            command: "make\ntest".to_owned(),
            output: "ok\n".to_owned(),
            exit_code,
            cancelled: false,
            truncated: true,
            full_output_path: Some("/tmp/out".to_owned()),
            exclude_from_context,
            timestamp: 0,
        })
    };
    let lines = outline(
        vec![
            Message::CompactionSummary(CompactionSummaryMessage {
                summary: "S".to_owned(),
                tokens_before: 1,
                facts: Default::default(),
                timestamp: 0,
            }),
            Message::BranchSummary(BranchSummaryMessage {
                summary: "B".to_owned(),
                from_id: None,
                timestamp: 0,
            }),
            run(Some(2), None),
            run(Some(0), Some(true)),
        ],
        &claude(),
    );
    assert_eq!(lines.len(), 3);
    assert!(lines[0].ends_with("<summary>\nS\n</summary>"));
    assert!(lines[1].ends_with("<summary>\nB\n</summary>"));
    assert_eq!(
        lines[2],
        "user: The user ran this command:\n\n    make\n    test\n\nIt printed:\n\n```\nok\n```\n\nIt ended with exit code 2.\n\nThe output is cut; the whole is in /tmp/out."
    );
}

#[test]
fn a_malformed_call_goes_back_with_empty_arguments() {
    let model = claude();
    let mut broken = call("c1", "read", json!({}));
    if let Block::ToolCall(call) = &mut broken {
        call.malformed = Some("{".to_owned());
    }
    let lines = outline(vec![assistant(&model, vec![broken]), result("c1", vec![Block::text("no")])], &model);
    assert_eq!(lines, ["own: read#c1{}", "result #c1: no"]);
}

#[test]
fn room_for_the_answer() {
    let mut model = claude();
    for (asked, input, most, window, expected) in [
        (None, 0, 64_000, 100_000, 32_000),
        (None, 0, 8_000, 100_000, 8_000),
        (Some(50_000), 0, 64_000, 100_000, 50_000),
        (Some(90_000), 0, 64_000, 100_000, 64_000),
        (None, 80_000, 64_000, 100_000, 20_000),
        (None, 200_000, 64_000, 100_000, 1),
        (None, 80_000, 0, 0, 32_000),
    ] {
        model.max_tokens = most;
        model.context_window = window;
        assert_eq!(max_tokens(&model, asked, input), expected, "{asked:?} {input} {most} {window}");
    }
}

proptest! {
    #[test]
    fn any_history_becomes_a_valid_one(history in prop::collection::vec(any_message(&[claude(), gpt()]), 0..14), images: bool) {
        let mut model = claude();
        model.images = images;
        let history = shared(history);
        let items = convert(&history, &model, IdRule::AtMost(64));
        let mut open: VecDeque<&str> = VecDeque::new();
        let mut seen = std::collections::HashSet::new();
        for item in &items {
            match item {
                Item::ToolResult(result) => {
                    prop_assert_eq!(open.pop_front(), Some(result.call_id.as_str()));
                    prop_assert!(!result.parts.is_empty());
                    valid_parts(&result.parts, images)?;
                }
                Item::User(parts) => {
                    prop_assert!(open.is_empty(), "a call is not answered");
                    prop_assert!(!parts.is_empty());
                    valid_parts(parts, images)?;
                }
                Item::Assistant { parts, own } => {
                    prop_assert!(open.is_empty(), "a call is not answered");
                    let mut says_something = false;
                    for part in parts {
                        match part {
                            AssistantPart::Text { text, signature } => {
                                says_something = true;
                                prop_assert!(!text.trim().is_empty());
                                prop_assert!(*own || signature.is_none());
                            }
                            AssistantPart::Thinking { thinking, signature, .. } => {
                                prop_assert!(*own);
                                prop_assert!(signature.is_some() || !thinking.trim().is_empty());
                            }
                            AssistantPart::Call { id, .. } => {
                                says_something = true;
                                prop_assert!(seen.insert(id.clone()), "an id is used twice");
                                open.push_back(id);
                            }
                        }
                    }
                    prop_assert!(says_something);
                }
            }
        }
        prop_assert!(open.is_empty(), "a call is not answered");
    }

    #[test]
    fn a_message_that_is_appended_changes_nothing_before_it(history in prop::collection::vec(any_message(&[claude(), gpt()]), 0..10), next in "[a-c]{1,3}") {
        let before = shared(history);
        let mut after = before.clone();
        after.push(Arc::new(user(&next)));
        let model = gpt();
        let (before, after) = (convert(&before, &model, IdRule::Nine), convert(&after, &model, IdRule::Nine));
        prop_assert_eq!(&after[..before.len()], &before[..]);
        prop_assert_eq!(after.len(), before.len() + 1);
    }
}

fn valid_parts(parts: &[Part<'_>], images: bool) -> Result<(), TestCaseError> {
    for part in parts {
        match part {
            Part::Text(text) => prop_assert!(!text.trim().is_empty()),
            Part::Image { .. } => prop_assert!(images),
        }
    }
    Ok(())
}
