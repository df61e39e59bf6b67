//! The state of the full-screen program. Changed only by [`super::update`], shown only by [`super::draw`].

use super::effect::SessionChoice;
use super::headless::Exit;
use super::slash;
use super::update::voice::Dictating;
use crate::agent::view::SessionView;
use crate::config::display::{Display, ThinkingStyle};
use crate::config::jobs::AtQuit;
use crate::config::key::Key;
use crate::config::keymap::Keymap;
use crate::config::load::Loaded;
use crate::config::settings::ScreenSettings;
use crate::config::verbs::Verbs;
use crate::proto::command::Prompt;
use crate::proto::event::NoticeLevel;
use crate::proto::ids::AskId;
use crate::term::wheel::{Wheel, events_a_notch};
use crate::text::clean;
use crate::theme::Theme;
use crate::transcript::conversation::Conversation;
use crate::transcript::item::Body;
use crate::ui::chrome::phase::Phase;
use crate::ui::composer::{Composer, Mark};
use crate::ui::jobs::ShownJobs;
use crate::ui::jobs::log::JobLog;
use crate::ui::layers::Layer;
use crate::ui::layers::models::ModelItem;
use crate::ui::look::Look;
use crate::ui::pane::{Gather, Pane};
use crate::ui::scene::Scene;
use crate::ui::target::Target;
use ratatui::layout::Position;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The look of a frame at a moment. Of fields, not of the whole state: what is drawn is changed while the look is borrowed.
/// Without focus nothing moves: each figure that changes would else move all the rest on, too, before nobody's eyes.
macro_rules! look_of {
    ($state:expr, $now:expr) => {
        $crate::ui::look::Look {
            theme: &$state.theme,
            keymap: &$state.keymap,
            now: $now,
            epoch: $state.epoch,
            motion: $state.motion && $state.has_focus,
            glyphs: $state.glyphs,
            display: $state.display,
            home: &$state.home,
            cwd: &$state.cwd,
        }
    };
}
pub(super) use look_of;

/// How long a passing notice is shown.
pub const TOAST_TIME: Duration = Duration::from_secs(6);

/// All of it.
pub struct AppState {
    /// Where we work.
    pub cwd: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
    /// Which key does what.
    pub keymap: Keymap,
    /// Roles to colours.
    pub theme: Theme,
    /// The theme as the setting names it.
    pub theme_name: String,
    /// The themes that can be chosen.
    pub themes: Vec<String>,
    /// The terminal has told its ground.
    pub page_known: bool,
    /// Marks beside colours.
    pub glyphs: bool,
    /// Things may move.
    pub motion: bool,
    /// The terminal has the focus, as far as it tells.
    pub has_focus: bool,
    /// How the transcript is shown.
    pub display: Display,
    /// What prompts are called while they run.
    pub verbs: Verbs,
    /// Enter steers the running turn.
    pub enter_steers: bool,
    /// What becomes of background jobs that run when the program is left.
    pub jobs_at_quit: AtQuit,
    /// The mouse is taken.
    pub mouse: bool,
    /// Of the mouse only the wheel.
    pub wheel_only: bool,
    /// A click on an address opens it.
    pub open_links: bool,
    /// Sessions are not kept.
    pub no_session: bool,
    /// Columns and rows.
    pub size: (u16, u16),
    /// When the program began.
    pub epoch: Instant,
    /// Tells the time of day where the user is. Tests put a fixed one in its place.
    pub time_of_day: fn() -> (u8, u8),
    /// The clock on the wall, in milliseconds since the Unix epoch. Tests put a fixed one in its place.
    pub wall_now: fn() -> i64,
    /// Tells hours, minutes and seconds of such a time where the user is.
    pub time_at: fn(i64) -> (u8, u8, u8),

    /// What is said.
    pub conversation: Conversation,
    /// Where it is on screen.
    pub pane: Pane,
    /// What is being written.
    pub composer: Composer,
    /// When it is to be kept.
    pub draft: DraftClock,
    /// What the turn does now.
    pub phase: Phase,
    /// Background jobs of the session.
    pub jobs: ShownJobs,
    /// The log of the one that is shown.
    pub job_log: Option<JobLog>,
    /// What lies over the page, the topmost last.
    pub layers: Vec<Layer>,
    /// The agent and its session.
    pub session: Session,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Something to know for a moment.
    pub toast: Option<Toast>,
    /// A folder whose entries have been asked for.
    pub listing: Option<String>,
    /// Turns wheel events into lines.
    pub wheel: Wheel,
    /// Events that the terminal sends for a notch, as far as its name tells.
    pub wheel_events: u8,
    /// Its name is known.
    terminal_known: bool,
    /// Gestures that depend on the one before.
    pub gestures: Gestures,
    /// The keys of a chord that was begun.
    pub chord: Vec<Key>,
    /// The settings as they were read last.
    pub loaded: Loaded,
    /// What is wrong in the files of settings, keys and colours, as told last.
    pub told: Vec<String>,
    /// Dictation.
    pub voice: Dictating,
    /// A long copy that is being put together.
    pub gather: Option<Gather>,
    /// What the last frame meant.
    pub scene: Scene<Target>,
    /// The program is to end.
    pub exit: Option<Exit>,
}

