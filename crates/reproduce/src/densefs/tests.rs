//! A run made by hand that matches the paper, and variants with one thing changed.

use std::collections::BTreeMap;

use record::{CacheState, Cell, Dimension, MetricDefinition, Replicate};

use super::*;

fn estimate(median: f64) -> Estimate {
    Estimate { median, low: None, high: None }
}

fn footprint(target: &str, operation: &str, instructions: f64, data: f64) -> OperationFootprint {
    OperationFootprint {
        target: target.to_owned(),
        operation: operation.to_owned(),
        instruction_lines: estimate(instructions),
        data_lines: estimate(data),
        ratio: instructions / data,
        instruction_bytes_unused_percent: 40.0,
        data_bytes_unused_percent: 55.0,
        instruction_lines_used_once_percent: 70.0,
        data_lines_used_once_percent: 20.0,
        sparse_data_lines_percent: Some(35.0),
    }
}

fn operation(name: &str, file_system: f64) -> OperationStacks {
    let stacks = [
        ("entry", 10.0),
        ("entry;vfs", 200.0),
        ("entry;vfs;file system", file_system),
        ("entry;vfs;file system;page cache", 100.0),
        ("entry;vfs;malloc", 90.0),
    ];
    let mut data_lines_by_bytes = vec![0.0; 64];
    (data_lines_by_bytes[7], data_lines_by_bytes[8], data_lines_by_bytes[63]) = (3.0, 4.0, 5.0);
    OperationStacks {
        repetitions: 2,
        operation: name.to_owned(),
        code_bytes: stacks.map(|(stack, bytes)| (stack.to_owned(), bytes)).into(),
        data_lines_by_bytes,
    }
}

fn traced(target: &str, file_system: f64) -> TargetStacks {
    let operations = FIGURE_OPERATIONS.map(|name| operation(name, file_system)).to_vec();
    TargetStacks { target: target.to_owned(), kernel: Some("6.1.0".to_owned()), operations }
}

/// Misses of grep in the L1 instruction cache for each file, as those of the paper may have been.
const GREP_L1I: [f64; 6] = [300.0, 250.0, 240.0, 202.0, 347.0, 5.4];

/// grep on a target, where its own misses are a tenth of all.
fn execution((target, l1i): (&&str, f64)) -> GrepExecution {
    GrepExecution {
        target: (*target).to_owned(),
        files: 1000,
        own_instructions_thousands: 2900.0,
        l1i_misses_per_file: l1i,
        own_misses: [l1i / 10.0, l1i / 20.0, 1.0],
        own_misses_alone: [0.5, 0.2, 1.0],
    }
}

/// A reproduction that matches the paper.
fn as_published() -> Reproduction {
    let of_target = |target: &str| {
        let lines =
            [(1100.0, 450.0), (1000.0, 460.0), (300.0, 150.0), (400.0, 200.0), (300.0, 200.0)];
        let names = ["create", "unlink", "rename", "stat", "read"];
        let all = names.into_iter().zip(lines);
        all.map(|(name, (instructions, data))| footprint(target, name, instructions, data))
            .collect::<Vec<_>>()
    };
    let mut footprints = of_target("tmpfs");
    footprints.extend(of_target("xfs"));
    let side = |layout, instructions, data| Compaction {
        layout,
        target: format!("densefs-{layout}"),
        published_instruction_lines: "",
        published_data_lines: "",
        instruction_lines: estimate(instructions),
        data_lines: estimate(data),
    };
    let code = |call| CallCode { call, plain: 100.0, aligned: 80.0, hinted: 79.0, ordered: 79.0 };
    let interval =
        |[low, median, high]: [f64; 3]| Estimate { median, low: Some(low), high: Some(high) };
    let point = |target: &str, slowdown, over_densefs: Option<[f64; 3]>| PollutionPoint {
        operation: "create".to_owned(),
        code_bytes: 4096,
        data_bytes: 4096,
        target: target.to_owned(),
        is_densefs: over_densefs.is_none(),
        slowdown: interval(slowdown),
        over_densefs: over_densefs.map(interval),
    };
    Reproduction {
        paper: "paper",
        run: Some("run".to_owned()),
        pollution_run: Some("run/pollution".to_owned()),
        inode: inode::steps(),
        figure_3: vec![side("plain", 90.0, 50.0), side("ordered", 65.0, 44.0)],
        code: vec![code("create"), code("all")],
        functions: functions::places(SYMBOLS),
        figure_4: vec![
            point("xfs", [2.6, 2.7, 2.8], Some([2.2, 2.3, 2.4])),
            point("densefs", [1.1, 1.15, 1.19], None),
        ],
        grep: GREP_TARGETS.iter().zip(GREP_L1I).map(execution).collect(),
        kernels: vec!["6.1.0".to_owned()],
        figure_1: figures::cachemaps(&footprints, &["mine".to_owned(), "xfs".to_owned()]),
        figure_2: figures::flame_graphs(&[traced("tmpfs", 100.0), traced("xfs", 400.0)]),
        footprints,
        statements: Vec::new(),
        missing: Vec::new(),
        is_traced_whole: true,
    }
}

