//! The meaning of single control sequences: which key, which mouse event. Tables only, no state.

use crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyEventState, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

/// A key of one ASCII byte.
pub fn byte(byte: u8, held: KeyModifiers) -> KeyEvent {
    let control = held | KeyModifiers::CONTROL;
    match byte {
        b'\r' => KeyEvent::new(KeyCode::Enter, held),
        b'\t' => KeyEvent::new(KeyCode::Tab, held),
        0x7f => KeyEvent::new(KeyCode::Backspace, held),
        0 => KeyEvent::new(KeyCode::Char(' '), control),
        1..=0x1a => KeyEvent::new(KeyCode::Char(char::from(byte - 1 + b'a')), control),
        // Ctrl with `\ ] ^ _`.
        0x1c..=0x1f => KeyEvent::new(KeyCode::Char(char::from(byte + 0x40)), control),
        _ => character(char::from(byte), held),
    }
}

/// A key that types this character.
pub fn character(c: char, held: KeyModifiers) -> KeyEvent {
    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    KeyEvent::new(KeyCode::Char(c), held | shift)
}

/// A key of the form `ESC O x`.
pub fn single(end: u8, held: KeyModifiers) -> Option<KeyEvent> {
    let code = match end {
        b'M' => KeyCode::Enter,
        b'I' => KeyCode::Tab,
        // The numeric block in application mode.
        b'j'..=b'y' => KeyCode::Char(char::from(end - 0x40)),
        _ => letter(end)?,
    };
    Some(KeyEvent::new(code, held))
}

/// A key of the form `ESC [ … x`; `held` is everything between.
pub fn control(held: &[u8], end: u8, outer: KeyModifiers) -> Option<KeyEvent> {
    let groups = groups(held)?;
    let number = |group: usize, part: usize| groups.get(group)?.get(part).copied();
    let first = number(0, 0).unwrap_or(1);
    let (code_group, modifier_group) = if end == b'~' && first == 27 { (2, 1) } else { (0, 1) };
    let mask = number(modifier_group, 0).unwrap_or(1).max(1) - 1;
    let modifiers = modifiers(mask) | outer;
    let kind = match number(modifier_group, 1) {
        Some(2) => KeyEventKind::Repeat,
        Some(3) => KeyEventKind::Release,
        Some(_) | None => KeyEventKind::Press,
    };
    let (code, modifiers, state) = match end {
        b'u' => key_of_code(first, number(0, 1).filter(|shifted| *shifted > 0), modifiers)?,
        // What a terminal sends for keys that older ones mix up, when it was told to by somebody before us.
        b'~' if code_group == 2 => key_of_code(number(2, 0)?, None, modifiers)?,
        b'~' => (tilde(first)?, modifiers, KeyEventState::NONE),
        b'Z' => (KeyCode::BackTab, modifiers | KeyModifiers::SHIFT, KeyEventState::NONE),
        _ => (letter(end)?, modifiers, KeyEventState::NONE),
    };
    Some(KeyEvent { code, modifiers, kind, state: state | locks(mask) })
}

const fn letter(end: u8) -> Option<KeyCode> {
    Some(match end {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'E' => KeyCode::KeypadBegin,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P' => KeyCode::F(1),
        b'Q' => KeyCode::F(2),
        b'R' => KeyCode::F(3),
        b'S' => KeyCode::F(4),
        _ => return None,
    })
}

fn tilde(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(small(number - 10)?),
        17..=21 => KeyCode::F(small(number - 11)?),
        23..=26 => KeyCode::F(small(number - 12)?),
        28 | 29 => KeyCode::F(small(number - 13)?),
        31..=34 => KeyCode::F(small(number - 14)?),
        _ => return None,
    })
}

/// A key by the code point that it types, or by its number in kitty's private range.
fn key_of_code(
    code: u32,
    shifted: Option<u32>,
    modifiers: KeyModifiers,
) -> Option<(KeyCode, KeyModifiers, KeyEventState)> {
    let keypad = KeyEventState::KEYPAD;
    let plain = KeyEventState::NONE;
    let (key, state) = match code {
        27 => (KeyCode::Esc, plain),
        13 => (KeyCode::Enter, plain),
        9 if modifiers.contains(KeyModifiers::SHIFT) => (KeyCode::BackTab, plain),
        9 => (KeyCode::Tab, plain),
        8 | 127 => (KeyCode::Backspace, plain),
        57_358 => (KeyCode::CapsLock, plain),
        57_359 => (KeyCode::ScrollLock, plain),
        57_360 => (KeyCode::NumLock, plain),
        57_361 => (KeyCode::PrintScreen, plain),
        57_362 => (KeyCode::Pause, plain),
        57_363 => (KeyCode::Menu, plain),
        57_376..=57_398 => (KeyCode::F(small(code - 57_363)?), plain),
        57_399..=57_408 => (KeyCode::Char(char::from_digit(code - 57_399, 10)?), keypad),
        57_409 => (KeyCode::Char('.'), keypad),
        57_410 => (KeyCode::Char('/'), keypad),
        57_411 => (KeyCode::Char('*'), keypad),
        57_412 => (KeyCode::Char('-'), keypad),
        57_413 => (KeyCode::Char('+'), keypad),
        57_414 => (KeyCode::Enter, keypad),
        57_415 => (KeyCode::Char('='), keypad),
        57_416 => (KeyCode::Char(','), keypad),
        57_417 => (KeyCode::Left, keypad),
        57_418 => (KeyCode::Right, keypad),
        57_419 => (KeyCode::Up, keypad),
        57_420 => (KeyCode::Down, keypad),
        57_421 => (KeyCode::PageUp, keypad),
        57_422 => (KeyCode::PageDown, keypad),
        57_423 => (KeyCode::Home, keypad),
        57_424 => (KeyCode::End, keypad),
        57_425 => (KeyCode::Insert, keypad),
        57_426 => (KeyCode::Delete, keypad),
        57_427 => (KeyCode::KeypadBegin, keypad),
        // Media keys and modifiers alone.
        57_344..=63_743 => return None,
        _ => return typed(code, shifted, modifiers),
    };
    Some((key, modifiers, state))
}

