//! Tells in which folders of jobs something changes. The system tells it: nothing is looked at again and again.

pub use inner::Watch;

#[cfg(target_os = "linux")]
mod inner {
    use crate::jobs::readiness::watched;
    use crate::proto::ids::JobId;
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use std::collections::{BTreeSet, HashMap};
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// Bytes of events that are read at once.
    const CHUNK: usize = 16 * 1024;

    /// Watches folders.
    #[derive(Debug)]
    pub struct Watch {
        descriptor: AsyncFd<OwnedFd>,
        folders: HashMap<i32, JobId>,
    }

    impl Watch {
        /// Watches nothing yet.
        pub fn new() -> io::Result<Self> {
            let descriptor = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            Ok(Self { descriptor: watched(descriptor, Interest::READABLE)?, folders: HashMap::new() })
        }

        /// Watches this one too.
        pub fn add(&mut self, id: &JobId, folder: &Path) -> io::Result<()> {
            let what = WatchFlags::MODIFY | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
            let number = inotify::add_watch(self.descriptor.get_ref(), folder, what)?;
            self.folders.insert(number, id.clone());
            Ok(())
        }

        /// Watches it no longer.
        pub fn remove(&mut self, id: &JobId) {
            let number = self.folders.iter().find(|(_, known)| *known == id).map(|(number, _)| *number);
            if let Some(number) = number {
                self.folders.remove(&number);
                // Its folder may be gone, and the watch with it.
                let _gone = inotify::remove_watch(self.descriptor.get_ref(), number);
            }
        }

        /// Waits until something changes, and tells where. May be dropped while it waits.
        pub async fn changed(&self) -> BTreeSet<JobId> {
            let mut changed = BTreeSet::new();
            let mut buffer = [MaybeUninit::uninit(); CHUNK];
            while changed.is_empty() {
                let Ok(mut guard) = self.descriptor.readable().await else {
                    return std::future::pending().await;
                };
                let mut reader = inotify::Reader::new(self.descriptor.get_ref(), &mut buffer);
                while let Ok(event) = reader.next() {
                    if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                        changed.extend(self.folders.values().cloned());
                    }
                    changed.extend(self.folders.get(&event.wd()).cloned());
                }
                // It was read until there was nothing more.
                guard.clear_ready();
            }
            changed
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod inner {
    //! Untested. A look each second, as long as there is something to look at.

    use crate::proto::ids::JobId;
    use std::collections::BTreeSet;
    use std::io;
    use std::path::Path;
    use std::time::Duration;

    #[derive(Debug, Default)]
    pub struct Watch(BTreeSet<JobId>);

    #[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
    impl Watch {
        pub fn new() -> io::Result<Self> {
            Ok(Self::default())
        }

        pub fn add(&mut self, id: &JobId, _: &Path) -> io::Result<()> {
            self.0.insert(id.clone());
            Ok(())
        }

        pub fn remove(&mut self, id: &JobId) {
            self.0.remove(id);
        }

        pub async fn changed(&self) -> BTreeSet<JobId> {
            if self.0.is_empty() {
                return std::future::pending().await;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.0.clone()
        }
    }
}
