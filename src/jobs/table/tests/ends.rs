//! How jobs end.

use super::*;
use crate::jobs::GRACE;

#[tokio::test]
async fn exit_codes_and_signals_are_the_real_ones() {
    let mut house = House::new();
    for (command, how) in [
        ("true", JobEnding::Exited(0)),
        ("exit 7", JobEnding::Exited(7)),
        ("/no/such/program 2>/dev/null", JobEnding::Exited(127)),
        ("kill -HUP $$", JobEnding::Signalled("SIGHUP".into())),
        ("kill -INT $$", JobEnding::Signalled("SIGINT".into())),
        ("kill -TERM $$", JobEnding::Signalled("SIGTERM".into())),
        ("kill -KILL $$", JobEnding::Signalled("SIGKILL".into())),
        ("ulimit -c 0; kill -SEGV $$", JobEnding::Signalled("SIGSEGV".into())),
        ("kill -USR1 $$", JobEnding::Signalled("SIGUSR1".into())),
        ("exec >&- 2>&-; sleep 0.1; exit 4", JobEnding::Exited(4)),
        ("sleep 0.2 & exit 5", JobEnding::Exited(5)),
    ] {
        let id = house.start(command).await;
        assert_eq!(house.ended(&id).await.how, how, "{command}");
        let id = house.start_on_terminal(command).await;
        assert_eq!(house.ended(&id).await.how, how, "{command}, on a terminal");
    }
    house.close().await;
}

/// Three levels, all deaf to TERM, the lowest in a session of its own.
const DEAF: &str = r#"
trap '' TERM
echo $$ > pid.1
bash -c 'trap "" TERM; echo $$ > pid.2; setsid bash -c "trap \"\" TERM; echo \$\$ > pid.3; while :; do sleep 0.05; done"; :' &
while :; do sleep 0.05; done
"#;

