//! Conversions between the kernel's terms and the core's.

use std::time::{Duration, SystemTime};

use densefs::modes::{BLOCKS, CHARACTERS, Caller, DIRECTORY, NO_GROUPS, SYMLINK, TYPE};
use densefs::{Errno, NewTime, Stat, flags, time};
use fuser::{
    FileAttr, FileHandle, FileType, Generation, INodeNo, ReplyData, ReplyEmpty, ReplyEntry,
    Request, TimeOrNow,
};

/// How long the kernel may cache a reply: not at all.
pub(crate) const AT_ONCE: Duration = Duration::ZERO;
/// The block size that statfs(2) reports.
pub(crate) const BLOCK: u32 = 4096;
/// Types without a constant elsewhere.
const FIFO: u32 = 0o010_000;
const SOCKET: u32 = 0o140_000;

/// The caller on whose behalf the kernel asks. The kernel has already checked permissions and
/// applied the umask.
pub(crate) fn caller(request: &Request) -> Caller<'static> {
    let (uid, gid) = (request.uid(), request.gid());
    Caller { uid, gid, groups: &NO_GROUPS, umask: 0, is_checked: true, may_lead_out: false }
}

pub(crate) fn errno(why: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(why.0)
}

pub(crate) fn type_of(mode: u32) -> FileType {
    match mode & TYPE {
        DIRECTORY => FileType::Directory,
        SYMLINK => FileType::Symlink,
        FIFO => FileType::NamedPipe,
        SOCKET => FileType::Socket,
        CHARACTERS => FileType::CharDevice,
        BLOCKS => FileType::BlockDevice,
        _ => FileType::RegularFile,
    }
}

pub(crate) fn attributes(stat: &Stat) -> FileAttr {
    let time = |ns: i64| {
        let distance = Duration::from_nanos(ns.unsigned_abs());
        let epoch = SystemTime::UNIX_EPOCH;
        if ns < 0 { epoch - distance } else { epoch + distance }
    };
    FileAttr {
        ino: INodeNo(stat.ino),
        size: stat.size,
        blocks: stat.blocks,
        atime: time(stat.atime_ns),
        mtime: time(stat.mtime_ns),
        ctime: time(stat.ctime_ns),
        crtime: SystemTime::UNIX_EPOCH,
        kind: type_of(stat.mode.mode),
        perm: u16::try_from(stat.mode.mode & 0o7777).unwrap_or(0),
        nlink: stat.links,
        uid: stat.mode.uid,
        gid: stat.mode.gid,
        rdev: stat.device,
        blksize: BLOCK,
        flags: 0,
    }
}

pub(crate) fn answer_entry(made: Result<Stat, Errno>, reply: ReplyEntry) {
    match made {
        Ok(stat) => reply.entry(&AT_ONCE, &attributes(&stat), Generation(0)),
        Err(why) => reply.error(errno(why)),
    }
}

pub(crate) fn answer_data(read: Result<Vec<u8>, Errno>, reply: ReplyData) {
    match read {
        Ok(bytes) => reply.data(&bytes),
        Err(why) => reply.error(errno(why)),
    }
}

pub(crate) fn answer_empty(done: Result<(), Errno>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(why) => reply.error(errno(why)),
    }
}

pub(crate) fn descriptor(handle: FileHandle) -> Result<u32, Errno> {
    u32::try_from(handle.0).map_err(|_| Errno::BADF)
}

/// The open flags that matter to the core: the kernel has already followed symbolic links and
/// checked whether the file exists, and it truncates the file itself.
pub(crate) fn opened_for(how: u32) -> u32 {
    how & (flags::ACCESS | flags::APPEND)
}

pub(crate) fn new_time(asked: Option<TimeOrNow>) -> NewTime {
    match asked {
        None => NewTime::Same,
        Some(TimeOrNow::Now) => NewTime::Now,
        Some(TimeOrNow::SpecificTime(time)) => NewTime::At(nanoseconds(time)),
    }
}

fn nanoseconds(asked: SystemTime) -> i64 {
    let (seconds, within) = match asked.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => (i64::try_from(since.as_secs()), since.subsec_nanos()),
        // For the kernel, nanoseconds count forwards from the second; fuser takes them off.
        Err(before) => {
            let before = before.duration();
            (i64::try_from(before.as_secs()).map(|seconds| -seconds), before.subsec_nanos())
        }
    };
    time::from_parts(seconds.unwrap_or(i64::MAX), within)
}
