use super::*;
use crate::config::env::Env;
use crate::store::log::Log;
use std::os::unix::fs::PermissionsExt;

const FIXTURE: &str = include_str!("../../tests/fixtures/pi/session-v3-pi-1.6.0.jsonl");

struct World {
    dir: tempfile::TempDir,
    places: Places,
    source: PathBuf,
}

impl World {
    fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let home = dir.path().to_str().expect("a plain path").to_owned();
        let source = dir.path().join("source.jsonl");
        fs::write(&source, text).expect("it can be written");
        Self { places: Places::from_env(&Env::of([("MYNAH_HOME", &home)])), dir, source }
    }

    fn fork(&self, at: Option<&str>) -> Result<PathBuf, StoreError> {
        let now = jiff::Timestamp::from_second(1_800_000_000).expect("in range");
        fork(&self.source, at.map(EntryId::new).as_ref(), Path::new("/new"), &self.places, now)
    }
}

#[test]
fn the_lines_of_the_branch_travel_as_they_are() {
    let extra = r#"{"type":"dance","id":"left","parentId":"00164f18","timestamp":"t","steps":[1, 2]}"#;
    let world = World::new(&format!("{FIXTURE}{extra}"));
    let path = world.fork(None).expect("it can be forked");
    let text = fs::read_to_string(&path).expect("it can be read");
    let mut expected: Vec<&str> = FIXTURE.lines().skip(1).take(10).collect();
    expected.push(extra);
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), expected);
    assert!(text.ends_with('\n'));
    let (log, opened) = Log::open(&path).expect("it opens");
    assert_eq!(log.header().cwd, Path::new("/new"));
    assert_eq!(log.header().version, 3);
    assert_eq!(log.header().parent_session.as_deref(), world.source.to_str());
    assert_eq!(opened.warnings, [] as [&str; 0]);
    assert_eq!(fs::metadata(&path).expect("it exists").permissions().mode() & 0o777, 0o600);
    let other = world.fork(Some("772a5bf8")).expect("it can be forked");
    let text = fs::read_to_string(other).expect("it can be read");
    assert!(FIXTURE.ends_with(text.split_once('\n').expect("two lines").1));
    assert!(!text.contains("dance"));
}

#[test]
fn an_old_format_is_brought_up_to_date() {
    let world = World::new(concat!(
        r#"{"type":"session","id":"s","timestamp":"t","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","timestamp":"t","message":{"role":"user","content":"one","timestamp":1}}"#,
        "\n",
        r#"{"type":"dance","timestamp":"t","steps":3}"#,
    ));
    let path = world.fork(Some("00000002")).expect("it can be forked");
    let text = fs::read_to_string(path).expect("it can be read");
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            r#"{"type":"message","id":"00000001","parentId":null,"timestamp":"t","message":{"role":"user","content":"one","timestamp":1}}"#,
            r#"{"type":"dance","id":"00000002","parentId":"00000001","timestamp":"t","steps":3}"#,
        ]
    );
}

#[test]
fn failures_leave_nothing_behind() {
    let world = World::new(FIXTURE);
    assert!(matches!(world.fork(Some("nobody")), Err(StoreError::NoSuchEntry { .. })));
    assert!(!world.places.state.exists());
    // A file where the folder should be.
    fs::create_dir_all(&world.places.state).expect("it can be made");
    fs::write(world.places.sessions(), "").expect("it can be written");
    assert!(matches!(world.fork(None), Err(StoreError::Create { .. })));
    fs::remove_file(&world.source).expect("it can be removed");
    assert!(matches!(world.fork(None), Err(StoreError::Missing { .. })));
    assert!(world.dir.path().exists());
}

#[test]
fn a_header_alone_can_be_forked() {
    let world = World::new(FIXTURE.lines().next().expect("a first line"));
    let path = world.fork(None).expect("it can be forked");
    assert!(Log::open(&path).expect("it opens").1.tree.entries().is_empty());
}
