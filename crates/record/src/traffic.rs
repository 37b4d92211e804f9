//! What the phases of a benchmark move into and out of simulated caches: a run alongside the timed
//! one, and the names of its metrics.

/// Name of the suite, and of the directory with its run within that of the timed run.
pub const SUITE: &str = "cache-traffic";

/// Bytes read into a cache.
pub const BYTES_IN: &str = "bytes_in";
/// Bytes written back to the level below because they had been modified.
pub const BYTES_OUT: &str = "bytes_out";
/// Modified bytes still in the cache at the end of the phase.
pub const DIRTY_BYTES: &str = "dirty_bytes";

/// Name of one of these metrics for a cache: `l2_bytes_in`.
#[must_use]
pub fn metric(cache: &str, what: &str) -> String {
    format!("{cache}_{what}")
}
