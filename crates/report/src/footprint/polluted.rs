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
    /// Misses in each cache, of a round that follows another at once; all misses are medians.
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
        let mut text = heading(&self.caches);
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

/// `Simulated caches: l1i 32 KiB, l1d 48 KiB`
pub(super) fn heading(caches: &SimulatedCaches) -> String {
    let caches = caches.caches.iter();
    let caches: Vec<String> =
        caches.map(|one| format!("{} {}", one.name, size(one.size_bytes as f64, 3))).collect();
    format!("Simulated caches: {}\n", caches.join(", "))
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

#[cfg(test)]
mod tests {
    use record::{CachesOrigin, Replacement, SimulatedCache};
    use user_code::{CodeShape, Loads, Order};

    use super::*;

    fn document() -> PollutionDocument {
        let cache = |name: &str, size_bytes| SimulatedCache {
            name: name.to_owned(),
            size_bytes,
            line_bytes: 64,
            ways: 8,
            replacement: Replacement::Lru,
            inclusive: false,
        };
        let caches = vec![
            cache("l1i", 32 << 10),
            cache("l1d", 48 << 10),
            cache("l2", 2 << 20),
            cache("l3", 32 << 20),
        ];
        let rounds = |lines, after: [f64; 4]| PollutedRounds {
            shape: CodeShape {
                code_lines: lines,
                data_lines: lines,
                order: Order::Random,
                loads: Loads::Dependent,
            },
            alone: vec![3.0, 0.0, 0.0, 0.0],
            after_operation: after.to_vec(),
            of_operation: vec![0.0; 4],
        };
        let operation = |target: &str, rounds| PollutedOperation {
            target: target.to_owned(),
            operation: "create".to_owned(),
            repetitions: 7,
            rounds,
        };
        let operations = [
            operation("tmpfs", vec![rounds(64, [50.0, 1.6, 0.0, 0.0]), rounds(512, [3.0; 4])]),
            operation("xfs", vec![rounds(64, [67.0, 22.0, 5.0, 0.0])]),
        ];
        let caches = SimulatedCaches { origin: CachesOrigin::Given, caches };
        PollutionDocument::new(caches, &operations, Vec::new())
    }

    #[test]
    fn a_table_has_what_is_missed_because_of_the_call_by_code_and_target() {
        let expected = "\
Simulated caches: l1i 32 KiB, l1d 48 KiB, l2 2 MiB, l3 32 MiB

create: lines that a round of code misses in l1i + l1d because of the call
  code + data       tmpfs      xfs
  4 KiB + 4 KiB    47 + 2  64 + 22
  32 KiB + 32 KiB   0 + 3        -
create: lines that a round of code misses in l2 because of the call
  code + data      tmpfs  xfs
  4 KiB + 4 KiB        0    5
  32 KiB + 32 KiB      3    -
create: lines that a round of code misses in l3 because of the call
  code + data      tmpfs  xfs
  4 KiB + 4 KiB        0    0
  32 KiB + 32 KiB      3    -
";
        assert_eq!(document().text(), expected);
    }

    #[test]
    fn a_level_in_which_nothing_more_is_missed_has_no_table() {
        let mut document = document();
        document.rounds.retain(|one| one.code_lines == 64);
        let text = document.text();
        assert!(text.contains("in l2 because") && !text.contains("in l3 because"), "{text}");
    }
}
