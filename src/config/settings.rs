//! The table of settings, and what they are as types.
//!
//! [`SETTINGS`] is the one place that knows a setting: the loader, the warnings, `mynah config` and the table in the
//! README read it. A new setting is a row here, a value in `config/default.toml` and a field below.

use super::check::{Kind, Value};
use super::display::{CountStyle, Display, ThinkingStyle};
use super::jobs::{AtQuit, JobSettings};
use super::verbs::Verbs;
use super::voice::{self, ReferenceSource, Voice};
use crate::proto::ask::PermissionMode;
use crate::proto::model::ThinkingLevel;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What is known about a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingMeta {
    /// Section and name.
    pub key: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What it does, in one line.
    pub text: &'static str,
    /// A second, shorter variable of the environment.
    pub short_env: Option<&'static str>,
    /// The lists of all layers hold together, instead of the last one alone: a project must not drop a user's rules.
    pub adds_up: bool,
    /// A wrong value of it makes Mynah allow more than the user meant: such a mistake is told loudly.
    pub guards: bool,
    /// From when on a change holds.
    pub holds: Holds,
}

/// From when on a change of a setting holds while the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// At once.
    Now,
    /// In sessions that are opened from then on.
    NextSession,
    /// When the program starts again.
    NextStart,
}

impl Holds {
    /// For people: `from now on`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Now => "from now on",
            Self::NextSession => "from the next session on",
            Self::NextStart => "from the next start on",
        }
    }
}

impl SettingMeta {
    const fn new(key: &'static str, kind: Kind, text: &'static str) -> Self {
        let holds = Holds::NextSession;
        Self { key, kind, text, short_env: None, adds_up: false, guards: false, holds }
    }

    const fn live(self) -> Self {
        Self { holds: Holds::Now, ..self }
    }

    const fn at_start(self) -> Self {
        Self { holds: Holds::NextStart, ..self }
    }

    const fn rules(key: &'static str, text: &'static str) -> Self {
        Self { adds_up: true, ..Self::new(key, Kind::Rules, text) }
    }

    const fn guarding(self) -> Self {
        Self { guards: true, ..self }
    }

    /// The variable of the environment that sets it.
    pub fn env(&self) -> String {
        format!("MYNAH_{}", self.key.replace('.', "_").to_uppercase())
    }
}

const fn number(max: i64) -> Kind {
    Kind::Integer { min: 0, max }
}

const THINKING: &[&str] = &["off", "minimal", "low", "medium", "high", "xhigh", "max"];
const MODES: &[&str] = &["ask", "edits", "yolo"];
const LOG_LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];
const MOUSE: &[&str] = &["on", "wheel", "off"];
const KEYBOARD: &[&str] = &["auto", "off"];
const ASCII: &[&str] = &["auto", "on", "off"];
const CONTRASTS: &[&str] = &["normal", "high"];
const COLORS: &[&str] = &["auto", "none", "16", "256", "truecolor"];
const ENTER_WHILE_RUNNING: &[&str] = &["steer", "queue"];
/// A day: a longer limit is a mistake in the unit.
const DAY: i64 = 86_400;

