//! Server-sent events: bytes to frames, by the event-stream rules of the HTML standard.
//!
//! Responsibilities: splits lines at CR, LF or CRLF, collects `data` and `event`, drops comments and other fields.
//! Invariants: any chunking of the same bytes gives the same frames; a byte is looked at once; memory is bounded by the
//! limit of one frame.

use std::mem;

/// Room for one frame, in bytes. A whole tool call can come in one frame; nothing sensible is larger.
pub const FRAME_LIMIT: usize = 32 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// One event of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Value of the `event` field; empty when there was none.
    pub event: String,
    /// Values of the `data` fields, joined by newlines. Bytes that are no UTF-8 are replaced.
    pub data: String,
}

/// A frame that exceeds the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a frame of the stream exceeds {limit} bytes")]
pub struct FrameTooLarge {
    /// The limit in bytes.
    pub limit: usize,
}

/// Turns bytes into frames.
#[derive(Debug)]
pub struct SseParser {
    /// The line that has not ended yet.
    line: Vec<u8>,
    event: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    at_start: bool,
    /// The last byte was a CR that ended a line: a LF right after it belongs to it.
    after_carriage_return: bool,
    limit: usize,
}

impl Default for SseParser {
    fn default() -> Self {
        Self::with_limit(FRAME_LIMIT)
    }
}

impl SseParser {
    /// A parser that refuses frames above `limit` bytes.
    pub const fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            event: Vec::new(),
            data: Vec::new(),
            has_data: false,
            at_start: true,
            after_carriage_return: false,
            limit,
        }
    }

    /// Takes the next bytes in; frames that became whole are added to `frames`. After an error the parser is useless.
    pub fn push(&mut self, bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), FrameTooLarge> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if mem::take(&mut self.after_carriage_return)
                && let Some((b'\n', tail)) = rest.split_first()
            {
                rest = tail;
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, tail) = rest.split_at(end.unwrap_or(rest.len()));
            if self.line.len() + piece.len() + self.data.len() > self.limit {
                return Err(FrameTooLarge { limit: self.limit });
            }
            let Some((ending, tail)) = tail.split_first() else {
                self.line.extend_from_slice(piece);
                return Ok(());
            };
            self.after_carriage_return = *ending == b'\r';
            rest = tail;
            if self.line.is_empty() {
                self.take_line(piece, frames);
            } else {
                self.line.extend_from_slice(piece);
                let mut line = mem::take(&mut self.line);
                self.take_line(&line, frames);
                // Keeps the allocation for the next line that spans chunks.
                line.clear();
                self.line = line;
            }
        }
        Ok(())
    }

    /// The stream is over. Unlike a browser, a last frame without its blank line counts: some servers leave it out.
    pub fn end(mut self) -> Option<Frame> {
        let mut frames = Vec::new();
        let line = mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, &mut frames);
        }
        self.take_line(&[], &mut frames);
        frames.pop()
    }

    fn take_line(&mut self, line: &[u8], frames: &mut Vec<Frame>) {
        let line = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if self.at_start => rest,
            _ => line,
        };
        self.at_start = false;
        if line.is_empty() {
            self.dispatch(frames);
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.event = value.to_vec(),
            // Comments (an empty field name), `id` and `retry`: nobody resumes a model's answer.
            _ => {}
        }
    }

    fn dispatch(&mut self, frames: &mut Vec<Frame>) {
        let event = mem::take(&mut self.event);
        let data = mem::take(&mut self.data);
        if mem::take(&mut self.has_data) {
            frames.push(Frame { event: into_text(event), data: into_text(data) });
        }
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(chunks: &[&[u8]]) -> Vec<Frame> {
        let mut parser = SseParser::default();
        let mut frames = Vec::new();
        for chunk in chunks {
            parser.push(chunk, &mut frames).unwrap();
        }
        frames.extend(parser.end());
        frames
    }

    fn frame(event: &str, data: &str) -> Frame {
        Frame { event: event.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn line_ends_comments_and_fields() {
        let cases: &[(&str, &[Frame])] = &[
            ("data: a\n\n", &[frame("", "a")]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &[frame("", "a"), frame("", "b")]),
            ("data: a\r\rdata: b\r\r", &[frame("", "a"), frame("", "b")]),
            ("event: x\ndata:a\ndata:  b\n\n", &[frame("x", "a\n b")]),
            (": keep-alive\n\nid: 4\nretry: 10\ndata: a\n\n", &[frame("", "a")]),
            ("data\n\n", &[frame("", "")]),
            ("data\ndata\n\n", &[frame("", "\n")]),
            ("event: lost\n\ndata: a\n\n", &[frame("", "a")]),
            ("\u{feff}data: a\n\n", &[frame("", "a")]),
            ("data: a\n\ndata: last", &[frame("", "a"), frame("", "last")]),
            ("event: x\ndata: last\n", &[frame("x", "last")]),
            ("", &[]),
            ("nonsense\n\n", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(&[text.as_bytes()]), *expected, "{text:?}");
        }
    }

    #[test]
    fn a_character_split_between_chunks_survives() {
        let bytes = "data: grüße 🐦\n\n".as_bytes();
        for at in 0..bytes.len() {
            let (a, b) = bytes.split_at(at);
            assert_eq!(parse(&[a, b]), [frame("", "grüße 🐦")]);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(parse(&[b"data: a\xffb\n\n"]), [frame("", "a\u{fffd}b")]);
    }

    #[test]
    fn the_limit_holds_for_lines_and_for_frames() {
        let mut frames = Vec::new();
        let mut parser = SseParser::with_limit(16);
        assert_eq!(parser.push(b"data: 0123456789abcdef", &mut frames), Err(FrameTooLarge { limit: 16 }));
        let mut parser = SseParser::with_limit(16);
        let lines = b"data: 0123\n".repeat(3);
        assert_eq!(parser.push(&lines, &mut frames), Err(FrameTooLarge { limit: 16 }));
        let mut parser = SseParser::with_limit(16);
        let separate = b"data: 0123\n\n".repeat(3);
        assert_eq!(parser.push(&separate, &mut frames), Ok(()));
        assert_eq!(frames.len(), 3);
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_frames(
            parts in prop::collection::vec(
                prop::sample::select(vec!["data: x", "data:", "event: e", ":", "\n", "\r", "\r\n", "\n\n", "é", "\u{feff}", "{}"]),
                0..40,
            ),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let text = parts.concat();
            let bytes = text.as_bytes();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.push(0);
            places.push(bytes.len());
            places.sort_unstable();
            let chunks: Vec<&[u8]> = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(parse(&chunks), parse(&[bytes]));
        }
    }
}
