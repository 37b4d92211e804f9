//! The JSON documents that `fsprism footprint map|stacks|diff --format json` prints.
//!
//! The schemas of all three, and of `pollution`, are in `docs/footprint.schema.json`. Fields may be
//! added but are never renamed. Addresses are text, because they can exceed the numbers that some
//! readers support.

use footprint::cachemap::{Cachemap, CachemapOf, MappedLine};
use footprint::cgstacks::Frames;
use footprint::diff::{self, Change, Shares};
use footprint::tree::FlameTree;
use footprint_study::{Executed, NamedWeight, Repetition, Studied, StudyError};
use schemars::JsonSchema;
use serde::Serialize;

/// Version of the documents.
pub const SCHEMA_VERSION: u32 = 1;

/// Cachemaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MapDocument {
    /// [`SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// A map of instructions and one of data for each target and operation.
    pub maps: Vec<Map>,
    /// Reasons to doubt them: traces that are cut off, names that are missing.
    pub warnings: Vec<String>,
}

/// One cachemap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Map {
    /// The label of the target, or what was traced.
    pub target: String,
    /// The operation.
    pub operation: String,
    /// Which of its repetitions, from 1: the one whose counts are closest to the medians.
    pub repetition: u32,
    /// How many repetitions the trace has.
    pub repetitions: u32,
    /// What the lines hold.
    pub of: CachemapOf,
    /// Bytes per line.
    pub line_bytes: u32,
    /// The lines that were touched, by address.
    pub lines: Vec<Line>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Line {
    /// Address of its first byte, in hexadecimal digits after `0x`.
    pub address: String,
    /// What is in it; empty if unknown.
    pub name: String,
    /// Number of bytes that were touched.
    pub bytes_used: u32,
    /// How many times each byte was touched.
    pub counts: Vec<u64>,
}

/// Trees of stacks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StacksDocument {
    /// [`SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// A tree for each target and operation.
    pub trees: Vec<Tree>,
    /// Reasons to doubt them.
    pub warnings: Vec<String>,
}

/// One tree of stacks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tree {
    /// The label of the target, or what was traced.
    pub target: String,
    /// The operation.
    pub operation: String,
    /// Which of its repetitions, from 1: the one whose counts are closest to the medians.
    pub repetition: u32,
    /// How many repetitions the trace has.
    pub repetitions: u32,
    /// The weight's name.
    pub weight: String,
    /// What is counted, in words.
    pub unit: String,
    /// The nodes: the root first, and each parent before its children.
    pub nodes: Vec<Node>,
}

/// One node of a tree of stacks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Node {
    /// The index of the node that called it; for the root, its own index.
    pub parent: u32,
    /// The function, or category.
    pub name: String,
    /// The node's own work; may be negative in a difference.
    pub own: f64,
    /// The work of the node and of everything it called.
    pub total: f64,
}

/// Two traces side by side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DiffDocument {
    /// [`SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// The comparisons, operation by operation.
    pub differences: Vec<Difference>,
    /// Reasons to doubt them.
    pub warnings: Vec<String>,
}

/// One operation in two traces.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The operation.
    pub operation: String,
    /// The target of the first trace, with its kernel if that of the second trace differs.
    pub before: String,
    /// The same for the second trace.
    pub after: String,
    /// The categories, largest changes first.
    pub categories: Vec<Change>,
    /// The functions, largest changes first, without those that are the same in both.
    pub functions: Vec<Change>,
}

impl Map {
    /// The document of a map.
    #[must_use]
    pub fn new(map: &Cachemap, executed: &Executed) -> Self {
        let line = |line: &MappedLine| Line {
            address: format!("{:#x}", line.address),
            name: line.name.clone(),
            bytes_used: u32::try_from(line.bytes_used()).unwrap_or(u32::MAX),
            counts: line.counts.to_vec(),
        };
        let (target, operation) = (executed.target.clone(), executed.operation.clone());
        let lines = map.lines.iter().map(line).collect();
        let Repetition { number: repetition, of: repetitions } = executed.repetition;
        Self { target, operation, repetition, repetitions, of: map.of, line_bytes: 64, lines }
    }
}

