//! Shadow stacks: which functions have called each other, from calls and returns alone.
//!
//! A *frame* is a function that was called: the stack slot to which the call stored its return
//! address, that address, and the function. A return loads from a slot and removes all frames up to
//! the one with that slot. A call also removes frames at or below its own slot, as after `longjmp`.
//! Whatever executes belongs to the function on top: if code of another function is executed
//! without a call, by a tail call or a return thunk, that function replaces the one on top.
//!
//! In a machine, a task has *levels* of frames: user mode, the system call, and exceptions and
//! interrupts in it. Each begins at an entry of the kernel and ends with IRET or SYSRET, after
//! which the level below resumes what it was about to do. A kernel stack is an aligned region of 16
//! KiB. A return from a slot in a region where the task has no frame is a switch to another task;
//! the scheduler is attributed to that task if it was called to let another task run. A call with a
//! slot in another region is a call to another stack, for interrupts, which the matching return
//! leaves again.

use std::collections::HashMap;

use footprint_trace::BlockId;
use footprint_trace::event::{Access, AccessKind};
use footprint_trace::header::Scope;

use super::code::{Code, CodeBlock, Privilege, SwitchPart};
use super::flow::Flow;
use super::names::FunctionId;
use super::stacks::{CallSite, Context, StackId, StackStart, StackTree};
use crate::hash::BuildMix;

/// `THREAD_SIZE` of x86-64: 1 << 14 bytes.
const KERNEL_STACK_BITS: u32 = 14;
/// Maximum distance between frames of a program's stack; `RLIMIT_STACK` is 8 MiB.
const USER_STACK_BYTES: u64 = 8 << 20;
/// Slot of the first frame of a level, which no return removes.
const NO_SLOT: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Frame {
    slot: u64,
    return_to: u64,
    stack: StackId,
}

/// What the last instruction of the last executed block is about to do.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    block: Option<BlockId>,
    /// The slot of a call's or return's return address, once it has been accessed; otherwise 0.
    slot: u64,
    wants: Option<AccessKind>,
    /// Whether a call, a return or a change of side may follow.
    is_transfer: bool,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    context: Context,
    /// Index of its first frame.
    base: usize,
    /// What the level below was about to do.
    interrupted: Pending,
}

#[derive(Clone, Debug, Default)]
struct TaskStack {
    frames: Vec<Frame>,
    levels: Vec<Level>,
    is_other: bool,
}

/// The shadow stacks of one vCPU.
#[derive(Clone, Debug)]
pub(super) struct ShadowStacks {
    scope: Scope,
    task: TaskStack,
    /// Tasks that were switched away from, by their stack.
    others: HashMap<u64, TaskStack, BuildMix>,
    pending: Pending,
    /// The side, stack and function on top of the last executed block.
    privilege: Privilege,
    top: Option<StackId>,
    function: Option<FunctionId>,
}

/// What is needed to update shadow stacks.
pub(super) struct CodeAndStacks<'a> {
    pub(super) code: &'a Code,
    pub(super) tree: &'a mut StackTree,
}

impl ShadowStacks {
    pub(super) fn new(scope: Scope) -> Self {
        Self {
            scope,
            task: TaskStack::default(),
            others: HashMap::default(),
            pending: Pending::default(),
            privilege: Privilege::User,
            top: None,
            function: None,
        }
    }

