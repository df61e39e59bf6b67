//! The pipe in a job's folder by which others tell its keeper what they want. A named pipe needs no short path, and keeps
//! apart what several write at once, as long as a frame fits.
//!
//! A frame is the version, a letter, the length of what follows in two bytes, and that. A frame of another version or with
//! an unknown letter is passed over.

use crate::proto::job::StoppedBy;
use rustix::fs::{CWD, Mode};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use tokio::net::unix::pipe::{self, Receiver, Sender};

const NAME: &str = "control";
const VERSION: u8 = 1;
const HEAD: usize = 4;
/// Bytes of input in one frame: with its head it is below the smallest size that is written whole or not at all (512).
const MOST: usize = 400;
/// Bytes that are read at once.
const CHUNK: usize = 4_096;

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// End all of it.
    Stop(StoppedBy),
    /// Others are ending it, for this reason: the keeper only has to remember.
    IsBeingStopped(StoppedBy),
    /// Write this to its terminal.
    Input(Vec<u8>),
    /// The shell, which is not the keeper's child, has ended like this.
    ShellEnded(ShellEnd),
}

/// How a shell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellEnd {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
}

/// The keeper's side.
#[derive(Debug)]
pub struct Control {
    pipe: Receiver,
    /// With it the pipe never ends, whoever else has it open.
    _other_side: Sender,
    frames: Frames,
}

/// Makes the pipe.
pub fn create(folder: &Path) -> io::Result<()> {
    make_pipe(&folder.join(NAME))
}

/// Makes a named pipe that only the user can open.
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
        Ok(Self { pipe, _other_side: options.open_sender(path)?, frames: Frames::default() })
    }

    /// The next thing that is wanted. May be dropped at any time: nothing is lost.
    pub async fn next(&mut self) -> Ask {
        let mut buffer = [0; CHUNK];
        loop {
            if let Some(ask) = self.frames.next() {
                return ask;
            }
            let read = match self.pipe.readable().await {
                Ok(()) => self.pipe.try_read(&mut buffer),
                Err(error) => Err(error),
            };
            match read {
                Ok(length) if length > 0 => self.frames.push(buffer.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // It can't be read any more: the job goes on, and nobody can tell it anything.
                Ok(_) | Err(_) => std::future::pending().await,
            }
        }
    }
}

/// Bytes of the pipe, cut into frames. Pure.
#[derive(Debug, Default)]
struct Frames(Vec<u8>);

impl Frames {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// The next frame that makes sense.
    fn next(&mut self) -> Option<Ask> {
        loop {
            let [version, kind, high, low] = *self.0.first_chunk::<HEAD>()?;
            let end = HEAD + usize::from(u16::from_be_bytes([high, low]));
            let text = self.0.get(HEAD..end)?.to_vec();
            self.0.drain(..end);
            if version == VERSION
                && let Some(ask) = decode(kind, text)
            {
                return Some(ask);
            }
        }
    }
}

fn decode(kind: u8, text: Vec<u8>) -> Option<Ask> {
    let by = || match text.first()? {
        b'a' => Some(StoppedBy::Agent),
        b'u' => Some(StoppedBy::User),
        b'e' => Some(StoppedBy::End),
        b't' => Some(StoppedBy::Terminal),
        _ => None,
    };
    let number = || Some(i32::from_be_bytes(*text.first_chunk()?));
    Some(match kind {
        b'S' => Ask::Stop(by()?),
        b'B' => Ask::IsBeingStopped(by()?),
        b'I' => Ask::Input(text),
        b'X' => Ask::ShellEnded(ShellEnd::Exited(number()?)),
        b'K' => Ask::ShellEnded(ShellEnd::Signalled(number()?)),
        _ => return None,
    })
}

