use super::*;
use crossterm::event::{KeyEventKind, KeyEventState, MouseButton, MouseEvent, MouseEventKind};
use proptest::prelude::*;

fn heard(bytes: &[u8]) -> Vec<Input> {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    parser.push(bytes, Instant::now(), &mut out);
    if parser.patience().is_some() {
        parser.expire(Instant::now(), &mut out);
    }
    out
}

fn press(code: KeyCode, modifiers: KeyModifiers) -> Input {
    key(code, modifiers)
}

#[test]
fn keys_of_old_and_new_terminals() {
    let (none, shift, alt, control) =
        (KeyModifiers::NONE, KeyModifiers::SHIFT, KeyModifiers::ALT, KeyModifiers::CONTROL);
    let c = KeyCode::Char;
    let table: &[(&str, KeyCode, KeyModifiers)] = &[
        ("a", c('a'), none),
        ("A", c('A'), shift),
        ("é", c('é'), none),
        ("日", c('日'), none),
        ("\r", KeyCode::Enter, none),
        ("\n", c('j'), control),
        ("\t", KeyCode::Tab, none),
        ("\x7f", KeyCode::Backspace, none),
        ("\0", c(' '), control),
        ("\x01", c('a'), control),
        ("\x1f", c('_'), control),
        ("\x1b", KeyCode::Esc, none),
        ("\x1ba", c('a'), alt),
        ("\x1bé", c('é'), alt),
        ("\x1b\r", KeyCode::Enter, alt),
        ("\x1b\x7f", KeyCode::Backspace, alt),
        ("\x1b[", c('['), alt),
        ("\x1b]", c(']'), alt),
        ("\x1bO", c('O'), alt | shift),
        ("\x1b[A", KeyCode::Up, none),
        ("\x1bOA", KeyCode::Up, none),
        ("\x1b\x1b[A", KeyCode::Up, alt),
        ("\x1b[1;5C", KeyCode::Right, control),
        ("\x1b[1;2R", KeyCode::F(3), shift),
        ("\x1b[Z", KeyCode::BackTab, shift),
        ("\x1b[3~", KeyCode::Delete, none),
        ("\x1b[5;3~", KeyCode::PageUp, alt),
        ("\x1b[15~", KeyCode::F(5), none),
        ("\x1b[24~", KeyCode::F(12), none),
        ("\x1b[[B", KeyCode::F(2), none),
        ("\x1b[27u", KeyCode::Esc, none),
        ("\x1b[13;2u", KeyCode::Enter, shift),
        ("\x1b[9;2u", KeyCode::BackTab, shift),
        ("\x1b[106;5u", c('j'), control),
        ("\x1b[97:65;6u", c('A'), control | shift),
        ("\x1b[97;6u", c('A'), control | shift),
        ("\x1b[47:63;4u", c('?'), alt),
        ("\x1b[27;5;13~", KeyCode::Enter, control),
        ("\x1b[57376u", KeyCode::F(13), none),
    ];
    for (bytes, code, modifiers) in table {
        assert_eq!(heard(bytes.as_bytes()), [press(*code, *modifiers)], "{bytes:?}");
    }
    assert_eq!(heard(b"\x1b\x1b"), [press(KeyCode::Esc, none), press(KeyCode::Esc, none)]);
    assert_eq!(heard(b"\x1b\x1ba"), [press(KeyCode::Esc, none), press(c('a'), alt)]);
}

#[test]
fn repeats_releases_and_the_keypad_are_told_apart() {
    let event = |code, kind, state| Input::Key(KeyEvent { code, modifiers: KeyModifiers::NONE, kind, state });
    let none = KeyEventState::NONE;
    assert_eq!(heard(b"\x1b[97;1:2u"), [event(KeyCode::Char('a'), KeyEventKind::Repeat, none)]);
    assert_eq!(heard(b"\x1b[1;1:3A"), [event(KeyCode::Up, KeyEventKind::Release, none)]);
    let enter = event(KeyCode::Enter, KeyEventKind::Press, KeyEventState::KEYPAD);
    assert_eq!(heard(b"\x1b[57414u"), [enter]);
}

