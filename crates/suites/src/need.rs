//! What a replicate needs for its figure to mean what the benchmark's name says.
//!
//! A figure is a mean over operations, so it depends on which ones: the first operations after a
//! state was made find the processor's caches cold and pay for what later ones find ready, and a
//! stream that ends within its read-ahead has not paid for it. So each benchmark states how many
//! operations come first, with a figure of their own, and how many are then measured. The numbers
//! depend on what is done to which files, never on how much time a run has: a larger budget buys
//! more blocks and more benchmarks, not longer replicates.

use std::ops::RangeInclusive;
use std::time::Duration;

use record::{CacheState, Least};
use workload::{Access, DataOperation, Entries, GrowingOperation, Sharing, Subject};

use crate::nanoseconds::nanos;
use crate::operations::{OPERATIONS_PER_SYNC, Operations, Question};

/// A single interrupt takes a few microseconds, which would be a large part of anything shorter
/// than this.
const TIME_MIN: Duration = Duration::from_micros(100);
/// Operations that can be repeated go on until the fastest target has taken this long. Longer
/// replicates would vary hardly less on a shared machine, whose speed stays the same for tenths of
/// a second at a time; the time is better spent on more replicates.
const TIME_WANTED: Duration = Duration::from_millis(8);
/// The same for operations that wait for the device each time. Devices pause now and then; few
/// operations meet such a pause, but those make up the high percentiles.
const TIME_WANTED_OF_COMMITS: Duration = Duration::from_millis(250);
/// Margin on the requested length when counting operations, since they are not equally fast in each
/// block.
const REQUESTED_MARGIN: f64 = 1.1;
/// The least share of the requested length that counts, since a pilot is a little off.
const REQUESTED_SHARE_MIN: f64 = 0.8;
/// Share of the time during which all threads must run simultaneously, in percent.
const OVERLAP_PERCENT: u32 = 95;
/// The same with more threads than processors. They take turns of some milliseconds, so the last
/// one begins after the first has had a turn; all that can be required is that each has had one.
const OVERLAP_BY_TURNS_PERCENT: u32 = 50;
/// Bytes copied by a replicate of reads from memory, and bounds on the number of reads.
const COPIED_BYTES: u64 = 64 << 20;
const COPIES: RangeInclusive<u64> = 64..=16_384;
/// Bytes that a replicate writes into the page cache and that must be written back after it, and
/// bounds on the number of writes.
const DIRTIED_BYTES: u64 = 16 << 20;
const WRITES: RangeInclusive<u64> = 32..=4_096;
/// Bytes that the device moves in a replicate of device requests, and bounds on their number.
const DEVICE_BYTES: u64 = 32 << 20;
const REQUESTS: RangeInclusive<u64> = 32..=256;
/// Lookups of names that are in memory.
const LOOKS: u64 = 8_192;
/// Files that are opened, read and closed.
const FILES_READ: u64 = 2_048;
/// Lookups in large directories before those that are measured: enough to meet most names once.
const FIRST_LOOKS_MAX: u64 = 65_536;
/// Entries listed in a replicate, and bounds on the number of listings.
const LISTED: u64 = 80_000;
const LISTINGS: RangeInclusive<u64> = 4..=512;
/// Measured changes of directories, and those before them.
const CHANGES: u64 = 1_024;
const FIRST_CHANGES: u64 = 128;
/// Cold lookups of names.
const COLD_NAMES: u64 = 256;
/// Operations that each end on the device: over six blocks, enough for an interval of the 99th
/// percentile.
const COMMITS: u64 = 96;
/// Operations that grow a file and end in memory.
const APPENDS: u64 = 4_096;
/// One in this many operations comes first, where everything can be done only once.
const FIRST_SHARE: u64 = 8;
/// A replicate fills its queue at least this often, so that ramp-up and drain are a small share of
/// it.
pub(crate) const QUEUES_IN_ALL: u64 = 16;
/// Read-ahead windows that a cold stream covers at least, so that the wait for the first is a small
/// share of it.
pub(crate) const WINDOWS_MIN: u64 = 8;

