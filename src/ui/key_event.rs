//! Key presses of the terminal library as the keymap knows them.

use crate::config::key::{Key, KeyCode, Mods};
use crossterm::event::{KeyCode as TerminalCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The key of an event. `None` for a release, for a modifier alone and for keys that nothing can be bound to.
pub fn key_of(event: &KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let held = event.modifiers;
    let mut mods = Mods {
        ctrl: held.contains(KeyModifiers::CONTROL),
        alt: held.contains(KeyModifiers::ALT) || held.contains(KeyModifiers::META),
        shift: held.contains(KeyModifiers::SHIFT),
        logo: held.contains(KeyModifiers::SUPER),
    };
    let code = match event.code {
        TerminalCode::Char(c) => KeyCode::Char(c),
        TerminalCode::F(number) => KeyCode::F(number),
        TerminalCode::Enter => KeyCode::Enter,
        TerminalCode::Esc => KeyCode::Esc,
        TerminalCode::Tab => KeyCode::Tab,
        TerminalCode::BackTab => {
            mods.shift = true;
            KeyCode::Tab
        }
        TerminalCode::Backspace => KeyCode::Backspace,
        TerminalCode::Delete => KeyCode::Delete,
        TerminalCode::Insert => KeyCode::Insert,
        TerminalCode::Up => KeyCode::Up,
        TerminalCode::Down => KeyCode::Down,
        TerminalCode::Left => KeyCode::Left,
        TerminalCode::Right => KeyCode::Right,
        TerminalCode::Home => KeyCode::Home,
        TerminalCode::End => KeyCode::End,
        TerminalCode::PageUp => KeyCode::PageUp,
        TerminalCode::PageDown => KeyCode::PageDown,
        _ => return None,
    };
    Some(Key::new(code, mods))
}

/// What an event types where no key is bound: the character as the terminal told it, capitals included.
pub fn typed(event: &KeyEvent) -> Option<char> {
    let steers = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::META | KeyModifiers::SUPER;
    // Control and alt together are AltGr on some keyboards, and type.
    let alt_gr = KeyModifiers::CONTROL | KeyModifiers::ALT;
    let types = !event.modifiers.intersects(steers)
        || (event.modifiers.contains(alt_gr)
            && matches!(event.code, TerminalCode::Char(c) if !c.is_ascii_alphanumeric()));
    match event.code {
        TerminalCode::Char(c) if types && event.kind != KeyEventKind::Release => Some(c),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_become_the_keys_of_the_keymap() {
        let table = [
            (TerminalCode::Char('N'), KeyModifiers::SHIFT, "shift+n"),
            (TerminalCode::Char('N'), KeyModifiers::NONE, "shift+n"),
            (TerminalCode::Char('?'), KeyModifiers::SHIFT, "?"),
            (TerminalCode::BackTab, KeyModifiers::NONE, "shift+tab"),
            (TerminalCode::Char(' '), KeyModifiers::CONTROL, "ctrl+space"),
            (TerminalCode::Up, KeyModifiers::CONTROL | KeyModifiers::SHIFT, "ctrl+shift+up"),
            (TerminalCode::F(3), KeyModifiers::NONE, "f3"),
        ];
        for (code, held, key) in table {
            assert_eq!(key_of(&KeyEvent::new(code, held)), key.parse().ok(), "{key}");
        }
    }

    #[test]
    fn a_release_and_a_modifier_do_nothing() {
        let release =
            KeyEvent::new_with_kind(TerminalCode::Char('a'), KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!((key_of(&release), typed(&release)), (None, None));
        assert_eq!(key_of(&KeyEvent::new(TerminalCode::CapsLock, KeyModifiers::NONE)), None);
        assert_eq!(typed(&KeyEvent::new(TerminalCode::Char('a'), KeyModifiers::CONTROL)), None);
        assert_eq!(typed(&KeyEvent::new(TerminalCode::Char('A'), KeyModifiers::SHIFT)), Some('A'));
    }
}
