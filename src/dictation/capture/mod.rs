//! Where sound comes from: a device, a program, a file.
//!
//! ```text
//!  callback or reader thread ─▶ Intake: mono, -1 to 1 ─▶ ring ─▶ recorder
//!  the source's own thread ─▶ Note: opened, a notice, ended ─▶ whoever started it
//! ```
//!
//! Nothing is opened before a source is started, and nothing stays open once its [`Tap`] is dropped.

mod choose;
mod command;
mod device;
mod error;
mod intake;
mod quiet;
mod ring;
mod source;
mod surroundings;
mod wav;
mod words;

pub use choose::choose;
pub use device::list;
pub use error::CaptureError;
pub use quiet::quiet_stderr;
pub use ring::{Losses, Reader, Writer, ring};
pub use source::{Alarm, Note, Outlet, Source, Tap, start};
pub use surroundings::Surroundings;
pub use wav::{Pace, Wav, WavSource};

pub use command::CommandSource;
pub use device::DeviceSource;

#[cfg(test)]
pub(in crate::dictation) use wav::tests as fixtures;
