use super::*;
use crate::proto::message::{AssistantMessage, CompactionSummaryMessage, UserMessage};

#[tokio::test]
async fn a_word_that_is_not_delivered_can_be_taken_back_whole() {
    let (first, gate) = Response::calls(&[("c1", "ls", json!({}))]).gated();
    let world = World::new([first]);
    let handle = world.start();
    let turn = submit(&handle, "look");
    gate.reached().await;
    let long = "a".repeat(3000);
    let back = handle.steer(Prompt { display: Some("[paste #1]".to_owned()), ..Prompt::text(&long) });
    let stays = handle.steer(Prompt::text("stays"));
    let waits = submit(&handle, &long);
    handle.barrier().await.expect("alive");
    let view = handle.view();
    let [first, second] = &view.steering[..] else { panic!("{:?}", view.steering) };
    assert_eq!((first.text.as_str(), second.text.as_str()), ("[paste #1]", "stays"));
    assert_eq!(text_of(&first.prompt.content), long);
    assert_eq!((first.ticket, second.ticket), (back.id, stays.id));
    assert_eq!(text_of(&view.queue[0].prompt.content), long);
    assert_eq!((view.queue[0].ticket, view.queue[0].text.len()), (waits.id, 500), "lists get the beginning");

    handle.send(Command::Queue(QueueCommand::Remove { ticket: first.ticket, version: first.version }));
    assert_eq!(back.outcome().await, TicketOutcome::Removed);
    gate.open();
    assert_eq!(stays.outcome().await, TicketOutcome::Delivered);
    assert_eq!(turn.outcome().await, TicketOutcome::Completed);
    assert!(world.provider.requests().iter().all(|request| {
        request.messages.iter().filter(|message| brief(message).contains("aaa")).count() < 2
    }));
}

#[tokio::test]
async fn words_that_a_stop_cuts_off_wait_as_held_prompts() {
    let (first, gate) = Response::says("half").gated();
    let world = World::new([first]);
    let handle = world.start();
    let running = submit(&handle, "go");
    gate.reached().await;
    let waiting = submit(&handle, "waiting");
    let one = handle.steer(Prompt::text("one"));
    let two = handle.steer(Prompt::text("two"));
    handle.send(Command::Cancel { reason: CancelReason::Stop });
    assert_eq!(running.outcome().await, TicketOutcome::Cancelled);
    handle.barrier().await.expect("alive");
    let view = handle.view();
    assert!(view.steering.is_empty() && view.running.is_none());
    let rows: Vec<_> = view.queue.iter().map(|row| (row.text.as_str(), row.held)).collect();
    assert_eq!(rows, [("one", true), ("two", true), ("waiting", true)]);
    assert_eq!(world.provider.requests().len(), 1, "nothing starts by itself");

    let top = &view.queue[0];
    handle.send(Command::Queue(QueueCommand::SendNow { ticket: top.ticket, version: top.version }));
    for ticket in [one, two, waiting] {
        assert_eq!(ticket.outcome().await, TicketOutcome::Completed);
    }
}

#[tokio::test]
async fn counts_and_cache_go_on_in_a_continued_session() {
    let used = Usage { input: 7, output: 5, ..Usage::default() };
    let world = World::new([
        Response::calls(&[("c1", "ls", json!({})), ("c2", "nothing", json!({}))]),
        Response::says("done").with_usage(used),
    ]);
    let path = world.project().join("session.jsonl");
    let handle = begin(world.parts(Log::create(path.clone(), world.header()).expect("log")));
    let view = handle.view();
    assert_eq!((view.counts, view.cache, view.context.known), (Counts::default(), None, true));
    submit(&handle, "look").outcome().await;
    handle.shutdown(Duration::from_secs(5)).await.expect("saved");
    let before = handle.view();
    assert_eq!((before.counts.prompts, before.counts.rounds, before.counts.tools), (1, 2, 2));
    assert_eq!(before.cache.map(|cache| cache.last_usage.total_tokens), Some(12));

    let (log, opened) = Log::open(&path).expect("opens");
    let context = opened.tree.context();
    let handle = begin(SessionParts {
        history: context.messages.into_iter().map(|(_, message)| message).collect(),
        counts: context.counts,
        usage: context.usage,
        ..world.parts(log)
    });
    let after = handle.view();
    assert_eq!(after.counts, before.counts);
    let (was, is) = (before.cache.expect("a request"), after.cache.expect("a request"));
    assert_eq!(was.last_usage, is.last_usage);
    assert!((was.ended - is.ended).abs() < 5_000, "{} and {}", was.ended, is.ended);
    submit(&handle, "more").outcome().await;
    assert_eq!(handle.view().counts.prompts, 2);
}

#[tokio::test]
async fn what_a_summary_left_is_not_counted_before_the_next_response() {
    let message = |timestamp| {
        Arc::new(Message::Assistant(AssistantMessage {
            content: vec![crate::proto::message::Block::text("said")],
            api: String::new(),
            provider: String::new(),
            model: String::new(),
            response_model: None,
            usage: Usage { total_tokens: 90, ..Usage::default() },
            stop_reason: StopReason::Stop,
            error_message: None,
            timestamp,
            response_id: None,
            raw_stop_reason: None,
            duration_ms: None,
            thinking_level: None,
        }))
    };
    let summary = Arc::new(Message::CompactionSummary(CompactionSummaryMessage {
        summary: "long ago".to_owned(),
        tokens_before: 90,
        facts: Default::default(),
        timestamp: 5,
    }));
    let user = Arc::new(Message::User(UserMessage {
        content: vec![crate::proto::message::Block::text("hi")],
        timestamp: 1,
    }));
    for (history, want) in [
        (vec![], (0, true)),
        (vec![user.clone()], (0, false)),
        (vec![user, message(3)], (90, true)),
        (vec![summary.clone(), message(3)], (0, false)),
        (vec![summary, message(3), message(6)], (90, true)),
    ] {
        let world = World::new([]);
        let handle = begin(SessionParts { history, ..world.parts(Log::in_memory(world.header())) });
        let context = handle.view().context;
        assert_eq!((context.tokens, context.known), want);
        submit(&handle, "go").outcome().await;
        assert!(handle.view().context.known);
    }
}
