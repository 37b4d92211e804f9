//! If a program to compare with is missing, nothing is measured.

use std::process::Command;

#[test]
fn a_program_to_compare_with_that_is_missing_is_named() {
    for (rows, missing) in [("bonnie", "bonnie++"), ("io-paths", "fio"), ("/tmp", "fio")] {
        let mut bench = Command::new(env!("CARGO_BIN_EXE_fsprism-bench"));
        let ran = bench.arg(rows).env("PATH", "/nothing/here").output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{rows}: {said}");
        assert!(said.starts_with(&format!("{missing} is not installed")), "{said}");
        assert!(said.trim_end().ends_with(&format!("install the package {missing}")), "{said}");
        assert!(ran.stdout.is_empty(), "{said}");
    }
}
