//! The test cases.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use file_system::{FileSystem, Mkfs};
use lab::command::Command as GuestCommand;
use lab::kernel::{self, Request};
use lab::{BootError, Kernel, Lab, LabError, Plugin};

use crate::test_lab::{TestLab, image_of};

/// The argument that makes this program boot a guest that hangs.
pub(crate) const HANG: &str = "hang";
/// Hands back kernel state that has nothing to do with file systems: interrupt counts, its own
/// processes.
const VARIED: &str = "cd /hand-back; cat /proc/interrupts > interrupts; cat /proc/uptime > uptime; \
     cat /proc/kallsyms > kallsyms; ls -l /proc/1/fd /bin > list; cat /proc/vmstat > vmstat; \
     head -c 100 /dev/urandom > random; mkdir below; echo 1 > below/one; : > empty\n";

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

pub(crate) fn two_boots_hand_back_the_same(place: &TestLab) {
    let (first, second) = (directory(), directory());
    let handed = place.boot(VARIED).run(first.path()).unwrap();
    let again = place.boot(VARIED).run(second.path()).unwrap();
    assert_eq!(handed.files, again.files);
    assert_eq!(handed.files.len(), 8);
    for file in &handed.files {
        let read = |directory: &Path| fs::read(directory.join(file)).unwrap();
        assert!(read(first.path()) == read(second.path()), "{} differs", file.display());
    }
    let symbols = fs::read_to_string(first.path().join("kallsyms")).unwrap();
    let mut named = symbols.lines().filter(|line| line.ends_with(" T ksys_read"));
    assert!(named.next().is_some_and(|line| line.starts_with("ffffffff8")));
    assert_eq!(fs::read(first.path().join("below/one")).unwrap(), b"1\n");
}

pub(crate) fn the_port_changes_nothing(place: &TestLab) {
    let run = || {
        let into = directory();
        let mut boot = place.boot(VARIED);
        boot.job.push(("/job/load".to_owned(), "base".into()));
        boot.run(into.path()).unwrap();
        let read = |name: &str| fs::read(into.path().join(name)).unwrap();
        (read("random"), read("uptime"), read("vmstat"))
    };
    assert!(run() == run());
}

pub(crate) fn file_systems_are_made_and_mounted(place: &TestLab) {
    let known = place.kernel.knows().unwrap();
    let mkfs = |name: &str| FileSystem::named(name).and_then(|known| known.row().mkfs.as_ref());
    let is_installed = |mkfs: &Mkfs| programs::find(mkfs.program).is_some();
    let can_make = |name: &&str| mkfs(name).is_some_and(is_installed);
    let names: Vec<&str> = known.iter().map(String::as_str).filter(can_make).collect();
    assert!(names.contains(&"ext4"));
    let one = |name: &&str| {
        let mkfs = mkfs(name).unwrap();
        let (program, options) = (mkfs.program, mkfs.options.join(" "));
        let behind = mkfs.behind_device.join(" ");
        format!(
            "{program} {options} /dev/ram0 {behind} >/hand-back/{name} 2>&1 && \
             mount -t {name} /dev/ram0 /mnt && echo kept >/mnt/file && umount /mnt && \
             mount -t {name} /dev/ram0 /mnt && cat /mnt/file >/hand-back/{name} && umount /mnt || \
             exit 1\n"
        )
    };
    let mut boot = place.boot(&names.iter().map(one).collect::<String>());
    boot.memory_bytes = 1 << 30;
    boot.arguments.push("brd.rd_size=393216".to_owned());
    let load = ["brd"].iter().chain(&names).copied().collect::<Vec<_>>().join("\n");
    boot.job.push(("/job/load".to_owned(), load.into()));
    let into = directory();
    let outcome = boot.run(into.path());
    for name in names {
        let content = fs::read_to_string(into.path().join(name)).unwrap_or_default();
        assert_eq!(content, "kept\n", "{name}: {outcome:?}");
    }
    outcome.unwrap();
}

