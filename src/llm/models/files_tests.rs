use super::*;
use crate::llm::models::blank_model;
use crate::proto::model::ModelRef;

fn read_all(files: &[(&str, &str)]) -> (FileProviders, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let sources: Vec<Source> = files
        .iter()
        .map(|(name, text)| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            Source { path, ours: true }
        })
        .collect();
    let (providers, warnings) = load(&sources);
    let folder = format!("{}/", dir.path().display());
    (providers, warnings.into_iter().map(|warning| warning.replace(&folder, "")).collect())
}

const PI: &str = r#"{
  // The way Pi's own file looks.
  "$schema": "https://example.org/models.schema.json",
  "providers": {
    "ollama": {
      "baseUrl": "http://localhost:11434/v1",
      "api": "openai-completions",
      "apiKey": "ollama", /* a dummy */
      "compat": { "supportsDeveloperRole": false },
      "models": [
        { "id": "qwen2.5-coder:7b" },
        {
          "id": "big", "name": "Big one", "reasoning": true, "input": ["text", "image"],
          "contextWindow": 262144, "maxTokens": 32000,
          "thinkingLevelMap": { "off": null, "high": "hard" },
          "cost": { "input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 0,
            "tiers": [{ "inputTokensAbove": 200000, "input": 2, "output": 4, "cacheRead": 0.2, "cacheWrite": 0 }] },
          "samplingParams": { "temperature": 0.7 },
          "headers": { "X-Team": "$USER" },
          "compat": { "supportsReasoningEffort": false },
        },
      ],
    },
    "anthropic": { "baseUrl": "https://proxy.example.com", "headers": { "Authorization": "Bearer $PROXY" } },
    "openrouter": { "modelOverrides": { "x/y": { "name": "Mine", "cost": { "output": 9 } } } },
  },
}"#;

#[test]
fn a_file_as_pi_writes_it_is_read() {
    let (providers, warnings) = read_all(&[("models.json", PI)]);
    assert_eq!(warnings, Vec::<String>::new());
    let ollama = &providers["ollama"];
    assert_eq!(ollama.base_url.as_deref(), Some("http://localhost:11434/v1"));
    let mut model = blank_model(ModelRef::new("ollama", "big"), Dialect::OpenAiCompletions);
    assert_eq!((model.context_window, model.max_tokens), (128_000, 16_384));
    ollama.models[1].apply(&mut model);
    assert_eq!((model.context_window, model.max_tokens), (262_144, 32_000));
    assert!(model.reasoning && model.images);
    assert_eq!(model.thinking_levels[&ThinkingLevel::Off], None);
    assert_eq!(model.thinking_levels[&ThinkingLevel::High].as_deref(), Some("hard"));
    assert_eq!((model.price.cache_read, model.price.tiers[0].output), (0.1, 4.0));
    assert_eq!(model.compat["samplingParams"]["temperature"], 0.7);
    assert_eq!(model.compat["supportsReasoningEffort"], false);
    assert!(model.headers.is_empty(), "headers can hold keys and stay out of what can be printed");
}

#[test]
fn overrides_change_only_what_they_name() {
    let (providers, _) = read_all(&[("models.json", PI)]);
    let mut model = blank_model(ModelRef::new("openrouter", "x/y"), Dialect::OpenAiCompletions);
    model.price.input = 3.0;
    providers["openrouter"].model_overrides["x/y"].apply(&mut model);
    assert_eq!((model.name.as_str(), model.price.input, model.price.output), ("Mine", 3.0, 9.0));
}

#[test]
fn toml_says_the_same_in_either_spelling() {
    let toml = "
[providers.mine]
base_url = 'https://m.example/v1'
api = 'openai-completions'
api_key = '$MINE'
authHeader = true
[[providers.mine.models]]
id = 'm1'
context_window = 1000
thinking_level_map = { off = false, low = true, high = 'x' }
cost = { input = 1, output = 2, cache_read = 0.5 }
[providers.mine.model_overrides.m1]
maxTokens = 10
";
    let (providers, warnings) = read_all(&[("models.toml", toml)]);
    assert_eq!(warnings, Vec::<String>::new());
    let mine = &providers["mine"];
    assert_eq!(mine.auth_header, Some(true));
    assert_eq!(mine.models[0].context_window, Some(1000));
    assert_eq!(mine.models[0].cost.as_ref().unwrap().input, Some(1.0));
    assert_eq!(mine.models[0].thinking_level_map[&ThinkingLevel::Off], LevelWord::Offered(false));
    assert_eq!(mine.model_overrides["m1"].max_tokens, Some(10));
}

