use super::*;
use crate::proto::ask::PermissionAsk;
use crate::proto::command::TicketOutcome;
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{TicketId, TurnId};
use crate::proto::message::{
    AssistantMessage, BashExecutionMessage, Block, CustomMessage, StopReason, ToolCall, ToolResultMessage,
    UserMessage,
};
use crate::proto::tool::ToolOutput;
use crate::proto::usage::Usage;
use crate::transcript::copy;
use crate::transcript::held::{Arguments, Given};
use crate::transcript::item::{CallPhase, LIVE_OUTPUT};
use proptest::prelude::*;
use serde_json::{Map, json};
use std::time::Duration;

fn text(text: &str) -> Block {
    Block::text(text)
}

fn thinking(text: &str) -> Block {
    Block::Thinking { thinking: text.to_owned(), thinking_signature: None, redacted: false }
}

fn tool_call(id: &str, name: &str) -> ToolCall {
    let arguments = json!({"path": "a.rs"}).as_object().cloned().unwrap_or_default();
    ToolCall {
        id: CallId::new(id),
        name: name.to_owned(),
        arguments,
        thought_signature: None,
        malformed: None,
    }
}

fn call(id: &str, name: &str) -> Block {
    Block::ToolCall(tool_call(id, name))
}

fn said(content: Vec<Block>, stop_reason: StopReason) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        response_model: None,
        usage: Usage { output: 120, ..Usage::default() },
        error_message: (stop_reason == StopReason::Error).then(|| "The server is gone.".to_owned()),
        stop_reason,
        timestamp: 0,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: Some(2000),
        thinking_level: None,
    })
}

fn user(text: &str) -> Message {
    Message::User(UserMessage { content: vec![Block::text(text)], timestamp: 0 })
}

fn result(id: &str, text: &str) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: CallId::new(id),
        tool_name: "read".to_owned(),
        content: vec![Block::text(text)],
        details: None,
        usage: None,
        is_error: false,
        duration_ms: Some(12),
        timestamp: 0,
    })
}

/// A block as it is when it begins.
fn opened(block: &Block) -> Block {
    match block {
        Block::Text { .. } => text(""),
        Block::Thinking { .. } => thinking(""),
        Block::ToolCall(call) => Block::ToolCall(ToolCall { arguments: Map::new(), ..call.clone() }),
        other => other.clone(),
    }
}

fn streamed_text(block: &Block) -> String {
    match block {
        Block::Text { text, .. } => text.clone(),
        Block::Thinking { thinking, .. } => thinking.clone(),
        Block::ToolCall(call) => serde_json::to_string(&call.arguments).unwrap_or_default(),
        _ => String::new(),
    }
}

/// The events of a message: of the model in pieces of so many characters, of others at once.
fn events(id: usize, message: &Message, piece: usize) -> Vec<AgentEvent> {
    let entry = |patch| AgentEvent::Entry { id: EntryId::new(id.to_string()), patch };
    let whole = Arc::new(message.clone());
    let Message::Assistant(said) = message else {
        let mut events = vec![entry(EntryPatch::Start(whole.clone())), entry(EntryPatch::Finish(whole))];
        if let Message::ToolResult(result) = message {
            let output = ToolOutput {
                content: result.content.clone(),
                is_error: result.is_error,
                ..ToolOutput::default()
            };
            events.insert(
                0,
                AgentEvent::ToolFinished {
                    call: result.tool_call_id.clone(),
                    tool: result.tool_name.clone(),
                    output: Arc::new(output),
                    duration_ms: result.duration_ms,
                },
            );
        }
        return events;
    };
    let usage = Usage::default();
    let empty = Message::Assistant(AssistantMessage { content: Vec::new(), ..said.clone() });
    let mut events = vec![entry(EntryPatch::Start(Arc::new(empty)))];
    for (index, block) in said.content.iter().enumerate() {
        events.push(entry(EntryPatch::Open { index, block: opened(block) }));
        let characters: Vec<char> = streamed_text(block).chars().collect();
        for part in characters.chunks(piece.max(1)) {
            events.push(entry(EntryPatch::Append { index, delta: part.iter().collect(), usage }));
        }
        events.push(entry(EntryPatch::Close { index, block: block.clone(), usage }));
    }
    events.push(entry(EntryPatch::Finish(whole)));
    events
}

fn turn_events(outcome: TicketOutcome) -> (AgentEvent, AgentEvent) {
    let (turn, ticket) = (TurnId(1), TicketId(1));
    (AgentEvent::TurnStarted { turn, ticket }, AgentEvent::TurnFinished { turn, ticket, outcome })
}

