//! fsprism: the command line.
fn main() {}