/// The agent and its session, as far as the screen knows.
#[derive(Default)]
pub struct Session {
    /// As last published; nothing before the first one is open.
    pub view: Option<Arc<SessionView>>,
    /// One is being opened.
    pub opening: bool,
    /// To be opened when that is done.
    pub next: Option<SessionChoice>,
    /// A new one stands in for one that could not be opened.
    pub fell_back: bool,
    /// Why the last one could not be opened, while none is.
    pub problem: Option<String>,
    /// The agent has ended by itself: nothing can be sent.
    pub dead: bool,
    /// What was sent before it was open.
    pub waiting: Vec<Early>,
    /// The models that can be chosen.
    pub models: Vec<ModelItem>,
    /// When the last model call ended, as the footer's clock shows it.
    pub clock: Option<(u8, u8)>,
    /// When that was; not known of a session that was resumed.
    pub responded: Option<Instant>,
    /// The last question that was answered here: a view from before the agent took the answer must not ask it again.
    pub answered: Option<AskId>,
}

/// Something that was sent before a session was open.
#[derive(Clone, Debug, PartialEq)]
pub enum Early {
    /// A prompt.
    Prompt(Prompt),
    /// A shell line.
    Shell {
        /// The command.
        command: String,
        /// Its result is only shown.
        shown_only: bool,
    },
}

/// When what is being written is to be kept.
#[derive(Debug, Default)]
pub struct DraftClock {
    /// What was written when that was looked at last.
    pub seen: Mark,
    /// When; never while nothing has changed.
    pub due: Option<Instant>,
}

/// Something to know for a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    /// How bad.
    pub level: NoticeLevel,
    /// One line.
    pub text: String,
    /// It is gone by then.
    pub until: Instant,
}

/// Gestures that depend on the one before.
#[derive(Debug, Default)]
pub struct Gestures {
    /// The last press of the key that quits when pressed twice.
    pub interrupt: Option<Instant>,
    /// The last key that typed something.
    pub typed: Option<Instant>,
    /// When the terminal got the focus.
    pub focused: Option<Instant>,
    /// The left button is held: where it went down.
    pub press: Option<Press>,
    /// The block that was copied last by a key: item, card.
    pub block: Option<(usize, usize)>,
    /// The address that was opened last by a key: item, and which of those in view.
    pub link: Option<(usize, usize)>,
    /// The last press: one soon after it at the same place is a double press.
    pub clicks: Option<Clicks>,
}

/// The left button is held.
#[derive(Debug)]
pub struct Press {
    /// What lay there.
    pub target: Target,
    /// How many layers lay over the page.
    pub layers: usize,
}

/// Presses at one place.
#[derive(Clone, Copy, Debug)]
pub struct Clicks {
    /// Where.
    pub at: Position,
    /// When the last one was.
    pub last: Instant,
    /// How many.
    pub count: u8,
    /// The item that the first of them opened or closed.
    pub toggled: Option<usize>,
}

/// What the state begins with.
pub struct Beginning {
    /// The settings in force, and where they come from.
    pub loaded: Loaded,
    /// Where we work.
    pub cwd: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
    /// The value of `TERM_PROGRAM`, or the name that the terminal gave.
    pub term_program: Option<String>,
    /// Sessions are not kept.
    pub no_session: bool,
    /// The user wants to choose a session first.
    pub pick_session: bool,
    /// The themes that can be chosen.
    pub themes: Vec<String>,
    /// The theme in force.
    pub theme: Theme,
    /// The terminal has told its ground.
    pub page_known: bool,
    /// Which key does what.
    pub keymap: Keymap,
    /// What the user should know.
    pub notices: Vec<String>,
    /// To be run first.
    pub prompts: Vec<Prompt>,
    /// Columns and rows.
    pub size: (u16, u16),
    /// When it begins.
    pub now: Instant,
}

fn wheel_of(screen: &ScreenSettings, events: u8) -> Wheel {
    Wheel::new(screen.wheel_events.unwrap_or(events), screen.wheel_lines)
}

