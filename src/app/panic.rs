//! When Mynah itself has a bug: the user reads what happened, what was kept and where the details are; the details go
//! to a file.

use std::backtrace::Backtrace;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};

/// Replaces the standard message with ours. `state` is the state folder.
pub fn install(state: &Path) {
    let file = state.join("log").join("crash.log");
    std::panic::set_hook(Box::new(move |info| {
        let kept = write_details(&file, &details(info));
        // Standard error may be closed; there is nobody left to tell then.
        let _closed = writeln!(std::io::stderr(), "{}", message(kept.as_deref()));
    }));
}

/// What the user reads.
fn message(details: Option<&Path>) -> String {
    let place = details.map_or_else(
        || "The details could not be written.".to_owned(),
        |path| format!("The details are in {}; please report them.", path.display()),
    );
    format!(
        "mynah: A bug in Mynah stopped what it was doing. The session keeps everything up to this point. {place}"
    )
}

fn details(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    let place = info.location().map_or_else(|| "unknown place".to_owned(), ToString::to_string);
    format!(
        "{} mynah {} panicked at {place}: {text}\n{}\n",
        jiff::Timestamp::now(),
        env!("CARGO_PKG_VERSION"),
        Backtrace::force_capture()
    )
}

fn write_details(path: &Path, details: &str) -> Option<PathBuf> {
    std::fs::create_dir_all(path.parent()?).ok()?;
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path).ok()?;
    file.write_all(details.as_bytes()).ok()?;
    Some(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_was_kept_and_where_to_look_and_shows_no_trace() {
        let text = message(Some(Path::new("/state/log/crash.log")));
        assert!(text.contains("keeps everything") && text.contains("/state/log/crash.log"), "{text}");
        assert!(!text.contains("panicked") && !text.contains(".rs:"), "{text}");
        assert!(message(None).contains("could not be written"));
    }

    /// Names the state folder to the test that panics.
    const STATE: &str = "MYNAH_TEST_PANIC_STATE";

    #[test]
    fn a_panic_is_told_in_words_and_its_details_are_kept() {
        let state = tempfile::tempdir().expect("folder");
        let child = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args([
                "--exact",
                "app::panic::tests::panics_in_a_process_of_its_own",
                "--ignored",
                "--nocapture",
            ])
            .env(STATE, state.path())
            .output()
            .expect("runs");
        let told = String::from_utf8_lossy(&child.stderr);
        let line = told.lines().find(|line| line.starts_with("mynah: ")).expect("a line for the user");
        assert!(line.contains("A bug in Mynah") && line.contains("crash.log"), "{line}");
        assert!(!told.contains("no reason a user needs") && !told.contains("stack backtrace"), "{told}");
        let details = std::fs::read_to_string(state.path().join("log/crash.log")).expect("kept");
        assert!(details.contains("no reason a user needs") && details.contains("panic.rs"), "{details}");
    }

    #[test]
    #[ignore = "panics: the test above runs it in a process of its own"]
    fn panics_in_a_process_of_its_own() {
        let Some(state) = std::env::var_os(STATE) else { return };
        install(Path::new(&state));
        panic!("no reason a user needs");
    }

    #[test]
    fn details_are_appended_to_a_private_file() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("log").join("crash.log");
        assert_eq!(write_details(&path, "one\n"), Some(path.clone()));
        assert_eq!(write_details(&path, "two\n"), Some(path.clone()));
        assert_eq!(std::fs::read_to_string(path).expect("file"), "one\ntwo\n");
    }
}