/// All settings, in the order in which lists show them.
pub const SETTINGS: &[SettingMeta] = &[
    SettingMeta::new("model.default", Kind::Text, "Model of new sessions, as provider/id"),
    SettingMeta::new("model.thinking", Kind::Choice(THINKING), "How hard the model thinks"),
    SettingMeta::new("permissions.mode", Kind::Choice(MODES), "How much runs without asking"),
    SettingMeta::rules("permissions.allow", "Calls that run without asking"),
    SettingMeta::rules("permissions.ask", "Calls that ask in every mode but yolo").guarding(),
    SettingMeta::rules("permissions.deny", "Calls that never run").guarding(),
    SettingMeta::new("tools.enabled", Kind::List, "Tools the model gets; empty for all"),
    SettingMeta::new("tools.bash_timeout_seconds", number(DAY), "Time limit of a shell command; 0 for none"),
    SettingMeta::new("tools.shell_path", Kind::Text, "The shell; empty for bash, else sh"),
    SettingMeta::new("tools.shell_prefix", Kind::Text, "Put in front of every shell command"),
    SettingMeta::new("tools.resize_images", Kind::Bool, "Shrink large pictures for the model"),
    SettingMeta::new(
        "jobs.log_megabytes",
        Kind::Integer { min: 1, max: 100_000 },
        "Output that is kept of a background job",
    ),
    SettingMeta::new("jobs.most_live", number(1_000), "Background jobs that may run at once"),
    SettingMeta::new("jobs.at_quit", Kind::Choice(AtQuit::NAMES), "What becomes of jobs that run at the end")
        .live(),
    SettingMeta::new("retry.max_attempts", number(100), "How often a failed request is repeated"),
    SettingMeta::new(
        "retry.base_seconds",
        number(DAY),
        "Wait before the first repetition; doubles each time",
    ),
    SettingMeta::new("retry.max_delay_seconds", number(DAY), "Longest wait that a provider may ask for"),
    SettingMeta::new(
        "http.idle_timeout_seconds",
        number(DAY),
        "Silence after which a response failed; 0 for none",
    ),
    SettingMeta::new("agent.max_rounds", number(1_000_000), "Model calls in one turn; 0 for no limit"),
    SettingMeta::new("context.files", Kind::Bool, "Read AGENTS.md and CLAUDE.md"),
    SettingMeta::new("session.save", Kind::Bool, "Keep sessions in files"),
    SettingMeta {
        short_env: Some("MYNAH_OFFLINE"),
        ..SettingMeta::new("network.offline", Kind::Bool, "Nothing but the chosen model endpoint").guarding()
    },
    SettingMeta::new(
        "screen.theme",
        Kind::Text,
        "Colours: quiet, contrast, terminal, a theme's name, or dark/light names",
    )
    .live(),
    SettingMeta::new("screen.contrast", Kind::Choice(CONTRASTS), "How well text stands out from its ground")
        .live(),
    SettingMeta::new("screen.colors", Kind::Choice(COLORS), "How many colours; auto asks the terminal")
        .live(),
    SettingMeta::new(
        "screen.mouse",
        Kind::Choice(MOUSE),
        "Take the mouse, or the wheel alone; shift and drag stays the terminal's",
    )
    .live(),
    SettingMeta::new("screen.wheel_lines", Kind::Integer { min: 1, max: 20 }, "Lines that a notch scrolls")
        .live(),
    SettingMeta::new(
        "screen.wheel_events",
        number(20),
        "Events that the terminal sends for a notch; 0 to go by the terminal",
    )
    .live(),
    SettingMeta::new("screen.open_links", Kind::Bool, "A click on an address opens it; else it is copied")
        .live(),
    SettingMeta::new(
        "screen.keyboard",
        Kind::Choice(KEYBOARD),
        "Tell more keys apart where the terminal can",
    )
    .live(),
    SettingMeta::new("screen.title", Kind::Bool, "Name the session in the window's title").live(),
    SettingMeta::new("screen.ascii", Kind::Choice(ASCII), "Plain characters instead of symbols").live(),
    SettingMeta::new("screen.alternate", Kind::Bool, "A screen of our own, gone on exit").at_start(),
    SettingMeta::new(
        "screen.sticky_heading",
        Kind::Bool,
        "Keep the prompt that what is read belongs to in the first row",
    )
    .live(),
    SettingMeta::new("screen.scrollbar", Kind::Bool, "A bar at the right edge shows where the window stands")
        .live(),
    SettingMeta::new("screen.glyphs", Kind::Bool, "Marks tell success beside colours").live(),
    SettingMeta {
        short_env: Some("MYNAH_REDUCED_MOTION"),
        ..SettingMeta::new("screen.reduced_motion", Kind::Bool, "Nothing moves by itself").live()
    },
    SettingMeta::new(
        "display.other_tools",
        Kind::Bool,
        "Calls of tools that are not built in are bands, too",
    )
    .live(),
    SettingMeta::new("display.chains", Kind::Bool, "Chained commands are shown step by step").live(),
    SettingMeta::new(
        "display.thinking",
        Kind::Choice(ThinkingStyle::NAMES),
        "Thinking: its newest lines, then a label; only the label; or all of it",
    )
    .live(),
    SettingMeta::new(
        "display.count",
        Kind::Choice(CountStyle::NAMES),
        "Count calls as tools, or each step of a chained command",
    )
    .live(),
    SettingMeta::new("display.folded", Kind::Bool, "A run of work is one line that opens").live(),
    SettingMeta::new("display.verbs", Kind::Verbs, "What a prompt is called while it runs").live(),
    SettingMeta::new(
        "composer.enter_while_running",
        Kind::Choice(ENTER_WHILE_RUNNING),
        "What Enter does while a turn runs",
    )
    .live(),
    SettingMeta::new("voice.microphone", Kind::Text, "The microphone by its name; empty for the system's")
        .live(),
    SettingMeta::new(
        "voice.source",
        Kind::Text,
        "Where sound comes from: auto, device, arecord, parec, pw-record, or a command",
    )
    .live(),
    SettingMeta::new("voice.model", Kind::Text, "Speech model: a name or a path; empty to go by the memory")
        .live(),
    SettingMeta::new("voice.language", Kind::Text, "Language that is spoken, as en; auto to hear it").live(),
    SettingMeta::new(
        "voice.precision",
        Kind::Choice(voice::PRECISIONS),
        "How the speech model's weights are kept: what is faster, a byte each, or as trained",
    )
    .live(),
    SettingMeta::new("voice.partial_text", Kind::Bool, "Show what was understood while you speak").live(),
    SettingMeta::new(
        "voice.longest_seconds",
        Kind::Integer { min: 1, max: 7_200 },
        "A recording ends by then",
    )
    .live(),
    SettingMeta::new(
        "voice.pre_roll_ms",
        number(10_000),
        "Keep the microphone open between recordings, and this much from before the key",
    )
    .live(),
    SettingMeta::new(
        "voice.idle_minutes",
        Kind::Integer { min: 1, max: 1_440 },
        "When the model's memory is freed",
    )
    .live(),
    SettingMeta::new("voice.threads", number(256), "Threads that decode; 0 for one each core").live(),
    SettingMeta::new("voice.cleanup", Kind::Bool, "A model corrects what was understood").live(),
    SettingMeta::new(
        "voice.cleanup_model",
        Kind::Text,
        "Which model corrects, as provider/id; empty for the session's",
    )
    .live(),
    SettingMeta::new(
        "voice.cleanup_seconds",
        Kind::Integer { min: 1, max: 30 },
        "After this time the text is used as it was understood",
    )
    .live(),
    SettingMeta::new("voice.cleanup_providers", Kind::List, "Providers that may get what you said").live(),
    SettingMeta::new(
        "voice.reference",
        Kind::Choice(ReferenceSource::NAMES),
        "Whose last answer helps to spell: nobody's, this session's, or the focused window's",
    )
    .live(),
    SettingMeta::new(
        "voice.reference_chars",
        Kind::Integer { min: 500, max: 12_000 },
        "How much of that answer is sent at most",
    )
    .live(),
    SettingMeta::new(
        "voice.reference_providers",
        Kind::List,
        "Providers that may get that answer too; the session's own provider has it already",
    )
    .live(),
    SettingMeta::new("log.level", Kind::Choice(LOG_LEVELS), "What the log file holds").at_start(),
];

