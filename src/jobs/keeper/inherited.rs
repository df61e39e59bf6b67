//! The descriptors that this process was started with.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Standard input, as a descriptor of its own that children do not get.
pub fn standard_input() -> io::Result<OwnedFd> {
    io::stdin().as_fd().try_clone_to_owned()
}

/// Closes everything but the three standard streams. Whoever started the program that started us may have left a pipe
/// open in it, and waits for its end: a job that lives for days must not hold it. To be called before anything is opened.
#[cfg(target_os = "linux")]
pub fn close_others() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<i32> =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    // The list itself had one of these numbers, and is closed already.
    let is_open = |number: i32| std::fs::symlink_metadata(format!("/proc/self/fd/{number}")).is_ok();
    for number in numbers.into_iter().filter(|number| *number > 2 && is_open(*number)) {
        #[expect(unsafe_code, reason = "nothing of ours has opened a descriptor yet, so nobody owns these")]
        // SAFETY: called before anything else; no value in this process stands for one of these descriptors.
        unsafe {
            rustix::io::close(number);
        }
    }
}

/// Untested elsewhere. What was inherited stays open.
#[cfg(not(target_os = "linux"))]
pub const fn close_others() {}
