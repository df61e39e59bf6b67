//! From the syntax tree to segments.

use super::words::{Word, children, named_children, text_of, word_of, word_of_all};
use super::wrappers::{Inside, inside};
use super::{Assignment, Inner, Parsed, Redirect, RedirectKind, Segment, parse_into};
use std::ops::Range;
use tree_sitter::Node;

/// Nodes within nodes.
const MAX_LEVEL: usize = 150;

/// Words that are no commands where one is expected.
const RESERVED: [&str; 18] = [
    "!", "{", "}", "[[", "]]", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done",
    "case", "esac", "in",
];

/// A text that our grammar takes for plain but in which bash would run something.
fn has_substitution(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '`' => return true,
            '$' if chars.peek() == Some(&'(') => return true,
            _ => {}
        }
    }
    false
}

/// Several words that our grammar takes for one.
fn has_bare_blank(text: &str) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            ' ' | '\t' | '\n' => return true,
            _ => {}
        }
    }
    false
}

/// Collects the commands of one text.
pub(super) struct Walker<'a> {
    pub(super) source: &'a str,
    /// Of the command that runs this script.
    pub(super) range: Option<Range<usize>>,
    /// How many scripts this one is in.
    pub(super) depth: usize,
    pub(super) parsed: &'a mut Parsed,
}

/// What a command is made of while its parts are collected.
#[derive(Default)]
struct Draft<'t> {
    segment: Segment,
    heredocs: Vec<Option<String>>,
    /// The nodes of the last word.
    last: Vec<Node<'t>>,
}

impl<'t> Draft<'t> {
    /// Adds a word, or the rest of one.
    fn push(&mut self, source: &str, node: Node<'t>) {
        if self.last.last().is_some_and(|last| last.end_byte() == node.start_byte()) {
            self.segment.words.pop();
        } else {
            self.last.clear();
        }
        self.last.push(node);
        self.segment.words.push(word_of_all(source, &self.last));
    }
}

