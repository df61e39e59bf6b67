//! The parts together, on a real pseudo terminal.
#![expect(clippy::significant_drop_tightening, reason = "a test keeps its turn to its end")]

use super::caps;
use super::escape::Parser;
use super::guard::{Guard, Modes, leave_in_panic};
use super::handoff::hand_over;
use super::input::Input;
use super::reader::{Heard, Reader};
use super::screen::{Frame, Screen};
use super::tty::{Ready, Tty};
use super::writer::{Drained, Writer};
use crossterm::event::{KeyCode, KeyEvent};
use portable_pty::{MasterPty, PtySize, SlavePty, native_pty_system};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use rustix::termios::{LocalModes, tcgetattr};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(50);

/// There is one owner of the terminal in a process; these tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// A terminal, seen from both sides.
struct Pty {
    tty: Arc<Tty>,
    keyboard: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// Everything that was written.
    written: Vec<u8>,
    master: Box<dyn MasterPty + Send>,
    _slave: Box<dyn SlavePty + Send>,
    _turn: MutexGuard<'static, ()>,
}

impl Pty {
    fn new() -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let pair = native_pty_system().openpty(size(40, 5)).unwrap();
        let tty = Arc::new(Tty::at(&pair.master.tty_name().unwrap()).unwrap());
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (send, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                if send.send(buffer[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let number = |number| NonZeroU16::new(number).unwrap();
        Self {
            tty,
            keyboard: pair.master.take_writer().unwrap(),
            output,
            screen: vt100::Parser::new(number(5), number(40), 0),
            written: Vec::new(),
            master: pair.master,
            _slave: pair.slave,
            _turn: turn,
        }
    }

    fn wait_for(&mut self, bytes: &str) {
        while !self.written.windows(bytes.len()).any(|window| window == bytes.as_bytes()) {
            let more = self.output.recv_timeout(LONG).expect(bytes);
            self.screen.process(&more);
            self.written.extend(more);
        }
    }

    fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.tty).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    fn is_plain(&self) -> bool {
        let screen = self.screen.screen();
        !screen.alternate_screen()
            && !screen.bracketed_paste()
            && !screen.hide_cursor()
            && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
            && !self.is_raw()
    }
}

const fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

const ALL: Modes = Modes {
    alternate: true,
    mouse: true,
    wheel_only: false,
    keyboard: true,
    other_keys: false,
    scheme: true,
    title: true,
    links: true,
};

fn frame(text: &str) -> Frame {
    let mut cells = Buffer::empty(Rect::new(0, 0, 40, 5));
    cells.set_string(0, 0, text, ratatui::style::Style::new());
    Frame { cells, ..Frame::default() }
}

fn read(pty: &Pty) -> (Reader, Receiver<Heard>) {
    let (send, heard) = channel();
    let reader = Reader::start(Arc::clone(&pty.tty), Parser::default(), false, move |input| {
        // The test may have seen enough.
        let _gone = send.send(input);
    });
    (reader.unwrap(), heard)
}

fn next(heard: &Receiver<Heard>) -> Input {
    match heard.recv_timeout(LONG).unwrap() {
        Heard::Input(input) => input,
        other => panic!("{other:?}"),
    }
}

fn letter(c: char) -> Input {
    Input::Key(KeyEvent::from(KeyCode::Char(c)))
}

#[test]
fn the_terminal_is_as_it_was_after_leaving_however_often() {
    let mut pty = Pty::new();
    assert!(pty.is_plain());
    let guard = Guard::new(Arc::clone(&pty.tty), None).unwrap();
    guard.enter(ALL).unwrap();
    pty.wait_for("\u{1b}[>7u");
    assert!(pty.screen.screen().alternate_screen() && pty.screen.screen().bracketed_paste() && pty.is_raw());
    guard.leave().unwrap();
    pty.wait_for("\u{1b}[?1049l");
    assert!(pty.is_plain());
    assert!(String::from_utf8_lossy(&pty.written).contains("\u{1b}[<u"));
    let before = pty.written.len();
    guard.leave().unwrap();
    guard.enter(ALL).unwrap();
    drop(guard);
    pty.wait_for("\u{1b}[?1049h");
    while !pty.is_plain() || pty.written.len() == before {
        let more = pty.output.recv_timeout(LONG).unwrap();
        pty.screen.process(&more);
        pty.written.extend(more);
    }
    let left = String::from_utf8_lossy(&pty.written).matches("\u{1b}[?1049l").count();
    assert_eq!(left, 2);
}

/// GNU screen as it comes has no other screen, and the shell goes on in the one we drew on.
#[test]
fn nothing_of_the_frame_is_left_where_there_is_no_screen_of_our_own() {
    let mut pty = Pty::new();
    let guard = Guard::new(Arc::clone(&pty.tty), None).unwrap();
    guard.enter(Modes { alternate: true, ..Modes::default() }).unwrap();
    pty.tty.write_within(b"\x1b[3;1Hour frame\x1b[5;1Hits last row", LONG).unwrap();
    guard.leave().unwrap();
    pty.wait_for("\u{1b}[?1049l");
    let mut screen = vt100::Parser::new(5.try_into().unwrap(), 40.try_into().unwrap(), 0);
    let heard =
        String::from_utf8_lossy(&pty.written).replace("\u{1b}[?1049h", "").replace("\u{1b}[?1049l", "");
    screen.process(heard.as_bytes());
    assert_eq!(screen.screen().contents().trim(), "");
    assert_eq!(screen.screen().cursor_position(), (0, 0));
}

#[test]
fn a_panic_of_the_owner_gives_the_terminal_back_and_one_of_another_thread_does_not() {
    let mut pty = Pty::new();
    let guard = Guard::new(Arc::clone(&pty.tty), None).unwrap();
    guard.enter(ALL).unwrap();
    std::thread::spawn(leave_in_panic).join().unwrap();
    assert!(pty.is_raw());
    leave_in_panic();
    pty.wait_for("\u{1b}[?1049l");
    assert!(pty.is_plain());
}

#[test]
fn a_parked_reader_leaves_every_byte_to_others() {
    let mut pty = Pty::new();
    let _guard = Guard::new(Arc::clone(&pty.tty), None).unwrap();
    let (reader, heard) = read(&pty);
    pty.type_keys("a");
    assert_eq!(next(&heard), letter('a'));
    assert!(reader.park(LONG));
    pty.type_keys("b");
    assert_eq!(pty.tty.wait_readable(LONG).unwrap(), Ready::Yes);
    let mut buffer = [0; 8];
    assert_eq!(pty.tty.read(&mut buffer).unwrap(), 1);
    assert_eq!(buffer[0], b'b');
    reader.resume();
    assert_eq!(next(&heard), Input::Resize { columns: 40, rows: 5 });
    pty.type_keys("c");
    assert_eq!(next(&heard), letter('c'));
    pty.type_keys("\u{1b}");
    assert_eq!(next(&heard), Input::Key(KeyEvent::from(KeyCode::Esc)));
    // An unmarked paste of two lines, then Enter.
    pty.type_keys("x\ry\r");
    let ends = |input: &Input| *input == Input::Paste("\n".to_owned());
    let pasted: Vec<_> = (0..4).map(|_| next(&heard)).collect();
    assert!(ends(&pasted[1]) && ends(&pasted[3]), "{pasted:?}");
}

#[test]
fn a_closed_terminal_ends_the_reader_and_the_writer() {
    let pty = Pty::new();
    let _guard = Guard::new(Arc::clone(&pty.tty), None).unwrap();
    let (reader, heard) = read(&pty);
    let (send, closed) = channel();
    let writer = Writer::start(Arc::clone(&pty.tty), Screen::new(true, true), move |error| {
        send.send(error).unwrap();
    });
    let writer = writer.unwrap();
    let Pty { keyboard, master, output, .. } = pty;
    drop((keyboard, master, output));
    // The thread that reads the other side may hold it a moment longer: something must be written to end it.
    writer.show(frame("x"));
    // The other side types an end of file as it goes.
    while let Heard::Input(_) = heard.recv_timeout(LONG).unwrap() {}
    assert!(reader.park(LONG));
    writer.show(frame("y"));
    assert!(closed.recv_timeout(LONG).is_ok());
    assert_eq!(writer.drain(LONG), Drained::Closed);
}

#[test]
fn a_probe_hears_answers_and_keeps_what_was_typed() {
    let mut pty = Pty::new();
    let _guard = Guard::new(Arc::clone(&pty.tty), None).unwrap();
    pty.type_keys("h\u{1b}[?0u\u{1b}[?2026;2$yi\u{1b}[?62c");
    let probed = caps::probe(&pty.tty, LONG).unwrap();
    assert!(probed.caps.keyboard && probed.caps.synchronised == Some(true) && probed.caps.complete);
    assert_eq!(probed.typed, [letter('h'), letter('i')]);
    // One that answers nothing costs the limit, and late answers are no letters.
    let probed = caps::probe(&pty.tty, SHORT).unwrap();
    assert_eq!(probed.caps, caps::Caps::default());
    let (_reader, heard) = read(&pty);
    pty.type_keys("\u{1b}]11;rgb:0/0/0\u{7}");
    assert_eq!(next(&heard), Input::Reply(caps::Reply::Background([0; 3])));
}

#[test]
fn another_program_gets_the_terminal_and_we_get_it_back_painted() {
    let mut pty = Pty::new();
    let guard = Guard::new(Arc::clone(&pty.tty), None).unwrap();
    guard.enter(ALL).unwrap();
    let (reader, heard) = read(&pty);
    let writer = Writer::start(Arc::clone(&pty.tty), Screen::new(true, true), |_| {}).unwrap();
    writer.show(Frame { caret: Some(Position { x: 2, y: 1 }), ..frame("the same, before") });
    let raw = hand_over(&guard, &reader, &writer, || {
        // Goes nowhere: the screen is not ours.
        writer.show(frame("the same, meanwhile"));
        assert_eq!(writer.drain(LONG), Drained::Yes);
        pty.is_raw()
    });
    assert!(!raw.unwrap());
    assert_eq!(next(&heard), Input::Resize { columns: 40, rows: 5 });
    writer.show(frame("the same, after"));
    pty.wait_for("after");
    assert_eq!(pty.screen.screen().contents(), "the same, after");
    assert!(pty.is_raw() && !String::from_utf8_lossy(&pty.written).contains("meanwhile"));
}

#[test]
fn a_stuck_terminal_holds_nobody_up() {
    let pty = Pty::new();
    let guard = Guard::new(Arc::clone(&pty.tty), None).unwrap();
    guard.enter(ALL).unwrap();
    // Output is stopped, as by ctrl+s.
    rustix::termios::tcflow(&pty.tty, rustix::termios::Action::OOff).unwrap();
    let mut writer = Writer::start(Arc::clone(&pty.tty), Screen::new(true, true), |_| {}).unwrap();
    for _ in 0..50 {
        writer.repaint();
        writer.show(frame("x"));
    }
    assert_eq!(writer.stop(SHORT), Drained::TooSlow);
    assert!(guard.leave().is_err());
    assert!(!pty.is_raw());
    rustix::termios::tcflow(&pty.tty, rustix::termios::Action::OOn).unwrap();
}

#[test]
fn a_new_size_is_told() {
    let pty = Pty::new();
    let _guard = Guard::new(Arc::clone(&pty.tty), None).unwrap();
    let (_reader, heard) = read(&pty);
    pty.master.resize(size(100, 30)).unwrap();
    // Not the terminal that this process belongs to, so the signal must come from us.
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::WINCH).unwrap();
    assert_eq!(next(&heard), Input::Resize { columns: 100, rows: 30 });
}
