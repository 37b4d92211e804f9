//! What the paper says about two phases, and whether it holds here.

use super::{MeasuredRates, Outcome, Ratio, Statement, figure_8};

/// Smaller relative differences do not count.
const MARGIN: f64 = 0.02;
/// How much rates that are called equal may differ.
const EQUAL: f64 = 0.1;

/// What the paper says about a ratio of rates.
#[derive(Clone, Copy)]
pub(super) enum Expectation {
    Slower,
    Faster,
    NotSlower,
    Equal,
}

/// A claim about the ratio of one benchmark's rate to another's, on one target.
struct Claim {
    source: &'static str,
    claim: &'static str,
    published: &'static str,
    expected: Expectation,
    /// The target that it is about.
    target: &'static str,
    benchmark: &'static str,
    /// The other benchmark, by whose rate the rate is divided.
    over: &'static str,
    /// Its target, which may be the same.
    over_target: &'static str,
}

/// A claim about two benchmarks on ramfs.
const fn on_ramfs(
    source: &'static str,
    claim: &'static str,
    published: &'static str,
    benchmark: &'static str,
    expected: Expectation,
    over: &'static str,
) -> Claim {
    let target = "ramfs";
    Claim { source, claim, published, expected, target, benchmark, over, over_target: target }
}

/// A claim about two benchmarks on ext2.
const fn on_ext2(
    source: &'static str,
    claim: &'static str,
    published: &'static str,
    benchmark: &'static str,
    expected: Expectation,
    over: &'static str,
) -> Claim {
    let claim = on_ramfs(source, claim, published, benchmark, expected, over);
    Claim { target: "ext2", over_target: "ext2", ..claim }
}

/// A claim about ramfs compared with ext2, in the same benchmark.
const fn ramfs_beside_ext2(
    source: &'static str,
    claim: &'static str,
    published: &'static str,
    benchmark: &'static str,
    expected: Expectation,
) -> Claim {
    let claim = on_ramfs(source, claim, published, benchmark, expected, benchmark);
    Claim { over_target: "ext2", ..claim }
}

