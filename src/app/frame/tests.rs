use super::*;
use Step::{Animate, Blur, Draw, Figure, Focus, Input, Stream};
use proptest::prelude::*;

/// What happens, and at which millisecond.
#[derive(Debug, Clone, Copy)]
enum Step {
    Input(u64),
    Stream(u64),
    /// A frame is drawn; nothing in it changes by itself.
    Draw(u64),
    /// A frame is drawn at the first time, with an animated cell that steps at the second.
    Animate(u64, u64),
    /// The same with a figure.
    Figure(u64, u64),
    Focus,
    Blur,
}

fn play(start: Instant, steps: &[Step]) -> FrameClock {
    let at = |millis: u64| start + Duration::from_millis(millis);
    let mut clock = FrameClock::new();
    for step in steps {
        match *step {
            Input(now) => clock.request(Cause::Input, at(now)),
            Stream(now) => clock.request(Cause::Stream, at(now)),
            Draw(now) => clock.drawn(at(now), NextDeadline::default()),
            Animate(now, next) => {
                clock.drawn(at(now), NextDeadline { animation: Some(at(next)), figure: None });
            }
            Figure(now, next) => {
                clock.drawn(at(now), NextDeadline { animation: None, figure: Some(at(next)) });
            }
            Focus => clock.set_focus(true),
            Blur => clock.set_focus(false),
        }
    }
    clock
}

#[test]
fn deadlines() {
    let cases: &[(&str, &[Step], Option<u64>)] = &[
        ("nothing asked", &[], None),
        ("the first frame comes at once", &[Input(5)], Some(5)),
        ("the first streamed text, too", &[Stream(5)], Some(5)),
        ("a frame settles all that was asked", &[Input(1), Stream(2), Draw(3)], None),
        ("a key after a rest comes at once", &[Draw(0), Input(100)], Some(100)),
        ("keys keep their distance", &[Input(100), Draw(100), Input(101)], Some(108)),
        ("further keys do not push it back", &[Input(100), Draw(100), Input(101), Input(107)], Some(108)),
        ("a key does not wait for a frame of a stream", &[Stream(100), Draw(100), Input(101)], Some(101)),
        ("streamed text keeps its distance", &[Stream(100), Draw(100), Stream(101)], Some(150)),
        (
            "text of before settled by another frame, too",
            &[Stream(100), Draw(100), Draw(140), Stream(141)],
            Some(190),
        ),
        ("the first text does not wait for a frame's distance", &[Draw(100), Stream(101)], Some(108)),
        ("nor the first after a silence", &[Stream(100), Draw(100), Draw(350), Stream(351)], Some(358)),
        (
            "further text does not push it back",
            &[Stream(100), Draw(100), Stream(101), Stream(130)],
            Some(150),
        ),
        ("text after a rest comes at once", &[Draw(100), Stream(200)], Some(200)),
        ("a key overtakes the text", &[Stream(100), Draw(100), Stream(101), Input(103)], Some(103)),
        ("a frame for a key carries the text", &[Stream(101), Input(103), Draw(108)], None),
        ("an animation steps when it says", &[Animate(0, 80)], Some(80)),
        ("but not too fast", &[Animate(0, 10)], Some(40)),
        ("a figure changes when it says", &[Figure(0, 1000)], Some(1000)),
        ("without focus nothing is animated", &[Animate(0, 80), Blur], None),
        ("without focus figures stay true", &[Figure(0, 1000), Blur], Some(1000)),
        ("without focus text is shown", &[Draw(0), Blur, Stream(50)], Some(50)),
        ("with the focus a missed step is due", &[Animate(0, 80), Blur, Focus], Some(80)),
        ("what is no longer in view asks nothing", &[Animate(0, 80), Draw(50)], None),
        ("text comes between two steps", &[Animate(0, 80), Stream(40)], Some(40)),
    ];
    let start = Instant::now();
    for (name, steps, expected) in cases {
        let expected = expected.map(|millis| start + Duration::from_millis(millis));
        assert_eq!(play(start, steps).deadline(), expected, "{name}");
    }
}

#[test]
fn it_is_due_from_its_deadline_on() {
    let start = Instant::now();
    let clock = play(start, &[Input(0), Draw(0), Input(1)]);
    assert!(!clock.is_due(start + Duration::from_millis(7)));
    assert!(clock.is_due(start + Duration::from_millis(8)));
    assert!(clock.is_due(start + Duration::from_secs(9)));
    assert!(!FrameClock::new().is_due(start));
}

proptest! {
    /// A loop that draws exactly when told: frames keep their distance, and nothing waits longer than its gap.
    #[test]
    fn a_loop_that_obeys_is_neither_late_nor_hasty(
        requests in prop::collection::vec((1u64..60, any::<bool>()), 1..60)
    ) {
        let start = Instant::now();
        let mut clock = FrameClock::new();
        let mut frames: Vec<Instant> = Vec::new();
        let mut waiting: Vec<(Instant, Duration)> = Vec::new();
        let mut now = start;
        let draw_until = |until: Option<Instant>,
                              clock: &mut FrameClock,
                              waiting: &mut Vec<(Instant, Duration)>,
                              frames: &mut Vec<Instant>| {
            while let Some(deadline) = clock.deadline().filter(|at| until.is_none_or(|until| *at < until)) {
                clock.drawn(deadline, NextDeadline::default());
                let is_for_input = waiting.iter().any(|(_, gap)| *gap == INPUT_GAP);
                for (since, gap) in waiting.drain(..) {
                    prop_assert!(deadline <= since + gap, "something waited too long");
                }
                if is_for_input {
                    if let Some(last) = frames.last() {
                        prop_assert!(deadline - *last >= INPUT_GAP, "two frames for input at once");
                    }
                    frames.push(deadline);
                }
            }
            Ok(())
        };
        for (pause, is_input) in requests {
            let next = now + Duration::from_millis(pause);
            draw_until(Some(next), &mut clock, &mut waiting, &mut frames)?;
            now = next;
            let (cause, gap) = if is_input { (Cause::Input, INPUT_GAP) } else { (Cause::Stream, STREAM_GAP) };
            clock.request(cause, now);
            waiting.push((now, gap));
        }
        draw_until(None, &mut clock, &mut waiting, &mut frames)?;
        prop_assert!(waiting.is_empty(), "something was never shown");
        prop_assert_eq!(clock.deadline(), None);
    }

    /// Text alone never makes more than twenty frames a second.
    #[test]
    fn text_alone_keeps_its_pace(pauses in prop::collection::vec(1u64..20, 1..200)) {
        let start = Instant::now();
        let mut clock = FrameClock::new();
        let mut now = start;
        let mut last = None;
        for pause in pauses {
            now += Duration::from_millis(pause);
            clock.request(Cause::Stream, now);
            if clock.is_due(now) {
                clock.drawn(now, NextDeadline::default());
                prop_assert!(last.is_none_or(|last| now - last >= STREAM_GAP));
                last = Some(now);
            }
        }
    }
}
