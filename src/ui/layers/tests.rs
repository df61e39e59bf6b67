use super::models::ModelItem;
use super::sessions::SessionItem;
use super::themes::ThemeItem;
use super::*;
use crate::assert_screen;
use crate::config::check::Value;
use crate::config::keymap::Keymap;
use crate::config::load::{Loaded, Origin};
use crate::config::settings::SETTINGS;
use crate::proto::ask::{AskPreview, PermissionAsk};
use crate::proto::ids::CallId;
use crate::theme::Theme;
use crate::theme::role::Role;
use proptest::prelude::*;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::path::Path;
use std::time::Duration;

const PATCH: &str = "--- a/src/lexer.rs\n+++ b/src/lexer.rs\n@@ -10,6 +10,7 @@ fn next\n     let start = self.at;\n-    while self.peek() != None {\n+    while let Some(c) = self.peek() {\n+        self.bump(c);\n         self.at += 1;\n     }\n     self.text(start)\n }\n";

fn ask(tool: &str, summary: &str, reason: &str, suggestions: &[&str]) -> PermissionAsk {
    PermissionAsk {
        id: AskId(7),
        call: CallId::new("call_1"),
        tool: tool.to_owned(),
        summary: summary.to_owned(),
        reason: reason.to_owned(),
        suggestions: suggestions.iter().map(|rule| (*rule).to_owned()).collect(),
        preview: Default::default(),
    }
}

fn card(ask: PermissionAsk, preview: AskPreview, now: Instant, was_typing: bool) -> Layer {
    let ask = PermissionAsk { preview, ..ask };
    Layer::Permission(Box::new(PermissionCard::new(ask, None, now, was_typing)))
}

fn bash(now: Instant) -> Layer {
    let command = "git status --short && cargo test --lib parser -- --nocapture 2>&1 | tail -n 40 > \"$OUT/parser.txt\"";
    let ask = ask(
        "bash",
        command,
        "Shell commands ask in edits mode.",
        &["bash(git status:*)", "bash(cargo test:*)"],
    );
    card(ask, AskPreview::Command(command.to_owned()), now, false)
}

fn edit(now: Instant) -> Layer {
    let ask = ask("edit", "src/lexer.rs", "Edits ask in ask mode.", &["edit(src/lexer.rs)", "edit(src/**)"]);
    let preview = AskPreview::Change { path: "src/lexer.rs".to_owned(), patch: PATCH.to_owned() };
    card(ask, preview, now, false)
}

/// A difference that fills any screen.
fn huge(now: Instant) -> Layer {
    let lines: String = (0..900).map(|line| format!("+    let value_{line} = {line};\n")).collect();
    let patch = format!("--- a/big.rs\n+++ b/big.rs\n@@ -1,0 +1,900 @@\n{lines}");
    let ask = ask("edit", "big.rs", "Edits ask in ask mode.", &["edit(big.rs)"]);
    card(ask, AskPreview::Change { path: "big.rs".to_owned(), patch }, now, false)
}

fn model(provider: &str, id: &str, name: &str, problem: Option<&str>) -> ModelItem {
    ModelItem {
        model: ModelRef::new(provider, id),
        name: name.to_owned(),
        window: Some(200_000),
        price: Some((3.0, 15.0)),
        thinks: true,
        problem: problem.map(str::to_owned),
    }
}

fn models() -> Layer {
    let mut items = vec![
        model("openai", "gpt-5", "GPT-5", Some("no key")),
        model("anthropic", "claude-opus-4-1", "Claude Opus 4.1", None),
        model("anthropic", "claude-sonnet-4-5", "Claude Sonnet 4.5", None),
        model("openrouter", "moonshotai/kimi-k2", "Kimi K2", None),
        model("ollama", "qwen3:8b", "qwen3:8b", None),
    ];
    items[3].price = Some((0.14, 2.49));
    items[3].thinks = false;
    items[4].price = Some((0.0, 0.0));
    items[4].window = Some(40_960);
    Layer::Models(Models::new(items, Some(ModelRef::new("anthropic", "claude-sonnet-4-5")), ""))
}

