//! The full law's parameters when throughputs come in blocks.
//!
//! Whatever affected a block affected all its values, so they are not independent observations:
//! intervals that assume so contain the truth in only two cases of three. Leaving out one block
//! after another shows how much the parameters depend on the blocks (the jackknife: Miller, "The
//! Jackknife: A Review", Biometrika 61(1), 1974). With B blocks, B times the estimate from all
//! minus B - 1 times that without one block is that block's pseudovalue, and Student's t on the
//! pseudovalues gives the interval.

use super::{Data, Errors, Model};
use crate::interval::{Interval, t_interval};
use crate::refusal::{Refusal, check_count, check_open_unit};

/// Minimum number of blocks.
const BLOCKS_MIN: usize = 3;

/// A parameter and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The estimate from all blocks.
    pub value: f64,
    /// Its interval; for alpha and beta it may reach below 0.
    pub interval: Interval,
}

/// The Universal Scalability Law fitted to throughputs in blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfBlocks {
    /// Throughput at a concurrency of one.
    pub gamma: Parameter,
    /// Cost of waiting.
    pub alpha: Parameter,
    /// Cost of agreeing.
    pub beta: Parameter,
    /// The concurrency of highest throughput; none if it is not certain that there is one.
    pub peak_n: Option<Parameter>,
}

/// Fits the full law to blocks of throughputs, each at its concurrency (n, x), assuming
/// proportional errors.
///
/// # Errors
/// Refuses fewer than three blocks, fewer than four distinct concurrencies once any block is left
/// out, and whatever [`super::scalability`] refuses.
pub fn of_blocks(blocks: &[Vec<(f64, f64)>], level: f64) -> Result<OfBlocks, Refusal> {
    check_open_unit("the level", level)?;
    check_count("a law by blocks", blocks.len(), BLOCKS_MIN as u64)?;
    let without = |left_out: Option<usize>| {
        let kept = blocks.iter().enumerate().filter(|(place, _)| Some(*place) != left_out);
        let (n, x): (Vec<f64>, Vec<f64>) = kept.flat_map(|(_, block)| block).copied().unzip();
        let data = Data::new(&n, &x, Errors::InProportion, level)?;
        let optimum = data.optimum(Model::Usl)?;
        Ok([optimum.curve.gamma * optimum.unit, optimum.curve.alpha, optimum.curve.beta])
    };
    let all = without(None)?;
    let each = (0..blocks.len()).map(|block| without(Some(block)));
    let each: Vec<[f64; 3]> = each.collect::<Result<_, Refusal>>()?;
    let count = blocks.len() as f64;
    let jackknifed = |of: &dyn Fn([f64; 3]) -> f64| {
        let given: Vec<f64> =
            each.iter().map(|one| count * of(all) - (count - 1.0) * of(*one)).collect();
        let interval = t_interval(&given, level);
        // Centred on the estimate from all blocks, not on the mean of the pseudovalues.
        let reach = interval.half_width();
        (of(all) - reach, of(all) + reach)
    };
    let plain = |which: usize| {
        let (low, high) = jackknifed(&|parameters| parameters[which]);
        Parameter { value: all[which], interval: Interval { low, high, level } }
    };
    let by_logarithm = |of: &dyn Fn([f64; 3]) -> f64| {
        let (low, high) = jackknifed(&|parameters| of(parameters).ln());
        let is_known = low.is_finite() && high.is_finite();
        let interval = Interval { low: low.exp(), high: high.exp(), level };
        is_known.then(|| Parameter { value: of(all), interval })
    };
    let peak = |[_, alpha, beta]: [f64; 3]| ((1.0 - alpha) / beta).sqrt();
    let (alpha, beta) = (plain(1), plain(2));
    let has_peak = beta.interval.low > 0.0 && alpha.interval.high >= 0.0;
    let peak_n = has_peak.then(|| by_logarithm(&peak)).flatten();
    let gamma = by_logarithm(&|parameters| parameters[0]);
    let (what, why) = ("the throughput of one", "leaving out a block leaves none");
    let gamma = gamma.ok_or(Refusal::NotIdentified { what, why })?;
    Ok(OfBlocks { gamma, alpha, beta, peak_n })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const N: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0];
    const TRUTH: [f64; 3] = [100.0, 0.1, 0.01];

    /// Values vary by 3 %, blocks as a whole by 5 %.
    fn blocks(count: usize, seed: u64) -> Vec<Vec<(f64, f64)>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
        let [gamma, alpha, beta] = TRUTH;
        let mut block = |_| {
            let of_block = 0.05 * normal();
            let mut value = |&n: &f64| {
                let law = gamma * n / (1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0));
                (n, law * (of_block + 0.03 * normal()).exp())
            };
            N.iter().map(&mut value).collect()
        };
        (0..count).map(&mut block).collect()
    }

    #[test]
    fn intervals_hold_what_made_the_values() {
        let trials = 400;
        let mut held = [0; 4];
        let mut peaks = 0;
        for seed in 0..trials {
            let got = of_blocks(&blocks(8, seed), 0.95).expect("a law");
            for (count, (one, truth)) in
                held.iter_mut().zip([got.gamma, got.alpha, got.beta].iter().zip(TRUTH))
            {
                *count += u32::from(one.interval.contains(truth));
            }
            if let Some(peak) = got.peak_n {
                peaks += 1;
                held[3] += u32::from(peak.interval.contains(90_f64.sqrt()));
            }
        }
        let share = |count: u32, of: u64| f64::from(count) / of as f64;
        for count in &held[..3] {
            assert!((0.915..=0.985).contains(&share(*count, trials)), "{held:?} of {trials}");
        }
        assert!(peaks > 300 && share(held[3], peaks) > 0.9, "{} of {peaks}", held[3]);
    }

    #[test]
    fn what_says_too_little_is_refused() {
        assert!(matches!(of_blocks(&blocks(2, 1), 0.95), Err(Refusal::TooFew { .. })));
        let few: Vec<Vec<(f64, f64)>> =
            blocks(8, 1).into_iter().map(|block| block[..3].to_vec()).collect();
        assert!(of_blocks(&few, 0.95).unwrap_err().to_string().contains("at least 4"));
    }
}