/// As a guest's kernel might have them, if it had the paper's layout.
const SYMBOLS: &str = "\
ffffffff81000030 T ktime_get_coarse_real_ts64
ffffffff81000070 T next
ffffffff81010000 T strcpy
ffffffff81010020 T next
ffffffff81010040 T strcmp
ffffffff81010070 T next
ffffffff810100b0 T strlen
ffffffff810100d0 T next
";

/// What cannot be told of a reproduction that matches the paper.
const NEVER_TOLD: [usize; 1] = [19];

fn all_of(of: &Reproduction) -> Vec<Statement> {
    statements::all(of, Part::Whole, &Lacking::default())
}

/// The statements that do not hold with `change`, by index.
fn refuted(change: impl FnOnce(&mut Reproduction)) -> Vec<usize> {
    let mut of = as_published();
    change(&mut of);
    let all = all_of(&of).into_iter().enumerate();
    let refuted = all.filter(|(_, one)| one.outcome != Outcome::Holds).map(|(index, _)| index);
    refuted.filter(|index| !NEVER_TOLD.contains(index)).collect()
}

#[test]
fn what_is_as_published_holds() {
    let all = all_of(&as_published());
    for (index, statement) in all.iter().enumerate() {
        let is_told = statement.outcome == Outcome::Holds;
        assert_eq!(is_told, !NEVER_TOLD.contains(&index), "{index}: {statement:?}");
        assert!(statement.tolerance.is_some(), "{statement:?}");
        assert_eq!(is_told, statement.why.is_none(), "{statement:?}");
    }
    assert_eq!(all.len(), 33);
    assert_eq!(all[1].measured, "450 lines, 1.00 times as many");
    assert_eq!(
        all[5].measured,
        "median 2.09x; 8 of 8 operations on names: create 2.44x, unlink 2.17x, rename 2.00x, stat \
         2.00x; on data: read 1.50x"
    );
    assert_eq!(all[10].measured, "38 % (xfs) to 60 % (tmpfs)");
}

