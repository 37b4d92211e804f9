//! Targets that cannot be measured here, which is reported before anything is made.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::fs::statvfs;

use crate::place::{Place, names_in, say_skipped};
use crate::process::Outcome;

/// Mounts that are only visible to a holder process and to what is started in its namespace.
pub(crate) struct PrivateMounts {
    holder: Child,
}

impl PrivateMounts {
    /// Runs a shell script in a new mount namespace, and keeps the namespace.
    pub(crate) fn new(script: &str) -> Self {
        let script = format!("set -e; {script}; echo ready; read _");
        let mut holder = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("util-linux is installed");
        let mut ready = [0; 6];
        let stdout = holder.stdout.as_mut().expect("piped");
        std::io::Read::read_exact(stdout, &mut ready).expect("the script succeeds");
        Self { holder }
    }

    /// The command, to be run in the namespace under the same process id.
    pub(crate) fn command(&self, place: &Place, arguments: &str) -> Command {
        let mut command = self.enter();
        command.args(["sh", "-c", "cd \"$0\" && exec \"$@\""]).arg(place.path(""));
        command.arg(env!("CARGO_BIN_EXE_fsprism"));
        let mut command = place.here(command, arguments);
        let measures = ["run", "survey", "cliff"].iter().any(|one| arguments.starts_with(one));
        if measures && !arguments.contains("--scratch") {
            command.arg("--scratch").arg(place.path("scratch"));
        }
        command
    }

    pub(crate) fn run(&self, place: &Place, arguments: &str) -> Outcome {
        place.finish(self.command(place, arguments))
    }

    /// Runs a shell script in the namespace, which must succeed.
    pub(crate) fn do_there(&self, script: &str) {
        let status = self.enter().args(["sh", "-c", script]).status();
        assert!(status.expect("util-linux is installed").success(), "{script}");
    }

    /// The output of a shell script in the namespace.
    pub(crate) fn output_there(&self, script: &str) -> std::process::Output {
        self.enter().args(["sh", "-c", script]).output().expect("util-linux is installed")
    }

    fn enter(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--mount=/proc/{}/ns/mnt", self.holder.id()));
        command
    }

    /// A path in the namespace, as seen from outside.
    pub(crate) fn path(&self, place: &Place, name: &str) -> PathBuf {
        let root = format!("/proc/{}/root", self.holder.id());
        PathBuf::from(format!("{root}{}", place.text(name)))
    }

    /// Free inodes of the file system there. An image that has not been freed takes one.
    pub(crate) fn free_inodes(&self, place: &Place, name: &str) -> u64 {
        statvfs(self.path(place, name)).expect("it is mounted").f_ffree
    }
}

impl Drop for PrivateMounts {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ended = self.holder.wait();
    }
}

#[test]
fn paths_that_cannot_be_measured_are_refused() {
    let Some(place) = Place::as_root("paths_that_cannot_be_measured_are_refused") else { return };
    fs::write(place.path("file"), "x").expect("the place is ours");
    place.make("read-only");
    place.make("tiny");
    let (read_only, tiny) = (place.text("read-only"), place.text("tiny"));
    let mounts = PrivateMounts::new(&format!(
        "mount --bind {read_only} {read_only}; mount -o remount,bind,ro {read_only}; \
         mount -t tmpfs -o size=16m none {tiny}"
    ));
    for (arguments, words) in [
        ("./missing", &["missing does not exist", "another directory"][..]),
        ("./file", &["file is not a directory"]),
        ("./read-only", &["cannot be written", "Read-only file system", "a directory that can be"]),
        ("./tiny", &["bytes free", "a directory with more"]),
        ("ext4 --scratch ./missing", &["--scratch"]),
        ("ext4 --scratch ./file", &["--scratch"]),
        ("ext4 --scratch ./read-only", &["--scratch"]),
    ] {
        mounts.run(&place, &format!("survey {arguments}")).assert_refused(words);
    }
    assert_eq!(names_in(&place.path("")), ["file", "read-only", "scratch", "tiny"]);
    assert!(names_in(&mounts.path(&place, "tiny")).is_empty());
}

