use super::*;
use proptest::prelude::*;

const MODELS: [(&str, &str, &str); 16] = [
    ("anthropic", "claude-opus-4-5", "Claude Opus 4.5 (latest)"),
    ("anthropic", "claude-opus-4-5-20251101", "Claude Opus 4.5"),
    ("anthropic", "claude-opus-4-10", "Claude Opus 4.10"),
    ("anthropic", "claude-opus-4-9", "Claude Opus 4.9"),
    ("anthropic", "claude-haiku-3-20240101", "Claude Haiku 3"),
    ("anthropic", "claude-haiku-3-20240601", "Claude Haiku 3"),
    ("openai", "gpt-5.4", "GPT-5.4"),
    ("openai", "gpt-5.4-mini", "GPT-5.4 mini"),
    ("openai", "shared", "Shared"),
    ("opencode", "shared", "Shared"),
    ("opencode", "claude-opus-4-9", "Claude Opus 4.9"),
    ("openrouter", "anthropic/claude-opus-4.9", "Anthropic: Claude Opus 4.9"),
    ("openrouter", "qwen/coder:free", "Coder (free)"),
    ("openrouter", "qwen/coder", "Coder"),
    ("ollama", "qwen2.5-coder:7b", "qwen2.5-coder:7b"),
    ("demo", "tour", "Demo tour (not a real model)"),
];

fn known(keys: &[&str]) -> Known<'static> {
    let provider = |id: &'static str, models_of| ProviderFact {
        id,
        models_of,
        has_key: keys.contains(&id) || matches!(id, "ollama" | "demo"),
        as_written: id == "ollama",
    };
    Known {
        providers: vec![
            provider("anthropic", "anthropic"),
            provider("openai", "openai"),
            provider("openai-responses", "openai"),
            provider("opencode", "opencode"),
            provider("openrouter", "openrouter"),
            provider("ollama", "ollama"),
            provider("demo", "demo"),
        ],
        models: MODELS.map(|(provider, id, name)| ModelFact { provider, id, name }).to_vec(),
    }
}

