//! Everything around the transcript and the composer.
//!
//! | file | what it is |
//! |---|---|
//! | [`regions`] | who gets which rows |
//! | [`phase`] | what the agent is doing, from its events |
//! | [`flow`] | how fast text arrives |
//! | [`phase_line`] | the divider above the composer, which tells the phase |
//! | [`spinner`] | what turns in it |
//! | [`queue_rows`] | what waits to be said |
//! | [`composer_box`] | the composer, its completions and the rule below |
//! | [`footer`] | place, model, mode, context, cost |
//! | [`context_bar`] | how full the window is |
//! | [`provider`] | a provider's colour |
//! | [`start_page`] | what an empty transcript shows |
//! | [`voice_row`] | the recording, in a border of the composer |

pub mod composer_box;
pub mod context_bar;
pub mod flow;
pub mod footer;
pub mod phase;
pub mod phase_line;
pub mod provider;
pub mod queue_rows;
pub mod regions;
pub mod spinner;
pub mod start_page;
pub mod voice_row;

#[cfg(test)]
pub(super) mod screen_tests;
