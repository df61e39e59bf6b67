//! The search as the window shows it.

use super::*;
use crate::transcript::plain;
use crate::transcript::search::{Match, Pattern, Query, Way};
use crate::ui::pane::Walked;
use ratatui::style::Modifier;

fn query(text: &str) -> Query {
    Query { text: text.to_owned(), is_regex: false }
}

impl World {
    fn find(&mut self, text: &str) {
        self.pane.begin_search();
        self.pane.search_for(query(text), &self.conversation);
    }

    /// A frame of the real items.
    pub(super) fn really(&mut self, width: u16, height: u16) -> Buffer {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let look = look_of(&self.theme, &self.keymap, self.now, self.epoch);
        let (mut hits, mut next) = (HitMap::new(), NextDeadline::default());
        self.pane.draw(&mut self.conversation, &look, area, &mut buffer, &mut hits, &mut next);
        buffer
    }

    fn current(&self) -> Option<(usize, usize)> {
        self.pane.current_match().map(|Match { item, nth }| (item, nth))
    }

    fn count(&self) -> (Option<u64>, u64) {
        let status = self.pane.search_status();
        (status.number, status.total)
    }
}

/// The texts of cells that have a modifier, one a stretch.
fn marked(buffer: &Buffer, modifier: Modifier) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut was = false;
    for cell in &buffer.content {
        let is = cell.modifier.contains(modifier);
        match (is, was) {
            (true, false) => found.push(cell.symbol().to_owned()),
            (true, true) => found.last_mut().unwrap().push_str(cell.symbol()),
            (false, _) => {}
        }
        was = is;
    }
    found
}

#[test]
fn the_first_match_is_shown_and_all_in_view_are_marked() {
    let mut world = World::notices(30);
    world.pane.to_start();
    world.rows(20, 9);
    world.pane.scroll_by(30);
    assert_eq!(world.rows(20, 9)[0], "* n10");
    world.find("second");
    let buffer = world.draw(20, 9);
    // A match at the edge comes with some rows around it.
    assert_eq!(world.rows(20, 9)[2..4], ["* n10", "  second"]);
    assert_eq!(world.current(), Some((10, 0)));
    assert_eq!(marked(&buffer, Modifier::REVERSED), ["second"]);
    assert_eq!(marked(&buffer, Modifier::UNDERLINED), ["second", "second"]);
    assert_eq!(world.count(), (Some(11), 30));
    // One in the middle moves nothing.
    let before = world.rows(20, 9);
    world.find("n11");
    assert_eq!((world.rows(20, 9), world.current()), (before, Some((11, 0))));
    world.find("n2");
    let rows = world.rows(20, 9);
    assert_eq!(world.current(), Some((20, 0)));
    assert!(rows.contains(&"* n20".to_owned()), "{rows:?}");
    // Above what is read, where there is none below.
    world.pane.end_search();
    world.find("n19");
    assert!(world.rows(20, 9).contains(&"* n19".to_owned()));
    assert_eq!(world.current(), Some((19, 0)));
    world.pane.end_search();
    let buffer = world.draw(20, 9);
    assert!(marked(&buffer, Modifier::REVERSED).is_empty());
}

#[test]
fn steps_walk_and_go_round() {
    let mut world = World::notices(5);
    world.rows(20, 6);
    world.find("n");
    world.rows(20, 6);
    assert_eq!(world.count(), (Some(7), 10));
    let mut at = Vec::new();
    for _ in 0..9 {
        at.push(world.pane.search_step(Way::Next));
        world.rows(20, 6);
    }
    assert_eq!(at.iter().position(|walked| *walked == Walked::Around), Some(3));
    assert_eq!(world.count().0, Some(6));
    assert_eq!(world.pane.search_step(Way::Previous), Walked::On);
    world.find("nothing");
    world.rows(20, 6);
    assert_eq!(world.pane.search_step(Way::Next), Walked::Nowhere);
    assert_eq!(world.count(), (None, 0));
}

#[test]
fn what_comes_meanwhile_is_counted_and_moves_nothing() {
    let mut world = World::notices(20);
    world.pane.to_start();
    world.rows(20, 7);
    world.find("n1");
    let before = world.rows(20, 7);
    assert_eq!(world.count(), (Some(1), 11));
    world.open_reply();
    for index in 0..8 {
        world.append(&format!("**n1** {index}\n\n"));
        assert_eq!(world.rows(20, 7)[..6], before[..6]);
        assert_eq!(world.count(), (Some(1), 12 + index));
    }
    // The current one stays the current one when matches come above it.
    let item = world.conversation.item_mut(0).unwrap();
    item.body = Body::Notice { level: NoticeLevel::Info, text: "n1 n1".to_owned() };
    world.rows(20, 7);
    assert_eq!(world.count().0, Some(3));
}

