//! How many processors this process may use.

use std::num::NonZero;
use std::sync::OnceLock;

/// Processors that this process may use, as it found them: what a run records of it is what each
/// replicate is held to.
pub(crate) fn processors() -> usize {
    static FOUND: OnceLock<usize> = OnceLock::new();
    *FOUND.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}
