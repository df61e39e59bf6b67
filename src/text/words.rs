//! Where words begin and end, for carets and for double clicks: runs of one kind of character. Scripts without spaces
//! break where the kind of letter changes, as between kanji and kana.
//!
//! A double click takes more than a word where people mean more: a whole address, a whole path.

use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// What a character is to whoever looks for words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// White space, line ends included.
    Space,
    /// A letter or digit of a script that puts spaces between words.
    Word,
    /// Chinese characters.
    Han,
    /// The rounder of the Japanese syllabaries.
    Hiragana,
    /// The other one.
    Katakana,
    /// All else.
    Punctuation,
    /// Never joins its neighbours, whatever they are.
    Alone,
}

/// What a grapheme is.
pub fn kind(grapheme: &str) -> Kind {
    match grapheme.chars().next() {
        None => Kind::Space,
        Some(c) if c.is_whitespace() => Kind::Space,
        Some('\u{3041}'..='\u{309f}') => Kind::Hiragana,
        Some('\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}') => Kind::Katakana,
        Some('\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '々') => {
            Kind::Han
        }
        Some(c) if c.is_alphanumeric() || c == '_' => Kind::Word,
        Some(_) => Kind::Punctuation,
    }
}

/// The far end of the word in one direction: white space is passed first. `step` takes one unit further and says what
/// was passed.
pub fn walk(from: usize, step: impl Fn(usize) -> Option<(usize, Kind)>) -> usize {
    let mut at = from;
    let mut run = None;
    while let Some((next, here)) = step(at) {
        match run {
            None if here == Kind::Space => {}
            None => run = Some(here),
            Some(run) if run == here && here != Kind::Alone => {}
            Some(_) => break,
        }
        at = next;
    }
    at
}

/// The end of the word at or after a place.
pub fn right(text: &str, from: usize) -> usize {
    walk(from, |at| {
        let grapheme = text.get(at..)?.graphemes(true).next()?;
        Some((at + grapheme.len(), kind(grapheme)))
    })
}

/// The start of the word at or before a place.
pub fn left(text: &str, from: usize) -> usize {
    walk(from, |at| {
        let grapheme = text.get(..at)?.graphemes(true).next_back()?;
        Some((at - grapheme.len(), kind(grapheme)))
    })
}

/// The grapheme behind a place, line ends included.
pub fn grapheme_after(text: &str, at: usize) -> Option<Range<usize>> {
    let grapheme = text.get(at..)?.graphemes(true).next()?;
    Some(at..at + grapheme.len())
}

/// The grapheme before a place, line ends included.
pub fn grapheme_before(text: &str, at: usize) -> Option<Range<usize>> {
    let grapheme = text.get(..at)?.graphemes(true).next_back()?;
    Some(at - grapheme.len()..at)
}

/// The grapheme that begins at a place; nothing at the end of a line.
pub fn grapheme(text: &str, at: usize) -> Range<usize> {
    let grapheme = text.get(at..).and_then(|rest| rest.graphemes(true).next()).unwrap_or_default();
    if grapheme.starts_with('\n') { at..at } else { at..at + grapheme.len() }
}

/// The line that holds a place, without its end.
pub fn line(text: &str, at: usize) -> Range<usize> {
    let before = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let after = text.get(at..).and_then(|after| after.find('\n')).map_or(text.len(), |end| at + end);
    before..after
}

/// What a double click at a place takes: the address or the path that holds it, else the run of its kind.
pub fn token(text: &str, at: usize) -> Range<usize> {
    let line = line(text, at);
    let here = grapheme(text, at);
    if here.is_empty() {
        return here;
    }
    let found =
        within(text, &line, at, is_of_address, address).or_else(|| within(text, &line, at, is_of_path, path));
    found.unwrap_or_else(|| {
        let own = kind(text.get(here.clone()).unwrap_or_default());
        let is_own = |grapheme: &&str| kind(grapheme) == own;
        let before = text.get(line.start..at).unwrap_or_default().graphemes(true).rev().take_while(is_own);
        let after = text.get(here.end..line.end).unwrap_or_default().graphemes(true).take_while(is_own);
        let start = at - before.map(str::len).sum::<usize>();
        start..here.end + after.map(str::len).sum::<usize>()
    })
}

/// The run of characters of one set around a place, if `find` sees something in it that holds the place. `find` gets
/// the run and the place in it.
fn within(
    text: &str,
    line: &Range<usize>,
    at: usize,
    is_of: impl Fn(char) -> bool,
    find: impl Fn(&str, usize) -> Option<Range<usize>>,
) -> Option<Range<usize>> {
    let before = text.get(line.start..at)?;
    let after = text.get(at..line.end)?;
    let start = before
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_of(*c))
        .last()
        .map_or(at, |(start, _)| line.start + start);
    let end = after.find(|c| !is_of(c)).map_or(line.end, |end| at + end);
    let found = find(text.get(start..end)?, at - start)?;
    let found = start + found.start..start + found.end;
    found.contains(&at).then_some(found)
}

fn is_of_address(c: char) -> bool {
    !c.is_whitespace()
        && !c.is_control()
        && !matches!(
            c,
            '<' | '>' | '"' | '`' | '│' | '“' | '”' | '„' | '«' | '»' | '、' | '。' | '「' | '」' | '，'
        )
}

