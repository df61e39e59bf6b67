use super::*;

#[tokio::test]
async fn a_bug_in_the_session_leaves_nobody_waiting_and_nothing_running() {
    let (first, _gate) = Response::says("never").gated();
    let world = World::new([first]);
    let path = world.project().join("session.jsonl");
    let parts = world.parts(Log::create(path.clone(), world.header()).expect("log"));
    let jobs = parts.workshop.jobs.clone();
    let handle = begin(parts);
    let mut events = handle.events();
    let running = submit(&handle, "go");
    let waiting = submit(&handle, "waiting");
    handle.send(Command::RunShell { command: "echo begun; sleep 600".to_owned(), shown_only: false });
    until(&mut events, |event| matches!(event, AgentEvent::ShellProgress { .. })).await;
    assert!(!handle.is_ended());
    assert_eq!(jobs.count(), 1);
    handle.send(Command::SetModel(ModelRef::new("test", "bug")));
    for ticket in [running, waiting] {
        let outcome = ticket.outcome().await;
        assert!(
            matches!(&outcome, TicketOutcome::Failed { error } if error.contains("bug in Mynah")),
            "{outcome:?}"
        );
    }
    let mut told = false;
    while let Some(event) = events.next().await {
        told |= matches!(event.event, AgentEvent::Notice { level: NoticeLevel::Error, .. });
    }
    assert!(told);
    assert!(handle.is_ended());
    assert_eq!(handle.events().next().await, None);
    // Waits for those that are being stopped already.
    jobs.shutdown().await;
    assert_eq!(jobs.count(), 0);
    assert_eq!(submit(&handle, "too late").outcome().await, TicketOutcome::Cancelled);
    handle.shutdown(Duration::from_secs(1)).await.expect("nothing to wait for");
    assert!(std::fs::read_to_string(&path).expect("file").contains("\"go\""), "what was said is kept");
}

#[tokio::test]
async fn an_end_in_order_is_one_too() {
    let world = World::new([]);
    let handle = world.start();
    handle.shutdown(Duration::from_secs(5)).await.expect("saved");
    assert!(handle.is_ended());
    assert_eq!(handle.events().next().await, None);
}
