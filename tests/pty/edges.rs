//! What the program and the terminal tell each other beside text: links, the title, modes, light and dark, widths.

use super::{LIT, QUIET, ask, bare, leave, mynah, open, serve};
use crate::flows::wait_until;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::{ModelServer, Step};
use mynah::testkit::terminal::Terminal;
use mynah::testkit::terminal::answers::Profile;
use mynah::testkit::terminal::keys::KeyAction;
use mynah::testkit::terminal::modes::private;
use ratatui::style::Color;
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const ADDRESS: &str = "https://example.org/a/rather/long/path/to/something/that/does/not/fit/into/one/row";

/// The cells behind which this address is.
fn linked(terminal: &Terminal) -> Vec<(u16, u16, (String, String))> {
    let size = terminal.size();
    let cells = (0..size.height).flat_map(|y| (0..size.width).map(move |x| (x, y)));
    cells.filter_map(|(x, y)| Some((x, y, terminal.link(x, y)?))).collect()
}

/// A program that was told an address, with this script as what opens it.
fn with_address(home: &Home, server: &ModelServer, script: &str, columns: u16, more: &[(&str, &str)]) -> Pty {
    let tools = home.user().join("tools");
    std::fs::create_dir_all(&tools).unwrap();
    for name in ["xdg-open", "open"] {
        let file = tools.join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let program =
        mynah(home, server).size(columns, 24).envs([("PATH", path.as_str())]).envs(more.iter().copied());
    let mut pty = open(program);
    ask(&mut pty, "where");
    pty.wait_for("∎ ");
    pty
}

#[test]
fn each_row_of_a_wrapped_address_opens_the_whole_one() {
    let home = Home::new();
    let server = serve(vec![Step::text(format!("See {ADDRESS} for more."))]);
    let opened = home.project().join("opened.txt");
    let script = format!("env > env.txt; ps -o stat= -p $$ > ps.txt; echo \"$1\" > {}", opened.display());
    let mut pty = with_address(&home, &server, &script, 60, &[]);
    let cells = pty.look(linked);
    let rows: std::collections::BTreeSet<u16> = cells.iter().map(|(_, y, _)| *y).collect();
    assert!(rows.len() > 1, "it wraps: {}", pty.text());
    assert!(cells.iter().all(|(_, _, link)| link.1 == ADDRESS && link.0 == cells[0].2.0), "{cells:?}");
    for row in rows {
        let (x, y, _) = cells.iter().find(|(_, y, _)| *y == row).unwrap();
        pty.click(*x, *y);
        wait_until("the opened address", || {
            std::fs::read_to_string(&opened).is_ok_and(|text| text == format!("{ADDRESS}\n"))
        });
        std::fs::remove_file(&opened).unwrap();
    }
    pty.wait_for("Opening https://");
    let env = std::fs::read_to_string(home.project().join("env.txt")).unwrap();
    assert!(env.contains("MYNAH_HOME=") && !env.contains("OPENAI_API_KEY"), "{env}");
    leave(&mut pty);
}

#[test]
fn an_address_that_can_not_be_opened_is_copied() {
    for (script, variables, why) in [
        ("exit 3", &[][..], "found no program)"),
        ("echo > never.txt", &[("SSH_CONNECTION", "1 2 3 4")][..], "(another machine)"),
    ] {
        let home = Home::new();
        let server = serve(vec![Step::text(format!("See {ADDRESS} for more."))]);
        let mut pty = with_address(&home, &server, script, 110, variables);
        let (x, y, _) = pty.look(linked)[0].clone();
        pty.click(x, y);
        pty.wait_for(why);
        pty.wait_for("not confirmed");
        let copied = pty.look(|terminal| terminal.modes().clipboard.clone());
        assert_eq!(copied, [STANDARD.encode(ADDRESS)]);
        assert!(!home.project().join("never.txt").exists());
        leave(&mut pty);
    }
}

#[test]
fn an_address_is_only_copied_where_the_user_wants_that() {
    let home = Home::new();
    let server = serve(vec![Step::text(format!("See {ADDRESS} for more."))]);
    let mut pty = with_address(&home, &server, "echo > never.txt", 110, &[("SSH_TTY", "/dev/pts/9")]);
    ask(&mut pty, "/set screen.open_links false");
    pty.wait_for("from now on");
    let (x, y, _) = pty.look(linked)[0].clone();
    pty.click(x, y);
    pty.wait_for("not confirmed");
    assert!(!pty.text().contains("Not opened"), "{}", pty.text());
    leave(&mut pty);
}

#[test]
fn terminals_that_print_what_they_do_not_know_get_no_links_and_no_title() {
    let home = Home::new();
    let server = serve(vec![Step::text(format!("See {ADDRESS} for more."))]);
    // The profile's own TERM wins, so the shell sets the console's.
    let script = format!("TERM=linux exec {} --model openai/any", env!("CARGO_BIN_EXE_mynah"));
    let program = Program::new("sh").args(["-c", &script]).envs(home.variables()).folder(home.project());
    let keys =
        [("OPENAI_BASE_URL", server.openai_base_url()), ("OPENAI_API_KEY", crate::flows::KEY.to_owned())];
    let mut pty = open(program.envs(keys));
    ask(&mut pty, "where");
    pty.wait_for("∎ ");
    leave(&mut pty);
    let output = String::from_utf8_lossy(&pty.output()).into_owned();
    assert!(!output.contains("\x1b]8;") && !output.contains("\x1b]2;"), "{output:?}");
}

#[test]
fn the_title_names_the_session_and_is_put_back() {
    let home = Home::new();
    let server = serve(vec![]);
    let title = |pty: &Pty| pty.look(|terminal| terminal.modes().title.clone());
    let mut pty = open(mynah(&home, &server).args(["--name", "mend the roof"]));
    pty.wait_until("the title", |terminal| {
        terminal.modes().title.as_deref() == Some("mynah · mend the roof")
    });
    ask(&mut pty, "/set screen.title false");
    pty.wait_until("no title", |terminal| terminal.modes().title.is_none());
    ask(&mut pty, "/set screen.title true");
    pty.wait_until("the title again", |terminal| terminal.modes().title.is_some());
    leave(&mut pty);
    assert_eq!(title(&pty), None);
    let mut pty = open(mynah(&home, &server).args(["--set", "screen.title=false"]));
    pty.type_text("x");
    pty.wait_for("x");
    assert_eq!(title(&pty), None);
    pty.press("ctrl+u");
    leave(&mut pty);
    let pty = open(mynah(&home, &server));
    assert_eq!(title(&pty).as_deref(), Some("mynah · project"));
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_exit().code, 143);
    assert_eq!((title(&pty), pty.leftovers()), (None, vec![]));
}

