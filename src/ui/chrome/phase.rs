//! What the agent is doing, from its events. Pure: what is shown is a function of the events and of the time asked
//! about.

use super::flow::{Counter, Flow};
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{AskId, CallId, EntryId};
use crate::proto::message::{AssistantMessage, Block, Message, StopReason};
use crate::text::formats::CHARS_PER_TOKEN;
use crate::text::{clean, width};
use std::time::{Duration, Instant};

/// Names in the word are cut to this.
const NAME_COLUMNS: usize = 48;
/// Of the arguments so much is searched for the file's name: tools name it first.
const HEAD_CHARS: usize = 4096;

/// What the agent is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phase {
    live: Option<Live>,
    last: Option<Figures>,
}

/// What kind of step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Between requests and tools.
    Prep,
    /// The request is on its way.
    Api,
    /// It was received, nothing was said yet.
    FirstToken,
    /// The model thinks.
    Think,
    /// The model writes a call.
    Tool,
    /// Tools run.
    Run,
    /// The model writes its reply.
    Text,
    /// The user is asked.
    Asking,
    /// A failed request waits to be repeated.
    Retry,
}

/// What the left of the phase line tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The kind.
    pub kind: Kind,
    /// What it is called, without the ellipsis.
    pub word: String,
    /// The same for narrow screens.
    pub short: Option<String>,
    /// How long it takes already; none where the word itself counts down.
    pub elapsed: Option<Duration>,
    /// How long nothing was heard.
    pub quiet: Duration,
    /// Tokens of this request, estimated.
    pub tokens: Option<u64>,
    /// A call was begun and nothing of its arguments has come. Some providers hold them back until they are whole.
    pub is_held_back: bool,
    /// The part of a retry's wait that is over.
    pub gone: f64,
    /// How long that wait is.
    pub wait: Duration,
}

/// The figures on the right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Tokens per second.
    pub tokens_per_second: Option<f64>,
    /// Shortest and longest time from a request to its first content.
    pub first: Option<(Duration, Duration)>,
    /// The whole prompt.
    pub total: Duration,
}

#[derive(Clone, Debug, PartialEq)]
struct Live {
    since: Instant,
    step: Step,
    step_since: Instant,
    request: Request,
    running: Vec<(CallId, String)>,
    asks: Vec<AskId>,
    retry: Option<Retry>,
    first: Option<(Duration, Duration)>,
    output: u64,
    waited: Duration,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Prep,
    Api,
    FirstToken,
    Think,
    Tool(Draft),
    Run(String),
    Text,
}

