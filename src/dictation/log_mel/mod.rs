//! Waveforms to features: what the speech models look at instead of samples.
//!
//! | file | what it is |
//! |---|---|
//! | [`stft`] | power spectra of overlapping windows |
//! | [`mel`] | bands of a power spectrum as an ear tells them apart |
//! | [`parakeet`] | the features of NeMo's models |
//! | [`whisper`] | the features of Whisper |

pub mod mel;
pub mod parakeet;
pub mod stft;
pub mod whisper;
