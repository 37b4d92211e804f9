//! Estimates how long the rest of a run will take, chain by chain.

use crate::chain::Chain;
use crate::plan::{NetworkBenchmark, Plan};
use crate::state::NetworkState;

/// Rough time for booting, mounting and settling.
const BOOT_S: f64 = 6.0;
/// Time that a file costs an emulated client apart from its content. `FILE_IN_MEMORY_S` is that of
/// a file in its memory.
const FILE_S: f64 = 0.009;
const FILE_IN_MEMORY_S: f64 = 0.001;
/// Calls per file that wait for the link's delay.
const CALLS_PER_FILE: f64 = 3.0;
/// Bytes that an emulated server reads from its memory per second, which it does twice.
const SERVER_BYTES_PER_S: f64 = 20e6;
/// The weight of the expected times, as seconds of measured time.
const TRUSTED_S: f64 = 60.0;
/// Bytes of a READ.
const READ_BYTES: f64 = 131_072.0;

/// The expected and measured times of a round's chains.
#[derive(Clone, Debug)]
pub(crate) struct Forecast {
    /// For each chain of a round, the time expected and the times measured so far.
    chains: Vec<(f64, Vec<f64>)>,
    rounds: usize,
    done: usize,
}

impl Forecast {
    /// A forecast before anything is measured. `chains` are those of a round, in order.
    pub(crate) fn new(plan: &Plan, chains: &[(NetworkBenchmark, Chain)]) -> Self {
        let expected = |(benchmark, chain): &(NetworkBenchmark, Chain)| {
            let states = chain.targets.iter().map(|target| target.state);
            states.map(|state| expected_s(plan, *benchmark, state)).sum::<f64>()
        };
        let chains = chains.iter().map(|chain| (expected(chain), Vec::new())).collect();
        Self { chains, rounds: plan.runs as usize, done: 0 }
    }

    /// Records that the next chain took this many seconds.
    pub(crate) fn note(&mut self, seconds: f64) {
        let place = self.done % self.chains.len().max(1);
        if let Some((_, took)) = self.chains.get_mut(place) {
            took.push(seconds);
        }
        self.done += 1;
    }

    /// How long the rest will take: each chain as long as before. For a chain that has not been
    /// measured yet, its expected time is scaled by how far off the others' were.
    pub(crate) fn left_s(&self) -> f64 {
        let (mut expected, mut took) = (0.0, 0.0);
        for (own, times) in &self.chains {
            expected += own * times.len() as f64;
            took += times.iter().sum::<f64>();
        }
        // The expectation counts as if it had been right for a while.
        let pace = (took + TRUSTED_S) / (expected + TRUSTED_S);
        let of_chain = |(expected, times): &(f64, Vec<f64>)| match times.len() {
            0 => expected * pace,
            count => times.iter().sum::<f64>() / count as f64,
        };
        let left = self.done..self.rounds * self.chains.len();
        left.map(|turn| of_chain(&self.chains[turn % self.chains.len()])).sum()
    }

    /// The same in words; `None` at the end.
    pub(crate) fn left(&self) -> Option<String> {
        let left_s = self.left_s();
        if self.done >= self.rounds * self.chains.len() {
            return None;
        }
        Some(in_words(left_s))
    }
}

/// `about 4 min 20 s to go`.
fn in_words(left_s: f64) -> String {
    match left_s {
        _ if left_s < 90.0 => format!("about {:.0} s to go", left_s.max(1.0)),
        // In whole minutes, a run of four minutes would say the same for half of its time.
        _ if left_s < 570.0 => {
            let tens = (left_s / 10.0).round();
            format!("about {:.0} min {:02.0} s to go", (tens / 6.0).floor(), tens % 6.0 * 10.0)
        }
        _ if left_s < 5400.0 => format!("about {:.0} min to go", left_s / 60.0),
        _ => format!("about {:.1} h to go", left_s / 3600.0),
    }
}

/// Rough time that a benchmark takes in a state.
fn expected_s(plan: &Plan, benchmark: NetworkBenchmark, state: NetworkState) -> f64 {
    let files = if benchmark.is_of_tree() { f64::from(plan.content.tree.files) } else { 1.0 };
    let bytes = benchmark.bytes(&plan.content) as f64;
    let over_link = || {
        let rate = plan.link.rate_bits_per_s.map_or(0.0, |rate| bytes * 8.0 / rate.max(1) as f64);
        let calls = files * CALLS_PER_FILE + bytes / READ_BYTES;
        rate + calls * 2.0 * f64::from(plan.link.delay_us) / 1e6
    };
    match state {
        NetworkState::Server => 1.0 + 2.0 * (bytes / SERVER_BYTES_PER_S + files * FILE_IN_MEMORY_S),
        NetworkState::None | NetworkState::Cold => BOOT_S + over_link() + files * FILE_S,
        NetworkState::Hot => BOOT_S + files * FILE_S,
        NetworkState::PageCache => files * FILE_IN_MEMORY_S,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::round;
    use crate::plan::tests::plan;

    #[test]
    fn what_is_left_changes_with_every_ten_seconds_up_to_ten_minutes() {
        let said = [0.2, 89.4, 90.0, 118.0, 236.0, 569.0, 600.0, 7200.0].map(in_words);
        let expected = [
            "1 s",
            "89 s",
            "1 min 30 s",
            "2 min 00 s",
            "4 min 00 s",
            "9 min 30 s",
            "10 min",
            "2.0 h",
        ];
        assert_eq!(said, expected.map(|left| format!("about {left} to go")));
    }

    #[test]
    fn what_was_measured_says_what_the_rest_takes() {
        let plan = plan();
        let mut forecast = Forecast::new(&plan, &round(&plan));
        let chains = forecast.chains.len();
        assert_eq!(chains, 6, "server, none, and a cache, of two benchmarks");
        let first = forecast.left_s();
        assert!(first > 0.0);
        // All take twice as long as expected. They will again, and the rest will take longer, too.
        let expected: Vec<f64> = forecast.chains.iter().map(|(expected, _)| *expected).collect();
        let all: f64 = expected.iter().sum();
        for seconds in &expected[..3] {
            forecast.note(2.0 * seconds);
        }
        let half: f64 = expected[..3].iter().sum();
        let pace = (2.0 * half + TRUSTED_S) / (half + TRUSTED_S);
        let left = 2.0 * half + 2.0 * (all - half) * pace;
        assert!((forecast.left_s() - left).abs() < 1e-9, "{left}");
        // Once measured, the expectation no longer matters.
        for _ in 3..chains {
            forecast.note(10.0);
        }
        let again = 2.0 * expected[..3].iter().sum::<f64>() + 30.0;
        assert!((forecast.left_s() - again).abs() < 1e-9);
        assert!(forecast.left().is_some());
        (0..chains).for_each(|_| forecast.note(1.0));
        assert_eq!(forecast.left(), None);
    }
}
