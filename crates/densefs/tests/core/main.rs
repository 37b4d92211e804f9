//! The core by itself: against a model, and killed after every store.

mod kill;
mod model;
mod world;
