//! NeMo's archives: a tar, packed or not, with settings, a tokenizer and a checkpoint of torch's.
//!
//! A checkpoint is a zip whose parts are stored as they are, so an archive that is not packed is read in place. A packed
//! one has its checkpoint unpacked into a file that loses its name at once: the system frees it with its last reader.

mod checkpoint;

use super::{ModelError, Weights};
use crate::dictation::nn::Linear;
use candle_core::{DType, Device, Tensor};
use checkpoint::Stored;
use memmap2::Mmap;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Settings and tokenizers are smaller than this.
const LARGEST_TEXT: u64 = 64 << 20;
/// The first bytes of a packed file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// An archive whose small parts were read.
pub struct Archive {
    file: PathBuf,
    settings: String,
    tokenizer: Option<Vec<u8>>,
    vocabulary: Option<String>,
    checkpoint: Place,
}

/// Where the checkpoint is.
enum Place {
    /// From this byte on, so many.
    Plain { start: u64, length: u64 },
    /// Behind gzip.
    Packed,
}

impl Archive {
    /// Reads all but the checkpoint.
    ///
    /// # Errors
    /// It can't be read, is no archive, or lacks its settings or its checkpoint.
    pub fn open(file: &Path) -> Result<Self, ModelError> {
        let mut found = Found::default();
        let is_packed = visit(file, |part| found.take(file, part))?;
        let lacks = |what: &str| lacks(file, what);
        let (start, length) = found.checkpoint.ok_or_else(|| lacks("model_weights.ckpt"))?;
        Ok(Self {
            file: file.to_owned(),
            settings: found.settings.ok_or_else(|| lacks("model_config.yaml"))?,
            tokenizer: found.tokenizer,
            vocabulary: found.vocabulary,
            checkpoint: if is_packed { Place::Packed } else { Place::Plain { start, length } },
        })
    }

    /// The file it is.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// The text of `model_config.yaml`.
    pub fn settings(&self) -> &str {
        &self.settings
    }

    /// The SentencePiece model.
    pub fn tokenizer(&self) -> Option<&[u8]> {
        self.tokenizer.as_deref()
    }

    /// `vocab.txt`.
    pub fn vocabulary(&self) -> Option<&str> {
        self.vocabulary.as_deref()
    }

    /// The error that a part is missing.
    pub fn lacks(&self, part: &str) -> ModelError {
        lacks(&self.file, part)
    }

    /// Opens the checkpoint; a packed one is unpacked into the folder `scratch`.
    ///
    /// # Errors
    /// It can't be read or unpacked, or is damaged.
    pub fn weights(&self, scratch: &Path) -> Result<NemoWeights, ModelError> {
        let fail =
            |error: std::io::Error| ModelError::File { file: self.file.clone(), why: error.to_string() };
        match self.checkpoint {
            Place::Plain { start, length } => {
                let file = File::open(&self.file).map_err(fail)?;
                NemoWeights::map(&file, start, length)
            }
            Place::Packed => {
                let file = self.unpack(scratch)?;
                let length = file.metadata().map_err(fail)?.len();
                NemoWeights::map(&file, 0, length)
            }
        }
    }

    /// The checkpoint as a file without a name.
    fn unpack(&self, scratch: &Path) -> Result<File, ModelError> {
        let path = scratch.join(format!("unpacking-{}.ckpt", uuid::Uuid::new_v4()));
        let fail = |error: std::io::Error| ModelError::File { file: path.clone(), why: error.to_string() };
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut target = options.open(&path).map_err(fail)?;
        std::fs::remove_file(&path).map_err(fail)?;
        visit(&self.file, |part| {
            if part.name.ends_with(".ckpt") {
                std::io::copy(part.bytes, &mut target).map_err(fail)?;
            }
            Ok(())
        })?;
        target.seek(SeekFrom::Start(0)).map_err(fail)?;
        Ok(target)
    }
}

/// The parts of an archive as they come along.
#[derive(Default)]
struct Found {
    settings: Option<String>,
    tokenizer: Option<Vec<u8>>,
    vocabulary: Option<String>,
    checkpoint: Option<(u64, u64)>,
}

