//! Colours in the output of tools. Of all escape sequences only those that colour text (SGR) have a meaning here; the
//! rest, which could move the cursor or ring a bell, is dropped.

use super::clean;
use super::wrap::Run;
use crate::theme::Theme;
use crate::theme::role::{Role, Weight};
use ratatui::style::{Color, Modifier, Style};

/// Longest sequence of parameters that is read.
const LONGEST: usize = 64;

/// Output to lines of styled runs. `base` is the style of what sets none, `ground` what it stands on. A carriage return
/// begins its line anew, as progress meters mean it; a backspace takes one character back.
pub fn lines(text: &str, theme: &Theme, base: Style, ground: Color) -> Vec<Vec<Run>> {
    lines_after(&mut Left::default(), text, theme, base, ground)
}

/// What a text leaves switched on for the text behind it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Left(Sgr);

/// The same for a text that stands behind another one, of which `left` tells what it left on; afterwards it tells what
/// this one does. So a part of a long text is read without all that is before it.
pub fn lines_after(left: &mut Left, text: &str, theme: &Theme, base: Style, ground: Color) -> Vec<Vec<Run>> {
    let style = left.0.style(theme, base, ground);
    let mut reader = Reader { theme, base, ground, sgr: left.0, style, lines: vec![Vec::new()] };
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\u{1b}' => reader.escape(&mut chars),
            '\n' => reader.lines.push(Vec::new()),
            '\r' => {
                if chars.peek().is_some_and(|(_, next)| *next != '\n') {
                    reader.restart();
                }
            }
            '\u{8}' => reader.back(),
            c if clean::is_unsafe(c) => {}
            c => reader.push(c, at),
        }
    }
    left.0 = reader.sgr;
    reader.lines
}

struct Reader<'a> {
    theme: &'a Theme,
    base: Style,
    ground: Color,
    sgr: Sgr,
    /// What `sgr` comes to.
    style: Style,
    lines: Vec<Vec<Run>>,
}

type Chars<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

impl Reader<'_> {
    fn push(&mut self, c: char, at: usize) {
        let style = self.style;
        let Some(line) = self.lines.last_mut() else { return };
        match line.last_mut() {
            Some(run) if run.style == style && run.source + run.text.len() == at => run.text.push(c),
            _ => line.push(Run::new(c, style, at)),
        }
    }

    fn restart(&mut self) {
        if let Some(line) = self.lines.last_mut() {
            line.clear();
        }
    }

    fn back(&mut self) {
        let Some(line) = self.lines.last_mut() else { return };
        if let Some(run) = line.last_mut() {
            run.text.pop();
            if run.text.is_empty() {
                line.pop();
            }
        }
    }

    fn escape(&mut self, chars: &mut Chars<'_>) {
        match chars.peek().map(|(_, c)| *c) {
            Some('[') => {
                chars.next();
                self.control_sequence(chars);
            }
            Some(']' | 'P' | 'X' | '^' | '_') => skip_string(chars),
            // A charset: one more character.
            Some('(' | ')' | '*' | '+' | '#' | '%' | ' ') => {
                chars.next();
                chars.next_if(|(_, c)| !c.is_control());
            }
            Some(c) if !c.is_control() => {
                chars.next();
            }
            Some(_) | None => {}
        }
    }

    fn control_sequence(&mut self, chars: &mut Chars<'_>) {
        let mut parameters = String::new();
        while let Some((_, c)) = chars.next_if(|(_, c)| !c.is_control()) {
            if ('\u{40}'..='\u{7e}').contains(&c) {
                if c == 'm' && parameters.len() <= LONGEST {
                    self.sgr.apply(&parameters);
                    self.style = self.sgr.style(self.theme, self.base, self.ground);
                }
                return;
            }
            parameters.push(c);
        }
    }
}

/// Skips a string that an escape began, to its terminator or to the end of the line: an unfinished one must not swallow
/// the rest of the output.
fn skip_string(chars: &mut Chars<'_>) {
    while let Some((_, c)) = chars.next_if(|(_, c)| *c != '\n') {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if(|(_, c)| *c == '\\');
                return;
            }
            _ => {}
        }
    }
}

/// What is set.
#[derive(Clone, Copy, Debug, Default)]
struct Sgr {
    fg: Option<Color>,
    bg: Option<Color>,
    modifier: Modifier,
}

impl Sgr {
    fn apply(&mut self, parameters: &str) {
        let mut numbers = parameters
            .split([';', ':'])
            .map(|number| if number.is_empty() { Some(0) } else { number.parse::<u16>().ok() });
        while let Some(number) = numbers.next() {
            match number {
                Some(0) => *self = Self::default(),
                Some(1) => self.modifier |= Modifier::BOLD,
                Some(2) => self.modifier |= Modifier::DIM,
                Some(3) => self.modifier |= Modifier::ITALIC,
                Some(4) => self.modifier |= Modifier::UNDERLINED,
                Some(7) => self.modifier |= Modifier::REVERSED,
                Some(9) => self.modifier |= Modifier::CROSSED_OUT,
                Some(22) => self.modifier -= Modifier::BOLD | Modifier::DIM,
                Some(23) => self.modifier -= Modifier::ITALIC,
                Some(24) => self.modifier -= Modifier::UNDERLINED,
                Some(27) => self.modifier -= Modifier::REVERSED,
                Some(29) => self.modifier -= Modifier::CROSSED_OUT,
                Some(number @ 30..=37) => self.fg = indexed(number - 30),
                Some(38) => self.fg = extended(&mut numbers).or(self.fg),
                Some(39) => self.fg = None,
                Some(number @ 40..=47) => self.bg = indexed(number - 40),
                Some(48) => self.bg = extended(&mut numbers).or(self.bg),
                Some(49) => self.bg = None,
                Some(number @ 90..=97) => self.fg = indexed(number - 90 + 8),
                Some(number @ 100..=107) => self.bg = indexed(number - 100 + 8),
                // Blinking, fonts, frames.
                Some(_) | None => {}
            }
        }
    }

