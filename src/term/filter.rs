//! Tells pieces of terminal reports from typed text: a mouse report whose beginning was lost must not land in the composer
//! as `35;150;7M`.
//!
//! The same holds for answers to questions, which come as control sequences or as strings.
//!
//! Pure. A report loses its beginning when the line stalls in the middle of it, or when another program (an editor that
//! had the terminal) read the first half.

/// What was given up as unfinished just before these bytes came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// A lone escape character, which was taken for the Esc key.
    AfterEscape,
    /// A control sequence of which more than its first two bytes had come: nobody types that.
    InSequence,
    /// A string of which something had come; the character after its escape.
    InString(u8),
    /// Perhaps nothing: a key that looks like an introducer, or another program that may have read the first half. Only
    /// what nobody types in one go counts as the rest.
    Perhaps,
}

/// What the first bytes of a piece of input are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// Typed text, or something the parser understands.
    Input,
    /// The rest of a control sequence whose escape character has already been taken for a key: parse it as one.
    Sequence,
    /// The same of a string.
    String,
    /// The end of a report: this many bytes to drop.
    Fragment(usize),
    /// So far the end of a report, all of it: drop it, and expect more of this.
    Unfinished(Cut),
}

/// Looks at the beginning of what was read in one go.
pub fn head(bytes: &[u8], cut: Option<Cut>) -> Head {
    match cut {
        Some(Cut::InSequence) => tail(bytes),
        Some(Cut::InString(kind)) => string_tail(kind, bytes),
        Some(Cut::AfterEscape) => match bytes {
            [b'[', rest @ ..] if sequence(rest) => Head::Sequence,
            [kind @ (b']' | b'P'), rest @ ..] if answer(*kind, rest) => Head::String,
            _ => whole_mouse_report(bytes),
        },
        Some(Cut::Perhaps) if answer(b']', bytes) => string_tail(b']', bytes),
        Some(Cut::Perhaps) if answer(b'P', bytes) => string_tail(b'P', bytes),
        Some(Cut::Perhaps) => match tail(bytes) {
            Head::Fragment(length) if nobody_types(bytes.get(..length).unwrap_or_default()) => {
                Head::Fragment(length)
            }
            Head::Unfinished(of) if nobody_types(bytes) => Head::Unfinished(of),
            _ => whole_mouse_report(bytes),
        },
        None => whole_mouse_report(bytes),
    }
}

/// Parameters and a final byte. A lone letter counts only where it is a key that every keyboard has, or tells the
/// focus: `[x` could have been
/// pasted.
fn sequence(rest: &[u8]) -> bool {
    let parameters = rest.iter().take_while(|byte| is_parameter(**byte) || **byte == b'$').count();
    match rest.get(parameters) {
        // Its end is still to come.
        None => nobody_types(rest),
        Some(b'A'..=b'D' | b'F' | b'H' | b'I' | b'O' | b'Z') if parameters == 0 => true,
        Some(b'@'..=b'~') => parameters > 0,
        Some(_) => false,
    }
}

/// `[<35;150;7M` complete and without its escape character: three numbers like this are no text.
fn whole_mouse_report(bytes: &[u8]) -> Head {
    let [b'[', b'<', rest @ ..] = bytes else { return Head::Input };
    let numbers = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    let separators = rest.iter().take(numbers).filter(|byte| **byte == b';').count();
    match rest.get(numbers) {
        Some(b'M' | b'm') if separators == 2 => Head::Fragment(numbers + 3),
        Some(_) | None => Head::Input,
    }
}

/// Parameters as reports have them, with a separator or a marker.
fn nobody_types(fragment: &[u8]) -> bool {
    fragment.contains(&b';') || matches!(fragment, [b'?' | b'>' | b'<' | b'=', _, _, ..])
}

