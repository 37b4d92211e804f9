//! How many runs of what length show a change, judging by a pilot of a few runs.
//!
//! The result of a run varies for two reasons. Blocks vary within it, which longer runs average
//! out; and each run has effects of its own, such as where its files were placed, which only more
//! runs average out. The variance of the results of runs is the sum of both; the first is known
//! from the blocks, and the rest is the second (Snedecor & Cochran, "Statistical Methods", 7th
//! edition, sections 13.3 and 13.8; Kalibera & Jones, "Rigorous Benchmarking in Reasonable Time",
//! sections 6 and 7).

use super::moderated::{self, EstimatedVariance};
use crate::sample;
use crate::trimmed;

/// How the logarithm of a run's result on one benchmark varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSpread {
    /// The variance from run to run, in runs as long as the pilot's.
    pub variance: f64,
    /// The part of it that is due to blocks.
    pub within: f64,
}

impl RunSpread {
    /// The variance from run to run, in runs with this many times as many blocks.
    #[must_use]
    pub fn of_longer(&self, times: f64) -> f64 {
        self.variance - self.within + self.within / times
    }
}

/// How much each benchmark varies. A benchmark is given as its runs, and a run as the values of its
/// blocks. None for a benchmark with fewer than two runs whose values exist and are all above 0.
#[must_use]
pub fn spreads(benchmarks: &[Vec<Vec<f64>>]) -> Vec<Option<RunSpread>> {
    let found: Vec<Option<PilotSpread>> =
        benchmarks.iter().map(|runs| PilotSpread::from_runs(runs)).collect();
    let estimates: Vec<EstimatedVariance> = found.iter().flatten().map(|one| one.between).collect();
    let mut moderated = moderated::variances(&estimates).into_iter();
    let mut spread = |one: &PilotSpread| {
        let variance = moderated.next()?;
        Some(RunSpread { variance, within: one.within.min(variance) })
    };
    found.iter().map(|one| one.as_ref().and_then(&mut spread)).collect()
}

/// What a pilot shows about one benchmark.
struct PilotSpread {
    between: EstimatedVariance,
    within: f64,
}

impl PilotSpread {
    fn from_runs(runs: &[Vec<f64>]) -> Option<Self> {
        let typical: Vec<f64> =
            runs.iter().filter_map(|values| Some(trimmed::typical(values)?.ln())).collect();
        if typical.len() < 2 {
            return None;
        }
        let between = EstimatedVariance {
            variance: sample::standard_deviation(&typical).powi(2),
            df: typical.len() as f64 - 1.0,
        };
        let squares: Vec<f64> = runs.iter().filter_map(|values| square_error(values)).collect();
        let within = if squares.is_empty() { 0.0 } else { sample::mean(&squares) };
        Some(Self { between, within })
    }
}

/// The squared standard error of the typical value of a run's blocks.
fn square_error(values: &[f64]) -> Option<f64> {
    const VALUES_MIN: usize = 3;
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let is_usable = logs.len() >= VALUES_MIN && logs.iter().all(|log| log.is_finite());
    let error = is_usable.then(|| trimmed::trimmed_mean(&logs, 0.0)).flatten()?;
    Some(error.standard_error.powi(2))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::independent::Independent;
    use crate::planning::power::runs_needed;

    /// The standard deviations of the effects of runs and of blocks.
    #[derive(Clone, Copy)]
    struct Deviations {
        between: f64,
        within: f64,
    }

    /// Runs of a benchmark whose effects vary by `deviations`.
    fn runs(
        deviations: Deviations,
        count: usize,
        blocks: usize,
        random: &mut Xoshiro256PlusPlus,
    ) -> Vec<Vec<f64>> {
        let mut normal = || -> f64 { StandardNormal.sample(random) };
        let mut run = |_: usize| -> Vec<f64> {
            let own = deviations.between * normal();
            (0..blocks).map(|_| 1000.0 * (own + deviations.within * normal()).exp()).collect()
        };
        (0..count).map(&mut run).collect()
    }

    #[test]
    fn effects_of_runs_and_of_blocks_are_told_apart() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut mean_spread = |between, within| {
            let deviations = Deviations { between, within };
            let all: Vec<Vec<Vec<f64>>> =
                (0..300).map(|_| runs(deviations, 4, 10, &mut random)).collect();
            let all = spreads(&all);
            let mean = |part: fn(&RunSpread) -> f64| {
                all.iter().flatten().map(part).sum::<f64>() / all.len() as f64
            };
            (mean(|one| one.variance), mean(|one| one.within))
        };
        let (variance, within) = mean_spread(0.0, 0.1);
        // The variance of the trimmed mean of ten normal values is a tenth larger than that of
        // their mean.
        assert!((variance / 0.0011 - 1.0).abs() < 0.1, "{variance}");
        assert!(within / variance > 0.8, "{within} of {variance}");
        let (variance, within) = mean_spread(0.03, 0.01);
        assert!((variance / 0.000_91 - 1.0).abs() < 0.1, "{variance}");
        assert!(within / variance < 0.05, "{within} of {variance}");
    }

    /// A plan made from four runs keeps its promise: as many runs of as many blocks show the change
    /// as often as it says.
    #[test]
    fn what_is_planned_shows_the_change_as_often_as_it_says() {
        const BENCHMARKS: usize = 40;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut shown = (0, 0);
        for _ in 0..20 {
            let deviations: Vec<Deviations> = (0..BENCHMARKS)
                .map(|_| {
                    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
                    let between = 0.02 * (0.5 * normal()).exp();
                    Deviations { between, within: 0.05 * (0.5 * normal()).exp() }
                })
                .collect();
            let pilot: Vec<Vec<Vec<f64>>> =
                deviations.iter().map(|&one| runs(one, 4, 8, &mut random)).collect();
            for (&deviations, spread) in deviations.iter().zip(spreads(&pilot)) {
                let longer = spread.expect("it has runs").of_longer(2.0);
                let change = 1.05_f64.ln() / longer.sqrt();
                let count = runs_needed(change, 0.95, 0.8, 100).expect("it is a plan");
                let Some(count) = count else { continue };
                let count = usize::try_from(count).expect("it is small");
                let typical = |run: &Vec<f64>| trimmed::typical(run).expect("above 0");
                let mut side = |times: f64| -> Vec<f64> {
                    let side = runs(deviations, count, 16, &mut random);
                    side.iter().map(|run| times * typical(run)).collect()
                };
                let (before, after) = (side(1.0), side(1.05));
                let p = Independent::of_runs(&after, &before).expect("they vary").p();
                shown = (shown.0 + usize::from(p <= 0.05), shown.1 + 1);
            }
        }
        let share = shown.0 as f64 / shown.1 as f64;
        assert!((0.74..0.9).contains(&share), "{share}");
    }

    #[test]
    fn longer_runs_average_out_what_blocks_vary_by_and_nothing_else() {
        let spread = RunSpread { variance: 5.0, within: 4.0 };
        assert_eq!([1.0, 2.0, 4.0].map(|times| spread.of_longer(times)), [5.0, 3.0, 2.0]);
    }

    #[test]
    fn what_has_one_run_has_no_spread_and_what_is_counted_has_none_at_all() {
        let got = spreads(&[vec![vec![1.0; 8]], vec![vec![7.0; 8]; 4], vec![Vec::new(); 4]]);
        assert_eq!(got, [None, Some(RunSpread { variance: 0.0, within: 0.0 }), None]);
    }
}
