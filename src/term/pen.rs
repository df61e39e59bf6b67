//! The terminal's current colours and attributes, and the fewest bytes that change them.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

/// Attributes that are seen on a blank too; the others change only letters.
const SEEN_ON_BLANK: Modifier = Modifier::UNDERLINED
    .union(Modifier::SLOW_BLINK)
    .union(Modifier::RAPID_BLINK)
    .union(Modifier::REVERSED)
    .union(Modifier::CROSSED_OUT);

/// Attribute, what turns it on, what turns it off. Those that share an "off" stand side by side.
const ATTRIBUTES: [(Modifier, u8, u8); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

/// How a cell looks, without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    foreground: Color,
    background: Color,
    underline: Color,
    attributes: Modifier,
}

impl Look {
    /// The terminal's own colours, no attributes.
    pub const PLAIN: Self = Self {
        foreground: Color::Reset,
        background: Color::Reset,
        underline: Color::Reset,
        attributes: Modifier::empty(),
    };

    /// The look of this cell.
    pub const fn of(cell: &Cell) -> Self {
        Self {
            foreground: cell.fg,
            background: cell.bg,
            underline: cell.underline_color,
            attributes: cell.modifier,
        }
    }

    /// This look, where it can be told from `current` on a blank; what can't be seen there stays as it is.
    fn on_blank(self, current: Self) -> Self {
        let seen = self.attributes & SEEN_ON_BLANK;
        let mut look = Self {
            background: self.background,
            attributes: (current.attributes - SEEN_ON_BLANK) | seen,
            ..current
        };
        if !seen.is_empty() || !(current.attributes & SEEN_ON_BLANK).is_empty() {
            look.foreground = self.foreground;
            look.underline = self.underline;
        }
        look
    }
}

/// Whether nobody could tell these cells apart on a screen.
pub fn looks_same(one: &Cell, other: &Cell) -> bool {
    one == other
        || (is_blank(one)
            && is_blank(other)
            && one.bg == other.bg
            && (one.modifier & SEEN_ON_BLANK).is_empty()
            && (other.modifier & SEEN_ON_BLANK).is_empty())
}

/// Whether the cell is a blank in the terminal's own background: what erasing leaves.
pub fn is_erased(cell: &Cell) -> bool {
    blank_ground(cell) == Some(Color::Reset)
}

/// The background of a cell that shows nothing else.
pub fn blank_ground(cell: &Cell) -> Option<Color> {
    (is_blank(cell) && (cell.modifier & SEEN_ON_BLANK).is_empty()).then_some(cell.bg)
}

fn is_blank(cell: &Cell) -> bool {
    cell.symbol() == " "
}

/// The look in which the terminal writes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pen(Look);

impl Pen {
    /// A pen as a reset leaves it.
    pub const PLAIN: Self = Self(Look::PLAIN);

    /// Whether the cell could be written without a change of look.
    pub fn fits(self, cell: &Cell) -> bool {
        self.wanted(cell) == self.0
    }

    /// Writes what makes the terminal write like this cell.
    pub fn take(&mut self, cell: &Cell, out: &mut Vec<u8>) {
        let wanted = self.wanted(cell);
        self.change_to(wanted, out);
    }

    /// Writes what makes erasing leave this background.
    pub fn take_erasing(&mut self, background: Color, out: &mut Vec<u8>) {
        self.change_to(Look { background, ..Look::PLAIN }.on_blank(self.0), out);
    }

    fn wanted(self, cell: &Cell) -> Look {
        let look = Look::of(cell);
        if is_blank(cell) { look.on_blank(self.0) } else { look }
    }

    fn change_to(&mut self, wanted: Look, out: &mut Vec<u8>) {
        if wanted == self.0 {
            return;
        }
        let mut step = Parameters::default();
        step.difference(self.0, wanted);
        // From nothing: shorter when most of the old look goes.
        let mut anew = Parameters::default();
        anew.number(0);
        anew.difference(Look::PLAIN, wanted);
        let shorter = if anew.0.len() < step.0.len() { anew } else { step };
        out.extend_from_slice(b"\x1b[");
        // An empty list means the same as a single zero.
        if shorter.0 != b"0" {
            out.extend_from_slice(&shorter.0);
        }
        out.push(b'm');
        self.0 = wanted;
    }
}

/// The parameters of one "select graphic rendition", with `;` between them.
#[derive(Default)]
struct Parameters(Vec<u8>);

impl Parameters {
    fn difference(&mut self, from: Look, to: Look) {
        let mut kept = from.attributes;
        for (attribute, _, off) in ATTRIBUTES {
            if kept.contains(attribute) && !to.attributes.contains(attribute) {
                self.number(off);
                for (other, _, same_off) in ATTRIBUTES {
                    if same_off == off {
                        kept -= other;
                    }
                }
            }
        }
        for (attribute, on, _) in ATTRIBUTES {
            if to.attributes.contains(attribute) && !kept.contains(attribute) {
                self.number(on);
            }
        }
        if from.foreground != to.foreground {
            self.color(to.foreground, 30, 38);
        }
        if from.background != to.background {
            self.color(to.background, 40, 48);
        }
        if from.underline != to.underline {
            self.underline_color(to.underline);
        }
    }

