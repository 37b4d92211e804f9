//! From a request to calls of the core.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use densefs::modes::Caller;
use densefs::{Errno, Node, SeekTarget, SetAttribute, Stat};
use densefs_process::DenseFs;
use fuser::{INodeNo, ReplyEntry, ReplyXattr, Request};

use crate::answer::{answer_entry, caller, errno};
use crate::contested::Contested;
use crate::entry::EntryAt;
use crate::known_inodes::{Core, KnownInodes};

/// A DenseFS, and the inodes that the kernel knows.
#[derive(Clone, Debug)]
pub(crate) struct FuseServer {
    pub(crate) files: DenseFs,
    pub(crate) known: Arc<KnownInodes>,
    pub(crate) contested: Arc<Contested>,
}

impl FuseServer {
    pub(crate) fn new(files: DenseFs) -> Result<Self, Errno> {
        let known = Arc::new(KnownInodes::with_root(&files)?);
        // Requests are served by other threads.
        files.leave();
        Ok(Self { files, known, contested: Arc::default() })
    }

    /// Does something with an inode that the kernel knows.
    pub(crate) fn with<T>(
        &self,
        number: INodeNo,
        act: impl Fn(&Core, Node) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        self.files.with_core(|core| core.retry(|| act(core, self.known.node(core, number.0)?)))
    }

    pub(crate) fn stat(&self, core: &Core, node: Node) -> Result<Stat, Errno> {
        let stat = core.stat(node)?;
        Ok(Stat { ino: self.known.number(core, stat.ino)?, ..stat })
    }

    /// Looks up a name for the kernel, which then knows the inode.
    pub(crate) fn look_up(
        &self,
        core: &Core,
        parent: INodeNo,
        name: &OsStr,
    ) -> Result<Stat, Errno> {
        core.retry(|| {
            let directory = self.known.node(core, parent.0)?;
            let found = core.step(&Caller::ROOT, directory, name.as_bytes())?;
            let at = EntryAt { parent: parent.0, name };
            if self.contested.has(at) {
                self.known.enter_whole(core, found, at)
            } else {
                self.known.enter(core, found, at)
            }
        })
    }

    /// Opens an inode that the kernel has found before.
    pub(crate) fn open(&self, request: &Request, number: INodeNo, how: u32) -> Result<u32, Errno> {
        let opened = self.with(number, |core, node| core.open_node(&caller(request), node, how));
        match opened {
            Err(Errno::NOENT) => {
                // A library call has just removed or replaced it.
                if let Some(entry) = self.known.entry(number.0) {
                    self.contested.note(entry);
                }
                Err(Errno::STALE)
            }
            opened => opened,
        }
    }

    /// Creates something with the closure, and replies with it.
    pub(crate) fn make(
        &self,
        parent: INodeNo,
        name: &OsStr,
        reply: ReplyEntry,
        make: impl Fn(&Core, Node) -> Result<(), Errno>,
    ) {
        let made = self.with(parent, |core, directory| make(core, directory));
        let made =
            made.and_then(|()| self.files.with_core(|core| self.look_up(core, parent, name)));
        answer_entry(made, reply);
    }

    pub(crate) fn set_attribute(
        &self,
        request: &Request,
        number: INodeNo,
        name: &OsStr,
        value: &[u8],
        how: i32,
    ) -> Result<(), Errno> {
        let how = match how {
            0 => SetAttribute::Any,
            libc::XATTR_CREATE => SetAttribute::New,
            libc::XATTR_REPLACE => SetAttribute::Present,
            _ => return Err(Errno::INVAL),
        };
        self.with(number, |core, node| {
            core.set_attribute(&caller(request), node, name.as_bytes(), value, how)
        })
    }

    /// Replies with the bytes that the closure copies, or only with their length if the kernel has
    /// no room for any.
    pub(crate) fn answer_attributes(
        &self,
        number: INodeNo,
        size: u32,
        reply: ReplyXattr,
        copy: impl Fn(&Core, Node, &mut [u8]) -> Result<usize, Errno>,
    ) {
        let bytes = RefCell::new(vec![0; size as usize]);
        let copied = self.with(number, |core, node| copy(core, node, &mut bytes.borrow_mut()));
        match copied {
            Ok(length) if size == 0 => reply.size(u32::try_from(length).unwrap_or(u32::MAX)),
            Ok(length) => reply.data(&bytes.borrow()[..length]),
            Err(why) => reply.error(errno(why)),
        }
    }

    pub(crate) fn change_space(
        &self,
        number: INodeNo,
        offset: u64,
        length: u64,
        how: i32,
    ) -> Result<(), Errno> {
        const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        self.with(number, |core, node| match how {
            0 => core.allocate(node, offset, length, false),
            libc::FALLOC_FL_KEEP_SIZE => core.allocate(node, offset, length, true),
            PUNCH => core.punch(node, offset, length),
            _ => Err(Errno::OPNOTSUPP),
        })
    }

    /// Looks for data or a hole; the kernel asks for nothing else.
    pub(crate) fn look_for(&self, number: INodeNo, offset: i64, whence: i32) -> Result<i64, Errno> {
        let what = match whence {
            libc::SEEK_DATA => SeekTarget::Data,
            libc::SEEK_HOLE => SeekTarget::Hole,
            _ => return Err(Errno::INVAL),
        };
        let offset = u64::try_from(offset).map_err(|_| Errno::NXIO)?;
        let found = self.with(number, |core, node| core.look_for(node, offset, what))?;
        i64::try_from(found).map_err(|_| Errno::OVERFLOW)
    }
}
