//! Serves the kernel's requests about names and attributes.

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use densefs::modes::{Caller, DIRECTORY, FILE, TYPE, is_device};
use densefs::{EntryName, Errno, NewTimes, Owner, Remove, Rename};

use crate::answer::{Answer, AskedTime};
use crate::protocol::{DirectoryReply, ListedName, Reply, Request, operation, set};
use crate::server::FuseServer;

impl FuseServer {
    pub(crate) fn lookup(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let name = request.fields().name()?;
        self.files
            .with_core(|core| self.look_up(core, request.node, name))
            .map(|stat| Reply::entry(&stat))
    }

    pub(crate) fn forget(&self, request: &Request<'_>) -> Answer {
        // There is nobody to report an error to.
        if let Ok(times) = request.fields().u64() {
            self.files.with_core(|core| self.known.forget(core, request.node, times)).ok();
        }
        Answer::NotNow
    }

    pub(crate) fn forget_several(&self, request: &Request<'_>) -> Answer {
        let mut fields = request.fields();
        let count = fields.u64().unwrap_or(0) & u64::from(u32::MAX);
        for _ in 0..count {
            let (Ok(number), Ok(times)) = (fields.u64(), fields.u64()) else { break };
            self.files.with_core(|core| self.known.forget(core, number, times)).ok();
        }
        Answer::NotNow
    }

    pub(crate) fn attributes(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let stat = self.with(request.node, |core, node| self.stat(core, node))?;
        Ok(Reply::attributes(&stat))
    }

    pub(crate) fn set_attributes(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        let what = fields.u32()?;
        // Padding, and the descriptor.
        fields.skip(12)?;
        let size = fields.u64()?;
        fields.skip(8)?;
        let (accessed, changed) = (fields.u64()?, fields.u64()?);
        fields.skip(8)?;
        let (accessed_within, changed_within) = (fields.u32()?, fields.u32()?);
        fields.skip(4)?;
        let mode = fields.u32()?;
        fields.skip(4)?;
        let (uid, gid) = (fields.u32()?, fields.u32()?);
        let is_set = |one: u32| what & one != 0;
        let times = NewTimes {
            accessed: AskedTime {
                is_set: is_set(set::ATIME),
                is_now: is_set(set::ATIME_NOW),
                seconds: accessed,
                within: accessed_within,
            }
            .into(),
            changed: AskedTime {
                is_set: is_set(set::MTIME),
                is_now: is_set(set::MTIME_NOW),
                seconds: changed,
                within: changed_within,
            }
            .into(),
        };
        let owner =
            Owner { uid: is_set(set::UID).then_some(uid), gid: is_set(set::GID).then_some(gid) };
        let caller = request.caller();
        let stat = self.with(request.node, |core, node| {
            if owner.uid.is_some() || owner.gid.is_some() {
                core.set_owner(&caller, node, owner)?;
            }
            if is_set(set::MODE) {
                core.set_mode(&caller, node, mode)?;
            }
            if is_set(set::SIZE) {
                core.truncate(node, size)?;
            }
            core.touch_node(&caller, node, times)?;
            self.stat(core, node)
        })?;
        Ok(Reply::attributes(&stat))
    }

    pub(crate) fn read_link(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        self.with(request.node, |core, node| {
            let mut target = vec![0; densefs::PATH_MAX];
            let length = core.read_link(node, &mut target)?;
            target.truncate(length);
            Ok(Reply::bytes(target))
        })
    }

    pub(crate) fn make_node(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        let (mode, device) = (fields.u32()?, fields.u32()?);
        fields.skip(8)?;
        let name = fields.name()?;
        let mode = if mode & TYPE == 0 { mode | FILE } else { mode };
        let (caller, bytes) = (request.caller(), name.as_bytes());
        self.make(request.node, name, |core, at| {
            if is_device(mode) {
                return core.make_device_at(&caller, at, bytes, mode, device).map(drop);
            }
            core.make_at(&caller, at, bytes, mode).map(drop)
        })
    }

