//! The composer: where prompts are written. Pure state; the caret is the terminal's own.
//!
//! Responsibilities: text, caret, selection, undo, kill ring, chips, walking and searching earlier prompts, completion,
//! and what is submitted. Not: which key does what (`config::keymap`), reading files or the clipboard, sending.
//! Invariants: the caret and the ends of a selection stand on boundaries of units; every change of the text can be
//! undone, clearing included, until the text is submitted; text from outside is cleaned on its way in.
//!
//! | file | what it is |
//! |---|---|
//! | [`buffer`] | the text as lines, wrapped |
//! | [`wrap`] | graphemes, widths, rows |
//! | [`words`] | where words begin and end |
//! | [`edit`] | changes of the text |
//! | `motion` | where the caret goes |
//! | [`undo`] | steps back and forth |
//! | [`kill`] | what was cut |
//! | [`chips`] | pastes and files as one unit |
//! | [`history`] | earlier prompts |
//! | `jump` | to a character |
//! | `expand` | a chip as its text |
//! | `dictate` | dictated text |
//! | `dropped` | files dropped on the terminal |
//! | `draft` | what is written, to be kept |
//! | [`mentions`] | what is being completed |
//! | [`complete`] | what could stand there |
//! | [`rank`] | how well a query fits |
//! | `submit` | what is sent |
//! | [`view`] | rows for the screen |

pub mod buffer;
pub mod chips;
pub mod complete;
mod dictate;
mod draft;
mod dropped;
pub mod edit;
mod expand;
pub mod history;
mod jump;
pub mod kill;
pub mod mentions;
mod motion;
pub mod rank;
mod submit;
pub mod undo;
pub mod view;
pub mod words;
pub mod wrap;

pub use dictate::LONGEST as LONGEST_DICTATION;
pub use draft::Mark;
pub use jump::Jump;
pub use submit::{Delivery, LineKind, Submission};

use crate::config::action::{Action, Context};
use buffer::{Buffer, Pos};
use complete::{Completer, Insert};
use history::{History, Scope, Search, Step};
use kill::KillRing;
use mentions::Query;
use std::path::PathBuf;
use std::time::Instant;
use undo::{Caret, EditKind, Undo};

/// Bytes before the caret in which something to complete is looked for: no path is longer.
const LONGEST_QUERY: usize = 4096;

/// Something for the composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// What a key is bound to.
    Act(Action),
    /// Typed text.
    Type(&'a str),
    /// Pasted text: one step, a chip when it is large.
    Paste(&'a str),
    /// Text of another origin, dictation or a queued row: one step, never a chip.
    Insert(&'a str),
}

/// What became of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is none of the composer's business.
    Ignored,
    /// It is, but nothing changed.
    Unchanged,
    /// Something changed that is shown.
    Changed,
    /// A prompt is to be sent. The composer is empty now.
    Submit(Box<Submission>),
    /// The key to send, with nothing written.
    SubmitEmpty(Delivery),
    /// This text is to be copied.
    Copy(String),
    /// This text is to be edited elsewhere; [`Composer::replace_all`] brings it back.
    OpenEditor(String),
}

/// What the last input was, for what depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    Kill,
    /// What was put back: where, and how old the cut is.
    Yank {
        start: Pos,
        end: Pos,
        age: usize,
    },
}

/// Where prompts are written.
#[derive(Clone, Debug)]
pub struct Composer {
    buffer: Buffer,
    caret: Caret,
    /// The column that moves up and down keep, in cells.
    sticky: Option<usize>,
    undo: Undo,
    kills: KillRing,
    last: Last,
    history: History,
    search: Option<Search>,
    /// The next key that types says where to go.
    jump: Option<Jump>,
    completer: Completer,
    /// Cells for the text, the caret's own column included.
    width: usize,
    /// Rows at most.
    max_rows: usize,
    /// The first row shown.
    top: usize,
}

impl Composer {
    /// An empty composer of a user who works in this folder.
    pub fn new(folder: PathBuf) -> Self {
        let mut composer = Self {
            buffer: Buffer::default(),
            caret: Caret::default(),
            sticky: None,
            undo: Undo::default(),
            kills: KillRing::default(),
            last: Last::Other,
            history: History::new(folder),
            search: None,
            jump: None,
            completer: Completer::default(),
            width: 0,
            max_rows: 1,
            top: 0,
        };
        composer.set_size(80, 5);
        composer
    }

    /// Sets the width in cells and the most rows. The text is wrapped anew when the width changes.
    pub fn set_size(&mut self, width: u16, max_rows: u16) {
        self.width = usize::from(width.max(1));
        self.max_rows = usize::from(max_rows.max(1));
        // The caret behind a full row needs a cell of its own.
        let row = self.width.saturating_sub(1).max(1);
        if row != self.buffer.width() {
            self.buffer.set_width(row);
            // Columns of other rows. Set anew for each frame, the same size must not lose it.
            self.sticky = None;
        }
        self.scroll();
    }

