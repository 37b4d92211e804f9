//! Taking a record for a process, and reclaiming what dead processes have left in theirs.

use std::collections::BTreeSet;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use densefs::{Errno, Member};

use crate::attachment::{Attachment, ProcessSeams};
use crate::claims::Claims;
use crate::edge::ByteLock;
use crate::file::{self, ArenaError};
use crate::users::Role;

impl Attachment {
    /// Attaches an arena.
    pub(crate) fn attach(path: &Path) -> Result<Arc<Self>, ArenaError> {
        let this = Self::without_record(path, file::open(path)?);
        let full = |what, most| ArenaError::Full { path: path.to_owned(), what, most };
        let taken = this.take_record(this.file(), |record| this.set_record(Some(record)));
        let taken = taken.map_err(|why| match why {
            Errno::NFILE => full("threads", this.shape().slots()),
            why => ArenaError::Core { path: path.to_owned(), why },
        });
        taken?.ok_or_else(|| full("processes", this.shape().processes()))?;
        Ok(this)
    }

    /// Takes a record for a process, which keeps it as long as this open file description is open;
    /// none if all are in use. Calls `tell` with it at once, before reclaiming what a previous
    /// holder has left.
    pub(crate) fn take_record(
        self: &Arc<Self>,
        file: BorrowedFd<'_>,
        tell: impl Fn(u32),
    ) -> Result<Option<u32>, Errno> {
        for record in 0..self.shape().processes() {
            // Our own lock would not conflict.
            if record == self.record() || !self.lock_record(file, record, ByteLock::Take) {
                continue;
            }
            self.set_role(record, Role::Program);
            self.set_claims(record, Claims::Nothing);
            // If the record is for us: from now on, the kernel cannot tell our own lock from none.
            tell(record);
            self.take_over(record)?;
            return Ok(Some(record));
        }
        Ok(None)
    }

    /// Reclaims what the previous holder of a record, which is dead, has left, and takes the record
    /// into use.
    fn take_over(self: &Arc<Self>, record: u32) -> Result<(), Errno> {
        self.reclaim_slots(record)?;
        let slot = self.take_slot(record)?.ok_or(Errno::NFILE)?;
        let member = Member::new(self.arena(), ProcessSeams(self.clone()), slot, record)?;
        let begun = self.pass_locks(&member, record).and_then(|()| {
            member.reap(record)?;
            member.begin_process(record)
        });
        self.give_slot(slot);
        begun
    }

    /// Finishes what the threads of a dead process were doing, and reclaims their stocks and slots.
    /// The caller must hold the record.
    fn reclaim_slots(self: &Arc<Self>, record: u32) -> Result<(), Errno> {
        let member = |slot| Member::new(self.arena(), ProcessSeams(self.clone()), slot, record);
        // First release all locks: returning a stock takes some, which another of these threads may
        // have held.
        for slot in self.slots_of(record) {
            member(slot)?.repair(slot)?;
        }
        for slot in self.slots_of(record) {
            // The contents of its stock are only known after the repair.
            member(slot)?.retire()?;
            self.give_slot(slot);
        }
        Ok(())
    }

    /// Reclaims what dead processes have left: the locks they held, and what they had open.
    ///
    /// # Errors
    /// The error of the last process for which this failed; the next sweep tries again.
    pub(crate) fn sweep(
        self: &Arc<Self>,
        member: &Member<'static, ProcessSeams>,
    ) -> Result<(), Errno> {
        let mut swept = Ok(());
        let owners = self.slots_ever_taken().filter_map(|slot| self.record_of(slot));
        let begun = (0..self.shape().processes())
            .filter(|&record| member.is_in_use(record).unwrap_or(false));
        let may_be_left: BTreeSet<u32> = owners.chain(begun).collect();
        for record in may_be_left {
            if record == self.record() || !self.claim(record) {
                continue;
            }
            swept = swept.and(self.reclaim(member, record));
            self.unclaim(record);
        }
        swept
    }

    /// Reclaims all that the process with this record has left, which the caller has claimed.
    pub(crate) fn reclaim(
        self: &Arc<Self>,
        member: &Member<'static, ProcessSeams>,
        record: u32,
    ) -> Result<(), Errno> {
        self.reclaim_slots(record)?;
        self.pass_locks(member, record)?;
        member.reap(record)
    }

    /// Passes the locks of a dead process, whose record the caller has claimed, to the program that
    /// it has executed, if there is one.
    fn pass_locks(&self, member: &Member<'static, ProcessSeams>, dead: u32) -> Result<(), Errno> {
        if !member.is_in_use(dead)? {
            return Ok(());
        }
        let asks = |&record: &u32| self.claims_of(record) == Claims::LocksOf(dead);
        for heir in (0..self.shape().processes()).filter(asks) {
            if self.is_alive(heir) {
                member.pass_locks(dead, heir)?;
            }
            // Not later: once the record is reaped, another process may take it.
            self.set_claims(heir, Claims::Record);
        }
        Ok(())
    }
}
