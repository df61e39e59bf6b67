//! The search in the transcript: what is looked for, and how many matches each item has.
//!
//! Items are searched in slices, so that no key waits for a hundred thousand of them: from where the user reads down to
//! the end, then up to the beginning. Items that come or change meanwhile are searched again.
//!
//! Invariants
//! - Items that have been searched are one stretch: between two known matches there is no unknown one.
//! - A match never spans lines and is never empty.

use super::conversation::Conversation;
use super::heights::Heights;
use super::item::{Body, Item, Prose};
use super::plain;
use regex::{Regex, RegexBuilder};
use std::ops::Range;

/// Memory that a pattern may take when it is compiled.
const MOST_COMPILED: usize = 1 << 20;

/// What an item costs beside its text.
const ITEM_COST: usize = 64;

/// A reply that streams is searched anew with everything that comes, up to this size; a larger one when it has grown by
/// a sixteenth.
const SMALL_REPLY: usize = 64 * 1024;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// As it was typed.
    pub text: String,
    /// It is a regular expression.
    pub is_regex: bool,
}

/// Why something is no regular expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPattern {
    /// The character at which it goes wrong, if that is known.
    pub at: Option<usize>,
    /// What is wrong, in a few words.
    pub what: String,
}

/// A query, ready to be looked for.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    by_line: bool,
}

impl Pattern {
    /// Reads a query. `None`: it is empty. Lower case finds both.
    ///
    /// # Errors
    /// It is no regular expression, or one that would take too much memory.
    pub fn new(query: &Query) -> Result<Option<Self>, WrongPattern> {
        if query.text.is_empty() {
            return Ok(None);
        }
        let text = plain::as_drawn(&query.text);
        let source = if query.is_regex { text.into_owned() } else { regex::escape(&text) };
        let regex = RegexBuilder::new(&source)
            .case_insensitive(!has_upper(&query.text, query.is_regex))
            .size_limit(MOST_COMPILED)
            .dfa_size_limit(MOST_COMPILED)
            .nest_limit(50)
            .build()
            .map_err(|error| wrong(&error))?;
        Ok(Some(Self { regex, by_line: query.is_regex }))
    }

    /// Where it is in a text, in order.
    pub fn find_all(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        self.each(text, |range| found.push(range));
        found
    }

    /// How often it is in a text.
    pub fn count(&self, text: &str) -> usize {
        let mut count = 0;
        self.each(text, |_| count += 1);
        count
    }

    fn each(&self, text: &str, mut with: impl FnMut(Range<usize>)) {
        if !self.by_line {
            self.regex.find_iter(text).for_each(|found| with(found.range()));
            return;
        }
        let mut start = 0;
        for line in text.split('\n') {
            for found in self.regex.find_iter(line).filter(|found| !found.is_empty()) {
                with(start + found.start()..start + found.end());
            }
            start += line.len() + 1;
        }
    }
}

/// Whoever types a capital means it. Letters behind a backslash are no letters.
fn has_upper(text: &str, is_regex: bool) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if is_regex && c == '\\' {
            chars.next();
        } else if c.is_uppercase() {
            return true;
        }
    }
    false
}

/// The library tells a mistake as lines: the pattern set in by four columns, a mark below it, and `error: …`.
fn wrong(error: &regex::Error) -> WrongPattern {
    let text = match error {
        regex::Error::Syntax(text) => text.as_str(),
        regex::Error::CompiledTooBig(_) => {
            return WrongPattern { at: None, what: "too large an expression".to_owned() };
        }
        _ => "",
    };
    let at = text.lines().find_map(|line| {
        let column = line.chars().take_while(|c| *c == ' ').count();
        let is_mark = line.trim_start().starts_with('^') && line.trim().chars().all(|c| c == '^');
        is_mark.then(|| column.saturating_sub(4))
    });
    let what = text.lines().rev().find_map(|line| line.strip_prefix("error: "));
    WrongPattern { at, what: what.unwrap_or("no regular expression").to_owned() }
}

/// A match: the n-th of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Index of the item.
    pub item: usize,
    /// Which of its matches, from 0.
    pub nth: usize,
}

/// Up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Towards the end.
    Next,
    /// Towards the beginning.
    Previous,
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To this match.
    To(Match),
    /// To this match, round the end or the beginning.
    Around(Match),
    /// Not known before more is searched.
    Later,
    /// There is no match.
    Nowhere,
}

/// What was searched of an item.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    revision: u64,
    /// Bytes of its source, of a reply that streams.
    bytes: usize,
}

/// A search that goes on.
#[derive(Clone, Debug)]
pub struct Search {
    pattern: Pattern,
    /// Matches of each item, summed.
    counts: Heights,
    seen: Vec<Seen>,
    /// Items from here to `below` have been searched.
    above: usize,
    below: usize,
    /// The conversation as it was then.
    revision: Option<u64>,
}

