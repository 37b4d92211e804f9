//! A directory for each test, and a check for what a process has left on the machine.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::process::Outcome;

/// An empty directory on a real file system, removed when dropped. Images are in its `scratch`.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("integration-").tempdir_in("/var/tmp");
        let place = Self { directory: directory.expect("/var/tmp can be written") };
        let for_everyone = fs::Permissions::from_mode(0o755);
        fs::set_permissions(place.directory.path(), for_everyone).expect("it is ours");
        place.make("scratch");
        place
    }

    /// A place for a test that makes file systems. If that is impossible, says that the test is
    /// skipped and returns `None`.
    pub(crate) fn as_root(test: &str) -> Option<Self> {
        if rustix::process::geteuid().is_root() {
            return Some(Self::new());
        }
        say_skipped(test, "it makes file systems and mounts them, which needs root");
        None
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("plain text").to_owned()
    }

    /// Copies a program into it that anybody may execute.
    ///
    /// Another process does the copying: if the file were open for writing in this process, a test
    /// that forks at that moment would inherit the descriptor and keep it open for a moment longer,
    /// and a file that is open for writing cannot be executed.
    pub(crate) fn install(&self, program: &Path, name: &str) -> PathBuf {
        let path = self.path(name);
        let copied = Command::new("install").arg("-m755").args([program, &path]).status();
        assert!(copied.expect("coreutils").success());
        path
    }

    /// Makes a directory in it.
    pub(crate) fn make(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir(&path).expect("the place is ours");
        path
    }

    /// The program with these whitespace-separated arguments, in this directory.
    pub(crate) fn fsprism(&self, arguments: &str) -> Command {
        self.here(Command::new(env!("CARGO_BIN_EXE_fsprism")), arguments)
    }

    /// Like [`Self::fsprism`], for commands that measure: with this place's scratch directory.
    pub(crate) fn measure(&self, arguments: &str) -> Command {
        let mut command = self.fsprism(arguments);
        command.arg("--scratch").arg(self.path("scratch"));
        command
    }

    /// Runs the command of [`Self::measure`].
    pub(crate) fn run(&self, arguments: &str) -> Outcome {
        self.finish(self.measure(arguments))
    }

    pub(crate) fn here(&self, mut command: Command, arguments: &str) -> Command {
        command.args(arguments.split_whitespace()).current_dir(self.directory.path());
        // Other tests run at the same time. Tests about what happens then override this.
        command.env("FSPRISM_ON_BUSY", "measure");
        command.env("COLUMNS", "100").env("TERM", "xterm").env_remove("NO_COLOR");
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command to its end, and checks that it left nothing behind.
    pub(crate) fn finish(&self, command: Command) -> Outcome {
        let (outcome, left) = self.finish_with_rest(command);
        assert!(left.is_empty(), "left behind: {left:?}");
        outcome
    }

    /// Runs a command to its end, and returns what it left behind as well.
    pub(crate) fn finish_with_rest(&self, mut command: Command) -> (Outcome, Vec<String>) {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child: Child = child.expect("it can be started");
        let pid = child.id();
        let output = child.wait_with_output().expect("it is ours");
        (Outcome::from_output(output), self.left_by(pid))
    }

    /// Runs a command while another one still has its own things here, without checking what is
    /// left.
    pub(crate) fn run_beside(&self, arguments: &str) -> Outcome {
        Outcome::from_output(self.measure(arguments).output().expect("it can be started"))
    }

    /// Checks that a process left nothing behind.
    #[track_caller]
    pub(crate) fn assert_nothing_left(&self, pid: u32) {
        let left = self.left_by(pid);
        assert!(left.is_empty(), "left behind: {left:?}");
    }

    /// Everything on this machine whose name refers to the process, or that is in the scratch
    /// directory.
    fn left_by(&self, pid: u32) -> Vec<String> {
        let name = format!("fsprism-{pid}-");
        let scratch = self.path("scratch");
        let mut left = names_in(&scratch);
        left.retain(|name| !name.starts_with("kept"));
        let mut look = |directory: &Path| {
            let names = names_in(directory).into_iter();
            let ours = names.filter(|found| found.trim_start_matches('.').starts_with(&name));
            left.extend(ours.map(|found| directory.join(found).display().to_string()));
        };
        look(Path::new("/run"));
        look(Path::new("/dev/shm"));
        visit(Path::new("/sys/fs/cgroup"), &mut look);
        visit(self.directory.path(), &mut look);
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("/proc is mounted");
        left.extend(mounts.lines().filter(|line| line.contains(&name)).map(str::to_owned));
        left.extend(loop_devices(&scratch));
        left
    }
}

/// Reports that a test, or part of one, was not run. Written directly, as the output of print
/// macros is hidden for tests that pass.
pub(crate) fn say_skipped(test: &str, why: &str) {
    writeln!(std::io::stderr(), "skipped: {test}: {why}").expect("standard error is open");
}

/// The sorted names in a directory; empty if it does not exist.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The loop devices whose image is, or was, in `place`.
fn loop_devices(place: &Path) -> Vec<String> {
    let mut devices = names_in(Path::new("/sys/block"));
    devices.retain(|device| {
        let image = fs::read_to_string(format!("/sys/block/{device}/loop/backing_file"));
        image.is_ok_and(|image| Path::new(&image).starts_with(place))
    });
    devices
}

fn visit(directory: &Path, look: &mut impl FnMut(&Path)) {
    look(directory);
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            visit(&entry.path(), look);
        }
    }
}
