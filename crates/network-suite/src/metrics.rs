//! The counts of a replicate, as metrics of its cell.

use lab::rig::Shape;
use network_guest::TaskMeasurement;
use network_guest::counters::{CheckCounters, Counters, MountCounters, NetfsCounters, SpentTime};
use record::{Better, MetricDefinition};

use crate::kernel_counts::{KernelCounts, NetfsStatistics};
use crate::observation::{Observation, Reader, ServerCounters, all_requests, sum};
use crate::plan::NetworkBenchmark;

pub(crate) use record::network::{
    CACHE_CHECK_TIME, CACHE_HIT, CACHE_LOOKUP_TIME, CACHE_READ_TIME, CACHE_READS, CACHE_WRITES,
    CLIENT_IDLE, CULLED, ELAPSED_TIME, HELD, LINK_BUSY, LINK_DELAY, OBJECTS, OTHER_RPCS,
    SERVER_IDLE,
};
pub use record::network::{EMULATED_TIME, RPCS, SERVER_BYTES, is_network_bound, rpc_metric};

/// Operations that have their own metric; all others are counted together.
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

/// A count of the kernel's library for network file systems.
type NetfsCount = (&'static str, fn(&NetfsCounters) -> u64);

/// The metrics of that library, in a kernel that has its statistics.
const OF_NETFS: [NetfsCount; 8] = [
    ("netfs_server_reads", |netfs| netfs.server_reads),
    ("netfs_server_reads_failed", |netfs| netfs.server_reads_failed),
    ("netfs_server_reads_instead", |netfs| netfs.server_reads_instead),
    ("netfs_cache_reads", |netfs| netfs.cache_reads),
    ("netfs_cache_reads_failed", |netfs| netfs.cache_reads_failed),
    ("netfs_cache_writes", |netfs| netfs.cache_writes),
    ("netfs_cache_writes_failed", |netfs| netfs.cache_writes_failed),
    ("cache_misfits", |netfs| netfs.misfits),
];

/// A time that a cache takes on its file system.
type CacheTime = (&'static str, fn(&SpentTime) -> u64);

/// The metrics of these times.
const OF_CACHE_TIME: [CacheTime; 3] = [
    (CACHE_LOOKUP_TIME, |spent| spent.lookup_ns),
    (CACHE_CHECK_TIME, |spent| spent.check_ns),
    (CACHE_READ_TIME, |spent| spent.read_ns),
];

/// A metric with its value.
struct MetricValue {
    name: String,
    unit: &'static str,
    better: Better,
    value: f64,
}

/// Metrics that only guests have: on a mount of the user's own, the cache's disk, the link and the
/// server are not visible.
const OF_GUESTS: [&str; 9] = [
    "disk_reads",
    "disk_read",
    "disk_writes",
    "disk_written",
    "cache_objects",
    "cache_held",
    LINK_BUSY,
    LINK_DELAY,
    SERVER_IDLE,
];

/// The metrics of every cell of a benchmark, in order, in guests or on a mount of the user's own.
pub(crate) fn definitions(
    benchmark: NetworkBenchmark,
    counts: KernelCounts,
    is_own: bool,
) -> Vec<MetricDefinition> {
    let nothing = TaskMeasurement {
        did: network_guest::task::TaskResult::default(),
        elapsed_ns: 0,
        before: Counters::default(),
        after: Counters::default(),
        resident: None,
    };
    let readers = vec![Reader { measured: nothing, settled: None }; benchmark.clients()];
    let server = ServerCounters::default();
    let link = Shape::default();
    let (readers, server) = (&readers, &server);
    let observed = Observation { benchmark, readers, server, link, counts, is_own };
    let definition = |row: MetricValue| MetricDefinition::new(&row.name, row.unit, row.better);
    visible(rows(&observed), is_own).map(definition).collect()
}

/// The rows that are known. On a mount of the user's own, the time is real instead of emulated.
fn visible(rows: Vec<MetricValue>, is_own: bool) -> impl Iterator<Item = MetricValue> {
    let known = move |row: &MetricValue| !(is_own && OF_GUESTS.contains(&row.name.as_str()));
    rows.into_iter().filter(known).map(move |row| match row.name.as_str() {
        EMULATED_TIME if is_own => {
            MetricValue { name: ELAPSED_TIME.to_owned(), better: Better::Lower, ..row }
        }
        _ => row,
    })
}

/// The values of the metrics, in the order of [`definitions`].
pub(crate) fn values(observed: &Observation<'_>) -> Vec<f64> {
    visible(rows(observed), observed.is_own).map(|row| row.value).collect()
}

/// All metrics with their values. Counts are sums over the clients, the time is that of the slowest
/// client, and a share is the smallest of any client, which claims the least about the network.
fn rows(observed: &Observation<'_>) -> Vec<MetricValue> {
    let mut rows = Vec::new();
    let mut add = |name: &str, unit, better, value| {
        rows.push(MetricValue { name: name.to_owned(), unit, better, value });
    };
    let lower = Better::Lower;
    let requests = |operation: &str| observed.mount(|mount| mount.requests(operation));
    let all = observed.mount(all_requests);
    add(RPCS, "count", lower, all);
    add(SERVER_BYTES, "bytes", lower, observed.mount(|mount| mount.server_read_bytes));
    let mut named = 0.0;
    add("written_to_server", "bytes", lower, observed.mount(|mount| mount.server_written_bytes));
    for operation in OPERATIONS {
        let asked = requests(operation);
        named += asked;
        add(&rpc_metric(operation), "count", lower, asked);
    }
    add(OTHER_RPCS, "count", lower, all - named);
    add("rpc_timeouts", "count", lower, observed.mount(|mount| sum(mount, |one| one.timeouts)));
    let errors = |mount: &MountCounters| sum(mount, |one| one.errors.unwrap_or(0));
    add("rpc_errors", "count", lower, observed.mount(errors));
    add("rpc_sent", "bytes", lower, observed.mount(|mount| sum(mount, |one| one.sent_bytes)));
    add(
        "rpc_received",
        "bytes",
        lower,
        observed.mount(|mount| sum(mount, |one| one.received_bytes)),
    );
    add("cache_lookups", "count", Better::Neither, observed.cache(|cache| cache.acquires));
    add(CACHE_READS, "count", Better::Neither, observed.cache(|cache| cache.reads));
    add(CACHE_WRITES, "count", Better::Neither, observed.cache(|cache| cache.writes));
    add(
        "cache_invalidations",
        "count",
        Better::Neither,
        observed.cache(|cache| cache.invalidations),
    );
    rows.extend(of_kernel(observed));
    let mut add = |name: &str, unit, better, value| {
        rows.push(MetricValue { name: name.to_owned(), unit, better, value });
    };
    add(CULLED, "count", Better::Neither, observed.culled());
    let full = observed.cache(|cache| cache.writes_without_room + cache.creates_without_room);
    add("cache_without_room", "count", Better::Neither, full);
    add(OBJECTS, "count", Better::Neither, observed.cache_contents(|settled| settled.objects));
    add(HELD, "bytes", Better::Neither, observed.cache_contents(|settled| settled.bytes));
    add("disk_reads", "count", lower, observed.disk(|disk| disk.reads));
    add("disk_read", "bytes", lower, observed.disk(|disk| disk.read_bytes));
    add("disk_writes", "count", lower, observed.disk(|disk| disk.writes));
    add("disk_written", "bytes", lower, observed.disk(|disk| disk.written_bytes));
    add("packets_sent", "count", lower, observed.network(|network| network.sent_packets));
    add("packets_received", "count", lower, observed.network(|network| network.received_packets));
    add(EMULATED_TIME, "ns", Better::Neither, observed.slowest_ns());
    add(LINK_BUSY, "%", Better::Neither, observed.least(Observation::link_busy));
    add(LINK_DELAY, "%", Better::Neither, observed.least(Observation::delayed));
    add(CLIENT_IDLE, "%", Better::Neither, observed.least(Observation::idle));
    add(SERVER_IDLE, "%", Better::Neither, observed.server_idle());
    if observed.benchmark == NetworkBenchmark::Cull {
        add(CACHE_HIT, "%", Better::Higher, observed.cache_hit());
    }
    rows.extend(of_each_client(observed));
    rows
}

/// What not every kernel counts.
fn of_kernel(observed: &Observation<'_>) -> Vec<MetricValue> {
    let mut rows = Vec::new();
    let mut add = |name: &str, unit, better, value| {
        rows.push(MetricValue { name: name.to_owned(), unit, better, value });
    };
    let KernelCounts { netfs, checks, .. } = observed.counts;
    if netfs != NetfsStatistics::Absent {
        for (name, pick) in OF_NETFS {
            add(name, "count", Better::Neither, observed.netfs(pick));
        }
    }
    if netfs == NetfsStatistics::WithRetries {
        let retries = observed.netfs(|netfs| netfs.retries.unwrap_or(0));
        add("netfs_read_retries", "count", Better::Lower, retries);
    }
    if checks {
        add("cache_checks", "count", Better::Neither, observed.checks(CheckCounters::all));
        add("cache_stale", "count", Better::Neither, observed.checks(|checks| checks.stale));
    }
    if observed.benchmark.times_cache(observed.counts) {
        for (name, pick) in OF_CACHE_TIME {
            add(name, "ns", Better::Neither, observed.spent(pick));
        }
    }
    rows
}

/// What each of several clients did.
fn of_each_client(observed: &Observation<'_>) -> Vec<MetricValue> {
    let mut rows = Vec::new();
    if observed.readers.len() < 2 {
        return rows;
    }
    let mut add = |name: &str, unit, value| {
        rows.push(MetricValue { name: name.to_owned(), unit, better: Better::Neither, value });
    };
    add("overlap", "%", observed.overlap());
    for (number, client) in observed.clients().enumerate() {
        let mut own =
            |name: &str, unit, value| add(&format!("client_{}_{name}", number + 1), unit, value);
        own(RPCS, "count", client.mount(all_requests));
        own("rpc_read", "count", client.mount(|mount| mount.requests("READ")));
        own(SERVER_BYTES, "bytes", client.mount(|mount| mount.server_read_bytes));
        own(CACHE_READS, "count", client.cache(|cache| cache.reads));
        own(CACHE_WRITES, "count", client.cache(|cache| cache.writes));
        own(EMULATED_TIME, "ns", client.slowest_ns());
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL_COUNTS: KernelCounts =
        KernelCounts { netfs: NetfsStatistics::WithRetries, checks: true, times: true };

    #[test]
    fn the_first_metric_counts_all_calls_and_names_are_not_repeated() {
        for benchmark in NetworkBenchmark::ALL {
            let definitions = definitions(benchmark, ALL_COUNTS, false);
            assert_eq!(definitions[0].name, RPCS);
            let mut names: Vec<&str> = definitions.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(names.contains(&"client_2_rpc_read"), benchmark.clients() == 2);
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), definitions.len());
        }
    }

    #[test]
    fn what_a_kernel_does_not_count_is_no_metric() {
        let of = |counts| {
            let definitions = definitions(NetworkBenchmark::File, counts, false);
            definitions.into_iter().map(|one| one.name).collect::<Vec<_>>()
        };
        let (old, new) = (of(KernelCounts::default()), of(ALL_COUNTS));
        assert_eq!(old.len() + OF_NETFS.len() + 3, new.len());
        assert!(new.contains(&"netfs_read_retries".to_owned()));
        assert!(!old.iter().any(|name| name.starts_with("netfs_") || name == "cache_stale"));
    }

    #[test]
    fn on_a_mount_of_ones_own_time_is_time_and_guests_are_not_counted() {
        let of = |is_own| {
            let counts = KernelCounts::default();
            let definitions = definitions(NetworkBenchmark::File, counts, is_own);
            definitions.into_iter().map(|one| one.name).collect::<Vec<_>>()
        };
        let (own, guests) = (of(true), of(false));
        assert_eq!(own.len() + OF_GUESTS.len(), guests.len());
        assert!(own.iter().any(|name| name == ELAPSED_TIME) && own[0] == RPCS);
        assert!(!guests.iter().any(|name| name == ELAPSED_TIME));
    }
}
