//! A shell command of several steps: a line for each under the band, and what the step printed that tells most.
//!
//! The lines are drawn from [`Chain`] alone, so that a command looks the same while its end is still in memory and after
//! its session was resumed.

use super::body::output::{self, Output};
use super::body::{self, MOST_ROWS, Panel};
use super::outcome::Outcome;
use super::seg::{self, Seg};
use super::state::State;
use super::{EntryCx, Moving};
use crate::proto::chain::{Chain, Step, StepJoint, StepState};
use crate::text::row::Row;
use crate::theme::role::Role;
use crate::transcript::item::Call;
use crate::ui::band::{self, bullet, ground};
use crate::ui::scene::NextDeadline;
use crate::ui::{motion, paint};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lines that are shown of what the step printed that tells most.
const SHOWN: usize = 3;

/// Rows of what one step printed at least, in an open row of many.
const LEAST_ROWS: usize = 50;

/// How much of its colour the number of the step that runs has at least, and what a breath adds.
const BREATH_FLOOR: f64 = 0.18;
const BREATH_DEPTH: f64 = 0.14;

/// The steps of a command, as they are shown.
#[derive(Debug)]
pub struct Steps {
    chain: Chain,
    /// A step that is no step of the call's own stands before those: the folder that could not be entered.
    shift: usize,
    is_over: bool,
}

impl Steps {
    /// Those of a call; none of a command of one step, or where the user wants none. `outcome`: how it ended.
    pub fn of(call: &Call, outcome: Option<&Outcome<'_>>, cx: &EntryCx<'_>) -> Option<Self> {
        let chain = call.chain.as_ref().filter(|_| cx.look.display.chains)?;
        let mut steps = Self { chain: Chain::clone(chain), shift: 0, is_over: outcome.is_some() };
        if let Some(outcome) = outcome {
            steps.settle(outcome);
        }
        (steps.chain.steps.len() > 1).then_some(steps)
    }

    /// What was told last may be older than the end of the call.
    fn settle(&mut self, outcome: &Outcome<'_>) {
        let chain = &mut self.chain;
        let none_began = chain.steps.iter().all(|step| {
            step.started_ms.is_none() && matches!(step.state, StepState::Waiting | StepState::Skipped)
        });
        // A folder that could not be entered is what failed.
        if none_began
            && outcome.state == State::Failed
            && outcome.says.is_none()
            && let Some(location) = chain.location.take()
        {
            let exit = outcome.number(&["exitCode"]).and_then(|code| i32::try_from(code).ok());
            let text = format!("cd {location}");
            chain.steps.insert(0, Step { text, state: StepState::Failed, exit, ..Step::default() });
            self.shift = 1;
        }
        for step in &mut chain.steps {
            step.state = match (step.state, outcome.state) {
                (StepState::Running, State::TimedOut) => StepState::TimedOut,
                (StepState::Running, State::Stopped | State::Denied) => StepState::Aborted,
                (StepState::Running, State::Failed) => StepState::Failed,
                (StepState::Running, _) => StepState::Unknown,
                (StepState::Waiting, _) => StepState::Skipped,
                (state, _) => state,
            };
        }
    }

    /// The whole chain on one line, with its operators.
    pub fn title(&self) -> Vec<Seg> {
        let mut line = String::new();
        for (at, step) in self.chain.steps.iter().enumerate() {
            line.push_str(match step.joint {
                _ if at == 0 => "",
                StepJoint::Then => "; ",
                StepJoint::And => " && ",
                StepJoint::Or => " || ",
            });
            line.push_str(&flat(&step.text));
        }
        vec![Seg::bold(Role::ToolTitle, "$ "), Seg::foreign(Role::Text, &line)]
    }

    /// Where it runs.
    pub fn location(&self, cx: &EntryCx<'_>) -> Vec<Seg> {
        let place = self.chain.location.as_ref().map(|location| cx.look.path(Path::new(location)));
        place.map(|place| Seg::new(Role::Muted, format!(" in {}", seg::line(&place)))).into_iter().collect()
    }