    /// Nothing is written.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// What is written, chips as what they stand for.
    pub fn expanded(&self) -> String {
        self.buffer.chips.expanded(&self.buffer.text())
    }

    /// Earlier prompts.
    pub const fn history_mut(&mut self) -> &mut History {
        &mut self.history
    }

    /// Completion: its list, and what it wants to know.
    pub const fn completer(&self) -> &Completer {
        &self.completer
    }

    /// Chooses one of the completions, to be taken next.
    pub fn choose_completion(&mut self, index: usize) {
        self.completer.choose(index);
    }

    /// Tells completion what it wants to know; the list follows at once.
    pub fn inform_completer(&mut self, tell: impl FnOnce(&mut Completer)) {
        tell(&mut self.completer);
        self.refresh_completion(false);
    }

    /// The places to ask what a key does, the innermost first.
    pub fn contexts(&self) -> &'static [Context] {
        use Context::{Completion, Composer, ComposerEmpty, Global};
        if self.search.is_some() {
            &[Context::HistorySearch, Global]
        } else if self.completer.popup().is_some() {
            &[Completion, Composer, Global]
        } else if self.is_empty() {
            &[ComposerEmpty, Composer, Global]
        } else {
            &[Composer, Global]
        }
    }

    /// Takes an input. `now` tells how long ago the last one was.
    pub fn handle(&mut self, input: Input<'_>, now: Instant) -> Outcome {
        if let Some(jump) = self.jump.take()
            && let Some(outcome) = self.end_jump(jump, input)
        {
            self.refresh_completion(false);
            self.scroll();
            return outcome;
        }
        let last = std::mem::take(&mut self.last);
        let outcome = match input {
            Input::Type(text) if self.search.is_some() => self.extend_search(text, now),
            Input::Type(text) => {
                let text = edit::clean(text);
                changed(self.insert(&text, EditKind::Type, now))
            }
            Input::Paste(text) => {
                self.leave_search();
                changed(self.paste(text, now))
            }
            Input::Insert(text) => {
                self.leave_search();
                let text = edit::clean(text);
                changed(self.insert(&text, EditKind::Single, now))
            }
            Input::Act(action) => self.act(action, last, now),
        };
        match outcome {
            Outcome::Ignored => self.last = last,
            Outcome::Changed | Outcome::Submit(_) => {
                let asked = matches!(input, Input::Act(Action::Complete));
                // A walk through earlier prompts and a search are no writing.
                if self.history.is_walking() || self.search.is_some() {
                    self.completer.refresh(None, false);
                } else if !asked && !selects_completion(input) {
                    self.refresh_completion(false);
                }
                self.scroll();
            }
            Outcome::Unchanged | Outcome::SubmitEmpty(_) | Outcome::Copy(_) | Outcome::OpenEditor(_) => {}
        }
        outcome
    }

    fn act(&mut self, action: Action, last: Last, now: Instant) -> Outcome {
        if self.search.is_some()
            && let Some(outcome) = self.act_in_search(action, now)
        {
            return outcome;
        }
        match action {
            Action::DeleteBack => return changed(self.delete_back(now)),
            Action::DeleteForward => return changed(self.delete_forward(now)),
            _ => {}
        }
        if let Some(outcome) = self.act_on_completion(action, now) {
            return outcome;
        }
        let done = match action {
            Action::NewLine => self.insert("\n", EditKind::Single, now),
            Action::KillWordBack => match self.kill_selection(now) {
                Some(done) => done,
                None => self.kill(self.word_left_of(self.caret.pos), &last, now),
            },
            Action::KillWordForward => self.kill(self.word_right_of(self.caret.pos), &last, now),
            Action::KillToStart => self.kill(self.kill_start(), &last, now),
            Action::KillToEnd => self.kill(self.kill_end(), &last, now),
            Action::Yank => self.yank(now),
            Action::YankPop => self.yank_pop(&last, now),
            Action::Undo => self.undo_step(),
            Action::Redo => self.redo_step(),
            Action::Interrupt if !self.is_empty() => {
                self.apply(Pos::default(), self.buffer.end(), "", EditKind::Single, now)
            }
            Action::JumpForward => return self.begin_jump(Jump::Forward),
            Action::JumpBackward => return self.begin_jump(Jump::Backward),
            Action::ExpandChip => self.expand_chip(now),
            Action::HistoryPrevious => return self.history_step(true, now),
            Action::HistoryNext => return self.history_step(false, now),
            Action::HistorySearch => {
                self.undo.close();
                self.search = Some(self.history.search(self.buffer.text()));
                true
            }
            Action::CopySelection => {
                // Without one here the transcript may have one.
                return self.selected().map_or(Outcome::Ignored, Outcome::Copy);
            }
            Action::Editor => return Outcome::OpenEditor(self.expanded()),
            Action::Submit => return self.submit(Delivery::Submit, now),
            Action::Queue => return self.submit(Delivery::Queue, now),
            Action::SendNow => return self.submit(Delivery::SendNow, now),
            _ => {
                let outcome = self.motion(action, now).unwrap_or(Outcome::Ignored);
                // The steps of a walk through earlier prompts stay one step.
                if outcome != Outcome::Ignored && !self.history.is_walking() {
                    self.undo.close();
                }
                return outcome;
            }
        };
        changed(done)
    }

    /// What is selected, chips as what they stand for.
    pub fn selected(&self) -> Option<String> {
        let (start, end) = self.selection()?;
        Some(self.buffer.chips.expanded(&self.buffer.slice(start, end)))
    }

    /// Puts the caret at a cell of what is shown; `selects`: from where it was to there.
    pub fn click(&mut self, row: u16, column: u16, selects: bool) -> Outcome {
        self.undo.close();
        self.sticky = None;
        self.jump = None;
        let to = self.buffer.pos_at(self.top + usize::from(row), usize::from(column));
        let outcome = self.go(to, selects);
        self.refresh_completion(false);
        self.scroll();
        outcome
    }

    /// Puts a text in place of everything, as one step: what comes back from the external editor.
    pub fn replace_all(&mut self, text: &str, now: Instant) {
        // Editors end a file with a newline that nobody wrote.
        let text = edit::clean(text);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        self.show(text, now);
        self.completer.refresh(None, false);
        self.scroll();
    }

    fn show(&mut self, text: &str, now: Instant) -> bool {
        self.apply(Pos::default(), self.buffer.end(), text, EditKind::Single, now)
    }

    fn history_step(&mut self, back: bool, now: Instant) -> Outcome {
        let step = if back {
            let buffer = &self.buffer;
            self.history.previous(|| buffer.text())
        } else {
            self.history.next()
        };
        let text = match step {
            Some(Step::Record(record)) => self.buffer.chips.restore(&record.text, &record.pastes),
            Some(Step::Draft(draft)) => draft,
            None => return Outcome::Unchanged,
        };
        self.recall(&text, now);
        Outcome::Changed
    }

    /// Shows a text in place of everything. The walk or search that shows it goes on.
    fn recall(&mut self, text: &str, now: Instant) {
        let before = self.caret;
        let removed = self.buffer.replace(Pos::default(), self.buffer.end(), text);
        self.caret = Caret { pos: self.buffer.end(), anchor: None };
        self.sticky = None;
        let edit = undo::Edit { at: Pos::default(), removed, inserted: text.to_owned() };
        self.undo.record(edit, EditKind::Recall, before, self.caret, now);
    }

    /// The search in earlier prompts.
    pub const fn searching(&self) -> Option<&Search> {
        self.search.as_ref()
    }

    fn extend_search(&mut self, text: &str, now: Instant) -> Outcome {
        if let Some(search) = &mut self.search {
            search.query.push_str(&edit::clean(text).replace('\n', " "));
        }
        self.run_search(now, |history, search| history.find(search).cloned())
    }

    fn act_in_search(&mut self, action: Action, now: Instant) -> Option<Outcome> {
        match action {
            Action::SearchOlder | Action::HistorySearch => {
                Some(self.run_search(now, |history, search| history.older(search).cloned()))
            }
            Action::SearchNewer => {
                Some(self.run_search(now, |history, search| history.newer(search).cloned()))
            }
            Action::SearchScope => {
                if let Some(search) = &mut self.search {
                    search.scope = match search.scope {
                        Scope::Folder => Scope::All,
                        Scope::All => Scope::Folder,
                    };
                }
                Some(self.run_search(now, |history, search| history.find(search).cloned()))
            }
            Action::SearchErase | Action::DeleteBack => {
                if let Some(search) = &mut self.search {
                    let end = wrap::previous_boundary(&search.query, search.query.len()).unwrap_or(0);
                    search.query.truncate(end);
                }
                Some(self.run_search(now, |history, search| history.find(search).cloned()))
            }
            Action::SearchAccept | Action::Submit => {
                self.leave_search();
                Some(Outcome::Changed)
            }
            Action::SearchCancel | Action::Cancel | Action::Interrupt => {
                let draft = self.search.take().map(|search| search.draft).unwrap_or_default();
                self.recall(&draft, now);
                Some(Outcome::Changed)
            }
            // Anything else of the composer takes what was found and goes on with it.
            _ => {
                self.leave_search();
                None
            }
        }
    }

    fn leave_search(&mut self) {
        self.search = None;
    }

    fn run_search(
        &mut self,
        now: Instant,
        find: impl FnOnce(&History, &mut Search) -> Option<crate::proto::prompt::PromptRecord>,
    ) -> Outcome {
        let Some(search) = &mut self.search else { return Outcome::Unchanged };
        let found = find(&self.history, search);
        let text = match found {
            Some(record) => self.buffer.chips.restore(&record.text, &record.pastes),
            None if search.query.is_empty() => search.draft.clone(),
            None => return Outcome::Changed,
        };
        self.recall(&text, now);
        Outcome::Changed
    }

    fn refresh_completion(&mut self, asked: bool) {
        let Pos { line, at } = self.caret.pos;
        let before = self.buffer.line(line).get(..at).unwrap_or_default();
        // Nothing that can be completed is longer, and a line may be.
        let skipped = wrap::char_boundary_from(before, before.len().saturating_sub(LONGEST_QUERY));
        let before = before.get(skipped..).unwrap_or_default();
        let is_start = line == 0 && skipped == 0;
        let query = if asked {
            mentions::query(before, is_start).or_else(|| mentions::path(before))
        } else if self.selection().is_some() {
            None
        } else {
            mentions::query(before, is_start)
        };
        let query = query.map(|(at, query)| (Pos { line, at: skipped + at }, query));
        self.completer.refresh(query, asked);
    }

    fn act_on_completion(&mut self, action: Action, now: Instant) -> Option<Outcome> {
        match action {
            Action::Complete => {
                self.refresh_completion(true);
                let has_list = self.completer.popup().is_some() || self.completer.wanted().is_some();
                Some(changed(has_list))
            }
            Action::CompletionPrevious => {
                self.completer.select(-1);
                Some(Outcome::Changed)
            }
            Action::CompletionNext => {
                self.completer.select(1);
                Some(Outcome::Changed)
            }
            Action::CompletionClose => {
                self.completer.close();
                Some(Outcome::Changed)
            }
            Action::CompletionAccept => {
                self.take_completion(now);
                Some(Outcome::Changed)
            }
            Action::CompletionSubmit => Some(self.submit_completion(now)),
            _ => None,
        }
    }

    /// Takes the chosen completion. True if a command is finished by it.
    fn take_completion(&mut self, now: Instant) -> bool {
        let Some(popup) = self.completer.popup() else { return false };
        let (start, quoted) = (popup.start, self.is_quoted(popup.start));
        let Some(insert) = popup.chosen().map(|candidate| candidate.insert.clone()) else { return false };
        let mentions = matches!(popup.query, Query::File(_));
        let (text, is_finished) = match insert {
            Insert::Command { name, takes_argument } => {
                (format!("/{name}{}", if takes_argument { " " } else { "" }), !takes_argument)
            }
            Insert::Value(value) => (value, true),
            Insert::Path(path) => (path, false),
            Insert::Folder(path) if !mentions => (path, false),
            Insert::Folder(path) if quoted || path.contains(char::is_whitespace) => {
                (format!("@\"{path}"), false)
            }
            Insert::Folder(path) => (format!("@{path}"), false),
            Insert::File(path) => {
                self.mention(start, &path, now);
                return false;
            }
        };
        self.apply(start, self.caret.pos, &text, EditKind::Single, now);
        is_finished
    }

    fn is_quoted(&self, start: Pos) -> bool {
        self.buffer.line(start.line).get(start.at..).is_some_and(|text| text.starts_with("@\""))
    }

    fn submit_completion(&mut self, now: Instant) -> Outcome {
        // A command that is there already in full is sent as it is, even if a longer one is offered too.
        let is_whole = self.completer.popup().is_some_and(|popup| match &popup.query {
            Query::Command(typed) => self.completer.is_command(typed),
            Query::Argument { .. } | Query::File(_) | Query::Path(_) => false,
        });
        if is_whole || self.take_completion(now) {
            return self.submit(Delivery::Submit, now);
        }
        Outcome::Changed
    }

    /// Keeps the caret among the rows shown.
    fn scroll(&mut self) {
        let shown = self.text_rows();
        let (row, _) = self.buffer.cell_of(self.caret.pos);
        let last_top = self.buffer.rows().saturating_sub(shown);
        self.top = self.top.clamp((row + 1).saturating_sub(shown), row).min(last_top);
    }

    /// Rows for the text: a search takes one of them.
    fn text_rows(&self) -> usize {
        let for_search = usize::from(self.search.is_some());
        self.max_rows.saturating_sub(for_search).max(1).min(self.buffer.rows())
    }
}

const fn changed(changed: bool) -> Outcome {
    if changed { Outcome::Changed } else { Outcome::Unchanged }
}

/// The list stays as it is while somebody walks through it, and when it was just closed.
const fn selects_completion(input: Input<'_>) -> bool {
    matches!(input, Input::Act(Action::CompletionPrevious | Action::CompletionNext | Action::CompletionClose))
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
