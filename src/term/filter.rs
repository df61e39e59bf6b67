//! Tells pieces of terminal reports from typed text: a mouse report whose beginning was lost must not land in the composer
//! as `35;150;7M`.
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
    /// The end of a report: this many bytes to drop.
    Fragment(usize),
    /// So far the end of a report, all of it: drop it, and expect more.
    Unfinished,
}

/// Looks at the beginning of what was read in one go.
pub fn head(bytes: &[u8], cut: Option<Cut>) -> Head {
    match cut {
        Some(Cut::InSequence) => tail(bytes),
        Some(Cut::AfterEscape) => match bytes {
            [b'[', rest @ ..] if sequence(rest) => Head::Sequence,
            _ => whole_mouse_report(bytes),
        },
        Some(Cut::Perhaps) => match tail(bytes) {
            Head::Fragment(length) if bytes.iter().take(length).any(|byte| *byte == b';') => {
                Head::Fragment(length)
            }
            Head::Fragment(_) | Head::Input | Head::Sequence | Head::Unfinished => whole_mouse_report(bytes),
        },
        None => whole_mouse_report(bytes),
    }
}

/// Parameters and a final byte. A lone letter counts only where it is a key that every keyboard has: `[x` could have been
/// pasted.
fn sequence(rest: &[u8]) -> bool {
    let parameters = rest.iter().take_while(|byte| is_parameter(**byte)).count();
    match rest.get(parameters) {
        Some(b'A'..=b'D' | b'F' | b'H' | b'Z') if parameters == 0 => true,
        Some(b'@'..=b'~') => parameters > 0,
        Some(_) | None => false,
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

fn tail(bytes: &[u8]) -> Head {
    let parameters = bytes.iter().take_while(|byte| is_parameter(**byte) || **byte == b'$').count();
    match bytes.get(parameters) {
        None if parameters > 0 => Head::Unfinished,
        Some(b'~' | b'A'..=b'D' | b'F' | b'H' | b'I' | b'M' | b'O'..=b'S' | b'c' | b'm' | b'u' | b'y') => {
            Head::Fragment(parameters + 1)
        }
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
        let table: [(&str, Option<Cut>, Head); 24] = [
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
            ("x", escape, Head::Input),
            ("35;150;7M", sequence, Head::Fragment(9)),
            (";7Mtext", sequence, Head::Fragment(3)),
            ("M", sequence, Head::Fragment(1)),
            ("35;15", sequence, Head::Unfinished),
            ("hello", sequence, Head::Input),
            ("", sequence, Head::Input),
            ("c", perhaps, Head::Input),
            ("7M", perhaps, Head::Input),
            ("<35;150;7M", perhaps, Head::Fragment(10)),
            (";150;7Mab", perhaps, Head::Fragment(7)),
        ];
        for (bytes, cut, wanted) in table {
            assert_eq!(head(bytes.as_bytes(), cut), wanted, "{bytes:?} after {cut:?}");
        }
    }
}