/// What a replicate needs in order to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    /// Operations per thread that come first.
    pub(crate) start: u64,
    /// Operations per thread that are measured.
    pub(crate) operations: u64,
    /// If they take less than this on the fastest target, their number is doubled as often as
    /// needed; `None` if there may not be more.
    pub(crate) time_wanted: Option<Duration>,
    /// The least time that they take.
    pub(crate) time: Duration,
    /// Why these numbers.
    pub(crate) why: &'static str,
}

impl Need {
    const fn operations(start: u64, operations: u64, why: &'static str) -> Self {
        Self { start, operations, time_wanted: None, time: TIME_MIN, why }
    }

    /// One pass over all of `most`, or as many as are `wanted`, an eighth of them first.
    fn once(most: u64, wanted: u64, why: &'static str) -> Self {
        let all = most.min(wanted).max(1);
        let start = all / FIRST_SHARE;
        Self::operations(start, all - start, why)
    }

    /// What a run with this many threads and processors records of it.
    pub(crate) fn least(self, threads: usize, processors: usize) -> Least {
        Least {
            start_operations: self.start,
            operations: self.operations,
            time_ns: nanos(self.time),
            overlap_percent: overlap_percent(threads, processors),
            why: self.why.to_owned(),
        }
    }
}

/// The least share of the time, in percent, during which this many threads must run simultaneously
/// on this many processors; `None` for a single thread.
pub(crate) fn overlap_percent(threads: usize, processors: usize) -> Option<u32> {
    match threads {
        0 | 1 => None,
        _ if threads > processors => Some(OVERLAP_BY_TURNS_PERCENT),
        _ => Some(OVERLAP_PERCENT),
    }
}

fn within(bounds: RangeInclusive<u64>, wanted: u64) -> u64 {
    wanted.clamp(*bounds.start(), *bounds.end())
}

impl Operations {
    /// What a replicate in this cache state needs, with data files of this size.
    pub(crate) fn need(&self, cache_state: CacheState, data_file_bytes: u64) -> Need {
        let need = self.need_without_wish(cache_state, data_file_bytes);
        match self.length.time {
            Some(time) => Need {
                time_wanted: Some(time.mul_f64(REQUESTED_MARGIN)),
                time: time.mul_f64(REQUESTED_SHARE_MIN),
                why: "a replicate lasts as long as was asked for",
                ..need
            },
            None => need,
        }
    }

    fn need_without_wish(&self, cache_state: CacheState, data_file_bytes: u64) -> Need {
        if self.question == Question::DeviceWrites {
            let why = "this many share one sync at the end, and are counted, not timed";
            return Need { time: Duration::ZERO, ..Need::operations(0, OPERATIONS_PER_SYNC, why) };
        }
        let request_bytes = self.workload.request_bytes as u64;
        let pass = self.blocks_per_thread(data_file_bytes).max(1);
        let is_cold = cache_state.is_cold();
        match self.workload.operation.subject() {
            Subject::Data(_) if self.is_direct() || self.queue_depth().is_some() => {
                self.need_of_device(pass, request_bytes)
            }
            Subject::Data(DataOperation::Read) if is_cold => self.need_cold(pass, request_bytes),
            Subject::Data(DataOperation::Read | DataOperation::Mixed { .. }) => {
                self.need_of_copies(pass, request_bytes)
            }
            Subject::Data(DataOperation::Write) if self.writes_clean_pages() => {
                let why = "the whole file once, from its first write to a clean page to its last";
                Need::operations(0, pass, why)
            }
            Subject::Data(DataOperation::Write) if self.writes_dirty_pages(cache_state) => {
                let why = "each page has been written since the last sync, so that none is clean";
                let operations = within(COPIES, COPIED_BYTES / request_bytes);
                Need { time_wanted: Some(TIME_WANTED), ..Need::operations(pass, operations, why) }
            }
            Subject::Data(DataOperation::Write) => {
                let why = "each page is taken in once; the first find the processor's caches cold";
                Need::once(pass, within(WRITES, DIRTIED_BYTES / request_bytes), why)
            }
            Subject::Growing(GrowingOperation::Append) => {
                let why = "the first blocks of a file are found differently from later ones";
                Need::operations(APPENDS / FIRST_SHARE, APPENDS, why)
            }
            Subject::Growing(
                GrowingOperation::Fsync
                | GrowingOperation::Fdatasync
                | GrowingOperation::AppendFsync,
            ) => {
                let why = "the first commits find the log empty";
                let time_wanted = Some(TIME_WANTED_OF_COMMITS);
                Need { time_wanted, ..Need::operations(COMMITS / FIRST_SHARE, COMMITS, why) }
            }
            Subject::Growing(GrowingOperation::Truncate) => {
                Need::operations(FIRST_CHANGES, CHANGES, "the first ones find the log empty")
            }
            Subject::Names(_, entries) => self.need_of_names(entries, is_cold),
        }
    }

