//! Where a checkpoint of torch's keeps each tensor.
//!
//! `data.pkl` is a program for Python's unpickler that builds a dictionary of tensors; candle runs it without running
//! anything of Python's. Each tensor names a part `data/N` of the zip that holds its numbers.

use super::ModelError;
use candle_core::DType;
use candle_core::pickle::{Object, Stack};
use std::collections::HashMap;
use std::io::{BufReader, Cursor};
use std::ops::Range;

/// A tensor, its numbers in order.
pub struct Stored {
    /// What a number is.
    pub kind: DType,
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// Where it is in the checkpoint.
    pub bytes: Range<usize>,
}

/// Reads the table of a checkpoint.
///
/// # Errors
/// It is damaged, or its parts are packed.
pub fn read(checkpoint: &[u8]) -> Result<HashMap<String, Stored>, ModelError> {
    let fail = |error: zip::result::ZipError| ModelError::Damaged(error.to_string());
    let mut zip = zip::ZipArchive::new(Cursor::new(checkpoint)).map_err(fail)?;
    let mut parts = HashMap::new();
    let mut program = None;
    for index in 0..zip.len() {
        let part = zip.by_index(index).map_err(fail)?;
        let name = String::from_utf8_lossy(part.name_raw()).into_owned();
        let start = part.data_start().and_then(|start| usize::try_from(start).ok());
        let size = usize::try_from(part.size()).ok();
        if part.compression() != zip::CompressionMethod::Stored {
            return Err(ModelError::Damaged(format!("`{name}` of the checkpoint is packed")));
        }
        let (Some(start), Some(size)) = (start, size) else {
            return Err(ModelError::Damaged(format!("`{name}` of the checkpoint can't be found")));
        };
        if let Some(root) = name.strip_suffix("data.pkl") {
            program = Some((root.to_owned(), index));
        }
        parts.insert(name, start..start.saturating_add(size));
    }
    let (root, index) =
        program.ok_or_else(|| ModelError::Damaged("the checkpoint has no data.pkl".to_owned()))?;
    let mut stack = Stack::empty();
    stack.read_loop(&mut BufReader::new(zip.by_index(index).map_err(fail)?))?;
    let Object::Dict(entries) = stack.finalize()? else {
        return Err(ModelError::Damaged("the checkpoint is no table of tensors".to_owned()));
    };
    let mut tensors = HashMap::new();
    for (name, value) in &entries {
        // The table has notes of torch's own beside the tensors, and tensors of kinds that no model here has.
        if let (Object::Unicode(name), Some(view)) = (name, View::of(value)) {
            let part = parts.get(&format!("{root}data/{}", view.part));
            let bytes = part.and_then(|part| view.within(part));
            let bytes =
                bytes.ok_or_else(|| ModelError::Damaged(format!("`{name}` is not where it should be")))?;
            tensors.insert(name.clone(), Stored { kind: view.kind, shape: view.shape, bytes });
        }
    }
    Ok(tensors)
}

/// A tensor as a checkpoint describes it.
struct View<'a> {
    part: &'a str,
    kind: DType,
    /// Numbers before its first.
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl<'a> View<'a> {
    fn of(value: &'a Object) -> Option<Self> {
        let Object::Reduce { callable, args } = value else { return None };
        let (Object::Class { class_name, .. }, Object::Tuple(args)) = (&**callable, &**args) else {
            return None;
        };
        match (class_name.as_str(), args.as_slice()) {
            ("_rebuild_parameter", [inner, ..]) => Self::of(inner),
            ("_rebuild_tensor_v2", [Object::PersistentLoad(storage), offset, shape, strides, ..]) => {
                let Object::Tuple(storage) = &**storage else { return None };
                let [_, Object::Class { class_name, .. }, Object::Unicode(part), ..] = storage.as_slice()
                else {
                    return None;
                };
                let kind = match class_name.as_str() {
                    "FloatStorage" => DType::F32,
                    "DoubleStorage" => DType::F64,
                    "HalfStorage" => DType::F16,
                    "BFloat16Storage" => DType::BF16,
                    "LongStorage" => DType::I64,
                    _ => return None,
                };
                let sizes = |object: &Object| match object {
                    Object::Tuple(sizes) => sizes.iter().map(size).collect::<Option<Vec<_>>>(),
                    _ => None,
                };
                Some(Self {
                    part,
                    kind,
                    offset: size(offset)?,
                    shape: sizes(shape)?,
                    strides: sizes(strides)?,
                })
            }
            _ => None,
        }
    }

    /// Its bytes in a part; `None` if it is not all there, or not in order.
    fn within(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let mut expected = 1_usize;
        for (size, stride) in self.shape.iter().zip(&self.strides).rev() {
            if *size != 1 && *stride != expected {
                return None;
            }
            expected = expected.checked_mul(*size)?;
        }
        let width = self.kind.size_in_bytes();
        let start = part.start.checked_add(self.offset.checked_mul(width)?)?;
        let end = start.checked_add(expected.checked_mul(width)?)?;
        (end <= part.end).then_some(start..end)
    }
}

fn size(object: &Object) -> Option<usize> {
    match object {
        Object::Int(number) => usize::try_from(*number).ok(),
        Object::Long(number) => usize::try_from(*number).ok(),
        _ => None,
    }
}
