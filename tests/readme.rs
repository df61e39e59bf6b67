//! What the README says is what the program does.

use clap::CommandFactory;
use mynah::cli::RunArgs;
use mynah::config::{load, settings};

const README: &str = include_str!("../README.md");
const TABLE_BEGIN: &str =
    "<!-- settings: made from the table in src/config/settings.rs, checked by a test -->\n";
const TABLE_END: &str = "<!-- end of settings -->";

#[test]
fn the_table_of_settings_is_the_one_of_the_code() {
    let (_, rest) = README.split_once(TABLE_BEGIN).expect("the begin mark");
    let (shown, _) = rest.split_once(TABLE_END).expect("the end mark");
    let wanted = settings::reference_table(&load::defaults());
    assert!(shown.trim() == wanted.trim(), "Put this table into README.md between the marks:\n\n{wanted}");
}

#[test]
fn every_flag_it_shows_exists() {
    let program = RunArgs::command();
    let known: Vec<String> =
        program.get_arguments().filter_map(|flag| flag.get_long().map(str::to_owned)).collect();
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
