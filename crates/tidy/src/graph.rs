//! The list of crates in ARCHITECTURE.md: it must have all of them, each above those that it
//! depends on, and with those that it is tested with.

use std::collections::BTreeMap;

use crate::{Finding, SourceFile};

/// Where the list is.
const MAP: &str = "ARCHITECTURE.md";
/// What precedes a crate's dev-dependencies among our crates in its row.
const TESTED_WITH: &str = "tested with ";

/// A row of the list.
struct CrateRow<'a> {
    line: usize,
    name: &'a str,
    /// The crates that the row says it is tested with.
    tested_with: Vec<&'a str>,
}

/// Crates that are missing from the list or gone, dependencies that point up the list, and
/// dev-dependencies that it does not name.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let Some(map) = files.iter().find(|file| file.path == MAP) else { return Vec::new() };
    let rows = listed(map);
    let places: BTreeMap<&str, usize> =
        rows.iter().enumerate().map(|(place, row)| (row.name, place)).collect();
    let manifests: BTreeMap<&str, &SourceFile> =
        files.iter().filter_map(|file| Some((crate_of(&file.path)?, file))).collect();
    let mut findings = Vec::new();
    for CrateRow { line, name, .. } in &rows {
        if !manifests.contains_key(name) {
            findings.push(Finding::new(map, *line, format!("there is no crate `{name}`")));
        }
    }
    for (name, manifest) in &manifests {
        let Some(&place) = places.get(name) else {
            findings.push(Finding::new(map, 0, format!("the list of crates lacks `{name}`")));
            continue;
        };
        let own = dependencies(manifest, "[dependencies]");
        for &(line, dependency) in &own {
            if places.get(dependency).is_some_and(|&below| below <= place) {
                let what =
                    format!("`{name}` depends on `{dependency}`, which {MAP} lists above it");
                findings.push(Finding::new(manifest, line, what));
            }
        }
        let for_tests_alone = |(_, dependency): &(usize, &str)| {
            let is_own = own.iter().any(|(_, other)| other == dependency);
            places.contains_key(dependency) && dependency != name && !is_own
        };
        let tested_with =
            dependencies(manifest, "[dev-dependencies]").into_iter().filter(for_tests_alone);
        findings.extend(undeclared(map, &rows[place], manifest, &tested_with.collect::<Vec<_>>()));
    }
    findings
}

/// Dev-dependencies that are missing from a crate's row, and those that are only there.
fn undeclared(
    map: &SourceFile,
    row: &CrateRow<'_>,
    manifest: &SourceFile,
    tested_with: &[(usize, &str)],
) -> Vec<Finding> {
    let CrateRow { line, name, tested_with: named } = row;
    let lacking = tested_with.iter().filter(|(_, dependency)| !named.contains(dependency));
    let lacking = lacking.map(|(line, dependency)| {
        let what = format!(
            "`{name}` is tested with `{dependency}`, which its row in {MAP} does not say behind \
             \"{}\"",
            TESTED_WITH.trim_end()
        );
        Finding::new(manifest, *line, what)
    });
    let is_gone = |one: &&&str| tested_with.iter().all(|(_, dependency)| dependency != *one);
    let gone = named.iter().filter(is_gone).map(|dependency| {
        Finding::new(map, *line, format!("`{name}` is not tested with `{dependency}`"))
    });
    lacking.chain(gone).collect()
}

/// The rows of the table of crates.
fn listed(map: &SourceFile) -> Vec<CrateRow<'_>> {
    let lines = (1..).zip(map.text.lines());
    let table = lines.skip_while(|(_, line)| !line.starts_with("| crate |")).skip(2);
    let rows = table.take_while(|(_, line)| line.starts_with('|'));
    rows.filter_map(|(line, text)| {
        let name = *quoted(text.strip_prefix("| ")?).first()?;
        let behind = text.split_once(TESTED_WITH).map_or("", |(_, behind)| behind);
        Some(CrateRow { line, name, tested_with: quoted(behind) })
    })
    .collect()
}

/// The parts of a text that are between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The crate, if this is the path of its manifest.
fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml").filter(|name| !name.contains('/'))
}

/// The dependencies under a heading of a manifest, each with its line.
fn dependencies<'a>(manifest: &'a SourceFile, heading: &str) -> Vec<(usize, &'a str)> {
    let lines = (1..).zip(manifest.text.lines());
    let own = lines.skip_while(|(_, line)| *line != heading).skip(1);
    let own = own.take_while(|(_, line)| !line.starts_with('['));
    own.filter_map(|(number, line)| Some((number, line.split(['.', ' ', '=']).next()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(table: &str, manifests: &[(&str, &str)]) -> Vec<String> {
        let file = |path: String, text: String| SourceFile { path, text };
        let map = format!("# Map\n\n| crate | what |\n| --- | --- |\n{table}\nMore\n");
        let manifest = |(name, dependencies): &(&str, &str)| {
            let text = format!("[package]\n\n[dependencies]\n{dependencies}\n\n[lints]\n");
            file(format!("crates/{name}/Cargo.toml"), text)
        };
        let mut files: Vec<SourceFile> = manifests.iter().map(manifest).collect();
        files.push(file(MAP.to_owned(), map));
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn dependencies_point_down_the_list_of_all_crates() {
        let table = "| `a` | top |\n| `b` | bottom |\n";
        let right = [("a", "b.workspace = true"), ("b", "serde.workspace = true")];
        assert_eq!(findings(table, &right), [""; 0]);
        let up = findings(table, &[("a", ""), ("b", "a.workspace = true")]);
        assert_eq!(
            up,
            ["crates/b/Cargo.toml:4: `b` depends on `a`, which ARCHITECTURE.md lists above it"]
        );
        let missing = findings(table, &[("a", ""), ("b", ""), ("c", "")]);
        assert_eq!(missing, ["ARCHITECTURE.md:0: the list of crates lacks `c`"]);
        assert_eq!(findings(table, &[("a", "")]), ["ARCHITECTURE.md:6: there is no crate `b`"]);
    }

    #[test]
    fn dev_dependencies_are_those_that_the_list_names() {
        let table = |top| format!("| `a` | top{top} |\n| `b` | bottom; tested with `a` |\n");
        let dev = |on: &str| format!("serde = \"1\"\n\n[dev-dependencies]\n{on}.workspace = true");
        let (on_a, on_b) = (dev("a"), dev("b"));
        let manifests = [("a", on_b.as_str()), ("b", on_a.as_str())];
        assert_eq!(findings(&table("; tested with `b`"), &manifests), [""; 0]);
        let unsaid = findings(&table(""), &manifests);
        let expected = "crates/a/Cargo.toml:7: `a` is tested with `b`, which its row in \
                        ARCHITECTURE.md does not say behind \"tested with\"";
        assert_eq!(unsaid, [expected]);
        let gone = findings(&table(""), &[("a", ""), ("b", "")]);
        assert_eq!(gone, ["ARCHITECTURE.md:6: `b` is not tested with `a`"]);
    }
}
