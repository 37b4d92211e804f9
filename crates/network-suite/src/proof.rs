//! Checks, from what was counted, that a replicate was in the state that it was meant to be in.

use network_guest::counters::Counters;
use network_guest::{Settled, TaskMeasurement};

use crate::observation::Reader;
use crate::plan::NetworkBenchmark;
use crate::state::NetworkState;

/// What is known about one reader's work.
struct Evidence<'a> {
    benchmark: NetworkBenchmark,
    measured: &'a TaskMeasurement,
    /// The cache after everything was written to it, if there was one and it was stopped.
    settled: Option<&'a Settled>,
    /// Bytes of the files that the benchmark reads, counting each file once.
    content_bytes: u64,
}

/// Refuses a replicate, with the reason, if the state of a reader is not proved or the readers did
/// not all read the same. `content_bytes` are those of the files that each reads, counted once.
pub(crate) fn prove_all(
    state: NetworkState,
    benchmark: NetworkBenchmark,
    content_bytes: u64,
    readers: &[Reader],
) -> Result<(), String> {
    for (number, Reader { measured, settled }) in readers.iter().enumerate() {
        let settled = settled.as_ref();
        let evidence = Evidence { benchmark, measured, settled, content_bytes };
        prove(state, &evidence).map_err(|why| match readers.len() {
            1 => why,
            _ => format!("{}: {why}", network_guest::client(number)),
        })?;
    }
    let mut sums = readers.windows(2).map(|two| [&two[0], &two[1]].map(|one| one.measured.did.sum));
    if sums.any(|[one, other]| one != other) {
        return Err("the clients did not read the same bytes".to_owned());
    }
    Ok(())
}

/// Refuses a reader, with the reason, if its state is not proved.
fn prove(state: NetworkState, evidence: &Evidence<'_>) -> Result<(), String> {
    let counts = ProofCounts::from_measurement(evidence.measured);
    let whole = evidence.reads_whole().then_some(evidence.content_bytes);
    if let Some(whole) = whole
        && counts.did_bytes != whole
    {
        return Err(format!("{} bytes of {whole} were read", counts.did_bytes));
    }
    match evidence.benchmark {
        NetworkBenchmark::Rewrite => return counts.writes_all(evidence),
        NetworkBenchmark::Cull => return counts.is_of_small_cache(state, evidence),
        // The caller, which asked for the change, compares what was read with what the server has.
        NetworkBenchmark::Coherence => {
            counts.reads_all_from_server(evidence)?;
            return counts.found_stale();
        }
        NetworkBenchmark::File
        | NetworkBenchmark::TwoClients
        | NetworkBenchmark::Tree
        | NetworkBenchmark::Stat
        | NetworkBenchmark::Random => {}
    }
    match state {
        NetworkState::Server => evidence.prove_server(&counts),
        NetworkState::None => {
            counts.reads_all_from_server(evidence).and_then(|()| counts.leaves_cache())
        }
        NetworkState::Cold => {
            counts.reads_all_from_server(evidence)?;
            if counts.cache_writes == 0 {
                return Err("nothing was written to the cache".to_owned());
            }
            counts.failed_nowhere()?;
            evidence.settled.map_or(Ok(()), |settled| evidence.prove_filled(settled))
        }
        NetworkState::Hot => {
            counts.reads_nothing_from_server()?;
            if counts.cache_reads == 0 {
                return Err("nothing was read from the cache".to_owned());
            }
            counts.failed_nowhere()?;
            evidence.settled.map_or(Ok(()), |_| counts.read_all_from_disk(evidence))
        }
        NetworkState::PageCache => {
            counts.reads_nothing_from_server().and_then(|()| counts.leaves_cache())
        }
    }
}

/// The counts that prove a state.
struct ProofCounts {
    did_bytes: u64,
    server_bytes: u64,
    server_written: u64,
    reads: u64,
    cache_reads: u64,
    cache_writes: u64,
    disk_reads: u64,
    disk_read_bytes: u64,
    /// Reads from the cache and writes to it that failed, if the kernel counts them.
    cache_reads_failed: u64,
    cache_writes_failed: u64,
    /// Cached files that were found out of date; `None` if the kernel does not count them.
    stale: Option<u64>,
}

