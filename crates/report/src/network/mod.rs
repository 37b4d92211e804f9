//! A network file system in every state of its caches: what it asks of its server in each, and what
//! a cache saves.

mod answers;
mod break_even;
#[cfg(test)]
mod tests;
mod text;

use record::network::{
    CACHE_HIT, CACHE_READS, CACHE_WRITES, CULLED, Counted, ELAPSED_TIME, EMULATED_TIME, HELD,
    OBJECTS, OPERATION_PREFIX, OTHER_RPCS, RPCS, SERVER_BYTES, is_network_bound, left_out,
    rpc_metric, values,
};
use record::{Cell, Line, Replicate, Run, RunKind};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub use text::render_network;

/// States by their names.
const NONE: &str = "none";
const COLD: &str = "cold";
const HOT: &str = "hot";

/// What such a run shows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NetworkDocument {
    /// What a cache saves and costs, a sentence per benchmark.
    pub answers: Vec<String>,
    /// What was counted, benchmark by benchmark.
    pub benchmarks: Vec<NetworkBenchmark>,
    /// What was not measured, or thrown away, and why.
    pub left_out: Vec<String>,
    /// What the figures are.
    pub notes: String,
}

/// What was counted of one benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NetworkBenchmark {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// How much it reads or writes.
    pub subject: String,
    /// The states, in their order.
    pub states: Vec<StateCounts>,
}

/// What was counted in one state.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StateCounts {
    /// The target: the file system in that state.
    pub target: String,
    /// The state alone.
    pub state: String,
    /// Replicates whose state was proved; where there are none, there are no figures.
    pub replicates: u32,
    /// What they counted.
    pub figures: Option<NetworkFigures>,
    /// What came of a cache that is too small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub culled: Option<String>,
}

/// The counts of a state.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NetworkFigures {
    /// Calls to the server.
    pub rpcs: Counted,
    /// Those that read content.
    pub reads: Counted,
    /// Bytes of files read from the server.
    pub server_bytes: Counted,
    /// Reads from the cache.
    pub cache_reads: Counted,
    /// Writes to the cache.
    pub cache_writes: Counted,
    /// Time in nanoseconds, in guests by their clock.
    pub time_ns: Counted,
    /// Whether it was the link that took this time, in every replicate.
    pub is_time_of_link: bool,
    /// Calls by operation, the most frequent first: medians.
    pub by_operation: Vec<OperationCount>,
}

/// How often an operation was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OperationCount {
    /// Its name in the protocol; `others` for what has no metric of its own.
    pub operation: String,
    /// How often: the median.
    pub count: f64,
}

/// What a run of the suite shows; none of another.
#[must_use]
pub fn network(run: &Run) -> Option<NetworkDocument> {
    if run.manifest.run.kind != RunKind::Networked {
        return None;
    }
    // A search adds its cells as it goes.
    if run.manifest.cells.is_empty() {
        return break_even::document(run);
    }
    let mut benchmarks: Vec<NetworkBenchmark> = Vec::new();
    for (number, cell) in (0..).zip(&run.manifest.cells) {
        let state = state(run, number, cell);
        match benchmarks.iter_mut().find(|benchmark| benchmark.name == cell.benchmark) {
            Some(benchmark) => benchmark.states.push(state),
            None => benchmarks.push(NetworkBenchmark {
                name: cell.benchmark.clone(),
                title: cell.title.clone(),
                subject: subject(cell),
                states: vec![state],
            }),
        }
    }
    let answers = benchmarks.iter().filter_map(answers::sentence).collect();
    let notes = notes(run.manifest.cells.iter().any(is_emulated));
    Some(NetworkDocument { answers, benchmarks, left_out: left_out(run), notes })
}

fn is_emulated(cell: &Cell) -> bool {
    cell.metrics.iter().any(|metric| metric.name == EMULATED_TIME)
}

/// What the figures are.
fn notes(is_emulated: bool) -> String {
    let counts = "Counts are medians over the runs; where runs differ, the smallest and the \
                  largest are in brackets. Only replicates whose state was proved are counted. ";
    let times = match is_emulated {
        true => {
            "Times are emulated: they depend on how fast this computer emulates guests. Only times \
             marked \"link\" were taken by the link; only these can be compared."
        }
        false => "Times are medians, too.",
    };
    format!("{counts}{times}")
}

