//! The session of a Pi process: a note in the runtime folder says which file it is, and nothing of the note is believed
//! that the process and the file don't confirm.

use super::process::Processes;
use super::session_file::{SessionFile, is_below};
use super::{Places, Session};
use rustix::fs::{Mode, OFlags, fstat, open};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The longest note, in bytes.
const LONGEST_NOTE: u64 = 256 * 1024;

/// A message in a note is cut by its writer at this many characters.
const LONGEST_MESSAGE: usize = 12_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Note {
    #[serde(alias = "schemaVersion", alias = "schema_version")]
    version: u64,
    pid: u32,
    #[serde(alias = "start_ticks", alias = "processStartTicks", alias = "process_start_ticks")]
    start_ticks: u64,
    #[serde(alias = "session_id")]
    session_id: String,
    #[serde(alias = "session_file")]
    session_file: PathBuf,
    #[serde(default, alias = "latest_completed_message", alias = "latestCompletedAssistantMessage")]
    latest_completed_message: Option<String>,
}

/// A Pi session whose checks have passed.
pub struct PiSession {
    processes: Processes,
    root: PathBuf,
    note: Note,
    file: SessionFile,
}

/// Finds the session of a process. `None` when anything does not fit.
pub fn resolve(places: &Places, processes: Processes, pid: u32) -> Option<PiSession> {
    let folder = places.runtime.as_ref()?.join("voice-input/agent-sessions");
    let note = read_note(&folder, pid)?;
    let is_same = matches!(note.version, 1 | 2) && note.pid == pid && !note.session_id.is_empty();
    if !is_same || processes.start_ticks(pid)? != note.start_ticks {
        return None;
    }
    let root = places.home.join(".pi/agent/sessions");
    if !is_below(&note.session_file, &root) {
        return None;
    }
    let file = SessionFile::open(&note.session_file, false)?;
    let session = PiSession { processes, root, note, file };
    session.is_what_it_was().then_some(session)
}

impl PiSession {
    /// The same process, the same file at the same place, the same session.
    fn is_what_it_was(&self) -> bool {
        let note = &self.note;
        self.processes.start_ticks(note.pid) == Some(note.start_ticks)
            && is_below(&note.session_file, &self.root)
            && self.file.is_at(&note.session_file)
            && self.file.header().is_some_and(|header| {
                header["type"] == "session" && header["id"].as_str() == Some(note.session_id.as_str())
            })
    }
}

impl Session for PiSession {
    fn message(&mut self) -> Option<String> {
        if !self.is_what_it_was() {
            return None;
        }
        let given = self.note.latest_completed_message.as_deref().filter(|_| self.note.version == 2);
        match given.filter(|text| !text.trim().is_empty()) {
            Some(text) => Some(whole_lines(text)),
            None => last_message(&self.file.tail()?),
        }
    }
}

/// Reads the note of a process: ours, for nobody else to read or write, in a folder of the same kind.
fn read_note(folder: &Path, pid: u32) -> Option<Note> {
    let facts = folder.symlink_metadata().ok()?;
    let us = rustix::process::geteuid().as_raw();
    if !facts.is_dir() || facts.uid() != us || facts.mode() & 0o777 != 0o700 {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let descriptor = open(folder.join(format!("pi-{pid}.json")), flags, Mode::empty()).ok()?;
    let stat = fstat(&descriptor).ok()?;
    let file = File::from(descriptor);
    let facts = file.metadata().ok()?;
    if !facts.is_file() || stat.st_uid != us || facts.mode() & 0o7777 != 0o600 || facts.len() > LONGEST_NOTE {
        return None;
    }
    let mut text = String::new();
    file.take(LONGEST_NOTE).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// The text of the nearest completed answer before the end of the branch. A parent that is not there ends the search: it
/// stands before what was read, and nothing is guessed.
fn last_message(lines: &[Value]) -> Option<String> {
    let id_of = |line: &Value| line["id"].as_str().map(str::to_owned);
    let entries: HashMap<String, &Value> = lines
        .iter()
        .filter(|line| line["type"] != "session")
        .filter_map(|line| Some((id_of(line)?, line)))
        .collect();
    let leaf = lines.iter().rev().filter(|line| line["type"] != "session").find_map(id_of)?;
    let mut next = Some(leaf);
    // No branch is longer than the file: a loop ends here.
    for _ in 0..=entries.len() {
        let entry = entries.get(&next?)?;
        let message = &entry["message"];
        if entry["type"] == "message" && message["role"] == "assistant" && message["stopReason"] == "stop" {
            let text = text_of(&message["content"]);
            if !text.trim().is_empty() {
                return Some(text);
            }
        }
        next = entry["parentId"].as_str().map(str::to_owned);
    }
    None
}

fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// Without the lines that were cut into: a message of the greatest length was cut before anything was redacted, and a
/// part of a line may be a part of a secret whose label is gone.
fn whole_lines(text: &str) -> String {
    if text.chars().count() + 8 < LONGEST_MESSAGE {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.lines().collect();
    let is_gap = |line: &&str| matches!(line.trim(), "…" | "...");
    let Some(gap) = lines.iter().position(is_gap) else {
        // Cut at an unknown place: the last line may be a part.
        return lines.split_last().map(|(_, whole)| whole.join("\n")).unwrap_or_default();
    };
    let near = |number: usize| number + 1 == gap || number == gap + 1;
    let whole = lines.iter().enumerate().filter(|(number, _)| !near(*number)).map(|(_, line)| *line);
    whole.collect::<Vec<_>>().join("\n")
}
