use super::*;
use crate::config::display::ThinkingStyle;
use crate::config::keymap::Keymap;
use crate::proto::event::NoticeLevel;
use crate::proto::ids::CallId;
use crate::proto::message::{
    AssistantMessage, BashExecutionMessage, Block, Message, StopReason, ToolResultMessage,
};
use crate::proto::usage::Usage;
use crate::text::clean;
use crate::text::markdown::stream::MarkdownStream;
use crate::theme::Theme;
use crate::transcript::held::{Arguments, Given};
use crate::transcript::item::{
    BlockRef, Call, CallPhase, CompactionPhase, Fold, Prose, Shell, Thinking, TurnEnd, TurnEndKind, User,
};
use crate::transcript::trail::Trail;
use crate::ui::paint;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

static KEYMAP: LazyLock<Keymap> = LazyLock::new(Keymap::defaults);
static NOW: LazyLock<Instant> = LazyLock::new(|| Instant::now() + Duration::from_secs(100_000));

fn look(theme: &Theme) -> Look<'_> {
    Look {
        theme,
        keymap: &KEYMAP,
        now: *NOW,
        epoch: *NOW,
        motion: true,
        glyphs: true,
        display: crate::config::display::Display::default(),
        home: Path::new("/home/me"),
        cwd: Path::new("/home/me/tool"),
    }
}

fn item(body: Body) -> Item {
    Item { entry: None, revision: 1, fold: Fold::Usual, at: None, body }
}

fn ago(millis: u64) -> Instant {
    *NOW - Duration::from_millis(millis)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn call(tool: &str, arguments: Value, phase: CallPhase) -> Item {
    item(Body::Call(Box::new(Call {
        id: CallId::new("c1"),
        tool: tool.to_owned(),
        arguments: Arguments::Told(object(arguments)),
        draft: String::new(),
        trail: Trail::default(),
        phase,
        chain: None,
        step_outputs: Vec::new(),
        steps_dropped: Vec::new(),
        wait: None,
        job_end: None,
        output: String::new(),
        output_dropped: 0,
    })))
}

fn result(tool: &str, text: &str, is_error: bool, details: Value, millis: Option<u64>) -> CallPhase {
    CallPhase::Done {
        result: Given::Told(Arc::new(ToolResultMessage {
            tool_call_id: CallId::new("c1"),
            tool_name: tool.to_owned(),
            content: vec![Block::text(text)],
            details: Some(details),
            usage: None,
            is_error,
            duration_ms: millis,
            timestamp: 0,
        })),
        ended: None,
        limit: None,
    }
}

fn done(tool: &str, arguments: Value, text: &str, details: Value, millis: u64) -> Item {
    call(tool, arguments, result(tool, text, false, details, Some(millis)))
}

fn failed(tool: &str, arguments: Value, text: &str, details: Value, millis: u64) -> Item {
    call(tool, arguments, result(tool, text, true, details, Some(millis)))
}

fn writing(tool: &str, draft: &str, millis: u64) -> Item {
    let mut item = call(tool, json!({}), CallPhase::Writing { since: Some(ago(millis)) });
    if let Body::Call(call) = &mut item.body {
        call.draft = draft.to_owned();
    }
    item
}

/// The limit that a shell call sets itself.
fn limit_of(tool: &str, arguments: &Value) -> Option<Duration> {
    let seconds =
        arguments.get("timeout").and_then(Value::as_f64).filter(|seconds| tool == "bash" && *seconds > 0.0);
    seconds.map(Duration::from_secs_f64)
}

fn running(tool: &str, arguments: Value, output: &str, dropped: u64, millis: u64) -> Item {
    let limit = limit_of(tool, &arguments);
    let mut item = call(tool, arguments, CallPhase::Running { since: ago(millis), limit });
    if let Body::Call(call) = &mut item.body {
        call.output = output.to_owned();
        call.output_dropped = dropped;
    }
    item
}

fn block(block: Block) -> Prose {
    let message = AssistantMessage {
        content: vec![block],
        api: String::new(),
        provider: String::new(),
        model: String::new(),
        response_model: None,
        usage: Usage::default(),
        stop_reason: StopReason::Stop,
        error_message: None,
        timestamp: 0,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: None,
        thinking_level: None,
    };
    Prose::Whole(BlockRef { message: Arc::new(Message::Assistant(message)), index: 0 })
}

fn thought(text: &str) -> Prose {
    block(Block::Thinking { thinking: text.to_owned(), thinking_signature: None, redacted: false })
}

fn live(text: &str) -> Prose {
    let mut stream = MarkdownStream::new();
    stream.push(text);
    Prose::Live(Box::new(stream))
}

fn user(text: &str, pictures: usize) -> Item {
    item(Body::User(User { text: text.to_owned(), pictures }))
}

fn reply(text: &str) -> Item {
    item(Body::Reply(block(Block::text(text))))
}

fn shell(command: &str, output: &str, exit_code: Option<i64>, shown_only: bool) -> Item {
    item(Body::Shell(Box::new(Shell::Done(Arc::new(Message::BashExecution(BashExecutionMessage {
        command: command.to_owned(),
        output: output.to_owned(),
        exit_code,
        cancelled: false,
        truncated: false,
        full_output_path: None,
        exclude_from_context: shown_only.then_some(true),
        timestamp: 0,
    }))))))
}

fn notice(level: NoticeLevel, text: &str) -> Item {
    item(Body::Notice { level, text: text.to_owned() })
}

fn end(how: TurnEndKind) -> Item {
    item(Body::TurnEnd(TurnEnd {
        how,
        took: Duration::from_millis(52_700),
        at: (15, 7),
        speed: Some(714),
        verb: None,
    }))
}

/// As the pane does it: calls that follow each other touch, all else has a gap.
fn screen(items: &[Item], theme: &Theme, width: u16, open: bool) -> Buffer {
    let look = look(theme);
    let mut layouts = Vec::new();
    let mut was_call = true;
    for item in items {
        let is_call = matches!(item.body, Body::Call(_));
        let gap = !(layouts.is_empty() || was_call && is_call);
        layouts.push((gap, lay_out(item, &EntryCx { look: &look, width, open })));
        was_call = is_call;
    }
    let height = layouts.iter().map(|(gap, layout)| usize::from(*gap) + layout.rows.len()).sum::<usize>();
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, u16::try_from(height).unwrap()));
    let mut y = 0;
    for (gap, layout) in &layouts {
        y += u16::from(*gap);
        for (at, row) in layout.rows.iter().enumerate() {
            if at == 0
                && let Some(mark) = &layout.mark
            {
                paint::spans(&mut buffer, Rect::new(0, y, width, 1), std::slice::from_ref(mark));
            }
            paint::row(&mut buffer, Rect::new(layout.indent, y, width - layout.indent, 1), row);
            y += 1;
        }
    }
    buffer
}