/// How much a benchmark works on.
fn subject(cell: &Cell) -> String {
    let number = |name: &str| cell.parameters.get(name).and_then(Value::as_u64);
    let megabytes = number("bytes").unwrap_or(0) as f64 / 1e6;
    match (number("directories"), number("files")) {
        (Some(directories), Some(files)) => {
            format!("{directories} directories, {files} files, {megabytes:.1} MB")
        }
        _ => format!("{megabytes:.1} MB"),
    }
}

fn state<'a>(run: &'a Run, number: u32, cell: &Cell) -> StateCounts {
    let of_cell = |line: &'a Line| {
        let Line::Replicate(one) = line else { return None };
        (one.cell == number).then_some(&**one)
    };
    let replicates: Vec<&Replicate> = run.lines.iter().filter_map(of_cell).collect();
    let state = cell.parameters.get("state").and_then(Value::as_str).unwrap_or_default();
    StateCounts {
        target: cell.target.clone(),
        state: state.to_owned(),
        replicates: u32::try_from(replicates.len()).unwrap_or(u32::MAX),
        figures: figures(cell, &replicates),
        culled: culled(cell, &replicates, state),
    }
}

/// How many files a cache that is too small removed and held, and what it had.
fn culled(cell: &Cell, replicates: &[&Replicate], state: &str) -> Option<String> {
    let count = |name: &str| Counted::from_values(&values(cell, replicates, name));
    let tenths = |count: Counted, unit: f64| {
        let rounded = |value: f64| (value / unit * 10.0).round() / 10.0;
        let Counted { median, least, most } = count;
        Counted { median: rounded(median), least: rounded(least), most: rounded(most) }
    };
    let hit = tenths(count(CACHE_HIT)?, 1.0);
    // A new cache is empty.
    let had = match state {
        COLD => String::new(),
        _ => format!("{hit} % of the bytes came from the cache; "),
    };
    Some(format!(
        "{had}it culled {} files and held {} at the end, with {} MB of content",
        count(CULLED)?,
        count(OBJECTS)?,
        tenths(count(HELD)?, 1e6),
    ))
}

fn figures(cell: &Cell, replicates: &[&Replicate]) -> Option<NetworkFigures> {
    let count = |name: &str| Counted::from_values(&values(cell, replicates, name));
    let none = Counted { median: 0.0, least: 0.0, most: 0.0 };
    let is_bound = |one: &&Replicate| {
        is_network_bound(|name| values(cell, &[one], name).first().copied().unwrap_or(0.0))
    };
    Some(NetworkFigures {
        rpcs: count(RPCS)?,
        reads: reads(cell, replicates).unwrap_or(none),
        server_bytes: count(SERVER_BYTES).unwrap_or(none),
        cache_reads: count(CACHE_READS).unwrap_or(none),
        cache_writes: count(CACHE_WRITES).unwrap_or(none),
        time_ns: count(EMULATED_TIME).or_else(|| count(ELAPSED_TIME))?,
        is_time_of_link: replicates.iter().all(is_bound),
        by_operation: by_operation(cell, replicates),
    })
}

/// Calls that read content: NFS 4.2 has two of them, and newer kernels use the second.
fn reads(cell: &Cell, replicates: &[&Replicate]) -> Option<Counted> {
    let of = |one: &&Replicate| -> f64 {
        let named =
            ["READ", "READ_PLUS"].iter().map(|name| values(cell, &[*one], &rpc_metric(name)));
        named.flatten().sum()
    };
    Counted::from_values(&replicates.iter().map(of).collect::<Vec<f64>>())
}

/// Metrics whose names begin like those of operations but are not operations.
const NO_OPERATIONS: [&str; 4] = ["rpc_timeouts", "rpc_errors", "rpc_sent", "rpc_received"];

fn by_operation(cell: &Cell, replicates: &[&Replicate]) -> Vec<OperationCount> {
    let of_metric = |name: &str| {
        let operation = name.strip_prefix(OPERATION_PREFIX)?;
        if NO_OPERATIONS.contains(&name) {
            return None;
        }
        let operation =
            if name == OTHER_RPCS { "others".to_owned() } else { operation.to_uppercase() };
        let count = Counted::from_values(&values(cell, replicates, name))?.median;
        (count > 0.0).then_some(OperationCount { operation, count })
    };
    let mut counts: Vec<OperationCount> =
        cell.metrics.iter().filter_map(|metric| of_metric(&metric.name)).collect();
    counts.sort_by(|one, other| other.count.total_cmp(&one.count));
    counts
}
