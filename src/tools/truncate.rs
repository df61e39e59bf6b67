//! How much of an output a model gets: 2000 lines or 50 KiB, whichever ends first. Pure.
//!
//! A line end closes a line, it does not begin another: a file of 2000 lines is 2000 lines with or without the last
//! line end, and that line end never counts against the bytes. Nothing is ever cut inside a character.

use serde::Serialize;

/// Lines that a model gets at most.
pub const MAX_LINES: usize = 2000;

/// Bytes that a model gets at most.
pub const MAX_BYTES: usize = 50 * 1024;

/// Characters of one line of a search result.
pub const MAX_LINE_CHARS: usize = 500;

/// How much there is in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Lines; an unfinished last line counts.
    pub lines: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Totals {
    /// The totals of a text.
    pub fn of(text: &str) -> Self {
        Self { lines: text.lines().count() as u64, bytes: text.len() as u64 }
    }
}

/// What was shown of an output: a fact for front ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// Something is missing.
    pub truncated: bool,
    /// The limit that was reached first.
    pub truncated_by: Option<Limit>,
    /// Lines of the whole.
    pub total_lines: u64,
    /// Bytes of the whole.
    pub total_bytes: u64,
    /// Lines that are shown.
    pub output_lines: u64,
    /// Bytes that are shown.
    pub output_bytes: u64,
    /// Only the end of the last line is shown.
    pub last_line_partial: bool,
    /// Nothing is shown, since the first line alone is too long.
    pub first_line_exceeds_limit: bool,
    /// The limit of lines.
    pub max_lines: usize,
    /// The limit of bytes.
    pub max_bytes: usize,
}

/// A limit of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// [`MAX_LINES`].
    Lines,
    /// [`MAX_BYTES`].
    Bytes,
}

impl Truncation {
    /// A record of what is shown of a whole.
    pub fn new(total: Totals, shown: &str, truncated_by: Option<Limit>) -> Self {
        let output = Totals::of(shown);
        Self {
            truncated: truncated_by.is_some(),
            truncated_by,
            total_lines: total.lines,
            total_bytes: total.bytes,
            output_lines: output.lines,
            output_bytes: output.bytes,
            last_line_partial: false,
            first_line_exceeds_limit: false,
            max_lines: MAX_LINES,
            max_bytes: MAX_BYTES,
        }
    }
}

/// The first lines of a listing, whole ones only, as many as [`MAX_BYTES`] hold: listings have limits of their own for
/// their number.
pub fn head(text: &str) -> (&str, Truncation) {
    let total = Totals::of(text);
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if end + line.strip_suffix('\n').unwrap_or(line).len() > MAX_BYTES {
            let shown = text.get(..end).unwrap_or_default();
            let shown = shown.strip_suffix('\n').unwrap_or(shown);
            let first_line_exceeds_limit = end == 0;
            return (
                shown,
                Truncation { first_line_exceeds_limit, ..Truncation::new(total, shown, Some(Limit::Bytes)) },
            );
        }
        end += line.len();
    }
    (text, Truncation::new(total, text, None))
}

/// The notice of a listing that was cut by [`head`].
pub fn head_notice() -> String {
    format!("{} limit reached", size(MAX_BYTES as u64))
}

/// The last lines of a text, which itself may be only the end of `total`. When the last line alone is too long, its
/// end is shown.
pub fn tail(text: &str, total: Totals) -> (&str, Truncation) {
    let content = text.strip_suffix('\n').unwrap_or(text);
    let mut start = text.len();
    for (index, line) in text.split_inclusive('\n').rev().enumerate() {
        let limit = if index == MAX_LINES {
            Limit::Lines
        } else if content.len() - (start - line.len()).min(content.len()) > MAX_BYTES {
            Limit::Bytes
        } else {
            start -= line.len();
            continue;
        };
        let last_line_partial = index == 0;
        if last_line_partial {
            start = content.ceil_char_boundary(content.len().saturating_sub(MAX_BYTES));
        }
        let shown = text.get(start..).unwrap_or_default();
        return (shown, Truncation { last_line_partial, ..Truncation::new(total, shown, Some(limit)) });
    }
    // All of it fits; if it is not all there is, what came before was cut by bytes before it came here.
    let cut = (total.bytes > text.len() as u64).then_some(Limit::Bytes);
    (text, Truncation::new(total, text, cut))
}

