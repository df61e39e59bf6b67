//! The newest words of a call that is being written, under its band.

use super::body::Panel;
use super::draft::{self, Tail};
use super::seg::{self, Seg};
use super::title::Kind;
use super::{EntryCx, Layout, Moving};
use crate::text::wrap::{self, Break, Run};
use crate::text::{clean, width};
use crate::theme::role::Role;
use crate::transcript::item::Call;
use crate::ui::band::Band;
use crate::ui::glow;
use ratatui::text::Span;
use std::sync::Arc;

/// Rows of it.
const SHOWN: usize = 2;

/// Rows of a file that is being written: that is what one looks at then.
const SHOWN_OF_FILE: usize = 3;

/// Where the next character comes.
const CARET: &str = "▍";

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
        // A step is a row: what is wrapped from a place stays wrapped so while a row is filled.
        let tail = written.tail((shown + 1) * room * 3, room * 3);
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
        // The caret stands behind the last character, whatever its column.
        let columns = panel.room().saturating_sub(1).max(1);
        let mut rows = Vec::new();
        let mut start = 0;
        for line in self.text.split('\n') {
            for mut row in wrap::line(&[Run::new(line, style, start)], columns, Break::Words) {
                row.start = row.start.max(start);
                rows.push(row);
            }
            start += line.len() + 1;
        }
        let hidden = rows.len().saturating_sub(self.shown);
        let mut rows = rows.split_off(hidden);
        let starts: Vec<usize> = rows.iter().map(|row| row.start).collect();
        if let Some(last) = rows.last_mut().filter(|_| has_caret && panel.room() > 1) {
            last.text_end = Some(u16::try_from(last.width()).unwrap_or(u16::MAX));
            last.spans.push(Span::styled(CARET, panel.style(Role::Accent)));
        }
        for row in rows {
            panel.push(row);
        }
        let ground = panel.ground;
        let mut layout = Layout::under(band, panel, cx);
        let below = layout.rows.iter().enumerate().skip(1).zip(starts);
        let shining: Vec<(usize, Arc<dyn Moving>)> = below
            .filter_map(|((index, row), start)| {
                let place = |byte| self.tail.place(byte, self.text.len());
                Some((index, glow::row(row, start, &call.trail, place, ground, cx.look)?))
            })
            .collect();
        layout.moving.extend(shining);
        layout
    }
}
