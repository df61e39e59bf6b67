//! Each step's output and status, found out in another way: with a line printed before and behind each step. That
//! changes a command, but for many it does so in ways that do not matter; where it does matter, nothing is said.

use super::runner::{Did, Pipes, Place};
use crate::jobs::steps::Plan;
use crate::proto::chain::{Chain, StepJoint};

/// Whether the chain is right; nothing if the marked command does not do the same.
pub async fn check(
    place: &Place,
    command: &str,
    plan: &Plan,
    did: &Did,
    chain: &Chain,
    outputs: &[String],
) -> Result<bool, String> {
    let hidden = plan.elements.len() - chain.steps.len();
    let all: String = outputs.concat();
    let whole: String = did.stdout.iter().map(|byte| char::from(*byte)).collect();
    if all != whole && whole.len() < 50_000 {
        return Err(format!("outputs {all:?} are not {whole:?}"));
    }
    if command.contains("set -") || whole.len() >= 50_000 {
        return Ok(false);
    }
    let marked = place.plain(&marked(plan), Pipes::One).await;
    let text: String = marked.stdout.iter().map(|byte| char::from(*byte)).collect();
    let mut found: Vec<(String, Option<i32>)> = vec![(String::new(), None); plan.elements.len()];
    let mut last_begun = None;
    let (mut at, mut without) = (0, String::new());
    for (number, piece) in text.split('\u{1e}').enumerate() {
        let rest = if number == 0 {
            piece
        } else {
            let Some((mark, rest)) = piece.split_once(';') else { return Ok(false) };
            let mut words = mark.split(' ');
            at = words.next().unwrap().parse().unwrap();
            last_begun = Some(at);
            if let Some(status) = words.next() {
                found[at].1 = Some(status.parse().unwrap());
            }
            rest
        };
        found[at].0.push_str(rest);
        without.push_str(rest);
    }
    // What ends the shell leaves no time for the second mark.
    if found[at].1.is_none() {
        found[at].1 = marked.code.or(marked.signal.map(|signal| 128 + signal));
    }
    let all_seen =
        last_begun >= chain.steps.iter().rposition(|step| step.exit.is_some()).map(|last| last + hidden);
    // Lines are others in the marked command, and so are numbers of processes.
    let changing = regex::Regex::new(r"line \d+| *\b\d{3,7}\b").unwrap();
    let neutral = |text: &str| changing.replace_all(text, "N").into_owned();
    if !all_seen
        || neutral(&without) != neutral(&whole)
        || (marked.code, marked.signal) != (did.code, did.signal)
    {
        return Ok(false);
    }
    let exits: Vec<Option<i32>> = chain.steps.iter().map(|step| step.exit).collect();
    let found_exits: Vec<Option<i32>> = found.iter().skip(hidden).map(|(_, exit)| *exit).collect();
    let found_outputs: Vec<String> = found.iter().map(|(output, _)| neutral(output)).collect();
    let outputs: Vec<String> = outputs.iter().map(|output| neutral(output)).collect();
    if exits != found_exits || found_outputs != outputs {
        return Err(format!("is {exits:?} {outputs:?} and should be {found_exits:?} {found_outputs:?}"));
    }
    Ok(true)
}

fn marked(plan: &Plan) -> String {
    let steps = plan.elements.iter().enumerate().map(|(at, element)| {
        let joint = match (at, element.joint) {
            (0, _) => "",
            (_, StepJoint::Then) => "\n",
            (_, StepJoint::And) => " && ",
            (_, StepJoint::Or) => " || ",
        };
        let text = &element.text;
        format!(
            "{joint}{{ __st=$?; printf '\\036{at};'; (exit $__st); {text}\n__st=$?; printf '\\036{at} %d;' $__st; (exit $__st); }}"
        )
    });
    steps.collect()
}
