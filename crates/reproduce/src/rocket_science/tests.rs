//! A run made by hand that matches the paper, and variants with one thing changed.

use super::simulated::Machine;
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
        scale: Scale {
            published_memory_bytes: 512 << 20,
            memory_bytes: 64 << 20,
            targets: vec!["ext2:memory=64m".to_owned()],
        },
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

/// The statements of a run on a machine.
fn statements(machine: &Machine) -> Vec<Statement> {
    statements::all(&machine.run(1).gathered())
}

#[test]
fn what_is_as_published_holds() {
    let all = statements(&Machine::as_published());
    for statement in &all {
        assert_eq!(statement.outcome, Outcome::Holds, "{statement:?}");
    }
    let measured: Vec<&str> = all.iter().map(|one| one.measured.as_str()).collect();
    assert_eq!(measured[0], "93.8 % [93.8, 93.8] of memory, in the middle of the step");
    assert!(measured[1].contains("by a factor of 2"), "{}", measured[1]);
    assert!(measured[3].ends_with("of memory: 1 MiB, in steps of 1 MiB"), "{}", measured[3]);
    assert_eq!(measured[11], "1.00 [1.00, 1.00] in each run");
    assert_eq!(all.len(), 19);
}

/// The statements that no longer hold on another machine, by index.
fn refuted(change: impl FnOnce(&mut Machine)) -> Vec<usize> {
    let mut machine = Machine::as_published();
    change(&mut machine);
    let all = statements(&machine).into_iter().enumerate();
    all.filter(|(_, one)| one.outcome != Outcome::Holds).map(|(index, _)| index).collect()
}

#[test]
fn each_statement_can_fail() {
    assert!(refuted(|of| of.cache_percent = 60.0).contains(&0));
    let smooth = refuted(|of| of.power = Some(3.0));
    assert!(smooth.contains(&1), "{smooth:?}");
    let gradual = refuted(|of| of.device_ns = 1e5);
    assert!(gradual.contains(&3), "{gradual:?}");
    assert!(refuted(|of| of.device_ns = 3e4).contains(&2));
    assert_eq!(refuted(|of| of.device_cache = 1.0), [4], "one step");
    assert!(refuted(|of| of.memory_noise = 0.04).contains(&5));
    assert!(refuted(|of| (of.cache_noise, of.device_noise) = (0.0, 0.012)).contains(&6));
    assert_eq!(refuted(|of| of.file_systems[1].at_first = 2.0), [7]);
    let alike = |of: &mut Machine| of.file_systems.iter_mut().for_each(|one| one.warm_up = 1.0);
    assert_eq!(refuted(alike), [8, 9]);
    let little = |of: &mut Machine| {
        of.file_systems[1].warm_up = 1.0;
        of.file_systems[2].warm_up = 1.2;
    };
    assert!(!refuted(little).contains(&8));
    assert_eq!(refuted(|of| of.file_systems[2].at_last = 0.8), [10]);
    assert_eq!(refuted(|of| of.stray_share = 0.1), [11, 15], "and its mean is not memory's");
    assert!(refuted(|of| of.cache_percent = 75.5).contains(&13));
    assert!(refuted(|of| of.device_ns = 9e5).contains(&15));
    assert!(refuted(|of| of.uncached_share = 0.7).contains(&17));
}

#[test]
fn peaks_and_modes_can_fail() {
    let all = refuted(|of| of.device_ns = 2.5e4);
    assert!(all.contains(&15) && all.contains(&16), "{all:?}");
    assert!(refuted(|of| of.cache_percent = 200.0).contains(&12), "one peak where all fits");
    assert!(refuted(|of| of.cache_percent = 130.0).contains(&14));
    assert!(refuted(|of| of.uncached_share = 0.995).contains(&18));
}

#[test]
fn what_was_not_measured_is_unknown() {
    let run = Machine::as_published().run(1).without("figure");
    let all = statements::all(&run.gathered());
    assert!(all.iter().all(|one| one.outcome == Outcome::Unknown && !one.is_measured()), "{all:?}");
    let only_figure_2 = Machine::as_published().run(1).without("figure-1").without("figure-3");
    let all = statements::all(&only_figure_2.without("figure-4").gathered());
    let measured = all.iter().filter(|one| one.is_measured()).count();
    assert_eq!(measured, 4);
}

#[test]
fn few_blocks_decide_nothing() {
    let machine = Machine { blocks: 1, ..Machine::as_published() };
    for statement in statements(&machine) {
        assert_eq!(statement.outcome, Outcome::Unknown, "{statement:?}");
    }
}

#[test]
fn the_text_has_every_figure_and_fits_the_page() {
    let mut of = as_published();
    of.statements = statements(&Machine::as_published());
    of.shapes = shapes::all(&of);
    let text = of.text(80);
    for part in ["Figure 1:", "Figure 1, zoom", "Figure 2", "a file", "Figure 4", "19 of 19"] {
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
