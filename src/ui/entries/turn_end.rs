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
        TurnEndKind::Done => ("∎", Role::Accent),
        TurnEndKind::Stopped => ("■", Role::Muted),
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
            let (hour, minute) = end.at;
            let mut text = format!("Worked for {took}, done {hour:02}:{minute:02}");
            if let Some(speed) = end.speed {
                let (tokens, tenths) = (formats::count(u64::from(speed / 10)), speed % 10);
                text.push_str(&format!(", avg TPS {tokens}.{tenths}"));
            }
            text
        }
        TurnEndKind::Stopped => format!("Stopped after {took}"),
        TurnEndKind::Failed(_) => format!("Failed after {took}"),
    }
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
            words(&TurnEnd { how, took: Duration::from_millis(millis), at: (15, 7), speed })
        };
        assert_eq!(end(TurnEndKind::Done, 52_900, Some(714)), "Worked for 52s, done 15:07, avg TPS 71.4");
        assert_eq!(end(TurnEndKind::Done, 124_000, None), "Worked for 2m04s, done 15:07");
        assert_eq!(end(TurnEndKind::Stopped, 12_000, Some(3)), "Stopped after 12s");
        assert_eq!(end(TurnEndKind::Failed("x".to_owned()), 340, None), "Failed after 340ms");
    }
}
