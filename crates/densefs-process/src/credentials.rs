//! On whose behalf a process works.
//!
//! Programs change that while other threads are in calls. Each number is read and replaced on its
//! own, so such a call may find some old and some new ones, as if the change had come within it.
#![expect(unsafe_code, reason = "groups are behind a pointer that changes")]

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use densefs::modes::{AsCaller, Caller, NO_GROUPS};

/// Which of its IDs a process works under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// The effective ones, or rather those for file systems, which follow them.
    Effective,
    /// The real ones, as access(2) does.
    Real,
}

/// The identity under which a process works. What most calls need is in few bytes.
#[derive(Debug)]
pub(crate) struct Credentials {
    uid: AtomicU32,
    gid: AtomicU32,
    /// Always one of [`kept`], so that they stay valid.
    groups: AtomicPtr<&'static [u32]>,
    umask: AtomicU32,
    may_lead_out: AtomicBool,
    real_uid: AtomicU32,
    real_gid: AtomicU32,
}

impl Credentials {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        let this = Self {
            uid: AtomicU32::new(0),
            gid: AtomicU32::new(0),
            groups: AtomicPtr::new(as_pointer(&NO_GROUPS)),
            umask: AtomicU32::new(umask_of_process()),
            may_lead_out: AtomicBool::new(false),
            real_uid: AtomicU32::new(0),
            real_gid: AtomicU32::new(0),
        };
        this.refresh();
        this
    }

    /// Reads again who this thread is.
    pub(crate) fn refresh(&self) {
        let groups = rustix::process::getgroups().unwrap_or_default();
        let groups: Vec<_> = groups.into_iter().map(rustix::process::Gid::as_raw).collect();
        self.groups.store(as_pointer(kept(&groups)), Ordering::Release);
        self.gid.store(file_system_id(libc::SYS_setfsgid), Ordering::Relaxed);
        self.uid.store(file_system_id(libc::SYS_setfsuid), Ordering::Relaxed);
        self.real_gid.store(rustix::process::getgid().as_raw(), Ordering::Relaxed);
        self.real_uid.store(rustix::process::getuid().as_raw(), Ordering::Relaxed);
    }

    /// A call's caller.
    #[inline]
    pub(crate) fn caller(&self) -> Caller<'_> {
        // SAFETY: it points to something that is never freed.
        let groups = unsafe { &*self.groups.load(Ordering::Acquire) };
        Caller {
            uid: self.uid.load(Ordering::Relaxed),
            gid: self.gid.load(Ordering::Relaxed),
            groups,
            umask: self.umask.load(Ordering::Relaxed),
            is_checked: false,
            may_lead_out: self.may_lead_out(),
        }
    }

    /// The same, with some of the process' IDs.
    #[inline]
    pub(crate) fn caller_by(&self, ids: Ids) -> Caller<'_> {
        let caller = self.caller();
        match ids {
            Ids::Effective => caller,
            Ids::Real => Caller {
                uid: self.real_uid.load(Ordering::Relaxed),
                gid: self.real_gid.load(Ordering::Relaxed),
                ..caller
            },
        }
    }

    /// Sets the umask; returns the old one.
    pub(crate) fn set_umask(&self, umask: u32) -> u32 {
        self.umask.swap(umask & 0o777, Ordering::Relaxed)
    }

    /// Whether paths may lead out of the arena.
    #[inline]
    pub(crate) fn may_lead_out(&self) -> bool {
        self.may_lead_out.load(Ordering::Relaxed)
    }

    /// From now on, paths may lead out of the arena.
    pub(crate) fn lead_out(&self) {
        self.may_lead_out.store(true, Ordering::Relaxed);
    }
}

impl AsCaller for Credentials {
    #[inline]
    fn as_caller(&self) -> Caller<'_> {
        self.caller()
    }
}

fn as_pointer(groups: &'static &'static [u32]) -> *mut &'static [u32] {
    std::ptr::from_ref(groups).cast_mut()
}

/// This thread's ID for file systems, which only the call that sets it tells.
fn file_system_id(call: libc::c_long) -> u32 {
    // SAFETY: it takes a number, and changes nothing if nobody can have that.
    let id = unsafe { libc::syscall(call, u32::MAX) };
    u32::try_from(id).unwrap_or(u32::MAX)
}

/// Groups that some process of this memory has or had, and the next ones.
struct Kept {
    groups: &'static [u32],
    next: *const Self,
}

/// The same groups, kept for ever, since a call may be using them when others replace them. A
/// program has few different ones, and each is kept once.
fn kept(groups: &[u32]) -> &'static &'static [u32] {
    static FIRST: AtomicPtr<Kept> = AtomicPtr::new(null_mut());
    if groups.is_empty() {
        return &NO_GROUPS;
    }
    let first = FIRST.load(Ordering::Acquire);
    let mut next: *const Kept = first;
    // SAFETY: null, or something that is never freed or changed once it is in the list.
    while let Some(one) = unsafe { next.as_ref() } {
        if one.groups == groups {
            return &one.groups;
        }
        next = one.next;
    }
    let new = Box::leak(Box::new(Kept { groups: Box::leak(groups.into()), next: first }));
    let groups = &raw const new.groups;
    // If another thread is faster, this does not get into the list, and may be there twice.
    FIRST.compare_exchange(first, new, Ordering::AcqRel, Ordering::Relaxed).ok();
    // SAFETY: it is never freed.
    unsafe { &*groups }
}

/// The process' umask, which umask(2) cannot read without changing it.
fn umask_of_process() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    line.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o022)
}

#[cfg(test)]
mod tests {
    use super::kept;

    #[test]
    fn the_same_groups_are_kept_once() {
        let (one, two) = (kept(&[1, 2, 3]), kept(&[3]));
        assert_eq!((*one, *two, kept(&[]).len()), (&[1, 2, 3][..], &[3][..], 0));
        assert!(std::ptr::eq(one, kept(&[1, 2, 3])) && std::ptr::eq(two, kept(&[3])));
    }
}
