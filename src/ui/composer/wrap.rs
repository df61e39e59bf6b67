//! Graphemes, their widths, and where a logical line breaks into rows.

use super::chips::{Chips, is_chip};
use crate::text::width;
use unicode_segmentation::UnicodeSegmentation;

/// The width of a text in cells, as the rest of the screen measures it: what is drawn and where the caret stands would
/// part otherwise. What the composer takes in holds no tabs.
pub fn cells(text: &str) -> usize {
    width::of(text)
}

/// One unit of a line: a grapheme or a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit<'a> {
    /// Where it begins in the line, in bytes.
    pub at: usize,
    /// Its text.
    pub text: &'a str,
}

impl Unit<'_> {
    /// Where it ends, in bytes.
    pub const fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// The chip it is.
    pub fn chip(&self) -> Option<char> {
        self.text.chars().next().filter(|c| is_chip(*c))
    }

    /// Its width in a row of this width: whatever is wider is drawn cut.
    pub fn cells(&self, row: usize, chips: &Chips) -> usize {
        self.chip().map_or_else(|| width::of_grapheme(self.text), |c| chips.width(c)).min(row)
    }
}

/// The units of a line from a boundary on.
pub fn units(line: &str, from: usize) -> impl Iterator<Item = Unit<'_>> {
    let mut at = from;
    std::iter::from_fn(move || {
        let end = next_boundary(line, at)?;
        let unit = Unit { at, text: line.get(at..end)? };
        at = end;
        Some(unit)
    })
}

/// The end of the unit that begins here. A mark that follows a chip does not join it.
pub fn next_boundary(line: &str, at: usize) -> Option<usize> {
    let rest = line.get(at..)?;
    let first = rest.chars().next()?;
    if is_chip(first) {
        return Some(at + first.len_utf8());
    }
    let grapheme = rest.graphemes(true).next()?;
    Some(at + grapheme.find(is_chip).unwrap_or(grapheme.len()))
}

/// The start of the unit that ends here.
pub fn previous_boundary(line: &str, at: usize) -> Option<usize> {
    let before = line.get(..at)?;
    let last = before.chars().next_back()?;
    if is_chip(last) {
        return Some(at - last.len_utf8());
    }
    let grapheme = before.graphemes(true).next_back()?;
    let start = at - grapheme.len();
    let after_chip = grapheme.char_indices().rev().find(|(_, c)| is_chip(*c)).map(|(i, c)| i + c.len_utf8());
    Some(start + after_chip.unwrap_or(0))
}

