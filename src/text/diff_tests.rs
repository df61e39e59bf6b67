use super::*;
use crate::text::row::copy;
use proptest::prelude::*;

const PATCH: &str = "diff --git a/src/lexer.rs b/src/lexer.rs
index 1..2 100644
--- a/src/lexer.rs
+++ b/src/lexer.rs
@@ -41,3 +41,3 @@ impl Lexer
 fn tokens(&self) {
-    if empty { return Err(1); }
+    if empty { return Ok(1); }
 }
\\ No newline at end of file
";

fn short(lines: &[Line]) -> Vec<(Kind, Option<usize>, &str)> {
    lines.iter().map(|line| (line.kind, line.number, line.text.as_str())).collect()
}

fn drawn(lines: &[Line], columns: usize) -> Vec<String> {
    rows(lines, "x.rs", &Theme::quiet_dark(), columns).iter().map(Row::drawn).collect()
}

#[test]
fn a_patch_is_read() {
    let lines = parse(PATCH);
    assert_eq!(
        short(&lines),
        [
            (Kind::File, None, "b/src/lexer.rs"),
            (Kind::Gap, None, "… impl Lexer"),
            (Kind::Context, Some(41), "fn tokens(&self) {"),
            (Kind::Removed, Some(42), "    if empty { return Err(1); }"),
            (Kind::Added, Some(42), "    if empty { return Ok(1); }"),
            (Kind::Context, Some(43), "}"),
        ]
    );
    let words = |line: &Line| {
        line.emphasis.iter().map(|range| line.text.get(range.clone()).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((words(&lines[3]), words(&lines[4])), (vec!["Err".to_owned()], vec!["Ok".to_owned()]));
    assert_eq!(totals(&lines), (1, 1));
}

#[test]
fn signs_in_text_are_text() {
    let lines = parse("@@ -1,2 +1,2 @@\n--- old\n-@@ -1 +1 @@\n+++ new\n+x\n");
    assert_eq!(
        short(&lines),
        [
            (Kind::Removed, Some(1), "-- old"),
            (Kind::Removed, Some(2), "@@ -1 +1 @@"),
            (Kind::Added, Some(1), "++ new"),
            (Kind::Added, Some(2), "x"),
        ]
    );
}

#[test]
fn two_texts_are_compared() {
    let old: String = (1..=20).map(|number| format!("line {number}\n")).collect();
    let new = old.replace("line 10\n", "line ten\n");
    let lines = between(&old, &new, 1);
    assert_eq!(
        short(&lines),
        [
            (Kind::Gap, None, "…"),
            (Kind::Context, Some(9), "line 9"),
            (Kind::Removed, Some(10), "line 10"),
            (Kind::Added, Some(10), "line ten"),
            (Kind::Context, Some(11), "line 11"),
            (Kind::Gap, None, "…"),
        ]
    );
    assert_eq!(between("same", "same", 3), []);
}

#[test]
fn rows_have_numbers_and_signs_and_copies_have_none() {
    let lines = between("a\nlet x = 1;\n", "a\nlet x = 22222222;\n", 3);
    assert_eq!(drawn(&lines, 40), ["1   a", "2 - let x = 1;", "2 + let x = 22222222;"]);
    assert_eq!(drawn(&lines, 14), ["1   a", "2 - let x = 1;", "2 + let x = 22", "    222222;"]);
    assert_eq!(drawn(&lines, 8)[3..], ["let x = ", "22222222", ";"], "no room for a gutter");
    let made = rows(&lines, "x.rs", &Theme::quiet_dark(), 14);
    assert_eq!(copy(&made), "a\nlet x = 1;\nlet x = 22222222;");
    assert_eq!(made[3].start, 2);
}

#[test]
fn code_has_its_colours_on_the_ground_of_its_kind() {
    let theme = Theme::quiet_dark();
    let lines = between("", "let x = 1;\n", 3);
    let row = &rows(&lines, "x.rs", &theme, 40)[0];
    assert_eq!(row.ground, Some((0, theme.added_ground())));
    let word = row.spans.iter().find(|span| span.content == "let").unwrap();
    assert_eq!(word.style.fg, Some(theme.color_on(Role::SyntaxKeyword, theme.added_ground())));
    let plain = &rows(&lines, "x.unknown", &theme, 40)[0];
    assert_eq!(plain.spans[2].style.fg, Some(theme.color_on(Role::ToolDiffAdded, theme.added_ground())));
}

proptest! {
    #[test]
    fn any_text_is_a_patch_and_fits(patch in "[-+ @0-9,a-z日\u{1b}\n\t]{0,120}", columns in 1_usize..50) {
        for row in rows(&parse(&patch), "x.rs", &Theme::terminal(), columns) {
            prop_assert!(row.width() <= columns, "{:?}", row.drawn());
        }
    }

    #[test]
    fn a_difference_of_lines_keeps_both_texts(old in "([ab]{0,2}\n){0,8}", new in "([ab]{0,2}\n){0,8}") {
        let lines = between(&old, &new, 1000);
        prop_assume!(old != new);
        let side = |gone: Kind| -> String {
            lines.iter().filter(|line| line.kind != gone).map(|line| format!("{}\n", line.text)).collect()
        };
        prop_assert_eq!(side(Kind::Added), old);
        prop_assert_eq!(side(Kind::Removed), new);
    }
}
