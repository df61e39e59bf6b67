//! What is wrong with a file of the user, in words that never hold a value of it: values can be keys.

/// A place in a file and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// Counts from 1; `None` where it is not known.
    pub line: Option<usize>,
    /// What is wrong, without any value of the file.
    pub reason: String,
}

impl FileProblem {
    /// From the JSON reader.
    pub fn of_json(error: &serde_json::Error) -> Self {
        let line = Some(error.line()).filter(|line| *line > 0);
        // The reader repeats its position at the end of the text.
        let message = error.to_string();
        let message = message.split_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        Self { line, reason: without_values(message) }
    }

    /// From the TOML reader.
    pub fn of_toml(error: &toml_edit::de::Error, text: &str) -> Self {
        let line = error.span().map(|span| line_of(text, span.start));
        Self { line, reason: without_values(error.message()) }
    }
}

/// The line of a byte in a text, from 1.
pub fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|b| *b == b'\n').count() + 1
}

/// Readers say "invalid type: string "sk-…", expected a map". What was found is left out, what is expected stays.
fn without_values(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("{field} is missing");
    }
    if let Some((_, expected)) = message.rsplit_once(", expected ") {
        return format!("expected {expected}");
    }
    if message.contains(['"', '\'']) { "a value is wrong".to_owned() } else { message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_left_out() {
        for (message, expected) in [
            ("invalid type: string \"sk-1, expected x\", expected a map", "expected a map"),
            ("missing field `id`", "`id` is missing"),
            ("expected `,` or `}`", "expected `,` or `}`"),
            ("cannot take \"sk-1\"", "a value is wrong"),
            ("key must be a string\n  | sk-1", "key must be a string"),
        ] {
            assert_eq!(without_values(message), expected);
        }
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!((line_of("a\nb\n", 0), line_of("a\nb\n", 2), line_of("a\nb\n", 99)), (1, 2, 3));
    }
}
