//! A real program on a terminal of its own.
//!
//! Two threads serve it: one reads what the program writes, keeps the screen and sends the terminal's answers, one waits
//! for the program's end. Tests type, and wait for what they expect to see; nothing sleeps for a guessed time. A wait that
//! is in vain ends the test and shows the screen.

mod activity;

pub use activity::Activity;

use super::terminal::Terminal;
use super::terminal::answers::Profile;
use super::terminal::keys::{KeyAction, MouseAction, encode_focus, encode_key, encode_mouse, encode_paste};
use filedescriptor::FileDescriptor;
use portable_pty::{Child, CommandBuilder, ExitStatus, PtySize, native_pty_system};
use ratatui::layout::Size;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long to wait for what must come. Only a test that fails waits so long, so a busy machine has time.
const PATIENCE: Duration = Duration::from_secs(30);

/// What to start, and in which terminal.
#[derive(Debug)]
pub struct Program {
    command: CommandBuilder,
    size: Size,
    profile: Profile,
    ground: Option<(u8, u8, u8)>,
}

impl Program {
    /// A program by name or path. Of the environment it gets `PATH` alone; the terminal is 100 columns wide, 30 rows high
    /// and knows everything.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = CommandBuilder::new(program);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        Self { command, size: Size::new(100, 30), profile: Profile::Kitty, ground: None }
    }

    /// Arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Environment variables, [`super::home::Home::variables`] for one. Those of the terminal win.
    #[must_use]
    pub fn envs(
        mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Self {
        for (name, value) in variables {
            self.command.env(name, value);
        }
        self
    }

    /// The working directory.
    #[must_use]
    pub fn folder(mut self, folder: &Path) -> Self {
        self.command.cwd(folder);
        self
    }

    /// Columns and rows.
    #[must_use]
    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = Size::new(columns, rows);
        self
    }

    /// Which terminal it is.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// The terminal's background, told to programs that ask: red, green, blue.
    #[must_use]
    pub fn ground(mut self, red: u8, green: u8, blue: u8) -> Self {
        self.ground = Some((red, green, blue));
        self
    }

    /// Starts it.
    ///
    /// # Panics
    /// When there is no terminal to be had, or no such program.
    pub fn start(mut self) -> Pty {
        for (name, value) in self.profile.variables() {
            self.command.env(name, value);
        }
        let Size { width, height } = self.size;
        let size = PtySize { rows: height, cols: width, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo terminal");
        let descriptor = pair.master.as_raw_fd().expect("a Unix terminal");
        let open = || FileDescriptor::dup(&descriptor).and_then(|fd| fd.as_file()).expect("a further handle");
        let (input, output) = (open(), open());
        let settings = tcgetattr(&input).expect("the terminal's settings");
        let child = pair.slave.spawn_command(self.command).expect("the program starts");
        let process = child.process_id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        // Open here, the terminal would never be closed for the reader.
        drop(pair.slave);

        let mut terminal = Terminal::new(self.size, self.profile);
        if let Some(ground) = self.ground {
            terminal.set_ground(ground);
        }
        let state = State {
            terminal,
            output: Vec::new(),
            last_output: Instant::now(),
            is_closed: false,
            takes: None,
            exit: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let (stopped, stop) = rustix::pipe::pipe().expect("a pipe");
        let reader = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || read_output(&shared, output, &stopped))
        };
        let waiter = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || wait_for_end(&shared, child))
        };
        Pty {
            shared,
            input: Some(input),
            settings,
            process: process.expect("a process has a number"),
            stop: Some(stop),
            reader: Some(reader),
            waiter: Some(waiter),
        }
    }
}

