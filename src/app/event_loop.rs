//! The full-screen program: one loop that turns the world into messages, performs effects, and draws when it is due.
//!
//! Invariants
//! - The first frame comes before any session is opened: no network, no folder, no log is waited for.
//! - Input goes before what the agent tells, and that before what time brings.
//! - With nothing to tell and nothing that changes by itself, the loop waits without a timer.
//! - However it ends, the agent is ended, then the terminal given back, then the last words are printed.

use super::effect::Effect;
use super::exec::{Exec, Flow, NewAgent, Report};
use super::frame::{Cause, FrameClock};
use super::headless::Exit;
use super::msg::{Done, Msg};
use super::signals::Signals;
use super::start::Surroundings;
use super::state::{AppState, Beginning};
use super::take_in::take_in;
use super::terminal::{Facts, Terminal};
use super::update::{self, Outcome};
use super::watch_files::FileWatch;
use super::{draw, farewell, theme_choice, title};
use crate::agent::outbox::Listener;
use crate::agent::view::SessionView;
use crate::cli::RunArgs;
use crate::config::keymap::Keymap;
use crate::proto::command::Prompt;
use crate::term::caps::Reply;
use crate::term::guard;
use crate::term::input::Input;
use crate::term::reader::Heard;
use crate::theme::mix::Rgb;
use crossterm::event::{KeyCode, KeyEvent};
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;

/// Events of the agent that are taken in before the loop looks for input again.
const MOST_EVENTS: usize = 64;

/// Rows that an input method draws on: a long word goes on in the next one.
const PREEDIT_ROWS: u16 = 2;
/// Grounds of dark and light terminals that do not tell theirs.
const DARK: Rgb = Rgb(0x1a, 0x1a, 0x1d);
const LIGHT: Rgb = Rgb(0xf7, 0xf6, 0xf2);

/// Runs the program on the terminal of this process, until the user leaves it.
///
/// # Errors
/// The terminal can't be used, or the system refuses signals. The terminal is as it was.
pub async fn run(args: RunArgs, around: Surroundings, prompts: Vec<Prompt>) -> anyhow::Result<Exit> {
    let signals = Signals::listen()?;
    guard::chain_panic_hook();
    let (hear, heard) = unbounded_channel();
    let log = stray_log(&around.places.state);
    let deliver = move |what| {
        // Nobody listens once the program ends.
        let _ended = hear.send(what);
    };
    let (terminal, facts) = Terminal::open(&around.env, &around.loaded.settings.screen, log, deliver)?;
    let around = Arc::new(around);
    let page = facts.caps.background.map(|[red, green, blue]| Rgb(red, green, blue));
    let (reports, reported) = unbounded_channel();
    let changes = reports.clone();
    let watch = FileWatch::start(&around.places, move || {
        // Nobody listens once the program ends.
        let _ended = changes.send(Report::Done(Done::FilesChanged));
    });
    // Kept until the program ends.
    let _watch = watch.map_err(|error| tracing::warn!("changed files are not noticed: {error}")).ok();
    let exec = Exec::new(args.clone(), around.clone(), reports, page);
    let now = Instant::now();
    let mut state = beginning(&args, &around, &facts, page, prompts, now);
    state.voice.key.set_tells_releases(terminal.tells_releases());
    let mut clock = FrameClock::new();
    clock.request(Cause::Input, now);
    let typed = facts.typed;
    let mut program = Loop { terminal, exec, clock, heard, reported, signals, agent: None };
    program.draw(&mut state);
    program.perform(&mut state, update::begin);
    for input in typed {
        program.tell(&mut state, Msg::Input(input));
    }
    let exit = program.turn(&mut state).await;
    program.perform(&mut state, update::drafts::keep_if_changed);
    program.exec.end_voice();
    program.exec.end_drafts();
    let saved = tokio::select! {
        saved = program.exec.end_agent() => saved,
        // Asked again while it saves: the user does not want to wait.
        _ = program.signals.next() => Ok(()),
    };
    let Loop { terminal, .. } = program;
    let is_heard = terminal.close(&farewell::text(&state));
    if let Err(error) = &saved {
        farewell::complain(error, is_heard);
    }
    Ok(if saved.is_err() && exit == Exit::Success { Exit::Failure } else { exit })
}

