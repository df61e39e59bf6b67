//! What a step is called.

use crate::text::{clean, width};

/// Names in the word are cut to this.
const NAME_COLUMNS: usize = 48;
/// Of the arguments so much is searched for the file's name: tools name it first.
const HEAD_CHARS: usize = 4096;

/// A call that is being written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Draft {
    tool: String,
    file: Option<String>,
    head: String,
    pub has_arguments: bool,
}

impl Draft {
    pub fn new(tool: &str) -> Self {
        Self { tool: name(tool), ..Self::default() }
    }

    pub fn append(&mut self, delta: &str) {
        self.has_arguments |= !delta.is_empty();
        let names_file = matches!(self.tool.as_str(), "write" | "edit");
        if names_file && self.file.is_none() && self.head.len() < HEAD_CHARS {
            self.head.push_str(delta);
            self.file = path_in(&self.head);
        }
    }

    pub fn word(&self) -> String {
        let file = self.file.as_deref().unwrap_or("a file");
        match self.tool.as_str() {
            "write" => format!("Writing {file}"),
            "edit" => format!("Editing {file}"),
            "" => "Writing a tool call".to_owned(),
            tool => format!("Writing {tool} call"),
        }
    }

    /// Where there is no room for names.
    pub fn short(&self) -> &'static str {
        if self.tool == "edit" { "Editing" } else { "Writing" }
    }
}

/// The last part of the path in arguments that may not be whole yet.
fn path_in(arguments: &str) -> Option<String> {
    let (_, rest) = arguments.split_once("\"path\"").or_else(|| arguments.split_once("\"file_path\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let path = serde_json::Deserializer::from_str(rest).into_iter::<String>().next()?.ok()?;
    let file = name(path.rsplit(['/', '\\']).next().unwrap_or_default());
    (!file.is_empty()).then_some(file)
}

/// A name from outside, fit for a line.
pub(super) fn name(text: &str) -> String {
    width::cut(&clean::for_line(text), NAME_COLUMNS).into_owned()
}