/// A running program and its terminal. Dropped, it kills the program and what it started.
pub struct Pty {
    shared: Arc<Shared>,
    /// `None` once the terminal is gone.
    input: Option<File>,
    /// The line settings before the program changed them.
    settings: Termios,
    process: Pid,
    /// Closed, it wakes and ends the reader.
    stop: Option<OwnedFd>,
    reader: Option<JoinHandle<()>>,
    waiter: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    terminal: Terminal,
    output: Vec<u8>,
    last_output: Instant,
    /// Nobody can write to the terminal any more, and all that was written is on the screen.
    is_closed: bool,
    /// Pieces of output that are still taken; all if `None`.
    takes: Option<usize>,
    exit: Option<ExitStatus>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that failed while it looked at the screen has not broken the screen.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// The exit code; 1 for a signal.
    pub code: u32,
    /// The signal that ended it, by the system's name for it.
    pub signal: Option<String>,
}

impl Pty {
    /// Types text, letter by letter as a keyboard would. A line end is the Enter key.
    pub fn type_text(&mut self, text: &str) {
        let mut bytes = Vec::new();
        {
            let state = self.shared.lock();
            for letter in text.chars() {
                let name = if letter == '\n' { "enter".to_owned() } else { letter.to_string() };
                bytes.extend(encode_key(&name, KeyAction::Press, state.terminal.modes()));
            }
        }
        self.send(&bytes);
    }

    /// Presses a key by name (`ctrl+c`, `shift+tab`, `F3`, `PageUp`), encoded as the program has asked for. Where it
    /// listens for keys that come up, the key comes up, too.
    ///
    /// # Panics
    /// When there is no such key.
    pub fn press(&mut self, key: &str) {
        self.key(key, KeyAction::Press);
        self.key(key, KeyAction::Release);
    }

    /// One half of a key press, or its repetition.
    ///
    /// # Panics
    /// When there is no such key.
    pub fn key(&mut self, key: &str, action: KeyAction) {
        let bytes = encode_key(key, action, self.shared.lock().terminal.modes());
        self.send(&bytes);
    }

    /// Pastes, in brackets if the program has asked for them.
    pub fn paste(&mut self, text: &str) {
        let bytes = encode_paste(text, self.shared.lock().terminal.modes());
        self.send(&bytes);
    }

    /// Uses the mouse at a cell, columns and rows from 0. A program that has not asked for it hears nothing.
    pub fn mouse(&mut self, action: MouseAction, column: u16, row: u16) {
        let bytes = encode_mouse(action, column, row, self.shared.lock().terminal.modes());
        self.send(&bytes);
    }

    /// Presses and releases the left button at a cell.
    pub fn click(&mut self, column: u16, row: u16) {
        self.mouse(MouseAction::Press, column, row);
        self.mouse(MouseAction::Release, column, row);
    }

    /// The window gets or loses the focus. A program that has not asked for it hears nothing.
    pub fn focus(&mut self, has_focus: bool) {
        let bytes = encode_focus(has_focus, self.shared.lock().terminal.modes());
        self.send(&bytes);
    }

    /// The user goes from dark to light or back: the terminal has another background, red, green and blue, and tells it a
    /// program that has asked for that.
    pub fn set_ground(&mut self, red: u8, green: u8, blue: u8) {
        let bytes = {
            let terminal = &mut self.shared.lock().terminal;
            terminal.set_ground((red, green, blue));
            let is_dark = u16::from(red) + u16::from(green) + u16::from(blue) < 3 * 128;
            let tells = terminal.modes().is_on(super::terminal::modes::private::SCHEME_CHANGES);
            let report = format!("\x1b[?997;{}n", if is_dark { 1 } else { 2 });
            if tells { report } else { String::new() }
        };
        self.send(bytes.as_bytes());
    }

    /// Sends bytes as they are. A program that has ended takes none.
    pub fn send(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.input {
            // Nobody reads what is typed after the end: not an error of the one who types.
            let _ = input.write_all(bytes);
        }
    }

