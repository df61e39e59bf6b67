//! Roles in source code, a line at a time. The state is kept, so that code that streams is read once.
//!
//! The set of [`languages`] is read when the first code comes (about 1 ms); a language's expressions are compiled at its
//! first line (about 15 ms): [`warm`] does both ahead of time.

use super::languages;
use super::wrap::Run;
use crate::theme::role::Role;
use crate::theme::syntax;
use ratatui::style::Style;
use std::ops::Range;
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference};

/// Bytes of one text beyond which nothing more is coloured.
pub const MOST_BYTES: usize = 512 * 1024;

/// Lines of one text beyond which nothing more is coloured.
pub const MOST_LINES: usize = 10_000;

/// Bytes of a line beyond which it stays plain: minified code takes a second a megabyte.
pub const LONGEST_LINE: usize = 4 * 1024;

/// A part of a line and its role.
pub type Part = (Range<usize>, Role);

/// Reads the code of one text, line after line.
#[derive(Clone, Debug)]
pub struct Highlighter {
    /// Nothing for plain text, and once a limit is passed.
    state: Option<(ParseState, ScopeStack)>,
    lines: usize,
    bytes: usize,
}

impl Highlighter {
    /// For the word behind a fence: `rust`, `rs`, `c++`. Unknown words are plain text.
    pub fn for_language(word: &str) -> Self {
        // What people add behind the word: `rust,ignore`, `js {1,3}`.
        let word = word.split([',', ' ', '{', ':']).next().unwrap_or_default();
        Self::new(languages::by_word(word))
    }

    /// For a file, by its name or ending.
    pub fn for_path(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        Self::new(languages::by_file(name))
    }

    /// For text without colours.
    pub const fn plain() -> Self {
        Self { state: None, lines: 0, bytes: 0 }
    }

    fn new(language: Option<&SyntaxReference>) -> Self {
        let language = language.filter(|language| language.name != "Plain Text");
        let state = language.map(|language| (ParseState::new(language), ScopeStack::new()));
        Self { state, lines: 0, bytes: 0 }
    }

    /// Colours are possible: the language is known and no limit passed.
    pub const fn is_coloured(&self) -> bool {
        self.state.is_some()
    }

    /// The next line, without its line break. Parts without a role of their own are left out.
    pub fn line(&mut self, line: &str) -> Vec<Part> {
        #[cfg(test)]
        work::LINES.with(|lines| lines.set(lines.get() + 1));
        self.lines += 1;
        self.bytes += line.len() + 1;
        if self.lines > MOST_LINES || self.bytes > MOST_BYTES {
            self.state = None;
        }
        let Some((state, stack)) = &mut self.state else { return Vec::new() };
        if line.len() > LONGEST_LINE {
            return Vec::new();
        }
        // The languages are written for lines that end in one.
        let with_break = format!("{line}\n");
        let Ok(steps) = state.parse_line(&with_break, languages::set()) else {
            self.state = None;
            return Vec::new();
        };
        let mut parts: Vec<Part> = Vec::new();
        let mut begin = 0;
        let mut failed = false;
        for (at, step) in &steps {
            add(&mut parts, begin..(*at).min(line.len()), stack);
            begin = (*at).min(line.len());
            failed |= stack.apply(step).is_err();
        }
        add(&mut parts, begin..line.len(), stack);
        if failed {
            self.state = None;
        }
        parts
    }
}

/// What was done on this thread: tests count work, not time.
/// A line cut at every change of role, each part in the style that its role has where it is drawn.
pub fn runs(line: &str, parts: &[Part], style: impl Fn(Role) -> Style) -> Vec<Run> {
    let mut runs = Vec::with_capacity(parts.len() * 2 + 1);
    let mut at = 0;
    let mut add = |from: usize, to: usize, role: Role| {
        if let Some(text) = line.get(from..to).filter(|text| !text.is_empty()) {
            runs.push(Run::new(text, style(role), from));
        }
    };
    for (range, role) in parts {
        add(at, range.start, Role::MdCodeBlock);
        add(range.start, range.end, *role);
        at = range.end;
    }
    add(at, line.len(), Role::MdCodeBlock);
    runs
}

