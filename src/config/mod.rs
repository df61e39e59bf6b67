//! Places, settings and their layers.
//!
//! | file | what it is |
//! |---|---|
//! | [`places`] | the folders of one user |
//! | [`mod@env`] | the environment as a value |
//! | [`settings`] | the table of settings, and what they are as types |
//! | [`check`] | what a setting may be |
//! | [`load`] | all layers to one set of settings, with warnings |
//! | [`save`] | one setting into a file |
//! | [`trust`] | whose project settings are read |
//! | [`grants`] | rules that the user allowed for good |
//! | [`key`] | a key press, read and printed |
//! | [`chord`] | keys in a row |
//! | [`action`] | everything a key can do |
//! | [`keymap`] | which key does what, and where |
//! | [`shadows`] | keys that an inner place hides from an outer one |
//! | [`key_table`] | the same for the README |
//! | [`display`] | how the transcript and the phase line are shown |
//! | [`verbs`] | what a prompt is called while it runs |

pub mod action;
pub mod check;
pub mod chord;
pub mod display;
pub mod env;
pub mod grants;
pub mod jobs;
pub mod key;
pub mod key_table;
pub mod keymap;
pub mod load;
pub mod places;
pub mod save;
pub mod settings;
pub mod shadows;
pub mod trust;
pub mod verbs;
pub mod voice;
