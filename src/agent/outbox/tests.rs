use super::*;
use crate::proto::event::NoticeLevel;
use crate::proto::message::Block;
use crate::proto::usage::Usage;
use proptest::prelude::*;

fn append(entry: &str, index: usize, text: &str) -> AgentEvent {
    let usage = Usage { output: text.len() as u64, ..Usage::default() };
    AgentEvent::Entry {
        id: EntryId::new(entry),
        patch: EntryPatch::Append { index, delta: text.to_owned(), usage },
    }
}

fn open(entry: &str, index: usize) -> AgentEvent {
    AgentEvent::Entry { id: EntryId::new(entry), patch: EntryPatch::Open { index, block: Block::text("") } }
}

fn output(call: &str, text: &str) -> AgentEvent {
    AgentEvent::ToolProgress { call: CallId::new(call), delta: text.to_owned() }
}

fn notice(text: &str) -> AgentEvent {
    AgentEvent::Notice { level: NoticeLevel::Info, text: text.to_owned() }
}

fn drain(listener: &mut Listener) -> Vec<Numbered> {
    std::iter::from_fn(|| listener.try_next()).collect()
}

fn short(events: &[Numbered]) -> Vec<String> {
    let name = |numbered: &Numbered| match &numbered.event {
        AgentEvent::Entry { id, patch: EntryPatch::Append { index, delta, .. } } => {
            format!("{id}.{index} {delta}")
        }
        AgentEvent::Entry { id, .. } => format!("{id} patch"),
        AgentEvent::ToolProgress { call, delta } => format!("{call} {delta}"),
        AgentEvent::Notice { text, .. } => text.clone(),
        other => format!("{other:?}"),
    };
    events.iter().map(|event| format!("{} {}", event.seq, name(event))).collect()
}

#[test]
fn pending_text_of_a_block_becomes_one_patch_with_the_latest_usage() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    for event in [append("a", 0, "x"), append("b", 0, "1"), append("a", 0, "yz"), append("b", 0, "2")] {
        outbox.publish(event);
    }
    let events = drain(&mut listener);
    assert_eq!(short(&events), ["1 a.0 xyz", "2 b.0 12"]);
    let AgentEvent::Entry { patch: EntryPatch::Append { usage, .. }, .. } = &events[0].event else {
        panic!()
    };
    assert_eq!(usage.output, 2);
}

#[test]
fn text_never_passes_another_event_of_its_entry() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    for event in
        [append("a", 0, "x"), open("a", 1), append("a", 1, "y"), append("a", 0, "z"), append("a", 0, "!")]
    {
        outbox.publish(event);
    }
    assert_eq!(short(&drain(&mut listener)), ["1 a.0 x", "2 a patch", "3 a.1 y", "4 a.0 z!"]);
}

#[test]
fn text_after_a_read_begins_a_new_event() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    outbox.publish(append("a", 0, "x"));
    assert_eq!(short(&drain(&mut listener)), ["1 a.0 x"]);
    outbox.publish(notice("n"));
    outbox.publish(append("a", 0, "y"));
    assert_eq!(short(&drain(&mut listener)), ["2 n", "3 a.0 y"]);
}

#[test]
fn notices_never_merge() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    for _ in 0..3 {
        outbox.publish(notice("same"));
    }
    assert_eq!(drain(&mut listener).len(), 3);
}

#[test]
fn output_of_a_call_is_bounded_and_keeps_the_newest() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    for line in 0..100_000 {
        outbox.publish(output("c", &format!("zeile {line} ü\n")));
    }
    let events = drain(&mut listener);
    let [Numbered { event: AgentEvent::ToolProgress { delta, .. }, .. }] = events.as_slice() else {
        panic!()
    };
    assert!(delta.len() <= PROGRESS_CAP);
    assert!(delta.starts_with(PROGRESS_DROPPED));
    assert!(delta.ends_with("zeile 99999 ü\n"));
}

#[test]
fn output_of_the_users_command_merges_and_ends_with_it() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    let begin = AgentEvent::ShellStarted { command: "c".to_owned(), shown_only: false };
    let more = |text: &str| AgentEvent::ShellProgress { delta: text.to_owned() };
    for event in
        [begin.clone(), more("a"), notice("n"), output("c", "x"), more("b"), begin.clone(), more("c")]
    {
        outbox.publish(event);
    }
    let told: Vec<AgentEvent> = drain(&mut listener).into_iter().map(|numbered| numbered.event).collect();
    assert_eq!(told, [begin.clone(), more("ab"), notice("n"), output("c", "x"), begin, more("c")]);
    // What was read is not joined any more.
    outbox.publish(notice("in its place"));
    outbox.publish(more("d"));
    assert_eq!(listener.try_next().map(|numbered| numbered.event), Some(notice("in its place")));
    for _ in 0..3 {
        outbox.publish(more(&"€".repeat(PROGRESS_CAP / 4)));
    }
    let events = drain(&mut listener);
    let [Numbered { event: AgentEvent::ShellProgress { delta }, .. }] = events.as_slice() else { panic!() };
    assert!(delta.starts_with(PROGRESS_DROPPED) && delta.len() <= PROGRESS_CAP);
}

