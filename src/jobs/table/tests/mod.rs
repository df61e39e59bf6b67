//! Real jobs, each with a keeper of its own. Programs that must be killed, or measured alone, are this test binary started
//! again.

mod ends;
mod floods;
mod handover;
mod restarts;
mod starts;
mod surroundings;
mod talks;

use super::*;
use crate::jobs::identity::Identity;
use crate::jobs::keeper::record::JobRecord;
use crate::jobs::keeper::tests::program;
use crate::jobs::mark::Marked;
use crate::jobs::processes;
use crate::jobs::tree::Tree;
use crate::proto::job::{JobEnd, JobEnding, StoppedBy};
use rustix::process::Signal;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedReceiver;

/// Nothing takes so long.
const LONG: Duration = Duration::from_secs(30);

/// A table with its surroundings.
struct House {
    /// Where jobs work; the root of their folders is beside.
    dir: Arc<tempfile::TempDir>,
    table: Arc<JobTable>,
    events: UnboundedReceiver<JobEvent>,
    output: Arc<Mutex<Vec<u8>>>,
}

impl House {
    fn new() -> Self {
        Self::with(Arc::new(tempfile::tempdir().unwrap()), |_| {})
    }

    fn with(dir: Arc<tempfile::TempDir>, change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup {
            root: dir.path().join("state"),
            session: SessionId::new("session"),
            keeper: program(),
            limit: DEFAULT_LIMIT,
            log_cap: DEFAULT_LOG_CAP,
        };
        change(&mut setup);
        let (sender, events) = mpsc::unbounded_channel();
        let output = Arc::new(Mutex::new(Vec::new()));
        let printed = Arc::clone(&output);
        let hooks = Hooks {
            event: Box::new(move |event| drop(sender.send(event))),
            output: Box::new(move |_, new| {
                assert!(new.bytes.len() <= 16 * 1024);
                let mut printed = printed.lock().unwrap();
                if printed.len() < 1 << 20 {
                    printed.extend_from_slice(new.bytes);
                }
            }),
        };
        let table = JobTable::new(setup, hooks);
        Self { dir, table, events, output }
    }

    /// The next run of the same session.
    fn again(&self) -> Self {
        Self::with(Arc::clone(&self.dir), |_| {})
    }

    fn work(&self) -> &Path {
        self.dir.path()
    }

    fn spec(&self, command: &str) -> JobSpec {
        JobSpec {
            title: "A job".to_owned(),
            command: command.to_owned(),
            cwd: self.work().to_owned(),
            shell: "/bin/bash".into(),
            terminal: None,
            time_limit: None,
            env: Vec::new(),
            secret_env: Vec::new(),
        }
    }

    async fn start(&self, command: &str) -> JobId {
        self.table.start(self.spec(command)).await.unwrap().id.clone()
    }

    async fn start_on_terminal(&self, command: &str) -> JobId {
        let spec = JobSpec { terminal: Some(TerminalSize::default()), ..self.spec(command) };
        self.table.start(spec).await.unwrap().id.clone()
    }

    /// Waits for an event.
    async fn event<T>(&mut self, what: &str, mut wanted: impl FnMut(&JobEvent) -> Option<T>) -> T {
        let found = async {
            loop {
                let event = self.events.recv().await.unwrap();
                if let Some(found) = wanted(&event) {
                    return found;
                }
            }
        };
        tokio::time::timeout(LONG, found).await.unwrap_or_else(|_| panic!("no event: {what}"))
    }

    /// Waits for the end of a job.
    async fn ended(&mut self, id: &JobId) -> JobEnd {
        self.event("its end", |event| match event {
            JobEvent::Ended(view) if view.id == *id => Some(end_of(view)),
            _ => None,
        })
        .await
    }

    /// Waits until the newest line of a job holds this.
    async fn shows(&mut self, id: &JobId, text: &str) {
        let has = |view: &JobView| view.id == *id && view.latest.contains(text);
        if self.table.get(id).is_some_and(|view| has(&view)) {
            return;
        }
        self.event(text, |event| match event {
            JobEvent::Changed(view) | JobEvent::Ended(view) if has(view) => Some(()),
            _ => None,
        })
        .await;
    }

    /// All lines of a log, as far as they are kept.
    async fn log(&self, id: &JobId) -> Vec<String> {
        let spec = ReadSpec { max_lines: 2_000, max_bytes: 200_000, ..ReadSpec::default() };
        let page = self.table.read(id, spec).await.unwrap();
        page.lines.into_iter().map(|line| line.text).collect()
    }

    fn record(&self, id: &JobId) -> JobRecord {
        JobRecord::read(&self.table.get(id).unwrap().folder).unwrap()
    }

    /// Ends the session, and finds that nothing of its jobs is left. Nothing else may have happened to them.
    async fn close(mut self) {
        let records: Vec<JobRecord> =
            self.table.list().iter().filter_map(|view| JobRecord::read(&view.folder).ok()).collect();
        let begun = Instant::now();
        self.table.end(&[]).await;
        assert!(begun.elapsed() < Duration::from_secs(5), "took {:?}", begun.elapsed());
        nothing_is_left(&records).await;
        for view in self.table.list() {
            let id = &view.id;
            self.table.wait(id, LONG).await.unwrap();
            assert!(!self.table.get(id).unwrap().state.is_live(), "{id}");
        }
        let mut ends = std::collections::BTreeSet::new();
        while let Ok(event) = self.events.try_recv() {
            if let JobEvent::Ended(view) = event {
                assert!(ends.insert(view.id.clone()), "{} has ended twice", view.id);
            }
        }
    }
}

impl Drop for House {
    /// A test that fails leaves nothing running either.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let records: Vec<JobRecord> =
                self.table.list().iter().filter_map(|view| JobRecord::read(&view.folder).ok()).collect();
            records.iter().for_each(stop::kill_keeper);
            Tree::since(0, Vec::new(), Marked::any_of(records.iter().map(JobRecord::marked)))
                .signal(Signal::KILL);
        }
    }
}

fn end_of(view: &JobView) -> JobEnd {
    match &view.state {
        JobState::Ended(end) => end.clone(),
        state => panic!("{} is {state:?}", view.id),
    }
}

/// No process carries the mark of one of these jobs, and no keeper of theirs runs.
async fn nothing_is_left(records: &[JobRecord]) {
    until("nothing is left", || !records.iter().any(|record| keeper_is_alive(record) || is_marked(record)))
        .await;
}

fn keeper_is_alive(record: &JobRecord) -> bool {
    record.running.as_ref().is_some_and(|running| running.keeper.is_alive())
}

fn is_marked(record: &JobRecord) -> bool {
    let marked = record.marked();
    let mut all = processes::alive(0).into_iter();
    all.any(|process| {
        processes::environment(process.id).is_some_and(|environment| marked.matches(&environment))
    })
}

/// Waits for something that other processes do, and nobody tells of.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The process number that a job has written into this file, once it has.
async fn pid(path: &Path) -> i32 {
    let read = || std::fs::read_to_string(path).ok()?.trim().parse().ok();
    until("a process number", || read().is_some()).await;
    read().unwrap()
}

fn is_alive(pid: i32) -> bool {
    processes::read(pid).is_some()
}

fn identity(pid: i32) -> Identity {
    Identity::of(rustix::process::Pid::from_raw(pid).unwrap())
}
