//! DenseFS in the kernel of guests: it loads, refuses and unloads, answers as tmpfs does, and
//! touches few cache lines.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use std::{env, fs};

use densefs_module::{LineCount, line_counts};
use lab::command::Command as GuestCommand;
use lab::densefs::{self, DenseFsModule, Layout};
use lab::{Boot, Image, ImageParts, Kernel, Lab, image, kernel};
use machine::measuring_lock::{MeasuringLock, Purpose};
use serde_json::Value;

use crate::guests::lab;
use crate::place::{Place, say_skipped};

/// Long enough even on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// Size of the file system, which a test fills.
const BYTES: u64 = 8 << 20;

/// A lab with DenseFS for its kernel.
#[derive(Clone)]
struct DenseLab {
    lab: Lab,
    kernel: Kernel,
    image: Image,
    module: DenseFsModule,
}

/// The lab of these tests, or none: then it says why the test is skipped. `FSPRISM_TEST_LAB` is
/// another one, whose kernel that was built last is used, such as one that checks itself.
fn dense_lab(test: &str) -> Option<DenseLab> {
    static LAB: OnceLock<Result<DenseLab, String>> = OnceLock::new();
    let made = LAB.get_or_init(|| {
        let given = env::var_os("FSPRISM_TEST_LAB").map(PathBuf::from);
        let lab = Lab::at(given.map_or_else(lab, Ok)?);
        let kernel = kernel::find(&lab, None).map_err(|why| why.to_string())?;
        let plan =
            densefs::plan(&lab, &kernel, Layout::default()).map_err(|why| why.to_string())?;
        let module = densefs::build(&lab, &plan).expect("everything that it takes is there");
        let program = Path::new(env!("CARGO_BIN_EXE_fsprism"));
        let image = image::build(&lab, ImageParts { kernel: &kernel, program, further: &[] });
        Ok(DenseLab { image: image.expect("an image"), lab, kernel, module })
    });
    match made {
        Ok(made) => Some(made.clone()),
        Err(why) => {
            say_skipped(test, why.trim());
            None
        }
    }
}

impl DenseLab {
    /// What a guest with these processors prints when it has loaded the module and runs a script.
    fn says(&self, script: &str, files: &[(&str, PathBuf)], processors: u32) -> String {
        let mut boot = Boot::new(self.kernel.clone(), self.image.clone());
        boot.job = vec![self.module.job_file().expect("it is there")];
        for (name, file) in files {
            boot.job.push(((*name).to_owned(), fs::read(file).expect("it was built")));
        }
        (boot.processors, boot.time_limit) = (processors, TIME_LIMIT);
        boot.arguments = DenseFsModule::arguments(BYTES);
        let command = GuestCommand { text: script.to_owned(), load: vec!["densefs".to_owned()] };
        let _lock = MeasuringLock::wait_to(Purpose::Count).expect("the lock can be opened");
        let ran = command.run(boot).expect("it comes to its end");
        let said = String::from_utf8_lossy(&ran.output).into_owned();
        assert_eq!(ran.status, 0, "{said}");
        said
    }
}

/// A program of the module's tests, for guests.
fn compiled(place: &Place, name: &str, sources: &[&str]) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let program = place.path(name);
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-static"]);
    for directory in
        ["densefs-kernel/tests", "densefs-kernel/module", "densefs-c/tests/differential"]
    {
        cc.arg("-I").arg(crates.join(directory));
    }
    cc.args(sources.iter().map(|source| crates.join(source))).arg("-o").arg(&program);
    let built = cc.output().expect("cc can be started");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

fn program(place: &Place) -> (&'static str, PathBuf) {
    ("/job/program", compiled(place, "program", &["densefs-kernel/tests/program.c"]))
}

