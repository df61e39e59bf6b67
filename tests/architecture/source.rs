//! Reads a Rust source as far as paths go: which modules and crates it names, on which line, and whether in test code.
//!
//! No full parser: tokens without comments and strings are enough to find `use` trees and paths in expressions, types and
//! attributes. Names that only a macro puts together are not seen.

use std::collections::BTreeSet;

/// A path that a source names, from its crate on: `crate::llm::BoxFuture`, `std::fs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub path: Vec<String>,
    /// From 1.
    pub line: usize,
    /// Inside `#[cfg(test)]` or a test function.
    pub in_test: bool,
}

/// What there is to know about a source.
#[derive(Debug, Default)]
pub struct Source {
    pub named: Vec<Named>,
    /// Strings of the code itself: text, line, and whether it is of a test.
    pub texts: Vec<(String, usize, bool)>,
    /// Files and folders, without `.rs`, that are modules of the tests only; relative to `src`.
    pub test_modules: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Ident(String),
    /// The content of a string: not code, but `#[path = "…"]` needs it.
    Text(String),
    /// `::`
    Separator,
    Sign(char),
}

/// Reads a source. `file` is its path below `src`.
pub fn read(file: &str, text: &str) -> Source {
    let (tokens, lines) = tokens(text);
    let mut reader = Reader {
        tokens: &tokens,
        lines: &lines,
        at: 0,
        modules: module_of(file),
        inline: Vec::new(),
        depth: 0,
        test_until: 0,
        test_next: false,
        path_next: None,
        file,
        source: Source::default(),
    };
    reader.run();
    reader.source
}

/// The module that a file is: `llm/http.rs` is `llm::http`, `llm/mod.rs` is `llm`, `lib.rs` the root.
fn module_of(file: &str) -> Vec<String> {
    let stem = file.trim_end_matches(".rs");
    let mut parts: Vec<String> = stem.split('/').map(str::to_owned).collect();
    let is_root = parts.len() == 1 && (stem == "lib" || stem == "main");
    if is_root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

struct Reader<'a> {
    tokens: &'a [Token],
    lines: &'a [usize],
    at: usize,
    /// Module path of the file and of the inline modules around.
    modules: Vec<String>,
    /// Brace depth at which each inline module began.
    inline: Vec<usize>,
    depth: usize,
    /// Tokens before this one are test code.
    test_until: usize,
    /// An attribute says that the coming item is for tests.
    test_next: bool,
    path_next: Option<String>,
    file: &'a str,
    source: Source,
}