    /// Forgets everything, because the trace does not contain what happened since the last block.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.scope);
    }

    /// Makes the running task the one whose operation is traced.
    pub(super) fn own(&mut self) {
        self.task.is_other = false;
        self.others.values_mut().for_each(|task| task.is_other = true);
    }

    /// A block begins to execute. Returns the stack that it runs on top of.
    #[inline]
    pub(super) fn arrive(&mut self, id: BlockId, scene: &mut CodeAndStacks<'_>) -> Option<StackId> {
        let block = scene.code.get(id)?;
        let is_plain = !self.pending.is_transfer
            && block.entry.is_none()
            && block.privilege == self.privilege
            && (block.function == self.function || block.function.is_none());
        if !is_plain || self.top.is_none() {
            self.transfer(block, scene);
        }
        self.pending = Pending {
            block: Some(id),
            slot: 0,
            wants: block.slot_access,
            is_transfer: !matches!(block.flow, Flow::Next | Flow::Jump(_) | Flow::Branch(_)),
        };
        self.top
    }

    /// The block's last instruction accesses memory.
    #[inline]
    pub(super) fn access(&mut self, access: Access) {
        // Stores by an exception during the instruction are on the kernel's side.
        let Pending { wants, slot, .. } = self.pending;
        if wants == Some(access.kind)
            && slot == 0
            && Privilege::from_address(access.address, self.scope) == self.privilege
        {
            self.pending.slot = access.address;
        }
    }

    fn transfer(&mut self, block: &CodeBlock, scene: &mut CodeAndStacks<'_>) {
        let pending = std::mem::take(&mut self.pending);
        if self.task.levels.is_empty() {
            self.begin_level(block, first_context(block), None, scene);
        } else {
            self.follow(pending, block, scene);
        }
        self.settle(block, scene);
    }

    /// Does what the last instruction was about to do, now that it is known where it led.
    fn follow(&mut self, pending: Pending, block: &CodeBlock, scene: &mut CodeAndStacks<'_>) {
        let Some(from) = pending.block.and_then(|id| scene.code.get(id)) else { return };
        let to = block.address;
        if let Some(context) = block.entry.filter(|_| !from.flow.expects(from.next, to)) {
            self.begin_level(block, context, Some((pending, from.last)), scene);
            return;
        }
        match from.flow {
            Flow::Call(_) if pending.slot != 0 && to != from.next => {
                self.call(pending.slot, from, block, scene);
            }
            Flow::Return if pending.slot != 0 => self.unwind(pending.slot, from, block, scene),
            Flow::SystemCall if block.privilege != self.privilege => {
                let done = Pending::default();
                self.begin_level(block, Context::Operation, Some((done, from.last)), scene);
            }
            // An IRET to the next instruction only serialises; it does not return from anything.
            Flow::SystemReturn | Flow::InterruptReturn
                if to != from.next
                    && (block.privilege == Privilege::User || self.is_in_interrupt()) =>
            {
                self.leave(block, scene);
            }
            Flow::Next
            | Flow::Call(_)
            | Flow::Jump(_)
            | Flow::Branch(_)
            | Flow::Return
            | Flow::InterruptReturn
            | Flow::SystemCall
            | Flow::SystemReturn => {}
        }
    }

    fn is_in_interrupt(&self) -> bool {
        let level = self.task.levels.last();
        level.is_some_and(|level| matches!(level.context, Context::Interrupt | Context::Exception))
    }

    fn call(&mut self, slot: u64, from: &CodeBlock, to: &CodeBlock, scene: &mut CodeAndStacks<'_>) {
        let base = self.base();
        while self.task.frames.len() > base + 1 {
            let frame = self.task.frames[self.task.frames.len() - 1];
            if frame.slot > slot || !self.is_same_stack(frame.slot, slot) {
                break;
            }
            self.task.frames.pop();
        }
        let below = self.task.frames[self.task.frames.len() - 1].stack;
        let function = to.function.unwrap_or(FunctionId(to.address));
        let site = CallSite(from.last);
        let is_preempted = from.part == SwitchPart::GivesWay && to.part == SwitchPart::Scheduler;
        let stack = match scene.tree.context(below) {
            // The scheduler runs on behalf of the other task.
            Context::Operation | Context::Exception if is_preempted => {
                let context = Context::OtherTask;
                scene.tree.start(StackStart {
                    below: Some(below),
                    function,
                    call_site: site,
                    context,
                })
            }
            Context::User
            | Context::Operation
            | Context::Exception
            | Context::Interrupt
            | Context::OtherTask => scene.tree.call(below, function, site),
        };
        self.task.frames.push(Frame { slot, return_to: from.next, stack });
    }

    fn unwind(
        &mut self,
        slot: u64,
        from: &CodeBlock,
        to: &CodeBlock,
        scene: &mut CodeAndStacks<'_>,
    ) {
        let above = self.base() + 1;
        let frames = &mut self.task.frames;
        if let Some(at) = frames[above..].iter().rposition(|frame| frame.slot == slot) {
            frames.truncate(above + at);
        } else if self.is_elsewhere(slot, from) && (self.is_stack(slot) || from.may_switch) {
            self.switch(slot, to, scene);
        } else if let Some(frame) = self.task.frames[above..].last()
            && frame.return_to == to.address
        {
            // The stack has moved since the call.
            self.task.frames.pop();
        } else if self.is_elsewhere(slot, from) && from.function.is_none() {
            self.switch(slot, to, scene);
        } else {
            let is_gone = |frame: &Frame| frame.slot < slot;
            let gone = self.task.frames[above..]
                .iter()
                .rev()
                .take_while(|frame| is_gone(frame) && self.is_same_stack(frame.slot, slot));
            let kept = self.task.frames.len() - gone.count();
            self.task.frames.truncate(kept);
        }
    }

    /// Whether the code is in the kernel and the task has no frame on the slot's stack.
    fn is_elsewhere(&self, slot: u64, from: &CodeBlock) -> bool {
        let is_here = |frame: &Frame| frame.slot != NO_SLOT && self.is_same_stack(frame.slot, slot);
        from.privilege == Privilege::Kernel && !self.task.frames.iter().any(is_here)
    }

    /// Whether a slot is on the stack of a task that was switched away from.
    fn is_stack(&self, slot: u64) -> bool {
        self.others.contains_key(&(slot >> KERNEL_STACK_BITS))
    }

    fn switch(&mut self, slot: u64, to: &CodeBlock, scene: &mut CodeAndStacks<'_>) {
        let key = slot >> KERNEL_STACK_BITS;
        let next = self.others.remove(&key);
        let is_known = next.is_some();
        let left = std::mem::replace(
            &mut self.task,
            next.unwrap_or_else(|| TaskStack { is_other: true, ..TaskStack::default() }),
        );
        let is_on_kernel = |frame: &&Frame| frame.slot != NO_SLOT && frame.slot >> 63 == 1;
        if let Some(frame) = left.frames.iter().find(is_on_kernel) {
            self.others.insert(frame.slot >> KERNEL_STACK_BITS, left);
        }
        if !is_known {
            self.begin_level(to, Context::Operation, None, scene);
        } else if let Some(at) = self.task.frames.iter().rposition(|frame| frame.slot == slot) {
            // The frames above belong to the switch away.
            self.task.frames.truncate(at.max(self.base() + 1));
        }
    }

    fn is_same_stack(&self, one: u64, other: u64) -> bool {
        if self.scope == Scope::Machine && one >> 63 == 1 {
            one >> KERNEL_STACK_BITS == other >> KERNEL_STACK_BITS
        } else {
            one.abs_diff(other) < USER_STACK_BYTES
        }
    }

    fn base(&self) -> usize {
        self.task.levels.last().map_or(0, |level| level.base)
    }

    /// Begins a level. `interrupted` is what the level below was about to do, and the address of
    /// its instruction, if there is one.
    fn begin_level(
        &mut self,
        block: &CodeBlock,
        context: Context,
        interrupted: Option<(Pending, u64)>,
        scene: &mut CodeAndStacks<'_>,
    ) {
        // A kernel stack ends at the kernel's entry; the program's frames are not part of it.
        let below =
            self.top.filter(|_| interrupted.is_some() && self.privilege == Privilege::Kernel);
        let (interrupted, site) = interrupted.unwrap_or_default();
        let around = below.map(|below| scene.tree.context(below));
        let effective = match around {
            Some(apart @ (Context::Interrupt | Context::OtherTask)) => apart,
            _ if self.task.is_other => Context::OtherTask,
            _ => context,
        };
        let function = block.function.unwrap_or(FunctionId(block.address));
        let call_site = CallSite(if below.is_some() { site } else { 0 });
        let stack = scene.tree.start(StackStart { below, function, call_site, context: effective });
        self.task.levels.push(Level { context, base: self.task.frames.len(), interrupted });
        self.task.frames.push(Frame { slot: NO_SLOT, return_to: 0, stack });
    }

    /// Ends levels: only the top one, or all down to user mode if the block runs there.
    fn leave(&mut self, block: &CodeBlock, scene: &mut CodeAndStacks<'_>) {
        let mut interrupted = Pending::default();
        while let Some(level) = self.task.levels.last() {
            if block.privilege == Privilege::User && level.context == Context::User {
                break;
            }
            interrupted = level.interrupted;
            self.task.frames.truncate(level.base);
            self.task.levels.pop();
            if block.privilege == Privilege::Kernel {
                break;
            }
        }
        if self.task.levels.is_empty() {
            self.begin_level(block, first_context(block), None, scene);
            return;
        }
        self.privilege = block.privilege;
        self.top = self.task.frames.last().map(|frame| frame.stack);
        self.follow(interrupted, block, scene);
    }

    /// Makes the block's function the one on top.
    fn settle(&mut self, block: &CodeBlock, scene: &mut CodeAndStacks<'_>) {
        let is_user = self.task.levels.last().is_some_and(|level| level.context == Context::User);
        if is_user && block.privilege == Privilege::Kernel {
            // The kernel was entered at an entry point without a name.
            self.begin_level(block, Context::Exception, Some(Default::default()), scene);
        } else if !is_user && block.privilege == Privilege::User {
            self.leave(block, scene);
        }
        let frame = self.task.frames.last_mut().expect("a level has a frame");
        if let Some(function) = block.function
            && scene.tree.function(frame.stack) != function
        {
            frame.stack = scene.tree.replace(frame.stack, function);
        }
        self.privilege = block.privilege;
        self.top = Some(frame.stack);
        self.function = Some(scene.tree.function(frame.stack));
    }
}

fn first_context(block: &CodeBlock) -> Context {
    match block.privilege {
        Privilege::User => Context::User,
        Privilege::Kernel => block.entry.unwrap_or(Context::Operation),
    }
}
