//! Call stacks, each stored once.

use std::collections::HashMap;

use footprint_trace::header::Scope;

use super::names::FunctionId;
use crate::hash::BuildMix;

/// On whose behalf code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    /// The program's own code, in user mode.
    User,
    /// What the program asked the kernel for: system calls.
    Operation,
    /// What the operation caused implicitly: page faults and other exceptions.
    Exception,
    /// Hardware interrupts, and everything that runs before they return.
    Interrupt,
    /// Another task, after a switch to its stack.
    OtherTask,
}

impl Context {
    /// All contexts, in the order of their counters.
    pub const ALL: [Self; 5] =
        [Self::User, Self::Operation, Self::Exception, Self::Interrupt, Self::OtherTask];

    /// Whether what runs in this context counts in footprints: for a program, its user-mode code;
    /// for a machine, the operation and the exceptions in it.
    #[must_use]
    pub fn counts(self, scope: Scope) -> bool {
        match scope {
            Scope::Program => self == Self::User,
            Scope::Machine => matches!(self, Self::Operation | Self::Exception),
        }
    }

    /// The name used for its counter of instructions.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Operation => "operation",
            Self::Exception => "exception",
            Self::Interrupt => "interrupt",
            Self::OtherTask => "other_task",
        }
    }
}

/// A stack: its number in a [`StackTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub u32);

/// The address of the calling instruction, or 0 for the first function of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallSite(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    parent: StackId,
    function: FunctionId,
    call_site: CallSite,
    context: Context,
}

/// All stacks of a trace, as a tree: each is a function called from a place in its parent.
#[derive(Clone, Debug)]
pub struct StackTree {
    nodes: Vec<Node>,
    numbers: HashMap<Node, StackId, BuildMix>,
}

/// The parent of stacks without a caller.
const NONE: StackId = StackId(u32::MAX);

/// Where and on whose behalf a stack begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackStart {
    /// The stack that was interrupted, if it is part of the new one.
    pub(super) below: Option<StackId>,
    pub(super) function: FunctionId,
    pub(super) call_site: CallSite,
    pub(super) context: Context,
}

impl StackTree {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), numbers: HashMap::default() }
    }

    /// The number of stacks; all stack numbers are below this.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are no stacks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The function on top of a stack.
    #[must_use]
    pub fn function(&self, stack: StackId) -> FunctionId {
        self.node(stack).function
    }

    /// Where the function on top was called from.
    #[must_use]
    pub(crate) fn call_site(&self, stack: StackId) -> CallSite {
        self.node(stack).call_site
    }

    /// On whose behalf the function on top runs.
    #[must_use]
    pub fn context(&self, stack: StackId) -> Context {
        self.node(stack).context
    }

    /// The stack without the function on top; `None` if that is the only one.
    #[must_use]
    pub fn caller(&self, stack: StackId) -> Option<StackId> {
        let parent = self.node(stack).parent;
        (parent != NONE).then_some(parent)
    }

    /// The stack and those below it, callees first.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = StackId> {
        std::iter::successors(Some(stack), |&stack| self.caller(stack))
    }

    fn node(&self, stack: StackId) -> Node {
        self.nodes[stack.0 as usize]
    }

    fn intern(&mut self, node: Node) -> StackId {
        *self.numbers.entry(node).or_insert_with(|| {
            let number = u32::try_from(self.nodes.len()).expect("fewer stacks than 2^32");
            self.nodes.push(node);
            StackId(number)
        })
    }

    pub(super) fn start(&mut self, start: StackStart) -> StackId {
        let StackStart { below, function, call_site, context } = start;
        self.intern(Node { parent: below.unwrap_or(NONE), function, call_site, context })
    }

    pub(super) fn call(
        &mut self,
        below: StackId,
        function: FunctionId,
        call_site: CallSite,
    ) -> StackId {
        let context = self.context(below);
        self.intern(Node { parent: below, function, call_site, context })
    }

    /// The same stack with another function on top, as after a tail call.
    pub(super) fn replace(&mut self, stack: StackId, function: FunctionId) -> StackId {
        self.intern(Node { function, ..self.node(stack) })
    }
}
