//! What the pointer does, and which key does the same. Help shows the table; a test holds every [`Target`] to it.
//!
//! [`Target`]: super::target::Target

use super::look::Look;
use crate::config::action::Action;

/// What a click means at one kind of place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// What is clicked.
    pub place: &'static str,
    /// What that does.
    pub does: &'static str,
    /// Who does it without a mouse.
    pub same: Same,
}

/// What does the same as a click.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// A key.
    Key(Action),
    /// A command.
    Command(&'static str),
}

const fn key(place: &'static str, does: &'static str, action: Action) -> Pointer {
    Pointer { place, does, same: Same::Key(action) }
}

/// All of it, in the order in which help shows it.
pub const POINTER: &[Pointer] = &[
    key("head of a row", "Show all of it; of thinking and prompts: open or close it", Action::Open),
    key("line of a folded run", "Open the run, or close it", Action::ToggleRow),
    key("text, dragged", "Select it and copy that; twice a word, three times a line", Action::SelectRight),
    key("card of code or a quote", "Copy it as it was written", Action::CopyBlock),
    key("address", "Open it", Action::OpenLink),
    key("prompt in the first row", "Go to it", Action::PreviousPrompt),
    key("mark that there is more", "Go to the end", Action::Bottom),
    key("bar at the right, wheel", "Scroll", Action::PageUp),
    key("row that waits", "Take it back to be written again", Action::TakeBack),
    key("row of a job", "Show its log", Action::Jobs),
    key("completion", "Take it", Action::CompletionAccept),
    key("prompt", "Put the caret there", Action::Left),
    key("model", "Choose another", Action::PickModel),
    key("thinking level", "The next one", Action::NextThinking),
    key("permission mode", "The next one", Action::NextMode),
    Pointer {
        place: "number of tools",
        does: "Count calls, or steps of chained commands",
        same: Same::Command("/display count"),
    },
    key("step in a window", "Show what it printed", Action::PopupNextStep),
    key("button in a window", "Copy what it names", Action::CopyRow),
    key("mark at the right of a window", "Close it", Action::Cancel),
    key("choice of a list", "Take it", Action::Confirm),
    key("beside a window", "Close it", Action::Cancel),
    key("right button", "Copy what is selected, else paste", Action::Paste),
];

impl Pointer {
    /// What it does, with the key that does the same.
    pub fn text(&self, look: &Look<'_>) -> String {
        let same = match self.same {
            Same::Key(action) => look.key(action),
            Same::Command(command) => Some(command.to_owned()),
        };
        match same {
            Some(same) => format!("{} ({same})", self.does),
            None => self.does.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keymap::Keymap;
    use crate::proto::ids::{JobId, TicketId};
    use crate::ui::layers::sheet::SheetPart;
    use crate::ui::target::{FooterPart, Target};

    /// The place of the table that a target is. Whoever adds a target says here how it is reached without a mouse;
    /// `None` where a click does nothing.
    const fn place(target: &Target) -> Option<&'static str> {
        Some(match target {
            Target::Layer => return None,
            Target::Transcript | Target::Text(_) => "text, dragged",
            Target::Item(_) => "head of a row",
            Target::Run(_) => "line of a folded run",
            Target::Sheet(SheetPart::Close) => "mark at the right of a window",
            Target::Sheet(SheetPart::Button(_)) => "button in a window",
            Target::Sheet(SheetPart::Step(_)) => "step in a window",
            Target::Sheet(SheetPart::Body) => "text, dragged",
            Target::Sheet(SheetPart::Scrollbar) => "bar at the right, wheel",
            Target::Card { .. } => "card of code or a quote",
            Target::Link(_) => "address",
            Target::Below => "mark that there is more",
            Target::Heading => "prompt in the first row",
            Target::Scrollbar => "bar at the right, wheel",
            Target::Composer => "prompt",
            Target::Completion(_) => "completion",
            Target::Queued(_) => "row that waits",
            Target::Job(_) | Target::Jobs => "row of a job",
            Target::Footer(FooterPart::Model) => "model",
            Target::Footer(FooterPart::Thinking) => "thinking level",
            Target::Footer(FooterPart::Mode) => "permission mode",
            Target::Footer(FooterPart::Tools) => "number of tools",
            Target::Choice(_) => "choice of a list",
            Target::Beside => "beside a window",
        })
    }

    #[test]
    fn everything_a_click_does_a_key_does_too() {
        let targets = [
            Target::Transcript,
            Target::Text(0),
            Target::Item(0),
            Target::Run(0),
            Target::Sheet(SheetPart::Close),
            Target::Sheet(SheetPart::Button(0)),
            Target::Sheet(SheetPart::Step(0)),
            Target::Sheet(SheetPart::Body),
            Target::Sheet(SheetPart::Scrollbar),
            Target::Card { item: 0, card: 0 },
            Target::Link("https://example.org".into()),
            Target::Below,
            Target::Heading,
            Target::Scrollbar,
            Target::Composer,
            Target::Completion(0),
            Target::Queued(TicketId(1)),
            Target::Job(JobId::new("a")),
            Target::Jobs,
            Target::Footer(FooterPart::Model),
            Target::Footer(FooterPart::Thinking),
            Target::Footer(FooterPart::Mode),
            Target::Footer(FooterPart::Tools),
            Target::Choice(0),
            Target::Beside,
        ];
        for target in targets {
            let place = place(&target).expect("a click does something");
            assert!(POINTER.iter().any(|row| row.place == place), "{target:?}: {place} is not in the table");
        }
        let keymap = Keymap::defaults();
        for row in POINTER {
            match row.same {
                Same::Key(action) => {
                    let is_bound = action.contexts().iter().any(|at| !keymap.keys(*at, action).is_empty());
                    assert!(is_bound, "{}: no key does {action}", row.place);
                }
                Same::Command(command) => assert!(command.starts_with('/'), "{command}"),
            }
        }
    }
}
