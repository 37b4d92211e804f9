//! Forks: the child gets a record of its own, with everything that its parent has open.

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};

use densefs::Errno;

use crate::areas::{Areas, areas};
use crate::attachment::Attachment;
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
    HOOKED.call_once(|| edge::at_forks(before, in_parent, in_child));
    let mut all = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|one| one.strong_count() > 0);
    all.push(Arc::downgrade(attachment));
}

extern "C" fn before() {
    let attached = ATTACHED.lock().unwrap_or_else(PoisonError::into_inner);
    let areas = areas();
    let shares = attached.iter().filter_map(Weak::upgrade).map(|attachment| {
        let own = prepare(&attachment).ok();
        ChildShare { attachment, own }
    });
    let shares = shares.collect();
    SHARES.with(|place| place.replace(Some(Shares { shares, locked: (attached, areas) })));
}

/// Opens the arena's file again, and takes a record for the child with everything that this process
/// has open.
fn prepare(attachment: &Arc<Attachment>) -> Result<(File, u32), Errno> {
    let file = attachment.open_again()?;
    let record = attachment.take_record(file.as_fd(), |_| {})?.ok_or(Errno::NFILE)?;
    // Forking must not turn a thread into a user of the arena, which would keep it mapped.
    let has_slot = thread_slot::has_slot(attachment);
    let copied = thread_slot::with(attachment, |member| {
        member.copy_descriptors(record)?;
        member.copy_mappings(record)
    });
    if !has_slot {
        thread_slot::leave(attachment);
    }
    copied?;
    Ok((file, record))
}

extern "C" fn in_parent() {
    // From now on, only the child has its open file description.
    SHARES.with(RefCell::take);
}

extern "C" fn in_child() {
    if let Some(Shares { shares, locked: (_attached, mut areas) }) = SHARES.with(RefCell::take) {
        for ChildShare { attachment, own } in shares {
            if !attachment.become_child(own) {
                areas.abandon(&attachment);
            }
        }
    }
    thread_slot::forget_parents();
}
