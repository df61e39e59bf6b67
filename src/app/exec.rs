//! Performs what the full-screen program wants done in the world, and tells what became of it as messages.
//!
//! What takes time runs on tasks or threads of its own; only handing over the terminal happens here and now. An error is
//! always told: to the user, as a message.

use super::config_command::{self, ConfigCommand, ConfigCx, Scope};
use super::draft_keeper::DraftKeeper;
use super::effect::{Effect, How, Refine, SessionChoice};
use super::headless::Exit;
use super::job_log;
use super::msg::{Done, Msg, Opened, Reloaded};
use super::start::{self, Started, Surroundings};
use super::terminal::Terminal;
use super::voice::VoiceDesk;
use super::voice::clean_up::{Access, CleanUp};
use super::{folder_listing, git_branch, open_link, reload, theme_choice, update};
use crate::agent::handle::AgentHandle;
use crate::agent::outbox::Listener;
use crate::cli::{RunArgs, SessionArgs};
use crate::config::load;
use crate::config::save;
use crate::config::settings::setting;
use crate::proto::command::{Command, Prompt};
use crate::proto::entry::EntryKind;
use crate::proto::event::NoticeLevel;
use crate::proto::ids::{JobId, SessionId};
use crate::proto::model::ModelRef;
use crate::proto::prompt::PromptRecord;
use crate::proto::voice::{VoiceCommand, VoiceEvent};
use crate::store::error::reason;
use crate::store::log::Log;
use crate::store::{find, history};
use crate::term::clipboard::Clipboard;
use crate::term::{editor, handoff};
use crate::text::clean::for_line;
use crate::theme::mix::Rgb;
use crate::ui::layers::models::ModelItem;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// An agent that was left for another gets this long to stop its processes and save.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

/// An agent that has just been started, on its way to the loop.
pub struct NewAgent {
    /// The door to it.
    pub handle: AgentHandle,
    /// Everything it tells.
    pub events: Listener,
    /// What the screen needs to know.
    pub opened: Box<Opened>,
}

/// What reaches the loop from the tasks of this module.
pub enum Report {
    /// Something is done.
    Done(Done),
    /// The speech engine tells something.
    Voice(Box<VoiceEvent>),
    /// The same, and from now on this is what everything starts from.
    Around(Arc<Surroundings>, Done),
    /// A session is open.
    Agent(Box<NewAgent>),
}

/// Performs effects.
pub struct Exec {
    args: RunArgs,
    around: Arc<Surroundings>,
    reports: UnboundedSender<Report>,
    /// The agent that commands go to.
    agent: Option<AgentHandle>,
    /// The terminal's ground, for themes that are loaded later.
    page: Option<Rgb>,
    drafts: DraftKeeper,
    voice: VoiceDesk,
    clean_up: CleanUp,
    /// The terminal did not tell it, only that it is dark or light.
    page_is_assumed: bool,
}

/// What the loop does next.
#[derive(Debug)]
pub enum Flow {
    /// Goes on.
    On,
    /// Goes on with this message first.
    Tell(Box<Msg>),
    /// Ends the program.
    End(Exit),
}

impl Exec {
    /// Performs effects for a program that was started like this.
    pub fn new(
        args: RunArgs,
        around: Arc<Surroundings>,
        reports: UnboundedSender<Report>,
        page: Option<Rgb>,
    ) -> Self {
        let drafts = DraftKeeper::start(around.places.state.clone(), reports.clone());
        let voice = VoiceDesk::new(super::voice::speech::start);
        let clean_up = CleanUp::default();
        Self { args, around, reports, agent: None, page, page_is_assumed: false, drafts, voice, clean_up }
    }

    /// The terminal has told its ground. Returns whether it is another than was known.
    pub fn set_page(&mut self, page: Rgb) -> bool {
        self.page_is_assumed = false;
        self.page.replace(page) != Some(page)
    }

    /// The terminal has told that it is dark or light, and no colour so far.
    pub const fn assume_page(&mut self, page: Rgb) {
        self.page = Some(page);
        self.page_is_assumed = true;
    }

    /// The ground is not the terminal's word.
    pub const fn page_is_assumed(&self) -> bool {
        self.page_is_assumed
    }

