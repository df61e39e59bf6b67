//! How many colours the terminal is given, decided from the environment.

use crate::config::env::Env;

/// Colours that may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: attributes only.
    None,
    /// The terminal's own sixteen.
    Sixteen,
    /// The fixed palette of 256.
    Indexed,
    /// Red, green and blue, 8 bits each.
    TrueColor,
}

/// `NO_COLOR` (any value but an empty one) wins, then `COLORTERM`, then what `TERM` and `TERM_PROGRAM` are known for.
pub fn depth(env: &Env) -> Depth {
    let value = |name| env.get(name).unwrap_or_default();
    let term = value("TERM");
    if !value("NO_COLOR").is_empty() || term == "dumb" {
        return Depth::None;
    }
    let known = |words: &[&str]| words.iter().any(|word| term.contains(word));
    // Screen changes what it can't show, and inherits COLORTERM from the terminal around it.
    let screen = term.starts_with("screen") && env.get("TMUX").is_none();
    if matches!(value("COLORTERM"), "truecolor" | "24bit") && !screen
        || known(&["truecolor", "direct", "kitty", "ghostty", "alacritty", "wezterm", "foot", "contour"])
        || matches!(value("TERM_PROGRAM"), "iTerm.app" | "WezTerm" | "vscode" | "ghostty")
    {
        return Depth::TrueColor;
    }
    if known(&["256"]) || value("TERM_PROGRAM") == "Apple_Terminal" { Depth::Indexed } else { Depth::Sixteen }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depth_follows_the_environment() {
        // TERM, COLORTERM, NO_COLOR; an empty value is none.
        let table = [
            ("xterm-256color", "truecolor", "", Depth::TrueColor),
            ("xterm-256color", "24bit", "", Depth::TrueColor),
            ("xterm-256color", "", "", Depth::Indexed),
            ("xterm", "", "", Depth::Sixteen),
            ("linux", "", "", Depth::Sixteen),
            ("", "", "", Depth::Sixteen),
            ("xterm-kitty", "", "", Depth::TrueColor),
            ("dumb", "truecolor", "", Depth::None),
            ("xterm-kitty", "", "1", Depth::None),
            ("screen-256color", "truecolor", "", Depth::Indexed),
        ];
        for (term, colorterm, no_color, wanted) in table {
            let env = Env::of([("TERM", term), ("COLORTERM", colorterm), ("NO_COLOR", no_color)]);
            assert_eq!(depth(&env), wanted, "{term} {colorterm} {no_color}");
        }
    }
}
