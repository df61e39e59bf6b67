//! Earlier prompts: walking through them, and searching them. What lies on disk is the application's business.
//!
//! Invariants: no two consecutive records of a folder are the same; what was being written when a walk or a search
//! began comes back when it ends.

use crate::proto::prompt::{PasteRecord, PromptRecord};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// More prompts are not kept.
pub const MOST_PROMPTS: usize = 10_000;

/// The prompts of this user.
#[derive(Clone, Debug, Default)]
pub struct History {
    folder: PathBuf,
    /// The oldest first.
    records: Vec<PromptRecord>,
    walk: Option<Walk>,
    /// What was asked in the open session, the oldest first: a walk begins there.
    session: Vec<String>,
}

/// A walk through the prompts of this folder.
#[derive(Clone, Debug)]
struct Walk {
    /// The record shown.
    at: usize,
    /// What was written before it began, chips as their characters.
    draft: String,
}

/// What a step of a walk shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A record.
    Record(PromptRecord),
    /// What was written before the walk began.
    Draft(String),
}

/// Whose prompts are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Those of this folder.
    #[default]
    Folder,
    /// All.
    All,
}

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search {
    /// What is looked for.
    pub query: String,
    /// Where.
    pub scope: Scope,
    /// The match is among them; false while there is none, and then the prompt shown is the last that was.
    pub is_found: bool,
    at: Option<usize>,
    /// What was written before it began, chips as their characters.
    pub draft: String,
}

impl History {
    /// The prompts of a user who works in this folder; none are known yet.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder, records: Vec::new(), walk: None, session: Vec::new() }
    }

    /// Takes in what was read from disk, the oldest first. What was sent meanwhile stays the newest.
    pub fn load(&mut self, mut older: Vec<PromptRecord>) {
        if let Some(walk) = &mut self.walk {
            walk.at += older.len();
        }
        older.append(&mut self.records);
        self.records = older;
        if self.walk.is_none() {
            self.promote();
        }
        self.trim();
    }

    /// A session is open in which this was asked, the oldest first. A walk finds these first; what of them was not known,
    /// because it was asked in another program, is known from now on.
    pub fn open_session(&mut self, prompts: Vec<String>) {
        self.walk = None;
        self.session = prompts;
        self.promote();
        self.trim();
    }

    /// Makes the prompts of the open session the newest.
    fn promote(&mut self) {
        if self.session.is_empty() {
            return;
        }
        let wanted: HashSet<&str> = self.session.iter().map(String::as_str).collect();
        let mut known: HashMap<String, PromptRecord> = HashMap::new();
        for record in std::mem::take(&mut self.records) {
            let text = if record.folder == self.folder { Some(expanded(&record)) } else { None };
            match text.filter(|text| wanted.contains(text.as_ref())) {
                Some(text) => {
                    let text = text.into_owned();
                    known.insert(text, record);
                }
                None => self.records.push(record),
            }
        }
        for text in &self.session {
            let record = known.get(text).cloned().unwrap_or_else(|| self.record_of(text));
            if self.records.last() != Some(&record) {
                self.records.push(record);
            }
        }
    }

    /// A prompt as it would have been kept.
    fn record_of(&self, text: &str) -> PromptRecord {
        let folder = self.folder.clone();
        match super::chips::label(text, 1) {
            Some(label) => {
                let pastes = vec![PasteRecord { label: label.clone(), text: text.to_owned() }];
                PromptRecord { text: label, folder, pastes }
            }
            None => PromptRecord { text: text.to_owned(), folder, pastes: Vec::new() },
        }
    }

    /// Adds a prompt that was sent. The record to write to disk, unless it repeats the one before.
    pub fn push(&mut self, text: String, pastes: Vec<PasteRecord>) -> Option<PromptRecord> {
        self.walk = None;
        let record = PromptRecord { text, folder: self.folder.clone(), pastes };
        let last = self.records.iter().rev().find(|other| other.folder == record.folder);
        if last == Some(&record) {
            return None;
        }
        self.records.push(record.clone());
        self.trim();
        Some(record)
    }

    fn trim(&mut self) {
        let surplus = self.records.len().saturating_sub(MOST_PROMPTS);
        self.records.drain(..surplus);
        if let Some(walk) = &mut self.walk {
            walk.at = walk.at.saturating_sub(surplus);
        }
    }

    /// What was written before the walk that is under way.
    pub fn draft(&self) -> Option<&str> {
        self.walk.as_ref().map(|walk| walk.draft.as_str())
    }

    /// A walk is under way.
    pub const fn is_walking(&self) -> bool {
        self.walk.is_some()
    }

    /// Ends a walk: what is shown now is being written.
    pub fn stop(&mut self) {
        self.walk = None;
    }

    /// The prompt before. `draft` is what is written now.
    pub fn previous(&mut self, draft: impl FnOnce() -> String) -> Option<Step> {
        let end = self.walk.as_ref().map_or(self.records.len(), |walk| walk.at);
        let at = self.records.get(..end)?.iter().rposition(|record| record.folder == self.folder)?;
        match &mut self.walk {
            Some(walk) => walk.at = at,
            None => self.walk = Some(Walk { at, draft: draft() }),
        }
        self.records.get(at).cloned().map(Step::Record)
    }

    /// The prompt after; behind the newest, what was written before.
    #[expect(clippy::should_implement_trait, reason = "the other way from `previous`; this is no iterator")]
    pub fn next(&mut self) -> Option<Step> {
        let walk = self.walk.as_mut()?;
        let after = self.records.get(walk.at + 1..).unwrap_or_default();
        if let Some(offset) = after.iter().position(|record| record.folder == self.folder) {
            walk.at += 1 + offset;
            return self.records.get(walk.at).cloned().map(Step::Record);
        }
        self.walk.take().map(|walk| Step::Draft(walk.draft))
    }

    /// Begins a search.
    pub const fn search(&self, draft: String) -> Search {
        Search { query: String::new(), scope: Scope::Folder, is_found: true, at: None, draft }
    }

    /// The newest match, after the query or the scope changed.
    pub fn find(&self, search: &mut Search) -> Option<&PromptRecord> {
        search.at = None;
        self.older(search)
    }

    /// The match before the one shown.
    pub fn older(&self, search: &mut Search) -> Option<&PromptRecord> {
        let end = search.at.unwrap_or(self.records.len());
        let shown = search.at.and_then(|at| self.records.get(at));
        let matches = |record: &PromptRecord| shown != Some(record) && self.fits(search, record);
        let found = self.records.get(..end).and_then(|records| records.iter().rposition(matches));
        self.settle(search, found)
    }

    /// The match after the one shown.
    pub fn newer(&self, search: &mut Search) -> Option<&PromptRecord> {
        let start = search.at.map_or(self.records.len(), |at| at + 1);
        let shown = search.at.and_then(|at| self.records.get(at));
        let matches = |record: &PromptRecord| shown != Some(record) && self.fits(search, record);
        let after = self.records.get(start..).unwrap_or_default();
        let found = after.iter().position(matches).map(|offset| start + offset);
        self.settle(search, found)
    }

    fn settle(&self, search: &mut Search, found: Option<usize>) -> Option<&PromptRecord> {
        search.is_found = found.is_some() || search.query.is_empty();
        let at = found?;
        search.at = Some(at);
        self.records.get(at)
    }

    /// Where the words of the query stand in a line of what was found, in bytes, in order.
    pub fn matches_in(search: &Search, line: &str) -> Vec<(usize, usize)> {
        let lower = line.to_lowercase();
        // Few letters are longer in small: then only the exact ones are marked.
        let ignores_case = !search.query.chars().any(char::is_uppercase) && lower.len() == line.len();
        let text = if ignores_case { lower.as_str() } else { line };
        let words = search.query.split_whitespace();
        let mut found: Vec<(usize, usize)> =
            words.flat_map(|word| text.match_indices(word).map(|(at, word)| (at, at + word.len()))).collect();
        found.sort_unstable();
        found
    }

    /// All words of the query stand in it; small letters match capitals too.
    fn fits(&self, search: &Search, record: &PromptRecord) -> bool {
        let is_here = match search.scope {
            Scope::Folder => record.folder == self.folder,
            Scope::All => true,
        };
        if !is_here || search.query.is_empty() {
            return false;
        }
        if search.query.chars().any(char::is_uppercase) {
            return search.query.split_whitespace().all(|word| record.text.contains(word));
        }
        let text = record.text.to_lowercase();
        search.query.split_whitespace().all(|word| text.contains(word))
    }
}

