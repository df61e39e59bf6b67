//! Which form the footer has at a width, and where its cells stand: in columns while there is room, else one after another.

use super::cells::{Grid, View};
use super::form::{FORMS, Form, MODEL_COLUMNS};
use super::{Cell, Footer, Part, columns};
use crate::text::width;
use crate::theme::Theme;
use crate::theme::role::Role;
use ratatui::style::Style;

/// With less room the place says nothing.
const PLACE_COLUMNS: usize = 8;
/// What the decorated form leaves free.
const SPARE: usize = 8;
/// From here on the tokens get a row of their own when they do not fit beside the counters.
const THREE_ROWS: usize = 64;

pub(super) fn rows(footer: &Footer, theme: &Theme, room: usize) -> Vec<Cell> {
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

impl View<'_> {
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

pub(super) fn pad(cell: &mut Cell, room: usize) {
    let gap = room.saturating_sub(columns(cell));
    if gap > 0 {
        cell.push(Part::new(" ".repeat(gap), Style::new()));
    }
}
