//! A command that becomes a job while it runs.

use super::launch::Place;
use super::stop::stop;
use super::{JobTable, StartError};
use crate::jobs::detached::Detached;
use crate::jobs::identity::Identity;
use crate::jobs::keeper::control::{self, Ask, ShellEnd};
use crate::jobs::keeper::record::{JobRecord, Running, now};
use crate::jobs::log::files;
use crate::jobs::process::Parts;
use crate::proto::job::{JobView, StoppedBy};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

impl JobTable {
    /// Makes a job of a command that was sent to the background. It counts as one whatever the limit; when that fails, the
    /// command is ended. What it printed so far is the beginning of its log.
    pub async fn adopt(
        self: &Arc<Self>,
        title: &str,
        detached: Box<Detached>,
    ) -> Result<Arc<JobView>, StartError> {
        let (table, title) = (Arc::clone(self), title.to_owned());
        let adopted = tokio::spawn(async move { table.adopt_now(title, detached).await });
        adopted.await.unwrap_or(Err(StartError::Closing))
    }

    async fn adopt_now(
        self: &Arc<Self>,
        title: String,
        mut detached: Box<Detached>,
    ) -> Result<Arc<JobView>, StartError> {
        let place = Place::reserve(&self.shared, &title, |_| true)?;
        let (token, mark) = detached.mark();
        let since = i64::try_from(detached.elapsed().as_millis()).unwrap_or(0);
        let shell = Identity::of(detached.group());
        let nobody = Identity { pid: 0, started: 0 };
        let record = JobRecord {
            version: JobRecord::VERSION,
            id: place.id.clone(),
            title,
            command: detached.command.text.clone(),
            cwd: detached.command.cwd.clone(),
            shell: detached.command.shell.clone(),
            terminal: None,
            is_adopted: true,
            limit_ms: None,
            log_cap: self.shared.setup.log_cap,
            printed_before: detached.printed,
            lost_before: detached.printed.saturating_sub(detached.saved.bytes),
            mark: mark.to_string_lossy().into_owned(),
            token,
            number: detached.number(),
            running: Some(Running { at: now() - since, keeper: nobody, shell }),
        };
        let record = place.prepare(record).await?;
        let folder = self.shared.folder().join(place.id.as_str());
        let (saved, half) = (detached.saved.path.take(), record.log_cap / 2);
        let (begun, printed) = (folder.clone(), detached.saved.bytes);
        let moved = tokio::task::spawn_blocking(move || begin_log(&begun, saved, printed, half)).await;
        if let Ok(Err(error)) | Err(error) = moved.map_err(io::Error::other) {
            // It goes on all the same; its log begins here.
            tracing::warn!(%error, "what a command has printed could not be moved to its log");
        }
        let pipe = detached.take_pipe().map_or_else(Stdio::null, Stdio::from);
        // The keeper gets what the command has got; nothing of it is written down.
        let view = self.keep(&record, pipe, &[], &detached.command.secret_env).await?;
        if let Some(parts) = detached.handed_on() {
            tokio::spawn(reap(Arc::downgrade(self), Arc::clone(&view), parts));
        }
        Ok(view)
    }
}

/// Makes the first file of the log; only the end of a large one.
fn begin_log(folder: &Path, saved: Option<PathBuf>, printed: u64, half: u64) -> io::Result<()> {
    let Some(saved) = saved else { return Ok(()) };
    let begins = printed.saturating_sub(half);
    let path = files::path(folder, begins);
    if begins == 0 && fs::rename(&saved, &path).is_ok() {
        return Ok(());
    }
    let mut from = File::open(&saved)?;
    from.seek(SeekFrom::Start(begins))?;
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    io::copy(&mut from, &mut to)?;
    fs::remove_file(saved)
}

/// The shell is our child still: tells its keeper how it ended. As long as that is not known it looks for a wait for the
/// terminal too, which would never end.
async fn reap(table: std::sync::Weak<JobTable>, view: Arc<JobView>, mut parts: Parts) {
    let group = parts.group;
    let mut wants_terminal = false;
    let status = loop {
        tokio::select! {
            status = parts.child.wait() => break status,
            () = parts.terminal.wanted_by(group), if !wants_terminal => {
                wants_terminal = true;
                if let Some(table) = table.upgrade() {
                    stop(&table.shared, &table.messages, &view.id, StoppedBy::Terminal);
                }
            }
        }
    };
    let end = match status.as_ref().map(|status| (status.code(), status.signal())) {
        Ok((Some(code), _)) => ShellEnd::Exited(code),
        Ok((None, Some(signal))) => ShellEnd::Signalled(signal),
        Ok((None, None)) | Err(_) => return,
    };
    if let Err(error) = control::send(&view.folder, &Ask::ShellEnded(end)) {
        tracing::warn!(%error, job = %view.id, "the end of a job could not be told to its keeper");
    }
}
