//! What reaches the terminal for what happens on the screen: bytes, counted and read by a terminal in memory.

use crate::app::effect::Effect;
use crate::app::msg::Msg;
use crate::app::stage::{Stage, command_ask, opened, reply, running, view};
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{CallId, EntryId, TicketId, TurnId};
use crate::proto::message::{Block, Message, UserMessage};
use crate::proto::usage::Usage;
use crate::term::input::Input;
use crate::term::links::Links;
use crate::term::screen::{Frame, Screen};
use crate::testkit::terminal::Terminal;
use crate::testkit::terminal::answers::Profile;
use crossterm::event::MouseEventKind;
use ratatui::buffer::Buffer;
use ratatui::layout::Size;
use serde_json::Map;
use std::sync::Arc;

/// A program, what it writes, and a terminal that shows it.
struct Shown {
    stage: Stage,
    screen: Screen,
    terminal: Terminal,
}

impl Shown {
    fn new(mut stage: Stage) -> Self {
        stage.state.size = (100, 30);
        let terminal = Terminal::new(Size::new(100, 30), Profile::Kitty);
        let mut shown = Self { stage, screen: Screen::new(true, true), terminal };
        shown.frame();
        shown
    }

    /// Draws a frame, and shows it; what was written. The terminal shows then what was drawn.
    fn frame(&mut self) -> String {
        let (cells, caret) = self.stage.draw();
        let links = Links::new(self.stage.state.scene.hits.links());
        let mut bytes = Vec::new();
        let wanted = text(&cells);
        self.screen.paint(Frame { cells, caret, links, ambiguous_wide: false }, &mut bytes);
        self.terminal.feed(&bytes);
        assert_eq!(self.terminal.text(), wanted, "the terminal shows something else");
        assert_eq!(self.terminal.caret(), caret);
        String::from_utf8(bytes).unwrap()
    }

    /// What the loop does with effects that concern the screen.
    fn perform(&mut self, effects: &[Effect]) {
        if effects.contains(&Effect::Repaint) {
            self.screen.invalidate();
        }
    }

    fn resize(&mut self, columns: u16, rows: u16) -> String {
        self.terminal.resize(Size::new(columns, rows));
        let outcome = self.stage.tell(Msg::Input(Input::Resize { columns, rows }));
        self.perform(&outcome.effects);
        self.frame()
    }

    fn streams(&mut self, delta: &str) {
        let patch = EntryPatch::Append { index: 0, delta: delta.to_owned(), usage: Usage::default() };
        self.stage.event(AgentEvent::Entry { id: EntryId::new("live"), patch });
    }
}

/// As a terminal tells its rows.
fn text(cells: &Buffer) -> String {
    let mut rows = Vec::new();
    for y in 0..cells.area.height {
        let (mut row, mut x) = (String::new(), 0);
        while x < cells.area.width {
            let cell = &cells[(x, y)];
            row.push_str(cell.symbol());
            x += crate::term::painter::span(cell, cells.area.width - x);
        }
        rows.push(row.trim_end().to_owned());
    }
    rows.join("\n")
}

/// A long talk in which a reply streams and a command runs.
fn busy() -> Stage {
    let mut stage = Stage::started();
    let mut opened = opened(view());
    for turn in 0..4 {
        let mut lines: String = (0..40).map(|line| format!("turn {turn} line {line:02} ends\n\n")).collect();
        lines.push_str(&"What wraps elsewhere at another width. ".repeat(9));
        let content = vec![Block::text(format!("prompt {turn}"))];
        opened.history.push(Arc::new(Message::User(UserMessage { content, timestamp: 0 })));
        opened.history.push(reply(&lines));
    }
    stage.opened(opened);
    stage.change(|view, now| view.running = Some(running(now)));
    stage.event(AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) });
    let (call, tool) = (CallId::new("c1"), "bash".to_owned());
    stage.event(AgentEvent::ToolStarted { call, tool, arguments: Map::new(), limit_ms: None });
    let open = EntryPatch::Open { index: 0, block: Block::text("") };
    stage.event(AgentEvent::Entry { id: EntryId::new("live"), patch: open });
    stage
}