#[test]
fn the_keyboard_protocol_can_be_switched_off() {
    let flags = |terminal: &Terminal| terminal.modes().keyboard_flags();
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server).args(["--set", "screen.keyboard=off"]));
    assert_eq!(pty.look(flags), 0);
    assert!(!String::from_utf8_lossy(&pty.output()).contains("\x1b[>7u"));
    leave(&mut pty);
    let mut pty = open(mynah(&home, &server));
    assert_eq!(pty.look(flags), 7);
    ask(&mut pty, "/set screen.keyboard off");
    pty.wait_until("the plain keyboard", |terminal| flags(terminal) == 0);
    ask(&mut pty, "/set screen.keyboard auto");
    pty.wait_until("the keyboard flags", |terminal| flags(terminal) == 7);
    leave(&mut pty);
}

#[test]
fn the_mouse_can_be_the_wheel_alone() {
    let modes = |pty: &Pty| {
        pty.look(|terminal| {
            let modes = terminal.modes();
            (modes.is_on(private::MOUSE_CLICKS), modes.is_on(private::MOUSE_DRAGS))
        })
    };
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server).args(["--set", "screen.mouse=wheel"]));
    assert_eq!(modes(&pty), (true, false));
    leave(&mut pty);
    let mut pty = open(mynah(&home, &server));
    assert_eq!(modes(&pty), (false, true));
    ask(&mut pty, "/set screen.mouse wheel");
    pty.wait_until("no drags", |terminal| !terminal.modes().is_on(private::MOUSE_DRAGS));
    assert_eq!(modes(&pty), (true, false));
    ask(&mut pty, "/set screen.mouse on");
    pty.wait_until("drags", |terminal| terminal.modes().is_on(private::MOUSE_DRAGS));
    assert!(!pty.look(|terminal| terminal.modes().is_on(private::MOUSE_MOVES)));
    // As it was written when it was a switch.
    ask(&mut pty, "/set screen.mouse false");
    pty.wait_until("no mouse", |terminal| !terminal.modes().is_on(private::MOUSE_DRAGS));
    assert_eq!(modes(&pty), (false, false));
    leave(&mut pty);
}

