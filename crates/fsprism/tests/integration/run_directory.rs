//! Run directories that are not as they should be.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::place::{Place, names_in};
use crate::process::{Outcome, Running};
use crate::refusals::PrivateMounts;

/// A place with a finished run in `run`.
fn place_with_run(test: &str) -> Option<Place> {
    let place = Place::as_root(test)?;
    let arguments =
        "run survey/in-memory ext4:size=128m --blocks 2 --budget 1s --size 1m --out run";
    place.run(arguments).assert_code(0);
    Some(place)
}

#[test]
fn a_directory_that_holds_something_is_no_place_for_a_run() {
    let name = "a_directory_that_holds_something_is_no_place_for_a_run";
    let Some(place) = Place::as_root(name) else { return };
    let out = place.make("out");
    fs::write(out.join("letter"), "x").expect("the place is ours");
    let outcome = place.run("survey tmpfs:size=128m --out out");
    outcome.assert_refused(&["not empty", "--out", "--resume"]);
    assert_eq!(names_in(&out), ["letter"]);
    fs::write(place.path("file"), "x").expect("the place is ours");
    place.run("survey tmpfs:size=128m --out file").assert_refused(&["--out"]);
    place.run("survey tmpfs:size=128m --out /proc/run").assert_refused(&["--out"]);
}

#[test]
fn what_is_no_run_is_refused() {
    let place = Place::new();
    place.make("empty");
    for run in ["missing", "empty", "/dev/null"] {
        let report = place.finish(place.fsprism(&format!("report {run}")));
        report.assert_refused(&[run, "not a run directory"]);
        place.run(&format!("survey --resume {run}")).assert_refused(&[run, "not a run directory"]);
    }
    assert!(names_in(&place.path("empty")).is_empty());
}

#[test]
fn a_newer_run_wants_a_newer_program() {
    let Some(place) = place_with_run("a_newer_run_wants_a_newer_program") else { return };
    let path = place.path("run/manifest.json");
    let manifest = fs::read_to_string(&path).expect("it is there");
    let newer = manifest.replacen("\"schema_version\": 1", "\"schema_version\": 1000", 1);
    assert_ne!(manifest, newer);
    fs::write(&path, newer).expect("it is ours");
    for arguments in ["report run", "report run --format json", "survey --resume run"] {
        let outcome = place.finish(place.fsprism(arguments));
        outcome.assert_refused(&["schema version 1000", "use a newer fsprism"]);
    }
}

#[test]
fn a_damaged_line_is_named_and_what_is_left_is_shown() {
    let name = "a_damaged_line_is_named_and_what_is_left_is_shown";
    let Some(place) = place_with_run(name) else { return };
    let path = place.path("run/cells.jsonl");
    let journal = fs::read_to_string(&path).expect("it is there");
    let lines: Vec<&str> = journal.lines().collect();
    for damage in ["", "{\"kind\":\"replicate\"}", "no JSON", "{\"kind\":\"unheard-of\"}"] {
        let mut damaged = lines.clone();
        damaged[2] = if damage.is_empty() { &lines[2][..40] } else { damage };
        fs::write(&path, damaged.join("\n") + "\n").expect("it is ours");
        let outcome = place.finish(place.fsprism("report run --format json"));
        let document = outcome.assert_code(0).document();
        let warnings = document["warnings"].as_array().expect("a list");
        let is_told = |warning: &Value| {
            let message = warning["message"].as_str().unwrap_or_default();
            message.starts_with("line 3 of cells.jsonl")
                && message.contains("left out of all figures")
        };
        assert!(warnings.iter().any(is_told), "{warnings:?}");
        let text = place.finish(place.fsprism("report run --terminal --full"));
        assert!(text.assert_code(0).stdout.contains("Line 3 of cells.jsonl"), "{text:?}");
        let outcome = place.finish(place.fsprism("survey --resume run"));
        outcome.assert_refused(&["cells.jsonl, line 3", "damaged"]);
    }
    // A changed digit, as disks and people change them.
    let changed = journal.replacen("\"at_s\":", "\"at_s\":1", 1);
    fs::write(&path, changed).expect("it is ours");
    let text = place.finish(place.fsprism("report run --terminal --full"));
    assert!(text.assert_code(0).stdout.contains("checksum"), "{text:?}");
    fs::write(&path, &journal).expect("it is ours");
    fs::write(place.path("run/manifest.json"), "{}").expect("it is ours");
    let outcome = place.finish(place.fsprism("report run"));
    outcome.assert_refused(&["manifest.json", "damaged"]);
}

