use super::*;
use crate::text::row::copy;
use crate::theme::role::Role;
use ratatui::style::Modifier;

fn drawn(source: &str, columns: usize) -> Vec<String> {
    let rows = render(source, &Theme::quiet_dark(), columns).rows;
    rows.iter().map(|row| row.drawn().trim_end().to_owned()).collect()
}

#[test]
fn blocks_have_their_shapes() {
    let table: [(&str, &[&str]); 16] = [
        ("", &[]),
        ("# Head\ntext", &["Head", "", "text"]),
        ("one\ntwo", &["one", "two"]),
        ("- a\n- b\n  - c\n    d", &["• a", "• b", "  • c", "    d"]),
        ("- a\n\n- b\n\n  c", &["• a", "", "• b", "", "  c"]),
        ("9. a\n10. b", &["9. a", "10. b"]),
        ("- [ ] open\n- [x] done", &["• [ ] open", "• [x] done"]),
        ("> quote\n>\n> > inner", &["▌ quote", "▌", "▌ ▌ inner"]),
        ("a\n\n---\n\nb", &["a", "", "────────────────────", "", "b"]),
        ("[t](http://u.v) <http://w.x>", &["t (http://u.v)", "http://w.x"]),
        ("![cat](c.png)", &["[picture] cat", "(c.png)"]),
        ("text[^1]\n\n[^1]: note", &["text[^1]", "", "[^1] note"]),
        ("$a_1$ costs $5 or $6", &["$a_1$ costs $5 or $6"]),
        ("a<br>b <i>c</i>", &["a", "b <i>c</i>"]),
        ("[t][1]\n\nb\n\n[1]: http://u.v", &["[t][1]", "", "b", "", "[1]: http://u.v"]),
        ("[1]: http://u.v\n\n[t][1]", &["[1]: http://u.v", "", "t (http://u.v)"]),
    ];
    for (source, expected) in table {
        assert_eq!(drawn(source, 20), expected, "{source:?}");
    }
}

#[test]
fn code_is_a_card() {
    let theme = Theme::quiet_dark();
    let made = render("```rust\nfn a() {\n\tb();\n}\n```", &theme, 20);
    let rows: Vec<_> = made.rows.iter().map(Row::drawn).collect();
    assert_eq!(rows, [" rust", " fn a() {", "     b();", " }", ""]);
    assert!(made.rows.iter().all(|row| row.ground == Some((0, theme.code_ground()))));
    assert_eq!(made.cards[0].text, "fn a() {\n\tb();\n}", "tabs survive a copy");
    assert_eq!(copy(&made.rows), "fn a() {\n\tb();\n}", "also of one of its rows");
    let word = made.rows[1].spans.iter().find(|span| span.content == "fn").unwrap();
    assert_eq!(word.style.fg, Some(theme.color_on(Role::SyntaxKeyword, theme.code_ground())));
    let empty = render("```\n\nx\n```", &theme, 20);
    assert_eq!(empty.cards[0].text, "\nx");
}

#[test]
fn code_within_a_list_loses_the_indentation_of_the_list() {
    let made = render("1. do\n   ```sh\n   ls  -l\n     x\n   ```\n2. done", &Theme::quiet_dark(), 30);
    let rows: Vec<_> = made.rows.iter().map(|row| row.drawn().trim_end().to_owned()).collect();
    assert_eq!(rows, ["1. do", "    sh", "    ls  -l", "      x", "", "2. done"]);
    assert_eq!(made.cards[0].text, "ls  -l\n  x");
    assert_eq!(copy(&made.rows), "1. do\nls  -l\n  x\n2. done");
}

#[test]
fn copies_have_no_bars_and_no_wraps() {
    let source = "> a quote that is **longer** than a row\n> second";
    let made = render(source, &Theme::quiet_dark(), 16);
    assert!(made.rows.len() > 3);
    assert_eq!(copy(&made.rows), "a quote that is longer than a row\nsecond");
    assert_eq!(made.cards[0].text, "a quote that is **longer** than a row\nsecond");
    let list = render("- a list item that is longer than a row\n  - inner", &Theme::quiet_dark(), 16);
    assert_eq!(copy(&list.rows), "• a list item that is longer than a row\n  • inner");
}

