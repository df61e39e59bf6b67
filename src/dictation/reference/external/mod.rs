//! What a Pi or Codex session in the focused terminal window said last: kitty under Hyprland, on Linux.
//!
//! ```text
//!  accepted stop ─▶ Search::begin (a thread) ─▶ focused window ─▶ its process ─▶ its session file, opened
//!                                                                                    │ just before the request
//!                                                             Search::excerpt ◀── checked again, read
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | [`helper`] | runs another program with a time limit, and leaves nothing behind |
//! | [`focus`] | which window has the focus, and which agent runs in it |
//! | [`process`] | facts of a process, out of a `/proc` folder |
//! | [`session_file`] | a session file that is opened once and checked by its descriptor |
//! | [`pi`] | the session of a Pi process |
//! | [`codex`] | the session of a Codex process |
//!
//! Invariants: nothing here blocks a caller but [`Search::excerpt`], and that one for a given time at most; whatever is
//! in doubt gives nothing, silently; a file is opened once, and everything that is checked or read is that descriptor's;
//! what was written after the stop is not read.

pub mod codex;
pub mod focus;
pub mod helper;
pub mod pi;
pub mod process;
pub mod session_file;
#[cfg(test)]
mod tests;

use super::{Agent, Excerpt};
use focus::{Compositor, Terminal};
use process::Processes;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

/// Where things are on this machine.
#[derive(Clone, Debug)]
pub struct Places {
    /// Facts of processes: `/proc`.
    pub processes: PathBuf,
    /// `$XDG_RUNTIME_DIR`.
    pub runtime: Option<PathBuf>,
    /// The home of the user.
    pub home: PathBuf,
}

/// A session that was found, and not read yet.
pub struct Found {
    agent: Agent,
    session: Box<dyn Session>,
}

/// The session of an agent: opened and checked.
pub trait Session: Send {
    /// Checks once more that it is the same process and the same file, and reads its last completed message.
    fn message(&mut self) -> Option<String>;
}

impl Found {
    /// The message as it may be sent, at most `limit` characters.
    pub fn excerpt(&mut self, limit: usize) -> Option<Excerpt> {
        Excerpt::of(self.agent, &self.session.message()?, limit)
    }
}

/// Asks for the focused window, then for the agent in it, and opens its session.
pub fn find(places: &Places, compositor: &dyn Compositor, terminal: &dyn Terminal) -> Option<Found> {
    let window = compositor.focused()?;
    if !window.class.eq_ignore_ascii_case("kitty") {
        return None;
    }
    let (agent, pid) = focus::agent_in(&terminal.foreground(window.pid)?)?;
    let processes = Processes::new(places.processes.clone());
    let session: Box<dyn Session> = match agent {
        Agent::Pi => Box::new(pi::resolve(places, processes, pid)?),
        Agent::Codex => Box::new(codex::resolve(places, processes, pid)?),
        Agent::Mynah => return None,
    };
    Some(Found { agent, session })
}

/// A search on its way, begun at an accepted stop. Dropping it forgets the result; the helpers end by their limits.
pub struct Search {
    result: mpsc::Receiver<Option<Found>>,
}

impl Search {
    /// Begins at once, on a thread of its own. `None` when there can't be one.
    pub fn begin(
        places: Places,
        compositor: Box<dyn Compositor>,
        terminal: Box<dyn Terminal>,
    ) -> Option<Self> {
        let (sender, result) = mpsc::sync_channel(1);
        let search = move || {
            let found = find(&places, compositor.as_ref(), terminal.as_ref());
            super::note_capture(found.is_some());
            // Nobody waits any longer where the recording was thrown away.
            let _ = sender.send(found);
        };
        let thread = std::thread::Builder::new().name("dictation-reference".to_owned()).spawn(search);
        thread.ok().map(|_detached| Self { result })
    }

    /// What was found, read now; waits for `wait` at most. Blocks: not for a thread that draws.
    pub fn excerpt(self, limit: usize, wait: Duration) -> Option<Excerpt> {
        let excerpt =
            self.result.recv_timeout(wait).ok().flatten().and_then(|mut found| found.excerpt(limit));
        super::note_use(excerpt.as_ref());
        excerpt
    }
}
