//! One writer at a time per file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Number of entries from which the table is swept.
const SWEEP: usize = 64;

/// One writer at a time per file, whatever names it is called by.
#[derive(Debug, Default)]
pub struct FileLocks {
    files: Mutex<HashMap<PathBuf, Weak<AsyncMutex<()>>>>,
}

impl FileLocks {
    /// Waits until nobody else holds the file; it is free again when the guard is dropped.
    pub async fn lock(&self, path: &Path) -> OwnedMutexGuard<()> {
        self.entry(real(path)).lock_owned().await
    }

    fn entry(&self, path: PathBuf) -> Arc<AsyncMutex<()>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= SWEEP {
            files.retain(|_, lock| lock.strong_count() > 0);
        }
        if let Some(lock) = files.get(&path).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::new(AsyncMutex::new(()));
        files.insert(path, Arc::downgrade(&lock));
        drop(files);
        lock
    }
}

/// The path without links; of a file that does not exist yet, its folder's.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_has_one_writer_under_all_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, other] = ["file", "link", "other"].map(|name| dir.path().join(name));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let locks = FileLocks::default();
        let held = locks.lock(&file).await;
        tokio::select! {
            biased;
            _ = locks.lock(&link) => panic!("two writers"),
            _ = locks.lock(&other) => {}
        }
        drop(held);
        drop(locks.lock(&link).await);
    }

    #[tokio::test]
    async fn the_table_does_not_grow() {
        let locks = FileLocks::default();
        for number in 0..10 * SWEEP {
            drop(locks.lock(Path::new(&format!("/nowhere/{number}"))).await);
        }
        assert!(locks.files.lock().unwrap().len() <= SWEEP);
    }
}
