//! A process that is known again: its number and when it started, so that a number that is used a second time is never
//! taken for it.

use rustix::process::Pid;
use serde::{Deserialize, Serialize};

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number.
    pub pid: i32,
    /// When it started, in clock ticks since the machine did; 0 where the system does not tell, or it had ended already.
    pub started: u64,
}

impl Identity {
    /// The process that has this number now.
    pub fn of(pid: Pid) -> Self {
        let pid = pid.as_raw_pid();
        Self { pid, started: started(pid).unwrap_or(0) }
    }

    /// It runs, and is the same.
    pub fn is_alive(self) -> bool {
        self.started != 0 && started(self.pid) == Some(self.started)
    }

    /// As the system takes it.
    pub fn pid(self) -> Option<Pid> {
        Pid::from_raw(self.pid)
    }
}

#[cfg(target_os = "linux")]
fn started(pid: i32) -> Option<u64> {
    super::processes::read(pid).map(|process| process.started)
}

/// Untested. Without a start time nothing of an earlier run is ever taken for ours.
#[cfg(not(target_os = "linux"))]
fn started(_pid: i32) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_of_the_same_number_is_another() {
        let us = Identity::of(rustix::process::getpid());
        assert!(us.is_alive());
        assert!(!Identity { started: us.started + 1, ..us }.is_alive());
        assert!(!Identity { pid: us.pid, started: 0 }.is_alive());
    }
}
