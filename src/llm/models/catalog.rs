//! The shipped catalogue: models, windows, prices and differences from the dialects, as data in the binary.
//!
//! Format of `assets/models.tsv`: paragraphs separated by an empty line. The first says where the data is from. Each
//! other one begins with a line `provider TAB dialect TAB base URL`, then one line a model: `id TAB name TAB JSON`.
//!
//! Invariant: nothing is parsed before it is asked for. A start that needs one model reads the JSON of one line; a
//! search reads ids and names only.

use crate::llm::{Dialect, Model, Price, PriceTier};
use crate::proto::model::{ModelRef, ThinkingLevel};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The models of every provider that the binary knows.
pub struct Catalog {
    sections: Vec<Section>,
}

/// Models of one provider that share a dialect and a base URL.
struct Section {
    provider: &'static str,
    dialect: Dialect,
    base_url: &'static str,
    lines: &'static str,
}

/// A model of the catalogue, as far as a search needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogRow {
    /// Provider id.
    pub provider: &'static str,
    /// Model id.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
}

impl Catalog {
    /// The catalogue in the binary.
    pub fn shipped() -> Self {
        Self::of_text(include_str!("../../../assets/models.tsv"))
    }

    fn of_text(text: &'static str) -> Self {
        Self { sections: text.split("\n\n").skip(1).filter_map(Section::of_paragraph).collect() }
    }

    /// A model by its exact provider and id.
    pub fn find(&self, provider: &str, id: &str) -> Option<Model> {
        self.of_provider(provider).find_map(|section| {
            let (row, json) = section.rows().find(|(row, _)| row.id == id)?;
            section.model(row, json)
        })
    }

    /// Provider, id and name of every model, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = CatalogRow> {
        self.sections.iter().flat_map(|section| section.rows().map(|(row, _)| row))
    }

    /// Every model, in the order of the file.
    pub fn models(&self) -> impl Iterator<Item = Model> {
        self.sections
            .iter()
            .flat_map(|section| section.rows().filter_map(|(row, json)| section.model(row, json)))
    }

    /// Where requests to a provider go in this dialect.
    pub fn base_url(&self, provider: &str, dialect: Dialect) -> Option<&'static str> {
        self.of_provider(provider).find(|section| section.dialect == dialect).map(|section| section.base_url)
    }

    fn of_provider(&self, provider: &str) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |section| section.provider == provider)
    }
}

impl Section {
    fn of_paragraph(paragraph: &'static str) -> Option<Self> {
        let (head, lines) = paragraph.split_once('\n')?;
        let mut fields = head.split('\t');
        Some(Self {
            provider: fields.next()?,
            dialect: Dialect::from_name(fields.next()?)?,
            base_url: fields.next()?,
            lines,
        })
    }

    fn rows(&self) -> impl Iterator<Item = (CatalogRow, &'static str)> {
        let provider = self.provider;
        self.lines.lines().filter_map(move |line| {
            let mut fields = line.splitn(3, '\t');
            let row = CatalogRow { provider, id: fields.next()?, name: fields.next()? };
            Some((row, fields.next()?))
        })
    }

    fn model(&self, row: CatalogRow, json: &str) -> Option<Model> {
        // The data is ours and a test reads every line of it, so a line that does not parse is not met here.
        let record: Record = serde_json::from_str(json).ok()?;
        Some(Model {
            reference: ModelRef::new(row.provider, row.id),
            name: row.name.to_owned(),
            dialect: self.dialect,
            base_url: self.base_url.to_owned(),
            reasoning: record.reasoning,
            thinking_levels: record.thinking,
            images: record.images,
            context_window: record.window,
            max_tokens: record.output,
            price: price(record.price, record.tiers),
            headers: record.headers,
            compat: record.compat,
            unlisted: false,
        })
    }
}

/// The JSON part of a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    #[serde(default)]
    reasoning: bool,
    #[serde(default)]
    images: bool,
    window: u64,
    output: u64,
    /// Input, output, cache read, cache write.
    price: [f64; 4],
    /// Prompt size that must be exceeded, then the four prices.
    #[serde(default)]
    tiers: Vec<(u64, f64, f64, f64, f64)>,
    #[serde(default)]
    thinking: BTreeMap<ThinkingLevel, Option<String>>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    compat: Map<String, Value>,
}

fn price([input, output, cache_read, cache_write]: [f64; 4], tiers: Vec<(u64, f64, f64, f64, f64)>) -> Price {
    let mut tiers: Vec<PriceTier> = tiers
        .into_iter()
        .map(|(above, input, output, cache_read, cache_write)| PriceTier {
            above,
            input,
            output,
            cache_read,
            cache_write,
        })
        .collect();
    tiers.sort_by_key(|tier| tier.above);
    Price { input, output, cache_read, cache_write, tiers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_shipped_catalogue_is_a_model() {
        let catalog = Catalog::shipped();
        let text = include_str!("../../../assets/models.tsv");
        let lines = text.lines().filter(|line| line.contains('{')).count();
        assert_eq!(catalog.rows().count(), lines);
        assert_eq!(catalog.models().count(), lines);
        for model in catalog.models() {
            assert!(model.context_window > 0 && model.max_tokens > 0, "{}", model.reference);
            assert!(model.base_url.starts_with("https://"), "{}", model.reference);
        }
        assert!(lines > 700);
    }

    #[test]
    fn a_model_has_all_its_figures() {
        let model = Catalog::shipped().find("openai", "gpt-5.4").unwrap();
        assert_eq!(model.dialect, Dialect::OpenAiResponses);
        assert_eq!(model.base_url, "https://api.openai.com/v1");
        assert!(model.reasoning && model.images && !model.unlisted);
        assert_eq!(model.price.input, 2.5);
        assert_eq!(model.price.tiers[0].above, 272_000);
        assert_eq!(model.price.tiers[0].output, 22.5);
        assert!(!model.compat.is_empty());
    }

    #[test]
    fn a_level_that_is_not_offered_differs_from_one_that_is_not_mapped() {
        let model = Catalog::shipped().find("anthropic", "claude-fable-5").unwrap();
        assert_eq!(model.thinking_levels.get(&ThinkingLevel::Off), Some(&None));
        assert_eq!(model.thinking_levels.get(&ThinkingLevel::Low), None);
        assert_eq!(model.thinking_levels.get(&ThinkingLevel::Max), Some(&Some("max".to_owned())));
    }

    #[test]
    fn the_same_id_of_two_providers_stays_two_models() {
        let catalog = Catalog::shipped();
        assert_eq!(
            catalog.find("anthropic", "claude-opus-5-5").unwrap().base_url,
            "https://api.anthropic.com"
        );
        assert!(catalog.find("opencode", "claude-opus-5-5").unwrap().base_url.contains("opencode"));
        assert_eq!(catalog.find("openai", "claude-opus-5-5"), None);
    }
}