impl Tree {
    /// The document of an execution's tree.
    #[must_use]
    pub fn new(
        studied: &Studied,
        executed: &Executed,
        frames: Frames,
        weight: &NamedWeight,
    ) -> Self {
        let tree = weight.tree(studied, executed, frames);
        let (target, operation) = (executed.target.clone(), executed.operation.clone());
        let Repetition { number: repetition, of: repetitions } = executed.repetition;
        let (weight, unit, nodes) = (weight.name(), weight.unit(), nodes(&tree));
        Self { target, operation, repetition, repetitions, weight, unit, nodes }
    }
}

fn nodes(tree: &FlameTree) -> Vec<Node> {
    let mut total = tree.own.clone();
    for node in (1..total.len()).rev() {
        total[tree.parent[node] as usize] += total[node];
    }
    let node = |node: usize| Node {
        parent: tree.parent[node],
        name: tree.names[tree.name[node] as usize].clone(),
        own: tree.own[node],
        total: total[node],
    };
    (0..total.len()).map(node).collect()
}

impl Difference {
    /// Compares what two traces have of an operation; of several targets, those of one label, or
    /// the first of each.
    ///
    /// # Errors
    /// One of them has no such operation.
    pub fn new(before: &Studied, after: &Studied, operation: &str) -> Result<Self, StudyError> {
        let (first, second) =
            (before.executions(Some(operation))?[0], after.executions(Some(operation))?[0]);
        let left = Shares::new(before.categorized_trace(), &first.footprint);
        let right = Shares::new(after.categorized_trace(), &second.footprint);
        let found = diff::difference(&left, &right);
        Ok(Self {
            operation: operation.to_owned(),
            before: label_beside(before, after, &first.target),
            after: label_beside(after, before, &second.target),
            categories: found.categories,
            functions: found.functions,
        })
    }
}

/// What the target of a trace is called beside another trace.
pub(crate) fn label_beside(own: &Studied, other: &Studied, target: &str) -> String {
    let kernel = |studied: &Studied| studied.description().subject.kernel.clone();
    match kernel(own) {
        Some(release) if kernel(other).as_ref() != Some(&release) => {
            format!("{target} on Linux {release}")
        }
        _ => target.to_owned(),
    }
}

/// The root of the schemas.
#[cfg(test)]
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Documents {
    map: MapDocument,
    stacks: StacksDocument,
    diff: DiffDocument,
    pollution: super::polluted::PollutionDocument,
    applications: super::applications::ApplicationsDocument,
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;

    use super::*;

    /// The schema that is checked in is the one that the types give. To renew it after a change:
    /// `FSPRISM_RENEW_SCHEMA=1 cargo test -p fsprism-report documents`.
    #[test]
    fn the_checked_in_schema_is_that_of_the_types() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/footprint.schema.json");
        let text = serde_json::to_string_pretty(&schema_for!(Documents)).unwrap();
        if std::env::var_os("FSPRISM_RENEW_SCHEMA").is_some() {
            std::fs::write(path, format!("{text}\n")).unwrap();
        }
        let checked_in = std::fs::read_to_string(path).unwrap_or_default();
        assert!(checked_in.trim_end() == text, "docs/footprint.schema.json is not up to date");
    }

    #[test]
    fn totals_are_those_of_what_is_called() {
        let tree = FlameTree {
            names: ["all", "a", "b"].map(str::to_owned).to_vec(),
            parent: vec![0, 0, 1, 0],
            name: vec![0, 1, 2, 2],
            own: vec![0.0, 1.0, 2.0, 4.0],
        };
        let totals: Vec<f64> = nodes(&tree).iter().map(|node| node.total).collect();
        assert_eq!(totals, [7.0, 3.0, 2.0, 4.0]);
    }
}
