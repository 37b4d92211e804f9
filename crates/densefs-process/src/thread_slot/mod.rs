//! The threads of this process: each has a slot of the arena while it uses it.

mod last;

use std::cell::RefCell;
use std::sync::Arc;

use densefs::{Errno, Member};

use crate::attachment::{Attachment, ProcessSeams};

/// A thread's slot in an arena. Aligned so that the fields by which it is recognised are in its
/// first cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct ThreadSlot {
    number: u32,
    /// The record it was taken with. After a fork, a slot of the parent is not the child's.
    record: u32,
    /// Whether the thread can still drop it when it ends.
    is_kept: bool,
    // Also owns the attachment, so that the arena stays mapped.
    member: Member<'static, ProcessSeams>,
}

impl ThreadSlot {
    fn take(attachment: &Arc<Attachment>) -> Result<Box<Self>, Errno> {
        let record = attachment.record();
        let number = attachment.take_slot(record)?.ok_or(Errno::NFILE)?;
        let surroundings = ProcessSeams(attachment.clone());
        let member = Member::new(attachment.arena(), surroundings, number, record)?;
        let is_kept = LEAVER.try_with(|_| ()).is_ok();
        Ok(Box::new(Self { number, record, is_kept, member }))
    }

    fn attachment(&self) -> &Arc<Attachment> {
        &self.member.seams().0
    }

    /// Whether it belongs to this process, in this arena.
    #[inline]
    fn is_in(&self, attachment: &Arc<Attachment>) -> bool {
        Arc::ptr_eq(self.attachment(), attachment) && self.record == attachment.record()
    }
}

impl Drop for ThreadSlot {
    fn drop(&mut self) {
        if self.record == self.attachment().record() {
            if std::thread::panicking() {
                // The panic may have been in the middle of an operation.
                self.member.abandon().ok();
            }
            // What cannot be returned stays with the slot.
            self.member.retire().ok();
            self.attachment().give_slot(self.number);
        }
    }
}

/// Drops the slot that a thread used last, when the thread ends.
struct Leaver;

impl Drop for Leaver {
    fn drop(&mut self) {
        drop(last::take());
    }
}

thread_local! {
    static LEAVER: Leaver = const { Leaver };
    /// The thread's slots in arenas other than the one it used last.
    static OTHERS: RefCell<Vec<ThreadSlot>> = const { RefCell::new(Vec::new()) };
}

/// Does something in an arena as this thread.
#[inline(always)]
pub(crate) fn with<T>(
    attachment: &Arc<Attachment>,
    mut act: impl FnMut(&Member<'static, ProcessSeams>) -> Result<T, Errno>,
) -> Result<T, Errno> {
    let slot = match last::begin() {
        Some(slot) if slot.is_in(attachment) => slot,
        other => another(attachment, other)?,
    };
    let mut has_swept = false;
    // In a loop, so that there is only one call site, which gets inlined here.
    let done = loop {
        let done = act(&slot.member);
        let is_full = matches!(done, Err(Errno::NOSPC | Errno::NFILE));
        if has_swept || !(is_full || attachment.is_sweep_due()) {
            break done;
        }
        // What cannot be reclaimed now is tried again when a sweep is due.
        attachment.sweep(&slot.member).ok();
        has_swept = true;
        if !is_full {
            break done;
        }
    };
    // A thread that is ending takes a slot for each call.
    let replaced = if slot.is_kept { last::put(slot) } else { end_without(slot) };
    if let Some(slot) = replaced {
        give_up(slot);
    }
    done
}

/// Like [`with`], if the slot that the thread used last is all that is needed, and there is nothing
/// to reclaim; none otherwise.
#[inline(always)]
pub(crate) fn briefly<T>(
    attachment: &Arc<Attachment>,
    act: impl FnOnce(&Member<'static, ProcessSeams>) -> Option<T>,
) -> Option<T> {
    let slot = last::begin()?;
    let is_simple = slot.is_in(attachment) && !attachment.is_swept_later();
    let done = if is_simple { act(&slot.member) } else { None };
    if let Some(slot) = last::put(slot) {
        give_up(slot);
    }
    done
}

/// Ends an operation with a slot that the thread does not keep.
#[cold]
#[inline(never)]
fn end_without(slot: Box<ThreadSlot>) -> Option<Box<ThreadSlot>> {
    last::unmark();
    Some(slot)
}

#[cold]
#[inline(never)]
fn give_up(slot: Box<ThreadSlot>) {
    drop(slot);
}

/// The thread's slot in another arena than that of `last`, which is kept.
#[cold]
#[inline(never)]
fn another(
    attachment: &Arc<Attachment>,
    last: Option<Box<ThreadSlot>>,
) -> Result<Box<ThreadSlot>, Errno> {
    last::unmark();
    let kept = OTHERS.try_with(|others| {
        let mut others = others.try_borrow_mut().ok()?;
        // Slots that a fork has made invalid are dropped.
        others.extend(last.map(|slot| *slot));
        others.retain(|slot| slot.record == slot.attachment().record());
        let found = others.iter().position(|slot| slot.is_in(attachment))?;
        Some(Box::new(others.swap_remove(found)))
    });
    let slot = match kept {
        Ok(Some(slot)) => slot,
        Ok(None) | Err(_) => ThreadSlot::take(attachment)?,
    };
    last::mark(&slot);
    Ok(slot)
}

/// Abandons the operation that this thread is in, if it is in one.
pub(crate) fn abandon() -> Result<(), Errno> {
    let Some(slot) = last::interrupt() else { return Ok(()) };
    let abandoned = slot.member.abandon();
    let replaced = if slot.is_kept { last::put(slot) } else { Some(slot) };
    if let Some(slot) = replaced {
        give_up(slot);
    }
    abandoned
}

/// Whether this thread has a slot in an arena.
pub(crate) fn has_slot(attachment: &Arc<Attachment>) -> bool {
    let last = last::take();
    let is_last = last.as_ref().is_some_and(|slot| slot.is_in(attachment));
    if let Some(slot) = last {
        last::put(slot);
    }
    let is_other = |others: &RefCell<Vec<ThreadSlot>>| {
        others.try_borrow().is_ok_and(|others| others.iter().any(|slot| slot.is_in(attachment)))
    };
    is_last || OTHERS.with(is_other)
}

/// Releases this thread's slot in an arena.
pub(crate) fn leave(attachment: &Arc<Attachment>) {
    if let Some(slot) = last::take().filter(|slot| !slot.is_in(attachment)) {
        last::put(slot);
    }
    OTHERS.with(|others| {
        if let Ok(mut others) = others.try_borrow_mut() {
            others.retain(|slot| !slot.is_in(attachment));
        }
    });
}

/// Forgets the slots of this thread that were its parent's.
pub(crate) fn forget_parents() {
    drop(last::take());
    OTHERS.with(|others| {
        if let Ok(mut others) = others.try_borrow_mut() {
            others.retain(|slot| slot.record == slot.attachment().record());
        }
    });
}
