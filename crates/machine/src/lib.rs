//! What this computer is, and who is measuring on it.
//!
//! [`describe`] collects what the kernel and the tools report. [`turn`] lets only one run measure
//! at a time.

pub mod describe;
pub mod turn;

pub use system_calls::refused_call;
pub use turn::start_ticks;
