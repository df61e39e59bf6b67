//! Which row of the screen is what.

use ratatui::layout::Rect;

/// Rows that the head has at most.
pub const MOST_HEAD: u16 = 12;

/// Rows that the head leaves to the body.
const LEAST_BODY: u16 = 3;

/// Where everything stands; empty where there is no room for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// The bar with the name and the buttons.
    pub title: Rect,
    /// The band.
    pub band: Rect,
    /// Facts, command, steps.
    pub head: Rect,
    /// Above the body.
    pub rule: Rect,
    /// What is read.
    pub body: Rect,
    /// The keys.
    pub footer: Rect,
}

/// Splits the screen. `head`: rows that it would like to have. `asks`: the last row is needed, whatever the height.
pub fn split(screen: Rect, head: usize, asks: bool) -> Areas {
    let height = screen.height;
    let title = u16::from(height >= 8);
    let band = u16::from(height >= 2);
    let rule = u16::from(height >= 4);
    let footer = u16::from(height >= 5 || (asks && height >= 2));
    let band = if asks && height < 3 { 0 } else { band };
    let rest = height.saturating_sub(title + band + rule + footer);
    let wanted = u16::try_from(head).unwrap_or(u16::MAX).min(MOST_HEAD);
    let head = wanted.min(rest.saturating_sub(LEAST_BODY));
    let mut y = screen.y;
    let mut take = |rows: u16| {
        let area = Rect { y, height: rows, ..screen };
        y += rows;
        area
    };
    Areas {
        title: take(title),
        band: take(band),
        head: take(head),
        rule: take(rule),
        body: take(rest - head),
        footer: take(footer),
    }
}

/// Where the thumb begins and how high it is, on a bar of so many rows beside so many lines.
pub fn thumb(rows: u16, lines: usize, top: usize) -> (u16, u16) {
    let all = usize::from(rows);
    if lines <= all || all == 0 {
        return (0, rows);
    }
    let height = ((all * all + lines / 2) / lines).clamp(2.min(all), all);
    let most = lines - all;
    let begin = (top.min(most) * (all - height) + most / 2) / most;
    (u16::try_from(begin).unwrap_or(0), u16::try_from(height).unwrap_or(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_room_for() {
        // Height, rows the head wants: title, band, head, rule, body, footer.
        let table = [
            (1, 5, [0, 0, 0, 0, 1, 0]),
            (2, 5, [0, 1, 0, 0, 1, 0]),
            (3, 5, [0, 1, 0, 0, 2, 0]),
            (4, 5, [0, 1, 0, 1, 2, 0]),
            (5, 5, [0, 1, 0, 1, 2, 1]),
            (7, 5, [0, 1, 1, 1, 3, 1]),
            (8, 5, [1, 1, 1, 1, 3, 1]),
            (34, 5, [1, 1, 5, 1, 25, 1]),
            (34, 99, [1, 1, 12, 1, 18, 1]),
        ];
        for (height, head, expected) in table {
            let areas = split(Rect::new(0, 0, 80, height), head, false);
            let Areas { title, band, head, rule, body, footer } = areas;
            assert_eq!([title, band, head, rule, body, footer].map(|area| area.height), expected, "{height}");
            assert_eq!(footer.bottom(), height);
        }
        assert_eq!(split(Rect::new(0, 0, 80, 2), 0, true).footer.height, 1);
    }

    #[test]
    fn the_thumb_tells_how_much_and_where() {
        let table = [
            (10, 5, 0, (0, 10)),
            (10, 100, 0, (0, 2)),
            (10, 100, 90, (8, 2)),
            (10, 100, 45, (4, 2)),
            (20, 40, 20, (10, 10)),
            (1, 100, 50, (0, 1)),
            (0, 100, 50, (0, 0)),
        ];
        for (rows, lines, top, expected) in table {
            assert_eq!(thumb(rows, lines, top), expected, "{rows} {lines} {top}");
        }
    }
}
