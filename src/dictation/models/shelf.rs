//! The models on this disk: a folder each, below one folder.
//!
//! ```text
//!  speech/whisper-tiny/model.safetensors            a file of the model
//!  speech/whisper-tiny/model.safetensors.sha256     what its checksum was when it came
//!  speech/whisper-tiny/model.safetensors.part       what has come of it so far
//!  speech/whisper-tiny.lock                         held by the process that fetches it
//! ```

use super::table::{Entry, Part};
use crate::config::places::Places;
use crate::dictation::transcriber::Cancel;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The folder that holds the models' folders. It need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    folder: PathBuf,
}

/// What is wrong with a model's files.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A file is missing.
    #[error("{0} is missing")]
    Missing(String),
    /// A file has not the size that it had when it came.
    #[error("{file} has {found} bytes and came with {expected}")]
    Size {
        /// Which.
        file: String,
        /// As it is.
        found: u64,
        /// As it was.
        expected: u64,
    },
    /// A file is another than the one that came.
    #[error("{0} has changed since it was fetched: its checksum is another")]
    Changed(String),
    /// A file can't be read.
    #[error("{file} can't be read: {why}")]
    Unreadable {
        /// Which.
        file: String,
        /// Why.
        why: String,
    },
    /// The check was ended.
    #[error("the check was ended early")]
    Cancelled,
}

impl Shelf {
    /// Where models are kept.
    #[must_use]
    pub fn of(places: &Places) -> Self {
        Self { folder: places.cache.join("speech") }
    }

    /// The folder itself.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of one model.
    #[must_use]
    pub fn folder_of(&self, entry: &Entry) -> PathBuf {
        self.folder.join(&entry.name)
    }

    /// What is opened to get this model into memory.
    #[must_use]
    pub fn path_of(&self, entry: &Entry) -> PathBuf {
        let folder = self.folder_of(entry);
        entry.opens.as_ref().map_or_else(|| folder.clone(), |file| folder.join(file))
    }

    /// All its files are here, each of the size it came with. Reads no file through: cheap enough for every start.
    ///
    /// # Errors
    /// The first file that is not.
    pub fn check_sizes(&self, entry: &Entry) -> Result<u64, Fault> {
        let folder = self.folder_of(entry);
        let mut bytes = 0;
        for part in &entry.files {
            let path = folder.join(&part.name);
            let missing = || Fault::Missing(part.name.clone());
            let found = fs::metadata(&path).ok().filter(fs::Metadata::is_file).ok_or_else(missing)?.len();
            let seal = Seal::read(&path).ok_or_else(missing)?;
            if found != seal.size {
                return Err(Fault::Size { file: part.name.clone(), found, expected: seal.size });
            }
            bytes += found;
        }
        Ok(bytes)
    }

    /// Reads all its files through and compares their checksums with those they came with.
    ///
    /// # Errors
    /// The first file that is another.
    pub fn check_whole(&self, entry: &Entry, cancel: &Cancel) -> Result<u64, Fault> {
        let bytes = self.check_sizes(entry)?;
        for part in &entry.files {
            let path = self.folder_of(entry).join(&part.name);
            let unreadable =
                |error: io::Error| Fault::Unreadable { file: part.name.clone(), why: error.to_string() };
            let mut hash = Sha256::new();
            read_into(&mut File::open(&path).map_err(unreadable)?, &mut hash, cancel)
                .map_err(unreadable)?
                .then_some(())
                .ok_or(Fault::Cancelled)?;
            let sum = hexadecimal(&hash.finalize());
            let sealed = Seal::read(&path).is_some_and(|seal| seal.sha256 == sum);
            if !sealed || part.sha256.as_ref().is_some_and(|given| !given.eq_ignore_ascii_case(&sum)) {
                return Err(Fault::Changed(part.name.clone()));
            }
        }
        Ok(bytes)
    }

    /// Bytes that already came of a model, whole files and half ones.
    #[must_use]
    pub fn bytes_so_far(&self, entry: &Entry) -> u64 {
        entry.files.iter().map(|part| self.bytes_of(entry, part)).sum()
    }

