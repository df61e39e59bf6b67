//! Jobs that outlive the program that started them.

use super::floods::ROLE;
use super::*;
use crate::jobs::keeper::record::Running;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

const DIR: &str = "MYNAH_TEST_DIR";
const HOUR: i64 = 3_600_000;

/// Waits until it may go on, and ends.
const PATIENT: &str =
    "echo $$ > pid.1; echo before; until [ -e go ]; do sleep 0.02; done; echo after; exit 5";

/// A program that starts a job and is killed; nothing in an ordinary run.
#[tokio::test]
async fn role() {
    let role = std::env::var(ROLE);
    if !matches!(role.as_deref(), Ok("own" | "restore")) {
        return;
    }
    let dir = std::env::var_os(DIR).unwrap();
    let mut setup_root = std::path::PathBuf::from(&dir);
    let mut house = House::with(Arc::new(tempfile::tempdir().unwrap()), |setup| {
        setup_root.push("state");
        setup.root.clone_from(&setup_root);
    });
    if role.as_deref() == Ok("restore") {
        let id = house.table.restore().await.unwrap().jobs[0].id.clone();
        println!("\n{:?}", house.ended(&id).await.how);
        return;
    }
    let spec = JobSpec { cwd: dir.into(), ..house.spec(PATIENT) };
    let id = house.table.start(spec).await.unwrap().id.clone();
    house.shows(&id, "before").await;
    println!("\nstarted");
    std::future::pending::<()>().await;
}

/// Another program, with that role.
fn instance(role: &str, dir: &Path) -> Command {
    let mut other = Command::new(std::env::current_exe().unwrap());
    other.args(["jobs::table::tests::restarts::role", "--exact", "--nocapture"]);
    other.envs([(ROLE, role.as_ref()), (DIR, dir.as_os_str())]).stdout(Stdio::piped()).process_group(0);
    other
}

/// Lets another program start a job, and kills that program.
fn start_and_die(dir: &Path) {
    let mut other: Child = instance("own", dir).spawn().unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "started"));
    other.kill().unwrap();
    other.wait().unwrap();
}

#[tokio::test]
async fn a_job_of_a_program_that_was_killed_is_taken_over() {
    let mut house = House::new();
    start_and_die(house.work());
    let restored = house.table.restore().await.unwrap();
    assert!(restored.problems.is_empty() && restored.untold.is_empty(), "{restored:?}");
    let id = restored.jobs[0].id.clone();
    assert_eq!((restored.jobs.len(), &restored.jobs[0].state), (1, &JobState::Running));
    house.event("its start", |event| matches!(event, JobEvent::Started(_)).then_some(())).await;
    house.shows(&id, "before").await;
    std::fs::write(house.work().join("go"), "").unwrap();
    let end = house.ended(&id).await;
    assert_eq!(end.how, JobEnding::Exited(5), "the real exit code");
    assert_eq!(house.log(&id).await, ["before", "after"]);

    // Not yet told: so it is once more by the next run, and no more after that.
    house.table.end(&[]).await;
    let mut next = house.again();
    let restored = next.table.restore().await.unwrap();
    assert_eq!(restored.untold, std::slice::from_ref(&id));
    assert_eq!(end_of(&restored.jobs[0]), end);
    assert_eq!(next.ended(&id).await, end);
    next.table.set_told(std::slice::from_ref(&id));
    next.table.end(&[]).await;
    let mut last = next.again();
    let restored = last.table.restore().await.unwrap();
    assert!(restored.untold.is_empty());
    assert_eq!((restored.jobs.len(), end_of(&restored.jobs[0])), (1, end));
    assert!(last.events.try_recv().is_err());
    assert_eq!(last.log(&id).await, ["before", "after"], "its log can still be read");
    for house in [house, next, last] {
        house.close().await;
    }
}

