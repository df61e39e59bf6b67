use super::*;
use crate::testkit::terminal::Terminal;
use crate::testkit::terminal::answers::Profile;
use proptest::prelude::*;
use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier, Style};
use std::num::NonZeroU16;

/// A terminal that shows what a [`Screen`] tells it.
struct Shown {
    screen: Screen,
    terminal: vt100::Parser,
}

impl Shown {
    fn new(width: u16, height: u16) -> Self {
        Self::of(width, height, true)
    }

    fn of(width: u16, height: u16, erases_in_color: bool) -> Self {
        let size = |number| NonZeroU16::new(number).unwrap();
        let terminal = vt100::Parser::new(size(height), size(width), 0);
        Self { screen: Screen::new(true, erases_in_color), terminal }
    }

    fn paint(&mut self, cells: &Buffer, caret: Option<Position>) -> String {
        let mut bytes = Vec::new();
        self.screen.paint(Frame { cells: cells.clone(), caret, ..Frame::default() }, &mut bytes);
        self.terminal.process(&bytes);
        String::from_utf8(bytes).unwrap()
    }

    /// Where the terminal does not show what the buffer holds.
    fn difference(&self, cells: &Buffer) -> Option<String> {
        for y in 0..cells.area.height {
            let mut x = 0;
            while x < cells.area.width {
                let wanted = &cells[(x, y)];
                let room = cells.area.width - x;
                let span = super::super::painter::span(wanted, room);
                let shown = self.terminal.screen().cell(y, x).unwrap();
                let too_wide = unicode_width::UnicodeWidthStr::width(wanted.symbol()) > usize::from(room);
                let symbol = if too_wide { " " } else { wanted.symbol() };
                let text = if shown.has_contents() { shown.contents() } else { " " };
                let blank = symbol == " ";
                let right = text == symbol
                    && shown.is_wide() == (span == 2)
                    && shown.bgcolor() == color(wanted.bg)
                    && shown.inverse() == wanted.modifier.contains(Modifier::REVERSED)
                    && shown.underline() == wanted.modifier.contains(Modifier::UNDERLINED)
                    && (blank && !shown.inverse()
                        || shown.fgcolor() == color(wanted.fg)
                            && (blank
                                || shown.bold() == wanted.modifier.contains(Modifier::BOLD)
                                    && shown.dim() == wanted.modifier.contains(Modifier::DIM)
                                    && shown.italic() == wanted.modifier.contains(Modifier::ITALIC)));
                if !right {
                    return Some(format!("{x},{y}: wanted {wanted:?}, shown {shown:?}"));
                }
                x += span;
            }
        }
        None
    }
}

fn color(color: Color) -> vt100::Color {
    match color {
        Color::Reset => vt100::Color::Default,
        Color::Red => vt100::Color::Idx(1),
        Color::LightBlue => vt100::Color::Idx(12),
        Color::Indexed(index) => vt100::Color::Idx(index),
        Color::Rgb(red, green, blue) => vt100::Color::Rgb(red, green, blue),
        other => panic!("no test uses {other}"),
    }
}

fn styles() -> impl Strategy<Value = Style> {
    let colors = prop::sample::select(vec![
        Color::Reset,
        Color::Reset,
        Color::Red,
        Color::LightBlue,
        Color::Indexed(99),
        Color::Rgb(1, 2, 3),
    ]);
    let attributes = prop::sample::select(vec![
        Modifier::empty(),
        Modifier::empty(),
        Modifier::BOLD,
        Modifier::DIM,
        Modifier::BOLD.union(Modifier::ITALIC),
        Modifier::UNDERLINED,
        Modifier::REVERSED,
    ]);
    (colors.clone(), colors, attributes)
        .prop_map(|(fg, bg, attributes)| Style::new().fg(fg).bg(bg).add_modifier(attributes))
}