#[test]
fn each_statement_can_fail() {
    let lines = |of: &mut Reproduction, at: usize, instructions, data| {
        of.figure_1[at].instruction_lines = estimate(instructions);
        of.figure_1[at].data_lines = estimate(data);
    };
    assert_eq!(refuted(|of| lines(of, 0, 1000.0, 450.0)), [0]);
    assert_eq!(refuted(|of| lines(of, 0, 1100.0, 700.0)), [1]);
    assert_eq!(refuted(|of| lines(of, 1, 1600.0, 450.0)), [2]);
    assert_eq!(refuted(|of| lines(of, 2, 1050.0, 300.0)), [3, 4]);
    assert_eq!(refuted(|of| lines(of, 2, 500.0, 300.0)), [4]);
    let all = |of: &mut Reproduction, change: fn(&mut OperationFootprint)| {
        of.footprints.iter_mut().for_each(change);
    };
    assert_eq!(refuted(|of| all(of, |one| one.ratio = 1.4)), [5]);
    assert_eq!(refuted(|of| all(of, |one| one.data_bytes_unused_percent = 20.0)), [6, 8]);
    assert_eq!(refuted(|of| all(of, |one| one.sparse_data_lines_percent = Some(9.0))), [7]);
    assert_eq!(refuted(|of| all(of, |one| one.instruction_bytes_unused_percent = 60.0)), [8]);
    assert_eq!(refuted(|of| all(of, |one| one.instruction_lines_used_once_percent = 50.0)), [9]);
    let shares = |of: &mut Reproduction, category: &str, percent| {
        let categories = &mut of.figure_2[1].categories;
        let found = categories.iter_mut().find(|one| one.category == category);
        found.expect("it is there").own_percent = percent;
    };
    assert_eq!(refuted(|of| shares(of, "malloc", 40.0)), [10]);
    assert_eq!(refuted(|of| shares(of, "file system", 70.0)), [11]);
    assert_eq!(refuted(|of| shares(of, "file system", 22.0)), [12]);
    let compact = |of: &mut Reproduction, instructions, data| {
        of.figure_3[1].instruction_lines = estimate(instructions);
        of.figure_3[1].data_lines = estimate(data);
    };
    assert_eq!(refuted(|of| compact(of, 95.0, 60.0)), [18, 20, 21]);
    assert_eq!(refuted(|of| compact(of, 90.0, 44.0)), [18, 20], "as many are not fewer");
    assert_eq!(refuted(|of| compact(of, 70.0, 44.0)), [20]);
    assert_eq!(refuted(|of| of.code[1].hinted = 50.0), [22]);
    assert_eq!(refuted(|of| of.code[1].hinted = 80.0), [23]);
    assert_eq!(refuted(|of| of.functions[0].lines = 1), [24]);
    assert_eq!(refuted(|of| of.functions[3].first_line += 9), [] as [usize; 0]);
    assert_eq!(refuted(|of| of.functions[3].lines = 3), [25]);
    assert_eq!(refuted(|of| of.functions[2].bytes = 70), [26, 27]);
    assert_eq!(refuted(|of| of.figure_4.clear()), [28, 29]);
    assert_eq!(refuted(|of| of.grep[5].l1i_misses_per_file = 10.0), [30]);
    assert_eq!(refuted(|of| of.grep[0].l1i_misses_per_file = 350.0), [31]);
    assert_eq!(refuted(|of| of.grep[5].own_misses[1] = 11.0), [32]);
    assert_eq!(refuted(|of| drop(of.grep.pop())), [30, 32]);
    assert_eq!(refuted(|of| drop(of.grep.remove(0))), [31]);
}

#[test]
fn a_part_has_its_own_statements() {
    let count = |part| statements::all(&as_published(), part, &Lacking::default()).len();
    let parts = [
        Part::Figure1,
        Part::Figure2,
        Part::Section2,
        Part::Section31,
        Part::Figure3,
        Part::Section32,
        Part::Section4,
    ];
    let counts = parts.map(count);
    assert_eq!((counts, counts.iter().sum::<usize>()), ([5, 3, 5, 5, 4, 6, 5], count(Part::Whole)));
    assert_eq!(count(Part::Figure4), 2);
    for (name, part) in [("figure-1", Part::Figure1), ("section-3.2", Part::Section32)] {
        assert_eq!(Part::from_name(name), Some(part));
    }
    let mut of = as_published();
    of.keep(Part::Figure2);
    assert_eq!((of.figure_1.len(), of.figure_2.len(), of.footprints.len()), (0, 2, 0));
}

#[test]
fn what_was_not_measured_is_unknown() {
    let mut of = as_published();
    of.keep(Part::Section2);
    of.footprints.clear();
    let lacking = Lacking { traces: Some("no lab".to_owned()), ..Lacking::default() };
    let all = statements::all(&of, Part::Whole, &lacking);
    let known: Vec<&str> =
        all.iter().filter(|one| one.outcome != Outcome::Unknown).map(|one| one.source).collect();
    assert_eq!(known, ["section 3.1"; 5]);
    assert_eq!((all[0].why.as_deref(), &all[24].why), (Some("no lab"), &None));
    // Stacks without all operations of the figure do not contribute to it.
    let mut without = traced("xfs", 1.0);
    without.operations.pop();
    assert_eq!(figures::flame_graphs(&[without]), []);
}

