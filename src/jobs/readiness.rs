//! Descriptors that the runtime waits for.

use std::io;
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Lets the runtime tell when the descriptor, which must be one that can be waited for, is ready.
pub fn watched(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    #[expect(unsafe_code, reason = "the runtime can't see that a descriptor stays the same")]
    // SAFETY: an `OwnedFd` is one descriptor for its whole life, and is closed only when it is dropped, which `AsyncFd`
    // does after it has ended the registration.
    let watched = unsafe { AsyncFd::register_with_interest(descriptor, interest) };
    watched.map_err(io::Error::from)
}
