//! Turns a screen into a picture.
//!
//! ```text
//! shot OUT.png [--size COLSxROWS] [--scale N] [--light] < CAPTURE
//! shot OUT.png [--size COLSxROWS] [--scale N] [--light] [STEP …] -- COMMAND [ARGUMENT …]
//! ```
//!
//! A capture is what `tmux capture-pane -e -p -N` prints. A command runs in a terminal of its own; steps are done in order:
//! `--wait TEXT` (for a text on the screen), `--type TEXT`, `--key KEY` (`ctrl+c`, `shift+tab`, `F3`), `--quiet MILLIS` (until
//! nothing was written for so long). The picture shows the screen after the last step.

#![allow(clippy::print_stderr, reason = "a tool tells by printing")]

#[path = "shot/fonts.rs"]
mod fonts;
#[path = "shot/glyphs.rs"]
mod glyphs;
#[path = "shot/paint.rs"]
mod paint;

use anyhow::{Context, bail};
use mynah::testkit::pty::Program;
use mynah::testkit::terminal::Terminal;
use mynah::testkit::terminal::answers::Profile;
use paint::Palette;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Size};
use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

/// Height of letters in pixels at scale 1.
const LETTER_HEIGHT: f32 = 24.0;

enum Step {
    Wait(String),
    Type(String),
    Key(String),
    Quiet(Duration),
}

struct Arguments {
    picture: String,
    size: Option<Size>,
    scale: f32,
    palette: Palette,
    steps: Vec<Step>,
    command: Vec<String>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("shot: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let arguments = read_arguments(std::env::args().skip(1))?;
    let fonts = fonts::Fonts::find(LETTER_HEIGHT * arguments.scale)?;
    let (buffer, caret) = if arguments.command.is_empty() { capture(&arguments)? } else { play(&arguments)? };
    let picture = paint::paint(&buffer, caret, &fonts, &arguments.palette);
    picture.save(&arguments.picture).with_context(|| format!("could not write {}", arguments.picture))
}

fn read_arguments(mut words: impl Iterator<Item = String>) -> anyhow::Result<Arguments> {
    let picture = words.next().context("name the picture to write, for example screen.png")?;
    let mut arguments = Arguments {
        picture,
        size: None,
        scale: 1.0,
        palette: Palette::dark(),
        steps: Vec::new(),
        command: Vec::new(),
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value"));
        match word.as_str() {
            "--size" => arguments.size = Some(read_size(&value()?)?),
            "--scale" => arguments.scale = value()?.parse().context("--scale takes a number")?,
            "--light" => arguments.palette = Palette::light(),
            "--wait" => arguments.steps.push(Step::Wait(value()?)),
            "--type" => arguments.steps.push(Step::Type(value()?)),
            "--key" => arguments.steps.push(Step::Key(value()?)),
            "--quiet" => {
                let millis = value()?.parse().context("--quiet takes milliseconds")?;
                arguments.steps.push(Step::Quiet(Duration::from_millis(millis)));
            }
            "--" => {
                arguments.command = words.collect();
                break;
            }
            other => bail!("there is no option {other}"),
        }
    }
    Ok(arguments)
}

fn read_size(text: &str) -> anyhow::Result<Size> {
    let (columns, rows) = text.split_once('x').context("a size reads like 100x30")?;
    Ok(Size::new(columns.parse()?, rows.parse()?))
}

/// The screen that standard input describes, as large as the text is unless a size is given.
fn capture(arguments: &Arguments) -> anyhow::Result<(Buffer, Option<Position>)> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("could not read the capture")?;
    let text = text.trim_end_matches('\n');
    let size = arguments.size.unwrap_or_else(|| {
        // What is not text takes no room on a screen as wide as can be.
        let rows = u16::try_from(text.lines().count()).unwrap_or(u16::MAX);
        let mut wide = Terminal::new(Size::new(500, rows), Profile::Mute);
        wide.feed(text.replace('\n', "\r\n").as_bytes());
        let buffer = wide.to_buffer();
        let plain = ratatui::buffer::Cell::EMPTY;
        let used = buffer.content().chunks(500).map(|row| row.iter().rposition(|cell| *cell != plain));
        let columns = used.flatten().max().map_or(1, |last| last + 1);
        Size::new(u16::try_from(columns).unwrap_or(500), rows)
    });
    let mut terminal = Terminal::new(size, Profile::Mute);
    // Attributes go on over line ends, so it is one stream. A full row must not wrap before its line end comes.
    for (row, line) in text.lines().enumerate() {
        terminal.feed(format!("\x1b[{};1H{line}", row + 1).as_bytes());
    }
    Ok((terminal.to_buffer(), None))
}

/// The screen of a command after the steps.
fn play(arguments: &Arguments) -> anyhow::Result<(Buffer, Option<Position>)> {
    let (program, rest) = arguments.command.split_first().context("name a command behind --")?;
    let Size { width, height } = arguments.size.unwrap_or(Size::new(100, 30));
    let (red, green, blue) = arguments.palette.background;
    let mut pty = Program::new(program)
        .args(rest)
        .envs(std::env::vars_os())
        .folder(&std::env::current_dir()?)
        .size(width, height)
        .ground(red, green, blue)
        .start();
    for step in &arguments.steps {
        match step {
            Step::Wait(text) => pty.wait_for(text),
            Step::Type(text) => pty.type_text(text),
            Step::Key(key) => pty.press(key),
            Step::Quiet(silence) => pty.wait_quiet(*silence),
        }
    }
    Ok(pty.look(|terminal| (terminal.to_buffer(), terminal.caret())))
}
