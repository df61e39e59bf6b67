//! What goes wrong with files, folders, disks, commands and settings.

use super::{
    CHAT, DEADLINE, DIALECTS, Ended, KEY, Run, all_files, assert_clean, mynah, processes_of, run, said,
};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

const PROMPT: &str = "mend the roof";

/// A response of these calls.
fn calls(calls: &[(&str, Value)]) -> Step {
    calls.iter().fold(Step::text(""), |step, (name, arguments)| step.call(*name, arguments.clone()))
}

/// Runs the calls, one response each, and gives what the model got for them.
fn results_of(home: &Home, each: &[(&str, Value)]) -> Vec<String> {
    let steps = each.iter().map(|call| calls(std::slice::from_ref(call)));
    let server = ModelServer::start(steps.chain([Step::text("Done.")]).collect());
    let ended = run(CHAT.command(home, &server).args(["--yolo", PROMPT]));
    assert_eq!((ended.stdout.as_str(), ended.code), ("Done.\n", 0), "{ended:?}");
    assert_clean(home, &ended);
    assert_eq!(server.violations(), Vec::<String>::new());
    let requests = server.requests();
    let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
    let results = messages.into_iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn assert_says(ended: &Ended, words: &[&str]) {
    for word in words {
        assert!(ended.stderr.contains(word), "`{word}` is missing in:\n{}", ended.stderr);
    }
}

#[test]
fn a_tool_that_hangs_meets_its_time_limit() {
    let home = Home::new();
    let told = results_of(
        &home,
        &[(
            "bash",
            json!({"command": "echo begun; trap '' TERM; sleep 1000 & wait; sleep 1000", "timeout": 1}),
        )],
    );
    assert_eq!(told, ["begun\n\nCommand timed out after 1 seconds"]);
}

/// A daemon that keeps the pipe open does not keep the call from returning: it lives longer than a flow may take.
#[test]
fn a_daemon_that_holds_the_pipe() {
    let home = Home::new();
    let server = ModelServer::start(vec![
        calls(&[("bash", json!({"command": "sleep 1000 & echo started $!"}))]),
        Step::text("It runs."),
    ]);
    let ended = run(CHAT.command(&home, &server).args(["--yolo", PROMPT]));
    assert_eq!((ended.stdout.as_str(), ended.code), ("It runs.\n", 0), "{ended:?}");
    assert!(server.requests()[1].body.to_string().contains("started "));
    for pid in processes_of(&home) {
        rustix::process::kill_process(pid, Signal::KILL).unwrap();
    }
    assert_clean(&home, &ended);
}

/// Output without end costs neither memory nor a request: the model gets the end, the file has everything.
#[test]
fn two_hundred_megabytes_of_output() {
    const BYTES: u64 = 200_000_000;
    let (last, gate) = Step::text("Much.").gate_after(0);
    let command = format!("head -c {BYTES} /dev/zero | tr '\\0' x | fold -w 99; echo; echo the end");
    let (home, server) =
        (Home::new(), ModelServer::start(vec![calls(&[("bash", json!({"command": command}))]), last]));
    let program = Run::start(CHAT.command(&home, &server).args(["--yolo", PROMPT]));
    assert!(gate.wait_reached(DEADLINE));
    if let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", program.pid())) {
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(kilobytes < 120_000, "{kilobytes} kB of memory");
    }
    gate.open();
    let ended = program.end();
    assert_eq!((ended.stdout.as_str(), ended.code), ("Much.\n", 0), "{ended:?}");
    let request = &server.requests()[1];
    assert!(request.body_bytes.len() < 100_000);
    assert!(request.body.to_string().contains("the end\\n\\n[Showing lines "));
    let saved: Vec<PathBuf> = all_files(home.mynah())
        .into_iter()
        .filter(|path| path.parent().is_some_and(|p| p.ends_with("output")))
        .collect();
    assert_eq!(saved.len(), 1, "{saved:?}");
    let size = std::fs::metadata(&saved[0]).unwrap().len();
    assert!(size > BYTES, "only {size} bytes are saved");
    // Its megabytes are not searched for the key.
    std::fs::remove_file(&saved[0]).unwrap();
    assert_clean(&home, &ended);
}