#[test]
fn one_huge_output_is_cut_between_characters() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    outbox.publish(output("c", &"€".repeat(PROGRESS_CAP)));
    let events = drain(&mut listener);
    let [Numbered { event: AgentEvent::ToolProgress { delta, .. }, .. }] = events.as_slice() else {
        panic!()
    };
    assert!(delta.starts_with(PROGRESS_DROPPED) && delta.ends_with('€') && delta.len() <= PROGRESS_CAP);
}

#[test]
fn every_listener_has_its_own_queue() {
    let outbox = Outbox::new();
    let mut early = outbox.subscribe();
    outbox.publish(notice("1"));
    let mut late = outbox.subscribe();
    outbox.publish(notice("2"));
    assert_eq!(short(&drain(&mut late)), ["2 2"]);
    assert_eq!(short(&drain(&mut early)), ["1 1", "2 2"]);
}

#[test]
fn a_dropped_listener_frees_its_queue() {
    let outbox = Outbox::new();
    let listener = outbox.subscribe();
    let queue = Arc::downgrade(&listener.0);
    outbox.publish(notice("1"));
    drop(listener);
    assert!(queue.upgrade().is_none());
    outbox.publish(notice("2"));
    assert!(lock(&outbox.0.0).mailboxes.is_empty());
}

#[tokio::test]
async fn close_ends_after_what_is_pending() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    outbox.publish(notice("1"));
    outbox.close();
    outbox.publish(notice("2"));
    assert_eq!(short(&[listener.next().await.unwrap()]), ["1 1"]);
    assert_eq!(listener.next().await, None);
    assert_eq!(outbox.subscribe().next().await, None);
}

#[tokio::test]
async fn a_waiting_listener_wakes_for_events_close_and_drop() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    let heard = tokio::spawn(async move {
        let mut heard = Vec::new();
        while let Some(event) = listener.next().await {
            heard.push(event.seq);
        }
        heard
    });
    for _ in 0..3 {
        tokio::task::yield_now().await;
        outbox.publish(notice("n"));
    }
    drop(outbox);
    assert_eq!(heard.await.unwrap(), [1, 2, 3]);
}

#[tokio::test]
async fn a_dropped_wait_loses_nothing() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    for _ in 0..10 {
        tokio::select! {
            biased;
            _ = listener.next() => panic!("nothing was published"),
            () = async { outbox.publish(notice("n")) } => {}
        }
        assert!(listener.next().await.is_some());
    }
}

proptest! {
    /// Any events, read at any time: each block's text and each call's output come whole and in order.
    #[test]
    fn merging_loses_and_reorders_nothing(script in prop::collection::vec((0..3usize, 0..2usize, any::<bool>()), 0..60)) {
        let outbox = Outbox::new();
        let mut listener = outbox.subscribe();
        let (mut sent, mut heard): (HashMap<String, String>, HashMap<String, String>) = Default::default();
        let mut seen = Vec::new();
        for (step, (which, index, read)) in script.into_iter().enumerate() {
            let text = format!("{step},");
            let (key, event) = match which {
                0 => (format!("a{index}"), append("a", index, &text)),
                1 => (format!("b{index}"), append("b", index, &text)),
                _ => (format!("c{index}"), output(&format!("c{index}"), &text)),
            };
            sent.entry(key).or_default().push_str(&text);
            outbox.publish(event);
            if read {
                seen.extend(listener.try_next());
            }
        }
        seen.extend(drain(&mut listener));
        prop_assert!(seen.windows(2).all(|pair| pair[0].seq < pair[1].seq));
        for numbered in seen {
            let (key, text) = match numbered.event {
                AgentEvent::Entry { id, patch: EntryPatch::Append { index, delta, .. } } => (format!("{id}{index}"), delta),
                AgentEvent::ToolProgress { call, delta } => (call.to_string(), delta),
                other => panic!("{other:?} was never published"),
            };
            heard.entry(key).or_default().push_str(&text);
        }
        prop_assert_eq!(sent, heard);
    }
}

#[tokio::test]
async fn who_lets_events_gather_is_woken_by_the_end_of_a_turn() {
    let outbox = Outbox::new();
    let mut listener = outbox.subscribe();
    for text in ["a", "b"] {
        outbox.publish(append("e", 0, text));
    }
    let waits = tokio::time::timeout(std::time::Duration::ZERO, listener.urgent()).await;
    assert!(waits.is_err(), "a piece of text is not urgent");
    outbox.publish(AgentEvent::Settled { aborted: false });
    listener.urgent().await;
    assert_eq!(drain(&mut listener).len(), 2);
}