/// The address in a run of characters that holds a place.
fn address(run: &str, at: usize) -> Option<Range<usize>> {
    let mut search = 0;
    while let Some(found) = run.get(search..)?.find("://") {
        let slashes = search + found;
        let scheme = run.get(..slashes)?;
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let start = scheme.rfind(|c| !is_of_scheme(c)).map_or(0, |before| {
            before + run.get(before..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        });
        // Two addresses may stand in one run: in a list with commas, in one as the parameter of another.
        let rest = run.get(start..)?;
        let end = start + trimmed(rest).len();
        if start < slashes && (start..end).contains(&at) && end > slashes + 3 {
            return Some(start..end);
        }
        search = slashes + 3;
    }
    None
}

/// Without what rather belongs to the sentence around it: a full stop, a bracket that was opened before.
fn trimmed(address: &str) -> &str {
    let mut left = address;
    loop {
        let Some(last) = left.chars().next_back() else { return left };
        let opening = match last {
            ')' => Some('('),
            ']' => Some('['),
            '}' => Some('{'),
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '…' => None,
            _ => return left,
        };
        if let Some(opening) = opening
            && left.matches(opening).count() >= left.matches(last).count()
        {
            return left;
        }
        left = left.get(..left.len() - last.len_utf8()).unwrap_or_default();
    }
}

fn is_of_path(c: char) -> bool {
    let is_letter = c.is_alphanumeric() && kind(c.encode_utf8(&mut [0; 4])) == Kind::Word;
    is_letter || matches!(c, '/' | '.' | '_' | '-' | '~' | '@' | '+' | '%' | '#' | ':')
}

/// The path in a run of characters, with the line and column behind it.
fn path(run: &str, at: usize) -> Option<Range<usize>> {
    // `::` is no part of a path, but of names in source code.
    let start = run.get(..at)?.rfind("::").map_or(0, |before| before + 2);
    let end = run.get(at..)?.find("::").map_or(run.len(), |end| at + end);
    let path = run.get(start..end)?.trim_end_matches(['.', ':', '#', ',']);
    let (name, has_place) = without_place(path);
    let segments: Vec<&str> = name.split('/').collect();
    let has_end = segments.last().is_some_and(|last| has_extension(last));
    let is_path = match segments.len() {
        1 => has_end && has_place,
        _ => {
            let is_rooted = ["/", "~/", "./", "../"].iter().any(|root| name.starts_with(root));
            let has_words = segments.iter().any(|segment| segment.chars().any(char::is_alphanumeric));
            has_words && (is_rooted || has_end || has_place || segments.len() > 2)
        }
    };
    is_path.then(|| start..start + path.len())
}

/// `src/main.rs:12:5` without `:12:5`.
fn without_place(path: &str) -> (&str, bool) {
    let mut left = path;
    for _ in 0..2 {
        match left.rsplit_once(':') {
            Some((before, number)) if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) => {
                left = before;
            }
            _ => break,
        }
    }
    (left, left.len() < path.len())
}

fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| {
        extension.len() <= 8
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a double click on each place of `|` takes.
    #[test]
    fn a_double_click_takes_what_is_meant() {
        let table: &[(&str, &str)] = &[
            ("one t|wo three", "two"),
            ("|one two", "one"),
            ("one| two", " "),
            ("a.b|_c(1)", "b_c"),
            ("foo|.bar()", "."),
            ("日本|語をテスト", "日本語"),
            ("日本語|をテスト", "を"),
            ("日本語をテス|ト", "テスト"),
            ("so 👩‍🚀|🎉 it is", "👩‍🚀🎉"),
            ("see https://exa|mple.org/a_(b)?q=1#x.", "https://example.org/a_(b)?q=1#x"),
            ("(https://example.org/|a)", "https://example.org/a"),
            ("|<ftp://example.org>, so", "<"),
            ("<f|tp://example.org>, so", "ftp://example.org"),
            ("**https://a.example/x|y**", "https://a.example/xy"),
            ("日本https://example.org/|日本", "https://example.org/日本"),
            ("in src/ma|in.rs:12, there", "src/main.rs:12"),
            ("in src/main.rs:1|2:5: there", "src/main.rs:12:5"),
            ("at main.rs|:7.", "main.rs:7"),
            ("./a/b|/c", "./a/b/c"),
            ("~/.con|fig", "~/.config"),
            ("this and|/or that", "/"),
            ("this an|d/or that", "and"),
            ("use std::f|s::read", "fs"),
            ("foo.b|ar", "bar"),
            ("std::fs|/x", "/"),
            ("(src/ui/pa|ne.rs)", "src/ui/pane.rs"),
            ("`src/ui/pa|ne.rs`", "src/ui/pane.rs"),
            ("日本語src/a|.rs日", "src/a.rs"),
            ("one\nt|wo\nthree", "two"),
            ("one|\ntwo", ""),
            ("", ""),
        ];
        for (marked, taken) in table {
            let at = marked.find('|').unwrap_or(0);
            let text = marked.replacen('|', "", 1);
            assert_eq!(text.get(token(&text, at)), Some(*taken), "{marked:?}");
        }
    }

    #[test]
    fn lines_are_whole() {
        let text = "one\n\nthree";
        assert_eq!((line(text, 1), line(text, 3), line(text, 4), line(text, 7)), (0..3, 0..3, 4..4, 5..10));
    }

    #[test]
    fn words_both_ways() {
        assert_eq!((right("a bc\nd", 1), right("a bc\nd", 4), left("a bc\nd", 5)), (4, 6, 2));
    }

    proptest! {
        #[test]
        fn what_is_taken_holds_the_place(text in "[a-c/.:日を👩‍🚀 \n(){}'h]{0,40}", at in 0_usize..40) {
            let boundaries: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
            if let Some(at) = boundaries.get(at % boundaries.len().max(1)) {
                let taken = token(&text, *at);
                prop_assert!(text.get(taken.clone()).is_some());
                prop_assert!(taken.contains(at) || text.get(*at..).is_some_and(|rest| rest.starts_with('\n')));
                prop_assert!(line(&text, *at).start <= taken.start && taken.end <= line(&text, *at).end);
            }
        }
    }
}
