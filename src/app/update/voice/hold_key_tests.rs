#![allow(clippy::type_complexity, reason = "tables of cases")]

use super::*;
use Follows::{Nothing, Resume, Start};
use proptest::prelude::*;
use std::sync::LazyLock;

static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

fn at(millis: u64) -> Instant {
    *BEGINNING + Duration::from_millis(millis)
}

/// What is told, at which millisecond.
#[derive(Clone, Copy, Debug)]
enum Told {
    Press,
    Repeat,
    Release,
    Lost,
    Ended,
    Tap,
    /// Nothing, but time passes up to here.
    Time,
}

/// Plays it with a clock that wakes up when something is due, and gives what followed and when.
fn play(key: &mut HoldKey, told: &[(u64, Told)]) -> Vec<(u64, Follows)> {
    let mut followed = Vec::new();
    for (millis, told) in told {
        while let Some(due) = key.due().filter(|due| *due <= at(*millis)) {
            let follows = key.pass(due);
            let millis = due.saturating_duration_since(*BEGINNING).as_millis();
            followed.push((u64::try_from(millis).unwrap(), follows));
        }
        let now = at(*millis);
        let follows = match told {
            Told::Press => key.stroke(Stroke::Press, now),
            Told::Repeat => key.stroke(Stroke::Repeat, now),
            Told::Release => key.stroke(Stroke::Release, now),
            Told::Lost => key.lost(now),
            Told::Tap => key.tap(now),
            Told::Ended => {
                key.ended(now);
                Nothing
            }
            Told::Time => Nothing,
        };
        followed.push((*millis, follows));
    }
    followed.retain(|(_, follows)| *follows != Nothing);
    followed
}

fn stop(may_resume: u64) -> Follows {
    Follows::Stop { may_resume: Duration::from_millis(may_resume) }
}

fn telling() -> HoldKey {
    HoldKey { tells_releases: true, ..HoldKey::default() }
}

#[test]
fn where_releases_are_told() {
    use Told::{Ended, Lost, Press, Release, Repeat, Tap, Time};
    let table: &[(&str, &[(u64, Told)], &[(u64, Follows)])] = &[
        ("held", &[(0, Press), (350, Release)], &[(0, Start), (350, stop(0))]),
        (
            "held with repeats",
            &[(0, Press), (500, Repeat), (530, Repeat), (900, Release)],
            &[(0, Start), (900, stop(0))],
        ),
        (
            "tapped twice",
            &[(0, Press), (349, Release), (5000, Press), (5080, Release)],
            &[(0, Start), (5000, stop(0))],
        ),
        (
            "the tap that ends is held",
            &[(0, Press), (90, Release), (900, Press), (1400, Repeat), (1430, Repeat), (1500, Release)],
            &[(0, Start), (900, stop(0))],
        ),
        (
            "begun again at once",
            &[(0, Press), (90, Release), (900, Press), (980, Release), (1000, Press), (2000, Release)],
            &[(0, Start), (900, stop(0)), (1000, Start), (2000, stop(0))],
        ),
        (
            "a release of a former press",
            &[(0, Release), (10, Press), (900, Release)],
            &[(10, Start), (900, stop(0))],
        ),
        (
            "the focus goes while it is held",
            &[(0, Press), (900, Lost), (2000, Release)],
            &[(0, Start), (900, stop(0))],
        ),
        ("the focus goes after a tap", &[(0, Press), (90, Release), (900, Lost)], &[(0, Start)]),
        (
            "it ends by itself while the key is held",
            &[(0, Press), (500, Repeat), (600, Ended), (650, Repeat), (900, Release), (1000, Press)],
            &[(0, Start), (1000, Start)],
        ),
        (
            "keys in a row",
            &[(0, Tap), (10, Tap), (20, Tap), (9000, Tap)],
            &[(0, Start), (10, stop(0)), (20, Start), (9000, stop(0))],
        ),
        ("nothing is due", &[(0, Press), (60_000, Time)], &[(0, Start)]),
    ];
    for (what, told, followed) in table {
        assert_eq!(play(&mut telling(), told), *followed, "{what}");
    }
}