#[tokio::test]
async fn an_end_that_nobody_saw_is_told_once() {
    let mut house = House::new();
    start_and_die(house.work());
    std::fs::write(house.work().join("go"), "").unwrap();
    let exit = house.work().join("state/session/a-job/exit.json");
    until("it has ended", || exit.exists()).await;
    let restored = house.table.restore().await.unwrap();
    assert_eq!(restored.untold, [JobId::new("a-job")]);
    assert_eq!(end_of(&restored.jobs[0]).how, JobEnding::Exited(5));
    assert_eq!(house.ended(&restored.untold[0]).await.how, JobEnding::Exited(5));
    house.close().await;
}

#[tokio::test]
async fn a_job_whose_keeper_died_too_is_ended_and_told() {
    let mut house = House::new();
    start_and_die(house.work());
    let record = JobRecord::read(&house.work().join("state/session/a-job")).unwrap();
    let shell = pid(&house.work().join("pid.1")).await;
    stop::kill_keeper(&record);
    until("the keeper is gone", || !keeper_is_alive(&record)).await;
    let restored = house.table.restore().await.unwrap();
    assert_eq!(house.ended(&restored.jobs[0].id).await.how, JobEnding::Unknown);
    assert!(!is_alive(shell));
    house.close().await;
}

#[tokio::test]
async fn a_younger_program_ends_what_is_older() {
    let house = House::new();
    start_and_die(house.work());
    let record = JobRecord::read(&house.work().join("state/session/a-job")).unwrap();
    let shell = pid(&house.work().join("pid.1")).await;
    stop::kill_keeper(&record);
    until("the keeper is gone", || !keeper_is_alive(&record)).await;
    // By its mark: its group is none that anybody would know.
    let unknown = Running { shell: Identity { pid: 0, started: 0 }, ..record.running.clone().unwrap() };
    let old = JobRecord { running: Some(unknown), ..record };
    old.write(&house.work().join("state/session/a-job")).unwrap();
    let output = instance("restore", house.work()).stderr(Stdio::inherit()).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("\nUnknown\n"));
    assert!(!is_alive(shell));
}

#[tokio::test]
async fn another_process_of_the_same_number_is_never_signalled() {
    let mut house = House::new();
    let mut innocent = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
    let real = identity(i32::try_from(innocent.id()).unwrap());
    let id = house.start("exit 0").await;
    house.ended(&id).await;
    let folder = house.table.get(&id).unwrap().folder.clone();
    house.table.end(&[]).await;
    let mut record = JobRecord::read(&folder).unwrap();
    let running = record.running.as_mut().unwrap();
    running.keeper = Identity { started: real.started + 1, ..real };
    running.shell = running.keeper;
    record.write(&folder).unwrap();
    std::fs::remove_file(folder.join("exit.json")).unwrap();
    let mut next = house.again();
    next.table.restore().await.unwrap();
    assert_eq!(next.ended(&id).await.how, JobEnding::Unknown);
    next.table.stop(&id, StoppedBy::User).unwrap();
    next.table.end(&[]).await;
    let cleaned = clean_abandoned(&house.work().join("state"), &SessionId::new("another"), i64::MAX).await;
    assert_eq!(cleaned, Cleaned { sessions: 1, stopped: 0 });
    assert!(real.is_alive() && innocent.try_wait().unwrap().is_none());
    innocent.kill().unwrap();
    innocent.wait().unwrap();
}

#[tokio::test]
async fn at_the_end_some_are_kept_and_all_others_are_stopped() {
    let mut house = House::new();
    let kept = house.start(PATIENT).await;
    let other = house.start("trap '' TERM; echo $$ > pid.2; while :; do sleep 0.05; done").await;
    let obedient = house.start_on_terminal("echo $$ > pid.3; exec sleep 600").await;
    let (deaf, calm) = (pid(&house.work().join("pid.2")).await, pid(&house.work().join("pid.3")).await);
    house.shows(&kept, "before").await;
    let begun = Instant::now();
    house.table.end(std::slice::from_ref(&kept)).await;
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert!(!is_alive(deaf) && !is_alive(calm));
    for id in [&other, &obedient] {
        let how = end_of(&house.table.wait(id, LONG).await.unwrap()).how;
        assert_eq!(how, JobEnding::Stopped(StoppedBy::End), "{id}");
    }
    let mut next = house.again();
    let restored = next.table.restore().await.unwrap();
    let live: Vec<_> =
        restored.jobs.iter().filter(|view| view.state.is_live()).map(|view| &view.id).collect();
    assert_eq!(live, [&kept]);
    std::fs::write(house.work().join("go"), "").unwrap();
    assert_eq!(next.ended(&kept).await.how, JobEnding::Exited(5));
    next.close().await;
}

