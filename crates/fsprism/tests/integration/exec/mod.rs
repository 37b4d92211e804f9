//! `fsprism densefs exec`: programs as they are see an arena below a prefix, and nothing stays.

mod alone;
mod calls;
mod conformance;
mod endings;
mod in_c;
mod killed;
mod locks;
mod programs;
mod refused;
mod users;
mod watched;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::{Place, say_skipped};
use crate::process::Outcome;

/// Long enough for whatever a test waits for.
const LONG: Duration = Duration::from_secs(60);

/// A place with an arena and a prefix, which is not there yet.
struct Dense {
    place: Place,
    arena: PathBuf,
    prefix: PathBuf,
}

impl Dense {
    fn new(size: &str) -> Self {
        let place = Place::new();
        let make = format!("densefs mkfs arena --size {size}");
        place.finish(place.fsprism(&make)).assert_code(0);
        let (arena, prefix) = (place.path("arena"), place.path("dense"));
        Self { place, arena, prefix }
    }

    /// The same if commands get a mount here. If not, says so and returns `None`.
    fn mounted(test: &str) -> Option<Self> {
        Self::sized(test, "16m")
    }

    /// The same, with an arena of this size.
    fn sized(test: &str, size: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
            say_skipped(test, "it mounts, which needs root and /dev/fuse");
            return None;
        }
        Some(Self::new(size))
    }

    fn at(&self) -> String {
        format!("{}:{}", self.arena.display(), self.prefix.display())
    }

    /// A command in it, which is started in the place's directory. In its arguments, `%` stands for
    /// the prefix.
    fn command(&self, command: &[&str]) -> Command {
        self.watched("", command)
    }

    /// The same, with options that have it watched.
    fn watched(&self, options: &str, command: &[&str]) -> Command {
        let mut exec = self.place.fsprism(&format!("densefs exec {options} {} --", self.at()));
        let prefix = self.prefix.to_str().expect("plain text");
        exec.args(command.iter().map(|argument| argument.replace('%', prefix)));
        exec
    }

    /// Runs a command to its end.
    fn run(&self, command: &[&str]) -> Outcome {
        self.place.finish(self.command(command))
    }

    fn shell(&self, script: &str) -> Outcome {
        self.run(&["sh", "-c", script])
    }

    /// The living processes of a name that belong to commands of this arena.
    fn processes(&self, name: &str) -> Vec<Pid> {
        let arena = self.arena.to_str().expect("plain text");
        let is_ours = |directory: &Path| {
            let text = |file: &str| fs::read_to_string(directory.join(file)).unwrap_or_default();
            text("comm").trim_end() == name && text("cmdline").contains(arena)
        };
        let all = fs::read_dir("/proc").expect("it is mounted").flatten().map(|one| one.path());
        let ours = all.filter(|directory| is_ours(directory));
        ours.filter_map(|directory| {
            Pid::from_raw(directory.file_name().and_then(OsStr::to_str)?.parse().ok()?)
        })
        .collect()
    }

    fn kill(&self, name: &str) {
        let found = self.processes(name);
        assert!(!found.is_empty(), "there is no {name}");
        for pid in found {
            kill_process(pid, Signal::KILL).expect("it is ours");
        }
    }

    /// Waits until nothing is left: neither processes, nor the directory, nor users of the arena.
    #[track_caller]
    fn assert_gone(&self) {
        until("nothing is left", || {
            let processes = ["densefs-server", "densefs-remover", "fsprism"];
            !self.prefix.exists() && processes.iter().all(|name| self.processes(name).is_empty())
        });
        let mut check = self.place.fsprism("densefs check");
        check.arg(&self.arena);
        self.place.finish(check).assert_code(0);
    }
}

/// Waits for something that is to become true.
#[track_caller]
fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_true() {
        assert!(began.elapsed() < LONG, "a minute has passed before {what}");
        std::thread::yield_now();
    }
}

/// Prints the variables that a shell was started with, of which its library may hide some.
const PRINT_VARIABLES: &str = "tr '\\0' '\\n' </proc/$$/environ";

/// Those of them that are for the library, sorted.
fn variables(printed: &Outcome) -> Vec<String> {
    let names = ["FSPRISM_DENSEFS=", "FSPRISM_DENSEFS_DEVICE=", "LD_PRELOAD="];
    let is_one = |line: &&str| names.iter().any(|name| line.starts_with(name));
    let mut found: Vec<_> = printed.stdout.lines().filter(is_one).map(str::to_owned).collect();
    found.sort_by_key(|line| line.replace('=', " "));
    found
}

/// A program that loads no library, and prints the file that it is given.
fn static_program(place: &Place) -> Option<PathBuf> {
    let source = "#include <fcntl.h>\n#include <unistd.h>\n\
                  int main(int argc, char **argv) {\n char b[99];\n\
                  int f = open(argv[argc - 1], O_RDONLY);\n\
                  return f < 0 || write(1, b, read(f, b, 99)) < 0;\n}\n";
    fs::write(place.path("static.c"), source).expect("there is room");
    let program = place.path("static");
    let mut compiler = Command::new("cc");
    compiler.arg("-static").arg("-o").arg(&program).arg(place.path("static.c"));
    compiler.status().is_ok_and(|status| status.success()).then_some(program)
}

