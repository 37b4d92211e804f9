//! Top-level modules of a crate that depend on each other in a circle, so that none of them can be
//! read, tested or moved without the others.
//!
//! An edge leads from a module to another whose items its code names, by `crate::` or `super::`.
//! Naming what a crate's root re-exports counts as naming the module that it comes from. Tests may
//! name anything.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Finding, SourceFile, lexer};

/// An edge that is allowed to close a circle.
struct Exception {
    /// The crate, by its folder below `crates/`.
    in_crate: &'static str,
    from: &'static str,
    to: &'static str,
    /// Why the two are better off that way.
    #[expect(dead_code, reason = "for readers of the list")]
    why: &'static str,
}

/// The edges that are allowed to close a circle. This list may only shrink.
const EXCEPTIONS: [Exception; 0] = [];

/// The modules that each module names, and the first place where it does.
type Edges = BTreeMap<String, BTreeMap<String, FirstUse>>;

/// Where one module first names another, and how often it does.
#[derive(Clone, Debug)]
struct FirstUse {
    path: String,
    line: usize,
    times: usize,
}

/// Circles between the modules of every crate, and exceptions for modules that no longer exist.
pub fn check(files: &[SourceFile], test_files: &BTreeSet<String>) -> Vec<Finding> {
    check_with(files, test_files, &EXCEPTIONS)
}

fn check_with(
    files: &[SourceFile],
    test_files: &BTreeSet<String>,
    exceptions: &[Exception],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let roots = files.iter().filter(|file| root_of(&file.path).is_some());
    for root in roots {
        let Some((name, folder)) = root_of(&root.path) else { continue };
        let is_own =
            |file: &&SourceFile| file.path.starts_with(folder) && !test_files.contains(&file.path);
        let own: Vec<&SourceFile> = files.iter().filter(is_own).collect();
        let mut edges = edges(folder, root, &own);
        let excepted = |from: &str, to: &str| {
            exceptions.iter().any(|one| one.in_crate == name && one.from == from && one.to == to)
        };
        for (from, all) in &mut edges {
            all.retain(|to, _| !excepted(from, to));
        }
        findings.extend(circles(root, &edges));
    }
    let is_stale = |one: &&Exception| {
        let folder = format!("crates/{}/src/", one.in_crate);
        let is_gone = |module: &str| {
            let file = format!("{folder}{module}.rs");
            let within = format!("{folder}{module}/");
            !files.iter().any(|one| one.path == file || one.path.starts_with(&within))
        };
        is_gone(one.from) || is_gone(one.to)
    };
    findings.extend(exceptions.iter().filter(is_stale).map(|one| Finding {
        path: "crates/tidy/src/circles.rs".to_owned(),
        line: 0,
        what: format!("there is no {} and {} in {}: drop it", one.from, one.to, one.in_crate),
    }));
    findings
}

/// If a file is the root of a crate, the crate, and the folder of its sources.
fn root_of(path: &str) -> Option<(&str, &str)> {
    let folder = path.strip_suffix("lib.rs").or_else(|| path.strip_suffix("main.rs"))?;
    let name = folder.strip_prefix("crates/")?.strip_suffix("/src/")?;
    (!name.contains('/')).then_some((name, folder))
}

/// One finding for each set of modules that can all reach each other.
fn circles(root: &SourceFile, edges: &Edges) -> Vec<Finding> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        edges.keys().map(|from| (from, reached_from(from, edges))).collect();
    let mut findings = Vec::new();
    let mut done = BTreeSet::new();
    for from in edges.keys() {
        let comes_back = |to: &&&String| reached.get(*to).is_some_and(|all| all.contains(from));
        let circle: Vec<&String> = reached[from].iter().filter(comes_back).copied().collect();
        if circle.len() < 2 || !done.insert(circle.clone()) {
            continue;
        }
        let mut within: Vec<(&String, &String, &FirstUse)> = Vec::new();
        for from in &circle {
            let inside = edges[*from].iter().filter(|(to, _)| circle.contains(to));
            within.extend(inside.map(|(to, place)| (*from, to, place)));
        }
        within.sort_by_key(|(from, to, place)| (place.times, *from, *to));
        let lines: Vec<String> = within
            .iter()
            .map(|(from, to, place)| {
                format!("  {from} -> {to}: {} times, {}:{}", place.times, place.path, place.line)
            })
            .collect();
        let what = format!(
            "{} modules need each other in a circle; move what they share below them:\n{}",
            circle.len(),
            lines.join("\n")
        );
        findings.push(Finding::new(root, 0, what));
    }
    findings
}

