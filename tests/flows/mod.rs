//! Whole runs: the real program as a child process, against the scripted model server.

mod faults_model;
mod faults_process;
mod faults_world;
mod json;
#[cfg(target_os = "linux")]
mod left_behind;
mod output;
mod permissions;
mod resume;
mod session;
mod settings;
mod speech;
mod wire;
mod work;

use mynah::testkit::home::Home;
use mynah::testkit::server::ModelServer;
use rustix::process::{Pid, Signal};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Nothing in a flow takes longer, on a busy machine either: a hang fails.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// The key that runs get; it must appear nowhere.
pub const KEY: &str = "sk-flow-7Qd2mZx81kVt";

/// A wire dialect, as a user chooses it.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// For messages of tests.
    pub name: &'static str,
    /// What `--model` gets.
    pub model: &'static str,
    key_variable: &'static str,
    url_variable: &'static str,
    url: fn(&ModelServer) -> String,
}

pub const CHAT: Dialect = Dialect {
    name: "chat completions",
    model: "openai/any",
    key_variable: "OPENAI_API_KEY",
    url_variable: "OPENAI_BASE_URL",
    url: ModelServer::openai_base_url,
};

pub const DIALECTS: [Dialect; 3] = [
    CHAT,
    Dialect { name: "responses", model: "openai-responses/any", ..CHAT },
    Dialect {
        name: "messages",
        model: "anthropic/any",
        key_variable: "ANTHROPIC_API_KEY",
        url_variable: "ANTHROPIC_BASE_URL",
        url: ModelServer::anthropic_base_url,
    },
];

impl Dialect {
    /// `mynah -p --model …` with the server and the key in its environment, and short waits between retries.
    pub fn command(&self, home: &Home, server: &ModelServer) -> Command {
        let mut command = self.command_to(home, &(self.url)(server));
        command.args(["--set", "retry.base_seconds=0"]);
        command
    }

    /// `mynah -p --model …` with this base URL and the key in its environment.
    pub fn command_to(&self, home: &Home, url: &str) -> Command {
        let mut command = mynah(home);
        command.env(self.url_variable, url).env(self.key_variable, KEY).args(["-p", "--model", self.model]);
        command
    }
}

/// The program in the project of that home.
pub fn mynah(home: &Home) -> Command {
    home.command(env!("CARGO_BIN_EXE_mynah"))
}

/// A run that has ended.
#[derive(Debug)]
pub struct Ended {
    pub stdout: String,
    pub stderr: String,
    /// Exit code; 128 and the signal's number when a signal ended it, as shells have it.
    pub code: i32,
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Ended {
    Run::start(command).end()
}

/// A command that runs. Killed when it is dropped.
#[derive(Debug)]
pub struct Run {
    child: Child,
    stdout: Lines,
    stderr: Lines,
}

impl Run {
    /// Starts it with its outputs piped to us.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = Lines::of(child.stdout.take().unwrap());
        let stderr = Lines::of(child.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for a line of its standard output that holds this text.
    pub fn wait_stdout(&mut self, text: &str) -> String {
        self.stdout.wait_for(text)
    }

    /// Waits for a line of its standard error that holds this text.
    pub fn wait_stderr(&mut self, text: &str) -> String {
        self.stderr.wait_for(text)
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ended {
        let deadline = Instant::now() + DEADLINE;
        let stdout = self.stdout.until_end(deadline);
        let stderr = self.stderr.until_end(deadline);
        wait_until("the end of the program", || self.child.try_wait().unwrap().is_some());
        let status = self.child.wait().unwrap();
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        Ended { stdout, stderr, code }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // It has usually ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An output of a child, read by a thread so that waiting has a deadline.
#[derive(Debug)]
struct Lines {
    lines: Receiver<String>,
    seen: String,
}

impl Lines {
    fn of(pipe: impl Read + Send + 'static) -> Self {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(pipe);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
                line.clear();
            }
        });
        Self { lines, seen: String::new() }
    }

    fn wait_for(&mut self, text: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        while let Some(line) = self.next(deadline) {
            if line.contains(text) {
                return line;
            }
        }
        panic!("no line with `{text}`, only:\n{}", self.seen);
    }

    fn until_end(&mut self, deadline: Instant) -> String {
        while self.next(deadline).is_some() {}
        std::mem::take(&mut self.seen)
    }

    fn next(&mut self, deadline: Instant) -> Option<String> {
        match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                self.seen.push_str(&line);
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing more in time after:\n{}", self.seen),
        }
    }
}

/// Polls for what nothing announces.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !done() {
        assert!(Instant::now() < deadline, "{what} did not come in time");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The session files of a home, oldest first.
pub fn session_files(home: &Home) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = all_files(home.mynah())
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
}

/// The entries of a session file, its header first.
pub fn session_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every file below a folder.
pub fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(all_files(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// What holds after every run, however it went: standard error is for people, the key is nowhere, and no process is
/// left.
pub fn assert_clean(home: &Home, ended: &Ended) {
    for raw in ["panicked", ".rs:", "backtrace", "{\"", "\":", "Os {", "Some(", "Err(", "\u{1b}"] {
        assert!(!ended.stderr.contains(raw), "`{raw}` in standard error:\n{}", ended.stderr);
    }
    assert!(!ended.stdout.contains(KEY) && !ended.stderr.contains(KEY), "the key is printed: {ended:?}");
    for folder in [home.mynah(), home.user(), home.project()] {
        for file in all_files(folder) {
            // Pipes of a test would block.
            if file.is_file() {
                let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
                assert!(!text.contains(KEY), "the key is in {}", file.display());
            }
        }
    }
    wait_until("the end of all processes", || processes_of(home).is_empty());
}

/// Processes that a run in this home has started, told by the environment that they inherit. Empty where the system has
/// no `/proc`.
pub fn processes_of(home: &Home) -> Vec<Pid> {
    let mark = format!("MYNAH_HOME={}", home.mynah().display()).into_bytes();
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    folders
        .filter_map(|folder| folder.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
        .filter(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark)
        })
        .collect()
}

/// The texts of the user's messages in the newest session.
pub fn said(home: &Home) -> Vec<String> {
    let files = session_files(home);
    let bytes = std::fs::read(files.last().expect("a session was written")).unwrap();
    // A line that was torn by a kill is passed over, as every reader does.
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let texts = lines.filter(|line| line["message"]["role"] == "user");
    texts.map(|line| line["message"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()).collect()
}
