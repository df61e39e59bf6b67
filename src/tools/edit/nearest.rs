//! Where a text that is not in a file was probably meant to be, and why it is not the same. Pure.

use std::collections::HashMap;

/// Bytes of a file that is searched for something similar.
const MOST_SOURCE: usize = 4 << 20;

/// Lines of the place that are shown.
const MOST_LINES: usize = 12;

/// Characters of a line that are shown.
const MOST_CHARS: usize = 160;

/// Likeness of lines, between 0 and 1, below which they have nothing to do with each other.
const ALIKE: f64 = 0.5;

/// The closest place and the first difference, or that there is nothing like it.
pub fn explain(source: &[u8], old: &str) -> String {
    const NOTHING: &str = "Nothing in the file is like it: read the file again.";
    if source.len() > MOST_SOURCE {
        return String::new();
    }
    let text = String::from_utf8_lossy(source);
    let (lines, wanted): (Vec<&str>, Vec<&str>) = (text.lines().collect(), old.lines().collect());
    let Some(start) = closest(&lines, &wanted) else { return NOTHING.to_owned() };
    let place = lines.get(start..).unwrap_or_default();
    let shown: Vec<String> = place.iter().take(wanted.len().min(MOST_LINES)).map(|line| cut(line)).collect();
    let (first, last) = (start + 1, start + shown.len());
    let range = if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
    let difference = difference(place, &wanted, first);
    format!("The closest place is {range}:\n{}\n{difference}", shown.join("\n"))
}

/// The line where the text would begin, so that most of its lines fall on lines that are equal but for blanks.
fn closest(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate() {
        places.entry(without_blanks(line)).or_default().push(index);
    }
    places.remove("");
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        let key = without_blanks(line);
        for start in places.get(&key).into_iter().flatten().filter_map(|place| index.checked_sub(*place)) {
            *votes.entry(start).or_default() += key.len();
        }
    }
    // The earliest of the best, so that the answer does not depend on the order of a hash.
    let best = votes.into_iter().max_by_key(|(start, weight)| (*weight, usize::MAX - start));
    best.map(|(start, _)| start).or_else(|| most_alike(lines, wanted))
}

/// The place of the line that is most like the longest one wanted.
fn most_alike(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (place, longest) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let pairs = Pairs::of(longest);
    let alike = lines.iter().enumerate().map(|(index, line)| (index, pairs.likeness(line)));
    let (index, likeness) = alike.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    (likeness >= ALIKE).then(|| index.saturating_sub(place))
}

/// The neighbouring bytes of a line: lines are alike that share many.
struct Pairs {
    counts: HashMap<(u8, u8), usize>,
    total: usize,
}

impl Pairs {
    fn of(line: &str) -> Self {
        let mut counts = HashMap::new();
        let bytes = line.trim().as_bytes();
        for pair in bytes.iter().zip(bytes.iter().skip(1)) {
            *counts.entry((*pair.0, *pair.1)).or_default() += 1;
        }
        Self { counts, total: bytes.len().saturating_sub(1) }
    }

    /// Dice's coefficient.
    fn likeness(&self, line: &str) -> f64 {
        let other = Self::of(line);
        let shared: usize = other
            .counts
            .iter()
            .map(|(pair, count)| (*count).min(self.counts.get(pair).copied().unwrap_or(0)))
            .sum();
        let total = self.total + other.total;
        #[expect(clippy::cast_precision_loss, reason = "a rough measure of lines")]
        if total == 0 { 0.0 } else { 2.0 * shared as f64 / total as f64 }
    }
}

/// Why the first line that differs does.
fn difference(place: &[&str], wanted: &[&str], first: usize) -> String {
    let different = wanted.iter().enumerate().find(|(index, line)| place.get(*index) != Some(*line));
    let Some((index, wanted)) = different else {
        return "Its lines are the same; the difference is in the line breaks or in blanks at the ends."
            .to_owned();
    };
    let number = first + index;
    let Some(line) = place.get(index) else {
        return format!("The file ends before line {number}, oldText goes on.");
    };
    if line.trim_start() == wanted.trim_start() {
        let (file, old) = (indentation(line), indentation(wanted));
        return format!("Line {number} differs in its indentation: {file} in the file, {old} in oldText.");
    }
    if without_blanks(line) == without_blanks(wanted) {
        return format!("Line {number} differs in whitespace inside the line.");
    }
    if line.to_lowercase() == wanted.to_lowercase() {
        return format!("Line {number} differs in upper and lower case.");
    }
    format!("Line {number} differs. oldText has:\n{}", cut(wanted))
}

fn indentation(line: &str) -> String {
    let blanks = line.chars().take_while(|character| character.is_whitespace());
    let (tabs, others): (Vec<char>, Vec<char>) = blanks.partition(|character| *character == '\t');
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    match (tabs.len(), others.len()) {
        (0, 0) => "none".to_owned(),
        (0, spaces) => counted(spaces, "space"),
        (tabs, 0) => counted(tabs, "tab"),
        (tabs, spaces) => format!("{} and {}", counted(tabs, "tab"), counted(spaces, "space")),
    }
}

fn without_blanks(line: &str) -> String {
    line.split_whitespace().collect()
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "fn one() {\n    let total = 1;\n}\n\nfn two() {\n\tlet Total = 2;\n\treturn total;\n}\n";

    #[test]
    fn the_place_and_the_reason() {
        for (old, place, reason) in [
            (
                "    let total = 1",
                "line 2:\n    let total = 1;\n",
                "Line 2 differs. oldText has:\n    let total = 1",
            ),
            (
                "  let total = 1;\n}",
                "lines 2-3:\n",
                "indentation: 4 spaces in the file, 2 spaces in oldText.",
            ),
            (
                "fn two() {\n    let Total = 2;",
                "lines 5-6:\n",
                "Line 6 differs in its indentation: 1 tab in the file, 4 spaces",
            ),
            ("\treturn  total;", "line 7:\n", "Line 7 differs in whitespace inside the line."),
            ("fn two() {\n\tlet total = 2;\n", "lines 5-6:\n", "Line 6 differs in upper and lower case."),
            (
                "\treturn totals;",
                "line 7:\n\treturn total;",
                "Line 7 differs. oldText has:\n\treturn totals;",
            ),
            ("\treturn total;\n}\nmore", "lines 7-8:\n", "The file ends before line 9, oldText goes on."),
        ] {
            let text = explain(FILE.as_bytes(), old);
            assert!(text.starts_with(&format!("The closest place is {place}")), "{old:?}: {text}");
            assert!(text.contains(reason), "{old:?}: {text}");
        }
    }

    #[test]
    fn nothing_alike_and_nothing_at_all() {
        assert!(explain(FILE.as_bytes(), "zzzz qqqq").starts_with("Nothing in the file is like it"));
        assert!(explain(b"", "a").starts_with("Nothing"));
        assert!(explain(b"a\n", "\n\n").starts_with("Nothing"));
    }
}
