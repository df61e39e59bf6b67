//! Replacing a file's content as a whole: the old content or the new one, never a mixture.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

/// Links that are followed to a file that need not exist.
const MOST_LINKS: usize = 40;

/// A file that was not written as wanted.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// The old content is still there.
    #[error("{0}. The file is as it was.")]
    Kept(#[from] io::Error),
    /// It had to be written in place, and that ended half-way.
    #[error("{0}. It was written in place and may be incomplete.")]
    Incomplete(io::Error),
}

/// Writes a temporary file beside the target and renames it over. Links are followed, permissions and owner kept. Where the
/// folder refuses that (no right to create files in it, or the file is a mount point), the file itself is written.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), ReplaceError> {
    let target = follow_links(path)?;
    let existing = match target.metadata() {
        Ok(metadata) if metadata.is_file() => {
            // A rename would replace a file that we may not write.
            OpenOptions::new().write(true).open(&target)?;
            Some(metadata)
        }
        Ok(_) => return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file").into()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error.into()),
    };
    match rename_over(&target, content, existing.as_ref()) {
        Err(error) if existing.is_some() && needs_writing_in_place(&error) => {
            let mut file = OpenOptions::new().write(true).truncate(true).open(&target)?;
            file.write_all(content).and_then(|()| file.sync_data()).map_err(ReplaceError::Incomplete)
        }
        outcome => Ok(outcome?),
    }
}

fn needs_writing_in_place(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ResourceBusy | ErrorKind::CrossesDevices)
}

fn rename_over(target: &Path, content: &[u8], existing: Option<&Metadata>) -> io::Result<()> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // File names have a limit of 255 bytes: a long one is not made longer.
    let name: String = name.chars().take(40).collect();
    let temporary = target.with_file_name(format!(".{name}.{:08x}.tmp", fastrand::u32(..)));
    let mut options = OpenOptions::new();
    if existing.is_some() {
        // Nobody else may look into it before it has the permissions of the file that it replaces.
        options.mode(0o600);
    }
    let file = options.write(true).create_new(true).open(&temporary)?;
    let written = fill(file, content, existing).and_then(|()| fs::rename(&temporary, target));
    if written.is_err()
        && let Err(error) = fs::remove_file(&temporary)
    {
        tracing::warn!(%error, path = %temporary.display(), "a temporary file was left behind");
    }
    written
}

fn fill(mut file: File, content: &[u8], existing: Option<&Metadata>) -> io::Result<()> {
    file.write_all(content)?;
    if let Some(metadata) = existing {
        let ours = file.metadata()?;
        if (ours.uid(), ours.gid()) != (metadata.uid(), metadata.gid()) {
            // Where that is refused, the file is written in place and keeps its owner so.
            fchown(&file, Some(metadata.uid()), Some(metadata.gid()))?;
        }
        // After the owner: a change of that takes rights away.
        file.set_permissions(metadata.permissions())?;
    }
    // Without this a crash of the machine can leave an empty file in the place of the old one.
    file.sync_data()
}

/// The path behind links, also where the last one leads to a file that does not exist yet.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(link) => target = target.parent().unwrap_or(Path::new("/")).join(link),
            // Not a link, or nothing there.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::NotFound) => {
                return Ok(target);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn permissions_and_links_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("script");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, PermissionsExt::from_mode(0o750)).unwrap();
        symlink("script", dir.path().join("link")).unwrap();
        symlink("link", dir.path().join("second")).unwrap();
        replace(&dir.path().join("second"), b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o750);
        assert!(dir.path().join("link").is_symlink());
        assert_eq!(names(dir.path()), ["link", "script", "second"]);
    }

    #[test]
    fn the_owner_is_kept_where_that_can_be_tried() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "old").unwrap();
        // Only root may give files away.
        if std::os::unix::fs::chown(&file, Some(12), Some(34)).is_err() {
            return;
        }
        fs::set_permissions(&file, PermissionsExt::from_mode(0o4640)).unwrap();
        replace(&file, b"new").unwrap();
        let metadata = file.metadata().unwrap();
        assert_eq!((metadata.uid(), metadata.gid(), metadata.mode() & 0o7777), (12, 34, 0o4640));
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn a_link_to_nothing_makes_its_target() {
        let dir = tempfile::tempdir().unwrap();
        symlink("target", dir.path().join("link")).unwrap();
        replace(&dir.path().join("link"), b"new").unwrap();
        assert_eq!(fs::read(dir.path().join("target")).unwrap(), b"new");
    }

    #[test]
    fn what_can_not_be_written_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        assert!(replace(dir.path(), b"x").is_err());
        assert!(replace(Path::new("/dev/full"), b"x").is_err());
        symlink("b", dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("b")).unwrap();
        assert!(replace(&dir.path().join("a"), b"x").is_err());
        assert!(replace(&dir.path().join("no/folder"), b"x").is_err());
        assert_eq!(names(dir.path()), ["a", "b"]);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "old").unwrap();
        // A descriptor that refuses every byte stands for a full disk.
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert!(fill(full, b"new", None).is_err());
        assert_eq!(fs::read(&file).unwrap(), b"old");
        let long = dir.path().join("é".repeat(120));
        replace(&long, b"new").unwrap();
        assert_eq!(fs::read(&long).unwrap(), b"new");
    }
}
