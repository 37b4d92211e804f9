//! The core for an environment in which nobody dies, only one thread is in it at a time, and nobody
//! else writes to the arena. What it leaves out must not be missed: its other tests, once more.

/// What the environment of these tests is like.
const IS_SHARED: bool = false;

#[path = "../core/annex.rs"]
mod annex;
#[path = "../core/attributes.rs"]
mod attributes;
#[path = "../core/content.rs"]
mod content;
#[path = "../core/descriptors.rs"]
mod descriptors;
#[path = "../core/full.rs"]
mod full;
#[path = "../core/kill.rs"]
mod kill;
#[path = "../core/listing.rs"]
mod listing;
#[path = "../core/mapped.rs"]
mod mapped;
#[path = "../core/memory.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod memory;
#[path = "../core/model.rs"]
mod model;
#[path = "../core/numbers.rs"]
mod numbers;
#[path = "../core/world.rs"]
mod world;
