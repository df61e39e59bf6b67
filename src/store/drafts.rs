//! Prompts that are being written, one file a session in the state folder, so that a crash loses none.
//!
//! A session that nothing was said in has no log yet, and its draft belongs to the folder: the next new session there takes
//! it over, unless the program that writes it still runs. Only their owner may read them.

use super::error::reason;
use crate::proto::ids::SessionId;
use crate::proto::prompt::Draft;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Nobody comes back to older ones.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// A larger file is none of ours.
const LARGEST: u64 = 256 * 1024 * 1024;
/// File systems take names of 255 bytes.
const LONGEST_NAME: usize = 200;

/// Whose draft it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The session.
    pub session: SessionId,
    /// Its log, which need not be there yet.
    pub log: PathBuf,
    /// The folder it works in.
    pub folder: PathBuf,
}

/// A draft that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What was being written.
    pub draft: Draft,
    /// In another session of which nothing else is left; its file is to be removed once this is kept elsewhere.
    pub from: Option<SessionId>,
}

/// A draft as it lies on disk.
#[derive(Serialize, Deserialize)]
struct Kept {
    session: SessionId,
    log: PathBuf,
    folder: PathBuf,
    /// The program that wrote it.
    process: u32,
    draft: Draft,
}

/// The folder in the state folder.
pub fn folder(state: &Path) -> PathBuf {
    state.join("drafts")
}

/// Keeps a draft in place of the one before.
///
/// # Errors
/// The file can't be written.
pub fn save(state: &Path, owner: &Owner, draft: &Draft) -> io::Result<()> {
    let path = file(state, &owner.session)?;
    DirBuilder::new().recursive(true).mode(0o700).create(folder(state))?;
    let kept = Kept {
        session: owner.session.clone(),
        log: owner.log.clone(),
        folder: owner.folder.clone(),
        process: std::process::id(),
        draft: draft.clone(),
    };
    let bytes = serde_json::to_vec(&kept)?;
    let temporary = path.with_extension(format!("{}", std::process::id()));
    let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(&temporary)?;
    let written = file.write_all(&bytes).and_then(|()| std::fs::rename(&temporary, &path));
    if written.is_err() {
        // The error that is told is the one that matters.
        let _removed = std::fs::remove_file(&temporary);
    }
    written
}

/// Removes the draft of a session. That there is none is no error.
///
/// # Errors
/// The file is there and can't be removed.
pub fn remove(state: &Path, session: &SessionId) -> io::Result<()> {
    match std::fs::remove_file(file(state, session)?) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The draft of a session, or, for one in which nothing was said yet, the newest of its folder whose session came to
/// nothing.
pub fn load(state: &Path, owner: &Owner) -> Option<Found> {
    let own = file(state, &owner.session).ok().and_then(|path| read(&path));
    if let Some(kept) = own.filter(|kept| kept.session == owner.session) {
        return Some(Found { draft: kept.draft, from: None });
    }
    if owner.log.exists() {
        return None;
    }
    let mut candidates: Vec<(SystemTime, PathBuf)> =
        files(state).into_iter().filter_map(|path| Some((age_of(&path)?, path))).collect();
    candidates.sort_unstable_by(|a, b| b.cmp(a));
    candidates.iter().filter_map(|(_, path)| read(path)).find_map(|kept| {
        let is_left =
            kept.folder == owner.folder && !kept.log.exists() && !is_written_elsewhere(kept.process);
        (is_left && kept.session != owner.session)
            .then_some(Found { draft: kept.draft, from: Some(kept.session) })
    })
}

/// Removes what nobody came back to.
pub fn clean(state: &Path, now: SystemTime) {
    for path in files(state) {
        let is_old = age_of(&path)
            .and_then(|changed| now.duration_since(changed).ok())
            .is_some_and(|age| age > KEPT_FOR);
        if is_old && let Err(error) = std::fs::remove_file(&path) {
            tracing::warn!("{} can't be removed: {}", path.display(), reason(&error));
        }
    }
}

/// The session's id as a file's name. It may come from a file that anybody wrote, so nothing in it may lead elsewhere.
fn file(state: &Path, session: &SessionId) -> io::Result<PathBuf> {
    let mut name = String::new();
    for byte in session.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            byte => name.push_str(&format!("%{byte:02x}")),
        }
    }
    if name.is_empty() || name.len() > LONGEST_NAME {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the session's id can't name a file"));
    }
    Ok(folder(state).join(format!("{name}.json")))
}

/// Everything in the folder, what a crash left half written included.
fn files(state: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder(state)) else { return Vec::new() };
    entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect()
}