fn session(path: &str, name: Option<&str>, prompt: &str, hours: u64, cwd: &str) -> SessionItem {
    SessionItem {
        path: PathBuf::from(format!("/home/u/.local/share/mynah/{path}.jsonl")),
        name: name.map(str::to_owned),
        first_prompt: prompt.to_owned(),
        age: Duration::from_secs(hours * 3600),
        messages: Some(12 * (hours + 1)),
        cwd: PathBuf::from(cwd),
        text: String::new(),
        is_open: hours == 0,
    }
}

fn session_items() -> Vec<SessionItem> {
    vec![
        session(
            "a",
            None,
            "Why does the lexer loop on an unclosed string?\nSee below.",
            0,
            "/home/u/src/tool",
        ),
        session("b", Some("Release notes"), "Write the notes", 2, "/home/u/src/tool"),
        session(
            "c",
            None,
            "Add a flag for the colour depth and test it on all terminals that we know",
            80,
            "/home/u/src/tool",
        ),
        session("d", Some("Taxes"), "Sum up the table", 900, "/home/u/papers"),
    ]
}

fn sessions() -> Layer {
    Layer::Sessions(Box::new(Sessions::new(session_items(), PathBuf::from("/home/u/src/tool"), "")))
}

fn commands() -> Vec<CommandRow> {
    let row = |name: &str, argument: &str, text: &str| CommandRow {
        name: name.to_owned(),
        argument: argument.to_owned(),
        text: text.to_owned(),
    };
    vec![
        row("help", "", "Keys and commands"),
        row("model", "[search]", "Choose the model; an exact name switches at once"),
        row("compact", "[focus]", "Summarise the history to make room"),
        row("import", "<path>", "Open a session file"),
    ]
}

fn confirm() -> Layer {
    Layer::Confirm(Confirm::new(
        ConfirmKind::Quit,
        "Quit with 2 jobs running?",
        "cargo watch and a server still run. Kept jobs go on, and the next start of this session finds them.",
        &["Quit and keep them running", "Quit and stop them", "Stay"],
    ))
}

fn line() -> Layer {
    let kind = LineKind::ApiKey { provider: "anthropic".to_owned() };
    Layer::Line(PromptLine::new(
        kind,
        "Key of Anthropic",
        "It is kept in auth.toml, readable only by you",
        "sk-ant-1234",
    ))
}

/// The settings with a change of the user's, one of the environment's, and one of the project's.
fn settings() -> Layer {
    Layer::Settings(Box::new(Settings::new(&changed_settings())))
}

fn changed_settings() -> Loaded {
    let mut loaded = Loaded::defaults();
    let table = [
        ("model.default", Value::Text("anthropic/claude-sonnet-4-5".to_owned()), Origin::User),
        (
            "permissions.deny",
            Value::List(vec!["bash(rm:*)".to_owned(), "edit(**/*.lock)".to_owned()]),
            Origin::Project,
        ),
        ("network.offline", Value::Bool(true), Origin::Environment("MYNAH_OFFLINE".to_owned())),
        ("tools.bash_timeout_seconds", Value::Integer(600), Origin::Flag),
    ];
    for (key, value, origin) in table {
        loaded.values.insert(key, value.clone());
        if origin == Origin::User {
            loaded.own.insert(key, value);
        }
        loaded.origins.insert(key, origin);
    }
    loaded
}

struct Frame {
    buffer: Buffer,
    hits: HitMap<Target>,
    caret: Option<Position>,
}

fn draw(layer: &mut Layer, theme: &Theme, columns: u16, rows: u16) -> Frame {
    static KEYMAP: std::sync::LazyLock<Keymap> = std::sync::LazyLock::new(Keymap::defaults);
    draw_with(layer, theme, &KEYMAP, columns, rows)
}

fn draw_with(layer: &mut Layer, theme: &Theme, keymap: &Keymap, columns: u16, rows: u16) -> Frame {
    let now = Instant::now();
    let look = Look {
        theme,
        keymap,
        now,
        epoch: now,
        motion: false,
        glyphs: true,
        display: crate::config::display::Display::default(),
        home: Path::new("/home/u"),
        cwd: Path::new("/home/u/src/tool"),
    };
    let screen = Rect::new(0, 0, columns, rows);
    let mut buffer = Buffer::empty(screen);
    let text = Style::new().patch(theme.style(Role::Dim));
    for y in 0..rows {
        buffer.set_stringn(0, y, "page ".repeat(usize::from(columns) / 5 + 1), usize::from(columns), text);
    }
    let place =
        Place { screen, page: Rect { height: rows.saturating_sub(5).max(1).min(rows), ..screen }, level: 1 };
    let mut hits = HitMap::new();
    let caret = layer.draw(&look, &place, &mut buffer, &mut hits);
    Frame { buffer, hits, caret }
}

