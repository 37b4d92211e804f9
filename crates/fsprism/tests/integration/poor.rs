//! Poor conditions: what they make impossible is left out and reported, and the rest is measured.

use std::fs;
use std::os::unix::fs::chown;
use std::process::Command;

use serde_json::Value;

use crate::place::{Place, say_skipped};
use crate::refusals::PrivateMounts;

const NOBODY: u32 = 65534;

/// Starts a program under a seccomp filter that answers one system call, or one ioctl, with an
/// error. In Python, because loading a filter through the C library needs no compiler.
const FILTER: &str = r#"
import ctypes, os, struct, sys
system_call, second_argument, errno = (int(word, 0) for word in sys.argv[1:4])
step = lambda code, yes, no, value: struct.pack("HBBI", code, yes, no, value)
load = lambda offset: step(0x20, 0, 0, offset)
is_equal = lambda value, no: step(0x15, 0, no, value)
give = lambda value: step(0x06, 0, 0, value)
any_argument = second_argument == 0
look = [] if any_argument else [load(24), is_equal(second_argument, 1)]
steps = [load(0), is_equal(system_call, len(look) + 1)] + look
steps += [give(0x00050000 | errno), give(0x7fff0000)]
program = ctypes.create_string_buffer(b"".join(steps))
header = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(program))
header = ctypes.create_string_buffer(header)
c = ctypes.CDLL(None)
assert c.prctl(38, 1, 0, 0, 0) == 0 and c.prctl(22, 2, ctypes.byref(header), 0, 0) == 0
os.execv(sys.argv[4], sys.argv[4:])
"#;

/// The program under such a filter. Without a Python for that, says that the test is skipped and
/// returns `None`.
pub(crate) fn under(test: &str, filter: &str) -> Option<Command> {
    let there_is = Command::new("python3").arg("--version").output().is_ok();
    if !there_is || !cfg!(target_arch = "x86_64") {
        say_skipped(test, "it needs python3, and the numbers of x86-64's system calls");
        return None;
    }
    let mut command = Command::new("python3");
    command.args(["-S", "-E", "-c", FILTER]).args(filter.split_whitespace());
    command.arg(env!("CARGO_BIN_EXE_fsprism"));
    Some(command)
}

/// The document of a run of random reads and writes from `nano/io` on ext4, under such a filter.
/// Without root, or a Python for the filter, says that the test is skipped and returns `None`.
fn io_under(test: &str, filter: &str) -> Option<Value> {
    let place = Place::as_root(test)?;
    let command = under(test, filter)?;
    let arguments = "run nano/io ext4=ext4:size=128m --blocks 1 --size 1m --format json --out run \
                     --benchmark random-*-by-depth-4,random-*-by-request-4096";
    let mut command = place.here(command, arguments);
    command.arg("--scratch").arg(place.path("scratch"));
    Some(place.finish(command).assert_code(0).document())
}

/// Whether something with this name was left out for this reason.
fn is_left_out(document: &Value, what: &str, why: &str) -> bool {
    document["skipped"].as_array().expect("a list").iter().any(|skipped| {
        let text = |field: &str| skipped[field].as_str().expect("text").to_owned();
        text("target").contains(what) && text("why").contains(why)
    })
}

#[track_caller]
fn assert_left_out(document: &Value, what: &str, why: &str) {
    assert!(is_left_out(document, what, why), "{what}, {why}: {}", document["skipped"]);
}

/// The benchmarks that were measured. Checks that none failed.
#[track_caller]
fn measured(document: &Value) -> Vec<&str> {
    let cells = document["cells"].as_array().expect("a list");
    assert!(cells.iter().all(|cell| cell["failed"].is_null()), "{cells:?}");
    cells.iter().map(|cell| cell["benchmark"].as_str().expect("text")).collect()
}

#[test]
fn without_io_uring_nothing_is_in_flight() {
    // io_uring_setup is 425, EPERM 1.
    let document = io_under("without_io_uring_nothing_is_in_flight", "425 0 1");
    let Some(document) = document else { return };
    let names = measured(&document);
    assert!(names.iter().all(|name| !name.contains("by-depth")), "{names:?}");
    assert!(names.iter().any(|name| name.contains("random-write-device-by-request")));
    assert_left_out(&document, "ext4: reads and writes in flight", "seccomp filter denies");
}

