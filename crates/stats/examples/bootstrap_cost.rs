//! The cost of bootstrapping a median: `cargo run --release -p fsprism-stats --example
//! bootstrap_cost`, for comparison with `scipy.stats.bootstrap` on as many values.

use std::time::Instant;

use rand::SeedableRng;
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use stats::Sample;
use stats::bootstrap::{Method, Resampling, median};

fn main() {
    let latency = LogNormal::new(1.0, 0.5).expect("a finite mean and a positive deviation");
    let random = Xoshiro256PlusPlus::seed_from_u64(1);
    let values: Vec<f64> = latency.sample_iter(random).take(10_000).collect();
    for method in [Method::Percentile, Method::Bca] {
        let how = Resampling { resamples: 10_000, seed: 1, level: 0.95, method };
        let mut seconds: Vec<f64> = (0..11).map(|_| seconds_of(&values, &how)).collect();
        seconds.sort_by(f64::total_cmp);
        println!("{method:?}: median {:.3} ms, sorting included", seconds[5] * 1e3);
    }
}

fn seconds_of(values: &[f64], how: &Resampling) -> f64 {
    let start = Instant::now();
    let sample = Sample::new(values).expect("finite values");
    let got = median(&sample, how).expect("enough of them");
    let seconds = start.elapsed().as_secs_f64();
    assert!(got.interval.contains(got.estimate), "an estimate lies in its interval");
    seconds
}
