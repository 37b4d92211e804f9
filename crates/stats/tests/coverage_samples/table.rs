//! The table of docs/coverage.md: minutes of simulation, so an ignored test.

use std::fmt::Write;

use stats::bootstrap::{self, Method, Resampling};
use stats::{Independent, Interval, Paired, Refusal, Sample, autocorrelation, interval, order};

use crate::data::{Data, Random, SCALE, share};
use crate::mean;

const TRIALS: u32 = 4_000;
const RESAMPLES: u32 = 1_000;
const LEVEL: f64 = 0.95;

/// What an interval should contain.
#[derive(Clone, Copy)]
enum Truth {
    Mean,
    Median,
    P90,
}

impl Truth {
    fn value(self, data: Data) -> f64 {
        match self {
            Self::Mean => data.mean(),
            Self::Median => data.median(),
            Self::P90 => data.p90(),
        }
    }
}

struct OneSample {
    name: &'static str,
    truth: Truth,
    sizes: &'static [usize],
    interval: fn(&[f64]) -> Result<Interval, Refusal>,
}

fn sample(values: &[f64]) -> Sample {
    Sample::new(values).unwrap()
}

/// Seeded by the values: a single seed for all trials would draw the same ranks in each.
fn resampled(values: &[f64], method: Method) -> Resampling {
    Resampling { resamples: RESAMPLES, seed: values[0].to_bits(), level: LEVEL, method }
}

const ONE_SAMPLE: &[OneSample] = &[
    OneSample {
        name: "mean, Student's t",
        truth: Truth::Mean,
        sizes: &[10, 30, 100],
        interval: |values| interval::mean_interval(&sample(values), LEVEL),
    },
    OneSample {
        name: "mean, percentile bootstrap",
        truth: Truth::Mean,
        sizes: &[10, 30, 100],
        interval: |values| {
            let how = resampled(values, Method::Percentile);
            Ok(bootstrap::statistic(values, mean, &how)?.interval)
        },
    },
    OneSample {
        name: "mean, BCa bootstrap",
        truth: Truth::Mean,
        sizes: &[10, 30, 50, 100],
        interval: |values| {
            let how = resampled(values, Method::Bca);
            Ok(bootstrap::statistic(values, mean, &how)?.interval)
        },
    },
    OneSample {
        name: "mean, 20 batch means",
        truth: Truth::Mean,
        sizes: &[200, 1_000, 4_000],
        interval: |values| Ok(autocorrelation::batch_means(values, 20, LEVEL)?.interval),
    },
    OneSample {
        name: "median, order statistics",
        truth: Truth::Median,
        sizes: &[10, 30, 100],
        interval: |values| order::median_interval(&sample(values), LEVEL),
    },
    OneSample {
        name: "median, percentile bootstrap",
        truth: Truth::Median,
        sizes: &[10, 30, 100],
        interval: |values| {
            let how = resampled(values, Method::Percentile);
            Ok(bootstrap::median(&sample(values), &how)?.interval)
        },
    },
    OneSample {
        name: "median, BCa bootstrap",
        truth: Truth::Median,
        sizes: &[10, 30, 100],
        interval: |values| {
            let how = resampled(values, Method::Bca);
            Ok(bootstrap::median(&sample(values), &how)?.interval)
        },
    },
    OneSample {
        name: "p90, order statistics",
        truth: Truth::P90,
        sizes: &[30, 100],
        interval: |values| order::quantile_interval(&sample(values), 0.9, LEVEL),
    },
    OneSample {
        name: "p90, percentile bootstrap",
        truth: Truth::P90,
        sizes: &[30, 100],
        interval: |values| {
            let how = resampled(values, Method::Percentile);
            Ok(bootstrap::quantile(&sample(values), 0.9, &how)?.interval)
        },
    },
];

/// Whether a method is right about two samples, the second drawn from values that are [`SCALE`]
/// times as large.
type IsRight = fn(Data, &mut Random, usize) -> bool;

fn two_samples(data: Data, random: &mut Random, n: usize) -> (Vec<f64>, Vec<f64>) {
    let larger = |values: Vec<f64>| values.into_iter().map(|value| SCALE * value).collect();
    (data.draw(random, n), larger(data.draw(random, n)))
}

/// The limit within which equality is claimed; the truth is exactly on it.
const LIMIT: f64 = SCALE - 1.0;

const TWO_SAMPLES: &[(&str, IsRight)] = &[
    ("ratio of geometric means, Welch", |data, random, n| {
        let (a, b) = two_samples(data, random, n);
        let got = Independent::of_values(&a, &b).and_then(|of| of.interval(LEVEL));
        got.is_ok_and(|interval| interval.contains(1.0 / SCALE))
    }),
    ("ratio of geometric means, by pairs", |data, random, n| {
        let (a, b) = data.draw_pairs(random, n);
        let got = Paired::new(&a, &b).and_then(|paired| paired.interval(LEVEL));
        got.is_ok_and(|interval| interval.contains(1.0 / SCALE))
    }),
    ("on the limit, and not called the same", |data, random, n| {
        let (a, b) = two_samples(data, random, n);
        Independent::of_values(&a, &b).unwrap().p_within(LIMIT) > 1.0 - LEVEL
    }),
    ("on the limit by pairs, and not called the same", |data, random, n| {
        let (a, b) = data.draw_pairs(random, n);
        Paired::new(&a, &b).unwrap().p_within(LIMIT) > 1.0 - LEVEL
    }),
];

fn table() -> String {
    let head = "| method | n | normal | lognormal | bimodal | AR(1) 0.6 |\n\
                | --- | --- | --- | --- | --- | --- |\n";
    let mut text = String::from(head);
    for method in ONE_SAMPLE {
        for &n in method.sizes {
            write_row(&mut text, method.name, n, |data, random| {
                let got = (method.interval)(&data.draw(random, n));
                got.is_ok_and(|interval| interval.contains(method.truth.value(data)))
            });
        }
    }
    text.push('\n');
    text.push_str(head);
    for (name, is_right) in TWO_SAMPLES {
        for n in [10, 30, 100] {
            write_row(&mut text, name, n, |data, random| is_right(data, random, n));
        }
    }
    text
}

fn write_row(
    text: &mut String,
    name: &str,
    n: usize,
    mut is_right: impl FnMut(Data, &mut Random) -> bool,
) {
    write!(text, "| {name} | {n} |").unwrap();
    for data in Data::ALL {
        let covered = share(TRIALS, n as u64, |random| is_right(data, random));
        write!(text, " {:.1} |", 100.0 * covered).unwrap();
    }
    text.push('\n');
}

/// Takes a minute with `--release`; if it fails, it prints the new tables.
#[test]
#[ignore = "minutes of simulation: run it with --release after changing an estimator"]
fn the_document_holds_the_tables() {
    let fresh = table();
    let document = include_str!("../../../../docs/coverage.md");
    let is_held = fresh.split("\n\n").all(|part| document.contains(part.trim()));
    assert!(is_held, "docs/coverage.md should hold these tables:\n\n{fresh}");
}
