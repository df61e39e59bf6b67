use super::*;
use crate::proto::chain::{Wait, WaitKind};
use crate::proto::job::{JobEnd, JobEnding, StoppedBy};
use crate::proto::meter::Meter;
use crate::ui::chrome::screen_tests::{Screen, row};
use crate::ui::target::Target;
use proptest::prelude::*;

/// A job that has run for 26.1 s when the clock shows 30 s, and printed a moment ago.
pub fn job(name: &str) -> ShownJob {
    at(view(name), Instant::now())
}

fn view(name: &str) -> JobView {
    JobView {
        title: "Fetch dataset".to_owned(),
        command: "curl -LO https://example.org/data.tar".to_owned(),
        started: 3_900,
        printed: 10,
        printed_at: 29_900,
        ..JobView::sample(name)
    }
}

fn at(view: JobView, now: Instant) -> ShownJob {
    ShownJob::new(view.into(), 30_000, now)
}

fn ended(how: JobEnding, took_ms: u64) -> JobState {
    JobState::Ended(JobEnd { how, took_ms, lost_bytes: 0 })
}

/// Every state that a row can show.
fn states() -> Vec<JobView> {
    let of = |change: fn(&mut JobView)| {
        let mut view = view("a");
        change(&mut view);
        view
    };
    let facts = || vec!["118M/190M".to_owned(), "6.5M/s".to_owned()];
    let left = Some(Duration::from_secs(11));
    let mut metered = of(|_| {});
    metered.meter = Some(Meter { share: Some(0.629), left, facts: facts() });
    let mut unsized_meter = of(|_| {});
    unsized_meter.meter = Some(Meter { share: None, left: None, facts: facts() });
    let mut sleeping = of(|_| {});
    sleeping.wait = Some(Wait { begun_ms: 0, lasts_ms: 60_000, kind: WaitKind::Sleep });
    let mut looping = of(|_| {});
    let kind = WaitKind::Loop { pass: 2, of: 4, is_exact: true };
    looping.wait = Some(Wait { begun_ms: 20_000, lasts_ms: 31_000, kind });
    let mut checking = of(|_| {});
    checking.wait = Some(Wait { begun_ms: 20_000, lasts_ms: 24_000, kind: WaitKind::Check { number: 3 } });
    vec![
        of(|_| {}),
        of(|view| view.latest = "212 passing".to_owned()),
        metered,
        unsized_meter,
        sleeping,
        looping,
        checking,
        of(|view| {
            view.printed_at = -1_000;
            view.latest = "listening on port 3000".to_owned();
        }),
        of(|view| view.state = JobState::Stopping { since: 26_900 }),
        of(|view| view.state = ended(JobEnding::Exited(0), 29_900)),
        of(|view| view.state = ended(JobEnding::Exited(2), 3_100)),
        of(|view| view.state = ended(JobEnding::Signalled("SIGSEGV".to_owned()), 3_100)),
        of(|view| view.state = ended(JobEnding::TimedOut(30), 30_000)),
        of(|view| view.state = ended(JobEnding::Stopped(StoppedBy::User), 4_000)),
        of(|view| view.state = ended(JobEnding::Unknown, 4_000)),
        of(|view| {
            view.state = ended(JobEnding::Exited(0), 29_900);
            view.is_undelivered = true;
        }),
    ]
}

fn drawn(screen: &mut Screen, views: &[JobView]) {
    let jobs: Vec<ShownJob> = views.iter().map(|view| at(view.clone(), screen.now)).collect();
    screen.draw(|look, area, buffer, _, next| {
        let cx = crate::ui::entries::EntryCx { look, width: area.width, open: false };
        for (job, y) in jobs.iter().zip(area.top()..area.bottom()) {
            let area = ratatui::layout::Rect { y, height: 1, ..area };
            crate::ui::paint::row(buffer, area, &band::row(job, &cx, next));
        }
    });
}

