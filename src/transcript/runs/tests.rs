use super::*;
use crate::proto::chain::{Chain, Step, StepState};
use crate::proto::command::TicketOutcome;
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{CallId, EntryId, TicketId, TurnId};
use crate::proto::message::{AssistantMessage, Block, Message, StopReason, ToolCall, UserMessage};
use crate::proto::tool::ToolOutput;
use crate::proto::usage::Usage;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// An agent that tells, and the plan that follows.
struct Told {
    conversation: Conversation,
    runs: Runs,
    now: Instant,
    entries: usize,
    calls: usize,
}

impl Told {
    fn new() -> Self {
        let (conversation, runs) = Default::default();
        Self { conversation, runs, now: Instant::now(), entries: 0, calls: 0 }
    }

    fn running() -> Self {
        let mut told = Self::new();
        told.event(AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) });
        told
    }

    fn event(&mut self, event: AgentEvent) {
        self.conversation.apply(&event, self.now, (15, 7));
    }

    fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
    }

    fn user(&mut self) {
        let message = UserMessage { content: vec![Block::text("go on")], timestamp: 0 };
        self.entry(Message::User(message));
    }

    fn entry(&mut self, message: Message) {
        self.entries += 1;
        let id = EntryId::new(format!("e{}", self.entries));
        self.event(AgentEvent::Entry { id, patch: EntryPatch::Finish(Arc::new(message)) });
    }

    fn says(&mut self, content: Vec<Block>) {
        let usage =
            Usage { input: 1_000, cache_read: 2_000, cache_write: 500, output: 70, ..Usage::default() };
        let message = AssistantMessage { usage, ..said(content) };
        self.entry(Message::Assistant(message));
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Block {
        self.calls += 1;
        let arguments = match arguments {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Block::ToolCall(ToolCall {
            id: CallId::new(format!("c{}", self.calls)),
            name: tool.to_owned(),
            arguments,
            thought_signature: None,
            malformed: None,
        })
    }

    /// Calls of one reply.
    fn calls(&mut self, calls: &[(&str, Value)]) {
        let content = calls.iter().map(|(tool, arguments)| self.call(tool, arguments.clone())).collect();
        self.says(content);
    }

    /// The last call ends.
    fn ends(&mut self, is_error: bool) {
        let output = ToolOutput { is_error, ..ToolOutput::text("") };
        self.event(AgentEvent::ToolFinished {
            call: CallId::new(format!("c{}", self.calls)),
            tool: String::new(),
            output: Arc::new(output),
            duration_ms: Some(1),
        });
    }

    fn steps(&mut self, steps: &[(&str, StepState)]) {
        let step = |(text, state): &(&str, StepState)| Step {
            text: (*text).to_owned(),
            state: *state,
            ..Step::default()
        };
        let chain = Chain { location: Some("src".to_owned()), steps: steps.iter().map(step).collect() };
        self.event(AgentEvent::ToolSteps {
            call: CallId::new(format!("c{}", self.calls)),
            chain: Arc::new(chain),
        });
    }

    fn notice(&mut self, level: NoticeLevel) {
        self.event(AgentEvent::Notice { level, text: "by the way".to_owned() });
    }

    fn finished(&mut self) {
        self.event(AgentEvent::TurnFinished {
            turn: TurnId(1),
            ticket: TicketId(1),
            outcome: TicketOutcome::Completed,
        });
    }

    fn update(&mut self) {
        let touched = self.conversation.take_touched();
        self.runs.update(self.conversation.items(), touched);
    }

    fn spans(&mut self) -> Vec<(usize, usize)> {
        self.update();
        spans(&self.runs)
    }

    fn facts(&mut self, item: usize) -> Arc<Facts> {
        self.update();
        let span = self.runs.at(item).expect("a run");
        self.runs.facts(span, &self.conversation).1
    }
}

fn said(content: Vec<Block>) -> AssistantMessage {
    AssistantMessage {
        content,
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        response_model: None,
        usage: Usage::default(),
        stop_reason: StopReason::ToolUse,
        error_message: None,
        timestamp: 0,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: None,
        thinking_level: None,
    }
}

fn spans(runs: &Runs) -> Vec<(usize, usize)> {
    let mut spans: Vec<_> =
        (0..runs.len()).filter_map(|item| runs.at(item)).map(|span| (span.first, span.last)).collect();
    spans.dedup();
    spans
}

fn thinking(text: &str) -> Block {
    Block::Thinking { thinking: text.to_owned(), thinking_signature: None, redacted: false }
}

fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": command }))
}

