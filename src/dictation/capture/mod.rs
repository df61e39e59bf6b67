//! Where sound comes from: a device, a program, a file.
//!
//! ```text
//!  callback or reader thread ─▶ Intake: mono, -1 to 1 ─▶ ring ─▶ recorder
//!  the source's own thread ─▶ Note: opened, a notice, ended ─▶ whoever started it
//! ```
//!
//! Nothing is opened before a source is started, and nothing stays open once its [`Tap`] is dropped.

#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod alsa_symbols;
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
pub(super) use wav::tests as fixtures;
