//! Both forms, for hand-made runs and for what the paper prints.

use record::{
    BonnieMetadataOptions, BonnieOptions, BonniePhaseOrder, BonnieRun, CurvePoint, SuiteOptions,
};

use super::*;
use crate::sample::Sample;

const PHASES: [&str; 6] =
    ["char-output", "block-output", "rewrite", "char-input", "block-input", "random-seeks"];
/// Nanoseconds per operation, so that a replicate of 100 operations takes a second.
const SECOND: f64 = 1e7;

/// A run of bonnie on these targets; `times` are those of each phase, by target.
fn bonnie(targets: &[&str], times: &[f64]) -> Sample {
    let mut sample = Sample::new(targets);
    for phase in PHASES {
        sample = with_phase(sample, phase, phase, times);
    }
    asked_for(sample, published().into())
}

/// Adds a phase as the benchmark of that name.
fn with_phase(sample: Sample, name: &str, phase: &str, times: &[f64]) -> Sample {
    let values: Vec<[f64; 6]> = times.iter().map(|&time| [time; 6]).collect();
    let values: Vec<&[f64]> = values.iter().map(|one| &one[..]).collect();
    let mut sample = sample.benchmark(name, &values);
    // The first value of a replicate is its time, the second is its rate.
    sample.change(name, |cell| {
        let rate = if phase == "random-seeks" { "throughput" } else { "bandwidth" };
        rate.clone_into(&mut cell.metrics[0].name);
        "processor_share".clone_into(&mut cell.metrics[1].name);
    });
    sample
}

fn asked_for(mut sample: Sample, run: BonnieRun) -> Sample {
    "bonnie".clone_into(&mut sample.run.manifest.run.suite);
    sample.run.manifest.run.classic = Some(SuiteOptions::Bonnie(run));
    sample
}

fn published() -> BonnieOptions {
    BonnieOptions {
        size_bytes: 320 << 20,
        chunk_bytes: 16 << 10,
        seeks: 4000,
        seekers: 4,
        fsync: false,
        phase_order: BonniePhaseOrder::Bonnie,
    }
}

fn exported(sample: &Sample, form: BonnieForm) -> BonnieExport {
    form.render(&sample.document(), &sample.run).expect("it is a run of Bonnie")
}

#[test]
fn sizes_below_a_mebibyte_are_told_apart() {
    let table = |size_bytes| {
        let run = BonnieOptions { size_bytes, ..published() }.into();
        let sample = asked_for(bonnie(&["a"], &[SECOND]), run);
        let text = exported(&sample, BonnieForm::Table).text;
        let size = text.lines().nth(3).and_then(|line| line.split_whitespace().nth(1));
        size.expect("it has a line").to_owned()
    };
    assert_eq!(table(16 << 10), "0.016");
    assert_eq!(table(512 << 10), "0.500");
    assert_eq!(table(3 << 19), "1");
}

/// A hand-made manifest can ask for any number of sizes, on any number of targets.
#[test]
fn there_are_no_more_lines_than_cells() {
    let sizes = (0..10_000).map(|size| (size + 1) << 14).collect();
    let run = BonnieRun { further_size_bytes: sizes, ..published().into() };
    let sample = asked_for(bonnie(&["a", "b"], &[SECOND; 2]), run);
    let lines = exported(&sample, BonnieForm::Csv).text.lines().count();
    assert_eq!(lines, sample.run.manifest.cells.len());
}

/// What the paper prints for ext2 (Rondinelli, "File Systems Performance Analysis", section 2.2),
/// in the table of `Bonnie.c`.
#[test]
fn the_table_is_bonnies_where_its_columns_suffice() {
    let measured =
        |(per_s, processor_percent)| figures::PhaseFigure::Measured { per_s, processor_percent };
    let phases = [
        (2876.0, 98.8),
        (8002.9, 88.8),
        (3321.0, 57.1),
        (2629.0, 97.6),
        (7601.0, 96.2),
        (72.9, 11.4),
    ];
    let options = figures::ProgramOptions::Bonnie(published());
    let row = figures::TargetFigures { label: "ext2", options, phases: phases.map(measured) };
    let figures = Figures { rows: vec![row] };
    let expected = [
        "              -------Sequential Output-------- ---Sequential Input-- --Random--",
        "              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---",
        "Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU",
        "ext2      320  2876 98.8  8002 88.8  3321 57.1  2629 97.6  7601 96.2  72.9 11.4",
    ];
    assert_eq!(table::render(&figures).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn columns_grow_with_figures_and_labels_and_stay_below_their_headings() {
    let sample = bonnie(&["a long label", "b"], &[1e9, SECOND]);
    let text = exported(&sample, BonnieForm::Table).text;
    let widths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|&width| width == widths[0]), "{text}");
    assert_eq!(text.lines().count(), 5);
}

