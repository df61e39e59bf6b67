//! The session of a Codex process: the one session file that it holds open.

use super::process::Processes;
use super::session_file::{SessionFile, is_below};
use super::{Places, Session};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A Codex session whose checks have passed.
pub struct CodexSession {
    processes: Processes,
    pid: u32,
    start_ticks: u64,
    path: PathBuf,
    id: String,
    file: SessionFile,
}

/// Finds the session of a process. `None` when anything does not fit, or two files do.
pub fn resolve(places: &Places, processes: Processes, pid: u32) -> Option<CodexSession> {
    let start_ticks = processes.start_ticks(pid)?;
    let home = match processes.variable(pid, "CODEX_HOME").filter(|home| !home.is_empty()) {
        Some(home) => PathBuf::from(home),
        None => places.home.join(".codex"),
    };
    let root = home.join("sessions").canonicalize().ok()?;
    let mut found: Option<(PathBuf, String, SessionFile)> = None;
    for link in processes.files(pid)? {
        let Some((path, id, file)) = eligible(&link, &root) else { continue };
        match &found {
            // One file may be open twice.
            Some((_, _, known)) if known.identity() == file.identity() => {}
            Some(_) => return None,
            None => found = Some((path, id, file)),
        }
    }
    let (path, id, file) = found?;
    (processes.start_ticks(pid)? == start_ticks).then_some(CodexSession {
        processes,
        pid,
        start_ticks,
        path,
        id,
        file,
    })
}

fn eligible(link: &Path, root: &Path) -> Option<(PathBuf, String, SessionFile)> {
    let path = std::fs::read_link(link).ok()?;
    if path.extension()? != "jsonl" || !is_below(&path, root) {
        return None;
    }
    // The open file itself, and not whatever the path leads to by now.
    let file = SessionFile::open(link, true).filter(|file| file.is_at(&path))?;
    let id = session_id(&file)?;
    Some((path, id, file))
}

/// The id of a session that a person began in a terminal.
fn session_id(file: &SessionFile) -> Option<String> {
    let header = file.header()?;
    let facts = &header["payload"];
    let is_of_a_person =
        header["type"] == "session_meta" && facts["source"] == "cli" && facts["thread_source"] == "user";
    let id = facts["id"].as_str().filter(|id| !id.is_empty())?;
    is_of_a_person.then(|| id.to_owned())
}

impl Session for CodexSession {
    fn message(&mut self) -> Option<String> {
        let is_same = self.processes.start_ticks(self.pid) == Some(self.start_ticks)
            && self.file.is_at(&self.path)
            && session_id(&self.file).as_ref() == Some(&self.id);
        if is_same { last_message(&self.file.tail()?) } else { None }
    }
}

/// The last final answer; else what the last completed task says of itself.
fn last_message(lines: &[Value]) -> Option<String> {
    let text = |text: String| (!text.trim().is_empty()).then_some(text);
    let answers =
        lines.iter().rev().filter(|line| line["type"] == "response_item").map(|line| &line["payload"]);
    let mut answers = answers.filter(|item| {
        item["type"] == "message" && item["role"] == "assistant" && item["phase"] == "final_answer"
    });
    let answer = answers.find_map(|item| {
        let blocks = item["content"].as_array()?.iter().filter(|block| block["type"] == "output_text");
        text(blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"))
    });
    answer.or_else(|| {
        let events =
            lines.iter().rev().filter(|line| line["type"] == "event_msg").map(|line| &line["payload"]);
        let mut done = events.filter(|event| event["type"] == "task_complete");
        done.find_map(|event| text(event["last_agent_message"].as_str()?.to_owned()))
    })
}
