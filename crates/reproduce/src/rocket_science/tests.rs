//! A run made by hand that matches the paper, and variants with one thing changed.

use super::*;

fn estimate(median: f64) -> Estimate {
    Estimate { median, low: Some(median * 0.98), high: Some(median * 1.02) }
}

fn point(mib: f64, rate: f64, deviation: f64) -> SizePoint {
    SizePoint {
        file_bytes: mib * f64::from(1 << 20),
        memory_percent: 100.0 * mib / 64.0,
        throughput: estimate(rate),
        relative_deviation_percent: Some(deviation),
        runs: 10,
    }
}

fn latencies(buckets: &[(u8, f64)]) -> Latencies {
    let quick = buckets.iter().filter(|(log2, _)| *log2 < DEVICE_LOG2).map(|(_, p)| p).sum();
    let from_memory_percent = estimate(quick);
    Latencies { title: "a file".to_owned(), buckets: buckets.to_vec(), from_memory_percent }
}

fn curve(target: &str, rates: &[f64]) -> TimeCurve {
    let points = rates.iter().enumerate().map(|(index, rate)| (index as f64, *rate)).collect();
    TimeCurve { target: target.to_owned(), points, half_speed_s: estimate(3.0) }
}

/// A reproduction that matches the paper.
fn as_published() -> Reproduction {
    let size = |mib: u32| {
        let mib = f64::from(mib);
        if mib < 60.0 { point(mib, 1e6, 1.0) } else { point(mib, 4e3 * 64.0 / mib, 4.0) }
    };
    let zoom = |mib: u32| if mib < 60 { size(mib) } else { point(f64::from(mib), 5e3, 35.0) };
    let slice = |device: f64| LatencySlice {
        start_s: 0.0,
        buckets: vec![(10, 100.0 - device), (20, device)],
    };
    Reproduction {
        paper: "paper",
        run: "run".to_owned(),
        scale: Scale { published_memory_bytes: 512 << 20, memory_bytes: 64 << 20 },
        figure_1: (1..=16).map(|step| size(step * 8)).collect(),
        figure_1_zoom: (54..66).map(zoom).collect(),
        figure_2: vec![curve("ext2", &[2e3, 2.5e3, 8e5, 1e6]), curve("xfs", &[2e3, 2e4, 9e5, 1e6])],
        figure_3: vec![
            latencies(&[(9, 60.0), (10, 39.5), (22, 0.5)]),
            latencies(&[(10, 49.0), (20, 51.0)]),
            latencies(&[(10, 4.0), (20, 96.0)]),
        ],
        figure_4: [99.5, 90.0, 50.0, 20.0, 0.5].map(slice).to_vec(),
        shapes: Vec::new(),
        statements: Vec::new(),
        missing: Vec::new(),
    }
}

fn outcomes(of: &Reproduction) -> Vec<Outcome> {
    statements::all(of).iter().map(|statement| statement.outcome).collect()
}

#[test]
fn what_is_as_published_holds() {
    let all = statements::all(&as_published());
    for statement in &all {
        assert_eq!(statement.outcome, Outcome::Holds, "{statement:?}");
    }
    assert_eq!(all.len(), 12);
    assert_eq!(all[0].measured, "88 % to 100 % of memory, by a factor of 250");
    assert_eq!(all[1].measured, "1 MiB, 1.6 % of memory (steps of 1 MiB)");
}

/// The statements that no longer hold after `change`, by index.
fn refuted(change: impl FnOnce(&mut Reproduction)) -> Vec<usize> {
    let mut of = as_published();
    change(&mut of);
    let refuted = |(index, outcome): (usize, Outcome)| (outcome != Outcome::Holds).then_some(index);
    outcomes(&of).into_iter().enumerate().filter_map(refuted).collect()
}

