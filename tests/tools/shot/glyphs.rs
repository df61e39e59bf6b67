//! Blocks, lines and braille as rectangles: painted from a font they leave gaps between cells.

/// A rectangle within a cell, in eighths of its width and height, and how much of it is covered, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Left, top, right, bottom.
    pub edges: [f32; 4],
    /// 1 is solid; shades cover less.
    pub cover: f32,
}

/// What to paint for a character.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Rectangles.
    Parts(Vec<Part>),
    /// Lines from the middle of the cell.
    Lines(Lines),
    /// Dots of braille, the lowest bit the first dot.
    Dots(u8),
}

/// The arms of a box character: 0 none, 1 light, 2 heavy, 3 double.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// Arm to the left.
    pub left: u8,
    /// Arm to the right.
    pub right: u8,
    /// Arm up.
    pub up: u8,
    /// Arm down.
    pub down: u8,
    /// Corners are round.
    pub is_round: bool,
}

/// The shape of a character, for those that are not painted from a font.
pub fn shape(letter: char) -> Option<Shape> {
    let code = u32::from(letter);
    if let 0x2800..=0x28ff = code {
        return Some(Shape::Dots(u8::try_from(code - 0x2800).unwrap_or(0)));
    }
    lines(letter).map(Shape::Lines).or_else(|| parts(letter).map(Shape::Parts))
}

fn parts(letter: char) -> Option<Vec<Part>> {
    let solid =
        |left: f32, top: f32, right: f32, bottom: f32| Part { edges: [left, top, right, bottom], cover: 1.0 };
    let code = u32::from(letter);
    let count = |from: u32| f32::from(u8::try_from(code - from).unwrap_or(0));
    let shade = |cover: f32| vec![Part { edges: [0.0, 0.0, 8.0, 8.0], cover }];
    let quarters = |bits: u8| {
        let corners = [(0.0, 0.0), (4.0, 0.0), (0.0, 4.0), (4.0, 4.0)];
        let set = corners.iter().enumerate().filter(|(at, _)| bits & (1 << at) != 0);
        set.map(|(_, (x, y))| solid(*x, *y, x + 4.0, y + 4.0)).collect()
    };
    Some(match letter {
        '▀' => vec![solid(0.0, 0.0, 8.0, 4.0)],
        // One to eight eighths from below.
        '▁'..='█' => vec![solid(0.0, 7.0 - count(0x2581), 8.0, 8.0)],
        // Seven to one eighths from the left.
        '▉'..='▏' => vec![solid(0.0, 0.0, 7.0 - count(0x2589), 8.0)],
        '▐' => vec![solid(4.0, 0.0, 8.0, 8.0)],
        '░' => shade(0.25),
        '▒' => shade(0.5),
        '▓' => shade(0.75),
        '▔' => vec![solid(0.0, 0.0, 8.0, 1.0)],
        '▕' => vec![solid(7.0, 0.0, 8.0, 8.0)],
        // Bits: upper left, upper right, lower left, lower right.
        '▖' => quarters(0b0100),
        '▗' => quarters(0b1000),
        '▘' => quarters(0b0001),
        '▙' => quarters(0b1101),
        '▚' => quarters(0b1001),
        '▛' => quarters(0b0111),
        '▜' => quarters(0b1011),
        '▝' => quarters(0b0010),
        '▞' => quarters(0b0110),
        '▟' => quarters(0b1110),
        // The common fonts have no hourglass.
        '⧗' => (0..12u8)
            .map(|strip| {
                let top = 2.0 + f32::from(strip) / 3.0;
                let half = 0.6 + (top + 1.0 / 6.0 - 4.0).abs() * 1.3;
                solid(4.0 - half, top, 4.0 + half, top + 1.0 / 3.0)
            })
            .collect(),
        _ => return None,
    })
}

/// Arms by character: left, right, up, down.
const LINES: &[(char, [u8; 4])] = &[
    ('─', [1, 1, 0, 0]),
    ('━', [2, 2, 0, 0]),
    ('│', [0, 0, 1, 1]),
    ('┃', [0, 0, 2, 2]),
    ('┌', [0, 1, 0, 1]),
    ('┐', [1, 0, 0, 1]),
    ('└', [0, 1, 1, 0]),
    ('┘', [1, 0, 1, 0]),
    ('├', [0, 1, 1, 1]),
    ('┤', [1, 0, 1, 1]),
    ('┬', [1, 1, 0, 1]),
    ('┴', [1, 1, 1, 0]),
    ('┼', [1, 1, 1, 1]),
    ('┏', [0, 2, 0, 2]),
    ('┓', [2, 0, 0, 2]),
    ('┗', [0, 2, 2, 0]),
    ('┛', [2, 0, 2, 0]),
    ('┣', [0, 2, 2, 2]),
    ('┫', [2, 0, 2, 2]),
    ('┳', [2, 2, 0, 2]),
    ('┻', [2, 2, 2, 0]),
    ('╋', [2, 2, 2, 2]),
    ('═', [3, 3, 0, 0]),
    ('║', [0, 0, 3, 3]),
    ('╔', [0, 3, 0, 3]),
    ('╗', [3, 0, 0, 3]),
    ('╚', [0, 3, 3, 0]),
    ('╝', [3, 0, 3, 0]),
    ('╠', [0, 3, 3, 3]),
    ('╣', [3, 0, 3, 3]),
    ('╦', [3, 3, 0, 3]),
    ('╩', [3, 3, 3, 0]),
    ('╬', [3, 3, 3, 3]),
    ('╭', [0, 1, 0, 1]),
    ('╮', [1, 0, 0, 1]),
    ('╰', [0, 1, 1, 0]),
    ('╯', [1, 0, 1, 0]),
    ('╴', [1, 0, 0, 0]),
    ('╵', [0, 0, 1, 0]),
    ('╶', [0, 1, 0, 0]),
    ('╷', [0, 0, 0, 1]),
    ('╸', [2, 0, 0, 0]),
    ('╹', [0, 0, 2, 0]),
    ('╺', [0, 2, 0, 0]),
    ('╻', [0, 0, 0, 2]),
    ('╼', [1, 2, 0, 0]),
    ('╽', [0, 0, 1, 2]),
    ('╾', [2, 1, 0, 0]),
    ('╿', [0, 0, 2, 1]),
];

fn lines(letter: char) -> Option<Lines> {
    let (_, [left, right, up, down]) = *LINES.iter().find(|(candidate, _)| *candidate == letter)?;
    Some(Lines { left, right, up, down, is_round: ('╭'..='╰').contains(&letter) })
}
