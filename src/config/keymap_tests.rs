use super::*;

fn key(text: &str) -> Key {
    text.parse().expect("a key")
}

fn chord(text: &str) -> Chord {
    text.parse().expect("a chord")
}

fn patched(text: &str) -> (Keymap, Vec<String>) {
    let (keymap, warnings) = Keymap::defaults().patched(text, Path::new("keymap.toml"));
    (keymap, warnings.into_iter().map(|warning| warning.text).collect())
}

#[test]
fn the_embedded_keys_have_no_conflict_and_no_mistake() {
    let (keymap, warnings) = Keymap::embedded();
    assert_eq!(warnings, []);
    // Every action can be reached by a key, or stands in help without one.
    let help = keymap.help();
    for action in Action::ALL {
        assert!(help.iter().any(|row| row.action == *action), "{action}");
    }
}

#[test]
fn a_key_does_what_the_innermost_place_says() {
    use Context::{Composer, ComposerEmpty, Global, Transcript};
    let keymap = Keymap::defaults();
    let written: &[Context] = &[Composer, Global];
    let empty: &[Context] = &[ComposerEmpty, Composer, Global];
    let table: &[(&str, &[Context], Option<Action>)] = &[
        ("enter", written, Some(Action::Submit)),
        ("ctrl+f", written, Some(Action::Right)),
        ("ctrl+f", empty, Some(Action::Search)),
        ("ctrl+d", empty, Some(Action::Quit)),
        ("ctrl+d", written, Some(Action::DeleteForward)),
        ("home", empty, Some(Action::Top)),
        ("home", written, Some(Action::LineStart)),
        ("/", written, None),
        ("y", &[Transcript, Global], Some(Action::CopyRow)),
        ("esc", &[Transcript, Global], Some(Action::Cancel)),
        ("G", &[Transcript, Global], Some(Action::Bottom)),
        ("a", written, None),
    ];
    for (text, contexts, action) in table {
        assert_eq!(keymap.resolve(&[key(text)], contexts).action(), *action, "{text} in {contexts:?}");
    }
    assert_eq!(keymap.hint(Action::Undo).map(|key| key.to_string()).as_deref(), Some("ctrl+_"));
    assert_eq!(keymap.hint(Action::Quit), Some(chord("ctrl+d")));
    assert_eq!(keymap.hint(Action::HistoryNext), None);
}

#[test]
fn a_file_moves_adds_and_unbinds() {
    let (keymap, warnings) =
        patched("[composer]\nyank = []\nredo = [\"ctrl+y\", \"alt+/\"]\nup = \"alt+k\"\n");
    assert_eq!(warnings, Vec::<String>::new());
    let resolve = |text| keymap.resolve(&[key(text)], &[Context::Composer]).action();
    assert_eq!(resolve("ctrl+y"), Some(Action::Redo));
    assert_eq!(resolve("alt+k"), Some(Action::Up));
    assert_eq!(resolve("up"), None);
    assert_eq!(keymap.keys(Context::Composer, Action::Yank), []);
}

#[test]
fn two_actions_may_swap_their_keys() {
    let (keymap, warnings) = patched("[composer]\nsubmit = \"alt+enter\"\nqueue = \"enter\"\n");
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(keymap.resolve(&[key("enter")], &[Context::Composer]).action(), Some(Action::Queue));
    assert_eq!(keymap.resolve(&[key("alt+enter")], &[Context::Composer]).action(), Some(Action::Submit));
}

#[test]
fn what_is_wrong_is_left_out_and_told_with_its_line() {
    let table = [
        ("[global]\nhelp = \"hyper+x\"", "keymap.toml:2: `hyper+x` is no key"),
        ("[global]\nhelp = 3", "keymap.toml:2: `help` must be a key"),
        ("[global]\nfly = \"f9\"", "keymap.toml:2: there is no action `fly`"),
        ("[hats]\nhelp = \"f9\"", "`hats` is no section of keys"),
        ("[list]\nhelp = \"f9\"", "`help` does nothing in [list]; it belongs in [global]."),
        ("[composer]\nundo = \"u\"", "`u` types a character in [composer]"),
        (
            "[global]\nhelp = \"f9\"\npalette = \"f9\"",
            "keymap.toml:3: `f9` already does `help` (keymap.toml:2)",
        ),
        ("[global]\npalette = \"f1\"", "`f1` now does `palette`, and `help` has no key left in [global]."),
        ("[global\n", "keymap.toml:1: this is no TOML"),
    ];
    for (text, expected) in table {
        let (_, warnings) = patched(text);
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{text}: {warnings:?}");
    }
    let (keymap, _) = patched("[global]\nhelp = \"hyper+x\"");
    assert_eq!(keymap.hint(Action::Help), Some(chord("f1")), "a line without one good key changes nothing");
}