    /// What stands before the time: how far it is, or how many steps there were.
    pub fn lead(&self) -> Option<Seg> {
        let (begun, all) = (self.chain.begun(), self.chain.steps.len());
        let running = self.chain.steps.iter().position(|step| step.state == StepState::Running);
        let lead = match (self.is_over, running) {
            (false, Some(running)) => format!("{} of {all}", running + 1),
            (false, None) => format!("{} of {all}", begun.max(1)),
            // Nobody knows, or nothing was allowed to.
            (true, _) if begun == 0 => return None,
            (true, _) if begun == all => format!("{all} commands"),
            (true, _) => format!("{begun} of {all} ran"),
        };
        Some(Seg::new(Role::Muted, lead))
    }

    /// Behind the word that tells how it failed: where.
    pub fn at(&self) -> Option<Seg> {
        let at = self.chain.went_wrong_at()?;
        Some(Seg::new(Role::Muted, format!(" at {} of {}", at + 1, self.chain.steps.len())))
    }

    /// The steps as they are shown, the one that stands before those of the call among them.
    pub const fn chain(&self) -> &Chain {
        &self.chain
    }

    /// What a step printed, as much as is known, and how many lines before that are not.
    fn printed<'a>(&self, call: &'a Call, at: usize) -> (&'a str, u64) {
        at.checked_sub(self.shift).map_or(("", 0), |at| call.step_output(at))
    }

    /// All that each step printed, as far as this process has it: logs keep the ends only. With it the bytes that were
    /// cut from its beginning.
    pub fn all_printed<'a>(&self, call: &'a Call) -> Vec<(&'a str, u64)> {
        let all = |at: usize| {
            let index = at.checked_sub(self.shift);
            let live = index.and_then(|index| call.step_outputs.get(index)).filter(|text| !text.is_empty());
            let dropped = index.and_then(|index| call.steps_dropped.get(index)).copied();
            let kept = index.and_then(|index| call.chain.as_ref()?.steps.get(index));
            let kept = kept.map_or("", |step| step.output.as_str());
            live.map_or((kept, 0), |text| (text.as_str(), dropped.unwrap_or(0)))
        };
        (0..self.chain.steps.len()).map(all).collect()
    }

    /// Adds a line for each step to a panel, and what the one printed that tells most; of an open row, all printed.
    pub fn draw(&self, panel: &mut Panel<'_>, call: &Call, whole_in: Option<&str>) {
        let steps = &self.chain.steps;
        let focus = self.chain.focus();
        let begun = call.begun();
        let most_rows = (MOST_ROWS / steps.len().max(1)).max(LEAST_ROWS);
        let chip = chip_columns(steps.len());
        for (at, step) in steps.iter().enumerate() {
            let line = StepLine::of(at + 1, steps.len(), step, begun, panel.ground);
            let mut next = NextDeadline::default();
            let row = line.row(panel.cx, &mut next);
            let is_moving = next != NextDeadline::default();
            panel.push_whole(row, is_moving.then(|| Arc::new(line) as Arc<dyn Moving>));
            panel.skip(step.text.len() + 1);
            let (text, lines_before) = self.printed(call, at);
            if panel.cx.open || focus == Some(at) {
                panel.set_in(chip + 1);
                let is_wrapped = step.state == StepState::Failed;
                let output = Output { text, lines_before, whole_in, is_wrapped, ..Output::default() };
                output::draw_end(panel, output, SHOWN, most_rows);
                panel.set_in(0);
            }
            panel.skip(text.len() + 1);
        }
    }

    /// Nothing is known of what any step printed.
    pub fn is_silent(&self, call: &Call) -> bool {
        (0..self.chain.steps.len()).all(|step| call.step_output(step).0.is_empty())
    }
}

/// A step's text on one line, its continuations gone.
fn flat(text: &str) -> String {
    // The blanks before the backslash would stand beside those that take the line break's place.
    let lines = text.lines().map(|line| line.trim_end().strip_suffix('\\').unwrap_or(line).trim_end());
    seg::line(&lines.collect::<Vec<_>>().join("\n"))
}

/// Columns of ` n `, the same for all of them.
fn chip_columns(steps: usize) -> usize {
    steps.to_string().len() + 2
}

/// Columns before the lines of steps in the sheet: its text begins there.
const SHEET_INDENT: usize = 1;

