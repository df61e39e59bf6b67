//! One line of text that is asked for: a name, a key.

use super::frame::{Chrome, Place, Window};
use super::picker::BOLD;
use super::{Answer, LayerInput, LayerOutcome, LineKind, hint};
use crate::config::action::{Action, Context};
use crate::text::clean;
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use crate::ui::text_field::{Edit, TextField};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;

/// A question that one line answers.
#[derive(Clone, Debug)]
pub struct PromptLine {
    kind: LineKind,
    title: String,
    help: String,
    field: TextField,
}

impl PromptLine {
    /// What is asked, a line of help below it, and what stands there already. A key is never shown.
    pub fn new(kind: LineKind, title: &str, help: &str, text: &str) -> Self {
        let mut field = if kind.is_secret() { TextField::secret() } else { TextField::default() };
        field.insert(text);
        Self { kind, title: clean::for_line(title), help: clean::for_line(help), field }
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        match input {
            LayerInput::Type(text) => self.field.insert(text).into(),
            // A key that is copied often brings a line break along.
            LayerInput::Paste(text) => self.field.insert(text.trim_end_matches(['\r', '\n'])).into(),
            LayerInput::Act(Action::Submit | Action::Confirm) => {
                let text = self.field.text().trim();
                if text.is_empty() && self.kind.needs_text() {
                    return LayerOutcome::Unchanged;
                }
                LayerOutcome::Done(Answer::Line { kind: self.kind.clone(), text: text.to_owned() })
            }
            LayerInput::Act(action) => self.field.act(action).into(),
            LayerInput::Choice(_) | LayerInput::Wheel(_) => LayerOutcome::Unchanged,
        }
    }

    pub(super) fn draw(
        &self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let chrome = Chrome::new(look.theme);
        let window = Window {
            title: vec![Span::styled(self.title.clone(), chrome.on_bar(Role::ToolTitle).add_modifier(BOLD))],
            rail: Vec::new(),
            hints: vec![
                hint(look, Context::Composer, Action::Submit, "take"),
                hint(look, Context::Global, Action::Cancel, "close"),
            ],
            rows: if self.help.is_empty() { 3 } else { 4 },
            columns: 72,
        };
        let body = window.draw(&chrome, place, buffer, hits);
        // With room to spare a blank row stands above.
        let above = u16::from(body.height >= 3);
        let at = Rect { y: body.y + above, height: body.height.saturating_sub(above).min(1), ..body };
        let used = paint::spans(buffer, at, &[Span::styled(" › ", chrome.on(Role::Accent))]);
        let field = Rect { x: at.x + used, width: at.width.saturating_sub(used + 1), ..at };
        let caret = self.field.draw(buffer, field, chrome.on(Role::Text), Span::raw(""));
        if at.bottom() < body.bottom() {
            let help = Rect { y: at.bottom(), height: 1, ..body };
            let spans = vec![Span::raw("   "), Span::styled(self.help.clone(), chrome.on(Role::Muted))];
            paint::spans(buffer, help, &paint::cut(spans, usize::from(help.width), chrome.on(Role::Dim)));
        }
        caret
    }
}

impl From<Edit> for LayerOutcome {
    fn from(edit: Edit) -> Self {
        match edit {
            Edit::Ignored => Self::Ignored,
            Edit::Unchanged => Self::Unchanged,
            Edit::Moved | Edit::Edited => Self::Changed,
        }
    }
}
