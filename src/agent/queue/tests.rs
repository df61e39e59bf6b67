use super::*;
use crate::testkit::clock::FakeClock;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn prompt(text: &str) -> Prompt {
    Prompt::text(text)
}

/// A queue with waiting rows 1, 2, 3 behind a running turn.
fn three(now: Instant) -> (Queue, Instant) {
    let mut queue = Queue::default();
    for ticket in 1..=3 {
        let _ = queue.submit(TicketId(ticket), prompt("p"), Placement::Back, true);
    }
    (queue, now)
}

fn tickets(rows: &[Row]) -> Vec<u64> {
    rows.iter().map(|row| row.ticket.0).collect()
}

fn waiting(queue: &Queue) -> Vec<u64> {
    tickets(&queue.waiting)
}

fn send_now(ticket: u64, version: u32) -> QueueCommand {
    QueueCommand::SendNow { ticket: TicketId(ticket), version }
}

fn edit(ticket: u64, version: u32, text: &str) -> QueueCommand {
    QueueCommand::Edit { ticket: TicketId(ticket), version, prompt: prompt(text) }
}

fn hold(ticket: u64, seconds: u64) -> QueueCommand {
    QueueCommand::Hold { ticket: TicketId(ticket), lease: Duration::from_secs(seconds) }
}

#[test]
fn placements_while_a_turn_runs() {
    let (mut queue, _) = three(Instant::now());
    assert!(!queue.submit(TicketId(4), prompt("p"), Placement::Next, true).stop_turn);
    assert!(queue.submit(TicketId(5), prompt("p"), Placement::Replace, true).stop_turn);
    assert!(queue.submit(TicketId(6), prompt("p"), Placement::Replace, true).stop_turn);
    assert_eq!(waiting(&queue), [5, 6, 4, 1, 2, 3]);
}

#[test]
fn rows_sent_now_run_first_in_the_order_of_the_gestures() {
    let (mut queue, now) = three(Instant::now());
    assert!(queue.apply(send_now(3, 0), now).stop_turn);
    assert!(queue.apply(send_now(2, 0), now).stop_turn);
    assert_eq!(waiting(&queue), [3, 2, 1]);
}

#[test]
fn a_stop_keeps_everything_and_holds_it_until_the_user_speaks() {
    let (mut queue, now) = three(Instant::now());
    let _ = queue.steer(TicketId(4), prompt("s"), true);
    let _ = queue.steer(TicketId(5), prompt("s"), true);
    assert!(queue.turn_cancelled(CancelReason::Stop).changed);
    assert!(!queue.turn_cancelled(CancelReason::Stop).changed, "twice does no harm");
    assert_eq!(waiting(&queue), [4, 5, 1, 2, 3]);
    assert_eq!(queue.take_next(now), None);
    assert!(queue.snapshot().all_held);

    let mut spoken = queue.clone();
    let _ = spoken.submit(TicketId(6), prompt("p"), Placement::Back, false);
    let run: Vec<u64> = std::iter::from_fn(|| spoken.take_next(now)).map(|row| row.ticket.0).collect();
    assert_eq!(run, [6, 4, 5, 1, 2, 3]);

    assert!(queue.apply(QueueCommand::Release { ticket: None }, now).changed);
    assert_eq!(queue.take_next(now).map(|row| row.ticket), Some(TicketId(4)));
}

#[test]
fn steering_is_delivered_in_order_or_becomes_front_rows() {
    let (mut queue, now) = three(Instant::now());
    let _ = queue.steer(TicketId(4), prompt("s"), true);
    let _ = queue.steer(TicketId(5), prompt("s"), true);
    assert_eq!(tickets(&queue.take_steering(now)), [4, 5]);
    assert_eq!(queue.take_steering(now), []);

    let _ = queue.steer(TicketId(6), prompt("s"), true);
    let _ = queue.apply(send_now(2, 0), now);
    assert!(queue.turn_ended().changed);
    assert_eq!(waiting(&queue), [2, 6, 1, 3]);
    assert!(!queue.turn_ended().changed);
}

