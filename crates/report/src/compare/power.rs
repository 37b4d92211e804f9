//! What a number of runs per side can show, and how many it takes to show less.

use schemars::JsonSchema;
use serde::Serialize;
use stats::planning::power::{least_detectable_of_runs, runs_needed};

use super::comparisons::POWER;

/// Largest number of runs per side that is considered.
const RUNS_MAX: u64 = 100;
/// The ratio to detect: one that most people would act on.
const RATIO: f64 = 1.05;

/// What runs like these can show about a single benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Power {
    /// How much results vary from run to run: the standard deviation of their logarithm, in
    /// percent, as a median over the benchmarks.
    pub runs_differ_percent: f64,
    /// Number of runs on the first side.
    pub first_runs: u64,
    /// Number of runs on the second side.
    pub second_runs: u64,
    /// The smallest ratio above 1 that this many runs show four times out of five, before p is
    /// adjusted for the number of comparisons.
    pub least_detectable_ratio: f64,
    /// Number of runs per side needed to show a ratio of 1.05 four times out of five; none if more
    /// than 100.
    pub runs_for_5_percent: Option<u64>,
}

impl Power {
    /// For benchmarks whose logarithms have these standard deviations from run to run.
    pub(super) fn new(mut deviations: Vec<f64>, runs: [u64; 2], level: f64) -> Option<Self> {
        deviations.retain(|deviation| deviation.is_finite() && *deviation > 0.0);
        deviations.sort_by(f64::total_cmp);
        let deviation = *deviations.get(deviations.len() / 2)?;
        let shown = |runs| {
            let least = least_detectable_of_runs(runs, level, POWER).ok()?;
            Some((least * deviation).exp())
        };
        Some(Self {
            runs_differ_percent: deviation * 100.0,
            first_runs: runs[0],
            second_runs: runs[1],
            least_detectable_ratio: shown(runs)?,
            runs_for_5_percent: runs_needed(RATIO.ln() / deviation, level, POWER, RUNS_MAX)
                .ok()
                .flatten(),
        })
    }

    pub(super) fn sentence(&self) -> String {
        let needed = match self.runs_for_5_percent {
            Some(runs) => format!("1.05x needs {runs} runs a side"),
            None => format!("1.05x needs more than {RUNS_MAX} runs a side"),
        };
        format!(
            "{} and {} runs show a ratio of {:.2}x four times in five; {needed} (runs on a side \
             vary by {:.1} %, the median over benchmarks)",
            self.first_runs,
            self.second_runs,
            self.least_detectable_ratio,
            self.runs_differ_percent,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 2 runs per side there are 2 degrees of freedom. According to `statsmodels` 0.15,
    /// `TTestIndPower().solve_power(nobs1=n, alpha=.05, power=.8)` is 5.653 standard deviations for
    /// 2 runs, 3.071 for 3 and 1.325 for 10.
    #[test]
    fn more_runs_show_less() {
        let shown = |runs: u64| {
            Power::new(vec![0.01, 0.02, 0.9], [runs; 2], 0.95).unwrap().least_detectable_ratio
        };
        for (runs, deviations) in [(2, 5.653_489), (3, 3.070_892), (10, 1.324_947)] {
            assert!((shown(runs).ln() / 0.02 - deviations).abs() < 1e-3, "{runs}: {}", shown(runs));
        }
        let power = Power::new(vec![0.02], [3, 3], 0.95).unwrap();
        let needed = power.runs_for_5_percent.unwrap();
        assert!(shown(needed) <= 1.05 && shown(needed - 1) > 1.05);
        assert!(power.sentence().contains(&format!("1.05x needs {needed} runs a side")));
        assert_eq!(Power::new(Vec::new(), [3, 3], 0.95), None);
    }
}
