//! Runs a command of the user that prints a key.

use crate::config::env::Env;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::Command;

/// How long a command may take.
pub const LIMIT: Duration = Duration::from_secs(10);

/// Why a command gave no key. The command itself is not named: it can hold a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyCommandError {
    /// No shell, or no process.
    #[error("could not be started ({0})")]
    Start(#[source] std::io::Error),
    /// It took longer than [`LIMIT`].
    #[error("took longer than {} s", .0.as_secs())]
    TooSlow(Duration),
    /// It failed.
    #[error("failed ({0})")]
    Failed(ExitStatus),
    /// It printed nothing, or no text.
    #[error("printed nothing that could be used")]
    Empty,
}

/// What a command prints, without blanks around it. It runs in `sh`, in a process group of its own, and does not get
/// the `hidden` variables: those that hold other providers' keys.
pub async fn output_of(
    command: &str,
    env: &Env,
    hidden: &[String],
    limit: Duration,
) -> Result<String, KeyCommandError> {
    let mut process = Command::new("sh");
    process.arg("-c").arg(command).env_clear();
    process.envs(env.iter().filter(|(name, _)| !hidden.iter().any(|hidden| hidden == name)));
    process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    #[cfg(unix)]
    process.process_group(0);
    let child = process.spawn().map_err(KeyCommandError::Start)?;
    let mut group = ProcessGroup(child.id());
    let output = tokio::time::timeout(limit, child.wait_with_output()).await;
    let output =
        output.map_err(|_elapsed| KeyCommandError::TooSlow(limit))?.map_err(KeyCommandError::Start)?;
    group.0 = None;
    if !output.status.success() {
        return Err(KeyCommandError::Failed(output.status));
    }
    let text = String::from_utf8(output.stdout).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() { Err(KeyCommandError::Empty) } else { Ok(text.to_owned()) }
}

/// Kills the whole group when it is dropped before the command ended, by the time limit or because the request was
/// aborted: with the handle of the shell only the shell would be killed.
struct ProcessGroup(Option<u32>);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(pid) = self.0.and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?)) {
            // The group may be gone already: then there is nothing to kill.
            let _gone = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn env() -> Env {
        Env::of([("PATH", "/usr/bin:/bin"), ("PLAIN", "p"), ("OTHER_API_KEY", "secret")])
    }

    async fn run(command: &str) -> Result<String, KeyCommandError> {
        output_of(command, &env(), &["OTHER_API_KEY".to_owned()], LIMIT).await
    }

    #[tokio::test]
    async fn the_output_is_the_key() {
        assert_eq!(run("printf ' sk-1\\n\\n'; echo noise >&2").await.unwrap(), "sk-1");
    }

    #[tokio::test]
    async fn it_gets_the_environment_but_no_keys() {
        assert_eq!(run("echo \"$PLAIN-$OTHER_API_KEY-\"").await.unwrap(), "p--");
    }

    #[tokio::test]
    async fn failures_are_told_apart_and_do_not_repeat_the_command() {
        assert!(matches!(run("echo sk-1; exit 3").await, Err(KeyCommandError::Failed(_))));
        assert!(matches!(run("true").await, Err(KeyCommandError::Empty)));
        assert!(!run("echo sk-1; exit 3").await.unwrap_err().to_string().contains("sk-1"));
    }

    #[tokio::test]
    async fn a_slow_command_is_given_up() {
        let ended = output_of("sleep 60", &env(), &[], Duration::from_millis(20)).await;
        assert!(matches!(ended, Err(KeyCommandError::TooSlow(_))));
    }

    #[tokio::test]
    async fn a_command_that_is_given_up_ends_with_all_that_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let pid_file = dir.path().join("pid");
        let command = format!("sleep 60 & echo $! > {}; wait", pid_file.display());
        let running = tokio::spawn(async move { output_of(&command, &env(), &[], LIMIT).await });
        let pid = loop {
            let text = std::fs::read_to_string(&pid_file).unwrap_or_default();
            if let Some(pid) = text.trim().parse().ok().and_then(rustix::process::Pid::from_raw) {
                break pid;
            }
            tokio::task::yield_now().await;
        };
        running.abort();
        assert!(running.await.unwrap_err().is_cancelled());
        // A killed process stays listed until its parent (init, after the shell's death) takes note of it.
        let dead = |stat: String| stat.rsplit(") ").next().is_some_and(|state| state.starts_with('Z'));
        while rustix::process::test_kill_process(pid).is_ok() {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
            if stat.is_ok_and(dead) {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
}
