//! The terminal's state before and after: taken over at the start, given back at the end, however that comes.
//!
//! Invariants
//! - [`Guard::leave`] can be called at any time and any number of times; it attempts every step, and reports the first error.
//! - It runs when the guard is dropped and when the thread that entered panics. A panic of another thread leaves the
//!   terminal alone: the program goes on, and decides itself.
//! - After it no frame reaches the terminal, until [`Guard::enter`].

use super::caps::{ASK_DEVICE, Reply};
use super::escape::Parser;
use super::input::Input;
use super::links::Link;
use super::stray::StrayPrints;
use super::tty::{Ready, Tty};
use rustix::termios::Termios;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// A terminal that takes nothing for so long is given up.
const PATIENCE: Duration = Duration::from_millis(500);

/// So long the terminal may take to say that it has heard our last word. What it sent before that is not for the shell.
const FENCE: Duration = Duration::from_secs(1);
/// The same when the thread that reads may take the answer away from us.
const FENCE_IN_PANIC: Duration = Duration::from_millis(100);

/// Button presses, drags and the wheel; not every move, which would cost bytes all the time.
const MOUSE_ON: &[u8] = b"\x1b[?1002h\x1b[?1006h";
/// The wheel can't be had without presses; what is pressed is not listened to.
const WHEEL_ON: &[u8] = b"\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";
const ALTERNATE_ON: &[u8] = b"\x1b[?1049h";
const ALTERNATE_OFF: &[u8] = b"\x1b[?1049l";
/// No wrapping at the right edge, marked pastes, focus reports.
const ENTER: &[u8] = b"\x1b[?7l\x1b[?2004h\x1b[?1004h";
/// Our last frame goes. On the screen that the shell uses, what stood there before is in the scrollback.
const WIPE: &[u8] = b"\x1b[H\x1b[J";
/// Told apart: keys that older terminals mix up (1), repeats and releases (2), the character with shift (4).
const KEYBOARD_ON: &[u8] = b"\x1b[>7u";
const KEYBOARD_OFF: &[u8] = b"\x1b[<u";
/// The same flags, in the place of those that are there.
const KEYBOARD_AGAIN: &[u8] = b"\x1b[=7u";
/// The older way to tell mixed up keys apart, without releases.
const OTHER_KEYS_ON: &[u8] = b"\x1b[>4;1m";
const OTHER_KEYS_OFF: &[u8] = b"\x1b[>4m";
/// Changes between dark and light are told.
const SCHEME_ON: &[u8] = b"\x1b[?2031h";
const SCHEME_OFF: &[u8] = b"\x1b[?2031l";
/// The window's title is kept by the terminal, and put back.
const TITLE_KEEP: &[u8] = b"\x1b[22;2t";
const TITLE_BACK: &[u8] = b"\x1b[23;2t";
/// Ends a sequence or frame that was cut, then plain colours and the whole screen as scroll region.
const LEAVE_FIRST: &[u8] = b"\x1b\\\x1b[?2026l\x1b[m\x1b[r";
const LEAVE_LAST: &[u8] = b"\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[?25h";

/// The thread that has the terminal, and how to give it back, for the panic hook.
static ACTIVE: Mutex<Option<(ThreadId, Weak<Inner>)>> = Mutex::new(None);

/// What is switched on besides the screen itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modes {
    /// A screen of our own; else that of the shell.
    pub alternate: bool,
    /// Mouse reports.
    pub mouse: bool,
    /// Of the mouse only what the wheel needs.
    pub wheel_only: bool,
    /// The keyboard protocol of kitty; only where the terminal has confirmed it.
    pub keyboard: bool,
    /// The keyboard protocol of xterm, for terminals without the one of kitty. Some take its sequence for colours: only
    /// where the terminal is known by name.
    pub other_keys: bool,
    /// Reports of changes between dark and light. A terminal that does not know them skips this.
    pub scheme: bool,
    /// The window has our title.
    pub title: bool,
    /// Links may be on the screen, and one may be open when a frame was cut.
    pub links: bool,
}

