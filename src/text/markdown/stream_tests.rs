use super::*;
use crate::text::markdown::render;
use proptest::prelude::*;

/// Lays out after each piece.
fn streamed<'a>(pieces: impl IntoIterator<Item = &'a str>, columns: usize) -> Document {
    let theme = Theme::quiet_dark();
    let mut stream = MarkdownStream::new();
    for piece in pieces {
        stream.push(piece);
        stream.layout(&theme, columns);
    }
    stream.layout(&theme, columns);
    stream.into_document()
}

/// Pieces of Markdown in any order, whole and broken.
fn markdown() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        "\n",
        "\n",
        "\n\n",
        "\n\n",
        "\n\n",
        " ",
        "    ",
        "word",
        "two words",
        "# ",
        "## Head\n",
        "- ",
        "- item\n",
        "1. ",
        "2) x\n",
        "* * *\n",
        "---\n",
        "===\n",
        "> ",
        "> quote\n",
        "```",
        "```rust\n",
        "```\n",
        "~~~\n",
        "let x = \"1\";\n",
        "**",
        "*",
        "_a_",
        "`code`",
        "`",
        "| a | b |\n",
        "|---|---|\n",
        "| 1 | 2 |\n",
        "[a]",
        "[a]: http://x.y\n",
        "[a]: /u\n\"t\n",
        "\"\n",
        "[t](http://u.v)",
        "![p](q.png)",
        "[^1]",
        "[^1]: note\n",
        "<div>\n",
        "</div>\n",
        "<b>",
        "<!--",
        "-->",
        "$x_1$",
        "[ ] ",
        "[x] ",
        "https://a.b/c",
        "日本語",
        "👩‍🚀",
        "\t",
        "\r",
        "\r\n",
        "\\",
        "&amp;",
        "\u{1b}[31m",
        // Containers with blocks within, and what looks like a block but is none.
        "  - ",
        "   ",
        "> - ",
        "> ```\n",
        "  ```\n",
        "      code\n",
        "\n***\n",
        "-",
        "=",
        "+ ",
        "#",
        ":--",
        "|",
        "a | b\n- | -\n",
        "<!DOCTYPE",
        "<![CDATA[",
        "<?x",
        "<pre>\n",
        "</pre>",
        "$$",
        "$",
        "[^2]:\n    ",
        "[a]:",
        "[b]: <",
        "[c]: /u '",
        "'",
        "(",
        ")",
        "![",
        "](",
        "``",
        "~~",
        "<http://x.y>",
        "http://x.y/a_b_c",
        "1.",
        "12345678901. ",
        "\u{feff}",
        "\0",
        "\u{2028}",
    ];
    prop::collection::vec(prop::sample::select(PARTS), 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_pieces_equal_the_whole(text in markdown(), cuts in prop::collection::vec(0_usize..120, 0..12), columns in 1_usize..40) {
        let chars: Vec<(usize, char)> = text.char_indices().collect();
        let mut offsets: Vec<usize> =
            cuts.iter().filter_map(|cut| chars.get(*cut).map(|(offset, _)| *offset)).collect();
        offsets.extend([0, text.len()]);
        offsets.sort_unstable();
        let pieces: Vec<&str> = offsets.windows(2).map(|pair| text.get(pair[0]..pair[1]).unwrap()).collect();
        let whole = render(&text, &Theme::quiet_dark(), columns);
        let parts = streamed(pieces.iter().copied(), columns);
        prop_assert_eq!(&parts, &whole, "{:?}", pieces);
    }

    #[test]
    fn char_by_char_equals_the_whole(text in markdown()) {
        let chars: Vec<String> = text.chars().map(String::from).collect();
        let parts = streamed(chars.iter().map(String::as_str), 30);
        prop_assert_eq!(parts, render(&text, &Theme::quiet_dark(), 30), "{:?}", text);
    }

    #[test]
    fn a_text_that_grew_ends_as_the_whole(text in markdown(), size in 1_usize..9, columns in 1_usize..60) {
        let theme = Theme::quiet_dark();
        let chars: Vec<char> = text.chars().collect();
        let mut stream = MarkdownStream::growing();
        for piece in chars.chunks(size) {
            stream.push(&piece.iter().collect::<String>());
            stream.layout(&theme, columns);
            for row in stream.rows() {
                prop_assert!(row.width() <= columns, "{:?} is wider than {columns}: {text:?}", row.drawn());
            }
        }
        stream.finish();
        stream.layout(&theme, columns);
        prop_assert_eq!(stream.into_document(), render(&text, &theme, columns), "{:?}", text);
    }

    #[test]
    fn rows_fit(text in markdown(), columns in 1_usize..40) {
        for row in render(&text, &Theme::quiet_dark(), columns).rows {
            prop_assert!(row.width() <= columns, "{:?} is wider than {columns}: {text:?}", row.drawn());
        }
    }

    #[test]
    fn words_are_never_lost(text in markdown()) {
        let drawn: String = render(&text, &Theme::quiet_dark(), 60).rows.iter().map(Row::drawn).collect();
        // A label, a title and a word behind a fence may hide a word; nothing here puts one there but these.
        let hides = ["[", "```", "~~~", "<", "\""].iter().any(|mark| text.contains(mark));
        if !hides {
            prop_assert_eq!(drawn.matches("word").count(), text.matches("word").count(), "{:?}", text);
        }
    }
}

