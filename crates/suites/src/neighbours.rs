//! What the rest of the machine does during a measurement, and when that is too much.
//!
//! A runnable thread that waits for a processor waits for whatever is running: other threads of
//! this program, kernel threads that work for the file system, or other people's programs. Only the
//! last disturb a measurement. They are blamed for their share of what ran beside the measuring
//! threads, and never for more than the time they ran.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use machine::describe::{
    DeviceCounters, PressureCounters, PressureReader, ProcessTimes, ProcessTimesReader,
    ProcessorTimeReader,
};
use measure::thread_waited_ns;
use record::{Busy, Neighbours};

use crate::counters::Counters;
use crate::nanoseconds::nanos;
use crate::processors::processors;

/// Share of their time that measuring threads may spend waiting for others.
const WAITED_SHARE_MAX: f64 = 0.02;
/// Share of all processors that others may use even if nobody waits for them, since they share
/// caches, memory and clock headroom.
const USED_SHARE_MAX: f64 = 0.25;
/// Processors that others may use on a quiet machine.
const QUIET_PROCESSORS: f64 = 0.1;
/// What others may move on the disk below an image, in addition to what the target moves: this much
/// per replicate, this much per flush of the target (which makes the host's file system write its
/// own journal), and this share of the target's own traffic.
const DISK_BYTES: u64 = 256 << 10;
const DISK_BYTES_PER_FLUSH: u64 = 64 << 10;
const DISK_SHARE: f64 = 0.25;
/// Bytes per second that others may move on that disk on a quiet machine.
const QUIET_DISK_BYTES_PER_S: f64 = 1e6;
/// How many programs are named at most.
const NAMED_MAX: usize = 3;

/// The processes on this machine; one list for all targets.
static PROCESSES: LazyLock<Mutex<ProcessTimesReader>> = LazyLock::new(Mutex::default);
static PRESSURE: LazyLock<Option<PressureReader>> = LazyLock::new(|| PressureReader::open().ok());
/// Total processor time, where the kernel counts it exactly. Includes processes that have ended.
static ALL: LazyLock<Option<ProcessorTimeReader>> = LazyLock::new(|| {
    ProcessorTimeReader::open().ok().filter(|reader| !reader.source().is_sampled())
});

fn list() -> MutexGuard<'static, ProcessTimesReader> {
    PROCESSES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One look at the rest of the machine.
#[derive(Debug)]
pub(crate) struct Snapshot {
    at: Instant,
    processes: ProcessTimes,
    all_ns: Option<u64>,
    pressure: Option<PressureCounters>,
    /// How long the looking thread has waited.
    waited_ns: Option<u64>,
    /// Counters of the disk below the target's image and of the target's own device.
    disk: Option<(DeviceCounters, DeviceCounters)>,
}

/// What happened between two looks.
#[derive(Debug)]
pub(crate) struct Activity {
    time: Duration,
    /// Processor time of this program and its children.
    own_ns: u64,
    /// Processor time of whatever works on behalf of a file system's callers: kernel threads and
    /// FUSE servers.
    servants_ns: Option<u64>,
    /// Processor time of other programs.
    programs_ns: Option<u64>,
    /// The part of it that was used by those still running.
    running_ns: u64,
    /// The same by name, for those still running.
    by_name: BTreeMap<String, u64>,
    /// How long the looking thread waited.
    waited_ns: Option<u64>,
    pressure: Option<PressureCounters>,
    /// Bytes that others moved on the disk below, and what the target did on its own device.
    disk: Option<(u64, DeviceCounters)>,
}

/// What programs used that a measurement started and waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChildrenUse {
    /// Time of the processor, in nanoseconds.
    pub processor_ns: u64,
    /// How long they waited for a processor, in nanoseconds.
    pub waited_ns: u64,
}

/// The threads that measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasuringThreads {
    /// Number of threads.
    pub(crate) threads: usize,
    /// The sum of their times from start to end.
    pub(crate) elapsed_ns: u64,
    /// How long they waited for a processor.
    pub(crate) waited_ns: Option<u64>,
    /// How much processor time they used.
    pub(crate) used_ns: u64,
}

