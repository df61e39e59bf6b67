//! How far each tool call is.

use super::Conversation;
use crate::proto::chain::{Chain, StepState, Wait};
use crate::proto::ids::{CallId, EntryId, JobId};
use crate::proto::job::{self, JobReport, STARTS_JOBS};
use crate::proto::message::{ToolCall, ToolResultMessage};
use crate::transcript::held::{Arguments, Given};
use crate::transcript::item::{BlockRef, Body, Call, CallPhase, Item, LIVE_OUTPUT};
use crate::transcript::trail::Trail;
use serde_json::Map;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Conversation {
    /// Adds a call that is being written.
    pub(super) fn begin_call(
        &mut self,
        entry: Option<EntryId>,
        call: &ToolCall,
        since: Option<Instant>,
    ) -> usize {
        let index = self.push(
            entry,
            Body::Call(Box::new(Call {
                id: call.id.clone(),
                tool: call.name.clone(),
                arguments: Arguments::Told(Map::new()),
                draft: String::new(),
                trail: Trail::default(),
                phase: CallPhase::Writing { since },
                chain: None,
                step_outputs: Vec::new(),
                steps_dropped: Vec::new(),
                wait: None,
                job_end: None,
                output: String::new(),
                output_dropped: 0,
            })),
        );
        self.calls.insert(call.id.clone(), index);
        self.unanswered.push(index);
        index
    }

    /// A call is whole. Its id and name may be others than when it began. `kept`: where the session keeps it.
    pub(super) fn call_written(&mut self, index: usize, written: &ToolCall, kept: Option<BlockRef>) {
        let Some(Item { body: Body::Call(call), .. }) = self.item_mut(index) else { return };
        let old = std::mem::replace(&mut call.id, written.id.clone());
        call.tool.clone_from(&written.name);
        call.arguments = match kept {
            Some(block) => Arguments::Kept(block),
            None => Arguments::Told(written.arguments.clone()),
        };
        // What is no JSON is all there is to show of it.
        call.draft = written.malformed.clone().unwrap_or_default();
        if matches!(call.phase, CallPhase::Writing { .. }) {
            call.phase = CallPhase::Queued;
        }
        if old != written.id {
            if self.calls.get(&old) == Some(&index) {
                self.calls.remove(&old);
            }
            self.calls.insert(written.id.clone(), index);
        }
    }

    /// The newest call of this id, its revision raised.
    pub(super) fn call_mut(&mut self, id: &CallId) -> Option<&mut Call> {
        let index = *self.calls.get(id)?;
        match self.item_mut(index) {
            Some(Item { body: Body::Call(call), .. }) if call.id == *id => Some(call),
            _ => None,
        }
    }

    /// The newest call of this id; made if it is unknown.
    pub(super) fn call_or_new(&mut self, id: &CallId, tool: &str) -> Option<&mut Call> {
        if !self.calls.contains_key(id) {
            let call = ToolCall {
                id: id.clone(),
                name: tool.to_owned(),
                arguments: Map::new(),
                thought_signature: None,
                malformed: None,
            };
            self.begin_call(None, &call, None);
        }
        self.call_mut(id)
    }

    /// A call runs. It has no answer, whatever was told before: the end of the turn ends it, or its band moved for ever.
    pub(super) fn call_runs(
        &mut self,
        id: &CallId,
        tool: &str,
        since: Instant,
        limit: Option<Duration>,
    ) -> Option<&mut Call> {
        self.call_or_new(id, tool)?;
        let index = *self.calls.get(id)?;
        if !self.unanswered.contains(&index) {
            self.unanswered.push(index);
        }
        let call = self.call_mut(id)?;
        call.phase = CallPhase::Running { since, limit };
        Some(call)
    }

    /// A running call printed more.
    pub(super) fn call_output(&mut self, id: &CallId, delta: &str) -> bool {
        let Some(call) = self.call_mut(id) else { return false };
        if matches!(call.phase, CallPhase::Done { .. }) {
            return false;
        }
        call.output_dropped += append_bounded(&mut call.output, delta);
        let running = call
            .chain
            .as_ref()
            .and_then(|chain| chain.steps.iter().position(|step| step.state == StepState::Running));
        if let Some(step) = running
            && let Some(output) = call.step_outputs.get_mut(step)
        {
            let dropped = append_bounded(output, delta);
            if let Some(before) = call.steps_dropped.get_mut(step) {
                *before += dropped;
            }
        }
        true
    }

    /// How far the steps of a call are.
    pub(super) fn call_steps(&mut self, id: &CallId, chain: &Arc<Chain>) -> bool {
        let Some(call) = self.call_mut(id) else { return false };
        let (before, after) = set_chain(call, chain.clone());
        self.further_steps = (self.further_steps + after).saturating_sub(before);
        true
    }

    /// A call waits for something, or no longer does.
    pub(super) fn call_waits(&mut self, id: &CallId, wait: Option<Wait>) -> bool {
        let Some(call) = self.call_mut(id) else { return false };
        call.wait = wait;
        true
    }

    /// A call was answered. The event of its end and the entry of its result say the same: the second is not news.
    pub(super) fn call_answered(&mut self, result: Given, ended: Option<Instant>) -> bool {
        let id = result.tool_call_id.clone();
        let known = self.calls.get(&id).copied().and_then(|index| self.items.get_mut(index));
        if let Some(Item { body: Body::Call(call), .. }) = known
            && let CallPhase::Done { result: old, .. } = &mut call.phase
            && is_same(old, &result)
        {
            // The session's own in the place of what was told: it is there anyway, and looks the same.
            if let Given::Kept(_) = result {
                *old = result;
            }
            return false;
        }
        let Some(call) = self.call_or_new(&id, &result.tool_name) else { return false };
        // The result has it, as far as it was kept.
        call.output = String::new();
        call.output_dropped = 0;
        if call.tool.is_empty() {
            call.tool.clone_from(&result.tool_name);
        }
        call.wait = None;
        // What the result keeps is what a resumed session will have, so it is what is shown from now on.
        let chain = Chain::of_details(result.details.as_ref());
        let (before, after) = chain.map_or((0, 0), |chain| set_chain(call, Arc::new(chain)));
        let limit = match call.phase {
            CallPhase::Running { limit, .. } => limit,
            _ => None,
        };
        let job = started_job(&call.tool, &result);
        let ends = job::reports_of(result.details.as_ref());
        call.phase = CallPhase::Done { result, ended, limit };
        self.further_steps = (self.further_steps + after).saturating_sub(before);
        if let Some(index) = self.calls.get(&id).copied() {
            self.unanswered.retain(|unanswered| *unanswered != index);
            if let Some(job) = job {
                self.jobs.insert(job, index);
            }
        }
        self.jobs_ended(&ends);
        true
    }

    /// Background jobs have ended: the calls that started them tell how.
    pub(super) fn jobs_ended(&mut self, reports: &[JobReport]) {
        for report in reports {
            if let Some(Item { body: Body::Call(call), .. }) =
                self.jobs.get(&report.id).copied().and_then(|index| self.item_mut(index))
            {
                call.job_end = Some(report.end.clone());
            }
        }
    }

    /// Whatever is unanswered now stays so.
    pub(super) fn drop_unanswered(&mut self) -> bool {
        let unanswered = std::mem::take(&mut self.unanswered);
        let any = !unanswered.is_empty();
        for index in unanswered {
            self.drop_call(index);
        }
        any
    }

    /// A call will not be answered.
    pub(super) fn drop_call(&mut self, index: usize) {
        if let Some(Item { body: Body::Call(call), .. }) = self.item_mut(index)
            && !matches!(call.phase, CallPhase::Done { .. })
        {
            call.phase = CallPhase::Dropped;
        }
        self.unanswered.retain(|unanswered| *unanswered != index);
    }
}