#[test]
fn every_state_at_three_widths() {
    for width in [60, 100, 160] {
        let views = states();
        let mut screen = Screen::new(width, u16::try_from(views.len()).unwrap());
        screen.now = screen.at(90_400);
        drawn(&mut screen, &views);
        crate::assert_screen!("jobs", "states", &screen.buffer);
    }
}

#[test]
fn every_state_in_other_themes() {
    use crate::theme::Theme;
    for (case, theme) in [("states_light", Theme::quiet_light()), ("states_terminal", Theme::terminal())] {
        let views = states();
        let mut screen = Screen::new(100, u16::try_from(views.len()).unwrap());
        screen.theme = theme;
        screen.now = screen.at(90_400);
        drawn(&mut screen, &views);
        crate::assert_screen!("jobs", case, &screen.buffer);
    }
}

#[test]
fn what_failed_to_be_told_comes_first_then_ends_then_the_newest() {
    let named = |name: &str, state: JobState, is_undelivered: bool| JobView {
        title: name.to_owned(),
        state,
        is_undelivered,
        ..view(name)
    };
    let jobs = [
        named("one", JobState::Running, false),
        named("two", ended(JobEnding::Exited(0), 5), false),
        named("three", JobState::Running, false),
        named("four", ended(JobEnding::Exited(1), 5), true),
        named("five", JobState::Running, false),
        named("six", JobState::Running, false),
    ];
    let rows_of = |count: usize, rows: u16| {
        let mut screen = Screen::new(60, rows);
        let mut shown = ShownJobs::default();
        let jobs: Vec<_> = jobs.iter().take(count).cloned().map(Arc::new).collect();
        shown.take(&jobs, 30_000, screen.now);
        screen.draw(|look, area, buffer, hits, next| rows::draw(&shown, look, area, buffer, hits, next));
        let text = |y| row(&screen.buffer, y).trim_start_matches(['⠋', '●', ' ']).to_owned();
        let words = |y| text(y).split_whitespace().next().unwrap_or_default().to_owned();
        let targets = |y| screen.hits.at((4, y).into()).cloned();
        (
            (0..rows).map(words).collect::<Vec<_>>(),
            (0..rows).map(targets).collect::<Vec<_>>(),
            rows::height(&shown),
        )
    };
    let (names, targets, height) = rows_of(6, 6);
    assert_eq!(names, ["", "four", "two", "six", "five", "+2"]);
    assert_eq!(targets[1], Some(Target::Job(JobId::new("four"))));
    assert_eq!((targets[0].clone(), targets[5].clone(), height), (None, Some(Target::Jobs), 6));
    assert_eq!(rows_of(5, 6).0, ["", "four", "two", "five", "three", "one"]);
    assert_eq!(rows_of(6, 2).0, ["four", "+5"]);
    assert_eq!(rows_of(1, 2).0, ["", "one"]);
    assert_eq!((rows_of(1, 1).0, rows_of(0, 1).2), (vec!["one".to_owned()], 0));
}

#[test]
fn a_job_at_rest_asks_for_no_frames() {
    for (change, moves) in [(0, true), (9, false), (13, false)] {
        let mut screen = Screen::new(80, 1);
        screen.now = screen.at(90_400);
        drawn(&mut screen, &states()[change..=change]);
        assert_eq!(screen.next.animation.or(screen.next.figure).is_some(), moves, "{change}");
    }
}

proptest! {
    #[test]
    fn any_width_holds(width in 1_u16..300, which in 0_usize..16, title in "\\PC{0,40}", latest in "\\PC{0,40}") {
        let mut view = states().swap_remove(which);
        (view.title, view.latest) = (title, latest);
        let mut screen = Screen::new(width, 2);
        screen.now = screen.at(90_400);
        drawn(&mut screen, &[view]);
        prop_assert_eq!(row(&screen.buffer, 1), "");
    }
}