    /// Sends commands to this agent from now on, and ends the one before.
    pub fn switch_to(&mut self, agent: AgentHandle) {
        if let Some(before) = self.agent.replace(agent) {
            let reports = self.reports.clone();
            tokio::spawn(async move {
                if let Err(error) = before.shutdown(SHUTDOWN_LIMIT).await {
                    let text = format!("The session before could not be ended properly: {error}");
                    tell(&reports, Done::Toast(NoticeLevel::Error, text));
                }
            });
        }
    }

    /// Ends the agent. The error says what was not saved.
    pub async fn end_agent(&mut self) -> Result<(), String> {
        match self.agent.take() {
            Some(agent) => agent.shutdown(SHUTDOWN_LIMIT).await,
            None => Ok(()),
        }
    }

    /// Waits until what is being written is kept.
    pub fn end_drafts(&mut self) {
        self.drafts.end();
    }

    /// Ends the speech engine: what is recorded is thrown away.
    pub fn end_voice(&mut self) {
        self.voice.end();
    }

    /// Performs one effect.
    pub fn run(&mut self, effect: Effect, terminal: &mut Terminal) -> Flow {
        match effect {
            Effect::Send(command) => self.send(command),
            Effect::Submit(prompt, how) => self.submit(prompt, how),
            Effect::Open(choice) => self.open(choice),
            Effect::Copy(text) => {
                let reports = self.reports.clone();
                terminal.copy(text, move |copied| tell(&reports, Done::Copied(copied)));
            }
            Effect::CopyCard { item, card, text } => {
                let reports = self.reports.clone();
                terminal.copy(text, move |copied| tell(&reports, Done::CardCopied { item, card, copied }));
            }
            Effect::GatherOn => tell(&self.reports, Done::GatherOn),
            Effect::CopySelection(text) => {
                let reports = self.reports.clone();
                terminal.copy_selection(text, move |copied| tell(&reports, Done::Copied(copied)));
            }
            Effect::Paste => {
                let reports = self.reports.clone();
                terminal.paste(move |read| tell(&reports, Done::Pasted(read)));
            }
            Effect::PastePrimary => {
                let reports = self.reports.clone();
                terminal.paste_primary(move |read| tell(&reports, Done::Pasted(read)));
            }
            Effect::OpenLink(url) => self.open_link(url, terminal.clipboard()),
            Effect::Edit(text) => return self.edit(&text, terminal),
            Effect::Suspend => return suspend(terminal),
            Effect::Repaint => terminal.repaint(),
            Effect::Mouse(on) => terminal.set_mouse(on),
            Effect::WheelOnly(on) => terminal.set_wheel_only(on),
            Effect::Keyboard(on) => terminal.set_keyboard(on),
            Effect::Ascii(ascii) => terminal.set_ascii(ascii),
            Effect::Title(on) => terminal.set_titled(on),
            Effect::LoadHistory => {
                let state = self.around.places.state.clone();
                self.in_background(move || match history::load(&state) {
                    Ok(records) => Done::History(records),
                    Err(error) => warning(format!("Earlier prompts can't be read: {}.", reason(&error))),
                });
            }
            Effect::Remember(record) => self.remember(record),
            Effect::KeepDraft(owner, draft) => self.drafts.keep(owner, draft),
            Effect::List(folder) => {
                let (cwd, home) = (self.around.cwd.clone(), self.around.places.home.clone());
                self.in_background(move || {
                    let entries = folder_listing::entries(&folder, &cwd, &home).into();
                    Done::Listing { folder, entries }
                });
            }
            Effect::FindBranch => {
                let cwd = self.around.cwd.clone();
                self.in_background(move || Done::Branch(git_branch::of(&cwd)));
            }
            Effect::ListSessions => {
                let around = self.around.clone();
                self.in_background(move || {
                    let sessions = find::list(&around.places, None);
                    Done::Sessions(sessions, jiff::Timestamp::now().as_millisecond())
                });
            }
            Effect::DeleteSession(path) => {
                if let Some(id) = find::id_of(&path) {
                    self.drafts.remove(SessionId::new(id));
                }
                self.in_background(move || delete_session(&path));
            }
            Effect::RenameSession(path, name) => {
                let reports = self.reports.clone();
                tokio::spawn(async move { tell(&reports, rename_session(path, name).await) });
            }
            Effect::LoadTheme(name) => {
                let (around, page) = (self.around.clone(), self.page);
                self.in_background(move || {
                    let (theme, warnings) = theme_choice::named(&name, &around, page);
                    match warnings.into_iter().next() {
                        Some(text) => warning(text),
                        None => Done::Theme(Box::new(theme)),
                    }
                });
            }
            Effect::Save { key, value } => self.save(key, value),
            Effect::Set { key, value } => self.set(key, value),
            Effect::Unset { key } => self.change(ConfigCommand::Unset { key }),
            Effect::Reload { asked, theme } => self.reload(asked, theme),
            Effect::ApplyColors => terminal.set_depth(theme_choice::depth(&self.around)),
            Effect::Trust(trusted) => {
                self.configure(if trusted { ConfigCommand::Trust } else { ConfigCommand::Untrust });
            }
            Effect::Voice(command) => self.voice(command),
            Effect::FindReference(recording) => self.clean_up.find_reference(recording, &self.around),
            Effect::StopRefining(recording) => self.clean_up.stop(recording),
            Effect::Refine(refine) => self.refine(*refine),
            Effect::ReadJobLog { id, from } => self.read_job_log(id, from),
            Effect::Quit(exit) => return Flow::End(exit),
        }
        Flow::On
    }

