//! Settings from the program's side: `mynah config`, the layers, and what is said about mistakes.

use super::wire;
use super::{CHAT, Ended, mynah, run};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use serde_json::json;
use std::fs;

fn config(home: &Home, arguments: &[&str]) -> Ended {
    run(mynah(home).arg("config").args(arguments))
}

fn get(home: &Home, key: &str) -> String {
    let got = config(home, &["get", key]);
    assert_eq!((got.code, got.stderr.as_str()), (0, ""), "{got:?}");
    got.stdout.trim_end().to_owned()
}

fn user_file(home: &Home) -> std::path::PathBuf {
    home.mynah().join("config/config.toml")
}

#[test]
fn settings_are_listed_changed_and_taken_back() {
    let home = Home::new();
    let list = config(&home, &[]);
    assert_eq!((list.code, list.stderr.as_str()), (0, ""), "{list:?}");
    assert!(
        list.stdout
            .lines()
            .any(|line| line.starts_with("tools.bash_timeout_seconds") && line.contains("120"))
    );
    assert_eq!(config(&home, &["list"]).stdout, list.stdout);

    let set = config(&home, &["set", "tools.bash_timeout_seconds", "7"]);
    assert_eq!((set.code, set.stderr.as_str()), (0, ""), "{set:?}");
    assert!(set.stdout.contains(user_file(&home).to_str().unwrap()), "{set:?}");
    assert_eq!(get(&home, "tools.bash_timeout_seconds"), "7");
    config(&home, &["set", "permissions.deny", "bash(rm:*)", "edit(**/*.lock)"]);
    assert_eq!(get(&home, "permissions.deny"), "bash(rm:*)\nedit(**/*.lock)");
    assert_eq!(config(&home, &["unset", "tools.bash_timeout_seconds"]).code, 0);
    assert_eq!(get(&home, "tools.bash_timeout_seconds"), "120");

    let kept = fs::read_to_string(user_file(&home)).unwrap();
    for (arguments, said) in [
        (["set", "tools.bash_timeout_seconds", "soon"], "must be a whole number"),
        (["set", "model.defualt", "x"], "Did you mean `model.default`?"),
        (["set", "permissions.mode", "root"], "ask, edits"),
    ] {
        let wrong = config(&home, &arguments);
        assert_eq!((wrong.code, wrong.stdout.as_str()), (1, ""), "{wrong:?}");
        assert!(wrong.stderr.contains(said), "{wrong:?}");
    }
    assert_eq!(fs::read_to_string(user_file(&home)).unwrap(), kept);
}

#[test]
fn a_file_written_by_hand_keeps_its_comments() {
    let home = Home::new();
    fs::create_dir_all(home.mynah().join("config")).unwrap();
    fs::write(user_file(&home), "# mine\n[model]\nthinking = \"low\" # enough\n\n[later]\nnew = 1\n")
        .unwrap();
    config(&home, &["set", "model.default", "openai/any"]);
    let text = fs::read_to_string(user_file(&home)).unwrap();
    for kept in ["# mine", "# enough", "[later]\nnew = 1", "default = \"openai/any\""] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}

#[test]
fn layers_win_in_their_order() {
    let home = Home::new();
    home.write(".git/HEAD", "");
    home.write("sub/here", "");
    let thinking = || get(&home, "model.thinking");
    assert_eq!(thinking(), "medium");
    config(&home, &["set", "model.thinking", "low"]);
    assert_eq!(thinking(), "low");
    let untrusted = config(&home, &["set", "--project", "model.thinking", "high"]);
    assert!(untrusted.stdout.contains("not trusted"), "{untrusted:?}");
    assert_eq!(thinking(), "low");
    config(&home, &["trust"]);
    assert_eq!(thinking(), "high");
    // The whole work tree is the project.
    let below =
        run(mynah(&home).args(["config", "get", "model.thinking"]).current_dir(home.project().join("sub")));
    assert_eq!(below.stdout, "high\n");
    let by_variable =
        run(mynah(&home).env("MYNAH_MODEL_THINKING", "max").args(["config", "get", "model.thinking"]));
    assert_eq!(by_variable.stdout, "max\n");
    config(&home, &["untrust"]);
    assert_eq!(thinking(), "low");
}

#[test]
fn an_untrusted_project_changes_nothing_and_that_is_said() {
    let home = Home::new();
    home.write(".mynah/config.toml", "permissions.mode = \"yolo\"\n");
    home.write(".mynah/SYSTEM.md", "Obey the project.");
    let attempt = || {
        let server = ModelServer::start(vec![
            Step::text("").call("bash", json!({"command": "echo ran"})),
            Step::text("Done."),
        ]);
        let ended = run(CHAT.command(&home, &server).arg("hi"));
        let requests = server.requests();
        (wire::system(&requests[0]), wire::results(&requests[1]).remove(0), ended)
    };
    let (system, result, ended) = attempt();
    assert!(system.starts_with("You are Mynah") && result.contains("refused"), "{result}");
    assert!(ended.stderr.contains("run `mynah config trust`"), "{ended:?}");
    config(&home, &["trust"]);
    let (system, result, ended) = attempt();
    assert!(system.starts_with("Obey the project.") && result.contains("ran\n"), "{result}");
    assert!(!ended.stderr.contains("trust"), "{ended:?}");
}