impl Snapshot {
    /// Looks at everything, including the disk below the target's image if there is one.
    pub(crate) fn take(counters: Option<&Counters>) -> Self {
        // This thread's own wait comes first, so that the look at the end does not include itself.
        let waited_ns = thread_waited_ns();
        Self {
            at: Instant::now(),
            waited_ns,
            processes: list().read(),
            all_ns: ALL.as_ref().and_then(|reader| reader.read().ok()),
            pressure: PRESSURE.as_ref().and_then(|reader| reader.read().ok()),
            disk: counters.and_then(Counters::disk),
        }
    }

    /// What happened since `earlier`.
    pub(crate) fn since(&self, earlier: &Self) -> Activity {
        let (now, then) = (&self.processes, &earlier.processes);
        let difference = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let own_ns = now.own_ns.saturating_sub(then.own_ns);
        let servers_ns = now.servers_ns.saturating_sub(then.servers_ns);
        let kernel_ns = difference(now.kernel_ns, then.kernel_ns);
        let servants_ns = kernel_ns.map(|kernel_ns| kernel_ns + servers_ns);
        let others = now.others_since(then);
        let running_ns: u64 = others.values().sum();
        let all_ns = difference(self.all_ns, earlier.all_ns);
        let rest_ns = all_ns.map(|all_ns| all_ns.saturating_sub(own_ns));
        // Processes that have ended in the meantime are only in the rest.
        let programs_ns = servants_ns.map(|servants_ns| {
            let rest_ns = rest_ns.map_or(0, |rest_ns| rest_ns.saturating_sub(servants_ns));
            running_ns.max(rest_ns)
        });
        let list = list();
        let mut by_name = BTreeMap::new();
        for (id, used_ns) in others {
            if let Some(name) = list.name(id) {
                *by_name.entry(name.to_owned()).or_default() += used_ns;
            }
        }
        let disk = self.disk.zip(earlier.disk).map(|((disk, own), (disk_then, own_then))| {
            let (disk, own) = (disk - disk_then, own - own_then);
            let moved = |of: DeviceCounters| of.read_bytes + of.written_bytes;
            (moved(disk).saturating_sub(moved(own)), own)
        });
        Activity {
            time: self.at.saturating_duration_since(earlier.at),
            own_ns,
            servants_ns,
            // If kernel threads cannot be seen, the rest includes both, and nothing better is
            // known.
            programs_ns: programs_ns.or(rest_ns),
            running_ns,
            by_name,
            waited_ns: difference(self.waited_ns, earlier.waited_ns),
            pressure: self.pressure.zip(earlier.pressure).map(|(now, then)| now - then),
            disk,
        }
    }
}

impl Activity {
    /// The same, given what programs used that this one started and waited for. They ran for too
    /// short to be seen, so that they count as others otherwise.
    pub(crate) fn with_children(self, children: ChildrenUse) -> Self {
        let ChildrenUse { processor_ns, waited_ns } = children;
        let others_ns = |programs_ns: u64| programs_ns.saturating_sub(processor_ns);
        Self {
            own_ns: self.own_ns + processor_ns,
            waited_ns: self.waited_ns.map(|own_ns| own_ns + waited_ns),
            programs_ns: self.programs_ns.map(|all| others_ns(all).max(self.running_ns)),
            ..self
        }
    }

    /// Processor time of what worked for a file system's callers, apart from these threads: kernel
    /// threads, FUSE servers, and other threads of this program, which may be such a server.
    pub(crate) fn servants_ns(&self, threads_ns: u64) -> Option<u64> {
        let own_ns = self.own_ns.saturating_sub(threads_ns);
        self.servants_ns.map(|servants_ns| servants_ns + own_ns)
    }

    /// Processor time of kernel threads and FUSE servers.
    pub(crate) fn servants_alone_ns(&self) -> Option<u64> {
        self.servants_ns
    }

