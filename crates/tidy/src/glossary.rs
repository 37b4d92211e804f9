//! The glossary of ARCHITECTURE.md: each term has one type, which is defined where it says, and no
//! other type has that name.

use crate::{Finding, SourceFile, lexer};

/// Where the glossary is.
const MAP: &str = "ARCHITECTURE.md";

/// A row of the glossary: a term, its meaning, its type, and the file that defines it.
struct Term<'a> {
    line: usize,
    type_name: &'a str,
    path: &'a str,
}

/// Terms whose type is not where the glossary says, and other types with the same names.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let Some(map) = files.iter().find(|file| file.path == MAP) else { return Vec::new() };
    let mut findings = Vec::new();
    for term in terms(map) {
        let defined = || {
            let code = files.iter().filter(|file| is_product(&file.path));
            code.filter_map(|file| Some((file, definition(file, term.type_name)?)))
        };
        if !defined().any(|(file, _)| file.path == term.path) {
            let what = format!("{} does not define `{}`", term.path, term.type_name);
            findings.push(Finding::new(map, term.line, what));
        }
        for (file, line) in defined().filter(|(file, _)| file.path != term.path) {
            let what = format!("`{}` is a word of the glossary, for another thing", term.type_name);
            findings.push(Finding::new(file, line, what));
        }
    }
    findings
}

fn terms(map: &SourceFile) -> Vec<Term<'_>> {
    let lines = (1..).zip(map.text.lines());
    let table = lines.skip_while(|(_, line)| !line.starts_with("| term |")).skip(2);
    let rows = table.take_while(|(_, line)| line.starts_with('|'));
    rows.filter_map(|(line, text)| {
        let mut quoted = text.split('`').skip(1).step_by(2);
        Some(Term { line, type_name: quoted.next()?, path: quoted.next()? })
    })
    .collect()
}

/// Whether it is code of the product: not tests, the benchmark or these checks.
fn is_product(path: &str) -> bool {
    path.starts_with("crates/")
        && path.contains("/src/")
        && path.ends_with(".rs")
        && !path.ends_with("tests.rs")
        && !["crates/bench/", "crates/tidy/"].iter().any(|tool| path.starts_with(tool))
}

/// The line on which a file defines a type with this name.
fn definition(file: &SourceFile, type_name: &str) -> Option<usize> {
    let is_it = |line: &str| {
        let words = ["struct ", "enum ", "trait "];
        let named = words.iter().find_map(|word| line.split_once(word)).map(|(_, rest)| rest);
        named.is_some_and(|rest| lexer::find_word(rest, type_name) == Some(0))
    };
    (1..)
        .zip(file.text.lines())
        .find(|(_, line)| !line.trim_start().starts_with("//") && is_it(line))
        .map(|(line, _)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_has_one_type_where_the_glossary_says() {
        let map = SourceFile::new(
            MAP,
            "| term | meaning | type | file |\n| --- | --- | --- | --- |\n\
             | cell | a place | `Cell` | `crates/a/src/a.rs` |\n",
        );
        let found = |path: &str, text: &str| -> Vec<String> {
            let files = [map.clone(), SourceFile::new(path, text)];
            check(&files).iter().map(ToString::to_string).collect()
        };
        assert_eq!(found("crates/a/src/a.rs", "pub struct Cell<'a> {\n"), [""; 0]);
        assert_eq!(
            found("crates/a/src/a.rs", "/// struct Cell\nstruct Cells;\n"),
            ["ARCHITECTURE.md:3: crates/a/src/a.rs does not define `Cell`"]
        );
        let elsewhere = found("crates/b/src/b.rs", "\nenum Cell {}\n");
        assert_eq!(elsewhere.len(), 2, "{elsewhere:?}");
        assert_eq!(
            elsewhere[1],
            "crates/b/src/b.rs:2: `Cell` is a word of the glossary, for another thing"
        );
    }
}
