//! Builds `densefs-preload` as a shared library, which this crate embeds.
//!
//! Stable cargo cannot pass one crate's shared library to another, and the library must not be
//! compiled for the program that embeds it, since it ends at a panic instead of unwinding. So this
//! calls another cargo, whose directory is its own. Cargo runs this script early, beside the crates
//! that it compiles meanwhile: the script needs none of them.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGE: &str = "fsprism-densefs-preload";
const PROFILE: &str = "densefs";

/// What a debug build changes in the profile, so that the library is built quickly, and again more
/// quickly.
const FOR_DEBUG: [&str; 4] =
    ["lto=\"off\"", "codegen-units=256", "opt-level=1", "incremental=true"];

fn main() {
    let directory = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let (target, into) = (variable("TARGET"), out.join("target"));
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--quiet", "--locked", "--package", PACKAGE, "--profile", PROFILE]);
    // With an explicit target, cargo does not use the flags for build scripts.
    cargo.args(["--target", &target]).arg("--target-dir").arg(&into);
    let is_debug = variable("PROFILE") == "debug";
    let changes = if is_debug { &FOR_DEBUG[..] } else { &[] };
    for change in changes.iter().chain(&["debug=false", "strip=true"]) {
        cargo.args(["--config", &format!("profile.{PROFILE}.{change}")]);
    }
    forget_this_crate(&mut cargo);
    let status = cargo.current_dir(&directory).status();
    let succeeded = matches!(&status, Ok(status) if status.success());
    assert!(succeeded, "cargo could not build {PACKAGE}: {status:?}");
    let built = into.join(target).join(PROFILE).join("libdensefs_preload.so");
    let library = fs::read(&built).unwrap_or_else(|why| panic!("{}: {why}", built.display()));
    let mut hasher = DefaultHasher::new();
    hasher.write(&library);
    println!("cargo::rustc-env=DENSEFS_PRELOAD_LIBRARY={}", built.display());
    println!("cargo::rustc-env=DENSEFS_PRELOAD_HASH={:016x}", hasher.finish());
    watch(&directory, &built.with_extension("d"));
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// Removes from the other cargo's environment what describes this crate and this build, and what
/// would have it check the crate instead of compiling it. What the user has set stays.
fn forget_this_crate(cargo: &mut Command) {
    const PREFIXES: [&str; 4] = ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_MANIFEST_", "CARGO_PKG_"];
    let names = [
        "CARGO_BUILD_TARGET",
        "CARGO_PRIMARY_PACKAGE",
        "CARGO_TARGET_DIR",
        "DEBUG",
        "HOST",
        "NUM_JOBS",
        "OPT_LEVEL",
        "OUT_DIR",
        "PROFILE",
        "RUSTC_BOOTSTRAP",
        "RUSTC_WORKSPACE_WRAPPER",
        "TARGET",
    ];
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if names.contains(&&*name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            cargo.env_remove(&*name);
        }
    }
}

/// Has cargo run this script again when something changes that the library is made of: the sources,
/// as the other cargo lists them, and the manifests of their crates.
fn watch(directory: &Path, list: &Path) {
    let listed = fs::read_to_string(list).unwrap_or_else(|why| panic!("{}: {why}", list.display()));
    let (_, sources) = listed.split_once(": ").expect("cargo lists what the library depends on");
    // A space within a path is preceded by a backslash.
    let sources = sources.replace("\\ ", "\0");
    let sources = sources.split_whitespace().map(|path| PathBuf::from(path.replace('\0', " ")));
    let mut watched: BTreeSet<PathBuf> = sources.collect();
    let crates: Vec<_> = watched.iter().filter_map(|source| manifest_above(source)).collect();
    watched.extend(crates);
    watched.extend(["../../Cargo.toml", "../../Cargo.lock"].map(|name| directory.join(name)));
    watched.insert(directory.join("build.rs"));
    for path in watched {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn manifest_above(source: &Path) -> Option<PathBuf> {
    let is_of_crate = |above: &&Path| above.file_name() != Some(OsStr::new("src"));
    let manifests = source.ancestors().skip(1).filter(is_of_crate);
    manifests.map(|above| above.join("Cargo.toml")).find(|manifest| manifest.is_file())
}