    /// What a replicate records if the looking thread is the one that measures.
    pub(crate) fn neighbours_of_caller(&self, elapsed_ns: u64) -> Neighbours {
        let used_ns = self.own_ns;
        self.neighbours(MeasuringThreads {
            threads: 1,
            elapsed_ns,
            waited_ns: self.waited_ns,
            used_ns,
        })
    }

    /// What a replicate records.
    pub(crate) fn neighbours(&self, measuring: MeasuringThreads) -> Neighbours {
        Neighbours {
            waited_ns: measuring.waited_ns,
            programs_ns: self.servants_ns.and(self.programs_ns),
            kernel_ns: self.servants_ns,
            cpu_pressure_ns: self.pressure.map(|pressure| pressure.cpu_some_ns),
            io_pressure_ns: self.pressure.map(|pressure| pressure.io_some_ns),
            memory_pressure_ns: self.pressure.map(|pressure| pressure.memory_some_ns),
            disk_bytes: self.disk.map(|(others_bytes, _)| others_bytes),
            busy: self.busy(measuring),
        }
    }

    /// Who disturbed these threads, if it was too much.
    fn busy(&self, measuring: MeasuringThreads) -> Option<Busy> {
        let waited = self.waited_for_others(measuring);
        let used = self.processors_used();
        let has_waited = waited.is_some_and(|share| share > WAITED_SHARE_MAX);
        // If the kernel does not report waiting: whether others leave the threads no processor.
        let left = processors() as f64 - used;
        let must_wait = waited.is_none() && left < measuring.threads as f64 * 0.9;
        let disk_bytes_per_s = self.disk_in_the_way();
        let is_used = self.servants_ns.is_some() && used > USED_SHARE_MAX * processors() as f64;
        let is_busy = has_waited || must_wait || is_used || disk_bytes_per_s.is_some();
        is_busy.then(|| Busy {
            waited_percent: waited.unwrap_or(0.0) * 100.0,
            disk_bytes_per_s,
            ..self.who()
        })
    }

    /// Who kept the machine busy while nothing was measured, if anyone did.
    pub(crate) fn restless(&self) -> Option<Busy> {
        let moved = self.disk.map(|(others_bytes, _)| others_bytes as f64 / self.seconds());
        let disk_bytes_per_s = moved.filter(|&moved| moved > QUIET_DISK_BYTES_PER_S);
        let is_busy = self.processors_used() > QUIET_PROCESSORS || disk_bytes_per_s.is_some();
        is_busy.then(|| Busy { disk_bytes_per_s, ..self.who() })
    }

    fn who(&self) -> Busy {
        let mut names: Vec<(&String, u64)> =
            self.by_name.iter().map(|(name, &used_ns)| (name, used_ns)).collect();
        names.sort_by_key(|&(_, used_ns)| std::cmp::Reverse(used_ns));
        let most_ns = names.first().map_or(0, |&(_, used_ns)| used_ns);
        // A program that used little compared with the busiest is not worth naming.
        let named = names.into_iter().filter(|&(_, used_ns)| used_ns >= most_ns / 10);
        Busy {
            programs: named.take(NAMED_MAX).map(|(name, _)| name.clone()).collect(),
            processors: self.processors_used(),
            of: u32::try_from(processors()).unwrap_or(u32::MAX),
            waited_percent: 0.0,
            disk_bytes_per_s: None,
        }
    }

    /// How many processors other programs used.
    fn processors_used(&self) -> f64 {
        self.programs_ns.unwrap_or(0) as f64 / 1e9 / self.seconds()
    }

    fn seconds(&self) -> f64 {
        (nanos(self.time).max(1)) as f64 / 1e9
    }

    /// The share of the threads' time spent waiting for other programs; `None` if the kernel does
    /// not report how long they waited.
    fn waited_for_others(&self, measuring: MeasuringThreads) -> Option<f64> {
        let MeasuringThreads { threads, elapsed_ns, waited_ns, used_ns } = measuring;
        let waited_ns = waited_ns? as f64;
        let programs_ns = self.programs_ns.unwrap_or(0) as f64;
        // With a processor each, threads do not wait for each other.
        let each_other_ns = if threads > processors() { used_ns } else { 0 };
        let own_ns = self.own_ns.saturating_sub(used_ns) + each_other_ns;
        let beside_ns = programs_ns + (self.servants_ns.unwrap_or(0) + own_ns) as f64;
        let for_others_ns = (waited_ns * programs_ns / beside_ns.max(1.0)).min(programs_ns);
        // The wait includes what came just before the first operation, so the share is capped.
        Some((for_others_ns / elapsed_ns.max(1) as f64).min(1.0))
    }

