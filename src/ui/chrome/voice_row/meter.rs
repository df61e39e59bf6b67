//! The meter and the marks of the chunks.

use super::view::{SAMPLES, VoiceView};
use crate::proto::voice::ChunkState;
use crate::theme::role::Role;
use crate::ui::look::Look;
use ratatui::text::Span;
use std::time::Duration;

/// More marks are a number.
const MOST_MARKS: usize = 12;
/// A chunk is cut here at the latest.
const LONGEST_CHUNK: Duration = Duration::from_secs(12);

/// Dots of the left and the right half of a cell, from the middle outwards: none, two, four.
const LEFT: [u32; 3] = [0, 0x06, 0x47];
const RIGHT: [u32; 3] = [0, 0x30, 0xb8];

/// Two samples a cell, the newest at the right.
pub fn meter(view: &VoiceView, look: &Look<'_>) -> Vec<Span<'static>> {
    let missing = SAMPLES.saturating_sub(view.levels.len());
    let mut samples = std::iter::repeat_n(0.0, missing).chain(view.levels.iter().copied());
    let mut spans: Vec<Span<'static>> = Vec::new();
    while let Some(left) = samples.next() {
        let right = samples.next().unwrap_or(0.0);
        let bits = half(&LEFT, left) | half(&RIGHT, right);
        let cell = char::from_u32(0x2800 | bits).unwrap_or(' ');
        let style = look.theme.style(loudness(left.max(right)));
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push(cell),
            _ => spans.push(Span::styled(cell.to_string(), style)),
        }
    }
    spans
}

fn half(dots: &[u32; 3], level: f32) -> u32 {
    let height = if level < 0.15 {
        0
    } else if level < 0.50 {
        1
    } else {
        2
    };
    dots.get(height).copied().unwrap_or(0)
}

const fn loudness(level: f32) -> Role {
    if level < 0.15 {
        Role::Dim
    } else if level < 0.80 {
        Role::Accent
    } else if level < 0.95 {
        Role::Warning
    } else {
        Role::Error
    }
}

/// One mark a chunk; of many the older ones as a number.
pub fn chunks(view: &VoiceView, look: &Look<'_>) -> Vec<Span<'static>> {
    let older = view.chunks.len().saturating_sub(MOST_MARKS);
    let mut spans = Vec::new();
    if older > 0 {
        spans.push(Span::styled(format!("+{older} "), look.theme.style(Role::Dim)));
    }
    spans.extend(view.chunks.iter().skip(older).map(|chunk| {
        let (mark, role) = match chunk {
            ChunkState::Filling(length) if *length >= LONGEST_CHUNK * 3 / 4 => ("◇", Role::Warning),
            ChunkState::Filling(length) if *length >= LONGEST_CHUNK / 3 => ("◇", Role::Accent),
            ChunkState::Filling(_) | ChunkState::Queued => ("◇", Role::Dim),
            ChunkState::Decoding => ("◈", Role::Accent),
            ChunkState::Done => ("◆", Role::Accent),
            ChunkState::Failed => ("✗", Role::Error),
        };
        Span::styled(mark, look.theme.style(role))
    }));
    spans
}
