//! Behaviour of the screen as data: what happens goes in, effects and state come out.

mod anything;
mod blocks;
mod cards;
mod chords;
mod drafts;
mod jobs;
mod keys;
mod phase;
mod pointer;
mod rest;
mod scroll_rules;
mod search;
mod select;
mod sessions;
mod settings;
mod sheet;
mod submit;
mod together;
mod voice;
