use super::*;
mod ended;
mod preview;
mod shell;
mod view;

use crate::agent::context::SystemPrompt;
use crate::agent::driver::Workshop;
use crate::agent::outbox::Listener;
use crate::agent::permission::Rules;
use crate::jobs::Jobs;
use crate::jobs::table::testing::jobs_in;
use crate::llm::BoxFuture;
use crate::llm::error::ErrorClass;
use crate::llm::error::LlmError;
use crate::llm::retry::RetryPolicy;
use crate::llm::{Model, Provider};
use crate::proto::ask::Subject;
use crate::proto::ask::{PermissionAnswer, PermissionMode};
use crate::proto::command::Placement;
use crate::proto::command::QueueCommand;
use crate::proto::entry::EntryPatch;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::SessionId;
use crate::proto::message::Message;
use crate::proto::message::{StopReason, text_of};
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::proto::tool::{self, ToolOutput, ToolSpec};
use crate::proto::usage::{Counts, Usage};
use crate::store::line::Header;
use crate::store::log::Log;
use crate::testkit::provider::{PlayedProvider, Response, test_model};
use crate::tools::Tools;
use crate::tools::{Arguments, FileLocks, Tool, ToolCx, ToolLimits};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

struct World {
    provider: PlayedProvider,
    folder: tempfile::TempDir,
}

/// Knows one model.
struct OneModel(PlayedProvider);

impl ModelSource for OneModel {
    fn resolve(&self, reference: &ModelRef) -> Result<(Arc<Model>, Arc<dyn Provider>), LlmError> {
        assert!(reference.id != "bug", "a bug in the session");
        if reference.id == "other" {
            let model = Model { reference: reference.clone(), reasoning: false, ..test_model() };
            return Ok((Arc::new(model), Arc::new(self.0.clone())));
        }
        Err(LlmError {
            class: ErrorClass::UnknownModel,
            message: format!("There is no model {reference}."),
            retry_after: None,
            status: None,
            complains_of_input: false,
        })
    }
}

/// Waits for its cancel, then says so; with `{"deaf": true}` it never ends; with `{"panic": true}` it has a bug.
struct Wait(ToolSpec);

impl Tool for Wait {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn summary(&self) -> &str {
        "waits"
    }

    fn is_mutating(&self, _arguments: &Arguments) -> bool {
        false
    }

    fn subjects(&self, _arguments: &Arguments, cwd: &Path) -> Vec<Subject> {
        vec![Subject::Read(cwd.to_owned())]
    }

    fn headline(&self, _arguments: &Arguments) -> String {
        "wait".to_owned()
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        Box::pin(async move {
            assert!(!arguments.contains_key("panic"), "a bug in a tool");
            if arguments.contains_key("deaf") {
                std::future::pending::<()>().await;
            }
            cx.progress.send("waiting".to_owned());
            cx.cancel.cancelled().await;
            ToolOutput::text("cancelled in time")
        })
    }
}

impl World {
    fn new(responses: impl IntoIterator<Item = Response>) -> Self {
        Self { provider: PlayedProvider::new(responses), folder: tempfile::tempdir().expect("folder") }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn parts(&self, log: Log) -> SessionParts {
        let model = Arc::new(test_model());
        let spec = ToolSpec {
            name: "wait".to_owned(),
            description: "waits".to_owned(),
            parameters: json!({"type": "object", "properties": {
                "deaf": {"type": "boolean"}, "panic": {"type": "boolean"},
            }}),
        };
        SessionParts {
            log,
            history: Vec::new(),
            declared: None,
            logged: Logged::default(),
            name: None,
            usage: Usage::default(),
            counts: Counts::default(),
            model,
            provider: Arc::new(self.provider.clone()),
            models: Arc::new(OneModel(self.provider.clone())),
            thinking: ThinkingLevel::Off,
            mode: PermissionMode::Yolo,
            rules: Rules::default(),
            save_grant: Arc::new(|_| Ok(())),
            interactive: true,
            tools: Tools::builtin().with(Arc::new(Wait(spec))),
            system: SystemPrompt { sections: vec![("preamble", "Be useful.".to_owned())] },
            workshop: Workshop {
                cwd: self.project(),
                jobs: Jobs::new(),
                table: jobs_in(&self.project()).0,
                output_dir: self.project().join("output"),
                limits: ToolLimits {
                    bash_timeout: Some(Duration::from_secs(60)),
                    shell_path: None,
                    shell_prefix: None,
                    secret_env: Vec::new(),
                    resize_images: true,
                },
                files: Arc::new(FileLocks::default()),
            },
            folders: Folders {
                project_root: self.project(),
                home: self.project(),
                config: self.project().join("config"),
            },
            retry: RetryPolicy { base: Duration::ZERO, ..RetryPolicy::default() },
            max_rounds: 0,
        }
    }

    fn start(&self) -> AgentHandle {
        begin(self.parts(Log::in_memory(self.header())))
    }

    fn header(&self) -> Header {
        Header::new(SessionId::fresh(), self.project(), jiff::Timestamp::now())
    }

    /// What the last request told the model, one line a message.
    fn last_request(&self) -> Vec<String> {
        self.provider
            .requests()
            .last()
            .expect("a request")
            .messages
            .iter()
            .map(|message| brief(message))
            .collect()
    }
}

fn brief(message: &Message) -> String {
    match message {
        Message::User(user) => format!("user: {}", text_of(&user.content)),
        Message::Assistant(assistant) => {
            let calls: Vec<&str> = assistant.tool_calls().map(|call| call.name.as_str()).collect();
            format!("assistant: {}{}", assistant.text(), calls.join(","))
        }
        Message::ToolResult(result) => format!("result: {}", text_of(&result.content)),
        Message::BashExecution(run) => format!("shell: {}", run.command),
        _ => "other".to_owned(),
    }
}

fn submit(handle: &AgentHandle, text: &str) -> super::super::handle::Ticket {
    handle.submit(Prompt::text(text), Placement::Back)
}

/// Reads events until one fits.
async fn until(events: &mut Listener, fits: impl Fn(&AgentEvent) -> bool) -> AgentEvent {
    loop {
        let event = events.next().await.expect("the session is alive").event;
        if fits(&event) {
            return event;
        }
    }
}

fn started(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::ToolStarted { .. })
}

