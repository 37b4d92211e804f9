//! The formats of other tools, read by those tools: Python packages. If one cannot be imported, the
//! test says what is missing and is skipped.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::place::{Place, say_skipped};
use crate::process::Outcome;

/// Parses the text strictly, and prints how many samples each family has.
const OPENMETRICS: &str = "
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = text_string_to_metric_families(open(sys.argv[1], newline='').read())
print(json.dumps({family.name: len(family.samples) for family in families}))
";

/// Runs fio-plot as its command line does.
const FIO_PLOT: &str = "import sys; from fio_plot import main; sys.exit(main())";

/// A Python that can import this module: that of `scripts/setup test`, or any other. If there is
/// none, says that the test is skipped and returns `None`.
fn python_with(test: &str, module: &str) -> Option<Command> {
    let running = std::env::current_exe().expect("it runs");
    // The test is in PROFILE/deps, below the target directory.
    let built = running.ancestors().nth(3).expect("cargo has put it there");
    let pythons = [built.join("readers/bin/python"), "python3".into()];
    let found = pythons.into_iter().find(|python| {
        let imported = Command::new(python).args(["-c", &format!("import {module}")]).output();
        imported.is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        say_skipped(test, &format!("it needs a python3 that has the module {module}"));
    }
    found.map(Command::new)
}

/// A run with two blocks of a few reads, and of a benchmark that fio does not have.
fn measure(place: &Place) {
    let arguments = "run survey/io a=. --blocks 2 --budget 1s --size 1m --format csv --out run";
    place.run(arguments).assert_code(0);
}

fn reported(place: &Place, form: &str) -> Outcome {
    let outcome = place.finish(place.fsprism(&format!("report run --format {form}")));
    outcome.assert_code(0);
    outcome
}

#[test]
#[expect(clippy::wildcard_enum_match_arm, reason = "a test looks for one of them")]
fn every_form_is_one_document_and_says_what_it_leaves_out() {
    let place = Place::new();
    measure(&place);
    let document = reported(&place, "json").document();
    let cells = document["cells"].as_array().expect("a list").len();
    for form in ["bmf", "github-smaller", "github-bigger", "fio"] {
        let outcome = reported(&place, form);
        let exported = outcome.document();
        let held = match &exported {
            Value::Array(results) => results.len(),
            Value::Object(file) => {
                file.get("jobs").and_then(Value::as_array).map_or_else(|| file.len(), Vec::len)
            }
            other => panic!("{other}"),
        };
        let is_left_out = |line: &&str| !line.contains("while the machine was busy");
        let said = outcome.stderr.lines().filter(is_left_out).map(|line| {
            assert!(line.contains(" left out: "), "{line}");
            line.split(' ').next().and_then(|count| count.parse::<usize>().ok()).expect("a count")
        });
        assert_eq!(held + said.sum::<usize>(), cells, "{form}: {}", outcome.stderr);
    }
    let text = reported(&place, "openmetrics").stdout;
    assert!(text.starts_with("# TYPE ") && text.ends_with("\n# EOF\n"), "{text}");
}

#[test]
fn a_command_whose_answer_has_no_such_form_refuses_it() {
    let place = Place::new();
    place.finish(place.fsprism("machine --format fio")).assert_refused(&["terminal, json"]);
    let list = place.finish(place.fsprism("run --list --format openmetrics"));
    list.assert_refused(&["--format json"]);
}

#[test]
fn prometheus_reads_the_openmetrics_strictly() {
    let name = "prometheus_reads_the_openmetrics_strictly";
    let Some(mut python) = python_with(name, "prometheus_client.openmetrics.parser") else {
        return;
    };
    let place = Place::new();
    measure(&place);
    let file = place.path("run.om");
    fs::write(&file, reported(&place, "openmetrics").stdout).expect("the place is ours");
    let outcome =
        Outcome::from_output(python.args(["-c", OPENMETRICS]).arg(&file).output().expect("it is"));
    let families = outcome.assert_code(0).document();
    let document = reported(&place, "json").document();
    let cells = document["cells"].as_array().expect("a list");
    let measured = cells.iter().filter(|cell| cell["replicates"].as_u64() > Some(0)).count();
    assert_eq!(families["fsprism_replicates"], measured);
    assert_eq!(families["fsprism_run_info"], 1);
    // At least two bounds, the last one (+Inf), the count and the sum.
    let samples = families["fsprism_operation_latency_seconds"].as_u64();
    assert!(samples >= Some(5 * measured as u64), "{families}");
}

/// fio-plot's charts of a single job: by depth, by number of jobs, and the latency histogram.
const CHARTS_OF_ONE: [&str; 3] = ["-l", "-N", "-H"];

#[test]
fn fio_plot_draws_each_chart_that_needs_no_log() {
    let Some(python) = python_with("fio_plot_draws_each_chart_that_needs_no_log", "fio_plot")
    else {
        return;
    };
    let place = Place::new();
    measure(&place);
    let mut file = reported(&place, "fio").document();
    let jobs = file["jobs"].as_array().expect("a list").clone();
    let is_read = |job: &&Value| job["jobname"] == "a/survey/io/random-read-4k-cold";
    let job = jobs.iter().find(is_read).expect("there is such a cell").clone();
    let plotter = Plotter { place: &place, python };
    file["jobs"] = vec![job].into();
    let files = place.make("plot");
    fs::write(files.join("1.json"), file.to_string()).expect("the place is ours");
    for chart in CHARTS_OF_ONE {
        plotter.draws(&[chart], &files, &["1"]);
    }
    // The three-dimensional chart needs more than one depth.
    file["jobs"][0]["job options"]["iodepth"] = "2".into();
    fs::write(files.join("2.json"), file.to_string()).expect("the place is ours");
    plotter.draws(&["-L", "-t", "iops"], &files, &["1", "2"]);
}

struct Plotter<'a> {
    place: &'a Place,
    python: Command,
}

impl Plotter<'_> {
    /// Draws a chart of this kind from random reads at these depths.
    fn draws(&self, chart: &[&str], files: &Path, depths: &[&str]) {
        let picture = self.place.path(&format!("chart{}.png", chart[0]));
        let mut python = Command::new(self.python.get_program());
        python.args(["-c", FIO_PLOT, "-i"]).arg(files).args(["-T", "reads"]).args(chart);
        python.args(["-r", "randread", "-n", "1", "-d"]).args(depths).arg("-o").arg(&picture);
        Outcome::from_output(python.output().expect("it is there")).assert_code(0);
        let drawn = fs::read(&picture).unwrap_or_else(|error| panic!("{chart:?}: {error}"));
        assert!(drawn.starts_with(b"\x89PNG"), "{chart:?}");
    }
}
