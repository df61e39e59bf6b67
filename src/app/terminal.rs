//! The terminal as the full-screen program has it: opened, asked what it can do, and given back.

use crate::config::env::Env;
use crate::config::places::Places;
use crate::config::settings::ScreenSettings;
use crate::term::caps::{self, Caps, Reply};
use crate::term::clipboard::{Clipboard, Copied, Way};
use crate::term::guard::{Guard, Modes};
use crate::term::handoff::{self, HandoffError};
use crate::term::input::Input;
use crate::term::kind::Kind;
use crate::term::links::Links;
use crate::term::reader::{Heard, Reader};
use crate::term::screen::{Frame, Screen};
use crate::term::stand_in;
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
/// The reader gets this long to let go of the terminal before the end.
const PARK_LIMIT: Duration = Duration::from_millis(200);
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
    kind: Kind,
    caps: Caps,
    /// Keyboard protocols are used where there are any.
    keyboard: bool,
    /// Plain characters instead of symbols; by the terminal's widths when nothing is set.
    ascii: Option<bool>,
    spare: Option<Buffer>,
}

/// Addresses behind cells: row, columns, address.
pub type LinkPieces = Vec<(u16, Range<u16>, Arc<str>)>;

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
        // First: to be asked how wide it draws, it must draw something.
        guard.take_screen(settings.alternate)?;
        let probed = caps::probe(&tty, PROBE_LIMIT)?;
        let kind = Kind::of(env);
        guard.enter(Modes {
            alternate: settings.alternate,
            mouse: settings.mouse,
            wheel_only: settings.wheel_only,
            keyboard: settings.keyboard && probed.caps.keyboard,
            other_keys: settings.keyboard && probed.caps.other_keys(),
            scheme: probed.caps.scheme != Some(false),
            title: settings.title && kind.title,
            links: kind.links,
        })?;
        let screen = Screen::new(probed.caps.synchronised != Some(false), caps::erases_in_color(env));
        let closed = hear.clone();
        let writer = Arc::new(Writer::start(tty.clone(), screen, move |error| closed(Heard::Ended(error)))?);
        let marked_paste = probed.caps.marked_paste == Some(true);
        let size = tty.size()?;
        let reader = Reader::start(tty.clone(), probed.parser, marked_paste, hear)?;
        let to_terminal = Arc::downgrade(&writer);
        let clipboard = Clipboard::start(Way::of(env), &Places::from_env(env).state, move |bytes| {
            to_terminal.upgrade().is_some_and(|writer| writer.send(bytes).is_ok())
        });
        let clipboard = clipboard.map_err(|error| tracing::warn!("nothing can be copied: {error}")).ok();
        let depth = Cell::new(Depth::of(&settings.colors, |name| env.get(name)));
        let facts = Facts { caps: probed.caps.clone(), size, typed: probed.typed };
        let terminal = Self {
            reader,
            writer,
            clipboard,
            guard,
            tty,
            depth,
            kind,
            caps: probed.caps,
            keyboard: settings.keyboard,
            ascii: settings.ascii,
            spare: None,
        };
        Ok((terminal, facts))
    }

    /// Shows what `draw` puts into cells, and the caret and the addresses that it returns.
    pub fn show(
        &mut self,
        size: (u16, u16),
        draw: impl FnOnce(&mut Buffer) -> (Option<Position>, LinkPieces),
    ) {
        let area = Rect::new(0, 0, size.0, size.1);
        let mut cells = self.spare.take().unwrap_or_default();
        cells.resize(area);
        cells.reset();
        let (caret, links) = draw(&mut cells);
        let links = if self.kind.links { Links::new(links) } else { Links::default() };
        let ambiguous_wide = self.caps.wide == Some(true);
        if self.ascii.unwrap_or(ambiguous_wide) {
            stand_in::apply(&mut cells);
        }
        self.depth.get().cells(&mut cells);
        self.spare = self.writer.show(Frame { cells, caret, links, ambiguous_wide });
    }

    /// Columns and rows as they are now; nothing when the terminal is closed.
    pub fn size(&self) -> Option<(u16, u16)> {
        self.tty.size().ok()
    }

    /// Somebody else may have had the terminal, and nobody gave it to them: the modes are set anew, and the next frame is
    /// painted in full.
    pub fn take_again(&self) {
        self.send(&self.guard.again(), "its modes");
        self.writer.repaint();
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
        self.send(&self.guard.set_mouse(on, self.guard.modes().wheel_only), "the mouse");
    }

    /// Takes of the mouse, while it is taken, only the wheel or all.
    pub fn set_wheel_only(&self, wheel_only: bool) {
        self.send(&self.guard.set_mouse(self.guard.modes().mouse, wheel_only), "the mouse");
    }

    /// Takes in what the terminal answered late. Returns whether the screen is to be drawn anew because of it.
    pub fn learn(&mut self, reply: Reply) -> bool {
        let was_wide = self.caps.wide;
        self.caps.learn(reply);
        self.apply_keyboard();
        self.caps.wide != was_wide
    }

    /// Uses the keyboard protocols that the terminal has, or none.
    pub fn set_keyboard(&mut self, on: bool) {
        self.keyboard = on;
        self.apply_keyboard();
    }

    /// Releases of keys are told: the terminal has confirmed the protocol for it, and it is used.
    pub const fn tells_releases(&self) -> bool {
        self.keyboard && self.caps.keyboard
    }

    fn apply_keyboard(&self) {
        let (keyboard, other) = (self.caps.keyboard, self.caps.other_keys());
        self.send(
            &self.guard.set_keyboard(self.keyboard && keyboard, self.keyboard && other),
            "the keyboard",
        );
    }

    /// Shows plain characters instead of symbols from the next frame on; `None` goes by the terminal's widths.
    pub const fn set_ascii(&mut self, ascii: Option<bool>) {
        self.ascii = ascii;
    }

    /// Gives the window a title, or puts its own back.
    pub fn set_titled(&self, on: bool) {
        self.send(&self.guard.set_titled(on && self.kind.title), "the title");
    }

    /// The window's title from now on, if it is to have one of ours.
    pub fn set_title(&self, title: &str) {
        self.send(&self.guard.set_title(title), "the title");
    }

    /// Asks for the background colour; the answer comes as input.
    pub fn ask_background(&self) {
        self.send(caps::ASK_BACKGROUND, "the question for its colour");
    }

    fn send(&self, bytes: &[u8], what: &str) {
        if !bytes.is_empty() && self.writer.send(bytes).is_err() {
            tracing::warn!("the terminal could not be told about {what}");
        }
    }

    /// Copies, and tells on another thread what became of it.
    pub fn copy(&self, text: String, done: impl FnOnce(Copied) + Send + 'static) {
        match &self.clipboard {
            Some(clipboard) => clipboard.copy(text, done),
            None => done(Copied::Failed("nothing can be copied in this run".to_owned())),
        }
    }

    /// Copies what was selected, also to where the middle button pastes from.
    pub fn copy_selection(&self, text: String, done: impl FnOnce(Copied) + Send + 'static) {
        match &self.clipboard {
            Some(clipboard) => clipboard.copy_selection(text, done),
            None => done(Copied::Failed("nothing can be copied in this run".to_owned())),
        }
    }

    /// Who copies, for a thread that may have to.
    pub fn clipboard(&self) -> Option<Clipboard> {
        self.clipboard.clone()
    }

    /// Reads what was selected last, and tells on another thread what it is.
    pub fn paste_primary(&self, done: impl FnOnce(Result<String, String>) + Send + 'static) {
        match &self.clipboard {
            Some(clipboard) => clipboard.paste_primary(done),
            None => done(Err("nothing can be pasted in this run".to_owned())),
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
        // What is still on its way is read, and dropped, by the guard.
        let _parked = self.reader.park(PARK_LIMIT);
        let left =
            self.guard.leave().and_then(|()| self.tty.write_within(last_words.as_bytes(), LAST_WORDS_LIMIT));
        if let Err(error) = &left {
            tracing::warn!("the terminal was given back in part: {error}");
        }
        left.is_ok()
    }
}
