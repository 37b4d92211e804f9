//! Simulated curves: does the interval contain the cliff as often as it claims, and is no cliff
//! found on a flat curve?

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
    /// The factor by which values change over 40 probes.
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

/// The outcomes of many searches for one cliff.
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
        // Keep the whole ramp within the range.
        let margin = width.sqrt().max(1.05);
        let position = random.random_range(margin.ln()..(1024.0 / margin).ln()).exp();
        let drift = random.random_range(0.9..1.1);
        let curve = Curve { steps: vec![(position, height, width)], noise, drift };
        let got = curve.search(options(seed));
        assert!(got.probes <= 20 + 20 * got.cliffs.len().max(1));
        tally.probes += got.probes;
        match got.cliffs.as_slice() {
            [] => tally.missed += 1,
            [cliff] => {
                tally.held += u32::from(cliff.size.contains(position));
                tally.narrow += u32::from(cliff.reached == EndedBy::Width);
                tally.log_width += (cliff.size.high / cliff.size.low).ln();
            }
            _ => tally.several += 1,
        }
    }
    tally
}

/// A thousand searches each: various heights and widths, noise of several percent, drift of up to
/// 10 % either way, positions anywhere in a range of 1,024 to 1.
#[test]
fn the_interval_holds_the_cliff() {
    let table = [
        (1.3, 1.0, 0.03),
        (1.5, 1.05, 0.03),
        (2.0, 1.5, 0.05),
        (4.0, 4.0, 0.05),
        (30.0, 1.2, 0.05),
    ];
    for (height, width, noise) in table {
        let it = tally(1000, height, width, noise);
        assert!(it.held >= 960, "height {height} width {width} noise {noise}: {it:?}");
    }
}

#[test]
fn a_sharp_cliff_is_pinned_down_to_one_percent() {
    for (height, noise) in [(1.5, 0.03), (2.0, 0.05), (10.0, 0.08)] {
        let it = tally(1000, height, 1.0, noise);
        assert!(it.held >= 960 && it.narrow >= 960, "height {height} noise {noise}: {it:?}");
        assert!(it.log_width / f64::from(it.narrow) <= 0.01 && it.probes <= 36_000, "{it:?}");
    }
}

/// The promised share of false alarms is 3 %: 58 of 1,000 is five deviations above.
#[test]
fn a_flat_curve_has_no_cliff() {
    for noise in [0.0, 0.01, 0.05, 0.1, 0.3] {
        let alarms = (0..1000).filter(|&seed| {
            let curve = Curve { steps: vec![], noise, drift: 1.2 };
            !curve.search(options(seed)).cliffs.is_empty()
        });
        let alarms = alarms.count();
        assert!(alarms <= 58, "noise {noise}: {alarms}");
    }
}

#[test]
fn several_plateaus_have_several_cliffs() {
    let steps = vec![(3.1, 2.0, 1.0), (40.0, 5.0, 1.1), (500.0, 0.5, 1.0)];
    let held = (0..200).filter(|&seed| {
        let curve = Curve { steps: steps.clone(), noise: 0.03, drift: 0.95 };
        let got = curve.search(options(seed));
        assert!(got.probes <= 20 + 20 * got.cliffs.len().max(1));
        let pairs = got.cliffs.iter().zip(&steps);
        got.cliffs.len() == 3 && pairs.into_iter().all(|(it, step)| it.size.contains(step.0))
    });
    let held = held.count();
    // Each of three intervals contains its cliff in 95 % of cases.
    assert!(held >= 180, "{held}");
}

#[test]
fn a_quiet_curve_is_told_exactly() {
    let curve = Curve { steps: vec![(77.0, 4.0, 1.0)], noise: 0.0, drift: 1.0 };
    let got = curve.search(options(5));
    let [cliff] = got.cliffs.as_slice() else { panic!("{got:?}") };
    assert!(cliff.size.contains(77.0) && cliff.reached == EndedBy::Width);
    assert!((cliff.before / 1e6 - 1.0).abs() < 1e-9 && (cliff.after / 2.5e5 - 1.0).abs() < 1e-9);
    assert!((got.drift_per_probe - 1.0).abs() < 1e-9 && got.noise < 1e-5);
}

