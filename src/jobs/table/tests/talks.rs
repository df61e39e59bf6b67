//! What jobs print, and what is written to them.

use super::*;
use crate::jobs::keeper::record::ExitRecord;

#[tokio::test]
async fn a_password_is_read_from_a_terminal() {
    let mut house = House::new();
    let text = "stty size; read -rs -p 'Password: ' x; echo; echo \"got $x\"; [ -t 0 ] && [ -t 1 ]";
    let id = house.start_on_terminal(text).await;
    house.shows(&id, "Password:").await;
    house.table.input(&id, b"open sesame\n".to_vec()).unwrap();
    assert_eq!(house.ended(&id).await.how, JobEnding::Exited(0));
    assert_eq!(house.log(&id).await, ["24 80", "Password: ", "got open sesame"]);
    assert!(matches!(house.table.input(&id, b"x".to_vec()), Err(InputError::Ended(_))));
    house.close().await;
}

#[tokio::test]
async fn a_password_without_a_terminal_fails_at_once() {
    let mut house = House::new();
    let id = house.start("read -rs x < /dev/tty || read -rs x; echo \"end $?\"").await;
    assert!(matches!(
        house.table.input(&id, b"x".to_vec()),
        Err(InputError::NoTerminal(_) | InputError::Ended(_))
    ));
    assert_eq!(house.ended(&id).await.how, JobEnding::Exited(0));
    assert_eq!(house.log(&id).await.last().unwrap(), "end 1");
    let nobody = house.table.input(&JobId::new("nobody"), Vec::new());
    assert!(matches!(nobody, Err(InputError::NoSuchJob(_))));
    house.close().await;
}

#[tokio::test]
async fn ctrl_c_on_its_terminal_reaches_what_runs() {
    let mut house = House::new();
    // One that does not look for a terminal by itself, as bash does.
    let terminal = Some(TerminalSize { rows: 5, columns: 44 });
    let spec =
        JobSpec { terminal, shell: "/bin/sh".into(), ..house.spec("stty size; echo ready; exec sleep 600") };
    let id = house.table.start(spec).await.unwrap().id.clone();
    house.shows(&id, "ready").await;
    house.table.input(&id, vec![3]).unwrap();
    assert_eq!(house.ended(&id).await.how, JobEnding::Signalled("SIGINT".into()));
    assert_eq!(house.log(&id).await[0], "5 44");
    house.close().await;
}

#[tokio::test]
async fn input_that_nobody_reads_holds_nothing_up() {
    let mut house = House::new();
    let id = house
        .start_on_terminal(
            "stty raw -echo; echo ready; until [ -e go ]; do sleep 0.02; done; seq 3000; exit 2",
        )
        .await;
    house.shows(&id, "ready").await;
    let mut refused = 0;
    for _ in 0..400 {
        refused += u32::from(house.table.input(&id, vec![b'x'; 4_000]).is_err());
        tokio::task::yield_now().await;
    }
    std::fs::write(house.work().join("go"), "").unwrap();
    assert_eq!(house.ended(&id).await.how, JobEnding::Exited(2), "{refused} refused");
    assert_eq!(house.log(&id).await.last().unwrap().trim(), "3000");
    let exit = ExitRecord::read(&house.table.get(&id).unwrap().folder).unwrap().unwrap();
    assert!(exit.problem.unwrap().ends_with("bytes of input were never read."));
    house.close().await;
}

#[tokio::test]
async fn binary_output_is_kept_byte_for_byte_and_shown_as_text() {
    let mut house = House::new();
    let id = house.start("head -c 300000 /dev/urandom | tee copy; exit 7").await;
    assert_eq!(house.ended(&id).await.how, JobEnding::Exited(7));
    let view = house.table.get(&id).unwrap();
    let log = std::fs::read(files::newest(&view.folder).unwrap()).unwrap();
    assert_eq!(log, std::fs::read(house.work().join("copy")).unwrap());
    assert_eq!(view.printed, 300_000);
    for line in house.log(&id).await.iter().chain([&view.latest]) {
        assert!(!line.chars().any(|c| c.is_control() && c != '\t'), "{line:?}");
    }
    house.close().await;
}

#[tokio::test]
async fn news_come_at_once_and_not_too_often() {
    let mut house = House::new();
    let begun = Instant::now();
    let text =
        "for i in $(seq 100); do echo \"line $i\"; sleep 0.01; done; until [ -e go ]; do sleep 0.02; done";
    let id = house.start(text).await;
    house.shows(&id, "line 100").await;
    let elapsed = begun.elapsed();
    std::fs::write(house.work().join("go"), "").unwrap();
    house.ended(&id).await;
    let output = String::from_utf8(house.output.lock().unwrap().clone()).unwrap();
    assert_eq!(output, (1..=100).map(|number| format!("line {number}\n")).collect::<String>());
    // The same once more, counted.
    std::fs::remove_file(house.work().join("go")).unwrap();
    let id = house.start(text).await;
    let mut changes = 0_u128;
    house
        .event("the last line", |event| match event {
            JobEvent::Changed(view) if view.id == id => {
                changes += 1;
                (view.latest == "line 100").then_some(())
            }
            _ => None,
        })
        .await;
    assert!(changes > 3 && changes <= elapsed.as_millis() * 2 / 100 + 3, "{changes} in {elapsed:?}");
    std::fs::write(house.work().join("go"), "").unwrap();
    house.ended(&id).await;
    house.close().await;
}

#[tokio::test]
async fn a_report_has_the_last_lines_and_the_log() {
    let mut house = House::new();
    let id = house.start("seq 100; printf 'the \\033[31mlast\\033[0m line'; exit 3").await;
    house.ended(&id).await;
    let report = house.table.report(&id).await.unwrap();
    assert_eq!(report.last_lines.lines().count(), report::LAST_LINES);
    assert!(report.last_lines.starts_with("82\n") && report.last_lines.ends_with("100\nthe last line\n"));
    assert_eq!(std::fs::read(&report.log).unwrap().len(), 292 + 22);
    let text = report::completion(&[report]);
    assert!(
        text.starts_with("The background job \"A job\" (a-job) has failed: exit code 3 after 0."),
        "{text}"
    );
    house.close().await;
}
