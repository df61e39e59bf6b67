//! What is kept of this session at an accepted stop: the message itself, shared and unchangeable. Whatever happens
//! until the text is corrected (a turn that ends, a rewind, another session) changes nothing of it.

use super::source::{completed, nearest};
use super::{Agent, Excerpt};
use crate::proto::entry::Entry;
use crate::proto::ids::EntryId;
use crate::proto::message::Message;
use std::sync::Arc;

/// The session's last completed message as it stood at an accepted stop.
// No `Debug`: what was said must reach no log.
#[derive(Clone)]
pub struct Captured {
    entry: EntryId,
    message: Arc<Message>,
}

impl Captured {
    /// From the messages of the current branch, **newest first**: what a front end holds of a conversation. One that
    /// streams is passed over.
    pub fn of_messages<'a>(
        newest_first: impl IntoIterator<Item = (&'a EntryId, &'a Arc<Message>)>,
    ) -> Option<Self> {
        let mut messages = newest_first.into_iter();
        let (entry, message) = messages.find(|(_, message)| completed(message).is_some())?;
        Some(Self { entry: entry.clone(), message: Arc::clone(message) })
    }

    /// From the log and the end of the current branch.
    pub fn of_entries(entries: &[Entry], leaf: Option<&EntryId>) -> Option<Self> {
        let (entry, message) = nearest(entries, leaf)?;
        Some(Self { entry: entry.clone(), message: Arc::clone(message) })
    }

    /// Which entry it is.
    pub const fn entry(&self) -> &EntryId {
        &self.entry
    }

    /// What may be sent of it, at most `limit` characters.
    pub fn excerpt(&self, limit: usize) -> Option<Excerpt> {
        Excerpt::of(Agent::Mynah, &completed(&self.message)?, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(stop: &str, text: &str) -> Arc<Message> {
        Arc::new(
            serde_json::from_value(json!({"role": "assistant", "stopReason": stop, "content": text}))
                .unwrap(),
        )
    }

    #[test]
    fn what_comes_later_changes_nothing() {
        let ids = [EntryId::new("a"), EntryId::new("b"), EntryId::new("c")];
        let mut branch =
            vec![(ids[0].clone(), message("stop", "before")), (ids[1].clone(), message("pending", "so"))];
        let captured = Captured::of_messages(branch.iter().rev().map(|(id, message)| (id, message))).unwrap();
        // The turn ends, another one begins, the branch is left.
        branch[1].1 = message("stop", "so far");
        branch.push((ids[2].clone(), message("stop", "after")));
        branch.clear();
        assert_eq!(captured.entry(), &ids[0]);
        assert_eq!(captured.excerpt(6_000).unwrap().text(), "before");
        assert!(Captured::of_messages([(&ids[0], &message("aborted", "x"))]).is_none());
    }
}
