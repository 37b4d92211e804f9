//! Section 3.2: what each technique by itself saves of the lines of code, in DenseFS in a kernel.
//!
//! The counts are those that a test holds the module to (`densefs-kernel/counts/lines.txt`). Each
//! layout also has what those before it have, so a technique is worth the difference to the layout
//! before.

use densefs_module::line_counts;
use serde::Serialize;
use textual::Columns;

use super::Reproduction;
use crate::statement::{Statement, statement};

/// The layouts of the module's code, in the order in which the techniques are added.
const LAYOUTS: [&str; 4] = ["plain", "aligned", "hinted", "ordered"];
/// Not a call of DenseFS: counted to see what entering the kernel takes.
const EMPTY_CALL: &str = "getppid";

/// The lines of instructions of a call in each layout.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallCode {
    /// The call, or `all` for the sum.
    pub call: &'static str,
    /// As compilers leave it.
    pub plain: f64,
    /// With functions directly after one another.
    pub aligned: f64,
    /// With code that is hardly ever executed apart, too.
    pub hinted: f64,
    /// With functions of the same calls together, too.
    pub ordered: f64,
}

/// Those of all calls, and their sum.
pub(super) fn calls() -> Vec<CallCode> {
    let lines = |layout: &str, call: &str| {
        let found = line_counts().find(|one| one.layout == layout && one.call == call);
        found.map_or(f64::NAN, |one| one.instruction_lines)
    };
    let plain = line_counts().filter(|one| one.layout == "plain" && one.call != EMPTY_CALL);
    let mut calls: Vec<CallCode> = plain
        .map(|one| {
            let [plain, aligned, hinted, ordered] = LAYOUTS.map(|layout| lines(layout, one.call));
            CallCode { call: one.call, plain, aligned, hinted, ordered }
        })
        .collect();
    let sum = |of: fn(&CallCode) -> f64| calls.iter().map(of).sum();
    let all = CallCode {
        call: "all",
        plain: sum(|one| one.plain),
        aligned: sum(|one| one.aligned),
        hinted: sum(|one| one.hinted),
        ordered: sum(|one| one.ordered),
    };
    calls.push(all);
    calls
}

impl CallCode {
    /// What alignment, hinting and ordering change.
    fn changes(&self) -> [f64; 3] {
        [self.aligned - self.plain, self.hinted - self.aligned, self.ordered - self.hinted]
    }
}

fn changes_text(of: &CallCode) -> String {
    let [alignment, hinting, ordering] = of.changes();
    format!("alignment {alignment:+.0}, hinting {hinting:+.0}, ordering {ordering:+.0}")
}

pub(super) const STATEMENTS: &[fn(&Reproduction) -> Statement] = &[most_impactful, hinting_saves];

fn call<'a>(of: &'a Reproduction, name: &str) -> Option<&'a CallCode> {
    of.code.iter().find(|one| one.call == name)
}

fn most_impactful(of: &Reproduction) -> Statement {
    let found = || {
        let (create, all) = (call(of, "create")?, call(of, "all")?);
        let [alignment, hinting, ordering] = all.changes();
        let measured = format!(
            "lines of create: {}; of {} calls: {}",
            changes_text(create),
            of.code.len() - 1,
            changes_text(all)
        );
        Some((measured, alignment < hinting.min(ordering)))
    };
    let claim = "of the three techniques, function alignment saves most lines of code";
    statement("section 3.2", claim, "the most impactful", found())
        .within("any more than the others, over all calls")
        .because(
            "of the lines of a create, nearly half are the kernel's own, and most others are one \
             long function's, so few begin where alignment could help; aligned means here that \
             functions follow each other directly",
        )
}

fn hinting_saves(of: &Reproduction) -> Statement {
    let found = || {
        let all = call(of, "all")?;
        let [_, hinting, _] = all.changes();
        Some((format!("{hinting:+.0} of {:.0} lines of all calls", all.aligned), hinting < 0.0))
    };
    let claim = "branch hinting saves a few more";
    statement("section 3.2", claim, "a few bytes", found()).within("any fewer, over all calls")
}

pub(super) fn text(calls: &[CallCode]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let mut columns = Columns::headed(["call", "plain", "aligned", "hinted", "ordered"]);
    for one in calls {
        let lines = [one.plain, one.aligned, one.hinted, one.ordered];
        let lines = lines.map(|lines| format!("{lines:.0}"));
        columns.row(std::iter::once(one.call.to_owned()).chain(lines));
    }
    format!(
        "\nSection 3.2: instruction lines of DenseFS' calls in a guest's kernel, as stored\n{}",
        columns.render()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_technique_is_worth_its_difference_to_the_layout_before() {
        let calls = calls();
        let create = calls.iter().find(|one| one.call == "create").expect("it is there");
        assert_eq!(create.changes().iter().sum::<f64>(), create.ordered - create.plain);
        assert!(calls.iter().all(|one| one.changes().iter().all(|change| change.is_finite())));
        let all = calls.last().expect("the sum");
        assert_eq!((all.call, calls.len()), ("all", 17));
    }
}
