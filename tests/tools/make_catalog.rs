//! Makes the shipped model catalogue from a file of model data: `cargo run --example make_catalog -- FILE > assets/models.tsv`.
//!
//! FILE is JSON, `{source, providers: {provider: {id: record}}}`, with the record fields of Pi's model data. The
//! format that comes out is described in `src/llm/catalog.rs`, which reads it.

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};
use std::io::Write;

/// Dialects we speak; models of others are left out.
const DIALECTS: [&str; 3] = ["anthropic-messages", "openai-completions", "openai-responses"];

/// Left out whole: it needs a login that we do not have, and headers that present us as another program.
const SKIPPED_PROVIDERS: [&str; 1] = ["github-copilot"];

fn main() -> Result<()> {
    let path = std::env::args().nth(1).context("give the model data file as the argument")?;
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let data: Value = serde_json::from_str(&text).with_context(|| format!("{path} is not JSON"))?;
    let source = data.get("source").and_then(Value::as_str).context("no `source`")?;
    let providers = data.get("providers").and_then(Value::as_object).context("no `providers`")?;

    let mut out = format!("Made by tests/tools/make_catalog.rs, do not edit. Source: {source}\n");
    for (provider, models) in providers {
        if SKIPPED_PROVIDERS.contains(&provider.as_str()) {
            continue;
        }
        let models = models.as_object().with_context(|| format!("{provider} is no object"))?;
        for dialect in DIALECTS {
            let of_dialect = models.values().filter(|model| text_of(model, "api") == Some(dialect));
            write_section(&mut out, provider, dialect, of_dialect)?;
        }
    }
    std::io::stdout().write_all(out.as_bytes())?;
    Ok(())
}

/// One paragraph: a header, then a line for each model. All models of a section share the base URL.
fn write_section<'a>(
    out: &mut String,
    provider: &str,
    dialect: &str,
    models: impl Iterator<Item = &'a Value>,
) -> Result<()> {
    let mut section_url = None;
    for model in models {
        let id = text_of(model, "id").with_context(|| format!("a model of {provider} has no id"))?;
        let base_url = text_of(model, "baseUrl").with_context(|| format!("{provider}/{id}: no baseUrl"))?;
        match section_url {
            None => {
                *out += &format!("\n{provider}\t{dialect}\t{base_url}\n");
                section_url = Some(base_url);
            }
            Some(url) => ensure!(url == base_url, "{provider}/{id}: another base URL than its neighbours"),
        }
        let name = text_of(model, "name").unwrap_or(id);
        ensure!(
            ![id, name].iter().any(|text| text.contains(['\t', '\n'])),
            "{provider}/{id}: tab or newline"
        );
        *out += &format!("{id}\t{name}\t{}\n", record(model));
    }
    Ok(())
}

/// What the catalogue keeps of a model. Whatever is false, empty or absent is left out.
fn record(model: &Value) -> Value {
    let mut kept = Map::new();
    if model.get("reasoning") == Some(&Value::Bool(true)) {
        kept.insert("reasoning".to_owned(), json!(true));
    }
    let inputs = model.get("input").and_then(Value::as_array);
    if inputs.is_some_and(|inputs| inputs.contains(&json!("image"))) {
        kept.insert("images".to_owned(), json!(true));
    }
    for (ours, theirs) in [("window", "contextWindow"), ("output", "maxTokens")] {
        kept.insert(ours.to_owned(), model.get(theirs).cloned().unwrap_or_default());
    }
    let cost = model.get("cost").cloned().unwrap_or_default();
    kept.insert("price".to_owned(), Value::Array(rates(&cost)));
    let tiers = cost.get("tiers").and_then(Value::as_array).into_iter().flatten().map(|tier| {
        let mut row = vec![tier.get("inputTokensAbove").cloned().unwrap_or_default()];
        row.extend(rates(tier));
        Value::Array(row)
    });
    let tiers: Vec<Value> = tiers.collect();
    if !tiers.is_empty() {
        kept.insert("tiers".to_owned(), Value::Array(tiers));
    }
    for (ours, theirs) in [("thinking", "thinkingLevelMap"), ("headers", "headers"), ("compat", "compat")] {
        if let Some(Value::Object(fields)) = model.get(theirs)
            && !fields.is_empty()
        {
            kept.insert(ours.to_owned(), Value::Object(fields.clone()));
        }
    }
    Value::Object(kept)
}

/// Input, output, cache read, cache write.
fn rates(cost: &Value) -> Vec<Value> {
    ["input", "output", "cacheRead", "cacheWrite"]
        .map(|kind| cost.get(kind).cloned().unwrap_or(json!(0)))
        .to_vec()
}

fn text_of<'a>(model: &'a Value, key: &str) -> Option<&'a str> {
    model.get(key).and_then(Value::as_str)
}