#[test]
fn what_is_said_splits_and_what_is_told_does_not() {
    let mut told = Told::running();
    told.calls(&[bash("ls"), bash("ls")]);
    told.notice(NoticeLevel::Info);
    told.calls(&[bash("ls")]);
    told.says(vec![Block::text(" \n")]);
    told.says(vec![thinking("hm"), bash_block(&mut told_call())]);
    assert_eq!(told.spans(), [(0, 6)]);
    // Thinking belongs above the words that it led to, the calls below them.
    let call = told.call("bash", json!({}));
    told.says(vec![thinking("so"), Block::text("Found it."), call]);
    assert_eq!(told.spans(), [(0, 7), (9, 9)]);
    told.user();
    told.calls(&[bash("ls")]);
    assert_eq!(told.spans(), [(0, 7), (9, 9), (11, 11)]);
    told.notice(NoticeLevel::Error);
    told.calls(&[bash("ls")]);
    told.finished();
    assert_eq!(told.spans(), [(0, 7), (9, 9), (11, 11), (13, 13)]);
}

fn told_call() -> Told {
    let mut told = Told::new();
    told.calls = 900;
    told
}

fn bash_block(told: &mut Told) -> Block {
    told.call("bash", json!({}))
}

#[test]
fn calls_hang_under_the_reply_that_made_them() {
    let mut told = Told::running();
    let call = told.call("read", json!({}));
    told.says(vec![Block::text("Let me see."), call]);
    assert!(told.facts(1).is_hung);
    told.user();
    told.calls(&[bash("ls")]);
    assert!(!told.facts(3).is_hung);
    told.says(vec![Block::text("So.")]);
    told.notice(NoticeLevel::Info);
    told.calls(&[bash("ls")]);
    // Something stands between.
    assert!(!told.facts(6).is_hung);
}

#[test]
fn words_of_all_kinds() {
    let path = |path: &str| json!({ "path": path });
    let mcp = |name: &'static str| (name, json!({}));
    let table: Vec<(Vec<(&str, Value)>, &str)> = vec![
        (vec![("read", path("a"))], "Read 1 file"),
        (vec![("read", path("a")), bash("x"), ("read", path("b"))], "Read 2 files, ran 1 command"),
        (vec![("edit", path("src/lexer.rs")), ("edit", path("src/lexer.rs"))], "Edited lexer.rs"),
        (vec![("edit", path("a/lexer.rs")), ("edit", path("b/lexer.rs"))], "Edited 2 files"),
        (vec![("write", path("main.md"))], "Wrote main.md"),
        (vec![("write", json!({}))], "Wrote 1 file"),
        (vec![bash("a"), bash("b")], "Ran 2 commands"),
        (
            vec![("grep", json!({})), ("find", json!({})), ("ls", json!({}))],
            "Searched for 2 patterns, listed 1 folder",
        ),
        (
            vec![mcp("shell_job_start"), mcp("shell_job")],
            "Started 1 background job, checked 1 background job",
        ),
        (vec![mcp("subagent"), mcp("message"), mcp("message")], "Started 1 subagent, messaged 2 subagents"),
        (
            vec![mcp("agent_send"), mcp("web_search"), mcp("fetch_content")],
            "Sent 1 message, searched the web 1 time, fetched 1 page",
        ),
        (
            vec![mcp("codemode"), mcp("artifact_publish"), mcp("artifact_publish")],
            "Ran 1 script, published 2 pages",
        ),
        (
            vec![mcp("artifact_ask"), mcp("artifact_check"), mcp("artifact_find")],
            "Asked 1 form, checked 1 page, searched artifacts 1 time",
        ),
        (vec![mcp("artifact_feedback")], "Read the inbox 1 time"),
        (vec![mcp("usage")], "Called usage"),
        (vec![mcp("mcp__stats__usage"), mcp("usage")], "Called usage 2 times"),
        (vec![mcp("a"), mcp("b")], "Used 2 tools"),
        (vec![mcp("a_name_of_more_than_twenty")], "Used 1 tool"),
        (vec![mcp("a"), ("read", path("a")), mcp("b")], "Used 2 other tools, read 1 file"),
        (vec![mcp("mcp__files__read")], "Read 1 file"),
    ];
    for (calls, expected) in table {
        let mut told = Told::running();
        told.calls(&calls);
        assert_eq!(told.facts(0).words(), expected);
    }
}

