//! What goes wrong with the program itself and those who run it: signals, streams, prompts.

use super::{
    CHAT, DEADLINE, DIALECTS, Dialect, Run, assert_clean, mynah, processes_of, run, said, session_files,
    session_lines, wait_until,
};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const PROMPT: &str = "mend the roof";

/// Signals that people and systems stop programs with, and the exit code that shells know them by.
const STOPS: [(Signal, i32); 3] = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];

#[test]
fn a_signal_while_the_model_answers() {
    for dialect in DIALECTS {
        for (signal, code) in STOPS {
            let (step, gate) = Step::text("A long answer that is never heard to its end").gate_after(2);
            let (home, server) = (Home::new(), ModelServer::start(vec![step]));
            let program = Run::start(dialect.command(&home, &server).arg(PROMPT));
            assert!(gate.wait_reached(DEADLINE));
            program.signal(signal);
            let ended = program.end();
            assert_eq!((ended.stdout.as_str(), ended.code), ("", code), "{ended:?}");
            assert!(ended.stderr.contains("Stopped. The session keeps what was done so far."), "{ended:?}");
            assert_clean(&home, &ended);
            assert_eq!(said(&home), [PROMPT]);
            goes_on(&home, dialect);
        }
    }
}

#[test]
fn a_signal_while_a_tool_hangs() {
    for (signal, code) in STOPS {
        let hang =
            Step::text("").call("bash", json!({"command": "echo begun; sleep 1000 & sleep 1000; wait"}));
        let (home, server) = (Home::new(), ModelServer::start(vec![hang]));
        let mut program = Run::start(CHAT.command(&home, &server).args(["--yolo", "--mode", "json", PROMPT]));
        program.wait_stdout("begun\\n");
        program.signal(signal);
        let ended = program.end();
        assert_eq!(ended.code, code, "{ended:?}");
        assert!(ended.stderr.contains("Stopped."), "{ended:?}");
        assert_clean(&home, &ended);
        let lines = session_lines(&session_files(&home)[0]);
        let result = lines.iter().find(|line| line["message"]["role"] == "toolResult").expect("a result");
        assert!(result.to_string().contains("begun\\n\\nCommand aborted"), "{result}");
        goes_on(&home, CHAT);
    }
}

/// The second signal does not wait for anything, not even for a command that ignores the first.
#[test]
fn a_second_interrupt_ends_at_once() {
    let stubborn = "trap '' TERM INT HUP; echo begun; sleep 1000";
    let hang = Step::text("").call("bash", json!({"command": stubborn}));
    let (home, server) = (Home::new(), ModelServer::start(vec![hang]));
    let mut program = Run::start(CHAT.command(&home, &server).args(["--yolo", "--mode", "json", PROMPT]));
    program.wait_stdout("begun\\n");
    program.signal(Signal::INT);
    program.wait_stdout("Command aborted");
    program.signal(Signal::INT);
    let ended = program.end();
    assert_eq!(ended.code, 130, "{ended:?}");
    assert_clean(&home, &ended);
    assert_eq!(said(&home), [PROMPT]);
}

#[test]
fn a_signal_while_a_retry_waits() {
    let (home, server) = (Home::new(), ModelServer::start(vec![Step::status(429).retry_after(50)]));
    let mut program = Run::start(CHAT.command(&home, &server).arg(PROMPT));
    program.wait_stderr("Trying again in 50.0 s");
    program.signal(Signal::INT);
    let ended = program.end();
    assert_eq!(ended.code, 130, "{ended:?}");
    assert_clean(&home, &ended);
}

/// The newest session takes a further prompt, and providers take its history.
fn goes_on(home: &Home, dialect: Dialect) {
    let server = ModelServer::start(vec![Step::text("Here again.")]);
    let ended = run(dialect.command(home, &server).args(["-c", "go on"]));
    assert_eq!((ended.stdout.as_str(), ended.code), ("Here again.\n", 0), "{ended:?}");
    assert_eq!(server.violations(), Vec::<String>::new(), "{}", dialect.name);
    assert_clean(home, &ended);
    assert_eq!(said(home), [PROMPT, "go on"]);
}

/// Killed in the middle of a turn: what was accepted is there, and the session goes on.
#[test]
fn a_kill_in_a_turn() {
    let (step, gate) = Step::text("An answer that is cut").gate_after(2);
    let call = Step::text("Looking.").call("bash", json!({"command": "echo seen"}));
    let (home, server) = (Home::new(), ModelServer::start(vec![call, step]));
    let program = Run::start(CHAT.command(&home, &server).args(["--yolo", PROMPT]));
    assert!(gate.wait_reached(DEADLINE));
    program.signal(Signal::KILL);
    assert_eq!(program.end().code, 137);
    assert_eq!(said(&home), [PROMPT]);
    assert!(std::fs::read_to_string(&session_files(&home)[0]).unwrap().contains("seen\\n"));
    goes_on(&home, CHAT);
}