impl Walker<'_> {
    /// Adds all commands below a node, and notes what makes them uncertain.
    pub(super) fn visit(&mut self, node: Node<'_>, level: usize) {
        if level > MAX_LEVEL {
            return self.parsed.set_opaque("it is too deep to be judged");
        }
        let level = level + 1;
        match node.kind() {
            "command" => self.command(node, &[], level),
            "redirected_statement" => self.redirected(node, level),
            "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                let mut draft = self.draft(node);
                self.redirect(node, &mut draft, level);
                self.finish(draft);
            }
            "declaration_command" | "unset_command" => self.declaration(node, level),
            "variable_assignment" => self.bare_assignment(node, level),
            "for_statement" => self.for_loop(node, level),
            "heredoc_body" => self.visit_all(node, level),
            "command_substitution" if text_of(self.source, node).starts_with('`') => {
                if text_of(self.source, node).contains('\\') {
                    self.parsed.set_opaque("it escapes something within backticks");
                }
                self.visit_all(node, level);
            }
            "expansion" => {
                if text_of(self.source, node).contains("@P") {
                    self.parsed.set_opaque("it expands a variable like a prompt");
                }
                self.visit_all(node, level);
            }
            "simple_expansion" => {
                if text_of(self.source, node).trim_start().contains(char::is_whitespace) {
                    self.parsed.set_opaque("it could not be parsed");
                }
                self.visit_all(node, level);
            }
            "string" => {
                self.check_string(node);
                self.visit_all(node, level);
            }
            "comment" => {
                let before = self.source.get(..node.start_byte()).unwrap_or_default();
                let may_follow = |c: char| c.is_ascii_whitespace() || ";&|()`".contains(c);
                let is_escaped = before.ends_with("\\ ") || before.ends_with("\\\t");
                if is_escaped || !before.is_empty() && !before.ends_with(may_follow) {
                    self.parsed.set_opaque("it may hold a comment or not");
                }
            }
            "raw_string" | "ansi_c_string" | "heredoc_start" | "heredoc_end" | "file_descriptor" => {}
            "word" if has_bare_blank(text_of(self.source, node)) => {
                self.parsed.set_opaque("it could not be parsed");
            }
            "word"
            | "string_content"
            | "heredoc_content"
            | "regex"
            | "extglob_pattern"
            | "number"
            | "variable_name"
            | "special_variable_name"
            | "test_operator" => {
                if has_substitution(text_of(self.source, node)) {
                    self.parsed.set_opaque("it holds a substitution where we expect none");
                }
                self.visit_all(node, level);
            }
            "program"
            | "list"
            | "pipeline"
            | "subshell"
            | "compound_statement"
            | "negated_command"
            | "do_group"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "case_statement"
            | "case_item"
            | "variable_assignments"
            | "array" => {
                self.check_neighbours(node);
                self.visit_all(node, level);
            }
            "c_style_for_statement"
            | "function_definition"
            | "test_command"
            | "command_substitution"
            | "process_substitution"
            | "command_name"
            | "concatenation"
            | "translated_string"
            | "arithmetic_expansion"
            | "brace_expression"
            | "subscript"
            | "binary_expression"
            | "unary_expression"
            | "postfix_expression"
            | "ternary_expression"
            | "parenthesized_expression" => self.visit_all(node, level),
            _ => {
                self.parsed.set_opaque("it could not be parsed");
                self.visit_all(node, level);
            }
        }
    }

    fn visit_all(&mut self, node: Node<'_>, level: usize) {
        for child in named_children(node) {
            self.visit(child, level);
        }
    }

    /// Parts with nothing between them are one word to bash.
    fn check_neighbours(&mut self, node: Node<'_>) {
        let mut before: Option<Node<'_>> = None;
        for child in children(node) {
            if before.is_some_and(|before| {
                before.is_named() && child.is_named() && before.end_byte() == child.start_byte()
            }) {
                self.parsed.set_opaque("it could not be parsed");
            }
            before = Some(child);
        }
    }

    fn check_string(&mut self, node: Node<'_>) {
        let mut from = node.start_byte();
        for child in children(node) {
            if has_substitution(self.source.get(from..child.start_byte()).unwrap_or_default()) {
                self.parsed.set_opaque("it holds a substitution where we expect none");
            }
            from = child.end_byte();
        }
    }

    fn draft<'t>(&self, node: Node<'_>) -> Draft<'t> {
        let range = self.range.clone().unwrap_or_else(|| node.byte_range());
        Draft { segment: Segment { range, ..Segment::default() }, ..Draft::default() }
    }

    /// A statement with redirects behind it. Those of a single command are its own; others stand for themselves.
    fn redirected(&mut self, node: Node<'_>, level: usize) {
        let body = node.child_by_field_name("body");
        let redirects: Vec<Node<'_>> = named_children(node).filter(|child| Some(*child) != body).collect();
        match body {
            Some(body) if body.kind() == "command" => self.command(body, &redirects, level),
            body => {
                if let Some(body) = body {
                    self.visit(body, level);
                }
                let mut draft = self.draft(node);
                for redirect in redirects {
                    self.redirect(redirect, &mut draft, level);
                }
                if !draft.segment.words.is_empty() {
                    self.parsed.set_opaque("it could not be parsed");
                }
                self.finish(draft);
            }
        }
    }

    fn command(&mut self, node: Node<'_>, redirects: &[Node<'_>], level: usize) {
        let mut draft = self.draft(node);
        let mut end = node.start_byte();
        let mut before: Option<Node<'_>> = None;
        for child in children(node) {
            // What stands between the words must separate them in bash, too.
            let gap = self.source.get(end..child.start_byte()).unwrap_or_default().replace("\\\n", " ");
            if gap.chars().any(|c| !matches!(c, ' ' | '\t')) {
                self.parsed.set_opaque("it could not be parsed");
            }
            if child.start_byte() == end
                && !child.kind().ends_with("redirect")
                && before.is_some_and(|before| {
                    before.kind() == "variable_assignment" || before.kind().ends_with("redirect")
                })
            {
                self.parsed.set_opaque("it could not be parsed");
            }
            (before, end) = (Some(child), child.end_byte());
            match child.kind() {
                "variable_assignment" => {
                    let assignment = self.assignment(child, true, level);
                    draft.segment.assignments.push(assignment);
                }
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" => {
                    self.redirect(child, &mut draft, level);
                }
                "subshell" => {
                    self.parsed.set_opaque("it could not be parsed");
                    self.visit(child, level);
                }
                _ if child.is_named() => self.word(child, &mut draft, level),
                _ => self.parsed.set_opaque("it could not be parsed"),
            }
        }
        for redirect in redirects {
            self.redirect(*redirect, &mut draft, level);
        }
        self.finish(draft);
    }

    fn word<'t>(&mut self, node: Node<'t>, draft: &mut Draft<'t>, level: usize) {
        self.visit(node, level);
        // A dollar that is no expansion: `$"…"` and plain text look alike.
        let is_odd = node.kind() == "concatenation" && children(node).any(|child| !child.is_named());
        // The blanks before a dollar can be counted as part of it; a newline there ends the command.
        if is_odd || text_of(self.source, node).starts_with(char::is_whitespace) {
            self.parsed.set_opaque("it could not be parsed");
        }
        draft.push(self.source, node);
    }

    /// `export A=1`, `unset B`: a command by its keyword.
    fn declaration(&mut self, node: Node<'_>, level: usize) {
        let mut draft = self.draft(node);
        for child in children(node) {
            match child.kind() {
                "variable_assignment" => {
                    let Assignment { name, value, .. } = self.assignment(child, true, level);
                    let text = format!("{name}={}", value.text);
                    draft.segment.words.push(Word { text, literal: value.literal });
                }
                _ if child.is_named() => self.word(child, &mut draft, level),
                keyword => draft.segment.words.push(Word::literal(keyword)),
            }
        }
        self.finish(draft);
    }

    fn bare_assignment(&mut self, node: Node<'_>, level: usize) {
        let mut draft = self.draft(node);
        let assignment = self.assignment(node, false, level);
        draft.segment.assignments.push(assignment);
        self.finish(draft);
    }

    fn assignment(&mut self, node: Node<'_>, is_exported: bool, level: usize) -> Assignment {
        self.visit_all(node, level);
        let field = |name| node.child_by_field_name(name);
        Assignment {
            name: field("name").map(|name| text_of(self.source, name).to_owned()).unwrap_or_default(),
            value: field("value").map_or_else(|| Word::literal(""), |value| word_of(self.source, value)),
            is_exported,
        }
    }

    /// The variable takes every value of the list.
    fn for_loop(&mut self, node: Node<'_>, level: usize) {
        self.check_neighbours(node);
        self.visit_all(node, level);
        let mut draft = self.draft(node);
        let variable = node.child_by_field_name("variable").map(|name| text_of(self.source, name));
        let mut cursor = node.walk();
        let mut values: Vec<Word> = node
            .children_by_field_name("value", &mut cursor)
            .map(|value| word_of(self.source, value))
            .collect();
        if values.is_empty() {
            values.push(Word::unknown());
        }
        draft.segment.assignments = values
            .into_iter()
            .map(|value| Assignment {
                name: variable.unwrap_or_default().to_owned(),
                value,
                is_exported: false,
            })
            .collect();
        self.finish(draft);
    }

    fn redirect<'t>(&mut self, node: Node<'t>, draft: &mut Draft<'t>, level: usize) {
        match node.kind() {
            "heredoc_redirect" => self.heredoc(node, draft, level),
            "file_redirect" => self.file_redirect(node, draft, level),
            // The text of a here-string is input; whoever runs its input is opaque for want of a here-document.
            _ => self.visit_all(node, level),
        }
    }

    fn file_redirect<'t>(&mut self, node: Node<'t>, draft: &mut Draft<'t>, level: usize) {
        self.visit_all(node, level);
        let operator = children(node).find(|child| !child.is_named()).map_or("", |child| child.kind());
        let mut cursor = node.walk();
        let targets: Vec<Node<'t>> = node.children_by_field_name("destination", &mut cursor).collect();
        // Our grammar takes the arguments behind a redirect for further targets, and divides words.
        let mut count = targets.len().min(1);
        while let (Some(one), Some(next)) = (targets.get(count.wrapping_sub(1)), targets.get(count))
            && one.end_byte() == next.start_byte()
        {
            count += 1;
        }
        let closes = matches!(operator, "<&-" | ">&-");
        let (target, arguments) = if closes { (&[][..], &targets[..]) } else { targets.split_at(count) };
        for argument in arguments {
            draft.push(self.source, *argument);
        }
        if target.is_empty() {
            return;
        }
        let target = word_of_all(self.source, target);
        let is_descriptor = target.literal
            && matches!(operator, "<&" | ">&")
            && target.text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit());
        let kind = match operator {
            _ if is_descriptor => return,
            "<" => RedirectKind::Read,
            ">" | ">>" | ">|" | "&>" | "&>>" | ">&" => RedirectKind::Write,
            _ => return self.parsed.set_opaque("it has a redirect that is not understood"),
        };
        draft.segment.redirects.push(Redirect { kind, target });
    }

    fn heredoc<'t>(&mut self, node: Node<'t>, draft: &mut Draft<'t>, level: usize) {
        let mut mark = "";
        let mut body = 0..0;
        let mut is_literal = true;
        for child in named_children(node) {
            match child.kind() {
                "heredoc_start" => mark = text_of(self.source, child),
                "heredoc_body" => {
                    body = child.byte_range();
                    is_literal = child.named_child_count() == 0;
                    self.visit(child, level);
                }
                "heredoc_end" => body.end = child.start_byte(),
                "file_redirect" | "herestring_redirect" => self.redirect(child, draft, level),
                "word"
                | "string"
                | "raw_string"
                | "ansi_c_string"
                | "translated_string"
                | "concatenation"
                | "number"
                | "simple_expansion"
                | "expansion"
                | "command_substitution"
                | "process_substitution"
                | "arithmetic_expansion"
                | "brace_expression" => self.word(child, draft, level),
                _ => self.visit(child, level),
            }
        }
        let quoted = [('\'', '\''), ('"', '"')]
            .iter()
            .find_map(|(open, close)| mark.strip_prefix(*open)?.strip_suffix(*close));
        let name = quoted.unwrap_or(mark);
        let text = self.source.get(body).unwrap_or_default();
        let lines = text.lines().map(|line| line.trim_start_matches('\t'));
        // A mark that bash reads in another way, or finds earlier, would let commands pass for text.
        if name.is_empty()
            || name.chars().any(|c| !c.is_ascii_alphanumeric() && c != '_')
            || lines.clone().any(|line| line == name)
        {
            self.parsed.set_opaque("the end of a here-document is not certain");
        }
        if quoted.is_none() && has_substitution(text) && is_literal {
            self.parsed.set_opaque("a here-document holds a substitution");
        }
        let is_plain = quoted.is_some() || (is_literal && !text.contains(['$', '`', '\\']));
        draft.heredocs.push(is_plain.then(|| lines.collect::<Vec<_>>().join("\n")));
        if draft.heredocs.len() > 1 {
            self.parsed.set_opaque("it has several here-documents");
        }
    }

    /// Looks into the command and adds it, followed by what it runs.
    fn finish(&mut self, draft: Draft<'_>) {
        let Draft { mut segment, heredocs, .. } = draft;
        let place = self.parsed.segments.len();
        self.parsed.segments.push(Segment::default());
        self.check_name(&segment.words);
        let mut current = segment.words.clone();
        loop {
            match inside(&current) {
                Inside::Nothing => break,
                Inside::Command { assignments, words } => {
                    self.check_name(&words);
                    current.clone_from(&words);
                    segment.inner.push(Inner { assignments, words, is_faithful: true });
                    continue;
                }
                Inside::Perhaps(guesses) => self.guesses(guesses, &mut segment),
                Inside::Unknown(guesses, reason) => {
                    self.parsed.set_opaque(reason);
                    self.guesses(guesses, &mut segment);
                }
                Inside::Script(script) => {
                    segment.is_covered = true;
                    self.script(&script, &segment);
                }
                Inside::Stdin => match heredocs.as_slice() {
                    [Some(script)] => {
                        segment.is_covered = true;
                        self.script(script, &segment);
                    }
                    _ => self.parsed.set_opaque("a shell reads its commands from somewhere else"),
                },
                Inside::Each(commands) => self.each(commands, &segment),
            }
            break;
        }
        if let Some(slot) = self.parsed.segments.get_mut(place) {
            *slot = segment;
        }
    }

    /// A name that is not known, and one that is a word of the grammar to bash but not to us.
    fn check_name(&mut self, words: &[Word]) {
        match words.first() {
            Some(name) if !name.literal => {
                self.parsed.set_opaque("the name of a command is known only when it runs");
            }
            Some(name) if RESERVED.contains(&name.text.as_str()) => {
                self.parsed.set_opaque("it could not be parsed");
            }
            Some(_) | None => {}
        }
    }

    /// Commands that may run: for rules that deny or ask, with the scripts in them.
    fn guesses(&mut self, guesses: Vec<Vec<Word>>, segment: &mut Segment) {
        let named =
            guesses.iter().find(|words| words.first().is_some_and(|word| !word.text.starts_with('-')));
        self.check_name(named.map_or(&[], Vec::as_slice));
        for words in guesses {
            match inside(&words) {
                Inside::Nothing | Inside::Command { .. } | Inside::Perhaps(_) => {}
                Inside::Unknown(_, reason) => self.parsed.set_opaque(reason),
                Inside::Script(script) => self.script(&script, segment),
                Inside::Stdin => self.parsed.set_opaque("a shell reads its commands from somewhere else"),
                Inside::Each(commands) => self.each(commands, segment),
            }
            segment.inner.push(Inner { assignments: Vec::new(), words, is_faithful: false });
        }
    }

    fn each(&mut self, commands: Vec<Vec<Word>>, outer: &Segment) {
        for words in commands {
            let segment = Segment { words, range: outer.range.clone(), ..Segment::default() };
            self.finish(Draft { segment, ..Draft::default() });
        }
    }

    fn script(&mut self, script: &str, outer: &Segment) {
        parse_into(script, Some(outer.range.clone()), self.depth + 1, self.parsed);
    }
}
