//! What this computer is, and who is measuring on it.
//!
//! [`describe`] collects what the kernel and the tools report. [`measuring_lock`] lets
//! only one run measure at a time.

pub mod describe;
pub mod measuring_lock;

pub use measuring_lock::start_ticks;
pub use system_calls::refused_call;
