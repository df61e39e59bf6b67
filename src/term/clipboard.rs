//! Copying and pasting, on a thread of its own: a clipboard may take a tenth of a second to fail.
//!
//! On the user's own machine the system's clipboard confirms; otherwise, or when there is none, the terminal is asked
//! (OSC 52). It never confirms, so that is told as sent, not as copied.

use crate::config::env::Env;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io;
use std::sync::mpsc::{SendError, Sender, channel};

/// Terminals drop longer sequences, or part of them.
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
    /// The terminal was asked to take it, and does not say whether it did.
    Sent,
    /// It is nowhere; the text says why.
    Failed(String),
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
pub struct Clipboard(Sender<Job>);

/// What it is asked for, and who is told.
enum Job {
    Copy(String, Box<dyn FnOnce(Copied) + Send>),
    Paste(Box<dyn FnOnce(Result<String, String>) + Send>),
}

impl Clipboard {
    /// Starts the thread. `send` brings bytes to the terminal, and says whether it will take them.
    ///
    /// # Errors
    ///
    /// The system has no thread left.
    pub fn start(way: Way, send: impl Fn(&[u8]) -> bool + Send + 'static) -> io::Result<Self> {
        let native = way.native.then_some(System::default());
        Self::with(native, way.multiplexer, send)
    }

    fn with(
        mut native: Option<impl Native + Send + 'static>,
        multiplexer: Multiplexer,
        send: impl Fn(&[u8]) -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, wanted) = channel();
        std::thread::Builder::new().name("clipboard".to_owned()).spawn(move || {
            for job in wanted {
                let (text, done) = match job {
                    Job::Copy(text, done) => (text, done),
                    Job::Paste(done) => {
                        done(native.as_mut().map_or_else(|| Err(NOT_HERE.to_owned()), Native::get));
                        continue;
                    }
                };
                let refused = match native.as_mut().map(|native| native.set(&text)) {
                    Some(Ok(())) => {
                        done(Copied::Confirmed);
                        continue;
                    }
                    Some(Err(refused)) => Some(refused),
                    None => None,
                };
                done(by_terminal(&text, multiplexer, &send, refused));
            }
        })?;
        Ok(Self(sender))
    }

    /// Copies, and tells `done` on the other thread what became of it.
    pub fn copy(&self, text: String, done: impl FnOnce(Copied) + Send + 'static) {
        if let Err(SendError(Job::Copy(_, done))) = self.0.send(Job::Copy(text, Box::new(done))) {
            done(Copied::Failed(STOPPED.to_owned()));
        }
    }

    /// Reads the system's clipboard, and tells `done` on the other thread what is on it; the error says why not.
    pub fn paste(&self, done: impl FnOnce(Result<String, String>) + Send + 'static) {
        if let Err(SendError(Job::Paste(done))) = self.0.send(Job::Paste(Box::new(done))) {
            done(Err(STOPPED.to_owned()));
        }
    }
}

fn by_terminal(
    text: &str,
    multiplexer: Multiplexer,
    send: impl Fn(&[u8]) -> bool,
    refused: Option<String>,
) -> Copied {
    let because = refused.map(|why| format!(" The system's clipboard: {why}")).unwrap_or_default();
    let sequence = sequence(text, multiplexer);
    if sequence.len() > LONGEST_SEQUENCE {
        return Copied::Failed(format!("the text is too long for the terminal's clipboard.{because}"));
    }
    if send(&sequence) {
        Copied::Sent
    } else {
        Copied::Failed(format!("the terminal takes nothing.{because}"))
    }
}

/// What asks a terminal to put the text on its clipboard.
pub fn sequence(text: &str, multiplexer: Multiplexer) -> Vec<u8> {
    let plain = format!("\x1b]52;c;{}\x07", STANDARD.encode(text)).into_bytes();
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
    fn set(&mut self, text: &str) -> Result<(), String>;
    fn get(&mut self) -> Result<String, String>;
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
    fn set(&mut self, text: &str) -> Result<(), String> {
        self.with(|clipboard| clipboard.set_text(text))
    }

    fn get(&mut self) -> Result<String, String> {
        self.with(arboard::Clipboard::get_text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    struct Fake(Result<(), String>);

    impl Native for Fake {
        fn set(&mut self, _text: &str) -> Result<(), String> {
            self.0.clone()
        }

        fn get(&mut self) -> Result<String, String> {
            self.0.clone().map(|()| "there".to_owned())
        }
    }

    #[test]
    fn what_is_there_is_read_where_it_is_the_users() {
        let table = [
            (Some(Fake(Ok(()))), Ok("there".to_owned())),
            (Some(Fake(Err("no display".to_owned()))), Err("no display".to_owned())),
            (None, Err(NOT_HERE.to_owned())),
        ];
        for (native, wanted) in table {
            let clipboard = Clipboard::with(native, Multiplexer::None, |_| true).unwrap();
            let (tell, told) = channel();
            clipboard.paste(move |read| tell.send(read).unwrap());
            assert_eq!(told.recv_timeout(Duration::from_secs(20)).unwrap(), wanted);
        }
    }

    /// The outcome of copying `text`, and what the terminal got.
    fn copied(native: Option<Fake>, takes: bool, text: &str) -> (Copied, Vec<u8>) {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&sent);
        let send = move |bytes: &[u8]| {
            theirs.lock().unwrap().extend_from_slice(bytes);
            takes
        };
        let clipboard = Clipboard::with(native, Multiplexer::None, send).unwrap();
        let (tell, told) = channel();
        clipboard.copy(text.to_owned(), move |copied| tell.send(copied).unwrap());
        let outcome = told.recv_timeout(Duration::from_secs(20)).unwrap();
        let sent = sent.lock().unwrap().clone();
        (outcome, sent)
    }

    #[test]
    fn the_outcome_is_what_happened() {
        assert_eq!(copied(Some(Fake(Ok(()))), true, "x"), (Copied::Confirmed, Vec::new()));
        assert_eq!(copied(None, true, "hi"), (Copied::Sent, b"\x1b]52;c;aGk=\x07".to_vec()));
        let broken = || Some(Fake(Err("no display".to_owned())));
        assert_eq!(copied(broken(), true, "hi").0, Copied::Sent);
        let Copied::Failed(why) = copied(broken(), false, "hi").0 else {
            panic!("the terminal took nothing")
        };
        assert!(why.contains("no display"), "{why}");
        let (outcome, sent) = copied(None, true, &"x".repeat(LONGEST_SEQUENCE));
        assert!(matches!(outcome, Copied::Failed(_)) && sent.is_empty());
    }

    #[test]
    fn multiplexers_get_what_they_pass_on() {
        assert_eq!(
            sequence("hi", Multiplexer::Tmux),
            b"\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"
        );
        assert_eq!(sequence("hi", Multiplexer::Screen), b"\x1bP\x1b]52;c;aGk=\x07\x1b\\");
        let long = sequence(&"x".repeat(1000), Multiplexer::Screen);
        assert_eq!(long.windows(2).filter(|pair| pair == b"\x1bP").count(), 3);
    }

    #[test]
    fn over_ssh_the_system_is_somebody_elses() {
        let way = Way::of(&Env::of([("SSH_CONNECTION", "1"), ("TMUX", "x")]));
        assert_eq!(way, Way { native: false, multiplexer: Multiplexer::Tmux });
        let way = Way::of(&Env::of([("STY", "x")]));
        assert_eq!(way, Way { native: true, multiplexer: Multiplexer::Screen });
    }
}