pub(crate) fn a_guest_that_hangs_is_ended(place: &TestLab) {
    // Long enough to get to the loop, however busy this machine is.
    let began = Instant::now();
    place.boot("true").run(directory().path()).unwrap();
    let mut boot = place.boot("echo waiting >/dev/console; while :; do :; done");
    boot.time_limit = 3 * began.elapsed() + Duration::from_secs(5);
    match boot.run(directory().path()) {
        Err(BootError::Hung { console, .. }) => assert!(console.ends_with("waiting"), "{console}"),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn a_guest_that_panics_is_told(place: &TestLab) {
    let boot = place.boot("echo c >/proc/sysrq-trigger");
    match boot.run(directory().path()) {
        Err(BootError::Panicked { console }) => {
            assert!(console.contains("Kernel panic") && console.contains("sysrq"), "{console}");
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn a_guest_that_just_stops_is_told(place: &TestLab) {
    let boot = place.boot("echo stopping >/dev/console; poweroff -f");
    match boot.run(directory().path()) {
        Err(BootError::Cut { files: 0, console }) => assert!(console.contains("stopping")),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn a_job_that_fails_is_told(place: &TestLab) {
    let into = directory();
    match place.boot("echo kept >/hand-back/kept; exit 3").run(into.path()) {
        Err(BootError::Failed(why)) => assert!(why.contains("exit status: 3"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read(into.path().join("kept")).unwrap(), b"kept\n");
    let mut boot = place.boot("");
    boot.job.push(("/job/load".to_owned(), "reiserfs".into()));
    match boot.run(into.path()) {
        Err(BootError::Failed(why)) => assert!(why.contains("has no reiserfs"), "{why}"),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn a_command_ends_as_it_does(place: &TestLab) {
    let words = ["echo $((6 * 7)); cat /proc/mounts >&2; exit 7".to_owned()];
    let ran = GuestCommand::from_words(&words).run(place.boot("")).unwrap();
    let output = String::from_utf8(ran.output).unwrap();
    assert!(output.starts_with("42\n") && output.contains("devtmpfs /dev"), "{output}");
    assert_eq!(ran.status, 7);
}

pub(crate) fn a_plugin_that_is_none_is_refused(place: &TestLab) {
    let into = directory();
    let library = into.path().join("none.so");
    fs::write(&library, "no library").unwrap();
    let mut boot = place.boot("");
    let plugin = Plugin { library, trace: into.path().join("trace"), options: Vec::new() };
    boot.plugin = Some(plugin.clone());
    match boot.run(into.path()) {
        Err(BootError::PluginRefused(why)) => assert!(why.contains("none.so"), "{why}"),
        other => panic!("{other:?}"),
    }
    boot.plugin = Some(Plugin { library: into.path().join("a,b"), ..plugin });
    assert!(matches!(boot.run(into.path()), Err(BootError::Comma(_))));
}

pub(crate) fn the_wish_to_stop_is_heard(place: &TestLab) {
    let mut boot = place.boot("while :; do :; done");
    boot.stop = Some(Arc::new(AtomicBool::new(true)));
    assert!(matches!(boot.run(directory().path()), Err(BootError::Stopped)));
}

pub(crate) fn the_same_parts_give_the_same_image(place: &TestLab) {
    let read = || {
        let elsewhere = directory();
        let lab = Lab::at(elsewhere.path().join("lab"));
        // A busybox that had to be fetched is not fetched again.
        let fetched = place.lab.directory().join("busybox");
        if fetched.is_dir() {
            fs::create_dir_all(lab.directory().join("busybox")).unwrap();
            let to = lab.directory().join("busybox/busybox");
            fs::copy(fetched.join("busybox"), to).unwrap();
        }
        let image = image_of(&lab, &place.kernel).unwrap();
        let bytes = fs::read(&image.file).unwrap();
        (image.file.file_name().unwrap().to_owned(), bytes)
    };
    let (first, second) = (read(), read());
    assert!(first == second);
    assert!(first.1.starts_with(b"070701"));
}

pub(crate) fn a_kernel_that_is_none_is_refused(place: &TestLab) {
    let release = "0.0.1-none".to_owned();
    let error = kernel::plan(&place.lab, &Request::Release(release.clone())).unwrap_err();
    assert!(matches!(error, LabError::NoPackage { .. }), "{error}");
    let error = kernel::find(&place.lab, Some(&release)).unwrap_err();
    assert!(matches!(error, LabError::NotBuilt { .. }), "{error}");
    let elsewhere = directory();
    fs::write(elsewhere.path().join("kernel"), "no kernel").unwrap();
    let mut boot = place.boot("");
    boot.kernel = Kernel { directory: elsewhere.path().to_owned(), ..boot.kernel };
    let error = boot.run(elsewhere.path()).unwrap_err();
    assert!(matches!(error, BootError::Qemu(_)), "{error}");
}

/// A package with the files of a kernel from the lab.
fn packaged(kernel: &Kernel, directory: &Path, words: &str) -> PathBuf {
    let root = directory.join("root");
    let modules = root.join("lib/modules").join(&kernel.release).join("kernel");
    for path in [&modules, &root.join("boot"), &root.join("DEBIAN")] {
        fs::create_dir_all(path).unwrap();
    }
    let control = "Package: linux-image-mine\nVersion: 1\nArchitecture: amd64\nMaintainer: me\n\
                   Description: a kernel\n";
    fs::write(root.join("DEBIAN/control"), control).unwrap();
    let boot = |name: &str| root.join("boot").join(format!("{name}-{}", kernel.release));
    fs::copy(kernel.file(), boot("vmlinuz")).unwrap();
    let configuration = fs::read_to_string(kernel.configuration_file()).unwrap();
    fs::write(boot("config"), configuration + words).unwrap();
    for module in fs::read_dir(kernel.modules_directory()).unwrap() {
        let module = module.unwrap();
        fs::copy(module.path(), modules.join(module.file_name())).unwrap();
    }
    let file = directory.join("mine.deb");
    let mut build = Command::new("dpkg-deb");
    build.env("SOURCE_DATE_EPOCH", "0").args(["--root-owner-group", "-Znone", "-b"]);
    build.arg(&root).arg(&file);
    assert!(build.stdout(Stdio::null()).status().unwrap().success());
    file
}

pub(crate) fn a_kernel_in_a_package_is_booted(place: &TestLab) {
    let elsewhere = directory();
    let lab = Lab::at(elsewhere.path().join("lab"));
    let plan_of = |words: &str| {
        let file = packaged(&place.kernel, elsewhere.path(), words);
        kernel::plan(&lab, &Request::Files(vec![file])).unwrap()
    };
    let plan = plan_of("");
    assert!(plan.sentence().is_some_and(|sentence| sentence.contains("mine.deb")));
    let kernel = kernel::build(&lab, &plan, &|_| ()).unwrap();
    assert_eq!(kernel.release, place.kernel.release);
    assert_eq!(plan_of("").sentence(), None, "it is there");
    // The shared lab's image has the same modules, and contains this program.
    let mut boot = place.boot("uname -r >/hand-back/release");
    boot.kernel = kernel.clone();
    boot.run(elsewhere.path()).unwrap();
    let release = fs::read_to_string(elsewhere.path().join("release")).unwrap();
    assert_eq!(release.trim(), kernel.release);
    // Rebuilt under the same release, it is a different kernel, and the one to use.
    let again = kernel::build(&lab, &plan_of("# again\n"), &|_| ()).unwrap();
    assert_ne!(again.directory, kernel.directory);
    assert_eq!(kernel::find(&lab, Some(&kernel.release)).unwrap(), again);
    let none = elsewhere.path().join("none.deb");
    fs::write(&none, "no package at all\n").unwrap();
    let plan = kernel::plan(&lab, &Request::Files(vec![none])).unwrap();
    let error = kernel::build(&lab, &plan, &|_| ()).unwrap_err().to_string();
    assert!(error.contains("not a Debian format archive"), "{error}");
}

/// Boots a guest that writes a line once it runs, and then runs forever.
pub(crate) fn hang() -> ! {
    let place = TestLab::find().unwrap();
    let mut boot = place.boot("echo running >/dev/console; while :; do :; done");
    boot.console = std::env::args().nth(2).map(Into::into);
    panic!("{:?}", boot.run(directory().path()))
}

pub(crate) fn nobody_outlives_fsprism(_: &TestLab) {
    let into = directory();
    let fifo = into.path().join("console");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.arg(HANG).arg(&fifo).process_group(0).stderr(Stdio::null());
    let mut program = program.spawn().unwrap();
    // QEMU and the process that started it both hold the pipe open, so it ends when both are gone.
    let mut reader = std::io::BufReader::new(fs::File::open(&fifo).unwrap());
    let mut line = String::new();
    while !line.contains("running") {
        assert!(std::io::BufRead::read_line(&mut reader, &mut line).unwrap() > 0, "{line}");
    }
    program.kill().unwrap();
    program.wait().unwrap();
    std::io::copy(&mut reader, &mut std::io::sink()).unwrap();
    std::io::stdout().flush().unwrap();
}
