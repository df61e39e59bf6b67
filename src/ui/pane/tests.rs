use super::view::Meaning;
use super::*;
use crate::assert_screen;
use crate::config::display::Display;
use crate::config::keymap::Keymap;
use crate::proto::command::TicketOutcome;
use crate::proto::entry::EntryPatch;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::{CallId, EntryId, TicketId, TurnId};
use crate::proto::message::{AssistantMessage, Block, Message, StopReason, UserMessage};
use crate::proto::tool::ToolOutput;
use crate::proto::usage::Usage;
use crate::text::row::{LinkSpan, Row};
use crate::theme::Theme;
use crate::theme::role::Role;
use proptest::prelude::*;
use ratatui::layout::Position;
use ratatui::text::Span;
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

#[path = "select_tests.rs"]
mod select;

/// One row a line, wrapped at the width; calls have a head row, and their output below it.
fn plain(item: &Item, cx: &EntryCx<'_>) -> Layout {
    let text = match &item.body {
        Body::Call(call) => format!("[{}]\n{}", call.id, copy::text(item)).trim_end().to_owned(),
        Body::TurnEnd(_) => "end".to_owned(),
        _ => copy::text(item),
    };
    let text = if cx.open { format!("{text}\nopen\nopen") } else { text };
    let columns = usize::from(cx.width.saturating_sub(2).max(1));
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let characters: Vec<char> = line.chars().collect();
        let pieces = characters.chunks(columns).map(|piece| piece.iter().collect::<String>());
        let pieces: Vec<String> = if characters.is_empty() { vec![String::new()] } else { pieces.collect() };
        for piece in pieces {
            let length = piece.len();
            let links = match piece.strip_prefix("http") {
                Some(_) => vec![LinkSpan { columns: 0..4, url: Arc::from("http") }],
                None => Vec::new(),
            };
            rows.push(Row { spans: vec![Span::raw(piece)], start, links, ..Row::default() });
            start += length;
        }
        start += 1;
    }
    Layout { rows, indent: 2, mark: Some(Span::raw("*")), ..Layout::default() }
}

/// Of fields, not of the world: its pane is changed while the look is borrowed.
fn look_of<'a>(theme: &'a Theme, keymap: &'a Keymap, now: Instant, epoch: Instant) -> Look<'a> {
    let (home, cwd) = (Path::new("/home"), Path::new("/home/u"));
    Look { theme, keymap, now, epoch, motion: true, glyphs: true, display: Display::default(), home, cwd }
}

struct World {
    pane: Pane,
    conversation: Conversation,
    theme: Theme,
    keymap: Keymap,
    epoch: Instant,
    now: Instant,
    laid_out: Cell<usize>,
    hits: HitMap<Target>,
    next: NextDeadline,
    entries: usize,
    folded: bool,
}

impl World {
    fn new() -> Self {
        let epoch = Instant::now();
        Self {
            pane: Pane::new(),
            conversation: Conversation::new(),
            theme: Theme::quiet_dark(),
            keymap: Keymap::defaults(),
            epoch,
            now: epoch,
            laid_out: Cell::new(0),
            hits: HitMap::new(),
            next: NextDeadline::default(),
            entries: 0,
            folded: false,
        }
    }

    fn notices(count: usize) -> Self {
        let mut world = Self::new();
        for index in 0..count {
            world.conversation.notice(NoticeLevel::Info, format!("n{index}\nsecond"));
        }
        world
    }

    fn draw(&mut self, width: u16, height: u16) -> Buffer {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        self.draw_into(area, &mut buffer);
        buffer
    }

