//! Tool calls of one Chat Completions answer, as the pieces come in.
//!
//! Servers differ: calls may interleave, share an index, share an id or have none; the name may come late; arguments may
//! come in pieces, whole, twice or never. Invariants: a call keeps its place from its first piece on; ids are unique.

use crate::llm::StreamEvent;
use crate::llm::decode::{count, fresh_call_id, some, some_text};
use crate::proto::ids::CallId;
use serde_json::Value;

/// The calls of one answer.
#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
    /// Encrypted reasoning, by the provider's id of the call that it belongs to. It may come before the call.
    details: Vec<(String, Value)>,
}

#[derive(Debug)]
struct Call {
    /// Place in the content.
    index: usize,
    wire_index: Option<u64>,
    /// The id as the provider gave it, if it did.
    wire_id: Option<String>,
    /// Id and name as the start told them.
    told: (CallId, String),
    /// Id and name as they are known now.
    known: (CallId, String),
    arguments: String,
}

impl Calls {
    /// Takes one piece in; `next_index` is the place for a new call and is moved on when there is one.
    pub fn piece(&mut self, piece: &Value, next_index: &mut usize, events: &mut Vec<StreamEvent>) {
        let wire_index = count(piece, "index");
        let wire_id = some_text(piece, "id");
        let function = some(piece, "function").unwrap_or(piece);
        let name = some_text(function, "name");
        let place = match self.place(wire_index, wire_id, name) {
            Some(place) => place,
            None => {
                self.open(wire_index, wire_id, name, *next_index, events);
                *next_index += 1;
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(place) else { return };
        call.learn(wire_id, name);
        let delta = match function.get("arguments") {
            Some(Value::String(delta)) => delta.clone(),
            Some(whole @ Value::Object(_)) => whole.to_string(),
            _ => return,
        };
        if !delta.is_empty() {
            call.arguments.push_str(&delta);
            events.push(StreamEvent::ToolCallDelta { index: call.index, delta });
        }
    }

    /// Takes a `reasoning_details` item in; only encrypted ones of a call are kept.
    pub fn detail(&mut self, detail: &Value) {
        if some_text(detail, "type") == Some("reasoning.encrypted")
            && let (Some(id), Some(_)) = (some_text(detail, "id"), some_text(detail, "data"))
        {
            self.details.push((id.to_owned(), detail.clone()));
        }
    }

    /// All calls are whole.
    pub fn close(&mut self, events: &mut Vec<StreamEvent>) {
        for call in self.calls.drain(..) {
            let detail = self.details.iter().find(|(id, _)| call.wire_id.as_deref() == Some(id));
            events.push(StreamEvent::ToolCallEnd {
                index: call.index,
                signature: detail.map(|(_, detail)| detail.to_string()),
                corrected: (call.known != call.told).then_some(call.known),
                arguments: mended(&call.arguments),
            });
        }
    }

    /// Which call a piece belongs to; `None` begins a new one.
    fn place(&self, wire_index: Option<u64>, wire_id: Option<&str>, name: Option<&str>) -> Option<usize> {
        // Another id and a name begin a new call, also under an index that was used before.
        let begins = |call: &Call| {
            name.is_some() && matches!((wire_id, &call.wire_id), (Some(new), Some(old)) if new != old)
        };
        let by_index =
            wire_index.and_then(|index| self.calls.iter().rposition(|call| call.wire_index == Some(index)));
        if let Some(place) = by_index {
            return self.calls.get(place).is_some_and(|call| !begins(call)).then_some(place);
        }
        if wire_index.is_some() {
            return None;
        }
        match wire_id {
            Some(id) => self.calls.iter().rposition(|call| call.wire_id.as_deref() == Some(id)),
            // Without index and id a name begins a call, and anything else goes on with the last one.
            None if name.is_some() => None,
            None => self.calls.len().checked_sub(1),
        }
    }

    fn open(
        &mut self,
        wire_index: Option<u64>,
        wire_id: Option<&str>,
        name: Option<&str>,
        index: usize,
        events: &mut Vec<StreamEvent>,
    ) {
        let taken = |id: &str| self.calls.iter().any(|call| call.known.0.as_str() == id);
        let id = wire_id.filter(|id| !taken(id)).map_or_else(fresh_call_id, str::to_owned);
        let told = (CallId::new(id), name.unwrap_or_default().to_owned());
        events.push(StreamEvent::ToolCallStart { index, id: told.0.clone(), name: told.1.clone() });
        self.calls.push(Call {
            index,
            wire_index,
            wire_id: wire_id.map(str::to_owned),
            known: told.clone(),
            told,
            arguments: String::new(),
        });
    }
}

impl Call {
    fn learn(&mut self, wire_id: Option<&str>, name: Option<&str>) {
        if self.wire_id.is_none()
            && let Some(id) = wire_id
        {
            self.wire_id = Some(id.to_owned());
            self.known.0 = CallId::new(id);
        }
        if self.known.1.is_empty()
            && let Some(name) = name
        {
            name.clone_into(&mut self.known.1);
        }
    }
}

/// The argument text when what was collected is several objects in a row: some servers send `{}` first, or everything
/// again at the end. The last one that says something counts.
fn mended(collected: &str) -> Option<String> {
    let objects: Result<Vec<Value>, _> =
        serde_json::Deserializer::from_str(collected).into_iter::<Value>().collect();
    let objects = objects.ok().filter(|objects| objects.len() > 1 && objects.iter().all(Value::is_object))?;
    let says_something = |object: &&Value| object.as_object().is_some_and(|map| !map.is_empty());
    objects.iter().rev().find(says_something).or_else(|| objects.last()).map(Value::to_string)
}