const CLAIMS: [Claim; 23] = [
    ramfs_beside_ext2(
        "Figure 1",
        "the first sequential read is slower on ramfs than on ext2",
        "slower (Table 2: 400 over 520)",
        "figure-1-sequential-read",
        Expectation::Slower,
    ),
    on_ramfs(
        "Figure 1",
        "random reads are slower than the last sequential read",
        "about half as fast (section 5)",
        "figure-1-random-read",
        Expectation::Slower,
        "figure-1-sequential-read-again",
    ),
    on_ramfs(
        "Table 2",
        "the first read after a write is slower than the second",
        "400 over 520: 0.77",
        "table-2-sequential-read-1",
        Expectation::Slower,
        "table-2-sequential-read-2",
    ),
    on_ext2(
        "Table 2",
        "on ext2, the first read after a write is as fast as the second",
        "520 over 530: 0.98",
        "table-2-sequential-read-1",
        Expectation::Equal,
        "table-2-sequential-read-2",
    ),
    ramfs_beside_ext2(
        "Table 3",
        "the first read of a file that existed before is as fast on ramfs as on ext2",
        "480 over 480: 1.00",
        "table-3-pre-read-1",
        Expectation::Equal,
    ),
    on_ramfs(
        "Table 3",
        "the second read of a file that existed before is faster than the first",
        "520 over 480: 1.08",
        "table-3-pre-read-2",
        Expectation::Faster,
        "table-3-pre-read-1",
    ),
    on_ramfs(
        "Table 4",
        "a write slows the read after it down",
        "400 over 480: 0.83",
        "table-4-sequential-read",
        Expectation::Slower,
        "table-4-pre-read",
    ),
    on_ext2(
        "Table 4",
        "on ext2, a write speeds the read after it up",
        "520 over 480: 1.08",
        "table-4-sequential-read",
        Expectation::Faster,
        "table-4-pre-read",
    ),
    on_ramfs(
        "Table 5",
        "pauses between writes leave the read after them as slow",
        "410 over 400: 1.03",
        "table-5-sequential-read",
        Expectation::Equal,
        "table-4-sequential-read",
    ),
    on_ramfs(
        "Table 6",
        "a read after a random write is slower than one that has been repeated",
        "400 over 530: 0.75",
        "table-6-sequential-read",
        Expectation::Slower,
        "table-2-sequential-read-3",
    ),
    on_ramfs(
        "Table 8",
        "the second write is slower than the first",
        "350 over 380: 0.92",
        "table-8-sequential-write-2",
        Expectation::Slower,
        "table-8-sequential-write-1",
    ),
    on_ext2(
        "Table 8",
        "on ext2, the second write is faster than the first",
        "16 over 13: 1.23",
        "table-8-sequential-write-2",
        Expectation::Faster,
        "table-8-sequential-write-1",
    ),
    ramfs_beside_ext2(
        "Table 9",
        "in the cache, the first read after a write is faster on ramfs than on ext2",
        "810 over 440: 1.84",
        "table-9-sequential-read-1",
        Expectation::Faster,
    ),
    on_ramfs(
        "Table 9",
        "in the cache, the second read is faster than the first",
        "1400 over 810: 1.73",
        "table-9-sequential-read-2",
        Expectation::Faster,
        "table-9-sequential-read-1",
    ),
    ramfs_beside_ext2(
        "Figure 4",
        "with 10 of 11 files, the first sequential read is no slower on ramfs than on ext2",
        "equally fast",
        "figure-4-sequential-read",
        Expectation::NotSlower,
    ),
    on_ramfs(
        "Figure 4",
        "random reads at any byte are slower than sequential ones",
        "about half as fast (section 5)",
        "figure-4-random-read",
        Expectation::Slower,
        "figure-4-sequential-read",
    ),
    on_ramfs(
        "Figure 5",
        "page-aligned random reads are no slower than sequential ones",
        "faster",
        "figure-5-random-read",
        Expectation::NotSlower,
        "figure-5-sequential-read",
    ),
    on_ramfs(
        "Figure 6",
        "in the cache, the calls that random reads make as well make them slower",
        "20 % slower",
        "figure-6-random-read",
        Expectation::Slower,
        "figure-6-sequential-read",
    ),
    on_ramfs(
        "Figure 7",
        "padding makes random and sequential reads equal",
        "uniform",
        "figure-7-random-read",
        Expectation::Equal,
        "figure-7-sequential-read",
    ),
    on_ramfs(
        "Figure 7",
        "padding makes the last sequential read equal to the random one before it",
        "uniform",
        "figure-7-sequential-read-again",
        Expectation::Equal,
        "figure-7-random-read",
    ),
    on_ramfs(
        "Figure 7",
        "padding makes random and sequential writes equal",
        "uniform",
        "figure-7-random-write",
        Expectation::Equal,
        "figure-7-sequential-write",
    ),
    on_ramfs(
        "Figure 7",
        "padding makes reads equal to writes",
        "uniform",
        "figure-7-sequential-read",
        Expectation::Equal,
        "figure-7-sequential-write",
    ),
    on_ramfs(
        "Section 7",
        "in memory, stat at random is faster than stat in order",
        "significantly faster",
        "figure-8-stat-random",
        Expectation::Faster,
        "figure-8-stat-sequential",
    ),
];

/// All statements whose phases the run has measured, on any target.
pub(super) fn all(measured: &MeasuredRates) -> Vec<Statement> {
    let has = |name: &str| measured.by_cell.keys().any(|(_, one)| one == name);
    let is_measured = |claim: &&Claim| has(claim.benchmark) && has(claim.over);
    let mut all: Vec<Statement> =
        CLAIMS.iter().filter(is_measured).map(|claim| statement(claim, measured)).collect();
    all.extend(figure_8::statements(measured));
    all.extend(array(measured));
    all
}

/// Table 10. Its program does the same on every target, so the first one is used.
fn array(measured: &MeasuredRates) -> Option<Statement> {
    let target = measured.targets.iter().find(|target| {
        measured.by_cell.contains_key(&((*target).clone(), "table-10-first-read".to_owned()))
    })?;
    let rates = |benchmark| measured.rates(target, benchmark);
    let ratio = rates("table-10-first-read")
        .zip(rates("table-10-second-read"))
        .and_then(|(first, second)| Ratio::new(first, second));
    Some(Statement {
        source: "Table 10",
        claim: "in a user-level program, the first read after a write is slower than the second",
        published: "150 over 200: 0.75",
        measured: ratio.map_or_else(|| "not measured".to_owned(), |one| words(&one)),
        outcome: ratio.map_or(Outcome::Unknown, |one| outcome(Expectation::Slower, &one)),
        tolerance: None,
        why: None,
    })
}

