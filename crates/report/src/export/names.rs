//! Names of cells, for formats that have a single name for all of it.

use std::collections::BTreeSet;

use record::{CellReport, CliffReport};
use serde::Serialize;
use serde_json::Value;

/// Names assigned so far. Each is unique, and the same in each run of the same benchmarks.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    /// `target/suite/benchmark`.
    pub(super) fn of_cell(&mut self, cell: &CellReport) -> String {
        self.unique(&format!("{}/{}/{}", cell.target, cell.suite, cell.benchmark))
    }

    /// `target/suite/cliff`; if a target has several, they are numbered.
    pub(super) fn of_cliff(&mut self, cliff: &CliffReport) -> String {
        self.unique(&format!("{}/cliff/{}/cliff", cliff.target, cliff.axis.name()))
    }

    /// Labels may contain slashes, so two names could be equal: the later ones are numbered.
    fn unique(&mut self, name: &str) -> String {
        let numbered = (2_u32..).map(|number| format!("{name} ({number})"));
        let mut candidates = std::iter::once(name.to_owned()).chain(numbered);
        let free = candidates.find(|candidate| !self.0.contains(candidate));
        let chosen = free.expect("there are more numbers than cells");
        self.0.insert(chosen.clone());
        chosen
    }
}

/// The word for an enum value in the JSON document, so that all formats use the same.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => text,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn names_that_would_be_the_same_are_numbered() {
        let document = Sample::new(&["a"]).benchmark("create", &[&[1.0]]).document();
        let mut names = Names::default();
        let given: Vec<String> = (0..3).map(|_| names.of_cell(&document.cells[0])).collect();
        assert_eq!(given, ["a/survey/create", "a/survey/create (2)", "a/survey/create (3)"]);
    }
}