#[test]
fn what_failed_is_named_or_counted() {
    let mut told = Told::running();
    told.calls(&[bash("ls node_modules")]);
    told.ends(true);
    assert_eq!(told.facts(0).failure.as_ref().map(Failure::words).as_deref(), Some("ls node_modules failed"));
    told.calls(&[("edit", json!({ "path": "src/a.rs" }))]);
    told.ends(true);
    assert_eq!(told.facts(0).failure.as_ref().map(Failure::words).as_deref(), Some("2 failed"));
    let named = |tool: &str, arguments: Value| {
        let mut told = Told::running();
        told.calls(&[(tool, arguments)]);
        told.ends(true);
        told.facts(0).failure.as_ref().map(Failure::words).unwrap_or_default()
    };
    assert_eq!(named("edit", json!({ "path": "src/a.rs" })), "edit a.rs failed");
    assert_eq!(named("mcp__x__usage", json!({})), "usage failed");
    let long = named("bash", json!({ "command": "x".repeat(80) }));
    assert_eq!(long, format!("{}… failed", "x".repeat(31)));
    assert_eq!(named("bash", json!({ "command": "a\u{1b}[31m b\nsecond" })), "a b failed");
}

#[test]
fn each_step_of_a_command_counts_and_the_one_that_failed_is_named() {
    let mut told = Told::running();
    told.calls(&[bash("cd src && cargo fmt && cargo test")]);
    told.steps(&[("cargo fmt", StepState::Ok), ("cargo test", StepState::Failed)]);
    told.ends(true);
    let facts = told.facts(0);
    assert_eq!((facts.words().as_str(), facts.calls, facts.rows), ("Ran 2 commands", 2, 1));
    assert_eq!(facts.failure, Some(Failure::One("cargo test".to_owned())));
}

#[test]
fn tokens_of_each_reply_count_once_and_time_goes_to_the_last_end() {
    let mut told = Told::running();
    told.calls(&[bash("a"), bash("b")]);
    told.wait(2_000);
    told.ends(false);
    told.calls(&[bash("c")]);
    told.wait(3_000);
    told.ends(false);
    told.wait(9_000);
    let live = told.facts(0);
    assert_eq!((live.sent, live.received), (7_000, 140));
    assert!(matches!(live.time, Some(Reckoned::Since(_))));
    told.says(vec![Block::text("Done.")]);
    let facts = told.facts(0);
    assert!(!facts.is_live);
    assert_eq!(facts.time, Some(Reckoned::Took(Duration::from_secs(5))));
    // Thinking of the reply itself is no part of the replies that made the calls.
    assert_eq!((facts.sent, facts.received), (7_000, 140));
}

#[test]
fn words_stay_when_the_run_ends() {
    let mut told = Told::running();
    told.calls(&[("read", json!({ "path": "a" })), bash("b")]);
    told.event(AgentEvent::ToolStarted {
        call: CallId::new("c2"),
        tool: "bash".to_owned(),
        arguments: Map::new(),
        limit_ms: None,
    });
    let live = told.facts(0);
    assert_eq!((live.is_live, live.doing), (true, Doing::Running));
    told.ends(false);
    told.says(vec![Block::text("Done.")]);
    told.finished();
    let settled = told.facts(0);
    assert!(!settled.is_live);
    assert_eq!(live.words(), settled.words());
}

#[test]
fn a_wait_is_not_told_and_thoughts_are() {
    let mut told = Told::running();
    let id = EntryId::new("live");
    let patch = |patch| AgentEvent::Entry { id: id.clone(), patch };
    told.event(patch(EntryPatch::Start(Arc::new(Message::Assistant(said(Vec::new()))))));
    told.event(patch(EntryPatch::Open { index: 0, block: thinking("") }));
    let facts = told.facts(0);
    assert!(!facts.is_told() && facts.is_live);
    assert_eq!(facts.doing, Doing::Waiting);
    told.event(patch(EntryPatch::Append { index: 0, delta: "hm, well".to_owned(), usage: Usage::default() }));
    let facts = told.facts(0);
    assert!(facts.is_told() && facts.is_thinking());
    assert_eq!((facts.doing, facts.received), (Doing::Thinking, 2));
    told.event(patch(EntryPatch::Open { index: 1, block: Block::text("") }));
    told.event(patch(EntryPatch::Append { index: 1, delta: " ".to_owned(), usage: Usage::default() }));
    assert_eq!(told.spans(), [(0, 0)]);
    assert!(told.facts(0).is_live);
    told.event(patch(EntryPatch::Append { index: 1, delta: "So".to_owned(), usage: Usage::default() }));
    assert!(!told.facts(0).is_live);
}

#[derive(Clone, Debug)]
enum Step_ {
    User,
    Says(bool),
    Calls(usize),
    Think(bool),
    Notice(bool),
    Ends,
    /// A reply of blanks that may become words.
    Live,
    LiveWords,
    Plan,
}

