//! Bytes for the terminal, with what they do to it kept in mind: where its cursor is and how it writes.

use super::links::Link;
use super::pen::{Pen, write_number};
use ratatui::buffer::{Cell, CellWidth};
use ratatui::layout::Position;
use ratatui::style::Color;
use unicode_width::UnicodeWidthChar;

/// Writes cells and moves the cursor in the fewest bytes.
///
/// Invariant: `column` is known only while every terminal agrees on it. After the last column (some stay on it, some wait
/// behind it) and after a grapheme of several characters (terminals disagree about its width) the next move is absolute.
/// Where ambiguous characters may be wide, it is so after each of them, too.
#[derive(Debug, Clone)]
pub struct Painter {
    out: Vec<u8>,
    pen: Pen,
    column: Option<u16>,
    row: Option<u16>,
    erases_in_color: bool,
    /// The link that is open. Never one at the end of a frame.
    link: Option<Link>,
    ambiguous_wide: bool,
}

impl Painter {
    /// A painter on a terminal that was just reset: plain, with the cursor anywhere. `erases_in_color` says that erasing
    /// leaves the current background, not the terminal's own.
    pub const fn new(erases_in_color: bool) -> Self {
        Self {
            out: Vec::new(),
            pen: Pen::PLAIN,
            column: None,
            row: None,
            erases_in_color,
            link: None,
            ambiguous_wide: false,
        }
    }

    /// The same terminal, nothing written yet.
    pub fn begin(&self, ambiguous_wide: bool) -> Self {
        Self { out: Vec::new(), link: None, ambiguous_wide, ..*self }
    }

    /// What was written since [`Self::begin`].
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Forgets what was written, not what it did.
    pub fn forget(&mut self) {
        self.out.clear();
    }

    /// Where the cursor is, when that is certain.
    pub fn position(&self) -> Option<Position> {
        Some(Position { x: self.column?, y: self.row? })
    }

    /// The row the cursor is in, when that is certain.
    pub const fn row(&self) -> Option<u16> {
        self.row
    }

    /// Whether this cell can be written here without a change of look or link.
    pub fn fits(&self, cell: &Cell, link: Option<&Link>) -> bool {
        self.pen.fits(cell) && self.link.as_ref() == link
    }

    /// Resets colours and scroll region, and clears everything: the start of a full repaint.
    pub fn clear(&mut self) {
        self.out.extend_from_slice(b"\x1b[m\x1b[r\x1b[H\x1b[2J");
        self.pen = Pen::PLAIN;
        (self.column, self.row) = (Some(0), Some(0));
    }

    /// Moves the cursor.
    pub fn move_to(&mut self, to: Position) {
        if self.position() == Some(to) {
            return;
        }
        let same_row = self.row == Some(to.y);
        match self.column {
            Some(column) if same_row && column < to.x => self.control(to.x - column, b'C'),
            Some(column) if same_row && column == to.x + 1 => self.out.push(8),
            _ if same_row && to.x == 0 => self.out.push(b'\r'),
            // Never on the last row: the caller's target is on the screen, so the row above it is not the last.
            _ if to.x == 0 && to.y > 0 && self.row == Some(to.y - 1) => self.out.extend_from_slice(b"\r\n"),
            _ => {
                self.out.extend_from_slice(b"\x1b[");
                if to.y > 0 || to.x > 0 {
                    write_number(&mut self.out, to.y.saturating_add(1));
                }
                if to.x > 0 {
                    self.out.push(b';');
                    write_number(&mut self.out, to.x.saturating_add(1));
                }
                self.out.push(b'H');
            }
        }
        (self.column, self.row) = (Some(to.x), Some(to.y));
    }

    /// Writes a cell at the cursor, as part of this link. `span` is how many columns it takes, `room` how many there are to
    /// the row's end.
    pub fn put(&mut self, cell: &Cell, link: Option<&Link>, span: u16, room: u16) {
        let symbol = cell.symbol();
        self.take_link(link);
        self.pen.take(cell, &mut self.out);
        match drawn(symbol, room) {
            Drawn::AsIs => self.out.extend_from_slice(symbol.as_bytes()),
            Drawn::Blank => self.out.push(b' '),
            Drawn::Replaced => {
                self.out.extend_from_slice("\u{fffd}".as_bytes());
                self.out.extend(std::iter::repeat_n(b' ', usize::from(span) - 1));
            }
        }
        let mut chars = symbol.chars();
        let (first, more) = (chars.next(), chars.next());
        let certain = span < room
            && (symbol.len() == 1 || first.is_some() && more.is_none() && !self.may_cover_more(cell));
        self.column = self.column.filter(|_| certain).map(|column| column + span);
    }