    fn draw_into(&mut self, area: Rect, buffer: &mut Buffer) {
        let look = look_of(&self.theme, &self.keymap, self.now, self.epoch);
        let look = Look { display: Display { folded: self.folded, ..look.display }, ..look };
        let counted = |item: &Item, cx: &EntryCx<'_>| {
            self.laid_out.set(self.laid_out.get() + 1);
            plain(item, cx)
        };
        let setter = Setter { lay_out: &counted, estimate: &|_, _| 2 };
        (self.hits, self.next) = (HitMap::new(), NextDeadline::default());
        let mut meaning = Meaning { hits: &mut self.hits, next: &mut self.next };
        self.pane.draw_with(setter, &mut self.conversation, &look, area, buffer, &mut meaning);
    }

    /// The rows of a frame as text, without the pill.
    fn rows(&mut self, width: u16, height: u16) -> Vec<String> {
        let buffer = self.draw(width, height);
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..height).map(row).collect()
    }

    /// Moves the end of what is selected among the real items.
    fn extend(&mut self, motion: crate::ui::pane::select::Motion) {
        let look = look_of(&self.theme, &self.keymap, self.now, self.epoch);
        self.pane.extend_with(
            Setter { lay_out: &plain, estimate: &|_, _| 2 },
            &mut self.conversation,
            &look,
            motion,
        );
    }

    fn apply(&mut self, event: &AgentEvent) {
        self.conversation.apply(event, self.now, (0, 0));
    }

    fn say(&mut self, text: &str) {
        let message = Message::User(UserMessage { content: vec![Block::text(text)], timestamp: 0 });
        self.entries += 1;
        let id = EntryId::new(format!("u{}", self.entries));
        self.apply(&AgentEvent::Entry { id, patch: EntryPatch::Start(Arc::new(message)) });
    }

    fn open_reply(&mut self) {
        let patch = EntryPatch::Open { index: 0, block: Block::text("") };
        self.apply(&AgentEvent::Entry { id: EntryId::new("live"), patch });
    }

    fn append(&mut self, delta: &str) {
        let patch = EntryPatch::Append { index: 0, delta: delta.to_owned(), usage: Usage::default() };
        self.apply(&AgentEvent::Entry { id: EntryId::new("live"), patch });
    }

    fn start_call(&mut self, id: &str) {
        let (call, tool) = (CallId::new(id), "read".to_owned());
        self.apply(&AgentEvent::ToolStarted {
            call,
            tool,
            arguments: serde_json::Map::new(),
            limit_ms: None,
        });
    }

    fn finish_call(&mut self, id: &str, text: &str) {
        let output = Arc::new(ToolOutput::text(text));
        let (call, tool) = (CallId::new(id), "read".to_owned());
        self.apply(&AgentEvent::ToolFinished { call, tool, output, duration_ms: Some(1) });
    }
}

#[test]
fn items_stand_apart_but_short_calls_together() {
    let mut world = World::new();
    world.say("Hello");
    for (id, output) in [("a", ""), ("b", ""), ("c", "out"), ("d", "")] {
        world.start_call(id);
        world.finish_call(id, output);
    }
    world.open_reply();
    world.append(" \n");
    world.conversation.notice(NoticeLevel::Info, "end");
    let rows = world.rows(12, 12);
    // A call without output copies as its arguments: an empty object is nothing.
    assert_eq!(rows, ["* Hello", "", "* [a]", "* [b]", "* [c]", "  out", "", "* [d]", "", "* end", "", ""]);
    world.append("text");
    assert_eq!(world.rows(12, 12)[9..], ["● text", "", "* end"]);
}

#[test]
fn the_window_at_its_end_and_away_from_it() {
    let mut world = World::notices(5);
    assert_screen!("pane", "following", &world.draw(24, 6));
    world.pane.scroll_by(-3);
    assert_screen!("pane", "reading", &world.draw(24, 6));
    world.conversation.notice(NoticeLevel::Info, "new");
    world.pane.focus_next(&world.conversation);
    assert_screen!("pane", "reading_with_focus_and_news", &world.draw(24, 6));
    assert_eq!(world.hits.at(Position::new(12, 5)), Some(&Target::Below));
    world.pane.to_end();
    assert!(world.rows(24, 6).contains(&"* new".to_owned()) && world.pane.is_following());
}

