//! The system prompt: what a model is told before the conversation.
//!
//! A prompt is a list of named sections, so that the log can store them and later patch one of them. [`assemble`] is
//! pure and gives the same bytes for the same parts: providers cache a request by its prefix, so nothing in here may
//! count, be random, or tell the time of day. What changes most often stands last. [`gather`] is the one function that
//! reads files.

use jiff::civil::Date;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes of one context file that go into the prompt.
pub const CONTEXT_FILE_CAP: usize = 32 * 1024;

const PREAMBLE: &str = include_str!("../../assets/prompts/preamble.md");
const DOCS: &str = include_str!("../../assets/prompts/docs.md");

/// Names of context files, the first that exists in a folder counts.
const CONTEXT_FILES: [&str; 3] = ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"];

/// A rule for the model, told only if it fits the tools it has.
struct Guideline {
    /// At least one of these is active; empty for always.
    any_of: &'static [&'static str],
    /// All of these are active.
    all_of: &'static [&'static str],
    /// None of these is active.
    none_of: &'static [&'static str],
    text: &'static str,
}

const GUIDELINES: [Guideline; 8] = [
    Guideline {
        any_of: &[],
        all_of: &["bash"],
        none_of: &["grep", "find", "ls"],
        text: "List and search files with bash.",
    },
    Guideline {
        any_of: &["grep", "find", "ls"],
        all_of: &["bash"],
        none_of: &[],
        text: "List and search with grep, find and ls rather than bash: they are faster and leave ignored files out.",
    },
    Guideline {
        any_of: &[],
        all_of: &["read", "edit"],
        none_of: &[],
        text: "Read a file with read, not with cat or sed, and before you edit it.",
    },
    Guideline {
        any_of: &[],
        all_of: &["edit"],
        none_of: &[],
        text: "With edit, replace the smallest piece of text that is unique in the file.",
    },
    Guideline {
        any_of: &[],
        all_of: &["edit", "write"],
        none_of: &[],
        text: "Use write for new files and whole rewrites only.",
    },
    Guideline {
        any_of: &["edit", "write"],
        all_of: &[],
        none_of: &[],
        text: "Say in plain text what you changed; do not print files to show it.",
    },
    Guideline {
        any_of: &[],
        all_of: &[],
        none_of: &[],
        text: "Be brief. Write the paths of the files you speak of.",
    },
    Guideline {
        any_of: &[],
        all_of: &[],
        none_of: &[],
        text: "Say what you could not do or check, and never claim otherwise.",
    },
];

/// What a system prompt is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// Name and summary of every active tool, in the order of the request.
    pub tools: Vec<(String, String)>,
    /// What the user's and the project's files say.
    pub files: PromptFiles,
    /// Today. The day only: a time would make every request a new prefix.
    pub date: Date,
    /// Where tools work.
    pub cwd: PathBuf,
}

/// Files that shape the prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptFiles {
    /// `SYSTEM.md`: stands for our own text.
    pub system: Option<String>,
    /// `APPEND_SYSTEM.md`, or the text of a flag: follows it.
    pub append: Option<String>,
    /// Context files, the most general first.
    pub context: Vec<ContextFile>,
    /// Files that could not be read, or only in part; for the user.
    pub warnings: Vec<String>,
}

/// What a project or the user wants every session to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says, cut at [`CONTEXT_FILE_CAP`].
    pub text: String,
}

/// A system prompt in named sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    /// Name and text, in order; no text is empty.
    pub sections: Vec<(&'static str, String)>,
}

impl SystemPrompt {
    /// The whole text, for providers.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.sections.iter().map(|(_, text)| text.as_str()).collect();
        texts.join("\n\n")
    }

    /// The sections as the log stores them.
    pub fn to_map(&self) -> Map<String, Value> {
        self.sections.iter().map(|(name, text)| ((*name).to_owned(), Value::from(text.as_str()))).collect()
    }
}

/// Builds the prompt: who it is, its tools, rules, product help, appended text, context files, date and folder.
pub fn assemble(parts: &Parts) -> SystemPrompt {
    let files = &parts.files;
    let own = match &files.system {
        Some(system) => vec![("preamble", system.clone())],
        None => vec![
            ("preamble", PREAMBLE.to_owned()),
            ("tools", tools_text(&parts.tools)),
            ("rules", rules_text(&parts.tools)),
            ("docs", DOCS.to_owned()),
        ],
    };
    let rest = [
        ("append", files.append.clone().unwrap_or_default()),
        ("context", context_text(&files.context)),
        ("date", format!("Date: {}", parts.date)),
        ("cwd", format!("Working directory: {}", parts.cwd.display())),
    ];
    let sections = own.into_iter().chain(rest).map(|(name, text)| (name, text.trim().to_owned()));
    SystemPrompt { sections: sections.filter(|(_, text)| !text.is_empty()).collect() }
}

