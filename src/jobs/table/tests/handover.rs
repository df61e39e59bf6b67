//! Commands that become jobs while they run.

use super::floods::ROLE;
use super::*;
use crate::jobs::{Detached, End, Jobs, LiveNews, Outcome, SaveAbove, ShellCommand};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

const DIR: &str = "MYNAH_TEST_DIR";

/// The time limit of commands; nothing is sent to the background so late.
const LIMIT: Duration = Duration::from_secs(6);

fn command(text: &str, dir: &Path) -> ShellCommand {
    ShellCommand {
        text: text.to_owned(),
        shell: "/bin/bash".into(),
        cwd: dir.to_owned(),
        timeout: Some(LIMIT),
        secret_env: Vec::new(),
        env: Vec::new(),
        output_dir: dir.join("output"),
        save: SaveAbove { lines: 2_000, bytes: 51_200 },
        steps: None,
        sleeps: None,
    }
}

/// When a command is sent to the background.
#[derive(Clone, Copy, Debug)]
enum When {
    /// With so many pieces of new text.
    Pieces(usize),
    /// With a piece that ends like this.
    Text(&'static str),
}

/// Runs a command, and sends it to the background.
async fn detached(jobs: &Arc<Jobs>, text: &str, dir: &Path, when: When) -> Box<Detached> {
    let detach = CancellationToken::new();
    let (asked, pieces) = (detach.clone(), AtomicUsize::new(0));
    let output = move |news| {
        let LiveNews::Output(text) = news else { return };
        let count = pieces.fetch_add(1, Ordering::Relaxed) + 1;
        let is_time = match when {
            When::Pieces(wanted) => count == wanted,
            When::Text(end) => text.ends_with(end),
        };
        if is_time {
            asked.cancel();
        }
    };
    match jobs.run_detachable(command(text, dir), &CancellationToken::new(), &detach, output).await.unwrap() {
        Outcome::Detached(detached) => detached,
        Outcome::Finished(finished) => panic!("it has ended: {:?}", finished.end),
    }
}

/// The log is the beginning of the numbers from 1 on.
fn counts(folder: &Path) -> bool {
    let parts = files::files(folder);
    let mut compare = Command::new("bash");
    compare.args([
        "-c",
        "cmp <(cat \"$@\") <(seq 1000000000 | head -c \"$(cat \"$@\" | wc -c)\")",
        "compare",
    ]);
    compare.args(parts.iter().map(|file| files::path(folder, file.begins)));
    compare.status().unwrap().success()
}

#[tokio::test]
async fn no_byte_is_lost_or_doubled() {
    let jobs = Jobs::new();
    let mut house = House::with(Arc::new(tempfile::tempdir().unwrap()), |setup| setup.log_cap = 4 << 30);
    let endless =
        "exec 2>/dev/null; seq 1000000000 & until [ -e go ]; do sleep 0.02; done; kill $!; wait $!; exit 9";
    // The last one has printed all, and waits.
    let waits = "seq 20000; until [ -e go ]; do sleep 0.02; done; exit 9";
    for (text, when) in
        [(endless, When::Pieces(1)), (endless, When::Pieces(5)), (waits, When::Text("20000\n"))]
    {
        let detached = detached(&jobs, text, house.work(), when).await;
        let before = detached.printed;
        let view = house.table.adopt("Count far", detached).await.unwrap();
        std::fs::write(house.work().join("go"), "").unwrap();
        let end = house.ended(&view.id).await;
        assert_eq!((end.how, end.lost_bytes), (JobEnding::Exited(9), 0), "the real exit code");
        let printed = house.table.get(&view.id).unwrap().printed;
        assert_eq!(files::extent(&view.folder), files::Extent { first: 0, end: printed });
        assert!(before > 0 && (text == waits || before < printed), "{when:?}: {before} of {printed}");
        assert!(counts(&view.folder), "{when:?}: {before} before, {printed} in all");
        std::fs::remove_file(house.work().join("go")).unwrap();
    }
    assert_eq!(std::fs::read_dir(house.work().join("output")).unwrap().count(), 0, "no file is left");
    assert_eq!(jobs.count(), 0);
    jobs.shutdown().await;
    house.close().await;
}

#[tokio::test]
async fn it_outlives_its_time_limit_and_the_commands_and_can_be_stopped() {
    let jobs = Jobs::new();
    let mut house = House::new();
    let text = "echo $$ > pid.1; echo ready; (setsid sh -c 'echo $$ > pid.2; exec sleep 600' &); sleep 6.3; echo over; sleep 600";
    let detached = detached(&jobs, text, house.work(), When::Text("ready\n")).await;
    assert_eq!(detached.tail, "ready\n");
    let id = house.table.adopt("Serve", detached).await.unwrap().id.clone();
    let (shell, stray) = (pid(&house.work().join("pid.1")).await, pid(&house.work().join("pid.2")).await);
    jobs.shutdown().await;
    assert!(is_alive(shell) && is_alive(stray), "the end of the commands is not its end");
    house.shows(&id, "over").await;
    house.table.stop(&id, StoppedBy::User).unwrap();
    assert_eq!(house.ended(&id).await.how, JobEnding::Stopped(StoppedBy::User));
    assert!(!is_alive(shell) && !is_alive(stray));
    house.close().await;
}

#[tokio::test]
async fn only_the_end_of_a_large_output_is_kept() {
    let jobs = Jobs::new();
    let mut house = House::with(Arc::new(tempfile::tempdir().unwrap()), |setup| setup.log_cap = 200_000);
    let text = "seq 100000; echo ready; until [ -e go ]; do sleep 0.02; done; echo after";
    let detached = detached(&jobs, text, house.work(), When::Text("ready\n")).await;
    let id = house.table.adopt("Count", detached).await.unwrap().id.clone();
    std::fs::write(house.work().join("go"), "").unwrap();
    house.ended(&id).await;
    let page = house.table.read(&id, ReadSpec { max_lines: 3, ..ReadSpec::default() }).await.unwrap();
    assert_eq!(
        page.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(),
        ["100000", "ready", "after"]
    );
    assert_eq!(page.end, 588_895 + 12);
    assert!(page.end - page.first_kept <= 200_000 && page.first_kept < page.end - 99_000, "{page:?}");
    jobs.shutdown().await;
    house.close().await;
}

#[tokio::test]
async fn a_command_that_nobody_takes_is_ended() {
    let jobs = Jobs::new();
    let dir = tempfile::tempdir().unwrap();
    let detached =
        detached(&jobs, "echo $$ > pid.1; echo ready; exec sleep 600", dir.path(), When::Text("ready\n"))
            .await;
    let shell = pid(&dir.path().join("pid.1")).await;
    assert!(is_alive(shell));
    drop(detached);
    until("it has ended", || !is_alive(shell)).await;
    jobs.shutdown().await;
}

#[tokio::test]
async fn a_command_that_has_ended_is_not_sent_anywhere() {
    let jobs = Jobs::new();
    let dir = tempfile::tempdir().unwrap();
    let detach = CancellationToken::new();
    let text = "(sleep 0.6 &) ; exit 4";
    let never = CancellationToken::new();
    let run = jobs.run_detachable(command(text, dir.path()), &never, &detach, |_| {});
    let (outcome, ()) = tokio::join!(run, async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        detach.cancel();
    });
    assert!(matches!(outcome.unwrap(), Outcome::Finished(finished) if finished.end == End::Exited(4)));
    jobs.shutdown().await;
}

