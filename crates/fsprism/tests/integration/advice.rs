//! The advice in messages: for each kind of remedy, causes a fault that asks for it, takes the
//! remedy from the message if it is given there, and checks that it works.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::place::{Place, say_skipped};
use crate::process::Outcome;
use crate::refusals::PrivateMounts;

/// Arguments of a run on `targets` that takes about a second.
fn brief(targets: &str, rest: &str) -> String {
    format!("run survey/metadata {targets} --benchmark stat-100 --blocks 1 --size 1m {rest}")
}

/// Runs the program from a shell, after some shell commands.
fn after(place: &Place, script: &str, arguments: &str) -> Outcome {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{script} && exec \"$0\" \"$@\"")]);
    shell.arg(env!("CARGO_BIN_EXE_fsprism"));
    place.finish(place.here(shell, arguments))
}

/// The part of a text between two others.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before}: {text}"));
    rest.split_once(after).unwrap_or_else(|| panic!("no {after}: {text}")).0
}

#[test]
fn a_budget_that_is_named_is_enough() {
    let place = Place::new();
    place.make("data");
    let run = |budget: &str, out: &str| {
        place.run(&format!(
            "run survey/metadata data --benchmark stat-100 --size 1m --budget {budget} --out {out}"
        ))
    };
    let mut budget = "1ms".to_owned();
    // What is enough is measured: on a machine that became slower meanwhile, more is.
    for try_no in 0..4 {
        let refused = run(&budget, &format!("short-{try_no}"));
        if try_no > 0 && refused.code == Some(0) {
            return;
        }
        refused.assert_code(2).assert_says(&["is too short"]);
        budget = between(&refused.stderr, "use --budget ", " or more").to_owned();
    }
    run(&budget, "long").assert_code(0);
}

#[test]
fn another_directory_helps_where_a_disk_is_full_and_so_does_a_smaller_image() {
    let test = "another_directory_helps_where_a_disk_is_full_and_so_does_a_smaller_image";
    let Some(place) = Place::as_root(test) else { return };
    place.make("small");
    let mounts =
        PrivateMounts::new(&format!("mount -t tmpfs -o size=300m none {}", place.text("small")));
    let run = |target: &str, rest: &str| mounts.run(&place, &brief(target, rest));
    let asked = "ext4:size=500m,image=allocated";
    let refused = run(asked, "--scratch small --out 1");
    refused.assert_code(2).assert_says(&["a smaller size=", "another directory with --scratch"]);
    run("ext4:size=200m,image=allocated", "--scratch small --out 2").assert_code(0);
    run(asked, "--out 3").assert_code(0);
}

#[test]
fn limits_that_are_named_are_those_to_raise() {
    let test = "limits_that_are_named_are_those_to_raise";
    let Some(place) = Place::as_root(test) else { return };
    let arguments = |out: &str| brief("ext4:size=200m", &format!("--scratch scratch --out {out}"));
    let refused = after(&place, "ulimit -f 1000", &arguments("1"));
    refused.assert_code(2).assert_says(&["raise the file size limit (ulimit -f)"]);
    after(&place, "ulimit -f unlimited", &arguments("2")).assert_code(0);
    for least in (4..24).step_by(3) {
        let outcome =
            after(&place, &format!("ulimit -n {least}"), &arguments(&format!("n{least}")));
        assert_ne!(outcome.code, Some(0), "{least} files are enough: {outcome:?}");
        // With too few files to start a process at all, the message is the loader's.
        let is_ours = !outcome.stderr.contains("error while loading shared libraries");
        assert!(!is_ours || outcome.stderr.contains("`ulimit -n`"), "{outcome:?}");
    }
    after(&place, "ulimit -n 1000", &arguments("many")).assert_code(0);
}

