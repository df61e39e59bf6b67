//! Which model a pattern means. Pure: what is known goes in, a model or an error with near names comes out.
//!
//! Order: exact `provider/id`; exact id; part of an id or a name (undated ids before dated ones, then the highest);
//! under a known provider, an id that nobody lists. A thinking level may follow after a colon; what is no level
//! belongs to the id. Providers with a key come before those without.

use crate::proto::model::{ModelRef, ThinkingLevel};
use std::cmp::{Ordering, Reverse};

/// A provider, as far as the choice needs it.
#[derive(Clone, Copy, Debug)]
pub struct ProviderFact<'a> {
    /// Its id.
    pub id: &'a str,
    /// The provider whose models it serves: itself, unless it is another name of one.
    pub models_of: &'a str,
    /// Requests can be sent: there is a key, or none is needed.
    pub has_key: bool,
    /// Ids are taken as written, never as a part of a listed one: the server is not the one that the list is about.
    pub as_written: bool,
}

/// A listed model, as far as the choice needs it.
#[derive(Clone, Copy, Debug)]
pub struct ModelFact<'a> {
    /// Provider id.
    pub provider: &'a str,
    /// Model id.
    pub id: &'a str,
    /// Name for people.
    pub name: &'a str,
}

/// What is known.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    /// Providers, preferred ones first.
    pub providers: Vec<ProviderFact<'a>>,
    /// Their models.
    pub models: Vec<ModelFact<'a>>,
}

/// What a pattern means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The model.
    pub reference: ModelRef,
    /// The level after the colon.
    pub thinking: Option<ThinkingLevel>,
    /// The model is listed, not only its provider known.
    pub listed: bool,
}

/// A pattern that means no model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// Nothing fits.
    #[error("No model matches `{pattern}`. {}", hint(near))]
    Unknown {
        /// What was asked for.
        pattern: String,
        /// Similar ones, nearest first, at most [`NEAR_LIMIT`].
        near: Vec<String>,
    },
    /// Several providers have a model of that id.
    #[error("Several providers offer `{id}`. Say which: {}.", offered.join(", "))]
    Ambiguous {
        /// The id.
        id: String,
        /// The choices, as `provider/id`.
        offered: Vec<String>,
    },
    /// A key for one run, and nothing says which provider it is for.
    #[error("`--api-key` needs `--model provider/id` beside it, so that the key goes to the right provider.")]
    KeyWithoutModel,
}

/// How many similar names an error offers.
pub const NEAR_LIMIT: usize = 5;

fn hint(near: &[String]) -> String {
    if near.is_empty() {
        "Name it as `provider/id`, for example `anthropic/claude-opus-5-5`.".to_owned()
    } else {
        format!("Similar: {}.", near.join(", "))
    }
}

/// Finds the model that a pattern means.
pub fn resolve(pattern: &str, known: &Known) -> Result<Match, SelectError> {
    let pattern = pattern.trim();
    if let Some(reference) = known.exact(pattern)? {
        return Ok(Match { reference, thinking: None, listed: true });
    }
    let (name, thinking) = split_level(pattern);
    let listed = |reference| Match { reference, thinking, listed: true };
    if let Some(reference) = known.exact(name)? {
        return Ok(listed(reference));
    }
    if let Some(reference) = known.by_part(name) {
        return Ok(listed(reference));
    }
    if let Some((provider, id)) = known.split_provider(name) {
        return Ok(Match { reference: ModelRef::new(provider.id, id), thinking, listed: false });
    }
    Err(SelectError::Unknown { pattern: pattern.to_owned(), near: near(name, known) })
}

/// Takes a thinking level off the end.
fn split_level(pattern: &str) -> (&str, Option<ThinkingLevel>) {
    match pattern.rsplit_once(':').map(|(name, level)| (name, level.parse())) {
        Some((name, Ok(level))) => (name, Some(level)),
        _ => (pattern, None),
    }
}

