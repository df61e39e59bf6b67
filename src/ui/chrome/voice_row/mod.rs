//! The row of dictation, in one of the composer's borders: that it listens, for how long, how loud, what became of each
//! chunk, and what a wait is for. What is said is not shown while it is spoken, unless the user asks for it.
//!
//! | file | what it is |
//! |---|---|
//! | `view` | what is known of the recording |
//! | `meter` | loudness and chunks |

mod meter;
mod view;

pub use view::{Ending, VoiceView};

use crate::config::action::Action;
use crate::proto::voice::{VoiceFailure, VoiceWarning, Wait};
use crate::text::{formats, width};
use crate::theme::role::Role;
use crate::ui::look::Look;
use crate::ui::motion;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use std::time::{Duration, Instant};
use view::Stage;

/// One breath of the dot.
const BREATH: Duration = Duration::from_millis(2_400);
/// How far it goes towards dim.
const BREATH_DEPTH: f64 = 0.40;
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPINNER_STEP: Duration = Duration::from_millis(80);
/// A shorter wait after the end needs no word.
const PATIENCE: Duration = Duration::from_millis(1_000);
/// A dash of what waits stands for so much of it.
const QUEUE_STEP: Duration = Duration::from_millis(700);
const MOST_QUEUE: u128 = 12;
/// Of less partial text nothing is understood.
const LEAST_PARTIAL: usize = 8;
/// For this much of it the right side goes.
const ROOM_FOR_PARTIAL: usize = 30;
/// So many parts of the right side and of the left can go.
const DROPS: usize = 6;
/// The first of them are those of the right side.
const RIGHT_DROPS: usize = 3;

/// What stands around the row.
#[derive(Clone, Copy, Debug)]
pub struct Border<'a> {
    /// The colour of the rule.
    pub rule: Style,
    /// The composer's mark for rows that are scrolled out on this side: it stays.
    pub label: Option<&'a str>,
}

/// Draws it into the first row of `area`.
pub fn draw(
    view: &VoiceView,
    look: &Look<'_>,
    area: Rect,
    border: Border<'_>,
    buffer: &mut Buffer,
    next: &mut NextDeadline,
) {
    let area = Rect { height: area.height.min(1), ..area }.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let line = Line { view, look, border, activity: activity(view, look) };
    paint::spans(buffer, area, &line.fitted(usize::from(area.width)));
    line.ask(next);
}

/// What is going on, in words.
#[derive(Debug, Default)]
struct Activity {
    spins: bool,
    spans: Vec<Span<'static>>,
    /// When it says something else by itself.
    until: Option<Instant>,
    /// Other text that may fill what is left.
    partial: bool,
}

struct Line<'a> {
    view: &'a VoiceView,
    look: &'a Look<'a>,
    border: Border<'a>,
    activity: Activity,
}

/// What is left out, in this order: of the right side the note on the set-up, the model, the microphone; of the left the
/// meter, the chunks, the clock.
#[derive(Clone, Copy)]
struct Kept(usize);

impl Kept {
    const fn processor(self) -> bool {
        self.0 < 1
    }

    const fn model(self) -> bool {
        self.0 < 2
    }

    const fn microphone(self) -> bool {
        self.0 < 3
    }

    const fn meter(self) -> bool {
        self.0 < 4
    }

    const fn chunks(self) -> bool {
        self.0 < 5
    }

    const fn clock(self) -> bool {
        self.0 < 6
    }
}