/// The modules that can be reached from one along the edges.
fn reached_from<'a>(from: &'a String, edges: &'a Edges) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut pending = vec![from];
    while let Some(module) = pending.pop() {
        for to in edges.get(module).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(to) {
                pending.push(to);
            }
        }
    }
    reached
}

/// Which of the others each top-level module of a crate names.
fn edges(folder: &str, root: &SourceFile, own: &[&SourceFile]) -> Edges {
    let modules: BTreeSet<&str> = own.iter().filter_map(|file| module_of(folder, file)).collect();
    let exported = exports(root, &modules);
    let mut edges: Edges =
        modules.iter().map(|module| ((*module).to_owned(), BTreeMap::new())).collect();
    for file in own {
        let Some(from) = module_of(folder, file) else { continue };
        let code = without_tests(&lexer::code_only(&file.text));
        for (line, path) in named_paths(&code, depth(folder, file)) {
            let first = path.first().map_or("", String::as_str);
            let to = modules.get(first).copied().or_else(|| exported.get(first).copied());
            let Some(to) = to.filter(|to| *to != from) else { continue };
            let all = edges.entry(from.to_owned()).or_default();
            let place = FirstUse { path: file.path.clone(), line, times: 0 };
            all.entry(to.to_owned()).or_insert(place).times += 1;
        }
    }
    edges
}

/// The top-level module that a file belongs to.
fn module_of<'a>(folder: &str, file: &'a SourceFile) -> Option<&'a str> {
    let below = file.path.strip_prefix(folder)?.strip_suffix(".rs")?;
    let module = below.split('/').next()?;
    (!["lib", "main", "bin"].contains(&module)).then_some(module)
}

/// How many times `super` it takes to get from a file to its crate's root.
fn depth(folder: &str, file: &SourceFile) -> usize {
    let below = file.path.strip_prefix(folder).unwrap_or_default();
    below.split('/').filter(|part| *part != "mod.rs").count()
}

/// The names that a root re-exports, each with the module it comes from.
fn exports<'a>(root: &SourceFile, modules: &BTreeSet<&'a str>) -> BTreeMap<String, &'a str> {
    let code = lexer::code_only(&root.text);
    let mut exported = BTreeMap::new();
    for (at, _) in code.match_indices("use ") {
        for mut path in expanded(&code[at + 4..]) {
            path.retain(|part| part != "crate");
            let (Some(first), Some(last)) = (path.first(), path.last()) else { continue };
            if let Some(module) = modules.get(first.as_str()) {
                exported.insert(last.clone(), *module);
            }
        }
    }
    exported
}

/// The code before the tests in the same file.
fn without_tests(code: &str) -> String {
    let end = code.find("#[cfg(test)]\nmod tests {").unwrap_or(code.len());
    code[..end].to_owned()
}

/// The paths from the crate's root that code names, without `crate`, each with its line.
fn named_paths(code: &str, depth: usize) -> Vec<(usize, Vec<String>)> {
    let mut all = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            let line = code[..at].matches('\n').count() + 1;
            for path in expanded(&code[at..]) {
                let ups = path.iter().take_while(|part| *part == "super").count();
                if start == "crate::" {
                    all.push((line, path[1..].to_vec()));
                } else if ups >= depth {
                    all.push((line, path[ups..].to_vec()));
                }
            }
        }
    }
    all.sort();
    all
}

/// The paths that a path with groups in braces stands for.
fn expanded(text: &str) -> Vec<Vec<String>> {
    let mut text = text;
    expand(&mut text)
}

