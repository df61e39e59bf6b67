//! What a terminal answers when it is asked, by kind of terminal.

use super::modes::{Modes, private};
use alacritty_terminal::vte::{Params, Perform};
use ratatui::layout::Size;

/// Pixels of a cell, for terminals that tell.
const CELL: (u32, u32) = (8, 16);

/// The ground of the made-up terminal unless a test sets another: dark.
const DARK: (u8, u8, u8) = (0x1a, 0x1a, 0x1d);

/// Which terminal to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Knows everything modern: keyboard flags, synchronised frames, colours, dark and light.
    Kitty,
    /// The old standard: answers what it is and its colours, has no keyboard flags.
    Xterm,
    /// A multiplexer: answers what it is, has no keyboard flags, doesn't tell its modes.
    Tmux,
    /// As the old standard, with an East Asian font: what may be two columns wide is. It says so when it is asked where
    /// the cursor stands; the cells that a test reads are those of a narrow one.
    Wide,
    /// Looks modern to a program and answers nothing: a bad line, a recorder.
    Mute,
    /// `TERM=dumb`.
    Dumb,
}

impl Profile {
    /// The environment variables that go with it.
    pub fn variables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Kitty => &[("TERM", "xterm-kitty"), ("COLORTERM", "truecolor")],
            Self::Xterm | Self::Wide => &[("TERM", "xterm-256color")],
            Self::Tmux => &[("TERM", "tmux-256color"), ("TMUX", "/tmp/tmux-0/default,1,0")],
            Self::Mute => &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")],
            Self::Dumb => &[("TERM", "dumb")],
        }
    }

    fn answers(self) -> bool {
        match self {
            Self::Kitty | Self::Xterm | Self::Wide | Self::Tmux => true,
            Self::Mute | Self::Dumb => false,
        }
    }
}

/// Where the cursor stands, from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) column: u16,
    pub(super) row: u16,
}

/// Something a program asked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Question {
    /// `CSI c`
    Device,
    /// `CSI > c`
    SecondaryDevice,
    /// `CSI > q`
    Version,
    /// `CSI 5 n`
    Status,
    /// `CSI 6 n`, or `CSI ? 6 n`
    Cursor { is_private: bool },
    /// `CSI ? u`
    Keyboard,
    /// `CSI ? n $ p`
    Mode(u16),
    /// `CSI ? 996 n`: dark or light
    Scheme,
    /// `CSI 14 t` and its like
    Size(u16),
    /// `OSC 10 ; ?` and its like: the number before the question mark, and whether BEL ended it
    Color { name: String, is_bell: bool },
    /// `DCS + q … ST`: a capability
    Capability(String),
}

/// Reads what a program writes, for its questions and switches.
pub(super) struct Answerer {
    profile: Profile,
    size: Size,
    ground: (u8, u8, u8),
    modes: Modes,
    question: Option<Question>,
    /// A capability question that is being read.
    capability: Option<Vec<u8>>,
    /// Characters since the cursor was last moved that are two columns wide in an East Asian font alone.
    widened: u16,
}

impl Answerer {
    pub(super) fn new(profile: Profile, size: Size) -> Self {
        Self {
            profile,
            size,
            ground: DARK,
            modes: Modes::default(),
            question: None,
            capability: None,
            widened: 0,
        }
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
    }

    pub(super) fn set_ground(&mut self, ground: (u8, u8, u8)) {
        self.ground = ground;
    }

    pub(super) fn modes(&self) -> &Modes {
        &self.modes
    }

    /// The answer to the question just read, if there was one.
    pub(super) fn answer(&mut self, cursor: Place) -> Vec<u8> {
        let question = self.question.take().filter(|_| self.profile.answers());
        question.and_then(|question| self.reply(&question, cursor)).unwrap_or_default().into_bytes()
    }