/// The beginning of a string that answers a question of ours, without its introducer: a colour, or a name.
fn answer(kind: u8, rest: &[u8]) -> bool {
    if kind == b'P' {
        return rest.starts_with(b">|");
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && rest.get(digits..).is_some_and(|rest| rest.starts_with(b";r"))
}

/// The rest of a string, up to what ends it: BEL, or an escape with a backslash.
fn string_tail(kind: u8, bytes: &[u8]) -> Head {
    // Colours are all that comes behind `ESC ]`; a name may be anything.
    let belongs = |byte: &u8| match kind {
        b']' => byte.is_ascii_hexdigit() || matches!(byte, b'/' | b':' | b';' | b'?' | b'r' | b'g'),
        _ => matches!(byte, b' '..=b'~'),
    };
    if bytes.first() == Some(&b'\\') {
        return Head::Fragment(1);
    }
    let length = bytes.iter().take_while(|byte| belongs(byte)).count();
    match bytes.get(length..) {
        Some([0x07, ..]) => Head::Fragment(length + 1),
        Some([0x1b, b'\\', ..]) => Head::Fragment(length + 2),
        Some([0x1b]) => Head::Unfinished(Cut::InString(kind)),
        Some([]) if length > 0 => Head::Unfinished(Cut::InString(kind)),
        // Something else begins.
        Some([0x1b, ..]) if length > 0 => Head::Fragment(length),
        Some(_) | None => Head::Input,
    }
}

fn tail(bytes: &[u8]) -> Head {
    let parameters = bytes.iter().take_while(|byte| is_parameter(**byte) || **byte == b'$').count();
    match bytes.get(parameters) {
        None if parameters > 0 => Head::Unfinished(Cut::InSequence),
        Some(
            b'~' | b'A'..=b'D' | b'F' | b'H' | b'I' | b'M' | b'O'..=b'S' | b'c' | b'm' | b'n' | b'u' | b'y',
        ) => Head::Fragment(parameters + 1),
        Some(_) | None => Head::Input,
    }
}

const fn is_parameter(byte: u8) -> bool {
    matches!(byte, b'0'..=b'?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_told_from_text() {
        let (none, escape, sequence) = (None, Some(Cut::AfterEscape), Some(Cut::InSequence));
        let perhaps = Some(Cut::Perhaps);
        let (colour, name) = (Some(Cut::InString(b']')), Some(Cut::InString(b'P')));
        let table = [
            ("hello", none, Head::Input),
            ("35", none, Head::Input),
            ("35;150;7M", none, Head::Input),
            ("[<35;150;7M", none, Head::Fragment(11)),
            ("[<35;150;7mabc", none, Head::Fragment(11)),
            ("[<35;150", none, Head::Input),
            ("[<3;4M", none, Head::Input),
            ("[<html>", none, Head::Input),
            ("[", escape, Head::Input),
            ("[x", escape, Head::Input),
            ("[A", escape, Head::Sequence),
            ("[<35;150;7M", escape, Head::Sequence),
            ("[1;2B", escape, Head::Sequence),
            ("[?2026;2$y", escape, Head::Sequence),
            ("[?62;", escape, Head::Sequence),
            ("[1", escape, Head::Input),
            ("x", escape, Head::Input),
            ("35;150;7M", sequence, Head::Fragment(9)),
            (";7Mtext", sequence, Head::Fragment(3)),
            ("M", sequence, Head::Fragment(1)),
            ("35;15", sequence, Head::Unfinished(Cut::InSequence)),
            ("hello", sequence, Head::Input),
            ("", sequence, Head::Input),
            ("c", perhaps, Head::Input),
            ("7M", perhaps, Head::Input),
            ("<35;150;7M", perhaps, Head::Fragment(10)),
            (";150;7Mab", perhaps, Head::Fragment(7)),
            ("?62c", perhaps, Head::Fragment(4)),
            ("?997;1n", perhaps, Head::Fragment(7)),
            ("?c", perhaps, Head::Input),
            ("<35;1", perhaps, Head::Unfinished(Cut::InSequence)),
            ("35", perhaps, Head::Input),
            ("n", sequence, Head::Fragment(1)),
            ("]11;rgb:1", escape, Head::String),
            ("P>|kit", escape, Head::String),
            ("]", escape, Head::Input),
            ("Please", escape, Head::Input),
            ("11;rgb:1/2/3\x07x", perhaps, Head::Fragment(13)),
            ("ff/ff\x1b\\x", colour, Head::Fragment(7)),
            ("ff/ff\x1b", colour, Head::Unfinished(Cut::InString(b']'))),
            ("ff/ff", colour, Head::Unfinished(Cut::InString(b']'))),
            ("\\x", colour, Head::Fragment(1)),
            ("hello", colour, Head::Input),
            ("f\x1b[A", colour, Head::Fragment(1)),
            ("ty(0.42)\x1b\\", name, Head::Fragment(10)),
        ];
        for (bytes, cut, wanted) in table {
            assert_eq!(head(bytes.as_bytes(), cut), wanted, "{bytes:?} after {cut:?}");
        }
    }
}
