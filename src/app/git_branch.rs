//! Which branch is checked out. Read from git's own files: starting `git` would cost more than all else at the start.

use std::path::{Path, PathBuf};

/// Characters of a commit that stand for it where no branch is checked out.
const SHORT_COMMIT: usize = 7;

/// The branch of the checkout that holds `folder`; the beginning of a commit when none is checked out. Nothing outside
/// of checkouts.
pub fn of(folder: &Path) -> Option<String> {
    let git = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    let head = std::fs::read_to_string(git_folder(git)?.join("HEAD")).ok()?;
    let head = head.trim();
    match head.strip_prefix("ref: ") {
        Some(name) => Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()),
        None => head.get(..SHORT_COMMIT).map(str::to_owned),
    }
}

/// In work trees and submodules `.git` is a file that names the folder.
fn git_folder(git: PathBuf) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git);
    }
    let text = std::fs::read_to_string(&git).ok()?;
    let named = text.trim().strip_prefix("gitdir: ")?;
    Some(git.parent()?.join(named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn branches_commits_and_work_trees() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("deep/down");
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(of(&folder), None);
        let git = home.path().join(".git");
        fs::create_dir_all(git.join("worktrees/w")).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/fix/lexer\n").unwrap();
        assert_eq!(of(&folder).as_deref(), Some("fix/lexer"));
        fs::write(git.join("HEAD"), "0123456789abcdef0123456789abcdef01234567\n").unwrap();
        assert_eq!(of(&folder).as_deref(), Some("0123456"));
        fs::write(git.join("worktrees/w/HEAD"), "ref: refs/heads/w\n").unwrap();
        fs::write(folder.join(".git"), "gitdir: ../../.git/worktrees/w\n").unwrap();
        assert_eq!(of(&folder).as_deref(), Some("w"));
    }
}
