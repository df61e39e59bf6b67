//! Runs a command with and without the timing of its steps, in the way the program does.

use crate::jobs::steps::Plan;
use crate::jobs::steps::clock::{Ended, Mark, StepClock};
use crate::jobs::steps::launch::{Launch, read_now};
use crate::proto::chain::Chain;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;

/// A folder in which commands run, one after another, each as if it were the first.
pub struct Place {
    root: tempfile::TempDir,
    pub env: Vec<(String, OsString)>,
}

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Did {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// One of them holds both, if they were one pipe.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub files: BTreeMap<PathBuf, (u32, Vec<u8>)>,
}

/// What was seen of its steps.
pub struct Seen {
    pub chain: Option<Chain>,
    /// Byte for byte, as characters.
    pub outputs: Vec<String>,
    pub marks: Vec<Mark>,
    pub took: Duration,
}

/// Where the outputs go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pipes {
    One,
    Two,
}

/// Files that commands read into the shell. (In a list of all variables bash shows these two only when something
/// has read them: the one trace of the trap that a sourced file could find.)
const SCRIPTS: &[(&str, &str)] = &[
    ("last", "echo \"[$_]\"; declare -F; echo \"[$_]\"\n"),
    (
        "lists",
        "trap -p; declare -F; set | grep -v -e PID -e ^LINENO -e ^BASH_COMMAND; compgen -v; export -p; echo $-\n",
    ),
    ("function", "s=4; f() { trap -p; echo \"f $s $1 $_\"; declare -F; s=$1; }; f x\n"),
    ("at-exit", "trap 'echo bye; echo $?' EXIT\n"),
    ("on-error", "trap 'echo error $? $LINENO' ERR\n"),
    ("debug", "trap 'echo debug $BASH_COMMAND' DEBUG\n"),
    ("trace", "set -T; f() { echo f; }\n"),
    ("extended", "shopt -s extdebug nocasematch nullglob\n"),
    (
        "aliases",
        "shopt -s expand_aliases; alias echo='echo aliased' builtin='echo b' printf='echo p' read='echo r'\n",
    ),
    ("own", "printf() { echo own; }; read() { echo own; }; unset() { echo own; }; trap() { echo own; }\n"),
    ("verbose", "set -x; echo in file\n"),
    ("constant", "readonly answer=1 mark=2 REPLY=3 IFS=m\n"),
    ("odd", "set -f -u -C; IFS=emor; umask 077; set -o posix\n"),
];

const LIMIT: Duration = Duration::from_secs(20);

impl Place {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in SCRIPTS {
            let folder = root.path().join("scripts").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("activate"), text).unwrap();
        }
        Self { root, env: Vec::new() }
    }

    pub async fn plain(&self, command: &str, pipes: Pipes) -> Did {
        self.run(command, pipes, None).await.0
    }

    pub async fn timed(&self, command: &str, pipes: Pipes, plan: Plan) -> (Did, Seen) {
        self.timed_by(self.launch(), command, pipes, plan).await
    }

    pub fn path(&self) -> &Path {
        self.root.path()
    }

    pub fn launch(&self) -> Launch {
        Launch::prepare(&self.root.path().join("state")).unwrap()
    }

    pub async fn timed_by(&self, launch: Launch, command: &str, pipes: Pipes, plan: Plan) -> (Did, Seen) {
        let (did, seen) = self.run(command, pipes, Some((launch, StepClock::new(plan)))).await;
        (did, seen.unwrap())
    }

    fn begin(&self) -> PathBuf {
        let folder = self.root.path().join("here");
        let _none = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        fs::write(self.root.path().join("input"), "line one\nline two\nline three\n").unwrap();
        folder
    }

    async fn run(
        &self,
        text: &str,
        pipes: Pipes,
        timing: Option<(Launch, StepClock)>,
    ) -> (Did, Option<Seen>) {
        let folder = self.begin();
        let (reader, writer) = std::io::pipe().unwrap();
        let mut readers = [Some(receiver(reader)), None];
        let mut shell = Command::new("/bin/bash");
        shell.arg("-c").arg(text).current_dir(&folder).process_group(0).kill_on_drop(true);
        shell.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        shell.env("HOME", self.root.path()).env("LC_ALL", "C.UTF-8");
        shell.envs(self.env.iter().map(|(name, value)| (name, value)));
        shell.stdin(File::open(self.root.path().join("input")).unwrap());
        if pipes == Pipes::One {
            shell.stdout(writer.try_clone().unwrap()).stderr(writer);
        } else {
            let (reader, errors) = std::io::pipe().unwrap();
            readers[1] = Some(receiver(reader));
            shell.stdout(writer).stderr(errors);
        }
        if let Some((launch, _)) = &timing {
            let (name, value) = launch.variable();
            shell.env(name, value);
        }
        let started = Instant::now();
        let child = shell.spawn().unwrap();
        drop(shell);
        let mut follow =
            Follow { readers, outputs: [Vec::new(), Vec::new()], timing, marks: Vec::new(), started };
        let ended = tokio::time::timeout(LIMIT, follow.until_end(child)).await;
        let status = ended.unwrap_or_else(|_| panic!("hangs: {text}"));
        let took = started.elapsed();
        let [stdout, stderr] = follow.outputs;
        let did = Did { code: status.code(), signal: status.signal(), stdout, stderr, files: files(&folder) };
        let seen = follow.timing.map(|(launch, mut clock)| {
            if !launch.is_intact() {
                clock.lose();
            }
            let status = status.code().unwrap_or_else(|| 128 + status.signal().unwrap());
            clock.end(Ended::Status(status), millis(started));
            let outputs = (0..).map_while(|at| clock.output(at)).map(|output| output.live().0.to_owned());
            Seen { chain: clock.saved(), outputs: outputs.collect(), marks: follow.marks, took }
        });
        (did, seen)
    }
}

