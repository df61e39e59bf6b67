//! What waits to be said: texts for the running turn, and prompts for after it.

use crate::config::action::Action;
use crate::proto::ids::TicketId;
use crate::text::clean;
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

/// More rows are counted, not shown.
const MOST: usize = 5;

/// What waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Texts that the running turn gets after its step, in order.
    pub steering: Vec<String>,
    /// Prompts, in order.
    pub waiting: Vec<Waiting>,
}

/// A prompt that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Names it.
    pub ticket: TicketId,
    /// What it says.
    pub text: String,
    /// It waits for the user: the turn before it was stopped.
    pub held: bool,
}

impl Queue {
    const fn len(&self) -> usize {
        self.steering.len() + self.waiting.len()
    }

    /// Rows for texts, and how many texts they leave out. A row that says that one more waits would take the place of
    /// that one.
    fn shown(&self, rows: usize) -> (usize, usize) {
        let all = self.len();
        if all <= rows || (all == MOST + 1 && rows > MOST) {
            return (all, 0);
        }
        let shown = rows.saturating_sub(1).min(MOST);
        (shown, all - shown)
    }
}

/// Rows that it would like to have: a blank one above them, so that they do not look like a part of the transcript, the
/// texts, and the keys.
pub fn height(queue: &Queue) -> u16 {
    match queue.len() {
        0 => 0,
        waiting @ 1..=MOST => u16::try_from(waiting + 2).unwrap_or(0),
        _ => u16::try_from(MOST + 3).unwrap_or(0),
    }
}

/// Draws it. With fewer rows than it would like the blank one goes first, then the keys.
pub fn draw(queue: &Queue, look: &Look<'_>, area: Rect, buffer: &mut Buffer, hits: &mut HitMap<Target>) {
    let area = area.intersection(buffer.area);
    if area.is_empty() || queue.len() == 0 {
        return;
    }
    let gap = u16::from(area.height >= height(queue));
    let area = Rect { y: area.y + gap, height: area.height - gap, ..area };
    let rows = usize::from(area.height);
    let has_hint = rows + 1 >= usize::from(height(queue));
    let (shown, hidden) = queue.shown(rows - usize::from(has_hint));
    let dim = look.theme.style(Role::Dim);
    let mut lines: Vec<_> = lines(queue, look).into_iter().take(shown).collect();
    if hidden > 0 {
        let more = Line {
            ticket: None,
            left: vec![Span::styled(format!("  … {hidden} more"), dim)],
            rail: String::new(),
        };
        lines.push(more);
    }
    if has_hint {
        lines.push(Line {
            ticket: None,
            left: vec![Span::styled(hint(queue, look), dim)],
            rail: String::new(),
        });
    }
    for (y, line) in (area.top()..area.bottom()).zip(lines) {
        let row = Rect { y, height: 1, ..area };
        // On a narrow screen the text says more than when it will be said.
        let rail = if area.width < 40 { String::new() } else { line.rail };
        let spans =
            paint::left_and_rail(line.left, vec![Span::styled(rail, dim)], usize::from(area.width), dim);
        paint::spans(buffer, row, &spans);
        if let Some(ticket) = line.ticket {
            hits.push(row, 0, Target::Queued(ticket));
        }
    }
}

struct Line {
    ticket: Option<TicketId>,
    left: Vec<Span<'static>>,
    rail: String,
}

fn lines(queue: &Queue, look: &Look<'_>) -> Vec<Line> {
    let theme = look.theme;
    let steering = queue.steering.iter().map(|text| Line {
        ticket: None,
        left: vec![
            Span::styled("↳ ", theme.style(Role::Accent)),
            Span::styled(clean::for_line(text), theme.style(Role::MdListBullet)),
        ],
        rail: "after this step".to_owned(),
    });
    let key = look.key(Action::Submit);
    let held = key.map_or("held".to_owned(), |key| format!("waits for {key}"));
    let waiting = queue.waiting.iter().zip(1_usize..).map(|(row, number)| Line {
        ticket: Some(row.ticket),
        left: vec![
            Span::styled(format!("{number} "), theme.style(Role::Dim)),
            Span::styled(clean::for_line(&row.text), theme.style(Role::Muted)),
        ],
        rail: if row.held { held.clone() } else { "after the turn".to_owned() },
    });
    steering.chain(waiting).collect()
}

