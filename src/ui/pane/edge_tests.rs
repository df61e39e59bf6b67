//! What stands at the edges of the window: the heading, the scrollbar, the mark that there is more below.

use super::*;
use ratatui::style::{Color, Modifier};

/// Prompts with replies of some rows.
fn talk(prompts: usize, rows: usize) -> World {
    let mut world = World::new();
    for index in 0..prompts {
        world.say(&format!("prompt {index}\nsecond row"));
        world.conversation.notice(NoticeLevel::Info, vec!["row"; rows].join("\n"));
    }
    world.pane.set_sticky_heading(true);
    world
}

#[test]
fn the_heading_is_the_prompt_of_the_middle() {
    let mut world = talk(3, 20);
    world.pane.to_start();
    // Each prompt with its reply has 24 rows: 2, a blank one, 20, a blank one.
    let mut heads = Vec::new();
    for _ in 0..40 {
        let rows = world.rows(30, 10);
        let has_heading = world.hits.areas_of(&Target::Heading).next().is_some();
        assert_eq!(has_heading, rows[0].starts_with('❯'));
        heads.push(has_heading.then(|| rows[0].clone()));
        world.pane.scroll_by(1);
    }
    let at = |row: usize| heads[row].as_deref();
    assert_eq!((at(0), at(1)), (None, Some("❯ prompt 0 …")));
    // From where the second prompt stands in the middle until it has scrolled out.
    assert_eq!((at(17), at(18), at(24), at(25)), (Some("❯ prompt 0 …"), None, None, Some("❯ prompt 1 …")));
    world.pane.set_sticky_heading(false);
    assert!(!world.rows(30, 10)[0].starts_with('❯'));
}

#[test]
fn low_windows_have_no_heading() {
    let mut world = talk(2, 20);
    world.rows(30, 8);
    assert!(world.rows(30, 8)[0].starts_with('❯'));
    assert!(!world.rows(30, 7)[0].starts_with('❯'));
}

#[test]
fn the_heading_covers_nothing_that_is_looked_for() {
    let mut world = World::new();
    for index in 0..6 {
        world.say(&format!("prompt {index}"));
        for part in 0..6 {
            world.conversation.notice(NoticeLevel::Info, format!("n{index}.{part}"));
        }
    }
    world.pane.set_sticky_heading(true);
    world.rows(30, 9);
    let mut focused = world.conversation.len();
    while focused > 0 {
        world.pane.focus_previous(&world.conversation);
        focused -= 1;
        assert_eq!(world.pane.focused(), Some(focused));
        let text = copy::text(&world.conversation.items()[focused]);
        let rows = world.rows(30, 9);
        let at = rows.iter().position(|row| *row == format!("* {text}"));
        assert!(at.is_some(), "{text} {rows:#?}");
    }
    for _ in 1..world.conversation.len() {
        world.pane.focus_next(&world.conversation);
        let text = copy::text(&world.conversation.items()[world.pane.focused().unwrap()]);
        let rows = world.rows(30, 9);
        assert!(rows.contains(&format!("* {text}")), "{text} {rows:#?}");
    }
    // A page leaves a row that was seen in sight.
    world.pane.to_start();
    let mut before = world.rows(30, 9);
    for _ in 0..5 {
        world.pane.page(Direction::Down);
        let rows = world.rows(30, 9);
        if world.pane.is_following() {
            break;
        }
        assert!(before[6..8].iter().any(|row| rows[1..3].contains(row)), "{before:#?} {rows:#?}");
        before = rows;
    }
}

#[test]
fn a_click_on_the_heading_goes_to_its_prompt() {
    let mut world = talk(3, 20);
    world.rows(30, 10);
    assert_eq!(world.rows(30, 10)[0], "❯ prompt 2 …");
    world.pane.to_prompt(Direction::Up);
    let rows = world.rows(30, 10);
    assert_eq!((rows[0].as_str(), rows[1].as_str()), ("* prompt 2", "  second row"));
}

fn bar(buffer: &Buffer) -> String {
    let x = buffer.area.right() - 1;
    (0..buffer.area.height).map(|y| buffer[(x, y)].symbol().to_owned()).collect()
}

