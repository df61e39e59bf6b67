//! Opens an address with the system's own program for that.

use crate::config::env::Env;
use crate::term::clipboard::Way;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// What the system opens in a browser or a mail program. Handlers for anything else may do more than show something.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];
/// Stands for a browser where there is no desktop: one that draws on a terminal would start on nothing, unseen.
const NO_BROWSER: &str = "no-desktop";

/// Opens the address, and waits for the program that does: not for the loop. `started` is called when it runs. Its
/// environment has none of `secrets`. The error says why not, in a few words.
pub fn open(url: &str, env: &Env, secrets: &[String], started: impl FnOnce()) -> Result<(), String> {
    may_open(url, env)?;
    let opener = opener();
    let mut child = start(opener, url, env, secrets).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("no {opener} here"),
        _ => format!("{opener}: {error}"),
    })?;
    started();
    // Unwaited it would stay behind as a zombie.
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("{opener} found no program")),
        Err(error) => Err(format!("{opener}: {error}")),
    }
}

/// Whether it can be tried here at all.
fn may_open(url: &str, env: &Env) -> Result<(), String> {
    let begins =
        |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if !SCHEMES.iter().any(|scheme| begins(scheme)) || url.chars().any(char::is_control) {
        return Err("no web or mail address".to_owned());
    }
    if !Way::of(env).native {
        return Err("another machine".to_owned());
    }
    Ok(())
}

const fn opener() -> &'static str {
    if cfg!(target_os = "macos") { "open" } else { "xdg-open" }
}

fn start(opener: &str, url: &str, env: &Env, secrets: &[String]) -> io::Result<Child> {
    let mut command = Command::new(opener);
    // A group of its own: what the terminal sends us is not for the browser.
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    for name in secrets {
        command.env_remove(name);
    }
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].iter().any(|name| env.get(name).is_some());
    if !has_desktop && !cfg!(target_os = "macos") {
        command.env("BROWSER", NO_BROWSER);
    }
    command.spawn()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_and_mail_on_the_users_own_machine() {
        let (here, there) = (Env::of([]), Env::of([("SSH_TTY", "/dev/pts/1")]));
        let table = [
            ("https://example.org/a?b#c", &here, true),
            ("HTTP://example.org", &here, true),
            ("mailto:a@example.org", &here, true),
            ("https://example.org", &there, false),
            ("file:///etc/passwd", &here, false),
            ("ftp://example.org", &here, false),
            ("--help", &here, false),
            ("javascript:alert(1)", &here, false),
            ("https://example.org/\u{1b}", &here, false),
            ("docs/readme.md", &here, false),
        ];
        for (url, env, may) in table {
            assert_eq!(may_open(url, env).is_ok(), may, "{url}");
        }
    }
}