impl Line<'_> {
    fn ask(&self, next: &mut NextDeadline) {
        let (look, view) = (self.look, self.view);
        if let Some(until) = self.activity.until {
            next.expire(until);
        }
        match view.stage {
            Stage::Stopped(at) if at + PATIENCE > look.now => next.expire(at + PATIENCE),
            Stage::Ended(_, until) if until > look.now => next.expire(until),
            _ => {}
        }
        if !look.motion {
            return;
        }
        if self.activity.spins {
            next.animate(look.next_step(SPINNER_STEP));
        }
        if view.stage == Stage::Recording {
            let of = |clock| motion::breath(clock, BREATH).to_bits();
            if let Some(after) = motion::until_another(look.clock(), 30, of) {
                next.animate(look.now + after);
            }
        }
    }

    fn fitted(&self, room: usize) -> Vec<Span<'static>> {
        let ends = (0..=DROPS).map(|dropped| {
            let kept = Kept(dropped);
            let (left, right) = (self.left(kept), self.right(kept));
            let needed = paint::columns(&left) + paint::columns(&right);
            (left, right, needed)
        });
        // A blank and a dash between the two at least.
        let mut narrowest = None;
        for (dropped, (left, right, needed)) in ends.enumerate() {
            // Who wants to read what was understood needs that more than the names at the right.
            let kept_free = if self.activity.partial && dropped < RIGHT_DROPS { ROOM_FOR_PARTIAL } else { 0 };
            if needed + 2 + kept_free <= room {
                return self.joined(left, right, room);
            }
            narrowest = Some((left, right));
        }
        let (left, right) = narrowest.unwrap_or_default();
        // What is going on is cut last. The mark of the composer stays as long as there is room for the dot.
        let right_columns = paint::columns(&right);
        let dim = self.look.theme.style(Role::Dim);
        if right_columns + DOT_COLUMNS + 2 <= room {
            let left = paint::cut(left, room - right_columns - 2, dim);
            return self.joined(left, right, room);
        }
        self.joined(paint::cut(left, room, dim), Vec::new(), room)
    }

    /// A rule between the two.
    fn joined(
        &self,
        mut left: Vec<Span<'static>>,
        right: Vec<Span<'static>>,
        room: usize,
    ) -> Vec<Span<'static>> {
        let mut free = room.saturating_sub(paint::columns(&left) + paint::columns(&right));
        if self.activity.partial {
            let room = free.saturating_sub(5);
            if room >= LEAST_PARTIAL {
                // The end of what was said is what one looks for.
                let text = width::cut_start(&self.view.partial, room).into_owned();
                free -= width::of(&text) + 2;
                left.push(Span::raw("  "));
                left.push(Span::styled(text, self.look.theme.style(Role::Dim)));
            }
        }
        let rule = match free {
            0 | 1 => "─".repeat(free),
            _ => format!(" {}", "─".repeat(free - 1)),
        };
        left.push(Span::styled(rule, self.border.rule));
        left.extend(right);
        left
    }

    fn left(&self, kept: Kept) -> Vec<Span<'static>> {
        let (view, look) = (self.view, self.look);
        let mut spans = vec![Span::styled("── ", self.border.rule), self.dot()];
        let mut part = |gap: &'static str, part: Vec<Span<'static>>| {
            if !part.is_empty() {
                spans.push(Span::raw(gap));
                spans.extend(part);
            }
        };
        let has_recording = !matches!(view.stage, Stage::Idle | Stage::Ended(..));
        if has_recording && kept.clock() {
            let seconds = view.recorded.as_secs();
            let clock = format!("{}:{:02}", seconds / 60, seconds % 60);
            part(" ", vec![Span::styled(clock, look.theme.style(Role::Muted))]);
        }
        if view.stage == Stage::Recording && view.is_heard() && kept.meter() {
            part("  ", meter::meter(view, look));
        }
        if has_recording && kept.chunks() {
            part("  ", meter::chunks(view, look));
        }
        let gap = if has_recording { "  " } else { " " };
        let mut activity = Vec::new();
        if self.activity.spins {
            let frame = if look.motion {
                let step = look.clock().as_millis() / SPINNER_STEP.as_millis();
                usize::try_from(step % SPINNER.len() as u128).unwrap_or(0)
            } else {
                0
            };
            let frame = SPINNER.get(frame).copied().unwrap_or(" ");
            activity.push(Span::styled(frame, look.theme.style(Role::Warning)));
            activity.push(Span::raw(" "));
        }
        activity.extend(self.activity.spans.iter().cloned());
        part(gap, activity);
        spans
    }

    fn dot(&self) -> Span<'static> {
        let theme = self.look.theme;
        match self.view.stage {
            Stage::Recording => {
                let style = theme.style(Role::Error);
                let depth = if self.look.motion { motion::breath(self.look.clock(), BREATH) } else { 0.0 };
                let mixed = theme.mix(theme.color(Role::Error), theme.color(Role::Dim), BREATH_DEPTH * depth);
                Span::styled("●", style.fg(mixed))
            }
            _ => Span::styled("○", theme.style(Role::Dim)),
        }
    }

    fn right(&self, kept: Kept) -> Vec<Span<'static>> {
        let view = self.view;
        let is_over = matches!(view.stage, Stage::Idle | Stage::Ended(..));
        let has_model = kept.model() && !view.model.is_empty();
        let words = [
            (kept.microphone() && !view.microphone.is_empty()).then_some(view.microphone.as_str()),
            (kept.processor() && !view.model.is_empty()).then_some(view.processor),
            has_model.then_some(view.model.as_str()),
        ];
        let words: Vec<&str> =
            words.into_iter().flatten().filter(|word| !word.is_empty() && !is_over).collect();
        let mut spans = Vec::new();
        if !words.is_empty() {
            spans.push(Span::styled(format!(" {}", words.join(" ")), self.look.theme.style(Role::Dim)));
            spans.push(Span::styled(" ──", self.border.rule));
        }
        if let Some(label) = self.border.label {
            spans.push(Span::styled(format!(" {label}"), self.look.theme.style(Role::Muted)));
            spans.push(Span::styled(" ─", self.border.rule));
        }
        spans
    }
}

