//! What a run came to: calls by kind, failures, tokens, times.

use super::wording::{self, Counted, Failure};
use super::{Kind, Span};
use crate::proto::chain::StepState;
use crate::proto::message::{AssistantMessage, Message};
use crate::transcript::conversation::is_blank;
use crate::transcript::item::{BlockRef, Body, Call, CallPhase, Item, Prose, Thinking};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Characters that are taken for a token where none was reported.
const CHARS_A_TOKEN: u64 = 4;

/// What the model does now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doing {
    /// Nothing that could be seen.
    #[default]
    Waiting,
    /// It thinks, and the text comes.
    Thinking,
    /// It writes a call.
    Writing,
    /// A call is written and waits for its turn.
    Queued,
    /// The user is asked.
    Asking,
    /// Calls run, and all of them wait for other agents.
    RunningAgents,
    /// A call runs.
    Running,
}

/// How long a run took, or since when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reckoned {
    /// It runs since then.
    Since(Instant),
    /// It took so long.
    Took(Duration),
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Its turn runs, and nothing was said since.
    pub is_live: bool,
    /// Calls by kind, in the order in which each kind first came.
    pub(super) kinds: Vec<Counted>,
    /// All calls; each step of a command counts.
    pub calls: u64,
    /// How many items are calls: one that counts nothing yet is one.
    pub rows: u64,
    /// What failed.
    pub failure: Option<Failure>,
    /// Tokens that the replies with its calls were sent, cache included.
    pub sent: u64,
    /// Tokens that they gave; estimated while they come.
    pub received: u64,
    /// From its begin to the end of its last call, if that is known.
    pub time: Option<Reckoned>,
    /// How long was thought, less what goes on.
    pub thought: Option<Duration>,
    /// Since when is thought.
    pub thinking_since: Option<Instant>,
    /// There is thinking to read.
    pub has_text: bool,
    /// What the model does now.
    pub doing: Doing,
    /// It hangs under the reply that made its first call.
    pub is_hung: bool,
}

impl Facts {
    /// The facts of the items of a run; those that are over are only looked at once.
    pub(super) fn of(items: &[Item], span: Span, is_live: bool, settled: &mut Settled) -> Self {
        let begin = settled.end.max(span.first);
        let left = items.get(begin..=span.last).unwrap_or_default();
        let over = left.iter().take_while(|item| is_over(item)).count();
        let (over, left) = left.split_at(over);
        for item in over {
            settled.facts.item(item, &mut settled.tally);
        }
        settled.end = begin + over.len();
        let (mut facts, mut tally) = (Self { is_live, ..settled.facts.clone() }, settled.tally.clone());
        for item in left {
            facts.item(item, &mut tally);
        }
        let said = reply_above(items, span.first);
        facts.is_hung = said.is_some();
        facts.received += tally.chars / CHARS_A_TOKEN;
        if facts.rows > 0 {
            // The time of a reply that speaks first counts from its words on: what it thought before counts above.
            let begun = said.or(items.get(span.first)).and_then(|item| item.at);
            facts.time = match (begun, tally.ended, is_live) {
                (Some(begun), _, true) => Some(Reckoned::Since(begun)),
                (Some(begun), Some(ended), false) => {
                    Some(Reckoned::Took(ended.saturating_duration_since(begun)))
                }
                _ => tally.logged(),
            };
        }
        if !is_live {
            facts.doing = Doing::Waiting;
        }
        facts
    }

    /// There is something to say about it: the wait for the first call or thought is told elsewhere.
    pub const fn is_told(&self) -> bool {
        self.rows > 0 || self.has_text || (!self.is_live && self.thought.is_some())
    }

    /// Nothing but thinking.
    pub const fn is_thinking(&self) -> bool {
        self.rows == 0
    }

    fn item(&mut self, item: &Item, tally: &mut Tally) {
        match &item.body {
            Body::Call(call) => self.call(call, tally),
            Body::Thinking(thinking) => self.thinking(thinking, tally),
            _ => {}
        }
    }

