//! From the command line and standard input to prompts: `@FILE` arguments and piped text become part of the first one.

use crate::proto::command::Prompt;
use crate::proto::message::Block;
use crate::store::error::reason;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::io;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

/// More text than this in one file is no prompt any more; the model reads such files with its tools.
const MAX_TEXT_BYTES: usize = 256 * 1024;
/// The most that a picture may have; providers refuse larger ones.
const MAX_IMAGE_BYTES: usize = 3 * 1024 * 1024;
/// The most that standard input may hold.
pub const MAX_STDIN_BYTES: usize = 4 * 1024 * 1024;

/// What is wrong with what was given.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A file could not be read.
    #[error("@{path} could not be read: {}.", reason(source))]
    Unreadable {
        /// As given.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file is neither text nor a picture.
    #[error("@{path} is neither text nor a picture that models take (PNG, JPEG, GIF, WebP).")]
    Binary {
        /// As given.
        path: String,
    },
    /// A file is too large.
    #[error(
        "@{path} has {size} bytes, more than the {limit} that fit into a prompt. Name it without the @ and the model reads it in parts."
    )]
    TooLarge {
        /// As given.
        path: String,
        /// Its bytes.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// Standard input is too large or no text.
    #[error("Standard input {0}.")]
    Stdin(String),
    /// Nothing to do.
    #[error("There is no prompt. Give one as an argument, `mynah -p \"task\"`, or on standard input.")]
    Nothing,
}

/// The prompts of a run. `arguments` are prompts and `@FILE`s in the order given, `stdin` is piped text.
pub fn collect(
    arguments: &[String],
    stdin: Option<&[u8]>,
    cwd: &Path,
    home: &Path,
) -> Result<Vec<Prompt>, PromptError> {
    let mut texts = Vec::new();
    let mut attachments = Vec::new();
    for argument in arguments {
        match argument.strip_prefix('@') {
            Some(path) if !path.is_empty() => attachments.push(attach(path, cwd, home)?),
            _ if argument.trim().is_empty() => {}
            _ => texts.push(argument.clone()),
        }
    }
    let mut first = String::new();
    if let Some(bytes) = stdin {
        let piped = std::str::from_utf8(bytes).map_err(|error| PromptError::Stdin(no_text(&error)))?;
        first.push_str(piped.trim_end());
    }
    let mut images = Vec::new();
    for attachment in attachments {
        match attachment {
            Attachment::Text(text) => join(&mut first, &text),
            Attachment::Image(block) => images.push(block),
        }
    }
    let mut texts = texts.into_iter();
    if let Some(text) = texts.next() {
        join(&mut first, &text);
    }
    if first.trim().is_empty() && images.is_empty() {
        return Err(PromptError::Nothing);
    }
    let mut content = Vec::new();
    if !first.trim().is_empty() {
        content.push(Block::text(first));
    }
    content.extend(images);
    let mut prompts = vec![Prompt { content, display: None }];
    prompts.extend(texts.map(Prompt::text));
    Ok(prompts)
}

fn no_text(error: &Utf8Error) -> String {
    let byte = error.valid_up_to() + 1;
    format!(
        "is not UTF-8 text: byte {byte} begins no character. Save it to a file and name that in the prompt"
    )
}

enum Attachment {
    Text(String),
    Image(Block),
}

fn attach(given: &str, cwd: &Path, home: &Path) -> Result<Attachment, PromptError> {
    let path = given.to_owned();
    let bytes = match std::fs::read(locate(given, cwd, home)) {
        Ok(bytes) => bytes,
        Err(source) => return Err(PromptError::Unreadable { path, source }),
    };
    let size = bytes.len();
    if let Some(mime_type) = image_type(&bytes) {
        if size > MAX_IMAGE_BYTES {
            return Err(PromptError::TooLarge { path, size, limit: MAX_IMAGE_BYTES });
        }
        return Ok(Attachment::Image(Block::Image {
            data: BASE64.encode(bytes),
            mime_type: mime_type.to_owned(),
        }));
    }
    if size > MAX_TEXT_BYTES {
        return Err(PromptError::TooLarge { path, size, limit: MAX_TEXT_BYTES });
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => {
            Ok(Attachment::Text(format!("<file path=\"{path}\">\n{}\n</file>", text.trim_end_matches('\n'))))
        }
        Ok(_) | Err(_) => Err(PromptError::Binary { path }),
    }
}

fn locate(given: &str, cwd: &Path, home: &Path) -> PathBuf {
    match given.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => cwd.join(given),
    }
}

fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match image::guess_format(bytes).ok()? {
        image::ImageFormat::Png => Some("image/png"),
        image::ImageFormat::Jpeg => Some("image/jpeg"),
        image::ImageFormat::Gif => Some("image/gif"),
        image::ImageFormat::WebP => Some("image/webp"),
        _ => None,
    }
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::message::text_of;

    fn texts(prompts: &[Prompt]) -> Vec<String> {
        prompts.iter().map(|prompt| text_of(&prompt.content)).collect()
    }

    fn arguments(list: &[&str]) -> Vec<String> {
        list.iter().map(|argument| (*argument).to_owned()).collect()
    }

    #[test]
    fn piped_text_and_files_come_before_the_first_prompt() {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::write(folder.path().join("a.txt"), "alpha\n").expect("write");
        let prompts = collect(
            &arguments(&["first", "@a.txt", "second"]),
            Some(b"piped\n"),
            folder.path(),
            Path::new("/home"),
        )
        .expect("prompts");
        assert_eq!(texts(&prompts), ["piped\n\n<file path=\"a.txt\">\nalpha\n</file>\n\nfirst", "second"]);
    }

    #[test]
    fn pictures_become_blocks() {
        let folder = tempfile::tempdir().expect("folder");
        image::RgbImage::new(2, 2).save(folder.path().join("p.png")).expect("picture");
        let prompts =
            collect(&arguments(&["look", "@p.png"]), None, folder.path(), Path::new("/")).expect("prompts");
        assert!(
            matches!(&prompts[0].content[1], Block::Image { mime_type, .. } if mime_type == "image/png"),
            "{prompts:?}"
        );
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::write(folder.path().join("binary"), [0_u8, 159, 146, 150]).expect("write");
        std::fs::write(folder.path().join("long"), vec![b'x'; MAX_TEXT_BYTES + 1]).expect("write");
        std::fs::write(folder.path().join("fits"), vec![b'x'; MAX_TEXT_BYTES]).expect("write");
        let try_with = |list: &[&str], stdin: Option<&[u8]>| {
            collect(&arguments(list), stdin, folder.path(), Path::new("/"))
        };
        assert!(matches!(try_with(&["@missing"], None), Err(PromptError::Unreadable { .. })));
        assert!(matches!(try_with(&["@binary"], None), Err(PromptError::Binary { .. })));
        assert!(matches!(try_with(&["@long"], None), Err(PromptError::TooLarge { .. })));
        assert!(try_with(&["@fits"], None).is_ok());
        assert!(matches!(try_with(&["x"], Some(&[0xff, 0xfe])), Err(PromptError::Stdin(_))));
        assert!(matches!(try_with(&[" "], Some(b"\n")), Err(PromptError::Nothing)));
    }
}
