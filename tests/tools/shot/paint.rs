//! Paints the cells of a screen.

use crate::fonts::Fonts;
use crate::glyphs::{Lines, Part, Shape, shape};
use ab_glyph::{Font, GlyphId, PxScale, ScaleFont, point};
use image::{Rgb, RgbImage};
use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::Position;
use ratatui::style::{Color, Modifier};
use unicode_normalization::UnicodeNormalization;

/// Red, green, blue.
type Paint = (u8, u8, u8);

/// What colours without a value of their own look like.
pub struct Palette {
    /// The terminal's own background.
    pub background: Paint,
    foreground: Paint,
    sixteen: [Paint; 16],
}

impl Palette {
    /// Light letters on a dark ground.
    pub fn dark() -> Self {
        Self {
            background: (0x1a, 0x1a, 0x1d),
            foreground: (0xd8, 0xd6, 0xd0),
            sixteen: [
                (0x2a, 0x2a, 0x2e),
                (0xd0, 0x6c, 0x6c),
                (0x8f, 0xb5, 0x73),
                (0xdd, 0xb0, 0x5f),
                (0x72, 0x9f, 0xcf),
                (0xb4, 0x8e, 0xad),
                (0x7f, 0xb4, 0xbe),
                (0xc5, 0xc3, 0xbd),
                (0x6c, 0x6b, 0x70),
                (0xe5, 0x86, 0x86),
                (0xa9, 0xcc, 0x8f),
                (0xf0, 0xc6, 0x7a),
                (0x93, 0xb8, 0xe2),
                (0xcb, 0xa8, 0xc6),
                (0x9c, 0xcc, 0xd4),
                (0xf2, 0xf0, 0xea),
            ],
        }
    }

    /// Dark letters on a light ground.
    pub fn light() -> Self {
        Self {
            background: (0xf7, 0xf6, 0xf2),
            foreground: (0x33, 0x32, 0x2f),
            sixteen: [
                (0x33, 0x32, 0x2f),
                (0xa3, 0x3d, 0x33),
                (0x3c, 0x6b, 0x2e),
                (0x85, 0x5c, 0x00),
                (0x2a, 0x67, 0x85),
                (0x77, 0x49, 0x73),
                (0x2b, 0x70, 0x70),
                (0xd5, 0xd3, 0xcc),
                (0x85, 0x83, 0x7c),
                (0xc0, 0x55, 0x4a),
                (0x52, 0x85, 0x43),
                (0xa3, 0x78, 0x1c),
                (0x45, 0x85, 0xa5),
                (0x95, 0x65, 0x90),
                (0x45, 0x8d, 0x8d),
                (0xff, 0xff, 0xff),
            ],
        }
    }

    fn paint(&self, color: Color, default: Paint) -> Paint {
        match color {
            Color::Reset => default,
            Color::Rgb(red, green, blue) => (red, green, blue),
            Color::Indexed(index) => self.indexed(index),
            Color::Black => self.indexed(0),
            Color::Red => self.indexed(1),
            Color::Green => self.indexed(2),
            Color::Yellow => self.indexed(3),
            Color::Blue => self.indexed(4),
            Color::Magenta => self.indexed(5),
            Color::Cyan => self.indexed(6),
            Color::Gray => self.indexed(7),
            Color::DarkGray => self.indexed(8),
            Color::LightRed => self.indexed(9),
            Color::LightGreen => self.indexed(10),
            Color::LightYellow => self.indexed(11),
            Color::LightBlue => self.indexed(12),
            Color::LightMagenta => self.indexed(13),
            Color::LightCyan => self.indexed(14),
            Color::White => self.indexed(15),
        }
    }