/// Gives a call its steps; how many there were beyond one before, and how many there are now.
fn set_chain(call: &mut Call, chain: Arc<Chain>) -> (usize, usize) {
    let further = |chain: &Chain| chain.steps.len().saturating_sub(1);
    let (before, after) = (call.chain.as_deref().map_or(0, further), further(&chain));
    call.step_outputs.resize_with(chain.steps.len(), String::new);
    call.steps_dropped.resize(chain.steps.len(), 0);
    call.chain = Some(chain);
    (before, after)
}

/// Whether both say the same about a call.
fn is_same(old: &ToolResultMessage, new: &ToolResultMessage) -> bool {
    (&old.content, &old.details, old.is_error, old.duration_ms)
        == (&new.content, &new.details, new.is_error, new.duration_ms)
}

/// Appends output and cuts its beginning, at a line if there is one, when there is more than [`LIVE_OUTPUT`]; gives the
/// bytes that were cut. A quarter is cut at once, so that a chatty call is not shifted on every line.
pub(super) fn append_bounded(output: &mut String, delta: &str) -> u64 {
    output.push_str(delta);
    if output.len() <= LIVE_OUTPUT {
        return 0;
    }
    let least = output.ceil_char_boundary(output.len() - LIVE_OUTPUT / 4 * 3);
    let line = output.get(least..).and_then(|rest| rest.find('\n')).map(|newline| least + newline + 1);
    let cut = line.filter(|line| *line < output.len()).unwrap_or(least);
    output.replace_range(..cut, "");
    cut as u64
}

