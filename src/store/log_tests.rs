use super::*;
use crate::proto::ids::SessionId;
use crate::store::writer::Storage;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

const FIXTURE: &str = include_str!("../../tests/fixtures/pi/session-v3-pi-1.6.0.jsonl");

fn now() -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(1_800_000_000_000).expect("in range")
}

fn header() -> Header {
    Header::new(SessionId::new("s"), "/w", now())
}

fn name(text: &str) -> EntryKind {
    EntryKind::SessionInfo { name: text.to_owned() }
}

fn append(log: &mut Log, text: &str) -> EntryId {
    let id = log.fresh_id();
    log.append(id.clone(), name(text), now());
    id
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it exists").permissions().mode() & 0o777
}

#[tokio::test]
async fn the_file_is_made_at_the_first_append_for_its_owner_only() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("a/b/s.jsonl");
    let mut log = Log::create(path.clone(), header()).expect("nothing is there");
    log.barrier().await.expect("nothing to write");
    assert!(!path.exists());
    let first = append(&mut log, "one");
    log.barrier().await.expect("the disk works");
    assert_eq!(mode(&path), 0o600);
    assert_eq!((mode(&dir.path().join("a")), mode(&dir.path().join("a/b"))), (0o700, 0o700));
    assert_eq!(log.leaf(), Some(&first));
    let text = fs::read_to_string(&path).expect("it can be read");
    assert_eq!(text.lines().count(), 2);
    assert!(matches!(Log::create(path, header()), Err(StoreError::Exists { .. })));
}

#[tokio::test]
async fn a_session_in_memory_leaves_nothing_and_never_fails() {
    let mut log = Log::in_memory(header());
    let id = append(&mut log, "one");
    assert_eq!(log.leaf(), Some(&id));
    assert!(log.move_leaf(None, now()));
    log.barrier().await.expect("memory has no disk");
    assert_eq!(log.path(), None);
}

#[tokio::test]
async fn one_process_a_session_and_the_message_names_it() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("s.jsonl");
    let mut log = Log::create(path.clone(), header()).expect("nothing is there");
    append(&mut log, "one");
    let Err(StoreError::Locked { pid, .. }) = Log::open(&path) else { panic!("it is locked") };
    assert_eq!(pid, Some(std::process::id()));
    drop(log);
    // A note of a process that is gone decides nothing.
    fs::write(path.with_extension("pid"), "1").expect("it can be written");
    let (second, _) = Log::open(&path).expect("the lock is gone");
    assert!(matches!(Log::open(&path), Err(StoreError::Locked { .. })));
    drop(second);
    assert_eq!(fs::read_dir(dir.path()).expect("it can be read").count(), 1);
}

#[tokio::test]
async fn a_torn_tail_is_closed_by_the_first_append_and_stays() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("s.jsonl");
    let torn = format!("{}\n{}", FIXTURE.trim_end(), r#"{"type":"message","id":"torn","par"#);
    fs::write(&path, &torn).expect("it can be written");
    let (mut log, opened) = Log::open(&path).expect("it opens");
    assert_eq!(opened.warnings.len(), 1);
    assert_eq!(log.leaf(), Some(&EntryId::new("772a5bf8")));
    assert_eq!(fs::read_to_string(&path).expect("it can be read"), torn, "opening changes nothing");
    append(&mut log, "after");
    log.barrier().await.expect("the disk works");
    let text = fs::read_to_string(&path).expect("it can be read");
    assert!(text.starts_with(&format!("{torn}\n{{\"type\":\"session_info\"")));
    drop(log);
    let (log, opened) = Log::open(&path).expect("it opens");
    assert_eq!(opened.tree.path_to(log.leaf()).len(), FIXTURE.lines().count());
}

#[tokio::test]
async fn a_session_of_pi_goes_on_and_its_lines_stay() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("s.jsonl");
    fs::write(&path, FIXTURE).expect("it can be written");
    let (mut log, opened) = Log::open(&path).expect("it opens");
    assert_eq!(log.leaf(), opened.tree.leaf());
    let target = EntryId::new("00164f18");
    assert!(log.move_leaf(Some(target.clone()), now()));
    assert!(!log.move_leaf(Some(EntryId::new("nobody")), now()));
    let after = append(&mut log, "after");
    log.barrier().await.expect("the disk works");
    let text = fs::read_to_string(&path).expect("it can be read");
    assert!(text.starts_with(FIXTURE));
    let added: Vec<serde_json::Value> = text
        .lines()
        .skip(FIXTURE.lines().count())
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    assert_eq!(added.len(), 2);
    assert_eq!(added[0]["customType"], "mynah.leaf");
    assert_eq!(added[0]["parentId"], target.as_str());
    assert_eq!(added[1]["parentId"], added[0]["id"]);
    drop(log);
    let (log, opened) = Log::open(&path).expect("it opens");
    assert_eq!(log.leaf(), Some(&after));
    let path = opened.tree.path_to(log.leaf());
    assert!(path.iter().any(|entry| entry.id == target));
    assert!(!path.iter().any(|entry| entry.id.as_str() == "772a5bf8"));
}

