use super::*;
use crate::proto::ask::PermissionAsk;
use crate::proto::command::TicketOutcome;
use crate::proto::ids::{TicketId, TurnId};
use crate::proto::message::ToolCall;
use crate::proto::usage::Usage;
use serde_json::Map;
use std::sync::Arc;

/// Events one after another at times of their own.
pub(in crate::ui::chrome) struct Tape {
    pub phase: Phase,
    pub start: Instant,
}

impl Tape {
    pub fn new(start: Instant) -> Self {
        Self { phase: Phase::default(), start }
    }

    pub fn at(&self, millis: u64) -> Instant {
        self.start + Duration::from_millis(millis)
    }

    pub fn event(&mut self, millis: u64, event: &AgentEvent) -> &mut Self {
        let at = self.at(millis);
        self.phase.on_event(event, at);
        self
    }

    pub fn turn(&mut self, millis: u64) -> &mut Self {
        self.event(millis, &AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) })
    }

    pub fn round(&mut self, millis: u64) -> &mut Self {
        self.event(millis, &AgentEvent::RoundStarted { round: 1 })
    }

    pub fn patch(&mut self, millis: u64, patch: EntryPatch) -> &mut Self {
        self.event(millis, &AgentEvent::Entry { id: EntryId::new("e"), patch })
    }

    pub fn begin(&mut self, millis: u64) -> &mut Self {
        self.patch(millis, EntryPatch::Start(assistant(0)))
    }

    pub fn open(&mut self, millis: u64, block: Block) -> &mut Self {
        self.patch(millis, EntryPatch::Open { index: 0, block })
    }

    pub fn append(&mut self, millis: u64, delta: &str) -> &mut Self {
        self.patch(millis, EntryPatch::Append { index: 0, delta: delta.to_owned(), usage: Usage::default() })
    }

    pub fn close(&mut self, millis: u64, block: Block) -> &mut Self {
        self.patch(millis, EntryPatch::Close { index: 0, block, usage: Usage::default() })
    }

    pub fn finish(&mut self, millis: u64, output: u64) -> &mut Self {
        self.patch(millis, EntryPatch::Finish(assistant(output)))
    }

    pub fn tool(&mut self, millis: u64, call: &str, tool: &str) -> &mut Self {
        self.event(
            millis,
            &AgentEvent::ToolStarted {
                call: CallId::new(call),
                tool: tool.to_owned(),
                arguments: Map::new(),
                limit_ms: None,
            },
        )
    }

    pub fn tool_end(&mut self, millis: u64, call: &str) -> &mut Self {
        self.event(
            millis,
            &AgentEvent::ToolFinished {
                call: CallId::new(call),
                tool: "bash".to_owned(),
                output: Arc::default(),
                duration_ms: Some(1),
            },
        )
    }

    pub fn ask(&mut self, millis: u64) -> &mut Self {
        self.event(
            millis,
            &AgentEvent::PermissionAsked(PermissionAsk {
                id: AskId(1),
                call: CallId::new("c"),
                tool: "bash".to_owned(),
                summary: String::new(),
                reason: String::new(),
                suggestions: Vec::new(),
                preview: Default::default(),
            }),
        )
    }

    pub fn retry(&mut self, millis: u64, delay_ms: u64) -> &mut Self {
        let error = String::new();
        self.event(millis, &AgentEvent::RetryScheduled { attempt: 1, max_attempts: 3, delay_ms, error })
    }

    pub fn end(&mut self, millis: u64) -> &mut Self {
        let outcome = TicketOutcome::Completed;
        self.event(millis, &AgentEvent::TurnFinished { turn: TurnId(1), ticket: TicketId(1), outcome })
    }

    pub fn stop(&mut self, millis: u64) -> &mut Self {
        let outcome = TicketOutcome::Cancelled;
        self.event(millis, &AgentEvent::TurnFinished { turn: TurnId(1), ticket: TicketId(1), outcome })
    }

    fn status(&self, millis: u64) -> Status {
        self.phase.status(self.at(millis), false).unwrap()
    }

    /// Word, and seconds on the stopwatch.
    fn word(&self, millis: u64) -> (String, Option<f64>) {
        let status = self.status(millis);
        (status.word, status.elapsed.map(|elapsed| elapsed.as_secs_f64()))
    }
}

