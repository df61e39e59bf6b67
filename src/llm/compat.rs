//! Differences between providers that speak the same dialect: what the model's `compat` table says, else what is known
//! of the host. The names are those of Pi's `compat`.

use super::{CacheRetention, Model};
use serde_json::{Map, Value};

/// Host name of a base URL, lower case; the URL itself when it is none.
pub fn host_of(base_url: &str) -> String {
    let host = reqwest::Url::parse(base_url).ok().and_then(|url| url.host_str().map(str::to_lowercase));
    host.unwrap_or_else(|| base_url.to_owned())
}

/// Something that a model's `compat` table, its provider id and its host decide.
struct Facts<'a> {
    flags: &'a Map<String, Value>,
    provider: &'a str,
    host: String,
}

impl<'a> Facts<'a> {
    fn of(model: &'a Model, base_url: &str) -> Self {
        Self { flags: &model.compat, provider: &model.reference.provider, host: host_of(base_url) }
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.flags.get(name)?.as_bool()
    }

    fn word(&self, name: &str) -> Option<&'a str> {
        self.flags.get(name)?.as_str()
    }

    fn table(&self, name: &str) -> Option<&'a Map<String, Value>> {
        self.flags.get(name)?.as_object()
    }

    /// The host is this domain or below it.
    fn at(&self, domain: &str) -> bool {
        self.host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }

    /// The provider has this id, or the host is this domain.
    fn is(&self, provider: &str, domain: &str) -> bool {
        self.provider == provider || self.at(domain)
    }
}

/// How session affinity is told in headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Affinity {
    /// OpenAI's names.
    OpenAi,
    /// OpenAI's names but the session's.
    OpenAiNoSession,
    /// OpenRouter's name.
    OpenRouter,
    /// The one name of Anthropic's relatives.
    Plain,
}

impl Affinity {
    fn of(facts: &Facts<'_>) -> Option<Self> {
        match facts.word("sessionAffinityFormat") {
            Some("openai") => Some(Self::OpenAi),
            Some("openai-nosession") => Some(Self::OpenAiNoSession),
            Some("openrouter") => Some(Self::OpenRouter),
            Some(_) | None => None,
        }
    }
}

/// When a prompt cache key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CacheKeyMode {
    Auto,
    Enabled,
    Disabled,
}

impl CacheKeyMode {
    fn of(facts: &Facts<'_>) -> Self {
        match facts.word("promptCacheKeyMode") {
            Some("enabled") => Self::Enabled,
            Some("disabled") => Self::Disabled,
            Some(_) | None => Self::Auto,
        }
    }
}

/// Anthropic Messages and its relatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnthropicCompat {
    /// Tools take `eager_input_streaming`; else a beta header does the same.
    pub eager_tool_input: bool,
    /// The cache can be kept for an hour.
    pub long_cache: bool,
    /// Tools take cache marks.
    pub cache_on_tools: bool,
    /// Thinking is adaptive with an effort; else it has a budget.
    pub adaptive_thinking: bool,
    /// Thinking without a signature goes back as thinking.
    pub empty_signature: bool,
    /// Affinity headers.
    pub affinity: Option<Affinity>,
}

impl AnthropicCompat {
    /// What holds for this model at this address.
    pub fn of(model: &Model, base_url: &str) -> Self {
        let facts = Facts::of(model, base_url);
        let flag = |name, default| facts.flag(name).unwrap_or(default);
        Self {
            eager_tool_input: flag("supportsEagerToolInputStreaming", true),
            long_cache: flag("supportsLongCacheRetention", true) && facts.at("api.anthropic.com"),
            cache_on_tools: flag("supportsCacheControlOnTools", true),
            adaptive_thinking: flag("forceAdaptiveThinking", is_adaptive_claude(&model.reference.id)),
            empty_signature: flag("allowEmptySignature", false),
            affinity: flag("sendSessionAffinityHeaders", facts.is("openrouter", "openrouter.ai"))
                .then(|| Affinity::of(&facts).unwrap_or(Affinity::Plain)),
        }
    }
}

/// Claude models from 4.6 on think adaptively. Reads the version out of ids such as `claude-opus-4-6`,
/// `anthropic/claude-opus-4.6` and `claude-3-7-sonnet-20250219`; dates are no version.
fn is_adaptive_claude(id: &str) -> bool {
    let Some((_, rest)) = id.split_once("claude") else { return false };
    let mut version = rest
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|part| part.parse::<u32>().ok())
        .filter(|number| *number < 100);
    let major = version.next().unwrap_or(0);
    (major, version.next().unwrap_or(0)) >= (4, 6)
}

