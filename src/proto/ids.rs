//! Names of things, as newtypes, so that one kind of id is never taken for another.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps a text that already is an id.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

text_id!(
    /// A session: one log, one conversation tree. A UUID (version 7) when Mynah made it.
    SessionId
);
text_id!(
    /// One line of the session log. Eight hexadecimal digits when Mynah made it, else whatever the writer used.
    EntryId
);
text_id!(
    /// One tool call, as the provider named it.
    CallId
);
text_id!(
    /// A background shell job: a name made of its title, unique in its session.
    JobId
);
text_id!(
    /// A session that works: the main one or a child.
    AgentId
);

number_id!(
    /// One recording of speech, counted from 1 in each run of the program.
    RecordingId
);
number_id!(
    /// The run of one prompt to its end. Counts up within a process.
    TurnId
);
number_id!(
    /// One submitted prompt; resolves exactly once.
    TicketId
);
number_id!(
    /// One question to the user.
    AskId
);

impl SessionId {
    /// A fresh id, ordered by time.
    pub fn fresh() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }
}

impl EntryId {
    /// A fresh id of eight hexadecimal digits. The log checks it against the ids it has.
    pub fn fresh() -> Self {
        Self(format!("{:08x}", fastrand::u32(..)))
    }
}
