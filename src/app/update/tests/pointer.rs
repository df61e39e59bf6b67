//! Clicks and the wheel.

use crate::app::effect::Effect;
use crate::app::msg::Msg;
use crate::app::stage::{Stage, opened, queued, reply, sent, view};
use crate::proto::ask::PermissionMode;
use crate::proto::command::{Command, QueueCommand};
use crate::proto::ids::TicketId;
use crate::term::input::Input;
use crate::ui::layers::Layer;
use crate::ui::target::{FooterPart, Target};
use crossterm::event::{MouseButton, MouseEventKind};
use ratatui::layout::{Position, Rect};

/// A session with a long reply.
fn long() -> Stage {
    let mut stage = Stage::started();
    let mut opened = opened(view());
    let lines: String = (0..200).map(|line| format!("line {line}\n\n")).collect();
    opened.history = vec![reply(&format!("{lines}```rust\nlet a = 1;\n```\n\nSee https://example.org/a."))];
    stage.opened(opened);
    stage.draw();
    stage
}

#[test]
fn the_wheel_scrolls_and_a_click_goes_back_to_the_end() {
    let mut stage = long();
    assert!(stage.state.pane.is_following());
    assert!(stage.mouse(MouseEventKind::ScrollUp, 5, 5).changed);
    stage.draw();
    assert!(!stage.state.pane.is_following());
    assert_eq!(stage.click(&Target::Below), []);
    stage.draw();
    assert!(stage.state.pane.is_following());
}

#[test]
fn the_wheel_belongs_to_the_list_over_the_page() {
    let mut stage = long();
    stage.key("f1");
    stage.draw();
    stage.mouse(MouseEventKind::ScrollUp, 50, 10);
    stage.mouse(MouseEventKind::ScrollDown, 50, 10);
    stage.draw();
    assert!(stage.state.pane.is_following());
}

#[test]
fn a_card_is_copied_and_an_address_opened() {
    let mut stage = long();
    assert_eq!(
        stage.click(&Target::Card { item: 0, card: 0 }),
        [Effect::CopyCard { item: 0, card: 0, text: "let a = 1;".to_owned() }]
    );
    let address = Target::Link("https://example.org/a".into());
    assert_eq!(stage.click(&address), [Effect::OpenLink("https://example.org/a".into())]);
    stage.state.open_links = false;
    // Past the time within which two clicks are one double click.
    stage.wait(1_000);
    assert_eq!(stage.click(&address), [Effect::Copy("https://example.org/a".to_owned())]);
}

#[test]
fn with_the_wheel_alone_a_click_means_nothing() {
    let mut stage = long();
    stage.draw();
    let card = stage.state.scene.hits.areas_of(&Target::Card { item: 0, card: 0 }).next().expect("drawn");
    stage.state.wheel_only = true;
    for kind in [MouseEventKind::Down(MouseButton::Left), MouseEventKind::Up(MouseButton::Left)] {
        assert_eq!(stage.mouse(kind, card.x, card.y).effects, []);
    }
    assert!(stage.mouse(MouseEventKind::ScrollUp, 5, 5).changed);
}

#[test]
fn a_row_that_waits_is_taken_back() {
    let mut stage = Stage::running();
    stage.change(|view, _| view.queue = vec![queued(8, "one"), queued(9, "two")]);
    let removed = sent(Command::Queue(QueueCommand::Remove { ticket: TicketId(8), version: 3 }));
    assert_eq!(stage.click(&Target::Queued(TicketId(8))), removed);
    assert_eq!(stage.written(), "one");
}

#[test]
fn the_footer_changes_what_it_shows() {
    let mut stage = Stage::open();
    let thinking = sent(Command::NextThinking);
    assert_eq!(stage.click(&Target::Footer(FooterPart::Thinking)), thinking);
    let mode = sent(Command::SetMode(PermissionMode::Edits));
    assert_eq!(stage.click(&Target::Footer(FooterPart::Mode)), mode);
    assert_eq!(stage.click(&Target::Footer(FooterPart::Model)), []);
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Models(_)]));
}

#[test]
fn a_click_beside_a_list_closes_it() {
    let mut stage = Stage::open();
    stage.key("f1");
    stage.draw();
    assert_eq!(stage.click(&Target::Beside), []);
    assert!(stage.state.layers.is_empty());
}

#[test]
fn a_click_beside_a_window_reaches_nothing_below_it() {
    for key in ["f1", "f2", "alt+m", "ctrl+p"] {
        let mut stage = long();
        let below = stage.screen();
        let link = Target::Link("https://example.org/a".into());
        let link = stage.state.scene.hits.areas_of(&link).next().expect("drawn");
        let screen = Rect::new(0, 0, stage.state.size.0, stage.state.size.1);
        stage.key(key);
        stage.draw();
        let hits = &stage.state.scene.hits;
        let window = hits.areas_of(&Target::Layer).next().expect("drawn");
        for at in screen.positions().filter(|at| !window.contains(*at)) {
            assert_eq!(hits.at(at), Some(&Target::Beside), "{key} {at}");
        }
        // On the address, if it is seen; on the text in any case.
        let at = if window.contains(link.as_position()) { Position::new(5, 0) } else { link.as_position() };
        let mut effects = Vec::new();
        for kind in [MouseEventKind::Down, MouseEventKind::Drag, MouseEventKind::Up] {
            effects.extend(stage.mouse(kind(MouseButton::Left), at.x, at.y).effects);
            stage.draw();
        }
        assert_eq!(effects, [], "{key}");
        assert!(stage.state.layers.is_empty() && !stage.state.pane.has_selection(), "{key}");
        assert_eq!(stage.screen(), below, "{key}");
    }
}

#[test]
fn a_completion_is_taken() {
    let mut stage = Stage::open();
    stage.type_text("/th");
    assert_eq!(stage.click(&Target::Completion(0)), []);
    assert!(stage.written().starts_with("/th") && stage.written().len() > 4, "{}", stage.written());
}

#[test]
fn a_click_in_the_composer_puts_the_caret_there() {
    let mut stage = Stage::open();
    stage.type_text("abcd");
    stage.draw();
    let area = stage.state.scene.hits.areas_of(&Target::Composer).next().expect("drawn");
    // The first column is free.
    stage.mouse(MouseEventKind::Down(MouseButton::Left), area.x + 3, area.y);
    stage.type_text("X");
    assert_eq!(stage.written(), "abXcd");
    stage.draw();
    stage.mouse(MouseEventKind::Down(MouseButton::Left), area.x, area.y);
    stage.mouse(MouseEventKind::Drag(MouseButton::Left), area.x + 3, area.y);
    assert_eq!(stage.keys(&["alt+w"]), [Effect::Copy("ab".to_owned())]);
}

#[test]
fn pasted_text_goes_where_typing_goes() {
    let mut stage = Stage::open();
    stage.tell(Msg::Input(Input::Paste("one\ntwo".to_owned())));
    assert_eq!(stage.written(), "one\ntwo");
    stage.key("alt+m");
    stage.tell(Msg::Input(Input::Paste("sonnet".to_owned())));
    assert_eq!(stage.written(), "one\ntwo");
    assert!(stage.screen().contains("sonnet"));
}
