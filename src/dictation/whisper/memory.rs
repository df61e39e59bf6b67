//! Keys and values that a decoder layer looks at, and the looking.
//!
//! A token at a time needs no matrix products: one row of queries is held against all keys. So these are plain
//! numbers, laid out such that both loops run over neighbours in memory.

use super::vector::softmax;
use candle_core::{Result, Tensor};
use rayon::prelude::*;

/// Multiplications of an ask that are worth several threads.
const GRAIN: usize = 200_000;

/// Keys and values of all heads, for up to a number of places.
pub struct Memory {
    heads: Vec<Head>,
    /// Channels of a head.
    size: usize,
    /// Places that are filled.
    length: usize,
    capacity: usize,
}

struct Head {
    /// `(channels, capacity)`
    keys: Vec<f32>,
    /// `(capacity, channels)`
    values: Vec<f32>,
}

/// Who sees what.
#[derive(Clone, Copy)]
pub enum Sight {
    /// Every row sees all places.
    All,
    /// The last row sees all places, the one before it one less, and so on.
    Past,
}

impl Memory {
    /// Room for `capacity` places.
    pub fn new(heads: usize, channels: usize, capacity: usize) -> Self {
        let size = channels / heads;
        let head = || Head { keys: vec![0.0; size * capacity], values: vec![0.0; size * capacity] };
        Self { heads: (0..heads).map(|_| head()).collect(), size, length: 0, capacity }
    }

    /// Places that are filled.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Forgets places from this one on.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Adds places: keys and values are `(places, channels)`.
    ///
    /// # Errors
    /// There is no room, or the shapes differ.
    pub fn push(&mut self, keys: &Tensor, values: &Tensor) -> Result<()> {
        let (places, channels) = keys.dims2()?;
        let (start, size, capacity) = (self.length, self.size, self.capacity);
        if start + places > capacity || channels != size * self.heads.len() || values.dims2()? != (places, channels) {
            candle_core::bail!("{places} places of {channels} channels behind {start} of {capacity}");
        }
        let keys = keys.flatten_all()?.to_vec1::<f32>()?;
        let values = values.flatten_all()?.to_vec1::<f32>()?;
        for (number, head) in self.heads.iter_mut().enumerate() {
            let rows = keys.chunks_exact(channels).zip(values.chunks_exact(channels));
            for (place, (key, value)) in (start..).zip(rows) {
                let part = number * size..(number + 1) * size;
                for (channel, key) in key[part.clone()].iter().enumerate() {
                    head.keys[channel * capacity + place] = *key;
                }
                head.values[place * size..(place + 1) * size].copy_from_slice(&value[part]);
            }
        }
        self.length += places;
        Ok(())
    }

    /// `softmax(q kᵀ / √size) v` for rows of queries, `(rows, channels)`; gives the same shape. `watch` is told the
    /// probabilities of the last row, by head.
    ///
    /// # Errors
    /// The shape is another, or more rows look at the past than it has.
    pub fn ask(&self, queries: &Tensor, sight: Sight, watch: &mut dyn FnMut(usize, &[f32])) -> Result<Tensor> {
        let (rows, channels) = queries.dims2()?;
        if channels != self.size * self.heads.len() || (matches!(sight, Sight::Past) && rows > self.length) {
            candle_core::bail!("{rows} rows of {channels} channels ask {} places", self.length);
        }
        let asked = queries.flatten_all()?.to_vec1::<f32>()?;
        let one = |(number, head): (usize, &Head)| {
            let rows = asked.chunks_exact(channels).enumerate().map(|(row, asked)| {
                let seen = match sight {
                    Sight::All => self.length,
                    Sight::Past => self.length + 1 + row - rows,
                };
                head.ask(&asked[number * self.size..(number + 1) * self.size], seen, self.capacity)
            });
            rows.collect::<Vec<_>>()
        };
        let answers: Vec<Vec<Answer>> = if rows * channels * self.length < GRAIN {
            self.heads.iter().enumerate().map(one).collect()
        } else {
            self.heads.par_iter().enumerate().map(one).collect()
        };
        let mut found = vec![0.0; rows * channels];
        for (number, answers) in answers.iter().enumerate() {
            for (row, answer) in found.chunks_exact_mut(channels).zip(answers) {
                row[number * self.size..(number + 1) * self.size].copy_from_slice(&answer.found);
            }
            if let Some(last) = answers.last() {
                watch(number, &last.probabilities);
            }
        }
        Tensor::from_vec(found, (rows, channels), queries.device())
    }
}

/// What one head gives one row.
struct Answer {
    found: Vec<f32>,
    probabilities: Vec<f32>,
}

impl Head {
    fn ask(&self, asked: &[f32], seen: usize, capacity: usize) -> Answer {
        let mut probabilities = vec![0.0; seen];
        for (asked, keys) in asked.iter().zip(self.keys.chunks_exact(capacity)) {
            for (score, key) in probabilities.iter_mut().zip(keys) {
                *score += asked * key;
            }
        }
        softmax(&mut probabilities, 1.0 / (asked.len() as f32).sqrt());
        let mut found = vec![0.0; asked.len()];
        for (probability, values) in probabilities.iter().zip(self.values.chunks_exact(asked.len())) {
            for (found, value) in found.iter_mut().zip(values) {
                *found += probability * value;
            }
        }
        Answer { found, probabilities }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    fn wave(rows: usize, shift: f32) -> Tensor {
        let values: Vec<f32> = (0..rows * 8).map(|n| (n as f32 * 0.7 + shift).sin()).collect();
        Tensor::from_vec(values, (rows, 8), &Device::Cpu).unwrap()
    }

    #[test]
    fn rows_at_once_and_one_by_one_are_the_same() {
        let (mut whole, mut steps) = (Memory::new(2, 8, 6), Memory::new(2, 8, 6));
        let (queries, keys, values) = (wave(5, 0.0), wave(5, 1.0), wave(5, 2.0));
        whole.push(&keys, &values).unwrap();
        let at_once = whole.ask(&queries, Sight::Past, &mut |_, _| ()).unwrap().to_vec2::<f32>().unwrap();
        for (row, expected) in at_once.iter().enumerate() {
            let part = |tensor: &Tensor| tensor.narrow(0, row, 1).unwrap();
            steps.push(&part(&keys), &part(&values)).unwrap();
            let mut heads = Vec::new();
            let mut watch = |head: usize, seen: &[f32]| heads.push((head, seen.len()));
            let alone = steps.ask(&part(&queries), Sight::Past, &mut watch).unwrap().to_vec2::<f32>().unwrap();
            assert_eq!(&alone[0], expected);
            assert_eq!(heads, [(0, row + 1), (1, row + 1)]);
        }
        assert_eq!(steps.len(), 5);
        steps.truncate(2);
        assert_eq!(steps.len(), 2);
        assert!(steps.push(&wave(5, 0.0), &wave(5, 0.0)).is_err());
        assert!(steps.ask(&wave(3, 0.0), Sight::Past, &mut |_, _| ()).is_err());
        assert!(steps.ask(&wave(3, 0.0), Sight::All, &mut |_, _| ()).is_ok());
    }
}
