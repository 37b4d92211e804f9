//! The document and the text of `fsprism footprint pollution`: what operations cost the code around
//! them in simulated caches.

use footprint_study::{PollutedOperation, PollutedRounds};
use record::SimulatedCaches;
use schemars::JsonSchema;
use serde::Serialize;
use textual::{Columns, size};

use super::documents::SCHEMA_VERSION;

/// Code between the repetitions of traced operations.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PollutionDocument {
    /// [`SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// The caches that were simulated, in the order of the misses.
    pub caches: SimulatedCaches,
    /// A result for each target, operation and code.
    pub rounds: Vec<CodeRounds>,
    /// Reasons to doubt them.
    pub warnings: Vec<String>,
}

/// The misses of rounds of code with one footprint.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CodeRounds {
    /// The label of the target.
    pub target: String,
    /// The operation.
    pub operation: String,
    /// After how many of its repetitions misses were counted.
    pub repetitions: u32,
    /// Lines of instructions that a round executes.
    pub code_lines: u32,
    /// Lines of data that it loads from.
    pub data_lines: u32,
    /// Mean misses in each cache, of a round that follows another at once.
    pub misses_alone: Vec<f64>,
    /// Of a round that follows the operation.
    pub misses_after_operation: Vec<f64>,
    /// Of the operation itself.
    pub misses_of_operation: Vec<f64>,
}

impl PollutionDocument {
    /// The results for the operations of all traces.
    #[must_use]
    pub fn new(
        caches: SimulatedCaches,
        operations: &[PollutedOperation],
        warnings: Vec<String>,
    ) -> Self {
        let rounds = operations.iter().flat_map(|operation| {
            operation.rounds.iter().map(|rounds| CodeRounds::new(operation, rounds))
        });
        Self { schema_version: SCHEMA_VERSION, caches, rounds: rounds.collect(), warnings }
    }

    /// A table for each operation: a row for each code, a column for each target.
    #[must_use]
    pub fn text(&self) -> String {
        let caches: Vec<String> = self.caches.caches.iter().map(cache).collect();
        let mut text = format!("Simulated caches: {}; addresses as traced\n", caches.join(", "));
        let mut operations: Vec<&str> = Vec::new();
        for rounds in &self.rounds {
            if !operations.contains(&rounds.operation.as_str()) {
                operations.push(&rounds.operation);
            }
        }
        for operation in operations {
            text.push('\n');
            self.push_operation(&mut text, operation);
        }
        text
    }

    fn push_operation(&self, text: &mut String, operation: &str) {
        let own: Vec<&CodeRounds> =
            self.rounds.iter().filter(|one| one.operation == operation).collect();
        let mut targets: Vec<&str> = Vec::new();
        let mut codes: Vec<(u32, u32)> = Vec::new();
        for one in &own {
            if !targets.contains(&one.target.as_str()) {
                targets.push(&one.target);
            }
            if !codes.contains(&one.lines()) {
                codes.push(one.lines());
            }
        }
        let first = self.caches.caches.iter().take_while(|one| one.name.starts_with("l1")).count();
        let names: Vec<&str> = self.caches.caches.iter().map(|one| one.name.as_str()).collect();
        let find = |target: &str, lines| {
            own.iter().find(|one| one.target == target && one.lines() == lines)
        };
        let levels = std::iter::once(0..first).chain((first..names.len()).map(|at| at..at + 1));
        for level in levels {
            let differs =
                |one: &&CodeRounds| one.more(level.clone()).iter().any(|more| *more >= 0.5);
            if level.start > 0 && !own.iter().any(differs) {
                continue;
            }
            let what = names[level.clone()].join(" + ");
            let title = format!(
                "{operation}: lines that a round of code misses in {what} because of the call"
            );
            text.push_str(&title);
            text.push('\n');
            let head = std::iter::once("code + data").chain(targets.iter().copied());
            let mut table = Columns::headed(head);
            for &lines in &codes {
                let cell = |target: &&str| {
                    let found = find(target, lines);
                    found.map_or("-".to_owned(), |one| numbers(&one.more(level.clone())))
                };
                table.row(std::iter::once(footprint(lines)).chain(targets.iter().map(cell)));
            }
            text.push_str(&table.render());
        }
    }
}

impl CodeRounds {
    fn new(of: &PollutedOperation, rounds: &PollutedRounds) -> Self {
        Self {
            target: of.target.clone(),
            operation: of.operation.clone(),
            repetitions: of.repetitions,
            code_lines: rounds.shape.code_lines,
            data_lines: rounds.shape.data_lines,
            misses_alone: rounds.alone.clone(),
            misses_after_operation: rounds.after_operation.clone(),
            misses_of_operation: rounds.of_operation.clone(),
        }
    }

    fn lines(&self) -> (u32, u32) {
        (self.code_lines, self.data_lines)
    }

    /// How many more misses there are after the operation, in these caches.
    fn more(&self, caches: std::ops::Range<usize>) -> Vec<f64> {
        let both = self.misses_after_operation.iter().zip(&self.misses_alone);
        both.map(|(after, alone)| after - alone).skip(caches.start).take(caches.len()).collect()
    }
}

/// `l1i 32 KiB`
fn cache(cache: &record::SimulatedCache) -> String {
    format!("{} {}", cache.name, size(cache.size_bytes as f64, 3))
}

fn footprint((code, data): (u32, u32)) -> String {
    let [code, data] =
        [code, data].map(|lines| size(f64::from(lines) * user_code::LINE_BYTES as f64, 3));
    format!("{code} + {data}")
}

/// `64 + 12`
fn numbers(values: &[f64]) -> String {
    let rounded = values.iter().map(|value| format!("{:.0}", value + 0.0));
    rounded.collect::<Vec<String>>().join(" + ")
}