#[test]
fn drift_is_told_from_a_cliff() {
    let curve = Curve { steps: vec![], noise: 0.01, drift: 2.0 };
    let got = curve.search(options(1));
    assert_eq!(got.cliffs, []);
    assert!((got.drift_per_probe.powi(40) / 2.0 - 1.0).abs() < 0.1, "{got:?}");
}

/// Random reads with a cache of 64: hits cost 1 and misses 40, so the value falls steeply just
/// after 64 and keeps falling towards its plateau.
#[test]
fn a_cache_that_overflows_has_its_cliff_just_behind_its_size() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut search = Search::new(options(3)).unwrap();
    while let Some(size) = search.ask() {
        let misses = (1.0 - 64.0 / size).max(0.0);
        let noise: f64 = Normal::new(0.0, 0.02).unwrap().sample(&mut random);
        search.tell(1e6 / (1.0 + 39.0 * misses) * noise.exp()).unwrap();
    }
    let got = search.result().unwrap();
    let [cliff] = got.cliffs.as_slice() else { panic!("{got:?}") };
    assert!(64.0 < cliff.size.low && cliff.size.high < 80.0, "{cliff:?}");
}

#[test]
fn the_order_is_random_seeded_and_begins_with_the_grid() {
    let order = |seed: u64| {
        let mut search = Search::new(options(seed)).unwrap();
        let mut sizes = Vec::new();
        while let Some(size) = search.ask() {
            assert_eq!(search.ask(), Some(size));
            sizes.push(size);
            search.tell(1.0).unwrap();
        }
        sizes
    };
    let sizes = order(1);
    assert_eq!(sizes, order(1));
    assert_ne!(sizes, order(2));
    assert_eq!(sizes.len(), 15);
    let of = |end: f64| sizes.iter().filter(|size| **size == end).count();
    assert_eq!((of(1.0), of(1024.0)), (3, 3));
    assert!(sizes[13..].contains(&1.0) && sizes[13..].contains(&1024.0));
    assert!(!sizes.is_sorted());
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let with = |options: Options| Search::new(options).unwrap_err();
    assert!(matches!(with(Options::new(0.0, 8.0)), Refusal::OutOfRange { .. }));
    assert!(matches!(with(Options::new(1.0, 1.9)), Refusal::OutOfRange { .. }));
    assert!(matches!(with(Options::new(1.0, f64::NAN)), Refusal::OutOfRange { .. }));
    let plain = Options::new(1.0, 8.0);
    assert!(Search::new(Options { width: 0.0, ..plain }).is_err());
    assert!(Search::new(Options { ratio_least: 1.0, ..plain }).is_err());
    assert!(Search::new(Options { level: 1.0, ..plain }).is_err());
    let mut search = Search::new(plain).unwrap();
    assert!(matches!(search.result(), Err(Refusal::TooFew { needed: 8, given: 0, .. })));
    let asked = search.ask();
    assert!(search.tell(f64::NAN).is_err() && search.tell(0.0).is_err());
    assert_eq!(search.ask(), asked);
    assert!(search.tell(1.0).is_ok());
}

/// The narrowest possible search, and one over all sizes of a disk.
#[test]
fn ranges_of_any_length_are_searched() {
    for (low, high, position) in [(1.0, 2.0, 1.3), (4096.0, 1e13, 6.4e10)] {
        let curve = Curve { steps: vec![(position, 3.0, 1.0)], noise: 0.02, drift: 1.0 };
        let got = curve.search(Options { probes_max: 80, ..Options::new(low, high) });
        assert_eq!(got.cliffs.len(), 1);
        assert!(got.cliffs[0].size.contains(position), "{got:?}");
    }
}