#[test]
fn a_later_file_wins_field_by_field_and_model_by_model() {
    let below = r#"{"providers": {"p": {"baseUrl": "http://a", "api": "openai-completions",
        "headers": {"A": "1", "B": "1"}, "models": [{"id": "x", "name": "old"}, {"id": "y"}]}}}"#;
    let above = "[providers.p]\nbase_url = 'http://b'\nheaders = { B = '2' }\nmodels = [{ id = 'x', name = 'new' }]\n";
    let (providers, _) = read_all(&[("models.json", below), ("models.toml", above)]);
    let merged = &providers["p"];
    assert_eq!(merged.base_url.as_deref(), Some("http://b"));
    assert_eq!(merged.api.as_deref(), Some("openai-completions"));
    assert_eq!(merged.headers["A"], ConfigValue::parse("1"));
    assert_eq!(merged.headers["B"], ConfigValue::parse("2"));
    let names: Vec<_> =
        merged.models.iter().map(|model| (model.id.as_str(), model.name.as_deref())).collect();
    assert_eq!(names, [("x", Some("new")), ("y", None)]);
}

#[test]
fn a_broken_file_is_told_with_its_line_and_without_its_values() {
    for (name, text, line) in [
        ("models.json", "{\n\"providers\": {\n\"a\": {\"apiKey\": sk-1}}}", "models.json, line 3: "),
        ("models.json", "{\"providers\":\n {\"a\": {\"apiKey\": [\"sk-1\"]}}}", "models.json, line 2: "),
        ("models.json", "{\"providers\":\n {\"a\": {\"headers\": \"sk-1\"}}}", "models.json, line 2: "),
        ("models.json", "[\"sk-1\"]", "models.json, line 1: "),
        ("models.json", "{\"providers\": [\"sk-1\"]}", "models.json, line 1: "),
        ("models.toml", "[providers.a]\napi_key = sk-1\n", "models.toml, line 2: "),
        ("models.toml", "[providers.a]\nheaders = 'sk-1'\n", "models.toml, line 2: "),
        (
            "models.toml",
            "\n[providers.a]\nmodels = [{ id = 'm', contextWindow = 'sk-1' }]\n",
            "models.toml, line 3: ",
        ),
    ] {
        let (providers, warnings) = read_all(&[(name, text)]);
        assert!(providers.is_empty(), "{text}");
        assert_eq!(warnings.len(), 1, "{text}: {warnings:?}");
        assert!(warnings[0].starts_with(line), "{text}: {}", warnings[0]);
        assert!(!warnings[0].contains("sk-1"), "{text}: {}", warnings[0]);
    }
}

#[test]
fn a_wrong_provider_leaves_the_others() {
    let text = "{\"providers\": {\"good\": {\"baseUrl\": \"http://g\"},\n \"bad\": {\"models\": 7}}}";
    let (providers, warnings) = read_all(&[("models.json", text)]);
    assert_eq!(providers.keys().collect::<Vec<_>>(), ["good"]);
    assert_eq!(
        warnings,
        ["models.json, line 2: expected a sequence. Not used until this is put right: `bad`."]
    );
}

#[test]
fn variables_that_hold_keys_are_named_and_others_are_not() {
    let (providers, _) = read_all(&[("models.json", PI)]);
    let names: Vec<&str> = providers.values().flat_map(FileProvider::secret_variables).collect();
    assert_eq!(names, ["PROXY"]);
}

#[test]
fn models_of_dialects_that_we_do_not_speak_are_left_out_and_said() {
    let text = r#"{"providers": {"g": {"baseUrl": "http://g", "api": "google-generative-ai",
        "models": [{"id": "a"}, {"id": "b", "api": "openai-completions"}]}}}"#;
    let (providers, warnings) = read_all(&[("models.json", text)]);
    assert_eq!(providers["g"].models.iter().map(|model| model.id.as_str()).collect::<Vec<_>>(), ["b"]);
    assert!(warnings.len() == 1 && warnings[0].contains("`google-generative-ai`"), "{warnings:?}");
}

#[test]
fn pis_own_file_is_read_unless_one_folder_holds_everything() {
    let env = Env::of([("HOME", "/home/u")]);
    let found = sources(&Places::from_env(&env), &env);
    let shown: Vec<_> = found.iter().map(|source| (source.path.to_str().unwrap(), source.ours)).collect();
    assert_eq!(
        shown,
        [
            ("/home/u/.pi/agent/models.json", false),
            ("/home/u/.config/mynah/models.json", true),
            ("/home/u/.config/mynah/models.toml", true)
        ]
    );
    let env = Env::of([("HOME", "/home/u"), ("MYNAH_HOME", "/m")]);
    assert!(sources(&Places::from_env(&env), &env).iter().all(|source| source.path.starts_with("/m/config")));
}

#[test]
fn keys_are_never_printed() {
    let text = r#"{"providers": {"a": {"apiKey": "sk-1", "headers": {"x": "sk-2"}}}}"#;
    let (providers, _) = read_all(&[("models.json", text)]);
    assert!(!format!("{providers:?}").contains("sk-"));
}
