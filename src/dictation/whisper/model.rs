//! A Whisper in memory, and how it makes text of sound.
//!
//! - Sound longer than a window is cut where it is quietest, and nothing of it is left out ([`window`]).
//! - The window ends half a second behind the sound: the encoder's cost grows with it, and the published models write
//!   the same words. Where the text is empty, repeats itself or was guessed, the full window is heard, as in training,
//!   and then less likely tokens are tried ([`attempt`]).
//! - Text is written without tokens for times; words get theirs from where the decoder looked ([`alignment`]).

use super::alignment;
use super::attempt::{self, Attempt, Quality, Verdict};
use super::config::{Config, Generation};
use super::decoder::{Decoder, State};
use super::encoder::Encoder;
use super::vector::{log_sum_exp, maximum};
use super::vocabulary::Vocabulary;
use super::window;
use crate::dictation::audio::SAMPLE_RATE;
use crate::dictation::log_mel::whisper::{HOP, LogMel};
use crate::dictation::transcriber::{Ask, Cancel, ModelInfo, SpeechError, Transcriber, Transcript, Word};
use crate::dictation::weights::{ModelError, Weights};
use crate::proto::voice::Precision;
use candle_core::Tensor;

/// Feature frames of silence behind the sound in a cut window: half a second.
const TAIL: usize = SAMPLE_RATE / 2 / HOP;
/// Samples of an encoder frame.
const FRAME: usize = 2 * HOP;
/// Tokens that nobody speaks in a second, in no language,
const TOKENS_PER_SECOND: usize = 40;
/// and those that even the shortest sound may have.
const FEWEST_TOKENS: usize = 32;
/// Sound that overfills the decoder is halved, but not below this.
const SHORTEST_HALF: usize = 2 * SAMPLE_RATE;

/// A Whisper in memory.
pub struct Whisper {
    config: Config,
    mel: LogMel,
    encoder: Encoder,
    decoder: Decoder,
    vocabulary: Vocabulary,
    info: ModelInfo,
}

/// A window that was heard, and the prompt given.
struct Heard {
    state: State,
    /// Tokens of the prompt.
    prompt: usize,
    /// Those behind the prompt.
    logits: Vec<f32>,
    no_speech: f32,
}

/// A text of one attempt.
struct Take {
    tokens: Vec<u32>,
    quality: Quality,
    /// Where each token was seen, and one more for the end.
    looks: Vec<Vec<f32>>,
    /// There was no room for more tokens.
    is_overfull: bool,
}

impl Whisper {
    /// Reads it.
    ///
    /// # Errors
    /// A tensor is missing, or has another shape than the configuration says.
    pub fn new(
        config: Config,
        generation: &Generation,
        vocabulary: Vocabulary,
        weights: &dyn Weights,
    ) -> Result<Self, ModelError> {
        let bytes = 4 * parameters(&config);
        Ok(Self {
            mel: LogMel::new(config.num_mel_bins),
            encoder: Encoder::load(weights, &config)?,
            decoder: Decoder::load(weights, &config, generation.alignment_heads.as_deref())?,
            vocabulary,
            config,
            info: ModelInfo { kind: "whisper", precision: Precision::F32, bytes },
        })
    }

    /// Says how the weights that it was read from are kept, and what they take in memory.
    #[must_use]
    pub fn kept(mut self, precision: Precision, bytes: u64) -> Self {
        self.info.precision = precision;
        self.info.bytes = bytes;
        self
    }