/// As after a power cut: the last line is torn, and the lines before it count.
#[test]
fn a_torn_last_line_is_measured_again() {
    let Some(place) = place_with_run("a_torn_last_line_is_measured_again") else { return };
    let path = place.path("run/cells.jsonl");
    let journal = fs::read_to_string(&path).expect("it is there");
    // Cut off the end line, and half of the replicate before it.
    let lines: Vec<&str> = journal.lines().collect();
    let whole = lines[..lines.len() - 2].join("\n");
    let torn = format!("{whole}\n{}", &lines[lines.len() - 2][..50]);
    fs::write(&path, torn).expect("it is ours");
    let report = place.finish(place.fsprism("report run --format json"));
    assert!(report.assert_code(0).document()["end"].is_null());
    let outcome = place.run("run --resume run --format json");
    let document = outcome.assert_code(0).document();
    let cells = document["cells"].as_array().expect("a list");
    assert!(cells.iter().all(|cell| cell["replicates"] == 2), "{cells:?}");
    assert_eq!(document["end"]["reason"], "blocks");
}

#[test]
fn a_finished_run_is_not_gone_on_with() {
    let Some(place) = place_with_run("a_finished_run_is_not_gone_on_with") else { return };
    let journal = fs::read_to_string(place.path("run/cells.jsonl")).expect("it is there");
    let outcome = place.run("run --resume run --format json");
    let document = outcome.assert_code(0).document();
    assert_eq!(document["end"]["reason"], "blocks");
    assert!(outcome.stderr.contains("nothing is left to measure"), "{outcome:?}");
    let after = fs::read_to_string(place.path("run/cells.jsonl")).expect("it is there");
    assert_eq!(after, journal);
}

/// A run that was killed while making its directory once left one that neither `--out` nor
/// `--resume` accepted.
#[test]
fn a_directory_that_was_hardly_begun_can_be_begun_again() {
    let name = "a_directory_that_was_hardly_begun_can_be_begun_again";
    let Some(place) = Place::as_root(name) else { return };
    let run = place.make("run");
    fs::create_dir(run.join("histograms")).expect("the place is ours");
    fs::write(run.join("manifest.json.part"), "{").expect("the place is ours");
    let arguments = "run survey/caching ext4:size=128m --blocks 1 --budget 1s --size 1m --out run";
    place.run(arguments).assert_code(0);
    assert_eq!(names_in(&run), ["cells.jsonl", "histograms", "manifest.json", "report.html"]);
    // The same between the manifest and the journal.
    fs::remove_file(run.join("cells.jsonl")).expect("it is ours");
    fs::remove_dir_all(run.join("histograms")).expect("it is ours");
    fs::create_dir(run.join("histograms")).expect("it is ours");
    place.finish(place.fsprism("report run --format json")).assert_code(0);
    place.run("run --resume run").assert_code(0);
}

#[test]
fn a_run_is_written_by_one_process_and_read_by_any() {
    let name = "a_run_is_written_by_one_process_and_read_by_any";
    let Some(place) = Place::as_root(name) else { return };
    let arguments =
        "run survey/in-memory ext4:size=128m --blocks 400 --budget 4s --size 1m --out run";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    let report = place.fsprism("report run --format json").output().expect("it can be started");
    assert!(Outcome::from_output(report).assert_code(0).document()["end"].is_null());
    let second = place.run_beside("run --resume run");
    second.assert_refused(&["being written by another fsprism", "wait for it"]);
    running.signal_group(Signal::TERM);
    running.finish(&place).assert_code(130);
}

