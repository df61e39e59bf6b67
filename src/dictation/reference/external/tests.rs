//! Pi and Codex sessions in made-up runtime folders and `/proc` folders: one that fits, and each way not to.

use super::focus::{Compositor, Foreground, Terminal, Window, focused_pane};
use super::*;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::Instant;
use tempfile::TempDir;

const PID: u32 = 4242;

struct Focused(&'static str);

impl Compositor for Focused {
    fn focused(&self) -> Option<Window> {
        Some(Window { class: self.0.to_owned(), pid: 7 })
    }
}

struct Runs(&'static [&'static str]);

impl Terminal for Runs {
    fn foreground(&self, terminal: u32) -> Option<Vec<Foreground>> {
        assert_eq!(terminal, 7);
        let of = |name: &&str| Foreground { pid: PID, cmdline: vec![(*name).to_owned()] };
        Some(self.0.iter().map(of).collect())
    }
}

/// A made-up machine.
struct Machine {
    folder: TempDir,
    root: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let machine = Self { folder, root };
        machine.set_ticks(99);
        fs::create_dir_all(machine.at("proc/4242/fd")).unwrap();
        fs::create_dir_all(machine.at("home/.pi/agent/sessions/a")).unwrap();
        fs::create_dir_all(machine.at("home/.codex/sessions/2026")).unwrap();
        fs::create_dir_all(machine.registry()).unwrap();
        machine.mode(&machine.registry(), 0o700);
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn registry(&self) -> PathBuf {
        self.at("run/voice-input/agent-sessions")
    }

    fn note(&self) -> PathBuf {
        self.registry().join("pi-4242.json")
    }

    fn session(&self) -> PathBuf {
        self.at("home/.pi/agent/sessions/a/s.jsonl")
    }

    fn mode(&self, path: &Path, mode: u32) {
        assert!(self.folder.path().exists());
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn set_ticks(&self, ticks: u64) {
        let fields = vec!["0"; 18].join(" ");
        fs::create_dir_all(self.at("proc/4242")).unwrap();
        fs::write(self.at("proc/4242/stat"), format!("4242 (a) b) S {fields} {ticks} 1 2\n")).unwrap();
    }

    fn write_note(&self, change: impl Fn(&mut Value)) {
        let mut note = json!({"version": 1, "instanceId": "i", "pid": PID, "startTicks": 99, "sessionId": "s1",
            "sessionFile": self.session(), "cwd": "/", "updatedAtMs": 1});
        change(&mut note);
        fs::write(self.note(), note.to_string()).unwrap();
        self.mode(&self.note(), 0o600);
    }

    fn write_session(&self, lines: &[Value]) {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(self.session(), lines.join("\n") + "\n").unwrap();
    }

    fn places(&self) -> Places {
        Places { processes: self.at("proc"), runtime: Some(self.at("run")), home: self.at("home") }
    }

    fn find(&self, called: &'static [&'static str]) -> Option<Found> {
        find(&self.places(), &Focused("Kitty"), &Runs(called))
    }

    fn pi(&self) -> Option<String> {
        self.find(&["/usr/bin/fish", "/usr/bin/pi"])?.session.message()
    }

    fn codex(&self) -> Option<String> {
        self.find(&["codex"])?.session.message()
    }

    /// A session file of Codex that the process holds open as this number.
    fn open_codex(&self, path: &str, number: u32, header: &Value, lines: &[Value]) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines: Vec<String> = [header].into_iter().chain(lines).map(Value::to_string).collect();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        symlink(path, self.at(&format!("proc/4242/fd/{number}"))).unwrap();
    }
}

fn header() -> Value {
    json!({"type": "session", "version": 3, "id": "s1", "cwd": "/"})
}

fn said(id: &str, parent: Option<&str>, stop: &str, text: &str) -> Value {
    let content = json!([{"type": "thinking", "thinking": "t"}, {"type": "text", "text": text}]);
    json!({"type": "message", "id": id, "parentId": parent,
        "message": {"role": "assistant", "stopReason": stop, "content": content}})
}

fn good() -> Machine {
    let machine = Machine::new();
    machine.write_note(|_| {});
    let branch = [
        header(),
        said("a", None, "stop", "first"),
        said("b", Some("a"), "stop", "left"),
        said("c", Some("a"), "toolUse", "tools"),
    ];
    machine.write_session(&branch);
    machine
}

