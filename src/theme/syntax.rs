//! Scopes of source code to roles: the small table that stands in for the hundreds of rules of an editor's theme.

use super::role::Role;
use std::sync::OnceLock;
use syntect::parsing::{Scope, ScopeStack};

/// Prefix of a scope, and its role. Of those that fit one scope the longest holds; of the scopes of a place the innermost
/// that has a role.
const RULES: &[(&str, Role)] = &[
    ("comment", Role::SyntaxComment),
    ("punctuation.definition.comment", Role::SyntaxComment),
    ("string", Role::SyntaxString),
    ("punctuation.definition.string", Role::SyntaxString),
    ("constant.character", Role::SyntaxString),
    ("constant", Role::SyntaxNumber),
    ("support.constant", Role::SyntaxNumber),
    ("keyword", Role::SyntaxKeyword),
    ("storage", Role::SyntaxKeyword),
    ("variable.language", Role::SyntaxKeyword),
    ("keyword.operator", Role::SyntaxOperator),
    ("keyword.operator.word", Role::SyntaxKeyword),
    ("keyword.operator.logical.python", Role::SyntaxKeyword),
    ("entity.name.function", Role::SyntaxFunction),
    ("support.function", Role::SyntaxFunction),
    ("support.macro", Role::SyntaxFunction),
    ("variable.function", Role::SyntaxFunction),
    ("entity.name", Role::SyntaxType),
    ("entity.name.tag", Role::SyntaxKeyword),
    ("entity.other.attribute-name", Role::SyntaxFunction),
    ("entity.other.inherited-class", Role::SyntaxType),
    ("support.type", Role::SyntaxType),
    ("support.class", Role::SyntaxType),
    ("storage.type.primitive", Role::SyntaxType),
    ("storage.type.numeric", Role::SyntaxNumber),
    ("variable", Role::SyntaxVariable),
    ("meta.mapping.key", Role::SyntaxType),
    ("punctuation", Role::SyntaxPunctuation),
    ("markup.heading", Role::MdHeading),
    ("markup.inserted", Role::ToolDiffAdded),
    ("markup.deleted", Role::ToolDiffRemoved),
    ("markup.raw", Role::MdCode),
    ("markup.underline.link", Role::MdLink),
];

/// The role of a place with these scopes. Code without one is plain.
pub fn role(stack: &ScopeStack) -> Role {
    let rules = rules();
    for scope in stack.as_slice().iter().rev() {
        let fit = rules.iter().filter(|(prefix, _)| prefix.is_prefix_of(*scope));
        if let Some((_, role)) = fit.max_by_key(|(prefix, _)| prefix.len()) {
            return *role;
        }
    }
    Role::MdCodeBlock
}

fn rules() -> &'static [(Scope, Role)] {
    static PARSED: OnceLock<Vec<(Scope, Role)>> = OnceLock::new();
    PARSED.get_or_init(|| {
        // A prefix that is no scope would never fit; the test below says that all are.
        RULES.iter().filter_map(|(prefix, role)| Some((Scope::new(prefix).ok()?, *role))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    #[test]
    fn scopes_have_roles() {
        assert_eq!(rules().len(), RULES.len());
        let table = [
            ("source.rust", Role::MdCodeBlock),
            ("source.rust comment.line.double-slash.rust", Role::SyntaxComment),
            ("source.rust keyword.operator.arithmetic.rust", Role::SyntaxOperator),
            ("source.rust keyword.control.rust", Role::SyntaxKeyword),
            ("source.rust meta.function.rust entity.name.function.rust", Role::SyntaxFunction),
            ("source.rust string.quoted.double.rust constant.character.escape.rust", Role::SyntaxString),
            ("source.json constant.numeric.json", Role::SyntaxNumber),
            ("source.rust entity.name.struct.rust", Role::SyntaxType),
        ];
        for (scopes, expected) in table {
            assert_eq!(role(&ScopeStack::from_str(scopes).unwrap()), expected, "{scopes}");
        }
    }
}