impl ProofCounts {
    fn from_measurement(measured: &TaskMeasurement) -> Self {
        let (before, after) = (&measured.before, &measured.after);
        let mount = |pick: fn(&network_guest::counters::MountCounters) -> u64| {
            let of = |one: &Option<_>| one.as_ref().map_or(0, pick);
            of(&after.mount).saturating_sub(of(&before.mount))
        };
        let cache = |pick: fn(&network_guest::counters::CacheCounters) -> u64| {
            let of = |one: &Option<_>| one.as_ref().map_or(0, pick);
            of(&after.cache).saturating_sub(of(&before.cache))
        };
        let disk = |pick: fn(&network_guest::counters::DiskCounters) -> u64| {
            let of = |one: &Option<_>| one.as_ref().map_or(0, pick);
            of(&after.disk).saturating_sub(of(&before.disk))
        };
        let netfs = |pick: fn(&network_guest::counters::NetfsCounters) -> u64| {
            let of = |one: &Option<_>| one.as_ref().map_or(0, pick);
            of(&after.netfs).saturating_sub(of(&before.netfs))
        };
        let stale = |one: &Counters| one.checks.map_or(0, |checks| checks.stale);
        Self {
            did_bytes: measured.did.bytes,
            server_bytes: mount(|mount| mount.server_read_bytes),
            server_written: mount(|mount| mount.server_written_bytes),
            reads: mount(|mount| {
                mount.requests("READ").saturating_add(mount.requests("READ_PLUS"))
            }),
            cache_reads: cache(|cache| cache.reads),
            cache_writes: cache(|cache| cache.writes),
            disk_reads: disk(|disk| disk.reads),
            disk_read_bytes: disk(|disk| disk.read_bytes),
            cache_reads_failed: netfs(|netfs| netfs.cache_reads_failed),
            cache_writes_failed: netfs(|netfs| netfs.cache_writes_failed),
            stale: after.checks.map(|_| stale(after).saturating_sub(stale(before))),
        }
    }

    fn reads_all_from_server(&self, evidence: &Evidence<'_>) -> Result<(), String> {
        if evidence.reads_whole() {
            // Read-ahead may read bytes twice if memory is short, but never fewer.
            if self.server_bytes == self.did_bytes {
                return Ok(());
            }
            return Err(format!(
                "{} bytes were read from the server, not {}",
                self.server_bytes, self.did_bytes
            ));
        }
        if self.did_bytes > 0 && self.reads == 0 {
            return Err("nothing was read from the server".to_owned());
        }
        Ok(())
    }

    fn reads_nothing_from_server(&self) -> Result<(), String> {
        if self.reads == 0 && self.server_bytes == 0 {
            return Ok(());
        }
        Err(format!(
            "{} bytes were read from the server in {} calls",
            self.server_bytes, self.reads
        ))
    }

    /// A read from the cache that failed is made from the server instead, and a write that failed
    /// leaves a hole.
    fn failed_nowhere(&self) -> Result<(), String> {
        let (reads, writes) = (self.cache_reads_failed, self.cache_writes_failed);
        if reads == 0 && writes == 0 {
            return Ok(());
        }
        Err(format!("{reads} reads from the cache and {writes} writes to it failed"))
    }

    /// The cache must have held the old file and refused it: a file that it had lost would be read
    /// from the server as well.
    fn found_stale(&self) -> Result<(), String> {
        match self.stale {
            Some(0) => Err("the cache found nothing out of date".to_owned()),
            Some(_) | None => Ok(()),
        }
    }

    /// The client's memory is new, so what it reads of a cache in a guest, it reads from the disk.
    fn read_all_from_disk(&self, evidence: &Evidence<'_>) -> Result<(), String> {
        if !evidence.reads_whole() || self.disk_read_bytes >= self.did_bytes {
            return Ok(());
        }
        Err(format!(
            "{} bytes were read, but only {} from the cache's disk",
            self.did_bytes, self.disk_read_bytes
        ))
    }

    /// The first time, everything comes from the server, and the cache removes files. The second
    /// time, the client's memory is new, so that everything that does not come from the server
    /// comes from the cache, whose disk is read for it.
    fn is_of_small_cache(
        &self,
        state: NetworkState,
        evidence: &Evidence<'_>,
    ) -> Result<(), String> {
        if state == NetworkState::Cold {
            self.reads_all_from_server(evidence)?;
            return match evidence.culled() {
                0 => Err("the cache did not remove anything".to_owned()),
                _ => Ok(()),
            };
        }
        let Some(from_cache) = self.did_bytes.checked_sub(self.server_bytes) else {
            let (server, did) = (self.server_bytes, self.did_bytes);
            return Err(format!(
                "{server} bytes came from the server, but the benchmark read only \
                                {did}"
            ));
        };
        if self.server_bytes == 0 {
            return Err("the cache held everything".to_owned());
        }
        if self.disk_read_bytes < from_cache {
            let disk = self.disk_read_bytes;
            return Err(format!(
                "{from_cache} bytes came from the cache, but only {disk} were read from its disk"
            ));
        }
        Ok(())
    }