/// Reads one path, and moves `text` past it.
fn expand(text: &mut &str) -> Vec<Vec<String>> {
    let mut path: Vec<String> = Vec::new();
    loop {
        *text = text.trim_start();
        if let Some(inside) = text.strip_prefix('{') {
            *text = inside;
            return group(text, &path);
        }
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        if end > 0 {
            path.push(text[..end].to_owned());
        }
        *text = &text[end..];
        if let Some(after) = text.strip_prefix('*') {
            *text = after;
        }
        let Some(rest) = text.strip_prefix("::") else { return vec![path] };
        *text = rest;
    }
}

/// Reads the contents of a group up to its closing brace, and prefixes each with `path`.
fn group(text: &mut &str, path: &[String]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    loop {
        *text = text.trim_start();
        if text.is_empty() {
            return all;
        }
        if let Some(rest) = text.strip_prefix('}') {
            *text = rest;
            return all;
        }
        let length = text.len();
        all.extend(expand(text).into_iter().map(|rest| [path, &rest].concat()));
        // Skip what is not part of a path: a comma, or `as` and the name after it.
        let separator = text.find([',', '}']).unwrap_or(text.len());
        *text = &text[separator..];
        if let Some(rest) = text.strip_prefix(',') {
            *text = rest;
        }
        if text.len() == length {
            return all;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)], exceptions: &[Exception]) -> Vec<String> {
        let path = |name: &str| format!("crates/a/src/{name}");
        let files: Vec<SourceFile> =
            files.iter().map(|(name, text)| SourceFile::new(&path(name), text)).collect();
        let tests = BTreeSet::from([path("b/tests.rs")]);
        check_with(&files, &tests, exceptions).iter().map(ToString::to_string).collect()
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod b;\nmod c;\npub use c::{Deep, f as g};\n");

    #[test]
    fn modules_that_need_each_other_are_found_by_every_way_to_name_one() {
        let back = ("c.rs", "fn f() {\n    crate::b::h()\n}\n");
        let ways = [
            ("b.rs", "use crate::c::f;\n"),
            ("b.rs", "use crate::{d, c::{e, f}};\n"),
            ("b.rs", "use crate::Deep;\n"),
            ("b.rs", "use super::c;\n"),
            ("b/mod.rs", "use super::c;\n"),
            ("b/e.rs", "use super::super::c::f;\n"),
            ("b/e.rs", "fn f(deep: &crate::Deep) {}\n"),
        ];
        for way in ways {
            let circles = found(&[ROOT, way, back], &[]);
            assert_eq!(circles.len(), 1, "{way:?}");
            assert!(circles[0].contains("  c -> b: 1 times, crates/a/src/c.rs:2"), "{circles:?}");
            assert!(circles[0].starts_with("crates/a/src/lib.rs:0: 2 modules need each other"));
        }
    }

    #[test]
    fn what_closes_no_circle_is_let_be() {
        let back = ("c.rs", "use crate::b::h;\n");
        let others = [
            ("b.rs", "// crate::c::f\nconst C: &str = \"crate::c\";\n"),
            ("b.rs", "#[cfg(test)]\nmod tests {\n    use crate::c;\n}\n"),
            ("b.rs", "use other::crate_c;\nuse crate::b::f;\n"),
            ("b/e.rs", "use super::c;\n"),
            ("b/tests.rs", "use crate::c;\n"),
        ];
        for other in others {
            assert_eq!(found(&[ROOT, other, back], &[]), [""; 0], "{other:?}");
        }
    }

    #[test]
    fn an_exception_is_for_an_edge_that_is_there() {
        let circle = [ROOT, ("b.rs", "use crate::c;\n"), ("c.rs", "use crate::b;\n")];
        let exception = |to| Exception { in_crate: "a", from: "b", to, why: "a test" };
        assert_eq!(found(&circle, &[exception("c")]), [""; 0]);
        let stale = found(&circle, &[exception("c"), exception("gone")]);
        assert_eq!(stale, ["crates/tidy/src/circles.rs:0: there is no b and gone in a: drop it"]);
    }
}
