//! What is said, and where it is on screen.
//!
//! The transcript is virtual: an entry has an estimated height until it is laid out, and only what is visible is laid
//! out. Positions are kept in content coordinates ([`anchor::Anchor`]), so that neither a better estimate nor another
//! width moves what the user reads.
//!
//! | file | what it is |
//! |---|---|
//! | [`item`] | what the transcript holds |
//! | [`conversation`] | items out of what an agent tells, and out of a log |
//! | [`copy`] | items as text |
//! | [`held`] | parts of messages that the session keeps |
//! | [`heights`] | rows of all entries, summed: from a row to its entry and back |
//! | [`layout`] | laid out entries, bounded in bytes |
//! | [`anchor`] | a place in the content |
//! | [`plain`] | items as people read them |
//! | [`runs`] | items that are one piece of work, and what it came to |
//! | [`search`] | what is looked for, and the matches of each item |
//! | [`select`] | what is selected |
//! | [`trail`] | what of a growing text is new |
//! | [`scroll`] | what the window shows: following the end, or reading at an anchor |

pub mod anchor;
pub mod conversation;
pub mod copy;
pub mod heights;
pub mod held;
pub mod item;
pub mod layout;
pub mod plain;
pub mod runs;
pub mod scroll;
pub mod search;
pub mod select;
pub mod trail;
