//! The mark at the left of a band: what kind of call it is, and how far.

use super::ground::Grounds;
use super::state::State;
use crate::text::width;
use crate::theme::role::{Role, Weight};
use crate::transcript::runs::is_one_of;
use crate::ui::entries::EntryCx;
use crate::ui::look::Look;
use crate::ui::motion;
use crate::ui::scene::NextDeadline;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use std::time::{Duration, Instant};

/// What a mark does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bullet {
    /// Nothing: it has the colour of the state.
    #[default]
    Still,
    /// The model writes. `grew`: when the text last became longer, if it has since it began.
    Pen {
        /// When.
        grew: Option<Instant>,
    },
    /// A clock face that fills toward a limit.
    Clock {
        /// When it began.
        since: Instant,
        /// After how long it is stopped.
        limit: Duration,
    },
    /// Another agent works.
    Orbit,
    /// Something is fetched.
    Breath,
}

const SHELLS: [&str; 3] = ["bash", "shell", "shell_job"];
const AGENTS: [&str; 4] = ["subagent", "message", "agent_request", "agent_send"];
const FETCHES: [&str; 6] = ["web_search", "kagi_search", "fetch_content", "fetch", "web_fetch", "search"];

impl Bullet {
    /// The mark of a call of this tool while it runs.
    pub fn running(tool: &str, since: Instant, limit: Option<Duration>) -> Self {
        match limit {
            Some(limit) if is_one_of(tool, &SHELLS) => Self::Clock { since, limit },
            _ if is_one_of(tool, &AGENTS) => Self::Orbit,
            _ if is_one_of(tool, &FETCHES) => Self::Breath,
            _ => Self::Still,
        }
    }

    /// Whether it changes by itself.
    pub fn is_moving(self) -> bool {
        self != Self::Still
    }

    /// The mark and the blank behind it, as far as there is room.
    pub fn spans(
        self,
        state: State,
        cx: &EntryCx<'_>,
        grounds: &Grounds,
        next: &mut NextDeadline,
    ) -> Vec<Span<'static>> {
        let margin = cx.margin();
        if margin == 0 {
            return Vec::new();
        }
        let theme = cx.look.theme;
        let (mark, role, blend) = self.mark(state, cx, next);
        let ground = grounds.at(0);
        let mut style = match blend {
            Some(blend) if theme.is_readable() => {
                let color = theme.mix(theme.color(Role::Dim), theme.color(role), blend);
                Style::new().fg(theme.lift(color, ground, Weight::Secondary))
            }
            _ => theme.style_on(role, ground),
        };
        if !theme.is_readable() {
            style = style.add_modifier(Modifier::BOLD);
        }
        let blank = " ".repeat(usize::from(margin).saturating_sub(width::of(mark)));
        if !grounds.differ() {
            return vec![Span::styled(mark, style), Span::raw(blank)];
        }
        vec![
            Span::styled(mark, style.bg(ground)),
            Span::styled(blank, Style::new().bg(grounds.at(margin.saturating_sub(1)))),
        ]
    }

    /// The sign, its role, and how much of that colour it has if that changes.
    fn mark(
        self,
        state: State,
        cx: &EntryCx<'_>,
        next: &mut NextDeadline,
    ) -> (&'static str, Role, Option<f64>) {
        let look = cx.look;
        let still = ("●", state.role(), None);
        if !look.motion {
            return still;
        }
        let clock = look.clock();
        match self {
            Self::Still => still,
            Self::Pen { grew } => {
                let held_from = grew.and_then(|grew| grew.checked_add(motion::HELD));
                let is_held = held_from.is_none_or(|from| from <= look.now);
                if let Some(from) = held_from.filter(|_| !is_held) {
                    next.animate(from);
                }
                next.animate(look.next_step(motion::pen_step(is_held)));
                (motion::pen(clock, is_held), if is_held { Role::Dim } else { Role::Accent }, None)
            }
            Self::Clock { since, limit } => {
                let share = motion::share(look.now.saturating_duration_since(since), limit);
                let fifth = (1..5_u32).map(|fifth| limit * fifth / 5);
                let further = fifth.filter_map(|at| since.checked_add(at)).find(|at| *at > look.now);
                if let Some(at) = further {
                    next.animate(motion::on_grid(at, look.now, look.epoch));
                }
                (motion::clock_face(share), state.role(), None)
            }
            Self::Orbit => {
                next.animate(look.next_step(motion::ORBIT_STEP));
                (motion::orbit(clock), state.role(), None)
            }
            Self::Breath => ("●", state.role(), Some(breath(motion::BULLET_BREATH, look, next))),
        }
    }
}

/// How far a breath is, in step with all others; tells `next` when it is further.
pub fn breath(period: Duration, look: &Look<'_>, next: &mut NextDeadline) -> f64 {
    let clock = look.clock();
    let of = |clock| motion::breath(clock, period);
    if let Some(left) = motion::until_another(clock, 21, of) {
        next.animate(look.now + left);
    }
    of(motion::floor(clock, motion::GRID))
}
