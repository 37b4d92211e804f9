//! Executing another program, which takes over what this one has open.
//!
//! Before that, the process opens the arena's file again, takes a second record, and copies to it
//! what stays open. The program inherits that open file description, whose lock keeps the record.
//! The old record is then that of a dead process, so that what its threads were doing is finished
//! by whoever needs it.
//!
//! Locks of byte ranges that belong to the process stay as well, as the process does. But they
//! belong to its record, so whoever reaps the old one passes them on, which the new one asks for.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use densefs::{Errno, Member};
use rustix::io::{FdFlags, fcntl_setfd};

use crate::attachment::{Attachment, ProcessSeams};
use crate::claims::Claims;
use crate::dense_fs::DenseFs;
use crate::edge::ByteLock;
use crate::file::{self, ArenaError};
use crate::fork;

/// How long to wait for locks that another process, which has found the old record first, is
/// passing on. It takes less than that, unless children of the old program still keep that record.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often to look.
const BETWEEN: Duration = Duration::from_millis(1);

/// What a program that is about to be executed will take over from this one: a record, kept by the
/// lock of an open file description of the arena.
///
/// If it is dropped, no program was executed, and the record is given back.
#[derive(Debug)]
pub struct HandOver {
    attachment: Arc<Attachment>,
    /// None once it has been given back.
    file: Option<File>,
    record: u32,
    /// The process that has made it.
    pid: u32,
}

impl HandOver {
    /// The record, by which the program finds what is its.
    #[must_use]
    pub fn record(&self) -> u32 {
        self.record
    }

    /// The number of the open file description's descriptor.
    #[must_use]
    pub fn number(&self) -> i32 {
        self.file.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Lets the descriptor stay open when a program is executed. To be called immediately before
    /// that: if another thread executes a program in a child meanwhile, that inherits it as well,
    /// and the record is not given back before it ends.
    ///
    /// # Errors
    /// [`Errno::BADF`] if somebody has closed the descriptor.
    pub fn let_through(&self) -> Result<(), Errno> {
        let file = self.file.as_ref().ok_or(Errno::BADF)?;
        fcntl_setfd(file, FdFlags::empty()).map_err(|_| Errno::BADF)
    }

    /// Gives the record back.
    fn give_back(&self, file: BorrowedFd<'_>) {
        let (attachment, record) = (&self.attachment, self.record);
        attachment.set_claims(record, Claims::Nothing);
        // What this cannot do, a sweep will do.
        fork::with_or_without_slot(attachment, |member| member.reap(record)).ok();
        // Closing it would not be enough if a child has inherited it.
        attachment.lock_record(file, record, ByteLock::GiveBack);
    }
}

impl Drop for HandOver {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else { return };
        if std::process::id() != self.pid {
            // A child made by fork has closed its descriptor, and the record is its parent's.
            std::mem::forget(file);
            return;
        }
        self.give_back(file.as_fd());
        if self.attachment.handed_number.get() == Some(file.as_raw_fd()) {
            self.attachment.handed_number.clear();
        }
    }
}