#[test]
fn a_pi_session_that_fits() {
    let machine = good();
    assert_eq!(machine.pi().as_deref(), Some("first"));
    // What is written after the stop is not read.
    let mut found = machine.find(&["pi"]).unwrap();
    let mut text = fs::read_to_string(machine.session()).unwrap();
    text.push_str(&said("d", Some("c"), "stop", "later").to_string());
    fs::write(machine.session(), text + "\n").unwrap();
    assert_eq!(found.session.message().as_deref(), Some("first"));
    assert_eq!(machine.pi().as_deref(), Some("later"));
    let excerpt = machine.find(&["pi"]).unwrap().excerpt(6_000).unwrap();
    assert_eq!((excerpt.agent(), excerpt.text()), (Agent::Pi, "later"));
    // The second version of the note brings the message along.
    machine.write_note(|note| {
        note["version"] = 2.into();
        note["latestCompletedMessage"] = "of the note".into();
    });
    assert_eq!(machine.pi().as_deref(), Some("of the note"));
}

#[test]
fn a_pi_session_with_anything_wrong_is_none() {
    type Break = fn(&Machine);
    let table: Vec<(&str, Break)> = vec![
        ("the note is for others to read", |m| m.mode(&m.note(), 0o644)),
        ("the note has another mode", |m| m.mode(&m.note(), 0o400)),
        ("the folder is for others to read", |m| m.mode(&m.registry(), 0o755)),
        ("the note is a link", |m| {
            fs::rename(m.note(), m.at("note")).unwrap();
            symlink(m.at("note"), m.note()).unwrap();
        }),
        ("the folder is a link", |m| {
            fs::rename(m.registry(), m.at("notes")).unwrap();
            symlink(m.at("notes"), m.registry()).unwrap();
        }),
        ("there is no note", |m| fs::remove_file(m.note()).unwrap()),
        ("the note is a folder", |m| {
            fs::remove_file(m.note()).unwrap();
            fs::create_dir(m.note()).unwrap();
        }),
        ("the note is cut off", |m| fs::write(m.note(), "{\"version\": 1, \"pid\"").unwrap()),
        ("the note is huge", |m| m.write_note(|note| note["cwd"] = "x".repeat(300_000).into())),
        ("version 3", |m| m.write_note(|note| note["version"] = 3.into())),
        ("version 0", |m| m.write_note(|note| note["version"] = 0.into())),
        ("another process", |m| m.write_note(|note| note["pid"] = 4243.into())),
        ("an older process of the same id", |m| m.write_note(|note| note["startTicks"] = 98.into())),
        ("the process is gone", |m| fs::remove_file(m.at("proc/4242/stat")).unwrap()),
        ("a file elsewhere", |m| {
            fs::copy(m.session(), m.at("home/s.jsonl")).unwrap();
            m.write_note(|note| note["sessionFile"] = m.at("home/s.jsonl").to_string_lossy().into());
        }),
        ("dots lead out of the folder", |m| {
            fs::copy(m.session(), m.at("home/s.jsonl")).unwrap();
            let path = m.at("home/.pi/agent/sessions/../../../s.jsonl");
            m.write_note(|note| note["sessionFile"] = path.to_string_lossy().into());
        }),
        ("a link leads out of the folder", |m| {
            fs::rename(m.session(), m.at("home/s.jsonl")).unwrap();
            symlink(m.at("home/s.jsonl"), m.session()).unwrap();
        }),
        ("a folder that is a link leads out", |m| {
            fs::rename(m.at("home/.pi/agent/sessions/a"), m.at("home/a")).unwrap();
            symlink(m.at("home/a"), m.at("home/.pi/agent/sessions/a")).unwrap();
        }),
        ("another session's header", |m| m.write_note(|note| note["sessionId"] = "s2".into())),
        ("a header of another type", |m| {
            m.write_session(&[json!({"type": "x", "id": "s1"}), said("a", None, "stop", "x")]);
        }),
        ("a huge header", |m| {
            let mut header = header();
            header["cwd"] = "x".repeat(128 * 1024).into();
            m.write_session(&[header, said("a", None, "stop", "x")]);
        }),
        ("a header without an end", |m| fs::write(m.session(), header().to_string()).unwrap()),
        ("only what broke off", |m| {
            m.write_session(&[header(), said("a", None, "aborted", "x"), said("b", Some("a"), "error", "y")]);
        }),
        ("a parent that is not there", |m| {
            m.write_session(&[header(), said("b", Some("a"), "toolUse", "y")]);
        }),
        ("a parent before the last eight megabytes", |m| {
            let long = "x".repeat(9 * 1024 * 1024);
            m.write_session(&[
                header(),
                said("a", None, "stop", "y"),
                said("b", Some("a"), "aborted", &long),
            ]);
        }),
        ("blank", |m| m.write_session(&[header(), said("a", None, "stop", " \n")])),
        ("a loop", |m| {
            m.write_session(&[
                header(),
                said("a", Some("b"), "error", "x"),
                said("b", Some("a"), "error", "x"),
            ]);
        }),
        ("nothing but a header", |m| m.write_session(&[header()])),
    ];
    assert!(table.len() >= 22);
    for (name, break_it) in table {
        let machine = good();
        break_it(&machine);
        assert_eq!(machine.pi(), None, "{name}");
    }
}

