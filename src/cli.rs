//! The command line: what can be asked of the program, and nothing of how it is done.

use crate::proto::ask::PermissionMode;
use crate::proto::model::ThinkingLevel;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the command line asks for.
#[derive(Debug)]
pub enum Invocation {
    /// An agent.
    Run(Box<RunArgs>),
    /// The settings.
    Config(ConfigArgs),
    /// Recordings in files.
    Transcribe(TranscribeArgs),
    /// Dictation.
    Voice(VoiceArgs),
    /// Watches over the background job of this folder. Only Mynah itself starts this.
    KeepJob {
        /// The folder.
        folder: PathBuf,
        /// Becomes the shell of a job with a terminal instead.
        is_shell: bool,
    },
}

/// Reads the command line. The error holds the text of `--help` and `--version` too; it knows where it is printed.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Invocation, clap::Error> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Not for people, and named in no help.
    if let [_, part, folder, rest @ ..] = arguments.as_slice()
        && part == "keep-job"
        && Path::new(folder).is_absolute()
    {
        let is_shell = rest.first().is_some_and(|word| word == "shell");
        return Ok(Invocation::KeepJob { folder: folder.into(), is_shell });
    }
    // These have grammars of their own; anything else in first place is a prompt or a flag. One flag may precede them.
    let is_part = |first: &OsString| ["config", "transcribe", "voice"].iter().any(|part| first == part);
    if arguments.iter().skip(1).find(|argument| *argument != "--offline").is_some_and(is_part) {
        return Ok(PartProgram::try_parse_from(arguments)?.into_invocation());
    }
    let mut run = RunArgs::try_parse_from(arguments)?;
    run.settings.splice(0..0, offline_settings(run.offline));
    Ok(Invocation::Run(Box::new(run)))
}

/// The settings of `--offline`: whatever asks the settings alone is offline, too.
pub fn offline_settings(is_offline: bool) -> Vec<String> {
    is_offline.then(|| "network.offline=true".to_owned()).into_iter().collect()
}

/// A coding agent for the terminal.
#[derive(Debug, Clone, Parser)]
#[command(name = "mynah", version, about, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub struct RunArgs {
    /// Prompts to begin with, run in order. @FILE puts a file into the first one
    #[arg(value_name = "PROMPT")]
    pub prompts: Vec<String>,

    /// Without the screen: run the prompts, print the final text, and leave
    #[arg(short, long)]
    pub print: bool,

    /// What is printed without the screen: the final text, or every event as a line of JSON
    #[arg(long, value_enum, default_value_t = OutputMode::Text, value_name = "MODE")]
    pub mode: OutputMode,

    /// Model: provider/id, an id, or a part of one, with :LEVEL for the thinking level
    #[arg(short, long, value_name = "MODEL")]
    pub model: Option<String>,

    /// Thinking level: off, minimal, low, medium, high, xhigh, max
    #[arg(long, value_name = "LEVEL")]
    pub thinking: Option<ThinkingLevel>,

    /// Key for the chosen provider, for this run only
    #[arg(long, value_name = "KEY")]
    pub api_key: Option<String>,

    /// List the models that can be chosen, and leave
    #[arg(long, value_name = "SEARCH", num_args = 0..=1, default_missing_value = "")]
    pub list_models: Option<String>,

    /// Which session the prompts go to.
    #[command(flatten)]
    pub session: SessionArgs,

    /// What may run.
    #[command(flatten)]
    pub permissions: PermissionArgs,

    /// What the model is told.
    #[command(flatten)]
    pub context: ContextArgs,

    /// Work in this folder, as if Mynah had been started there
    #[arg(long, value_name = "FOLDER")]
    pub cwd: Option<PathBuf>,

    /// Connect to the chosen model only; probe nothing
    #[arg(long)]
    pub offline: bool,

    /// Set a setting for this run, e.g. --set tools.bash_timeout_seconds=600
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
}

/// Which session the prompts go to.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct SessionArgs {
    /// Go on with the newest session of this folder
    #[arg(short = 'c', long = "continue", group = "session_choice")]
    pub continue_newest: bool,

    /// Go on with a session: the beginning of its id. Without an id, choose from a list (with -p: print the list)
    #[arg(
        short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "", group = "session_choice"
    )]
    pub resume: Option<String>,

    /// Go on with this session file
    #[arg(long, value_name = "FILE", group = "session_choice")]
    pub session: Option<String>,

    /// Copy this session (id or file) into a new one and go on with that
    #[arg(long, value_name = "ID|FILE", group = "session_choice")]
    pub fork: Option<String>,

    /// Keep the session in memory only
    #[arg(long, group = "session_choice")]
    pub no_session: bool,

    /// Name the session
    #[arg(short, long, value_name = "TEXT")]
    pub name: Option<String>,
}

