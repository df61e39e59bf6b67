//! Test servers and clocks; never part of the shipped binary.
