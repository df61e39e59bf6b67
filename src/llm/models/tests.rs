use super::*;
use crate::llm::error::ErrorClass;
use std::path::Path;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A home of its own, with these files in the configuration folder.
struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    fn with(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config");
        std::fs::create_dir(&config).unwrap();
        for (name, text) in files {
            std::fs::write(config.join(name), text).unwrap();
        }
        Self { dir }
    }

    fn load_with<const N: usize>(
        &self,
        env: [(&str, &str); N],
        options: ModelsOptions,
    ) -> (Models, Vec<String>) {
        let env = Env::of(env);
        let root: &Path = self.dir.path();
        let places = Places {
            home: root.to_owned(),
            config: root.join("config"),
            state: root.join("state"),
            cache: root.join("cache"),
            run: root.join("run"),
        };
        Models::load(&places, &env, options)
    }

    fn load<const N: usize>(&self, env: [(&str, &str); N]) -> Models {
        let (models, warnings) = self.load_with(env, ModelsOptions::default());
        let of_content: Vec<_> = warnings.iter().filter(|warning| !warning.contains("chmod")).collect();
        assert!(of_content.is_empty(), "{of_content:?}");
        models
    }
}

fn models<const N: usize>(env: [(&str, &str); N]) -> Models {
    Home::with(&[]).load(env)
}

fn reference(text: &str) -> ModelRef {
    let (provider, id) = text.split_once('/').unwrap();
    ModelRef::new(provider, id)
}

/// What a request would be sent with, or the error.
fn way(models: &Models, model: &Model) -> String {
    match models.endpoint_of(model) {
        Err(error) => error.message,
        Ok((endpoint, late)) => {
            let key = endpoint.key.as_ref().map_or("-", Secret::reveal);
            format!(
                "{} {:?} {key} {:?} late {}",
                endpoint.base_url,
                endpoint.key_style,
                endpoint.headers,
                late.len()
            )
        }
    }
}

#[test]
fn base_urls_and_dialects_follow_the_environment() {
    let local = "http://127.0.0.1:1/v1";
    for (pattern, variable, url, expected) in [
        ("anthropic/claude-opus-5-5", "X", "", "https://api.anthropic.com anthropic-messages"),
        (
            "anthropic/claude-opus-5-5",
            "ANTHROPIC_BASE_URL",
            "https://p.example",
            "https://p.example anthropic-messages",
        ),
        (
            "anthropic/claude-opus-5-5",
            "ANTHROPIC_BASE_URL",
            "https://p.example/v1/",
            "https://p.example anthropic-messages",
        ),
        ("anthropic/new", "ANTHROPIC_BASE_URL", "https://p.example", "https://p.example anthropic-messages"),
        ("openai/gpt-5.4", "X", "", "https://api.openai.com/v1 openai-responses"),
        ("openai/new", "X", "", "https://api.openai.com/v1 openai-responses"),
        (
            "openai/gpt-5.4",
            "OPENAI_BASE_URL",
            "https://eu.api.openai.com/v1",
            "https://eu.api.openai.com/v1 openai-responses",
        ),
        ("openai/gpt-5.4", "OPENAI_BASE_URL", local, "http://127.0.0.1:1/v1 openai-completions"),
        ("openai/any", "OPENAI_BASE_URL", local, "http://127.0.0.1:1/v1 openai-completions"),
        ("openai/mini", "OPENAI_BASE_URL", local, "http://127.0.0.1:1/v1 openai-completions"),
        ("openai-responses/gpt-5.4", "OPENAI_BASE_URL", local, "http://127.0.0.1:1/v1 openai-responses"),
        ("openai-responses/any", "OPENAI_BASE_URL", local, "http://127.0.0.1:1/v1 openai-responses"),
        ("openai-responses/gpt-5.4", "X", "", "https://api.openai.com/v1 openai-responses"),
        ("openrouter/anthropic/claude-opus-5.5", "X", "", "https://openrouter.ai/api anthropic-messages"),
        ("openrouter/new/model", "X", "", "https://openrouter.ai/api/v1 openai-completions"),
        ("ollama/qwen3:8b", "X", "", "http://127.0.0.1:11434/v1 openai-completions"),
        ("ollama/qwen3:8b", "OLLAMA_HOST", "0.0.0.0:9", "http://127.0.0.1:9/v1 openai-completions"),
        ("llamacpp/m", "LLAMA_BASE_URL", "http://box:8", "http://box:8/v1 openai-completions"),
        ("demo/tour", "X", "", " scripted"),
    ] {
        let selection = models([(variable, url)]).select(pattern).unwrap();
        let model = &selection.model;
        assert_eq!(
            format!("{} {}", model.base_url, model.dialect.as_str()),
            expected,
            "{pattern} {variable}={url}"
        );
        assert_eq!(model.reference, reference(pattern));
    }
}

