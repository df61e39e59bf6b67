//! Reads the terminal on a thread of its own, as long as the program has it.
//!
//! Invariants
//! - While parked, not one byte is read: it belongs to the program that has the terminal. [`Reader::park`] returns only
//!   when that is so.
//! - At rest it waits in the kernel; it wakes only for input, a new size, or us.
//! - When it ends, it says why, once: without it nobody could leave the program by a key.

use super::escape::Parser;
use super::input::Input;
use super::tty::Tty;
use super::unmarked::Unmarked;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGWINCH};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What the reader delivers.
#[derive(Debug)]
pub enum Heard {
    /// Input, in the order in which it came.
    Input(Input),
    /// We were stopped from outside, without a chance to give the terminal back, and go on. A size follows.
    Continued,
    /// The terminal is closed, or can't be read: there will be no more.
    Ended(io::Error),
}

/// The reading thread.
#[derive(Debug)]
pub struct Reader {
    shared: Arc<Shared>,
    wake: UnixStream,
    signals: [signal_hook::SigId; 2],
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    wanted: Wanted,
    parked: bool,
    ended: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    #[default]
    Read,
    Park,
    Stop,
}

impl Reader {
    /// Starts reading. `parser` may hold the beginning of something ([`super::caps::Probed`]); with `marked_paste` the
    /// terminal is known to mark pastes, and line ends are never taken for part of one.
    ///
    /// # Errors
    ///
    /// The system has no thread, descriptor or signal left.
    pub fn start(
        tty: Arc<Tty>,
        parser: Parser,
        marked_paste: bool,
        deliver: impl FnMut(Heard) + Send + 'static,
    ) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        let (resized, on_resize) = UnixStream::pair()?;
        let (continued, on_continue) = UnixStream::pair()?;
        for stream in [&wake, &woken, &resized, &continued] {
            stream.set_nonblocking(true)?;
        }
        let signals = [
            signal_hook::low_level::pipe::register(SIGWINCH, on_resize)?,
            signal_hook::low_level::pipe::register(SIGCONT, on_continue)?,
        ];
        let shared = Arc::new(Shared::default());
        let mut work = Work {
            shared: Arc::clone(&shared),
            tty,
            woken,
            resized,
            continued,
            parser,
            unmarked: (!marked_paste).then(Unmarked::default),
            deliver,
        };
        let thread = std::thread::Builder::new().name("terminal-reader".to_owned()).spawn(move || {
            // A bug here must not leave a program that hears no key.
            let outcome = catch_unwind(AssertUnwindSafe(|| work.run()))
                .unwrap_or_else(|_panic| Err(io::Error::other("reading the terminal failed")));
            if let Err(error) = outcome {
                work.shared.lock().ended = true;
                work.shared.changed.notify_all();
                (work.deliver)(Heard::Ended(error));
            }
        })?;
        Ok(Self { shared, wake, signals, thread: Some(thread) })
    }

    /// Stops reading until [`Self::resume`]. Returns whether it did within the limit; a reader that has ended counts as
    /// parked.
    #[expect(clippy::significant_drop_tightening, reason = "waiting needs the lock")]
    pub fn park(&self, limit: Duration) -> bool {
        self.want(Wanted::Park);
        let state = self.shared.lock();
        let waited =
            self.shared.changed.wait_timeout_while(state, limit, |state| !state.parked && !state.ended);
        let (state, _timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        state.parked || state.ended
    }

    /// Reads again. What is left of a report that the other program began to read is dropped, and the size is told anew.
    pub fn resume(&self) {
        self.want(Wanted::Read);
    }

    /// Ends the thread.
    pub fn stop(&mut self) {
        self.want(Wanted::Stop);
        for signal in self.signals {
            signal_hook::low_level::unregister(signal);
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that reads the terminal has panicked");
        }
    }

    fn want(&self, wanted: Wanted) {
        self.shared.lock().wanted = wanted;
        self.shared.changed.notify_all();
        // A full pipe means that it will wake anyway, a closed one that it has ended.
        let _woken = (&self.wake).write(&[0]);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread works with.
struct Work<F> {
    shared: Arc<Shared>,
    tty: Arc<Tty>,
    woken: UnixStream,
    resized: UnixStream,
    continued: UnixStream,
    parser: Parser,
    unmarked: Option<Unmarked>,
    deliver: F,
}

impl<F: FnMut(Heard)> Work<F> {
    fn run(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let wanted = self.shared.lock().wanted;
            match wanted {
                Wanted::Read => self.read(&mut buffer)?,
                Wanted::Park => self.rest()?,
                Wanted::Stop => return Ok(()),
            }
        }
    }

    /// Parked, until something else is wanted.
    #[expect(clippy::significant_drop_tightening, reason = "waiting needs the lock")]
    fn rest(&mut self) -> io::Result<()> {
        let mut state = self.shared.lock();
        state.parked = true;
        self.shared.changed.notify_all();
        let waited = self.shared.changed.wait_while(state, |state| state.wanted == Wanted::Park);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.parked = false;
        let read_again = state.wanted == Wanted::Read;
        drop(state);
        if read_again {
            // That we were stopped while we were parked is known to whoever parked us.
            empty(&self.continued);
            self.parser.resumed(Instant::now());
            self.tell_size()?;
        }
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let held = self.unmarked.as_ref().and_then(Unmarked::patience);
        // The parser first: a character that was cut in two must not be given up because a paste seems to have ended.
        let patience = self.parser.patience().or(held);
        let limit = patience.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        let mut waits = [
            PollFd::new(&self.tty, PollFlags::IN),
            PollFd::new(&self.woken, PollFlags::IN),
            PollFd::new(&self.resized, PollFlags::IN),
            PollFd::new(&self.continued, PollFlags::IN),
        ];
        let ready = match poll(&mut waits, limit.as_ref()) {
            Ok(ready) => ready,
            Err(rustix::io::Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let [input, woken, resized, continued] = waits.map(|wait| !wait.revents().is_empty());
        if woken {
            empty(&self.woken);
            // Perhaps parked: whatever is there to read is no longer ours.
            return Ok(());
        }
        if continued {
            empty(&self.continued);
            (self.deliver)(Heard::Continued);
        }
        if resized || continued {
            empty(&self.resized);
            self.tell_size()?;
        }
        let mut heard = Vec::new();
        let now = Instant::now();
        if input {
            let read = self.tty.read(buffer)?;
            self.parser.push(buffer.get(..read).unwrap_or_default(), now, &mut heard);
            self.deliver(heard, now);
        } else if ready == 0 {
            self.parser.expire(now, &mut heard);
            self.deliver(heard, now);
            let mut told = Vec::new();
            if let Some(unmarked) = &mut self.unmarked {
                unmarked.expire(&mut told);
            }
            self.tell(told);
        }
        Ok(())
    }

    fn tell_size(&mut self) -> io::Result<()> {
        let (columns, rows) = self.tty.size()?;
        (self.deliver)(Heard::Input(Input::Resize { columns, rows }));
        Ok(())
    }

    fn deliver(&mut self, heard: Vec<Input>, now: Instant) {
        let mut told = Vec::new();
        if heard.iter().any(|input| matches!(input, Input::Paste(_)))
            && let Some(mut unmarked) = self.unmarked.take()
        {
            // The terminal marks pastes after all.
            unmarked.expire(&mut told);
        }
        match &mut self.unmarked {
            Some(unmarked) => unmarked.take(heard, now, &mut told),
            None => told.extend(heard),
        }
        self.tell(told);
    }

    fn tell(&mut self, told: Vec<Input>) {
        for input in told {
            (self.deliver)(Heard::Input(input));
        }
    }
}

fn empty(mut stream: &UnixStream) {
    let mut bytes = [0; 64];
    while let Ok(read) = stream.read(&mut bytes) {
        if read < bytes.len() {
            return;
        }
    }
}
