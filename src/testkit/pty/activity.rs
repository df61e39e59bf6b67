//! How much a program does: the measure of rest.

use std::path::Path;
use std::time::Duration;

/// What a process has done, in all its threads that are still there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// How often one of its threads went to sleep, having been woken before.
    pub wake_ups: u64,
    /// Processor time.
    pub cpu: Duration,
    /// Bytes written to the terminal.
    pub bytes: u64,
}

impl Activity {
    pub(super) fn of(process: u32, bytes: u64) -> Self {
        let mut activity = Self { bytes, ..Self::default() };
        let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("a running process and /proc");
        for task in tasks {
            let folder = task.expect("an entry of /proc").path();
            activity.wake_ups += sleeps(&folder);
            activity.cpu += cpu(&folder);
        }
        activity
    }

    pub(super) fn since(self, before: Self) -> Self {
        Self {
            wake_ups: self.wake_ups.saturating_sub(before.wake_ups),
            cpu: self.cpu.saturating_sub(before.cpu),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }
}

/// Threads may end while their folders are read; they count nothing then.
fn sleeps(task: &Path) -> u64 {
    let status = std::fs::read_to_string(task.join("status")).unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

fn cpu(task: &Path) -> Duration {
    let figures = std::fs::read_to_string(task.join("schedstat")).unwrap_or_default();
    let nanos = figures.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}