impl DenseFs {
    /// Prepares for executing another program that uses the arena, and takes over from this one:
    /// its descriptors, except those that are closed on exec, their offsets and flags, the locks of
    /// their files, and the working directory. Files are no longer mapped, as usual.
    ///
    /// The program must get the number of the open file description and that of the record, by
    /// arguments or its environment, and call [`Self::adopt`] with them. What other threads open or
    /// close after this call, it does not notice.
    ///
    /// It also works in a child made by vfork(2), which executes a program while its parent stays
    /// as it is: that gets the same, except locks of byte ranges that belong to the parent.
    ///
    /// # Errors
    /// [`Errno::NFILE`] if all records are in use, or the system has no descriptor left;
    /// [`Errno::NOSPC`]; [`Errno::BUSY`] if another thread is about to execute a program.
    pub fn hand_over(&self) -> Result<HandOver, Errno> {
        let (attachment, pid) = (&self.attachment, std::process::id());
        let is_own = pid == attachment.pid();
        // Children of other threads must find it in the list of what they have to close. If this is
        // a child made by vfork(2), its descriptors are not those of its parent, and that may have
        // locked anything.
        let _forks = is_own.then(fork::hold);
        if is_own && attachment.handed_number.get().is_some() {
            return Err(Errno::BUSY);
        }
        let file = attachment.open_again()?;
        let record = attachment.take_record(file.as_fd(), |_| {})?.ok_or(Errno::NFILE)?;
        if is_own {
            attachment.handed_number.set(&file);
        }
        let hand_over =
            HandOver { attachment: Arc::clone(attachment), file: Some(file), record, pid };
        fork::copy_to(attachment, record, |member| member.copy_descriptors_for_exec(record))?;
        let claims = if is_own { Claims::LocksOf(attachment.record()) } else { Claims::Record };
        attachment.set_claims(record, claims);
        Ok(hand_over)
    }

    /// Attaches an arena with the open file description and the record that the program which has
    /// executed this one has got from [`Self::hand_over`].
    ///
    /// # Errors
    /// [`ArenaError::NotHandedOver`] if it did not, or not for this; otherwise as [`Self::attach`].
    pub fn adopt(path: impl AsRef<Path>, file: OwnedFd, record: u32) -> Result<Self, ArenaError> {
        let attachment = Attachment::adopt(path.as_ref(), file, record)?;
        fork::note(&attachment);
        Ok(Self { attachment })
    }
}

impl Attachment {
    fn adopt(path: &Path, file: OwnedFd, record: u32) -> Result<Arc<Self>, ArenaError> {
        let opened = file::recognise(path, File::from(file))?;
        let this = Self::without_record(path, opened);
        this.check_handed_over(record)
            .map_err(|why| ArenaError::NotHandedOver { path: path.to_owned(), why })?;
        this.set_record(Some(record));
        this.inherit_locks(record)
            .map_err(|why| ArenaError::Core { path: path.to_owned(), why })?;
        Ok(this)
    }

    /// Checks that a record was handed over with this open file description.
    fn check_handed_over(&self, record: u32) -> Result<(), &'static str> {
        if record >= self.shape().processes() {
            return Err("there is no such record");
        }
        let is_locked = |file: BorrowedFd<'_>| self.is_record_locked(file, record);
        if is_locked(self.file()) {
            return Err("another process has the record");
        }
        let other = self.open_again().map_err(|_| "its file cannot be opened again")?;
        if !is_locked(other.as_fd()) {
            return Err("nobody has the record");
        }
        if self.claims_of(record) == Claims::Nothing {
            return Err("nobody has handed the record over");
        }
        Ok(())
    }

    /// Gets the locks of the program that has executed this one, and forgets that the record was
    /// handed over.
    fn inherit_locks(self: &Arc<Self>, record: u32) -> Result<(), Errno> {
        let began = Instant::now();
        while let Claims::LocksOf(old) = self.claims_of(record) {
            if self.claim(old) {
                let reclaimed = self.reclaim_as(record, old);
                self.unclaim(old);
                reclaimed?;
                break;
            }
            if began.elapsed() > PATIENCE {
                // Whoever reaps it will pass them on, as long as the record says so.
                return Ok(());
            }
            std::thread::sleep(BETWEEN);
        }
        self.set_claims(record, Claims::Nothing);
        Ok(())
    }

    /// Reclaims what is in a record that has been claimed, on behalf of our own.
    fn reclaim_as(self: &Arc<Self>, record: u32, dead: u32) -> Result<(), Errno> {
        let slot = self.take_slot(record)?.ok_or(Errno::NFILE)?;
        let member = Member::new(self.arena(), ProcessSeams(Arc::clone(self)), slot, record)?;
        let reclaimed = self.reclaim(&member, dead);
        let retired = member.retire();
        self.give_slot(slot);
        reclaimed.and(retired)
    }
}
