//! Lists the sources of DenseFS' kernel module, so that the crate can embed them.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories with sources, beside this crate's: all files in them are taken, except tests, which
/// nothing refers to when it is compiled for a kernel.
const SOURCES: [&str; 3] = ["densefs/src", "densefs-kernel/src", "densefs-kernel/module"];

fn main() {
    let variable = |name: &str| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let crates = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for directory in SOURCES {
        let path = crates.join(directory);
        println!("cargo::rerun-if-changed={}", path.display());
        collect(&path, directory, &mut files);
    }
    files.sort();
    let mut list = String::from("&[\n");
    for (name, path) in files {
        let path = path.canonicalize().unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let _infallible = writeln!(list, "    ({name:?}, include_str!({path:?})),");
    }
    list.push(']');
    let to = PathBuf::from(variable("OUT_DIR")).join("sources.rs");
    fs::write(&to, list).unwrap_or_else(|why| panic!("{}: {why}", to.display()));
}

/// Collects the files below a directory, each with its name below the crates.
fn collect(directory: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) {
    let entries = fs::read_dir(directory);
    let entries = entries.unwrap_or_else(|why| panic!("{}: {why}", directory.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|why| panic!("{}: {why}", directory.display())).path();
        let last = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("{name}/{last}");
        if path.is_dir() {
            collect(&path, &name, files);
        } else {
            files.push((name, path));
        }
    }
}
