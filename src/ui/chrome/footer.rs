//! Place, model, mode, context, cost. Everything is quiet unless it needs a look.
//!
//! What is shown at which width is negotiated here, once, into a list of `Cell`s a row; a further figure is a further
//! part of a cell.

use super::{context_bar, provider};
use crate::proto::ask::PermissionMode;
use crate::proto::event::NoticeLevel;
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::text::{clean, formats, width};
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use crate::ui::target::{FooterPart, Target};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::time::Duration;

/// What it tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footer {
    /// When the last model call ended, as `16:42`.
    pub clock: Option<String>,
    /// The working folder, as it is shown.
    pub place: String,
    /// The branch checked out there.
    pub branch: Option<String>,
    /// The session's name.
    pub session: Option<String>,
    /// Who answers; nothing until that is known.
    pub model: Option<ModelRef>,
    /// How hard it thinks.
    pub thinking: ThinkingLevel,
    /// The permission mode in force.
    pub mode: PermissionMode,
    /// How full the window is.
    pub context: Context,
    /// Dollars of the session.
    pub cost: f64,
    /// Time of the session's model calls.
    pub airtime: Duration,
    /// Prompts of the session.
    pub prompts: u64,
    /// Model calls.
    pub turns: u64,
    /// Tool calls.
    pub tools: u64,
    /// Tokens of the session.
    pub tokens: Tokens,
    /// The provider's cache, once there was a call.
    pub cache: Option<Cache>,
    /// No session is open, and none is being opened.
    pub is_closed: bool,
    /// The mouse is the terminal's own.
    pub is_mouse_off: bool,
    /// Something the user should know now; stands in for the last row.
    pub notice: Option<(NoticeLevel, String)>,
}

/// How full the window is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Tokens in it; not known between a compaction and the next answer.
    pub tokens: Option<u64>,
    /// Tokens that fit; 0 when nobody knows.
    pub window: u64,
}

/// Tokens by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Fresh.
    pub input: u64,
    /// Written to the cache.
    pub write: u64,
    /// Read from the cache.
    pub read: u64,
    /// Generated.
    pub output: u64,
}

/// The provider's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// How much of the prompts came from it.
    pub percent: Option<u8>,
    /// How old what it holds is.
    pub age: Duration,
    /// Whether it still holds it.
    pub warmth: Warmth,
}

/// Whether the cache still holds the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmth {
    /// It does.
    Warm,
    /// Not for long.
    Cooling,
    /// It does not.
    Cold,
}

impl Warmth {
    const fn word(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cooling => "cooling",
            Self::Cold => "cold",
        }
    }

    const fn role(self) -> Role {
        match self {
            Self::Warm => Role::Dim,
            Self::Cooling => Role::Warning,
            Self::Cold => Role::Error,
        }
    }
}

/// Columns of a model's id at most.
const MODEL_COLUMNS: usize = 26;
/// With less room the place says nothing.
const PLACE_COLUMNS: usize = 8;
/// What the decorated form leaves free.
const SPARE: usize = 8;
/// From here on the tokens get a row of their own when they do not fit beside the counters.
const THREE_ROWS: usize = 64;

/// Rows that it would like to have.
pub fn height(footer: &Footer, theme: &Theme, columns: u16) -> u16 {
    let rows = rows(footer, theme, usize::from(columns)).len();
    u16::try_from(rows).unwrap_or(1)
}

