//! `fsprism lab`, `run footprint` and `footprint trace`: real guests, real kernels, real programs.
//!
//! The lab of these tests is in cargo's target directory, so that a kernel is only fetched once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use machine::measuring_lock::MeasuringLock;
use serde_json::Value;

use crate::cells::{median, metric};
use crate::place::{Place, say_skipped};

/// Number of operations in the suite.
const OPERATIONS: usize = 7;

/// The lab of these tests, or why there is none here.
pub(crate) fn lab() -> Result<PathBuf, String> {
    static LAB: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    LAB.get_or_init(|| {
        let built = PathBuf::from(env!("CARGO_BIN_EXE_fsprism"));
        let lab = built.ancestors().nth(2).ok_or("there is no place for a lab")?.join("lab");
        for tool in ["qemu-system-x86_64", "apt-get", "mkfs.f2fs", "mkfs.xfs", "mkfs.btrfs"] {
            let found = Command::new("which").arg(tool).output();
            if !found.is_ok_and(|output| output.status.success()) {
                return Err(format!("it needs {tool}"));
            }
        }
        let mut build = Command::new(env!("CARGO_BIN_EXE_fsprism"));
        let built = build.args(["lab", "build"]).env("FSPRISM_LAB", &lab).output();
        let built = built.map_err(|error| error.to_string())?;
        match built.status.success() {
            true => Ok(lab),
            false => Err(String::from_utf8_lossy(&built.stderr).into_owned()),
        }
    })
    .clone()
}

/// A place, and the program with this lab. If no guest can be booted here, says that the test is
/// skipped and returns `None`.
pub(crate) fn with_lab(test: &str) -> Option<(Place, impl Fn(&Place, &str) -> Command)> {
    match lab() {
        Ok(lab) => Some((Place::new(), move |place: &Place, arguments: &str| {
            let mut command = place.fsprism(arguments);
            command.env("FSPRISM_LAB", &lab);
            command
        })),
        Err(why) => {
            say_skipped(test, why.trim());
            None
        }
    }
}

/// Whether there is a user-mode emulator, and it supports plugins.
fn programs_can_be_traced() -> bool {
    let help = Command::new("qemu-x86_64").arg("-h").output();
    help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("-plugin"))
}

/// The metric's values, one per repetition.
fn values(cell: &Value, name: &str) -> Vec<f64> {
    let values = metric(cell, name).expect("it is declared")["values"].as_array().expect("a list");
    values.iter().map(|value| value.as_f64().expect("a number")).collect()
}