fn encode(ask: &Ask) -> (u8, Vec<u8>) {
    let by = |by: &StoppedBy| {
        vec![match by {
            StoppedBy::Agent => b'a',
            StoppedBy::User => b'u',
            StoppedBy::End => b'e',
            StoppedBy::Terminal => b't',
        }]
    };
    match ask {
        Ask::Stop(who) => (b'S', by(who)),
        Ask::IsBeingStopped(who) => (b'B', by(who)),
        Ask::Input(text) => (b'I', text.clone()),
        Ask::ShellEnded(ShellEnd::Exited(code)) => (b'X', code.to_be_bytes().to_vec()),
        Ask::ShellEnded(ShellEnd::Signalled(signal)) => (b'K', signal.to_be_bytes().to_vec()),
    }
}

/// Tells the keeper of this folder. Never waits; fails where no keeper listens (`ENXIO`), and with
/// [`io::ErrorKind::WouldBlock`] where it has not yet read what it was told before.
pub fn send(folder: &Path, ask: &Ask) -> io::Result<()> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut pipe = OpenOptions::new().write(true).custom_flags(nonblocking).open(folder.join(NAME))?;
    let (kind, text) = encode(ask);
    for part in text.chunks(MOST) {
        let [high, low] = u16::try_from(part.len()).unwrap_or(u16::MAX).to_be_bytes();
        let frame = [&[VERSION, kind, high, low], part].concat();
        if pipe.write(&frame)? != frame.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
    }
    Ok(())
}

/// A keeper listens there.
pub fn is_heard(folder: &Path) -> bool {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    OpenOptions::new().write(true).custom_flags(nonblocking).open(folder.join(NAME)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[tokio::test]
    async fn asks_come_in_order_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        create(folder.path()).unwrap();
        let stop = Ask::Stop(StoppedBy::User);
        assert!(send(folder.path(), &stop).is_err(), "nobody listens");
        assert!(!is_heard(folder.path()));
        let mut control = Control::open(folder.path()).unwrap();
        assert!(is_heard(folder.path()));
        let long: Vec<u8> = (0..3_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        send(folder.path(), &Ask::Input(b"yes\n".to_vec())).unwrap();
        send(folder.path(), &Ask::Input(long.clone())).unwrap();
        send(folder.path(), &stop).unwrap();
        assert_eq!(control.next().await, Ask::Input(b"yes\n".to_vec()));
        let mut got = Vec::new();
        loop {
            match control.next().await {
                Ask::Input(bytes) => got.extend(bytes),
                other => break assert_eq!(other, stop),
            }
        }
        assert_eq!(got, long);
        let mut refused = None;
        for _ in 0..10_000 {
            refused = refused.or(send(folder.path(), &Ask::Input(vec![0; 300])).err());
        }
        assert_eq!(refused.unwrap().kind(), io::ErrorKind::WouldBlock, "nobody waits for a keeper");
    }

    fn frame(version: u8, kind: u8, text: &[u8]) -> Vec<u8> {
        let [high, low] = u16::try_from(text.len()).unwrap().to_be_bytes();
        [&[version, kind, high, low], text].concat()
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_asks(cuts in prop::collection::vec(1_usize..9, 1..60)) {
            let asks = [
                Ask::Stop(StoppedBy::Agent),
                Ask::Input(b"a\0b".to_vec()),
                Ask::ShellEnded(ShellEnd::Exited(-3)),
                Ask::ShellEnded(ShellEnd::Signalled(9)),
                Ask::IsBeingStopped(StoppedBy::End),
                Ask::Stop(StoppedBy::Terminal),
            ];
            let mut bytes = frame(9, b'S', b"a");
            bytes.extend(frame(1, b'?', b"later"));
            bytes.extend(frame(1, b'X', b"x"));
            for ask in &asks {
                let (kind, text) = encode(ask);
                bytes.extend(frame(1, kind, &text));
            }
            let (mut frames, mut got, mut rest) = (Frames::default(), Vec::new(), &bytes[..]);
            for cut in cuts.into_iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (now, later) = rest.split_at(cut.min(rest.len()));
                frames.push(now);
                got.extend(std::iter::from_fn(|| frames.next()));
                rest = later;
            }
            prop_assert_eq!(&got[..], &asks[..]);
            prop_assert!(frames.0.is_empty());
        }
    }
}
