//! The end of a turn: how it ended, how long it took, when that was.

use super::{EntryCx, Layout};
use crate::text::wrap::{self, Break};
use crate::text::{clean, formats};
use crate::theme::role::Role;
use crate::transcript::item::{TurnEnd, TurnEndKind};
use std::time::Duration;

/// Lays the end of a turn out.
pub fn lay_out(end: &TurnEnd, cx: &EntryCx<'_>) -> Layout {
    let theme = cx.look.theme;
    let (mark, role) = match &end.how {
        TurnEndKind::Done | TurnEndKind::Stopped => ("∎", Role::Accent),
        TurnEndKind::Failed(_) => ("✗", Role::Error),
    };
    let line = |text: &str, role: Role| wrap::text(text, theme.style(role), cx.room(), Break::Words);
    let mut rows = line(&words(end), Role::Dim);
    if let TurnEndKind::Failed(why) = &end.how
        && !why.trim().is_empty()
    {
        rows.extend(line(&clean::for_terminal(why.trim_end()), Role::Error));
    }
    Layout::beside(cx, mark, role, rows)
}

fn words(end: &TurnEnd) -> String {
    let took = whole(end.took);
    match &end.how {
        TurnEndKind::Done => {
            let verb = end.verb.as_deref().unwrap_or("Worked");
            let mut text = format!("{verb} for {took}, done {}", time_of_day(end.at));
            if let Some(speed) = end.speed {
                text.push_str(&format!(", avg TPS {}", formats::rate(f64::from(speed) / 10.0)));
            }
            text
        }
        TurnEndKind::Stopped => format!("Stopped after {took}"),
        TurnEndKind::Failed(_) => format!("Failed after {took}"),
    }
}

/// `3:07 PM`
fn time_of_day((hour, minute): (u8, u8)) -> String {
    let half = if hour < 12 { "AM" } else { "PM" };
    let hour = match hour % 12 {
        0 => 12,
        hour => hour,
    };
    format!("{hour}:{minute:02} {half}")
}

/// Whole seconds: nobody asks for the tenths of a turn.
fn whole(took: Duration) -> String {
    match took.as_secs() {
        1..60 => format!("{}s", took.as_secs()),
        _ => formats::took(took),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_in_words() {
        let end = |how, millis, speed| {
            words(&TurnEnd { how, took: Duration::from_millis(millis), at: (15, 7), speed, verb: None })
        };
        assert_eq!(end(TurnEndKind::Done, 52_900, Some(714)), "Worked for 52s, done 3:07 PM, avg TPS 71.4");
        assert_eq!(end(TurnEndKind::Done, 124_000, None), "Worked for 2m04s, done 3:07 PM");
        assert_eq!(end(TurnEndKind::Stopped, 12_000, Some(3)), "Stopped after 12s");
        assert_eq!(end(TurnEndKind::Failed("x".to_owned()), 340, None), "Failed after 340ms");
        let verb = Some("Whistled".into());
        let sung = TurnEnd {
            how: TurnEndKind::Done,
            took: Duration::from_secs(41),
            at: (21, 14),
            speed: None,
            verb,
        };
        assert_eq!(words(&sung), "Whistled for 41s, done 9:14 PM");
        assert_eq!(words(&TurnEnd { how: TurnEndKind::Stopped, ..sung }), "Stopped after 41s");
    }

    #[test]
    fn hours_are_counted_twice_to_twelve() {
        let table = [
            ((0, 0), "12:00 AM"),
            ((0, 59), "12:59 AM"),
            ((9, 5), "9:05 AM"),
            ((12, 0), "12:00 PM"),
            ((13, 30), "1:30 PM"),
            ((23, 59), "11:59 PM"),
        ];
        for (at, text) in table {
            assert_eq!(time_of_day(at), text);
        }
    }
}