/// A row as pieces of text, each in one style. Pieces may cut wide characters: cells are set one by one.
fn rows(width: u16) -> impl Strategy<Value = Vec<Cell>> {
    let symbols = prop::sample::select(vec!["a", "b", " ", " ", " ", "日", "é", "─", "z"]);
    let pieces =
        (prop::collection::vec(symbols, 0..8), prop_oneof![4 => 0usize..6, 1 => 10usize..30], styles());
    prop::collection::vec(pieces, 0..5).prop_map(move |pieces| {
        let mut row = Vec::new();
        for (symbols, blanks, style) in pieces {
            for symbol in symbols.into_iter().chain(std::iter::repeat_n(" ", blanks)) {
                let mut cell = Cell::default();
                cell.set_symbol(symbol).set_style(style);
                row.push(cell);
                if symbol == "日" && row.len() % 3 != 0 {
                    row.push(Cell::EMPTY);
                }
            }
        }
        row.resize(usize::from(width), Cell::EMPTY);
        row
    })
}

/// Wide enough for runs of blanks that are erased.
const WIDTH: u16 = 40;
const HEIGHT: u16 = 9;

fn buffer(rows: &[Vec<Cell>]) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, WIDTH, u16::try_from(rows.len()).unwrap()));
    buffer.content = rows.concat();
    buffer
}

#[derive(Debug, Clone)]
enum Change {
    Anew(Vec<Vec<Cell>>),
    Row(usize, Vec<Cell>),
    Shift { top: usize, bottom: usize, by: usize, up: bool, fill: Vec<Cell> },
    Repaint,
}

fn changes() -> impl Strategy<Value = Change> {
    let height = usize::from(HEIGHT);
    prop_oneof![
        1 => prop::collection::vec(rows(WIDTH), height).prop_map(Change::Anew),
        3 => (0..height, rows(WIDTH)).prop_map(|(y, row)| Change::Row(y, row)),
        4 => (0..height, 1..=height, 1..4usize, any::<bool>(), rows(WIDTH))
            .prop_map(|(top, bottom, by, up, fill)| Change::Shift { top, bottom, by, up, fill }),
        1 => Just(Change::Repaint),
    ]
}

