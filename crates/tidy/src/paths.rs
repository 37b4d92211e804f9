//! Paths in documents, all of which must exist.

use crate::{Finding, SourceFile};

/// How the paths of this repository start.
const TOPS: [&str; 4] = ["crates/", "docs/", "scripts/", "web/"];

/// Code spans in documents that are paths to nothing. Patterns, with a part in capitals, are
/// exempt.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let is_there = |path: &str| {
        let folder = format!("{}/", path.trim_end_matches('/'));
        files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    };
    let documents = files.iter().filter(|file| file.has_extension(&["md"]));
    let mut findings = Vec::new();
    for document in documents {
        for (line, text) in (1..).zip(document.text.lines()) {
            for span in text.split('`').skip(1).step_by(2) {
                let is_path = TOPS.iter().any(|top| span.starts_with(top)) && !span.contains(' ');
                if is_path && !is_pattern(span) && !is_there(span) {
                    findings.push(Finding::new(document, line, format!("there is no {span}")));
                }
            }
        }
    }
    findings
}

/// Whether some part of the path is a placeholder, as in `crates/NAME/src`.
fn is_pattern(path: &str) -> bool {
    let is_name = |part: &str| {
        let word = part.split(['.', '-']).next().unwrap_or_default();
        word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase())
    };
    path.contains('*') || path.split('/').any(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_documents_lead_somewhere() {
        let found = |text: &str| -> Vec<String> {
            let files = [SourceFile::new("A.md", text), SourceFile::new("crates/a/src/b.rs", "")];
            check(&files).iter().map(ToString::to_string).collect()
        };
        assert_eq!(found("`crates/a/src/b.rs`, `crates/a/src/` and `crates/NAME/c.rs`"), [""; 0]);
        assert_eq!(found("One\n`crates/a/src/c.rs`"), ["A.md:2: there is no crates/a/src/c.rs"]);
    }
}