    /// Whether erasing can leave this background.
    pub fn erases(&self, background: Color) -> bool {
        self.erases_in_color || background == Color::Reset
    }

    /// Whether the terminal may draw this cell over the next one, too.
    pub fn may_cover_more(&self, cell: &Cell) -> bool {
        self.ambiguous_wide && cell.symbol().chars().any(is_ambiguous)
    }

    /// Ends the open link, if there is one: nothing that is written later may belong to it.
    pub fn close_link(&mut self) {
        self.take_link(None);
    }

    fn take_link(&mut self, link: Option<&Link>) {
        if self.link.as_ref() == link {
            return;
        }
        match link {
            // Opening one ends the one before.
            Some(link) => link.open(&mut self.out),
            None => self.out.extend_from_slice(Link::CLOSE),
        }
        self.link = link.cloned();
    }

    /// Erases from the cursor to the end of its row.
    pub fn erase_to_end_of_row(&mut self, background: Color) {
        self.close_link();
        self.pen.take_erasing(background, &mut self.out);
        self.out.extend_from_slice(b"\x1b[K");
    }

    /// Erases so many columns from the cursor on; it stays where it is.
    pub fn erase(&mut self, columns: u16, background: Color) {
        self.close_link();
        self.pen.take_erasing(background, &mut self.out);
        self.control(columns, b'X');
    }

    /// Shifts the rows `top..bottom` by `by` (up when positive); what is uncovered is blank.
    pub fn scroll(&mut self, top: u16, bottom: u16, by: i32, height: u16) {
        self.close_link();
        self.pen.take_erasing(Color::Reset, &mut self.out);
        let whole = top == 0 && bottom == height;
        if !whole {
            self.out.extend_from_slice(b"\x1b[");
            write_number(&mut self.out, top + 1);
            self.out.push(b';');
            write_number(&mut self.out, bottom);
            self.out.push(b'r');
        }
        let rows = u16::try_from(by.unsigned_abs()).unwrap_or(u16::MAX);
        self.control(rows, if by > 0 { b'S' } else { b'T' });
        if !whole {
            // The default is the whole screen; both move the cursor home, which not all terminals do alike.
            self.out.extend_from_slice(b"\x1b[r");
            (self.column, self.row) = (None, None);
        }
    }

    /// Bytes that neither move the cursor nor change how it writes.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn control(&mut self, number: u16, end: u8) {
        self.out.extend_from_slice(b"\x1b[");
        if number != 1 {
            write_number(&mut self.out, number);
        }
        self.out.push(end);
    }
}

enum Drawn {
    AsIs,
    Blank,
    /// What would steer the terminal or reorder the row. Whoever made the cell should have removed it; this is the
    /// last gate.
    Replaced,
}

fn drawn(symbol: &str, room: u16) -> Drawn {
    if let [byte] = symbol.as_bytes() {
        return if byte.is_ascii_control() { Drawn::Replaced } else { Drawn::AsIs };
    }
    if symbol.chars().any(steers) {
        return Drawn::Replaced;
    }
    match symbol.cell_width() {
        // Nothing, or a mark that would land on the cell before.
        0 => Drawn::Blank,
        // A wide character in the last column.
        width if width > room => Drawn::Blank,
        _ => Drawn::AsIs,
    }
}

fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether terminals may differ in how many columns the character takes: one, or two as in East Asian fonts.
pub fn is_ambiguous(c: char) -> bool {
    // Some such fonts have wide letters of other alphabets, too. To find the place again costs a few bytes.
    c.width() != c.width_cjk() || matches!(c, '\u{a1}'..='\u{4ff}') && c.is_alphabetic()
}

/// How many columns the cell takes, at least one, at most `room`.
pub fn span(cell: &Cell, room: u16) -> u16 {
    let symbol = cell.symbol();
    if symbol.len() == 1 {
        return 1;
    }
    let width = symbol.cell_width().max(1);
    if width > room { 1 } else { width }
}
