//! What this computer is, and changing its conditions.
//!
//! [`describe`] reads what the kernel and the tools report; [`target`] makes file systems to
//! measure, brings their cache into a stated state, verifies it, and takes everything away again;
//! [`turn`] lets one run at a time measure.

pub mod describe;
mod sys;
pub mod target;
pub mod turn;