#[test]
fn a_live_reply_has_its_mark_and_its_cards() {
    let mut world = World::new();
    world.open_reply();
    world.append("Look:\n\n```rust\nlet a = 1;\n```\n\n[here](https://a.example) it is.\n");
    let buffer = world.draw(40, 9);
    assert_screen!("pane", "live_reply", &buffer);
    let card = Target::Card { item: 0, card: 0 };
    assert_eq!(world.hits.at(Position::new(35, 2)), Some(&card));
    assert!(matches!(world.hits.at(Position::new(3, 6)), Some(Target::Link(_))));
    assert_eq!(world.hits.at(Position::new(3, 0)), Some(&Target::Item(0)));
    assert_eq!(world.hits.at(Position::new(3, 8)), Some(&Target::Transcript));
    assert_eq!(world.pane.card_text(&world.conversation, 0, 0).as_deref(), Some("let a = 1;"));
    world.pane.mark_copied(0, 0, true, world.now);
    assert!(world.rows(40, 9)[2].ends_with("✓ copied"));
    assert_eq!(world.next.figure, Some(world.now + COPIED_FOR));
    world.now += COPIED_FOR;
    assert!(world.rows(40, 9)[2].ends_with(" copy"));
    assert_eq!(world.next, NextDeadline::default());
}

#[test]
fn a_reply_that_ends_is_not_laid_out_again() {
    let mut world = World::new();
    world.open_reply();
    let text = "One\n\n```rust\nlet a = 1;\n```\n\n> quoted words\n\nTwo";
    world.append(text);
    let before = world.draw(40, 12);
    let message = Message::Assistant(AssistantMessage {
        content: vec![Block::text(text)],
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        response_model: None,
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        timestamp: 0,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: None,
        thinking_level: None,
    });
    let patch = EntryPatch::Finish(Arc::new(message));
    world.apply(&AgentEvent::Entry { id: EntryId::new("live"), patch });
    assert_eq!(world.draw(40, 12), before);
    assert_eq!(world.laid_out.get(), 0);
    assert!(
        world.hits.areas_of(&Target::Card { item: 0, card: 1 }).next().is_some(),
        "the quote has a label"
    );
    world.draw(30, 12);
    assert_eq!(world.laid_out.get(), 1);
}

#[test]
fn prompts_are_found_both_ways() {
    let mut world = World::new();
    for index in 0..6 {
        world.say(&format!("p{index}"));
        world.conversation.notice(NoticeLevel::Info, "a\nb\nc\nd");
    }
    world.rows(20, 5);
    let mut top = |direction| {
        world.pane.to_prompt(direction);
        world.rows(20, 5)[0].clone()
    };
    assert_eq!(top(Direction::Up), "* p5");
    assert_eq!(top(Direction::Up), "* p4");
    assert_eq!(top(Direction::Up), "* p3");
    assert_eq!(top(Direction::Down), "* p4");
    assert_eq!(top(Direction::Down), "* p5");
    top(Direction::Down);
    assert!(world.pane.is_following());
}

#[test]
fn pages_keep_two_rows() {
    let mut world = World::notices(10);
    let before = world.rows(20, 8);
    world.pane.page(Direction::Up);
    let above = world.rows(20, 8);
    assert_eq!(above[6], before[0]);
    world.pane.page(Direction::Down);
    assert_eq!(world.rows(20, 8), before);
    assert!(world.pane.is_following());
    world.pane.to_start();
    assert_eq!(world.rows(20, 8)[0], "* n0");
}

#[test]
fn the_focus_walks_and_is_seen() {
    let mut world = World::notices(20);
    let (turn, ticket, outcome) = (TurnId(1), TicketId(1), TicketOutcome::Completed);
    world.apply(&AgentEvent::TurnFinished { turn, ticket, outcome });
    world.rows(20, 7);
    world.pane.focus_previous(&world.conversation);
    assert_eq!(world.pane.focused(), Some(19));
    for wanted in (0..19).rev() {
        world.pane.focus_previous(&world.conversation);
        assert_eq!(world.pane.focused(), Some(wanted));
        let row = format!("* n{wanted}");
        assert!(world.rows(20, 7).contains(&row), "{row}");
    }
    for wanted in 1..20 {
        world.pane.focus_next(&world.conversation);
        let rows = world.rows(20, 7);
        assert!(rows.contains(&format!("* n{wanted}")), "{wanted} {rows:?}");
    }
    world.pane.focus_next(&world.conversation);
    assert_eq!(world.pane.focused(), Some(19));
    world.pane.set_focus(None);
    assert_eq!(world.pane.focused(), None);
}