#[test]
fn rows_that_something_else_drew_on_are_written_anew() {
    let mut shown = Shown::new(12, 3);
    let mut cells = Buffer::empty(Rect::new(0, 0, 12, 3));
    cells.set_string(0, 0, "above", Style::new());
    cells.set_string(0, 1, "日本 ab", Style::new());
    shown.paint(&cells, Some(Position { x: 7, y: 1 }));
    // An input method draws over the row, also where it is blank, and the cursor stays where it was.
    shown.terminal.process("\x1b7\x1b[2;6H\x1b[4mにほんご\x1b8".as_bytes());
    assert_eq!(shown.paint(&cells, Some(Position { x: 7, y: 1 })), "", "believed unchanged");
    shown.screen.distrust(1..9);
    let bytes = shown.paint(&cells, Some(Position { x: 7, y: 1 }));
    assert!(!bytes.contains("above"), "{bytes:?}");
    assert_eq!(shown.difference(&cells), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever changes, the terminal shows the buffer, the cursor stands at the caret, and the same again is free.
    #[test]
    fn the_terminal_shows_the_buffer(
        first in prop::collection::vec(rows(WIDTH), usize::from(HEIGHT)),
        changes in prop::collection::vec((changes(), 0..WIDTH, 0..HEIGHT, any::<bool>()), 1..8),
        erases_in_color: bool,
    ) {
        let mut shown = Shown::of(WIDTH, HEIGHT, erases_in_color);
        let mut state = first;
        shown.paint(&buffer(&state), None);
        prop_assert_eq!(shown.difference(&buffer(&state)), None);
        for (change, x, y, has_caret) in changes {
            match change {
                Change::Anew(rows) => state = rows,
                Change::Row(y, row) => state[y] = row,
                Change::Shift { top, bottom, by, up, fill } if top < bottom => {
                    let region = &mut state[top..bottom];
                    let by = by.min(region.len());
                    if up {
                        region.rotate_left(by);
                        region.iter_mut().rev().take(by).for_each(|row| row.clone_from(&fill));
                    } else {
                        region.rotate_right(by);
                        region.iter_mut().take(by).for_each(|row| row.clone_from(&fill));
                    }
                }
                Change::Shift { .. } => {}
                Change::Repaint => shown.screen.invalidate(),
            }
            let caret = has_caret.then_some(Position { x, y });
            let cells = buffer(&state);
            shown.paint(&cells, caret);
            prop_assert_eq!(shown.difference(&cells), None);
            prop_assert_eq!(shown.terminal.screen().hide_cursor(), !has_caret);
            if has_caret {
                prop_assert_eq!(shown.terminal.screen().cursor_position(), (y, x));
            }
            prop_assert_eq!(shown.paint(&cells, caret), "");
        }
    }
}

/// A link in a row: from, length, which address.
type LinkSpec = (u16, u16, u8);

fn link_specs() -> impl Strategy<Value = Vec<Vec<LinkSpec>>> {
    let row = prop::collection::vec((0..WIDTH, 1..6u16, 0..4u8), 0..3);
    prop::collection::vec(row, usize::from(HEIGHT))
}

fn url(which: u8) -> String {
    format!("https://example.org/{which}")
}

fn links(rows: &[Vec<LinkSpec>]) -> Links {
    let pieces = rows.iter().zip(0..).flat_map(|(row, y)| {
        row.iter().map(move |(start, length, which)| {
            (y, *start..(start + length).min(WIDTH), std::sync::Arc::from(url(*which)))
        })
    });
    Links::new(pieces)
}

/// Where a terminal that knows links does not have those that were asked for, or not the text. What hides behind a wide
/// character has no link of its own.
fn link_difference(terminal: &Terminal, cells: &Buffer, wanted: &Links) -> Option<String> {
    for y in 0..cells.area.height {
        let mut x = 0;
        while x < cells.area.width {
            let cell = &cells[(x, y)];
            let link = terminal.link(x, y).map(|(_, uri)| uri);
            let asked = wanted.row(y).at(usize::from(x)).map(|link| link.url().to_owned());
            if link != asked {
                return Some(format!("{x},{y}: asked for {asked:?}, got {link:?}"));
            }
            x += super::super::painter::span(cell, cells.area.width - x);
        }
        let shown = terminal.row(y);
        let row: String = wanted_row(cells, y);
        if shown != row {
            return Some(format!("row {y}: wanted {row:?}, shown {shown:?}"));
        }
    }
    None
}

fn wanted_row(cells: &Buffer, y: u16) -> String {
    let (mut row, mut x) = (String::new(), 0);
    while x < cells.area.width {
        let cell = &cells[(x, y)];
        let room = cells.area.width - x;
        let is_cut = unicode_width::UnicodeWidthStr::width(cell.symbol()) > usize::from(room);
        row.push_str(if is_cut { " " } else { cell.symbol() });
        x += super::super::painter::span(cell, room);
    }
    row.truncate(row.trim_end().len());
    row
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever links come and go, also with rows that the terminal moves itself, inside synchronised frames: it has those
    /// that were asked for and no other, and none is left open.
    #[test]
    fn the_terminal_has_the_links_that_were_asked_for(
        first in (prop::collection::vec(rows(WIDTH), usize::from(HEIGHT)), link_specs()),
        changes in prop::collection::vec((changes(), link_specs(), 0..4u8), 1..8),
    ) {
        let mut terminal = Terminal::new(ratatui::layout::Size::new(WIDTH, HEIGHT), Profile::Kitty);
        let mut screen = Screen::new(true, true);
        let (mut state, mut specs) = first;
        let mut paint = |screen: &mut Screen, state: &[Vec<Cell>], specs: &[Vec<LinkSpec>]| {
            let (cells, wanted) = (buffer(state), links(specs));
            let frame = Frame { cells: cells.clone(), links: wanted.clone(), ..Frame::default() };
            let mut bytes = Vec::new();
            screen.paint(frame.clone(), &mut bytes);
            terminal.feed(&bytes);
            let mut again = Vec::new();
            screen.paint(frame, &mut again);
            let left: Vec<_> =
                terminal.leftovers().into_iter().filter(|left| left.contains("link")).collect();
            (link_difference(&terminal, &cells, &wanted), left, again)
        };
        prop_assert_eq!(paint(&mut screen, &state, &specs), (None, vec![], vec![]));
        for (change, other, what) in changes {
            match change {
                Change::Anew(rows) => state = rows,
                Change::Row(y, row) => state[y] = row,
                Change::Shift { top, bottom, by, up, .. } if top < bottom => {
                    let by = by.min(bottom - top);
                    // The rows take their links along.
                    if up {
                        state[top..bottom].rotate_left(by);
                        specs[top..bottom].rotate_left(by);
                    } else {
                        state[top..bottom].rotate_right(by);
                        specs[top..bottom].rotate_right(by);
                    }
                }
                Change::Shift { .. } => {}
                Change::Repaint => screen.invalidate(),
            }
            match what {
                0 => specs = other,
                1 => specs.iter_mut().for_each(Vec::clear),
                2 => specs[..3].clone_from_slice(&other[..3]),
                _ => {}
            }
            prop_assert_eq!(paint(&mut screen, &state, &specs), (None, vec![], vec![]));
        }
    }
}

#[test]
fn each_row_of_a_wrapped_address_opens_the_whole() {
    let mut screen = Screen::new(true, true);
    let mut bytes = Vec::new();
    let url = "https://example.org/a/long/path";
    let links = Links::new([(0, 2..10, url.into()), (1, 2..5, url.into())]);
    screen.paint(Frame { cells: text(&["  https://", "  exa bcd "]), links, ..Frame::default() }, &mut bytes);
    let mut terminal = Terminal::new(ratatui::layout::Size::new(10, 2), Profile::Kitty);
    terminal.feed(&bytes);
    let (id, uri) = terminal.link(2, 0).unwrap();
    assert_eq!(uri, url);
    assert_eq!(terminal.link(4, 1), Some((id, uri)));
    assert_eq!((terminal.link(1, 0), terminal.link(5, 1)), (None, None));
    // Without links, not a byte of them.
    let mut plain = Vec::new();
    screen.paint(Frame { cells: text(&["  https://", "  exa bcd "]), ..Frame::default() }, &mut plain);
    let plain = String::from_utf8(plain).unwrap();
    assert!(!plain.contains("]8;id"), "{plain:?}");
}

/// A terminal that draws ambiguous characters over two columns: the next cell is written at its own place.
#[test]
fn behind_an_uncertain_character_the_place_is_found_again() {
    let mut screen = Screen::new(false, true);
    let mut bytes = Vec::new();
    let frame = |line: &str| Frame { cells: text(&[line]), ambiguous_wide: true, ..Frame::default() };
    screen.paint(frame("aΩbc"), &mut bytes);
    assert!(String::from_utf8_lossy(&bytes).contains("Ω\u{1b}[1;3Hbc"), "{bytes:?}");
    bytes.clear();
    screen.paint(frame("aЖbc"), &mut bytes);
    // What it covered is written again.
    assert_eq!(String::from_utf8_lossy(&bytes), "\u{1b}[1;2HЖ\u{1b}[1;3Hb");
}

fn text(lines: &[&str]) -> Buffer {
    Buffer::with_lines(lines.iter().map(|line| (*line).to_owned()))
}

#[test]
fn a_typed_letter_costs_one_byte() {
    let mut shown = Shown::new(20, 2);
    let at = |x| Some(Position { x, y: 0 });
    shown.paint(&text(&["> hell              ", "                    "]), at(6));
    assert_eq!(shown.paint(&text(&["> hello             ", "                    "]), at(7)), "o");
    assert_eq!(shown.paint(&text(&["> hello             ", "                    "]), at(3)), "\u{1b}[1;4H");
    assert_eq!(shown.paint(&text(&["> hello             ", "                    "]), None), "\u{1b}[?25l");
}

/// A card's ground over the whole width costs a few bytes, with a label at its end, too.
#[test]
fn blanks_on_a_ground_are_erased_not_written() {
    let ground = Style::new().bg(Color::Rgb(1, 2, 3));
    let mut cells = Buffer::empty(Rect::new(0, 0, 200, 1));
    cells.set_string(0, 0, format!("rust{:>195}", ' '), ground);
    let mut labelled = cells.clone();
    labelled.set_string(190, 0, "copy", ground.fg(Color::Red));
    for (cells, most) in [(cells, 40), (labelled, 60)] {
        let mut shown = Shown::new(200, 1);
        shown.paint(&Buffer::empty(cells.area), None);
        let bytes = shown.paint(&cells, None);
        assert!(bytes.len() < most, "{bytes:?}");
        assert_eq!(shown.difference(&cells), None);
        // Where erasing leaves the terminal's own ground, blanks are written.
        let mut plain = Shown::of(200, 1, false);
        plain.paint(&Buffer::empty(cells.area), None);
        assert!(!plain.paint(&cells, None).contains(['X', 'K']));
    }
}

#[test]
fn a_long_frame_of_several_rows_is_synchronised_and_others_are_not() {
    let rows = |first: &str, second: &str| text(&[&first.repeat(100), &second.repeat(100)]);
    let mut shown = Shown::new(100, 2);
    shown.paint(&rows(" ", " "), None);
    let long = shown.paint(&rows("x", "y"), None);
    assert!(long.starts_with("\u{1b}[?2026h") && long.ends_with("\u{1b}[?2026l"), "{long:?}");
    assert!(!shown.paint(&rows("x", "z"), None).contains("2026"));
    let mut one = rows("x", "z");
    one.cell_mut((0, 1)).unwrap().set_symbol("y");
    assert_eq!(shown.paint(&one, None), "\ry");
}

#[test]
fn rows_that_moved_are_moved_by_the_terminal() {
    let lines = |from: usize| {
        let mut lines: Vec<_> = (from..from + 8).map(|n| format!("line {n:03} of a long text")).collect();
        lines.push("footer                 ".to_owned());
        Buffer::with_lines(lines)
    };
    let mut shown = Shown::new(23, 9);
    shown.paint(&lines(1), None);
    let bytes = shown.paint(&lines(2), None);
    assert!(bytes.contains("\u{1b}[1;8r\u{1b}[S\u{1b}[r"), "{bytes:?}");
    assert!(bytes.len() < 60, "{bytes:?}");
    assert_eq!(shown.difference(&lines(2)), None);
    let bytes = shown.paint(&lines(1), None);
    assert!(bytes.contains("\u{1b}[T"), "{bytes:?}");
    assert_eq!(shown.difference(&lines(1)), None);
}

/// The last row of an answer that streams moves up and grows in the same frame: only what is new of it is written.
#[test]
fn a_row_that_moved_and_grew_is_moved() {
    let page = |rows: &[&str]| {
        let mut lines: Vec<String> = rows.iter().map(|row| format!("{row:<40}")).collect();
        lines.push(format!("{:<40}", "footer"));
        Buffer::with_lines(lines)
    };
    let mut shown = Shown::new(40, 8);
    shown.paint(&page(&["one", "two", "three", "four", "five", "", "The last row is on its"]), None);
    let after = page(&["two", "three", "four", "five", "", "The last row is on its way", "and wraps"]);
    let bytes = shown.paint(&after, None);
    assert!(!bytes.contains("The last row"), "{bytes:?}");
    assert!(bytes.contains("way") && bytes.len() < 70, "{bytes:?}");
    assert_eq!(shown.difference(&after), None);
}

#[test]
fn nothing_that_steers_a_terminal_passes() {
    let mut cells = text(&["abcdef"]);
    for (x, symbol) in ["\u{1b}", "\u{9b}31m", "\u{202e}", "\u{301}", "\n"].into_iter().enumerate() {
        cells[(u16::try_from(x).unwrap(), 0)].set_symbol(symbol);
    }
    let mut shown = Shown::new(6, 1);
    let bytes = shown.paint(&cells, None);
    assert!(!bytes.contains(['\u{9b}', '\u{202e}', '\n', '\u{301}']), "{bytes:?}");
    assert!(!bytes.replace("\u{1b}[", "").contains('\u{1b}'), "{bytes:?}");
}

#[test]
fn any_size_can_be_painted() {
    for (width, height) in [(1, 1), (2, 1), (1, 3), (500, 200)] {
        let mut shown = Shown::new(width, height);
        for symbol in ["x", "日"] {
            let mut cells = Buffer::empty(Rect::new(0, 0, width, height));
            for cell in &mut cells.content {
                cell.set_symbol(symbol);
            }
            shown.paint(&cells, Some(Position { x: width - 1, y: height - 1 }));
            assert_eq!(shown.difference(&cells), None, "{width}x{height}");
        }
    }
    let mut screen = Screen::new(true, true);
    screen.paint(Frame::default(), &mut Vec::new());
}

#[test]
fn a_new_size_is_painted_in_full() {
    let mut shown = Shown::new(6, 2);
    shown.paint(&text(&["abc   ", "def   "]), None);
    let bytes = shown.paint(&text(&["abc"]), None);
    assert!(bytes.contains("\u{1b}[2J") && bytes.contains("abc"), "{bytes:?}");
}