impl Found {
    fn take(&mut self, file: &Path, part: Part<'_>) -> Result<(), ModelError> {
        let name = part.name;
        let fail = |why: String| ModelError::File { file: file.to_owned(), why };
        if name.ends_with(".ckpt") {
            self.checkpoint = Some((part.start, part.length));
            return Ok(());
        }
        let is_wanted =
            ["model_config.yaml", "tokenizer.model", "vocab.txt"].iter().any(|end| name.ends_with(end));
        if !is_wanted || part.length > LARGEST_TEXT {
            return Ok(());
        }
        let mut bytes = Vec::new();
        part.bytes.take(LARGEST_TEXT).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
        if name.ends_with("tokenizer.model") {
            self.tokenizer = Some(bytes);
            return Ok(());
        }
        let text = String::from_utf8(bytes).map_err(|error| fail(error.to_string()))?;
        let slot = if name.ends_with(".yaml") { &mut self.settings } else { &mut self.vocabulary };
        *slot = Some(text);
        Ok(())
    }
}

fn lacks(file: &Path, part: &str) -> ModelError {
    ModelError::File { file: file.to_owned(), why: format!("there is no {part} in it") }
}

/// A file of an archive.
struct Part<'a> {
    name: &'a str,
    /// Where it begins, in what the archive is when it is not packed.
    start: u64,
    length: u64,
    bytes: &'a mut dyn Read,
}

