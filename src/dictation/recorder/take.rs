//! One recording, as a pure machine: samples and times go in, what happens comes out.
//!
//! It begins when it is asked for, before there is any sound. It ends by [`Take::stop`], by its longest time, or when its
//! source ends; then it is finished as soon as it has what was said up to that moment and a little after. A stop that may
//! be a mistake keeps what comes after it aside for a while, so that the recording can go on without a gap.
//!
//! Invariant: samples reach the meter, the resampler and the chunker in order, each once; `aside` holds those after the
//! end that is planned, and nothing else.

use super::Told;
use crate::dictation::audio::Chunk;
use crate::dictation::capture::CaptureError;
use crate::dictation::chunker::Chunker;
use crate::dictation::level::Meter;
use crate::dictation::resample::Resampler;
use crate::dictation::vad::{FRAME, Vad};
use crate::proto::voice::VoiceWarning;
use std::time::{Duration, Instant};

/// What is still heard after a stop: the end of the last word, while the key goes up.
pub const DRAIN: Duration = Duration::from_millis(120);

/// How long sound that was recorded before a stop may take to arrive.
const STRAGGLE: Duration = Duration::from_millis(500);

/// Within this time the first sound comes, and later some sound all the time; else the microphone does not work.
pub const PATIENCE: Duration = Duration::from_secs(3);

/// A recording.
pub struct Take {
    asked: Instant,
    /// The microphone that was asked for.
    microphone: String,
    longest: Duration,
    source: Option<Source>,
    /// When sound last came, or the source was opened.
    last_sound: Instant,
    is_listening: bool,
    ends: Option<End>,
}

/// What depends on the rate.
struct Source {
    name: String,
    rate: u32,
    /// Samples of the source that were taken so far.
    heard: usize,
    lost: u64,
    resampler: Resampler,
    meter: Meter,
    vad: Vad,
    chunker: Chunker,
    /// Samples at 16 kHz that are no whole frame yet.
    rest: Vec<f32>,
    /// Samples after the planned end.
    aside: Vec<f32>,
}

/// A planned end.
#[derive(Clone, Copy, Debug)]
struct End {
    /// Samples of the source that still count.
    at: usize,
    /// It can be taken back until then.
    resumable_until: Instant,
    /// After this time, nothing more is waited for.
    latest: Instant,
}

impl Take {
    /// A recording that was asked for now, and stops by itself at this length.
    pub const fn new(microphone: String, longest: Duration, asked: Instant) -> Self {
        Self { asked, microphone, longest, source: None, last_sound: asked, is_listening: false, ends: None }
    }

    /// The source is open and gives samples at this rate; this many were lost before.
    ///
    /// # Errors
    /// No microphone has such a rate.
    pub fn opened(&mut self, name: String, rate: u32, lost: u64, now: Instant) -> Result<(), CaptureError> {
        let resampler = Resampler::new(rate)
            .map_err(|error| CaptureError::System { name: name.clone(), detail: error.to_string() })?;
        self.last_sound = now;
        self.source = Some(Source {
            name,
            rate,
            heard: 0,
            lost,
            resampler,
            meter: Meter::new(rate),
            vad: Vad::default(),
            chunker: Chunker::default(),
            rest: Vec::new(),
            aside: Vec::new(),
        });
        Ok(())
    }

    /// Takes the samples that came since the last call, if any, and how many were lost in all.
    pub fn hear(&mut self, block: &[f32], lost: u64, now: Instant, tell: &mut dyn FnMut(Told)) {
        let longest = self.longest;
        let Some(source) = &mut self.source else { return };
        if !block.is_empty() {
            self.last_sound = now;
            if !self.is_listening {
                self.is_listening = true;
                let latency = now.saturating_duration_since(self.asked);
                tell(Told::Listening { microphone: source.name.clone(), latency });
            }
        }
        if lost > source.lost {
            source.lost = lost;
            tell(Told::Warning(VoiceWarning::Dropped));
        }
        let limit = source.count(longest);
        let mut rest = block;
        if self.ends.is_none() {
            let (counts, later) = rest.split_at(limit.saturating_sub(source.heard).min(rest.len()));
            source.take(counts, tell);
            rest = later;
            if source.heard >= limit {
                tell(Told::StoppedItself(format!(
                    "The longest recording, {}, is reached.",
                    minutes(longest)
                )));
                self.ends = Some(source.end(now, Duration::ZERO));
            }
        }
        if let Some(end) = self.ends {
            let (counts, later) = rest.split_at(end.at.saturating_sub(source.heard).min(rest.len()));
            source.take(counts, tell);
            source.aside.extend_from_slice(later);
        }
    }

    /// Plans the end: what is heard up to now counts, and [`DRAIN`] more. For `may_resume` it can be taken back. Samples
    /// that wait in the queue must have been heard.
    pub fn stop(&mut self, may_resume: Duration, now: Instant) {
        if self.ends.is_some() {
            return;
        }
        self.ends = Some(match &self.source {
            Some(source) => source.end(now, may_resume),
            None => End { at: 0, resumable_until: now + may_resume, latest: now + may_resume },
        });
    }

