//! The crates as ARCHITECTURE.md lists them: all of them, each above those that it depends on.

use std::collections::BTreeMap;

use crate::{Finding, SourceFile};

/// Where the list is.
const MAP: &str = "ARCHITECTURE.md";

/// Crates that the list lacks or that are gone, and dependencies that point up it.
pub fn check(files: &[SourceFile]) -> Vec<Finding> {
    let Some(map) = files.iter().find(|file| file.path == MAP) else { return Vec::new() };
    let places: BTreeMap<&str, usize> =
        listed(map).into_iter().enumerate().map(|(place, (_, name))| (name, place)).collect();
    let manifests: BTreeMap<&str, &SourceFile> =
        files.iter().filter_map(|file| Some((crate_of(&file.path)?, file))).collect();
    let mut findings = Vec::new();
    for (line, name) in listed(map) {
        if !manifests.contains_key(name) {
            findings.push(Finding::new(map, line, format!("there is no crate `{name}`")));
        }
    }
    for (name, manifest) in &manifests {
        let Some(place) = places.get(name) else {
            findings.push(Finding::new(map, 0, format!("the list of crates lacks `{name}`")));
            continue;
        };
        for (line, dependency) in dependencies(manifest) {
            if places.get(dependency).is_some_and(|below| below <= place) {
                let what =
                    format!("`{name}` depends on `{dependency}`, which {MAP} lists above it");
                findings.push(Finding::new(manifest, line, what));
            }
        }
    }
    findings
}

/// The first cells of the table of crates, each with its line.
fn listed(map: &SourceFile) -> Vec<(usize, &str)> {
    let lines = (1..).zip(map.text.lines());
    let table = lines.skip_while(|(_, line)| !line.starts_with("| crate |")).skip(2);
    let row = |(number, line): (usize, &'_ str)| -> Option<(usize, usize, usize)> {
        let start = line.find("| `")? + 3;
        Some((number, start, start + line[start..].find('`')?))
    };
    let rows = table.take_while(|(_, line)| line.starts_with('|'));
    rows.filter_map(|(number, line)| row((number, line)).map(|(n, a, b)| (n, &line[a..b])))
        .collect()
}

/// The crate whose manifest this is.
fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml").filter(|name| !name.contains('/'))
}

/// What a manifest names under `[dependencies]`, each with its line.
fn dependencies(manifest: &SourceFile) -> Vec<(usize, &str)> {
    let lines = (1..).zip(manifest.text.lines());
    let own = lines.skip_while(|(_, line)| *line != "[dependencies]").skip(1);
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
}
