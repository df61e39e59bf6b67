//! Where this program runs, as far as sound is concerned: to say why there is none.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What speaks for and against a microphone here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The terminal is on another machine.
    pub is_ssh: bool,
    /// This is a container.
    pub is_container: bool,
    /// There is a device that records.
    pub has_device: bool,
    /// There is a device that records, and we may not use it.
    pub is_refused: bool,
    /// A sound server can be reached.
    pub has_server: bool,
    /// The user says where the sound server is: over SSH, it may be one at the user's side.
    pub names_server: bool,
}

impl Surroundings {
    /// Those of this process.
    pub fn here() -> Self {
        Self::of(|name| std::env::var_os(name), Path::new("/"))
    }

    /// Those that a set of environment variables and a file system tell of.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>, root: &Path) -> Self {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let names_server = variable("PULSE_SERVER").is_some() || variable("PIPEWIRE_REMOTE").is_some();
        let sockets = variable("XDG_RUNTIME_DIR").map(PathBuf::from).is_some_and(|folder| {
            let folder = below(root, &folder);
            ["pulse/native", "pipewire-0"].iter().any(|socket| folder.join(socket).exists())
        });
        let devices = recorders(&below(root, Path::new("/dev/snd")));
        Self {
            is_ssh: ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].iter().any(|name| variable(name).is_some()),
            is_container: variable("container").is_some()
                || ["/.dockerenv", "/run/.containerenv"]
                    .iter()
                    .any(|file| below(root, Path::new(file)).exists()),
            has_device: !devices.is_empty(),
            is_refused: !devices.is_empty() && devices.iter().all(|device| !may_use(device)),
            has_server: names_server || sockets,
            names_server,
        }
    }

    /// Why nothing should be opened unless the user names what.
    ///
    /// Over SSH the devices of this machine are in another room than the user.
    pub const fn why_not_by_itself(&self) -> Option<&'static str> {
        if self.is_ssh && !self.names_server {
            Some(
                "No microphone over SSH: this program runs on another machine than your terminal. Set voice.source to a \
                 command that brings the sound here, or to device for the microphone of this machine.",
            )
        } else {
            None
        }
    }

    /// Why opening has failed, where the surroundings tell it better than the system's error.
    pub const fn why_none(&self) -> Option<&'static str> {
        if !cfg!(target_os = "linux") || self.has_server {
            return None;
        }
        if !self.has_device {
            return Some(if self.is_container {
                "No microphone in this container: it has neither a sound device nor the socket of a sound server. Start \
                 it with one of them, or set voice.source to a command that brings the sound."
            } else if self.is_ssh {
                "No microphone on this machine, which your terminal is connected to over SSH. Set voice.source to a \
                 command that brings the sound here."
            } else {
                "No microphone on this machine: it has neither a recording device nor a sound server that runs. Connect \
                 a microphone, or set voice.source to a command that brings the sound."
            });
        }
        if self.is_refused {
            return Some(
                "This program may not use the sound devices of this machine. Become a member of the group “audio” and \
                 log in again.",
            );
        }
        None
    }
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Devices that record: `pcmC0D0c`.
fn recorders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("pcm") && name.ends_with('c')
        })
        .map(|entry| entry.path())
        .collect()
}

fn may_use(device: &Path) -> bool {
    rustix::fs::access(device, rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn of(variables: &[(&str, &str)], files: &[&str]) -> Surroundings {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let variables: HashMap<_, _> = variables.iter().copied().collect();
        Surroundings::of(|name| variables.get(name).map(OsString::from), root.path())
    }

    #[test]
    fn what_is_said_where() {
        let ssh = ("SSH_CONNECTION", "1.2.3.4 5 6.7.8.9 22");
        let runtime = ("XDG_RUNTIME_DIR", "/run/user/7");
        // Variables, files, what is said before opening, what is said after it has failed.
        type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], Option<&'a str>, Option<&'a str>);
        let cases: [Case<'_>; 9] = [
            (&[], &[], None, Some("No microphone on this machine: it has neither")),
            (
                &[],
                &["dev/snd/pcmC0D0p", "dev/snd/controlC0"],
                None,
                Some("No microphone on this machine: it has neither"),
            ),
            (&[], &["dev/snd/pcmC0D0c"], None, None),
            (&[runtime], &["run/user/7/pulse/native"], None, None),
            (&[runtime], &["run/user/7/pipewire-0"], None, None),
            (&[], &[".dockerenv"], None, Some("No microphone in this container")),
            (&[("container", "podman"), ("PULSE_SERVER", "unix:/pulse")], &[], None, None),
            (
                &[ssh],
                &[],
                Some("No microphone over SSH"),
                Some("No microphone on this machine, which your terminal"),
            ),
            (&[ssh, ("PULSE_SERVER", "tcp:localhost:4713")], &[], None, None),
        ];
        for (variables, files, before, after) in cases {
            let surroundings = of(variables, files);
            let is = |said: Option<&'static str>, expected: Option<&str>| match (said, expected) {
                (None, None) => true,
                (Some(said), Some(expected)) => said.starts_with(expected),
                _ => false,
            };
            assert!(
                is(surroundings.why_not_by_itself(), before),
                "{variables:?} {files:?}: {surroundings:?}"
            );
            if cfg!(target_os = "linux") {
                assert!(is(surroundings.why_none(), after), "{variables:?} {files:?}: {surroundings:?}");
            }
        }
        assert!(of(&[ssh], &["dev/snd/pcmC0D0c"]).why_not_by_itself().is_some());
    }

    #[test]
    fn refused_devices() {
        let refused = Surroundings { has_device: true, is_refused: true, ..Surroundings::default() };
        if cfg!(target_os = "linux") {
            assert!(refused.why_none().unwrap().contains("“audio”"));
        }
    }
}