#[test]
fn an_item_opens_under_the_pointer() {
    let mut world = World::notices(6);
    let before = world.rows(20, 8);
    let at = before.iter().position(|row| row == "* n4").expect("shown");
    world.pane.toggle(&mut world.conversation, 4);
    let rows = world.rows(20, 8);
    assert_eq!((rows[at].as_str(), rows[at + 2].as_str()), ("* n4", "  open"));
    assert!(!world.pane.is_following());
    world.pane.toggle(&mut world.conversation, 4);
    assert_eq!(world.rows(20, 8), before);
    assert!(world.pane.is_following());
    world.pane.set_expanded(true);
    assert!(world.rows(20, 8).contains(&"  open".to_owned()));
}

#[test]
fn other_items_are_other_items() {
    let mut world = World::notices(9);
    world.rows(20, 5);
    world.pane.scroll_by(-4);
    world.pane.focus_next(&world.conversation);
    world.rows(20, 5);
    world.conversation.clear();
    world.conversation.notice(NoticeLevel::Info, "fresh");
    assert_eq!(world.rows(20, 5), ["* fresh", "", "", "", ""]);
    assert!(world.pane.is_following() && world.pane.focused().is_none());
}

#[test]
fn a_frame_costs_what_it_shows() {
    let mut world = World::notices(100_000);
    world.rows(20, 40);
    world.pane.to_start();
    world.rows(20, 40);
    assert!(world.laid_out.get() < 60, "{}", world.laid_out.get());
    world.laid_out.set(0);
    world.rows(20, 40);
    assert_eq!(world.laid_out.get(), 0, "all of it was kept");
}

#[test]
fn a_notch_near_a_long_prompt_lays_nothing_out_anew() {
    let mut world = World::notices(3);
    world.say(&"a line of a long prompt\n".repeat(20_000));
    world.conversation.notice(NoticeLevel::Info, "below");
    world.pane.set_expanded(true);
    world.rows(30, 12);
    for rows in [-6, -3, -3, -9_000, -3, 3, 3] {
        world.pane.scroll_by(rows);
        world.rows(30, 12);
    }
    // The prompt once, and what stands around it.
    assert!(world.laid_out.get() <= 5, "{}", world.laid_out.get());
    world.laid_out.set(0);
    for _ in 0..50 {
        world.pane.scroll_by(-3);
        world.rows(30, 12);
    }
    assert_eq!(world.laid_out.get(), 0);
}

#[test]
fn what_changes_by_itself_is_laid_out_anew_once_a_frame() {
    let mut world = World::new();
    world.start_call("a");
    world.start_call("b");
    let look = |world: &World| (world.theme.clone(), world.keymap.clone());
    let (theme, keymap) = look(&world);
    let look = Look {
        theme: &theme,
        keymap: &keymap,
        now: world.now,
        epoch: world.epoch,
        motion: true,
        glyphs: true,
        display: crate::config::display::Display::default(),
        home: Path::new("/"),
        cwd: Path::new("/"),
    };
    let count = Cell::new(0);
    let ticking = |item: &Item, cx: &EntryCx<'_>| {
        count.set(count.get() + 1);
        let mut layout = plain(item, cx);
        layout.next.animate(cx.look.now + Duration::from_millis(80));
        layout
    };
    for frame in 1..4 {
        let area = Rect::new(0, 0, 20, 4);
        let (mut hits, mut next) = (HitMap::new(), NextDeadline::default());
        world.pane.draw_with(
            Setter { lay_out: &ticking, estimate: &|_, _| 1 },
            &mut world.conversation,
            &look,
            area,
            &mut Buffer::empty(area),
            &mut Meaning { hits: &mut hits, next: &mut next },
        );
        assert_eq!(count.get(), frame * 2);
        assert_eq!(next.animation, Some(look.now + Duration::from_millis(80)));
    }
}