/// The background job that a call has started, or has become.
fn started_job(tool: &str, result: &ToolResultMessage) -> Option<JobId> {
    let job = result.details.as_ref()?.get("job")?.as_str()?;
    (STARTS_JOBS.contains(&tool) && !result.is_error).then(|| JobId::new(job))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::chain::{CHAIN, Step};
    use crate::proto::event::AgentEvent;
    use crate::proto::message::{Block, Message};
    use crate::proto::tool::ToolOutput;
    use serde_json::json;
    use std::time::Duration;

    fn only(conversation: &Conversation) -> &Call {
        match conversation.items() {
            [Item { body: Body::Call(call), .. }] => call,
            other => panic!("{other:?}"),
        }
    }

    /// Two steps, the second runs and prints.
    fn running(now: Instant) -> Conversation {
        let step = |text: &str, state| Step { text: text.to_owned(), state, ..Step::default() };
        let chain =
            Chain { location: None, steps: vec![step("a", StepState::Ok), step("b", StepState::Running)] };
        let (call, tool) = (CallId::new("c"), "bash".to_owned());
        let events = [
            AgentEvent::ToolStarted { call: call.clone(), tool, arguments: Map::new(), limit_ms: None },
            AgentEvent::ToolSteps { call: call.clone(), chain: Arc::new(chain) },
            AgentEvent::ToolProgress { call, delta: "all of it\n".to_owned() },
        ];
        let mut conversation = Conversation::new();
        for event in &events {
            conversation.apply(event, now, (0, 0));
        }
        conversation
    }

    fn finished(details: Option<serde_json::Value>) -> AgentEvent {
        AgentEvent::ToolFinished {
            call: CallId::new("c"),
            tool: "bash".to_owned(),
            output: Arc::new(ToolOutput {
                content: vec![Block::text("x")],
                details,
                usage: None,
                is_error: false,
            }),
            duration_ms: Some(400),
        }
    }

    #[test]
    fn a_result_says_how_its_steps_went() {
        let now = Instant::now();
        let kept =
            Step { output: "it\n".to_owned(), lines_before: 3, state: StepState::Ok, ..Step::default() };
        let details = json!({ CHAIN: Chain { location: None, steps: vec![Step::default(), kept] } });
        let mut live = running(now);
        assert_eq!(only(&live).step_output(1), ("all of it\n", 0));
        assert_eq!(only(&live).begun(), Some(now));
        let later = now + Duration::from_secs(1);
        live.apply(&finished(Some(details.clone())), later, (0, 0));
        assert_eq!(only(&live).step_output(1), ("it\n", 3));
        assert_eq!(only(&live).step_outputs[1], "all of it\n", "for whoever wants to see all");
        assert_eq!(only(&live).begun(), Some(later - Duration::from_millis(400)));
        assert_eq!(only(&live).step_output(7), ("", 0));
        let mut resumed = Conversation::new();
        let result = json!({"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": "x",
            "details": details, "durationMs": 400});
        let message: Message = serde_json::from_value(result).unwrap();
        resumed.load([Arc::new(message)]);
        assert_eq!(only(&resumed).step_output(1), ("it\n", 3));
        assert_eq!(only(&resumed).chain, only(&live).chain);
        assert_eq!(only(&resumed).begun(), None);
    }

    #[test]
    fn without_kept_steps_what_was_told_stays() {
        let now = Instant::now();
        let mut live = running(now);
        live.apply(&finished(None), now, (0, 0));
        assert_eq!(only(&live).step_output(1), ("all of it\n", 0));
        assert_eq!(only(&live).chain.as_ref().map(|chain| chain.steps.len()), Some(2));
    }

    /// Those of a session that is resumed are told by the results alone.
    #[test]
    fn steps_are_counted_whether_they_were_seen_or_read() {
        let kept = Chain { location: None, steps: vec![Step::default(); 3] };
        let details = json!({ CHAIN: kept });
        let now = Instant::now();
        let mut live = running(now);
        assert_eq!(live.further_steps(), 1);
        live.apply(&finished(Some(details.clone())), now, (0, 0));
        assert_eq!(live.further_steps(), 2, "what is kept counts");
        let result = json!({"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": "x", "details": details});
        let message: Message = serde_json::from_value(result).unwrap();
        let mut resumed = Conversation::new();
        resumed.load([Arc::new(message)]);
        assert_eq!(resumed.further_steps(), 2);
    }

    /// Events of a listener that came late, or of a server that uses an id again.
    #[test]
    fn events_in_another_order_leave_nothing_that_runs() {
        let now = Instant::now();
        let (call, tool) = (CallId::new("c"), "bash".to_owned());
        let started =
            AgentEvent::ToolStarted { call: call.clone(), tool, arguments: Map::new(), limit_ms: None };
        let steps = AgentEvent::ToolSteps { call: call.clone(), chain: Arc::new(Chain::default()) };
        let over = AgentEvent::TurnFinished {
            turn: crate::proto::ids::TurnId(1),
            ticket: crate::proto::ids::TicketId(1),
            outcome: crate::proto::command::TicketOutcome::Completed,
        };
        let orders = [
            vec![finished(None), started.clone()],
            vec![started.clone(), finished(None), started.clone(), finished(None)],
            vec![over.clone(), started.clone()],
            vec![steps, AgentEvent::ToolWait { call, wait: None }, started],
        ];
        for order in orders {
            let mut conversation = Conversation::new();
            for event in order.iter().chain([&over]) {
                conversation.apply(event, now, (0, 0));
            }
            let runs = |item: &Item| matches!(&item.body, Body::Call(call) if matches!(call.phase, CallPhase::Running { .. }));
            assert!(!conversation.items().iter().any(runs), "{order:?}");
        }
    }
}