impl Search {
    /// A search that begins at an item.
    pub fn new(pattern: Pattern, from: usize, items: usize) -> Self {
        let from = from.min(items);
        Self {
            pattern,
            counts: Heights::zero(items),
            seen: vec![Seen::default(); items],
            above: from,
            below: from,
            revision: None,
        }
    }

    /// What it looks for.
    pub const fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Searches on, through about so many bytes.
    pub fn scan(&mut self, conversation: &Conversation, mut budget: usize) {
        let items = conversation.items();
        while self.seen.len() < items.len() {
            self.seen.push(Seen::default());
            self.counts.push(0);
        }
        if self.revision != Some(conversation.revision()) {
            self.revision = Some(conversation.revision());
            for (index, item) in items.iter().enumerate().take(self.below).skip(self.above) {
                let seen = self.seen.get(index).copied().unwrap_or_default();
                if seen.revision != item.revision && is_due(item, seen) {
                    budget = budget.saturating_sub(self.read(index, item));
                }
            }
        }
        while budget > 0
            && let Some(item) = items.get(self.below)
        {
            budget = budget.saturating_sub(self.read(self.below, item));
            self.below += 1;
        }
        while budget > 0
            && let Some(index) = self.above.checked_sub(1)
            && let Some(item) = items.get(index)
        {
            budget = budget.saturating_sub(self.read(index, item));
            self.above = index;
        }
    }

    /// Counts the matches of an item; returns what that cost.
    fn read(&mut self, index: usize, item: &Item) -> usize {
        let text = plain::text(item);
        let count = self.pattern.count(&text);
        self.counts.set(index, u32::try_from(count).unwrap_or(u32::MAX));
        if let Some(seen) = self.seen.get_mut(index) {
            *seen = Seen { revision: item.revision, bytes: source_bytes(item) };
        }
        text.len() + ITEM_COST
    }

    /// All items have been searched.
    pub const fn is_done(&self) -> bool {
        self.above == 0 && self.below == self.seen.len()
    }

    /// Matches so far.
    pub fn total(&self) -> u64 {
        self.counts.total()
    }

    /// Matches of an item so far.
    pub fn count(&self, item: usize) -> usize {
        self.counts.get(item) as usize
    }

    /// Any of these items has a match.
    pub fn any_in(&self, items: Range<usize>) -> bool {
        self.counts.top(items.end) > self.counts.top(items.start)
    }

    /// How many matches stand before this one.
    pub fn before(&self, at: Match) -> u64 {
        self.counts.top(at.item) + at.nth.min(self.count(at.item)) as u64
    }

    /// The match at a place, if there still is one.
    pub fn held(&self, at: Match) -> Option<Match> {
        let last = self.count(at.item).checked_sub(1)?;
        Some(Match { nth: at.nth.min(last), ..at })
    }

    /// The first match at or after a place, else the last before it.
    pub fn first(&self, from: Match) -> Step {
        let before = self.before(from);
        if let Some(found) = self.at(before) {
            return Step::To(found);
        }
        if self.below < self.seen.len() {
            return Step::Later;
        }
        match before.checked_sub(1).and_then(|last| self.at(last)) {
            Some(found) => Step::To(found),
            None if self.above > 0 => Step::Later,
            None => Step::Nowhere,
        }
    }

    /// The match after or before one.
    pub fn step(&self, from: Match, way: Way) -> Step {
        let is_match = self.held(from) == Some(from);
        let before = self.before(from);
        let (near, has_more) = match way {
            Way::Next => (Some(before + u64::from(is_match)), self.below < self.seen.len()),
            Way::Previous => (before.checked_sub(1), self.above > 0),
        };
        if let Some(found) = near.and_then(|near| self.at(near)) {
            return Step::To(found);
        }
        if has_more || !self.is_done() {
            return Step::Later;
        }
        let end = match way {
            Way::Next => Some(0),
            Way::Previous => self.total().checked_sub(1),
        };
        end.and_then(|end| self.at(end)).map_or(Step::Nowhere, Step::Around)
    }

    fn at(&self, number: u64) -> Option<Match> {
        let (item, nth) = self.counts.at(number)?;
        Some(Match { item, nth: nth as usize })
    }
}

/// Bytes of a reply that streams; of what is whole nothing.
fn source_bytes(item: &Item) -> usize {
    match &item.body {
        Body::Reply(Prose::Live(stream)) => stream.source().len(),
        _ => 0,
    }
}

fn is_due(item: &Item, seen: Seen) -> bool {
    let bytes = source_bytes(item);
    bytes <= SMALL_REPLY || bytes.saturating_sub(seen.bytes) >= seen.bytes / 16
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