impl Modes {
    const fn mouse_on(self) -> &'static [u8] {
        match (self.mouse, self.wheel_only) {
            (false, _) => b"",
            (true, false) => MOUSE_ON,
            (true, true) => WHEEL_ON,
        }
    }

    const fn keyboard_on(self) -> &'static [u8] {
        if self.keyboard { KEYBOARD_ON } else { b"" }
    }

    const fn keyboard_off(self) -> &'static [u8] {
        if self.keyboard { KEYBOARD_OFF } else { b"" }
    }

    const fn other_keys_on(self) -> &'static [u8] {
        if self.other_keys { OTHER_KEYS_ON } else { b"" }
    }

    const fn other_keys_off(self) -> &'static [u8] {
        if self.other_keys { OTHER_KEYS_OFF } else { b"" }
    }
}

/// The terminal while it is ours.
#[derive(Debug)]
pub struct Guard(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tty: Arc<Tty>,
    log: Option<File>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    modes: Modes,
    /// The mode of the line before raw mode.
    before: Option<Termios>,
    /// The screen is ours.
    entered: bool,
    /// The window's title, without what begins and ends it.
    title: String,
    stray: Option<StrayPrints>,
}

impl Guard {
    /// Turns raw mode on and catches stray prints into `log`; the screen is entered by [`Self::enter`], after the terminal
    /// was asked what it can do.
    ///
    /// # Errors
    ///
    /// The terminal is closed. Nothing is changed then.
    pub fn new(tty: Arc<Tty>, log: Option<File>) -> io::Result<Self> {
        let inner = Arc::new(Inner { tty, log, state: Mutex::default() });
        *ACTIVE.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((thread::current().id(), Arc::downgrade(&inner)));
        let guard = Self(inner);
        guard.0.raw(&mut guard.0.lock())?;
        Ok(guard)
    }

    /// Takes a screen and no more, so that the terminal can be asked there what it can do: what is written for that leaves
    /// no trace. [`Self::enter`] is to follow.
    ///
    /// # Errors
    ///
    /// The terminal is closed, or takes nothing.
    pub fn take_screen(&self, alternate: bool) -> io::Result<()> {
        let mut state = self.0.lock();
        self.0.raw(&mut state)?;
        let bytes = self.0.screen(&mut state, alternate)?;
        drop(state);
        self.0.tty.write_within(&bytes, PATIENCE)
    }

    /// Enters the screen with these modes, or enters it again after [`Self::leave`].
    ///
    /// # Errors
    ///
    /// The terminal is closed, or takes nothing.
    pub fn enter(&self, modes: Modes) -> io::Result<()> {
        let mut state = self.0.lock();
        self.0.raw(&mut state)?;
        let mut bytes =
            if state.entered { Vec::new() } else { self.0.screen(&mut state, modes.alternate)? };
        // On another screen than the one that is taken nothing could be given back.
        state.modes = Modes { alternate: state.modes.alternate, ..modes };
        bytes.extend_from_slice(modes.mouse_on());
        bytes.extend_from_slice(modes.keyboard_on());
        bytes.extend_from_slice(modes.other_keys_on());
        bytes.extend_from_slice(if modes.scheme { SCHEME_ON } else { b"" });
        if modes.title {
            bytes.extend_from_slice(TITLE_KEEP);
            bytes.extend(title_bytes(&state.title));
        }
        self.0.tty.write_within(&bytes, PATIENCE)?;
        drop(state);
        self.0.tty.mute(false);
        Ok(())
    }

    /// What sets all that is in force once more, with nothing to undo beside what there was: after a stop from outside the
    /// shell had the terminal, and left it as it liked. Bytes for the writer.
    pub fn again(&self) -> Vec<u8> {
        let state = self.0.lock();
        if !state.entered {
            return Vec::new();
        }
        if let Err(error) = self.0.tty.enter_raw() {
            tracing::warn!("the terminal's line is not ours: {error}");
        }
        let modes = state.modes;
        drop(state);
        [
            if modes.alternate { ALTERNATE_ON } else { b"" },
            ENTER,
            modes.mouse_on(),
            if modes.keyboard { KEYBOARD_AGAIN } else { b"" },
            modes.other_keys_on(),
            if modes.scheme { SCHEME_ON } else { b"" },
        ]
        .concat()
    }