    /// The 16 colours become the theme's own, all are lifted to the floor.
    fn style(self, theme: &Theme, base: Style, ground: Color) -> Style {
        let mut style = base;
        let bg = self.bg.map(|color| match named(color) {
            // A whole ground in a text colour would shout.
            Some(role) if theme.is_readable() => {
                let ground = if ground == Color::Reset { theme.page().color() } else { ground };
                theme.mix(ground, theme.color(role), 0.35)
            }
            Some(_) | None => color,
        });
        if let Some(bg) = bg {
            style = style.bg(bg);
        }
        let ground = bg.unwrap_or(ground);
        if let Some(fg) = self.fg {
            let fg = match named(fg) {
                Some(role) if theme.is_readable() => theme.color(role),
                Some(_) | None => fg,
            };
            style = style.fg(theme.lift(fg, ground, Weight::Primary));
        } else if let (Some(bg), Some(fg)) = (bg, base.fg) {
            style = style.fg(theme.lift(fg, bg, Weight::Primary));
        }
        style.add_modifier(self.modifier)
    }
}

fn indexed(number: u16) -> Option<Color> {
    u8::try_from(number).ok().map(Color::Indexed)
}

/// What follows 38 and 48.
fn extended(numbers: &mut impl Iterator<Item = Option<u16>>) -> Option<Color> {
    let mut byte = || u8::try_from(numbers.next()??).ok();
    match byte()? {
        5 => byte().map(Color::Indexed),
        2 => Some(Color::Rgb(byte()?, byte()?, byte()?)),
        _ => None,
    }
}

/// The role that stands for one of the 16 colours.
const fn named(color: Color) -> Option<Role> {
    let Color::Indexed(index) = color else { return None };
    match index {
        0 | 8 => Some(Role::Muted),
        1 | 9 => Some(Role::Error),
        2 | 10 => Some(Role::Success),
        3 | 11 => Some(Role::Warning),
        4 | 6 | 12 | 14 => Some(Role::Accent),
        5 | 13 => Some(Role::CustomMessageLabel),
        7 | 15 => Some(Role::Text),
        16.. => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::contrast;
    use crate::theme::mix::Rgb;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<Vec<Run>> {
        lines(text, &Theme::quiet_dark(), Style::new(), Color::Reset)
    }

    fn plain(text: &str) -> Vec<String> {
        read(text).iter().map(|line| line.iter().map(|run| run.text.as_str()).collect()).collect()
    }

    #[test]
    fn only_text_is_left() {
        let table: [(&str, &[&str]); 10] = [
            ("", &[""]),
            ("a\nb", &["a", "b"]),
            ("a\r\nb", &["a", "b"]),
            ("10%\r50%\rdone", &["done"]),
            ("bo\u{8}old", &["bold"]),
            ("\u{1b}[2J\u{1b}[1;1Hx", &["x"]),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;u\u{1b}\\y", &["xy"]),
            ("\u{1b}]0;never ended\nnext", &["", "next"]),
            ("\u{1b}(Bx\u{1b}=y\u{1b}", &["xy"]),
            ("\u{1b}[31", &[""]),
        ];
        for (text, expected) in table {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn colours_are_those_of_the_theme() {
        let theme = Theme::quiet_dark();
        let line = &read("\u{1b}[1;31merror\u{1b}[0m: \u{1b}[38;5;208mo\u{1b}[38:2:1:2:3md\u{1b}[39me")[0];
        let texts: Vec<_> = line.iter().map(|run| run.text.as_str()).collect();
        assert_eq!(texts, ["error", ": ", "o", "d", "e"]);
        assert_eq!(line[0].style, Style::new().fg(theme.color(Role::Error)).add_modifier(Modifier::BOLD));
        assert_eq!(line[1].style, Style::new());
        assert_eq!(line[2].style.fg, Some(Color::Rgb(255, 135, 0)));
        let dark = Rgb::of(line[3].style.fg.unwrap()).unwrap();
        assert!(contrast::ratio(dark, theme.page()) >= 4.5, "lifted");
        assert_eq!(line[4].style, Style::new());
        assert_eq!(
            line[4].source,
            "\u{1b}[1;31merror\u{1b}[0m: \u{1b}[38;5;208mo\u{1b}[38:2:1:2:3md\u{1b}[39m".len()
        );
    }

    #[test]
    fn styles_last_over_lines() {
        let lines = read("\u{1b}[32ma\nb");
        assert_eq!(lines[0][0].style, lines[1][0].style);
        assert!(lines[1][0].style.fg.is_some());
    }

    proptest! {
        #[test]
        fn nothing_unsafe_is_left(text in "[a\u{1b}\\[0-9;:mKH\\]\u{7}\r\n\u{8}\u{202e}\u{9b}é]{0,60}") {
            for line in plain(&text) {
                prop_assert!(!line.chars().any(|c| clean::is_unsafe(c) || c == '\n'), "{line:?}");
            }
        }
    }
}