fn play(conversation: &mut Conversation, events: &[AgentEvent]) {
    let now = Instant::now();
    for event in events {
        conversation.apply(event, now, (9, 30));
    }
}

/// What is drawn of the items, times left out.
fn told(conversation: &Conversation) -> Vec<String> {
    let item = |item: &Item| match &item.body {
        Body::User(user) => format!("user {} {}", user.text, user.pictures),
        Body::Reply(Prose::Live(stream)) => format!("live {}", stream.source()),
        Body::Reply(Prose::Whole(block)) => format!("reply {}", block.text()),
        Body::Thinking(thinking) => {
            format!("thinking {}{}", thinking.text.text(), if thinking.since.is_some() { " …" } else { "" })
        }
        Body::Call(call) => {
            let phase = match &call.phase {
                CallPhase::Writing { .. } => format!("writing {}", call.draft),
                CallPhase::Queued => "queued".to_owned(),
                CallPhase::Asking => "asking".to_owned(),
                CallPhase::Running { .. } => format!("running {}", call.output),
                CallPhase::Done { result, .. } => {
                    format!(
                        "done {} {:?}",
                        crate::proto::message::text_of(&result.content),
                        result.duration_ms
                    )
                }
                CallPhase::Dropped => "dropped".to_owned(),
            };
            format!("{} {} {} {phase}", call.id, call.tool, call.arguments.len())
        }
        Body::Shell(shell) => format!("shell {:?}", shell.done().map(|done| &done.output)),
        Body::Compaction(compaction) => format!("compaction {:?}", compaction.summary),
        Body::Custom { label, text } => format!("{label}: {text}"),
        Body::Jobs(jobs) => format!("jobs: {}", jobs.text),
        Body::Notice { level, text } => format!("{level:?} {text}"),
        Body::TurnEnd(end) => format!("end {:?} {:?} {:?}", end.how, end.at, end.speed),
    };
    conversation.items.iter().map(item).collect()
}

#[test]
fn a_turn_becomes_items() {
    let mut conversation = Conversation::new();
    let (begin, end) = turn_events(TicketOutcome::Completed);
    play(&mut conversation, &[begin]);
    play(&mut conversation, &events(1, &user("go"), 1));
    let asks =
        said(vec![thinking("hm"), text("\n"), text("I look."), call("c1", "read")], StopReason::ToolUse);
    play(&mut conversation, &events(2, &asks, 2));
    assert_eq!(
        told(&conversation),
        ["user go 0", "thinking hm", "reply \n", "reply I look.", "c1 read 1 queued"]
    );
    let ask = PermissionAsk {
        id: AskId(1),
        call: CallId::new("c1"),
        tool: "read".to_owned(),
        summary: String::new(),
        reason: String::new(),
        suggestions: Vec::new(),
        preview: Default::default(),
    };
    let last = |conversation: &Conversation| told(conversation).pop().unwrap_or_default();
    play(&mut conversation, &[AgentEvent::PermissionAsked(ask)]);
    assert_eq!(last(&conversation), "c1 read 1 asking");
    play(&mut conversation, &[AgentEvent::PermissionResolved { ask: AskId(1) }]);
    assert_eq!(last(&conversation), "c1 read 1 queued");
    let id = CallId::new("c1");
    let started = AgentEvent::ToolStarted {
        call: id.clone(),
        tool: "read".to_owned(),
        arguments: tool_call("c1", "read").arguments,
        limit_ms: None,
    };
    let more = AgentEvent::ToolProgress { call: id, delta: "more".to_owned() };
    play(&mut conversation, &[started, more.clone(), more.clone()]);
    assert_eq!(last(&conversation), "c1 read 1 running moremore");
    play(&mut conversation, &events(3, &result("c1", "text"), 1));
    assert_eq!(last(&conversation), "c1 read 1 done text Some(12)");
    // What comes after the end is not told.
    assert!(!conversation.apply(&more, Instant::now(), (0, 0)));
    play(&mut conversation, &events(4, &said(vec![text("Done.")], StopReason::Stop), 3));
    play(&mut conversation, &[end]);
    assert_eq!(told(&conversation)[5..], ["reply Done.", "end Done (9, 30) Some(600)"]);
    assert_eq!(conversation.prompts(), [0]);
}

