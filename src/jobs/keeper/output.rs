//! What a job prints, as it comes, and what is written to its terminal.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe::Receiver;

/// Bytes that wait for a program to read them, at most.
const MOST_INPUT: usize = 64 * 1024;

/// What a job prints.
#[derive(Debug)]
pub enum Output {
    /// Both of its outputs.
    Pipe(Receiver),
    /// Our side of its terminal, and what is still to be written there.
    Terminal(AsyncFd<OwnedFd>, VecDeque<u8>),
    /// Nothing more will come.
    Closed,
}

impl Output {
    /// Takes a reading end over. What is no pipe prints nothing.
    pub fn of_pipe(pipe: OwnedFd) -> io::Result<Self> {
        match Receiver::from_owned_fd(pipe) {
            Ok(pipe) => Ok(Self::Pipe(pipe)),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(Self::Closed),
            Err(error) => Err(error),
        }
    }

    /// More may come.
    pub const fn is_open(&self) -> bool {
        !matches!(self, Self::Closed)
    }

    /// Reads what was printed, or writes what waits: how many bytes were read. None, and no longer open: it is closed.
    /// May be dropped while it waits.
    pub async fn next(&mut self, buffer: &mut [u8]) -> usize {
        let length = match self {
            Self::Pipe(pipe) => read_pipe(pipe, buffer).await,
            Self::Terminal(ours, waiting) if waiting.is_empty() => read_terminal(ours, buffer).await,
            Self::Terminal(ours, waiting) => tokio::select! {
                biased;
                length = read_terminal(ours, buffer) => length,
                () = write_terminal(ours, waiting) => return 0,
            },
            Self::Closed => Ok(0),
        };
        // A terminal that nobody has open any more is an error to read from.
        let length = length.unwrap_or(0);
        if length == 0 {
            *self = Self::Closed;
        }
        length
    }

    /// Keeps what is to be written until there is room for it. What is too much for a program that reads nothing is left
    /// out: returns how many bytes that are.
    pub fn push_input(&mut self, bytes: &[u8]) -> usize {
        let Self::Terminal(_, waiting) = self else { return bytes.len() };
        let taken = bytes.len().min(MOST_INPUT.saturating_sub(waiting.len()));
        waiting.extend(bytes.iter().take(taken));
        bytes.len() - taken
    }
}

async fn read_pipe(pipe: &Receiver, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        pipe.readable().await?;
        match pipe.try_read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            length => return length,
        }
    }
}

async fn read_terminal(ours: &AsyncFd<OwnedFd>, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut guard = ours.readable().await?;
        if let Ok(length) = guard.try_io(|ours| Ok(rustix::io::read(ours.get_ref(), &mut *buffer)?)) {
            return length;
        }
    }
}

/// Writes some of it, as soon as there is room.
async fn write_terminal(ours: &AsyncFd<OwnedFd>, waiting: &mut VecDeque<u8>) {
    let Ok(mut guard) = ours.writable().await else {
        waiting.clear();
        return;
    };
    match guard.try_io(|ours| Ok(rustix::io::write(ours.get_ref(), waiting.as_slices().0)?)) {
        Ok(Ok(written)) => drop(waiting.drain(..written)),
        Ok(Err(_)) => waiting.clear(),
        Err(_would_block) => {}
    }
}
