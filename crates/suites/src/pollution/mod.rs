//! Pollution: what operations cost the code of the program around them.
//!
//! Between two operations, a program executes code of its own, whose instructions and data the
//! operation has evicted from the processor's caches, in part. Generated code with a known
//! footprint is timed with an operation after each of its rounds, and without. Weiss,
//! Arpaci-Dusseau & Arpaci-Dusseau, "`DenseFS`: A Cache-Compact Filesystem" (`HotStorage` 2018),
//! section 4 and figure 4.

mod counts;
mod figures;
mod followed;
mod operations;
mod preloaded;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use measure::{Clock, CountersError};
use record::{
    CacheState, CodeFootprints, CurveFamily, CurvePoint, Dimension, LineOrder, LoadDependence,
    MetricDefinition, PollutionOptions,
};
use runner::Failure;
use serde_json::{Value, json};
use targets::ArenaDoor;
use textual::{did_you_mean, size};
use thiserror::Error;
use user_code::{CodeShape, LINE_BYTES, Loads, Order, UserCode};
use workload::{EngineError, FileSet, Interleaving, Session, prepare};

use self::figures::Figures;
use self::operations::{OPERATIONS, PollutingOperation};
pub use self::preloaded::rounds;
use crate::benchmark::Benchmark;
use crate::experiment::{Experiment, Site};
use crate::failure::failed;
use crate::file_set_kind::FileSetKind;
use crate::findings::Findings;
use crate::live_target::LiveTarget;
use crate::neighbours::ChildrenUse;
use crate::thinning::rank_of;

/// The name of the suite.
pub const SUITE: &str = "pollution";

/// How often each kind of stretch takes its turn in a replicate: a multiple of the eight orders.
const TURNS: u64 = 24;
/// Rounds of a stretch that count.
const ROUNDS: u64 = 56;
/// Rounds before them.
const WARMING_ROUNDS: u64 = 8;
/// All operations of a replicate.
const OPERATIONS_OF_REPLICATE: u64 = TURNS * (ROUNDS + WARMING_ROUNDS);

/// Bytes of instructions, and as many of data, by default: up to twice the usual first-level cache.
const FOOTPRINTS: [u64; 5] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];

/// Why the suite cannot run as requested.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PollutionError {
    /// There is no operation of that name.
    #[error("there is no operation '{name}'{suggestion}; --op takes {}", names().join(", "))]
    NoOperation {
        /// The name given.
        name: String,
        /// The nearest name.
        suggestion: String,
    },
    /// A footprint is no whole number of cache lines.
    #[error("footprints are in cache lines of {LINE_BYTES} bytes, but {bytes} is not: give {}",
        (bytes / LINE_BYTES as u64 + 1) * LINE_BYTES as u64)]
    NotWholeLines {
        /// What was asked for.
        bytes: u64,
    },
    /// A footprint is too large.
    #[error("a footprint of {} is more than code is generated for: give at most 64m",
        size(*bytes as f64, 3))]
    TooLarge {
        /// What was asked for.
        bytes: u64,
    },
}

/// Bytes of data where only those of code are given, and the other way round.
pub const OTHER_BYTES: u64 = 4 << 10;

/// The largest footprint, in bytes.
const MOST_BYTES: u64 = 64 << 20;

fn names() -> Vec<&'static str> {
    OPERATIONS.iter().map(|one| one.name).collect()
}

/// The names of the operations that are interleaved by default.
#[must_use]
pub fn default_operations() -> Vec<String> {
    OPERATIONS.iter().filter(|one| one.is_default).map(|one| one.name.to_owned()).collect()
}

/// What is run by default.
#[must_use]
pub fn declared() -> PollutionOptions {
    PollutionOptions {
        footprints: CodeFootprints::Equal(FOOTPRINTS.to_vec()),
        operations: default_operations(),
        order: LineOrder::Random,
        loads: LoadDependence::Dependent,
    }
}

/// The benchmarks: each operation with each footprint.
///
/// # Errors
/// Which options make no sense.
pub(crate) fn benchmarks(options: &PollutionOptions) -> Result<Vec<Benchmark>, PollutionError> {
    let mut all = Vec::new();
    for (index, name) in options.operations.iter().enumerate() {
        let operation = OPERATIONS.iter().find(|one| one.name == name.as_str());
        let operation = *operation.ok_or_else(|| PollutionError::NoOperation {
            name: name.clone(),
            suggestion: did_you_mean(name, names()),
        })?;
        let made = with_footprints(options, operation)?;
        let rank = u32::try_from(index).unwrap_or(u32::MAX);
        all.extend(made.into_iter().map(|one| Benchmark { rank: one.rank + rank, ..one }));
    }
    Ok(all)
}