#[test]
fn output_and_files_that_are_no_text() {
    let home = Home::new();
    std::fs::write(home.project().join("latin.txt"), b"caf\xe9 au lait\r\n").unwrap();
    std::fs::write(home.project().join("program"), [0, 159, 146, 150, 0, 1, 2]).unwrap();
    let told = results_of(
        &home,
        &[
            ("bash", json!({"command": "printf 'begin\\n'; head -c 3000 /dev/urandom; printf '\\nend\\n'"})),
            ("bash", json!({"command": "printf '\\033[2J\\033]0;title\\007red\\n'"})),
            ("read", json!({"path": "latin.txt"})),
            ("read", json!({"path": "program"})),
            ("edit", json!({"path": "latin.txt", "edits": [{"oldText": "au lait", "newText": "noir"}]})),
            ("edit", json!({"path": "program", "edits": [{"oldText": "a", "newText": "b"}]})),
            ("grep", json!({"pattern": "noir", "path": "latin.txt"})),
        ],
    );
    assert!(told[0].starts_with("begin\n") && told[0].contains("end"), "{told:?}");
    assert!(told[0].contains("binary data"), "{told:?}");
    assert_eq!(told[1], "red\n");
    for result in &told {
        assert!(!result.contains(|c: char| c.is_control() && !"\r\n\t".contains(c)), "{result:?}");
    }
    assert!(told[2].contains("UTF-8"), "{told:?}");
    assert!(told[3].contains("binary"), "{told:?}");
    // An edit keeps the bytes around it, whatever they mean.
    assert_eq!(std::fs::read(home.project().join("latin.txt")).unwrap(), b"caf\xe9 noir\r\n", "{told:?}");
    assert_eq!(std::fs::read(home.project().join("program")).unwrap(), [0, 159, 146, 150, 0, 1, 2]);
    assert!(told[4].contains("Successfully replaced") && told[5].contains("not changed"), "{told:?}");
    assert!(told[6].contains("latin.txt:1:"), "{told:?}");
}

#[test]
fn mixed_line_ends_are_kept() {
    let home = Home::new();
    home.write("mixed.txt", "\u{feff}one\r\ntwo\nthree\r\nfour\n");
    let edit = json!({"path": "mixed.txt", "edits": [
        {"oldText": "one\ntwo\n", "newText": "one\nzwei\n"}, {"oldText": "four", "newText": "vier"},
    ]});
    let told = results_of(&home, &[("edit", edit)]);
    let after = std::fs::read_to_string(home.project().join("mixed.txt")).unwrap();
    assert_eq!(after, "\u{feff}one\r\nzwei\nthree\r\nvier\n", "{told:?}");
}

/// A file stands where the folder of sessions belongs: it is said once, the answer comes all the same, and the exit code
/// tells that nothing was saved.
#[test]
fn a_state_folder_that_cannot_be_written() {
    for dialect in DIALECTS {
        for in_the_way in ["state", "state/sessions"] {
            let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Answered.")]));
            let path = home.mynah().join(in_the_way);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "in the way").unwrap();
            let ended = run(dialect.command(&home, &server).arg(PROMPT));
            assert_eq!((ended.stdout.as_str(), ended.code), ("Answered.\n", 1), "{ended:?}");
            assert_says(
                &ended,
                &["could not be written: a part of the path is no folder", "not saved whole"],
            );
            assert_eq!(ended.stderr.matches("could not be written").count(), 1 + 1, "{}", ended.stderr);
            assert_clean(&home, &ended);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "in the way");
        }
    }
}

