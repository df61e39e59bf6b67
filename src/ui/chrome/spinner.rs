//! What turns: frames of three braille cells, a grid of 6 by 4 dots. All spinners follow one clock and turn in step.
//!
//! Each has a pace of its own, but is looked at on a grid of 40 ms: what moves together costs one write.

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
    /// Everything that runs waits for another agent.
    TwoComets,
    /// Writes a reply: runs with the stream, not with the clock.
    Wave,
    /// Makes a conversation small.
    Squeeze,
    /// A wait that ends by itself.
    Drain,
    /// Reads another branch, row by row.
    Snake,
}

/// Columns of a frame.
pub const COLUMNS: usize = 3;

/// All animations change on multiples of this.
pub const GRID: Duration = Duration::from_millis(40);

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
const TWO_COMETS: &[&str] = &["⠊⠀⡠", "⠈⢁⡀", "⠀⣉⠀", "⢀⡈⠁", "⢄⠀⠑", "⠆⠀⠰"];
const SQUEEZE: &[&str] = &["⡁⠀⢈", "⣏⠀⣹", "⢸⣉⡇", "⠀⠶⠀", "⠀⠶⠀", "⠀⠀⠀", "⠀⠀⠀"];
const DOTS: usize = 24;
/// Dots of the snake.
const SNAKE: usize = 5;

impl Spinner {
    /// Time of one frame.
    pub const fn pace(self) -> Duration {
        Duration::from_millis(match self {
            Self::Ping => 130,
            Self::Helix | Self::TwoComets => 75,
            Self::PrintHead => 60,
            Self::Comet | Self::Wave => 70,
            Self::Squeeze => 120,
            Self::Drain => 140,
            Self::Snake => 50,
        })
    }

    /// How often it is looked at: its pace on the grid.
    pub const fn cadence(self) -> Duration {
        let steps = self.pace().as_millis().div_ceil(GRID.as_millis());
        Duration::from_millis(if steps > 5 { 200 } else { steps as u64 * 40 })
    }

    /// The frame at this time of the shared clock. [`Self::Drain`] and [`Self::Wave`] follow no clock where more is known.
    pub fn at(self, clock: Duration) -> Cow<'static, str> {
        let cadence = self.cadence().as_millis();
        let frame = clock.as_millis() / cadence * cadence / self.pace().as_millis();
        self.frame(usize::try_from(frame).unwrap_or(0))
    }

    /// The frame that stands for it where nothing moves.
    pub fn still(self) -> Cow<'static, str> {
        self.frame(match self {
            Self::Ping | Self::PrintHead => 2,
            Self::Squeeze => 3,
            Self::Helix | Self::Comet | Self::TwoComets | Self::Wave | Self::Drain | Self::Snake => 0,
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
            Self::TwoComets => TWO_COMETS.len(),
            Self::Squeeze => SQUEEZE.len(),
            Self::Drain => DOTS + 1,
            Self::Snake => 2 * DOTS,
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
            Self::TwoComets => TWO_COMETS,
            Self::Squeeze => SQUEEZE,
            Self::Drain => return Cow::Owned(drain(index)),
            Self::Snake => return Cow::Owned(snake(index)),
        };
        Cow::Borrowed(frames.get(index).copied().unwrap_or("⠀⠀⠀"))
    }
}

/// All dots but the first `gone`, counted by columns from the right, each from its top.
fn drain(gone: usize) -> String {
    cells((gone..DOTS).map(|dot| (5 - dot / 4, dot % 4)))
}

/// It walks along the rows, every other one from the right, and all the way back.
fn snake(head: usize) -> String {
    let on_way = |step: usize| if step < DOTS { step } else { 2 * DOTS - 1 - step };
    cells((0..SNAKE).map(|behind| {
        let dot = on_way((head + 2 * DOTS - behind) % (2 * DOTS));
        let (row, column) = (dot / 6, dot % 6);
        (if row % 2 == 0 { column } else { 5 - column }, row)
    }))
}

