//! Arguments of a call against the tool's schema, with the repairs that models need. Pure.
//!
//! The schema knows `type`, `properties`, `required`, `items` and `enum`. A value of the wrong kind is converted where
//! only one meaning is possible; keys the schema does not name are dropped.

use serde_json::{Map, Number, Value};

pub use super::Arguments;

/// Arguments that do not fit the schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{parameter}` {problem}.")]
pub struct ArgumentError {
    /// Place of the value, e.g. `edits[0].oldText`.
    pub parameter: String,
    /// What is wrong and what is wanted.
    pub problem: String,
}

/// Other names under which models send a parameter.
const ALIASES: &[(&str, &[&str])] = &[
    ("path", &["file_path", "filePath", "target_file", "filename", "directory"]),
    ("command", &["cmd"]),
    ("content", &["contents", "file_text"]),
    ("oldText", &["old_text", "old_string", "oldString", "old_str"]),
    ("newText", &["new_text", "new_string", "newString", "new_str"]),
    ("ignoreCase", &["ignore_case"]),
];

/// Checks and repairs arguments.
pub fn check(schema: &Value, arguments: Arguments) -> Result<Arguments, ArgumentError> {
    object(schema, arguments, "")
}

/// A text argument.
pub(super) fn text<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.get(name)?.as_str()
}

/// A switch; off when absent.
pub(super) fn flag(arguments: &Arguments, name: &str) -> bool {
    arguments.get(name).and_then(Value::as_bool).unwrap_or(false)
}

/// A count. Less than one is taken as one: there is nothing else it could mean.
pub(super) fn count(arguments: &Arguments, name: &str) -> Option<usize> {
    let value = arguments.get(name)?;
    let count = value.as_u64().unwrap_or(if value.as_f64()? > 1.0 { u64::MAX } else { 1 });
    Some(usize::try_from(count.max(1)).unwrap_or(usize::MAX))
}

fn object(schema: &Value, mut given: Arguments, place: &str) -> Result<Arguments, ArgumentError> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(given) };
    fold_single_item(properties, &mut given);
    let mut checked = Map::new();
    for (name, property) in properties {
        let parameter = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        match take(&mut given, name) {
            Some(given) => {
                checked.insert(name.clone(), value(property, given, &parameter)?);
            }
            None if is_required(schema, name) => {
                return Err(ArgumentError { parameter, problem: "is missing".to_owned() });
            }
            None => {}
        }
    }
    Ok(checked)
}

/// The value under a name or one of its aliases; `null` is as good as absent.
fn take(given: &mut Arguments, name: &str) -> Option<Value> {
    let aliases = ALIASES.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, aliases)| aliases);
    let names = std::iter::once(&name).chain(aliases);
    names.filter_map(|name| given.shift_remove(*name)).find(|value| !value.is_null())
}

