//! Processes that belong together: their groups, and on Linux also what has left these groups, found by descent and by
//! the mark in its environment.

use super::mark::Marked;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use std::time::Duration;
use strays::Strays;
use tokio::time::{Instant, sleep};

/// Time between two looks at what is being ended: the first, and the longest.
const FIRST_LOOK: Duration = Duration::from_millis(5);
const LONGEST_LOOK: Duration = Duration::from_millis(80);

/// How long KILL is tried. A process that hangs in the kernel does not end before the kernel lets go of it.
const KILL_PATIENCE: Duration = Duration::from_millis(500);

/// Processes that belong together.
#[derive(Debug)]
pub struct Tree {
    groups: Vec<Pid>,
    strays: Strays,
}

impl Tree {
    /// The processes of these groups, and those that are marked, all of them younger than this program.
    pub fn new(groups: Vec<Pid>, marked: Marked) -> Self {
        Self { groups, strays: Strays::new(marked) }
    }

    /// The same of processes that another program has started, at this time (as in [`super::identity::Identity`]) or
    /// later.
    pub fn since(started: u64, groups: Vec<Pid>, marked: Marked) -> Self {
        Self { groups, strays: Strays::since(started, marked) }
    }

    /// Sends a signal to all of them, those found by an earlier call included.
    pub fn signal(&mut self, signal: Signal) {
        // First look, then signal: once its parent has died, a stray without a mark can't be told from any other.
        self.strays.find(&self.groups);
        self.send(signal);
        if signal != Signal::KILL {
            // A stopped process does not notice anything else.
            self.send(Signal::CONT);
        }
    }

    fn send(&self, signal: Signal) {
        for group in &self.groups {
            report(kill_process_group(*group, signal), *group);
        }
        self.strays.signal(signal);
    }

    /// After TERM: waits until nothing runs any more; from `kill_at` on what is left gets KILL.
    pub async fn end(&mut self, kill_at: Instant) {
        let mut pause = FIRST_LOOK;
        while self.is_alive() {
            let now = Instant::now();
            if now >= kill_at + KILL_PATIENCE {
                tracing::warn!(groups = ?self.groups, "processes did not end when killed");
                return;
            }
            if now >= kill_at {
                self.signal(Signal::KILL);
                pause = FIRST_LOOK;
            }
            let next = if now < kill_at { kill_at - now } else { pause };
            sleep(pause.min(next)).await;
            pause = (pause * 2).min(LONGEST_LOOK);
        }
    }

    /// Something of it runs.
    pub fn is_alive(&mut self) -> bool {
        let in_groups = self.strays.find(&self.groups);
        self.groups.retain(|group| in_groups.contains(group));
        !self.groups.is_empty() || self.strays.are_alive()
    }
}

/// A process that is gone already is what was wanted; anything else is worth knowing.
fn report(outcome: rustix::io::Result<()>, pid: Pid) {
    match outcome {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => tracing::warn!(%error, pid = pid.as_raw_pid(), "a process could not be signalled"),
    }
}

#[cfg(target_os = "linux")]
mod strays {
    //! Processes outside the groups, found through `/proc` and held by pidfd, so that a process number that is used
    //! again is never mistaken for them.

    use super::report;
    use crate::jobs::mark::Marked;
    use crate::jobs::processes::{self, Process};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    use std::collections::HashSet;
    use std::os::fd::OwnedFd;

    #[derive(Debug)]
    pub struct Strays {
        /// Nothing older is looked at.
        since: u64,
        marked: Marked,
        held: Vec<(Pid, OwnedFd)>,
    }

    impl Strays {
        pub fn new(marked: Marked) -> Self {
            Self::since(processes::our_start(), marked)
        }

        pub const fn since(since: u64, marked: Marked) -> Self {
            Self { since, marked, held: Vec::new() }
        }

        /// Holds descendants of the groups and of what is held, and what is marked, as far as it is outside the
        /// groups. Returns the groups in which something runs.
        pub fn find(&mut self, groups: &[Pid]) -> HashSet<Pid> {
            self.held.retain(|(_, handle)| is_alive(handle));
            let all = processes::alive(self.since);
            let group = |process: &Process| Pid::from_raw(process.group).filter(|id| groups.contains(id));
            let mut family: HashSet<i32> = self.held.iter().map(|(pid, _)| pid.as_raw_pid()).collect();
            family.extend(all.iter().filter(|process| group(process).is_some()).map(|process| process.id));
            self.hold_descendants(&all, &mut family);
            for process in &all {
                if !family.contains(&process.id) && self.is_marked(process) {
                    family.insert(process.id);
                    self.hold(process);
                }
            }
            self.hold_descendants(&all, &mut family);
            all.iter().filter_map(group).collect()
        }

        fn hold_descendants(&mut self, all: &[Process], family: &mut HashSet<i32>) {
            // Children may be listed before their parents, so look until nothing is new.
            loop {
                let before = family.len();
                for process in all {
                    if family.contains(&process.parent) && family.insert(process.id) {
                        self.hold(process);
                    }
                }
                if family.len() == before {
                    return;
                }
            }
        }

        pub fn signal(&self, signal: Signal) {
            for (pid, handle) in &self.held {
                report(pidfd_send_signal(handle, signal), *pid);
            }
        }

        pub fn are_alive(&self) -> bool {
            self.held.iter().any(|(_, handle)| is_alive(handle))
        }

        fn is_marked(&self, process: &Process) -> bool {
            processes::environment(process.id).is_some_and(|environment| self.marked.matches(&environment))
        }

        fn hold(&mut self, process: &Process) {
            // It may have ended since it was listed, and its number may even be in use again: then it is let go.
            if let Some(pid) = Pid::from_raw(process.id)
                && let Ok(handle) = pidfd_open(pid, PidfdFlags::empty())
                && processes::read(process.id).is_some_and(|now| now.started == process.started)
            {
                self.held.push((pid, handle));
            }
        }
    }

    /// A pidfd can be read from when its process has ended.
    fn is_alive(handle: &OwnedFd) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&now)) == Ok(0)
    }
}

#[cfg(not(target_os = "linux"))]
mod strays {
    //! Other systems offer no cheap list of processes and their environments: the groups have to do.

    use crate::jobs::mark::Marked;
    use rustix::process::{Pid, Signal, test_kill_process_group};
    use std::collections::HashSet;

    #[derive(Debug)]
    pub struct Strays;

    impl Strays {
        pub fn new(_: Marked) -> Self {
            Self
        }
        pub fn since(_: u64, _: Marked) -> Self {
            Self
        }
        pub fn find(&mut self, groups: &[Pid]) -> HashSet<Pid> {
            groups.iter().copied().filter(|group| test_kill_process_group(*group).is_ok()).collect()
        }
        pub const fn signal(&self, _: Signal) {}
        pub const fn are_alive(&self) -> bool {
            false
        }
    }
}