#[test]
fn mouse_events() {
    let event = |kind, column, row, modifiers| Input::Mouse(MouseEvent { kind, column, row, modifiers });
    let none = KeyModifiers::NONE;
    let left = MouseButton::Left;
    let table = [
        ("\x1b[<0;1;1M", event(MouseEventKind::Down(left), 0, 0, none)),
        ("\x1b[<0;10;20m", event(MouseEventKind::Up(left), 9, 19, none)),
        ("\x1b[<32;300;7M", event(MouseEventKind::Drag(left), 299, 6, none)),
        ("\x1b[<35;3;4M", event(MouseEventKind::Moved, 2, 3, none)),
        ("\x1b[<64;3;4M", event(MouseEventKind::ScrollUp, 2, 3, none)),
        ("\x1b[<65;3;4M", event(MouseEventKind::ScrollDown, 2, 3, none)),
        (
            "\x1b[<20;3;4M",
            event(MouseEventKind::Down(left), 2, 3, KeyModifiers::SHIFT | KeyModifiers::CONTROL),
        ),
        ("\x1b[M !!", event(MouseEventKind::Down(left), 0, 0, none)),
    ];
    for (bytes, wanted) in table {
        assert_eq!(heard(bytes.as_bytes()), [wanted], "{bytes:?}");
    }
}

#[test]
fn a_paste_is_one_piece_and_what_follows_is_typed() {
    let paste = |text: &str| Input::Paste(text.to_owned());
    let x = press(KeyCode::Char('x'), KeyModifiers::NONE);
    assert_eq!(heard(b"\x1b[200~a\rb\x1b[31m\x1b[201~x"), [paste("a\nb[31m"), x]);
    assert_eq!(heard(b"\x1b[200~lost end"), [paste("lost end")]);
    assert_eq!(heard(b"\x1b[200~\x1b[201~"), [paste("")]);
}