#[test]
fn a_flame_graph_has_own_code_and_that_of_callees() {
    let graph = &as_published().figure_2[0];
    assert_eq!(graph.code_bytes, 3.0 * 500.0);
    let shares: Vec<(&str, f64, f64)> = graph
        .categories
        .iter()
        .map(|one| (one.category.as_str(), one.own_percent, one.with_callees_percent))
        .collect();
    let wanted = [
        ("vfs", 40.0, 98.0),
        ("file system", 20.0, 40.0),
        ("page cache", 20.0, 20.0),
        ("malloc", 18.0, 18.0),
        ("entry", 2.0, 100.0),
    ];
    assert_eq!(shares.len(), wanted.len());
    for (found, wanted) in shares.iter().zip(wanted) {
        assert_eq!(found.0, wanted.0);
        assert!(
            (found.1 - wanted.1).abs() < 1e-9 && (found.2 - wanted.2).abs() < 1e-9,
            "{found:?}"
        );
    }
    assert_eq!(graph.cgstacks[0].cgstack, "entry;vfs");
}

#[test]
fn footprints_are_medians_over_the_repetitions() {
    let names = [
        "data_lines",
        "instruction_lines",
        "instruction_bytes_unused",
        "data_bytes_unused",
        "instruction_lines_used_once",
        "data_lines_used_once",
    ];
    let metric = |name: &&str| MetricDefinition::new(name, "lines", record::Better::Lower);
    let cell = Cell {
        target: "xfs".to_owned(),
        suite: "footprint".to_owned(),
        benchmark: "create".to_owned(),
        title: "create".to_owned(),
        dimension: Dimension::CpuFootprint,
        exercises: Vec::new(),
        parameters: BTreeMap::new(),
        cache_state: CacheState::Warm,
        metrics: names.iter().map(metric).collect(),
        baseline: None,
        working_set_bytes: None,
        curve: None,
        floor: None,
        rank: 0,
        least: None,
        sequence: None,
    };
    let replicates = [10.0, 30.0, 20.0].map(replicate);
    let cells = vec![(&cell, replicates.iter().collect())];
    let found = figures::footprints(&Gathered { cells, memory_bytes: 0 }, &[traced("xfs", 1.0)]);
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!((found.instruction_lines.median, found.data_lines.median), (40.0, 20.0));
    assert_eq!((found.ratio, found.data_bytes_unused_percent), (2.0, 50.0));
    assert_eq!(found.instruction_bytes_unused_percent, 25.0);
    assert_eq!(found.instruction_lines_used_once_percent, 75.0);
    assert_eq!(found.sparse_data_lines_percent, Some(25.0));
}

/// A replicate with this many data lines, half of them used, and twice as many instruction lines.
fn replicate(lines: f64) -> Replicate {
    let counts = vec![lines, 2.0 * lines, 32.0 * lines, 32.0 * lines, 1.5 * lines, 0.1 * lines];
    Replicate::from_metrics(0, 0, counts)
}

#[test]
fn the_text_has_every_figure_and_fits_the_page() {
    let mut of = as_published();
    of.statements = all_of(&of);
    of.missing.push("create on f2fs: mkfs.f2fs is missing".to_owned());
    let text = of.text(80);
    for part in [
        "Figure 1:",
        "Figure 2:",
        "xfs: the largest",
        "Section 2:",
        "Section 3.1:",
        "Figure 3:",
        "Section 3.2: instruction",
        "Section 3.2: functions",
        "Figure 4:",
        "tolerance: a factor of 1.5",
        "Section 4: grep on 1,000 files",
        "32 of 33",
        "f2fs",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let too_wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(too_wide, Vec::<&str>::new());
}