fn step() -> impl Strategy<Value = Step_> {
    prop_oneof![
        1 => Just(Step_::User),
        2 => any::<bool>().prop_map(Step_::Says),
        4 => (1_usize..4).prop_map(Step_::Calls),
        2 => any::<bool>().prop_map(Step_::Think),
        2 => any::<bool>().prop_map(Step_::Notice),
        2 => Just(Step_::Ends),
        2 => Just(Step_::Live),
        2 => Just(Step_::LiveWords),
        4 => Just(Step_::Plan),
    ]
}

proptest! {
    #[test]
    fn the_plan_is_the_one_made_from_nothing(steps in prop::collection::vec(step(), 0..40)) {
        let mut told = Told::running();
        let mut lives = 0;
        for step in steps {
            match step {
                Step_::User => told.user(),
                Step_::Says(is_blank) => told.says(vec![Block::text(if is_blank { "\n" } else { "words" })]),
                Step_::Calls(count) => told.calls(&vec![bash("x"); count]),
                Step_::Think(is_blank) => told.says(vec![thinking(if is_blank { "" } else { "hm" })]),
                Step_::Notice(is_error) => {
                    told.notice(if is_error { NoticeLevel::Error } else { NoticeLevel::Info });
                }
                Step_::Ends => told.ends(told.calls.is_multiple_of(3)),
                Step_::Live => {
                    lives += 1;
                    let id = EntryId::new(format!("live{lives}"));
                    let patch = EntryPatch::Open { index: 0, block: Block::text("\n") };
                    told.event(AgentEvent::Entry { id, patch });
                }
                Step_::LiveWords => {
                    // Also of one that is long above: what comes late splits a run in two.
                    for live in 1..=lives {
                        let id = EntryId::new(format!("live{live}"));
                        let delta = "w".to_owned();
                        let patch = EntryPatch::Append { index: 0, delta, usage: Usage::default() };
                        told.event(AgentEvent::Entry { id, patch });
                    }
                }
                Step_::Plan => {
                    told.update();
                    let mut fresh = Runs::default();
                    fresh.update(told.conversation.items(), []);
                    prop_assert_eq!(spans(&told.runs), spans(&fresh));
                    for (first, _) in spans(&fresh) {
                        let span = fresh.at(first).unwrap();
                        let kept = told.runs.facts(span, &told.conversation).1;
                        prop_assert_eq!(kept, fresh.facts(span, &told.conversation).1);
                    }
                }
            }
        }
    }
}

#[test]
fn a_run_that_goes_on_is_not_looked_through_again() {
    const CALLS: usize = 10_000;
    let mut told = Told::running();
    for _ in 0..CALLS {
        told.calls(&[("edit", json!({ "path": "a" }))]);
        told.ends(false);
    }
    told.facts(0);
    let end = |told: &Told| told.runs.settled.get(&0).map_or(0, Settled::end);
    assert_eq!(end(&told), CALLS);
    told.calls(&[bash("x")]);
    told.update();
    // What runs now is the only one that is left to look at.
    assert_eq!(end(&told), CALLS);
    assert_eq!(told.facts(0).words(), "Edited a, ran 1 command");
    told.ends(true);
    assert_eq!(told.facts(0).words(), "Edited a, ran 1 command");
    assert_eq!((told.facts(0).failure.clone(), end(&told)), (Some(Failure::One("x".into())), CALLS + 1));
    // One of those that are over may change all the same.
    told.event(AgentEvent::ToolSteps {
        call: CallId::new("c1"),
        chain: Arc::new(Chain { location: None, steps: vec![Step::default(), Step::default()] }),
    });
    assert_eq!(told.facts(0).calls, CALLS as u64 + 2);
    told.finished();
    told.facts(0);
    assert!(told.runs.settled.is_empty());
}

#[test]
fn a_change_looks_at_its_run_alone() {
    // Of a hundred thousand items a change may touch those around it; how many is seen by what is planned anew.
    let mut told = Told::running();
    for _ in 0..300 {
        told.says(vec![Block::text("words")]);
        told.calls(&[bash("x"), bash("y")]);
    }
    told.update();
    let (stamp, _) = told.runs.facts(Span { first: 1, last: 2 }, &told.conversation);
    told.calls(&[bash("z")]);
    told.ends(true);
    told.update();
    assert_eq!(told.runs.facts(Span { first: 1, last: 2 }, &told.conversation).0, stamp);
    assert_eq!(told.runs.runs.values().filter(|run| run.is_stale).count(), 300 - 1);
}