fn tools_text(tools: &[(String, String)]) -> String {
    if tools.is_empty() {
        return "You have no tools.".to_owned();
    }
    let lines: Vec<String> = tools.iter().map(|(name, summary)| format!("- {name}: {summary}")).collect();
    format!("Tools:\n{}", lines.join("\n"))
}

fn rules_text(tools: &[(String, String)]) -> String {
    let active = |name: &&str| tools.iter().any(|(tool, _)| tool == name);
    let fits = |rule: &&Guideline| {
        (rule.any_of.is_empty() || rule.any_of.iter().any(active))
            && rule.all_of.iter().all(active)
            && !rule.none_of.iter().any(active)
    };
    let lines: Vec<String> = GUIDELINES.iter().filter(fits).map(|rule| format!("- {}", rule.text)).collect();
    format!("Rules:\n{}", lines.join("\n"))
}

fn context_text(files: &[ContextFile]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = files
        .iter()
        .map(|file| format!("<file path=\"{}\">\n{}\n</file>", file.path.display(), file.text.trim()))
        .collect();
    format!(
        "What the user and the project want you to know. Later files are more specific and win:\n\n{}",
        quoted.join("\n\n")
    )
}

/// The work tree that holds a folder: the nearest one upwards with `.git`, be it a folder or a file; else the folder.
pub fn project_root(cwd: &Path) -> PathBuf {
    cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(cwd).to_owned()
}

/// Reads the files that shape the prompt. `config` is the user's folder; the project's `.mynah/` is read only if the
/// user trusts it. Missing files are no error; unreadable ones are, as a warning.
pub fn gather(config: &Path, cwd: &Path, trusted: bool) -> PromptFiles {
    let root = project_root(cwd);
    let mut files = PromptFiles::default();
    let mut own_folders = vec![config.to_owned()];
    if trusted {
        own_folders.insert(0, root.join(".mynah"));
    }
    files.system = files.first_of(own_folders.iter().map(|folder| folder.join("SYSTEM.md")));
    files.append = files.first_of(own_folders.iter().map(|folder| folder.join("APPEND_SYSTEM.md")));

    let mut folders: Vec<&Path> = cwd.ancestors().take_while(|folder| folder.starts_with(&root)).collect();
    if !folders.contains(&config) {
        folders.push(config);
    }
    for folder in folders.into_iter().rev() {
        let found = CONTEXT_FILES.iter().find_map(|name| {
            let path = folder.join(name);
            files.read(&path).map(|text| ContextFile { path, text })
        });
        files.context.extend(found);
    }
    files
}

impl PromptFiles {
    fn first_of(&mut self, paths: impl Iterator<Item = PathBuf>) -> Option<String> {
        paths.filter_map(|path| self.read(&path)).next()
    }

    /// The text of a file that exists and says something.
    fn read(&mut self, path: &Path) -> Option<String> {
        match read_capped(path) {
            Ok(Some((text, whole))) => {
                if !whole {
                    self.warnings.push(format!(
                        "{} is longer than {} KiB: the model gets the beginning. Shorten it, or move parts to files \
                         that it names.",
                        path.display(),
                        CONTEXT_FILE_CAP / 1024
                    ));
                }
                Some(text).filter(|text| !text.trim().is_empty())
            }
            Ok(None) => None,
            Err(error) => {
                self.warnings.push(format!(
                    "{} could not be read ({error}): the model works without it. Check its permissions.",
                    path.display()
                ));
                None
            }
        }
    }
}

