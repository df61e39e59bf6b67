//! Web addresses in text: where they begin and end, and runs with them as links.
//!
//! An address ends where people end it: punctuation behind it belongs to the sentence, and a bracket belongs to it only if
//! it was opened within it. Only `http` and `https` are known: nothing else is safe to open at a click.

use super::clean;
use super::wrap::Run;
use ratatui::style::Style;
use std::ops::Range;
use std::sync::Arc;

/// Bytes beyond which an address is data.
const LONGEST: usize = 4 * 1024;

/// The first address in `text` at or after `from`.
pub fn find(text: &str, from: usize) -> Option<Range<usize>> {
    let mut at = from;
    loop {
        let mark = at + text.get(at..)?.find("://")?;
        at = mark + 3;
        let before = text.get(from..mark).unwrap_or_default();
        let letters = before.bytes().rev().take(6).take_while(u8::is_ascii_alphabetic).count();
        let word = before.get(before.len() - letters..).unwrap_or_default();
        let scheme = ["https", "http"].into_iter().find(|scheme| ends_with(word, scheme));
        let Some(scheme) = scheme else { continue };
        let begin = mark - scheme.len();
        let length = rest_length(text.get(at..).unwrap_or_default());
        let name = text.get(at..at + length).unwrap_or_default();
        if name.len() <= LONGEST && name.starts_with(|c: char| c.is_alphanumeric() || c == '[') {
            return Some(begin..at + length);
        }
    }
}

fn ends_with(word: &str, scheme: &str) -> bool {
    word.len()
        .checked_sub(scheme.len())
        .and_then(|at| word.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case(scheme))
}

