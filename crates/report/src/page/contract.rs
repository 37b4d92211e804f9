//! The input of the page: the contract between this crate and the page's TypeScript.
//!
//! The JSON schema of [`Payload`] is checked in as `docs/page.schema.json`, and the types of
//! `web/src/contract.ts` are generated from it. Bulk numbers are not in the JSON but in one block
//! of bytes after it, which [`ArrayRef`] points into.

use footprint::cachemap::CachemapOf;
use record::{Document, Doubt, Weight};
use schemars::JsonSchema;
use serde::Serialize;

use crate::check::CheckDocument;
use crate::compare::CompareDocument;
use crate::footprint::documents::Difference;
use crate::network::NetworkDocument;
use crate::sentences::{LoadLine, Sentence};

/// Version of the contract: a page refuses a payload of another version.
pub const PAGE_VERSION: u32 = 3;

/// Everything a page shows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Payload {
    /// [`PAGE_VERSION`] of the program that wrote it.
    pub page_version: u32,
    /// Version of the program that wrote it.
    pub written_by: String,
    /// The runs, in the order in which they were given.
    pub runs: Vec<PageRun>,
    /// How targets, or runs, compare over all benchmarks.
    pub effects: Effects,
    /// The stacks that cachemaps and flame graphs refer to, all of them together.
    pub stacks: Stacks,
    /// Cache lines touched, in the order of the runs, their targets and operations.
    pub cachemaps: Vec<PageCachemap>,
    /// Where work was done, by call stack, in the order of the runs, their targets and operations.
    pub flame_graphs: Vec<FlameGraph>,
    /// The kinds of warnings that the runs have.
    pub doubts: Vec<PageDoubt>,
    /// The traces compared, on a page that has no runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<ComparedTraces>,
}

/// What the warnings of a kind mean for the reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageDoubt {
    /// The kind.
    pub kind: Doubt,
    /// In a few words.
    pub title: String,
    /// What it means, and what avoids it.
    pub means: String,
    /// What it does to what is read.
    pub weight: Weight,
}

/// Traces compared side by side; the page holds their cachemaps and flame graphs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparedTraces {
    /// What changed, for each pair of traces and each operation; targets are named as in the
    /// cachemaps.
    pub differences: Vec<Difference>,
    /// Which caches were simulated, in a sentence.
    pub caches: Option<String>,
    /// Reasons to doubt the traces.
    pub warnings: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PageRun {
    /// Its name on the page, which no other run there has.
    pub name: String,
    /// What `--format json` prints for it, as text that the page offers unchanged.
    pub document: TextRef,
    /// What `--format csv` prints for it.
    pub csv: TextRef,
    /// The command line that repeats it, quoted for a shell.
    pub command: String,
    /// The seed, as text: it can have more digits than a JavaScript number.
    pub seed: String,
    /// What it shows, in one sentence.
    pub answer: String,
    /// What was not measured, in short.
    pub left_out: Vec<String>,
    /// What it says of loads.
    pub loads: Vec<LoadLine>,
    /// Which known mistakes it contains, if it is a classic benchmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mistakes: Option<CheckDocument>,
    /// What a network file system's states cost, if that is what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkDocument>,
    /// The sentences about it, in the order of the report.
    pub prose: Vec<Sentence>,
    /// What the document does not hold about each cell, in the document's order.
    pub cells: Vec<PageCell>,
}

/// What the document does not hold about a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PageCell {
    /// Its replicates, in order of execution.
    pub replicates: Option<Replicates>,
    /// Histogram of all operations of all replicates.
    pub histogram: Option<HistogramArrays>,
    /// How operations developed over time, from the start of a replicate.
    pub timeline: Option<TimelineArrays>,
    /// How the time per operation developed with the number of operations, from the first one after
    /// a state was made.
    pub course: Option<CourseArrays>,
}

/// Time per operation by operation number: arrays of equal length, one entry per stretch of
/// operations.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CourseArrays {
    /// Number of stretches in the start, before the operations that are measured.
    pub starts: u32,
    /// Number of the last operation in each stretch, counted over all threads.
    pub operation: ArrayRef,
    /// Mean time per operation in each stretch, in nanoseconds: the median over replicates.
    pub time_ns: ArrayRef,
    /// Lower end of the interval of that median; NaN if there is none.
    pub time_low_ns: ArrayRef,
    /// Upper end of the interval of that median; NaN if there is none.
    pub time_high_ns: ArrayRef,
}

/// Replicates of one cell, in order of execution: arrays of equal length.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Replicates {
    /// Budget used when each began, in seconds.
    pub at_s: ArrayRef,
    /// Block of each, from 0.
    pub block: ArrayRef,
    /// Value of the primary metric in each.
    pub value: ArrayRef,
    /// Bytes read from the device during each; NaN if there is no device.
    pub device_read_bytes: ArrayRef,
}

/// A histogram: arrays of equal length, one entry per non-empty bucket.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HistogramArrays {
    /// Smallest value in each bucket, in nanoseconds.
    pub low_ns: ArrayRef,
    /// Smallest value above each bucket, in nanoseconds.
    pub end_ns: ArrayRef,
    /// Number of operations in each bucket.
    pub count: ArrayRef,
}

