//! What is known of a command's sleeps from its text. Pure.

use super::duration;
use crate::jobs::segments;
use std::time::Duration;
use tree_sitter::Node;

/// Longer commands are not looked at.
const LONGEST: usize = 64 * 1024;
/// Blocks within blocks.
const DEEPEST: usize = 12;
/// Passes that are counted; more are told of no more exactly than without an end.
const MOST_PASSES: u32 = 100_000;
/// Commands that take no time worth telling.
const SHORT: &[&str] = &["echo", "printf", "true", ":"];

/// A command that sleeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SleepPlan {
    /// Sleeps with which it begins, at most after a `cd`.
    pub leading: usize,
    /// How long these last together.
    pub leading_total: Duration,
    /// Its loop, if it has one that sleeps in each pass.
    pub looped: Option<Looped>,
    /// Sleeps outside of that.
    pub single: usize,
}

/// A loop that sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looped {
    /// How many passes it has; unknown for `while` and `until`.
    pub passes: Option<u32>,
    /// Sleeps of each pass.
    pub sleeps: usize,
    /// Nothing else in a pass takes time.
    pub only_sleeps: bool,
}

/// What a command sleeps for; nothing if it does not sleep, or only where nobody knows whether it comes to that.
pub fn plan(command: &str) -> Option<SleepPlan> {
    // Most commands know no sleep: they need not be parsed.
    if command.len() > LONGEST || !command.contains("sleep") {
        return None;
    }
    let tree = segments::tree(command)?;
    let mut found = Found { source: command, plan: SleepPlan::default(), is_leading: true, loops: 0 };
    found.visit(tree.root_node(), 0);
    let mut plan = found.plan;
    if found.loops > 1 {
        // Which pass a sleep belongs to can't be told.
        let sleeps = plan.looped.take().map_or(0, |looped| looped.sleeps);
        plan.single += sleeps.max(1);
    }
    (plan.single + plan.leading > 0 || plan.looped.is_some()).then_some(plan)
}

struct Found<'a> {
    source: &'a str,
    plan: SleepPlan,
    /// Nothing but sleeps so far.
    is_leading: bool,
    loops: usize,
}

impl Found<'_> {
    fn text(&self, node: Node<'_>) -> &str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    fn visit(&mut self, node: Node<'_>, depth: usize) {
        if depth > DEEPEST || runs_beside(node) {
            return;
        }
        match node.kind() {
            "program" | "list" | "compound_statement" | "subshell" => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    self.visit(child, depth + 1);
                }
            }
            "redirected_statement" => {
                if let Some(body) = node.child_by_field_name("body") {
                    self.visit(body, depth + 1);
                }
            }
            "command" => self.command(node),
            "for_statement" | "c_style_for_statement" | "while_statement" => self.a_loop(node),
            "comment" | "function_definition" | "variable_assignment" => {}
            // It may come to these, or not.
            _ => {
                self.is_leading = false;
                self.plan.single += self.commands(node).filter(|(name, _)| name == "sleep").count();
            }
        }
    }

    fn command(&mut self, node: Node<'_>) {
        let (name, arguments) = self.words(node);
        if name == "cd" && self.is_leading && self.plan.leading == 0 {
            return;
        }
        if name != "sleep" {
            self.is_leading = false;
            return;
        }
        match duration::of_arguments(arguments.iter().map(String::as_str)).filter(|_| self.is_leading) {
            Some(lasts) => {
                self.plan.leading += 1;
                self.plan.leading_total = self.plan.leading_total.saturating_add(lasts);
            }
            None => {
                self.is_leading = false;
                self.plan.single += 1;
            }
        }
    }

    fn a_loop(&mut self, node: Node<'_>) {
        self.is_leading = false;
        let Some(body) = node.child_by_field_name("body") else { return };
        let sleeps = self.commands(node).filter(|(name, _)| name == "sleep").count();
        if sleeps == 0 {
            return;
        }
        self.loops += 1;
        let (mut direct, mut others) = (0, 0);
        self.count_pass(body, &mut direct, &mut others, 0);
        // That of a `for` is arithmetic.
        let condition = node.child_by_field_name("condition");
        if let Some(condition) = condition.filter(|_| node.kind() == "while_statement") {
            self.count_pass(condition, &mut direct, &mut others, 0);
        }
        if direct != sleeps {
            // Not in each pass, or in a loop of its own.
            self.plan.single += sleeps;
            return;
        }
        let passes = match node.kind() {
            "for_statement" => self.values(node),
            "c_style_for_statement" => self.c_style_passes(node),
            _ => None,
        };
        if node.kind() != "while_statement" && passes.is_none() {
            self.plan.single += sleeps;
            return;
        }
        self.plan.looped = Some(Looped { passes, sleeps, only_sleeps: others == 0 });
    }

    /// Counts the sleeps that every pass comes to, and what else takes time in it.
    fn count_pass(&self, node: Node<'_>, sleeps: &mut usize, others: &mut usize, depth: usize) {
        if depth > DEEPEST || runs_beside(node) {
            return;
        }
        match node.kind() {
            "do_group" | "compound_statement" | "list" | "redirected_statement" => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    self.count_pass(child, sleeps, others, depth + 1);
                }
            }
            "command" => match self.words(node).0.as_str() {
                "sleep" => *sleeps += 1,
                name if SHORT.contains(&name) => {}
                _ => *others += 1,
            },
            "comment" | "variable_assignment" | "file_redirect" => {}
            _ => *others += 1,
        }
    }

    /// All commands below a node, with their words; not those of functions and of what runs beside.
    fn commands<'a>(&'a self, node: Node<'a>) -> impl Iterator<Item = (String, Vec<String>)> + 'a {
        let mut left = vec![(node, 0)];
        std::iter::from_fn(move || {
            while let Some((node, depth)) = left.pop() {
                if runs_beside(node) || node.kind() == "function_definition" || depth > 4 * DEEPEST {
                    continue;
                }
                let mut cursor = node.walk();
                left.extend(node.named_children(&mut cursor).map(|child| (child, depth + 1)));
                if node.kind() == "command" {
                    return Some(self.words(node));
                }
            }
            None
        })
    }

    /// Name and arguments as they are written.
    fn words(&self, node: Node<'_>) -> (String, Vec<String>) {
        let name = node.child_by_field_name("name").map(|name| self.text(name).to_owned());
        let mut cursor = node.walk();
        let arguments = node.children_by_field_name("argument", &mut cursor);
        let arguments = arguments.map(|argument| self.text(argument).to_owned()).collect();
        (name.unwrap_or_default(), arguments)
    }

    /// How many values a `for` has: words, ranges in braces, and `seq`.
    fn values(&self, node: Node<'_>) -> Option<u32> {
        let mut cursor = node.walk();
        let mut passes = 0_u32;
        for value in node.children_by_field_name("value", &mut cursor) {
            let text = self.text(value);
            let count = match text.strip_prefix("$(").and_then(|inner| inner.strip_suffix(')')) {
                Some(inner) => seq(inner)?,
                None => word_count(text)?,
            };
            passes = passes.checked_add(count)?;
        }
        (1..=MOST_PASSES).contains(&passes).then_some(passes)
    }

    /// `for ((i=0; i<4; i++))`.
    fn c_style_passes(&self, node: Node<'_>) -> Option<u32> {
        let text = self.text(node).split_once("((")?.1.split_once("))")?.0;
        let parts: Vec<String> = text.split(';').map(|part| part.split_whitespace().collect()).collect();
        let [first, condition, step] = parts.as_slice() else { return None };
        let (name, from) = first.split_once('=')?;
        let from: i64 = from.parse().ok()?;
        let rest = condition.strip_prefix(name)?;
        let (is_up, to) = if let Some(to) = rest.strip_prefix("<=") {
            (true, to.parse::<i64>().ok()?)
        } else if let Some(to) = rest.strip_prefix(">=") {
            (false, to.parse::<i64>().ok()?)
        } else if let Some(to) = rest.strip_prefix('<') {
            (true, to.parse::<i64>().ok()?.checked_sub(1)?)
        } else {
            (false, rest.strip_prefix('>')?.parse::<i64>().ok()?.checked_add(1)?)
        };
        let step = if [format!("{name}++"), format!("++{name}")].contains(step) {
            1
        } else if [format!("{name}--"), format!("--{name}")].contains(step) {
            -1
        } else if let Some(by) = step.strip_prefix(&format!("{name}+=")) {
            by.parse::<i64>().ok()?
        } else {
            by_minus(step.strip_prefix(&format!("{name}-="))?)?
        };
        if is_up != (step > 0) {
            return None;
        }
        range(from, to, step)
    }
}

