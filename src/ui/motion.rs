//! What moves, as pure functions of the shared clock and of how far something is.
//!
//! Nothing here keeps a state: two rows that show the same thing at the same time show the same picture, and a frame that
//! is drawn late shows where things are by then. Everything steps on [`GRID`], so that many moving rows cost one frame.

use std::time::{Duration, Instant};

/// The step that all motion shares.
pub const GRID: Duration = Duration::from_millis(80);

/// How long the ground of a call that has just ended stands out.
pub const FLASH: Duration = Duration::from_millis(800);

/// One pass of a sweep, however wide the row is.
pub const SWEEP: Duration = Duration::from_millis(2200);

/// How much of the status colour a flash begins with.
const FLASH_PEAK: f64 = 0.30;

/// Columns beyond both ends of a row through which a sweep comes and goes.
const SWEEP_OUTSIDE: f64 = 15.0;

/// Columns from the middle of a sweep to where nothing is seen of it.
const SWEEP_REACH: f64 = 12.0;

/// Tints between the floor and the peak of a sweep: neighbours that share one cost no colour of their own.
const SWEEP_LEVELS: f64 = 6.0;

/// Steps from the cool to the hot colour: each repaints the whole fill.
const HEAT_LEVELS: f64 = 16.0;

/// Brightnesses of the leading cell.
const PULSE_LEVELS: f64 = 3.0;

/// One breath of a bullet.
pub const BULLET_BREATH: Duration = Duration::from_millis(1600);

/// One breath of the number of a step that runs.
pub const STEP_BREATH: Duration = Duration::from_millis(1200);

/// Tints of a breath.
const BREATH_LEVELS: f64 = 8.0;

/// Parts of a cell that a slow progress can be told apart by.
pub const CELL_PARTS: f64 = 8.0;

const PEN: [&str; 14] = ["⡀", "⠄", "⠂", "⠁", "⠂", "⠄", "⡀", "⢀", "⠠", "⠐", "⠈", "⠐", "⠠", "⢀"];
const ORBIT: [&str; 8] = ["⠁", "⠈", "⠐", "⠠", "⢀", "⡀", "⠄", "⠂"];
const CLOCK: [&str; 5] = ["○", "◔", "◑", "◕", "●"];

/// Time of a frame of the pen.
pub const PEN_STEP: Duration = Duration::from_millis(70);

/// Time of a frame of the orbit.
pub const ORBIT_STEP: Duration = Duration::from_millis(150);

/// Arguments that have not grown for so long are held back.
pub const HELD: Duration = Duration::from_millis(400);

/// How much slower the pen moves over arguments that are held back.
const HELD_SLOWER: u32 = 4;

/// The part of a duration that is over, 0 to 1.
pub fn share(elapsed: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 1.0 } else { (elapsed.as_secs_f64() / whole.as_secs_f64()).min(1.0) }
}

/// How full a fill is drawn: much of it early, so that a call with a generous limit is seen to move.
pub fn ease(share: f64) -> f64 {
    (30.0 * share).ln_1p() / 31_f64.ln()
}

/// The share at which a fill is drawn so full.
pub fn uneased(eased: f64) -> f64 {
    (31_f64.powf(eased) - 1.0) / 30.0
}

/// The leading cell of a fill, counted from 1.
pub fn edge(share: f64, width: u16) -> u16 {
    whole_cells((ease(share) * f64::from(width)).ceil()).clamp(1, width.max(1))
}

/// Between the cool and the hot colour, by the real share: half of the time is cool, the last tenth is hot.
pub fn heat(share: f64) -> f64 {
    ((share - 0.5) / 0.4).clamp(0.0, 1.0)
}

/// The heat that is drawn.
pub fn drawn_heat(share: f64) -> f64 {
    // A hair more than exact, or 0.9 would fall below the last step.
    (heat(share) * HEAT_LEVELS + 1e-9).floor() / HEAT_LEVELS
}

/// The share from which on the drawn heat is a step higher; nothing once it is hot.
pub fn hotter_at(share: f64) -> Option<f64> {
    let level = (heat(share) * HEAT_LEVELS + 1e-9).floor();
    (level < HEAT_LEVELS).then_some(0.5 + (level + 1.0) / HEAT_LEVELS * 0.4)
}

/// A sine of so long a period, from 0 to 1 and back.
fn wave(clock: Duration, period: Duration) -> f64 {
    let turns = clock.as_secs_f64() / period.as_secs_f64();
    (1.0 - (turns * std::f64::consts::TAU).cos()) / 2.0
}

/// How bright the leading cell is: few levels, so that it costs few writes.
pub fn pulse(clock: Duration) -> f64 {
    (wave(clock, Duration::from_secs(1)) * PULSE_LEVELS).round() / PULSE_LEVELS
}