/// Starts a session without background jobs.
fn begin(parts: SessionParts) -> AgentHandle {
    start(parts, mpsc::unbounded_channel().1)
}

#[tokio::test]
async fn a_prompt_is_answered_and_stands_in_the_log_before_it_is_accepted() {
    let world = World::new([Response::says("hello")]);
    let path = world.project().join("session.jsonl");
    let log = Log::create(path.clone(), world.header()).expect("log");
    let handle = begin(world.parts(log));
    let mut ticket = submit(&handle, "hi there");
    ticket.accepted().await.expect("saved");
    assert!(std::fs::read_to_string(&path).expect("file").contains("hi there"));
    assert_eq!(ticket.outcome().await, TicketOutcome::Completed);
    handle.barrier().await.expect("saved");
    handle.shutdown(Duration::from_secs(5)).await.expect("saved");

    let (_log, opened) = Log::open(&path).expect("opens");
    let context = opened.tree.context();
    let said: Vec<String> = context.messages.iter().map(|(_, message)| brief(message)).collect();
    assert_eq!(said, ["user: hi there", "assistant: hello"]);
    assert_eq!(context.model, Some(ModelRef::new("test", "model")));
    assert_eq!(context.thinking, Some(ThinkingLevel::Off));
    let system = context.system.expect("the prompt is declared");
    assert_eq!(system.sections["preamble"], "Be useful.");
    assert!(system.tools_added.iter().any(|tool| tool.name == "bash"));
}

#[tokio::test]
async fn a_continued_session_declares_nothing_twice() {
    let world = World::new([]);
    let path = world.project().join("session.jsonl");
    let log = Log::create(path.clone(), world.header()).expect("log");
    let handle = begin(world.parts(log));
    submit(&handle, "one").outcome().await;
    handle.shutdown(Duration::from_secs(5)).await.expect("saved");
    let lines = std::fs::read_to_string(&path).expect("file").lines().count();

    let (log, opened) = Log::open(&path).expect("opens");
    let context = opened.tree.context();
    let handle = begin(SessionParts {
        history: context.messages.into_iter().map(|(_, message)| message).collect(),
        declared: context.system,
        logged: Logged { model: context.model, thinking: context.thinking, name: context.name },
        ..world.parts(log)
    });
    submit(&handle, "two").outcome().await;
    handle.shutdown(Duration::from_secs(5)).await.expect("saved");
    assert_eq!(world.last_request(), ["user: one", "assistant: done", "user: two"]);
    let all = std::fs::read_to_string(&path).expect("file");
    let added: Vec<&str> = all.lines().skip(lines).collect();
    assert_eq!(added.len(), 2, "a user and an assistant message: {added:?}");
}

#[tokio::test]
async fn events_tell_a_turn_in_order() {
    let world = World::new([Response::calls(&[("c1", "ls", json!({}))]), Response::says("that is all")]);
    let handle = world.start();
    let mut events = handle.events();
    submit(&handle, "look").outcome().await;
    let mut told = Vec::new();
    loop {
        let event = events.next().await.expect("alive").event;
        told.push(match &event {
            AgentEvent::TurnStarted { .. } => "turn",
            AgentEvent::RoundStarted { .. } => "round",
            AgentEvent::Entry { patch: EntryPatch::Start(message), .. } => match **message {
                Message::System(_) => "system",
                Message::User(_) => "user",
                Message::Assistant(_) => "assistant",
                _ => "result",
            },
            AgentEvent::Entry { patch: EntryPatch::Finish(_), .. } => "whole",
            AgentEvent::Entry { .. } | AgentEvent::QueueChanged { .. } => continue,
            AgentEvent::ToolStarted { .. } => "tool",
            AgentEvent::ToolFinished { .. } => "tool end",
            AgentEvent::RoundFinished { .. } => "round end",
            AgentEvent::TurnFinished { .. } => "turn end",
            AgentEvent::Settled { .. } => break,
            other => panic!("unexpected {other:?}"),
        });
    }
    assert_eq!(
        told,
        [
            "turn",
            "system",
            "whole",
            "user",
            "whole",
            "round",
            "assistant",
            "whole",
            "tool",
            "tool end",
            "result",
            "whole",
            "round end",
            "round",
            "assistant",
            "whole",
            "round end",
            "turn end",
        ]
    );
}

