//! Background jobs on the real program: started by the agent, watched, stopped, kept, and taken over.

use super::{ask, leave, mynah, open, serve};
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::{ModelServer, Step};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

fn program(home: &Home, server: &ModelServer) -> Program {
    mynah(home, server).args(["--yolo"])
}

fn start(title: &str, command: &str) -> Step {
    Step::text("").call("shell_job_start", json!({"title": title, "command": command}))
}

/// Prints a line, and goes on until there is a file of this name.
fn until(file: &str) -> String {
    format!("echo begun; while [ ! -e {file} ]; do sleep 0.05; done; echo over")
}

/// The row of a job above the prompt, by a word of it and what it does.
fn row(pty: &Pty, title: &str, does: &str) -> Option<(u16, u16)> {
    let text = pty.text();
    // The last one: those in the transcript stand above.
    let rows = text.lines().enumerate().filter(|(_, row)| row.contains(title) && row.contains(does));
    let (y, text) = rows.last()?;
    let x = text.split(title).next().unwrap_or_default().chars().count();
    Some((u16::try_from(x).ok()?, u16::try_from(y).ok()?))
}

/// Folders of jobs that are kept in this home.
fn folders(home: &Home) -> Vec<PathBuf> {
    let root = home.mynah().join("state/jobs");
    let sessions = std::fs::read_dir(root).into_iter().flatten().flatten();
    let jobs = sessions.flat_map(|session| std::fs::read_dir(session.path()).into_iter().flatten().flatten());
    jobs.map(|job| job.path()).filter(|path| path.is_dir()).collect()
}

fn record(folder: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("job.json")).unwrap()).unwrap()
}

fn is_alive(process: &Value) -> bool {
    PathBuf::from(format!("/proc/{}/stat", process["pid"])).exists()
}

#[test]
fn an_end_wakes_the_agent_which_reads_the_log() {
    let home = Home::new();
    let server = serve(vec![
        start("Build it", &format!("{}; exit 3", until("go"))),
        Step::text("I go on meanwhile."),
        Step::text("").call("shell_job", json!({"action": "logs", "job": "build-it"})),
        Step::text("It failed with three."),
    ]);
    let mut pty = open(program(&home, &server));
    ask(&mut pty, "build it");
    pty.wait_for("I go on meanwhile.");
    pty.wait_for("∎ ");
    // A still row tells where it began, a live one how it goes.
    pty.wait_for("⇢ background");
    pty.wait_for("▸ begun");
    std::fs::write(home.project().join("go"), "").unwrap();
    pty.wait_for("It failed with three.");
    pty.wait_for("✗ exit 3");
    pty.wait_until("the row of the job is gone", |terminal| !terminal.text().contains("▸ begun"));
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    let woken = requests[2].body.to_string();
    assert!(woken.contains("has failed: exit code 3") && woken.contains("over"), "{woken}");
    let log = requests[3].body.to_string();
    assert!(
        log.contains("| begun\\n") && log.contains("| over\\n") && log.contains("exit code 3 after"),
        "{log}"
    );
    assert_eq!(log.matches("The background job \\\"Build it").count(), 1, "told once");
    assert!(server.violations().is_empty(), "{:?}", server.violations());
    leave(&mut pty);
}

#[test]
fn a_click_opens_the_live_log_and_a_key_stops_the_job() {
    let home = Home::new();
    let server =
        serve(vec![start("Serve pages", &until("more")), Step::text("It runs."), Step::text("Stopped.")]);
    let mut pty = open(program(&home, &server));
    ask(&mut pty, "serve");
    pty.wait_for("It runs.");
    pty.wait_for("▸ begun");
    let (x, y) = row(&pty, "Serve pages", "▸").unwrap();
    pty.click(x, y);
    pty.wait_for("copy log");
    pty.wait_for("job serve-pages");
    pty.press("x");
    pty.wait_for("■ stopped");
    pty.press("q");
    pty.wait_for("Stopped.");
    assert!(server.requests()[2].body.to_string().contains("was stopped by the user"));
    leave(&mut pty);
}