#[tokio::test]
async fn a_job_that_is_deaf_to_term_is_killed_with_all_that_it_started() {
    let mut house = House::new();
    let id = house.start(DEAF).await;
    let mut pids = Vec::new();
    for name in ["pid.1", "pid.2", "pid.3"] {
        pids.push(pid(&house.work().join(name)).await);
    }
    let begun = Instant::now();
    house.table.stop(&id, StoppedBy::Agent).unwrap();
    assert!(matches!(house.table.get(&id).unwrap().state, JobState::Stopping { .. }));
    house.event("stopping", |event| matches!(event, JobEvent::Changed(_)).then_some(())).await;
    house.table.stop(&id, StoppedBy::User).unwrap();
    let end = house.ended(&id).await;
    assert_eq!(end.how, JobEnding::Stopped(StoppedBy::Agent), "who stopped it first");
    assert!(
        begun.elapsed() >= GRACE && begun.elapsed() < GRACE + Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    assert!(!pids.iter().any(|pid| is_alive(*pid)), "nothing of it runs when its end is told");
    assert!(end.took_ms >= 2_000);
    house.close().await;
}

#[tokio::test]
async fn a_job_that_obeys_ends_at_once() {
    let mut house = House::new();
    for terminal in [false, true] {
        let text = "trap 'echo told; exit 3' TERM; echo begun; while :; do sleep 0.05; done";
        let id = if terminal { house.start_on_terminal(text).await } else { house.start(text).await };
        house.shows(&id, "begun").await;
        let begun = Instant::now();
        house.table.stop(&id, StoppedBy::User).unwrap();
        assert_eq!(house.ended(&id).await.how, JobEnding::Stopped(StoppedBy::User));
        assert!(begun.elapsed() < GRACE, "nothing waits for KILL: {:?}", begun.elapsed());
        let log = house.log(&id).await;
        // The shell tells of its child in between, or not.
        assert_eq!((log.first().unwrap().as_str(), log.last().unwrap().as_str()), ("begun", "told"));
    }
    house.close().await;
}

#[tokio::test]
async fn the_time_limit_stops_a_job() {
    let mut house = House::new();
    let limit = Some(Duration::from_millis(1_200));
    let spec = JobSpec { time_limit: limit, ..house.spec("echo before; sleep 600 & echo $! > pid.1; wait") };
    let id = house.table.start(spec).await.unwrap().id.clone();
    assert_eq!(house.ended(&id).await.how, JobEnding::TimedOut(2));
    assert_eq!(house.log(&id).await, ["before"]);
    assert!(!is_alive(pid(&house.work().join("pid.1")).await));
    house.close().await;
}

/// Ways to leave something behind that writes its process number into `pid.1`.
const LEFT_BEHIND: &[&str] = &[
    "sleep 600 & echo $! > pid.1",
    "(setsid sh -c 'echo $$ > pid.1; exec sleep 600' &)",
    "(setsid sh -c '(echo $BASHPID > pid.0; sh -c \"echo \\$\\$ > pid.1; exec sleep 600\") & ' >/dev/null 2>&1 &)",
    "(env -i sh -c 'echo $$ > pid.1; exec sleep 600' &)",
    "(setsid sh -c 'trap \"\" PIPE TERM; echo $$ > pid.1; while echo more; do sleep 0.05; done; exit' &)",
];

#[tokio::test]
async fn what_a_job_leaves_behind_goes_on_until_the_session_ends() {
    for command in LEFT_BEHIND {
        let mut house = House::new();
        let id = house.start(command).await;
        let begun = Instant::now();
        assert_eq!(house.ended(&id).await.how, JobEnding::Exited(0), "{command}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{command}");
        let left = pid(&house.work().join("pid.1")).await;
        // Ending is not waited for by the keeper of another one.
        let other = house.start("true").await;
        house.ended(&other).await;
        assert!(is_alive(left), "{command}");
        house.close().await;
        until(command, || !is_alive(left)).await;
    }
}

#[tokio::test]
async fn what_writes_on_after_the_end_is_not_ended_by_that() {
    let mut house = House::new();
    let id = house.start("(sleep 1; echo late; echo later; echo $$ > survived) & echo started").await;
    house.ended(&id).await;
    let survived = house.work().join("survived");
    until("it writes on", || survived.exists()).await;
    assert_eq!(house.log(&id).await, ["started"]);
    let id = house.start("(trap '' TERM; echo $BASHPID > pid.1; while :; do sleep 0.05; done) & true").await;
    house.ended(&id).await;
    let left = pid(&house.work().join("pid.1")).await;
    house.table.stop(&id, StoppedBy::User).unwrap();
    until("a stop ends what was left", || !is_alive(left)).await;
    let how = end_of(&house.table.get(&id).unwrap()).how;
    assert_eq!(how, JobEnding::Exited(0), "that is how it ended");
    house.close().await;
}

#[tokio::test]
async fn a_keeper_that_is_killed_leaves_nothing_alone() {
    let mut house = House::new();
    let id = house.start("trap '' HUP PIPE; echo $$ > pid.1; while :; do sleep 0.05; done").await;
    let shell = pid(&house.work().join("pid.1")).await;
    stop::kill_keeper(&house.record(&id));
    assert_eq!(house.ended(&id).await.how, JobEnding::Unknown);
    assert!(!is_alive(shell));
    house.close().await;
}

#[tokio::test]
async fn a_keeper_that_does_not_listen_is_no_obstacle() {
    let mut house = House::new();
    let id = house.start("echo $$ > pid.1; exec sleep 600").await;
    let shell = pid(&house.work().join("pid.1")).await;
    let keeper = house.record(&id).running.unwrap().keeper.pid().unwrap();
    rustix::process::kill_process(keeper, rustix::process::Signal::STOP).unwrap();
    house.table.stop(&id, StoppedBy::User).unwrap();
    assert_eq!(house.ended(&id).await.how, JobEnding::Stopped(StoppedBy::User));
    assert!(!is_alive(shell));
    house.close().await;
}

#[tokio::test]
async fn a_wait_ends_with_the_job_or_at_its_limit() {
    let house = House::new();
    let id = house.start("until [ -e go ]; do sleep 0.02; done; exit 6").await;
    let view = house.table.wait(&id, Duration::from_millis(50)).await.unwrap();
    assert_eq!(view.state, JobState::Running);
    let (view, ()) = tokio::join!(house.table.wait(&id, LONG), async {
        std::fs::write(house.work().join("go"), "").unwrap();
    });
    assert_eq!(end_of(&view.unwrap()).how, JobEnding::Exited(6));
    let begun = Instant::now();
    house.table.wait(&id, LONG).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(house.table.wait(&JobId::new("no"), LONG).await, Err(NoSuchJob(JobId::new("no"))));
    house.close().await;
}