impl<'a> Known<'a> {
    /// The known provider that a text begins with, and the id after it.
    fn split_provider<'t>(&self, text: &'t str) -> Option<(ProviderFact<'a>, &'t str)> {
        let (provider, id) = text.split_once('/').filter(|(_, id)| !id.is_empty())?;
        Some((*self.providers.iter().find(|fact| fact.id == provider)?, id))
    }

    fn exact(&self, text: &str) -> Result<Option<ModelRef>, SelectError> {
        let mut among_keyed_only = false;
        if let Some((provider, id)) = self.split_provider(text) {
            let mut of_provider = self.models.iter().filter(|model| model.provider == provider.models_of);
            if let Some(model) = of_provider.find(|model| model.id.eq_ignore_ascii_case(id)) {
                return Ok(Some(ModelRef::new(provider.id, model.id)));
            }
            if provider.has_key || provider.as_written {
                return Ok(None);
            }
            // Aggregators have ids like `anthropic/claude`: with a key for one, and none for the provider that is
            // named, the id is meant.
            among_keyed_only = true;
        }
        let of_id: Vec<&ModelFact> =
            self.models.iter().filter(|model| model.id.eq_ignore_ascii_case(text)).collect();
        let keyed: Vec<&ModelFact> =
            of_id.iter().copied().filter(|model| self.has_key(model.provider)).collect();
        let candidates = if keyed.is_empty() && !among_keyed_only { of_id } else { keyed };
        match candidates.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(ModelRef::new(one.provider, one.id))),
            several => Err(SelectError::Ambiguous {
                id: text.to_owned(),
                offered: several.iter().map(|model| format!("{}/{}", model.provider, model.id)).collect(),
            }),
        }
    }

    /// The best of the models whose id or name holds the text.
    fn by_part(&self, text: &str) -> Option<ModelRef> {
        if let Some((provider, id)) = self.split_provider(text) {
            let of_provider =
                |model: &ModelFact| model.provider == provider.models_of && !provider.as_written;
            return self.best(id, of_provider).map(|model| ModelRef::new(provider.id, model.id));
        }
        self.best(text, |model| self.has_key(model.provider))
            .or_else(|| self.best(text, |_| true))
            .map(|model| ModelRef::new(model.provider, model.id))
    }

    fn best(&self, text: &str, allowed: impl Fn(&ModelFact) -> bool) -> Option<&ModelFact<'a>> {
        let text = text.to_ascii_lowercase();
        if text.is_empty() {
            return None;
        }
        let holds = |field: &str| field.to_ascii_lowercase().contains(&text);
        self.models
            .iter()
            .filter(|model| allowed(model) && (holds(model.id) || holds(model.name)))
            .min_by_key(|model| {
                // `:batch`, `:free`: the same model under other conditions, to be asked for by its whole id.
                let is_variant = model.id.contains(':');
                (is_variant, is_dated(model.id), self.rank(model.provider), Reverse(Natural(model.id)))
            })
    }

    fn has_key(&self, provider: &str) -> bool {
        self.providers.iter().any(|fact| fact.id == provider && fact.has_key)
    }

    fn rank(&self, provider: &str) -> usize {
        self.providers.iter().position(|fact| fact.id == provider).unwrap_or(usize::MAX)
    }
}

/// The id ends in a date: `-20251101`, `-2024-05-13`, `-0813`.
fn is_dated(id: &str) -> bool {
    let mut parts = id.rsplit('-');
    let mut digits = || parts.next().filter(|part| part.bytes().all(|b| b.is_ascii_digit())).map(str::len);
    match digits() {
        Some(8 | 4) => true,
        Some(2) => digits() == Some(2) && digits() == Some(4),
        _ => false,
    }
}

/// An order of ids in which `5.10` is above `5.9`, and a number above a word.
#[derive(PartialEq, Eq)]
struct Natural<'a>(&'a str);

impl PartialOrd for Natural<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Natural<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let is_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        for (a, b) in runs(self.0).zip(runs(other.0)) {
            let order = match (is_digit(a), is_digit(b)) {
                (true, true) => {
                    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
                    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
                }
                (a_digit, b_digit) => a_digit.cmp(&b_digit).then_with(|| a.cmp(b)),
            };
            if order.is_ne() {
                return order;
            }
        }
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(other.0))
    }
}

/// Runs of digits, and of anything else.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let digit = rest.chars().next()?.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != digit).unwrap_or(rest.len());
        let (run, behind) = rest.split_at_checked(end)?;
        rest = behind;
        Some(run)
    })
}

/// Listed models whose name is like the text, nearest first. Under a known provider only its own.
pub fn near(text: &str, known: &Known) -> Vec<String> {
    let (of_provider, name) = match known.split_provider(text) {
        Some((provider, id)) => (Some(provider.models_of), id),
        None => (None, text),
    };
    let name = name.to_lowercase();
    let length = name.chars().count();
    // A third of the letters may be wrong: more is another word.
    let limit = (length / 3).max(1);
    let distance_to = |listed: &str| {
        let may_be_near = listed.chars().count().abs_diff(length) <= limit;
        may_be_near
            .then(|| edit_distance(&name, &listed.to_lowercase()))
            .filter(|distance| *distance <= limit)
    };
    let mut found: Vec<(usize, bool, usize, String)> = Vec::new();
    for model in &known.models {
        if of_provider.is_some_and(|provider| provider != model.provider) {
            continue;
        }
        let whole = format!("{}/{}", model.provider, model.id);
        // With a provider's name in front that is misspelt itself, the whole text is compared.
        let with_provider = if of_provider.is_none() { distance_to(&whole) } else { None };
        if let Some(distance) = distance_to(model.id).into_iter().chain(with_provider).min() {
            found.push((distance, !known.has_key(model.provider), known.rank(model.provider), whole));
        }
    }
    found.sort();
    found.into_iter().take(NEAR_LIMIT).map(|(_, _, _, name)| name).collect()
}

/// Letters that must be inserted, removed or changed to make one text the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // Distances from the part of `a` so far to each beginning of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a_char) in a.chars().enumerate() {
        let mut left = i + 1;
        let mut diagonal = std::mem::replace(row.first_mut().unwrap_or(&mut 0), left);
        for (b_char, above) in b.iter().zip(row.iter_mut().skip(1)) {
            let changed = diagonal + usize::from(a_char != *b_char);
            diagonal = *above;
            left = changed.min(left + 1).min(*above + 1);
            *above = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
