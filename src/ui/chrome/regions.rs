//! Who gets which rows. On small screens the footer gives way first, then jobs and the queue, a tall composer, the phase line and
//! the rule; one row to write in and one of the transcript stay as long as there are rows at all.

use ratatui::layout::Rect;

/// How many rows each part would like to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// Background jobs.
    pub jobs: u16,
    /// What waits to be said.
    pub queue: u16,
    /// The composer.
    pub composer: u16,
    /// Completions; they lie over the transcript and take no rows of their own.
    pub completion: u16,
    /// The footer.
    pub footer: u16,
}

/// The rows of each part. Those but [`Self::completion`] never overlap and fill the area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    /// The transcript.
    pub transcript: Rect,
    /// Background jobs.
    pub jobs: Rect,
    /// What waits to be said.
    pub queue: Rect,
    /// The phase line.
    pub phase: Rect,
    /// The composer.
    pub composer: Rect,
    /// The rule below it.
    pub rule: Rect,
    /// The footer.
    pub footer: Rect,
    /// Completions, above the phase line, over what lies there.
    pub completion: Rect,
}

/// Below this height there is no footer.
const FOOTER_HEIGHT: u16 = 8;

/// Splits the screen.
pub fn split(area: Rect, wants: Wants) -> Regions {
    let height = area.height;
    let mut rows = Rows {
        jobs: wants.jobs,
        queue: wants.queue,
        phase: 1,
        composer: wants.composer.max(1),
        rule: 1,
        footer: if height < FOOTER_HEIGHT { 0 } else { wants.footer },
    };
    // The transcript is what people look at: a third of the screen is kept for it as long as something else can go.
    let least = u16::from(height >= 3);
    let wish = (height / 3).max(least);
    rows.shrink(height, wish, |rows| (&mut rows.footer, 1));
    // One row of them tells that there are some.
    rows.shrink(height, wish, |rows| (&mut rows.jobs, 1));
    rows.shrink(height, wish, |rows| (&mut rows.queue, 0));
    rows.shrink(height, wish, |rows| (&mut rows.jobs, 0));
    rows.shrink(height, wish, |rows| (&mut rows.composer, (height / 3).max(1)));
    rows.shrink(height, least, |rows| (&mut rows.phase, 0));
    rows.shrink(height, least, |rows| (&mut rows.rule, 0));
    rows.shrink(height, least, |rows| (&mut rows.footer, 0));
    rows.shrink(height, least, |rows| (&mut rows.composer, 1));
    let mut bottom = area.bottom();
    let mut take = |rows: u16| {
        let rows = rows.min(bottom - area.top());
        bottom -= rows;
        Rect { y: bottom, height: rows, ..area }
    };
    let footer = take(rows.footer);
    let rule = take(rows.rule);
    let composer = take(rows.composer);
    let phase = take(rows.phase);
    let queue = take(rows.queue);
    let jobs = take(rows.jobs);
    let transcript = take(u16::MAX);
    let above = phase.top() - area.top();
    let completion = wants.completion.min(above);
    let completion = Rect { y: phase.top() - completion, height: completion, ..area };
    Regions { transcript, jobs, queue, phase, composer, rule, footer, completion }
}

struct Rows {
    jobs: u16,
    queue: u16,
    phase: u16,
    composer: u16,
    rule: u16,
    footer: u16,
}

