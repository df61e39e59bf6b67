//! A small screen to draw parts on, and the whole of them on one.

use crate::config::keymap::Keymap;
use crate::theme::Theme;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::scene::NextDeadline;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

static DARK: LazyLock<Theme> = LazyLock::new(Theme::quiet_dark);

pub(in crate::ui) struct Screen {
    pub buffer: Buffer,
    pub hits: HitMap<Target>,
    pub next: NextDeadline,
    pub theme: Theme,
    pub motion: bool,
    pub epoch: Instant,
    pub now: Instant,
}

impl Screen {
    pub fn new(width: u16, height: u16) -> Self {
        let epoch = Instant::now();
        Self {
            buffer: Buffer::empty(Rect::new(0, 0, width, height)),
            hits: HitMap::new(),
            next: NextDeadline::default(),
            theme: DARK.clone(),
            motion: true,
            epoch,
            now: epoch,
        }
    }

    /// At so many milliseconds after the beginning.
    pub fn at(&self, millis: u64) -> Instant {
        self.epoch + Duration::from_millis(millis)
    }

    pub fn draw(
        &mut self,
        draw: impl FnOnce(&Look<'_>, Rect, &mut Buffer, &mut HitMap<Target>, &mut NextDeadline),
    ) {
        // Reading the embedded files takes longer than drawing, and properties draw often.
        static KEYMAP: LazyLock<Keymap> = LazyLock::new(Keymap::defaults);
        let look = Look {
            theme: &self.theme,
            keymap: &KEYMAP,
            now: self.now,
            epoch: self.epoch,
            motion: self.motion,
            glyphs: true,
            display: crate::config::display::Display::default(),
            home: Path::new("/home/ada"),
            cwd: Path::new("/home/ada/src/tool"),
        };
        self.buffer.reset();
        self.hits = HitMap::new();
        self.next = NextDeadline::default();
        let area = self.buffer.area;
        draw(&look, area, &mut self.buffer, &mut self.hits, &mut self.next);
    }
}

/// A row as text, without the blanks at its end.
pub(in crate::ui) fn row(buffer: &Buffer, y: u16) -> String {
    let mut text = String::new();
    let mut x = 0;
    while x < buffer.area.width {
        let symbol = buffer[(x, y)].symbol();
        text.push_str(symbol);
        x += u16::try_from(crate::text::width::of(symbol).max(1)).unwrap();
    }
    text.trim_end_matches(' ').to_owned()
}

pub(super) fn text(buffer: &Buffer) -> String {
    (0..buffer.area.height).map(|y| row(buffer, y)).collect::<Vec<_>>().join("\n")
}

use super::composer_box::tests::composer;
use super::phase::tests::{Tape, thinking};
use super::queue_rows::{Queue, Waiting};
use super::regions::{Regions, Wants, split};
use super::{composer_box, footer, phase_line, queue_rows, start_page};
use crate::proto::ids::TicketId;
use crate::proto::message::Block;
use crate::proto::model::ModelRef;
use ratatui::layout::Position;

/// What stands on the screen.
struct Shown<'a> {
    queue: Queue,
    tape: &'a Tape,
    typed: &'a str,
    footer: footer::Footer,
    start: Option<&'static str>,
}

fn whole(screen: &mut Screen, shown: &Shown<'_>) -> Option<Position> {
    let area = screen.buffer.area;
    let composer = composer(shown.typed, area.width, 5);
    let mut caret = None;
    screen.draw(|look, area, buffer, hits, next| {
        let Regions { transcript, queue, phase, composer: text, rule, footer: low, completion, .. } = split(
            area,
            Wants {
                queue: queue_rows::height(&shown.queue),
                composer: composer.height(),
                completion: composer_box::completion_height(&composer),
                footer: footer::height(&shown.footer, look.theme, area.width),
                jobs: 0,
            },
        );
        if let Some(provider) = shown.start {
            let page = start_page::StartPage {
                version: "0.1.0".to_owned(),
                folder: "~/src/tool".to_owned(),
                model: Some((ModelRef::new(provider, "tour"), "Demo tour".to_owned())),
            };
            start_page::draw(&page, look, transcript, buffer);
        }
        queue_rows::draw(&shown.queue, look, queue, buffer, hits);
        let drawn = composer_box::draw(&composer, look, text, buffer, hits);
        phase_line::draw(&shown.tape.phase, look, phase, drawn.above.as_deref(), true, buffer, next);
        composer_box::draw_rule(&composer, drawn.below.as_deref(), look, rule, buffer);
        footer::draw(&shown.footer, look, low, buffer, hits, next);
        composer_box::draw_completions(&composer, look, completion, buffer, hits);
        caret = drawn.caret;
    });
    caret
}