fn text(buffer: &Buffer) -> String {
    let row = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>() + "\n";
    (0..buffer.area.height).map(row).collect()
}

fn act(layer: &mut Layer, action: Action) -> LayerOutcome {
    layer.handle(LayerInput::Act(action), Instant::now() + Duration::from_secs(60))
}

fn permission(answer: PermissionAnswer) -> LayerOutcome {
    LayerOutcome::Done(Answer::Permission { ask: AskId(7), answer })
}

type Make = fn(Instant) -> Layer;

#[test]
fn how_they_look() {
    let dark = Theme::quiet_dark();
    let now = Instant::now();
    let layers: [(&str, Make); 9] = [
        ("permission-bash", bash),
        ("permission-edit", edit),
        ("models", |_| models()),
        ("sessions", |_| sessions()),
        ("help", |_| Layer::Help(Help::new(commands()))),
        ("palette", |_| Layer::Palette(Palette::new(commands()))),
        ("confirm", |_| confirm()),
        ("line", |_| line()),
        ("permission-huge", huge),
    ];
    for (case, make) in layers {
        for (columns, rows) in [(60, 20), (100, 30)] {
            let mut layer = make(now);
            let frame = draw(&mut layer, &dark, columns, rows);
            assert_screen!("layers", case, &frame.buffer, frame.caret);
        }
    }
    for (name, theme) in [("light", Theme::quiet_light()), ("terminal", Theme::terminal())] {
        for (case, make) in [("permission-bash", bash as Make), ("permission-edit", edit)] {
            let frame = draw(&mut make(now), &theme, 60, 20);
            assert_screen!("layers", format!("{case}-{name}"), &frame.buffer, frame.caret);
        }
        let frame = draw(&mut models(), &theme, 60, 20);
        assert_screen!("layers", format!("models-{name}"), &frame.buffer, frame.caret);
    }
    let frame = draw(&mut bash(now), &dark, 30, 8);
    assert_screen!("layers", "permission-bash", &frame.buffer, frame.caret);
}

#[test]
fn how_the_settings_look() {
    let (dark, light) = (Theme::quiet_dark(), Theme::quiet_light());
    for (columns, rows) in [(60, 20), (100, 30)] {
        for (case, theme) in
            [("settings", &dark), ("settings-light", &light), ("settings-contrast", &Theme::contrast_dark())]
        {
            let frame = draw(&mut settings(), theme, columns, rows);
            assert_screen!("layers", case, &frame.buffer, frame.caret);
        }
        let mut layer = settings();
        layer.handle(LayerInput::Type("attempts"), Instant::now());
        act(&mut layer, Action::Confirm);
        act(&mut layer, Action::SettingChange);
        layer.handle(LayerInput::Type("x"), Instant::now());
        let frame = draw(&mut layer, &dark, columns, rows);
        assert_screen!("layers", "settings-line", &frame.buffer, frame.caret);
        let frame = draw(&mut settings(), &Theme::terminal(), columns, rows);
        assert_screen!("layers", "settings-terminal", &frame.buffer, frame.caret);
    }
}

#[test]
fn on_a_small_screen_nothing_that_is_said_of_a_setting_is_cut() {
    let dark = Theme::quiet_dark();
    for origin in [
        Origin::Default,
        Origin::Project,
        Origin::Environment("MYNAH_COMPOSER_ENTER_WHILE_RUNNING".to_owned()),
    ] {
        let mut loaded = Loaded::defaults();
        for meta in SETTINGS {
            loaded.origins.insert(meta.key, origin.clone());
        }
        let mut layer = Layer::Settings(Box::new(Settings::new(&loaded)));
        for meta in SETTINGS {
            let frame = draw(&mut layer, &dark, 60, 20);
            let shown = text(&frame.buffer);
            let last = format!("A change holds {}.", meta.holds.as_str());
            assert!(shown.contains(meta.key) && shown.contains(&last), "{}:\n{shown}", meta.key);
            let rows: Vec<&str> = shown.lines().filter(|row| !row.starts_with("page")).collect();
            let row =
                rows.iter().find(|row| row.starts_with(" › ") && !row.contains("Search")).expect("selected");
            assert!(!row.contains('…'), "{row}");
            act(&mut layer, Action::ListDown);
        }
    }
}