/// A call that is being written.
#[derive(Clone, Debug, Default, PartialEq)]
struct Draft {
    tool: String,
    file: Option<String>,
    head: String,
    has_arguments: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Request {
    since: Instant,
    entry: Option<EntryId>,
    has_content: bool,
    chars: usize,
    tokens: Counter,
    flow: Flow,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Retry {
    attempt: u32,
    max: u32,
    since: Instant,
    delay: Duration,
}

impl Phase {
    /// Takes an event of the agent that is shown.
    pub fn on_event(&mut self, event: &AgentEvent, now: Instant) {
        match event {
            AgentEvent::TurnStarted { .. } => self.live = Some(Live::new(now)),
            AgentEvent::TurnFinished { .. } | AgentEvent::Settled { .. } => {
                if let Some(live) = self.live.take() {
                    self.last = Some(Figures { tokens_per_second: live.average(), ..live.figures(now) });
                }
            }
            // Whoever begins to listen within a turn has not heard its beginning.
            AgentEvent::RoundStarted { .. } => self.live(now).request(now),
            AgentEvent::ToolStarted { call, tool, .. } => {
                let live = self.live(now);
                live.running.push((call.clone(), tool.clone()));
                live.follow_tools(now);
            }
            AgentEvent::ToolFinished { call, .. } => {
                if let Some(live) = &mut self.live {
                    let before = live.running.len();
                    live.running.retain(|(id, _)| id != call);
                    if live.running.len() < before {
                        live.follow_tools(now);
                    }
                }
            }
            AgentEvent::PermissionAsked(ask) => self.live(now).asks.push(ask.id),
            AgentEvent::PermissionResolved { ask } => {
                if let Some(live) = &mut self.live {
                    live.asks.retain(|id| id != ask);
                }
            }
            AgentEvent::RetryScheduled { attempt, max_attempts, delay_ms, .. } => {
                let live = self.live(now);
                live.enter(Step::Prep, now);
                let delay = Duration::from_millis(*delay_ms);
                live.retry = Some(Retry { attempt: *attempt, max: *max_attempts, since: now, delay });
            }
            AgentEvent::RetryFinished { .. } => {
                if let Some(live) = &mut self.live {
                    live.retry = None;
                }
            }
            AgentEvent::Entry { id, patch } => {
                if let Some(live) = &mut self.live {
                    live.patch(id, patch, now);
                }
            }
            AgentEvent::ToolProgress { .. }
            | AgentEvent::ToolSteps { .. }
            | AgentEvent::ToolWait { .. }
            | AgentEvent::CompactionStarted { .. }
            | AgentEvent::CompactionProgress { .. }
            | AgentEvent::CompactionFinished { .. }
            | AgentEvent::ShellStarted { .. }
            | AgentEvent::ShellProgress { .. }
            | AgentEvent::ShellFinished { .. }
            | AgentEvent::RoundFinished { .. }
            | AgentEvent::QueueChanged { .. }
            | AgentEvent::ModelChanged(_)
            | AgentEvent::ThinkingChanged(_)
            | AgentEvent::ModeChanged(_)
            | AgentEvent::Renamed(_)
            | AgentEvent::Notice { .. } => {}
        }
    }

    /// A turn runs.
    pub const fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// What is being done; nothing when idle.
    pub fn status(&self, now: Instant, motion: bool) -> Option<Status> {
        self.live.as_ref().map(|live| live.status(now, motion))
    }

    /// The figures of the running prompt, else of the last one.
    pub fn figures(&self, now: Instant) -> Option<Figures> {
        self.live.as_ref().map(|live| live.figures(now)).or(self.last)
    }

    /// The stream of the running request.
    pub fn flow(&self) -> Option<&Flow> {
        self.live.as_ref().map(|live| &live.request.flow)
    }

    fn live(&mut self, now: Instant) -> &mut Live {
        self.live.get_or_insert_with(|| Live::new(now))
    }
}

impl Request {
    const fn new(now: Instant) -> Self {
        Self {
            since: now,
            entry: None,
            has_content: false,
            chars: 0,
            tokens: Counter::new(now),
            flow: Flow::new(now),
        }
    }
}

impl Live {
    const fn new(now: Instant) -> Self {
        Self {
            since: now,
            step: Step::Prep,
            step_since: now,
            request: Request::new(now),
            running: Vec::new(),
            asks: Vec::new(),
            retry: None,
            first: None,
            output: 0,
            waited: Duration::ZERO,
        }
    }

    fn enter(&mut self, step: Step, now: Instant) {
        self.step = step;
        self.step_since = now;
    }

    fn request(&mut self, now: Instant) {
        self.retry = None;
        self.request = Request::new(now);
        self.enter(Step::Api, now);
    }

    fn follow_tools(&mut self, now: Instant) {
        let step = match self.running.as_slice() {
            [] => Step::Prep,
            [(_, tool)] => Step::Run(name(tool)),
            several => Step::Run(format!("{} tools", several.len())),
        };
        if step != self.step {
            self.enter(step, now);
        }
    }

    fn patch(&mut self, id: &EntryId, patch: &EntryPatch, now: Instant) {
        if let EntryPatch::Start(message) = patch {
            if matches!(**message, Message::Assistant(_)) {
                self.begin_response(id, now);
            }
            return;
        }
        if self.request.entry.as_ref() != Some(id) {
            return;
        }
        match patch {
            EntryPatch::Start(_) => {}
            EntryPatch::Open { block, .. } => {
                self.content(now);
                match block {
                    Block::Thinking { .. } => self.enter(Step::Think, now),
                    Block::Text { .. } => self.enter(Step::Text, now),
                    Block::ToolCall(call) => {
                        let draft = Draft { tool: name(&call.name), ..Draft::default() };
                        self.enter(Step::Tool(draft), now);
                    }
                    Block::Image { .. } | Block::Unknown => {}
                }
            }
            EntryPatch::Append { delta, .. } => {
                self.content(now);
                let chars = delta.chars().count();
                self.request.chars += chars;
                self.request.flow.push(chars, now);
                let tokens = self.request.chars.div_ceil(CHARS_PER_TOKEN);
                self.request.tokens.aim(u64::try_from(tokens).unwrap_or(u64::MAX), now);
                if let Step::Tool(draft) = &mut self.step {
                    draft.append(delta);
                }
            }
            EntryPatch::Close { block, .. } => {
                if matches!(block, Block::Thinking { .. }) {
                    self.enter(Step::Prep, now);
                }
            }
            EntryPatch::Finish(message) => {
                if let Message::Assistant(message) = &**message {
                    self.finish_response(message, now);
                }
                self.enter(Step::Prep, now);
            }
        }
    }

    fn begin_response(&mut self, id: &EntryId, now: Instant) {
        // A repeated request began when its wait ended, and one that follows within a round when the one before ended.
        let begun = match self.retry.take() {
            Some(retry) => (retry.since + retry.delay).min(now),
            None if self.request.entry.is_some() => self.step_since,
            None => self.request.since,
        };
        self.request = Request { entry: Some(id.clone()), ..Request::new(begun) };
        self.enter(Step::FirstToken, now);
    }

    fn content(&mut self, now: Instant) {
        if self.request.has_content {
            return;
        }
        self.request.has_content = true;
        let took = now.saturating_duration_since(self.request.since);
        let (least, most) = self.first.unwrap_or((took, took));
        self.first = Some((least.min(took), most.max(took)));
    }

    fn finish_response(&mut self, message: &AssistantMessage, now: Instant) {
        if matches!(message.stop_reason, StopReason::Stop | StopReason::Length | StopReason::ToolUse) {
            self.output = self.output.saturating_add(message.usage.output);
            self.waited += now.saturating_duration_since(self.request.since);
        }
    }

    fn average(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
        let output = self.output as f64;
        (self.output > 0 && !self.waited.is_zero()).then(|| output / self.waited.as_secs_f64())
    }

    fn figures(&self, now: Instant) -> Figures {
        Figures {
            tokens_per_second: self.request.flow.tokens_per_second(now).or_else(|| self.average()),
            first: self.first,
            total: now.saturating_duration_since(self.since),
        }
    }

    fn status(&self, now: Instant, motion: bool) -> Status {
        let elapsed = now.saturating_duration_since(self.step_since);
        let blank = Status {
            kind: Kind::Prep,
            word: String::new(),
            short: None,
            elapsed: Some(elapsed),
            quiet: elapsed,
            tokens: None,
            is_held_back: false,
            gone: 0.0,
            wait: Duration::ZERO,
        };
        if !self.asks.is_empty() {
            return Status { kind: Kind::Asking, word: "Waiting for you".to_owned(), elapsed: None, ..blank };
        }
        if let Some(retry) = self.retry {
            return retry.status(now, blank);
        }
        let count = self.request.tokens.shown(now, motion);
        let tokens = (count > 0).then_some(count);
        let heard = self.request.flow.last().map(|last| now.saturating_duration_since(last));
        let quiet = heard.map_or(elapsed, |heard| heard.min(elapsed));
        let status = |kind, word: &str| Status { kind, word: word.to_owned(), ..blank.clone() };
        match &self.step {
            Step::Prep => status(Kind::Prep, "Preparing"),
            Step::Api => status(Kind::Api, "Sending request"),
            Step::FirstToken => status(Kind::FirstToken, "Waiting for the model"),
            Step::Think => {
                let word = match elapsed.as_secs() {
                    0..10 => "Thinking",
                    10..20 => "Still thinking",
                    20..45 => "Thinking more",
                    45.. => "Deep in thought",
                };
                Status { tokens, quiet, ..status(Kind::Think, word) }
            }
            Step::Tool(draft) => Status {
                tokens,
                quiet,
                short: Some("Writing".to_owned()),
                is_held_back: !draft.has_arguments,
                ..status(Kind::Tool, &draft.word())
            },
            Step::Run(what) => {
                Status { short: Some("Running".to_owned()), ..status(Kind::Run, &format!("Running {what}")) }
            }
            Step::Text => Status { tokens, quiet, ..status(Kind::Text, "Writing reply") },
        }
    }
}

impl Retry {
    fn status(self, now: Instant, blank: Status) -> Status {
        let gone = now.saturating_duration_since(self.since);
        let left = self.delay.saturating_sub(gone);
        if left.is_zero() {
            let elapsed = gone.saturating_sub(self.delay);
            let word = "Sending request".to_owned();
            return Status { kind: Kind::Api, word, elapsed: Some(elapsed), quiet: elapsed, ..blank };
        }
        let counts = format!("attempt {} of {}", self.attempt, self.max);
        let left = crate::text::formats::limit(left);
        Status {
            kind: Kind::Retry,
            word: format!("Retrying in {left} · {counts}"),
            short: Some(format!("Retrying in {left}")),
            elapsed: None,
            gone: gone.as_secs_f64() / self.delay.as_secs_f64(),
            wait: self.delay,
            ..blank
        }
    }
}

impl Draft {
    fn append(&mut self, delta: &str) {
        self.has_arguments |= !delta.is_empty();
        let names_file = matches!(self.tool.as_str(), "write" | "edit");
        if names_file && self.file.is_none() && self.head.len() < HEAD_CHARS {
            self.head.push_str(delta);
            self.file = path_in(&self.head);
        }
    }

    fn word(&self) -> String {
        let file = self.file.as_deref().unwrap_or("a file");
        match self.tool.as_str() {
            "write" => format!("Writing {file}"),
            "edit" => format!("Editing {file}"),
            "" => "Writing a tool call".to_owned(),
            tool => format!("Writing {tool} call"),
        }
    }
}

/// The last part of the path in arguments that may not be whole yet.
fn path_in(arguments: &str) -> Option<String> {
    let (_, rest) = arguments.split_once("\"path\"").or_else(|| arguments.split_once("\"file_path\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let path = serde_json::Deserializer::from_str(rest).into_iter::<String>().next()?.ok()?;
    let file = name(path.rsplit(['/', '\\']).next().unwrap_or_default());
    (!file.is_empty()).then_some(file)
}

fn name(text: &str) -> String {
    width::cut(&clean::for_line(text), NAME_COLUMNS).into_owned()
}

#[cfg(test)]
#[path = "phase_tests.rs"]
pub(in crate::ui::chrome) mod tests;
