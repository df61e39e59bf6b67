//! Prompts that were sent, of all sessions: one JSON line each in the state folder, the newest last.

use super::lines::Lines;
use crate::proto::prompt::PromptRecord;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Prompts that are read.
const MOST: usize = 10_000;
/// The file is written anew when it has this many lines.
const TOO_MANY: usize = 12_000;
/// Of a prompt with larger pastes the labels alone are kept, in bytes.
const LARGEST_PASTES: usize = 1024 * 1024;

/// The file in the state folder.
pub fn file(state: &Path) -> PathBuf {
    state.join("history")
}

/// The newest prompts, the oldest of them first. Lines that are no prompt are passed over. A file that has grown too
/// long is shortened on the way.
///
/// # Errors
/// The file is there and can't be read, or can't be shortened.
pub fn load(state: &Path) -> io::Result<Vec<PromptRecord>> {
    let (records, lines) = read(&file(state))?;
    if lines >= TOO_MANY {
        let _lock = lock(state)?;
        // Others may have added some before the lock was ours.
        let (records, _) = read(&file(state))?;
        replace(&file(state), &records)?;
        return Ok(records);
    }
    Ok(records)
}

/// Adds a prompt. Only its owner may read the file.
///
/// # Errors
/// The file can't be written.
pub fn append(state: &Path, record: &PromptRecord) -> io::Result<()> {
    std::fs::create_dir_all(state)?;
    let _lock = lock(state)?;
    let mut line = serde_json::to_vec(&kept(record))?;
    line.push(b'\n');
    // One write, so that a crash leaves at most one broken line, which the newline in front of the next one ends.
    let mut file = File::options().create(true).append(true).read(true).mode(0o600).open(file(state))?;
    if ends_in_the_middle(&file)? {
        line.insert(0, b'\n');
    }
    file.write_all(&line)
}

/// What is kept of a record.
fn kept(record: &PromptRecord) -> PromptRecord {
    let size: usize = record.pastes.iter().map(|paste| paste.text.len()).sum();
    if size <= LARGEST_PASTES {
        return record.clone();
    }
    let mut text = record.text.clone();
    for paste in &record.pastes {
        let label = paste.label.trim_end_matches(']');
        text = text.replacen(&paste.label, &format!("{label}, not kept]"), 1);
    }
    PromptRecord { text, folder: record.folder.clone(), pastes: Vec::new() }
}

fn ends_in_the_middle(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::FileExt;
    let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(false) };
    let mut byte = [0];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte != *b"\n")
}

/// Two programs may add at the same time.
fn lock(state: &Path) -> io::Result<File> {
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(state.join("history.lock"))?;
    lock.lock()?;
    Ok(lock)
}

fn read(path: &Path) -> io::Result<(Vec<PromptRecord>, usize)> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok((Vec::new(), 0));
        }
        Err(error) => return Err(error),
    };
    let mut lines = Lines::new(BufReader::new(file));
    let mut records = VecDeque::new();
    let mut count = 0;
    while let Some(line) = lines.next_line()? {
        count += 1;
        match serde_json::from_slice(line.bytes) {
            Ok(record) => records.push_back(record),
            Err(error) => tracing::debug!(line = line.number, %error, "a line of the history is no prompt"),
        }
        if records.len() > MOST {
            records.pop_front();
        }
    }
    Ok((records.into(), count))
}

fn replace(path: &Path, records: &[PromptRecord]) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}", std::process::id()));
    let file = File::options().create(true).truncate(true).write(true).mode(0o600).open(&temporary)?;
    let mut writer = io::BufWriter::new(file);
    for record in records {
        serde_json::to_writer(&mut writer, record)?;
        writer.write_all(b"\n")?;
    }
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    std::fs::rename(&temporary, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::prompt::PasteRecord;

    fn record(text: &str) -> PromptRecord {
        PromptRecord { text: text.to_owned(), folder: "/p".into(), pastes: Vec::new() }
    }

    #[test]
    fn prompts_come_back_in_order_and_broken_lines_do_no_harm() {
        let state = tempfile::tempdir().expect("state");
        let state = state.path();
        assert_eq!(load(state).expect("nothing"), []);
        append(state, &record("one\nline two")).expect("added");
        let mut file_ = File::options().append(true).open(file(state)).expect("open");
        file_.write_all(b"{\"text\":\"cut of").expect("written");
        append(state, &record("two")).expect("added");
        assert_eq!(load(state).expect("read"), [record("one\nline two"), record("two")]);
    }

    #[test]
    fn a_long_file_is_shortened() {
        let state = tempfile::tempdir().expect("state");
        let state = state.path();
        let many: Vec<_> = (0..TOO_MANY).map(|number| record(&number.to_string())).collect();
        replace(&file(state), &many).expect("written");
        let loaded = load(state).expect("read");
        assert_eq!((loaded.len(), loaded.first()), (MOST, Some(&record("2000"))));
        assert_eq!(read(&file(state)).expect("read").1, MOST);
    }

    #[test]
    fn very_large_pastes_are_told_to_be_missing() {
        let state = tempfile::tempdir().expect("state");
        let label = "[paste #1 +12 lines]".to_owned();
        let mut large = record(&format!("see {label}"));
        large.pastes.push(PasteRecord { label, text: "x".repeat(LARGEST_PASTES + 1) });
        append(state.path(), &large).expect("added");
        assert_eq!(load(state.path()).expect("read"), [record("see [paste #1 +12 lines, not kept]")]);
    }
}