/// No frame needs these: each of them is seen as a flash.
const FLASHES: [&str; 4] = ["\u{1b}[2J", "\u{1b}[3J", "\u{1b}[J", "\u{1b}[?25"];

fn assert_calm(bytes: &str, most: usize, what: &str) {
    let flash = FLASHES.iter().find(|flash| bytes.contains(**flash));
    assert!(flash.is_none() && bytes.len() <= most, "{what}: {} bytes {bytes:?}", bytes.len());
}

#[test]
fn a_spinner_that_turns_writes_its_row_alone_and_leaves_the_cursor_alone() {
    let mut shown = Shown::new(busy());
    shown.stage.type_text("half a prompt");
    shown.frame();
    let mut written = 0;
    for _ in 0..50 {
        shown.stage.wait(40);
        let before = shown.screen.shown().clone();
        let bytes = shown.frame();
        let after = shown.screen.shown();
        let rows = (0..30).filter(|y| (0..100).any(|x| before[(x, *y)] != after[(x, *y)])).count();
        // The spinner of the divider, and the light that sweeps over the call: each of its tints is a colour to name.
        assert!(rows <= 2, "{rows} rows");
        assert_calm(&bytes, 900, "a step");
        written += bytes.len();
    }
    assert!(written > 0, "it does turn");
    // In two seconds: what a slow connection carries beside all else.
    assert!(written < 2 * 12_000, "{written}");
}

#[test]
fn an_answer_taller_than_the_window_is_never_written_anew() {
    let mut shown = Shown::new(busy());
    shown.frame();
    let whole = {
        shown.screen.invalidate();
        shown.frame().len()
    };
    let mut written = 0;
    for line in 0..90 {
        shown.stage.wait(33);
        shown.streams(&format!(
            "Paragraph {line} of a long answer, so long that it is taller than the window.\n\n"
        ));
        let bytes = shown.frame();
        assert_calm(&bytes, whole / 3, "a piece");
        written += bytes.len();
    }
    assert!(written < 90 * whole / 8, "{written} bytes in 90 frames; a whole one has {whole}");
}

#[test]
fn what_changes_out_of_sight_writes_no_row_of_the_transcript() {
    let mut shown = Shown::new(busy());
    for _ in 0..4 {
        shown.stage.key("pageup");
        shown.frame();
    }
    for _ in 0..20 {
        shown.stage.wait(100);
        let delta = "out\n".repeat(9);
        shown.stage.event(AgentEvent::ToolProgress { call: CallId::new("c1"), delta });
        shown.streams("And more of it.\n\n");
        let before = shown.screen.shown().clone();
        let bytes = shown.frame();
        let after = shown.screen.shown();
        // Not counting the mark that there is more below, and the bar at the edge.
        let is_same = |y: &u16| (0..98).all(|x| before[(x, *y)] == after[(x, *y)]);
        assert_eq!((0..20).filter(|y| !is_same(y)).count(), 0);
        assert_calm(&bytes, 300, "out of sight");
    }
}

/// The rows that are read, without the bar at the edge.
fn top(shown: &Shown) -> Vec<String> {
    (0..5).map(|y| shown.terminal.row(y).trim_end_matches(['▐', '▕', ' ']).to_owned()).collect()
}

#[test]
fn drawing_anew_keeps_the_place_and_the_scrollback() {
    let mut shown = Shown::new(busy());
    for _ in 0..3 {
        shown.stage.key("pageup");
        shown.frame();
    }
    let before = top(&shown);
    assert!(before.iter().any(|row| row.contains("another width")), "{before:#?}");
    let effects = shown.stage.keys(&["ctrl+l"]);
    shown.perform(&effects);
    let bytes = shown.frame();
    assert!(bytes.contains("\u{1b}[2J") && !bytes.contains("\u{1b}[3J"), "{bytes:?}");
    assert_eq!(top(&shown), before);
    assert!(!shown.stage.state.pane.is_following());
    for (columns, rows) in [(100, 24), (100, 40), (60, 30), (100, 30)] {
        assert!(!shown.resize(columns, rows).contains("\u{1b}[3J"));
        assert!(!shown.stage.state.pane.is_following(), "{columns}x{rows}");
    }
    assert_eq!(top(&shown), before);
}

