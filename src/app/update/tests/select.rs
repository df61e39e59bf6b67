//! Selecting in the transcript with the mouse and with keys.

use crate::app::effect::Effect;
use crate::app::msg::{Done, Msg};
use crate::app::stage::{Stage, opened, reply, running, sent, view};
use crate::proto::command::{CancelReason, Command};
use crate::proto::event::AgentEvent;
use crate::proto::ids::{CallId, TicketId, TurnId};
use crate::proto::tool::ToolOutput;
use crate::term::clipboard::{Copied, Multiplexer};
use crate::term::input::Input;
use crate::ui::target::Target;
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;
use std::sync::Arc;

const PRESS: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
const DRAG: MouseEventKind = MouseEventKind::Drag(MouseButton::Left);
const RELEASE: MouseEventKind = MouseEventKind::Up(MouseButton::Left);

/// A session with a reply and a call, on the screen.
fn talked() -> Stage {
    let mut stage = Stage::started();
    let mut opened = opened(view());
    opened.history = vec![reply("The quick brown fox.\n\nSee https://example.org/a there.")];
    stage.opened(opened);
    stage.event(AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) });
    let (call, tool) = (CallId::new("c"), "other".to_owned());
    stage.event(AgentEvent::ToolStarted {
        call: call.clone(),
        tool: tool.clone(),
        arguments: serde_json::Map::new(),
        limit_ms: None,
    });
    let lines: String = (0..30).map(|line| format!("output {line}\n")).collect();
    let output = Arc::new(ToolOutput::text(lines));
    stage.event(AgentEvent::ToolFinished { call, tool, output, duration_ms: Some(1) });
    stage.draw();
    stage
}

/// A press and a release, `dx` cells further.
fn drag(stage: &mut Stage, text: &str, dx: u16) -> Vec<Effect> {
    let (x, y) = stage.cell(text);
    let mut effects = stage.mouse(PRESS, x, y).effects;
    effects.extend(stage.mouse(DRAG, x + dx, y).effects);
    stage.draw();
    effects.extend(stage.mouse(RELEASE, x + dx, y).effects);
    effects
}

fn copied(text: &str) -> Vec<Effect> {
    vec![Effect::CopySelection(text.to_owned())]
}

#[test]
fn a_drag_copies_when_it_ends() {
    let mut stage = talked();
    assert_eq!(drag(&mut stage, "quick", 4), copied("quick"));
    assert!(stage.state.pane.has_selection());
    // Also without a report of the move.
    let (x, y) = stage.cell("brown");
    stage.mouse(PRESS, x, y);
    assert_eq!(stage.mouse(RELEASE, x + 8, y).effects, copied("brown fox"));
    // A click elsewhere clears it, and copies nothing.
    stage.mouse(PRESS, x, y);
    assert_eq!(stage.mouse(RELEASE, x, y).effects, []);
    assert!(!stage.state.pane.has_selection());
}

#[test]
fn two_presses_take_a_word_and_three_a_line() {
    let mut stage = talked();
    let (x, y) = stage.cell("quick");
    let click = |stage: &mut Stage, x| {
        stage.mouse(PRESS, x, y);
        stage.mouse(RELEASE, x, y).effects
    };
    assert_eq!(click(&mut stage, x), []);
    stage.wait(300);
    assert_eq!(click(&mut stage, x + 1), copied("quick"));
    stage.wait(300);
    assert_eq!(click(&mut stage, x), copied("The quick brown fox."));
    stage.wait(300);
    assert_eq!(click(&mut stage, x), []);
    // Too late, and too far away.
    stage.wait(401);
    assert_eq!(click(&mut stage, x), []);
    stage.wait(100);
    assert_eq!(click(&mut stage, x + 2), []);
    // Drawn on, it takes words.
    stage.wait(100);
    stage.mouse(PRESS, x + 2, y);
    stage.mouse(DRAG, x + 7, y);
    assert_eq!(stage.mouse(RELEASE, x + 7, y).effects, copied("quick brown"));
}

#[test]
fn a_drag_on_a_head_takes_its_text_and_opens_nothing() {
    let mut stage = talked();
    assert_eq!(drag(&mut stage, "other", 4), copied("other"));
    assert!(stage.state.layers.is_empty());
}