    /// Gives the terminal another size; the program gets SIGWINCH.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        if let Some(input) = &self.input {
            self.shared.change(|state| state.terminal.resize(Size::new(columns, rows)));
            let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
            tcsetwinsize(input, size).expect("an open terminal takes a size");
        }
    }

    /// Sends a signal to the program alone.
    pub fn signal(&self, signal: Signal) {
        if self.shared.lock().exit.is_none() {
            // It may end at this moment.
            let _ = kill_process(self.process, signal);
        }
    }

    /// Closes the terminal, as when its window is closed: the program gets SIGHUP and can write no more.
    pub fn hang_up(&mut self) {
        self.stop = None;
        self.input = None;
        self.go_on();
        join(self.reader.take());
    }

    /// From now on the terminal takes no more output (at most one more piece of it), as over a line that hangs.
    pub fn stall(&self) {
        self.shared.change(|state| state.takes = Some(0));
    }

    /// As [`Pty::stall`], but the terminal takes exactly one more piece first, whenever it comes.
    pub fn stall_after_a_piece(&self) {
        self.shared.change(|state| state.takes = Some(1));
    }

    /// The line no longer hangs.
    pub fn go_on(&self) {
        self.shared.change(|state| state.takes = None);
    }

    /// Looks at the terminal as it is now.
    /// It is locked meanwhile, as in [`Pty::wait_until`].
    pub fn look<T>(&self, look: impl FnOnce(&Terminal) -> T) -> T {
        look(&self.shared.lock().terminal)
    }

    /// The screen's text now; to be read after a wait for something on it.
    pub fn text(&self) -> String {
        self.look(Terminal::text)
    }

    /// Everything written so far, as it came.
    pub fn output(&self) -> Vec<u8> {
        self.shared.lock().output.clone()
    }

    /// The program's process number.
    pub fn process(&self) -> u32 {
        self.process.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits until the screen shows a text, within a row.
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_until(&format!("the text `{text}`"), |terminal| terminal.text().contains(text));
    }

    /// Waits until the screen no longer shows a text.
    ///
    /// # Panics
    /// When it stays.
    #[track_caller]
    pub fn wait_gone(&self, text: &str) {
        self.wait_until(&format!("`{text}` to go"), |terminal| !terminal.text().contains(text));
    }

    /// Waits until something holds for the terminal; `what` names it for the one who reads the failure. The terminal is
    /// locked meanwhile: what is asked of the `Pty` itself in there would wait for ever.
    ///
    /// # Panics
    /// When it comes to hold neither in time nor before the program's end.
    #[track_caller]
    pub fn wait_until(&self, what: &str, mut holds: impl FnMut(&Terminal) -> bool) {
        self.wait_state(what, |state| holds(&state.terminal));
    }

    /// The same for everything written so far, as it came: for what no screen shows.
    ///
    /// # Panics
    /// When it comes to hold neither in time nor before the program's end.
    #[track_caller]
    pub fn wait_output(&self, what: &str, mut holds: impl FnMut(&[u8]) -> bool) {
        self.wait_state(what, |state| holds(&state.output));
    }

    #[track_caller]
    #[expect(clippy::panic, reason = "what does not come fails the test")]
    #[expect(
        clippy::significant_drop_tightening,
        reason = "no change may slip in between the look and the wait"
    )]
    fn wait_state(&self, what: &str, mut holds: impl FnMut(&State) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.shared.lock();
        while !holds(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || state.is_closed {
                let why = if left.is_zero() { "in time" } else { "before the program ended" };
                let text = state.terminal.text();
                drop(state);
                panic!("{what} did not come {why}; the screen:\n{text}");
            }
            state = self.wait(state, left);
        }
    }

    /// Waits until nothing has been written for some time.
    ///
    /// # Panics
    /// When the program never falls silent.
    #[track_caller]
    pub fn wait_quiet(&self, silence: Duration) {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.shared.lock();
        loop {
            let left = (state.last_output + silence).saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            assert!(Instant::now() < deadline, "it writes without end");
            state = self.wait(state, left);
        }
    }

    /// Waits for the program's end, and for the last of what it wrote.
    ///
    /// # Panics
    /// When it does not end.
    #[track_caller]
    pub fn wait_exit(&self) -> Exit {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.shared.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if let Some(exit) = state.exit.as_ref().filter(|_| state.is_closed) {
                return Exit { code: exit.exit_code(), signal: exit.signal().map(str::to_owned) };
            }
            let text = if left.is_zero() { state.terminal.text() } else { String::new() };
            assert!(
                !left.is_zero(),
                "the program, or something that it started, holds the terminal; the screen:\n{text}"
            );
            state = self.wait(state, left);
        }
    }

    /// What is not as it was before the program started, one thing a line: modes of the terminal, settings of its line.
    pub fn leftovers(&self) -> Vec<String> {
        let mut found = self.look(Terminal::leftovers);
        if let Some(now) = self.input.as_ref().and_then(|input| tcgetattr(input).ok()) {
            let before = &self.settings;
            let pairs = [
                (now.local_modes == before.local_modes, "echo, line editing or signals"),
                (now.input_modes == before.input_modes, "input"),
                (now.output_modes == before.output_modes, "output"),
            ];
            let changed = pairs.iter().filter(|(is_same, _)| !is_same);
            found.extend(changed.map(|(_, what)| format!("the line's settings of {what} are still changed")));
        }
        found
    }

    /// What the program has done since it started.
    ///
    /// # Panics
    /// Where the system has no `/proc`, or the program has ended.
    pub fn activity(&self) -> Activity {
        let bytes = u64::try_from(self.shared.lock().output.len()).unwrap_or(u64::MAX);
        Activity::of(self.process(), bytes)
    }

    /// What the program does within a time in which nobody does anything to it.
    ///
    /// # Panics
    /// Where the system has no `/proc`, or the program has ended.
    pub fn activity_within(&self, time: Duration) -> Activity {
        let before = self.activity();
        let deadline = Instant::now() + time;
        let mut state = self.shared.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.wait(state, left);
        }
        drop(state);
        self.activity().since(before)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.shared.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if self.shared.lock().exit.is_none() {
            // It may end at this moment.
            let _ = kill_process_group(self.process, Signal::KILL);
        }
        self.hang_up();
        join(self.waiter.take());
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread {
        // A thread that panicked has said so.
        let _ = thread.join();
    }
}

