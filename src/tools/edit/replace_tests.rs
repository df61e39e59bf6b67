use super::*;
use proptest::prelude::*;

fn edit(old: &str, new: &str) -> Edit {
    Edit { old: old.to_owned(), new: new.to_owned() }
}

fn applied(source: &str, edits: &[(&str, &str)]) -> Result<String, Problem> {
    let edits: Vec<Edit> = edits.iter().map(|(old, new)| edit(old, new)).collect();
    apply(source.as_bytes(), &edits).map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn only_what_was_found_is_touched() {
    for (source, old, new, want) in [
        ("a b c", "b", "B", "a B c"),
        // Line ends of the lines that are kept, replaced and new.
        ("a\r\nb\r\nc\r\n", "b\nc", "B\nnew\nC", "a\r\nB\r\nnew\r\nC\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nc\n", "A\nb\nC\n", "A\r\nb\nC\r\n"),
        ("a\rb\rc", "b\n", "B\nx\n", "a\rB\rx\rc"),
        ("one\r\n", "one", "one\ntwo", "one\r\ntwo\r\n"),
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
        ("no end", "end", "end\nmore", "no end\nmore"),
        ("a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"),
        // Loosely: quotes, dashes, spaces, forms, blanks at line ends.
        ("x  \n“q” – it’s\u{a0}y  \nz\t\n", "\"q\" - it's y\nz", "Q\nz", "x  \nQ\nz\t\n"),
        ("say “hi”  \nend", "say \"hi\"\nend", "say \"hi\"\nEND", "say “hi”  \nEND"),
        ("keep  \nfoo \nkeep  \n", "foo", "bar", "keep  \nbar \nkeep  \n"),
        ("let x = 1;\nlet xy = 2;", "let x = 1;  ", "let x = 3;", "let x = 3;\nlet xy = 2;"),
        ("ﬁx ﬁne", "fine", "good", "ﬁx good"),
        // The byte order mark stays.
        ("\u{feff}a\nb", "a\n", "A\n", "\u{feff}A\nb"),
        ("a\nb\nc\n", "b\n", "", "a\nc\n"),
    ] {
        assert_eq!(applied(source, &[(old, new)]).as_deref(), Ok(want), "{source:?} {old:?}");
    }
}

#[test]
fn what_is_found_counts_at_the_level_that_found_it() {
    assert_eq!(applied("“a” \"a\"", &[("\"a\"", "b")]).as_deref(), Ok("“a” b"));
    assert_eq!(applied("a\r\nb a\nb", &[("a\nb", "x")]).as_deref(), Ok("a\r\nb x"));
    let problem = applied("“a”\n“b” “a”", &[("\"a\"", "b")]);
    assert_eq!(problem, Err(Problem::Ambiguous { index: 0, lines: vec![1, 2] }));
}

#[test]
fn all_edits_match_the_original() {
    assert_eq!(applied("a b c", &[("c", "a"), ("a", "b"), ("b", "c")]).as_deref(), Ok("b c a"));
    assert_eq!(applied("ab", &[("b", "B"), ("a", "A")]).as_deref(), Ok("AB"), "touching is not overlapping");
}

#[test]
fn problems() {
    for (source, edits, want) in [
        ("a", vec![("", "b")], Problem::Empty(0)),
        ("a", vec![("a", "b"), ("x", "y")], Problem::Missing(1)),
        ("a\na\na", vec![("a", "b")], Problem::Ambiguous { index: 0, lines: vec![1, 2, 3] }),
        ("abc", vec![("bc", "x"), ("ab", "y")], Problem::Overlap(0, 1)),
        ("abc", vec![("b", "b")], Problem::NoChange),
        ("let xyz", vec![("let x ", "y")], Problem::Missing(0)),
        ("abc", vec![("   ", "y")], Problem::Missing(0)),
    ] {
        assert_eq!(applied(source, &edits), Err(want), "{source:?}");
    }
}

#[test]
fn bytes_that_are_no_text_stay_as_they_are() {
    let source = b"caf\xe9 one\r\ntwo \xff\xfe\r\nthree";
    let result = apply(source, &[edit("one\ntwo", "1\n2"), edit("three", "3")]).unwrap();
    assert_eq!(result, b"caf\xe9 1\r\n2 \xff\xfe\r\n3");
    assert_eq!(apply(source, &[edit("caf\u{fffd} one", "x")]), Err(Problem::NotText(0)));
}

#[test]
fn explanations_say_what_helps() {
    let edits = [edit("a", "b"), edit("  c", "d")];
    let source = b"a\n\tc\n";
    let text = Problem::Missing(1).explain("f", source, &edits);
    assert!(text.starts_with("Could not find oldText of edits[1] in f."), "{text}");
    assert!(text.contains("1 tab in the file, 2 spaces in oldText."), "{text}");
    assert!(text.ends_with("\nThe file was not changed."), "{text}");
    let text = Problem::Ambiguous { index: 0, lines: (1..=12).collect() }.explain("f", source, &edits[..1]);
    assert!(
        text.contains("12 occurrences of oldText of the edit in f (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)")
    );
}

/// Lines of a file as they are, and as a model would write them.
fn line() -> impl Strategy<Value = (String, String)> {
    let content = prop_oneof![
        "[a-z]{1,8}".prop_map(|text| (text.clone(), text)),
        "[a-z]{1,4}".prop_map(|text| (format!("“{text}”"), format!("\"{text}\""))),
        "[a-z]{1,4}".prop_map(|text| (format!("{text}\u{a0}–"), format!("{text} -"))),
        Just((String::new(), String::new())),
    ];
    let blanks = prop_oneof![Just(""), Just("  "), Just("\t")];
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    (content, blanks, end)
        .prop_map(|((file, model), blanks, end)| (format!("{file}{blanks}{end}"), format!("{model}\n")))
}

proptest! {
    #[test]
    fn untouched_bytes_are_identical_and_kept_lines_too(
        before in proptest::collection::vec(line(), 0..8),
        kept in proptest::collection::vec(line(), 0..3),
        after in proptest::collection::vec(line(), 0..8),
        new in "[A-Z]{1,6}",
        wild in any::<bool>(),
    ) {
        let file = |lines: &[(String, String)]| lines.iter().map(|(file, _)| file.as_str()).collect::<String>();
        let model = |lines: &[(String, String)]| lines.iter().map(|(_, model)| model.as_str()).collect::<String>();
        let mut prefix = file(&before).into_bytes();
        if wild {
            prefix.extend_from_slice(b"\xff\n");
        }
        let source = [&prefix[..], b"UNIQUE one\r\n", file(&kept).as_bytes(), b"UNIQUE two\r\n", file(&after).as_bytes()].concat();
        let old = format!("UNIQUE one\n{}UNIQUE two\n", model(&kept));
        let changed = format!("{new}\n{}{new} {new}\n", model(&kept));
        let result = apply(&source, &[edit(&old, &changed)]).unwrap();
        let want = [&prefix[..], format!("{new}\r\n").as_bytes(), file(&kept).as_bytes(), format!("{new} {new}\r\n").as_bytes(), file(&after).as_bytes()].concat();
        prop_assert_eq!(result, want);
    }

    #[test]
    fn an_exact_place_is_replaced_byte_for_byte(
        before in "[a-z \n“é]{0,40}", old in "[A-Z]{3,10}", new in "[a-z\n]{0,10}", after in "[a-z \n“é]{0,40}",
    ) {
        let result = apply(format!("{before}{old}{after}").as_bytes(), &[edit(&old, &new)]).unwrap();
        prop_assert_eq!(String::from_utf8(result).unwrap(), format!("{before}{new}{after}"));
    }
}
