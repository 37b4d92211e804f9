//! Faults during a run: it reports them, keeps what it has, and leaves nothing behind.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::Command;

use crate::documents::assert_valid;
use crate::place::{Place, names_in};
use crate::process::Running;
use crate::refusals::PrivateMounts;

/// The reasons why cells were given up.
fn failures(document: &serde_json::Value) -> Vec<String> {
    let cells = document["cells"].as_array().expect("a list").iter();
    cells.filter_map(|cell| cell["failed"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_target_without_room_is_left_out_with_why_and_the_others_are_measured() {
    let name = "a_target_without_room_is_left_out_with_why_and_the_others_are_measured";
    let Some(place) = Place::as_root(name) else { return };
    let arguments = "run survey/metadata good=tmpfs:size=128m --blocks 1 --budget 1s --size 1m \
                     --format json --out run";
    let mut command = place.measure(arguments);
    // This target has too few inodes for its directories.
    command.arg("small=ext4:size=128m,mkfs=-N 500");
    let document = place.finish(command).assert_code(0).document();
    assert_valid(&document);
    let cells = document["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 22);
    assert!(cells.iter().all(|cell| cell["target"] == "good" && cell["replicates"] == 1));
    let skipped = document["skipped"].as_array().expect("a list");
    assert_eq!(skipped.len(), 4, "{skipped:?}");
    for one in skipped {
        let (target, why) = (one["target"].as_str(), one["why"].as_str());
        assert!(target.is_some_and(|target| target.starts_with("small: directories of")));
        assert!(why.is_some_and(|why| why.contains("size=")), "{one}");
    }
}

/// Appends once grew a small target until it was full, even though the files were sized to fit.
#[test]
fn a_small_target_has_room_for_every_benchmark() {
    let name = "a_small_target_has_room_for_every_benchmark";
    let Some(place) = Place::as_root(name) else { return };
    for target in ["tmpfs:size=64m", "ext4:size=80m"] {
        let arguments = format!("run survey/io {target} --blocks 1 --budget 5s --format json");
        let document = place.run(&arguments).assert_code(0).document();
        assert!(failures(&document).is_empty(), "{document}");
    }
}

/// Checks that a failing device is the reason: a call fails, the file system is read-only, or mkfs
/// fails.
#[track_caller]
fn assert_is_of_device(why: &str) {
    let words = ["nput/output error", "ead-only file system", "No space left", "tructure needs"];
    assert!(words.iter().any(|words| why.contains(words)), "{why}");
}

/// The image is truncated again and again, so that reads of the loop device fail with EIO.
#[test]
fn a_device_that_cannot_be_read_fails_its_cells() {
    let name = "a_device_that_cannot_be_read_fails_its_cells";
    let Some(place) = Place::as_root(name) else { return };
    let arguments = "run survey/io sick=ext4:size=128m well=tmpfs:size=128m --blocks 60 \
                     --budget 3s --size 8m --format json --out run";
    let mut running = Running::start(&place, place.measure(arguments));
    running.until("block 1 done");
    let image = running.image();
    let journal = place.path("run/cells.jsonl");
    while !fs::read_to_string(&journal).expect("it is there").contains("cell-failed") {
        image.set_len(0).expect("root");
        assert!(!running.ends_within(5), "it ends well without a device");
    }
    drop(image);
    let outcome = running.finish(&place);
    let document = outcome.assert_code(1).document();
    assert_valid(&document);
    failures(&document).iter().for_each(|why| assert_is_of_device(why));
    let cells = document["cells"].as_array().expect("a list").iter();
    let mut well = cells.filter(|cell| cell["target"] == "well");
    assert!(well.all(|cell| cell["replicates"] == 60), "the other target is measured to the end");
}

/// The images are on a small tmpfs. Once it is full, writes of the loop device fail, which says
/// nothing about the file system on it.
#[test]
fn a_full_scratch_directory_ends_the_run_and_keeps_it() {
    let name = "a_full_scratch_directory_ends_the_run_and_keeps_it";
    let Some(place) = Place::as_root(name) else { return };
    let scratch = place.text("scratch");
    let mounts = PrivateMounts::new(&format!("mount -t tmpfs -o size=140m none {scratch}"));
    let free = mounts.free_inodes(&place, "scratch");
    let arguments = "run survey/io ext4:size=128m --blocks 15 --budget 3s --size 8m --out run";
    let mut running = Running::start(&place, mounts.command(&place, arguments));
    running.until("block 1 done");
    let filler_path = mounts.path(&place, "scratch").join("kept-filler");
    let mut filler = fs::File::create(&filler_path).expect("root");
    // Each block formats the image anew, which frees space; fill that as well.
    while !running.ends_within(1) {
        while filler.write_all(&[1; 1 << 16]).is_ok() {}
    }
    drop(filler);
    let outcome = running.finish(&place);
    outcome.assert_code(1).assert_says(&[&scratch, "is full", "--resume run"]);
    let journal = fs::read_to_string(place.path("run/cells.jsonl")).expect("the run's own");
    assert!(!journal.contains("cell-failed"), "no cell is given up for it: {journal}");
    fs::remove_file(&filler_path).expect("root");
    assert_eq!(mounts.free_inodes(&place, "scratch"), free, "no image is left");

    let document = mounts.run(&place, "run --resume run --format json").assert_code(0).document();
    let cells = document["cells"].as_array().expect("a list");
    assert!(cells.iter().all(|cell| cell["replicates"] == 15), "{document}");
}

/// A limit below the size of an image.
#[test]
fn a_limit_on_the_size_of_files_is_said() {
    let name = "a_limit_on_the_size_of_files_is_said";
    let Some(place) = Place::as_root(name) else { return };
    // Whether the size is the user's or ours: even the smallest that mkfs takes is too large.
    for (target, size) in [("ext4:size=128m", "134217728 bytes"), ("ext4", "67108864 bytes")] {
        let mut shell = Command::new("sh");
        shell.args(["-c", "cd \"$0\" && ulimit -f 1000 && exec \"$@\""]).arg(place.path(""));
        shell.arg(env!("CARGO_BIN_EXE_fsprism"));
        let words = format!("run survey/io {target} --blocks 1 --out large");
        let mut command = place.here(shell, &words);
        command.arg("--scratch").arg(place.path("scratch"));
        let outcome = place.finish(command);
        outcome.assert_code(2).assert_says(&[size, "ulimit -f", "size="]);
    }
}

/// If there is little room in the scratch directory, images get smaller or are refused.
#[test]
fn a_small_scratch_directory_is_said() {
    let Some(place) = Place::as_root("a_small_scratch_directory_is_said") else { return };
    place.make("small");
    let small = place.text("small");
    let on = |size: &str, arguments: &str| {
        let mounts = PrivateMounts::new(&format!("mount -t tmpfs -o size={size} none {small}"));
        mounts.run(&place, arguments)
    };
    let survey = "run survey/io ext4 --blocks 1 --size 1m --scratch small --out run";
    let smaller = on("900m", survey);
    smaller.assert_code(0);
    let said = smaller.stderr.lines().find(|line| line.contains("not the usual 64 GiB"));
    assert!(said.is_some_and(|line| line.contains("small") && line.contains("--scratch")));
    let refused = on("200m", "run survey/io xfs --blocks 1 --scratch small --out none");
    refused.assert_code(2).assert_says(&["335544320 bytes", "for each image", "--scratch"]);
}

#[test]
fn a_full_disk_under_the_journal_ends_the_run_and_keeps_it() {
    let name = "a_full_disk_under_the_journal_ends_the_run_and_keeps_it";
    let Some(place) = Place::as_root(name) else { return };
    place.make("small");
    let small = place.text("small");
    let mounts = PrivateMounts::new(&format!("mount -t tmpfs -o size=80k none {small}"));
    let arguments = "run survey/io ext4:size=128m --blocks 24 --budget 2s --size 1m \
                     --format json --out small/run";
    let outcome = mounts.run(&place, arguments);
    outcome.assert_code(1).assert_says(&["full", "--resume", "--out"]);
    let document = outcome.document();
    assert_valid(&document);
    assert!(document["end"].is_null(), "{document}");
    let first = &document["cells"][0]["replicates"];
    assert!(first.as_u64().is_some_and(|count| count > 0 && count < 24), "{first}");

    mounts.do_there(&format!("mount -o remount,size=64m {small}"));
    let outcome = mounts.run(&place, "run --resume small/run --format json");
    let document = outcome.assert_code(0).document();
    let cells = document["cells"].as_array().expect("a list");
    assert!(cells.iter().all(|cell| cell["replicates"] == 24), "{document}");
}

/// On disks of every size up to one that has room for a run: files are missing or complete, and
/// what is reported is true.
#[test]
fn a_run_on_a_disk_of_any_size_leaves_no_part_and_says_what_is_kept() {
    let name = "a_run_on_a_disk_of_any_size_leaves_no_part_and_says_what_is_kept";
    let Some(place) = Place::as_root(name) else { return };
    place.make("small");
    place.make("data");
    let small = place.text("small");
    let mounts = PrivateMounts::new(&format!("mount -t tmpfs -o size=4k none {small}"));
    let run = mounts.path(&place, "small/run");
    let mut seen = BTreeSet::new();
    for kib in [4, 8, 12, 16, 20, 24, 28, 32, 48, 64, 128, 256, 512, 1024, 1536, 2048, 4096] {
        mounts.do_there(&format!("rm -rf {small}/run && mount -o remount,size={kib}k {small}"));
        let outcome = mounts.run(
            &place,
            "run survey/metadata data --benchmark stat-100 --blocks 2 --budget 1s --out small/run",
        );
        let names = names_in(&run);
        let all = names.iter().cloned().chain(names_in(&run.join("histograms")));
        let parts: Vec<String> = all.filter(|name| name.contains(".part")).collect();
        assert_eq!(parts, [""; 0], "{kib} KiB: {outcome:?}");
        let has = |name: &str| names.iter().any(|found| found == name);
        match (has("manifest.json"), has("report.html")) {
            (false, _) => {
                assert_eq!(names, [""; 0], "{kib} KiB");
                outcome.assert_refused(&["full, so no run was begun", "--out"]);
            }
            (true, false) => {
                outcome.assert_code(1);
                let said = ["kept; free some space", "the run itself is whole"];
                assert!(said.iter().any(|words| outcome.stderr.contains(words)), "{outcome:?}");
                let read = mounts.run(&place, "report small/run --terminal");
                read.assert_code(0);
            }
            (true, true) => {
                outcome.assert_code(0);
                let page = fs::read_to_string(run.join("report.html")).expect("it is there");
                assert!(page.trim_end().ends_with("</html>"), "{kib} KiB");
            }
        }
        seen.insert((has("manifest.json"), has("report.html")));
    }
    assert_eq!(seen.len(), 3, "too small, too small for a page, and enough: {seen:?}");
}

/// A search cannot be resumed, so the message must not say that it can.
#[test]
fn a_search_on_a_full_disk_says_what_its_report_still_shows() {
    let name = "a_search_on_a_full_disk_says_what_its_report_still_shows";
    let Some(place) = Place::as_root(name) else { return };
    place.make("small");
    place.make("data");
    let mounts =
        PrivateMounts::new(&format!("mount -t tmpfs -o size=16k none {}", place.text("small")));
    let search = "cliff data --low 256k --high 1m --probes 4 --out small/run";
    let outcome = mounts.run(&place, search);
    outcome.assert_code(1);
    assert!(outcome.stderr.contains("`fsprism report` shows it"), "{outcome:?}");
    assert!(!outcome.stderr.contains("--resume"), "{outcome:?}");
    mounts.run(&place, "report small/run --terminal").assert_code(0);
}

#[test]
fn a_disk_too_full_to_begin_a_run_is_said_before_measuring() {
    let name = "a_disk_too_full_to_begin_a_run_is_said_before_measuring";
    let Some(place) = Place::as_root(name) else { return };
    place.make("small");
    let mounts =
        PrivateMounts::new(&format!("mount -t tmpfs -o size=4k none {}", place.text("small")));
    let arguments = "run survey/io tmpfs:size=128m --blocks 1 --out small/run";
    mounts.run(&place, arguments).assert_refused(&["full", "--out"]);
}