/// The line of a step of a chain in the head of the sheet, the one whose output is shown on a ground of its own. `begun`:
/// when the first of them began.
pub fn sheet_line(
    chain: &Chain,
    at: usize,
    begun: Option<Instant>,
    is_shown: bool,
    cx: &EntryCx<'_>,
    next: &mut NextDeadline,
) -> Row {
    let Some(step) = chain.steps.get(at) else { return Row::default() };
    let has_ground = is_shown && cx.look.theme.is_readable();
    let base = if has_ground { cx.look.theme.color(Role::SelectedBg) } else { Color::Reset };
    let line = StepLine::of(at + 1, chain.steps.len(), step, begun, base);
    StepLine { is_shown, ..line }.row_at(SHEET_INDENT, cx, next)
}

/// The line of a step.
#[derive(Debug)]
struct StepLine {
    number: usize,
    steps: usize,
    text: String,
    state: StepState,
    exit: Option<i32>,
    took: Option<Duration>,
    /// When it began; only of one that runs.
    since: Option<Instant>,
    /// When it ended; only where that is known.
    ended: Option<Instant>,
    base: Color,
    /// It stands out: its output is what is looked at.
    is_shown: bool,
}

impl StepLine {
    fn of(number: usize, steps: usize, step: &Step, begun: Option<Instant>, base: Color) -> Self {
        let millis = |begin: Instant, millis: u64| begin.checked_add(Duration::from_millis(millis));
        let since = begun.zip(step.started_ms).and_then(|(begun, started)| millis(begun, started));
        let ended = since.zip(step.took_ms).and_then(|(since, took)| millis(since, took));
        Self {
            number,
            steps,
            text: flat(&step.text),
            state: step.state,
            exit: step.exit,
            took: step.took_ms.filter(|_| step.state != StepState::Skipped).map(Duration::from_millis),
            since: since.filter(|_| step.state == StepState::Running),
            ended: ended.filter(|_| step.state.has_run()),
            base,
            is_shown: false,
        }
    }