fn statement(claim: &Claim, measured: &MeasuredRates) -> Statement {
    let ratio = |target: &str, over_target: &str| {
        let over = measured.rates(over_target, claim.over)?;
        Ratio::new(measured.rates(target, claim.benchmark)?, over)
    };
    let own = ratio(claim.target, claim.over_target);
    let mut said: Vec<String> = own.iter().map(words).collect();
    if said.is_empty() {
        said.push(format!("not measured on {}", claim.target));
    }
    // Show a ratio within one target on the other targets, too.
    let is_within = claim.target == claim.over_target;
    for target in measured.targets.iter().filter(|name| is_within && *name != claim.target) {
        said.extend(ratio(target, target).map(|ratio| format!("on {target} {}", words(&ratio))));
    }
    Statement {
        source: claim.source,
        claim: claim.claim,
        published: claim.published,
        measured: said.join("; "),
        outcome: own.map_or(Outcome::Unknown, |ratio| outcome(claim.expected, &ratio)),
        tolerance: None,
        why: None,
    }
}

pub(super) fn words(ratio: &Ratio) -> String {
    format!("{:.2} [{:.2}, {:.2}]", ratio.mean, ratio.low, ratio.high)
}

/// Holds if the whole interval agrees, does not hold if the whole interval disagrees.
pub(super) fn outcome(expected: Expectation, ratio: &Ratio) -> Outcome {
    let Ratio { low, high, .. } = *ratio;
    let (holds, fails) = match expected {
        Expectation::Slower => (high < 1.0 - MARGIN, low > 1.0 - MARGIN),
        Expectation::Faster => (low > 1.0 + MARGIN, high < 1.0 + MARGIN),
        Expectation::NotSlower => (low > 1.0 - MARGIN, high < 1.0 - MARGIN),
        Expectation::Equal => {
            let (least, most) = (1.0 - EQUAL, 1.0 + EQUAL);
            (low >= least && high <= most, high < least || low > most)
        }
    };
    Outcome::of_interval(holds, fails)
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
        for claim in &CLAIMS {
            for name in [claim.benchmark, claim.over] {
                assert!(measured.contains(name), "{}: {name}", claim.claim);
            }
        }
        for (item, phase) in published::rows() {
            let name = format!("{item}-{phase}");
            assert!(measured.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_claim_holds_only_where_the_whole_interval_agrees() {
        let of = |expected, low, high| outcome(expected, &Ratio { mean: 1.0, low, high });
        assert_eq!(of(Expectation::Slower, 0.7, 0.9), Outcome::Holds);
        assert_eq!(of(Expectation::Slower, 0.9, 1.1), Outcome::Unknown);
        assert_eq!(of(Expectation::Slower, 0.99, 1.1), Outcome::DoesNotHold);
        assert_eq!(
            of(Expectation::Slower, 0.985, 0.995),
            Outcome::DoesNotHold,
            "too little to count"
        );
        assert_eq!(of(Expectation::Faster, 1.03, 1.1), Outcome::Holds);
        assert_eq!(of(Expectation::Faster, 1.01, 1.1), Outcome::Unknown);
        assert_eq!(of(Expectation::Faster, 0.9, 1.01), Outcome::DoesNotHold);
        assert_eq!(of(Expectation::NotSlower, 0.99, 1.3), Outcome::Holds);
        assert_eq!(of(Expectation::NotSlower, 0.5, 0.6), Outcome::DoesNotHold);
        assert_eq!(of(Expectation::Equal, 0.95, 1.05), Outcome::Holds);
        assert_eq!(of(Expectation::Equal, 0.85, 1.05), Outcome::Unknown);
        assert_eq!(of(Expectation::Equal, 0.5, 0.6), Outcome::DoesNotHold);
    }
}
