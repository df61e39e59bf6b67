//! Puts an agent together: settings, session log, model, rules, prompt and tools, in that order.
//!
//! Anything that is wrong with the surroundings but leaves a working agent becomes a notice; only what leaves nothing to
//! work with is a [`StartError`].

use crate::agent::context;
use crate::agent::driver::Workshop;
use crate::agent::handle::AgentHandle;
use crate::agent::permission::Rules;
use crate::agent::repair;
use crate::agent::session::{self, Folders, Logged, ModelSource, SessionParts};
use crate::cli::{RunArgs, SessionArgs};
use crate::config::env::Env;
use crate::config::grants;
use crate::config::load::{self, Loaded};
use crate::config::places::Places;
use crate::config::settings::Settings;
use crate::config::trust;
use crate::jobs::Jobs;
use crate::jobs::table::{Hooks, JobNews, JobTable, KeeperProgram, Setup, clean_abandoned};
use crate::llm::endpoint::Secret;
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::models::{Models, ModelsOptions, SelectError, Start as ModelStart, StartReason};
use crate::llm::retry::RetryPolicy;
use crate::llm::{Model, Provider};
use crate::proto::ask::PermissionMode;
use crate::proto::ids::SessionId;
use crate::proto::message::Message;
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::store::context::Context;
use crate::store::error::{StoreError, reason};
use crate::store::find::{self, FindError};
use crate::store::fork;
use crate::store::line::Header;
use crate::store::log::Log;
use crate::tools::{FileLocks, ToolLimits, Tools, UnknownTool};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