    pub(crate) fn make_directory(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        let mode = fields.u32()? & 0o7777 | DIRECTORY;
        fields.skip(4)?;
        let (name, caller) = (fields.name()?, request.caller());
        self.make(request.node, name, |core, at| {
            core.make_at(&caller, at, name.as_bytes(), mode).map(drop)
        })
    }

    pub(crate) fn make_symlink(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        let (name, target, caller) = (fields.name()?, fields.name()?, request.caller());
        self.make(request.node, name, |core, at| {
            core.symlink_at(&caller, at, name.as_bytes(), target.as_bytes()).map(drop)
        })
    }

    pub(crate) fn remove(&self, request: &Request<'_>, what: Remove) -> Result<Reply, Errno> {
        let (name, caller) = (request.fields().name()?, request.caller());
        self.with(request.node, |core, at| core.remove_at(&caller, at, name.as_bytes(), what))?;
        Ok(Reply::empty())
    }

    pub(crate) fn rename(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        const BOTH: u32 = libc::RENAME_NOREPLACE | libc::RENAME_WHITEOUT;
        let mut fields = request.fields();
        let new_parent = fields.u64()?;
        let how = if request.operation == operation::RENAME2 {
            let how = fields.u32()?;
            fields.skip(4)?;
            how
        } else {
            0
        };
        let how = match how {
            0 => Rename::Replace,
            libc::RENAME_NOREPLACE => Rename::NoReplace,
            libc::RENAME_EXCHANGE => Rename::Exchange,
            libc::RENAME_WHITEOUT => Rename::Whiteout,
            BOTH => Rename::NoReplaceWhiteout,
            _ => return Err(Errno::INVAL),
        };
        let (name, new_name, caller) = (fields.name()?, fields.name()?, request.caller());
        self.with(request.node, |core, from| {
            let to = self.known.node(core, new_parent)?;
            let old = EntryName { directory: &from, name: name.as_bytes() };
            let new = EntryName { directory: &to, name: new_name.as_bytes() };
            core.rename_at(&caller, old, new, how)
        })?;
        Ok(Reply::empty())
    }

    pub(crate) fn link(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        let (number, name, caller) = (fields.u64()?, fields.name()?, request.caller());
        self.make(request.node, name, |core, at| {
            let node = self.known.node(core, number)?;
            core.link_at(&caller, node, at, name.as_bytes())
        })
    }

    pub(crate) fn list(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        fields.skip(8)?;
        let (offset, size) = (fields.u64()?, fields.u32()?);
        // Where to continue if the listing must be retried.
        let (reply, next) = (RefCell::new(DirectoryReply::new(size)), Cell::new(offset));
        self.with(request.node, |core, node| {
            let mut reply = reply.borrow_mut();
            let mut add = |entry: ListedName<'_>| {
                let is_added = reply.add(&entry);
                if is_added {
                    next.set(entry.next);
                }
                is_added
            };
            for (at, name) in [(0, "."), (1, "..")] {
                if next.get() > at {
                    continue;
                }
                let stat = self.stat(core, core.step(&Caller::ROOT, node, name.as_bytes())?)?;
                let (name, next) = (OsStr::new(name), at + 1);
                if !add(ListedName { ino: stat.ino, next, type_bits: DIRECTORY, name }) {
                    return Ok(());
                }
            }
            core.list_each(&Caller::ROOT, node, next.get(), |one| {
                let (next, name) = (one.position + 1, OsStr::from_bytes(one.name));
                add(ListedName { ino: one.ino, next, type_bits: one.type_bits, name })
            })
        })?;
        Ok(reply.into_inner().done())
    }

    pub(crate) fn usage(&self) -> Result<Reply, Errno> {
        self.files.usage().map(|usage| Reply::usage(usage.bytes, usage.free_bytes))
    }
}