#[test]
fn a_click_acts_when_the_button_comes_up_over_the_same() {
    let mut stage = talked();
    let link = Target::Link("https://example.org/a".into());
    let area = stage.state.scene.hits.areas_of(&link).next().expect("drawn");
    assert_eq!(stage.mouse(PRESS, area.x, area.y).effects, []);
    assert_eq!(
        stage.mouse(RELEASE, area.x, area.y).effects,
        [Effect::OpenLink("https://example.org/a".into())]
    );
    stage.wait(1000);
    // Where there is no text a hand that trembles still clicks: the row's free columns.
    let (_, y) = stage.cell("other");
    let before = stage.screen();
    stage.mouse(PRESS, 60, y);
    stage.mouse(DRAG, 61, y);
    stage.mouse(RELEASE, 61, y);
    assert_ne!(stage.screen(), before);
    stage.key("esc");
    // Elsewhere it is no click.
    let before = stage.screen();
    let (_, other) = stage.cell("quick");
    stage.mouse(PRESS, 60, y);
    stage.mouse(RELEASE, 60, other);
    stage.key("esc");
    assert_eq!(stage.screen(), before);
}

#[test]
fn shift_extends() {
    let mut stage = talked();
    drag(&mut stage, "quick", 4);
    let (x, y) = stage.cell("fox");
    let event = |kind| {
        Msg::Input(Input::Mouse(MouseEvent { kind, column: x + 2, row: y, modifiers: KeyModifiers::SHIFT }))
    };
    stage.tell(event(PRESS));
    assert_eq!(stage.tell(event(RELEASE)).effects, copied("quick brown fox"));
}

#[test]
fn a_drag_stays_where_it_began() {
    let mut stage = talked();
    stage.type_text("written text");
    stage.draw();
    let area = stage.state.scene.hits.areas_of(&Target::Composer).next().expect("drawn");
    let (x, y) = stage.cell("quick");
    stage.mouse(PRESS, area.x + 4, area.y);
    stage.mouse(DRAG, x, y);
    stage.draw();
    stage.mouse(RELEASE, x, y);
    assert!(!stage.state.pane.has_selection());
    assert!(
        matches!(stage.keys(&["alt+w"]).as_slice(), [Effect::Copy(text)] if "written text".contains(text))
    );
    // And one that begins on the transcript never writes.
    stage.mouse(PRESS, x, y);
    stage.mouse(DRAG, area.x + 4, area.y);
    stage.draw();
    assert!(!stage.mouse(RELEASE, area.x + 4, area.y).effects.is_empty());
    assert_eq!(stage.written(), "written text");
}

#[test]
fn a_click_that_raised_the_window_selects_nothing() {
    let mut stage = talked();
    stage.tell(Msg::Input(Input::Focus(true)));
    assert_eq!(drag(&mut stage, "quick", 4), []);
    assert!(!stage.state.pane.has_selection());
    stage.wait(200);
    assert_eq!(drag(&mut stage, "quick", 4), copied("quick"));
}

#[test]
fn the_right_button_copies_or_pastes_and_the_middle_one_pastes() {
    let mut stage = talked();
    let right = MouseEventKind::Down(MouseButton::Right);
    assert_eq!(stage.mouse(right, 5, 5).effects, [Effect::Paste]);
    drag(&mut stage, "quick", 4);
    assert_eq!(stage.mouse(right, 5, 5).effects, copied("quick"));
    let middle = MouseEventKind::Down(MouseButton::Middle);
    assert_eq!(stage.mouse(middle, 5, 5).effects, [Effect::PastePrimary]);
}

#[test]
fn esc_stops_the_turn_first_and_clears_after_it() {
    let mut stage = talked();
    drag(&mut stage, "quick", 4);
    stage.change(|view, now| view.running = Some(running(now)));
    assert_eq!(stage.keys(&["esc"]), sent(Command::Cancel { reason: CancelReason::Stop }));
    assert!(stage.state.pane.has_selection());
    // The key that interrupts never copies what was selected before.
    assert_eq!(stage.keys(&["ctrl+c"]), sent(Command::Cancel { reason: CancelReason::Stop }));
    stage.change(|view, _| view.running = None);
    assert_eq!(stage.keys(&["esc"]), []);
    assert!(!stage.state.pane.has_selection());
}

