use super::*;
use crate::proto::ask::PermissionMode;
use crate::proto::model::ThinkingLevel;
use std::time::Duration;

struct World {
    dir: tempfile::TempDir,
    places: Places,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let home = dir.path().to_str().expect("a plain path").to_owned();
        Self { places: Places::from_env(&Env::of([("MYNAH_HOME", &home)])), dir }
    }

    fn user(self, text: &str) -> Self {
        Self::write(&user_file(&self.places), text);
        self
    }

    fn project(self, text: &str) -> Self {
        Self::write(&project_file(&self.root()), text);
        self
    }

    fn trusted(self) -> Self {
        trust::set(&self.places, &self.root(), true).expect("it can be written");
        self
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }

    fn load<const N: usize>(&self, env: [(&str, &str); N], flags: &[(&str, &str)]) -> Loaded {
        let flags: Vec<_> = flags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        load(&self.places, Some(&self.root()), &Env::of(env), &flags)
    }

    fn plain(&self) -> Loaded {
        self.load([], &[])
    }

    /// The warnings, with the user's file written short.
    fn warnings(&self) -> Vec<String> {
        let file = user_file(&self.places).display().to_string();
        self.plain().warnings.into_iter().map(|warning| warning.text.replace(&file, "F")).collect()
    }
}

#[test]
fn the_embedded_defaults_hold_every_key_and_nothing_else() {
    let loaded = World::new().plain();
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.values.len(), SETTINGS.len());
    assert_eq!(defaults(), loaded.values);
    assert!(loaded.origins.values().all(|origin| *origin == Origin::Default));
    let settings = loaded.settings;
    assert_eq!(settings.model.default, None);
    assert_eq!(settings.model.thinking, ThinkingLevel::Medium);
    assert_eq!(settings.permissions.mode, PermissionMode::Ask);
    assert_eq!(settings.tools.bash_timeout, Some(Duration::from_secs(120)));
    assert!(settings.tools.resize_images && settings.context_files && settings.save_sessions);
    assert_eq!((settings.retry.max_attempts, settings.retry.base.as_secs()), (3, 2));
    assert_eq!(settings.http_idle_timeout, Some(Duration::from_secs(300)));
    assert_eq!(settings.max_rounds, None);
    assert!(!settings.offline);
    let table = crate::config::settings::reference_table(&defaults());
    assert!(table.contains("| `retry.max_attempts` | `3` | a whole number from 0 to 100 |"));
}

#[test]
fn higher_layers_win() {
    let world = World::new()
        .user("[model]\ndefault = \"user\"\nthinking = \"low\"\n[agent]\nmax_rounds = 1\n[log]\nlevel = \"warn\"\n")
        .project("[model]\ndefault = \"project\"\nthinking = \"high\"\n[agent]\nmax_rounds = 2\n")
        .trusted();
    let env = [("MYNAH_MODEL_DEFAULT", "env"), ("MYNAH_AGENT_MAX_ROUNDS", "3")];
    let loaded = world.load(env, &[("model.default", "flag"), ("tools.bash_timeout_seconds", "0")]);
    assert_eq!(loaded.warnings, []);
    let expected = [
        ("model.default", "\"flag\"", Origin::Flag),
        ("agent.max_rounds", "3", Origin::Environment("MYNAH_AGENT_MAX_ROUNDS".to_owned())),
        ("model.thinking", "\"high\"", Origin::Project),
        ("log.level", "\"warn\"", Origin::User),
        ("retry.base_seconds", "2", Origin::Default),
    ];
    for (key, value, origin) in expected {
        assert_eq!(loaded.values.get(key).map(Value::to_string).as_deref(), Some(value), "{key}");
        assert_eq!(loaded.origins.get(key), Some(&origin), "{key}");
    }
    assert_eq!(loaded.settings.tools.bash_timeout, None);
}

#[test]
fn rules_add_up_and_other_lists_are_replaced() {
    let world = World::new()
        .user("[permissions]\ndeny = [\"bash(rm:*)\"]\n[tools]\nenabled = [\"read\", \"bash\"]\n")
        .project("[permissions]\ndeny = []\nallow = [\"read\"]\n[tools]\nenabled = [\"ls\"]\n")
        .trusted();
    let loaded = world.load([], &[("permissions.deny", "write"), ("permissions.deny", "edit, write")]);
    assert_eq!(loaded.settings.permissions.deny, ["bash(rm:*)", "write", "edit"]);
    assert_eq!(loaded.settings.permissions.allow, ["read"]);
    assert_eq!(loaded.settings.tools.enabled, ["ls"]);
    assert_eq!(loaded.origins.get("permissions.deny"), Some(&Origin::Flag));
    let flags = [("tools.enabled", "read"), ("tools.enabled", "grep")];
    assert_eq!(world.load([], &flags).settings.tools.enabled, ["read", "grep"]);
}