    fn reply(&self, question: &Question, cursor: Place) -> Option<String> {
        let profile = self.profile;
        let is_kitty = profile == Profile::Kitty;
        let reply = match question {
            Question::Device => match profile {
                Profile::Kitty => "\x1b[?62;52;c".to_owned(),
                Profile::Xterm | Profile::Wide => "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c".to_owned(),
                Profile::Tmux | Profile::Mute | Profile::Dumb => "\x1b[?1;2;4c".to_owned(),
            },
            Question::SecondaryDevice => match profile {
                Profile::Kitty => "\x1b[>1;4000;42c".to_owned(),
                Profile::Xterm | Profile::Wide => "\x1b[>41;390;0c".to_owned(),
                Profile::Tmux | Profile::Mute | Profile::Dumb => "\x1b[>84;0;0c".to_owned(),
            },
            Question::Version => match profile {
                Profile::Kitty => "\x1bP>|kitty(0.42.1)\x1b\\".to_owned(),
                Profile::Xterm | Profile::Wide => "\x1bP>|XTerm(390)\x1b\\".to_owned(),
                Profile::Tmux | Profile::Mute | Profile::Dumb => "\x1bP>|tmux 3.5a\x1b\\".to_owned(),
            },
            Question::Status => "\x1b[0n".to_owned(),
            Question::Cursor { is_private } => {
                let mark = if *is_private { "?" } else { "" };
                let widened = if profile == Profile::Wide { u32::from(self.widened) } else { 0 };
                let (row, column) = (u32::from(cursor.row) + 1, u32::from(cursor.column) + 1 + widened);
                format!("\x1b[{mark}{row};{column}R")
            }
            Question::Keyboard if is_kitty => format!("\x1b[?{}u", self.modes.keyboard_flags()),
            Question::Mode(mode) if profile != Profile::Tmux => {
                let state = match (self.modes.is_on(*mode), self.knows(*mode)) {
                    (_, false) => 0,
                    (true, true) => 1,
                    (false, true) => 2,
                };
                format!("\x1b[?{mode};{state}$y")
            }
            Question::Scheme if is_kitty => {
                let (r, g, b) = self.ground;
                let is_dark = u16::from(r) + u16::from(g) + u16::from(b) < 3 * 128;
                format!("\x1b[?997;{}n", if is_dark { 1 } else { 2 })
            }
            Question::Size(which) => {
                let (columns, rows) = (u32::from(self.size.width), u32::from(self.size.height));
                match which {
                    14 => format!("\x1b[4;{};{}t", rows * CELL.1, columns * CELL.0),
                    16 if is_kitty => format!("\x1b[6;{};{}t", CELL.1, CELL.0),
                    18 => format!("\x1b[8;{rows};{columns}t"),
                    _ => return None,
                }
            }
            Question::Color { name, is_bell } => {
                let (r, g, b) = self.color(name);
                let end = if *is_bell { "\x07" } else { "\x1b\\" };
                format!("\x1b]{name};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}{end}")
            }
            Question::Capability(name) if is_kitty => format!("\x1bP0+r{name}\x1b\\"),
            Question::Keyboard | Question::Mode(_) | Question::Scheme | Question::Capability(_) => {
                return None;
            }
        };
        Some(reply)
    }

    fn knows(&self, mode: u16) -> bool {
        let modern = [private::SYNCHRONISED, private::SCHEME_CHANGES];
        !modern.contains(&mode) || self.profile == Profile::Kitty
    }

    /// The foreground is the ground's opposite.
    fn color(&self, name: &str) -> (u8, u8, u8) {
        let (r, g, b) = self.ground;
        if name == "11" { self.ground } else { (255 - r, 255 - g, 255 - b) }
    }

    fn set_private(&mut self, params: &Params, on: bool) {
        for mode in numbers(params) {
            self.modes.set(mode, on);
        }
    }
}

fn numbers(params: &Params) -> impl Iterator<Item = u16> + '_ {
    params.iter().filter_map(|param| param.first().copied())
}