/// The colour of the first cell of a text.
fn color_of(terminal: &Terminal, text: &str) -> Option<Color> {
    let row = (0..terminal.size().height).find(|row| terminal.row(*row).contains(text))?;
    let line = terminal.row(row);
    let column = line.split(text).next()?.chars().count();
    Some(terminal.to_buffer()[(u16::try_from(column).ok()?, row)].fg)
}

#[test]
fn the_theme_follows_the_terminal_from_dark_to_light_and_back() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server));
    let hint = "Ask anything";
    let dark = pty.look(|terminal| color_of(terminal, hint));
    assert!(dark.is_some() && pty.look(|terminal| terminal.modes().is_on(private::SCHEME_CHANGES)));
    pty.set_ground(0xf7, 0xf6, 0xf2);
    pty.wait_until("light colours", |terminal| color_of(terminal, hint).is_some_and(|now| Some(now) != dark));
    pty.set_ground(0x1a, 0x1a, 0x1d);
    pty.wait_until("dark colours", |terminal| color_of(terminal, hint) == dark);
    // What changes nothing is not drawn.
    pty.wait_quiet(QUIET);
    let before = pty.output().len();
    pty.set_ground(0x1a, 0x1a, 0x1d);
    wait_until("the question for the colour", || pty.output().len() > before);
    pty.wait_quiet(QUIET);
    let asked = String::from_utf8_lossy(&pty.output()[before..]).into_owned();
    assert_eq!(asked, "\x1b]11;?\x1b\\");
    leave(&mut pty);
}

/// A terminal that tells light and dark, and no colour.
#[test]
fn light_alone_is_enough_to_go_by() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server).profile(Profile::Mute));
    let hint = "Ask anything";
    let dark = pty.look(|terminal| color_of(terminal, hint));
    pty.send(b"\x1b[?997;2n");
    pty.wait_until("light colours", |terminal| color_of(terminal, hint).is_some_and(|now| Some(now) != dark));
    pty.send(b"\x1b[?997;1n");
    pty.wait_until("dark colours", |terminal| color_of(terminal, hint) == dark);
    leave(&mut pty);
}

fn has_symbols(terminal: &Terminal) -> bool {
    terminal.text().contains(['─', '●', '│', '∎', '…', '·'])
}

#[test]
fn a_terminal_with_wide_symbols_gets_plain_ones() {
    let home = Home::new();
    let server = serve(vec![Step::text(
        "# A list\n\n- one\n- two Ω and я\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    )]);
    let mut pty = mynah(&home, &server).profile(Profile::Wide).start();
    pty.wait_until("an open session", |terminal| {
        terminal.text().contains("Ask anything") && !terminal.text().contains("starting")
    });
    ask(&mut pty, "show");
    pty.wait_for("two Ω and я");
    pty.wait_for("# ");
    pty.wait_quiet(QUIET);
    assert!(!pty.look(has_symbols), "{}", pty.text());
    ask(&mut pty, "/set screen.ascii off");
    pty.wait_until("the symbols", has_symbols);
    ask(&mut pty, "/set screen.ascii auto");
    pty.wait_until("plain characters", |terminal| !has_symbols(terminal));
    leave(&mut pty);
    // The question left no trace: on our screen there is none, and the shell's never had it.
    assert!(!pty.text().contains('●'), "{}", pty.text());
}

#[test]
fn a_terminal_that_tells_late_how_wide_it_draws_is_heard() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server).profile(Profile::Mute));
    assert!(pty.look(has_symbols));
    // In two pieces, the way a slow line brings it. It is no F3.
    pty.send(b"\x1b[2;");
    pty.send(b"5R");
    pty.wait_until("plain characters", |terminal| !has_symbols(terminal));
    assert!(pty.text().contains("Ask anything"), "{}", pty.text());
    leave(&mut pty);
}