#[tokio::test]
async fn a_word_to_the_running_turn_is_delivered_after_the_batch() {
    let (first, gate) = Response::calls(&[("c1", "ls", json!({}))]).gated();
    let world = World::new([first, Response::says("understood")]);
    let handle = world.start();
    let turn = submit(&handle, "look");
    gate.reached().await;
    let word = handle.steer(Prompt::text("only at the sources"));
    gate.open();
    assert_eq!(word.outcome().await, TicketOutcome::Delivered);
    assert_eq!(turn.outcome().await, TicketOutcome::Completed);
    let request = world.last_request();
    assert!(request[2].starts_with("result:"), "{request:?}");
    assert_eq!(request[3], "user: only at the sources");
}

#[tokio::test]
async fn a_word_without_a_turn_is_a_prompt() {
    let world = World::new([Response::says("yes")]);
    let handle = world.start();
    assert_eq!(handle.steer(Prompt::text("hello?")).outcome().await, TicketOutcome::Completed);
}

#[tokio::test]
async fn a_stop_keeps_what_was_said_and_holds_what_waits() {
    let (first, gate) = Response::says("half an ans").gated();
    let world = World::new([first]);
    let path = world.project().join("session.jsonl");
    let log = Log::create(path.clone(), world.header()).expect("log");
    let handle = begin(world.parts(log));
    let mut events = handle.events();
    let running = submit(&handle, "long task");
    gate.reached().await;
    until(&mut events, |event| matches!(event, AgentEvent::Entry { patch: EntryPatch::Append { .. }, .. }))
        .await;
    let waiting = submit(&handle, "waiting");
    handle.send(Command::Cancel { reason: CancelReason::Stop });
    handle.send(Command::Cancel { reason: CancelReason::Stop });
    assert_eq!(running.outcome().await, TicketOutcome::Cancelled);
    until(&mut events, |event| matches!(event, AgentEvent::Settled { aborted: true })).await;
    assert_eq!(world.provider.requests().len(), 1, "the waiting prompt must not start by itself");
    assert!(handle.view().queue[0].held);
    assert!(std::fs::read_to_string(&path).expect("file").contains("half an ans"));

    // The user speaks: the new prompt runs first, then what waited.
    let spoken = submit(&handle, "spoken");
    assert_eq!(spoken.outcome().await, TicketOutcome::Completed);
    assert_eq!(waiting.outcome().await, TicketOutcome::Completed);
    let (_log, opened) = {
        handle.shutdown(Duration::from_secs(5)).await.expect("saved");
        Log::open(&path).expect("opens")
    };
    let aborted = opened.tree.context().messages.iter().any(|(_, message)| {
        matches!(&**message, Message::Assistant(assistant) if assistant.stop_reason == StopReason::Aborted)
    });
    assert!(aborted, "the partial answer is kept and marked");
}

#[tokio::test]
async fn a_stop_does_not_wait_for_a_call_that_will_not_end() {
    let world = World::new([Response::calls(&[
        ("polite", "wait", json!({})),
        ("deaf", "wait", json!({"deaf": true})),
    ])]);
    let handle = world.start();
    let mut events = handle.events();
    let ticket = submit(&handle, "go");
    until(&mut events, started).await;
    until(&mut events, started).await;
    until(&mut events, |event| matches!(event, AgentEvent::ToolProgress { .. })).await;
    handle.send(Command::Cancel { reason: CancelReason::Stop });
    let AgentEvent::RoundFinished { results, .. } =
        until(&mut events, |event| matches!(event, AgentEvent::RoundFinished { .. })).await
    else {
        unreachable!("asked for")
    };
    assert_eq!(text_of(&results[0].content), "cancelled in time");
    assert_eq!(text_of(&results[1].content), tool::STOPPED);
    assert_eq!(ticket.outcome().await, TicketOutcome::Cancelled);
    // The history is valid: the next request has an answer for each call.
    submit(&handle, "again").outcome().await;
    assert_eq!(world.last_request().len(), 5);
}

#[tokio::test]
async fn prompts_run_in_order_and_one_can_take_the_place_of_the_running_one() {
    let (first, gate) = Response::says("first").gated();
    let world = World::new([first]);
    let handle = world.start();
    let first = submit(&handle, "first");
    gate.reached().await;
    let second = submit(&handle, "second");
    let third = handle.submit(Prompt::text("third"), Placement::Next);
    let now = handle.submit(Prompt::text("now"), Placement::Replace);
    assert_eq!(first.outcome().await, TicketOutcome::Cancelled);
    for ticket in [now, third, second] {
        assert_eq!(ticket.outcome().await, TicketOutcome::Completed);
    }
    let said: Vec<String> =
        world.last_request().into_iter().filter(|line| line.starts_with("user")).collect();
    assert_eq!(said, ["user: first", "user: now", "user: third", "user: second"]);
}

