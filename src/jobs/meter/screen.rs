//! A small screen for progress displays: the last lines, a cursor, erasing.
//!
//! It differs from a terminal on purpose: lines don't wrap but end at the last column, and a line that is written
//! again from its begin loses its old text at once. Programs whose output is no terminal don't erase before they
//! rewrite, and the rest of the longer line before would be read as a part of the new one.
//!
//! Invariant: there are always [`ROWS`] rows of at most [`COLUMNS`] characters, and the cursor is on one of them.

use super::escape::Action;
use std::collections::VecDeque;

/// Displays of more lines than this are cut at the top.
const ROWS: usize = 32;
/// No display is wider; it bounds what the patterns look at.
const COLUMNS: usize = 256;

/// The screen of a command.
#[derive(Debug)]
pub struct Screen {
    rows: VecDeque<Vec<char>>,
    row: usize,
    column: usize,
    saved: (usize, usize),
    /// A carriage return came: a character now begins the line anew.
    anew: bool,
    /// The cursor's line has characters that nobody read.
    written: bool,
    block: Option<Block>,
}

/// Lines that a program draws again and again, moving up to them.
#[derive(Clone, Copy, Debug)]
struct Block {
    top: usize,
    bottom: usize,
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            rows: std::iter::repeat_with(Vec::new).take(ROWS).collect(),
            row: 0,
            column: 0,
            saved: (0, 0),
            anew: false,
            written: false,
            block: None,
        }
    }
}

impl Screen {
    /// Forgets what it shows, keeping its memory.
    pub fn clear(&mut self) {
        self.rows.iter_mut().for_each(Vec::clear);
        (self.row, self.column, self.saved) = (0, 0, (0, 0));
        (self.anew, self.written, self.block) = (false, false, None);
    }

    /// Whether the action ends what was written in the line of the cursor: now is the time to read it.
    pub const fn leaves_line(&self, action: Action) -> bool {
        self.written
            && match action {
                Action::Print(_) | Action::Left(_) | Action::Right(_) | Action::EraseRight | Action::Save => {
                    false
                }
                Action::Column(column) => column == 0,
                _ => true,
            }
    }

    /// Whether the line of the cursor has something new.
    pub const fn is_written(&self) -> bool {
        self.written
    }

    /// Somebody read the line of the cursor.
    pub const fn was_read(&mut self) {
        self.written = false;
    }

    /// The line of the cursor.
    pub fn line(&self) -> String {
        self.rows.get(self.row).map(|row| text(row)).unwrap_or_default()
    }

    /// The line of the cursor has nothing to read.
    pub fn is_blank(&self) -> bool {
        self.rows.get(self.row).is_none_or(|row| row.iter().all(|character| character.is_whitespace()))
    }

    /// All lines with text, from the top.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|row| text(row)).filter(|line| !line.is_empty())
    }

    /// The lines above the cursor that are drawn together with its own, from the top.
    pub fn lines_of_block(&self) -> impl Iterator<Item = String> {
        let top = self.block.map_or(self.row, |block| block.top);
        self.rows.iter().take(self.row).skip(top).map(|row| text(row))
    }

    /// Lets it happen.
    pub fn act(&mut self, action: Action) {
        match action {
            Action::Print(character) => self.print(character),
            Action::Return => self.move_to_column(0),
            Action::Feed => self.feed(),
            Action::Up(count) => self.up(count),
            Action::Down(count) => self.move_to_row(self.row.saturating_add(count)),
            Action::Left(count) => self.move_to_column(self.column.saturating_sub(count)),
            Action::Right(count) => self.move_to_column(self.column.saturating_add(count)),
            Action::Column(column) => self.move_to_column(column),
            Action::Place(row, column) => {
                self.move_to_row(row);
                self.move_to_column(column);
            }
            Action::EraseRight => self.erase_right(),
            Action::EraseLine => {
                if let Some(row) = self.rows.get_mut(self.row) {
                    row.clear();
                }
            }
            Action::EraseBelow => {
                self.erase_right();
                self.rows.iter_mut().skip(self.row + 1).for_each(Vec::clear);
            }
            Action::EraseAll => self.rows.iter_mut().for_each(Vec::clear),
            Action::Save => self.saved = (self.row, self.column),
            Action::Restore => {
                let (row, column) = self.saved;
                self.move_to_row(row);
                self.move_to_column(column);
            }
        }
    }

    #[cfg(test)]
    pub fn kept_bytes(&self) -> usize {
        self.rows.iter().map(|row| row.capacity() * size_of::<char>()).sum()
    }

    fn print(&mut self, character: char) {
        if self.column >= COLUMNS {
            return;
        }
        let Some(row) = self.rows.get_mut(self.row) else { return };
        if std::mem::take(&mut self.anew) {
            row.clear();
        }
        if row.len() < self.column {
            row.resize(self.column, ' ');
        }
        match row.get_mut(self.column) {
            Some(cell) => *cell = character,
            None => row.push(character),
        }
        self.column += 1;
        self.written = true;
    }

    fn erase_right(&mut self) {
        if let Some(row) = self.rows.get_mut(self.row) {
            row.truncate(self.column);
        }
    }

    fn move_to_column(&mut self, column: usize) {
        self.column = column.min(COLUMNS);
        self.anew = self.column == 0;
    }

    /// Programs go up to draw their lines again. The other ways to move also lead to fixed places.
    fn up(&mut self, count: usize) {
        let top = self.row.saturating_sub(count);
        let block = self.block.get_or_insert(Block { top, bottom: self.row });
        block.top = block.top.min(top);
        block.bottom = block.bottom.max(self.row);
        self.move_to_row(top);
    }

    fn move_to_row(&mut self, row: usize) {
        self.row = row.min(ROWS - 1);
        self.anew = false;
    }

    fn feed(&mut self) {
        if self.row + 1 < ROWS {
            self.row += 1;
        } else if let Some(mut first) = self.rows.pop_front() {
            // The row is used again: a flood of lines must not allocate.
            first.clear();
            self.rows.push_back(first);
            self.block = self.block.and_then(Block::scrolled);
        }
        // Below its last line the program goes on with something else.
        self.block = self.block.filter(|block| self.row <= block.bottom);
        self.move_to_column(0);
    }
}

impl Block {
    fn scrolled(self) -> Option<Self> {
        Some(Self { top: self.top.saturating_sub(1), bottom: self.bottom.checked_sub(1)? })
    }
}

fn text(row: &[char]) -> String {
    let text: String = row.iter().collect();
    text.trim_end().to_owned()
}
