use super::keys::{KeyAction, MouseAction, encode_focus, encode_key, encode_mouse, encode_paste};
use super::modes::private;
use super::*;
use ratatui::style::Style;

fn terminal(profile: Profile) -> Terminal {
    Terminal::new(Size::new(20, 4), profile)
}

fn answer(profile: Profile, question: &str) -> String {
    String::from_utf8(terminal(profile).feed(question.as_bytes())).unwrap()
}

#[test]
fn text_and_styles_are_kept() {
    let mut terminal = terminal(Profile::Kitty);
    terminal.feed("a\x1b[1;31mb\x1b[0;48;2;1;2;3m日\x1b[m\r\n\x1b[38;5;200;9mx".as_bytes());
    assert_eq!(terminal.text(), "ab日\nx\n\n");
    let mut expected = Buffer::empty(Rect::new(0, 0, 20, 4));
    expected.set_string(0, 0, "a", Style::new());
    expected.set_string(1, 0, "b", Style::new().red().bold());
    expected.set_string(2, 0, "日", Style::new().bg(Color::Rgb(1, 2, 3)));
    expected.set_string(0, 1, "x", Style::new().fg(Color::Indexed(200)).crossed_out());
    let dump = super::super::screen_dump::dump;
    assert_eq!(dump(&terminal.to_buffer(), None), dump(&expected, None));
    assert_eq!(terminal.caret(), Some(Position::new(1, 1)));
}

#[test]
fn letters_that_join_are_kept_whole() {
    let mut terminal = terminal(Profile::Kitty);
    terminal.feed("e\u{301} \u{1f469}\u{200d}\u{1f680}".as_bytes());
    assert_eq!(terminal.row(0), "e\u{301} \u{1f469}\u{200d}\u{1f680}");
}

#[test]
fn a_synchronised_frame_is_shown_when_it_ends() {
    let mut terminal = terminal(Profile::Kitty);
    terminal.feed(b"\x1b[?2026hhalf");
    assert_eq!(terminal.row(0), "");
    terminal.feed(b" whole\x1b[?2026l");
    assert_eq!((terminal.row(0).as_str(), terminal.modes().frames), ("half whole", 1));
}

#[test]
fn regions_scroll() {
    let mut terminal = terminal(Profile::Kitty);
    terminal.feed(b"1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[S");
    assert_eq!(terminal.text(), "1\n3\n\n4");
    assert_eq!(terminal.leftovers(), ["only rows 2 to 3 scroll"]);
    terminal.feed(b"\x1b[r");
    assert!(terminal.leftovers().is_empty());
}

#[test]
fn questions_are_answered_by_kind() {
    let kinds = [Profile::Kitty, Profile::Xterm, Profile::Tmux, Profile::Mute, Profile::Dumb];
    // Whether each kind answers.
    let cases = [
        ("\x1b[c", [true, true, true, false, false]),
        ("\x1b[>c", [true, true, true, false, false]),
        ("\x1b[>q", [true, true, true, false, false]),
        ("\x1b[5n", [true, true, true, false, false]),
        ("\x1b[6n", [true, true, true, false, false]),
        ("\x1b[?u", [true, false, false, false, false]),
        ("\x1b[?2026$p", [true, true, false, false, false]),
        ("\x1b[?996n", [true, false, false, false, false]),
        ("\x1b[18t", [true, true, true, false, false]),
        ("\x1b]11;?\x07", [true, true, true, false, false]),
        ("\x1bP+q524742\x1b\\", [true, false, false, false, false]),
        ("no question", [false; 5]),
    ];
    for (question, expected) in cases {
        assert_eq!(kinds.map(|kind| !answer(kind, question).is_empty()), expected, "{question:?}");
    }
}

#[test]
fn answers_tell_how_things_stand() {
    let cases = [
        ("ab\x1b[6n", "\x1b[1;3R"),
        // Each answer is of its own moment.
        ("\x1b[6nab\r\n\x1b[6n", "\x1b[1;1R\x1b[2;1R"),
        ("\x1b[>5u\x1b[?u", "\x1b[?5u"),
        ("\x1b[>5u\x1b[>1u\x1b[<u\x1b[?u\x1b[<u\x1b[?u", "\x1b[?5u\x1b[?0u"),
        ("\x1b[?2004h\x1b[?2004$p\x1b[?2004l\x1b[?2004$p", "\x1b[?2004;1$y\x1b[?2004;2$y"),
        ("\x1b]11;?\x1b\\", "\x1b]11;rgb:1a1a/1a1a/1d1d\x1b\\"),
        ("\x1b[?996n", "\x1b[?997;1n"),
        ("\x1b[18t", "\x1b[8;4;20t"),
    ];
    for (question, expected) in cases {
        assert_eq!(answer(Profile::Kitty, question), expected, "{question:?}");
    }
    assert_eq!(answer(Profile::Xterm, "\x1b[?2026$p"), "\x1b[?2026;0$y");
    let mut light = terminal(Profile::Kitty);
    light.set_ground((0xff, 0xff, 0xee));
    light.resize(Size::new(30, 5));
    assert_eq!(light.feed(b"\x1b[?996n\x1b[18t"), b"\x1b[?997;2n\x1b[8;5;30t");
}

#[test]
fn a_question_split_over_reads_is_answered_once() {
    let mut terminal = terminal(Profile::Kitty);
    let answers: Vec<_> = b"\x1b[c".iter().map(|byte| terminal.feed(&[*byte])).collect();
    assert_eq!(answers.concat(), b"\x1b[?62;52;c");
}

