//! The core on its own: compared with models, killed after every store, attacked, and used by
//! several threads.

/// What the environment of these tests is like: other threads are in it, and die, and what they
/// write may be nonsense.
const IS_SHARED: bool = true;

mod annex;
mod attributes;
mod content;
mod descriptors;
mod full;
mod heir;
mod hostile;
mod kill;
mod listing;
mod mapped;
mod memory;
mod model;
mod numbers;
mod threads;
mod trim;
mod truncated;
mod world;
