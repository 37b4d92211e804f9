//! The rules of this repository that neither the compiler nor clippy enforces.
//!
//! Every check is a pure function from files to [`Finding`]s, with tests that show it failing;
//! `tests/tidy.rs` runs all checks on the files of this repository. Exemptions are in a table at
//! the top of each check's module, each with its reason.

#![forbid(unsafe_code)]

pub mod calls;
pub mod circles;
pub mod glossary;
pub mod graph;
pub mod lexer;
pub mod modules;
pub mod paths;
mod repository;
pub mod text;
pub mod words;

pub use repository::{SourceFile, read_repository};

/// A place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the repository's root.
    pub path: String,
    /// The line, counted from 1; 0 if the whole file is meant.
    pub line: usize,
    /// What is wrong, and what to do instead.
    pub what: String,
}

impl Finding {
    fn new(file: &SourceFile, line: usize, what: impl Into<String>) -> Self {
        Self { path: file.path.clone(), line, what: what.into() }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Everything that is wrong with `files`, sorted by path.
pub fn check_all(files: &[SourceFile]) -> Vec<Finding> {
    let test_files = modules::test_files(files);
    let mut findings = Vec::new();
    for file in files {
        findings.extend(text::check(file));
        findings.extend(calls::check(file, test_files.contains(&file.path)));
        findings.extend(words::check(file, test_files.contains(&file.path)));
    }
    findings.extend(calls::stale_unsafe_entries(files));
    findings.extend(modules::dead_files(files));
    findings.extend(modules::mixed_styles(files));
    findings.extend(graph::check(files));
    findings.extend(circles::check(files, &test_files));
    findings.extend(glossary::check(files));
    findings.extend(paths::check(files));
    findings.sort();
    findings
}
