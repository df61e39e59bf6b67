//! Where sessions are, and which one is meant. Reads the beginning and the end of files, never a whole one.

use super::line;
use super::lines::Lines;
use super::replay::{self, Warnings};
use crate::config::places::Places;
use crate::proto::entry::{Entry, EntryKind};
use crate::proto::ids::SessionId;
use crate::proto::message::{Message, text_of};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How much of a file's beginning is read for a list: the prompt and the tools stand in front of the first message.
const HEAD_BYTES: u64 = 256 * 1024;
/// How much of a file's end is read for a list.
const TAIL_BYTES: u64 = 64 * 1024;
/// How much of the first message a list keeps.
const FIRST_MESSAGE_CHARS: usize = 400;
/// The type of a line stands in front of everything that can be long.
const TYPE_WITHIN_BYTES: usize = 128;

/// One session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its file.
    pub path: PathBuf,
    /// The session.
    pub id: SessionId,
    /// Its working directory.
    pub cwd: PathBuf,
    /// The name that the user gave it, if it stands near the beginning or the end of the file.
    pub name: Option<String>,
    /// The beginning of what the user said first, if it stands near the beginning of the file.
    pub first_message: Option<String>,
    /// When it began, ISO 8601.
    pub created: String,
    /// When something was last said in it, milliseconds since the Unix epoch. Naming it does not count.
    pub last_activity: i64,
    /// File of the session it was forked from.
    pub parent_session: Option<String>,
    /// Size of the file.
    pub bytes: u64,
    /// Prompts and replies; not counted in a large file.
    pub messages: Option<u64>,
}

/// No session, or more than one, is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// Nothing fits.
    #[error("There is no session `{wanted}`. Nothing was changed. `mynah --resume` lists what there is.")]
    None {
        /// What was asked for.
        wanted: String,
    },
    /// More than one fits.
    #[error("`{wanted}` fits {} sessions: {}. Give more of the id.", ids.len(), ids.join(", "))]
    Several {
        /// What was asked for.
        wanted: String,
        /// The ids that fit.
        ids: Vec<String>,
        /// Their files, in the same order.
        paths: Vec<PathBuf>,
    },
}

/// The file of a new session.
pub fn path_for_new(places: &Places, cwd: &Path, id: &SessionId, now: jiff::Timestamp) -> PathBuf {
    let time = line::timestamp(now).replace([':', '.'], "-");
    places.sessions_of(cwd).join(format!("{time}_{id}.jsonl"))
}

/// The session of this working directory in which something was said last.
pub fn newest_in(places: &Places, cwd: &Path) -> Option<PathBuf> {
    list(places, Some(cwd)).into_iter().next().map(|info| info.path)
}

/// The session that a path, an id, or the beginning of an id names, whatever its working directory. A path may start
/// from `cwd` or from the home folder.
///
/// # Errors
/// None or several are meant. Several only by a beginning: a whole id wins.
pub fn by_prefix(places: &Places, cwd: &Path, wanted: &str) -> Result<PathBuf, FindError> {
    if wanted.contains('/') || Path::new(wanted).extension().is_some_and(|extension| extension == "jsonl") {
        let path = wanted.strip_prefix("~/").map_or_else(|| cwd.join(wanted), |rest| places.home.join(rest));
        return if path.is_file() { Ok(path) } else { Err(FindError::None { wanted: wanted.to_owned() }) };
    }
    let mut found: Vec<(String, PathBuf)> = all_files(places)
        .into_iter()
        .filter_map(|path| Some((id_of(&path)?, path)))
        .filter(|(id, _)| !wanted.is_empty() && id.starts_with(wanted))
        .collect();
    if let Some(exact) = found.iter().position(|(id, _)| id == wanted) {
        return Ok(found.swap_remove(exact).1);
    }
    found.sort();
    match found.len() {
        0 => Err(FindError::None { wanted: wanted.to_owned() }),
        1 => Ok(found.remove(0).1),
        _ => {
            let (ids, paths) = found.into_iter().unzip();
            Err(FindError::Several { wanted: wanted.to_owned(), ids, paths })
        }
    }
}

