use super::super::screen_tests::{Screen, row};
use super::*;
use crate::proto::ids::RecordingId;
use crate::proto::voice::{ChunkState, VoiceEvent};
use crate::theme::Theme;
use crate::ui::chrome::voice_row::view::{FAILURE_LINGERS, LINGERS};
use proptest::prelude::*;

const RECORDING: RecordingId = RecordingId(1);

fn level(seconds: f64, level: f32, clipped: u32) -> VoiceEvent {
    VoiceEvent::Level { recording: RECORDING, recorded: Duration::from_secs_f64(seconds), level, clipped }
}

fn chunk(number: u32, state: ChunkState) -> VoiceEvent {
    VoiceEvent::Chunk { recording: RECORDING, number, state }
}

fn waits_on(on: Wait) -> VoiceEvent {
    VoiceEvent::Waits { recording: RECORDING, on: Some(on) }
}

fn opening() -> VoiceEvent {
    VoiceEvent::Opening { recording: RECORDING, model: "parakeet 0.6b-v3".to_owned(), processor: "cpu" }
}

/// Somebody has spoken for twelve seconds.
fn speaking(now: Instant) -> VoiceView {
    let mut view = VoiceView::default();
    view.begin();
    let mut events = vec![
        opening(),
        VoiceEvent::Listening {
            recording: RECORDING,
            microphone: "Built-in microphone".to_owned(),
            latency: Duration::from_millis(80),
        },
    ];
    let levels = [0.0, 0.1, 0.2, 0.4, 0.6, 0.9, 0.97, 0.5, 0.3, 0.14];
    events.extend(levels.iter().cycle().take(35).map(|loud| level(12.4, *loud, 0)));
    for event in events {
        view.take(&event, now);
    }
    for (number, state) in [ChunkState::Done, ChunkState::Done, ChunkState::Decoding, ChunkState::Queued]
        .into_iter()
        .chain([ChunkState::Filling(Duration::from_secs(5))])
        .enumerate()
    {
        view.take(&chunk(u32::try_from(number).unwrap(), state), now);
    }
    view
}

fn with(now: Instant, event: &VoiceEvent) -> VoiceView {
    let mut view = speaking(now);
    assert!(view.take(event, now));
    view
}

fn stopped(at: Instant, wait: Wait) -> VoiceView {
    let mut view = speaking(at);
    view.stop(at);
    view.take(&waits_on(wait), at);
    view
}

fn ended(ending: Ending, now: Instant) -> VoiceView {
    let mut view = speaking(now);
    view.end(ending, now);
    view
}

/// Every state, at `now`.
fn states(now: Instant) -> Vec<VoiceView> {
    let long_ago = now - Duration::from_millis(1_200);
    let mut opened = VoiceView::default();
    opened.begin();
    opened.take(&opening(), now);
    opened.take(&waits_on(Wait::Microphone), now);
    let mut fetching = VoiceView::default();
    fetching.set_fetching(Some((430, 1_000)));
    let mut waits_for_model = with(now, &waits_on(Wait::Fetching));
    waits_for_model.set_fetching(Some((5, 1_000)));
    let mut cleaning = stopped(now, Wait::Decoding);
    cleaning.clean_up();
    let text = "and then we read the whole file again to see what has changed in it since".to_owned();
    let mut many = speaking(now);
    for number in 5..20 {
        many.take(&chunk(number, ChunkState::Done), now);
    }
    many.take(&chunk(20, ChunkState::Failed), now);
    many.take(&chunk(21, ChunkState::Filling(Duration::from_secs(10))), now);
    vec![
        opened,
        speaking(now),
        many,
        with(now, &level(12.5, 1.0, 9)),
        with(now, &VoiceEvent::Warning { recording: RECORDING, warning: VoiceWarning::NothingHeard }),
        with(now, &VoiceEvent::Warning { recording: RECORDING, warning: VoiceWarning::Silent }),
        with(now, &VoiceEvent::Warning { recording: RECORDING, warning: VoiceWarning::Dropped }),
        with(now, &waits_on(Wait::Loading { queued: Duration::from_millis(4_200) })),
        with(now, &waits_on(Wait::Consent)),
        waits_for_model,
        with(now, &VoiceEvent::Partial { recording: RECORDING, text }),
        stopped(now, Wait::Decoding),
        stopped(long_ago, Wait::Microphone),
        stopped(long_ago, Wait::Loading { queued: Duration::from_secs(3) }),
        stopped(long_ago, Wait::Decoding),
        cleaning,
        fetching,
        ended(Ending::Cancelled, now),
        ended(Ending::Nothing, now),
        ended(Ending::Failed(VoiceFailure::MicrophoneLost), now),
    ]
}

fn drawn(screen: &mut Screen, views: &[VoiceView], label: Option<&str>) {
    screen.draw(|look, area, buffer, _, next| {
        for (view, y) in views.iter().zip(area.top()..area.bottom()) {
            let border = Border { rule: look.theme.style(Role::Border), label };
            draw(view, look, Rect { y, height: 1, ..area }, border, buffer, next);
        }
    });
}

#[test]
fn every_state_at_three_widths() {
    for width in [60, 100, 160] {
        let mut screen = Screen::new(width, 20);
        screen.now = screen.at(90_400);
        let views = states(screen.now);
        assert_eq!(views.len(), 20);
        drawn(&mut screen, &views, None);
        crate::assert_screen!("voice", "states", &screen.buffer);
        drawn(&mut screen, &views, Some("↑ 4 more"));
        crate::assert_screen!("voice", "states_above_more", &screen.buffer);
    }
}