#[test]
fn a_command_sees_the_arena_and_nobody_else_does() {
    let name = "a_command_sees_the_arena_and_nobody_else_does";
    let Some(dense) = Dense::mounted(name) else { return };
    let seen = dense.shell("echo hi >%/x && cat %/x && test -d % && mkdir %/d && ls %");
    assert_eq!(seen.assert_code(0).stdout, "hi\nd\nx\n");
    assert_eq!(seen.stderr, "");
    dense.assert_gone();
    // What is in the arena stays there.
    assert_eq!(dense.shell("cat %/x; exit 7").assert_code(7).stdout, "hi\n");
    let text = |path: &Path| path.to_str().expect("plain text").to_owned();
    let exported = dense.place.path("copy");
    let export = format!("densefs export {} arena", text(&exported));
    dense.place.finish(dense.place.fsprism(&export)).assert_code(0);
    assert_eq!(fs::read_to_string(exported.join("x")).expect("it is there"), "hi\n");
    dense.assert_gone();
}

#[test]
fn a_program_that_loads_no_library_sees_it_by_the_mount() {
    let name = "a_program_that_loads_no_library_sees_it_by_the_mount";
    let Some(dense) = Dense::mounted(name) else { return };
    let Some(program) = static_program(&dense.place) else {
        return say_skipped(name, "there is no static C library");
    };
    let program = program.to_str().expect("plain text");
    dense.shell("echo by a shell >%/x").assert_code(0);
    assert_eq!(dense.run(&[program, "%/x"]).assert_code(0).stdout, "by a shell\n");
    // It is executed from there, too.
    let copied = dense.shell(&format!("cp {program} %/program && PATH=%:$PATH && program %/x"));
    assert_eq!(copied.assert_code(0).stdout, "by a shell\n");
    assert_eq!(dense.run(&["%/program", "%/x"]).assert_code(0).stdout, "by a shell\n");
    dense.assert_gone();
}

#[test]
fn without_the_mount_such_a_program_does_nothing_elsewhere() {
    let name = "without_the_mount_such_a_program_does_nothing_elsewhere";
    let Some(dense) = Dense::mounted(name) else { return };
    let Some(program) = static_program(&dense.place) else {
        return say_skipped(name, "there is no static C library");
    };
    // It is where the command was started, and the program's working directory is in the arena.
    fs::write(dense.place.path("file"), "elsewhere\n").expect("there is room");
    let program = program.display();
    let seen = dense.alone(&format!("echo here >file && cat file && exec {program} file"));
    assert_eq!((seen.code, &*seen.stdout), (Some(1), "here\n"));
    dense.assert_gone();
}

#[test]
fn the_command_is_this_process_and_gets_only_what_it_is_given() {
    let name = "the_command_is_this_process_and_gets_only_what_it_is_given";
    let Some(dense) = Dense::mounted(name) else { return };
    // What the library has open shows, and is told by its name.
    let open = "for file in /proc/$$/fd/*; do case $(readlink $file) in /memfd:densefs-*) ;; \
                *) echo ${file##*/};; esac; done; umask";
    let mut command = dense.command(&["bash", "-c", &format!("echo $$ $PPID; {open}; wait")]);
    let child = command.stdout(std::process::Stdio::piped()).spawn().expect("it can be started");
    let (pid, own) = (child.id(), std::process::id());
    let outcome = Outcome::from_output(child.wait_with_output().expect("it is ours"));
    let mut lines = outcome.assert_code(0).stdout.lines();
    assert_eq!(lines.next(), Some(&*format!("{pid} {own}")));
    let plain = Command::new("bash").args(["-c", open]).output();
    let plain = String::from_utf8(plain.expect("bash is installed").stdout).expect("plain text");
    assert_eq!(lines.collect::<Vec<_>>(), plain.lines().collect::<Vec<_>>());
    // The name that it was called by is the program's.
    let named = dense.run(&["sh", "-c", "cat /proc/$$/cmdline; echo \"$@\"", "first", "  a b"]);
    assert!(named.assert_code(0).stdout.starts_with("sh\0-c\0"), "{named:?}");
    assert!(named.stdout.ends_with("  a b\n"), "{named:?}");
    dense.assert_gone();
}

#[test]
fn its_variables_name_the_library_the_arena_and_the_mount() {
    let name = "its_variables_name_the_library_the_arena_and_the_mount";
    let Some(dense) = Dense::mounted(name) else { return };
    let mut command = dense.place.fsprism("densefs exec");
    command.arg(format!("arena:{}", dense.prefix.display())).args(["--", "sh", "-c"]);
    command.arg(format!("{PRINT_VARIABLES}; stat -c %d {}", dense.prefix.display()));
    let outcome = dense.place.finish(command);
    let (variables, device) = (variables(&outcome), outcome.stdout.lines().last());
    assert_eq!(variables[0], format!("FSPRISM_DENSEFS={}", dense.at()));
    assert_eq!(variables[1], format!("FSPRISM_DENSEFS_DEVICE={}", device.expect("a number")));
    let library = variables[2].trim_start_matches("LD_PRELOAD=");
    let kept = fs::metadata(library).expect("it is there");
    assert_eq!((kept.uid(), kept.mode() & 0o222), (0, 0), "{library}");
    // Other libraries stay, behind this one.
    let mut command = dense.command(&["sh", "-c", "echo $LD_PRELOAD"]);
    command.env("LD_PRELOAD", "libdl.so.2");
    let others = dense.place.finish(command);
    assert!(others.assert_code(0).stdout.ends_with("libdl.so.2\n"), "{others:?}");
    dense.assert_gone();
}