/// Draws it. With fewer rows than it would like the lower ones are left out.
pub fn draw(
    footer: &Footer,
    look: &Look<'_>,
    area: Rect,
    buffer: &mut Buffer,
    hits: &mut HitMap<Target>,
    next: &mut NextDeadline,
) {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let room = usize::from(area.width);
    let mut rows = rows(footer, look.theme, room);
    rows.truncate(usize::from(area.height));
    if let Some((level, text)) = &footer.notice {
        // The mode is told also where a notice has the only row.
        let is_only = rows.len() == 1;
        rows.pop();
        rows.push(notice(*level, text, is_only.then_some(footer), look.theme, room));
    }
    for (y, row) in (area.top()..area.bottom()).zip(rows) {
        let mut x = area.left();
        for part in row {
            let left = Rect { x, y, width: area.right() - x, height: 1 };
            let used = paint::spans(buffer, left, std::slice::from_ref(&part.span));
            if let Some(target) = part.target {
                hits.push(Rect { width: used, ..left }, 0, Target::Footer(target));
            }
            x += used;
        }
    }
    if let Some(cache) = footer.cache {
        // The age is told in minutes, and turns once a minute at most.
        let left = 60 - cache.age.as_secs() % 60;
        next.expire(look.now + Duration::from_secs(left));
    }
}

/// A piece of a row, and what a click on it means.
#[derive(Clone, Debug)]
struct Part {
    span: Span<'static>,
    target: Option<FooterPart>,
}

impl Part {
    fn new(text: impl Into<String>, style: Style) -> Self {
        Self { span: Span::styled(text.into(), style), target: None }
    }

    fn click(self, target: FooterPart) -> Self {
        Self { target: Some(target), ..self }
    }
}

type Cell = Vec<Part>;

fn columns(parts: &[Part]) -> usize {
    parts.iter().map(|part| width::of(&part.span.content)).sum()
}

/// Which parts of the first row are kept, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    /// ` · ` between fields, not a blank.
    dots: bool,
    /// ` │ ` between cells, not a blank.
    bars: bool,
    place: bool,
    airtime: bool,
    bar: usize,
    spend: bool,
    clock: bool,
    model: usize,
    level: bool,
    context: bool,
}

/// From everything to nearly nothing. The mode is never left out.
const FORMS: [Form; 14] = {
    let full = Form {
        dots: true,
        bars: true,
        place: true,
        airtime: true,
        bar: 20,
        spend: true,
        clock: true,
        model: MODEL_COLUMNS,
        level: true,
        context: true,
    };
    let compact = Form { dots: false, ..full };
    let no_place = Form { place: false, ..compact };
    let blanks = Form { bars: false, ..no_place };
    let no_airtime = Form { airtime: false, ..blanks };
    let no_spend = Form { spend: false, ..no_airtime };
    let short_model = Form { model: 16, ..no_spend };
    let short_bar = Form { bar: 10, ..short_model };
    let no_clock = Form { clock: false, ..short_bar };
    let no_bar = Form { bar: 0, ..no_clock };
    let tiny_model = Form { model: 10, ..no_bar };
    let no_level = Form { level: false, ..tiny_model };
    let no_context = Form { context: false, ..no_level };
    let only_mode = Form { model: 0, ..no_context };
    [
        full,
        compact,
        no_place,
        blanks,
        no_airtime,
        no_spend,
        short_model,
        short_bar,
        no_clock,
        no_bar,
        tiny_model,
        no_level,
        no_context,
        only_mode,
    ]
};

fn rows(footer: &Footer, theme: &Theme, room: usize) -> Vec<Cell> {
    let view = View { footer, theme };
    let mut chosen = None;
    for form in FORMS {
        let grid = view.grid(form);
        let used = grid.columns(form);
        let spare = if form.dots { SPARE } else { 0 };
        let least = if form.place { used + 3 + PLACE_COLUMNS } else { used };
        let wish = if form.dots { used + 3 + width::of(&view.place()) + spare } else { least };
        if wish <= room || (form == FORMS[FORMS.len() - 1]) {
            chosen = Some((form, grid));
            break;
        }
    }
    let Some((mut form, mut grid)) = chosen else { return Vec::new() };
    let free = room.saturating_sub(grid.columns(form));
    if form.model > 0 && form.model < MODEL_COLUMNS && free > 0 {
        // What a shorter form has left over is the model's again.
        let longer = Form { model: (form.model + free).min(MODEL_COLUMNS), ..form };
        let wider = view.grid(longer);
        if wider.columns(longer) <= room {
            (form, grid) = (longer, wider);
        }
    }
    view.laid_out(form, grid, room)
}