    /// The modes in force, to enter with them again.
    pub fn modes(&self) -> Modes {
        self.0.lock().modes
    }

    /// Notes that mouse reports are wanted or not, and returns what tells the terminal: bytes for the writer, so that they
    /// do not land inside a frame.
    pub fn set_mouse(&self, on: bool, wheel_only: bool) -> Vec<u8> {
        let mut state = self.0.lock();
        let before = state.modes;
        state.modes = Modes { mouse: on, wheel_only, ..before };
        if before == state.modes {
            return Vec::new();
        }
        [MOUSE_OFF, state.modes.mouse_on()].concat()
    }

    /// The same for the keyboard protocols: the one of kitty and that of xterm.
    pub fn set_keyboard(&self, keyboard: bool, other_keys: bool) -> Vec<u8> {
        let mut state = self.0.lock();
        let before = state.modes;
        let now = Modes { keyboard, other_keys, ..before };
        state.modes = now;
        drop(state);
        let mut bytes = Vec::new();
        if before.keyboard != now.keyboard {
            bytes.extend_from_slice(before.keyboard_off());
            bytes.extend_from_slice(now.keyboard_on());
        }
        if before.other_keys != now.other_keys {
            bytes.extend_from_slice(before.other_keys_off());
            bytes.extend_from_slice(now.other_keys_on());
        }
        bytes
    }

    /// The same for the window's title, which is text without control characters. Empty when it has that title.
    pub fn set_title(&self, title: &str) -> Vec<u8> {
        let mut state = self.0.lock();
        if state.title == title {
            return Vec::new();
        }
        title.clone_into(&mut state.title);
        if state.modes.title { title_bytes(title) } else { Vec::new() }
    }

    /// The same for whether the window has a title of ours at all.
    pub fn set_titled(&self, on: bool) -> Vec<u8> {
        let mut state = self.0.lock();
        match (std::mem::replace(&mut state.modes.title, on), on) {
            (false, true) => [TITLE_KEEP.to_vec(), title_bytes(&state.title)].concat(),
            (true, false) => TITLE_BACK.to_vec(),
            (false, false) | (true, true) => Vec::new(),
        }
    }