/// The setting of that key.
pub fn setting(key: &str) -> Option<&'static SettingMeta> {
    SETTINGS.iter().find(|meta| meta.key == key)
}

/// The known name nearest to a mistyped one, if one is near enough to be meant.
pub fn nearest(key: &str) -> Option<&'static str> {
    let by_distance = SETTINGS.iter().map(|meta| (distance(key, meta.key), meta.key));
    let (distance, nearest) = by_distance.min()?;
    // The bare name in the wrong section is meant too.
    let name = key.rsplit('.').next().unwrap_or(key);
    let same_name = SETTINGS.iter().find(|meta| meta.key.rsplit('.').next() == Some(name));
    if distance <= 1 + key.chars().count() / 6 { Some(nearest) } else { same_name.map(|meta| meta.key) }
}

/// How many letters must be put in, taken out or changed to make one text of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (to, above) in b.iter().zip(row.iter_mut().skip(1)) {
            let changed = diagonal + usize::from(from != *to);
            diagonal = *above;
            left = changed.min(diagonal + 1).min(left + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// All settings as a Markdown table, with their defaults.
pub fn reference_table(defaults: &Values) -> String {
    let mut table = "| setting | default | may be | what it does |\n|---|---|---|---|\n".to_owned();
    for meta in SETTINGS {
        let default = defaults.get(meta.key).map(Value::to_string).unwrap_or_default();
        // A bar would end the column.
        let kind = meta.kind.to_string().replace('|', "\\|");
        table.push_str(&format!("| `{}` | `{}` | {} | {} |\n", meta.key, default, kind, meta.text));
    }
    table
}

/// Checked values by key.
pub type Values = BTreeMap<&'static str, Value>;

/// What holds, as types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `[model]`
    pub model: ModelSettings,
    /// `[permissions]`
    pub permissions: PermissionSettings,
    /// `[tools]`
    pub tools: ToolSettings,
    /// `[jobs]`
    pub jobs: JobSettings,
    /// `[retry]`
    pub retry: RetrySettings,
    /// Silence after which a response has failed; `None` for no limit.
    pub http_idle_timeout: Option<Duration>,
    /// Model calls in one turn; `None` for no limit.
    pub max_rounds: Option<u32>,
    /// Read context files.
    pub context_files: bool,
    /// Keep sessions in files.
    pub save_sessions: bool,
    /// Nothing but the chosen model endpoint.
    pub offline: bool,
    /// `[screen]`
    pub screen: ScreenSettings,
    /// `[display]`
    pub display: Display,
    /// `display.verbs`
    pub verbs: Verbs,
    /// Enter steers the running turn; else it queues.
    pub enter_steers: bool,
    /// `[voice]`
    pub voice: Voice,
    /// What the log file holds: `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub log_level: String,
}