/// Commands are quoted for a shell, even with a directory whose name contains a space and a quote.
#[test]
fn commands_that_are_printed_work_when_they_are_copied() {
    let place = Place::new();
    place.make("data");
    let odd = "my run's, which has a long name that no narrow terminal has room for";
    let mut command = place.measure(&brief("data", ""));
    command.env("COLUMNS", "60").arg("--out").arg(odd);
    let outcome = place.finish(command);
    outcome.assert_code(0);
    let printed = |text: &str| -> Vec<String> {
        let starts = ["fsprism report", "fsprism run", "fsprism check", "fsprism survey"];
        let of = |line: &str| {
            let at = starts.iter().filter_map(|start| line.find(start)).min()?;
            // The sentence, and a pair of brackets, may end after the command.
            Some(line[at..].trim_end_matches(['.', ')']).to_owned())
        };
        text.lines().filter_map(of).collect()
    };
    let commands = [printed(&outcome.stdout), printed(&outcome.stderr)].concat();
    assert!(!commands.is_empty(), "{outcome:?}");
    let program = Path::new(env!("CARGO_BIN_EXE_fsprism"));
    let beside = program.parent().expect("it lies in a directory");
    let path = format!("{}:{}", beside.display(), std::env::var("PATH").unwrap_or_default());
    for command in commands {
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).env("PATH", &path);
        let outcome = place.finish(place.here(shell, ""));
        assert!(matches!(outcome.code, Some(0 | 1)), "{command}: {outcome:?}");
        assert!(!outcome.stderr.contains("no such"), "{command}: {outcome:?}");
    }
}

/// dpkg knows which package a program belongs to.
#[test]
fn packages_that_are_named_have_the_programs() {
    let test = "packages_that_are_named_have_the_programs";
    let owner = |program: &str| {
        let output = Command::new("dpkg").args(["-S", program]).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        text.split_once(':').map(|(package, _)| package.to_owned())
    };
    let mut known = 0;
    let machine = {
        let place = Place::new();
        place.finish(place.fsprism("machine --format json")).assert_code(0).document()
    };
    for one in machine["file_systems"].as_array().expect("a list") {
        let (Some(program), Some(package)) =
            (one["mkfs"]["path"].as_str(), one["mkfs_package"].as_str())
        else {
            continue;
        };
        if let Some(found) = owner(program) {
            assert_eq!(found, package, "{program}");
            known += 1;
        }
    }
    if known == 0 {
        say_skipped(test, "no mkfs here is of a package of Debian's");
    }
}

/// A relative directory is relative to the process, even if another has the same path elsewhere.
#[test]
fn a_relative_directory_is_described_with_the_device_below_it() {
    let test = "a_relative_directory_is_described_with_the_device_below_it";
    let Some(place) = Place::as_root(test) else { return };
    place.make("mounted");
    let here = place.text("");
    let mounts = PrivateMounts::new(&format!(
        "cd {here}; truncate -s 32m kept-image; mkfs.ext4 -q kept-image; \
         mount -o loop kept-image mounted"
    ));
    let document = mounts.run(&place, "machine mounted --format json");
    let document = document.assert_code(0).document().to_string();
    assert!(document.contains("\"loop"), "{document}");
    mounts.do_there(&format!("umount {here}mounted"));
    fs::remove_file(place.path("kept-image")).expect("it is ours");
}

/// Each directory is described with its own mount, even if something is mounted over it or over the
/// image below it.
#[test]
fn stacked_and_hidden_mounts_are_described_as_they_are() {
    let test = "stacked_and_hidden_mounts_are_described_as_they_are";
    let Some(place) = Place::as_root(test) else { return };
    place.make("below");
    place.make("mounted");
    let here = place.text("");
    let mounts = PrivateMounts::new(&format!(
        "cd {here}; truncate -s 32m disk; mkfs.ext4 -q disk; mount -o loop disk below; \
         truncate -s 16m below/image; mkfs.ext4 -q below/image; mount -o loop below/image mounted; \
         mount -t tmpfs over below; touch below/image"
    ));
    let disk_and = |script: &str| {
        let program = env!("CARGO_BIN_EXE_fsprism");
        let output = mounts
            .output_there(&format!("cd {here}; {script} {program} machine mounted --format json"));
        let text = String::from_utf8(output.stdout).expect("JSON is text");
        let document: serde_json::Value = serde_json::from_str(&text).expect("a document");
        document["storage"][0].clone()
    };
    // The image is hidden, and its path now leads to another file.
    let storage = disk_and("");
    assert_eq!(storage["mount"]["file_system"], "ext4", "{storage}");
    let image = &storage["device"]["backing"];
    assert!(image["file"].as_str().is_some_and(|file| file.ends_with("below/image")), "{image}");
    let disk = &image["device"]["backing"]["file"];
    assert!(disk.as_str().is_some_and(|file| file.ends_with("/disk")), "{storage}");
    // With stacked mounts, the topmost one counts.
    let storage = disk_and("mount -t tmpfs top mounted;");
    assert_eq!(storage["mount"]["source"], "top", "{storage}");
    // A process that was in the directory before the mount still sees what is below.
    let storage = disk_and("umount mounted; cd mounted; mkdir mounted; mount -t tmpfs top .;");
    assert_eq!(storage["mount"]["file_system"], "ext4", "{storage}");
    mounts.do_there(&format!("cd {here}; umount mounted mounted below below"));
}

