//! The end of a process that is not our child, without looking again and again.

use crate::jobs::identity::Identity;
use std::io;

/// Waits for the end of a process. May be dropped at any time.
#[derive(Debug)]
pub struct ProcessEnd(inner::Handle);

impl ProcessEnd {
    /// Of the process that is known by this. One that has ended already is fine, and one of the same number that has
    /// started at another time is none.
    pub fn of(process: Identity) -> io::Result<Self> {
        inner::Handle::of(process).map(Self)
    }

    /// Ends when it has ended.
    pub async fn wait(&self) {
        self.0.wait().await;
    }

    /// Ends it at once. Not another one of the same number.
    pub fn kill(&self) {
        self.0.kill();
    }
}

#[cfg(target_os = "linux")]
mod inner {
    use crate::jobs::identity::Identity;
    use crate::jobs::readiness::watched;
    use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    use std::io;
    use std::os::fd::OwnedFd;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// `None`: it has ended.
    #[derive(Debug)]
    pub struct Handle(Option<AsyncFd<OwnedFd>>);

    impl Handle {
        pub fn of(process: Identity) -> io::Result<Self> {
            let Some(pid) = process.pid() else { return Ok(Self(None)) };
            let handle = match pidfd_open(pid, PidfdFlags::empty()) {
                Ok(handle) => handle,
                Err(rustix::io::Errno::SRCH) => return Ok(Self(None)),
                Err(error) => return Err(error.into()),
            };
            // Looked at after it was opened: from here on the number means this process.
            if !process.is_alive() {
                return Ok(Self(None));
            }
            watched(handle, Interest::READABLE).map(|handle| Self(Some(handle)))
        }

        pub async fn wait(&self) {
            if let Some(handle) = &self.0 {
                // It can be read from once the process has ended. Without that it is taken for gone.
                drop(handle.readable().await);
            }
        }

        pub fn kill(&self) {
            if let Some(handle) = &self.0 {
                // One that has ended meanwhile is fine.
                let _ended = pidfd_send_signal(handle, Signal::KILL);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod inner {
    //! Untested. A look each second.

    use crate::jobs::identity::Identity;
    use rustix::process::{Signal, kill_process};
    use std::io;
    use std::time::Duration;

    #[derive(Debug)]
    pub struct Handle(Identity);

    impl Handle {
        #[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
        pub const fn of(process: Identity) -> io::Result<Self> {
            Ok(Self(process))
        }

        pub async fn wait(&self) {
            while self.0.is_alive() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }

        pub fn kill(&self) {
            if let Some(pid) = self.0.pid().filter(|_| self.0.is_alive()) {
                let _ended = kill_process(pid, Signal::KILL);
            }
        }
    }
}
