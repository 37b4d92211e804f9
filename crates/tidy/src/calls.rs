//! Calls and keywords that are banned from some or all code.

use std::collections::BTreeSet;

use crate::{Finding, SourceFile, lexer};

/// A call that is banned in some files, and why.
struct Ban {
    /// What to look for, in code without comments and the contents of literals.
    call: &'static str,
    /// Where it is banned.
    within: Scope,
    /// What to do instead.
    instead: &'static str,
}

/// Which code a ban covers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Everywhere.
    Everywhere,
    /// In tests only.
    Tests,
    /// In everything except tests.
    OutsideTests,
    /// In libraries. Programs, examples and build scripts may print, as output is their purpose,
    /// and so may tests, which may be programs at the other end of a pipe.
    Libraries,
}

const BANS: &[Ban] = &[
    Ban { call: "dbg!", within: Scope::Everywhere, instead: "remove it" },
    Ban { call: "todo!", within: Scope::Everywhere, instead: "write it" },
    Ban { call: "unimplemented!", within: Scope::Everywhere, instead: "return a typed error" },
    Ban { call: "println!", within: Scope::Libraries, instead: "return the text to the program" },
    Ban { call: "print!", within: Scope::Libraries, instead: "return the text to the program" },
    Ban { call: "thread::sleep", within: Scope::Tests, instead: "wait for the event itself" },
    Ban { call: "nanosleep", within: Scope::Tests, instead: "wait for the event itself" },
    Ban {
        call: ".unwrap()",
        within: Scope::OutsideTests,
        instead: "return an error, or `expect` with the reason why it cannot fail",
    },
];

/// Crates that are programs, which may write to standard output.
const PROGRAMS: [&str; 2] = ["crates/fsprism/", "crates/bench/"];

