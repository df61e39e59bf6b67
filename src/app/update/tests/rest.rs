//! Nothing that lies still asks for another frame.

use super::search::user;
use crate::app::stage::{Stage, opened, reply, view};
use crate::proto::event::NoticeLevel;
use crate::ui::scene::NextDeadline;
use crossterm::event::{MouseButton, MouseEventKind};

/// Longer than anything that passes by itself: notices, marks, the wave at the end of a turn.
const LATER: u64 = 3_600_000;

fn talked() -> Stage {
    let mut stage = Stage::started();
    let mut opened = opened(view());
    for turn in 0..4 {
        let lines: String = (0..40).map(|line| format!("turn {turn} line {line}\n\n")).collect();
        opened.history.extend([user(&format!("prompt {turn}")), reply(&lines)]);
    }
    stage.opened(opened);
    stage.draw();
    stage
}

/// What lies on the screen, and how it came.
type Scene = (&'static str, fn(&mut Stage));

const SCENES: [Scene; 14] = [
    ("a talk", |_| {}),
    ("its middle", |stage| {
        stage.key("pageup");
    }),
    ("words in the composer", |stage| {
        stage.type_text("words");
    }),
    ("completions", |stage| {
        stage.type_text("/");
    }),
    ("the palette", |stage| {
        stage.key("ctrl+p");
    }),
    ("the keys", |stage| {
        stage.key("f1");
    }),
    ("the settings", |stage| {
        stage.key("f2");
    }),
    ("the models", |stage| {
        stage.key("alt+m");
    }),
    ("a search", |stage| {
        stage.key("f3");
        stage.type_text("line 7");
    }),
    ("a row with the focus", |stage| {
        stage.key("ctrl+up");
    }),
    ("a selection", |stage| {
        stage.mouse(MouseEventKind::Down(MouseButton::Left), 8, 5);
        stage.mouse(MouseEventKind::Drag(MouseButton::Left), 12, 8);
        stage.mouse(MouseEventKind::Up(MouseButton::Left), 12, 8);
    }),
    ("a button that is held", |stage| {
        stage.mouse(MouseEventKind::Down(MouseButton::Left), 8, 5);
        stage.mouse(MouseEventKind::Drag(MouseButton::Left), 12, 8);
    }),
    ("a notice that has passed", |stage| {
        stage.state.toast(NoticeLevel::Error, "Something to know.", stage.now);
    }),
    ("a notice that stays", |stage| {
        stage.state.conversation.notice(NoticeLevel::Warning, "Something to know.");
    }),
];

#[test]
fn what_lies_still_asks_for_no_frames() {
    for (what, comes) in SCENES {
        let mut stage = talked();
        comes(&mut stage);
        // What is looked for takes a few frames.
        for _ in 0..9 {
            stage.draw();
            stage.wait(50);
        }
        stage.wait(LATER);
        stage.draw();
        let asked = stage.state.scene.next_deadline;
        assert_eq!(asked, NextDeadline::default(), "{what} asks for a frame at {:?}", stage.now);
    }
}