#[test]
fn the_time_limit_of_commands_comes_from_every_layer() {
    let home = Home::new();
    let timed_out = |arguments: &[&str], variable: Option<&str>| {
        let server = ModelServer::start(vec![
            Step::text("").call("bash", json!({"command": "echo begun; exec sleep 60"})),
            Step::text("Done."),
        ]);
        let mut command = CHAT.command(&home, &server);
        command
            .args(["--yolo", "hi"])
            .args(arguments)
            .envs(variable.map(|value| ("MYNAH_TOOLS_BASH_TIMEOUT_SECONDS", value)));
        let ended = run(&mut command);
        assert_eq!(ended.stdout, "Done.\n", "{ended:?}");
        wire::results(&server.requests()[1]).remove(0)
    };
    let flag = timed_out(&["--set", "tools.bash_timeout_seconds=1"], Some("60"));
    assert!(flag.contains("begun\n") && flag.contains("timed out after 1 second"), "{flag}");
    let variable = timed_out(&[], Some("1"));
    assert!(variable.contains("timed out after 1 second"), "{variable}");
    config(&home, &["set", "tools.bash_timeout_seconds", "1"]);
    let file = timed_out(&[], None);
    assert!(file.contains("timed out after 1 second"), "{file}");
}

#[test]
fn mistakes_are_told_with_their_place_and_the_run_goes_on() {
    let home = Home::new();
    fs::create_dir_all(home.mynah().join("config")).unwrap();
    let text = "[model]\nthinking = \"much\"\n\n[tools]\nbash_timout_seconds = 3\n";
    fs::write(user_file(&home), text).unwrap();
    let server = ModelServer::start(vec![Step::text("Hello.")]);
    let mut command = CHAT.command(&home, &server);
    command.env("MYNAH_LOG_LEVEL", "loud").args(["--set", "retry.max_attempts=-1", "hi"]);
    let ended = run(&mut command);
    assert_eq!((ended.stdout.as_str(), ended.code), ("Hello.\n", 0), "{ended:?}");
    let file = user_file(&home).display().to_string();
    for said in [
        format!("{file}:2: `model.thinking` must be"),
        format!(
            "{file}:5: there is no setting `tools.bash_timout_seconds`. Did you mean `tools.bash_timeout_seconds`?"
        ),
        "The variable MYNAH_LOG_LEVEL: `log.level` must be".to_owned(),
        "On the command line: `retry.max_attempts` must be".to_owned(),
    ] {
        assert!(ended.stderr.contains(&said), "no `{said}` in {}", ended.stderr);
    }
    assert_eq!(fs::read_to_string(user_file(&home)).unwrap(), text);
    let malformed = run(mynah(&home).args(["-p", "hi", "--set", "model.thinking"]));
    assert_eq!(malformed.code, 1);
    assert!(malformed.stderr.contains("needs the form KEY=VALUE"), "{malformed:?}");
}

#[test]
fn the_default_model_is_the_one_that_was_set() {
    let home = Home::new();
    config(&home, &["set", "model.default", "openai/house-model:off"]);
    let server = ModelServer::start(vec![Step::text("Hello.")]);
    let mut command = mynah(&home);
    command.env("OPENAI_BASE_URL", server.openai_base_url()).env("OPENAI_API_KEY", super::KEY);
    let ended = run(command.args(["-p", "hi"]));
    assert_eq!(ended.stdout, "Hello.\n", "{ended:?}");
    assert_eq!(server.requests()[0].body["model"], "house-model");
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn a_local_server_is_found_and_offline_does_not_look() {
    let home = Home::new();
    let server = ModelServer::start(vec![Step::text("From the local server.")]);
    server.offer_models(&["house-model:7b"]);
    let host = format!("127.0.0.1:{}", server.port());
    let start = |offline: &[&str]| {
        run(mynah(&home).env("OLLAMA_HOST", &host).args(["-p", "--no-session", "hi"]).args(offline))
    };
    let offline = start(&["--offline"]);
    assert!(offline.stderr.contains("demo") && offline.stdout.contains("That was the tour."), "{offline:?}");
    assert_eq!(server.requests().len(), 0);
    let found = start(&[]);
    assert_eq!(found.stdout, "From the local server.\n", "{found:?}");
    assert!(found.stderr.contains("house-model:7b"), "{found:?}");
    assert_eq!(server.requests().last().unwrap().body["model"], "house-model:7b");
}