/// Presses at these times.
fn presses(times: impl IntoIterator<Item = u64>) -> Vec<(u64, Told)> {
    times.into_iter().map(|millis| (millis, Told::Press)).collect()
}

/// A key that is held from 0 to `until` and repeats.
fn held(first: u64, rhythm: u64, until: u64) -> Vec<(u64, Told)> {
    let repeats = (first..=until).step_by(usize::try_from(rhythm).unwrap());
    let mut told = presses(std::iter::once(0).chain(repeats));
    told.push((until + 3_000, Told::Time));
    told
}

#[test]
fn where_they_are_not_told_a_held_key_records_until_its_repeats_stop() {
    for (first, rhythm) in [(250, 33), (500, 30), (660, 25), (990, 90), (300, 10), (500, 200)] {
        let mut key = HoldKey::default();
        let followed = play(&mut key, &held(first, rhythm, 4_000));
        assert_eq!(followed.len(), 2, "{first} {rhythm}: {followed:?}");
        assert_eq!((followed[0], followed[1].1), ((0, Start), stop(300)), "{first} {rhythm}");
        let late = followed[1].0 - 4_000;
        assert!(
            (180_u64.saturating_sub(rhythm)..=1_000).contains(&late),
            "{first} {rhythm}: {late} ms after the last repeat"
        );
        assert_eq!(key.due(), None);
    }
}

#[test]
fn where_they_are_not_told() {
    use Told::{Ended, Press, Release, Time};
    let table: &[(&str, &[(u64, Told)], &[(u64, Follows)])] = &[
        ("a tap goes on", &[(0, Press), (20_000, Time)], &[(0, Start)]),
        ("a second one ends it", &[(0, Press), (3000, Press), (9000, Time)], &[(0, Start), (3000, stop(0))]),
        (
            "the one that ends it is held",
            &[(0, Press), (3000, Press), (3500, Press), (3530, Press), (3560, Press), (9000, Time)],
            &[(0, Start), (3000, stop(0))],
        ),
        (
            "begun again",
            &[(0, Press), (3000, Press), (3700, Press), (9000, Press)],
            &[(0, Start), (3000, stop(0)), (3700, Start), (9000, stop(0))],
        ),
        (
            "two quick taps end it after all",
            &[(0, Press), (600, Press), (9000, Time)],
            &[(0, Start), (1200, stop(300))],
        ),
        (
            "a repeat comes late",
            &[(0, Press), (500, Press), (530, Press), (560, Press), (900, Press), (930, Press), (9000, Time)],
            &[(0, Start), (740, stop(300)), (900, Resume), (1710, stop(300))],
        ),
        (
            "the first repeat comes very late",
            &[(0, Press), (1200, Press), (1230, Press), (1260, Press), (1290, Press), (9000, Time)],
            &[(0, Start), (1200, stop(200)), (1230, Resume), (1470, stop(300))],
        ),
        (
            "it is thrown away while the key is held",
            &[
                (0, Press),
                (500, Press),
                (530, Press),
                (540, Ended),
                (560, Press),
                (590, Press),
                (5000, Press),
            ],
            &[(0, Start), (5000, Start)],
        ),
        (
            "a release proves that they are told",
            &[(0, Press), (200, Release), (3000, Press), (3100, Release), (3150, Press), (4000, Release)],
            &[(0, Start), (3000, stop(0)), (3150, Start), (4000, stop(0))],
        ),
    ];
    for (what, told, followed) in table {
        assert_eq!(play(&mut HoldKey::default(), told), *followed, "{what}");
    }
}

#[test]
fn a_terminal_that_promises_releases_and_tells_none_is_found_out() {
    let mut key = telling();
    let followed = play(&mut key, &held(500, 30, 2_000));
    assert_eq!((followed.len(), followed[0], followed[1].1), (2, (0, Start), stop(300)), "{followed:?}");
    let mut key = telling();
    let told = [(0, Told::Press), (4000, Told::Press), (9000, Told::Press), (12_000, Told::Press)];
    assert_eq!(play(&mut key, &told), [(0, Start), (4000, stop(0)), (9000, Start), (12_000, stop(0))]);
}

