//! Tells when files of settings, keys or themes change on disk.
//!
//! The system wakes a thread for it, nothing polls. Folders are watched, not files: most editors write a new file and
//! give it the name of the old one. Where a file is a link, the folder of what it points to is watched too.

use crate::config::keymap;
use crate::config::load;
use crate::config::places::Places;
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// One save is several events; so long after the last one it is over.
const QUIET: Duration = Duration::from_millis(60);
/// Other files of a folder may change all the time: what is ours waits no longer than this.
const MOST_WAIT: Duration = Duration::from_secs(1);

/// Watches until it is dropped.
pub struct FileWatch {
    tell: Sender<News>,
}

enum News {
    Paths(Vec<PathBuf>),
    Stop,
}

impl FileWatch {
    /// Begins to watch; `changed` is told on a thread of its own.
    ///
    /// # Errors
    /// The system can't watch, or has no thread left.
    pub fn start(places: &Places, changed: impl Fn() + Send + 'static) -> Result<Self, String> {
        let (tell, hear) = channel();
        let events = tell.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| match event {
            // Our own reading of a file must not make us read it again.
            Ok(event) if event.kind.is_access() => {}
            // It has ended when nobody hears.
            Ok(event) => drop(events.send(News::Paths(event.paths))),
            Err(error) => tracing::warn!("files of settings are not watched any more: {error}"),
        });
        let mut folders = Folders {
            watcher: watcher.map_err(|error| error.to_string())?,
            files: vec![load::user_file(places), keymap::user_file(places)],
            config: places.config.clone(),
            themes: places.config.join("themes"),
            watched: BTreeSet::new(),
            targets: BTreeSet::new(),
        };
        folders.look_again();
        let run = move || folders.run(&hear, &changed);
        thread::Builder::new().name("files".to_owned()).spawn(run).map_err(|error| error.to_string())?;
        Ok(Self { tell })
    }
}

impl Drop for FileWatch {
    fn drop(&mut self) {
        // The thread may have ended before.
        let _ended = self.tell.send(News::Stop);
    }
}

struct Folders {
    watcher: RecommendedWatcher,
    files: Vec<PathBuf>,
    config: PathBuf,
    themes: PathBuf,
    watched: BTreeSet<PathBuf>,
    /// What links among the files point to.
    targets: BTreeSet<PathBuf>,
}

impl Folders {
    fn run(&mut self, hear: &Receiver<News>, changed: &impl Fn()) {
        while let Ok(news) = hear.recv() {
            let mut is_ours = match news {
                News::Paths(paths) => self.concerns(&paths),
                News::Stop => return,
            };
            let until = Instant::now() + MOST_WAIT;
            while Instant::now() < until {
                match hear.recv_timeout(QUIET) {
                    Ok(News::Paths(paths)) => is_ours |= self.concerns(&paths),
                    Ok(News::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => break,
                }
            }
            if is_ours {
                self.look_again();
                changed();
            }
        }
    }

    /// One of our files or folders is among them.
    fn concerns(&mut self, paths: &[PathBuf]) -> bool {
        let mut is_ours = false;
        for path in paths {
            // A folder that was moved or taken away is watched no longer, even if there is a new one of its name.
            if *path == self.config || *path == self.themes {
                self.forget(path);
                is_ours = true;
            }
            let is_theme =
                path.parent() == Some(&self.themes) && path.extension().is_some_and(|end| end == "toml");
            is_ours |= is_theme || self.files.contains(path) || self.targets.contains(path);
        }
        is_ours
    }

    fn forget(&mut self, folder: &Path) {
        if self.watched.remove(folder) {
            // The system has mostly forgotten it by itself.
            let _gone = self.watcher.unwatch(folder);
        }
    }

    /// Watches what is there now.
    fn look_again(&mut self) {
        let mut wanted = BTreeSet::new();
        // Before there is a folder of ours, the one in which it would be.
        let config = if self.config.is_dir() { Some(self.config.as_path()) } else { self.config.parent() };
        wanted.extend(config.map(Path::to_owned));
        wanted.insert(self.themes.clone());
        let themes =
            fs::read_dir(&self.themes).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        self.targets.clear();
        for file in self.files.iter().cloned().chain(themes) {
            let is_link = fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_symlink());
            if let Some(target) = fs::canonicalize(&file).ok().filter(|_| is_link) {
                wanted.extend(target.parent().map(Path::to_owned));
                self.targets.insert(target);
            }
        }
        wanted.retain(|folder| folder.is_dir());
        let former: Vec<PathBuf> = self.watched.difference(&wanted).cloned().collect();
        for folder in former {
            self.forget(&folder);
        }
        for folder in wanted.difference(&self.watched) {
            if let Err(error) = self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                tracing::warn!("{} is not watched for changes: {error}", folder.display());
            }
        }
        self.watched = wanted;
    }
}

#[cfg(test)]
#[path = "watch_files_tests.rs"]
mod tests;