/// What ticks is asked for as long as it is seen, and no longer.
#[test]
fn what_ticks_out_of_sight_asks_for_no_frame() {
    let mut world = World::new();
    for index in 0..40 {
        world.conversation.notice(NoticeLevel::Info, format!("n{index}"));
    }
    world.start_call("a");
    let (theme, keymap) = (world.theme.clone(), world.keymap.clone());
    let look = Look {
        theme: &theme,
        keymap: &keymap,
        now: world.now,
        epoch: world.epoch,
        motion: true,
        glyphs: true,
        display: crate::config::display::Display::default(),
        home: Path::new("/"),
        cwd: Path::new("/"),
    };
    let step = look.now + Duration::from_millis(80);
    let ticking = |item: &Item, cx: &EntryCx<'_>| {
        let mut layout = plain(item, cx);
        if matches!(item.body, Body::Call(_)) {
            layout.next.animate(step);
        }
        layout
    };
    for (scrolled, wanted) in [(0, Some(step)), (-20, None), (20, Some(step))] {
        world.pane.scroll_by(scrolled);
        let area = Rect::new(0, 0, 20, 8);
        let (mut hits, mut next) = (HitMap::new(), NextDeadline::default());
        world.pane.draw_with(
            Setter { lay_out: &ticking, estimate: &|_, _| 1 },
            &mut world.conversation,
            &look,
            area,
            &mut Buffer::empty(area),
            &mut Meaning { hits: &mut hits, next: &mut next },
        );
        assert_eq!(next, NextDeadline { animation: wanted, figure: None }, "{scrolled}");
    }
}

/// Another width lays out what is seen, not what was said.
#[test]
fn another_width_costs_what_it_shows() {
    let mut world = World::notices(10_000);
    world.rows(20, 40);
    world.pane.page(Direction::Up);
    world.rows(20, 40);
    for (width, height) in [(19, 40), (30, 40), (30, 20), (20, 40)] {
        world.laid_out.set(0);
        world.rows(width, height);
        assert!(world.laid_out.get() < 60, "{width}x{height}: {}", world.laid_out.get());
    }
}

#[test]
fn text_under_the_focus_stays_readable() {
    let mut world = World::notices(1);
    world.pane.set_focus(Some(0));
    let buffer = world.draw(10, 3);
    assert_eq!(buffer[(9, 0)].bg, world.theme.color(Role::SelectedBg));
    assert_ne!(buffer[(9, 1)].bg, world.theme.color(Role::SelectedBg));
}

/// Something that happens.
#[derive(Debug, Clone)]
enum Step {
    Notice(String),
    Append(String),
    StartCall,
    FinishCall(usize, String),
    Toggle(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        "[a-z\n]{1,30}".prop_map(Step::Notice),
        "[a-z \n`]{1,20}".prop_map(Step::Append),
        Just(Step::StartCall),
        (0_usize..6, "[a-z\n]{0,20}").prop_map(|(call, text)| Step::FinishCall(call, text)),
        (0_usize..20).prop_map(Step::Toggle),
    ]
}

impl World {
    fn step(&mut self, step: &Step, may_toggle: impl Fn(usize) -> bool) {
        match step {
            Step::Notice(text) => self.conversation.notice(NoticeLevel::Info, text.clone()),
            Step::Append(text) => {
                if self.entries == 0 {
                    self.open_reply();
                    self.entries = 1;
                }
                self.append(text);
            }
            Step::StartCall => {
                let id = format!("c{}", self.conversation.len());
                self.start_call(&id);
            }
            Step::FinishCall(nth, text) => {
                let calls = self.conversation.items().iter().filter_map(|item| match &item.body {
                    Body::Call(call) => Some(call.id.to_string()),
                    _ => None,
                });
                if let Some(id) = calls.clone().nth(*nth) {
                    self.finish_call(&id, text);
                }
            }
            Step::Toggle(item) => {
                if may_toggle(*item) {
                    self.conversation.toggle(*item, false);
                }
            }
        }
    }
}