fn beginning(
    args: &RunArgs,
    around: &Surroundings,
    facts: &Facts,
    page: Option<Rgb>,
    prompts: Vec<Prompt>,
    now: Instant,
) -> AppState {
    let (theme, mut notices) = theme_choice::of_settings(around, page);
    let (keymap, warnings) = Keymap::load(&around.places);
    notices.extend(warnings.into_iter().map(|warning| warning.text));
    AppState::new(Beginning {
        loaded: around.loaded.clone(),
        cwd: around.cwd.clone(),
        home: around.places.home.clone(),
        term_program: around.env.get("TERM_PROGRAM").map(str::to_owned).or_else(|| facts.caps.name.clone()),
        no_session: args.session.no_session,
        pick_session: args.session.resume.as_deref() == Some(""),
        themes: theme_choice::names(around),
        theme,
        page_known: page.is_some(),
        keymap,
        notices,
        prompts,
        size: facts.size,
        now,
    })
}

/// Where what libraries print goes while the program has the terminal.
fn stray_log(state: &Path) -> Option<File> {
    let path = super::logging::path(state);
    let made = std::fs::create_dir_all(path.parent()?);
    let file = made.and_then(|()| OpenOptions::new().append(true).create(true).open(&path));
    // Better lost than on the screen.
    file.or_else(|_| OpenOptions::new().write(true).open("/dev/null")).ok()
}

/// The agent as the loop hears it.
struct Agent {
    events: Listener,
    view: watch::Receiver<Arc<SessionView>>,
}

struct Loop {
    terminal: Terminal,
    exec: Exec,
    clock: FrameClock,
    heard: UnboundedReceiver<Heard>,
    reported: UnboundedReceiver<Report>,
    signals: Signals,
    agent: Option<Agent>,
}

/// What the loop woke up for.
enum Woken {
    Signal(i32),
    Heard(Option<Heard>),
    Agent(AgentNews),
    Report(Report),
    /// The agent has told something that is not to wait for the next frame.
    Urgent,
    Deadline,
}

enum AgentNews {
    Event(Box<crate::proto::event::AgentEvent>),
    View(Arc<SessionView>),
    Ended,
}

impl Loop {
    /// Goes round until the program is to end.
    async fn turn(&mut self, state: &mut AppState) -> Exit {
        loop {
            if let Some(exit) = state.exit {
                return exit;
            }
            if self.clock.is_due(Instant::now()) {
                self.catch_up(state);
                self.draw(state);
            }
            if state.draft.due.is_some_and(|due| due <= Instant::now()) {
                self.perform(state, update::drafts::keep_if_changed);
            }
            if state.voice.key.due().is_some_and(|due| due <= Instant::now()) {
                self.perform(state, update::voice::time);
            }
            match self.wait(state.due()).await {
                Woken::Signal(number) => self.tell(state, Msg::Signal(number)),
                Woken::Heard(heard) => self.hear(state, heard),
                Woken::Agent(news) => self.agent_news(state, news),
                Woken::Report(report) => self.report(state, report),
                Woken::Urgent => {
                    if self.catch_up(state) {
                        self.clock.request(Cause::Input, Instant::now());
                    }
                }
                Woken::Deadline => {}
            }
        }
    }

    /// Takes in what the agent has told since the frame was asked for, so that the frame shows the newest.
    /// False when that is nothing.
    fn catch_up(&mut self, state: &mut AppState) -> bool {
        let Some(event) = self.agent.as_mut().and_then(|agent| agent.events.try_next()) else { return false };
        self.agent_news(state, AgentNews::Event(Box::new(event.event)));
        self.look_at_view(state);
        true
    }

