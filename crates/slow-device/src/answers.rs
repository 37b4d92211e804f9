//! One thread of the server: takes a request, does it, and answers when its time has come.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::io::{Errno, readv, writev};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::QUEUE_DEPTH;
use crate::image::{Buffer, Image};
use crate::protocol::{HEAD_BYTES, REQUEST_BYTES_MAX, Reply, Request, operation};
use crate::recent::RecentBlocks;

/// How many times faster a read is if all of it is in the device's cache.
const CACHED_IS_FASTER: u32 = 10;

/// What the threads of a server share.
#[derive(Debug)]
pub(crate) struct Shared<'fd> {
    /// Where the kernel asks.
    pub(crate) kernel: BorrowedFd<'fd>,
    pub(crate) image: Image<'fd>,
    pub(crate) delay: Duration,
    /// What is in the device's cache, if it has one.
    pub(crate) cached: Option<Mutex<RecentBlocks>>,
}

/// What a request is answered with.
enum Answer {
    /// This, at once.
    Now(Result<Reply, Errno>),
    /// This, when it has taken as long as it is to.
    After(Duration, Result<Reply, Errno>),
    /// So many bytes of the image, likewise.
    BytesAfter(Duration, usize),
    /// Nothing: the kernel does not wait.
    Nothing,
}

/// What a thread reads requests into.
#[derive(Debug)]
pub(crate) struct Room {
    head: [u8; HEAD_BYTES],
    data: Buffer,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self { head: [0; HEAD_BYTES], data: Buffer::new(REQUEST_BYTES_MAX) }
    }
}

impl Shared<'_> {
    /// Answers requests until there are no more. Allocates nothing.
    pub(crate) fn answer_all(&self, mut room: Room) {
        loop {
            let into = &mut [IoSliceMut::new(&mut room.head), IoSliceMut::new(room.data.bytes())];
            match readv(self.kernel, into) {
                Ok(_) => {}
                // ENOENT: the request that was there has been taken back.
                Err(Errno::NOENT | Errno::INTR | Errno::AGAIN) => continue,
                // The mount is gone.
                Err(_) => return,
            }
            let came = clock_gettime(ClockId::Monotonic);
            let request = Request::new(&room.head);
            let unique = request.unique();
            match self.answer(&request, room.data.bytes()) {
                Answer::Now(reply) => self.send(unique, &reply),
                Answer::After(delay, reply) => {
                    sleep_until(came, delay);
                    self.send(unique, &reply);
                }
                Answer::BytesAfter(delay, length) => {
                    sleep_until(came, delay);
                    self.send_bytes(unique, 0, &room.data.bytes()[..length]);
                }
                Answer::Nothing => {}
            }
        }
    }

    fn answer(&self, request: &Request<'_>, data: &mut [u8]) -> Answer {
        let image = self.image;
        let attributes = || image.size_bytes().map(Reply::attributes);
        let delay = self.delay;
        Answer::Now(match request.operation() {
            operation::INIT => Ok(Reply::agreed(request, QUEUE_DEPTH)),
            operation::GETATTR => attributes(),
            operation::SETATTR => match request.new_size() {
                Some(size_bytes) => image.resize(size_bytes).and_then(|()| attributes()),
                None => attributes(),
            },
            operation::OPEN => Ok(Reply::opened()),
            operation::STATFS => Ok(Reply::usage()),
            operation::RELEASE | operation::FLUSH | operation::DESTROY => Ok(Reply::empty()),
            operation::READ => {
                let is_cached = self.are_cached(request);
                let delay = if is_cached { delay / CACHED_IS_FASTER } else { delay };
                return match image.read(&mut data[..request.bytes()], request.offset()) {
                    Ok(length) => Answer::BytesAfter(delay, length),
                    Err(why) => Answer::After(delay, Err(why)),
                };
            }
            operation::WRITE => {
                self.are_cached(request);
                let written = image.write(&data[..request.bytes()], request.offset());
                return Answer::After(delay, written.map(Reply::written));
            }
            operation::FSYNC => {
                return Answer::After(delay, image.flush().map(|()| Reply::empty()));
            }
            operation::FALLOCATE => {
                let (bytes, mode) = request.space();
                let changed = image.change_space(mode, request.offset(), bytes);
                return Answer::After(delay, changed.map(|()| Reply::empty()));
            }
            operation::FORGET | operation::BATCH_FORGET => return Answer::Nothing,
            // Of an interrupted request too, whose answer is awaited like any other.
            _ => Err(Errno::NOSYS),
        })
    }

    /// Whether all blocks of a request were in the device's cache, where they are from now on.
    fn are_cached(&self, request: &Request<'_>) -> bool {
        let Some(cached) = &self.cached else { return false };
        let start = request.offset();
        let mut cached = cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.use_bytes(start..start.saturating_add(request.bytes() as u64))
    }

    fn send(&self, unique: u64, reply: &Result<Reply, Errno>) {
        match reply {
            Ok(reply) => self.send_bytes(unique, 0, reply.as_bytes()),
            Err(why) => self.send_bytes(unique, -why.raw_os_error(), &[]),
        }
    }

    /// The kernel may have given the request up, which nobody needs to know.
    fn send_bytes(&self, unique: u64, error: i32, bytes: &[u8]) {
        const HEADER: usize = 16;
        let length = u32::try_from(HEADER + bytes.len()).unwrap_or(u32::MAX);
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&length.to_ne_bytes());
        header[4..8].copy_from_slice(&error.to_ne_bytes());
        header[8..].copy_from_slice(&unique.to_ne_bytes());
        let _given_up = writev(self.kernel, &[IoSlice::new(&header), IoSlice::new(bytes)]);
    }
}

/// Sleeps until `delay` has passed since `came`.
fn sleep_until(came: Timespec, delay: Duration) {
    let Ok(delay) = Timespec::try_from(delay) else { return };
    let end = came + delay;
    while clock_nanosleep_absolute(ClockId::Monotonic, &end) == Err(Errno::INTR) {}
}
