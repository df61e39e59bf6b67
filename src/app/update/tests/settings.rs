//! The screen of settings, and files that change.

use crate::app::effect::Effect;
use crate::app::msg::{Done, Reloaded};
use crate::app::stage::Stage;
use crate::app::update::done::setting_written;
use crate::config::check::Value;
use crate::config::keymap::Keymap;
use crate::config::load::{Loaded, Origin};
use crate::config::settings::{Holds, SETTINGS, Settings};
use crate::theme::Theme;
use crate::ui::target::Target;
use std::path::Path;

fn set(key: &str, value: &str) -> Vec<Effect> {
    vec![Effect::Set { key: key.to_owned(), value: Some(value.to_owned()) }]
}

fn loaded(key: &'static str, value: Value, origin: Origin) -> Loaded {
    let mut loaded = Loaded::defaults();
    if origin == Origin::User {
        loaded.own.insert(key, value.clone());
    }
    loaded.values.insert(key, value);
    loaded.origins.insert(key, origin);
    loaded.settings = Settings::from_values(&loaded.values);
    loaded
}

fn written(stage: &mut Stage, key: &'static str, value: Value) -> Vec<Effect> {
    let text = value.to_string();
    let loaded = Box::new(loaded(key, value, Origin::User));
    stage.done(Done::Set { key: key.to_owned(), value: text, but: String::new(), loaded })
}

/// The screen with this setting selected.
fn on(search: &str) -> Stage {
    let mut stage = Stage::open();
    stage.key("f2");
    stage.key("/");
    stage.type_text(search);
    stage.key("enter");
    stage
}

#[test]
fn switches_and_choices_change_at_once() {
    let mut stage = on("screen.title");
    assert_eq!(stage.keys(&["enter"]), set("screen.title", "false"));
    assert_eq!(stage.keys(&["space"]), set("screen.title", "false"));
    assert_eq!(written(&mut stage, "screen.title", Value::Bool(false)), [Effect::Title(false)]);
    assert_eq!(stage.keys(&["right"]), set("screen.title", "true"), "from what holds now");
    assert_eq!(stage.keys(&["d"]), [Effect::Unset { key: "screen.title".to_owned() }]);

    let mut stage = on("permissions.mode");
    assert_eq!(stage.keys(&["right"]), set("permissions.mode", "edits"));
    assert_eq!(stage.keys(&["left"]), set("permissions.mode", "yolo"), "round the end");
    assert_eq!(stage.keys(&["delete"]), [], "the default needs no reset");
}

#[test]
fn texts_and_numbers_are_written_on_a_line_with_what_is_allowed() {
    let mut stage = on("max_attempts");
    assert_eq!(stage.keys(&["enter"]), []);
    assert!(stage.screen().contains("May be a whole number from 0 to 100."), "{}", stage.screen());
    stage.type_text("000");
    assert!(stage.screen().contains("This must be a whole number from 0 to 100."), "{}", stage.screen());
    assert_eq!(stage.keys(&["enter"]), [], "a mistake is not taken");
    assert_eq!(stage.keys(&["ctrl+u"]), []);
    stage.type_text("7");
    assert_eq!(stage.keys(&["enter"]), set("retry.max_attempts", "7"));
    written(&mut stage, "retry.max_attempts", Value::Integer(7));
    let shown = stage.screen();
    assert!(shown.contains("user, from the next session on"), "{shown}");
    stage.keys(&["enter", "ctrl+u"]);
    stage.type_text("8");
    assert_eq!(stage.keys(&["esc"]), [], "left as it is");
    assert_eq!(stage.state.layers.len(), 1);

    let mut stage = on("permissions.deny");
    stage.key("enter");
    stage.type_text("bash(rm:*), Rm -rf");
    assert!(stage.screen().contains("`Rm -rf` can't stand here"), "{}", stage.screen());
    assert_eq!(stage.keys(&["enter"]), []);
}

#[test]
fn what_overrides_a_setting_is_told() {
    for (origin, told) in [
        (Origin::Project, "The project sets it"),
        (
            Origin::Environment("MYNAH_SCREEN_MOUSE".to_owned()),
            "MYNAH_SCREEN_MOUSE in the environment sets it",
        ),
        (Origin::Flag, "The command line sets it"),
    ] {
        let mut stage = Stage::open();
        stage.state.loaded = loaded("screen.title", Value::Bool(false), origin);
        stage.keys(&["f2", "/"]);
        stage.type_text("screen.title");
        stage.key("enter");
        assert!(stage.screen().contains(told), "{}", stage.screen());
        // The user's own value is the default, whatever holds here.
        assert_eq!(stage.keys(&["enter"]), set("screen.title", "false"));
    }
}

#[test]
fn what_could_not_be_written_is_told_in_place() {
    let mut stage = on("screen.title");
    stage.done(Done::NotSet { key: "screen.title".to_owned(), why: "The disk is full.".to_owned() });
    assert_eq!(
        stage.screen().matches("The disk is full.").count(),
        2,
        "in the window and below: {}",
        stage.screen()
    );
}

#[test]
fn a_click_selects_and_a_second_one_changes() {
    let mut stage = on("screen.");
    stage.draw();
    assert_eq!(stage.click(&Target::Choice(3)), []);
    assert_eq!(stage.click(&Target::Choice(3)), set("screen.mouse", "wheel"));
}

