//! Waveforms to log-mel features.

pub mod whisper;
