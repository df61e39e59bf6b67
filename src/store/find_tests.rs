use super::*;
use crate::config::env::Env;
use crate::proto::ids::EntryId;
use crate::proto::message::{Block, UserMessage};
use crate::store::line::Header;
use crate::store::log::Log;
use std::sync::Arc;

struct World {
    dir: tempfile::TempDir,
    places: Places,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let home = dir.path().to_str().expect("a plain path").to_owned();
        Self { places: Places::from_env(&Env::of([("HOME", &home), ("MYNAH_HOME", &home)])), dir }
    }

    /// A session in which these things were said, one second apart, from this second on.
    fn session(&self, id: &str, cwd: &str, second: i64, said: &[&str]) -> PathBuf {
        let cwd = Path::new(cwd);
        let id = SessionId::new(id);
        let path = path_for_new(&self.places, cwd, &id, at(second));
        let mut log = Log::create(path.clone(), Header::new(id, cwd, at(second))).expect("nothing is there");
        for (place, text) in said.iter().enumerate() {
            let message = Message::User(UserMessage { content: vec![Block::text(*text)], timestamp: 0 });
            let kind = EntryKind::Message { message: Arc::new(message) };
            log.append(log.fresh_id(), kind, at(second + i64::try_from(place).expect("small")));
        }
        path
    }

    fn name(&self, path: &Path, name: &str, second: i64) {
        let (mut log, _) = Log::open(path).expect("it opens");
        log.append(EntryId::new("name"), EntryKind::SessionInfo { name: name.to_owned() }, at(second));
    }
}

fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_796_045_278 + second).expect("in range")
}

#[test]
fn a_new_file_is_where_pi_would_look() {
    let world = World::new();
    let path = path_for_new(&world.places, Path::new("/home/u/p"), &SessionId::new("x-1"), at(0));
    let expected = world.dir.path().join("state/sessions/--home-u-p--/2026-11-30T13-27-58-000Z_x-1.jsonl");
    assert_eq!(path, expected);
}

#[test]
fn the_newest_is_the_one_that_was_spoken_in_last() {
    let world = World::new();
    assert_eq!(newest_in(&world.places, Path::new("/w")), None);
    let old = world.session("old", "/w", 0, &["first", "second"]);
    let new = world.session("new", "/w", 10, &["hello"]);
    world.session("foreign", "/w-x", 20, &["elsewhere"]);
    // Naming a session does not bring it to the front.
    world.name(&old, "Named", 99);
    std::fs::write(world.places.sessions_of(Path::new("/w")).join("junk.jsonl"), "junk").expect("written");
    assert_eq!(newest_in(&world.places, Path::new("/w")), Some(new));
    let list = list(&world.places, Some(Path::new("/w")));
    let shown: Vec<_> =
        list.iter().map(|s| (s.id.as_str(), s.name.as_deref(), s.first_message.as_deref())).collect();
    assert_eq!(shown, [("new", None, Some("hello")), ("old", Some("Named"), Some("first"))]);
    assert_eq!(super::list(&world.places, None).len(), 3);
}

#[test]
fn two_folders_of_one_name_are_kept_apart() {
    let world = World::new();
    let one = world.session("one", "/a/b", 0, &["x"]);
    world.session("two", "/a-b", 5, &["y"]);
    assert_eq!(newest_in(&world.places, Path::new("/a/b")), Some(one));
}

#[test]
fn a_long_session_is_listed_by_its_ends() {
    let world = World::new();
    let long = "x".repeat(200 * 1024);
    let path = world.session("long", "/w", 0, &["begin", &long, &long, &long]);
    world.name(&path, "Named late", 50);
    let list = list(&world.places, Some(Path::new("/w")));
    let info = list.first().expect("it is listed");
    assert_eq!(info.first_message.as_deref(), Some("begin"));
    assert_eq!(info.name.as_deref(), Some("Named late"));
    assert_eq!(info.bytes, std::fs::metadata(&path).expect("it exists").len());
}

#[test]
fn ids_paths_and_beginnings_name_a_session() {
    let world = World::new();
    let one = world.session("abc-1", "/w", 0, &["x"]);
    let two = world.session("abc-12", "/v", 1, &["x"]);
    let by = |wanted: &str| by_prefix(&world.places, world.dir.path(), wanted);
    assert_eq!(by("abc-12"), Ok(two));
    assert_eq!(by("abc-1"), Ok(one.clone()), "a whole id wins");
    assert_eq!(by(one.to_str().expect("a plain path")), Ok(one.clone()));
    let from_home = one.strip_prefix(world.dir.path()).expect("it is inside").display().to_string();
    assert_eq!(by(&from_home), Ok(one.clone()), "a path without a root starts from the working directory");
    assert_eq!(by(&format!("~/{from_home}")), Ok(one));
    for nothing in ["", "xyz", "/no/such.jsonl", "no.jsonl"] {
        assert_eq!(by(nothing), Err(FindError::None { wanted: nothing.to_owned() }));
    }
    let Err(FindError::Several { ids, paths, .. }) = by("abc") else { panic!("two fit") };
    assert_eq!(ids, ["abc-1", "abc-12"]);
    assert_eq!(paths.len(), 2);
}
