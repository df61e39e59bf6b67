//! The sheet: all of a row over the whole screen.
//!
//! What it shows is read from the conversation before each frame ([`Sheet::sync`]), so what goes on stays live. Between
//! frames it holds what it showed, so keys and the mouse mean what is on the screen.
//!
//! | file | what it is |
//! |---|---|
//! | `content` | what is taken from the item |
//! | `body` | the rows below the rule, and their text |
//! | `lines` | a long text, laid out where it is looked at |
//! | `side_by_side` | what changed as two columns |
//! | `find` | the search in it |
//! | `pointer` | presses, drags, what is selected |
//! | `areas` | which row of the screen is what |
//! | `head` | facts, command, steps |
//! | `view` | drawing |

mod areas;
mod body;
mod content;
mod find;
mod head;
mod lines;
mod pointer;
mod side_by_side;
mod view;

pub use content::Wall;
pub use pointer::Released;

use super::{Answer, LayerInput, LayerOutcome};
use crate::config::action::{Action, Context};
use crate::proto::event::NoticeLevel;
use crate::proto::ids::JobId;
use crate::theme::Theme;
use crate::transcript::search::Way;
use crate::ui::entries::whole::Head;
use crate::ui::scene::NextDeadline;
use body::{Body, Point, Seen};
use content::Content;
use find::Find;
use pointer::Held;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a button says that it has copied.
pub const COPIED_TIME: Duration = Duration::from_millis(1500);

/// How long a notice stands in place of the keys.
pub const NOTICE_TIME: Duration = Duration::from_secs(4);

/// What of the sheet lies at a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SheetPart {
    /// The mark that closes it.
    Close,
    /// A button, by its place.
    Button(usize),
    /// A step, by its place.
    Step(usize),
    /// The text.
    Body,
    /// The bar at the right edge.
    Scrollbar,
}

/// What the sheet wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SheetAsk {
    /// Copy this.
    Copy(String),
    /// Show the row before, or after.
    Walk(Way),
}

/// What a button copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copy {
    /// The command, the path, the script.
    Asked,
    /// What it gave.
    Gave,
    /// Where all of the output is.
    Path,
}

/// What it is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// An item, and the conversation it is of.
    Item { item: usize, generation: u64 },
    /// The log of a background job.
    Job(JobId),
}

/// All of a row.
#[derive(Clone, Debug)]
pub struct Sheet {
    source: Source,
    /// The revision that was read last.
    revision: Option<u64>,
    content: Content,
    head: Option<Arc<Head>>,
    /// What the head was laid out for.
    head_for: (u64, u16, u64),
    /// The step that the user picked.
    picked: Option<usize>,
    body: Body,
    /// The step that the body shows.
    shows: Option<usize>,
    /// The first row in view.
    top: usize,
    /// Stays at the end.
    follows: bool,
    /// The user wants changes side by side; where nothing was said, when there is room.
    beside: Option<bool>,
    find: Option<Find>,
    selected: Option<(Point, Point)>,
    held: Option<Held>,
    notice: Option<(NoticeLevel, String, Instant)>,
    /// What the program says for a moment: the sheet covers its place.
    toast: Option<(NoticeLevel, String)>,
    /// What was asked to be copied.
    asked: Option<Copy>,
    /// What was copied, the word for it, and until when it is said.
    copied: Option<(Copy, &'static str, Instant)>,
    /// When the sheet was first seen to have begun, in words.
    started: Option<String>,
    /// What was drawn last.
    drawn: Drawn,
    next: NextDeadline,
}

/// What was drawn last.
#[derive(Clone, Debug, Default)]
struct Drawn {
    body: ratatui::layout::Rect,
    bar: Option<ratatui::layout::Rect>,
    /// Rows of the body's text, and those of them in view.
    total: usize,
    seen: Vec<Seen>,
    columns: usize,
}

impl Sheet {
    /// The sheet of an item. [`Sheet::sync`] reads it.
    pub fn new(item: usize, generation: u64, theme: &Theme) -> Self {
        Self::of(Source::Item { item, generation }, theme)
    }

    /// The log of a background job. [`Sheet::sync_job`] reads it.
    pub fn of_job(id: JobId, theme: &Theme) -> Self {
        Self::of(Source::Job(id), theme)
    }