impl Rows {
    /// Takes from one part, down to its least, what is missing for the transcript.
    fn shrink(&mut self, height: u16, transcript: u16, part: impl Fn(&mut Self) -> (&mut u16, u16)) {
        let taken = [self.jobs, self.queue, self.phase, self.composer, self.rule, self.footer, transcript];
        let taken: u32 = taken.into_iter().map(u32::from).sum();
        let missing = u16::try_from(taken.saturating_sub(u32::from(height))).unwrap_or(u16::MAX);
        let (rows, least) = part(self);
        *rows = rows.saturating_sub(missing).max(least.min(*rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn heights(height: u16, wants: Wants) -> [u16; 6] {
        let regions = split(Rect::new(0, 0, 80, height), wants);
        [regions.transcript, regions.queue, regions.phase, regions.composer, regions.rule, regions.footer]
            .map(|rect| rect.height)
    }

    #[test]
    fn who_gives_way() {
        let calm = Wants { composer: 1, footer: 2, ..Wants::default() };
        let busy = Wants { queue: 4, composer: 6, completion: 8, footer: 4, ..Wants::default() };
        let table = [
            (48, calm, [43, 0, 1, 1, 1, 2]),
            (48, busy, [32, 4, 1, 6, 1, 4]),
            (24, busy, [8, 4, 1, 6, 1, 4]),
            (20, busy, [6, 4, 1, 6, 1, 2]),
            (12, busy, [4, 0, 1, 5, 1, 1]),
            (8, calm, [3, 0, 1, 1, 1, 2]),
            (8, busy, [2, 0, 1, 3, 1, 1]),
            (7, busy, [2, 0, 1, 3, 1, 0]),
            (4, busy, [1, 0, 1, 1, 1, 0]),
            (3, busy, [1, 0, 0, 1, 1, 0]),
            (2, calm, [0, 0, 0, 1, 1, 0]),
            (1, busy, [0, 0, 0, 1, 0, 0]),
            (0, busy, [0, 0, 0, 0, 0, 0]),
        ];
        for (height, wants, expected) in table {
            assert_eq!(heights(height, wants), expected, "{height} rows, {wants:?}");
        }
    }

    #[test]
    fn jobs_keep_a_row_as_long_as_the_queue_has_some() {
        let wants = Wants { jobs: 5, queue: 3, composer: 1, completion: 0, footer: 2 };
        let jobs = |height| {
            let regions = split(Rect::new(0, 0, 80, height), wants);
            (regions.jobs.height, regions.queue.height)
        };
        assert_eq!([48, 20, 16, 12, 8].map(jobs), [(5, 3), (5, 3), (4, 3), (1, 3), (1, 1)]);
    }

    #[test]
    fn completions_lie_above_the_phase_line() {
        let wants = Wants { queue: 2, composer: 3, completion: 8, footer: 2, ..Wants::default() };
        let regions = split(Rect::new(0, 0, 80, 24), wants);
        assert_eq!(regions.completion.bottom(), regions.phase.top());
        assert_eq!(regions.completion.height, 8);
    }

    proptest! {
        #[test]
        fn parts_fill_the_area_and_never_overlap(
            (x, y, width, height) in (0_u16..20, 0_u16..20, 0_u16..500, 0_u16..200),
            (jobs, queue, composer, completion, footer) in any::<(u16, u16, u16, u16, u16)>(),
            small: bool,
        ) {
            let shrink = |rows: u16| if small { rows % 12 } else { rows };
            let wants = Wants {
                jobs: shrink(jobs),
                queue: shrink(queue),
                composer: shrink(composer),
                completion: shrink(completion),
                footer: shrink(footer),
            };
            let area = Rect::new(x, y, width, height);
            let regions = split(area, wants);
            let mut at = area.top();
            let Regions { transcript, jobs, queue, phase, composer, rule, footer, completion } = regions;
            for part in [transcript, jobs, queue, phase, composer, rule, footer] {
                prop_assert_eq!((part.x, part.width, part.y), (x, width, at));
                at = part.bottom();
            }
            prop_assert_eq!(at, area.bottom());
            prop_assert!(completion.top() >= area.top() && completion.bottom() <= phase.top());
            prop_assert!(height == 0 || composer.height >= 1);
            prop_assert!(height < 3 || transcript.height >= 1);
            prop_assert!(height >= FOOTER_HEIGHT || footer.height == 0);
            prop_assert!(height < FOOTER_HEIGHT || wants.footer == 0 || footer.height >= 1);
        }
    }
}
