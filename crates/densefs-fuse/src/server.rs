//! From a request to calls of the core.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use densefs::modes::Caller;
use densefs::{Errno, Node, Stat};
use densefs_calls::Counts;
use densefs_process::DenseFs;

use crate::contested::Contested;
use crate::entry::EntryAt;
use crate::known_inodes::{Core, KnownInodes};
use crate::locks::{Holders, Waits};
use crate::protocol::Reply;

/// A DenseFS, and what the kernel knows and has of it.
#[derive(Clone, Debug)]
pub(crate) struct FuseServer {
    pub(crate) files: DenseFs,
    pub(crate) known: Arc<KnownInodes>,
    pub(crate) contested: Arc<Contested>,
    pub(crate) locks: Arc<Holders>,
    pub(crate) waits: Arc<Waits>,
    /// Where requests are counted, if they are.
    pub(crate) counts: Option<&'static Counts>,
}

impl FuseServer {
    pub(crate) fn new(files: DenseFs) -> Result<Self, Errno> {
        let known = Arc::new(KnownInodes::with_root(&files)?);
        // Requests are served by other threads.
        files.leave();
        let (contested, locks, waits) = (Arc::default(), Arc::default(), Arc::default());
        Ok(Self { files, known, contested, locks, waits, counts: None })
    }

    /// Does something with an inode that the kernel knows.
    pub(crate) fn with<T>(
        &self,
        number: u64,
        act: impl Fn(&Core, Node) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.files.with_core(|core| core.retry(|| act(core, self.known.node(core, number)?)))
    }

    pub(crate) fn stat(&self, core: &Core, node: Node) -> Result<Stat, Errno> {
        let stat = core.stat(node)?;
        Ok(Stat { ino: self.known.number(core, stat.ino)?, ..stat })
    }

    /// Looks up a name for the kernel, which then knows the inode.
    pub(crate) fn look_up(&self, core: &Core, parent: u64, name: &OsStr) -> Result<Stat, Errno> {
        core.retry(|| {
            let directory = self.known.node(core, parent)?;
            let found = core.step(&Caller::ROOT, directory, name.as_bytes())?;
            let at = EntryAt { parent, name };
            if self.contested.has(at) {
                self.known.enter_whole(core, found, at)
            } else {
                self.known.enter(core, found, at)
            }
        })
    }

    /// Creates something with the closure, and answers with it.
    pub(crate) fn make(
        &self,
        parent: u64,
        name: &OsStr,
        make: impl Fn(&Core, Node) -> Result<(), Errno>,
    ) -> Result<Reply, Errno> {
        self.with(parent, |core, directory| make(core, directory))?;
        let stat = self.files.with_core(|core| self.look_up(core, parent, name))?;
        Ok(Reply::entry(&stat))
    }
}
