//! Rules that the user allowed "always" for one project. They are state, not settings: a project's own folder must not
//! be able to hand them out.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The file in the state folder.
const FILE: &str = "grants.json";

/// Projects by the canonical path of their root.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Grants {
    #[serde(default)]
    projects: BTreeMap<String, Vec<String>>,
}

/// The rules of a project. A file that can't be read grants nothing and is an error for the user.
pub fn load(state: &Path, project: &Path) -> io::Result<Vec<String>> {
    Ok(read(&state.join(FILE))?.projects.remove(&key(project)).unwrap_or_default())
}

/// Adds a rule for a project. A file that does not parse is never overwritten.
pub fn add(state: &Path, project: &Path, rule: &str) -> io::Result<()> {
    std::fs::create_dir_all(state)?;
    // Two sessions may add at the same time.
    let lock = File::options().create(true).truncate(false).write(true).open(state.join("grants.lock"))?;
    lock.lock()?;
    let path = state.join(FILE);
    let mut grants = read(&path)?;
    let rules = grants.projects.entry(key(project)).or_default();
    if rules.iter().any(|known| known == rule) {
        return Ok(());
    }
    rules.push(rule.to_owned());
    replace(&path, &serde_json::to_vec_pretty(&grants)?)
}

fn read(path: &Path) -> io::Result<Grants> {
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| io::Error::other(format!("{} is damaged: {error}", path.display()))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Grants::default())
        }
        Err(error) => Err(error),
    }
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary: PathBuf = path.with_extension(format!("json.{}", std::process::id()));
    let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)
}

fn key(project: &Path) -> String {
    project.canonicalize().unwrap_or_else(|_| project.to_owned()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_belong_to_their_project_and_are_kept_once() {
        let state = tempfile::tempdir().expect("state");
        let (here, there) = (Path::new("/projects/here"), Path::new("/projects/there"));
        add(state.path(), here, "bash(cargo test:*)").expect("added");
        add(state.path(), here, "bash(cargo test:*)").expect("added");
        add(state.path(), here, "edit(src/**)").expect("added");
        assert_eq!(load(state.path(), here).expect("read"), ["bash(cargo test:*)", "edit(src/**)"]);
        assert!(load(state.path(), there).expect("read").is_empty());
    }

    #[test]
    fn a_damaged_file_grants_nothing_and_is_not_overwritten() {
        let state = tempfile::tempdir().expect("state");
        std::fs::write(state.path().join(FILE), "{broken").expect("written");
        assert!(load(state.path(), Path::new("/p")).is_err());
        assert!(add(state.path(), Path::new("/p"), "bash").is_err());
        assert_eq!(std::fs::read_to_string(state.path().join(FILE)).expect("file"), "{broken");
    }
}