    fn bytes_of(&self, entry: &Entry, part: &Part) -> u64 {
        let path = self.folder_of(entry).join(&part.name);
        let length = |path: &Path| fs::metadata(path).map_or(0, |facts| facts.len());
        if Seal::read(&path).is_some() { length(&path) } else { length(&beside(&path, "part")) }
    }

    /// Removes a model's folder, and tells the bytes that are free then.
    ///
    /// # Errors
    /// As the system says.
    pub fn remove(&self, entry: &Entry) -> io::Result<u64> {
        let folder = self.folder_of(entry);
        let bytes = self.bytes_so_far(entry);
        fs::remove_dir_all(&folder)?;
        match fs::remove_file(self.lock_of(entry)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(bytes),
        }
    }

    /// The file whose lock the fetching process holds.
    #[must_use]
    pub fn lock_of(&self, entry: &Entry) -> PathBuf {
        self.folder.join(format!("{}.lock", entry.name))
    }
}

/// What a file was when it came: nobody vouches for it but the host that sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// Hexadecimal digits, lower case.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
}

impl Seal {
    /// Of this file, if it has one.
    #[must_use]
    pub fn read(file: &Path) -> Option<Self> {
        let text = fs::read_to_string(beside(file, "sha256")).ok()?;
        let mut words = text.split_whitespace();
        Some(Self { sha256: words.next()?.to_owned(), size: words.next()?.parse().ok()? })
    }

    /// Puts it beside the file.
    ///
    /// # Errors
    /// As the system says.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        fs::write(beside(file, "sha256"), format!("{} {}\n", self.sha256, self.size))
    }
}

/// The file of this name with one more ending.
#[must_use]
pub fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Reads all of it into the checksum; false if it was ended early.
pub(super) fn read_into(from: &mut impl Read, hash: &mut Sha256, cancel: &Cancel) -> io::Result<bool> {
    let mut buffer = vec![0_u8; 1 << 18];
    loop {
        if cancel.is_cancelled() {
            return Ok(false);
        }
        match from.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(count) => hash.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::Table;
    use super::*;

    fn entry() -> Entry {
        let mut entry = Table::built_in().find("whisper-tiny").unwrap().clone();
        entry.files.truncate(2);
        entry
    }

    fn put(shelf: &Shelf, entry: &Entry, text: &str) {
        for part in &entry.files {
            let path = shelf.folder_of(entry).join(&part.name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let size = text.len() as u64;
            Seal { sha256: hexadecimal(&Sha256::digest(text)), size }.write(&path).unwrap();
        }
    }

    #[test]
    fn a_model_is_here_when_all_its_files_are_as_they_came() {
        let home = tempfile::tempdir().unwrap();
        let shelf = Shelf { folder: home.path().to_owned() };
        let entry = entry();
        let (first, second) = (&entry.files[0].name, &entry.files[1].name);
        assert_eq!(shelf.check_sizes(&entry), Err(Fault::Missing(first.clone())));
        put(&shelf, &entry, "12345");
        assert_eq!(shelf.check_sizes(&entry), Ok(10));
        assert_eq!(shelf.check_whole(&entry, &Cancel::default()), Ok(10));

        let path = shelf.folder_of(&entry).join(second);
        fs::write(&path, "12346").unwrap();
        assert_eq!(shelf.check_sizes(&entry), Ok(10), "the size is the same");
        assert_eq!(shelf.check_whole(&entry, &Cancel::default()), Err(Fault::Changed(second.clone())));
        fs::write(&path, "1234").unwrap();
        assert_eq!(
            shelf.check_sizes(&entry),
            Err(Fault::Size { file: second.clone(), found: 4, expected: 5 })
        );
        fs::remove_file(beside(&path, "sha256")).unwrap();
        assert_eq!(shelf.check_sizes(&entry), Err(Fault::Missing(second.clone())), "it never came whole");
        assert_eq!(shelf.remove(&entry).unwrap(), 5, "what is sealed counts");
        assert!(!shelf.folder_of(&entry).exists());
    }

    #[test]
    fn a_check_ends_early() {
        let home = tempfile::tempdir().unwrap();
        let shelf = Shelf { folder: home.path().to_owned() };
        let cancel = Cancel::default();
        put(&shelf, &entry(), "1");
        cancel.cancel();
        assert_eq!(shelf.check_whole(&entry(), &cancel), Err(Fault::Cancelled));
    }
}
