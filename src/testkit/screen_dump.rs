//! A screen as text, with its styles, for snapshots.
//!
//! The size, then three blocks: the text, one letter a cell for its style, and what the letters mean. A letter comes from the style
//! itself, so that a change of one style leaves the other letters, and the rest of the snapshot, as they were.

use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::Position;
use ratatui::style::{Color, Modifier};
use std::collections::{BTreeMap, BTreeSet};

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// For whole screens, which have more styles than that.
const MORE_LETTERS: &str = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩбвгджзийлптфцчшщъыьэюяБГДЖЗИЙЛПФЦЧШЩЪЫЬЭЮЯ";

/// Stands for a cell with no style.
const PLAIN: char = '·';

/// Stands for a style beyond the number of letters.
const OTHER: char = '?';

/// The dump. Blanks and plain cells at the ends of rows are left out; the cell hidden behind a wide character shows that
/// character's style.
pub fn dump(buffer: &Buffer, caret: Option<Position>) -> String {
    let rows: Vec<Vec<(&str, String, u16)>> = (0..buffer.area.height).map(|row| cells(buffer, row)).collect();
    let styles: BTreeSet<&str> =
        rows.iter().flatten().map(|(_, style, _)| style.as_str()).filter(|style| !style.is_empty()).collect();
    let letters = letters(&styles);
    let letter = |style: &str| if style.is_empty() { PLAIN } else { *letters.get(style).unwrap_or(&OTHER) };

    // Snapshots lose blank lines at their beginning, so it begins with something.
    let mut lines = vec![format!("{}x{}", buffer.area.width, buffer.area.height)];
    for row in &rows {
        let text: String = row.iter().map(|(text, ..)| *text).collect();
        lines.push(text.trim_end().to_owned());
    }
    if !styles.is_empty() {
        lines.push("---".to_owned());
        for row in &rows {
            let marks = row.iter().flat_map(|(_, style, width)| (0..*width).map(|_| letter(style)));
            let marks: String = marks.collect();
            lines.push(marks.trim_end_matches(PLAIN).to_owned());
        }
        lines.push("---".to_owned());
        let mut legend: Vec<(char, &str)> = styles.iter().map(|style| (letter(style), *style)).collect();
        legend.sort_unstable();
        lines.extend(legend.iter().map(|(letter, style)| format!("{letter} {style}")));
    }
    if let Some(Position { x, y }) = caret {
        lines.push("---".to_owned());
        lines.push(format!("caret at column {x}, row {y}"));
    }
    lines.join("\n")
}

/// The visible cells of a row: text, style, width.
fn cells(buffer: &Buffer, row: u16) -> Vec<(&str, String, u16)> {
    let area = buffer.area;
    let mut cells = Vec::new();
    let mut column = 0;
    while column < area.width {
        let Some(cell) = buffer.cell((area.x + column, area.y + row)) else { break };
        let width = cell.cell_width().clamp(1, area.width - column);
        cells.push((cell.symbol(), describe(cell), width));
        column += width;
    }
    cells
}

/// A cell's style in words; empty for none.
fn describe(cell: &Cell) -> String {
    let mut words = Vec::new();
    let colors = [("fg", cell.fg), ("bg", cell.bg), ("line", cell.underline_color)];
    words.extend(
        colors
            .iter()
            .filter(|(_, color)| *color != Color::Reset)
            .map(|(name, color)| format!("{name}={color}")),
    );
    let modifiers = [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "dim"),
        (Modifier::ITALIC, "italic"),
        (Modifier::UNDERLINED, "underlined"),
        (Modifier::SLOW_BLINK, "blinking"),
        (Modifier::RAPID_BLINK, "blinking-fast"),
        (Modifier::REVERSED, "reversed"),
        (Modifier::HIDDEN, "hidden"),
        (Modifier::CROSSED_OUT, "crossed-out"),
    ];
    words.extend(
        modifiers
            .iter()
            .filter(|(modifier, _)| cell.modifier.contains(*modifier))
            .map(|(_, name)| (*name).to_owned()),
    );
    words.join(" ")
}

