//! Runs of work: the calls and the thinking between two things that are said.
//!
//! Responsibility: which items are one run, what it came to, and its words. Not: how it looks, nor which runs are open.
//!
//! Invariants: the plan after any changes is the plan made from nothing; a change costs what its run holds, however many
//! items there are.
//!
//! | file | what it is |
//! |---|---|
//! | `facts` | calls, tokens and times of a run |
//! | `wording` | what was done, in words |

mod facts;
mod wording;

use facts::Settled;
pub use facts::{Doing, Facts, Reckoned};
pub use wording::{Failure, is_one_of, waits_for_agent};

use super::conversation::{Conversation, is_blank};
use super::item::{Body, CompactionPhase, Item, Thinking};
use crate::proto::event::NoticeLevel;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// What an item means for the run around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A part of it: a call, thinking.
    Work,
    /// It is drawn where it is, and the run goes on behind it.
    Neutral,
    /// Nothing of it is drawn, and the run goes on behind it.
    Hidden,
    /// The run ends here.
    Split,
}

impl Kind {
    /// The kind of an item.
    pub fn of(item: &Item) -> Self {
        match &item.body {
            _ if is_hidden(item) => Self::Hidden,
            Body::Call(_) | Body::Thinking(_) => Self::Work,
            Body::Notice { level, .. } if *level != NoticeLevel::Error => Self::Neutral,
            _ => Self::Split,
        }
    }

    /// A run goes on behind it without having it.
    const fn is_passed(self) -> bool {
        matches!(self, Self::Neutral | Self::Hidden)
    }

    /// It has no rows where a run is one line.
    const fn is_away(self) -> bool {
        matches!(self, Self::Work | Self::Hidden)
    }
}

/// Nothing of it is drawn: models send line ends between calls, and providers withhold thinking.
pub fn is_hidden(item: &Item) -> bool {
    match &item.body {
        Body::Reply(prose) => is_blank(prose.text()),
        Body::Thinking(Thinking { text, since: None, took: None, .. }) => is_blank(text.text()),
        Body::Compaction(compaction) => {
            matches!(compaction.phase, CompactionPhase::Failed | CompactionPhase::Gone)
        }
        _ => false,
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    /// Its last item that is work.
    last: usize,
    /// What of it was reckoned is out of date.
    is_stale: bool,
}

/// Which items are one run.
#[derive(Debug, Default)]
pub struct Runs {
    kinds: Vec<Kind>,
    /// The first item of the run that an item is in; [`NONE`] of others.
    first: Vec<u32>,
    runs: HashMap<usize, Run>,
    reckoned: HashMap<usize, (u64, Arc<Facts>)>,
    /// What is reckoned for good of the runs that still grow, by their first item.
    settled: HashMap<usize, Settled>,
    /// Raised whenever the facts of a run change.
    stamp: u64,
}

const NONE: u32 = u32::MAX;

/// A run, by its items: notices and hidden ones between are among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first one; it is work.
    pub first: usize,
    /// The last one; it is work.
    pub last: usize,
}

impl Runs {
    /// How many items are planned.
    pub const fn len(&self) -> usize {
        self.kinds.len()
    }

    /// No items are planned.
    pub const fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Brings the plan up to date: `touched` are items that have changed, new ones are found.
    pub fn update(&mut self, items: &[Item], touched: impl IntoIterator<Item = usize>) {
        let known = self.len();
        for index in touched.into_iter().filter(|index| *index < known) {
            let Some(item) = items.get(index) else { continue };
            self.change(index, Kind::of(item));
        }
        for item in items.iter().skip(known) {
            self.push(Kind::of(item));
        }
    }

    /// The run that an item is in.
    pub fn at(&self, item: usize) -> Option<Span> {
        let first = *self.first.get(item)?;
        let first = usize::try_from(first).ok().filter(|_| first != NONE)?;
        Some(Span { first, last: self.runs.get(&first)?.last })
    }

    /// What an item means for the run around it.
    pub fn kind(&self, item: usize) -> Kind {
        self.kinds.get(item).copied().unwrap_or(Kind::Split)
    }

