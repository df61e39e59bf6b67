//! Keeps what libraries print off the screen: while the program has it, standard output and standard error go to a file.
//! Our own frames do not pass through either ([`super::tty`]).

use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stderr, dup2_stdout};
use rustix::termios::isatty;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Where the standard streams went before. Those that were no terminal are left alone.
#[derive(Debug)]
pub struct StrayPrints {
    output: Option<OwnedFd>,
    error: Option<OwnedFd>,
}

impl StrayPrints {
    /// Sends them to this file.
    ///
    /// # Errors
    ///
    /// The system has no descriptors left.
    pub fn catch(file: &File) -> io::Result<Self> {
        let mut caught = Self { output: None, error: None };
        if isatty(io::stdout()) {
            caught.output = Some(keep(io::stdout())?);
            dup2_stdout(file)?;
        }
        if isatty(io::stderr()) {
            caught.error = Some(keep(io::stderr())?);
            dup2_stderr(file)?;
        }
        Ok(caught)
    }

    /// Brings them back; attempts both, and reports the first error.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn release(&mut self) -> io::Result<()> {
        let output = self.output.take().map_or(Ok(()), dup2_stdout);
        let error = self.error.take().map_or(Ok(()), dup2_stderr);
        Ok(output.and(error)?)
    }
}

impl Drop for StrayPrints {
    fn drop(&mut self) {
        // Nobody is left to tell, and nowhere to tell it.
        let _first_error = self.release();
    }
}

/// A copy out of the way of the three standard numbers.
fn keep(stream: impl AsFd) -> io::Result<OwnedFd> {
    Ok(fcntl_dupfd_cloexec(stream, 3)?)
}
