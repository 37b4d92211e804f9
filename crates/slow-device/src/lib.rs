//! A file that is slow at every request, for a loop device to be made of.
//!
//! A control group's throttle does not make a slow device: it grants all that a slice of 100 ms
//! allows at once, so most requests are as fast as without it, and a few wait for tens of
//! milliseconds. Here each request takes about as long as the next, as on a disk.
//!
//! A process of ours serves one file by FUSE. Every read, write, flush and discard of the file is
//! done on an image and answered once the delay has passed since the request came
//! ([`Delays::request`]). What the image itself takes is part of the delay, as long as it takes
//! less. Up to [`QUEUE_DEPTH`] requests are delayed at the same time; further ones wait for one of
//! these.
//!
//! Who uses this, and what must stay true:
//!
//! - The maker ([`SlowFile::start`]) mounts, and starts the server as another process of its own
//!   program, which calls [`serve`] if [`is_server`]. It is a process of its own so that neither a
//!   signal to the maker, nor the death of the maker, nor its control groups' limits reach it: what
//!   is dirty on the device can still be written after the maker is dead.
//! - The server lives in another mount namespace than its maker. When the maker dies, nothing else
//!   keeps that one alive: the kernel unmounts what is in it, and asks the server, which is there,
//!   to write what is dirty. In the same namespace, it would be the server's own death that
//!   unmounts, and that would wait for a dead server.
//! - The server holds the only descriptor by which the kernel asks. If the server dies, the kernel
//!   fails every request, waiting ones included. If the mount is gone, the server ends.
//! - The server writes back what the kernel evicts, so it must not wait for memory itself: its
//!   memory is locked, it allocates none while it serves, and the kernel knows
//!   (`PR_SET_IO_FLUSHER`). It bypasses the page cache (`O_DIRECT`) if the image can, so nothing is
//!   cached twice.
//!
//! The protocol is read here and not by a library, since the few requests there are need neither
//! names nor memory of their own.

mod answers;
mod client;
mod image;
mod protocol;
mod recent;
mod server;

use std::time::Duration;

pub use client::{DEVICE, SlowFile};
pub use server::{is_server, serve};

/// How many requests are delayed at the same time: as many as a SATA disk queues.
pub const QUEUE_DEPTH: u16 = 32;

/// How long requests take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// Each request, from when it comes until it is answered.
    pub request: Duration,
    /// The cache of the device, if it has one.
    pub cache: Option<DeviceCache>,
}

/// A device keeps what it used most recently, in blocks of 4 KiB, and reads it faster: a read of
/// which every block is there takes a tenth of the delay. Written blocks are in it too, but a write
/// takes as long as without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceCache {
    /// How much it keeps.
    pub bytes: u64,
}