/// OpenAI Responses and its relatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponsesCompat {
    /// The system prompt of a thinking model has the role `developer`.
    pub developer_role: bool,
    /// The effort of thinking can be set.
    pub reasoning_effort: bool,
    /// The room for the answer can be set.
    pub max_output_tokens: bool,
    /// How a long cache lifetime is asked for, if it can be.
    pub long_cache: Option<LongCache>,
    /// Affinity headers.
    pub affinity: Option<Affinity>,
    cache_key: CacheKeyMode,
}

/// How OpenAI is asked for a long cache lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongCache {
    /// `prompt_cache_retention: "24h"`.
    Retention,
    /// `prompt_cache_options: {"ttl": "30m"}`.
    Options,
}

impl ResponsesCompat {
    /// What holds for this model at this address.
    pub fn of(model: &Model, base_url: &str) -> Self {
        let facts = Facts::of(model, base_url);
        let flag = |name, default| facts.flag(name).unwrap_or(default);
        let long = flag("supportsLongCacheRetention", true) && facts.at("api.openai.com");
        Self {
            developer_role: flag("supportsDeveloperRole", true),
            reasoning_effort: flag("supportsReasoningEffort", true),
            max_output_tokens: flag("supportsMaxOutputTokens", true),
            long_cache: long.then(|| {
                if flag("supportsExplicitPromptCacheMode", false) {
                    LongCache::Options
                } else {
                    LongCache::Retention
                }
            }),
            affinity: Affinity::of(&facts).or_else(|| facts.at("api.openai.com").then_some(Affinity::OpenAi)),
            cache_key: CacheKeyMode::of(&facts),
        }
    }

    /// A prompt cache key is sent.
    pub fn sends_cache_key(self, cache: CacheRetention) -> bool {
        cache != CacheRetention::None && self.cache_key != CacheKeyMode::Disabled
    }
}

/// How a relative of Chat Completions is told to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingFormat {
    /// `reasoning_effort`.
    OpenAi,
    /// `reasoning: {effort}`.
    OpenRouter,
    /// `thinking: {type}`, and `reasoning_effort` where it is taken.
    DeepSeek,
    /// `reasoning: {enabled}`, and `reasoning_effort` where it is taken.
    Together,
    /// `chat_template_args`, and `reasoning_effort` where it is taken.
    Baseten,
    /// `thinking: {type}`.
    Zai,
    /// `enable_thinking`.
    Qwen,
    /// `chat_template_kwargs` from a template.
    ChatTemplate,
    /// `chat_template_kwargs.enable_thinking`.
    QwenChatTemplate,
    /// `thinking: "<word>"`.
    StringThinking,
    /// `reasoning: {effort}`, only for levels in the model's own table.
    AntLing,
}

impl ThinkingFormat {
    fn of(facts: &Facts<'_>) -> Self {
        match facts.word("thinkingFormat") {
            Some("openai") => Self::OpenAi,
            Some("openrouter") => Self::OpenRouter,
            Some("deepseek") => Self::DeepSeek,
            Some("together") => Self::Together,
            Some("baseten") => Self::Baseten,
            Some("zai") => Self::Zai,
            Some("qwen") => Self::Qwen,
            Some("chat-template") => Self::ChatTemplate,
            Some("qwen-chat-template") => Self::QwenChatTemplate,
            Some("string-thinking") => Self::StringThinking,
            Some("ant-ling") => Self::AntLing,
            Some(_) | None if facts.is("openrouter", "openrouter.ai") => Self::OpenRouter,
            Some(_) | None if facts.is("deepseek", "deepseek.com") => Self::DeepSeek,
            Some(_) | None if facts.at("together.ai") || facts.at("together.xyz") => Self::Together,
            Some(_) | None if facts.is("zai", "z.ai") || facts.at("bigmodel.cn") => Self::Zai,
            Some(_) | None => Self::OpenAi,
        }
    }
}

