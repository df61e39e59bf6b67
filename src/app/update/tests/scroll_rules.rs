//! Nothing moves the view but the user.

use super::search::user;
use crate::app::msg::Msg;
use crate::app::stage::{Stage, command_ask, opened, queued, reply, running, view};
use crate::proto::command::TicketOutcome;
use crate::proto::entry::EntryPatch;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::{CallId, EntryId, TicketId, TurnId};
use crate::proto::message::Block;
use crate::proto::tool::ToolOutput;
use crate::proto::usage::Usage;
use crate::term::input::Input;
use serde_json::Map;
use std::sync::Arc;

/// A turn that streams and runs a call below a long talk.
fn busy() -> Stage {
    let mut stage = Stage::started();
    let mut opened = opened(view());
    for turn in 0..4 {
        let lines: String = (0..40).map(|line| format!("turn {turn} line {line}\n\n")).collect();
        opened.history.extend([user(&format!("prompt {turn}")), reply(&lines)]);
    }
    stage.opened(opened);
    stage.change(|view, now| view.running = Some(running(now)));
    stage.event(AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) });
    let (call, tool) = (CallId::new("c1"), "bash".to_owned());
    stage.event(AgentEvent::ToolStarted { call, tool, arguments: Map::new(), limit_ms: None });
    let open = EntryPatch::Open { index: 0, block: Block::text("") };
    stage.event(AgentEvent::Entry { id: EntryId::new("live"), patch: open });
    streams(&mut stage);
    stage.draw();
    stage
}

fn streams(stage: &mut Stage) {
    let delta = "Some words.\n\n".repeat(9);
    let patch = EntryPatch::Append { index: 0, delta, usage: Usage::default() };
    stage.event(AgentEvent::Entry { id: EntryId::new("live"), patch });
}

fn ends(stage: &mut Stage) {
    let patch = EntryPatch::Finish(reply(&"Some words.\n\n".repeat(9)));
    stage.event(AgentEvent::Entry { id: EntryId::new("live"), patch });
    let outcome = TicketOutcome::Completed;
    stage.event(AgentEvent::TurnFinished { turn: TurnId(1), ticket: TicketId(1), outcome });
    stage.change(|view, _| view.running = None);
}

fn tool_finishes(stage: &mut Stage) {
    let output = Arc::new(ToolOutput::text("out\n".repeat(90).as_str()));
    let (call, tool) = (CallId::new("c1"), "bash".to_owned());
    stage.event(AgentEvent::ToolFinished { call, tool, output, duration_ms: Some(1) });
}

fn tool_prints(stage: &mut Stage) {
    let delta = "out\n".repeat(90);
    stage.event(AgentEvent::ToolProgress { call: CallId::new("c1"), delta });
}

fn types(stage: &mut Stage) {
    stage.type_text("words");
}

fn composer_grows(stage: &mut Stage) {
    for _ in 0..5 {
        stage.type_text("row");
        stage.key("shift+enter");
    }
}

fn sized(stage: &mut Stage, columns: u16, rows: u16) {
    stage.tell(Msg::Input(Input::Resize { columns, rows }));
    stage.draw();
}

fn is_narrow_and_back(stage: &mut Stage) {
    sized(stage, 43, 30);
    sized(stage, 131, 30);
    sized(stage, 100, 30);
}

fn is_lower(stage: &mut Stage) {
    sized(stage, 100, 19);
}

fn is_higher(stage: &mut Stage) {
    sized(stage, 100, 44);
}

fn toast(stage: &mut Stage) {
    stage.state.toast(NoticeLevel::Error, "Something to know.", stage.now);
}

fn notice(stage: &mut Stage) {
    stage.state.conversation.notice(NoticeLevel::Warning, "Something to know.\nIn two rows.");
}

fn queue_rows(stage: &mut Stage) {
    stage.change(|view, _| view.queue = vec![queued(8, "one"), queued(9, "two")]);
}

fn asks(stage: &mut Stage) {
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
}

fn folds_above(stage: &mut Stage) {
    let above = stage.state.pane.shown()[0].entry;
    for item in 0..above {
        stage.state.conversation.toggle(item, false);
    }
    stage.draw();
    for item in 0..above {
        stage.state.conversation.toggle(item, true);
    }
}

fn search_comes_and_goes(stage: &mut Stage) {
    stage.key("f3");
    stage.draw();
    stage.key("esc");
}

fn time_passes(stage: &mut Stage) {
    stage.wait(61_000);
}

/// What happens, and how.
type Rule = (&'static str, fn(&mut Stage));

const RULES: [Rule; 16] = [
    ("text streams", streams),
    ("a tool prints", tool_prints),
    ("a tool finishes", tool_finishes),
    ("the response ends", ends),
    ("somebody types", types),
    ("the composer grows", composer_grows),
    ("the window gets narrower, and wide again", is_narrow_and_back),
    ("it gets lower", is_lower),
    ("it gets higher", is_higher),
    ("something is told in the footer", toast),
    ("something is told in the transcript", notice),
    ("rows wait", queue_rows),
    ("a question comes", asks),
    ("something above opens and folds", folds_above),
    ("a search comes and goes", search_comes_and_goes),
    ("time passes", time_passes),
];

/// The first rows of the screen, without the bar at the edge.
fn top(stage: &mut Stage) -> Vec<String> {
    let screen = stage.screen();
    let rows = screen.lines().take(5).map(|row| row.trim_end_matches(['▐', '▕', ' ']).to_owned());
    rows.collect()
}

#[test]
fn nothing_moves_the_view_but_the_user() {
    for (what, happens) in RULES {
        let mut stage = busy();
        for _ in 0..3 {
            stage.key("pageup");
            stage.draw();
        }
        let before = top(&mut stage);
        assert!(before.iter().any(|row| row.contains("turn 3 line")), "{before:#?}");
        happens(&mut stage);
        assert_eq!(top(&mut stage), before, "{what}");
        assert!(!stage.state.pane.is_following(), "{what}");
    }
}

#[test]
fn whoever_follows_sees_the_end_whatever_happens() {
    for (what, happens) in RULES {
        let mut stage = busy();
        happens(&mut stage);
        let screen = stage.screen();
        assert!(stage.state.pane.is_following(), "{what}");
        assert!(!screen.contains("↓ below") && !screen.contains(" new "), "{what}\n{screen}");
    }
}