#[tokio::test]
async fn a_move_before_the_first_entry_begins_another_root() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("s.jsonl");
    let mut log = Log::create(path.clone(), header()).expect("nothing is there");
    append(&mut log, "one");
    assert!(log.move_leaf(None, now()));
    append(&mut log, "two");
    drop(log);
    let (_, opened) = Log::open(&path).expect("it opens");
    assert_eq!(opened.tree.children(None).len(), 2);
    assert_eq!(opened.tree.path_to(opened.tree.leaf()).len(), 2);
    assert_eq!(opened.warnings, [] as [&str; 0]);
}

#[test]
fn foreign_files_are_refused_and_stay() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("s.jsonl");
    assert!(matches!(Log::open(&path), Err(StoreError::Missing { .. })));
    assert!(!path.exists());
    for text in ["", "# notes\n", "{\"type\":\"message\",\"id\":\"a\"}\n"] {
        fs::write(&path, text).expect("it can be written");
        assert!(matches!(Log::open(&path), Err(StoreError::NotASession { .. })), "{text}");
        assert_eq!(fs::read_to_string(&path).expect("it can be read"), text);
        assert!(!path.with_extension("pid").exists());
    }
    assert!(matches!(Log::open(dir.path()), Err(StoreError::Read { .. })));
}

/// A disk that does what it is told.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<DiskState>>);

#[derive(Default)]
struct DiskState {
    written: Vec<u8>,
    /// For each coming write: how many bytes it takes, or how it fails. Afterwards everything works.
    plan: VecDeque<Result<usize, io::ErrorKind>>,
    failing_syncs: usize,
}

impl Disk {
    fn log(&self) -> Log {
        Log {
            writer: Writer::open(PathBuf::from("/s.jsonl"), Box::new(self.clone())),
            ..Log::in_memory(header())
        }
    }

    fn plan(&self, plan: impl IntoIterator<Item = Result<usize, io::ErrorKind>>) {
        self.0.lock().expect("not poisoned").plan.extend(plan);
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("not poisoned").written.clone()).expect("text")
    }
}

impl DiskState {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match self.plan.pop_front() {
            None => bytes.len(),
            Some(Ok(count)) => count.min(bytes.len()),
            Some(Err(kind)) => return Err(kind.into()),
        };
        self.written.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn sync(&mut self) -> io::Result<()> {
        let Some(left) = self.failing_syncs.checked_sub(1) else { return Ok(()) };
        self.failing_syncs = left;
        Err(io::ErrorKind::StorageFull.into())
    }
}

impl Storage for Disk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("not poisoned").append(bytes)
    }

    fn sync(&self) -> Box<dyn FnOnce() -> io::Result<()> + Send> {
        let state = Arc::clone(&self.0);
        Box::new(move || state.lock().expect("not poisoned").sync())
    }
}

fn is_write(result: &Result<(), StoreError>, expected: bool) -> bool {
    matches!(result, Err(StoreError::Write { recovered, .. }) if *recovered == expected)
}

#[tokio::test]
async fn a_failure_is_reported_once_and_then_healed() {
    let disk = Disk::default();
    let mut log = disk.log();
    append(&mut log, "one");
    disk.plan([Ok(10), Err(io::ErrorKind::StorageFull), Err(io::ErrorKind::StorageFull)]);
    append(&mut log, "two");
    append(&mut log, "three");
    assert!(is_write(&log.barrier().await, true), "the barrier's own try mended it");
    log.barrier().await.expect("reported once");
    let names: Vec<_> = disk.text().lines().map(|line| line.contains("\"session_info\"")).collect();
    assert_eq!(names, [true; 3]);
}

#[tokio::test]
async fn a_disk_that_stays_full_fails_every_barrier_and_loses_nothing() {
    let disk = Disk::default();
    let mut log = disk.log();
    disk.plan([Err(io::ErrorKind::StorageFull); 3]);
    append(&mut log, "one");
    assert!(is_write(&log.barrier().await, false));
    assert!(is_write(&log.barrier().await, false));
    assert_eq!(disk.text(), "");
    log.barrier().await.expect("there is room again");
    assert_eq!(disk.text().lines().count(), 1);
}

