//! The plugin in a real QEMU: traces of small programs match what was computed by hand.

mod endings;
mod programs;
mod tool;
