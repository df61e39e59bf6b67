use super::*;
use crate::proto::message::{Block, ToolCall};
use crate::proto::usage::Usage;
use proptest::prelude::*;
use serde_json::Map;

fn message(blocks: Vec<Block>, stop_reason: StopReason) -> Arc<AssistantMessage> {
    Arc::new(AssistantMessage {
        content: blocks,
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        response_model: None,
        usage: Usage::default(),
        stop_reason,
        error_message: None,
        timestamp: 0,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: None,
        thinking_level: None,
    })
}

fn call(id: &str) -> ToolCall {
    ToolCall {
        id: CallId::new(id),
        name: "tool".into(),
        arguments: Map::new(),
        thought_signature: None,
        malformed: None,
    }
}

fn text() -> Arc<AssistantMessage> {
    message(vec![Block::text("done")], StopReason::Stop)
}

fn calls(ids: &[&str]) -> Arc<AssistantMessage> {
    message(ids.iter().map(|id| Block::ToolCall(call(id))).collect(), StopReason::ToolUse)
}

fn error(class: ErrorClass) -> LlmError {
    LlmError { class, message: "it broke".into(), retry_after: None, status: None, complains_of_input: false }
}

fn failed(class: ErrorClass) -> Event {
    Event::StreamFailed { error: error(class), message: None, jitter: 0.5 }
}

fn fsm() -> TurnFsm {
    TurnFsm::new(RetryPolicy::default(), 0)
}

fn begun() -> TurnFsm {
    let mut fsm = fsm();
    fsm.handle(Event::Begin);
    fsm
}

fn run(id: &str, mutating: bool) -> Event {
    Event::Judged { call: CallId::new(id), judgement: Judgement::Run { arguments: Map::new(), mutating } }
}

fn done(id: &str) -> Event {
    Event::ToolFinished {
        call: CallId::new(id),
        output: Arc::new(ToolOutput::text(format!("{id} done"))),
        duration_ms: 1,
    }
}

/// What the effects are about, short.
fn brief(effects: &[Effect]) -> Vec<String> {
    effects
        .iter()
        .map(|effect| match effect {
            Effect::RoundStarted(round) => format!("round {round}"),
            Effect::Request => "request".into(),
            Effect::AbortStream => "abort stream".into(),
            Effect::Record(_) => "record".into(),
            Effect::RecordResult { call, .. } => format!("result {}", call.id),
            Effect::Judge(call) => format!("judge {}", call.id),
            Effect::Unask(call) => format!("unask {call}"),
            Effect::Run { call } => format!("run {}", call.id),
            Effect::Announce { call, .. } => format!("announce {}", call.id),
            Effect::AbortTools => "abort tools".into(),
            Effect::StartTimer { .. } => "timer".into(),
            Effect::TakeSteering => "steering?".into(),
            Effect::RoundFinished(_) => "round end".into(),
            Effect::RetryScheduled { attempt, .. } => format!("retry {attempt}"),
            Effect::RetryFinished { success, .. } => format!("retries over {success}"),
            Effect::Notice(..) => "notice".into(),
            Effect::Finish(outcome) => format!("finish {outcome:?}"),
        })
        .collect()
}

fn timer_of(effects: &[Effect]) -> TimerId {
    effects
        .iter()
        .find_map(|effect| match effect {
            Effect::StartTimer { id, .. } => Some(*id),
            _ => None,
        })
        .expect("a timer")
}

#[test]
fn an_answer_without_calls_ends_the_turn_after_steering_was_asked_for() {
    let mut fsm = fsm();
    assert_eq!(brief(&fsm.handle(Event::Begin)), ["round 1", "request"]);
    assert_eq!(brief(&fsm.handle(Event::StreamFinished(text()))), ["record", "round end", "steering?"]);
    assert_eq!(brief(&fsm.handle(Event::SteeringTaken { any: false })), ["finish Completed"]);
    assert!(fsm.is_over());
}

#[test]
fn what_the_user_says_before_the_end_gives_another_round() {
    let mut fsm = begun();
    fsm.handle(Event::StreamFinished(text()));
    assert_eq!(brief(&fsm.handle(Event::SteeringTaken { any: true })), ["round 2", "request"]);
}

