//! Zipf's law: how well values follow it, by Pearson's chi-square test.
//!
//! The test with as many draws as a long job has takes a minute:
//!
//! ```sh
//! cargo test --release -p fsprism-job-offsets --test fio -- --ignored law --nocapture
//! ```

use job_offsets::{Skew, Skewed, SkewedValues, Spread, ZipfSampler};

/// Ranks that have a cell of their own. Those after them share cells, each a tenth longer than the
/// one before.
const SINGLE: u64 = 1000;

/// The first rank of each cell, and the one after the last.
fn cells(range: u64) -> Vec<u64> {
    let mut starts: Vec<u64> = (0..range.min(SINGLE)).collect();
    let mut start = SINGLE;
    while start < range {
        starts.push(start);
        start += start / 10;
    }
    starts.push(range);
    starts
}

/// How many standard deviations chi-square is above its mean, for so many draws.
fn excess(range: u64, theta: f64, sampler: ZipfSampler, draws: u32) -> f64 {
    let skewed = Skewed { skew: Skew::Zipf { theta, sampler }, center: Some(0.0) };
    let mut values = SkewedValues::new(skewed, range, 12_345, Spread::SideBySide);
    let starts = cells(range);
    let mut counts = vec![0_u32; starts.len() - 1];
    for _ in 0..draws {
        let value = values.draw();
        counts[starts.partition_point(|start| *start <= value) - 1] += 1;
    }
    let frequency = |rank: u64| ((rank + 1) as f64).powf(-theta);
    let cell = |bounds: &[u64]| (bounds[0]..bounds[1]).map(frequency).sum::<f64>();
    let frequencies: Vec<f64> = starts.windows(2).map(cell).collect();
    let all: f64 = frequencies.iter().sum();
    let deviations = frequencies.iter().zip(counts).map(|(frequency, count)| {
        let expected = frequency / all * f64::from(draws);
        (f64::from(count) - expected).powi(2) / expected
    });
    let freedom = (starts.len() - 2) as f64;
    (deviations.sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn exact_values_follow_the_law() {
    for theta in [0.5, 0.99, 1.2, 1.8] {
        let excess = excess(50_000, theta, ZipfSampler::Exact, 400_000);
        assert!(excess < 4.0, "theta {theta}: {excess}");
    }
}

#[test]
fn approximate_values_do_not() {
    let excess = excess(50_000, 1.2, ZipfSampler::Approximate, 400_000);
    assert!(excess > 10.0, "{excess}");
}

#[test]
#[ignore = "takes a minute in a release build"]
fn exact_values_follow_the_law_in_a_long_job() {
    for theta in [0.8, 1.2] {
        for range in [1 << 24, 16_000_000] {
            let approximate = excess(range, theta, ZipfSampler::Approximate, 100_000_000);
            let exact = excess(range, theta, ZipfSampler::Exact, 100_000_000);
            println!("{range} blocks, theta {theta}: {exact:.1}, approximate {approximate:.1}");
            assert!(exact < 4.0);
        }
    }
}
