//! The threads of this process: each has a slot of the arena while it works in it.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use densefs::{Errno, Member};

use crate::attachment::{Attachment, Surroundings};

/// A thread's slot in an arena.
#[derive(Debug)]
pub(crate) struct Seat {
    slot: u32,
    /// Whose it is: that of a child's parent is not the child's.
    record: u32,
    // Has the attachment as well, so that the arena stays mapped.
    member: Member<'static, Surroundings>,
}

impl Seat {
    fn take(attachment: &Arc<Attachment>) -> Result<Box<Self>, Errno> {
        let record = attachment.record();
        let slot = attachment.take_slot(record)?.ok_or(Errno::NFILE)?;
        let surroundings = Surroundings(attachment.clone());
        let member = Member::new(attachment.arena(), surroundings, slot, record)?;
        Ok(Box::new(Self { slot, record, member }))
    }

    fn attachment(&self) -> &Arc<Attachment> {
        &self.member.seams().0
    }

    /// Whether it is this process' in that arena.
    #[inline]
    fn is_in(&self, attachment: &Arc<Attachment>) -> bool {
        Arc::ptr_eq(self.attachment(), attachment) && self.record == attachment.record()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.record == self.attachment().record() {
            if std::thread::panicking() {
                // It may be in the middle of something.
                self.member.abandon().ok();
            }
            // What is not given back stays with the slot.
            self.member.retire().ok();
            self.attachment().give_slot(self.slot);
        }
    }
}

thread_local! {
    /// The seat that this thread used last. It is taken while it is used: a signal handler that
    /// interrupts that finds none, and takes another.
    static LAST: Cell<Option<Box<Seat>>> = const { Cell::new(None) };
    /// Its seats in other arenas.
    static OTHERS: RefCell<Vec<Seat>> = const { RefCell::new(Vec::new()) };
}

/// Does something in an arena as this thread.
#[inline]
pub(crate) fn with<T>(
    attachment: &Arc<Attachment>,
    mut act: impl FnMut(&Member<'static, Surroundings>) -> Result<T, Errno>,
) -> Result<T, Errno> {
    // A thread that ends has none any more, and takes one for this call.
    let seat = match LAST.try_with(Cell::take) {
        Ok(Some(seat)) if seat.is_in(attachment) => seat,
        other => another(attachment, other.unwrap_or(None))?,
    };
    let mut has_swept = false;
    // In a loop, so that there is but one place where the call is made, which is here.
    let done = loop {
        let done = act(&seat.member);
        let is_full = matches!(done, Err(Errno::NOSPC));
        if has_swept || !(is_full || attachment.is_sweep_due()) {
            break done;
        }
        // What cannot be taken back is tried again when it is due next.
        attachment.sweep(&seat.member).ok();
        has_swept = true;
        if !is_full {
            break done;
        }
    };
    LAST.try_with(|last| last.replace(Some(seat))).ok();
    done
}

/// The thread's seat in another arena than that of `last`, which it keeps.
#[cold]
#[inline(never)]
fn another(attachment: &Arc<Attachment>, last: Option<Box<Seat>>) -> Result<Box<Seat>, Errno> {
    let kept = OTHERS.try_with(|others| {
        let mut others = others.try_borrow_mut().ok()?;
        // What a fork has taken from the thread goes.
        others.extend(last.map(|seat| *seat));
        others.retain(|seat| seat.record == seat.attachment().record());
        let found = others.iter().position(|seat| seat.is_in(attachment))?;
        Some(Box::new(others.swap_remove(found)))
    });
    match kept {
        Ok(Some(seat)) => Ok(seat),
        Ok(None) | Err(_) => Seat::take(attachment),
    }
}

/// Whether this thread has a seat in an arena.
pub(crate) fn is_seated(attachment: &Arc<Attachment>) -> bool {
    let last = LAST.take();
    let is_last = last.as_ref().is_some_and(|seat| seat.is_in(attachment));
    LAST.set(last);
    let is_other = |others: &RefCell<Vec<Seat>>| {
        others.try_borrow().is_ok_and(|others| others.iter().any(|seat| seat.is_in(attachment)))
    };
    is_last || OTHERS.with(is_other)
}

/// Gives back what this thread has in an arena.
pub(crate) fn leave(attachment: &Arc<Attachment>) {
    LAST.set(LAST.take().filter(|seat| !seat.is_in(attachment)));
    OTHERS.with(|others| {
        if let Ok(mut others) = others.try_borrow_mut() {
            others.retain(|seat| !seat.is_in(attachment));
        }
    });
}

/// Forgets the seats of this thread that were its parent's.
pub(crate) fn forget_parents() {
    LAST.take();
    OTHERS.with(|others| {
        if let Ok(mut others) = others.try_borrow_mut() {
            others.retain(|seat| seat.record == seat.attachment().record());
        }
    });
}
