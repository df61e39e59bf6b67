//! What lies over the page: questions, pickers, help. Each is a state machine: inputs in, an outcome out, cells drawn.
//!
//! Not here: which key does what (`config::keymap`), reading sessions or models, and doing what was chosen. The owner
//! keeps a stack of layers, gives inputs to the topmost one and does what its outcome says.
//!
//! | file | what it is |
//! |---|---|
//! | `frame` | bars, keys, scrollbar: what all look like |
//! | `picker` | a list with a search |
//! | [`permission`] | a call that asks |
//! | [`models`], [`sessions`], [`themes`], [`palette`] | lists to choose from |
//! | [`settings`] | what holds, and changing it |
//! | [`voice`] | lists of dictation |
//! | [`jobs`] | background jobs |
//! | [`help`] | all keys and commands |
//! | [`confirm`] | a question with a few answers |
//! | [`search`] | the bar of the search in the transcript |
//! | [`sheet`] | all of a row, over the whole screen |
//! | [`prompt_line`] | a question that one line answers |

pub mod confirm;
pub mod frame;
pub mod help;
pub mod jobs;
pub mod models;
pub mod palette;
pub mod permission;
mod permission_view;
mod picker;
pub mod prompt_line;
pub mod search;
pub mod sessions;
pub mod settings;
pub mod sheet;
pub mod themes;
pub mod voice;

pub use frame::Place;

use super::hit::HitMap;
use super::look::Look;
use super::target::Target;
use crate::config::action::{Action, Context};
use crate::proto::ask::PermissionAnswer;
use crate::proto::ids::{AskId, JobId};
use crate::proto::model::ModelRef;
use confirm::Confirm;
use frame::{hint, pair};
use help::Help;
use jobs::Jobs;
use models::Models;
use palette::Palette;
use permission::PermissionCard;
use picker::Picked;
use prompt_line::PromptLine;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use search::{SearchBar, SearchStep};
use sessions::Sessions;
use settings::Settings;
use sheet::{Sheet, SheetAsk};
use std::path::PathBuf;
use std::time::Instant;
use themes::Themes;
use voice::{VoiceChoice, VoicePicker};

/// Something over the page.
#[derive(Clone, Debug)]
pub enum Layer {
    /// A call that asks.
    Permission(Box<PermissionCard>),
    /// Which model.
    Models(Models),
    /// Which session.
    Sessions(Box<Sessions>),
    /// Which colours.
    Themes(Themes),
    /// What holds, and changing it.
    Settings(Box<Settings>),
    /// Dictation.
    Voice(Box<VoicePicker>),
    /// Background jobs.
    Jobs(Jobs),
    /// Keys and commands.
    Help(Help),
    /// Everything that can be done.
    Palette(Palette),
    /// A question.
    Confirm(Confirm),
    /// A question that one line answers.
    Line(PromptLine),
    /// What to look for in the transcript.
    Search(Box<SearchBar>),
    /// All of a row.
    Sheet(Box<Sheet>),
}

