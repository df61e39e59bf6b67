//! Text as people see it.
//!
//! | file | what it is |
//! |---|---|
//! | [`clean`] | what may reach a terminal at all |
//! | [`width`] | how many columns something takes |
//! | [`row`] | one drawn row and what a copy of it is |
//! | [`row_text`] | the text of rows, and where each row stands in it |
//! | [`wrap`] | styled text to rows of a width |
//! | [`words`] | where words, addresses and paths begin and end |
//! | [`ansi`] | colours in the output of tools |
//! | [`languages`] | the languages that have colours |
//! | [`links`] | web addresses in text |
//! | [`highlight`] | roles in source code |
//! | [`diff`] | differences as rows |
//! | [`markdown`] | Markdown as rows, whole or while it streams |
//! | [`formats`] | durations, tokens, money, counts |

pub mod ansi;
pub mod clean;
pub mod diff;
pub mod formats;
pub mod highlight;
pub mod languages;
pub mod links;
pub mod markdown;
pub mod row;
pub mod row_text;
pub mod width;
pub mod words;
pub mod wrap;
