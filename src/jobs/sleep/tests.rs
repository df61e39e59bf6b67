use super::plan::{Looped, SleepPlan, plan};
use super::processes::{Sleeping, sleeping};
use super::watch::Watch;
use crate::proto::chain::{Wait, WaitKind};
use proptest::prelude::*;
use std::time::Duration;

/// Leading sleeps and their sum, the loop (passes, sleeps of each, only sleeps), single sleeps.
type Told = (usize, f64, Option<(Option<u32>, usize, bool)>, usize);

fn told(command: &str) -> Option<Told> {
    let SleepPlan { leading, leading_total, looped, single } = plan(command)?;
    let looped = looped.map(|Looped { passes, sleeps, only_sleeps }| (passes, sleeps, only_sleeps));
    Some((leading, leading_total.as_secs_f64(), looped, single))
}

#[test]
fn what_the_text_tells() {
    let begin = |count, seconds| Some((count, seconds, None, 0));
    let single = |count| Some((0, 0.0, None, count));
    let counted = |passes, sleeps, only| Some((0, 0.0, Some((Some(passes), sleeps, only)), 0));
    let open = |sleeps, only| Some((0, 0.0, Some((None, sleeps, only)), 0));
    for (command, expected) in [
        // At the begin.
        ("sleep 30", begin(1, 30.0)),
        ("sleep 1.5", begin(1, 1.5)),
        ("sleep 1m 30", begin(1, 90.0)),
        ("sleep 2h && make", begin(1, 7_200.0)),
        ("sleep 1d", begin(1, 86_400.0)),
        ("sleep 5; sleep 10; make", begin(2, 15.0)),
        ("sleep 5\nsleep 5s\necho done", begin(2, 10.0)),
        ("cd /srv && sleep 20 && make", begin(1, 20.0)),
        ("cd /srv; sleep 20", begin(1, 20.0)),
        ("sleep 20 >/dev/null; ls", begin(1, 20.0)),
        ("(sleep 5; sleep 5)", begin(2, 10.0)),
        ("{ sleep 5; }; make", begin(1, 5.0)),
        ("# wait\nsleep 3", begin(1, 3.0)),
        ("sleep 3 && make && sleep 4", Some((1, 3.0, None, 1))),
        // Elsewhere.
        ("make && sleep 4", single(1)),
        ("make; sleep 4; sleep 5", single(2)),
        ("x=1; sleep 2", begin(1, 2.0)),
        ("sleep $s", single(1)),
        ("sleep \"$s\"; sleep 4", single(2)),
        ("sleep infinity", single(1)),
        ("if make; then sleep 3; fi", single(1)),
        ("case a in a) sleep 2;; esac", single(1)),
        ("sleep 3 | cat", single(1)),
        ("! sleep 3", single(1)),
        ("echo a; sleep 1 || true", single(1)),
        // Loops over a list.
        ("for i in 1 2 3 4; do sleep 10; done", counted(4, 1, true)),
        ("for i in 1 2 3; do echo $i; sleep 10; done", counted(3, 1, true)),
        ("for i in 1 2 3; do make $i; sleep 10; done", counted(3, 1, false)),
        ("for i in $(seq 4); do sleep 1; done", counted(4, 1, true)),
        ("for i in $(seq 2 9); do sleep 1; done", counted(8, 1, true)),
        ("for i in $(seq 1 2 9); do sleep 1; done", counted(5, 1, true)),
        ("for i in {1..30}; do sleep 1; done", counted(30, 1, true)),
        ("for i in {10..1}; do sleep 1; done", counted(10, 1, true)),
        ("for i in {1..10..3}; do sleep 1; done", counted(4, 1, true)),
        ("for i in {a,b,c}; do sleep 1; done", counted(3, 1, true)),
        ("for i in a 'b c' \"d\"; do sleep 1; done", counted(3, 1, true)),
        ("for ((i=0; i<4; i++)); do sleep 2; done", counted(4, 1, true)),
        ("for ((i = 1; i <= 4; i++)); do sleep 2; done", counted(4, 1, true)),
        ("for ((i=10; i>0; i-=5)); do sleep 2; done", counted(2, 1, true)),
        ("for ((i=0;i<9;i+=2)); do sleep 2; done", counted(5, 1, true)),
        ("for i in 1 2; do sleep 1; make; sleep 2; done", counted(2, 2, false)),
        ("for i in 1 2; do make && sleep 2; done; echo over", counted(2, 1, false)),
        ("for i in 1 2; do curl x && break; sleep 5; done", counted(2, 1, false)),
        // Loops without a known end.
        ("while true; do sleep 5; done", open(1, true)),
        ("while ! curl -s x; do sleep 5; done", open(1, false)),
        ("until test -e x; do sleep 1; echo .; done", open(1, false)),
        ("while sleep 5; do make; done", open(1, false)),
        ("while :; do make; sleep 5; done", open(1, false)),
        ("make; while :; do sleep 5; done", open(1, true)),
        ("sleep 3; while :; do sleep 5; done", Some((1, 3.0, Some((None, 1, true)), 0))),
        // Loops of which nobody knows which pass it is.
        ("for f in *.rs; do sleep 1; done", single(1)),
        ("for i in $x; do sleep 1; done", single(1)),
        ("for i in $(ls); do sleep 1; done", single(1)),
        ("for i in {a..c}; do sleep 1; done", single(1)),
        ("for ((;;)); do sleep 1; done", single(1)),
        ("for ((i=0; i<n; i++)); do sleep 1; done", single(1)),
        ("for i in 1 2; do if x; then sleep 5; fi; done", single(1)),
        ("for i in 1 2; do for j in 1 2; do sleep 5; done; done", single(1)),
        ("while :; do sleep 1; done; while :; do sleep 2; done", single(1)),
        // None at all.
        ("make", None),
        ("echo sleep 5", None),
        ("echo 'sleep 5'", None),
        ("grep -r sleep src", None),
        ("sleep 5 &", None),
        ("sleep 5 & make", None),
        ("f() { sleep 5; }; echo", None),
        ("# sleep 5", None),
        ("x='sleep 5'", None),
        ("./sleep.sh", None),
        ("cat <<E\nsleep 5\nE", None),
        ("for i in 1 2; do make; done; echo sleep", None),
        ("", None),
    ] {
        assert_eq!(told(command), expected, "{command}");
    }
    assert_eq!(told(&"sleep 1;".repeat(20_000)), None, "too long to be looked at");
}