fn rows(item: &Item, width: u16, open: bool) -> Vec<String> {
    let theme = Theme::quiet_dark();
    let look = look(&theme);
    let layout = lay_out(item, &EntryCx { look: &look, width, open });
    layout.rows.iter().map(|row| row.drawn().trim_end().to_owned()).collect()
}

const TESTS: &str = "\u{1b}[1mrunning 3 tests\u{1b}[0m\ntest parser::empty_input ... \u{1b}[31mFAILED\u{1b}[0m\ntest \
                     ast::roundtrip ... \u{1b}[32mok\u{1b}[0m\n\nfailures:\n    parser::empty_input\n\n\u{1b}[31merror: test \
                     failed, to rerun pass `--lib`\u{1b}[0m";

const PATCH: &str = "--- src/lexer.rs\n+++ src/lexer.rs\n@@ -41,3 +41,4 @@\n fn tokens(&self) -> Result<Vec<Token>> {\n-    \
                     if self.buf.is_empty() { return Err(Error::Empty) }\n+    if self.buf.is_empty() { return Ok(Vec::new()) \
                     }\n+    let mut all = Vec::new();\n }\n";

fn numbered(count: usize) -> String {
    (1..=count).map(|line| format!("line {line}\n")).collect()
}

/// A conversation with one of everything that is over.
fn conversation() -> Vec<Item> {
    let grep = "a.rs:3: fn is_empty\na.rs:9: is_empty()\nb.rs:1: is_empty";
    vec![
        user("Make the parser accept empty input, add a test, and tell me what else breaks.", 2),
        item(Body::Thinking(Thinking {
            text: thought("I should read both."),
            since: None,
            took: Some(Duration::from_millis(3200)),
            trail: Trail::default(),
        })),
        reply(
            "The lexer rejects an empty buffer before the parser sees it. I'll read both, then change the *guard*.",
        ),
        done(
            "read",
            json!({"path": "/home/me/tool/src/lexer.rs", "offset": 1, "limit": 80}),
            &numbered(80),
            json!({}),
            12,
        ),
        done("grep", json!({"pattern": "is_empty", "path": "src", "glob": "*.rs"}), grep, json!({}), 34),
        done("edit", json!({"path": "src/lexer.rs"}), "Done.", json!({ "patch": PATCH }), 8),
        done("write", json!({"path": "~/notes.md", "content": numbered(6)}), "Done.", json!({}), 1900),
        failed(
            "bash",
            json!({"command": "cargo test parser\n# again"}),
            &format!("{TESTS}\n\nCommand exited with code 101"),
            json!({"exitCode": 101}),
            24_100,
        ),
        failed(
            "bash",
            json!({"command": "sleep 60", "timeout": 5}),
            "(no output)\n\nCommand timed out after 5 seconds",
            json!({}),
            5003,
        ),
        failed("bash", json!({"command": "sleep 60"}), "begun\n\nCommand aborted", json!({}), 700),
        failed(
            "bash",
            json!({"command": "rm -rf /"}),
            "The user refused this call and says: never do that",
            json!({}),
            0,
        ),
        failed("read", json!({"path": "src/gone.rs"}), "src/gone.rs does not exist.", json!({}), 2),
        done(
            "pull_link",
            json!({"url": "https://github.com/ratatui/ratatui", "deep": true}),
            &numbered(9),
            json!({}),
            4200,
        ),
        reply(
            "One caller unwraps the first token:\n```rust\nlet Some(first) = tokens.first() else {\n    return Ok(Ast::default());\n};\n```",
        ),
        shell("git status --short", " M src/lexer.rs\n", Some(0), false),
        shell("false", "", Some(1), true),
        item(Body::Custom {
            label: "Compacted".to_owned(),
            text: "# Goal\n- parser with `empty` input\n\n> quoted".to_owned(),
        }),
        notice(NoticeLevel::Info, "The model is now opus-5.5."),
        notice(NoticeLevel::Warning, "keymap.toml, line 3: no such action.\nThe default is kept."),
        notice(
            NoticeLevel::Error,
            "The session could not be saved: no space left on device. What is shown here is not lost yet.",
        ),
        end(TurnEndKind::Done),
        end(TurnEndKind::Stopped),
        end(TurnEndKind::Failed("The provider is overloaded. The prompt is kept: send it again.".to_owned())),
    ]
}