#[test]
fn a_text_is_live_until_its_message_is_whole() {
    let mut conversation = Conversation::new();
    let mut events = events(1, &said(vec![thinking("so"), text("One two")], StopReason::Stop), 4);
    let finish = events.pop();
    play(&mut conversation, &events[..3]);
    assert_eq!(told(&conversation), ["thinking so …"]);
    play(&mut conversation, &events[3..]);
    assert_eq!(told(&conversation), ["thinking so", "live One two"]);
    play(&mut conversation, finish.as_slice());
    assert_eq!(told(&conversation), ["thinking so", "reply One two"]);
}

#[test]
fn thinking_is_timed() {
    let mut conversation = Conversation::new();
    let begun = Instant::now();
    let events = events(1, &said(vec![thinking("so")], StopReason::Stop), 4);
    for (event, second) in events.iter().zip(0..) {
        conversation.apply(event, begun + Duration::from_secs(second), (0, 0));
    }
    // It began with the second event and ended with the fourth.
    let Body::Thinking(thinking) = &conversation.items[0].body else { panic!("thinking") };
    assert_eq!((thinking.since, thinking.took), (None, Some(Duration::from_secs(2))));
}

#[test]
fn calls_that_nobody_answers_are_dropped() {
    let mut conversation = Conversation::new();
    play(
        &mut conversation,
        &events(1, &said(vec![call("c1", "read"), call("c2", "grep")], StopReason::ToolUse), 9),
    );
    play(&mut conversation, &events(2, &result("c1", "text"), 1));
    play(&mut conversation, &[turn_events(TicketOutcome::Cancelled).1]);
    assert_eq!(
        told(&conversation),
        ["c1 read 1 done text Some(12)", "c2 grep 1 dropped", "end Stopped (9, 30) None"]
    );
}

