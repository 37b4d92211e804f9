//! Which Rust files are compiled at all, and which only for tests.
//!
//! Cargo compiles a crate's targets. A target reaches other files through `mod name;`, with or
//! without a `#[path]`, and `include!`. A file that is never reached is dead. Declarations are read
//! line by line, as rustfmt writes them; file modules inside inline modules are not followed.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Finding, SourceFile, lexer};

/// Rust files that no target of their crate reaches.
pub fn dead_files(files: &[SourceFile]) -> Vec<Finding> {
    let reached = reach(files);
    let is_dead = |file: &&SourceFile| {
        file.has_extension(&["rs"])
            && !reached.contains_key(&file.path)
            && !file.path.split('/').any(|component| component == "fixtures")
    };
    let what = "no `mod` declaration or cargo target reaches this file: declare or delete it";
    files.iter().filter(is_dead).map(|file| Finding::new(file, 0, what)).collect()
}

/// Modules in a file next to their folder. A module with a folder must be in its `mod.rs`, so that
/// the folder is complete.
pub fn mixed_styles(files: &[SourceFile]) -> Vec<Finding> {
    let has_folder = |file: &&SourceFile| {
        let Some(stem) = file.path.strip_suffix(".rs") else { return false };
        let folder = format!("{stem}/");
        let is_within = |other: &SourceFile| {
            other.path.strip_prefix(&folder).is_some_and(|rest| !rest.contains('/'))
        };
        file.path.contains("/src/") && files.iter().any(is_within)
    };
    let what = "a module in a file beside its folder: move it to mod.rs in the folder";
    files.iter().filter(has_folder).map(|file| Finding::new(file, 0, what)).collect()
}

/// Paths of the files that are only compiled for tests: test and benchmark targets, and files that
/// only `#[cfg(test)]` declares.
pub fn test_files(files: &[SourceFile]) -> BTreeSet<String> {
    let reached = reach(files).into_iter();
    reached.filter(|(_, use_)| *use_ == Use::TestsOnly).map(|(path, _)| path).collect()
}

/// What a reached file is compiled for. In this order, use by the product overrides use by tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    TestsOnly,
    Product,
}

/// Every file that some target reaches.
fn reach(files: &[SourceFile]) -> BTreeMap<String, Use> {
    let by_path: BTreeMap<&str, &SourceFile> =
        files.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut pending: Vec<(String, Use, bool)> = targets(files);
    let mut reached = BTreeMap::new();
    while let Some((path, use_, is_target)) = pending.pop() {
        let Some(file) = by_path.get(path.as_str()) else { continue };
        if reached.get(&path).is_some_and(|known| *known >= use_) {
            continue;
        }
        reached.insert(path, use_);
        for child in declarations(file) {
            let use_ = if child.is_for_tests { Use::TestsOnly } else { use_ };
            for path in child.candidates(&file.path, is_target) {
                pending.push((path, use_, false));
            }
        }
    }
    reached
}

/// The targets that cargo finds by itself, and those that a manifest names by `path`.
fn targets(files: &[SourceFile]) -> Vec<(String, Use, bool)> {
    let mut targets = Vec::new();
    for manifest in files.iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        let root = manifest.path.trim_end_matches("Cargo.toml");
        for file in files.iter().filter(|file| file.has_extension(&["rs"])) {
            if let Some(use_) = file.path.strip_prefix(root).and_then(target_use) {
                targets.push((file.path.clone(), use_, true));
            }
        }
        for line in manifest.text.lines().filter(|line| line.starts_with("path = \"")) {
            let path = line.split('"').nth(1).unwrap_or_default();
            let is_for_tests = path.starts_with("tests/") || path.starts_with("benches/");
            let use_ = if is_for_tests { Use::TestsOnly } else { Use::Product };
            targets.push((format!("{root}{path}"), use_, true));
        }
    }
    targets
}

