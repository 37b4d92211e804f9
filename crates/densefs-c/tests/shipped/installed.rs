//! What is installed, as somebody uses it who has nothing else: by pkg-config, the compilers, and
//! other languages.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use densefs_process::{DenseFs, flags};

use crate::{installed, new_arena};

fn here(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// What a command prints; it must succeed.
fn said_by(command: &mut Command) -> String {
    let ran = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let complaint = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{command:?}: {:?}: {complaint}", ran.status);
    String::from_utf8(ran.stdout).expect("it is text")
}

fn lacks(program: &str) -> bool {
    let is_missing = Command::new(program).arg("--version").output().is_err();
    if is_missing {
        println!("skipped: there is no {program} here");
    }
    is_missing
}

/// What pkg-config says that compilers need.
fn compiler_options(how: &[&str]) -> Vec<String> {
    let said = said_by(
        Command::new("pkg-config")
            .env("PKG_CONFIG_PATH", installed().prefix.join("lib/pkgconfig"))
            .args(how)
            .arg("densefs"),
    );
    said.split_whitespace().map(str::to_owned).collect()
}

/// Compiles an example.
fn compiled(compiler: &[&str], example: &str, options: &[String], into: &Path) -> PathBuf {
    let program = into.join(Path::new(example).file_stem().unwrap_or(OsStr::new("program")));
    said_by(
        Command::new(compiler[0])
            .args(&compiler[1..])
            .args(["-Wall", "-Wextra", "-Werror", "-pedantic"])
            .arg(here("examples").join(example))
            .arg("-o")
            .arg(&program)
            .args(options),
    );
    program
}

/// A program that finds the shared library where it is installed.
fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", installed().prefix.join("lib"));
    command
}

#[test]
fn examples_in_three_languages_work_on_one_arena() {
    if lacks("pkg-config") || lacks("python3") {
        return;
    }
    let place = tempfile::tempdir().expect("there is room");
    let arena = new_arena(place.path());
    let options = compiler_options(&["--cflags", "--libs"]);
    let notes = compiled(&["cc", "-std=c99"], "notes.c", &options, place.path());
    assert_eq!(said_by(command(&notes).arg(&arena).arg("it rains")), "it rains\n");
    assert_eq!(said_by(command(&notes).arg(&arena).arg("still")), "it rains\nstill\n");
    let tags = |name: &str, value: &str| {
        let mut command = command("python3");
        command.arg(here("examples/tags.py")).arg(&arena).args(["/notes", name, value]);
        said_by(&mut command)
    };
    assert_eq!(tags("kind", "weather"), "user.kind weather\n");
    assert_eq!(tags("place", "here"), "user.kind weather\nuser.place here\n");
    let files = DenseFs::attach(&arena).expect("it is there");
    files.make_directory("/old", 0o755).expect("there is room");
    files.open("/old/empty", flags::WRITE | flags::CREATE, 0o644).expect("there is room");
    let sizes = compiled(&["c++", "-std=c++17"], "sizes.cc", &options, place.path());
    let said = said_by(command(&sizes).arg(&arena));
    let lines: BTreeSet<_> = said.lines().collect();
    assert_eq!(lines, BTreeSet::from(["15 ./notes", "0 ./old/empty"]));
}

#[test]
fn a_program_can_hold_the_whole_library() {
    if lacks("pkg-config") {
        return;
    }
    let place = tempfile::tempdir().expect("there is room");
    let arena = new_arena(place.path());
    let options = compiler_options(&["--static", "--cflags", "--libs"]);
    let notes = compiled(&["cc", "-std=c99", "-static"], "notes.c", &options, place.path());
    let said = said_by(Command::new(notes).arg(&arena).arg("alone"));
    assert_eq!(said, "alone\n");
}

/// The functions that a header declares.
fn declared() -> BTreeSet<String> {
    let header = fs::read_to_string(installed().prefix.join("include/densefs.h"));
    let header = header.expect("it is installed");
    let words = header.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let is_called = |name: &&str| header.contains(&format!("{name}("));
    words.filter(|word| word.starts_with("dfs_")).filter(is_called).map(str::to_owned).collect()
}

/// The third word of each line that nm prints about a library.
fn symbols(how: &[&str], library: &str) -> BTreeSet<String> {
    let library = installed().prefix.join("lib").join(library);
    let said = said_by(Command::new("nm").args(how).arg(library));
    said.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect()
}

#[test]
fn libraries_show_the_functions_of_the_header_and_nothing_else() {
    let declared = declared();
    assert!(declared.contains("dfs_open") && declared.len() > 90, "{declared:?}");
    let mut versioned: BTreeSet<_> =
        declared.iter().map(|name| format!("{name}@@DENSEFS_0")).collect();
    versioned.insert("DENSEFS_0@@DENSEFS_0".to_owned());
    let mut shown = symbols(&["-D", "--defined-only"], "libdensefs.so");
    if shown.remove("DENSEFS_0") {
        shown.insert("DENSEFS_0@@DENSEFS_0".to_owned());
    }
    assert_eq!(shown, versioned);
    assert_eq!(symbols(&["-g", "--defined-only"], "libdensefs.a"), declared);
}

#[test]
fn symbols_for_debuggers_are_in_a_file_of_their_own() {
    let library = concat!("libdensefs.so.", env!("CARGO_PKG_VERSION"));
    assert!(symbols(&["--defined-only"], library).is_empty());
    let apart = symbols(&["--defined-only"], &format!(".debug/{library}.debug"));
    assert!(apart.iter().any(|name| name.contains("densefs_process")), "{apart:?}");
    let file = fs::metadata(installed().prefix.join("lib").join(library));
    assert!(file.expect("it is installed").len() < 1 << 20);
}

#[test]
fn the_manual_is_formatted_without_a_complaint() {
    for page in ["man3/densefs.3", "man7/densefs.7"] {
        let page = installed().prefix.join("share/man").join(page);
        assert!(page.exists(), "{page:?}");
        if lacks("mandoc") {
            return;
        }
        // It exits with a status that says how bad the worst of its complaints is.
        said_by(Command::new("mandoc").args(["-Tlint", "-Wstyle"]).arg(page));
    }
}
