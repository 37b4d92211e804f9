//! One memory access of a processor.

use serde::Serialize;

/// What an access is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// An instruction is fetched.
    Fetch,
    /// Data is read.
    Load,
    /// Data is written.
    Store,
}

impl Purpose {
    /// All purposes, in the order of their counters.
    pub const ALL: [Self; 3] = [Self::Fetch, Self::Load, Self::Store];
}

/// One access: the bytes from `address` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// What it is for.
    pub purpose: Purpose,
    /// The address of its first byte.
    pub address: u64,
    /// The number of bytes. An access of zero bytes touches nothing and is not counted; bytes
    /// beyond the end of the address space are cut off.
    pub bytes: u32,
}

impl Access {
    /// The address of its last byte; `None` if it has no bytes.
    pub(crate) fn last_byte(&self) -> Option<u64> {
        let beyond_first = u64::from(self.bytes.checked_sub(1)?);
        Some(self.address.saturating_add(beyond_first))
    }
}