#[test]
fn a_wrong_value_disables_one_setting_and_is_told() {
    let world = World::new().user(
        "[retry]\nmax_attempts = \"three\"\nbase_seconds = 5\n[model]\nthinking = \"hard\"\ndefualt = \"x\"\n\
         [colour]\nred = 1\n",
    );
    assert_eq!(
        world.warnings(),
        [
            "F:2: `retry.max_attempts` must be a whole number from 0 to 100, not `\"three\"`. It is ignored; 3 holds.",
            "F:5: `model.thinking` must be one of off, minimal, low, medium, high, xhigh, max, not `\"hard\"`. It is \
             ignored; \"medium\" holds.",
            "F:6: there is no setting `model.defualt`. Did you mean `model.default`? It was kept.",
            "F:7: there is no setting `colour`. It was kept.",
        ]
    );
    let settings = world.plain().settings;
    assert_eq!((settings.retry.max_attempts, settings.retry.base.as_secs()), (3, 5));
    let world = World::new().user("model = \"x\"\n");
    assert_eq!(world.warnings(), ["F:1: there is no setting `model`. `[model]` is a section. It was kept."]);
}

#[test]
fn a_wrong_deny_rule_is_told_loudly_and_the_others_hold() {
    let world =
        World::new().user("[permissions]\ndeny = [\"bash(rm:*)\", 7, \"Write\"]\nallow = [\"Bad\"]\n");
    let loaded = world.plain();
    assert_eq!(loaded.settings.permissions.deny, ["bash(rm:*)"]);
    let levels: Vec<_> = loaded.warnings.iter().map(|warning| warning.level).collect();
    assert_eq!(levels, [NoticeLevel::Error, NoticeLevel::Error, NoticeLevel::Warning]);
    assert_eq!(
        world.warnings()[1],
        "F:2: `permissions.deny` has the entry `Write`, which must be a rule like \"bash\" or \"bash(git status:*)\". \
         This entry does nothing; the others hold."
    );
    let whole = World::new().user("[permissions]\ndeny = \"bash\"\n").plain();
    assert_eq!(whole.warnings.iter().map(|w| w.level).collect::<Vec<_>>(), [NoticeLevel::Error]);
}

#[test]
fn a_file_that_does_not_parse_blocks_nothing_and_stays() {
    let text = "[model]\ndefault = \"x\nthinking = \"low\"\n";
    let world = World::new().user(text);
    let loaded = world.load([("MYNAH_LOG_LEVEL", "debug")], &[]);
    assert_eq!(loaded.settings.log_level, "debug");
    assert_eq!(loaded.settings.model.default, None);
    let warnings = world.warnings();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("F:2: this is no TOML: "), "{}", warnings[0]);
    assert_eq!(fs::read_to_string(user_file(&world.places)).expect("it can be read"), text);
    fs::write(user_file(&world.places), b"\xff").expect("it can be written");
    assert!(world.warnings()[0].starts_with("F can't be read"));
}

#[test]
fn an_untrusted_project_is_not_read_and_one_notice_says_how() {
    let world = World::new().project("[permissions]\nmode = \"yolo\"\nnonsense = 1\n");
    let loaded = world.plain();
    assert_eq!(loaded.settings.permissions.mode, PermissionMode::Ask);
    assert_eq!(loaded.warnings.len(), 1);
    assert_eq!(loaded.warnings[0].level, NoticeLevel::Info);
    assert!(loaded.warnings[0].text.ends_with("run `mynah config trust`."));
    let world = world.trusted();
    assert_eq!(world.plain().settings.permissions.mode, PermissionMode::Yolo);
    assert_eq!(World::new().plain().warnings, [], "nothing to trust, nothing to say");
    fs::write(world.places.state.join("trust.json"), "?").expect("it can be written");
    let loaded = world.plain();
    assert_eq!(loaded.settings.permissions.mode, PermissionMode::Ask);
    assert!(loaded.warnings[0].text.contains("is damaged"));
}

#[test]
fn wrong_variables_and_flags_are_told_by_name() {
    let world = World::new();
    let loaded = world.load(
        [("MYNAH_RETRY_MAX_ATTEMPTS", "x"), ("MYNAH_OFFLINE", "1"), ("MYNAH_OTHER", "1")],
        &[("model.thinking", "no"), ("model.defualt", "x")],
    );
    let texts: Vec<_> = loaded.warnings.iter().map(|warning| warning.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "The variable MYNAH_RETRY_MAX_ATTEMPTS: `retry.max_attempts` must be a whole number from 0 to 100, not \
             `x`. It is ignored; 3 holds.",
            "On the command line: `model.thinking` must be one of off, minimal, low, medium, high, xhigh, max, not \
             `no`. It is ignored; \"medium\" holds.",
            "On the command line: there is no setting `model.defualt`. Did you mean `model.default`?",
        ]
    );
    assert!(loaded.settings.offline);
}

#[test]
fn dotted_and_inline_forms_are_the_same_settings() {
    let world = World::new().user("model.default = \"x\"\nretry = { max_attempts = 9 }\n");
    let loaded = world.plain();
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.settings.model.default.as_deref(), Some("x"));
    assert_eq!(loaded.settings.retry.max_attempts, 9);
}
