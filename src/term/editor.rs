//! The user's editor on a text.

use crate::config::env::Env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Why the text was not edited. The text as it was before is still the caller's.
#[derive(Debug, thiserror::Error)]
pub enum EditorError {
    /// The temporary file could not be made.
    #[error(
        "No temporary file could be made in {folder}, so the editor was not started: {source}. The text is unchanged."
    )]
    File {
        /// Where.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The editor could not be started, or its file not read again.
    #[error(
        "The editor `{command}` could not be used: {source}. The text is unchanged; set VISUAL or EDITOR to another."
    )]
    Unusable {
        /// What was to be run.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// It ended with a failure.
    #[error("The editor `{command}` ended with {status}. The text is unchanged.")]
    Failed {
        /// What was run.
        command: String,
        /// How it ended.
        status: ExitStatus,
    },
}

/// The user's editor: `VISUAL`, else `EDITOR`, else `vi`. It may have arguments.
pub fn command(env: &Env) -> &str {
    env.get("VISUAL").or_else(|| env.get("EDITOR")).unwrap_or("vi")
}

/// Lets the user edit `text` with this command in a file of `folder`, which only the user can read and which is removed
/// afterwards. Returns the new text without the line end that editors add. Needs the terminal: run it inside
/// [`super::handoff::hand_over`].
///
/// # Errors
///
/// See [`EditorError`].
pub fn edit(command: &str, text: &str, folder: &Path) -> Result<String, EditorError> {
    let file = Temporary::new(folder, text)
        .map_err(|source| EditorError::File { folder: folder.to_owned(), source })?;
    let unusable = |source| EditorError::Unusable { command: command.to_owned(), source };
    // Through a shell, as git does: the command may have arguments and quotes.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{command} \"$1\""))
        .arg("sh")
        .arg(&file.0)
        .status()
        .map_err(unusable)?;
    if !status.success() {
        return Err(EditorError::Failed { command: command.to_owned(), status });
    }
    let mut edited = std::fs::read_to_string(&file.0).map_err(unusable)?;
    if edited.ends_with('\n') && !text.ends_with('\n') {
        edited.pop();
    }
    Ok(edited)
}

struct Temporary(PathBuf);

impl Temporary {
    fn new(folder: &Path, text: &str) -> io::Result<Self> {
        // Markdown: most editors colour it and wrap it.
        let path = folder.join(format!("mynah-{}.md", uuid::Uuid::new_v4()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let temporary = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(temporary)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::warn!("{} could not be removed: {error}", self.0.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edited_text_comes_back_and_no_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let edited = edit("printf 'more\\n' >>", "some ", folder.path()).unwrap();
        assert_eq!(edited, "some more");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_failure_is_told_and_no_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let error = edit("false", "text", folder.path()).unwrap_err();
        assert!(error.to_string().contains("`false`") && error.to_string().contains("unchanged"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let error = edit("true", "text", &folder.path().join("missing")).unwrap_err();
        assert!(matches!(error, EditorError::File { .. }), "{error}");
    }

    #[test]
    fn the_editor_is_the_users() {
        assert_eq!(command(&Env::of([("VISUAL", "code -w"), ("EDITOR", "ed")])), "code -w");
        assert_eq!(command(&Env::of([("EDITOR", "ed")])), "ed");
        assert_eq!(command(&Env::of([])), "vi");
    }
}
