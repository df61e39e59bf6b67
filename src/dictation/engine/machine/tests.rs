//! The machine by tables of what happens, and by any order of it.

use super::*;
use crate::proto::voice::{VoiceWarning, Wait};
use proptest::prelude::*;

// What is said and heard has no words for a log; failing tests need some.
impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Record(id) => write!(f, "Record {id}"),
            Self::Stop(id, _) => write!(f, "Stop {id}"),
            Self::Resume(id) => write!(f, "Resume {id}"),
            Self::Cancel(id) => write!(f, "Cancel {id}"),
            Self::Retry(id) => write!(f, "Retry {id}"),
            Self::Heard(heard) => write!(f, "{heard:?}"),
            Self::Model(model) => write!(f, "{model:?}"),
            Self::Decoded { recording, number, result } => {
                write!(f, "Decoded {recording} {number} {}", result.is_ok())
            }
            Self::Partial { recording, number, .. } => write!(f, "Partial {recording} {number}"),
            Self::Clock => f.write_str("Clock"),
        }
    }
}

impl std::fmt::Debug for Heard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self {
            Self::Began { .. } => "Began",
            Self::Chunk { chunk, .. } => return write!(f, "Chunk {:?} {}", self.recording(), chunk.number),
            Self::Ended(_) => "Ended",
            Self::Failed { .. } => "HeardFailed",
            Self::StoppedItself { .. } => "StoppedItself",
            _ => "Heard",
        };
        write!(f, "{what} {:?}", self.recording())
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tell(event) => write!(f, "{event:?}"),
            Self::Ear(ask) => write!(f, "{ask:?}"),
            Self::NeedModel => f.write_str("NeedModel"),
            Self::Decode(id, chunk) => write!(f, "Decode {id} {}", chunk.number),
            Self::DecodePartial { number, .. } => write!(f, "DecodePartial {number}"),
            Self::Abandon => f.write_str("Abandon"),
            Self::AbandonPartial => f.write_str("AbandonPartial"),
        }
    }
}

const ID: RecordingId = RecordingId(1);

fn chunk(number: u32, seconds: usize) -> Chunk {
    Chunk { number, start: 0, samples: vec![0.0; seconds * 16_000].into() }
}

fn heard_chunk(number: u32) -> Input {
    Input::Heard(Heard::Chunk { recording: ID, chunk: chunk(number, 2) })
}

fn began() -> Input {
    Input::Heard(Heard::Began { recording: ID, microphone: "M".into(), latency: Duration::ZERO })
}

fn ended() -> Input {
    Input::Heard(Heard::Ended(ID))
}

fn text(number: u32, text: &str) -> Input {
    Input::Decoded { recording: ID, number, result: Ok(text.into()) }
}

fn broken(number: u32) -> Input {
    Input::Decoded { recording: ID, number, result: Err("it broke".into()) }
}

fn stop() -> Input {
    Input::Stop(ID, Duration::ZERO)
}

/// A machine and all that came out of it.
struct Run {
    machine: Machine,
    now: Duration,
    outputs: Vec<Output>,
}

impl Run {
    fn new() -> Self {
        Self { machine: Machine::new(false), now: Duration::ZERO, outputs: Vec::new() }
    }

    fn with(inputs: impl IntoIterator<Item = Input>) -> Self {
        let mut run = Self::new();
        for input in inputs {
            run.take(input);
        }
        run
    }

    fn take(&mut self, input: Input) -> &[Output] {
        let from = self.outputs.len();
        self.outputs.extend(self.machine.take(input, self.now));
        &self.outputs[from..]
    }

    fn told(&self) -> Vec<VoiceEvent> {
        self.outputs
            .iter()
            .filter_map(|output| match output {
                Output::Tell(event) => Some(event.clone()),
                _ => None,
            })
            .collect()
    }

    fn end(&self) -> VoiceEvent {
        let ends: Vec<_> = self.told().into_iter().filter(is_end).collect();
        assert_eq!(ends.len(), 1, "{ends:?}");
        ends[0].clone()
    }

    fn decoded_numbers(&self) -> Vec<u32> {
        let numbers = self.outputs.iter().filter_map(|output| match output {
            Output::Decode(_, chunk) => Some(chunk.number),
            _ => None,
        });
        numbers.collect()
    }

