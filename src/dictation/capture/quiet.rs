//! Keeps what sound libraries print by themselves off the terminal.

use std::fs::OpenOptions;
use std::sync::{Mutex, PoisonError};

/// One at a time: the stream is the whole process's.
static STREAM: Mutex<()> = Mutex::new(());

/// Runs something while standard error goes nowhere. For plain commands only: the full-screen program keeps such prints
/// off its screen all the time.
///
/// If the system does not allow that, it runs all the same.
pub fn quiet_stderr<T>(run: impl FnOnce() -> T) -> T {
    let _only_one = STREAM.lock().unwrap_or_else(PoisonError::into_inner);
    let before = rustix::io::fcntl_dupfd_cloexec(std::io::stderr(), 3);
    let (Ok(before), Ok(nowhere)) = (before, OpenOptions::new().write(true).open("/dev/null")) else {
        return run();
    };
    if rustix::stdio::dup2_stderr(&nowhere).is_err() {
        return run();
    }
    let back = Back(before);
    let result = run();
    drop(back);
    result
}

/// Brings the stream back, also out of a panic.
struct Back(std::os::fd::OwnedFd);

impl Drop for Back {
    fn drop(&mut self) {
        // Nothing can be said where nothing can be said.
        let _first_error = rustix::stdio::dup2_stderr(&self.0);
    }
}
