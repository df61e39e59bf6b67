//! Tells when a command waits for the terminal.
//!
//! Commands run in a group of their own behind ours, so a program that asks for a password on `/dev/tty`, or changes the
//! terminal's settings, is stopped by the kernel together with its shell, and would stay so for ever. A session of its
//! own would make such programs fail by themselves, but costs a further program or a copy of our page tables for each
//! command, up to a millisecond. The kernel reports the stop, so nothing is polled.

use rustix::process::{Pid, Signal as Number, WaitId, WaitIdOptions, waitid};
use std::fs::File;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for stops of commands.
#[derive(Debug)]
pub struct TerminalWatch(Option<Signal>);

impl TerminalWatch {
    /// Listens from now on. To be made before the command starts. Without a terminal there is nothing to listen for: to
    /// open it is an error then, which the command tells by itself.
    pub fn new() -> Self {
        let has_terminal = File::open("/dev/tty").is_ok();
        Self(has_terminal.then(|| signal(SignalKind::child())).and_then(Result::ok))
    }

    /// Ends when this child of ours has been stopped because it wanted the terminal.
    pub async fn wanted_by(&mut self, child: Pid) {
        if let Some(changes) = &mut self.0 {
            while changes.recv().await.is_some() {
                if is_stopped(child) {
                    return;
                }
            }
        }
        std::future::pending::<()>().await;
    }
}

fn is_stopped(child: Pid) -> bool {
    // Only looks: the child's end is taken elsewhere.
    let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(child), look).ok().flatten();
    let by = status.and_then(|status| status.stopping_signal());
    by.is_some_and(|by| [Number::TTIN, Number::TTOU].iter().any(|signal| signal.as_raw() == by))
}
