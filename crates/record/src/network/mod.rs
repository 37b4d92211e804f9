//! The metrics of the suite `fscache` that others than the suite know by name, and what follows
//! from them.

mod counted;

pub use counted::{Counted, left_out, values};

/// The suite's name.
pub const SUITE: &str = "fscache";
/// All RPCs: the primary metric.
pub const RPCS: &str = "rpcs";
/// Bytes of files that were read from the server.
pub const SERVER_BYTES: &str = "read_from_server";
/// Reads from the cache.
pub const CACHE_READS: &str = "cache_reads";
/// Writes to the cache.
pub const CACHE_WRITES: &str = "cache_writes";
/// Files that were removed from the cache to make room.
pub const CULLED: &str = "cache_culled";
/// Files in the cache once it had come to rest.
pub const OBJECTS: &str = "cache_objects";
/// Bytes of the blocks of these files.
pub const HELD: &str = "cache_held";
/// The share of bytes that the cache had, in percent; counted where the cache is too small.
pub const CACHE_HIT: &str = "cache_hit";
/// How the benchmark begins of what a search for break-even found; the size of the files follows.
pub const BREAK_EVEN: &str = "break-even-rate";
/// Where the interval begins of the link rate up to which a hot cache pays ...
pub const BREAK_EVEN_LOW: &str = "break_even_low";
/// ... and where it ends.
pub const BREAK_EVEN_HIGH: &str = "break_even_high";
/// Time on a mount of the user's own.
pub const ELAPSED_TIME: &str = "elapsed_time";
/// Time by the client's clock, which is emulated.
pub const EMULATED_TIME: &str = "emulated_time";
/// The share of that time for which the link is busy with what went over it.
pub const LINK_BUSY: &str = "link_busy";
/// The share of that time that RPCs wait for the link's delay, at most: as if none overlapped.
pub const LINK_DELAY: &str = "link_delay";
/// The share of that time in which the client's processor had nothing to do.
pub const CLIENT_IDLE: &str = "client_idle";
/// The same of the server's.
pub const SERVER_IDLE: &str = "server_idle";

/// How the metric of one operation begins.
pub const OPERATION_PREFIX: &str = "rpc_";
/// The RPCs of operations that have no metric of their own.
pub const OTHER_RPCS: &str = "rpc_other";

/// The share of time that a link must be busy to be what takes the time.
const LINK_BUSY_LEAST_PERCENT: f64 = 90.0;
/// The share of time that emulated processors may be busy, both together, where what takes the time
/// is the network: half of it.
const BUSY_MOST_PERCENT: f64 = 50.0;

/// The metric of one operation.
#[must_use]
pub fn rpc_metric(operation: &str) -> String {
    format!("{OPERATION_PREFIX}{}", operation.to_lowercase())
}

/// Whether a time passed in the network and not in emulation: then how it compares with another
/// such time does not depend on how fast guests are. `value` gives those of a replicate's metrics
/// by their names. Either the link was never at rest; or it and its delay can take most of the
/// time, for most of which both guests were idle.
pub fn is_network_bound(value: impl Fn(&str) -> f64) -> bool {
    let link_busy = value(LINK_BUSY);
    let busy = (100.0 - value(CLIENT_IDLE)) + (100.0 - value(SERVER_IDLE));
    let can_take_most = link_busy + value(LINK_DELAY) >= 100.0 - BUSY_MOST_PERCENT;
    link_busy >= LINK_BUSY_LEAST_PERCENT || (can_take_most && busy <= BUSY_MOST_PERCENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_link_takes_the_time_and_so_does_one_that_idle_guests_wait_for() {
        let is_bound = |busy: f64, delay: f64, client: f64, server: f64| {
            is_network_bound(|name| match name {
                LINK_BUSY => busy,
                LINK_DELAY => delay,
                CLIENT_IDLE => client,
                _ => server,
            })
        };
        assert!(is_bound(95.0, 0.0, 30.0, 80.0));
        assert!(is_bound(20.0, 60.0, 80.0, 70.0));
        assert!(!is_bound(20.0, 60.0, 80.0, 60.0), "emulation takes more than half");
        assert!(!is_bound(20.0, 10.0, 80.0, 70.0), "something else is waited for");
        assert!(!is_bound(80.0, 0.0, 0.0, 100.0));
        assert!(!is_bound(0.0, 0.0, 100.0, 100.0), "nothing went over it");
    }
}
