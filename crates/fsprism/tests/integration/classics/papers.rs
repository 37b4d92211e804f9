//! Papers that are measured with classic benchmarks: what is printed beside their own figures.

use std::collections::BTreeSet;

use crate::guests::lab;
use crate::place::Place;

#[test]
fn a_table_of_the_paper_is_measured_beside_what_it_prints() {
    let name = "a_table_of_the_paper_is_measured_beside_what_it_prints";
    let Some(place) = Place::as_root(name) else { return };
    let arguments = "reproduce memory-rich-microbenchmarks/table-2 --blocks 4 --out run";
    let text = place.run(arguments).assert_code(0).stdout.clone();
    for words in ["Table 2", "390 (+0.80)", "ramfs, here", "Table 7", "0.77"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let again = place.fsprism("reproduce memory-rich-microbenchmarks --run run --format json");
    let answer = place.finish(again).assert_code(0).document();
    assert_eq!(answer["items"][0]["rows"].as_array().map(Vec::len), Some(4));
    assert_eq!(answer["statements"].as_array().map(Vec::len), Some(3));
    let item = place.fsprism("reproduce memory-rich-microbenchmarks/table-2 --run run");
    assert!(place.finish(item).assert_code(0).stdout.contains("390 (+0.80)"));
    let other = place.fsprism("reproduce memory-rich-microbenchmarks/table-3 --run run");
    let refused = place.finish(other);
    refused.assert_refused(&["has nothing of memory-rich-microbenchmarks/table-3"]);
}

#[test]
fn the_model_of_a_cache_is_computed_without_measuring() {
    let place = Place::new();
    for item in ["/table-7", " figure-2"] {
        let outcome = place.run(&format!("reproduce memory-rich-microbenchmarks{item}"));
        let text = &outcome.assert_code(0).stdout;
        assert!(text.contains("flushes, paper") && text.lines().count() == 6, "{text}");
    }
    assert!(!place.path("fsprism-runs").exists());
    for (arguments, words) in [
        ("memory-rich-microbenchmarks table-7 --blocks 2", ["is computed", "leave out --blocks"]),
        ("densefs/figure-1 figure-2", ["names an item already", "leave out figure-2"]),
        (
            "memory-rich-microbenchmarks table-77",
            ["no table-77 in memory-rich", "table-7, table-8"],
        ),
        ("fscache-benchmarks table-1", ["reproduced as a whole", "leave out table-1"]),
    ] {
        place.run(&format!("reproduce {arguments}")).assert_refused(&words);
    }
}

#[test]
fn all_papers_are_taken_from_earlier_runs_or_said_to_be_missing() {
    let name = "all_papers_are_taken_from_earlier_runs_or_said_to_be_missing";
    let Some(place) = Place::as_root(name) else { return };
    let arguments = "reproduce memory-rich-microbenchmarks/table-2 --blocks 4";
    let out = "--out all/memory-rich-microbenchmarks";
    place.run(&format!("{arguments} {out}")).assert_code(0);
    let all = place.finish(place.fsprism("reproduce --all --run all"));
    let stdout = &all.assert_code(1).stdout;
    for part in [
        "\nmemory-rich-microbenchmarks: ",
        "\nrocket-science: not reproduced: ",
        "the first read after a write is slower",
        "\nAll papers: ",
    ] {
        assert!(stdout.contains(part), "{part}\n{stdout}");
    }
    let refused = place.finish(place.fsprism("reproduce --all --run nowhere"));
    refused.assert_refused(&["nowhere is no directory", "fsprism reproduce --all"]);
    let refused = place.finish(place.fsprism("reproduce --all --size 1m"));
    refused.assert_refused(&["--size is for bonnie-anova"]);
}

#[test]
fn a_survey_is_counted_without_measuring() {
    let place = Place::new();
    let counted = place.fsprism("reproduce rocket-science/table-1 --format json");
    let survey = place.finish(counted).assert_code(0).document();
    assert_eq!(survey["sum"]["papers_1999_to_2007"], 364);
    assert_eq!(survey["findings"].as_array().map(Vec::len), Some(5));
    let refused = place.finish(place.fsprism("reproduce rocket-science/table-1 --blocks 2"));
    refused.assert_refused(&["computed from the paper's numbers", "leave out --blocks"]);
}

#[test]
fn figure_8_has_the_tests_of_bonnie_plus_plus_in_files_a_second() {
    let name = "figure_8_has_the_tests_of_bonnie_plus_plus_in_files_a_second";
    let Some(place) = Place::as_root(name) else { return };
    let arguments = "reproduce memory-rich-microbenchmarks/figure-8 --blocks 2 --out run";
    let outcome = place.run(&format!("{arguments} --format json"));
    let answer = outcome.assert_code(0).document();
    let item = &answer["items"][0];
    assert_eq!((&item["item"], &item["unit"]), (&"figure-8".into(), &"files/s".into()));
    let rows = item["rows"].as_array().expect("a list");
    assert_eq!(rows.len(), 6);
    for row in rows {
        let measured = row["measured"].as_array().expect("a list");
        assert!(measured.len() >= 2, "{row}");
        assert!(measured.iter().all(|one| one["mean"].as_f64() > Some(0.0)), "{row}");
    }
    assert_eq!(answer["statements"].as_array().map(Vec::len), Some(3));
}

/// A file this small is entirely in memory, which the paper's sizes were chosen to avoid.
#[test]
fn bonnie_is_measured_and_analysed_as_in_its_paper() {
    let Some(place) = Place::as_root("bonnie_is_measured_and_analysed_as_in_its_paper") else {
        return;
    };
    let mut command = place.measure("reproduce bonnie-anova --size 2m --blocks 3 --out run");
    let lab = lab();
    if let Ok(lab) = &lab {
        command.env("FSPRISM_LAB", lab);
    }
    let outcome = place.finish(command);
    let text = outcome.assert_code(0).stdout.clone();
    let words = ["529.15", "Measured here: Bonnie on a file of 2 MiB", "ext2, paper"];
    for words in words.into_iter().chain(["file system x action", "section 3.2"]) {
        assert!(text.contains(words), "{words}: {text}");
    }
    let again = place.fsprism("reproduce bonnie-anova --run run --format json");
    let answer = place.finish(again).assert_code(0).document();
    let measured = &answer["measured"];
    let names = |of: &serde_json::Value| -> BTreeSet<String> {
        let all = of.as_array().expect("a list").iter();
        all.filter_map(|one| one.as_str().map(str::to_owned)).collect()
    };
    let count = |list: &str| measured[list].as_array().map_or(0, Vec::len);
    let file_systems = names(&measured["file_systems"]).len();
    assert_eq!(measured["blocks"], 3);
    // File systems that this kernel lacks are listed.
    assert_eq!(file_systems + count("missing"), 6, "{measured}");
    assert_eq!((count("rates"), count("shares"), count("variance")), (5, 3, 4), "{measured}");
    assert_eq!(count("effects"), file_systems + 5);
    assert_eq!(count("differences"), file_systems * (file_systems - 1) / 2);
    assert_eq!(count("statements"), 15);
    // If this kernel lacks file systems of the paper, they are counted in a guest.
    let counted = &answer["counted"];
    let is_wanted = lab.is_ok()
        && !["FAT16", "FAT32"].iter().all(|name| names(&measured["file_systems"]).contains(*name));
    assert_eq!(counted.is_object(), is_wanted, "{counted}");
    if is_wanted {
        assert_eq!((&counted["clock"], &counted["blocks"]), (&"instructions".into(), &3.into()));
        assert_eq!(names(&counted["file_systems"]).len(), 6, "{counted}");
    }
    let table = place.finish(place.fsprism("report run --format bonnie"));
    assert!(table.assert_code(0).stdout.contains("ext2"), "{}", table.stdout);
}

#[test]
fn a_run_of_bonnie_on_other_targets_is_analysed_as_well() {
    let place = Place::new();
    place.run("run bonnie here=. there=. --size 1m --seeks 20 --blocks 2 --out run").assert_code(0);
    let again = place.fsprism("reproduce bonnie-anova --run run --format json");
    let answer = place.finish(again).assert_code(0).document();
    assert_eq!(answer["measured"]["file_systems"], serde_json::json!(["here", "there"]));
    assert_eq!(answer["measured"]["blocks"], 2);
    place.run("run array-walk --size 64k --blocks 1 --out walk").assert_code(0);
    let refused = place.finish(place.fsprism("reproduce bonnie-anova --run walk"));
    refused.assert_refused(&["a run of array-walk", "fsprism reproduce bonnie-anova"]);
    let refused = place.finish(place.fsprism("reproduce densefs --size 1m"));
    refused.assert_refused(&["--size is for bonnie-anova", "leave it out"]);
}
