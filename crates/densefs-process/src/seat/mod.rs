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
pub(crate) struct Seat {
    slot: u32,
    /// The record it was taken with. After a fork, a seat of the parent is not the child's.
    record: u32,
    /// Whether the thread can still drop it when it ends.
    is_kept: bool,
    // Also owns the attachment, so that the arena stays mapped.
    member: Member<'static, ProcessSeams>,
}

impl Seat {
    fn take(attachment: &Arc<Attachment>) -> Result<Box<Self>, Errno> {
        let record = attachment.record();
        let slot = attachment.take_slot(record)?.ok_or(Errno::NFILE)?;
        let surroundings = ProcessSeams(attachment.clone());
        let member = Member::new(attachment.arena(), surroundings, slot, record)?;
        let is_kept = LEAVER.try_with(|_| ()).is_ok();
        Ok(Box::new(Self { slot, record, is_kept, member }))
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

impl Drop for Seat {
    fn drop(&mut self) {
        if self.record == self.attachment().record() {
            if std::thread::panicking() {
                // The panic may have been in the middle of an operation.
                self.member.abandon().ok();
            }
            // What cannot be returned stays with the slot.
            self.member.retire().ok();
            self.attachment().give_slot(self.slot);
        }
    }
}

/// Drops the seat that a thread used last, when the thread ends.
struct Leaver;

impl Drop for Leaver {
    fn drop(&mut self) {
        drop(last::take());
    }
}

thread_local! {
    static LEAVER: Leaver = const { Leaver };
    /// The thread's seats in arenas other than the one it used last.
    static OTHERS: RefCell<Vec<Seat>> = const { RefCell::new(Vec::new()) };
}

/// Does something in an arena as this thread.
#[inline]
pub(crate) fn with<T>(
    attachment: &Arc<Attachment>,
    mut act: impl FnMut(&Member<'static, ProcessSeams>) -> Result<T, Errno>,
) -> Result<T, Errno> {
    let seat = match last::take() {
        Some(seat) if seat.is_in(attachment) => seat,
        other => another(attachment, other)?,
    };
    let mut has_swept = false;
    // In a loop, so that there is only one call site, which gets inlined here.
    let done = loop {
        let done = act(&seat.member);
        let is_full = matches!(done, Err(Errno::NOSPC));
        if has_swept || !(is_full || attachment.is_sweep_due()) {
            break done;
        }
        // What cannot be reclaimed now is tried again when a sweep is due.
        attachment.sweep(&seat.member).ok();
        has_swept = true;
        if !is_full {
            break done;
        }
    };
    // A thread that is ending takes a seat for each call.
    let replaced = if seat.is_kept { last::put(seat) } else { Some(seat) };
    if let Some(seat) = replaced {
        give_up(seat);
    }
    done
}

/// Like [`with`], if the seat that the thread used last is all that is needed, and there is nothing
/// to reclaim; none otherwise.
#[inline(always)]
pub(crate) fn briefly<T>(
    attachment: &Arc<Attachment>,
    act: impl FnOnce(&Member<'static, ProcessSeams>) -> Option<T>,
) -> Option<T> {
    let seat = last::take()?;
    let is_simple = seat.is_in(attachment) && !attachment.is_swept_later();
    let done = if is_simple { act(&seat.member) } else { None };
    if let Some(seat) = last::put(seat) {
        give_up(seat);
    }
    done
}

#[cold]
#[inline(never)]
fn give_up(seat: Box<Seat>) {
    drop(seat);
}

/// The thread's seat in another arena than that of `last`, which is kept.
#[cold]
#[inline(never)]
fn another(attachment: &Arc<Attachment>, last: Option<Box<Seat>>) -> Result<Box<Seat>, Errno> {
    let kept = OTHERS.try_with(|others| {
        let mut others = others.try_borrow_mut().ok()?;
        // Seats that a fork has made invalid are dropped.
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
    let last = last::take();
    let is_last = last.as_ref().is_some_and(|seat| seat.is_in(attachment));
    if let Some(seat) = last {
        last::put(seat);
    }
    let is_other = |others: &RefCell<Vec<Seat>>| {
        others.try_borrow().is_ok_and(|others| others.iter().any(|seat| seat.is_in(attachment)))
    };
    is_last || OTHERS.with(is_other)
}

/// Releases this thread's seat in an arena.
pub(crate) fn leave(attachment: &Arc<Attachment>) {
    if let Some(seat) = last::take().filter(|seat| !seat.is_in(attachment)) {
        last::put(seat);
    }
    OTHERS.with(|others| {
        if let Ok(mut others) = others.try_borrow_mut() {
            others.retain(|seat| !seat.is_in(attachment));
        }
    });
}

/// Forgets the seats of this thread that were its parent's.
pub(crate) fn forget_parents() {
    drop(last::take());
    OTHERS.with(|others| {
        if let Ok(mut others) = others.try_borrow_mut() {
            others.retain(|seat| seat.record == seat.attachment().record());
        }
    });
}