/// As in a container that was given only loop-control. The advice must help.
#[test]
fn a_loop_device_without_a_file_is_said_and_can_be_made() {
    let name = "a_loop_device_without_a_file_is_said_and_can_be_made";
    let Some(place) = Place::as_root(name) else { return };
    let mounts = PrivateMounts::new(
        "mount -t tmpfs none /dev; mkdir /dev/shm; mknod /dev/null c 1 3; \
         mknod /dev/urandom c 1 9; mknod /dev/loop-control c 10 237",
    );
    let run = |number: u32| {
        mounts.run(
            &place,
            &format!(
                "run survey/metadata ext4:size=512m --benchmark stat-100 --blocks 1 --out {number}"
            ),
        )
    };
    let mut last = run(0);
    last.assert_code(1).assert_says(&["there is no /dev/loop", "mknod", "a directory"]);
    // Other processes may take the device in the meantime, so that the next one is needed.
    for number in 1..=16 {
        let Some((_, advice)) = last.stderr.split_once("make it with `") else { break };
        let command = advice.split('`').next().expect("it is quoted").to_owned();
        mounts.do_there(&command);
        last = run(number);
    }
    last.assert_code(0);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let Some(place) = Place::as_root("sizes_that_do_not_fit_are_refused") else { return };
    for (arguments, words) in [
        ("ext4:size=0", &["`size=`", "above 0"][..]),
        ("ext4:size=999t", &["size=", "--scratch"]),
        ("tmpfs:size=999t", &["memory", "smaller size="]),
        ("xfs:size=16m", &["xfs needs at least", "larger size="]),
        ("tmpfs:size=96m --size 100g", &["smaller --size", "larger size="]),
        ("ext4:size=128m --size 900g", &["smaller --size", "larger size="]),
        ("tmpfs:size=128m --size 1000", &["larger --size"]),
        ("tmpfs:size=8m", &["larger size="]),
    ] {
        place.run(&format!("survey {arguments}")).assert_refused(words);
    }
    assert_eq!(names_in(&place.path("")), ["scratch"]);
}

#[test]
fn a_scratch_directory_without_room_is_refused() {
    let Some(place) = Place::as_root("a_scratch_directory_without_room_is_refused") else { return };
    let scratch = place.text("scratch");
    let mounts = PrivateMounts::new(&format!("mount -t tmpfs -o size=16m none {scratch}"));
    let words = ["does not fit", "smaller size=", "--scratch"];
    mounts.run(&place, "survey ext4:size=128m").assert_refused(&words);
    // A smaller size is not useful advice if none was given: one that fits is too small to be made.
    let nameless = mounts.run(&place, "survey ext4");
    nameless.assert_refused(&["does not fit", "67108864 bytes", "--scratch"]);
    assert!(!nameless.stderr.contains("size="), "{}", nameless.stderr);
    mounts.run(&place, "survey ext4:size=8m").assert_refused(&["needs at least 64 MiB"]);
    assert!(names_in(&mounts.path(&place, "scratch")).is_empty());
}

/// Two images that fit individually, but not together.
#[test]
fn images_that_do_not_fit_beside_each_other_are_refused() {
    let name = "images_that_do_not_fit_beside_each_other_are_refused";
    let Some(place) = Place::as_root(name) else { return };
    let scratch = place.text("scratch");
    let mounts = PrivateMounts::new(&format!("mount -t tmpfs -o size=160m none {scratch}"));
    let free = mounts.free_inodes(&place, "scratch");
    let outcome = mounts.run(&place, "survey a=ext4:size=100m b=ext4:size=100m");
    outcome.assert_refused(&["smaller size=", "--scratch"]);
    assert_eq!(mounts.free_inodes(&place, "scratch"), free, "the first image is freed");
}

#[test]
fn what_the_kernel_or_the_tools_lack_is_refused() {
    let name = "what_the_kernel_or_the_tools_lack_is_refused";
    let Some(place) = Place::as_root(name) else { return };
    let known = fs::read_to_string("/proc/filesystems").expect("/proc is mounted");
    if known.contains("\tf2fs") {
        say_skipped(name, "its part on f2fs needs a kernel without f2fs");
    } else {
        place.run("survey f2fs").assert_refused(&["kernel has no f2fs", "linux-image"]);
    }
    for file_system in ["minix", "hfs"] {
        if known.contains(&format!("\t{file_system}\n")) {
            say_skipped(name, &format!("its part on {file_system} needs a kernel without it"));
            continue;
        }
        let words = format!("kernel has no {file_system}");
        place.run(&format!("survey {file_system}")).assert_refused(&[&words, "linux-image"]);
    }
    let mounts = PrivateMounts::new("mount --bind /dev/null \"$(command -v mkfs.xfs)\"");
    let words = ["mkfs.xfs is not installed", "apt install xfsprogs"];
    mounts.run(&place, "survey xfs").assert_refused(&words);
    mounts.run(&place, "survey tmpfs xfs").assert_refused(&words);
}