/// What the target at `path`, relative to its crate, is for; `None` if it is not a target.
fn target_use(path: &str) -> Option<Use> {
    let components: Vec<&str> = path.split('/').collect();
    match components.as_slice() {
        ["build.rs"] | ["src", "lib.rs" | "main.rs"] => Some(Use::Product),
        ["src", "bin", _] | ["src", "bin", _, "main.rs"] => Some(Use::Product),
        ["examples", _] | ["examples", _, "main.rs"] => Some(Use::Product),
        ["tests" | "benches", _] | ["tests" | "benches", _, "main.rs"] => Some(Use::TestsOnly),
        _ => None,
    }
}

/// A declaration of another file.
struct Declaration {
    /// A module's name, or a path relative to the directory of the declaring file.
    name: String,
    is_path: bool,
    is_for_tests: bool,
}

impl Declaration {
    /// Where the declared file may be, given the file that declares it.
    fn candidates(&self, parent: &str, parent_is_target: bool) -> Vec<String> {
        let (directory, file_name) = parent.rsplit_once('/').unwrap_or(("", parent));
        if self.is_path {
            return vec![normalize(&format!("{directory}/{}", self.name))];
        }
        let stem = file_name.trim_end_matches(".rs");
        let is_root = parent_is_target || stem == "mod";
        let below = if is_root { directory.to_owned() } else { format!("{directory}/{stem}") };
        vec![format!("{below}/{}.rs", self.name), format!("{below}/{}/mod.rs", self.name)]
    }
}

fn declarations(file: &SourceFile) -> Vec<Declaration> {
    let code = lexer::code_only(&file.text);
    let mut declarations = Vec::new();
    let (mut path, mut is_for_tests) = (None, false);
    for (line, raw) in code.lines().map(str::trim).zip(file.text.lines().map(str::trim)) {
        if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test") {
            is_for_tests = true;
        }
        if line.starts_with("#[path") {
            path = raw.split('"').nth(1).map(str::to_owned);
        }
        if let Some(included) = line.find("include!(").and_then(|at| raw[at..].split('"').nth(1)) {
            let name = included.to_owned();
            declarations.push(Declaration { name, is_path: true, is_for_tests });
        }
        if let Some(name) = declared_module(line) {
            let is_path = path.is_some();
            let name = path.take().unwrap_or_else(|| name.to_owned());
            declarations.push(Declaration { name, is_path, is_for_tests });
        }
        // Attributes and blank lines (which comments have become) may be between an attribute and
        // its item.
        if !line.is_empty() && !line.starts_with("#[") && !line.ends_with("]") {
            (path, is_for_tests) = (None, false);
        }
    }
    declarations
}

/// The name in `mod name;`, whatever its visibility.
fn declared_module(line: &str) -> Option<&str> {
    let (visibility, rest) = line.split_at(lexer::find_word(line, "mod")?);
    let is_declaration = visibility.is_empty() || visibility.starts_with("pub");
    let name = rest.strip_prefix("mod ")?.strip_suffix(';')?;
    is_declaration.then_some(name)
}

