//! Brings frames to the terminal on a thread of its own, so that a slow terminal never holds up the program.
//!
//! Invariants
//! - At most one frame waits, as a whole: a newer one takes its place, and the difference is computed against what was
//!   really written. A slow terminal sees fewer frames, never a broken one.
//! - Other bytes (clipboard, title, modes) keep their order, are never inside a frame, and are bounded.
//! - Nothing here makes the caller wait, except [`Writer::drain`] and [`Writer::stop`], and these have a limit.

use super::screen::{Frame, Screen};
use super::tty::{Tty, is_passing};
use ratatui::buffer::Buffer;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Most bytes besides frames that may wait: a large clipboard, several times.
const MOST_OTHER_BYTES: usize = 16 * 1024 * 1024;
/// How often a thread that the terminal holds up looks whether it is still wanted. Only then; it never wakes at rest.
const LOOK_UP: Duration = Duration::from_millis(50);

/// Where bytes go without blocking.
pub trait Sink: Send + 'static {
    /// Writes as much as is taken now.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] when nothing is taken now; anything else ends the writer.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Waits until something may be taken, at most so long.
    ///
    /// # Errors
    ///
    /// Waiting is impossible; ends the writer.
    fn wait(&self, limit: Duration) -> io::Result<()>;
}

impl Sink for Arc<Tty> {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.write_frame(bytes)
    }

    fn wait(&self, limit: Duration) -> io::Result<()> {
        self.wait_writable(limit).map(|_ready| ())
    }
}

/// What became of everything that was to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// It is written.
    Yes,
    /// Not within the limit.
    TooSlow,
    /// The terminal is closed.
    Closed,
}

/// The bytes were not taken: the terminal is closed, or too many wait already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the terminal takes no more")]
pub struct Refused;

/// The writing thread and its mailbox.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    mailbox: Mutex<Mailbox>,
    changed: Condvar,
    /// Give up even in the middle of a frame.
    abandon: AtomicBool,
    written: AtomicU64,
}

#[derive(Debug, Default)]
struct Mailbox {
    frame: Option<Frame>,
    other: Vec<u8>,
    repaint: bool,
    /// Rows that something else may have drawn on.
    distrusted: Vec<Range<u16>>,
    /// A buffer that the caller may fill next.
    spare: Option<Buffer>,
    busy: bool,
    stop: bool,
    closed: bool,
}

impl Mailbox {
    const fn is_empty(&self) -> bool {
        self.frame.is_none() && self.other.is_empty()
    }
}

impl Writer {
    /// Starts the thread. `closed` is called once if the terminal takes nothing any more, with the reason.
    ///
    /// # Errors
    ///
    /// The system has no thread left.
    pub fn start(
        sink: impl Sink,
        screen: Screen,
        closed: impl FnOnce(io::Error) + Send + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("terminal-writer".to_owned()).spawn(move || {
            if let Err(error) = theirs.write_all(&sink, screen) {
                theirs.close();
                closed(error);
            }
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Shows this frame as soon as the terminal can take it, instead of one that still waits. Returns a buffer to draw the
    /// next one into, if one is free; its content means nothing.
    pub fn show(&self, frame: Frame) -> Option<Buffer> {
        let mut mailbox = self.shared.lock();
        if mailbox.closed {
            return Some(frame.cells);
        }
        let replaced = mailbox.frame.replace(frame).map(|frame| frame.cells);
        let spare = mailbox.spare.take();
        drop(mailbox);
        self.shared.changed.notify_all();
        replaced.or(spare)
    }

    /// Paints the next frame in full, whatever is thought to be on the screen.
    pub fn repaint(&self) {
        self.shared.lock().repaint = true;
    }

    /// Writes these rows in full with the next frame.
    pub fn distrust(&self, rows: Range<u16>) {
        self.shared.lock().distrusted.push(rows);
    }

    /// Writes bytes that do not change the screen, before the frame that waits.
    ///
    /// # Errors
    ///
    /// They were not taken.
    pub fn send(&self, bytes: &[u8]) -> Result<(), Refused> {
        let mut mailbox = self.shared.lock();
        if mailbox.closed || mailbox.other.len() + bytes.len() > MOST_OTHER_BYTES {
            return Err(Refused);
        }
        mailbox.other.extend_from_slice(bytes);
        drop(mailbox);
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Waits until everything is written.
    pub fn drain(&self, limit: Duration) -> Drained {
        let deadline = Instant::now() + limit;
        let mut mailbox = self.shared.lock();
        loop {
            if mailbox.closed {
                return Drained::Closed;
            }
            if mailbox.is_empty() && !mailbox.busy {
                return Drained::Yes;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Drained::TooSlow;
            }
            let woken = self.shared.changed.wait_timeout(mailbox, left);
            mailbox = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Bytes that the terminal has taken so far.
    pub fn written(&self) -> u64 {
        self.shared.written.load(Ordering::Relaxed)
    }

    /// Writes what waits, at most so long, and ends the thread.
    pub fn stop(&mut self, limit: Duration) -> Drained {
        let drained = self.drain(limit);
        self.shared.lock().stop = true;
        self.shared.abandon.store(true, Ordering::Relaxed);
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that writes to the terminal has panicked");
        }
        drained
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop(Duration::ZERO);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Mailbox> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        let mut mailbox = self.lock();
        *mailbox = Mailbox { closed: true, ..Mailbox::default() };
        drop(mailbox);
        self.changed.notify_all();
    }

    /// The life of the thread.
    fn write_all(&self, sink: &impl Sink, mut screen: Screen) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            let mut mailbox = self.lock();
            while mailbox.is_empty() && !mailbox.stop {
                mailbox = self.changed.wait(mailbox).unwrap_or_else(PoisonError::into_inner);
            }
            if mailbox.stop {
                return Ok(());
            }
            bytes.clear();
            bytes.append(&mut mailbox.other);
            let frame = mailbox.frame.take();
            if std::mem::take(&mut mailbox.repaint) {
                screen.invalidate();
            }
            for rows in mailbox.distrusted.drain(..) {
                screen.distrust(rows);
            }
            mailbox.busy = true;
            drop(mailbox);
            let spare = frame.map(|frame| screen.paint(frame, &mut bytes));
            let outcome = self.write(sink, &bytes);
            let mut mailbox = self.lock();
            mailbox.busy = false;
            mailbox.spare = spare.or(mailbox.spare.take());
            drop(mailbox);
            self.changed.notify_all();
            outcome?;
        }
    }

    fn write(&self, sink: &impl Sink, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match sink.write(bytes) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::WriteZero, "the terminal is closed")),
                Ok(written) => {
                    self.written.fetch_add(written as u64, Ordering::Relaxed);
                    bytes = bytes.get(written..).unwrap_or_default();
                }
                Err(error) if is_passing(&error) => {
                    if self.abandon.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    sink.wait(LOOK_UP)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
