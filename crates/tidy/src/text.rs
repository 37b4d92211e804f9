//! Rules for every text file: its size, width, opening, white space and words.

use crate::{Finding, SourceFile, lexer};

/// Lines of a Rust or TypeScript file beyond which it must be split, or listed below.
const LINES_MAX: usize = 500;

/// Lines that no file may exceed, listed or not.
const LINES_MAX_EVER: usize = 800;

/// Files longer than [`LINES_MAX`], each with the reason why splitting it would read worse.
const LONG_FILES: &[(&str, &str)] = &[];

/// The widest line, in characters.
const WIDTH_MAX: usize = 100;

/// Notes to oneself, which belong in the issue tracker. Assembled here so that this file passes.
const LEFTOVERS: [&str; 4] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];

/// Paths that only exist on one person's machine.
const PRIVATE_PATHS: [&str; 3] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Hosts of package registries, which only lock files have reason to name.
const REGISTRY_HOSTS: [&str; 4] = [
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("registry.npmjs", ".org"),
    concat!("files.python", "hosted.org"),
];

/// Everything that is wrong with the text of one file. Generated files and captured data are
/// exempt.
pub fn check(file: &SourceFile) -> Vec<Finding> {
    if is_exempt(&file.path) {
        return Vec::new();
    }
    let checks =
        [size, width, opening, white_space, final_newline, leftovers, private_paths, registries];
    checks.iter().flat_map(|check| check(file)).collect()
}

/// Whether a file is written by a tool, or is a capture that must stay as it was found.
fn is_exempt(path: &str) -> bool {
    let is_lock_file = path.ends_with("Cargo.lock") || path.ends_with("package-lock.json");
    let is_licence = path.starts_with("LICENSE");
    // The bundle that web/ is built into, and its generated contract.
    let is_generated = path.starts_with("crates/report/assets/") || path == "web/src/contract.ts";
    let is_capture = path.split('/').any(|component| component == "fixtures");
    is_lock_file || is_licence || is_generated || is_capture
}

/// Files too long to be read in one sitting.
pub fn size(file: &SourceFile) -> Vec<Finding> {
    size_with(file, LONG_FILES)
}

fn size_with(file: &SourceFile, long_files: &[(&str, &str)]) -> Vec<Finding> {
    let lines = file.text.lines().count();
    let is_listed = long_files.iter().any(|(path, _)| *path == file.path);
    let limit = if is_listed { LINES_MAX_EVER } else { LINES_MAX };
    let is_code = file.has_extension(&["rs", "ts", "tsx"]);
    if is_code && lines > limit {
        return vec![Finding::new(file, 0, format!("{lines} lines, over {limit}: split it"))];
    }
    if is_listed && lines <= LINES_MAX {
        return vec![Finding::new(file, 0, "no longer long: take it off LONG_FILES")];
    }
    Vec::new()
}

/// Lines that are wider than a terminal next to an editor. Tables, links, quoted output and the
/// texts of a page may be.
pub fn width(file: &SourceFile) -> Vec<Finding> {
    let is_prose = file.has_extension(&["md"]);
    if !is_prose && !file.has_extension(&["rs", "ts", "tsx"]) && !file.is_shell_script() {
        return Vec::new();
    }
    let mut is_fenced = false;
    // Attribute values and texts cannot be broken there.
    let is_markup = file.has_extension(&["tsx"]);
    let is_too_wide = |line: &str| {
        is_fenced ^= is_prose && line.trim_start().starts_with("```");
        let may_be_wide = (is_prose && (is_fenced || line.trim_start().starts_with('|')))
            || (is_markup && line.contains(['"', '`']));
        line.chars().count() > WIDTH_MAX && !may_be_wide && !line.contains("://")
    };
    flag_lines(file, is_too_wide, "wider than 100 characters: break the line")
}

/// Rust files that do not start by saying what they are for.
pub fn opening(file: &SourceFile) -> Vec<Finding> {
    if file.has_extension(&["rs"]) && !file.text.starts_with("//! ") {
        return vec![Finding::new(file, 1, "opens without a //! line that says what it is for")];
    }
    Vec::new()
}

/// White space at the end of a line, tabs in Rust, and carriage returns.
pub fn white_space(file: &SourceFile) -> Vec<Finding> {
    let is_rust = file.has_extension(&["rs"]);
    let mut findings = Vec::new();
    // `split` rather than `lines`, which would hide a carriage return.
    for (index, line) in file.text.split('\n').enumerate() {
        if line.ends_with(char::is_whitespace) {
            findings.push(Finding::new(file, index + 1, "white space at the end of the line"));
        }
        if is_rust && line.contains('\t') {
            findings.push(Finding::new(file, index + 1, "a tab: indent with spaces"));
        }
    }
    findings
}

/// Files whose last line has no newline, or that end in blank lines.
pub fn final_newline(file: &SourceFile) -> Vec<Finding> {
    let is_ended = file.text.is_empty() || file.text.ends_with('\n');
    if !is_ended || file.text.ends_with("\n\n") {
        let last = file.text.lines().count();
        return vec![Finding::new(file, last, "does not end in exactly one newline")];
    }
    Vec::new()
}

/// Notes of unfinished work.
pub fn leftovers(file: &SourceFile) -> Vec<Finding> {
    let has_note = |line: &str| LEFTOVERS.iter().any(|note| lexer::find_word(line, note).is_some());
    flag_lines(file, has_note, "a note of unfinished work: do it, or open an issue")
}