#[test]
fn steering_can_be_edited_taken_back_held_and_sent_now() {
    let (mut queue, now) = three(Instant::now());
    for ticket in 4..=7 {
        let _ = queue.steer(TicketId(ticket), prompt("s"), true);
    }
    assert!(queue.apply(edit(4, 0, "t"), now).changed);
    let _ = queue.apply(hold(6, 10), now);
    assert_eq!(
        queue.apply(QueueCommand::Remove { ticket: TicketId(5), version: 0 }, now).removed,
        [TicketId(5)]
    );
    let delivered = queue.take_steering(now);
    assert_eq!((tickets(&delivered), delivered[0].text()), (vec![4], "t".to_owned()));
    assert!(queue.apply(send_now(7, 0), now).stop_turn);
    assert_eq!((waiting(&queue), tickets(&queue.steering)), (vec![7, 1, 2, 3], vec![6]));
}

#[test]
fn a_stale_version_changes_nothing() {
    let (mut queue, now) = three(Instant::now());
    assert!(queue.apply(edit(1, 0, "new"), now).changed);
    let before = queue.snapshot();
    for stale in [edit(1, 0, "old"), send_now(1, 0), QueueCommand::Remove { ticket: TicketId(1), version: 0 }]
    {
        assert_eq!(queue.apply(stale, now), QueueOutcome::default());
    }
    assert_eq!(queue.snapshot(), before);
    assert_eq!((before.waiting[0].version, before.waiting[0].text()), (1, "new".to_owned()));
}

#[test]
fn a_blank_or_equal_edit_changes_nothing() {
    let (mut queue, now) = three(Instant::now());
    for text in ["", " \n", "p"] {
        assert_eq!(queue.apply(edit(1, 0, text), now), QueueOutcome::default());
    }
    assert_eq!(queue.snapshot().waiting[0].version, 0);
}

#[test]
fn moving_keeps_urgent_rows_first() {
    let moved = |ticket: u64, before: Option<u64>| QueueCommand::Move {
        ticket: TicketId(ticket),
        before: before.map(TicketId),
    };
    let (mut queue, now) = three(Instant::now());
    assert!(queue.apply(moved(3, Some(1)), now).changed);
    assert_eq!(waiting(&queue), [3, 1, 2]);
    assert!(queue.apply(moved(3, None), now).changed);
    assert_eq!(waiting(&queue), [1, 2, 3]);
    for nothing in [moved(3, None), moved(1, Some(1)), moved(1, Some(2)), moved(9, None), moved(1, Some(9))] {
        assert!(!queue.apply(nothing, now).changed);
    }
    let _ = queue.apply(send_now(3, 0), now);
    let _ = queue.apply(moved(2, Some(3)), now);
    let _ = queue.apply(send_now(1, 0), now);
    assert_eq!(waiting(&queue), [2, 3, 1]);
}

#[test]
fn a_held_row_waits_and_lets_nobody_pass_until_its_lease_ends() {
    let mut clock = FakeClock::new();
    let (mut queue, start) = three(clock.now());
    assert!(queue.apply(hold(1, 5), start).changed);
    let mut released = queue.clone();
    assert_eq!(
        (queue.take_next(start), queue.next_release(start)),
        (None, Some(start + Duration::from_secs(5)))
    );
    clock.pass(Duration::from_secs(5));
    assert_eq!(queue.next_release(clock.now()), None);
    assert_eq!(queue.take_next(clock.now()).map(|row| row.ticket), Some(TicketId(1)));
    assert!(released.apply(QueueCommand::Release { ticket: Some(TicketId(1)) }, start).changed);
    assert_eq!(released.take_next(start).map(|row| row.ticket), Some(TicketId(1)));
}

#[test]
fn no_lease_is_longer_than_the_maximum() {
    let (mut queue, now) = three(Instant::now());
    let _ = queue.apply(QueueCommand::Hold { ticket: TicketId(1), lease: Duration::MAX }, now);
    assert_eq!(queue.next_release(now), Some(now + MAX_LEASE));
}

