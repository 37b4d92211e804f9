//! fio, executed, and its outputs, taken apart.

use std::process::Command;

use crate::cases::Case;

/// What fio printed in three formats at once.
pub(crate) struct Outputs {
    /// The lines of the terse format.
    pub(crate) terse: String,
    /// The document, with bins.
    pub(crate) json: String,
    /// What people read.
    pub(crate) normal: String,
}

impl Outputs {
    /// Takes apart what fio printed. What it says at its start comes before the terse lines.
    pub(crate) fn split(text: &str) -> Self {
        let (before, rest) = text.split_once("\n{\n").expect("there is JSON");
        let (json, normal) = rest.split_once("\n}\n").expect("JSON ends");
        let is_terse =
            |line: &&str| ["2;", "3;", "4;", "5;", ";"].iter().any(|start| line.starts_with(start));
        let terse = before.lines().filter(is_terse).map(|line| format!("{line}\n")).collect();
        Self { terse, json: format!("{{\n{json}\n}}\n"), normal: normal.to_owned() }
    }
}

/// Whether fio 3.33 is installed.
pub(crate) fn is_fio_installed() -> bool {
    let version = Command::new("fio").arg("--version").output();
    version.is_ok_and(|output| output.stdout.starts_with(b"fio-3.33"))
}

/// Executes the jobs of a case in a directory of its own.
pub(crate) fn run(case: &Case) -> String {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new("fio");
    command
        .current_dir(directory.path())
        .args(["--output-format=normal,json+,terse", "--eta=never"]);
    command.arg(format!("--terse-version={}", case.terse.number()));
    if !["filename", "hostname"].iter().any(|option| case.arguments.contains(option)) {
        command.arg("--filename=data");
    }
    let output = command.args(case.arguments.split_whitespace()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