#[test]
fn what_changes_between_the_stop_and_the_request_gives_nothing() {
    type Break = fn(&Machine);
    let table: Vec<(&str, Break)> = vec![
        ("another process has the id", |m| m.set_ticks(100)),
        ("another file is at the path", |m| {
            fs::copy(m.session(), m.at("new")).unwrap();
            fs::rename(m.at("new"), m.session()).unwrap();
        }),
        ("the file is gone", |m| fs::remove_file(m.session()).unwrap()),
        ("the file became a link to itself elsewhere", |m| {
            fs::rename(m.session(), m.at("elsewhere")).unwrap();
            symlink(m.at("elsewhere"), m.session()).unwrap();
        }),
        ("the header is another one", |m| m.write_session(&vec![json!({"type": "session", "id": "s2"}); 40])),
    ];
    for (name, break_it) in table {
        let machine = good();
        let mut found = machine.find(&["pi"]).unwrap();
        break_it(&machine);
        assert_eq!(found.session.message(), None, "{name}");
    }
}

#[test]
fn a_cut_message_of_a_note_loses_the_lines_that_were_cut_into() {
    let machine = good();
    let message = format!("{}\npassword: hun\n…\nter2 secret rest\nkept", "a".repeat(11_990));
    machine.write_note(|note| {
        note["version"] = 2.into();
        note["latestCompletedMessage"] = message.as_str().into();
    });
    let read = machine.pi().unwrap();
    assert!(read.ends_with("kept") && !read.contains("ter2") && !read.contains("hun"), "{read}");
}

#[test]
fn other_windows_and_other_programs_are_none() {
    let machine = good();
    assert!(find(&machine.places(), &Focused("foot"), &Runs(&["pi"])).is_none());
    for called in [&["pip"] as &'static [&'static str], &["/usr/bin/pi-extra"], &["PI"], &["node"], &[]] {
        assert!(machine.find(called).is_none(), "{called:?}");
    }
    // The last one counts.
    assert!(machine.find(&["pi", "codex"]).is_none());
}

#[test]
fn the_focused_pane_is_one_or_none() {
    let pane = |focused: bool, pid: u32| json!({"is_focused": focused, "foreground_processes": [{"pid": pid, "cmdline": ["pi"]}]});
    let window = |focused: bool, panes: Vec<Value>| json!({"is_focused": focused, "tabs": [{"is_focused": true, "windows": panes}, {"is_focused": false, "windows": [pane(true, 9)]}]});
    for (listing, expected) in [
        (json!([window(true, vec![pane(false, 1), pane(true, 2)])]), Some(2)),
        (json!([window(false, vec![pane(true, 1)]), window(true, vec![pane(true, 2)])]), Some(2)),
        (json!([window(true, vec![pane(true, 1), pane(true, 2)])]), None),
        (json!([window(false, vec![pane(true, 1)])]), None),
        (json!({}), None),
    ] {
        let found = focused_pane(listing.to_string().as_bytes()).map(|processes| processes[0].pid);
        assert_eq!(found, expected, "{listing}");
    }
}

fn meta(source: &str, thread: &str) -> Value {
    json!({"type": "session_meta", "payload": {"id": "c1", "source": source, "thread_source": thread}})
}