/// Log2 histograms per time slice, over all replicates whose slices can be brought to one width.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimelineArrays {
    /// Width of a slice, in nanoseconds.
    pub slice_ns: f64,
    /// Number of slices.
    pub slices: u32,
    /// Number of replicates included.
    pub replicates: u32,
    /// The smallest exponent: row 0 holds latencies from 2 to this power upwards, in nanoseconds.
    pub log2_first: u32,
    /// Number of rows in `count`, one per exponent.
    pub rows: u32,
    /// Number of operations, row by row, and slice by slice within each row.
    pub count: ArrayRef,
    /// Operations per second in each slice: the median over replicates; NaN if there is none.
    pub rate: ArrayRef,
    /// Lower end of the interval of that median; NaN if there is none.
    pub rate_low: ArrayRef,
    /// Upper end of the interval of that median; NaN if there is none.
    pub rate_high: ArrayRef,
}

/// How targets, or runs, compare over all benchmarks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Effects {
    /// What `fsprism compare --format json` prints; none if nothing can be compared.
    pub comparison: Option<CompareDocument>,
    /// Why there is no comparison.
    pub refused: Option<String>,
    /// What changed between the runs: the whole, the largest difference, and why to doubt them.
    /// Empty if there is one run, or nothing to compare.
    pub changed: Vec<String>,
}

/// Call stacks as one tree, so that stacks shared by targets and operations are stored only once.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stacks {
    /// Names of frames, and of what is in cache lines.
    pub names: Vec<String>,
    /// For each stack, the stack below its innermost frame, which always has a lower index; the
    /// first stack has no frame and refers to itself (u32).
    pub parent: ArrayRef,
    /// For each stack, the innermost frame: an index into `names` (u32).
    pub name: ArrayRef,
}

/// What a cachemap or a flame graph shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Traced {
    /// Index of the run among the page's runs; 0 on a page without runs.
    pub run: u32,
    /// The label of the target, or what was traced.
    pub target: String,
    /// The operation.
    pub operation: String,
    /// Which of its repetitions, from 1: the one whose counts are closest to the medians.
    pub repetition: u32,
    /// How many repetitions were traced.
    pub repetitions: u32,
}

/// The cache lines touched, byte by byte.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Cachemap")]
pub struct PageCachemap {
    /// What it shows, in words.
    pub title: String,
    /// What was traced.
    pub traced: Traced,
    /// Whether lines hold instructions or data.
    pub of: CachemapOf,
    /// Bytes per line.
    pub line_bytes: u32,
    /// Address of each line, ascending (u64).
    pub address: ArrayRef,
    /// What is in each line: an index into the names of [`Stacks`] (u32).
    pub name: ArrayRef,
    /// How often each byte was touched, line by line (u32).
    pub count: ArrayRef,
    /// For each line, the index of its first touch, followed by one entry for the end of the last
    /// line's touches (u32).
    pub touches: ArrayRef,
    /// For each touch, the stack (u32).
    pub touch_stack: ArrayRef,
    /// For each touch, a mask of the bytes touched: bit 0 is the line's first byte (u64).
    pub touch_bytes: ArrayRef,
}

/// Call stacks with the work done in each.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlameGraph {
    /// What it shows, in words.
    pub title: String,
    /// What was traced.
    pub traced: Traced,
    /// What frames stand for.
    pub frames: FlameFrames,
    /// The stacks that did work themselves, ascending (u32).
    pub stack: ArrayRef,
    /// The work done in them, by each way of counting.
    pub weights: Vec<FlameWeight>,
}

/// What frames of a flame graph stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlameFrames {
    /// Functions.
    Functions,
    /// Categories of functions: coarse-grained stacks.
    Categories,
}

/// One way to count work.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlameWeight {
    /// Its name on the command line: `l1i_misses`.
    pub name: String,
    /// What is counted, in words: `instructions`.
    pub unit: String,
    /// For each stack, its own work, excluding that of the functions it called (f64).
    pub own: ArrayRef,
}

/// Where an array is in the block of bytes, which is little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArrayRef {
    /// The type of its elements.
    #[serde(rename = "type")]
    pub element: Element,
    /// Offset of the first byte, a multiple of 8.
    pub offset: u32,
    /// Number of elements.
    pub length: u32,
}

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    /// 64-bit binary floating point.
    F64,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
}

/// Where a text is in the block of bytes, encoded in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TextRef {
    /// Offset of the first byte.
    pub offset: u32,
    /// Number of bytes.
    pub length: u32,
}

/// The root of the schema: the payload, and the document whose text it holds.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Contract {
    payload: Payload,
    document: Document,
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;

    use super::*;

    /// The schema that is checked in is the one that the types give. To renew it after a change:
    /// `FSPRISM_RENEW_SCHEMA=1 cargo test -p fsprism-report contract`.
    #[test]
    fn the_checked_in_schema_is_that_of_the_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/page.schema.json");
        let text = serde_json::to_string_pretty(&schema_for!(Contract)).unwrap();
        if std::env::var_os("FSPRISM_RENEW_SCHEMA").is_some() {
            std::fs::write(path, format!("{text}\n")).unwrap();
        }
        let checked_in = std::fs::read_to_string(path).unwrap_or_default();
        assert!(checked_in.trim_end() == text, "docs/page.schema.json is not up to date");
    }
}