    fn color(&mut self, color: Color, base: u8, extended: u8) {
        match color {
            Color::Reset => self.number(base + 9),
            Color::Black => self.number(base),
            Color::Red => self.number(base + 1),
            Color::Green => self.number(base + 2),
            Color::Yellow => self.number(base + 3),
            Color::Blue => self.number(base + 4),
            Color::Magenta => self.number(base + 5),
            Color::Cyan => self.number(base + 6),
            Color::Gray => self.number(base + 7),
            Color::DarkGray => self.number(base + 60),
            Color::LightRed => self.number(base + 61),
            Color::LightGreen => self.number(base + 62),
            Color::LightYellow => self.number(base + 63),
            Color::LightBlue => self.number(base + 64),
            Color::LightMagenta => self.number(base + 65),
            Color::LightCyan => self.number(base + 66),
            Color::White => self.number(base + 67),
            Color::Indexed(index) => [extended, 5, index].into_iter().for_each(|part| self.number(part)),
            Color::Rgb(red, green, blue) => {
                [extended, 2, red, green, blue].into_iter().for_each(|part| self.number(part));
            }
        }
    }

    /// With colons: a terminal that does not know underline colours skips the whole, where it would read each number
    /// after a semicolon as an attribute.
    fn underline_color(&mut self, color: Color) {
        let index = match color {
            Color::Rgb(red, green, blue) => {
                self.text(&format!("58:2::{red}:{green}:{blue}"));
                return;
            }
            Color::Reset => {
                self.number(59);
                return;
            }
            Color::Indexed(index) => index,
            Color::Black => 0,
            Color::Red => 1,
            Color::Green => 2,
            Color::Yellow => 3,
            Color::Blue => 4,
            Color::Magenta => 5,
            Color::Cyan => 6,
            Color::Gray => 7,
            Color::DarkGray => 8,
            Color::LightRed => 9,
            Color::LightGreen => 10,
            Color::LightYellow => 11,
            Color::LightBlue => 12,
            Color::LightMagenta => 13,
            Color::LightCyan => 14,
            Color::White => 15,
        };
        self.text(&format!("58:5:{index}"));
    }

    fn number(&mut self, number: u8) {
        self.separate();
        write_number(&mut self.0, u16::from(number));
    }

    fn text(&mut self, text: &str) {
        self.separate();
        self.0.extend_from_slice(text.as_bytes());
    }

    fn separate(&mut self) {
        if !self.0.is_empty() {
            self.0.push(b';');
        }
    }
}

/// Appends a decimal number, without the cost of formatting: this runs for each colour of each changed cell.
pub fn write_number(out: &mut Vec<u8>, number: u16) {
    if number >= 10 {
        write_number(out, number / 10);
    }
    out.push(b'0' + u8::try_from(number % 10).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    fn cell(symbol: &str, style: Style) -> Cell {
        let mut cell = Cell::default();
        cell.set_symbol(symbol).set_style(style);
        cell
    }

    fn written(cells: &[Cell]) -> String {
        let (mut pen, mut out) = (Pen::PLAIN, Vec::new());
        for cell in cells {
            pen.take(cell, &mut out);
            out.push(b'.');
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_what_differs_is_written() {
        let bold = cell("a", Style::new().bold());
        let bold_red = cell("a", Style::new().bold().red());
        let dim_red = cell("a", Style::new().dim().red());
        let plain = cell("a", Style::new());
        assert_eq!(
            written(&[plain.clone(), bold.clone(), bold, bold_red, dim_red, plain]),
            ".\u{1b}[1m..\u{1b}[31m.\u{1b}[22;2m.\u{1b}[m."
        );
    }

    #[test]
    fn a_blank_takes_only_what_can_be_seen_on_it() {
        let red = cell("a", Style::new().red());
        let blank = cell(" ", Style::new().blue().bold());
        let ground = cell(" ", Style::new().on_black());
        assert_eq!(written(&[red.clone(), blank, red, ground]), "\u{1b}[31m...\u{1b}[40m.");
        let underlined = cell(" ", Style::new().underlined().blue());
        assert_eq!(written(&[underlined]), "\u{1b}[4;34m.");
    }

    #[test]
    fn colors_of_all_depths() {
        let all = [
            cell("a", Style::new().fg(Color::Rgb(1, 20, 255))),
            cell("a", Style::new().fg(Color::Indexed(200)).bg(Color::LightRed)),
            cell("a", Style::new().underline_color(Color::Rgb(1, 2, 3))),
        ];
        assert_eq!(written(&all), "\u{1b}[38;2;1;20;255m.\u{1b}[38;5;200;101m.\u{1b}[0;58:2::1:2:3m.");
    }
}
