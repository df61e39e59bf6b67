//! Hands the terminal to another program, or to the shell, and takes it back.

use super::guard::Guard;
use super::reader::Reader;
use super::writer::Writer;
use rustix::process::{Signal, kill_current_process_group};
use signal_hook::consts::SIGCONT;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PARK_LIMIT: Duration = Duration::from_secs(1);
const DRAIN_LIMIT: Duration = Duration::from_millis(500);
/// A stop that has not come by then was ignored: nobody is there to continue us.
const STOP_LIMIT: Duration = Duration::from_millis(100);

/// Why the terminal was not handed over, or not taken back.
#[derive(Debug, thiserror::Error)]
pub enum HandoffError {
    /// The reader did not let go, so nothing was changed.
    #[error("The terminal is busy, so it was not handed over. Nothing is lost; try again.")]
    Busy,
    /// The terminal is gone.
    #[error("The terminal could not be taken back. The session keeps everything up to this point.")]
    Lost(#[source] io::Error),
}

/// Runs `work` while the terminal is as it was before the program started: the reader is parked, what waits is written,
/// the screen is left. Afterwards it is entered again; the next frame is painted in full.
///
/// # Errors
///
/// See [`HandoffError`]. `work` has run unless the terminal was busy.
pub fn hand_over<T>(
    guard: &Guard,
    reader: &Reader,
    writer: &Writer,
    work: impl FnOnce() -> T,
) -> Result<T, HandoffError> {
    if !reader.park(PARK_LIMIT) {
        reader.resume();
        return Err(HandoffError::Busy);
    }
    // What is not written by now goes nowhere; the repaint makes up for it.
    let _drained = writer.drain(DRAIN_LIMIT);
    let modes = guard.modes();
    if let Err(error) = guard.leave() {
        tracing::warn!("the terminal was handed over in part: {error}");
    }
    let outcome = work();
    let entered = guard.enter(modes);
    // After entering: a frame that is painted before it would go nowhere and count as shown.
    writer.repaint();
    reader.resume();
    entered.map_err(HandoffError::Lost)?;
    Ok(outcome)
}

/// Stops this program as ctrl+z does, with everything that the shell started together with it, until it is continued.
/// For [`hand_over`].
///
/// # Errors
///
/// The system refuses.
pub fn suspend() -> io::Result<()> {
    let continued = Arc::new(AtomicBool::new(false));
    let signal = signal_hook::flag::register(SIGCONT, Arc::clone(&continued))?;
    let outcome = kill_current_process_group(Signal::TSTP);
    // The stop may reach us a moment later, on another thread; taking the terminal back before it would spoil the shell.
    let begun = Instant::now();
    while outcome.is_ok() && !continued.load(Ordering::Relaxed) && begun.elapsed() < STOP_LIMIT {
        std::thread::sleep(Duration::from_millis(2));
    }
    signal_hook::low_level::unregister(signal);
    Ok(outcome?)
}
