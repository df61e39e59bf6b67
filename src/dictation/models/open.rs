//! A file or folder becomes a model in memory.

use crate::dictation::nn::faster;
use crate::dictation::nn::threads::Threads;
use crate::dictation::transcriber::{Ask, ModelInfo, SpeechError, Transcriber, Transcript};
use crate::dictation::weights::cached::{self, Kept};
use crate::dictation::weights::{ModelError, Weights};
use crate::dictation::{parakeet, whisper};
use crate::proto::voice::{Precision, VoiceFailure};
use std::path::{Path, PathBuf};

/// How a model is to be opened.
#[derive(Clone, Debug)]
pub struct Manner {
    /// How its weights are kept.
    pub precision: Precision,
    /// Where the copy for this processor is kept.
    pub cache: PathBuf,
    /// Bytes of free memory.
    pub free: u64,
    /// Bytes that the model needs, where that is known; else its files tell.
    pub need: Option<u64>,
    /// Threads that compute; `None` for one a physical core.
    pub threads: Option<usize>,
}

/// Opens whatever model is there: what it is, its contents tell.
///
/// # Errors
/// There is nothing, or nothing that is a speech model, or it is broken, or the memory is too little.
pub fn open(path: &Path, manner: &Manner) -> Result<Box<dyn Transcriber>, ModelError> {
    let file = path.to_owned();
    if !path.exists() {
        return Err(ModelError::File { file, why: "there is nothing of this name".to_owned() });
    }
    check_memory(path, manner)?;
    if let Some(why) = came_instead(path) {
        return Err(ModelError::Kind { file, why: why.to_owned() });
    }
    let threads = Threads::new(manner.threads);
    let threads = threads.map_err(|error| ModelError::Threads(error.to_string()))?;
    let model = threads.run(|| read(path, manner))?;
    let model = model.ok_or_else(|| ModelError::Kind { file, why: what_it_is_instead(path) })?;
    Ok(Box::new(Pooled { threads, model }))
}

/// Finds out what there is, and reads it; `None` if it is nothing that we know.
fn read(path: &Path, manner: &Manner) -> Result<Option<Box<dyn Transcriber>>, ModelError> {
    if let Some(files) = parakeet::Files::find(path)? {
        let weights = || files.weights(&manner.cache);
        let (model, kept) = keep(&files.sources(), manner, weights, |weights| files.model(weights))?;
        return Ok(Some(match kept {
            Some(bytes) => Box::new(model.kept(Precision::Int8, bytes)),
            None => Box::new(model),
        }));
    }
    if let Some(files) = whisper::Files::find(path)? {
        let (model, kept) =
            keep(&files.sources(), manner, || files.weights(), |weights| files.model(weights))?;
        return Ok(Some(match kept {
            Some(bytes) => Box::new(model.kept(Precision::Int8, bytes)),
            None => Box::new(model),
        }));
    }
    Ok(None)
}

/// Builds a model whose weights are kept as wished. Rounded ones come with their bytes, and from a file that all
/// running programs share.
fn keep<T>(
    sources: &[PathBuf],
    manner: &Manner,
    open: impl FnOnce() -> Result<Box<dyn Weights>, ModelError>,
    build: impl Fn(&dyn Weights) -> Result<T, ModelError>,
) -> Result<(T, Option<u64>), ModelError> {
    if faster::precision(manner.precision) == Precision::F32 {
        return Ok((build(open()?.as_ref())?, None));
    }
    let fingerprint = cached::fingerprint(sources)?;
    let file = cached::path(&manner.cache, sources);
    let (model, kept) = cached::build(&file, &fingerprint, open, build)?;
    let bytes = match kept {
        Kept::Shared(bytes) => bytes,
        Kept::Alone(_why) => sources.iter().map(|source| size(source)).sum::<u64>() / 4,
    };
    Ok((model, Some(bytes)))
}

/// A model that computes on threads of its own.
struct Pooled {
    threads: Threads,
    model: Box<dyn Transcriber>,
}

impl Transcriber for Pooled {
    fn transcribe(&mut self, samples: &[f32], ask: &Ask) -> Result<Transcript, SpeechError> {
        let Self { threads, model } = self;
        threads.run(|| model.transcribe(samples, ask))
    }