#[tokio::test]
async fn a_waiting_prompt_can_be_changed_and_taken_back() {
    let (first, gate) = Response::says("first").gated();
    let world = World::new([first]);
    let handle = world.start();
    let running = submit(&handle, "first");
    gate.reached().await;
    let changed = submit(&handle, "tpyo");
    let mut removed = submit(&handle, "not this");
    handle.send(Command::Queue(QueueCommand::Edit {
        ticket: changed.id,
        version: 0,
        prompt: Prompt::text("typo"),
    }));
    handle.send(Command::Queue(QueueCommand::Edit {
        ticket: changed.id,
        version: 0,
        prompt: Prompt::text("stale"),
    }));
    handle.send(Command::Queue(QueueCommand::Remove { ticket: removed.id, version: 0 }));
    assert_eq!(removed.accepted().await, Ok(false), "taking it back is no failure");
    assert_eq!(removed.outcome().await, TicketOutcome::Removed);
    gate.open();
    assert_eq!(running.outcome().await, TicketOutcome::Completed);
    assert_eq!(changed.outcome().await, TicketOutcome::Completed);
    assert_eq!(world.last_request().last().map(String::as_str), Some("user: typo"));
}

fn asking(world: &World) -> AgentHandle {
    begin(SessionParts { mode: PermissionMode::Ask, ..world.parts(Log::in_memory(world.header())) })
}

async fn ask(events: &mut Listener) -> PermissionAsk {
    match until(events, |event| matches!(event, AgentEvent::PermissionAsked(_))).await {
        AgentEvent::PermissionAsked(ask) => ask,
        _ => unreachable!("asked for"),
    }
}

fn write_call(id: &str) -> Response {
    Response::calls(&[(id, "write", json!({"path": "new.txt", "content": "new"}))])
}

#[tokio::test]
async fn a_call_waits_for_the_users_yes() {
    let world = World::new([write_call("c1"), Response::says("written")]);
    let handle = asking(&world);
    let mut events = handle.events();
    let ticket = submit(&handle, "write it");
    let asked = ask(&mut events).await;
    assert_eq!(asked.tool, "write");
    assert_eq!(handle.view().ask.as_deref(), Some(&asked));
    assert!(!world.project().join("new.txt").exists());
    handle.send(Command::AnswerPermission { ask: AskId(99), answer: PermissionAnswer::Once });
    handle.send(Command::AnswerPermission { ask: asked.id, answer: PermissionAnswer::Once });
    assert_eq!(ticket.outcome().await, TicketOutcome::Completed);
    assert!(world.project().join("new.txt").exists());
    assert_eq!(handle.view().ask, None);
}

#[tokio::test]
async fn a_no_ends_the_turn_and_a_no_with_words_goes_on() {
    let world = World::new([write_call("c1"), write_call("c2"), Response::says("then not")]);
    let handle = asking(&world);
    let mut events = handle.events();
    let ticket = submit(&handle, "write it");
    let asked = ask(&mut events).await;
    handle.send(Command::AnswerPermission { ask: asked.id, answer: PermissionAnswer::No });
    assert_eq!(ticket.outcome().await, TicketOutcome::Cancelled);
    assert_eq!(world.provider.requests().len(), 1);

    let ticket = submit(&handle, "again");
    let asked = ask(&mut events).await;
    let answer = PermissionAnswer::NoWith { message: "use old.txt".to_owned() };
    handle.send(Command::AnswerPermission { ask: asked.id, answer });
    assert_eq!(ticket.outcome().await, TicketOutcome::Completed);
    assert!(world.last_request().last().is_some_and(|line| line.contains("use old.txt")));
    assert!(!world.project().join("new.txt").exists());
}

#[tokio::test]
async fn a_rule_for_the_session_asks_no_second_time_and_one_for_good_is_saved() {
    let world = World::new([write_call("c1"), write_call("c2"), Response::says("both")]);
    let saved = Arc::new(std::sync::Mutex::new(Vec::new()));
    let keep = saved.clone();
    let handle = begin(SessionParts {
        mode: PermissionMode::Ask,
        save_grant: Arc::new(move |rule| {
            keep.lock().expect("lock").push(rule.to_owned());
            Ok(())
        }),
        ..world.parts(Log::in_memory(world.header()))
    });
    let mut events = handle.events();
    let ticket = submit(&handle, "write twice");
    let asked = ask(&mut events).await;
    let rule = asked.suggestions.first().expect("a suggestion").clone();
    handle.send(Command::AnswerPermission {
        ask: asked.id,
        answer: PermissionAnswer::Always { rule: rule.clone() },
    });
    assert_eq!(ticket.outcome().await, TicketOutcome::Completed);
    assert_eq!(*saved.lock().expect("lock"), [rule]);
}

