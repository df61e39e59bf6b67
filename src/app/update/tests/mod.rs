//! Behaviour of the screen as data: what happens goes in, effects and state come out.

mod anything;
mod cards;
mod keys;
mod pointer;
mod select;
mod sessions;
mod submit;