/// One of everything that goes on.
fn going_on() -> Vec<Item> {
    vec![
        item(Body::Thinking(Thinking {
            text: live(
                "The CLI help says the input can't be empty, which is no longer true.\n\n- so the text in `cli.rs` needs the \
                        same change\n- and the **example** that shows the error should go, I'd rather replace it by the new \
                        behaviour than delete it, since people look for it and nothing else in the help tells them what an \
                        empty input means",
            ),
            since: Some(ago(8190)),
            took: None,
            trail: Trail::default(),
        })),
        writing("", "", 300),
        writing("bash", "{\"command\":\"cargo test --wor", 1200),
        writing(
            "write",
            &format!("{{\"path\":\"src/new.rs\",\"content\":\"{}fn last", "fn one() {}\\n".repeat(100)),
            6200,
        ),
        call("edit", json!({"path": "src/a.rs", "edits": [{}, {}, {}]}), CallPhase::Asking),
        call("read", json!({"path": "src/b.rs", "offset": 20}), CallPhase::Queued),
        running("bash", json!({"command": "cargo test --workspace", "timeout": 120}), TESTS, 0, 31_000),
        running("bash", json!({"command": "yes"}), &numbered(300), 4096, 2_400),
        running("fetch", json!({"url": "https://example.org/a"}), "", 0, 400),
        call("bash", json!({"command": "ls"}), CallPhase::Dropped),
        item(Body::Shell(Box::new(Shell::Running {
            command: "make".to_owned(),
            output: "cc a.c\n".to_owned(),
            shown_only: false,
            since: ago(61_000),
        }))),
    ]
}

#[test]
fn a_conversation() {
    let items = conversation();
    for width in [60, 100, 160] {
        crate::assert_screen!("entries", "conversation", &screen(&items, &Theme::quiet_dark(), width, false));
    }
    crate::assert_screen!(
        "entries",
        "conversation_light",
        &screen(&items, &Theme::quiet_light(), 100, false)
    );
    crate::assert_screen!(
        "entries",
        "conversation_terminal",
        &screen(&items, &Theme::terminal(), 100, false)
    );
}

#[test]
fn all_of_it_open() {
    let mut items = conversation();
    // Eighty lines that say nothing.
    items.remove(3);
    crate::assert_screen!("entries", "open", &screen(&items, &Theme::quiet_dark(), 100, true));
}

/// Everything Markdown has, with wide characters, emoji and text from right to left.
const MARKDOWN: &str = "# Release 2.0 🚀\n\nIt is **faster**, *smaller* and `safer`; see [the notes](https://example.org/notes) or \
https://example.org/a/very/long/address/that/goes/on/and_on_and_on/until/it/has/to/be/wrapped?page=1#top.\n\n\
## Steps\n\n1. Build it:\n   ```sh\n   cargo build --release\n   ```\n2. Test it\n   - unit\n   - end to end\n     - 日本語のテスト\n\
- [x] done\n- [ ] open\n\n> A quote that says **something**\n> - and a list\n>\n> > and an inner one\n\n\
| Name | What it does | Since |\n|:--|---|--:|\n| `read` | reads a file, whole or in part, with the numbers of its lines | 1.0 |\n\
| 日本語 | 幅の広い文字 👩‍🚀 | 2.0 |\n| שלום | | 10.25 |\n\n\
Inline math $e^{i\\pi} + 1 = 0$ stays, and so does a note[^1].\n\n![A chart](chart.png)\n\n\
مرحبا بالعالم, keycaps 1️⃣ and flags 🇩🇪 🇫🇷.\n\n---\n\n#### Small head\n\n```rust\nfn main() {\n\tprintln!(\"{}\", 1);\n}\n```\n\n\
[^1]: The note.\n";

