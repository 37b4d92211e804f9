//! What is known of each block of a trace, decoded once.

use footprint_trace::event::AccessKind;
use footprint_trace::header::Scope;
use footprint_trace::{BlockId, TracedBlock};

use super::flow::Flow;
use super::names::{FunctionId, Names};
use super::stacks::Context;

/// Which side of a machine an address is on. A program has one alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Programs.
    User,
    /// The kernel: the upper half of the addresses.
    Kernel,
}

impl Side {
    /// The side of an address.
    #[must_use]
    pub fn of(address: u64, scope: Scope) -> Self {
        if scope == Scope::Machine && address >> 63 == 1 { Self::Kernel } else { Self::User }
    }
}

/// A block of a trace.
#[derive(Clone, Debug)]
pub struct CodeBlock {
    /// The address of its first instruction.
    pub address: u64,
    /// The address after its last instruction.
    pub next: u64,
    /// The address of its last instruction, which accesses memory.
    pub last: u64,
    /// Where its last instruction leads.
    pub flow: Flow,
    /// The function that it is in, where it has a name.
    pub function: Option<FunctionId>,
    /// Which side it is on.
    pub side: Side,
    /// The context that it begins if it is not jumped to: an interrupt's or exception's entry.
    pub(super) entry: Option<Context>,
    /// The access of its last instruction that tells the slot of a return address.
    pub(super) slot_access: Option<AccessKind>,
    /// Whether it may leave the stack of its task for another's.
    pub(super) may_switch: bool,
    /// Its function's part in a switch to another task.
    pub(super) part: SwitchPart,
    /// How many instructions it has.
    pub instructions: u32,
    /// Where the lengths of its instructions begin in [`Code`].
    lengths_at: usize,
}

/// What a function does for switches to other tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SwitchPart {
    /// Nothing.
    None,
    /// It calls the scheduler only because another task should run: nobody waits for anything.
    GivesWay,
    /// It is the scheduler.
    Scheduler,
}

/// All blocks executed so far, by number.
#[derive(Clone, Debug)]
pub struct Code {
    scope: Scope,
    blocks: Vec<Option<CodeBlock>>,
    lengths: Vec<u8>,
}

impl Code {
    pub(super) fn new(scope: Scope) -> Self {
        Self { scope, blocks: Vec::new(), lengths: Vec::new() }
    }

    /// A block that was executed.
    #[inline]
    #[must_use]
    pub fn get(&self, id: BlockId) -> Option<&CodeBlock> {
        self.blocks.get(id.0 as usize)?.as_ref()
    }

    /// The instructions of a block: address and length of each.
    pub fn instructions(&self, block: &CodeBlock) -> impl Iterator<Item = (u64, u8)> {
        let lengths = &self.lengths[block.lengths_at..][..block.instructions as usize];
        let addresses = lengths.iter().scan(block.address, |at, &length| {
            let address = *at;
            *at = at.wrapping_add(u64::from(length));
            Some((address, length))
        });
        addresses.fuse()
    }

    /// Takes a block in.
    #[cold]
    pub(super) fn decode(&mut self, id: BlockId, block: TracedBlock<'_>, names: &impl Names) {
        let at = id.0 as usize;
        if self.blocks.len() <= at {
            self.blocks.resize(at + 1, None);
        }
        let (last, code) = block.instructions().last().unwrap_or((block.address, &[]));
        let flow = Flow::of(last, code);
        let function = names.function(block.address);
        let side = Side::of(block.address, self.scope);
        let name = function.and_then(|function| names.name(function));
        let is_start = function == Some(FunctionId(block.address));
        let entry = name.and_then(|name| entry_context(name, is_start));
        self.blocks[at] = Some(CodeBlock {
            address: block.address,
            next: block.address.wrapping_add(block.code.len() as u64),
            last,
            flow,
            function,
            side,
            entry: entry.filter(|_| side == Side::Kernel),
            slot_access: match flow {
                Flow::Call(_) => Some(AccessKind::Store),
                Flow::Return => Some(AccessKind::Load),
                Flow::Next
                | Flow::Jump(_)
                | Flow::Branch(_)
                | Flow::InterruptReturn
                | Flow::SystemCall
                | Flow::SystemReturn => None,
            },
            may_switch: name.is_some_and(|name| name.starts_with("__switch_to")),
            part: name.map_or(SwitchPart::None, switch_part),
            instructions: u32::try_from(block.lengths.len()).unwrap_or(u32::MAX),
            lengths_at: self.lengths.len(),
        });
        self.lengths.extend(block.lengths);
    }
}

/// What code of a function is the entry of, at its start or after, as Linux names them
/// (`arch/x86/include/asm/idtentry.h`). The stubs of hardware interrupts stand in a row under one
/// name.
fn entry_context(name: &str, is_start: bool) -> Option<Context> {
    let is_interrupt = name.starts_with("asm_sysvec_")
        || ["asm_common_interrupt", "asm_spurious_interrupt", "asm_exc_nmi"].contains(&name);
    if ["irq_entries_start", "spurious_entries_start"].contains(&name) {
        Some(Context::Interrupt)
    } else if !is_start {
        None
    } else if is_interrupt {
        Some(Context::Interrupt)
    } else if name.starts_with("asm_exc_") {
        Some(Context::Exception)
    } else {
        let is_call = name.starts_with("entry_INT80") || name == "asm_int80_emulation";
        is_call.then_some(Context::Operation)
    }
}

/// The part of a function in switches, as Linux names it (`kernel/sched/core.c`,
/// `kernel/entry/common.c`). Compilers put the loop of the exit to the user side into its callers.
fn switch_part(name: &str) -> SwitchPart {
    let name = name.split('.').next().unwrap_or(name);
    match name {
        "schedule" | "__schedule" => SwitchPart::Scheduler,
        "__cond_resched" | "do_syscall_64" | "irqentry_exit" => SwitchPart::GivesWay,
        _ if name.starts_with("preempt_schedule") => SwitchPart::GivesWay,
        _ if name.contains("exit_to_user_mode") => SwitchPart::GivesWay,
        _ => SwitchPart::None,
    }
}