#[test]
fn calls_are_checked_one_by_one_before_any_runs() {
    let mut fsm = begun();
    assert_eq!(brief(&fsm.handle(Event::StreamFinished(calls(&["a", "b"])))), ["record", "judge a"]);
    assert_eq!(brief(&fsm.handle(run("a", false))), ["judge b"]);
    assert_eq!(brief(&fsm.handle(run("b", false))), ["run a", "run b"]);
}

#[test]
fn results_keep_the_order_of_the_calls_whatever_ends_first() {
    let mut fsm = begun();
    fsm.handle(Event::StreamFinished(calls(&["a", "b"])));
    fsm.handle(run("a", false));
    fsm.handle(run("b", false));
    assert_eq!(brief(&fsm.handle(done("b"))), ["announce b"]);
    assert_eq!(
        brief(&fsm.handle(done("a"))),
        ["announce a", "result a", "result b", "round end", "steering?"]
    );
    assert_eq!(brief(&fsm.handle(Event::SteeringTaken { any: false })), ["round 2", "request"]);
}

#[test]
fn a_mutating_call_waits_for_all_before_it_and_holds_up_all_behind_it() {
    let mut fsm = begun();
    fsm.handle(Event::StreamFinished(calls(&["read1", "write", "read2"])));
    fsm.handle(run("read1", false));
    fsm.handle(run("write", true));
    assert_eq!(brief(&fsm.handle(run("read2", false))), ["run read1"]);
    assert_eq!(brief(&fsm.handle(done("read1"))), ["announce read1", "result read1", "run write"]);
    assert_eq!(brief(&fsm.handle(done("write"))), ["announce write", "result write", "run read2"]);
}

#[test]
fn a_call_answered_without_running_does_not_stop_the_others() {
    let mut fsm = begun();
    fsm.handle(Event::StreamFinished(calls(&["a", "b"])));
    let answer =
        Event::Judged { call: CallId::new("a"), judgement: Judgement::Answer(ToolOutput::error("no")) };
    assert_eq!(brief(&fsm.handle(answer)), ["announce a", "judge b"]);
    assert_eq!(brief(&fsm.handle(run("b", false))), ["result a", "run b"]);
}

#[test]
fn a_no_answers_the_rest_of_the_batch_and_ends_the_turn() {
    let mut fsm = begun();
    fsm.handle(Event::StreamFinished(calls(&["a", "b"])));
    let effects = fsm.handle(Event::Judged { call: CallId::new("a"), judgement: Judgement::Refused });
    assert_eq!(
        brief(&effects),
        ["announce a", "announce b", "result a", "result b", "round end", "finish Cancelled"]
    );
}