/// What was sent.
fn expanded(record: &PromptRecord) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(record.text.as_str());
    for paste in &record.pastes {
        text = Cow::Owned(text.replacen(&paste.label, &paste.text, 1));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str, folder: &str) -> PromptRecord {
        PromptRecord { text: text.to_owned(), folder: folder.into(), pastes: Vec::new() }
    }

    fn history() -> History {
        let mut history = History::new("/here".into());
        history.load(vec![
            record("Fix the parser", "/here"),
            record("fix docs", "/there"),
            record("run tests", "/here"),
        ]);
        history
    }

    fn text(step: Option<Step>) -> Option<String> {
        step.map(|step| match step {
            Step::Record(record) => record.text,
            Step::Draft(draft) => format!("draft: {draft}"),
        })
    }

    #[test]
    fn a_walk_stays_in_the_folder_and_ends_at_the_draft() {
        let mut history = history();
        let mut previous = || text(history.previous(|| "half".to_owned()));
        assert_eq!(previous().as_deref(), Some("run tests"));
        assert_eq!(previous().as_deref(), Some("Fix the parser"));
        assert_eq!(previous(), None);
        assert_eq!(text(history.next()).as_deref(), Some("run tests"));
        assert_eq!(text(history.next()).as_deref(), Some("draft: half"));
        assert_eq!(text(history.next()), None);
    }

    #[test]
    fn consecutive_doubles_are_one_and_the_oldest_go() {
        let mut history = history();
        assert_eq!(history.push("run tests".to_owned(), Vec::new()), None);
        assert!(history.push("more".to_owned(), Vec::new()).is_some());
        history.load((0..MOST_PROMPTS).map(|n| record(&n.to_string(), "/here")).collect());
        assert_eq!(history.records.len(), MOST_PROMPTS);
        assert_eq!(history.records.last().map(|record| record.text.as_str()), Some("more"));
    }

    #[test]
    fn a_search_finds_words_here_or_everywhere() {
        let history = history();
        let mut search = history.search(String::new());
        search.query = "parser fix".to_owned();
        assert_eq!(history.find(&mut search).map(|found| found.text.as_str()), Some("Fix the parser"));
        assert_eq!(history.older(&mut search), None);
        assert!(!search.is_found);
        search.query = "fix".to_owned();
        search.scope = Scope::All;
        assert_eq!(history.find(&mut search).map(|found| found.text.as_str()), Some("fix docs"));
        assert_eq!(history.older(&mut search).map(|found| found.text.as_str()), Some("Fix the parser"));
        assert_eq!(history.newer(&mut search).map(|found| found.text.as_str()), Some("fix docs"));
        search.query = "Fix".to_owned();
        assert_eq!(history.find(&mut search).map(|found| found.text.as_str()), Some("Fix the parser"));
    }
}