#[test]
fn markdown_that_people_read() {
    let items = [reply(MARKDOWN)];
    let (dark, light) = (Theme::quiet_dark(), Theme::quiet_light());
    crate::assert_screen!("entries", "markdown", &screen(&items, &dark, 60, true));
    crate::assert_screen!("entries", "markdown", &screen(&items, &dark, 100, true));
    crate::assert_screen!("entries", "markdown_light", &screen(&items, &light, 100, true));
    crate::assert_screen!("entries", "markdown", &screen(&items, &dark, 200, true));
    crate::assert_screen!("entries", "markdown", &screen(&items, &dark, 30, true));
}

#[test]
fn a_line_of_megabytes_holds_nothing_up() {
    let long = "let a=1;".repeat(640 * 1024);
    let items = [
        done("read", json!({"path": "a.min.js"}), &long, json!({}), 10),
        done("grep", json!({"pattern": "a"}), &format!("a.js:1:{long}"), json!({}), 10),
        done("bash", json!({"command": "cat a.min.js"}), &long, json!({}), 10),
        done(
            "edit",
            json!({"path": "a.min.js"}),
            "",
            json!({"patch": format!("--- a\n+++ a\n@@ -1 +1 @@\n-x\n+{long}\n")}),
            10,
        ),
        done("other", json!({}), &long, json!({}), 10),
        done("write", json!({"path": "a.min.js", "content": long.clone()}), "", json!({}), 10),
        user(&long, 0),
    ];
    for item in &items {
        for open in [false, true] {
            if matches!(item.body, Body::User(_)) && open {
                continue;
            }
            let theme = Theme::quiet_dark();
            let look = look(&theme);
            let layout = lay_out(item, &EntryCx { look: &look, width: 100, open });
            assert!(layout.rows.len() <= 2005, "{}", layout.rows.len());
        }
    }
    let read = rows(&items[0], 100, true);
    assert!(read.last().unwrap().contains("more of this line"), "{:?}", read.last());
}

#[test]
fn addresses_in_output_open() {
    let output = "ready\n  Local: \u{1b}[36mhttp://localhost:\u{1b}[1m5173\u{1b}[22m/\u{1b}[0m (ctrl+c)";
    let items = [
        (done("bash", json!({"command": "npm run dev"}), output, json!({}), 10), "http://localhost:5173/"),
        (done("other", json!({}), "see (https://a.b/c).", json!({}), 10), "https://a.b/c"),
        (done("grep", json!({"pattern": "x"}), "a.md:1: <https://a.b/d>", json!({}), 10), "https://a.b/d"),
        (user("look at https://a.b/e, please", 0), "https://a.b/e"),
        (notice(NoticeLevel::Info, "See https://a.b/f."), "https://a.b/f"),
    ];
    let theme = Theme::quiet_dark();
    let look = look(&theme);
    for (item, url) in &items {
        for width in [12, 30, 100] {
            let layout = lay_out(item, &EntryCx { look: &look, width, open: true });
            let mut shown = String::new();
            for row in &layout.rows {
                for link in &row.links {
                    assert_eq!(link.url.as_ref(), *url, "every row opens all of it");
                    shown.push_str(
                        &row.text_in(usize::from(link.columns.start)..usize::from(link.columns.end)),
                    );
                }
            }
            assert_eq!(shown, *url, "at {width}");
        }
    }
}

#[test]
fn what_goes_on() {
    for width in [60, 100] {
        crate::assert_screen!(
            "entries",
            "going_on",
            &screen(&going_on(), &Theme::quiet_dark(), width, false)
        );
    }
    crate::assert_screen!(
        "entries",
        "going_on_terminal",
        &screen(&going_on(), &Theme::terminal(), 100, false)
    );
}

#[test]
fn rails_tell_the_state() {
    let bash = json!({"command": "x"});
    let table = [
        (done("bash", bash.clone(), "", json!({}), 12), "✓  12ms"),
        (done("bash", bash.clone(), "", json!({"durationMs": 9}), 10_000), "✓  10.0s"),
        (call("bash", bash.clone(), result("bash", "", false, json!({}), None)), "✓"),
        (failed("bash", bash.clone(), "x\n\nCommand exited with code 3", json!({}), 5), "✗ exit 3  5ms"),
        (
            failed("bash", bash.clone(), "x\n\nCommand killed by signal SIGTERM", json!({}), 5),
            "✗ killed by SIGTERM  5ms",
        ),
        (
            failed("bash", bash.clone(), "x\n\nCommand timed out after 1 seconds", json!({}), 1002),
            "⧗ timed out  1.0s",
        ),
        (failed("bash", bash.clone(), "x\n\nCommand aborted", json!({}), 5), "■ stopped  5ms"),
        (failed("bash", bash.clone(), "The user refused this call.", json!({}), 5), "✗ not allowed"),
        (failed("ls", json!({}), "gone does not exist.", json!({}), 5), "✗ failed  5ms"),
        (call("bash", bash.clone(), CallPhase::Queued), "queued"),
        (call("bash", bash.clone(), CallPhase::Asking), "waits for you"),
        (call("bash", bash.clone(), CallPhase::Dropped), "■ stopped"),
        (running("bash", bash, "", 0, 449), "0.4s"),
        (running("bash", json!({"command": "x", "timeout": 120}), "", 0, 3100), "3.1s / 2m00s"),
        (running("bash", json!({"command": "x", "timeout": 0}), "", 0, 3100), "3.1s"),
        (writing("bash", "", 6290), "writing   6.2s"),
        (writing("bash", "{\"command\":\"éé", 6290), "writing   14 chars   6.2s"),
        (call("bash", json!({}), CallPhase::Writing { since: None }), "writing"),
        (shell("x", "", None, false), "✗ no exit code"),
    ];
    for (item, expected) in table {
        let row = rows(&item, 80, false).remove(0);
        assert!(row.ends_with(&format!("  {expected}")), "{expected}: {row}");
    }
}