    /// Makes text of what fits in a window, and of its halves if the text does not.
    fn piece(&self, samples: &[f32], start: usize, work: &mut Work<'_>) -> Result<(), SpeechError> {
        if window::is_silent(samples) {
            return Ok(());
        }
        let Some(take) = self.best_take(samples, work)? else { return Ok(()) };
        if take.is_overfull && samples.len() >= 2 * SHORTEST_HALF {
            let third = samples.len() / 3;
            let (first, second) = samples.split_at(window::quietest(samples, third, 2 * third));
            self.piece(first, start, work)?;
            return self.piece(second, start + first.len(), work);
        }
        let text = self.vocabulary.text(&take.tokens)?;
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        if !work.transcript.text.is_empty() {
            work.transcript.text.push(' ');
        }
        work.transcript.text.push_str(text);
        let frames = samples.len().div_ceil(FRAME);
        let starts = alignment::starts(&take.looks, frames);
        let length = samples.len() as f32 / SAMPLE_RATE as f32;
        let time = |token: usize| {
            let within =
                starts.get(token).map_or(length, |frame| (*frame * FRAME) as f32 / SAMPLE_RATE as f32);
            start as f32 / SAMPLE_RATE as f32 + within.min(length)
        };
        for (text, tokens) in self.vocabulary.words(&take.tokens, work.language)? {
            work.transcript.words.push(Word { text, start: time(tokens.start), end: time(tokens.end) });
        }
        Ok(())
    }

    /// Tries until a text is good; the best one where none is, and `None` where nobody speaks.
    fn best_take(&self, samples: &[f32], work: &mut Work<'_>) -> Result<Option<Take>, SpeechError> {
        let full = 2 * self.config.max_source_positions;
        let cut = (samples.len().div_ceil(HOP) + TAIL).next_multiple_of(2).min(full);
        let mut attempt = Attempt { is_whole: cut == full, ..Attempt::FIRST };
        let mut heard = self.hear(samples, cut, work)?;
        let mut best: Option<Take> = None;
        loop {
            let take = self.decode(&mut heard, attempt.temperature, samples.len(), work.cancel)?;
            let verdict = take.quality.verdict();
            let next = attempt.next(verdict);
            if verdict != Verdict::Poor {
                if next.is_none() {
                    return Ok((verdict == Verdict::Good).then_some(take));
                }
            } else if best.as_ref().is_none_or(|best| take.quality.is_better_than(&best.quality)) {
                best = Some(take);
            }
            let Some(next) = next else { return Ok(best) };
            if next.is_whole != attempt.is_whole {
                heard = self.hear(samples, full, work)?;
            }
            attempt = next;
        }
    }

    /// Encodes a window of so many feature frames, and gives the decoder the prompt. Settles the language.
    fn hear(&self, samples: &[f32], frames: usize, work: &mut Work<'_>) -> Result<Heard, SpeechError> {
        let features = self.mel.features(samples, frames);
        let mut state = self.decoder.begin(&self.encoder.forward(&features, work.cancel)?)?;
        work.cancel.check()?;
        let logits = self.step(&[self.vocabulary.start], &mut state)?;
        let no_speech = self.vocabulary.no_speech.and_then(|token| logits.get(token as usize));
        let no_speech = no_speech.map_or(0.0, |logit| (logit - log_sum_exp(&logits)).exp());
        work.language = work.language.or_else(|| self.vocabulary.likeliest_language(&logits));
        let logits = self.step(&self.vocabulary.prompt(work.language), &mut state)?;
        Ok(Heard { prompt: state.len(), state, logits, no_speech })
    }

    /// Adds tokens; gives the logits of the next one.
    fn step(&self, tokens: &[u32], state: &mut State) -> Result<Vec<f32>, candle_core::Error> {
        let rows = self.decoder.forward(tokens, state)?;
        let last: Tensor = rows.narrow(0, rows.dim(0)?.saturating_sub(1), 1)?;
        self.decoder.logits(&last)?.flatten_all()?.to_vec1()
    }