/// The same key looks the same from old and new terminals: shift is in the character, and told only of letters.
fn typed(
    code: u32,
    shifted: Option<u32>,
    modifiers: KeyModifiers,
) -> Option<(KeyCode, KeyModifiers, KeyEventState)> {
    let plain = char::from_u32(code).filter(|c| !c.is_control())?;
    if !modifiers.contains(KeyModifiers::SHIFT) {
        return Some((KeyCode::Char(plain), modifiers, KeyEventState::NONE));
    }
    let known = shifted.and_then(char::from_u32).filter(|c| !c.is_control());
    let c = known.unwrap_or_else(|| plain.to_uppercase().next().unwrap_or(plain));
    // Without the shifted character only the modifier tells that shift was held.
    let told = c.is_uppercase() || known.is_none();
    let modifiers = if told { modifiers } else { modifiers - KeyModifiers::SHIFT };
    Some((KeyCode::Char(c), modifiers, KeyEventState::NONE))
}

fn modifiers(mask: u32) -> KeyModifiers {
    let table = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ];
    table.iter().filter(|(bit, _)| mask & bit != 0).fold(KeyModifiers::NONE, |all, (_, one)| all | *one)
}

fn locks(mask: u32) -> KeyEventState {
    let caps = if mask & 64 != 0 { KeyEventState::CAPS_LOCK } else { KeyEventState::NONE };
    let num = if mask & 128 != 0 { KeyEventState::NUM_LOCK } else { KeyEventState::NONE };
    caps | num
}

/// A mouse event of three numbers: button, column, row.
pub fn mouse(numbers: &[u32], released: bool) -> Option<MouseEvent> {
    let [code, column, row] = numbers else { return None };
    let button = match code & 3 {
        0 => Some(MouseButton::Left),
        1 => Some(MouseButton::Middle),
        2 => Some(MouseButton::Right),
        _ => None,
    };
    let kind = match (code & 0b1110_0000, code & 3) {
        (64 | 96, 0) => MouseEventKind::ScrollUp,
        (64 | 96, 1) => MouseEventKind::ScrollDown,
        (64 | 96, 2) => MouseEventKind::ScrollLeft,
        (64 | 96, _) => MouseEventKind::ScrollRight,
        (32, _) => button.map_or(MouseEventKind::Moved, MouseEventKind::Drag),
        // Releases of the old form do not say of which button.
        (0, 3) => MouseEventKind::Up(MouseButton::Left),
        (0, _) if released => MouseEventKind::Up(button?),
        (0, _) => MouseEventKind::Down(button?),
        // Buttons beyond the third.
        _ => return None,
    };
    let cell = |number: &u32| u16::try_from(number.saturating_sub(1)).ok();
    Some(MouseEvent {
        kind,
        column: cell(column)?,
        row: cell(row)?,
        modifiers: modifiers((code >> 2) & 1 | (code >> 2) & 2 | (code >> 2) & 4),
    })
}

/// A mouse event of three bytes, from terminals that do not know the newer form.
pub fn old_mouse(bytes: &[u8]) -> Option<MouseEvent> {
    let numbers: Vec<u32> = bytes.iter().map(|byte| u32::from(*byte)).collect();
    let [code, column, row] = numbers.as_slice() else { return None };
    mouse(&[code.checked_sub(32)?, column.checked_sub(32)?, row.checked_sub(32)?], false)
}

/// Numbers between `;`, the first of each group between `:`. What is no number counts as zero.
pub fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.split(|byte| *byte == b';').map(|part| number(part).unwrap_or_default()).collect()
}

fn groups(bytes: &[u8]) -> Option<Vec<Vec<u32>>> {
    let valid = bytes.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':'));
    let group =
        |part: &[u8]| part.split(|byte| *byte == b':').map(|part| number(part).unwrap_or_default()).collect();
    match bytes {
        _ if !valid => None,
        [] => Some(Vec::new()),
        _ => Some(bytes.split(|byte| *byte == b';').map(group).collect()),
    }
}

/// The digits at the beginning.
fn number(part: &[u8]) -> Option<u32> {
    let digits = part.iter().take_while(|byte| byte.is_ascii_digit());
    digits
        .map(|byte| u32::from(byte - b'0'))
        .try_fold(0u32, |sum, digit| sum.checked_mul(10)?.checked_add(digit))
}

fn small(number: u32) -> Option<u8> {
    u8::try_from(number).ok()
}
