//! The terminal's state before and after: taken over at the start, given back at the end, however that comes.
//!
//! Invariants
//! - [`Guard::leave`] can be called at any time and any number of times; it attempts every step, and reports the first error.
//! - It runs when the guard is dropped and when the thread that entered panics. A panic of another thread leaves the
//!   terminal alone: the program goes on, and decides itself.
//! - After it no frame reaches the terminal, until [`Guard::enter`].

use super::stray::StrayPrints;
use super::tty::Tty;
use rustix::termios::Termios;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// A terminal that takes nothing for so long is given up.
const PATIENCE: Duration = Duration::from_millis(500);

/// Button presses, drags and the wheel; not every move, which would cost bytes all the time.
const MOUSE_ON: &[u8] = b"\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l";
const ALTERNATE_ON: &[u8] = b"\x1b[?1049h";
const ALTERNATE_OFF: &[u8] = b"\x1b[?1049l";
/// No wrapping at the right edge, marked pastes, focus reports.
const ENTER: &[u8] = b"\x1b[?7l\x1b[?2004h\x1b[?1004h";
/// On the screen that the shell uses our last frame goes; what stood there before is in the scrollback.
const WIPE: &[u8] = b"\x1b[H\x1b[J";
/// Told apart: keys that older terminals mix up (1), repeats and releases (2), the character with shift (4).
const KEYBOARD_ON: &[u8] = b"\x1b[>7u";
const KEYBOARD_OFF: &[u8] = b"\x1b[<u";
/// The older way to tell mixed up keys apart, without releases.
const OTHER_KEYS_ON: &[u8] = b"\x1b[>4;1m";
const OTHER_KEYS_OFF: &[u8] = b"\x1b[>4m";
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
    /// The keyboard protocol of kitty; only where the terminal has confirmed it.
    pub keyboard: bool,
    /// The keyboard protocol of xterm, for terminals without the one of kitty. Some take its sequence for colours: only
    /// where the terminal is known by name.
    pub other_keys: bool,
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
    /// The modes above are in force.
    entered: bool,
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

    /// Enters the alternate screen with these modes, or enters it again after [`Self::leave`].
    ///
    /// # Errors
    ///
    /// The terminal is closed, or takes nothing.
    pub fn enter(&self, modes: Modes) -> io::Result<()> {
        let mut state = self.0.lock();
        self.0.raw(&mut state)?;
        let mut bytes = if modes.alternate { ALTERNATE_ON.to_vec() } else { self.0.scroll_away()? };
        bytes.extend_from_slice(ENTER);
        bytes.extend_from_slice(if modes.mouse { MOUSE_ON } else { b"" });
        bytes.extend_from_slice(if modes.keyboard { KEYBOARD_ON } else { b"" });
        bytes.extend_from_slice(if modes.other_keys { OTHER_KEYS_ON } else { b"" });
        // From the first byte on there is something to undo.
        state.entered = true;
        state.modes = modes;
        self.0.tty.write_within(&bytes, PATIENCE)?;
        drop(state);
        self.0.tty.mute(false);
        Ok(())
    }

    /// The modes in force, to enter with them again.
    pub fn modes(&self) -> Modes {
        self.0.lock().modes
    }

    /// Notes that mouse reports are wanted or not, and returns what tells the terminal: bytes for the writer, so that they
    /// do not land inside a frame.
    pub fn set_mouse(&self, on: bool) -> &'static [u8] {
        self.0.lock().modes.mouse = on;
        if on { MOUSE_ON } else { MOUSE_OFF }
    }

    /// The same for the keyboard protocol, when the terminal confirms it late. It can only be turned on.
    pub fn set_keyboard(&self) -> &'static [u8] {
        let mut state = self.0.lock();
        if std::mem::replace(&mut state.modes.keyboard, true) { b"" } else { KEYBOARD_ON }
    }

    /// Gives the terminal back as it was. Without effect when that is done already.
    ///
    /// # Errors
    ///
    /// The first step that failed; the others were done all the same.
    pub fn leave(&self) -> io::Result<()> {
        self.0.leave(&mut self.0.lock())
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

    /// What moves all that stands on the shell's screen into its scrollback.
    fn scroll_away(&self) -> io::Result<Vec<u8>> {
        let (_, rows) = self.tty.size()?;
        let mut bytes = format!("\x1b[{rows};1H").into_bytes();
        bytes.resize(bytes.len() + usize::from(rows), b'\n');
        Ok(bytes)
    }

    fn leave(&self, state: &mut State) -> io::Result<()> {
        self.tty.mute(true);
        let Modes { alternate, keyboard, other_keys, mouse: _ } = state.modes;
        let mut outcome = Ok(());
        if std::mem::take(&mut state.entered) {
            let mut bytes = LEAVE_FIRST.to_vec();
            // Each screen has its own keyboard flags: this one's are taken back before it is left.
            bytes.extend_from_slice(if keyboard { KEYBOARD_OFF } else { b"" });
            bytes.extend_from_slice(if other_keys { OTHER_KEYS_OFF } else { b"" });
            // Whatever the mode says: off twice is harmless, on by mistake is not.
            bytes.extend_from_slice(MOUSE_OFF);
            bytes.extend_from_slice(LEAVE_LAST);
            bytes.extend_from_slice(if alternate { ALTERNATE_OFF } else { WIPE });
            outcome = self.tty.write_within(&bytes, PATIENCE);
        }
        if let Some(before) = state.before.take() {
            // With the keyboard protocol, releases of keys may be on their way: not for the shell.
            outcome = outcome.and(self.tty.restore_mode(&before, keyboard));
        }
        if let Some(mut stray) = state.stray.take() {
            outcome = outcome.and(stray.release());
        }
        outcome
    }
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
        let _first_error = inner.leave(&mut state);
    }
}