#[test]
fn sizes_are_multiples_of_the_grain_and_the_interval_ends_at_one() {
    for (position, low, high) in [(5.5, 5.0, 6.0), (12.2, 12.0, 13.0)] {
        let curve = Curve { steps: vec![(position, 4.0, 1.0)], noise: 0.02, drift: 1.0 };
        let options = Options { grain: 1.0, width: 0.01, ..Options::new(1.0, 16.0) };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        let mut search = Search::new(options).unwrap();
        let mut order = 0;
        while let Some(size) = search.ask() {
            assert_eq!(size.fract(), 0.0);
            search.tell(curve.measure(size, order, &mut random)).unwrap();
            order += 1;
        }
        let got = search.result().unwrap();
        let [cliff] = got.cliffs.as_slice() else { panic!("{got:?}") };
        assert_eq!((cliff.size.low, cliff.size.high, cliff.reached), (low, high, EndedBy::Width));
    }
}

/// Threads on 4 processors: each has a processor to itself until there are more than 4 threads.
#[test]
fn the_beginning_of_a_long_fall_is_found_by_a_factor() {
    let threshold = Threshold::Factor(1.1);
    let options = Options { grain: 1.0, threshold, ..Options::new(1.0, 32.0) };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut search = Search::new(options).unwrap();
    while let Some(threads) = search.ask() {
        let noise: f64 = Normal::new(0.0, 0.01).unwrap().sample(&mut random);
        search.tell((4.0 / threads).min(1.0) * noise.exp()).unwrap();
    }
    let got = search.result().unwrap();
    let [cliff] = got.cliffs.as_slice() else { panic!("{got:?}") };
    assert_eq!((cliff.size.low, cliff.size.high), (4.0, 5.0));
}

/// Two classes of values far apart: within the lower one, whose noise is large, nothing is searched
/// for, and the step towards it is a separate cliff.
#[test]
fn what_is_below_the_floor_has_neither_steps_nor_noise() {
    let found = (0..200).filter(|&seed| {
        let options = Options { floor: 1.0, steps_apart: 8.0, width: 0.02, ..options(seed) };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut search = Search::new(options).unwrap();
        while let Some(size) = search.ask() {
            let normal: f64 = Normal::new(0.0, 1.0).unwrap().sample(&mut random);
            let high = if size > 20.0 { 5e5 } else { 1e6 };
            let value =
                if size > 60.0 { 1e-9 * normal.exp() } else { high * (0.03 * normal).exp() };
            search.tell(value).unwrap();
        }
        let got = search.result().unwrap();
        assert!(got.noise < 0.1, "{got:?}");
        let last = got.cliffs.last().unwrap();
        assert!(last.size.contains(60.0) && last.reached == EndedBy::Width, "{got:?}");
        // 20 and 60 are less than two grid intervals apart, yet they are told apart.
        got.cliffs.len() == 2 && got.cliffs[0].size.contains(20.0)
    });
    let found = found.count();
    assert!(found >= 185, "{found}");
}