#[test]
fn a_passing_failure_is_repeated_after_a_wait_and_a_lasting_one_is_not() {
    let mut fsm = begun();
    let effects = fsm.handle(failed(ErrorClass::Server));
    assert_eq!(brief(&effects), ["retry 1", "timer"]);
    assert_eq!(brief(&fsm.handle(Event::TimerFired(timer_of(&effects)))), ["request"]);
    assert_eq!(
        brief(&fsm.handle(Event::StreamFinished(text()))),
        ["retries over true", "record", "round end", "steering?"]
    );

    let mut fsm = begun();
    let effects = fsm.handle(failed(ErrorClass::Auth));
    assert_eq!(brief(&effects), [r#"finish Failed { error: "it broke" }"#]);
}

#[test]
fn three_repeats_and_no_more() {
    let mut fsm = begun();
    for attempt in 1..=3 {
        let effects = fsm.handle(failed(ErrorClass::Network));
        assert_eq!(brief(&effects)[0], format!("retry {attempt}"));
        fsm.handle(Event::TimerFired(timer_of(&effects)));
    }
    let effects = brief(&fsm.handle(failed(ErrorClass::Network)));
    assert_eq!(effects[0], "retries over false");
    assert!(effects[1].starts_with("finish Failed"), "{effects:?}");
}

#[test]
fn each_round_has_its_own_retries() {
    let mut fsm = begun();
    for round in 1..=5 {
        let effects = fsm.handle(failed(ErrorClass::Server));
        assert_eq!(brief(&effects)[0], "retry 1", "round {round}");
        fsm.handle(Event::TimerFired(timer_of(&effects)));
        fsm.handle(Event::StreamFinished(text()));
        fsm.handle(Event::SteeringTaken { any: true });
    }
}

#[test]
fn a_failed_response_is_recorded_before_it_is_repeated() {
    let mut fsm = begun();
    let partial = Some(message(vec![Block::text("half")], StopReason::Error));
    let effects =
        fsm.handle(Event::StreamFailed { error: error(ErrorClass::Stream), message: partial, jitter: 0.0 });
    assert_eq!(brief(&effects), ["record", "retry 1", "timer"]);
}

#[test]
fn a_refusal_is_no_failure() {
    let effects = begun().handle(failed(ErrorClass::Refusal));
    assert_eq!(brief(&effects), [r#"finish Refused { reason: "it broke" }"#]);
}

#[test]
fn a_stop_ends_every_state_at_once_or_after_the_grace() {
    assert_eq!(brief(&begun().handle(Event::Stop)), ["abort stream", "finish Cancelled"]);

    let mut waiting = begun();
    waiting.handle(failed(ErrorClass::Server));
    assert_eq!(brief(&waiting.handle(Event::Stop)), ["retries over false", "finish Cancelled"]);

    let mut asking = begun();
    asking.handle(Event::StreamFinished(calls(&["a"])));
    assert_eq!(
        brief(&asking.handle(Event::Stop)),
        ["unask a", "abort tools", "announce a", "result a", "round end", "finish Cancelled"]
    );

    let mut running = begun();
    running.handle(Event::StreamFinished(calls(&["a", "b"])));
    running.handle(run("a", true));
    running.handle(run("b", true));
    let effects = running.handle(Event::Stop);
    assert_eq!(brief(&effects), ["abort tools", "timer"]);
    assert_eq!(
        brief(&running.handle(Event::TimerFired(timer_of(&effects)))),
        ["announce a", "announce b", "result a", "result b", "round end", "finish Cancelled"]
    );
}

#[test]
fn a_stopped_call_that_hands_over_in_time_keeps_what_it_has() {
    let mut fsm = begun();
    fsm.handle(Event::StreamFinished(calls(&["a"])));
    fsm.handle(run("a", true));
    fsm.handle(Event::Stop);
    let effects = fsm.handle(done("a"));
    assert!(matches!(&effects[1], Effect::RecordResult { output, .. } if !output.is_error), "{effects:?}");
    assert_eq!(brief(&effects), ["announce a", "result a", "round end", "finish Cancelled"]);
}

#[test]
fn a_paused_response_goes_on_but_not_for_ever() {
    let mut fsm = begun();
    let mut paused = (*message(vec![Block::text("so far")], StopReason::Stop)).clone();
    paused.raw_stop_reason = Some("pause_turn".into());
    let paused = Arc::new(paused);
    for _ in 0..MAX_PAUSES {
        assert_eq!(brief(&fsm.handle(Event::StreamFinished(paused.clone()))), ["record", "request"]);
    }
    assert_eq!(brief(&fsm.handle(Event::StreamFinished(paused))), ["record", "round end", "steering?"]);
}

#[test]
fn a_cut_or_empty_answer_is_told() {
    let cut = message(vec![Block::text("half of")], StopReason::Length);
    assert!(brief(&begun().handle(Event::StreamFinished(cut))).contains(&"notice".to_owned()));
    let empty = message(vec![], StopReason::Stop);
    assert!(brief(&begun().handle(Event::StreamFinished(empty))).contains(&"notice".to_owned()));
}

#[test]
fn the_round_limit_ends_the_turn_before_another_request() {
    let mut fsm = TurnFsm::new(RetryPolicy::default(), 1);
    fsm.handle(Event::Begin);
    fsm.handle(Event::StreamFinished(calls(&["a"])));
    fsm.handle(run("a", false));
    fsm.handle(done("a"));
    assert_eq!(brief(&fsm.handle(Event::SteeringTaken { any: false })), ["finish MaxRounds { limit: 1 }"]);
}

#[test]
fn late_and_doubled_news_change_nothing() {
    let mut fsm = begun();
    assert_eq!(fsm.handle(Event::Begin), []);
    assert_eq!(fsm.handle(done("a")), []);
    assert_eq!(fsm.handle(Event::TimerFired(TimerId(7))), []);
    assert_eq!(brief(&fsm.handle(Event::Stop)), ["abort stream", "finish Cancelled"]);
    assert_eq!(fsm.handle(Event::Stop), []);
    assert_eq!(fsm.handle(Event::StreamFinished(text())), []);
}

/// Plays a world around the machine: performs its effects in an order chosen by `choices`, and stops at `stop_at`.
fn play(choices: &[u8], stop_at: Option<usize>) -> Vec<Effect> {
    let mut fsm = fsm();
    let mut log = Vec::new();
    let mut pending = vec![Event::Begin];
    let mut made = 0_u32;
    let mut choice = choices.iter().copied().cycle();
    let mut pick = move |n: usize| usize::from(choice.next().unwrap_or(0)) % n.max(1);
    for step in 0..400 {
        if stop_at == Some(step) {
            pending.push(Event::Stop);
        }
        if pending.is_empty() {
            break;
        }
        let event = pending.remove(pick(pending.len()));
        let effects = fsm.handle(event);
        for effect in &effects {
            match effect {
                Effect::Request => pending.push(match pick(8) {
                    0 => failed(ErrorClass::Server),
                    1 => failed(ErrorClass::Invalid),
                    2 | 3 => Event::StreamFinished(text()),
                    _ => {
                        let ids: Vec<String> = (0..=pick(3)).map(|n| format!("{made}-{n}")).collect();
                        made += 1;
                        Event::StreamFinished(calls(&ids.iter().map(String::as_str).collect::<Vec<_>>()))
                    }
                }),
                Effect::Judge(call) => pending.push(Event::Judged {
                    call: call.id.clone(),
                    judgement: match pick(6) {
                        0 => Judgement::Refused,
                        1 => Judgement::Answer(ToolOutput::error("no")),
                        n => Judgement::Run { arguments: Map::new(), mutating: n % 2 == 0 },
                    },
                }),
                Effect::Run { call } => pending.push(done(call.id.as_str())),
                Effect::StartTimer { id, .. } => pending.push(Event::TimerFired(*id)),
                Effect::TakeSteering => pending.push(Event::SteeringTaken { any: pick(4) == 0 }),
                _ => {}
            }
        }
        log.extend(effects);
    }
    if !fsm.is_over() {
        log.extend(fsm.handle(Event::Stop));
        while !fsm.is_over() {
            let timer = timer_of(&log.iter().rev().take(4).cloned().collect::<Vec<_>>());
            log.extend(fsm.handle(Event::TimerFired(timer)));
        }
    }
    log
}

proptest! {
    #[test]
    fn every_call_is_answered_once_in_order_and_the_turn_ends_once(
        choices in prop::collection::vec(any::<u8>(), 1..60),
        stop_at in prop::option::of(0_usize..60),
    ) {
        let log = play(&choices, stop_at);
        let mut open: VecDeque<CallId> = VecDeque::new();
        let mut over = false;
        for effect in &log {
            prop_assert!(!over, "nothing after the end: {effect:?}");
            match effect {
                Effect::Record(message) => {
                    prop_assert!(open.is_empty());
                    open.extend(message.tool_calls().map(|call| call.id.clone()));
                }
                Effect::RecordResult { call, .. } => {
                    prop_assert_eq!(open.pop_front(), Some(call.id.clone()));
                }
                Effect::Request => prop_assert!(open.is_empty(), "a request with open calls"),
                Effect::Finish(_) => {
                    prop_assert!(open.is_empty(), "the end with open calls");
                    over = true;
                }
                _ => {}
            }
        }
        prop_assert!(over);
    }
}
