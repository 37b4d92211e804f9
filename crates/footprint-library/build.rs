//! Builds the QEMU plugin as a shared library, which this crate embeds.
//!
//! Stable cargo cannot pass one crate's shared library to another, so this calls rustc for the two
//! crates that the plugin consists of. Neither has dependencies, which keeps this simple.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let variable = |name: &str| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let crates = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("..");
    let out = PathBuf::from(variable("OUT_DIR"));
    let (trace, plugin) = (crates.join("footprint-trace/src"), crates.join("footprint-plugin/src"));
    for sources in [&trace, &plugin] {
        println!("cargo::rerun-if-changed={}", sources.display());
    }
    // So that the library, too, is the same wherever it is built.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_remap = |flag: &&str| flag.starts_with("--remap-path-prefix");
    let remapped: Vec<&str> = flags.split('\x1f').filter(is_remap).collect();
    let rlib = out.join("libfootprint_trace.rlib");
    let compile = |source: &Path, kind: &str, to: &Path| {
        let mut command = Command::new(variable("RUSTC"));
        command.args(["--edition=2024", "--cap-lints=allow", "-Copt-level=3", "-Cpanic=abort"]);
        let name = if kind == "rlib" { "footprint_trace" } else { "footprint_plugin" };
        command.args(["--crate-name", name, "--crate-type", kind, "--target", &variable("TARGET")]);
        command.args(&remapped);
        if let Ok(linker) = env::var("RUSTC_LINKER") {
            command.arg(format!("-Clinker={linker}"));
        }
        if kind == "cdylib" {
            command.args(["-Cstrip=symbols", "-Clto=fat"]);
            command.arg("--extern").arg(format!("footprint_trace={}", rlib.display()));
        }
        let status = command.arg(source).arg("-o").arg(to).status();
        let succeeded = matches!(&status, Ok(status) if status.success());
        assert!(succeeded, "rustc could not build {}: {status:?}", source.display());
    };
    compile(&trace.join("lib.rs"), "rlib", &rlib);
    compile(&plugin.join("lib.rs"), "cdylib", &out.join("footprint_plugin.so"));
}
