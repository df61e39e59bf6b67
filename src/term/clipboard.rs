//! Copying and pasting, on a thread of its own: a clipboard may take a tenth of a second to fail.
//!
//! On the user's own machine the system's clipboard confirms; otherwise, or when there is none, the terminal is asked
//! (OSC 52). It never confirms, so that is told as sent, not as copied. A text that some terminals would drop is kept in a
//! file, too.

use crate::config::env::Env;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SendError, Sender, channel};

/// Some terminals drop longer sequences, or part of them.
const SAFE_SEQUENCE: usize = 100_000;
/// No terminal is asked to take a longer one.
const LONGEST_SEQUENCE: usize = 1024 * 1024;
/// Screen passes on no string longer than this in one piece.
const SCREEN_PIECE: usize = 512;

const STOPPED: &str = "the clipboard has stopped working; restart Mynah";
/// Terminals do not let programs read it, and with reason.
const NOT_HERE: &str = "only the terminal can paste here; use its own key";

/// What became of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Copied {
    /// The system's clipboard has it.
    Confirmed,
    /// The terminal was asked to take it through this, and does not say whether it did.
    Sent(Multiplexer),
    /// It is too long for some terminals, or all: a file has it.
    Kept {
        /// Which.
        file: PathBuf,
        /// The terminal was asked to take it, too.
        sent: bool,
    },
    /// It is nowhere; the text says why.
    Failed(String),
}

/// Where a text goes, or comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The clipboard.
    Clipboard,
    /// The clipboard, and what X11 and Wayland paste by the middle button. Elsewhere that is the clipboard alone.
    Selection,
}

/// A program between us and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiplexer {
    /// None that we know.
    None,
    /// It takes a copy itself, and passes on what is wrapped.
    Tmux,
    /// It only passes on what is wrapped.
    Screen,
}

/// How to copy here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// The system's clipboard is the one in front of the user.
    pub native: bool,
    /// What the sequence must pass through.
    pub multiplexer: Multiplexer,
}

impl Way {
    /// Over SSH the system's clipboard is somebody else's.
    pub fn of(env: &Env) -> Self {
        let remote = ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].iter().any(|name| env.get(name).is_some());
        let multiplexer = if env.get("TMUX").is_some() {
            Multiplexer::Tmux
        } else if env.get("STY").is_some() {
            Multiplexer::Screen
        } else {
            Multiplexer::None
        };
        Self { native: !remote, multiplexer }
    }
}

/// The thread that copies and pastes.
#[derive(Clone)]
pub struct Clipboard(Sender<Job>);

/// What it is asked for, and who is told.
enum Job {
    Copy(String, Place, Box<dyn FnOnce(Copied) + Send>),
    Paste(Place, Box<dyn FnOnce(Result<String, String>) + Send>),
}

impl Clipboard {
    /// Starts the thread. `send` brings bytes to the terminal, and says whether it will take them. `folder` is where a text is
    /// kept that is too long for the terminal.
    ///
    /// # Errors
    ///
    /// The system has no thread left.
    pub fn start(way: Way, folder: &Path, send: impl Fn(&[u8]) -> bool + Send + 'static) -> io::Result<Self> {
        let native = way.native.then_some(System::default());
        Self::with(native, way.multiplexer, folder, send)
    }

    fn with(
        mut native: Option<impl Native + Send + 'static>,
        multiplexer: Multiplexer,
        folder: &Path,
        send: impl Fn(&[u8]) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, wanted) = channel();
        let folder = folder.to_owned();
        std::thread::Builder::new().name("clipboard".to_owned()).spawn(move || {
            for job in wanted {
                let (text, place, done) = match job {
                    Job::Copy(text, place, done) => (text, place, done),
                    Job::Paste(place, done) => {
                        let read = native.as_mut().map(|native| native.get(place));
                        done(read.unwrap_or_else(|| Err(NOT_HERE.to_owned())));
                        continue;
                    }
                };
                let refused = match native.as_mut().map(|native| native.set(&text, place)) {
                    Some(Ok(())) => {
                        done(Copied::Confirmed);
                        continue;
                    }
                    Some(Err(refused)) => Some(refused),
                    None => None,
                };
                done(by_terminal(&text, place, multiplexer, &folder, &send, refused));
            }
        })?;
        Ok(Self(sender))
    }

    /// Copies, and tells `done` on the other thread what became of it.
    pub fn copy(&self, text: String, done: impl FnOnce(Copied) + Send + 'static) {
        self.copy_to(Place::Clipboard, text, done);
    }

    /// The same for what was selected: the middle button pastes it, too, where the system has that.
    pub fn copy_selection(&self, text: String, done: impl FnOnce(Copied) + Send + 'static) {
        self.copy_to(Place::Selection, text, done);
    }

    fn copy_to(&self, place: Place, text: String, done: impl FnOnce(Copied) + Send + 'static) {
        if let Err(SendError(Job::Copy(_, _, done))) = self.0.send(Job::Copy(text, place, Box::new(done))) {
            done(Copied::Failed(STOPPED.to_owned()));
        }
    }

    /// Reads the system's clipboard, and tells `done` on the other thread what is on it; the error says why not.
    pub fn paste(&self, done: impl FnOnce(Result<String, String>) + Send + 'static) {
        self.paste_from(Place::Clipboard, done);
    }

    /// The same for what was selected last, in whatever program.
    pub fn paste_primary(&self, done: impl FnOnce(Result<String, String>) + Send + 'static) {
        self.paste_from(Place::Selection, done);
    }

    fn paste_from(&self, place: Place, done: impl FnOnce(Result<String, String>) + Send + 'static) {
        if let Err(SendError(Job::Paste(_, done))) = self.0.send(Job::Paste(place, Box::new(done))) {
            done(Err(STOPPED.to_owned()));
        }
    }
}