fn choose(pattern: &str, keys: &[&str]) -> String {
    match resolve(pattern, &known(keys)) {
        Ok(Match { reference, thinking, listed }) => {
            let level = thinking.map(|level| format!(" {level}")).unwrap_or_default();
            format!("{reference}{level}{}", if listed { "" } else { " unlisted" })
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn patterns_mean_what_people_expect() {
    let all = ["anthropic", "openai", "opencode", "openrouter"];
    for (pattern, keys, expected) in [
        // Exact provider and id.
        ("openai/gpt-5.4", &all[..], "openai/gpt-5.4"),
        ("OpenAI/gpt-5.4", &all, "No model matches `OpenAI/gpt-5.4`. Similar: openai/gpt-5.4."),
        ("openai/GPT-5.4", &all, "openai/gpt-5.4"),
        (" demo/tour ", &[], "demo/tour"),
        ("openai-responses/gpt-5.4", &all, "openai-responses/gpt-5.4"),
        // Exact id: providers with a key first, and an error when two have it.
        ("gpt-5.4", &all, "openai/gpt-5.4"),
        ("gpt-5.4", &[], "openai/gpt-5.4"),
        ("shared", &["opencode"], "opencode/shared"),
        ("shared", &all, "Several providers offer `shared`. Say which: openai/shared, opencode/shared."),
        ("shared", &[], "Several providers offer `shared`. Say which: openai/shared, opencode/shared."),
        // An aggregator's ids begin like another provider.
        ("anthropic/claude-opus-4.9", &["openrouter"], "openrouter/anthropic/claude-opus-4.9"),
        ("anthropic/claude-opus-4.9", &all, "anthropic/claude-opus-4.9 unlisted"),
        ("anthropic/claude-opus-4.9", &[], "anthropic/claude-opus-4.9 unlisted"),
        ("openrouter/anthropic/claude-opus-4.9", &[], "openrouter/anthropic/claude-opus-4.9"),
        ("qwen/coder", &[], "openrouter/qwen/coder"),
        // Part of an id or a name.
        ("opus", &all, "anthropic/claude-opus-4-10"),
        ("opus", &["opencode"], "opencode/claude-opus-4-9"),
        ("haiku", &all, "anthropic/claude-haiku-3-20240601"),
        ("opus 4.5", &all, "anthropic/claude-opus-4-5"),
        ("openai/mini", &all, "openai/gpt-5.4-mini"),
        ("coder", &["openrouter"], "openrouter/qwen/coder"),
        // Levels.
        ("openai/gpt-5.4:high", &all, "openai/gpt-5.4 high"),
        ("opus:off", &all, "anthropic/claude-opus-4-10 off"),
        ("qwen/coder:free", &all, "openrouter/qwen/coder:free"),
        ("qwen/coder:free:low", &all, "openrouter/qwen/coder:free low"),
        ("ollama/qwen2.5-coder:7b", &[], "ollama/qwen2.5-coder:7b"),
        ("ollama/qwen2.5-coder:7b:max", &[], "ollama/qwen2.5-coder:7b max"),
        // Unlisted.
        ("openai/gpt-9", &all, "openai/gpt-9 unlisted"),
        ("openai/gpt-9:xhigh", &all, "openai/gpt-9 xhigh unlisted"),
        ("openai/gpt-9:12b", &all, "openai/gpt-9:12b unlisted"),
        ("ollama/qwen", &[], "ollama/qwen unlisted"),
        // Nothing.
        ("gtp-5.4", &all, "No model matches `gtp-5.4`. Similar: openai/gpt-5.4."),
        ("", &all, "No model matches ``. Name it as `provider/id`, for example `anthropic/claude-opus-5-5`."),
        (
            "openai/",
            &all,
            "No model matches `openai/`. Name it as `provider/id`, for example `anthropic/claude-opus-5-5`.",
        ),
    ] {
        assert_eq!(choose(pattern, keys), expected, "{pattern} with {keys:?}");
    }
}

#[test]
fn dates_are_recognised() {
    for (id, dated) in [
        ("claude-opus-4-5-20251101", true),
        ("gpt-4o-2024-05-13", true),
        ("deepseek-v4-pro-0813", true),
        ("claude-opus-4-5", false),
        ("gpt-5.4", false),
        ("x-12", false),
        ("model-123456", false),
    ] {
        assert_eq!(is_dated(id), dated, "{id}");
    }
}

#[test]
fn near_names_prefer_providers_with_a_key_and_are_few() {
    let names = near("claude-opus-4-8", &known(&["opencode"]));
    assert_eq!(names[0], "opencode/claude-opus-4-9");
    assert!(names.len() <= NEAR_LIMIT && names.contains(&"anthropic/claude-opus-4-9".to_owned()));
}

proptest! {
    #[test]
    fn any_pattern_is_answered(pattern in "[a-z0-9/:. ~é-]{0,24}") {
        let _ = resolve(&pattern, &known(&["openai"]));
    }

    #[test]
    fn the_natural_order_is_an_order(a in "[a-c0-9.-]{0,8}", b in "[a-c0-9.-]{0,8}", c in "[a-c0-9.-]{0,8}") {
        let (a, b, c) = (Natural(&a), Natural(&b), Natural(&c));
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
        prop_assert_eq!(a.cmp(&b).is_eq(), a.0 == b.0);
    }

    #[test]
    fn the_distance_is_a_distance(a in "[ab]{0,6}", b in "[ab]{0,6}") {
        prop_assert_eq!(edit_distance(&a, &b), edit_distance(&b, &a));
        prop_assert_eq!(edit_distance(&a, &b) == 0, a == b);
        prop_assert!(edit_distance(&a, &b) <= a.len().max(b.len()));
    }
}

#[test]
fn only_names_that_share_most_letters_are_near() {
    let known = known(&["openai"]);
    // The provider's name, which is right, must not make a short id look alike.
    for (text, expected) in [("openai/any", &[][..]), ("o9", &[]), ("openai/gtp-5.4", &["openai/gpt-5.4"])] {
        assert_eq!(near(text, &known), expected, "{text}");
    }
}
