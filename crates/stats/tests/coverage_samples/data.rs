//! Kinds of data to simulate, with known true values.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) type Random = Xoshiro256PlusPlus;

/// By what factor values of the second of two samples are larger.
pub(crate) const SCALE: f64 = 1.2;

/// The distribution that series are drawn from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Data {
    /// Mean 10, standard deviation 1.
    Normal,
    /// ln X is standard normal: skewness 6.
    LogNormal,
    /// 70 % around 10 and 30 % around 20, each with standard deviation 1: a cache hit or miss.
    Bimodal,
    /// Like normal, with each value correlated by 0.6 with the previous one: AR(1).
    Remembering,
}

impl Data {
    pub(crate) const ALL: [Self; 4] =
        [Self::Normal, Self::LogNormal, Self::Bimodal, Self::Remembering];

    pub(crate) fn mean(self) -> f64 {
        match self {
            Self::Normal | Self::Remembering => 10.0,
            Self::LogNormal => 0.5_f64.exp(),
            Self::Bimodal => 13.0,
        }
    }

    pub(crate) fn median(self) -> f64 {
        match self {
            Self::Normal | Self::Remembering => 10.0,
            Self::LogNormal => 1.0,
            // The normal quantile of 0.5 / 0.7; the values around 20 do not reach down here.
            Self::Bimodal => 10.0 + 0.565_948_821_932_863_3,
        }
    }

    pub(crate) fn p90(self) -> f64 {
        const Z: f64 = 1.281_551_565_544_600_4;
        match self {
            Self::Normal | Self::Remembering => 10.0 + Z,
            Self::LogNormal => Z.exp(),
            // The normal quantile of 0.2 / 0.3.
            Self::Bimodal => 20.0 + 0.430_727_299_295_457_5,
        }
    }

    pub(crate) fn draw(self, random: &mut Random, n: usize) -> Vec<f64> {
        let mut before: Option<f64> = None;
        let one = || {
            let noise: f64 = StandardNormal.sample(random);
            match self {
                Self::Normal => 10.0 + noise,
                Self::LogNormal => noise.exp(),
                Self::Bimodal if random.random_bool(0.7) => 10.0 + noise,
                Self::Bimodal => 20.0 + noise,
                Self::Remembering => {
                    // Stationary from the first value on.
                    let now = before.map_or(noise, |before| 0.6 * before + 0.8 * noise);
                    before = Some(now);
                    10.0 + now
                }
            }
        };
        std::iter::repeat_with(one).take(n).collect()
    }

    /// Two series that share a factor within each pair; the second is larger by [`SCALE`].
    pub(crate) fn draw_pairs(self, random: &mut Random, n: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut a, mut b) = (self.draw(random, n), self.draw(random, n));
        for (a, b) in a.iter_mut().zip(&mut b) {
            let common: f64 = StandardNormal.sample(random);
            *a *= (0.3 * common).exp();
            *b *= SCALE * (0.3 * common).exp();
        }
        (a, b)
    }
}

/// The share of seeded trials in which `event` happens.
pub(crate) fn share(trials: u32, seed: u64, mut event: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random::seed_from_u64(seed);
    let happened = (0..trials).filter(|_| event(&mut random)).count();
    happened as f64 / f64::from(trials)
}
