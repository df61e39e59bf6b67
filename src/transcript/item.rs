//! What the transcript holds: one item for each part of the conversation that is drawn by itself.
//!
//! A reply with thinking, text and two calls is four items. Texts of finished messages stay in the message itself,
//! which the session shares: an item only names the block.

use super::held::{Arguments, Given};
use super::trail::Trail;
use crate::proto::chain::{CHAIN, Chain, Wait};
use crate::proto::compaction::CompactionReason;
use crate::proto::event::NoticeLevel;
use crate::proto::ids::{CallId, EntryId};
use crate::proto::job::{JobEnd, JobReport};
use crate::proto::message::{AssistantMessage, BashExecutionMessage, Block, Message, ToolCall};
use crate::text::markdown::stream::MarkdownStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One item.
#[derive(Debug)]
pub struct Item {
    /// The entry it belongs to; none of what is only shown (notices, end lines).
    pub entry: Option<EntryId>,
    /// Changes with everything that can change how it is drawn, and never comes back to a former number.
    pub revision: u64,
    /// Whether the user opened or closed this one.
    pub fold: Fold,
    /// When it came; unknown of one that was read from a log.
    pub at: Option<Instant>,
    /// What it is.
    pub body: Body,
}

/// Whether an item is drawn whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fold {
    /// As all of its kind are drawn now.
    #[default]
    Usual,
    /// Whole, by the user's wish.
    Open,
    /// Short, by the user's wish.
    Closed,
}

/// What an item is.
#[derive(Debug)]
pub enum Body {
    /// What the user said.
    User(User),
    /// Text of the model, Markdown.
    Reply(Prose),
    /// What the model thought.
    Thinking(Thinking),
    /// A tool call and what it gave.
    Call(Box<Call>),
    /// A command that the user ran from the prompt.
    Shell(Box<Shell>),
    /// A summary that took the place of what was said before it.
    Compaction(Box<Compaction>),
    /// A text of a program: mail, the summary of another branch. Markdown.
    Custom {
        /// What it is, in a word or two.
        label: String,
        /// The text.
        text: String,
    },
    /// The ends of background jobs.
    Jobs(Box<Jobs>),
    /// Something the user should know.
    Notice {
        /// How bad.
        level: NoticeLevel,
        /// What happened, what was kept, what to do.
        text: String,
    },
    /// The end of a turn.
    TurnEnd(TurnEnd),
}

/// What the user said.
#[derive(Debug)]
pub struct User {
    /// The text.
    pub text: String,
    /// How many pictures came with it.
    pub pictures: usize,
}

/// A text that streams, or a block of a finished message.
#[derive(Debug)]
pub enum Prose {
    /// It streams, or its message is not finished.
    Live(Box<MarkdownStream>),
    /// It is whole.
    Whole(BlockRef),
}

impl Prose {
    /// The text so far.
    pub fn text(&self) -> &str {
        match self {
            Self::Live(stream) => stream.source(),
            Self::Whole(block) => block.text(),
        }
    }
}

/// A block of a finished message of the model.
#[derive(Clone, Debug)]
pub struct BlockRef {
    /// The message; always [`Message::Assistant`].
    pub message: Arc<Message>,
    /// Place in its content.
    pub index: usize,
}

impl BlockRef {
    /// The message it stands in.
    pub fn message(&self) -> Option<&AssistantMessage> {
        match &*self.message {
            Message::Assistant(message) => Some(message),
            _ => None,
        }
    }

    /// The block.
    pub fn block(&self) -> Option<&Block> {
        self.message()?.content.get(self.index)
    }

    /// The block's text or thinking; empty for others.
    pub fn text(&self) -> &str {
        match self.block() {
            Some(Block::Text { text, .. }) => text,
            Some(Block::Thinking { thinking, .. }) => thinking,
            _ => "",
        }
    }

    /// The block as a call.
    pub fn call(&self) -> Option<&ToolCall> {
        match self.block() {
            Some(Block::ToolCall(call)) => Some(call),
            _ => None,
        }
    }
}

/// What the model thought.
#[derive(Debug)]
pub struct Thinking {
    /// The text; empty when the provider withholds it.
    pub text: Prose,
    /// When it began, while it goes on.
    pub since: Option<Instant>,
    /// How long it took, once it has ended and if that is known.
    pub took: Option<Duration>,
    /// What of the text is new, while it streams.
    pub trail: Trail,
}

/// A tool call and what it gave.
#[derive(Debug)]
pub struct Call {
    /// The call.
    pub id: CallId,
    /// Tool name; may be empty while the call is being written.
    pub tool: String,
    /// Its arguments, once they are whole.
    pub arguments: Arguments,
    /// The arguments' JSON as far as it has come, while the call is being written.
    pub draft: String,
    /// What of the draft is new.
    pub trail: Trail,
    /// How far it is.
    pub phase: CallPhase,
    /// Its steps, if it is a shell command of several.
    pub chain: Option<Arc<Chain>>,
    /// What each step has printed, as of `output`, as far as this process saw it run; see [`Call::step_output`].
    pub step_outputs: Vec<String>,
    /// Bytes that were cut from the beginning of each of those.
    pub steps_dropped: Vec<u64>,
    /// What it waits for.
    pub wait: Option<Wait>,
    /// How the background job ended that it started.
    pub job_end: Option<JobEnd>,
    /// What it has printed so far, while it runs: the end of it, cut at a line, never more than [`LIVE_OUTPUT`].
    pub output: String,
    /// Bytes that were cut from the beginning of `output`.
    pub output_dropped: u64,
}

