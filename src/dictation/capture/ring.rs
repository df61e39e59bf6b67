//! A queue of samples between a sound callback and its reader.
//!
//! One writer, one reader, a fixed size. Neither waits for the other, and neither allocates: the writer may be a
//! real-time callback. What does not fit is not written, and counted.
//!
//! Samples are kept as the bits of atomic integers, so that no unsafe code is needed; on all processors that we run on a
//! relaxed load or store of 32 bits is an ordinary one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

struct Ring {
    slots: Box<[AtomicU32]>,
    /// Samples ever written. Only the writer stores it.
    written: AtomicUsize,
    /// Samples ever read. Only the reader stores it.
    read: AtomicUsize,
    lost: Arc<AtomicU64>,
}

/// The end that is written to. Deliberately not `Clone`.
pub struct Writer(Arc<Ring>);

/// The end that is read from. Deliberately not `Clone`.
pub struct Reader(Arc<Ring>);

/// Counts samples that were lost, from any thread.
#[derive(Clone)]
pub struct Losses(Arc<AtomicU64>);

/// A queue for at least this many samples.
pub fn ring(capacity: usize) -> (Writer, Reader) {
    let capacity = capacity.max(1).next_power_of_two();
    let ring = Arc::new(Ring {
        slots: (0..capacity).map(|_slot| AtomicU32::new(0)).collect(),
        written: AtomicUsize::new(0),
        read: AtomicUsize::new(0),
        lost: Arc::new(AtomicU64::new(0)),
    });
    (Writer(Arc::clone(&ring)), Reader(ring))
}

impl Writer {
    /// Writes as many of the samples as fit, and counts the others as lost.
    pub fn write(&mut self, samples: impl ExactSizeIterator<Item = f32>) {
        let ring = &*self.0;
        let wanted = samples.len();
        let start = ring.written.load(Ordering::Relaxed);
        let used = start.wrapping_sub(ring.read.load(Ordering::Acquire));
        let fits = wanted.min(ring.slots.len().saturating_sub(used));
        let mask = ring.slots.len() - 1;
        let mut at = start;
        for sample in samples.take(fits) {
            if let Some(slot) = ring.slots.get(at & mask) {
                slot.store(sample.to_bits(), Ordering::Relaxed);
            }
            at = at.wrapping_add(1);
        }
        ring.written.store(at, Ordering::Release);
        if fits < wanted {
            ring.lost.fetch_add((wanted - fits) as u64, Ordering::Relaxed);
        }
    }

    /// Samples that would fit now.
    pub fn room(&self) -> usize {
        let ring = &*self.0;
        let used = ring.written.load(Ordering::Relaxed).wrapping_sub(ring.read.load(Ordering::Acquire));
        ring.slots.len().saturating_sub(used)
    }

    /// To count what is lost before it gets here.
    pub fn losses(&self) -> Losses {
        Losses(Arc::clone(&self.0.lost))
    }
}

impl Reader {
    /// Appends all there is, and tells how many samples these are.
    pub fn read(&mut self, into: &mut Vec<f32>) -> usize {
        let ring = &*self.0;
        let start = ring.read.load(Ordering::Relaxed);
        let there = ring.written.load(Ordering::Acquire).wrapping_sub(start);
        let mask = ring.slots.len() - 1;
        into.reserve(there);
        for offset in 0..there {
            if let Some(slot) = ring.slots.get(start.wrapping_add(offset) & mask) {
                into.push(f32::from_bits(slot.load(Ordering::Relaxed)));
            }
        }
        ring.read.store(start.wrapping_add(there), Ordering::Release);
        there
    }

    /// Samples lost so far.
    pub fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }
}

impl Losses {
    /// Counts samples that were lost: those of which the system says so, at least one each time.
    pub fn add(&self, samples: u64) {
        self.0.fetch_add(samples, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Any sequence of writes and reads gives the samples in order, and counts those that found no place.
        #[test]
        fn keeps_order_and_counts(steps in prop::collection::vec((any::<bool>(), 0_usize..40), 0..60)) {
            let (mut writer, mut reader) = ring(32);
            let (mut next, mut lost, mut held) = (0_u32, 0_u64, Vec::new());
            let mut got = Vec::new();
            for (is_write, count) in steps {
                if is_write {
                    let block: Vec<f32> = (0..count).map(|offset| (next + offset as u32) as f32).collect();
                    next += count as u32;
                    let fits = count.min(32 - held.len());
                    held.extend_from_slice(&block[..fits]);
                    lost += (count - fits) as u64;
                    writer.write(block.into_iter());
                } else {
                    let before = got.len();
                    prop_assert_eq!(reader.read(&mut got), held.len());
                    prop_assert_eq!(&got[before..], &held[..]);
                    held.clear();
                }
                prop_assert_eq!(reader.lost(), lost);
            }
        }
    }

    #[test]
    fn two_threads() {
        let (mut writer, mut reader) = ring(64);
        let all = 200_000;
        let thread = std::thread::spawn(move || {
            let mut sent = 0;
            while sent < all {
                let before = writer.losses().0.load(Ordering::Relaxed);
                writer.write([sent as f32].into_iter());
                if writer.losses().0.load(Ordering::Relaxed) == before {
                    sent += 1;
                } else {
                    std::thread::yield_now();
                }
            }
        });
        let mut got = Vec::new();
        while got.len() < all {
            if reader.read(&mut got) == 0 {
                std::thread::yield_now();
            }
        }
        thread.join().unwrap();
        assert!(got.iter().enumerate().all(|(index, sample)| *sample == index as f32));
    }
}