    fn waits(&self) -> Vec<Option<Wait>> {
        let waits = self.told().into_iter().filter_map(|event| match event {
            VoiceEvent::Waits { on, .. } => Some(on),
            _ => None,
        });
        waits.collect()
    }
}

fn is_end(event: &VoiceEvent) -> bool {
    matches!(
        event,
        VoiceEvent::Text { .. }
            | VoiceEvent::Nothing(_)
            | VoiceEvent::Cancelled(_)
            | VoiceEvent::Failed { .. }
    )
}

fn spoken(said: &str, note: Option<&str>) -> VoiceEvent {
    VoiceEvent::Text { recording: ID, text: said.into(), note: note.map(str::to_owned) }
}

#[test]
fn the_ear_listens_before_the_model_is_asked_for() {
    let run = Run::with([Input::Record(ID)]);
    let ear = run.outputs.iter().position(|output| *output == Output::Ear(EarAsk::Record(ID))).unwrap();
    let model = run.outputs.iter().position(|output| *output == Output::NeedModel).unwrap();
    assert!(ear < model);
}

#[test]
fn chunks_become_text_in_order_one_at_a_time() {
    let mut run = Run::with([Input::Record(ID), began(), heard_chunk(0), heard_chunk(1)]);
    assert_eq!(run.decoded_numbers(), [0; 0], "the model is not there yet");
    run.take(Input::Model(Model::Loading));
    run.take(Input::Model(Model::Ready));
    assert_eq!(run.decoded_numbers(), [0]);
    run.take(text(0, " Hello "));
    assert_eq!(run.decoded_numbers(), [0, 1]);
    for input in [stop(), heard_chunk(2), ended(), text(1, ""), text(2, "world.")] {
        run.take(input);
    }
    assert_eq!(run.end(), spoken("Hello world.", None));
    assert!(run.machine.is_idle());
    assert_eq!(run.machine.wake_at(), None, "no wake-ups at rest");
}

#[test]
fn how_recordings_end() {
    let start = || vec![Input::Record(ID), began(), Input::Model(Model::Ready)];
    let no_model = || Input::Model(Model::Failed(VoiceFailure::NoModel, "No model.".into()));
    let failed = |failure, said: &str, can_retry| VoiceEvent::Failed {
        recording: ID,
        failure,
        text: said.into(),
        can_retry,
    };
    let kept = "What you said is kept for one more try: /voice retry.";
    let lost = |text: &str| {
        Input::Heard(Heard::Failed {
            recording: ID,
            failure: VoiceFailure::MicrophoneLost,
            text: text.into(),
        })
    };
    let cases: Vec<(Vec<Input>, VoiceEvent)> = vec![
        (vec![stop(), ended()], VoiceEvent::Nothing(ID)),
        (vec![heard_chunk(0), stop(), ended(), text(0, " ")], VoiceEvent::Nothing(ID)),
        (
            vec![heard_chunk(0), heard_chunk(1), stop(), ended(), text(0, "One"), broken(1)],
            spoken("One", Some("1 of 2 parts could not be turned into text: it broke.")),
        ),
        (
            vec![heard_chunk(0), stop(), ended(), broken(0)],
            failed(VoiceFailure::Decoding, &format!("The speech model failed: it broke. {kept}"), true),
        ),
        (
            vec![heard_chunk(0), no_model(), ended()],
            failed(VoiceFailure::NoModel, &format!("No model. {kept}"), true),
        ),
        (vec![no_model(), ended()], failed(VoiceFailure::NoModel, "No model.", false)),
        (vec![lost("Gone.")], failed(VoiceFailure::MicrophoneLost, "Gone.", false)),
        (vec![heard_chunk(0), lost("Gone."), text(0, "Half")], spoken("Half", Some("Gone."))),
        (vec![heard_chunk(0), Input::Cancel(ID), text(0, "x"), ended()], VoiceEvent::Cancelled(ID)),
        (vec![stop(), Input::Cancel(ID)], VoiceEvent::Cancelled(ID)),
        (vec![heard_chunk(0), stop(), ended(), Input::Record(RecordingId(2))], VoiceEvent::Cancelled(ID)),
    ];
    for (number, (inputs, end)) in cases.into_iter().enumerate() {
        let run = Run::with(start().into_iter().chain(inputs));
        assert_eq!(run.end(), end, "case {number}");
    }
}

