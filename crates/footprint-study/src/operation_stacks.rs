//! Coarse-grained stacks of a trace, and how much of its data lines is used.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use footprint::categories::{Categories, OTHER};
use footprint::cgstacks::{CategorizedTrace, Frames, Weight};
use footprint::description::{Description, NumberedName};
use footprint::regions::{RegionQuery, for_each_region};
use footprint::touched::{Footprint, LINE_BYTES};
use footprint::trace::{Completeness, Context, Region, StackTree, Walk};
use footprint_trace::header::Scope;

use crate::StudyError;
use crate::trace_file::open;

/// What the operations of one trace executed, by category.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStacks {
    /// The kernel's release, if the trace says it.
    pub kernel: Option<String>,
    /// The operations, in the order in which they were first traced.
    pub operations: Vec<OperationStacks>,
}

/// Means over the repetitions that were traced completely.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationStacks {
    /// The operation's name.
    pub operation: String,
    /// The number of these repetitions.
    pub repetitions: u32,
    /// Bytes of code by coarse-grained stack, with each instruction counted once per stack. A stack
    /// is written as names of categories from callers to callees, joined by `;`.
    pub code_bytes: BTreeMap<String, f64>,
    /// Number of data lines by how many of their bytes were accessed, from 1 byte to 64.
    pub data_lines_by_bytes: Vec<f64>,
}

/// Condenses the stacks of a trace that contains its names.
///
/// # Errors
/// The trace cannot be read, is damaged, or has no names.
pub fn operation_stacks(trace: &Path) -> Result<TraceStacks, StudyError> {
    let names = footprint_symbols::read_description(trace)
        .map_err(|source| StudyError::Description { path: trace.to_owned(), source })?
        .ok_or_else(|| StudyError::Nameless { path: trace.to_owned() })?;
    let kernel = names.subject.kernel.clone();
    let mut reader = open(trace)?;
    let mut walk = Walk::new(*reader.header(), names);
    let categories = Categories::default();
    let mut operations: Vec<OperationStacks> = Vec::new();
    for_each_region(&mut walk, &mut reader, RegionQuery::default(), |walk, footprint, _| {
        let Some(operation) = operation(walk.names(), &footprint) else { return };
        let (code, stacks, names) = (walk.code(), walk.stacks(), walk.names());
        let walked =
            CategorizedTrace { scope: walk.scope(), code, stacks, names, categories: &categories };
        let place = operations.iter().position(|one| one.operation == operation);
        let place = place.unwrap_or_else(|| {
            operations.push(OperationStacks::new(operation.to_owned()));
            operations.len() - 1
        });
        operations[place].add(&walked, &footprint);
    })
    .map_err(|source| StudyError::Trace { path: trace.to_owned(), source })?;
    operations.iter_mut().for_each(OperationStacks::divide);
    Ok(TraceStacks { kernel, operations })
}

/// The operation of a footprint, if it has a name and the trace contains all of it.
fn operation<'a>(names: &'a Description, footprint: &Footprint) -> Option<&'a str> {
    let Region::Marked { operation, .. } = footprint.region else { return None };
    let is_whole = footprint.completeness == Completeness::Whole;
    let is_it = |named: &&NumberedName| is_whole && named.number == operation;
    Some(&names.operations.iter().find(is_it)?.name)
}

impl OperationStacks {
    fn new(operation: String) -> Self {
        let data_lines_by_bytes = vec![0.0; usize::try_from(LINE_BYTES).unwrap_or_default()];
        Self { operation, repetitions: 0, code_bytes: BTreeMap::new(), data_lines_by_bytes }
    }

    fn add(&mut self, walked: &CategorizedTrace<'_>, footprint: &Footprint) {
        self.repetitions += 1;
        let tree = walked.tree(footprint, Frames::Categories, Weight::CodeBytes);
        for (node, own) in (0..).zip(&tree.own).filter(|(_, own)| **own > 0.0) {
            // Code without a caller that has no category itself.
            let path = if node == 0 { OTHER.to_owned() } else { tree.path(node) };
            *self.code_bytes.entry(path).or_default() += own;
        }
        for bytes in bytes_used(footprint, walked.scope, walked.stacks) {
            self.data_lines_by_bytes[bytes - 1] += 1.0;
        }
    }

    /// Turns sums into means.
    fn divide(&mut self) {
        let repetitions = f64::from(self.repetitions);
        let sums = self.code_bytes.values_mut().chain(&mut self.data_lines_by_bytes);
        sums.for_each(|sum| *sum /= repetitions);
    }
}

/// How many bytes of each data line were accessed: from 1 to 64.
fn bytes_used(footprint: &Footprint, scope: Scope, stacks: &StackTree) -> Vec<usize> {
    let counts = |context: Context| context.counts(scope);
    let mut lines: HashMap<u64, u64> = HashMap::new();
    for touch in &footprint.touches {
        if counts(stacks.context(touch.stack)) {
            *lines.entry(touch.line).or_default() |= touch.loads | touch.stores;
        }
    }
    let used = lines.values().map(|bytes| bytes.count_ones() as usize);
    used.filter(|bytes| *bytes > 0).collect()
}