fn assistant(output: u64) -> Arc<Message> {
    Arc::new(Message::Assistant(AssistantMessage {
        content: Vec::new(),
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        response_model: None,
        usage: Usage { output, ..Usage::default() },
        stop_reason: StopReason::Stop,
        error_message: None,
        timestamp: Default::default(),
        response_id: None,
        raw_stop_reason: None,
        duration_ms: None,
        thinking_level: None,
    }))
}

pub(in crate::ui::chrome) fn thinking() -> Block {
    Block::Thinking { thinking: String::new(), thinking_signature: None, redacted: false }
}

pub(in crate::ui::chrome) fn call(name: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: CallId::new("c"),
        name: name.to_owned(),
        arguments: Map::new(),
        thought_signature: None,
        malformed: None,
    })
}

#[test]
fn each_step_has_its_word_and_its_stopwatch() {
    let mut tape = Tape::new(Instant::now());
    let expect = |tape: &Tape, at: u64, word: &str, seconds: f64| {
        assert_eq!(tape.word(at), (word.to_owned(), Some(seconds)));
    };
    assert_eq!(tape.phase.status(tape.at(0), true), None);
    tape.turn(0);
    expect(&tape, 500, "Preparing", 0.5);
    tape.round(1000);
    expect(&tape, 1500, "Sending request", 0.5);
    tape.begin(2000);
    expect(&tape, 3000, "Waiting for the model", 2.0);
    tape.open(3000, thinking());
    expect(&tape, 4000, "Thinking", 1.0);
    expect(&tape, 13_000, "Still thinking", 10.0);
    expect(&tape, 23_000, "Thinking more", 20.0);
    expect(&tape, 48_000, "Deep in thought", 45.0);
    tape.close(50_000, thinking());
    expect(&tape, 50_500, "Preparing", 0.5);
    tape.open(51_000, Block::text(""));
    expect(&tape, 52_000, "Writing reply", 1.0);
    tape.open(53_000, call("bash"));
    expect(&tape, 54_000, "Writing bash call", 1.0);
    tape.finish(55_000, 10).tool(56_000, "a", "bash");
    expect(&tape, 57_000, "Running bash", 1.0);
    tape.tool(58_000, "b", "read").tool(58_000, "c", "read");
    expect(&tape, 59_000, "Running 3 tools", 1.0);
    tape.tool_end(60_000, "a").tool_end(60_000, "b");
    expect(&tape, 61_000, "Running read", 1.0);
    tape.tool_end(62_000, "not started");
    expect(&tape, 63_000, "Running read", 3.0);
    tape.tool_end(64_000, "c");
    expect(&tape, 65_000, "Preparing", 1.0);
    tape.end(66_000);
    assert!(!tape.phase.is_live());
    assert_eq!(tape.phase.figures(tape.at(99_000)).unwrap().total, Duration::from_secs(66));
}