/// Runs `mynah` with its state on a file system of this size, of which we have no more than a few kilobytes. Needs no
/// rights: the system gives us one inside a user namespace, or says that it does not.
fn on_a_small_disk(home: &Home, program: &Command, kilobytes: u32) -> Option<Ended> {
    let state = home.mynah().join("state");
    std::fs::create_dir_all(&state).unwrap();
    let mount = "mount -t tmpfs -o size=$1k,nr_inodes=64 none \"$2\" && shift 2";
    let mut probe = home.command("unshare");
    let probe = probe.args(["-rm", "sh", "-c", mount, "sh", "64"]).arg(&state).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        println!("skipped: the system gives no file system of one's own (unshare -rm, tmpfs)");
        return None;
    }
    let mut command = home.command("unshare");
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let script =
        format!("state=$2; {mount} && \"$@\"; code=$?; cp -r \"$state\" \"$state.after\"; exit $code");
    command.args(["-rm", "sh", "-c", &script, "sh", &kilobytes.to_string()]).arg(&state);
    Some(run(command.arg(program.get_program()).args(program.get_args())))
}

#[test]
fn a_disk_that_is_full_from_the_start() {
    let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Answered.")]));
    let mut program = CHAT.command(&home, &server);
    let Some(ended) = on_a_small_disk(&home, program.arg(PROMPT), 4) else { return };
    assert_eq!((ended.stdout.as_str(), ended.code), ("Answered.\n", 1), "{ended:?}");
    assert_says(&ended, &["could not be written: the disk is full", "Make room", "not saved whole"]);
    assert_clean(&home, &ended);
}

/// The disk fills up in the turn: the turn goes on, a result that could not be saved whole says so, and what fitted is a
/// session that opens.
#[test]
fn a_disk_that_fills_up() {
    let much = json!({"command": "head -c 300000 /dev/zero | tr '\\0' x | fold -w 99"});
    let steps = vec![calls(&[("bash", much)]), Step::text("Answered.")];
    let (home, server) = (Home::new(), ModelServer::start(steps));
    let mut program = CHAT.command(&home, &server);
    let Some(ended) = on_a_small_disk(&home, program.args(["--yolo", PROMPT]), 64) else { return };
    assert_eq!((ended.stdout.as_str(), ended.code), ("Answered.\n", 1), "{ended:?}");
    assert_says(&ended, &["the disk is full"]);
    assert_clean(&home, &ended);
    assert!(server.requests()[1].body.to_string().contains("No space left"), "the model was not told");
    // What was on the small disk, torn or not.
    let after = home.mynah().join("state.after").join("sessions");
    std::fs::remove_dir_all(home.mynah().join("state")).unwrap();
    std::fs::create_dir(home.mynah().join("state")).unwrap();
    std::fs::rename(after, home.mynah().join("state").join("sessions")).unwrap();
    assert_eq!(said(&home), [PROMPT]);
    server.push(Step::text("Back."));
    let ended = run(CHAT.command(&home, &server).args(["-c", "go on"]));
    assert_eq!((ended.stdout.as_str(), ended.code), ("Back.\n", 0), "{ended:?}");
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn a_full_disk_behind_standard_output() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        println!("skipped: the system has no /dev/full");
        return;
    };
    let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Answered."); 3]));
    for mode in ["text", "json"] {
        let mut command = CHAT.command(&home, &server);
        command.args(["--mode", mode, PROMPT]).stderr(std::process::Stdio::piped());
        let child = command.stdout(full.try_clone().unwrap()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("Standard output could not be written: the disk is full."), "{stderr}");
        assert!(!stderr.contains("os error"), "{stderr}");
    }
    let child = CHAT.command(&home, &server).arg(PROMPT).stderr(full).output().unwrap();
    assert_eq!((child.status.code(), child.stdout.as_slice()), (Some(0), &b"Answered.\n"[..]));
}

