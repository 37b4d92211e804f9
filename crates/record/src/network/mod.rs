//! The metrics of the suite `fscache` whose names other code needs to know, and what follows from
//! them.

mod counted;

pub use counted::{Counted, left_out, values};

/// The suite's name.
pub const SUITE: &str = "fscache";
/// All RPCs: the primary metric.
pub const RPCS: &str = "rpcs";
/// Bytes of file content read from the server.
pub const SERVER_BYTES: &str = "read_from_server";
/// Reads from the cache.
pub const CACHE_READS: &str = "cache_reads";
/// Writes to the cache.
pub const CACHE_WRITES: &str = "cache_writes";
/// Time that the cache takes to look files up on its file system, including their checks.
pub const CACHE_LOOKUP_TIME: &str = "cache_lookup_time";
/// Time that it takes to read the attributes with which they were stored.
pub const CACHE_CHECK_TIME: &str = "cache_check_time";
/// Time that it takes to read their content.
pub const CACHE_READ_TIME: &str = "cache_read_time";
/// Files that were removed from the cache to make room.
pub const CULLED: &str = "cache_culled";
/// Files in the cache once it has settled.
pub const OBJECTS: &str = "cache_objects";
/// Bytes allocated to these files.
pub const HELD: &str = "cache_held";
/// The share of bytes served by the cache, in percent; counted if the cache is too small for all.
pub const CACHE_HIT: &str = "cache_hit";
/// Prefix of the benchmark that has the result of a search for break-even; the size of the files
/// follows.
pub const BREAK_EVEN: &str = "break-even-rate";
/// Lower end of the interval of the link rate up to which a hot cache pays.
pub const BREAK_EVEN_LOW: &str = "break_even_low";
/// Upper end of that interval.
pub const BREAK_EVEN_HIGH: &str = "break_even_high";
/// Elapsed time on a mount of the user's own.
pub const ELAPSED_TIME: &str = "elapsed_time";
/// Time by the client's emulated clock.
pub const EMULATED_TIME: &str = "emulated_time";
/// The share of that time in which the link is busy transmitting.
pub const LINK_BUSY: &str = "link_busy";
/// The share of that time in which RPCs wait for the link's delay: an upper limit that assumes that
/// none overlap.
pub const LINK_DELAY: &str = "link_delay";
/// The share of that time in which the client's processor is idle.
pub const CLIENT_IDLE: &str = "client_idle";
/// The share of that time in which the server's processor is idle.
pub const SERVER_IDLE: &str = "server_idle";

/// Prefix of the metric of one operation.
pub const OPERATION_PREFIX: &str = "rpc_";
/// The RPCs of all operations without a metric of their own.
pub const OTHER_RPCS: &str = "rpc_other";

/// Minimum share of time that a link must be busy to count as the bottleneck.
const LINK_BUSY_PERCENT_MIN: f64 = 90.0;
/// Maximum share of time that the two emulated processors may be busy, added up, if the network is
/// the bottleneck: half of it.
const BUSY_PERCENT_MAX: f64 = 50.0;

/// The metric of one operation.
#[must_use]
pub fn rpc_metric(operation: &str) -> String {
    format!("{OPERATION_PREFIX}{}", operation.to_lowercase())
}

/// Whether a time was spent in the network and not in emulation, so that comparing it with another
/// such time does not depend on the speed of guests. `value` returns a replicate's metrics by name.
/// Either the link was almost never idle; or it and its delay can account for most of the time, and
/// both guests were idle for most of it.
pub fn is_network_bound(value: impl Fn(&str) -> f64) -> bool {
    let link_busy = value(LINK_BUSY);
    let busy = (100.0 - value(CLIENT_IDLE)) + (100.0 - value(SERVER_IDLE));
    let can_take_most = link_busy + value(LINK_DELAY) >= 100.0 - BUSY_PERCENT_MAX;
    link_busy >= LINK_BUSY_PERCENT_MIN || (can_take_most && busy <= BUSY_PERCENT_MAX)
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
