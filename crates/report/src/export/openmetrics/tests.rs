//! What the exposition says, compared with the document.

use record::{Axis, Document};

use super::*;
use crate::sample::{Sample, around};
use crate::sample_search::{MIB, of_cache, plan, searched};

fn exported(sample: &Sample) -> (Document, Export) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run");
    let run = sample.write(&path);
    let document = crate::AnalysedRun::new(&run, &path).document;
    let export = render_openmetrics(&document, &Latencies::read(&run, &path));
    (document, export)
}

/// The value of the only sample with this name and these labels.
fn value(text: &str, name: &str, labels: &[&str]) -> f64 {
    let is_it = |line: &&str| {
        line.starts_with(&format!("{name}{{run="))
            && labels.iter().all(|label| line.contains(label))
    };
    let found: Vec<&str> = text.lines().filter(is_it).collect();
    let [line] = found[..] else { panic!("{name} {labels:?} in {text}") };
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_small_run_is_told_like_this() {
    let sample = Sample::new(&["tmpfs"]).benchmark("create", &[&[1000.0; 6]]);
    let (_, export) = exported(&sample);
    let labels = "run=\"2026-11-20T08:23:05Z\",tool=\"fsprism 0.1.0\",\
                  target=\"tmpfs\",suite=\"survey\",benchmark=\"create\",dimension=\"metadata\",\
                  cache_state=\"warm\"";
    let expected = format!(
        "# TYPE fsprism_operation_latency_seconds histogram\n\
         # UNIT fsprism_operation_latency_seconds seconds\n\
         # HELP fsprism_operation_latency_seconds Time of single operations, all replicates \
         together.\n\
         fsprism_operation_latency_seconds_bucket{{{labels},le=\"0.000000768\"}} 0\n\
         fsprism_operation_latency_seconds_bucket{{{labels},le=\"0.000001024\"}} 546\n\
         fsprism_operation_latency_seconds_bucket{{{labels},le=\"0.000001536\"}} 594\n\
         fsprism_operation_latency_seconds_bucket{{{labels},le=\"0.000002048\"}} 600\n\
         fsprism_operation_latency_seconds_bucket{{{labels},le=\"+Inf\"}} 600\n\
         fsprism_operation_latency_seconds_count{{{labels}}} 600\n\
         fsprism_operation_latency_seconds_sum{{{labels}}} 0.0006\n\
         # TYPE fsprism_replicates gauge\n\
         # HELP fsprism_replicates Replicates that count.\n\
         fsprism_replicates{{{labels}}} 6\n"
    );
    assert!(export.text.starts_with(&expected), "{}", export.text);
    assert!(export.text.ends_with("\n# EOF\n"));
    assert!(export.left_out.is_empty());
}

#[test]
fn figures_are_those_of_the_document_in_base_units() {
    let (document, export) = exported(&Sample::four_targets());
    for cell in &document.cells {
        let target = format!("target=\"{}\"", cell.target);
        for (metric, base, unit, factor) in [
            (&cell.metrics[0], "time_per_operation", "seconds", 1e9),
            (&cell.metrics[1], "throughput", "operations_per_second", 1.0),
        ] {
            let interval = metric.interval.unwrap();
            for (part, expected) in [
                ("", metric.median),
                ("_interval_low", interval.low),
                ("_interval_high", interval.high),
            ] {
                let name = format!("fsprism_{base}{part}_{unit}");
                let read = value(&export.text, &name, &[&target]) * factor;
                assert!((read / expected - 1.0).abs() < 1e-12, "{name}: {read} {expected}");
            }
        }
    }
}

#[test]
fn there_are_no_ends_without_an_interval_and_nothing_without_a_replicate() {
    let sample = Sample::new(&["a", "b"]).benchmark("create", &[&around(100.0, 5)]);
    let (_, export) = exported(&sample);
    assert!(!export.text.contains("_interval_"));
    assert!(!export.text.contains("target=\"b\""));
    assert_eq!(export.left_out.len(), 1);
}

#[test]
fn labels_are_escaped_and_stay_on_their_line() {
    let odd = "a\"b\\c\n</script>";
    let (_, export) = exported(&Sample::new(&[odd]).benchmark("create", &[&[1.0]]));
    let escaped = "target=\"a\\\"b\\\\c\\n</script>\",suite";
    let samples = export.text.lines().filter(|line| line.contains("target"));
    assert!(samples.clone().count() > 3 && samples.clone().all(|line| line.contains(escaped)));
}

#[test]
fn operations_timed_in_batches_have_no_histogram() {
    let sample = Sample::new(&["a"]).batch(8).benchmark("create", &[&[100.0]]);
    assert!(!exported(&sample).1.text.contains("histogram"));
}

#[test]
fn a_unit_at_the_end_of_a_name_is_not_repeated() {
    assert_eq!(family::base_name("window_bytes", "bytes"), "window");
    assert_eq!(family::base_name("resident", "bytes"), "resident");
    assert_eq!(family::base_name("odd name-2", ""), "odd_name_2");
    assert_eq!(in_base_unit("%"), ("ratio", 0.01));
}

#[test]
fn a_cliff_is_told_with_both_ends() {
    let plan = plan(Axis::WorkingSet, "throughput");
    let (document, export) = exported(&searched(&plan, 40, of_cache(64.0 * MIB)));
    let cliff = &document.cliffs[0];
    for (end, expected) in [("low", cliff.low), ("high", cliff.high)] {
        let name = format!("fsprism_cliff_position_{end}_bytes");
        assert_eq!(value(&export.text, &name, &["axis=\"working-set\",number=\"1\""]), expected);
    }
}
