//! What the server and the kernel agree on at first.

use std::io;

use fuser::{Filesystem, InitFlags, KernelConfig, Request};

/// The largest write.
pub(crate) const WRITE_MAX: u32 = 1 << 20;

/// Tells fuser what to agree on. It serves no requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Negotiation;

impl Filesystem for Negotiation {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Optional: kernels that lack these work without them.
        for wanted in [
            InitFlags::FUSE_AUTO_INVAL_DATA,
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_POSIX_LOCKS,
            InitFlags::FUSE_FLOCK_LOCKS,
        ] {
            config.add_capabilities(wanted).ok();
        }
        config.set_max_write(WRITE_MAX).ok();
        Ok(())
    }
}
