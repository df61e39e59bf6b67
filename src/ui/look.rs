//! What everything that draws needs to know beside its own state.

use crate::config::display::Display;
use crate::config::keymap::Keymap;
use crate::theme::Theme;
use std::path::Path;
use std::time::{Duration, Instant};

/// The look of one frame.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Roles to colours.
    pub theme: &'a Theme,
    /// Hints name keys from here.
    pub keymap: &'a Keymap,
    /// When the frame is drawn. Nothing that draws looks at another clock.
    pub now: Instant,
    /// When the program began: all spinners turn by the time since then, in step.
    pub epoch: Instant,
    /// Things may move. Without it they change in steps, and the last step at once.
    pub motion: bool,
    /// Marks tell success beside colours.
    pub glyphs: bool,
    /// What else the user chose.
    pub display: Display,
    /// The user's home folder, shown as `~`.
    pub home: &'a Path,
    /// The working folder: paths below it are shown from there.
    pub cwd: &'a Path,
}

impl Look<'_> {
    /// The clock of all animations.
    pub fn clock(&self) -> Duration {
        self.now.saturating_duration_since(self.epoch)
    }

    /// When the clock next reaches a multiple of `step`: the next frame of something that moves once a step.
    pub fn next_step(&self, step: Duration) -> Instant {
        let step = step.max(Duration::from_millis(1));
        let left = step.as_nanos() - self.clock().as_nanos() % step.as_nanos();
        self.now + Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX))
    }

    /// The key to name for an action, as people write it; nothing when it has none.
    pub fn key(&self, action: crate::config::action::Action) -> Option<String> {
        self.keymap.hint(action).map(|key| key.to_string())
    }

    /// The key that shows the rest of rows that are cut. With folded runs the same key opens those and shows nothing more
    /// of any row, so none is named.
    pub fn expand_key(&self) -> Option<String> {
        self.key(crate::config::action::Action::ExpandRows).filter(|_| !self.display.folded)
    }

    /// A path as it is shown: from the working folder, else from the home folder as `~`, else whole.
    pub fn path(&self, path: &Path) -> String {
        let below = |base: &Path| path.strip_prefix(base).ok().filter(|rest| !rest.as_os_str().is_empty());
        if let Some(rest) = below(self.cwd) {
            return rest.display().to_string();
        }
        self.path_from_home(path)
    }

    /// A path from the home folder as `~`, else whole.
    pub fn path_from_home(&self, path: &Path) -> String {
        if path == self.home {
            return "~".to_owned();
        }
        match path.strip_prefix(self.home).ok().filter(|_| self.home.parent().is_some()) {
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }
}