#[test]
fn a_large_paste_costs_linear_time() {
    let mut bytes = b"\x1b[200~".to_vec();
    bytes.extend(std::iter::repeat_n(b'\x1b', 5 * 1024 * 1024));
    bytes.extend_from_slice(b"end\x1b[201~");
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    let begun = Instant::now();
    bytes.chunks(4095).for_each(|chunk| parser.push(chunk, begun, &mut out));
    assert_eq!(out, [Input::Paste("end".to_owned())]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn pieces_of_reports_are_never_typed() {
    let typed = |pieces: &[&str], pause: u64| {
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        let mut now = Instant::now();
        for piece in pieces {
            parser.push(piece.as_bytes(), now, &mut out);
            now += Duration::from_millis(pause);
            if parser.patience().is_some_and(|patience| patience.as_millis() < u128::from(pause)) {
                parser.expire(now, &mut out);
            }
        }
        let letters = out.iter().filter_map(|input| match input {
            Input::Key(KeyEvent { code: KeyCode::Char(c), .. }) => Some(*c),
            _ => None,
        });
        letters.collect::<String>()
    };
    // Cut at any place, with any pause, and followed by a letter.
    let report = "\x1b[<35;150;7M";
    for at in 1..report.len() {
        let (head, tail) = report.split_at(at);
        for pause in [1, 50, 400] {
            assert_eq!(
                typed(&[head, tail, "x"], pause).trim_start_matches('['),
                "x",
                "{head:?} {tail:?} {pause}"
            );
        }
        let third = at + (report.len() - at) / 2;
        let (middle, end) = tail.split_at(third - at);
        assert_eq!(typed(&[head, middle, end], 1), "", "{head:?} {middle:?} {end:?}");
    }
    assert_eq!(typed(&["[<35;150;7M[<35;151;7Mok"], 1), "ok");
    let mut parser = Parser::default();
    let mut out = Vec::new();
    parser.resumed(Instant::now());
    parser.push(b"150;7M\x1b[<0;1;1", Instant::now(), &mut out);
    assert_eq!(out, []);
}

#[test]
fn answers_nobody_waits_for_are_not_typed() {
    for bytes in
        ["\x1b]11;rgb:1/2/3\x1b\\", "\x1bP>|name\x1b\\", "\x1b[?62c", "\x1b_Gi=1;OK\x1b\\", "\x1b]0;t\x07"]
    {
        let out = heard(bytes.as_bytes());
        assert!(matches!(out.as_slice(), [Input::Reply(_)]), "{bytes:?}: {out:?}");
    }
}

/// What terminals send unasked, and what they answer.
const NOT_TYPED: [&str; 14] = [
    "\x1b[<35;150;7M",
    "\x1b[<0;1;1m",
    "\x1b[I",
    "\x1b[O",
    "\x1b[?62;52;c",
    "\x1b[?6c",
    "\x1b[?7u",
    "\x1b[?2026;2$y",
    "\x1b[?997;2n",
    "\x1b[2;5R",
    "\x1b]11;rgb:ffff/a0a0/00bb\x1b\\",
    "\x1b]11;rgb:ff/a0/bb\x07",
    "\x1bP>|kitty(0.42.1)\x1b\\",
    "\x1bP>|tmux 3.5a\x1b\\",
];

/// Feeds pieces as the thread that reads does, each so long after the one before, and returns what would be typed.
fn typed_of(pieces: &[(&[u8], u64)]) -> String {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    let mut now = Instant::now();
    for (piece, pause) in pieces {
        let next = now + Duration::from_millis(*pause);
        // It gives up at once when the patience is over, not when the next piece comes.
        while let Some(at) = parser.patience().map(|patience| now + patience).filter(|at| *at < next) {
            now = at;
            parser.expire(now, &mut out);
        }
        now = next;
        parser.push(piece, now, &mut out);
    }
    let letters = out.into_iter().filter_map(|input| match input {
        Input::Key(KeyEvent { code: KeyCode::Char(c), modifiers, kind, .. }) => {
            let is_text = (modifiers - KeyModifiers::SHIFT).is_empty() && kind != KeyEventKind::Release;
            is_text.then(|| c.to_string())
        }
        Input::Paste(text) => Some(text),
        _ => None,
    });
    letters.collect()
}

#[test]
fn whatever_a_terminal_says_cut_anywhere_is_not_typed() {
    for said in NOT_TYPED {
        for at in 0..=said.len() {
            let (head, tail) = said.as_bytes().split_at(at);
            for pause in [0, 1, 20, 30, 120, 290, 310, 450, 500] {
                // One letter behind what could be a key of its own is a letter.
                if head == b"\x1b[" && tail.len() == 1 && pause > 300 {
                    continue;
                }
                let typed = typed_of(&[(head, 0), (tail, pause), (b"x", 1000)]);
                assert_eq!(typed, "x", "{said:?} cut at {at}, {pause} ms");
            }
        }
    }
}

#[test]
fn a_cursor_report_is_no_key() {
    let cursor = |row, column| [Input::Reply(super::super::caps::Reply::Cursor { row, column })];
    assert_eq!(heard(b"\x1b[2;3R"), cursor(2, 3));
    assert_eq!(heard(b"\x1b[24;80R"), cursor(24, 80));
    let f3 = |modifiers| [press(KeyCode::F(3), modifiers)];
    assert_eq!(heard(b"\x1b[1;2R"), f3(KeyModifiers::SHIFT));
    assert_eq!(heard(b"\x1b[R"), f3(KeyModifiers::NONE));
    assert_eq!(heard(b"\x1bOR"), f3(KeyModifiers::NONE));
    assert_eq!(heard(b"\x1b[13~"), f3(KeyModifiers::NONE));
}

/// Some terminals tell where the cursor is when they have read on, in the first row maybe: what would be F3 is the answer
/// that was waited for, once, and no longer than what was asked behind it is not answered.
#[test]
fn the_answer_that_was_asked_for_is_no_key_in_the_first_row_either() {
    let said = |bytes: &[u8]| {
        let (mut parser, mut heard) = (Parser::default(), Vec::new());
        parser.ask_cursor();
        parser.push(bytes, Instant::now(), &mut heard);
        heard
    };
    let f3 = press(KeyCode::F(3), KeyModifiers::SHIFT);
    assert!(matches!(said(b"\x1b[1;1R").as_slice(), [Input::Reply(_)]));
    assert!(matches!(said(b"\x1b[1;2R\x1b[1;2R").as_slice(), [Input::Reply(_), key] if *key == f3));
    let device = said(b"\x1b[?62;22c\x1b[1;2R");
    assert!(matches!(device.as_slice(), [Input::Reply(_), key] if *key == f3), "{device:?}");
}

proptest! {
    /// Several of them in a row, in pieces of any size that come at once, one of them late.
    #[test]
    fn whatever_terminals_say_is_not_typed(
        said in prop::collection::vec(prop::sample::select(NOT_TYPED.to_vec()), 1..5),
        cuts in prop::collection::vec(1usize..12, 1..12),
        late in 0usize..12,
        pause in prop::sample::select(vec![1u64, 24, 26, 150, 299, 301, 480]),
    ) {
        let bytes = said.concat();
        let mut pieces = Vec::new();
        let mut rest = bytes.as_bytes();
        for (index, size) in cuts.iter().cycle().enumerate() {
            let (head, tail) = rest.split_at((*size).min(rest.len()));
            pieces.push((head, if index == late { pause } else { 1 }));
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        // A piece of one or two characters behind a pause may well be typed.
        if pieces.get(late).is_some_and(|(piece, _)| piece.len() < 5) {
            return Ok(());
        }
        // So may one letter behind what is a key of its own by then.
        let before: Vec<u8> = pieces.iter().take(late).flat_map(|(piece, _)| piece.iter().copied()).collect();
        let is_letter = pieces.get(late).is_some_and(|(piece, _)| matches!(piece, [b'I' | b'O', ..]));
        if before.ends_with(b"\x1b[") && is_letter {
            return Ok(());
        }
        pieces.push((b"x", 1000));
        prop_assert_eq!(typed_of(&pieces), "x", "{:?}", pieces);
    }

    /// Any bytes in any pieces give the same, and never a panic.
    #[test]
    fn pieces_make_no_difference(
        pieces in prop::collection::vec(prop_oneof![
            Just(b"\x1b[<35;150;7M".to_vec()),
            Just(b"\x1b[200~text\r\n\x1b[201~".to_vec()),
            Just(b"\x1b]11;rgb:11/22/33\x1b\\".to_vec()),
            Just(b"\x1b[1;5A\x1bOB\x1b\x1b[C".to_vec()),
            Just("日é👩‍🚀".as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..6),
        ], 0..8),
        cuts in prop::collection::vec(1usize..9, 1..40),
    ) {
        let bytes: Vec<u8> = b".".iter().copied().chain(pieces.concat()).collect();
        let now = Instant::now();
        let mut whole = (Parser::default(), Vec::new());
        whole.0.push(&bytes, now, &mut whole.1);
        let mut cut = (Parser::default(), Vec::new());
        let mut rest = bytes.as_slice();
        for size in cuts.iter().cycle() {
            let (head, tail) = rest.split_at((*size).min(rest.len()));
            cut.0.push(head, now, &mut cut.1);
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(whole.1, cut.1);
        prop_assert_eq!(whole.0.state, cut.0.state);
        prop_assert_eq!(whole.0.held, cut.0.held);
    }
}