struct Follow {
    readers: [Option<Receiver>; 2],
    outputs: [Vec<u8>; 2],
    timing: Option<(Launch, StepClock)>,
    marks: Vec<Mark>,
    started: Instant,
}

impl Follow {
    async fn until_end(&mut self, mut child: tokio::process::Child) -> ExitStatus {
        let mut status = None;
        while status.is_none() || self.readers.iter().any(Option::is_some) {
            let [first, second] = &self.readers;
            tokio::select! {
                ended = child.wait(), if status.is_none() => status = Some(ended.unwrap()),
                () = readable(first) => {}
                () = readable(second) => {}
                mark = next_mark(&mut self.timing) => {
                    self.drain(read_now);
                    self.marks.push(mark.clone());
                    let (launch, clock) = self.timing.as_mut().unwrap();
                    let turn = clock.mark(&mark, millis(self.started));
                    launch.answer(turn.answer);
                    continue;
                }
            }
            self.drain(Receiver::try_read);
        }
        status.unwrap()
    }

    /// Takes all that is in the pipes.
    fn drain(&mut self, read: fn(&Receiver, &mut [u8]) -> io::Result<usize>) {
        let mut buffer = vec![0; 64 * 1024];
        for (reader, output) in self.readers.iter_mut().zip(&mut self.outputs) {
            while let Some(pipe) = reader {
                match read(pipe, &mut buffer) {
                    Ok(0) => *reader = None,
                    Ok(length) => {
                        output.extend(&buffer[..length]);
                        let text: String = buffer[..length].iter().map(|byte| char::from(*byte)).collect();
                        if let Some((_, clock)) = &mut self.timing {
                            clock.text(&text);
                        }
                    }
                    Err(_) => break,
                }
            }
        }
    }
}

fn receiver(reader: PipeReader) -> Receiver {
    Receiver::from_owned_fd(OwnedFd::from(reader)).unwrap()
}

async fn readable(pipe: &Option<Receiver>) {
    match pipe {
        Some(pipe) => pipe.readable().await.unwrap(),
        None => std::future::pending().await,
    }
}

async fn next_mark(timing: &mut Option<(Launch, StepClock)>) -> Mark {
    match timing {
        Some((launch, _)) => launch.mark().await,
        None => std::future::pending().await,
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let data = fs::symlink_metadata(entry.path()).unwrap();
            let content = if data.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
            if data.is_dir() {
                open.push(entry.path());
            }
            all.insert(entry.path(), (data.permissions().mode(), content));
        }
    }
    all
}