/// Something for the topmost layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerInput<'a> {
    /// What a key is bound to, asked for in [`Layer::contexts`] and then everywhere.
    Act(Action),
    /// Typed text.
    Type(&'a str),
    /// Pasted text.
    Paste(&'a str),
    /// A click on [`Target::Choice`].
    Choice(usize),
    /// The wheel over the layer, in rows; downwards is positive.
    Wheel(i32),
}

/// What became of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum LayerOutcome {
    /// It is none of the layer's business: it is to be resolved anew for what lies below.
    Ignored,
    /// It is, but nothing changed.
    Unchanged,
    /// Something changed that is shown.
    Changed,
    /// The layer is to be taken away.
    Closed,
    /// The layer is to be taken away, and this done.
    Done(Answer),
    /// This is to be done, and the layer stays.
    Emit(Answer),
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A call may run, or not.
    Permission {
        /// Which question.
        ask: AskId,
        /// The answer.
        answer: PermissionAnswer,
    },
    /// Use this model.
    Model(ModelRef),
    /// Open the session in this file.
    Session(PathBuf),
    /// Give a session a name; an empty one takes the name away.
    RenameSession {
        /// Its file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// Delete a session: the user has confirmed it.
    DeleteSession {
        /// Its file.
        path: PathBuf,
    },
    /// Use this theme.
    Theme {
        /// Its name.
        name: String,
        /// Only show it; what the settings say stays.
        preview: bool,
    },
    /// Change a setting.
    Setting {
        /// Which.
        key: &'static str,
        /// As on the command line.
        value: String,
    },
    /// Take a setting back to its default.
    ResetSetting {
        /// Which.
        key: &'static str,
    },
    /// What to do about dictation.
    Voice(VoiceChoice),
    /// Show the log of this job.
    OpenJob(JobId),
    /// Stop this job.
    StopJob(JobId),
    /// Search the transcript.
    Search(SearchStep),
    /// What the sheet wants done.
    Sheet(SheetAsk),
    /// Do what a key would do.
    Action(Action),
    /// Run a command, by its name without the slash.
    Command(String),
    /// A question was answered.
    Confirmed {
        /// Which.
        kind: ConfirmKind,
        /// The answer, by its place. Never the last one: that one closes the layer.
        choice: usize,
    },
    /// A line was written.
    Line {
        /// What for.
        kind: LineKind,
        /// The text, without blanks around it.
        text: String,
    },
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfirmKind {
    /// Quit while jobs run.
    Quit,
    /// Read the settings of the project.
    Trust,
    /// Load the speech model of this name.
    FetchModel(String),
    /// Send what is dictated to this provider, to be corrected.
    CleanUp {
        /// As the settings keep it.
        provider: String,
        /// The agent's last answer goes there, too.
        with_reference: bool,
    },
    /// Anything else, by a name of the one who asks.
    Other(&'static str),
}

/// What a line is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The name of the session; may be empty.
    SessionName,
    /// The key of a provider.
    ApiKey {
        /// Its id.
        provider: String,
    },
    /// Anything else, by a name of the one who asks.
    Other(&'static str),
}

impl LineKind {
    const fn is_secret(&self) -> bool {
        matches!(self, Self::ApiKey { .. })
    }

    const fn needs_text(&self) -> bool {
        !matches!(self, Self::SessionName)
    }
}

/// A command as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRow {
    /// Its name, without the slash.
    pub name: String,
    /// What may stand behind it.
    pub argument: String,
    /// What it does.
    pub text: String,
}

impl Layer {
    /// Where its keys are looked up, the innermost first; `Global` comes after them.
    pub fn contexts(&self) -> &'static [Context] {
        match self {
            Self::Permission(card) => card.contexts(),
            Self::Sessions(sessions) => sessions.contexts(),
            Self::Settings(settings) => settings.contexts(),
            Self::Models(_)
            | Self::Themes(_)
            | Self::Help(_)
            | Self::Palette(_)
            | Self::Voice(_)
            | Self::Jobs(_) => &[Context::List, Context::Composer],
            Self::Confirm(_) => &[Context::Card],
            Self::Line(_) => &[Context::Composer],
            Self::Search(_) => &[Context::Search, Context::Composer],
            Self::Sheet(sheet) => sheet.contexts(),
        }
    }

    /// Nothing below takes clicks or the wheel. A question for permission and a search leave the transcript to be read.
    pub const fn is_modal(&self) -> bool {
        !matches!(self, Self::Permission(_) | Self::Search(_))
    }

    /// Takes an input. A click on [`Target::Beside`] is `Act(Action::Cancel)`.
    pub fn handle(&mut self, input: LayerInput<'_>, now: Instant) -> LayerOutcome {
        let outcome = match self {
            // What it ignores belongs to the composer, whatever it is.
            Self::Permission(card) => return card.handle(input, now),
            Self::Sessions(sessions) => match sessions.handle(input) {
                LayerOutcome::Ignored if cancels(input) => LayerOutcome::Closed,
                outcome => outcome,
            },
            Self::Themes(themes) => themes.handle(input),
            Self::Settings(settings) => settings.handle(input),
            Self::Models(_)
            | Self::Help(_)
            | Self::Palette(_)
            | Self::Confirm(_)
            | Self::Line(_)
            | Self::Voice(_)
            | Self::Jobs(_)
                if cancels(input) =>
            {
                LayerOutcome::Closed
            }
            Self::Models(models) => models.handle(input),
            Self::Voice(picker) => picker.handle(input),
            Self::Jobs(picker) => picker.handle(input),
            Self::Help(help) => help.handle(input),
            Self::Palette(palette) => palette.handle(input),
            Self::Confirm(confirm) => confirm.handle(input),
            Self::Line(line) => line.handle(input),
            Self::Search(bar) => bar.handle(input),
            Self::Sheet(sheet) => sheet.handle(input, now),
        };
        outcome.swallowing(input)
    }

    /// Rows at the bottom of the page that it stands on instead of lying over: the page ends above them.
    pub fn docked_height(&mut self, look: &Look<'_>, place: &Place) -> u16 {
        match self {
            Self::Permission(card) => card.height(look, place),
            Self::Search(_) => place.page.height.min(1),
            _ => 0,
        }
    }

    /// Draws it; returns where the terminal's cursor belongs.
    pub fn draw(
        &mut self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        match self {
            Self::Permission(card) => card.draw(look, place, buffer, hits),
            Self::Models(models) => models.draw(look, place, buffer, hits),
            Self::Jobs(picker) => picker.draw(look, place, buffer, hits),
            Self::Voice(picker) => picker.draw(look, place, buffer, hits),
            Self::Sessions(sessions) => sessions.draw(look, place, buffer, hits),
            Self::Themes(themes) => themes.draw(look, place, buffer, hits),
            Self::Settings(settings) => settings.draw(look, place, buffer, hits),
            Self::Help(help) => help.draw(look, place, buffer, hits),
            Self::Palette(palette) => palette.draw(look, place, buffer, hits),
            Self::Confirm(confirm) => {
                confirm.draw(look, place, buffer, hits);
                None
            }
            Self::Line(line) => line.draw(look, place, buffer, hits),
            Self::Search(bar) => bar.draw(look, place, buffer, hits),
            Self::Sheet(sheet) => sheet.draw(look, place, buffer, hits),
        }
    }
}

impl LayerOutcome {
    /// A key that means something only in lists, cards or the composer never reaches the composer below by way of a
    /// layer that has no use for it.
    fn swallowing(self, input: LayerInput<'_>) -> Self {
        match (&self, input) {
            (Self::Ignored, LayerInput::Act(action)) if !action.contexts().contains(&Context::Global) => {
                Self::Unchanged
            }
            (_, _) => self,
        }
    }
}

impl From<Picked> for LayerOutcome {
    fn from(picked: Picked) -> Self {
        match picked {
            Picked::Ignored => Self::Ignored,
            Picked::Unchanged => Self::Unchanged,
            Picked::Changed | Picked::Chosen => Self::Changed,
        }
    }
}

/// The keys that close a layer.
fn cancels(input: LayerInput<'_>) -> bool {
    matches!(input, LayerInput::Act(Action::Cancel | Action::Interrupt))
}

#[cfg(test)]
mod tests;
