use super::*;
use crate::text::row::copy;
use proptest::prelude::*;
use ratatui::style::Color;

fn drawn(rows: &[Row]) -> Vec<String> {
    rows.iter().map(Row::drawn).collect()
}

fn plain(content: &str, columns: usize, breaks: Break) -> Vec<String> {
    drawn(&text(content, Style::new(), columns, breaks))
}

#[test]
fn words_stay_whole_where_they_can() {
    let table: [(&str, usize, &[&str]); 13] = [
        ("", 5, &[""]),
        ("hello", 5, &["hello"]),
        ("hello world", 5, &["hello", "world"]),
        ("hello  world", 7, &["hello", "world"]),
        ("hello world ", 5, &["hello", "world"]),
        ("a bc def", 4, &["a bc", "def"]),
        ("abcdefgh", 3, &["abc", "def", "gh"]),
        ("ab cdefgh", 4, &["ab", "cdef", "gh"]),
        ("    indented text", 10, &["    indent", "ed text"]),
        ("日本語です", 4, &["日本", "語で", "す"]),
        ("a日本。b", 4, &["a日", "本。", "b"]),
        ("日", 1, &["…"]),
        ("one\n\ntwo", 9, &["one", "", "two"]),
    ];
    for (content, columns, expected) in table {
        assert_eq!(plain(content, columns, Break::Words), expected, "{content:?} at {columns}");
    }
}

#[test]
fn code_keeps_its_columns() {
    assert_eq!(plain("a  b  c", 3, Break::Graphemes), ["a  ", "b  ", "c"]);
    assert_eq!(plain("\tx\ty", 12, Break::Graphemes), ["    x   y"]);
    assert_eq!(plain("abc\u{1b}[31md", 99, Break::Graphemes), ["abc[31md"]);
}

#[test]
fn rows_know_where_they_begin_and_how_they_join() {
    let rows = text("alpha  beta\ngamma", Style::new(), 6, Break::Words);
    let facts: Vec<_> = rows.iter().map(|row| (row.start, row.joint)).collect();
    assert_eq!(facts, [(0, Joint::Line), (7, Joint::Soft(2)), (12, Joint::Line)]);
}

#[test]
fn styles_and_links_stay_with_their_text() {
    let red = Style::new().fg(Color::Red);
    let link = Run { link: Some("https://a.b".into()), ..Run::new("link text", red, 4) };
    let rows = line(&[Run::new("see ", Style::new(), 0), link], 9, Break::Words);
    assert_eq!(drawn(&rows), ["see link", "text"]);
    assert_eq!(rows[0].spans[1], Span::styled("link", red));
    assert_eq!(rows[0].links[0].columns, 4..8);
    assert_eq!(rows[1].links[0].columns, 0..4);
    assert_eq!(rows[1].link_at(3).map(AsRef::as_ref), Some("https://a.b"));
    assert_eq!(rows[1].link_at(4), None);
}

#[test]
fn of_a_line_of_megabytes_only_the_beginning_is_looked_at() {
    for text in ["x".repeat(5_000_000), "日本語 text\t".repeat(400_000), " ".repeat(5_000_000)] {
        let runs = [Run::new(text, Style::new(), 0)];
        let (cells, is_whole) = cells(&runs, 1000);
        assert!(cells.len() <= 1000 && !is_whole, "{}", cells.len());
    }
    let runs = [Run::new("x".repeat(5_000_000), Style::new(), 0)];
    let rows = first_rows(&runs, 100, Break::Graphemes, 2000);
    assert_eq!((rows.len(), rows[1999].start, rows[1999].width()), (2000, 199_900, 100));
}

/// Words, blanks, wide and joined characters, controls.
fn content() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[a-z]{1,12}",
        3 => " {1,3}",
        1 => Just("日本。語".to_owned()),
        1 => Just("👩‍🚀❤\u{fe0f}e\u{301}".to_owned()),
        1 => Just("\t".to_owned()),
        1 => prop::sample::select(vec!["🇩🇪🇫🇷🇪", "1\u{fe0f}\u{20e3}", "👨‍👩‍👧‍👦", "שלום \u{202e}x", "مرحبا", "क्ष्मि", "각",
            "\u{200b}\u{feff}", "ห์นำ้", "\u{1f3fb}\u{200d}", "﷽"]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(|c| c.to_string()),
    ];
    prop::collection::vec(part, 0..30).prop_map(|parts| parts.concat().replace('\n', ""))
}

proptest! {
    #[test]
    fn never_wider_than_the_width(content in content(), columns in 1_usize..=200, words: bool) {
        let breaks = if words { Break::Words } else { Break::Graphemes };
        for row in text(&content, Style::new(), columns, breaks) {
            prop_assert!(row.width() <= columns, "{:?} at {columns}", row.drawn());
            prop_assert!(!row.drawn().chars().any(clean::is_unsafe), "{:?}", row.drawn());
        }
    }

    #[test]
    fn cells_hold_what_a_row_says(content in content(), columns in 1_usize..=80) {
        // What is measured here must be what the screen's buffer makes of it, else all that follows in a row stands
        // beside its links and its selection.
        for row in text(&content, Style::new(), columns, Break::Words) {
            let taken: usize = row.spans.iter().flat_map(|span| span.content.graphemes(true))
                .map(unicode_width::UnicodeWidthStr::width).sum();
            prop_assert_eq!(taken, row.width(), "{:?}", row.drawn());
        }
    }

    #[test]
    fn the_first_rows_are_the_first_of_all(content in content(), columns in 1_usize..40, most in 0_usize..6, words: bool) {
        let breaks = if words { Break::Words } else { Break::Graphemes };
        let runs = [Run::new(content.as_str(), Style::new(), 0)];
        let mut all = line(&runs, columns, breaks);
        all.truncate(most);
        prop_assert_eq!(first_rows(&runs, columns, breaks, most), all);
    }

    #[test]
    fn a_copy_is_what_came_in(content in "[a-z日本 ]{0,80}", columns in 2_usize..30, words: bool) {
        let breaks = if words { Break::Words } else { Break::Graphemes };
        let rows = text(&content, Style::new(), columns, breaks);
        prop_assert_eq!(copy(&rows), content.trim_end_matches(' '));
    }

    #[test]
    fn what_is_appended_leaves_earlier_rows(content in content(), more in content(), columns in 2_usize..30) {
        let before = plain(&content, columns, Break::Words);
        let after = plain(&format!("{content}{more}"), columns, Break::Words);
        // A grapheme or a word may grow over the seam; what is above the last two rows never moves.
        let fixed = before.len().saturating_sub(2);
        prop_assert_eq!(before.get(..fixed), after.get(..fixed));
    }
}