/// A line of a search result, and whether it was cut.
pub fn line(text: &str) -> (String, bool) {
    match text.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => (format!("{}... [truncated]", text.get(..end).unwrap_or_default()), true),
        None => (text.to_owned(), false),
    }
}

/// A number of bytes for people: `512B`, `50.0KB`, `1.5MB`, `2.0GB`.
pub fn size(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let value = bytes as f64;
    const UNIT: f64 = 1024.0;
    match bytes {
        0..1024 => format!("{bytes}B"),
        1024..1_048_576 => format!("{:.1}KB", value / UNIT),
        1_048_576..1_073_741_824 => format!("{:.1}MB", value / UNIT / UNIT),
        _ => format!("{:.1}GB", value / UNIT / UNIT / UNIT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(count: usize) -> String {
        (1..=count).map(|number| format!("{number}\n")).collect()
    }

    #[test]
    fn lines_at_the_limit() {
        for (count, cut) in [(MAX_LINES - 1, false), (MAX_LINES, false), (MAX_LINES + 1, true)] {
            for end in ["\n", ""] {
                let text = format!("{}{end}", lines(count).trim_end());
                let (shown, record) = tail(&text, Totals::of(&text));
                assert_eq!(
                    (record.truncated, record.output_lines),
                    (cut, count.min(MAX_LINES) as u64),
                    "{count}"
                );
                assert!(text.ends_with(shown));
            }
        }
    }

    #[test]
    fn bytes_at_the_limit() {
        for (extra, cut) in [(0, false), (1, false), (2, true)] {
            // Two lines; the limit holds for both with the line end between them.
            let text = format!("{}\n{}\n", "a".repeat(100), "b".repeat(MAX_BYTES - 102 + extra));
            let (shown, record) = head(&text);
            assert_eq!(record.truncated_by, cut.then_some(Limit::Bytes), "{extra}");
            assert_eq!(shown.lines().count(), if cut { 1 } else { 2 });
            let (shown, record) = tail(&text, Totals::of(&text));
            assert_eq!(record.truncated_by, cut.then_some(Limit::Bytes), "{extra}");
            assert_eq!(shown.lines().count(), if cut { 1 } else { 2 });
            assert!(shown.ends_with("b\n"));
        }
    }

    #[test]
    fn a_single_line_beyond_the_limit() {
        let text = "é".repeat(MAX_BYTES);
        let (shown, record) = head(&text);
        assert_eq!((shown, record.first_line_exceeds_limit), ("", true));
        let (shown, record) = tail(&text, Totals::of(&text));
        assert_eq!((shown.len(), record.last_line_partial), (MAX_BYTES, true));
        let ended = format!("{text}\n");
        let (shown, record) = tail(&ended, Totals::of(&ended));
        assert_eq!((shown.len(), record.last_line_partial), (MAX_BYTES + 1, true));
    }

    #[test]
    fn lines_of_search_results_are_cut_by_characters() {
        for (count, cut) in [(499, false), (500, false), (501, true)] {
            let (text, was_cut) = line(&"é".repeat(count));
            assert_eq!(was_cut, cut, "{count}");
            assert_eq!(text.chars().filter(|c| *c == 'é').count(), count.min(500));
        }
    }

    #[test]
    fn sizes() {
        for (bytes, want) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0KB"),
            (51_200, "50.0KB"),
            (1 << 20, "1.0MB"),
            (3 << 29, "1.5GB"),
        ] {
            assert_eq!(size(bytes), want);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn both_ends_stay_within_the_limits(text in "([a-zé€\n]{0,300}\n?){0,40}", times in 1usize..40) {
            let text = text.repeat(times);
            let total = Totals::of(&text);
            for (shown, record) in [head(&text), tail(&text, total)] {
                let content = shown.strip_suffix('\n').unwrap_or(shown);
                prop_assert!(content.len() <= MAX_BYTES);
                prop_assert_eq!(record.truncated, shown.trim_end_matches('\n').len() < text.trim_end_matches('\n').len()
                    || record.output_lines < record.total_lines);
            }
            prop_assert!(tail(&text, total).0.lines().count() <= MAX_LINES);
            prop_assert!(text.starts_with(head(&text).0));
            prop_assert!(text.ends_with(tail(&text, total).0));
        }
    }
}