impl Perform for Answerer {
    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        if ignore {
            return;
        }
        if matches!(action, 'H' | 'f' | 'G' | 'd') {
            self.widened = 0;
        }
        let first = numbers(params).next().unwrap_or(0);
        let second = numbers(params).nth(1).unwrap_or(0);
        let flags = u8::try_from(first).unwrap_or(0);
        match (intermediates, action) {
            (b"?", 'h') => self.set_private(params, true),
            (b"?", 'l') => self.set_private(params, false),
            (b">", 'u') => self.modes.push_keyboard(flags),
            (b"<", 'u') => self.modes.pop_keyboard(usize::from(first.max(1))),
            (b"=", 'u') => self.modes.change_keyboard(flags, second),
            (b">", 'm') if first == 4 => self.modes.modify_other_keys = second,
            (b" ", 'q') => self.modes.cursor_shape = first,
            (b"", 'r') => {
                let last = if second == 0 { self.size.height } else { second };
                let is_whole = first <= 1 && last >= self.size.height;
                self.modes.scroll_region = (!is_whole).then_some((first.max(1), last));
            }
            (b"!", 'p') => self.modes.scroll_region = None,
            (b"", 'c') => self.question = Some(Question::Device),
            (b">", 'c') => self.question = Some(Question::SecondaryDevice),
            (b">", 'q') => self.question = Some(Question::Version),
            (b"", 'n') if first == 5 => self.question = Some(Question::Status),
            (b"", 'n') if first == 6 => self.question = Some(Question::Cursor { is_private: false }),
            (b"?", 'n') if first == 6 => self.question = Some(Question::Cursor { is_private: true }),
            (b"?", 'n') if first == 996 => self.question = Some(Question::Scheme),
            (b"?", 'u') => self.question = Some(Question::Keyboard),
            (b"?$", 'p') => self.question = Some(Question::Mode(first)),
            (b"", 't') if first == 22 && second != 1 => self.modes.push_title(),
            (b"", 't') if first == 23 && second != 1 => self.modes.pop_title(),
            (b"", 't') => self.question = Some(Question::Size(first)),
            _ => {}
        }
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], bell_terminated: bool) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match params {
            [b"0" | b"2", title @ ..] => self.modes.title = Some(text(&title.join(&b';'))),
            [b"52", _, content] if *content != b"?" => self.modes.clipboard.push(text(content)),
            [name @ (b"10" | b"11" | b"12"), b"?"] => {
                self.question = Some(Question::Color { name: text(name), is_bell: bell_terminated });
            }
            [b"4", index, b"?"] => {
                let name = format!("4;{}", text(index));
                self.question = Some(Question::Color { name, is_bell: bell_terminated });
            }
            _ => {}
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _ignore: bool, byte: u8) {
        // A full reset.
        if intermediates.is_empty() && byte == b'c' {
            self.modes = Modes::default();
        }
    }

    fn print(&mut self, c: char) {
        use unicode_width::UnicodeWidthChar;
        self.widened += u16::from(c.width() != c.width_cjk());
    }

    fn execute(&mut self, byte: u8) {
        if byte == b'\r' {
            self.widened = 0;
        }
        if byte == 0x07 {
            self.modes.bells += 1;
        }
    }

    fn hook(&mut self, _params: &Params, intermediates: &[u8], _ignore: bool, action: char) {
        self.capability = (intermediates == b"+" && action == 'q').then(Vec::new);
    }

    fn put(&mut self, byte: u8) {
        if let Some(capability) = &mut self.capability {
            capability.push(byte);
        }
    }

    fn unhook(&mut self) {
        let name = self.capability.take();
        self.question = name.map(|name| Question::Capability(String::from_utf8_lossy(&name).into_owned()));
    }

    fn terminated(&self) -> bool {
        self.question.is_some()
    }
}