#[test]
fn tables_fit() {
    let source = "| name | what it does |\n|---|--:|\n| a | short |\n| b | a text that is longer |";
    assert_eq!(
        drawn(source, 40),
        [
            "name │          what it does",
            "─────┼──────────────────────".trim_end(),
            "a    │                 short",
            "b    │ a text that is longer",
        ]
        .map(|row| if row.starts_with('─') {
            "─────┼──────────────────────"
        } else {
            row
        })
    );
    assert_eq!(
        drawn(source, 20),
        [
            "name │  what it does",
            "─────┼──────────────",
            "a    │         short",
            "─────┼──────────────",
            "b    │   a text that",
            "     │     is longer",
        ]
    );
    assert_eq!(
        drawn(source, 12),
        ["name: a", "what it", "does: short", "", "name: b", "what it", "does: a text", "that is", "longer",]
    );
}

#[test]
fn links_open() {
    let made = render("see [the docs](https://a.b/c) and https://d.e.", &Theme::quiet_dark(), 60);
    let row = &made.rows[0];
    assert_eq!(row.drawn(), "see the docs (https://a.b/c) and https://d.e.");
    assert_eq!(row.link_at(6).map(AsRef::as_ref), Some("https://a.b/c"));
    assert_eq!(row.link_at(15).map(AsRef::as_ref), Some("https://a.b/c"));
    assert_eq!(row.link_at(0), None);
    assert_eq!(row.link_at(35).map(AsRef::as_ref), Some("https://d.e"));
}

#[test]
fn emphasis_is_style() {
    let made = render("**bold** _it_ ~~gone~~ `code`", &Theme::quiet_dark(), 60);
    let has = |text: &str, modifier| {
        made.rows[0]
            .spans
            .iter()
            .any(|span| span.content == text && span.style.add_modifier.contains(modifier))
    };
    assert!(has("bold", Modifier::BOLD) && has("it", Modifier::ITALIC) && has("gone", Modifier::CROSSED_OUT));
    assert_eq!(made.rows[0].drawn(), "bold it gone code");
}

#[test]
fn hostile_text_stays_text() {
    let made = render("a\u{1b}]0;x\u{7}b\u{202e}c\r\nd", &Theme::quiet_dark(), 60);
    let rows: Vec<_> = made.rows.iter().map(Row::drawn).collect();
    assert_eq!(rows, ["a]0;xbc", "d"]);
    let deep = format!("{}x", "> ".repeat(400));
    assert!(render(&deep, &Theme::quiet_dark(), 20).rows.iter().any(|row| row.drawn().contains('x')));
}

#[test]
fn heads_and_bold_text_keep_joined_and_keycap_emoji() {
    let signs = "1\u{fe0f}\u{20e3} 👩‍🚀 👨‍👩‍👧‍👦 🇩🇪 ❤\u{fe0f}";
    let source = format!("# Head {signs} end\n\n**Bold {signs} end** and *{signs}*\n\n- **{signs}**");
    let made = render(&source, &Theme::quiet_dark(), 80);
    let expected = format!("Head {signs} end\n\nBold {signs} end and {signs}\n\n• {signs}");
    assert_eq!(copy(&made.rows), expected);
    // Wrapped anywhere nothing of them is lost, and none is cut.
    for columns in 2..40 {
        let made = render(&format!("**{signs}**"), &Theme::quiet_dark(), columns);
        assert_eq!(copy(&made.rows), signs, "{columns}");
        for sign in signs.split(' ') {
            // The form is never drawn.
            let sign = sign.replace('\u{fe0f}', "");
            let rows = made.rows.iter().filter(|row| row.drawn().contains(&sign));
            assert_eq!(rows.count(), 1, "{sign} {columns}");
        }
    }
}
