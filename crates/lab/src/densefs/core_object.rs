//! The core and its entries as one object file, `core.o_shipped`, which the kernel's build system
//! links with the module's C.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ::densefs_module::SOURCES;

use super::{Layout, relocations};
use crate::error::LabError;
use crate::tool;

/// What rustc compiles for: no floating-point registers, no red zone.
const TARGET: &str = "x86_64-unknown-none";
/// How functions that C calls are told from others, in the sources.
const ENTRY: &str = "extern \"C\" fn ";

/// Parts of the names of functions that calls execute most, in the order in which they do.
const ORDER: [&str; 12] = [
    "densefs_open",
    "10bytes_like",
    "densefs_stat",
    "11glance_into",
    "densefs_close",
    "11close_entry",
    "8conclude",
    "14unsettled",
    "densefs_unlink",
    "12walk_to_last",
    "densefs_pread",
    "densefs_pwrite",
];

/// Flags for both crates. Modules are within reach of the kernel's text, and are not relocated
/// once they are loaded.
const FLAGS: [&str; 10] = [
    "--edition=2024",
    "--cap-lints=allow",
    "-Cpanic=abort",
    "-Cforce-unwind-tables=no",
    "-Crelocation-model=static",
    "-Ccode-model=kernel",
    "-Ccodegen-units=1",
    "-Copt-level=s",
    "-Zplt=yes",
    "-Zfunction-sections=yes",
];

/// Further flags for kernels that check accesses of memory: where those have their notes on it, as
/// in the kernel's `scripts/Makefile.kasan`.
const CHECKED_FLAGS: [&str; 5] = [
    "-Zsanitizer=kernel-address",
    "-Zsanitizer-recover=kernel-address",
    "-Cunsafe-allow-abi-mismatch=sanitizer",
    "-Cllvm-args=-asan-mapping-offset=0xdffffc0000000000",
    "-Cllvm-args=-asan-instrumentation-with-call-threshold=0",
];

/// What the object is to be.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// How its code is laid out.
    pub(super) layout: Layout,
    /// Whether its accesses of memory are checked by the kernel.
    pub(super) is_checked: bool,
}

/// rustc, with the standard library for kernels.
#[derive(Debug)]
pub(super) struct Compiler {
    rustc: PathBuf,
}

impl Compiler {
    /// Finds it.
    pub(super) fn find() -> Result<Self, LabError> {
        let no_target = || LabError::NoRustTarget { target: TARGET.to_owned() };
        let rustc = programs::find("rustc").ok_or_else(no_target)?;
        let mut command = Command::new(&rustc);
        command.args(["--print", "target-libdir", "--target", TARGET]);
        let directory = tool::run(&mut command).map_err(|_| no_target())?;
        let directory = PathBuf::from(String::from_utf8_lossy(&directory).trim());
        if directory.is_dir() { Ok(Self { rustc }) } else { Err(no_target()) }
    }

    /// Compiles the sources to `core.o_shipped` in the directory of the module's C.
    pub(super) fn compile(&self, sources: &Path, c: &Path, kind: Kind) -> Result<(), LabError> {
        let source = |name: &str| sources.join(name).join("src/lib.rs");
        let core = sources.join("libdensefs.rlib");
        let mut first = self.command("densefs", "rlib", kind);
        tool::run(first.arg("-o").arg(&core).arg(source("densefs")))?;
        let archive = sources.join("libdensefs_kernel.a");
        let mut second = self.command("densefs_kernel", "staticlib", kind);
        second.arg("--extern").arg(format!("densefs={}", core.display())).arg("-Clto=fat");
        tool::run(second.arg("-o").arg(&archive).arg(source("densefs-kernel")))?;
        link(sources, &archive, c, kind.layout)
    }

    fn command(&self, name: &str, of: &str, kind: Kind) -> Command {
        let mut command = Command::new(&self.rustc);
        // The flags that begin with -Z are stable enough for any compiler that has them.
        command.env("RUSTC_BOOTSTRAP", "1").args(FLAGS);
        command.args(["--target", TARGET, "--crate-name", name, "--crate-type", of]);
        if kind.layout < Layout::Aligned {
            command.arg("-Zmin-function-alignment=16");
        }
        if kind.is_checked {
            command.args(CHECKED_FLAGS);
        }
        command
    }
}

/// Links what the entries need into one object, in which only their names can be seen.
fn link(sources: &Path, archive: &Path, c: &Path, layout: Layout) -> Result<(), LabError> {
    let names = entries();
    let whole = sources.join("core.o");
    let mut link = tool::command("ld", "binutils")?;
    link.args(["-r", "--gc-sections", "-o"]).arg(&whole);
    for name in &names {
        link.args(["-u", name]);
    }
    if layout >= Layout::Ordered {
        let script = sources.join("order.ld");
        fs::write(&script, order()).map_err(LabError::at(&script))?;
        link.arg("-T").arg(script);
    }
    tool::run(link.arg(archive))?;
    let shipped = c.join("core.o_shipped");
    let mut copy = tool::command("objcopy", "binutils")?;
    copy.args([
        "--strip-debug",
        "-R",
        ".llvmbc",
        "-R",
        ".llvmcmd",
        "-R",
        ".comment",
        "-R",
        ".note*",
    ]);
    for name in &names {
        copy.arg(format!("--keep-global-symbol={name}"));
    }
    tool::run(copy.arg(&whole).arg(&shipped))?;
    let mut bytes = fs::read(&shipped).map_err(LabError::at(&shipped))?;
    relocations::make_direct(&mut bytes).map_err(|why| LabError::Tool {
        tool: "rustc".to_owned(),
        why: format!("it has made code that a module cannot have: {why}"),
    })?;
    fs::write(&shipped, bytes).map_err(LabError::at(&shipped))?;
    // Without it, the kernel's build system complains that it does not know how this was made.
    let made = c.join(".core.o.cmd");
    let text = format!("savedcmd_{0} := true\n", c.join("core.o").display());
    fs::write(&made, text).map_err(LabError::at(&made))
}

/// The script that has the linker put functions in order: those of [`ORDER`] first.
fn order() -> String {
    let first: String = ORDER.iter().map(|name| format!("*(.text.*{name}*) ")).collect();
    format!("SECTIONS {{ .text : {{ {first}*(.text .text.*) }} }}\n")
}

/// The names of the functions that C calls.
fn entries() -> BTreeSet<&'static str> {
    let rust = SOURCES.iter().filter(|(name, _)| name.starts_with("densefs-kernel/src/"));
    let found = rust.flat_map(|(_, text)| text.split(ENTRY).skip(1));
    found.filter_map(|rest| rest.split('(').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn the_entries_are_those_that_c_declares() {
        let declared = ::densefs_module::SOURCES.iter().find(|(name, _)| name.ends_with("/core.h"));
        let (_, declared) = declared.expect("it is there");
        let names = entries();
        assert!(names.len() > 40, "{names:?}");
        for name in names {
            assert!(declared.contains(&format!("{name}(")), "core.h does not declare {name}");
        }
    }
}
