//! Makes the pictures that the README shows: the real program in a project made up for it. The answers of the model are
//! written down, all else happens.
//!
//! ```text
//! cargo build --bin mynah && cargo run --example pictures [NAME …]
//! ```
//!
//! Each file `tests/tools/pictures/NAME.toml` is one picture, `project.toml` the project:
//!
//! ```text
//! size = [104, 36]            columns and rows
//! light = true                a light terminal
//! arguments = ["--yolo"]      for the program
//! keys = ["OPENAI_API_KEY"]   variables of keys that are set, so that the models behind them can be chosen
//! steps = [{ type = "…" }, { key = "enter" }, { wait = "…" }, { quiet = 300 }]    as in `shot`; wait
//!                             for what a key does before the screen's being quiet says anything
//!
//! [[answer]]                  of the model, in order
//! thinking = "…"
//! text = "…"
//! calls = [{ tool = "read", arguments = { path = "src/lexer.rs" } }]
//! usage = [9200, 8100]        tokens of the prompt, and how many of them were in the cache
//! ```

#![allow(clippy::print_stderr, reason = "a tool tells by printing")]

#[path = "shot/fonts.rs"]
mod fonts;
#[path = "shot/glyphs.rs"]
mod glyphs;
#[path = "shot/paint.rs"]
mod paint;

use anyhow::{Context, bail};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Program;
use mynah::testkit::server::{ModelServer, Step};
use paint::Palette;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Height of letters in pixels: small on the page, and still sharp on a display with many pixels.
const LETTER_HEIGHT: f32 = 24.0;

/// A page should not wait for its pictures.
const MOST_BYTES: u64 = 150 * 1024;

/// As long as tokens are on average, and as fast as a quick model says them: times and rates on the screen are like
/// those of a real one.
const TOKEN_CHARS: usize = 4;
const TOKEN_PAUSE: Duration = Duration::from_millis(12);

/// The name of the made-up model. No real one is said to have answered.
const MODEL: &str = "songbird";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Picture {
    size: (u16, u16),
    #[serde(default)]
    light: bool,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    keys: Vec<String>,
    steps: Vec<Do>,
    #[serde(default, rename = "answer")]
    answers: Vec<Answer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Do {
    Type(String),
    Key(String),
    Wait(String),
    Quiet(u64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    calls: Vec<Call>,
    usage: (u64, u64),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    arguments: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    name: String,
    files: BTreeMap<String, String>,
}

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pictures: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(wanted: &[String]) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("tests/tools/pictures");
    let project: Project = read(&folder.join("project.toml"))?;
    let fonts = fonts::Fonts::find(LETTER_HEIGHT)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().to_string_lossy().trim_end_matches(".toml").to_owned();
        if name != "project" && (wanted.is_empty() || wanted.contains(&name)) {
            names.push(name);
        }
    }
    names.sort();
    fs::create_dir_all(root.join("assets/pictures"))?;
    for name in &names {
        let picture: Picture = read(&folder.join(format!("{name}.toml")))?;
        let file = root.join(format!("assets/pictures/{name}.png"));
        take(&picture, &project, &fonts, &file).with_context(|| format!("no picture {name}"))?;
        let bytes = fs::metadata(&file)?.len();
        eprintln!("{name}.png: {} KiB", bytes / 1024);
        if bytes > MOST_BYTES {
            bail!("{name}.png is larger than {} KiB: show less", MOST_BYTES / 1024);
        }
    }
    Ok(())
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> anyhow::Result<T> {
    let text = fs::read_to_string(file).with_context(|| format!("could not read {}", file.display()))?;
    toml_edit::de::from_str(&text).with_context(|| format!("{} is not as it should be", file.display()))
}

fn take(picture: &Picture, project: &Project, fonts: &fonts::Fonts, file: &Path) -> anyhow::Result<()> {
    let home = Home::new();
    let folder = home.user().join("src").join(&project.name);
    for (path, text) in &project.files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        fs::write(path, text)?;
    }
    let server = ModelServer::start(picture.answers.iter().map(step).collect());
    write_models(&home, &server)?;
    let palette = if picture.light { Palette::light() } else { Palette::dark() };
    let (red, green, blue) = palette.background;
    let (columns, rows) = picture.size;
    let mut pty = Program::new(program()?)
        .envs(home.variables())
        .envs(toolchain())
        .envs(picture.keys.iter().map(|name| (name, "none")))
        .args(["--offline", "--model", MODEL])
        .args(&picture.arguments)
        .folder(&folder)
        .size(columns, rows)
        .ground(red, green, blue)
        .start();
    for step in &picture.steps {
        match step {
            Do::Type(text) => pty.type_text(text),
            Do::Key(key) => pty.press(key),
            Do::Wait(text) => pty.wait_for(text),
            Do::Quiet(millis) => pty.wait_quiet(Duration::from_millis(*millis)),
        }
    }
    let (buffer, caret) = pty.look(|terminal| (terminal.to_buffer(), terminal.caret()));
    let violations = server.violations();
    if !violations.is_empty() {
        bail!("the model was asked in a wrong way: {}", violations.join("; "));
    }
    let out = fs::File::create(file).with_context(|| format!("could not write {}", file.display()))?;
    let encoder = PngEncoder::new_with_quality(out, CompressionType::Best, FilterType::NoFilter);
    paint::paint(&buffer, caret, fonts, &palette).write_with_encoder(encoder)?;
    Ok(())
}

fn step(answer: &Answer) -> Step {
    let (input, cached) = answer.usage;
    let calls: usize = answer.calls.iter().map(|call| call.arguments.to_string().len()).sum();
    let output = (answer.thinking.len() + answer.text.len() + calls) / TOKEN_CHARS;
    let mut step = Step::text(answer.text.as_str())
        .usage(input, output as u64, cached)
        .pieces(TOKEN_CHARS)
        .drip(TOKEN_PAUSE);
    if !answer.thinking.is_empty() {
        step = step.thinking(answer.thinking.as_str());
    }
    for call in &answer.calls {
        step = step.call(call.tool.as_str(), call.arguments.clone());
    }
    step
}

fn write_models(home: &Home, server: &ModelServer) -> anyhow::Result<()> {
    let folder = home.mynah().join("config");
    fs::create_dir_all(&folder)?;
    let text = format!(
        "[providers.local]\nbaseUrl = \"{}\"\napi = \"openai-completions\"\napiKey = \"none\"\n\n\
         [[providers.local.models]]\nid = \"{MODEL}\"\ncontextWindow = 200000\nreasoning = true\n",
        server.openai_base_url()
    );
    fs::write(folder.join("models.toml"), text)?;
    Ok(())
}

/// The program that was built last, with the same profile as this tool.
fn program() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let program = here.parent().and_then(Path::parent).context("a build folder")?.join("mynah");
    if !program.exists() {
        bail!("{} is not there: cargo build --bin mynah", program.display());
    }
    Ok(program)
}

/// The made-up home has no Rust; the project's tests are run by the real one.
fn toolchain() -> Vec<(&'static str, String)> {
    let home = std::env::var("HOME").unwrap_or_default();
    let or = |name: &'static str, folder: &str| {
        (name, std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}")))
    };
    vec![or("RUSTUP_HOME", ".rustup"), or("CARGO_HOME", ".cargo")]
}
