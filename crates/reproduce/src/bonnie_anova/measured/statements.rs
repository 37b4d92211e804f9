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
use crate::margin::Margin;

/// What the paper's words about a difference mean, in percent of the grand mean.
const MORE: Margin = Margin::above(2.0, "2 % are the least that counts");
const LESS: Margin = Margin::below(-2.0, "2 % are the least that counts");
const ALIKE: Margin = Margin::between(-10.0, 10.0, "a tenth; the paper calls +29.5 % almost alike");

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
    means: Margin,
    figure: BlockFigure,
}

const CLAIMS: [Claim; 13] = [
    Claim {
        source: "section 3.1",
        claim: "the action explains more of the variation than the file system",
        published: "78.0 over 13.3 %: 64.6 more",
        means: MORE,
        figure: BlockFigure::Shares,
    },
    Claim {
        source: "section 3.1",
        claim: "entire blocks are written faster than single characters",
        published: "5997 over 2603 kB/s: 83.4 % of the mean more",
        means: MORE,
        figure: BlockFigure::Actions("output per block", "output per char"),
    },
    Claim {
        source: "section 3.2",
        claim: "output per character is slower than the mean of all actions",
        published: "-1469 kB/s (-2465, -473): -36.1 % of the mean",
        means: LESS,
        figure: BlockFigure::Action("output per char"),
    },
    Claim {
        source: "section 3.2",
        claim: "output per block is faster than the mean",
        published: "1925 kB/s (929, 2922): +47.3 %",
        means: MORE,
        figure: BlockFigure::Action("output per block"),
    },
    Claim {
        source: "section 3.2",
        claim: "rewriting is slower than the mean",
        published: "-1434 kB/s (-2431, -438): -35.2 %",
        means: LESS,
        figure: BlockFigure::Action("rewrite"),
    },
    Claim {
        source: "section 3.2",
        claim: "input per character is slower than the mean",
        published: "-1551 kB/s (-2547, -555): -38.1 %",
        means: LESS,
        figure: BlockFigure::Action("input per char"),
    },
    Claim {
        source: "section 3.2",
        claim: "input per block is faster than the mean",
        published: "2529 kB/s (1533, 3526): +62.1 %",
        means: MORE,
        figure: BlockFigure::Action("input per block"),
    },
    Claim {
        source: "section 3.2",
        claim: "ext2 is faster than the mean of ext2, FAT16 and FAT32",
        published: "814 kB/s (110, 1519): +20.0 %",
        means: MORE,
        figure: BlockFigure::FileSystem("ext2"),
    },
    Claim {
        source: "section 3.2",
        claim: "FAT16 is neither faster nor slower than that mean",
        published: "194 kB/s (-511, 898): +4.8 %",
        means: ALIKE,
        figure: BlockFigure::FileSystem("FAT16"),
    },
    Claim {
        source: "section 3.2",
        claim: "FAT32 is slower than that mean",
        published: "-1008 kB/s (-1712, -303): -24.8 %",
        means: LESS,
        figure: BlockFigure::FileSystem("FAT32"),
    },
    Claim {
        source: "section 3.3",
        claim: "ext2 and FAT16 do not differ",
        published: "620 kB/s, +15.2 %: not even at a level of 60 %",
        means: ALIKE,
        figure: BlockFigure::FileSystems("ext2", "FAT16"),
    },
    Claim {
        source: "section 3.3",
        claim: "ext2 is faster than FAT32",
        published: "1822 kB/s, +44.7 %: at a level of almost 80 % (above 99 % without the slip)",
        means: MORE,
        figure: BlockFigure::FileSystems("ext2", "FAT32"),
    },
    Claim {
        source: "section 3.3",
        claim: "FAT16 and FAT32 are almost the same",
        published: "1202 kB/s, +29.5 %: at a level of 60 % (almost 95 % without the slip)",
        means: ALIKE,
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
    let tolerance = Some(format!("p below {:.2}; otherwise it cannot be told", 1.0 - LEVEL));
    let why = None;
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
        outcome: found.map_or(Outcome::Unknown, |one| outcome(&claim.means, &one)),
        tolerance: Some(claim.means.words()),
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

fn outcome(means: &Margin, of: &Estimate) -> Outcome {
    of.low.zip(of.high).map_or(Outcome::Unknown, |(low, high)| means.judge(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_interval_nothing_is_judged() {
        let one = Estimate { mean: 50.0, low: None, high: None };
        assert_eq!(outcome(&MORE, &one), Outcome::Unknown);
        assert_eq!(words(&one), "+50.0 %, without an interval: it takes two blocks");
    }
}