/// The last write did not reach the disk whole: wherever it is torn, the session opens, keeps all entries before, and
/// goes on behind the tear.
#[test]
fn a_session_file_torn_in_mid_write() {
    let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Zwölf Äpfel.")]));
    assert_eq!(run(CHAT.command(&home, &server).arg(PROMPT)).code, 0);
    let file = session_files(&home)[0].clone();
    let whole = std::fs::read(&file).unwrap();
    let last_line = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let inside_a_letter = whole.iter().rposition(|byte| *byte == 0xc3).unwrap() + 1;
    // A cut behind the last letter takes only the line's end: then nothing is lost.
    for length in [last_line + 1, inside_a_letter, whole.len() - 2, whole.len() - 1] {
        std::fs::write(&file, &whole[..length]).unwrap();
        goes_on(&home, CHAT);
    }
}

#[test]
fn nobody_reads_standard_output() {
    let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("An answer for nobody.")]));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child =
        CHAT.command(&home, &server).arg(PROMPT).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the end of the program", || child.try_wait().unwrap().is_some());
    let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(stderr.contains("Standard output could not be written: nobody reads it any more."), "{stderr}");
    assert!(!stderr.contains("os error"), "{stderr}");
    assert_eq!(child.wait().unwrap().code(), Some(1), "{stderr}");
    assert!(std::fs::read_to_string(&session_files(&home)[0]).unwrap().contains("An answer for nobody."));
}

/// `mynah --mode json … | head -1`: whoever closed the output wants no more.
#[test]
fn standard_output_closed_after_a_line() {
    let (step, gate) = Step::text("One two three four five six seven eight nine ten").gate();
    let (home, server) = (Home::new(), ModelServer::start(vec![step]));
    let mut command = CHAT.command(&home, &server);
    command.args(["--mode", "json", PROMPT]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    assert!(gate.wait_reached(DEADLINE));
    drop(child.stdout.take());
    gate.open();
    wait_until("the end of the program", || child.try_wait().unwrap().is_some());
    let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("nobody reads it any more. What was said is kept in ")
            && !stderr.contains("os error"),
        "{stderr}"
    );
    assert_eq!(said(&home), [PROMPT]);
    assert!(processes_of(&home).is_empty());
}

/// A command that runs then is ended like any other.
#[test]
fn standard_output_closed_while_a_command_runs() {
    let command = "while :; do echo more; sleep 0.1; done";
    let endless = Step::text("").call("bash", json!({"command": command}));
    let (home, server) = (Home::new(), ModelServer::start(vec![endless]));
    let mut child = CHAT
        .command(&home, &server)
        .args(["--yolo", "--mode", "json", PROMPT])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("more\\n")));
    drop(lines);
    wait_until("the end of the program", || child.try_wait().unwrap().is_some());
    wait_until("the end of the command", || processes_of(&home).is_empty());
    assert_eq!(said(&home), [PROMPT]);
}

#[test]
fn lists_may_be_cut_short() {
    let home = Home::new();
    for arguments in [&["--list-models"][..], &["config"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = mynah(&home).args(arguments).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{arguments:?}");
    }
}

#[test]
fn a_closed_standard_error_stops_nothing() {
    let steps = vec![Step::status(500), Step::text("Said anyway.")];
    let (home, server) = (Home::new(), ModelServer::start(steps));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child =
        CHAT.command(&home, &server).arg(PROMPT).stdout(Stdio::piped()).stderr(writer).spawn().unwrap();
    wait_until("the end of the program", || child.try_wait().unwrap().is_some());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.status.code()), (&b"Said anyway.\n"[..], Some(0)));
}

/// All three streams closed by the shell, as some schedulers start programs: no file of ours takes their place.
#[test]
fn streams_that_were_never_open() {
    let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Fine.")]));
    let command = CHAT.command(&home, &server);
    let mut shell = home.command("/bin/sh");
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.args(["-c", "exec \"$@\" <&- >&- 2>&-", "sh"]).arg(command.get_program()).args(command.get_args());
    let mut child = shell.arg(PROMPT).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the end of the program", || child.try_wait().unwrap().is_some());
    assert_eq!(said(&home), [PROMPT]);
    let lines = session_lines(&session_files(&home)[0]);
    assert!(lines.iter().all(Value::is_object));
}

/// Runs with this as standard input.
fn with_stdin(command: &mut Command, bytes: &[u8]) -> super::Ended {
    let (reader, mut writer) = std::io::pipe().unwrap();
    command.stdin(reader);
    let program = Run::start(command);
    let bytes = bytes.to_owned();
    let feeder = std::thread::spawn(move || {
        // The program may stop reading: it says so itself.
        let _ = writer.write_all(&bytes);
    });
    // Our copy of the reading end would keep the writer alive.
    command.stdin(Stdio::null());
    let ended = program.end();
    feeder.join().unwrap();
    ended
}