fn hint(queue: &Queue, look: &Look<'_>) -> String {
    let is_held = queue.waiting.first().is_some_and(|row| row.held) && queue.steering.is_empty();
    let send = if is_held {
        look.key(Action::Submit).map(|key| format!("{key} sends the first"))
    } else {
        look.key(Action::SendNow).map(|key| format!("{key} sends now"))
    };
    let back = look.key(Action::TakeBack).map(|key| format!("{key} takes back"));
    let hints: Vec<_> = back.into_iter().chain(send).collect();
    format!("  {}", hints.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::chrome::screen_tests::{Screen, row};
    use proptest::prelude::*;

    fn queue(steering: usize, waiting: usize) -> Queue {
        Queue {
            steering: (0..steering).map(|index| format!("steer {index}")).collect(),
            waiting: (0..waiting)
                .map(|index| Waiting {
                    ticket: TicketId(index as u64),
                    text: format!("prompt {index}\nsecond line"),
                    held: false,
                })
                .collect(),
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_counted() {
        // Steering, waiting, rows: the first words of each row.
        let table: [(usize, usize, u16, &[&str]); 7] = [
            (0, 1, 3, &["", "1 prompt 0", "  alt+up takes"]),
            (0, 1, 2, &["1 prompt 0", "  alt+up takes"]),
            (0, 1, 1, &["1 prompt 0"]),
            (1, 4, 6, &["↳ steer 0", "1 prompt 0", "2 prompt 1", "3 prompt 2", "4 prompt 3", "  alt+up"]),
            (0, 6, 7, &["1", "2", "3", "4", "5", "6"]),
            (0, 8, 7, &["1", "2", "3", "4", "5", "  … 3 more", "  alt+up"]),
            (0, 8, 2, &["1", "  … 7 more"]),
        ];
        for (steering, waiting, rows, expected) in table {
            let queue = queue(steering, waiting);
            let mut screen = Screen::new(60, rows);
            screen.draw(|look, area, buffer, hits, _| draw(&queue, look, area, buffer, hits));
            for (y, start) in expected.iter().enumerate() {
                let text = row(&screen.buffer, y as u16);
                assert!(text.starts_with(start), "{steering} {waiting} {rows}: {text:?} is no {start:?}");
            }
        }
    }

    #[test]
    fn nothing_waits_in_no_rows() {
        assert_eq!(height(&queue(0, 0)), 0);
        assert_eq!([1, 5, 6, 7, 90].map(|waiting| height(&queue(0, waiting))), [3, 7, 8, 8, 8]);
    }

    #[test]
    fn a_click_names_the_prompt() {
        let queue = queue(1, 2);
        let mut screen = Screen::new(60, 4);
        screen.draw(|look, area, buffer, hits, _| draw(&queue, look, area, buffer, hits));
        let at = |y| screen.hits.at((4, y).into()).cloned();
        assert_eq!(
            [at(0), at(1), at(2), at(3)],
            [None, Some(Target::Queued(TicketId(0))), Some(Target::Queued(TicketId(1))), None]
        );
    }

    proptest! {
        #[test]
        fn any_size_holds(steering in 0_usize..9, waiting in 0_usize..9, width in 1_u16..300, rows in 0_u16..12) {
            let queue = queue(steering, waiting);
            let mut screen = Screen::new(width, rows);
            screen.draw(|look, area, buffer, hits, _| draw(&queue, look, area, buffer, hits));
        }
    }
}
