//! Code of a program between its system calls, generated when it is needed: it executes exactly as
//! many cache lines of instructions, and accesses exactly as many of data, as asked for.
//!
//! How much longer it takes when a system call is made before each round of it shows what the call
//! costs the code around it: Weiss, Arpaci-Dusseau & Arpaci-Dusseau, "`DenseFS`: A Cache-Compact
//! Filesystem" (`HotStorage` 2018), section 4.
//!
//! A round executes all of the code and accesses all of the data once, or more often if one of them
//! is much smaller than the other ([`UserCode::work`] says what a round does). Neither the stack
//! nor anything else is accessed.
//!
//! ```
//! use user_code::{CodeShape, Loads, Order, UserCode};
//!
//! let shape = CodeShape {
//!     code_lines: 64,
//!     data_lines: 256,
//!     order: Order::Random,
//!     loads: Loads::Dependent,
//! };
//! let code = UserCode::new(&shape, 1)?;
//! code.run();
//! assert_eq!(code.work().loads, 256);
//! # Ok::<(), user_code::CodeError>(())
//! ```

mod generate;
mod memory;
mod shape;
mod steps;
mod uses;

pub use memory::UserCode;
pub use shape::{CodeError, CodeShape, LINE_BYTES, Loads, Order, Work};
pub use steps::Touched;
pub use uses::LineUse;
