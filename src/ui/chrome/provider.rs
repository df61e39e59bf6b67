//! A provider's colour: all of the same weight, told apart by hue alone.

use crate::theme::Theme;
use crate::theme::mix::Rgb;
use crate::theme::role::{Role, Weight};
use ratatui::style::Color;

const LIGHTNESS: f64 = 0.72;
const CHROMA: f64 = 0.09;

/// The colour of a provider's name and models where they stand on `ground` (`Reset` is the page).
pub fn color(provider: &str, theme: &Theme, ground: Color) -> Color {
    if !theme.is_readable() {
        return theme.color(Role::Accent);
    }
    let color = Rgb::from_oklch(LIGHTNESS, CHROMA, hue(provider)).color();
    theme.lift(color, ground, Weight::Primary)
}

fn hue(provider: &str) -> f64 {
    match provider {
        "anthropic" | "claude-code" | "meridian" => 50.0,
        "openai" | "openai-codex" => 260.0,
        "openrouter" => 305.0,
        "opencode-go" => 195.0,
        "opencode" | "opencode-zen" | "zen" => 150.0,
        _ => 172.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::contrast;

    #[test]
    fn families_have_a_colour_of_their_own_that_can_be_read() {
        let families = ["anthropic", "openai", "openrouter", "opencode-go", "opencode", "ollama"];
        for theme in [Theme::quiet_dark(), Theme::quiet_light()] {
            let colors: Vec<_> = families.iter().map(|family| color(family, &theme, Color::Reset)).collect();
            for (index, color) in colors.iter().enumerate() {
                assert!(!colors.iter().skip(index + 1).any(|other| other == color));
                assert!(contrast::ratio(Rgb::of(*color).unwrap(), theme.page()) >= 4.5);
            }
        }
        assert_eq!(color("openai", &Theme::terminal(), Color::Reset), Color::Cyan);
    }
}