/// The first boundary of characters at or after a byte.
pub fn char_boundary_from(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// The first boundary at or after a byte.
pub fn boundary_from(line: &str, at: usize) -> usize {
    // A place that an edit just made may lie inside a grapheme that the edit completed. Units before it are walked
    // from a place that is a boundary whatever stands around it.
    let at = at.min(line.len());
    let start = line
        .get(..at)
        .and_then(|before| before.char_indices().rev().find(|(_, c)| stands_alone(*c) || is_chip(*c)))
        .map_or(0, |(i, _)| i);
    units(line, start).map(|unit| unit.end()).find(|end| *end >= at).filter(|_| at > start).unwrap_or(at)
}

/// A unit begins at this character, whatever stands before it. Scripts without spaces need such places too: without them
/// a key in a long line of theirs would cost a walk through all of it.
const fn stands_alone(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// Where the rows of a line after the first begin, in bytes. Rows break after white space, else around wide
/// characters, else anywhere between units. One space may stand behind a full row, where it is not drawn.
pub fn breaks(line: &str, width: usize, chips: &Chips) -> Vec<usize> {
    let mut breaks = Vec::new();
    // Most lines are short plain text: then bytes are cells.
    if line.len() <= width.max(1) && line.is_ascii() {
        return breaks;
    }
    breaks_from(line, 0, width, chips, |at| {
        breaks.push(at);
        true
    });
    breaks
}

/// What an edit did to a line.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Where it was made.
    pub start: usize,
    /// Where what stood there ended.
    pub old_end: usize,
    /// Where what stands there now ends.
    pub new_end: usize,
}

/// Brings the breaks of a line up to date after an edit. Only rows that the edit can have moved are looked at, so that a key
/// in a very long line costs what it costs in a short one.
pub fn update_breaks(breaks: &mut Vec<usize>, line: &str, change: Change, width: usize, chips: &Chips) {
    let row = breaks.partition_point(|at| *at <= change.start);
    // What stands in a row decides where that row begins, and its first unit also where the row before it begins. The edit
    // may have changed the last unit of the row before its own, which may be the only one there.
    let kept = row.saturating_sub(3);
    let from = kept.checked_sub(1).and_then(|last| breaks.get(last)).copied().unwrap_or(0);
    let moved = |old: usize| old - change.old_end + change.new_end;
    // Rows that began behind the edit.
    let first_after = breaks.partition_point(|at| *at <= change.old_end);
    let mut fresh = Vec::new();
    let mut next = first_after;
    let mut same_from = None;
    breaks_from(line, from, width, chips, |at| {
        while breaks.get(next).is_some_and(|old| moved(*old) < at) {
            next += 1;
        }
        if at > change.new_end && breaks.get(next).is_some_and(|old| moved(*old) == at) {
            // From a place where both broke, the same text breaks alike.
            same_from = Some(next);
            return false;
        }
        fresh.push(at);
        true
    });
    let end = same_from.unwrap_or(breaks.len());
    for old in breaks.iter_mut().skip(end) {
        *old = moved(*old);
    }
    breaks.splice(kept..end, fresh);
}

/// Tells the breaks behind a place where a row begins, until `tell` wants no more. What they are depends on nothing
/// before that place.
fn breaks_from(line: &str, from: usize, width: usize, chips: &Chips, mut tell: impl FnMut(usize) -> bool) {
    let width = width.max(1);
    let mut row_start = from;
    let mut used = 0;
    // The last place in this row where it may break, and what of the row stands before it.
    let mut chance: Option<(usize, usize)> = None;
    for unit in units(line, from) {
        let own = unit.cells(width, chips);
        let is_space = unit.text == " ";
        if used + own > width {
            if is_space {
                if !tell(unit.end()) {
                    return;
                }
                (row_start, used, chance) = (unit.end(), 0, None);
                continue;
            }
            let (at, before) = chance.filter(|(at, _)| *at > row_start).unwrap_or((unit.at, used));
            if !tell(at) {
                return;
            }
            (row_start, used, chance) = (at, used - before, None);
            // What moved down and the unit may still be too wide together.
            if used + own > width {
                if !tell(unit.at) {
                    return;
                }
                (row_start, used) = (unit.at, 0);
            }
        }
        let is_wide = own > 1;
        if is_wide && unit.at > row_start {
            chance = Some((unit.at, used));
        }
        used += own;
        if is_space || is_wide {
            chance = Some((unit.end(), used));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(line: &str, width: usize) -> Vec<&str> {
        let breaks = breaks(line, width, &Chips::default());
        let starts = [0].into_iter().chain(breaks.iter().copied());
        let ends = breaks.iter().copied().chain([line.len()]);
        starts.zip(ends).map(|(start, end)| line.get(start..end).unwrap()).collect()
    }

    #[test]
    fn rows_break_at_words_then_anywhere() {
        let table: &[(&str, usize, &[&str])] = &[
            ("", 5, &[""]),
            ("hello", 5, &["hello"]),
            ("hello ", 5, &["hello ", ""]),
            ("hello world", 5, &["hello ", "world"]),
            ("hello world", 8, &["hello ", "world"]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("a abcdefgh", 4, &["a ", "abcd", "efgh"]),
            ("日本語だ", 5, &["日本", "語だ"]),
            ("ab日本", 5, &["ab日", "本"]),
            ("a  b", 2, &["a  ", "b"]),
            ("日", 1, &["日"]),
        ];
        for (line, width, expected) in table {
            assert_eq!(rows(line, *width), *expected, "{line:?} at {width}");
        }
    }

    #[test]
    fn boundaries_keep_graphemes_whole_and_chips_alone() {
        let chip = '\u{10f000}';
        let line = format!("e\u{301}👩‍🚀{chip}\u{301}x");
        let found: Vec<_> = units(&line, 0).map(|unit| unit.text.to_owned()).collect();
        assert_eq!(found, ["e\u{301}", "👩‍🚀", &chip.to_string(), "\u{301}", "x"]);
        let mut back = Vec::new();
        let mut at = line.len();
        while let Some(start) = previous_boundary(&line, at) {
            back.push(line.get(start..at).unwrap().to_owned());
            at = start;
        }
        back.reverse();
        assert_eq!(back, found);
    }

    #[test]
    fn widths_are_those_of_the_rest_of_the_screen() {
        let chips = Chips::default();
        // The emoji form is never drawn; syllables of some scripts are wide; what is hidden takes none.
        for (text, columns) in
            [("❤\u{fe0f}", 1), ("日", 2), ("\u{200b}", 0), ("क्षि", 3), ("👩‍🚀", 2), ("｟", 2)]
        {
            let all: usize = units(text, 0).map(|unit| unit.cells(80, &chips)).sum();
            assert_eq!((all, cells(text)), (crate::text::width::of(text), columns), "{text:?}");
        }
    }

    fn any_line() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-z ]{0,8}",
            Just("日本語".to_owned()),
            Just("👩‍🚀".to_owned()),
            Just("e\u{301}".to_owned()),
            Just("\u{10f000}".to_owned()),
            Just("🇩🇪🇫🇷".to_owned()),
            Just("\u{200d}".to_owned()),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_row_exceeds_the_width_and_none_splits_a_unit(line in any_line(), width in 1usize..20) {
            let mut chips = Chips::default();
            chips.add(crate::ui::composer::chips::Chip::File { path: "src/cli.rs".to_owned() });
            let breaks = breaks(&line, width, &chips);
            let bounds: Vec<usize> = units(&line, 0).map(|unit| unit.at).chain([line.len()]).collect();
            prop_assert!(breaks.is_sorted());
            prop_assert!(breaks.iter().all(|at| bounds.contains(at)));
            let starts: Vec<usize> = [0].into_iter().chain(breaks).chain([line.len()]).collect();
            for row in starts.windows(2) {
                let row = line.get(row[0]..row[1]).unwrap();
                let used: usize = units(row, 0).map(|unit| unit.cells(width, &chips)).sum();
                prop_assert!(used <= width || (used == width + 1 && row.ends_with(' ')), "{row:?} is {used} wide");
            }
        }

        #[test]
        fn an_edit_breaks_as_the_whole_line_would(
            (before, inserted, after) in (any_line(), any_line(), any_line()),
            cut in 0usize..60,
            width in 1usize..20,
        ) {
            let mut chips = Chips::default();
            chips.add(crate::ui::composer::chips::Chip::File { path: "src/cli.rs".to_owned() });
            let old = format!("{before}{after}");
            let bounds: Vec<usize> =
                units(&old, 0).map(|unit| unit.at).chain([old.len()]).filter(|at| *at >= before.len()).collect();
            let start = bounds[0];
            let old_end = bounds[cut % bounds.len()];
            let new = format!("{}{inserted}{}", old.get(..start).unwrap(), old.get(old_end..).unwrap());
            let mut kept = breaks(&old, width, &chips);
            let change = Change { start, old_end, new_end: start + inserted.len() };
            update_breaks(&mut kept, &new, change, width, &chips);
            prop_assert_eq!(kept, breaks(&new, width, &chips));
        }

        #[test]
        fn both_directions_see_the_same_boundaries(line in any_line()) {
            let forward: Vec<usize> = units(&line, 0).map(|unit| unit.at).collect();
            let mut back = Vec::new();
            let mut at = line.len();
            while let Some(start) = previous_boundary(&line, at) {
                back.push(start);
                at = start;
            }
            back.reverse();
            prop_assert_eq!(forward, back);
        }
    }
}