#[test]
fn a_stop_is_taken_back() {
    let mut run = Run::with([Input::Record(ID), began(), Input::Model(Model::Ready)]);
    run.take(Input::Stop(ID, Duration::from_secs(1)));
    let outputs = run.take(Input::Resume(ID));
    assert!(outputs.contains(&Output::Ear(EarAsk::Resume(ID))));
    assert_eq!(run.waits().last(), Some(&None));
    for input in [heard_chunk(0), stop(), ended(), text(0, "All of it")] {
        run.take(input);
    }
    assert_eq!(run.end(), spoken("All of it", None));
    let before = run.machine.ignored();
    run.take(Input::Resume(ID));
    assert_eq!(run.machine.ignored(), before + 1);
}

#[test]
fn patience_ends_and_every_event_renews_it() {
    let mut run = Run::with([Input::Record(ID), began(), Input::Model(Model::Ready), heard_chunk(0)]);
    for input in [heard_chunk(1), stop(), ended()] {
        run.take(input);
    }
    assert_eq!(run.machine.wake_at(), Some(PATIENCE));
    run.now = Duration::from_secs(29);
    run.take(text(0, "One"));
    assert_eq!(run.machine.wake_at(), Some(PATIENCE + run.now));
    run.now = Duration::from_secs(59);
    let outputs = run.take(Input::Clock);
    assert!(outputs.contains(&Output::Abandon));
    let note = "1 of 2 parts could not be turned into text: The speech model did not answer in time.";
    assert_eq!(run.end(), spoken("One", Some(note)));
}

#[test]
fn loading_may_take_longer_and_consent_for_ever() {
    for (model, limit) in [
        (Model::Consent, None),
        (Model::Fetching, Some(LOADING_PATIENCE)),
        (Model::Loading, Some(LOADING_PATIENCE)),
        (Model::Ready, Some(PATIENCE)),
    ] {
        let mut run = Run::with([Input::Record(ID), began(), heard_chunk(0), stop(), ended()]);
        run.take(Input::Model(model.clone()));
        assert_eq!(run.machine.wake_at(), limit, "{model:?}");
    }
    let mut run = Run::with([Input::Record(ID), began(), Input::Model(Model::Ready)]);
    run.take(Input::Heard(Heard::Chunk { recording: ID, chunk: chunk(0, 20) }));
    run.take(stop());
    run.take(ended());
    assert_eq!(run.machine.wake_at(), Some(Duration::from_secs(100)), "a long chunk may take long");
}

#[test]
fn an_ear_that_says_nothing_is_given_up() {
    let mut run = Run::with([Input::Record(ID), began()]);
    run.now = PATIENCE;
    run.take(Input::Clock);
    let VoiceEvent::Failed { failure, can_retry, .. } = run.end() else { panic!("no failure") };
    assert_eq!((failure, can_retry), (VoiceFailure::MicrophoneLost, false));
}

#[test]
fn five_minutes_wait_for_a_model_and_no_more() {
    let mut run = Run::with([Input::Record(ID), began(), Input::Model(Model::Loading)]);
    for number in 0..25 {
        run.take(Input::Heard(Heard::Chunk { recording: ID, chunk: chunk(number, 12) }));
    }
    let stops = run.told().into_iter().filter(|event| matches!(event, VoiceEvent::StoppedItself { .. }));
    assert_eq!(stops.count(), 1);
    let stop = EarAsk::Stop { recording: ID, may_resume: Duration::ZERO };
    assert!(run.outputs.contains(&Output::Ear(stop)));
    run.take(ended());
    run.take(Input::Model(Model::Ready));
    for number in 0..25 {
        run.take(text(number, "w"));
    }
    assert_eq!(run.end(), spoken(&["w"; 25].join(" "), None));
}