/// Resolves `.` and `..` in a relative path.
fn normalize(path: &str) -> String {
    let mut components: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => drop(components.pop()),
            _ => components.push(component),
        }
    }
    components.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Vec<SourceFile> {
        let manifest = SourceFile::new("crates/a/Cargo.toml", "[package]\nname = \"a\"\n");
        let rest =
            files.iter().map(|(path, text)| SourceFile::new(&format!("crates/a/{path}"), text));
        std::iter::once(manifest).chain(rest).collect()
    }

    #[track_caller]
    fn assert_dead(files: &[(&str, &str)], wanted: &[&str]) {
        let dead: Vec<String> =
            dead_files(&tree(files)).into_iter().map(|finding| finding.path).collect();
        let wanted: Vec<String> = wanted.iter().map(|path| format!("crates/a/{path}")).collect();
        assert_eq!(dead, wanted);
    }

    #[test]
    fn a_file_that_nobody_declares_is_dead() {
        assert_dead(
            &[("src/lib.rs", "mod b;\n"), ("src/b.rs", ""), ("src/c.rs", "")],
            &["src/c.rs"],
        );
    }

    #[test]
    fn a_declaration_in_a_comment_does_not_count() {
        assert_dead(&[("src/lib.rs", "// mod b;\n"), ("src/b.rs", "")], &["src/b.rs"]);
    }

    #[test]
    fn modules_are_followed_in_either_layout() {
        let files = [
            ("src/lib.rs", "pub mod b;\npub(crate) mod c;\n"),
            ("src/b.rs", "mod inner;\n"),
            ("src/b/inner.rs", ""),
            ("src/c/mod.rs", "mod inner;\n"),
            ("src/c/inner.rs", ""),
            ("src/inner.rs", ""),
        ];
        assert_dead(&files, &["src/inner.rs"]);
    }

    #[test]
    fn targets_are_alive_and_their_directories_are_not() {
        let files = [
            ("build.rs", ""),
            ("src/main.rs", ""),
            ("src/bin/tool.rs", ""),
            ("tests/t.rs", "mod help;\n"),
            ("tests/help/mod.rs", ""),
            ("tests/lost/mod.rs", ""),
            ("examples/e.rs", ""),
            ("benches/big/main.rs", "mod part;\n"),
            ("benches/big/part.rs", ""),
        ];
        assert_dead(&files, &["tests/lost/mod.rs"]);
    }

    #[test]
    fn paths_and_includes_count() {
        let files = [
            ("src/lib.rs", "#[path = \"../shared/b.rs\"]\nmod b;\ninclude!(\"c.rs\");\n"),
            ("shared/b.rs", ""),
            ("src/c.rs", ""),
        ];
        assert_dead(&files, &[]);
    }

    #[test]
    fn a_manifest_can_name_a_target() {
        let mut files = tree(&[("odd/place.rs", "")]);
        assert_eq!(dead_files(&files).len(), 1);
        files[0].text.push_str("[lib]\npath = \"odd/place.rs\"\n");
        assert_eq!(dead_files(&files), []);
        assert!(test_files(&files).is_empty());
        files.push(SourceFile::new("crates/a/tests/b/main.rs", ""));
        files[0].text.push_str("[[test]]\npath = \"tests/b/main.rs\"\n");
        assert!(test_files(&files).contains("crates/a/tests/b/main.rs"));
    }

    #[test]
    fn captured_sources_may_lie_about() {
        assert_dead(&[("src/lib.rs", ""), ("tests/fixtures/x.rs", "")], &[]);
    }

    #[test]
    fn what_only_tests_declare_is_a_test_file() {
        let files = tree(&[
            ("src/lib.rs", "mod b;\n#[cfg(test)]\nmod c;\nmod d;\n"),
            ("src/b.rs", "#[cfg(test)]\nmod tests;\n"),
            ("src/b/tests.rs", "mod deeper;\n"),
            ("src/b/tests/deeper.rs", ""),
            ("src/c.rs", ""),
            ("src/d.rs", ""),
            ("tests/t.rs", ""),
        ]);
        let wanted = ["src/b/tests.rs", "src/b/tests/deeper.rs", "src/c.rs", "tests/t.rs"];
        let wanted: Vec<String> = wanted.iter().map(|path| format!("crates/a/{path}")).collect();
        assert_eq!(test_files(&files).into_iter().collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_module_with_a_folder_is_in_it() {
        let file = |path: &str| SourceFile { path: path.to_owned(), text: String::new() };
        let paths = |paths: &[&str]| {
            let files: Vec<SourceFile> = paths.iter().map(|path| file(path)).collect();
            mixed_styles(&files).into_iter().map(|one| one.path).collect::<Vec<_>>()
        };
        assert_eq!(paths(&["crates/a/src/b.rs", "crates/a/src/b/c.rs"]), ["crates/a/src/b.rs"]);
        assert_eq!(paths(&["crates/a/src/b/mod.rs", "crates/a/src/b/c.rs"]), [""; 0]);
    }
}
