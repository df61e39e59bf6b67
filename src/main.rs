//! The `mynah` program: reads the command line, starts what it asks for, and turns the end into an exit code.

use mynah::app::config_command::{self, ConfigCommand, ConfigCx, Scope};
use mynah::app::headless::{self, Exit, text::Streams};
use mynah::app::start::{self, Started, Surroundings};
use mynah::app::{
    event_loop, keys_command, list_models, list_sessions, logging, panic, prompts, transcribe_command,
    voice_command,
};
use mynah::cli::{
    self, ConfigAction, ConfigArgs, Invocation, OutputMode, RunArgs, TranscribeArgs, VoiceArgs,
};
use mynah::config::env::Env;
use mynah::config::places::Places;
use mynah::jobs::keeper;
use mynah::store::error::reason;
use mynah::store::{find, line};
use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// A person who waits for a run that waits for standard input is told so after this time.
const STDIN_HINT_AFTER: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let invocation = match cli::parse(std::env::args_os()) {
        Ok(invocation) => invocation,
        Err(text) => {
            // `--help` and `--version` come this way too; the error knows its stream and code.
            let failed = text.print().is_err();
            return ExitCode::from(if failed { 1 } else { u8::try_from(text.exit_code()).unwrap_or(2) });
        }
    };
    if let Invocation::KeepJob { folder, is_shell } = &invocation {
        return match is_shell {
            true => keeper::shell_main(folder),
            false => keeper::main(folder),
        };
    }
    hide_memory();
    let env = Env::of_process();
    panic::install(&Places::from_env(&env).state);
    let ended = match invocation {
        Invocation::KeepJob { .. } => Ok(Exit::Success),
        Invocation::Config(args) => config(&args, env),
        Invocation::Transcribe(args) => transcribe(&args, env),
        Invocation::Voice(args) => voice(&args, env),
        Invocation::Run(args) => run(&args, env),
    };
    match ended {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            // Our errors have their causes in their texts.
            complain(&error.to_string());
            ExitCode::from(Exit::Failure.code())
        }
    }
}

/// Keys stand in our environment and memory. Commands that we run are the same user's: without this they could read
/// both through `/proc`.
fn hide_memory() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)
    {
        complain(&format!("Commands could read this program's memory: {error}"));
    }
}

fn run(args: &RunArgs, env: Env) -> anyhow::Result<Exit> {
    let around = Surroundings::find(env, args.cwd.as_deref(), &args.settings)?;
    logging::init(&around.places.state, &around.loaded.settings.log_level);
    if let Some(search) = &args.list_models {
        return print_models(args, &around, search);
    }
    let no_screen = why_no_screen(args, &around.env);
    if no_screen.is_none() {
        return on_screen(args, around);
    }
    if args.session.resume.as_deref() == Some("") {
        return print_sessions(&around);
    }
    let stdin = piped_input()?;
    let asked = !args.prompts.is_empty() || stdin.as_ref().is_some_and(|bytes| !bytes.is_empty());
    if let Some(why) = no_screen.filter(|_| !asked && !args.print && args.mode == OutputMode::Text) {
        anyhow::bail!("{why} Give a task without a screen: mynah -p \"task\". See mynah --help.");
    }
    let prompts = prompts::collect(&args.prompts, stdin.as_deref(), &around.cwd, &around.places.home)?;
    let runtime = runtime()?;
    let exit = runtime.block_on(async {
        let Started { handle, header, notices, .. } = start::start(args, &around, false).await?;
        let events = handle.events();
        for notice in notices {
            complain(&notice);
        }
        let streams = Streams {
            out_is_terminal: io::stdout().is_terminal(),
            err_is_terminal: io::stderr().is_terminal(),
        };
        let header = serde_json::from_str(&line::write_header(&header)?)?;
        anyhow::Ok(headless::run(&handle, events, prompts, args.mode, &header, streams).await?)
    });
    // Work on blocking threads (a search, a read of a dead network mount) must not hold up the end.
    runtime.shutdown_background();
    exit
}

/// Why there is no full-screen program; nothing when there is one.
fn why_no_screen(args: &RunArgs, env: &Env) -> Option<&'static str> {
    if args.print || args.mode != OutputMode::Text {
        return Some("No screen is wanted.");
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Some("There is no terminal to draw on.");
    }
    matches!(env.get("TERM"), Some("dumb")).then_some("This terminal can't draw a screen (TERM=dumb).")
}

/// The full-screen program.
fn on_screen(args: &RunArgs, around: Surroundings) -> anyhow::Result<Exit> {
    let prompts = if args.prompts.is_empty() {
        Vec::new()
    } else {
        prompts::collect(&args.prompts, None, &around.cwd, &around.places.home)?
    };
    let runtime = runtime()?;
    // On this thread: a panic of it gives the terminal back.
    let exit = runtime.block_on(event_loop::run(args.clone(), around, prompts));
    // Work on blocking threads (a search, a read of a dead network mount) must not hold up the end.
    runtime.shutdown_background();
    exit
}

fn runtime() -> anyhow::Result<Runtime> {
    Builder::new_multi_thread()
        // More only hand each piece of a stream to and fro; what takes long runs on blocking threads.
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| anyhow::anyhow!("Mynah could not start: {}.", reason(&error)))
}