#[test]
fn what_a_program_leaves_behind_is_told() {
    let cases = [
        ("plain text", &[][..]),
        ("\x1b[?1049h", &["alternate screen is still on"]),
        ("\x1b[?1049h\x1b[?1049l", &[]),
        ("\x1b[?25l", &["cursor is still off"]),
        ("\x1b[?1003h\x1b[?1006h", &["mouse reports (1003) is still on", "private mode 1006 is still on"]),
        ("\x1b[?2004;1004h", &["focus reports is still on", "bracketed paste is still on"]),
        ("\x1b[>1u", &["keyboard flags [1] are still on the main screen's stack"]),
        // Flags pushed on the alternate screen and popped on the main one stay where they were.
        (
            "\x1b[?1049h\x1b[>3u\x1b[?1049l\x1b[<u",
            &["keyboard flags [3] are still on the alternate screen's stack"],
        ),
        ("\x1b[>4;2m", &["modifyOtherKeys is still on"]),
        ("\x1b[5 q", &["the cursor still has shape 5"]),
        ("\x1b[31m", &["a colour or attribute is still on"]),
        ("\x1b[31mred\x1b[0m", &[]),
        ("\x1b[?25l\x1b[?1000h\x1bc", &[]),
    ];
    for (written, expected) in cases {
        let mut terminal = terminal(Profile::Kitty);
        terminal.feed(written.as_bytes());
        assert_eq!(terminal.leftovers(), expected, "{written:?}");
    }
}

#[test]
fn what_a_program_tells_is_kept() {
    let mut terminal = terminal(Profile::Kitty);
    terminal.feed(b"\x1b]2;a;b\x07\x07\x1b]52;c;aGk=\x1b\\");
    let modes = terminal.modes();
    assert_eq!((modes.title.as_deref(), modes.bells), (Some("a;b"), 1));
    assert_eq!(modes.clipboard, ["aGk="]);
}

#[test]
fn keys_of_old() {
    let cases = [
        ("a", "a"),
        ("A", "A"),
        ("é", "é"),
        ("+", "+"),
        ("shift+a", "A"),
        ("ctrl+c", "\x03"),
        ("ctrl+_", "\x1f"),
        ("ctrl+/", "\x1f"),
        ("ctrl+space", "\0"),
        ("alt+m", "\x1bm"),
        ("enter", "\r"),
        ("ctrl+Enter", "\r"),
        ("alt+enter", "\x1b\r"),
        ("shift+tab", "\x1b[Z"),
        ("Esc", "\x1b"),
        ("up", "\x1b[A"),
        ("ctrl+up", "\x1b[1;5A"),
        ("PageUp", "\x1b[5~"),
        ("F1", "\x1bOP"),
        ("F3", "\x1bOR"),
        ("F5", "\x1b[15~"),
    ];
    for (name, expected) in cases {
        let bytes = encode_key(name, KeyAction::Press, &Modes::default());
        assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{name}");
    }
    assert!(encode_key("a", KeyAction::Release, &Modes::default()).is_empty());
}

#[test]
fn keys_of_kitty() {
    use KeyAction::{Press, Release, Repeat};
    let cases = [
        (1, "a", Press, "a"),
        (1, "shift+a", Press, "A"),
        (1, "ctrl+c", Press, "\x1b[99;5u"),
        (1, "alt+m", Press, "\x1b[109;3u"),
        (1, "enter", Press, "\r"),
        (1, "ctrl+enter", Press, "\x1b[13;5u"),
        (1, "shift+enter", Press, "\x1b[13;2u"),
        (1, "shift+tab", Press, "\x1b[9;2u"),
        (1, "esc", Press, "\x1b[27u"),
        (1, "up", Press, "\x1b[A"),
        (1, "ctrl+up", Press, "\x1b[1;5A"),
        (1, "F3", Press, "\x1b[13~"),
        (1, "a", Release, ""),
        (3, "a", Release, "\x1b[97;1:3u"),
        (3, "ctrl+space", Repeat, "\x1b[32;5:2u"),
        (3, "ctrl+space", Release, "\x1b[32;5:3u"),
        (3, "enter", Release, ""),
        (3, "up", Release, "\x1b[1;1:3A"),
        (5, "ctrl+shift+a", Press, "\x1b[97:65;6u"),
        (11, "a", Press, "\x1b[97u"),
        (11, "enter", Release, "\x1b[13;1:3u"),
    ];
    for (flags, name, action, expected) in cases {
        let mut modes = Modes::default();
        modes.push_keyboard(flags);
        let bytes = encode_key(name, action, &modes);
        assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{flags} {name} {action:?}");
    }
}

#[test]
fn only_what_was_asked_for_is_sent() {
    let plain = Modes::default();
    assert_eq!(encode_paste("a\r\nb\nc", &plain), b"a\rb\rc");
    assert!(encode_mouse(MouseAction::Press, 0, 0, &plain).is_empty());
    assert!(encode_focus(true, &plain).is_empty());
    let mut modes = Modes::default();
    for mode in [private::PASTE, private::MOUSE_DRAGS, private::MOUSE_SGR, private::FOCUS] {
        modes.set(mode, true);
    }
    assert_eq!(encode_paste("a\nb", &modes), b"\x1b[200~a\rb\x1b[201~");
    assert_eq!(encode_mouse(MouseAction::Press, 9, 3, &modes), b"\x1b[<0;10;4M");
    assert_eq!(encode_mouse(MouseAction::Release, 9, 3, &modes), b"\x1b[<0;10;4m");
    assert_eq!(encode_mouse(MouseAction::Drag, 0, 0, &modes), b"\x1b[<32;1;1M");
    assert_eq!(encode_mouse(MouseAction::WheelDown, 0, 0, &modes), b"\x1b[<65;1;1M");
    assert!(encode_mouse(MouseAction::Move, 0, 0, &modes).is_empty());
    assert_eq!(encode_focus(false, &modes), b"\x1b[O");
}