    /// Bytes per second that others moved on the disk below, if the target used it too and they
    /// moved more than the target's own work explains.
    fn disk_in_the_way(&self) -> Option<f64> {
        let (others_bytes, own) = self.disk?;
        let own_bytes = own.read_bytes + own.written_bytes;
        let flushes = own.flushes.unwrap_or(0);
        let explained = DISK_BYTES.saturating_add(DISK_BYTES_PER_FLUSH.saturating_mul(flushes))
            as f64
            + DISK_SHARE * own_bytes as f64;
        let is_in_the_way = own.reads + own.writes > 0 && others_bytes as f64 > explained;
        is_in_the_way.then(|| others_bytes as f64 / self.seconds())
    }
}

/// Watches the machine for `time` while doing nothing, and reports who keeps it busy, if anyone
/// does.
pub(crate) fn watch(time: Duration, counters: Option<&Counters>) -> Option<Busy> {
    let before = Snapshot::take(counters);
    std::thread::sleep(time);
    Snapshot::take(counters).since(&before).restless()
}

/// Looks again for programs that serve FUSE file systems, which work for their callers.
pub(crate) fn look_for_servers() {
    list().look_for_servers();
}

/// Whether kernel threads are visible here, so that their work can be told from other programs'.
pub(crate) fn sees_servants() -> bool {
    static SEES: LazyLock<bool> = LazyLock::new(|| list().read().kernel_ns.is_some());
    *SEES
}

/// What cannot be seen of neighbours here and what is used instead; `None` if everything can.
#[must_use]
pub fn unseen() -> Option<String> {
    unseen_given(thread_waited_ns().is_some(), PRESSURE.is_some(), sees_servants())
}