#[test]
fn without_extents_nothing_is_read_or_written_below() {
    // ioctl is 16, FS_IOC_FIEMAP 0xc020660b, EOPNOTSUPP 95.
    let name = "without_extents_nothing_is_read_or_written_below";
    let Some(document) = io_under(name, "16 0xc020660b 95") else { return };
    let names = measured(&document);
    assert!(names.iter().all(|name| !name.contains("device")), "{names:?}");
    assert!(names.iter().any(|name| name.contains("random-write-direct-by-request")));
    assert_left_out(&document, "ext4: reads on the device", "FIEMAP");
    assert_left_out(&document, "ext4: writes on the device", "FIEMAP");
}

/// As in a container with `CAP_SYS_ADMIN` whose security profile denies mounts. Once, directories
/// could not be measured there either.
#[test]
fn where_mounts_are_denied_directories_are_left() {
    let name = "where_mounts_are_denied_directories_are_left";
    let Some(place) = Place::as_root(name) else { return };
    // mount is 165, EPERM 1.
    let Some(mut refused) = under(name, "165 0 1") else { return };
    refused.args(["survey", "tmpfs"]).current_dir(place.path(""));
    place.finish(refused).assert_refused(&["may not mount", "--privileged", "give a directory"]);
    let Some(mut measured) = under(name, "165 0 1") else { return };
    measured.args("survey . --blocks 1 --budget 1s --size 1m --out run".split(' '));
    measured.current_dir(place.path(""));
    place.finish(measured).assert_code(0);
}

#[test]
fn one_processor_has_no_room_for_two() {
    let name = "one_processor_has_no_room_for_two";
    let Some(place) = Place::as_root(name) else { return };
    let mut command = Command::new("taskset");
    command.args(["-c", "0", env!("CARGO_BIN_EXE_fsprism")]);
    let arguments =
        "run nano/scaling ext4=ext4:size=128m --blocks 1 --size 1m --format json --out run";
    let mut command = place.here(command, arguments);
    command.arg("--scratch").arg(place.path("scratch"));
    let document = place.finish(command).assert_code(0).document();
    for cell in document["cells"].as_array().expect("a list") {
        assert_eq!(cell["parameters"]["threads"], 1, "{cell}");
    }
    assert_left_out(&document, "ext4: several threads or processes", "one processor");
}

#[test]
fn what_may_not_be_locked_is_not_in_flight() {
    let name = "what_may_not_be_locked_is_not_in_flight";
    let Some(place) = Place::as_root(name) else { return };
    let program = place.install(env!("CARGO_BIN_EXE_fsprism").as_ref(), "program");
    let theirs = place.make("theirs");
    chown(&theirs, Some(NOBODY), Some(NOBODY)).expect("root");
    let nobody = NOBODY.to_string();
    let mut command = Command::new("prlimit");
    command.args(["--memlock=2097152:2097152", "setpriv", "--clear-groups"]);
    command.args(["--reuid", &nobody, "--regid", &nobody, "--inh-caps=-all"]).arg(&program);
    let arguments = "run nano/io . --blocks 1 --size 1m --format json --out run \
                     --benchmark *-by-depth-64,random-*-by-request-4096";
    let mut command = place.here(command, arguments);
    command.current_dir(&theirs);
    let document = place.finish(command).assert_code(0).document();
    let names = measured(&document);
    assert!(names.contains(&"random-read-direct-by-depth-64"), "{names:?}");
    assert!(!names.contains(&"sequential-read-direct-by-depth-64"), "{names:?}");
    assert_left_out(&document, "64 requests of 131072 bytes in flight", "ulimit -l");
    assert_left_out(&document, "reads on the device", "run as root");
    assert_left_out(&document, "writes on the device", "fsprism did not make");
}

#[test]
fn limits_without_control_groups_are_refused() {
    let name = "limits_without_control_groups_are_refused";
    let Some(place) = Place::as_root(name) else { return };
    let mounts = PrivateMounts::new("mount -t tmpfs none /sys/fs/cgroup");
    for target in ["ext4:size=128m,memory=64m", ".:memory=64m"] {
        let outcome = mounts.run(&place, &format!("survey {target}"));
        outcome.assert_refused(&["memory= cannot be set", "/sys/fs/cgroup", "leave memory= out"]);
    }
    mounts.run(&place, "survey ext4:size=128m,read_bps=1m").assert_refused(&["read_bps="]);
    // A search without a target falls back to another one, and says so.
    let arguments = "cliff --budget 1s --low 64k --high 1m --probes 4 --out run";
    let outcome = mounts.run(&place, arguments);
    outcome.assert_code(0);
    assert!(outcome.stderr.contains("memory= cannot be set"), "{}", outcome.stderr);
    assert!(fs::exists(place.path("run")).expect("it is ours"));
}