/// What keeps an agent from starting. The texts are for people.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The folder to work in is not there.
    #[error("The folder {path} can't be used: {}.", why_no_folder(source))]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No model as asked.
    #[error(transparent)]
    Model(#[from] SelectError),
    /// The model can't be asked.
    #[error(transparent)]
    Provider(#[from] LlmError),
    /// No session as asked.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The session can't be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session belongs to another folder.
    #[error(
        "Session {id} belongs to {cwd}. Go on there with `--cwd {cwd}`, or copy it into this folder with `--fork {id}`."
    )]
    Elsewhere {
        /// The session.
        id: String,
        /// Its folder.
        cwd: String,
    },
    /// A tool that does not exist.
    #[error(transparent)]
    Tool(#[from] UnknownTool),
    /// No background jobs can be had.
    #[error("The program can't find its own file: {0}. Start Mynah again.")]
    Keeper(String),
    /// A `--set` without a value.
    #[error("`--set {0}` needs the form KEY=VALUE, for example --set tools.bash_timeout_seconds=600.")]
    Set(String),
    /// A prompt file that can't be read.
    #[error("The file {path} can't be read: {}.", reason(source))]
    PromptFile {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// An agent ready for its first prompt.
pub struct Started {
    /// The door to it.
    pub handle: AgentHandle,
    /// The session's header, for JSON mode.
    pub header: Header,
    /// What the user should know before anything happens.
    pub notices: Vec<String>,
    /// What was said before, oldest first; shared with the session.
    pub history: Vec<Arc<Message>>,
    /// The models that can be chosen.
    pub models: Arc<Models>,
}

/// What everything starts from.
pub struct Surroundings {
    /// The environment.
    pub env: Env,
    /// The user's folders.
    pub places: Places,
    /// Where we work.
    pub cwd: PathBuf,
    /// Root of the project.
    pub project_root: PathBuf,
    /// Settings in force and what is wrong with them.
    pub loaded: Loaded,
    /// The project's own folder is read.
    pub trusted: bool,
}

impl Surroundings {
    /// Looks around: working directory, project, settings. `settings` are `KEY=VALUE` texts.
    pub fn find(env: Env, cwd: Option<&Path>, settings: &[String]) -> Result<Self, StartError> {
        let places = Places::from_env(&env);
        let wanted = cwd.unwrap_or(Path::new("."));
        let cwd = wanted
            .canonicalize()
            .and_then(|cwd| std::fs::read_dir(&cwd).map(|_| cwd))
            .map_err(|source| StartError::Folder { path: wanted.to_owned(), source })?;
        let project_root = context::project_root(&cwd);
        let trusted = trust::is_trusted(&places, &project_root);
        let mut flags = Vec::new();
        for setting in settings {
            let (key, value) = setting.split_once('=').ok_or_else(|| StartError::Set(setting.clone()))?;
            flags.push((key.to_owned(), value.to_owned()));
        }
        let loaded = load::load(&places, Some(&project_root), &env, &flags);
        Ok(Self { env, places, cwd, project_root, loaded, trusted })
    }

    /// The models that this user can choose from.
    pub fn models(&self, api_key: Option<&str>, offline: bool) -> (Models, Vec<String>) {
        let settings = &self.loaded.settings;
        let options = ModelsOptions {
            api_key: api_key.map(Secret::new),
            offline: offline || settings.offline,
            idle: settings.http_idle_timeout,
        };
        Models::load(&self.places, &self.env, options)
    }
}

/// Starts an agent. `interactive`: somebody is there who can answer its questions.
pub async fn start(args: &RunArgs, around: &Surroundings, interactive: bool) -> Result<Started, StartError> {
    let settings = &around.loaded.settings;
    let mut notices: Vec<String> =
        around.loaded.warnings.iter().map(|warning| warning.text.clone()).collect();

    let (log, context, warnings) = open_session(&args.session, settings, around)?;
    notices.extend(warnings);

    let (models, warnings) = around.models(args.api_key.as_deref(), args.offline);
    notices.extend(warnings);
    let start = models
        .start(args.model.as_deref(), context.model.as_ref(), settings.model.default.as_deref())
        .await?;
    let ModelStart { mut selection, why, notices: mut said } = start;
    // The session alone knows that a model that nobody lists can think.
    let thought = context.thinking.is_some_and(|level| level != ThinkingLevel::Off);
    if why == StartReason::Session && selection.model.unlisted && thought {
        Arc::make_mut(&mut selection.model).reasoning = true;
    }
    if interactive && why == StartReason::Demo {
        // The last one is about the demo, and the start page says that.
        said.pop();
    }
    notices.extend(said);
    notices.extend(selection.warning);
    let provider = models.provider(&selection.model)?;
    let thinking =
        args.thinking.or(selection.thinking).or(context.thinking).unwrap_or(settings.model.thinking);

    let (rules, warnings) = rules(args, settings, around);
    notices.extend(warnings);
    let tools = choose_tools(args, settings)?;
    let (system, warnings) = system_prompt(args, settings, around, &tools)?;
    notices.extend(warnings);

    let header = log.header().clone();
    let mut history: Vec<Arc<Message>> = context.messages.into_iter().map(|(_, message)| message).collect();
    repair::repair(&mut history);
    let logged = Logged { model: context.model, thinking: context.thinking, name: context.name };
    let (table, job_news) = job_table(settings, around, &log)?;
    let workshop = Workshop {
        cwd: around.cwd.clone(),
        jobs: Jobs::new(),
        table,
        output_dir: output_dir(&log),
        limits: ToolLimits {
            bash_timeout: settings.tools.bash_timeout,
            shell_path: settings.tools.shell_path.clone(),
            shell_prefix: settings.tools.shell_prefix.clone(),
            secret_env: models.secret_env_names(),
            resize_images: settings.tools.resize_images,
        },
        files: Arc::new(FileLocks::default()),
    };
    let models = Arc::new(models);
    let said = history.clone();
    let grant_state = around.places.state.clone();
    let grant_project = around.project_root.clone();
    let parts = SessionParts {
        log,
        history,
        declared: context.system,
        logged,
        name: args.session.name.clone(),
        usage: context.usage,
        counts: context.counts,
        model: selection.model,
        provider,
        models: models.clone(),
        thinking,
        mode: mode(args, settings),
        rules,
        save_grant: Arc::new(move |rule| {
            grants::add(&grant_state, &grant_project, rule).map_err(|error| error.to_string())
        }),
        interactive,
        tools,
        system,
        workshop,
        folders: Folders {
            project_root: around.project_root.clone(),
            home: around.places.home.clone(),
            config: around.places.config.clone(),
        },
        retry: RetryPolicy {
            max_attempts: settings.retry.max_attempts,
            base: settings.retry.base,
            longest_wait: settings.retry.max_delay,
        },
        max_rounds: settings.max_rounds.unwrap_or(0),
    };
    let handle = session::start(parts, job_news);
    Ok(Started { handle, header, notices, history: said, models })
}

/// The background jobs of the session, and what they tell.
fn job_table(
    settings: &Settings,
    around: &Surroundings,
    log: &Log,
) -> Result<(Arc<JobTable>, mpsc::UnboundedReceiver<JobNews>), StartError> {
    let root = around.places.state.join("jobs");
    // What nobody came back for ends with the first program that starts a day later.
    let (abandoned, ours) = (root.clone(), log.header().id.clone());
    tokio::spawn(async move {
        clean_abandoned(&abandoned, &ours, jiff::Timestamp::now().as_millisecond()).await;
    });
    let keeper = KeeperProgram::this().map_err(|error| StartError::Keeper(error.to_string()))?;
    let setup = Setup {
        root,
        session: log.header().id.clone(),
        keeper,
        limit: settings.jobs.most_live,
        log_cap: settings.jobs.log_cap,
    };
    let (hooks, news) = Hooks::channel();
    Ok((JobTable::new(setup, hooks), news))
}

impl ModelSource for Models {
    fn resolve(&self, reference: &ModelRef) -> Result<(Arc<Model>, Arc<dyn Provider>), LlmError> {
        // Not as a pattern, in which a colon begins a level.
        let model = self.find(reference).ok_or_else(|| LlmError {
            class: ErrorClass::UnknownModel,
            message: format!("There is no model {reference}. `mynah --list-models` lists all."),
            retry_after: None,
            status: None,
            complains_of_input: false,
        })?;
        let provider = self.provider(&model)?;
        Ok((model, provider))
    }
}

fn open_session(
    args: &SessionArgs,
    settings: &Settings,
    around: &Surroundings,
) -> Result<(Log, Context, Vec<String>), StartError> {
    let places = &around.places;
    let now = jiff::Timestamp::now();
    if let Some(source) = &args.fork {
        let source = find::by_prefix(places, &around.cwd, source)?;
        let copy = fork::fork(&source, None, &around.cwd, places, now)?;
        return open(&copy);
    }
    if let Some(file) = &args.session {
        return open(&find::by_prefix(places, &around.cwd, file)?);
    }
    if let Some(id) = &args.resume {
        let path = find::by_prefix(places, &around.cwd, id)?;
        let (log, context, warnings) = open(&path)?;
        let header = log.header();
        if header.cwd != around.cwd && header.cwd.is_dir() {
            return Err(StartError::Elsewhere {
                id: header.id.to_string(),
                cwd: header.cwd.display().to_string(),
            });
        }
        return Ok((log, context, warnings));
    }
    let mut notices = Vec::new();
    if args.continue_newest {
        match find::newest_in(places, &around.cwd) {
            Some(path) => return open(&path),
            None => {
                notices.push("There is no session of this folder to go on with: this begins one.".to_owned());
            }
        }
    }
    let id = SessionId::fresh();
    let header = Header::new(id.clone(), &around.cwd, now);
    let log = if args.no_session || !settings.save_sessions {
        Log::in_memory(header)
    } else {
        Log::create(find::path_for_new(places, &around.cwd, &id, now), header)?
    };
    Ok((log, Context::default(), notices))
}

fn open(path: &Path) -> Result<(Log, Context, Vec<String>), StartError> {
    let (log, opened) = Log::open(path)?;
    let warnings = opened.warnings.iter().map(|warning| format!("{}: {warning}", path.display())).collect();
    Ok((log, opened.tree.context(), warnings))
}

fn why_no_folder(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotADirectory => "it is no folder".to_owned(),
        _ => reason(error),
    }
}

/// Outputs that the model gets only in part stand whole beside the session, or in the temporary folder without one.
fn output_dir(log: &Log) -> PathBuf {
    match log.path() {
        Some(path) => path.with_extension("d").join("output"),
        None => std::env::temp_dir().join(format!("mynah-{}", log.header().id)),
    }
}

fn mode(args: &RunArgs, settings: &Settings) -> PermissionMode {
    if args.permissions.yolo {
        return PermissionMode::Yolo;
    }
    args.permissions.permission_mode.unwrap_or(settings.permissions.mode)
}

fn rules(args: &RunArgs, settings: &Settings, around: &Surroundings) -> (Rules, Vec<String>) {
    let mut warnings = Vec::new();
    let granted = grants::load(&around.places.state, &around.project_root).unwrap_or_else(|error| {
        warnings.push(format!("Rules allowed earlier for this project are not in force: {error}"));
        Vec::new()
    });
    let allow: Vec<String> =
        settings.permissions.allow.iter().chain(&args.permissions.allow).chain(&granted).cloned().collect();
    let deny: Vec<String> = settings.permissions.deny.iter().chain(&args.permissions.deny).cloned().collect();
    let (rules, errors) = Rules::parse(&allow, &settings.permissions.ask, &deny);
    warnings.extend(errors.iter().map(ToString::to_string));
    (rules, warnings)
}

fn choose_tools(args: &RunArgs, settings: &Settings) -> Result<Tools, UnknownTool> {
    let all = Tools::builtin();
    if args.permissions.no_tools {
        return all.select(&[]);
    }
    match args.permissions.tools.as_ref().or(Some(&settings.tools.enabled).filter(|tools| !tools.is_empty()))
    {
        Some(names) => all.select(names),
        None => Ok(all),
    }
}

fn system_prompt(
    args: &RunArgs,
    settings: &Settings,
    around: &Surroundings,
    tools: &Tools,
) -> Result<(context::SystemPrompt, Vec<String>), StartError> {
    let mut files = context::gather(&around.places.config, &around.cwd, around.trusted);
    if args.context.no_context_files || !settings.context_files {
        files.context.clear();
    }
    if let Some(given) = &args.context.system_prompt {
        files.system = Some(text_or_file(given, &around.cwd)?);
    }
    for given in &args.context.append_system_prompt {
        let more = text_or_file(given, &around.cwd)?;
        files.append = Some(match files.append.take() {
            Some(text) => format!("{text}\n\n{more}"),
            None => more,
        });
    }
    let warnings = std::mem::take(&mut files.warnings);
    let parts = context::Parts {
        tools: tools.iter().map(|tool| (tool.spec().name.clone(), tool.summary().to_owned())).collect(),
        files,
        date: jiff::ZonedDateTime::now().date(),
        cwd: around.cwd.clone(),
    };
    Ok((context::assemble(&parts), warnings))
}

/// A flag's value is a text, unless a file of that name exists.
fn text_or_file(given: &str, cwd: &Path) -> Result<String, StartError> {
    let path = cwd.join(given);
    if !path.is_file() {
        return Ok(given.to_owned());
    }
    std::fs::read_to_string(&path).map_err(|source| StartError::PromptFile { path, source })
}
