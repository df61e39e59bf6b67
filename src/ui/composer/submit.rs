//! What is sent, and how.

use super::buffer::Pos;
use super::chips::Chip;
use super::undo::{Caret, EditKind};
use super::{Composer, Outcome};
use crate::proto::prompt::{PasteRecord, PromptRecord};
use std::time::Instant;

/// Which key sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The usual one: a turn that runs is steered, unless a setting says otherwise.
    Submit,
    /// After the turn.
    Queue,
    /// The turn is stopped for it.
    SendNow,
}

/// What a prompt is, by its first characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// A prompt for the model.
    Prompt,
    /// `/`: a command, if there is one with that name.
    Command,
    /// `!`: a shell command whose result the model gets.
    Shell,
    /// `!!`: a shell command whose result is only shown.
    ShellShownOnly,
}

impl LineKind {
    /// What this text is.
    pub fn of(text: &str) -> Self {
        if text.starts_with("!!") {
            Self::ShellShownOnly
        } else if text.starts_with('!') {
            Self::Shell
        } else if text.starts_with('/') {
            Self::Command
        } else {
            Self::Prompt
        }
    }
}

/// A prompt on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// Which key sent it.
    pub delivery: Delivery,
    /// What it is.
    pub kind: LineKind,
    /// What is sent: chips as what they stand for; of a shell line the command alone.
    pub text: String,
    /// What was shown: large pastes as their labels.
    pub shown: String,
    /// The pastes behind the labels.
    pub pastes: Vec<PasteRecord>,
    /// Files mentioned by completion.
    pub files: Vec<String>,
    /// For the history on disk; none when it repeats the prompt before.
    pub record: Option<PromptRecord>,
}

impl Composer {
    /// What the text is, by its first characters.
    pub fn kind(&self) -> LineKind {
        LineKind::of(self.buffer.line(0))
    }

    pub(super) fn submit(&mut self, delivery: Delivery, now: Instant) -> Outcome {
        let Pos { line, at } = self.caret.pos;
        let ends_in_backslash = self.buffer.line(line).get(..at).is_some_and(|text| text.ends_with('\\'));
        if delivery == Delivery::Submit && ends_in_backslash && self.selection().is_none() {
            let start = Pos { line, at: at - 1 };
            self.apply(start, self.caret.pos, "\n", EditKind::Single, now);
            return Outcome::Changed;
        }
        let text = self.buffer.text();
        let text = text.trim_end();
        if text.trim_start().is_empty() {
            return Outcome::SubmitEmpty(delivery);
        }
        let kind = LineKind::of(text);
        let chips = &self.buffer.chips;
        let expanded = chips.expanded(text);
        let sent = match kind {
            LineKind::Prompt | LineKind::Command => expanded.as_str(),
            LineKind::Shell | LineKind::ShellShownOnly => expanded.trim_start_matches('!').trim(),
        };
        if sent.is_empty() {
            return Outcome::Unchanged;
        }
        let files = chips.of(text).filter_map(|chip| match chip {
            Chip::File { path } => Some(path.clone()),
            Chip::Paste { .. } => None,
        });
        let (shown, pastes) = (chips.labelled(text), chips.pastes(text));
        let submission = Submission {
            delivery,
            kind,
            text: sent.to_owned(),
            files: files.collect(),
            record: self.history.push(shown.clone(), pastes.clone()),
            shown,
            pastes,
        };
        self.buffer.replace(Pos::default(), self.buffer.end(), "");
        self.caret = Caret::default();
        self.sticky = None;
        self.undo.clear();
        self.buffer.chips.keep_only(self.kills.texts());
        Outcome::Submit(Box::new(submission))
    }

    /// Puts back what could not be sent or was taken back from the queue, before what has been written since.
    pub fn put_back(&mut self, shown: &str, pastes: &[PasteRecord], now: Instant) {
        let mut text = self.buffer.chips.restore(&super::edit::clean(shown), pastes);
        if !self.is_empty() {
            text.push_str("\n\n");
        }
        let caret = self.caret;
        let lines = text.matches('\n').count();
        let was_empty = self.is_empty();
        self.apply(Pos::default(), Pos::default(), &text, EditKind::Single, now);
        if !was_empty {
            self.caret = Caret { pos: Pos { line: caret.pos.line + lines, at: caret.pos.at }, anchor: None };
        }
        self.completer.refresh(None, false);
        self.scroll();
    }
}