#[test]
fn the_bar_comes_when_there_is_more_and_moves_no_text() {
    let mut world = World::new();
    world.pane.set_scrollbar(true);
    let text = "a".repeat(27);
    world.conversation.notice(NoticeLevel::Info, text.clone());
    let short = world.draw(30, 6);
    assert_eq!(bar(&short), " ".repeat(6));
    for _ in 0..9 {
        world.conversation.notice(NoticeLevel::Info, text.clone());
    }
    let long = world.draw(30, 6);
    assert_eq!(bar(&long).trim_matches('▕'), "▐▐");
    assert!(world.rows(30, 6).iter().any(|row| row.starts_with(&format!("* {text}"))));
    // Narrow windows need the column.
    assert!(!bar(&world.draw(19, 6)).contains('▐'));
    assert_screen!("pane", "scrollbar", &long);
}

#[test]
fn the_thumb_is_dragged() {
    let mut world = World::notices(100);
    world.pane.set_scrollbar(true);
    world.pane.to_start();
    let thumb = |world: &mut World| {
        let bar = bar(&world.draw(30, 20));
        bar.chars().position(|c| c == '▐').unwrap()
    };
    assert_eq!(thumb(&mut world), 0);
    world.pane.press_scrollbar(0);
    for y in [3_u16, 7, 12, 9] {
        assert!(world.pane.drag_scrollbar(y));
        assert_eq!(thumb(&mut world), usize::from(y));
    }
    let share = world.pane.shown()[0].entry;
    assert!((40..65).contains(&share), "{share}");
    assert!(world.pane.drag_scrollbar(40));
    assert_eq!(thumb(&mut world), 18);
    assert!(world.pane.is_following());
    assert!(world.pane.release_scrollbar() && !world.pane.release_scrollbar());
    assert!(!world.pane.drag_scrollbar(2));
    // Beside the thumb pages are turned.
    world.pane.press_scrollbar(2);
    let before = thumb(&mut world);
    assert!(before < 18 && !world.pane.is_following());
    world.pane.press_scrollbar(19);
    thumb(&mut world);
    assert!(world.pane.is_following());
    assert_eq!(world.hits.at(Position::new(29, 4)), Some(&Target::Scrollbar));
}

#[test]
fn matches_are_seen_in_the_bar() {
    let mut world = World::notices(50);
    world.conversation.notice(NoticeLevel::Info, "needle");
    for _ in 0..49 {
        world.conversation.notice(NoticeLevel::Info, "hay");
    }
    world.pane.set_scrollbar(true);
    world.pane.to_start();
    world.draw(30, 20);
    assert!(!bar(&world.draw(30, 20)).contains('━'));
    world.pane.begin_search();
    let query = crate::transcript::search::Query { text: "needle".to_owned(), is_regex: false };
    world.pane.search_for(query, &world.conversation);
    world.draw(30, 20);
    let bar = bar(&world.draw(30, 20));
    assert_eq!(bar.matches('━').count(), 1);
    let at = bar.chars().position(|c| c == '━').unwrap();
    assert!((9..14).contains(&at), "{bar}");
}

/// Scrolling through all of it, with estimates that are all wrong, the thumb goes down only.
#[test]
fn the_thumb_goes_one_way() {
    let mut world = World::new();
    for index in 0..60 {
        world.conversation.notice(NoticeLevel::Info, vec!["row"; 1 + index * 7 % 23].join("\n"));
    }
    world.pane.set_scrollbar(true);
    world.pane.to_start();
    let mut last = 0;
    loop {
        let bar = bar(&world.draw(30, 20));
        let begin = bar.chars().position(|c| c == '▐').unwrap();
        assert!(begin >= last, "{begin} {last}");
        last = begin;
        if world.pane.is_following() {
            break;
        }
        world.pane.scroll_by(3);
    }
    assert_eq!(last, 18);
}

#[test]
fn the_mark_leaves_no_half_characters() {
    for shift in 0..2 {
        let mut world = World::new();
        for _ in 0..9 {
            world.conversation.notice(NoticeLevel::Info, format!("{}{}", "x".repeat(shift), "日".repeat(12)));
        }
        // The library of cells gives the second half of a wide character no ground.
        world.draw(28, 6);
        world.pane.scroll_by(-6);
        let buffer = world.draw(28, 6);
        let ground = world.theme.color(Role::SelectedBg);
        let y = (0..6).rev().find(|y| buffer[(14, *y)].bg == ground).expect("the mark");
        let mark: Vec<u16> = (0..28).filter(|x| buffer[(*x, y)].bg == ground).collect();
        let (first, last) = (*mark.first().unwrap(), *mark.last().unwrap());
        assert_eq!(mark.len(), usize::from(last - first + 1));
        // The cells beside it hold whole characters: of a wide one both halves.
        let mut x = 0;
        while x < first {
            let wide = crate::text::width::of(buffer[(x, y)].symbol()).max(1);
            x += u16::try_from(wide).unwrap();
        }
        assert_eq!(x, first, "half a character at the left: {buffer:?}");
        let text: String = (first..=last).map(|x| buffer[(x, y)].symbol()).collect();
        assert!(text.contains("↓ below"), "{text:?}");
        assert!(crate::text::width::of(buffer[(last, y)].symbol()) == 1);
    }
}