impl AppState {
    /// A program that has just started: nothing is open yet.
    pub fn new(beginning: Beginning) -> Self {
        let settings = &beginning.loaded.settings;
        let screen = &settings.screen;
        let told = beginning.notices.clone();
        let mut composer = Composer::new(beginning.cwd.clone());
        composer.inform_completer(|completer| completer.set_commands(slash::completion_items()));
        let wheel_events = events_a_notch(beginning.term_program.as_deref());
        let mut pane = Pane::new();
        pane.set_sticky_heading(screen.sticky_heading);
        pane.set_scrollbar(screen.scrollbar);
        pane.set_show_thinking(settings.display.thinking == ThinkingStyle::Full);
        let mut conversation = Conversation::new();
        for text in beginning.notices {
            conversation.notice(NoticeLevel::Warning, text);
        }
        let mut state = Self {
            cwd: beginning.cwd,
            home: beginning.home,
            keymap: beginning.keymap,
            theme: beginning.theme,
            theme_name: screen.theme.clone(),
            themes: beginning.themes,
            page_known: beginning.page_known,
            glyphs: screen.glyphs,
            motion: !screen.reduced_motion,
            has_focus: true,
            display: settings.display,
            verbs: settings.verbs.clone(),
            enter_steers: settings.enter_steers,
            jobs_at_quit: settings.jobs.at_quit,
            mouse: screen.mouse,
            wheel_only: screen.wheel_only,
            open_links: screen.open_links,
            no_session: beginning.no_session,
            size: beginning.size,
            epoch: beginning.now,
            time_of_day: super::time_of_day::now,
            wall_now: super::time_of_day::wall,
            time_at: super::time_of_day::at,
            conversation,
            pane,
            composer,
            draft: DraftClock::default(),
            phase: Phase::default(),
            jobs: ShownJobs::default(),
            job_log: None,
            layers: Vec::new(),
            session: Session {
                waiting: beginning.prompts.into_iter().map(Early::Prompt).collect(),
                ..Session::default()
            },
            branch: None,
            toast: None,
            listing: None,
            wheel: wheel_of(screen, wheel_events),
            wheel_events,
            terminal_known: beginning.term_program.is_some(),
            gestures: Gestures::default(),
            chord: Vec::new(),
            told,
            loaded: beginning.loaded,
            voice: Dictating::default(),
            gather: None,
            scene: Scene::default(),
            exit: None,
        };
        state.tell_values();
        if beginning.pick_session {
            super::update::sessions::open_picker(&mut state);
        }
        state
    }

    /// The terminal tells its name, after it was waited for: the wheel goes by it, unless one was known already.
    pub fn terminal_named(&mut self, name: &str) {
        if !std::mem::replace(&mut self.terminal_known, true) {
            self.wheel_events = events_a_notch(Some(name));
            self.wheel = wheel_of(&self.loaded.settings.screen, self.wheel_events);
        }
    }

    /// When something is to be done although nothing happens, and not only drawn.
    pub fn due(&self) -> Option<Instant> {
        self.draft.due.into_iter().chain(self.voice.key.due()).min()
    }

    /// The wheel as the settings want it.
    pub fn set_wheel(&mut self, screen: &ScreenSettings) {
        self.wheel = wheel_of(screen, self.wheel_events);
    }

    /// All thinking in full, or none of it, whatever was wished for single ones.
    pub fn show_thinking(&mut self, show: bool) {
        self.pane.set_show_thinking(show);
        self.conversation.forget_folds(|body| matches!(body, Body::Thinking(_)));
    }

    /// The look of a frame.
    pub fn look(&self, now: Instant) -> Look<'_> {
        look_of!(self, now)
    }

    /// The window on the transcript, and what it takes to read in it.
    pub fn reading(&mut self, now: Instant) -> (&mut Pane, &mut Conversation, Look<'_>) {
        let look = look_of!(self, now);
        (&mut self.pane, &mut self.conversation, look)
    }

    /// A turn runs.
    pub fn is_running(&self) -> bool {
        self.session.view.as_ref().is_some_and(|view| view.running.is_some())
    }

    /// A shell line runs.
    pub fn is_shell_running(&self) -> bool {
        self.session.view.as_ref().is_some_and(|view| view.shell.is_some())
    }

    /// Prompts wait.
    pub fn has_waiting(&self) -> bool {
        self.session.view.as_ref().is_some_and(|view| !view.queue.is_empty() || !view.steering.is_empty())
    }

    /// Says something for a moment.
    pub fn toast(&mut self, level: NoticeLevel, text: impl Into<String>, now: Instant) {
        self.toast = Some(Toast { level, text: text.into(), until: now + TOAST_TIME });
    }

    /// Tells completion the values that are known only while the program runs.
    pub fn tell_values(&mut self) {
        let models = self.session.models.iter().filter(|item| item.problem.is_none());
        let models = models.map(|item| (item.model.to_string(), item.name.clone()));
        let models: Vec<_> = models.collect();
        let themes: Vec<_> = self.themes.iter().map(|name| (name.clone(), String::new())).collect();
        let settings: Vec<_> = crate::config::settings::SETTINGS
            .iter()
            .map(|meta| (meta.key.to_owned(), meta.text.to_owned()))
            .collect();
        self.tell_blocks();
        self.composer.inform_completer(|completer| {
            for (command, values) in [("model", models), ("theme", themes), ("set", settings)] {
                completer.set_values(command, slash::values(values));
            }
        });
    }

    /// Tells completion the blocks that can be copied: their numbers, and how each begins.
    pub fn tell_blocks(&mut self) {
        let blocks = self.conversation.last_blocks().map(|(_, blocks)| blocks).unwrap_or_default();
        let first_line = |text: &str| {
            let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            clean::for_line(line.trim())
        };
        let blocks = (1..)
            .zip(&blocks)
            .map(|(number, block): (usize, _)| (number.to_string(), first_line(&block.text)));
        let blocks: Vec<_> = blocks.collect();
        self.composer.inform_completer(|completer| completer.set_values("copy-block", slash::values(blocks)));
    }
}
