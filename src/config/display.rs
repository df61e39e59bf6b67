//! How the transcript and the phase line are shown, as far as the user chooses it. A switch is a field here, a row of
//! [`super::settings::SETTINGS`] and a word of `/display`.

/// What the user chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Display {
    /// Calls of tools that are not built in are bands, too; else a plain line.
    pub other_tools: bool,
    /// Chained commands are shown as steps.
    pub chains: bool,
    /// How thinking is shown.
    pub thinking: ThinkingStyle,
    /// What the footer counts as a tool.
    pub count: CountStyle,
    /// A run of work is one line.
    pub folded: bool,
}

impl Default for Display {
    fn default() -> Self {
        Self {
            other_tools: true,
            chains: true,
            thinking: ThinkingStyle::Tail,
            count: CountStyle::Steps,
            folded: false,
        }
    }
}

/// How thinking is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThinkingStyle {
    /// Its newest lines while it goes on, a label afterwards.
    Tail,
    /// A label.
    Collapsed,
    /// All of it.
    Full,
}

impl ThinkingStyle {
    /// As the setting names them.
    pub const NAMES: &'static [&'static str] = &["tail", "collapsed", "full"];

    /// The style of this name.
    pub fn named(name: &str) -> Self {
        match name {
            "collapsed" => Self::Collapsed,
            "full" => Self::Full,
            _ => Self::Tail,
        }
    }
}

/// What the footer counts as a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CountStyle {
    /// Each call.
    Calls,
    /// Each step of a chained command, and each other call.
    Steps,
}

impl CountStyle {
    /// As the setting names them.
    pub const NAMES: &'static [&'static str] = &["calls", "steps"];

    /// The style of this name.
    pub fn named(name: &str) -> Self {
        if name == "calls" { Self::Calls } else { Self::Steps }
    }
}
