//! What is counted of a replicate, as metrics of its cell.

use lab::rig::Shape;
use network_guest::Measured;
use network_guest::counters::{Counters, MountCounters};
use record::{Better, MetricDefinition};

/// All RPCs: the primary metric.
pub const RPCS: &str = "rpcs";
/// Bytes of files that were read from the server.
pub const SERVER_BYTES: &str = "read_from_server";
/// Reads from the cache.
pub(crate) const CACHE_READS: &str = "cache_reads";
/// Writes to the cache.
pub(crate) const CACHE_WRITES: &str = "cache_writes";
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

/// What happened between two moments on both sides.
pub(crate) struct Observed<'a> {
    /// What the client, or on the server the server itself, did.
    pub(crate) measured: &'a Measured,
    /// What is counted once the cache had written all; as after the benchmark if there is none.
    pub(crate) settled: Option<&'a Counters>,
    /// Files in the cache.
    pub(crate) objects: u64,
    /// What the server counted before and after.
    pub(crate) server: (&'a Counters, &'a Counters),
    /// The link.
    pub(crate) link: Shape,
}

/// A metric with its value.
struct Row {
    name: String,
    unit: &'static str,
    better: Better,
    value: f64,
}

/// The metrics of every cell, in order.
pub(crate) fn definitions() -> Vec<MetricDefinition> {
    let nothing = Measured {
        did: network_guest::task::Did::default(),
        elapsed_ns: 0,
        before: Counters::default(),
        after: Counters::default(),
        resident: None,
    };
    let server = Counters::default();
    let observed = Observed {
        measured: &nothing,
        settled: None,
        objects: 0,
        server: (&server, &server),
        link: Shape::default(),
    };
    let definition = |row: Row| MetricDefinition::new(&row.name, row.unit, row.better);
    rows(&observed).into_iter().map(definition).collect()
}

/// Their values.
pub(crate) fn values(observed: &Observed<'_>) -> Vec<f64> {
    rows(observed).into_iter().map(|row| row.value).collect()
}