fn working(screen: &mut Screen) -> Option<Position> {
    let mut tape = Tape::new(screen.epoch);
    tape.turn(0).round(0).begin(300).open(700, Block::text("")).append(700, "1234").finish(1000, 64);
    tape.round(70_000).begin(70_100).open(71_300, thinking()).append(72_000, &"x".repeat(1388));
    screen.now = screen.at(79_450);
    let waiting =
        |ticket, text: &str, held| Waiting { ticket: TicketId(ticket), text: text.to_owned(), held };
    let shown = Shown {
        queue: Queue {
            steering: vec!["use the lexer's own error type, not a string".to_owned()],
            waiting: vec![waiting(1, "then update the changelog", false), waiting(2, "and tag it", true)],
        },
        tape: &tape,
        typed: "and look at the CLI help too:\nit still says the input can't be empty",
        footer: footer::tests::sample(),
        start: None,
    };
    whole(screen, &shown)
}

#[test]
fn working_at_three_widths() {
    for (width, height) in [(60, 16), (100, 16), (160, 16)] {
        let mut screen = Screen::new(width, height);
        let caret = working(&mut screen);
        crate::assert_screen!("chrome", "working", &screen.buffer, caret);
    }
}

#[test]
fn working_in_other_themes() {
    for (case, theme) in [("working_light", Theme::quiet_light()), ("working_terminal", Theme::terminal())] {
        let mut screen = Screen::new(100, 16);
        screen.theme = theme;
        let caret = working(&mut screen);
        crate::assert_screen!("chrome", case, &screen.buffer, caret);
    }
}

#[test]
fn the_start() {
    for (width, height) in [(60, 20), (100, 20)] {
        let mut screen = Screen::new(width, height);
        let tape = Tape::new(screen.epoch);
        let footer = footer::Footer {
            place: "~/src/tool".to_owned(),
            model: Some(ModelRef::new("demo", "tour")),
            context: footer::Context { tokens: Some(0), window: 200_000 },
            ..footer::Footer::default()
        };
        let shown = Shown { queue: Queue::default(), tape: &tape, typed: "", footer, start: Some("demo") };
        let caret = whole(&mut screen, &shown);
        crate::assert_screen!("chrome", "start", &screen.buffer, caret);
    }
}

#[test]
fn completing() {
    for (case, theme) in [("completing", Theme::quiet_dark()), ("completing_terminal", Theme::terminal())] {
        let mut screen = Screen::new(100, 12);
        screen.theme = theme;
        let tape = Tape::new(screen.epoch);
        let mut footer = footer::tests::sample();
        footer.mode = crate::proto::ask::PermissionMode::Yolo;
        let shown = Shown { queue: Queue::default(), tape: &tape, typed: "/co", footer, start: None };
        let caret = whole(&mut screen, &shown);
        crate::assert_screen!("chrome", case, &screen.buffer, caret);
    }
}

/// The composer and the rule below it alone.
fn composed(screen: &mut Screen, composer: &super::super::composer::Composer) -> Option<Position> {
    let mut caret = None;
    screen.draw(|look, area, buffer, hits, _| {
        let (text, rule) = (area.height - 1, area.y + area.height - 1);
        let drawn = composer_box::draw(composer, look, Rect { height: text, ..area }, buffer, hits);
        let rule = Rect { y: rule, height: 1, ..area };
        composer_box::draw_rule(composer, drawn.below.as_deref(), look, rule, buffer);
        caret = drawn.caret;
    });
    caret
}

#[test]
fn a_search_and_a_jump() {
    use crate::config::action::Action;
    use crate::proto::prompt::PromptRecord;
    use crate::ui::composer::Input;
    let act = |composer: &mut super::super::composer::Composer, input: Input<'_>| {
        composer.handle(input, std::time::Instant::now());
    };
    for (case, theme) in [("searching", Theme::quiet_dark()), ("searching_terminal", Theme::terminal())] {
        let mut screen = Screen::new(60, 4);
        screen.theme = theme;
        let mut composer = composer("what I was writing", 60, 5);
        let text = "fix the parser of the Fixed\npoint numbers, and its docs".to_owned();
        let folder = "/home/ada".into();
        composer.history_mut().load(vec![PromptRecord { text, folder, pastes: Vec::new() }]);
        act(&mut composer, Input::Act(Action::HistorySearch));
        act(&mut composer, Input::Type("fix doc"));
        let caret = composed(&mut screen, &composer);
        crate::assert_screen!("chrome", case, &screen.buffer, caret);
    }
    let mut screen = Screen::new(60, 3);
    let mut composer = composer("one\ntwo\nthree\nfour", 60, 2);
    act(&mut composer, Input::Act(Action::TextStart));
    act(&mut composer, Input::Act(Action::JumpForward));
    let caret = composed(&mut screen, &composer);
    crate::assert_screen!("chrome", "jumping", &screen.buffer, caret);
}
