//! What is done at a position of an axis.

use record::{Axis, CacheState, Cell, Dimension};
use workload::{Access, Operation, Sharing, Workload};

use super::CLIFF_SUITE;
use super::range::PlannedSearch;
use super::request::CliffParameters;
use crate::benchmark::Benchmark;
use crate::file_set_kind::FileSetKind;
use crate::operations::Question;

/// The most operations per thread on a new volume.
const VOLUME_OPERATIONS_MAX: u64 = 1 << 18;

/// The operations of a search, apart from the position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    axis: Axis,
    file_bytes: u64,
    parameters: CliffParameters,
}

impl Subject {
    pub(super) fn new(planned: &PlannedSearch) -> Self {
        let PlannedSearch { file_bytes, parameters, .. } = *planned;
        Self { axis: planned.search.axis, file_bytes, parameters }
    }

    /// The size of the data file.
    pub(super) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Whether operations may write to the data file.
    pub(super) fn has_writes(&self) -> bool {
        self.axis == Axis::ReadShare || self.parameters.read_percent < 100
    }

    /// What is measured at `position`.
    pub(super) fn benchmark(&self, position: f64) -> Benchmark {
        let there = self.parameters_at(position);
        let CliffParameters { span_bytes, request_bytes, threads, .. } = there;
        let is_random_read = !self.has_writes() && !self.has_sequences();
        let name = if is_random_read { "random-read" } else { "mix" };
        let mut title = format!(
            "{} {}, working set {}, {}",
            kind(&there, is_random_read),
            short_bytes(request_bytes as u64),
            size(span_bytes as f64),
            textual::plural(threads, "thread")
        );
        if self.is_of_volumes() {
            title += &format!(", volume {}", size(position));
        }
        let (dimension, exercises) = self.dimensions();
        let workload = Workload {
            access: match there.sequential_percent {
                _ if !self.has_sequences() => Access::Uniform,
                sequential_percent => Access::Mixed { sequential_percent },
            },
            request_bytes,
            span_bytes: Some(span_bytes),
            threads,
            sharing: Sharing::Same,
            operations_per_thread: self.operations_per_thread(&there),
            ..Workload::new(match there.read_percent {
                _ if !self.has_writes() => Operation::Read,
                read_percent => Operation::Mixed { read_percent },
            })
        };
        Benchmark {
            name: format!("{name}-{}-{position}", self.axis.name()),
            title,
            dimension,
            exercises,
            cache_state: if self.is_of_volumes() { CacheState::Any } else { CacheState::Steady },
            ..Benchmark::from_workload(workload, FileSetKind::Data).answering(Question::SteadyState)
        }
    }

    /// Whether each probe makes its volume anew, to measure the first operations on it.
    pub(super) fn is_of_volumes(&self) -> bool {
        self.axis == Axis::VolumeSize
    }

    /// On a new volume, all threads together do as many operations as the working set has requests:
    /// what waits for space waits early, and steady operations would no longer show it. Otherwise,
    /// a probe ends by time, not by number.
    fn operations_per_thread(&self, there: &CliffParameters) -> u64 {
        if !self.is_of_volumes() {
            return u64::from(u32::MAX);
        }
        let requests = there.span_bytes / there.request_bytes as u64;
        (requests / there.threads as u64).clamp(1, VOLUME_OPERATIONS_MAX)
    }

    /// The cell of one position on a target.
    pub(super) fn cell(&self, target: &str, position: f64) -> Cell {
        let suite = format!("{CLIFF_SUITE}/{}", self.axis.name());
        let mut cell = self.benchmark(position).cell(&suite, target, self.file_bytes);
        if self.is_of_volumes() {
            cell.parameters.insert(self.axis.parameter().to_owned(), position.into());
        }
        cell
    }

    fn has_sequences(&self) -> bool {
        self.axis == Axis::SequentialShare || self.parameters.sequential_percent > 0
    }