#[tokio::test]
async fn after_a_no_the_user_speaks_first() {
    let world = World::new([write_call("c1")]);
    let handle = asking(&world);
    let mut events = handle.events();
    let ticket = submit(&handle, "write it");
    let asked = ask(&mut events).await;
    let waiting = submit(&handle, "waiting");
    handle.send(Command::AnswerPermission { ask: asked.id, answer: PermissionAnswer::No });
    assert_eq!(ticket.outcome().await, TicketOutcome::Cancelled);
    handle.barrier().await.expect("alive");
    assert!(handle.view().queue[0].held);
    submit(&handle, "spoken").outcome().await;
    assert_eq!(waiting.outcome().await, TicketOutcome::Completed);
}

#[tokio::test]
async fn a_call_that_an_earlier_one_leads_astray_does_not_run() {
    let outside = tempfile::tempdir().expect("folder");
    let link = format!("ln -s {} link", outside.path().display());
    let world = World::new([Response::calls(&[
        ("c1", "bash", json!({"command": link})),
        ("c2", "write", json!({"path": "link/file", "content": "x"})),
    ])]);
    let (rules, errors) = Rules::parse(&["bash(ln:*)".to_owned()], &[], &[]);
    assert!(errors.is_empty());
    let handle = begin(SessionParts {
        mode: PermissionMode::Edits,
        rules,
        ..world.parts(Log::in_memory(world.header()))
    });
    assert_eq!(submit(&handle, "go").outcome().await, TicketOutcome::Completed);
    assert!(world.last_request()[3].contains("outside the project"), "{:?}", world.last_request());
    assert!(!outside.path().join("file").exists());
}

#[tokio::test]
async fn a_stop_takes_the_question_back() {
    let world = World::new([write_call("c1")]);
    let handle = asking(&world);
    let mut events = handle.events();
    let ticket = submit(&handle, "write it");
    let asked = ask(&mut events).await;
    handle.send(Command::Cancel { reason: CancelReason::Stop });
    assert_eq!(ticket.outcome().await, TicketOutcome::Cancelled);
    handle.send(Command::AnswerPermission { ask: asked.id, answer: PermissionAnswer::Once });
    handle.barrier().await.expect("alive");
    assert!(!world.project().join("new.txt").exists(), "a late yes runs nothing");
}

#[tokio::test]
async fn without_anyone_to_ask_a_call_is_refused_and_the_way_to_allow_it_named() {
    let world = World::new([
        Response::calls(&[("c1", "bash", json!({"command": "touch made"}))]),
        Response::says("then not"),
    ]);
    let handle = begin(SessionParts {
        mode: PermissionMode::Ask,
        interactive: false,
        ..world.parts(Log::in_memory(world.header()))
    });
    let mut events = handle.events();
    assert_eq!(submit(&handle, "make it").outcome().await, TicketOutcome::Completed);
    let notice = until(&mut events, |event| matches!(event, AgentEvent::Notice { .. })).await;
    assert!(matches!(&notice, AgentEvent::Notice { text, .. } if text.contains("--allow")), "{notice:?}");
    assert!(world.last_request()[2].contains("refused"), "{:?}", world.last_request());
    assert!(!world.project().join("made").exists());
}

#[tokio::test]
async fn unknown_tools_and_wrong_arguments_are_told_to_the_model() {
    let world = World::new([
        Response::calls(&[("c1", "raed", json!({"path": "x"})), ("c2", "read", json!({"offset": 3}))]),
        Response::says("sorry"),
    ]);
    let handle = world.start();
    assert_eq!(submit(&handle, "go").outcome().await, TicketOutcome::Completed);
    let request = world.last_request();
    assert!(request[2].contains("read"), "{request:?}");
    assert!(request[3].contains("path"), "{request:?}");
}

#[tokio::test]
async fn a_bug_in_a_tool_or_an_adapter_costs_no_session() {
    let world = World::new([
        Response::calls(&[("c1", "wait", json!({"panic": true}))]),
        Response::panics(),
        Response::says("still here"),
    ]);
    let handle = world.start();
    assert_eq!(submit(&handle, "go").outcome().await, TicketOutcome::Completed);
    assert!(world.last_request()[2].contains("bug in Mynah"), "{:?}", world.last_request());
}

#[tokio::test]
async fn a_failed_response_is_kept_told_and_repeated() {
    let world = World::new([Response::breaks_after("half", ErrorClass::Stream), Response::says("the whole")]);
    let path = world.project().join("session.jsonl");
    let log = Log::create(path.clone(), world.header()).expect("log");
    let handle = begin(world.parts(log));
    let mut events = handle.events();
    assert_eq!(submit(&handle, "go").outcome().await, TicketOutcome::Completed);
    until(&mut events, |event| matches!(event, AgentEvent::RetryScheduled { attempt: 1, .. })).await;
    until(&mut events, |event| matches!(event, AgentEvent::RetryFinished { success: true, .. })).await;
    handle.shutdown(Duration::from_secs(5)).await.expect("saved");
    let (_log, opened) = Log::open(&path).expect("opens");
    let texts: Vec<String> =
        opened.tree.context().messages.iter().map(|(_, message)| brief(message)).collect();
    assert_eq!(texts, ["user: go", "assistant: half", "assistant: the whole"]);
}

