//! What is on screen: pure state in, cells out. Nothing here touches the terminal, files or the clock.

pub mod composer;
pub mod key_event;
