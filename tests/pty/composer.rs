//! What is being written: it outlives the program, and any paste is one.

use super::{QUIET, ask, bare, leave, mynah, open, serve};
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::Step;
use mynah::testkit::terminal::answers::Profile;
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const BACK: &str = "What you were writing here is back.";

fn demo(home: &Home) -> Program {
    bare(home).args(["--offline"])
}

fn drafts(home: &Home) -> Vec<PathBuf> {
    let folder = home.mynah().join("state/drafts");
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Waits until the drafts on disk are as expected.
fn wait_for_drafts(home: &Home, what: &str, holds: impl Fn(&[String]) -> bool) {
    let begun = Instant::now();
    loop {
        let texts: Vec<String> =
            drafts(home).iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
        if holds(&texts) {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}: {texts:?}");
        std::thread::yield_now();
    }
}

fn kill(pty: &Pty) {
    pty.signal(Signal::KILL);
    assert!(pty.wait_exit().signal.is_some());
}

#[test]
fn what_is_written_survives_a_kill() {
    let home = Home::new();
    // Nothing was said yet: it belongs to the folder.
    let mut pty = open(demo(&home));
    pty.type_text("half a tho");
    pty.press("left");
    pty.wait_for("half a tho");
    wait_for_drafts(&home, "kept", |texts| texts.iter().any(|text| text.contains("half a th\"")));
    let path = drafts(&home).remove(0);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    kill(&pty);
    let mut pty = open_with_text(demo(&home), BACK);
    pty.wait_for("half a tho");
    // The caret stands where it stood.
    pty.type_text("X");
    pty.wait_for("half a thXo");
    pty.press("ctrl+c");
    pty.wait_for("Ask anything");
    wait_for_drafts(&home, "removed", |texts| texts.is_empty());
    leave(&mut pty);
    // Once, and not for ever.
    let mut pty = open(demo(&home));
    pty.wait_quiet(QUIET);
    assert!(!pty.text().contains(BACK), "{}", pty.text());
    leave(&mut pty);
}

/// Started, and waited for until it shows this.
fn open_with_text(program: Program, text: &str) -> Pty {
    let pty = program.start();
    pty.wait_for(text);
    pty
}

#[test]
fn a_large_paste_survives_a_kill_in_its_session() {
    let home = Home::new();
    let server = serve(vec![Step::text("Hello.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "hi");
    pty.wait_for("∎ ");
    pty.type_text("look at ");
    pty.paste(&"A line of a log.\n".repeat(64 * 1024));
    pty.wait_for("look at [paste #1 +65536 lines]");
    wait_for_drafts(&home, "kept", |texts| texts.iter().any(|text| text.len() > 1024 * 1024));
    kill(&pty);
    // Another session of the folder has nothing to do with it.
    let mut pty = open(demo(&home));
    pty.wait_quiet(QUIET);
    assert!(!pty.text().contains("[paste"), "{}", pty.text());
    leave(&mut pty);
    let mut pty = open_with_text(mynah(&home, &server).args(["--continue"]), BACK);
    pty.wait_for("look at [paste #1 +65536 lines]");
    pty.press("ctrl+c");
    leave(&mut pty);
}

#[test]
fn a_switch_of_sessions_keeps_what_is_written_in_each() {
    let home = Home::new();
    let server = serve(vec![Step::text("First."), Step::text("Second.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "begin with this");
    pty.wait_for("First.");
    pty.wait_for("∎ ");
    pty.type_text("left in the first");
    pty.wait_for("left in the first");
    // By the palette, which leaves what is written.
    pty.press("ctrl+p");
    pty.type_text("new");
    pty.wait_for("/new");
    pty.press("enter");
    pty.wait_for("enter sends");
    assert!(!pty.text().contains("left in the first"), "{}", pty.text());
    ask(&mut pty, "go on with that");
    pty.wait_for("Second.");
    pty.wait_for("∎ ");
    ask(&mut pty, "/resume");
    pty.wait_for("begin with this");
    pty.type_text("begin");
    pty.wait_quiet(QUIET);
    pty.press("enter");
    pty.wait_for("First.");
    pty.wait_for("left in the first");
    pty.wait_for(BACK);
    pty.press("ctrl+c");
    leave(&mut pty);
}

#[test]
fn without_a_session_no_draft_is_kept() {
    let home = Home::new();
    let mut pty = open(demo(&home).args(["--no-session"]));
    pty.type_text("nobody's business");
    pty.wait_for("nobody's business");
    // Longer than a draft takes.
    pty.wait_quiet(Duration::from_millis(700));
    assert_eq!(drafts(&home), Vec::<PathBuf>::new());
    pty.press("ctrl+c");
    leave(&mut pty);
}

#[test]
fn a_megabyte_is_one_paste_marked_or_not() {
    let text = "A line of a log.\n".repeat(64 * 1024);
    for (profile, is_marked) in [(Profile::Kitty, true), (Profile::Mute, false)] {
        let home = Home::new();
        let mut pty = open(demo(&home).profile(profile));
        if is_marked {
            pty.paste(&text);
        } else {
            pty.send(text.replace('\n', "\r").as_bytes());
        }
        pty.wait_for("[paste #1 +65536 lines]");
        pty.wait_quiet(QUIET);
        let shown = pty.text();
        assert!(!shown.contains("#2") && !shown.contains("A line of"), "{profile:?}: {shown}");
        // It opens, can be written in, and closes again.
        pty.press("alt+e");
        pty.wait_for("A line of a log.");
        pty.type_text("at the end");
        pty.wait_for("at the end");
        pty.press("ctrl+c");
        leave(&mut pty);
    }
}

#[test]
fn what_an_input_method_sends_at_once_is_typed() {
    let home = Home::new();
    let mut pty = open(demo(&home));
    pty.send("日本語でおねがいします".as_bytes());
    pty.wait_for("日本語でおねがいします");
    pty.look(|terminal| {
        let column = terminal.caret().map(|at| at.x);
        assert_eq!(column, Some(1 + 22));
    });
    // Command and an arrow, as terminals with the newer keys tell it; a line end as older ones are told to send it.
    pty.send(b"\x1b[1;9D");
    pty.type_text("- ");
    pty.wait_for("- 日本語で");
    pty.send(b"\x1b[1;9C");
    pty.send(b"\n");
    pty.type_text("second");
    pty.wait_for("second");
    // To a character, as older terminals send the key.
    pty.send(b"\x1b\x1d");
    pty.wait_for("back to which character?");
    pty.type_text("お");
    pty.wait_gone("back to which character?");
    pty.type_text("!");
    pty.wait_for("日本語で!おねがいします");
    pty.press("ctrl+c");
    leave(&mut pty);
}

#[test]
fn what_an_input_method_drew_over_is_written_anew() {
    let home = Home::new();
    let mut pty = open(demo(&home));
    pty.type_text("kept words ");
    pty.wait_for("kept words");
    pty.send("日".as_bytes());
    pty.wait_for("日");
    let before = pty.output().len();
    pty.send("本".as_bytes());
    // The whole row, not what changed of it: over all of it the terminal may have shown what it could become.
    let row = "kept words 日本".as_bytes();
    pty.wait_output("the whole row", |output| output[before..].windows(row.len()).any(|bytes| bytes == row));
    // A syllable that is put together letter by letter, as some terminals send it: nothing of its forms stays.
    for form in ["ㅎ", "\x7f하", "\x7f한"] {
        pty.send(form.as_bytes());
    }
    pty.wait_for("日本한");
    pty.wait_quiet(QUIET);
    let shown = pty.text();
    assert_eq!((shown.matches('한').count(), shown.matches(['ㅎ', '하']).count()), (1, 0), "{shown}");
    pty.look(|terminal| assert_eq!(terminal.caret().map(|at| at.x), Some(1 + 11 + 6)));
    pty.press("ctrl+c");
    leave(&mut pty);
}

#[test]
fn a_new_line_however_a_terminal_tells_it() {
    let home = Home::new();
    let mut pty = open(demo(&home));
    // The newer keys, xterm's, what other terminals are told to send, and what can be typed everywhere.
    let keys = ["\x1b[13;2u", "\x1b[27;2;13~", "\n", "\x1b[106;5u"];
    for (index, key) in keys.iter().enumerate() {
        pty.type_text(&format!("row{index}"));
        pty.wait_for(&format!("row{index}"));
        pty.send(key.as_bytes());
    }
    pty.type_text("row4\\");
    pty.wait_for("row4\\");
    pty.press("enter");
    pty.type_text("row5");
    pty.wait_for("row5");
    pty.wait_quiet(QUIET);
    let shown = pty.text();
    let rows: Vec<&str> = shown.lines().map(str::trim).skip_while(|row| *row != "row0").take(6).collect();
    assert_eq!(rows, ["row0", "row1", "row2", "row3", "row4", "row5"], "{shown}");
    pty.press("ctrl+c");
    leave(&mut pty);
}

#[test]
fn keys_with_command_held_type_nothing() {
    let home = Home::new();
    let mut pty = open(demo(&home));
    pty.type_text("word");
    pty.wait_for("word");
    // Letters, the key alone going down and up, delete, arrows both ways, with shift as well; and keys nobody knows.
    for bytes in [
        "\x1b[97;9u",
        "\x1b[118;9u",
        "\x1b[118:86;10u",
        "\x1b[57444;9u",
        "\x1b[57444;1:3u",
        "\x1b[57444u",
        "\x1b[1;9A",
        "\x1b[1;9B",
        "\x1b[1;10D",
        "\x1b[1;10C",
        "\x1b[57399;9u",
        "\x1b[57358u",
        "\x1b[57441;2u",
        "\x1b[99999;9u",
    ] {
        pty.send(bytes.as_bytes());
    }
    pty.press("end");
    pty.type_text("X");
    pty.wait_for("X");
    pty.wait_quiet(QUIET);
    let shown = pty.text();
    assert!(shown.lines().any(|row| row.trim() == "wordX"), "{shown}");
    pty.press("ctrl+c");
    leave(&mut pty);
}