#[test]
fn frozen_rows_stay_and_the_tail_is_visible() {
    let theme = Theme::quiet_dark();
    let mut stream = MarkdownStream::new();
    stream.push("# One\n\nfirst paragraph\n\nsecond");
    stream.layout(&theme, 40);
    assert_eq!(stream.frozen_rows(), 1, "the line below the first paragraph is not whole");
    assert_eq!(stream.rows().last().unwrap().drawn(), "second");
    stream.push(" goes on\n");
    stream.layout(&theme, 40);
    assert_eq!(stream.frozen_rows(), 3, "the heading, a blank row, the first paragraph");
    let before = stream.rows()[..3].to_vec();
    stream.push("\n```rust\nlet a = 1;\nlet b");
    stream.layout(&theme, 40);
    assert_eq!(stream.rows()[..3], before);
    assert_eq!(stream.frozen_rows(), stream.rows().len() - 1, "code freezes by the line");
    assert_eq!(stream.rows().last().unwrap().drawn(), " let b");
    assert_eq!(stream.cards()[0].text, "let a = 1;\nlet b");
    assert!(!stream.cards()[0].is_closed);
    stream.push(" = 2;\n```\n");
    stream.layout(&theme, 40);
    assert_eq!(stream.cards()[0].text, "let a = 1;\nlet b = 2;");
    assert!(stream.cards()[0].is_closed);
}

#[test]
fn pieces_that_once_differed() {
    let table: [&[&str]; 7] = [
        // To Markdown the first line is not blank.
        &["\u{2028}\n|2) x\n|---|", "---|\n"],
        &["```rust\n```\n", "\nword"],
        &["1. ```rust\n[a]: /u\n", "\"t\n", "\"\n"],
        // For a moment the last line is the second of a table.
        &["let x = \"1\";\n| a | b |\n- |---", "|---|\n"],
        // A label that is defined twice is listed once.
        &["[a]: http://x.y\n[a]: /u\n\"t\n", "**[t](http://u.v) \"\n"],
        &["[^1]: note\nlet x = \"1\";\n\n\t[^1]: note\n", "let x = \"1\";\n"],
        &["2) x\n```\n", "2) x\n## Head\n```\n[a]: http://x.y\n```"],
    ];
    for pieces in table {
        let whole = render(&pieces.concat(), &Theme::quiet_dark(), 30);
        assert_eq!(streamed(pieces.iter().copied(), 30), whole, "{pieces:?}");
    }
}

/// Lines of code that were read, and lines that were wrapped, since this was last asked.
fn work() -> (usize, usize) {
    use crate::text::{highlight, wrap};
    (highlight::work::LINES.replace(0), wrap::work::LINES.replace(0))
}

