//! Tests with hand-made runs of the suite.

use record::network::SUITE;
use record::{Better, MetricDefinition};
use serde_json::json;

use super::*;
use crate::layout::Options;
use crate::sample::Sample;

/// Three replicates of reading a large file in each of these states, given by its calls, its reads
/// and the seconds that it takes.
fn sample(states: &[(&str, [f64; 3], f64, f64)]) -> Sample {
    let targets: Vec<&str> = states.iter().map(|(target, ..)| *target).collect();
    let calls: Vec<&[f64]> = states.iter().map(|(_, calls, ..)| calls.as_slice()).collect();
    let mut sample = Sample::new(&targets).benchmark("file", &calls).ended();
    sample.run.manifest.run.suite = SUITE.to_owned();
    sample.run.manifest.run.kind = RunKind::Networked;
    let names = [RPCS, "rpc_read", SERVER_BYTES, EMULATED_TIME, "link_busy"];
    for cell in &mut sample.run.manifest.cells {
        cell.title = "Read one large file".to_owned();
        cell.metrics = names.map(|name| MetricDefinition::new(name, "count", Better::Lower)).into();
        let state = cell.target.split(' ').next_back().unwrap_or_default();
        cell.parameters = [("state", json!(state)), ("bytes", json!(20_971_520))]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
    }
    for line in &mut sample.run.lines {
        let Line::Replicate(one) = line else { continue };
        let (_, _, reads, seconds) = states[one.cell as usize];
        let is_of_link = if reads > 0.0 { 95.0 } else { 0.0 };
        one.metrics.truncate(1);
        one.metrics.extend([reads, reads * 131_072.0, seconds * 1e9, is_of_link]);
    }
    sample
}

fn document(states: &[(&str, [f64; 3], f64, f64)]) -> NetworkDocument {
    network(&sample(states).run).expect("it is of the suite")
}

#[test]
fn the_answer_says_what_a_cache_saves_and_what_filling_it_costs() {
    let found = document(&[
        ("none", [163.0; 3], 160.0, 8.79),
        ("cold", [163.0; 3], 160.0, 8.87),
        ("hot", [3.0; 3], 0.0, 1.28),
    ]);
    let expected = "Read one large file: with a hot cache, 3 of 163 calls to the server remain, \
        and none of the 160 that read content; reading while filling it takes 1.01x as long as \
        without a cache.";
    assert_eq!(found.answers, [expected]);
    let own = document(&[("mnt cold", [163.0; 3], 160.0, 8.87), ("mnt hot", [3.0; 3], 0.0, 1.28)]);
    assert!(own.answers[0].contains("(mnt): with a hot cache, 3 of 163 calls"), "{own:?}");
    let alone = document(&[("hot", [3.0; 3], 0.0, 1.28)]);
    assert!(alone.answers[0].contains("3 calls to the server, of which 0 read"), "{alone:?}");
    assert!(document(&[("none", [163.0; 3], 160.0, 8.79)]).answers.is_empty());
}

#[test]
fn reads_of_newer_kernels_are_reads() {
    let mut sample = sample(&[("none", [163.0; 3], 160.0, 8.79)]);
    sample.run.manifest.cells[0].metrics[1].name = "rpc_read_plus".to_owned();
    let found = network(&sample.run).expect("it is of the suite");
    let figures = found.benchmarks[0].states[0].figures.as_ref().expect("it is measured");
    assert_eq!(figures.reads.median, 160.0);
}

#[test]
fn each_cache_is_set_beside_what_has_none_of_its_version() {
    let found = document(&[
        ("nfs4.2 none", [6452.0; 3], 2012.0, 60.0),
        ("nfs4.2 ext4 hot", [4395.0; 3], 0.0, 30.0),
        ("nfs4.2 xfs hot", [4400.0; 3], 0.0, 30.0),
        ("nfs3 none", [7000.0; 3], 2012.0, 60.0),
        ("nfs3 ext4 hot", [5000.0; 3], 0.0, 30.0),
    ]);
    let expected = "Read one large file: with a hot cache, 68 % (nfs4.2 ext4) to 71 % (nfs3 ext4) \
        of the calls to the server remain, and none of those that read content.";
    assert_eq!(found.answers, [expected]);
    let alike = document(&[
        ("ext4 hot", [3.0; 3], 16.0, 1.0),
        ("xfs hot", [3.0; 3], 16.0, 1.0),
        ("none", [19.0; 3], 16.0, 1.0),
    ]);
    assert!(
        alike.answers[0].contains("16 % of the calls to the server remain, and 100 % of those")
    );
}

