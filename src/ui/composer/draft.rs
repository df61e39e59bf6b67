//! What is being written, as something that can be kept: where it is kept is the application's business.

use super::Composer;
use super::buffer::Pos;
use super::chips::{Chip, is_chip};
use super::edit::clean;
use super::undo::Caret;
use crate::proto::prompt::{Draft, DraftPart};

/// Tells whether what is written is still the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    revision: u64,
    caret: Pos,
}

impl Composer {
    /// Another mark for another text or another place of the caret.
    pub const fn mark(&self) -> Mark {
        Mark { revision: self.buffer.revision(), caret: self.caret.pos }
    }

    /// What is being written; nothing when nothing is. While earlier prompts are shown in its place, it is what comes back
    /// when they go.
    pub fn draft(&self) -> Option<Draft> {
        let hidden =
            self.search.as_ref().map(|search| search.draft.as_str()).or_else(|| self.history.draft());
        let (before, after) = match hidden {
            Some(text) => (text.to_owned(), String::new()),
            None => {
                let caret = self.caret.pos;
                (self.buffer.slice(Pos::default(), caret), self.buffer.slice(caret, self.buffer.end()))
            }
        };
        let is_empty = before.is_empty() && after.is_empty();
        (!is_empty).then(|| Draft { before: self.parts(&before), after: self.parts(&after) })
    }

    fn parts(&self, text: &str) -> Vec<DraftPart> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.char_indices().find(|(_, c)| is_chip(*c)).map_or(rest.len(), |(at, _)| at);
            if end > 0 {
                parts.push(DraftPart::Text(rest.get(..end).unwrap_or_default().to_owned()));
            }
            rest = rest.get(end..).unwrap_or_default();
            let mut chars = rest.chars();
            match chars.next().and_then(|c| self.buffer.chips.get(c)) {
                Some(Chip::Paste { label, text }) => {
                    let (label, text) = (label.clone(), text.clone());
                    parts.push(DraftPart::Paste(crate::proto::prompt::PasteRecord { label, text }));
                }
                Some(Chip::File { path }) => parts.push(DraftPart::File(path.clone())),
                None => {}
            }
            rest = chars.as_str();
        }
        parts
    }

    /// Begins anew with a draft, or with nothing: what was undone, walked through or searched before belongs to what was
    /// written before.
    pub fn begin_with(&mut self, draft: Option<&Draft>) {
        self.search = None;
        self.jump = None;
        self.history.stop();
        self.buffer.replace(Pos::default(), self.buffer.end(), "");
        self.buffer.chips.keep_only(self.kills.texts());
        self.caret = Caret::default();
        self.sticky = None;
        self.undo.clear();
        if let Some(draft) = draft {
            self.put_before(draft);
        }
        self.completer.refresh(None, false);
        self.scroll();
    }

    /// Puts a draft before what has been written since.
    pub fn put_draft_before(&mut self, draft: &Draft) {
        let caret = self.caret.pos;
        let was_empty = self.is_empty();
        let lines = self.buffer.line_count();
        if !was_empty {
            self.buffer.insert_first("\n\n");
        }
        self.put_before(draft);
        if !was_empty {
            let line = caret.line + self.buffer.line_count() - lines;
            self.caret = Caret { pos: Pos { line, at: caret.at }, anchor: None };
        }
        // Steps of before count from another beginning.
        self.undo.clear();
        self.completer.refresh(None, false);
        self.scroll();
    }

    fn put_before(&mut self, draft: &Draft) {
        let before = self.text_of_parts(&draft.before);
        let after = self.text_of_parts(&draft.after);
        self.buffer.insert_first(&format!("{before}{after}"));
        let pos = Pos::default().after(&before);
        self.caret = Caret { pos: self.snapped(pos), anchor: None };
    }

    /// A file may have been changed by anybody: what comes from it is cleaned like a paste.
    fn text_of_parts(&mut self, parts: &[DraftPart]) -> String {
        let mut out = String::new();
        for part in parts {
            let (chip, text) = match part {
                DraftPart::Text(text) => (None, clean(text)),
                DraftPart::Paste(paste) => {
                    let (label, text) = (clean(&paste.label).replace('\n', " "), clean(&paste.text));
                    (Some(Chip::Paste { label, text: text.clone() }), text)
                }
                DraftPart::File(path) => {
                    let path = clean(path).replace('\n', " ");
                    (Some(Chip::File { path: path.clone() }), super::chips::mention(&path))
                }
            };
            match chip.and_then(|chip| self.buffer.chips.add(chip)) {
                Some(c) => out.push(c),
                None => out.push_str(&text),
            }
        }
        out
    }
}