#[test]
fn a_failed_response_stays_with_its_error_said_once() {
    let failed = said(vec![text("I wan"), call("c1", "read")], StopReason::Error);
    let mut conversation = Conversation::new();
    play(&mut conversation, &events(1, &failed, 3));
    let shown = ["reply I wan", "c1 read 1 dropped", "Error The server is gone."];
    assert_eq!(told(&conversation), shown);
    let outcome = TicketOutcome::Failed { error: "The server is gone.".to_owned() };
    play(&mut conversation, &[turn_events(outcome).1]);
    assert_eq!(told(&conversation)[2..], [r#"end Failed("The server is gone.") (9, 30) None"#]);
    let outcome = TicketOutcome::Failed { error: "Another reason.".to_owned() };
    play(&mut conversation, &events(2, &failed, 3));
    play(&mut conversation, &[turn_events(outcome).1]);
    assert_eq!(conversation.len(), 7);
    // What was aborted needs no error: the end line says it.
    let mut conversation = Conversation::new();
    play(&mut conversation, &events(1, &said(vec![text("I wan")], StopReason::Aborted), 3));
    assert_eq!(told(&conversation), ["reply I wan"]);
}

#[test]
fn a_late_listener_is_told_what_it_can_be() {
    let whole = events(1, &said(vec![text("One two three"), call("c1", "read")], StopReason::ToolUse), 4);
    for skipped in 0..whole.len() {
        let mut conversation = Conversation::new();
        play(&mut conversation, &whole[skipped..]);
        // What was not heard of in time comes last.
        let mut told = told(&conversation);
        told.sort_unstable_by_key(|item| std::cmp::Reverse(item.clone()));
        assert_eq!(told, ["reply One two three", "c1 read 1 queued"], "{skipped}");
    }
    let mut conversation = Conversation::new();
    play(&mut conversation, &[AgentEvent::PermissionResolved { ask: AskId(4) }]);
    play(&mut conversation, &[AgentEvent::ToolProgress { call: CallId::new("x"), delta: "a".to_owned() }]);
    assert!(conversation.is_empty());
    play(&mut conversation, &events(2, &result("x", "late"), 1));
    assert_eq!(told(&conversation), ["x read 0 done late Some(12)"]);
}

#[test]
fn an_id_that_is_used_again_means_the_newer_call() {
    let mut conversation = Conversation::new();
    for round in 0..2 {
        play(&mut conversation, &events(round * 2, &said(vec![call("c", "read")], StopReason::ToolUse), 9));
        play(&mut conversation, &events(round * 2 + 1, &result("c", &round.to_string()), 1));
    }
    assert_eq!(told(&conversation), ["c read 1 done 0 Some(12)", "c read 1 done 1 Some(12)"]);
}

#[test]
fn an_id_that_is_corrected_is_found() {
    let mut conversation = Conversation::new();
    let entry = |patch| AgentEvent::Entry { id: EntryId::new("e"), patch };
    play(
        &mut conversation,
        &[
            entry(EntryPatch::Open { index: 0, block: opened(&call("old", "")) }),
            entry(EntryPatch::Close { index: 0, block: call("new", "read"), usage: Usage::default() }),
        ],
    );
    play(&mut conversation, &events(2, &result("new", "text"), 1));
    assert_eq!(told(&conversation), ["new read 1 done text Some(12)"]);
}

#[test]
fn output_of_a_running_call_is_bounded_and_cut_at_a_line() {
    let mut conversation = Conversation::new();
    let id = CallId::new("c");
    play(
        &mut conversation,
        &[AgentEvent::ToolStarted {
            call: id.clone(),
            tool: "bash".to_owned(),
            arguments: Map::new(),
            limit_ms: None,
        }],
    );
    let line = "äöü line\n";
    let mut length = 0;
    for _ in 0..20_000 {
        length += line.len();
        conversation.apply(
            &AgentEvent::ToolProgress { call: id.clone(), delta: line.to_owned() },
            Instant::now(),
            (0, 0),
        );
    }
    let Body::Call(call) = &conversation.items[0].body else { panic!("call") };
    assert!(call.output.len() <= LIVE_OUTPUT && call.output.len() > LIVE_OUTPUT / 2);
    assert!(call.output.starts_with(line));
    assert_eq!(call.output_dropped as usize + call.output.len(), length);
    // A single line without end.
    let mut output = String::new();
    let cut = calls::append_bounded(&mut output, &"ä".repeat(LIVE_OUTPUT));
    assert!(output.len() <= LIVE_OUTPUT && cut as usize + output.len() == 2 * LIVE_OUTPUT);
}

/// A second copy of what tools print would be most of a long session's memory.
#[test]
fn what_the_session_keeps_is_held_and_not_copied() {
    let answer = said(vec![text("I look."), call("c1", "write")], StopReason::ToolUse);
    let given = |content| {
        Message::ToolResult(ToolResultMessage {
            tool_call_id: CallId::new("c1"),
            tool_name: "write".to_owned(),
            content,
            details: None,
            usage: None,
            is_error: false,
            duration_ms: Some(5),
            timestamp: 3,
        })
    };
    let result = given(vec![text("Much output.")]);
    let mut played = Conversation::new();
    let events = [events(1, &answer, 3), events(2, &result, 1)].concat();
    play(&mut played, &events);
    let mut loaded = Conversation::new();
    let (answer, result) = (Arc::new(answer), Arc::new(result));
    loaded.load([answer.clone(), result.clone()]);
    let finished = |which: usize| {
        let whole = events.iter().filter_map(|event| match event {
            AgentEvent::Entry { patch: EntryPatch::Finish(message), .. } => Some(message.clone()),
            _ => None,
        });
        whole.clone().nth(which).expect("told")
    };
    let kept = [(played, finished(0), finished(1)), (loaded, answer, result)];
    for (conversation, answer, result) in kept {
        assert_eq!(told(&conversation).last().unwrap(), "c1 write 1 done Much output. Some(5)");
        for item in conversation.items() {
            match &item.body {
                Body::Reply(Prose::Whole(block)) => assert!(Arc::ptr_eq(&block.message, &answer)),
                Body::Call(call) => {
                    let Arguments::Kept(block) = &call.arguments else { panic!("copied arguments") };
                    assert!(Arc::ptr_eq(&block.message, &answer));
                    let CallPhase::Done { result: Given::Kept(message), .. } = &call.phase else {
                        panic!("a copied result")
                    };
                    assert!(Arc::ptr_eq(message, &result));
                    assert!(call.output.is_empty() && call.draft.is_empty());
                }
                other => panic!("{other:?}"),
            }
        }
    }
    // Pictures must not be held for longer than the session wants them.
    let picture = Block::Image { data: "iVBOR".repeat(9000), mime_type: "image/png".to_owned() };
    let mut pictured = Conversation::new();
    pictured.load([
        Arc::new(said(vec![call("c1", "read")], StopReason::ToolUse)),
        Arc::new(given(vec![text("A picture:"), picture.clone()])),
    ]);
    play(&mut pictured, &self::events(3, &given(vec![text("A picture:"), picture]), 1));
    assert_eq!(pictured.len(), 1);
    assert!(!format!("{pictured:?}").contains("iVBOR"));
}

#[test]
fn commands_of_the_user_run_and_end() {
    let done = |command: &str| {
        Message::BashExecution(BashExecutionMessage {
            command: command.to_owned(),
            output: "out\n".to_owned(),
            exit_code: Some(0),
            cancelled: false,
            truncated: false,
            full_output_path: None,
            exclude_from_context: None,
            timestamp: 0,
        })
    };
    let mut conversation = Conversation::new();
    let index = conversation.begin_shell("ls", false, Instant::now());
    conversation.shell_output(index, "ou");
    assert_eq!(copy::text(&conversation.items[index]), "$ ls\nou");
    play(&mut conversation, &events(1, &done("ls"), 1));
    play(&mut conversation, &events(2, &done("pwd"), 1));
    assert_eq!(told(&conversation), [r#"shell Some("out\n")"#, r#"shell Some("out\n")"#]);
}

#[test]
fn a_message_of_a_program_is_shown_if_it_says_so() {
    let custom = |display| {
        Message::Custom(CustomMessage {
            custom_type: "mynah.mail".to_owned(),
            content: vec![text("hello")],
            display,
            details: None,
            timestamp: 0,
        })
    };
    let mut conversation = Conversation::new();
    conversation.load([Arc::new(custom(true)), Arc::new(custom(false))]);
    assert_eq!(told(&conversation), ["mail: hello"]);
}

#[test]
fn what_is_copied_is_the_last_code_or_the_text() {
    let mut conversation = Conversation::new();
    assert_eq!((conversation.last_code(), conversation.last_blocks()), (None, None));
    let code = "So:\n\n```rust\nlet a = 1;\n```\n\nand\n\n```sh\nls\n```\n\nDone.";
    conversation.load([Arc::new(said(vec![text("Before"), text(code), text(" \n")], StopReason::Stop))]);
    assert_eq!(conversation.last_reply(), Some(code));
    assert_eq!(conversation.last_code(), Some((1, 1, "ls".to_owned())));
    conversation.load([Arc::new(said(vec![text("Plain.\n\n```\nopen")], StopReason::Stop))]);
    assert_eq!(conversation.last_code(), None, "of the newest one, and only what is closed");
    conversation.load([Arc::new(said(vec![text("Nothing of that kind.")], StopReason::Stop))]);
    let (item, blocks) = conversation.last_blocks().expect("of an earlier one");
    assert_eq!((item, blocks.len(), blocks[0].text.as_str()), (3, 1, "open"));
}

#[test]
fn revisions_never_come_back() {
    let mut conversation = Conversation::new();
    conversation.notice(NoticeLevel::Info, "one");
    conversation.toggle(0, false);
    assert_eq!(conversation.items[0].fold, Fold::Open);
    let (before, generation) = (conversation.items[0].revision, conversation.generation());
    conversation.clear();
    conversation.notice(NoticeLevel::Info, "two");
    assert!(conversation.items[0].revision > before && conversation.generation() > generation);
}

/// A history that an agent can have: calls are answered before the next message, all or the first of them.
fn history() -> impl Strategy<Value = Vec<Message>> {
    let block = prop_oneof![
        "[a-zä `\n]{0,20}".prop_map(|words| text(&words)),
        "[a-z]{0,9}".prop_map(|words| thinking(&words)),
        Just(call("", "read")),
    ];
    let answer = (prop::collection::vec(block, 0..5), 0_usize..4, 0..5_u8);
    let round = prop_oneof![
        "[a-z]{1,5}".prop_map(|words| (Some(words), None)),
        answer.prop_map(|said| (None, Some(said)))
    ];
    prop::collection::vec(round, 0..6).prop_map(|rounds| {
        let mut messages = Vec::new();
        let mut calls = 0;
        for round in rounds {
            let (mut content, answered, end) = match round {
                (Some(words), _) => {
                    messages.push(user(&words));
                    continue;
                }
                (None, Some(said)) => said,
                (None, None) => continue,
            };
            let mut ids = Vec::new();
            for block in &mut content {
                if let Block::ToolCall(call) = block {
                    calls += 1;
                    call.id = CallId::new(format!("c{calls}"));
                    ids.push(format!("c{calls}"));
                }
            }
            let stop_reason = match end {
                0 => StopReason::Error,
                1 => StopReason::Aborted,
                _ => StopReason::Stop,
            };
            messages.push(said(content, stop_reason));
            if end > 1 {
                messages.extend(ids.iter().take(answered).map(|id| result(id, "given")));
            }
        }
        messages
    })
}

proptest! {
    #[test]
    fn loading_is_playing_in_any_pieces(messages in history(), pieces in prop::collection::vec(1_usize..7, 1..4)) {
        let mut loaded = Conversation::new();
        loaded.load(messages.iter().cloned().map(Arc::new));
        for piece in pieces {
            let mut played = Conversation::new();
            for (id, message) in messages.iter().enumerate() {
                // A turn that was stopped leaves calls unanswered.
                if matches!(message, Message::User(_) | Message::Assistant(_)) {
                    played.drop_unanswered();
                }
                play(&mut played, &events(id, message, piece));
            }
            played.drop_unanswered();
            prop_assert_eq!(told(&played), told(&loaded));
            prop_assert_eq!(played.prompts(), loaded.prompts());
        }
    }

    #[test]
    fn every_change_raises_a_revision(messages in history(), piece in 1_usize..5) {
        let mut conversation = Conversation::new();
        for (id, message) in messages.iter().enumerate() {
            for event in events(id, message, piece) {
                let before: Vec<u64> = conversation.items.iter().map(|item| item.revision).collect();
                let shown = told(&conversation);
                let changed = conversation.apply(&event, Instant::now(), (0, 0));
                let after: Vec<u64> = conversation.items.iter().map(|item| item.revision).collect();
                let now_shown = told(&conversation);
                for (index, text) in now_shown.iter().enumerate() {
                    if shown.get(index).is_some_and(|old| old != text) {
                        prop_assert!(after[index] > before[index]);
                    }
                }
                prop_assert!(changed || shown == now_shown, "{:?}", event);
            }
        }
        let mut revisions: Vec<u64> = conversation.items.iter().map(|item| item.revision).collect();
        revisions.sort_unstable();
        revisions.dedup();
        prop_assert_eq!(revisions.len(), conversation.len());
    }
}

/// The call that started a job tells how that ended, whichever way the end becomes known, live and from a log.
#[test]
fn a_call_that_started_a_job_tells_its_end() {
    use crate::proto::job::{JOB_MESSAGE, JobEnd, JobEnding, JobReport, details_of};
    let report = |name: &str, code| JobReport {
        id: crate::proto::ids::JobId::new(name),
        title: name.to_owned(),
        command: "make".to_owned(),
        end: JobEnd { how: JobEnding::Exited(code), took_ms: 5, lost_bytes: 0 },
        last_lines: String::new(),
        log: "/log.0".into(),
    };
    let answered = |id: &str, tool: &str, details| {
        let Message::ToolResult(whole) = result(id, "Done.") else { unreachable!() };
        Message::ToolResult(ToolResultMessage { tool_name: tool.to_owned(), details: Some(details), ..whole })
    };
    let told = Message::Custom(CustomMessage {
        custom_type: JOB_MESSAGE.to_owned(),
        content: vec![text("Ended.")],
        display: true,
        details: Some(details_of(&[report("build", 2), report("unknown", 3)])),
        timestamp: 0,
    });
    let starts = ["shell_job_start", "bash", "shell_job_start", "read"];
    let calls = starts.iter().enumerate().map(|(at, tool)| call(&at.to_string(), tool)).collect();
    let history = [
        said(calls, StopReason::ToolUse),
        answered("0", "shell_job_start", json!({"job": "build"})),
        answered("1", "bash", json!({"job": "sent"})),
        answered("2", "shell_job_start", json!({"job": "runs"})),
        answered("3", "read", json!({"job": "build"})),
        told,
        said(vec![call("4", "shell_job")], StopReason::ToolUse),
        // The agent asked for this end.
        answered("4", "shell_job", details_of(&[report("sent", 0)])),
    ];
    let codes = |conversation: &Conversation| -> Vec<Option<JobEnding>> {
        let calls = conversation.items().iter().filter_map(|item| match &item.body {
            Body::Call(call) => Some(call.job_end.as_ref().map(|end| end.how.clone())),
            _ => None,
        });
        calls.collect()
    };
    let expected = [Some(JobEnding::Exited(2)), Some(JobEnding::Exited(0)), None, None, None];
    let mut loaded = Conversation::new();
    loaded.load(history.iter().cloned().map(Arc::new));
    assert_eq!(codes(&loaded), expected);
    let mut live = Conversation::new();
    for (at, message) in history.iter().enumerate() {
        for event in events(at, message, 3) {
            live.apply(&event, Instant::now(), (0, 0));
        }
    }
    assert_eq!(codes(&live), expected);
}
