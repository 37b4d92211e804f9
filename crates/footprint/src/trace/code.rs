//! What is known about each block of a trace, decoded once.

use footprint_trace::event::AccessKind;
use footprint_trace::header::Scope;
use footprint_trace::{BlockId, TracedBlock};

use super::flow::Flow;
use super::names::{FunctionId, Names};
use super::stacks::Context;

/// Whether code runs in user mode or in the kernel. A program only has user mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Privilege {
    /// User mode.
    User,
    /// The kernel: the upper half of the address space.
    Kernel,
}

impl Privilege {
    /// The privilege of code at an address.
    #[must_use]
    pub fn from_address(address: u64, scope: Scope) -> Self {
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
    /// The address of its last instruction, the only one that may access memory.
    pub last: u64,
    /// Where its last instruction leads.
    pub flow: Flow,
    /// The function that contains it, if that has a name.
    pub function: Option<FunctionId>,
    /// The privilege that it runs with.
    pub privilege: Privilege,
    /// The context that begins here unless this is the target of a jump: the block is the entry of
    /// an interrupt or exception.
    pub(super) entry: Option<Context>,
    /// Which access of its last instruction reveals the slot of a return address.
    pub(super) slot_access: Option<AccessKind>,
    /// Whether it may switch from its task's stack to another task's.
    pub(super) may_switch: bool,
    /// The role of its function in a switch to another task.
    pub(super) part: SwitchPart,
    /// Number of instructions.
    pub instructions: u32,
    /// Where the lengths of its instructions begin in [`Code`].
    lengths_at: usize,
}

/// The role of a function in switches to other tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SwitchPart {
    /// Nothing.
    None,
    /// It only calls the scheduler to let another task run, without waiting for anything.
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

    /// Adds a block.
    #[cold]
    pub(super) fn decode(&mut self, id: BlockId, block: TracedBlock<'_>, names: &impl Names) {
        let at = id.0 as usize;
        if self.blocks.len() <= at {
            self.blocks.resize(at + 1, None);
        }
        let (last, code) = block.instructions().last().unwrap_or((block.address, &[]));
        let flow = Flow::decode(last, code);
        let function = names.function(block.address);
        let privilege = Privilege::from_address(block.address, self.scope);
        let name = function.and_then(|function| names.name(function));
        let is_start = function == Some(FunctionId(block.address));
        let entry = name.and_then(|name| entry_context(name, is_start));
        self.blocks[at] = Some(CodeBlock {
            address: block.address,
            next: block.address.wrapping_add(block.code.len() as u64),
            last,
            flow,
            function,
            privilege,
            entry: entry.filter(|_| privilege == Privilege::Kernel),
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

/// The context that begins in a function, by Linux's names for entry points
/// (`arch/x86/include/asm/idtentry.h`). Most only count at the function's start, but the stubs of
/// all hardware interrupts are in a row under one name.
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

/// The role of a function in task switches, by Linux's names (`kernel/sched/core.c`,
/// `kernel/entry/common.c`). Compilers inline the loop that returns to user mode into its callers.
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
