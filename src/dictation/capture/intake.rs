//! What happens inside a sound callback: frames become mono samples in the queue, and nothing else.

use super::ring::Writer;
use cpal::{FromSample, Sample};

/// Takes what a device gives. It neither allocates nor locks nor logs.
pub struct Intake {
    writer: Writer,
    channels: usize,
}

impl Intake {
    /// For frames of this many channels; none counts as one.
    pub fn new(writer: Writer, channels: u16) -> Self {
        Self { writer, channels: usize::from(channels).max(1) }
    }

    /// Frames that would fit now.
    pub fn room(&self) -> usize {
        self.writer.room()
    }

    /// Takes interleaved samples. Channels become their mean; a frame that is not whole is left out. Whatever is no
    /// number is silence, whatever is beyond full scale is at full scale.
    pub fn take<T>(&mut self, interleaved: &[T])
    where
        T: Sample + Copy,
        f32: FromSample<T>,
    {
        let to_float = |sample: T| within_scale(f32::from_sample_(sample));
        if self.channels == 1 {
            self.writer.write(interleaved.iter().map(|sample| to_float(*sample)));
            return;
        }
        let share = 1.0 / self.channels as f32;
        self.writer.write(
            interleaved
                .chunks_exact(self.channels)
                .map(|frame| frame.iter().map(|sample| to_float(*sample)).sum::<f32>() * share),
        );
    }
}

fn within_scale(sample: f32) -> f32 {
    if sample.is_nan() { 0.0 } else { sample.clamp(-1.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::super::ring::{Reader, ring};
    use super::*;
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::cell::Cell;

    thread_local! {
        static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    }

    /// The system's allocator, counting what this thread asks of it.
    struct Counting;

    #[expect(unsafe_code, reason = "an allocator is unsafe to write")]
    // SAFETY: every call goes to the system's allocator as it came.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // A thread that ends has no counter any more, and nobody asks for it.
            let _uncounted = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            let _uncounted = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
            unsafe { System.dealloc(pointer, layout) }
        }
    }

    #[global_allocator]
    static COUNTING: Counting = Counting;

    fn intake(channels: u16) -> (Intake, Reader) {
        let (writer, reader) = ring(4096);
        (Intake::new(writer, channels), reader)
    }

    fn all(mut reader: Reader) -> Vec<f32> {
        let mut samples = Vec::new();
        reader.read(&mut samples);
        samples
    }

    #[test]
    fn the_callback_does_not_allocate() {
        let (mut mono, _mono) = intake(1);
        let (mut stereo, reader) = intake(2);
        let (integers, floats) = ([7_i16; 1024], [0.5_f32; 1024]);
        let before = ALLOCATIONS.get();
        // More than fits, so that what is lost is counted too.
        for _block in 0..40 {
            mono.take(&integers);
            stereo.take(&floats);
        }
        assert_eq!(ALLOCATIONS.get(), before);
        assert_eq!(reader.lost(), 40 * 512 - 4096);
        drop(vec![1]);
        assert_eq!(ALLOCATIONS.get(), before + 2, "the counter counts");
    }

    #[test]
    fn formats_mean_the_same() {
        let half = 0.5;
        let (mut floats, reader) = intake(1);
        floats.take(&[half, -1.0, 0.0_f32]);
        let expected = all(reader);
        assert_eq!(expected, [0.5, -1.0, 0.0]);
        let (mut intake_of, reader) = intake(1);
        intake_of.take(&[16_384_i16, i16::MIN, 0]);
        assert_eq!(all(reader), expected);
        let (mut intake_of, reader) = intake(1);
        intake_of.take(&[1_i32 << 30, i32::MIN, 0]);
        assert_eq!(all(reader), expected);
        let (mut intake_of, reader) = intake(1);
        intake_of.take(&[49_152_u16, 0, 32_768]);
        assert_eq!(all(reader), expected);
        let (mut intake_of, reader) = intake(1);
        intake_of.take(&[192_u8, 0, 128]);
        assert_eq!(all(reader), expected);
        let (mut intake_of, reader) = intake(1);
        intake_of.take(&[0.5_f64, -1.0, 0.0]);
        assert_eq!(all(reader), expected);
    }

    #[test]
    fn sixteen_bits_survive() {
        let (mut intake, mut reader) = intake(1);
        let mut samples = Vec::new();
        for block in (i16::MIN..=i16::MAX).collect::<Vec<_>>().chunks(4096) {
            intake.take(block);
            reader.read(&mut samples);
        }
        let back: Vec<i16> = samples.iter().map(|sample| (sample * 32_768.0) as i16).collect();
        assert_eq!(back, (i16::MIN..=i16::MAX).collect::<Vec<_>>());
    }

    #[test]
    fn channels_become_their_mean() {
        let (mut stereo, reader) = intake(2);
        stereo.take(&[0.5_f32, -0.5, 1.0, 0.0, 0.75]);
        assert_eq!(all(reader), [0.0, 0.5]);
        let (mut four, reader) = intake(4);
        four.take(&[1.0_f32, 0.0, 0.0, 0.0]);
        assert_eq!(all(reader), [0.25]);
    }

    #[test]
    fn what_is_no_sample_is_made_one() {
        let (mut mono, reader) = intake(1);
        mono.take(&[f32::NAN, f32::INFINITY, -3.0]);
        assert_eq!(all(reader), [0.0, 1.0, -1.0]);
    }
}
