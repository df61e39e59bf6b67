//! Makes one paste of the keys that a terminal sends for it when it does not mark pastes.
//!
//! Pure. Key by key, a paste of some megabytes would cost minutes, and each of its tabs would complete something. So
//! what comes in such numbers in one go that nobody has typed it is held until the line is silent for a moment, and then
//! told as what it is. Fewer keys pass at once; of these only line ends are judged ([`super::burst`]).

use super::burst::{Burst, LineEnd};
use super::input::Input;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// So many characters in one go were not typed.
const MANY: usize = 64;
/// A paste has ended when nothing comes for so long.
const SILENCE: Duration = Duration::from_millis(40);
/// A longer paste arrives as several.
const LONGEST: usize = 64 * 1024 * 1024;

/// What is held of a paste, and what is needed to tell one.
#[derive(Debug, Default)]
pub struct Unmarked {
    burst: Burst,
    held: String,
}

impl Unmarked {
    /// Takes what was read in one go.
    pub fn take(&mut self, heard: Vec<Input>, now: Instant, out: &mut Vec<Input>) {
        let mut left = heard.iter().filter(|input| types(input).is_some()).count();
        // Text of this go, as keys, until it is known whether it is many.
        let mut run = Vec::new();
        for input in heard {
            if types(&input).is_none() {
                self.end_run(&mut run, out);
                self.expire(out);
                if is_other_key(&input) {
                    self.burst.other_key();
                }
                out.push(input);
                continue;
            }
            left -= 1;
            if self.is_enter(&input, left > 0, now) {
                self.end_run(&mut run, out);
                self.expire(out);
                out.push(input);
            } else {
                run.push(input);
            }
        }
        self.end_run(&mut run, out);
    }

    /// Nothing came for [`Self::patience`]: the paste is whole.
    pub fn expire(&mut self, out: &mut Vec<Input>) {
        if !self.held.is_empty() {
            out.push(Input::Paste(std::mem::take(&mut self.held)));
        }
    }

    /// How long to wait for more; nothing when nothing is held.
    pub fn patience(&self) -> Option<Duration> {
        (!self.held.is_empty()).then_some(SILENCE)
    }

    /// Counts a key that types something, and tells whether it is the Enter key rather than a line end of a paste.
    fn is_enter(&mut self, input: &Input, more_follows: bool, now: Instant) -> bool {
        if types(input) == Some('\n') {
            return self.burst.line_end(more_follows, now) == LineEnd::Enter;
        }
        self.burst.character(now);
        false
    }

    fn end_run(&mut self, run: &mut Vec<Input>, out: &mut Vec<Input>) {
        if run.len() >= MANY || !self.held.is_empty() {
            self.held.extend(run.drain(..).filter_map(|input| types(&input)));
            if self.held.len() >= LONGEST {
                self.expire(out);
            }
            return;
        }
        out.extend(run.drain(..).map(|input| match types(&input) {
            Some('\n') => Input::Paste("\n".to_owned()),
            _ => input,
        }));
    }
}

/// The character that a key puts into a text.
fn types(input: &Input) -> Option<char> {
    let Input::Key(event) = input else { return None };
    let is_plain = (event.modifiers - KeyModifiers::SHIFT).is_empty();
    match event.code {
        _ if event.kind == KeyEventKind::Release => None,
        KeyCode::Char(c) if is_plain => Some(c),
        KeyCode::Tab if is_plain => Some('\t'),
        KeyCode::Enter if event.modifiers.is_empty() => Some('\n'),
        // A paste with `\n` at its line ends, which would be ctrl+j.
        KeyCode::Char('j') if event.modifiers == KeyModifiers::CONTROL => Some('\n'),
        _ => None,
    }
}

fn is_other_key(input: &Input) -> bool {
    matches!(input, Input::Key(KeyEvent { kind: KeyEventKind::Press | KeyEventKind::Repeat, .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Input> {
        let key = |c| match c {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            c => KeyCode::Char(c),
        };
        text.chars().map(|c| Input::Key(KeyEvent::new(key(c), KeyModifiers::NONE))).collect()
    }

    /// What comes out of pieces that are read one millisecond apart: keys as they are, `⏎` for Enter, pastes in brackets.
    fn told(pieces: &[Vec<Input>]) -> String {
        let (mut unmarked, mut now, mut out) = (Unmarked::default(), Instant::now(), Vec::new());
        for piece in pieces {
            now += Duration::from_millis(1);
            unmarked.take(piece.clone(), now, &mut out);
        }
        assert_eq!(unmarked.patience().is_some(), !unmarked.held.is_empty());
        unmarked.expire(&mut out);
        assert_eq!(unmarked.patience(), None);
        let text = out.iter().map(|input| match input {
            Input::Paste(text) => format!("[{text}]"),
            Input::Key(key) if key.code == KeyCode::Enter => "⏎".to_owned(),
            Input::Key(key) if key.code == KeyCode::Esc => "␛".to_owned(),
            input => types(input).map(String::from).unwrap_or_default(),
        });
        text.collect()
    }

    #[test]
    fn many_keys_are_a_paste_and_few_are_keys() {
        let long = "x\ty\n".repeat(40);
        assert_eq!(told(&[keys("hello\n")]), "hello⏎");
        assert_eq!(told(&[keys("one\ntwo")]), "one[\n]two");
        assert_eq!(told(&[keys(&long), keys("and "), keys("the rest\n")]), format!("[{long}and the rest\n]"));
        let line = "z".repeat(100);
        assert_eq!(told(&[keys(&format!("{line}\n"))]), format!("[{line}]⏎"));
        let escape = vec![Input::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE))];
        assert_eq!(told(&[keys(&long), escape, keys("a")]), format!("[{long}]␛a"));
    }

    #[test]
    fn ctrl_j_alone_stays_a_key() {
        let ctrl_j = Input::Key(KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL));
        let mut out = Vec::new();
        Unmarked::default().take(vec![ctrl_j.clone()], Instant::now(), &mut out);
        assert_eq!(out, [ctrl_j]);
    }
}
