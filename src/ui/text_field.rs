//! A line of text that is written into a layer: a search, a name, a message, a key.
//!
//! Invariants: the text is one line and clean; the caret stands on a boundary of graphemes.

use super::composer::words::{word_left, word_right};
use super::paint;
use crate::config::action::Action;
use crate::text::{clean, width};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Span;
use std::fmt;
use unicode_segmentation::UnicodeSegmentation;

/// What stands for each character of a secret.
const SECRET: &str = "•";

/// What an input did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// It is none of the field's business.
    Ignored,
    /// It is, but nothing changed.
    Unchanged,
    /// The caret moved.
    Moved,
    /// The text is another one.
    Edited,
}

/// A line of text with a caret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TextField {
    text: String,
    /// In bytes.
    caret: usize,
    /// What was cut last.
    cut: String,
    is_secret: bool,
}

// A secret must not reach a log by way of a state that is printed.
impl fmt::Debug for TextField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.is_secret { "(secret)" } else { &self.text };
        f.debug_struct("TextField").field("text", &text).field("caret", &self.caret).finish_non_exhaustive()
    }
}

impl TextField {
    /// A field with this text, the caret behind it.
    pub fn new(text: &str) -> Self {
        let mut field = Self::default();
        field.insert(text);
        field
    }

    /// An empty field whose text is never shown.
    pub fn secret() -> Self {
        Self { is_secret: true, ..Self::default() }
    }

    /// What was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Nothing was written.
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes all text away.
    pub fn clear(&mut self) -> Edit {
        self.cut(0, self.text.len())
    }

    /// Typed or pasted text, at the caret. Line breaks become blanks.
    pub fn insert(&mut self, text: &str) -> Edit {
        let text: String = clean::for_terminal(text)
            .chars()
            .map(|c| if matches!(c, '\n' | '\t') { ' ' } else { c })
            .collect();
        if text.is_empty() {
            return Edit::Unchanged;
        }
        self.text.insert_str(self.caret, &text);
        // What was typed may join the character behind it.
        self.caret = self.boundary_from(self.caret + text.len());
        Edit::Edited
    }

    /// What a key of the composer does here.
    pub fn act(&mut self, action: Action) -> Edit {
        let (caret, end) = (self.caret, self.text.len());
        match action {
            Action::Left => self.go(self.before(caret)),
            Action::Right => self.go(self.after(caret)),
            Action::WordLeft => self.go(word_left(&self.text, caret)),
            Action::WordRight => self.go(word_right(&self.text, caret)),
            Action::LineStart | Action::TextStart | Action::Top => self.go(0),
            Action::LineEnd | Action::TextEnd | Action::Bottom => self.go(end),
            Action::DeleteBack => self.remove(self.before(caret), caret),
            Action::DeleteForward => self.remove(caret, self.after(caret)),
            Action::KillWordBack => self.cut(word_left(&self.text, caret), caret),
            Action::KillWordForward => self.cut(caret, word_right(&self.text, caret)),
            Action::KillToStart => self.cut(0, caret),
            Action::KillToEnd => self.cut(caret, end),
            Action::Yank => self.insert(&self.cut.clone()),
            _ => Edit::Ignored,
        }
    }