    /// `due`: when something other than a frame is to be done.
    async fn wait(&mut self, due: Option<Instant>) -> Woken {
        let deaf_until = self.clock.deaf_until().filter(|until| *until > Instant::now());
        let listens = deaf_until.is_none();
        let deadline = self.clock.deadline().into_iter().chain(deaf_until).chain(due).min();
        tokio::select! {
            biased;
            number = self.signals.next() => Woken::Signal(number),
            heard = self.heard.recv() => Woken::Heard(heard),
            Some(report) = self.reported.recv() => Woken::Report(report),
            woken = next_of(&mut self.agent, listens) => woken,
            () = sleep_until(deadline) => Woken::Deadline,
        }
    }

    /// Takes in all that the terminal has told; one frame then shows it.
    fn hear(&mut self, state: &mut AppState, heard: Option<Heard>) {
        // What a key means depends on what runs: who presses the key that stops has seen that something does.
        self.look_at_view(state);
        let mut next = heard;
        while let Some(heard) = next {
            match heard {
                Heard::Input(Input::Reply(reply)) => self.late_answer(state, reply),
                Heard::Input(Input::Focus(has_focus)) => {
                    self.clock.set_focus(has_focus);
                    self.tell(state, Msg::Input(Input::Focus(has_focus)));
                }
                Heard::Input(input) => {
                    self.forget_preedit(state, &input);
                    self.tell(state, Msg::Input(input));
                }
                Heard::Continued => self.terminal.take_again(),
                Heard::Ended(error) => {
                    tracing::warn!("the terminal is gone: {error}");
                    self.tell(state, Msg::TerminalLost);
                }
            }
            if state.exit.is_some() {
                return;
            }
            next = self.heard.try_recv().ok();
        }
    }

    /// Before a character comes from an input method, the terminal shows over the cells from the caret on what it may
    /// become, and not every terminal draws these again when it is gone. We believe them unchanged, so they are written
    /// anew.
    fn forget_preedit(&self, state: &AppState, input: &Input) {
        let Input::Key(KeyEvent { code: KeyCode::Char(c), .. }) = input else { return };
        if let Some(caret) = state.scene.caret.filter(|_| !c.is_ascii()) {
            self.terminal.distrust(caret.y..caret.y.saturating_add(PREEDIT_ROWS));
        }
    }

    /// What the terminal says after the time limit still counts.
    fn late_answer(&mut self, state: &mut AppState, reply: Reply) {
        match reply {
            Reply::Background([red, green, blue]) => self.page_told(state, Rgb(red, green, blue)),
            Reply::Scheme { dark } => {
                // The colour itself tells more; but a terminal that never told it will not do so now.
                if !state.page_known || self.exec.page_is_assumed() {
                    self.exec.assume_page(if dark { DARK } else { LIGHT });
                    state.page_known = true;
                    self.perform(state, update::reload_theme);
                }
                self.terminal.ask_background();
            }
            reply => {
                if let Reply::Name(name) = &reply {
                    state.terminal_named(name);
                }
                let tells_keys = matches!(reply, Reply::KeyboardFlags(_));
                if self.terminal.learn(reply) {
                    self.clock.request(Cause::Input, Instant::now());
                }
                if tells_keys {
                    state.voice.key.set_tells_releases(self.terminal.tells_releases());
                }
            }
        }
    }

    /// The terminal's ground has become known, or changed.
    fn page_told(&mut self, state: &mut AppState, page: Rgb) {
        if self.exec.set_page(page) {
            state.page_known = true;
            self.perform(state, update::reload_theme);
        }
    }

    /// Takes in the agent's state, if another one was published.
    fn look_at_view(&mut self, state: &mut AppState) {
        let Some(agent) = &mut self.agent else { return };
        // An agent that has ended publishes nothing more; its events tell that.
        if agent.view.has_changed().unwrap_or(false) {
            let view = agent.view.borrow_and_update().clone();
            self.tell(state, Msg::View(view));
        }
    }

    /// A change of size that was not told, or is still on its way, is seen at the next frame at the latest.
    fn look_at_size(&mut self, state: &mut AppState) {
        if let Some((columns, rows)) = self.terminal.size().filter(|size| *size != state.size) {
            self.tell(state, Msg::Input(Input::Resize { columns, rows }));
        }
    }

