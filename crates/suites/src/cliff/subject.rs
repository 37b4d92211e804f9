//! What is done at a position of an axis.

use record::{Axis, CacheState, Cell, Dimension};
use workload::{Access, Operation, Sharing, Workload};

use super::CLIFF_SUITE;
use super::range::Planned;
use crate::benchmark::Benchmark;
use crate::operations::Question;
use crate::place::Place;

/// The operations of a search, but for the position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    axis: Axis,
    file_bytes: u64,
    span_bytes: u64,
    request_bytes: usize,
}

/// What a position makes of the operations.
#[derive(Clone, Copy)]
struct Setting {
    span_bytes: u64,
    request_bytes: usize,
    threads: usize,
}

impl Subject {
    pub(super) fn new(planned: &Planned) -> Self {
        let Planned { file_bytes, span_bytes, request_bytes, .. } = *planned;
        Self { axis: planned.search.axis, file_bytes, span_bytes, request_bytes }
    }

    /// The size of the data file.
    pub(super) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// What is measured at `position`.
    pub(super) fn benchmark(&self, position: f64) -> Benchmark {
        let Setting { span_bytes, request_bytes, threads } = self.setting(position);
        let (verb, axis) = (short_bytes(request_bytes as u64), self.axis.name());
        let plural = if threads == 1 { "" } else { "s" };
        let title = format!(
            "random read {verb}, working set {}, {threads} thread{plural}",
            long_bytes(span_bytes)
        );
        let (dimension, exercises) = match self.axis {
            Axis::Threads => (Dimension::Scaling, vec![Dimension::InMemory]),
            Axis::RequestSize => (Dimension::InMemory, Vec::new()),
            _ => (Dimension::Caching, vec![Dimension::InMemory, Dimension::Io]),
        };
        let workload = Workload {
            access: Access::Uniform,
            request_bytes,
            span_bytes: Some(span_bytes),
            threads,
            sharing: Sharing::Same,
            // The time ends a probe, not their number.
            operations_per_thread: u64::from(u32::MAX),
            ..Workload::new(Operation::Read)
        };
        Benchmark {
            name: format!("random-read-{axis}-{position}"),
            title,
            dimension,
            exercises,
            cache_state: CacheState::Steady,
            ..Benchmark::of_operations(workload, Place::Data).asked(Question::SteadyState)
        }
    }

    /// The cell of a position on a target.
    pub(super) fn cell(&self, target: &str, position: f64) -> Cell {
        let suite = format!("{CLIFF_SUITE}/{}", self.axis.name());
        self.benchmark(position).cell(&suite, target, self.file_bytes)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and small")]
    fn setting(&self, position: f64) -> Setting {
        let Self { span_bytes, request_bytes, .. } = *self;
        let setting = Setting { span_bytes, request_bytes, threads: 1 };
        match self.axis {
            Axis::RequestSize => Setting { request_bytes: position as usize, ..setting },
            Axis::Threads => Setting { threads: position as usize, ..setting },
            _ => Setting { span_bytes: position as u64, ..setting },
        }
    }
}

/// `62.29 MiB`.
fn long_bytes(bytes: u64) -> String {
    const MIB: f64 = 1024.0 * 1024.0;
    let size = bytes as f64;
    match size / MIB {
        large if large >= 1.0 => format!("{large:.2} MiB"),
        _ => format!("{:.1} KiB", size / 1024.0),
    }
}

/// `4k`, `1m`; what is no multiple of either stays as it is.
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

    fn benchmark(axis: Axis, position: f64) -> Benchmark {
        let (file_bytes, span_bytes, request_bytes) = (1 << 26, 1 << 24, 4096);
        Subject { axis, file_bytes, span_bytes, request_bytes }.benchmark(position)
    }

    #[test]
    fn each_axis_changes_what_it_is_named_after_and_nothing_else() {
        let of = |axis, position| {
            let benchmark = benchmark(axis, position);
            let workload = &benchmark.operations().expect("one of operations").workload;
            (workload.span_bytes, workload.request_bytes, workload.threads)
        };
        let all = Some(1 << 24);
        assert_eq!(of(Axis::WorkingSet, 8192.0), (Some(8192), 4096, 1));
        assert_eq!(of(Axis::RequestSize, 65536.0), (all, 65536, 1));
        assert_eq!(of(Axis::Threads, 3.0), (all, 4096, 3));
    }

    #[test]
    fn cells_hold_their_position_as_a_parameter_and_can_be_executed() {
        for (axis, position) in
            [(Axis::WorkingSet, 65536.0), (Axis::RequestSize, 8192.0), (Axis::Threads, 2.0)]
        {
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
        assert_eq!(title, "random read 4k, working set 16.00 MiB, 2 threads");
        assert_eq!(short_bytes(3 << 20), "3m");
        assert_eq!(short_bytes(1000), "1000");
    }
}