#[test]
fn a_long_fence_costs_what_is_new() {
    let theme = Theme::quiet_dark();
    let mut stream = MarkdownStream::growing();
    stream.push("Text.\n\n```rust\n");
    stream.layout(&theme, 80);
    work();
    let mut most = (0, 0);
    for number in 0..10_000 {
        stream.push(&format!("let x{number} = {number};\nlet"));
        stream.layout(&theme, 80);
        stream.push(" ");
        let (read, wrapped) = work();
        most = (most.0.max(read), most.1.max(wrapped));
    }
    // The line that became whole, and the one that is not.
    assert_eq!(most, (2, 2));
    assert_eq!(stream.rows().len(), 10_004);
    assert_eq!(stream.frozen_rows(), 10_003);
    stream.finish();
    stream.layout(&theme, 80);
    assert!(work().0 <= 2, "also at its end");
}

#[test]
fn code_within_a_list_is_read_once() {
    let theme = Theme::quiet_dark();
    let mut stream = MarkdownStream::growing();
    stream.push("1. Do this:\n\n   ```rust\n   /* a comment\n");
    stream.layout(&theme, 80);
    work();
    let mut whole = String::new();
    for number in 0..200 {
        let line = format!("   line {number}\n");
        stream.push(&line);
        whole.push_str(&line);
        stream.layout(&theme, 80);
        assert!(work().0 <= 2, "line {number}");
    }
    stream.push("   */ fn a() {}\n   ```\n");
    stream.layout(&theme, 80);
    let (grown, _) = (stream.rows().to_vec(), stream.finish());
    stream.layout(&theme, 80);
    assert_eq!(stream.rows(), grown);
    assert_eq!(stream.rows(), render(stream.source(), &theme, 80).rows);
}

#[test]
fn what_a_line_will_be_is_not_guessed_from_its_marks() {
    let theme = Theme::quiet_dark();
    // A list below a sentence is no heading for a moment, a table no text with bars.
    let text = "Steps:\n- one\n- **two**\n\n| name | value |\n|---|--:|\n| a | `1` |\n\n***bold***\n\n---\n";
    let mut stream = MarkdownStream::growing();
    let mut pushed = String::new();
    for c in text.chars() {
        stream.push(c.encode_utf8(&mut [0; 4]));
        pushed.push(c);
        stream.layout(&theme, 60);
        for row in stream.rows() {
            let shown = row.drawn();
            assert!(!shown.contains(['*', '`', '|', '-']), "{pushed:?}: {shown:?}");
            let is_bold = |span: &ratatui::text::Span<'_>| {
                span.style.add_modifier.contains(ratatui::style::Modifier::BOLD)
            };
            assert!(!(shown.starts_with("Steps") && row.spans.iter().any(is_bold)), "{pushed:?}: a heading");
        }
    }
}

#[test]
fn a_change_of_width_lays_out_anew() {
    let theme = Theme::quiet_dark();
    let mut stream = MarkdownStream::new();
    stream.push("one two three\n\n```\ncode that is long\n");
    stream.layout(&theme, 40);
    stream.layout(&theme, 8);
    assert_eq!(stream.rows(), render(stream.source(), &theme, 8).rows);
    stream.layout(&Theme::quiet_light(), 8);
    assert_eq!(stream.rows(), render(stream.source(), &Theme::quiet_light(), 8).rows);
}

#[test]
fn marks_are_not_seen_while_their_other_half_is_on_its_way() {
    let theme = Theme::quiet_dark();
    let text = "Some **bold words** and `code`.\n\n- an *item";
    let mut stream = MarkdownStream::growing();
    let mut pieces = text.chars();
    let mut pushed = String::new();
    for c in pieces.by_ref() {
        stream.push(c.encode_utf8(&mut [0; 4]));
        pushed.push(c);
        stream.layout(&theme, 60);
        let shown: String = stream.rows().iter().map(Row::drawn).collect();
        assert!(!shown.contains(['*', '`']), "{pushed:?}: {shown:?}");
    }
    // At the end everything is what it is.
    stream.finish();
    stream.layout(&theme, 60);
    assert!(stream.rows().iter().any(|row| row.drawn().contains("an *item")));
}
