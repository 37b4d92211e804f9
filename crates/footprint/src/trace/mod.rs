//! Walking through a trace: which function executed what, called by whom, in whose interest.
//!
//! [`Walk`] reads a trace once and tells an [`Observer`] of every block executed and every access,
//! with the stack of calls at that moment. It needs no registers: the memory written by a call
//! and read by a return gives the slot of the stack that holds the return address (`shadow.rs`
//! says how). [`Code`] holds what is known of each block, [`StackTree`] the stacks, each once.
//! Names come through [`Names`].

mod code;
mod flow;
mod names;
mod only;
mod pair;
mod shadow;
mod stacks;
mod walk;

pub use code::{Code, CodeBlock, Side};
pub use flow::Flow;
pub use names::{FunctionId, Nameless, Names};
pub use only::Only;
pub use stacks::{CallSite, Context, StackId, StackTree};
pub use walk::{Completeness, Observer, Region, Step, Touch, Walk};
