//! Whose project settings are read. Kept in `state/trust.json`: folders, and whether they are trusted; the nearest
//! folder above decides. Mynah never asks by itself where nobody can answer: without an answer a project is not
//! trusted, and `mynah config trust` says yes.

use super::places::Places;
use super::save::{self, SaveError};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The answers so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust(BTreeMap<PathBuf, bool>);

/// The answers can't be read or written. Until then nothing is trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file can't be read.
    #[error("{} can't be read: {source}. Until then no project is trusted.", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file holds something else.
    #[error(
        "{} is damaged. It was left as it is, and no project is trusted. Mend it or take it away.",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The file can't be written.
    #[error(transparent)]
    Save(#[from] SaveError),
}

impl Trust {
    /// The nearest answer for a folder: its own, or that of a folder above it. No answer is no.
    pub fn trusts(&self, folder: &Path) -> bool {
        canonical(folder).ancestors().find_map(|above| self.0.get(above)).copied().unwrap_or(false)
    }
}

fn file(places: &Places) -> PathBuf {
    places.state.join("trust.json")
}

/// The folder behind all links, so that a link never brings a foreign folder under a trusted one.
fn canonical(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// The answers so far.
///
/// # Errors
/// The file can't be read.
pub fn read(places: &Places) -> Result<Trust, TrustError> {
    let path = file(places);
    match fs::read_to_string(&path) {
        Ok(text) => parse(&text).ok_or(TrustError::Damaged { path }),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Trust::default())
        }
        Err(source) => Err(TrustError::Read { path, source }),
    }
}

fn parse(text: &str) -> Option<Trust> {
    serde_json::from_str(text).ok().map(Trust)
}

/// Whether a project's own settings are read. In doubt they are not.
pub fn is_trusted(places: &Places, project: &Path) -> bool {
    read(places).is_ok_and(|trust| trust.trusts(project))
}

/// Remembers an answer for a folder and everything under it. Gives the folder, behind all links.
///
/// # Errors
/// The answers so far can't be read, or the new one can't be written; then they are as before.
pub fn set(places: &Places, folder: &Path, trusted: bool) -> Result<PathBuf, TrustError> {
    let folder = canonical(folder);
    save::update(&file(places), |text, path| {
        let mut trust = match text {
            None => Trust::default(),
            Some(text) => parse(&text).ok_or_else(|| TrustError::Damaged { path: path.to_owned() })?,
        };
        trust.0.insert(folder.clone(), trusted);
        let text = serde_json::to_string_pretty(&trust.0)
            .map_err(|error| SaveError::Io { path: path.to_owned(), source: error.into() })?;
        Ok::<_, TrustError>(Some(text + "\n"))
    })?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::env::Env;

    fn world() -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let home = dir.path().to_str().expect("a plain path").to_owned();
        let places = Places::from_env(&Env::of([("MYNAH_HOME", &home)]));
        (dir, places)
    }

    #[test]
    fn the_nearest_answer_counts_and_no_answer_is_no() {
        let (dir, places) = world();
        let inner = dir.path().join("work/inner/deep");
        fs::create_dir_all(&inner).expect("it can be made");
        assert!(!is_trusted(&places, &inner));
        set(&places, &dir.path().join("work"), true).expect("it can be written");
        assert!(is_trusted(&places, &inner));
        assert!(!is_trusted(&places, dir.path()));
        set(&places, &dir.path().join("work/inner"), false).expect("it can be written");
        assert!(!is_trusted(&places, &inner));
        assert!(is_trusted(&places, &dir.path().join("work")));
    }

    #[test]
    fn a_link_is_judged_by_where_it_leads() {
        let (dir, places) = world();
        fs::create_dir_all(dir.path().join("mine")).expect("it can be made");
        fs::create_dir_all(dir.path().join("foreign")).expect("it can be made");
        let link = dir.path().join("mine/link");
        std::os::unix::fs::symlink(dir.path().join("foreign"), &link).expect("it can be made");
        set(&places, &dir.path().join("mine"), true).expect("it can be written");
        assert!(!is_trusted(&places, &link));
    }

    #[test]
    fn a_damaged_file_trusts_nobody_and_stays() {
        let (dir, places) = world();
        fs::create_dir_all(&places.state).expect("it can be made");
        fs::write(file(&places), "{\"/\": tr").expect("it can be written");
        assert!(!is_trusted(&places, dir.path()));
        assert!(matches!(set(&places, dir.path(), true), Err(TrustError::Damaged { .. })));
        assert_eq!(fs::read_to_string(file(&places)).expect("it can be read"), "{\"/\": tr");
    }
}
