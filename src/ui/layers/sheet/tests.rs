//! Long texts without a screen: what is measured, found and taken.

use super::body::{Body, Point};
use super::lines::{Lines, What};
use crate::text::width;
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::transcript::search::{Pattern, Query};
use crate::ui::entries::whole::Shown;
use proptest::prelude::*;

fn output(text: &str, columns: usize) -> Lines {
    let theme = Theme::quiet_dark();
    let mut lines = Lines::new(What::Output, &theme);
    lines.set_text(text, 0);
    lines.lay_out(&theme, columns);
    lines
}

fn drawn(lines: &mut Lines) -> Vec<String> {
    let total = lines.total();
    lines.window(0, total).iter().map(|seen| seen.row.drawn()).collect()
}

fn place(line: usize, byte: usize) -> Point {
    Point { line, byte }
}

#[test]
fn an_appended_line_measures_nothing_else() {
    let theme = Theme::quiet_dark();
    let mut text: String = (0..5000).map(|line| format!("line {line} of the output\n")).collect();
    let mut lines = output(&text, 40);
    assert_eq!((lines.total(), lines.measured), (5000, 5000));
    for line in 5000..5100 {
        text.push_str(&format!("line {line}\n"));
        lines.set_text(&text, 0);
        lines.lay_out(&theme, 40);
    }
    assert_eq!(lines.total(), 5100);
    // Each time the last line, which may have grown, and the new one.
    assert_eq!(lines.measured, 5000 + 2 * 100);
    // To scroll measures nothing at all.
    let seen = lines.window(4000, 30);
    assert_eq!((seen.len(), seen[0].row.drawn()), (30, "line 4000 of the output".to_owned()));
    assert_eq!(lines.measured, 5200);
}

#[test]
fn a_hundred_thousand_lines_are_laid_out_where_they_are_seen() {
    let text: String = (0..100_000).map(|line| format!("{line}\n")).collect();
    let mut lines = output(&text, 80);
    assert_eq!(lines.total(), 100_000);
    let seen = lines.window(99_990, 50);
    assert_eq!(seen.len(), 10);
    assert_eq!(seen[9].row.drawn(), "99999");
    assert_eq!(lines.row_of(place(77_777, 0)), 77_777);
}

#[test]
fn what_went_from_the_begin_takes_its_rows_along() {
    let theme = Theme::quiet_dark();
    let mut lines = output("one\ntwo two two\nthree\nfour", 7);
    assert_eq!(drawn(&mut lines), ["one", "two two", " two", "three", "four"]);
    // Two lines went, and one came.
    let went = lines.set_text("three\nfour\nfive", 16).expect("the same text");
    assert_eq!((went.lines, went.rows), (2, 3));
    lines.lay_out(&theme, 7);
    assert_eq!(drawn(&mut lines), ["three", "four", "five"]);
    assert_eq!(lines.set_text("another", 16), None);
    lines.lay_out(&theme, 7);
    assert_eq!(drawn(&mut lines), ["another"]);
}

#[test]
fn a_colour_that_was_left_on_holds_in_the_middle_of_a_text() {
    let theme = Theme::quiet_dark();
    let text = format!("\u{1b}[31mred\n{}\u{1b}[0mplain", "still\n".repeat(300));
    let mut lines = output(&text, 20);
    for (row, is_red) in [(0, true), (150, true), (300, true), (301, false)] {
        let seen = lines.window(row, 1);
        let color = seen[0].row.spans[0].style.fg;
        assert_eq!(color == Some(theme.color(Role::Error)), is_red, "{row}");
    }
}

#[test]
fn text_is_taken_as_it_was_written() {
    let mut lines = output("a\tb  \n\u{4f60}\u{597d} wide, and longer than a row\n\nend  ", 10);
    assert_eq!(lines.all(), "a\tb\n\u{4f60}\u{597d} wide, and longer than a row\n\nend");
    assert_eq!(lines.text(place(0, 2), place(1, 6)), "b\n\u{4f60}\u{597d}");
    let mut coloured = output("\u{1b}[32mok\u{1b}[0m\r\n10%\r100%\n", 10);
    assert_eq!(coloured.all(), "ok\n100%");
}

