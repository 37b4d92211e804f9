//! Traces made in memory, instruction by instruction.

use std::collections::HashMap;

use footprint_trace::event::{Access, AccessKind, EventEncoder};
use footprint_trace::header::{Coverage, Header, Scope};
use footprint_trace::mark::{Edge, Mark};
use footprint_trace::reader::TraceReader;
use footprint_trace::writer::TraceWriter;
use footprint_trace::{BlockId, TracedBlock};

pub(crate) const NOP: &[u8] = &[0x90];
pub(crate) const RET: &[u8] = &[0xc3];
pub(crate) const MOV: &[u8] = &[0x48, 0x8b, 0x07]; // mov (%rdi),%rax
pub(crate) const SYSCALL: &[u8] = &[0x0f, 0x05];
pub(crate) const SYSRET: &[u8] = &[0x48, 0x0f, 0x07];
pub(crate) const IRET: &[u8] = &[0x48, 0xcf];

/// A call instruction at one address to another.
pub(crate) fn call(from: u64, to: u64) -> Vec<u8> {
    relative(0xe8, from, to)
}

/// A jump instruction at one address to another.
pub(crate) fn jump(from: u64, to: u64) -> Vec<u8> {
    relative(0xe9, from, to)
}

fn relative(opcode: u8, from: u64, to: u64) -> Vec<u8> {
    let [a, b, c, d, ..] = to.wrapping_sub(from + 5).to_le_bytes();
    vec![opcode, a, b, c, d]
}

/// A trace under construction.
pub(crate) struct TraceBuilder {
    writer: TraceWriter<Vec<u8>>,
    events: EventEncoder,
    vcpu: u32,
    blocks: HashMap<(u64, Vec<Vec<u8>>), BlockId>,
    repetitions: HashMap<(u8, u16, bool), u32>,
}

impl TraceBuilder {
    pub(crate) fn new(scope: Scope, coverage: Coverage) -> Self {
        let header = Header { architecture: 62, scope, coverage, limit_bytes: 1 << 34 };
        let writer = TraceWriter::new(Vec::new(), &header).expect("memory takes all");
        let (blocks, repetitions) = (HashMap::new(), HashMap::new());
        Self { writer, events: EventEncoder::new(), vcpu: 0, blocks, repetitions }
    }

    fn flush(&mut self) {
        self.writer.write_events(self.vcpu, &mut self.events).expect("memory takes all");
    }

    /// Selects the vCPU for what follows; initially 0.
    pub(crate) fn vcpu(&mut self, number: u32) -> &mut Self {
        self.flush();
        self.vcpu = number;
        self
    }

    /// Executes a block of these instructions at an address.
    pub(crate) fn run(&mut self, address: u64, instructions: &[&[u8]]) -> &mut Self {
        let key = (address, instructions.iter().map(|code| code.to_vec()).collect());
        let id = *self.blocks.entry(key).or_insert_with(|| {
            let lengths: Vec<u8> =
                instructions.iter().map(|code| code.len().try_into().expect("15")).collect();
            let code = instructions.concat();
            let block = TracedBlock { address, lengths: &lengths, code: &code };
            self.writer.describe(&block).expect("memory takes all")
        });
        if self.events.is_full() {
            self.flush();
        }
        self.events.execute(id);
        self
    }

    pub(crate) fn load(&mut self, address: u64, bytes: u32) -> &mut Self {
        self.events.access(Access { kind: AccessKind::Load, address, bytes });
        self
    }

    pub(crate) fn store(&mut self, address: u64, bytes: u32) -> &mut Self {
        self.events.access(Access { kind: AccessKind::Store, address, bytes });
        self
    }

    /// Executes a call as a block of its own, with this slot for the return address.
    pub(crate) fn call(&mut self, from: u64, to: u64, slot: u64) -> &mut Self {
        self.run(from, &[&call(from, to)]).store(slot, 8)
    }

    /// Executes a return, with this slot for the return address.
    pub(crate) fn ret(&mut self, from: u64, slot: u64) -> &mut Self {
        self.run(from, &[RET]).load(slot, 8)
    }

    pub(crate) fn mark(&mut self, edge: Edge, region: u8, operation: u16) -> &mut Self {
        let key = (region, operation, edge == Edge::End);
        let repetition = self.repetitions.entry(key).or_default();
        self.events.mark(Mark { edge, region, operation }, *repetition);
        *repetition += 1;
        self
    }

    pub(crate) fn trace(mut self) -> Vec<u8> {
        self.flush();
        self.writer.finish(None, 0).expect("memory takes all")
    }
}

/// Reads a trace in memory.
pub(crate) fn reader(trace: &[u8]) -> TraceReader<&[u8]> {
    TraceReader::new(trace).expect("a trace")
}