/// The code that is put between operations, in each of its footprints.
///
/// # Errors
/// Which footprints make no sense.
pub fn shapes(options: &PollutionOptions) -> Result<Vec<CodeShape>, PollutionError> {
    let pairs = options.footprints.pairs().into_iter();
    pairs.map(|(code_bytes, data_bytes)| shape(options, code_bytes, data_bytes)).collect()
}

/// Code with so many bytes of instructions and of data.
fn shape(
    options: &PollutionOptions,
    code_bytes: u64,
    data_bytes: u64,
) -> Result<CodeShape, PollutionError> {
    let lines = |bytes: u64| {
        if bytes > MOST_BYTES {
            return Err(PollutionError::TooLarge { bytes });
        }
        let lines = bytes / LINE_BYTES as u64;
        let is_whole = lines > 0 && bytes.is_multiple_of(LINE_BYTES as u64);
        let lines = u32::try_from(lines).ok().filter(|_| is_whole);
        lines.ok_or(PollutionError::NotWholeLines { bytes })
    };
    Ok(CodeShape {
        code_lines: lines(code_bytes)?,
        data_lines: lines(data_bytes)?,
        order: match options.order {
            LineOrder::Sequential => Order::Sequential,
            LineOrder::Random => Order::Random,
        },
        loads: match options.loads {
            LoadDependence::Independent => Loads::Independent,
            LoadDependence::Dependent => Loads::Dependent,
        },
    })
}

/// The benchmarks of one operation.
fn with_footprints(
    options: &PollutionOptions,
    operation: PollutingOperation,
) -> Result<Vec<Benchmark>, PollutionError> {
    let one = |code_bytes: u64, data_bytes: u64| {
        Ok(Polluted { operation, shape: shape(options, code_bytes, data_bytes)? })
    };
    let PollutingOperation { name, title, .. } = operation;
    let of = |bytes: u64| size(bytes as f64, 3);
    let around = format!("code around {title}");
    match &options.footprints {
        CodeFootprints::Equal(all) => {
            let made: Result<Vec<_>, _> = all.iter().map(|&both| one(both, both)).collect();
            Ok(curve(name, &around, "instructions and data, each", all, made?))
        }
        CodeFootprints::Each { code_bytes, data_bytes } if code_bytes.len() > 1 => {
            let with = |&data: &u64| {
                let made: Result<Vec<_>, _> =
                    code_bytes.iter().map(|&code| one(code, data)).collect();
                let name = format!("{name}-data-{data}");
                let title = format!("{around}, with {} of data", of(data));
                let mut made = curve(&name, &title, "instructions", code_bytes, made?);
                for point in made.iter_mut().filter_map(|one| one.curve.as_mut()) {
                    point.family = (data_bytes.len() > 1).then(|| CurveFamily {
                        family: operation.name.to_owned(),
                        title: around.clone(),
                        axis: "data".to_owned(),
                        unit: "bytes".to_owned(),
                        value: data as f64,
                    });
                }
                Ok(made)
            };
            let curves: Result<Vec<_>, _> = data_bytes.iter().map(with).collect();
            Ok(curves?.concat())
        }
        CodeFootprints::Each { code_bytes, data_bytes } => {
            let code = code_bytes.first().copied().unwrap_or(OTHER_BYTES);
            let made: Result<Vec<_>, _> = data_bytes.iter().map(|&data| one(code, data)).collect();
            let name = format!("{name}-code-{code}");
            let title = format!("{around}, with {} of instructions", of(code));
            Ok(curve(&name, &title, "data", data_bytes, made?))
        }
    }
}

/// The points of a curve.
fn curve(
    name: &str,
    title: &str,
    axis: &str,
    bytes: &[u64],
    points: Vec<Polluted>,
) -> Vec<Benchmark> {
    let count = bytes.len();
    let of = |(index, (&bytes, polluted)): (usize, (&u64, Polluted))| {
        let point = CurvePoint {
            curve: name.to_owned(),
            title: title.to_owned(),
            axis: axis.to_owned(),
            unit: "bytes".to_owned(),
            value: bytes as f64,
            family: None,
        };
        Benchmark {
            dimension: Dimension::Pollution,
            cache_state: CacheState::Warm,
            curve: (count > 1).then_some(point),
            rank: rank_of(index, count),
            ..Benchmark::from_experiment(&format!("{name}-{bytes}"), &polluted.title(), polluted)
        }
    };
    bytes.iter().zip(points).enumerate().map(of).collect()
}

