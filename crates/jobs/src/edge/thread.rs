//! What concerns a thread alone: what it has used, its priorities, its user.
#![expect(unsafe_code, reason = "these calls have no wrapper that is about a thread")]

use std::mem::MaybeUninit;

use rustix::io::Errno;

use super::calls::last_error;

/// What a thread has used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) user_us: u64,
    pub(crate) system_us: u64,
    pub(crate) context_switches: u64,
    pub(crate) major_faults: u64,
    pub(crate) minor_faults: u64,
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

/// Sets the class and level of the calling thread's I/O; answers what the kernel calls it.
pub(crate) fn set_io_priority(class: u16, level: u16) -> Result<u16, Errno> {
    const WHO_PROCESS: libc::c_int = 1;
    let priority = class << 13 | level;
    // SAFETY: the call takes numbers alone; 0 is the calling thread.
    let answer = unsafe {
        libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, libc::c_long::from(priority))
    };
    if answer == 0 { Ok(priority) } else { Err(last_error()) }
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
