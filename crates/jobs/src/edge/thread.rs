//! What concerns a thread alone: what it has used, its priorities, its user.
#![expect(unsafe_code, reason = "these calls have no wrapper that is about a thread")]

use std::mem::MaybeUninit;

use rustix::io::Errno;

use super::calls::last_error;
use crate::plan::MemoryPolicy;

/// What a thread has used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) user_us: u64,
    pub(crate) system_us: u64,
    pub(crate) context_switches: u64,
    pub(crate) major_faults: u64,
    pub(crate) minor_faults: u64,
}

impl Usage {
    /// Adds what another thread has used.
    pub(crate) fn add(&mut self, other: Self) {
        self.user_us += other.user_us;
        self.system_us += other.system_us;
        self.context_switches += other.context_switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }
}

/// What the calling thread has used since it began.
pub(crate) fn usage() -> Usage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes to `usage`, which is large enough; all zeros are valid as well.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    let positive = |number: i64| u64::try_from(number).unwrap_or(0);
    let us = |time: libc::timeval| positive(time.tv_sec) * 1_000_000 + positive(time.tv_usec);
    Usage {
        user_us: us(usage.ru_utime),
        system_us: us(usage.ru_stime),
        context_switches: positive(usage.ru_nvcsw) + positive(usage.ru_nivcsw),
        major_faults: positive(usage.ru_majflt),
        minor_faults: positive(usage.ru_minflt),
    }
}

/// Sets the priority of the calling thread's I/O.
pub(crate) fn set_io_priority(priority: u16) -> Result<(), Errno> {
    const WHO_PROCESS: libc::c_int = 1;
    // SAFETY: the call takes numbers alone; 0 is the calling thread.
    let answer = unsafe {
        libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, libc::c_long::from(priority))
    };
    if answer == 0 { Ok(()) } else { Err(last_error()) }
}

/// How many nodes a policy may name.
const NODES: usize = 1024;

/// From which nodes memory is that the calling thread touches first.
pub(crate) fn set_memory_policy(policy: &MemoryPolicy) -> Result<(), Errno> {
    let (mode, nodes) = match policy {
        MemoryPolicy::Default => return Ok(()),
        MemoryPolicy::Local => (libc::MPOL_LOCAL, &[][..]),
        MemoryPolicy::Preferred(node) => (libc::MPOL_PREFERRED, std::slice::from_ref(node)),
        MemoryPolicy::Bound(nodes) => (libc::MPOL_BIND, nodes.as_slice()),
        MemoryPolicy::Interleaved(nodes) => (libc::MPOL_INTERLEAVE, nodes.as_slice()),
    };
    let mut mask = [0_u64; NODES / 64];
    for node in nodes {
        *mask.get_mut(node / 64).ok_or(Errno::INVAL)? |= 1 << (node % 64);
    }
    // The kernel takes one bit less than it is told of.
    let bits = NODES + 1;
    // SAFETY: the call reads `bits` - 1 bits from `mask`, which has so many.
    let answer = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), bits) };
    if answer == 0 { Ok(()) } else { Err(last_error()) }
}

/// Makes the calling thread act for a group and a user. Others of the process stay what they are.
pub(crate) fn act_for(group: Option<u32>, user: Option<u32>) -> Result<(), Errno> {
    for (call, id) in [(libc::SYS_setresgid, group), (libc::SYS_setresuid, user)] {
        let Some(id) = id else { continue };
        // SAFETY: the call takes numbers alone, and changes this thread.
        if unsafe { libc::syscall(call, id, id, id) } != 0 {
            return Err(last_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;

    #[test]
    fn memory_is_from_the_nodes_of_the_policy() {
        let of = |policy: MemoryPolicy| {
            let set = move || set_memory_policy(&policy).map(|()| fs::read_to_string(MAPS));
            thread::spawn(set).join().expect("a thread")
        };
        const MAPS: &str = "/proc/thread-self/numa_maps";
        for (policy, shown) in [
            (MemoryPolicy::Local, " local "),
            (MemoryPolicy::Preferred(0), " prefer:0 "),
            (MemoryPolicy::Bound(vec![0]), " bind:0 "),
            (MemoryPolicy::Interleaved(vec![0]), " interleave:0 "),
            (MemoryPolicy::Default, " default "),
        ] {
            match of(policy) {
                // Containers may forbid it, and kernels may have been built without it.
                Err(Errno::PERM | Errno::NOSYS) | Ok(Err(_)) => return,
                Ok(Ok(maps)) => assert!(maps.contains(shown), "{shown}: {maps}"),
                Err(other) => panic!("{shown}: {other}"),
            }
        }
        assert_eq!(of(MemoryPolicy::Bound(vec![NODES])).expect_err("too large"), Errno::INVAL);
    }
}