#[cfg(test)]
pub(in crate::text) mod work {
    use std::cell::Cell;

    thread_local! {
        pub static LINES: Cell<usize> = const { Cell::new(0) };
    }
}

/// All lines of a text. One that passes a limit stays plain as a whole.
pub fn lines(text: &str, mut highlighter: Highlighter) -> Vec<Vec<Part>> {
    let is_large = text.len() > MOST_BYTES || text.split('\n').nth(MOST_LINES).is_some();
    if is_large {
        highlighter = Highlighter::plain();
    }
    text.split('\n').map(|line| highlighter.line(line)).collect()
}

/// Reads the set of languages and compiles one, for a thread that has time.
pub fn warm(language: &str) {
    Highlighter::for_language(language).line("");
}

fn add(parts: &mut Vec<Part>, range: Range<usize>, stack: &ScopeStack) {
    if range.is_empty() {
        return;
    }
    let role = syntax::role(stack);
    if role == Role::MdCodeBlock {
        return;
    }
    match parts.last_mut() {
        Some((last, known)) if *known == role && last.end == range.start => last.end = range.end,
        _ => parts.push((range, role)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(highlighter: &mut Highlighter, line: &str) -> Vec<(String, Role)> {
        let parts = highlighter.line(line);
        parts.into_iter().map(|(range, role)| (line.get(range).unwrap().to_owned(), role)).collect()
    }

    #[test]
    fn words_have_roles() {
        let mut rust = Highlighter::for_language("rust,ignore");
        let parts = roles(&mut rust, "pub fn main() { let x = \"é\"; } // end");
        for expected in [
            ("fn", Role::SyntaxKeyword),
            ("main", Role::SyntaxFunction),
            ("\"é\"", Role::SyntaxString),
            ("// end", Role::SyntaxComment),
        ] {
            let found = parts.iter().any(|(text, role)| text.trim() == expected.0 && *role == expected.1);
            assert!(found, "{expected:?} in {parts:?}");
        }
    }

    #[test]
    fn state_lasts_over_lines() {
        let mut rust = Highlighter::for_path("src/main.rs");
        assert!(rust.is_coloured());
        roles(&mut rust, "/* begin");
        assert_eq!(roles(&mut rust, "fn x"), [("fn x".to_owned(), Role::SyntaxComment)]);
        roles(&mut rust, "*/");
        assert_ne!(roles(&mut rust, "fn x() {}").first(), Some(&("fn x".to_owned(), Role::SyntaxComment)));
    }

    #[test]
    fn languages_by_the_words_people_use() {
        for word in [
            "rust",
            "rs",
            "python",
            "py",
            "ts",
            "typescript",
            "tsx",
            "jsx",
            "bash",
            "sh",
            "shell",
            "toml",
            "yaml",
            "json",
            "go",
            "c++",
            "cpp",
            "html",
            "css",
            "sql",
            "dockerfile",
            "diff",
            "Rust",
        ] {
            assert!(Highlighter::for_language(word).is_coloured(), "{word}");
        }
        for word in ["", "text", "no-such-language"] {
            assert!(!Highlighter::for_language(word).is_coloured(), "{word}");
        }
        for path in ["Makefile", "a/b/Dockerfile", "x.tar.json", "Cargo.toml"] {
            assert!(Highlighter::for_path(path).is_coloured(), "{path}");
        }
    }

    #[test]
    fn limits_leave_text_plain() {
        let mut rust = Highlighter::for_language("rust");
        assert_eq!(rust.line(&format!("let x = \"{}\";", "a".repeat(LONGEST_LINE))), []);
        assert!(rust.is_coloured(), "only that line");
        rust.bytes = MOST_BYTES;
        assert_eq!(rust.line("let x = 1;"), []);
        assert!(!rust.is_coloured());
        let long = "let x = 1;\n".repeat(MOST_LINES + 1);
        assert!(lines(&long, Highlighter::for_language("rust")).iter().all(Vec::is_empty));
    }
}
