//! How something goes and how long it takes, at the right end of its row.
//!
//! A rail has several forms, the longest first: where there is little room the limit goes first, then the facts of the
//! band, then what leads the rail. The time stays.

use super::COMPACT_BELOW;
use super::seg::Seg;
use super::state::State;
use crate::text::formats;
use crate::theme::role::Role;
use crate::ui::entries::EntryCx;
use crate::ui::motion;
use crate::ui::scene::NextDeadline;
use std::time::{Duration, Instant};

/// Between the parts of a rail that tell different things.
pub const WIDE_GAP: &str = "   ";

/// The part of its limit from which on a call tells what is left: there a fill hardly moves any more.
const NEAR_ITS_END: f64 = 0.8;

/// A rail before it is drawn.
#[derive(Clone, Debug, Default)]
pub struct Rail {
    /// What comes first where there is room: `2 of 3`.
    pub lead: Vec<Seg>,
    /// How it goes.
    pub says: Says,
}

/// How something goes.
#[derive(Clone, Debug)]
pub enum Says {
    /// It does not change.
    Words(Vec<Seg>),
    /// It runs.
    Running {
        /// Since when.
        since: Instant,
        /// After how long it is stopped.
        limit: Option<Duration>,
    },
    /// It is being written.
    Writing {
        /// Since when; unknown of one that was read from a log.
        since: Option<Instant>,
        /// How many characters there are.
        chars: usize,
    },
    /// It waits for an end that is known.
    Waiting {
        /// When that is.
        until: Instant,
        /// It is only estimated.
        is_about: bool,
    },
}

impl Default for Says {
    fn default() -> Self {
        Self::Words(Vec::new())
    }
}

impl From<Vec<Seg>> for Rail {
    fn from(words: Vec<Seg>) -> Self {
        Self { lead: Vec::new(), says: Says::Words(words) }
    }
}

/// One form of a rail.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub segs: Vec<Seg>,
    pub has_lead: bool,
    /// It may not cost a character of the title: narrow windows have a limit in the rail only where there is room.
    pub is_extra: bool,
}

impl Rail {
    /// The rail of something that runs.
    pub fn running(since: Instant, limit: Option<Duration>) -> Self {
        Says::Running { since, limit }.into()
    }

    /// The rail of something that is being written.
    pub fn writing(since: Option<Instant>, chars: usize) -> Self {
        Says::Writing { since, chars }.into()
    }

    /// The same with something in front.
    #[must_use]
    pub fn led_by(self, lead: impl IntoIterator<Item = Seg>) -> Self {
        Self { lead: lead.into_iter().collect(), ..self }
    }

    /// Whether it changes by itself.
    pub const fn is_moving(&self) -> bool {
        match &self.says {
            Says::Words(_) | Says::Writing { since: None, .. } => false,
            Says::Running { .. } | Says::Writing { since: Some(_), .. } | Says::Waiting { .. } => true,
        }
    }

