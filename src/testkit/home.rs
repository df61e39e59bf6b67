//! A user and a project made up for one test: nothing of the real home is read or written.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A home folder, a `MYNAH_HOME` and a project folder, all empty, gone when it is dropped.
///
/// [`Home::variables`] is the environment that goes with them: `Env::of(home.variables())` for code that runs in the
/// test, [`Home::command`] for the program itself.
#[derive(Debug)]
pub struct Home {
    user: String,
    mynah: String,
    project: PathBuf,
    path: String,
    _folder: tempfile::TempDir,
}

impl Home {
    /// Makes the folders.
    ///
    /// # Panics
    /// When the folder for temporary files cannot be written, or is named by no UTF-8.
    #[expect(clippy::new_without_default, reason = "it makes folders, which a default should not")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // The program sees the real path as its working directory; macOS reaches its temporary folder through a link.
        let root = folder.path().canonicalize().expect("the folder is there");
        let make = |name: &str| {
            let path = root.join(name);
            std::fs::create_dir(&path).expect("an empty folder");
            path
        };
        let text =
            |path: PathBuf| path.into_os_string().into_string().expect("a temporary folder named by UTF-8");
        Self {
            user: text(make("user")),
            mynah: text(make("mynah")),
            project: make("project"),
            path: std::env::var("PATH").unwrap_or_default(),
            _folder: folder,
        }
    }

    /// The user's home folder.
    pub fn user(&self) -> &Path {
        Path::new(&self.user)
    }

    /// `MYNAH_HOME`.
    pub fn mynah(&self) -> &Path {
        Path::new(&self.mynah)
    }

    /// The project folder: working directory of [`Home::command`].
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Writes a file of the project, and the folders around it. Gives its whole path.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.project.join(path);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// All environment variables there are.
    pub fn variables(&self) -> [(&'static str, &str); 4] {
        [("HOME", &self.user), ("MYNAH_HOME", &self.mynah), ("PATH", &self.path), ("TERM", "xterm-256color")]
    }

    /// Starts the program in the project, with these variables and an empty standard input. Integration tests know its
    /// path as `env!("CARGO_BIN_EXE_mynah")`.
    pub fn command(&self, binary: impl AsRef<Path>) -> Command {
        let mut command = Command::new(binary.as_ref());
        command.env_clear().envs(self.variables()).current_dir(&self.project).stdin(Stdio::null());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::env::Env;
    use crate::config::places::Places;

    #[test]
    fn places_lie_inside_and_go_away() {
        let home = Home::new();
        let places = Places::from_env(&Env::of(home.variables()));
        assert_eq!((places.home.as_path(), places.config.parent()), (home.user(), Some(home.mynah())));
        let file = home.write("src/a.txt", "a");
        assert!(file.is_file());
        drop(home);
        assert!(!file.exists());
    }

    #[test]
    fn a_program_sees_nothing_else() {
        let home = Home::new();
        home.write("here", "");
        let output = home.command("sh").args(["-c", "test -f here && env"]).output().unwrap();
        assert!(output.status.success());
        let names = String::from_utf8(output.stdout).unwrap();
        // What a shell sets by itself.
        let by_shell = ["PWD", "OLDPWD", "SHLVL", "_"];
        let mut names: Vec<_> = names.lines().filter_map(|line| line.split('=').next()).collect();
        names.retain(|name| !by_shell.contains(name));
        names.sort_unstable();
        assert_eq!(names, ["HOME", "MYNAH_HOME", "PATH", "TERM"]);
    }
}
