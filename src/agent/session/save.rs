//! Putting everything on disk, and telling when that fails.

use super::{Note, Session};
use crate::agent::view::Durability;
use crate::proto::entry::EntryKind;
use crate::proto::event::NoticeLevel;
use crate::store::error::StoreError;
use std::sync::Arc;
use tokio::sync::oneshot;

impl Session {
    pub(super) fn saved(&mut self, saved: Result<(), String>) {
        if self.parts.log.path().is_none() {
            return;
        }
        self.barriers = self.barriers.saturating_sub(1);
        match saved {
            // An older barrier says nothing of what a newer one is still to save.
            Ok(()) if self.barriers > 0 => {}
            Ok(()) => self.durability = Durability::Saved,
            Err(error) => {
                let told = matches!(self.durability, Durability::Failed(_));
                self.durability = Durability::Failed(error.clone());
                if !told {
                    self.notice(NoticeLevel::Error, error);
                }
            }
        }
    }

    /// Puts everything so far on disk; the outcome comes back as mail to ourselves. `accepted` waits for it too.
    pub(super) fn save(&mut self, accepted: Option<oneshot::Sender<Result<bool, String>>>) {
        let barrier = self.parts.log.barrier();
        self.barriers += 1;
        if self.durability == Durability::Saved {
            self.durability = Durability::Pending;
        }
        let notes = self.notes.clone();
        let (table, told) = (Arc::clone(&self.parts.workshop.table), self.wakes.take_told());
        self.saving.spawn(async move {
            let saved = barrier.await.map_err(|error| error.to_string());
            if saved.is_ok() && !told.is_empty() {
                table.set_told(&told);
            }
            if let Some(accepted) = accepted {
                let _gone = accepted.send(saved.clone().map(|()| true));
            }
            let _ended = notes.send(Note::Saved(saved));
        });
    }

    pub(super) fn log(&mut self, kind: EntryKind) {
        let id = self.parts.log.fresh_id();
        self.parts.log.append(id, kind, jiff::Timestamp::now());
    }

    /// The last try to put everything on disk. What fails now is lost with this process.
    pub(super) async fn save_at_the_end(&mut self) -> Result<(), String> {
        let Err(error) = self.parts.log.barrier().await else {
            self.saved(Ok(()));
            return Ok(());
        };
        let recovered = matches!(&error, StoreError::Write { recovered: true, .. });
        let error = error.to_string();
        if !matches!(self.durability, Durability::Failed(_)) {
            self.notice(NoticeLevel::Error, error.clone());
        }
        if recovered {
            self.saved(Ok(()));
            return Ok(());
        }
        self.durability = Durability::Failed(error);
        Err("The session is not saved whole: what could not be written is lost.".to_owned())
    }
}
