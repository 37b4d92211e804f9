//! Simulated curves: does the interval hold the cliff as often as it says, and a flat curve none?

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// A staircase of ramps on logarithmic scales, noisy and drifting.
#[derive(Clone, Debug)]
struct Curve {
    /// Position, height as a ratio, and width as a ratio (1 is sharp).
    steps: Vec<(f64, f64, f64)>,
    noise: f64,
    /// The factor over 40 probes.
    drift: f64,
}

impl Curve {
    fn measure(&self, size: f64, order: usize, random: &mut Xoshiro256PlusPlus) -> f64 {
        let mut log_value = 1e6_f64.ln() + self.drift.ln() * order as f64 / 40.0;
        for &(position, height, width) in &self.steps {
            let off = (size / position).ln();
            let share = if width > 1.0 {
                (off / width.ln() + 0.5).clamp(0.0, 1.0)
            } else {
                f64::from(off > 0.0)
            };
            log_value -= height.ln() * share;
        }
        (log_value + self.noise * Normal::new(0.0, 1.0).unwrap().sample(random)).exp()
    }

    fn search(&self, options: Options) -> Outcome {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed ^ 0x5eed);
        let mut search = Search::new(options).unwrap();
        let mut order = 0;
        while let Some(size) = search.ask() {
            search.tell(self.measure(size, order, &mut random)).unwrap();
            order += 1;
        }
        search.result().unwrap()
    }
}

fn options(seed: u64) -> Options {
    Options { seed, ..Options::new(1.0, 1024.0) }
}

/// What became of many searches for one cliff.
#[derive(Debug, Default)]
struct Tally {
    held: u32,
    narrow: u32,
    probes: usize,
    log_width: f64,
    missed: u32,
    several: u32,
}

fn tally(searches: u64, height: f64, width: f64, noise: f64) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..searches {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // The whole ramp lies within the range.
        let margin = width.sqrt().max(1.05);
        let position = random.random_range(margin.ln()..(1024.0 / margin).ln()).exp();
        let drift = random.random_range(0.9..1.1);
        let curve = Curve { steps: vec![(position, height, width)], noise, drift };
        let got = curve.search(options(seed));
        assert!(got.probes <= 40 || got.cliffs.len() > 1);
        tally.probes += got.probes;
        match got.cliffs.as_slice() {
            [] => tally.missed += 1,
            [cliff] => {
                tally.held += u32::from(cliff.size.contains(position));
                tally.narrow += u32::from(cliff.reached == Reached::Width);
                tally.log_width += (cliff.size.high / cliff.size.low).ln();
            }
            _ => tally.several += 1,
        }
    }
    tally
}

#[test]
#[ignore = "a table for tuning"]
fn table() {
    for noise in [0.01, 0.03, 0.06] {
        for height in [1.3, 1.5, 2.0, 4.0, 30.0] {
            for width in [1.0, 1.05, 1.5, 4.0] {
                let it = tally(1000, height, width, noise);
                eprintln!(
                    "noise {noise} height {height} width {width}: held {} narrow {} missed {} \
                     several {} probes {:.1} width {:.4}",
                    it.held,
                    it.narrow,
                    it.missed,
                    it.several,
                    it.probes as f64 / 1000.0,
                    (it.log_width / f64::from(1000 - it.missed - it.several)).exp() - 1.0
                );
            }
        }
    }
    for noise in [0.01, 0.03, 0.06, 0.1] {
        let flat = (0..1000).filter(|&seed| {
            let curve = Curve { steps: vec![], noise, drift: 1.1 };
            !curve.search(options(seed)).cliffs.is_empty()
        });
        eprintln!("flat noise {noise}: {}", flat.count());
    }
}
