//! The core by itself: against a model, and killed after every store.

mod annex;
mod attributes;
mod content;
mod descriptors;
mod full;
mod hostile;
mod kill;
mod listing;
mod memory;
mod model;
mod threads;
mod world;
