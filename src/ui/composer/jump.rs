//! Jumping to a character: a key says in which direction, the next key that types says to what.

use super::buffer::Pos;
use super::chips::is_chip;
use super::wrap::units;
use super::{Composer, Input, Outcome};
use crate::config::action::Action;

/// In which direction the caret jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    /// To the right and downwards.
    Forward,
    /// To the left and upwards.
    Backward,
}

impl Composer {
    /// The key to jump was pressed, and the character is still to come.
    pub const fn jumping(&self) -> Option<Jump> {
        self.jump
    }

    pub(super) fn begin_jump(&mut self, jump: Jump) -> Outcome {
        self.undo.close();
        self.history.stop();
        if self.is_empty() {
            return Outcome::Unchanged;
        }
        self.jump = Some(jump);
        Outcome::Changed
    }

    /// What an input does while the character is waited for. `None`: what it always does.
    pub(super) fn end_jump(&mut self, jump: Jump, input: Input<'_>) -> Option<Outcome> {
        match input {
            Input::Type(text) => Some(self.jump_to(jump, text.chars().next()?)),
            Input::Act(Action::Cancel | Action::Interrupt) => Some(Outcome::Changed),
            Input::Act(_) | Input::Paste(_) | Input::Insert(_) => None,
        }
    }

    /// Goes to the next unit that begins with this character. Without one the caret stays.
    fn jump_to(&mut self, jump: Jump, target: char) -> Outcome {
        let found = match jump {
            Jump::Forward => self.find_forward(target),
            Jump::Backward => self.find_backward(target),
        };
        self.sticky = None;
        if let Some(to) = found {
            self.go(to, false);
        }
        // That the key is no longer waited for is shown in any case.
        Outcome::Changed
    }

    fn find_forward(&self, target: char) -> Option<Pos> {
        let Pos { line, at } = self.right_of(self.caret.pos);
        (line..self.buffer.line_count()).find_map(|index| {
            let from = if index == line { at } else { 0 };
            let at = units(self.buffer.line(index), from).find(|unit| begins(unit.text, target))?.at;
            Some(Pos { line: index, at })
        })
    }

    fn find_backward(&self, target: char) -> Option<Pos> {
        let caret = self.caret.pos;
        (0..=caret.line).rev().find_map(|index| {
            let line = self.buffer.line(index);
            let end = if index == caret.line { caret.at } else { line.len() };
            let before = units(line, 0).take_while(|unit| unit.at < end);
            let at = before.filter(|unit| begins(unit.text, target)).last()?.at;
            Some(Pos { line: index, at })
        })
    }
}

fn begins(unit: &str, target: char) -> bool {
    !is_chip(target) && unit.starts_with(target)
}
