//! `preadv2` and `pwritev2`, with flags for each call.

use std::io::{IoSlice, IoSliceMut};
use std::path;

use rustix::fd::OwnedFd;
use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};

use super::Path;
use crate::calls::finish;
use crate::error::EngineError;
use crate::fault::Fault;
use crate::io_path::{Caching, CallFlag, CallFlags, Preadv2Options};
use crate::steps::DataFile;
use crate::steps::transfer::Location;

/// `preadv2` and `pwritev2`.
#[derive(Debug)]
pub(crate) struct Vectored {
    options: Preadv2Options,
    read_flags: ReadWriteFlags,
    write_flags: ReadWriteFlags,
}

fn for_kernel(flags: CallFlags) -> ReadWriteFlags {
    ReadWriteFlags::from_bits_retain(flags.bits())
}

impl Vectored {
    pub(crate) fn new(options: Preadv2Options) -> Self {
        let read_flags = for_kernel(options.flags.for_reads());
        Self { options, read_flags, write_flags: for_kernel(options.flags) }
    }

    #[inline(always)]
    fn read_once(
        &self,
        file: &OwnedFd,
        buffer: &mut [u8],
        offset_bytes: u64,
    ) -> Result<usize, Errno> {
        if self.options.segments == 1 {
            let mut parts = [IoSliceMut::new(buffer)];
            return preadv2(file, &mut parts, offset_bytes, self.read_flags);
        }
        let segment_bytes = buffer.len() / self.options.segments;
        let mut rest = buffer.chunks_exact_mut(segment_bytes);
        let mut parts: [_; Preadv2Options::SEGMENTS] =
            std::array::from_fn(|_| IoSliceMut::new(rest.next().unwrap_or_default()));
        let parts = &mut parts[..self.options.segments];
        preadv2(file, parts, offset_bytes, self.read_flags)
    }

    #[inline(always)]
    fn write_once(
        &self,
        file: &OwnedFd,
        request: &[u8],
        offset_bytes: u64,
    ) -> Result<usize, Errno> {
        if self.options.segments == 1 {
            return pwritev2(file, &[IoSlice::new(request)], offset_bytes, self.write_flags);
        }
        let segment_bytes = request.len() / self.options.segments;
        let mut rest = request.chunks_exact(segment_bytes);
        let parts: [_; Preadv2Options::SEGMENTS] =
            std::array::from_fn(|_| IoSlice::new(rest.next().unwrap_or_default()));
        pwritev2(file, &parts[..self.options.segments], offset_bytes, self.write_flags)
    }

    /// Writes one request. Returns how many bytes were written: fewer than requested only if the
    /// rest would block and `RWF_NOWAIT` is set.
    #[inline(always)]
    pub(super) fn write_request(
        &self,
        file: &OwnedFd,
        request: &[u8],
        offset_bytes: u64,
    ) -> Result<u64, Fault> {
        match self.write_once(file, request, offset_bytes) {
            Ok(moved) if moved == request.len() => Ok(moved as u64),
            first => self.go_on("pwritev2", offset_bytes, request.len(), first, |done| {
                let rest = [IoSlice::new(&request[done..])];
                pwritev2(file, &rest, offset_bytes + done as u64, self.write_flags)
            }),
        }
    }

    /// Continues a transfer whose first call was not complete.
    #[cold]
    fn go_on(
        &self,
        call: &'static str,
        offset_bytes: u64,
        wanted: usize,
        first: Result<usize, Errno>,
        mut more: impl FnMut(usize) -> Result<usize, Errno>,
    ) -> Result<u64, Fault> {
        let mut reached = 0;
        let ended = finish(call, offset_bytes, wanted, first, |done| {
            reached = done;
            more(done)
        });
        let would_block = self.options.flags.contains(CallFlag::Nowait)
            && ended == Err(Fault::errno(call, Errno::AGAIN));
        if would_block { Ok(reached as u64) } else { ended }
    }