/// An operation after each round of code.
#[derive(Clone, Copy, Debug)]
struct Polluted {
    operation: PollutingOperation,
    shape: CodeShape,
}

impl Polluted {
    fn title(&self) -> String {
        let of = |lines: u32| size(f64::from(lines) * LINE_BYTES as f64, 3);
        let [code, data] = [self.shape.code_lines, self.shape.data_lines].map(of);
        let footprint = match code == data {
            true => format!("{code} of instructions and of data"),
            false => format!("{code} of instructions, {data} of data"),
        };
        format!("code around {}, {footprint}", self.operation.title)
    }

    /// The code, the same for all targets of a block.
    fn code(&self, seed: u64) -> Result<UserCode, Failure> {
        UserCode::new(&self.shape, seed).map_err(|why| Failure::Cell { why: why.to_string() })
    }
}

impl Experiment for Polluted {
    fn metrics(&self) -> Vec<MetricDefinition> {
        Figures::metrics()
    }

    fn metrics_on(&self, live: &LiveTarget) -> Vec<MetricDefinition> {
        let further = are_counted(live).then(counts::metrics);
        Figures::metrics().into_iter().chain(further.into_iter().flatten()).collect()
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let CodeShape { code_lines, data_lines, order, loads } = self.shape;
        let work = self.code(0).map(|code| code.work());
        let all = [
            ("operation", json!(self.operation.name)),
            ("code_lines", json!(code_lines)),
            ("data_lines", json!(data_lines)),
            ("line_bytes", json!(LINE_BYTES)),
            ("order", json!(if order == Order::Random { "random" } else { "sequential" })),
            ("loads", json!(if loads == Loads::Dependent { "dependent" } else { "independent" })),
            ("loads_per_round", json!(work.as_ref().map_or(0, |work| work.loads))),
            ("instructions_per_round", json!(work.as_ref().map_or(0, |work| work.instructions))),
            ("rounds", json!(TURNS * ROUNDS)),
            ("rounds_per_stretch", json!(ROUNDS)),
            ("threads", json!(1)),
        ];
        let touched = followed::followed(&self.shape).into_iter().flat_map(|touched| {
            let lines = [touched.code_lines, touched.data_lines];
            ["code_lines_executed", "data_lines_accessed"].into_iter().zip(lines.map(Value::from))
        });
        let all = all.into_iter().chain(touched);
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn working_set_bytes(&self) -> Option<u64> {
        Some(u64::from(self.shape.code_lines + self.shape.data_lines) * LINE_BYTES as u64)
    }

    fn file_set(&self) -> Option<FileSetKind> {
        Some(self.operation.file_set(OPERATIONS_OF_REPLICATE))
    }

    fn uses_its_file_set_alone(&self) -> bool {
        true
    }

    fn estimate(&self) -> Duration {
        /// Roughly what a round takes beyond its lines, with an operation, and per line.
        const ROUND_NS: u64 = 2_000;
        const LINE_NS: u64 = 4;
        let lines = u64::from(self.shape.code_lines) + u64::from(self.shape.data_lines);
        Duration::from_nanos(4 * OPERATIONS_OF_REPLICATE * (ROUND_NS + LINE_NS * lines))
    }

    fn check(&self, _live: &LiveTarget) -> Result<(), String> {
        UserCode::nothing().map_err(|why| why.to_string())?;
        followed::check(&self.shape)
    }

    fn execute(&self, site: &Site<'_>) -> Result<Findings, Failure> {
        let file_set = site.file_set(self.operation.file_set(OPERATIONS_OF_REPLICATE))?;
        let mut session = prepare(&self.operation.replicate(), file_set, site.seed)
            .map_err(|error| failed(&error))?;
        site.live.target.sync().map_err(|error| failed(&error))?;
        let done = match site.live.target.spec().door() {
            Some(ArenaDoor::Preload) => {
                preloaded::execute(self.operation, self.shape, file_set, site)
            }
            None | Some(ArenaDoor::Library) => self.rounds(site, &mut session),
        };
        let left = done.as_ref().map_or(Ok(()), |_| self.check_left(file_set, site.live));
        let restored = session.restore();
        let Rounds { metrics, elapsed_ns, children } = done?;
        left?;
        restored.map_err(|error| failed(&error))?;
        Ok(Findings {
            metrics,
            children,
            operations: Some(OPERATIONS_OF_REPLICATE),
            elapsed_ns: elapsed_ns.max(1),
            ..Findings::default()
        })
    }
}

/// What the rounds of a replicate gave.
#[derive(Debug)]
struct Rounds {
    /// The values of the metrics.
    metrics: Vec<f64>,
    elapsed_ns: u64,
    /// What the processes used that executed them, if others than this one did.
    children: ChildrenUse,
}

/// How the rounds of a replicate and its operations take turns.
fn plan<'a>(code: &'a UserCode, no_code: &'a UserCode, counts: bool) -> Interleaving<'a> {
    let (turns, rounds, warming_rounds) = (TURNS, ROUNDS, WARMING_ROUNDS);
    Interleaving { code, no_code, turns, rounds, warming_rounds, counts }
}

/// Whether the processor counts during the rounds on this target.
fn are_counted(live: &LiveTarget) -> bool {
    live.target.library().is_none() && counts::are_there()
}

/// Why there are no rounds. Others may use the processor's counters, which is no fault.
fn no_rounds(error: &EngineError) -> Failure {
    if let EngineError::Counters(why @ CountersError::Taken) = error {
        return Failure::Disturbed { why: why.to_string(), evidence: Box::default() };
    }
    failed(error)
}

impl Polluted {
    /// The rounds, executed in this process.
    fn rounds(&self, site: &Site<'_>, session: &mut Session) -> Result<Rounds, Failure> {
        let code = self.code(site.block_seed)?;
        let no_code = UserCode::nothing().map_err(|why| Failure::Cell { why: why.to_string() })?;
        let plan = plan(&code, &no_code, are_counted(site.live));
        let measured = session.interleave(&plan, site.clock, site.stop);
        let measured = measured.map_err(|error| no_rounds(&error))?.ok_or(Failure::Interrupted)?;
        let mut metrics = Figures::new(&measured, site.clock).values();
        metrics.extend(measured.counted.iter().flat_map(counts::values));
        Ok(Rounds {
            metrics,
            elapsed_ns: site.clock.nanos(measured.elapsed_ticks),
            children: ChildrenUse::default(),
        })
    }

