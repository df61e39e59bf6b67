//! Rows of a text that streams, brought up to date by what is new of it.

use crate::text::row::Row;
use crate::text::row_text::RowTexts;
use crate::transcript::anchor::RowStarts;

/// What is known of the rows of a stream.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Theme and columns.
    made_for: Option<(u64, usize)>,
    /// Rows that do not change any more.
    frozen: usize,
    /// Where they begin.
    pub starts: RowStarts,
    /// Made when somebody selects or searches here, and brought up to date from then on.
    pub texts: Option<RowTexts>,
    /// The rows in other colours, where they are not drawn in the stream's own.
    pub dressed: Vec<Row>,
}

impl Live {
    /// The stream has these rows now. `dress`: what is drawn in the place of each.
    pub fn update(
        &mut self,
        rows: &[Row],
        frozen: usize,
        made_for: (u64, usize),
        dress: Option<&dyn Fn(&Row) -> Row>,
    ) {
        if self.made_for != Some(made_for) || self.frozen > frozen {
            let texts = self.texts.as_ref().map(|_| RowTexts::new());
            *self = Self { made_for: Some(made_for), texts, ..Self::default() };
        }
        self.starts.truncate(self.frozen);
        self.dressed.truncate(self.frozen);
        if let Some(texts) = &mut self.texts {
            texts.truncate(self.frozen);
        }
        for row in rows.iter().skip(self.frozen) {
            self.starts.push(row.start);
            self.dressed.extend(dress.map(|dress| dress(row)));
            if let Some(texts) = &mut self.texts {
                texts.push(row);
            }
        }
        self.frozen = frozen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::markdown::stream::MarkdownStream;
    use crate::theme::Theme;
    use std::cell::Cell;

    /// What a frame costs beside laying out: the rows that it reads again.
    #[test]
    fn a_text_that_streams_costs_what_is_new() {
        let theme = Theme::quiet_dark();
        let (mut stream, mut live) = (MarkdownStream::new(), Live::default());
        let mut read = 0;
        let dressed = Cell::new(0);
        let dress = |row: &Row| {
            dressed.set(dressed.get() + 1);
            row.clone()
        };
        for line in 0..2000 {
            stream.push(&format!("Paragraph {line} of a long reply.\n\n"));
            stream.layout(&theme, 40);
            read += stream.rows().len() - live.frozen;
            live.update(stream.rows(), stream.frozen_rows(), (theme.revision(), 40), Some(&dress));
            assert_eq!(live.starts.len(), stream.rows().len());
            assert_eq!(live.dressed.len(), stream.rows().len());
        }
        assert!(read < 10 * stream.rows().len(), "{read}");
        assert_eq!(dressed.get(), read);
        assert_eq!(live.starts, RowStarts::new(stream.rows().iter().map(|row| row.start)));
    }
}
