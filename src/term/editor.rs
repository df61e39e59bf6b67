//! The user's editor on a text.

use crate::config::env::Env;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGTERM};
use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// An editor that was told to end gets this long to save what it wants to save.
const GRACE: Duration = Duration::from_secs(2);

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
    // Before it starts: a signal that comes while nobody listens would be lost.
    let status = Signals::listen()
        .and_then(|signals| Ok((start(command, &file.0)?, signals)))
        .and_then(|(editor, signals)| wait(editor, &signals))
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

/// Plain words are a program and its arguments. Anything else goes through a shell, as git does it. (Only then: a shell
/// between us and the editor would have to pass on every signal.)
fn start(command: &str, file: &Path) -> io::Result<Child> {
    const OF_THE_SHELL: &[char] = &[
        '|', '&', ';', '<', '>', '(', ')', '$', '`', '\\', '"', '\'', '*', '?', '[', '#', '~', '=', '%', '\n',
    ];
    let mut words = command.split_whitespace();
    if let Some(program) = words.next().filter(|_| !command.contains(OF_THE_SHELL)) {
        return Command::new(program).args(words).arg(file).spawn();
    }
    // Ctrl+C is for the editor; the shell waits on.
    let script = format!("trap : INT\n{command} \"$1\"");
    Command::new("sh").arg("-c").arg(script).arg("sh").arg(file).spawn()
}

/// Waits for the editor's end. While we wait nobody else hears that the program is to end: then the editor ends first,
/// for without us it would fight with the shell over the terminal.
fn wait(mut editor: Child, signals: &Signals) -> io::Result<ExitStatus> {
    let mut told_at = None;
    loop {
        if let Some(status) = editor.try_wait()? {
            return Ok(status);
        }
        if signals.is_end.load(Ordering::Relaxed) && told_at.is_none() {
            told_at = Some(Instant::now());
            // As when its window is closed: editors save what was not saved.
            if let Some(process) = i32::try_from(editor.id()).ok().and_then(Pid::from_raw) {
                kill_process(process, Signal::HUP)?;
            }
        }
        let left = told_at.map(|told| GRACE.saturating_sub(told.elapsed()));
        if left.is_some_and(|left| left.is_zero()) {
            editor.kill()?;
            return editor.wait();
        }
        signals.wait(left)?;
    }
}

/// The end of a child, and signals that end the program; others hear them, too.
struct Signals {
    woken: UnixStream,
    is_end: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        let (woken, wakes) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        wakes.set_nonblocking(true)?;
        let mut signals = Self { woken, is_end: Arc::default(), registered: Vec::new() };
        for signal in [SIGTERM, SIGHUP] {
            let is_end = Arc::clone(&signals.is_end);
            signals.registered.push(signal_hook::flag::register(signal, is_end)?);
        }
        for signal in [SIGTERM, SIGHUP, SIGCHLD] {
            let wakes = wakes.try_clone()?;
            signals.registered.push(signal_hook::low_level::pipe::register(signal, wakes)?);
        }
        Ok(signals)
    }

    fn wait(&self, limit: Option<Duration>) -> io::Result<()> {
        let limit = limit.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&self.woken, PollFlags::IN)], limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 64];
        // Nothing there is as good as something: the caller looks at everything.
        let _count = (&self.woken).read(&mut bytes);
        Ok(())
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
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
