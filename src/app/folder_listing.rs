//! The files that completion offers.

use ignore::WalkBuilder;
use std::path::{Path, PathBuf};

/// More are not offered: nobody picks from them, and a home folder must not fill the memory.
const MOST: usize = 100_000;

/// The entries of a folder as completion names it (`~/`, `../src/`, `/etc/`), folders with a slash at their end. An
/// empty name means all files and folders of the project, by their paths, without what ignore files name.
pub fn entries(folder: &str, cwd: &Path, home: &Path) -> Vec<String> {
    if folder.is_empty() { project(cwd) } else { children(&resolve(folder, cwd, home)) }
}

fn resolve(folder: &str, cwd: &Path, home: &Path) -> PathBuf {
    match folder.strip_prefix('~') {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => cwd.join(folder),
    }
}

fn project(cwd: &Path) -> Vec<String> {
    let walk = WalkBuilder::new(cwd)
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .build();
    // What can't be read is not offered.
    let found = walk.filter_map(Result::ok).filter(|entry| entry.depth() > 0).take(MOST);
    let paths = found.filter_map(|entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let path = entry.path().strip_prefix(cwd).ok()?.to_str()?.to_owned();
        Some(named(path, is_folder))
    });
    let mut paths: Vec<String> = paths.collect();
    paths.sort_unstable();
    paths
}

fn children(folder: &Path) -> Vec<String> {
    let Ok(read) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = read.filter_map(Result::ok).take(MOST).filter_map(|entry| {
        // Links to folders can be gone into.
        let is_folder = entry.path().is_dir();
        Some(named(entry.file_name().to_str()?.to_owned(), is_folder))
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

fn named(mut path: String, is_folder: bool) -> String {
    if is_folder {
        path.push('/');
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_project_without_what_is_ignored_and_folders_as_they_are() {
        let home = tempfile::tempdir().unwrap();
        let cwd = home.path().join("project");
        for folder in [".git", "src", "target"] {
            fs::create_dir_all(cwd.join(folder)).unwrap();
        }
        for (file, text) in
            [(".gitignore", "target\n"), ("src/lib.rs", ""), ("target/out", ""), (".git/HEAD", "")]
        {
            fs::write(cwd.join(file), text).unwrap();
        }
        assert_eq!(entries("", &cwd, home.path()), [".gitignore", "src/", "src/lib.rs"]);
        assert_eq!(entries("~/", &cwd, home.path()), ["project/"]);
        assert_eq!(entries("src/", &cwd, home.path()), ["lib.rs"]);
        assert_eq!(entries("../", &cwd, home.path()), ["project/"]);
        assert!(entries("nothing/", &cwd, home.path()).is_empty());
    }
}
