//! Commands that measure nothing, and wrong command lines.

use std::fs;

use crate::place::Place;

#[test]
fn the_version_and_the_help_are_told() {
    let place = Place::new();
    let version = place.finish(place.fsprism("--version"));
    let told = version.assert_code(0).stdout.trim_end();
    // Behind it, release builds name their commit.
    let commit = told.strip_prefix(concat!("fsprism ", env!("CARGO_PKG_VERSION")));
    let commit = commit.expect("the version is told").strip_prefix(" (");
    assert_eq!(commit.is_some(), !cfg!(debug_assertions), "{told}");
    let help = place.finish(place.fsprism("--help"));
    help.assert_code(0);
    for command in ["survey", "run", "report", "machine", "completions", "man", "Examples:"] {
        assert!(help.stdout.contains(command), "{help:?}");
    }
    let help = place.finish(place.fsprism("survey --help"));
    for option in ["--budget", "--scratch", "--destroy-data", "--resume", "Examples:"] {
        assert!(help.assert_code(0).stdout.contains(option), "{help:?}");
    }
}

#[test]
fn suites_are_listed_for_people_and_programs() {
    let place = Place::new();
    let list = place.finish(place.fsprism("run --list"));
    for suite in ["survey/io", "survey/in-memory", "survey/caching", "survey/metadata"] {
        assert!(list.assert_code(0).stdout.contains(suite), "{list:?}");
    }
    let of_suite = place.finish(place.fsprism("run --list nano/metadata"));
    assert!(of_suite.assert_code(0).stdout.contains("\ncreate-sync "), "{}", of_suite.stdout);
    assert!(!of_suite.stdout.contains("random-read"), "{}", of_suite.stdout);
    let of_guests = place.finish(place.fsprism("run --list fscache --format json"));
    assert_eq!(of_guests.assert_code(0).document()["suites"][0]["name"], "fscache");
    for (given, meant) in [("fscach", "`fscache`"), ("footprnt", "`footprint`")] {
        let said = format!("did you mean {meant}");
        place.finish(place.fsprism(&format!("run {given} ext4"))).assert_refused(&[&said]);
    }
    place.finish(place.fsprism("run --list nanno")).assert_refused(&["did you mean `nano`"]);
    let document = place.finish(place.fsprism("run --list --format json")).document();
    let suites = document["suites"].as_array().expect("a list");
    let metadata = suites.iter().find(|suite| suite["name"] == "survey/metadata").expect("listed");
    let benchmarks = metadata["benchmarks"].as_array().expect("a list");
    assert_eq!(benchmarks.len(), 22);
    assert!(benchmarks.iter().all(|benchmark| benchmark["dimension"] == "metadata"));
}

#[test]
fn the_machine_is_described() {
    let place = Place::new();
    let text = place.finish(place.fsprism("machine"));
    assert!(text.assert_code(0).stdout.contains("Linux"), "{text:?}");
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 120), "{}", text.stdout);
    let machine = place.finish(place.fsprism("machine --format json"));
    assert!(machine.assert_code(0).document()["kernel"].is_object(), "{machine:?}");
    let table = place.finish(place.fsprism("machine --format csv"));
    table.assert_refused(&["terminal, json"]);
    // A directory that does not exist was once silently described.
    let nowhere = place.finish(place.fsprism("machine . ./nope"));
    nowhere.assert_refused(&["./nope", "No such file", "name a directory that is there"]);
}

/// What `run` takes and `survey` does not must have its own examples.
#[test]
fn each_command_has_examples_of_its_own() {
    let place = Place::new();
    let help = |command: &str| {
        let help = place.finish(place.fsprism(&format!("{command} --help")));
        let (_, examples) = help.assert_code(0).stdout.split_once("Examples:").expect("some");
        examples.to_owned()
    };
    let (survey, run) = (help("survey"), help("run"));
    for words in ["run --list", "--benchmark 'append*", "nano/metadata"] {
        assert!(run.contains(words), "{words}: {run}");
    }
    let list = place.finish(place.fsprism("run --list --format json")).document();
    for suite in list["suites"].as_array().expect("a list") {
        let name = suite["name"].as_str().expect("a name");
        let examples = help(&format!("run {name}"));
        assert!(examples.contains(&format!("run {name}")) || examples.contains("reproduce"));
        assert!(examples.lines().all(|line| line.chars().count() <= 100), "{examples}");
    }
    assert!(help("run nano/io").contains("run nano/io ext4 --rate"));
    assert!(survey.contains("fsprism survey ext4 xfs"), "{survey}");
    assert!(!survey.contains("fsprism run") && !run.contains("fsprism survey"), "{survey}{run}");
}

/// A suite's help describes its own options only, and those of other suites are refused by name.
#[test]
fn a_suite_takes_what_its_help_says() {
    let place = Place::new();
    for (suite, takes, lacks) in [
        (
            "fscache",
            &["--link", "--break-even", "--runs"][..],
            &["--rw", "--variant", "--rate"][..],
        ),
        ("nano/io", &["--rate", "--size", "--replicate"], &["--link", "--rw", "--op ", "--seeks"]),
        ("nano/metadata", &["--replicate", "--budget"], &["--rate", "--link", "--chunk"]),
        ("custom", &["--rw", "--bs", "--replicate"], &["--rate", "--link", "--variant"]),
        ("bonnie", &["--seeks", "around-memory"], &["--dirs", "--replicate", "--rw"]),
        ("sprite-lfs", &["--variant", "--cache-traffic", "--kernel"], &["--size ", "--link"]),
        ("footprint", &["--op", "--cold", "--cache"], &["--budget", "--rw", "--resume"]),
    ] {
        let help = place.finish(place.fsprism(&format!("run {suite} --help")));
        for option in takes {
            assert!(help.assert_code(0).stdout.contains(option), "{suite} {option}");
        }
        for option in lacks {
            assert!(!help.stdout.contains(option), "{suite} {option}: {}", help.stdout);
        }
        let option = lacks[0].trim();
        let tip = format!("{option} is an option of ");
        place.run(&format!("run {suite} {option} 1")).assert_refused(&[option, &tip]);
    }
}

