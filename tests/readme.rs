//! What the README says is what the program does.

use clap::{Args, CommandFactory};
use mynah::app::slash;
use mynah::cli::{RunArgs, TranscribeArgs, VoiceArgs};
use mynah::config::keymap::Keymap;
use mynah::config::{key_table, load, settings};
use mynah::theme;
use mynah::theme::contrast::Contrast;
use mynah::theme::depth::Depth;
use mynah::theme::load::Choice;
use mynah::theme::role::Role;
use std::fs;
use std::path::Path;

const README: &str = include_str!("../README.md");

/// What stands between two marks is what the code makes of its table.
fn check_table(begin: &str, end: &str, wanted: &str) {
    let (_, rest) =
        README.split_once(&format!("<!-- {begin}, checked by a test -->\n")).expect("the begin mark");
    let (shown, _) = rest.split_once(&format!("<!-- {end} -->")).expect("the end mark");
    assert!(shown.trim() == wanted.trim(), "Put this table into README.md between the marks:\n\n{wanted}");
}

#[test]
fn the_table_of_settings_is_the_one_of_the_code() {
    let wanted = settings::reference_table(&load::defaults());
    check_table("settings: made from the table in src/config/settings.rs", "end of settings", &wanted);
}

#[test]
fn the_table_of_keys_is_the_one_of_the_code() {
    let wanted = key_table::reference_table(&Keymap::defaults());
    check_table("keys: made from config/keymap.toml", "end of keys", &wanted);
}

#[test]
fn the_table_of_commands_is_the_one_of_the_code() {
    let wanted = slash::reference_table();
    check_table("commands: made from the table in src/app/slash/mod.rs", "end of commands", &wanted);
}

#[test]
fn every_picture_it_shows_is_there_and_no_other() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/pictures");
    let files = fs::read_dir(folder).expect("pictures").map(|entry| entry.expect("a file").file_name());
    let mut files: Vec<String> = files.map(|name| name.into_string().expect("a plain name")).collect();
    let shown = README.split("](assets/pictures/").skip(1).filter_map(|rest| rest.split(')').next());
    let mut shown: Vec<String> = shown.map(str::to_owned).collect();
    files.sort();
    shown.sort();
    assert_eq!(shown, files, "README.md shows the left ones, assets/pictures holds the right ones");
}

#[test]
fn its_keys_are_keys() {
    let example = README.split("```toml\n").find(|block| block.starts_with("[global]")).expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let (keymap, warnings) = Keymap::defaults().patched(example, Path::new("keymap.toml"));
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_ne!(keymap, Keymap::defaults());
}

#[test]
fn its_theme_is_a_theme() {
    let example = README.split("```toml\n").find(|block| block.starts_with("inherits")).expect("an example");
    let (example, _) = example.split_once("```").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("dusk.toml"), example).expect("a file");
    let choice = Choice { setting: "dusk", page: None, depth: Depth::True, contrast: Contrast::Normal };
    let (theme, warnings) = theme::load::load(&choice, folder.path());
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_ne!(theme.style(Role::Accent), theme::load::embedded("quiet-dark", None).style(Role::Accent));
}

#[test]
fn every_flag_it_shows_exists() {
    let part = || clap::Command::new("part");
    let programs =
        [RunArgs::command(), TranscribeArgs::augment_args(part()), VoiceArgs::augment_args(part())];
    let flags = programs.iter().flat_map(clap::Command::get_arguments);
    let known: Vec<String> = flags.filter_map(|flag| flag.get_long().map(str::to_owned)).collect();
    // Words that begin with two dashes in code, but for those of cargo.
    let lines = README.lines().filter(|line| !line.contains("cargo run") && !line.contains("cargo install"));
    let words = lines.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '-')));
    let shown: Vec<&str> = words
        .filter_map(|word| word.strip_prefix("--"))
        .filter(|flag| flag.starts_with(char::is_alphabetic))
        .collect();
    assert!(shown.len() > 10, "the README shows flags");
    for flag in shown {
        let of_cargo = matches!(flag, "locked" | "bench" | "all-targets");
        assert!(of_cargo || known.iter().any(|known| known == flag), "--{flag} in README.md is no flag");
    }
}
