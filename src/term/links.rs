//! Addresses behind cells (OSC 8): the terminal itself shows and opens them, each row of a wrapped one as the whole.
//!
//! Pure. What an address is shown behind was said by whoever drew; here it is made safe and found by row.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// Terminals cut or refuse longer addresses.
const LONGEST: usize = 2083;
/// What a terminal may be asked to open: the text comes from models and web pages, and a handler for anything else could
/// do more than show a page.
const SCHEMES: [&str; 4] = ["http://", "https://", "mailto:", "ftp://"];

/// An address as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link(Arc<str>);

impl Link {
    /// The address, if it can be sent: short enough, of a scheme that a browser or a mail program opens, and without
    /// anything that steers a terminal. What is not ASCII is written in percent, as the sequence wants it.
    pub fn new(url: &str) -> Option<Self> {
        let is_known = SCHEMES
            .iter()
            .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
        if !is_known || url.len() > LONGEST || url.chars().any(char::is_control) {
            return None;
        }
        let mut sent = String::with_capacity(url.len());
        for byte in url.bytes() {
            if byte.is_ascii_graphic() {
                sent.push(char::from(byte));
            } else {
                // Writing to a string can't fail.
                let _written = write!(sent, "%{byte:02X}");
            }
        }
        (sent.len() <= LONGEST).then(|| Self(sent.into()))
    }

    /// What is sent.
    pub fn url(&self) -> &str {
        &self.0
    }

    /// Appends what makes the following cells part of it. The same address always has the same number: that makes one
    /// link of the rows that it wraps to, also over frames.
    pub fn open(&self, out: &mut Vec<u8>) {
        // FNV-1a: it need not be safe, only stable.
        let hash = self
            .0
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        out.extend_from_slice(format!("\x1b]8;id={hash:08x};{}\x1b\\", self.0).as_bytes());
    }

    /// What ends any link.
    pub const CLOSE: &'static [u8] = b"\x1b]8;;\x1b\\";
}

/// Cells of one row that belong to an address.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    y: u16,
    columns: Range<u16>,
    link: Link,
}

/// The links of a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links(Vec<Piece>);

impl Links {
    /// From pieces `(row, columns, address)`; of those that overlap the first one has the cell. Addresses that can't be
    /// sent are left out.
    pub fn new(pieces: impl IntoIterator<Item = (u16, Range<u16>, Arc<str>)>) -> Self {
        // Pieces of the same address mostly follow each other.
        let mut known: Option<(Arc<str>, Option<Link>)> = None;
        let mut all = Vec::new();
        for (y, columns, url) in pieces {
            let cleaned = match &known {
                Some((before, link)) if *before == url => link.clone(),
                Some(_) | None => Link::new(&url),
            };
            known = Some((url, cleaned.clone()));
            if let Some(link) = cleaned.filter(|_| !columns.is_empty()) {
                all.push(Piece { y, columns, link });
            }
        }
        all.sort_by_key(|piece| (piece.y, piece.columns.start));
        let mut links: Vec<Piece> = Vec::with_capacity(all.len());
        for mut piece in all {
            if let Some(before) = links.last().filter(|before| before.y == piece.y) {
                piece.columns.start = piece.columns.start.max(before.columns.end);
            }
            if !piece.columns.is_empty() {
                links.push(piece);
            }
        }
        Self(links)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of a row.
    pub fn row(&self, y: u16) -> RowLinks<'_> {
        let start = self.0.partition_point(|piece| piece.y < y);
        let end = self.0.partition_point(|piece| piece.y <= y);
        RowLinks(self.0.get(start..end).unwrap_or_default())
    }
}

/// The links of one row.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowLinks<'a>(&'a [Piece]);

impl<'a> RowLinks<'a> {
    /// The link at a column.
    pub fn at(self, column: usize) -> Option<&'a Link> {
        let column = u16::try_from(column).ok()?;
        self.0.iter().find(|piece| piece.columns.contains(&column)).map(|piece| &piece.link)
    }

    /// The column behind the last linked one; zero without links.
    pub fn end(self) -> usize {
        self.0.last().map_or(0, |piece| usize::from(piece.columns.end))
    }

    /// Whether the same columns belong to the same addresses: rows that moved keep their links.
    pub fn same_as(self, other: RowLinks<'_>) -> bool {
        let alike = |(one, other): (&Piece, &Piece)| one.columns == other.columns && one.link == other.link;
        self.0.len() == other.0.len() && self.0.iter().zip(other.0).all(alike)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_safe_becomes_a_link() {
        let long = format!("https://example.org/{}", "a".repeat(2100));
        let wide = format!("https://example.org/{}", "日".repeat(300));
        let table = [
            ("https://example.org/a?b=c#d", Some("https://example.org/a?b=c#d")),
            ("HTTP://example.org", Some("HTTP://example.org")),
            ("mailto:a@example.org", Some("mailto:a@example.org")),
            ("https://example.org/ä b", Some("https://example.org/%C3%A4%20b")),
            ("https://example.org/\x1b\\evil", None),
            ("https://example.org/\u{7}", None),
            ("https://example.org/\u{9c}x", None),
            ("javascript:alert(1)", None),
            ("file:///etc/passwd", None),
            ("docs/readme.md", None),
            ("", None),
            (&long, None),
            // Short enough as it stands, too long as it is sent.
            (&wide, None),
        ];
        for (url, sent) in table {
            assert_eq!(Link::new(url).as_ref().map(Link::url), sent, "{url}");
        }
    }

    #[test]
    fn the_number_of_an_address_is_stable() {
        let opened = |url| {
            let mut out = Vec::new();
            Link::new(url).unwrap().open(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(opened("https://example.org/"), "\x1b]8;id=8f80af4d;https://example.org/\x1b\\");
        assert_ne!(opened("https://example.org/a"), opened("https://example.org/b"));
    }

    #[test]
    fn pieces_are_found_by_row_and_never_overlap() {
        let url = |text: &str| -> Arc<str> { format!("https://example.org/{text}").into() };
        let links = Links::new([
            (3, 0..4, url("c")),
            (1, 5..9, url("b")),
            (1, 2..7, url("a")),
            (1, 9..9, url("empty")),
            (2, 0..5, "no address".into()),
        ]);
        let at = |y, x| links.row(y).at(x).map(|link| link.url().rsplit('/').next().unwrap().to_owned());
        let row: Vec<_> = (0..10).map(|x| at(1, x).unwrap_or_default()).collect();
        assert_eq!(row, ["", "", "a", "a", "a", "a", "a", "b", "b", ""]);
        assert_eq!((links.row(1).end(), links.row(2).end(), links.row(3).end()), (9, 0, 4));
        assert!(links.row(2).same_as(links.row(7)) && !links.row(1).same_as(links.row(3)));
    }
}