/// Command lines that date from when all suites shared one list of options must still work.
#[test]
fn options_may_stand_before_the_suite() {
    let place = Place::new();
    let run = "run --blocks 1 --size 1m --benchmark random-write* survey/in-memory . --format json";
    let document = place.run(run).assert_code(0).document();
    assert_eq!(document["run"]["suite"], "survey/in-memory");
    place.run("run --list --format json nano/io").assert_code(0);
    place.run("run --budgt 3s nano .").assert_refused(&["'--budgt'"]);
}

#[test]
fn a_target_or_a_suite_without_its_command_is_told_which() {
    let place = Place::new();
    for (arguments, words) in [
        ("ext4 xfs", "`ext4` is a target, not a command: run `fsprism survey ext4 xfs`"),
        (". --budget 5s", "run `fsprism survey . --budget 5s`"),
        ("old=ext4:mkfs=-O^a", "run `fsprism survey 'old=ext4:mkfs=-O^a'`"),
        ("nano/io ext4", "`nano/io` is a suite, not a command: run `fsprism run nano/io ext4`"),
        ("zfs", "fsprism does not make zfs"),
        ("ext4:sise=1g", "`size=`"),
        ("srvey", "unrecognized subcommand 'srvey'"),
        ("footprint ext4", "unrecognized subcommand 'ext4'"),
    ] {
        place.finish(place.fsprism(arguments)).assert_refused(&[words]);
    }
}

#[test]
fn wrong_words_are_refused_with_the_nearest_right_one() {
    let place = Place::new();
    for (arguments, words) in [
        ("srvey", &["'survey'"][..]),
        ("survey tmpfs --budgt 5s", &["--budget"]),
        ("run survey/metadat tmpfs", &["survey/metadata", "run --list"]),
        ("run srvey/io tmpfs", &["survey/io"]),
        ("survey ext5", &["`ext4`"]),
        ("survey bttrfs:size=1g", &["`btrfs`"]),
        ("survey ext4:sise=1g", &["`size=`"]),
        ("survey ext4:mem=1g", &["`memory=`"]),
        ("survey tmpfs:read_bps=1m", &["read_bps=", "leave it out"]),
        ("run", &["SUITE"]),
        ("report", &["no run is named", "fsprism-runs"]),
        ("survey --resume", &["no run is named"]),
        ("survey xsf", &["`xfs`"]),
        ("survey ext4:noatime", &["`mount=noatime`"]),
        ("run random-read-4k-warm .", &["`run survey --benchmark random-read-4k-warm`"]),
        ("survey tmpfs --resume run", &["--resume"]),
    ] {
        place.finish(place.fsprism(arguments)).assert_refused(words);
    }
    assert!(!place.path("fsprism-runs").exists());
}

#[test]
fn wrong_values_are_refused_with_what_would_be_right() {
    let place = Place::new();
    for (arguments, words) in [
        ("--budget 0s", &["--budget", "above 0"][..]),
        ("--budget soon", &["--budget", "90s"]),
        ("--budget 5", &["--budget", "90s"]),
        ("--size 0", &["--size", "above 0"]),
        ("--size big", &["--size", "64m"]),
        ("--precision 0%", &["--precision", "above 0"]),
        ("--confidence 100%", &["--confidence", "99.99%"]),
        ("--blocks 0", &["--blocks"]),
        ("--seed x", &["--seed"]),
        ("--format xml", &["--format", "json"]),
    ] {
        let outcome = place.finish(place.fsprism(&format!("survey tmpfs {arguments}")));
        outcome.assert_refused(words);
    }
}

/// What a resumed run measures comes from its run directory. Options that could not change that
/// were once accepted and ignored.
#[test]
fn a_resumed_run_takes_no_option_that_it_would_ignore() {
    let place = Place::new();
    for option in ["--precision 1%", "--confidence 90%", "--verify", "--blocks 3"] {
        let outcome = place.finish(place.fsprism(&format!("survey --resume run {option}")));
        outcome.assert_refused(&["--resume", option.split(' ').next().expect("one word")]);
    }
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure_and_a_closed_one_is_not() {
    let place = Place::new();
    let full = fs::File::options().write(true).open("/dev/full").expect("it is there");
    for arguments in ["machine", "man", "completions bash", "--help", "survey --help", "--version"]
    {
        let mut command = place.fsprism(arguments);
        let output = command.stdout(full.try_clone().expect("a file")).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments}: {said}");
        assert!(said.contains("standard output"), "{arguments}: {said}");
        let (reader, writer) = rustix::pipe::pipe().expect("two descriptors");
        drop(reader);
        let output = place.fsprism(arguments).stdout(writer).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{arguments}: {output:?}");
    }
}
