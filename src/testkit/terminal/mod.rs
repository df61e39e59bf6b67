//! A terminal in memory: keeps the screen, knows the modes a program has set, answers its questions.
//!
//! Bytes in, answers out; there is no clock and no process. [`super::pty`] puts one around a real program.
//!
//! Two readers see the bytes: the emulator keeps the cells, [`modes::Modes`] keeps what an emulator forgets or hides. A
//! synchronised frame is shown when it ends, never halfway; one that never ends is never shown.

pub mod answers;
pub mod keys;
pub mod modes;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::Parser;
use alacritty_terminal::vte::ansi::{self, NamedColor, Processor, Timeout};
use answers::{Answerer, Place, Profile};
use modes::Modes;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use ratatui::style::{Color, Modifier};
use std::fmt;
use std::time::Duration;

/// A terminal in memory.
pub struct Terminal {
    emulator: Term<VoidListener>,
    frames: Processor<UntilItsEnd>,
    parser: Parser,
    answerer: Answerer,
}

/// A synchronised frame lasts until the program ends it; a limit in time would make tests depend on the machine's load.
#[derive(Debug, Default)]
struct UntilItsEnd(bool);

impl Timeout for UntilItsEnd {
    fn set_timeout(&mut self, _: Duration) {
        self.0 = true;
    }

    fn clear_timeout(&mut self) {
        self.0 = false;
    }

    fn pending_timeout(&self) -> bool {
        self.0
    }
}

struct Cells(Size);

impl Dimensions for Cells {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.0.height)
    }

    fn columns(&self) -> usize {
        usize::from(self.0.width)
    }
}

impl Terminal {
    /// An empty terminal. It is at least one cell large, as the kernel's is zero only before anybody has set it.
    pub fn new(size: Size, profile: Profile) -> Self {
        // Without a scrollback a screen that grows shows no lines of old.
        let config = Config { scrolling_history: 0, ..Config::default() };
        Self {
            emulator: Term::new(config, &Cells(at_least_one(size)), VoidListener),
            frames: Processor::new(),
            parser: Parser::new(),
            answerer: Answerer::new(profile, size),
        }
    }