#[test]
fn defaults_that_are_not_there_are_skipped_with_the_package_that_adds_them() {
    let name = "defaults_that_are_not_there_are_skipped";
    let Some(place) = Place::as_root(name) else { return };
    let mounts = PrivateMounts::new(&format!(
        "mount --bind /dev/null \"$(command -v mkfs.xfs)\"; \
         mount --bind /dev/null \"$(command -v mkfs.btrfs)\"; \
         mount -t tmpfs -o size=1g none {}",
        place.text("scratch")
    ));
    let free = mounts.free_inodes(&place, "scratch");
    let arguments = "survey --blocks 1 --budget 1s --size 1m --format json --out run";
    let outcome = mounts.run(&place, arguments);
    let document = outcome.assert_code(0).document();
    let labels: Vec<_> = document["targets"].as_array().expect("a list").iter().collect();
    assert_eq!(labels.iter().map(|target| &target["label"]).collect::<Vec<_>>(), ["tmpfs", "ext4"]);
    let skipped = document["skipped"].as_array().expect("a list");
    for (target, package) in [("xfs", "xfsprogs"), ("btrfs", "btrfs-progs")] {
        let one = skipped.iter().find(|one| one["target"] == target).expect("it is skipped");
        assert!(one["why"].as_str().expect("a sentence").contains(package), "{one}");
    }
    assert_eq!(mounts.free_inodes(&place, "scratch"), free);
}

/// The messages once suggested `hfs` or `xfs` instead, or said that it was not a directory.
#[test]
fn what_is_no_scratch_file_system_is_told_why_and_what_to_do() {
    let place = Place::new();
    for (target, words) in [
        ("zfs", ["does not make zfs", "zpool", "mount one and give a directory"]),
        ("nfs:size=1g", ["does not make nfs", "a server", "mount one and give a directory"]),
        ("mine=bcachefs", ["does not make bcachefs", "Linux 6.7", "mount one"]),
        ("ntfs", ["does not make ntfs", "no mkfs", "mount one"]),
        ("overlayfs", ["does not make overlayfs", "directories of other", "mount one"]),
        ("fat32", ["does not make fat32", "as vfat", "give vfat"]),
        ("squashfs", ["does not make squashfs", "read-only", "can be written"]),
    ] {
        let outcome = place.run(&format!("survey {target}"));
        outcome.assert_refused(&words);
        assert!(!outcome.stderr.contains("did you mean"), "{outcome:?}");
    }
}

#[test]
fn a_device_as_a_target_is_told_how_to_name_it() {
    let name = "a_device_as_a_target_is_told_how_to_name_it";
    let is_block = |entry: &fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| std::os::unix::fs::FileTypeExt::is_block_device(&kind))
    };
    let devices = fs::read_dir("/dev").expect("it is there").flatten();
    let Some(device) = devices.filter(is_block).map(|entry| entry.path()).next() else {
        return say_skipped(name, "there are no block devices");
    };
    let (place, device) = (Place::new(), device.to_str().expect("plain text"));
    let [option, consent] =
        ["ext4:device=", "--destroy-data "].map(|what| format!("{what}{device}"));
    let words = ["is a block device", &option, &consent, "where it is mounted"];
    place.run(&format!("survey {device}")).assert_refused(&words);
}

#[test]
fn labels_are_unique() {
    let Some(place) = Place::as_root("labels_are_unique") else { return };
    let words = ["labelled `a`", "other="];
    place.run("survey a=tmpfs a=ext4").assert_refused(&words);
    place.run("survey tmpfs tmpfs").assert_refused(&["labelled `tmpfs`", "other=tmpfs"]);
}

#[test]
fn options_that_mkfs_or_the_kernel_refuses_are_named() {
    let name = "options_that_mkfs_or_the_kernel_refuses_are_named";
    let Some(place) = Place::as_root(name) else { return };
    let mut command = place.measure("survey");
    command.arg("ext4:size=128m,mkfs=-O nonesuch");
    let outcome = place.finish(command);
    outcome.assert_says(&["nonesuch", "mkfs="]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    let outcome = place.run("survey tmpfs ext4:size=128m,mount=nonesuch");
    outcome.assert_refused(&["nonesuch", "mount="]);
}

#[test]
fn what_chooses_or_orders_benchmarks_wants_some() {
    let place = Place::new();
    for (arguments, words) in [
        ("survey . --benchmark renam-100", ["did you mean `rename-100`?", "--list --format json"]),
        ("survey . --benchmark rename-100,nothing*", ["no benchmark 'nothing*'", "* stands for"]),
        ("survey . --order sideways", ["--order", "declared"]),
        ("run footprint tmpfs --benchmark sta", ["--op", "did you mean `stat`?"]),
        ("run survey tmpfs --beside", ["'--beside'", "--beside is an option of footprint"]),
        ("run footprint tmpfs --order declared", ["'--order'", "is an option of survey"]),
    ] {
        place.run(arguments).assert_refused(&words);
    }
}