#[test]
fn another_server_behind_openai_keeps_figures_but_no_quirks() {
    let here = models([]).select("openai/gpt-5.4").unwrap().model;
    let there =
        models([("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")]).select("openai/gpt-5.4").unwrap().model;
    assert!(!here.compat.is_empty() && there.compat.is_empty());
    assert_eq!((here.context_window, &here.price), (there.context_window, &there.price));
}

#[test]
fn unlisted_ids_get_careful_guesses_and_a_warning() {
    let models = models([]);
    let plain = models.select("openai/gpt-5.44").unwrap();
    assert!(plain.model.unlisted && !plain.model.reasoning);
    assert_eq!(
        (plain.model.context_window, plain.model.max_tokens, plain.model.price.input),
        (128_000, 16_384, 0.0)
    );
    let warning = plain.warning.unwrap();
    assert!(
        warning.contains("openai/gpt-5.44 is not in the catalogue") && warning.contains("openai/gpt-5.4"),
        "{warning}"
    );
    let thinking = models.select("anthropic/new:high").unwrap();
    assert!(thinking.model.reasoning);
    assert_eq!(thinking.thinking, Some(ThinkingLevel::High));
    assert!(!models.select("anthropic/new:off").unwrap().model.reasoning);
    assert_eq!(models.select("anthropic/claude-opus-5-5:low").unwrap().warning, None);
}

#[test]
fn ids_of_a_server_of_ones_own_need_no_warning() {
    let models = models([("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")]);
    let plain = models.select("openai/any").unwrap();
    assert!(plain.model.unlisted);
    assert_eq!(plain.warning, None);
}

#[test]
fn restored_models_are_found_without_a_key() {
    let models = models([]);
    assert_eq!(models.find(&reference("anthropic/claude-opus-5-5")).unwrap().name, "Claude Opus 5.5");
    assert!(models.find(&reference("ollama/qwen3:8b")).unwrap().unlisted);
    assert_eq!(models.find(&reference("demo/tour")).unwrap().name, "Demo tour (not a real model)");
    assert_eq!(models.find(&reference("nobody/x")), None);
}

#[test]
fn requests_go_out_with_the_right_key() {
    for (pattern, env, expected) in [
        (
            "openai/any",
            vec![("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"), ("OPENAI_API_KEY", "x")],
            "http://127.0.0.1:1/v1 Dialect x {} late 0",
        ),
        (
            "openai/any",
            vec![("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")],
            "http://127.0.0.1:1/v1 Dialect - {} late 0",
        ),
        (
            "openai-responses/any",
            vec![("OPENAI_API_KEY", "x")],
            "https://api.openai.com/v1 Dialect x {} late 0",
        ),
        (
            "anthropic/new",
            vec![("ANTHROPIC_AUTH_TOKEN", "t")],
            "https://api.anthropic.com Bearer t {} late 0",
        ),
        ("ollama/m", vec![("OLLAMA_HOST", "box")], "http://box:11434/v1 Dialect - {} late 0"),
        ("ollama/m", vec![], "http://127.0.0.1:11434/v1 Dialect - {} late 0"),
    ] {
        let env: Vec<(&str, &str)> = env;
        let models = match env.as_slice() {
            [] => models([]),
            [one] => models([*one]),
            [one, two] => models([*one, *two]),
            _ => unreachable!(),
        };
        let model = models.select(pattern).unwrap().model;
        assert_eq!(way(&models, &model), expected, "{pattern}");
    }
}