/// What may run.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct PermissionArgs {
    /// Allow what this rule covers, e.g. 'bash(cargo test:*)' or 'edit(src/**)'
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,

    /// Never run what this rule covers
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,

    /// Ask nothing; deny rules still hold
    #[arg(long, conflicts_with = "permission_mode")]
    pub yolo: bool,

    /// Permission mode: ask, edits, yolo
    #[arg(long, value_name = "MODE")]
    pub permission_mode: Option<PermissionMode>,

    /// Tools the model gets, e.g. read,grep,find,ls
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub tools: Option<Vec<String>>,

    /// Give the model no tools
    #[arg(long, conflicts_with = "tools")]
    pub no_tools: bool,
}

/// What the model is told.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct ContextArgs {
    /// Instead of Mynah's own instructions: a text or a file
    #[arg(long, value_name = "TEXT|FILE")]
    pub system_prompt: Option<String>,

    /// After Mynah's own instructions: a text or a file
    #[arg(long, value_name = "TEXT|FILE")]
    pub append_system_prompt: Vec<String>,

    /// Leave AGENTS.md and CLAUDE.md out
    #[arg(long)]
    pub no_context_files: bool,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputMode {
    /// The final text.
    Text,
    /// Every event as a line of JSON.
    Json,
}

#[derive(Debug, Parser)]
#[command(name = "mynah", version)]
struct PartProgram {
    /// Connect to nothing
    #[arg(long, global = true)]
    offline: bool,

    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// List, read and change settings
    Config(ConfigArgs),
    /// Turn recordings into text, on this machine
    #[command(after_help = TRANSCRIBE_HELP)]
    Transcribe(TranscribeArgs),
    /// Dictation: microphones and speech models
    Voice(VoiceArgs),
}

impl PartProgram {
    fn into_invocation(self) -> Invocation {
        match self.part {
            Part::Config(arguments) => Invocation::Config(arguments),
            Part::Transcribe(arguments) => {
                Invocation::Transcribe(TranscribeArgs { offline: self.offline, ..arguments })
            }
            Part::Voice(arguments) => Invocation::Voice(VoiceArgs { offline: self.offline, ..arguments }),
        }
    }
}

/// `mynah transcribe …`.
#[derive(Debug, Clone, ClapArgs)]
pub struct TranscribeArgs {
    /// Recordings: WAV, FLAC, MP3, OGG or M4A
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Speech model: a name of `mynah voice models`, or the path of a folder or file
    #[arg(short, long, value_name = "NAME|PATH")]
    pub model: Option<String>,

    /// The language that is spoken, as en; auto to hear it
    #[arg(short, long, value_name = "CODE")]
    pub language: Option<String>,

    /// A line of JSON for each file: text, words with their times, and how long it took
    #[arg(long)]
    pub json: bool,

    /// Fetch a missing model without asking
    #[arg(short, long)]
    pub yes: bool,

    /// Connect to nothing: only a model that is here will do.
    #[arg(skip)]
    pub offline: bool,
}

/// `mynah voice …`.
#[derive(Debug, Clone, ClapArgs)]
pub struct VoiceArgs {
    /// What to do; shows the state when nothing is said.
    #[command(subcommand)]
    pub action: Option<VoiceAction>,

    /// Connect to nothing.
    #[arg(skip)]
    pub offline: bool,
}

/// What to do with dictation.
#[derive(Debug, Clone, Subcommand, PartialEq, Eq)]
pub enum VoiceAction {
    /// What a recording would use now, and why
    Status,
    /// All speech models: whether they are here, their size and languages
    Models,
    /// The microphones, the system's default first
    Microphones,
    /// Fetch a speech model
    Setup {
        /// A name of `mynah voice models`; without one it goes by this machine's memory
        model: Option<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Use this speech model from now on
    Use {
        /// A name of `mynah voice models`, the path of a folder or file, or auto
        model: String,
    },
    /// Read the models' files through and compare their checksums
    Check,
    /// Remove a speech model from this disk
    Remove {
        /// A name of `mynah voice models`
        model: String,
    },
}

const TRANSCRIBE_HELP: &str = "\
Up to half a minute is decoded in one piece, a longer recording in pieces cut at pauses. The exit code is 1 if any file
failed; the others are printed all the same.

Examples:
  mynah transcribe note.wav
  mynah transcribe --json --model whisper-tiny *.flac";

/// `mynah config …`.
#[derive(Debug, ClapArgs)]
pub struct ConfigArgs {
    /// What to do; lists the settings when nothing is said.
    #[command(subcommand)]
    pub action: Option<ConfigAction>,