    /// Writes one text of a window that was heard.
    fn decode(
        &self,
        heard: &mut Heard,
        temperature: u8,
        samples: usize,
        cancel: &Cancel,
    ) -> Result<Take, SpeechError> {
        heard.state.truncate(heard.prompt);
        let room = self.config.max_target_positions.saturating_sub(heard.prompt);
        let limit = room.min(FEWEST_TOKENS + TOKENS_PER_SECOND * samples / SAMPLE_RATE);
        // The same sound always gives the same text.
        let mut chance = fastrand::Rng::with_seed(samples as u64 ^ u64::from(temperature));
        let mut logits = heard.logits.clone();
        let (mut tokens, mut log_probability, mut has_ended, mut surplus) = (Vec::new(), 0.0, false, None);
        while tokens.len() < limit && surplus.is_none() {
            cancel.check()?;
            self.vocabulary.forbid(&mut logits, tokens.is_empty());
            let token = choose(&logits, f32::from(temperature) / 10.0, &mut chance);
            log_probability += logits.get(token).copied().unwrap_or_default() - log_sum_exp(&logits);
            let token = u32::try_from(token).unwrap_or(self.vocabulary.end);
            if token == self.vocabulary.end {
                has_ended = true;
                break;
            }
            tokens.push(token);
            surplus = attempt::surplus(&tokens);
            if tokens.len() < limit {
                logits = self.step(&[token], &mut heard.state)?;
            }
        }
        let count = tokens.len() + usize::from(has_ended);
        let text = self.vocabulary.text(&tokens)?;
        let quality = Quality {
            is_empty: text.trim().is_empty(),
            is_endless: !has_ended,
            compression: attempt::compression(text.trim()),
            log_probability: log_probability / count.max(1) as f32,
            no_speech: heard.no_speech,
        };
        tokens.truncate(tokens.len() - surplus.unwrap_or_default());
        let first = heard.prompt.saturating_sub(1);
        let looks = heard.state.looks.iter().skip(first).take(tokens.len() + 1).cloned().collect();
        Ok(Take { tokens, quality, looks, is_overfull: !has_ended && surplus.is_none() && limit == room })
    }
}

/// What goes on through all windows of a recording.
struct Work<'a> {
    language: Option<u32>,
    cancel: &'a Cancel,
    transcript: Transcript,
}

impl Transcriber for Whisper {
    fn transcribe(&mut self, samples: &[f32], ask: &Ask) -> Result<Transcript, SpeechError> {
        let language = ask.language.as_deref().and_then(|code| self.vocabulary.language(code));
        let mut work = Work { language, cancel: &ask.cancel, transcript: Transcript::default() };
        for range in window::cuts(samples, self.config.window_samples()) {
            ask.cancel.check()?;
            let start = range.start;
            self.piece(samples.get(range).unwrap_or_default(), start, &mut work)?;
        }
        work.transcript.language = work.language.and_then(|id| self.vocabulary.code(id)).map(str::to_owned);
        Ok(work.transcript)
    }

    fn info(&self) -> &ModelInfo {
        &self.info
    }
}

/// The likeliest token, or with a temperature one by its probability.
fn choose(logits: &[f32], temperature: f32, chance: &mut fastrand::Rng) -> usize {
    let top = maximum(logits);
    if temperature <= 0.0 {
        return logits.iter().position(|logit| *logit >= top).unwrap_or_default();
    }
    let weights: Vec<f32> = logits.iter().map(|logit| ((logit - top) / temperature).exp()).collect();
    let mut left = chance.f32() * weights.iter().sum::<f32>();
    let chosen = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding may leave a crumb: then the likeliest it is.
    chosen.unwrap_or_else(|| logits.iter().position(|logit| *logit >= top).unwrap_or_default())
}

/// Numbers of a model of these sizes.
fn parameters(config: &Config) -> u64 {
    let channels = config.d_model;
    let layer = |attentions: usize, inner: usize| attentions * 4 * channels * channels + 2 * channels * inner;
    let count = config.encoder_layers * layer(1, config.encoder_ffn_dim)
        + config.decoder_layers * layer(2, config.decoder_ffn_dim)
        + channels * (config.vocab_size + config.max_source_positions + config.max_target_positions)
        + 3 * channels * (config.num_mel_bins + channels);
    u64::try_from(count).unwrap_or(u64::MAX)
}
