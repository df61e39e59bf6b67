//! Self-attention with relative positions, after Transformer-XL (Dai et al. 2019): how much a frame looks at another
//! depends on what both are and on how far apart they are.

use super::config::EncoderConfig;
use crate::dictation::nn::Linear;
use crate::dictation::nn::activation::exp;
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{CpuStorage, CustomOp2, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

/// Distances between frames as sines and cosines, as many as were needed so far.
pub struct Positions {
    hidden: usize,
    /// For how many frames, and `(2 frames - 1, hidden)`.
    table: Option<(usize, Tensor)>,
}

impl Positions {
    /// For frames of this size.
    pub fn new(hidden: usize) -> Self {
        Self { hidden, table: None }
    }

    /// Distances from `frames - 1` (the other is earlier) down to `1 - frames`: `(2 frames - 1, hidden)`.
    ///
    /// # Errors
    /// Out of memory.
    pub fn rows(&mut self, frames: usize) -> Result<Tensor> {
        if let Some((most, table)) = &self.table
            && *most >= frames
        {
            return table.narrow(0, most - frames, 2 * frames - 1);
        }
        let table = sinusoids(frames, self.hidden)?;
        self.table = Some((frames, table.clone()));
        Ok(table)
    }
}

fn sinusoids(frames: usize, hidden: usize) -> Result<Tensor> {
    let rows = (2 * frames).saturating_sub(1);
    let mut values = Vec::with_capacity(rows * hidden);
    let rates = (0..hidden / 2).map(|pair| 10_000_f32.powf(-((2 * pair) as f32) / hidden as f32));
    let rates: Vec<f32> = rates.collect();
    for row in 0..rows {
        let distance = frames as f32 - 1.0 - row as f32;
        values.extend(rates.iter().flat_map(|rate| [(distance * rate).sin(), (distance * rate).cos()]));
    }
    Tensor::from_vec(values, (rows, hidden), &Device::Cpu)
}

/// Utterances of up to this many frames (20 s) share projected distances; longer ones are rare, and would keep
/// much memory.
const MOST_CACHED: usize = 256;
/// The cache grows by this many frames, so that it need not grow again for each longer utterance.
const CACHE_STEP: usize = 64;

/// Self-attention of a block.
pub struct Attention {
    heads: usize,
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    position: Linear,
    /// `(hidden)`
    content_bias: Tensor,
    /// `(hidden)`
    position_bias: Tensor,
    /// Distances through `position`: for how many frames, and `(2 frames - 1, hidden)`.
    cache: Option<(usize, Tensor)>,
}

impl Attention {
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(
        weights: &dyn Weights,
        name: &str,
        config: &EncoderConfig,
    ) -> std::result::Result<Self, ModelError> {
        let hidden = config.hidden;
        let linear = |part: &str| weights.linear(&format!("{name}.{part}"), hidden, hidden);
        let shape = [config.heads, hidden / config.heads];
        let bias = |part: &str| {
            Ok::<_, ModelError>(weights.tensor(&format!("{name}.{part}"), &shape)?.flatten_all()?)
        };
        Ok(Self {
            heads: config.heads,
            query: linear("q_proj")?,
            key: linear("k_proj")?,
            value: linear("v_proj")?,
            out: linear("o_proj")?,
            position: linear("relative_k_proj")?,
            content_bias: bias("bias_u")?,
            position_bias: bias("bias_v")?,
            cache: None,
        })
    }

    /// Maps `(frames, hidden)` to the same.
    ///
    /// # Errors
    /// The shape does not fit.
    pub fn forward(&mut self, rows: &Tensor, positions: &mut Positions) -> Result<Tensor> {
        let (frames, hidden) = rows.dims2()?;
        let (heads, size) = (self.heads, hidden / self.heads);
        let split = |rows: &Tensor| rows.reshape(((), heads, size))?.transpose(0, 1);
        let query = self.query.forward(rows)?;
        let key = split(&self.key.forward(rows)?)?;
        let value = split(&self.value.forward(rows)?)?;
        let distance = split(&self.distances(frames, positions)?)?;
        let by_content = split(&query.broadcast_add(&self.content_bias)?)?.matmul(&key.transpose(1, 2)?)?;
        let by_position =
            split(&query.broadcast_add(&self.position_bias)?)?.matmul(&distance.transpose(1, 2)?)?;
        let scale = 1.0 / (size as f32).sqrt();
        let weights = by_content.apply_op2_no_bwd(&by_position, &RelativeSoftmax { scale })?;
        let mixed = weights.matmul(&value)?.transpose(0, 1)?.contiguous()?.reshape((frames, hidden))?;
        self.out.forward(&mixed)
    }

    /// Distances as heads look at them: `(2 frames - 1, hidden)`.
    fn distances(&mut self, frames: usize, positions: &mut Positions) -> Result<Tensor> {
        if frames > MOST_CACHED {
            return self.position.forward(&positions.rows(frames)?);
        }
        let cached = self.cache.take().filter(|(most, _)| *most >= frames);
        let (most, table) = match cached {
            Some(cached) => cached,
            None => {
                let most = frames.next_multiple_of(CACHE_STEP);
                (most, self.position.forward(&positions.rows(most)?)?)
            }
        };
        let rows = table.narrow(0, most - frames, 2 * frames - 1);
        self.cache = Some((most, table));
        rows
    }
}

/// Softmax of content scores `(heads, frames, frames)` and position scores `(heads, frames, 2 frames - 1)`, of which
/// each frame's row begins one further left than that of the frame before.
struct RelativeSoftmax {
    scale: f32,
}

impl CustomOp2 for RelativeSoftmax {
    fn name(&self) -> &'static str {
        "relative-softmax"
    }

    fn cpu_fwd(
        &self,
        content: &CpuStorage,
        content_layout: &Layout,
        position: &CpuStorage,
        position_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let shape = content_layout.shape();
        let (heads, frames, others) = shape.dims3()?;
        let wide = (2 * frames).saturating_sub(1);
        let fits = frames > 0 && others == frames && position_layout.shape().dims() == [heads, frames, wide];
        let offsets = (content_layout.contiguous_offsets(), position_layout.contiguous_offsets());
        let (true, (Some(content_range), Some(position_range))) = (fits, offsets) else {
            candle_core::bail!("attention got {shape:?} and {:?}", position_layout.shape());
        };
        let content = &content.as_slice::<f32>()?[content_range.0..content_range.1];
        let position = &position.as_slice::<f32>()?[position_range.0..position_range.1];
        let mut output = vec![0.0; content.len()];
        let rows =
            output.par_chunks_mut(frames).zip(content.par_chunks(frames)).zip(position.par_chunks(wide));
        rows.enumerate().for_each(|(row, ((output, content), position))| {
            let begin = frames - 1 - row % frames;
            let mut most = f32::NEG_INFINITY;
            for ((slot, content), position) in output.iter_mut().zip(content).zip(&position[begin..]) {
                *slot = (content + position) * self.scale;
                most = most.max(*slot);
            }
            let mut sum = 0.0;
            for slot in output.iter_mut() {
                *slot = exp(*slot - most);
                sum += *slot;
            }
            output.iter_mut().for_each(|slot| *slot /= sum);
        });
        Ok((CpuStorage::F32(output), shape.clone()))
    }
}
