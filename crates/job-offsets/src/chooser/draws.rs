//! The generators of a job.

use super::rules::Rules;
use crate::direction::PerDirection;
use crate::generator::{Generator, Tausworthe88, low_bits};
use crate::seeds::{JobSeeds, Purpose};
use crate::skew::{SkewedValues, Spread};
use crate::spec::FileOrder;

/// A generator for each purpose.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    pub(super) offsets: Generator,
    pub(super) sizes: PerDirection<Generator>,
    pub(super) mix: Tausworthe88,
    pub(super) random_share: PerDirection<Tausworthe88>,
    pub(super) zones: Tausworthe88,
    pub(super) next_file: NextFile,
}

/// What the next file is drawn from.
#[derive(Clone, Debug)]
pub(super) enum NextFile {
    /// Files take turns.
    InTurn,
    /// All alike.
    Uniform(Generator),
    /// Some more often.
    Skewed(SkewedValues),
}

/// Each file is so many values of a skewed distribution, as a power of two.
const VALUES_BITS: u32 = 10;

impl Draws {
    pub(super) fn new(rules: &Rules, seeds: &JobSeeds) -> Self {
        let sizes = [Purpose::ReadSize, Purpose::WriteSize, Purpose::TrimSize];
        let [reads, writes, trims] = sizes.map(|purpose| seeds.generator(purpose));
        Self {
            offsets: seeds.generator(Purpose::Offset),
            sizes: PerDirection::new(reads, writes, trims),
            mix: seeds.narrow_generator(Purpose::Mix),
            random_share: PerDirection::all(&seeds.narrow_generator(Purpose::RandomShare)),
            zones: seeds.narrow_generator(Purpose::Zone),
            next_file: NextFile::new(rules, seeds),
        }
    }
}

impl NextFile {
    fn new(rules: &Rules, seeds: &JobSeeds) -> Self {
        match rules.spec.file_service.order {
            FileOrder::RoundRobin | FileOrder::Sequential => Self::InTurn,
            FileOrder::Random => Self::Uniform(seeds.generator(Purpose::NextFile)),
            FileOrder::Skewed(skewed) => {
                let range = (rules.files as u64) << VALUES_BITS;
                let seed = low_bits(seeds.seed(Purpose::NextFile));
                Self::Skewed(SkewedValues::new(skewed, range, seed, Spread::SideBySide))
            }
        }
    }

    /// A file out of so many. `None` if files take turns.
    pub(super) fn draw(&mut self, files: usize) -> Option<usize> {
        let file = match self {
            Self::InTurn => return None,
            Self::Uniform(generator) => generator.below(files as u64),
            Self::Skewed(values) => values.draw() >> VALUES_BITS,
        };
        Some(usize::try_from(file).expect("below a number of files").min(files - 1))
    }
}
