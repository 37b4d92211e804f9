//! Which addresses a trace touches, so that only those are given names.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Read;

use footprint_trace::BlockId;
use footprint_trace::event::Event;
use footprint_trace::header::Scope;
use footprint_trace::reader::TraceReader;

use crate::{SymbolsError, per_cpu};

/// The lower half of the address space belongs to programs.
pub(crate) const KERNEL_BEGIN: u64 = 1 << 63;

/// How many times a per-CPU base must be seen before it is trusted.
const BASES_SEEN: u32 = 64;

const LINE_BYTES: u64 = 64;

/// The addresses that a trace touches, in memory proportional to their number.
#[derive(Clone, Debug, Default)]
pub struct TouchedAddresses {
    /// The length of each executed instruction, by address.
    instructions: BTreeMap<u64, u8>,
    /// Which bytes of each line were accessed, by the line's first address.
    data: BTreeMap<u64, u64>,
    /// The distinct bases of the processors' per-CPU variables, sorted.
    per_cpu_bases: Vec<u64>,
}

impl TouchedAddresses {
    /// Reads a trace to its end.
    ///
    /// # Errors
    /// The trace cannot be read to its end.
    pub fn read<R: Read>(reader: &mut TraceReader<R>) -> Result<Self, SymbolsError> {
        let is_machine = reader.header().scope == Scope::Machine;
        let (mut executed, mut lines) = (Vec::<bool>::new(), Lines::default());
        let mut bases = PerCpuBases::default();
        let mut latest = HashMap::<u32, BlockId>::new();
        while let Some(event) = reader.next_event()? {
            match event {
                Event::Execute(block) => {
                    let index = block.0 as usize;
                    if index >= executed.len() {
                        executed.resize(index + 1, false);
                    }
                    executed[index] = true;
                    if is_machine && bases.wants(reader.vcpu()) {
                        latest.insert(reader.vcpu(), block);
                    }
                }
                Event::Access(access) => {
                    touch(&mut lines, access.address, access.bytes);
                    if is_machine && bases.wants(reader.vcpu()) {
                        let block = latest.get(&reader.vcpu()).and_then(|&id| reader.block(id));
                        let last = block.and_then(|block| block.instructions().last());
                        let base = last
                            .and_then(|(at, code)| per_cpu::base(code, at, access.address))
                            .filter(|&base| base >= KERNEL_BEGIN);
                        bases.see(reader.vcpu(), base);
                    }
                }
                Event::Mark { .. } => {}
            }
        }
        let numbers = (0..).zip(executed).filter(|&(_, is_executed)| is_executed);
        let executed = numbers.filter_map(|(number, _)| reader.block(BlockId(number)));
        let instructions = executed.flat_map(|block| {
            let length = |code: &[u8]| u8::try_from(code.len()).unwrap_or(u8::MAX);
            block.instructions().map(move |(address, code)| (address, length(code)))
        });
        let instructions = instructions.collect();
        Ok(Self { instructions, data: lines.into_iter().collect(), per_cpu_bases: bases.agreed() })
    }

    /// Address and length of each executed instruction, by address.
    pub fn instructions(&self) -> impl Iterator<Item = (u64, u8)> {
        self.instructions.iter().map(|(&address, &bytes)| (address, bytes))
    }

    /// The instructions that begin between `first` and `last`, inclusive.
    pub fn instructions_within(&self, first: u64, last: u64) -> impl Iterator<Item = (u64, u8)> {
        let last = last.max(first);
        self.instructions.range(first..=last).map(|(&address, &bytes)| (address, bytes))
    }

    /// Whether an instruction was executed that begins between `first` and `last`, inclusive.
    pub(crate) fn is_executed(&self, first: u64, last: u64) -> bool {
        first <= last && self.instructions.range(first..=last).next().is_some()
    }