impl Reader<'_> {
    fn run(&mut self) {
        while self.at < self.tokens.len() {
            let is_attribute =
                self.sign(0, '#') && (self.sign(1, '[') || (self.sign(1, '!') && self.sign(2, '[')));
            if is_attribute {
                self.attribute();
                continue;
            }
            self.begin_test_item();
            match &self.tokens[self.at] {
                Token::Ident(word) if word == "use" && !self.sign(1, '<') => {
                    self.at += 1;
                    self.use_tree(&[]);
                }
                Token::Ident(word) if word == "mod" && self.ident(1).is_some() => self.module(),
                Token::Ident(word) if word == "extern" && self.ident(1) == Some("crate") => {
                    let name = self.ident(2).unwrap_or_default().to_owned();
                    self.name(vec![name], self.at);
                    self.at += 3;
                }
                Token::Ident(_) => self.path(),
                Token::Sign('{') => {
                    self.depth += 1;
                    self.at += 1;
                }
                Token::Sign('}') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.inline.last() == Some(&self.depth) {
                        self.inline.pop();
                        self.modules.pop();
                    }
                    self.at += 1;
                }
                Token::Text(text) => {
                    let in_test = self.at < self.test_until;
                    self.source.texts.push((text.clone(), self.lines[self.at], in_test));
                    self.at += 1;
                }
                Token::Separator | Token::Sign(_) => self.at += 1,
            }
        }
    }

    fn sign(&self, ahead: usize, sign: char) -> bool {
        self.tokens.get(self.at + ahead) == Some(&Token::Sign(sign))
    }

    fn ident(&self, ahead: usize) -> Option<&str> {
        match self.tokens.get(self.at + ahead) {
            Some(Token::Ident(word)) => Some(word),
            _ => None,
        }
    }

    fn is_separator(&self, ahead: usize) -> bool {
        self.tokens.get(self.at + ahead) == Some(&Token::Separator)
    }

    /// `#[…]` and `#![…]`: says whether the coming item, or the whole file, is for tests; names paths of its own.
    fn attribute(&mut self) {
        let of_file = self.sign(1, '!');
        let start = self.at;
        let end = self.closing(start + if of_file { 2 } else { 1 });
        let body = &self.tokens[start..end];
        let has = |word: &str| body.iter().any(|token| matches!(token, Token::Ident(ident) if ident == word));
        let for_tests = has("test") && !has("not") && !has("cfg_attr");
        if let [.., Token::Ident(key), Token::Sign('='), Token::Text(path)] = body
            && key == "path"
        {
            self.path_next = Some(path.clone());
        }
        if of_file && for_tests {
            self.test_until = self.tokens.len();
        }
        self.test_next |= for_tests && !of_file;
        if for_tests {
            self.test_until = self.test_until.max(end);
        }
        while self.at < end {
            match self.tokens[self.at] {
                Token::Ident(_) => self.path(),
                Token::Text(_) | Token::Separator | Token::Sign(_) => self.at += 1,
            }
        }
        self.at = end + 1;
    }

    /// An item that an attribute called test code lasts to its closing brace or its semicolon.
    fn begin_test_item(&mut self) {
        if !std::mem::take(&mut self.test_next) {
            return;
        }
        let mut open = 0_usize;
        let mut end = self.tokens.len();
        for (offset, token) in self.tokens[self.at..].iter().enumerate() {
            match token {
                Token::Sign('{' | '(' | '[') => open += 1,
                Token::Sign(sign @ ('}' | ')' | ']')) => {
                    open = open.saturating_sub(1);
                    if open == 0 && *sign == '}' {
                        end = self.at + offset + 1;
                        break;
                    }
                }
                Token::Sign(';') if open == 0 => {
                    end = self.at + offset + 1;
                    break;
                }
                Token::Ident(_) | Token::Text(_) | Token::Separator | Token::Sign(_) => {}
            }
        }
        self.test_until = self.test_until.max(end);
    }

    /// The token that closes the bracket at `from`.
    fn closing(&self, from: usize) -> usize {
        let mut open = 0_usize;
        for (offset, token) in self.tokens[from..].iter().enumerate() {
            match token {
                Token::Sign('[') => open += 1,
                Token::Sign(']') => {
                    open -= 1;
                    if open == 0 {
                        return from + offset;
                    }
                }
                Token::Ident(_) | Token::Text(_) | Token::Separator | Token::Sign(_) => {}
            }
        }
        self.tokens.len()
    }

    /// `mod name {` and `mod name;`
    fn module(&mut self) {
        let name = self.ident(1).unwrap_or_default().to_owned();
        let path = self.path_next.take();
        if self.sign(2, '{') {
            self.modules.push(name);
            self.inline.push(self.depth);
        } else if self.at < self.test_until {
            let folder = self.file.rsplit_once('/').map_or("", |(folder, _)| folder);
            let place = match path {
                Some(path) => format!("{folder}/{}", path.trim_end_matches(".rs")),
                None => [self.modules.as_slice(), &[name]].concat().join("/"),
            };
            self.source.test_modules.insert(place.trim_start_matches('/').to_owned());
        }
        self.at += 2;
    }

    /// One path in an expression, a type, a pattern or an attribute.
    fn path(&mut self) {
        let start = self.at;
        let continues = start > 0
            && self.tokens[start - 1] == Token::Separator
            && start > 1
            && matches!(&self.tokens[start - 2], Token::Ident(_) | Token::Sign('>'));
        let mut path = vec![self.ident(0).unwrap_or_default().to_owned()];
        self.at += 1;
        while self.is_separator(0) {
            let Some(next) = self.ident(1) else { break };
            path.push(next.to_owned());
            self.at += 2;
        }
        if path.len() > 1 && !continues {
            self.name(path, start);
        }
    }

    /// One branch of a `use`, up to and without the sign that ends it.
    fn use_tree(&mut self, before: &[String]) {
        let start = self.at;
        let mut path = before.to_vec();
        if self.is_separator(0) {
            self.at += 1;
        }
        loop {
            if self.sign(0, '{') {
                self.at += 1;
                while self.at < self.tokens.len() && !self.sign(0, '}') {
                    self.use_tree(&path);
                    if self.sign(0, ',') {
                        self.at += 1;
                    }
                }
                self.at += 1;
                return;
            }
            let Some(word) = self.ident(0) else {
                // The star of `use a::*`.
                self.at += 1;
                break;
            };
            // `self` at the end of a branch is the module before it.
            if word != "self" || path.is_empty() {
                path.push(word.to_owned());
            }
            self.at += 1;
            if !self.is_separator(0) {
                break;
            }
            self.at += 1;
        }
        self.name(path, start);
        if self.ident(0) == Some("as") {
            self.at += 2;
        }
    }

    fn name(&mut self, path: Vec<String>, at: usize) {
        let named = Named {
            path: self.resolve(path),
            line: self.lines.get(at).copied().unwrap_or(0),
            in_test: at < self.test_until,
        };
        self.source.named.push(named);
    }

    /// Makes `self::`, `super::` and our own crate's name a path from `crate` on.
    fn resolve(&self, path: Vec<String>) -> Vec<String> {
        let mut module = match path.first().map(String::as_str) {
            Some("mynah") => Vec::new(),
            Some("self" | "super") => self.modules.clone(),
            _ => return path,
        };
        let mut rest = path.into_iter().peekable();
        while let Some(word) = rest.next_if(|word| matches!(word.as_str(), "self" | "super" | "mynah")) {
            if word == "super" {
                module.pop();
            }
        }
        std::iter::once("crate".to_owned()).chain(module).chain(rest).collect()
    }
}

