//! Paths as models write them.
//!
//! A path is cleaned of `.` and `..` by its text alone, and the cleaned path is what permission rules judge and what is
//! then opened: they can't differ.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use unicode_normalization::UnicodeNormalization;

/// Entries of a folder that are looked through for a similar name.
const LOOKED_AT: usize = 2000;

/// The absolute path that is meant. An existing file wins over every rule; the rules are: a leading `@` is dropped,
/// `~` is the home folder, unusual spaces are plain ones, and the forms that macOS gives file names are tried.
pub fn resolve(given: &str, cwd: &Path) -> PathBuf {
    let candidates = candidates(given, cwd, std::env::home_dir().as_deref());
    let existing = candidates.iter().find(|path| path.symlink_metadata().is_ok());
    let existing = existing.or_else(|| {
        // A new file below an existing `@scope` folder.
        candidates.first().filter(|path| {
            given.starts_with('@') && path.parent().is_some_and(|folder| folder != cwd && folder.is_dir())
        })
    });
    existing
        .or_else(|| candidates.get(1))
        .or_else(|| candidates.first())
        .cloned()
        .unwrap_or_else(|| cwd.to_owned())
}

/// All readings of a path: as it is, by the rules, then by the forms of macOS.
fn candidates(given: &str, cwd: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let literal = given.trim_end_matches(['\n', '\r']);
    let plain = plain_spaces(literal.strip_prefix('@').unwrap_or(literal));
    let mut paths = vec![absolute(literal, cwd, home), absolute(&plain, cwd, home)];
    let mut also = |text: &str| {
        if text != plain {
            paths.push(absolute(text, cwd, home));
        }
    };
    also(plain.trim_end_matches("\\n"));
    let narrow = plain.replace(" AM.", "\u{202f}AM.").replace(" PM.", "\u{202f}PM.");
    also(&narrow);
    also(&plain.nfd().collect::<String>());
    let curly = plain.replace('\'', "\u{2019}");
    also(&curly);
    also(&curly.nfd().collect::<String>());
    paths
}

fn plain_spaces(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| c.is_whitespace() && !c.is_ascii();
    if text.contains(is_odd) { Cow::Owned(text.replace(is_odd, " ")) } else { Cow::Borrowed(text) }
}

fn absolute(text: &str, cwd: &Path, home: Option<&Path>) -> PathBuf {
    let path = match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => cwd.join(text),
    };
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(component),
        }
    }
    clean
}

/// Why a path can't be read, with the names that may have been meant.
pub(super) fn missing(given: &str, path: &Path) -> String {
    let given = shown(given.trim_end());
    let Some((folder, name)) = path.parent().zip(path.file_name()) else {
        return format!("{given} does not exist.");
    };
    if !folder.is_dir() {
        let missing = folder.ancestors().take_while(|folder| !folder.exists()).last().unwrap_or(folder);
        return format!("{given} does not exist: there is no folder {}.", shown(&missing.to_string_lossy()));
    }
    let names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .take(LOOKED_AT)
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let near = similar::get_close_matches(name.to_string_lossy().as_ref(), &names, 3, 0.6);
    if near.is_empty() {
        return format!("{given} does not exist.");
    }
    let near: Vec<String> = near.into_iter().map(|name| shown(name).into_owned()).collect();
    format!("{given} does not exist. Similar names in that folder: {}.", near.join(", "))
}

/// What a failed access says to a model.
pub(super) fn failed(given: &str, path: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => missing(given, path),
        std::io::ErrorKind::PermissionDenied => format!("{}: permission denied.", shown(given)),
        _ => format!("{}: {error}.", shown(given)),
    }
}

/// A name for one line of output: control characters, line ends among them, become question marks.
pub(super) fn shown(name: &str) -> Cow<'_, str> {
    if name.contains(char::is_control) {
        Cow::Owned(name.replace(char::is_control, "?"))
    } else {
        Cow::Borrowed(name)
    }
}

/// A path below a folder, with slashes, for one line of output.
pub(super) fn relative(path: &Path, root: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    shown(&below.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        let (cwd, home) = (Path::new("/srv/project"), Some(Path::new("/home/u")));
        for (given, want) in [
            ("a.txt", "/srv/project/a.txt"),
            ("@src/a.rs", "/srv/project/src/a.rs"),
            ("./x/../y//z", "/srv/project/y/z"),
            ("../../../../etc/passwd", "/etc/passwd"),
            ("/abs/./p", "/abs/p"),
            ("~", "/home/u"),
            ("~/notes", "/home/u/notes"),
            ("~other/notes", "/srv/project/~other/notes"),
            ("a\u{a0}b\u{3000}c", "/srv/project/a b c"),
            ("a.txt\n", "/srv/project/a.txt"),
            ("", "/srv/project"),
        ] {
            assert_eq!(candidates(given, cwd, home)[1], Path::new(want), "{given:?}");
        }
    }

    #[test]
    fn an_existing_file_wins_over_the_rules() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["@here", "odd\u{a0}space", "Shot 1\u{202f}PM.png", "caf\u{65}\u{301}", "it\u{2019}s"];
        for name in names {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        for (given, want) in [
            ("@here", "@here"),
            ("odd\u{a0}space", "odd\u{a0}space"),
            ("Shot 1 PM.png", "Shot 1\u{202f}PM.png"),
            ("caf\u{e9}", "caf\u{65}\u{301}"),
            ("it's", "it\u{2019}s"),
            ("@it's\\n", "it's\\n"),
            ("@new", "new"),
        ] {
            assert_eq!(resolve(given, dir.path()), dir.path().join(want), "{given:?}");
        }
        std::fs::create_dir(dir.path().join("@scope")).unwrap();
        assert_eq!(resolve("@scope/new", dir.path()), dir.path().join("@scope/new"));
    }

    #[test]
    fn a_missing_file_is_told_with_similar_names() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.toml"), "").unwrap();
        let missing = |name: &str| missing(name, &resolve(name, dir.path()));
        assert_eq!(
            missing("confg.toml"),
            "confg.toml does not exist. Similar names in that folder: config.toml."
        );
        assert_eq!(missing("zzz"), "zzz does not exist.");
        let want =
            format!("no/such/file does not exist: there is no folder {}.", dir.path().join("no").display());
        assert_eq!(missing("no/such/file"), want);
    }
}