    fn agent_news(&mut self, state: &mut AppState, news: AgentNews) {
        take_in(
            &mut (self, state),
            news,
            MOST_EVENTS,
            |(this, _)| {
                let event = this.agent.as_mut()?.events.try_next()?;
                Some(AgentNews::Event(Box::new(event.event)))
            },
            |(this, state), news| {
                match news {
                    AgentNews::Event(event) => this.tell(state, Msg::Agent(event)),
                    AgentNews::View(view) => this.tell(state, Msg::View(view)),
                    AgentNews::Ended => {
                        this.agent = None;
                        this.tell(state, Msg::AgentEnded);
                    }
                }
                this.heard.is_empty()
            },
        );
    }

    fn report(&mut self, state: &mut AppState, report: Report) {
        match report {
            Report::Done(done) => self.tell(state, Msg::Done(done)),
            Report::Voice(event) => self.tell(state, Msg::Voice(event)),
            Report::Around(around, done) => {
                self.exec.set_around(around);
                self.tell(state, Msg::Done(done));
            }
            Report::Agent(agent) => {
                let NewAgent { handle, events, opened } = *agent;
                self.agent = Some(Agent { events, view: handle.watch() });
                self.exec.switch_to(handle);
                self.tell(state, Msg::Done(Done::Opened(opened)));
            }
        }
    }

    /// Changes the state by a message and performs what follows.
    fn tell(&mut self, state: &mut AppState, msg: Msg) {
        let cause = match &msg {
            Msg::Agent(_) | Msg::View(_) => Cause::Stream,
            _ => Cause::Input,
        };
        self.perform_for(state, cause, |state, now| update::update(state, msg, now));
    }

    fn perform(&mut self, state: &mut AppState, change: impl FnOnce(&mut AppState, Instant) -> Outcome) {
        self.perform_for(state, Cause::Input, change);
    }

    fn perform_for(
        &mut self,
        state: &mut AppState,
        cause: Cause,
        change: impl FnOnce(&mut AppState, Instant) -> Outcome,
    ) {
        let now = Instant::now();
        let outcome = change(state, now);
        if outcome.changed {
            self.clock.request(cause, now);
        }
        for effect in outcome.effects {
            let is_handed_over = matches!(effect, Effect::Edit(_) | Effect::Suspend);
            if is_handed_over && state.draft.due.is_some() {
                // Nobody knows whether the program ever comes back.
                self.perform(state, update::drafts::keep_if_changed);
            }
            let is_keyboard = matches!(effect, Effect::Keyboard(_));
            let flow = self.exec.run(effect, &mut self.terminal);
            if is_keyboard {
                state.voice.key.set_tells_releases(self.terminal.tells_releases());
            }
            if is_handed_over {
                self.signals.forget_interrupts();
            }
            match flow {
                Flow::On => {}
                Flow::Tell(msg) => self.tell(state, *msg),
                Flow::End(exit) => state.exit = Some(exit),
            }
        }
    }

    fn draw(&mut self, state: &mut AppState) {
        self.look_at_size(state);
        let now = Instant::now();
        let size = state.size;
        self.terminal.show(size, |buffer| {
            let caret = draw::draw(state, now, buffer);
            (caret, state.scene.hits.links())
        });
        self.terminal.set_title(&title::of(state));
        self.clock.drawn(now, state.scene.next_deadline);
    }
}

/// What the agent tells next; never when there is none. While nobody `listens`, only what is not to wait.
async fn next_of(agent: &mut Option<Agent>, listens: bool) -> Woken {
    let Some(agent) = agent else { return std::future::pending().await };
    if !listens {
        agent.events.urgent().await;
        return Woken::Urgent;
    }
    let news = tokio::select! {
        biased;
        event = agent.events.next() => match event {
            Some(event) => AgentNews::Event(Box::new(event.event)),
            None => AgentNews::Ended,
        },
        Ok(()) = agent.view.changed() => AgentNews::View(agent.view.borrow_and_update().clone()),
    };
    Woken::Agent(news)
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}
