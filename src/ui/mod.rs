//! What is on screen: pure state in, cells out. Nothing here touches the terminal, files or the clock.
//!
//! Drawing fills cells and gives a [`scene::Scene`], the frame's meaning; the mouse is resolved against that, so a click
//! can only hit what was really shown.

pub mod band;
pub mod chrome;
pub mod composer;
pub mod entries;
pub mod glow;
pub mod hit;
pub mod jobs;
pub mod key_event;
pub mod layers;
pub mod look;
pub mod motion;
pub mod paint;
pub mod pane;
pub mod pointer;
pub mod scene;
pub mod target;
pub mod text_field;
