//! The start of a job.

use super::folders::{self, Owner};
use super::follow::{Keeper, Message};
use super::names::name;
use super::state::{Job, Shared, State};
use super::{JobSpec, JobTable, StartError};
use crate::jobs::keeper::record::{JobRecord, Started};
use crate::jobs::mark::{self, Mark};
use crate::proto::ids::JobId;
use crate::proto::job::JobView;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// A keeper tells within this time whether its job runs.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes that a keeper says at most: it tells its record, in which the command is.
const MOST_SAID: u64 = 16 * 1024 * 1024;

/// The number of a job's mark: each job has a token of its own.
const NUMBER: u64 = 1;

impl JobTable {
    /// Starts a job. Comes back as soon as its shell runs. A caller that goes away meanwhile changes nothing: the job is in
    /// the table.
    pub async fn start(self: &Arc<Self>, spec: JobSpec) -> Result<Arc<JobView>, StartError> {
        let table = Arc::clone(self);
        let started = tokio::spawn(async move { table.start_now(spec).await });
        started.await.unwrap_or(Err(StartError::Closing))
    }

    async fn start_now(&self, spec: JobSpec) -> Result<Arc<JobView>, StartError> {
        let limit = self.shared.setup.limit;
        let place = Place::reserve(&self.shared, &spec.title, |live| live < limit)?;
        let mark = Mark::new(mark::inherited());
        let record = JobRecord {
            version: JobRecord::VERSION,
            id: place.id.clone(),
            title: spec.title,
            command: spec.command,
            cwd: spec.cwd,
            shell: spec.shell,
            terminal: spec.terminal,
            is_adopted: false,
            limit_ms: spec.time_limit.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
            log_cap: self.shared.setup.log_cap,
            printed_before: 0,
            lost_before: 0,
            mark: mark.value(NUMBER).to_string_lossy().into_owned(),
            token: mark.token().to_owned(),
            number: NUMBER,
            running: None,
        };
        let record = place.prepare(record).await?;
        self.keep(&record, Stdio::null(), &spec.env, &spec.secret_env).await
    }

    /// Starts the keeper of a job whose folder is ready, and takes the job into the table.
    pub(super) async fn keep(
        &self,
        record: &JobRecord,
        input: Stdio,
        env: &[(String, OsString)],
        secret_env: &[String],
    ) -> Result<Arc<JobView>, StartError> {
        let folder = self.shared.folder().join(record.id.as_str());
        match start_keeper(&self.shared, &folder, input, env, secret_env).await {
            Ok((record, child)) => {
                let id = record.id.clone();
                let job = Job::new(*record, &folder);
                let view = Arc::clone(&job.view);
                self.shared.with(|state| state.insert(job));
                // The task ends only with us.
                let _told = self.messages.send(Message::Added(id, Keeper::Child(Box::new(child))));
                Ok(view)
            }
            Err(error) => {
                folders::remove(&folder);
                Err(error)
            }
        }
    }
}

/// A name for a job that is about to start. With it goes the count of such jobs.
pub(super) struct Place<'a> {
    shared: &'a Arc<Shared>,
    pub(super) id: JobId,
}

impl<'a> Place<'a> {
    /// Finds a name; `may_start` is asked with the number of jobs that run or are about to.
    pub(super) fn reserve(
        shared: &'a Arc<Shared>,
        title: &str,
        may_start: impl FnOnce(usize) -> bool,
    ) -> Result<Self, StartError> {
        let folder = shared.folder();
        shared.with(|state: &mut State| {
            if state.is_closing {
                return Err(StartError::Closing);
            }
            let live = JobTable::live(state) + state.starting;
            if !may_start(live) {
                return Err(StartError::Limit(live));
            }
            // Folders of earlier runs keep their names, whether they were restored or not.
            let id = name(title, |name| state.is_taken(name) || folder.join(name).exists());
            state.reserve(id.as_str());
            state.starting += 1;
            Ok(Self { shared, id })
        })
    }

    /// Makes the job's folder.
    pub(super) async fn prepare(&self, record: JobRecord) -> Result<JobRecord, StartError> {
        let (shared, folder) = (Arc::clone(self.shared), self.shared.folder().join(self.id.as_str()));
        let made = tokio::task::spawn_blocking(move || {
            own(&shared)?;
            folders::create_job(&folder, &record)
                .map(|()| record)
                .map_err(|error| StartError::Folder { folder, error })
        });
        made.await.unwrap_or(Err(StartError::Closing))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // The name is the job's by now, or that of none.
        self.shared.with(|state| {
            state.release(self.id.as_str());
            state.starting -= 1;
        });
    }
}

/// Makes sure that the jobs of the session are ours. Blocks for the time of a few file operations.
pub(super) fn own(shared: &Shared) -> Result<(), StartError> {
    let folder = shared.folder();
    shared.with(|state| {
        if state.owner.is_some() {
            return Ok(());
        }
        let owner = Owner::take(&folder).and_then(|owner| match owner {
            Some(owner) => owner.claim().map(|()| Some(owner)),
            None => Ok(None),
        });
        state.owner = owner.map_err(|error| StartError::Folder { folder, error })?;
        if state.owner.is_some() { Ok(()) } else { Err(StartError::Busy) }
    })
}

async fn start_keeper(
    shared: &Shared,
    folder: &Path,
    input: Stdio,
    env: &[(String, OsString)],
    secret_env: &[String],
) -> Result<(Box<JobRecord>, Child), StartError> {
    let program = &shared.setup.keeper;
    let mut command = Command::new(&program.path);
    command.arg0("mynah").args(&program.arguments).arg(folder);
    // It may live for long, and must not hold the place where we are.
    command.current_dir("/").stdin(input).stdout(Stdio::piped()).stderr(Stdio::null());
    for name in secret_env {
        command.env_remove(name);
    }
    command.envs(env.iter().map(|(name, value)| (name, value)));
    let mut child = command.spawn().map_err(StartError::Keeper)?;
    let said = timeout(PATIENCE, said(&mut child)).await;
    match said {
        Ok(Ok(Some(Started::Running(record)))) => Ok((record, child)),
        Ok(Ok(Some(Started::Failed(why)))) => {
            // It ends by itself, at once.
            let _ended = timeout(PATIENCE, child.wait()).await;
            Err(StartError::Failed(why))
        }
        Ok(Err(error)) => {
            end(child, folder).await;
            Err(StartError::Keeper(error))
        }
        Ok(Ok(None)) | Err(_) => {
            end(child, folder).await;
            Err(StartError::NoAnswer)
        }
    }
}

/// What a keeper says. What is no answer is passed over.
async fn said(child: &mut Child) -> io::Result<Option<Started>> {
    let Some(output) = child.stdout.take() else { return Ok(None) };
    let mut lines = BufReader::new(output.take(MOST_SAID)).lines();
    while let Some(line) = lines.next_line().await? {
        if let Ok(started) = serde_json::from_str(&line) {
            return Ok(Some(started));
        }
    }
    Ok(None)
}

/// A keeper that does not answer, and what it may have started.
async fn end(mut child: Child, folder: &Path) {
    // It may have ended already.
    let _ended = child.kill().await;
    if let Ok(record) = JobRecord::read(folder) {
        super::follow::end_tree(&record).await;
    }
}
