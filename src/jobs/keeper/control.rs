//! The pipe in a job's folder by which others tell its keeper what they want. A named pipe needs no short path, and holds
//! what several write at once apart, as long as a frame fits.
//!
//! A frame is a letter, the length of what follows in two bytes, and that.

use rustix::fs::{CWD, Mode};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{self, Receiver, Sender};

const NAME: &str = "control";
const STOP: u8 = b'S';
const INPUT: u8 = b'I';
/// Bytes of input in one frame: with its head it is written whole or not at all.
const MOST: usize = 400;

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The end of all of it.
    Stop,
    /// Writes this to its terminal.
    Input(Vec<u8>),
}

/// The keeper's side.
#[derive(Debug)]
pub struct Control {
    pipe: Receiver,
    /// With it the pipe never ends, whoever else has it open.
    _other_side: Sender,
}

/// Makes the pipe.
pub fn create(folder: &Path) -> io::Result<()> {
    make_pipe(&folder.join(NAME))
}

/// Makes a named pipe for its owner alone.
pub fn make_pipe(path: &Path) -> io::Result<()> {
    let mode = Mode::RUSR | Mode::WUSR;
    #[cfg(target_vendor = "apple")]
    return rustix::fs::mkfifoat(CWD, path, mode).map_err(Into::into);
    #[cfg(not(target_vendor = "apple"))]
    rustix::fs::mknodat(CWD, path, rustix::fs::FileType::Fifo, mode, 0).map_err(Into::into)
}

impl Control {
    /// Opens it for reading.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let (path, options) = (folder.join(NAME), pipe::OpenOptions::new());
        let pipe = options.open_receiver(&path)?;
        Ok(Self { pipe, _other_side: options.open_sender(path)? })
    }

    /// The next thing that is wanted. What makes no sense is passed over. Not to be dropped in the middle of a frame, which
    /// only happens when the job ends: frames come whole.
    pub async fn next(&mut self) -> Ask {
        loop {
            match self.frame().await {
                Ok(Some(ask)) => return ask,
                Ok(None) => {}
                Err(_) => std::future::pending().await,
            }
        }
    }

    async fn frame(&mut self) -> io::Result<Option<Ask>> {
        self.pipe.readable().await?;
        let mut head = [0; 3];
        match self.pipe.try_read(&mut head) {
            Ok(3) => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error),
        }
        let [kind, high, low] = head;
        let mut text = vec![0; usize::from(u16::from_be_bytes([high, low]))];
        self.pipe.read_exact(&mut text).await?;
        Ok(match kind {
            STOP => Some(Ask::Stop),
            INPUT => Some(Ask::Input(text)),
            _ => None,
        })
    }
}

/// Tells the keeper of this folder. It fails at once where none listens.
pub fn send(folder: &Path, ask: &Ask) -> io::Result<()> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut pipe = OpenOptions::new().write(true).custom_flags(nonblocking).open(folder.join(NAME))?;
    let (kind, text): (u8, &[u8]) = match ask {
        Ask::Stop => (STOP, &[]),
        Ask::Input(text) => (INPUT, text),
    };
    let mut parts = text.chunks(MOST).collect::<Vec<_>>();
    if parts.is_empty() {
        parts.push(&[]);
    }
    for part in parts {
        let length = u16::try_from(part.len()).unwrap_or(u16::MAX).to_be_bytes();
        let frame = [&[kind], length.as_slice(), part].concat();
        let written = pipe.write(&frame)?;
        if written != frame.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn asks_come_in_order_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        create(folder.path()).unwrap();
        assert!(send(folder.path(), &Ask::Stop).is_err(), "nobody listens");
        let mut control = Control::open(folder.path()).unwrap();
        let long: Vec<u8> = (0..3_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        send(folder.path(), &Ask::Input(b"yes\n".to_vec())).unwrap();
        send(folder.path(), &Ask::Input(long.clone())).unwrap();
        send(folder.path(), &Ask::Stop).unwrap();
        assert_eq!(control.next().await, Ask::Input(b"yes\n".to_vec()));
        let mut got = Vec::new();
        loop {
            match control.next().await {
                Ask::Input(bytes) => got.extend(bytes),
                Ask::Stop => break,
            }
        }
        assert_eq!(got, long);
    }
}