fn asleep(id: i32, age_ms: u64, lasts_ms: u64) -> Vec<Sleeping> {
    vec![Sleeping {
        id: (id, 1),
        age: Duration::from_millis(age_ms),
        lasts: (lasts_ms > 0).then_some(Duration::from_millis(lasts_ms)),
    }]
}

fn watch(command: &str) -> Watch {
    Watch::new(plan(command).unwrap())
}

const fn wait(begun_ms: u64, lasts_ms: u64, kind: WaitKind) -> Option<Option<Wait>> {
    Some(Some(Wait { begun_ms, lasts_ms, kind }))
}

#[test]
fn a_sleep_is_told_from_its_begin_to_its_end() {
    let mut watch = watch("make; sleep 30");
    assert_eq!(watch.next_ms(), Some(100));
    assert_eq!(watch.look(&[], 100), None);
    assert_eq!(watch.next_ms(), Some(200), "looks become rare");
    assert_eq!(watch.look(&[], 200), None);
    assert_eq!(watch.next_ms(), Some(400));
    assert_eq!(watch.look(&asleep(7, 300, 30_000), 5_000), wait(4_700, 30_000, WaitKind::Sleep));
    assert_eq!(watch.next_ms(), Some(34_740), "at its end");
    assert_eq!(watch.look(&asleep(7, 20_300, 30_000), 25_000), None, "the same");
    assert_eq!(watch.look(&[], 34_740), Some(None));
    assert_eq!(watch.next_ms(), None, "it has no other");
}

#[test]
fn sleeps_at_the_begin_are_one_wait() {
    let mut watch = watch("sleep 5; sleep 10; make");
    assert_eq!(watch.look(&asleep(1, 90, 5_000), 100), wait(10, 15_000, WaitKind::Sleep));
    assert_eq!(watch.look(&asleep(2, 30, 10_000), 5_045), None, "it goes on");
    assert_eq!(watch.look(&[], 15_060), Some(None));
    assert_eq!(watch.next_ms(), None);
}