#[test]
fn a_window_that_is_dragged_is_written_in_whole_frames() {
    let mut shown = Shown::new(busy());
    for step in 0..40_u16 {
        let bytes = shown.resize(100 - step, 30 - step / 2);
        let is_one = bytes.starts_with("\u{1b}[?2026h") && bytes.ends_with("\u{1b}[?2026l");
        assert!(is_one && bytes.matches("2026h").count() == 1, "{bytes:?}");
    }
}

/// A font of another size, a way there and back between two frames: the size is the old one, what the terminal shows is
/// not.
#[test]
fn a_size_that_is_told_again_is_written_anew() {
    let mut shown = Shown::new(busy());
    shown.terminal.resize(Size::new(40, 12));
    shown.terminal.resize(Size::new(100, 30));
    let before = shown.stage.screen();
    assert_ne!(shown.terminal.text(), before);
    let outcome = shown.stage.tell(Msg::Input(Input::Resize { columns: 100, rows: 30 }));
    assert!(outcome.changed);
    shown.perform(&outcome.effects);
    shown.frame();
}

#[test]
fn a_text_stands_at_one_place_while_it_scrolls() {
    let mut shown = Shown::new(busy());
    let mut has_moved = false;
    for step in 0..120 {
        let kind = if step % 40 < 25 { MouseEventKind::ScrollUp } else { MouseEventKind::ScrollDown };
        shown.stage.wait(20);
        shown.stage.mouse(kind, 5, 5);
        let bytes = shown.frame();
        // Rows are moved within a frame: nobody sees them at their old place beside the new ones.
        if bytes.contains('S') || bytes.contains('T') {
            has_moved |= bytes.contains("\u{1b}[r");
            assert!(!bytes.contains("\u{1b}[r") || bytes.starts_with("\u{1b}[?2026h"), "{bytes:?}");
        }
        let text = shown.terminal.text();
        let lines: Vec<&str> = text.lines().filter(|row| row.contains(" line ")).collect();
        let places: std::collections::BTreeSet<&str> =
            lines.iter().filter_map(|row| row.split(" ends").next()).collect();
        assert_eq!(lines.len(), places.len(), "{text}");
    }
    assert!(has_moved, "the terminal has moved no rows");
}

/// How something comes over the page, or not.
type Opening = (&'static str, fn(&mut Stage));

const OPENINGS: [Opening; 10] = [
    ("the talk", |_| {}),
    ("a long prompt", |stage| {
        stage.type_text(&"words of a long prompt ".repeat(12));
    }),
    ("completions", |stage| {
        stage.type_text("/th");
    }),
    ("the models", |stage| {
        stage.key("alt+m");
    }),
    ("the keys", |stage| {
        stage.key("f1");
    }),
    ("the settings", |stage| {
        stage.key("f2");
    }),
    ("the palette", |stage| {
        stage.key("ctrl+p");
    }),
    ("the themes", |stage| {
        stage.line("/theme");
    }),
    ("a question", |stage| {
        stage.event(AgentEvent::PermissionAsked(command_ask(1, &"echo word ".repeat(30))));
    }),
    ("all rows unfolded", |stage| {
        stage.key("ctrl+o");
    }),
];

fn sized(begin: fn() -> Stage, open: fn(&mut Stage), sizes: &[(u16, u16)]) -> String {
    let mut stage = begin();
    for (index, size) in sizes.iter().enumerate() {
        stage.tell(Msg::Input(Input::Resize { columns: size.0, rows: size.1 }));
        if index == 0 {
            open(&mut stage);
        }
        stage.draw();
    }
    text(&stage.draw().0)
}

/// No width of old stays anywhere: text that wraps, panels, the start page.
#[test]
fn another_size_shows_what_it_would_have_shown_from_the_start() {
    for (what, open) in OPENINGS {
        for begin in [busy as fn() -> Stage, Stage::open] {
            for size in [(60, 20), (160, 50), (100, 21), (37, 30), (101, 30)] {
                let from_the_start = sized(begin, open, &[size]);
                let later = sized(begin, open, &[(100, 30), size]);
                assert_eq!(later, from_the_start, "{what} {size:?}");
            }
        }
    }
}
