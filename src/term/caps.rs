//! What the terminal can do, asked once.
//!
//! All questions go out in one write. Every terminal answers the last one, so its answer means that the others will not be
//! answered any more; a terminal that answers nothing costs the time limit, once. Answers that come later are heard by the
//! reader and can be taken in with [`Caps::learn`].

use super::escape::Parser;
use super::input::Input;
use super::tty::{Ready, Tty};
use crate::config::env::Env;
use std::io;
use std::time::{Duration, Instant};

/// Keyboard flags, background colour, name, synchronised output, marked pastes, changes between dark and light.
pub const QUESTIONS: &[u8] = b"\x1b[?u\x1b]11;?\x1b\\\x1b[>0q\x1b[?2026$p\x1b[?2004$p\x1b[?2031$p";
/// Asks for the background colour.
pub const ASK_BACKGROUND: &[u8] = b"\x1b]11;?\x1b\\";
/// The device attributes: every terminal answers, and only after all that was written before.
pub const ASK_DEVICE: &[u8] = b"\x1b[c";
/// Two characters of uncertain width, then where the cursor is, then they are wiped out. Not in the first row: what is
/// answered from there could be a key (F3 with a modifier).
const ASK_WIDTH: &str = "\x1b[2;1H●─\x1b[6n\x1b[2;1H\x1b[K";
const WIDTH_ROW: u32 = 2;
/// Where the cursor is behind them if both are one column wide.
const NARROW_COLUMN: u32 = 3;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The answer to the last question.
    DeviceAttributes,
    /// The keyboard protocol of kitty is known, with these flags in force.
    KeyboardFlags(u32),
    /// Whether the terminal knows this private mode.
    Mode {
        /// Its number.
        mode: u32,
        /// Whether it can be switched on.
        known: bool,
    },
    /// The background, red, green and blue.
    Background([u8; 3]),
    /// Name and version, as the terminal writes them.
    Name(String),
    /// Dark was chosen on the user's system, or light.
    Scheme {
        /// Dark.
        dark: bool,
    },
    /// Where the cursor is, counted from 1. Never in the first row.
    Cursor {
        /// Its row.
        row: u32,
        /// Its column.
        column: u32,
    },
    /// Something nobody asked for.
    Other,
}

/// What the terminal can do. What was not answered is unknown, and taken for no.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caps {
    /// It tells key releases and keys that older terminals mix up (kitty's keyboard protocol).
    pub keyboard: bool,
    /// Its background colour.
    pub background: Option<[u8; 3]>,
    /// Its name and version.
    pub name: Option<String>,
    /// Frames can be synchronised; nothing when it did not say. A terminal that does not know the mode skips it.
    pub synchronised: Option<bool>,
    /// Pastes are marked; nothing when it did not say.
    pub marked_paste: Option<bool>,
    /// It tells when the user goes from dark to light; nothing when it did not say.
    pub scheme: Option<bool>,
    /// It draws characters of uncertain width over two columns; nothing when it did not say.
    pub wide: Option<bool>,
    /// It has answered all that it will answer.
    pub complete: bool,
}

impl Caps {
    /// Takes an answer in.
    pub fn learn(&mut self, reply: Reply) {
        match reply {
            Reply::DeviceAttributes => self.complete = true,
            Reply::KeyboardFlags(_) => self.keyboard = true,
            Reply::Mode { mode: 2026, known } => self.synchronised = Some(known),
            Reply::Mode { mode: 2004, known } => self.marked_paste = Some(known),
            Reply::Mode { mode: 2031, known } => self.scheme = Some(known),
            Reply::Cursor { row: WIDTH_ROW, column } => self.wide = Some(column > NARROW_COLUMN),
            Reply::Background(color) => self.background = Some(color),
            Reply::Name(name) => self.name = Some(name),
            Reply::Mode { .. } | Reply::Cursor { .. } | Reply::Scheme { .. } | Reply::Other => {}
        }
    }

