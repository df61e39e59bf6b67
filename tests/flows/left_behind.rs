//! What commands leave behind when they end: it may go on while Mynah runs, and ends with it, however Mynah ends.

use super::{CHAT, DEADLINE, Run, assert_clean, processes_of, run, session_files, wait_until};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// A program that each home has under a name of its own, so that its processes can be told from all others even where
/// their environment is gone.
fn sleeper(home: &Home) -> String {
    let bin = home.project().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let program =
        bin.join(format!("sleeper-{}", home.mynah().parent().unwrap().file_name().unwrap().display()));
    let sleep = ["/usr/bin/sleep", "/bin/sleep"].into_iter().find(|path| Path::new(path).is_file()).unwrap();
    symlink(sleep, &program).unwrap();
    program.display().to_string()
}

/// Processes whose command line holds this text.
fn running(text: &str) -> Vec<Pid> {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    folders
        .filter_map(|folder| folder.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(text)
        })
        .collect()
}

/// Ways to leave a process behind; `SLEEP` is the program and its argument. The last ones are deaf to TERM.
const WAYS: [&str; 8] = [
    "SLEEP &",
    "nohup SLEEP >/dev/null 2>&1 & disown",
    "set -m; SLEEP &",
    "setsid SLEEP & true",
    "(setsid SLEEP &)",
    "(env -i SLEEP >/dev/null 2>&1 &)",
    "trap '' TERM; (setsid SLEEP >/dev/null 2>&1 &)",
    r#"trap '' TERM; (trap '' TERM; sh -c 'setsid sh -c "SLEEP; :" & SLEEP; :' >/dev/null 2>&1) & true"#,
];

/// Processes that all ways together leave behind.
const LEFT: usize = WAYS.len() + 1;

/// A call that leaves something behind in each of these ways.
fn leave_in_all_ways(program: &str) -> Step {
    let commands = WAYS.map(|way| format!("( {} )", way.replace("SLEEP", &format!("{program} 600"))));
    Step::text("").call("bash", json!({"command": commands.join("\n"), "timeout": 60}))
}

/// All of it runs, while the model is at work.
fn wait_for_all(program: &str) {
    let sleepers = format!("{program}\0600");
    wait_until("all that is left behind", || {
        let begins = |pid: &Pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.starts_with(sleepers.as_bytes())
        };
        running(program).iter().filter(|pid| begins(pid)).count() == LEFT
    });
}

#[test]
fn a_run_that_ends_leaves_nothing() {
    let home = Home::new();
    let program = sleeper(&home);
    let (answer, gate) = Step::text("Done.").gate_after(0);
    let server = ModelServer::start(vec![leave_in_all_ways(&program), answer]);
    let program_run = Run::start(CHAT.command(&home, &server).args(["--yolo", "start servers"]));
    assert!(gate.wait_reached(DEADLINE));
    wait_for_all(&program);
    gate.open();
    let ended = program_run.end();
    assert_eq!((ended.stdout.as_str(), ended.code), ("Done.\n", 0), "{ended:?}");
    assert_eq!(running(&program), []);
    assert_eq!(processes_of(&home), [], "not even the guard");
    assert_clean(&home, &ended);
}

#[test]
fn a_run_that_is_killed_leaves_nothing() {
    let home = Home::new();
    let program = sleeper(&home);
    let (answer, gate) = Step::text("Done.").gate_after(0);
    let server = ModelServer::start(vec![leave_in_all_ways(&program), answer]);
    let program_run = Run::start(CHAT.command(&home, &server).args(["--yolo", "start servers"]));
    assert!(gate.wait_reached(DEADLINE));
    wait_for_all(&program);
    program_run.signal(Signal::KILL);
    assert_eq!(program_run.end().code, 137);
    wait_until("the end of all that was left", || running(&program).is_empty());
    wait_until("the end of the guard", || processes_of(&home).is_empty());
}

/// The guard acts on its own account only: without Mynah's death it stays out of the way, and a new one comes when it is
/// killed.
#[test]
fn a_killed_guard_is_replaced() {
    let home = Home::new();
    let program = sleeper(&home);
    let (second, gate) =
        Step::text("").call("bash", json!({"command": format!("{program} 600 & true")})).gate_after(0);
    let (answer, last) = Step::text("Done.").gate_after(0);
    let first = Step::text("").call("bash", json!({"command": "true"}));
    let server = ModelServer::start(vec![first, second, answer]);
    let program_run = Run::start(CHAT.command(&home, &server).args(["--yolo", "start a server"]));
    assert!(gate.wait_reached(DEADLINE));
    for guard in processes_of(&home).into_iter().filter(|pid| *pid != program_run.pid()) {
        kill_process(guard, Signal::KILL).unwrap();
    }
    gate.open();
    assert!(last.wait_reached(DEADLINE));
    program_run.signal(Signal::KILL);
    assert_eq!(program_run.end().code, 137);
    wait_until("the end of all that was left", || running(&program).is_empty());
}

/// Started from a terminal, a command that reads it is ended and told so, long before its time limit.
#[test]
fn a_command_that_asks_on_the_terminal_does_not_hang() {
    let asks = [
        ("read -r answer < /dev/tty", ""),
        ("stty -echo < /dev/tty", ""),
        ("echo begun; (read -r answer < /dev/tty); echo ended", "begun"),
    ];
    for (command, before) in asks {
        let call = Step::text("").call("bash", json!({"command": command}));
        let (home, server) = (Home::new(), ModelServer::start(vec![call, Step::text("Done.")]));
        let mynah = CHAT.command(&home, &server);
        let line = std::iter::once(mynah.get_program())
            .chain(mynah.get_args())
            .map(|word| format!("'{}'", word.to_str().unwrap()))
            .collect::<Vec<_>>()
            .join(" ");
        // `script` gives a terminal of its own to what it runs.
        let mut script: Command = home.command("script");
        script.args(["-qefc", &format!("{line} --yolo 'ask'"), "/dev/null"]);
        script.envs(mynah.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ended = run(&mut script);
        assert_eq!(ended.code, 0, "{command}: {ended:?}");
        let log = std::fs::read_to_string(&session_files(&home)[0]).unwrap();
        let told = log.contains("it waited for input from a terminal");
        assert!(told && log.contains(before), "{command}: {log}");
        wait_until("the end of all processes", || processes_of(&home).is_empty());
    }
}
