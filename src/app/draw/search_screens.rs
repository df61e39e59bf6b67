//! The search, the heading and the bar at the edge as they look.

use crate::app::stage::{Stage, opened, reply, view};
use crate::assert_screen;
use crate::proto::message::{Block, Message, UserMessage};
use crate::theme::Theme;
use ratatui::buffer::Buffer;
use std::sync::Arc;

const REPLY: &str = "The lexer rejects an empty buffer before the parser sees it.\n\n- `parse` unwraps the first token, so the \
                     parser panics\n- the **parser** of the command line has its own copy\n\n```rust\nlet parser = \
                     Parser::new(tokens);\n```\n\nParsers are small.";

fn stage(theme: Theme, columns: u16, rows: u16) -> Stage {
    let mut stage = Stage::with(|beginning| (beginning.theme, beginning.size) = (theme, (columns, rows)));
    let mut opened = opened(view());
    for prompt in [
        "Why does the parser panic on an empty file?\nLook at it first.",
        "Fix the parser.",
        "And now the docs",
    ] {
        let content = vec![Block::text(prompt)];
        opened.history.push(Arc::new(Message::User(UserMessage { content, timestamp: 0 })));
        opened.history.push(reply(REPLY));
    }
    stage.opened(opened);
    stage.draw();
    stage
}

fn searched(theme: Theme, columns: u16, rows: u16) -> Buffer {
    let mut stage = stage(theme, columns, rows);
    stage.key("f3");
    stage.type_text("parser");
    stage.draw();
    stage.keys(&["up", "up", "up"]);
    stage.draw();
    stage.draw().0
}

#[test]
fn a_search_at_each_width_and_ground() {
    assert_screen!("search", "dark", &searched(Theme::quiet_dark(), 100, 24));
    assert_screen!("search", "dark", &searched(Theme::quiet_dark(), 60, 20));
    assert_screen!("search", "light", &searched(Theme::quiet_light(), 60, 20));
    assert_screen!("search", "ansi", &searched(Theme::terminal(), 60, 20));
}

#[test]
fn a_mistake_and_a_match_that_was_accepted() {
    let mut wrong = stage(Theme::quiet_dark(), 60, 16);
    wrong.keys(&["f3", "alt+r"]);
    wrong.type_text("parser(s");
    wrong.draw();
    assert_screen!("search", "wrong_regex", &wrong.draw().0);
    let mut accepted = stage(Theme::quiet_dark(), 60, 16);
    accepted.key("f3");
    accepted.type_text("panics");
    accepted.draw();
    accepted.key("enter");
    accepted.draw();
    assert_screen!("search", "accepted", &accepted.draw().0);
}

#[test]
fn a_heading_and_the_bar() {
    let mut stage = stage(Theme::quiet_dark(), 60, 20);
    stage.key("pageup");
    stage.draw();
    assert_screen!("search", "heading", &stage.draw().0);
}
