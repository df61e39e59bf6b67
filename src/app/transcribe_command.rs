//! `mynah transcribe`: recordings in files become text.

use super::start::Surroundings;
use super::voice_command::{self, Console};
use crate::cli::TranscribeArgs;
use crate::dictation::engine::parts::Models;
use crate::dictation::transcribe::{self, Transcribed};
use crate::dictation::transcriber::{Ask, Cancel, ModelInfo};
use serde_json::json;
use std::path::Path;

/// Transcribes all files; false if any failed.
///
/// # Errors
/// There is no model.
pub fn run(args: &TranscribeArgs, around: &Surroundings, console: &mut dyn Console) -> anyhow::Result<bool> {
    let library = voice_command::library(around, console);
    let mut settings = voice_command::with_model(&around.loaded.settings.voice.engine, args.model.as_deref());
    if let Some(language) = &args.language {
        settings.language.clone_from(language);
    }
    if !voice_command::fetch(&library, &settings, args.yes, console)? {
        anyhow::bail!("Without a speech model there is no text.");
    }
    let picked = library.pick(&settings).map_err(anyhow::Error::msg)?;
    let opened = library.open(&picked, &settings, &Cancel::default());
    let mut model = opened.map_err(|(_failure, text)| anyhow::anyhow!(text))?;
    let language = Some(settings.language.clone()).filter(|code| !matches!(code.as_str(), "" | "auto"));
    let ask = Ask { language, cancel: Cancel::default() };
    let mut all_right = true;
    for file in &args.files {
        match transcribe::transcribe(file, &mut *model, &ask) {
            Ok(done) => {
                let text = if args.json {
                    format!("{}\n", line(file, &done, &picked.name, model.info()))
                } else {
                    format!("{}\n", done.transcript.text)
                };
                console.print(&text)?;
            }
            Err(error) => {
                all_right = false;
                console.note(&format!("{} {error}", file.display()));
            }
        }
    }
    Ok(all_right)
}

/// A file's line of JSON. Times are in seconds.
fn line(file: &Path, done: &Transcribed, model: &str, info: &ModelInfo) -> serde_json::Value {
    let rounded = |seconds: f64| (seconds * 1_000.0).round() / 1_000.0;
    let (length, wall) = (done.length.as_secs_f64(), done.wall.as_secs_f64());
    let words: Vec<_> = done
        .transcript
        .words
        .iter()
        .map(|word| {
            json!({
                "text": word.text,
                "start": rounded(f64::from(word.start)),
                "end": rounded(f64::from(word.end)),
            })
        })
        .collect();
    json!({
        "file": file.display().to_string(),
        "text": done.transcript.text,
        "words": words,
        "language": done.transcript.language,
        "duration": rounded(length),
        "wall": rounded(wall),
        // How much of its own length it took; nothing is known about that of no sound.
        "rtf": (length > 0.0).then(|| rounded(wall / length)),
        "model": model,
        "kind": info.kind,
        "precision": info.precision,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictation::transcriber::{Transcript, Word};
    use crate::proto::voice::Precision;
    use std::time::Duration;

    #[test]
    fn a_files_line_holds_times_in_seconds() {
        let word = Word { text: "Hello".to_owned(), start: 0.1, end: 0.5 };
        let transcript = Transcript { text: "Hello".to_owned(), words: vec![word], language: None };
        let length = Duration::from_secs(2);
        let done = Transcribed { transcript, length, wall: Duration::from_millis(250) };
        let info = ModelInfo { kind: "whisper", precision: Precision::Int8, bytes: 1 };
        assert_eq!(
            line(Path::new("a.wav"), &done, "whisper-tiny", &info).to_string(),
            r#"{"file":"a.wav","text":"Hello","words":[{"text":"Hello","start":0.1,"end":0.5}],"language":null,"duration":2.0,"wall":0.25,"rtf":0.125,"model":"whisper-tiny","kind":"whisper","precision":"int8"}"#
        );
    }
}
