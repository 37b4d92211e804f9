//! Ordinary programs that know nothing of DenseFS, on a mounted one.

mod place;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use place::mounted;

/// Runs a program, isolated from the user's settings.
fn program(name: &str, arguments: &[&str], within: &Path) -> Option<Output> {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(within).env("HOME", within);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "nobody");
        command.env(format!("GIT_{who}_EMAIL"), "nobody@localhost");
    }
    command.output().ok()
}

/// The output of a program, which must succeed.
fn printed(name: &str, arguments: &[&str], within: &Path) -> String {
    let output = program(name, arguments, within).expect("it could be started before");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs `act` on a mounted DenseFS if a program is installed.
fn with_program(what: &str, name: &str, probe: &[&str], act: impl FnOnce(&Path)) {
    if !program(name, probe, Path::new("/")).is_some_and(|output| output.status.success()) {
        eprintln!("skipped: {what}: it needs {name}");
        return;
    }
    mounted(what, |point, _| act(point));
}

/// Makes a tree of directories, files of many sizes, links and a file with a hole.
fn make_tree(top: &Path) {
    for number in 0_u8..60 {
        let directory = top.join(format!("directory-{}", number % 7));
        fs::create_dir_all(&directory).expect("there is room");
        let bytes = vec![number; usize::from(number).pow(3) / 3];
        fs::write(directory.join(format!("file-{number}")), bytes).expect("there is room");
    }
    let first = top.join("directory-0/file-0");
    fs::hard_link(&first, top.join("another name")).expect("there is room");
    std::os::unix::fs::symlink("directory-1", top.join("link")).expect("there is room");
    let hole = fs::File::create(top.join("hole")).expect("there is room");
    hole.set_len(1 << 20).expect("it is a file");
}

#[test]
fn tar_packs_and_unpacks() {
    with_program("tar_packs_and_unpacks", "tar", &["--version"], |point| {
        let copy = point.join("copy");
        fs::create_dir(&copy).expect("there is room");
        make_tree(&point.join("tree"));
        printed("tar", &["-cf", "tree.tar", "tree"], point);
        printed("tar", &["-xf", "../tree.tar"], &copy);
        // tar compares content, owners, permissions, times and links.
        assert_eq!(printed("tar", &["-df", "../tree.tar"], &copy), "");
        printed("diff", &["-r", "tree", "copy/tree"], point);
    });
}

#[test]
fn git_keeps_a_repository() {
    with_program("git_keeps_a_repository", "git", &["--version"], |point| {
        let first = point.join("first");
        make_tree(&first);
        let git = |arguments: &[&str]| printed("git", arguments, &first);
        git(&["init", "--quiet"]);
        for round in 0..5 {
            fs::write(first.join("round"), round.to_string()).expect("there is room");
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "--message", "One more"]);
            assert_eq!(git(&["status", "--short"]), "", "it sees what it has just recorded");
        }
        git(&["gc", "--quiet", "--prune=now"]);
        git(&["fsck", "--full", "--strict"]);
        git(&["checkout", "--quiet", "HEAD~3"]);
        assert_eq!(fs::read(first.join("round")).expect("it is there"), b"1");
        printed("git", &["clone", "--quiet", "--no-local", "first", "second"], point);
        let second = point.join("second");
        printed("git", &["fsck", "--full", "--strict"], &second);
        assert_eq!(printed("git", &["status", "--short"], &second), "");
        assert_eq!(git(&["rev-list", "--count", "--all"]).trim(), "5");
    });
}

/// Ten C files, each of which calls the next, and a makefile for them.
fn make_project(top: &Path) {
    const PARTS: u32 = 10;
    let write = |name: &str, text: &str| fs::write(top.join(name), text).expect("there is room");
    let mut header = String::new();
    for part in 0..PARTS {
        header += &format!("int part_{part}(int);\n");
        let next = if part + 1 < PARTS { format!("part_{}(n + 1)", part + 1) } else { "n".into() };
        let text = format!("#include \"parts.h\"\nint part_{part}(int n) {{ return {next}; }}\n");
        write(&format!("part{part}.c"), &text);
    }
    write("parts.h", &header);
    let main = "int main(void) { return printf(\"%d\\n\", part_0(0)) < 0; }\n";
    write("main.c", &format!("#include <stdio.h>\n#include \"parts.h\"\n{main}"));
    write(
        "Makefile",
        "objects = $(patsubst %.c,%.o,$(wildcard *.c))\n\
         program: $(objects)\n\tcc -o $@ $(objects)\n\
         %.o: %.c parts.h\n\tcc -c -o $@ $<\n",
    );
}

