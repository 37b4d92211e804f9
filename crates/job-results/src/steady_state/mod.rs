//! Whether a job reached a steady state, which then ended it: `steadystate`.

mod detector;

pub use detector::SteadyStateDetector;

/// What is to become steady.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyQuantity {
    /// Operations per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
}

impl SteadyQuantity {
    /// Its name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Bandwidth => "bw",
        }
    }
}

/// How steadiness is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyTest {
    /// By the largest difference from the mean.
    Deviation,
    /// By the slope of the line of least squares.
    Slope,
}

/// What a limit is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyUnit {
    /// The quantity itself.
    Absolute,
    /// Percent of its mean.
    Percent,
}

/// When a job is steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyGoal {
    /// What is to become steady.
    pub quantity: SteadyQuantity,
    /// How that is judged.
    pub test: SteadyTest,
    /// What the limit is a number of.
    pub unit: SteadyUnit,
    /// Below which deviation or slope it is steady.
    pub limit: f64,
    /// For how many seconds: `steadystate_duration`.
    pub duration_s: usize,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// When the job is steady.
    pub goal: SteadyGoal,
    /// Whether it became so.
    pub is_attained: bool,
    /// The last deviation or slope, in the unit of the limit.
    pub criterion: f64,
    /// The largest difference from the mean.
    pub deviation: f64,
    /// The slope.
    pub slope: f64,
    /// The last seconds' bytes per second, oldest first; 0 for seconds that did not come.
    pub bandwidth: Vec<u64>,
    /// The last seconds' operations per second, in the same order.
    pub iops: Vec<u64>,
}

impl SteadyState {
    /// The mean of bytes per second.
    pub fn bandwidth_mean(&self) -> u64 {
        mean(&self.bandwidth)
    }

    /// The mean of operations per second.
    pub fn iops_mean(&self) -> u64 {
        mean(&self.iops)
    }
}

/// Rounded down; 0 of nothing.
fn mean(samples: &[u64]) -> u64 {
    samples.iter().sum::<u64>().checked_div(samples.len() as u64).unwrap_or(0)
}