/// The files that may contain `unsafe`, each with what needs it.
const UNSAFE_FILES: &[(&str, &str)] = &[
    ("crates/densefs/src/arena/line.rs", "memory that processes share"),
    ("crates/densefs/src/arena/mod.rs", "memory that processes share"),
    ("crates/densefs/src/vectors.rs", "instructions that compare many numbers"),
    ("crates/densefs/tests/core/memory.rs", "memory of a test that stands for such"),
    ("crates/densefs-c/src/answer.rs", "C's errno and its struct stat"),
    ("crates/densefs-c/src/arguments.rs", "pointers from C"),
    ("crates/densefs-c/src/attached.rs", "a file system as a pointer"),
    ("crates/densefs-c/src/attaching.rs", "pointers from C"),
    ("crates/densefs-c/src/attributes.rs", "pointers from C"),
    ("crates/densefs-c/src/bin/train.rs", "functions of a library that is loaded"),
    ("crates/densefs-c/src/control.rs", "pointers from C"),
    ("crates/densefs-c/src/directories.rs", "pointers from C"),
    ("crates/densefs-c/src/extended.rs", "pointers from C"),
    ("crates/densefs-c/src/files.rs", "pointers from C"),
    ("crates/densefs-c/src/locks.rs", "a name that C knows"),
    ("crates/densefs-c/src/mapped.rs", "memory that C programs map"),
    ("crates/densefs-c/src/names.rs", "pointers from C"),
    ("crates/densefs-c/src/permissions.rs", "pointers from C"),
    ("crates/densefs-c/src/resolved.rs", "pointers from C"),
    ("crates/densefs-c/src/status.rs", "C's struct statx and statvfs"),
    ("crates/densefs-c/src/streams.rs", "streams of the C library"),
    ("crates/densefs-c/src/temporary.rs", "pointers from C"),
    ("crates/densefs-c/src/tree_stream/entry.rs", "entries that C programs hold"),
    ("crates/densefs-c/src/tree_stream/mod.rs", "pointers from C"),
    ("crates/densefs-c/src/tree_stream/stream.rs", "functions of a C program"),
    ("crates/densefs-c/src/tree_walk.rs", "functions of a C program"),
    ("crates/densefs-c/src/vectors.rs", "buffers from C"),
    ("crates/densefs-c/tests/attached.rs", "C's functions, as C calls them"),
    ("crates/densefs-kernel/src/attributes.rs", "names that C knows, and its structures"),
    ("crates/densefs-kernel/src/content.rs", "names that C knows, and its buffers"),
    ("crates/densefs-kernel/src/directories.rs", "a name that C knows, and its buffer"),
    ("crates/densefs-kernel/src/edge.rs", "functions of a kernel"),
    ("crates/densefs-kernel/src/names.rs", "names that C knows, and its buffers"),
    ("crates/densefs-kernel/src/open_files.rs", "names that C knows"),
    ("crates/densefs-kernel/src/path.rs", "a pointer from C"),
    ("crates/densefs-kernel/src/process.rs", "memory from C"),
    ("crates/densefs-process/src/credentials.rs", "groups that are replaced while in use"),
    ("crates/densefs-calls/src/counts.rs", "memory that processes share"),
    ("crates/densefs-preload/examples/sites.rs", "functions for a test's C programs"),
    ("crates/densefs-preload/src/arena.rs", "a system call"),
    ("crates/densefs-preload/src/counting.rs", "a descriptor that has been handed on"),
    ("crates/densefs-preload/src/environment.rs", "C's environment"),
    ("crates/densefs-preload/src/exec.rs", "descriptors as numbers"),
    ("crates/densefs-preload/src/handed_sites.rs", "a descriptor that has been handed on"),
    ("crates/densefs-preload/src/limits.rs", "system calls"),
    ("crates/densefs-preload/src/links.rs", "strings of C programs"),
    ("crates/densefs-preload/src/mount.rs", "system calls"),
    ("crates/densefs-preload/src/numbers.rs", "a system call"),
    ("crates/densefs-preload/src/outcome.rs", "C's errno"),
    ("crates/densefs-preload/src/place.rs", "strings of C programs"),
    ("crates/densefs-preload/src/prefix.rs", "strings of C programs, and a value that is set once"),
    ("crates/densefs-preload/src/raw.rs", "system calls"),
    ("crates/densefs-preload/src/serve/attributes.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/descriptors.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/directories.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/files.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/memory.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/names.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/open_files.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/paths.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/polling.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/processes.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/transfer.rs", "pointers of programs"),
    ("crates/densefs-preload/src/serve/two_paths.rs", "pointers of programs"),
    ("crates/densefs-preload/src/signals/actions.rs", "handlers of signals"),
    ("crates/densefs-preload/src/signals/faults.rs", "registers that are set"),
    ("crates/densefs-preload/src/signals/mod.rs", "handlers of signals"),
    ("crates/densefs-preload/src/signals/within.rs", "words of each thread's own"),
    ("crates/densefs-preload/src/sites/area.rs", "code that is made"),
    ("crates/densefs-preload/src/sites/entry.rs", "registers of a program amid its work"),
    ("crates/densefs-preload/src/sites/libraries.rs", "what the dynamic linker has mapped"),
    ("crates/densefs-preload/src/sites/mod.rs", "code that is changed"),
    ("crates/densefs-preload/src/sites/patch.rs", "code that is changed"),
    ("crates/densefs-preload/src/sites/scan.rs", "instructions that compare many bytes"),
    ("crates/densefs-preload/src/sites/tests/mod.rs", "the text of libraries, and registers"),
    ("crates/densefs-preload/src/spawn.rs", "system calls"),
    ("crates/densefs-preload/src/start.rs", "what the dynamic linker calls"),
    ("crates/densefs-preload/src/symbols.rs", "functions of the C library"),
    ("crates/densefs-preload/src/ways_in.rs", "strings of C programs, and system calls"),
    ("crates/densefs-process/src/dense_fs/raw.rs", "pointers that C keeps"),
    ("crates/densefs-process/src/edge.rs", "a mapping, locks of descriptions, hooks of forks"),
    ("crates/densefs-process/src/areas.rs", "memory that programs map"),
    ("crates/densefs-process/src/mapped.rs", "memory that programs map"),
    ("crates/densefs-process/src/memory.rs", "memory that programs map"),
    ("crates/densefs-process/src/thread_slot/last.rs", "a word of each thread's own"),
    ("crates/densefs-process/tests/hand_over.rs", "descriptors that a program inherits"),
    ("crates/densefs-process/tests/hand_over_storm.rs", "descriptors that a program inherits"),
    ("crates/densefs-process/tests/numbers.rs", "a child between fork and exec"),
    ("crates/densefs-process/tests/raw_fork.rs", "system calls that make children"),
    ("crates/footprint-guest/src/marked.rs", "code that is made and called"),
    ("crates/footprint-plugin/src/edge.rs", "the functions that QEMU calls, and its own"),
    ("crates/footprint-trace/src/marked.rs", "instructions that mark phases"),
    ("crates/lab/src/edge.rs", "what is done between fork and exec"),
    ("crates/measure/src/tsc.rs", "the time stamp counter's instructions"),
    ("crates/jobs/src/edge/aio.rs", "Linux' asynchronous I/O, which has no wrapper"),
    ("crates/jobs/src/edge/calls.rs", "memory that the kernel also accesses"),
    ("crates/jobs/src/edge/mapping.rs", "memory that others may change"),
    ("crates/jobs/src/edge/memory.rs", "memory that the kernel also accesses"),
    ("crates/jobs/src/edge/posix.rs", "asynchronous I/O of the C library"),
    ("crates/jobs/src/edge/ring.rs", "entries that hold addresses"),
    ("crates/jobs/src/edge/thread.rs", "calls about a thread"),
    ("crates/system-calls/src/lib.rs", "system calls that no library wraps"),
    ("crates/system-calls/src/local_time.rs", "a function of the C library"),
    ("crates/system-calls/src/processes.rs", "the same, of processes and threads"),
    ("crates/system-calls/src/refused.rs", "the same, of those that libraries take to succeed"),
    ("crates/system-calls/src/signals.rs", "a handler of signals, which the library leaves to us"),
    ("crates/system-calls/src/trace.rs", "the same, of traced processes"),
    ("crates/user-code/src/memory.rs", "code that is generated is called"),
    ("crates/workload/src/edge/functions.rs", "functions of the C library, by name"),
    ("crates/workload/src/edge/mapping.rs", "memory that a file is mapped to"),
    ("crates/workload/src/edge/stream.rs", "stdio's streams, character by character"),
    ("crates/workload/src/uring/ring/mod.rs", "buffers that the kernel knows by address"),
    ("crates/workload/src/session/processes/edge.rs", "fork, and memory shared with a child"),
];

