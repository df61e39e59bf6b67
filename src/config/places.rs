//! Where Mynah keeps things.

use super::env::Env;
use std::path::{Path, PathBuf};

/// The folders of one user. None of them need exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The user's home folder.
    pub home: PathBuf,
    /// `config.toml`, `keymap.toml`, `models.toml`, `auth.toml`, context files.
    pub config: PathBuf,
    /// Sessions, logs, jobs.
    pub state: PathBuf,
    /// Whatever can be fetched or made again.
    pub cache: PathBuf,
    /// Sockets and locks of running programs.
    pub run: PathBuf,
}

impl Places {
    /// The folders by `MYNAH_HOME`, else by the XDG rules.
    pub fn from_env(env: &Env) -> Self {
        let home = env.folder("HOME").unwrap_or_else(|| PathBuf::from("/"));
        if let Some(all) = env.get("MYNAH_HOME") {
            let all = std::path::absolute(all).unwrap_or_else(|_| PathBuf::from(all));
            return Self {
                home,
                config: all.join("config"),
                state: all.join("state"),
                cache: all.join("cache"),
                run: all.join("run"),
            };
        }
        let xdg = |name: &str, fallback: &str| {
            env.folder(name).unwrap_or_else(|| home.join(fallback)).join("mynah")
        };
        let cache = xdg("XDG_CACHE_HOME", ".cache");
        Self {
            config: xdg("XDG_CONFIG_HOME", ".config"),
            state: xdg("XDG_STATE_HOME", ".local/state"),
            run: env.folder("XDG_RUNTIME_DIR").map_or_else(|| cache.join("run"), |dir| dir.join("mynah")),
            cache,
            home,
        }
    }

    /// Folder of the session logs of one working directory.
    pub fn sessions_of(&self, cwd: &Path) -> PathBuf {
        let name: String = cwd
            .to_string_lossy()
            .trim_start_matches('/')
            .chars()
            .map(|c| if matches!(c, '/' | '\\' | ':') { '-' } else { c })
            .collect();
        self.sessions().join(format!("--{name}--"))
    }

    /// Folder of all session logs.
    pub fn sessions(&self) -> PathBuf {
        self.state.join("sessions")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_folder_holds_everything_when_asked() {
        let places = Places::from_env(&Env::of([("HOME", "/home/u"), ("MYNAH_HOME", "/x")]));
        assert_eq!(places.config, Path::new("/x/config"));
        assert_eq!(places.sessions_of(Path::new("/home/u/p")), Path::new("/x/state/sessions/--home-u-p--"));
    }

    #[test]
    fn xdg_folders_win_over_the_fallbacks_unless_relative() {
        let env = Env::of([("HOME", "/home/u"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "relative")]);
        let places = Places::from_env(&env);
        assert_eq!(places.config, Path::new("/c/mynah"));
        assert_eq!(places.state, Path::new("/home/u/.local/state/mynah"));
        assert_eq!(places.run, Path::new("/home/u/.cache/mynah/run"));
    }
}