    fn of(source: Source, theme: &Theme) -> Self {
        Self {
            source,
            revision: None,
            content: Content::default(),
            head: None,
            head_for: (0, 0, 0),
            picked: None,
            body: Body::empty(theme),
            shows: None,
            top: 0,
            follows: false,
            beside: None,
            find: None,
            selected: None,
            held: None,
            notice: None,
            toast: None,
            asked: None,
            copied: None,
            started: None,
            drawn: Drawn::default(),
            next: NextDeadline::default(),
        }
    }

    /// The item it shows.
    pub const fn item(&self) -> Option<usize> {
        match self.source {
            Source::Item { item, .. } => Some(item),
            Source::Job(_) => None,
        }
    }

    /// The job whose log it shows.
    pub const fn job(&self) -> Option<&JobId> {
        match &self.source {
            Source::Job(id) => Some(id),
            Source::Item { .. } => None,
        }
    }

    /// When what was drawn last is no longer true.
    pub const fn next(&self) -> NextDeadline {
        self.next
    }

    /// Where its keys are looked up.
    pub(super) fn contexts(&self) -> &'static [Context] {
        if self.is_typing() { &[Context::Search, Context::Composer] } else { &[Context::Popup] }
    }

    fn is_typing(&self) -> bool {
        self.find.as_ref().is_some_and(Find::is_typing)
    }

    /// Something to know for a moment, in place of the keys.
    pub fn tell(&mut self, level: NoticeLevel, text: impl Into<String>, now: Instant) {
        self.notice = Some((level, text.into(), now + NOTICE_TIME));
    }

    /// What the program says for a moment.
    pub fn set_toast(&mut self, toast: Option<(NoticeLevel, String)>) {
        self.toast = toast;
    }

    /// What became of a copy: a word on its button, or, where that says too little, a notice.
    pub fn copied(&mut self, word: Option<&'static str>, level: NoticeLevel, text: String, now: Instant) {
        match (self.asked.take(), word) {
            (Some(copy), Some(word)) => self.copied = Some((copy, word, now + COPIED_TIME)),
            (_, _) => self.tell(level, text, now),
        }
    }

    /// Takes an input.
    pub(super) fn handle(&mut self, input: LayerInput<'_>, now: Instant) -> LayerOutcome {
        if self.is_typing() {
            return self.handle_typing(input);
        }
        match input {
            LayerInput::Wheel(rows) => self.scroll(rows as isize),
            LayerInput::Type(text) => match text.parse::<usize>() {
                Ok(number @ 1..=9) => self.pick(number - 1),
                _ => LayerOutcome::Unchanged,
            },
            LayerInput::Paste(_) | LayerInput::Choice(_) => LayerOutcome::Unchanged,
            LayerInput::Act(action) => self.act(action, now),
        }
    }

    fn act(&mut self, action: Action, now: Instant) -> LayerOutcome {
        let rows = self.drawn.seen.len().max(1);
        let page = isize::try_from(rows.saturating_sub(1).max(1)).unwrap_or(1);
        let half = isize::try_from((rows / 2).max(1)).unwrap_or(1);
        match action {
            Action::Cancel | Action::Interrupt if self.find.is_some() => {
                self.find = None;
                LayerOutcome::Changed
            }
            Action::Cancel if self.selected.is_some() => {
                self.selected = None;
                LayerOutcome::Changed
            }
            Action::Cancel | Action::Interrupt | Action::PopupClose => LayerOutcome::Closed,
            Action::ScrollUp => self.scroll(-1),
            Action::ScrollDown => self.scroll(1),
            Action::PageUp => self.scroll(-page),
            Action::PageDown => self.scroll(page),
            Action::HalfPageUp => self.scroll(-half),
            Action::HalfPageDown => self.scroll(half),
            Action::Top => self.scroll_to(0),
            Action::Bottom => {
                self.follows = true;
                self.scroll_to(usize::MAX)
            }
            Action::PopupFollow => {
                self.follows = !self.follows;
                if self.follows {
                    self.top = usize::MAX;
                }
                LayerOutcome::Changed
            }
            Action::PopupNextStep => self.step(1),
            Action::PopupPreviousStep => self.step(-1),
            Action::PopupSearch | Action::Search => {
                self.begin_search();
                LayerOutcome::Changed
            }
            Action::PopupNextMatch | Action::SearchNext => self.walk(Way::Next),
            Action::PopupPreviousMatch | Action::SearchPrevious => self.walk(Way::Previous),
            Action::PopupSides if self.body.is_change() => {
                self.beside = Some(!self.is_beside());
                // Both have texts of their own, and another row stands where this one stood.
                self.selected = None;
                self.held = None;
                LayerOutcome::Changed
            }
            Action::CopyRow => self.copy(Copy::Asked, now),
            Action::PopupCopyOutput => self.copy(Copy::Gave, now),
            Action::PopupCopyPath => self.copy(Copy::Path, now),
            Action::PopupStop => match self.job() {
                Some(id) => LayerOutcome::Emit(Answer::StopJob(id.clone())),
                None => LayerOutcome::Ignored,
            },
            Action::PopupNextRow => LayerOutcome::Emit(Answer::Sheet(SheetAsk::Walk(Way::Next))),
            Action::PopupPreviousRow => LayerOutcome::Emit(Answer::Sheet(SheetAsk::Walk(Way::Previous))),
            _ => LayerOutcome::Ignored,
        }
    }