/// `[screen]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenSettings {
    /// A theme's name, or two as `dark/light`.
    pub theme: String,
    /// `normal` or `high`.
    pub contrast: String,
    /// `auto`, `none`, `16`, `256` or `truecolor`.
    pub colors: String,
    /// The mouse is taken.
    pub mouse: bool,
    /// Of the mouse only the wheel.
    pub wheel_only: bool,
    /// Lines that a notch of the wheel scrolls.
    pub wheel_lines: u8,
    /// Events that the terminal sends for a notch; `None` to go by the terminal.
    pub wheel_events: Option<u8>,
    /// A click on an address opens it.
    pub open_links: bool,
    /// Keyboard protocols are used where the terminal has one.
    pub keyboard: bool,
    /// The window's title names the session.
    pub title: bool,
    /// Plain characters instead of symbols; `None` where the terminal draws them too wide.
    pub ascii: Option<bool>,
    /// The terminal's alternate screen is used.
    pub alternate: bool,
    /// The prompt that what is read belongs to stays in the first row.
    pub sticky_heading: bool,
    /// A bar at the right edge shows where the window stands.
    pub scrollbar: bool,
    /// Marks beside colours.
    pub glyphs: bool,
    /// Nothing moves by itself.
    pub reduced_motion: bool,
}

/// `[model]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSettings {
    /// Model of new sessions, as provider/id; `None` to look for one.
    pub default: Option<String>,
    /// How hard it thinks.
    pub thinking: ThinkingLevel,
}

/// `[permissions]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionSettings {
    /// The mode at the start.
    pub mode: PermissionMode,
    /// Rules that allow, of all layers.
    pub allow: Vec<String>,
    /// Rules that ask, of all layers.
    pub ask: Vec<String>,
    /// Rules that deny, of all layers.
    pub deny: Vec<String>,
}

/// `[tools]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSettings {
    /// Tools the model gets; empty for all.
    pub enabled: Vec<String>,
    /// Time limit of a shell command that sets none; `None` for no limit.
    pub bash_timeout: Option<Duration>,
    /// The shell; `None` for bash, else sh.
    pub shell_path: Option<PathBuf>,
    /// Put in front of every shell command.
    pub shell_prefix: Option<String>,
    /// Shrink large pictures.
    pub resize_images: bool,
}

/// `[retry]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetrySettings {
    /// How often a failed request is repeated.
    pub max_attempts: u32,
    /// Wait before the first repetition.
    pub base: Duration,
    /// Longest wait that a provider may ask for.
    pub max_delay: Duration,
}