fn answer(text: &str) -> Value {
    json!({"type": "response_item", "payload": {"type": "message", "role": "assistant", "phase": "final_answer",
        "content": [{"type": "output_text", "text": text}]}})
}

fn done(text: &str) -> Value {
    json!({"type": "event_msg", "payload": {"type": "task_complete", "last_agent_message": text}})
}

#[test]
fn codex_sessions() {
    const PATH: &str = "home/.codex/sessions/2026/r.jsonl";
    type Prepare = fn(&Machine);
    let table: Vec<(&str, Prepare, Option<&str>)> = vec![
        ("one that fits", |m| m.open_codex(PATH, 3, &meta("cli", "user"), &[answer("a")]), Some("a")),
        (
            "a final answer wins over a completed task",
            |m| m.open_codex(PATH, 3, &meta("cli", "user"), &[answer("a"), done("b")]),
            Some("a"),
        ),
        ("a completed task", |m| m.open_codex(PATH, 3, &meta("cli", "user"), &[done("b")]), Some("b")),
        ("no answer yet", |m| m.open_codex(PATH, 3, &meta("cli", "user"), &[]), None),
        ("another source", |m| m.open_codex(PATH, 3, &meta("exec", "user"), &[answer("a")]), None),
        ("another thread source", |m| m.open_codex(PATH, 3, &meta("cli", "subagent"), &[answer("a")]), None),
        (
            "two sessions",
            |m| {
                m.open_codex(PATH, 3, &meta("cli", "user"), &[answer("a")]);
                m.open_codex("home/.codex/sessions/2026/q.jsonl", 4, &meta("cli", "user"), &[answer("b")]);
            },
            None,
        ),
        (
            "one session, open twice",
            |m| {
                m.open_codex(PATH, 3, &meta("cli", "user"), &[answer("a")]);
                symlink(m.at(PATH), m.at("proc/4242/fd/9")).unwrap();
            },
            Some("a"),
        ),
        (
            "a second file that does not count",
            |m| {
                m.open_codex(PATH, 3, &meta("cli", "user"), &[answer("a")]);
                m.open_codex("home/.codex/history.jsonl", 4, &meta("cli", "user"), &[answer("b")]);
                m.open_codex("home/.codex/sessions/x.log", 5, &meta("cli", "user"), &[answer("c")]);
            },
            Some("a"),
        ),
        (
            "the home of the process wins over ours",
            |m| {
                let home = m.at("other");
                fs::write(m.at("proc/4242/environ"), format!("A=1\0CODEX_HOME={}\0B=2\0", home.display()))
                    .unwrap();
                m.open_codex(PATH, 3, &meta("cli", "user"), &[answer("ours")]);
                m.open_codex("other/sessions/r.jsonl", 4, &meta("cli", "user"), &[answer("its own")]);
            },
            Some("its own"),
        ),
        (
            "open files can't be listed",
            |m| {
                m.open_codex(PATH, 3, &meta("cli", "user"), &[answer("a")]);
                fs::rename(m.at("proc/4242/fd"), m.at("proc/4242/gone")).unwrap();
            },
            None,
        ),
    ];
    for (name, prepare, expected) in table {
        let machine = Machine::new();
        fs::write(machine.at("proc/4242/environ"), "A=1\0").unwrap();
        prepare(&machine);
        assert_eq!(machine.codex().as_deref(), expected, "{name}");
    }
}

/// Asks a program that sleeps.
struct Sleeps;

impl Compositor for Sleeps {
    fn focused(&self) -> Option<Window> {
        let output = helper::output("sleep", &["60"], focus::LIMIT)?;
        serde_json::from_slice(&output).ok()
    }
}

#[test]
fn a_helper_that_hangs_holds_nobody_up() {
    let machine = good();
    let begun = Instant::now();
    let search = Search::begin(machine.places(), Box::new(Sleeps), Box::new(Runs(&["pi"]))).unwrap();
    // Beginning costs no frame; a machine at work may take a moment for a thread.
    assert!(begun.elapsed() < Duration::from_millis(500));
    assert!(search.excerpt(6_000, Duration::from_secs(20)).is_none());
    assert!(begun.elapsed() < Duration::from_secs(15));
    let search =
        Search::begin(machine.places(), Box::new(Focused("kitty")), Box::new(Runs(&["pi"]))).unwrap();
    assert_eq!(search.excerpt(6_000, Duration::from_secs(20)).unwrap().text(), "first");
}
