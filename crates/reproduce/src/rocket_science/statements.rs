//! What the paper says about its figures, each compared with what was measured in each block.

use std::collections::BTreeSet;

use record::TimelineRecord;
use stats::Sample;
use stats::distribution::fisher;

use super::blocks::{
    self, Curve, Latencies, Measured, WarmUp, bimodal_percent, device_percent_half_way,
};
use super::declared;
use crate::gathered::Gathered;
use crate::hypothesis::{Hypothesis, LEVEL, Number};
use crate::statement::Statement;

/// All statements, in the paper's order.
pub(super) fn all(gathered: &Gathered<'_>) -> Vec<Statement> {
    let of =
        Compared { memory_bytes: gathered.memory_bytes as f64, blocks: blocks::of_run(gathered) };
    let mut all = of.by_size();
    all.extend(of.over_time());
    all.extend(of.latencies());
    all
}

/// How many moments of Figure 2 are compared.
const MOMENTS: usize = 40;

/// What statements compare.
struct Compared<'a> {
    memory_bytes: f64,
    blocks: Vec<Measured<'a>>,
}

/// A number by block, judged by its median.
fn median(means: &Hypothesis, by_block: &[f64], what: &str) -> Statement {
    means.judge(Number::median(by_block), what)
}

/// A ratio by block.
fn ratio(means: &Hypothesis, by_block: &[f64], what: &str) -> Statement {
    means.judge(Number::ratio(by_block, 1), what)
}

impl<'a> Compared<'a> {
    /// A number of each block that has it.
    fn each(&self, number: impl Fn(&Measured<'a>) -> Option<f64>) -> Vec<f64> {
        self.blocks.iter().filter_map(number).collect()
    }

    fn percent_of_memory(&self, bytes: f64) -> f64 {
        100.0 * bytes / self.memory_bytes
    }

    /// Section 3.1, Figure 1.
    fn by_size(&self) -> Vec<Statement> {
        let drop = |number: fn((f64, f64, f64)) -> f64| {
            self.each(|block| block.largest_drop().map(number))
        };
        let place = drop(|(before, after, _)| f64::midpoint(before, after));
        let place: Vec<f64> =
            place.into_iter().map(|bytes| self.percent_of_memory(bytes)).collect();
        let share = self.each(|block| {
            let (_, _, factor) = block.largest_drop()?;
            let rates = || block.sizes.iter().map(|(_, rate)| *rate);
            let most = rates().fold(0.0, f64::max);
            let least = rates().fold(f64::INFINITY, f64::min);
            Some(100.0 * factor.ln() / (most / least).ln())
        });
        let factors = Number::ratio(&drop(|(_, _, factor)| factor), 1);
        let factor = factors.map_or(String::new(), |one| {
            format!("of the fall; it is by a factor of {:.0}", one.value)
        });
        let width = self.each(|block| block.drop_width_bytes(self.memory_bytes));
        let of_memory: Vec<f64> =
            width.iter().map(|bytes| self.percent_of_memory(*bytes)).collect();
        let step = |block: &Measured<'a>| {
            let [(first, _), (second, _), ..] = block.sizes[..] else { return None };
            Some(second - first)
        };
        let of_step: Vec<f64> = match self.blocks.first().and_then(step) {
            Some(step) => width.iter().map(|bytes| 100.0 * bytes / step).collect(),
            None => Vec::new(),
        };
        let mib = Number::median(&width).map_or(String::new(), |one| {
            format!("of memory: {:.0} MiB, in steps of 1 MiB", one.value / f64::from(1 << 20))
        });
        vec![
            median(&declared::DROP_PLACE, &place, "of memory, in the middle of the step"),
            median(&declared::SUDDEN, &share, &factor),
            median(&declared::NARROWER, &of_step, "of a step"),
            median(&declared::NARROW, &of_memory, &mib),
            median(&declared::STEPS, &self.each(Measured::steps), "in each run"),
            self.deviation_of_device(),
            self.deviation_of_transition(),
        ]
    }

    /// Throughput by size: medians over blocks.
    fn medians(&self, curve: Curve) -> Vec<(f64, f64)> {
        let Some(first) = self.blocks.first() else { return Vec::new() };
        let median = |(bytes, _): &(f64, f64)| {
            let rates = self.each(|block| block.rate_of(curve, *bytes));
            Some((*bytes, Sample::new(rates).ok()?.median()))
        };
        first.points(curve).iter().filter_map(median).collect()
    }

