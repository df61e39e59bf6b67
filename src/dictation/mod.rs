//! Speech to text on this machine: the microphone, pauses, models, and what becomes of a transcript.
//!
//! ```text
//!  capture (a thread of the system) ─▶ recorder: resample, level, VAD, chunks ─▶ worker: Transcriber ─▶ text
//!                                            engine: one thread that everything meets in
//! ```
//!
//! | folder or file | what it is |
//! |---|---|
//! | [`audio`] | samples and chunks, as all parts speak of them |
//! | [`audio_file`], [`transcribe`] | recordings in files, and what was said in them |
//! | [`capture`] | where sound comes from: a device, a program, a file |
//! | [`recorder`] | one recording after another: what is between sound and model |
//! | [`resample`], [`level`] | to 16 kHz; how loud it is |
//! | [`vad`], [`chunker`] | what is speech, and where it is cut |
//! | [`transcriber`] | what a speech model can do, and what it gives |
//! | [`log_mel`] | waveforms to features |
//! | [`nn`] | layers and kernels that both models are made of |
//! | [`weights`] | numbers of trained models: the formats they come in, and the file we keep them in |
//! | [`parakeet`] | FastConformer with a TDT or CTC head |
//! | [`whisper`] | Whisper |
//! | [`models`] | which models there are, which one to use, fetching them |
//! | [`engine`] | the thread that everything meets in |
//! | [`refine`] | correcting a transcript with a language model |
//! | [`mod@reference`] | what an agent said last, made safe to send |
//!
//! Nothing here opens a device, reads a model or uses the network before it is asked to.

pub mod audio;
pub mod audio_file;
pub mod capture;
pub mod chunker;
pub mod engine;
pub mod level;
pub mod log_mel;
pub mod models;
pub mod nn;
pub mod parakeet;
pub mod recorder;
pub mod reference;
pub mod refine;
pub mod resample;
pub mod transcribe;
pub mod transcriber;
pub mod vad;
pub mod weights;
pub mod whisper;
