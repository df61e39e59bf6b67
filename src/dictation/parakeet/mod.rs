//! NVIDIA's Parakeet: a FastConformer encoder with a transducer (TDT or RNN-T) or a CTC head.
//!
//! ```text
//! samples ─▶ log_mel ─▶ subsampling ─▶ blocks of [feed-forward, attention, convolution, feed-forward] ─▶ frames
//! frames ─▶ joint ◀─▶ prediction ─▶ pieces (tdt)        or        frames ─▶ scores ─▶ pieces (ctc)
//! pieces ─▶ tokenizer ─▶ words with times
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | [`config`] | all sizes, from Hugging Face's or NeMo's files |
//! | [`files`] | which files there are, and how they become a model |
//! | [`model`] | the whole: samples in, words out |
//! | [`encoder`], [`subsampling`], [`attention`], [`convolution`], [`feed_forward`], [`norm`] | features to frames |
//! | [`prediction`], [`joint`], [`tdt`] | frames to pieces, each depending on those before |
//! | [`ctc`] | frames to pieces, each for itself |
//! | [`tokenizer`] | pieces to words |

pub mod attention;
pub mod config;
pub mod convolution;
pub mod ctc;
pub mod encoder;
pub mod feed_forward;
pub mod files;
pub mod joint;
pub mod model;
pub mod norm;
pub mod prediction;
pub mod subsampling;
pub mod tdt;
pub mod tokenizer;

#[cfg(test)]
mod tests;

pub use files::Files;
pub use model::Parakeet;
