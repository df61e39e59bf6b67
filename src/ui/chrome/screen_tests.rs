//! A small screen to draw parts on, and the whole of them on one.

use crate::config::keymap::Keymap;
use crate::theme::Theme;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::scene::NextDeadline;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;
use std::time::{Duration, Instant};

pub(super) struct Screen {
    pub buffer: Buffer,
    pub hits: HitMap<Target>,
    pub next: NextDeadline,
    pub theme: Theme,
    pub motion: bool,
    pub epoch: Instant,
    pub now: Instant,
}

impl Screen {
    pub fn new(width: u16, height: u16) -> Self {
        let epoch = Instant::now();
        Self {
            buffer: Buffer::empty(Rect::new(0, 0, width, height)),
            hits: HitMap::new(),
            next: NextDeadline::default(),
            theme: Theme::quiet_dark(),
            motion: true,
            epoch,
            now: epoch,
        }
    }

    /// At so many milliseconds after the beginning.
    pub fn at(&self, millis: u64) -> Instant {
        self.epoch + Duration::from_millis(millis)
    }

    pub fn draw(
        &mut self,
        draw: impl FnOnce(&Look<'_>, Rect, &mut Buffer, &mut HitMap<Target>, &mut NextDeadline),
    ) {
        let keymap = Keymap::defaults();
        let look = Look {
            theme: &self.theme,
            keymap: &keymap,
            now: self.now,
            epoch: self.epoch,
            motion: self.motion,
            glyphs: true,
            home: Path::new("/home/ada"),
            cwd: Path::new("/home/ada/src/tool"),
        };
        self.buffer.reset();
        self.hits = HitMap::new();
        self.next = NextDeadline::default();
        let area = self.buffer.area;
        draw(&look, area, &mut self.buffer, &mut self.hits, &mut self.next);
    }
}

/// A row as text, without the blanks at its end.
pub(super) fn row(buffer: &Buffer, y: u16) -> String {
    let mut text = String::new();
    let mut x = 0;
    while x < buffer.area.width {
        let symbol = buffer[(x, y)].symbol();
        text.push_str(symbol);
        x += u16::try_from(crate::text::width::of(symbol).max(1)).unwrap();
    }
    text.trim_end_matches(' ').to_owned()
}

pub(super) fn text(buffer: &Buffer) -> String {
    (0..buffer.area.height).map(|y| row(buffer, y)).collect::<Vec<_>>().join("\n")
}