#[test]
fn titles_tell_what_a_call_is_about() {
    let table = [
        ("bash", json!({"command": "\n a && b\n\tc\nd\n"}), "$ a && b  +2 lines"),
        ("bash", json!({"command": 3}), "bash"),
        ("bash", json!({"command": " "}), "bash"),
        ("read", json!({"path": "/home/me/x.rs"}), "read ~/x.rs"),
        ("read", json!({"path": "src/a.rs", "offset": 120, "limit": 61}), "read src/a.rs:120-180"),
        ("read", json!({"path": "src/a.rs", "offset": 120}), "read src/a.rs:120-"),
        ("read", json!({"path": "/x/skills/pdf/SKILL.md"}), "skill pdf"),
        ("read", json!({"path": "/x/AGENTS.md"}), "read AGENTS.md"),
        ("edit", json!({"path": "a", "edits": [{}, {}]}), "edit a · 2 edits"),
        ("write", json!({"path": "a", "content": "x"}), "write a · 1 line"),
        ("grep", json!({"pattern": "x", "ignoreCase": true}), "grep /x/i"),
        ("grep", json!({"pattern": "x", "path": ".", "glob": "*.rs"}), "grep /x/ (*.rs)"),
        ("find", json!({"pattern": "*.rs", "path": "src"}), "find *.rs in src"),
        ("ls", json!({}), "ls ."),
        ("fetch", json!({"raw": true, "url": "http://example.org"}), "fetch example.org"),
        ("odd", json!({"n": 3, "why": "because\nof"}), "odd because of"),
        ("odd", json!({"list": []}), "odd"),
        ("", json!({}), "call"),
    ];
    for (tool, arguments, expected) in table {
        let row = rows(&call(tool, arguments, CallPhase::Queued), 80, false).remove(0);
        let title = row.trim_start_matches("● ").trim_end_matches("queued").trim_end();
        assert_eq!(title, expected);
    }
}

#[test]
fn why_a_command_failed_is_not_cut_at_the_edge() {
    let said = format!("error: {} is missing", "a long reason ".repeat(6));
    let bash = json!({"command": "x"});
    let closed = |text: &str, item: fn(&str, Value, &str, Value, u64) -> Item| {
        rows(&item("bash", bash.clone(), text, json!({}), 5), 60, false).split_off(1)
    };
    let failed_rows = closed(&format!("{said}\n\nCommand exited with code 1"), failed);
    assert!(failed_rows.len() > 1 && failed_rows.concat().contains("is missing"), "{failed_rows:?}");
    // One line does not take the whole panel, and what went well stays short.
    let endless = closed(&format!("{}\n\nCommand exited with code 1", "word ".repeat(400)), failed);
    assert_eq!((endless.len(), endless[2].trim_end().ends_with('…')), (3, true), "{endless:?}");
    assert_eq!(closed(&said, done).len(), 1);
}

#[test]
fn the_rail_is_kept_and_the_title_gives_way() {
    let long = "x".repeat(200);
    let row = rows(&done("bash", json!({ "command": long }), "", json!({}), 12), 40, false).remove(0);
    assert_eq!(row, format!("● $ {}…  ✓  12ms", "x".repeat(40 - 4 - 1 - 2 - 7 - 1)));
    let item = done("read", json!({ "path": long }), "a\nb", json!({}), 12);
    let row = rows(&item, 60, false).remove(0);
    assert!(row.contains("xx… · 2 lines  ✓  12ms"), "{row}");
}

#[test]
fn a_hidden_line_is_told_or_shown() {
    let body = |lines: usize, details: Value| {
        let item = done("bash", json!({"command": "x"}), &numbered(lines), details, 1);
        rows(&item, 60, false).split_off(1)
    };
    assert_eq!(body(0, json!({})), [""; 0]);
    assert_eq!(body(5, json!({})).len(), 5);
    assert_eq!(body(5, json!({}))[0], "     line 1");
    assert_eq!(body(6, json!({}))[0], "     … 2 earlier lines · ctrl+o");
    assert_eq!(body(6, json!({}))[1], "     line 3");
    let cut = json!({"truncation": {"totalLines": 3004, "outputLines": 4}});
    assert_eq!(body(4, cut)[0], "     … 3,000 earlier lines · ctrl+o");
}

