//! What the page is given: the contract between this crate and the page's TypeScript.
//!
//! The JSON schema of [`Payload`] is checked in as `docs/page.schema.json`, and the types of
//! `web/src/contract.ts` are generated from it. Numbers in bulk do not stand in the JSON but in one
//! block of bytes behind it, which [`ArrayRef`] points into.

use footprint::cachemap::CachemapOf;
use record::{Dimension, Document};
use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::CompareDocument;
use crate::footprint::documents::Difference;

/// Version of the contract: a page refuses a payload of another version.
pub const PAGE_VERSION: u32 = 1;

/// Everything that a page shows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Payload {
    /// [`PAGE_VERSION`] of the program that wrote it.
    pub page_version: u32,
    /// Version of the program that wrote it.
    pub written_by: String,
    /// The runs, in the order in which they were named.
    pub runs: Vec<PageRun>,
    /// How targets, or runs, compare over all benchmarks.
    pub effects: Effects,
    /// The stacks that cachemaps and flame graphs refer to, all of them together.
    pub stacks: Stacks,
    /// Cache lines that were touched, of each run's targets and operations in their order.
    pub cachemaps: Vec<Cachemap>,
    /// Where work was done, by call stack, of each run's targets and operations in their order.
    pub flame_graphs: Vec<FlameGraph>,
    /// What a page without runs is about: traces beside each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<ComparedTraces>,
}

/// Traces beside each other, whose cachemaps and flame graphs the page holds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparedTraces {
    /// What changed, for each pair of traces operation by operation; targets are called as those
    /// of the cachemaps.
    pub differences: Vec<Difference>,
    /// Which caches were simulated, in a sentence.
    pub caches: Option<String>,
    /// What makes the traces doubtful.
    pub warnings: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PageRun {
    /// What it is called on the page, unlike any other of its runs.
    pub name: String,
    /// What `--format json` prints of it, as text: the page offers this text as it is.
    pub document: TextRef,
    /// What `--format csv` prints of it.
    pub csv: TextRef,
    /// The command line that measures it again, quoted for a shell.
    pub command: String,
    /// The seed, as text: it can have more digits than a number of JavaScript.
    pub seed: String,
    /// What is said of it, in the order of the report.
    pub prose: Vec<Said>,
    /// More of each cell than the document has, in its order.
    pub cells: Vec<PageCell>,
}

/// One thing that is said of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Said {
    /// What kind of thing it is.
    pub kind: SaidKind,
    /// The dimension it belongs to, if it does to one.
    pub dimension: Option<Dimension>,
    /// The benchmark, or the curve, it is about.
    pub subject: Option<String>,
    /// The targets it names.
    pub targets: Vec<String>,
    /// The sentence.
    pub text: String,
}

/// What kind of thing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SaidKind {
    /// Where, when and on which conditions was measured.
    Condition,
    /// Of a difference that is real at the run's level of confidence.
    Real,
    /// Of targets that could not be told apart.
    NotToldApart,
    /// Of figures that nothing compares: there is one target, or too little data, or nothing to be
    /// better in.
    Described,
    /// Of a cliff, or of its absence.
    Cliff,
    /// Of a law along a curve.
    Law,
    /// A warning.
    Warning,
    /// Of what was refused: not measured, failed, or thrown away.
    Refused,
    /// Of how sure the report is.
    Sureness,
}

/// More of a cell than the document has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PageCell {
    /// Its replicates, in the order in which they were executed.
    pub replicates: Option<Replicates>,
    /// All operations of all replicates.
    pub histogram: Option<HistogramArrays>,
    /// How they developed from a replicate's beginning on.
    pub timeline: Option<TimelineArrays>,
    /// How their time developed by their number, from the first after a state was made.
    pub course: Option<CourseArrays>,
}

/// The time of operations by their number: arrays of one length, an entry per stretch of
/// operations.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CourseArrays {
    /// Stretches of the start, before those that are measured.
    pub starts: u32,
    /// The number of the last operation of each stretch, of all threads together.
    pub operation: ArrayRef,
    /// The mean time of an operation in it, in nanoseconds: the median over replicates.
    pub time_ns: ArrayRef,
    /// The lower end of the interval of that median; not a number where there is none.
    pub time_low_ns: ArrayRef,
    /// The upper end of the interval of that median.
    pub time_high_ns: ArrayRef,
}