#[test]
fn the_footprints_of_five_file_systems_are_a_run() {
    let test = "the_footprints_of_five_file_systems_are_a_run";
    let Some((place, fsprism)) = with_lab(test) else { return };
    let caches = "--cache l1i=32k,64,8 --cache l1d=48k,64,12 --cache l2=1m,64,16";
    let arguments = format!(
        "run footprint --beside tmpfs ext4 xfs btrfs f2fs --blocks 6 {caches} --out run \
         --format json"
    );
    let document = place.finish(fsprism(&place, &arguments)).assert_code(0).document();
    let cells = document["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 5 * OPERATIONS);
    assert_eq!(document["skipped"], Value::Array(Vec::new()));
    let of = |target: &str, operation: &str| {
        let is_it = |cell: &&Value| cell["target"] == target && cell["benchmark"] == operation;
        cells.iter().find(is_it).unwrap_or_else(|| panic!("no {operation} of {target}"))
    };
    for cell in cells {
        assert_eq!(cell["replicates"], 6, "{cell}");
        assert_eq!(cell["dimension"], "cpu-footprint");
        let [lines, used, unused, missed, executed] = [
            "instruction_lines",
            "instruction_bytes",
            "instruction_bytes_unused",
            "l1i_misses",
            "instructions",
        ]
        .map(|name| values(cell, name));
        for (at, lines) in lines.into_iter().enumerate() {
            assert!((lines * 64.0 - used[at] - unused[at]).abs() < 1.0, "{cell}");
            // Starting with empty caches, each line misses at least once.
            assert!(missed[at] >= lines && executed[at] > lines, "{cell}");
        }
    }
    for target in ["tmpfs", "ext4", "xfs", "btrfs", "f2fs"] {
        let lines = median(of(target, "getppid"), "instruction_lines");
        assert!((20.0..60.0).contains(&lines), "getppid on {target}: {lines}");
    }
    let create = |target: &str| median(of(target, "create"), "instruction_lines");
    assert!((300.0..900.0).contains(&create("tmpfs")), "{}", create("tmpfs"));
    assert!(create("xfs") > 1000.0 && create("xfs") > 1.5 * create("tmpfs"), "{}", create("xfs"));
    assert!(document["comparisons"].as_array().is_some_and(|all| !all.is_empty()));
    for target in ["tmpfs", "ext4", "xfs", "btrfs", "f2fs"] {
        assert!(place.path(&format!("run/footprint/{target}.trace")).is_file());
    }
    let page = fs::read_to_string(place.path("run/report.html")).expect("a page");
    assert!(page.len() > 100_000, "the page has maps: {}", page.len());
    let text = place.finish(fsprism(&place, "report run --terminal"));
    let text = &text.assert_code(0).stdout;
    assert!(text.contains("Lines of instructions per line of data"));
    assert!(text.contains("given by --cache") && text.contains("l2 1 MiB (16 ways, LRU)"));
    place.finish(fsprism(&place, "compare run --format json")).assert_code(0);
    what_calls_move_out_is_missed(&place);
}

/// Code around the traced calls, in simulated caches.
fn what_calls_move_out_is_missed(place: &Place) {
    let arguments = "footprint pollution run/footprint --code 8k,64k --data 8k --format json \
                     --cache l1i=32k,64,8 --cache l1d=32k,64,8";
    let run = |arguments: &str| place.finish(place.fsprism(arguments));
    let document = run(arguments).assert_code(0).document();
    let rounds = document["rounds"].as_array().expect("a list");
    assert_eq!(rounds.len(), 2 * 5 * OPERATIONS);
    let more = |target: &str, operation: &str, code_lines: u64| {
        let is_it = |one: &&Value| {
            one["target"] == target
                && one["operation"] == operation
                && one["code_lines"] == code_lines
        };
        let found = rounds.iter().find(is_it).expect("it was traced");
        let misses = |of: &str| found[of][0].as_f64().expect("a number");
        (misses("misses_alone"), misses("misses_after_operation"))
    };
    assert_eq!(more("xfs", "create", 128), (0.0, 128.0), "all of it is moved out");
    assert_eq!(more("xfs", "getppid", 128), (0.0, 0.0), "all of it stays");
    assert_eq!(more("xfs", "create", 1024).0, 1024.0, "it never fits");
    let refused = run("footprint pollution run/footprint --op chmod");
    refused.assert_refused(&["no operation `chmod`", "create"]);
    run("footprint pollution run/footprint --code 100").assert_refused(&["100", "give 128"]);
}

/// Guests would take processors from the run.
#[test]
fn nothing_is_traced_beside_a_run_that_times() {
    let Some((place, fsprism)) = with_lab("nothing_is_traced_beside_a_run_that_times") else {
        return;
    };
    let _lock = MeasuringLock::wait().expect("the lock can be opened");
    for command in ["run footprint tmpfs", "footprint trace --target tmpfs"] {
        let refused = place.finish(fsprism(&place, &format!("{command} --no-wait --out it")));
        refused.assert_refused(&["another run has been measuring", "leave out --no-wait"]);
    }
    assert!(!place.path("it").exists());
}

#[test]
fn small_file_systems_are_traced_without_what_they_lack() {
    let test = "small_file_systems_are_traced_without_what_they_lack";
    let Some((place, fsprism)) = with_lab(test) else { return };
    for program in ["mkfs.vfat", "mkfs.minix", "hformat"] {
        let found = Command::new("which").arg(program).output();
        if !found.is_ok_and(|output| output.status.success()) {
            return say_skipped(test, &format!("it needs {program}"));
        }
    }
    let arguments = "run footprint --beside ramfs ext2 vfat minix hfs --op create,link --blocks 2 \
                     --warm-up 1 --out run --format json";
    let document = place.finish(fsprism(&place, arguments)).assert_code(0).document();
    let cells = document["cells"].as_array().expect("a list");
    let has = |target: &str, operation: &str| {
        let is_it = |cell: &&Value| cell["target"] == target && cell["benchmark"] == operation;
        cells.iter().find(is_it)
    };
    for (target, links) in
        [("ramfs", true), ("ext2", true), ("vfat", false), ("minix", true), ("hfs", false)]
    {
        let create = has(target, "create").unwrap_or_else(|| panic!("no create: {document}"));
        let lines = median(create, "instruction_lines");
        assert!((300.0..1500.0).contains(&lines), "create on {target}: {lines}");
        assert_eq!(has(target, "link").is_some(), links, "{target}");
    }
    let instructions = |target: &str| median(has(target, "create").expect("seen"), "instructions");
    assert!(1.5 * instructions("ramfs") < instructions("minix"));
    let why = |target: &str| {
        let skipped = document["skipped"].as_array().expect("a list");
        let one = skipped.iter().find(|one| one["target"] == format!("{target}: link"));
        one.and_then(|one| one["why"].as_str()).unwrap_or_default().to_owned()
    };
    assert_eq!(
        [why("vfat"), why("hfs")],
        ["vfat does not support links", "hfs does not support links"]
    );
    let text = place.finish(fsprism(&place, "report run --terminal"));
    assert!(text.assert_code(0).stdout.contains("vfat does not support links"), "{}", text.stdout);
    let alone = fsprism(&place, "run footprint --beside vfat --op link --out none");
    let words = "vfat supports none of the operations";
    assert!(place.finish(alone).assert_code(1).stderr.contains(words));
}

#[test]
fn a_papers_figure_is_traced_and_shown_again() {
    let test = "a_papers_figure_is_traced_and_shown_again";
    let Some((place, fsprism)) = with_lab(test) else { return };
    let arguments = "reproduce densefs/figure-1 --blocks 2 --out run --format json";
    let found = place.finish(fsprism(&place, arguments)).assert_code(0).document();
    let figure = found["figure_1"].as_array().expect("a list");
    let lines = |at: usize, name: &str| figure[at][name]["median"].as_f64().expect("a number");
    assert_eq!(figure.len(), 3, "{found}");
    for at in 0..3 {
        let (instructions, data) = (lines(at, "instruction_lines"), lines(at, "data_lines"));
        assert!(instructions > 500.0 && data > 200.0, "{found}");
    }
    let statements = found["statements"].as_array().expect("a list");
    assert_eq!(statements.len(), 5);
    assert_eq!(statements[0]["outcome"], "holds", "{found}");
    // The paper's figure has far fewer lines of a rename than today's kernels.
    assert_eq!(statements[4]["outcome"], "does-not-hold", "{found}");
    // The same run again, and what else is in it.
    let again = place.finish(fsprism(&place, "reproduce densefs --run run --format json"));
    let again = again.assert_code(0).document();
    assert_eq!(again["figure_1"], found["figure_1"]);
    let graph = &again["figure_2"][0];
    assert_eq!(graph["target"], "xfs");
    let categories = graph["categories"].as_array().expect("a list");
    let share = |name: &str| {
        let one = categories.iter().find(|one| one["category"] == name);
        one.and_then(|one| one["own_percent"].as_f64()).unwrap_or_default()
    };
    assert!(share("vfs") > 5.0 && share("file system") > 10.0, "{graph}");
    let all: f64 = categories.iter().filter_map(|one| one["own_percent"].as_f64()).sum();
    assert!((all - 100.0).abs() < 1e-6, "{all} %");
    let sparse = &again["footprints"][0]["sparse_data_lines_percent"];
    assert!(sparse.as_f64().is_some_and(|percent| (5.0..80.0).contains(&percent)), "{sparse}");
    let text = place.finish(fsprism(&place, "reproduce densefs --run run"));
    for words in [
        "Figure 1:",
        "Figure 2:",
        "Section 2:",
        "published: over 1,000 lines",
        "tolerance: a factor of 1.5",
        "why:       the run has no DenseFS of both layouts",
        "why:       run has no timed run",
    ] {
        assert!(text.assert_code(0).stdout.contains(words), "no {words} in {}", text.stdout);
    }
}

#[test]
fn two_boots_of_one_job_give_the_same_trace() {
    let test = "two_boots_of_one_job_give_the_same_trace";
    let Some((place, fsprism)) = with_lab(test) else { return };
    for out in ["one", "two"] {
        let job = "--target ext4 --op create,fsync,unlink --repetitions 3";
        let command =
            fsprism(&place, &format!("footprint trace --beside {job} --out {out} --format json"));
        let answer = place.finish(command).assert_code(0).document();
        let regions = answer["traces"][0]["regions"].as_array().expect("a list");
        assert_eq!(regions.len(), 9, "{answer}");
    }
    let [one, two] = ["one", "two"].map(|out| fs::read(place.path(&format!("{out}/ext4.trace"))));
    assert!(one.expect("a trace") == two.expect("a trace"), "two boots differ");
    let job = "--target ext4 --op fsync --cold --repetitions 1 --out cold --format json";
    let answer = place.finish(fsprism(&place, &format!("footprint trace --beside {job}")));
    let fsync = &answer.assert_code(0).document()["traces"][0]["regions"][0];
    // With nothing to write, an fsync touches about a hundred lines.
    assert!(fsync["instruction_lines"].as_u64().is_some_and(|lines| lines > 500), "{fsync}");
}

#[test]
fn a_program_is_traced_with_its_names() {
    let test = "a_program_is_traced_with_its_names";
    if !programs_can_be_traced() {
        return say_skipped(test, "it needs a qemu-x86_64 that takes plugins");
    }
    let place = Place::new();
    let arguments = "footprint trace --beside --out traces --format json -- /bin/true";
    let answer = place.finish(place.fsprism(arguments)).assert_code(0).document();
    let whole = &answer["traces"][0]["regions"][0];
    assert!(whole["instructions"].as_u64().is_some_and(|count| count > 10_000), "{answer}");
    assert!(whole["operation"].is_null());
    let again = place.finish(place.fsprism("footprint trace --beside --out traces -- /bin/true"));
    again.assert_refused(&["already holds traces"]);
    let failing =
        place.finish(place.fsprism("footprint trace --beside --out failing -- /bin/false"));
    assert!(failing.assert_code(1).stderr.contains("false ended with exit status: 1"));
}

/// The traced program may own the directory that its trace goes to.
#[test]
fn a_trace_stays_in_its_directory_whatever_comes_to_stand_in_its_place() {
    let test = "a_trace_stays_in_its_directory_whatever_comes_to_stand_in_its_place";
    if !programs_can_be_traced() {
        return say_skipped(test, "it needs a qemu-x86_64 that takes plugins");
    }
    let place = Place::new();
    let mut command = place.fsprism("footprint trace --beside --out out -- /bin/sh -c");
    command.arg("mv out moved; mkdir theirs; cp moved/sh.trace theirs; ln -s theirs out");
    let traced = place.finish(command);
    assert!(traced.assert_code(0).stdout.contains(": out/sh.trace\n"), "{traced:?}");
    let names = |directory: &str| {
        let trace = fs::read(place.path(directory).join("sh.trace")).expect("a trace");
        trace.windows(11).any(|bytes| bytes == b"description")
    };
    assert!(names("moved"), "the names are in the trace");
    assert!(!names("theirs"), "the copy is as it was");
}

/// Wraps an emulator in a script that keeps it from writing files beyond 1 MiB while it traces;
/// `trap` decides what happens when it tries.
fn limited(place: &Place, emulator: &str, out: &str, trap: &str, mut command: Command) -> Command {
    let which = Command::new("which").arg(emulator).output().expect("which");
    let real = String::from_utf8(which.stdout).expect("a path");
    let real = real.trim();
    let script = format!(
        "#!/bin/bash\n{trap}\ncase \"$*\" in *-plugin*) ulimit -f 1024;; esac\nexec {real} \"$@\"\n"
    );
    let path = place.make(&format!("emulators-{out}")).join(emulator);
    fs::write(&path, script).expect("ours");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    let all = std::env::var("PATH").expect("a path");
    command.env("PATH", format!("{}:{all}", path.parent().expect("a directory").display()));
    command
}

/// A write beyond the limit kills the process, as an impatient user does, or fails, as on a full
/// disk.
const TRAPS: [(&str, &str); 2] = [("killed", "trap - XFSZ"), ("full", "trap '' XFSZ")];

#[test]
fn what_a_dying_guest_leaves_has_names() {
    let test = "what_a_dying_guest_leaves_has_names";
    let Some((place, fsprism)) = with_lab(test) else { return };
    let arguments =
        "footprint trace --beside --target tmpfs --op create,stat --repetitions 200 --out cut";
    let command = fsprism(&place, arguments);
    let (out, trap) = TRAPS[0];
    let traced = place.finish(limited(&place, "qemu-system-x86_64", out, trap, command));
    assert!(traced.assert_code(1).stdout.contains("  create 3 "), "{traced:?}");
    let stacks = place.fsprism("footprint stacks cut --op create --frames functions");
    let stacks = place.finish(stacks);
    assert!(stacks.assert_code(0).stdout.contains("shmem_mknod"), "{stacks:?}");
    assert!(stacks.stderr.contains("is incomplete"), "{stacks:?}");
    assert!(stacks.stderr.contains("data has no names"), "{stacks:?}");
    let differ = place.finish(place.fsprism("footprint diff cut cut --op create"));
    assert!(differ.assert_code(0).stderr.contains("is incomplete"), "{differ:?}");
}

#[test]
fn what_a_dying_program_leaves_has_names() {
    let test = "what_a_dying_program_leaves_has_names";
    if !programs_can_be_traced() {
        return say_skipped(test, "it needs a qemu-x86_64 that takes plugins");
    }
    let place = Place::new();
    let stacks = |out: &str| {
        let arguments = format!("footprint stacks {out} --frames functions");
        let stacks = place.finish(place.fsprism(&arguments));
        assert!(stacks.assert_code(0).stdout.contains("_start"), "{stacks:?}");
        assert!(stacks.stderr.contains("is incomplete"), "{stacks:?}");
    };
    let mut command = place.fsprism("footprint trace --beside --out own -- /bin/sh -c");
    command.arg("kill -9 $$");
    let traced = place.finish(command);
    assert!(traced.assert_code(1).stderr.contains("sh ended with signal: 9"), "{traced:?}");
    stacks("own");
    for (out, trap) in TRAPS {
        let mut command =
            place.fsprism(&format!("footprint trace --beside --out {out} -- /bin/sh -c"));
        command.arg("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
        let traced = place.finish(limited(&place, "qemu-x86_64", out, trap, command));
        assert!(traced.assert_code(1).stdout.contains("  whole "), "{traced:?}");
        stacks(out);
    }
}

#[test]
fn what_cannot_be_traced_is_refused_in_a_sentence() {
    let place = Place::new();
    let refused = |arguments: &str, words: &[&str]| {
        let mut command = place.fsprism(arguments);
        command.env("FSPRISM_LAB", place.path("no-lab"));
        place.finish(command).assert_refused(words);
    };
    refused("run footprint tmpfs", &["no kernel", "fsprism lab build"]);
    refused("reproduce densefs", &["no kernel", "fsprism lab build"]);
    refused("reproduce densefs/section-3.1 --blocks 2", &["is computed", "leave out --blocks"]);
    refused("run footprint densefs:layout=dense", &["no layout 'dense'", "choose from plain"]);
    refused("run footprint ext4:layout=plain", &["only the target densefs", "leave it out"]);
    refused(
        "reproduce densefs/figure-9",
        &["no figure-9", "figure-3, figure-4, section-2, section-3.1, section-3.2, section-4"],
    );
    refused("run footprint /tmp", &["taken in a guest", "name a file system"]);
    refused("run footprint ext4:read_bps=1m", &["leave these options out"]);
    refused("run footprint ext4 ext4", &["label"]);
    refused("run footprint tmpfs --op creat", &["no operation 'creat' (did you mean `create`?)"]);
    refused("run footprint tmpfs --op nonsense", &["no operation 'nonsense': choose from create"]);
    refused(
        "run footprint tmpfs --size 1m",
        &["unexpected argument '--size'", "an option of survey"],
    );
    refused("run survey/metadata . --op create", &["--op is an option of pollution and footprint"]);
    refused("run footprint tmpfs --cache l1d=3,64,8", &["l1d"]);
    refused("lab build --kernel ./6.1", &["one release", ".deb"]);
    refused("lab build --kernel nowhere.deb", &["nowhere.deb", "No such file"]);
    refused("footprint trace --target tmpfs --kernel 1.2.3 --out a", &["1.2.3", "lab build"]);
    refused("footprint applications tmpfs --program git-status", &["choose --program from grep"]);
    refused("footprint applications tmpfs --program grp", &["did you mean"]);
    refused("footprint applications tmpfs --files 5", &["--files is 5", "give 100"]);
    refused("footprint applications tmpfs tmpfs", &["label"]);
    refused("footprint applications densefs:layout=plain", &["no layouts", "leave it out"]);
    refused("footprint applications ext4:size=32m --files 9000", &["give fewer --files"]);
    refused("footprint applications tmpfs --cache l1d=3,64,8", &["l1d"]);
    refused("footprint applications tmpfs", &["no kernel", "fsprism lab build"]);
    refused("footprint trace --out b -- /nowhere/program", &["no executable program"]);
    // An emulator without plugin support does not list the option in its help.
    let emulator = place.path("qemu-x86_64");
    fs::write(&emulator, "#!/bin/sh\necho usage: qemu-x86_64\nexit 1\n").expect("ours");
    let chmod = Command::new("chmod").arg("+x").arg(&emulator).status();
    assert!(chmod.expect("coreutils").success());
    let mut command = place.fsprism("footprint trace --beside --out d -- /bin/true");
    command.env("PATH", place.path(""));
    place.finish(command).assert_refused(&["does not support plugins", "--enable-plugins"]);
    fs::write(place.path("script"), "#!/bin/sh\n").expect("ours");
    let chmod = Command::new("chmod").arg("+x").arg(place.path("script")).status();
    assert!(chmod.expect("coreutils").success());
    refused("footprint trace --out c -- ./script", &["trace its interpreter"]);
    if programs_can_be_traced() {
        refused(
            "footprint trace --beside --out script -- /bin/true",
            &["cannot write traces into script: Not a directory"],
        );
    }
}