#[test]
fn only_what_is_new_is_counted() {
    let mut world = World::notices(9);
    let pill = |world: &mut World| world.rows(28, 6)[5].trim().to_owned();
    world.rows(28, 6);
    world.pane.scroll_by(-6);
    assert!(pill(&mut world).contains("↓ below"));
    world.conversation.notice(NoticeLevel::Info, "one");
    world.conversation.notice(NoticeLevel::Info, "two");
    assert!(pill(&mut world).contains("↓ 2 new"));
    world.pane.to_end();
    assert!(!pill(&mut world).contains('↓'));
    world.pane.scroll_by(-6);
    assert!(pill(&mut world).contains("↓ below"));
}

#[test]
fn where_a_row_is_free_the_mark_covers_no_text() {
    let mut world = World::notices(9);
    world.draw(28, 6);
    world.pane.scroll_by(-6);
    let covered = world.rows(28, 6);
    world.pane.set_spare_row(true);
    let draw = |world: &mut World| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 28, 8));
        world.draw_into(Rect::new(0, 0, 28, 6), &mut buffer);
        (0..8).map(|y| (0..28).map(|x| buffer[(x, y)].symbol()).collect::<String>()).collect::<Vec<_>>()
    };
    let rows = draw(&mut world);
    assert!(covered[5].contains("↓ below"), "{covered:?}");
    assert!(rows[6].contains("↓ below"), "{rows:?}");
    assert!(!rows[5].contains('↓') && rows[7].trim().is_empty(), "{rows:?}");
    assert_eq!(world.hits.at(Position::new(14, 6)), Some(&Target::Below));
}

/// Cells of a row that are reversed, with their colours and whether they are faint.
fn reversed(buffer: &Buffer, y: u16) -> Vec<(Color, bool)> {
    let cells = (0..buffer.area.width).map(|x| &buffer[(x, y)]);
    let cells = cells.filter(|cell| cell.modifier.contains(Modifier::REVERSED));
    cells.map(|cell| (cell.fg, cell.modifier.contains(Modifier::DIM))).collect()
}

#[test]
fn without_colours_of_our_own_marks_are_reversed_and_of_one_ground() {
    let mut world = World::new();
    world.theme = Theme::terminal();
    for id in 0..20 {
        world.start_call(&id.to_string());
        world.finish_call(&id.to_string(), "one");
    }
    world.really(40, 6);
    world.pane.scroll_by(-6);
    let buffer = world.really(40, 6);
    let pill = reversed(&buffer, 5);
    assert_eq!(pill.len(), " ↓ below ".chars().count(), "{buffer:?}");
    world.pane.focus_previous(&world.conversation);
    let buffer = world.really(40, 6);
    let bars: Vec<_> = (0..5).map(|y| reversed(&buffer, y)).filter(|cells| !cells.is_empty()).collect();
    assert_eq!(bars.len(), 1);
    assert!(bars[0].len() > 30);
    assert!(bars[0].iter().all(|cell| *cell == (Color::Reset, false)), "{:?}", bars[0]);
}

#[test]
fn what_is_selected_of_a_focused_row_is_seen() {
    for theme in [Theme::quiet_dark(), Theme::quiet_light(), Theme::terminal()] {
        let mut world = World::notices(3);
        world.theme = theme;
        world.draw(28, 9);
        world.pane.focus_previous(&world.conversation);
        let whole = world.draw(28, 9);
        world.extend(crate::ui::pane::select::Motion::Right);
        let buffer = world.draw(28, 9);
        let ground = world.theme.style(Role::SelectedBg);
        let is_marked = |buffer: &Buffer, x: u16, y: u16| {
            let cell = &buffer[(x, y)];
            let is_reversed = cell.modifier.contains(Modifier::REVERSED);
            if ground.add_modifier.is_empty() {
                cell.bg == world.theme.color(Role::SelectedBg)
            } else {
                is_reversed
            }
        };
        let marked = |buffer: &Buffer| {
            let cells = (0..9).flat_map(|y| (0..27).map(move |x| (x, y)));
            cells.filter(|(x, y)| is_marked(buffer, *x, *y)).count()
        };
        assert_eq!((marked(&whole) > 20, marked(&buffer)), (true, 1));
    }
}