    /// How far the throughput of each block is from the median over blocks, in percent of that, by
    /// size. Their mean over sizes compares spreads as Brown and Forsythe do ("Robust Tests for the
    /// Equality of Variances", JASA 69, 1974). `None` with fewer than three blocks.
    fn distances(&self, curve: Curve) -> Option<Vec<Vec<(f64, f64)>>> {
        let medians = self.medians(curve);
        let of_block = |block: &Measured<'a>| {
            let distance = |(bytes, median): &(f64, f64)| {
                let rate = block.rate_of(curve, *bytes)?;
                Some((*bytes, 100.0 * (rate - median).abs() / median))
            };
            medians.iter().filter_map(distance).collect()
        };
        (self.blocks.len() > 2).then(|| self.blocks.iter().map(of_block).collect())
    }

    fn deviation_of_device(&self) -> Statement {
        let by_block = self.distances(Curve::Sizes).unwrap_or_default();
        let part = |is_it: &dyn Fn(f64) -> bool| -> Vec<Option<f64>> {
            let of = by_block.iter().map(|distances| {
                mean(distances.iter().filter(|(bytes, _)| is_it(self.percent_of_memory(*bytes))))
            });
            of.collect()
        };
        let memory = part(&|percent| percent <= 75.0);
        let device = part(&|percent| percent >= 112.5);
        let both = memory.into_iter().zip(device);
        let ratios: Vec<f64> = both.filter_map(|(memory, device)| over(device?, memory?)).collect();
        ratio(&declared::DEVICE_VARIES, &ratios, "as far from the median over runs")
    }

    /// The transition is the first size whose throughput, as the median over blocks, is below half
    /// of memory's: it is chosen by its rate, not by its deviation.
    fn deviation_of_transition(&self) -> Statement {
        let found = || {
            let place = self.transition_bytes()?;
            let there = self.log_variance(Curve::Zoom, place)?;
            let is_elsewhere =
                |bytes: &f64| !(75.0..112.5).contains(&self.percent_of_memory(*bytes));
            let sizes = self.medians(Curve::Sizes).into_iter().map(|(bytes, _)| bytes);
            let elsewhere: Vec<Variance> = sizes
                .filter(is_elsewhere)
                .filter_map(|bytes| self.log_variance(Curve::Sizes, bytes))
                .collect();
            let percent = self.percent_of_memory(place);
            Some((deviation_ratio(there, Variance::pooled(&elsewhere)?)?, percent))
        };
        let found = found();
        let what = found.map_or(String::new(), |(_, percent)| {
            format!("the standard deviation elsewhere, at {percent:.0} % of memory")
        });
        declared::TRANSITION_VARIES.judge(found.map(|(ratio, _)| ratio), &what)
    }

    /// The variance of the logarithm of a size's throughput over blocks.
    fn log_variance(&self, curve: Curve, bytes: f64) -> Option<Variance> {
        let rates = self.each(|block| block.rate_of(curve, bytes));
        let logarithms: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
        let deviation = Sample::new(logarithms.as_slice()).ok()?.standard_deviation().ok()?;
        Some(Variance { of: deviation.powi(2), freedom: (logarithms.len() - 1) as f64 })
    }

    fn transition_bytes(&self) -> Option<f64> {
        let plateau =
            Sample::new(self.each(|block| block.plateau(self.memory_bytes))).ok()?.median();
        let medians = self.medians(Curve::Zoom);
        medians.iter().find(|(_, rate)| *rate <= plateau / 2.0).map(|(bytes, _)| *bytes)
    }

    /// Section 3.1, Figure 2.
    fn over_time(&self) -> Vec<Statement> {
        let pairs = self.pairs();
        let halves = pairs.iter().filter_map(|pair| {
            let half = |left: &WarmUp<'_>, right: &WarmUp<'_>| {
                over(left.half_speed_ns, right.half_speed_ns)
            };
            Some((pair.name(), Number::ratio(&self.of_pair(pair, half), pairs.len())?))
        });
        let farthest = pairs
            .iter()
            .filter_map(|pair| Some((pair.name(), self.farthest(pair, pairs.len() * MOMENTS)?)));
        let named = |ratios: &dyn Fn(&Pair<'a>) -> Vec<f64>| -> Vec<(String, Number)> {
            let one = |pair: &Pair<'a>| Some((pair.name(), Number::ratio(&ratios(pair), 1)?));
            pairs.iter().filter_map(one).collect()
        };
        // Each at its own end: those that are slower to become fast take longer.
        let at_last =
            |left: &WarmUp<'_>, right: &WarmUp<'_>| over(left.last_rate()?, right.last_rate()?);
        vec![
            declared::ALIKE_AT_FIRST.judge_all(&named(&|pair| self.ratios_at(pair, 0))),
            declared::APART.judge_any(&halves.collect::<Vec<_>>()),
            declared::FAR_APART.judge_any(&farthest.collect::<Vec<_>>()),
            declared::ALIKE_AT_LAST.judge_all(&named(&|pair| self.of_pair(pair, at_last))),
        ]
    }

    /// All pairs of targets.
    fn pairs(&self) -> Vec<Pair<'a>> {
        let targets = self.blocks.iter().flat_map(|block| block.warm_ups.keys().copied());
        let targets: BTreeSet<&str> = targets.collect();
        let pairs = targets.iter().enumerate().flat_map(|(index, &base)| {
            targets.iter().skip(index + 1).map(move |&target| Pair { target, base })
        });
        pairs.collect()
    }

    /// A number of two warm-ups, in each block.
    fn of_pair(
        &self,
        pair: &Pair<'a>,
        number: impl Fn(&WarmUp<'a>, &WarmUp<'a>) -> Option<f64>,
    ) -> Vec<f64> {
        self.each(|block| number(block.warm_ups.get(pair.target)?, block.warm_ups.get(pair.base)?))
    }

    /// Throughput of a pair over each other at one of the moments of the time that both ran.
    fn ratios_at(&self, pair: &Pair<'a>, moment: usize) -> Vec<f64> {
        self.of_pair(pair, |left, right| {
            let moment_s = left.end_s().min(right.end_s()) / MOMENTS as f64;
            let (from_s, to_s) = (moment as f64 * moment_s, (moment + 1) as f64 * moment_s);
            over(left.rate_between(from_s, to_s)?, right.rate_between(from_s, to_s)?)
        })
    }

    /// How many times as fast the faster of two is at the moment when they are farthest apart; the
    /// interval reaches from what they surely are at one moment to what they may be at one.
    fn farthest(&self, pair: &Pair<'a>, comparisons: usize) -> Option<Number> {
        let moments = (0..MOMENTS).filter_map(|moment| {
            let found = Number::ratio(&self.ratios_at(pair, moment), comparisons)?;
            let (low, high) = found.interval?;
            let upwards = (found.value, low, high);
            let downwards = (1.0 / found.value, 1.0 / high, 1.0 / low);
            Some(if found.value < 1.0 { downwards } else { upwards })
        });
        let most = |one: (f64, f64, f64), other: (f64, f64, f64)| {
            (one.0.max(other.0), one.1.max(other.1), one.2.max(other.2))
        };
        let (value, low, high) = moments.reduce(most)?;
        Some(Number { value, interval: Some((low, high)) })
    }

    /// Section 3.2, Figures 3 and 4.
    fn latencies(&self) -> Vec<Statement> {
        let file = |index: usize, number: fn(&Latencies) -> Option<f64>| {
            self.each(|block| number(block.latencies[index].as_ref()?))
        };
        let peaks = |of: &Latencies| Some(of.peaks().len() as f64);
        let hits = |of: &Latencies| Some(of.hit_percent());
        // Nearly all of the much larger file's reads go to the device.
        let span = |memory: fn(&Latencies) -> f64| {
            self.each(|block| {
                let device_ns = block.latencies[2].as_ref()?.median_ns;
                over(device_ns, memory(block.latencies[0].as_ref()?))
            })
        };
        let fading =
            |number: fn(&TimelineRecord) -> Option<f64>| self.each(|block| number(block.fading?));
        vec![
            median(&declared::ONE_PEAK, &file(0, peaks), "in each run"),
            median(&declared::TWO_PEAKS, &file(1, peaks), "in each run"),
            median(&declared::EQUAL_PEAKS, &file(1, hits), "of the reads from memory"),
            median(&declared::INVISIBLE_PEAK, &file(2, hits), "of the reads from memory"),
            ratio(&declared::THOUSANDS, &span(|of| of.mean_ns), "as long"),
            ratio(&declared::THREE_ORDERS, &span(|of| of.median_ns), "between medians"),
            median(
                &declared::FADES,
                &fading(device_percent_half_way),
                "of the reads, in the middle third of the warm-up",
            ),
            median(&declared::TWO_MODES, &fading(bimodal_percent), "of the warm-up"),
        ]
    }
}

