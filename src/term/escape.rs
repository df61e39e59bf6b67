//! Bytes from the terminal into keys, pastes, mouse events and answers.
//!
//! Pure: bytes and times in, [`Input`] out. Our own parser rather than crossterm's, whose reader spins for ever when the
//! terminal is closed, blocks in the middle of a sequence, and types a late answer into the composer.
//!
//! Invariants
//! - However the bytes are cut into pieces, the same comes out, unless [`Parser::expire`] gave something up between them.
//! - What begins like a sequence is a sequence: none of it ever becomes typed letters.
//! - Every byte costs the same, also in a paste of many megabytes.

use super::caps::{Reply, control_reply, cursor_reply, string_reply};
use super::filter::{self, Cut, Head};
use super::input::{Input, pasted_text};
use super::keys;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::{Duration, Instant};

/// After an escape character alone this long, it was the Esc key.
const ESCAPE_PATIENCE: Duration = Duration::from_millis(25);
/// The rest of any other sequence comes within this.
const SEQUENCE_PATIENCE: Duration = Duration::from_millis(300);
/// A paste whose end mark was lost ends after this long without a byte.
const PASTE_PATIENCE: Duration = Duration::from_secs(5);
/// For this long after giving up on a sequence its rest may come.
const CUT_FOR: Duration = Duration::from_millis(500);
/// No control sequence that means something is longer.
const LONGEST_SEQUENCE: usize = 128;
/// No answer that we ask for is longer.
const LONGEST_STRING: usize = 4096;
/// A longer paste arrives as several.
const LONGEST_PASTE: usize = 64 * 1024 * 1024;

const PASTE_END: &[u8] = b"\x1b[201~";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    /// Inside a character of several bytes.
    Utf8 {
        missing: usize,
    },
    Escape,
    /// Two escape characters: alt with a sequence, or the Esc key twice.
    EscapeEscape,
    /// `ESC [`.
    Control {
        alt: bool,
    },
    /// `ESC O`.
    Single {
        alt: bool,
    },
    /// `ESC [ M` and three bytes.
    OldMouse {
        missing: usize,
    },
    /// `ESC ]`, `ESC P` and their like, up to the string's end.
    Text {
        kind: u8,
        ending: bool,
    },
    /// `ESC [ 200 ~`.
    Paste,
}

/// The parser and what it holds of an unfinished piece.
#[derive(Debug, Default)]
pub struct Parser {
    state: State,
    held: Vec<u8>,
    /// What was given up, and when.
    cut: Option<(Cut, Instant)>,
    /// Where the cursor is was asked and not answered yet.
    cursor_asked: bool,
}

impl Parser {
    /// Where the cursor is has been asked. Until that is answered, or what was asked after it is, what could be the answer
    /// is no key: some terminals tell a place in the first row, which reads as F3.
    pub const fn ask_cursor(&mut self) {
        self.cursor_asked = true;
    }

