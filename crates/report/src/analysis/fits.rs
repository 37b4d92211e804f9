//! Laws fitted to curves: how throughput grows with threads or processes.
//!
//! The intervals are those of the full law, from leaving out one block at a time: whatever happened
//! to a block happened to all its points. The simplest law that describes the values is named as
//! well.

use std::collections::BTreeMap;

use record::{CurveFit, FitParameter, IntervalReport, Manifest};
use stats::Refusal;
use stats::scalability::{
    Errors, Model, OfBlocks, Parameter, ParameterEstimate, Scalability, of_blocks, scalability,
};

use super::{BLOCKS_MIN, Gathered};

/// The axes to which a law of scalability can apply.
const AXES: [&str; 2] = ["threads", "processes"];

/// Fits each curve over concurrency on each target, in the order of the cells.
pub(super) fn all(gathered: &[Gathered<'_>], manifest: &Manifest) -> Vec<CurveFit> {
    let mut curves: Vec<(&str, &str, Vec<&Gathered<'_>>)> = Vec::new();
    for one in gathered {
        let Some(point) = &one.cell.curve else { continue };
        if !AXES.contains(&point.axis.as_str()) {
            continue;
        }
        let (target, curve) = (one.cell.target.as_str(), point.curve.as_str());
        match curves.iter_mut().find(|other| (other.0, other.1) == (target, curve)) {
            Some((_, _, points)) => points.push(one),
            None => curves.push((target, curve, vec![one])),
        }
    }
    let level = manifest.run.confidence_level;
    let processors = processors(manifest);
    let fit = |(.., points): (_, _, Vec<&Gathered<'_>>)| fit(&points, level, processors);
    let fits: Vec<CurveFit> = curves.into_iter().filter_map(fit).collect();
    by_curve(fits)
}

/// Groups the targets of each curve.
fn by_curve(fits: Vec<CurveFit>) -> Vec<CurveFit> {
    let mut names: Vec<String> = Vec::new();
    for fit in &fits {
        if !names.contains(&fit.curve) {
            names.push(fit.curve.clone());
        }
    }
    let mut fits = fits;
    fits.sort_by_key(|fit| names.iter().position(|name| *name == fit.curve));
    fits
}

fn processors(manifest: &Manifest) -> Option<u32> {
    let processor = &manifest.machine.processor;
    let allowed = u32::try_from(processor.allowed.len()).ok().filter(|&count| count > 0);
    allowed.or(processor.threads)
}

fn fit(points: &[&Gathered<'_>], level: f64, processors: Option<u32>) -> Option<CurveFit> {
    let cell = points.first()?.cell;
    let point = cell.curve.as_ref()?;
    let (mut n, mut x, mut measured) = (Vec::new(), Vec::new(), Vec::new());
    let mut blocks = u32::MAX;
    let mut by_block: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for one in points {
        let at = one.cell.curve.as_ref().map_or(0.0, |point| point.value);
        let rates = one.throughput();
        if !rates.is_empty() {
            measured.push(at);
            blocks = blocks.min(u32::try_from(rates.len()).unwrap_or(u32::MAX));
        }
        for (block, rate) in rates {
            n.push(at);
            x.push(rate);
            by_block.entry(block).or_default().push((at, rate));
        }
    }
    let mut fit = CurveFit {
        target: cell.target.clone(),
        curve: point.curve.clone(),
        title: point.title.clone(),
        axis: point.axis.clone(),
        law: None,
        parameters: Vec::new(),
        alpha_max: None,
        points: measured,
        processors,
        refused: Vec::new(),
    };
    match scalability(&n, &x, Errors::InProportion, level) {
        Err(refusal) => fit.refused.push(refusal.to_string()),
        Ok(_) if blocks < BLOCKS_MIN => {
            fit.refused.push(format!("a law needs {BLOCKS_MIN} blocks at each point"));
        }
        Ok(found) if found.chosen.gamma.interval.low <= 0.0 => {
            fit.refused.push("the values vary too much for a law".to_owned());
        }
        Ok(found) => {
            let by_block: Vec<Vec<(f64, f64)>> = by_block.into_values().collect();
            fill(&mut fit, &found, of_blocks(&by_block, level));
        }
    }
    Some(fit)
}

fn fill(fit: &mut CurveFit, found: &Scalability, full: Result<OfBlocks, Refusal>) {
    let chosen = &found.chosen;
    let name = match chosen.model {
        Model::Linear => "linear",
        Model::Amdahl => "amdahl",
        Model::Coherency => "coherency",
        Model::Usl => "usl",
    };
    fit.law = Some(name.to_owned());
    match full {
        Ok(OfBlocks { gamma, alpha, beta, peak_n }) => {
            let all = [
                ("gamma", "operations/s", Some(gamma)),
                ("alpha", "", Some(alpha)),
                ("beta", "", Some(beta)),
                ("peak_n", "count", peak_n),
            ];
            let given = all.into_iter().filter_map(|(name, unit, one)| Some((name, unit, one?)));
            fit.parameters.extend(given.map(|(name, unit, one)| parameter(name, unit, one)));
        }
        // There are too few points for the full law, so only the smaller one is available.
        Err(why) => {
            let of_chosen = |estimate: &ParameterEstimate| Parameter {
                value: estimate.value,
                interval: estimate.interval,
            };
            let all = [
                ("gamma", "operations/s", Some(&chosen.gamma)),
                ("alpha", "", chosen.alpha.as_ref()),
                ("beta", "", chosen.beta.as_ref()),
            ];
            let given = all.into_iter().filter_map(|(name, unit, one)| Some((name, unit, one?)));
            fit.parameters
                .extend(given.map(|(name, unit, one)| parameter(name, unit, of_chosen(one))));
            let alpha = found.amdahl.as_ref().ok().and_then(|amdahl| amdahl.alpha.as_ref());
            let is_without = chosen.model == Model::Linear;
            fit.alpha_max = alpha.filter(|_| is_without).map(|alpha| alpha.interval.high);
            fit.refused.push(why.to_string());
        }
    }
}

fn parameter(name: &str, unit: &str, one: Parameter) -> FitParameter {
    FitParameter {
        name: name.to_owned(),
        unit: unit.to_owned(),
        value: one.value,
        interval: report(one.interval),
    }
}

fn report(interval: stats::Interval) -> IntervalReport {
    IntervalReport { level: interval.level, low: interval.low, high: interval.high }
}

#[cfg(test)]
mod tests {
    use record::CurvePoint;

    use super::*;
    use crate::sample::{Sample, swaying};

    fn on_axis(axis: &str, value: f64) -> CurvePoint {
        CurvePoint {
            curve: "create-by-threads".to_owned(),
            title: "create".to_owned(),
            axis: axis.to_owned(),
            unit: "count".to_owned(),
            value,
            family: None,
        }
    }

    /// One target with `throughput` operations per second at each number of threads.
    fn fitted(axis: &str, points: &[(f64, f64)]) -> Vec<CurveFit> {
        let mut sample = Sample::new(&["ext4"]).throughput_first();
        for (threads, throughput) in points {
            let times: Vec<f64> = swaying(*throughput, 12).iter().map(|rate| 1e9 / rate).collect();
            let name = format!("create-{threads}");
            sample = sample.benchmark(&name, &[&times]);
            sample.change(&name, |cell| cell.curve = Some(on_axis(axis, *threads)));
        }
        sample.run.manifest.machine.processor.allowed = vec![0, 1];
        sample.document().fits
    }

    /// Throughput according to the Universal Scalability Law.
    fn usl(alpha: f64, beta: f64, threads: &[f64]) -> Vec<(f64, f64)> {
        let at = |&n: &f64| {
            let cost = 1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0);
            (n, 50_000.0 * n / cost)
        };
        threads.iter().map(at).collect()
    }

    #[test]
    fn the_parameters_that_made_the_values_are_found_with_their_intervals() {
        let threads = [1.0, 2.0, 3.0, 4.0, 8.0, 16.0];
        let fits = fitted("threads", &usl(0.1, 0.01, &threads));
        assert_eq!(fits.len(), 1);
        let fit = &fits[0];
        assert_eq!((fit.target.as_str(), fit.law.as_deref()), ("ext4", Some("usl")));
        assert_eq!((fit.points.as_slice(), fit.processors), (&threads[..], Some(2)));
        let truth = [("gamma", 50_000.0), ("alpha", 0.1), ("beta", 0.01), ("peak_n", 90f64.sqrt())];
        for ((name, value), found) in truth.iter().zip(&fit.parameters) {
            assert_eq!(found.name, *name);
            let interval = found.interval;
            assert!(interval.low < *value && *value < interval.high, "{found:?}");
            assert!(interval.high - interval.low < value * 0.4, "{found:?}");
        }
        assert_eq!(fit.parameters.len(), truth.len());
        assert!(fit.refused.is_empty());
    }

    #[test]
    fn too_few_points_are_refused_in_words() {
        let fit = &fitted("threads", &usl(0.1, 0.01, &[1.0]))[0];
        assert_eq!((fit.law.as_deref(), fit.parameters.len()), (None, 0));
        assert!(fit.refused[0].contains("needs at least 2 values, but got 1"), "{fit:?}");
        let fit = &fitted("threads", &usl(0.3, 0.0, &[1.0, 2.0, 3.0]))[0];
        assert_eq!(fit.law.as_deref(), Some("amdahl"));
        assert!(fit.refused[0].contains("the Universal Scalability Law"), "{fit:?}");
    }

    #[test]
    fn values_that_say_nothing_have_no_law() {
        // One block of one point saw all there was.
        let mut sample = Sample::new(&["ext4"]).throughput_first();
        for threads in [1.0, 2.0, 3.0, 4.0] {
            let mut times = vec![1e9; 6];
            times[0] = if threads == 2.0 { 1.0 } else { 1e9 };
            let name = format!("create-{threads}");
            sample = sample.benchmark(&name, &[&times]);
            sample.change(&name, |cell| cell.curve = Some(on_axis("threads", threads)));
        }
        let fit = &sample.document().fits[0];
        assert_eq!((fit.law.as_deref(), fit.parameters.len()), (None, 0), "{fit:?}");
        assert!(fit.refused[0].contains("vary too much"), "{fit:?}");
    }

    #[test]
    fn a_law_wants_six_blocks_and_says_which_alpha_it_cannot_exclude() {
        let fit_of = |blocks: usize| {
            let mut sample = Sample::new(&["ext4"]).throughput_first();
            for threads in [1.0, 2.0, 3.0, 4.0] {
                let rates = swaying(50_000.0 * threads, blocks);
                let times: Vec<f64> = rates.iter().map(|rate| 1e9 / rate).collect();
                let name = format!("create-{threads}");
                sample = sample.benchmark(&name, &[&times]);
                sample.change(&name, |cell| cell.curve = Some(on_axis("threads", threads)));
            }
            sample.document().fits[0].clone()
        };
        let few = fit_of(5);
        let why = "a law needs 6 blocks at each point".to_owned();
        assert_eq!((few.law, few.refused), (None, vec![why]));
        let linear = fit_of(6);
        assert_eq!(linear.law.as_deref(), Some("linear"));
        let alpha = linear.parameters.iter().find(|one| one.name == "alpha").unwrap().interval;
        assert!(alpha.low < 0.0 && (0.0..0.05).contains(&alpha.high), "{alpha:?}");
    }

    #[test]
    fn other_axes_have_no_law() {
        assert!(fitted("directory size", &usl(0.1, 0.01, &[1.0, 2.0, 3.0, 4.0])).is_empty());
    }
}