    /// Whether a byte between `first` and `last`, inclusive, was accessed.
    pub(crate) fn is_accessed(&self, first: u64, last: u64) -> bool {
        if first > last {
            return false;
        }
        let line = |address| address & !(LINE_BYTES - 1);
        self.data.range(line(first)..=line(last)).any(|(&begin, &bytes)| {
            let from = first.saturating_sub(begin);
            let to = (last - begin).min(LINE_BYTES - 1);
            bytes >> from << from << (LINE_BYTES - 1 - to) != 0
        })
    }

    /// The first address of each accessed line of 64 bytes.
    pub fn lines(&self) -> impl Iterator<Item = u64> {
        self.data.keys().copied()
    }

    /// The bases of the processors' per-CPU variables, as far as the trace reveals them.
    pub fn per_cpu_bases(&self) -> &[u64] {
        &self.per_cpu_bases
    }
}

/// Accessed bytes by line, one bit each.
type Lines = HashMap<u64, u64, BuildHasherDefault<LineHasher>>;

/// Hashes line addresses, which are not chosen by an attacker: a multiplication, with the high bits
/// folded into the low ones.
#[derive(Debug, Default)]
struct LineHasher(u64);

impl Hasher for LineHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 << 8 | u64::from(byte));
        }
    }

    fn write_u64(&mut self, line: u64) {
        let spread = line.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ spread >> 32;
    }
}

/// Records the bytes of an access.
fn touch(lines: &mut Lines, address: u64, bytes: u32) {
    let (mut address, mut bytes) = (address, u64::from(bytes));
    while bytes > 0 {
        let within = address % LINE_BYTES;
        let here = bytes.min(LINE_BYTES - within);
        let mask = u64::MAX >> (LINE_BYTES - here) << within;
        *lines.entry(address - within).or_default() |= mask;
        address = address.wrapping_add(here);
        bytes -= here;
    }
}

/// The bases that accesses have revealed, by processor.
#[derive(Debug, Default)]
struct PerCpuBases {
    seen: HashMap<u32, HashMap<u64, u32>>,
    believed: HashSet<u32>,
}

impl PerCpuBases {
    fn wants(&self, vcpu: u32) -> bool {
        !self.believed.contains(&vcpu)
    }

    fn see(&mut self, vcpu: u32, base: Option<u64>) {
        let Some(base) = base else { return };
        let count = self.seen.entry(vcpu).or_default().entry(base).or_default();
        *count += 1;
        if *count >= BASES_SEEN {
            self.believed.insert(vcpu);
        }
    }

    /// The base seen most often on each processor.
    fn agreed(&self) -> Vec<u64> {
        let most = |bases: &HashMap<u64, u32>| {
            bases.iter().max_by_key(|&(base, count)| (*count, *base)).map(|(&base, _)| base)
        };
        let mut bases: Vec<u64> = self.seen.values().filter_map(most).collect();
        bases.sort_unstable();
        bases.dedup();
        bases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_found_by_the_byte() {
        let mut lines = Lines::default();
        touch(&mut lines, 0x1000, 1);
        touch(&mut lines, 0x103e, 4);
        touch(&mut lines, 0x2000, 64);
        let touched =
            TouchedAddresses { data: lines.into_iter().collect(), ..TouchedAddresses::default() };
        for (first, last, expected) in [
            (0x1000, 0x1000, true),
            (0x1001, 0x103d, false),
            (0x1001, 0x103e, true),
            (0x1041, 0x1041, true),
            (0x1042, 0x1fff, false),
            (0x1042, 0x2000, true),
            (0x203f, 0x203f, true),
            (0, 0xfff, false),
            (0, u64::MAX, true),
        ] {
            assert_eq!(touched.is_accessed(first, last), expected, "{first:x} {last:x}");
        }
    }

    #[test]
    fn the_base_seen_most_often_is_taken() {
        let mut bases = PerCpuBases::default();
        for base in [Some(1), None, Some(2), Some(2)] {
            bases.see(0, base);
        }
        assert!(bases.wants(0));
        (0..BASES_SEEN).for_each(|_| bases.see(0, Some(2)));
        assert!(!bases.wants(0) && bases.wants(1));
        bases.see(1, Some(7));
        assert_eq!(bases.agreed(), [2, 7]);
    }
}