    /// Checks, by calls of the library, that the operations were done on files in the arena. What
    /// else is reached by system calls in this process has nowhere else to go.
    fn check_left(&self, file_set: &FileSet, live: &LiveTarget) -> Result<(), Failure> {
        let (Some(entries), Some(files)) =
            (self.operation.entries_after(OPERATIONS_OF_REPLICATE), live.target.library())
        else {
            return Ok(());
        };
        let directory = file_set.directory(0);
        let inside = directory.strip_prefix(live.target.root()).unwrap_or(&directory);
        let left = files.read_directory(Path::new("/").join(inside));
        let left = left.map_err(|error| failed(&error))?.len() as u64;
        let why = || {
            let title = self.operation.title;
            Failure::Cell { why: format!("{title} has left {left} entries, not {entries}") }
        };
        if left == entries { Ok(()) } else { Err(why()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(footprints: CodeFootprints) -> Result<Vec<String>, PollutionError> {
        let operations = vec!["stat".to_owned()];
        let options = PollutionOptions { footprints, operations, ..declared() };
        Ok(benchmarks(&options)?.into_iter().map(|one| one.name).collect())
    }

    #[test]
    fn footprints_make_curves_along_one_of_them() {
        let each = |code: &[u64], data: &[u64]| {
            let (code_bytes, data_bytes) = (code.to_vec(), data.to_vec());
            names_of(CodeFootprints::Each { code_bytes, data_bytes }).expect("it can be")
        };
        assert_eq!(each(&[64], &[128]), ["stat-code-64-128"]);
        assert_eq!(each(&[64], &[64, 128]), ["stat-code-64-64", "stat-code-64-128"]);
        assert_eq!(each(&[64, 128], &[192]), ["stat-data-192-64", "stat-data-192-128"]);
        assert_eq!(each(&[64, 128], &[64, 192]).len(), 4);
        let equal = names_of(CodeFootprints::Equal(vec![64, 128])).expect("it can be");
        assert_eq!(equal, ["stat-64", "stat-128"]);
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        let refusal = |bytes| {
            names_of(CodeFootprints::Equal(vec![bytes])).expect_err("it cannot be").to_string()
        };
        assert!(refusal(100).ends_with("but 100 is not: give 128"), "{}", refusal(100));
        assert!(refusal(0).ends_with("give 64"), "{}", refusal(0));
        assert!(refusal(1 << 40).ends_with("give at most 64m"), "{}", refusal(1 << 40));
        let options = PollutionOptions { operations: vec!["stats".to_owned()], ..declared() };
        let error = benchmarks(&options).expect_err("there is none").to_string();
        assert!(error.contains("(did you mean `stat`?)"), "{error}");
    }
}