    fn refine(&mut self, refine: Refine) {
        let access = Access {
            around: self.around.clone(),
            api_key: self.args.api_key.clone(),
            offline: self.args.offline,
            session: self.agent.as_ref().map(|agent| agent.view().model.clone()),
        };
        let reports = self.reports.clone();
        self.clean_up.begin(refine, access, move |done| tell(&reports, done));
    }

    /// Reads on in the log of a job; without a place its end.
    fn read_job_log(&self, id: JobId, from: Option<u64>) {
        let Some(table) = self.agent.as_ref().map(|agent| Arc::clone(agent.jobs())) else { return };
        let reports = self.reports.clone();
        tokio::spawn(async move {
            let part = job_log::read(&table, &id, from).await;
            tell(&reports, Done::JobLog { id, part });
        });
    }

    fn voice(&mut self, command: VoiceCommand) {
        let reports = self.reports.clone();
        self.voice.send(command, &self.around.loaded.settings.voice.engine, move |event| {
            // Nobody listens once the program ends.
            let _ended = reports.send(Report::Voice(Box::new(event)));
        });
    }

    fn send(&self, command: Command) {
        match &self.agent {
            Some(agent) => agent.send(command),
            None => tell(&self.reports, warning("No session is open yet: this had no effect.".to_owned())),
        }
    }

    fn submit(&self, prompt: Prompt, how: How) {
        let Some(agent) = &self.agent else { return };
        let mut ticket = match how {
            How::Own(placement) => agent.submit(prompt, placement),
            How::Steer => agent.steer(prompt),
        };
        let reports = self.reports.clone();
        tokio::spawn(async move {
            if let Err(error) = ticket.accepted().await {
                tell(&reports, Done::Toast(NoticeLevel::Error, error));
            }
        });
    }

    fn open(&self, choice: SessionChoice) {
        let mut args = self.args.clone();
        if let Some(view) = self.agent.as_ref().map(AgentHandle::view) {
            // What was chosen meanwhile goes on, but a session that was left has its own model.
            args.permissions.yolo = false;
            args.permissions.permission_mode = Some(view.mode);
            let is_new = matches!(choice, SessionChoice::New);
            args.model = is_new.then(|| view.model.to_string());
            args.thinking = is_new.then_some(view.thinking);
        }
        args.session = choice.arguments(args.session);
        let (around, reports) = (self.around.clone(), self.reports.clone());
        let drafts = self.drafts.reader();
        tokio::spawn(async move {
            let report = match start::start(&args, &around, true).await {
                Ok(started) => {
                    let mut agent = new_agent(started);
                    if let Some(owner) = update::drafts::owner_of(&agent.opened.view) {
                        agent.opened.draft = drafts.load(owner).await;
                    }
                    Report::Agent(Box::new(agent))
                }
                Err(error) => Report::Done(Done::NotOpened(error.to_string())),
            };
            // Nobody listens once the program ends.
            let _ended = reports.send(report);
        });
    }