#[test]
fn files_below_the_prefix_are_hidden_and_that_is_said() {
    let name = "files_below_the_prefix_are_hidden_and_that_is_said";
    let Some(dense) = Dense::mounted(name) else { return };
    fs::create_dir(&dense.prefix).expect("the place is ours");
    let empty = dense.shell("cd % && echo in >file && ls");
    assert_eq!((&*empty.assert_code(0).stdout, &*empty.stderr), ("file\n", ""));
    fs::write(dense.prefix.join("outside"), "").expect("there is room");
    let hidden = dense.shell("ls %");
    assert_eq!(hidden.assert_code(0).stdout, "file\n");
    assert!(hidden.stderr.contains("dense holds files, which the command does not see"));
    until("the server has ended", || dense.processes("densefs-server").is_empty());
    assert!(dense.prefix.join("outside").exists(), "the directory is the user's");
}

#[test]
fn a_command_that_is_started_below_the_prefix_is_in_the_arena() {
    let name = "a_command_that_is_started_below_the_prefix_is_in_the_arena";
    let Some(dense) = Dense::mounted(name) else { return };
    fs::create_dir_all(dense.prefix.join("both")).expect("the place is ours");
    fs::create_dir(dense.prefix.join("outside")).expect("the place is ours");
    dense.shell("mkdir %/both && echo in >%/both/file").assert_code(0);
    let from = |directory: &str| {
        let mut command = dense.command(&["sh", "-c", "cat file; pwd"]);
        command.current_dir(dense.prefix.join(directory));
        dense.place.finish(command)
    };
    let prefix = dense.prefix.display();
    assert_eq!(from("both").assert_code(0).stdout, format!("in\n{prefix}/both\n"));
    from("outside").assert_refused(&["cannot stay in", "dense/outside", "No such file"]);
}

#[test]
fn commands_may_be_nested_if_they_see_the_same() {
    let name = "commands_may_be_nested_if_they_see_the_same";
    let Some(dense) = Dense::mounted(name) else { return };
    dense.place.finish(dense.place.fsprism("densefs mkfs other --size 4m")).assert_code(0);
    let exec = format!("{} densefs exec", env!("CARGO_BIN_EXE_fsprism"));
    let (arena, prefix) = (dense.arena.display(), dense.prefix.display());
    let inner = |at: &str| {
        dense.shell(
            &format!("{exec} {at} -- sh -c \"{PRINT_VARIABLES}; ls %\"").replace("$$", "\\$\\$"),
        )
    };
    dense.shell("echo in >%/file").assert_code(0);
    let same = inner(&dense.at());
    let seen = variables(&same);
    assert_eq!(same.assert_code(0).stdout.lines().last(), Some("file"));
    assert!(seen.len() == 3 && !seen[2].contains(':'), "{seen:?}");
    for at in [format!("{arena}:{prefix}2"), format!("other:{prefix}")] {
        inner(&at).assert_refused(&["within `fsprism densefs exec", "arena:", "only see one"]);
    }
    // Variables that have come here without the mount mean nothing.
    let mut command = dense.command(&["cat", "%/file"]);
    command.env("FSPRISM_DENSEFS", "/dev/shm/none:/usr").env("FSPRISM_DENSEFS_DEVICE", "1");
    assert_eq!(dense.place.finish(command).assert_code(0).stdout, "in\n");
    dense.assert_gone();
}

/// To search the C library takes longer than all else at the start of a program.
#[test]
fn what_is_found_in_the_c_library_is_handed_on() {
    let name = "what_is_found_in_the_c_library_is_handed_on";
    let Some(dense) = Dense::mounted(name) else { return };
    let files = "for file in /proc/$$/fd/*; do case $(readlink $file) in /memfd:densefs-sites*) \
                 set -- $(ls -Li $file); echo $1;; esac; done";
    // Three programs that execute each other, the last in an environment of its own.
    let script = format!("{files}; exec sh -c '{files}; exec env -i sh -c \"$FILES\"'");
    let mut command = dense.command(&["sh", "-c", &script]);
    command.env("FILES", files);
    let seen = dense.place.finish(command);
    let inodes: Vec<_> = seen.assert_code(0).stdout.lines().collect();
    assert_eq!(inodes.len(), 3, "{seen:?}");
    assert!(inodes.iter().all(|inode| *inode == inodes[0]), "it was searched again: {seen:?}");
    dense.assert_gone();
}
