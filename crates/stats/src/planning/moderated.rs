//! Variances of many things that were each estimated from few values.
//!
//! From four runs, a variance has three degrees of freedom: one estimate in ten is below a fifth of
//! the truth, and one in ten is above twice the truth. A plan made from such estimates would treat
//! some benchmarks as steady and others as unsteady even if all are alike. So each estimate is
//! drawn towards what is common to all, the more so the less they differ beyond what chance
//! explains. The true variances are modelled as scaled inverse chi-square, with `d0` degrees of
//! freedom around `s0^2`, both estimated from the mean and the variance of the logarithms (Smyth,
//! "Linear Models and Empirical Bayes Methods for Assessing Differential Expression in Microarray
//! Experiments", Statistical Applications in Genetics and Molecular Biology 3(1), 2004, sections
//! 6.2 and 4). The result is the posterior mean of each variance, since a plan must also hold for
//! those that are larger than they look.

/// One variance, and its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatedVariance {
    /// The estimate, at least 0.
    pub variance: f64,
    /// At least 1.
    pub df: f64,
}

/// The variances, each drawn towards the others. Variances of 0 stay 0 and do not affect the
/// others; if fewer than three are above 0, all stay as they are.
#[must_use]
pub fn variances(estimates: &[EstimatedVariance]) -> Vec<f64> {
    let common = CommonVariance::fit(estimates);
    let moderated = |one: &EstimatedVariance| match &common {
        Some(common) if one.variance > 0.0 => common.moderated(one),
        _ => one.variance,
    };
    estimates.iter().map(moderated).collect()
}

/// The distribution common to all.
struct CommonVariance {
    variance: f64,
    /// Infinite if they differ no more than chance explains.
    df: f64,
}

impl CommonVariance {
    fn fit(estimates: &[EstimatedVariance]) -> Option<Self> {
        const ESTIMATES_MIN: usize = 3;
        let varying: Vec<&EstimatedVariance> =
            estimates.iter().filter(|one| one.variance > 0.0).collect();
        if varying.len() < ESTIMATES_MIN {
            return None;
        }
        let count = varying.len() as f64;
        // The logarithms, corrected for their bias.
        let logs: Vec<f64> =
            varying.iter().map(|one| one.variance.ln() - log_bias(one.df / 2.0)).collect();
        let mean = logs.iter().sum::<f64>() / count;
        let spread = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let by_chance = varying.iter().map(|one| trigamma(one.df / 2.0)).sum::<f64>() / count;
        let excess = spread - by_chance;
        if excess <= 0.0 {
            return Some(Self { variance: mean.exp(), df: f64::INFINITY });
        }
        let half = inverse_trigamma(excess);
        Some(Self { variance: (mean + log_bias(half)).exp(), df: 2.0 * half })
    }

    /// The mean of a scaled inverse chi-square, which exists above two degrees of freedom.
    fn moderated(&self, one: &EstimatedVariance) -> f64 {
        if self.df.is_infinite() {
            return self.variance;
        }
        let df = self.df + one.df;
        let sum = self.df * self.variance + one.df * one.variance;
        sum / if df > 3.0 { df - 2.0 } else { df }
    }
}

/// The mean of the logarithm of chi-square over its degrees of freedom, given half of these.
fn log_bias(half: f64) -> f64 {
    digamma(half) - half.ln()
}

/// From here on, the asymptotic series are exact to 13 digits.
const ASYMPTOTIC: f64 = 12.0;

/// The derivative of the logarithm of the gamma function (Abramowitz & Stegun, "Handbook of
/// Mathematical Functions", equations 6.3.5 and 6.3.18), for `x` above 0.
fn digamma(x: f64) -> f64 {
    if x < ASYMPTOTIC {
        return digamma(x + 1.0) - 1.0 / x;
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0))));
    x.ln() - 0.5 / x - series
}

/// Its derivative (ibid., equations 6.4.6 and 6.4.12).
fn trigamma(x: f64) -> f64 {
    if x < ASYMPTOTIC {
        return trigamma(x + 1.0) + 1.0 / (x * x);
    }
    let square = 1.0 / (x * x);
    let series = square
        * (1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square * (1.0 / 30.0))));
    1.0 / x + 0.5 * square + series / x
}

/// The argument at which trigamma, which falls from infinity to 0, has this value above 0: by
/// bisection on a logarithmic scale.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (-40.0_f64, 40.0_f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if trigamma(middle.exp()) > value {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high).exp()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{ChiSquared, Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    // From SciPy 1.17.1: `scipy.special.digamma(x)` and `polygamma(1, x)`.
    #[test]
    fn both_functions_are_those_of_scipy() {
        let table = [
            (0.5, -1.963_510_026_021_423_5, 4.934_802_200_544_679),
            (1.0, -0.577_215_664_901_532_9, 1.644_934_066_848_226_4),
            (1.5, 0.036_489_973_978_576_52, 0.934_802_200_544_679_3),
            (20.0, 2.970_523_992_242_149, 0.051_270_822_935_203_12),
        ];
        for (x, first, second) in table {
            assert!((digamma(x) - first).abs() < 1e-12, "{x}: {}", digamma(x));
            assert!((trigamma(x) - second).abs() < 1e-12, "{x}: {}", trigamma(x));
            assert!((inverse_trigamma(second) / x - 1.0).abs() < 1e-9, "{x}");
        }
    }

    fn drawn_variances(variances: &[f64], df: f64, seed: u64) -> Vec<EstimatedVariance> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let chi_square = ChiSquared::new(df).expect("above 0");
        let estimate = |truth: &f64| EstimatedVariance {
            variance: truth * chi_square.sample(&mut random) / df,
            df,
        };
        variances.iter().map(estimate).collect()
    }

    /// How far estimates are from the truth: the mean squared error of their logarithms.
    fn error(estimates: impl Iterator<Item = f64>, truth: &[f64]) -> f64 {
        let errors = estimates.zip(truth).map(|(got, truth)| (got / truth).ln().powi(2));
        errors.sum::<f64>() / truth.len() as f64
    }

    #[test]
    fn variances_that_are_one_are_found_to_be_one() {
        let truth = [0.0004; 60];
        let got = variances(&drawn_variances(&truth, 3.0, 1));
        let (least, most) = got
            .iter()
            .fold((f64::INFINITY, 0.0), |(least, most), &one| (one.min(least), one.max(most)));
        assert!(most / least < 1.6 && least > 0.0002 && most < 0.0008, "{least} {most}");
    }

    #[test]
    fn variances_that_differ_are_nearer_to_the_truth_than_each_alone() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let normal = |_: u32| -> f64 { StandardNormal.sample(&mut random) };
        let truth: Vec<f64> = (0..200).map(normal).map(|z| (2.0 * z).exp() * 1e-4).collect();
        let alone = drawn_variances(&truth, 3.0, 3);
        let moderated = error(variances(&alone).into_iter(), &truth);
        let alone = error(alone.iter().map(|one| one.variance), &truth);
        assert!(moderated < 0.8 * alone, "{moderated} of {alone}");
    }

    #[test]
    fn what_does_not_vary_stays_so_and_few_stay_as_they_are() {
        let mut estimates = drawn_variances(&[1e-4; 20], 3.0, 4);
        let without = variances(&estimates);
        estimates.push(EstimatedVariance { variance: 0.0, df: 3.0 });
        let with = variances(&estimates);
        assert_eq!((&with[..20], with[20]), (&without[..], 0.0));
        let two = drawn_variances(&[1.0, 4.0], 3.0, 5);
        assert_eq!(variances(&two), [two[0].variance, two[1].variance]);
    }
}
