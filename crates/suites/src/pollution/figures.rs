//! From the rounds of a replicate to its figures.

use measure::{Clock, SystemClock};
use record::{Better, MetricDefinition};
use workload::{Interleaved, RoundTicks};

/// The figures of a replicate. Times are interquartile means of the rounds, which single
/// interruptions do not move, less what it takes to read the clock and to enter the code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figures {
    /// A round with an operation after each, in ns.
    beside_operation_ns: f64,
    /// A round alone.
    alone_ns: f64,
    /// A round with an empty system call after each.
    beside_empty_call_ns: f64,
    /// The operation itself.
    operation_ns: f64,
    /// The empty system call itself.
    empty_call_ns: f64,
    /// What has been taken off each time.
    overhead_ns: f64,
}

impl Figures {
    /// Computes them.
    pub(super) fn new(measured: &Interleaved, clock: &SystemClock) -> Self {
        const MANY: u64 = 1_000_000_000;
        let ns_per_tick = clock.nanos(MANY) as f64 / MANY as f64;
        let mean = |rounds: &[RoundTicks], of: fn(&RoundTicks) -> u32| {
            interquartile_mean(rounds.iter().map(of).collect()) * ns_per_tick
        };
        let code = |rounds: &[RoundTicks]| mean(rounds, |round| round.code);
        let call = |rounds: &[RoundTicks]| mean(rounds, |round| round.call);
        let (overhead_ns, no_call_ns) = (code(&measured.nothing), call(&measured.nothing));
        // Code of a single line may take less than can be told from nothing.
        let less = |ns: f64, overhead: f64| (ns - overhead).max(ns_per_tick);
        Self {
            beside_operation_ns: less(code(&measured.with_operation), overhead_ns),
            alone_ns: less(code(&measured.alone), overhead_ns),
            beside_empty_call_ns: less(code(&measured.with_empty_call), overhead_ns),
            operation_ns: less(call(&measured.with_operation), no_call_ns),
            empty_call_ns: less(call(&measured.with_empty_call), no_call_ns),
            overhead_ns,
        }
    }

    /// Their names, the primary one first.
    pub(super) fn metrics() -> Vec<MetricDefinition> {
        let lower = |name, unit| MetricDefinition::new(name, unit, Better::Lower);
        vec![
            lower("code_slowdown", "x"),
            lower("code_slowdown_by_file_system", "x"),
            MetricDefinition::new("code_slowdown_by_empty_call", "x", Better::Neither),
            lower("code_time", "ns"),
            MetricDefinition::new("code_time_alone", "ns", Better::Neither),
            lower("call_time", "ns"),
            MetricDefinition::new("empty_call_time", "ns", Better::Neither),
            MetricDefinition::new("clock_overhead", "ns", Better::Neither),
        ]
    }

    /// The values of the [metrics](Self::metrics).
    pub(super) fn values(&self) -> Vec<f64> {
        vec![
            self.beside_operation_ns / self.alone_ns,
            self.beside_operation_ns / self.beside_empty_call_ns,
            self.beside_empty_call_ns / self.alone_ns,
            self.beside_operation_ns,
            self.alone_ns,
            self.operation_ns,
            self.empty_call_ns,
            self.overhead_ns,
        ]
    }
}

/// The mean of the middle half.
fn interquartile_mean(mut values: Vec<u32>) -> f64 {
    values.sort_unstable();
    let quarter = values.len() / 4;
    let middle = &values[quarter..values.len() - quarter];
    middle.iter().map(|&value| f64::from(value)).sum::<f64>() / middle.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half_counts() {
        assert_eq!(interquartile_mean(vec![1000, 3, 1, 2]), 2.5);
        assert_eq!(interquartile_mean(vec![5]), 5.0);
        assert_eq!(interquartile_mean(Vec::new()), 0.0);
    }

    #[test]
    fn there_is_a_value_for_each_metric() {
        let figures = Figures {
            beside_operation_ns: 300.0,
            alone_ns: 100.0,
            beside_empty_call_ns: 150.0,
            operation_ns: 50.0,
            empty_call_ns: 40.0,
            overhead_ns: 20.0,
        };
        let values = figures.values();
        assert_eq!(values.len(), Figures::metrics().len());
        assert_eq!(values[..3], [3.0, 2.0, 1.5]);
    }
}