#[test]
fn make_builds_what_is_out_of_date() {
    with_program("make_builds_what_is_out_of_date", "make", &["--version"], |point| {
        make_project(point);
        let compiled = || printed("make", &["-j4"], point).matches("cc -c").count();
        let run = || printed("./program", &[], point);
        assert_eq!((compiled(), run()), (11, "9\n".into()));
        assert_eq!(compiled(), 0, "all is as new as what it is made of");
        let last = "#include \"parts.h\"\nint part_9(int n) { return n * 2; }\n";
        fs::write(point.join("part9.c"), last).expect("there is room");
        assert_eq!((compiled(), run()), (1, "18\n".into()));
        fs::remove_file(point.join("program")).expect("it is there");
        fs::remove_file(point.join("part3.o")).expect("it is there");
        assert_eq!((compiled(), run()), (1, "18\n".into()));
    });
}

#[test]
fn rsync_copies_to_and_fro() {
    with_program("rsync_copies_to_and_fro", "rsync", &["--version"], |point| {
        let place = tempfile::tempdir().expect("there is room");
        let (tree, back) = (place.path().join("tree"), place.path().join("back"));
        fs::create_dir(&tree).expect("there is room");
        make_tree(&tree);
        std::os::unix::fs::chown(tree.join("hole"), Some(65_534), Some(65_534))
            .expect("we are root");
        let slash = |path: &Path| format!("{}/", path.display());
        let (tree, back, copy) = (slash(&tree), slash(&back), slash(&point.join("copy")));
        let rsync = |how: &str, from: &str, to: &str| {
            let arguments = ["-aHS", "--delete", "--itemize-changes", how, from, to];
            printed("rsync", &arguments, place.path())
        };
        for (from, to) in [(&tree, &copy), (&copy, &back)] {
            assert!(rsync("--whole-file", from, to).lines().count() > 60);
            // rsync compares content, owners, permissions, times and links.
            assert_eq!(rsync("--checksum", from, to), "");
        }
        fs::write(format!("{tree}directory-3/file-59"), "new").expect("there is room");
        fs::remove_file(format!("{tree}directory-3/file-3")).expect("it is there");
        let changed = rsync("--no-whole-file", &tree, &copy);
        assert!(changed.contains("directory-3/file-59"), "{changed}");
        assert!(changed.contains("*deleting   directory-3/file-3\n"), "{changed}");
        printed("diff", &["-r", "--no-dereference", &tree, &copy], place.path());
    });
}

/// Two processes write while a third reads, through a log and shared memory.
#[test]
fn sqlite_is_shared_by_processes() {
    const WRITER: &str = "
import os, sqlite3, sys
base = sqlite3.connect('base', timeout=300)
for number in range(100):
    base.execute('begin immediate')
    base.execute('insert into row values (?, ?, ?)', (sys.argv[1], number, os.urandom(900)))
    base.commit()
";
    const ALL: &str = "
import sqlite3, subprocess, sys
base = sqlite3.connect('base', timeout=300)
assert base.execute('pragma journal_mode=wal').fetchone() == ('wal',)
base.execute('create table row (who int, number int, bytes blob)')
base.commit()
writers = [subprocess.Popen([sys.executable, '-c', sys.argv[1], str(who)]) for who in (1, 2)]
def found():
    return base.execute('select count(*), sum(number) from row group by who').fetchall()
while any(writer.poll() is None for writer in writers):
    for count, numbers in found():
        assert numbers == count * (count - 1) // 2
assert [writer.returncode for writer in writers] == [0, 0]
assert found() == [(100, 4950)] * 2
assert base.execute('pragma integrity_check').fetchone() == ('ok',)
assert base.execute('pragma wal_checkpoint(truncate)').fetchone() == (0, 0, 0)
";
    let what = "sqlite_is_shared_by_processes";
    with_program(what, "python3", &["-c", "import sqlite3"], |point| {
        printed("python3", &["-c", ALL, WRITER], point);
    });
}
