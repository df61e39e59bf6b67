//! A new session from a branch of another. Lines travel as they are, so that fields and types this version does not
//! know survive; only lines of older formats are brought up to date. The source is read twice and never changed, and no
//! more than one line of it is in memory at a time.

use super::error::StoreError;
use super::find;
use super::line::{self, Header};
use super::lines::Lines;
use super::replay::{self, Decoder, Warnings};
use super::writer::{make_folders, sync_folder};
use crate::config::places::Places;
use crate::proto::ids::{EntryId, SessionId};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Makes a session in `cwd` that holds the branch of `source` up to `at`, or up to its leaf. Gives the new file.
///
/// # Errors
/// The source can't be read or has no such entry; the new file can't be written, then nothing of it remains.
pub fn fork(
    source: &Path,
    at: Option<&EntryId>,
    cwd: &Path,
    places: &Places,
    now: jiff::Timestamp,
) -> Result<PathBuf, StoreError> {
    let branch = Branch::find(source, at)?;
    let absolute = std::path::absolute(source)
        .map_err(|error| StoreError::Read { path: source.to_owned(), source: error })?;
    let header = Header {
        parent_session: Some(absolute.to_string_lossy().into_owned()),
        ..Header::new(SessionId::fresh(), cwd, now)
    };
    let path = find::path_for_new(places, cwd, &header.id, now);
    let temporary = path.with_extension("part");
    write(&branch, &header, source, &temporary, &path).map_err(|error| {
        // It may not be there; what matters was said by the first error.
        if let Err(leftover) = fs::remove_file(&temporary)
            && leftover.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %temporary.display(), error = %leftover, "half a fork stays behind");
        }
        StoreError::Create { path: path.clone(), source: error }
    })?;
    Ok(path)
}

/// Lines of the source that belong to the branch, in the order of the file.
struct Branch {
    version: u32,
    /// Where each line begins.
    lines: Vec<u64>,
}

impl Branch {
    fn find(source: &Path, at: Option<&EntryId>) -> Result<Self, StoreError> {
        let failed = |error| StoreError::Read { path: source.to_owned(), source: error };
        let mut lines = Lines::new(replay::open(source)?);
        let header = replay::read_header(&mut lines, source, &mut Warnings::default())?;
        let mut decoder = Decoder::new(header.version);
        let mut offsets = Vec::new();
        let mut parents: Vec<Option<usize>> = Vec::new();
        let mut places: HashMap<EntryId, usize> = HashMap::new();
        while let Some(raw) = lines.next_line().map_err(failed)? {
            let offset = raw.offset;
            if let Ok(Some(read)) = decoder.read(raw) {
                parents.push(read.entry.parent_id.and_then(|id| places.get(&id).copied()));
                places.insert(read.entry.id, offsets.len());
                offsets.push(offset);
            }
        }
        let mut next = match at {
            None => offsets.len().checked_sub(1),
            Some(id) => Some(
                *places
                    .get(id)
                    .ok_or_else(|| StoreError::NoSuchEntry { path: source.to_owned(), id: id.clone() })?,
            ),
        };
        let mut on_branch = HashSet::new();
        while let Some(place) = next {
            on_branch.insert(place);
            next = parents.get(place).copied().flatten();
        }
        let kept = offsets.into_iter().enumerate().filter(|(place, _)| on_branch.contains(place));
        Ok(Self { version: header.version, lines: kept.map(|(_, offset)| offset).collect() })
    }
}

/// Writes the whole file under another name first: nobody ever sees half a session.
fn write(branch: &Branch, header: &Header, source: &Path, temporary: &Path, path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut changed = make_folders(folder)?;
    changed.push(folder.to_owned());
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary)?;
    let mut out = BufWriter::new(file);
    out.write_all(line::write_header(header)?.as_bytes())?;
    copy_lines(branch, source, &mut out)?;
    out.into_inner()?.sync_all()?;
    fs::rename(temporary, path)?;
    changed.iter().try_for_each(|folder| sync_folder(folder))
}

/// Copies the lines of the branch. Their bytes stay as they are unless the source is of an older format.
fn copy_lines(branch: &Branch, source: &Path, out: &mut impl Write) -> io::Result<()> {
    let mut lines = Lines::new(BufReader::new(File::open(source)?));
    let mut decoder = Decoder::new(branch.version);
    let mut seen_header = false;
    let mut wanted = branch.lines.iter().copied().peekable();
    while wanted.peek().is_some() {
        let Some(raw) = lines.next_line()? else {
            return Err(io::Error::other("the session was cut short while it was read"));
        };
        let is_wanted = wanted.next_if_eq(&raw.offset).is_some();
        if branch.version < line::FORMAT_VERSION {
            if raw.cut {
                return Err(io::Error::other("a line of an old format is too long to be brought up to date"));
            }
            // Every line counts, also those of other branches: the ids of version 1 come from the order.
            let upgraded = if seen_header { decoder.upgraded(raw.bytes).ok() } else { None };
            seen_header |= line::parse_object(raw.bytes).is_ok();
            if let Some(map) = upgraded.filter(|_| is_wanted) {
                serde_json::to_writer(&mut *out, &map)?;
                out.write_all(b"\n")?;
            }
        } else if is_wanted && raw.cut {
            let range = (raw.offset, raw.length);
            copy_range(source, range, lines.terminated(), out)?;
        } else if is_wanted {
            out.write_all(raw.bytes)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Copies a line that is too long for memory.
fn copy_range(
    source: &Path,
    (offset, length): (u64, u64),
    terminated: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut file = File::open(source)?;
    file.seek(SeekFrom::Start(offset))?;
    io::copy(&mut file.take(length), out)?;
    if terminated { Ok(()) } else { out.write_all(b"\n") }
}

#[cfg(test)]
#[path = "fork_tests.rs"]
mod tests;
