//! The terminal as the full-screen program has it: opened, asked what it can do, and given back.

use crate::config::env::Env;
use crate::config::settings::ScreenSettings;
use crate::term::caps::{self, Caps};
use crate::term::clipboard::{Clipboard, Copied, Way};
use crate::term::guard::{Guard, Modes};
use crate::term::handoff::{self, HandoffError};
use crate::term::input::Input;
use crate::term::reader::{Heard, Reader};
use crate::term::screen::{Frame, Screen};
use crate::term::tty::Tty;
use crate::term::writer::Writer;
use crate::theme::depth::Depth;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A terminal that has not answered by then is taken as one that answers nothing.
const PROBE_LIMIT: Duration = Duration::from_millis(150);
/// What is still to be shown at the end gets this long.
const LAST_FRAME_LIMIT: Duration = Duration::from_millis(200);
/// And what is left on the user's own screen gets this long.
const LAST_WORDS_LIMIT: Duration = Duration::from_millis(500);

/// Why there is no screen.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// Standard input or output is no terminal, or it can't be used.
    #[error("The terminal can't be used: {}. Give a task without a screen: mynah -p \"task\".", crate::store::error::reason(.0))]
    Unusable(#[from] io::Error),
}

/// The terminal while the program has it. Dropped, it is given back.
pub struct Terminal {
    reader: Reader,
    writer: Arc<Writer>,
    clipboard: Option<Clipboard>,
    /// Last, so that whatever is dropped before can no longer write.
    guard: Guard,
    tty: Arc<Tty>,
    depth: Cell<Depth>,
    spare: Option<Buffer>,
}

/// What is known of the terminal at the start.
#[derive(Debug)]
pub struct Facts {
    /// What it answered.
    pub caps: Caps,
    /// Columns and rows.
    pub size: (u16, u16),
    /// What was typed before we listened.
    pub typed: Vec<Input>,
}

impl Terminal {
    /// Takes the terminal over. `log` gets what libraries print; `hear` is told what the terminal tells.
    ///
    /// # Errors
    /// It can't be used. Then nothing of it is changed.
    pub fn open(
        env: &Env,
        settings: &ScreenSettings,
        log: Option<File>,
        hear: impl Fn(Heard) + Clone + Send + 'static,
    ) -> Result<(Self, Facts), TerminalError> {
        let tty = Arc::new(Tty::open()?);
        let guard = Guard::new(tty.clone(), log)?;
        let probed = caps::probe(&tty, PROBE_LIMIT)?;
        guard.enter(Modes {
            alternate: settings.alternate,
            mouse: settings.mouse,
            keyboard: probed.caps.keyboard,
            other_keys: probed.caps.other_keys(),
        })?;
        let screen = Screen::new(probed.caps.synchronised != Some(false), caps::erases_in_color(env));
        let closed = hear.clone();
        let writer = Arc::new(Writer::start(tty.clone(), screen, move |error| closed(Heard::Ended(error)))?);
        let marked_paste = probed.caps.marked_paste == Some(true);
        let size = tty.size()?;
        let reader = Reader::start(tty.clone(), probed.parser, marked_paste, hear)?;
        let to_terminal = Arc::downgrade(&writer);
        let clipboard = Clipboard::start(Way::of(env), move |bytes| {
            to_terminal.upgrade().is_some_and(|writer| writer.send(bytes).is_ok())
        });
        let clipboard = clipboard.map_err(|error| tracing::warn!("nothing can be copied: {error}")).ok();
        let depth = Cell::new(Depth::of(&settings.colors, |name| env.get(name)));
        let facts = Facts { caps: probed.caps, size, typed: probed.typed };
        Ok((Self { reader, writer, clipboard, guard, tty, depth, spare: None }, facts))
    }

    /// Shows what `draw` puts into cells, and the caret that it returns.
    pub fn show(&mut self, size: (u16, u16), draw: impl FnOnce(&mut Buffer) -> Option<Position>) {
        let area = Rect::new(0, 0, size.0, size.1);
        let mut cells = self.spare.take().unwrap_or_default();
        cells.resize(area);
        cells.reset();
        let caret = draw(&mut cells);
        self.depth.get().cells(&mut cells);
        self.spare = self.writer.show(Frame { cells, caret });
    }

    /// Paints the next frame in full.
    pub fn repaint(&self) {
        self.writer.repaint();
    }

    /// Writes these rows in full with the next frame: an input method has drawn on them.
    pub fn distrust(&self, rows: Range<u16>) {
        self.writer.distrust(rows);
    }

    /// Shows this many colours from the next frame on.
    pub fn set_depth(&self, depth: Depth) {
        self.depth.set(depth);
    }

    /// Takes the mouse, or leaves it to the terminal.
    pub fn set_mouse(&self, on: bool) {
        if self.writer.send(self.guard.set_mouse(on)).is_err() {
            tracing::warn!("the terminal could not be told about the mouse");
        }
    }

    /// Takes in an answer that came late.
    pub fn set_keyboard(&self) {
        if self.writer.send(self.guard.set_keyboard()).is_err() {
            tracing::warn!("the terminal could not be told about the keyboard");
        }
    }

    /// Copies, and tells on another thread what became of it.
    pub fn copy(&self, text: String, done: impl FnOnce(Copied) + Send + 'static) {
        match &self.clipboard {
            Some(clipboard) => clipboard.copy(text, done),
            None => done(Copied::Failed("nothing can be copied in this run".to_owned())),
        }
    }

    /// Reads the system's clipboard, and tells on another thread what is on it.
    pub fn paste(&self, done: impl FnOnce(Result<String, String>) + Send + 'static) {
        match &self.clipboard {
            Some(clipboard) => clipboard.paste(done),
            None => done(Err("nothing can be pasted in this run".to_owned())),
        }
    }

    /// Runs something while the terminal is as it was before the program.
    ///
    /// # Errors
    /// See [`HandoffError`].
    pub fn hand_over<T>(&self, work: impl FnOnce() -> T) -> Result<T, HandoffError> {
        handoff::hand_over(&self.guard, &self.reader, &self.writer, work)
    }

    /// Gives the terminal back, after what is still to be shown, and leaves these words on it. Returns whether it took
    /// them: one that is too slow or closed takes nothing, and must not keep the program from ending.
    pub fn close(self, last_words: &str) -> bool {
        // The alternate screen is left even if it never showed the last frame.
        let _shown = self.writer.drain(LAST_FRAME_LIMIT);
        let left =
            self.guard.leave().and_then(|()| self.tty.write_within(last_words.as_bytes(), LAST_WORDS_LIMIT));
        if let Err(error) = &left {
            tracing::warn!("the terminal was given back in part: {error}");
        }
        left.is_ok()
    }
}