#[tokio::test]
async fn a_lasting_failure_ends_the_turn_and_the_queue_waits_for_the_user() {
    let (first, gate) = Response::fails(ErrorClass::Auth).gated();
    let world = World::new([first]);
    let handle = world.start();
    let failing = submit(&handle, "go");
    gate.reached().await;
    let waiting = submit(&handle, "waiting");
    gate.open();
    assert!(matches!(failing.outcome().await, TicketOutcome::Failed { .. }));
    handle.barrier().await.expect("alive");
    assert!(handle.view().queue[0].held);
    handle.send(Command::Queue(QueueCommand::Release { ticket: None }));
    assert_eq!(waiting.outcome().await, TicketOutcome::Completed);
}

#[tokio::test]
async fn model_level_mode_and_name_change_from_the_next_request_on() {
    let world = World::new([]);
    let handle = world.start();
    let mut events = handle.events();
    handle.send(Command::SetThinking(ThinkingLevel::High));
    handle.send(Command::SetMode(PermissionMode::Edits));
    handle.send(Command::Rename("a name".to_owned()));
    submit(&handle, "one").outcome().await;
    assert_eq!(world.provider.requests()[0].thinking, ThinkingLevel::High);
    handle.send(Command::SetModel(ModelRef::new("test", "other")));
    submit(&handle, "two").outcome().await;
    let request = world.provider.requests()[1].clone();
    assert_eq!(request.model.reference.id, "other");
    assert_eq!(request.thinking, ThinkingLevel::Off, "that model does not think");
    handle.send(Command::SetModel(ModelRef::new("test", "missing")));
    until(&mut events, |event| {
        matches!(event, AgentEvent::Notice { level: NoticeLevel::Error, text } if text.contains("stays test/other"))
    })
    .await;
    let view = handle.view();
    assert_eq!((view.mode, view.name.as_deref()), (PermissionMode::Edits, Some("a name")));
    assert_eq!(view.context.tokens, 12);
    assert_eq!(view.usage.total_tokens, 24);
}

#[tokio::test]
async fn the_next_thinking_level_is_one_that_the_model_offers() {
    let world = World::new([]);
    let handle = world.start();
    let mut events = handle.events();
    let begun = handle.view().thinking;
    let mut seen = Vec::new();
    // It comes round, whatever the model's highest level is.
    loop {
        handle.send(Command::NextThinking);
        let event = until(&mut events, |event| matches!(event, AgentEvent::ThinkingChanged(_))).await;
        let AgentEvent::ThinkingChanged(level) = event else { unreachable!() };
        seen.push(level);
        if level == begun {
            break;
        }
    }
    assert!(seen.len() > 2 && seen.contains(&ThinkingLevel::High), "{seen:?}");
}

#[tokio::test]
async fn a_log_that_cannot_be_written_is_told_once_and_the_talk_goes_on() {
    let world = World::new([]);
    let in_the_way = world.project().join("file");
    std::fs::write(&in_the_way, "no folder").expect("written");
    let log = Log::create(in_the_way.join("session.jsonl"), world.header()).expect("lazy");
    let handle = begin(world.parts(log));
    let mut events = handle.events();
    let mut ticket = submit(&handle, "one");
    assert!(ticket.accepted().await.is_err());
    assert_eq!(ticket.outcome().await, TicketOutcome::Completed);
    assert_eq!(submit(&handle, "two").outcome().await, TicketOutcome::Completed);
    let lost = handle.shutdown(Duration::from_secs(5)).await.expect_err("nothing could be written");
    assert!(lost.contains("not saved whole"), "{lost}");
    let mut told = 0;
    while let Some(event) = events.next().await {
        told += usize::from(matches!(event.event, AgentEvent::Notice { level: NoticeLevel::Error, .. }));
    }
    assert_eq!(told, 1);
}

#[tokio::test]
async fn the_end_resolves_every_ticket_and_kills_what_runs() {
    let world = World::new([Response::calls(&[("c1", "bash", json!({"command": "sleep 600"}))])]);
    let parts = world.parts(Log::in_memory(world.header()));
    let jobs = parts.workshop.jobs.clone();
    let handle = begin(parts);
    let mut events = handle.events();
    let running = submit(&handle, "go");
    until(&mut events, started).await;
    let waiting = submit(&handle, "waiting");
    handle.shutdown(Duration::from_secs(10)).await.expect("saved");
    assert_eq!(running.outcome().await, TicketOutcome::Cancelled);
    assert_eq!(waiting.outcome().await, TicketOutcome::Cancelled);
    assert_eq!(jobs.count(), 0);
    while events.next().await.is_some() {}
    assert_eq!(submit(&handle, "too late").outcome().await, TicketOutcome::Cancelled);
}

