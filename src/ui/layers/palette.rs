//! The command palette: everything that makes sense everywhere, by name.

use super::frame::Place;
use super::picker::{Entry, Head, Picked, Picker};
use super::{Answer, CommandRow, LayerInput, LayerOutcome};
use crate::config::action::{Action, Context};
use crate::text::clean;
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::text::Span;

#[derive(Clone, Debug)]
enum What {
    Action(Action),
    Command(CommandRow),
}

#[derive(Clone, Debug)]
struct Row {
    what: What,
    names: String,
}

impl Entry for Row {
    fn names(&self) -> &str {
        &self.names
    }
}

/// The command palette.
#[derive(Clone, Debug)]
pub struct Palette {
    picker: Picker<Row>,
}

/// Actions that mean something only where the palette is not.
const fn is_listed(action: Action) -> bool {
    !matches!(
        action,
        Action::Cancel | Action::Interrupt | Action::Palette | Action::PageUp | Action::PageDown
    )
}

impl Palette {
    /// The palette with these commands beside the actions.
    pub fn new(commands: Vec<CommandRow>) -> Self {
        let actions = Action::ALL
            .iter()
            .copied()
            .filter(|action| action.contexts().first() == Some(&Context::Global) && is_listed(*action));
        let actions =
            actions.map(|action| Row { what: What::Action(action), names: action.text().to_owned() });
        // Enter at once must not end the program.
        let (mut actions, last): (Vec<Row>, Vec<Row>) =
            actions.partition(|row| !matches!(row.what, What::Action(Action::Quit | Action::Suspend)));
        let commands = commands.into_iter().map(|command| {
            let names = clean::for_line(&format!("/{} {}", command.name, command.text));
            Row { what: What::Command(command), names }
        });
        actions.extend(commands);
        actions.extend(last);
        Self { picker: Picker::new(actions, "") }
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        if input == LayerInput::Act(Action::Palette) {
            return LayerOutcome::Closed;
        }
        let (picked, is_new_query) = self.picker.handle(input);
        if is_new_query {
            self.picker.filter(|_| true, true);
        }
        match (picked, self.picker.selected()) {
            (Picked::Chosen, Some(row)) => LayerOutcome::Done(match &row.what {
                What::Action(action) => Answer::Action(*action),
                What::Command(command) => Answer::Command(command.name.clone()),
            }),
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
        let head =
            Head { empty_field: "Type what to do", ..Head::plain(look, "Commands", "run", "Nothing to do") };
        self.picker.draw(look, place, buffer, hits, head, |row, cx| {
            let style = |role| cx.chrome.on_row(role, cx.is_selected);
            let mut left = vec![Span::raw("   ")];
            let mut rail = Vec::new();
            match &row.what {
                What::Action(action) => {
                    left.push(Span::styled(action.text(), style(Role::Text)));
                    rail.extend(look.key(*action).map(|key| Span::styled(key, style(Role::Muted))));
                }
                What::Command(command) => {
                    let name = format!("/{}", clean::for_line(&command.name));
                    left.push(Span::styled(name, style(Role::Accent)));
                    let text = format!("  {}", clean::for_line(&command.text));
                    left.push(Span::styled(text, style(Role::Muted)));
                }
            }
            paint::left_and_rail(left, rail, cx.room, style(Role::Dim))
        })
    }
}
