//! What goes wrong with the program itself and those who run it: signals, streams, prompts.