/// The default size of an image depends on the room there is, which may have changed when a run is
/// resumed: the targets of one run once had two sizes.
#[test]
fn a_resumed_run_has_targets_of_the_size_they_had() {
    let name = "a_resumed_run_has_targets_of_the_size_they_had";
    let Some(place) = Place::as_root(name) else { return };
    let scratch = place.text("scratch");
    let mounts = PrivateMounts::new(&format!("mount -t tmpfs -o size=300m none {scratch}"));
    let arguments = "run survey/caching ext4 --blocks 40 --budget 2s --size 1m --out run";
    let mut running = Running::start(&place, mounts.command(&place, arguments));
    running.until("block 1 done");
    running.signal_group(Signal::TERM);
    running.finish(&place).assert_code(130);
    mounts.do_there(&format!("head -c 200m /dev/zero > {scratch}/kept"));
    let outcome = mounts.run(&place, "run --resume run");
    outcome.assert_refused(&["does not fit", "--scratch"]);
    mounts.do_there(&format!("rm {scratch}/kept"));
    let outcome = mounts.run(&place, "run --resume run --format json");
    assert_eq!(outcome.assert_code(0).document()["targets"][0]["size_bytes"], 270 << 20);
}

/// In another working directory, a relative path means something else, and in another scratch
/// directory, images may be on another device: a run resumed there would have measured two things
/// under one label.
#[test]
fn a_resumed_run_measures_where_it_did() {
    let Some(place) = Place::as_root("a_resumed_run_measures_where_it_did") else { return };
    place.make("data");
    place.make("elsewhere");
    place.make("elsewhere/data");
    let arguments =
        "run survey/in-memory ./data ext4:size=128m --blocks 40 --budget 2s --size 1m --out run";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    running.signal_group(Signal::TERM);
    running.finish(&place).assert_code(130);
    let elsewhere = place.text("elsewhere");
    let other = place.fsprism(&format!("run --resume run --scratch {elsewhere}"));
    place.finish(other).assert_refused(&[&place.text("scratch"), "without --scratch"]);
    // Nor need it be repeated where the images were.
    let mut there = place.fsprism("run --resume ../run --format json");
    there.current_dir(elsewhere);
    let document = place.finish(there).assert_code(0).document();
    let data = place.path("data").canonicalize().expect("it is there");
    assert_eq!(document["targets"][0]["specification"], data.to_str().expect("plain text"));
    assert_eq!(document["targets"][0]["label"], "./data");
}

/// The owner of the directory that contains a run could once make root write to any file.
#[test]
fn what_is_swapped_for_a_run_directory_is_not_written() {
    let name = "what_is_swapped_for_a_run_directory_is_not_written";
    let Some(place) = Place::as_root(name) else { return };
    let victim = place.make("victim");
    for file in ["cells.jsonl", "report.html", "report.html.part", "manifest.json.part"] {
        fs::write(victim.join(file), "precious").expect("the place is ours");
    }
    let arguments =
        "run survey/in-memory ext4:size=128m --blocks 6 --budget 3s --size 1m --out run";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    fs::rename(place.path("run"), place.path("moved")).expect("the place is ours");
    std::os::unix::fs::symlink(&victim, place.path("run")).expect("the place is ours");
    running.finish(&place).assert_code(0);
    for name in names_in(&victim) {
        assert_eq!(fs::read(victim.join(&name)).expect("it is ours"), b"precious", "{name}");
    }
    assert_eq!(names_in(&victim).len(), 4);
    assert!(place.path("moved/report.html").is_file());
    // The same for links that are in the directory when the run is resumed.
    let journal = place.path("moved/cells.jsonl");
    fs::remove_file(&journal).expect("it is ours");
    std::os::unix::fs::symlink(victim.join("cells.jsonl"), &journal).expect("ours");
    let outcome = place.run("survey --resume moved");
    outcome.assert_refused(&["cells.jsonl"]);
    assert_eq!(fs::read(victim.join("cells.jsonl")).expect("it is ours"), b"precious");
}