/// Banned calls and unlisted `unsafe` in one file. `is_test_file` says whether the whole file is
/// only compiled for tests.
pub fn check(file: &SourceFile, is_test_file: bool) -> Vec<Finding> {
    if !file.has_extension(&["rs"]) {
        return Vec::new();
    }
    let code = lexer::code_only(&file.text);
    let mut findings = banned_calls(file, &code, is_test_file);
    findings.extend(unlisted_unsafe(file, &code, UNSAFE_FILES));
    findings
}

/// Entries in the list of files with `unsafe` whose file is gone or has no `unsafe` any more.
pub fn stale_unsafe_entries(files: &[SourceFile]) -> Vec<Finding> {
    stale_entries(files, UNSAFE_FILES)
}

fn banned_calls(file: &SourceFile, code: &str, is_test_file: bool) -> Vec<Finding> {
    let test_lines = if is_test_file { BTreeSet::new() } else { test_lines(code) };
    let mut findings = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let is_test = is_test_file || test_lines.contains(&index);
        for ban in BANS.iter().filter(|ban| covers(ban.within, file, is_test)) {
            if has_call(line, ban.call) {
                let what = format!("`{}` here: {}", ban.call, ban.instead);
                findings.push(Finding::new(file, index + 1, what));
            }
        }
    }
    findings
}

fn covers(scope: Scope, file: &SourceFile, is_test: bool) -> bool {
    match scope {
        Scope::Everywhere => true,
        Scope::Tests => is_test,
        Scope::OutsideTests => !is_test,
        Scope::Libraries => {
            let is_program = PROGRAMS.iter().any(|program| file.path.starts_with(program));
            let is_example = file.path.split('/').any(|component| component == "examples");
            !is_test && !is_program && !is_example && !file.path.ends_with("build.rs")
        }
    }
}

/// Whether `line` calls `call`, and not something whose name merely ends in it.
fn has_call(line: &str, call: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_name = call.starts_with(is_part);
    line.match_indices(call).any(|(at, _)| !is_name || !line[..at].ends_with(is_part))
}