#[test]
fn what_is_too_short_has_no_figure_but_a_sentence() {
    let sample = bonnie(&["fast", "slow"], &[SECOND / 10.0, SECOND]);
    let export = exported(&sample, BonnieForm::Csv);
    let lines: Vec<Vec<&str>> = export.text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0][9..21], ["+++++", "+++"].repeat(6));
    assert_eq!(lines[1][9..11], ["9765", "100"]);
    let [note] = &export.notes[..] else { panic!("{:?}", export.notes) };
    assert!(note.starts_with("fast: 6 phases under 0.5 s"), "{note}");
    // Five times 320 MiB, and a quarter more; five times 4000 seeks, and a quarter more.
    assert!(note.ends_with("--size 2g --seeks 25000 would do"), "{note}");
    let document = sample.document();
    assert!(document.cells.iter().all(|cell| cell.metrics[0].median > 0.0));
}

#[test]
fn each_size_of_the_file_has_a_line_of_its_own() {
    let mut sample = Sample::new(&["a", "b"]);
    let sizes = [16_u32 << 20, 320 << 20];
    for (bytes, times) in sizes.into_iter().zip([[SECOND, 2.0 * SECOND], [SECOND / 10.0; 2]]) {
        for phase in PHASES {
            let name = format!("{phase}-{bytes}");
            sample = with_phase(sample, &name, phase, &times);
            let point = CurvePoint {
                curve: phase.to_owned(),
                title: phase.to_owned(),
                axis: "file".to_owned(),
                unit: "bytes".to_owned(),
                value: bytes.into(),
                family: None,
            };
            sample.change(&name, |cell| cell.curve = Some(point.clone()));
        }
    }
    let run = BonnieRun { options: published(), further_size_bytes: vec![16 << 20] };
    let sample = asked_for(sample, run);
    let table = exported(&sample, BonnieForm::Table);
    let lines: Vec<Vec<&str>> =
        table.text.lines().skip(3).map(|line| line.split_whitespace().take(3).collect()).collect();
    let expected =
        [["a", "16", "9765"], ["a", "320", "+++++"], ["b", "16", "19531"], ["b", "320", "+++++"]];
    assert_eq!(lines, expected);
    let csv = exported(&sample, BonnieForm::Csv).text;
    let sizes: Vec<&str> = csv.lines().filter_map(|line| line.split(',').nth(5)).collect();
    assert_eq!(sizes, ["16M", "320M", "16M", "320M"]);
    assert_eq!(table.notes.len(), 2, "{:?}", table.notes);
    let note = &table.notes[0];
    assert!(note.starts_with("a, 320 MiB: 6 phases under 0.5 s"), "{note}");
    // A different size would be a different line.
    assert!(note.ends_with("stands there: --seeks 25000 would do"), "{note}");
}

#[test]
fn a_line_has_fifty_fields_and_its_label_ends_none() {
    let sample = bonnie(&["a,b\n\"c\""], &[SECOND]);
    let text = exported(&sample, BonnieForm::Csv).text;
    let fields: Vec<&str> = text.trim_end_matches('\n').split(',').collect();
    assert_eq!(fields.len(), 50, "{text}");
    assert_eq!(fields[..4], ["1.98", "fsprism-0.1.0", "a_b _c_", "1"]);
    assert_eq!(fields[5..9], ["320M", "16k", "4000", "4"]);
    assert!(fields[21..].iter().all(|field| field.is_empty()), "{text}");
}

#[test]
fn tests_of_files_stand_where_bonnie_plus_plus_has_them() {
    let mut sample = Sample::new(&["box"]).benchmark("stat-random", &[&[SECOND; 6]]);
    sample.change("stat-random", |cell| {
        "throughput".clone_into(&mut cell.metrics[0].name);
        "processor_share".clone_into(&mut cell.metrics[1].name);
    });
    "bonnie-metadata".clone_into(&mut sample.run.manifest.run.suite);
    let options = BonnieMetadataOptions { directories: 1024, files_per_directory: 16 };
    sample.run.manifest.run.classic = Some(SuiteOptions::BonnieMetadata(options));
    let text = exported(&sample, BonnieForm::Csv).text;
    let fields: Vec<&str> = text.trim_end_matches('\n').split(',').collect();
    assert_eq!(fields.len(), 50, "{text}");
    assert_eq!(fields[21..26], ["16", "", "", "1024", ""]);
    assert_eq!(fields[26..28], ["", ""], "what was not measured is left empty");
    assert_eq!(fields[34..36], ["10000000", "100"]);
    let refused = BonnieForm::Table.render(&sample.document(), &sample.run);
    let why = refused.expect_err("Bonnie makes one file").to_string();
    assert!(why.contains("--format bonnie is for runs of bonnie, not of"), "{why}");
}

#[test]
fn other_runs_are_refused_with_what_to_use() {
    let mut sample = Sample::new(&["box"]).benchmark("create", &[&[1.0]]);
    let refused = |sample: &Sample| {
        let refused = BonnieForm::Csv.render(&sample.document(), &sample.run);
        refused.expect_err("it is none of Bonnie").to_string()
    };
    let why = refused(&sample);
    assert!(why.contains("bonnie and bonnie-metadata") && why.contains("csv-summary"), "{why}");
    // The name alone does not make it a run of Bonnie.
    "bonnie".clone_into(&mut sample.run.manifest.run.suite);
    assert!(refused(&sample).contains("--format bonnie++"));
}