fn age_of(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

fn read(path: &Path) -> Option<Kept> {
    if path.extension()? != "json" || path.metadata().ok()?.len() > LARGEST {
        return None;
    }
    let bytes = std::fs::read(path).ok()?;
    serde_json::from_slice(&bytes)
        .map_err(|error| tracing::warn!("{} is no draft: {error}", path.display()))
        .ok()
}

/// Another program that still runs wrote it.
fn is_written_elsewhere(process: u32) -> bool {
    if process == std::process::id() {
        return false;
    }
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::prompt::{DraftPart, PasteRecord};
    use std::os::unix::fs::PermissionsExt;

    fn owner(state: &Path, session: &str, folder: &str) -> Owner {
        Owner {
            session: SessionId::new(session),
            log: state.join(format!("{session}.jsonl")),
            folder: folder.into(),
        }
    }

    fn draft(text: &str) -> Draft {
        let paste = PasteRecord { label: "[paste #1 +12 lines]".to_owned(), text: "line\n".repeat(12) };
        Draft {
            before: vec![DraftPart::Text(text.to_owned()), DraftPart::Paste(paste)],
            after: vec![DraftPart::File("a b.rs".to_owned())],
        }
    }

    /// As if a program that has ended had written it.
    fn leave(state: &Path, session: &str) {
        let path = file(state, &SessionId::new(session)).expect("a name");
        let text = std::fs::read_to_string(&path).expect("kept");
        let own = format!("\"process\":{}", std::process::id());
        // No process has this number: it is beyond what the system gives out.
        std::fs::write(&path, text.replace(&own, "\"process\":2147483647")).expect("written");
    }

    #[test]
    fn a_draft_comes_back_and_only_its_owner_reads_it() {
        let state = tempfile::tempdir().expect("state");
        let state = state.path();
        let one = owner(state, "one", "/p");
        assert_eq!(load(state, &one), None);
        save(state, &one, &draft("old")).expect("kept");
        save(state, &one, &draft("new")).expect("kept");
        assert_eq!(load(state, &one), Some(Found { draft: draft("new"), from: None }));
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&folder(state)), 0o700);
        assert_eq!(mode(&folder(state).join("one.json")), 0o600);
        assert_eq!(files(state).len(), 1, "nothing half written is left");
        remove(state, &one.session).expect("gone");
        remove(state, &one.session).expect("no error");
        assert_eq!(load(state, &one), None);
    }

    #[test]
    fn a_draft_without_a_session_belongs_to_the_folder() {
        let state = tempfile::tempdir().expect("state");
        let state = state.path();
        save(state, &owner(state, "lost", "/p"), &draft("lost")).expect("kept");
        save(state, &owner(state, "elsewhere", "/q"), &draft("elsewhere")).expect("kept");
        let said = owner(state, "said", "/p");
        std::fs::write(&said.log, "").expect("a log");
        save(state, &said, &draft("said")).expect("kept");
        for session in ["lost", "elsewhere", "said"] {
            leave(state, session);
        }
        let found = load(state, &owner(state, "fresh", "/p"));
        assert_eq!(found, Some(Found { draft: draft("lost"), from: Some(SessionId::new("lost")) }));
        // One in which something was said has its own or none.
        let other = owner(state, "other", "/p");
        std::fs::write(&other.log, "").expect("a log");
        assert_eq!(load(state, &other), None);
        assert_eq!(load(state, &said).map(|found| found.from), Some(None));
    }

    #[test]
    fn what_another_program_still_writes_is_its_own() {
        let state = tempfile::tempdir().expect("state");
        let state = state.path();
        let busy = owner(state, "busy", "/p");
        save(state, &busy, &draft("busy")).expect("kept");
        let path = folder(state).join("busy.json");
        let text = std::fs::read_to_string(&path).expect("kept");
        let own = format!("\"process\":{}", std::process::id());
        let parent = format!("\"process\":{}", std::os::unix::process::parent_id());
        std::fs::write(&path, text.replace(&own, &parent)).expect("written");
        assert_eq!(load(state, &owner(state, "fresh", "/p")), None);
    }

    #[test]
    fn what_is_no_draft_does_no_harm_and_ids_lead_nowhere() {
        let state = tempfile::tempdir().expect("state");
        let state = state.path();
        let bad = owner(state, "../../bad/..", "/p");
        save(state, &bad, &draft("bad")).expect("kept");
        assert!(folder(state).join("%2e%2e%2f%2e%2e%2fbad%2f%2e%2e.json").is_file());
        assert!(load(state, &bad).is_some());
        std::fs::write(folder(state).join("torn.json"), "{\"session\":\"torn\",").expect("written");
        assert_eq!(load(state, &owner(state, "torn", "/q")), None);
        assert!(save(state, &owner(state, "", "/p"), &draft("")).is_err());
    }

    #[test]
    fn old_ones_are_removed() {
        let state = tempfile::tempdir().expect("state");
        let state = state.path();
        save(state, &owner(state, "one", "/p"), &draft("one")).expect("kept");
        let now = SystemTime::now();
        clean(state, now + KEPT_FOR - Duration::from_secs(60));
        assert_eq!(files(state).len(), 1);
        clean(state, now + KEPT_FOR + Duration::from_secs(60));
        assert_eq!(files(state).len(), 0);
    }
}