    /// The facts of the run that begins at an item, reckoned when they are out of date, and a number that no other facts
    /// of a run have.
    pub fn facts(&mut self, span: Span, conversation: &Conversation) -> (u64, Arc<Facts>) {
        let is_stale = self.runs.get_mut(&span.first).is_none_or(|run| std::mem::take(&mut run.is_stale));
        let is_live = self.is_tail(span) && conversation.is_turn_running();
        let before = self.reckoned.get(&span.first);
        if let (Some((stamp, facts)), false) = (before, is_stale)
            && facts.is_live == is_live
        {
            return (*stamp, facts.clone());
        }
        // One that goes on changes with each call of it: what it came to before is not looked through again.
        let mut settled = self.settled.remove(&span.first).unwrap_or_default();
        let facts = Facts::of(conversation.items(), span, is_live, &mut settled);
        if is_live {
            self.settled.insert(span.first, settled);
        }
        if let Some((stamp, known)) = before
            && **known == facts
        {
            return (*stamp, known.clone());
        }
        self.stamp += 1;
        let made = (self.stamp, Arc::new(facts));
        self.reckoned.insert(span.first, made.clone());
        made
    }

    /// Nothing was said since.
    pub fn is_tail(&self, span: Span) -> bool {
        self.kinds.iter().skip(span.last + 1).all(|kind| *kind != Kind::Split)
    }

    /// The first item of these that has rows of its own in a closed run.
    pub fn first_told(&self, items: Range<usize>) -> Option<usize> {
        let kinds = self.kinds.get(items.clone())?;
        Some(items.start + kinds.iter().position(|kind| !kind.is_away())?)
    }

    /// The last item of these that has rows of its own in a closed run.
    pub fn last_told(&self, items: Range<usize>) -> Option<usize> {
        let kinds = self.kinds.get(items.clone())?;
        Some(items.start + kinds.iter().rposition(|kind| !kind.is_away())?)
    }

    /// The facts of the run that begins at an item, as they were last asked for.
    pub fn known(&self, first: usize) -> Option<&Facts> {
        self.reckoned.get(&first).map(|(_, facts)| &**facts)
    }

    fn push(&mut self, kind: Kind) {
        let index = self.kinds.len();
        self.kinds.push(kind);
        self.first.push(NONE);
        if kind == Kind::Work {
            self.join(index);
        }
    }

    /// Work at `index`, behind all other work: it belongs to the run above, or begins one.
    fn join(&mut self, index: usize) {
        let above = self.kinds.get(..index).unwrap_or_default();
        let above = above.iter().rposition(|kind| !kind.is_passed());
        let above = above.filter(|above| self.kind(*above) == Kind::Work);
        let first = above.and_then(|above| self.at(above)).map_or(index, |run| run.first);
        let from = above.map_or(index, |above| above + 1);
        self.runs.insert(first, Run { last: index, is_stale: true });
        for slot in self.first.get_mut(from..=index).unwrap_or_default() {
            *slot = u32::try_from(first).unwrap_or(NONE);
        }
    }

    fn change(&mut self, index: usize, kind: Kind) {
        if self.kind(index) == kind {
            if let Some(span) = self.at(index)
                && let Some(run) = self.runs.get_mut(&span.first)
            {
                run.is_stale = true;
                if self.settled.get(&span.first).is_some_and(|settled| index < settled.end()) {
                    self.settled.remove(&span.first);
                }
            }
            return;
        }
        if let Some(slot) = self.kinds.get_mut(index) {
            *slot = kind;
        }
        // All that hangs together with it is planned anew.
        let is_split = |kind: &Kind| *kind == Kind::Split;
        let above = self.kinds.get(..index).unwrap_or_default();
        let from = above.iter().rposition(is_split).map_or(0, |split| split + 1);
        let below = self.kinds.get(index + 1..).unwrap_or_default();
        let to = below.iter().position(is_split).map_or(self.kinds.len(), |split| index + 1 + split);
        for item in from..to {
            self.runs.remove(&item);
            self.reckoned.remove(&item);
            self.settled.remove(&item);
            if let Some(slot) = self.first.get_mut(item) {
                *slot = NONE;
            }
        }
        for item in from..to {
            if self.kind(item) == Kind::Work {
                self.join(item);
            }
        }
    }
}

#[cfg(test)]
#[path = "runs/tests.rs"]
mod tests;
