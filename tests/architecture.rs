//! What holds for the sources and the repository as a whole, and no compiler checks: who may import whom, and what may
//! lie where. Each failure says where, what, why and what to do.

mod key_names;
mod layers;
mod repository;
mod source;

use layers::Finding;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn layers_point_downwards() {
    let root = root();
    let files = files_below(&root.join("src"));
    let sources: Vec<_> = files
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| (relative(path, &root.join("src")), fs::read_to_string(path).unwrap()))
        .collect();
    assert!(sources.iter().any(|(file, _)| file == "lib.rs"), "the sources are under src");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert_none(layers::check(&sources, &layers::dependencies(&manifest)));
}

#[test]
fn texts_name_no_keys() {
    let root = root();
    let files = files_below(&root.join("src"));
    let sources: Vec<_> = files
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| (relative(path, &root.join("src")), fs::read_to_string(path).unwrap()))
        .collect();
    assert_none(key_names::check(&sources));
}

#[test]
fn the_top_level_holds_only_what_belongs_there() {
    let root = root();
    let names = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<_> = names.collect();
    let ignored = fs::read_to_string(root.join(".gitignore")).unwrap();
    assert_none(repository::check_top_level(&names, &ignored));
}

#[test]
fn snapshots_are_named_after_area_case_and_size() {
    let folder = root().join("snapshots");
    if folder.is_dir() {
        let names: Vec<_> = files_below(&folder).iter().map(|path| relative(path, &folder)).collect();
        assert_none(repository::check_snapshot_names(&names));
    }
}

#[test]
fn no_file_speaks_of_a_developers_machine() {
    let root = root();
    let machine = repository::Machine::new(&root.to_string_lossy());
    let mut findings = Vec::new();
    for path in repository_files(&root) {
        // Pictures and other binary files have no text to check.
        if let Ok(text) = fs::read_to_string(&path) {
            findings.extend(machine.check(&relative(&path, &root), &text));
        }
    }
    assert_none(findings);
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn assert_none(findings: Vec<Finding>) {
    let texts: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert!(texts.is_empty(), "\n\n{}\n", texts.join("\n\n"));
}

/// All files of the repository, without what git keeps for itself or ignores.
fn repository_files(root: &Path) -> Vec<PathBuf> {
    let ignored = fs::read_to_string(root.join(".gitignore")).unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let name = relative(&path, root);
        if name == ".git" || repository::is_ignored(&name, &ignored) {
            continue;
        }
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files.sort();
    files
}

/// A path as messages show it, with `/` between its parts.
fn relative(path: &Path, root: &Path) -> String {
    let parts = path.strip_prefix(root).unwrap().components();
    parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect::<Vec<_>>().join("/")
}