/// The same, again and again during the run.
#[test]
fn what_is_swapped_all_the_time_is_not_written() {
    let name = "what_is_swapped_all_the_time_is_not_written";
    let Some(place) = Place::as_root(name) else { return };
    let victim = place.make("victim");
    for file in ["cells.jsonl", "report.html", "manifest.json"] {
        fs::write(victim.join(file), "precious").expect("the place is ours");
    }
    let arguments =
        "run survey/in-memory tmpfs:size=128m --blocks 6 --budget 3s --size 1m --out run";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    let (run, moved) = (place.path("run"), place.path("moved"));
    let is_over = AtomicBool::new(false);
    // Do not swap forever if the run fails.
    let end = Instant::now() + Duration::from_secs(120);
    let outcome = std::thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            let mut swaps = 0_u32;
            while !is_over.load(Ordering::Relaxed) && Instant::now() < end {
                fs::rename(&run, &moved).expect("the place is ours");
                std::os::unix::fs::symlink(&victim, &run).expect("its place is free");
                std::thread::yield_now();
                fs::remove_file(&run).expect("it is the link");
                fs::rename(&moved, &run).expect("its place is free");
                swaps += 1;
            }
            swaps
        });
        let outcome = running.finish(&place);
        is_over.store(true, Ordering::Relaxed);
        assert!(swapping.join().expect("it swaps") > 100);
        outcome
    });
    outcome.assert_code(0);
    for name in ["cells.jsonl", "report.html", "manifest.json"] {
        assert_eq!(fs::read(victim.join(name)).expect("it is ours"), b"precious", "{name}");
    }
    assert_eq!(names_in(&victim).len(), 3);
    assert!(place.path("run/report.html").is_file());
}

#[test]
fn a_run_directory_that_is_removed_ends_the_run() {
    let Some(place) = Place::as_root("a_run_directory_that_is_removed_ends_the_run") else {
        return;
    };
    let arguments = "run survey/in-memory tmpfs:size=128m --blocks 2000 --size 1m --out run";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    // Removal fails as long as the run has just added a file.
    while let Err(error) = fs::remove_dir_all(place.path("run")) {
        assert_eq!(error.kind(), std::io::ErrorKind::DirectoryNotEmpty, "{error}");
    }
    let outcome = running.finish(&place);
    outcome.assert_code(1).assert_says(&["was removed during the run", "begin a new run"]);
    assert_eq!(outcome.stdout, "");
}

/// Measurements made in two different ways do not belong together, whatever the versions say.
#[test]
fn a_run_whose_cells_were_others_is_not_gone_on_with() {
    let name = "a_run_whose_cells_were_others_is_not_gone_on_with";
    let Some(place) = Place::as_root(name) else { return };
    let arguments = "run survey/in-memory tmpfs:size=128m --blocks 2000 --size 1m --out run";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    running.signal_group(Signal::TERM);
    running.finish(&place).assert_code(130);
    let path = place.path("run/manifest.json");
    let begun = fs::read_to_string(&path).expect("the run's own");
    for (place_of, other) in [("parameters", "access"), ("metrics", "name")] {
        let mut manifest: Value = serde_json::from_str(&begun).expect("JSON");
        manifest.as_object_mut().expect("an object").remove("crc32");
        let cell = &mut manifest["cells"][0][place_of];
        let changed = if place_of == "metrics" { &mut cell[1][other] } else { &mut cell[other] };
        *changed = "another".into();
        fs::write(&path, manifest.to_string()).expect("it is ours");
        place.run("run --resume run").assert_refused(&["differently", "--out"]);
    }
    assert_eq!(names_in(&place.path("scratch")), [""; 0]);
}

