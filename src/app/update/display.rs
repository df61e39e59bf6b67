//! `/display`: how work is shown. A table of switches; each is a setting, holds at once and is kept.

use super::Outcome;
use crate::app::effect::Effect;
use crate::app::state::AppState;
use crate::config::display::{CountStyle, ThinkingStyle};
use crate::config::settings::{Settings, setting};
use crate::proto::event::NoticeLevel;
use std::time::Instant;

/// What can be switched.
#[derive(Clone, Copy, Debug)]
struct Switch {
    /// As it is typed.
    name: &'static str,
    /// The setting that keeps it.
    key: &'static str,
    /// Its values, as they are typed and as the setting has them.
    values: &'static [(&'static str, &'static str)],
    /// Which of them holds.
    now: fn(&AppState) -> usize,
}

const ON_OFF: &[(&str, &str)] = &[("on", "true"), ("off", "false")];

const SWITCHES: [Switch; 6] = [
    Switch {
        name: "other-tools",
        key: "display.other_tools",
        values: ON_OFF,
        now: |state| usize::from(!state.display.other_tools),
    },
    Switch {
        name: "chains",
        key: "display.chains",
        values: ON_OFF,
        now: |state| usize::from(!state.display.chains),
    },
    Switch {
        name: "motion",
        key: "screen.reduced_motion",
        values: &[("full", "false"), ("reduced", "true")],
        now: |state| usize::from(!state.motion),
    },
    Switch {
        name: "thinking",
        key: "display.thinking",
        values: &[("tail", "tail"), ("collapsed", "collapsed"), ("full", "full")],
        now: |state| match state.display.thinking {
            ThinkingStyle::Tail => 0,
            ThinkingStyle::Collapsed => 1,
            ThinkingStyle::Full => 2,
        },
    },
    Switch {
        name: "count",
        key: "display.count",
        values: &[("calls", "calls"), ("steps", "steps")],
        now: |state| usize::from(state.display.count == CountStyle::Steps),
    },
    Switch {
        name: "folded",
        key: "display.folded",
        values: ON_OFF,
        now: |state| usize::from(!state.display.folded),
    },
];

impl Switch {
    /// What it is about.
    fn about(self) -> &'static str {
        match self.name {
            // Its setting says the opposite of the switch.
            "motion" => "Bands, marks and new words move, or only times do",
            _ => setting(self.key).map_or("", |meta| meta.text),
        }
    }

    fn value(self, state: &AppState) -> &'static str {
        self.values.get((self.now)(state)).map_or("", |(word, _)| word)
    }

    fn words(self) -> String {
        self.values.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" | ")
    }
}

/// The command: without an argument it tells all switches, with a name the value of that one, with a value it changes it.
pub fn command(state: &mut AppState, argument: &str, now: Instant) -> Outcome {
    let mut words = argument.split_whitespace();
    let (name, value, more) = (words.next(), words.next(), words.next());
    let Some(name) = name else {
        let text = told(state);
        state.conversation.notice(NoticeLevel::Info, text);
        state.pane.to_end();
        return Outcome::changed();
    };
    let mut say = |level, text: String| {
        state.toast(level, text, now);
        Outcome::changed()
    };
    let Some(switch) = SWITCHES.into_iter().find(|switch| switch.name == name) else {
        let names: Vec<_> = SWITCHES.iter().map(|switch| switch.name).collect();
        return say(NoticeLevel::Warning, format!("/display knows {}.", names.join(", ")));
    };
    let Some(word) = value else {
        let text = format!("{name} is {}; it can be {}.", switch.value(state), switch.words());
        state.toast(NoticeLevel::Info, text, now);
        return Outcome::changed();
    };
    match switch.values.iter().find(|(known, _)| *known == word && more.is_none()) {
        Some((_, value)) => set(state, switch.key, value),
        None => say(NoticeLevel::Warning, format!("{name} can be {}.", switch.words())),
    }
}

/// The footer counts tools the other way.
pub fn next_count(state: &mut AppState) -> Outcome {
    let next = match state.display.count {
        CountStyle::Calls => "steps",
        CountStyle::Steps => "calls",
    };
    set(state, "display.count", next)
}

/// It holds at once, also where it can't be kept.
pub fn set(state: &mut AppState, key: &str, value: &str) -> Outcome {
    let is_on = value == "true";
    match key {
        "display.other_tools" => state.display.other_tools = is_on,
        "display.chains" => state.display.chains = is_on,
        "screen.reduced_motion" => state.motion = !is_on,
        "display.thinking" => show_thinking_as(state, ThinkingStyle::named(value)),
        "display.count" => state.display.count = CountStyle::named(value),
        "display.folded" => state.display.folded = is_on,
        _ => {}
    }
    Outcome::effect(Effect::Set { key: key.to_owned(), value: Some(value.to_owned()) })
}

/// The settings are others now.
pub fn now_hold(state: &mut AppState, settings: &Settings) {
    state.verbs.clone_from(&settings.verbs);
    if state.display != settings.display {
        show_thinking_as(state, settings.display.thinking);
        state.display = settings.display;
    }
}

/// Another style holds for all thinking, whatever was wished for single ones; the same one changes nothing.
fn show_thinking_as(state: &mut AppState, style: ThinkingStyle) {
    if state.display.thinking != style {
        state.display.thinking = style;
        state.show_thinking(style == ThinkingStyle::Full);
    }
}

/// All switches with their values.
fn told(state: &AppState) -> String {
    let mut text = "How work is shown. /display SWITCH VALUE changes it.".to_owned();
    for switch in SWITCHES {
        let about = switch.about();
        // Two columns, then what they mean: as wide as the longest name and value.
        text.push_str(&format!("\n{:<12}{:<10}{about}", switch.name, switch.value(state)));
    }
    text
}

/// What completion offers behind the command: each switch with each of its values.
pub fn values() -> Vec<(String, String)> {
    let values = |switch: Switch| {
        let about = switch.about();
        let values = switch.values.iter();
        values.map(move |(word, _)| (format!("{} {word}", switch.name), about.to_owned()))
    };
    SWITCHES.into_iter().flat_map(values).collect()
}