#[tokio::test]
async fn jobs_that_nobody_wants_are_cleaned_after_a_day() {
    let house = House::new();
    let root = house.work().join("state");
    let id = house.start(PATIENT).await;
    let shell = pid(&house.work().join("pid.1")).await;
    let record = house.record(&id);
    let now = crate::jobs::keeper::record::now();
    let nothing = Cleaned::default();
    assert_eq!(
        clean_abandoned(&root, &SessionId::new("another"), now + 1_000 * HOUR).await,
        nothing,
        "it is open"
    );
    house.table.end(&[id]).await;
    assert_eq!(
        clean_abandoned(&root, &SessionId::new("another"), now + 23 * HOUR).await,
        nothing,
        "it may still be resumed"
    );
    assert!(is_alive(shell));
    assert_eq!(
        clean_abandoned(&root, &SessionId::new("another"), now + 25 * HOUR).await,
        Cleaned { sessions: 1, stopped: 1 }
    );
    assert!(!is_alive(shell) && folders::inner(&root).is_empty());
    nothing_is_left(&[record]).await;

    let crashed = House::new();
    let root = crashed.work().join("state");
    start_and_die(crashed.work());
    let record = JobRecord::read(&root.join("session/a-job")).unwrap();
    assert_eq!(
        clean_abandoned(&root, &SessionId::new("another"), now).await,
        nothing,
        "a day from the first look"
    );
    assert_eq!(clean_abandoned(&root, &SessionId::new("another"), now + 23 * HOUR).await, nothing);
    assert_eq!(
        clean_abandoned(&root, &SessionId::new("another"), now + 24 * HOUR).await,
        Cleaned { sessions: 1, stopped: 1 }
    );
    nothing_is_left(&[record]).await;
}

#[tokio::test]
async fn what_is_damaged_is_told_and_cleaned() {
    let mut house = House::new();
    let id = house.start("exit 0").await;
    house.ended(&id).await;
    let session = house.work().join("state/session");
    let record = house.record(&id);
    house.table.end(&[]).await;
    std::fs::create_dir(session.join("empty")).unwrap();
    std::fs::create_dir(session.join("half")).unwrap();
    std::fs::write(session.join("half/job.json"), "{\"version\":1,").unwrap();
    let unborn = JobRecord { running: None, id: JobId::new("unborn"), ..record.clone() };
    folders::create_job(&session.join("unborn"), &unborn).unwrap();
    let later = JobRecord { version: 99, id: JobId::new("later"), ..record };
    folders::create_job(&session.join("later"), &later).unwrap();
    let next = house.again();
    let restored = next.table.restore().await.unwrap();
    assert_eq!(restored.problems.len(), 4, "{:?}", restored.problems);
    assert_eq!(restored.jobs.iter().map(|view| view.id.as_str()).collect::<Vec<_>>(), ["a-job"]);
    let left: Vec<_> =
        folders::inner(&session).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(left, ["a-job", "later"], "what a later version wrote is left alone");
    next.close().await;
}

#[tokio::test]
async fn without_jobs_nothing_is_touched() {
    let house = House::new();
    let restored = house.table.restore().await.unwrap();
    assert!(restored.jobs.is_empty() && restored.problems.is_empty());
    house.table.end(&[]).await;
    assert!(!house.work().join("state").exists());
    assert_eq!(
        clean_abandoned(&house.work().join("state"), &SessionId::new("another"), 0).await,
        Cleaned::default()
    );
}
