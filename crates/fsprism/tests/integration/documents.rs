//! What a run prints to standard output in each format, and what it leaves on disk.

use serde_json::Value;

use crate::place::{Place, names_in};
use crate::process::Outcome;

const SCHEMA: &str = include_str!("../../../../docs/document.schema.json");

/// Checks a document against the published schema.
#[track_caller]
pub(crate) fn assert_valid(document: &Value) {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// The rows of a table, each as its fields.
fn rows_of(csv: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    for character in csv.chars() {
        let row = rows.last_mut().expect("one at least");
        match character {
            // A doubled quote inside quotes would be dropped here, but none of our fields contains
            // one.
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\n' if !quoted => rows.push(vec![String::new()]),
            other => row.last_mut().expect("one at least").push(other),
        }
    }
    assert!(!quoted, "a quote is not closed: {csv}");
    rows.pop();
    rows
}

fn small_survey(place: &Place, form: &str) -> Outcome {
    let out = format!("run-{form}");
    let outcome = place.run(&format!(
        "survey ext4:size=256m t=tmpfs:size=256m,mount=mode=0700 --blocks 1 --budget 1s --size 24m \
         --format {form} --out {out}"
    ));
    outcome.assert_code(0);
    outcome
}

#[test]
fn a_survey_says_one_document_and_its_report_the_same() {
    let name = "a_survey_says_one_document_and_its_report_the_same";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = small_survey(&place, "json");
    let document = outcome.document();
    assert_valid(&document);
    assert_eq!(document["cells"].as_array().map(Vec::len), Some(49 + 34));
    assert_eq!(document["end"]["reason"], "blocks");
    assert!(outcome.stderr.trim_end().ends_with("run-json"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("block 1 done"), "{}", outcome.stderr);
    let report = place.finish(place.fsprism("report run-json --format json"));
    assert_eq!(report.assert_code(0).stderr, "");
    assert_eq!(report.stdout, outcome.stdout);
    let run = place.path("run-json");
    assert_eq!(names_in(&run), ["cells.jsonl", "histograms", "manifest.json", "report.html"]);
    // One histogram per cell, except for cells that were disturbed three times.
    let cells = document["cells"].as_array().expect("a list");
    let number = |cell: &Value, field: &str| cell[field].as_u64().expect("a number");
    let lost = cells.iter().filter(|cell| number(cell, "discarded") == 3).count();
    assert!(
        cells.iter().all(|cell| number(cell, "replicates") + number(cell, "discarded") / 3 == 1)
    );
    assert_eq!(names_in(&run.join("histograms")).len(), cells.len() - lost);
}

#[test]
fn a_table_has_one_row_per_replicate_and_metric() {
    let Some(place) = Place::as_root("a_table_has_one_row_per_replicate_and_metric") else {
        return;
    };
    let outcome = place.run(
        "run survey/io a=ext4:size=128m b=ext4:size=128m --blocks 2 --budget 1s --size 1m \
         --format csv --out run",
    );
    let rows = rows_of(&outcome.assert_code(0).stdout);
    assert!(rows[0].contains(&"benchmark".to_owned()), "{:?}", rows[0]);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{rows:?}");
    let report = place.finish(place.fsprism("report run --format json")).document();
    let values = report["cells"].as_array().expect("a list").iter();
    let metrics = values.flat_map(|cell| cell["metrics"].as_array().expect("a list"));
    let values: usize = metrics.map(|one| one["values"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(rows.len() - 1, values);
    let value = rows[0].iter().position(|name| name == "value").expect("a column");
    assert!(rows[1..].iter().all(|row| row[value].parse::<f64>().is_ok()), "{rows:?}");
    let again = place.finish(place.fsprism("report run --format csv"));
    assert_eq!(again.assert_code(0).stdout, outcome.stdout);
}

#[test]
fn the_report_for_people_fits_its_columns_and_ends_with_the_run() {
    let name = "the_report_for_people_fits_its_columns_and_ends_with_the_run";
    let Some(place) = Place::as_root(name) else { return };
    let outcome = small_survey(&place, "terminal");
    let wide: Vec<&str> = outcome
        .stdout
        .lines()
        // Commands must not be wrapped, so that they can be copied, and the path here is long.
        .filter(|line| line.chars().count() > 120 && !line.contains("/fsprism "))
        .collect();
    assert!(wide.is_empty(), "{wide:#?}");
    assert!(!outcome.stdout.contains('\u{1b}'), "no colour where nobody sees it");
    assert_eq!(outcome.stdout.lines().next_back(), Some("run-terminal"));
    assert!(outcome.stdout.lines().count() <= 25, "one screen: {outcome:?}");
    let program = env!("CARGO_BIN_EXE_fsprism");
    let see_all = format!("All: {program} report --terminal --full run-terminal");
    assert!(outcome.stdout.lines().any(|line| line == see_all), "{outcome:?}");
    let full = place.finish(place.fsprism("report --terminal --full run-terminal"));
    for section in ["I/O", "In memory", "Caching", "Metadata", "Scaling", "Warnings"] {
        assert!(full.stdout.lines().any(|line| line == section), "{section}: {full:?}");
    }
}

#[test]
fn without_out_the_run_lies_in_a_directory_of_its_own() {
    let name = "without_out_the_run_lies_in_a_directory_of_its_own";
    let Some(place) = Place::as_root(name) else { return };
    let arguments = "run survey/caching ext4:size=128m --blocks 1 --budget 1s --size 1m";
    for _ in 0..2 {
        place.run(arguments).assert_code(0);
    }
    let runs = names_in(&place.path("fsprism-runs"));
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert!(runs.iter().all(|run| run.contains("Z-run")), "{runs:?}");
}
