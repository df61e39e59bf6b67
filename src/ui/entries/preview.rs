//! The newest words of a call that is being written, under its band.

use super::body::Panel;
use super::draft::{self, Tail};
use super::seg::{self, Seg};
use super::title::Kind;
use super::{EntryCx, Layout, newest};
use crate::text::{clean, width};
use crate::theme::role::Role;
use crate::transcript::item::Call;
use crate::ui::band::Band;

/// Rows of it.
const SHOWN: usize = 2;

/// Rows of a file that is being written: that is what one looks at then.
const SHOWN_OF_FILE: usize = 3;

/// The end of a text that is being written.
#[derive(Debug)]
pub struct Preview {
    tail: Tail,
    text: String,
    shown: usize,
}

impl Preview {
    /// That of a call; nothing when its title shows the text already.
    pub fn of(call: &Call, title: &[Seg], cx: &EntryCx<'_>) -> Option<Self> {
        let written = draft::written(&call.draft)?;
        let shown = if Kind::of(&call.tool) == Kind::Write { SHOWN_OF_FILE } else { SHOWN };
        let room = Panel::new(cx).room();
        let tail = written.tail(newest::step(shown, room));
        let text = clean::for_terminal(&tail.text).into_owned();
        if text.trim().is_empty() {
            return None;
        }
        let line = seg::line(&text);
        let is_one_line = !text.trim_end().contains('\n');
        let is_seen = is_one_line && width::of(&line) < room / 2;
        if is_seen && title.iter().any(|seg| seg.text.contains(line.trim_end())) {
            return None;
        }
        Some(Self { tail, text, shown })
    }

    /// Its rows under a band.
    pub fn under(self, band: Band, call: &Call, has_caret: bool, cx: &EntryCx<'_>) -> Layout {
        let mut panel = Panel::new(cx);
        let style = panel.style(Role::Muted);
        let rows = newest::rows(&self.text, newest::columns(&panel), self.shown, style, |_| true);
        let place = |byte| self.tail.place(byte, self.text.len());
        newest::draw(&mut panel, rows, has_caret, &call.trail, place);
        Layout::under(band, panel, cx)
    }
}
