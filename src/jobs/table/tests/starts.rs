//! Jobs that do not start, and many that do.

use super::*;
use std::os::unix::fs::PermissionsExt;

#[tokio::test]
async fn a_missing_shell_and_a_missing_folder_are_told_at_once() {
    let house = House::new();
    for terminal in [None, Some(TerminalSize::default())] {
        let base = JobSpec { terminal, ..house.spec("true") };
        let shell = JobSpec { shell: "/no/such/shell".into(), ..base.clone() };
        let error = house.table.start(shell).await.unwrap_err().to_string();
        assert!(error.starts_with("The shell /no/such/shell could not be started: No such file"), "{error}");
        let folder = JobSpec { cwd: "/no/such/folder".into(), ..base.clone() };
        let error = house.table.start(folder).await.unwrap_err().to_string();
        let want = "The working directory /no/such/folder does not exist. The command was not started.";
        assert_eq!(error, want);
        let long = JobSpec { command: "x".repeat(4 << 20), ..base };
        let error = house.table.start(long).await.unwrap_err().to_string();
        assert!(error.starts_with("The command is too long for this system (4194304 bytes)."), "{error}");
    }
    assert!(house.table.list().is_empty());
    assert!(super::super::folders::inner(&house.work().join("state/session")).is_empty());
    house.close().await;
}

#[tokio::test]
async fn names_are_used_once_and_folders_are_private() {
    let mut house = House::new();
    let first = house.start("exit 0").await;
    let second = house.start("exit 1").await;
    assert_eq!((first.as_str(), second.as_str()), ("a-job", "a-job-2"));
    house.ended(&second).await;
    assert_eq!(house.start("exit 2").await.as_str(), "a-job-3");
    let next = house.again();
    assert!(matches!(next.table.restore().await, Err(StartError::Busy)));
    assert!(matches!(next.table.start(next.spec("true")).await, Err(StartError::Busy)));
    house.table.end(&[]).await;
    assert_eq!(next.start("exit 3").await.as_str(), "a-job-4", "also beyond one run");
    let folder = next.table.list()[0].folder.clone();
    for (path, mode) in [
        (folder.clone(), 0o700),
        (folder.join(".."), 0o700),
        (folder.join("job.json"), 0o600),
        (folder.join("control"), 0o600),
    ] {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
    next.close().await;
    house.close().await;
}

#[tokio::test]
async fn the_environment_is_inherited_without_secrets_and_nothing_of_it_is_written_down() {
    let mut house = House::new();
    let spec = JobSpec {
        env: vec![("ADDED".to_owned(), "visible-value".into())],
        secret_env: vec!["HOME".to_owned()],
        ..house.spec("echo \"${HOME-none} $ADDED\"; read -r x; echo \"end $?\"")
    };
    let id = house.table.start(spec).await.unwrap().id.clone();
    assert_eq!(house.ended(&id).await.how, JobEnding::Exited(0));
    assert_eq!(house.log(&id).await, ["none visible-value", "end 1"]);
    let written = std::fs::read_to_string(house.table.get(&id).unwrap().folder.join("job.json")).unwrap();
    assert!(!written.contains("visible-value"), "{written}");
    house.close().await;
}

#[tokio::test]
async fn five_hundred_starts_in_a_loop_are_stopped_by_the_limit() {
    let house = House::new();
    let (mut started, mut refused) = (0, 0);
    for _ in 0..500 {
        match house.table.start(house.spec("exec sleep 600")).await {
            Ok(_) => started += 1,
            Err(StartError::Limit(count)) => {
                assert_eq!(count, DEFAULT_LIMIT);
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((started, refused), (DEFAULT_LIMIT, 500 - DEFAULT_LIMIT));
    let at_once = (0..20).map(|_| house.table.start(house.spec("exec sleep 600")));
    for refused in at_once {
        assert!(refused.await.unwrap_err().to_string().contains("Stop one that is no longer needed"));
    }
    let begun = Instant::now();
    house.table.end(&[]).await;
    assert!(begun.elapsed() < Duration::from_secs(3), "took {:?}", begun.elapsed());
    assert!(matches!(house.table.start(house.spec("true")).await, Err(StartError::Closing)));
    house.close().await;
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_the_job_in_the_table() {
    let mut house = House::new();
    let start = house.table.start(house.spec("exit 3"));
    tokio::select! {
        biased;
        _ = start => panic!("it was to be dropped"),
        () = tokio::task::yield_now() => {}
    }
    let id = JobId::new("a-job");
    assert_eq!(house.ended(&id).await.how, JobEnding::Exited(3));
    house.close().await;
}
