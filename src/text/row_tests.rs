use super::*;
use crate::text::markdown::render;
use crate::text::wrap::{self, Break};
use crate::theme::Theme;
use proptest::prelude::*;
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation;

/// What a copy of text must be: nothing is left out but what is never drawn, and spaces at the ends of lines.
fn copied(text: &str) -> String {
    let line = |line: &str| {
        let drawn = line.graphemes(true).filter(|part| *part == "\t" || !width::drawn(part).is_empty());
        let kept: String =
            drawn.flat_map(str::chars).filter(|c| !crate::text::clean::is_unsafe(*c)).collect();
        kept.trim_end_matches(' ').to_owned()
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Lines of all that text can be made of.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let part = prop_oneof![
        4 => "[a-z]{1,12}",
        3 => " {1,5}",
        1 => Just("\t".to_owned()),
        1 => prop::sample::select(vec!["日本。語", "👩‍🚀", "❤\u{fe0f}", "1\u{fe0f}\u{20e3}", "🇩🇪🇫🇷", "e\u{301}\u{327}",
            "שלום", "مرحبا", "\u{202e}x", "\u{200b}", "\u{feff}", "क्षि", "각", "\u{1b}[31m", "☎\u{fe0e}", "👨‍👩‍👧‍👦"]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(|c| c.to_string()),
    ];
    let line = prop::collection::vec(part, 0..16).prop_map(|parts| parts.concat().replace(['\n', '\r'], ""));
    prop::collection::vec(line, 1..5)
}

proptest! {
    #[test]
    fn a_copy_of_any_lines_is_what_was_written(lines in lines(), columns in 1_usize..=200, words: bool, from in 0_usize..5, count in 1_usize..5) {
        let breaks = if words { Break::Words } else { Break::Graphemes };
        let rows: Vec<Vec<Row>> =
            lines.iter().map(|line| wrap::text(line, Style::new(), columns, breaks)).collect();
        let picked: Vec<&Row> = rows.iter().skip(from).take(count).flatten().collect();
        let expected: Vec<&str> = lines.iter().skip(from).take(count).map(String::as_str).collect();
        prop_assert_eq!(copy(picked.iter().copied()), copied(&expected.join("\n")), "at {}", columns);
    }

    #[test]
    fn a_copy_of_a_fence_is_its_code(lines in lines(), columns in 8_usize..=200) {
        let lines: Vec<String> = lines.iter().map(|line| copied(line).replace(['`', '~'], "")).collect();
        let source = format!("text\n\n```\n{}\n```\n\ntext", lines.join("\n"));
        let made = render(&source, &Theme::quiet_dark(), columns);
        prop_assert_eq!(copy(&made.rows), format!("text\n\n{}\n\ntext", copied(&lines.join("\n"))));
        prop_assert_eq!(&made.cards[0].text, &lines.join("\n"));
    }

    #[test]
    fn a_copy_of_a_table_does_not_depend_on_the_width(
        cells in prop::collection::vec("[a-z]{0,9}( [a-z|日👩]{1,9}){0,3}", 2..9),
        columns in 25_usize..=200,
    ) {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let mut source = "| one | two |\n| --- | --- |".to_owned();
        for pair in cells.chunks_exact(2) {
            source.push_str(&format!("\n| {} | {} |", pair[0].trim(), pair[1].trim()));
        }
        let made = render(&source, &Theme::quiet_dark(), columns);
        prop_assert_eq!(copy(&made.rows), source);
    }

    #[test]
    fn the_parts_of_a_row_are_the_row(lines in lines(), columns in 1_usize..=60, cut in 0_usize..60) {
        for row in wrap::text(&lines.concat(), Style::new(), columns, Break::Words) {
            let (left, right) = (row.text_in(0..cut), row.text_in(cut..usize::MAX));
            // What spans the cut belongs to its left.
            prop_assert_eq!(format!("{left}{right}"), row.text());
        }
    }
}

#[test]
fn a_mark_on_a_tab_survives() {
    let source = "```\n\t\u{11630}x\n```";
    for columns in [8, 20] {
        assert_eq!(copy(&render(source, &Theme::quiet_dark(), columns).rows), "\t\u{11630}x", "{columns}");
    }
}

#[test]
fn tabs_and_coloured_forms_survive() {
    let rows = wrap::text("\tif x {\n\t\ty ❤\u{fe0f} z", Style::new(), 80, Break::Graphemes);
    assert_eq!(rows[1].drawn(), "        y ❤ z");
    assert_eq!(copy(&rows), "\tif x {\n\t\ty ❤\u{fe0f} z");
    assert_eq!(rows[1].text_in(4..9), "\ty");
    assert_eq!(rows[1].text_in(2..9), "\ty", "half a tab is none");
}

#[test]
fn a_table_is_copied_as_markdown_whatever_wraps() {
    let source = "| name | what it does |\n| --- | --: |\n| a\\|b | a text that is longer |\n|  | `x` |";
    let made = render(source, &Theme::quiet_dark(), 20);
    assert!(made.rows.len() > 5, "a cell wraps");
    let whole = "| name | what it does |\n| --- | --: |\n| a\\|b | a text that is longer |\n|  | x |";
    assert_eq!(copy(&made.rows), whole);
    // From the middle of a line of cells: all of that line, once.
    let second = made.rows.iter().position(|row| row.drawn().contains("is longer")).unwrap();
    let expected = "| a\\|b | a text that is longer |\n|  | x |";
    assert_eq!(copy(&made.rows[second..]), expected);
    // Columns of one row are what stands there.
    let row = made.rows.iter().find(|row| row.drawn().contains("a|b")).unwrap();
    assert_eq!(row.text(), "a|b | a text that");
    let last = made.rows.last().unwrap();
    assert_eq!(last.text(), " | x");
}

#[test]
fn lists_keep_their_shape() {
    let source = "- a list item that is longer\n  - inner\n\n    more\n    - deep\n- > quote\n\n  ```\n  code\n    x\n  ```";
    for columns in [16, 40, 200] {
        let made = render(source, &Theme::quiet_dark(), columns);
        let expected =
            "• a list item that is longer\n\n  • inner\n\nmore\n\n    • deep\n\n• quote\n\ncode\n  x";
        assert_eq!(copy(&made.rows), expected, "at {columns}");
    }
}
