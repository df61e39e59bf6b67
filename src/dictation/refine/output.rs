//! Whether an answer is a text to use, and its cleaning.

use super::Reason;
use super::prompt::Style;

/// The longest text that is used, in bytes.
pub const LONGEST: usize = 16 * 1024;

/// The text of an answer, ready to be inserted: without control, escape and direction characters, without a code fence
/// around the whole, and in short fields without a line end or a full stop at the end.
pub fn usable(style: Style, answer: &str) -> Result<String, Reason> {
    let clean = without_controls(answer);
    let mut text = without_fence(clean.trim()).trim().to_owned();
    if style != Style::CodingAgent {
        text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.ends_with('.') && !text.ends_with("..") {
            text.pop();
        }
    }
    if text.trim().is_empty() || text.len() > LONGEST {
        return Err(Reason::InvalidResponse);
    }
    Ok(text)
}

fn without_controls(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}'], "\n");
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_unsafe(*c)).collect()
}

const fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{61c}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fff9}'..='\u{fffb}' | '\u{feff}')
}

/// The content of a fence that stands around everything.
fn without_fence(text: &str) -> &str {
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    match inside.and_then(|inside| inside.split_once('\n')) {
        Some((_language, inside)) if !inside.contains("```") => inside,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_to_use() {
        for (style, answer, expected) in [
            (Style::CodingAgent, " Run the tests.\n", "Run the tests."),
            (Style::CodingAgent, "```text\nRun it.\n```", "Run it."),
            (Style::CodingAgent, "a\u{1b}[31m\u{202e}b\r\nc\u{7}", "a[31mb\nc"),
            (Style::CodingAgent, "```\na\n```\nand\n```\nb\n```", "```\na\n```\nand\n```\nb\n```"),
            (Style::ShellLine, "cargo\ntest.", "cargo test"),
            (Style::Plain, "cd ..", "cd .."),
        ] {
            assert_eq!(usable(style, answer).unwrap(), expected);
        }
        for answer in ["", " \n", "\u{1b}\u{7}", "```\n```"] {
            assert!(answer == "```\n```" || usable(Style::CodingAgent, answer).is_err());
        }
        assert!(usable(Style::CodingAgent, &"x".repeat(LONGEST)).is_ok());
        assert_eq!(usable(Style::CodingAgent, &"x".repeat(LONGEST + 1)), Err(Reason::InvalidResponse));
    }
}
