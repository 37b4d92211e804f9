//! The library in C programs: compiled against the header, linked and run.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use densefs_process::{DenseFs, NewArena, make};

/// The library that cargo has built next to this test.
fn library() -> PathBuf {
    let test = env::current_exe().expect("it runs");
    let places = test.ancestors().skip(1).take(2);
    let found = places.map(|place| place.join("libdensefs_c.so")).find(|path| path.exists());
    found.expect("it is built before its tests")
}

/// Compiles a program from files next to this test, into a directory; returns its path.
fn compiled(name: &str, sources: &[&str], directory: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    symlink(library(), directory.join("libdensefs.so")).expect("the directory is ours");
    let program = directory.join(name);
    let built = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-D_GNU_SOURCE", "-I"])
        .arg(here.join("include"))
        .args(sources.iter().map(|source| here.join("tests").join(source)))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(directory)
        .arg("-ldensefs")
        .output()
        .expect("cc can be started");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

/// A program that finds the library next to it.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", program.parent().unwrap_or(program));
    command
}

fn made(arena: &Path, mode: u32) {
    let root = DenseFs::new_root(mode);
    make(arena, &NewArena::new(64 << 20, root)).expect("there is room");
}

#[test]
fn a_c_program_finds_what_the_system_would_give_it() {
    succeeds("program");
}

#[test]
fn files_are_mapped_as_by_the_system() {
    succeeds("mapped");
}

/// Runs a program of this name, and checks the arena that it has used.
fn succeeds(name: &str) {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    made(&arena, 0o755);
    let program = compiled(name, &[&format!("{name}.c")], place.path());
    let ran = command(&program).arg(&arena).output().expect("it was built");
    assert!(ran.status.success(), "{:?}: {}", ran.status, String::from_utf8_lossy(&ran.stderr));
    let files = DenseFs::attach(&arena).expect("it is there");
    let report = files.check().expect("there is memory").unwrap_or_else(|why| panic!("{why}"));
    // What the killed child had open is closed.
    assert_eq!(report.descriptions, 0);
}

/// Every call, with random arguments, as root and as a user who may not do everything.
/// `FSPRISM_DIFFERENTIAL_CALLS` is how many each makes.
#[test]
fn calls_are_answered_as_tmpfs_answers_them() {
    if fs::metadata("/proc/self").is_ok_and(|process| process.uid() != 0) {
        println!("skipped: only root can change its root directory");
        return;
    }
    let calls = env::var("FSPRISM_DIFFERENTIAL_CALLS");
    let calls = calls.unwrap_or_else(|_| "150000".to_owned());
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let program = compiled(
        "differential",
        &[
            "differential/main.c",
            "differential/calls.c",
            "differential/attributes.c",
            "differential/descriptors.c",
            "differential/library.c",
        ],
        place.path(),
    );
    for user in [0, 1000] {
        let tree = place.path().join(user.to_string());
        fs::create_dir(&tree).expect("there is room");
        fs::set_permissions(&tree, fs::Permissions::from_mode(0o777)).expect("it is ours");
        let arena = tree.join("arena");
        made(&arena, 0o777);
        chown(&arena, Some(user), Some(user)).expect("it is ours");
        let ran = command(&program)
            .arg(&tree)
            .args(["1", &calls, &user.to_string()])
            .output()
            .expect("it was built");
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "user {user}, {:?}:\n{said}", ran.status);
        println!("user {user}: {said}");
    }
}

/// In each language that includes it, as the first of all headers, and without extensions.
#[test]
fn the_header_is_accepted_by_strict_compilers() {
    let place = tempfile::tempdir().expect("there is room");
    let languages = [
        ("cc", "c", "-std=c99"),
        ("cc", "c", "-std=c11"),
        ("cc", "c", "-std=gnu17"),
        ("c++", "c++", "-std=c++98"),
        ("c++", "c++", "-std=c++17"),
    ];
    let source = place.path().join("source");
    fs::write(&source, "#include <densefs.h>\nint main(void) { return dfs_detach(); }\n")
        .expect("there is room");
    for (compiler, language, standard) in languages {
        let checked = Command::new(compiler)
            .args([standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"])
            .arg("-I")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
            .args(["-x", language])
            .arg(&source)
            .output();
        let checked = match checked {
            Ok(checked) => checked,
            Err(why) => {
                println!("skipped: {compiler}: {why}");
                continue;
            }
        };
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{compiler} {standard}: {said}");
    }
}