/// A program that sends a command to the background and is killed; nothing in an ordinary run.
#[tokio::test]
async fn role() {
    if std::env::var(ROLE).as_deref() != Ok("detach") {
        return;
    }
    let dir = std::path::PathBuf::from(std::env::var_os(DIR).unwrap());
    let house = House::with(Arc::new(tempfile::tempdir().unwrap()), |setup| setup.root = dir.join("state"));
    let jobs = Jobs::new();
    let text = "trap '' TERM; echo $$ > pid.1; (setsid sh -c 'echo $$ > pid.2; exec sleep 600' &); echo ready; \
                until [ -e go ]; do sleep 0.02; done; echo after; exit 5";
    let detached = detached(&jobs, text, &dir, When::Text("ready\n")).await;
    house.table.adopt("Serve", detached).await.unwrap();
    let other = {
        let (jobs, dir) = (Arc::clone(&jobs), dir.clone());
        tokio::spawn(async move {
            let text = "echo $$ > pid.3; exec sleep 600";
            jobs.run(command(text, &dir), &CancellationToken::new(), |_| {}).await
        })
    };
    pid(&dir.join("pid.2")).await;
    pid(&dir.join("pid.3")).await;
    println!("\nstarted");
    drop(other.await);
}

/// The guard of the commands with this token runs.
#[cfg(target_os = "linux")]
fn guard_runs(token: &str) -> bool {
    let lines =
        processes::alive(0).into_iter().map(|process| std::fs::read(format!("/proc/{}/cmdline", process.id)));
    let mut lines = lines.flatten().map(|line| String::from_utf8_lossy(&line).into_owned());
    lines.any(|line| line.contains("mynah-guard") && line.contains(token))
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_in_the_background_outlives_a_program_that_is_killed() {
    let mut house = House::new();
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["jobs::table::tests::handover::role", "--exact", "--nocapture"])
        .envs([(ROLE, "detach".as_ref()), (DIR, house.work().as_os_str())])
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "started"));
    other.kill().unwrap();
    other.wait().unwrap();
    let foreground = pid(&house.work().join("pid.3")).await;
    until("the guard has ended the other one", || !is_alive(foreground)).await;
    let (shell, stray) = (pid(&house.work().join("pid.1")).await, pid(&house.work().join("pid.2")).await);
    let record = JobRecord::read(&house.work().join("state/session/serve")).unwrap();
    until("the guard has done what it can", || !guard_runs(&record.token)).await;
    assert!(is_alive(shell) && is_alive(stray), "the guard spares it");
    let restored = house.table.restore().await.unwrap();
    let id = restored.jobs[0].id.clone();
    assert_eq!(restored.jobs[0].state, JobState::Running);
    house.shows(&id, "ready").await;
    std::fs::write(house.work().join("go"), "").unwrap();
    assert_eq!(house.ended(&id).await.how, JobEnding::Unknown, "its parent is gone");
    assert_eq!(house.log(&id).await, ["ready", "after"]);
    house.close().await;
    until("what it left has ended", || !is_alive(stray)).await;
}