#[test]
fn on_a_narrow_screen_values_go_before_where_they_come_from() {
    let loaded = Loaded::defaults();
    let mut layer = Layer::Settings(Box::new(Settings::new(&loaded)));
    for meta in SETTINGS {
        for columns in [36, 40, 48] {
            let frame = draw(&mut layer, &Theme::quiet_dark(), columns, 12);
            let shown = text(&frame.buffer);
            let row = shown.lines().find(|row| row.starts_with(" › ") && !row.contains("Search"));
            let value = loaded.values.get(meta.key).map(ToString::to_string).unwrap_or_default();
            let value = value.trim_matches('"');
            if value.len() <= 6 {
                assert!(row.is_some_and(|row| !row.contains('…')), "{}: {row:?}", meta.key);
            }
        }
        act(&mut layer, Action::ListDown);
    }
}

/// With keys of the user's that hide others, and a mistake.
#[test]
fn how_help_looks_with_conflicts() {
    let text = "[global]\nfly = \"f9\"\n[composer]\nredo = \"f1\"\n";
    let (keymap, _) = Keymap::defaults().patched(text, Path::new("/home/u/.config/mynah/keymap.toml"));
    for (columns, rows) in [(60, 20), (100, 30)] {
        let mut layer = Layer::Help(Help::new(commands()));
        let frame = draw_with(&mut layer, &Theme::quiet_dark(), &keymap, columns, rows);
        assert_screen!("layers", "help-conflicts", &frame.buffer, frame.caret);
    }
    let mut layer = Layer::Help(Help::new(commands()));
    let usual = draw(&mut layer, &Theme::quiet_dark(), 100, 30);
    assert!(!text_of(&usual).contains("Conflicts"));
}

fn text_of(frame: &Frame) -> String {
    text(&frame.buffer)
}

/// What is selected and what is asked is on every screen that has a row for it, and no key is named in half.
#[test]
fn on_any_size_the_focused_row_and_whole_hints_are_shown() {
    let dark = Theme::quiet_dark();
    // All that is narrow or low, and then in steps.
    let columns = || (1..=24_u16).step_by(3).chain([2, 30, 59, 60, 71, 72, 73, 100, 200]);
    let rows = || (1..=17_u16).chain([20, 30, 60]);
    let sizes = || columns().flat_map(|columns| rows().map(move |rows| (columns, rows)));
    for kind in 2..14 {
        let mut layer = any_layer(kind);
        // Somewhere in the middle of what can be chosen.
        for _ in 0..3 {
            act(&mut layer, Action::ListDown);
        }
        let wide = draw(&mut layer, &dark, 200, 60);
        let panel = wide.hits.areas_of(&Target::Layer).next().unwrap();
        let bar: String =
            (panel.x..panel.right()).map(|x| wide.buffer[(x, panel.bottom() - 1)].symbol()).collect();
        let hints: Vec<String> = bar.trim().split(" · ").map(str::to_owned).collect();
        for (columns, rows) in sizes() {
            let frame = draw(&mut layer, &dark, columns, rows);
            let panel = frame.hits.areas_of(&Target::Layer).next().unwrap();
            assert_eq!(panel.intersection(frame.buffer.area), panel, "{kind} at {columns}x{rows}");
            if kind != 12 && panel.height >= 5 {
                let y = panel.bottom() - 1;
                let bar: String = (panel.x..panel.right()).map(|x| frame.buffer[(x, y)].symbol()).collect();
                let shown: Vec<&str> = bar.trim().split(" · ").filter(|hint| !hint.is_empty()).collect();
                let is_whole = shown.iter().zip(&hints).all(|(shown, hint)| shown == hint);
                assert!(
                    is_whole && shown.len() <= hints.len(),
                    "{kind} at {columns}x{rows}: {bar:?} of {hints:?}"
                );
            }
            let selected =
                frame.buffer.area.positions().any(|at| frame.buffer[at].bg == dark.color(Role::SelectedBg));
            let has_rows = matches!(kind, 2 | 3 | 5 | 6 | 8 | 13);
            assert!(
                !has_rows || selected,
                "{kind} at {columns}x{rows}: nothing selected\n{}",
                text_of(&frame)
            );
        }
    }
}

