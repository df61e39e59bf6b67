use crate::text::markdown::stream::MarkdownStream;
use crate::text::markdown::{CardKind, Document, LABEL_COLUMNS, TALL_CARD, cards, render};
use crate::text::row::{CardPart, Row};
use crate::theme::Theme;
use proptest::prelude::*;

fn made(source: &str, columns: usize) -> Document {
    render(source, &Theme::quiet_dark(), columns)
}

/// Rows with a label, from the top: index and part.
fn labels(document: &Document, card: usize) -> Vec<(usize, CardPart)> {
    let rows = document.rows.iter().enumerate();
    let of = rows.filter_map(|(index, row)| Some((index, row.card.filter(|on| on.card == card)?.part)));
    of.filter(|(_, part)| *part != CardPart::Body).collect()
}

/// What it is called, its source, the rows that have a label, how many rows there are.
type Drawn<'a> = (&'a str, String, &'a [(usize, CardPart)], usize);

#[test]
fn a_quote_has_its_label_where_its_text_leaves_room() {
    use CardPart::{Foot, Head};
    let long = "a line that takes all the room there is";
    let lines = |count: usize| "> w\\\n".repeat(count - 1) + "> w";
    let full = |count: usize| format!("> {long}\\\n").repeat(count - 1) + &format!("> {long}");
    let table: [Drawn<'_>; 8] = [
        ("short", "> hello".to_owned(), &[(0, Head)], 1),
        ("full first row", format!("> {long}\\\n> end"), &[(1, Foot)], 2),
        ("full", format!("> {long}"), &[(1, Foot)], 2),
        ("nine rows", lines(9), &[(0, Head)], 9),
        ("ten rows", lines(10), &[(0, Head), (9, Foot)], 10),
        (
            "room in the third row",
            format!("> {long}\\\n> {long}\\\n{}", lines(10)),
            &[(2, Head), (11, Foot)],
            12,
        ),
        ("ten full rows", full(10), &[(0, Head), (11, Foot)], 12),
        ("code first", "> ```\n> x\n> ```\n>\n> end".to_owned(), &[(4, Foot)], 5),
    ];
    for (what, source, expected, rows) in table {
        // The bar takes two columns, and the text is as long as what is left.
        let document = made(&source, 2 + long.len());
        assert_eq!(
            labels(&document, 0),
            expected,
            "{what}: {:?}",
            document.rows.iter().map(Row::drawn).collect::<Vec<_>>()
        );
        assert_eq!(document.rows.len(), rows, "{what}");
        let starts: Vec<_> = document.rows.iter().map(|row| row.start).collect();
        assert!(starts.is_sorted(), "{what}: {starts:?}");
    }
    assert_eq!(labels(&made("> hello", 11), 0), [], "too narrow for a label");
    let only = made(&format!("> {long}"), 2 + long.len());
    assert_eq!(only.rows[1].drawn(), "▌ ", "the bar goes on beside the label");
    assert!(only.rows[1].is_decoration && only.rows[1].ground == only.rows[0].ground);
}

#[test]
fn a_bullet_stays_above_the_quote_that_it_holds() {
    let full = "a line that takes all the room there is";
    let source = format!("- > {}", format!("{full}\\\n  > ").repeat(11) + full);
    let document = made(&source, 4 + full.len());
    assert!(document.rows[0].drawn().starts_with("• ▌ a line"));
    assert_eq!(labels(&document, 0).len(), 1, "at its foot");
}

#[test]
fn quotes_are_copied_without_marks() {
    let table = [
        ("> one\n> two", "one\ntwo"),
        (">one\nlazy", "one\nlazy"),
        ("> > inner\n> > more\n>\n> outer", "inner\nmore\n\nouter"),
        ("> - > in a list\n>   > more\n> - x", "- in a list\n  more\n- x"),
        ("> ```sh\n> cat > file\n> > is text\n> ```", "```sh\ncat > file\n> is text\n```"),
        ("> a > b", "a > b"),
        ("> \tx", "\tx"),
        ("   > a\n  > b", "a\nb"),
        ("> > lazy\nline", "lazy\nline"),
        ("- > in a list, wrapped at this width", "in a list, wrapped at this width"),
        ("> wide 日本語 `code`", "wide 日本語 `code`"),
    ];
    for (source, expected) in table {
        let document = made(source, 20);
        let quote = document.cards.iter().find(|card| card.kind == CardKind::Quote).expect("a quote");
        assert_eq!(quote.text, expected, "{source:?}");
    }
}

