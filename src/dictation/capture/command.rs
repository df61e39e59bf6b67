//! A program as a microphone: it writes 16-bit little-endian mono samples at 16 kHz to its standard output.
//!
//! The program gets a process group of its own, which is killed when its sound is not wanted any more; it is always
//! waited for, so that none stays behind as a zombie.

use super::error::CaptureError;
use super::intake::Intake;
use super::source::{Outlet, Source};
use super::words;
use crate::dictation::audio::SAMPLE_RATE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// Recording programs that we know the arguments of, in the order in which they are tried: those that ask the sound
/// server first, as the system's audio has failed by then.
pub const KNOWN: [&str; 3] = ["parec", "pw-record", "arecord"];

/// Of what a program prints to standard error, this many bytes are kept.
const PRINTED: usize = 2_048;

/// A program that closes its output ends within this time, and then its code and its words are known.
const ENDS_WITHIN: Duration = Duration::from_millis(300);

/// How long a program that is faster than its reader waits before it is looked again.
const FULL: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Letters of it that are shown.
const SHOWN: usize = 160;

/// Records with a program.
#[derive(Debug)]
pub struct CommandSource {
    words: Vec<String>,
}

impl CommandSource {
    /// A program by its name, if it is one of `KNOWN`, or a whole command line. A known one records from this
    /// microphone, in its own words, or from the default if it is empty.
    ///
    /// # Errors
    /// It is no command line.
    pub fn new(line: &str, microphone: &str) -> Result<Self, CaptureError> {
        let words =
            words::split(line).filter(|words| !words.is_empty()).ok_or_else(|| CaptureError::Program {
                program: line.to_owned(),
                detail: "is no command line: a quote is left open, or it is empty".to_owned(),
            })?;
        let known = if let [program] = words.as_slice() { arguments(program, microphone) } else { None };
        Ok(Self { words: known.unwrap_or(words) })
    }

    fn program(&self) -> &str {
        let first = self.words.first().map_or("", String::as_str);
        Path::new(first).file_name().and_then(OsStr::to_str).unwrap_or(first)
    }

    fn error(&self, detail: String) -> CaptureError {
        CaptureError::Program { program: self.program().to_owned(), detail }
    }

    fn spawn(&self) -> Result<Child, CaptureError> {
        let (program, arguments) =
            self.words.split_first().ok_or_else(|| self.error("is missing".to_owned()))?;
        Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => self.error("is not installed".to_owned()),
                std::io::ErrorKind::PermissionDenied => self.error("may not be run".to_owned()),
                _ => self.error(format!("can't be started: {error}")),
            })
    }

    /// Moves samples until the program ends or is not wanted any more; what it printed goes to `printed`.
    fn pump(&self, child: &mut Child, outlet: &Outlet, printed: &mut Vec<u8>) -> Result<(), Errno> {
        let (Some(mut output), Some(mut error)) = (child.stdout.take(), child.stderr.take()) else {
            return Ok(());
        };
        let mut intake: Option<Intake> = None;
        let mut block = [0_u8; 4_096];
        let mut samples = Vec::with_capacity(block.len());
        // Half a sample that the last block ended with.
        let mut half: Option<u8> = None;
        let mut is_printing = true;
        loop {
            let (has_output, has_printed, is_closed) = {
                let mut waits = vec![
                    PollFd::new(&output, PollFlags::IN),
                    PollFd::new(outlet.wake(), PollFlags::IN),
                    PollFd::new(&error, PollFlags::IN),
                ];
                if !is_printing {
                    waits.truncate(2);
                }
                match poll(&mut waits, None) {
                    Err(Errno::INTR) => continue,
                    other => other?,
                };
                let is_ready = |at: usize| waits.get(at).is_some_and(|wait| !wait.revents().is_empty());
                (is_ready(0), is_ready(2), is_ready(1))
            };
            if is_closed {
                return Ok(());
            }
            if has_printed {
                is_printing = heed(&mut error, printed);
            }
            if has_output {
                let count = output.read(&mut block).unwrap_or(0);
                if count == 0 {
                    // It has ended or is about to.
                    return last_words(&mut error, outlet, printed);
                }
                samples.clear();
                for byte in block.iter().take(count) {
                    match half.take() {
                        None => half = Some(*byte),
                        Some(low) => samples.push(i16::from_le_bytes([low, *byte])),
                    }
                }
                let rate = SAMPLE_RATE as u32;
                let intake = intake.get_or_insert_with(|| Intake::new(outlet.open(self.program(), rate), 1));
                // A file is faster than a microphone: it waits, and nothing of it is lost.
                while intake.room() < samples.len() {
                    let mut wait = [PollFd::new(outlet.wake(), PollFlags::IN)];
                    match poll(&mut wait, Some(&FULL)) {
                        Ok(0) | Err(Errno::INTR) => {}
                        Ok(_closed) => return Ok(()),
                        Err(error) => return Err(error),
                    }
                }
                intake.take(&samples);
            }
        }
    }
}

