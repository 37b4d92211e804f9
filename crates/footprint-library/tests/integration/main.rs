//! The plugin in a real QEMU: traces of small programs agree with what was computed by hand.

mod endings;
mod programs;
mod tool;