/// Cells in which these dots are lit, by column and row.
pub(super) fn cells(dots: impl Iterator<Item = (usize, usize)>) -> String {
    const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    let mut cells = [0_u8; COLUMNS];
    for (column, row) in dots {
        let bit = BITS.get(column % 2).and_then(|bits| bits.get(row));
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

    const ALL: [Spinner; 9] = [
        Spinner::Ping,
        Spinner::Helix,
        Spinner::PrintHead,
        Spinner::Comet,
        Spinner::TwoComets,
        Spinner::Wave,
        Spinner::Squeeze,
        Spinner::Drain,
        Spinner::Snake,
    ];

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
    fn frames_paces_and_counts() {
        // Milliseconds of a frame and of a look, frames, the still one, the one at the second look.
        let table = [
            (Spinner::Ping, 130, 160, 6, "⣏⠀⣹", "⢸⣉⡇"),
            (Spinner::Helix, 75, 80, 16, "⢌⡱⢎", "⠶⡱⢎"),
            (Spinner::PrintHead, 60, 80, 10, "⣺⡇⠀", "⣿⠀⠀"),
            (Spinner::Comet, 70, 80, 12, "⠎⠀⠀", "⠊⠁⠀"),
            (Spinner::TwoComets, 75, 80, 6, "⠊⠀⡠", "⠈⢁⡀"),
            (Spinner::Wave, 70, 80, 16, "⢄⡠⠊", "⠢⣀⠊"),
            (Spinner::Squeeze, 120, 120, 7, "⠀⠶⠀", "⣏⠀⣹"),
            (Spinner::Drain, 140, 160, 25, "⣿⣿⣿", "⣿⣿⣷"),
            (Spinner::Snake, 50, 80, 48, "⠉⠉⠀", "⠉⠁⠀"),
        ];
        for (spinner, pace, cadence, count, still, second) in table {
            assert_eq!((spinner.pace().as_millis(), spinner.cadence().as_millis()), (pace, cadence));
            assert_eq!(spinner.count(), count);
            assert_eq!(spinner.still(), still, "{spinner:?}");
            assert_eq!(spinner.at(spinner.cadence()), second, "{spinner:?}");
            assert_eq!(spinner.at(spinner.cadence() * 2 - Duration::from_millis(1)), second);
        }
        // A minute later it is where its own pace has brought it: 60,000 / 75 = 50 rounds of 16.
        assert_eq!(Spinner::Helix.at(Duration::from_secs(60)), Spinner::Helix.frame(0));
        assert_eq!(Spinner::Helix.at(Duration::from_millis(60_160)), Spinner::Helix.frame(2));
    }

    #[test]
    fn the_snake_walks_there_and_back() {
        let dots = |frame: &str| frame.chars().map(|c| (u32::from(c) - 0x2800).count_ones()).sum::<u32>();
        let frames: Vec<_> = (0..48).map(|index| Spinner::Snake.frame(index).into_owned()).collect();
        assert_eq!(frames[4], "⠉⠉⠁");
        assert_eq!(frames[8], "⠀⠐⠛");
        assert_eq!(frames[23], "⣀⣀⡀");
        assert!(frames[4..24].iter().all(|frame| dots(frame) == 5), "{frames:?}");
        assert!(frames.iter().all(|frame| (3..=5).contains(&dots(frame))), "{frames:?}");
    }

    #[test]
    fn it_drains_from_the_right() {
        let table = [(0, "⣿⣿⣿"), (1, "⣿⣿⣷"), (4, "⣿⣿⡇"), (8, "⣿⣿⠀"), (23, "⡀⠀⠀"), (24, "⠀⠀⠀")];
        for (gone, frame) in table {
            assert_eq!(Spinner::Drain.frame(gone), frame, "{gone}");
        }
    }
}