/// Paths on somebody's own machine.
pub fn private_paths(file: &SourceFile) -> Vec<Finding> {
    // Only absolute paths: an overlay's own `upper` and `work` directories are fine.
    let is_absolute = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || c == '}');
    let has_path = |line: &str| {
        PRIVATE_PATHS
            .iter()
            .any(|path| line.match_indices(path).any(|(at, _)| is_absolute(&line[..at])))
    };
    flag_lines(file, has_path, "a path of one person's machine")
}

/// Hosts of package registries.
pub fn registries(file: &SourceFile) -> Vec<Finding> {
    let has_host = |line: &str| REGISTRY_HOSTS.iter().any(|host| line.contains(host));
    flag_lines(file, has_host, "a package registry's host: leave the choice of it to the tools")
}

fn flag_lines(
    file: &SourceFile,
    mut is_wrong: impl FnMut(&str) -> bool,
    what: &str,
) -> Vec<Finding> {
    let lines = file.text.lines().enumerate();
    lines
        .filter(|(_, line)| is_wrong(line))
        .map(|(index, _)| Finding::new(file, index + 1, what))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rust(text: &str) -> SourceFile {
        SourceFile::new("crates/a/src/b.rs", text)
    }

    fn lines_of(findings: &[Finding]) -> Vec<usize> {
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_tidy_file_passes_every_check() {
        assert_eq!(check(&rust("//! Good.\n\nfn f() {}\n")), []);
    }

    #[test]
    fn long_files_must_be_listed_and_listed_ones_have_a_limit_too() {
        let of = |lines| rust(&"//! x\n".repeat(lines));
        let listed: &[(&str, &str)] = &[("crates/a/src/b.rs", "one table")];
        assert_eq!(size_with(&of(500), &[]), []);
        assert_eq!(size_with(&of(501), &[]).len(), 1);
        assert_eq!(size_with(&of(800), listed), []);
        assert_eq!(size_with(&of(801), listed).len(), 1);
        assert!(size_with(&of(500), listed)[0].what.contains("no longer long"));
        assert_eq!(size(&SourceFile::new("a.md", &"x\n".repeat(900))), []);
    }

    #[test]
    fn wide_lines_are_found_and_counted_in_characters() {
        let wide = format!("//! {}\n", "x".repeat(97));
        assert_eq!(lines_of(&width(&rust(&wide))), [1]);
        assert_eq!(width(&rust(&format!("//! {}\n", "é".repeat(96)))), []);
        assert_eq!(lines_of(&width(&SourceFile::new("s", &format!("#!/bin/sh\n{wide}")))), [2]);
        assert_eq!(width(&SourceFile::new("a.toml", &wide)), []);
    }

    #[test]
    fn prose_may_hold_wide_tables_links_and_output() {
        let x = "x".repeat(101);
        let text = format!("|{x}|\n```\n{x}\n```\nhttps://{x}\n{x}\n");
        assert_eq!(lines_of(&width(&SourceFile::new("a.md", &text))), [6]);
    }

    #[test]
    fn a_file_says_what_it_is_for() {
        assert_eq!(lines_of(&opening(&rust("use a;\n//! Late.\n"))), [1]);
        assert_eq!(opening(&SourceFile::new("a.ts", "x\n")), []);
    }

    #[test]
    fn white_space_at_the_end_and_tabs_are_found() {
        assert_eq!(lines_of(&white_space(&rust("a \nb\r\n\tc\nd\n"))), [1, 2, 3]);
        assert_eq!(white_space(&SourceFile::new("Makefile", "a:\n\tb\n")), []);
    }

    #[test]
    fn a_file_ends_in_one_newline() {
        assert_eq!(lines_of(&final_newline(&rust("a\nb"))), [2]);
        assert_eq!(final_newline(&rust("a\n\n")).len(), 1);
        assert_eq!(final_newline(&rust("a\n")), []);
        assert_eq!(final_newline(&rust("")), []);
    }

    #[test]
    fn each_note_of_unfinished_work_is_found_as_a_word() {
        for note in LEFTOVERS {
            assert_eq!(lines_of(&leftovers(&rust(&format!("a\n// {note}: b\n")))), [2], "{note}");
            assert_eq!(leftovers(&rust(&format!("mkstemp(\"{note}X\")\n"))), [], "{note}");
        }
    }

    #[test]
    fn each_private_path_is_found_where_it_is_absolute() {
        for path in PRIVATE_PATHS {
            assert_eq!(lines_of(&private_paths(&rust(&format!("\"{path}x\"\n")))), [1], "{path}");
            assert_eq!(private_paths(&rust(&format!("overlay{path}x\n"))), [], "{path}");
        }
    }

    #[test]
    fn each_registry_host_is_found_but_in_lock_files() {
        for host in REGISTRY_HOSTS {
            let text = format!("url = \"https://{host}/x\"\n");
            assert_eq!(registries(&SourceFile::new("config.toml", &text)).len(), 1, "{host}");
            assert_eq!(check(&SourceFile::new("Cargo.lock", &text)), [], "{host}");
        }
    }

    #[test]
    fn captured_data_stays_as_it_was_found() {
        assert_eq!(check(&SourceFile::new("crates/a/tests/fixtures/mountinfo", "a \nb")), []);
    }

    #[test]
    fn only_what_is_generated_is_left_as_its_generator_writes_it() {
        for path in ["crates/report/assets/page.js", "web/src/contract.ts"] {
            assert_eq!(check(&SourceFile::new(path, "a \nb")), [], "{path}");
        }
        assert_ne!(check(&SourceFile::new("web/src/main.ts", "a \nb")), []);
    }
}