/// Columns up to the dot and one behind it.
const DOT_COLUMNS: usize = 5;

fn activity(view: &VoiceView, look: &Look<'_>) -> Activity {
    let style = |role| look.theme.style(role);
    let says =
        |text: String, role| Activity { spans: vec![Span::styled(text, style(role))], ..Activity::default() };
    match &view.stage {
        Stage::Ended(ending, until) if *until > look.now => match ending {
            Ending::Cancelled => says("cancelled".to_owned(), Role::Dim),
            Ending::Nothing => says("nothing was said".to_owned(), Role::Dim),
            Ending::Failed(failure) => says(failed(*failure).to_owned(), Role::Error),
        },
        Stage::Idle | Stage::Ended(..) => fetching(view, look).unwrap_or_default(),
        Stage::CleaningUp => waits("cleaning up".to_owned(), look),
        Stage::Stopped(at) => {
            if look.now < *at + PATIENCE {
                return Activity::default();
            }
            match &view.wait {
                Some(Wait::Microphone) => waits("starting voice".to_owned(), look),
                Some(Wait::Loading { .. }) => waits("loading the speech model".to_owned(), look),
                Some(Wait::Fetching) => {
                    fetching(view, look).unwrap_or_else(|| waits("downloading".to_owned(), look))
                }
                Some(Wait::Consent) => says("waits for your answer".to_owned(), Role::Muted),
                Some(Wait::Decoding) | None => waits("transcribing".to_owned(), look),
            }
        }
        Stage::Recording => recording(view, look),
    }
}

fn recording(view: &VoiceView, look: &Look<'_>) -> Activity {
    let style = |role| look.theme.style(role);
    if let Some((warning, until)) = view.warning(look.now) {
        let text = match warning {
            VoiceWarning::TooLoud => "▲ too loud",
            VoiceWarning::NothingHeard => "▼ can't hear you, try /voice mic",
            VoiceWarning::Silent => "▼ the microphone gives no sound, try /voice mic",
            VoiceWarning::Dropped => "▲ sound was lost, this machine is busy",
        };
        return Activity {
            spans: vec![Span::styled(text, style(Role::Warning))],
            until,
            ..Activity::default()
        };
    }
    let spins = |text: &str| Activity {
        spins: true,
        spans: vec![Span::styled(text.to_owned(), style(Role::Muted))],
        ..Activity::default()
    };
    match &view.wait {
        Some(Wait::Microphone) => spins("opening the microphone"),
        Some(Wait::Loading { queued }) => {
            let mut activity = spins("loading");
            let dashes = queued.as_millis() / QUEUE_STEP.as_millis();
            let dashes = usize::try_from(dashes.min(MOST_QUEUE)).unwrap_or(0);
            if dashes > 0 {
                activity.spans.push(Span::styled(format!(" {}", "┄".repeat(dashes)), style(Role::Dim)));
            }
            if !queued.is_zero() {
                let text = format!(" {:.1}s queued", queued.as_secs_f64());
                activity.spans.push(Span::styled(text, style(Role::Dim)));
            }
            activity
        }
        Some(Wait::Fetching) => fetching(view, look).unwrap_or_else(|| spins("downloading")),
        Some(Wait::Consent) => Activity {
            spans: vec![Span::styled("waits for your answer", style(Role::Muted))],
            ..Activity::default()
        },
        Some(Wait::Decoding) | None => Activity { partial: !view.partial.is_empty(), ..Activity::default() },
    }
}

/// A wait that a key ends.
fn waits(text: String, look: &Look<'_>) -> Activity {
    let mut spans = vec![Span::styled(text, look.theme.style(Role::Muted))];
    if let Some(key) = look.key(Action::Cancel) {
        spans.push(Span::styled(format!(" · {key} cancels"), look.theme.style(Role::Dim)));
    }
    Activity { spins: true, spans, ..Activity::default() }
}

fn fetching(view: &VoiceView, look: &Look<'_>) -> Option<Activity> {
    let percent = view.fetching?;
    Some(waits(format!("downloading {} %", formats::count(u64::from(percent))), look))
}

const fn failed(failure: VoiceFailure) -> &'static str {
    match failure {
        VoiceFailure::NoMicrophone => "no microphone",
        VoiceFailure::PermissionDenied => "the microphone is not allowed",
        VoiceFailure::MicrophoneLost => "the microphone is gone",
        VoiceFailure::NoModel => "no speech model",
        VoiceFailure::BadModel => "the speech model can't be used",
        VoiceFailure::Memory => "too little memory",
        VoiceFailure::Disk => "too little disk",
        VoiceFailure::Network => "the download failed",
        VoiceFailure::Decoding => "transcribing failed",
        VoiceFailure::Timeout => "nothing came for too long",
        VoiceFailure::Internal => "dictation failed",
    }
}

#[cfg(test)]
mod tests;
