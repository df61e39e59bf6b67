//! Real processes. Helpers that must be killed, or measured alone, are this test binary started again.

use super::*;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Tells a second instance of this binary what to do.
const ROLE: &str = "MYNAH_TEST_ROLE";

/// What was printed, as it was told.
fn text_of(news: LiveNews) -> String {
    match news {
        LiveNews::Output(text) => text,
        LiveNews::Steps(_) | LiveNews::Wait(_) => String::new(),
    }
}

fn command(text: &str, dir: &Path) -> ShellCommand {
    ShellCommand {
        text: text.to_owned(),
        shell: "/bin/bash".into(),
        cwd: dir.to_owned(),
        timeout: Some(Duration::from_secs(60)),
        secret_env: Vec::new(),
        env: Vec::new(),
        output_dir: dir.join("output"),
        steps: None,
        sleeps: None,
        save: SaveAbove { lines: 2000, bytes: 51_200 },
    }
}

async fn run(text: &str) -> Finished {
    let dir = tempfile::tempdir().unwrap();
    Jobs::new().run(command(text, dir.path()), &CancellationToken::new(), |_| {}).await.unwrap()
}

/// Waits for something that other processes do.
async fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn is_alive(pid: i32) -> bool {
    // A zombie is dead: whoever inherited it has not looked yet.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z')))
}

/// Process numbers that the command has written into files called `pid.*`.
fn pids(dir: &Path, count: usize) -> Option<Vec<i32>> {
    let pids: Vec<i32> = std::fs::read_dir(dir)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            path.file_name()?.to_str()?.starts_with("pid.").then_some(())?;
            std::fs::read_to_string(path).ok()?.trim().parse().ok()
        })
        .collect();
    (pids.len() == count).then_some(pids)
}

#[tokio::test]
async fn exit_codes_and_signals_are_the_real_ones() {
    for (text, end) in [
        ("true", End::Exited(0)),
        ("exit 1", End::Exited(1)),
        ("exit 7", End::Exited(7)),
        ("/no/such/program 2>/dev/null", End::Exited(127)),
        ("kill -SEGV $$", End::Signalled(11)),
        ("kill -TERM $$", End::Signalled(15)),
    ] {
        assert_eq!(run(text).await.end, end, "{text}");
    }
    assert_eq!(signal_name(11), "SIGSEGV");
    assert_eq!(signal_name(99), "signal 99");
}

#[tokio::test]
async fn both_outputs_come_in_order_of_arrival() {
    let finished = run("echo 1; echo 2 >&2; echo 3; echo 4 >&2").await;
    assert_eq!(finished.tail, "1\n2\n3\n4\n");
    assert_eq!((finished.lines, finished.bytes, finished.raw_bytes), (4, 8, 8));
    assert_eq!(finished.saved, Saved::default());
}

#[tokio::test]
async fn input_is_empty_and_the_environment_is_filtered() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = command("cat; echo \"${PATH:-none} $ADDED\"", dir.path());
    command.secret_env = vec!["PATH".to_owned()];
    command.env = vec![("ADDED".to_owned(), OsString::from("yes"))];
    command.text = "read -r line; echo \"$? $ADDED\"; env | grep -c ^HOME=".to_owned();
    command.secret_env.push("HOME".to_owned());
    let finished = Jobs::new().run(command, &CancellationToken::new(), |_| {}).await.unwrap();
    assert_eq!(finished.tail, "1 yes\n0\n");
}

#[tokio::test]
async fn a_missing_folder_and_a_missing_shell_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = Jobs::new();
    let gone = command("true", &dir.path().join("gone"));
    let error = jobs.run(gone, &CancellationToken::new(), |_| {}).await.unwrap_err();
    assert!(matches!(error, ProcessError::NoFolder(_)), "{error}");
    let shell = ShellCommand { shell: "/no/shell".into(), ..command("true", dir.path()) };
    let error = jobs.run(shell, &CancellationToken::new(), |_| {}).await.unwrap_err();
    assert!(matches!(error, ProcessError::Start { .. }), "{error}");
    assert_eq!(jobs.count(), 0);
}