/// A target, and the one to which it is compared.
#[derive(Clone, Copy, Debug)]
struct Pair<'a> {
    target: &'a str,
    base: &'a str,
}

impl Pair<'_> {
    fn name(&self) -> String {
        format!("{} over {}", self.target, self.base)
    }
}

/// A variance, and its degrees of freedom.
#[derive(Clone, Copy, Debug)]
struct Variance {
    of: f64,
    freedom: f64,
}

impl Variance {
    fn pooled(all: &[Self]) -> Option<Self> {
        let freedom: f64 = all.iter().map(|one| one.freedom).sum();
        let sum: f64 = all.iter().map(|one| one.of * one.freedom).sum();
        (freedom > 0.0).then(|| Self { of: sum / freedom, freedom })
    }
}

/// The ratio of two standard deviations, with the interval of normal samples, by quantiles of F.
fn deviation_ratio(of: Variance, base: Variance) -> Option<Number> {
    let ratio = over(of.of, base.of)?;
    let tail = (1.0 - LEVEL) / 2.0;
    let end = |tail| (ratio / fisher::quantile(tail, of.freedom, base.freedom)).sqrt();
    Some(Number { value: ratio.sqrt(), interval: Some((end(1.0 - tail), end(tail))) })
}

/// A quotient that has a logarithm.
fn over(number: f64, base: f64) -> Option<f64> {
    (number > 0.0 && base > 0.0).then_some(number / base)
}

/// The mean of the second members.
fn mean<'a>(of: impl Iterator<Item = &'a (f64, f64)>) -> Option<f64> {
    let values: Vec<f64> = of.map(|(_, value)| *value).collect();
    Some(Sample::new(values).ok()?.mean())
}
