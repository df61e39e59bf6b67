//! Characters of a terminal program as actions on a screen. Only what progress displays use is told apart; colours and
//! everything else vanish. An emulator of others would do that too, but none tells which line a program wrote last and
//! when it left it, and that is the question here; the sequences that matter are about fifteen.

/// What happens on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A character at the cursor.
    Print(char),
    /// To the begin of the line.
    Return,
    /// To the begin of the next line. Output without a terminal has no carriage returns.
    Feed,
    /// Lines up or down, the column stays.
    Up(usize),
    /// See [`Action::Up`].
    Down(usize),
    /// Columns.
    Left(usize),
    /// Columns.
    Right(usize),
    /// To a column, the first is 0.
    Column(usize),
    /// To a line and a column, the first are 0.
    Place(usize, usize),
    /// From the cursor to the end of the line.
    EraseRight,
    /// The whole line.
    EraseLine,
    /// From the cursor to the end of the screen.
    EraseBelow,
    /// The whole screen.
    EraseAll,
    /// Remembers the cursor.
    Save,
    /// Back to the remembered cursor.
    Restore,
}

/// Place within a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    /// After ESC.
    Begun,
    /// After ESC and an intermediate character: one more ends it.
    Short,
    /// After ESC `[`.
    Control,
    /// In a title or another text for the terminal.
    Text,
}

/// Turns characters into actions; a sequence may be cut anywhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Escapes {
    place: Place,
    /// The first two parameters; nothing where none was written.
    parameters: [Option<usize>; 2],
    /// Which of them is being written; more than two are passed over.
    current: usize,
    /// A private sequence (`ESC [ ?`): none of them moves the cursor.
    private: bool,
}

impl Escapes {
    /// The next character.
    pub fn next(&mut self, character: char) -> Option<Action> {
        // These act at once and end every sequence: noise must not swallow the rest of the output.
        match character {
            '\n' => return self.end(Some(Action::Feed)),
            '\r' => return self.end(Some(Action::Return)),
            '\u{1b}' => {
                *self = Self { place: Place::Begun, ..Self::default() };
                return None;
            }
            '\u{18}' | '\u{1a}' => return self.end(None),
            _ => {}
        }
        match self.place {
            Place::Outside => outside(character),
            Place::Begun => self.begun(character),
            Place::Short => self.end(None),
            Place::Control => self.control(character),
            Place::Text => {
                if character == '\u{7}' {
                    self.place = Place::Outside;
                }
                None
            }
        }
    }

    /// A sequence is finished.
    fn end(&mut self, action: Option<Action>) -> Option<Action> {
        self.place = Place::Outside;
        action
    }

    fn begun(&mut self, character: char) -> Option<Action> {
        match character {
            '[' => self.place = Place::Control,
            ']' | 'P' | 'X' | '^' | '_' => self.place = Place::Text,
            ' '..='/' => self.place = Place::Short,
            '7' => return self.end(Some(Action::Save)),
            '8' => return self.end(Some(Action::Restore)),
            'M' => return self.end(Some(Action::Up(1))),
            'E' => return self.end(Some(Action::Feed)),
            'D' => return self.end(Some(Action::Down(1))),
            _ => self.place = Place::Outside,
        }
        None
    }

    fn control(&mut self, character: char) -> Option<Action> {
        match character {
            '0'..='9' => {
                if let Some(parameter) = self.parameters.get_mut(self.current) {
                    let digit = character.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
                    let number = parameter.unwrap_or(0).saturating_mul(10);
                    *parameter = Some(number.saturating_add(digit.unwrap_or(0)));
                }
                None
            }
            ';' | ':' => {
                self.current = self.current.saturating_add(1);
                None
            }
            '<'..='?' => {
                self.private = true;
                None
            }
            ' '..='/' => {
                self.place = Place::Short;
                None
            }
            '@'..='~' => {
                let action = if self.private { None } else { self.finished(character) };
                self.end(action)
            }
            _ => self.end(None),
        }
    }

    fn finished(&self, last: char) -> Option<Action> {
        let [first, second] = self.parameters;
        // Zero means one, as nothing does.
        let count = first.unwrap_or(1).max(1);
        let index = |parameter: Option<usize>| parameter.unwrap_or(1).saturating_sub(1);
        Some(match (last, first.unwrap_or(0)) {
            ('A' | 'F', _) => Action::Up(count),
            ('B' | 'E', _) => Action::Down(count),
            ('C' | 'a', _) => Action::Right(count),
            ('D', _) => Action::Left(count),
            ('G' | '`', _) => Action::Column(index(first)),
            ('H' | 'f', _) => Action::Place(index(first), index(second)),
            ('K', 0) => Action::EraseRight,
            ('K', 2) => Action::EraseLine,
            ('J', 0) => Action::EraseBelow,
            ('J', 2 | 3) => Action::EraseAll,
            ('s', _) => Action::Save,
            ('u', _) => Action::Restore,
            _ => return None,
        })
    }
}

fn outside(character: char) -> Option<Action> {
    match character {
        '\u{8}' => Some(Action::Left(1)),
        '\t' => Some(Action::Print(' ')),
        _ if character.is_control() || turns_direction(character) => None,
        _ => Some(Action::Print(character)),
    }
}

/// Marks that reorder what is read.
const fn turns_direction(character: char) -> bool {
    matches!(character,
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
