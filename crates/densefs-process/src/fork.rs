//! Forks: the child gets a record of its own, with everything that its parent has open.
//!
//! The C library's fork(2) calls what this takes by itself. Around other system calls that make a
//! child, [`before`], and then [`in_parent`] or [`in_child`], have to be called, all by the thread
//! that makes it. The child must have memory and descriptors of its own: no `CLONE_VM`, and no
//! `CLONE_FILES`.

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};

use densefs::{Errno, Member};

use crate::areas::{Areas, areas};
use crate::attachment::{Attachment, ProcessSeams};
use crate::{edge, thread_slot};

/// All attachments. Locked during a fork, so that a child forked by another thread does not get
/// what was prepared for this one.
static ATTACHED: Mutex<Vec<Weak<Attachment>>> = Mutex::new(Vec::new());
type Attached = MutexGuard<'static, Vec<Weak<Attachment>>>;

/// What a child gets of an arena.
struct ChildShare {
    attachment: Arc<Attachment>,
    /// Its open file description and its record; none if they could not be had.
    own: Option<(File, u32)>,
}

/// What a child gets of all arenas, and what must not change meanwhile.
struct Shares {
    shares: Vec<ChildShare>,
    locked: (Attached, MutexGuard<'static, Areas>),
}

thread_local! {
    /// For the child of the fork in progress.
    static SHARES: RefCell<Option<Shares>> = const { RefCell::new(None) };
}

/// Registers an attachment to be shared with forked children.
pub(crate) fn note(attachment: &Arc<Attachment>) {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| edge::at_forks(before_fork, in_parent_of_fork, in_child_of_fork));
    let mut all = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|one| one.strong_count() > 0);
    all.push(Arc::downgrade(attachment));
}

/// Prepares for a child that this thread is about to make, in all arenas. No other thread can make
/// one before [`in_parent`]. Returns whether this call has done so, so that its caller is the one
/// to call that or [`in_child`]: it does nothing within the C library's fork(2), which prepares
/// itself.
#[must_use]
pub fn before() -> bool {
    if is_prepared() {
        return false;
    }
    let attached = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
    let areas = areas();
    let shares = attached.iter().filter_map(Weak::upgrade).map(|attachment| {
        let own = prepare(&attachment).ok();
        ChildShare { attachment, own }
    });
    let shares = shares.collect();
    SHARES.with(|place| place.replace(Some(Shares { shares, locked: (attached, areas) })));
    true
}

/// Whether this thread is about to make a child, and has prepared for that.
#[must_use]
pub fn is_prepared() -> bool {
    SHARES.with(|place| place.borrow().is_some())
}

/// Opens the arena's file again, and takes a record for the child with everything that this process
/// has open.
fn prepare(attachment: &Arc<Attachment>) -> Result<(File, u32), Errno> {
    let file = attachment.open_again()?;
    attachment.child_number.set(&file);
    let record = attachment.take_record(file.as_fd(), |_| {})?.ok_or(Errno::NFILE)?;
    copy_to(attachment, record, |member| {
        member.copy_descriptors(record)?;
        member.copy_mappings(record)
    })?;
    Ok((file, record))
}

/// Copies to a new record what this process has; from the start if that did not work, and is tried
/// again.
pub(crate) fn copy_to(
    attachment: &Arc<Attachment>,
    record: u32,
    copy: impl Fn(&Member<'static, ProcessSeams>) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let mut has_failed = false;
    with_or_without_slot(attachment, |member| {
        if has_failed {
            member.reap(record)?;
            member.begin_process(record)?;
        }
        has_failed = true;
        copy(member)
    })
}

/// Does something as this thread, which must not become a user of the arena by that: it would keep
/// it mapped.
pub(crate) fn with_or_without_slot(
    attachment: &Arc<Attachment>,
    act: impl FnMut(&Member<'static, ProcessSeams>) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let has_slot = thread_slot::has_slot(attachment);
    let done = thread_slot::with(attachment, act);
    if !has_slot {
        thread_slot::leave(attachment);
    }
    done
}

/// Lets no thread fork as long as the result is kept.
pub(crate) fn hold() -> impl Drop {
    ATTACHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Goes on in the parent, also if no child could be made.
pub fn in_parent() {
    // From now on, only the child has its open file description.
    if let Some(Shares { shares, locked: _locked }) = SHARES.with(RefCell::take) {
        for ChildShare { attachment, own } in shares {
            attachment.child_number.clear();
            drop(own);
        }
    }
}

/// Goes on in the child, in which there is no other thread.
pub fn in_child() {
    if let Some(Shares { shares, locked: (_attached, mut areas) }) = SHARES.with(RefCell::take) {
        for ChildShare { attachment, own } in shares {
            attachment.child_number.clear();
            // Its thread is the parent's.
            if let Some(number) = attachment.handed_number.take() {
                edge::close(number);
            }
            if !attachment.become_child(own) {
                areas.abandon(&attachment);
            }
        }
    }
    thread_slot::forget_parents();
}

extern "C" fn before_fork() {
    // If this thread has prepared already, whoever did so finds nothing more to do afterwards.
    let _is_first = before();
}

extern "C" fn in_parent_of_fork() {
    in_parent();
}

extern "C" fn in_child_of_fork() {
    in_child();
}
