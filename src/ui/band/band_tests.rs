use super::ground::Grounds;
use super::rail::Says;
use super::*;
use crate::config::display::Display;
use crate::config::keymap::Keymap;
use crate::theme::Theme;
use crate::theme::contrast;
use crate::theme::mix::Rgb;
use crate::theme::role::Weight;
use crate::ui::look::Look;
use crate::ui::motion::{FLASH, GRID};
use proptest::prelude::*;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

static KEYMAP: LazyLock<Keymap> = LazyLock::new(Keymap::defaults);
static EPOCH: LazyLock<Instant> = LazyLock::new(|| Instant::now() + Duration::from_secs(10_000));

/// The look so long after everything began.
fn look(theme: &Theme, clock: u64) -> Look<'_> {
    Look {
        theme,
        keymap: &KEYMAP,
        now: *EPOCH + Duration::from_millis(clock),
        epoch: *EPOCH,
        motion: true,
        glyphs: true,
        display: Display::default(),
        home: Path::new("/home/me"),
        cwd: Path::new("/home/me/tool"),
    }
}

fn drawn(band: &Band, look: &Look<'_>, width: u16) -> (Row, NextDeadline) {
    let mut next = NextDeadline::default();
    let row = band.row(&EntryCx { look, width, open: false }, Edge::Bullet, &mut next);
    (row, next)
}

/// The ground of each cell, as it is painted.
fn grounds(row: &Row, width: u16) -> Vec<Color> {
    let mut cells = vec![row.ground.map_or(Color::Reset, |(_, color)| color); usize::from(width)];
    let mut column = 0;
    for span in &row.spans {
        let columns = width::of(&span.content);
        if let Some(ground) = span.style.bg {
            cells.iter_mut().skip(column).take(columns).for_each(|cell| *cell = ground);
        }
        column += columns;
    }
    cells
}

