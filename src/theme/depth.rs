//! How many colours a terminal shows, and what becomes of the others. Everything above draws in full colour; the writer
//! quantises last, so that mixing never starts from a rounded colour.

use super::mix::Rgb;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Style};

/// How many colours a terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Depth {
    /// 24 bit.
    #[default]
    True,
    /// The cube and the grey ramp of 256 colours.
    Indexed,
    /// The terminal's own 16 colours.
    Ansi,
    /// None: `NO_COLOR`. Bold, underlined and reversed text remain.
    Mono,
}

impl Depth {
    /// What the setting `screen.colors` says; `auto`, and whatever else it is, leaves it to the environment.
    pub fn of<'a>(setting: &str, get: impl Fn(&str) -> Option<&'a str>) -> Self {
        match setting {
            "none" => Self::Mono,
            "16" => Self::Ansi,
            "256" => Self::Indexed,
            "truecolor" => Self::True,
            _ => Self::from_env(get),
        }
    }

    /// What the environment tells. `get` looks a variable up.
    pub fn from_env<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self {
        if get("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            return Self::Mono;
        }
        let term = get("TERM").unwrap_or_default();
        if term == "dumb" {
            return Self::Mono;
        }
        let program = get("TERM_PROGRAM").unwrap_or_default();
        // Neither shows 24 bit colours, whatever was inherited from outside of it.
        let is_limited = program == "Apple_Terminal" || (term.starts_with("screen") && get("TMUX").is_none());
        let is_known = ["truecolor", "direct", "kitty", "ghostty", "alacritty", "wezterm", "foot", "contour"]
            .iter()
            .any(|word| term.contains(word))
            || matches!(program, "iTerm.app" | "WezTerm" | "vscode" | "ghostty");
        if !is_limited && (matches!(get("COLORTERM"), Some("truecolor" | "24bit")) || is_known) {
            return Self::True;
        }
        if is_limited || term.contains("256") || get("COLORTERM").is_some() {
            return Self::Indexed;
        }
        Self::Ansi
    }

    /// The nearest colour that can be shown.
    pub fn quantise(self, color: Color) -> Color {
        match (self, color) {
            (Self::Mono, _) => Color::Reset,
            (Self::Indexed, Color::Rgb(r, g, b)) => Color::Indexed(to_indexed(Rgb(r, g, b))),
            (Self::Ansi, _) => Rgb::of(color).map_or(color, to_ansi),
            (Self::True | Self::Indexed, _) => color,
        }
    }

    /// The colours of all cells as they can be shown. Text and ground that were two colours stay two: rounded, both may
    /// be the same, and the text gone.
    pub fn cells(self, buffer: &mut Buffer) {
        if self == Self::True {
            return;
        }
        for cell in &mut buffer.content {
            let differed = cell.fg != cell.bg;
            cell.fg = self.quantise(cell.fg);
            cell.bg = self.quantise(cell.bg);
            if differed && cell.fg == cell.bg && cell.bg != Color::Reset {
                cell.fg = apart(cell.bg);
            }
        }
    }

    /// The style with colours that can be shown.
    pub fn style(self, mut style: Style) -> Style {
        style.fg = style.fg.map(|color| self.quantise(color));
        style.bg = style.bg.map(|color| self.quantise(color));
        style.underline_color = style.underline_color.map(|color| self.quantise(color));
        style
    }
}

/// Black or white, whatever is told from this colour.
pub(super) fn apart(ground: Color) -> Color {
    let is_dark = Rgb::estimated(ground).is_none_or(Rgb::is_dark);
    if is_dark { Color::White } else { Color::Black }
}

/// The nearer of the cube's and the ramp's entry. The first 16 are never chosen: people give them other colours.
fn to_indexed(rgb: Rgb) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let nearest = |channel: u8| {
        let distances = LEVELS.iter().map(|level| level.abs_diff(channel));
        distances.zip(0..=u8::MAX).min().map_or(0, |(_, step)| step)
    };
    let (r, g, b) = (nearest(rgb.0), nearest(rgb.1), nearest(rgb.2));
    let cube = 16 + 36 * r + 6 * g + b;
    let mean = (u16::from(rgb.0) + u16::from(rgb.1) + u16::from(rgb.2)) / 3;
    let step = (mean.saturating_sub(3) / 10).min(23);
    let ramp = 232 + u8::try_from(step).unwrap_or(23);
    let distance = |index: u8| Rgb::of(Color::Indexed(index)).map_or(u32::MAX, |other| distance(rgb, other));
    if distance(ramp) < distance(cube) { ramp } else { cube }
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    square(a.0, b.0) + square(a.1, b.1) + square(a.2, b.2)
}