fn rows(observed: &Observed<'_>) -> Vec<Row> {
    let Observed { measured, settled, objects, server, link } = observed;
    let (before, after) = (&measured.before, &measured.after);
    let mut rows = Vec::new();
    let mut add = |name: &str, unit, better, value| {
        rows.push(Row { name: name.to_owned(), unit, better, value });
    };
    let lower = Better::Lower;
    let mount = (&before.mount, &after.mount);
    let requests = |operation: &str| of_mount(mount, |mount| mount.requests(operation));
    let all = of_mount(mount, all_requests);
    add(RPCS, "count", lower, all);
    add(SERVER_BYTES, "bytes", lower, of_mount(mount, |mount| mount.server_read_bytes));
    let mut named = 0.0;
    let written = of_mount(mount, |mount| mount.server_written_bytes);
    add("written_to_server", "bytes", lower, written);
    for operation in OPERATIONS {
        let asked = requests(operation);
        named += asked;
        add(&rpc_metric(operation), "count", lower, asked);
    }
    add(OTHER_RPCS, "count", lower, all - named);
    add("rpc_timeouts", "count", lower, of_mount(mount, |mount| sum(mount, |one| one.timeouts)));
    let errors = |mount: &MountCounters| sum(mount, |one| one.errors.unwrap_or(0));
    add("rpc_errors", "count", lower, of_mount(mount, errors));
    add("rpc_sent", "bytes", lower, of_mount(mount, |mount| sum(mount, |one| one.sent_bytes)));
    let received = |mount: &MountCounters| sum(mount, |one| one.received_bytes);
    add("rpc_received", "bytes", lower, of_mount(mount, received));
    let cache = |pick: fn(&network_guest::counters::CacheCounters) -> u64| {
        let of = |counters: &Counters| counters.cache.as_ref().map_or(0, pick);
        difference(of(before), of(after))
    };
    add("cache_lookups", "count", Better::Neither, cache(|cache| cache.acquires));
    add(CACHE_READS, "count", Better::Neither, cache(|cache| cache.reads));
    add(CACHE_WRITES, "count", Better::Neither, cache(|cache| cache.writes));
    add("cache_invalidations", "count", Better::Neither, cache(|cache| cache.invalidations));
    add("cache_culled", "count", Better::Neither, cache(|cache| cache.culled));
    let full = cache(|cache| cache.writes_without_room + cache.creates_without_room);
    add("cache_without_room", "count", Better::Neither, full);
    add("cache_objects", "count", Better::Neither, *objects as f64);
    let last = settled.unwrap_or(after);
    let disk = |pick: fn(&network_guest::counters::DiskCounters) -> u64| {
        let of = |counters: &Counters| counters.disk.as_ref().map_or(0, pick);
        difference(of(before), of(last))
    };
    add("disk_reads", "count", lower, disk(|disk| disk.reads));
    add("disk_read", "bytes", lower, disk(|disk| disk.read_bytes));
    add("disk_writes", "count", lower, disk(|disk| disk.writes));
    add("disk_written", "bytes", lower, disk(|disk| disk.written_bytes));
    let (sent, received) = (
        difference(before.network.sent_packets, after.network.sent_packets),
        difference(before.network.received_packets, after.network.received_packets),
    );
    add("packets_sent", "count", lower, sent);
    add("packets_received", "count", lower, received);
    add(EMULATED_TIME, "ns", Better::Neither, measured.elapsed_ns as f64);
    add(LINK_BUSY, "%", Better::Neither, link_busy(measured, link));
    // An RPC is delayed on its way, and its answer on its own.
    let delayed_ns = all * 2.0 * f64::from(link.delay_us) * 1e3;
    let delay = delayed_ns / measured.elapsed_ns.max(1) as f64 * 100.0;
    add(LINK_DELAY, "%", Better::Neither, delay.min(100.0));
    let idle = |before: &Counters, after: &Counters| {
        let share = after.processors.idle_share_since(before.processors);
        share.unwrap_or(0.0).clamp(0.0, 1.0) * 100.0
    };
    add(CLIENT_IDLE, "%", Better::Neither, idle(before, after));
    add(SERVER_IDLE, "%", Better::Neither, idle(server.0, server.1));
    rows
}

/// For which share of the time, in percent, the link is busy with what went over it one way.
fn link_busy(measured: &Measured, link: &Shape) -> f64 {
    let (before, after) = (measured.before.network, measured.after.network);
    let received = difference(before.received_bytes, after.received_bytes);
    let sent = difference(before.sent_bytes, after.sent_bytes);
    let seconds = measured.elapsed_ns as f64 / 1e9;
    let bits = received.max(sent) * 8.0;
    match link.rate_bits_per_s {
        Some(rate) if seconds > 0.0 => (bits / rate as f64 / seconds * 100.0).min(100.0),
        _ => 0.0,
    }
}

fn of_mount(
    (before, after): (&Option<MountCounters>, &Option<MountCounters>),
    pick: impl Fn(&MountCounters) -> u64,
) -> f64 {
    difference(before.as_ref().map_or(0, &pick), after.as_ref().map_or(0, &pick))
}

fn all_requests(mount: &MountCounters) -> u64 {
    sum(mount, |one| one.requests)
}

fn sum(mount: &MountCounters, pick: fn(&network_guest::counters::OperationCounters) -> u64) -> u64 {
    mount.operations.values().map(pick).fold(0, u64::saturating_add)
}

fn difference(before: u64, after: u64) -> f64 {
    after.saturating_sub(before) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_metric_counts_all_calls_and_names_are_not_repeated() {
        let definitions = definitions();
        assert_eq!(definitions[0].name, RPCS);
        let mut names: Vec<&str> = definitions.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), definitions.len());
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
