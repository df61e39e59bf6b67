//! The list of background jobs: their logs are opened here, and jobs stopped.

use super::frame::Place;
use super::picker::{Entry, Head, Picked, Picker, RowCx, hints};
use super::{Answer, LayerInput, LayerOutcome, hint};
use crate::config::action::{Action, Context};
use crate::proto::ids::JobId;
use crate::proto::job::JobState;
use crate::text::{clean, formats};
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::jobs::{ShownJob, ShownJobs, band};
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::Modifier;
use ratatui::text::Span;

/// From this room on a row has the command beside the title.
const ROOM_FOR_COMMAND: usize = 50;

#[derive(Clone, Debug)]
struct Item {
    job: ShownJob,
    names: String,
}

impl Entry for Item {
    fn names(&self) -> &str {
        &self.names
    }
}

/// The list.
#[derive(Clone, Debug)]
pub struct Jobs {
    picker: Picker<Item>,
}

impl Jobs {
    /// The list of these jobs, the newest first.
    pub fn new(jobs: &ShownJobs) -> Self {
        let mut list = Self { picker: Picker::new(Vec::new(), "") };
        list.set(jobs);
        list
    }

    /// How they are now. The choice stays on the same one.
    pub fn set(&mut self, jobs: &ShownJobs) {
        let selected = self.selected();
        let items = jobs.iter().rev().map(|job| {
            let names = format!("{} {}", job.view.title, job.view.command);
            Item { names: clean::for_line(&names), job: job.clone() }
        });
        *self.picker.items_mut() = items.collect();
        self.filter();
        if let Some(id) = selected {
            self.picker.select(|item| item.job.view.id == id);
        }
    }

    fn selected(&self) -> Option<JobId> {
        self.picker.selected().map(|item| item.job.view.id.clone())
    }

    fn filter(&mut self) {
        let is_searched = !self.picker.query().trim().is_empty();
        self.picker.filter(|_| true, is_searched);
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        if input == LayerInput::Act(Action::ListDelete) {
            return self
                .selected()
                .map_or(LayerOutcome::Unchanged, |id| LayerOutcome::Emit(Answer::StopJob(id)));
        }
        let (picked, is_new_query) = self.picker.handle(input);
        if is_new_query {
            self.filter();
        }
        match (picked, self.selected()) {
            (Picked::Chosen, Some(id)) => LayerOutcome::Done(Answer::OpenJob(id)),
            (Picked::Chosen, None) => LayerOutcome::Changed,
            (other, _) => other.into(),
        }
    }

    pub(super) fn draw(
        &mut self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let mut keys = hints(look, "open log");
        keys.insert(1, hint(look, Context::List, Action::ListDelete, "stop"));
        let head =
            Head { hints: keys, ..Head::plain(look, "Background jobs", "open log", "No background jobs") };
        self.picker.draw(look, place, buffer, hits, head, |item, cx| line(item, look, cx))
    }
}

fn line(item: &Item, look: &Look<'_>, cx: &RowCx<'_>) -> Vec<Span<'static>> {
    let view = &item.job.view;
    let style = |role| cx.chrome.on_row(role, cx.is_selected);
    let title = style(Role::Text).add_modifier(Modifier::BOLD);
    let mut left = vec![Span::styled(format!("  {}", clean::for_line(&view.title)), title)];
    if cx.room >= ROOM_FOR_COMMAND {
        left.push(Span::styled(format!("  $ {}", clean::for_line(&view.command)), style(Role::Muted)));
    }
    let rail = match &view.state {
        JobState::Running => {
            let gone = look.now.saturating_duration_since(item.job.since);
            vec![Span::styled(format!("running {}", formats::limit(gone)), style(Role::Accent))]
        }
        JobState::Stopping { .. } => vec![Span::styled("stopping".to_owned(), style(Role::Warning))],
        JobState::Ended(end) => {
            let (_, words) = band::ended(end);
            words.into_iter().map(|seg| Span::styled(seg.text, style(seg.role))).collect()
        }
    };
    paint::left_and_rail(left, rail, cx.room, style(Role::Dim))
}
