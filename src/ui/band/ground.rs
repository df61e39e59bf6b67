//! What the ground of a band does: it fills toward a limit, is swept where there is none, tells a known progress, and
//! stands out for a moment when something has ended.

use super::state::State;
use crate::theme::role::Role;
use crate::ui::entries::EntryCx;
use crate::ui::look::Look;
use crate::ui::motion;
use crate::ui::scene::NextDeadline;
use ratatui::style::Color;
use std::time::{Duration, Instant};

/// What a ground does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Motion {
    /// Nothing.
    #[default]
    Still,
    /// It fills toward a time limit, and grows warm near it.
    Fill {
        /// When it began.
        since: Instant,
        /// After how long it is stopped.
        limit: Duration,
    },
    /// A light sweeps over it: nobody knows how long this takes.
    Sweep,
    /// It fills evenly over a wait whose end is known.
    Wait {
        /// When the wait began.
        since: Instant,
        /// How long it is.
        lasts: Duration,
    },
    /// This part of it is done, 0 to 1.
    Share(f64),
    /// It has just ended.
    Flash {
        /// When.
        ended: Instant,
    },
}

/// How much of the hue the parts of a fill have.
const UNFILLED: f64 = 0.05;
const FILLED: f64 = 0.31;
const LEADING: f64 = 0.38;
const PULSE: f64 = 0.05;

/// The ground of each column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grounds {
    /// The same everywhere.
    One(Color),
    /// From the left.
    Each(Vec<Color>),
}

impl Grounds {
    /// The ground of a band at this moment; tells `next` when it changes.
    pub fn of(
        state: State,
        motion: Motion,
        cx: &EntryCx<'_>,
        sweeps: usize,
        next: &mut NextDeadline,
    ) -> Self {
        let mix = Mixer { state, look: cx.look, width: cx.width };
        let still = Self::One(state.ground(cx.look.theme));
        // Where nothing can be mixed the state's own ground has to do.
        if !cx.look.theme.is_readable() {
            return still;
        }
        match motion {
            Motion::Still => still,
            Motion::Fill { since, limit } => mix.fill(since, limit, next),
            Motion::Sweep if cx.look.motion => mix.sweep(sweeps, next),
            Motion::Sweep => still,
            Motion::Wait { since, lasts } => mix.wait(since, lasts, next),
            Motion::Share(share) => mix.progress(share),
            Motion::Flash { ended } => mix.flash(ended, next),
        }
    }

    /// The ground of a column.
    pub fn at(&self, column: u16) -> Color {
        match self {
            Self::One(color) => *color,
            Self::Each(colors) => {
                colors.get(usize::from(column)).or(colors.last()).copied().unwrap_or(Color::Reset)
            }
        }
    }

    /// Columns may have grounds of their own.
    pub const fn differ(&self) -> bool {
        matches!(self, Self::Each(_))
    }
}

struct Mixer<'a> {
    state: State,
    look: &'a Look<'a>,
    width: u16,
}

