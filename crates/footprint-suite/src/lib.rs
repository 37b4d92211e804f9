//! The suite `footprint`: which cache lines the operations of kernel file systems touch.
//!
//! Each target is made in a guest of its own, where each operation is executed a few times and then
//! traced. The trace is analysed, and every figure becomes a metric of a cell of an ordinary run:
//! the benchmark is the operation, and the block is the repetition. Counts are exact: they differ
//! between repetitions only if the kernel does something different.

mod cells;
mod measure;
mod metrics;
mod program;
mod stacks;
mod target;
mod trace;

pub use cells::{Plan, SUITE, cells, lines};
pub use measure::{MeasureError, Measured, figures, measure};
pub use metrics::{definitions, values};
pub use program::{Program, ProgramRefusal, ProgramTraced};
pub use stacks::{OperationStacks, TraceStacks, cgstacks};
pub use target::{DEFAULTS, GuestTarget, TargetRefusal};
pub use trace::{SUFFIX, Traced, Tracer, TracingError};