#[test]
fn a_prompt_while_nothing_runs_passes_held_rows() {
    let (mut queue, now) = three(Instant::now());
    let _ = queue.apply(hold(1, 5), now);
    let _ = queue.submit(TicketId(4), prompt("p"), Placement::Back, false);
    let _ = queue.steer(TicketId(5), prompt("p"), false);
    assert_eq!(waiting(&queue), [4, 5, 1, 2, 3]);
}

#[test]
fn clear_and_teardown_give_the_tickets_back() {
    let (mut queue, now) = three(Instant::now());
    let _ = queue.steer(TicketId(4), prompt("s"), true);
    let mut torn = queue.clone();
    let removed: Vec<TicketId> = [1, 2, 3].map(TicketId).to_vec();
    assert_eq!(queue.apply(QueueCommand::Clear, now).removed, removed);
    assert_eq!(tickets(&queue.steering), [4]);
    assert_eq!(torn.turn_cancelled(CancelReason::Teardown).removed, [4, 1, 2, 3].map(TicketId));
    assert!(torn.is_empty());
}

/// What a user, a session and time can do to a queue.
#[derive(Clone, Debug)]
enum Step {
    Submit(Placement, bool),
    Steer(bool),
    Queue(QueueCommand),
    TakeNext,
    TakeSteering,
    TurnEnded,
    Cancel(CancelReason),
    Pass(u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    let placement = prop::sample::select(vec![Placement::Back, Placement::Next, Placement::Replace]);
    let ticket = || (1..20u64).prop_map(TicketId);
    let version = || 0..2u32;
    prop_oneof![
        6 => (placement, any::<bool>()).prop_map(|(placement, running)| Step::Submit(placement, running)),
        3 => any::<bool>().prop_map(Step::Steer),
        1 => (ticket(), version(), "[ab ]{0,2}").prop_map(|(ticket, version, text)| {
            Step::Queue(QueueCommand::Edit { ticket, version, prompt: Prompt::text(text) })
        }),
        1 => (ticket(), version()).prop_map(|(ticket, version)| Step::Queue(QueueCommand::Remove { ticket, version })),
        1 => (ticket(), prop::option::of(ticket()))
            .prop_map(|(ticket, before)| Step::Queue(QueueCommand::Move { ticket, before })),
        1 => (ticket(), version()).prop_map(|(ticket, version)| Step::Queue(QueueCommand::SendNow { ticket, version })),
        1 => (ticket(), 0..9u64).prop_map(|(ticket, seconds)| Step::Queue(hold(ticket.0, seconds))),
        1 => prop::option::of(ticket()).prop_map(|ticket| Step::Queue(QueueCommand::Release { ticket })),
        1 => Just(Step::Queue(QueueCommand::Clear)),
        2 => Just(Step::TakeNext),
        2 => Just(Step::TakeSteering),
        1 => Just(Step::TurnEnded),
        1 => prop::sample::select(vec![CancelReason::Stop, CancelReason::Replace, CancelReason::Teardown]).prop_map(Step::Cancel),
        1 => (0..9u64).prop_map(Step::Pass),
    ]
}

proptest! {
    /// Whatever happens, in whatever order: every ticket leaves exactly once, nothing held runs, nothing runs after a
    /// stop before the user spoke, stale versions change nothing, urgent rows stand first.
    #[test]
    fn tickets_are_accounted_for(steps in prop::collection::vec(any_step(), 0..60)) {
        let mut queue = Queue::default();
        let mut clock = FakeClock::new();
        let (mut submitted, mut left) = (BTreeSet::new(), BTreeSet::new());
        let mut stopped = false;
        for step in steps {
            let (before, now) = (queue.snapshot(), clock.now());
            let version = |ticket: &TicketId| {
                before.steering.iter().chain(&before.waiting).find(|row| row.ticket == *ticket).map(|row| row.version)
            };
            let mut gone = Vec::new();
            match step {
                Step::Submit(placement, running) => {
                    let ticket = TicketId(submitted.len() as u64 + 1);
                    submitted.insert(ticket);
                    stopped = false;
                    gone = queue.submit(ticket, Prompt::text("p"), placement, running).removed;
                }
                Step::Steer(running) => {
                    let ticket = TicketId(submitted.len() as u64 + 1);
                    submitted.insert(ticket);
                    stopped = false;
                    gone = queue.steer(ticket, Prompt::text("s"), running).removed;
                }
                Step::Queue(command) => {
                    let outcome = queue.apply(command.clone(), now);
                    match &command {
                        QueueCommand::Edit { ticket, version: seen, .. }
                        | QueueCommand::Remove { ticket, version: seen }
                        | QueueCommand::SendNow { ticket, version: seen } => {
                            if version(ticket) != Some(*seen) {
                                prop_assert_eq!(&outcome, &QueueOutcome::default());
                                prop_assert_eq!(queue.snapshot(), before);
                            }
                        }
                        QueueCommand::Move { .. } | QueueCommand::Clear | QueueCommand::Hold { .. } | QueueCommand::Release { .. } => {}
                    }
                    if matches!(command, QueueCommand::SendNow { .. }) && outcome.changed
                        || matches!(command, QueueCommand::Release { ticket: None })
                    {
                        stopped = false;
                    }
                    gone = outcome.removed;
                }
                Step::TakeNext => {
                    if let Some(row) = queue.take_next(now) {
                        prop_assert!(!stopped && !row.is_held(now));
                        prop_assert_eq!(Some(&row), before.waiting.first());
                        gone.push(row.ticket);
                    }
                }
                Step::TakeSteering => {
                    let rows = queue.take_steering(now);
                    prop_assert!(rows.iter().all(|row| !row.is_held(now)));
                    prop_assert_eq!(&rows[..], &before.steering[..rows.len()]);
                    gone.extend(rows.into_iter().map(|row| row.ticket));
                }
                Step::TurnEnded => gone = queue.turn_ended().removed,
                Step::Cancel(reason) => {
                    gone = queue.turn_cancelled(reason).removed;
                    stopped |= reason == CancelReason::Stop;
                    if reason == CancelReason::Teardown {
                        prop_assert!(queue.is_empty());
                    } else {
                        prop_assert!(gone.is_empty());
                    }
                }
                Step::Pass(seconds) => clock.pass(Duration::from_secs(seconds)),
            }
            for ticket in gone {
                prop_assert!(left.insert(ticket), "{ticket} left twice");
            }
            let inside: Vec<TicketId> = queue.steering.iter().chain(&queue.waiting).map(|row| row.ticket).collect();
            let inside_once: BTreeSet<TicketId> = inside.iter().copied().collect();
            prop_assert_eq!(inside.len(), inside_once.len());
            prop_assert!(inside_once.is_disjoint(&left));
            prop_assert_eq!(inside_once.union(&left).copied().collect::<BTreeSet<_>>(), submitted.clone());
            prop_assert!(queue.waiting.is_sorted_by_key(|row| !row.urgent));
        }
    }

    /// Without moves and gestures the order is that of submission, whatever is taken or stopped in between.
    #[test]
    fn order_is_the_order_of_submission(script in prop::collection::vec(0..4u8, 0..40)) {
        let (mut queue, now) = (Queue::default(), Instant::now());
        let (mut count, mut run) = (0, Vec::new());
        for step in script {
            match step {
                0 | 1 => {
                    count += 1;
                    let _ = queue.submit(TicketId(count), Prompt::text("p"), Placement::Back, true);
                }
                2 => run.extend(queue.take_next(now).map(|row| row.ticket.0)),
                _ => {
                    let _ = queue.turn_cancelled(CancelReason::Stop);
                }
            }
        }
        let _ = queue.apply(QueueCommand::Release { ticket: None }, now);
        run.extend(std::iter::from_fn(|| queue.take_next(now)).map(|row| row.ticket.0));
        prop_assert_eq!(run, (1..=count).collect::<Vec<u64>>());
    }
}