/// Each is a separate process and a complete run; the targets are compared over all of them.
#[test]
fn several_runs_are_measured_and_compared_as_one_side() {
    let Some(place) = Place::as_root("several_runs_are_measured_and_compared_as_one_side") else {
        return;
    };
    let run = "run survey/in-memory tmpfs:size=64m b=tmpfs:size=64m --blocks 2 --size 1m --seed 5";
    let outcome = place.run(&format!("{run} --runs 4 --format json --out group"));
    let document = outcome.assert_code(0).document();
    let names: Vec<&Value> =
        document["runs"].as_array().expect("a list").iter().map(|run| &run["name"]).collect();
    assert_eq!(names, ["run-1", "run-2", "run-3", "run-4"]);
    let seeds: Vec<&Value> =
        document["runs"].as_array().expect("a list").iter().map(|run| &run["seed"]).collect();
    assert_eq!(seeds, [5, 6, 7, 8], "each has an order of its own");
    let comparisons = document["comparisons"].as_array().expect("a list");
    // A benchmark that was disturbed in one run is compared over the others.
    let of_all = |one: &&Value| one["first_runs"] == 4 && one["first_values"] == 4;
    assert!(comparisons.iter().filter(of_all).count() > 0, "{document}");
    for one in comparisons {
        assert_eq!((&one["first"], &one["second"]), (&"tmpfs:size=64m".into(), &"b".into()));
    }
    // This leaves four runs, each of which can be reported separately, and the group as a side.
    let read = |arguments: &str| place.finish(place.fsprism(arguments));
    read("report group/run-2 --terminal").assert_code(0);
    let figures = document["figures"].as_array().expect("a list");
    assert!(figures.iter().any(|one| one["runs"] == 4 && one["interval"]["low"].is_number()));
    let text = read("compare group --full").stdout;
    assert!(text.contains("figures are geometric means over 4 runs"), "{text}");
    assert!(read("runs .").stdout.contains("./group/run-4 "), "{}", read("runs .").stdout);
    let sides = read("compare --a group/run-1 group/run-2 --b group/run-3 group/run-4");
    let text = sides.assert_code(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("b: run-3") && text.contains("2 and 2 runs show"), "{text}");
    let refused = |arguments: &str, words: &[&str]| {
        read(arguments).assert_code(2).assert_says(words);
    };
    refused("compare group group", &["run-1 is named twice"]);
    refused("compare group group/run-1", &["one or two directories", "--a and --b"]);
    refused("compare --a group/run-1 group/run-2 --b group/run-3", &["at least two runs each"]);
    refused("report group", &["group holds 4 runs", "group/run-4"]);
    refused("compare group/run-1 --plan-for 5%", &["two or more runs of one command"]);
    refused("compare group --plan-for 0.05", &["give 5% or 0.05%"]);
    refused("compare group --plan-for 5% --full", &["cannot be used with"]);
    let planned = read("compare group --plan-for 5%");
    let said = &planned.assert_code(0).stdout;
    assert!(said.starts_with("Pilot: 4 runs of "), "{said}");
    let planned = read("compare group --plan-for 5% --format json");
    assert_eq!(planned.assert_code(0).document()["change_percent"], 5.0);
    refused(&format!("{run} --runs 2 --out group"), &["is not empty"]);
    refused(&format!("{run} --runs 2 --format csv --out x"), &["terminal or json"]);
    // If the first run is refused, nothing is left behind.
    refused("run bonnie . --size 900g --runs 2 --out x", &["a file of 900 GiB will not fit"]);
    assert!(!place.path("x").exists());
}

