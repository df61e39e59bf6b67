//! Walking a folder as `grep` and `find` do: hidden files too, what ignore files name left out, `.git` never, always
//! in the same order.

use super::paths;
use globset::{Glob, GlobBuilder, GlobMatcher};
use ignore::{Walk, WalkBuilder};
use std::path::Path;

/// All files and folders below `root` (a file is its own only entry).
pub fn below(root: &Path) -> Walk {
    WalkBuilder::new(root)
        .hidden(false)
        // Ignore files count wherever they are, not only in checkouts.
        .require_git(false)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .sort_by_file_path(Path::cmp)
        .build()
}

/// A glob: with a slash it is matched against the path below the root, else against the name.
pub struct Pattern {
    glob: GlobMatcher,
    whole_path: bool,
    inverted: bool,
}

impl Pattern {
    /// Reads a glob; a leading `!` turns it round.
    pub fn new(text: &str) -> Result<Self, String> {
        let (inverted, glob) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let whole_path = glob.contains('/');
        let glob = glob.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
        let built = GlobBuilder::new(glob).literal_separator(true).build();
        let glob = built.as_ref().map(Glob::compile_matcher);
        match glob {
            Ok(glob) => Ok(Self { glob, whole_path, inverted }),
            Err(error) => Err(format!("`{}` is no valid glob: {}.", paths::shown(text), error.kind())),
        }
    }

    /// The pattern holds for a path below `root`.
    pub fn matches(&self, path: &Path, root: &Path) -> bool {
        let subject = match (self.whole_path, path.strip_prefix(root), path.file_name()) {
            (true, Ok(below), _) if below != Path::new("") => below,
            (_, _, Some(name)) => Path::new(name),
            (_, _, None) => path,
        };
        self.glob.is_match(subject) != self.inverted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, path, want) in [
            ("*.rs", "a.rs", true),
            ("*.rs", "deep/down/a.rs", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("src/*.rs", "other/src/a.rs", false),
            ("src/**/*.rs", "src/deep/a.rs", true),
            ("src/**/*.rs", "src/a.rs", true),
            ("/src/*.rs", "src/a.rs", true),
            ("**/a.rs", "x/y/a.rs", true),
            ("*.{ts,tsx}", "x/y.tsx", true),
            ("!*.rs", "a.rs", false),
            ("!*.rs", "a.ts", true),
            ("src/", "src", true),
        ] {
            let matched =
                Pattern::new(pattern).unwrap().matches(&Path::new("/root").join(path), Path::new("/root"));
            assert_eq!(matched, want, "{pattern} {path}");
        }
        assert!(Pattern::new("[a").err().unwrap().contains("no valid glob"));
    }
}