    /// It tells keys apart in xterm's older way, and not in kitty's.
    pub fn other_keys(&self) -> bool {
        let is_known = |name: &String| ["tmux", "XTerm"].iter().any(|known| name.starts_with(known));
        !self.keyboard && self.name.as_ref().is_some_and(is_known)
    }

    /// Whether the background is dark; nothing when it is unknown.
    pub fn dark(&self) -> Option<bool> {
        let [red, green, blue] = self.background?.map(u32::from);
        Some(red * 299 + green * 587 + blue * 114 < 128_000)
    }
}

/// Whether erasing leaves the current background. Of the programs that people still use only GNU screen erases to the
/// terminal's own, unless it is told otherwise.
pub fn erases_in_color(env: &Env) -> bool {
    let is_screen = env.get("TERM").is_some_and(|term| term.starts_with("screen"));
    env.get("STY").is_none() && (!is_screen || env.get("TMUX").is_some())
}

/// What a probe found, with everything that came from the keyboard meanwhile.
#[derive(Debug)]
pub struct Probed {
    /// What was answered in time.
    pub caps: Caps,
    /// Keys, pastes and the like that came before the answers were complete.
    pub typed: Vec<Input>,
    /// The parser, in the middle of an answer perhaps; the reader goes on with it.
    pub parser: Parser,
}

/// Asks, and waits for the answers up to `limit`. The terminal must be in raw mode, on a screen where something may be
/// written, and nobody else may read from it.
///
/// # Errors
///
/// The terminal can't be written or read, or is closed.
pub fn probe(tty: &Tty, limit: Duration) -> io::Result<Probed> {
    let deadline = Instant::now() + limit;
    let mut questions = QUESTIONS.to_vec();
    let (columns, rows) = tty.size()?;
    // Both characters must find room in the second row, wide as they may be.
    let asks_width = columns > 5 && rows > 1;
    if asks_width {
        questions.extend_from_slice(ASK_WIDTH.as_bytes());
    }
    questions.extend_from_slice(ASK_DEVICE);
    tty.write_within(&questions, limit)?;
    let mut probed = Probed { caps: Caps::default(), typed: Vec::new(), parser: Parser::default() };
    if asks_width {
        probed.parser.ask_cursor();
    }
    let mut buffer = [0; 4096];
    while !probed.caps.complete {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match tty.wait_readable(left)? {
            Ready::Yes => {}
            Ready::No => break,
        }
        let read = tty.read(&mut buffer)?;
        let mut heard = Vec::new();
        probed.parser.push(buffer.get(..read).unwrap_or_default(), Instant::now(), &mut heard);
        for input in heard {
            match input {
                Input::Reply(reply) => probed.caps.learn(reply),
                other => probed.typed.push(other),
            }
        }
    }
    Ok(probed)
}

/// An answer in the form of a control sequence. `marker` is its first byte, `parameters` its numbers.
pub fn control_reply(marker: u8, parameters: &[u32], intermediate: Option<u8>, end: u8) -> Reply {
    match (marker, intermediate, end, parameters) {
        (b'?', None, b'c', _) => Reply::DeviceAttributes,
        (b'?', None, b'u', [flags, ..]) => Reply::KeyboardFlags(*flags),
        // 0: not known. 4: known, and can't be switched on.
        (b'?', Some(b'$'), b'y', [mode, state, ..]) => {
            Reply::Mode { mode: *mode, known: !matches!(state, 0 | 4) }
        }
        (b'?', None, b'n', [997, scheme @ (1 | 2), ..]) => Reply::Scheme { dark: *scheme == 1 },
        _ => Reply::Other,
    }
}

/// `row ; column` of a control sequence that ends in `R`, if that is an answer. In the first row it would be a key.
pub fn cursor_reply(parameters: &[u32]) -> Option<Reply> {
    match parameters {
        [row, column] if *row > 1 && *column > 0 => Some(Reply::Cursor { row: *row, column: *column }),
        _ => None,
    }
}

