use super::*;
use crate::proto::ask::AskPreview;

#[tokio::test]
async fn a_question_shows_what_the_call_would_do() {
    let world = World::new([Response::calls(&[
        ("c1", "bash", json!({"command": "make\nmake test"})),
        ("c2", "edit", json!({"path": "a.txt", "edits": [{"oldText": "two", "newText": "2"}]})),
        ("c3", "edit", json!({"path": "a.txt", "edits": [{"oldText": "three", "newText": "3"}]})),
        ("c4", "write", json!({"path": "new/b.txt", "content": "b\n"})),
        ("c5", "wait", json!({})),
    ])]);
    std::fs::write(world.project().join("a.txt"), "one\ntwo\n").expect("written");
    let handle = asking(&world);
    let mut events = handle.events();
    let ticket = submit(&handle, "go");
    let change =
        |path: &str, patch: &str| AskPreview::Change { path: path.to_owned(), patch: patch.to_owned() };
    for want in [
        AskPreview::Command("make\nmake test".to_owned()),
        change("a.txt", "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
        AskPreview::None,
        change("new/b.txt", "--- /dev/null\n+++ new/b.txt\n@@ -0,0 +1 @@\n+b\n"),
    ] {
        let asked = ask(&mut events).await;
        assert_eq!(asked.preview, want);
        let answer = PermissionAnswer::NoWith { message: "later".to_owned() };
        handle.send(Command::AnswerPermission { ask: asked.id, answer });
    }
    until(&mut events, started).await;
    handle.send(Command::Cancel { reason: CancelReason::Stop });
    assert_eq!(ticket.outcome().await, TicketOutcome::Cancelled);
    assert_eq!(std::fs::read_to_string(world.project().join("a.txt")).expect("file"), "one\ntwo\n");
}

#[tokio::test]
async fn a_stop_before_the_question_takes_it_back() {
    let world = World::new([write_call("c1")]);
    let handle = asking(&world);
    let mut events = handle.events();
    let ticket = submit(&handle, "write it");
    until(&mut events, |event| {
        matches!(event, AgentEvent::Entry { patch: EntryPatch::Finish(message), .. }
        if matches!(**message, Message::Assistant(_)))
    })
    .await;
    handle.send(Command::Cancel { reason: CancelReason::Stop });
    assert_eq!(ticket.outcome().await, TicketOutcome::Cancelled);
    submit(&handle, "again").outcome().await;
    assert_eq!(handle.view().ask, None);
    let mut open = 0;
    while let Some(event) = events.try_next() {
        match event.event {
            AgentEvent::PermissionAsked(_) => open += 1,
            AgentEvent::PermissionResolved { .. } => open -= 1,
            _ => {}
        }
    }
    assert_eq!(open, 0, "every question that was asked fell away again");
}
