//! Reads and writes as described by the user, in fio's terms.

use record::{CacheState, CustomWorkload, Dimension};
use textual::{plural, size};
use workload::{Access, Buffering, IoPath, Operation, Sharing, UringOptions, Workload};

use crate::benchmark::{Benchmark, Work};
use crate::file_set_kind::FileSetKind;
use crate::operations::Question;

/// The suite's name.
pub const SUITE: &str = "custom";

/// What the list of suites shows for it.
pub(crate) const EXAMPLE: CustomWorkload = CustomWorkload {
    is_random: true,
    read_percent: 100,
    request_bytes: 4096,
    threads: 1,
    queue_depth: 1,
    is_direct: false,
    cache_state: CacheState::Warm,
};

/// The described workload as a benchmark.
pub(crate) fn benchmark(asked: &CustomWorkload) -> Benchmark {
    let &CustomWorkload { is_random, read_percent, request_bytes, threads, .. } = asked;
    let operation = match read_percent {
        100 => Operation::Read,
        0 => Operation::Write,
        read_percent => Operation::Mixed { read_percent },
    };
    let is_cold = asked.cache_state.is_cold();
    let workload = Workload {
        access: match (is_random, is_cold || asked.is_direct) {
            (false, _) => Access::Sequential,
            // No block twice: the second time it would not be cold, or a layer below may have
            // cached it.
            (true, true) if operation == Operation::Read => Access::Shuffled,
            // Like fio, every pass covers all blocks, so no later pass is the first to write one.
            (true, false) if operation == Operation::Write => Access::Shuffled,
            (true, _) => Access::Uniform,
        },
        request_bytes: usize::try_from(request_bytes).unwrap_or(usize::MAX),
        advises_random: is_random && is_cold,
        io_path: match (asked.queue_depth, asked.is_direct) {
            (2.., _) => IoPath::IoUring(UringOptions::new(asked.queue_depth, Buffering::Direct)),
            (_, true) => IoPath::PsyncDirect,
            (_, false) => IoPath::PsyncBuffered,
        },
        threads: threads as usize,
        sharing: Sharing::Same,
        ..Workload::new(operation)
    };
    let file_set = if is_cold { FileSetKind::ColdData } else { FileSetKind::Data };
    let question = if threads > 1 { Question::Throughput } else { Question::Time };
    let mut benchmark = Benchmark {
        name: name(asked),
        title: title(asked),
        dimension: match (asked.is_direct || is_cold, threads) {
            (true, _) => Dimension::Io,
            (false, 1) => Dimension::InMemory,
            (false, _) => Dimension::Scaling,
        },
        cache_state: if asked.is_direct { CacheState::Any } else { asked.cache_state },
        ..Benchmark::from_workload(workload, file_set).answering(question)
    };
    if let Work::Operations(operations) = &mut benchmark.work {
        operations.length.repeats = true;
    }
    benchmark
}

/// fio's word for it: `randread`, `rw`.
fn word(asked: &CustomWorkload) -> &'static str {
    match (asked.is_random, asked.read_percent) {
        (true, 100) => "randread",
        (true, 0) => "randwrite",
        (true, _) => "randrw",
        (false, 100) => "read",
        (false, 0) => "write",
        (false, _) => "rw",
    }
}

/// `randread-4096-8-threads-direct-depth-32`.
fn name(asked: &CustomWorkload) -> String {
    let mut name = format!("{}-{}", word(asked), asked.request_bytes);
    if !matches!(asked.read_percent, 0 | 100) {
        name += &format!("-reads-{}", asked.read_percent);
    }
    if asked.threads > 1 {
        name += &format!("-{}-threads", asked.threads);
    }
    name += match (asked.is_direct, asked.cache_state.is_cold()) {
        (true, _) => "-direct",
        (false, true) => "-cold",
        (false, false) => "-warm",
    };
    if asked.queue_depth > 1 {
        name += &format!("-depth-{}", asked.queue_depth);
    }
    name
}

/// `random read 4 KiB, direct, 32 in flight, 8 threads on one file`.
fn title(asked: &CustomWorkload) -> String {
    let order = if asked.is_random { "random" } else { "sequential" };
    let what = match asked.read_percent {
        100 => "read".to_owned(),
        0 => "write".to_owned(),
        percent => format!("mix of {percent} % reads"),
    };
    let state = match (asked.is_direct, asked.cache_state.is_cold()) {
        (true, _) => "direct",
        (false, true) => "cold",
        (false, false) => "warm",
    };
    let mut title = format!("{order} {what} {}, {state}", size(asked.request_bytes as f64, 3));
    if asked.queue_depth > 1 {
        title += &format!(", {} in flight", asked.queue_depth);
    }
    if asked.threads > 1 {
        title += &format!(", {} on one file", plural(asked.threads as usize, "thread"));
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_titles_say_what_was_asked_for() {
        let of = |asked: CustomWorkload| {
            let Benchmark { name, title, .. } = benchmark(&asked);
            (name, title)
        };
        let (name, title) = of(EXAMPLE);
        assert_eq!(name, "randread-4096-warm");
        assert_eq!(title, "random read 4 KiB, warm");
        let (name, title) = of(CustomWorkload {
            read_percent: 70,
            threads: 8,
            queue_depth: 32,
            is_direct: true,
            ..EXAMPLE
        });
        assert_eq!(name, "randrw-4096-reads-70-8-threads-direct-depth-32");
        let expected =
            "random mix of 70 % reads 4 KiB, direct, 32 in flight, 8 threads on one file";
        assert_eq!(title, expected);
    }

    #[test]
    fn what_is_described_is_a_workload_that_can_be_executed() {
        for read_percent in [0, 50, 100] {
            for is_random in [false, true] {
                for (is_direct, queue_depth) in [(false, 1), (true, 1), (true, 16)] {
                    let asked = CustomWorkload {
                        read_percent,
                        is_random,
                        is_direct,
                        queue_depth,
                        threads: 3,
                        ..EXAMPLE
                    };
                    let one = benchmark(&asked);
                    let workload = &one.operations().expect("operations").workload;
                    assert_eq!(workload.check(), Ok(()), "{}", one.name);
                }
            }
        }
    }
}
