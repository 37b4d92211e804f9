//! C programs, compiled here and traced under QEMU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use footprint::description::{Description, Function};
use tempfile::TempDir;

/// Whether all of these programs can be started; if not, prints why the test is skipped.
pub(crate) fn has(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
    });
    if let Some(missing) = missing {
        eprintln!("skipped: there is no {missing} here");
    }
    missing.is_none() && cfg!(target_arch = "x86_64")
}

/// A program in a temporary directory.
pub(crate) struct Native {
    directory: TempDir,
}

impl Native {
    /// Compiles a program; its addresses are the same each time it runs.
    pub(crate) fn compile(source: &str, options: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("program.c");
        fs::write(&path, source).expect("a file");
        let mut gcc = Command::new("gcc");
        gcc.args(["-O2", "-static", "-no-pie", "-o"]).arg(directory.path().join("program"));
        assert!(gcc.args(options).arg(path).status().expect("gcc runs").success());
        Self { directory }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("program")
    }

    /// The trace of one run. If QEMU does not support plugins, prints that and returns `None`.
    pub(crate) fn trace(&self) -> Option<Vec<u8>> {
        self.trace_with(&[])
    }

    /// The same, with these variables in the environment of the program and of QEMU.
    pub(crate) fn trace_with(&self, variables: &[(&str, &str)]) -> Option<Vec<u8>> {
        let library = footprint_library::write_into(self.directory.path()).expect("a file");
        let out = self.directory.path().join("trace");
        let plugin = format!("{},out={}", library.display(), out.display());
        let mut qemu = Command::new("qemu-x86_64");
        qemu.envs(variables.iter().copied());
        let output = qemu.arg("-plugin").arg(plugin).arg(self.path()).output().expect("QEMU runs");
        let trace = fs::read(out).ok();
        if trace.is_none() {
            eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        }
        trace
    }

    /// The functions of the program, according to `nm`.
    pub(crate) fn names(&self) -> Description {
        let output = Command::new("nm").arg("-nS").arg(self.path()).output().expect("nm runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut functions: Vec<Function> = text.lines().filter_map(function).collect();
        functions.sort_by_key(|function| (function.address, function.bytes));
        functions.dedup_by_key(|function| function.address);
        let ends: Vec<u64> = functions.iter().skip(1).map(|function| function.address).collect();
        for (function, end) in functions.iter_mut().zip(ends) {
            let room = end - function.address;
            function.bytes = if function.bytes == 0 { room } else { function.bytes.min(room) };
        }
        Description { functions, ..Description::default() }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }
}

/// Parses a line of `nm -S`: address, size if there is one, letter, name.
fn function(line: &str) -> Option<Function> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (address, bytes, letter, name) = match words[..] {
        [address, letter, name] => (address, "0", letter, name),
        [address, bytes, letter, name] => (address, bytes, letter, name),
        _ => return None,
    };
    let is_code = ["t", "T", "w", "W", "i"].contains(&letter);
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (address, bytes) = (number(address)?, number(bytes)?);
    let name = name.to_owned();
    is_code.then(|| Function { address, bytes, name, ..Function::default() })
}