#[test]
fn a_missing_key_is_an_error_that_says_how_to_add_one() {
    let home = Home::with(&[]);
    let models = home.load([]);
    let model = models.select("anthropic/claude-opus-5-5").unwrap().model;
    let Err(error) = models.provider(&model) else { panic!("there is no key") };
    assert_eq!(error.class, ErrorClass::Auth);
    for part in ["Anthropic", "ANTHROPIC_API_KEY", "[anthropic]", "auth.toml"] {
        assert!(error.message.contains(part), "{}", error.message);
    }
}

#[test]
fn keys_of_auth_toml_come_before_the_environment_and_commands_wait_for_the_request() {
    let auth =
        "[anthropic]\nkey = 'stored'\n[openai]\ncommand = 'pass show openai'\n[zai]\nenv = 'WORK_ZAI'\n";
    let home = Home::with(&[("auth.toml", auth)]);
    let models = home.load([("ANTHROPIC_API_KEY", "env"), ("WORK_ZAI", "work"), ("ZAI_API_KEY", "private")]);
    let of = |pattern: &str| way(&models, &models.select(pattern).unwrap().model);
    assert!(of("anthropic/claude-opus-5-5").contains("Dialect stored"));
    assert!(of("openai/gpt-5.4").ends_with("Dialect - {} late 1"));
    assert!(of("openai-responses/gpt-5.4").ends_with("late 1"));
    assert!(of("zai/glm-5.3").contains("Dialect work"));
}

#[test]
fn a_key_for_one_run_goes_to_one_provider_only() {
    let options = ModelsOptions { api_key: Some(Secret::new("given")), ..ModelsOptions::default() };
    let (models, _) = Home::with(&[]).load_with([("OPENAI_API_KEY", "env")], options);
    let (anthropic, openai) =
        (models.select("anthropic/new").unwrap().model, models.select("openai/new").unwrap().model);
    assert!(way(&models, &anthropic).contains("given"));
    assert!(way(&models, &openai).contains(" env "));
    assert!(way(&models, &anthropic).contains("given"));
}

const FILES: &str = r#"{ "providers": {
  "anthropic": { "baseUrl": "https://relay.example/v1", "headers": { "X-Relay": "$RELAY", "X-Now": "!date" } },
  "openrouter": { "modelOverrides": { "z-ai/glm-5.3": { "name": "Mine", "headers": { "X-One": "1" } } } },
  "openai": { "models": [ { "id": "gpt-5.4", "contextWindow": 1000 } ], "compat": { "supportsStore": false } },
  "house": { "name": "In house", "baseUrl": "https://house.example/v1", "api": "openai-completions", "apiKey": "$HOUSE_KEY",
    "authHeader": true, "compat": { "supportsStore": false, "maxTokensField": "max_tokens" },
    "models": [ { "id": "big", "reasoning": true, "compat": { "supportsStore": true } },
                { "id": "other", "api": "anthropic-messages", "baseUrl": "https://a.example/v1" } ] },
  "opencode": { "models": [ { "id": "fresh", "api": "anthropic-messages" } ] },
  "nowhere": { "models": [ { "id": "x" } ] }
} }"#;