/// An answer in the form of a string: `kind` is the character after the escape, `text` what stands up to the end.
pub fn string_reply(kind: u8, text: &[u8]) -> Reply {
    let Ok(text) = std::str::from_utf8(text) else { return Reply::Other };
    if kind == b']'
        && let Some(color) = text.strip_prefix("11;").and_then(color)
    {
        return Reply::Background(color);
    }
    match text.strip_prefix(">|") {
        Some(name) if kind == b'P' => Reply::Name(name.chars().filter(|c| !c.is_control()).collect()),
        Some(_) | None => Reply::Other,
    }
}

/// `rgb:RR/GG/BB` with one to four digits a part, or the same as `rgba:` with a part more.
fn color(text: &str) -> Option<[u8; 3]> {
    let parts = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut parts = parts.split('/').map(|part| {
        let most =
            16u32.checked_pow(u32::try_from(part.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        u8::try_from(u32::from_str_radix(part, 16).ok()? * 255 / most).ok()
    });
    Some([parts.next()??, parts.next()??, parts.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_screen_erases_to_the_terminals_own_ground() {
        let env = |pairs: [(&str, &str); 2]| Env::of(pairs);
        assert!(erases_in_color(&env([("TERM", "xterm-256color"), ("LANG", "C")])));
        assert!(erases_in_color(&env([("TERM", "screen-256color"), ("TMUX", "/tmp/tmux-0/default,1,0")])));
        assert!(!erases_in_color(&env([("TERM", "screen.xterm-256color"), ("STY", "1.pts-0.host")])));
        // Over SSH from within screen only the name tells.
        assert!(!erases_in_color(&env([("TERM", "screen"), ("SSH_TTY", "/dev/pts/1")])));
    }

    fn answered(bytes: &[u8]) -> Caps {
        let mut caps = Caps::default();
        let mut heard = Vec::new();
        Parser::default().push(bytes, Instant::now(), &mut heard);
        for input in heard {
            match input {
                Input::Reply(reply) => caps.learn(reply),
                other => panic!("{other:?} is no answer"),
            }
        }
        caps
    }

    #[test]
    fn answers_are_understood() {
        let caps = answered(
            b"\x1b[?0u\x1b]11;rgb:1818/1818/1a1a\x1b\\\x1bP>|kitty(0.40)\x1b\\\x1b[?2026;2$y\x1b[?2004;1$y\x1b[?2031;2$y\x1b[2;3R\x1b[?62;4c",
        );
        let wanted = Caps {
            keyboard: true,
            background: Some([0x18, 0x18, 0x1a]),
            name: Some("kitty(0.40)".to_owned()),
            synchronised: Some(true),
            marked_paste: Some(true),
            scheme: Some(true),
            wide: Some(false),
            complete: true,
        };
        assert_eq!(caps, wanted);
        assert_eq!(caps.dark(), Some(true));
        let caps = answered(b"\x1b[?2026;0$y\x1b]11;rgba:ff/ff/f/ffff\x07\x1b[?6c");
        assert_eq!((caps.synchronised, caps.background), (Some(false), Some([255; 3])));
        assert_eq!(caps.dark(), Some(false));
        assert!(!caps.keyboard && caps.complete);
    }

    #[test]
    fn one_wide_character_of_two_is_enough() {
        for (answer, wide) in [("2;3", Some(false)), ("2;4", Some(true)), ("2;5", Some(true)), ("7;5", None)]
        {
            assert_eq!(answered(format!("\x1b[{answer}R").as_bytes()).wide, wide, "{answer}");
        }
    }

    #[test]
    fn nonsense_is_no_answer() {
        for bytes in
            ["\x1b]11;red\x1b\\", "\x1b]11;rgb:/1/2\x1b\\", "\x1b]11;rgb:zz/00/00\x07", "\x1bP1$r0m\x1b\\"]
        {
            assert_eq!(answered(bytes.as_bytes()), Caps::default(), "{bytes:?}");
        }
    }
}
