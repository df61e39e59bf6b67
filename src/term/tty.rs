//! The terminal as a file: opened for ourselves, so that no other program that shares standard output notices.
//!
//! Invariant: nothing here blocks for ever. The file is opened anew and never waits in the kernel; whoever wants to wait
//! says how long. (A terminal that can't be opened by its name is used as it is, and may block.)

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr, ttyname};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether something can be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// It can.
    Yes,
    /// The time is over.
    No,
}

/// A terminal that is open for reading and writing.
#[derive(Debug)]
pub struct Tty {
    file: File,
    /// Frames go nowhere while another program has the terminal, or none has. The lock is held over each write, so that
    /// nothing of a frame can follow what was written at the mute.
    muted: Mutex<bool>,
}

impl Tty {
    /// The terminal of this process.
    ///
    /// # Errors
    ///
    /// Standard input or output is no terminal, or it can't be opened.
    pub fn open() -> io::Result<Self> {
        let (input, output) = (io::stdin(), io::stdout());
        if !isatty(&input) || !isatty(&output) {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "standard input or output is no terminal",
            ));
        }
        let named = ttyname(&output, Vec::new())
            .map_err(io::Error::from)
            .and_then(|name| Self::at(Path::new(OsStr::from_bytes(name.as_bytes()))));
        named.or_else(|_no_name| Ok(Self::of(File::from(output.as_fd().try_clone_to_owned()?))))
    }

    /// The terminal of this name.
    ///
    /// # Errors
    ///
    /// It can't be opened.
    pub fn at(path: &Path) -> io::Result<Self> {
        let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).map_err(io::Error::other)?;
        OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).map(Self::of)
    }

    const fn of(file: File) -> Self {
        Self { file, muted: Mutex::new(false) }
    }

    /// Columns and rows, at least one of each.
    ///
    /// # Errors
    ///
    /// The terminal is closed.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = tcgetwinsize(&self.file)?;
        Ok((size.ws_col.max(1), size.ws_row.max(1)))
    }

    /// Turns raw mode on, and returns what was before.
    ///
    /// # Errors
    ///
    /// The terminal is closed.
    pub fn enter_raw(&self) -> io::Result<Termios> {
        let before = tcgetattr(&self.file)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&self.file, OptionalActions::Now, &raw)?;
        Ok(before)
    }

    /// Brings the mode back. `discard` drops what was typed and not read.
    ///
    /// # Errors
    ///
    /// The terminal is closed.
    pub fn restore_mode(&self, mode: &Termios, discard: bool) -> io::Result<()> {
        let when = if discard { OptionalActions::Flush } else { OptionalActions::Now };
        Ok(tcsetattr(&self.file, when, mode)?)
    }

    /// Reads what is there; zero means that nothing is.
    ///
    /// # Errors
    ///
    /// The terminal is closed.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match (&self.file).read(buffer) {
            Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal is closed")),
            Ok(read) => Ok(read),
            Err(error) if is_passing(&error) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Waits until there is something to read.
    ///
    /// # Errors
    ///
    /// The system refuses to wait.
    pub fn wait_readable(&self, limit: Duration) -> io::Result<Ready> {
        self.wait(PollFlags::IN, limit)
    }

    /// Waits until something can be written.
    ///
    /// # Errors
    ///
    /// The system refuses to wait.
    pub fn wait_writable(&self, limit: Duration) -> io::Result<Ready> {
        self.wait(PollFlags::OUT, limit)
    }

    fn wait(&self, what: PollFlags, limit: Duration) -> io::Result<Ready> {
        let mut wait = [PollFd::new(&self.file, what)];
        match poll(&mut wait, Some(&Timespec::try_from(limit).map_err(io::Error::other)?)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(Ready::No),
            Ok(_) => Ok(Ready::Yes),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a part of a frame, as much as the terminal takes now. While muted, everything goes nowhere.
    ///
    /// # Errors
    ///
    /// The terminal takes nothing now ([`io::ErrorKind::WouldBlock`]), or it is closed.
    pub fn write_frame(&self, bytes: &[u8]) -> io::Result<usize> {
        let muted = self.muted.lock().unwrap_or_else(PoisonError::into_inner);
        if *muted { Ok(bytes.len()) } else { (&self.file).write(bytes) }
    }

    /// Stops frames, or lets them through again.
    pub fn mute(&self, mute: bool) {
        *self.muted.lock().unwrap_or_else(PoisonError::into_inner) = mute;
    }

    /// Writes all of it, muted or not.
    ///
    /// # Errors
    ///
    /// The terminal is closed, or it did not take everything in time ([`io::ErrorKind::TimedOut`]).
    pub fn write_within(&self, mut bytes: &[u8], limit: Duration) -> io::Result<()> {
        let deadline = Instant::now() + limit;
        while !bytes.is_empty() {
            match (&self.file).write(bytes) {
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if is_passing(&error) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(io::Error::new(io::ErrorKind::TimedOut, "the terminal takes no more"));
                    }
                    self.wait_writable(left)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl AsFd for Tty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Whether trying again later helps.
pub fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
