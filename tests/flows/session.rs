//! The session log: what it holds after a run, which session a run goes on with, and what a kill leaves of it.

use super::wire::{self, Said};
use super::{CHAT, Run, mynah, run, session_files, session_lines};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

const PI_SESSION: &str = include_str!("../fixtures/pi/session-v3-pi-1.6.0.jsonl");

/// Each entry but the first names the one before it, and no id comes twice.
fn assert_chain(lines: &[Value]) {
    assert_eq!(lines[0]["type"], "session");
    let mut ids = HashSet::new();
    let mut before = &Value::Null;
    for line in &lines[1..] {
        assert_eq!(&line["parentId"], before, "{line}");
        before = &line["id"];
        assert!(ids.insert(before.as_str().unwrap()), "{before} comes twice");
    }
}

/// One prompt in a new session of a project, answered with this text.
fn one_session(home: &Home, answer: &str, arguments: &[&str]) -> String {
    let server = ModelServer::start(vec![Step::text(answer)]);
    let known: HashSet<_> = session_files(home).into_iter().collect();
    let ended = run(CHAT.command(home, &server).arg("hi").args(arguments));
    assert_eq!((ended.stdout, ended.code), (format!("{answer}\n"), 0), "{}", ended.stderr);
    let file = session_files(home).into_iter().find(|file| !known.contains(file)).unwrap();
    session_lines(&file)[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_log_is_a_chain_that_holds_everything() {
    let home = Home::new();
    home.write("a.txt", "alpha\n");
    let server = ModelServer::start(vec![
        Step::text("Reading.").call("read", json!({"path": "a.txt"})),
        Step::text("Done."),
        Step::text("Done again."),
    ]);
    run(CHAT.command(&home, &server).args(["--name", "First try", "Read a.txt."]));
    run(CHAT.command(&home, &server).args(["-c", "Again."]));
    let files = session_files(&home);
    assert_eq!(files.len(), 1);
    let lines = session_lines(&files[0]);
    assert_chain(&lines);
    assert_eq!(lines[0]["cwd"], home.project().to_str().unwrap());
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["message"]["role"].as_str().unwrap_or_else(|| line["type"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [
            "session",
            "model_change",
            "thinking_level_change",
            "session_info",
            "system",
            "user",
            "assistant",
            "toolResult",
            "assistant",
            "user",
            "assistant"
        ]
    );
    assert_eq!(lines[3]["name"], "First try");
}

/// What keys Pi writes, by type and role.
fn shapes(lines: &[Value]) -> BTreeMap<String, BTreeSet<String>> {
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let mut shapes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in lines {
        let kind = line["type"].as_str().unwrap();
        shapes.entry(kind.to_owned()).or_default().extend(keys(line));
        if let Some(role) = line["message"]["role"].as_str() {
            shapes.entry(format!("{kind} {role}")).or_default().extend(keys(&line["message"]));
        }
    }
    shapes
}

#[test]
fn a_session_of_pi_goes_on_in_its_own_format() {
    let home = Home::new();
    home.write("a.txt", "alpha\n");
    let file = home.write("pi.jsonl", PI_SESSION);
    let server = ModelServer::start(vec![
        Step::text("Reading.").call("read", json!({"path": "a.txt"})),
        Step::text("Done."),
        Step::text("Still here."),
    ]);
    for (prompt, answer) in [("Read a.txt.", "Done.\n"), ("And?", "Still here.\n")] {
        let ended = run(CHAT.command(&home, &server).args(["--session", "pi.jsonl", prompt]));
        assert_eq!((ended.stdout.as_str(), ended.code), (answer, 0), "{ended:?}");
    }
    assert_eq!(server.violations(), Vec::<String>::new());

    // The model gets what Pi's compaction kept, and the system prompt is ours.
    let requests = server.requests();
    let texts = wire::user_texts(&requests[0]);
    assert!(texts[0].contains("Bench session"), "{texts:?}");
    assert_eq!(texts[1..], ["Say something else.", "And now?", "Read a.txt."], "{texts:?}");
    assert!(wire::history(&requests[0]).contains(&Said::Assistant("After the compaction.".to_owned())));
    assert!(wire::system(&requests[0]).starts_with("You are Mynah"));

    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(PI_SESSION), "lines of Pi changed");
    let lines = session_lines(&file);
    let (theirs, ours) = lines.split_at(PI_SESSION.lines().count());
    assert_chain_goes_on(theirs, ours);
    let pi = shapes(theirs);
    for (kind, keys) in shapes(ours) {
        let Some(known) = pi.get(&kind) else { panic!("Pi has no {kind}") };
        let new: Vec<_> = keys.difference(known).collect();
        // Extra keys of messages, which Pi passes over.
        let allowed: &[&str] = match kind.as_str() {
            "message assistant" => &["durationMs", "thinkingLevel", "responseModel"],
            "message system" => &["toolsRemoved"],
            _ => &[],
        };
        assert!(new.iter().all(|key| allowed.contains(&key.as_str())), "{kind}: {new:?}");
        let missing: Vec<_> = known.difference(&keys).collect();
        let optional = ["toolsRemoved", "details", "responseModel", "durationMs", "isError"];
        assert!(missing.iter().all(|key| optional.contains(&key.as_str())), "{kind} lacks {missing:?}");
    }
}

/// The first new entry hangs on the last old one.
fn assert_chain_goes_on(theirs: &[Value], ours: &[Value]) {
    let mut before = &theirs.last().unwrap()["id"];
    for line in ours {
        assert_eq!(&line["parentId"], before, "{line}");
        before = &line["id"];
    }
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id() {
    let home = Home::new();
    let first = one_session(&home, "One.", &[]);
    let second = one_session(&home, "Two.", &[]);
    let shared = first.chars().zip(second.chars()).take_while(|(a, b)| a == b).count();

    let server = ModelServer::start(vec![Step::text("Found.")]);
    let resume = |id: &str| run(CHAT.command(&home, &server).args(["--resume", id, "go on"]));
    let several = resume(first.get(..shared).unwrap());
    assert_eq!((several.code, several.stdout.as_str()), (1, ""));
    assert!(several.stderr.contains("fits 2 sessions") && several.stderr.contains(&second), "{several:?}");
    let unknown = resume("ffffffff");
    assert_eq!(unknown.code, 1);
    assert!(unknown.stderr.contains("There is no session `ffffffff`."), "{unknown:?}");
    assert_eq!(server.requests().len(), 0);
    let found = resume(first.get(..=shared).unwrap());
    assert_eq!(found.stdout, "Found.\n", "{found:?}");
    assert!(wire::history(&server.requests()[0]).contains(&Said::Assistant("One.".to_owned())));
}

#[test]
fn a_session_of_another_folder_is_not_taken_along_but_can_be_copied() {
    let home = Home::new();
    home.write("other/here", "");
    let id = one_session(&home, "One.", &[]);
    let original = session_files(&home)[0].clone();
    let before = fs::read_to_string(&original).unwrap();

    let server = ModelServer::start(vec![Step::text("Forked."), Step::text("Fresh.")]);
    let refused = run(CHAT.command(&home, &server).args(["--cwd", "other", "--resume", &id, "go on"]));
    assert_eq!(refused.code, 1);
    for part in [&format!("belongs to {}", home.project().display()), "--cwd ", &format!("--fork {id}")] {
        assert!(refused.stderr.contains(part), "{part}: {refused:?}");
    }
    let forked = run(CHAT.command(&home, &server).args(["--cwd", "other", "--fork", &id, "go on"]));
    assert_eq!(forked.stdout, "Forked.\n", "{forked:?}");
    assert_eq!(wire::user_texts(&server.requests()[0]), ["hi", "go on"]);
    assert_eq!(fs::read_to_string(&original).unwrap(), before);
    let copy = session_files(&home).into_iter().find(|file| *file != original).unwrap();
    let lines = session_lines(&copy);
    assert_chain(&lines);
    assert_eq!(lines[0]["cwd"], home.project().join("other").to_str().unwrap());
    assert_eq!(lines[0]["parentSession"], original.to_str().unwrap());
    assert_ne!(lines[0]["id"], id.as_str());

    // Nothing to go on with here: the prompt runs all the same.
    home.write("third/here", "");
    let fresh = run(CHAT.command(&home, &server).args(["--cwd", "third", "-c", "hello"]));
    assert_eq!(fresh.stdout, "Fresh.\n", "{fresh:?}");
}

#[test]
fn without_a_session_nothing_is_left() {
    let home = Home::new();
    let server = ModelServer::start(vec![Step::text("Gone."), Step::text("Gone too.")]);
    let gone = run(CHAT.command(&home, &server).args(["--no-session", "hi"]));
    assert_eq!(gone.stdout, "Gone.\n", "{gone:?}");
    let by_setting = run(CHAT.command(&home, &server).args(["--set", "session.save=false", "hi"]));
    assert_eq!(by_setting.stdout, "Gone too.\n", "{by_setting:?}");
    assert_eq!(session_files(&home), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_session_is_open_in_one_process_at_a_time() {
    let home = Home::new();
    let (held, gate) = Step::text("Answer of the first.").gate();
    let server = ModelServer::start(vec![Step::text("Begun."), held, Step::text("Answer of the third.")]);
    run(CHAT.command(&home, &server).arg("begin"));
    let first = Run::start(CHAT.command(&home, &server).args(["-c", "one"]));
    assert!(gate.wait_reached(super::DEADLINE));
    let second = run(CHAT.command(&home, &server).args(["-c", "two"]));
    assert_eq!((second.code, second.stdout.as_str()), (1, ""));
    let holder = format!("is open in another process ({})", first.pid().as_raw_nonzero());
    assert!(second.stderr.contains(&holder), "{second:?}");
    gate.open();
    assert_eq!(first.end().stdout, "Answer of the first.\n");
    let third = run(CHAT.command(&home, &server).args(["-c", "three"]));
    assert_eq!(third.stdout, "Answer of the third.\n", "{third:?}");
    assert_eq!(wire::user_texts(server.requests().last().unwrap()), ["begin", "one", "three"]);
}

#[test]
fn what_is_no_session_is_left_alone() {
    let home = Home::new();
    let file = home.write("notes.jsonl", "{\"a\":1}\n");
    let wrong = run(mynah(&home).args(["-p", "--model", "demo/tour", "--session", "notes.jsonl", "hi"]));
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.contains("is not a session file"), "{wrong:?}");
    assert_eq!(fs::read_to_string(file).unwrap(), "{\"a\":1}\n");
    let missing = run(mynah(&home).args(["-p", "--model", "demo/tour", "--session", "missing.jsonl", "hi"]));
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("There is no session `missing.jsonl`."), "{missing:?}");
}

/// Rounds of the conversation that is killed, and how often.
const ROUNDS: usize = 200;
const KILLS: usize = 10;

#[test]
fn kills_lose_nothing_that_was_accepted() {
    let home = Home::new();
    home.write("a.txt", "alpha\n");
    let step = |round: usize| {
        let step = Step::text(format!("Round {round}."));
        match round % 3 {
            0 => step.call("bash", json!({"command": format!("echo {round}")})),
            1 => step.call("read", json!({"path": "a.txt"})).call("bash", json!({"command": "true"})),
            _ => step.call("write", json!({"path": "b.txt", "content": format!("{round}\n")})),
        }
    };
    let server = ModelServer::start((0..ROUNDS).map(step).chain([Step::text("The end.")]).collect());
    let start = |prompt: &str| Run::start(CHAT.command(&home, &server).args(["--yolo", "-c", prompt]));
    let mut random = fastrand::Rng::with_seed(20_261_130);
    let mut begins = Vec::new();
    for kill in 0..KILLS {
        let before = server.requests().len();
        begins.push(before);
        let child = start(&format!("Prompt {kill}."));
        assert!(server.wait_for_requests(before + random.usize(1..ROUNDS / KILLS), super::DEADLINE));
        // Anywhere between two requests: in a response, in a command, in a write.
        std::thread::sleep(Duration::from_micros(random.u64(0..8_000)));
        child.signal(Signal::KILL);
        assert_eq!(child.end().code, 128 + Signal::KILL.as_raw());
    }
    begins.push(server.requests().len());
    let last = start("The last prompt.").end();
    assert_eq!((last.stdout.as_str(), last.code), ("The end.\n", 0), "{last:?}");

    let requests = server.requests();
    assert_eq!(requests.len(), ROUNDS + 1);
    assert_eq!(server.violations(), Vec::<String>::new());
    // What a request said was accepted: the first request after each kill still says it.
    for begin in begins.into_iter().filter(|begin| *begin > 0) {
        let (before, after) = (wire::history(&requests[begin - 1]), wire::history(&requests[begin]));
        assert_eq!(before, after[..before.len()], "request {begin}");
    }
    assert_eq!(wire::user_texts(requests.last().unwrap()).len(), KILLS + 1);
    let files = session_files(&home);
    assert_eq!(files.len(), 1);
    assert_chain(&readable_lines(&files[0]));
}

/// The lines of a file that may hold one that a kill has torn.
fn readable_lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