/// Rows that hold all of a small transcript.
const ALL: u16 = 200;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// While the user reads, nothing that happens moves the text at the top: not what comes below, nor what changes above.
    #[test]
    fn the_top_stays_while_reading(
        first in prop::collection::vec(step(), 8..20),
        up in 1_isize..30,
        then in prop::collection::vec(step(), 1..20),
        height in 2_u16..8,
    ) {
        let mut world = World::new();
        for step in &first {
            world.step(step, |_| true);
        }
        world.rows(14, height);
        world.pane.scroll_by(-up);
        world.rows(14, height);
        for step in then {
            if world.pane.is_following() {
                break;
            }
            let top = world.pane.shown()[0];
            let before = world.rows(14, height);
            // What changes itself may move its own rows.
            let is_top = match &step {
                Step::Append(_) => matches!(world.conversation.items()[top.entry].body, Body::Reply(_)),
                Step::FinishCall(..) => matches!(world.conversation.items()[top.entry].body, Body::Call(_)),
                _ => false,
            };
            let is_shrinking = matches!(step, Step::FinishCall(..));
            world.step(&step, |item| item != top.entry);
            let after = world.rows(14, height);
            if is_top || (is_shrinking && world.pane.is_following()) {
                continue;
            }
            // The blank row above the item at the top may go; its text stays.
            let blank_went = before[0].is_empty();
            prop_assert!(
                after[0] == before[0] || (blank_went && after[0] == before[1]),
                "{step:?}\n{before:#?}\n{after:#?}"
            );
        }
    }

    /// Following shows the last rows, whatever happened; the heights of what is shown are exact.
    #[test]
    fn following_shows_the_end(
        steps in prop::collection::vec((step(), 3_u16..20), 1..25),
        height in 1_u16..8,
    ) {
        let mut world = World::new();
        for (step, width) in steps {
            world.step(&step, |_| true);
            let rows = world.rows(width, height);
            prop_assert!(world.pane.is_following());
            let whole = world.rows(width, ALL);
            let end = whole.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
            let total = usize::try_from(world.pane.heights.total()).unwrap();
            prop_assume!(total <= usize::from(ALL));
            prop_assert!(end <= total);
            let wanted: Vec<String> =
                whole.iter().take(total).skip(total.saturating_sub(height.into())).cloned().collect();
            prop_assert_eq!(&rows[..wanted.len()], &wanted[..]);
        }
    }

    /// Scrolling agrees with the whole transcript as one list of rows, and another width keeps the item at the top.
    #[test]
    fn scrolling_agrees_with_one_long_list(
        steps in prop::collection::vec(step(), 5..25),
        moves in prop::collection::vec(-9_isize..9, 1..8),
        height in 1_u16..8,
        width in 1_u16..30,
    ) {
        let mut world = World::new();
        for step in &steps {
            world.step(step, |_| true);
        }
        let whole = world.rows(14, ALL);
        let total = usize::try_from(world.pane.heights.total()).unwrap();
        prop_assume!(total <= usize::from(ALL));
        let last = total.saturating_sub(height.into());
        let mut top = last;
        world.rows(14, height);
        for delta in moves {
            world.pane.scroll_by(delta);
            top = top.saturating_add_signed(delta).min(last);
            let rows = world.rows(14, height);
            let shown = usize::from(height).min(total) - usize::from(top < last);
            prop_assert_eq!(&rows[..shown], &whole[top..top + shown]);
            prop_assert_eq!(world.pane.is_following(), top == last);
        }
        if top < last {
            let before = (world.pane.shown()[0].entry, world.rows(14, height));
            world.rows(width, height);
            if !world.pane.is_following() {
                prop_assert_eq!(world.pane.shown()[0].entry, before.0);
                prop_assert_eq!(world.rows(14, height), before.1);
            }
        }
    }

    #[test]
    fn no_size_is_too_small(
        steps in prop::collection::vec(step(), 0..12),
        sizes in prop::collection::vec((0_u16..4, 0_u16..4, -3_isize..3), 1..8),
    ) {
        let mut world = World::new();
        for step in &steps {
            world.step(step, |_| true);
        }
        for (width, height, delta) in sizes {
            world.pane.scroll_by(delta);
            world.pane.to_prompt(Direction::Up);
            world.pane.page(Direction::Down);
            world.pane.focus_previous(&world.conversation);
            world.draw(width, height);
        }
    }
}

