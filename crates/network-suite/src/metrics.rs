//! What is counted of a replicate, as metrics of its cell.

use lab::rig::Shape;
use network_guest::Measured;
use network_guest::counters::{Counters, MountCounters};
use record::{Better, MetricDefinition};

use crate::observed::{Observed, Reader, all_requests, sum};
use crate::plan::NetworkBenchmark;

/// All RPCs: the primary metric.
pub const RPCS: &str = "rpcs";
/// Bytes of files that were read from the server.
pub const SERVER_BYTES: &str = "read_from_server";
/// Reads from the cache.
pub(crate) const CACHE_READS: &str = "cache_reads";
/// Writes to the cache.
pub(crate) const CACHE_WRITES: &str = "cache_writes";
/// Files that were removed from the cache to make room.
pub(crate) const CULLED: &str = "cache_culled";
/// Files in the cache once it had come to rest.
pub(crate) const OBJECTS: &str = "cache_objects";
/// Bytes of the blocks of these files.
pub(crate) const HELD: &str = "cache_held";
/// The share of bytes that the cache had.
pub(crate) const CACHE_HIT: &str = "cache_hit";
/// Time by the client's clock, which is emulated.
pub const EMULATED_TIME: &str = "emulated_time";
/// The share of that time for which the link is busy with what went over it.
pub(crate) const LINK_BUSY: &str = "link_busy";
/// The share of that time that RPCs wait for the link's delay, at most: as if none overlapped.
pub(crate) const LINK_DELAY: &str = "link_delay";
/// The share of that time in which the client's processor had nothing to do.
pub(crate) const CLIENT_IDLE: &str = "client_idle";
/// The same of the server's.
pub(crate) const SERVER_IDLE: &str = "server_idle";

/// Operations that have a metric of their own; what else was asked for is counted together.
const OPERATIONS: [&str; 14] = [
    "READ",
    "READ_PLUS",
    "WRITE",
    "COMMIT",
    "GETATTR",
    "SETATTR",
    "LOOKUP",
    "ACCESS",
    "READDIR",
    "READDIRPLUS",
    "OPEN",
    "OPEN_NOATTR",
    "CLOSE",
    "DELEGRETURN",
];
const OTHER_RPCS: &str = "rpc_other";
/// The share of time that a link must be busy to be what takes the time.
const LINK_BUSY_LEAST_PERCENT: f64 = 90.0;
/// The share of time that emulated processors may be busy, both together, where what takes the time
/// is the network: half of it.
const BUSY_MOST_PERCENT: f64 = 50.0;