#[tokio::test]
async fn a_daemon_that_holds_the_pipe_neither_delays_the_result_nor_dies_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = Jobs::new();
    let text = "(sleep 2; echo late; echo later; touch survived) & echo started";
    let begun = Instant::now();
    let finished = jobs.run(command(text, dir.path()), &CancellationToken::new(), |_| {}).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(190), "output is drained for 200 ms");
    assert!(begun.elapsed() < Duration::from_millis(1900));
    assert_eq!((finished.end, finished.tail.as_str()), (End::Exited(0), "started\n"));
    let survived = dir.path().join("survived");
    until("the daemon writes on", || survived.exists()).await;
}

#[tokio::test]
async fn a_closed_pipe_does_not_end_a_shell_that_still_runs() {
    assert_eq!(run("exec >&- 2>&-; sleep 0.1; exit 4").await.end, End::Exited(4));
}

#[tokio::test]
async fn the_time_limit_ends_the_whole_group_and_keeps_the_output() {
    let dir = tempfile::tempdir().unwrap();
    let limit = Duration::from_secs(1);
    let text = "echo before; sleep 600 & echo $! > pid.1; wait";
    let command = ShellCommand { timeout: Some(limit), ..command(text, dir.path()) };
    let jobs = Jobs::new();
    let finished = jobs.run(command, &CancellationToken::new(), |_| {}).await.unwrap();
    assert_eq!((finished.end, finished.tail.as_str()), (End::TimedOut(limit), "before\n"));
    let pid = pids(dir.path(), 1).unwrap()[0];
    until("the child is gone", || !is_alive(pid) && jobs.count() == 0).await;
}

#[tokio::test]
async fn a_shell_that_ignores_term_is_killed_after_its_time_limit() {
    let dir = tempfile::tempdir().unwrap();
    let text = "trap '' TERM; while :; do sleep 0.05; done";
    let command = ShellCommand { timeout: Some(Duration::from_millis(50)), ..command(text, dir.path()) };
    let begun = Instant::now();
    let finished = Jobs::new().run(command, &CancellationToken::new(), |_| {}).await.unwrap();
    assert!(matches!(finished.end, End::TimedOut(_)));
    assert!(begun.elapsed() >= GRACE && begun.elapsed() < GRACE + Duration::from_secs(2));
}

/// Three levels, all deaf to TERM, the lowest in a session of its own.
const DEAF_TREE: &str = r#"
trap '' TERM
echo $$ > pid.1
bash -c 'trap "" TERM; echo $$ > pid.2; setsid bash -c "trap \"\" TERM; echo \$\$ > pid.3; while :; do sleep 0.05; done"; :' &
echo ready
while :; do sleep 0.05; done
"#;

#[tokio::test]
async fn a_cancel_returns_at_once_and_the_tree_is_gone_within_two_and_a_half_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = Jobs::new();
    let cancel = CancellationToken::new();
    let running = {
        let (jobs, cancel, command) = (Arc::clone(&jobs), cancel.clone(), command(DEAF_TREE, dir.path()));
        tokio::spawn(async move { jobs.run(command, &cancel, |_| {}).await.unwrap() })
    };
    until("three levels run", || pids(dir.path(), 3).is_some()).await;
    let pids = pids(dir.path(), 3).unwrap();
    let begun = Instant::now();
    cancel.cancel();
    let finished = running.await.unwrap();
    assert!(begun.elapsed() < Duration::from_millis(500), "took {:?}", begun.elapsed());
    assert_eq!((finished.end, finished.tail.as_str()), (End::Cancelled, "ready\n"));
    assert_eq!(jobs.count(), 1, "still being ended");
    until("the tree is gone", || !pids.iter().any(|pid| is_alive(*pid)) && jobs.count() == 0).await;
    assert!(begun.elapsed() < Duration::from_millis(3500), "took {:?}", begun.elapsed());
}

#[tokio::test]
async fn a_dropped_run_ends_its_command() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = Jobs::new();
    let cancel = CancellationToken::new();
    let text = "echo $$ > pid.1; exec sleep 600";
    tokio::select! {
        _ = jobs.run(command(text, dir.path()), &cancel, |_| {}) => panic!("it runs for minutes"),
        () = until("it runs", || pids(dir.path(), 1).is_some()) => {}
    }
    let pid = pids(dir.path(), 1).unwrap()[0];
    until("it has ended", || !is_alive(pid) && jobs.count() == 0).await;
}