#[test]
fn the_key_that_interrupts_never_copies() {
    let is_copy =
        |effect: &Effect| matches!(effect, Effect::Copy(_) | Effect::CopySelection(_) | Effect::GatherOn);
    let mut stage = talked();
    drag(&mut stage, "quick", 4);
    // What the terminal itself has selected since then, with shift held, is on the clipboard: it must stay there.
    assert_eq!(stage.keys(&["ctrl+c"]), []);
    stage.type_text("something");
    drag(&mut stage, "quick", 4);
    assert_eq!(stage.keys(&["ctrl+c"]), []);
    assert_eq!(stage.written(), "");
    stage.keys(&["ctrl+up", "ctrl+up", "shift+right"]);
    assert!(stage.state.pane.has_selection());
    assert!(!stage.keys(&["ctrl+c"]).iter().any(is_copy));
    drag(&mut stage, "quick", 4);
    stage.key("f1");
    assert!(!stage.keys(&["ctrl+c"]).iter().any(is_copy));
}

#[test]
fn a_selection_outlives_scrolling_redraws_and_sizes() {
    let mut stage = talked();
    drag(&mut stage, "quick", 4);
    let right = MouseEventKind::Down(MouseButton::Right);
    for size in [(100, 30), (40, 12), (23, 9), (160, 50)] {
        stage.tell(Msg::Input(Input::Resize { columns: size.0, rows: size.1 }));
        for key in ["ctrl+l", "ctrl+o", "pageup", "pagedown", "alt+pageup", "ctrl+t", "ctrl+shift+up"] {
            stage.key(key);
            stage.draw();
            assert!(stage.state.pane.has_selection(), "{key} at {size:?}");
            assert_eq!(stage.mouse(right, 5, 5).effects, copied("quick"), "{key} at {size:?}");
        }
        stage.mouse(MouseEventKind::ScrollUp, 5, 5);
        stage.draw();
        assert_eq!(stage.mouse(right, 5, 5).effects, copied("quick"), "{size:?}");
    }
}

#[test]
fn what_is_told_of_a_copy_is_what_happened() {
    let kept = |sent| Copied::Kept { file: "/state/copied.txt".into(), sent };
    let table = [
        (Copied::Confirmed, "Copied to the clipboard."),
        (Copied::Sent(Multiplexer::None), "Sent to the terminal's clipboard (OSC 52, not confirmed)."),
        (Copied::Sent(Multiplexer::Tmux), "Sent to the clipboard through tmux (OSC 52, not confirmed)."),
        (Copied::Sent(Multiplexer::Screen), "Sent to the clipboard through screen (OSC 52, not confirmed)."),
        (kept(true), "Sent (OSC 52), but too long for some terminals: it is also in /state/copied.txt."),
        (kept(false), "Too long for the terminal's clipboard: it is in /state/copied.txt instead."),
        (Copied::Failed("no display".to_owned()), "Not copied: no display"),
    ];
    for (outcome, told) in table {
        let mut stage = talked();
        drag(&mut stage, "quick", 4);
        assert_eq!(stage.toast(), "", "nothing is told before it is known");
        stage.done(Done::Copied(outcome));
        assert_eq!(stage.toast(), told);
    }
}

#[test]
fn typing_and_pasting_clear_it() {
    for msg in
        [Msg::Input(Input::Paste("x".to_owned())), Msg::Input(Input::Key(crate::app::stage::typed('x')))]
    {
        let mut stage = talked();
        drag(&mut stage, "quick", 4);
        stage.tell(msg);
        assert!(!stage.state.pane.has_selection());
    }
}

#[test]
fn what_comes_over_the_page_and_a_lost_release_end_a_drag() {
    let mut stage = talked();
    let (x, y) = stage.cell("quick");
    let begin = |stage: &mut Stage| {
        stage.mouse(PRESS, x, y);
        stage.mouse(DRAG, x + 4, y);
        stage.draw();
        assert!(stage.state.pane.is_held());
    };
    begin(&mut stage);
    stage.key("f1");
    assert!(!stage.state.pane.is_held());
    assert_eq!(stage.mouse(RELEASE, x + 4, y).effects, []);
    stage.key("esc");
    stage.draw();
    begin(&mut stage);
    // The window held still; nobody told where the button came up.
    assert_eq!(stage.mouse(MouseEventKind::Moved, x + 9, y).effects, copied("quick"));
    assert!(!stage.state.pane.is_held());
    begin(&mut stage);
    stage.tell(Msg::Input(Input::Focus(false)));
    assert!(!stage.state.pane.is_held());
    assert_eq!(stage.mouse(RELEASE, x + 4, y).effects, copied("quick"));
    begin(&mut stage);
    stage.key("alt+s");
    assert!(!stage.state.pane.is_held(), "the mouse is the terminal's");
}

