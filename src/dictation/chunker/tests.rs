#![allow(clippy::type_complexity, reason = "tables of cases")]

use super::*;
use proptest::prelude::*;

/// Loudness of a frame, and whether it is speech.
type Kind = (f32, bool);

const SPEECH: Kind = (0.5, true);
const QUIET: Kind = (0.01, false);

fn frames(kinds: &[(usize, Kind)]) -> Vec<Kind> {
    kinds.iter().flat_map(|(count, kind)| std::iter::repeat_n(*kind, *count)).collect()
}

/// The samples that these frames stand for: each tells its place, so that none can be mistaken.
fn recording(frames: &[Kind], rest: usize) -> Vec<f32> {
    let mut samples: Vec<f32> = Vec::new();
    for (loudness, _is_speech) in frames {
        for _sample in 0..FRAME {
            // Too small to matter to loudness.
            samples.push(loudness + samples.len() as f32 * 1e-9);
        }
    }
    samples.resize(samples.len() + rest, 0.25);
    samples
}

fn chunks(frames: &[Kind], rest: usize, rest_is_speech: bool) -> Vec<Chunk> {
    let samples = recording(frames, rest);
    let mut chunker = Chunker::default();
    let mut chunks: Vec<Chunk> = Vec::new();
    for (frame, (_loudness, is_speech)) in samples.chunks_exact(FRAME).zip(frames) {
        chunks.extend(chunker.take(frame, *is_speech));
    }
    chunks.extend(chunker.finish(&samples[samples.len() - rest..], rest_is_speech));
    chunks
}

/// First frame and end of each chunk, in frames.
fn spans(kinds: &[(usize, Kind)]) -> Vec<(usize, usize)> {
    let chunks = chunks(&frames(kinds), 0, false);
    chunks.iter().map(|chunk| (chunk.start / FRAME, (chunk.start + chunk.samples.len()) / FRAME)).collect()
}

#[test]
fn lengths() {
    assert_eq!((PAUSE, LEAD, LONGEST, LOOK_BACK), (32, 62, 750, 187));
}

#[test]
fn table() {
    let dip = (0.001, false);
    let low = (0.05, true);
    // What is spoken, and the chunks.
    let cases: [(&str, &[(usize, Kind)], &[(usize, usize)]); 14] = [
        ("nothing", &[], &[]),
        ("minutes of silence", &[(20_000, QUIET)], &[]),
        ("all speech", &[(100, SPEECH)], &[(0, 100)]),
        ("a short lead is kept whole", &[(40, QUIET), (50, SPEECH)], &[(0, 90)]),
        ("of a long one a second is kept", &[(500, QUIET), (50, SPEECH)], &[(438, 550)]),
        ("a short pause is none", &[(50, SPEECH), (31, QUIET), (50, SPEECH)], &[(0, 131)]),
        (
            "a pause, cut at the earliest of equals",
            &[(50, SPEECH), (40, QUIET), (50, SPEECH)],
            &[(0, 50), (50, 140)],
        ),
        (
            "a pause, cut where it is quietest",
            &[(50, SPEECH), (10, QUIET), (2, dip), (28, QUIET), (50, SPEECH)],
            &[(0, 60), (60, 140)],
        ),
        (
            "the beginning of a long pause is dropped",
            &[(50, SPEECH), (300, QUIET), (50, SPEECH)],
            &[(0, 50), (288, 400)],
        ),
        ("a pause at the end", &[(50, SPEECH), (10, QUIET)], &[(0, 60)]),
        ("a long pause at the end", &[(50, SPEECH), (100, QUIET)], &[(0, 50)]),
        ("speech without a pause", &[(600, SPEECH), (3, low), (297, SPEECH)], &[(0, 600), (600, 900)]),
        (
            "its quietest place counts within 3 s",
            &[(400, SPEECH), (3, low), (497, SPEECH)],
            &[(0, 563), (563, 900)],
        ),
        (
            "a dip that is no pause is a good place",
            &[(700, SPEECH), (20, QUIET), (100, SPEECH)],
            &[(0, 700), (700, 820)],
        ),
    ];
    for (name, kinds, expected) in cases {
        assert_eq!(spans(kinds), expected, "{name}");
    }
}