#[test]
fn standard_input_that_is_no_prompt() {
    let too_large = vec![b'x'; 5 * 1024 * 1024];
    let cases: [(&[u8], &[&str]); 4] = [
        (&too_large, &["Standard input is larger than 4 MiB", "save it to a file"]),
        (b"caf\xe9", &["Standard input is not UTF-8 text: byte 4 ", "Save it to a file"]),
        (b"", &["There is no prompt"]),
        (b" \n\n", &["There is no prompt"]),
    ];
    for (bytes, words) in cases {
        let (home, server) = (Home::new(), ModelServer::start(Vec::new()));
        let ended = with_stdin(&mut CHAT.command(&home, &server), bytes);
        assert_eq!((ended.stdout.as_str(), ended.code), ("", 1), "{ended:?}");
        for word in words {
            assert!(ended.stderr.contains(word), "`{word}` is missing in: {}", ended.stderr);
        }
        assert_clean(&home, &ended);
        assert!(server.requests().is_empty() && session_files(&home).is_empty());
    }
}

#[test]
fn control_characters_in_a_prompt_reach_the_model_and_no_terminal() {
    let prompt = "clear\u{1b}[2J the\u{7} \u{202e}roof\r\nnow";
    for dialect in DIALECTS {
        let steps =
            vec![Step::status(400).message("Bad text: \u{1b}[2J\u{7}\u{202e}boo"), Step::text("Fine.")];
        let (home, server) = (Home::new(), ModelServer::start(steps));
        let ended = run(dialect.command(&home, &server).arg(prompt));
        assert_eq!(ended.code, 1, "{ended:?}");
        assert!(ended.stderr.contains("Bad text: [2J boo"), "{ended:?}");
        assert!(!ended.stderr.contains(['\u{7}', '\u{202e}']), "{ended:?}");
        assert_clean(&home, &ended);
        assert_eq!(said(&home), [prompt]);
        assert!(server.requests()[0].body.to_string().contains("\\u001b[2J the\\u0007"));
    }
}

#[test]
fn a_prompt_with_a_nul_on_standard_input() {
    let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Fine.")]));
    let ended = with_stdin(CHAT.command(&home, &server).arg("and this"), b"a\0b");
    assert_eq!((ended.stdout.as_str(), ended.code), ("Fine.\n", 0), "{ended:?}");
    assert_clean(&home, &ended);
}

#[test]
fn the_working_folder_goes_away() {
    let (step, gate) = Step::text("Looking.").call("bash", json!({"command": "pwd"})).gate();
    let read = Step::text("").call("read", json!({"path": "a.txt"})).call("ls", json!({}));
    let (home, server) = (Home::new(), ModelServer::start(vec![step, read, Step::text("It is gone.")]));
    let folder = home.project().join("here");
    std::fs::create_dir(&folder).unwrap();
    let program =
        Run::start(CHAT.command(&home, &server).current_dir(&folder).args(["--yolo", "--offline", PROMPT]));
    assert!(gate.wait_reached(DEADLINE));
    std::fs::remove_dir(&folder).unwrap();
    gate.open();
    let ended = program.end();
    assert_eq!((ended.stdout.as_str(), ended.code), ("It is gone.\n", 0), "{ended:?}");
    assert_clean(&home, &ended);
    let told = server.requests()[2].body.to_string();
    assert!(told.contains("here does not exist. The command was not started."), "{told}");
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn a_working_folder_that_is_gone_or_none() {
    let home = Home::new();
    home.write("file", "");
    for (folder, why) in [("missing", "it does not exist"), ("file", "it is no folder")] {
        let ended = run(mynah(&home).args(["-p", "--cwd", folder, PROMPT]));
        assert_eq!((ended.stdout.as_str(), ended.code), ("", 1), "{ended:?}");
        assert_eq!(ended.stderr, format!("mynah: The folder {folder} can't be used: {why}.\n"));
        assert_clean(&home, &ended);
    }
    // The program's own folder is removed before it starts.
    let folder = home.project().join("here");
    std::fs::create_dir(&folder).unwrap();
    let mut shell = home.command("/bin/sh");
    shell.current_dir(&folder).args(["-c", "rmdir ../here; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_mynah")]);
    let ended = run(shell.args(["-p", PROMPT]));
    assert_eq!((ended.stdout.as_str(), ended.code), ("", 1), "{ended:?}");
    assert!(ended.stderr.contains("can't be used"), "{ended:?}");
    assert_clean(&home, &ended);
}

/// With few files to open anything can fail, down to the runtime below us: it is said in words, and the exit code tells.
#[test]
fn few_files_can_be_opened() {
    for limit in [6, 8, 9, 10, 12, 14, 16] {
        let call = Step::text("").call("bash", json!({"command": "echo seen"}));
        let (home, server) = (Home::new(), ModelServer::start(vec![call, Step::text("Fine.")]));
        let command = CHAT.command(&home, &server);
        let mut shell = home.command("/bin/sh");
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.args(["-c", &format!("ulimit -n {limit}; exec \"$@\""), "sh"]);
        shell.arg(command.get_program()).args(command.get_args());
        let ended = run(shell.args(["--yolo", "--set", "retry.max_attempts=0", PROMPT]));
        assert_clean(&home, &ended);
        assert!(ended.code == 0 || ended.stderr.contains("mynah: "), "{limit}: {ended:?}");
        assert!(ended.code != 0 || ended.stdout == "Fine.\n", "{limit}: {ended:?}");
    }
}