    /// Draws it into the first row of `area`, so that the caret is in view; returns where that stands.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        style: Style,
        empty: Span<'static>,
    ) -> Option<Position> {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return None;
        }
        if self.text.is_empty() {
            let empty = paint::cut(vec![empty.clone()], usize::from(area.width), empty.style);
            paint::spans(buffer, area, &empty);
            return Some(area.as_position());
        }
        let (shown, before) = if self.is_secret {
            let count = |text: &str| text.graphemes(true).count();
            (
                SECRET.repeat(count(&self.text)),
                SECRET.repeat(count(self.text.get(..self.caret).unwrap_or_default())),
            )
        } else {
            (self.text.clone(), self.text.get(..self.caret).unwrap_or_default().to_owned())
        };
        // The caret needs a cell of its own.
        let room = usize::from(area.width) - 1;
        let mut begin = before.len();
        let mut column = 0;
        for (at, grapheme) in before.grapheme_indices(true).rev() {
            let wide = width::of_grapheme(grapheme);
            if column + wide > room {
                break;
            }
            column += wide;
            begin = at;
        }
        let visible = shown.get(begin..).unwrap_or_default();
        paint::spans(buffer, area, &[Span::styled(width::take(visible, room + 1).to_owned(), style)]);
        let column = u16::try_from(column).unwrap_or(u16::MAX).min(area.width - 1);
        Some(Position::new(area.x + column, area.y))
    }

    const fn go(&mut self, to: usize) -> Edit {
        if self.caret == to {
            return Edit::Unchanged;
        }
        self.caret = to;
        Edit::Moved
    }

    fn remove(&mut self, from: usize, to: usize) -> Edit {
        if from >= to {
            return Edit::Unchanged;
        }
        self.text.replace_range(from..to, "");
        self.caret = self.boundary_from(from);
        Edit::Edited
    }

    fn cut(&mut self, from: usize, to: usize) -> Edit {
        if from < to {
            self.cut = self.text.get(from..to).unwrap_or_default().to_owned();
        }
        self.remove(from, to)
    }

    fn before(&self, at: usize) -> usize {
        self.text
            .grapheme_indices(true)
            .map(|(begin, _)| begin)
            .take_while(|begin| *begin < at)
            .last()
            .unwrap_or(0)
    }

    fn after(&self, at: usize) -> usize {
        self.boundary_from((at + 1).min(self.text.len()))
    }

    /// The first boundary at or after a byte.
    fn boundary_from(&self, at: usize) -> usize {
        let mut begins = self.text.grapheme_indices(true).map(|(begin, _)| begin);
        begins.find(|begin| *begin >= at).unwrap_or(self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(text: &str, actions: &[Action]) -> (String, usize) {
        let mut field = TextField::new(text);
        for action in actions {
            field.act(*action);
        }
        (field.text, field.caret)
    }

    #[test]
    fn keys_of_the_composer_work_here() {
        use Action::*;
        let table: &[(&str, &[Action], &str, usize)] = &[
            ("ab", &[DeleteBack], "a", 1),
            ("e\u{301}x", &[LineStart, Right, DeleteForward], "e\u{301}", 3),
            ("e\u{301}x", &[Left, DeleteBack], "x", 0),
            ("foo bar", &[KillWordBack], "foo ", 4),
            ("foo bar", &[KillWordBack, LineStart, Yank], "barfoo ", 3),
            ("foo bar", &[WordLeft, KillToStart], "bar", 0),
            ("foo bar", &[LineStart, WordRight, KillToEnd], "foo", 3),
            ("foo bar", &[LineStart, KillWordForward], " bar", 0),
            ("", &[DeleteBack, DeleteForward, Left, Right, KillToEnd], "", 0),
            ("a\nb\tc\u{1b}[31m", &[], "a b c", 5),
        ];
        for (text, actions, expected, caret) in table {
            assert_eq!(after(text, actions), ((*expected).to_owned(), *caret), "{text:?} {actions:?}");
        }
        assert_eq!(TextField::new("x").act(Submit), Edit::Ignored);
    }

    #[test]
    fn a_mark_joins_the_letter_before_it() {
        let mut field = TextField::new("ex");
        field.act(Action::Left);
        field.insert("\u{301}");
        assert_eq!(field.caret, 3);
        field.act(Action::DeleteBack);
        assert_eq!(field.text(), "x");
    }

    #[test]
    fn a_secret_is_never_shown() {
        let mut field = TextField::secret();
        field.insert("hunter2");
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 1));
        let area = buffer.area;
        let caret = field.draw(&mut buffer, area, Style::new(), Span::raw(""));
        assert_eq!(buffer, Buffer::with_lines(["•••••••   "]));
        assert_eq!(caret, Some(Position::new(7, 0)));
        assert!(!format!("{field:?}").contains("hunter"));
    }

    proptest! {
        #[test]
        fn the_caret_is_on_a_boundary_and_in_view(
            parts in prop::collection::vec(any::<String>(), 0..4),
            steps in prop::collection::vec(0_usize..14, 0..20),
            columns in 0_u16..12,
        ) {
            use Action::*;
            const ALL: [Action; 14] = [
                Left, Right, WordLeft, WordRight, LineStart, LineEnd, DeleteBack, DeleteForward, KillWordBack,
                KillWordForward, KillToStart, KillToEnd, Yank, Left,
            ];
            let mut field = TextField::default();
            let mut parts = parts.iter();
            for step in steps {
                field.act(ALL[step]);
                if step % 4 == 0 && let Some(part) = parts.next() {
                    field.insert(part);
                }
                let caret = field.caret;
                prop_assert!(caret == field.text.len() || field.text.grapheme_indices(true).any(|(at, _)| at == caret));
                let mut buffer = Buffer::empty(Rect::new(3, 1, columns, 1));
                let area = buffer.area;
                let place = field.draw(&mut buffer, area, Style::new(), Span::raw("empty"));
                prop_assert_eq!(place.is_some(), columns > 0);
                prop_assert!(place.is_none_or(|place| buffer.area.contains(place)));
            }
        }
    }
}