    /// The project's settings instead of the user's
    #[arg(long, global = true)]
    pub project: bool,
}

/// What to do with the settings.
#[derive(Debug, Subcommand, PartialEq, Eq)]
pub enum ConfigAction {
    /// All settings: value, where it comes from, what it does
    List,
    /// All keys: where they hold, what they do, which are your own, and what is wrong with those
    Keys,
    /// One setting's value
    Get {
        /// For example model.default
        key: String,
    },
    /// Change a setting
    Set {
        /// For example model.default
        key: String,
        /// The new value; several for a list
        #[arg(required = true, allow_hyphen_values = true)]
        values: Vec<String>,
    },
    /// Go back to the default
    Unset {
        /// For example model.default
        key: String,
    },
    /// Read this folder's .mynah/ from now on
    Trust,
    /// Stop reading it
    Untrust,
}

const AFTER_HELP: &str = "\
Examples:
  mynah                               open the screen
  mynah \"why does the build fail?\"    the same, and begin with this
  mynah -c                            go on with the newest session of this folder
  mynah --resume                      choose a session

Without the screen, for scripts and pipes:
  mynah -p \"why does the build fail?\"
  git diff | mynah -p \"review this\"
  mynah -p --allow 'bash(cargo test:*)' --permission-mode edits \"make the tests pass\"
  mynah -p -c \"and now the docs\"

Settings and keys:
  mynah config                        all settings, and where each comes from
  mynah config set model.default anthropic/claude-sonnet-4-5
  mynah config keys                   which key does what, and what is wrong with your own

Speech, on this machine:
  mynah voice                         what dictation would use, and why; mynah voice --help for more
  mynah transcribe note.wav           what was said in a recording

API keys are read from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) or auth.toml in the config folder.";

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arguments: &[&str]) -> RunArgs {
        let all = std::iter::once("mynah").chain(arguments.iter().copied()).map(OsString::from);
        match parse(all).expect("valid") {
            Invocation::Run(run) => *run,
            _ => panic!("not the agent"),
        }
    }

    #[test]
    fn the_grammar_has_no_contradictions() {
        use clap::CommandFactory;
        RunArgs::command().debug_assert();
        PartProgram::command().debug_assert();
    }

    #[test]
    fn prompts_and_flags_mix() {
        let args =
            run(&["-p", "fix it", "--yolo", "--model", "openai/any", "@notes.md", "--tools", "read,bash"]);
        assert!(args.print && args.permissions.yolo);
        assert_eq!(args.prompts, ["fix it", "@notes.md"]);
        assert_eq!(args.permissions.tools.as_deref(), Some(&["read".to_owned(), "bash".to_owned()][..]));
    }

    #[test]
    fn one_session_choice_at_a_time() {
        assert!(parse(["mynah", "-c", "--no-session", "x"].map(OsString::from)).is_err());
    }

    #[test]
    fn offline_holds_for_parts_wherever_it_stands() {
        for arguments in [
            ["mynah", "--offline", "transcribe", "a.wav"],
            ["mynah", "transcribe", "--offline", "a.wav"],
            ["mynah", "transcribe", "a.wav", "--offline"],
        ] {
            let Ok(Invocation::Transcribe(args)) = parse(arguments.map(OsString::from)) else {
                panic!("{arguments:?}")
            };
            assert!(args.offline && args.files == [PathBuf::from("a.wav")], "{args:?}");
        }
        let voice = parse(["mynah", "voice", "setup", "--offline"].map(OsString::from));
        assert!(matches!(voice, Ok(Invocation::Voice(args)) if args.offline));
        assert!(run(&["--offline", "write a voice"]).offline);
    }

    #[test]
    fn config_is_a_program_of_its_own_and_only_in_first_place() {
        let Ok(Invocation::Config(config)) =
            parse(["mynah", "config", "set", "model.thinking", "high"].map(OsString::from))
        else {
            panic!("not the settings")
        };
        assert_eq!(
            config.action,
            Some(ConfigAction::Set { key: "model.thinking".into(), values: vec!["high".into()] })
        );
        assert_eq!(run(&["-p", "config"]).prompts, ["config"]);
    }

    #[test]
    fn speech_has_programs_of_its_own() {
        let all = ["mynah", "transcribe", "a.wav", "b.wav", "--json", "-m", "whisper-tiny"];
        let Ok(Invocation::Transcribe(args)) = parse(all.map(OsString::from)) else { panic!("not files") };
        assert_eq!((args.files.len(), args.json, args.model.as_deref()), (2, true, Some("whisper-tiny")));
        assert!(parse(["mynah", "transcribe"].map(OsString::from)).is_err());
        let Ok(Invocation::Voice(args)) = parse(["mynah", "voice", "setup", "--yes"].map(OsString::from))
        else {
            panic!("not dictation")
        };
        assert_eq!(args.action, Some(VoiceAction::Setup { model: None, yes: true }));
        assert_eq!(run(&["-p", "voice"]).prompts, ["voice"]);
    }

    #[test]
    fn a_wrong_level_says_what_is_allowed() {
        let error = parse(["mynah", "--thinking", "much", "x"].map(OsString::from)).expect_err("no level");
        assert!(error.to_string().contains("off, minimal, low"), "{error}");
    }
}