/// OpenAI Chat Completions and its relatives.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatCompat<'a> {
    /// `store` is taken.
    pub store: bool,
    /// The system prompt of a thinking model has the role `developer`.
    pub developer_role: bool,
    /// `reasoning_effort` is taken.
    pub reasoning_effort: bool,
    /// Usage is reported in the stream on request.
    pub usage_in_streaming: bool,
    /// The stream says why it stopped.
    pub finish_reason: bool,
    /// The field's name for the room for the answer.
    pub max_tokens_field: &'static str,
    /// Tool results carry the tool's name.
    pub tool_result_name: bool,
    /// An assistant message stands between tool results and a user message.
    pub assistant_after_tool_result: bool,
    /// Assistant messages without text have the content `""` instead of `null`.
    pub non_null_content: bool,
    /// `tools: []` is sent when the history has calls and no tools are offered.
    pub empty_tools_with_history: bool,
    /// Thinking goes back as text.
    pub thinking_as_text: bool,
    /// Every assistant message has a `reasoning_content`.
    pub reasoning_content: bool,
    /// How thinking is asked for.
    pub thinking: ThinkingFormat,
    /// Field for a budget of thinking tokens.
    pub thinking_budget_field: Option<&'a str>,
    /// Template of `chat_template_kwargs`.
    pub template_kwargs: Option<&'a Map<String, Value>>,
    /// Template of `chat_template_args`.
    pub template_args: Option<&'a Map<String, Value>>,
    /// OpenRouter's preferences, sent as `provider`.
    pub openrouter_routing: Option<&'a Map<String, Value>>,
    /// Vercel's preferences, sent as `providerOptions.gateway`.
    pub vercel_routing: Option<&'a Map<String, Value>>,
    /// `tool_stream` is taken.
    pub tool_stream: bool,
    /// Tools take `strict`.
    pub strict: bool,
    /// Cache marks as in Anthropic Messages.
    pub cache_marks: bool,
    /// A long cache lifetime can be asked for.
    pub long_cache: bool,
    /// Affinity headers.
    pub affinity: Option<Affinity>,
    /// Scheduler priority of vLLM.
    pub priority: Option<i64>,
    /// Call ids have exactly nine letters and digits.
    pub nine_character_ids: bool,
    at_openai: bool,
    cache_key: CacheKeyMode,
}

impl<'a> ChatCompat<'a> {
    /// What holds for this model at this address.
    pub fn of(model: &'a Model, base_url: &str) -> Self {
        let facts = Facts::of(model, base_url);
        let flag = |name, default| facts.flag(name).unwrap_or(default);
        let at_openai = facts.at("api.openai.com");
        let at_openrouter = facts.is("openrouter", "openrouter.ai");
        let at_deepseek = facts.is("deepseek", "deepseek.com");
        let at_mistral = facts.is("mistral", "mistral.ai");
        let thinking = ThinkingFormat::of(&facts);
        // These take no effort unless their table says so.
        let no_effort = facts.is("xai", "x.ai")
            || matches!(
                thinking,
                ThinkingFormat::Zai
                    | ThinkingFormat::Qwen
                    | ThinkingFormat::QwenChatTemplate
                    | ThinkingFormat::ChatTemplate
            );
        // OpenAI and gateways to it refuse the old field for thinking models; everything else, local servers above all,
        // knows the old one.
        let new_field = at_openai
            || at_openrouter
            || facts.at("openai.azure.com")
            || facts.at("githubcopilot.com")
            || facts.at("ai-gateway.vercel.sh")
            || facts.is("groq", "api.groq.com")
            || facts.is("cerebras", "api.cerebras.ai");
        let max_tokens_field = match facts.word("maxTokensField") {
            Some("max_tokens") => "max_tokens",
            Some("max_completion_tokens") => "max_completion_tokens",
            Some(_) | None if new_field => "max_completion_tokens",
            Some(_) | None => "max_tokens",
        };
        let budget_alias = flag("supportsThinkingTokenBudget", false).then_some("thinking_token_budget");
        Self {
            store: flag("supportsStore", at_openai),
            developer_role: flag("supportsDeveloperRole", at_openai),
            reasoning_effort: flag("supportsReasoningEffort", !no_effort),
            usage_in_streaming: flag("supportsUsageInStreaming", true),
            finish_reason: flag("supportsFinishReason", true),
            max_tokens_field,
            tool_result_name: flag("requiresToolResultName", at_mistral),
            assistant_after_tool_result: flag("requiresAssistantAfterToolResult", false),
            non_null_content: flag("requiresNonNullAssistantContent", false),
            empty_tools_with_history: flag("requiresToolsWithToolHistory", false),
            thinking_as_text: flag("requiresThinkingAsText", at_mistral),
            reasoning_content: flag("requiresReasoningContentOnAssistantMessages", at_deepseek),
            thinking,
            thinking_budget_field: facts.word("thinkingTokenBudgetField").or(budget_alias),
            template_kwargs: facts.table("chatTemplateKwargs"),
            template_args: facts.table("chatTemplateArgs"),
            openrouter_routing: facts.table("openRouterRouting"),
            vercel_routing: facts.table("vercelGatewayRouting"),
            tool_stream: flag("zaiToolStream", false),
            strict: flag("supportsStrictMode", false),
            cache_marks: facts.word("cacheControlFormat") == Some("anthropic"),
            long_cache: flag("supportsLongCacheRetention", at_openai),
            affinity: flag("sendSessionAffinityHeaders", at_openrouter).then(|| {
                let usual = if at_openrouter { Affinity::OpenRouter } else { Affinity::OpenAi };
                Affinity::of(&facts).unwrap_or(usual)
            }),
            priority: facts.flags.get("vllmPriority").and_then(Value::as_i64),
            nine_character_ids: at_mistral,
            at_openai,
            cache_key: CacheKeyMode::of(&facts),
        }
    }