/// Shows all files of an archive; true if it is packed.
fn visit(file: &Path, mut each: impl FnMut(Part<'_>) -> Result<(), ModelError>) -> Result<bool, ModelError> {
    let fail = |error: std::io::Error| ModelError::File { file: file.to_owned(), why: error.to_string() };
    let mut reader = BufReader::new(File::open(file).map_err(fail)?);
    let mut magic = Vec::new();
    reader.by_ref().take(2).read_to_end(&mut magic).map_err(fail)?;
    reader.seek(SeekFrom::Start(0)).map_err(fail)?;
    let is_packed = magic == GZIP;
    if is_packed {
        let mut archive = tar::Archive::new(flate2::read::MultiGzDecoder::new(reader));
        for entry in archive.entries().map_err(fail)? {
            show(entry.map_err(fail)?, &mut each)?;
        }
    } else {
        // The checkpoint is jumped over, not read.
        let mut archive = tar::Archive::new(reader);
        for entry in archive.entries_with_seek().map_err(fail)? {
            show(entry.map_err(fail)?, &mut each)?;
        }
    }
    Ok(is_packed)
}

fn show(
    mut entry: tar::Entry<'_, impl Read>,
    each: &mut impl FnMut(Part<'_>) -> Result<(), ModelError>,
) -> Result<(), ModelError> {
    let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let (start, length) = (entry.raw_file_position(), entry.size());
    each(Part { name: &name, start, length, bytes: &mut entry })
}

/// Weights of a checkpoint, read in place.
pub struct NemoWeights {
    map: Mmap,
    /// Where the checkpoint begins.
    start: usize,
    tensors: HashMap<String, Stored>,
}

impl NemoWeights {
    #[expect(unsafe_code, reason = "a file mapped into memory; see below")]
    fn map(file: &File, start: u64, length: u64) -> Result<Self, ModelError> {
        let damaged = |why: &str| ModelError::Damaged(why.to_owned());
        // SAFETY: if another program cuts the file while it is mapped, reading it ends this program (SIGBUS). Files of
        // models are written under another name and renamed, so only a user who overwrites one by hand can do that.
        let map = unsafe { Mmap::map(file) }.map_err(|error| ModelError::Damaged(error.to_string()))?;
        let start = usize::try_from(start).map_err(|_too_large| damaged("it is too large"))?;
        let length = usize::try_from(length).map_err(|_too_large| damaged("it is too large"))?;
        let end = start.checked_add(length);
        let checkpoint =
            end.and_then(|end| map.get(start..end)).ok_or_else(|| damaged("it ends too soon"))?;
        let tensors = checkpoint::read(checkpoint)?;
        let tensors = tensors.into_iter().map(|(name, stored)| (translate(&name), stored)).collect();
        Ok(Self { map, start, tensors })
    }
}

/// NeMo's name of a tensor as Hugging Face's. Tensors that no model of ours wants keep theirs.
fn translate(name: &str) -> String {
    if let Some(rest) = name.strip_prefix("joint.joint_net.") {
        // Its number depends on whether dropout was trained with.
        let part = rest.split_once('.').map_or(rest, |(_, part)| part);
        return format!("joint.head.{part}");
    }
    let heads = [
        ("encoder.pre_encode.conv.", "encoder.subsampling.layers."),
        ("encoder.pre_encode.out.", "encoder.subsampling.linear."),
        ("decoder.prediction.embed.", "decoder.embedding."),
        ("decoder.prediction.dec_rnn.lstm.", "decoder.lstm."),
        ("decoder.decoder_layers.0.", "ctc_head."),
        ("joint.enc.", "encoder_projector."),
        ("joint.pred.", "decoder.decoder_projector."),
    ];
    for (theirs, ours) in heads {
        if let Some(rest) = name.strip_prefix(theirs) {
            return format!("{ours}{rest}");
        }
    }
    if !name.starts_with("encoder.layers.") {
        return name.to_owned();
    }
    let parts = [
        (".conv.batch_norm.", ".conv.norm."),
        (".self_attn.linear_q.", ".self_attn.q_proj."),
        (".self_attn.linear_k.", ".self_attn.k_proj."),
        (".self_attn.linear_v.", ".self_attn.v_proj."),
        (".self_attn.linear_out.", ".self_attn.o_proj."),
        (".self_attn.linear_pos.", ".self_attn.relative_k_proj."),
        (".self_attn.pos_bias_", ".self_attn.bias_"),
    ];
    parts.iter().fold(name.to_owned(), |name, (theirs, ours)| name.replace(theirs, ours))
}

impl Weights for NemoWeights {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let stored = self.tensors.get(name).ok_or_else(|| ModelError::Missing(name.to_owned()))?;
        if stored.shape != shape {
            let (found, expected) = (stored.shape.clone(), shape.to_vec());
            return Err(ModelError::Shape { name: name.to_owned(), found, expected });
        }
        let range = self.start + stored.bytes.start..self.start + stored.bytes.end;
        let bytes =
            self.map.get(range).ok_or_else(|| ModelError::Damaged(format!("`{name}` ends too soon")))?;
        Ok(Tensor::from_raw_buffer(bytes, stored.kind, shape, &Device::Cpu)?.to_dtype(DType::F32)?)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        let stored = self.tensors.get(&weight).ok_or_else(|| ModelError::Missing(weight.clone()))?;
        let mut shape = vec![outputs, inputs];
        shape.resize(stored.shape.len().max(2), 1);
        let weight = self.tensor(&weight, &shape)?.reshape((outputs, inputs))?;
        let bias = self.has(&bias).then(|| self.tensor(&bias, &[outputs])).transpose()?;
        Ok(Linear::new(&weight, bias)?)
    }

    fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_translated() {
        for (theirs, ours) in [
            ("encoder.pre_encode.conv.0.weight", "encoder.subsampling.layers.0.weight"),
            ("encoder.pre_encode.out.bias", "encoder.subsampling.linear.bias"),
            ("encoder.layers.3.conv.batch_norm.running_var", "encoder.layers.3.conv.norm.running_var"),
            ("encoder.layers.3.self_attn.linear_out.weight", "encoder.layers.3.self_attn.o_proj.weight"),
            ("encoder.layers.3.self_attn.pos_bias_u", "encoder.layers.3.self_attn.bias_u"),
            (
                "encoder.layers.3.feed_forward1.linear1.weight",
                "encoder.layers.3.feed_forward1.linear1.weight",
            ),
            ("decoder.prediction.dec_rnn.lstm.weight_ih_l0", "decoder.lstm.weight_ih_l0"),
            ("decoder.decoder_layers.0.weight", "ctc_head.weight"),
            ("ctc_decoder.decoder_layers.0.weight", "ctc_decoder.decoder_layers.0.weight"),
            ("joint.pred.weight", "decoder.decoder_projector.weight"),
            ("joint.enc.bias", "encoder_projector.bias"),
            ("joint.joint_net.1.weight", "joint.head.weight"),
            ("joint.joint_net.2.bias", "joint.head.bias"),
        ] {
            assert_eq!(translate(theirs), ours);
        }
    }
}