    fn writes_all(&self, evidence: &Evidence<'_>) -> Result<(), String> {
        if self.server_written == evidence.content_bytes {
            return Ok(());
        }
        let (written, of) = (self.server_written, evidence.content_bytes);
        Err(format!("{written} bytes were written to the server, not {of}"))
    }

    fn leaves_cache(&self) -> Result<(), String> {
        if self.cache_reads == 0 && self.cache_writes == 0 {
            return Ok(());
        }
        Err(format!(
            "the cache was read {} times and written {} times",
            self.cache_reads, self.cache_writes
        ))
    }
}

impl Evidence<'_> {
    /// Whether every byte of the files is read once.
    fn reads_whole(&self) -> bool {
        match self.benchmark {
            NetworkBenchmark::File
            | NetworkBenchmark::TwoClients
            | NetworkBenchmark::Tree
            | NetworkBenchmark::Cull
            | NetworkBenchmark::Rewrite
            | NetworkBenchmark::Coherence => true,
            NetworkBenchmark::Stat | NetworkBenchmark::Random => false,
        }
    }

    /// Refuses a cache that does not hold all that was read: it would be cold in part only, and
    /// what was saved by not writing the rest would look like a gain.
    fn prove_filled(&self, settled: &Settled) -> Result<(), String> {
        let files = self.measured.did.files;
        if settled.objects < files {
            return Err(format!("the cache holds {} of {files} files", settled.objects));
        }
        if self.reads_whole() && settled.bytes < self.content_bytes {
            return Err(format!(
                "the cache holds {} of {} bytes: give it more room (--cache-size)",
                settled.bytes, self.content_bytes
            ));
        }
        Ok(())
    }

    /// Number of files that the cache removed until it came to rest.
    fn culled(&self) -> u64 {
        let of = |one: &Counters| one.cache.as_ref().map_or(0, |cache| cache.culled);
        let last = self.settled.map_or(&self.measured.after, |settled| &settled.counters);
        of(last).saturating_sub(of(&self.measured.before))
    }

    fn prove_server(&self, counts: &ProofCounts) -> Result<(), String> {
        if let Some((pages, resident)) = self.measured.resident
            && resident < pages
        {
            return Err(format!("the server's memory held only {resident} of {pages} pages"));
        }
        if counts.disk_reads > 0 {
            return Err(format!("the server's disk was read {} times", counts.disk_reads));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use network_guest::counters::{
        CacheCounters, CheckCounters, DiskCounters, MountCounters, NetfsCounters, OperationCounters,
    };
    use network_guest::task::TaskResult;

    use super::*;

    const BYTES: u64 = 4096;

    /// A measurement with this many bytes read from the server, reads from the cache and writes to
    /// it.
    fn measured(server_bytes: u64, reads: u64, writes: u64) -> TaskMeasurement {
        let requests = OperationCounters { requests: server_bytes / 1024, ..Default::default() };
        let operations = [("READ".to_owned(), requests)].into();
        let mount =
            MountCounters { server_read_bytes: server_bytes, operations, ..Default::default() };
        let cache = CacheCounters { reads, writes, ..Default::default() };
        let after = Counters { mount: Some(mount), cache: Some(cache), ..Default::default() };
        let did = TaskResult { files: 1, bytes: BYTES, ..TaskResult::default() };
        TaskMeasurement { did, elapsed_ns: 1, before: Counters::default(), after, resident: None }
    }

    fn proves(state: NetworkState, measured: &TaskMeasurement) -> bool {
        let benchmark = NetworkBenchmark::File;
        let evidence = Evidence { benchmark, measured, settled: None, content_bytes: BYTES };
        prove(state, &evidence).is_ok()
    }

    #[test]
    fn each_state_is_proved_by_its_counts_alone() {
        let none = measured(BYTES, 0, 0);
        let cold = measured(BYTES, 1, 1);
        let hot = measured(0, 1, 0);
        let page_cache = measured(0, 0, 0);
        for (state, own) in [
            (NetworkState::None, &none),
            (NetworkState::Cold, &cold),
            (NetworkState::Hot, &hot),
            (NetworkState::PageCache, &page_cache),
        ] {
            for other in [&none, &cold, &hot, &page_cache] {
                assert_eq!(proves(state, other), own == other, "{state}: {other:?}");
            }
        }
    }

    #[test]
    fn a_cache_must_be_filled_and_then_read() {
        let proved = |state, measured: TaskMeasurement, bytes| {
            let settled = Some(Settled { objects: 1, bytes, counters: Counters::default() });
            prove_all(state, NetworkBenchmark::File, BYTES, &[Reader { measured, settled }])
        };
        proved(NetworkState::Cold, measured(BYTES, 0, 1), BYTES).unwrap();
        let half = proved(NetworkState::Cold, measured(BYTES, 0, 1), BYTES / 2).unwrap_err();
        assert!(half.contains("holds 2048 of 4096 bytes"), "{half}");
        let unread = proved(NetworkState::Hot, measured(0, 1, 0), BYTES).unwrap_err();
        assert!(unread.contains("only 0 from the cache's disk"), "{unread}");
        let mut hot = measured(0, 1, 0);
        hot.after.disk = Some(DiskCounters { read_bytes: BYTES, ..DiskCounters::default() });
        proved(NetworkState::Hot, hot, BYTES).unwrap();
    }

    #[test]
    fn what_the_kernel_counts_further_must_agree() {
        let failed = |reads, writes| NetfsCounters {
            cache_reads_failed: reads,
            cache_writes_failed: writes,
            ..NetfsCounters::default()
        };
        for (state, mut measured) in
            [(NetworkState::Cold, measured(BYTES, 1, 1)), (NetworkState::Hot, measured(0, 1, 0))]
        {
            measured.after.netfs = Some(failed(0, 0));
            assert!(proves(state, &measured));
            for failed in [failed(1, 0), failed(0, 1)] {
                measured.after.netfs = Some(failed);
                assert!(!proves(state, &measured));
            }
        }
    }

    #[test]
    fn a_file_that_changed_must_be_found_in_the_cache() {
        let proved = |checks| {
            let mut measured = measured(BYTES, 0, 1);
            measured.after.checks = checks;
            let reader = Reader { measured, settled: None };
            prove_all(NetworkState::Hot, NetworkBenchmark::Coherence, BYTES, &[reader])
        };
        proved(None).unwrap();
        proved(Some(CheckCounters { good: 0, stale: 1 })).unwrap();
        let lost = proved(Some(CheckCounters { good: 1, stale: 0 })).unwrap_err();
        assert!(lost.contains("out of date"), "{lost}");
    }

    #[test]
    fn a_server_must_have_all_in_memory() {
        let resident = |resident| TaskMeasurement { resident, ..measured(0, 0, 0) };
        assert!(proves(NetworkState::Server, &resident(Some((2, 2)))));
        assert!(!proves(NetworkState::Server, &resident(Some((2, 1)))));
    }

    #[test]
    fn a_file_that_was_cut_is_not_read() {
        let measured = measured(BYTES, 0, 0);
        let evidence = Evidence {
            benchmark: NetworkBenchmark::File,
            measured: &measured,
            settled: None,
            content_bytes: BYTES + 1,
        };
        assert!(prove(NetworkState::None, &evidence).unwrap_err().contains("4096 bytes of 4097"));
    }

    #[test]
    fn a_small_cache_removes_files_and_then_has_a_part() {
        let proved = |state, measured: TaskMeasurement, culled| {
            let cache = Some(CacheCounters { culled, ..CacheCounters::default() });
            let counters = Counters { cache, ..Counters::default() };
            let settled = Some(Settled { objects: 0, bytes: 0, counters });
            prove_all(state, NetworkBenchmark::Cull, BYTES, &[Reader { measured, settled }])
        };
        proved(NetworkState::Cold, measured(BYTES, 1, 1), 3).unwrap();
        let whole = proved(NetworkState::Cold, measured(BYTES, 1, 1), 0).unwrap_err();
        assert!(whole.contains("did not remove"), "{whole}");
        let mut hot = measured(BYTES / 4, 1, 1);
        let unread = proved(NetworkState::Hot, hot.clone(), 0).unwrap_err();
        assert!(unread.contains("3072 bytes came from the cache"), "{unread}");
        let disk = DiskCounters { read_bytes: BYTES, ..DiskCounters::default() };
        hot.after.disk = Some(disk);
        proved(NetworkState::Hot, hot, 0).unwrap();
        assert!(proved(NetworkState::Hot, measured(0, 1, 0), 0).unwrap_err().contains("held"));
    }

    #[test]
    fn each_of_two_clients_is_proved_and_both_read_the_same() {
        let reader = |measured: TaskMeasurement| Reader { measured, settled: None };
        let proved = |readers: &[Reader]| {
            prove_all(NetworkState::None, NetworkBenchmark::TwoClients, BYTES, readers)
        };
        let none = || reader(measured(BYTES, 0, 0));
        proved(&[none(), none()]).unwrap();
        let hot = reader(measured(0, 1, 0));
        assert!(proved(&[none(), hot]).unwrap_err().starts_with("client-2: "));
        let mut other = none();
        other.measured.did.sum = 1;
        assert!(proved(&[none(), other]).unwrap_err().contains("same bytes"));
    }
}