    /// A prompt cache key is sent.
    pub fn sends_cache_key(&self, cache: CacheRetention) -> bool {
        match self.cache_key {
            CacheKeyMode::Disabled => false,
            CacheKeyMode::Enabled => cache != CacheRetention::None,
            CacheKeyMode::Auto => match cache {
                CacheRetention::None => false,
                CacheRetention::Short => self.at_openai,
                CacheRetention::Long => self.at_openai || self.long_cache,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Dialect;
    use crate::llm::fixtures::model;
    use serde_json::json;

    fn with(compat: &Value) -> Model {
        let mut model = model(Dialect::OpenAiCompletions);
        model.compat = compat.as_object().unwrap().clone();
        model
    }

    #[test]
    fn hosts() {
        for (url, host) in [
            ("https://API.OpenAI.com/v1", "api.openai.com"),
            ("http://127.0.0.1:8080/v1", "127.0.0.1"),
            ("http://[::1]:8080", "[::1]"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(host_of(url), host);
        }
    }

    #[test]
    fn what_is_known_of_hosts() {
        let plain = with(&json!({}));
        let at = |url| ChatCompat::of(&plain, url);
        let openai = at("https://api.openai.com/v1");
        assert!(openai.store && openai.developer_role && openai.reasoning_effort && !openai.strict);
        assert_eq!(openai.max_tokens_field, "max_completion_tokens");
        let local = at("http://127.0.0.1:11434/v1");
        assert!(!local.store && !local.developer_role && local.usage_in_streaming);
        assert_eq!(local.max_tokens_field, "max_tokens");
        assert_eq!(at("https://openrouter.ai/api/v1").thinking, ThinkingFormat::OpenRouter);
        assert_eq!(at("https://openrouter.ai/api/v1").affinity, Some(Affinity::OpenRouter));
        assert_eq!(at("https://api.z.ai/api/paas/v4").thinking, ThinkingFormat::Zai);
        assert!(!at("https://api.x.ai/v1").reasoning_effort);
        assert!(at("https://api.mistral.ai/v1").nine_character_ids);
        assert!(at("https://api.deepseek.com").reasoning_content);
        // A name that only ends like a known one is another host.
        assert!(!at("https://notapi.openai.com.evil.org/v1").store);
        assert!(!at("https://xapi.openai.com/v1").store);
    }

    #[test]
    fn the_table_wins_over_the_host() {
        let model = with(&json!({
            "supportsStore": true, "maxTokensField": "max_completion_tokens", "thinkingFormat": "qwen",
            "sendSessionAffinityHeaders": true, "sessionAffinityFormat": "openai-nosession",
            "supportsThinkingTokenBudget": true, "promptCacheKeyMode": "enabled"
        }));
        let compat = ChatCompat::of(&model, "http://localhost:1/v1");
        assert!(compat.store && !compat.reasoning_effort);
        assert_eq!(compat.max_tokens_field, "max_completion_tokens");
        assert_eq!(compat.thinking, ThinkingFormat::Qwen);
        assert_eq!(compat.affinity, Some(Affinity::OpenAiNoSession));
        assert_eq!(compat.thinking_budget_field, Some("thinking_token_budget"));
        assert!(compat.sends_cache_key(CacheRetention::Short));
        assert!(!compat.sends_cache_key(CacheRetention::None));
    }

    #[test]
    fn adaptive_claude_models() {
        for (id, adaptive) in [
            ("claude-opus-4-6", true),
            ("anthropic/claude-opus-4.7", true),
            ("claude-sonnet-5", true),
            ("claude-haiku-5-5", true),
            ("claude-opus-4-5-20251101", false),
            ("claude-sonnet-4-20250514", false),
            ("claude-3-7-sonnet-20250219", false),
            ("MiniMax-M9", false),
        ] {
            assert_eq!(is_adaptive_claude(id), adaptive, "{id}");
        }
    }
}
