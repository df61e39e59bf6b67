#![expect(clippy::significant_drop_tightening, reason = "the lock is what these wait with")]

use super::*;
use ratatui::layout::Rect;
use std::sync::mpsc;

/// A terminal that takes only what it is allowed to.
#[derive(Clone, Default)]
struct Slow(Arc<(Mutex<SlowState>, Condvar)>);

#[derive(Default)]
struct SlowState {
    allowed: usize,
    taken: Vec<u8>,
    broken: bool,
}

impl Slow {
    fn allow(&self, bytes: usize) {
        self.0.0.lock().unwrap().allowed = bytes;
        self.0.1.notify_all();
    }

    /// Waits until so many bytes are taken.
    fn wait_taken(&self, bytes: usize) {
        let state = self.0.0.lock().unwrap();
        let waited = self.0.1.wait_timeout_while(state, LONG, |state| state.taken.len() < bytes).unwrap();
        assert!(!waited.1.timed_out());
    }

    fn break_line(&self) {
        self.0.0.lock().unwrap().broken = true;
        self.0.1.notify_all();
    }

    fn shown(&self, width: u16, height: u16) -> String {
        let size = |number| std::num::NonZeroU16::new(number).unwrap();
        let mut terminal = vt100::Parser::new(size(height), size(width), 0);
        terminal.process(&self.0.0.lock().unwrap().taken);
        terminal.screen().contents()
    }
}

impl Sink for Slow {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.0.lock().unwrap();
        if state.broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let taken = bytes.len().min(state.allowed).min(7);
        if taken == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        state.allowed -= taken;
        state.taken.extend_from_slice(&bytes[..taken]);
        self.0.1.notify_all();
        Ok(taken)
    }

    fn wait(&self, limit: Duration) -> io::Result<()> {
        let state = self.0.0.lock().unwrap();
        drop(self.0.1.wait_timeout_while(state, limit, |state| state.allowed == 0 && !state.broken).unwrap());
        Ok(())
    }
}

const LONG: Duration = Duration::from_secs(20);

fn frame(text: &str) -> Frame {
    let mut cells = Buffer::empty(Rect::new(0, 0, 20, 2));
    cells.set_string(0, 0, text, ratatui::style::Style::new());
    Frame { cells, ..Frame::default() }
}

fn start(slow: &Slow) -> (Writer, mpsc::Receiver<io::ErrorKind>) {
    let (send, closed) = mpsc::channel();
    let tell = move |error: io::Error| send.send(error.kind()).unwrap();
    (Writer::start(slow.clone(), Screen::new(true, true), tell).unwrap(), closed)
}

#[test]
fn a_slow_terminal_skips_frames_and_shows_the_last_one_whole() {
    let slow = Slow::default();
    let (mut writer, _closed) = start(&slow);
    for number in 0..1000 {
        writer.show(frame(&format!("frame {number}")));
        if number == 10 {
            // In the middle of a frame.
            slow.allow(20);
            slow.wait_taken(20);
        }
    }
    assert_eq!(writer.drain(Duration::ZERO), Drained::TooSlow);
    slow.allow(usize::MAX);
    assert_eq!(writer.drain(LONG), Drained::Yes);
    assert_eq!(slow.shown(20, 2), "frame 999");
    assert!(writer.written() < 400, "{}", writer.written());
    assert_eq!(writer.written(), slow.0.0.lock().unwrap().taken.len() as u64);
    assert_eq!(writer.stop(LONG), Drained::Yes);
}

#[test]
fn other_bytes_come_before_the_frame_and_are_bounded() {
    let slow = Slow::default();
    slow.allow(usize::MAX);
    let (writer, _closed) = start(&slow);
    writer.send(b"\x1b]0;title\x07").unwrap();
    writer.show(frame("text"));
    assert_eq!(writer.drain(LONG), Drained::Yes);
    assert!(slow.0.0.lock().unwrap().taken.starts_with(b"\x1b]0;title\x07"));
    slow.allow(0);
    assert_eq!(writer.send(&vec![b'x'; MOST_OTHER_BYTES + 1]), Err(Refused));
}

#[test]
fn a_closed_terminal_is_told_once_and_holds_nobody_up() {
    let slow = Slow::default();
    let (mut writer, closed) = start(&slow);
    writer.show(frame("one"));
    slow.break_line();
    assert_eq!(closed.recv_timeout(LONG), Ok(io::ErrorKind::BrokenPipe));
    writer.show(frame("two"));
    assert_eq!(writer.send(b"x"), Err(Refused));
    assert_eq!(writer.drain(LONG), Drained::Closed);
    assert_eq!(writer.stop(LONG), Drained::Closed);
    assert!(closed.recv_timeout(LONG).is_err(), "only once");
}

#[test]
fn a_terminal_that_takes_nothing_can_be_given_up() {
    let slow = Slow::default();
    let (mut writer, _closed) = start(&slow);
    writer.show(frame("never seen"));
    assert_eq!(writer.stop(Duration::from_millis(1)), Drained::TooSlow);
}

#[test]
fn a_repaint_is_a_full_frame() {
    let slow = Slow::default();
    slow.allow(usize::MAX);
    let (writer, _closed) = start(&slow);
    writer.show(frame("text"));
    assert_eq!(writer.drain(LONG), Drained::Yes);
    let before = writer.written();
    writer.show(frame("text"));
    assert_eq!(writer.drain(LONG), Drained::Yes);
    assert_eq!(writer.written(), before);
    writer.repaint();
    writer.show(frame("text"));
    assert_eq!(writer.drain(LONG), Drained::Yes);
    assert!(writer.written() > before);
}