#[tokio::test]
async fn shutdown_ends_everything_and_lets_nothing_start() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = Jobs::new();
    let running = {
        let (jobs, command) = (Arc::clone(&jobs), command("echo $$ > pid.1; sleep 600", dir.path()));
        tokio::spawn(async move { jobs.run(command, &CancellationToken::new(), |_| {}).await })
    };
    until("it runs", || pids(dir.path(), 1).is_some()).await;
    jobs.shutdown().await;
    assert_eq!(jobs.count(), 0);
    assert!(!is_alive(pids(dir.path(), 1).unwrap()[0]));
    assert_eq!(running.await.unwrap().unwrap().end, End::Cancelled);
    let late = jobs.run(command("true", dir.path()), &CancellationToken::new(), |_| {}).await;
    assert!(matches!(late, Err(ProcessError::Closing)));
}

#[tokio::test]
async fn an_output_beyond_a_limit_is_saved_whole() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = Jobs::new();
    for (count, saved) in [(1999, false), (2000, false), (2001, true)] {
        let text = format!("seq {count}");
        let finished = jobs.run(command(&text, dir.path()), &CancellationToken::new(), |_| {}).await.unwrap();
        assert_eq!(finished.lines, count);
        let path = finished.saved.path;
        assert_eq!(path.is_some(), saved, "{count}");
        if let Some(path) = path {
            assert_eq!(std::fs::read_to_string(path).unwrap(), finished.tail);
        }
    }
}

#[tokio::test]
async fn escape_sequences_progress_bars_and_binary_noise_become_text() {
    let finished = run(r"printf '\033[31mred\033[0m\n10%%\r20%%\r30%%\n\377\376\000end\n'").await;
    assert_eq!(finished.tail, "red\n30%\n\u{fffd}\u{fffd}end\n");
    assert_eq!(finished.not_text, 3);
}

#[tokio::test]
async fn new_text_is_told_in_few_deltas_that_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let deltas = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&deltas);
    let text = "for i in $(seq 300); do echo $i; sleep 0.001; done; sleep 0.2";
    let begun = Instant::now();
    let finished = Jobs::new()
        .run(command(text, dir.path()), &CancellationToken::new(), move |delta| {
            sink.lock().unwrap().push(delta);
        })
        .await
        .unwrap();
    let deltas = deltas.lock().unwrap().clone();
    assert_eq!(deltas.iter().cloned().map(text_of).collect::<String>(), finished.tail);
    assert!(deltas.len() > 1);
    assert!((deltas.len() as u128) <= begun.elapsed().as_millis() / 33 + 1, "{} deltas", deltas.len());
}

/// What the second instance does; nothing in an ordinary run.
#[tokio::test]
async fn role() {
    match std::env::var(ROLE).as_deref() {
        Ok("flood") => {
            println!("\n{}", peak());
            let finished = run("yes | head -c 200M").await;
            assert_eq!((finished.raw_bytes, finished.lines), (200 << 20, 100 << 20));
            assert_eq!(finished.saved.bytes, 200 << 20);
            println!("\n{}", peak());
        }
        Ok("die") => {
            let text = "trap '' TERM; echo $$; while :; do sleep 0.05; done";
            let dir = tempfile::tempdir().unwrap();
            drop(
                Jobs::new()
                    .run(command(text, dir.path()), &CancellationToken::new(), |news| {
                        println!("\npid {}", text_of(news));
                    })
                    .await,
            );
        }
        _ => {}
    }
}

/// The line that tells how much memory this process has had at most.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap().to_owned()
}

fn second_instance(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["jobs::tests::role", "--exact", "--nocapture"]).env(ROLE, role).stdout(Stdio::piped());
    command
}

