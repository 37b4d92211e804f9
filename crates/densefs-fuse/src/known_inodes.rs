//! The inodes that the kernel knows: each is held open until the kernel forgets it.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use densefs::modes::Caller;
use densefs::{Errno, Member, Node, Stat, flags};
use densefs_process::{DenseFs, ProcessSeams};

/// The kernel's number of the root.
const ROOT: u64 = 1;

/// An inode that the kernel knows.
#[derive(Clone, Copy, Debug)]
struct KnownInode {
    descriptor: u32,
    /// How many lookups the kernel has not forgotten yet.
    lookups: u64,
}

/// All inodes that the kernel knows.
#[derive(Debug)]
pub(crate) struct KnownInodes {
    held: RwLock<HashMap<u64, KnownInode>>,
}

pub(crate) type Core = Member<'static, ProcessSeams>;

impl KnownInodes {
    /// Only the root, which the kernel never forgets.
    pub(crate) fn with_root(files: &DenseFs) -> Result<Self, Errno> {
        let descriptor = files.with_core(|core| hold(core, core.root()?))?;
        let held = HashMap::from([(ROOT, KnownInode { descriptor, lookups: u64::MAX })]);
        Ok(Self { held: RwLock::new(held) })
    }

    /// An inode by the kernel's number.
    pub(crate) fn node(&self, core: &Core, number: u64) -> Result<Node, Errno> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let held = *held.get(&number).ok_or(Errno::STALE)?;
        core.node(held.descriptor)
    }

    /// Counts a lookup of an inode by the kernel.
    pub(crate) fn enter(&self, core: &Core, found: Node) -> Result<Stat, Errno> {
        let descriptor = hold(core, found)?;
        let stat = core.retry(|| core.stat(core.node(descriptor)?))?;
        let number = self.number(core, &stat)?;
        let is_new = {
            let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
            let is_new = !held.contains_key(&number);
            let one = held.entry(number).or_insert(KnownInode { descriptor, lookups: 0 });
            one.lookups = one.lookups.saturating_add(1);
            is_new
        };
        if !is_new {
            core.close(descriptor)?;
        }
        Ok(Stat { ino: number, ..stat })
    }

    /// The kernel's number of an inode.
    pub(crate) fn number(&self, core: &Core, stat: &Stat) -> Result<u64, Errno> {
        let is_root = core.ino(core.root()?) == stat.ino;
        Ok(if is_root { ROOT } else { stat.ino })
    }

    /// Subtracts lookups that the kernel forgets.
    pub(crate) fn forget(&self, core: &Core, number: u64, times: u64) -> Result<(), Errno> {
        let gone = {
            let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
            let Some(one) = held.get_mut(&number).filter(|_| number != ROOT) else { return Ok(()) };
            one.lookups = one.lookups.saturating_sub(times);
            let is_gone = one.lookups == 0;
            if is_gone { held.remove(&number) } else { None }
        };
        gone.map_or(Ok(()), |one| core.close(one.descriptor))
    }
}

/// Holds an inode open.
fn hold(core: &Core, node: Node) -> Result<u32, Errno> {
    core.open_node(&Caller::ROOT, node, flags::PATH | flags::NO_FOLLOW)
}