    /// Takes what a program wrote, and gives what the terminal sends back for it.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut answers = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            // Stops behind each question: the answer may tell where the cursor stands there.
            let read = self.parser.advance_until_terminated(&mut self.answerer, rest);
            let (seen, unseen) = rest.split_at(read.clamp(1, rest.len()));
            self.frames.advance(&mut self.emulator, seen);
            rest = unseen;
            let cursor = self.cursor();
            answers.extend(self.answerer.answer(Place { column: cursor.x, row: cursor.y }));
        }
        answers
    }

    /// Gives the terminal another background than its dark one: red, green, blue. Programs learn it when they ask.
    pub fn set_ground(&mut self, ground: (u8, u8, u8)) {
        self.answerer.set_ground(ground);
    }

    /// The user drags the window's corner.
    pub fn resize(&mut self, size: Size) {
        self.emulator.resize(Cells(at_least_one(size)));
        self.answerer.resize(size);
    }

    /// Columns and rows.
    pub fn size(&self) -> Size {
        let short = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        Size::new(short(self.emulator.columns()), short(self.emulator.screen_lines()))
    }

    /// The whole screen as text, rows without the blanks at their ends.
    pub fn text(&self) -> String {
        (0..self.size().height).map(|row| self.row(row)).collect::<Vec<_>>().join("\n")
    }

    /// One row as text, without the blanks at its end.
    pub fn row(&self, row: u16) -> String {
        let mut text = String::new();
        for column in 0..self.size().width {
            let cell = self.cell(column, row);
            if !is_hidden(cell) {
                text.push_str(&symbol(cell));
            }
        }
        text.truncate(text.trim_end().len());
        text
    }

    /// The cells with their styles, for [`super::screen_dump::dump`] and pictures.
    pub fn to_buffer(&self) -> Buffer {
        let Size { width, height } = self.size();
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        for row in 0..height {
            for column in 0..width {
                let cell = self.cell(column, row);
                if let Some(target) = buffer.cell_mut((column, row)).filter(|_| !is_hidden(cell)) {
                    target.set_symbol(&symbol(cell)).set_fg(color(cell.fg)).set_bg(color(cell.bg));
                    target.modifier = modifiers(cell.flags);
                    target.underline_color = cell.underline_color().map_or(Color::Reset, color);
                }
            }
        }
        buffer
    }

    /// The address behind a cell (OSC 8), with the number that makes one link of several cells.
    pub fn link(&self, column: u16, row: u16) -> Option<(String, String)> {
        self.cell(column, row).hyperlink().map(|link| (link.id().to_owned(), link.uri().to_owned()))
    }

    /// Where the cursor stands, shown or not.
    pub fn cursor(&self) -> Position {
        let point = self.emulator.grid().cursor.point;
        let short = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        Position::new(short(point.column.0), u16::try_from(point.line.0).unwrap_or_default())
    }

    /// Where the cursor is shown.
    pub fn caret(&self) -> Option<Position> {
        self.emulator.mode().contains(TermMode::SHOW_CURSOR).then(|| self.cursor())
    }

    /// What the program has switched, told and asked.
    pub fn modes(&self) -> &Modes {
        self.answerer.modes()
    }

    /// What is not as it was before the program started, one thing a line; empty when all was put back.
    pub fn leftovers(&self) -> Vec<String> {
        let mut found = self.modes().leftovers();
        let next = &self.emulator.grid().cursor.template;
        let plain = Cell::default();
        if (next.fg, next.bg, next.flags) != (plain.fg, plain.bg, plain.flags) {
            found.push("a colour or attribute is still on".to_owned());
        }
        if next.hyperlink().is_some() {
            found.push("a link is still open".to_owned());
        }
        found
    }

    fn cell(&self, column: u16, row: u16) -> &Cell {
        &self.emulator.grid()[Line(i32::from(row))][Column(usize::from(column))]
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal")
            .field("size", &self.size())
            .field("text", &self.text())
            .finish_non_exhaustive()
    }
}

fn at_least_one(size: Size) -> Size {
    Size::new(size.width.max(1), size.height.max(1))
}

fn is_hidden(cell: &Cell) -> bool {
    cell.flags.contains(Flags::WIDE_CHAR_SPACER)
}

fn symbol(cell: &Cell) -> String {
    // A tab is kept as such in its first cell.
    let first = if cell.c == '\t' { ' ' } else { cell.c };
    std::iter::once(first).chain(cell.zerowidth().into_iter().flatten().copied()).collect()
}

fn color(color: ansi::Color) -> Color {
    match color {
        ansi::Color::Spec(rgb) => Color::Rgb(rgb.r, rgb.g, rgb.b),
        ansi::Color::Indexed(index) => indexed(index),
        ansi::Color::Named(named) if named < NamedColor::Foreground => {
            indexed(u8::try_from(named as usize).unwrap_or_default())
        }
        ansi::Color::Named(_) => Color::Reset,
    }
}

/// The first sixteen by name, as ratatui writes them.
fn indexed(index: u8) -> Color {
    const NAMED: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    NAMED.get(usize::from(index)).copied().unwrap_or(Color::Indexed(index))
}

fn modifiers(flags: Flags) -> Modifier {
    let pairs = [
        (Flags::BOLD, Modifier::BOLD),
        (Flags::DIM, Modifier::DIM),
        (Flags::ITALIC, Modifier::ITALIC),
        (Flags::ALL_UNDERLINES, Modifier::UNDERLINED),
        (Flags::INVERSE, Modifier::REVERSED),
        (Flags::HIDDEN, Modifier::HIDDEN),
        (Flags::STRIKEOUT, Modifier::CROSSED_OUT),
    ];
    pairs.iter().filter(|(flag, _)| flags.intersects(*flag)).map(|(_, modifier)| *modifier).collect()
}

#[cfg(test)]
mod tests;