#[path = "edge_tests.rs"]
mod edges;
#[path = "search_tests.rs"]
mod search;

/// Calls of one run between two notices of errors.
fn folded(calls: usize) -> World {
    let mut world = World { folded: true, ..World::new() };
    world.conversation.notice(NoticeLevel::Error, "before");
    for call in 0..calls {
        world.start_call(&call.to_string());
        world.finish_call(&call.to_string(), "one\ntwo");
    }
    world.conversation.notice(NoticeLevel::Error, "after");
    world
}

#[test]
fn a_closed_run_costs_as_much_as_its_line() {
    const CALLS: usize = 10_000;
    let mut world = folded(CALLS);
    let rows = world.rows(40, 10);
    assert!(rows.iter().any(|row| row.contains("Read 10000 files")), "{rows:#?}");
    world.pane.scroll_by(-2);
    world.rows(40, 10);
    assert!(world.laid_out.get() <= 4, "{}", world.laid_out.get());
    // Nobody asks what is behind the line how many rows it has.
    let folds = &world.pane.folds;
    assert_eq!((folds.rows_from(2, false), folds.rows_until(CALLS + 1, false)), (CALLS + 1, 2));
    assert_eq!((folds.rows_from(1, false), folds.rows_until(2, false)), (1, 2));
    // Nor are their rows counted by the bar, also when they had some.
    world.pane.toggle_run(1);
    world.rows(40, 10);
    world.pane.scroll_by(50);
    world.rows(40, 10);
    world.pane.toggle_run(1);
    world.rows(40, 10);
    world.pane.to_end();
    world.rows(40, 10);
    assert!(world.pane.heights.total() < 12, "{}", world.pane.heights.total());
}

#[test]
fn what_is_told_within_a_closed_run_is_found() {
    let mut world = folded(20);
    world.conversation.notice(NoticeLevel::Info, "not yet");
    for call in 100..120 {
        world.start_call(&call.to_string());
        world.finish_call(&call.to_string(), "one");
        if call == 110 {
            world.conversation.notice(NoticeLevel::Info, "told in between");
        }
    }
    let rows = world.rows(40, 20);
    let at = |text: &str| rows.iter().position(|row| row.contains(text));
    assert!(at("told in between") > at("Read 20 files") && at("Read 20 files").is_some(), "{rows:#?}");
    for _ in 0..rows.len() {
        world.pane.scroll_by(-1);
        let rows = world.rows(40, 4);
        assert_eq!(rows.len(), 4);
    }
    assert!(world.rows(40, 4)[0].contains("before"));
}

#[test]
fn what_a_closed_run_hides_is_not_counted_as_new() {
    let mut world = World { folded: true, ..World::notices(9) };
    let pill = |world: &mut World| world.rows(28, 6)[5].trim().to_owned();
    world.rows(28, 6);
    world.pane.scroll_by(-6);
    assert!(pill(&mut world).contains("↓ below"));
    for call in 0..5 {
        world.start_call(&call.to_string());
        world.finish_call(&call.to_string(), "one");
    }
    assert!(pill(&mut world).contains("↓ 1 new"), "{}", pill(&mut world));
    world.folded = false;
    assert!(pill(&mut world).contains("↓ 5 new"), "{}", pill(&mut world));
}