#[test]
fn a_long_transcript_is_searched_in_slices() {
    let mut world = World::new();
    let text = "needle ".repeat(10_000);
    for _ in 0..32 {
        world.conversation.notice(NoticeLevel::Info, text.clone());
    }
    world.rows(60, 20);
    world.find("needle");
    world.rows(60, 20);
    let status = world.pane.search_status();
    assert!(!status.is_done && status.number.is_some() && status.total < 300_000, "{status:?}");
    assert_eq!(world.next.figure, Some(world.now));
    for _ in 0..12 {
        world.rows(60, 20);
    }
    assert_eq!(world.count().1, 320_000);
    assert!(world.pane.search_status().is_done);
    assert_eq!(world.next, NextDeadline::default());
}

#[test]
fn no_key_waits_for_a_hundred_thousand_items() {
    let mut world = World::notices(100_000);
    world.rows(20, 20);
    world.laid_out.set(0);
    world.find("n50000");
    world.rows(20, 20);
    let status = world.pane.search_status();
    assert!(!status.is_done);
    assert_eq!(world.laid_out.get(), 0, "nothing is laid out but what is seen");
    let mut frames = 1;
    while !world.pane.search_status().is_done {
        world.rows(20, 20);
        frames += 1;
    }
    assert!((10..60).contains(&frames), "{frames}");
    assert!(world.rows(20, 20).contains(&"* n50000".to_owned()));
    assert!(world.laid_out.get() < 80, "{}", world.laid_out.get());
}

#[test]
fn other_items_are_searched_anew() {
    let mut world = World::notices(5);
    world.find("fresh");
    world.rows(20, 6);
    world.conversation.clear();
    world.conversation.notice(NoticeLevel::Info, "fresh");
    world.rows(20, 6);
    assert_eq!(world.count().1, 1);
}

/// An item as it is really drawn.
fn drawn(body: Body, width: u16) -> (String, String) {
    let (theme, keymap, now) = (Theme::quiet_dark(), Keymap::defaults(), Instant::now());
    let look = Look {
        theme: &theme,
        keymap: &keymap,
        now,
        epoch: now,
        motion: false,
        glyphs: false,
        display: crate::config::display::Display::default(),
        home: Path::new("/home"),
        cwd: Path::new("/home/u"),
    };
    let item = Item { entry: None, revision: 1, fold: Fold::Open, at: None, body };
    let layout = entries::lay_out(&item, &EntryCx { look: &look, width, open: true });
    (crate::text::row::copy(&layout.rows), plain::text(&item))
}

