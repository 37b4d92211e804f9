//! What was counted around one replicate, over all clients that took part.

use lab::rig::Shape;
use network_guest::counters::{
    CacheCounters, CheckCounters, Counters, DiskCounters, MountCounters, NetfsCounters,
    NetworkCounters, OperationCounters, SpentTime,
};
use network_guest::{Settled, TaskMeasurement};

use crate::kernel_counts::KernelCounts;
use crate::plan::NetworkBenchmark;

/// What one client did, or the server itself if the files are read there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reader {
    pub(crate) measured: TaskMeasurement,
    /// Its cache after everything was written to it, if there was one and it was stopped.
    pub(crate) settled: Option<Settled>,
}

/// What the server counted before and after a replicate.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerCounters {
    pub(crate) before: Counters,
    pub(crate) after: Counters,
}

/// A measured replicate of one target.
pub(crate) struct MeasuredReplicate {
    /// The readers that took part, all at the same time.
    pub(crate) readers: Vec<Reader>,
    pub(crate) server: ServerCounters,
}

impl MeasuredReplicate {
    pub(crate) fn new(measured: Vec<TaskMeasurement>, server: ServerCounters) -> Self {
        let reader = |measured| Reader { measured, settled: None };
        Self { readers: measured.into_iter().map(reader).collect(), server }
    }

    /// The time of the slowest reader.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        self.readers.iter().map(|one| one.measured.elapsed_ns).max().unwrap_or(0)
    }
}

/// What happened on all sides between two moments.
pub(crate) struct Observation<'a> {
    /// The benchmark that was run.
    pub(crate) benchmark: NetworkBenchmark,
    /// The readers that ran it, all at the same time.
    pub(crate) readers: &'a [Reader],
    pub(crate) server: &'a ServerCounters,
    /// The shape of each link.
    pub(crate) link: Shape,
    /// What the clients' kernel counts.
    pub(crate) counts: KernelCounts,
    /// Whether it was on a mount of the user's own, not in guests.
    pub(crate) is_own: bool,
}

impl<'a> Observation<'a> {
    /// Each client separately.
    pub(crate) fn clients(&self) -> impl Iterator<Item = Observation<'a>> {
        self.readers.chunks(1).map(|readers| Observation { readers, ..*self })
    }

    pub(crate) fn mount(&self, pick: impl Fn(&MountCounters) -> u64) -> f64 {
        self.sum(|one| {
            let of = |counters: &Counters| counters.mount.as_ref().map_or(0, &pick);
            (of(&one.measured.before), of(&one.measured.after))
        })
    }

    pub(crate) fn cache(&self, pick: impl Fn(&CacheCounters) -> u64) -> f64 {
        self.sum(|one| {
            let of = |counters: &Counters| counters.cache.as_ref().map_or(0, &pick);
            (of(&one.measured.before), of(&one.measured.after))
        })
    }

    pub(crate) fn netfs(&self, pick: impl Fn(&NetfsCounters) -> u64) -> f64 {
        self.sum(|one| {
            let of = |counters: &Counters| counters.netfs.as_ref().map_or(0, &pick);
            (of(&one.measured.before), of(&one.measured.after))
        })
    }

    pub(crate) fn spent(&self, pick: impl Fn(&SpentTime) -> u64) -> f64 {
        self.sum(|one| {
            let of = |counters: &Counters| counters.spent.as_ref().map_or(0, &pick);
            (of(&one.measured.before), of(&one.measured.after))
        })
    }

    pub(crate) fn checks(&self, pick: impl Fn(&CheckCounters) -> u64) -> f64 {
        self.sum(|one| {
            let of = |counters: &Counters| counters.checks.as_ref().map_or(0, &pick);
            (of(&one.measured.before), of(&one.measured.after))
        })
    }

    /// Number of files that were removed from the caches until they came to rest.
    pub(crate) fn culled(&self) -> f64 {
        self.sum(Reader::culled)
    }

    /// Percentage of the bytes read that did not have to come from the server.
    pub(crate) fn cache_hit(&self) -> f64 {
        let read: u64 = self.readers.iter().map(|one| one.measured.did.bytes).sum();
        let from_server = self.mount(|mount| mount.server_read_bytes);
        ((1.0 - from_server / read.max(1) as f64) * 100.0).max(0.0)
    }

    /// A count of the cache's disk, until everything was written to it.
    pub(crate) fn disk(&self, pick: impl Fn(&DiskCounters) -> u64) -> f64 {
        self.sum(|one| {
            let of = |counters: &Counters| counters.disk.as_ref().map_or(0, &pick);
            (of(&one.measured.before), of(one.last()))
        })
    }

    pub(crate) fn network(&self, pick: impl Fn(&NetworkCounters) -> u64) -> f64 {
        self.sum(|one| (pick(&one.measured.before.network), pick(&one.measured.after.network)))
    }

    /// What the caches contain.
    pub(crate) fn cache_contents(&self, pick: fn(&Settled) -> u64) -> f64 {
        self.readers.iter().map(|one| one.settled.as_ref().map_or(0, pick) as f64).sum()
    }

    pub(crate) fn slowest_ns(&self) -> f64 {
        self.elapsed_ns().max().unwrap_or(0) as f64
    }

    /// Percentage of the time in which all clients were working. They start at the same time.
    pub(crate) fn overlap(&self) -> f64 {
        let shortest = self.elapsed_ns().min().unwrap_or(0) as f64;
        shortest / self.slowest_ns().max(1.0) * 100.0
    }

    /// The smallest value of a share over the clients.
    pub(crate) fn least(&self, share: impl Fn(&Observation<'a>) -> f64) -> f64 {
        self.clients().map(|one| share(&one)).fold(f64::INFINITY, f64::min)
    }

    /// Percentage of the time that the link was busy with what went over it in one direction, the
    /// busier one.
    pub(crate) fn link_busy(&self) -> f64 {
        let received = self.network(|network| network.received_bytes);
        let sent = self.network(|network| network.sent_bytes);
        let (bits, seconds) = (received.max(sent) * 8.0, self.slowest_ns() / 1e9);
        match self.link.rate_bits_per_s {
            Some(rate) if seconds > 0.0 => (bits / rate as f64 / seconds * 100.0).min(100.0),
            _ => 0.0,
        }
    }

    /// Upper bound on the percentage of the time that RPCs waited for the link's delay, as if none
    /// overlapped. A call and its reply are each delayed once.
    pub(crate) fn delayed(&self) -> f64 {
        let delayed_ns = self.mount(all_requests) * 2.0 * f64::from(self.link.delay_us) * 1e3;
        (delayed_ns / self.slowest_ns().max(1.0) * 100.0).min(100.0)
    }

    /// Percentage of the time that the processor of the slowest client was idle.
    pub(crate) fn idle(&self) -> f64 {
        let slowest = self.readers.iter().max_by_key(|one| one.measured.elapsed_ns);
        slowest.map_or(0.0, |one| idle_percent(&one.measured.before, &one.measured.after))
    }

    pub(crate) fn server_idle(&self) -> f64 {
        idle_percent(&self.server.before, &self.server.after)
    }

    fn elapsed_ns(&self) -> impl Iterator<Item = u64> {
        self.readers.iter().map(|one| one.measured.elapsed_ns)
    }

    fn sum(&self, of: impl Fn(&Reader) -> (u64, u64)) -> f64 {
        let difference = |(before, after): (u64, u64)| after.saturating_sub(before);
        self.readers.iter().map(|one| difference(of(one)) as f64).sum()
    }
}

