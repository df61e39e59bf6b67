use super::*;
use crate::config::display::Display;
use crate::config::keymap::Keymap;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{CallId, TicketId, TurnId};
use crate::proto::tool::ToolOutput;
use crate::theme::Theme;
use crate::transcript::conversation::Conversation;
use crate::transcript::runs::Runs;
use crate::ui::look::Look;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The facts of calls, each with whether it failed.
fn facts(calls: &[(&str, &str, bool)], is_live: bool, now: Instant) -> Facts {
    let mut conversation = Conversation::new();
    if is_live {
        let begun = AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) };
        conversation.apply(&begun, now, (15, 7));
    }
    for (index, (tool, argument, is_error)) in calls.iter().enumerate() {
        let call = CallId::new(index.to_string());
        let (tool, key) = ((*tool).to_owned(), if *tool == "bash" { "command" } else { "path" });
        let arguments: Map<String, Value> = [(key.to_owned(), json!(argument))].into_iter().collect();
        let started =
            AgentEvent::ToolStarted { call: call.clone(), tool: tool.clone(), arguments, limit_ms: None };
        conversation.apply(&started, now, (15, 7));
        let output = Arc::new(ToolOutput { is_error: *is_error, ..ToolOutput::text("") });
        let ended = AgentEvent::ToolFinished { call, tool, output, duration_ms: Some(1) };
        conversation.apply(&ended, now + Duration::from_millis(14_640), (15, 7));
    }
    let mut runs = Runs::default();
    runs.update(conversation.items(), []);
    let span = runs.at(0).expect("a run");
    let mut facts = (*runs.facts(span, &conversation).1).clone();
    (facts.sent, facts.received) = (412_000, 2_200);
    facts
}

fn row_of(facts: Facts, is_open: bool, width: u16, millis: u64, theme: &Theme, epoch: Instant) -> Row {
    let keymap = Keymap::defaults();
    let look = Look {
        theme,
        keymap: &keymap,
        now: epoch + Duration::from_millis(millis),
        epoch,
        motion: true,
        glyphs: true,
        display: Display::default(),
        home: Path::new("/home/u"),
        cwd: Path::new("/home/u"),
    };
    let cx = EntryCx { look: &look, width, open: false };
    Line { facts: Arc::new(facts), is_open }.row(&cx, &mut NextDeadline::default())
}

fn drawn(calls: &[(&str, &str, bool)], width: u16) -> String {
    let now = Instant::now();
    row_of(facts(calls, false, now), false, width, 20_000, &Theme::quiet_dark(), now).drawn()
}

#[test]
fn words_give_way_before_figures() {
    let calls = [("read", "a", false), ("bash", "make", false), ("bash", "make test", true)];
    let table = [
        (100, "● Read 1 file, ran 2 commands, make test failed, ↑412k ↓2.2k 14.6s"),
        (66, "● Read 1 file, ran 2 commands, make test failed, ↑412k ↓2.2k 14.6s"),
        (65, "● Used 3 tools, 1 failed, ↑412k ↓2.2k 14.6s"),
        // In narrow windows a short form comes first.
        (59, "● 1 read, 2 run, 1 failed, ↑412k ↓2.2k 14.6s"),
        (44, "● 1 read, 2 run, 1 failed, ↑412k ↓2.2k 14.6s"),
        (43, "● Used 3 tools, 1 failed, ↑412k ↓2.2k 14.6s"),
        (42, "● Used 3 tools, ↑412k ↓2.2k 14.6s"),
        (37, "● Used 3 tools, ↑412k ↓2.2k 14.6s"),
        (36, "● 1 read, 2 run, 1 failed"),
        (16, "● Used 3 tools"),
        (10, "● Used 3…"),
        (7, "● Used…"),
    ];
    for (width, expected) in table {
        assert_eq!(drawn(&calls, width), expected, "{width}");
    }
}

#[test]
fn words_are_equal_before_and_after() {
    let now = Instant::now();
    let calls = [("read", "a", false), ("edit", "b.rs", false)];
    let words = |is_live: bool| {
        let row = row_of(facts(&calls, is_live, now), false, 100, 20_000, &Theme::quiet_dark(), now);
        row.drawn().chars().skip(usize::from(row.gutter)).take(24).collect::<String>()
    };
    assert_eq!(words(true), "Read 1 file, edited b.rs");
    assert_eq!(words(true), words(false));
}

#[test]
fn light_crosses_the_words_and_leaves_what_failed() {
    let now = Instant::now();
    let theme = Theme::quiet_dark();
    let calls = [("bash", "make", true), ("read", "a", false)];
    let error = theme.style(Role::Error);
    let mut lit = 0;
    for step in 0..60 {
        let row = row_of(facts(&calls, true, now), false, 100, step * 80, &theme, now);
        let failed = row.spans.iter().find(|span| span.content == "make failed").expect("the failure");
        assert_eq!(failed.style, error);
        lit += usize::from(row.spans.len() > 8);
    }
    // It crosses, and it rests.
    assert!((20..60).contains(&lit), "{lit}");
}

proptest! {
    #[test]
    fn no_line_is_too_wide(
        width in 1_u16..300,
        count in 1_usize..6,
        flags in any::<[bool; 4]>(),
        millis in 0_u64..100_000_000,
    ) {
        let now = Instant::now();
        let [is_live, is_open, is_hung, is_thinking] = flags;
        let all = [
            ("read", "日本語.rs", false), ("bash", "make 日本語 && make 日本語 test", true), ("edit", "b.rs", false),
            ("x_tool", "", false), ("grep", "", false),
        ];
        let mut facts = facts(&all[..count.min(5)], is_live, now);
        facts.is_hung = is_hung;
        if is_thinking {
            facts.rows = 0;
            facts.thinking_since = is_live.then_some(now);
        }
        for theme in [Theme::quiet_dark(), Theme::terminal()] {
            let row = row_of(facts.clone(), is_open, width, millis, &theme, now);
            prop_assert!(row.width() <= usize::from(width), "{}: {}", width, row.drawn());
            prop_assert!(!row.drawn().contains(",…"));
        }
    }
}
