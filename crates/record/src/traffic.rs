//! What the phases of a benchmark move into and out of simulated caches: a run beside the timed
//! one, and the names of its metrics.

/// The suite's name, and that of the directory, within that of the timed run, where its run lies.
pub const SUITE: &str = "cache-traffic";

/// What a cache took in, in bytes.
pub const BYTES_IN: &str = "bytes_in";
/// What left it for the level below because it had been changed.
pub const BYTES_OUT: &str = "bytes_out";
/// What was in it at the end of the phase, had been changed, and had yet to leave.
pub const DIRTY_BYTES: &str = "dirty_bytes";

/// The name of the metric that says one of these of a cache: `l2_bytes_in`.
#[must_use]
pub fn metric(cache: &str, what: &str) -> String {
    format!("{cache}_{what}")
}