impl Reader {
    /// How many files had been culled when it began, and when the cache had come to rest.
    fn culled(&self) -> (u64, u64) {
        let of = |counters: &Counters| counters.cache.as_ref().map_or(0, |cache| cache.culled);
        (of(&self.measured.before), of(self.last()))
    }

    /// The last counts: after everything was written to the cache, or else after reading.
    fn last(&self) -> &Counters {
        self.settled.as_ref().map_or(&self.measured.after, |settled| &settled.counters)
    }
}

/// All calls to the server.
pub(crate) fn all_requests(mount: &MountCounters) -> u64 {
    sum(mount, |one| one.requests)
}

/// A count over all operations.
pub(crate) fn sum(mount: &MountCounters, pick: fn(&OperationCounters) -> u64) -> u64 {
    mount.operations.values().map(pick).fold(0, u64::saturating_add)
}

fn idle_percent(before: &Counters, after: &Counters) -> f64 {
    let share = after.processors.idle_share_since(before.processors);
    share.unwrap_or(0.0).clamp(0.0, 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use network_guest::task::TaskResult;

    use super::*;

    fn reader(elapsed_ns: u64, server_read_bytes: u64) -> Reader {
        let mount = MountCounters { server_read_bytes, ..Default::default() };
        let network = NetworkCounters { received_bytes: server_read_bytes, ..Default::default() };
        let after = Counters { mount: Some(mount), network, ..Counters::default() };
        let (did, before) = (TaskResult::default(), Counters::default());
        let measured = TaskMeasurement { did, elapsed_ns, before, after, resident: None };
        Reader { measured, settled: None }
    }

    #[test]
    fn counts_are_added_and_the_slowest_gives_the_time() {
        let readers = [reader(1_000_000_000, 1000), reader(2_000_000_000, 1000)];
        let server = ServerCounters::default();
        let link = Shape { rate_bits_per_s: Some(8000), ..Shape::default() };
        let benchmark = NetworkBenchmark::TwoClients;
        let (readers, server) = (&readers, &server);
        let counts = KernelCounts::default();
        let observed = Observation { benchmark, readers, server, link, counts, is_own: false };
        assert_eq!(observed.mount(|mount| mount.server_read_bytes), 2000.0);
        assert_eq!(observed.slowest_ns(), 2e9);
        assert_eq!(observed.overlap(), 50.0);
        // Each has its own link, one of which was idle for half of the time.
        assert_eq!(observed.least(Observation::link_busy), 50.0);
        let bytes = |one: Observation<'_>| one.mount(|mount| mount.server_read_bytes);
        assert_eq!(observed.clients().map(bytes).collect::<Vec<_>>(), [1000.0, 1000.0]);
    }
}
