//! Which process groups are ours: those whose shell runs, and those that a finished command has left behind.
//!
//! Invariant: a number is forgotten before it can mean something else. A group keeps its number for itself while it has
//! members, and the shell that led it has been reaped; so a process of that number is a sign of a new use. What is left
//! is looked at before each use, never in between.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process, test_kill_process_group};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The groups of all commands.
#[derive(Debug, Default)]
pub struct Groups {
    /// Groups whose shell runs, with the number of the command.
    running: BTreeMap<i32, u64>,
    left: BTreeSet<i32>,
    /// Numbers of the commands that have become background jobs: others look after them.
    detached: BTreeSet<u64>,
}

impl Groups {
    /// A shell has been started as the leader of this group.
    pub fn started(&mut self, group: Pid, command: u64) {
        self.sweep();
        self.running.insert(group.as_raw_pid(), command);
    }

    /// The leader of this group has ended and is reaped.
    pub fn ended(&mut self, group: Pid) {
        self.running.remove(&group.as_raw_pid());
        if is_left(group) {
            self.left.insert(group.as_raw_pid());
        }
    }

    /// The command of this group is a background job from now on: neither we nor the guard end it.
    pub fn detached(&mut self, group: Pid, command: u64) {
        self.running.remove(&group.as_raw_pid());
        self.detached.insert(command);
    }

    /// Numbers of the commands that run, and of those that others look after: what is left behind is none of theirs.
    pub fn spared(&self) -> BTreeSet<u64> {
        self.running.values().chain(&self.detached).copied().collect()
    }

    /// Groups that finished commands have left behind.
    pub fn left(&mut self) -> Vec<Pid> {
        self.sweep();
        self.left.iter().filter_map(|group| Pid::from_raw(*group)).collect()
    }

    /// All of them as a line for the guard: numbers, those left behind with `~` in front, and the numbers of commands that
    /// it must spare with `-` in front.
    pub fn line(&self) -> String {
        let mut line = String::new();
        for group in self.running.keys() {
            // Writing into a string can't fail.
            let _infallible = write!(line, "{group} ");
        }
        for group in &self.left {
            let _infallible = write!(line, "~{group} ");
        }
        for command in &self.detached {
            let _infallible = write!(line, "-{command} ");
        }
        line.push('\n');
        line
    }

    fn sweep(&mut self) {
        self.left.retain(|group| Pid::from_raw(*group).is_some_and(is_left));
    }
}

/// The group has members and no leader.
pub fn is_left(group: Pid) -> bool {
    let has_members = !matches!(test_kill_process_group(group), Err(Errno::SRCH));
    has_members && test_kill_process(group) == Err(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn a_group_is_left_behind_only_while_it_has_members_and_no_leader() {
        let mut shell = Command::new("/bin/sh")
            // The inner one ends with the pipe, and tells so by closing its own.
            .args(["-c", "(cat <&3) 3<&0 & exit"])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, mut output) = (shell.stdin.take().unwrap(), shell.stdout.take().unwrap());
        let group = Pid::from_child(&shell);
        let mut groups = Groups::default();
        groups.started(group, 1);
        assert_eq!(groups.line(), format!("{group} \n"));
        assert_eq!(groups.spared(), BTreeSet::from([1]));
        shell.wait().unwrap();
        groups.ended(group);
        assert_eq!(groups.line(), format!("~{group} \n"));
        assert_eq!((groups.left(), groups.spared().len()), (vec![group], 0));

        drop(input);
        output.read_to_end(&mut Vec::new()).unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !groups.left().is_empty() {
            // Only until whoever inherited it has reaped it.
            assert!(std::time::Instant::now() < deadline);
            std::thread::yield_now();
        }
        assert_eq!(groups.line(), "\n");
    }

    #[test]
    fn a_command_in_the_background_is_spared() {
        let (us, other) = (rustix::process::getpid(), Pid::INIT);
        let mut groups = Groups::default();
        groups.started(us, 7);
        groups.started(other, 8);
        groups.detached(us, 7);
        assert_eq!(groups.spared(), BTreeSet::from([7, 8]));
        assert_eq!(groups.line(), "1 -7 \n");
    }

    #[test]
    fn a_number_with_a_leader_has_a_new_use() {
        let mut other = Command::new("sleep").arg("60").process_group(0).spawn().unwrap();
        let mut groups = Groups::default();
        groups.ended(Pid::from_child(&other));
        assert!(groups.left().is_empty());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