/// The lines, counted from 0, of items under `#[cfg(test)]`. This relies on rustfmt: an item ends
/// with the first later line that is not indented further and ends in `}` or `;`.
fn test_lines(code: &str) -> BTreeSet<usize> {
    let lines: Vec<&str> = code.lines().collect();
    let mut inside = BTreeSet::new();
    let mut index = 0;
    while index < lines.len() {
        if lines[index].trim_start().starts_with("#[cfg(test)]") {
            let indentation = indentation(lines[index]);
            let is_end = |line: &&str| {
                let line = line.trim_end();
                self::indentation(line) <= indentation && line.ends_with(['}', ';'])
            };
            let length = lines[index..].iter().position(is_end).unwrap_or(lines.len() - index - 1);
            inside.extend(index..=index + length);
            index += length;
        }
        index += 1;
    }
    inside
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn unlisted_unsafe(file: &SourceFile, code: &str, listed: &[(&str, &str)]) -> Vec<Finding> {
    if listed.iter().any(|(path, _)| *path == file.path) {
        return Vec::new();
    }
    let has_unsafe = |(_, line): &(usize, &str)| lexer::find_word(line, "unsafe").is_some();
    let what = "`unsafe` outside the files listed for it: use their safe functions";
    let lines = code.lines().enumerate().filter(has_unsafe);
    lines.map(|(index, _)| Finding::new(file, index + 1, what)).collect()
}

fn stale_entries(files: &[SourceFile], listed: &[(&str, &str)]) -> Vec<Finding> {
    let needs_entry = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        file.is_some_and(|file| lexer::find_word(&lexer::code_only(&file.text), "unsafe").is_some())
    };
    let stale = listed.iter().filter(|(path, _)| !needs_entry(path));
    stale
        .map(|(path, _)| Finding {
            path: (*path).to_owned(),
            line: 0,
            what: "has no `unsafe`: take it off UNSAFE_FILES".to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_flagged(path: &str, text: &str, is_test_file: bool) -> Vec<usize> {
        let findings = check(&SourceFile::new(path, text), is_test_file);
        findings.iter().map(|finding| finding.line).collect()
    }

    fn in_library(text: &str) -> Vec<usize> {
        lines_flagged("crates/a/src/lib.rs", text, false)
    }

    #[test]
    fn unfinished_code_is_found_everywhere() {
        for call in ["dbg!(x)", "todo!()", "unimplemented!(\"x\")"] {
            assert_eq!(in_library(&format!("fn f() {{\n    {call};\n}}\n")), [2], "{call}");
            assert_eq!(lines_flagged("crates/a/tests/t.rs", call, true), [1], "{call}");
        }
    }

    #[test]
    fn mentions_in_comments_and_messages_are_no_calls() {
        assert_eq!(in_library("// dbg!(x)\n/// todo!()\nlet s = \".unwrap() unsafe\";\n"), [0; 0]);
    }

    #[test]
    fn libraries_do_not_print_but_programs_do() {
        let text = "println!(\"a\");\nprint!(\"b\");\neprintln!(\"c\");\n";
        assert_eq!(in_library(text), [1, 2]);
        for path in ["crates/fsprism/src/main.rs", "crates/a/examples/b.rs", "crates/a/build.rs"] {
            assert_eq!(lines_flagged(path, text, false), [0; 0], "{path}");
        }
        assert_eq!(lines_flagged("crates/a/tests/t.rs", text, true), [0; 0]);
    }

    #[test]
    fn tests_do_not_sleep_but_code_may() {
        let text = "std::thread::sleep(d);\n";
        assert_eq!(in_library(text), [0; 0]);
        assert_eq!(lines_flagged("crates/a/tests/t.rs", text, true), [1]);
        assert_eq!(in_library(&format!("#[cfg(test)]\nmod tests {{\n    {text}}}\n")), [3]);
    }

    #[test]
    fn code_does_not_unwrap_but_tests_do() {
        let text = "a.unwrap();\n#[cfg(test)]\nmod tests {\n    b.unwrap();\n}\nc.unwrap();\n";
        assert_eq!(in_library(text), [1, 6]);
        assert_eq!(in_library("a.unwrap_or(b);\n"), [0; 0]);
        assert_eq!(lines_flagged("crates/a/tests/t.rs", text, true), [0; 0]);
    }

    #[test]
    fn a_test_item_without_a_body_ends_at_its_semicolon() {
        assert_eq!(in_library("#[cfg(test)]\nmod tests;\na.unwrap();\n"), [3]);
    }

    #[test]
    fn unsafe_needs_an_entry_in_the_list() {
        let text = "#![deny(unsafe_code)]\nfn f() {\n    unsafe { g() }\n}\n";
        assert_eq!(in_library(text), [3]);
        let file = SourceFile::new("crates/a/src/lib.rs", text);
        assert_eq!(unlisted_unsafe(&file, text, &[("crates/a/src/lib.rs", "x")]), []);
    }

    #[test]
    fn an_entry_must_be_needed() {
        let files = [SourceFile::new("a.rs", "unsafe {}"), SourceFile::new("b.rs", "// unsafe\n")];
        let stale = stale_entries(&files, &[("a.rs", "x"), ("b.rs", "x"), ("gone.rs", "x")]);
        assert_eq!(stale.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["b.rs", "gone.rs"]);
    }
}