#[test]
fn it_opens_by_key_command_and_palette_and_closes_from_the_inside_out() {
    let mut stage = Stage::open();
    stage.line("/settings");
    assert_eq!(stage.state.layers.len(), 1);
    stage.type_text("no such thing");
    assert!(stage.screen().contains("Nothing fits"));
    stage.key("esc");
    assert!(stage.screen().contains("max_attempts") || stage.screen().contains("default"));
    assert_eq!(stage.state.layers.len(), 1);
    stage.key("esc");
    assert!(stage.state.layers.is_empty());
    stage.keys(&["f2", "f2"]);
    assert!(stage.state.layers.is_empty());
    stage.key("ctrl+p");
    stage.type_text("settings");
    stage.key("enter");
    assert!(stage.screen().contains("› model") || stage.screen().contains("› default"), "{}", stage.screen());
}

#[test]
fn what_is_said_to_hold_at_once_does() {
    for meta in SETTINGS {
        let mut stage = Stage::open();
        let (_, from) = setting_written(&mut stage.state, meta.key, &Loaded::defaults().settings);
        assert_eq!(from == Holds::Now.as_str(), meta.holds == Holds::Now, "{}", meta.key);
    }
}

fn nothing() -> Reloaded {
    Reloaded {
        asked: false,
        loaded: Some(Loaded::defaults()),
        keymap: Some(Keymap::defaults()),
        theme: Some(Theme::quiet_dark()),
        themes: Stage::open().state.themes,
        mistakes: Vec::new(),
    }
}

#[test]
fn changed_files_are_taken_in() {
    let mut stage = Stage::open();
    let read = Effect::Reload { asked: false, theme: "quiet".to_owned() };
    assert_eq!(stage.done(Done::FilesChanged), [read]);
    let outcome = stage.tell(crate::app::msg::Msg::Done(Done::Reloaded(Box::new(nothing()))));
    assert_eq!((outcome.effects, outcome.changed), (vec![], false), "nothing is drawn for nothing");

    let settings = loaded("screen.title", Value::Bool(false), Origin::User);
    let (keys, _) = Keymap::defaults().patched("[global]\nhelp = \"f9\"", Path::new("keymap.toml"));
    let all = Reloaded {
        loaded: Some(settings),
        keymap: Some(keys),
        theme: Some(Theme::quiet_light()),
        ..nothing()
    };
    assert_eq!(stage.done(Done::Reloaded(Box::new(all))), [Effect::Title(false)]);
    assert_eq!(stage.toast(), "Read anew: settings, keys, colours.");
    assert_eq!(stage.state.theme.name(), "quiet-light");
    stage.key("f9");
    assert_eq!(stage.state.layers.len(), 1);
}

#[test]
fn a_broken_file_leaves_what_holds_and_is_told_once() {
    let mut stage = Stage::open();
    stage.state.mouse = false;
    let mistake = "/home/ada/.config/mynah/keymap.toml:3: this is no TOML: expected `=`.".to_owned();
    let broken =
        || Reloaded { loaded: None, keymap: None, theme: None, mistakes: vec![mistake.clone()], ..nothing() };
    assert_eq!(stage.done(Done::Reloaded(Box::new(broken()))), []);
    assert_eq!(stage.toast(), "keymap.toml:3: this is no TOML: expected `=`.");
    assert_eq!(stage.state.keymap, Keymap::defaults());
    assert_eq!(stage.state.conversation.len(), 1, "the whole text stays");
    stage.done(Done::Reloaded(Box::new(broken())));
    assert_eq!(stage.state.conversation.len(), 1, "once");
    stage.done(Done::Reloaded(Box::new(nothing())));
    stage.done(Done::Reloaded(Box::new(broken())));
    assert_eq!(stage.state.conversation.len(), 2, "and again when it was right in between");
}

#[test]
fn the_command_reads_anew_and_says_so() {
    let mut stage = Stage::open();
    let read = Effect::Reload { asked: true, theme: "quiet".to_owned() };
    assert_eq!(stage.line("/reload").first(), Some(&read));
    stage.done(Done::Reloaded(Box::new(Reloaded { asked: true, ..nothing() })));
    assert_eq!(stage.toast(), "Read anew: nothing has changed.");
}

#[test]
fn a_theme_that_was_chosen_here_is_no_news() {
    let mut stage = Stage::open();
    stage.line("/theme contrast");
    let settings = loaded("screen.theme", Value::Text("contrast".to_owned()), Origin::User);
    let reloaded = Reloaded { loaded: Some(settings), ..nothing() };
    assert_eq!(stage.done(Done::Reloaded(Box::new(reloaded))), []);
    assert_eq!((stage.toast(), stage.state.loaded.settings.screen.theme.as_str()), ("", "contrast"));
}

#[test]
fn a_theme_that_is_tried_stays_while_files_change() {
    let mut stage = Stage::open();
    stage.line("/theme");
    stage.done(Done::Reloaded(Box::new(Reloaded { theme: Some(Theme::quiet_light()), ..nothing() })));
    assert_eq!(stage.state.theme.name(), "quiet-dark");
    assert_eq!(stage.keys(&["esc"]), [Effect::LoadTheme("quiet".to_owned())]);
}
