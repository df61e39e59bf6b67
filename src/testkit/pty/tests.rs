use super::*;
use ratatui::layout::Position;

fn shell(script: &str) -> Program {
    Program::new("sh").args(["-c", script]).size(40, 6)
}

/// A program that reads keys raw and shows their bytes; it says `ready` when it does.
fn keys(modes: &str) -> Pty {
    let pty = shell(&format!("stty raw -echo; printf '{modes}ready\\r\\n'; exec od -An -v -c -w1")).start();
    pty.wait_for("ready");
    pty
}

#[test]
fn a_program_is_typed_to_and_seen() {
    let mut pty = Program::new("cat").size(40, 6).start();
    pty.type_text("hello 日本\n");
    pty.wait_until("the line and its echo", |terminal| {
        (terminal.row(0), terminal.row(1)) == ("hello 日本".to_owned(), "hello 日本".to_owned())
    });
    pty.press("ctrl+d");
    assert_eq!(pty.wait_exit(), Exit { code: 0, signal: None });
    assert!(pty.leftovers().is_empty());
}

#[test]
fn it_has_a_size_and_a_kind() {
    let pty = shell("stty size; echo $TERM $COLORTERM; tty -s && test -z \"$HOME\" && echo alone").start();
    pty.wait_for("alone");
    assert_eq!(pty.text().lines().collect::<Vec<_>>()[..2], ["6 40", "xterm-kitty truecolor"]);
}

#[test]
fn a_resize_is_told() {
    let mut pty = shell("trap 'stty size' WINCH; echo ready; while :; do read line; done").start();
    pty.wait_for("ready");
    pty.resize(50, 8);
    pty.wait_for("8 50");
    assert_eq!(pty.look(Terminal::size), Size::new(50, 8));
}

#[test]
fn questions_are_answered() {
    let script = "stty raw -echo min 0 time 50; printf '\\033[c'; head -c 10 | od -An -c; echo done";
    let pty = shell(script).start();
    pty.wait_for("done");
    assert!(pty.text().contains("6   2   ;   5   2   ;   c"), "{}", pty.text());
}

#[test]
fn a_mute_terminal_answers_nothing() {
    let script = "stty raw -echo min 0 time 1; printf '\\033[c\\033[6n'; printf \"<$(head -c 1)>\"";
    let pty = shell(script).profile(Profile::Mute).start();
    pty.wait_for("<>");
}

#[test]
fn keys_come_as_the_program_wants_them() {
    let mut pty = keys("\\033[>1u");
    pty.press("ctrl+c");
    pty.wait_for("u");
    let output = String::from_utf8(pty.output()).unwrap();
    let bytes: Vec<_> = output.lines().skip(1).map(str::trim).collect();
    assert_eq!(bytes.join(""), "033[99;5u");
}

#[test]
fn pastes_and_clicks_come_as_asked() {
    let mut pty = keys("\\033[?2004h\\033[?1000;1006h");
    pty.paste("x\ny");
    pty.click(2, 3);
    pty.wait_until("the release", |terminal| terminal.text().trim_end().ends_with('m'));
    let output = String::from_utf8(pty.output()).unwrap();
    let bytes: Vec<_> = output.lines().skip(1).map(str::trim).collect();
    assert_eq!(bytes.join(""), "033[200~x\\ry033[201~033[<0;3;4M033[<0;3;4m");
}

#[test]
fn what_is_left_behind_is_told() {
    let pty = shell("printf '\\033[?1049h\\033[?25l'; stty -echo").start();
    assert_eq!(pty.wait_exit().code, 0);
    assert_eq!(
        pty.leftovers(),
        [
            "alternate screen is still on",
            "cursor is still off",
            "the line's settings of echo, line editing or signals are still changed",
        ]
    );
}

#[test]
fn ends_are_told_apart() {
    assert_eq!(shell("exit 3").start().wait_exit(), Exit { code: 3, signal: None });
    let pty = shell("echo ready; exec sleep 100").start();
    pty.wait_for("ready");
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_exit().signal.as_deref(), Some("Terminated"));
}

#[test]
fn a_closed_window_hangs_up() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap 'touch hung-up; exit' HUP; echo ready; while :; do sleep 0.01; done";
    let mut pty = shell(script).folder(folder.path()).start();
    pty.wait_for("ready");
    pty.hang_up();
    pty.wait_exit();
    assert!(folder.path().join("hung-up").exists());
}

#[test]
fn a_line_that_hangs_holds_the_program_back() {
    let folder = tempfile::tempdir().unwrap();
    // More than a terminal holds.
    let script = "echo ready; read line; head -c 1000000 /dev/zero | tr '\\0' x; touch written; echo done";
    let mut pty = shell(script).folder(folder.path()).start();
    pty.wait_for("ready");
    pty.stall();
    pty.type_text("\n");
    pty.activity_within(Duration::from_millis(50));
    assert!(!folder.path().join("written").exists());
    pty.go_on();
    pty.wait_for("done");
}

#[test]
#[cfg(target_os = "linux")]
fn rest_and_work_are_told_apart() {
    let mut pty = Program::new("cat").size(40, 6).start();
    pty.type_text("x\n");
    pty.wait_until("the echo", |terminal| terminal.cursor() == Position::new(0, 2));
    pty.wait_quiet(Duration::from_millis(50));
    let rest = pty.activity_within(Duration::from_millis(100));
    assert_eq!(rest, Activity::default());
    let before = pty.activity();
    pty.type_text("y\n");
    pty.wait_until("the echo", |terminal| terminal.cursor() == Position::new(0, 4));
    pty.wait_quiet(Duration::from_millis(20));
    let work = pty.activity().since(before);
    assert!(work.wake_ups > 0 && work.bytes == 6, "{work:?}");
}

#[test]
#[should_panic(expected = "did not come before the program ended; the screen:\nnothing else")]
fn a_vain_wait_shows_the_screen() {
    shell("echo nothing else").start().wait_for("something");
}
