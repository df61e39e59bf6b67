use super::*;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A system's clipboard that takes everything or nothing.
struct Fake {
    outcome: Result<(), String>,
    taken: Arc<Mutex<Vec<(String, Place)>>>,
}

fn fake(outcome: Result<(), &str>) -> Fake {
    Fake { outcome: outcome.map_err(str::to_owned), taken: Arc::default() }
}

impl Native for Fake {
    fn set(&mut self, text: &str, place: Place) -> Result<(), String> {
        self.taken.lock().unwrap().push((text.to_owned(), place));
        self.outcome.clone()
    }

    fn get(&mut self, place: Place) -> Result<String, String> {
        self.outcome.clone().map(|()| format!("{place:?}"))
    }
}

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn what_is_there_is_read_where_it_is_the_users() {
    let table = [
        (Some(fake(Ok(()))), Ok("Clipboard".to_owned()), Ok("Selection".to_owned())),
        (Some(fake(Err("no display"))), Err("no display".to_owned()), Err("no display".to_owned())),
        (None, Err(NOT_HERE.to_owned()), Err(NOT_HERE.to_owned())),
    ];
    for (native, clip, primary) in table {
        let folder = tempfile::tempdir().unwrap();
        let clipboard = Clipboard::with(native, Multiplexer::None, folder.path(), |_| true).unwrap();
        let (tell, told) = channel();
        let other = tell.clone();
        clipboard.paste(move |read| tell.send(read).unwrap());
        clipboard.paste_primary(move |read| other.send(read).unwrap());
        assert_eq!(told.recv_timeout(PATIENCE).unwrap(), clip);
        assert_eq!(told.recv_timeout(PATIENCE).unwrap(), primary);
    }
}

/// The outcome of copying `text`, and what the terminal got.
fn copied(native: Option<Fake>, takes: bool, place: Place, text: &str, folder: &Path) -> (Copied, Vec<u8>) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&sent);
    let send = move |bytes: &[u8]| {
        theirs.lock().unwrap().extend_from_slice(bytes);
        takes
    };
    let clipboard = Clipboard::with(native, Multiplexer::None, folder, send).unwrap();
    let (tell, told) = channel();
    clipboard.copy_to(place, text.to_owned(), move |copied| tell.send(copied).unwrap());
    let outcome = told.recv_timeout(PATIENCE).unwrap();
    let sent = sent.lock().unwrap().clone();
    (outcome, sent)
}

#[test]
fn the_outcome_is_what_happened() {
    let folder = tempfile::tempdir().unwrap();
    let copied = |native, takes, text: &str| copied(native, takes, Place::Clipboard, text, folder.path());
    assert_eq!(copied(Some(fake(Ok(()))), true, "x"), (Copied::Confirmed, Vec::new()));
    assert_eq!(copied(None, true, "hi"), (Copied::Sent(Multiplexer::None), b"\x1b]52;c;aGk=\x07".to_vec()));
    let broken = || Some(fake(Err("no display")));
    assert_eq!(copied(broken(), true, "hi").0, Copied::Sent(Multiplexer::None));
    let Copied::Failed(why) = copied(broken(), false, "hi").0 else { panic!("the terminal took nothing") };
    assert!(why.contains("no display"), "{why}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no file for what is short");
}

#[test]
fn what_was_selected_goes_to_both_places() {
    let folder = tempfile::tempdir().unwrap();
    let native = fake(Ok(()));
    let taken = Arc::clone(&native.taken);
    copied(Some(native), true, Place::Selection, "x", folder.path());
    assert_eq!(*taken.lock().unwrap(), [("x".to_owned(), Place::Selection)]);
    let (_, sent) = copied(None, true, Place::Selection, "hi", folder.path());
    assert_eq!(sent, b"\x1b]52;cp;aGk=\x07");
}

#[test]
fn a_text_too_long_for_a_terminal_is_kept_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let (some, all) = ("ü".repeat(SAFE_SEQUENCE / 2), "x".repeat(LONGEST_SEQUENCE));
    for (text, sent) in [(&some, true), (&all, false), (&some, true)] {
        let (outcome, bytes) = copied(None, true, Place::Clipboard, text, &state);
        let file = state.join("copied.txt");
        assert_eq!(outcome, Copied::Kept { file: file.clone(), sent });
        assert_eq!(bytes.is_empty(), !sent);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), *text);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        // What others could read does not stay so.
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    // The system's clipboard has no such limit.
    assert_eq!(copied(Some(fake(Ok(()))), true, Place::Clipboard, &all, &state).0, Copied::Confirmed);
    // Nowhere to keep it.
    std::fs::write(folder.path().join("file"), "").unwrap();
    let (outcome, _) = copied(None, true, Place::Clipboard, &all, &folder.path().join("file"));
    assert!(matches!(outcome, Copied::Failed(_)), "{outcome:?}");
}

#[test]
fn multiplexers_get_what_they_pass_on() {
    let sequence = |text, multiplexer| super::sequence(text, Place::Clipboard, multiplexer);
    assert_eq!(
        sequence("hi", Multiplexer::Tmux),
        b"\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"
    );
    assert_eq!(sequence("hi", Multiplexer::Screen), b"\x1bP\x1b]52;c;aGk=\x07\x1b\\");
    let long = sequence(&"x".repeat(1000), Multiplexer::Screen);
    assert_eq!(long.windows(2).filter(|pair| pair == b"\x1bP").count(), 3);
}

#[test]
fn over_ssh_the_system_is_somebody_elses() {
    let way = Way::of(&Env::of([("SSH_CONNECTION", "1"), ("TMUX", "x")]));
    assert_eq!(way, Way { native: false, multiplexer: Multiplexer::Tmux });
    let way = Way::of(&Env::of([("STY", "x")]));
    assert_eq!(way, Way { native: true, multiplexer: Multiplexer::Screen });
}