fn hex(color: Color) -> String {
    Rgb::of(color).map_or_else(|| "none".to_owned(), |rgb| rgb.to_string())
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn title(text: &str) -> Vec<Seg> {
    vec![Seg::bold(Role::ToolTitle, "$ "), Seg::new(Role::Text, text)]
}

/// Runs since the begin of the clock.
fn running(limit: Option<Duration>) -> Band {
    Band {
        state: State::Running,
        motion: limit.map_or(Motion::Sweep, |limit| Motion::Fill { since: *EPOCH, limit }),
        bullet: Bullet::running("bash", *EPOCH, limit),
        title: title("cargo test"),
        rail: Rail::running(*EPOCH, limit),
        ..Band::default()
    }
}

fn over(state: State, ended: Option<Instant>) -> Band {
    Band {
        state,
        motion: ended.map_or(Motion::Still, |ended| Motion::Flash { ended }),
        title: title("x"),
        ..Band::default()
    }
}

#[test]
fn a_fill_is_of_the_colours_of_the_specification() {
    let theme = Theme::quiet_dark();
    let cells =
        |clock, width| grounds(&drawn(&running(Some(seconds(300))), &look(&theme, clock), width).0, width);
    let cells_of = |clock: u64| {
        let cells = cells(clock, 1000);
        let unfilled = cells.iter().rposition(|cell| hex(*cell) != "#282a2e").unwrap_or(0);
        (unfilled + 1, hex(cells[0]), hex(cells[unfilled]))
    };
    // 12 % after 5 of 300 seconds, 40 % after 30; the leading cell pulses.
    assert_eq!(cells_of(5_000), (119, "#445058".to_owned(), "#4c5a64".to_owned()));
    assert_eq!(cells_of(30_500), (408, "#445058".to_owned(), "#51616c".to_owned()));
    // Cool until half of the time, hot in its last tenth.
    assert_eq!(hex(cells(150_000, 80)[0]), "#445058");
    assert_eq!(hex(cells(270_000, 80)[0]), "#615132");
    assert_eq!(hex(cells(301_000, 80)[0]), "#615132");
}

#[test]
fn two_rows_sweep_in_step() {
    let theme = Theme::quiet_dark();
    let swept = |since: u64, clock: u64| {
        let band = Band { rail: Rail::running(*EPOCH - seconds(since), None), ..running(None) };
        grounds(&drawn(&band, &look(&theme, clock), 100).0, 100)
    };
    let cells = swept(3, 1100);
    assert_eq!(cells, swept(90, 1100));
    // Also from pass to pass, on the steps that both passes have.
    assert_eq!(swept(1, 880), swept(1, 880 + 22_000 * 4));
    assert_ne!(cells, swept(3, 1100 + 160));
    assert_eq!((hex(cells[0]), hex(cells[99])), ("#292c30".to_owned(), "#292c30".to_owned()));
    let peak = Grounds::of(
        State::Running,
        Motion::Sweep,
        &EntryCx { look: &look(&theme, 320), width: 100, open: false },
        1,
        &mut NextDeadline::default(),
    );
    assert!((0..100).any(|cell| hex(peak.at(cell)) == "#48545d"));
    // Between two steps nothing changes, whatever a frame is drawn for.
    assert_eq!(swept(3, 1120), swept(3, 1199));
}

#[test]
fn a_sweep_asks_for_its_next_step_only() {
    let theme = Theme::quiet_dark();
    for (sweeps, step) in [(1, 80), (5, 160), (20, 240)] {
        let look = look(&theme, 1000);
        let mut next = NextDeadline::default();
        let cx = EntryCx { look: &look, width: 100, open: false };
        let row = running(None).row_among(sweeps, &cx, Edge::Bullet, &mut next);
        let left = next.animation.unwrap() - look.now;
        assert_eq!(left.as_millis(), step - 1000 % step, "{sweeps}");
        // So few colours that neighbours share them.
        assert!(row.spans.len() < 24, "{}", row.spans.len());
    }
}

#[test]
fn a_summary_that_is_made_sweeps_in_its_own_colour() {
    let theme = Theme::quiet_dark();
    let band = Band { state: State::Summing, ..running(None) };
    let cells = grounds(&drawn(&band, &look(&theme, 1120), 100).0, 100);
    let brightest = cells.iter().filter_map(|cell| Rgb::of(*cell)).max_by_key(|rgb| rgb.0).unwrap();
    assert_eq!(brightest.to_string(), "#5f5163");
}

#[test]
fn a_flash_is_over_after_800_ms_and_asks_for_nothing_then() {
    let theme = Theme::quiet_dark();
    let table = [
        (State::Ok, "#4b5b44", "#2e382d"),
        (State::Failed, "#684442", "#3e2d2d"),
        (State::TimedOut, "#735e36", "#3f382c"),
        (State::Stopped, "#484747", "#2b2b2d"),
    ];
    for (state, first, last) in table {
        let at = |age: u64| drawn(&over(state, Some(*EPOCH)), &look(&theme, age), 40);
        let ground = |row: &Row| hex(row.ground.unwrap().1);
        assert_eq!(ground(&at(0).0), first, "{state:?}");
        assert!(at(0).1.animation.is_some_and(|next| next <= *EPOCH + GRID));
        assert_ne!(ground(&at(700).0), last);
        assert!(at(799).1.animation.is_some());
        assert_eq!(ground(&at(800).0), last);
        assert_eq!((at(800).1, at(5000).1), (NextDeadline::default(), NextDeadline::default()));
        // One that was read from a log never stood out.
        let history = over(state, None);
        assert_eq!(
            (ground(&drawn(&history, &look(&theme, 0), 40).0), history.is_moving()),
            (last.to_owned(), false)
        );
        assert_eq!(drawn(&history, &look(&theme, 0), 40).1, NextDeadline::default());
    }
    assert_eq!(FLASH.as_millis(), 800);
}

fn moving() -> Vec<Band> {
    let since = *EPOCH;
    let wait = Motion::Wait { since, lasts: seconds(30) };
    vec![
        running(None),
        running(Some(seconds(30))),
        Band { bullet: Bullet::Breath, ..running(None) },
        Band { bullet: Bullet::Orbit, state: State::Summing, ..running(None) },
        Band {
            bullet: Bullet::Pen { grew: Some(since) },
            rail: Rail::writing(Some(since), 1204),
            ..over(State::Writing, None)
        },
        Band {
            motion: wait,
            rail: Says::Waiting { until: since + seconds(30), is_about: false }.into(),
            ..running(None)
        },
        over(State::Ok, Some(since)),
    ]
}

#[test]
fn without_motion_only_times_change() {
    for theme in [Theme::quiet_dark(), Theme::quiet_light(), Theme::terminal()] {
        for band in moving() {
            let frame = |clock| drawn(&band, &Look { motion: false, ..look(&theme, clock) }, 80);
            // Within a second not even the time does.
            assert_eq!(frame(2_200).0, frame(2_700).0, "{band:?}");
            assert_eq!(frame(2_200).1.animation, None, "{band:?}");
            // From second to second a fill moves with it, and nothing else.
            if !matches!(band.motion, Motion::Fill { .. } | Motion::Wait { .. }) {
                assert_eq!(grounds(&frame(2_700).0, 80), grounds(&frame(3_200).0, 80), "{band:?}");
            }
        }
    }
    let theme = Theme::quiet_dark();
    let still = Look { motion: false, ..look(&theme, 900) };
    assert_eq!(hex(drawn(&running(None), &still, 40).0.ground.unwrap().1), "#33393e");
}

#[test]
fn colours_that_nobody_knows_are_left_alone() {
    let theme = Theme::terminal();
    for band in moving() {
        let (row, _) = drawn(&band, &look(&theme, 1000), 80);
        assert_eq!(
            row.ground.map(|(_, ground)| ground),
            Some(band.state.ground(&theme)).filter(|ground| *ground != Color::Reset)
        );
        assert!(row.spans.iter().all(|span| span.style.bg.is_none()), "{band:?}");
    }
}

#[test]
fn what_changes_says_when_and_is_another_row_by_then() {
    let theme = Theme::quiet_dark();
    for band in moving() {
        let mut clock = 2_000;
        for _ in 0..20 {
            let (row, next) = drawn(&band, &look(&theme, clock), 80);
            let Some(at) = [next.animation, next.figure].into_iter().flatten().min() else {
                // Nothing is asked for: then it must stay as it is.
                assert_eq!(row, drawn(&band, &look(&theme, clock + 60_000), 80).0, "{band:?}");
                break;
            };
            let at = u64::try_from((at - *EPOCH).as_millis()).unwrap();
            assert!(at > clock, "{band:?}");
            // Just before it the row is the same but for what lags less than a step of the grid.
            if band.motion == Motion::Sweep {
                assert_eq!(
                    grounds(&row, 80),
                    grounds(&drawn(&band, &look(&theme, at - 1), 80).0, 80),
                    "{band:?} {clock}"
                );
            }
            clock = at;
        }
    }
}

/// Every role on every ground that a band can have, in every theme whose colours are known.
#[test]
fn text_is_told_from_every_cell_under_it() {
    let roles: Vec<Seg> = Role::ALL
        .iter()
        .filter(|role| matches!(role.weight(), Weight::Primary | Weight::Secondary))
        .map(|role| Seg::new(*role, "x".repeat(3)))
        .collect();
    for theme in [Theme::quiet_dark(), Theme::quiet_light(), Theme::contrast_dark(), Theme::contrast_light()]
    {
        for clock in [0, 880, 15_000, 21_600, 29_000] {
            let look = look(&theme, clock);
            for band in moving() {
                let cx = EntryCx { look: &look, width: 160, open: false };
                let grounds = Grounds::of(band.state, band.motion, &cx, 1, &mut NextDeadline::default());
                for seg in &roles {
                    let words = Seg::new(seg.role, "x".repeat(160));
                    let floor = if seg.role.weight() == Weight::Primary { 4.5 } else { 3.0 };
                    for span in line::paint(&[words], 0, &grounds, &theme) {
                        let ground = span.style.bg.unwrap_or(grounds.at(0));
                        let (fg, bg) = (Rgb::of(span.style.fg.unwrap()).unwrap(), Rgb::of(ground).unwrap());
                        let ratio = contrast::ratio(fg, bg);
                        assert!(ratio >= floor - 0.01, "{} {:?} on {bg}: {ratio}", theme.name(), seg.role);
                    }
                }
            }
        }
    }
}

fn rail_text(band: &Band, clock: u64, width: u16) -> String {
    let theme = Theme::quiet_dark();
    let (row, _) = drawn(band, &look(&theme, clock), width);
    let end = usize::from(row.text_end.unwrap());
    row.drawn().chars().skip(end).collect::<String>().trim().to_owned()
}

#[test]
fn rails_tell_how_it_goes_and_less_where_there_is_little_room() {
    let lead = || vec![Seg::new(Role::Muted, "2 of 3")];
    let limited =
        Band { rail: Rail::running(*EPOCH, Some(seconds(30))).led_by(lead()), ..running(Some(seconds(30))) };
    let long = Band { title: title(&"t".repeat(35)), ..limited.clone() };
    let waits = |lead: &str, lasts: u64, is_about| Band {
        rail: Rail::from(Says::Waiting { until: *EPOCH + seconds(lasts), is_about })
            .led_by(vec![Seg::new(Role::Muted, lead)]),
        ..running(None)
    };
    let writes = Band { rail: Rail::writing(Some(*EPOCH), 1204), ..over(State::Writing, None) };
    let table = [
        (&limited, 3_100, 100, "2 of 3   3.1s / 30s"),
        (&limited, 24_000, 100, "2 of 3   24.0s / 30s · 6s left"),
        (&limited, 29_900, 100, "2 of 3   29.9s / 30s · 1s left"),
        (&limited, 31_000, 100, "2 of 3   31.0s / 30s"),
        // Narrow windows: as long as it costs nothing of the title.
        (&limited, 24_000, 59, "2 of 3   24.0s / 30s · 6s left"),
        (&long, 24_000, 59, "2 of 3   24.0s"),
        (&limited, 24_000, 24, "24.0s"),
        (&waits("2 of 3", 30, false), 12_000, 80, "2 of 3   18s left"),
        (&waits("3 of 10", 230, true), 0, 80, "3 of 10   ~4m left"),
        (&waits("3 of 10", 40, true), 0, 80, "3 of 10   ~40s left"),
        (&waits("check 4", 12, false), 0, 80, "check 4   12s left"),
        (&waits("check 4", 12, false), 0, 22, "12s left"),
        (&writes, 6_200, 80, "writing   1,204 chars   6.2s"),
        (&writes, 6_200, 50, "writing 1.2k  6.2s"),
        (&writes, 6_200, 18, "writing 6.2s"),
    ];
    for (band, clock, width, expected) in table {
        assert_eq!(rail_text(band, clock, width), expected, "{width}");
    }
}

#[test]
fn facts_go_before_the_lead_and_after_the_limit() {
    let limit = Some(seconds(30));
    let band = Band {
        title: title(&"t".repeat(14)),
        facts: vec![Seg::new(Role::Muted, " · 3 edits")],
        rail: Rail::running(*EPOCH, limit).led_by(vec![Seg::new(Role::Muted, "2 of 3")]),
        ..running(limit)
    };
    let theme = Theme::quiet_dark();
    let has = |width| {
        let row = drawn(&band, &look(&theme, 1000), width).0.drawn();
        [" / 30s", "3 edits", "2 of 3", "1.0s"].map(|part| row.contains(part))
    };
    assert_eq!(has(80), [true, true, true, true]);
    assert_eq!(has(59), [true, true, true, true]);
    assert_eq!(has(46), [false, true, true, true]);
    assert_eq!(has(38), [false, false, true, true]);
    assert_eq!(has(28), [false, false, false, true]);
}

#[test]
fn the_mark_tells_the_kind_of_call() {
    let limit = Some(seconds(10));
    let kind = |tool, limit| Bullet::running(tool, *EPOCH, limit);
    let clock = Bullet::Clock { since: *EPOCH, limit: seconds(10) };
    let table = [
        ("bash", limit, clock),
        ("mcp__box__shell", limit, clock),
        ("bash", None, Bullet::Still),
        ("read", limit, Bullet::Still),
        ("subagent", None, Bullet::Orbit),
        ("team.message", None, Bullet::Orbit),
        ("web.fetch", None, Bullet::Breath),
        ("mcp__kagi__search", None, Bullet::Breath),
        ("research", None, Bullet::Still),
    ];
    for (tool, limit, expected) in table {
        assert_eq!(kind(tool, limit), expected, "{tool}");
    }
    let theme = Theme::quiet_dark();
    let mark = |bullet, clock| {
        let band = Band { bullet, ..running(None) };
        drawn(&band, &look(&theme, clock), 40).0.drawn().chars().next().unwrap()
    };
    let faces: String = [0, 2_000, 4_000, 6_000, 8_000].into_iter().map(|at| mark(clock, at)).collect();
    assert_eq!(faces, "○◔◑◕●");
    assert_eq!((mark(Bullet::Orbit, 0), mark(Bullet::Orbit, 150)), ('⠁', '⠈'));
    // Held arguments: four times slower.
    let pen = |grew: u64, at| mark(Bullet::Pen { grew: Some(*EPOCH + Duration::from_millis(grew)) }, at);
    assert_eq!((pen(1000, 1070), pen(0, 1070)), ('⠄', '⠁'));
}

#[test]
fn in_a_popup_it_has_no_mark() {
    let theme = Theme::quiet_dark();
    let look = look(&theme, 1120);
    let cx = EntryCx { look: &look, width: 60, open: false };
    for (columns, begins) in [(0, "$ cargo"), (1, " $ cargo")] {
        let row = running(None).row(&cx, Edge::Blank(columns), &mut NextDeadline::default());
        assert!(row.drawn().starts_with(begins));
        assert_eq!(row.width(), 60);
    }
}

fn any_band() -> impl Strategy<Value = Band> {
    let words = "[a-z /é日👩‍🚀]{0,40}";
    (words, "[a-z ·]{0,12}", "[a-z0-9 ]{0,8}", 0_usize..7, 0_u64..100_000).prop_map(
        |(text, facts, lead, which, chars)| {
            let band = moving().swap_remove(which);
            let mut rail = band.rail.clone().led_by(if lead.is_empty() {
                Vec::new()
            } else {
                vec![Seg::new(Role::Muted, lead)]
            });
            if let Says::Writing { chars: size, .. } = &mut rail.says {
                *size = usize::try_from(chars).unwrap();
            }
            Band { title: title(&text), facts: vec![Seg::new(Role::Muted, facts)], rail, ..band }
        },
    )
}

proptest! {
    #[test]
    fn no_row_is_too_wide_and_the_rail_is_whole(band in any_band(), width in 1_u16..=300, clock in 0_u64..40_000, motion: bool) {
        let theme = Theme::quiet_dark();
        let look = Look { motion, ..look(&theme, clock) };
        let cx = EntryCx { look: &look, width, open: false };
        let (row, _) = drawn(&band, &look, width);
        prop_assert!(row.width() <= usize::from(width), "{} > {width}", row.width());
        let forms = band.rail.forms(&cx, &mut NextDeadline::default());
        let text = |form: &rail::Form| form.segs.iter().map(|seg| seg.text.as_str()).collect::<String>();
        let least = text(forms.last().unwrap());
        if usize::from(width) > usize::from(cx.margin()) + width::of(&least) {
            let is_whole = forms.iter().any(|form| row.drawn().contains(&text(form)));
            prop_assert!(is_whole, "{least:?} in {:?}", row.drawn());
        }
        // One column is free behind it.
        if width > 12 && !least.is_empty() && row.width() == usize::from(width) {
            prop_assert!(row.drawn().ends_with(' '));
        }
    }
}

#[test]
fn all_that_moves() {
    for (name, theme) in [
        ("moving", Theme::quiet_dark()),
        ("moving_light", Theme::quiet_light()),
        ("moving_terminal", Theme::terminal()),
    ] {
        for width in [60, 100, 160] {
            let mut bands = moving();
            bands.push(Band {
                motion: Motion::Fill { since: *EPOCH - seconds(26), limit: seconds(30) },
                rail: Rail::running(*EPOCH - seconds(26), Some(seconds(30))),
                ..running(None)
            });
            let rows = u16::try_from(bands.len()).unwrap();
            let mut buffer = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, width, rows));
            for (y, band) in (0..rows).zip(&bands) {
                let (row, _) = drawn(band, &look(&theme, 400), width);
                crate::ui::paint::row(&mut buffer, ratatui::layout::Rect::new(0, y, width, 1), &row);
            }
            crate::assert_screen!("bands", name, &buffer);
        }
    }
}