    fn need_of_names(&self, entries: Entries, is_cold: bool) -> Need {
        match entries {
            Entries::Added { .. } | Entries::Moved | Entries::Removed { .. } => {
                self.need_of_changes(is_cold)
            }
            Entries::Listed => self.need_of_listings(is_cold),
            Entries::Missed => {
                let why = "each name is looked up once, because the second time it is known to be \
                    missing";
                let wanted = if is_cold { COLD_NAMES } else { LOOKS };
                Need::once(self.missing_names_per_thread(), wanted, why)
            }
            Entries::LookedAt => self.need_of_looks(is_cold),
        }
    }

    /// For requests that the device serves, one by one or in flight.
    fn need_of_device(&self, pass: u64, request_bytes: u64) -> Need {
        let requests = within(REQUESTS, DEVICE_BYTES / request_bytes);
        let why = "enough that the first ones, which find the device idle, do not matter";
        match self.queue_depth() {
            Some(depth) => {
                let queues = QUEUES_IN_ALL * u64::from(depth);
                Need::operations(0, requests.max(queues).min(pass), why)
            }
            None => Need::once(pass, requests, why),
        }
    }

    /// For reads of what is not in memory, each once.
    fn need_cold(&self, pass: u64, request_bytes: u64) -> Need {
        if self.workload.access == Access::Sequential {
            let why = "the whole file, so that no read-ahead is still under way and all waiting is \
                       counted";
            return Need::operations(0, pass, why);
        }
        let why = "enough that the first ones, which find the device idle, do not matter";
        Need::once(pass, within(REQUESTS, DEVICE_BYTES / request_bytes), why)
    }

    /// For repeated reads of what is in memory.
    fn need_of_copies(&self, pass: u64, request_bytes: u64) -> Need {
        // As many independent random choices as there are pages meet two thirds of the pages.
        let passes = if self.workload.access == Access::Sequential { 1 } else { 2 };
        let why = "pages have been read once since the file was read in, so that the processor's \
                   caches hold what they will hold throughout";
        let operations = within(COPIES, COPIED_BYTES / request_bytes);
        Need { time_wanted: Some(TIME_WANTED), ..Need::operations(passes * pass, operations, why) }
    }

    fn need_of_changes(&self, is_cold: bool) -> Need {
        let threads = self.workload.threads as u64;
        // Several threads in one directory together do what one does alone, so that it grows as
        // much.
        let sharers = if self.workload.sharing == Sharing::Same { threads } else { 1 };
        let most = (self.file_set.additions_max() / sharers).max(1);
        if is_cold {
            let why = "few enough that most of them do not find what they need in memory";
            return Need::operations(0, most.min(COLD_NAMES / 2), why);
        }
        let why = "enough that single interruptions do not matter, and few enough that directories \
                   stay as they are";
        let all = most.min((CHANGES + FIRST_CHANGES) / sharers);
        let start = all * FIRST_CHANGES / (CHANGES + FIRST_CHANGES);
        Need::operations(start, all - start, why)
    }

    fn need_of_listings(&self, is_cold: bool) -> Need {
        let (directories, entries) = self.file_set.directories().unwrap_or_default();
        let directories = directories as u64;
        if is_cold {
            return Need::operations(0, directories, "each directory is listed once, cold");
        }
        let listings = within(LISTINGS, LISTED / entries.max(1));
        let why = "each directory has been listed before";
        let first = directories.max(2).min(listings);
        Need { time_wanted: Some(TIME_WANTED), ..Need::operations(first, listings, why) }
    }

