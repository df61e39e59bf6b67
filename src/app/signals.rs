//! Signals that ask the program to end.

use std::io;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal is on its way to us for no longer.
const ON_ITS_WAY: Duration = Duration::from_millis(200);

/// SIGINT, SIGTERM and SIGHUP.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    /// Interrupts before this were meant for somebody else.
    deaf_until: Option<Instant>,
}

impl Signals {
    /// Listens from now on; the system's own reaction no longer comes.
    ///
    /// # Errors
    /// The system refuses.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            deaf_until: None,
        })
    }

    /// Another program had the terminal up to now: ctrl+c there has reached us, too, and was not meant for us.
    pub fn forget_interrupts(&mut self) {
        self.deaf_until = Some(Instant::now() + ON_ITS_WAY);
    }

    /// The number of the next one. Safe to drop while it waits.
    pub async fn next(&mut self) -> i32 {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => {
                    if self.deaf_until.is_none_or(|until| until <= Instant::now()) {
                        return SignalKind::interrupt().as_raw_value();
                    }
                }
                _ = self.terminate.recv() => return SignalKind::terminate().as_raw_value(),
                _ = self.hangup.recv() => return SignalKind::hangup().as_raw_value(),
            }
        }
    }
}
