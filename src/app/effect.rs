//! What the full-screen program wants done in the world. `update` returns these; [`super::exec`] performs them.

use super::headless::Exit;
use crate::proto::command::{Command, Placement, Prompt};
use crate::proto::ids::{JobId, RecordingId, SessionId};
use crate::proto::prompt::{Draft, PromptRecord};
use crate::proto::voice::VoiceCommand;
use crate::store::drafts::Owner;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// One thing to do.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Tells the agent.
    Send(Command),
    /// Gives the agent a prompt.
    Submit(Prompt, How),
    /// Opens a session. The agent of the one before is ended when that has worked.
    Open(SessionChoice),
    /// Puts a text on the clipboard.
    Copy(String),
    /// Puts a block of an item on the clipboard: its label says what became of it.
    CopyCard {
        /// The item.
        item: usize,
        /// Index into its cards.
        card: usize,
        /// Its text.
        text: String,
    },
    /// Puts what was selected on the clipboard, and where the middle button pastes from.
    CopySelection(String),
    /// Goes on with a long copy when what else waits is done.
    GatherOn,
    /// Reads the clipboard.
    Paste,
    /// Reads what was selected last, in whatever program.
    PastePrimary,
    /// Opens an address; copies it where that can't be done.
    OpenLink(Arc<str>),
    /// Lets the user edit a text in their editor.
    Edit(String),
    /// Stops the program until the shell continues it.
    Suspend,
    /// Draws the whole screen again.
    Repaint,
    /// Takes the mouse, or leaves it to the terminal.
    Mouse(bool),
    /// Of the mouse takes only the wheel, or all.
    WheelOnly(bool),
    /// Uses the keyboard protocols that the terminal has, or none.
    Keyboard(bool),
    /// Shows plain characters instead of symbols; `None` goes by the terminal.
    Ascii(Option<bool>),
    /// Gives the window a title, or leaves it its own.
    Title(bool),
    /// Reads the prompts of former sessions.
    LoadHistory,
    /// Keeps a prompt for later sessions.
    Remember(PromptRecord),
    /// Keeps what is being written, in place of what was; nothing removes it.
    KeepDraft(Owner, Option<Draft>),
    /// Lists a folder for completion.
    List(String),
    /// Finds the branch that is checked out.
    FindBranch,
    /// Lists the sessions of all folders.
    ListSessions,
    /// Deletes a session that is not open.
    DeleteSession(PathBuf),
    /// Names a session that is not open.
    RenameSession(PathBuf, String),
    /// Loads a theme by name.
    LoadTheme(String),
    /// Writes a setting into the user's file.
    Save {
        /// Which.
        key: &'static str,
        /// As in the file.
        value: String,
    },
    /// Changes a setting as `mynah config set` does, and tells what became of it.
    Set {
        /// Which.
        key: String,
        /// As on the command line; nothing shows it.
        value: Option<String>,
    },
    /// Takes a setting out of the user's file, so that its default holds again.
    Unset {
        /// Which.
        key: String,
    },
    /// Reads settings, keys and colours anew.
    Reload {
        /// The user asks for it, so something is said in any case.
        asked: bool,
        /// The theme that is in force, by name.
        theme: String,
    },
    /// Shows as many colours as the settings say.
    ApplyColors,
    /// Reads this project's own settings from now on, or not.
    Trust(bool),
    /// Asks the speech engine.
    Voice(VoiceCommand),
    /// Finds out what another program's agent in the focused window said last, while a text is on its way.
    FindReference(RecordingId),
    /// Corrects what was heard.
    Refine(Box<Refine>),
    /// Nobody waits for that any more.
    StopRefining(RecordingId),
    /// Reads the log of a job from this byte on; without one its end.
    ReadJobLog {
        /// Which.
        id: JobId,
        /// From where.
        from: Option<u64>,
    },
    /// Ends the program.
    Quit(Exit),
}

/// A text that is to be corrected. What was said, and what the agent said, is in no `Debug`.
#[derive(PartialEq, Eq)]
pub struct Refine {
    /// Whose text.
    pub recording: RecordingId,
    /// What was heard.
    pub heard: String,
    /// What may help to spell, if the user allows that.
    pub reference: Option<Reference>,
    /// It goes into a shell line: no Markdown, and no full stop at its end.
    pub is_plain: bool,
}

impl fmt::Debug for Refine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Refine");
        out.field("recording", &self.recording).field("characters", &self.heard.chars().count());
        out.field("has_reference", &self.reference.is_some()).field("is_plain", &self.is_plain).finish()
    }
}

/// What the agent said last, as it was when the recording stopped.
#[derive(Clone, PartialEq, Eq)]
pub struct Reference {
    /// In which session.
    pub session: SessionId,
    /// The text of the answer, as it is: neither redacted nor shortened.
    pub text: String,
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Reference");
        out.field("session", &self.session).field("characters", &self.text.chars().count()).finish()
    }
}

/// How a prompt comes to the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As a prompt of its own.
    Own(Placement),
    /// Said to the running turn.
    Steer,
}

/// Which session to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChoice {
    /// What the command line asks for.
    AsStarted,
    /// A new one.
    New,
    /// This file.
    File(PathBuf),
    /// A copy of this file.
    CopyOf(PathBuf),
}