#[test]
fn a_narrow_terminal_keeps_the_symbols_unless_the_user_wants_plain_ones() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server).profile(Profile::Xterm));
    assert!(pty.look(has_symbols));
    ask(&mut pty, "/set screen.ascii on");
    pty.wait_until("plain characters", |terminal| !has_symbols(terminal));
    leave(&mut pty);
}

/// The line hangs from now on, behind a letter that was typed.
fn hang(pty: &mut Pty) {
    let before = pty.output().len();
    pty.stall_after_a_piece();
    pty.key("x", KeyAction::Press);
    wait_until("the letter", || pty.output().len() > before);
}

/// Over a slow line the key that ends the program, or calls the editor, comes up when others have the terminal.
#[test]
fn a_key_that_comes_up_late_is_not_for_the_shell() {
    let home = Home::new();
    let server = serve(vec![]);
    let script = format!(
        "{} --model openai/any; echo at the shell; IFS= read -r line; echo \"got=$line=\"",
        env!("CARGO_BIN_EXE_mynah")
    );
    let program = Program::new("sh").args(["-c", &script]).envs(home.variables()).folder(home.project());
    let keys =
        [("OPENAI_BASE_URL", server.openai_base_url()), ("OPENAI_API_KEY", crate::flows::KEY.to_owned())];
    let mut pty = open(program.envs(keys));
    hang(&mut pty);
    pty.key("backspace", KeyAction::Press);
    pty.key("ctrl+d", KeyAction::Press);
    // Long enough for a program that waits for nothing to have ended, shorter than ours waits for the line.
    pty.wait_quiet(Duration::from_millis(400));
    pty.key("ctrl+d", KeyAction::Release);
    pty.go_on();
    pty.wait_for("at the shell");
    pty.type_text("word\n");
    pty.wait_for("got=word=");
}

#[test]
fn a_key_that_comes_up_late_is_not_for_the_editor() {
    let home = Home::new();
    let server = serve(vec![]);
    let path = home.write(
        "editor.sh",
        "#!/bin/sh\necho in the editor; IFS= read -r line; printf 'got=%s=' \"${#line}\" > \"$1\"\n",
    );
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut pty = open(mynah(&home, &server).envs([("EDITOR", path.to_str().unwrap())]));
    hang(&mut pty);
    pty.key("ctrl+g", KeyAction::Press);
    pty.wait_quiet(Duration::from_millis(400));
    pty.key("ctrl+g", KeyAction::Release);
    pty.go_on();
    pty.wait_for("in the editor");
    pty.type_text("word\n");
    // Its length: what steers would not be seen.
    pty.wait_for("got=4=");
    super::faults::and_drawn(&mut pty, |pty| pty.press("ctrl+u"));
    leave(&mut pty);
}

#[test]
fn the_mouse_goes_to_the_terminal_and_comes_back() {
    let home = Home::new();
    let mut pty = open(bare(&home).args(["--offline"]));
    let is_ours = |terminal: &Terminal| [1000, 1002, 1003].iter().any(|mode| terminal.modes().is_on(*mode));
    pty.wait_until("the mouse is ours", is_ours);
    pty.press("alt+s");
    pty.wait_until("the mouse is the terminal's", |terminal| !is_ours(terminal));
    pty.wait_for("The mouse is the terminal's");
    pty.press("alt+s");
    pty.wait_until("the mouse is ours again", is_ours);
    leave(&mut pty);
}

#[test]
fn drawing_anew_takes_nothing_away() {
    let home = Home::new();
    let server = serve(vec![Step::text("What was answered.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "what was asked");
    pty.wait_for("∎ ");
    pty.type_text("half a thought");
    pty.wait_for("half a thought");
    pty.wait_quiet(LIT);
    let (shown, before) = (pty.text(), pty.output().len());
    pty.press("ctrl+l");
    let whole = ["what was asked", "What was answered.", "half a thought"];
    pty.wait_output("all of it once more", |output| {
        let fresh = String::from_utf8_lossy(&output[before..]).into_owned();
        whole.iter().all(|text| fresh.contains(text))
    });
    pty.wait_quiet(QUIET);
    assert_eq!(pty.text(), shown);
    assert!(!pty.output().windows(4).any(|bytes| bytes == b"\x1b[3J"), "what the terminal kept is not ours");
    pty.press("ctrl+c");
    leave(&mut pty);
}
