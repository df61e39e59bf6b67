//! Commands of all kinds do the same whether their steps are timed or not.

use super::oracle;
use super::runner::{Did, Pipes, Place};
use crate::jobs::steps::plan;

const CORPUS: &str = include_str!("../../../../tests/fixtures/chains.txt");

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Timed,
    Lost,
    Whole,
}

fn corpus() -> Vec<(&'static str, Expected)> {
    let blocks = CORPUS.trim_end().split("\n\n").filter(|block| !block.starts_with("## "));
    let kind = |block: &'static str| {
        let timed = block.strip_prefix("timed ").map(|rest| (rest, Expected::Timed));
        let lost = || block.strip_prefix("lost ").map(|rest| (rest, Expected::Lost));
        timed.or_else(lost).unwrap_or((block, Expected::Whole))
    };
    blocks.map(kind).collect()
}

/// Numbers of processes differ between any two runs.
fn neutral(did: &Did) -> Did {
    let digits = regex::Regex::new(r" *\b\d{3,7}\b").unwrap();
    let neutral = |bytes: &[u8]| {
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        digits.replace_all(&text, "N").into_owned().into_bytes()
    };
    Did { stdout: neutral(&did.stdout), stderr: neutral(&did.stderr), ..did.clone() }
}

fn difference(command: &str, plain: &Did, timed: &Did) -> Option<String> {
    let is_same = plain == timed || neutral(plain) == neutral(timed);
    let show = |did: &Did| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(2000)]).into_owned();
        let files: Vec<_> = did.files.keys().collect();
        format!(
            "{:?} {:?} out {:?} err {:?} {files:?}",
            did.code,
            did.signal,
            text(&did.stdout),
            text(&did.stderr)
        )
    };
    (!is_same).then(|| format!("{command}\n  plain {}\n  timed {}", show(plain), show(timed)))
}

#[tokio::test]
async fn commands_do_the_same_with_and_without() {
    let corpus = corpus();
    assert!(corpus.len() >= 200, "{}", corpus.len());
    let place = Place::new();
    let mut wrong = Vec::new();
    let mut unchecked = Vec::new();
    for (command, expected) in corpus {
        let plan = match plan(command) {
            Ok(plan) if expected != Expected::Whole => plan,
            Err(_) if expected == Expected::Whole => continue,
            plan => {
                wrong.push(format!("{command}\n  is {:?}", plan.map(|plan| plan.elements)));
                continue;
            }
        };
        let plain = place.plain(command, Pipes::Two).await;
        let (timed, _) = place.timed(command, Pipes::Two, plan.clone()).await;
        wrong.extend(difference(command, &plain, &timed));
        let plain = place.plain(command, Pipes::One).await;
        let (timed, seen) = place.timed(command, Pipes::One, plan.clone()).await;
        wrong.extend(difference(command, &plain, &timed));
        if expected == Expected::Lost && seen.chain.is_none() {
            continue;
        }
        let Some(chain) = seen.chain.as_ref().filter(|_| expected == Expected::Timed) else {
            wrong.push(format!("{command}\n  it was lost which step runs: {:?}", seen.marks));
            continue;
        };
        match oracle::check(&place, command, &plan, &timed, chain, &seen.outputs).await {
            Ok(true) => {}
            Ok(false) => unchecked.push(command),
            Err(why) => wrong.push(format!("{command}\n  {why}")),
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(unchecked.len() <= 30, "{} were not checked:\n{}", unchecked.len(), unchecked.join("\n"));
}