/// The sessions of a working directory, or all, the one in which something was said last in front. Files that can't be
/// read or are no sessions are left out.
pub fn list(places: &Places, cwd: Option<&Path>) -> Vec<SessionInfo> {
    let files = cwd.map_or_else(|| all_files(places), |cwd| files_in(&places.sessions_of(cwd)));
    let mut sessions: Vec<SessionInfo> = files
        .into_iter()
        .filter_map(|path| match info(&path) {
            Ok(info) => info,
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "session left out of the list");
                None
            }
        })
        // Two working directories can share a folder: `/a/b` and `/a-b`.
        .filter(|info| cwd.is_none_or(|cwd| info.cwd == cwd))
        .collect();
    sessions.sort_by(|a, b| b.last_activity.cmp(&a.last_activity).then_with(|| b.path.cmp(&a.path)));
    sessions
}

fn all_files(places: &Places) -> Vec<PathBuf> {
    entries_of(&places.sessions()).iter().flat_map(|folder| files_in(folder)).collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = entries_of(folder);
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files
}

/// What a folder holds; nothing for one that is not there.
fn entries_of(folder: &Path) -> Vec<PathBuf> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound && error.kind() != io::ErrorKind::NotADirectory {
                tracing::warn!(folder = %folder.display(), %error, "folder of sessions can't be read");
            }
            Vec::new()
        }
    }
}

/// The id in a file's name (`<time>_<id>.jsonl`), else in its header.
pub fn id_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    match stem.split_once('_') {
        Some((_, id)) => Some(id.to_owned()),
        None => Some(info(path).ok()??.id.as_str().to_owned()),
    }
}

/// What a list shows of a session. `None` for a file that is none.
fn info(path: &Path) -> io::Result<Option<SessionInfo>> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut head = Vec::new();
    (&mut file).take(HEAD_BYTES).read_to_end(&mut head)?;
    let mut lines = Lines::new(BufReader::new(head.as_slice()));
    let Ok(header) = replay::read_header(&mut lines, path, &mut Warnings::default()) else { return Ok(None) };
    let head: Vec<&[u8]> = lines_in(&head).collect();
    let mut end = Vec::new();
    if bytes > HEAD_BYTES {
        file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES).max(HEAD_BYTES)))?;
        // Bounded even while another process appends.
        file.take(TAIL_BYTES).read_to_end(&mut end)?;
    }
    let all: Vec<&[u8]> = head.iter().copied().chain(lines_in(&end)).collect();
    let last_activity = all.iter().rev().find_map(|line| said_at(line));
    Ok(Some(SessionInfo {
        path: path.to_owned(),
        name: all.iter().rev().find_map(|line| name_in(line)).filter(|name| !name.is_empty()),
        first_message: head.iter().find_map(|line| said_by_user(line)),
        last_activity: last_activity.unwrap_or_else(|| line::millis(&header.timestamp)),
        messages: (bytes <= HEAD_BYTES).then(|| count_messages(&head)),
        bytes,
        id: header.id,
        cwd: header.cwd,
        created: header.timestamp,
        parent_session: header.parent_session,
    }))
}

/// The lines in a part of a file. One that the part cuts is passed over later, like any damaged one.
fn lines_in(part: &[u8]) -> impl Iterator<Item = &[u8]> {
    part.split(|byte| *byte == b'\n')
}

/// Reads a line only if it may be of this type: a list looks at many lines and needs few.
fn read_if(line: &[u8], kind: &str) -> Option<Entry> {
    let start = line.get(..line.len().min(TYPE_WITHIN_BYTES))?;
    start.windows(kind.len()).any(|part| part == kind.as_bytes()).then_some(())?;
    Some(line::read_entry(line).ok()?.entry)
}

/// Prompts and replies.
fn count_messages(lines: &[&[u8]]) -> u64 {
    let said = lines.iter().filter_map(|line| read_if(line, "message")).filter(|entry| {
        matches!(&entry.kind, EntryKind::Message { message }
            if matches!(**message, Message::User(_) | Message::Assistant(_)))
    });
    said.count() as u64
}

fn name_in(line: &[u8]) -> Option<String> {
    let EntryKind::SessionInfo { name } = read_if(line, "session_info")?.kind else { return None };
    Some(name.trim().to_owned())
}

fn said_at(line: &[u8]) -> Option<i64> {
    let entry = read_if(line, "message")?;
    matches!(entry.kind, EntryKind::Message { .. }).then(|| line::millis(&entry.timestamp))
}

fn said_by_user(line: &[u8]) -> Option<String> {
    let EntryKind::Message { message } = read_if(line, "message")?.kind else { return None };
    let Message::User(user) = &*message else { return None };
    let text = text_of(&user.content);
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(FIRST_MESSAGE_CHARS).collect())
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
