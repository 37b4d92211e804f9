//! What the paper says about rates, as hypotheses: which rates are compared, and what the words
//! mean in numbers.

use super::{MeasuredRates, Outcome, Ratio, Statement, declared, figure_8};
use crate::margin::Margin;

/// What the names of phases begin with where the random write goes to the same file again.
const SAME_FILE: &str = "same-file-";

/// A rate: that of a benchmark on a target.
pub(super) type Rate = (&'static str, &'static str);

/// A claim about rates: about one divided by another, or about the product of some divided by that
/// of others.
pub(super) struct Claim {
    pub(super) source: &'static str,
    /// What the paper says, in our words.
    pub(super) claim: &'static str,
    pub(super) published: &'static str,
    pub(super) of: &'static [Rate],
    pub(super) over: &'static [Rate],
    pub(super) means: Margin,
}

impl Claim {
    /// The target, if all rates are of the same.
    fn target(&self) -> Option<&'static str> {
        let (first, _) = self.of.first()?;
        self.rates().all(|(target, _)| target == *first).then_some(*first)
    }

    pub(super) fn rates(&self) -> impl Iterator<Item = Rate> {
        self.of.iter().chain(self.over).copied()
    }

    /// What is measured of it: on another target if one is given, and with benchmarks by other
    /// names.
    fn ratio(
        &self,
        measured: &MeasuredRates,
        target: Option<&str>,
        name: impl Fn(&str) -> String,
    ) -> Option<Ratio> {
        let find = |rates: &[Rate]| {
            let one =
                |(own, benchmark): &Rate| measured.rates(target.unwrap_or(own), &name(benchmark));
            rates.iter().map(one).collect::<Option<Vec<_>>>()
        };
        Ratio::of_products(&find(self.of)?, &find(self.over)?)
    }

    fn statement(&self, measured: &MeasuredRates) -> Statement {
        let own = self.ratio(measured, None, str::to_owned);
        let mut said: Vec<String> = own.iter().map(words).collect();
        if said.is_empty() {
            said.push("not measured".to_owned());
        }
        // Where the random write goes to the same file again, the reads after it are not the first.
        let again = self.ratio(measured, None, same_file);
        said.extend(again.map(|one| format!("written to the same file again, {}", words(&one))));
        if let Some(own) = self.target() {
            let others = measured.targets.iter().filter(|target| *target != own);
            said.extend(others.filter_map(|target| {
                let ratio = self.ratio(measured, Some(target), str::to_owned)?;
                Some(format!("on {target}, {}", words(&ratio)))
            }));
        }
        Statement {
            source: self.source,
            claim: self.claim,
            published: self.published,
            measured: said.join("; "),
            outcome: own.map_or(Outcome::Unknown, |one| self.means.judge(one.low, one.high)),
            tolerance: Some(self.means.words()),
            why: None,
        }
    }
}

/// The name of the same phase where the random write goes to the same file again.
fn same_file(benchmark: &str) -> String {
    let end = benchmark.match_indices('-').nth(1).map_or(0, |(at, _)| at + 1);
    let (item, phase) = benchmark.split_at(end);
    format!("{item}{SAME_FILE}{phase}")
}

/// All statements whose phases the run has measured, on any target.
pub(super) fn all(measured: &MeasuredRates) -> Vec<Statement> {
    let has = |name: &str| measured.by_cell.keys().any(|(_, one)| one == name);
    let is_measured = |claim: &&Claim| claim.rates().all(|(_, benchmark)| has(benchmark));
    let claims = declared::CLAIMS.iter().filter(is_measured);
    let mut all: Vec<Statement> = claims.map(|claim| claim.statement(measured)).collect();
    all.extend(figure_8::statements(measured));
    all.extend(array(measured));
    all
}

/// Table 10. Its program does the same on every target, so the first one is used.
fn array(measured: &MeasuredRates) -> Vec<Statement> {
    let is_there = |target: &&String| {
        measured.by_cell.contains_key(&((*target).clone(), "table-10-first-read".to_owned()))
    };
    let Some(target) = measured.targets.iter().find(is_there) else { return Vec::new() };
    let statement = |of: &declared::ArrayClaim| {
        let rates = |phase: &str| measured.rates(target, &format!("table-10-{phase}"));
        let ratio = rates(of.of).zip(rates(of.over));
        let ratio = ratio.and_then(|(of, over)| Ratio::of_products(&[of], &[over]));
        Statement {
            source: "Table 10",
            claim: of.claim,
            published: of.published,
            measured: ratio.map_or_else(|| "not measured".to_owned(), |one| words(&one)),
            outcome: ratio.map_or(Outcome::Unknown, |one| of.means.judge(one.low, one.high)),
            tolerance: Some(of.means.words()),
            why: None,
        }
    };
    declared::ARRAY.iter().map(statement).collect()
}

pub(super) fn words(ratio: &Ratio) -> String {
    format!("{:.2} [{:.2}, {:.2}]", ratio.mean, ratio.low, ratio.high)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::published;
    use super::*;

    /// A claim about something that is never measured would be silently dropped.
    #[test]
    fn what_is_claimed_and_what_is_printed_is_measured() {
        let suite = suites::suite("memory-rich-microbenchmarks").expect("it is a suite");
        let measured: BTreeSet<String> =
            suite.benchmarks.into_iter().map(|benchmark| benchmark.name).collect();
        for claim in &declared::CLAIMS {
            for (_, name) in claim.rates() {
                assert!(measured.contains(name), "{}: {name}", claim.claim);
            }
        }
        for one in &declared::ARRAY {
            for phase in [one.of, one.over] {
                assert!(measured.contains(&format!("table-10-{phase}")), "{}", one.claim);
            }
        }
        for (item, phase) in published::rows() {
            let name = format!("{item}-{phase}");
            assert!(measured.contains(&name), "{name}");
        }
        assert_eq!(SAME_FILE, suites::classic::memory_rich::SAME_FILE);
        let again = same_file("figure-5-random-read");
        assert!(measured.contains(&again), "{again}");
    }
}