#[test]
fn the_keys_of_a_card_answer() {
    let rule = "bash(git status:*)".to_owned();
    let table = [
        (Action::AllowOnce, PermissionAnswer::Once),
        (Action::Confirm, PermissionAnswer::Once),
        (Action::AllowSession, PermissionAnswer::Session { rule: rule.clone() }),
        (Action::AllowAlways, PermissionAnswer::Always { rule }),
        (Action::Deny, PermissionAnswer::No),
        (Action::Cancel, PermissionAnswer::No),
    ];
    for (action, answer) in table {
        assert_eq!(act(&mut bash(Instant::now()), action), permission(answer), "{action}");
    }
    let mut layer = bash(Instant::now());
    act(&mut layer, Action::ListDown);
    act(&mut layer, Action::Right);
    let rule = "bash(cargo test:*)".to_owned();
    assert_eq!(act(&mut layer, Action::Confirm), permission(PermissionAnswer::Session { rule }));
    assert_eq!(act(&mut layer, Action::Interrupt), LayerOutcome::Ignored);
    assert_eq!(act(&mut layer, Action::TakeBack), LayerOutcome::Unchanged);
}

#[test]
fn a_message_is_written_in_the_card() {
    let mut layer = bash(Instant::now());
    let later = Instant::now() + Duration::from_secs(60);
    assert_eq!(act(&mut layer, Action::DenyWithMessage), LayerOutcome::Changed);
    assert_eq!(layer.contexts(), [Context::Composer]);
    assert_eq!(act(&mut layer, Action::Submit), LayerOutcome::Unchanged, "nothing written");
    layer.handle(LayerInput::Type("yes, later"), later);
    let frame = draw(&mut layer, &Theme::quiet_dark(), 60, 20);
    assert!(text(&frame.buffer).contains("No: yes, later") && frame.caret.is_some());
    assert_eq!(act(&mut layer, Action::Cancel), LayerOutcome::Changed, "back to the answers");
    act(&mut layer, Action::DenyWithMessage);
    layer.handle(LayerInput::Paste("use\nmake"), later);
    let message = "use make".to_owned();
    assert_eq!(act(&mut layer, Action::Submit), permission(PermissionAnswer::NoWith { message }));
}

#[test]
fn what_is_typed_for_the_composer_does_not_answer() {
    let start = Instant::now();
    let after = |millis| start + Duration::from_millis(millis);
    let call = || ask("bash", "ls", "", &[]);
    let mut layer = card(call(), AskPreview::None, start, true);
    // Each key prolongs the time.
    for millis in [10, 250, 500, 790] {
        let input = LayerInput::Act(Action::AllowOnce);
        assert_eq!(layer.handle(input, after(millis)), LayerOutcome::Ignored, "{millis}");
    }
    assert_eq!(layer.handle(LayerInput::Act(Action::Cancel), after(800)), LayerOutcome::Unchanged);
    let yes = permission(PermissionAnswer::Once);
    assert_eq!(layer.handle(LayerInput::Act(Action::AllowOnce), after(1200)), yes);

    // Nobody typed: a key answers as soon as it can be meant, a click a moment later.
    let mut layer = card(call(), AskPreview::None, start, false);
    assert_eq!(layer.handle(LayerInput::Choice(0), after(200)), LayerOutcome::Unchanged);
    assert_eq!(layer.handle(LayerInput::Act(Action::AllowOnce), after(200)), yes);
    assert_eq!(layer.handle(LayerInput::Choice(0), after(300)), yes);
    let mut layer = card(call(), AskPreview::None, start, false);
    assert_eq!(layer.handle(LayerInput::Act(Action::AllowOnce), after(100)), LayerOutcome::Ignored);
}