/// The same module under another name, so that both can be loaded.
fn renamed(mut module: Vec<u8>) -> Vec<u8> {
    let (from, to) = (b"densefs\0", b"another\0");
    let places: Vec<usize> = module
        .windows(from.len())
        .enumerate()
        .filter_map(|(at, bytes)| (bytes == from).then_some(at))
        .collect();
    for at in places {
        module[at..at + to.len()].copy_from_slice(to);
    }
    module
}

#[test]
fn it_loads_where_it_may_and_unloads_without_a_trace() {
    let Some(lab) = dense_lab("it_loads_where_it_may_and_unloads_without_a_trace") else { return };
    let place = Place::new();
    let script = "set -e\n\
        dmesg | grep 'densefs: for lab guests only: system calls 340 to '\n\
        ! insmod /job/another.ko in_lab=1; dmesg | grep 'ni_syscall begins with e9'\n\
        /job/program has -1; rmmod densefs; /job/program gone\n\
        dmesg | grep 'densefs: unloaded'\n\
        ! insmod /lib/fsprism/densefs.ko; dmesg | grep 'load it with in_lab=1'\n\
        ! insmod /lib/fsprism/densefs.ko in_lab=1 size=100; dmesg | grep 'not enough'\n\
        insmod /lib/fsprism/densefs.ko in_lab=1; /job/program has -1; rmmod densefs\n\
        if dmesg | grep 'Call Trace'; then exit 1; fi\n\
        echo all of it\n";
    // Where one has written its jump, the other finds code that it does not know.
    let another = place.path("another.ko");
    fs::write(&another, renamed(fs::read(&lab.module.file).expect("it was built")))
        .expect("there is room");
    let said = lab.says(script, &[program(&place), ("/job/another.ko", another)], 1);
    assert!(said.ends_with("all of it\n"), "{said}");
}

/// Processes at the same time, forks, executed programs, memory that is not there, no more room.
#[test]
fn processes_share_it_and_fill_it() {
    let Some(lab) = dense_lab("processes_share_it_and_fill_it") else { return };
    let place = Place::new();
    for processors in [1, 2] {
        let script = "/job/program 200 && rmmod densefs && ! dmesg | grep 'Call Trace'";
        let said = lab.says(script, &[program(&place)], processors);
        assert_eq!(said.trim(), "all is as it must be");
    }
}

/// The library's differential test: random calls on DenseFS and on tmpfs, as root and as a user.
/// `FSPRISM_DIFFERENTIAL_CALLS` is how many each makes.
#[test]
fn its_calls_are_answered_as_tmpfs_answers_them() {
    let Some(lab) = dense_lab("its_calls_are_answered_as_tmpfs_answers_them") else { return };
    let place = Place::new();
    let differential = compiled(
        &place,
        "differential",
        &[
            "densefs-c/tests/differential/main.c",
            "densefs-c/tests/differential/calls.c",
            "densefs-kernel/tests/further_calls.c",
        ],
    );
    let calls = env::var("FSPRISM_DIFFERENTIAL_CALLS").unwrap_or_else(|_| "50000".to_owned());
    let files = [program(&place), ("/job/differential", differential)];
    for user in [0, 1000] {
        let script = format!(
            "set -e; /job/program 1; mkdir /tmp/tree; chmod 777 /tmp/tree\n\
             /job/differential /tmp/tree 1 {calls} {user}\n\
             ! dmesg | grep 'Call Trace'\n"
        );
        let said = lab.says(&script, &files, 1);
        assert!(said.contains(" 0 kinds of differences"), "{said}");
    }
}

/// The medians of a run: for each operation, its lines of instructions and of data.
fn lines_in(document: &Value) -> Vec<(String, f64, f64)> {
    let cells = document["cells"].as_array().expect("a list").iter();
    let lines = cells.map(|cell| {
        let metrics = cell["metrics"].as_array().expect("a list");
        let median = |name: &str| {
            let metric = metrics.iter().find(|metric| metric["name"] == name);
            metric.and_then(|metric| metric["median"].as_f64()).expect("a number")
        };
        let operation = cell["benchmark"].as_str().expect("a name").to_owned();
        (operation, median("instruction_lines"), median("data_lines"))
    });
    lines.collect()
}

