//! `fsprism densefs`: makes, fills, inspects, mounts and empties them, and is refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::place::{Place, names_in, say_skipped};
use crate::process::Outcome;

/// The contents of a tree: paths, types, sizes, permissions, link counts, times, link targets.
fn listing(root: &Path) -> String {
    let format = "%P %y %s %m %n %T@ %l\\n";
    let found = Command::new("find").arg(root).args(["-mindepth", "1", "-printf", format]).output();
    let found = found.expect("findutils are installed");
    let mut lines: Vec<_> =
        String::from_utf8(found.stdout).expect("plain text").lines().map(str::to_owned).collect();
    // The size of directories differs between file systems.
    for line in &mut lines {
        if let Some((name, rest)) = line.split_once(" d ") {
            *line = format!("{name} d {}", rest.split_once(' ').map_or("", |(_, rest)| rest));
        }
    }
    lines.sort();
    lines.join("\n")
}

#[test]
fn a_tree_goes_in_and_comes_out_the_same() {
    let place = Place::new();
    let run = |arguments: &str| place.finish(place.fsprism(arguments));
    run("densefs mkfs arena --size 32m").assert_code(0);
    let tree = place.make("tree");
    fs::create_dir_all(tree.join("a/b")).expect("the place is ours");
    fs::write(tree.join("a/file"), vec![3; 70_000]).expect("there is room");
    fs::hard_link(tree.join("a/file"), tree.join("a/b/second")).expect("there is room");
    symlink("../a/file", tree.join("a/link")).expect("there is room");
    let sparse = fs::File::create(tree.join("sparse")).expect("there is room");
    sparse.set_len(5 << 20).expect("there is room");
    let outcome = run("densefs import tree arena");
    let said = &outcome.assert_code(0).stdout;
    assert!(said.starts_with("copied 2 directories, 2 files"), "{said}");
    assert!(said.contains(" and 1 other inode from"), "{said}");
    let said = run("densefs check arena").assert_code(0).stdout.clone();
    assert!(said.contains("is whole: 3 directories and 3 other files"), "{said}");
    let usage = run("densefs stat arena --format json").document();
    let used =
        usage["bytes"].as_u64().expect("a number") - usage["free_bytes"].as_u64().expect("one");
    assert!((70_000..300_000).contains(&used), "the hole takes nothing: {used}");
    run("densefs export copy arena").assert_code(0);
    assert_eq!(listing(&tree), listing(&place.path("copy")));
    assert_eq!(fs::read(place.path("copy/a/b/second")).expect("it is there").len(), 70_000);
}

#[test]
fn what_is_no_densefs_is_refused() {
    let place = Place::new();
    let run = |arguments: &str| place.finish(place.fsprism(arguments));
    fs::write(place.path("text"), "some text").expect("the place is ours");
    let mut large = vec![0; 2 << 20];
    fs::write(place.path("zeros"), &large).expect("there is room");
    large[..8].copy_from_slice(b"DENSEFS\n");
    fs::write(place.path("nonsense"), &large).expect("there is room");
    for command in ["stat", "check", "mount", "import", "export"] {
        let arguments = |file: &str| match command {
            "mount" => format!("densefs mount {file} scratch"),
            "import" | "export" => format!("densefs {command} scratch {file}"),
            _ => format!("densefs {command} {file}"),
        };
        run(&arguments("missing")).assert_refused(&["missing", "No such file"]);
        run(&arguments("/dev/null")).assert_refused(&["/dev/null is not a DenseFS", "mkfs"]);
        run(&arguments("scratch")).assert_refused(&["scratch"]);
        run(&arguments("text")).assert_refused(&["text is not a DenseFS"]);
        run(&arguments("zeros")).assert_refused(&["zeros is not a DenseFS"]);
        run(&arguments("nonsense")).assert_refused(&["nonsense", "version 0"]);
    }
    run("densefs mkfs text").assert_refused(&["text exists and is not a DenseFS"]);
    run("densefs mkfs text --overwrite").assert_refused(&["text exists and is not a DenseFS"]);
    assert_eq!(fs::read_to_string(place.path("text")).expect("it is there"), "some text");
    run("densefs mkfs arena --size 100").assert_refused(&["1 MiB", "--size"]);
    run("densefs mkfs missing/arena").assert_refused(&["missing/arena"]);
    run("densefs mkfs scratch").assert_refused(&["scratch is a directory", "scratch/arena"]);
    run("densefs mkfs /dev/null").assert_refused(&["/dev/null exists and is not a regular file"]);
    run("densefs mkfs arena --size 4m").assert_code(0);
    run("densefs mkfs arena --size 4m").assert_refused(&["--overwrite"]);
    run("densefs mkfs arena --size 8m --overwrite").assert_code(0);
    let file = fs::OpenOptions::new().write(true).open(place.path("arena")).expect("it is there");
    file.set_len(6 << 20).expect("it can be cut off");
    run("densefs stat arena").assert_refused(&["6291456", "8388608", "cut off"]);
    run("densefs export tree arena").assert_refused(&["cut off"]);
}

#[test]
fn a_mount_serves_until_it_is_unmounted() {
    let Some(place) = Place::as_root("a_mount_serves_until_it_is_unmounted") else { return };
    if !Path::new("/dev/fuse").exists() {
        return say_skipped("a_mount_serves_until_it_is_unmounted", "there is no /dev/fuse");
    }
    let run = |arguments: &str| {
        Outcome::from_output(place.fsprism(arguments).output().expect("it can be started"))
    };
    let point = place.make("point");
    run("densefs mkfs arena --size 16m").assert_code(0);
    run("densefs mount arena point").assert_code(0);
    fs::write(point.join("file"), "from outside").expect("there is room");
    run("densefs mount arena point").assert_refused(&["mounted", "point"]);
    run("densefs check arena").assert_refused(&["in use"]);
    run("densefs mkfs arena --overwrite").assert_refused(&["in use"]);
    let unmounted = Command::new("umount").arg(&point).status().expect("util-linux is installed");
    assert!(unmounted.success());
    assert!(names_in(&point).is_empty());
    // The server may not know yet.
    run("densefs check arena").assert_code(0);
    run("densefs export copy arena").assert_code(0);
    let copied = fs::read_to_string(place.path("copy/file")).expect("it is there");
    assert_eq!(copied, "from outside");
}
