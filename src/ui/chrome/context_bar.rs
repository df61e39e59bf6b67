//! How full the model's window is, as cells: green where there is room, red where there is none.

use crate::theme::Theme;
use crate::theme::mix::Rgb;
use crate::theme::role::Role;
use ratatui::style::{Color, Style};
use ratatui::text::Span;
use std::sync::LazyLock;

/// Shares from which on it needs a look, and from which on it is urgent.
const WARNING: f64 = 0.7;
const ERROR: f64 = 0.9;

const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// How full it is; above 1 what comes next does not fit.
pub fn share(tokens: u64, window: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let (tokens, window) = (tokens as f64, window as f64);
    if window > 0.0 { tokens / window } else { 0.0 }
}

/// The colour of a figure that tells this share.
pub fn tone(share: f64) -> Role {
    if share > ERROR {
        Role::Error
    } else if share > WARNING {
        Role::Warning
    } else {
        Role::Dim
    }
}

/// The bar. Without a share it is empty.
pub fn spans(share: Option<f64>, cells: usize, theme: &Theme) -> Vec<Span<'static>> {
    let share = share.unwrap_or(0.0).clamp(0.0, 1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "eighths of a few cells"
    )]
    let eighths = (share * cells as f64 * 8.0).round() as usize;
    let (full, part) = (eighths / 8, eighths % 8);
    if !theme.is_readable() {
        // Nobody knows how the terminal's colours mix, so a part of a cell would have no ground to stand on.
        let full = (eighths + 4) / 8;
        let style = theme.style(if tone(share) == Role::Dim { Role::Success } else { tone(share) });
        return vec![
            Span::styled("█".repeat(full), style),
            Span::styled("░".repeat(cells.saturating_sub(full)), theme.style(Role::Dim)),
        ];
    }
    let cell = |index: usize| {
        let (filled, empty) = colors(index, cells, theme);
        if index < full {
            Span::styled("█", Style::new().fg(filled))
        } else if index == full && part > 0 {
            Span::styled(PARTS.get(part).copied().unwrap_or("█"), Style::new().fg(filled).bg(empty))
        } else {
            // The ground makes it one surface with the part of a cell before it.
            Span::styled("░", Style::new().fg(empty).bg(empty))
        }
    };
    (0..cells).map(cell).collect()
}

/// Filled and empty, by lightness of the page and place. They take powers and sines, and every frame needs them.
static COLORS: LazyLock<[Vec<(Color, Color)>; 2]> = LazyLock::new(|| {
    [false, true].map(|is_dark| (0..CELLS).map(|index| compute(index, CELLS, is_dark)).collect())
});

/// As many as the bar has where there is room for it.
const CELLS: usize = 20;

fn colors(index: usize, cells: usize, theme: &Theme) -> (Color, Color) {
    let known = COLORS.get(usize::from(theme.is_dark())).filter(|_| cells == CELLS);
    known
        .and_then(|colors| colors.get(index).copied())
        .unwrap_or_else(|| compute(index, cells, theme.is_dark()))
}

fn compute(index: usize, cells: usize, is_dark: bool) -> (Color, Color) {
    #[expect(clippy::cast_precision_loss, reason = "a few cells")]
    let way = index as f64 / cells.saturating_sub(1).max(1) as f64;
    let hue = 142.0 + (29.0 - 142.0) * way;
    let color = |lightness, chroma| Rgb::from_oklch(lightness, chroma, hue).color();
    if is_dark { (color(0.76, 0.15), color(0.40, 0.10)) } else { (color(0.66, 0.15), color(0.90, 0.05)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::width;
    use proptest::prelude::*;

    fn text(share: f64, theme: &Theme) -> String {
        spans(Some(share), 20, theme).iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn it_fills_by_eighths() {
        let theme = Theme::quiet_dark();
        let table = [
            (0.0, "░░░░░░░░░░░░░░░░░░░░"),
            (0.006, "▏░░░░░░░░░░░░░░░░░░░"),
            (61.0 / 166.0, "███████▍░░░░░░░░░░░░"),
            (0.999, "████████████████████"),
            (1.4, "████████████████████"),
        ];
        for (share, expected) in table {
            assert_eq!(text(share, &theme), expected, "{share}");
        }
        assert_eq!(text(0.42, &Theme::terminal()), "████████░░░░░░░░░░░░");
    }

    #[test]
    fn the_gradient_is_that_of_the_specification() {
        let theme = Theme::quiet_dark();
        let filled = spans(Some(1.0), 20, &theme);
        let table = [(0, "#76c96d"), (7, "#c7b223"), (19, "#ff8978")];
        for (index, expected) in table {
            let found = Rgb::of(filled.get(index).unwrap().style.fg.unwrap()).unwrap();
            let expected = Rgb::parse(expected).unwrap();
            let far =
                [found.0.abs_diff(expected.0), found.1.abs_diff(expected.1), found.2.abs_diff(expected.2)];
            assert!(far.iter().all(|far| *far <= 3), "{found} is not {expected}");
        }
    }

    #[test]
    fn the_terminals_colours_warn_too() {
        let theme = Theme::terminal();
        let color = |share| spans(Some(share), 20, &theme).first().and_then(|span| span.style.fg);
        assert_eq!([0.5, 0.75, 0.95].map(color), [Some(Color::Green), Some(Color::Yellow), Some(Color::Red)]);
    }

    proptest! {
        #[test]
        fn it_is_as_wide_as_asked(share in -1.0..3.0_f64, cells in 0_usize..40, readable: bool) {
            let theme = if readable { Theme::quiet_light() } else { Theme::terminal() };
            let columns: usize =
                spans(Some(share), cells, &theme).iter().map(|span| width::of(&span.content)).sum();
            prop_assert_eq!(columns, cells);
        }
    }
}
