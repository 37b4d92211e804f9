//! What ends a job, or how deep its queue is, depending on what it measures.

use job_results::{SteadyGoal, SteadyQuantity, SteadyTest, SteadyUnit};

use super::given::Values;

/// The depth that keeps latencies below a target (`latency_target`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTarget {
    /// What latencies may be, in nanoseconds.
    pub target_ns: u64,
    /// Over what time it is judged, in microseconds.
    pub window_us: u64,
    /// Which share of operations must be below, in percent.
    pub percentile: f64,
    /// Whether the search goes on after it has found a depth.
    pub goes_on: bool,
}

impl LatencyTarget {
    pub(super) fn read(given: Values<'_>) -> Option<Self> {
        let target_ns = given.microseconds("latency_target").saturating_mul(1000);
        let window_us = given.microseconds("latency_window");
        let percentile = given.floats("latency_percentile").and_then(|all| all.first().copied());
        let goes_on = given.switch("latency_run", false);
        let percentile = percentile.unwrap_or(100.0);
        (target_ns > 0).then_some(Self { target_ns, window_us, percentile, goes_on })
    }
}

/// When a job is steady, and then ends (`steadystate`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyPlan {
    /// What is steady.
    pub goal: SteadyGoal,
    /// From when on it is judged, in microseconds.
    pub ramp_us: u64,
}

impl SteadyPlan {
    pub(super) fn read(given: Values<'_>) -> Result<Option<Self>, (&'static str, String)> {
        let duration_s = given.microseconds("steadystate_duration") / 1_000_000;
        let ramp_us = given.microseconds("steadystate_ramp_time");
        let (word, rest) = given.choice("steadystate").unwrap_or(("iops_slope", Some("0.01%")));
        let wrong = |why: String| ("steadystate", why);
        let rest =
            rest.ok_or_else(|| wrong(format!("a limit has to follow, such as {word}:0.5%")))?;
        let (number, unit) = match rest.split_once('%') {
            Some((number, _)) => (number, SteadyUnit::Percent),
            None => (rest, SteadyUnit::Absolute),
        };
        let limit = match (word.starts_with("bw"), unit) {
            (true, SteadyUnit::Absolute) => given.base().bytes(number).map(|bytes| bytes as f64),
            (_, _) => number.trim().parse().map_err(|_| format!("`{number}` is not a number")),
        };
        let goal = SteadyGoal {
            quantity: match word.starts_with("bw") {
                true => SteadyQuantity::Bandwidth,
                false => SteadyQuantity::Iops,
            },
            test: match word.ends_with("slope") {
                true => SteadyTest::Slope,
                false => SteadyTest::Deviation,
            },
            unit,
            limit: limit.map_err(wrong)?,
            duration_s: usize::try_from(duration_s).unwrap_or(usize::MAX),
        };
        Ok((duration_s > 0).then_some(Self { goal, ramp_us }))
    }
}