#[test]
fn each_statement_can_fail() {
    let smooth = |of: &mut Reproduction| {
        for (index, one) in of.figure_1.iter_mut().enumerate() {
            one.throughput = estimate(1e6 * 0.7_f64.powi(i32::try_from(index).expect("few")));
        }
    };
    assert!(refuted(smooth).contains(&0));
    let gradual = |point: &mut SizePoint| point.throughput = estimate(3e5);
    assert_eq!(refuted(|of| of.figure_1_zoom[6..8].iter_mut().for_each(gradual)), [1]);
    assert_eq!(refuted(|of| of.figure_1[8..].iter_mut().for_each(calm)), [2]);
    assert_eq!(refuted(|of| of.figure_1_zoom.iter_mut().for_each(calm)), [3]);
    assert_eq!(refuted(|of| of.figure_2[1].points[3].1 = 3e6), [4]);
    assert_eq!(refuted(|of| of.figure_2[1].points[1].1 = 2.5e3), [5]);
    assert_eq!(refuted(|of| of.figure_3[0] = latencies(&[(9, 90.0), (20, 10.0)])), [6]);
    assert_eq!(refuted(|of| of.figure_3[1] = latencies(&[(10, 80.0), (20, 20.0)])), [7]);
    assert_eq!(refuted(|of| of.figure_3[2] = latencies(&[(10, 30.0), (20, 70.0)])), [8]);
    assert_eq!(refuted(|of| of.figure_3[2] = latencies(&[(10, 4.0), (14, 96.0)])), [9]);
    assert_eq!(refuted(|of| of.figure_4[4].buckets = vec![(10, 80.0), (20, 20.0)]), [10]);
    assert_eq!(refuted(|of| of.figure_4[1..4].iter_mut().for_each(cold)), [11]);
}

fn calm(point: &mut SizePoint) {
    point.relative_deviation_percent = Some(0.9);
}

fn cold(slice: &mut LatencySlice) {
    slice.buckets = vec![(20, 100.0)];
}

#[test]
fn what_was_not_measured_is_unknown() {
    let mut of = as_published();
    of.figure_1.clear();
    of.figure_2.clear();
    of.figure_3.clear();
    of.figure_4.clear();
    assert!(outcomes(&of).iter().all(|outcome| *outcome == Outcome::Unknown));
}

#[test]
fn the_text_has_every_figure_and_fits_the_page() {
    let mut of = as_published();
    of.statements = statements::all(&of);
    of.shapes = shapes::all(&of);
    let text = of.text(80);
    for part in ["Figure 1:", "Figure 1, zoom", "Figure 2", "a file", "Figure 4", "12 of 12"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let too_wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(too_wide, Vec::<&str>::new());
}

#[test]
fn each_figure_has_its_shape_beside_the_published_one() {
    let all = shapes::all(&as_published());
    let measured: Vec<&str> = all.iter().map(|shape| shape.measured.as_str()).collect();
    assert_eq!(
        measured,
        [
            "memory-bound up to 92 % of memory, device-bound from 94 % on, with a drop by a factor \
             of 250; deviation up to 35 %",
            "up to 8.0x apart between 1.0 and 1.0 s, within 2x otherwise; half the final \
             throughput after ext2 3.0 s [2.9, 3.1], xfs 3.0 s [2.9, 3.1]",
            "(a) peaks at 2^9 ns, 99.5 % [97.5, 101.5] from memory; (b) peaks at 2^10 and 2^20 \
             ns, 49.0 % [48.0, 50.0] from memory; (c) peaks at 2^10 and 2^20 ns, 4.0 % \
             [3.9, 4.1] from memory",
            "the highest peak is at 2^20 ns (100 %) in the first time slice and at 2^10 ns (100 %) \
             in the last; memory and device each have 1 % or more in 3 of 5 slices",
        ]
    );
    let figures: Vec<u8> = all.iter().map(|shape| shape.figure).collect();
    assert_eq!(figures, [1, 2, 3, 4]);
}

#[test]
fn a_figure_that_was_not_measured_has_no_shape() {
    let mut of = as_published();
    of.figure_2.clear();
    of.figure_4.clear();
    let figures: Vec<u8> = shapes::all(&of).iter().map(|shape| shape.figure).collect();
    assert_eq!(figures, [1, 3]);
}

#[test]
fn regimes_change_where_the_paper_and_the_plateau_say() {
    use shapes::{Regime, measured_regime, published_regime};
    let published = [75.0, 76.0, 87.0, 87.5].map(published_regime);
    assert_eq!(published, [Regime::Memory, Regime::Falling, Regime::Falling, Regime::Device]);
    let measured = [50.0, 49.0, 10.1, 10.0].map(|rate| measured_regime(rate, 100.0));
    assert_eq!(measured, [Regime::Memory, Regime::Falling, Regime::Falling, Regime::Device]);
}
