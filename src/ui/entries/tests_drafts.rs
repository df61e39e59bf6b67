//! Calls that are being written, and waits.

use super::*;

/// The rows under the band of a call that is being written.
fn preview(item: &Item, width: u16) -> Vec<String> {
    rows(item, width, false).split_off(1)
}

#[test]
fn the_newest_words_of_a_draft_stand_under_it() {
    let said = "word ".repeat(60);
    let table = [
        // What the title shows already is not said twice.
        (writing("read", "{\"path\":\"src/le", 100), 0),
        (writing("bash", "{\"command\":\"ls", 100), 0),
        (writing("subagent", &format!("{{\"task\":\"{said}"), 100), 2),
        (writing("edit", "{\"path\":\"a\",\"edits\":[{\"oldText\":\"let a = 1;\\nlet", 100), 2),
        // The last value is no text, and none was long.
        (writing("x", "{\"task\":\"short\",\"n\":12", 100), 0),
        (writing("write", &format!("{{\"path\":\"a\",\"content\":\"{}", "line\\n".repeat(9)), 100), 3),
    ];
    for (item, count) in table {
        let rows = preview(&item, 60);
        assert_eq!(rows.len(), count, "{rows:?}");
        assert!(rows.last().is_none_or(|row| row.trim_end().ends_with('▍')), "{rows:?}");
    }
    // Whole arguments have none.
    let whole = call("subagent", json!({"task": said}), CallPhase::Queued);
    assert_eq!(preview(&whole, 60), Vec::<String>::new());
}

#[test]
fn a_draft_that_is_whole_is_queued_though_nobody_has_said_so() {
    let rail = |draft: &str| {
        let rows = rows(&writing("edit", draft, 100), 80, false);
        (rows[0].trim_end().rsplit("  ").next().unwrap().trim().to_owned(), rows.len())
    };
    let whole = r#"{"path":"a","edits":[{"oldText":"let a = 1;","newText":"let b = \"}\";"}]}"#;
    assert_eq!(rail(whole), ("queued".to_owned(), 1));
    // Any beginning of it is being written, and so is the empty object that some servers send first.
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        assert_eq!(rail(whole.get(..end).unwrap()).0, "0.1s", "{end}");
    }
    assert_eq!(rail("{}").0, "0.1s");
    // The last lines of a file stay where they will stand.
    let rows = rows(&writing("write", r#"{"path":"a","content":"one\ntwo\n"}"#, 100), 80, false);
    assert!(rows[0].contains("queued") && rows.len() > 1 && !rows.concat().contains('▍'), "{rows:?}");
}

#[test]
fn rows_of_a_draft_do_not_jump_while_it_grows() {
    let words: String = (0..400).map(|word| format!("word{word} ")).collect();
    let mut seen: Vec<String> = Vec::new();
    let mut jumps = 0;
    for end in 300..words.len() {
        let draft = format!("{{\"task\":\"{}", words.get(..end).unwrap());
        let rows = preview(&writing("subagent", &draft, 100), 60);
        // The upper row is one that was the lower before, or still the same.
        let upper = rows[0].trim_end().to_owned();
        // A word that has become too long for it went on to the next row.
        let known = seen.iter().any(|row| row.starts_with(&upper));
        jumps += usize::from(!known && !seen.is_empty());
        seen = rows;
        seen.push(upper);
    }
    // Once for each step by which the beginning moves on, at most.
    assert!(jumps * 100 < words.len(), "{jumps}");
}

#[test]
fn what_is_new_of_a_draft_shines_where_it_stands() {
    let theme = Theme::quiet_dark();
    let mut item = writing("subagent", "", 5000);
    let (old, new) = ("{\"task\":\"an \\u00e9 old\\nline of some length that is new", " NOW\\n");
    let Body::Call(call) = &mut item.body else { unreachable!() };
    call.trail.grow(old.len(), ago(3000));
    call.draft = format!("{old}{new}");
    call.trail.grow(call.draft.len(), ago(100));
    let look = look(&theme);
    let cx = EntryCx { look: &look, width: 100, open: false };
    let layout = lay_out(&item, &cx);
    let mut next = NextDeadline::default();
    let (_, shining) = layout.moving.iter().find(|(at, _)| *at > 0).unwrap();
    let row = shining.row(&cx, &mut next);
    let bright: Vec<&str> = row
        .spans
        .iter()
        .filter(|span| span.style.fg != Some(theme.color_on(Role::Muted, theme.color(Role::ToolPendingBg))))
        .map(|span| span.content.trim())
        .filter(|text| !text.is_empty())
        .collect();
    assert_eq!(bright.first(), Some(&"NOW"), "{:?}", row.spans);
    assert!(next.animation.is_some_and(|at| at > *NOW && at < *NOW + Duration::from_millis(700)));
    // Later it is like the rest, and asks for nothing.
    let later = Look { now: *NOW + Duration::from_millis(600), ..look };
    let mut next = NextDeadline::default();
    let row = shining.row(&EntryCx { look: &later, ..cx }, &mut next);
    assert_eq!((next, row.drawn()), (NextDeadline::default(), layout.rows[1].drawn()));
}

#[test]
fn a_wait_is_told_unless_the_limit_comes_first() {
    use crate::proto::chain::{Wait, WaitKind};
    let rail = |kind, lasts_ms, limit: Option<u64>| {
        let limit = limit.map(Duration::from_secs);
        let mut item =
            call("bash", json!({"command": "x"}), CallPhase::Running { since: ago(12_000), limit });
        if let Body::Call(call) = &mut item.body {
            call.wait = Some(Wait { begun_ms: 0, lasts_ms, kind });
        }
        rows(&item, 80, false)[0].trim_end().rsplit("   ").next().unwrap().trim().to_owned()
    };
    assert_eq!(rail(WaitKind::Sleep, 30_000, None), "18s left");
    assert_eq!(rail(WaitKind::Sleep, 30_000, Some(60)), "18s left");
    assert_eq!(rail(WaitKind::Sleep, 30_000, Some(20)), "12.0s / 20s");
    assert_eq!(rail(WaitKind::Loop { pass: 3, of: 10, is_exact: false }, 250_000, None), "~4m left");
    assert_eq!(rail(WaitKind::Check { number: 4 }, 24_000, None), "12s left");
}