/// A breath of so long, from 0 to 1 and back, in few levels.
pub fn breath(clock: Duration, period: Duration) -> f64 {
    (wave(clock, period) * BREATH_LEVELS).round() / BREATH_LEVELS
}

/// The middle of the light that sweeps over a row, in columns.
pub fn sweep_centre(clock: Duration, width: u16) -> f64 {
    let millis = clock.as_millis() % SWEEP.as_millis();
    let done = f64::from(u32::try_from(millis).unwrap_or(0)) / SWEEP.as_secs_f64() / 1000.0;
    done * (f64::from(width) + 2.0 * SWEEP_OUTSIDE) - SWEEP_OUTSIDE
}

/// How much of the colour a cell has so far from the middle of a sweep.
pub fn sweep_tint(distance: f64) -> f64 {
    0.06 + 0.28 * sweep_light(distance)
}

/// The tint that is drawn.
pub fn drawn_sweep_tint(distance: f64) -> f64 {
    0.06 + 0.28 * (sweep_light(distance) * SWEEP_LEVELS).round() / SWEEP_LEVELS
}

fn sweep_light(distance: f64) -> f64 {
    (1.0 - distance.abs() / SWEEP_REACH).max(0.0).powf(1.4)
}

/// The step of a sweep where so many are in view: each costs some hundred bytes a step, and where many rows move nobody
/// follows a single one.
pub const fn sweep_step(in_view: usize) -> Duration {
    match in_view {
        0..=2 => GRID,
        3..=8 => Duration::from_millis(160),
        _ => Duration::from_millis(240),
    }
}

/// How much of the status colour is left so long after the end.
pub fn flash(age: Duration) -> f64 {
    FLASH_PEAK * (1.0 - share(age, FLASH))
}

/// The flash that is drawn: it steps on the grid.
pub fn drawn_flash(age: Duration) -> f64 {
    flash(floor(age, GRID))
}

/// Whole cells of a progress, and the drawn part of the one it is crossing.
pub fn progress(share: f64, width: u16) -> (u16, f64) {
    let exact = share.clamp(0.0, 1.0) * f64::from(width);
    (whole_cells(exact), (exact.fract() * CELL_PARTS).floor() / CELL_PARTS)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to what fits first")]
fn whole_cells(cells: f64) -> u16 {
    cells.clamp(0.0, f64::from(u16::MAX)) as u16
}

/// The pen of a call that is being written.
pub fn pen(clock: Duration, is_held: bool) -> &'static str {
    frame(&PEN, clock, pen_step(is_held))
}

/// Time of a frame of the pen.
pub fn pen_step(is_held: bool) -> Duration {
    if is_held { PEN_STEP * HELD_SLOWER } else { PEN_STEP }
}

/// The dot of a call that waits for another agent.
pub fn orbit(clock: Duration) -> &'static str {
    frame(&ORBIT, clock, ORBIT_STEP)
}

fn frame(frames: &[&'static str], clock: Duration, step: Duration) -> &'static str {
    let at = clock.as_millis() / step.as_millis().max(1) % frames.len().max(1) as u128;
    usize::try_from(at).ok().and_then(|at| frames.get(at)).copied().unwrap_or(" ")
}

/// The clock face of a time limit, by fifths.
pub fn clock_face(share: f64) -> &'static str {
    let fifth = usize::from(whole_cells(share * 5.0 + 1e-9)).min(CLOCK.len() - 1);
    CLOCK.get(fifth).copied().unwrap_or("●")
}

/// The last multiple of `step` that is not later.
pub fn floor(clock: Duration, step: Duration) -> Duration {
    let over = clock.as_nanos() % step.as_nanos().max(1);
    clock.saturating_sub(Duration::from_nanos(u64::try_from(over).unwrap_or(0)))
}

/// The first step of the shared clock at `at` or later, and later than `now`.
pub fn on_grid(at: Instant, now: Instant, epoch: Instant) -> Instant {
    let clock = at.max(now + Duration::from_nanos(1)).saturating_duration_since(epoch);
    let begun = floor(clock, GRID);
    epoch + if begun == clock { clock } else { begun + GRID }
}

/// How long until a figure that steps on the grid is another one, within so many steps.
pub fn until_another<T: PartialEq>(
    clock: Duration,
    steps: u32,
    of: impl Fn(Duration) -> T,
) -> Option<Duration> {
    let now = of(floor(clock, GRID));
    let begun = floor(clock, GRID);
    let at = (1..=steps).map(|step| begun + GRID * step).find(|at| of(*at) != now)?;
    Some(at.saturating_sub(clock))
}

#[cfg(test)]
#[path = "motion_tests.rs"]
mod tests;