#[tokio::test]
async fn the_end_keeps_what_running_calls_have() {
    let world = World::new([Response::calls(&[
        ("c1", "wait", json!({})),
        ("c2", "wait", json!({"deaf": true})),
        ("c3", "ls", json!({})),
    ])]);
    let path = world.project().join("session.jsonl");
    let handle = begin(world.parts(Log::create(path.clone(), world.header()).expect("log")));
    let mut events = handle.events();
    let _running = submit(&handle, "go");
    until(&mut events, started).await;
    handle.shutdown(Duration::from_secs(10)).await.expect("saved");
    let (_log, opened) = Log::open(&path).expect("opens");
    let said: Vec<String> =
        opened.tree.context().messages.iter().map(|(_, message)| brief(message)).collect();
    let results: Vec<&str> = said.iter().filter_map(|line| line.strip_prefix("result: ")).collect();
    assert_eq!(results.len(), 3, "{said:?}");
    assert_eq!(results[..2], ["cancelled in time", tool::STOPPED]);
}

#[tokio::test]
async fn a_response_that_was_announced_ends_for_listeners_though_nothing_came() {
    let (response, gate) = Response::says("never heard").gated_after_its_start();
    let world = World::new([response]);
    let handle = world.start();
    let mut events = handle.events();
    let ticket = submit(&handle, "go");
    gate.reached().await;
    until(&mut events, |event| {
        matches!(event, AgentEvent::Entry { patch: EntryPatch::Start(message), .. }
            if matches!(**message, Message::Assistant(_)))
    })
    .await;
    handle.send(Command::Cancel { reason: CancelReason::Stop });
    assert_eq!(ticket.outcome().await, TicketOutcome::Cancelled);
    let end = until(&mut events, |event| {
        matches!(
            event,
            AgentEvent::Entry { patch: EntryPatch::Finish(_), .. } | AgentEvent::TurnFinished { .. }
        )
    })
    .await;
    let AgentEvent::Entry { patch: EntryPatch::Finish(message), .. } = end else { panic!("{end:?}") };
    let Message::Assistant(assistant) = &*message else { panic!("{message:?}") };
    assert_eq!((assistant.stop_reason, assistant.content.len()), (StopReason::Aborted, 0));
    submit(&handle, "again").outcome().await;
    assert_eq!(world.last_request(), ["user: go", "assistant: ", "user: again"]);
}

#[tokio::test]
async fn a_full_window_is_told_though_the_provider_reports_a_success() {
    let answer = |usage, text: &str| Response::says(text).with_usage(usage);
    let used = |input, output| Usage { input, output, ..Usage::default() };
    let table = [
        (answer(used(99_000, 0), ""), Some(StopReason::Length), Some("larger than the window")),
        (answer(used(100_001, 5), "hm"), None, None),
    ];
    for (response, stop, failure) in table {
        let response = match stop {
            Some(reason) => response.with_stop(reason),
            None => response,
        };
        let world = World::new([response]);
        let handle = world.start();
        let mut events = handle.events();
        let outcome = submit(&handle, "go").outcome().await;
        match failure {
            Some(text) => {
                assert!(
                    matches!(&outcome, TicketOutcome::Failed { error } if error.contains(text)),
                    "{outcome:?}"
                );
                assert_eq!(world.provider.requests().len(), 1, "it is not repeated");
            }
            None => {
                assert_eq!(outcome, TicketOutcome::Completed);
                until(&mut events, |event| {
                    matches!(event, AgentEvent::Notice { level: NoticeLevel::Warning, text }
                        if text.contains("larger than the window of test/model (100000 tokens)"))
                })
                .await;
            }
        }
    }
}

#[tokio::test]
async fn what_is_said_while_a_turn_stops_comes_before_what_the_stop_holds() {
    for steer in [false, true] {
        let world = World::new([Response::calls(&[("c1", "wait", json!({"deaf": true}))])]);
        let handle = world.start();
        let mut events = handle.events();
        let running = submit(&handle, "go");
        until(&mut events, started).await;
        let held = submit(&handle, "held");
        handle.send(Command::Cancel { reason: CancelReason::Stop });
        let said = if steer { handle.steer(Prompt::text("said")) } else { submit(&handle, "said") };
        assert_eq!(running.outcome().await, TicketOutcome::Cancelled);
        assert_eq!(said.outcome().await, TicketOutcome::Completed);
        assert_eq!(held.outcome().await, TicketOutcome::Completed);
        let users: Vec<String> =
            world.last_request().into_iter().filter(|line| line.starts_with("user")).collect();
        assert_eq!(users, ["user: go", "user: said", "user: held"], "steer: {steer}");
    }
}

#[tokio::test]
async fn a_prompt_that_says_nothing_is_not_run() {
    let world = World::new([]);
    let handle = world.start();
    for text in ["", " \n\t"] {
        assert_eq!(submit(&handle, text).outcome().await, TicketOutcome::Removed, "{text:?}");
    }
    assert!(world.provider.requests().is_empty());
}

