//! All processes of one command: its group, and on Linux also descendants that left the group.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The processes of one command.
#[derive(Debug)]
pub struct Tree {
    group: Pid,
    strays: strays::Strays,
}

impl Tree {
    /// The tree of a process group whose leader is the shell.
    pub fn of(group: Pid) -> Self {
        Self { group, strays: strays::Strays::default() }
    }

    /// Sends a signal to the group and to the descendants outside it, those found by an earlier call included.
    pub fn signal(&mut self, signal: Signal) {
        // First look, then signal: once its parent has died, a stray can't be told from any other process.
        self.strays.find(self.group);
        report(kill_process_group(self.group, signal), self.group);
        self.strays.signal(signal);
    }

    /// Something of it still runs.
    pub fn is_alive(&self) -> bool {
        test_kill_process_group(self.group).is_ok() || self.strays.are_alive()
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
    //! Descendants that made a group or a session of their own, found through `/proc` and held by pidfd, so that a
    //! process number that is used again is never mistaken for them.

    use super::report;
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal, test_kill_process};
    use std::collections::HashSet;
    use std::os::fd::OwnedFd;

    #[derive(Debug, Default)]
    pub struct Strays(Vec<(Pid, OwnedFd)>);

    impl Strays {
        /// Adds the descendants of a group, and of the strays known, that are outside the group.
        pub fn find(&mut self, group: Pid) {
            let processes = processes();
            let mut family: HashSet<i32> = self.0.iter().map(|(pid, _)| pid.as_raw_pid()).collect();
            family.insert(group.as_raw_pid());
            family.extend(
                processes
                    .iter()
                    .filter(|process| process.group == group.as_raw_pid())
                    .map(|process| process.pid),
            );
            // Children may be listed before their parents, so look until nothing is new.
            loop {
                let before = family.len();
                for process in &processes {
                    if family.contains(&process.parent)
                        && family.insert(process.pid)
                        && process.group != group.as_raw_pid()
                    {
                        self.hold(process.pid);
                    }
                }
                if family.len() == before {
                    return;
                }
            }
        }

        pub fn signal(&self, signal: Signal) {
            for (pid, handle) in &self.0 {
                report(pidfd_send_signal(handle, signal), *pid);
            }
        }

        pub fn are_alive(&self) -> bool {
            self.0.iter().any(|(pid, _)| test_kill_process(*pid).is_ok())
        }

        fn hold(&mut self, pid: i32) {
            // It may have ended since it was listed: then there is nothing to end.
            if let Some(pid) = Pid::from_raw(pid)
                && let Ok(handle) = pidfd_open(pid, PidfdFlags::empty())
            {
                self.0.push((pid, handle));
            }
        }
    }

    struct Process {
        pid: i32,
        parent: i32,
        group: i32,
    }

    /// All processes; those that end meanwhile are left out.
    fn processes() -> Vec<Process> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        pids.filter_map(|pid| parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)).collect()
    }

    /// Reads parent and group out of a `stat` line. The program's name stands in brackets and may hold anything.
    fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
        let stat = String::from_utf8_lossy(stat);
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(1);
        Some(Process { pid, parent: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_name_with_brackets_and_blanks_does_not_confuse() {
            let process = parse(7, b"7 (a ) 1 2 (b) S 42 43 44 0 -1").unwrap();
            assert_eq!((process.pid, process.parent, process.group), (7, 42, 43));
            assert!(parse(7, b"").is_none());
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod strays {
    //! Other systems offer no cheap list of descendants: the group has to do.

    use rustix::process::{Pid, Signal};

    #[derive(Debug, Default)]
    pub struct Strays;

    impl Strays {
        pub const fn find(&mut self, _group: Pid) {}
        pub const fn signal(&self, _signal: Signal) {}
        pub const fn are_alive(&self) -> bool {
            false
        }
    }
}
