use super::super::screen_tests::{Screen, row, text};
use super::*;
use crate::proto::ids::TicketId;
use crate::ui::composer::Input;
use crate::ui::composer::complete::CommandItem;
use proptest::prelude::*;
use std::path::PathBuf;
use std::time::Instant;

pub(in crate::ui::chrome) fn composer(text: &str, width: u16, rows: u16) -> Composer {
    let mut composer = Composer::new(PathBuf::from("/home/ada"));
    composer.set_size(text_width(width), rows);
    composer.inform_completer(|completer| {
        let item = |name: &str, text: &str| CommandItem {
            name: name.to_owned(),
            text: text.to_owned(),
            ..CommandItem::default()
        };
        completer.set_commands(vec![
            item("compact", "Summarise the conversation"),
            item("copy", "Copy the last reply"),
            item("model", "Choose a model"),
        ]);
    });
    composer.handle(Input::Type(text), Instant::now());
    composer
}

fn drawn(composer: &Composer, width: u16, height: u16) -> (Screen, Drawn) {
    let mut screen = Screen::new(width, height);
    let mut result = Drawn::default();
    screen.draw(|look, area, buffer, hits, _| result = draw(composer, look, area, buffer, hits));
    (screen, result)
}

#[test]
fn one_column_is_free_before_the_text() {
    let (screen, drawn) = drawn(&composer("look here", 40, 5), 40, 1);
    assert_eq!(row(&screen.buffer, 0), " look here");
    assert_eq!(drawn.caret, Some(Position::new(10, 0)));
    assert_eq!(text_cell(screen.buffer.area, Position::new(3, 0)), (0, 2));
}

#[test]
fn with_fewer_rows_those_around_the_caret_are_shown() {
    let composer = composer("one\ntwo\nthree\nfour", 40, 5);
    let (screen, drawn) = drawn(&composer, 40, 2);
    assert_eq!(text(&screen.buffer), " three\n four");
    assert_eq!(drawn.above.as_deref(), Some("↑ 2 more"));
    assert_eq!((drawn.below, drawn.caret), (None, Some(Position::new(5, 1))));
}

#[test]
fn the_rule_tells_what_is_below_and_what_is_written() {
    let table = [
        ("text", None, Role::Border, "────────────────────"),
        ("!ls", None, Role::BashMode, "────────────────────"),
        ("text", Some("↓ 3 more"), Role::Border, "──────── ↓ 3 more ─"),
    ];
    for (text, below, role, expected) in table {
        let composer = composer(text, 20, 5);
        let mut screen = Screen::new(20, 1);
        screen.draw(|look, area, buffer, _, _| draw_rule(&composer, below, look, area, buffer));
        assert!(row(&screen.buffer, 0).starts_with(expected), "{text}");
        assert_eq!(screen.buffer[(0, 0)].fg, screen.theme.color(role));
    }
}

#[test]
fn completions_are_chosen_by_a_click() {
    let composer = composer("/co", 50, 5);
    assert_eq!(completion_height(&composer), 2);
    let mut screen = Screen::new(50, 2);
    screen.draw(|look, area, buffer, hits, _| {
        hits.push(area, 0, Target::Queued(TicketId(1)));
        draw_completions(&composer, look, area, buffer, hits);
    });
    let shown = text(&screen.buffer);
    assert!(shown.contains("/copy") && shown.contains("Summarise the conversation"), "{shown}");
    assert_eq!(screen.hits.at((9, 1).into()), Some(&Target::Completion(1)));
    assert_eq!(screen.buffer[(0, 0)].bg, screen.theme.color(Role::SelectedBg));
    assert_eq!(screen.buffer[(0, 1)].bg, screen.theme.color(Role::ToolPendingBg));
}

proptest! {
    #[test]
    fn any_size_holds(
        typed in "(/co|!|)[a-z日 \n]{0,40}", width in 0_u16..300, height in 0_u16..8, most in 0_u16..8,
    ) {
        let composer = composer(&typed, width, most);
        let (screen, drawn) = drawn(&composer, width, height);
        prop_assert_eq!(drawn.caret.is_some(), width > 0 && height > 0);
        if let Some(caret) = drawn.caret {
            prop_assert!(screen.buffer.area.contains(caret));
        }
        let mut screen = Screen::new(width, height);
        screen.draw(|look, area, buffer, hits, _| {
            draw_rule(&composer, drawn.below.as_deref(), look, area, buffer);
            draw_completions(&composer, look, area, buffer, hits);
        });
    }
}

#[test]
fn the_rule_says_what_the_next_key_is_for() {
    let mut composer = composer("one\ntwo\nthree\nfour", 70, 2);
    composer.handle(Input::Act(Action::TextStart), Instant::now());
    composer.handle(Input::Act(Action::JumpForward), Instant::now());
    let table = [
        (70, Some("ahead to which character? · esc ends it · ↓ 2 more")),
        (50, Some("ahead to which character? · esc ends it")),
        (30, Some("ahead to which character?")),
        (20, None),
    ];
    for (width, expected) in table {
        assert_eq!(drawn(&composer, width, 2).1.below.as_deref(), expected, "{width}");
    }
}