#[test]
fn twenty_presses_in_a_second_leave_nothing_running() {
    for tells in [false, true] {
        let mut key = HoldKey { tells_releases: tells, ..HoldKey::default() };
        let mut told: Vec<(u64, Told)> = Vec::new();
        for press in 0..20 {
            told.push((press * 50, Told::Press));
            if tells {
                told.push((press * 50 + 25, Told::Release));
            }
        }
        told.push((10_000, Told::Time));
        let followed = play(&mut key, &told);
        let starts = followed.iter().filter(|(_, follows)| *follows == Start).count();
        let stops = followed.iter().filter(|(_, follows)| matches!(follows, Follows::Stop { .. })).count();
        assert_eq!(starts, stops, "{followed:?}");
        assert_eq!(key.due(), None);
    }
}

fn told() -> impl Strategy<Value = Vec<(u64, Told)>> {
    let one = prop_oneof![
        6 => Just(Told::Press),
        2 => Just(Told::Repeat),
        3 => Just(Told::Release),
        1 => Just(Told::Lost),
        1 => Just(Told::Ended),
        1 => Just(Told::Tap),
        1 => Just(Told::Time),
    ];
    let gap = prop_oneof![Just(0_u64), 1..60_u64, 150..400_u64, 400..1_200_u64, 1_200..5_000_u64];
    prop::collection::vec((gap, one), 0..60).prop_map(|steps| {
        let mut millis = 0;
        let steps = steps.into_iter().map(|(gap, told)| {
            millis += gap;
            (millis, told)
        });
        steps.collect()
    })
}

proptest! {
    /// Starts, stops and resumes alternate as a recorder needs it, whatever comes.
    #[test]
    fn a_recorder_can_follow(told in told(), tells in any::<bool>()) {
        let mut key = HoldKey { tells_releases: tells, ..HoldKey::default() };
        let mut records = false;
        let mut resumable: Option<u64> = None;
        for (millis, told) in told {
            let is_end = matches!(told, Told::Ended);
            for (when, follows) in play(&mut key, &[(millis, told)]) {
                match follows {
                    Start => {
                        prop_assert!(!records);
                        records = true;
                    }
                    Follows::Stop { may_resume } => {
                        prop_assert!(records);
                        records = false;
                        resumable = Some(when + u64::try_from(may_resume.as_millis()).unwrap());
                    }
                    Resume => {
                        prop_assert!(!records && resumable.is_some_and(|until| when <= until));
                        records = true;
                    }
                    Nothing => {}
                }
            }
            if is_end {
                (records, resumable) = (false, None);
            }
        }
        // At rest nothing is due for longer than a slow first repeat.
        let due = key.due();
        prop_assert!(due.is_none_or(|due| due <= at(400_000)));
    }

    /// However a key repeats, and however uneven the line is: one recording, which goes on until the key is let go.
    #[test]
    fn an_uneven_line_costs_no_recording(
        first in 250..660_u64, rhythm in 15..60_u64, late in prop::collection::vec(0..150_u64, 60),
    ) {
        let mut key = HoldKey::default();
        let mut times = vec![0];
        for (number, late) in (0_u64..).zip(late) {
            times.push((first + number * rhythm + late).max(times.last().copied().unwrap_or(0)));
        }
        let last = times.last().copied().unwrap_or(0);
        let mut told = presses(times);
        told.push((last + 5_000, Told::Time));
        let followed = play(&mut key, &told);
        let starts = followed.iter().filter(|(_, follows)| *follows == Start).count();
        prop_assert_eq!(starts, 1, "{:?}", followed);
        let end = followed.last().copied();
        prop_assert!(end.is_some_and(|(when, follows)| when >= last && follows == stop(300)), "{:?}", followed);
    }
}