#[test]
fn every_state_in_other_themes() {
    for (case, theme) in [("states_light", Theme::quiet_light()), ("states_terminal", Theme::terminal())] {
        let mut screen = Screen::new(100, 20);
        screen.theme = theme;
        screen.now = screen.at(90_400);
        let views = states(screen.now);
        drawn(&mut screen, &views, None);
        crate::assert_screen!("voice", case, &screen.buffer);
    }
}

#[test]
fn what_goes_first_when_it_gets_narrow() {
    let table = [
        (100, ["cpu", "parakeet", "microphone", "⣿", "◆", "0:12"].as_slice(), [].as_slice()),
        (77, &["parakeet", "microphone", "⣿", "◆", "0:12"], &["cpu"]),
        (73, &["microphone", "⣿", "◆", "0:12"], &["parakeet"]),
        (56, &["⣿", "◆", "0:12"], &["microphone"]),
        (33, &["◆", "0:12"], &["⣿"]),
        (17, &["0:12"], &["◆"]),
        (10, &["●"], &["0:12"]),
    ];
    for (width, there, gone) in table {
        let mut screen = Screen::new(width, 1);
        let view = speaking(screen.now);
        drawn(&mut screen, &[view], None);
        let shown = row(&screen.buffer, 0);
        assert!(there.iter().all(|part| shown.contains(part)), "{width}: {shown}");
        assert!(!gone.iter().any(|part| shown.contains(part)), "{width}: {shown}");
    }
    // What is going on stays longer than all of that.
    let mut screen = Screen::new(46, 1);
    let view =
        with(screen.now, &VoiceEvent::Warning { recording: RECORDING, warning: VoiceWarning::NothingHeard });
    drawn(&mut screen, &[view], Some("↑ 4 more"));
    let shown = row(&screen.buffer, 0);
    assert!(shown.contains("can't hear") && shown.ends_with("↑ 4 more ─"), "{shown}");
}

#[test]
fn it_asks_for_frames_only_while_something_moves() {
    let mut screen = Screen::new(100, 1);
    screen.now = screen.at(90_400);
    let now = screen.now;
    let mut next = |view: VoiceView, motion: bool| {
        screen.motion = motion;
        drawn(&mut screen, &[view], None);
        (screen.next.animation.is_some(), screen.next.figure.map(|at| at - now))
    };
    let ms = Duration::from_millis;
    assert_eq!(next(speaking(now), true), (true, None));
    assert_eq!(next(speaking(now), false), (false, None));
    assert_eq!(next(with(now, &level(1.0, 0.9, 4)), false), (false, Some(ms(2_000))));
    assert_eq!(next(stopped(now, Wait::Decoding), true), (false, Some(ms(1_000))));
    assert_eq!(next(stopped(now - ms(1_000), Wait::Decoding), true), (true, None));
    assert_eq!(next(stopped(now - ms(1_000), Wait::Decoding), false), (false, None));
    assert_eq!(next(ended(Ending::Cancelled, now), true), (false, Some(LINGERS)));
    let failed = ended(Ending::Failed(VoiceFailure::Memory), now);
    assert_eq!(next(failed, true), (false, Some(FAILURE_LINGERS)));
}

#[test]
fn what_is_shown_and_for_how_long() {
    let now = Instant::now();
    let ms = Duration::from_millis;
    assert!(!VoiceView::default().is_shown(now));
    assert!(speaking(now).is_shown(now));
    let mut inserted = speaking(now);
    inserted.hide();
    assert!(!inserted.is_shown(now));
    assert!(ended(Ending::Nothing, now).is_shown(now + ms(1_499)));
    assert!(!ended(Ending::Nothing, now).is_shown(now + ms(1_500)));
    assert!(ended(Ending::Failed(VoiceFailure::Disk), now).is_shown(now + ms(3_999)));
    assert!(!ended(Ending::Failed(VoiceFailure::Disk), now).is_shown(now + ms(4_000)));
}

#[test]
fn a_voice_ends_the_warning_that_none_is_heard() {
    let now = Instant::now();
    let mut view =
        with(now, &VoiceEvent::Warning { recording: RECORDING, warning: VoiceWarning::NothingHeard });
    view.take(&level(3.1, 0.04, 0), now);
    assert!(view.warning(now + Duration::from_secs(60)).is_some());
    view.take(&level(3.2, 0.2, 0), now);
    assert_eq!(view.warning(now), None);
}

#[test]
fn what_was_said_is_not_kept_in_the_row() {
    let now = Instant::now();
    let said = VoiceEvent::Partial { recording: RECORDING, text: "a canary\u{1b}[31m".to_owned() };
    let mut view = with(now, &said);
    assert_eq!(view.partial, "a canary");
    view.take(&chunk(4, ChunkState::Queued), now);
    assert_eq!(view.partial, "");
    let mut view = with(now, &said);
    view.stop(now);
    assert!(!view.take(&said, now));
    assert_eq!(view.partial, "");
}

proptest! {
    #[test]
    fn any_width_holds(
        width in 1_u16..300, which in 0_usize..20, label in prop::option::of("([a-z ]{0,19}[a-z])?"), name in "[a-z 日é]{0,60}",
    ) {
        let mut screen = Screen::new(width, 2);
        screen.now = screen.at(90_400);
        let mut view = states(screen.now).swap_remove(which);
        view.take(
            &VoiceEvent::Listening { recording: RECORDING, microphone: name, latency: Duration::ZERO },
            screen.now,
        );
        drawn(&mut screen, &[view], label.as_deref());
        prop_assert!(row(&screen.buffer, 0).contains(['─', '…', '●', '○']));
        // The row below is nobody's.
        prop_assert_eq!(row(&screen.buffer, 1), "");
        let full = crate::text::width::of(&row(&screen.buffer, 0));
        prop_assert_eq!(full, usize::from(width));
    }
}
