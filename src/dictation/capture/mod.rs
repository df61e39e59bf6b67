//! Where sound comes from: a device, a program, a file.