impl Settings {
    /// Types for checked values. Values of all keys must be there: `config/default.toml` has them, a test says so.
    pub fn from_values(values: &Values) -> Self {
        let values = Typed(values);
        Self {
            model: ModelSettings {
                default: values.optional_text("model.default"),
                thinking: values.text("model.thinking").parse().unwrap_or_default(),
            },
            permissions: PermissionSettings {
                mode: values.text("permissions.mode").parse().unwrap_or_default(),
                allow: values.list("permissions.allow"),
                ask: values.list("permissions.ask"),
                deny: values.list("permissions.deny"),
            },
            tools: ToolSettings {
                enabled: values.list("tools.enabled"),
                bash_timeout: values.limit_seconds("tools.bash_timeout_seconds"),
                shell_path: values.optional_text("tools.shell_path").map(PathBuf::from),
                shell_prefix: values.optional_text("tools.shell_prefix"),
                resize_images: values.switch("tools.resize_images"),
            },
            jobs: JobSettings::of(&values),
            retry: RetrySettings {
                max_attempts: values.number("retry.max_attempts"),
                base: values.seconds("retry.base_seconds"),
                max_delay: values.seconds("retry.max_delay_seconds"),
            },
            http_idle_timeout: values.limit_seconds("http.idle_timeout_seconds"),
            max_rounds: Some(values.number("agent.max_rounds")).filter(|rounds| *rounds > 0),
            context_files: values.switch("context.files"),
            save_sessions: values.switch("session.save"),
            offline: values.switch("network.offline"),
            screen: ScreenSettings {
                theme: values.text("screen.theme").to_owned(),
                contrast: values.text("screen.contrast").to_owned(),
                colors: values.text("screen.colors").to_owned(),
                mouse: values.text("screen.mouse") != "off",
                wheel_only: values.text("screen.mouse") == "wheel",
                wheel_lines: u8::try_from(values.number("screen.wheel_lines")).unwrap_or(u8::MAX),
                wheel_events: u8::try_from(values.number("screen.wheel_events"))
                    .ok()
                    .filter(|events| *events > 0),
                open_links: values.switch("screen.open_links"),
                keyboard: values.text("screen.keyboard") != "off",
                title: values.switch("screen.title"),
                ascii: match values.text("screen.ascii") {
                    "on" => Some(true),
                    "off" => Some(false),
                    _ => None,
                },
                alternate: values.switch("screen.alternate"),
                sticky_heading: values.switch("screen.sticky_heading"),
                scrollbar: values.switch("screen.scrollbar"),
                glyphs: values.switch("screen.glyphs"),
                reduced_motion: values.switch("screen.reduced_motion"),
            },
            display: Display {
                other_tools: values.switch("display.other_tools"),
                chains: values.switch("display.chains"),
                thinking: ThinkingStyle::named(values.text("display.thinking")),
                count: CountStyle::named(values.text("display.count")),
                folded: values.switch("display.folded"),
            },
            verbs: Verbs::parse(values.text("display.verbs")).unwrap_or_default(),
            enter_steers: values.text("composer.enter_while_running") == "steer",
            voice: Voice::of(&values),
            log_level: values.text("log.level").to_owned(),
        }
    }
}

/// Checked values, read as the type that their kind promises.
pub(super) struct Typed<'a>(&'a Values);

impl Typed<'_> {
    pub(super) fn text(&self, key: &str) -> &str {
        if let Some(Value::Text(text)) = self.0.get(key) { text } else { "" }
    }

    pub(super) fn optional_text(&self, key: &str) -> Option<String> {
        Some(self.text(key)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    pub(super) fn switch(&self, key: &str) -> bool {
        matches!(self.0.get(key), Some(Value::Bool(true)))
    }

    pub(super) fn list(&self, key: &str) -> Vec<String> {
        if let Some(Value::List(list)) = self.0.get(key) { list.clone() } else { Vec::new() }
    }

    pub(super) fn number(&self, key: &str) -> u32 {
        if let Some(Value::Integer(number)) = self.0.get(key) {
            u32::try_from(*number).unwrap_or_default()
        } else {
            0
        }
    }

    pub(super) fn seconds(&self, key: &str) -> Duration {
        Duration::from_secs(self.number(key).into())
    }

    pub(super) fn limit_seconds(&self, key: &str) -> Option<Duration> {
        Some(self.seconds(key)).filter(|limit| !limit.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_types() {
        assert_eq!(THINKING, ThinkingLevel::ALL.map(ThinkingLevel::as_str));
        assert_eq!(MODES, PermissionMode::ALL.map(PermissionMode::as_str));
    }

    #[test]
    fn variables_follow_from_keys() {
        let env = |key| setting(key).map(SettingMeta::env);
        assert_eq!(env("model.default").as_deref(), Some("MYNAH_MODEL_DEFAULT"));
        assert_eq!(env("tools.bash_timeout_seconds").as_deref(), Some("MYNAH_TOOLS_BASH_TIMEOUT_SECONDS"));
    }

    #[test]
    fn near_names() {
        let table = [
            ("model.defualt", Some("model.default")),
            ("retry.max_atempts", Some("retry.max_attempts")),
            ("tool.enabled", Some("tools.enabled")),
            ("ui.thinking", Some("model.thinking")),
            ("colour", None),
        ];
        for (typed, meant) in table {
            assert_eq!(nearest(typed), meant, "{typed}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
    }
}
