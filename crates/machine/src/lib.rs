//! What this computer is, and who measures on it.
//!
//! [`describe`] reads what the kernel and the tools report. [`turn`] lets one run measure at a
//! time.

pub mod describe;
pub mod turn;

pub use system_calls::refused_call;
pub use turn::start_ticks;
