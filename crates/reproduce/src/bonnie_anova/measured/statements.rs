//! What the paper says about its file systems and actions, and whether it holds here.
//!
//! All but the tests of significance are about differences in percent of the grand mean, each with
//! an interval over blocks: a statement holds if the whole interval agrees with it, does not hold
//! if the whole interval disagrees, and is unknown otherwise.

use stats::design::Analysis;

use super::blocks::{Blocks, Estimate, Observed, difference, effect, share};
use super::{LEVEL, Outcome, Statement};
use crate::bonnie_anova::published::FILE_SYSTEMS;
use crate::bonnie_anova::tables::FACTORS;

/// Smaller differences do not count, in percent.
const MARGIN: f64 = 2.0;
/// How much values that are called alike may differ, in percent.
const ALIKE: f64 = 10.0;

/// What the paper says about a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expectation {
    More,
    Less,
    Alike,
}

/// A figure that is computed for each block.
#[derive(Clone, Copy, Debug)]
enum BlockFigure {
    /// The share of the variation explained by the action, minus that explained by the file system.
    Shares,
    /// By how much the first action is above the second.
    Actions(&'static str, &'static str),
    /// How far an action is from the grand mean.
    Action(&'static str),
    /// How far a file system is from the mean of the paper's three.
    FileSystem(&'static str),
    /// By how much the first file system is above the second.
    FileSystems(&'static str, &'static str),
}

struct Claim {
    source: &'static str,
    claim: &'static str,
    published: &'static str,
    expected: Expectation,
    figure: BlockFigure,
}

const CLAIMS: [Claim; 13] = [
    Claim {
        source: "section 3.1",
        claim: "the action explains more of the variation than the file system",
        published: "78.0 over 13.3 %: 64.6 more",
        expected: Expectation::More,
        figure: BlockFigure::Shares,
    },
    Claim {
        source: "section 3.1",
        claim: "entire blocks are written faster than single characters",
        published: "5997 over 2603 kB/s: 83.4 % of the mean more",
        expected: Expectation::More,
        figure: BlockFigure::Actions("output per block", "output per char"),
    },
    Claim {
        source: "section 3.2",
        claim: "output per character is slower than the mean of all actions",
        published: "-36.1 % [-60.5, -11.6]",
        expected: Expectation::Less,
        figure: BlockFigure::Action("output per char"),
    },
    Claim {
        source: "section 3.2",
        claim: "output per block is faster than the mean",
        published: "+47.3 % [+22.8, +71.8]",
        expected: Expectation::More,
        figure: BlockFigure::Action("output per block"),
    },
    Claim {
        source: "section 3.2",
        claim: "rewriting is slower than the mean",
        published: "-35.2 % [-59.7, -10.8]",
        expected: Expectation::Less,
        figure: BlockFigure::Action("rewrite"),
    },
    Claim {
        source: "section 3.2",
        claim: "input per character is slower than the mean",
        published: "-38.1 % [-62.6, -13.6]",
        expected: Expectation::Less,
        figure: BlockFigure::Action("input per char"),
    },
    Claim {
        source: "section 3.2",
        claim: "input per block is faster than the mean",
        published: "+62.1 % [+37.6, +86.6]",
        expected: Expectation::More,
        figure: BlockFigure::Action("input per block"),
    },
    Claim {
        source: "section 3.2",
        claim: "ext2 is faster than the mean of ext2, FAT16 and FAT32",
        published: "+20.0 % [+2.7, +37.3]",
        expected: Expectation::More,
        figure: BlockFigure::FileSystem("ext2"),
    },
    Claim {
        source: "section 3.2",
        claim: "FAT16 is neither faster nor slower than that mean",
        published: "+4.8 % [-12.5, +22.1]",
        expected: Expectation::Alike,
        figure: BlockFigure::FileSystem("FAT16"),
    },
    Claim {
        source: "section 3.2",
        claim: "FAT32 is slower than that mean",
        published: "-24.8 % [-42.1, -7.5]",
        expected: Expectation::Less,
        figure: BlockFigure::FileSystem("FAT32"),
    },
    Claim {
        source: "section 3.3",
        claim: "ext2 and FAT16 do not differ",
        published: "+15.2 %, not even at a level of 60 %",
        expected: Expectation::Alike,
        figure: BlockFigure::FileSystems("ext2", "FAT16"),
    },
    Claim {
        source: "section 3.3",
        claim: "ext2 is faster than FAT32",
        published: "+44.7 %, at a level of almost 80 % (above 99 % without the slip)",
        expected: Expectation::More,
        figure: BlockFigure::FileSystems("ext2", "FAT32"),
    },
    Claim {
        source: "section 3.3",
        claim: "FAT16 and FAT32 are almost the same",
        published: "+29.5 %, at a level of 60 % (almost 95 % without the slip)",
        expected: Expectation::Alike,
        figure: BlockFigure::FileSystems("FAT16", "FAT32"),
    },
];

/// All statements, in the order of the paper.
pub(super) fn all(
    observed: &Observed,
    blocks: &Blocks,
    together: Option<&Analysis>,
) -> Vec<Statement> {
    let of_paper = observed.blocks(&FILE_SYSTEMS.map(str::to_owned));
    let mut all = vec![
        significance(
            together,
            FACTORS[0],
            "the file system explains a significant part of the variation",
            "F = 6.1, over 4.4 at 95 %",
        ),
        significance(
            together,
            FACTORS[1],
            "the action explains a significant part of the variation",
            "F = 17.9, over 7.0 at 99 %",
        ),
    ];
    all.extend(CLAIMS.iter().map(|claim| statement(claim, blocks, &of_paper)));
    all
}

/// Whether a factor matters. The test cannot show that it does not, so that remains unknown.
fn significance(
    together: Option<&Analysis>,
    factor: &str,
    claim: &'static str,
    published: &'static str,
) -> Statement {
    let source = together.and_then(|one| one.anova.iter().find(|source| source.name == factor));
    let found = source.and_then(|one| Some((one.f?, one.f_quantiles.first()?.f, one.p?)));
    let (measured, outcome) = match found {
        Some((f, quantile, p)) => {
            let beside = if f > quantile { "over" } else { "under" };
            let percent = LEVEL * 100.0;
            let measured = format!("F = {f:.1}, {beside} {quantile:.1} at {percent:.0} %");
            (measured, if p < 1.0 - LEVEL { Outcome::Holds } else { Outcome::Unknown })
        }
        None => ("not measured".to_owned(), Outcome::Unknown),
    };
    let (tolerance, why) = (None, None);
    Statement { source: "section 3.1", claim, published, measured, outcome, tolerance, why }
}

fn statement(claim: &Claim, blocks: &Blocks, of_paper: &Blocks) -> Statement {
    let blocks = match claim.figure {
        BlockFigure::FileSystem(_) => of_paper,
        BlockFigure::Shares
        | BlockFigure::Actions(..)
        | BlockFigure::Action(_)
        | BlockFigure::FileSystems(..) => blocks,
    };
    let found = blocks.mean(|analysis| computed(claim.figure, analysis));
    Statement {
        source: claim.source,
        claim: claim.claim,
        published: claim.published,
        measured: found.map_or_else(|| unmeasured(claim.figure), |one| words(&one)),
        outcome: found.map_or(Outcome::Unknown, |one| outcome(claim.expected, &one)),
        tolerance: None,
        why: None,
    }
}

fn computed(figure: BlockFigure, analysis: &Analysis) -> Option<f64> {
    let [file_system, action] = FACTORS;
    match figure {
        BlockFigure::Shares => Some(share(analysis, action)? - share(analysis, file_system)?),
        BlockFigure::Actions(first, second) => difference(analysis, action, first, second),
        BlockFigure::Action(level) => effect(analysis, action, level),
        BlockFigure::FileSystem(level) => effect(analysis, file_system, level),
        BlockFigure::FileSystems(first, second) => difference(analysis, file_system, first, second),
    }
}

/// What a run would need to measure this.
fn unmeasured(figure: BlockFigure) -> String {
    match figure {
        BlockFigure::Shares | BlockFigure::Actions(..) | BlockFigure::Action(_) => {
            "not measured: it takes two file systems".to_owned()
        }
        BlockFigure::FileSystem(_) => {
            format!("not measured: it takes {}", FILE_SYSTEMS.join(", "))
        }
        BlockFigure::FileSystems(first, second) => {
            format!("not measured: it takes {first} and {second}")
        }
    }
}

fn words(of: &Estimate) -> String {
    match of.low.zip(of.high) {
        Some((low, high)) => format!("{:+.1} % [{low:+.1}, {high:+.1}]", of.mean),
        None => format!("{:+.1} %, without an interval: it takes two blocks", of.mean),
    }
}

/// Holds if the whole interval agrees, does not hold if the whole interval disagrees.
fn outcome(expected: Expectation, of: &Estimate) -> Outcome {
    let Some((low, high)) = of.low.zip(of.high) else { return Outcome::Unknown };
    let (holds, fails) = match expected {
        Expectation::More => (low > MARGIN, high < MARGIN),
        Expectation::Less => (high < -MARGIN, low > -MARGIN),
        Expectation::Alike => {
            let differ = low > MARGIN || high < -MARGIN;
            (!differ && low >= -ALIKE && high <= ALIKE, differ)
        }
    };
    Outcome::of_interval(holds, fails)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_holds_only_where_the_whole_interval_agrees() {
        let of = |expected, low: f64, high: f64| {
            let mean = f64::midpoint(low, high);
            outcome(expected, &Estimate { mean, low: Some(low), high: Some(high) })
        };
        assert_eq!(of(Expectation::More, 3.0, 9.0), Outcome::Holds);
        assert_eq!(of(Expectation::More, 1.0, 9.0), Outcome::Unknown);
        assert_eq!(of(Expectation::More, -3.0, 1.0), Outcome::DoesNotHold, "too little to count");
        assert_eq!(of(Expectation::Less, -9.0, -3.0), Outcome::Holds);
        assert_eq!(of(Expectation::Less, -9.0, -1.0), Outcome::Unknown);
        assert_eq!(of(Expectation::Less, -1.0, 9.0), Outcome::DoesNotHold);
        assert_eq!(of(Expectation::Alike, -9.0, 9.0), Outcome::Holds);
        assert_eq!(of(Expectation::Alike, -9.0, 11.0), Outcome::Unknown);
        assert_eq!(of(Expectation::Alike, 3.0, 5.0), Outcome::DoesNotHold, "it is told apart");
    }

    #[test]
    fn without_an_interval_nothing_is_judged() {
        let one = Estimate { mean: 50.0, low: None, high: None };
        assert_eq!(outcome(Expectation::More, &one), Outcome::Unknown);
        assert_eq!(words(&one), "+50.0 %, without an interval: it takes two blocks");
    }
}
