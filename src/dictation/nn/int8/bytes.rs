//! Weights in memory of our own or in a mapped file.

use super::LINE;
use memmap2::Mmap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that do not change, whole lines of [`LINE`], from a place that is aligned to lines.
pub struct Bytes {
    held: Held,
    range: Range<usize>,
}

enum Held {
    Owned(Vec<u8>),
    Mapped(Arc<Mmap>),
}

impl Bytes {
    /// Memory of our own, filled by `fill`.
    pub fn owned(len: usize, fill: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = vec![0_u8; len + LINE];
        let start = bytes.as_ptr().align_offset(LINE).min(LINE);
        let range = start..start + len;
        if let Some(place) = bytes.get_mut(range.clone()) {
            fill(place);
        }
        Self { held: Held::Owned(bytes), range }
    }

    /// A part of a mapped file; `None` if the file is shorter.
    pub fn mapped(map: &Arc<Mmap>, range: Range<usize>) -> Option<Self> {
        map.get(range.clone())?;
        Some(Self { held: Held::Mapped(Arc::clone(map)), range })
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        let all: &[u8] = match &self.held {
            Held::Owned(bytes) => bytes,
            Held::Mapped(map) => map,
        };
        all.get(self.range.clone()).unwrap_or_default()
    }

    /// They lie in a file that other programs share.
    pub fn is_mapped(&self) -> bool {
        matches!(self.held, Held::Mapped(_))
    }

    /// The bytes as lines; a rest that fills no line is left out.
    pub(super) fn lines(&self) -> &[[u8; LINE]] {
        self.as_slice().as_chunks().0
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bytes").field("len", &self.range.len()).field("is_mapped", &self.is_mapped()).finish()
    }
}
