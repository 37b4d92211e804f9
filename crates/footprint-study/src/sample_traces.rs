//! Traces made by hand, for tests: system calls on two file systems, computed line by line.
//!
//! Files with the same traces are in `crates/report/tests/fixtures`, for the tests of the program
//! and of the page.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use footprint::description::{
    DataKind, DataObject, Description, Field, Function, NumberedName, Repetitions, Subject,
    TypeLayout,
};
use footprint_trace::event::{Access, AccessKind, EventEncoder};
use footprint_trace::header::{Coverage, Header, Scope};
use footprint_trace::mark::{Edge, Mark};
use footprint_trace::writer::TraceWriter;
use footprint_trace::{BlockId, TracedBlock};

/// Why making a trace cannot fail.
const IN_MEMORY: &str = "memory takes a trace";

const KERNEL: u64 = 0xffff_ffff_8100_0000;
/// The stack of the operation's task.
const STACK: u64 = 0xffff_c900_0001_0000;
/// A slab of dentries of 192 bytes each.
const DENTRIES: u64 = 0xffff_8880_0400_0000;
/// The data of the only processor.
const PER_CPU: u64 = 0xffff_8880_3e40_0000;

const NOP: &[u8] = &[0x90];
const RET: &[u8] = &[0xc3];
const MOV: &[u8] = &[0x48, 0x8b, 0x07]; // mov (%rdi),%rax
const SYSCALL: &[u8] = &[0x0f, 0x05];
const SYSRET: &[u8] = &[0x48, 0x0f, 0x07];

/// The file systems that have traces, each with its number of allocations per created file.
pub const FILE_SYSTEMS: [(&str, u32); 2] = [("ext4", 1), ("xfs", 3)];

/// A trace under construction.
struct TraceBuilder {
    writer: TraceWriter<Vec<u8>>,
    events: EventEncoder,
    blocks: HashMap<(u64, Vec<u8>), BlockId>,
    repetitions: HashMap<(u16, bool), u32>,
}

/// The call instruction at one address that calls another.
fn call(from: u64, to: u64) -> Vec<u8> {
    let displacement = to.wrapping_sub(from + 5).to_le_bytes();
    [&[0xe8], &displacement[..4]].concat()
}

impl TraceBuilder {
    fn new(scope: Scope, coverage: Coverage) -> Self {
        let header = Header { architecture: 62, scope, coverage, limit_bytes: 1 << 30 };
        let writer = TraceWriter::new(Vec::new(), &header).expect(IN_MEMORY);
        let (blocks, repetitions) = (HashMap::new(), HashMap::new());
        Self { writer, events: EventEncoder::new(), blocks, repetitions }
    }

    /// Executes a block of one instruction, or of several that have one byte each.
    fn run(&mut self, address: u64, code: &[u8]) -> &mut Self {
        let key = (address, code.to_vec());
        let whole = [u8::try_from(code.len()).expect("an instruction is short")];
        let single = vec![1; code.len()];
        let lengths: &[u8] = if code[0] == NOP[0] { &single } else { &whole };
        let writer = &mut self.writer;
        let describe =
            || writer.describe(&TracedBlock { address, lengths, code }).expect(IN_MEMORY);
        let id = *self.blocks.entry(key).or_insert_with(describe);
        self.events.execute(id);
        self
    }

    fn access(&mut self, kind: AccessKind, address: u64, bytes: u32) -> &mut Self {
        self.events.access(Access { kind, address, bytes });
        self
    }

    fn load(&mut self, address: u64, bytes: u32) -> &mut Self {
        self.access(AccessKind::Load, address, bytes)
    }

    fn call(&mut self, from: u64, to: u64, slot: u64) -> &mut Self {
        self.run(from, &call(from, to)).access(AccessKind::Store, slot, 8)
    }

    fn ret(&mut self, from: u64, slot: u64) -> &mut Self {
        self.run(from, RET).load(slot, 8)
    }

    fn mark(&mut self, edge: Edge, operation: u16) -> &mut Self {
        let repetition = self.repetitions.entry((operation, edge == Edge::End)).or_default();
        self.events.mark(Mark { edge, region: 0, operation }, *repetition);
        *repetition += 1;
        self
    }

    /// Writes the events and ends the trace.
    fn finish(mut self) -> Vec<u8> {
        self.writer.write_events(0, &mut self.events).expect(IN_MEMORY);
        self.writer.finish(None, 0).expect(IN_MEMORY)
    }
}