#[test]
fn files_reroute_add_and_change() {
    let home = Home::with(&[("models.json", FILES)]);
    let env = [("RELAY", "r"), ("HOUSE_KEY", "h"), ("ANTHROPIC_API_KEY", "a"), ("OPENROUTER_API_KEY", "o")];
    let (models, warnings) = home.load_with(env, ModelsOptions::default());
    assert!(warnings.len() == 1 && warnings[0].contains("`nowhere`"), "{warnings:?}");
    let of = |pattern: &str| models.select(pattern).unwrap().model;

    let opus = of("anthropic/opus");
    assert_eq!(opus.name, "Claude Opus 5.5");
    assert_eq!(way(&models, &opus), r#"https://relay.example Dialect a {"X-Relay": "r"} late 1"#);
    let glm = of("Mine");
    assert_eq!((glm.reference.to_string().as_str(), glm.name.as_str()), ("openrouter/z-ai/glm-5.3", "Mine"));
    assert!(way(&models, &glm).contains(r#"{"X-One": "1"}"#));
    let replaced = of("openai/gpt-5.4");
    assert_eq!((replaced.context_window, replaced.max_tokens, replaced.reasoning), (1000, 16_384, false));
    assert_eq!(
        (replaced.dialect, replaced.base_url.as_str()),
        (Dialect::OpenAiResponses, "https://api.openai.com/v1")
    );
    assert_eq!(replaced.compat["supportsStore"], false);

    let big = of("house/big:high");
    assert!(big.reasoning && !big.unlisted);
    assert_eq!(
        (big.compat["supportsStore"].clone(), big.compat["maxTokensField"].clone()),
        (true.into(), "max_tokens".into())
    );
    assert_eq!(way(&models, &big), "https://house.example/v1 Bearer h {} late 0");
    assert_eq!(
        (of("other").dialect, of("other").base_url.as_str()),
        (Dialect::AnthropicMessages, "https://a.example")
    );
    assert!(of("house/unheard").unlisted);
    assert_eq!(of("opencode/fresh").base_url, "https://opencode.ai/inference/anthropic");
    assert!(matches!(models.select("nowhere/x"), Err(SelectError::Unknown { .. })));
}

#[test]
fn the_environment_wins_over_a_file_and_toml_over_json() {
    let home = Home::with(&[
        (
            "models.json",
            r#"{"providers": {"openai": {"baseUrl": "https://json.example/v1", "apiKey": "json"}}}"#,
        ),
        ("models.toml", "[providers.openai]\nbase_url = 'https://toml.example/v1'\n"),
    ]);
    let of_files = home.load([]);
    let model = of_files.select("openai/gpt-5.4").unwrap().model;
    assert_eq!(way(&of_files, &model), "https://toml.example/v1 Dialect json {} late 0");
    assert_eq!(model.dialect, Dialect::OpenAiCompletions);
    let of_env = home.load([("OPENAI_BASE_URL", "https://env.example/v1"), ("OPENAI_API_KEY", "env")]);
    let model = of_env.select("openai/gpt-5.4").unwrap().model;
    assert_eq!(way(&of_env, &model), "https://env.example/v1 Dialect env {} late 0");
}

#[test]
fn the_dialect_of_a_file_is_for_its_own_models_and_for_what_it_reroutes() {
    let added = "[providers.openrouter]\napi = 'openai-completions'\nmodels = [{ id = 'mine' }]\n";
    let models = Home::with(&[("models.toml", added)]).load([]);
    let dialect = |models: &Models, pattern: &str| models.select(pattern).unwrap().model.dialect;
    assert_eq!(dialect(&models, "openrouter/mine"), Dialect::OpenAiCompletions);
    assert_eq!(dialect(&models, "openrouter/anthropic/claude-opus-5.5"), Dialect::AnthropicMessages);
    let moved = "[providers.openai]\nbase_url = 'https://relay.example/v1'\napi = 'openai-responses'\n";
    let models = Home::with(&[("models.toml", moved)]).load([]);
    assert_eq!(dialect(&models, "openai/gpt-5.4"), Dialect::OpenAiResponses);
    assert_eq!(dialect(&models, "openai/any"), Dialect::OpenAiResponses);
}

#[test]
fn broken_files_never_block() {
    let home = Home::with(&[("models.toml", "[["), ("models.json", "{"), ("auth.toml", "key")]);
    let (models, warnings) = home.load_with([], ModelsOptions::default());
    assert!(
        ["models.toml", "models.json", "auth.toml"]
            .iter()
            .all(|file| warnings.iter().any(|w| w.contains(file) && w.contains("line 1"))),
        "{warnings:?}"
    );
    assert!(models.select("openai/gpt-5.4").is_ok());
}

#[test]
fn all_variables_that_hold_keys_are_named() {
    let home = Home::with(&[("models.json", FILES), ("auth.toml", "[zai]\nenv = 'WORK_ZAI'\n")]);
    let names = home.load_with([], ModelsOptions::default()).0.secret_env_names();
    for name in ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "HOUSE_KEY", "WORK_ZAI"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    assert!(!names.iter().any(|name| name == "RELAY"));
    assert!(names.is_sorted());
}

#[test]
fn the_table_is_searched_by_words() {
    let home = Home::with(&[("models.json", FILES)]);
    let (models, _) = home.load_with([("HOUSE_KEY", "h")], ModelsOptions::default());
    let rows = models.list(Some("house BIG"));
    assert_eq!(rows.len(), 1);
    assert!(rows[0].has_key && rows[0].thinking);
    let all = models.list(None);
    assert_eq!(all.first().unwrap().provider, "anthropic");
    assert!(!all.first().unwrap().has_key);
    assert_eq!(all.iter().filter(|row| row.id == "gpt-5.4" && row.provider == "openai").count(), 1);
    assert!(all.iter().any(|row| row.provider == "demo" && row.has_key));
    assert!(models.list(Some("anthopus55")).iter().any(|row| row.id == "claude-opus-5-5"));
}

#[tokio::test]
async fn a_session_starts_on_the_strongest_wish() {
    let key = [("ANTHROPIC_API_KEY", "k")];
    let (gpt, opus) = (reference("openai/gpt-5.4"), reference("anthropic/claude-opus-5"));
    let tour = reference("demo/tour");
    for (wanted, session, configured, expected) in [
        (Some("openai/gpt-5.4:low"), Some(&opus), Some("demo/tour"), "openai/gpt-5.4 Asked 0"),
        (None, Some(&opus), Some("demo/tour"), "anthropic/claude-opus-5 Session 0"),
        (None, Some(&gpt), Some("demo/tour"), "demo/tour Configured 1"),
        (None, Some(&gpt), None, "anthropic/claude-opus-5-5 Key 1"),
        (None, None, Some("openai/gpt-5.4"), "openai/gpt-5.4 Configured 1"),
        (None, None, Some("nonsense"), "anthropic/claude-opus-5-5 Key 1"),
        (None, None, None, "anthropic/claude-opus-5-5 Key 0"),
        // The demo was the lack of a key, which has ended.
        (None, Some(&tour), None, "anthropic/claude-opus-5-5 Key 0"),
        (None, Some(&tour), Some("openai/gpt-5.4"), "openai/gpt-5.4 Configured 1"),
    ] {
        let start = models(key).start(wanted, session, configured).await.unwrap();
        let found = format!("{} {:?} {}", start.selection.model.reference, start.why, start.notices.len());
        assert_eq!(found, expected, "{wanted:?} {session:?} {configured:?}");
    }
    assert!(models(key).start(Some("nonsense"), None, None).await.is_err());
    let fallback = models(key).start(None, Some(&gpt), None).await.unwrap();
    let said = &fallback.notices[0];
    assert!(said.contains("openai/gpt-5.4, cannot be used, so anthropic/claude-opus-5-5 answers."), "{said}");
    assert!(said.contains("OPENAI_API_KEY"), "{said}");
}

#[tokio::test]
async fn a_key_for_one_run_needs_a_model_and_counts_as_its_key() {
    let options = || ModelsOptions { api_key: Some(Secret::new("given")), ..ModelsOptions::default() };
    let (models, _) = Home::with(&[]).load_with([], options());
    assert_eq!(models.start(None, None, None).await, Err(SelectError::KeyWithoutModel));
    let session = reference("openai/gpt-5.4");
    let (models, _) = Home::with(&[]).load_with([], options());
    assert_eq!(models.start(None, Some(&session), None).await.unwrap().why, StartReason::Session);
    assert!(way(&models, &models.find(&session).unwrap()).contains("given"));
}

/// Points all local servers at addresses where nobody listens, except those given.
fn servers(given: &[(&str, String)]) -> String {
    ["ollama", "lmstudio", "llamacpp", "vllm"]
        .map(|id| {
            let url =
                given.iter().find(|(name, _)| *name == id).map_or("http://127.0.0.1:1/v1", |(_, url)| url);
            format!("[providers.{id}]\nbase_url = '{url}'\n")
        })
        .concat()
}

#[tokio::test]
async fn a_machine_with_nothing_starts_on_the_demo() {
    let models = Home::with(&[("models.toml", &servers(&[]))]).load([]);
    let start = models.start(None, None, None).await.unwrap();
    assert_eq!((start.why, start.selection.model.dialect), (StartReason::Demo, Dialect::Scripted));
    assert!(start.notices[0].contains("not a real model"));
    assert!(models.provider(&start.selection.model).is_ok());
}

#[tokio::test]
async fn a_local_server_is_found_and_used() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let answering = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 512];
        let _read = stream.read(&mut request).await.unwrap();
        let body = r#"{"object":"list","data":[{"id":"m","object":"model","max_model_len":4096},{"id":"n","object":"model"}]}"#;
        stream.write_all(format!("HTTP/1.0 200 OK\r\n\r\n{body}").as_bytes()).await.unwrap();
    });
    let home = Home::with(&[("models.toml", &servers(&[("vllm", url.clone())]))]);
    let mut models = home.load([]);
    // A busy machine may stop the test for longer than a user would wait.
    models.probe_limit = Duration::from_secs(60);
    let start = models.start(None, None, None).await.unwrap();
    answering.await.unwrap();
    assert_eq!(
        (start.why, start.selection.model.reference.to_string().as_str()),
        (StartReason::LocalServer, "vllm/m")
    );
    assert_eq!((start.selection.model.context_window, start.selection.model.max_tokens), (4096, 4096));
    assert!(start.notices[0].contains("vLLM") && start.notices[0].contains(&url), "{:?}", start.notices);
    assert_eq!(way(&models, &start.selection.model), format!("{url} Dialect - {{}} late 0"));
    assert!(models.list(Some("vllm")).len() == 2 && models.find(&reference("vllm/n")).is_some());
    assert_eq!(models.select("vllm/n").unwrap().warning, None);
}

