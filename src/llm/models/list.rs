//! The table of models for people: `--list-models`, the picker.

use super::Models;
use crate::llm::{Model, Price, scripted};
use crate::proto::model::ModelRef;
use std::collections::BTreeMap;

/// A model in the table.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRow {
    /// Provider id.
    pub provider: String,
    /// Model id.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Tokens that fit.
    pub context_window: u64,
    /// Tokens it can generate.
    pub max_tokens: u64,
    /// It can think.
    pub thinking: bool,
    /// It takes pictures.
    pub images: bool,
    /// US dollars per million tokens.
    pub price: Price,
    /// Requests can be sent: there is a key, or none is needed.
    pub has_key: bool,
}

impl Models {
    /// All models, preferred providers first; with a search those that fit all of its words. A word fits as a part of
    /// `provider/id name`; if no model has it as a part, its letters in order will do.
    pub fn list(&self, search: Option<&str>) -> Vec<ModelRow> {
        let mut rows = self.all_rows();
        let words: Vec<String> =
            search.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
        let text = |row: &ModelRow| format!("{}/{} {}", row.provider, row.id, row.name).to_lowercase();
        let by_part = |row: &ModelRow| words.iter().all(|word| text(row).contains(word.as_str()));
        if rows.iter().any(by_part) {
            rows.retain(by_part);
        } else {
            rows.retain(|row| words.iter().all(|word| holds_in_order(&text(row), word)));
        }
        rows
    }

    fn all_rows(&self) -> Vec<ModelRow> {
        let of_catalog = self.catalog.models().map(|model| match self.file_model(&model.reference) {
            Some(_) => self.finish(self.blank(&model.reference)),
            None => self.finish(model),
        });
        let mut models: Vec<Model> = of_catalog.collect();
        for (provider, file) in &self.files {
            for model in &file.models {
                let reference = ModelRef::new(provider, &model.id);
                if self.catalog.find(provider, &model.id).is_none() {
                    models.push(self.finish(self.blank(&reference)));
                }
            }
        }
        models.extend(self.local_only().map(|model| Model::clone(model)));
        models.push(scripted::model(scripted::TOUR));

        let ranks: BTreeMap<&str, usize> =
            self.table.rows().iter().enumerate().map(|(rank, row)| (row.id.as_str(), rank)).collect();
        let rank =
            |model: &Model| ranks.get(model.reference.provider.as_str()).copied().unwrap_or(usize::MAX);
        models.sort_by_key(rank);
        let mut keys: BTreeMap<String, bool> = BTreeMap::new();
        let rows = models.into_iter().map(|model| {
            let provider = model.reference.provider;
            let has_key = *keys.entry(provider.clone()).or_insert_with(|| self.has_key(&provider));
            ModelRow {
                provider,
                id: model.reference.id,
                name: model.name,
                context_window: model.context_window,
                max_tokens: model.max_tokens,
                thinking: model.reasoning,
                images: model.images,
                price: model.price,
                has_key,
            }
        });
        rows.collect()
    }
}

/// The letters of `word` are in the text, in this order.
fn holds_in_order(text: &str, word: &str) -> bool {
    let mut letters = text.chars();
    word.chars().all(|wanted| letters.any(|letter| letter == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_must_come_in_order() {
        for (text, word, expected) in
            [("claude opus", "clop", true), ("claude opus", "opcl", false), ("a", "", true)]
        {
            assert_eq!(holds_in_order(text, word), expected, "{word}");
        }
    }
}
