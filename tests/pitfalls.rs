//! The table of what goes wrong elsewhere names tests: they must exist, and every row must say what was broken to see
//! them fail.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const TABLE: &str = "tests/pitfalls.md";

/// Names of functions in all sources.
fn functions() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = BTreeSet::new();
    for folder in ["src", "tests"] {
        for entry in ignore::WalkBuilder::new(root.join(folder)).build() {
            let path = entry.expect("a readable folder").into_path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(&path).expect("a readable source");
                let found = source.split("fn ").skip(1).filter_map(|rest| rest.split('(').next());
                names.extend(found.map(str::to_owned));
            }
        }
    }
    names
}

#[test]
fn every_row_names_tests_that_exist_and_how_they_failed() {
    let table = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE)).expect(TABLE);
    let functions = functions();
    let mut wrong = Vec::new();
    let rows = table.lines().filter(|line| line.starts_with("| ") && !line.contains(" | tests | "));
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [what, tests, broken] = cells.as_slice() else {
            wrong.push(format!("three cells are wanted: {row}"));
            continue;
        };
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        if names.is_empty() || broken.is_empty() {
            wrong.push(format!("no test, or not said how it failed: {what}"));
        }
        let missing = names.iter().filter_map(|name| name.rsplit("::").next());
        let missing = missing.filter(|name| !functions.contains(*name));
        wrong.extend(missing.map(|name| format!("there is no test {name}: {what}")));
    }
    assert!(wrong.is_empty(), "{TABLE}:\n{}", wrong.join("\n"));
}
