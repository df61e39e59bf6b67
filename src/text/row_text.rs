//! The text of drawn rows as a copy has it, and where each row stands in it: the way from a cell to the text and back.
//!
//! Selection and search keep places as bytes of this text: wrapped lines are whole in it and decoration is left out, so
//! another width moves nothing.
//!
//! Invariants
//! - [`RowTexts::text`] equals [`copy`](super::row::copy) of the rows, but for lines of tables: here each row has its own
//!   cells, there a line is whole.
//! - Rows stand in it in their order; a row without text stands where the text before it ends.

use super::row::{Joint, Row};
use std::ops::Range;
use std::sync::Arc;

/// The text of some rows, from the first on.
#[derive(Clone, Debug, Default)]
pub struct RowTexts {
    text: String,
    /// Where each row's own text stands. Rows of decoration are empty.
    rows: Vec<Range<usize>>,
    /// The first row that is no decoration.
    first: Option<usize>,
}

impl RowTexts {
    /// The text of these rows.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut texts = Self::new();
        for row in rows {
            texts.push(row);
        }
        texts
    }

    /// No rows.
    pub const fn new() -> Self {
        Self { text: String::new(), rows: Vec::new(), first: None }
    }

    /// Adds a row below.
    pub fn push(&mut self, row: &Row) {
        if row.is_decoration {
            let end = self.text.len();
            self.rows.push(end..end);
            return;
        }
        match row.joint {
            Joint::Soft(blanks) if self.first.is_some() => {
                self.text.extend(std::iter::repeat_n(' ', usize::from(blanks)));
            }
            Joint::Soft(_) | Joint::Line => {
                let end = self.text().len();
                self.text.truncate(end);
                // The row that ended in blanks may have rows of decoration below it.
                for row in self.rows.iter_mut().rev().take_while(|row| row.end > end) {
                    *row = row.start.min(end)..row.end.min(end);
                }
                if self.first.is_some() {
                    self.text.push('\n');
                }
            }
        }
        let start = self.text.len();
        self.text.push_str(&row.text());
        self.first = self.first.or(Some(self.rows.len()));
        self.rows.push(start..self.text.len());
    }

    /// Takes away all rows from this one on. Only where a line of its own comes next again: what wrapping took from the
    /// end of the row above is not known any more.
    pub fn truncate(&mut self, rows: usize) {
        if rows >= self.rows.len() {
            return;
        }
        self.rows.truncate(rows);
        self.text.truncate(self.rows.last().map_or(0, |last| last.end));
        self.first = self.first.filter(|first| *first < rows);
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.text.trim_end_matches(' ')
    }

    /// Number of rows.
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// There are no rows.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Where a row's own text stands; nothing of a row beyond the last.
    pub fn row(&self, row: usize) -> Range<usize> {
        self.rows.get(row).map_or(0..0, |range| {
            let end = self.text().len();
            range.start.min(end)..range.end.min(end)
        })
    }

    /// The row that holds a byte of the text: of one that stands between two rows, the upper.
    pub fn row_at(&self, offset: usize) -> usize {
        // Rows of decoration begin where the text before them ends, so the last one that begins before the byte and has
        // text of its own is the one.
        let behind = self.rows.partition_point(|range| range.start <= offset);
        let with_text = self.rows.iter().take(behind).rposition(|range| !range.is_empty());
        with_text.unwrap_or_else(|| behind.saturating_sub(1))
    }

    /// The byte of the text that a cell of a row shows: of a cell beyond the row's text its end, before it its begin. Of
    /// a wide character both cells show the same.
    pub fn offset_at(&self, rows: &[Row], row: usize, column: usize) -> usize {
        let place = self.row(row);
        let Some(drawn) = rows.get(row).filter(|row| !row.is_decoration) else { return place.start };
        let offset = drawn
            .pieces()
            .take_while(|(columns, _)| columns.end <= column)
            .map(|(_, piece)| piece.len())
            .sum::<usize>();
        (place.start + offset).min(place.end)
    }

    /// Some bytes of the text as a copy has them: lines of tables that are among them whole as Markdown, of rows that are
    /// not, what is.
    pub fn copy(&self, rows: &[Row], bytes: &Range<usize>) -> String {
        let bytes = bytes.start..bytes.end.min(self.text().len());
        let mut copied = String::new();
        let mut at = bytes.start;
        let mut index = 0;
        while let Some(row) = rows.get(index) {
            let record = row.record.as_ref().filter(|_| !row.is_decoration);
            let Some(record) = record else {
                index += 1;
                continue;
            };
            let is_same = |row: &Row| row.record.as_ref().is_some_and(|own| Arc::ptr_eq(own, record));
            let count = rows.iter().skip(index).take_while(|row| is_same(row)).count();
            let line = self.row(index).start..self.row(index + count - 1).end;
            if bytes.start <= line.start && line.end <= bytes.end && !line.is_empty() {
                copied.push_str(self.text().get(at..line.start).unwrap_or_default());
                copied.push_str(record);
                at = line.end;
            }
            index += count;
        }
        copied.push_str(self.text().get(at..bytes.end).unwrap_or_default());
        copied
    }

    /// The columns of a row that show some bytes of the text; none where it shows none of them.
    pub fn columns(&self, rows: &[Row], row: usize, bytes: &Range<usize>) -> Range<usize> {
        let place = self.row(row);
        let (from, to) = (bytes.start.max(place.start), bytes.end.min(place.end));
        let Some(drawn) = rows.get(row).filter(|row| from < to && !row.is_decoration) else { return 0..0 };
        let mut at = place.start;
        let mut found: Option<Range<usize>> = None;
        for (columns, piece) in drawn.pieces() {
            let end = at + piece.len();
            // What joins the character before it takes no cell; a part of a character shows the whole.
            if end > from && at < to {
                let start = found.as_ref().map_or(columns.start, |found| found.start);
                found = Some(start..columns.end);
            }
            at = end;
            if at >= to {
                break;
            }
        }
        found.unwrap_or(0..0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::markdown;
    use super::super::row::copy;
    use super::super::wrap::{self, Break, Run};
    use super::*;
    use crate::theme::Theme;
    use proptest::prelude::*;
    use ratatui::style::Style;
    use ratatui::text::Span;

    fn wrapped(text: &str, width: usize) -> Vec<Row> {
        let mut start = 0;
        let mut rows = Vec::new();
        for line in text.split('\n') {
            rows.extend(wrap::line(&[Run::new(line, Style::new(), start)], width, Break::Words));
            start += line.len() + 1;
        }
        rows
    }

    #[test]
    fn wrapped_lines_are_whole() {
        let mut rows = wrapped("one two three\nfour", 8);
        rows.insert(1, Row { is_decoration: true, ..Row::blank(0) });
        let texts = RowTexts::of(&rows);
        assert_eq!(texts.text(), "one two three\nfour");
        assert_eq!(texts.row(0), 0..7);
        assert_eq!(texts.row(2), 8..13);
        assert_eq!(texts.row_at(9), 2);
        assert_eq!(texts.row_at(7), 0);
        assert_eq!(texts.row_at(14), 3);
        assert_eq!(texts.offset_at(&rows, 2, 2), 10);
        assert_eq!(texts.offset_at(&rows, 2, 90), 13);
        assert_eq!(texts.columns(&rows, 2, &(9..11)), 1..3);
        assert_eq!(texts.columns(&rows, 0, &(9..11)), 0..0);
    }

    #[test]
    fn gutters_are_no_text() {
        let mut row = Row { spans: vec![Span::raw("日本")], ..Row::default() };
        row.prefix(&[Span::raw("12 ")], false);
        let rows = [row];
        let texts = RowTexts::of(&rows);
        assert_eq!(texts.text(), "日本");
        assert_eq!(texts.offset_at(&rows, 0, 0), 0);
        assert_eq!((texts.offset_at(&rows, 0, 3), texts.offset_at(&rows, 0, 4)), (0, 0));
        assert_eq!(texts.offset_at(&rows, 0, 5), 3);
        assert_eq!(texts.columns(&rows, 0, &(3..6)), 5..7);
        assert_eq!(texts.columns(&rows, 0, &(0..1)), 3..5);
    }

    #[test]
    fn a_table_is_copied_as_markdown_where_its_lines_are_whole() {
        let source =
            "before\n\n| name | what it does |\n|---|---|\n| lexer | splits the text into tokens |\n\nafter";
        for width in [24, 60] {
            let rows = markdown::render(source, &Theme::quiet_dark(), width).rows;
            let texts = RowTexts::of(&rows);
            let whole = texts.copy(&rows, &(0..texts.text().len()));
            assert_eq!(whole, copy(&rows), "{width}");
            assert!(whole.contains("| lexer | splits the text into tokens |"), "{whole}");
            let from = texts.text().find("lexer").unwrap();
            assert_eq!(texts.copy(&rows, &(from + 1..from + 5)), "exer", "{width}");
        }
    }

    #[test]
    fn what_stands_at_the_right_edge_is_no_text() {
        let mut row = Row { spans: vec![Span::raw("read a     1ms")], text_end: Some(6), ..Row::default() };
        row.prefix(&[Span::raw("* ")], false);
        assert_eq!((row.text(), row.text_in(0..5)), ("read a".to_owned(), "rea".to_owned()));
        let rows = [row];
        let texts = RowTexts::of(&rows);
        assert_eq!((texts.offset_at(&rows, 0, 7), texts.offset_at(&rows, 0, 10)), (5, 6));
        assert_eq!(texts.columns(&rows, 0, &(0..9)), 2..8);
    }

    proptest! {
        #[test]
        fn it_is_the_copy(
            text in "[a-c 日é\n\u{301}👩‍🚀]{0,60}",
            width in 1_usize..20,
            bars in prop::collection::vec(0_usize..20, 0..4),
            kept in 0_usize..20,
        ) {
            let mut rows = wrapped(&text, width);
            for bar in bars {
                rows.insert(bar.min(rows.len()), Row { is_decoration: true, ..Row::blank(0) });
            }
            let mut texts = RowTexts::of(&rows);
            prop_assert_eq!(texts.text(), copy(&rows));
            // Every text cell leads to its byte and back.
            for index in 0..rows.len() {
                let place = texts.row(index);
                prop_assert!(place.end <= texts.text().len() && texts.text().get(place.clone()).is_some());
                for column in texts.columns(&rows, index, &place) {
                    let offset = texts.offset_at(&rows, index, column);
                    prop_assert!(texts.columns(&rows, index, &(offset..offset + 1)).contains(&column));
                    prop_assert_eq!(texts.row_at(offset), index);
                }
            }
            // A part is made anew where a line begins.
            let kept = kept.min(rows.len());
            if rows.get(kept).is_none_or(|row| row.joint == Joint::Line && !row.is_decoration) {
                texts.truncate(kept);
                for row in &rows[kept..] {
                    texts.push(row);
                }
                prop_assert_eq!(texts.text(), copy(&rows));
            }
        }
    }
}
