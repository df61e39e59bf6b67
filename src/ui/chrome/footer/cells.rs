//! The figures of the footer, each in the form that there is room for.

use super::form::Form;
use super::{Cell, Context, Footer, Part, Tokens, columns};
use crate::proto::ask::PermissionMode;
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::text::{clean, formats, width};
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::ui::chrome::{context_bar, provider};
use crate::ui::target::FooterPart;
use ratatui::style::{Color, Modifier, Style};

pub(super) struct View<'a> {
    pub(super) footer: &'a Footer,
    pub(super) theme: &'a Theme,
}

/// The cells of the first two rows, before they are aligned.
pub(super) struct Grid {
    pub(super) fill: Cell,
    pub(super) model: Cell,
    pub(super) spend: Cell,
    pub(super) counters: Cell,
    pub(super) tokens: Cell,
}

impl Grid {
    /// Columns of the first row without the place.
    pub(super) fn columns(&self, form: Form) -> usize {
        let fill =
            if form.bars { columns(&self.fill).max(columns(&self.counters)) } else { columns(&self.fill) };
        let gap = if form.bars { 3 } else { 1 };
        let rest = [columns(&self.model), columns(&self.spend)];
        rest.into_iter().filter(|cell| *cell > 0).fold(
            fill,
            |sum, cell| {
                if sum == 0 { cell } else { sum + gap + cell }
            },
        )
    }
}

impl View<'_> {
    pub(super) fn dim(&self) -> Style {
        self.theme.style(Role::Dim)
    }

    pub(super) fn grid(&self, form: Form) -> Grid {
        Grid {
            fill: self.fill(form),
            model: self.model(form),
            spend: self.spend(form),
            counters: self.counters(form),
            tokens: self.tokens(form),
        }
    }

    /// Clock, bar, figures of the context.
    pub(super) fn fill(&self, form: Form) -> Cell {
        let mut cell = Cell::new();
        let Context { tokens, window } = self.footer.context;
        let share = tokens.filter(|_| window > 0).map(|tokens| context_bar::share(tokens, window));
        if form.clock {
            let role = self.footer.cache.map_or(Role::Dim, |cache| cache.warmth.role());
            let clock = self.footer.clock.as_deref().unwrap_or("--:--");
            cell.push(Part::new(clean::for_line(clock), self.theme.style(role)));
        }
        let is_known = window > 0 || tokens.is_some();
        if form.bar > 0 && window > 0 {
            self.blank(&mut cell);
            let bar = context_bar::spans(share, form.bar, self.theme);
            cell.extend(bar.into_iter().map(|span| Part { span, target: None }));
        }
        if form.context && is_known {
            self.blank(&mut cell);
            let used = tokens.map_or("?".to_owned(), formats::tokens);
            let style = self.theme.style(context_bar::tone(share.unwrap_or(0.0)));
            let text = match window {
                0 => used,
                _ if form.dots => format!("{used} / {}", formats::tokens(window)),
                _ => format!("{used}/{}", formats::tokens(window)),
            };
            cell.push(Part::new(text, style));
        }
        cell
    }

    pub(super) fn blank(&self, cell: &mut Cell) {
        if !cell.is_empty() {
            cell.push(Part::new(" ", self.dim()));
        }
    }

    /// Model, level, mode, mouse.
    pub(super) fn model(&self, form: Form) -> Cell {
        let mut cell = Cell::new();
        if form.model > 0 {
            match &self.footer.model {
                None => {
                    let text = if self.footer.is_closed { "no session" } else { "starting…" };
                    cell.push(Part::new(text, self.dim()).click(FooterPart::Model));
                }
                Some(model) => self.named(model, form, &mut cell),
            }
        }
        let dot = if form.dots { " · " } else { " " };
        let mut more = |part: Part| {
            if !cell.is_empty() {
                cell.push(Part::new(dot, self.dim()));
            }
            cell.push(part);
        };
        more(mode(self.footer.mode, self.theme));
        if self.footer.is_mouse_off && form.model > 0 {
            more(Part::new("mouse off", self.theme.style(Role::Warning)));
        }
        cell
    }

    pub(super) fn named(&self, model: &ModelRef, form: Form, cell: &mut Cell) {
        let level = self.footer.thinking;
        let tail = if form.level { level.as_str().len() + 1 } else { 0 };
        let id = short_id(&clean::for_line(&model.id), form.model.saturating_sub(tail).max(4));
        let color = provider::color(&model.provider, self.theme, Color::Reset);
        cell.push(Part::new(id, Style::new().fg(color)).click(FooterPart::Model));
        if form.level {
            cell.push(Part::new(" ", self.dim()));
            let style = self.theme.style(level_role(level));
            cell.push(Part::new(level.as_str(), style).click(FooterPart::Thinking));
        }
    }

    pub(super) fn spend(&self, form: Form) -> Cell {
        let (cost, airtime) = (self.footer.cost, self.footer.airtime);
        let mut cell = Cell::new();
        if !form.spend || (cost <= 0.0 && airtime.is_zero()) {
            return cell;
        }
        cell.push(Part::new(formats::money(cost), self.theme.style(Role::Text)));
        if form.airtime {
            let dot = if form.dots { " · " } else { " " };
            cell.push(Part::new(format!("{dot}{}", formats::coarse(airtime)), self.dim()));
        }
        cell
    }

    pub(super) fn counters(&self, form: Form) -> Cell {
        let Footer { prompts, turns, tools, .. } = self.footer;
        if prompts + turns + tools == 0 {
            return Cell::new();
        }
        let dot = if form.dots { " · " } else { " " };
        let count = |count: u64, noun: &str| Part::new(formats::counted(count, noun), self.dim());
        vec![
            count(*prompts, "prompt"),
            Part::new(dot, self.dim()),
            count(*turns, "turn"),
            Part::new(dot, self.dim()),
            count(*tools, "tool").click(FooterPart::Tools),
        ]
    }

    pub(super) fn tokens(&self, form: Form) -> Cell {
        let Tokens { input, write, read, output } = self.footer.tokens;
        if input + write + read + output == 0 {
            return Cell::new();
        }
        let dot = if form.dots { " · " } else { " " };
        let kinds = [(input, "in"), (write, "write"), (read, "read"), (output, "out")];
        let kinds = kinds.into_iter().filter(|(count, kind)| *kind != "write" || *count > 0);
        let kinds: Vec<_> = kinds.map(|(count, kind)| format!("{} {kind}", formats::tokens(count))).collect();
        vec![Part::new(kinds.join(dot), self.dim())]
    }

    /// The forms of the cache's state, the longest first.
    pub(super) fn cache(&self, form: Form) -> Vec<Cell> {
        let Some(cache) = self.footer.cache else { return Vec::new() };
        let dot = if form.dots { " · " } else { " " };
        let tone = self.theme.style(cache.warmth.role());
        let age = || Part::new(format!("{} {}", formats::coarse(cache.age), cache.warmth.word()), tone);
        let mut forms = Vec::new();
        if let Some(percent) = cache.percent {
            let percent = Part::new(format!("{percent}%{dot}"), self.dim());
            forms.push(vec![Part::new("cache ", tone), percent.clone(), age()]);
            forms.push(vec![percent, age()]);
        } else {
            forms.push(vec![Part::new("cache ", tone), age()]);
        }
        forms.push(vec![age()]);
        forms
    }

    pub(super) fn place(&self) -> String {
        let Footer { place, branch, session, .. } = self.footer;
        let mut text = clean::for_line(place);
        if let Some(branch) = branch {
            text.push_str(&format!(" ({})", clean::for_line(branch)));
        }
        if let Some(session) = session {
            text.push_str(&format!(" · {}", clean::for_line(session)));
        }
        text
    }
}

