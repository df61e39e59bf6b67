use super::*;
use std::os::unix::fs::symlink;

fn world() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("config.toml");
    (dir, file)
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("it can be read")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it exists").mode() & 0o777
}

#[test]
fn comments_order_and_unknown_keys_stay() {
    let (dir, file) = world();
    let before = "# mine\n[zoo]\nanimals = 3 # many\n\n# about models\n[model]\n  thinking = \"low\" # for now\n\
                  default = 'a/b'\n\n[model.other]\nx = 1\n# the end\n";
    fs::write(&file, before).expect("it can be written");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("it is ours");
    set(&file, "model.thinking", &text("high")).expect("it can be changed");
    assert_eq!(read(&file), before.replace("\"low\"", "\"high\""));
    assert_eq!(mode(&file), 0o640);
    set(&file, "tools.enabled", &Value::List(vec!["read".to_owned()])).expect("it can be changed");
    set(&file, "model.default", &text("c")).expect("it can be changed");
    let after = read(&file);
    for kept in [
        "# mine\n[zoo]\nanimals = 3 # many\n",
        "# about models\n[model]\n",
        "[model.other]\nx = 1\n",
        "# the end\n",
    ] {
        assert!(after.contains(kept), "{after}");
    }
    assert!(after.contains("[tools]\nenabled = [\"read\"]\n"), "{after}");
    assert!(after.contains("default = \"c\"\n"), "{after}");
    assert_eq!(fs::read_dir(dir.path()).expect("it can be read").count(), 1, "no lock, no temporary file");
}

#[test]
fn a_new_file_is_for_its_owner_only() {
    let (dir, _) = world();
    let file = dir.path().join("a/b/config.toml");
    assert_eq!(set(&file, "agent.max_rounds", &Value::Integer(3)).expect("it can be made"), file);
    assert_eq!(read(&file), "[agent]\nmax_rounds = 3\n");
    assert_eq!((mode(&file), mode(&dir.path().join("a"))), (0o600, 0o700));
}

#[test]
fn links_stay_links_also_those_that_lead_nowhere_yet() {
    let (dir, file) = world();
    let target = dir.path().join("dotfiles/mynah.toml");
    symlink("dotfiles/mynah.toml", dir.path().join("middle")).expect("it can be made");
    symlink(dir.path().join("middle"), &file).expect("it can be made");
    assert_eq!(set(&file, "model.default", &text("x")).expect("it can be made"), target);
    set(&file, "model.default", &text("y")).expect("it can be changed");
    assert!(fs::symlink_metadata(&file).expect("it exists").is_symlink());
    assert_eq!(read(&target), "[model]\ndefault = \"y\"\n");
    let ring = dir.path().join("ring");
    symlink(&ring, &ring).expect("it can be made");
    assert!(matches!(set(&ring, "model.default", &text("x")), Err(SaveError::Io { .. })));
}

#[test]
fn what_does_not_parse_or_is_in_the_way_is_not_overwritten() {
    let (_dir, file) = world();
    for before in ["[model\n", "model = 3\n", "[model.default]\nx = 1\n"] {
        fs::write(&file, before).expect("it can be written");
        let error = set(&file, "model.default", &text("x")).expect_err("it can't be changed");
        assert!(error.to_string().contains("was left as it is"), "{error}");
        assert_eq!(read(&file), before);
    }
    fs::remove_file(&file).expect("it is there");
    fs::create_dir(&file).expect("it can be made");
    assert!(matches!(set(&file, "model.default", &text("x")), Err(SaveError::Io { .. })));
}

#[test]
fn unset_takes_one_key_out() {
    let (_dir, file) = world();
    assert!(unset(&file, "model.default").expect("no file, no error").is_none());
    assert!(!file.exists());
    fs::write(&file, "[model]\n# a\ndefault = \"x\"\n# b\nthinking = \"low\"\n").expect("it can be written");
    assert_eq!(unset(&file, "model.default").expect("it can be changed"), Some(file.clone()));
    assert_eq!(read(&file), "[model]\n# b\nthinking = \"low\"\n");
    assert!(unset(&file, "model.default").expect("it can be read").is_none());
    assert!(unset(&file, "retry.base_seconds").expect("it can be read").is_none());
}

#[test]
fn a_save_waits_for_another_and_gives_up_in_time() {
    let (_dir, file) = world();
    let held = LockFile::acquire(&file, PATIENCE).expect("nobody has it");
    let change = |text: Option<String>, _: &Path| Ok::<_, SaveError>(text);
    let busy = update_patiently(&file, Duration::ZERO, change);
    assert!(matches!(busy, Err(SaveError::Busy { .. })));
    drop(held);
    update_patiently(&file, Duration::ZERO, change).expect("the lock is free");
}

#[test]
fn saves_at_the_same_time_are_all_kept() {
    let (_dir, file) = world();
    let keys = ["model.default", "tools.shell_path", "tools.shell_prefix", "log.level", "permissions.mode"];
    thread::scope(|scope| {
        for key in keys {
            let file = &file;
            scope.spawn(move || set(file, key, &text(key)).expect("it can be changed"));
        }
    });
    let document: DocumentMut = read(&file).parse().expect("TOML");
    for key in keys {
        let (section, name) = key.split_once('.').expect("a section");
        assert_eq!(document[section][name].as_str(), Some(key));
    }
}