/// By hue where there is one, by lightness where there is none: the nearest of 16 by distance would make all muted
/// colours grey.
fn to_ansi(rgb: Rgb) -> Color {
    let (most, least) = (rgb.0.max(rgb.1).max(rgb.2), rgb.0.min(rgb.1).min(rgb.2));
    if most - least < 28 {
        return match most {
            0..=63 => Color::Black,
            64..=149 => Color::DarkGray,
            150..=223 => Color::Gray,
            224..=255 => Color::White,
        };
    }
    let middle = u16::midpoint(u16::from(most), u16::from(least));
    let high = |channel: u8| u16::from(channel) >= middle;
    let is_bright = most > 200;
    match (high(rgb.0), high(rgb.1), high(rgb.2)) {
        (true, false, false) if is_bright => Color::LightRed,
        (true, false, false) => Color::Red,
        (false, true, false) if is_bright => Color::LightGreen,
        (false, true, false) => Color::Green,
        (false, false, true) if is_bright => Color::LightBlue,
        (false, false, true) => Color::Blue,
        (true, true, false) if is_bright => Color::LightYellow,
        (true, true, false) => Color::Yellow,
        (true, false, true) if is_bright => Color::LightMagenta,
        (true, false, true) => Color::Magenta,
        (false, true, true) if is_bright => Color::LightCyan,
        (false, true, true) => Color::Cyan,
        (true, true, true) | (false, false, false) => Color::Gray,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_by_the_environment() {
        let table: [(&[(&str, &str)], Depth); 12] = [
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Depth::True),
            (&[("TERM", "xterm-direct")], Depth::True),
            (&[("TERM", "xterm-256color")], Depth::Indexed),
            (&[("TERM", "xterm-256color"), ("NO_COLOR", "1"), ("COLORTERM", "24bit")], Depth::Mono),
            (&[("TERM", "xterm-256color"), ("NO_COLOR", ""), ("COLORTERM", "24bit")], Depth::True),
            (&[("TERM", "screen.xterm-256color"), ("COLORTERM", "truecolor")], Depth::Indexed),
            (&[("TERM", "screen-256color"), ("COLORTERM", "truecolor"), ("TMUX", "/tmp/x")], Depth::True),
            (&[("TERM", "xterm-kitty")], Depth::True),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")], Depth::True),
            (&[("TERM", "xterm")], Depth::Ansi),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], Depth::Mono),
            (&[], Depth::Ansi),
        ];
        for (env, expected) in table {
            let get = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
            assert_eq!(Depth::from_env(get), expected, "{env:?}");
        }
    }

    #[test]
    fn the_first_sixteen_are_never_chosen_of_256() {
        for value in 0..=255_u8 {
            let color = Depth::Indexed.quantise(Color::Rgb(value, value / 2, 255 - value));
            assert!(matches!(color, Color::Indexed(16..)), "{color:?}");
        }
        assert_eq!(Depth::Indexed.quantise(Color::Rgb(0x23, 0x23, 0x26)), Color::Indexed(235));
        assert_eq!(Depth::Indexed.quantise(Color::Rgb(255, 0, 0)), Color::Indexed(196));
        assert_eq!(Depth::Indexed.quantise(Color::Red), Color::Red);
    }

    #[test]
    fn sixteen_keep_the_hue() {
        let table = [
            ((0x23, 0x23, 0x26), Color::Black),
            ((0xcf, 0xcd, 0xc6), Color::Gray),
            ((0x5f, 0x5d, 0x58), Color::DarkGray),
            ((0xc9, 0x7a, 0x72), Color::LightRed),
            ((0x8f, 0xae, 0x7a), Color::Green),
            ((0xec, 0xb6, 0x4e), Color::LightYellow),
            ((0x8f, 0xb4, 0xc8), Color::Cyan),
        ];
        for ((r, g, b), expected) in table {
            assert_eq!(Depth::Ansi.quantise(Color::Rgb(r, g, b)), expected, "{r} {g} {b}");
        }
        assert_eq!(Depth::Mono.quantise(Color::Red), Color::Reset);
    }
}