#[test]
fn a_barrier_nobody_waits_for_leaves_its_failure_to_the_next() {
    // One thread for blocking work: the syncs run in the order of the barriers.
    let runtime =
        tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().expect("a runtime");
    runtime.block_on(async {
        let disk = Disk::default();
        let mut log = disk.log();
        append(&mut log, "one");
        disk.0.lock().expect("not poisoned").failing_syncs = 1;
        drop(log.barrier());
        assert!(matches!(log.barrier().await, Err(StoreError::Sync { .. })));
        log.barrier().await.expect("reported once");
    });
}

#[tokio::test]
async fn two_barriers_at_once_never_say_that_unwritten_entries_are_safe() {
    let disk = Disk::default();
    let mut log = disk.log();
    append(&mut log, "one");
    let early = log.barrier();
    disk.plan([Err(io::ErrorKind::StorageFull); 2]);
    append(&mut log, "two");
    let late = log.barrier();
    // The first takes the failure and for the second the entry is still not written. Nobody knows which is heard first.
    for barrier in [early, late] {
        let error = barrier.await.expect_err("not everything is written").to_string();
        assert!(error.contains("could not be written: the disk is full"), "{error}");
    }
    log.barrier().await.expect("there is room again");
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_told_at_the_barrier_and_tried_again() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = dir.path().join("sessions");
    // A file where the folder should be: fails for every user, root included.
    fs::write(&folder, "").expect("it can be written");
    let path = folder.join("s.jsonl");
    let mut log = Log::create(path.clone(), header()).expect("nothing is there");
    append(&mut log, "one");
    assert!(is_write(&log.barrier().await, false));
    fs::remove_file(&folder).expect("it can be removed");
    append(&mut log, "two");
    log.barrier().await.expect("now there is a folder");
    drop(log);
    let (_, opened) = Log::open(&path).expect("it opens");
    assert_eq!(opened.tree.entries().len(), 2);
}

#[test]
fn a_log_that_is_gone_is_free_though_a_sync_still_waits() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("s.jsonl");
    let runtime =
        tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().expect("a runtime");
    runtime.block_on(async {
        let (free, busy) = std::sync::mpsc::channel::<()>();
        let occupied = tokio::task::spawn_blocking(move || busy.recv());
        let mut log = Log::create(path.clone(), header()).expect("nothing is there");
        append(&mut log, "one");
        let barrier = log.barrier();
        drop(log);
        let reopened = Log::open(&path).map(|(_, opened)| opened.tree.entries().len());
        drop(free);
        assert!(occupied.await.expect("it ends").is_err());
        assert_eq!(reopened.expect("nobody has it"), 1);
        barrier.await.expect("saved");
    });
}

#[derive(Clone, Debug)]
enum Step {
    Append(String),
    Move(Option<prop::sample::Index>),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => ".{0,8}".prop_map(Step::Append),
        1 => prop::option::of(any::<prop::sample::Index>()).prop_map(Step::Move),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// What a log says of itself is what its file says, whatever the disk did in between.
    #[test]
    fn append_equals_replay(
        steps in prop::collection::vec(step(), 1..20),
        plan in prop::collection::vec(prop_oneof![(0_usize..50).prop_map(|n| Ok(n + 1)), Just(Err(io::ErrorKind::StorageFull))], 0..30),
    ) {
        let disk = Disk::default();
        disk.plan(plan);
        let mut log = disk.log();
        log.before_next = line::write_header(&header()).expect("it can be written");
        let mut ids = Vec::new();
        for step in steps {
            match step {
                Step::Append(text) => ids.push(append(&mut log, &text)),
                Step::Move(to) => {
                    let to = to.filter(|_| !ids.is_empty()).map(|to| to.get(&ids).clone());
                    prop_assert!(log.move_leaf(to, now()));
                    ids.extend(log.leaf().cloned());
                }
            }
        }
        disk.0.lock().expect("not poisoned").plan.clear();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let _ = log.barrier().await;
            log.barrier().await.expect("the disk works again");
        });
        let replay = replay::read_from(disk.text().as_bytes(), Path::new("/s.jsonl")).expect("it opens");
        prop_assert_eq!(&replay.warnings, &[] as &[String]);
        prop_assert_eq!(replay.tree.entries().iter().map(|e| e.id.clone()).collect::<Vec<_>>(), ids);
        prop_assert_eq!(replay.tree.leaf(), log.leaf());
        prop_assert_eq!(replay.tree.ids(), log.ids);
    }
}
