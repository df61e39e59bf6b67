//! The binary on a terminal, with a session of 100,000 messages: how long a key takes while an answer streams, and what
//! it does when nobody does anything.

use super::figures::{millis, tell};
use super::judge;
use super::world::{LONG, message};
use mynah::proto::entry::EntryKind;
use mynah::proto::ids::SessionId;
use mynah::store::line::Header;
use mynah::store::log::Log;
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::{ModelServer, Step};
use std::path::Path;
use std::time::{Duration, Instant};

const MYNAH: &str = env!("CARGO_BIN_EXE_mynah");

/// Between two pieces: 500 tokens a second.
const PAUSE: Duration = Duration::from_millis(2);
const KEYS: usize = 200;
/// Between two keys: nobody types faster, and it is no multiple of the time between frames.
const BETWEEN_KEYS: Duration = Duration::from_millis(37);
const AT_REST: Duration = Duration::from_secs(5);

pub fn run() {
    let home = Home::new();
    let file = home.project().join("long.jsonl");
    write_session(&file, home.project());
    let words = "The guard must let an *empty* buffer pass, and `tokens` too.\n\n- one thing\n- another\n\n";
    // Longer than it takes to press all keys.
    let answer = words.repeat(2_000);
    let server = ModelServer::start(vec![Step::text(answer).pieces(4).drip(PAUSE)]);
    let begun = Instant::now();
    let mut pty = Program::new(MYNAH)
        .envs(home.variables())
        .envs([("OPENAI_BASE_URL", server.openai_base_url().as_str()), ("OPENAI_API_KEY", "x")])
        .folder(home.project())
        .size(120, 40)
        .args(["--model", "openai/bench", "--session"])
        .args([&file])
        .start();
    pty.wait_for("On to the next one");
    tell(&format!("session of {LONG} messages: exec to its end on screen"), millis(begun.elapsed()), "ms");

    pty.wait_quiet(Duration::from_millis(500));
    let rest = pty.activity_within(AT_REST);
    judge("at rest, bytes in 5 s", count(rest.bytes), 0.0, "bytes");
    judge("at rest, wake-ups in 5 s", count(rest.wake_ups), 0.0, "");

    pty.type_text("go");
    pty.wait_for("go");
    pty.press("enter");
    pty.wait_for("The guard must let");
    let mut times: Vec<f64> = (0..KEYS).map(|turn| key(&mut pty, turn)).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    tell("key to the terminal's bytes while 500 tokens/s stream, median", at(50), "ms");
    judge("key to the terminal's bytes while 500 tokens/s stream, p95", at(95), 8.0, "ms");
}

/// Types a letter, and waits until it stands in the composer.
fn key(pty: &mut Pty, turn: usize) -> f64 {
    std::thread::sleep(BETWEEN_KEYS);
    // A word that grows, and is taken back before it wraps.
    let letter = char::from(b'a' + u8::try_from(turn % 20).unwrap_or_default());
    if turn.is_multiple_of(20) {
        pty.press("ctrl+u");
        pty.wait_quiet(Duration::from_millis(1));
    }
    let want: String = (b'a'..=u8::try_from(u32::from(letter)).unwrap_or(b'a')).map(char::from).collect();
    let begun = Instant::now();
    pty.type_text(&letter.to_string());
    pty.wait_until("the letter", |terminal| {
        let text = terminal.text();
        text.lines().rev().take(12).any(|line| line.contains(&want))
    });
    millis(begun.elapsed())
}

fn count(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

fn write_session(path: &Path, folder: &Path) {
    let now = jiff::Timestamp::now();
    let header = Header::new(SessionId::fresh(), folder, now);
    let mut log = Log::create(path.to_owned(), header).expect("a new file");
    for index in 0..LONG {
        log.append(log.fresh_id(), EntryKind::Message { message: message(index) }, now);
    }
}
