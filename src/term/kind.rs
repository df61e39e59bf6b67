//! What is known of the terminal by its environment alone, where asking would not help: these print what they do not know.

use crate::config::env::Env;

/// What may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Addresses behind cells (OSC 8).
    pub links: bool,
    /// The window's title (OSC 2).
    pub title: bool,
}

impl Kind {
    /// By `TERM` and what multiplexers set.
    pub fn of(env: &Env) -> Self {
        let term = env.get("TERM").unwrap_or_default();
        // The Linux console, and terminals inside editors.
        let is_plain = term == "linux" || term == "dumb" || term.starts_with("eterm");
        // GNU screen cuts long sequences in the middle, and hands a title on to the terminal around it without ever putting
        // the old one back. Within tmux the name may be the same.
        let is_screen = env.get("STY").is_some() || term.starts_with("screen");
        let takes_all = !is_plain && (!is_screen || env.get("TMUX").is_some());
        Self { links: takes_all, title: takes_all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_prints_what_it_does_not_know_gets_none_of_it() {
        let table: [(&[_], bool, bool); 6] = [
            (&[("TERM", "xterm-256color")], true, true),
            (&[("TERM", "linux")], false, false),
            (&[("TERM", "screen.xterm-256color"), ("STY", "1.x")], false, false),
            (&[("TERM", "screen")], false, false),
            (&[("TERM", "screen-256color"), ("TMUX", "/tmp/x")], true, true),
            (&[("TERM", "eterm-color")], false, false),
        ];
        for (variables, links, title) in table {
            let env = match variables {
                [one] => Env::of([*one]),
                [one, other, ..] => Env::of([*one, *other]),
                [] => Env::of([]),
            };
            assert_eq!(Kind::of(&env), Kind { links, title }, "{variables:?}");
        }
    }
}