/// If emulation took most of the time, it says nothing about a cache.
#[test]
fn what_filling_costs_is_said_of_times_of_the_link_alone() {
    let of = |cold_reads: f64| {
        let states = [
            ("none", [9.0; 3], 8.0, 2.0),
            ("cold", [9.0; 3], cold_reads, 3.0),
            ("hot", [3.0; 3], 0.0, 1.0),
        ];
        document(&states).answers[0].contains("1.50x as long as without a cache")
    };
    assert!(of(8.0) && !of(0.0), "what reads nothing leaves the link idle");
}

#[test]
fn a_table_shows_each_state_and_how_far_runs_differ() {
    let found =
        document(&[("none", [163.0, 163.0, 165.0], 160.0, 8.79), ("hot", [3.0; 3], 0.0, 1.28)]);
    let text = render_network(&found, &Options { width: 80, colour: false });
    let line = |start: &str| text.lines().find(|line| line.trim_start().starts_with(start));
    let none = line("none  ").expect("it is there");
    assert!(none.contains("163 [163, 165]") && none.contains("20,971,520"), "{text}");
    assert!(none.ends_with("8.79 s  link"), "{none}");
    assert!(line("hot").is_some_and(|line| line.ends_with("1.28 s")), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 88), "{text}");
}

#[test]
fn what_is_no_such_run_has_no_such_document() {
    let sample = Sample::new(&["a"]).benchmark("create", &[&[1.0; 3]]).ended();
    assert_eq!(network(&sample.run), None);
}

#[test]
fn three_blocks_of_counts_are_no_doubt() {
    let sample = sample(&[("none", [163.0; 3], 160.0, 8.79), ("hot", [3.0; 3], 0.0, 1.28)]);
    let document = sample.document();
    assert_eq!(document.warnings, []);
    assert!(document.cells.iter().all(|cell| cell.warnings.is_empty()), "{:?}", document.cells);
}

/// A search adds its cells as it goes; its result is a cell of its own.
#[test]
fn what_a_search_found_is_a_sentence_per_size() {
    let found = |low: f64, high: f64| {
        let mut run = Sample::new(&["none", "hot"]).benchmark("x", &[&[1.0], &[1.0]]).ended().run;
        run.manifest.run.suite = SUITE.to_owned();
        run.manifest.run.kind = RunKind::Networked;
        let mut definition = run.manifest.cells[1].clone();
        run.manifest.cells.clear();
        definition.benchmark = format!("{}-131072", record::network::BREAK_EVEN);
        let names = [record::network::BREAK_EVEN_LOW, record::network::BREAK_EVEN_HIGH];
        definition.metrics =
            names.map(|name| MetricDefinition::new(name, "bit/s", Better::Neither)).into();
        definition.parameters =
            [("file_bytes", 131_072.0), ("least_rate", 1e6), ("most_rate", 1e9)]
                .map(|(name, value)| (name.to_owned(), json!(value)))
                .into();
        let replicate = run.lines.iter().find_map(|line| {
            let Line::Replicate(one) = line else { return None };
            Some(Replicate { cell: 0, metrics: vec![low, high], ..(**one).clone() })
        });
        let added = record::CellAdded { cell: 0, definition };
        run.lines = vec![
            Line::CellAdded(Box::new(added)),
            Line::Replicate(Box::new(replicate.expect("one was measured"))),
        ];
        network(&run).expect("it found something").answers
    };
    let sentence = |said: &str| [format!("In emulation, a hot cache {said}.")];
    assert_eq!(
        found(44e6, 62e6),
        sentence("pays for files of 128 KiB up to a link rate of 52 Mbit/s [44, 62]")
    );
    assert_eq!(
        found(14.3e6, 1e9),
        sentence("pays for files of 128 KiB up to a link rate of at least 14 Mbit/s")
    );
    assert_eq!(
        found(1e9, 1e9),
        sentence("pays for files of 128 KiB at every link rate up to 1000 Mbit/s")
    );
    assert_eq!(
        found(1e6, 1e6),
        sentence("does not pay for files of 128 KiB at any link rate from 1 Mbit/s on")
    );
}