struct View<'a> {
    footer: &'a Footer,
    theme: &'a Theme,
}

/// The cells of the first two rows, before they are aligned.
struct Grid {
    fill: Cell,
    model: Cell,
    spend: Cell,
    counters: Cell,
    tokens: Cell,
}

impl Grid {
    /// Columns of the first row without the place.
    fn columns(&self, form: Form) -> usize {
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
    fn dim(&self) -> Style {
        self.theme.style(Role::Dim)
    }

    fn grid(&self, form: Form) -> Grid {
        Grid {
            fill: self.fill(form),
            model: self.model(form),
            spend: self.spend(form),
            counters: self.counters(form),
            tokens: self.tokens(form),
        }
    }

    /// Clock, bar, figures of the context.
    fn fill(&self, form: Form) -> Cell {
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

    fn blank(&self, cell: &mut Cell) {
        if !cell.is_empty() {
            cell.push(Part::new(" ", self.dim()));
        }
    }

    /// Model, level, mode, mouse.
    fn model(&self, form: Form) -> Cell {
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

    fn named(&self, model: &ModelRef, form: Form, cell: &mut Cell) {
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

    fn spend(&self, form: Form) -> Cell {
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

    fn counters(&self, form: Form) -> Cell {
        let Footer { prompts, turns, tools, .. } = self.footer;
        if prompts + turns + tools == 0 {
            return Cell::new();
        }
        let dot = if form.dots { " · " } else { " " };
        let counts = [(*prompts, "prompt"), (*turns, "turn"), (*tools, "tool")];
        let counts: Vec<_> = counts.into_iter().map(|(count, noun)| formats::counted(count, noun)).collect();
        vec![Part::new(counts.join(dot), self.dim())]
    }

    fn tokens(&self, form: Form) -> Cell {
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
    fn cache(&self, form: Form) -> Vec<Cell> {
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

    fn place(&self) -> String {
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

    fn laid_out(&self, form: Form, grid: Grid, room: usize) -> Vec<Cell> {
        if form.bars { self.as_columns(form, grid, room) } else { self.as_words(form, grid, room) }
    }

    /// Cells in columns: fill over counters, model and spend over tokens, place over cache.
    fn as_columns(&self, form: Form, grid: Grid, room: usize) -> Vec<Cell> {
        let bar = || Part::new(" │ ", self.theme.style(Role::Border));
        let Grid { mut fill, model, mut spend, counters, tokens } = grid;
        let first = columns(&fill).max(columns(&counters));
        let middle = |spend: &Cell| columns(&model) + if spend.is_empty() { 0 } else { 3 + columns(spend) };
        let mut middle_columns = middle(&spend);
        let mut second = self.right(counters, first);
        let after = |middle: usize| room.saturating_sub(first + 3 + middle + 3);
        // The tokens widen the cell above them as long as the place keeps its least.
        let wider = columns(&tokens).max(middle_columns);
        let shares_row = wider == middle_columns
            || first + 3 + wider <= room && (!form.place || after(wider) >= PLACE_COLUMNS);
        if shares_row {
            pad(if spend.is_empty() { &mut fill } else { &mut spend }, 0);
            middle_columns = wider;
        }
        pad(&mut fill, first);
        let mut row = fill;
        row.push(bar());
        row.extend(model);
        if !spend.is_empty() {
            row.push(bar());
            row.extend(spend);
        }
        pad(&mut row, first + 3 + middle_columns);
        let rest = if form.place { after(middle_columns) } else { 0 };
        if rest > 0 {
            row.push(bar());
            row.push(Part::new(width::cut_start(&self.place(), rest).into_owned(), self.dim()));
        }
        let mut rows = vec![row];
        let fitting = |forms: Vec<Cell>, room| forms.into_iter().find(|form| columns(form) <= room);
        if shares_row {
            if !second.is_empty() || !tokens.is_empty() {
                let has_tokens = !tokens.is_empty();
                if has_tokens {
                    pad(&mut second, first);
                    second.push(bar());
                    second.extend(tokens);
                }
                if let Some(cache) = fitting(self.cache(form), after(middle_columns)) {
                    if !has_tokens {
                        pad(&mut second, first);
                        second.push(bar());
                    }
                    pad(&mut second, first + 3 + middle_columns);
                    second.push(bar());
                    second.extend(cache);
                }
                rows.push(second);
            }
            return rows;
        }
        if let Some(cache) = fitting(self.cache(form), room.saturating_sub(first + 3)) {
            pad(&mut second, first);
            second.push(bar());
            second.extend(cache);
        }
        rows.push(second);
        if room >= THREE_ROWS {
            rows.push(self.right(tokens, first));
        }
        rows
    }

    /// Everything one after another with blanks between.
    fn as_words(&self, form: Form, grid: Grid, room: usize) -> Vec<Cell> {
        let join = |cells: Vec<Cell>| {
            let mut row = Cell::new();
            for cell in cells.into_iter().filter(|cell| !cell.is_empty()) {
                self.blank(&mut row);
                row.extend(cell);
            }
            row
        };
        let Grid { fill, model, spend, counters, tokens } = grid;
        let mut rows = vec![join(vec![fill, model, spend])];
        let mut caches: Vec<Cell> =
            self.cache(form).into_iter().filter(|cell| cell.len() > 1 || room < 40).collect();
        caches.push(Cell::new());
        let tries = [true, false]
            .into_iter()
            .flat_map(|with_tokens| caches.iter().map(move |cache| (with_tokens, cache)));
        let mut second = Cell::new();
        for (with_tokens, cache) in tries {
            let tokens = if with_tokens { tokens.clone() } else { Cell::new() };
            second = join(vec![counters.clone(), tokens, cache.clone()]);
            if columns(&second) <= room {
                break;
            }
        }
        if columns(&second) > room {
            second = Cell::new();
        }
        if !second.is_empty() {
            rows.push(second);
        }
        rows
    }

    /// A cell whose text ends where its column ends.
    fn right(&self, cell: Cell, room: usize) -> Cell {
        let gap = room.saturating_sub(columns(&cell));
        if cell.is_empty() || gap == 0 {
            return cell;
        }
        let mut padded = vec![Part::new(" ".repeat(gap), self.dim())];
        padded.extend(cell);
        padded
    }
}

fn pad(cell: &mut Cell, room: usize) {
    let gap = room.saturating_sub(columns(cell));
    if gap > 0 {
        cell.push(Part::new(" ".repeat(gap), Style::new()));
    }
}

/// The mode's word. What lets more run stands out more.
fn mode(mode: PermissionMode, theme: &Theme) -> Part {
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
fn short_id(id: &str, room: usize) -> String {
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

fn notice(level: NoticeLevel, text: &str, mode_of: Option<&Footer>, theme: &Theme, room: usize) -> Cell {
    let style = theme.style(match level {
        NoticeLevel::Info => Role::Muted,
        NoticeLevel::Warning => Role::Warning,
        NoticeLevel::Error => Role::Error,
    });
    let word = mode_of.map(|footer| mode(footer.mode, theme));
    let taken = word.as_ref().map_or(0, |word| width::of(&word.span.content) + 1);
    let left = room.saturating_sub(taken);
    let mut row = vec![Part::new(width::cut(&clean::for_line(text), left).into_owned(), style)];
    if let Some(word) = word {
        pad(&mut row, left + 1);
        row.push(word);
    }
    row
}

#[cfg(test)]
#[path = "footer_tests.rs"]
pub(in crate::ui::chrome) mod tests;