/// Gives each style the letter that its text leads to, or the next free one.
fn letters(styles: &BTreeSet<&str>) -> BTreeMap<String, char> {
    let mut free: Vec<Option<u8>> = LETTERS.iter().copied().map(Some).collect();
    let mut more = MORE_LETTERS.chars();
    let mut given = BTreeMap::new();
    for style in styles {
        let start = usize::try_from(hash(style) % LETTERS.len() as u64).unwrap_or_default();
        let order = (0..free.len()).map(|step| (start + step) % LETTERS.len());
        let letter = order.into_iter().find_map(|at| free.get_mut(at).and_then(Option::take));
        // Where these begin depends on how many styles there are: a change of one may change the letters of others.
        let letter = letter.map(char::from).or_else(|| more.next());
        if let Some(letter) = letter {
            given.insert((*style).to_owned(), letter);
        }
    }
    given
}

/// FNV-1a: the standard library's hash may change between its versions, and with it every snapshot.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Compares a screen with its snapshot `snapshots/<area>__<case>__<cols>x<rows>.snap`.
///
/// `assert_screen!("composer", "empty", &buffer)`, or with the caret's place (`Option<Position>`) behind it.
#[macro_export]
macro_rules! assert_screen {
    ($area:expr, $case:expr, $buffer:expr) => {
        $crate::assert_screen!($area, $case, $buffer, None)
    };
    ($area:expr, $case:expr, $buffer:expr, $caret:expr) => {{
        let buffer: &::ratatui::buffer::Buffer = $buffer;
        let name = format!("{}__{}__{}x{}", $area, $case, buffer.area.width, buffer.area.height);
        let mut settings = ::insta::Settings::clone_current();
        settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| {
            ::insta::assert_snapshot!(name, $crate::testkit::screen_dump::dump(buffer, $caret));
        });
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    fn screen() -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 24, 3));
        buffer.set_string(1, 0, "✓", Style::new().green());
        buffer.set_string(3, 0, "done", Style::new().bold());
        buffer.set_string(8, 0, "日本", Style::new().bg(Color::Rgb(30, 30, 35)));
        buffer.set_string(13, 0, "tail", Style::new().dim().italic());
        buffer.set_string(0, 1, "plain", Style::new());
        buffer
    }

    #[test]
    fn text_styles_and_legend() {
        crate::assert_screen!("testkit", "dump", &screen(), Some(Position::new(5, 1)));
    }

    #[test]
    fn a_screen_without_styles_is_only_its_text() {
        let buffer = Buffer::with_lines(["a  ", "", "日b"]);
        assert_eq!(dump(&buffer, None), "3x3\na\n\n日b");
    }

    #[test]
    fn a_new_style_leaves_the_other_letters() {
        let rows = |dump: String| dump.lines().map(str::to_owned).collect::<Vec<_>>();
        let before = rows(dump(&screen(), None));
        let mut buffer = screen();
        buffer.set_string(0, 2, "new", Style::new().fg(Color::Indexed(200)));
        let after = rows(dump(&buffer, None));
        assert_eq!(after.get(5), before.get(5), "the first row of letters");
        let legend = |rows: &[String]| rows.iter().skip(9).cloned().collect::<BTreeSet<_>>();
        assert_eq!(legend(&after).difference(&legend(&before)).count(), 1);
        assert!(legend(&after).is_superset(&legend(&before)));
    }

    #[test]
    fn more_styles_than_letters_are_still_told_apart_in_the_legend() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 200, 1));
        for column in 0..200u8 {
            buffer.set_string(u16::from(column), 0, "x", Style::new().fg(Color::Indexed(column)));
        }
        let dump = dump(&buffer, None);
        assert!(dump.lines().count() == 5 + 200, "{dump}");
        assert!(dump.contains("? fg="));
    }
}
