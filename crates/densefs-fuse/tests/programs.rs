//! Programs that know nothing of DenseFS, on one that is mounted.

mod place;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use place::mounted;

/// Runs a program where nothing of the user's settings reaches it.
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

/// What a program prints that succeeds.
fn printed(name: &str, arguments: &[&str], within: &Path) -> String {
    let output = program(name, arguments, within).expect("it could be started before");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Does something on a mounted DenseFS with a program, if that is installed.
fn with_program(what: &str, name: &str, probe: &[&str], act: impl FnOnce(&Path)) {
    if !program(name, probe, Path::new("/")).is_some_and(|output| output.status.success()) {
        eprintln!("skipped: {what}: it needs {name}");
        return;
    }
    mounted(what, |point, _| act(point));
}

/// Makes a tree of directories, files of many sizes, links and a hole.
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
        // It compares content, owners, permissions, times and links.
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

/// Two processes write at once what a third reads, through a log and memory that they share.
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
