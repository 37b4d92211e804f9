//! Assembles a program, traces it, and reads the trace.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use footprint_trace::attachments;
use footprint_trace::event::{AccessKind, Event};
use footprint_trace::maps::Mapping;
use footprint_trace::mark::Edge;
use footprint_trace::reader::{Ending, TraceReader};
use tempfile::TempDir;

/// Whether `program` can be started; if not, prints why the test is skipped.
pub(crate) fn has(program: &str) -> bool {
    let mut command = Command::new(program);
    let started = command.arg("--version").stdout(Stdio::null()).status().is_ok();
    if !started {
        eprintln!("skipped: there is no {program} here");
    }
    started
}

/// Whether there is a QEMU with plugin support; if not, prints why the test is skipped.
fn has_qemu() -> bool {
    let output = Command::new("qemu-x86_64").arg("-h").output();
    let takes_plugins = |help: &[u8]| String::from_utf8_lossy(help).contains("-plugin");
    let is_able = output.is_ok_and(|output| takes_plugins(&output.stdout));
    if !is_able {
        eprintln!("skipped: there is no qemu-x86_64 here, or it takes no plugins");
    }
    is_able
}

/// A program in a temporary directory.
pub(crate) struct Program {
    directory: TempDir,
}

/// What a trace contains. An instruction is shown by its offset from the first, an access as `L` or
/// `S` with its size.
pub(crate) struct Traced {
    /// One word per event.
    pub(crate) events: Vec<String>,
    /// The trace's end.
    pub(crate) ending: Ending,
    /// The mapped files.
    pub(crate) maps: Vec<Mapping>,
}

impl Traced {
    /// Events that begin with `letter`.
    pub(crate) fn count(&self, letter: char) -> usize {
        self.events.iter().filter(|event| event.starts_with(letter)).count()
    }
}

impl Program {
    /// Assembles a program without libraries. If that or tracing is impossible, prints the reason
    /// and returns `None`.
    pub(crate) fn assemble(source: &str) -> Option<Self> {
        if !has("gcc") || !has_qemu() || !cfg!(target_arch = "x86_64") {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program.S");
        fs::write(&path, format!(".globl _start\n_start:\n{source}\n")).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(["-nostdlib", "-static", "-o"]).arg(directory.path().join("program")).arg(path);
        assert!(gcc.status().unwrap().success());
        Some(Self { directory })
    }

    /// The program's file.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("program")
    }

    /// Runs it under QEMU with additional plugin options.
    pub(crate) fn trace(&self, options: &str) -> Traced {
        self.trace_with(&[], options)
    }

    /// Runs it under QEMU with these QEMU arguments and additional plugin options.
    pub(crate) fn trace_with(&self, arguments: &[&str], options: &str) -> Traced {
        let library = footprint_library::write_into(self.directory.path()).unwrap();
        let out = self.directory.path().join("trace");
        let plugin = format!("{},out={}{options}", library.display(), out.display());
        let mut qemu = Command::new("qemu-x86_64");
        qemu.args(arguments).arg("-plugin").arg(plugin).arg(self.path());
        qemu.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        let maps = attachments::read(&out, attachments::MAPS).unwrap().unwrap_or_default();
        let maps = str::from_utf8(&maps).unwrap().lines().filter_map(Mapping::parse).collect();
        let mut reader = TraceReader::new(BufReader::new(File::open(out).unwrap())).unwrap();
        let mut events = Vec::new();
        let mut start = None;
        while let Some(event) = reader.next_event().unwrap() {
            match event {
                Event::Execute(id) => {
                    for (address, _) in reader.block(id).unwrap().instructions() {
                        let offset = address.wrapping_sub(*start.get_or_insert(address));
                        events.push(format!("I{:x}", offset.cast_signed()));
                    }
                }
                Event::Access(access) => {
                    let letter = if access.kind == AccessKind::Load { 'L' } else { 'S' };
                    events.push(format!("{letter}{}@{:x}", access.bytes, access.address & 0xfff));
                }
                Event::Mark { mark, repetition } => {
                    let letter = if mark.edge == Edge::Begin { 'B' } else { 'E' };
                    let (region, operation) = (mark.region, mark.operation);
                    events.push(format!("{letter}{region}.{operation}.{repetition}"));
                }
            }
        }
        Traced { events, ending: *reader.ending().unwrap(), maps }
    }
}
