//! The open device by which the kernel asks and is answered.

use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::BorrowedFd;

use densefs::Errno;

use crate::protocol::{Reply, Request};

/// The device. Several threads may use it at the same time.
#[derive(Debug)]
pub(crate) struct Channel(File);

impl Channel {
    /// Another descriptor for an open device.
    pub(crate) fn new(device: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self(File::from(device.try_clone_to_owned()?)))
    }

    /// Waits for the next request, and reads it; none if there will be no more.
    pub(crate) fn next<'b>(&self, buffer: &'b mut [u8]) -> io::Result<Option<Request<'b>>> {
        let length = loop {
            let read = (&self.0).read(buffer);
            match read.as_ref().map_err(io::Error::raw_os_error) {
                // The request that was there has been taken back (ENOENT).
                Err(Some(libc::ENOENT | libc::EINTR | libc::EAGAIN)) => {}
                Err(Some(libc::ENODEV)) => return Ok(None),
                _ => break read?,
            }
        };
        let request = Request::parse(&buffer[..length]);
        request.map(Some).ok_or_else(|| io::Error::other("the kernel's request is cut off"))
    }

    /// Answers a request. The kernel may have given it up, which nobody needs to know.
    pub(crate) fn answer(&self, unique: u64, answer: Result<Reply, Errno>) {
        const HEADER: usize = 16;
        let (reply, error) = match answer {
            Ok(reply) => (reply, 0),
            Err(why) => (Reply::empty(), -why.0),
        };
        let body = reply.as_bytes();
        let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&length.to_ne_bytes());
        header[4..8].copy_from_slice(&error.to_ne_bytes());
        header[8..].copy_from_slice(&unique.to_ne_bytes());
        let written = (&self.0).write_vectored(&[IoSlice::new(&header), IoSlice::new(body)]);
        debug_assert!(written.is_err() || written.is_ok_and(|bytes| bytes == HEADER + body.len()));
    }
}