fn body() -> impl Strategy<Value = Body> {
    let text = "[ab.é日*_`#> \\-\n|]{0,80}";
    prop_oneof![
        text.prop_map(|text| Body::Notice { level: NoticeLevel::Info, text }),
        text.prop_map(|text| Body::User(crate::transcript::item::User { text, pictures: 0 })),
        text.prop_map(|text| Body::Custom { label: "mail".to_owned(), text }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// What is counted is what is drawn, for words.
    #[test]
    fn counts_are_those_of_the_drawn_text(body in body(), wanted in "[ab日]{1,2}", width in 30_u16..90) {
        let (shown, counted) = drawn(body, width);
        let pattern = Pattern::new(&query(&wanted)).unwrap().unwrap();
        prop_assert_eq!(pattern.count(&shown), pattern.count(&counted), "{:?}\n{:?}", shown, counted);
    }

    /// The cells that are marked hold what is looked for, and all of it that is in the window.
    #[test]
    fn marks_are_where_the_text_is(
        texts in prop::collection::vec("[abé日 ]{1,40}", 1..6),
        wanted in "[abé日]{1,2}",
        width in 6_u16..40,
    ) {
        let mut world = World::new();
        for text in &texts {
            world.conversation.notice(NoticeLevel::Info, text.clone());
        }
        world.find(&wanted);
        let buffer = world.really(width, 190);
        let cells = |modifier| buffer.content.iter().filter(|cell| cell.modifier.contains(modifier)).count();
        let pattern = Pattern::new(&query(&wanted)).unwrap().unwrap();
        let all: usize = texts.iter().map(|text| pattern.count(text)).sum();
        prop_assert_eq!(world.count().1, all as u64);
        let columns = crate::text::width::of(&wanted);
        prop_assert_eq!(cells(Modifier::REVERSED) + cells(Modifier::UNDERLINED), all * columns);
        prop_assert_eq!(cells(Modifier::REVERSED), if all > 0 { columns } else { 0 });
    }

    /// Whatever comes and is folded, at whatever widths: back at the old one the same words are at the top.
    #[test]
    fn an_anchor_survives_everything(
        first in prop::collection::vec(step(), 12..24),
        up in 4_isize..30,
        then in prop::collection::vec((step(), 4_u16..40), 1..12),
    ) {
        let mut world = World::new();
        for step in &first {
            world.step(step, |_| true);
        }
        world.rows(14, 5);
        world.pane.scroll_by(-up);
        world.rows(14, 5);
        prop_assume!(!world.pane.is_following());
        let top = world.pane.shown()[0];
        let before = world.rows(14, 5);
        for (step, width) in then {
            let is_of_top = match &step {
                Step::Append(_) => matches!(world.conversation.items()[top.entry].body, Body::Reply(_)),
                Step::FinishCall(..) => true,
                _ => false,
            };
            if !is_of_top {
                world.step(&step, |item| item != top.entry);
            }
            world.rows(width, 5);
            // A window that shows the end follows it: the user has scrolled there.
            prop_assume!(!world.pane.is_following());
        }
        let after = world.rows(14, 5);
        prop_assert_eq!(world.pane.shown()[0].entry, top.entry);
        prop_assert!(after[0] == before[0] || before[0].is_empty(), "{before:#?}\n{after:#?}");
    }
}

/// Shell calls whose output is longer than an open row shows.
#[test]
fn a_match_in_what_even_an_open_row_leaves_out_is_marked_there() {
    let mut world = World::new();
    let lines: Vec<String> = (1..=5000).map(|line| format!("line {line}.")).collect();
    let (call, tool) = (CallId::new("long"), "bash".to_owned());
    let arguments = serde_json::Map::from_iter([("command".to_owned(), "seq 5000".into())]);
    world.apply(&AgentEvent::ToolStarted {
        call: call.clone(),
        tool: tool.clone(),
        arguments,
        limit_ms: None,
    });
    let output = Arc::new(ToolOutput::text(lines.join("\n")));
    world.apply(&AgentEvent::ToolFinished { call, tool, output, duration_ms: Some(1) });
    world.really(60, 12);
    let current = |world: &mut World| {
        let buffer = world.really(60, 12);
        marked(&buffer, Modifier::REVERSED).concat()
    };
    // The first of the two is hidden, the second is not.
    for (text, shown) in [("line 1234.", "… 3,000 earlier lines"), ("line 4321.", "line 4321.")] {
        world.find(text);
        assert_eq!(current(&mut world), shown, "{text}");
        assert_eq!(world.count(), (Some(1), 1));
    }
    // Of several, each is where it is said to be.
    world.find("99.");
    for _ in 1..=50 {
        let shown = current(&mut world);
        let buffer = world.really(60, 12);
        let (number_there, total) = world.count();
        assert_eq!(total, 50);
        let number_there = number_there.unwrap();
        if number_there <= 30 {
            assert_eq!(shown, "… 3,000 earlier lines", "match {number_there}");
        } else {
            assert_eq!(shown, "99.", "match {number_there}");
            let wanted = format!("line {}.", number_there * 100 - 1);
            let is_there = (0..12).any(|y| {
                let row: String = (0..60).map(|x| buffer[(x, y)].symbol()).collect();
                let is_current = (0..60).any(|x| buffer[(x, y)].modifier.contains(Modifier::REVERSED));
                is_current && row.contains(&wanted)
            });
            assert!(is_there, "{wanted}");
        }
        world.pane.search_step(Way::Next);
    }
}

#[test]
fn what_is_looked_for_is_in_the_window_wherever_it_stands() {
    const ITEMS: usize = 24;
    for height in [1, 2, 5, 9, 14] {
        let mut world = World::new();
        for index in 0..ITEMS {
            world.conversation.notice(NoticeLevel::Info, format!("item-{index:02}\nx\ny"));
        }
        // From the beginning, from the end, and from where the one before was.
        for from in [Some(Travel::Start), Some(Travel::End), None] {
            for index in 0..ITEMS {
                world.draw(30, height);
                world.pane.travel.extend(from);
                world.draw(30, height);
                let wanted = format!("item-{index:02}");
                world.find(&wanted);
                let buffer = world.draw(30, height);
                let seen = marked(&buffer, Modifier::REVERSED).concat();
                // In a single row the mark that there is more stands over it.
                assert!(
                    height == 1 || seen == wanted,
                    "{wanted} from {from:?} in {height}: {seen:?} {buffer:?}"
                );
            }
        }
    }
}
