//! Runs another program for its output. It gets a process group of its own, so that whatever it starts ends with it; it
//! is waited for in every case, so that no zombie stays.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The longest output that is taken, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

/// What a program writes to its standard output, if it ends well within `limit`. Blocks for that long at most.
pub fn output<S: AsRef<OsStr>>(program: &str, arguments: &[S], limit: Duration) -> Option<Vec<u8>> {
    let deadline = Instant::now() + limit;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    let mut child = command.spawn().ok()?;
    let output = child.stdout.take().and_then(|stdout| read(stdout, deadline));
    let ended_well = output.is_some() && wait(&mut child, deadline);
    if !ended_well {
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended a moment ago.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = child.wait();
        return None;
    }
    output
}

fn read(mut stdout: ChildStdout, deadline: Instant) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let left = deadline.checked_duration_since(Instant::now())?;
        let timeout =
            Timespec { tv_sec: i64::try_from(left.as_secs()).ok()?, tv_nsec: left.subsec_nanos().into() };
        let mut waited = [PollFd::new(&stdout, PollFlags::IN)];
        match poll(&mut waited, Some(&timeout)) {
            Ok(0) => return None,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_failed) => return None,
            Ok(_) => {}
        }
        match stdout.read(&mut buffer).ok()? {
            0 => return Some(output),
            read => output.extend_from_slice(buffer.get(..read)?),
        }
        if output.len() > LONGEST {
            return None;
        }
    }
}

/// Whether it ends well in time. Its output is at its end, so this is a matter of microseconds.
fn wait(child: &mut Child, deadline: Instant) -> bool {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            Ok(None) | Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_what_ends_well() {
        let limit = Duration::from_secs(10);
        assert_eq!(output("sh", &["-c", "printf hi"], limit).unwrap(), b"hi");
        assert!(output("sh", &["-c", "printf hi; exit 1"], limit).is_none());
        assert!(output("there-is-no-such-program", &["x"], limit).is_none());
    }

    #[test]
    fn what_hangs_is_killed_with_its_children_and_reaped() {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        let script = format!("sleep 60 & echo $$ $! > {}; wait", pids.display());
        let begun = Instant::now();
        assert!(output("sh", &["-c", &script], Duration::from_millis(300)).is_none());
        assert!(begun.elapsed() < Duration::from_secs(10));
        let pids = std::fs::read_to_string(pids).unwrap_or_default();
        let own = pids.split_whitespace().next().and_then(|pid| pid.parse::<i32>().ok());
        if let Some(pid) = own.and_then(Pid::from_raw) {
            // Not even a zombie is left of ours.
            assert!(rustix::process::test_kill_process(pid).is_err());
        }
    }
}