    /// The ground of its number, before any flash.
    fn chip(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Color {
        let share = match self.state {
            StepState::Running if cx.look.theme.is_readable() => breath(cx, next),
            state => tint(state),
        };
        cx.look.theme.mix(self.base, cx.look.theme.color(role(self.state)), share)
    }

    fn rail(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Vec<Seg> {
        let exit = |role| match self.exit {
            Some(code) => Seg::new(role, format!("exit {code}")),
            None => Seg::new(role, "failed"),
        };
        let word = match self.state {
            StepState::Failed => Some(exit(Role::Error)),
            StepState::Handled => Some(exit(Role::Muted)),
            StepState::TimedOut => Some(Seg::new(Role::Warning, "timed out")),
            StepState::Aborted => Some(Seg::new(Role::Muted, "stopped")),
            StepState::Skipped => Some(Seg::new(Role::Dim, "skipped")),
            StepState::Ok | StepState::Running | StepState::Waiting | StepState::Unknown => None,
        };
        if let Some(since) = self.since {
            return vec![Seg::new(Role::Text, band::live_time(since, cx, next))];
        }
        let mut rail: Vec<Seg> = Vec::new();
        // Where no ground tells it, a mark does.
        let glyph = glyph(self.state).filter(|_| cx.look.glyphs && !cx.look.theme.is_readable());
        rail.extend(glyph.map(|glyph| Seg::new(role(self.state), format!("{glyph} "))));
        let has_word = word.is_some();
        rail.extend(word);
        if let Some(took) = self.took {
            if has_word {
                rail.push(Seg::new(Role::Muted, "  "));
            }
            let time = band::rail::time(took);
            // What was foreseen is not to be noticed.
            let role = if self.state == StepState::Handled { Role::Muted } else { time.role };
            rail.push(Seg { role, ..time });
        }
        rail
    }
}

impl Moving for StepLine {
    fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        self.row_at(body::indent(cx), cx, next)
    }
}

impl StepLine {
    /// The row, so many columns from the left edge.
    fn row_at(&self, indent: usize, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        let theme = cx.look.theme;
        let columns = usize::from(cx.width);
        let flash = self.ended.and_then(|ended| ground::flash(ended, cx.look, next));
        let hue = theme.color(role(self.state));
        let flashing = |ground: Color| flash.map_or(ground, |share| theme.mix(ground, hue, share));
        let ground = flashing(self.base);
        let chip = flashing(self.chip(cx, next));
        let is_faint = matches!(self.state, StepState::Waiting | StepState::Skipped);
        let text_role = if is_faint { Role::Dim } else { Role::Text };
        let number_role = if theme.is_readable() { text_role } else { role(self.state) };
        let on = |color: Color| if color == Color::Reset { Style::new() } else { Style::new().bg(color) };
        let number = theme.style_on(number_role, chip).patch(on(chip)).add_modifier(Modifier::BOLD);
        let digits = chip_columns(self.steps) - 2;
        let mut spans = vec![
            Span::styled(" ".repeat(indent), on(self.base)),
            Span::styled(format!(" {:>digits$} ", self.number), number),
            Span::raw(" "),
        ];
        let dots = theme.style_on(Role::Muted, ground);
        let gutter = paint::columns(&spans);
        let room = columns.saturating_sub(gutter);
        let mut rail = self.rail(cx, next);
        if self.is_shown && !theme.is_readable() {
            // The row is reversed, and every colour would become a ground of its own.
            rail.iter_mut().for_each(|seg| seg.role = Role::Text);
        }
        let rail = seg::spans(&rail, theme, ground);
        let rail_columns = match paint::columns(&rail) {
            0 => 0,
            columns => columns + 3,
        };
        let text = theme.style_on(text_role, ground);
        let text = if self.is_shown { text.add_modifier(Modifier::BOLD) } else { text };
        let left = vec![Span::styled(self.text.clone(), text)];
        let left = paint::cut(left, room.saturating_sub(rail_columns), dots);
        let text_end = u16::try_from(gutter + paint::columns(&left)).unwrap_or(u16::MAX);
        spans.extend(paint::left_and_rail(left, rail, room, dots));
        Row {
            spans: if gutter > columns { paint::cut(spans, columns, dots) } else { spans },
            gutter: u16::try_from(gutter).unwrap_or(u16::MAX).min(cx.width),
            text_end: Some(text_end.min(cx.width)),
            ground: (ground != Color::Reset)
                .then(|| (u16::try_from(indent).unwrap_or(0), ground))
                .filter(|(from, _)| *from < cx.width),
            ..Row::default()
        }
    }
}

/// How much of its colour the running step's number has: it breathes, in step with all others.
fn breath(cx: &EntryCx<'_>, next: &mut NextDeadline) -> f64 {
    if !cx.look.motion {
        return BREATH_FLOOR + BREATH_DEPTH / 2.0;
    }
    BREATH_FLOOR + BREATH_DEPTH * bullet::breath(motion::STEP_BREATH, cx.look, next)
}

/// How much of its colour the number of a step has that does not run.
const fn tint(state: StepState) -> f64 {
    match state {
        StepState::Running => BREATH_FLOOR,
        StepState::Ok => 0.30,
        StepState::Failed => 0.38,
        StepState::TimedOut => 0.35,
        StepState::Handled | StepState::Aborted => 0.22,
        StepState::Waiting => 0.10,
        StepState::Skipped => 0.05,
        StepState::Unknown => 0.14,
    }
}

/// The colour that tells how a step is.
const fn role(state: StepState) -> Role {
    match state {
        StepState::Running => Role::Accent,
        StepState::Ok => Role::Success,
        StepState::Failed => Role::Error,
        StepState::TimedOut => Role::Warning,
        StepState::Handled
        | StepState::Aborted
        | StepState::Waiting
        | StepState::Skipped
        | StepState::Unknown => Role::Muted,
    }
}

const fn glyph(state: StepState) -> Option<&'static str> {
    match state {
        StepState::Ok => State::Ok.glyph(),
        StepState::Failed => State::Failed.glyph(),
        StepState::TimedOut => State::TimedOut.glyph(),
        StepState::Aborted => State::Stopped.glyph(),
        StepState::Handled
        | StepState::Running
        | StepState::Waiting
        | StepState::Skipped
        | StepState::Unknown => None,
    }
}
