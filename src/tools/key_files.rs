//! Files that may hold keys or passwords: reading one asks, so a search of a folder around it must not show it unasked.

use std::path::Path;
use std::sync::Arc;

/// Tells such files by their paths.
#[derive(Clone)]
pub struct KeyFiles(Arc<dyn Fn(&Path) -> bool + Send + Sync>);

impl KeyFiles {
    /// Those for which this holds. Gets absolute paths.
    pub fn new(is_key_file: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_key_file))
    }

    /// There are none.
    pub fn none() -> Self {
        Self::new(|_| false)
    }

    /// The file, or folder, is one of them.
    pub fn contains(&self, path: &Path) -> bool {
        (self.0)(path)
    }
}
