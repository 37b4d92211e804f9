//! Distributions under which some blocks, or files, are chosen more often than others.

mod normal;
mod pareto;
mod rejection;
mod scatter;
mod zipf;

pub use normal::Normal;
pub use pareto::Pareto;
pub use rejection::RejectionZipf;
pub use zipf::ApproximateZipf;

/// A skewed distribution, as options give it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skewed {
    /// Its shape.
    pub skew: Skew,
    /// Where the most frequent one is, from 0, the first, to 1. `None` if that is random, or for
    /// `normal` in the middle.
    pub center: Option<f64>,
}

/// The shape of a skewed distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Skew {
    /// Zipf's law: the frequency of the k-th most frequent one goes with 1/k^theta.
    Zipf {
        /// Not 1.
        theta: f64,
        /// How it is drawn from.
        sampler: ZipfSampler,
    },
    /// Pareto's: at h = 0.2, 20 % of the blocks get 80 % of the accesses.
    Pareto {
        /// From 0 to 1, neither included.
        h: f64,
    },
    /// About normal.
    Normal {
        /// What is added to the mean of 12 uniform numbers, in percent of the range: from 0 to 100.
        deviation_percent: f64,
    },
}

/// How Zipf's law is drawn from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZipfSampler {
    /// The approximation that fio uses, and its numbers one for one. All blocks are reached if
    /// there are a power of two of them, and theta is at most 1.2: of 16,000,000 blocks, hashing
    /// leaves 4,463,795, and of 2^24 ranks at theta = 1.5, 32 bits reach 3,152,556. After the
    /// second rank, frequencies are not those of the law: in 10^8 draws from 2^24 ranks at theta =
    /// 1.2, chi-square is 8,296 standard deviations above its mean.
    Approximate,
    /// The law itself, over all blocks. In as many draws, chi-square is 1.4 standard deviations
    /// above its mean.
    #[default]
    Exact,
}

/// Where frequent values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// All over the range.
    Hashed,
    /// Side by side.
    SideBySide,
}

/// A source of values from a skewed distribution.
#[derive(Clone, Debug)]
pub enum SkewedValues {
    /// Zipf's law as fio draws from it.
    ApproximateZipf(ApproximateZipf),
    /// Zipf's law.
    Zipf(RejectionZipf),
    /// Pareto's.
    Pareto(Pareto),
    /// About normal.
    Normal(Normal),
}

impl SkewedValues {
    /// Values from 0 to less than `range`.
    #[must_use]
    pub fn new(skewed: Skewed, range: u64, seed: u32, spread: Spread) -> Self {
        let Skewed { skew, center } = skewed;
        match skew {
            Skew::Zipf { theta, sampler: ZipfSampler::Approximate } => {
                Self::ApproximateZipf(ApproximateZipf::new(range, theta, center, seed, spread))
            }
            Skew::Zipf { theta, sampler: ZipfSampler::Exact } => {
                Self::Zipf(RejectionZipf::new(range, theta, center, seed, spread))
            }
            Skew::Pareto { h } => Self::Pareto(Pareto::new(range, h, center, seed, spread)),
            Skew::Normal { deviation_percent } => {
                Self::Normal(Normal::new(range, deviation_percent, center, seed, spread))
            }
        }
    }

    /// The next value.
    pub fn draw(&mut self) -> u64 {
        match self {
            Self::ApproximateZipf(values) => values.draw(),
            Self::Zipf(values) => values.draw(),
            Self::Pareto(values) => values.draw(),
            Self::Normal(values) => values.draw(),
        }
    }
}
