//! The rows of jobs above the prompt: what could not be told to the agent first, then what has ended, then what runs, the
//! newest first; the rest is counted.

use super::{ShownJob, ShownJobs, band};
use crate::proto::job::JobState;
use crate::theme::role::Role;
use crate::ui::entries::EntryCx;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

/// More are counted, not shown.
const MOST: usize = 4;

/// Rows that it would like to have: a blank one above them, so that they do not look like a part of the transcript.
pub fn height(jobs: &ShownJobs) -> u16 {
    match jobs.shown().count() {
        0 => 0,
        count @ 1..=MOST => u16::try_from(count + 1).unwrap_or(0),
        // One more takes the row that would tell of it.
        _ => u16::try_from(MOST + 2).unwrap_or(0),
    }
}

/// In the order in which they are worth a row.
fn ranked(jobs: &ShownJobs) -> Vec<&ShownJob> {
    let mut ranked: Vec<&ShownJob> = jobs.shown().rev().collect();
    ranked.sort_by_key(|job| match job.view.state {
        _ if job.view.is_undelivered => 0,
        JobState::Ended(_) => 1,
        JobState::Running | JobState::Stopping { .. } => 2,
    });
    ranked
}

/// Draws them. With fewer rows than it would like the blank one goes first.
pub fn draw(
    jobs: &ShownJobs,
    look: &Look<'_>,
    area: Rect,
    buffer: &mut Buffer,
    hits: &mut HitMap<Target>,
    next: &mut NextDeadline,
) {
    let area = area.intersection(buffer.area);
    let all = ranked(jobs);
    if area.is_empty() || all.is_empty() {
        return;
    }
    let gap = u16::from(area.height >= height(jobs));
    let area = Rect { y: area.y + gap, height: area.height - gap, ..area };
    let rows = usize::from(area.height);
    let shown = if all.len() <= rows { all.len() } else { rows.saturating_sub(1).min(MOST) };
    let cx = EntryCx { look, width: area.width, open: false };
    let mut y = area.top();
    for job in all.iter().take(shown) {
        let row = Rect { y, height: 1, ..area };
        paint::row(buffer, row, &band::row(job, &cx, next));
        hits.push(row, 0, Target::Job(job.view.id.clone()));
        y += 1;
    }
    if shown < all.len() && y < area.bottom() {
        let more = format!("  +{} more", all.len() - shown);
        let row = Rect { y, height: 1, ..area };
        paint::spans(buffer, row, &[Span::styled(more, look.theme.style(Role::Dim))]);
        hits.push(row, 0, Target::Jobs);
    }
}