#[test]
fn an_edit_without_a_patch_shows_its_numbered_lines() {
    let details = json!({"diff": "    ...\n  9 alpha\n-10 beta\n+10 BETA\n+11 \n    ..."});
    let item = done("edit", json!({"path": "a.txt"}), "Done.", details, 1);
    let all = rows(&item, 40, false);
    assert_eq!(all[0], "● edit a.txt · +2 −1             ✓  1ms");
    assert_eq!(all[1..], ["      9   alpha", "     10 - beta", "     10 + BETA", "     11 +", "          …"]);
}

#[test]
fn open_rows_end_somewhere_and_name_the_file() {
    let details =
        json!({"truncation": {"totalLines": 9000, "outputLines": 5000}, "fullOutputPath": "/tmp/out.txt"});
    let item = done("bash", json!({"command": "x"}), &numbered(5000), details, 1);
    let all = rows(&item, 80, true);
    assert_eq!(all.len(), 1 + 1 + body::MOST_ROWS);
    assert_eq!(all[1], "     … 7,000 earlier lines, all in /tmp/out.txt");
    assert_eq!(all.last().map(String::as_str), Some("     line 5000"));
    let item = done("read", json!({"path": "a.txt"}), &numbered(5000), json!({}), 1);
    let all = rows(&item, 80, true);
    assert_eq!(all.last().map(String::as_str), Some("     … 3,000 more lines"));
}

#[test]
fn long_prompts_are_folded() {
    let long = user(&numbered(40), 0);
    let closed = rows(&long, 60, false);
    assert_eq!((closed.len(), closed[20].as_str()), (21, "  … 20 more lines · ctrl+o"));
    assert_eq!(rows(&long, 60, true).len(), 40);
    assert_eq!(rows(&user(&numbered(21), 0), 60, false).len(), 21, "the note would take the row of the line");
}

#[test]
fn thinking_in_its_states() {
    let thinking = |text: &str, since, took| {
        item(Body::Thinking(Thinking { text: thought(text), since, took, trail: Trail::default() }))
    };
    let took = Some(Duration::from_millis(3200));
    assert_eq!(rows(&thinking("a", None, took), 60, false), ["Thought for 3.2s"]);
    assert_eq!(rows(&thinking("a", None, None), 60, false), ["Thought"]);
    assert_eq!(rows(&thinking("", None, took), 60, true), ["Thought for 3.2s · not shown by the provider"]);
    assert_eq!(rows(&thinking("a\n\nb", None, took), 60, true), ["Thought for 3.2s", "a", "", "b"]);
    assert_eq!(rows(&thinking("a\n\nb", Some(ago(900)), None), 60, false), ["a\u{a0}· b"]);
    assert!(rows(&thinking("", Some(ago(900)), None), 60, false).is_empty());
    // Tenths also below a second, and minutes without them.
    for (millis, text) in [(420, "0.4s"), (54_960, "54.9s"), (65_300, "1m05s")] {
        let took = Some(Duration::from_millis(millis));
        assert_eq!(rows(&thinking("a", None, took), 60, false), [format!("Thought for {text}")]);
    }
}

#[test]
fn thinking_in_its_styles() {
    let theme = Theme::quiet_dark();
    let text = (1..=40).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
    let count = |style, since: Option<Instant>, open| {
        let took = since.is_none().then_some(Duration::from_secs(12));
        let thinking = Thinking { text: thought(&text), since, took, trail: Trail::default() };
        let mut look = look(&theme);
        look.display.thinking = style;
        lay_out(&item(Body::Thinking(thinking)), &EntryCx { look: &look, width: 42, open }).rows.len()
    };
    let whole = 8;
    // Rows while it goes on and afterwards, each as usual and toggled.
    let table = [
        (ThinkingStyle::Tail, [3, whole, 1, whole + 1]),
        (ThinkingStyle::Collapsed, [0, 3, 1, whole + 1]),
        (ThinkingStyle::Full, [3, whole, 1, whole + 1]),
    ];
    for (style, expected) in table {
        let live = Some(ago(900));
        let found = [(live, false), (live, true), (None, false), (None, true)]
            .map(|(since, open)| count(style, since, open));
        assert_eq!(found, expected, "{style:?}");
    }
}