/// Figure 3 and section 3.2 of "DenseFS": both modules are built and traced, and a guest says where
/// functions of its kernel lie.
#[test]
fn compaction_is_traced_before_and_after() {
    let Some(lab) = dense_lab("compaction_is_traced_before_and_after") else { return };
    let place = Place::new();
    let reproduced = |arguments: &str| {
        let mut command = place.fsprism(&format!("reproduce densefs/{arguments} --format json"));
        command.env("FSPRISM_LAB", lab.lab.directory());
        place.finish(command).assert_code(0).document()
    };
    let found = reproduced("figure-3 --blocks 2 --out run");
    let sides = found["figure_3"].as_array().expect("a list");
    let lines = |side: usize, name: &str| sides[side][name]["median"].as_f64().expect("a number");
    assert_eq!((&sides[0]["layout"], &sides[1]["layout"]), (&"plain".into(), &"ordered".into()));
    assert!(lines(1, "instruction_lines") < 70.0 && lines(1, "data_lines") < 55.0, "{found}");
    assert!(lines(1, "instruction_lines") < lines(0, "instruction_lines"), "{found}");
    let outcomes: Vec<&Value> =
        found["statements"].as_array().expect("a list").iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["holds", "unknown", "holds", "holds"], "{found}");
    assert_eq!(reproduced("figure-3 --run run")["figure_3"], found["figure_3"]);
    // What is used without a layout is still the one that was asked for.
    let last = densefs::find(&lab.lab, &lab.kernel).expect("it was built");
    assert_eq!(last.layout, Layout::default());
    let found = reproduced("section-3.2");
    let functions = found["functions"].as_array().expect("a list");
    assert_eq!(functions.len(), 4, "{found}");
    for function in functions {
        let bytes = function["bytes"].as_u64().expect("a number");
        let published = function["published_bytes"].as_u64().expect("a number");
        assert!((published / 2..published * 2).contains(&bytes), "{function}");
    }
}

/// `crates/densefs-kernel/counts/lines.txt` has what each call took when it was last measured. It
/// must not take more, apart from what another compiler and another kernel do differently.
#[test]
fn calls_touch_as_few_lines_as_they_did() {
    const MORE: f64 = 1.1;
    let Some(lab) = dense_lab("calls_touch_as_few_lines_as_they_did") else { return };
    let counts = line_counts().filter(|one| one.layout == Layout::default().name());
    let counts: Vec<LineCount> = counts.collect();
    let operations: Vec<&str> = counts.iter().map(|one| one.call).collect();
    let place = Place::new();
    let arguments =
        format!("run footprint densefs --beside --op {} --format json --out", operations.join(","));
    let run = |name: &str| {
        let mut command = place.fsprism(&format!("{arguments} {name}"));
        command.env("FSPRISM_LAB", lab.lab.directory());
        place.finish(command).assert_code(0).document()
    };
    let document = run("one");
    assert_eq!(document["cells"], run("two")["cells"], "two boots count the same");
    let measured = lines_in(&document);
    assert_eq!(measured.len(), counts.len());
    for ((operation, instructions, data), one) in measured.iter().zip(&counts) {
        assert_eq!(operation, one.call);
        let is_more = |found: &f64, counted: f64| *found > counted * MORE;
        let is_as_few =
            !is_more(instructions, one.instruction_lines) && !is_more(data, one.data_lines);
        assert!(is_as_few, "{one:?}: {instructions} {data}");
    }
    let (_, instructions, data) =
        measured.iter().find(|row| row.0 == "create").expect("it is there");
    // "DenseFS" (section 3.2) is below 70 and 55, its way into the kernel and out included.
    assert!(*instructions < 70.0 && *data < 55.0, "create: {instructions} {data}");
}
