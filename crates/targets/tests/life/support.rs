//! A place for each case, and a check of what a process has left on the machine.

use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use targets::{Surroundings, Target, TargetError, TargetSpec, Workshop, availability};

/// An empty directory on a real file system, removed with its user.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!("/var/tmp/life-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("/var/tmp can be written");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("the place is ours");
    }
}

/// The scratch directory of this case's process.
pub(crate) fn scratch() -> PathBuf {
    std::env::var_os("LIFE_PLACE").expect("cases are started with a place").into()
}

pub(crate) fn surroundings() -> Surroundings {
    Surroundings { scratch: scratch(), image_bytes: 512 << 20, ..Default::default() }
}

pub(crate) fn workshop() -> Workshop {
    Workshop::open(surroundings()).expect("root, one thread")
}

pub(crate) fn spec(text: &str) -> TargetSpec {
    text.parse().expect(text)
}

/// Makes a target, or prints why it cannot be made on this machine.
pub(crate) fn make_or_skip(workshop: &Workshop, text: &str) -> Option<Target> {
    if let Err(unavailable) = availability(&spec(text), &surroundings()) {
        eprintln!("skipped: {text}: {unavailable}");
        return None;
    }
    Some(workshop.make(&spec(text)).expect(text))
}

pub(crate) fn refusal(workshop: &Workshop, text: &str) -> TargetError {
    workshop.make(&spec(text)).expect_err(text)
}

/// Everything on this machine that carries the process's name or is in its place.
pub(crate) fn leftovers(pid: u32, place: &Path) -> Vec<String> {
    let name = format!("fsprism-{pid}-");
    let mut left = Vec::new();
    let mut look = |directory: &Path, prefix: &str| {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        left.extend(paths.filter(|path| {
            let name = path.file_name().expect("entries have names").to_string_lossy();
            name.trim_start_matches('.').starts_with(prefix)
        }));
    };
    look(place, "");
    look(Path::new("/run"), &name);
    cgroups(Path::new("/sys/fs/cgroup"), &mut |directory| look(directory, &name));
    let mut left: Vec<String> = left.iter().map(|path| path.display().to_string()).collect();
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("/proc is mounted");
    left.extend(mounts.lines().filter(|line| line.contains(&name)).map(str::to_owned));
    left.extend(loop_devices(place));
    left.extend(servers(place).iter().map(|server| format!("the server {server}")));
    left
}

/// The processes that delay the requests of devices whose image is, or was, in `place`.
pub(crate) fn servers(place: &Path) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let numbers = processes.filter_map(|one| one.file_name().to_str()?.parse().ok());
    let serves = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let image = fs::read_link(format!("/proc/{pid}/fd/1"));
        words.starts_with(b"fsprism-slow-device\0")
            && image.is_ok_and(|image| image.starts_with(place))
    };
    numbers.filter(serves).collect()
}

/// The loop devices whose image is, or was, in `place`.
pub(crate) fn loop_devices(place: &Path) -> Vec<String> {
    let devices = fs::read_dir("/sys/block").expect("/sys is mounted").flatten();
    let bound = devices.filter(|device| {
        let image = fs::read_to_string(device.path().join("loop/backing_file"));
        image.is_ok_and(|image| Path::new(&image).starts_with(place))
    });
    bound.map(|device| device.file_name().to_string_lossy().into_owned()).collect()
}

fn cgroups(directory: &Path, visit: &mut impl FnMut(&Path)) {
    visit(directory);
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            cgroups(&entry.path(), visit);
        }
    }
}

/// Waits until the process of `pidfd` is dead, whoever its parent is.
pub(crate) fn wait_for_end(pidfd: impl AsFd) {
    use rustix::event::{PollFd, PollFlags, poll};
    poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None).expect("a process can be waited for");
}

/// Runs a program that must succeed and returns its output.
pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect(program);
    assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("plain text").trim().to_owned()
}

/// A loop device that stands in for a user's disk, with a named image.
pub(crate) struct Disk {
    pub(crate) device: String,
    pub(crate) image: PathBuf,
}

impl Disk {
    pub(crate) fn new(name: &str, content: &[u8]) -> Self {
        let image = scratch().join(name);
        fs::write(&image, content).expect("the place can be written");
        fs::File::options().write(true).open(&image).expect("made").set_len(128 << 20).expect("ok");
        let device = run("losetup", &["-f", "--show", image.to_str().expect("plain")]);
        Self { device, image }
    }

    /// Its current content.
    pub(crate) fn content(&self) -> Vec<u8> {
        run("blockdev", &["--flushbufs", &self.device]);
        fs::read(&self.image).expect("it is ours")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        run("losetup", &["-d", &self.device]);
        fs::remove_file(&self.image).expect("it is ours");
    }
}
