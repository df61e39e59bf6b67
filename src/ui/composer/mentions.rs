//! What is being completed: read from the text before the caret.

use super::chips::is_chip;

/// What the text before the caret asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// The name of a command.
    Command(String),
    /// The argument of a command.
    Argument {
        /// The command, without its slash.
        command: String,
        /// What of the argument is there.
        typed: String,
    },
    /// A file to mention.
    File(FileQuery),
    /// A path, asked for by the key.
    Path(FileQuery),
}

/// Which files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileQuery {
    /// The folder whose entries are wanted, as it was written (`~/`, `../src/`, `/etc/`); empty: all files of the
    /// project.
    pub folder: String,
    /// What of the name is there.
    pub name: String,
}

impl FileQuery {
    fn of(typed: &str) -> Self {
        let leaves_project = ["/", "~", "./", "../"].iter().any(|start| typed.starts_with(start))
            || typed == "."
            || typed == "..";
        let (folder, name) = match typed.rfind('/') {
            Some(slash) if leaves_project => (typed.get(..=slash), typed.get(slash + 1..)),
            _ => (Some(""), Some(typed)),
        };
        Self { folder: folder.unwrap_or_default().to_owned(), name: name.unwrap_or_default().to_owned() }
    }
}

/// What the text of the line before the caret asks for, and where that begins. `is_first`: it is the first line.
pub fn query(before: &str, is_first: bool) -> Option<(usize, Query)> {
    if is_first && let Some(rest) = before.strip_prefix('/') {
        return match rest.split_once(char::is_whitespace) {
            // A path is no command.
            None if rest.contains('/') => None,
            None => Some((0, Query::Command(rest.to_owned()))),
            Some((command, typed)) => {
                let start = before.len() - typed.len();
                Some((start, Query::Argument { command: command.to_owned(), typed: typed.to_owned() }))
            }
        };
    }
    let quoted = before.rfind("@\"").filter(|at| {
        before.get(at + 2..).is_some_and(|rest| !rest.contains('"')) && starts_word(before, *at)
    });
    if let Some(at) = quoted {
        return Some((at, Query::File(FileQuery::of(before.get(at + 2..)?))));
    }
    let start = word_start(before);
    let typed = before.get(start..)?.strip_prefix('@')?;
    Some((start, Query::File(FileQuery::of(typed))))
}

/// The path before the caret, when the key asks to complete it.
pub fn path(before: &str) -> Option<(usize, Query)> {
    let start = word_start(before);
    let word = before.get(start..)?;
    let looks_like_path = word.contains('/') || word.starts_with('~') || word.starts_with('.');
    looks_like_path.then(|| (start, Query::Path(FileQuery::of(word))))
}

fn word_start(before: &str) -> usize {
    let is_edge =
        |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '{' | '`' | '\'' | '"') || is_chip(c);
    before.char_indices().rev().find(|(_, c)| is_edge(*c)).map_or(0, |(at, c)| at + c.len_utf8())
}

fn starts_word(before: &str, at: usize) -> bool {
    before.get(..at).is_some_and(|head| word_start(head) == at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &str, name: &str) -> Query {
        Query::File(FileQuery { folder: folder.to_owned(), name: name.to_owned() })
    }

    #[test]
    fn queries_are_read_before_the_caret() {
        let table = [
            ("/mo", true, Some((0, Query::Command("mo".to_owned())))),
            ("/mo", false, None),
            ("/usr/bin", true, None),
            (
                "/think hi",
                true,
                Some((7, Query::Argument { command: "think".to_owned(), typed: "hi".to_owned() })),
            ),
            ("see @src/c", true, Some((4, file("", "src/c")))),
            ("see @", false, Some((4, file("", "")))),
            ("mail a@b", false, None),
            ("(@a", false, Some((1, file("", "a")))),
            ("@../x/y", false, Some((0, file("../x/", "y")))),
            ("@~/n", false, Some((0, file("~/", "n")))),
            ("@\"a b", false, Some((0, file("", "a b")))),
            ("@\"a b\" c", false, None),
            ("plain", true, None),
        ];
        for (before, is_first, expected) in table {
            assert_eq!(query(before, is_first), expected, "{before:?}");
        }
        assert_eq!(
            path("cat ./sr"),
            Some((4, Query::Path(FileQuery { folder: "./".to_owned(), name: "sr".to_owned() })))
        );
        assert_eq!(path("word"), None);
    }
}