    /// Takes what was read in one go at this time.
    pub fn push(&mut self, bytes: &[u8], now: Instant, out: &mut Vec<Input>) {
        let mut bytes = self.skip_fragments(bytes, now);
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.state == State::Paste {
                bytes = self.paste(bytes, out);
            } else {
                self.byte(byte, out);
                bytes = rest;
            }
        }
    }

    /// How long to wait for more bytes before [`Self::expire`]; nothing when none are awaited.
    pub const fn patience(&self) -> Option<Duration> {
        match self.state {
            State::Ground => None,
            State::Escape | State::EscapeEscape => Some(ESCAPE_PATIENCE),
            State::Paste => Some(PASTE_PATIENCE),
            State::Utf8 { .. }
            | State::Control { .. }
            | State::Single { .. }
            | State::OldMouse { .. }
            | State::Text { .. } => Some(SEQUENCE_PATIENCE),
        }
    }

    /// No more bytes came in time: gives up on what is unfinished.
    pub fn expire(&mut self, now: Instant, out: &mut Vec<Input>) {
        let (state, held) = self.take();
        match state {
            State::Ground | State::Utf8 { .. } => {}
            State::Escape => {
                out.push(key(KeyCode::Esc, KeyModifiers::NONE));
                self.cut = Some((Cut::AfterEscape, now));
            }
            State::EscapeEscape => {
                out.push(key(KeyCode::Esc, KeyModifiers::NONE));
                out.push(key(KeyCode::Esc, KeyModifiers::NONE));
                self.cut = Some((Cut::AfterEscape, now));
            }
            // Nothing but the introducer: the key with alt held down.
            State::Control { .. } if held.is_empty() => {
                out.push(key(KeyCode::Char('['), KeyModifiers::ALT));
                self.cut = Some((Cut::Perhaps, now));
            }
            State::Single { .. } => {
                out.push(key(KeyCode::Char('O'), KeyModifiers::ALT | KeyModifiers::SHIFT));
            }
            State::Control { .. } | State::OldMouse { .. } => self.cut = Some((Cut::InSequence, now)),
            State::Text { kind, .. } if held.is_empty() => {
                out.push(key(KeyCode::Char(char::from(kind)), KeyModifiers::ALT));
                self.cut = Some((Cut::Perhaps, now));
            }
            State::Text { kind, .. } => self.cut = Some((Cut::InString(kind), now)),
            State::Paste => out.push(Input::Paste(pasted_text(&held))),
        }
    }

    /// Another program had the terminal: the rest of a sequence that it began to read may come.
    pub fn resumed(&mut self, now: Instant) {
        self.take();
        self.cut = Some((Cut::Perhaps, now));
    }

    fn take(&mut self) -> (State, Vec<u8>) {
        (std::mem::take(&mut self.state), std::mem::take(&mut self.held))
    }

    fn skip_fragments<'a>(&mut self, mut bytes: &'a [u8], now: Instant) -> &'a [u8] {
        if self.state != State::Ground {
            return bytes;
        }
        loop {
            let cut = self
                .cut
                .take()
                .filter(|(_, when)| now.saturating_duration_since(*when) <= CUT_FOR)
                .map(|(cut, _)| cut);
            match filter::head(bytes, cut) {
                Head::Input => return bytes,
                Head::Sequence => {
                    self.state = State::Control { alt: false };
                    return bytes.get(1..).unwrap_or_default();
                }
                Head::String => {
                    let (kind, rest) = bytes.split_first().unwrap_or((&b']', &[]));
                    self.state = State::Text { kind: *kind, ending: false };
                    return rest;
                }
                Head::Unfinished(of) => {
                    self.cut = Some((of, now));
                    return &[];
                }
                Head::Fragment(length) => bytes = bytes.get(length..).unwrap_or_default(),
            }
        }
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<Input>) {
        match self.state {
            State::Ground => self.ground(byte, KeyModifiers::NONE, out),
            State::Utf8 { missing } => self.utf8(missing, byte, out),
            State::Escape => self.escape(byte, out),
            State::EscapeEscape => match byte {
                b'[' => self.state = State::Control { alt: true },
                b'O' => self.state = State::Single { alt: true },
                _ => {
                    out.push(key(KeyCode::Esc, KeyModifiers::NONE));
                    self.state = State::Escape;
                    self.escape(byte, out);
                }
            },
            State::Control { alt } => self.control(alt, byte, out),
            State::Single { alt } => {
                self.take();
                if byte == 0x1b {
                    self.state = State::Escape;
                } else if let Some(found) = keys::single(byte, modifier(alt)) {
                    out.push(Input::Key(found));
                }
            }
            State::OldMouse { missing } => {
                self.held.push(byte);
                if missing > 1 {
                    self.state = State::OldMouse { missing: missing - 1 };
                } else {
                    let (_, held) = self.take();
                    out.extend(keys::old_mouse(&held).map(Input::Mouse));
                }
            }
            State::Text { kind, ending } => self.text(kind, ending, byte, out),
            // Pastes are taken whole, before this is asked.
            State::Paste => self.held.push(byte),
        }
    }

    fn ground(&mut self, byte: u8, held_down: KeyModifiers, out: &mut Vec<Input>) {
        match byte {
            0x1b => self.state = State::Escape,
            0xc2..=0xf4 => {
                self.held.push(byte);
                // With alt, a letter of several bytes: an own first byte marks it.
                if !held_down.is_empty() {
                    self.held.insert(0, 0x1b);
                }
                self.state = State::Utf8 {
                    missing: match byte {
                        0xc2..=0xdf => 1,
                        0xe0..=0xef => 2,
                        _ => 3,
                    },
                };
            }
            // Not the beginning of any character.
            0x80..=0xff => {}
            _ => out.push(Input::Key(keys::byte(byte, held_down))),
        }
    }

    fn utf8(&mut self, missing: usize, byte: u8, out: &mut Vec<Input>) {
        if !(0x80..0xc0).contains(&byte) {
            // The character was cut; this byte begins something else.
            self.take();
            self.ground(byte, KeyModifiers::NONE, out);
            return;
        }
        self.held.push(byte);
        if missing > 1 {
            self.state = State::Utf8 { missing: missing - 1 };
            return;
        }
        let (_, held) = self.take();
        let (alt, bytes) = match held.split_first() {
            Some((0x1b, rest)) => (true, rest),
            Some(_) | None => (false, held.as_slice()),
        };
        let character = std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next());
        // Controls beyond ASCII are no keys.
        if let Some(character) = character.filter(|c| !c.is_control()) {
            out.push(Input::Key(keys::character(character, modifier(alt))));
        }
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<Input>) {
        self.take();
        match byte {
            0x1b => self.state = State::EscapeEscape,
            b'[' => self.state = State::Control { alt: false },
            b'O' => self.state = State::Single { alt: false },
            b']' | b'P' | b'_' | b'^' | b'X' => self.state = State::Text { kind: byte, ending: false },
            _ => self.ground(byte, KeyModifiers::ALT, out),
        }
    }

    fn control(&mut self, alt: bool, byte: u8, out: &mut Vec<Input>) {
        match byte {
            // A new sequence begins in the middle of this one.
            0x1b => {
                self.take();
                self.state = State::Escape;
            }
            // Linux's console: `ESC [ [ A` is F1.
            b'[' if self.held.is_empty() => self.held.push(byte),
            b' '..=b'?' => {
                if self.held.len() < LONGEST_SEQUENCE {
                    self.held.push(byte);
                }
            }
            b'@'..=b'~' => {
                let (_, held) = self.take();
                self.control_end(alt, &held, byte, out);
            }
            // Broken by something that does not belong in it.
            _ => {
                self.take();
            }
        }
    }

    fn control_end(&mut self, alt: bool, held: &[u8], end: u8, out: &mut Vec<Input>) {
        if held.len() >= LONGEST_SEQUENCE {
            return;
        }
        match (held, end) {
            (b"200", b'~') => self.state = State::Paste,
            (b"", b'M') => self.state = State::OldMouse { missing: 3 },
            (b"", b'I') => out.push(Input::Focus(true)),
            (b"", b'O') => out.push(Input::Focus(false)),
            ([b'[', ..], b'A'..=b'E') => out.push(key(KeyCode::F(end - b'A' + 1), modifier(alt))),
            ([b'<', rest @ ..], b'M' | b'm') => {
                out.extend(keys::mouse(&keys::numbers(rest), end == b'm').map(Input::Mouse));
            }
            ([marker @ (b'?' | b'>' | b'=' | b'<'), rest @ ..], _) => {
                let intermediate = rest.iter().copied().find(|byte| (b' '..=b'/').contains(byte));
                let numbers = keys::numbers(rest);
                let reply = control_reply(*marker, &numbers, intermediate, end);
                self.cursor_asked &= reply != Reply::DeviceAttributes;
                out.push(Input::Reply(reply));
            }
            ([b'0'..=b'9', ..], _) if end == b'R' && std::mem::take(&mut self.cursor_asked) => {
                let reply = cursor_reply(&keys::numbers(held)).unwrap_or(Reply::Other);
                out.push(Input::Reply(reply));
            }
            _ => match cursor_reply(&keys::numbers(held)).filter(|_| end == b'R') {
                Some(reply) => out.push(Input::Reply(reply)),
                None => out.extend(keys::control(held, end, modifier(alt)).map(Input::Key)),
            },
        }
    }

    fn text(&mut self, kind: u8, ending: bool, byte: u8, out: &mut Vec<Input>) {
        match byte {
            b'\\' if ending => self.text_end(kind, out),
            0x07 => self.text_end(kind, out),
            _ if ending => {
                // An escape that ends no string begins something else.
                self.take();
                self.state = State::Escape;
                self.byte(byte, out);
            }
            0x1b => self.state = State::Text { kind, ending: true },
            _ => {
                if self.held.len() < LONGEST_STRING {
                    self.held.push(byte);
                }
            }
        }
    }

    fn text_end(&mut self, kind: u8, out: &mut Vec<Input>) {
        let (_, held) = self.take();
        out.push(Input::Reply(string_reply(kind, &held)));
    }

    /// Takes the bytes of a paste up to its end mark, and returns what follows.
    fn paste<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<Input>) -> &'a [u8] {
        // The end mark may have begun in what is held already.
        let seam = self.held.len().saturating_sub(PASTE_END.len() - 1);
        let before = self.held.len();
        self.held.extend_from_slice(bytes);
        let fresh = self.held.get(seam..).unwrap_or_default();
        if let Some(at) = fresh.windows(PASTE_END.len()).position(|window| window == PASTE_END) {
            let (_, mut held) = self.take();
            let end = seam + at;
            held.truncate(end);
            out.push(Input::Paste(pasted_text(&held)));
            return bytes.get(end + PASTE_END.len() - before..).unwrap_or_default();
        }
        if self.held.len() > LONGEST_PASTE {
            // What could be the beginning of the end mark stays.
            let rest = self.held.split_off(self.held.len() - PASTE_END.len());
            let part = std::mem::replace(&mut self.held, rest);
            out.push(Input::Paste(pasted_text(&part)));
        }
        &[]
    }
}

const fn key(code: KeyCode, modifiers: KeyModifiers) -> Input {
    Input::Key(KeyEvent::new(code, modifiers))
}

const fn modifier(alt: bool) -> KeyModifiers {
    if alt { KeyModifiers::ALT } else { KeyModifiers::NONE }
}

#[cfg(test)]
mod tests;
