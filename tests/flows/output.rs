//! Standard output and the end of a run.

use super::{CHAT, Run, mynah, run, session_files, session_lines};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::process::Stdio;

#[test]
fn output_that_nobody_takes_ends_the_run_and_keeps_the_session() {
    let home = Home::new();
    let server = ModelServer::start(vec![Step::text("hello")]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = CHAT.command(&home, &server);
    let child = command.args(["--mode", "json", "go"]).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    // Our own end of the pipe goes with the command.
    drop(command);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Standard output could not be written") && said.contains("is kept in"), "{said}");
}

#[test]
fn the_last_json_line_says_why_a_prompt_was_not_answered() {
    let home = Home::new();
    let server = ModelServer::start(vec![Step::status(401).message("who are you")]);
    let ended = run(CHAT.command(&home, &server).args(["--mode", "json", "go"]));
    assert_eq!(ended.code, 1);
    let lines: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let end = lines.iter().find(|line| line["type"] == "agent_end").expect("an end");
    let error = end["mynah_error"].as_str().unwrap();
    assert!(error.contains("who are you") && error.contains("OPENAI_API_KEY"), "{error}");
}

#[test]
fn a_signal_stops_the_turn_and_the_text_says_what_is_kept() {
    for (kept, text) in [(true, "The session keeps what was done so far."), (false, "Stopped.")] {
        let home = Home::new();
        let (step, gate) = Step::text("never said").call("bash", json!({"command": "sleep 600"})).gate();
        let server = ModelServer::start(vec![step]);
        let mut command = CHAT.command(&home, &server);
        command.arg("go");
        if !kept {
            command.arg("--no-session");
        }
        let run = Run::start(&mut command);
        assert!(gate.wait_reached(super::DEADLINE));
        run.signal(Signal::INT);
        let ended = run.end();
        assert_eq!((ended.code, ended.stdout.as_str()), (130, ""), "{ended:?}");
        assert!(ended.stderr.contains(text), "{}", ended.stderr);
        assert_eq!(ended.stderr.contains("The session keeps"), kept, "{}", ended.stderr);
        let files = session_files(&home);
        assert_eq!(files.len(), usize::from(kept));
        for file in files {
            assert!(session_lines(&file).iter().any(|line| line["message"]["role"] == "user"));
        }
    }
}

#[test]
fn a_cause_is_told_once() {
    let home = Home::new();
    let ended = run(mynah(&home).args(["-p", "--cwd", "/nowhere/at/all", "go"]));
    assert_eq!(ended.code, 1);
    assert_eq!(ended.stderr.matches("No such file").count(), 1, "{}", ended.stderr);
}