#[test]
fn another_digit_of_the_numbers_moves_all_lines() {
    let theme = Theme::quiet_dark();
    // Of 13 columns `99 ` leaves 10, `100 ` 9; of 11 `100 ` leaves too few to be shown at all.
    for (columns, before, after) in [(13, 2, 5), (11, 4, 3)] {
        let mut lines = Lines::new(What::Code("a.txt".to_owned(), 98), &theme);
        let mut text = "0123456789\n0123456789".to_owned();
        lines.set_text(&text, 0);
        lines.lay_out(&theme, columns);
        assert_eq!(drawn(&mut lines).len(), lines.total(), "{columns}");
        assert_eq!(lines.total(), before);
        text.push_str("\nend");
        lines.set_text(&text, 0);
        lines.lay_out(&theme, columns);
        assert_eq!(drawn(&mut lines).len(), lines.total(), "{columns}");
        assert_eq!(lines.total(), after);
    }
}

#[test]
fn places_and_columns_are_the_inverse_of_each_other() {
    let mut lines = output("0123456789abcdefghij", 8);
    let seen = lines.window(0, 9);
    assert_eq!(seen.len(), 3);
    assert_eq!(seen[1].point_at(2), place(0, 10));
    assert_eq!(seen[1].columns(place(0, 6), place(0, 12)), 0..4);
    assert_eq!(seen[2].columns(place(0, 6), place(0, 12)), 0..0);
    assert_eq!(lines.row_of(place(0, 10)), 1);
}

#[test]
fn matches_are_found_in_what_is_drawn() {
    let mut lines = output("one Two\n\u{1b}[31mtwo\u{1b}[0m three\n", 4);
    let query = Query { text: "two".to_owned(), is_regex: false };
    let pattern = Pattern::new(&query).expect("plain").expect("not empty");
    assert_eq!(lines.find(&pattern, 0), [(0, 4..7), (1, 0..3)]);
    assert_eq!(lines.find(&pattern, 1), [(1, 0..3)]);
}

#[test]
fn markdown_and_changes_are_taken_over_as_they_grow() {
    let theme = Theme::quiet_dark();
    let mut body = Body::empty(&theme);
    assert_eq!(body.set(Shown::Markdown("# Head\n\none".into()), &theme), None);
    body.lay_out(&theme, 40, false);
    assert!(body.set(Shown::Markdown("# Head\n\none two\n\nthree".into()), &theme).is_some());
    body.lay_out(&theme, 40, false);
    let rows: Vec<_> = body.window(0, 9).iter().map(|seen| seen.row.drawn()).collect();
    assert_eq!(rows.iter().filter(|row| !row.is_empty()).collect::<Vec<_>>(), ["Head", "one two", "three"]);
    assert_eq!(body.all(), "# Head\n\none two\n\nthree");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is measured is what is drawn, and no row is too wide.
    #[test]
    fn rows_are_counted_as_they_are_drawn(
        parts in proptest::collection::vec("(\u{1b}\\[[0-9]{1,2}m|[ -~]|\t|\u{4f60}|é|\u{1f680}|\n|\r){0,40}", 1..6),
        columns in 1_usize..60,
    ) {
        let theme = Theme::quiet_dark();
        for what in [What::Output, What::Code("a.rs".to_owned(), 98), What::Listing(true), What::Words(Role::Error)] {
            let mut grown = Lines::new(what.clone(), &theme);
            let mut text = String::new();
            for part in &parts {
                text.push_str(part);
                grown.set_text(&text, 0);
                grown.lay_out(&theme, columns);
            }
            let total = grown.total();
            let rows = drawn(&mut grown);
            // A wide character needs two columns, whatever there is.
            prop_assert!(rows.iter().all(|row| width::of(row) <= columns.max(2)), "{rows:?}");
            let mut whole = Lines::new(what, &theme);
            whole.set_text(&text, 0);
            whole.lay_out(&theme, columns);
            prop_assert_eq!(&rows, &drawn(&mut whole));
            if whole.lines() > 0 {
                prop_assert_eq!(rows.len(), total);
            }
        }
    }
}