fn by_terminal(
    text: &str,
    place: Place,
    multiplexer: Multiplexer,
    folder: &Path,
    send: impl Fn(&[u8]) -> bool,
    refused: Option<String>,
) -> Copied {
    let because = refused.map(|why| format!(" The system's clipboard: {why}")).unwrap_or_default();
    // Before anything is encoded: four characters stand for three bytes.
    let length = text.len().div_ceil(3) * 4;
    let sent = length <= LONGEST_SEQUENCE && send(&sequence(text, place, multiplexer));
    if sent && length <= SAFE_SEQUENCE {
        return Copied::Sent(multiplexer);
    }
    if length <= SAFE_SEQUENCE {
        return Copied::Failed(format!("the terminal takes nothing.{because}"));
    }
    match keep(text, folder) {
        Ok(file) => Copied::Kept { file, sent },
        Err(_) if sent => Copied::Sent(multiplexer),
        Err(error) => Copied::Failed(format!(
            "the text is too long for the terminal's clipboard, and can't be written to {}: {error}.{because}",
            folder.display()
        )),
    }
}

/// Writes the text to the one file for this, which only the user can read. The one before it goes.
fn keep(text: &str, folder: &Path) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let file = folder.join("copied.txt");
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // Made anew: a file that others could read would stay so.
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?.write_all(text.as_bytes())?;
    Ok(file)
}

/// What asks a terminal to put the text on its clipboard.
pub fn sequence(text: &str, place: Place, multiplexer: Multiplexer) -> Vec<u8> {
    let places = match place {
        Place::Clipboard => "c",
        // A terminal that knows but one takes the first.
        Place::Selection => "cp",
    };
    let plain = format!("\x1b]52;{places};{}\x07", STANDARD.encode(text)).into_bytes();
    match multiplexer {
        Multiplexer::None => plain,
        Multiplexer::Tmux => {
            // As it is for tmux's own setting, and wrapped for a terminal behind a tmux that lets it through.
            let mut both = plain.clone();
            both.extend_from_slice(b"\x1bPtmux;");
            for byte in plain {
                if byte == 0x1b {
                    both.push(byte);
                }
                both.push(byte);
            }
            both.extend_from_slice(b"\x1b\\");
            both
        }
        Multiplexer::Screen => {
            let wrap = |piece: &[u8]| [b"\x1bP", piece, b"\x1b\\"].concat();
            plain.chunks(SCREEN_PIECE).flat_map(wrap).collect()
        }
    }
}

/// A clipboard that confirms.
trait Native {
    fn set(&mut self, text: &str, place: Place) -> Result<(), String>;
    fn get(&mut self, place: Place) -> Result<String, String>;
}

/// The system's, opened at the first copy and kept: on X11 and Wayland its content goes with whoever put it there.
#[derive(Default)]
struct System(Option<arboard::Clipboard>);

impl System {
    /// Does something with it; one that failed is opened anew the next time.
    fn with<T>(
        &mut self,
        work: impl FnOnce(&mut arboard::Clipboard) -> Result<T, arboard::Error>,
    ) -> Result<T, String> {
        let opened = match self.0.take() {
            Some(clipboard) => Ok(clipboard),
            None => arboard::Clipboard::new(),
        };
        let mut clipboard = opened.map_err(|error| error.to_string())?;
        let done = work(&mut clipboard).map_err(|error| error.to_string())?;
        self.0 = Some(clipboard);
        Ok(done)
    }
}

impl Native for System {
    fn set(&mut self, text: &str, place: Place) -> Result<(), String> {
        self.with(|clipboard| clipboard.set_text(text))?;
        if place == Place::Selection {
            // Not every desktop has it; what counts is the clipboard.
            if let Err(error) = self.with(|clipboard| primary::set(clipboard, text)) {
                tracing::debug!("not in the primary selection: {error}");
            }
        }
        Ok(())
    }

    fn get(&mut self, place: Place) -> Result<String, String> {
        match place {
            Place::Clipboard => self.with(arboard::Clipboard::get_text),
            Place::Selection => self.with(primary::get),
        }
    }
}

/// What was selected last, which the middle button pastes: X11 and Wayland have it.
#[cfg(target_os = "linux")]
mod primary {
    use arboard::{Clipboard, Error, GetExtLinux, LinuxClipboardKind, SetExtLinux};

    pub(super) fn set(clipboard: &mut Clipboard, text: &str) -> Result<(), Error> {
        clipboard.set().clipboard(LinuxClipboardKind::Primary).text(text)
    }

    pub(super) fn get(clipboard: &mut Clipboard) -> Result<String, Error> {
        clipboard.get().clipboard(LinuxClipboardKind::Primary).text()
    }
}

/// Elsewhere the clipboard stands for it.
#[cfg(not(target_os = "linux"))]
mod primary {
    use arboard::{Clipboard, Error};

    pub(super) fn set(_: &mut Clipboard, _: &str) -> Result<(), Error> {
        Ok(())
    }

    pub(super) fn get(clipboard: &mut Clipboard) -> Result<String, Error> {
        clipboard.get_text()
    }
}

#[cfg(test)]
#[path = "clipboard_tests.rs"]
mod tests;
