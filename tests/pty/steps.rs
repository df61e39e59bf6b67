//! Chained commands on the real program: their steps while they run, when they are over, and after a resume.

use super::{ask, leave, mynah, open, serve};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use mynah::testkit::server::Step;
use serde_json::json;

/// The rows that tell of steps, without what is behind their texts.
fn steps(pty: &Pty) -> Vec<String> {
    let text = pty.text();
    let rows = text.lines().map(str::trim).filter(|row| row.starts_with(|c: char| c.is_ascii_digit()));
    rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Is a step of this number and text there, and does its row end like this?
fn tells(pty: &Pty, begin: &str, end: &str) -> bool {
    steps(pty).iter().any(|row| row.starts_with(begin) && row.ends_with(end))
}

#[test]
fn a_chain_that_fails_shows_its_steps_live_finished_and_resumed() {
    let home = Home::new();
    let wait = "sh -c 'while [ ! -e go ]; do sleep 0.05; done'";
    let command = format!("echo ready && {wait} && bash -c 'echo broken >&2; exit 3' && echo never");
    let server =
        serve(vec![Step::text("").call("bash", json!({"command": command})), Step::text("It failed.")]);
    let program = || mynah(&home, &server).args(["--yolo"]);
    let mut pty = open(program());
    ask(&mut pty, "work");
    // While it runs: what is over, what runs, what waits.
    pty.wait_for("2 of 4");
    pty.wait_until("the steps", |_| true);
    let live = steps(&pty);
    assert!(live.iter().any(|row| row.starts_with("1 echo ready")), "{live:?}\n{}", pty.text());
    assert!(live.iter().any(|row| row.starts_with("4 echo never")), "{live:?}");
    std::fs::write(home.project().join("go"), "").unwrap();
    pty.wait_for("It failed.");
    pty.wait_for("exit 3 at 3 of 4");
    let check = |pty: &Pty| {
        assert!(tells(pty, "4 echo never", "skipped"), "{:?}", steps(pty));
        let failed = steps(pty).into_iter().find(|row| row.starts_with("3 bash -c")).unwrap();
        assert!(failed.contains("exit 3"), "{failed}");
        assert!(pty.text().contains("broken"), "{}", pty.text());
    };
    check(&pty);
    let answer = server.requests()[1].body.to_string();
    assert!(answer.contains("ready\\nbroken\\n\\nCommand exited with code 3"), "{answer}");
    leave(&mut pty);

    let mut pty = program().args(["-c"]).start();
    pty.wait_for("It failed.");
    pty.wait_for("exit 3 at 3 of 4");
    check(&pty);
    leave(&mut pty);
}

#[test]
fn a_command_that_sleeps_tells_how_long() {
    let home = Home::new();
    let server = serve(vec![
        Step::text("").call("bash", json!({"command": "echo a; sleep 100"})),
        Step::text("").call("bash", json!({"command": "for i in 1 2 3; do sleep 30; done"})),
    ]);
    let mut pty = open(mynah(&home, &server).args(["--yolo"]));
    for told in ["2 of 2", "1 of 3"] {
        ask(&mut pty, "work");
        pty.wait_until(told, |terminal| {
            terminal.text().lines().any(|row| row.contains(told) && row.contains("left"))
        });
        pty.press("esc");
        pty.wait_for("Stopped after");
    }
    leave(&mut pty);
}