    /// A button or a step was pressed.
    pub fn press_part(&mut self, part: SheetPart, now: Instant) -> LayerOutcome {
        match part {
            SheetPart::Close => LayerOutcome::Closed,
            SheetPart::Button(at) => match self.buttons().get(at) {
                Some((copy, _)) => self.copy(*copy, now),
                None => LayerOutcome::Unchanged,
            },
            SheetPart::Step(step) => self.pick(step),
            SheetPart::Body | SheetPart::Scrollbar => LayerOutcome::Unchanged,
        }
    }

    /// The buttons, the most important first, and what stands on them.
    fn buttons(&self) -> Vec<(Copy, &'static str)> {
        let asked = self.content.asked.as_ref().map(|(name, _)| (Copy::Asked, *name));
        asked.into_iter().chain([(Copy::Gave, self.content.gave)]).collect()
    }

    fn copy(&mut self, copy: Copy, now: Instant) -> LayerOutcome {
        let text = match copy {
            Copy::Asked => self.content.asked.as_ref().map(|(_, text)| text.clone()),
            Copy::Gave => Some(match &self.content.result {
                Some(text) if self.shows.is_none() => text.clone(),
                _ => self.body.all(),
            }),
            Copy::Path => self.content.whole_in.clone(),
        };
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            let nothing = match copy {
                Copy::Path => "There is no file with more output.",
                Copy::Asked | Copy::Gave => "Nothing to copy yet.",
            };
            self.tell(NoticeLevel::Info, nothing, now);
            return LayerOutcome::Changed;
        };
        self.asked = Some(copy);
        LayerOutcome::Emit(Answer::Sheet(SheetAsk::Copy(text)))
    }

    /// The last row that can be the first in view.
    fn last_top(&self) -> usize {
        self.drawn.total.saturating_sub(usize::from(self.drawn.body.height))
    }

    fn scroll(&mut self, delta: isize) -> LayerOutcome {
        let top = self.top.min(self.last_top()).saturating_add_signed(delta);
        self.scroll_to(top)
    }

    /// To a row; who is at the end stays there.
    fn scroll_to(&mut self, top: usize) -> LayerOutcome {
        let before = (self.top, self.follows);
        self.top = top.min(self.last_top());
        self.follows = self.top >= self.last_top() && (self.follows || self.last_top() > 0);
        if before == (self.top, self.follows) { LayerOutcome::Unchanged } else { LayerOutcome::Changed }
    }

    fn step(&mut self, delta: isize) -> LayerOutcome {
        let steps = self.content.steps();
        let Some(at) = self.shows.filter(|_| steps > 0) else { return LayerOutcome::Unchanged };
        self.pick((at + steps).saturating_add_signed(delta) % steps)
    }

    /// Shows the output of a step, at its end.
    fn pick(&mut self, step: usize) -> LayerOutcome {
        if step >= self.content.steps() {
            return LayerOutcome::Unchanged;
        }
        self.picked = Some(step);
        self.follows = true;
        self.top = usize::MAX;
        // The item is read anew for the step's output.
        self.revision = None;
        LayerOutcome::Changed
    }

    fn is_beside(&self) -> bool {
        self.beside.unwrap_or(self.drawn.columns >= usize::from(body::WIDE) - 2)
    }
}

#[cfg(test)]
mod tests;