    /// Opens an address on a thread of its own: the program for it may run as long as the browser.
    fn open_link(&self, url: Arc<str>, clipboard: Option<Clipboard>) {
        let (around, reports) = (self.around.clone(), self.reports.clone());
        let started = std::thread::Builder::new().name("opener".to_owned()).spawn(move || {
            let secrets = around.models(None, true).0.secret_env_names();
            let opened = open_link::open(&url, &around.env, &secrets, || {
                tell(&reports, Done::Toast(NoticeLevel::Info, format!("Opening {}", for_line(&url))));
            });
            let Err(why) = opened else { return };
            match clipboard {
                Some(clipboard) => clipboard.copy(url.to_string(), move |copied| {
                    tell(&reports, Done::LinkCopied(why, copied));
                }),
                None => tell(
                    &reports,
                    warning(format!("Not opened ({why}), and nothing can be copied in this run.")),
                ),
            }
        });
        if let Err(error) = started {
            tell(&self.reports, warning(format!("Not opened: {}.", reason(&error))));
        }
    }

    fn edit(&self, text: &str, terminal: &Terminal) -> Flow {
        let command = editor::command(&self.around.env).to_owned();
        let folder = std::env::temp_dir();
        let edited = terminal.hand_over(|| editor::edit(&command, text, &folder));
        let edited = match edited {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        Flow::Tell(Box::new(Msg::Done(Done::Edited(edited))))
    }

    fn remember(&self, record: PromptRecord) {
        let (state, reports) = (self.around.places.state.clone(), self.reports.clone());
        tokio::task::spawn_blocking(move || {
            if let Err(error) = history::append(&state, &record) {
                let text = format!("The prompt can't be kept for later sessions: {}.", reason(&error));
                tell(&reports, warning(text));
            }
        });
    }

    fn save(&self, key: &'static str, value: String) {
        let file = load::user_file(&self.around.places);
        let reports = self.reports.clone();
        tokio::task::spawn_blocking(move || {
            let checked = setting(key).and_then(|meta| meta.kind.parse(&value));
            let Some(checked) = checked else { return };
            if let Err(error) = save::set(&file, key, &checked.value) {
                tell(&reports, warning(format!("It holds for this run only: {error}")));
            }
        });
    }

    fn set(&self, key: String, value: Option<String>) {
        let Some(value) = value else {
            let around = self.around.clone();
            self.in_background(move || match configured(&ConfigCommand::Get { key: key.clone() }, &around) {
                Ok(value) => Done::Toast(NoticeLevel::Info, format!("{key} is {value}")),
                Err(error) => warning(error),
            });
            return;
        };
        self.change(ConfigCommand::Set { key, value });
    }

    /// Changes the user's file.
    fn change(&self, command: ConfigCommand) {
        let (around, settings, reports) =
            (self.around.clone(), self.args.settings.clone(), self.reports.clone());
        tokio::task::spawn_blocking(move || {
            let (key, value) = match &command {
                ConfigCommand::Set { key, value } => (key.clone(), Some(value.clone())),
                ConfigCommand::Unset { key } => (key.clone(), None),
                _ => return,
            };
            let text = match configured(&command, &around) {
                Ok(text) => text,
                Err(why) => return tell(&reports, Done::NotSet { key, why }),
            };
            // The first line names the file: too long for one line of the screen, and of no use there.
            let but = text.lines().skip(1).collect::<Vec<_>>().join(" ");
            // As they would be after a start now: what this run was told otherwise still holds.
            match Surroundings::find(around.env.clone(), Some(&around.cwd), &settings) {
                Ok(now) => {
                    let holds = || now.loaded.values.get(key.as_str()).map(ToString::to_string);
                    let value = value.or_else(holds).unwrap_or_default();
                    let done = Done::Set { key, value, but, loaded: Box::new(now.loaded.clone()) };
                    let _ended = reports.send(Report::Around(Arc::new(now), done));
                }
                Err(_) => tell(&reports, Done::Toast(NoticeLevel::Info, text)),
            }
        });
    }

    /// Starts from here from now on.
    pub fn set_around(&mut self, around: Arc<Surroundings>) {
        self.around = around;
    }

    fn reload(&self, asked: bool, theme: String) {
        let (around, settings, page, reports) =
            (self.around.clone(), self.args.settings.clone(), self.page, self.reports.clone());
        tokio::task::spawn_blocking(move || {
            let (around, reloaded) = reload::read(&around, &settings, &theme, page);
            let done = Done::Reloaded(Box::new(Reloaded { asked, ..reloaded }));
            let _ended = reports.send(Report::Around(around, done));
        });
    }

    fn configure(&self, command: ConfigCommand) {
        let around = self.around.clone();
        self.in_background(move || match configured(&command, &around) {
            Ok(text) => Done::Toast(NoticeLevel::Info, text),
            Err(error) => warning(error),
        });
    }

    fn in_background(&self, work: impl FnOnce() -> Done + Send + 'static) {
        let reports = self.reports.clone();
        tokio::task::spawn_blocking(move || tell(&reports, work()));
    }
}

impl SessionChoice {
    /// The choice as the command line would say it; `started` is what it did say.
    fn arguments(self, started: SessionArgs) -> SessionArgs {
        let file = |path: PathBuf| Some(path.to_string_lossy().into_owned());
        match self {
            Self::AsStarted => started,
            Self::New => SessionArgs { no_session: started.no_session, ..SessionArgs::default() },
            Self::File(path) => SessionArgs { session: file(path), ..SessionArgs::default() },
            Self::CopyOf(path) => SessionArgs { fork: file(path), ..SessionArgs::default() },
        }
    }
}

/// Runs a command of `mynah config`; the error says that nothing was changed.
fn configured(command: &ConfigCommand, around: &Surroundings) -> Result<String, String> {
    let cx = ConfigCx { places: &around.places, project: &around.project_root, env: &around.env, flags: &[] };
    match config_command::run(command, Scope::User, cx) {
        Ok(text) => Ok(text.trim_end().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn tell(reports: &UnboundedSender<Report>, done: Done) {
    // Nobody listens once the program ends.
    let _ended = reports.send(Report::Done(done));
}

const fn warning(text: String) -> Done {
    Done::Toast(NoticeLevel::Warning, text)
}

fn new_agent(started: Started) -> NewAgent {
    let Started { handle, notices, history, models, .. } = started;
    let rows = models.list(None);
    let models = rows.into_iter().map(|row| ModelItem {
        model: ModelRef::new(row.provider, row.id),
        name: row.name,
        window: (row.context_window > 0).then_some(row.context_window),
        price: (row.price.input > 0.0 || row.price.output > 0.0)
            .then_some((row.price.input, row.price.output)),
        thinks: row.thinking,
        problem: (!row.has_key).then(|| "no key".to_owned()),
    });
    let opened = Opened { history, view: handle.view(), notices, models: models.collect(), draft: None };
    NewAgent { events: handle.events(), handle, opened: Box::new(opened) }
}

fn suspend(terminal: &Terminal) -> Flow {
    let outcome = terminal.hand_over(handoff::suspend);
    let error = match outcome {
        Ok(Ok(())) => return Flow::On,
        Ok(Err(error)) => reason(&error),
        Err(error) => error.to_string(),
    };
    Flow::Tell(Box::new(Msg::Done(warning(format!("Mynah could not be suspended: {error}")))))
}

fn delete_session(path: &PathBuf) -> Done {
    let outputs = path.with_extension("d");
    let removed = std::fs::remove_file(path).and_then(|()| match std::fs::remove_dir_all(&outputs) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    });
    match removed {
        Ok(()) => Done::Toast(NoticeLevel::Info, "The session is deleted.".to_owned()),
        Err(error) => warning(format!("{} can't be deleted: {}.", path.display(), reason(&error))),
    }
}

/// Names a session that nobody has open.
async fn rename_session(path: PathBuf, name: String) -> Done {
    let opened = tokio::task::spawn_blocking(move || Log::open(&path)).await;
    let saved = match opened {
        Ok(Ok((mut log, _))) => {
            let id = log.fresh_id();
            log.append(id, EntryKind::SessionInfo { name: name.clone() }, jiff::Timestamp::now());
            log.barrier().await.map_err(|error| error.to_string())
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match saved {
        Ok(()) => Done::Toast(NoticeLevel::Info, format!("The session is now called {name}.")),
        Err(error) => warning(format!("The session keeps its name: {error}")),
    }
}
