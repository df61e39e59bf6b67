//! Greedy decoding of transducers: RNN-T, and TDT (Xu et al. 2023), which also says how many frames to skip.

use super::config::TransducerConfig;
use super::joint::Joint;
use super::prediction::{Prediction, State};
use crate::dictation::transcriber::{Cancel, SpeechError};
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{Result, Tensor};

/// A piece that was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// The piece's number.
    pub token: u32,
    /// The frame at which it was heard.
    pub frame: usize,
    /// Frames that it takes.
    pub duration: usize,
}

/// A transducer with its weights.
pub struct Transducer {
    config: TransducerConfig,
    pub(super) prediction: Prediction,
    pub(super) joint: Joint,
}

impl Transducer {
    /// For frames of this size.
    ///
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(
        weights: &dyn Weights,
        config: &TransducerConfig,
        frame: usize,
    ) -> std::result::Result<Self, ModelError> {
        let prediction = Prediction::new(weights, config)?;
        Ok(Self { prediction, joint: Joint::new(weights, config, frame)?, config: config.clone() })
    }

    /// Decodes `(frames, hidden)`.
    ///
    /// # Errors
    /// The flag went up, or the shapes do not fit.
    pub fn decode(
        &self,
        frames: &Tensor,
        cancel: &Cancel,
    ) -> std::result::Result<Vec<Emission>, SpeechError> {
        let mut state = self.prediction.start();
        let said = self.prediction.step(&mut state, self.config.blank)?;
        let frames = self.joint.project(frames)?.to_vec2()?;
        let mut listener = Networks { transducer: self, frames: &frames, state, said };
        greedy(&mut listener, frames.len(), &self.config, cancel)
    }
}

/// What greedy decoding asks.
trait Listener {
    /// The best piece at a frame after what was accepted, and the best duration by number.
    fn best(&mut self, frame: usize) -> Result<(u32, usize)>;
    /// A piece was written.
    fn accept(&mut self, token: u32) -> Result<()>;
}

/// The networks at work on an utterance.
struct Networks<'a> {
    transducer: &'a Transducer,
    frames: &'a [Vec<f32>],
    state: State,
    /// What the prediction network said after the last piece.
    said: Vec<f32>,
}

impl Listener for Networks<'_> {
    fn best(&mut self, frame: usize) -> Result<(u32, usize)> {
        let frame = self.frames.get(frame).map(Vec::as_slice).unwrap_or_default();
        let scores = self.transducer.joint.scores(frame, &self.said)?;
        let pieces = self.transducer.config.vocabulary.min(scores.len());
        let (pieces, durations) = scores.split_at(pieces);
        Ok((u32::try_from(largest(pieces)).unwrap_or(u32::MAX), largest(durations)))
    }

    fn accept(&mut self, token: u32) -> Result<()> {
        self.said = self.transducer.prediction.step(&mut self.state, token)?;
        Ok(())
    }
}

/// Number of the largest value, the first of equal ones.
pub fn largest(values: &[f32]) -> usize {
    let mut best = (0, f32::NEG_INFINITY);
    for (index, value) in values.iter().enumerate() {
        if *value > best.1 {
            best = (index, *value);
        }
    }
    best.0
}