#[test]
fn passes_are_counted() {
    let looped = |pass, of, is_exact| WaitKind::Loop { pass, of, is_exact };
    let mut exact = watch("for i in 1 2 3; do sleep 10; done");
    assert_eq!(exact.look(&asleep(1, 100, 10_000), 100), wait(0, 30_000, looped(1, 3, true)));
    assert_eq!(exact.look(&asleep(2, 20, 10_000), 10_040), wait(0, 30_020, looped(2, 3, true)));
    assert_eq!(exact.look(&asleep(3, 20, 10_000), 20_080), wait(0, 30_060, looped(3, 3, true)));
    // Two seconds of each pass are something else.
    let mut other = watch("for i in 1 2 3; do sleep 10; make; done");
    assert_eq!(other.look(&asleep(1, 100, 10_000), 100), wait(0, 30_000, looped(1, 3, false)));
    assert_eq!(other.look(&[], 10_040), Some(None));
    assert_eq!(other.look(&asleep(2, 0, 10_000), 12_000), wait(0, 36_000, looped(2, 3, false)));
    let mut open = watch("while ! x; do sleep 12; done");
    for number in 1..=3_u32 {
        let now = u64::from(number) * 13_000;
        let id = i32::try_from(number).unwrap();
        assert_eq!(open.look(&asleep(id, 0, 12_000), now), wait(now, 12_000, WaitKind::Check { number }));
        assert_eq!(open.look(&[], now + 12_040), Some(None));
    }
    assert!(open.next_ms().is_some(), "it may sleep again at any time");
}

#[test]
fn what_is_short_or_endless_is_not_told() {
    let mut short = watch("sleep 0.2");
    assert_eq!(short.look(&asleep(1, 0, 200), 100), None);
    let mut endless = watch("sleep infinity");
    assert_eq!(endless.look(&asleep(1, 0, 0), 100), None);
    assert_eq!(endless.next_ms(), Some(2_100));
    // One that should have ended, but has not: a stopped process.
    let mut late = watch("sleep 5");
    assert!(late.look(&asleep(1, 0, 5_000), 0).is_some());
    assert_eq!(late.look(&asleep(1, 6_000, 5_000), 6_000), Some(None));
}

#[test]
fn what_never_comes_is_not_waited_for_for_ever() {
    let mut alone = watch("if x; then sleep 5; fi; ./server");
    let (mut looks, mut now) = (0, 0);
    while let Some(next) = alone.next_ms() {
        assert!(next > now);
        now = next;
        looks += 1;
        assert_eq!(alone.look(&[], now), None);
    }
    assert!(looks < 40 && now > 50_000, "{looks} looks in {now} ms");
}

/// A real shell, looked at until its sleep is there.
#[cfg(target_os = "linux")]
#[test]
fn real_sleeps_are_found() {
    for (command, lasts) in
        [("sleep 9", 9.0), ("s=8; echo; sleep $s; echo", 8.0), ("(sleep 4m; true); true", 240.0)]
    {
        let mut shell = std::process::Command::new("bash")
            .args(["-c", command])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let leader = i32::try_from(shell.id()).unwrap();
        let begun = std::time::Instant::now();
        let found = loop {
            let found = sleeping(leader);
            if !found.is_empty() {
                break found;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{command}");
            std::thread::yield_now();
        };
        assert_eq!(found.len(), 1, "{command}");
        assert_eq!(found[0].lasts, Some(Duration::from_secs_f64(lasts)), "{command}");
        assert!(found[0].age <= begun.elapsed() + Duration::from_secs(1));
        for process in found {
            let pid = rustix::process::Pid::from_raw(process.id.0).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
        shell.wait().unwrap();
        assert!(sleeping(leader).is_empty());
    }
}

proptest! {
    #[test]
    fn no_text_is_too_odd(command in "\\PC{0,60}", count in 0_usize..3) {
        let words = ["sleep 5; ", "for i in {1..", "while "];
        let _plan = plan(&format!("{}sleep {command}", words[count]));
    }

    #[test]
    fn each_look_comes_later_and_no_wait_is_endless(
        plan_of in prop::sample::select(vec![
            "sleep 5; sleep 7; make", "for i in {1..9}; do sleep 3; done", "until x; do sleep 3; done",
            "for i in 1 2; do make; sleep 1; sleep 2; done", "make; sleep 9",
        ]),
        sleeps in prop::collection::vec((0_u64..20_000, 0_u64..5_000, any::<bool>()), 0..30),
    ) {
        let mut watch = watch(plan_of);
        let mut now = 0;
        for (id, (lasts, later, is_there)) in sleeps.into_iter().enumerate() {
            now += later;
            let processes = if is_there { asleep(i32::try_from(id / 2).unwrap(), 0, lasts) } else { Vec::new() };
            if let Some(Some(told)) = watch.look(&processes, now) {
                prop_assert!(told.begun_ms <= now);
                prop_assert!(told.lasts_ms >= 500 && told.lasts_ms < 10 * 20_000 + 30 * 5_000 + 1_000_000);
                if let WaitKind::Loop { pass, of, .. } = told.kind {
                    prop_assert!(pass >= 1 && pass <= of);
                }
            }
            prop_assert!(watch.next_ms().is_none_or(|next| next > now));
        }
    }
}