#[test]
fn what_is_new_of_a_thought_shines_and_then_asks_for_nothing() {
    let theme = Theme::quiet_dark();
    let mut trail = Trail::default();
    let text = "an old thought and a new one";
    trail.grow(14, ago(2000));
    trail.grow(text.len(), ago(100));
    let thinking = Thinking { text: thought(text), since: Some(ago(3000)), took: None, trail };
    let item = item(Body::Thinking(thinking));
    let mut look = look(&theme);
    let base = theme.color(Role::ThinkingText);
    let cx = EntryCx { look: &look, width: 60, open: false };
    let layout = lay_out(&item, &cx);
    assert_eq!(layout.next, NextDeadline::default(), "it is kept while it shines");
    let (at, moving) = &layout.moving[0];
    let row_at = |millis: u64, next: &mut NextDeadline| {
        let look = Look { now: *NOW + Duration::from_millis(millis), ..look };
        moving.row(&EntryCx { look: &look, width: 60, open: false }, next)
    };
    let mut next = NextDeadline::default();
    let row = row_at(0, &mut next);
    assert_eq!(row.drawn(), layout.rows[*at].drawn());
    assert_eq!(row.spans.len(), 2);
    assert_eq!((&*row.spans[0].content, row.spans[0].style.fg), ("an old thought", Some(base)));
    assert_ne!(row.spans[1].style.fg, Some(base));
    assert!(next.animation.is_some() && next.figure.is_none());
    let mut next = NextDeadline::default();
    assert_eq!(row_at(601, &mut next).spans.len(), 1);
    assert_eq!(next, NextDeadline::default());
    look.motion = false;
    assert!(lay_out(&item, &EntryCx { look: &look, width: 60, open: false }).moving.is_empty());
}

#[test]
fn a_running_time_is_wrong_at_the_next_tenth() {
    let theme = Theme::quiet_dark();
    let next = |millis: u64, motion: bool| {
        let look = Look { motion, ..look(&theme) };
        let item = running("bash", json!({"command": "x"}), "", 0, millis);
        let layout = lay_out(&item, &EntryCx { look: &look, width: 80, open: false });
        // What stands under it is not laid out again because a clock moved.
        assert_eq!(layout.next, NextDeadline::default());
        let (at, band) = &layout.moving[0];
        let mut next = NextDeadline::default();
        let row = band.row(&EntryCx { look: &look, width: 80, open: false }, &mut next);
        assert_eq!((*at, row.text()), (0, layout.rows[0].text()));
        let left = next.figure.unwrap() - *NOW;
        (left.as_millis(), row.drawn().trim_end().rsplit(' ').next().unwrap().to_owned())
    };
    // On the grid of all motion, at the tenth or right after it.
    assert_eq!(next(3140, true), (80, "3.1s".to_owned()));
    assert_eq!(next(3100, true), (160, "3.1s".to_owned()));
    assert_eq!(next(3140, false), (880, "3.0s".to_owned()));
    assert_eq!(next(61_200, true), (800, "1m01s".to_owned()));
    let look = look(&theme);
    let over = done("bash", json!({"command": "x"}), "", json!({}), 1);
    let layout = lay_out(&over, &EntryCx { look: &look, width: 80, open: false });
    assert_eq!(layout.next, NextDeadline::default());
    assert!(layout.moving.is_empty());
}

#[test]
fn a_state_is_told_without_colours() {
    let words = |item: &Item| rows(item, 80, false).remove(0);
    let bash = json!({"command": "x"});
    let all = [
        words(&done("bash", bash.clone(), "", json!({}), 5)),
        words(&failed("bash", bash.clone(), "x\n\nCommand exited with code 3", json!({}), 5)),
        words(&failed("bash", bash.clone(), "x\n\nCommand timed out after 1 seconds", json!({}), 5)),
        words(&failed("bash", bash.clone(), "x\n\nCommand aborted", json!({}), 5)),
        words(&failed("bash", bash, "The user refused this call.", json!({}), 5)),
    ];
    let different: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(different.len(), all.len());
}

#[test]
fn long_lines_are_cut() {
    let line = format!("{}\n", "x".repeat(200_000));
    let item = done("bash", json!({"command": "x"}), &line.repeat(6), json!({}), 1);
    let shown = rows(&item, 80, false);
    assert_eq!(shown.len(), 6);
    assert!(shown[5].ends_with('…'));
}

