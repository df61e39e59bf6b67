//! What turns: frames of three braille cells, a grid of 6 by 4 dots. All spinners follow one clock and turn in step.

use std::borrow::Cow;
use std::time::Duration;

/// A spinner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spinner {
    /// Waits for an answer.
    Ping,
    /// Thinks.
    Helix,
    /// Writes a call.
    PrintHead,
    /// Runs something.
    Comet,
    /// Writes a reply: runs with the stream, not with the clock.
    Wave,
    /// A wait that ends by itself.
    Drain,
}

/// Columns of a frame.
pub const COLUMNS: usize = 3;

const PING: &[&str] = &["⠀⠶⠀", "⢸⣉⡇", "⣏⠀⣹", "⡁⠀⢈", "⠀⠀⠀", "⠀⠀⠀"];
const HELIX: &[&str] = &[
    "⢌⡱⢎",
    "⠶⡱⢎",
    "⡱⣉⢎",
    "⡱⢎⠶",
    "⡱⢎⡱",
    "⣉⢎⡱",
    "⣉⠶⣉",
    "⢎⡱⣉",
    "⢎⡱⢎",
    "⠶⡱⢎",
    "⡱⣉⢎",
    "⡱⢎⠶",
    "⡱⢎⡱",
    "⣉⢎⡱",
    "⣉⠶⣉",
    "⢎⡱⣉",
];
const PRINT_HEAD: &[&str] = &["⡇⠀⠀", "⣿⠀⠀", "⣺⡇⠀", "⢐⣿⠀", "⠀⣺⡇", "⠀⢐⣿", "⠀⠀⣿", "⠀⢸⣗", "⠀⣿⡂", "⢸⣗⠀"];
const COMET: &[&str] = &["⠎⠀⠀", "⠊⠁⠀", "⠈⠉⠀", "⠀⠉⠁", "⠀⠈⠑", "⠀⠀⠱", "⠀⠀⡰", "⠀⢀⡠", "⠀⣀⡀", "⢀⣀⠀", "⢄⡀⠀", "⢆⠀⠀"];
const WAVE: &[&str] = &[
    "⢄⡠⠊",
    "⠢⣀⠊",
    "⠡⣀⠔",
    "⠑⢄⠔",
    "⠑⢄⡠",
    "⠉⢂⡠",
    "⠉⠢⣀",
    "⠊⠑⣀",
    "⠊⠑⢄",
    "⠔⠉⢄",
    "⡐⠉⠢",
    "⡠⠊⠢",
    "⡠⠊⠑",
    "⣀⠌⠑",
    "⣀⠔⠉",
    "⢄⡠⠉",
];
const DOTS: usize = 24;

impl Spinner {
    /// Time of one frame, on the grid of 40 ms that all animations share: what moves together costs one write.
    pub const fn cadence(self) -> Duration {
        Duration::from_millis(match self {
            Self::Ping | Self::Drain => 160,
            Self::Helix | Self::PrintHead | Self::Comet | Self::Wave => 80,
        })
    }

    /// The frame at this time of the shared clock. [`Self::Drain`] follows no clock; here it is full.
    pub fn at(self, clock: Duration) -> Cow<'static, str> {
        let frame = clock.as_millis() / self.cadence().as_millis();
        self.frame(usize::try_from(frame).unwrap_or(0))
    }

    /// The frame that stands for it where nothing moves.
    pub fn still(self) -> Cow<'static, str> {
        self.frame(match self {
            Self::Ping | Self::PrintHead => 2,
            Self::Helix | Self::Comet | Self::Wave | Self::Drain => 0,
        })
    }

    /// How many frames there are before they begin anew.
    pub const fn count(self) -> usize {
        match self {
            Self::Ping => PING.len(),
            Self::Helix => HELIX.len(),
            Self::PrintHead => PRINT_HEAD.len(),
            Self::Comet => COMET.len(),
            Self::Wave => WAVE.len(),
            Self::Drain => DOTS + 1,
        }
    }

    /// A frame; behind the last one they begin anew.
    pub fn frame(self, index: usize) -> Cow<'static, str> {
        let index = index % self.count();
        let frames = match self {
            Self::Ping => PING,
            Self::Helix => HELIX,
            Self::PrintHead => PRINT_HEAD,
            Self::Comet => COMET,
            Self::Wave => WAVE,
            Self::Drain => return Cow::Owned(drain(index)),
        };
        Cow::Borrowed(frames.get(index).copied().unwrap_or("⠀⠀⠀"))
    }
}

/// All dots but the first `gone`, counted by columns from the right, each from its top.
fn drain(gone: usize) -> String {
    const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    let mut cells = [0_u8; COLUMNS];
    for dot in gone..DOTS {
        let column = 5 - dot / 4;
        let bit = BITS.get(column % 2).and_then(|bits| bits.get(dot % 4));
        if let (Some(cell), Some(bit)) = (cells.get_mut(column / 2), bit) {
            *cell |= bit;
        }
    }
    cells.iter().filter_map(|cell| char::from_u32(0x2800 + u32::from(*cell))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::width;

    const ALL: [Spinner; 6] =
        [Spinner::Ping, Spinner::Helix, Spinner::PrintHead, Spinner::Comet, Spinner::Wave, Spinner::Drain];

    #[test]
    fn every_frame_takes_three_columns() {
        for spinner in ALL {
            for index in 0..spinner.count() {
                assert_eq!(width::of(&spinner.frame(index)), COLUMNS, "{spinner:?} {index}");
            }
            assert_eq!(spinner.frame(spinner.count()), spinner.frame(0));
            assert_eq!(spinner.cadence().as_millis() % 40, 0);
        }
    }

    #[test]
    fn frames_and_counts() {
        let table = [
            (Spinner::Ping, 6, "⣏⠀⣹", "⢸⣉⡇"),
            (Spinner::Helix, 16, "⢌⡱⢎", "⠶⡱⢎"),
            (Spinner::PrintHead, 10, "⣺⡇⠀", "⣿⠀⠀"),
            (Spinner::Comet, 12, "⠎⠀⠀", "⠊⠁⠀"),
            (Spinner::Wave, 16, "⢄⡠⠊", "⠢⣀⠊"),
            (Spinner::Drain, 25, "⣿⣿⣿", "⣿⣿⣷"),
        ];
        for (spinner, count, still, second) in table {
            assert_eq!(spinner.count(), count);
            assert_eq!(spinner.still(), still);
            assert_eq!(spinner.at(spinner.cadence()), second, "{spinner:?}");
            assert_eq!(spinner.at(spinner.cadence() * 2 - Duration::from_millis(1)), second);
        }
    }

    #[test]
    fn it_drains_from_the_right() {
        let table = [(0, "⣿⣿⣿"), (1, "⣿⣿⣷"), (4, "⣿⣿⡇"), (8, "⣿⣿⠀"), (23, "⡀⠀⠀"), (24, "⠀⠀⠀")];
        for (gone, frame) in table {
            assert_eq!(Spinner::Drain.frame(gone), frame, "{gone}");
        }
    }
}
