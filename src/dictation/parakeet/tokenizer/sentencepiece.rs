//! The vocabulary of a SentencePiece model: a protocol buffer, of which three fields matter.

use super::Piece;

/// `SentencePiece.Type` in SentencePiece's definition.
const UNKNOWN: u64 = 2;
const CONTROL: u64 = 3;
const UNUSED: u64 = 5;

/// A field of a message.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Of a fixed size, and of no interest.
    Fixed,
}

/// The pieces in order; `None` if it is no such model.
pub fn pieces(mut model: &[u8]) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    while !model.is_empty() {
        if let (1, Field::Bytes(piece)) = field(&mut model)? {
            pieces.push(read(piece)?);
        }
    }
    (!pieces.is_empty()).then_some(pieces)
}

fn read(mut message: &[u8]) -> Option<Piece> {
    let (mut text, mut kind) = (None, 1);
    while !message.is_empty() {
        match field(&mut message)? {
            (1, Field::Bytes(bytes)) => text = Some(std::str::from_utf8(bytes).ok()?),
            (3, Field::Number(number)) => kind = number,
            _ => {}
        }
    }
    Some(if matches!(kind, UNKNOWN | CONTROL | UNUSED) { Piece::Hidden } else { Piece::new(text?) })
}

fn field<'a>(message: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let key = number(message)?;
    let field = match key & 7 {
        0 => Field::Number(number(message)?),
        1 => take(message, 8).map(|_| Field::Fixed)?,
        2 => {
            let length = usize::try_from(number(message)?).ok()?;
            Field::Bytes(take(message, length)?)
        }
        5 => take(message, 4).map(|_| Field::Fixed)?,
        _ => return None,
    };
    Some((key >> 3, field))
}

fn take<'a>(message: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = message.split_at_checked(length)?;
    *message = rest;
    Some(taken)
}

/// A number of seven bits a byte, the lowest first.
fn number(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(text: &str, kind: Option<u8>) -> Vec<u8> {
        let mut message = vec![0x0a, text.len() as u8];
        message.extend(text.as_bytes());
        message.extend([0x15, 0, 0, 0x80, 0x3f]);
        message.extend(kind.into_iter().flat_map(|kind| [0x18, kind]));
        let mut field = vec![0x0a, message.len() as u8];
        field.extend(message);
        field
    }

    #[test]
    fn pieces_are_read_in_order() {
        let mut model = piece("<unk>", Some(2));
        model.extend(piece("\u{2581}a", None));
        model.extend(piece("<0x41>", Some(6)));
        model.extend(piece("x", Some(4)));
        model.extend([0x12, 2, 8, 1]); // The trainer's settings.
        let expected =
            [Piece::Hidden, Piece::Text("\u{2581}a".into()), Piece::Byte(0x41), Piece::Text("x".into())];
        assert_eq!(pieces(&model).unwrap(), expected);
        assert_eq!(pieces(&model[..model.len() - 1]), None);
        assert_eq!(pieces(&[]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = pieces(&bytes);
        }
    }
}