fn unseen_given(tells_waits: bool, tells_pressure: bool, sees_kernel: bool) -> Option<String> {
    let waits = (!tells_waits).then_some(
        "this kernel does not say how long threads wait for a processor (CONFIG_SCHED_INFO), so \
         fsprism goes by what other programs leave them",
    );
    let pressure = (!tells_pressure).then_some(
        "this kernel has no pressure stall information (/proc/pressure), so replicates do not \
         record it",
    );
    let kernel = (!sees_kernel).then_some(
        "kernel threads cannot be seen from here, as from within a container, so whatever else \
         runs on this machine counts as other programs",
    );
    let all: Vec<&str> = [waits, pressure, kernel].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 100 ms during which other programs and kernel threads used this much.
    fn activity(programs_ms: u64, servants_ms: u64) -> Activity {
        Activity {
            time: Duration::from_millis(100),
            own_ns: 60 * MS,
            servants_ns: Some(servants_ms * MS),
            programs_ns: Some(programs_ms * MS),
            running_ns: programs_ms * MS / 2,
            by_name: BTreeMap::from([
                ("cc1".to_owned(), programs_ms * MS * 7 / 10),
                ("python3".to_owned(), programs_ms * MS * 3 / 10),
                ("cron".to_owned(), programs_ms * MS / 100),
            ]),
            waited_ns: None,
            pressure: None,
            disk: None,
        }
    }

    fn one_thread(waited_ms: u64) -> MeasuringThreads {
        let (elapsed_ns, used_ns) = (100 * MS, 60 * MS);
        MeasuringThreads { threads: 1, elapsed_ns, waited_ns: Some(waited_ms * MS), used_ns }
    }

    #[test]
    fn waiting_is_blamed_on_who_ran() {
        let busy = activity(20, 0).busy(one_thread(10)).expect("a tenth of the time");
        assert!((busy.waited_percent - 10.0).abs() < 1e-9, "{busy:?}");
        assert_eq!(busy.programs, ["cc1", "python3"]);
        assert_eq!(
            activity(0, 20).busy(one_thread(10)),
            None,
            "kernel threads work for the caller"
        );
        let half = activity(20, 20).busy(one_thread(10)).expect("half of a tenth");
        assert!((half.waited_percent - 5.0).abs() < 1e-9, "{half:?}");
        assert_eq!(
            activity(1, 0).busy(one_thread(50)),
            None,
            "nobody waits longer than others run"
        );
        assert_eq!(activity(20, 0).busy(one_thread(1)), None, "a hundredth is allowed");
    }

    #[test]
    fn programs_that_were_waited_for_are_no_others() {
        let all_ms = 100 * processors() as u64;
        assert!(activity(all_ms, 0).busy(one_thread(0)).is_some());
        let own = activity(all_ms, 0)
            .with_children(ChildrenUse { processor_ns: MS * all_ms, waited_ns: 0 });
        assert_eq!(own.own_ns, (60 + all_ms) * MS);
        let left = own.programs_ns;
        assert_eq!(left, Some(all_ms * MS / 2), "those that run are no children");
    }

    #[test]
    fn threads_beyond_the_processors_wait_for_each_other() {
        let threads = processors() + 1;
        let used_ns = 100 * MS * processors() as u64;
        let elapsed_ns = 100 * MS * threads as u64;
        let many = MeasuringThreads { threads, elapsed_ns, waited_ns: Some(100 * MS), used_ns };
        let alone = Activity { own_ns: used_ns, ..activity(1, 0) };
        assert_eq!(alone.busy(many), None);
    }

    #[test]
    fn many_others_are_in_the_way_even_if_nobody_waits() {
        let most_ms = 25 * processors() as u64;
        assert_eq!(activity(most_ms - 1, 0).busy(one_thread(0)), None);
        assert!(activity(most_ms + 1, 0).busy(one_thread(0)).is_some());
    }

    #[test]
    fn without_the_kernels_word_on_waiting_it_is_what_others_leave() {
        let unsaid = MeasuringThreads { waited_ns: None, ..one_thread(0) };
        let all_ms = 100 * processors() as u64;
        let unseen = |programs_ms| Activity { servants_ns: None, ..activity(programs_ms, 0) };
        assert_eq!(unseen(0).busy(unsaid), None);
        assert!(unseen(all_ms).busy(unsaid).is_some());
    }

    #[test]
    fn the_disk_counts_where_the_target_uses_it() {
        let own = |writes: u64, flushes| DeviceCounters {
            writes,
            written_bytes: writes * 4096,
            flushes: Some(flushes),
            ..DeviceCounters::default()
        };
        let disk =
            |others_bytes, own| Activity { disk: Some((others_bytes, own)), ..activity(0, 0) };
        let hog = disk(20 << 20, own(10, 0)).busy(one_thread(0)).expect("it is in the way");
        assert!(hog.disk_bytes_per_s.is_some_and(|moved| moved > 2e8), "{hog:?}");
        assert_eq!(disk(20 << 20, own(0, 0)).busy(one_thread(0)), None, "the target has no part");
        assert_eq!(disk(20 << 20, own(1000, 1000)).busy(one_thread(0)), None, "its own journal");
    }

    #[test]
    fn what_cannot_be_seen_is_said_once() {
        assert_eq!(unseen_given(true, true, true), None);
        let all = unseen_given(false, false, false).expect("nothing can be seen");
        for words in ["CONFIG_SCHED_INFO", "/proc/pressure", "container"] {
            assert!(all.contains(words), "{all}");
        }
        let one = unseen_given(true, false, true).expect("no pressure");
        assert!(!one.contains(';') && one.contains("/proc/pressure"), "{one}");
    }

    #[test]
    fn a_machine_is_quiet_when_others_do_next_to_nothing() {
        assert_eq!(activity(9, 50).restless(), None);
        let busy = activity(150, 0).restless().expect("one and a half processors");
        assert!(busy.to_string().starts_with("cc1 and python3 used 1.5 of "), "{busy}");
    }
}
