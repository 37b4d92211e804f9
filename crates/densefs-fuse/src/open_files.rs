//! Serves the kernel's requests about open files and what files contain.

use std::os::unix::ffi::OsStrExt;

use densefs::{Errno, SeekTarget, flags};

use crate::answer::{descriptor, opened_for};
use crate::entry::EntryAt;
use crate::protocol::{FROM_CACHE, Reply, Request};
use crate::server::FuseServer;

impl FuseServer {
    /// Opens an inode that the kernel has found before.
    pub(crate) fn open(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let (number, how) = (request.node, opened_for(request.fields().u32()?));
        let opened = self.with(number, |core, node| core.open_node(&request.caller(), node, how));
        match opened {
            Err(Errno::NOENT) => {
                // A library call has just removed or replaced it.
                if let Some(entry) = self.known.entry(number) {
                    self.contested.note(entry);
                }
                Err(Errno::STALE)
            }
            opened => opened.map(Reply::opened),
        }
    }

    pub(crate) fn create(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        let (how, mode) = (fields.u32()?, fields.u32()? & 0o7777);
        fields.skip(8)?;
        let (name, parent, caller) = (fields.name()?, request.node, request.caller());
        let exclusive = how & flags::EXCLUSIVE;
        let how = opened_for(how) | flags::CREATE | flags::NO_FOLLOW | exclusive;
        self.with(parent, |core, at| {
            let opened = core.open(&caller, at, name.as_bytes(), how, mode)?;
            match core
                .retry(|| self.known.enter(core, core.node(opened)?, EntryAt { parent, name }))
            {
                Ok(stat) => Ok(Reply::entry(&stat).and_opened(opened)),
                Err(why) => {
                    core.close(opened)?;
                    Err(why)
                }
            }
        })
    }

    pub(crate) fn read(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        let (file, offset, size) = (descriptor(&mut fields)?, fields.u64()?, fields.u32()?);
        self.files.with_core(|core| {
            let mut bytes = vec![0; size as usize];
            let length = core.read_from(file, offset, &mut bytes)?;
            bytes.truncate(length);
            Ok(Reply::bytes(bytes))
        })
    }

    pub(crate) fn write(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        let file = descriptor(&mut fields);
        let (offset, size, how) = (fields.u64()?, fields.u32()?, fields.u32()?);
        fields.skip(16)?;
        let bytes = fields.bytes(size)?;
        let written = if how & FROM_CACHE != 0 {
            // Written back from a mapping; the descriptor may be one for reading.
            self.with(request.node, |core, node| core.write_at(node, offset, bytes))
        } else {
            self.files.with_core(|core| core.write_to(file?, offset, bytes))
        };
        written.map(Reply::length)
    }

    /// What is done whenever a descriptor is closed.
    pub(crate) fn flush(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        fields.skip(16)?;
        let owner = fields.u64()?;
        self.locks.release_of(&self.files, request.node, |holder| holder.owner == owner)?;
        Ok(Reply::empty())
    }

    /// What is done when the last descriptor of an open file has been closed.
    pub(crate) fn release(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let file = descriptor(&mut request.fields())?;
        let node = request.node;
        let released = self.locks.release_of(&self.files, node, |holder| holder.file == Some(file));
        self.files.with_core(|core| core.close(file))?;
        released.map(|()| Reply::empty())
    }

    pub(crate) fn change_space(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        const PUNCH: u32 = (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE).cast_unsigned();
        const KEEP_SIZE: u32 = libc::FALLOC_FL_KEEP_SIZE.cast_unsigned();
        let mut fields = request.fields();
        fields.skip(8)?;
        let (offset, length, how) = (fields.u64()?, fields.u64()?, fields.u32()?);
        self.with(request.node, |core, node| match how {
            0 => core.allocate(node, offset, length, false),
            KEEP_SIZE => core.allocate(node, offset, length, true),
            PUNCH => core.punch(node, offset, length),
            _ => Err(Errno::OPNOTSUPP),
        })?;
        Ok(Reply::empty())
    }

    /// Looks for data or a hole; the kernel asks for nothing else.
    pub(crate) fn look_for(&self, request: &Request<'_>) -> Result<Reply, Errno> {
        let mut fields = request.fields();
        fields.skip(8)?;
        let (offset, whence) = (fields.u64()?, fields.u32()?.cast_signed());
        let what = match whence {
            libc::SEEK_DATA => SeekTarget::Data,
            libc::SEEK_HOLE => SeekTarget::Hole,
            _ => return Err(Errno::INVAL),
        };
        if offset.cast_signed() < 0 {
            return Err(Errno::NXIO);
        }
        self.with(request.node, |core, node| core.look_for(node, offset, what)).map(Reply::offset)
    }
}