#[test]
fn a_failed_recording_is_decoded_once_more_and_not_twice() {
    let fail = || Input::Model(Model::Failed(VoiceFailure::BadModel, "Broken.".into()));
    let mut run = Run::with([Input::Record(ID), began(), heard_chunk(0), stop(), ended(), fail()]);
    assert!(matches!(run.end(), VoiceEvent::Failed { can_retry: true, .. }));
    run.outputs.clear();
    run.take(Input::Retry(RecordingId(9)));
    assert_eq!(run.machine.ignored(), 1);
    assert!(run.take(Input::Retry(ID)).contains(&Output::NeedModel));
    run.take(fail());
    assert!(matches!(run.end(), VoiceEvent::Failed { can_retry: false, .. }));
    run.take(Input::Retry(ID));
    assert_eq!(run.machine.ignored(), 2);

    let mut run = Run::with([Input::Record(ID), began(), heard_chunk(0), stop(), ended(), fail()]);
    run.outputs.clear();
    run.take(Input::Retry(ID));
    run.take(Input::Model(Model::Ready));
    run.take(text(0, "At last"));
    assert_eq!(run.end(), spoken("At last", None));
}

#[test]
fn waits_are_told_when_they_change() {
    let mut run = Run::with([Input::Record(ID), Input::Model(Model::Consent), began()]);
    for input in [Input::Model(Model::Fetching), Input::Model(Model::Loading), heard_chunk(0)] {
        run.take(input);
    }
    for input in [Input::Model(Model::Ready), text(0, "x"), stop(), ended()] {
        run.take(input);
    }
    let loading = |seconds| Some(Wait::Loading { queued: Duration::from_secs(seconds) });
    assert_eq!(
        run.waits(),
        [
            Some(Wait::Microphone),
            Some(Wait::Consent),
            Some(Wait::Fetching),
            loading(0),
            loading(2),
            None,
            Some(Wait::Decoding)
        ]
    );
}

#[test]
fn the_open_chunk_is_told_only_when_wanted_and_the_model_is_idle() {
    let grown = || Input::Heard(Heard::Filling { recording: ID, number: 0, length: Duration::from_secs(1) });
    let mut run = Run::with([Input::Record(ID), began(), Input::Model(Model::Ready), grown()]);
    assert_eq!(run.machine.wake_at(), Some(PATIENCE), "not wanted");
    run.machine.set_partial(true);
    assert_eq!(run.machine.wake_at(), Some(PARTIAL_EVERY));
    run.now = PARTIAL_EVERY;
    assert_eq!(run.take(Input::Clock), [Output::Ear(EarAsk::Peek(ID))]);
    let samples: Arc<[f32]> = vec![0.0; 10].into();
    let open = Heard::Open { recording: ID, number: 0, samples: samples.clone() };
    let outputs = run.take(Input::Heard(open.clone())).to_vec();
    assert!(outputs.contains(&Output::DecodePartial { recording: ID, number: 0, samples }));
    let partial = |text: &str| Input::Partial { recording: ID, number: 0, text: Some(text.into()) };
    let told = run.take(partial("so far")).to_vec();
    assert!(told.contains(&Output::Tell(VoiceEvent::Partial { recording: ID, text: "so far".into() })));

    run.take(Input::Heard(open.clone()));
    assert!(run.take(heard_chunk(0)).contains(&Output::AbandonPartial), "the whole chunk goes first");
    assert_eq!(run.take(partial("late")), []);
    assert!(
        !run.take(Input::Heard(open)).iter().any(|output| matches!(output, Output::DecodePartial { .. }))
    );
}

#[test]
fn late_and_foreign_words_are_counted_and_change_nothing() {
    let mut run = Run::with([Input::Record(ID), began()]);
    let two = RecordingId(2);
    for input in [
        began(),
        Input::Record(ID),
        Input::Stop(two, Duration::ZERO),
        Input::Cancel(two),
        Input::Retry(ID),
        Input::Resume(ID),
        Input::Heard(Heard::Ended(two)),
        Input::Heard(Heard::Warning { recording: two, warning: VoiceWarning::Silent }),
        text(0, "x"),
        Input::Partial { recording: ID, number: 0, text: None },
    ] {
        let before = run.machine.ignored();
        assert_eq!(run.take(input), []);
        assert_eq!(run.machine.ignored(), before + 1);
    }
}