impl Mixer<'_> {
    fn tint(&self, hue: Color, share: f64) -> Color {
        self.look.theme.mix(self.state.base(self.look.theme), hue, share)
    }

    fn hue(&self) -> Color {
        self.look.theme.color(self.state.hue())
    }

    /// A figure of the ground changes at `at`.
    fn changes(&self, at: Option<Instant>, next: &mut NextDeadline) {
        if let Some(at) = at {
            next.animate(motion::on_grid(at, self.look.now, self.look.epoch));
        }
    }

    /// How long something goes on. Without motion whole seconds, so that it moves only together with the time beside it.
    fn elapsed(&self, since: Instant) -> Duration {
        let elapsed = self.look.now.saturating_duration_since(since);
        if self.look.motion { elapsed } else { Duration::from_secs(elapsed.as_secs()) }
    }

    fn fill(&self, since: Instant, limit: Duration, next: &mut NextDeadline) -> Grounds {
        let share = motion::share(self.elapsed(since), limit);
        let edge = motion::edge(share, self.width);
        let theme = self.look.theme;
        let hue = theme.mix(self.hue(), theme.color(Role::Warning), motion::drawn_heat(share));
        let clock = self.look.clock();
        let pulse = if self.look.motion { motion::pulse(motion::floor(clock, motion::GRID)) } else { 0.0 };
        if self.look.motion {
            let after = |share: f64| since.checked_add(limit.mul_f64(share.clamp(0.0, 1.0)));
            if edge < self.width {
                // A hair later, or it would still be exactly on the edge.
                let further = motion::uneased(f64::from(edge) / f64::from(self.width)) + 1e-6;
                self.changes(after(further), next);
            }
            self.changes(motion::hotter_at(share).and_then(after), next);
            let beats = motion::until_another(clock, 13, motion::pulse);
            self.changes(beats.map(|left| self.look.now + left), next);
        }
        let (filled, unfilled) = (self.tint(hue, FILLED), self.tint(self.hue(), UNFILLED));
        let leading = self.tint(hue, LEADING + PULSE * pulse);
        let color = |cell: u16| match (cell + 1).cmp(&edge) {
            std::cmp::Ordering::Less => filled,
            std::cmp::Ordering::Equal => leading,
            std::cmp::Ordering::Greater => unfilled,
        };
        Grounds::Each((0..self.width).map(color).collect())
    }

    fn sweep(&self, sweeps: usize, next: &mut NextDeadline) -> Grounds {
        let step = motion::sweep_step(sweeps);
        // Where it is at the last step of the clock: a frame that is drawn in between for another reason writes nothing.
        let centre = motion::sweep_centre(motion::floor(self.look.clock(), step), self.width);
        next.animate(self.look.next_step(step));
        let hue = self.hue();
        let mut last: Option<(u64, Color)> = None;
        let color = |cell: u16| {
            let tint = motion::drawn_sweep_tint(f64::from(cell) - centre);
            match last {
                Some((bits, color)) if bits == tint.to_bits() => color,
                _ => {
                    let color = self.tint(hue, tint);
                    last = Some((tint.to_bits(), color));
                    color
                }
            }
        };
        Grounds::Each((0..self.width).map(color).collect())
    }

    fn wait(&self, since: Instant, lasts: Duration, next: &mut NextDeadline) -> Grounds {
        let share = motion::share(self.elapsed(since), lasts);
        if self.look.motion && share < 1.0 {
            let parts = f64::from(self.width) * motion::CELL_PARTS;
            let further = ((share * parts).floor() + 1.0 + 1e-6) / parts;
            self.changes(since.checked_add(lasts.mul_f64(further.min(1.0))), next);
        }
        self.progress(share)
    }

    fn progress(&self, share: f64) -> Grounds {
        let (whole, part) = motion::progress(share, self.width);
        let hue = self.hue();
        let (filled, unfilled) = (self.tint(hue, FILLED), self.tint(hue, UNFILLED));
        let crossing = self.look.theme.mix(unfilled, self.tint(hue, LEADING), part);
        let color = |cell: u16| match cell.cmp(&whole) {
            std::cmp::Ordering::Less => filled,
            std::cmp::Ordering::Equal => crossing,
            std::cmp::Ordering::Greater => unfilled,
        };
        Grounds::Each((0..self.width).map(color).collect())
    }

    fn flash(&self, ended: Instant, next: &mut NextDeadline) -> Grounds {
        let ground = self.state.ground(self.look.theme);
        match flash(ended, self.look, next) {
            Some(share) => Grounds::One(self.look.theme.mix(ground, self.hue(), share)),
            None => Grounds::One(ground),
        }
    }
}

/// How much of its colour something has that has just ended; tells `next` when it is less. Nothing once that is over, and
/// where nothing moves or can be mixed.
pub fn flash(ended: Instant, look: &Look<'_>, next: &mut NextDeadline) -> Option<f64> {
    let age = look.now.saturating_duration_since(ended);
    if !look.motion || !look.theme.is_readable() || age >= motion::FLASH {
        return None;
    }
    let less = ended.checked_add(motion::floor(age, motion::GRID) + motion::GRID)?;
    next.animate(motion::on_grid(less, look.now, look.epoch));
    Some(motion::drawn_flash(age))
}
