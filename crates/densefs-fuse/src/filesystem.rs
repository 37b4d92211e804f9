//! Serves the kernel's requests with the core.

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::SystemTime;

use densefs::modes::{Caller, DIRECTORY, FILE, TYPE, is_device};
use densefs::{EntryName, NewTimes, Owner, Remove, Rename, flags};
use fuser::{
    BsdFileFlags, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite,
    ReplyXattr, Request, TimeOrNow, WriteFlags,
};

use crate::answer::{
    AT_ONCE, BLOCK, answer_data, answer_empty, answer_entry, attributes, caller, descriptor, errno,
    new_time, opened_for, type_of,
};
use crate::entry::EntryAt;
use crate::server::FuseServer;

/// The largest write.
const WRITE_MAX: u32 = 1 << 20;

impl Filesystem for FuseServer {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Optional: kernels that lack these work without them.
        for wanted in [InitFlags::FUSE_AUTO_INVAL_DATA, InitFlags::FUSE_PARALLEL_DIROPS] {
            config.add_capabilities(wanted).ok();
        }
        config.set_max_write(WRITE_MAX).ok();
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        answer_entry(self.files.with_core(|core| self.look_up(core, parent, name)), reply);
    }

    fn forget(&self, _request: &Request, number: INodeNo, times: u64) {
        // There is nobody to report an error to.
        self.files.with_core(|core| self.known.forget(core, number.0, times)).ok();
    }

    fn getattr(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: Option<FileHandle>,
        reply: ReplyAttr,
    ) {
        match self.with(number, |core, node| self.stat(core, node)) {
            Ok(stat) => reply.attr(&AT_ONCE, &attributes(&stat)),
            Err(why) => reply.error(errno(why)),
        }
    }

    fn setattr(
        &self,
        request: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let caller = caller(request);
        let set = self.with(number, |core, node| {
            if uid.is_some() || gid.is_some() {
                core.set_owner(&caller, node, Owner { uid, gid })?;
            }
            if let Some(mode) = mode {
                core.set_mode(&caller, node, mode)?;
            }
            if let Some(size) = size {
                core.truncate(node, size)?;
            }
            let times = NewTimes { accessed: new_time(atime), changed: new_time(mtime) };
            core.touch_node(&caller, node, times)?;
            self.stat(core, node)
        });
        match set {
            Ok(stat) => reply.attr(&AT_ONCE, &attributes(&stat)),
            Err(why) => reply.error(errno(why)),
        }
    }

    fn readlink(&self, _request: &Request, number: INodeNo, reply: ReplyData) {
        let read = self.with(number, |core, node| {
            let mut target = vec![0; densefs::PATH_MAX];
            let length = core.read_link(node, &mut target)?;
            target.truncate(length);
            Ok(target)
        });
        answer_data(read, reply);
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let mode = if mode & TYPE == 0 { mode | FILE } else { mode };
        let (caller, bytes) = (caller(request), name.as_bytes());
        self.make(parent, name, reply, |core, at| {
            if is_device(mode) {
                return core.make_device_at(&caller, at, bytes, mode, device).map(drop);
            }
            core.make_at(&caller, at, bytes, mode).map(drop)
        });
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let mode = mode & 0o7777 | DIRECTORY;
        self.make(parent, name, reply, |core, at| {
            core.make_at(&caller(request), at, name.as_bytes(), mode).map(drop)
        });
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let target = target.as_os_str().as_bytes();
        self.make(parent, name, reply, |core, at| {
            core.symlink_at(&caller(request), at, name.as_bytes(), target).map(drop)
        });
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self.with(parent, |core, at| {
            core.remove_at(&caller(request), at, name.as_bytes(), Remove::Name)
        });
        answer_empty(done, reply);
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self.with(parent, |core, at| {
            core.remove_at(&caller(request), at, name.as_bytes(), Remove::Directory)
        });
        answer_empty(done, reply);
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        how: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let how = match how {
            RenameFlags::RENAME_NOREPLACE => Rename::NoReplace,
            RenameFlags::RENAME_EXCHANGE => Rename::Exchange,
            RenameFlags::RENAME_WHITEOUT => Rename::Whiteout,
            how if how == RenameFlags::RENAME_NOREPLACE | RenameFlags::RENAME_WHITEOUT => {
                Rename::NoReplaceWhiteout
            }
            how if how.is_empty() => Rename::Replace,
            _ => return reply.error(fuser::Errno::EINVAL),
        };
        let done = self.with(parent, |core, from| {
            let to = self.known.node(core, new_parent.0)?;
            let old = EntryName { directory: &from, name: name.as_bytes() };
            let new = EntryName { directory: &to, name: new_name.as_bytes() };
            core.rename_at(&caller(request), old, new, how)
        });
        answer_empty(done, reply);
    }

    fn link(
        &self,
        request: &Request,
        number: INodeNo,
        new_parent: INodeNo,
        new_name: &OsStr,
        reply: ReplyEntry,
    ) {
        self.make(new_parent, new_name, reply, |core, at| {
            let node = self.known.node(core, number.0)?;
            core.link_at(&caller(request), node, at, new_name.as_bytes())
        });
    }

    fn open(&self, request: &Request, number: INodeNo, how: OpenFlags, reply: ReplyOpen) {
        let how = opened_for(how.0.cast_unsigned());
        match self.open(request, number, how) {
            Ok(descriptor) => reply.opened(FileHandle(descriptor.into()), FopenFlags::empty()),
            Err(why) => reply.error(errno(why)),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        how: i32,
        reply: ReplyCreate,
    ) {
        let exclusive = how.cast_unsigned() & flags::EXCLUSIVE;
        let how = opened_for(how.cast_unsigned()) | flags::CREATE | flags::NO_FOLLOW | exclusive;
        let created = self.with(parent, |core, at| {
            let opened = core.open(&caller(request), at, name.as_bytes(), how, mode & 0o7777)?;
            let entry = EntryAt { parent: parent.0, name };
            match core.retry(|| self.known.enter(core, core.node(opened)?, entry)) {
                Ok(stat) => Ok((opened, stat)),
                Err(why) => {
                    core.close(opened)?;
                    Err(why)
                }
            }
        });
        match created {
            Ok((opened, stat)) => {
                let (attributes, handle) = (attributes(&stat), FileHandle(opened.into()));
                reply.created(&AT_ONCE, &attributes, Generation(0), handle, FopenFlags::empty());
            }
            Err(why) => reply.error(errno(why)),
        }
    }

    fn read(
        &self,
        _request: &Request,
        _number: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let read = self.files.with_core(|core| {
            let mut bytes = vec![0; size as usize];
            let length = core.read_from(descriptor(handle)?, offset, &mut bytes)?;
            bytes.truncate(length);
            Ok(bytes)
        });
        answer_data(read, reply);
    }

    fn write(
        &self,
        _request: &Request,
        number: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        how: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let written = if how.contains(WriteFlags::FUSE_WRITE_CACHE) {
            // Written back from a mapping; the handle may be one for reading.
            self.with(number, |core, node| core.write_at(node, offset, data))
        } else {
            self.files.with_core(|core| core.write_to(descriptor(handle)?, offset, data))
        };
        match written {
            Ok(length) => reply.written(u32::try_from(length).unwrap_or(u32::MAX)),
            Err(why) => reply.error(errno(why)),
        }
    }

    fn flush(
        &self,
        _request: &Request,
        _number: INodeNo,
        _handle: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn release(
        &self,
        _request: &Request,
        _number: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        answer_empty(self.files.with_core(|core| core.close(descriptor(handle)?)), reply);
    }

    fn fsync(
        &self,
        _request: &Request,
        _number: INodeNo,
        _handle: FileHandle,
        _is_data: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn setxattr(
        &self,
        request: &Request,
        number: INodeNo,
        name: &OsStr,
        value: &[u8],
        how: i32,
        _position: u32,
        reply: ReplyEmpty,
    ) {
        answer_empty(self.set_attribute(request, number, name, value, how), reply);
    }

    fn getxattr(
        &self,
        request: &Request,
        number: INodeNo,
        name: &OsStr,
        size: u32,
        reply: ReplyXattr,
    ) {
        let name = name.as_bytes();
        self.answer_attributes(number, size, reply, |core, node, into| {
            core.attribute(&caller(request), node, name, into)
        });
    }

    fn listxattr(&self, request: &Request, number: INodeNo, size: u32, reply: ReplyXattr) {
        // The kernel has not checked which names the caller may see.
        let caller = Caller { is_checked: false, ..caller(request) };
        self.answer_attributes(number, size, reply, |core, node, into| {
            core.attribute_names(&caller, node, into)
        });
    }

    fn removexattr(&self, request: &Request, number: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self.with(number, |core, node| {
            core.remove_attribute(&caller(request), node, name.as_bytes())
        });
        answer_empty(done, reply);
    }

    fn fallocate(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        how: i32,
        reply: ReplyEmpty,
    ) {
        answer_empty(self.change_space(number, offset, length, how), reply);
    }

    fn lseek(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        match self.look_for(number, offset, whence) {
            Ok(found) => reply.offset(found),
            Err(why) => reply.error(errno(why)),
        }
    }

    fn fsyncdir(
        &self,
        _request: &Request,
        _number: INodeNo,
        _handle: FileHandle,
        _is_data: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn readdir(
        &self,
        _request: &Request,
        number: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        // Where to continue if the listing must be retried.
        let (place, next) = (RefCell::new(&mut reply), Cell::new(offset));
        let listed = self.with(number, |core, node| {
            let mut place = place.borrow_mut();
            let mut add = |ino, after, kind, name: &OsStr| {
                let is_full = place.add(INodeNo(ino), after, kind, name);
                if !is_full {
                    next.set(after);
                }
                !is_full
            };
            for (at, name) in [(0, "."), (1, "..")] {
                if next.get() > at {
                    continue;
                }
                let stat = self.stat(core, core.step(&Caller::ROOT, node, name.as_bytes())?)?;
                if !add(stat.ino, at + 1, FileType::Directory, OsStr::new(name)) {
                    return Ok(());
                }
            }
            core.list_each(&Caller::ROOT, node, next.get(), |one| {
                let (kind, name) = (type_of(one.type_bits), OsStr::from_bytes(one.name));
                add(one.ino, one.position + 1, kind, name)
            })
        });
        match listed {
            Ok(()) => reply.ok(),
            Err(why) => reply.error(errno(why)),
        }
    }

    fn statfs(&self, _request: &Request, _number: INodeNo, reply: ReplyStatfs) {
        match self.files.usage() {
            Ok(usage) => {
                let blocks = |bytes: u64| bytes / u64::from(BLOCK);
                let (all, free) = (blocks(usage.bytes), blocks(usage.free_bytes));
                let inodes = |blocks: u64| blocks * u64::from(BLOCK) / 128;
                reply.statfs(all, free, free, inodes(all), inodes(free), BLOCK, 255, BLOCK);
            }
            Err(why) => reply.error(errno(why)),
        }
    }
}