/// Consecutive functions of 256 bytes each, with their source files and objects.
fn functions(file_system: &str) -> Vec<Function> {
    let vmlinux = "vmlinux".to_owned();
    let own = format!("fs/{file_system}/namei.c");
    let all = [
        ("entry_SYSCALL_64".to_owned(), "arch/x86/entry/entry_64.S", &vmlinux),
        ("do_syscall_64".to_owned(), "arch/x86/entry/common.c", &vmlinux),
        ("vfs_create".to_owned(), "fs/namei.c", &vmlinux),
        (format!("{file_system}_create"), own.as_str(), &file_system.to_owned()),
        ("kmem_cache_alloc".to_owned(), "mm/slub.c", &vmlinux),
    ]
    .map(|(name, file, object)| (name, file.to_owned(), object.clone()));
    let place = |(index, (name, file, object))| Function {
        address: KERNEL + 0x100 * index as u64,
        bytes: 0x100,
        name,
        object,
        file: Some(file),
        line: None,
    };
    all.into_iter().enumerate().map(place).collect()
}

fn description(file_system: &str) -> Description {
    let named = |name: &str, number| NumberedName { number, name: name.to_owned() };
    let object = |address, bytes, kind, name: &str| {
        let name = name.to_owned();
        DataObject { address, bytes, kind, name, ..DataObject::default() }
    };
    let field = |offset, bytes, name: &str| Field { offset, bytes, name: name.to_owned() };
    let dentries = DataObject {
        element_bytes: Some(192),
        type_name: Some("dentry".to_owned()),
        ..object(DENTRIES, 4096, DataKind::Slab, "dentry")
    };
    let fields = vec![field(0, 4, "d_flags"), field(0x58, 8, "d_lockref")];
    let mut description = Description {
        subject: Subject { title: "Linux 6.1 (made up)".to_owned(), ..Subject::default() },
        regions: vec![named(file_system, 0)],
        operations: vec![named("create", 0), named("stat", 4)],
        repetitions: Repetitions { warm_up: 1, traced: 1 },
        functions: functions(file_system),
        data: vec![
            dentries,
            object(STACK, 0x4000, DataKind::Stack, "stack"),
            object(PER_CPU, 64, DataKind::PerCpu, "cpu_slabs"),
        ],
        types: vec![TypeLayout { name: "dentry".to_owned(), bytes: 192, fields }],
        ..Description::default()
    };
    description.sort();
    description
}

/// Two repetitions of `create`, which makes this many allocations and one more the first time, a
/// warm-up that is not studied; and of `stat`, which never allocates.
pub fn events(allocations: u32, coverage: Coverage) -> Vec<u8> {
    repeated(&[allocations + 1, allocations], coverage)
}

/// One repetition per entry, in which `create` makes that many allocations.
pub fn repeated(allocations: &[u32], coverage: Coverage) -> Vec<u8> {
    let mut made = TraceBuilder::new(Scope::Machine, coverage);
    if coverage == Coverage::Whole {
        made.run(0x2000, NOP);
    }
    for &allocations in allocations {
        operation(&mut made, 0, allocations);
        operation(&mut made, 4, 0);
    }
    made.finish()
}

/// A program without marks that executes three instructions.
pub fn program() -> Vec<u8> {
    let mut made = TraceBuilder::new(Scope::Program, Coverage::Whole);
    made.run(0x1000, &NOP.repeat(3));
    made.finish()
}

fn operation(made: &mut TraceBuilder, number: u16, allocations: u32) {
    let at = |index: u64| KERNEL + 0x100 * index;
    let slot = |depth: u64| STACK + 0x3f80 - 0x40 * depth;
    made.mark(Edge::Begin, number).run(0x1000, SYSCALL);
    made.call(at(0), at(1), slot(0)).call(at(1), at(2), slot(1));
    made.run(at(2), MOV).load(DENTRIES + 192 + 0x58, 8);
    made.call(at(2) + 3, at(3), slot(2)).run(at(3), &NOP.repeat(100));
    for _ in 0..allocations {
        made.call(at(3) + 100, at(4), slot(3)).run(at(4), MOV).load(PER_CPU + 8, 8);
        made.ret(at(4) + 3, slot(3)).run(at(3) + 105, &NOP.repeat(3));
    }
    made.ret(at(3) + 108, slot(2)).ret(at(2) + 8, slot(1)).ret(at(1) + 5, slot(0));
    made.run(at(0) + 5, SYSRET).run(0x1002, NOP).mark(Edge::End, number);
}

/// Writes the trace of a file system into a directory, with its description.
pub fn write(directory: &Path, file_system: &str, allocations: u32) -> PathBuf {
    let path = directory.join(format!("{file_system}.trace"));
    std::fs::write(&path, events(allocations, Coverage::Marked))
        .expect("the directory takes files");
    footprint_symbols::attach_description(&path, &description(file_system))
        .expect("the directory takes files");
    path
}