#[test]
fn questions_are_plain() {
    let now = Instant::now();
    let new_file = AskPreview::Change {
        path: "/home/u/src/tool/src/new.rs".to_owned(),
        patch: "--- /dev/null\n+++ b/src/new.rs\n@@ -0,0 +1 @@\n+x\n".to_owned(),
    };
    let table = [
        (ask("bash", "ls", "", &[]), AskPreview::None, "Run this command?"),
        (ask("write", "src/new.rs", "", &[]), new_file, "Create src/new.rs?"),
        (ask("read", "~/.ssh/id", "`~/.ssh/id` may hold keys.", &[]), AskPreview::None, "Read a key file?"),
        (ask("fetch", "example.org", "", &[]), AskPreview::None, "Allow fetch?"),
    ];
    for (ask, preview, question) in table {
        let frame = draw(&mut card(ask, preview, now, false), &Theme::quiet_dark(), 60, 20);
        assert!(text(&frame.buffer).contains(question), "{question}");
        assert!(!text(&frame.buffer).contains("in this session"), "no rule, nothing to remember");
    }
    let hidden = AskPreview::Command("echo a\u{202e}b".to_owned());
    let mut layer = card(ask("bash", "x", "", &[]), hidden, now, false);
    assert!(text(&draw(&mut layer, &Theme::quiet_dark(), 60, 20).buffer).contains("control characters"));
}

#[test]
fn a_huge_difference_scrolls_and_the_answers_stay() {
    let mut layer = huge(Instant::now());
    let dark = Theme::quiet_dark();
    for (columns, rows) in [(60, 20), (30, 8), (100, 30)] {
        let frame = draw(&mut layer, &dark, columns, rows);
        for choice in 0..5 {
            assert!(
                frame.hits.areas_of(&Target::Choice(choice)).count() == 1,
                "{choice} at {columns}x{rows}"
            );
        }
        let covered = frame.hits.areas_of(&Target::Layer).next().unwrap();
        assert!(rows < 12 || covered.height <= rows * 3 / 5, "{covered}");
    }
    assert!(text(&draw(&mut layer, &dark, 60, 20).buffer).contains("value_0 "));
    assert_eq!(act(&mut layer, Action::ScrollDown), LayerOutcome::Changed);
    for _ in 0..1000 {
        act(&mut layer, Action::ListPageDown);
    }
    assert_eq!(act(&mut layer, Action::ScrollDown), LayerOutcome::Unchanged);
    assert!(text(&draw(&mut layer, &dark, 60, 20).buffer).contains("value_899"));
    assert_eq!(layer.handle(LayerInput::Wheel(-3), Instant::now()), LayerOutcome::Changed);
}

#[test]
fn models_without_a_key_come_last_and_are_not_taken() {
    let mut layer = models();
    let sonnet = ModelRef::new("anthropic", "claude-sonnet-4-5");
    assert_eq!(act(&mut layer, Action::Confirm), LayerOutcome::Done(Answer::Model(sonnet)));
    layer.handle(LayerInput::Type("gpt"), Instant::now());
    assert_eq!(act(&mut layer, Action::Confirm), LayerOutcome::Changed);
    act(&mut layer, Action::KillToStart);
    act(&mut layer, Action::ListUp);
    assert_eq!(act(&mut layer, Action::Confirm), LayerOutcome::Changed, "the last one, by way of the top");
    layer.handle(LayerInput::Type("kimi"), Instant::now());
    let kimi = ModelRef::new("openrouter", "moonshotai/kimi-k2");
    assert_eq!(layer.handle(LayerInput::Choice(0), Instant::now()), LayerOutcome::Done(Answer::Model(kimi)));
    assert_eq!(act(&mut layer, Action::Cancel), LayerOutcome::Closed);
    assert_eq!(act(&mut layer, Action::Help), LayerOutcome::Ignored);
}

#[test]
fn sessions_are_scoped_renamed_and_deleted() {
    let mut layer = sessions();
    let dark = Theme::quiet_dark();
    let shows = |layer: &mut Layer, part: &str| text(&draw(layer, &dark, 100, 30).buffer).contains(part);
    assert!(!shows(&mut layer, "Taxes"));
    act(&mut layer, Action::ListScope);
    assert!(shows(&mut layer, "Taxes") && shows(&mut layer, "~/papers"));
    act(&mut layer, Action::ListNamed);
    assert!(!shows(&mut layer, "Why does"));
    act(&mut layer, Action::ListNamed);
    act(&mut layer, Action::TextStart);
    assert_eq!(act(&mut layer, Action::ListDelete), LayerOutcome::Unchanged, "the open one");
    layer.handle(LayerInput::Type("taxes"), Instant::now());
    act(&mut layer, Action::ListRename);
    assert_eq!(layer.contexts(), [Context::Composer]);
    layer.handle(LayerInput::Type(" 2024"), Instant::now());
    assert!(draw(&mut layer, &dark, 60, 20).caret.is_some_and(|caret| caret.y > 1));
    let path = PathBuf::from("/home/u/.local/share/mynah/d.jsonl");
    let renamed = Answer::RenameSession { path: path.clone(), name: "Taxes 2024".to_owned() };
    assert_eq!(act(&mut layer, Action::Submit), LayerOutcome::Emit(renamed));
    assert!(shows(&mut layer, "Taxes 2024"));
    assert_eq!(act(&mut layer, Action::ListDelete), LayerOutcome::Changed);
    assert!(shows(&mut layer, "Delete this session?"));
    assert_eq!(act(&mut layer, Action::Cancel), LayerOutcome::Changed);
    act(&mut layer, Action::ListDelete);
    assert_eq!(act(&mut layer, Action::Confirm), LayerOutcome::Emit(Answer::DeleteSession { path }));
    assert!(!shows(&mut layer, "Taxes 2024"));
    assert_eq!(act(&mut layer, Action::Cancel), LayerOutcome::Closed);
}