#[test]
fn a_chunk_is_there_half_a_second_after_speech() {
    let mut chunker = Chunker::default();
    for _frame in 0..20 {
        assert!(chunker.take(&[0.5; FRAME], true).is_none());
    }
    for _frame in 1..PAUSE {
        assert!(chunker.take(&[0.0; FRAME], false).is_none());
    }
    assert_eq!(chunker.filling(), Some((0, Duration::from_millis(16 * 51))));
    assert_eq!(chunker.open().unwrap().samples.len(), 51 * FRAME);
    assert!(chunker.take(&[0.0; FRAME], false).is_some());
    assert_eq!(chunker.filling(), None);
    assert!(chunker.open().is_none());
}

#[test]
fn the_rest_belongs_to_the_last_chunk() {
    let last =
        |frames: &[Kind], is_speech| chunks(frames, 100, is_speech).pop().map(|chunk| chunk.samples.len());
    assert_eq!(last(&[SPEECH], false), Some(356));
    assert_eq!(last(&[QUIET], false), None);
    assert_eq!(last(&[QUIET], true), Some(356));
    assert_eq!(last(&[], true), Some(100));
}

fn any_kind() -> impl Strategy<Value = Kind> {
    (prop::sample::select(vec![0.0_f32, 0.001, 0.01, 0.2, 0.7]), any::<bool>())
}

/// Runs of frames as speech has them, and wilder ones.
fn any_frames() -> impl Strategy<Value = Vec<Kind>> {
    let runs = prop::collection::vec((0_usize..400, any_kind()), 0..12);
    let single = prop::collection::vec(any_kind(), 0..1_200);
    let sparse = prop::collection::vec((20_usize..70, any_kind()), 0..40);
    prop_oneof![runs.prop_map(|runs| frames(&runs)), single, sparse.prop_map(|runs| frames(&runs))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_is_lost_or_doubled(frames in any_frames(), rest in 0..FRAME, rest_is_speech: bool) {
        let rest_is_speech = rest_is_speech && rest > 0;
        let samples = recording(&frames, rest);
        let chunks = chunks(&frames, rest, rest_is_speech);
        let is_speech = |frame: usize| frames.get(frame).map_or(rest_is_speech, |kind| kind.1);
        let all_frames = samples.len().div_ceil(FRAME);
        let mut covered = 0;
        for (number, chunk) in chunks.iter().enumerate() {
            let end = chunk.start + chunk.samples.len();
            // In order, numbered, and of the recording.
            prop_assert_eq!(chunk.number as usize, number);
            prop_assert!(chunk.start >= covered && chunk.start % FRAME == 0);
            prop_assert_eq!(&chunk.samples[..], &samples[chunk.start..end]);
            prop_assert!(!chunk.samples.is_empty() && chunk.samples.len() <= LONGEST * FRAME);
            let (first, last) = (chunk.start / FRAME, end.div_ceil(FRAME));
            let spoken: Vec<usize> = (first..last).filter(|frame| is_speech(*frame)).collect();
            prop_assert!(!spoken.is_empty());
            // What is dropped before it is a pause of which a second is kept.
            if chunk.start > covered {
                prop_assert!((covered / FRAME..first + LEAD).all(|frame| !is_speech(frame)));
                prop_assert!(is_speech(first + LEAD));
            }
            covered = end;
            if end == samples.len() {
                continue;
            }
            // Cut in a pause that is long enough, at its quietest; or where it had to be.
            let after = spoken.last().unwrap() + 1;
            let pause_ends = after + PAUSE;
            let is_pause = (after..pause_ends).all(|frame| frame < frames.len() && !is_speech(frame));
            let (from, to) = if is_pause && last < pause_ends && pause_ends <= first + LONGEST {
                (after, pause_ends)
            } else {
                (first + LONGEST - LOOK_BACK, first + LONGEST)
            };
            prop_assert!((from..to).contains(&last), "{from} {last} {to}");
            let loudness = |frame: usize| samples[frame * FRAME..(frame + 1) * FRAME].iter().map(|s| s * s).sum::<f32>();
            prop_assert!((from..to).all(|frame| loudness(frame) >= loudness(last)));
            prop_assert!((from..last).all(|frame| loudness(frame) > loudness(last)));
        }
        // After the last chunk nothing was said.
        prop_assert!((covered.div_ceil(FRAME)..all_frames).all(|frame| !is_speech(frame)));
    }
}