    fn info(&self) -> &ModelInfo {
        self.model.info()
    }
}

fn check_memory(path: &Path, manner: &Manner) -> Result<(), ModelError> {
    // Weights of a byte each are a quarter of a file of F32; with what the work itself takes, a third.
    let need = manner.need.unwrap_or_else(|| size(path) / 3);
    // Nothing is known about the memory of this machine.
    if manner.free == 0 || need <= manner.free {
        return Ok(());
    }
    Err(ModelError::Memory { need: need / 1_000_000, free: manner.free / 1_000_000 })
}

/// Bytes of a file, or of the files in a folder.
pub(super) fn size(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else {
        return std::fs::metadata(path).map_or(0, |facts| facts.len());
    };
    let files = entries.filter_map(|entry| entry.ok()?.metadata().ok());
    files.filter(std::fs::Metadata::is_file).map(|facts| facts.len()).sum()
}

/// What somebody probably has there, so that the message helps.
fn what_it_is_instead(path: &Path) -> String {
    if path.is_dir() {
        return if path.join("model.bin").is_file() {
            "it is a folder of CTranslate2 (faster-whisper); Mynah reads the one of Hugging Face, with model.safetensors"
                .to_owned()
        } else if path.join("config.json").is_file() {
            "its config.json names another kind of model than parakeet_tdt, parakeet_ctc or whisper"
                .to_owned()
        } else {
            "it has no config.json beside its weights, and no .nemo file".to_owned()
        };
    }
    "give a folder of Hugging Face (config.json, tokenizer.json, model.safetensors), a .nemo or a .gguf file"
        .to_owned()
}

/// What a file is that came in place of a model; its name may promise one all the same.
fn came_instead(path: &Path) -> Option<&'static str> {
    let mut start = [0_u8; 4];
    let read =
        std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
    match (&start, read) {
        (_, Err(error)) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Some("it is empty, or nearly so: it may not have come whole")
        }
        (b"<!DO" | b"<htm", _) => Some("it is a web page: fetch the file itself"),
        (b"vers", _) => Some("it only points to a file that git-lfs would fetch"),
        _ => None,
    }
}

/// As the kinds of failures go.
#[must_use]
pub const fn failure(error: &ModelError) -> VoiceFailure {
    match error {
        ModelError::Memory { .. } => VoiceFailure::Memory,
        _ => VoiceFailure::BadModel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manner(free: u64) -> Manner {
        Manner {
            precision: Precision::Int8,
            cache: PathBuf::from("/nowhere"),
            free,
            need: None,
            threads: Some(1),
        }
    }

    fn text(path: &Path) -> String {
        let Err(error) = open(path, &manner(1 << 33)) else { panic!("it opened") };
        assert_eq!(failure(&error), VoiceFailure::BadModel);
        error.to_string()
    }

    #[test]
    fn what_is_no_model_is_told_apart() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str, bytes: &[u8]| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            path
        };
        assert!(text(&home.path().join("none")).contains("nothing of this name"));
        assert!(text(home.path()).contains("no config.json"));
        assert!(text(&at("ggml-tiny.bin", b"lmgg1234")).contains("whisper.cpp"));
        assert!(text(&at("page.nemo", b"<!DOCTYPE html>")).contains("web page"));
        assert!(text(&at("lfs.safetensors", b"version https://git-lfs")).contains("git-lfs"));
        assert!(text(&at("empty.nemo", b"")).contains("not have come whole"));
        assert!(text(at("faster/model.bin", b"12345").parent().unwrap()).contains("CTranslate2"));
    }

    #[test]
    fn memory_is_checked_before_anything_is_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("model.nemo");
        std::fs::File::create(&path).unwrap().set_len(6_000_000_000).unwrap();
        let Err(error) = open(&path, &manner(1_000_000_000)) else { panic!("it opened") };
        assert_eq!(error.to_string(), "the model needs 2000 MB of memory and 1000 MB are free");
        assert_eq!(failure(&error), VoiceFailure::Memory);
    }
}