impl Call {
    /// What is shown in the row of what a step has printed, and how many lines it printed before that. Once the call is
    /// over, what its result keeps: so a row looks the same after the session was resumed.
    pub fn step_output(&self, step: usize) -> (&str, u64) {
        let kept = self.chain.as_ref().and_then(|chain| chain.steps.get(step));
        let is_kept = matches!(&self.phase, CallPhase::Done { result, .. }
            if result.details.as_ref().is_some_and(|details| details.get(CHAIN).is_some()));
        match (kept, self.step_outputs.get(step)) {
            (Some(kept), _) if is_kept => (&kept.output, kept.lines_before),
            (_, Some(output)) => (output, 0),
            (Some(kept), None) => (&kept.output, kept.lines_before),
            (None, None) => ("", 0),
        }
    }

    /// When it began, if this process saw it end.
    pub fn begun(&self) -> Option<Instant> {
        match &self.phase {
            CallPhase::Running { since, .. } => Some(*since),
            CallPhase::Done { result, ended: Some(ended), .. } => {
                ended.checked_sub(Duration::from_millis(result.duration_ms?))
            }
            _ => None,
        }
    }
}

/// Bytes of a running call's output that are kept for its row.
pub const LIVE_OUTPUT: usize = 64 * 1024;

/// How far a call is.
#[derive(Debug)]
pub enum CallPhase {
    /// The model writes it.
    Writing {
        /// Since when; unknown for one that was read from a log.
        since: Option<Instant>,
    },
    /// It is whole and waits for its turn.
    Queued,
    /// The user is asked.
    Asking,
    /// It runs.
    Running {
        /// Since when.
        since: Instant,
        /// After how long it is stopped.
        limit: Option<Duration>,
    },
    /// It is over.
    Done {
        /// What it gave.
        result: Given,
        /// When it ended; unknown of one that was read from a log.
        ended: Option<Instant>,
        /// The limit it had, if that is known.
        limit: Option<Duration>,
    },
    /// It was never answered: its turn ended first.
    Dropped,
}

/// A command that the user ran from the prompt.
#[derive(Debug)]
pub enum Shell {
    /// It runs.
    Running {
        /// The command.
        command: String,
        /// What it has printed, as of [`Call::output`].
        output: String,
        /// Its result is only shown.
        shown_only: bool,
        /// Since when.
        since: Instant,
    },
    /// It is over; always [`Message::BashExecution`].
    Done(Arc<Message>),
}

impl Shell {
    /// What it gave, once it is over.
    pub fn done(&self) -> Option<&BashExecutionMessage> {
        match self {
            Self::Done(message) => match &**message {
                Message::BashExecution(done) => Some(done),
                _ => None,
            },
            Self::Running { .. } => None,
        }
    }
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnEnd {
    /// How it ended.
    pub how: TurnEndKind,
    /// How long it took.
    pub took: Duration,
    /// Time of day, as hours and minutes of the user's zone.
    pub at: (u8, u8),
    /// Tokens a second, times ten, over all its requests.
    pub speed: Option<u32>,
    /// What was done, in the past tense, if the user has words for it.
    pub verb: Option<Arc<str>>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEndKind {
    /// The model was done.
    Done,
    /// The user stopped it.
    Stopped,
    /// It failed, was refused or reached a limit; the text says it.
    Failed(String),
}

/// A summary that took the place of what was said before it.
#[derive(Debug)]
pub struct Compaction {
    /// Why; unknown of one that was read from a log that does not tell.
    pub reason: Option<CompactionReason>,
    /// The summary as far as it has come, Markdown.
    pub summary: String,
    /// What of it is new, while it streams.
    pub trail: Trail,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// How far it is.
    pub phase: CompactionPhase,
}

impl Compaction {
    /// How long one that was stopped is told.
    pub const STOPPED_FOR: Duration = Duration::from_millis(2000);
}

/// How far a compaction is.
#[derive(Debug)]
pub enum CompactionPhase {
    /// It runs.
    Running {
        /// Since when.
        since: Instant,
    },
    /// It is over.
    Done {
        /// Tokens of the context afterwards, estimated.
        tokens_after: Option<u64>,
        /// What it cost, in dollars.
        cost: Option<f64>,
        /// How long it took.
        took: Option<Duration>,
    },
    /// It failed: a notice says why, and nothing else is shown of it.
    Failed,
    /// It was stopped a while ago: nothing is shown of it.
    Gone,
    /// It was stopped; shown for a moment.
    Cancelled {
        /// When.
        at: Instant,
        /// How long it had run.
        took: Duration,
    },
}

/// The ends of background jobs, as the agent was told of them.
#[derive(Clone, Debug)]
pub struct Jobs {
    /// How each of them ended.
    pub reports: Vec<JobReport>,
    /// What the agent reads.
    pub text: String,
}
