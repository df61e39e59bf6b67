//! The threads that compute speech: few, and behind all others that want the processor.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// How far behind other threads they stand, from 0 to 19.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Threads for a model. What is computed inside [`Threads::run`] is divided among them; also candle's own products,
/// which take the pool of the thread that calls them.
#[derive(Debug)]
pub struct Threads {
    pool: ThreadPool,
}

impl Threads {
    /// A number of threads; `None` for one a physical core.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn new(count: Option<usize>) -> Result<Self, ThreadPoolBuildError> {
        let count = count.unwrap_or_else(candle_core::utils::get_num_threads).max(1);
        let pool = ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|number| format!("speech-{number}"))
            .start_handler(|_number| stand_back())
            .build()?;
        Ok(Self { pool })
    }

    /// Runs work on these threads, and waits for it.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// Lets other threads go first. On Linux a priority is a thread's own.
fn stand_back() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "speech keeps the usual priority");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_on_as_many_threads_as_asked_for() {
        let threads = Threads::new(Some(3)).unwrap();
        assert_eq!(threads.count(), 3);
        let (count, name) =
            threads.run(|| (rayon::current_num_threads(), std::thread::current().name().map(str::to_owned)));
        assert_eq!(count, 3);
        assert!(name.unwrap().starts_with("speech-"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn they_stand_behind_others() {
        let before = rustix::process::getpriority_process(None).unwrap();
        let inside =
            Threads::new(Some(1)).unwrap().run(|| rustix::process::getpriority_process(None).unwrap());
        assert_eq!(inside, NICE.max(before));
        assert_eq!(
            rustix::process::getpriority_process(None).unwrap(),
            before,
            "our own thread stays as it was"
        );
    }
}
