//! A colour in numbers, and what lies between two of them.

use ratatui::style::Color;
use std::fmt;
use std::sync::OnceLock;

/// An sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// White.
    pub const WHITE: Self = Self(255, 255, 255);
    /// Black.
    pub const BLACK: Self = Self(0, 0, 0);

    /// Reads `#rrggbb`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
        let pair = |from: usize| u8::from_str_radix(digits.get(from..from + 2)?, 16).ok();
        Some(Self(pair(0)?, pair(2)?, pair(4)?))
    }

    /// The numbers of a colour. `None` for those whose look is the terminal's own business.
    pub fn of(color: Color) -> Option<Self> {
        match color {
            Color::Rgb(r, g, b) => Some(Self(r, g, b)),
            Color::Indexed(index @ 16..=231) => {
                let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
                let cube = index - 16;
                Some(Self(level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
            }
            Color::Indexed(index @ 232..=255) => {
                let grey = 8 + 10 * (index - 232);
                Some(Self(grey, grey, grey))
            }
            _ => None,
        }
    }

    /// The same; for the 16 colours that people change, what most terminals make of them. `None` for the terminal's own
    /// text and ground.
    pub fn estimated(color: Color) -> Option<Self> {
        Some(match color {
            Color::Black | Color::Indexed(0) => Self(0, 0, 0),
            Color::Red | Color::Indexed(1) => Self(205, 0, 0),
            Color::Green | Color::Indexed(2) => Self(0, 205, 0),
            Color::Yellow | Color::Indexed(3) => Self(205, 205, 0),
            Color::Blue | Color::Indexed(4) => Self(0, 0, 238),
            Color::Magenta | Color::Indexed(5) => Self(205, 0, 205),
            Color::Cyan | Color::Indexed(6) => Self(0, 205, 205),
            Color::Gray | Color::Indexed(7) => Self(229, 229, 229),
            Color::DarkGray | Color::Indexed(8) => Self(127, 127, 127),
            Color::LightRed | Color::Indexed(9) => Self(255, 0, 0),
            Color::LightGreen | Color::Indexed(10) => Self(0, 255, 0),
            Color::LightYellow | Color::Indexed(11) => Self(255, 255, 0),
            Color::LightBlue | Color::Indexed(12) => Self(92, 92, 255),
            Color::LightMagenta | Color::Indexed(13) => Self(255, 0, 255),
            Color::LightCyan | Color::Indexed(14) => Self(0, 255, 255),
            Color::White | Color::Indexed(15) => Self(255, 255, 255),
            _ => return Self::of(color),
        })
    }

    /// The colour for a cell.
    pub const fn color(self) -> Color {
        Color::Rgb(self.0, self.1, self.2)
    }

    /// Between this and `other`: each channel on its own, rounded. `share` of the other is held to 0..=1.
    #[must_use]
    pub fn mix(self, other: Self, share: f64) -> Self {
        let share = share.clamp(0.0, 1.0);
        self.each(other, |from, to| from + (to - from) * share)
    }

    /// The same by amounts of light instead of numbers of sRGB, for changes that people watch.
    #[must_use]
    pub fn mix_linear(self, other: Self, share: f64) -> Self {
        let share = share.clamp(0.0, 1.0);
        self.each(other, |from, to| {
            let (from, to) = (to_linear(from / 255.0), to_linear(to / 255.0));
            255.0 * from_linear(from + (to - from) * share)
        })
    }

    fn each(self, other: Self, between: impl Fn(f64, f64) -> f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "lies between two channels, which fit"
        )]
        let channel = |from: u8, to: u8| between(f64::from(from), f64::from(to)).round() as u8;
        Self(channel(self.0, other.0), channel(self.1, other.1), channel(self.2, other.2))
    }

    /// Relative luminance as WCAG 2 defines it: 0 black, 1 white.
    pub fn luminance(self) -> f64 {
        let light = |channel: u8| linear().get(usize::from(channel)).copied().unwrap_or(1.0);
        0.2126 * light(self.0) + 0.7152 * light(self.1) + 0.0722 * light(self.2)
    }

    /// Text on it should be light.
    pub fn is_dark(self) -> bool {
        // Where white and black contrast the same.
        self.luminance() < 0.179
    }
}

/// `#rrggbb`.
impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The light of each channel value: text is lifted for every span that is drawn, and powers are slow.
fn linear() -> &'static [f64; 256] {
    static TABLE: OnceLock<[f64; 256]> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = [0.0; 256];
        for (light, channel) in table.iter_mut().zip(0..=u8::MAX) {
            *light = to_linear(f64::from(channel) / 255.0);
        }
        table
    })
}

fn to_linear(value: f64) -> f64 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn from_linear(light: f64) -> f64 {
    if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_the_specification() {
        let rgb = |text| Rgb::parse(text).unwrap();
        let table = [
            ("#232326", "#8a8882", 0.05, "#28282b"),
            ("#212823", "#8fae7a", 0.12, "#2e382d"),
            ("#2b2224", "#c97a72", 0.12, "#3e2d2d"),
            ("#232326", "#8fb4c8", 0.31, "#445058"),
            ("#26242f", "#b294b0", 0.22, "#453d4b"),
        ];
        for (from, to, share, expected) in table {
            assert_eq!(rgb(from).mix(rgb(to), share).to_string(), expected, "{from} {to} {share}");
        }
        assert_eq!(Rgb::BLACK.mix(Rgb::WHITE, 7.0), Rgb::WHITE);
        assert_eq!(Rgb::BLACK.mix_linear(Rgb::WHITE, 0.5), Rgb(188, 188, 188));
    }

    #[test]
    fn only_full_hex_is_a_colour() {
        assert_eq!(Rgb::parse("#0aFF10"), Some(Rgb(10, 255, 16)));
        for text in ["", "#", "#fff", "ffffff", "#gggggg", "#ffffff0", "#ééé"] {
            assert_eq!(Rgb::parse(text), None, "{text}");
        }
    }
}