/// Fields of one item, given beside the list instead of in it, become the list's last item: the shape that `edit` had
/// once, and that models have learnt.
fn fold_single_item(properties: &Map<String, Value>, given: &mut Arguments) {
    for (name, property) in properties {
        let Some(items) = property.get("items") else { continue };
        let Some(fields) = items.get("properties").and_then(Value::as_object) else { continue };
        let mut item = Map::new();
        for field in fields.keys().filter(|field| !properties.contains_key(*field)) {
            if let Some(value) = take(given, field) {
                item.insert(field.clone(), value);
            }
        }
        let is_whole = !item.is_empty()
            && fields.keys().all(|field| !is_required(items, field) || item.contains_key(field));
        if is_whole {
            let mut list = match take(given, name).map(parsed) {
                Some(Value::Array(list)) => list,
                Some(single) => vec![single],
                None => Vec::new(),
            };
            list.push(Value::Object(item));
            given.insert(name.clone(), Value::Array(list));
        }
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

fn value(schema: &Value, given: Value, parameter: &str) -> Result<Value, ArgumentError> {
    let fail = |problem: String| ArgumentError { parameter: parameter.to_owned(), problem };
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let value = match kind {
        "string" => string(given),
        "integer" => integer(given),
        "number" => number(given),
        "boolean" => boolean(given),
        "array" => return array(schema, given, parameter),
        "object" => match parsed(given) {
            Value::Object(fields) => return Ok(Value::Object(object(schema, fields, parameter)?)),
            other => Err(other),
        },
        _ => Ok(given),
    };
    let value =
        value.map_err(|given| fail(format!("must be {}, not {}", wanted(kind), described(&given))))?;
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(&value)
    {
        let allowed: Vec<String> = allowed
            .iter()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .collect();
        return Err(fail(format!("must be one of {}", allowed.join(", "))));
    }
    Ok(value)
}

fn array(schema: &Value, given: Value, parameter: &str) -> Result<Value, ArgumentError> {
    let items = schema.get("items").unwrap_or(&Value::Null);
    let list = match parsed(given) {
        Value::Array(list) => list,
        single => vec![single],
    };
    let checked = list
        .into_iter()
        .enumerate()
        .map(|(index, item)| value(items, item, &format!("{parameter}[{index}]")));
    Ok(Value::Array(checked.collect::<Result<_, _>>()?))
}

/// A list or an object that was written as text.
fn parsed(given: Value) -> Value {
    match &given {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(inner @ (Value::Array(_) | Value::Object(_))) => inner,
            Ok(_) | Err(_) => given,
        },
        _ => given,
    }
}

fn string(given: Value) -> Result<Value, Value> {
    match given {
        Value::String(_) => Ok(given),
        Value::Number(number) => Ok(Value::String(number.to_string())),
        Value::Bool(truth) => Ok(Value::String(truth.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(given),
    }
}

fn number(given: Value) -> Result<Value, Value> {
    match &given {
        Value::Number(_) => Ok(given),
        Value::String(text) => {
            let text = text.trim();
            let number = text.parse::<i64>().ok().map(Number::from);
            number.or_else(|| Number::from_f64(text.parse().ok()?)).map(Value::Number).ok_or(given)
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(given),
    }
}

fn integer(given: Value) -> Result<Value, Value> {
    let number = number(given.clone())?;
    if number.is_i64() || number.is_u64() {
        return Ok(number);
    }
    match number.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within the exact range")]
        Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => Ok(Value::from(float as i64)),
        Some(_) | None => Err(given),
    }
}

fn boolean(given: Value) -> Result<Value, Value> {
    match &given {
        Value::Bool(_) => Ok(given),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Ok(Value::Bool(true)),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Ok(Value::Bool(false)),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => Err(given),
    }
}

fn wanted(kind: &str) -> &'static str {
    match kind {
        "string" => "text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        _ => "an object",
    }
}

fn described(given: &Value) -> String {
    match given {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("`{}`", text.chars().take(40).collect::<String>()),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": "string"},
            "count": {"type": "integer"},
            "seconds": {"type": "number"},
            "on": {"type": "boolean"},
            "kind": {"type": "string", "enum": ["a", "b"]},
            "names": {"type": "array", "items": {"type": "string"}},
            "edits": {"type": "array", "items": {"type": "object", "required": ["oldText", "newText"],
                "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}}}},
        }})
    }

    fn checked(given: Value) -> Result<Value, String> {
        let Value::Object(given) = given else { panic!("an object") };
        check(&schema(), given).map(Value::Object).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_converted_where_only_one_meaning_is_possible() {
        for (given, want) in [
            (json!({"path": "a", "other": 1}), json!({"path": "a"})),
            (
                json!({"path": 5, "count": "5", "seconds": "1.5", "on": "True"}),
                json!({"path": "5", "count": 5, "seconds": 1.5, "on": true}),
            ),
            (
                json!({"path": "a", "count": 5.0, "seconds": " 7 "}),
                json!({"path": "a", "count": 5, "seconds": 7}),
            ),
            (json!({"path": "a", "count": null, "on": null}), json!({"path": "a"})),
            (json!({"path": true}), json!({"path": "true"})),
            (json!({"path": "a", "names": "[\"x\", 2]"}), json!({"path": "a", "names": ["x", "2"]})),
            (json!({"path": "a", "names": "x"}), json!({"path": "a", "names": ["x"]})),
            (
                json!({"path": "a", "edits": "[{\"oldText\": \"x\", \"newText\": \"y\"}]"}),
                json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
            ),
            (
                json!({"path": "a", "edits": {"oldText": "x", "newText": "y", "why": 1}}),
                json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
            ),
            (
                json!({"path": "a", "edits": ["{\"oldText\": \"x\", \"newText\": \"y\"}"]}),
                json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
            ),
            (
                json!({"file_path": "a", "old_string": "x", "new_string": ""}),
                json!({"path": "a", "edits": [{"oldText": "x", "newText": ""}]}),
            ),
            (
                json!({"path": "a", "oldText": "x", "newText": "y", "edits": [{"oldText": "p", "newText": "q"}]}),
                json!({"path": "a", "edits": [{"oldText": "p", "newText": "q"}, {"oldText": "x", "newText": "y"}]}),
            ),
        ] {
            assert_eq!(checked(given.clone()).as_ref(), Ok(&want), "{given}");
        }
    }

    #[test]
    fn an_error_names_the_parameter_and_what_is_wanted() {
        for (given, want) in [
            (json!({}), "`path` is missing."),
            (json!({"path": null}), "`path` is missing."),
            (json!({"path": ["a"]}), "`path` must be text, not a list."),
            (json!({"path": "a", "count": "many"}), "`count` must be a whole number, not `many`."),
            (json!({"path": "a", "count": 1.5}), "`count` must be a whole number, not 1.5."),
            (json!({"path": "a", "on": 2}), "`on` must be true or false, not 2."),
            (json!({"path": "a", "kind": "c"}), "`kind` must be one of a, b."),
            (json!({"path": "a", "edits": [{"oldText": "x"}]}), "`edits[0].newText` is missing."),
            (json!({"path": "a", "edits": "broken ["}), "`edits[0]` must be an object, not `broken [`."),
        ] {
            assert_eq!(checked(given.clone()), Err(want.to_owned()), "{given}");
        }
    }

    #[test]
    fn a_count_is_at_least_one() {
        let Value::Object(given) = json!({"a": 0, "b": -3, "c": 7}) else { panic!("an object") };
        assert_eq!(["a", "b", "c", "d"].map(|name| count(&given, name)), [Some(1), Some(1), Some(7), None]);
    }
}