/// Reads until the terminal is closed on either side.
fn read_output(shared: &Shared, mut terminal: File, stopped: &OwnedFd) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let state = shared.lock();
        drop(shared.changed.wait_while(state, |state| state.takes == Some(0)));
        if !wait_readable(&terminal, stopped) {
            break;
        }
        // An error is how Linux tells that the last program has closed it.
        let count = terminal.read(&mut buffer).unwrap_or(0);
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        let mut answers = Vec::new();
        shared.change(|state| {
            state.takes = state.takes.map(|pieces| pieces.saturating_sub(1));
            state.output.extend_from_slice(bytes);
            state.last_output = Instant::now();
            answers = state.terminal.feed(bytes);
        });
        // A program that has just ended reads no answers.
        let _ = terminal.write_all(&answers);
    }
    drop(terminal);
    shared.change(|state| state.is_closed = true);
}

/// Whether there is something to read; `false` when the test has closed the terminal.
fn wait_readable(terminal: &File, stopped: &OwnedFd) -> bool {
    loop {
        let mut descriptors = [PollFd::new(terminal, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        let count = poll(&mut descriptors, None);
        let [terminal, stopped] = &descriptors;
        if !stopped.revents().is_empty() {
            return false;
        }
        // An interrupted wait has found nothing.
        if count.is_ok() && !terminal.revents().is_empty() {
            return true;
        }
    }
}

fn wait_for_end(shared: &Shared, mut child: Box<dyn Child + Send + Sync>) {
    let exit = child.wait().expect("a child of ours can be waited for");
    shared.change(|state| state.exit = Some(exit));
}

#[cfg(test)]
mod tests;
