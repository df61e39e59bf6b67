//! What the sheet takes from the item it shows.

use super::body::{Body, Point};
use super::{Sheet, Source};
use crate::proto::chain::Chain;
use crate::proto::message::Millis;
use crate::transcript::conversation::Conversation;
use crate::ui::entries::EntryCx;
use crate::ui::entries::whole::{self, Begun, Head, Shown, Whole};
use crate::ui::jobs::log::JobLog;
use crate::ui::look::Look;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// The clock on the wall.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    /// Now, in milliseconds since the Unix epoch.
    pub now: Millis,
    /// Hours, minutes and seconds of such a time where the user is.
    pub time_of: fn(Millis) -> (u8, u8, u8),
}

/// What is not the body.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// What it is.
    pub label: String,
    /// What it was asked for, and what its button is called.
    pub asked: Option<(&'static str, String)>,
    /// The command, if there is one.
    pub command: Option<String>,
    /// Arguments of a tool that has no form of its own.
    pub arguments: Vec<(String, String)>,
    /// Beside place and time.
    pub facts: Vec<String>,
    /// Its steps, if they are shown.
    pub chain: Option<Arc<Chain>>,
    /// When the first of them began, if that was seen.
    pub steps_since: Option<Instant>,
    /// What the button of the result is called.
    pub gave: &'static str,
    /// The result, where it is not what is shown.
    pub result: Option<String>,
    /// Where all of the output is.
    pub whole_in: Option<String>,
    /// What the body is, in a word.
    pub shown: &'static str,
    /// More may come.
    pub is_live: bool,
}

impl Content {
    /// How many steps are shown.
    pub fn steps(&self) -> usize {
        self.chain.as_ref().map_or(0, |chain| chain.steps.len())
    }
}

fn word(shown: &Shown<'_>) -> &'static str {
    match shown {
        Shown::Output(..) => "output",
        Shown::Code { .. } => "content",
        Shown::Listing(..) => "found",
        Shown::Words(..) => "result",
        Shown::Change(..) => "change",
        Shown::Markdown(_) => "text",
    }
}

impl Sheet {
    /// Reads the item. False: it is gone, and the sheet with it.
    pub fn sync(&mut self, conversation: &Conversation, look: &Look<'_>, columns: u16, wall: Wall) -> bool {
        let Source::Item { item, generation } = self.source else { return true };
        let item = conversation.items().get(item);
        let Some(item) = item.filter(|_| conversation.generation() == generation) else { return false };
        let cx = EntryCx { look, width: columns.max(1), open: false };
        let head_for = (item.revision, columns, look.theme.revision());
        if self.head_for != head_for || self.head.as_deref().is_none_or(Head::is_stale) {
            self.head = Some(Arc::new(whole::head(item, &cx)));
            self.head_for = head_for;
        }
        if self.revision == Some(item.revision) {
            return true;
        }
        let Some(whole) = whole::whole(item, look) else { return false };
        let is_first = self.content.label.is_empty();
        self.revision = Some(item.revision);
        self.take(whole, look, wall, is_first);
        true
    }

    /// Reads the log of its job. False: there is none.
    pub fn sync_job(&mut self, log: Option<&JobLog>, look: &Look<'_>, wall: Wall) -> bool {
        let Source::Job(id) = &self.source else { return true };
        let Some(log) = log.filter(|log| log.id() == id) else { return false };
        if self.revision == Some(log.revision()) {
            return true;
        }
        let is_first = self.revision.replace(log.revision()).is_none();
        self.head = Some(Arc::new(Head::Job(Box::new(log.job.clone()))));
        let (text, dropped) = log.shown();
        self.take(whole::of_job(&log.job.view, text, dropped, log.job.since), look, wall, is_first);
        true
    }

    fn take(&mut self, mut whole: Whole<'_>, look: &Look<'_>, wall: Wall, is_first: bool) {
        let chain = whole.chain.take();
        // Of an old log nobody knows which step printed what.
        let told = chain
            .as_ref()
            .filter(|_| whole.is_live || whole.step_outputs.iter().any(|(output, _)| !output.is_empty()));
        let focus = |chain: &Chain| self.picked.or_else(|| chain.focus()).unwrap_or(0);
        let shows = told.map(|chain| focus(chain).min(chain.steps.len() - 1));
        let shown = match (told, shows) {
            (Some(_), Some(step)) => {
                let (text, dropped) = whole.step_outputs.get(step).copied().unwrap_or_default();
                Shown::Output(Cow::Borrowed(text), dropped)
            }
            _ => std::mem::replace(&mut whole.shown, Shown::Output(Cow::Borrowed(""), 0)),
        };
        let word = word(&shown);
        if self.shows != shows && !is_first {
            self.body = Body::empty(look.theme);
            self.selected = None;
            self.follows = true;
        }
        self.shows = shows;
        self.begun(whole.begun, look, wall);
        let went = self.body.set(shown, look.theme);
        match went {
            Some(went) => self.shift(went.lines, went.rows),
            None => self.selected = None,
        }
        if is_first {
            self.follows = self.body.is_output() || whole.is_live;
        }
        self.content = Content {
            label: whole.label,
            asked: whole.asked.map(|(name, text)| (name, text.into_owned())),
            command: whole.command.map(str::to_owned),
            arguments: whole.arguments.map(arguments).unwrap_or_default(),
            facts: whole.facts,
            chain,
            steps_since: whole.steps_since,
            gave: whole.gave,
            result: whole.result.map(Cow::into_owned),
            whole_in: whole.whole_in.map(str::to_owned),
            shown: word,
            is_live: whole.is_live,
        };
        self.search_again(went.is_none());
    }

    /// The wall's clock may be set meanwhile: when something began that goes on is read once.
    fn begun(&mut self, begun: Begun, look: &Look<'_>, wall: Wall) {
        let at = match begun {
            Begun::Unknown => return,
            Begun::Since(_) | Begun::Then(_) if self.started.is_some() => return,
            Begun::Since(since) | Begun::Then(since) => {
                let millis = look.now.saturating_duration_since(since).as_millis();
                wall.now.saturating_sub(i64::try_from(millis).unwrap_or(i64::MAX))
            }
            Begun::At(at) => at,
        };
        let (hours, minutes, seconds) = (wall.time_of)(at);
        self.started = Some(format!("started {hours:02}:{minutes:02}:{seconds:02}"));
    }

    /// Lines went from the begin of the text: what is remembered of it moves along.
    fn shift(&mut self, lines: usize, rows: usize) {
        if lines == 0 {
            return;
        }
        self.top = self.top.saturating_sub(rows);
        let up = |point: Point| match point.line.checked_sub(lines) {
            Some(line) => Point { line, ..point },
            None => Point::default(),
        };
        self.selected = self.selected.map(|(from, to)| (up(from), up(to)));
        self.held = None;
    }
}

/// Arguments as the head shows them.
fn arguments(arguments: &serde_json::Map<String, serde_json::Value>) -> Vec<(String, String)> {
    let shown = arguments.iter().map(|(key, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (key.clone(), value)
    });
    shown.collect()
}