#[test]
fn a_kept_job_is_found_again_by_the_next_run() {
    let home = Home::new();
    let server = serve(vec![
        start("Long work", &until("go")),
        start("Other work", &until("never")),
        Step::text("Both run."),
        Step::text("The other one is stopped."),
        Step::text("The long one is over."),
    ]);
    let mut pty = open(program(&home, &server));
    ask(&mut pty, "work");
    pty.wait_for("Both run.");
    pty.wait_for("Other work");
    // The newest stands first in the list.
    pty.press("alt+j");
    pty.wait_for("Background jobs");
    pty.press("ctrl+d");
    pty.wait_for("■ stopped");
    pty.press("esc");
    pty.wait_for("The other one is stopped.");
    pty.wait_for("∎ ");
    pty.press("ctrl+d");
    pty.wait_for("1 job runs in the background. Quit?");
    pty.press("up");
    pty.press("up");
    pty.press("enter");
    let exit = pty.wait_exit();
    assert_eq!((exit.code, exit.signal), (0, None), "{}", pty.text());
    let kept: Vec<PathBuf> =
        folders(&home).into_iter().filter(|folder| !folder.join("exit.json").exists()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let shell = record(&kept[0])["running"]["shell"].clone();
    assert!(is_alive(&shell), "{shell}");

    let mut pty = program(&home, &server).args(["-c"]).start();
    pty.wait_for("Both run.");
    pty.wait_until("the job", |terminal| terminal.text().contains("▸ begun"));
    std::fs::write(home.project().join("go"), "").unwrap();
    assert!(server.wait_for_requests(5, LIMIT));
    pty.wait_for("The long one is over.");
    pty.wait_for("✓ exit 0");
    assert!(server.requests()[4].body.to_string().contains("has ended: exit code 0"));
    leave(&mut pty);
    assert!(!is_alive(&shell));
}

/// A program that is killed leaves its jobs to its next run; one that ended meanwhile is told of once.
#[test]
fn jobs_outlive_a_kill_and_are_told_of_once() {
    let home = Home::new();
    let server = serve(vec![
        start("Long work", &until("go")),
        Step::text("It runs."),
        Step::text("I know."),
        Step::text("As I said."),
    ]);
    let mut pty = open(program(&home, &server));
    ask(&mut pty, "work");
    pty.wait_for("It runs.");
    pty.wait_for("∎ ");
    pty.signal(rustix::process::Signal::KILL);
    pty.wait_exit();
    let folder = folders(&home).remove(0);
    let shell = record(&folder)["running"]["shell"].clone();
    assert!(is_alive(&shell));
    std::fs::write(home.project().join("go"), "").unwrap();
    let exit = folder.join("exit.json");
    let begun = std::time::Instant::now();
    while !exit.exists() {
        assert!(begun.elapsed() < LIMIT, "the keeper did not end");
        std::thread::yield_now();
    }
    let mut pty = program(&home, &server).args(["-c"]).start();
    // The user sees it, and nothing is asked of the model before the user speaks.
    pty.wait_for("✓ exit 0");
    leave(&mut pty);
    assert_eq!(server.requests().len(), 2);
    let mut pty = program(&home, &server).args(["-c"]).start();
    pty.wait_for("✓ exit 0");
    ask(&mut pty, "do you know");
    pty.wait_for("I know.");
    leave(&mut pty);
    let mut pty = program(&home, &server).args(["-c"]).start();
    pty.wait_for("I know.");
    ask(&mut pty, "and now");
    pty.wait_for("As I said.");
    let last = server.requests().pop().unwrap().body.to_string();
    assert_eq!(last.matches("has ended: exit code 0").count(), 1, "{last}");
    leave(&mut pty);
}

/// Leaving ends them, whatever they think of that.
#[test]
fn jobs_that_are_not_kept_are_stopped() {
    let home = Home::new();
    let deaf = "trap '' TERM INT HUP; echo deaf; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & while :; do sleep 1; done";
    let server = serve(vec![start("Deaf work", deaf), Step::text("It runs.")]);
    let mut pty = open(program(&home, &server).args(["--set", "jobs.at_quit=stop"]));
    ask(&mut pty, "work");
    pty.wait_for("It runs.");
    pty.wait_for("▸ deaf");
    let shell = record(&folders(&home).remove(0))["running"]["shell"].clone();
    pty.press("ctrl+d");
    let exit = pty.wait_exit();
    assert_eq!((exit.code, exit.signal), (0, None), "{}", pty.text());
    assert!(!is_alive(&shell));
    assert_eq!(pty.leftovers(), Vec::<String>::new());
}

#[test]
fn a_command_that_runs_goes_on_in_the_background() {
    let home = Home::new();
    let command = format!("echo first; {}", until("go"));
    let server = serve(vec![
        Step::text("").call("bash", json!({"command": command})),
        Step::text("I go on meanwhile."),
        Step::text("It is over."),
    ]);
    let mut pty = open(program(&home, &server));
    pty.press("ctrl+b");
    pty.wait_for("No command runs");
    ask(&mut pty, "work");
    pty.wait_for("begun");
    pty.press("ctrl+b");
    pty.wait_for("I go on meanwhile.");
    pty.wait_for("⇢ background");
    let told = server.requests()[1].body.to_string();
    assert!(told.contains("goes on as the job") && told.contains("first\\nbegun"), "{told}");
    let shell = record(&folders(&home).remove(0))["running"]["shell"].clone();
    assert!(is_alive(&shell));
    std::fs::write(home.project().join("go"), "").unwrap();
    pty.wait_for("It is over.");
    pty.wait_for("✓ exit 0");
    let woken = server.requests()[2].body.to_string();
    assert!(woken.contains("has ended: exit code 0") && woken.contains("first\\nbegun\\nover"), "{woken}");
    leave(&mut pty);
    assert_eq!(pty.leftovers(), Vec::<String>::new());
}

/// What a job shows of its way is read from what it draws, and from what it sleeps for.
#[test]
fn a_job_shows_how_far_it_is() {
    let home = Home::new();
    let bar =
        |percent: u8| format!("printf '\\r%3d%%|####      | {percent}/100 [00:10<00:20, 4.5it/s]' {percent}");
    let wait = |file: &str| format!("while [ ! -e {file} ]; do read -t 0.05 <> <(:) || :; done");
    let command = format!("{}; {}; {}; {}; echo", bar(45), wait("more"), bar(80), wait("go"));
    let server = serve(vec![
        start("Train", &command),
        start("Nap", "echo; sleep 600"),
        Step::text("Both run."),
        Step::text("It is over."),
    ]);
    let mut pty = open(program(&home, &server).args(["--set", "jobs.at_quit=stop"]));
    ask(&mut pty, "work");
    pty.wait_for("Both run.");
    pty.wait_for("45% · 20s left · 45/100");
    pty.wait_until("what a sleep waits for", |terminal| {
        terminal.text().lines().any(|row| row.contains("Nap") && row.contains("0%") && row.contains("left"))
    });
    std::fs::write(home.project().join("more"), "").unwrap();
    pty.wait_for("80% · 20s left · 80/100");
    std::fs::write(home.project().join("go"), "").unwrap();
    pty.wait_for("It is over.");
    leave(&mut pty);
    assert_eq!(pty.leftovers(), Vec::<String>::new());
}
