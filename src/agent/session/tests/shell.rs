use super::*;

fn run(handle: &AgentHandle, command: &str, shown_only: bool) {
    handle.send(Command::RunShell { command: command.to_owned(), shown_only });
}

async fn finished(events: &mut Listener) -> BashExecutionMessage {
    match until(events, |event| matches!(event, AgentEvent::ShellFinished { .. })).await {
        AgentEvent::ShellFinished { message } => match &*message {
            Message::BashExecution(run) => run.clone(),
            other => panic!("{other:?}"),
        },
        _ => unreachable!("asked for"),
    }
}

#[tokio::test]
async fn a_command_runs_at_once_and_the_model_reads_it_before_the_next_prompt() {
    let world = World::new([]);
    let path = world.project().join("session.jsonl");
    let handle = begin(world.parts(Log::create(path.clone(), world.header()).expect("log")));
    let mut events = handle.events();
    run(&handle, "echo hello; pwd; exit 3", false);
    let begun = until(&mut events, |event| matches!(event, AgentEvent::ShellStarted { .. })).await;
    assert_eq!(
        begun,
        AgentEvent::ShellStarted { command: "echo hello; pwd; exit 3".to_owned(), shown_only: false }
    );
    let message = finished(&mut events).await;
    let folder = world.project().canonicalize().expect("folder");
    assert_eq!(message.output, format!("hello\n{}\n", folder.display()));
    assert_eq!((message.exit_code, message.cancelled), (Some(3), false));
    handle.barrier().await.expect("saved");
    assert_eq!(handle.view().shell, None);
    assert!(std::fs::read_to_string(&path).expect("file").contains("bashExecution"));

    run(&handle, "true", true);
    assert_eq!(finished(&mut events).await.exclude_from_context, Some(true));
    submit(&handle, "go on").outcome().await;
    assert_eq!(
        world.last_request(),
        ["shell: echo hello; pwd; exit 3", "shell: true", "user: go on"],
        "adapters leave the second one out"
    );
    handle.shutdown(Duration::from_secs(5)).await.expect("saved");
    let (_log, opened) = Log::open(&path).expect("opens");
    let said: Vec<String> =
        opened.tree.context().messages.iter().map(|(_, message)| brief(message)).collect();
    assert_eq!(said[..2], ["shell: echo hello; pwd; exit 3", "shell: true"]);
}

#[tokio::test]
async fn a_command_that_ends_during_a_turn_joins_after_it() {
    let (first, gate) = Response::calls(&[("c1", "wait", json!({}))]).gated();
    let world = World::new([first]);
    let handle = world.start();
    let mut events = handle.events();
    let ticket = submit(&handle, "go");
    gate.reached().await;
    let next = submit(&handle, "next");
    gate.open();
    until(&mut events, started).await;
    run(&handle, "echo during", false);
    assert_eq!(finished(&mut events).await.output, "during\n");
    handle.send(Command::Cancel { reason: CancelReason::Stop });
    assert_eq!(ticket.outcome().await, TicketOutcome::Cancelled);
    handle.send(Command::Queue(QueueCommand::Release { ticket: None }));
    next.outcome().await;
    let request = world.last_request();
    assert!(request[2].starts_with("result: "), "{request:?}");
    assert_eq!(request[3..], ["shell: echo during", "user: next"]);
}

#[tokio::test]
async fn one_runs_at_a_time_and_it_can_be_stopped() {
    let world = World::new([]);
    let handle = world.start();
    let mut events = handle.events();
    run(&handle, "  \n", false);
    handle.send(Command::CancelShell);
    run(&handle, "echo begun; sleep 600", false);
    let told = until(&mut events, |event| matches!(event, AgentEvent::ShellProgress { .. })).await;
    assert_eq!(told, AgentEvent::ShellProgress { delta: "begun\n".to_owned() });
    let shell = handle.view().shell.clone().expect("it runs");
    assert_eq!((&*shell.command, shell.shown_only), ("echo begun; sleep 600", false));
    run(&handle, "echo second", false);
    until(&mut events, |event| {
        matches!(event, AgentEvent::Notice { level: NoticeLevel::Warning, text } if text.contains("still runs"))
    })
    .await;
    handle.send(Command::CancelShell);
    let message = finished(&mut events).await;
    assert_eq!((message.output.as_str(), message.exit_code), ("begun\n", None));
    assert!(message.cancelled);
    run(&handle, "echo third", false);
    assert_eq!(finished(&mut events).await.output, "third\n");
}

#[tokio::test]
async fn the_end_of_the_session_stops_the_command_and_keeps_it() {
    let world = World::new([]);
    let path = world.project().join("session.jsonl");
    let parts = world.parts(Log::create(path.clone(), world.header()).expect("log"));
    let jobs = parts.workshop.jobs.clone();
    let handle = begin(parts);
    let mut events = handle.events();
    run(&handle, "echo begun; sleep 600", false);
    until(&mut events, |event| matches!(event, AgentEvent::ShellProgress { .. })).await;
    handle.shutdown(Duration::from_secs(10)).await.expect("saved");
    assert!(finished(&mut events).await.cancelled);
    assert_eq!(jobs.count(), 0);
    let (_log, opened) = Log::open(&path).expect("opens");
    assert_eq!(opened.tree.context().messages.len(), 1);
}