/// Anybody who may write to the directory that contains a group can replace it with a link between
/// two runs.
#[test]
fn further_runs_are_not_written_where_a_link_leads_that_came_in_place_of_their_group() {
    let name = "further_runs_are_not_written_where_a_link_leads_that_came_in_place_of_their_group";
    let Some(place) = Place::as_root(name) else { return };
    let theirs = place.make("theirs");
    let arguments = "run survey/in-memory tmpfs:size=64m --blocks 3 --size 1m --runs 2 --out g";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    fs::rename(place.path("g"), place.path("moved")).expect("it is ours");
    symlink(&theirs, place.path("g")).expect("it is ours");
    running.until("run 2 of 2");
    let _compared_or_not_found = running.finish(&place);
    assert_eq!(names_in(&theirs), [""; 0]);
    for run in ["moved/run-1", "moved/run-2"] {
        let journal = fs::read_to_string(place.path(run).join("cells.jsonl")).expect("a journal");
        let last = journal.lines().last().expect("a line");
        assert!(last.starts_with("{\"kind\":\"end\""), "{last}");
    }
}

/// Ctrl-C reaches every process of a terminal's group. Even so, the current run is ended in an
/// orderly way, and no other starts.
#[test]
fn several_runs_that_are_interrupted_keep_what_they_have() {
    let Some(place) = Place::as_root("several_runs_that_are_interrupted_keep_what_they_have")
    else {
        return;
    };
    let arguments = "run survey/in-memory tmpfs:size=128m --blocks 2000 --size 1m --runs 3 --out g";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    running.signal_group(Signal::INT);
    let outcome = running.finish(&place);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert!(outcome.stderr.trim_end().ends_with('g'), "{outcome:?}");
    assert_eq!(names_in(&place.path("g")), ["run-1"]);
    let journal = fs::read_to_string(place.path("g/run-1/cells.jsonl")).expect("a journal");
    let last = journal.lines().last().expect("a line");
    assert!(last.contains("interrupted"), "{last}");
}

#[test]
fn the_runs_in_a_directory_are_listed_with_how_far_they_got() {
    let name = "the_runs_in_a_directory_are_listed_with_how_far_they_got";
    let Some(place) = place_with_run(name) else { return };
    for directory in ["cut", "damaged", "spoilt"] {
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .args([place.path("run"), place.path(directory)])
            .status();
        assert!(copied.is_ok_and(|status| status.success()));
    }
    let journal = fs::read_to_string(place.path("cut/cells.jsonl")).expect("it is there");
    let before_end = journal.trim_end().rfind('\n').expect("it has several lines");
    fs::write(place.path("cut/cells.jsonl"), &journal[..=before_end]).expect("it is ours");
    fs::write(place.path("damaged/manifest.json"), "{}").expect("it is ours");
    fs::write(place.path("spoilt/cells.jsonl"), journal + "x\n").expect("it is ours");
    place.make("other");
    let runs = |arguments: &str| place.finish(place.fsprism(&format!("runs {arguments}")));
    let outcome = runs(". --format json");
    outcome.assert_code(0);
    let listed: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
    let state = |path: &str| {
        let runs = listed["runs"].as_array().expect("they are listed");
        runs.iter().find(|one| one["path"] == path).map(|one| one["state"].clone())
    };
    assert_eq!(state("./run"), Some("finished".into()));
    assert_eq!(state("./cut"), Some("unfinished".into()));
    assert!(state("./damaged").is_some_and(|state| state["unreadable"].is_string()));
    assert_eq!(state("./spoilt"), Some("damaged".into()));
    assert_eq!(state("./other"), None);
    let text = runs(".").stdout;
    let line = text.lines().find(|line| line.contains("./run")).expect("it is listed");
    assert!(line.contains("survey/in-memory") && line.ends_with(" finished         2"), "{text}");
    // A name that is not UTF-8 must not keep the others from being listed.
    let odd = place.path("").join(OsStr::from_bytes(b"odd-\xff"));
    fs::rename(place.path("cut"), odd).expect("they are ours");
    let listed = runs(". --format json").assert_code(0).document();
    let paths = listed["runs"].as_array().expect("they are listed").iter();
    assert!(paths.clone().any(|one| one["path"] == "./odd-\u{fffd}"), "{listed}");
    runs("missing").assert_refused(&["missing", "name a directory of runs"]);
}