#[tokio::test]
async fn a_name_given_at_the_start_stands_in_the_log() {
    let world = World::new([]);
    let path = world.project().join("session.jsonl");
    let log = Log::create(path.clone(), world.header()).expect("log");
    let handle = begin(SessionParts { name: Some("tidy".to_owned()), ..world.parts(log) });
    assert_eq!(handle.view().name.as_deref(), Some("tidy"));
    submit(&handle, "go").outcome().await;
    handle.shutdown(Duration::from_secs(5)).await.expect("saved");
    let (_log, opened) = Log::open(&path).expect("opens");
    assert_eq!(opened.tree.context().name.as_deref(), Some("tidy"));
}

#[tokio::test]
async fn the_prefix_of_requests_stays_the_same_bytes() {
    let world = World::new([Response::calls(&[("c1", "ls", json!({}))])]);
    let handle = world.start();
    submit(&handle, "one").outcome().await;
    submit(&handle, "two").outcome().await;
    let requests = world.provider.requests();
    assert_eq!(requests.len(), 3);
    for pair in requests.windows(2) {
        assert_eq!(pair[0].system, pair[1].system);
        assert_eq!(pair[0].tools, pair[1].tools);
        let kept = pair[0].messages.len();
        assert_eq!(pair[0].messages[..], pair[1].messages[..kept]);
    }
}

/// What a user may do.
#[derive(Debug, Clone)]
enum Gesture {
    Submit(Placement),
    Steer,
    Cancel(CancelReason),
    Remove(usize),
    SendNow(usize),
    Clear,
    Release,
    RunShell,
    CancelShell,
}

fn gesture() -> impl Strategy<Value = Gesture> {
    prop_oneof![
        6 => prop_oneof![Just(Placement::Back), Just(Placement::Next), Just(Placement::Replace)]
            .prop_map(Gesture::Submit),
        3 => Just(Gesture::Steer),
        2 => prop_oneof![Just(CancelReason::Stop), Just(CancelReason::Replace)].prop_map(Gesture::Cancel),
        1 => (0_usize..8).prop_map(Gesture::Remove),
        1 => (0_usize..8).prop_map(Gesture::SendNow),
        1 => Just(Gesture::Clear),
        1 => Just(Gesture::Release),
        1 => Just(Gesture::RunShell),
        1 => Just(Gesture::CancelShell),
    ]
}

fn response(kind: u8, n: usize) -> Response {
    match kind % 6 {
        0 => Response::calls(&[(&format!("c{n}"), "ls", json!({}))]),
        1 => Response::calls(&[(&format!("c{n}"), "wait", json!({})), (&format!("d{n}"), "ls", json!({}))]),
        2 => Response::fails(ErrorClass::Server),
        3 => Response::breaks_after("half", ErrorClass::Invalid),
        4 => Response::says("text").gated().0,
        _ => Response::says("text"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_ticket_resolves_once_and_every_request_is_valid(
        gestures in prop::collection::vec((gesture(), 0_u8..3), 1..16),
        kinds in prop::collection::vec(any::<u8>(), 0..16),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        runtime.block_on(async {
            let world = World::new(kinds.iter().enumerate().map(|(n, kind)| response(*kind, n)));
            let handle = world.start();
            let mut tickets = Vec::new();
            for (gesture, pauses) in gestures {
                let ids: Vec<TicketId> =
                    tickets.iter().map(|ticket: &crate::agent::handle::Ticket| ticket.id).collect();
                match gesture {
                    Gesture::Submit(placement) => tickets.push(handle.submit(Prompt::text("p"), placement)),
                    Gesture::Steer => tickets.push(handle.steer(Prompt::text("s"))),
                    Gesture::Cancel(reason) => handle.send(Command::Cancel { reason }),
                    Gesture::Remove(n) => if let Some(ticket) = ids.get(n) {
                        handle.send(Command::Queue(QueueCommand::Remove { ticket: *ticket, version: 0 }));
                    },
                    Gesture::SendNow(n) => if let Some(ticket) = ids.get(n) {
                        handle.send(Command::Queue(QueueCommand::SendNow { ticket: *ticket, version: 0 }));
                    },
                    Gesture::Clear => handle.send(Command::Queue(QueueCommand::Clear)),
                    Gesture::RunShell => handle.send(Command::RunShell {
                        command: "echo shell".to_owned(),
                        shown_only: false,
                    }),
                    Gesture::CancelShell => handle.send(Command::CancelShell),
                    Gesture::Release => handle.send(Command::Queue(QueueCommand::Release { ticket: None })),
                }
                for _ in 0..pauses {
                    tokio::task::yield_now().await;
                }
            }
            handle.shutdown(Duration::from_secs(10)).await.expect("in memory");
            for ticket in tickets {
                // A ticket that was never resolved would wait here for ever; one resolved twice can't exist: the
                // waiter is consumed.
                let outcome = tokio::time::timeout(Duration::from_secs(10), ticket.outcome()).await;
                prop_assert!(outcome.is_ok());
            }
            for request in world.provider.requests() {
                prop_assert!(crate::agent::repair::is_valid(&request.messages));
                prop_assert!(matches!(
                    request.messages.last().map(|message| &**message),
                    Some(Message::User(_) | Message::ToolResult(_) | Message::Assistant(_))
                ));
            }
            Ok(())
        })?;
    }
}
