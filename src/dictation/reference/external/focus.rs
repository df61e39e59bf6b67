//! Which window has the focus, and which agent runs in it: Hyprland and kitty. Others can be added behind the traits.

use super::super::Agent;
use super::helper;
use serde::Deserialize;
use std::time::Duration;

/// Each question may take so long.
pub const LIMIT: Duration = Duration::from_secs(1);

/// The focused window.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Window {
    /// What kind of program it is of.
    pub class: String,
    /// Its process.
    pub pid: u32,
}

/// A process in the foreground of a terminal's pane.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Foreground {
    /// Its id.
    pub pid: u32,
    /// How it was called. Any process can set this: it helps to choose, and proves nothing.
    #[serde(default)]
    pub cmdline: Vec<String>,
}

/// Knows the focused window.
pub trait Compositor: Send {
    /// The focused window, if that can be told within a second.
    fn focused(&self) -> Option<Window>;
}

/// Knows what runs in its panes.
pub trait Terminal: Send {
    /// What runs in the foreground of the focused pane of the terminal of that process.
    fn foreground(&self, terminal: u32) -> Option<Vec<Foreground>>;
}

/// Asks `hyprctl`.
pub struct Hyprland;

impl Compositor for Hyprland {
    fn focused(&self) -> Option<Window> {
        let output = helper::output("hyprctl", &["activewindow", "-j"], LIMIT)?;
        serde_json::from_slice(&output).ok()
    }
}

/// Asks `kitty @` over the socket that is named after the terminal's process.
pub struct Kitty;

impl Terminal for Kitty {
    fn foreground(&self, terminal: u32) -> Option<Vec<Foreground>> {
        let socket = format!("unix:/tmp/kitty-{terminal}");
        let output = helper::output("kitty", &["@", "--to", &socket, "ls"], LIMIT)?;
        focused_pane(&output)
    }
}

#[derive(Deserialize)]
struct OsWindow {
    #[serde(default)]
    is_focused: bool,
    #[serde(default)]
    tabs: Vec<Tab>,
}

#[derive(Deserialize)]
struct Tab {
    #[serde(default)]
    is_focused: bool,
    #[serde(default)]
    windows: Vec<Pane>,
}

#[derive(Deserialize)]
struct Pane {
    #[serde(default)]
    is_focused: bool,
    #[serde(default)]
    foreground_processes: Vec<Foreground>,
}

/// The foreground processes of the one focused pane. More than one, or none: nothing.
pub fn focused_pane(listing: &[u8]) -> Option<Vec<Foreground>> {
    let windows: Vec<OsWindow> = serde_json::from_slice(listing).ok()?;
    let tabs = windows.into_iter().filter(|window| window.is_focused).flat_map(|window| window.tabs);
    let panes = tabs.filter(|tab| tab.is_focused).flat_map(|tab| tab.windows);
    let mut panes = panes.filter(|pane| pane.is_focused);
    let pane = panes.next()?;
    panes.next().is_none().then_some(pane.foreground_processes)
}

/// The agent among the processes of a pane: the last one that is called exactly `pi` or `codex`.
pub fn agent_in(processes: &[Foreground]) -> Option<(Agent, u32)> {
    processes.iter().rev().find_map(|process| {
        let called = process.cmdline.first()?;
        let agent = match called.rsplit('/').next()? {
            "pi" => Agent::Pi,
            "codex" => Agent::Codex,
            _ => return None,
        };
        Some((agent, process.pid))
    })
}