/// A limit that moves from probe to probe: the interval includes all its positions.
#[test]
fn ends_that_are_confirmed_hold_a_position_that_moves() {
    let mut held = 0;
    for seed in 0..200 {
        let options = Options {
            floor: 1.0,
            steps_apart: 8.0,
            width: 0.02,
            confirmations: 3,
            ..options(seed)
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let limit = random.random_range(40.0..100.0);
        let mut search = Search::new(options).unwrap();
        while let Some(size) = search.ask() {
            let normal: f64 = Normal::new(0.0, 1.0).unwrap().sample(&mut random);
            let moved: f64 = limit * random.random_range(0.997..1.003);
            let value = if size > moved { 1e-9 } else { 1e6 * (0.03 * normal).exp() };
            search.tell(value).unwrap();
        }
        let got = search.result().unwrap();
        let last = got.cliffs.last().unwrap();
        assert!(last.size.high / last.size.low <= 1.03, "{got:?}");
        held += u32::from(last.size.contains(limit));
    }
    assert!(held >= 196, "{held}");
}

#[test]
fn classes_that_make_no_sense_are_refused() {
    let plain = Options::new(1.0, 8.0);
    for wrong in [
        Options { grain: 2.0, ..plain },
        Options { grain: f64::NAN, ..plain },
        Options { floor: -1.0, ..plain },
        Options { steps_apart: 1.0, ..plain },
        Options { threshold: Threshold::Factor(1.0), ..plain },
    ] {
        assert!(matches!(Search::new(wrong), Err(Refusal::OutOfRange { .. })), "{wrong:?}");
    }
}

/// A share from 0 to 100: reads cost 1, other operations `cost`.
fn of_share(cost: f64, step: Option<(f64, f64)>, seed: u64) -> (Vec<f64>, Outcome) {
    let options = Options {
        scale: Scale::Linear,
        grain: 1.0,
        width: 2.0,
        ratio_least: 1.2,
        seed,
        ..Options::new(0.0, 100.0)
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut search = Search::new(options).unwrap();
    let mut sizes = Vec::new();
    while let Some(share) = search.ask() {
        assert!(share.fract() == 0.0 && (0.0..=100.0).contains(&share), "{share}");
        sizes.push(share);
        let noise: f64 = Normal::new(0.0, 0.03).unwrap().sample(&mut random);
        let height = step.filter(|(at, _)| share > *at).map_or(1.0, |(_, height)| height);
        let time = share / 100.0 + (1.0 - share / 100.0) * cost;
        search.tell(1e6 / time * height * noise.exp()).unwrap();
    }
    (sizes, search.result().unwrap())
}

#[test]
fn shares_are_searched_on_a_linear_scale_that_has_a_zero() {
    let held = (0..200).filter(|&seed| {
        let position = 7.5 + (seed * 37 % 85) as f64;
        let (sizes, got) = of_share(1.0, Some((position, 2.0)), seed);
        assert!(sizes.len() <= 60, "{}", sizes.len());
        let grid = (0..=10).map(|tenth| f64::from(tenth) * 10.0);
        assert!(grid.into_iter().all(|share| sizes.contains(&share)), "{sizes:?}");
        let [cliff] = got.cliffs.as_slice() else { return false };
        let is_narrow = cliff.size.high - cliff.size.low <= 2.0;
        is_narrow && cliff.size.contains(position) && cliff.after > cliff.before
    });
    let held = held.count();
    assert!(held >= 190, "{held}");
    let (_, flat) = of_share(1.0, None, 4);
    assert_eq!(flat.cliffs, []);
}

/// The rate of a mix is the harmonic mean: if one kind costs 100 times the other, it rises most
/// over the last few percent.
#[test]
fn a_mix_of_cheap_and_dear_operations_breaks_near_its_end() {
    let (_, got) = of_share(100.0, None, 7);
    let cliff = got.cliffs.last().unwrap();
    assert!(cliff.size.low >= 80.0 && cliff.size.high <= 100.0, "{cliff:?}");
    assert!(*cliff.after_sizes.end() >= 100.0 && cliff.after / cliff.before > 8.0, "{cliff:?}");
}

#[test]
fn ranges_on_a_linear_scale_are_checked() {
    let plain = Options { scale: Scale::Linear, ..Options::new(0.0, 1.0) };
    assert!(Search::new(plain).is_ok());
    for wrong in [
        Options { low: -1.0, ..plain },
        Options { high: 0.0, ..plain },
        Options { high: f64::INFINITY, ..plain },
        Options { grain: 0.6, ..plain },
        Options { low: f64::NAN, ..plain },
    ] {
        assert!(matches!(Search::new(wrong), Err(Refusal::OutOfRange { .. })), "{wrong:?}");
    }
}