/// NeMo's rules: blank moves on, at least by one frame; a piece moves on by its duration, and may stay; whoever stays at
/// a frame for too many pieces is moved on by one.
fn greedy(
    listener: &mut impl Listener,
    frames: usize,
    config: &TransducerConfig,
    cancel: &Cancel,
) -> std::result::Result<Vec<Emission>, SpeechError> {
    let mut heard = Vec::new();
    let mut frame = 0;
    let mut symbols = 0;
    while frame < frames {
        cancel.check()?;
        let (token, duration) = listener.best(frame)?;
        let is_blank = token == config.blank;
        let duration = config.durations.get(duration).copied().unwrap_or_default();
        if !is_blank {
            heard.push(Emission { token, frame, duration });
            listener.accept(token)?;
        }
        symbols += 1;
        let stays = duration == 0 && !is_blank && symbols < config.most_symbols;
        if !stays {
            frame += duration.max(1);
            symbols = 0;
        }
    }
    Ok(heard)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers from a list, frame by frame.
    struct Script {
        answers: Vec<(usize, u32, usize)>,
        accepted: Vec<u32>,
        cancel: Option<(Cancel, usize)>,
    }

    impl Listener for Script {
        fn best(&mut self, frame: usize) -> Result<(u32, usize)> {
            if let Some((cancel, at)) = &self.cancel
                && frame == *at
            {
                cancel.cancel();
            }
            let (expected, token, duration) = self.answers.remove(0);
            assert_eq!(frame, expected);
            Ok((token, duration))
        }

        fn accept(&mut self, token: u32) -> Result<()> {
            self.accepted.push(token);
            Ok(())
        }
    }

    const BLANK: u32 = 9;

    fn config(durations: &[usize], most_symbols: usize) -> TransducerConfig {
        let durations = durations.to_vec();
        TransducerConfig {
            vocabulary: 10,
            blank: BLANK,
            hidden: 1,
            layers: 1,
            joint: 1,
            durations,
            most_symbols,
        }
    }

    fn run(
        answers: &[(usize, u32, usize)],
        frames: usize,
        config: &TransducerConfig,
    ) -> Vec<(u32, usize, usize)> {
        let mut script = Script { answers: answers.to_vec(), accepted: Vec::new(), cancel: None };
        let heard = greedy(&mut script, frames, config, &Cancel::default()).unwrap();
        assert!(script.answers.is_empty(), "{} answers were not asked for", script.answers.len());
        assert_eq!(script.accepted, heard.iter().map(|emission| emission.token).collect::<Vec<_>>());
        heard.iter().map(|emission| (emission.token, emission.frame, emission.duration)).collect()
    }

    #[test]
    fn durations_skip_and_blank_never_stays() {
        let config = config(&[0, 1, 2, 3, 4], 10);
        let answers = [(0, 1, 0), (0, BLANK, 0), (1, 2, 3), (4, BLANK, 2), (6, 3, 4)];
        assert_eq!(run(&answers, 8, &config), [(1, 0, 0), (2, 1, 3), (3, 6, 4)]);
    }

    #[test]
    fn who_stays_too_long_is_moved_on() {
        let config = config(&[0, 1], 3);
        let answers = [(0, 1, 0), (0, 2, 0), (0, 3, 0), (1, BLANK, 1), (2, 4, 0), (2, 5, 1)];
        assert_eq!(run(&answers, 3, &config), [(1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 2, 0), (5, 2, 1)]);
    }

    #[test]
    fn the_last_allowed_piece_may_move_on_by_itself() {
        let config = config(&[0, 2], 2);
        let answers = [(0, 1, 0), (0, 2, 1), (2, BLANK, 1)];
        assert_eq!(run(&answers, 3, &config), [(1, 0, 0), (2, 0, 2)]);
    }

    #[test]
    fn without_durations_blank_moves_by_one() {
        let config = config(&[], 10);
        let answers = [(0, 1, 0), (0, BLANK, 0), (1, 2, 0), (1, 3, 0), (1, BLANK, 0)];
        assert_eq!(run(&answers, 2, &config), [(1, 0, 0), (2, 1, 0), (3, 1, 0)]);
        assert_eq!(run(&[], 0, &config), []);
    }

    #[test]
    fn a_flag_ends_it() {
        let cancel = Cancel::default();
        let mut script = Script {
            answers: vec![(0, BLANK, 0), (1, BLANK, 0)],
            accepted: Vec::new(),
            cancel: Some((cancel.clone(), 1)),
        };
        let error = greedy(&mut script, 5, &config(&[], 10), &cancel);
        assert!(matches!(error, Err(SpeechError::Cancelled)));
    }

    #[test]
    fn the_first_of_equals_is_the_largest() {
        assert_eq!(largest(&[1.0, 3.0, 3.0, f32::NAN]), 1);
        assert_eq!(largest(&[]), 0);
    }
}