/// The mode's word. What lets more run stands out more.
pub(super) fn mode(mode: PermissionMode, theme: &Theme) -> Part {
    let style = match mode {
        PermissionMode::Ask => theme.style(Role::Dim),
        PermissionMode::Edits => theme.style(Role::Accent),
        PermissionMode::Yolo => theme.style(Role::Error).add_modifier(Modifier::BOLD),
    };
    Part::new(mode.as_str(), style).click(FooterPart::Mode)
}

const fn level_role(level: ThinkingLevel) -> Role {
    match level {
        ThinkingLevel::Off => Role::Dim,
        ThinkingLevel::Minimal => Role::ThinkingMinimal,
        ThinkingLevel::Low => Role::ThinkingLow,
        ThinkingLevel::Medium => Role::ThinkingMedium,
        ThinkingLevel::High => Role::ThinkingHigh,
        ThinkingLevel::Xhigh => Role::ThinkingXhigh,
        ThinkingLevel::Max => Role::ThinkingMax,
    }
}

/// A model's id in so many columns: first without its vendor, then without its middle, for the ends tell models apart.
pub(super) fn short_id(id: &str, room: usize) -> String {
    if width::of(id) <= room {
        return id.to_owned();
    }
    let id = id.split_once('/').map_or(id, |(_, rest)| rest);
    if width::of(id) <= room {
        return id.to_owned();
    }
    let tail = room.saturating_sub(1) / 2;
    let head = width::take(id, room.saturating_sub(tail + 1));
    let end = width::cut_start(id, tail + 1);
    format!("{head}{end}")
}
