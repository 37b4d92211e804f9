//! Walks a trace: which function executed what, called by whom, and on whose behalf.
//!
//! [`Walk`] reads a trace once and tells an [`Observer`] about every executed block and every
//! access, with the call stack at that moment. It does not need registers: the memory written by a
//! call and read by a return reveals the stack slot of the return address (see `shadow.rs`).
//! [`Code`] contains what is known about each block, and [`StackTree`] each distinct stack. Names
//! come from [`Names`].

mod code;
mod flow;
mod names;
mod only;
mod pair;
mod shadow;
mod stacks;
mod walk;

pub use code::{Code, CodeBlock, Privilege};
pub use flow::Flow;
pub use names::{FunctionId, Nameless, Names};
pub use only::RegionFilter;
pub use stacks::{CallSite, Context, StackId, StackTree};
pub use walk::{Completeness, Observer, Region, Step, Touch, Walk};