    /// Sixteen of the terminal's own, a cube of 6 × 6 × 6, and 24 greys.
    fn indexed(&self, index: u8) -> Paint {
        let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
        match index {
            0..=15 => self.sixteen.get(usize::from(index)).copied().unwrap_or(self.foreground),
            16..=231 => {
                let cube = index - 16;
                (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
            }
            232..=255 => {
                let grey = 8 + 10 * (index - 232);
                (grey, grey, grey)
            }
        }
    }
}

/// The picture of a screen, with a narrow margin.
pub fn paint(buffer: &Buffer, caret: Option<Position>, fonts: &Fonts, palette: &Palette) -> RgbImage {
    let (width, height) = fonts.cell;
    let margin = width;
    let (columns, rows) = (u32::from(buffer.area.width), u32::from(buffer.area.height));
    let size = (columns * width + 2 * margin, rows * height + 2 * margin);
    let (red, green, blue) = palette.background;
    let mut canvas = Canvas { image: RgbImage::from_pixel(size.0, size.1, Rgb([red, green, blue])) };
    for row in 0..buffer.area.height {
        let mut column = 0;
        while let Some(cell) = buffer.cell((buffer.area.x + column, buffer.area.y + row)) {
            let place = CellPlace {
                left: (margin + u32::from(column) * width) as f32,
                top: (margin + u32::from(row) * height) as f32,
                width: (width * u32::from(cell.cell_width().max(1))) as f32,
                height: height as f32,
            };
            let has_caret = caret == Some(Position::new(column, row));
            paint_cell(&mut canvas, cell, place, has_caret, fonts, palette);
            column += cell.cell_width().max(1);
        }
    }
    canvas.image
}

#[derive(Clone, Copy)]
struct CellPlace {
    left: f32,
    top: f32,
    width: f32,
    height: f32,
}

fn paint_cell(
    canvas: &mut Canvas,
    cell: &Cell,
    place: CellPlace,
    has_caret: bool,
    fonts: &Fonts,
    palette: &Palette,
) {
    let has = |modifier| cell.modifier.contains(modifier);
    let mut ink = palette.paint(cell.fg, palette.foreground);
    let mut ground = palette.paint(cell.bg, palette.background);
    if has(Modifier::REVERSED) {
        std::mem::swap(&mut ink, &mut ground);
    }
    if has(Modifier::DIM) {
        ink = mix(ground, ink, 0.6);
    }
    let CellPlace { left, top, width, height } = place;
    canvas.fill([left, top, left + width, top + height], ground, 1.0);
    if !has(Modifier::HIDDEN) {
        paint_symbol(canvas, cell, place, ink, fonts);
    }
    let line = (height / 14.0).round().max(1.0);
    if has(Modifier::UNDERLINED) {
        let color = palette.paint(cell.underline_color, ink);
        let y = top + fonts.baseline + line;
        canvas.fill([left, y, left + width, y + line], color, 1.0);
    }
    if has(Modifier::CROSSED_OUT) {
        let y = (top + fonts.baseline * 0.68).round();
        canvas.fill([left, y, left + width, y + line], ink, 1.0);
    }
    if has_caret {
        canvas.fill(
            [left, top, left + (width / 6.0).round().max(1.0), top + height],
            palette.foreground,
            1.0,
        );
    }
}

fn paint_symbol(canvas: &mut Canvas, cell: &Cell, place: CellPlace, ink: Paint, fonts: &Fonts) {
    let bold = cell.modifier.contains(Modifier::BOLD);
    let italic = cell.modifier.contains(Modifier::ITALIC);
    // Fonts have accented letters, but cannot put an accent on a letter by themselves.
    for letter in cell.symbol().nfc().filter(|letter| *letter != ' ') {
        match shape(letter) {
            Some(Shape::Parts(parts)) => paint_parts(canvas, &parts, place, ink),
            Some(Shape::Lines(lines)) => paint_lines(canvas, lines, place, ink),
            Some(Shape::Dots(dots)) => paint_dots(canvas, dots, place, ink),
            None => paint_letter(canvas, letter, (bold, italic), place, ink, fonts),
        }
    }
}

fn paint_parts(canvas: &mut Canvas, parts: &[Part], place: CellPlace, ink: Paint) {
    for Part { edges: [left, top, right, bottom], cover } in parts {
        let x = |eighths: f32| (place.left + place.width * eighths / 8.0).round();
        let y = |eighths: f32| (place.top + place.height * eighths / 8.0).round();
        canvas.fill([x(*left), y(*top), x(*right), y(*bottom)], ink, *cover);
    }
}

fn paint_lines(canvas: &mut Canvas, lines: Lines, place: CellPlace, ink: Paint) {
    let light = (place.width / 9.0).round().max(1.0);
    let CellPlace { left, top, width, height } = place;
    let (x, y) = ((left + width / 2.0 - light / 2.0).round(), (top + height / 2.0 - light / 2.0).round());
    if lines.is_round {
        return paint_round(canvas, lines, place, (x, y, light), ink);
    }
    // Where the strokes of an arm lie beside the middle, and how thick they are.
    let strokes = |kind: u8| match kind {
        0 => vec![],
        1 => vec![(0.0, light)],
        2 => vec![(-light / 2.0, light * 2.0)],
        _ => vec![(-light, light), (light, light)],
    };
    let reach = |kinds: [u8; 2]| if kinds.contains(&3) { light } else { 0.0 };
    let across = reach([lines.up, lines.down]);
    let along = reach([lines.left, lines.right]);
    for (offset, thick) in strokes(lines.left) {
        canvas.fill([left, y + offset, x + light + across, y + offset + thick], ink, 1.0);
    }
    for (offset, thick) in strokes(lines.right) {
        canvas.fill([x - across, y + offset, left + width, y + offset + thick], ink, 1.0);
    }
    for (offset, thick) in strokes(lines.up) {
        canvas.fill([x + offset, top, x + offset + thick, y + light + along], ink, 1.0);
    }
    for (offset, thick) in strokes(lines.down) {
        canvas.fill([x + offset, y - along, x + offset + thick, top + height], ink, 1.0);
    }
}

/// Two straight ends and a quarter of a circle between them.
fn paint_round(canvas: &mut Canvas, lines: Lines, place: CellPlace, middle: (f32, f32, f32), ink: Paint) {
    let CellPlace { left, top, width, height } = place;
    let (x, y, light) = middle;
    let radius = (width / 2.0).floor();
    let (to_right, to_bottom) = (lines.right != 0, lines.down != 0);
    let center_x = x + light / 2.0 + if to_right { radius } else { -radius };
    let center_y = y + light / 2.0 + if to_bottom { radius } else { -radius };
    if to_bottom {
        canvas.fill([x, center_y, x + light, top + height], ink, 1.0);
    } else {
        canvas.fill([x, top, x + light, center_y], ink, 1.0);
    }
    if to_right {
        canvas.fill([center_x, y, left + width, y + light], ink, 1.0);
    } else {
        canvas.fill([left, y, center_x, y + light], ink, 1.0);
    }
    let corner = [x.min(center_x), y.min(center_y), (x + light).max(center_x), (y + light).max(center_y)];
    canvas.cover(corner, ink, |pixel_x, pixel_y| {
        let distance = (pixel_x - center_x).hypot(pixel_y - center_y);
        (light / 2.0 + 0.5 - (distance - radius).abs()).clamp(0.0, 1.0)
    });
}

fn paint_dots(canvas: &mut Canvas, dots: u8, place: CellPlace, ink: Paint) {
    // Bit by bit: column and row.
    let places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
    let radius = (place.width / 8.0).max(0.8);
    for (at, (column, row)) in places.iter().enumerate() {
        if dots & (1 << at) != 0 {
            let x = place.left + place.width * (f32::from(*column as u8) * 2.0 + 1.0) / 4.0;
            let y = place.top + place.height * (f32::from(*row as u8) * 2.0 + 1.0) / 8.0;
            let around = [x - radius - 1.0, y - radius - 1.0, x + radius + 1.0, y + radius + 1.0];
            canvas.cover(around, ink, |pixel_x, pixel_y| {
                (radius + 0.5 - (pixel_x - x).hypot(pixel_y - y)).clamp(0.0, 1.0)
            });
        }
    }
}

fn paint_letter(
    canvas: &mut Canvas,
    letter: char,
    (bold, italic): (bool, bool),
    place: CellPlace,
    ink: Paint,
    fonts: &Fonts,
) {
    let Some((font, is_styled)) = fonts.with(letter, bold, italic) else {
        // A frame, as terminals show what no font has.
        let CellPlace { left, top, width, height } = place;
        canvas.fill([left + 1.0, top + 3.0, left + width - 1.0, top + 4.0], ink, 1.0);
        canvas.fill([left + 1.0, top + height - 4.0, left + width - 1.0, top + height - 3.0], ink, 1.0);
        canvas.fill([left + 1.0, top + 3.0, left + 2.0, top + height - 3.0], ink, 1.0);
        canvas.fill([left + width - 2.0, top + 3.0, left + width - 1.0, top + height - 3.0], ink, 1.0);
        return;
    };
    let id: GlyphId = font.glyph_id(letter);
    // A letter of another font may be wider than the cell.
    let advance = font.as_scaled(PxScale::from(fonts.height)).h_advance(id);
    let scale =
        if advance > place.width * 1.05 { fonts.height * place.width / advance } else { fonts.height };
    let advance = advance * scale / fonts.height;
    let left = place.left + ((place.width - advance) / 2.0).max(0.0);
    let baseline = place.top + fonts.baseline;
    let outlines = if bold && !is_styled { 2 } else { 1 };
    for shift in 0..outlines {
        let glyph = id.with_scale_and_position(scale, point(left + shift as f32 * 0.6, baseline));
        if let Some(outline) = font.outline_glyph(glyph) {
            let bounds = outline.px_bounds();
            outline.draw(|x, y, cover| {
                canvas.blend(bounds.min.x + x as f32, bounds.min.y + y as f32, ink, cover);
            });
        }
    }
}

struct Canvas {
    image: RgbImage,
}

impl Canvas {
    /// Left, top, right, bottom, in pixels.
    fn fill(&mut self, edges: [f32; 4], ink: Paint, cover: f32) {
        self.cover(edges, ink, |_, _| cover);
    }

    /// Asks for each pixel, by its middle, how much of it is covered.
    fn cover(&mut self, [left, top, right, bottom]: [f32; 4], ink: Paint, cover: impl Fn(f32, f32) -> f32) {
        let mut y = top.round();
        while y < bottom.round() {
            let mut x = left.round();
            while x < right.round() {
                self.blend(x, y, ink, cover(x + 0.5, y + 0.5));
                x += 1.0;
            }
            y += 1.0;
        }
    }

    fn blend(&mut self, x: f32, y: f32, ink: Paint, cover: f32) {
        if x < 0.0 || y < 0.0 {
            return;
        }
        if let Some(pixel) = self.image.get_pixel_mut_checked(x as u32, y as u32) {
            let Rgb([red, green, blue]) = *pixel;
            let (red, green, blue) = mix((red, green, blue), ink, cover);
            *pixel = Rgb([red, green, blue]);
        }
    }
}

fn mix(from: Paint, to: Paint, share: f32) -> Paint {
    let share = share.clamp(0.0, 1.0);
    let one = |from: u8, to: u8| (f32::from(from) + (f32::from(to) - f32::from(from)) * share).round() as u8;
    (one(from.0, to.0), one(from.1, to.1), one(from.2, to.2))
}
