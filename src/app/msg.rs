//! Everything that can happen to the full-screen program.

use crate::agent::view::SessionView;
use crate::config::keymap::Keymap;
use crate::config::load::Loaded;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::{JobId, RecordingId};
use crate::proto::message::Message;
use crate::proto::prompt::PromptRecord;
use crate::proto::voice::VoiceEvent;
use crate::store::drafts::Found;
use crate::store::find::SessionInfo;
use crate::term::clipboard::Copied;
use crate::term::input::Input;
use crate::theme::Theme;
use crate::ui::jobs::log::LogPart;
use crate::ui::layers::models::ModelItem;
use std::sync::Arc;

/// One thing that happened.
#[derive(Debug)]
pub enum Msg {
    /// The terminal told something.
    Input(Input),
    /// The agent told something.
    Agent(Box<AgentEvent>),
    /// The agent will tell nothing any more, and nobody asked it to end.
    AgentEnded,
    /// The agent's state, as last published.
    View(Arc<SessionView>),
    /// The speech engine told something.
    Voice(Box<VoiceEvent>),
    /// Work that was started by an effect is done.
    Done(Done),
    /// The system wants the program to end.
    Signal(i32),
    /// The terminal is gone.
    TerminalLost,
}

/// What became of an effect.
#[derive(Debug)]
pub enum Done {
    /// A session is open and its agent runs.
    Opened(Box<Opened>),
    /// No session could be opened; the one before, if any, goes on.
    NotOpened(String),
    /// The prompts of former sessions, the oldest first.
    History(Vec<PromptRecord>),
    /// The entries of a folder, or all files of the project under an empty name.
    Listing {
        /// As [`Completer::wanted`](crate::ui::composer::complete::Completer::wanted) named it.
        folder: String,
        /// Folders end in a slash.
        entries: Arc<[String]>,
    },
    /// The branch that is checked out in the working folder, if there is one.
    Branch(Option<String>),
    /// The sessions of all folders, the newest first, and the time by which their ages count: milliseconds since the
    /// Unix epoch.
    Sessions(Vec<SessionInfo>, i64),
    /// Another theme.
    Theme(Box<Theme>),
    /// What became of a copy.
    Copied(Copied),
    /// What became of the copy of a block.
    CardCopied {
        /// The item.
        item: usize,
        /// Index into its cards.
        card: usize,
        /// What became of it.
        copied: Copied,
    },
    /// An address was not opened, and why, in a few words; what became of copying it instead.
    LinkCopied(String, Copied),
    /// What is on the clipboard; the error says why nothing can be read.
    Pasted(Result<String, String>),
    /// What was written in the editor; the error says why not.
    Edited(Result<String, String>),
    /// A setting is written.
    Set {
        /// Which.
        key: String,
        /// Its value, as it was given.
        value: String,
        /// Why it has no effect; empty if it has.
        but: String,
        /// The settings as they are now.
        loaded: Box<Loaded>,
    },
    /// A setting could not be written.
    NotSet {
        /// Which.
        key: String,
        /// Why.
        why: String,
    },
    /// Files of settings, keys or colours have changed on disk.
    FilesChanged,
    /// They were read anew.
    Reloaded(Box<Reloaded>),
    /// A part of a job's log was read; the error is for people.
    JobLog {
        /// Whose.
        id: JobId,
        /// The part.
        part: Result<LogPart, String>,
    },
    /// A dictated text is corrected; the error says why it is not.
    Refined {
        /// Whose text.
        recording: RecordingId,
        /// The corrected text.
        result: Result<String, String>,
    },
    /// A dictated text is not corrected, because the user has not agreed to the provider; its text stays as it is.
    CleanUpAsks {
        /// Whose text.
        recording: RecordingId,
        /// What is sent where, for the user.
        question: String,
        /// The provider as the settings keep it, and whether it gets the reference, too.
        to: (String, bool),
    },
    /// A long copy goes on.
    GatherOn,
    /// Something the user should know, for a moment.
    Toast(NoticeLevel, String),
}

/// What was read anew. What is missing could not be used, and what holds is to be kept.
#[derive(Debug)]
pub struct Reloaded {
    /// The user asked for it.
    pub asked: bool,
    /// The settings.
    pub loaded: Option<Loaded>,
    /// The keys.
    pub keymap: Option<Keymap>,
    /// The colours.
    pub theme: Option<Theme>,
    /// The themes that can be chosen.
    pub themes: Vec<String>,
    /// What is wrong in the files.
    pub mistakes: Vec<String>,
}

/// A session that was opened.
#[derive(Debug)]
pub struct Opened {
    /// What was said before.
    pub history: Vec<Arc<Message>>,
    /// Its state.
    pub view: Arc<SessionView>,
    /// What the user should know.
    pub notices: Vec<String>,
    /// The models that can be chosen.
    pub models: Vec<ModelItem>,
    /// What was being written.
    pub draft: Option<Found>,
}