#[test]
fn keys_select_in_a_focused_row() {
    let mut stage = talked();
    stage.keys(&["ctrl+up", "ctrl+up"]);
    stage.draw();
    assert!(stage.screen().contains("enter opens"));
    stage.keys(&["ctrl+shift+right", "shift+right"]);
    assert!(stage.screen().contains("copies · esc clears · shift+right extends"), "{}", stage.screen());
    for key in ["y", "c", "enter", "alt+w"] {
        assert_eq!(stage.keys(&[key]), copied("The "), "{key}");
    }
    assert_eq!(stage.keys(&["shift+end", "y"]), copied("The quick brown fox."));
    // First the selection goes, then the focus.
    assert_eq!(stage.keys(&["esc"]), []);
    assert!(!stage.state.pane.has_selection() && stage.state.pane.focused().is_some());
    assert!(matches!(stage.keys(&["y"]).as_slice(), [Effect::Copy(_)]));
    let all = stage.keys(&["alt+shift+a", "y"]);
    assert!(
        matches!(all.as_slice(), [Effect::CopySelection(text)] if text.starts_with("The quick") && text.contains("other"))
    );
    // The other end goes to another row.
    stage.keys(&["down"]);
    assert!(!stage.state.pane.has_selection());
    stage.keys(&["esc"]);
    assert!(stage.state.pane.focused().is_none());
}

#[test]
fn a_very_long_copy_is_put_together_in_parts() {
    let mut stage = Stage::started();
    let mut opened = opened(view());
    opened.history = (0..1500).map(|index| reply(&format!("Reply {index}\n\nand more"))).collect();
    stage.opened(opened);
    stage.draw();
    stage.keys(&["ctrl+up", "alt+shift+a"]);
    let mut effects = stage.keys(&["y"]);
    assert_eq!(effects, [Effect::GatherOn]);
    assert!(stage.toast().starts_with("Copying, "), "{}", stage.toast());
    let mut parts = 1;
    while effects == [Effect::GatherOn] {
        effects = stage.done(Done::GatherOn);
        parts += 1;
    }
    assert!((15..40).contains(&parts), "{parts}");
    let [Effect::CopySelection(text)] = effects.as_slice() else { panic!("{effects:?}") };
    assert!(text.starts_with("Reply 0\n") && text.ends_with("Reply 1499\n\nand more"), "{}", text.len());
    // It can be stopped.
    assert_eq!(stage.keys(&["y"]), [Effect::GatherOn]);
    stage.key("esc");
    assert_eq!(stage.done(Done::GatherOn), []);
    assert!(stage.state.pane.has_selection());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// A press and a release without a move between them is a click, whatever came before; what a drag copies is never
    /// nothing.
    #[test]
    fn no_click_is_lost_and_no_drag_copies_nothing(
        steps in prop::collection::vec((0_u8..4, 0_u16..100, 0_u16..24, 0_u64..600), 0..12),
    ) {
        let mut stage = talked();
        for (what, x, y, millis) in steps {
            let kind = [PRESS, DRAG, RELEASE, MouseEventKind::Moved][usize::from(what)];
            stage.wait(millis);
            for effect in stage.mouse(kind, x, y).effects {
                let is_nothing = matches!(&effect, Effect::CopySelection(text) if text.is_empty());
                prop_assert!(!is_nothing);
            }
            stage.draw();
        }
        if !stage.state.layers.is_empty() {
            return Ok(());
        }
        stage.wait(1000);
        let link = Target::Link("https://example.org/a".into());
        stage.draw();
        let area = stage.state.scene.hits.areas_of(&link).next();
        if let Some(area) = area {
            stage.mouse(PRESS, area.x, area.y);
            let effects = stage.mouse(RELEASE, area.x, area.y).effects;
            prop_assert_eq!(effects, [Effect::OpenLink("https://example.org/a".into())]);
        }
    }
}