    /// Takes the stop back, if it still can be; nothing between is lost.
    pub fn resume(&mut self, now: Instant, tell: &mut dyn FnMut(Told)) {
        if self.ends.is_some_and(|end| now <= end.resumable_until) {
            self.ends = None;
            let aside =
                self.source.as_mut().map(|source| std::mem::take(&mut source.aside)).unwrap_or_default();
            let lost = self.source.as_ref().map_or(0, |source| source.lost);
            if !aside.is_empty() {
                // Sound that was set aside came earlier, but the microphone has been alive since.
                let last_sound = self.last_sound;
                self.hear(&aside, lost, now, tell);
                self.last_sound = last_sound;
            }
        }
    }

    /// It was stopped, and may still be resumed.
    pub const fn is_stopped(&self) -> bool {
        self.ends.is_some()
    }

    /// Nothing more is to be heard: [`Take::finish`] it.
    pub fn is_complete(&self, now: Instant) -> bool {
        self.ends.is_some_and(|end| {
            let has_all = self.source.as_ref().is_none_or(|source| source.heard >= end.at);
            now >= end.resumable_until && (has_all || now >= end.latest)
        })
    }

    /// The microphone gives nothing, for too long.
    pub fn is_starved(&self, now: Instant) -> Option<CaptureError> {
        let waited = now.saturating_duration_since(self.last_sound);
        if waited < PATIENCE || self.ends.is_some() {
            return None;
        }
        Some(match &self.source {
            Some(source) if source.heard > 0 => CaptureError::Lost(source.name.clone()),
            Some(source) => CaptureError::NoSound { name: source.name.clone(), seconds: PATIENCE.as_secs() },
            None => CaptureError::NoSound {
                name: if self.microphone.is_empty() { "default".to_owned() } else { self.microphone.clone() },
                seconds: PATIENCE.as_secs(),
            },
        })
    }

    /// Something was heard.
    pub fn has_sound(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.heard > 0)
    }

    /// When something happens next even if no sound comes.
    pub fn deadline(&self, now: Instant) -> Instant {
        match self.ends {
            None => self.last_sound + PATIENCE,
            Some(end) if now < end.resumable_until => end.resumable_until,
            Some(end) => end.latest,
        }
    }

    /// The open chunk as it is now.
    pub fn open_chunk(&self) -> Option<Chunk> {
        self.source.as_ref().and_then(|source| source.chunker.open())
    }

    /// Tells the last chunk, and that the recording is over.
    pub fn finish(self, tell: &mut dyn FnMut(Told)) {
        let mut recorded = Duration::ZERO;
        if let Some(mut source) = self.source {
            recorded = source.recorded(source.heard);
            let mut last = Vec::new();
            source.resampler.finish(&mut last);
            source.frames(&last, tell);
            let Source { mut vad, chunker, rest, .. } = source;
            let is_speech = !rest.is_empty() && vad.judge(&rest);
            if let Some(chunk) = chunker.finish(&rest, is_speech) {
                tell(Told::Chunk(chunk));
            }
        }
        tell(Told::Finished { recorded });
    }
}

impl Source {
    /// Samples of the source in this time.
    fn count(&self, time: Duration) -> usize {
        let count = time.as_micros().saturating_mul(u128::from(self.rate)) / 1_000_000;
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    fn recorded(&self, count: usize) -> Duration {
        Duration::from_micros((count as u64).saturating_mul(1_000_000) / u64::from(self.rate))
    }

    fn end(&self, now: Instant, may_resume: Duration) -> End {
        let resumable_until = now + may_resume;
        End {
            at: self.heard.saturating_add(self.count(DRAIN)),
            resumable_until,
            latest: resumable_until.max(now + DRAIN + STRAGGLE),
        }
    }

    fn take(&mut self, block: &[f32], tell: &mut dyn FnMut(Told)) {
        let mut frames = Vec::new();
        self.meter.measure(block, |end, frame| frames.push((end, frame)));
        let mut fresh = Vec::new();
        self.resampler.take(block, &mut fresh);
        self.frames(&fresh, tell);
        for (end, frame) in frames {
            let recorded = self.recorded(self.heard + end);
            tell(Told::Level { recorded, level: frame.level, clipped: frame.clipped });
            if let Some(warning) = frame.warning {
                tell(Told::Warning(warning));
            }
            if let Some((number, length)) = self.chunker.filling() {
                tell(Told::Filling { number, length });
            }
        }
        self.heard += block.len();
    }

    /// Samples at 16 kHz, on to the chunker in whole frames.
    fn frames(&mut self, fresh: &[f32], tell: &mut dyn FnMut(Told)) {
        self.rest.extend_from_slice(fresh);
        let whole = self.rest.len() / FRAME * FRAME;
        for frame in self.rest.chunks_exact(FRAME) {
            if let Some(chunk) = self.chunker.take(frame, self.vad.judge(frame)) {
                tell(Told::Chunk(chunk));
            }
        }
        self.rest.drain(..whole);
    }
}

/// A length as people say it.
fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}