    fn call(&mut self, call: &Call, tally: &mut Tally) {
        self.rows += 1;
        let count = steps(call);
        self.calls += count;
        wording::count(&mut self.kinds, call, count);
        if let CallPhase::Done { result, ended, .. } = &call.phase {
            if result.is_error {
                let name = wording::failed(call);
                self.failure = Some(match self.failure.take() {
                    None => Failure::One(name),
                    Some(Failure::One(_)) => Failure::Several(2),
                    Some(Failure::Several(count)) => Failure::Several(count + 1),
                });
            }
            tally.ended = tally.ended.max(*ended);
            tally.last_ms = tally.last_ms.max(result.timestamp);
        }
        match call.arguments.block() {
            Some(block) => self.message(block, tally),
            None if matches!(call.phase, CallPhase::Done { .. }) => {}
            None => {
                let chars = if call.draft.is_empty() { call.arguments.chars() } else { call.draft.len() };
                tally.chars += chars as u64;
            }
        }
        let doing = match call.phase {
            CallPhase::Running { .. } if wording::waits_for_agent(&call.tool) => Doing::RunningAgents,
            CallPhase::Running { .. } => Doing::Running,
            CallPhase::Asking => Doing::Asking,
            CallPhase::Queued => Doing::Queued,
            CallPhase::Writing { .. } => Doing::Writing,
            CallPhase::Done { .. } | CallPhase::Dropped => Doing::Waiting,
        };
        self.does(doing);
    }

    /// What has begun counts before what is written, that before what waits, and that before thoughts.
    fn does(&mut self, doing: Doing) {
        let rank = |doing: Doing| match doing {
            Doing::Waiting => 0,
            Doing::Thinking => 1,
            Doing::Queued => 2,
            Doing::Writing => 3,
            Doing::Asking => 4,
            Doing::RunningAgents => 5,
            Doing::Running => 6,
        };
        if rank(doing) > rank(self.doing) {
            self.doing = doing;
        }
    }

    /// Each reply counts once, however many calls it made.
    fn message(&mut self, block: &BlockRef, tally: &mut Tally) {
        if tally.message.as_ref().is_some_and(|last| Arc::ptr_eq(last, &block.message)) {
            return;
        }
        tally.message = Some(block.message.clone());
        let Some(AssistantMessage { usage, timestamp, .. }) = block.message() else { return };
        self.sent += usage.input + usage.cache_read + usage.cache_write;
        self.received += usage.output;
        tally.first_ms.get_or_insert(*timestamp);
    }

    fn thinking(&mut self, thinking: &Thinking, tally: &mut Tally) {
        let text = thinking.text.text();
        let has_text = !is_blank(text);
        self.has_text |= has_text;
        if let Some(took) = thinking.took {
            self.thought = Some(self.thought.unwrap_or_default() + took);
        }
        if matches!(thinking.text, Prose::Live(_)) {
            tally.chars += text.len() as u64;
        }
        if let Some(since) = thinking.since {
            self.thinking_since = Some(since);
            if has_text {
                self.does(Doing::Thinking);
            }
        }
    }
}

/// Nothing of it changes any more by itself. Whoever changes it nevertheless makes the run be looked through again.
const fn is_over(item: &Item) -> bool {
    match &item.body {
        Body::Call(call) => matches!(call.phase, CallPhase::Done { .. } | CallPhase::Dropped),
        Body::Thinking(thinking) => thinking.since.is_none() && !matches!(thinking.text, Prose::Live(_)),
        _ => true,
    }
}

/// What the first items of a run came to.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Those before this one are in it.
    end: usize,
    facts: Facts,
    tally: Tally,
}

impl Settled {
    /// The first item that is not in it.
    pub(super) const fn end(&self) -> usize {
        self.end
    }
}

/// What is only needed while a run is looked through.
#[derive(Clone, Debug, Default)]
struct Tally {
    /// The last reply that was counted.
    message: Option<Arc<Message>>,
    chars: u64,
    ended: Option<Instant>,
    first_ms: Option<i64>,
    last_ms: i64,
}

impl Tally {
    /// The time as the log has it.
    fn logged(&self) -> Option<Reckoned> {
        let millis = u64::try_from(self.last_ms - self.first_ms.filter(|first| *first > 0)?).ok()?;
        (millis > 0).then(|| Reckoned::Took(Duration::from_millis(millis)))
    }
}

/// What a call counts: a command as many as it has steps.
fn steps(call: &Call) -> u64 {
    call.chain.as_ref().map_or(1, |chain| chain.steps.len().max(1) as u64)
}

/// The reply directly above a run that begins with a call.
fn reply_above(items: &[Item], first: usize) -> Option<&Item> {
    if !matches!(items.get(first)?.body, Body::Call(_)) {
        return None;
    }
    let above = items.get(..first)?.iter().rev().find(|item| !super::is_hidden(item))?;
    (Kind::of(above) == Kind::Split && matches!(above.body, Body::Reply(_))).then_some(above)
}

/// The step at which a command failed.
pub(super) fn failed_step(call: &Call) -> Option<&str> {
    let step = call.chain.as_ref()?.steps.iter().rev().find(|step| step.state == StepState::Failed)?;
    Some(&step.text)
}