fn by_minus(text: &str) -> Option<i64> {
    text.parse::<i64>().ok()?.checked_neg()
}

/// It is followed by `&`.
fn runs_beside(node: Node<'_>) -> bool {
    node.next_sibling().is_some_and(|next| next.kind() == "&")
}

/// Words that the shell makes of one, where that is plain.
fn word_count(text: &str) -> Option<u32> {
    let is_quoted = |quote: char| {
        text.len() >= 2 && text.starts_with(quote) && text.ends_with(quote) && !text.contains(['$', '`'])
    };
    if is_quoted('\'') || is_quoted('"') {
        return Some(1);
    }
    if let Some(inner) = text.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
        return braces(inner);
    }
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':' | '@' | '%' | '+');
    text.chars().all(is_plain).then_some(1)
}

/// `1..4`, `1..10..3`, `a,b,c`.
fn braces(inner: &str) -> Option<u32> {
    let numbers: Option<Vec<i64>> = inner.split("..").map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some([from, to]) => range(*from, *to, if from <= to { 1 } else { -1 }),
        Some([from, to, by]) if *by != 0 => {
            range(*from, *to, if from <= to { by.checked_abs()? } else { by.checked_abs()?.checked_neg()? })
        }
        _ => {
            let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ',' | '.' | '_' | '-' | '/');
            let is_list = inner.contains(',') && inner.chars().all(is_plain) && !inner.contains("..");
            is_list.then(|| u32::try_from(inner.split(',').count()).ok())?
        }
    }
}

/// `seq 4`, `seq 2 9`, `seq 1 2 9`, of whole numbers.
fn seq(command: &str) -> Option<u32> {
    let mut words = command.split_whitespace();
    if words.next() != Some("seq") {
        return None;
    }
    let numbers: Option<Vec<i64>> = words.map(|word| word.parse().ok()).collect();
    match numbers?.as_slice() {
        [to] => range(1, *to, 1),
        [from, to] => range(*from, *to, 1),
        [from, by, to] if *by != 0 => range(*from, *to, *by),
        _ => None,
    }
}

/// Numbers from one to another, both included.
fn range(from: i64, to: i64, by: i64) -> Option<u32> {
    let span = to.checked_sub(from)?;
    let count = if (span < 0) == (by < 0) || span == 0 { span.checked_div(by)?.checked_add(1)? } else { 0 };
    u32::try_from(count).ok().filter(|count| (1..=MOST_PASSES).contains(count))
}
