//! The brain, without a terminal.
//!
//! [`session`] is the actor that owns a conversation; [`handle`] is the door to it. A turn's course is decided by the
//! pure [`fsm`] and carried out by the [`driver`]. The rest are pure parts that the session asks: [`queue`],
//! [`permission`], [`repair`], [`context`].

pub mod context;
pub mod driver;
pub mod fsm;
pub mod handle;
pub mod outbox;
pub mod permission;
pub mod queue;
pub mod repair;
pub mod session;
pub mod view;