/// What can happen, with small numbers, so that much of it fits together.
fn any_input() -> impl Strategy<Value = Input> {
    let id = || (1_u64..4).prop_map(RecordingId);
    prop_oneof![
        2 => id().prop_map(Input::Record),
        2 => id().prop_map(|id| Input::Stop(id, Duration::ZERO)),
        1 => id().prop_map(Input::Resume),
        1 => id().prop_map(Input::Cancel),
        1 => id().prop_map(Input::Retry),
        3 => id().prop_map(|recording| Input::Heard(Heard::Began {
            recording,
            microphone: String::new(),
            latency: Duration::ZERO,
        })),
        8 => (id(), 0_u32..4).prop_map(|(recording, number)| Input::Heard(Heard::Chunk {
            recording,
            chunk: Chunk { number, start: 0, samples: vec![0.0].into() },
        })),
        3 => id().prop_map(|id| Input::Heard(Heard::Ended(id))),
        1 => id().prop_map(|recording| Input::Heard(Heard::Failed {
            recording,
            failure: VoiceFailure::MicrophoneLost,
            text: "lost".into(),
        })),
        1 => id().prop_map(|recording| Input::Heard(Heard::StoppedItself { recording, why: "so".into() })),
        4 => prop_oneof![
            Just(Model::Ready),
            Just(Model::Loading),
            Just(Model::Away),
            Just(Model::Failed(VoiceFailure::BadModel, "bad".into())),
        ]
        .prop_map(Input::Model),
        8 => (id(), 0_u32..4, any::<bool>()).prop_map(|(recording, number, is_right)| Input::Decoded {
            recording,
            number,
            result: if is_right { Ok(format!("t{number}")) } else { Err("e".into()) },
        }),
        1 => Just(()).prop_map(|()| Input::Clock),
    ]
}

/// The recording that an event is about, unless it is about none.
fn about(event: &VoiceEvent) -> Option<RecordingId> {
    match event {
        VoiceEvent::Opening { recording, .. }
        | VoiceEvent::Listening { recording, .. }
        | VoiceEvent::Level { recording, .. }
        | VoiceEvent::Chunk { recording, .. }
        | VoiceEvent::Partial { recording, .. }
        | VoiceEvent::Waits { recording, .. }
        | VoiceEvent::Warning { recording, .. }
        | VoiceEvent::StoppedItself { recording, .. }
        | VoiceEvent::Text { recording, .. }
        | VoiceEvent::Failed { recording, .. } => Some(*recording),
        VoiceEvent::Nothing(recording) | VoiceEvent::Cancelled(recording) => Some(*recording),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn each_recording_ends_once_and_nothing_is_told_of_it_later(
        inputs in proptest::collection::vec((any_input(), 0_u64..20), 0..60),
    ) {
        let mut run = Run::new();
        let mut open: Option<RecordingId> = None;
        let mut finished = Vec::new();
        for (input, seconds) in inputs {
            run.now += Duration::from_secs(seconds);
            let retried = match input {
                Input::Retry(id) => Some(id),
                _ => None,
            };
            for output in run.take(input).to_vec() {
                match output {
                    Output::Tell(event) => {
                        let Some(id) = about(&event) else { continue };
                        if matches!(event, VoiceEvent::Opening { .. }) {
                            prop_assert_eq!(open, None, "one at a time");
                            open = Some(id);
                        } else if open.is_none() && retried == Some(id) {
                            finished.retain(|finished| *finished != id);
                            open = Some(id);
                        }
                        prop_assert_eq!(open, Some(id), "{:?} of a recording that is over", event);
                        if is_end(&event) {
                            prop_assert!(!finished.contains(&id));
                            finished.push(id);
                            open = None;
                        }
                        if let VoiceEvent::Text { text, .. } = &event {
                            let numbers: Vec<&str> = text.split(' ').collect();
                            prop_assert!(numbers.is_sorted(), "{}", text);
                            prop_assert!(!text.is_empty());
                        }
                    }
                    Output::Decode(id, _) => prop_assert_eq!(open, Some(id)),
                    _ => {}
                }
            }
            prop_assert_eq!(open.is_none(), run.machine.is_idle());
        }
        // However it went, time alone ends what is left, unless a person is asked.
        for _ in 0..20 {
            let Some(at) = run.machine.wake_at() else { break };
            run.now = run.now.max(at);
            run.take(Input::Clock);
        }
        prop_assert!(run.machine.is_idle());
    }
}