#[cfg(target_os = "linux")]
#[test]
fn two_hundred_megabytes_take_little_memory() {
    let output = second_instance("flood").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let peaks: Vec<u64> = text
        .lines()
        .filter_map(|line| line.strip_prefix("VmHWM:"))
        .map(|peak| peak.trim().trim_end_matches(" kB").parse().unwrap())
        .collect();
    let [before, after] = peaks[..] else { panic!("{text}") };
    assert!(after - before < 28 * 1024, "from {before} to {after} KiB");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_dies_with_us_even_when_we_are_killed() {
    let mut us = second_instance("die").spawn().unwrap();
    let lines = BufReader::new(us.stdout.take().unwrap()).lines();
    let pid =
        lines.map_while(Result::ok).find_map(|line| line.strip_prefix("pid ")?.trim().parse().ok()).unwrap();
    assert!(is_alive(pid));
    us.kill().unwrap();
    us.wait().unwrap();
    until("the guard has ended it", || !is_alive(pid)).await;
}

/// Ways to leave something behind, each of which writes `count` process numbers into `pid.*`, and ends.
#[cfg(target_os = "linux")]
const LEFT_BEHIND: &[(&str, usize)] = &[
    ("sleep 600 & echo $! > pid.1", 1),
    ("nohup sleep 600 >/dev/null 2>&1 & echo $! > pid.1; disown", 1),
    ("set -m; sleep 600 & echo $! > pid.1", 1),
    ("setsid sh -c 'echo $$ > pid.1; exec sleep 600' & true", 1),
    ("(setsid sh -c 'echo $$ > pid.1; exec sleep 600' &)", 1),
    ("(setsid sh -c 'echo $$ > pid.1; kill -STOP $$; exec sleep 600' >/dev/null 2>&1 &)", 1),
    ("(env -i sh -c 'echo $$ > pid.1; exec sleep 600' &)", 1),
    (
        r#"trap '' TERM
    (trap '' TERM; sh -c 'echo $$ > pid.1
        setsid sh -c "echo \$\$ > pid.2; while :; do sleep 0.05; done" &
        while :; do sleep 0.05; done') & true"#,
        2,
    ),
];

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_finished_command_left_goes_on_until_shutdown_ends_it() {
    let each = LEFT_BEHIND.iter().map(|(text, count)| async move {
        let dir = tempfile::tempdir().unwrap();
        let jobs = Jobs::new();
        let finished = jobs.run(command(text, dir.path()), &CancellationToken::new(), |_| {}).await.unwrap();
        assert_eq!(finished.end, End::Exited(0), "{text}");
        until(text, || pids(dir.path(), *count).is_some()).await;
        let pids = pids(dir.path(), *count).unwrap();
        assert_eq!(jobs.count(), 0, "{text}");
        // Another command's sweep must not take it for gone.
        jobs.run(command("true", dir.path()), &CancellationToken::new(), |_| {}).await.unwrap();
        assert!(pids.iter().all(|pid| is_alive(*pid)), "{text}");
        let begun = Instant::now();
        jobs.shutdown().await;
        assert!(!pids.iter().any(|pid| is_alive(*pid)), "{text}");
        let limit = if *count == 1 { Duration::from_millis(1500) } else { GRACE + Duration::from_secs(2) };
        assert!(begun.elapsed() < limit, "{text}: took {:?}", begun.elapsed());
    });
    futures_join(each).await;
}

/// All at once: each waits most of the time.
#[cfg(target_os = "linux")]
async fn futures_join(each: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut all: Vec<_> = each.map(Box::pin).collect();
    std::future::poll_fn(|cx| {
        all.retain_mut(|one| one.as_mut().poll(cx).is_pending());
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_cancel_finds_what_has_left_its_parents_and_leaves_other_commands_alone() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = Jobs::new();
    let text = "(setsid sh -c 'echo $$ > pid.other; exec sleep 600' &)";
    jobs.run(command(text, dir.path()), &CancellationToken::new(), |_| {}).await.unwrap();
    until("the other runs", || pids(dir.path(), 1).is_some()).await;
    let other = pids(dir.path(), 1).unwrap()[0];
    let cancel = CancellationToken::new();
    let text = "(setsid sh -c 'echo $$ > pid.1; exec sleep 600' &) ; sleep 600";
    let begun = Instant::now();
    tokio::join!(async { jobs.run(command(text, dir.path()), &cancel, |_| {}).await.unwrap() }, async {
        until("it runs", || pids(dir.path(), 2).is_some()).await;
        cancel.cancel();
    });
    let stray = pids(dir.path(), 2).unwrap().into_iter().find(|pid| *pid != other).unwrap();
    until("all of it has ended", || !is_alive(stray) && jobs.count() == 0).await;
    assert!(begun.elapsed() < GRACE, "nothing waits for KILL: {:?}", begun.elapsed());
    assert!(is_alive(other));
    jobs.shutdown().await;
    assert!(!is_alive(other));
}

#[tokio::test]
async fn a_stopped_command_is_ended_by_term() {
    let dir = tempfile::tempdir().unwrap();
    let text = "trap 'echo told; exit 3' TERM; echo begun; kill -STOP $$";
    let command = ShellCommand { timeout: Some(Duration::from_millis(300)), ..command(text, dir.path()) };
    let finished = Jobs::new().run(command, &CancellationToken::new(), |_| {}).await.unwrap();
    assert_eq!(finished.tail, "begun\ntold\n");
}