/// The tokens of a source and the line of each.
fn tokens(text: &str) -> (Vec<Token>, Vec<usize>) {
    let chars: Vec<char> = text.chars().collect();
    let get = |at: usize| chars.get(at).copied().unwrap_or('\0');
    let (mut tokens, mut lines) = (Vec::new(), Vec::new());
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let start = at;
        let token = match (get(at), get(at + 1)) {
            ('/', '/') => {
                while at < chars.len() && get(at) != '\n' {
                    at += 1;
                }
                None
            }
            ('/', '*') => {
                at = end_of_comment(&chars, at);
                None
            }
            ('"', _) => {
                at = end_of_string(&chars, at);
                Some(Token::Text(chars[start + 1..at.saturating_sub(1).max(start + 1)].iter().collect()))
            }
            ('\'', _) => {
                at = end_of_quote(&chars, at);
                None
            }
            (':', ':') => {
                at += 2;
                Some(Token::Separator)
            }
            (c, _) if c.is_alphabetic() || c == '_' => {
                let mut word = String::new();
                while get(at).is_alphanumeric() || get(at) == '_' {
                    word.push(get(at));
                    at += 1;
                }
                if let Some(end) = end_of_prefixed_string(&chars, &word, at) {
                    at = end;
                    Some(Token::Text(String::new()))
                } else if word == "r" && get(at) == '#' {
                    // A raw identifier: the word follows.
                    at += 1;
                    None
                } else {
                    Some(Token::Ident(word))
                }
            }
            (c, _) if c.is_ascii_digit() => {
                while get(at).is_alphanumeric() || get(at) == '_' {
                    at += 1;
                }
                None
            }
            (c, _) => {
                at += 1;
                (!c.is_whitespace()).then_some(Token::Sign(c))
            }
        };
        if let Some(token) = token {
            tokens.push(token);
            lines.push(line);
        }
        line += chars[start..at.min(chars.len())].iter().filter(|c| **c == '\n').count();
    }
    (tokens, lines)
}

/// Behind a block comment; they nest.
fn end_of_comment(chars: &[char], start: usize) -> usize {
    let (mut at, mut open) = (start, 0);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (at, open) = (at + 2, open + 1),
            ('*', Some('/')) => (at, open) = (at + 2, open - 1),
            _ => at += 1,
        }
        if open == 0 {
            break;
        }
    }
    at
}