    /// Gives the terminal back as it was. Without effect when that is done already.
    ///
    /// # Errors
    ///
    /// The first step that failed; the others were done all the same.
    pub fn leave(&self) -> io::Result<()> {
        self.0.leave(&mut self.0.lock(), FENCE)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Err(error) = self.leave() {
            tracing::warn!("the terminal could not be restored: {error}");
        }
        let mut active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
        if active.as_ref().is_some_and(|(_, inner)| std::ptr::eq(inner.as_ptr(), Arc::as_ptr(&self.0))) {
            *active = None;
        }
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn raw(&self, state: &mut State) -> io::Result<()> {
        if state.before.is_none() {
            state.before = Some(self.tty.enter_raw()?);
        }
        if let Some(log) = self.log.as_ref().filter(|_| state.stray.is_none()) {
            state.stray = Some(StrayPrints::catch(log)?);
        }
        Ok(())
    }

    /// What takes a screen, and brings it into the state in which we draw.
    fn screen(&self, state: &mut State, alternate: bool) -> io::Result<Vec<u8>> {
        let mut bytes = if alternate { ALTERNATE_ON.to_vec() } else { self.scroll_away()? };
        bytes.extend_from_slice(ENTER);
        // From the first byte on there is something to undo.
        state.entered = true;
        state.modes = Modes { alternate, ..Modes::default() };
        Ok(bytes)
    }

    /// What moves all that stands on the shell's screen into its scrollback.
    fn scroll_away(&self) -> io::Result<Vec<u8>> {
        let (_, rows) = self.tty.size()?;
        let mut bytes = format!("\x1b[{rows};1H").into_bytes();
        bytes.resize(bytes.len() + usize::from(rows), b'\n');
        Ok(bytes)
    }

    fn leave(&self, state: &mut State, fence: Duration) -> io::Result<()> {
        self.tty.mute(true);
        let modes = state.modes;
        let mut outcome = Ok(());
        let mut discard = false;
        if std::mem::take(&mut state.entered) {
            let mut bytes = LEAVE_FIRST.to_vec();
            bytes.extend_from_slice(if modes.links { Link::CLOSE } else { b"" });
            // Each screen has its own keyboard flags: this one's are taken back before it is left.
            bytes.extend_from_slice(modes.keyboard_off());
            bytes.extend_from_slice(modes.other_keys_off());
            bytes.extend_from_slice(if modes.scheme { SCHEME_OFF } else { b"" });
            bytes.extend_from_slice(if modes.title { TITLE_BACK } else { b"" });
            // Whatever the mode says: off twice is harmless, on by mistake is not.
            bytes.extend_from_slice(MOUSE_OFF);
            bytes.extend_from_slice(LEAVE_LAST);
            // Also on a screen of our own: where there is none (GNU screen as it comes), this was the shell's.
            bytes.extend_from_slice(WIPE);
            bytes.extend_from_slice(if modes.alternate { ALTERNATE_OFF } else { b"" });
            bytes.extend_from_slice(if modes.keyboard { ASK_DEVICE } else { b"" });
            outcome = self.tty.write_within(&bytes, PATIENCE);
            // With the keyboard protocol, releases of keys may be on their way: not for the shell.
            discard = modes.keyboard && !(outcome.is_ok() && self.drop_what_came_before_the_answer(fence));
        }
        if let Some(before) = state.before.take() {
            outcome = outcome.and(self.tty.restore_mode(&before, discard));
        }
        if let Some(mut stray) = state.stray.take() {
            outcome = outcome.and(stray.release());
        }
        outcome
    }
}

impl Inner {
    /// The terminal answers after it has heard all that we said: what comes before that was sent while the modes were on,
    /// and what comes after it is the next program's. Returns whether it did answer.
    fn drop_what_came_before_the_answer(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        // One byte at a time: not one more than the answer is taken.
        let (mut parser, mut heard, mut buffer) = (Parser::default(), Vec::new(), [0; 1]);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let read = match self.tty.wait_readable(left) {
                Ok(Ready::Yes) => self.tty.read(&mut buffer),
                // Interrupted, or the time is over: the deadline tells.
                Ok(Ready::No) => continue,
                Err(error) => Err(error),
            };
            let Ok(read) = read else { return false };
            parser.push(buffer.get(..read).unwrap_or_default(), Instant::now(), &mut heard);
            if heard.drain(..).any(|input| input == Input::Reply(Reply::DeviceAttributes)) {
                return true;
            }
        }
    }
}

/// An empty one would take away what the window has, before there is one of ours.
fn title_bytes(title: &str) -> Vec<u8> {
    if title.is_empty() {
        return Vec::new();
    }
    format!("\x1b]2;{title}\x1b\\").into_bytes()
}

/// Gives the terminal back before the panic hook of now speaks, when the thread that has it panics. Call it once, after
/// the program's own hook is set.
pub fn chain_panic_hook() {
    let next = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        leave_in_panic();
        next(info);
    }));
}

/// Never waits for a lock: the panic may have come while it was held.
pub(super) fn leave_in_panic() {
    let active = match ACTIVE.try_lock() {
        Ok(active) => active.clone(),
        Err(TryLockError::Poisoned(active)) => active.into_inner().clone(),
        Err(TryLockError::WouldBlock) => return,
    };
    let Some((_, inner)) = active.filter(|(owner, _)| *owner == thread::current().id()) else { return };
    let Some(inner) = inner.upgrade() else { return };
    let state = match inner.state.try_lock() {
        Ok(state) => Some(state),
        Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    };
    if let Some(mut state) = state {
        // The program is ending with a message of its own.
        let _first_error = inner.leave(&mut state, FENCE_IN_PANIC);
    }
}