/// As in a container with 96 MiB, where a process that takes more is killed.
#[test]
fn a_target_in_memory_fits_into_what_the_control_group_allows() {
    let test = "a_target_in_memory_fits_into_what_the_control_group_allows";
    let Some(place) = Place::as_root(test) else { return };
    let tops =
        [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
    let found = tops.iter().find_map(|(top, limit)| {
        let group = Path::new(top).join(format!("test-{}", std::process::id()));
        fs::create_dir(&group).ok()?;
        let is_set = fs::write(group.join(limit), "100663296").is_ok();
        if !is_set {
            fs::remove_dir(&group).expect("it is ours and empty");
        }
        is_set.then_some(group)
    });
    let Some(group) = found else {
        say_skipped(test, "no control group here can be given a limit of memory");
        return;
    };
    let enter = format!("echo $$ > {}/cgroup.procs", group.display());
    let run = |target: &str, size: &str, out: &str| {
        after(
            &place,
            &enter,
            &format!(
                "run survey {target} {size} --blocks 1 --benchmark sequential-read-4k-warm \
                 --scratch scratch --out {out}"
            ),
        )
    };
    let (large, small) =
        (run("/dev/shm", "--size 64m", "large"), run("/dev/shm", "--size 1m", "small"));
    let made = run("memory=tmpfs", "--size 4m", "made");
    // Without directories, no memory is reserved for them.
    let alone = run("tmpfs:size=16m", "--size 4m", "alone");
    let with_directories = after(
        &place,
        &enter,
        "run survey tmpfs:size=40m --blocks 1 --scratch scratch --out directories",
    );
    let advised = after(
        &place,
        &enter,
        "run survey/metadata tmpfs:size=60m --blocks 1 --scratch scratch --out advised",
    );
    // A process that has just ended may still be in the group.
    while fs::remove_dir(&group).is_err() {
        std::thread::yield_now();
    }
    assert!(matches!(large.code, Some(1 | 2)), "{large:?}");
    assert!(large.stderr.contains("--size"), "it says what would fit: {large:?}");
    small.assert_code(0);
    made.assert_code(0);
    alone.assert_code(0);
    with_directories.assert_refused(&[
        "which has 40 MiB free, and directories of small files take 48 MiB: make room, or a \
         larger size= for the target",
    ]);
    advised.assert_code(0);
}

/// If a memory limit is too small, the message must not ask for room on the disk.
#[test]
fn a_small_limit_of_memory_is_named_with_the_limit_that_would_do() {
    let test = "a_small_limit_of_memory_is_named_with_the_limit_that_would_do";
    let Some(place) = Place::as_root(test) else { return };
    let run = |target: &str, out: &str| {
        place.finish(place.fsprism(&format!(
            "run survey {target} --blocks 1 --benchmark sequential-read-4k-warm \
             --scratch scratch --out {out}"
        )))
    };
    run("small=ext4:size=256m,memory=4m", "1")
        .assert_refused(&["that small may use", "memory=8m or more"]);
    run("small=ext4:size=256m,memory=8m", "2").assert_code(0);
    run("small=ext4:size=256m,memory=4m --size 1m", "3").assert_code(0);
}
