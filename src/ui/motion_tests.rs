use super::*;
use proptest::prelude::*;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Within half of a percent.
fn percent(value: f64) -> f64 {
    (value * 100.0).round()
}

#[test]
fn a_fill_eases_as_the_specification_says() {
    let table = [
        (1.0 / 60.0, 12.0),
        (0.05, 27.0),
        (0.10, 40.0),
        (0.25, 62.0),
        (0.5, 81.0),
        (0.75, 92.0),
        (0.9, 97.0),
    ];
    for (share, expected) in table {
        assert!((percent(ease(share)) - expected).abs() < 0.5, "{share}: {}", ease(share));
        assert!((uneased(ease(share)) - share).abs() < 1e-9);
    }
    assert!((ease(1.0) - 1.0).abs() < 1e-9);
}

#[test]
fn the_edge_after_5_and_30_seconds_of_300() {
    let limit = Duration::from_secs(300);
    for (seconds, cells) in [(0, 1), (5, 119), (30, 404), (300, 1000), (400, 1000)] {
        assert_eq!(edge(share(Duration::from_secs(seconds), limit), 1000), cells, "{seconds}");
    }
    assert_eq!(edge(0.5, 0), 1);
}

#[test]
fn heat_is_by_the_real_share() {
    let table = [(0.0, 0.0), (0.5, 0.0), (0.7, 0.5), (0.9, 1.0), (1.0, 1.0)];
    for (share, expected) in table {
        assert!((heat(share) - expected).abs() < 1e-9, "{share}");
        assert!((drawn_heat(share) - expected).abs() < 1e-9, "{share}");
    }
    assert_eq!(hotter_at(0.9), None);
    assert!((hotter_at(0.2).unwrap() - 0.525).abs() < 1e-9);
}

#[test]
fn a_sweep_passes_in_2200_ms_whatever_the_width() {
    for width in [1_u16, 60, 200] {
        assert!((sweep_centre(millis(0), width) + 15.0).abs() < 1e-9);
        let middle = sweep_centre(millis(1100), width);
        assert!((middle - f64::from(width) / 2.0).abs() < 1e-9, "{width}: {middle}");
        assert!((sweep_centre(millis(2200), width) + 15.0).abs() < 1e-9);
    }
    for (distance, tint) in [(0.0, 0.34), (12.0, 0.06), (-12.0, 0.06), (100.0, 0.06)] {
        assert!((sweep_tint(distance) - tint).abs() < 1e-9, "{distance}");
        assert!((drawn_sweep_tint(distance) - tint).abs() < 1e-9, "{distance}");
    }
    assert!((sweep_tint(6.0) - (0.06 + 0.28 * 0.5_f64.powf(1.4))).abs() < 1e-9);
}

#[test]
fn a_flash_falls_to_nothing_in_800_ms() {
    for (age, left) in [(0, 0.30), (400, 0.15), (800, 0.0), (5000, 0.0)] {
        assert!((flash(millis(age)) - left).abs() < 1e-9, "{age}");
        assert!((drawn_flash(millis(age)) - left).abs() < 1e-9, "{age}");
    }
}

#[test]
fn progress_moves_within_a_cell() {
    assert_eq!(progress(0.5, 100), (50, 0.0));
    assert_eq!(progress(0.505, 100), (50, 0.5));
    assert_eq!(progress(1.0, 100), (100, 0.0));
    assert_eq!(progress(7.0, 100), (100, 0.0));
}

#[test]
fn marks_turn_by_the_clock() {
    assert_eq!((pen(millis(0), false), pen(millis(69), false), pen(millis(70), false)), ("⡀", "⡀", "⠄"));
    assert_eq!((pen(millis(279), true), pen(millis(280), true)), ("⡀", "⠄"));
    assert_eq!(pen(millis(14 * 70), false), "⡀");
    assert_eq!((orbit(millis(149)), orbit(millis(150)), orbit(millis(1200))), ("⠁", "⠈", "⠁"));
    let faces: Vec<&str> = [0.0, 0.19, 0.2, 0.4, 0.6, 0.8, 1.0].into_iter().map(clock_face).collect();
    assert_eq!(faces, ["○", "○", "◔", "◑", "◕", "●", "●"]);
    assert_eq!((pulse(millis(0)), pulse(millis(500))), (0.0, 1.0));
    for period in [BULLET_BREATH, STEP_BREATH] {
        let breaths = [0, 1, 2, 3, 4].map(|quarter| breath(period * quarter / 4, period));
        assert_eq!(breaths, [0.0, 0.5, 1.0, 0.5, 0.0]);
    }
}

#[test]
fn many_sweeps_take_larger_steps() {
    assert_eq!(sweep_step(1), GRID);
    assert!(sweep_step(3) > sweep_step(2));
    assert!(sweep_step(20) > sweep_step(8));
    // Whatever the step, it lies on the grid of all.
    assert!((0..30).all(|count| sweep_step(count).as_millis().is_multiple_of(GRID.as_millis())));
}

proptest! {
    /// A deadline is never now, never before what it waits for, and on the grid.
    #[test]
    fn deadlines_lie_ahead(now in 0_u64..1_000_000, at in 0_u64..1_000_000) {
        let epoch = Instant::now();
        let (now, at) = (epoch + Duration::from_micros(now), epoch + Duration::from_micros(at));
        let next = on_grid(at, now, epoch);
        prop_assert!(next > now && next >= at);
        prop_assert_eq!((next - epoch).as_nanos() % GRID.as_nanos(), 0);
        prop_assert!(next <= at.max(now) + GRID);
    }
}