impl Source for CommandSource {
    fn run(&mut self, outlet: &Outlet) -> Result<(), CaptureError> {
        let mut child = self.spawn()?;
        let mut printed = Vec::new();
        let pumped = self.pump(&mut child, outlet, &mut printed);
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // It may be gone already.
            let _already_gone = kill_process_group(group, Signal::KILL);
        }
        let status = child.wait();
        if outlet.is_closed() {
            return Ok(());
        }
        pumped.map_err(|error| self.error(format!("can't be read: {error}")))?;
        let said = first_line(&printed);
        let is_success = status.as_ref().is_ok_and(std::process::ExitStatus::success);
        if outlet.is_open() && said.is_empty() && is_success {
            // It gave all it had, as one that plays a file does.
            return Ok(());
        }
        Err(self.error(match (said.is_empty(), status) {
            (false, _) => format!("has ended: {said}"),
            (true, Ok(status)) if status.code().is_some_and(|code| code != 0) => {
                format!("has ended with code {}", status.code().unwrap_or(0))
            }
            (true, _) => "has ended by itself".to_owned(),
        }))
    }
}

/// Takes what was printed, and keeps what is not too much; false at its end.
fn heed(error: &mut ChildStderr, printed: &mut Vec<u8>) -> bool {
    let mut some = [0_u8; 512];
    let count = error.read(&mut some).unwrap_or(0);
    let room = PRINTED.saturating_sub(printed.len());
    printed.extend(some.iter().take(count.min(room)));
    count > 0
}

/// Takes what a program that gives no more sound prints until it ends: for a moment, it may have left others behind.
fn last_words(error: &mut ChildStderr, outlet: &Outlet, printed: &mut Vec<u8>) -> Result<(), Errno> {
    let deadline = Instant::now() + ENDS_WITHIN;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
        let (count, is_closed) = {
            let mut waits = [PollFd::new(&*error, PollFlags::IN), PollFd::new(outlet.wake(), PollFlags::IN)];
            let count = match poll(&mut waits, Some(&left)) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            let [_printed, wake] = &waits;
            (count, !wake.revents().is_empty())
        };
        if count == 0 || is_closed || !heed(error, printed) {
            return Ok(());
        }
    }
}

/// The command line of a program that we know.
fn arguments(program: &str, microphone: &str) -> Option<Vec<String>> {
    let name = Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or(program);
    let (fixed, chosen): (&[&str], &str) = match name {
        "arecord" => (&["-q", "-t", "raw", "-f", "S16_LE", "-r", "16000", "-c", "1"], "--device="),
        "parec" => {
            (&["--raw", "--format=s16le", "--rate=16000", "--channels=1", "--latency-msec=30"], "--device=")
        }
        "pw-record" => (&["--format=s16", "--rate=16000", "--channels=1", "--latency=30ms"], "--target="),
        _ => return None,
    };
    let mut words = vec![program.to_owned()];
    words.extend(fixed.iter().map(|word| (*word).to_owned()));
    if !microphone.is_empty() {
        words.push(format!("{chosen}{microphone}"));
    }
    if name == "pw-record" {
        words.push("-".to_owned());
    }
    Some(words)
}

/// The first line that was printed, without signs that steer a terminal, and not longer than a line should be.
fn first_line(printed: &[u8]) -> String {
    let text = String::from_utf8_lossy(printed);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars()
        .filter(|sign| !sign.is_control())
        .take(SHOWN)
        .collect::<String>()
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests;