/// A settings file with a mistake is told and left as it is; the run goes on with what is right.
#[test]
fn broken_settings() {
    let cases: [(&[u8], &[&str]); 5] = [
        (b"[model\nthinking = \"high\"\n", &["config.toml:1", "no TOML", "left as it is"]),
        (b"model.thinking = \"hgih\"\n", &["config.toml:1", "`model.thinking` must be one of", "hgih"]),
        (b"permissions.deny = 5\n", &["config.toml:1", "`permissions.deny` must be a list"]),
        (b"colour = 1\n", &["config.toml:1", "there is no setting `colour`"]),
        (b"\xff\xfe", &["config.toml", "UTF-8", "left as it is"]),
    ];
    for (bytes, words) in cases {
        let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Answered.")]));
        let file = home.mynah().join("config").join("config.toml");
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(&file, bytes).unwrap();
        let ended = run(CHAT.command(&home, &server).arg(PROMPT));
        assert_eq!((ended.stdout.as_str(), ended.code), ("Answered.\n", 0), "{ended:?}");
        assert_says(&ended, words);
        assert_clean(&home, &ended);
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
    }
    let home = Home::new();
    std::fs::create_dir(home.mynah().join("config")).unwrap();
    std::fs::write(home.mynah().join("config").join("config.toml"), "[model\n").unwrap();
    let ended = run(mynah(&home).args(["config", "set", "model.thinking", "high"]));
    assert_eq!((ended.stdout.as_str(), ended.code), ("", 1), "{ended:?}");
    assert_says(&ended, &["can't be changed", "It was left as it is", "by hand"]);
    assert_clean(&home, &ended);
}

/// Files of models and keys with a mistake are told, and nothing of a key is.
#[test]
fn broken_models_and_keys() {
    let cases = [
        ("auth.toml", format!("[openai]\nkey = \"{KEY}\n"), &["auth.toml, line 2", "not valid TOML"][..]),
        ("auth.toml", format!("[openai\nkey = \"{KEY}\"\n"), &["auth.toml, line 1", "not valid TOML"]),
        ("auth.toml", format!("openai = [\"{KEY}\"]\n"), &["auth.toml, line 1", "`openai`"]),
        ("models.toml", format!("[providers.x\napiKey = \"{KEY}\"\n"), &["models.toml, line 1"]),
        ("models.toml", format!("[providers.x]\napiKey = \"{KEY}\n"), &["models.toml, line 2"]),
        (
            "models.toml",
            format!("[providers.x]\napiKey = [\"{KEY}\"]\n"),
            &["models.toml, line 2", "expected a string"],
        ),
    ];
    for (name, text, words) in cases {
        let (home, server) = (Home::new(), ModelServer::start(vec![Step::text("Answered.")]));
        let file = home.mynah().join("config").join(name);
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &text).unwrap();
        let ended = run(CHAT.command(&home, &server).arg(PROMPT));
        assert_eq!((ended.stdout.as_str(), ended.code), ("Answered.\n", 0), "{name}: {ended:?}");
        assert_says(&ended, words);
        assert!(!ended.stderr.contains("sk-"), "a part of the key: {}", ended.stderr);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        // The one place where the key belongs.
        std::fs::remove_file(&file).unwrap();
        assert_clean(&home, &ended);
    }
}

/// The environment of commands has no key, and a command that prints everything it knows prints none.
#[test]
fn commands_do_not_see_the_key() {
    let home = Home::new();
    let told = results_of(&home, &[("bash", json!({"command": "env; cat /proc/self/environ 2>/dev/null"}))]);
    assert!(told[0].contains("AI_AGENT=mynah") && !told[0].contains(KEY), "{told:?}");
}

/// What headless refuses, a person can allow: the notice says how, the model is told not to try otherwise.
#[test]
fn a_refused_call() {
    let steps = vec![calls(&[("bash", json!({"command": "touch made"}))]), Step::text("I may not.")];
    let (home, server) = (Home::new(), ModelServer::start(steps));
    let ended = run(CHAT.command(&home, &server).arg(PROMPT));
    assert_eq!((ended.stdout.as_str(), ended.code), ("I may not.\n", 0), "{ended:?}");
    assert_says(&ended, &["bash did not run: touch made.", "--allow 'bash(touch:*)'", "--yolo"]);
    assert!(!ended.stderr.contains("Do not try"), "that is for the model: {ended:?}");
    assert!(!home.project().join("made").exists());
    assert_clean(&home, &ended);
}