/// The beginning of a regular file, with a notice for the model where it was cut; `None` if there is no such file.
fn read_capped(path: &Path) -> io::Result<Option<(String, bool)>> {
    // A pipe or a device under that name would block or never end.
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(CONTEXT_FILE_CAP as u64 + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() <= CONTEXT_FILE_CAP;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if !whole {
        text.truncate(text.floor_char_boundary(CONTEXT_FILE_CAP));
        text.push_str(&format!("\n[Cut after {} KiB. Read the file for the rest.]", CONTEXT_FILE_CAP / 1024));
    }
    Ok(Some((text, whole)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn parts(tools: &[&str]) -> Parts {
        Parts {
            tools: tools.iter().map(|name| ((*name).to_owned(), format!("does {name}"))).collect(),
            files: PromptFiles::default(),
            date: jiff::civil::date(2026, 11, 30),
            cwd: PathBuf::from("/home/u/project"),
        }
    }

    fn names(prompt: &SystemPrompt) -> Vec<&'static str> {
        prompt.sections.iter().map(|(name, _)| *name).collect()
    }

    const SEVEN: [&str; 7] = ["read", "bash", "edit", "write", "grep", "find", "ls"];

    #[test]
    fn our_own_text_is_short_and_ends_with_date_and_folder() {
        let prompt = assemble(&parts(&SEVEN));
        assert_eq!(names(&prompt), ["preamble", "tools", "rules", "docs", "date", "cwd"]);
        let text = prompt.text();
        assert!(text.len() <= 2048, "{} bytes", text.len());
        assert!(text.ends_with("Date: 2026-11-30\n\nWorking directory: /home/u/project"), "{text}");
        assert_eq!(text, assemble(&parts(&SEVEN)).text());
    }

    #[test]
    fn guidelines_fit_the_tools() {
        let all = assemble(&parts(&SEVEN)).text();
        assert!(all.contains("rather than bash") && !all.contains("search files with bash"));
        let few = assemble(&parts(&["read", "bash"])).text();
        assert!(few.contains("search files with bash") && !few.contains("With edit"));
        let none = assemble(&parts(&[])).text();
        assert!(none.contains("You have no tools.") && !none.contains("bash"));
    }

    #[test]
    fn a_system_file_stands_for_our_text_only() {
        let mut parts = parts(&SEVEN);
        parts.files = PromptFiles {
            system: Some("Be a pirate.\n".to_owned()),
            append: Some("Always rhyme.".to_owned()),
            context: vec![ContextFile { path: "/p/AGENTS.md".into(), text: "Tabs.\n".to_owned() }],
            warnings: vec![],
        };
        let prompt = assemble(&parts);
        assert_eq!(names(&prompt), ["preamble", "append", "context", "date", "cwd"]);
        assert!(prompt.text().starts_with("Be a pirate.\n\nAlways rhyme.\n\n"));
        assert!(prompt.text().contains("<file path=\"/p/AGENTS.md\">\nTabs.\n</file>"));
        assert_eq!(prompt.to_map()["append"], "Always rhyme.");
    }

    /// A config folder, and a project with `.git` in `root` and a working directory `root/a/b`.
    fn tree() -> (tempfile::TempDir, PathBuf, PathBuf, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let (config, root) = (dir.path().join("config"), dir.path().join("root"));
        let cwd = root.join("a/b");
        for folder in [&config, &cwd, &root.join(".git"), &root.join(".mynah")] {
            fs::create_dir_all(folder).unwrap();
        }
        (dir, config, root, cwd)
    }

    #[test]
    fn context_files_come_from_the_user_then_from_the_root_down() {
        let (dir, config, root, cwd) = tree();
        fs::write(dir.path().join("AGENTS.md"), "outside").unwrap();
        fs::write(config.join("AGENTS.md"), "user").unwrap();
        fs::write(root.join("CLAUDE.md"), "root").unwrap();
        fs::write(root.join("a/AGENTS.md"), "a").unwrap();
        fs::write(root.join("a/CLAUDE.md"), "not this").unwrap();
        fs::write(cwd.join("AGENTS.md"), "not this either").unwrap();
        fs::write(cwd.join("AGENTS.override.md"), "b").unwrap();
        let files = gather(&config, &cwd, false);
        let texts: Vec<&str> = files.context.iter().map(|file| file.text.as_str()).collect();
        assert_eq!(texts, ["user", "root", "a", "b"]);
        assert_eq!(files.warnings, [""; 0]);
    }

    #[test]
    fn a_project_shapes_the_prompt_only_if_trusted() {
        let (_dir, config, root, cwd) = tree();
        fs::write(config.join("SYSTEM.md"), "mine").unwrap();
        fs::write(root.join(".mynah/SYSTEM.md"), "theirs").unwrap();
        fs::write(root.join(".mynah/APPEND_SYSTEM.md"), "more").unwrap();
        let files = gather(&config, &cwd, false);
        assert_eq!((files.system.as_deref(), files.append.as_deref()), (Some("mine"), None));
        let files = gather(&config, &cwd, true);
        assert_eq!((files.system.as_deref(), files.append.as_deref()), (Some("theirs"), Some("more")));
    }

    #[test]
    fn a_long_file_is_cut_between_characters_and_says_so() {
        let (_dir, config, root, cwd) = tree();
        fs::write(root.join("AGENTS.md"), "€".repeat(CONTEXT_FILE_CAP)).unwrap();
        let files = gather(&config, &cwd, false);
        let text = &files.context[0].text;
        assert!(text.len() < CONTEXT_FILE_CAP + 64 && text.ends_with("Read the file for the rest.]"));
        assert!(!text.contains('\u{fffd}'));
        assert!(files.warnings[0].contains("AGENTS.md is longer than 32 KiB"));
    }

    #[test]
    fn empty_files_and_folders_of_that_name_count_as_absent() {
        let (_dir, config, root, cwd) = tree();
        fs::create_dir(root.join("AGENTS.md")).unwrap();
        fs::write(root.join("CLAUDE.md"), "c").unwrap();
        fs::write(cwd.join("AGENTS.md"), " \n").unwrap();
        let files = gather(&config, &cwd, false);
        assert_eq!(files.context, [ContextFile { path: root.join("CLAUDE.md"), text: "c".to_owned() }]);
    }

    #[test]
    fn a_work_tree_may_have_a_git_file() {
        let (dir, _config, root, cwd) = tree();
        assert_eq!(project_root(&cwd), root);
        fs::write(root.join("a/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(project_root(&cwd), root.join("a"));
        assert_eq!(project_root(dir.path()), dir.path());
    }
}
