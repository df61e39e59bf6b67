//! What to do with a text that looks wrong: hear the whole window, then take less likely tokens.

/// Text that can be written this many times shorter repeats itself.
const COMPRESSION: f32 = 2.4;
/// A mean log-probability of a token below this is guessing.
const LOG_PROBABILITY: f32 = -1.0;
/// Above this nobody speaks, unless the text is good.
const NO_SPEECH: f32 = 0.6;
/// Steps of temperature, in tenths, and its end.
const STEP: u8 = 2;
const HOTTEST: u8 = 10;
/// Tokens that repeat what stands before them, from which on they are a loop,
const LOOP_TOKENS: usize = 24;
/// and how often they say the same, at least.
const LOOP_TURNS: usize = 4;
/// Tokens of one turn, at most.
const LONGEST_TURN: usize = 32;

/// One way to decode a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The full window, and not only what was said.
    pub is_whole: bool,
    /// In tenths; 0 takes the likeliest token.
    pub temperature: u8,
}

/// How good a text is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// There is none.
    pub is_empty: bool,
    /// It ran into a loop, or did not end in reasonable time.
    pub is_endless: bool,
    /// See [`compression`].
    pub compression: f32,
    /// Mean over its tokens, its end included.
    pub log_probability: f32,
    /// The probability that nobody speaks.
    pub no_speech: f32,
}

/// What is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is taken.
    Good,
    /// Nobody speaks.
    Nothing,
    /// It repeats itself, or was guessed.
    Poor,
}

impl Quality {
    /// Judges it.
    pub fn verdict(&self) -> Verdict {
        let is_guessed = self.log_probability < LOG_PROBABILITY;
        if self.is_empty || (self.no_speech > NO_SPEECH && is_guessed) {
            Verdict::Nothing
        } else if self.is_endless || self.compression > COMPRESSION || is_guessed {
            Verdict::Poor
        } else {
            Verdict::Good
        }
    }

    /// This one is rather to be taken, where none is good.
    pub fn is_better_than(&self, other: &Self) -> bool {
        let repeats = |quality: &Self| quality.is_endless || quality.compression > COMPRESSION;
        match (repeats(self), repeats(other)) {
            (false, true) => true,
            (true, false) => false,
            _ => self.log_probability > other.log_probability,
        }
    }
}

impl Attempt {
    /// The first one.
    pub const FIRST: Self = Self { is_whole: false, temperature: 0 };

    /// The one after this; `None` if this one's text is taken, or there is no other way.
    pub fn next(self, verdict: Verdict) -> Option<Self> {
        match verdict {
            Verdict::Good => None,
            _ if !self.is_whole => Some(Self { is_whole: true, temperature: 0 }),
            Verdict::Nothing => None,
            Verdict::Poor => {
                let temperature = self.temperature + STEP;
                (temperature <= HOTTEST).then_some(Self { temperature, ..self })
            }
        }
    }
}

/// How many times shorter a text gets when what stands in it already is only pointed at: three bytes for each pointer,
/// as in deflate, but without its shorter codes for frequent letters.
pub fn compression(text: &str) -> f32 {
    /// Shorter repetitions are not worth a pointer.
    const SHORTEST: usize = 4;
    const POINTER: usize = 3;
    let bytes = text.as_bytes();
    let (mut at, mut written) = (0, 0);
    while at < bytes.len() {
        let known = (0..at).map(|from| common(bytes, from, at)).max().unwrap_or_default();
        let (read, wrote) = if known >= SHORTEST { (known, POINTER) } else { (1, 1) };
        at += read;
        written += wrote;
    }
    bytes.len() as f32 / written.max(1) as f32
}

/// Bytes that are the same from two places on.
fn common(bytes: &[u8], from: usize, at: usize) -> usize {
    let (old, new) = (bytes.get(from..).unwrap_or_default(), bytes.get(at..).unwrap_or_default());
    old.iter().zip(new).take_while(|(old, new)| old == new).count()
}

/// Tokens at the end that only repeat what stands before them, if they are so many that the model is in a loop.
pub fn surplus(tokens: &[u32]) -> Option<usize> {
    (1..=LONGEST_TURN).find_map(|turn| {
        let same =
            tokens.iter().rev().zip(tokens.iter().rev().skip(turn)).take_while(|(a, b)| a == b).count();
        let turns = same / turn + 1;
        (turns >= LOOP_TURNS && turns * turn >= LOOP_TOKENS).then_some(same / turn * turn)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: Quality = Quality {
        is_empty: false,
        is_endless: false,
        compression: 1.3,
        log_probability: -0.3,
        no_speech: 0.1,
    };

    #[test]
    fn verdicts() {
        for (quality, verdict) in [
            (FINE, Verdict::Good),
            (Quality { is_empty: true, ..FINE }, Verdict::Nothing),
            (Quality { is_endless: true, ..FINE }, Verdict::Poor),
            (Quality { compression: 2.5, ..FINE }, Verdict::Poor),
            (Quality { compression: 2.3, ..FINE }, Verdict::Good),
            (Quality { log_probability: -1.1, ..FINE }, Verdict::Poor),
            (Quality { log_probability: -1.1, no_speech: 0.7, ..FINE }, Verdict::Nothing),
            (Quality { no_speech: 0.7, ..FINE }, Verdict::Good),
        ] {
            assert_eq!(quality.verdict(), verdict, "{quality:?}");
        }
    }

    #[test]
    fn attempts_in_order() {
        let way = |verdict| {
            let mut all = vec![Attempt::FIRST];
            while let Some(next) = all.last().unwrap().next(verdict) {
                all.push(next);
            }
            all.iter().map(|attempt| (attempt.is_whole, attempt.temperature)).collect::<Vec<_>>()
        };
        assert_eq!(way(Verdict::Good), [(false, 0)]);
        assert_eq!(way(Verdict::Nothing), [(false, 0), (true, 0)]);
        assert_eq!(
            way(Verdict::Poor),
            [(false, 0), (true, 0), (true, 2), (true, 4), (true, 6), (true, 8), (true, 10)]
        );
    }

    #[test]
    fn the_better_of_two_poor_ones() {
        let (repeating, guessed) =
            (Quality { compression: 5.0, ..FINE }, Quality { log_probability: -2.0, ..FINE });
        assert!(guessed.is_better_than(&repeating) && !repeating.is_better_than(&guessed));
        assert!(FINE.is_better_than(&guessed) && !guessed.is_better_than(&FINE));
    }

    #[test]
    fn text_that_repeats_itself_compresses() {
        for text in ["", "a", "Please open the file and rename the function.", "No, no, no. That is not it."]
        {
            assert!(compression(text) < 2.0, "{text}");
        }
        assert!(compression(&"Thank you. ".repeat(10)) > COMPRESSION);
        assert!(compression(&"ha".repeat(40)) > COMPRESSION);
    }

    #[test]
    fn loops_are_found_and_measured() {
        let repeated =
            |turn: &[u32], times: usize| [9, 8].into_iter().chain(turn.repeat(times)).collect::<Vec<_>>();
        assert_eq!(surplus(&repeated(&[1], 23)), None);
        assert_eq!(surplus(&repeated(&[1], 24)), Some(23));
        assert_eq!(surplus(&repeated(&[1, 2, 3], 8)), Some(21));
        assert_eq!(surplus(&repeated(&[1, 2, 3, 4, 5, 6, 7], 3)), None);
        assert_eq!(surplus(&repeated(&[1, 2, 3, 4, 5, 6, 7], 4)), Some(21));
        assert_eq!(surplus(&[]), None);
    }
}
