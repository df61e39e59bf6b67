//! The terminal's side: frames to bytes, bytes to input.

use crate::{median_millis, tell};
use mynah::term::escape::Parser;
use mynah::term::screen::{Frame, Screen};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Style};
use std::time::Instant;

/// A screen of 200×60 with lines in three colours each, from this line on, above a footer.
fn lines(from: usize) -> Frame {
    let mut cells = Buffer::empty(Rect::new(0, 0, 200, 60));
    for y in 0..58u16 {
        let number = from + usize::from(y);
        let mut x = 0;
        for (part, color) in
            [Color::Rgb(200, 120, 40), Color::Reset, Color::Indexed(99)].into_iter().enumerate()
        {
            let text = format!("{:>8} part {part} of a line of code ", number * 7919 % 100_003);
            cells.set_string(x, y, &text, Style::new().fg(color));
            x += 36;
        }
    }
    cells.set_string(0, 59, "footer", Style::new());
    Frame { cells, caret: Some(Position { x: 3, y: 58 }), ..Frame::default() }
}

fn bytes(screen: &mut Screen, frame: Frame) -> f64 {
    let mut out = Vec::new();
    screen.paint(frame, &mut out);
    f64::from(u32::try_from(out.len()).unwrap_or(u32::MAX))
}

/// Painting at 200×60: everything, one line further, one letter, nothing.
pub fn frames() {
    let mut screen = Screen::new(true, true);
    let mut out = Vec::new();
    let full = median_millis(50, || {
        out.clear();
        screen.invalidate();
        screen.paint(lines(0), &mut out);
    });
    tell("frame_full_200x60", full, "ms");
    tell("frame_full_200x60_bytes", f64::from(u32::try_from(out.len()).unwrap_or(u32::MAX)), "bytes");
    let mut from = 0;
    let mut frames: Vec<Frame> = (1..=50).rev().map(lines).collect();
    let scrolled = median_millis(50, || {
        out.clear();
        from += 1;
        screen.paint(frames.pop().unwrap_or_default(), &mut out);
    });
    tell("frame_scrolled_200x60", scrolled, "ms");
    tell("frame_scrolled_200x60_bytes", f64::from(u32::try_from(out.len()).unwrap_or(u32::MAX)), "bytes");
    let mut typed = lines(from);
    typed.cells.set_string(3, 58, "x", Style::new());
    typed.caret = Some(Position { x: 4, y: 58 });
    let begun = Instant::now();
    tell("frame_typed_letter_bytes", bytes(&mut screen, typed.clone()), "bytes");
    tell("frame_typed_letter", begun.elapsed().as_secs_f64() * 1000.0, "ms");
    let begun = Instant::now();
    tell("frame_unchanged_bytes", bytes(&mut screen, typed), "bytes");
    tell("frame_unchanged", begun.elapsed().as_secs_f64() * 1000.0, "ms");
}

/// A paste of 5 MB, marked, in pieces as a terminal hands them over.
pub fn input() {
    let mut paste = b"\x1b[200~".to_vec();
    paste.extend_from_slice("some words of a long line\r".repeat(200_000).as_bytes());
    paste.extend_from_slice(b"\x1b[201~");
    let time = median_millis(5, || {
        let (mut parser, mut heard) = (Parser::default(), Vec::new());
        paste.chunks(4095).for_each(|piece| parser.push(piece, Instant::now(), &mut heard));
        assert_eq!(heard.len(), 1);
    });
    tell("input_paste_5mb", time, "ms");
}
