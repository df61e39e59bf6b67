//! A shell command of several steps, and what a running command waits for: data only. Which commands are split, and how
//! their steps are timed, is the business of whoever runs them.

use serde::{Deserialize, Serialize};

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