fn config(args: &ConfigArgs, env: Env) -> anyhow::Result<Exit> {
    let around = Surroundings::find(env, None, &[])?;
    let scope = if args.project { Scope::Project } else { Scope::User };
    if args.action == Some(ConfigAction::Keys) {
        let (table, is_right) = keys_command::run(&around.places);
        print(&table)?;
        return Ok(if is_right { Exit::Success } else { Exit::Failure });
    }
    let cx = ConfigCx { places: &around.places, project: &around.project_root, env: &around.env, flags: &[] };
    print(&config_command::run(&command(args.action.as_ref()), scope, cx)?)?;
    Ok(Exit::Success)
}

fn transcribe(args: &TranscribeArgs, env: Env) -> anyhow::Result<Exit> {
    let around = Surroundings::find(env, None, &cli::offline_settings(args.offline))?;
    logging::init(&around.places.state, &around.loaded.settings.log_level);
    let all_right = transcribe_command::run(args, &around, &mut Console)?;
    Ok(if all_right { Exit::Success } else { Exit::Failure })
}

fn voice(args: &VoiceArgs, env: Env) -> anyhow::Result<Exit> {
    let around = Surroundings::find(env, None, &cli::offline_settings(args.offline))?;
    logging::init(&around.places.state, &around.loaded.settings.log_level);
    let all_right = voice_command::run(args.action.as_ref(), &around, &mut Console)?;
    Ok(if all_right { Exit::Success } else { Exit::Failure })
}

/// The terminal or whatever else our streams are.
struct Console;

impl voice_command::Console for Console {
    fn print(&mut self, text: &str) -> io::Result<()> {
        print(text)
    }

    fn note(&mut self, text: &str) {
        complain(text);
    }

    fn agrees(&mut self, question: &str) -> Option<bool> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        // Standard error may be closed; then there is no answer either.
        write!(io::stderr().lock(), "{question} [y/N] ").ok()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).ok()?;
        Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    fn progress(&mut self, text: &str, is_last: bool) {
        if !io::stderr().is_terminal() {
            return;
        }
        // Standard error may be closed; there is nobody to tell then.
        let _closed = write!(io::stderr().lock(), "\r\x1b[K{text}{}", if is_last { "\n" } else { "" });
    }
}

fn command(action: Option<&ConfigAction>) -> ConfigCommand {
    match action {
        // Keys are no settings, and are told elsewhere.
        None | Some(ConfigAction::List | ConfigAction::Keys) => ConfigCommand::List,
        Some(ConfigAction::Get { key }) => ConfigCommand::Get { key: key.clone() },
        Some(ConfigAction::Set { key, values }) => {
            ConfigCommand::Set { key: key.clone(), value: values.join(",") }
        }
        Some(ConfigAction::Unset { key }) => ConfigCommand::Unset { key: key.clone() },
        Some(ConfigAction::Trust) => ConfigCommand::Trust,
        Some(ConfigAction::Untrust) => ConfigCommand::Untrust,
    }
}

fn print_models(args: &RunArgs, around: &Surroundings, search: &str) -> anyhow::Result<Exit> {
    let (models, warnings) = around.models(args.api_key.as_deref(), args.offline);
    for warning in warnings {
        complain(&warning);
    }
    let rows = models.list(Some(search).filter(|search| !search.is_empty()));
    if rows.is_empty() {
        anyhow::bail!("No model matches `{search}`. `mynah --list-models` lists all.");
    }
    print(&list_models::table(&rows))?;
    Ok(Exit::Success)
}

fn print_sessions(around: &Surroundings) -> anyhow::Result<Exit> {
    let sessions = find::list(&around.places, Some(&around.cwd));
    if sessions.is_empty() {
        anyhow::bail!("There is no session of {} yet.", around.cwd.display());
    }
    print(&list_sessions::table(&sessions, &jiff::tz::TimeZone::system()))?;
    Ok(Exit::Success)
}

/// What is piped in; `None` when standard input is a terminal or a device such as `/dev/null`.
fn piped_input() -> Result<Option<Vec<u8>>, prompts::PromptError> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    let hint = std::thread::spawn(move || {
        if waiting.recv_timeout(STDIN_HINT_AFTER) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            complain("Waiting for standard input to end. Close it, or use `< /dev/null`, if nothing comes.");
        }
    });
    let mut bytes = Vec::new();
    let limit = u64::try_from(prompts::MAX_STDIN_BYTES).unwrap_or(u64::MAX);
    let read = stdin.lock().take(limit + 1).read_to_end(&mut bytes);
    drop(done);
    // The hint's thread only prints; its end carries nothing.
    let _printed = hint.join();
    match read {
        Err(error) => Err(prompts::PromptError::Stdin(format!("could not be read: {}", reason(&error)))),
        Ok(_) if bytes.len() > prompts::MAX_STDIN_BYTES => Err(prompts::PromptError::Stdin(format!(
            "is larger than {} MiB; save it to a file and name that in the prompt",
            prompts::MAX_STDIN_BYTES / 1024 / 1024
        ))),
        Ok(_) => Ok(Some(bytes)),
    }
}

fn print(text: &str) -> io::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        // `mynah --list-models | head` is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn complain(text: &str) {
    // Standard error may be closed; there is nobody left to tell then.
    let _closed = writeln!(io::stderr().lock(), "mynah: {}", mynah::text::clean::for_terminal(text));
}