/// Behind a string whose opening quote is at `start`.
fn end_of_string(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// Behind a string with a prefix (`b"`, `r#"`, …), if `word` is one and `at` the place after it.
fn end_of_prefixed_string(chars: &[char], word: &str, at: usize) -> Option<usize> {
    if !matches!(word, "r" | "b" | "br" | "c" | "cr") {
        return None;
    }
    let hashes = chars[at..].iter().take_while(|c| **c == '#').count();
    if chars.get(at + hashes) != Some(&'"') {
        return None;
    }
    if !word.contains('r') {
        return (hashes == 0).then(|| end_of_string(chars, at));
    }
    let mut end = at + hashes + 1;
    while end < chars.len() {
        let closes = chars[end] == '"'
            && chars[end + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes;
        end += 1;
        if closes {
            return Some(end + hashes);
        }
    }
    Some(end)
}

/// Behind a character literal or a lifetime.
fn end_of_quote(chars: &[char], start: usize) -> usize {
    if chars.get(start + 1) == Some(&'\\') {
        let mut at = start + 3;
        while at < chars.len() && chars[at] != '\'' {
            at += 1;
        }
        return (at + 1).min(chars.len());
    }
    if chars.get(start + 2) == Some(&'\'') { start + 3 } else { start + 1 }
}

/// The paths that a source names outside test code, as text.
fn paths(file: &str, text: &str) -> Vec<String> {
    let named = read(file, text).named.into_iter().filter(|named| !named.in_test);
    named.map(|named| named.path.join("::")).collect()
}

#[test]
fn use_trees_are_taken_apart() {
    let text = "
use crate::{agent::{self, fsm as machine}, llm::*};
use std::{fs, io::Read as _};
pub use ::tokio::sync;
";
    let expected =
        ["crate::agent", "crate::agent::fsm", "crate::llm", "std::fs", "std::io::Read", "tokio::sync"];
    assert_eq!(paths("proto/a.rs", text), expected);
}

#[test]
fn paths_are_found_wherever_code_stands() {
    let text = "
#[tokio::main]
fn f(x: &crate::llm::Model) -> <T as std::fmt::Debug>::Out {
    let v = Vec::<u8>::new();
    $crate::agent::go(crate::jobs::Jobs::default())
}
";
    let expected = [
        "tokio::main",
        "crate::llm::Model",
        "std::fmt::Debug",
        "crate::agent::go",
        "crate::jobs::Jobs::default",
    ];
    assert_eq!(paths("proto/a.rs", text), expected);
}

#[test]
fn comments_strings_and_quotes_are_no_code() {
    let text = r###"// use crate::agent;
/* crate::agent /* crate::agent */ crate::agent */
/// [`crate::agent::Fsm`]
const A: &str = "use crate::agent; \" crate::agent";
const B: &str = r#"crate::agent " crate::agent"#;
const C: &[u8] = b"crate::agent";
const D: [char; 3] = ['"', '\'', 'x'];
fn e<'a>(x: &'a crate::llm::X) {}
"###;
    assert_eq!(paths("proto/a.rs", text), ["crate::llm::X"]);
}

#[test]
fn relative_paths_are_resolved() {
    let text = "
use super::super::agent;
mod inner {
    use super::super::super::jobs;
    use super::here;
}
use self::there;
use mynah::llm;
";
    let expected = [
        "crate::agent",
        "crate::jobs",
        "crate::tools::bash::here",
        "crate::tools::bash::there",
        "crate::llm",
    ];
    assert_eq!(paths("tools/bash.rs", text), expected);
    assert_eq!(paths("tools/mod.rs", "use super::agent;"), ["crate::agent"]);
}

#[test]
fn test_code_is_told_apart() {
    let text = "use crate::a;
#[cfg(test)]
use crate::b;
use crate::c;
#[cfg(test)]
#[allow(unused)]
mod tests {
    fn x() { crate::d::e() }
}
#[cfg(not(test))]
use crate::f;
#[test]
fn y() { crate::g::h() }
use crate::i;
";
    assert_eq!(paths("proto/a.rs", text), ["crate::a", "crate::c", "crate::f", "crate::i"]);
    let lines: Vec<_> = read("proto/a.rs", text).named.iter().map(|named| named.line).collect();
    assert_eq!(lines, [1, 3, 4, 8, 11, 13, 14]);
    assert_eq!(paths("proto/a.rs", "#![cfg(test)]\nuse crate::b;"), Vec::<String>::new());
}

#[test]
fn modules_of_the_tests_are_known() {
    let modules = |file: &str, text: &str| Vec::from_iter(read(file, text).test_modules);
    assert_eq!(modules("llm/sse.rs", "#[cfg(test)]\nmod tests;\nmod other;"), ["llm/sse/tests"]);
    assert_eq!(modules("llm/mod.rs", "#[cfg(test)]\nmod tests;"), ["llm/tests"]);
    assert_eq!(
        modules("llm/sse.rs", "#[cfg(test)]\n#[path = \"sse_tests.rs\"]\nmod tests;"),
        ["llm/sse_tests"]
    );
    assert_eq!(modules("lib.rs", "#[cfg(any(test, feature = \"testkit\"))]\npub mod testkit;"), ["testkit"]);
}
