//! Takes out of a text what looks like a secret, before anything else is done with it.
//!
//! Three rules, from the coarse to the fine: **blocks** (a private key with all of its lines), **lines** (a label such
//! as `password:` takes its whole line, and the next one where the value stands there), **words** (known beginnings of
//! keys, passwords inside of addresses, long random looking texts). All of them are heuristics: whoever asks the user for
//! consent says so.
//!
//! Invariant: what is redacted is replaced as a whole and by a fixed marker, so that no part, no length and no kind of a
//! secret is left.

mod blocks;
mod labels;
mod random;
mod words;

use labels::Label;

/// Stands for a line or a word that was taken out.
pub const MARKER: &str = "[redacted]";

/// Lines between a label and a value that stands below it: blank ones and borders of code.
const LABEL_REACH: usize = 3;

/// The text without what looks like a secret.
pub fn redact(text: &str) -> String {
    let visible = visible(&ends(text));
    let lines: Vec<&str> = visible.split('\n').collect();
    let in_block = blocks::find(&lines);
    let mut out = Vec::with_capacity(lines.len());
    let mut waiting: Option<(Label, usize)> = None;
    for (line, in_block) in lines.iter().zip(in_block) {
        let found = labels::find(line);
        let is_value = match waiting.take() {
            Some((label, reach)) if labels::is_between(line) => {
                waiting = (reach > 1).then_some((label, reach - 1));
                false
            }
            Some((label, _)) => labels::is_value_below(label, line),
            None => false,
        };
        if let Some(label) = found.below {
            waiting = Some((label, LABEL_REACH));
        }
        out.push(if in_block || is_value || found.takes_line {
            MARKER.to_owned()
        } else {
            words::redact(line)
        });
    }
    out.join("\n")
}

/// A text of more bytes than this keeps a part of its begin and one of its end: whoever sends it sends far less, and
/// reading megabytes would take seconds.
const LONGEST: usize = 192 * 1024;

/// The begin and the end of a long text, in whole lines. Lines that may be the values of labels in the gap go too.
fn ends(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= LONGEST {
        return text.into();
    }
    let head = text.get(..text.floor_char_boundary(LONGEST * 2 / 3)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - LONGEST / 3)..).unwrap_or_default();
    let head = head.rsplit_once('\n').map_or("", |(lines, _cut)| lines);
    let tail = tail.splitn(LABEL_REACH + 3, '\n').nth(LABEL_REACH + 2).unwrap_or_default();
    format!("{head}\n…\n{tail}").into()
}

/// Nothing is left but markers and blanks.
pub fn says_nothing(redacted: &str) -> bool {
    redacted.replace(MARKER, "").trim().is_empty()
}

/// Without characters that nobody sees: one of them inside a key would hide it from every rule. Line ends of one kind.
fn visible(text: &str) -> String {
    let text =
        text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}', '\u{85}'], "\n");
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Joiners make one sign of several, and letters of some scripts: there they stay.
        let joins =
            matches!(c, '\u{200c}' | '\u{200d}') && out.chars().next_back().is_some_and(|c| !c.is_ascii());
        if joins || !is_invisible(c) {
            out.push(c);
        }
    }
    out
}

const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests;