/// Replicates of one cell, in the order in which they were executed: arrays of one length.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Replicates {
    /// When each began, in seconds of the run's budget.
    pub at_s: ArrayRef,
    /// The block of each, from 0.
    pub block: ArrayRef,
    /// The primary metric of each.
    pub value: ArrayRef,
    /// Bytes that the device read during each; not a number where there is no device.
    pub device_read_bytes: ArrayRef,
}

/// A histogram: arrays of one length, an entry per bucket that holds something.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HistogramArrays {
    /// The least value of each bucket, in nanoseconds.
    pub low_ns: ArrayRef,
    /// The least value beyond each bucket, in nanoseconds.
    pub end_ns: ArrayRef,
    /// Operations in each.
    pub count: ArrayRef,
}

/// Log2 histograms per slice of time, over all replicates whose slices make one width.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimelineArrays {
    /// Width of a slice, in nanoseconds.
    pub slice_ns: f64,
    /// Slices.
    pub slices: u32,
    /// Replicates that it is made of.
    pub replicates: u32,
    /// The least exponent: row 0 holds latencies from 2 to this power, in nanoseconds.
    pub log2_first: u32,
    /// Rows of `count`, one per exponent.
    pub rows: u32,
    /// Operations, row by row, in each row slice by slice.
    pub count: ArrayRef,
    /// Per slice, operations per second: the median over replicates.
    pub rate: ArrayRef,
    /// The lower end of the interval of that median; not a number where there is none.
    pub rate_low: ArrayRef,
    /// The upper end of the interval of that median.
    pub rate_high: ArrayRef,
}

/// How targets, or runs, compare over all benchmarks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Effects {
    /// What `fsprism compare --format json` prints; none where nothing can be compared.
    pub comparison: Option<CompareDocument>,
    /// Why there is none.
    pub refused: Option<String>,
}

/// Call stacks as one tree, so that what targets and operations share stands there once.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stacks {
    /// Names: of frames, and of what lies in lines.
    pub names: Vec<String>,
    /// Of each stack, the stack below its innermost frame, which stands before it; the first has no
    /// frame and is its own (u32).
    pub parent: ArrayRef,
    /// Of each stack, the innermost frame: a place in `names` (u32).
    pub name: ArrayRef,
}

/// What a cachemap or a flame graph is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Traced {
    /// The run, by its place among the page's.
    pub run: u32,
    /// The label of the target, or what was traced.
    pub target: String,
    /// The operation.
    pub operation: String,
    /// Which repetition of it, from 1: the one whose counts are nearest to their medians.
    pub repetition: u32,
    /// How many repetitions were traced.
    pub repetitions: u32,
}

/// The lines of a cache that were touched, byte by byte.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cachemap {
    /// What it shows, in words.
    pub title: String,
    /// What was traced.
    pub traced: Traced,
    /// Whether lines hold instructions or data.
    pub of: CachemapOf,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Address of each line, ascending (u64).
    pub address: ArrayRef,
    /// What lies in each line: a place in the names of [`Stacks`] (u32).
    pub name: ArrayRef,
    /// How often each byte was touched, line by line (u32).
    pub count: ArrayRef,
    /// For each line the first of its touches, and one more for the end of the last line's (u32).
    pub touches: ArrayRef,
    /// Of each touch, the stack (u32).
    pub touch_stack: ArrayRef,
    /// Of each touch, the bytes touched: bit 0 is the line's first (u64).
    pub touch_bytes: ArrayRef,
}

/// Call stacks with what was done in each.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlameGraph {
    /// What it shows, in words.
    pub title: String,
    /// What was traced.
    pub traced: Traced,
    /// What frames stand for.
    pub frames: FlameFrames,
    /// The stacks in which something was done itself, ascending (u32).
    pub stack: ArrayRef,
    /// What was done in them, counted in each way.
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

/// One way to count what was done.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlameWeight {
    /// The name by which the command line takes it: `l1i_misses`.
    pub name: String,
    /// What is counted, in words: `instructions`.
    pub unit: String,
    /// Of each stack, what was done in it itself, without those that it called (f64).
    pub own: ArrayRef,
}

/// Where an array lies within the block of bytes, little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ArrayRef {
    /// The type of its elements.
    #[serde(rename = "type")]
    pub element: Element,
    /// Offset of the first byte, a multiple of 8.
    pub offset: u32,
    /// Elements.
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

/// Where a text lies within the block of bytes, in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TextRef {
    /// Offset of the first byte.
    pub offset: u32,
    /// Bytes.
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