    fn need_of_looks(&self, is_cold: bool) -> Need {
        let entries = self.file_set.entries();
        let reads_files = self.workload.operation.moves_whole_files();
        let looks = if reads_files { FILES_READ } else { LOOKS };
        if is_cold {
            let why = "each name is looked up once; neighbours come from the device together, so \
                       the first ones are no different";
            return Need::operations(0, entries.min(COLD_NAMES), why);
        }
        let why = "names have been looked up since they were read in";
        let first = (2 * entries).min(FIRST_LOOKS_MAX);
        Need { time_wanted: Some(TIME_WANTED), ..Need::operations(first, looks, why) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Benchmark;
    use crate::catalogue::suites;

    const FILE_BYTES: u64 = 64 << 20;

    fn need(name: &str) -> Need {
        let all = suites().into_iter().flat_map(|suite| suite.benchmarks);
        let found = all.into_iter().find(|one| one.name == name).expect("it is declared");
        need_of(&found)
    }

    fn need_of(benchmark: &Benchmark) -> Need {
        let operations = benchmark.operations().expect("it is one of operations");
        operations.need(benchmark.cache_state, FILE_BYTES)
    }

    #[test]
    fn a_cold_stream_is_the_whole_file_from_its_first_byte() {
        assert_eq!((need("sequential-read-4k-cold").start, 16_384), (0, 16_384));
        assert_eq!(need("sequential-read-4k-cold").operations, 16_384);
        assert_eq!(need("sequential-read-1m-cold").operations, 64);
    }

    #[test]
    fn what_is_in_memory_is_met_once_before_it_is_measured() {
        let random = need("random-read-4k-warm");
        assert_eq!((random.start, random.operations), (2 * 16_384, 16_384));
        let sequential = need("sequential-read-1m-warm");
        assert_eq!((sequential.start, sequential.operations), (64, 64));
    }

    #[test]
    fn several_in_one_directory_do_together_what_one_does_alone() {
        let (one, two) = (need("create-1-thread"), need("create-2-threads-one-directory"));
        assert_eq!(one.start + one.operations, 2 * (two.start + two.operations));
        let own = need("create-2-threads-two-directories");
        assert_eq!(own.operations, one.operations);
    }

    #[test]
    fn commits_go_on_until_pauses_of_the_device_are_among_them() {
        let commits = need("append-fsync-4k");
        assert_eq!((commits.start, commits.operations), (12, 96));
        assert_eq!(commits.time_wanted, Some(Duration::from_millis(250)));
        assert_eq!(need("create-100").time_wanted, None);
    }

    #[test]
    fn a_benchmark_and_its_floor_need_the_same() {
        for suite in suites() {
            for benchmark in &suite.benchmarks {
                let Some(name) = &benchmark.floor else { continue };
                let floor = suite.benchmarks.iter().find(|one| one.name == *name);
                let floor = floor.expect("it is in the suite");
                assert_eq!(need_of(benchmark), need_of(floor), "{name}");
            }
        }
    }

    #[test]
    fn threads_that_take_turns_need_not_all_begin_at_once() {
        assert_eq!(
            [1, 2, 3].map(|threads| overlap_percent(threads, 2)),
            [None, Some(95), Some(50)]
        );
    }

    #[test]
    fn files_of_the_default_size_have_room_for_what_is_needed() {
        for suite in suites() {
            for benchmark in &suite.benchmarks {
                let Some(of) = benchmark.operations() else { continue };
                if of.moves_data_in_place() && of.workload.access != Access::Uniform {
                    let Need { start, operations, time_wanted, .. } = need_of(benchmark);
                    let pass = of.blocks_per_thread(FILE_BYTES);
                    let is_of_one_pass = start + operations <= pass;
                    assert!(time_wanted.is_some() || is_of_one_pass, "{}", benchmark.name);
                }
            }
        }
    }
}