    /// Turns a fault of such a call into an error.
    pub(super) fn explain_call(&self, fault: Fault, path: &path::Path) -> EngineError {
        if self.options.flags != CallFlags::NONE && fault.is(Errno::OPNOTSUPP) {
            return EngineError::FlagsRefused {
                operation: fault.call(),
                path: path.to_path_buf(),
                flags: self.options.flags,
                source: Errno::OPNOTSUPP.into(),
            };
        }
        match self.options.caching {
            Caching::Direct => fault.into_direct_error(path),
            Caching::Buffered => fault.into_error(path),
        }
    }
}

impl Path for Vectored {
    #[inline(always)]
    fn read(
        &mut self,
        files: &[DataFile],
        location: Location,
        buffer: &mut [u8],
    ) -> Result<u64, Fault> {
        let (file, offset_bytes) = (&files[location.file].file, location.offset_bytes);
        match self.read_once(file, buffer, offset_bytes) {
            Ok(moved) if moved == buffer.len() => Ok(moved as u64),
            first => self.go_on("preadv2", offset_bytes, buffer.len(), first, |done| {
                let mut rest = [IoSliceMut::new(&mut buffer[done..])];
                preadv2(file, &mut rest, offset_bytes + done as u64, self.read_flags)
            }),
        }
    }

    #[inline(always)]
    fn write(
        &mut self,
        files: &[DataFile],
        location: Location,
        request: &[u8],
    ) -> Result<u64, Fault> {
        self.write_request(&files[location.file].file, request, location.offset_bytes)
    }

    fn explain(&self, fault: Fault, path: &path::Path) -> EngineError {
        self.explain_call(fault, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays back results of calls with these flags.
    fn played(flags: CallFlags, answers: &[Result<usize, Errno>]) -> Result<u64, Fault> {
        let vectored = Vectored::new(Preadv2Options { flags, ..Preadv2Options::default() });
        let mut rest = answers[1..].iter();
        vectored.go_on("preadv2", 64, 100, answers[0], |_| {
            *rest.next().expect("no call beyond those played")
        })
    }

    #[test]
    fn what_would_wait_ends_a_transfer_with_what_came_before() {
        let nowait = CallFlags::NONE.with(CallFlag::Nowait);
        assert_eq!(played(nowait, &[Err(Errno::AGAIN)]), Ok(0));
        assert_eq!(played(nowait, &[Ok(40), Ok(20), Err(Errno::AGAIN)]), Ok(60));
        assert_eq!(played(nowait, &[Ok(40), Err(Errno::INTR), Ok(60)]), Ok(100));
        let short = Fault::short("preadv2", 64, 100, 40);
        assert_eq!(played(nowait, &[Ok(40), Ok(0)]), Err(short));
        assert_eq!(played(nowait, &[Err(Errno::IO)]), Err(Fault::errno("preadv2", Errno::IO)));
    }

    #[test]
    fn a_plain_call_that_says_so_has_failed() {
        let failed = Err(Fault::errno("preadv2", Errno::AGAIN));
        assert_eq!(played(CallFlags::NONE, &[Ok(40), Err(Errno::AGAIN)]), failed);
    }

    #[test]
    fn a_request_of_segments_is_one_call() {
        for segments in [1, 2, 5, 16] {
            let vectored = Vectored::new(Preadv2Options { segments, ..Preadv2Options::default() });
            let file = rustix::fs::memfd_create("segments", rustix::fs::MemfdFlags::CLOEXEC);
            let file = file.expect("there is room");
            let request: Vec<u8> = (0..160).collect();
            assert_eq!(vectored.write_once(&file, &request, 7), Ok(160));
            let mut found = vec![0; 160];
            assert_eq!(vectored.read_once(&file, &mut found, 7), Ok(160));
            assert_eq!(found, request, "{segments} segments");
        }
    }
}