#[test]
fn what_is_copied_does_not_depend_on_the_look() {
    let source = "Text\n\n```rust\nfn a() {\n\tb();\n}\n```\n\n- x\n  ```\n  indented\n  ```\n\n> quote\n> > inner\n\n    four\n";
    let plain = cards(source);
    assert_eq!(plain.len(), 4);
    for columns in [1, 12, 40, 300] {
        assert_eq!(made(source, columns).cards, plain, "{columns}");
    }
}

#[test]
fn code_without_an_end_has_no_foot() {
    let feet = |source: &str| {
        labels(&made(source, 40), 0).iter().filter(|(_, part)| *part == CardPart::Foot).count()
    };
    for (open, closed) in [
        ("```\na\n", "```\na\n```"),
        ("- x\n  ```\n  a\n", "- x\n  ```\n  a\n  ```"),
        ("1. ~~~~\n   a\n   ~~~\n", "1. ~~~~\n   a\n   ~~~~~\n"),
    ] {
        assert_eq!((feet(open), feet(closed)), (0, 1), "{open:?}");
        assert!(!made(open, 40).cards[0].is_closed && made(closed, 40).cards[0].is_closed, "{open:?}");
    }
    // In a quote its card is the second.
    for (source, is_closed) in [("> ```\n> a\n", false), ("> ```\n> a\n> ```", true)] {
        assert_eq!(made(source, 40).cards[1].is_closed, is_closed, "{source:?}");
    }
    let mut growing = MarkdownStream::growing();
    growing.push("- item\n  ```rust\n  let a");
    growing.layout(&Theme::quiet_dark(), 40);
    assert!(growing.rows().iter().all(|row| row.card.is_none_or(|on| on.part != CardPart::Foot)));
}

#[test]
fn tall_code_has_a_foot_also_without_a_ground() {
    let code = |lines: usize| format!("```\n{}```", "x\n".repeat(lines));
    for theme in [Theme::quiet_dark(), Theme::terminal()] {
        let document = render(&code(TALL_CARD - 2), &theme, 40);
        assert_eq!(document.rows.len(), TALL_CARD);
        assert_eq!(labels(&document, 0).len(), 2);
    }
    let short = render(&code(TALL_CARD - 3), &Theme::terminal(), 40);
    assert_eq!(labels(&short, 0).len(), 1);
}

/// Lines of code or text, with what Markdown and terminals trip over.
fn lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ \ta-z>|*日é`{}#-]{0,12}", 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Tabs, blanks and marks included; whatever holds the code.
    #[test]
    fn code_is_copied_as_it_was_written(lines in lines(), holder in 0..3_usize, width in 1_usize..120) {
        let lines: Vec<String> = lines.iter().map(|line| line.replace('`', "'")).collect();
        // In a container a tab may stand for part of its indentation.
        let clean = |line: &String| if holder == 0 { line.clone() } else { line.replace('\t', " ") };
        let lines: Vec<String> = lines.iter().map(clean).collect();
        let prefix = ["", "   ", "> "][holder];
        let first = ["", "1. ", "> "][holder];
        let body: String = lines.iter().map(|line| format!("{prefix}{line}\n")).collect();
        let source = format!("{first}```x\n{body}{prefix}```\n");
        let document = made(&source, width);
        let code = document.cards.iter().find(|card| card.kind != CardKind::Quote).expect("code");
        prop_assert_eq!(&code.text, &lines.join("\n"));
        prop_assert!(code.is_closed);
        prop_assert_eq!(cards(&source), document.cards);
    }

    /// The same words in the same lines, without marks, at any width.
    #[test]
    fn a_quote_is_copied_as_it_was_written(lines in prop::collection::vec("[a-z]{1,9}( [a-z]{1,9}){0,6}", 1..14), depth in 1_usize..4, width in 1_usize..120) {
        let marks = "> ".repeat(depth);
        let source: String = lines.iter().map(|line| format!("{marks}{line}\n")).collect();
        let document = made(&source, width);
        prop_assert_eq!(&document.cards[0].text, &lines.join("\n"));
        // Labels: none where there is no room, one at each end of what is tall; never under text.
        let count = document.rows.iter().filter(|row| !row.is_decoration).count();
        let found = labels(&document, 0);
        let wanted = if width < LABEL_COLUMNS + 4 { 0 } else if count < TALL_CARD { 1 } else { 2 };
        prop_assert_eq!(found.len(), wanted, "{:?}", found);
        for (row, _) in found {
            prop_assert!(document.rows[row].width() + LABEL_COLUMNS + 2 <= width);
        }
        prop_assert!(document.rows.iter().all(|row| row.width() <= width.max(2)));
    }
}
