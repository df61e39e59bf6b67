//! A shell command of several steps, and what a running command waits for: data only. Which commands are split, and how
//! their steps are timed, is the business of whoever runs them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Under which key the details of a result hold the [`Chain`] of a command that ran in steps.
pub const CHAIN: &str = "chain";

/// A command as steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Chain {
    /// The folder that a leading `cd` goes to; that is where the rest runs, and no step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// In the order in which they are written.
    pub steps: Vec<Step>,
}

/// One step: a pipeline between two operators of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Step {
    /// As written.
    pub text: String,
    /// What joins it to the step before.
    pub joint: StepJoint,
    /// How far it is.
    pub state: StepState,
    /// When it began, in milliseconds from the begin of the call; `None` before it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    /// How long it ran; `None` before it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// With which code it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The end of what it printed, kept for a session that is resumed; empty in events, where progress tells it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Lines it printed before those.
    #[serde(skip_serializing_if = "is_none")]
    pub lines_before: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands references out")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Chain {
    /// The chain that the details of a result hold; none where they hold none, or something else by that name.
    pub fn of_details(details: Option<&Value>) -> Option<Self> {
        let chain = Self::deserialize(details?.get(CHAIN)?).ok()?;
        (!chain.steps.is_empty()).then_some(chain)
    }

    /// The step that tells most: the one that runs, else the first that did not go well, else the last that ran.
    pub fn focus(&self) -> Option<usize> {
        let first = |wanted: fn(StepState) -> bool| self.steps.iter().position(|step| wanted(step.state));
        first(|state| state == StepState::Running)
            .or_else(|| first(StepState::went_wrong))
            .or_else(|| self.steps.iter().rposition(|step| step.state.has_run()))
    }

    /// The step because of which the whole did not go well.
    pub fn went_wrong_at(&self) -> Option<usize> {
        self.steps.iter().position(|step| step.state.went_wrong())
    }

    /// How many steps have begun.
    pub fn begun(&self) -> usize {
        self.steps.iter().filter(|step| step.state == StepState::Running || step.state.has_run()).count()
    }
}

impl StepState {
    /// It began and is over.
    pub const fn has_run(self) -> bool {
        matches!(self, Self::Ok | Self::Failed | Self::Handled | Self::TimedOut | Self::Aborted)
    }

    /// It did not do what it should, and nothing made up for that.
    pub const fn went_wrong(self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut | Self::Aborted)
    }
}

/// What joins a step to the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepJoint {
    /// `;` or a line end, and before the first step.
    #[default]
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepState {
    /// It has not begun.
    #[default]
    Waiting,
    /// It runs.
    Running,
    /// It went well.
    Ok,
    /// It failed.
    Failed,
    /// It failed, and the step behind `||` took over.
    Handled,
    /// It will not run: a later step began, or the call ended, without it.
    Skipped,
    /// It ran when the time limit came.
    TimedOut,
    /// It ran when the call was stopped.
    Aborted,
    /// Nothing was kept of how it went.
    #[serde(other)]
    Unknown,
}

/// What a running command waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// When the wait began, in milliseconds from the begin of the call.
    pub begun_ms: u64,
    /// How long it is: of a loop, all of its passes from now on.
    pub lasts_ms: u64,
    /// What is told of it.
    pub kind: WaitKind,
}

/// What is told of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// A plain sleep: the time left.
    Sleep,
    /// A loop over a list.
    Loop {
        /// The pass that runs, from 1.
        pass: u32,
        /// How many there are.
        of: u32,
        /// Each pass only sleeps, so that the time left is known; else it is taken from the last pass.
        is_exact: bool,
    },
    /// A loop without an end to count towards.
    Check {
        /// The pass that runs, from 1.
        number: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn chain(states: &[StepState]) -> Chain {
        let step = |state: &StepState| Step { state: *state, ..Step::default() };
        Chain { location: None, steps: states.iter().map(step).collect() }
    }

    #[test]
    fn details_keep_a_chain() {
        let chain = Chain {
            location: Some("web".to_owned()),
            steps: vec![
                Step {
                    text: "npm test".to_owned(),
                    joint: StepJoint::Then,
                    state: StepState::Handled,
                    started_ms: Some(3),
                    took_ms: Some(1200),
                    exit: Some(1),
                    output: "no tests\n".to_owned(),
                    lines_before: 40,
                },
                Step { text: "true".to_owned(), joint: StepJoint::Or, ..Step::default() },
            ],
        };
        let details = json!({"exitCode": 0, CHAIN: chain});
        assert_eq!(Chain::of_details(Some(&details)), Some(chain));
        assert_eq!(details[CHAIN]["steps"][1], json!({"text": "true", "joint": "or", "state": "waiting"}));
        for details in [json!({}), json!({"chain": 3}), json!({"chain": {"steps": []}}), json!([])] {
            assert_eq!(Chain::of_details(Some(&details)), None, "{details}");
        }
        assert_eq!(Chain::of_details(None), None);
        // A state that a later version knows.
        let later = json!({CHAIN: {"steps": [{"text": "x", "state": "asleep", "mood": 3}]}});
        let read = Chain::of_details(Some(&later)).unwrap();
        assert_eq!(read.steps[0].state, StepState::Unknown);
    }

    #[test]
    fn the_step_that_tells_most() {
        use StepState::*;
        // States; the focus, the one that went wrong, how many have begun.
        type Case = (&'static [StepState], (Option<usize>, Option<usize>, usize));
        let table: [Case; 7] = [
            (&[Ok, Running, Waiting], (Some(1), None, 2)),
            (&[Failed, Running], (Some(1), Some(0), 2)),
            (&[Ok, Failed, Skipped], (Some(1), Some(1), 2)),
            (&[Handled, Ok, Skipped], (Some(1), None, 2)),
            (&[Ok, TimedOut, Skipped], (Some(1), Some(1), 2)),
            (&[Ok, Aborted, Skipped], (Some(1), Some(1), 2)),
            (&[Waiting, Unknown], (None, None, 0)),
        ];
        for (states, expected) in table {
            let chain = chain(states);
            let told = (chain.focus(), chain.went_wrong_at(), chain.begun());
            assert_eq!(told, expected, "{states:?}");
        }
    }
}
