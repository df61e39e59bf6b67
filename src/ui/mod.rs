//! The face of the program: what is drawn, and what it means.
//!
//! Drawing is a function of the state. It fills cells and gives a [`scene::Scene`], the frame's meaning; the mouse is
//! resolved against that, so a click can only hit what was really shown.

pub mod hit;
pub mod scene;