#[test]
fn estimates_are_near() {
    let theme = Theme::quiet_dark();
    let look = look(&theme);
    for item in conversation().iter().chain(&going_on()) {
        let cx = EntryCx { look: &look, width: 80, open: false };
        // The pane's blank row above it counts in the estimate.
        let gap = usize::from(!matches!(item.body, Body::Call(_)));
        let (rows, guess) = (lay_out(item, &cx).rows.len() + gap, estimate(item, 80) as usize);
        assert!(guess <= rows * 2 && rows <= guess * 2, "{rows} rows, {guess} guessed: {item:?}");
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let odd = "[a-z \n\t日本é👩\u{fe0f}\u{200d}\u{202e}\u{1b}\\[;0-9mK\r\u{7}#*`>|:.-]{0,120}";
    prop_oneof![odd.prop_map(String::from), any::<String>(), "[a-z ]{0,400}", Just(numbered(30))]
}

fn any_phase() -> impl Strategy<Value = CallPhase> {
    let ends = prop::sample::select(vec![
        "",
        "\n\nCommand exited with code 1",
        "\n\nCommand timed out after 3 seconds",
        "\n\nCommand aborted",
        "\n\n[Showing lines 1-2 of 9. Full output: /x]",
    ]);
    let details = prop_oneof![
        Just(json!({})),
        Just(json!({ "patch": PATCH })),
        any_text().prop_map(|patch| json!({ "patch": format!("@@ -1,9 +1,9 @@\n{patch}") })),
        Just(json!({"truncation": {"totalLines": 70, "outputLines": 3}, "fullOutputPath": "/tmp/\u{202e}x"})),
    ];
    let over = (any_text(), ends, any::<bool>(), details, prop::option::of(0_u64..100_000)).prop_map(
        |(text, end, is_error, details, millis)| {
            result("any", &format!("{text}{end}"), is_error, details, millis)
        },
    );
    prop_oneof![
        3 => over,
        1 => Just(()).prop_map(|()| CallPhase::Queued),
        1 => Just(()).prop_map(|()| CallPhase::Asking),
        1 => Just(()).prop_map(|()| CallPhase::Dropped),
        1 => (0_u64..10_000_000).prop_map(|millis| CallPhase::Running { since: ago(millis), limit: None }),
        1 => prop::option::of(0_u64..90_000).prop_map(|millis| CallPhase::Writing { since: millis.map(ago) }),
    ]
}

fn any_item() -> impl Strategy<Value = Item> {
    let tools = prop::sample::select(vec![
        "bash",
        "read",
        "edit",
        "write",
        "grep",
        "find",
        "ls",
        "other",
        "\u{202e}x",
        "",
    ]);
    let calls = (tools, any_text(), any_text(), any_phase(), any_text()).prop_map(|(tool, one, two, phase, output)| {
        let arguments = json!({"command": one, "path": one, "pattern": one, "content": two, "glob": two, "offset": 3});
        let mut item = call(tool, arguments.clone(), phase);
        if let Body::Call(call) = &mut item.body {
            call.draft = arguments.to_string();
            call.output = output;
        }
        item
    });
    let levels = prop::sample::select(vec![NoticeLevel::Info, NoticeLevel::Warning, NoticeLevel::Error]);
    prop_oneof![
        4 => calls,
        1 => (any_text(), 0_usize..3).prop_map(|(text, pictures)| user(&text, pictures)),
        1 => any_text().prop_map(|text| reply(&text)),
        1 => (any_text(), any::<bool>()).prop_map(|(text, is_live)| item(Body::Thinking(Thinking {
            text: if is_live { live(&text) } else { thought(&text) },
            since: is_live.then(|| ago(4000)),
            took: None,
            trail: Trail::default(),
        }))),
        1 => (any_text(), any_text(), any::<bool>()).prop_map(|(one, two, only)| shell(&one, &two, Some(1), only)),
        1 => (any_text(), any_text()).prop_map(|(label, text)| item(Body::Custom { label, text })),
        1 => (levels, any_text()).prop_map(|(level, text)| notice(level, &text)),
        1 => any_text().prop_map(|text| end(TurnEndKind::Failed(text))),
        2 => bodies::any_chain(),
        1 => bodies::any_compaction(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_item_fits_every_window(item in any_item(), width in 1_u16..300, open: bool, glyphs: bool, other_tools: bool) {
        let theme = Theme::quiet_dark();
        let mut look = Look { glyphs, ..look(&theme) };
        look.display.other_tools = other_tools;
        let layout = lay_out(&item, &EntryCx { look: &look, width, open });
        let room = usize::from(width - layout.indent);
        prop_assert!(layout.indent < width);
        prop_assert_eq!(layout.mark.is_some(), layout.indent > 0 && !layout.rows.is_empty());
        let is_nothing = match &item.body {
            Body::Reply(prose) => layout.rows.is_empty() && prose.text().len() < 200,
            Body::Compaction(compaction) => matches!(compaction.phase, CompactionPhase::Cancelled { .. }),
            // What nobody can read yet is told by the phase line.
            Body::Thinking(thinking) => thinking.since.is_some(),
            _ => false,
        };
        for (at, moving) in &layout.moving {
            // What is new shines, so colours may differ; words may not, or nobody could select what is seen.
            let row = moving.row(&EntryCx { look: &look, width, open }, &mut NextDeadline::default());
            prop_assert!(row.width() <= room, "{} > {room}: {:?}", row.width(), row.drawn());
            prop_assert_eq!(Some(row.drawn()), layout.rows.get(*at).map(Row::drawn));
        }
        prop_assert!(is_nothing || !layout.rows.is_empty());
        for row in &layout.rows {
            prop_assert!(row.width() <= room, "{} > {room}: {:?}", row.width(), row.drawn());
            let drawn = row.drawn();
            prop_assert!(!drawn.chars().any(|c| clean::is_unsafe(c) || c == '\n' || c == '\t'), "{drawn:?}");
            prop_assert!(usize::from(row.gutter) <= usize::from(width) || row.is_decoration);
            if let Some((from, _)) = row.ground {
                prop_assert!(from < width);
            }
        }
        prop_assert!(layout.rows.is_sorted_by_key(|row| row.start));
        prop_assert!(estimate(&item, width) > 0);
    }
}

#[path = "tests_bodies.rs"]
mod bodies;

#[path = "tests_drafts.rs"]
mod drafts;