/// The metric of one operation.
#[must_use]
pub fn rpc_metric(operation: &str) -> String {
    format!("rpc_{}", operation.to_lowercase())
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

/// A metric with its value.
struct Row {
    name: String,
    unit: &'static str,
    better: Better,
    value: f64,
}

/// The metrics of every cell of a benchmark, in order.
pub(crate) fn definitions(benchmark: NetworkBenchmark) -> Vec<MetricDefinition> {
    let nothing = Measured {
        did: network_guest::task::Did::default(),
        elapsed_ns: 0,
        before: Counters::default(),
        after: Counters::default(),
        resident: None,
    };
    let readers = vec![Reader { measured: nothing, settled: None }; benchmark.clients()];
    let server = (Counters::default(), Counters::default());
    let link = Shape::default();
    let observed = Observed { benchmark, readers: &readers, server: &server, link };
    let definition = |row: Row| MetricDefinition::new(&row.name, row.unit, row.better);
    rows(&observed).into_iter().map(definition).collect()
}

/// Their values.
pub(crate) fn values(observed: &Observed<'_>) -> Vec<f64> {
    rows(observed).into_iter().map(|row| row.value).collect()
}

/// Counts are sums over the clients, the time is that of the slowest of them, and a share is that
/// of the client from which the least follows for the network.
fn rows(of: &Observed<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |name: &str, unit, better, value| {
        rows.push(Row { name: name.to_owned(), unit, better, value });
    };
    let lower = Better::Lower;
    let requests = |operation: &str| of.mount(|mount| mount.requests(operation));
    let all = of.mount(all_requests);
    add(RPCS, "count", lower, all);
    add(SERVER_BYTES, "bytes", lower, of.mount(|mount| mount.server_read_bytes));
    let mut named = 0.0;
    add("written_to_server", "bytes", lower, of.mount(|mount| mount.server_written_bytes));
    for operation in OPERATIONS {
        let asked = requests(operation);
        named += asked;
        add(&rpc_metric(operation), "count", lower, asked);
    }
    add(OTHER_RPCS, "count", lower, all - named);
    add("rpc_timeouts", "count", lower, of.mount(|mount| sum(mount, |one| one.timeouts)));
    let errors = |mount: &MountCounters| sum(mount, |one| one.errors.unwrap_or(0));
    add("rpc_errors", "count", lower, of.mount(errors));
    add("rpc_sent", "bytes", lower, of.mount(|mount| sum(mount, |one| one.sent_bytes)));
    add("rpc_received", "bytes", lower, of.mount(|mount| sum(mount, |one| one.received_bytes)));
    add("cache_lookups", "count", Better::Neither, of.cache(|cache| cache.acquires));
    add(CACHE_READS, "count", Better::Neither, of.cache(|cache| cache.reads));
    add(CACHE_WRITES, "count", Better::Neither, of.cache(|cache| cache.writes));
    add("cache_invalidations", "count", Better::Neither, of.cache(|cache| cache.invalidations));
    add(CULLED, "count", Better::Neither, of.culled());
    let full = of.cache(|cache| cache.writes_without_room + cache.creates_without_room);
    add("cache_without_room", "count", Better::Neither, full);
    add(OBJECTS, "count", Better::Neither, of.held(|settled| settled.objects));
    add(HELD, "bytes", Better::Neither, of.held(|settled| settled.bytes));
    add("disk_reads", "count", lower, of.disk(|disk| disk.reads));
    add("disk_read", "bytes", lower, of.disk(|disk| disk.read_bytes));
    add("disk_writes", "count", lower, of.disk(|disk| disk.writes));
    add("disk_written", "bytes", lower, of.disk(|disk| disk.written_bytes));
    add("packets_sent", "count", lower, of.network(|network| network.sent_packets));
    add("packets_received", "count", lower, of.network(|network| network.received_packets));
    add(EMULATED_TIME, "ns", Better::Neither, of.slowest_ns());
    add(LINK_BUSY, "%", Better::Neither, of.least(Observed::link_busy));
    add(LINK_DELAY, "%", Better::Neither, of.least(Observed::delayed));
    add(CLIENT_IDLE, "%", Better::Neither, of.least(Observed::idle));
    add(SERVER_IDLE, "%", Better::Neither, of.server_idle());
    if of.benchmark == NetworkBenchmark::Cull {
        add(CACHE_HIT, "%", Better::Higher, of.cache_hit());
    }
    if of.readers.len() > 1 {
        add("overlap", "%", Better::Neither, of.overlap());
        for (number, client) in of.each().enumerate() {
            let mut own = |name: &str, unit, value| {
                add(&format!("client_{}_{name}", number + 1), unit, Better::Neither, value);
            };
            own(RPCS, "count", client.mount(all_requests));
            own("rpc_read", "count", client.mount(|mount| mount.requests("READ")));
            own(SERVER_BYTES, "bytes", client.mount(|mount| mount.server_read_bytes));
            own(CACHE_READS, "count", client.cache(|cache| cache.reads));
            own(CACHE_WRITES, "count", client.cache(|cache| cache.writes));
            own(EMULATED_TIME, "ns", client.slowest_ns());
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_metric_counts_all_calls_and_names_are_not_repeated() {
        for benchmark in NetworkBenchmark::ALL {
            let definitions = definitions(benchmark);
            assert_eq!(definitions[0].name, RPCS);
            let mut names: Vec<&str> = definitions.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(names.contains(&"client_2_rpc_read"), benchmark.clients() == 2);
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), definitions.len());
        }
    }

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