#[test]
fn themes_are_shown_as_one_moves_and_esc_brings_the_former_back() {
    let item = |name: &str| ThemeItem { name: name.to_owned(), detail: "built in".to_owned() };
    let names = ["quiet-dark", "quiet-light", "terminal"];
    let mut layer = Layer::Themes(Themes::new(names.map(item).to_vec(), "quiet-light"));
    let theme = |name: &str, preview| Answer::Theme { name: name.to_owned(), preview };
    assert_eq!(act(&mut layer, Action::ListDown), LayerOutcome::Emit(theme("terminal", true)));
    assert_eq!(act(&mut layer, Action::Cancel), LayerOutcome::Done(theme("quiet-light", true)));
    assert_eq!(act(&mut layer, Action::Confirm), LayerOutcome::Done(theme("terminal", false)));
}

#[test]
fn the_palette_gives_actions_and_commands() {
    let mut layer = Layer::Palette(Palette::new(commands()));
    layer.handle(LayerInput::Type("next model"), Instant::now());
    assert_eq!(act(&mut layer, Action::Confirm), LayerOutcome::Done(Answer::Action(Action::NextModel)));
    act(&mut layer, Action::KillToStart);
    layer.handle(LayerInput::Type("/comp"), Instant::now());
    let compact = LayerOutcome::Done(Answer::Command("compact".to_owned()));
    assert_eq!(act(&mut layer, Action::Confirm), compact);
    assert_eq!(act(&mut layer, Action::ListPath), LayerOutcome::Unchanged, "not for what lies below");
    // What begins with it comes before what has it somewhere.
    act(&mut layer, Action::KillToStart);
    layer.handle(LayerInput::Type("mod"), Instant::now());
    let model = LayerOutcome::Done(Answer::Command("model".to_owned()));
    assert_eq!(act(&mut layer, Action::Confirm), model);
}

#[test]
fn a_question_does_nothing_unless_told_so() {
    assert_eq!(act(&mut confirm(), Action::Confirm), LayerOutcome::Closed);
    assert_eq!(act(&mut confirm(), Action::Deny), LayerOutcome::Closed);
    let second = LayerOutcome::Done(Answer::Confirmed { kind: ConfirmKind::Quit, choice: 1 });
    assert_eq!(act(&mut confirm(), Action::AllowSession), second);
    assert_eq!(act(&mut confirm(), Action::AllowAlways), LayerOutcome::Unchanged);
    let mut layer = confirm();
    act(&mut layer, Action::ListUp);
    assert_eq!(act(&mut layer, Action::Confirm), second);
}

#[test]
fn a_key_is_taken_but_never_shown() {
    let mut layer = line();
    let frame = draw(&mut layer, &Theme::quiet_dark(), 60, 20);
    assert!(!text(&frame.buffer).contains("sk-ant") && !format!("{layer:?}").contains("sk-ant"));
    layer.handle(LayerInput::Paste("5\n"), Instant::now());
    let kind = LineKind::ApiKey { provider: "anthropic".to_owned() };
    let answer = Answer::Line { kind, text: "sk-ant-12345".to_owned() };
    assert_eq!(act(&mut layer, Action::Submit), LayerOutcome::Done(answer));
}

#[test]
fn help_searches() {
    let mut layer = Layer::Help(Help::new(commands()));
    layer.handle(LayerInput::Type("summarise"), Instant::now());
    let frame = draw(&mut layer, &Theme::quiet_dark(), 100, 30);
    let shown = text(&frame.buffer);
    assert!(shown.contains("/compact [focus]") && !shown.contains("/import"));
    assert_eq!(act(&mut layer, Action::Cancel), LayerOutcome::Closed);
}