/// Bytes of what stands behind the scheme.
fn rest_length(text: &str) -> usize {
    let end = text.char_indices().take(LONGEST + 1).find(|(_, c)| ends(*c)).map_or(text.len(), |(at, _)| at);
    let mut url = text.get(..end).unwrap_or_default();
    // Of each kind of bracket, how many more are closed than opened.
    let mut over = [0_i32; 3];
    let brackets = [('(', ')'), ('[', ']'), ('{', '}')];
    for c in url.chars() {
        for (over, (open, close)) in over.iter_mut().zip(brackets) {
            *over += i32::from(c == close) - i32::from(c == open);
        }
    }
    while let Some(last) = url.chars().next_back() {
        let bracket = over.iter_mut().zip(brackets).find(|(_, (_, close))| *close == last);
        let belongs = match bracket {
            Some((over, _)) if *over > 0 => {
                *over -= 1;
                false
            }
            Some(_) => true,
            None => {
                !matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' | '(' | '[' | '{')
            }
        };
        if belongs {
            break;
        }
        for (over, (open, _)) in over.iter_mut().zip(brackets) {
            *over += i32::from(last == open);
        }
        url = url.strip_suffix(last).unwrap_or_default();
    }
    url.len()
}

/// No address goes on behind it: blanks, quotes, and what East Asian text and drawn tables put around one.
fn ends(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || clean::is_unsafe(c)
        || matches!(c, '<' | '>' | '"' | '`' | '|' | '\\' | '^' | '\u{200b}' | '\u{feff}')
        || matches!(c, '“' | '”' | '‘' | '’' | '…' | '«' | '»' | '\u{2500}'..='\u{259f}')
        || matches!(c, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301b}')
        || matches!(c, '（' | '）' | '，' | '：' | '；' | '！' | '？' | '．' | '［' | '］' | '｛' | '｝')
}

/// A line with the addresses in it as links, in a style that `style` makes of theirs. An address that is drawn in several
/// styles, as servers print their ports, is one. What links already stays.
pub fn linked(runs: Vec<Run>, style: impl Fn(Style) -> Style) -> Vec<Run> {
    let line = line_of(&runs);
    let Some(mut address) = line.as_deref().and_then(|line| find(line, 0)) else { return runs };
    // The last one is passed.
    let mut is_over = false;
    let line = line.unwrap_or_default();
    let mut made = Vec::with_capacity(runs.len() + 2);
    let mut url: Arc<str> = line.get(address.clone()).unwrap_or_default().into();
    let mut begin = 0;
    for run in runs {
        let end = begin + run.text.len();
        let mut at = begin;
        while at < end {
            if address.end <= at && !is_over {
                match find(&line, at) {
                    Some(next) => {
                        url = line.get(next.clone()).unwrap_or_default().into();
                        address = next;
                    }
                    None => is_over = true,
                }
            }
            let is_in = address.contains(&at) && run.link.is_none();
            let stop = match () {
                () if run.link.is_some() => end,
                () if is_in => address.end.min(end),
                () if address.start > at => address.start.min(end),
                () => end,
            };
            made.push(Run {
                text: run.text.get(at - begin..stop - begin).unwrap_or_default().to_owned(),
                style: if is_in { style(run.style) } else { run.style },
                link: if is_in { Some(Arc::clone(&url)) } else { run.link.clone() },
                source: run.source + (at - begin),
            });
            at = stop;
        }
        begin = end;
    }
    made
}

/// The runs as one text, unless there can't be an address in it. What links already is no part of one, and what is too
/// long to be read is not searched.
fn line_of(runs: &[Run]) -> Option<String> {
    let length: usize = runs.iter().map(|run| run.text.len()).sum();
    if length > 64 * 1024 || !runs.iter().any(|run| run.link.is_none() && run.text.contains(':')) {
        return None;
    }
    let mut line = String::with_capacity(length);
    for run in runs {
        match run.link {
            None => line.push_str(&run.text),
            // As many bytes in which nothing is found.
            Some(_) => line.extend(std::iter::repeat_n(' ', run.text.len())),
        }
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(range) = find(text, at) {
            at = range.end;
            found.push(text.get(range).unwrap());
        }
        found
    }

    #[test]
    fn addresses_end_where_people_end_them() {
        let table: [(&str, &[&str]); 21] = [
            ("see https://a.b/c.", &["https://a.b/c"]),
            ("(https://a.b/c_(d))", &["https://a.b/c_(d)"]),
            ("(see https://a.b/c).", &["https://a.b/c"]),
            ("[https://a.b/c]", &["https://a.b/c"]),
            ("{\"url\": \"https://a.b/c\"}", &["https://a.b/c"]),
            ("x={https://a.b/c}", &["https://a.b/c"]),
            ("http://[::1]:80/x", &["http://[::1]:80/x"]),
            ("http://x, then HTTPS://Y/z!", &["http://x", "HTTPS://Y/z"]),
            ("<https://a.b?c=d&e=f#g>", &["https://a.b?c=d&e=f#g"]),
            ("git+https://a.b/c.git", &["https://a.b/c.git"]),
            ("'https://a.b/c', 'd'", &["https://a.b/c"]),
            ("**https://a.b/c**", &["https://a.b/c"]),
            ("https://a.b/c\\n", &["https://a.b/c"]),
            ("│https://a.b│", &["https://a.b"]),
            ("请看https://a.b/c。然后", &["https://a.b/c"]),
            ("（https://a.b/语言）", &["https://a.b/语言"]),
            ("https://a.b/c_((((", &["https://a.b/c"]),
            ("https://", &[]),
            ("https://... and http://)", &[]),
            ("ftp://a.b file:///etc/passwd javascript://x", &[]),
            ("plain: text", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(all(text), expected, "{text}");
        }
        assert_eq!(all(&format!("https://a.b/{}", "x".repeat(LONGEST + 1))), [""; 0], "data");
    }

    #[test]
    fn an_address_in_several_styles_is_one() {
        use ratatui::style::Modifier;
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let runs = vec![
            Run::new("Local: http://localhost:", Style::new(), 5),
            Run::new("5173", bold, 40),
            Run::new("/ and more", Style::new(), 50),
        ];
        let made = linked(runs, |style| style.add_modifier(Modifier::UNDERLINED));
        let parts: Vec<_> =
            made.iter().map(|run| (run.text.as_str(), run.link.as_deref(), run.source)).collect();
        let url = Some("http://localhost:5173/");
        assert_eq!(
            parts,
            [
                ("Local: ", None, 5),
                ("http://localhost:", url, 12),
                ("5173", url, 40),
                ("/", url, 50),
                (" and more", None, 51),
            ]
        );
        assert!(made[2].style.add_modifier.contains(Modifier::BOLD | Modifier::UNDERLINED));
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            parts in prop::collection::vec(("[ a(h:/]{0,6}|https?://a\\.b/[)(.c]{0,4}|\\PC{0,4}", any::<bool>()), 0..6)
        ) {
            let runs: Vec<Run> = parts.iter().map(|(text, is_link)| {
                let link = is_link.then(|| "https://known".into());
                Run { link, ..Run::new(text.as_str(), Style::new(), 0) }
            }).collect();
            let before: String = runs.iter().map(|run| run.text.as_str()).collect();
            let made = linked(runs, |style| style);
            let after: String = made.iter().map(|run| run.text.as_str()).collect();
            prop_assert_eq!(after, before);
        }
    }
}
