//! Attributes of files, read and changed.
#![expect(unsafe_code, reason = "names that C knows, and its structures")]

use densefs::modes::Caller;
use densefs::{Errno, Follow, NewTime, NewTimes, Node, Owner, Stat, flags, time};

use crate::answer::answer;
use crate::path::{PathArgument, node_of_base};
use crate::process::{Core, Process};

/// `st_blksize`.
const BLOCK_BYTES: u64 = 4096;

/// The kernel's `struct stat` of x86-64.
#[derive(Debug)]
#[repr(C)]
pub struct KernelStat {
    dev: u64,
    ino: u64,
    links: u64,
    mode: u32,
    uid: u32,
    gid: u32,
    unused: u32,
    device: u64,
    size: u64,
    block_bytes: u64,
    blocks: u64,
    times: [[i64; 2]; 3],
    unused_end: [i64; 3],
}

const _: () = assert!(size_of::<KernelStat>() == 144);

impl KernelStat {
    #[inline(always)]
    fn from_stat(stat: &Stat) -> Self {
        let [accessed, modified, changed] =
            [stat.atime_ns, stat.mtime_ns, stat.ctime_ns].map(|time_ns| {
                let (seconds, nanoseconds) = time::parts(time_ns);
                [seconds, i64::from(nanoseconds)]
            });
        Self {
            dev: 0,
            ino: stat.ino,
            links: stat.links.into(),
            mode: stat.mode.mode,
            uid: stat.mode.uid,
            gid: stat.mode.gid,
            unused: 0,
            device: stat.device.into(),
            size: stat.size,
            block_bytes: BLOCK_BYTES,
            blocks: stat.blocks,
            times: [accessed, modified, changed],
            unused_end: [0; 3],
        }
    }
}

/// fstatat(2).
///
/// # Safety
/// `into` must have room for the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_stat(
    process: &Process,
    path: &PathArgument,
    follows: bool,
    into: *mut KernelStat,
) -> i64 {
    let (core, caller) = (process.core(), process.caller());
    let follow = if follows { Follow::Yes } else { Follow::No };
    // SAFETY: guaranteed by the caller.
    let tell = |stat: &Stat| unsafe { into.write(KernelStat::from_stat(stat)) };
    answer(core.retry(|| core.stat_path(caller, path.from(core)?, path.bytes(), follow, tell)))
}

/// fstat(2), and fstatat(2) of the descriptor itself or of the working directory.
///
/// # Safety
/// `into` must have room for the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_fstat(process: &Process, base: i32, into: *mut KernelStat) -> i64 {
    let core = process.core();
    answer(core.retry(|| {
        let stat = core.stat(node_of_base(core, base)?)?;
        // SAFETY: guaranteed by the caller.
        unsafe { into.write(KernelStat::from_stat(&stat)) };
        Ok(())
    }))
}

/// fchmodat(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_chmod(process: &Process, path: &PathArgument, mode: u32) -> i64 {
    answer(
        process
            .with_node(path, Follow::Yes, |core, caller, node| core.set_mode(caller, node, mode)),
    )
}

/// fchownat(2); -1 leaves an owner or a group as it is.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_chown(
    process: &Process,
    path: &PathArgument,
    uid: u32,
    gid: u32,
    follows: bool,
) -> i64 {
    let follow = if follows { Follow::Yes } else { Follow::No };
    answer(process.with_node(path, follow, |core, caller, node| {
        core.set_owner(caller, node, owner(uid, gid))
    }))
}

fn owner(uid: u32, gid: u32) -> Owner {
    let given = |id: u32| (id != u32::MAX).then_some(id);
    Owner { uid: given(uid), gid: given(gid) }
}

/// Changes an open file's attributes.
#[inline(always)]
fn change(
    process: &Process,
    descriptor: u32,
    act: impl Fn(Core<'_>, &Caller<'_>, Node) -> Result<(), Errno>,
) -> i64 {
    let (core, caller) = (process.core(), process.caller());
    answer(core.retry(|| {
        if core.flags(descriptor)? & flags::PATH != 0 {
            return Err(Errno::BADF);
        }
        act(core, caller, core.node(descriptor)?)
    }))
}

/// fchmod(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_fchmod(process: &Process, descriptor: u32, mode: u32) -> i64 {
    change(process, descriptor, |core, caller, node| core.set_mode(caller, node, mode))
}

/// fchown(2).
#[unsafe(no_mangle)]
pub extern "C" fn densefs_fchown(process: &Process, descriptor: u32, uid: u32, gid: u32) -> i64 {
    change(process, descriptor, |core, caller, node| core.set_owner(caller, node, owner(uid, gid)))
}

/// The times of utimensat(2): seconds and nanoseconds, of access and of modification.
type Times = [[i64; 2]; 2];

/// What utimensat(2) is to set.
fn new_times(times: Option<&Times>) -> Result<NewTimes, Errno> {
    const NOW: i64 = 0x3fff_ffff;
    const OMIT: i64 = 0x3fff_fffe;
    let Some(&[accessed, changed]) = times else {
        return Ok(NewTimes { accessed: NewTime::Now, changed: NewTime::Now });
    };
    let new = |[seconds, nanoseconds]: [i64; 2]| match nanoseconds {
        NOW => Ok(NewTime::Now),
        OMIT => Ok(NewTime::Same),
        0..1_000_000_000 => {
            let nanoseconds = u32::try_from(nanoseconds).map_err(|_| Errno::INVAL)?;
            Ok(NewTime::At(time::from_parts(seconds, nanoseconds)))
        }
        _ => Err(Errno::INVAL),
    };
    Ok(NewTimes { accessed: new(accessed)?, changed: new(changed)? })
}

/// utimensat(2) of a path.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_utimens(
    process: &Process,
    path: &PathArgument,
    times: Option<&Times>,
    follows: bool,
) -> i64 {
    let follow = if follows { Follow::Yes } else { Follow::No };
    answer(process.with_node(path, follow, |core, caller, node| {
        core.touch_node(caller, node, new_times(times)?)
    }))
}

/// utimensat(2) of an open file.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_futimens(
    process: &Process,
    descriptor: u32,
    times: Option<&Times>,
) -> i64 {
    change(process, descriptor, |core, caller, node| {
        core.touch_node(caller, node, new_times(times)?)
    })
}

/// faccessat(2), for these IDs.
#[unsafe(no_mangle)]
pub extern "C" fn densefs_access(
    process: &Process,
    path: &PathArgument,
    wanted: u32,
    uid: u32,
    gid: u32,
) -> i64 {
    let (core, caller) = (process.core(), Caller { uid, gid, ..*process.caller() });
    answer(core.retry(|| {
        let node = core.walk(&caller, path.from(core)?, path.bytes(), Follow::Yes)?;
        core.stat(node)?.mode.allow(&caller, wanted & 7)
    }))
}

/// How many pages there are, and how many are free, for statfs(2).
///
/// # Safety
/// `all` and `free` must be writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn densefs_pages(process: &Process, all: *mut u64, free: *mut u64) -> i64 {
    answer(process.core().pages().map(|(pages, left)| {
        // SAFETY: guaranteed by the caller.
        unsafe {
            all.write(pages.into());
            free.write(left.into());
        }
    }))
}