#[test]
fn ten_thousand_rows_are_searched_quickly() {
    let items =
        (0..10_000).map(|at| model("provider", &format!("vendor/model-{at}-instruct"), "A model", None));
    let mut layer = Layer::Models(Models::new(items.collect(), None, ""));
    let begun = Instant::now();
    for letter in ["9", "9", "9", "i"] {
        layer.handle(LayerInput::Type(letter), begun);
        draw(&mut layer, &Theme::quiet_dark(), 100, 30);
    }
    // Unoptimised, and on a machine that is busy with other things.
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let first = ModelRef::new("provider", "vendor/model-999-instruct");
    assert_eq!(act(&mut layer, Action::Confirm), LayerOutcome::Done(Answer::Model(first)));
}

fn any_layer(kind: usize) -> Layer {
    let now = Instant::now();
    match kind {
        0 => bash(now),
        1 => edit(now),
        2 => models(),
        3 => sessions(),
        4 => Layer::Help(Help::new(commands())),
        5 => Layer::Palette(Palette::new(commands())),
        6 => confirm(),
        7 => line(),
        13 => settings(),
        8 => Layer::Themes(Themes::new(vec![ThemeItem { name: "a".into(), detail: "b".into() }], "a")),
        9 => Layer::Models(Models::new(Vec::new(), None, "")),
        10 => Layer::Sessions(Box::new(Sessions::new(Vec::new(), PathBuf::new(), "x"))),
        11 => Layer::Confirm(Confirm::new(ConfirmKind::Trust, "日本語?", "", &[])),
        _ => huge(now),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_size_and_any_input(
        kind in 0_usize..14,
        columns in prop_oneof![1_u16..12, 12_u16..130, Just(500)],
        rows in prop_oneof![1_u16..12, 12_u16..60, Just(200)],
        steps in prop::collection::vec((0_usize..200, "\\PC{0,3}"), 0..12),
        theme in 0_usize..2,
    ) {
        let theme = [Theme::quiet_dark(), Theme::terminal()][theme].clone();
        let mut layer = any_layer(kind);
        let later = Instant::now() + Duration::from_secs(60);
        let last = steps.len().saturating_sub(1);
        for (at, (step, typed)) in steps.into_iter().enumerate() {
            let is_last = at == last;
            let input = match step {
                0..3 => LayerInput::Type(&typed),
                3 => LayerInput::Paste("pasted\ntext 日本 \u{1b}[2J"),
                4..8 => LayerInput::Choice(step),
                8 => LayerInput::Wheel(i32::MIN),
                9 => LayerInput::Wheel(i32::MAX),
                _ => LayerInput::Act(Action::ALL[step % Action::ALL.len()]),
            };
            layer.handle(input, later);
            let frame = draw(&mut layer, &theme, columns, rows);
            let screen = frame.buffer.area;
            prop_assert!(frame.caret.is_none_or(|caret| screen.contains(caret)), "{:?}", frame.caret);
            let panel = frame.hits.areas_of(&Target::Layer).next().unwrap();
            prop_assert_eq!(panel.intersection(screen), panel);
            prop_assert!(frame.caret.is_none_or(|caret| panel.contains(caret)));
            for choice in 0..8 {
                for area in frame.hits.areas_of(&Target::Choice(choice)) {
                    prop_assert_eq!(area.intersection(panel), area);
                }
            }
            if is_last {
                // Above and below the panel the page is untouched; beside it nothing sticks out.
                let cleared = panel.y.saturating_sub(1)..=panel.bottom();
            let mut page = Buffer::empty(screen);
            for y in 0..rows {
                let text = "page ".repeat(usize::from(columns) / 5 + 1);
                page.set_stringn(0, y, text, usize::from(columns), theme.style(Role::Dim));
            }
            for position in screen.positions().filter(|position| !panel.contains(*position)) {
                if cleared.contains(&position.y) && layer.is_modal() {
                    prop_assert_eq!(&frame.buffer[position], &ratatui::buffer::Cell::default());
                    continue;
                }
                prop_assert_eq!(&frame.buffer[position], &page[position]);
            }
            }
        }
    }
}
