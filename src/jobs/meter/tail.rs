//! The end of what a command printed since the last look. Only that much is ever parsed: what a flood printed before it
//! has scrolled away.
//!
//! Invariant: what [`Tail::take`] gives depends on the bytes since the last one only, not on how they were cut.

/// As much is kept. A screenful of the widest display is below this.
const KEPT: usize = 16 * 1024;

/// The last bytes that came, bounded.
#[derive(Debug, Default)]
pub struct Tail {
    /// Up to twice what counts, so that the front is cut off seldom.
    bytes: Vec<u8>,
    /// Bytes before these are gone.
    cut: bool,
}

/// What came since the last time.
#[derive(Debug)]
pub struct Taken {
    /// The bytes themselves.
    pub bytes: Vec<u8>,
    /// Others came before them that nobody has.
    pub cut: bool,
}

impl Tail {
    /// More output.
    pub fn push(&mut self, bytes: &[u8]) {
        let last = bytes.get(bytes.len().saturating_sub(KEPT)..).unwrap_or(bytes);
        if last.len() < bytes.len() {
            self.cut = true;
        }
        if last.len() == KEPT {
            self.cut |= !self.bytes.is_empty();
            self.bytes.clear();
        } else if self.bytes.len() + last.len() > 2 * KEPT {
            self.keep_last();
        }
        self.bytes.extend_from_slice(last);
    }

    /// Bytes came that the caller did not keep.
    pub fn skip(&mut self) {
        self.bytes.clear();
        self.cut = true;
    }

    /// Nothing came.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty() && !self.cut
    }

    /// What came, and begins anew.
    pub fn take(&mut self) -> Taken {
        self.keep_last();
        Taken { bytes: std::mem::take(&mut self.bytes), cut: std::mem::take(&mut self.cut) }
    }

    /// Gives the memory of what was taken back, for the bytes to come, with those that were not used up.
    pub fn give_back(&mut self, mut bytes: Vec<u8>, used: usize) {
        bytes.drain(..used.min(bytes.len()));
        self.bytes = bytes;
    }

    #[cfg(test)]
    pub const fn kept_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    fn keep_last(&mut self) {
        let surplus = self.bytes.len().saturating_sub(KEPT);
        if surplus > 0 {
            self.cut = true;
            self.bytes.drain(..surplus);
        }
    }
}