    /// The dimension that the axis isolates, and those that it exercises.
    fn dimensions(&self) -> (Dimension, Vec<Dimension>) {
        match self.axis {
            Axis::Threads => (Dimension::Scaling, vec![Dimension::InMemory]),
            Axis::RequestSize => (Dimension::InMemory, Vec::new()),
            Axis::VolumeSize => (Dimension::InMemory, vec![Dimension::OnDiskLayout]),
            Axis::WorkingSet | Axis::ReadShare | Axis::SequentialShare => {
                (Dimension::Caching, vec![Dimension::InMemory, Dimension::Io])
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and small")]
    fn parameters_at(&self, position: f64) -> CliffParameters {
        let others = self.parameters;
        match self.axis {
            Axis::RequestSize => CliffParameters { request_bytes: position as usize, ..others },
            Axis::Threads => CliffParameters { threads: position as usize, ..others },
            Axis::ReadShare => CliffParameters { read_percent: position as u8, ..others },
            Axis::SequentialShare => {
                CliffParameters { sequential_percent: position as u8, ..others }
            }
            Axis::WorkingSet => CliffParameters { span_bytes: position as u64, ..others },
            Axis::VolumeSize => others,
        }
    }
}

/// `random read`, or `70 % reads, 20 % sequential,`.
fn kind(parameters: &CliffParameters, is_random_read: bool) -> String {
    let CliffParameters { read_percent, sequential_percent, .. } = parameters;
    if is_random_read {
        "random read".to_owned()
    } else {
        format!("{read_percent} % reads, {sequential_percent} % sequential,")
    }
}

/// What is done, apart from the axis: `random reads of 4 KiB by 1 thread`.
pub(super) fn in_words(axis: Axis, parameters: &CliffParameters) -> String {
    let CliffParameters { span_bytes, request_bytes, threads, read_percent, sequential_percent } =
        *parameters;
    let order = match sequential_percent {
        _ if axis == Axis::SequentialShare => "",
        0 => "random ",
        100 => "sequential ",
        _ => "",
    };
    let what = match read_percent {
        _ if axis == Axis::ReadShare => "reads and writes".to_owned(),
        0 => "writes".to_owned(),
        100 => "reads".to_owned(),
        percent => format!("reads ({percent} %) and writes"),
    };
    let mut words = format!("{order}{what}");
    if (1..100).contains(&sequential_percent) && axis != Axis::SequentialShare {
        words += &format!(", {sequential_percent} % of them sequential,");
    }
    if axis != Axis::RequestSize {
        words += &format!(" of {}", size(request_bytes as f64));
    }
    if axis != Axis::WorkingSet {
        words += &format!(" over {}", size(span_bytes as f64));
    }
    if axis != Axis::Threads {
        words += &format!(" by {}", textual::plural(threads, "thread"));
    }
    if axis == Axis::VolumeSize {
        words += ", the first on a new volume";
    }
    words
}

/// With four digits, like the positions of a search.
fn size(bytes: f64) -> String {
    textual::size(bytes, 4)
}

/// `4k`, `1m`; a number that is not a multiple of either stays as it is.
fn short_bytes(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    if bytes.is_multiple_of(MIB) && bytes > 0 {
        format!("{}m", bytes / MIB)
    } else if bytes.is_multiple_of(KIB) && bytes > 0 {
        format!("{}k", bytes / KIB)
    } else {
        bytes.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: CliffParameters = CliffParameters {
        span_bytes: 1 << 24,
        request_bytes: 4096,
        threads: 1,
        read_percent: 100,
        sequential_percent: 0,
    };

    fn benchmark(axis: Axis, position: f64) -> Benchmark {
        benchmark_with(axis, PLAIN, position)
    }

    fn benchmark_with(axis: Axis, parameters: CliffParameters, position: f64) -> Benchmark {
        Subject { axis, file_bytes: 1 << 26, parameters }.benchmark(position)
    }

    #[test]
    fn each_axis_changes_what_it_is_named_after_and_nothing_else() {
        let of = |axis, position| {
            let benchmark = benchmark(axis, position);
            let it = &benchmark.operations().expect("one of operations").workload;
            (it.span_bytes, it.request_bytes, it.threads, it.operation, it.access)
        };
        let (all, read, random) = (Some(1 << 24), Operation::Read, Access::Uniform);
        assert_eq!(of(Axis::WorkingSet, 8192.0), (Some(8192), 4096, 1, read, random));
        assert_eq!(of(Axis::RequestSize, 65536.0), (all, 65536, 1, read, random));
        assert_eq!(of(Axis::Threads, 3.0), (all, 4096, 3, read, random));
        for percent in [0, 37, 100] {
            let mix = Operation::Mixed { read_percent: percent };
            let place = Access::Mixed { sequential_percent: percent };
            let position = f64::from(percent);
            assert_eq!(of(Axis::ReadShare, position), (all, 4096, 1, mix, random));
            assert_eq!(of(Axis::SequentialShare, position), (all, 4096, 1, read, place));
        }
    }

    #[test]
    fn any_axis_is_searched_under_any_mix() {
        let mix = CliffParameters { read_percent: 30, sequential_percent: 80, threads: 2, ..PLAIN };
        let workload = |axis, position| {
            let benchmark = benchmark_with(axis, mix, position);
            benchmark.operations().expect("one of operations").workload.clone()
        };
        let it = workload(Axis::WorkingSet, 65536.0);
        assert_eq!(it.operation, Operation::Mixed { read_percent: 30 });
        assert_eq!(it.access, Access::Mixed { sequential_percent: 80 });
        assert_eq!((it.threads, it.span_bytes), (2, Some(65536)));
        let it = workload(Axis::ReadShare, 90.0);
        assert_eq!(it.operation, Operation::Mixed { read_percent: 90 });
        assert_eq!(it.access, Access::Mixed { sequential_percent: 80 });
        let title = benchmark_with(Axis::ReadShare, mix, 90.0).title;
        assert_eq!(title, "90 % reads, 80 % sequential, 4k, working set 16 MiB, 2 threads");
    }

    #[test]
    fn what_is_done_is_said_without_the_axis() {
        let mix = CliffParameters { read_percent: 30, sequential_percent: 80, threads: 2, ..PLAIN };
        for (axis, parameters, words) in [
            (Axis::WorkingSet, PLAIN, "random reads of 4 KiB by 1 thread"),
            (Axis::RequestSize, PLAIN, "random reads over 16 MiB by 1 thread"),
            (Axis::Threads, PLAIN, "random reads of 4 KiB over 16 MiB"),
            (Axis::ReadShare, PLAIN, "random reads and writes of 4 KiB over 16 MiB by 1 thread"),
            (Axis::SequentialShare, PLAIN, "reads of 4 KiB over 16 MiB by 1 thread"),
            (
                Axis::WorkingSet,
                mix,
                "reads (30 %) and writes, 80 % of them sequential, of 4 KiB by 2 threads",
            ),
        ] {
            assert_eq!(in_words(axis, &parameters), words);
        }
        let writes = CliffParameters { read_percent: 0, sequential_percent: 100, ..PLAIN };
        assert_eq!(in_words(Axis::WorkingSet, &writes), "sequential writes of 4 KiB by 1 thread");
    }

    #[test]
    fn cells_hold_their_position_as_a_parameter_and_can_be_executed() {
        for (axis, position) in [
            (Axis::WorkingSet, 65536.0),
            (Axis::RequestSize, 8192.0),
            (Axis::Threads, 2.0),
            (Axis::ReadShare, 0.0),
            (Axis::SequentialShare, 100.0),
        ] {
            let benchmark = benchmark(axis, position);
            let operations = benchmark.operations().expect("one of operations");
            assert_eq!(operations.workload.check(), Ok(()));
            let cell = benchmark.cell("cliff", "ext4", 1 << 26);
            assert_eq!(cell.parameters[axis.parameter()].as_f64(), Some(position));
            assert!(cell.metrics.iter().any(|metric| metric.name == "throughput"));
        }
    }

    #[test]
    fn titles_have_sizes_as_people_write_them() {
        let title = benchmark(Axis::WorkingSet, 62.29 * 1024.0 * 1024.0).title;
        assert_eq!(title, "random read 4k, working set 62.29 MiB, 1 thread");
        let title = benchmark(Axis::Threads, 2.0).title;
        assert_eq!(title, "random read 4k, working set 16 MiB, 2 threads");
        assert_eq!(short_bytes(3 << 20), "3m");
        assert_eq!(short_bytes(1000), "1000");
    }
}