#[tokio::test]
async fn nothing_is_looked_for_offline_or_with_a_default() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let home = Home::with(&[("models.toml", &servers(&[("ollama", url)]))]);
    let offline = ModelsOptions { offline: true, ..ModelsOptions::default() };
    let start = home.load_with([], offline).0.start(None, None, None).await.unwrap();
    assert_eq!(start.why, StartReason::Demo);
    home.load([]).start(Some("openai/gpt-5.4"), None, None).await.unwrap();
    home.load([]).start(None, None, Some("openai/gpt-5.4")).await.unwrap();
    home.load([]).start(None, None, Some("nonsense")).await.unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn nothing_that_can_be_printed_holds_a_key() {
    let home = Home::with(&[(
        "models.json",
        r#"{"providers": {"openai": {"apiKey": "sk-file", "headers": {"X": "sk-header"}}}}"#,
    )]);
    let options = ModelsOptions { api_key: Some(Secret::new("sk-given")), ..ModelsOptions::default() };
    let (models, warnings) = home.load_with([("ANTHROPIC_API_KEY", "sk-env")], options.clone());
    let start = models.start(Some("openai/gpt-5.4"), None, None).await.unwrap();
    let (endpoint, late) = models.endpoint_of(&start.selection.model).unwrap();
    let shown = format!("{options:?} {warnings:?} {start:?} {endpoint:?} {late:?} {:?}", models.list(None));
    assert!(!shown.contains("sk-"), "{shown}");
}
