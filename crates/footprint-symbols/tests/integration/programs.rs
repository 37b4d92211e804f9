//! Names in a program's trace: from running it in QEMU to the description inside the trace.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use footprint::description::{DataKind, Description};
use footprint_symbols::describe::{Sources, describe, images};
use footprint_symbols::elf::Binary;
use footprint_symbols::touched::TouchedAddresses;
use footprint_trace::attachments;
use footprint_trace::maps::Mapping;
use footprint_trace::reader::TraceReader;
use tempfile::TempDir;

const SOURCE: &str = r#"
#include <string.h>
#include "part.h"
long counter;
static long untouched;
char text[100];
__attribute__((noinline)) long called(long n) { return once_more(n) + counter; }
__attribute__((noinline)) long never(long n) { return n + ++untouched; }
int main(int argc, char **argv) {
    if (argc > 7) return never(argc);
    memset(text, argc, sizeof text);
    return called(argc) == 0;
}
"#;

const PART: &str = r#"
extern long counter;
static inline __attribute__((always_inline)) long twice(volatile long *n) { return *n + *n; }
static inline __attribute__((always_inline)) long once_more(long n) {
    counter += twice(&counter);
    if (n > 100) __asm__ volatile("nop");
    return n * 3;
}
"#;

/// Whether the programs are installed; if not, prints why the test is skipped.
fn has_all(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let mut command = Command::new(program);
        let found = command.arg("--version").stdout(Stdio::null()).status().is_ok();
        if !found {
            eprintln!("skipped: there is no {program} here");
        }
        found
    })
}

/// Compiles, traces and describes the program.
fn described(options: &[&str]) -> Option<(TempDir, PathBuf, Description)> {
    if !cfg!(target_arch = "x86_64") || !has_all(&["gcc", "qemu-x86_64"]) {
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let source = root.join("source");
    fs::create_dir_all(source.join("include")).unwrap();
    fs::write(source.join("program.c"), SOURCE).unwrap();
    fs::write(source.join("include/part.h"), PART).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-g", "-O2", "-Iinclude", "-o", "../program", "program.c"]).args(options);
    assert!(gcc.current_dir(&source).status().unwrap().success());
    let library = footprint_library::write_into(&root).unwrap();
    let trace = root.join("trace");
    let mut qemu = Command::new("qemu-x86_64");
    qemu.arg("-plugin").arg(format!("{},out={}", library.display(), trace.display()));
    assert!(qemu.arg(root.join("program")).status().is_ok());
    if !trace.exists() {
        eprintln!("skipped: this qemu-x86_64 takes no plugins");
        return None;
    }
    let touched = touched(&trace);
    let maps = attachments::read(&trace, attachments::MAPS).unwrap().unwrap();
    let images = images(&maps, &touched).unwrap();
    let description = describe(&touched, &Sources { kernel: None, images }).unwrap();
    Some((directory, trace, description))
}

fn touched(trace: &Path) -> TouchedAddresses {
    let source = BufReader::with_capacity(1 << 16, File::open(trace).unwrap());
    TouchedAddresses::read(&mut TraceReader::new(source).unwrap()).unwrap()
}

fn check(description: &Description, touched: &TouchedAddresses) {
    let function = |name: &str| description.functions.iter().find(|one| one.name == name);
    let called = function("called").unwrap();
    assert_eq!(called.file.as_deref(), Some("program.c"));
    assert_eq!(called.line, Some(7));
    assert!(called.object.ends_with("/program"));
    assert!(function("main").is_some() && function("never").is_none());
    let inlined: Vec<_> = description.inlined.iter().filter(|one| one.name == "twice").collect();
    assert!(!inlined.is_empty(), "{:?}", description.inlined);
    for one in inlined {
        assert_eq!((one.depth, one.file.as_deref()), (1, Some("include/part.h")));
        assert_eq!(one.call_line, Some(5));
        assert!(one.address >= called.address && one.bytes > 0);
        assert!(one.address + one.bytes <= called.address + called.bytes);
        let around = description.inlined(one.address);
        assert_eq!((around[0].name.as_str(), around[0].call_line), ("once_more", Some(7)));
    }
    // Ranges contain executed instructions without gaps, though a branch in them was not taken.
    for one in &description.inlined {
        let executed = touched.instructions_within(one.address, one.address + one.bytes - 1);
        assert_eq!(executed.map(|(_, bytes)| u64::from(bytes)).sum::<u64>(), one.bytes);
    }
    let data = |name: &str| description.data.iter().find(|one| one.name == name);
    assert_eq!(data("counter").map(|one| (one.bytes, one.kind)), Some((8, DataKind::Symbol)));
    assert_eq!(data("text").map(|one| one.bytes), Some(100));
    assert!(data("untouched").is_none());
    assert!(description.functions.is_sorted_by_key(|one| one.address));
}

#[test]
fn a_static_program_is_described() {
    let Some((_directory, trace, description)) = described(&["-static"]) else { return };
    check(&description, &touched(&trace));
    assert_eq!(footprint_symbols::read_description(&trace).unwrap(), None);
    footprint_symbols::attach_description(&trace, &description).unwrap();
    assert_eq!(footprint_symbols::read_description(&trace).unwrap(), Some(description));
    // The trace itself has not changed.
    assert!(touched(&trace).instructions().count() > 100);
    attachments::append(&trace, &[(attachments::DESCRIPTION, b"nonsense")]).unwrap();
    let error = footprint_symbols::read_description(&trace).unwrap_err();
    assert!(error.to_string().contains("describe the trace again"), "{error}");
}

#[test]
fn a_program_with_libraries_is_described() {
    for options in [&["-pie", "-fPIE"][..], &["-no-pie"], &["-gz=zlib"]] {
        let Some((_directory, trace, description)) = described(options) else { return };
        check(&description, &touched(&trace));
        let objects = |end: &str| description.functions.iter().any(|one| one.object.contains(end));
        assert!(objects("/libc") && objects("/ld-linux"), "{options:?}");
    }
}

#[test]
fn files_that_are_gone_or_no_programs_say_so() {
    if !has_all(&["gcc", "qemu-x86_64"]) {
        return;
    }
    let Some((directory, trace, _)) = described(&["-static"]) else { return };
    let maps = attachments::read(&trace, attachments::MAPS).unwrap().unwrap();
    let program = directory.path().canonicalize().unwrap().join("program");
    fs::write(&program, "no program").unwrap();
    let error = images(&maps, &touched(&trace)).unwrap_err();
    assert!(error.to_string().contains("program is not an ELF file"), "{error}");
    fs::remove_file(&program).unwrap();
    let error = images(&maps, &touched(&trace)).unwrap_err();
    assert!(error.to_string().contains("cannot be read"), "{error}");
}

#[test]
fn all_mappings_of_a_file_say_where_it_is() {
    let path = std::env::current_exe().unwrap();
    let binary = Binary::read(&path).unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let own: Vec<Mapping> = maps
        .lines()
        .filter_map(Mapping::parse)
        .filter(|mapping| Path::new(&mapping.path) == path)
        .collect();
    assert!(own.len() > 2, "{maps}");
    let biases: Vec<Option<u64>> =
        own.iter().map(|mapping| binary.bias(mapping).unwrap()).collect();
    assert!(biases.iter().all(|bias| *bias == Some(own[0].start)), "{biases:x?}");
    let behind = Mapping { offset: 1 << 40, ..own[0].clone() };
    assert_eq!(binary.bias(&behind).unwrap(), None);
}
