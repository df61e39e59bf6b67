//! A source of sound in a thread of its own, and the end of it that a recorder holds.
//!
//! The source's thread opens whatever it is, tells so with the reading end of a queue, and stays until it is told to
//! close or fails. Everything but samples goes as a [`Note`] to whoever started it, in order.

use super::error::CaptureError;
use super::ring::{Reader, Writer, ring};
use std::io::{self, PipeReader, PipeWriter};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Sound that a queue holds while its reader is kept from reading.
const QUEUE: Duration = Duration::from_secs(8);

/// How long closing waits for a source to be closed, so that no recording program outlives this one.
const PATIENCE: Duration = Duration::from_millis(300);

/// Something that gives sound.
pub trait Source: Send {
    /// Opens it, gives sound until [`Outlet::is_closed`], and closes it. Called once, in a thread of its own.
    ///
    /// # Errors
    /// It could not be opened, or gives no more.
    fn run(&mut self, outlet: &Outlet) -> Result<(), CaptureError>;
}

/// What a source tells, apart from samples.
pub enum Note {
    /// It is open.
    Opened {
        /// Its name, for people.
        name: String,
        /// Samples in a second.
        rate: u32,
        /// Mono samples, from -1 to 1.
        samples: Reader,
    },
    /// Something to say once.
    Notice(String),
    /// It has ended without being asked to: by itself, or by an error. Nothing comes after this.
    Ended(Result<(), CaptureError>),
}

/// Starts a source; what it tells goes to `tell`, from its own threads.
///
/// # Errors
/// The system has no thread or pipe left.
pub fn start(mut source: Box<dyn Source>, tell: impl Fn(Note) + Send + 'static) -> io::Result<Tap> {
    let (wake, waker) = io::pipe()?;
    let shared = Arc::new(Shared::default());
    let outlet = Outlet { shared: Arc::clone(&shared), wake, tell: Box::new(tell) };
    thread::Builder::new().name("microphone".to_owned()).spawn(move || {
        let result = source.run(&outlet);
        drop(source);
        if !outlet.is_closed() {
            (outlet.tell)(Note::Ended(result));
        }
        outlet.shared.change(|state| state.has_ended = true);
    })?;
    Ok(Tap { shared, waker: Some(waker) })
}

/// An open source, or one that opens. Dropped, it is closed.
pub struct Tap {
    shared: Arc<Shared>,
    waker: Option<PipeWriter>,
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.shared.change(|state| state.is_closed = true);
        drop(self.waker.take());
        let state = self.shared.lock();
        // A device that hangs in the system keeps its thread, and nobody waits for that.
        drop(self.shared.changed.wait_timeout_while(state, PATIENCE, |state| !state.has_ended));
    }
}

/// What a source's thread works with.
pub struct Outlet {
    shared: Arc<Shared>,
    wake: PipeReader,
    tell: Box<dyn Fn(Note) + Send>,
}

impl Outlet {
    /// Tells that the source is open, and gives the queue for its samples: mono, at this rate.
    pub fn open(&self, name: &str, rate: u32) -> Writer {
        let (writer, samples) = self.queue(rate);
        self.opened(name, rate, samples);
        writer
    }

    /// A queue for samples at this rate, of which nobody is told yet.
    pub fn queue(&self, rate: u32) -> (Writer, Reader) {
        ring(usize::try_from(u64::from(rate) * QUEUE.as_secs()).unwrap_or(usize::MAX))
    }

    /// Tells that the source is open, and where its samples come.
    pub fn opened(&self, name: &str, rate: u32, samples: Reader) {
        self.shared.change(|state| state.is_open = true);
        (self.tell)(Note::Opened { name: name.to_owned(), rate, samples });
    }

    /// Tells something to say once.
    pub fn notice(&self, text: String) {
        (self.tell)(Note::Notice(text));
    }

    /// [`Outlet::open`] was called.
    pub fn is_open(&self) -> bool {
        self.shared.lock().is_open
    }

    /// Nobody wants its sound any more.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().is_closed
    }

    /// Waits until nobody wants its sound any more, or until this time is over, or a [`Alarm`] goes off.
    ///
    /// # Errors
    /// The alarm's.
    pub fn wait(&self, longest: Option<Duration>) -> Result<(), CaptureError> {
        let waits = |state: &mut State| !state.is_closed && state.alarm.is_none();
        let state = self.shared.lock();
        let mut state = match longest {
            None => self.shared.changed.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner),
            Some(longest) => {
                let waited = self.shared.changed.wait_timeout_while(state, longest, waits);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        state.alarm.take().map_or(Ok(()), Err)
    }

    /// For sources that wait in the system: this end of a pipe hangs up when nobody wants their sound any more.
    pub const fn wake(&self) -> &PipeReader {
        &self.wake
    }

    /// For other threads of the source.
    pub fn alarm(&self) -> Alarm {
        Alarm(Arc::clone(&self.shared))
    }
}

/// Ends [`Outlet::wait`] with an error, from any thread.
pub struct Alarm(Arc<Shared>);

impl Alarm {
    /// Goes off. The first error counts.
    pub fn raise(&self, error: CaptureError) {
        self.0.change(|state| {
            state.alarm.get_or_insert(error);
        });
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_open: bool,
    is_closed: bool,
    has_ended: bool,
    alarm: Option<CaptureError>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}