    /// Its forms at this moment, the longest first; tells `next` when they are wrong.
    pub(super) fn forms(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Vec<Form> {
        let says = self.says.forms(cx, next);
        let mut forms = Vec::with_capacity(says.len() + 1);
        let has_extra = cx.width < COMPACT_BELOW && matches!(self.says, Says::Running { .. });
        let shortest = says.len().saturating_sub(1);
        let last = says.last().cloned().unwrap_or_default();
        if self.lead.is_empty() {
            forms.extend(says.into_iter().enumerate().map(|(at, segs)| {
                let is_extra = has_extra && at < shortest;
                Form { segs, has_lead: false, is_extra }
            }));
            return forms;
        }
        for (at, segs) in says.into_iter().enumerate() {
            let mut led = self.lead.clone();
            if !segs.is_empty() {
                led.push(Seg::new(Role::Muted, WIDE_GAP));
            }
            led.extend(segs);
            forms.push(Form { segs: led, has_lead: true, is_extra: has_extra && at < shortest });
        }
        if !last.is_empty() {
            forms.push(Form { segs: last, has_lead: false, is_extra: false });
        }
        forms
    }
}

impl From<Says> for Rail {
    fn from(says: Says) -> Self {
        Self { lead: Vec::new(), says }
    }
}

impl Says {
    fn forms(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Vec<Vec<Seg>> {
        let is_compact = cx.width < COMPACT_BELOW;
        let now = cx.look.now;
        match self {
            Self::Words(words) => vec![words.clone()],
            Self::Running { since, limit } => {
                let time = Seg::new(Role::Text, live_time(*since, cx, next));
                let mut forms = vec![vec![time.clone()]];
                let Some(limit) = limit else { return forms };
                let with_limit = vec![time, Seg::new(Role::Dim, format!(" / {}", formats::limit(*limit)))];
                let left = until_near(*since, *limit, cx, next);
                let with_left = left.map(|left| {
                    let mut segs = with_limit.clone();
                    segs.push(Seg::new(Role::Dim, " · "));
                    segs.push(Seg::new(Role::Warning, format!("{} left", formats::limit(left))));
                    segs
                });
                forms.insert(0, with_limit);
                forms.splice(0..0, with_left);
                forms
            }
            Self::Writing { since, chars } => {
                let time = since.map(|since| Seg::new(Role::Text, live_time(since, cx, next)));
                let word = Seg::new(Role::Dim, "writing");
                let gap = |gap: &str| Seg::new(Role::Muted, gap);
                let size = |size: String| Seg::new(Role::Muted, size);
                let chars = *chars as u64;
                let joined = |parts: Vec<Option<Seg>>, with: &str| {
                    let mut segs: Vec<Seg> = Vec::new();
                    for part in parts.into_iter().flatten() {
                        if !segs.is_empty() {
                            segs.push(gap(with));
                        }
                        segs.push(part);
                    }
                    segs
                };
                let has_come = chars > 0;
                let long = has_come.then(|| size(formats::counted(chars, "char")));
                let short = has_come.then(|| size(formats::tokens(chars)));
                let told = joined(vec![Some(word.clone()), long, time.clone()], WIDE_GAP);
                let mut shorter = joined(vec![Some(word.clone()), short], " ");
                shorter.extend(time.iter().flat_map(|time| [gap("  "), time.clone()]));
                let shortest = joined(vec![Some(word), time], " ");
                if is_compact { vec![shorter, shortest] } else { vec![told, shorter, shortest] }
            }
            Self::Waiting { until, is_about } => {
                let left = until.saturating_duration_since(now);
                vec![vec![Seg::new(Role::Text, time_left(*until, left, *is_about, now, cx, next))]]
            }
        }
    }
}

/// What is left of a limit that is near; tells when it comes near, and when the figure is wrong.
fn until_near(
    since: Instant,
    limit: Duration,
    cx: &EntryCx<'_>,
    next: &mut NextDeadline,
) -> Option<Duration> {
    let near = since.checked_add(limit.mul_f64(NEAR_ITS_END))?;
    let end = since.checked_add(limit)?;
    if cx.look.now < near {
        next.expire(motion::on_grid(near, cx.look.now, cx.look.epoch));
        return None;
    }
    let left = end.saturating_duration_since(cx.look.now);
    if left.is_zero() {
        // It is being stopped: nothing is left to tell.
        return None;
    }
    less(end, left, cx, next);
    Some(left)
}

/// The figure of a time left is wrong a moment after the next whole second of it.
fn less(end: Instant, left: Duration, cx: &EntryCx<'_>, next: &mut NextDeadline) {
    let whole =
        Duration::from_secs(left.as_secs() - u64::from(left.subsec_nanos() == 0 && left.as_secs() > 0));
    if let Some(at) = end.checked_sub(whole) {
        next.expire(motion::on_grid(at, cx.look.now, cx.look.epoch));
    }
}

/// `18s left`, `~4m left`.
fn time_left(
    until: Instant,
    left: Duration,
    is_about: bool,
    now: Instant,
    cx: &EntryCx<'_>,
    next: &mut NextDeadline,
) -> String {
    if until > now {
        less(until, left, cx, next);
    }
    if !is_about {
        return format!("{} left", formats::limit(left));
    }
    // An estimate to the second would say more than anybody knows.
    let minute = Duration::from_secs(60);
    if left <= minute {
        return format!("~{} left", formats::limit(left));
    }
    format!("~{} left", formats::coarse(left + Duration::from_secs(59)))
}

/// The rail of something that is over: its mark, words where it did not go well, the time.
pub fn ended(
    state: State,
    word: impl IntoIterator<Item = Seg>,
    took: Option<Duration>,
    cx: &EntryCx<'_>,
) -> Vec<Seg> {
    let glyph = state.glyph().filter(|_| cx.look.glyphs);
    let mut rail: Vec<Seg> = Vec::new();
    let mut word = word.into_iter().peekable();
    if let Some(glyph) = glyph {
        rail.push(Seg::new(state.role(), glyph));
    }
    if word.peek().is_some() && glyph.is_some() {
        rail.push(Seg::new(Role::Muted, " "));
    }
    rail.extend(word);
    if let Some(took) = took {
        if !rail.is_empty() {
            rail.push(Seg::new(Role::Muted, "  "));
        }
        rail.push(time(took));
    }
    rail
}

/// How long something took: warm when that was long.
pub fn time(took: Duration) -> Seg {
    let role = if took >= formats::SLOW { Role::MdHeading } else { Role::Muted };
    Seg::new(role, formats::took(took))
}

/// How long something has been going on, and when that is wrong. Without motion it changes once a second. It steps on the
/// grid of all motion: twenty times that tick by themselves would be two hundred frames a second.
pub fn live_time(since: Instant, cx: &EntryCx<'_>, next: &mut NextDeadline) -> String {
    let elapsed = cx.look.now.saturating_duration_since(since);
    let step = match elapsed.as_secs() {
        0..60 if cx.look.motion => Duration::from_millis(100),
        0..3600 => Duration::from_secs(1),
        3600.. => Duration::from_secs(60),
    };
    let begun = motion::floor(elapsed, step);
    if let Some(at) = since.checked_add(begun).and_then(|at| at.checked_add(step)) {
        next.expire(motion::on_grid(at, cx.look.now, cx.look.epoch));
    }
    formats::running(begun)
}