#[test]
fn the_users_file_is_read_from_its_place() {
    let home = tempfile::tempdir().expect("home");
    let root = home.path().to_string_lossy().into_owned();
    let places = Places::from_env(&crate::config::env::Env::of([("MYNAH_HOME", root.as_str())]));
    assert_eq!(Keymap::load(&places), (Keymap::defaults(), Vec::new()));
    fs::create_dir_all(&places.config).expect("folder");
    fs::write(user_file(&places), "[global]\nhelp = \"f2\"\n").expect("written");
    assert_eq!(Keymap::load(&places).0.hint(Action::Help), Some(chord("f2")));
}

#[test]
fn keys_in_a_row() {
    use Context::{Composer, Global};
    let (keymap, warnings) = patched("[global]\nhelp = [\"f1\", \"ctrl+x h\", \"ctrl+x ctrl+h ctrl+k\"]\n");
    assert_eq!(warnings, [""; 0]);
    let resolve = |text: &str| {
        let pressed: Vec<Key> = text.split(' ').map(key).collect();
        keymap.resolve(&pressed, &[Composer, Global])
    };
    let table = [
        ("ctrl+x", Resolved::Pending),
        ("ctrl+x ctrl+h", Resolved::Pending),
        ("ctrl+x ctrl+h ctrl+k", Resolved::Action(Action::Help)),
        ("ctrl+x h", Resolved::Action(Action::Help)),
        ("ctrl+x ctrl+e", Resolved::Action(Action::Editor)),
        ("ctrl+x k", Resolved::None),
        ("h", Resolved::None),
    ];
    for (text, expected) in table {
        assert_eq!(resolve(text), expected, "{text}");
    }
    let following = keymap.following(&[key("ctrl+x")], &[Composer, Global]);
    let following: Vec<String> =
        following.iter().map(|(chord, action)| format!("{} {action}", chord.after(1))).collect();
    assert_eq!(following, ["ctrl+e editor", "h help", "ctrl+h ctrl+k help"]);
}

#[test]
fn of_a_key_and_a_chord_that_it_begins_the_key_holds() {
    let table = [
        // Over the embedded keys.
        (
            "[composer]\nredo = \"ctrl+k x\"",
            "`ctrl+k x` can't be reached in [composer], because `ctrl+k` already does `kill_to_end`.",
            "ctrl+k",
            Action::KillToEnd,
        ),
        (
            "[composer]\nredo = \"ctrl+x\"",
            "`ctrl+x` now does `redo`, so `ctrl+x ctrl+e` for `editor` can't be reached",
            "ctrl+x",
            Action::Redo,
        ),
        // In one file, in either order.
        (
            "[composer]\nredo = \"ctrl+q\"\nyank = \"ctrl+q y\"",
            "keymap.toml:3: `ctrl+q y` can't be reached in [composer], because `ctrl+q` already does `redo` (keymap.toml:2)",
            "ctrl+q",
            Action::Redo,
        ),
        (
            "[composer]\nyank = \"ctrl+q y\"\nredo = \"ctrl+q\"",
            "keymap.toml:2: `ctrl+q y` can't be reached in [composer], because `ctrl+q` already does `redo` (keymap.toml:3)",
            "ctrl+q",
            Action::Redo,
        ),
    ];
    for (text, expected, pressed, action) in table {
        let (keymap, warnings) = patched(text);
        assert!(warnings.len() == 1 && warnings[0].contains(expected), "{text}: {warnings:?}");
        assert_eq!(keymap.resolve(&[key(pressed)], &[Context::Composer]), Resolved::Action(action), "{text}");
        assert_eq!(keymap.mistakes(), warnings);
    }
    let (keymap, warnings) = patched("[composer]\nkill_to_end = []\nredo = \"ctrl+k x\"");
    assert_eq!(warnings, [""; 0], "with room made for it");
    assert_eq!(keymap.resolve(&[key("ctrl+k")], &[Context::Composer]), Resolved::Pending);
    // Letters after the first key are no letters.
    assert_eq!(patched("[composer]\nredo = \"x ctrl+k\"").1.len(), 1);
}