#[test]
fn a_call_names_its_file_as_soon_as_it_is_known() {
    // Tool, arguments so far, word.
    let table = [
        ("write", "", "Writing a file"),
        ("write", r#"{"pa"#, "Writing a file"),
        ("write", r#"{"path": "src/ma"#, "Writing a file"),
        ("write", r#"{"path": "src/ma\u0069n.md", "content": "x"#, "Writing main.md"),
        ("edit", r#"{"file_path":"cc-phase.ts""#, "Editing cc-phase.ts"),
        ("edit", r#"{"content":"\"path\":\"no\"","path":"yes""#, "Editing yes"),
        ("edit", r#"{"path":"a/\u001b[31m\u202eb""#, "Editing b"),
        ("bash", r#"{"path":"a""#, "Writing bash call"),
        ("", "", "Writing a tool call"),
    ];
    for (tool, arguments, word) in table {
        let mut tape = Tape::new(Instant::now());
        tape.turn(0).round(0).begin(0).open(0, call(tool));
        for character in arguments.chars() {
            tape.append(1, &character.to_string());
        }
        assert_eq!(tape.word(10).0, word, "{arguments}");
        assert_eq!(tape.status(10).is_held_back, arguments.is_empty());
    }
}

#[test]
fn the_user_is_asked_above_everything_else() {
    let mut tape = Tape::new(Instant::now());
    tape.turn(0).round(0).begin(0).finish(1000, 1).ask(2000);
    assert_eq!(tape.word(9000), ("Waiting for you".to_owned(), None));
    tape.event(10_000, &AgentEvent::PermissionResolved { ask: AskId(1) }).tool(10_000, "a", "bash");
    assert_eq!(tape.word(10_500).0, "Running bash");
}

#[test]
fn a_retry_counts_down_and_becomes_a_request() {
    let mut tape = Tape::new(Instant::now());
    tape.turn(0).round(0).begin(100).open(200, Block::text("")).retry(1000, 2000);
    assert_eq!(tape.word(1000), ("Retrying in 2s · attempt 1 of 3".to_owned(), None));
    assert_eq!(tape.word(2500).0, "Retrying in 1s · attempt 1 of 3");
    assert!((tape.status(2000).gone - 0.5).abs() < 1e-9);
    assert_eq!(tape.word(4000), ("Sending request".to_owned(), Some(1.0)));
    tape.begin(5000).open(5500, Block::text(""));
    assert_eq!(tape.word(6000).0, "Writing reply");
    // From the end of the wait, not from the first try.
    let (least, most) = tape.phase.figures(tape.at(6000)).unwrap().first.unwrap();
    assert_eq!((least.as_millis(), most.as_millis()), (200, 2500));
}

#[test]
fn tokens_are_those_of_the_request() {
    let mut tape = Tape::new(Instant::now());
    tape.turn(0).round(0).begin(0).open(0, thinking());
    assert_eq!(tape.status(0).tokens, None);
    tape.append(100, &"x".repeat(400));
    assert_eq!(tape.status(100).tokens, Some(100));
    assert_eq!(tape.phase.status(tape.at(200), true).unwrap().tokens, Some(26));
    tape.open(5000, Block::text("")).append(5000, "12345678");
    assert_eq!(tape.status(5000).tokens, Some(102));
    tape.round(6000).begin(6000).open(6000, Block::text(""));
    assert_eq!(tape.status(7000).tokens, None);
}

fn counted(tokens: f64) -> Option<Speed> {
    Some(Speed { tokens, is_guessed: false })
}

#[test]
fn the_average_stands_in_where_nothing_arrives() {
    let mut tape = Tape::new(Instant::now());
    tape.turn(0).round(0).begin(500).open(1000, Block::text("")).append(1000, "1234").finish(2000, 200);
    assert_eq!(tape.phase.figures(tape.at(9000)).unwrap().speed, counted(100.0));
    tape.end(9000);
    let last = tape.phase.figures(tape.at(20_000)).unwrap();
    assert_eq!((last.speed, last.total), (counted(100.0), Duration::from_secs(9)));
}

#[test]
fn other_entries_are_not_the_reply() {
    let mut tape = Tape::new(Instant::now());
    tape.turn(0).round(0).begin(0).open(1000, Block::text(""));
    let other = AgentEvent::Entry {
        id: EntryId::new("other"),
        patch: EntryPatch::Open { index: 0, block: thinking() },
    };
    tape.event(2000, &other);
    assert_eq!(tape.word(3000).0, "Writing reply");
}
