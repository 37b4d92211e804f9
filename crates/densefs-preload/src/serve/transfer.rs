//! Moving bytes between two descriptors, of which the arena has one or both.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::{c_int, c_void};

use densefs_c::{control, files as dfs};

use crate::call::SystemCall;
use crate::decision::Answer;
use crate::decision::Decision::{self, Done, Pass};
use crate::outcome::{call as calling, error, length};
use crate::raw::{self, int};
use crate::{limits, numbers};

/// Bytes moved at a time.
const PIECE: usize = 64 << 10;
/// Most bytes in one call, as on Linux.
const LENGTH_MAX: usize = 0x7fff_f000;

/// One side of a transfer.
#[derive(Clone, Copy)]
struct Side {
    number: c_int,
    /// The arena's descriptor, if it has the file.
    inside: Option<c_int>,
    /// Where the program keeps the offset; null if it is that of the open file.
    at: *mut i64,
}

impl Side {
    fn new(number: usize, at: usize) -> Self {
        let number = int(number);
        let at = std::ptr::with_exposed_provenance_mut(at);
        Self { number, inside: numbers::inside(number), at }
    }

    /// How it was opened; none if it was not, or only with `O_PATH`.
    fn flags(self) -> Option<c_int> {
        let flags = match self.inside {
            // SAFETY: this command has no pointer.
            Some(file) => calling(|| unsafe { control::dfs_fcntl(file, libc::F_GETFL, 0) }),
            None => {
                let arguments = [raw::number(self.number), raw::number(libc::F_GETFL), 0, 0, 0, 0];
                // SAFETY: it changes nothing.
                unsafe { raw::system_call(libc::SYS_fcntl, arguments) }
            }
        };
        let flags = int(flags.cast_unsigned());
        (flags >= 0 && flags & libc::O_PATH == 0).then_some(flags)
    }

    /// Its type, as in `st_mode`.
    fn type_bits(self) -> Result<libc::mode_t, Answer> {
        // SAFETY: all zeros is a valid value.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        let into = &raw mut stat;
        let known = match self.inside {
            // SAFETY: there is room.
            Some(file) => calling(|| unsafe { dfs::dfs_fstat(file, into) }),
            None => {
                let arguments = [raw::number(self.number), into.expose_provenance(), 0, 0, 0, 0];
                // SAFETY: as above.
                unsafe { raw::system_call(libc::SYS_fstat, arguments) }
            }
        };
        if known < 0 { Err(known) } else { Ok(stat.st_mode & libc::S_IFMT) }
    }

    fn may_be_read(self) -> bool {
        self.flags().is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_WRONLY)
    }

    /// Whether it may be written to, and not only at its end.
    fn may_be_written(self) -> bool {
        const KNOWN: c_int = libc::O_ACCMODE | libc::O_APPEND;
        self.flags().is_some_and(|flags| matches!(flags & KNOWN, libc::O_WRONLY | libc::O_RDWR))
    }

    /// Reads.
    ///
    /// # Safety
    /// There must be room; the offset must be valid.
    unsafe fn read(self, into: *mut c_void, count: usize, moved: i64) -> Answer {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match (self.inside, self.at.as_ref()) {
                (Some(file), None) => length(|| dfs::dfs_read(file, into, count)),
                (Some(file), Some(at)) => length(|| dfs::dfs_pread(file, into, count, at + moved)),
                (None, at) => self.pass(
                    [libc::SYS_read, libc::SYS_pread64],
                    into.expose_provenance(),
                    count,
                    at.map(|at| at + moved),
                ),
            }
        }
    }

    /// Writes.
    ///
    /// # Safety
    /// There must be that many bytes; the offset must be valid.
    unsafe fn write(self, from: *const c_void, count: usize, moved: i64) -> Answer {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match (self.inside, self.at.as_ref()) {
                (Some(file), at) => limits::write(file, at.map(|at| at + moved), from, count),
                (None, at) => self.pass(
                    [libc::SYS_write, libc::SYS_pwrite64],
                    from.expose_provenance(),
                    count,
                    at.map(|at| at + moved),
                ),
            }
        }
    }

    /// Calls the kernel, with or without an offset.
    ///
    /// # Safety
    /// As the system call demands.
    unsafe fn pass(
        self,
        [plain, placed]: [libc::c_long; 2],
        buffer: usize,
        count: usize,
        at: Option<i64>,
    ) -> Answer {
        let number = raw::number(self.number);
        // SAFETY: guaranteed by the caller.
        unsafe {
            match at {
                None => raw::system_call(plain, [number, buffer, count, 0, 0, 0]),
                Some(at) => raw::system_call(placed, [number, buffer, count, at as usize, 0, 0]),
            }
        }
    }

    /// Takes back bytes that were read and not written.
    fn unread(self, bytes: usize) {
        if !self.at.is_null() {
            return;
        }
        let by = -(bytes as i64);
        match self.inside {
            Some(file) => {
                calling(|| dfs::dfs_lseek(file, by, libc::SEEK_CUR));
            }
            None => {
                let arguments =
                    [raw::number(self.number), by as usize, raw::number(libc::SEEK_CUR), 0, 0, 0];
                // SAFETY: it only moves the offset.
                unsafe { raw::system_call(libc::SYS_lseek, arguments) };
            }
        }
    }

    /// # Safety
    /// The offset must be valid.
    unsafe fn advance(self, by: i64) {
        // SAFETY: guaranteed by the caller.
        if let Some(at) = unsafe { self.at.as_mut() } {
            *at += by;
        }
    }
}

/// How long bytes are copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Until there is no more, or there have been enough.
    Enough,
    /// What one read gives, as another might wait.
    OneRead,
}

/// Copies from one side to the other.
///
/// # Safety
/// The offsets must be null or valid.
unsafe fn copy(from: Side, to: Side, count: usize, until: Until) -> Answer {
    let count = count.min(LENGTH_MAX);
    let mut piece = Vec::<u8>::new();
    if piece.try_reserve_exact(count.min(PIECE)).is_err() {
        return error(libc::ENOMEM);
    }
    let mut moved = 0;
    let ended = loop {
        let wanted = (count - moved).min(PIECE);
        if wanted == 0 {
            break 0;
        }
        // SAFETY: there is room for a piece.
        let read = unsafe { from.read(piece.as_mut_ptr().cast(), wanted, moved as i64) };
        let Ok(read) = usize::try_from(read) else { break read };
        if read == 0 {
            break 0;
        }
        let mut done = 0;
        let mut written = 1;
        // What is not written at once is tried again, so that there is a reason.
        while done < read && written > 0 {
            // SAFETY: these bytes were just read.
            written =
                unsafe { to.write(piece.as_ptr().add(done).cast(), read - done, moved as i64) };
            let now = usize::try_from(written).unwrap_or(0);
            (done, moved) = (done + now, moved + now);
        }
        if done < read {
            from.unread(read - done);
            break written.min(0);
        }
        if until == Until::OneRead {
            break 0;
        }
    };
    if moved == 0 && ended < 0 {
        return ended;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        from.advance(moved as i64);
        to.advance(moved as i64);
    }
    moved.cast_signed()
}

pub(super) fn copy_file_range(call: &mut SystemCall) -> Decision {
    let [from, from_at, to, to_at, count, how] = call.arguments;
    let (from, to) = (Side::new(from, from_at), Side::new(to, to_at));
    match (from.inside, to.inside) {
        (None, None) => Pass,
        (Some(source), Some(target)) => {
            let how = int(how).cast_unsigned();
            // SAFETY: the program vouches for its pointers.
            let at = unsafe { to.at.as_ref() }.copied();
            Done(limits::written(target, at, count, |count| {
                // SAFETY: the program vouches for its pointers.
                length(|| unsafe {
                    dfs::dfs_copy_file_range(source, from.at, target, to.at, count, how)
                })
            }))
        }
        // As between file systems of different types: programs then read and write.
        _ => Done(why_not_copied(from, to)),
    }
}

/// Why a range is not copied between the arena and elsewhere.
#[cold]
fn why_not_copied(from: Side, to: Side) -> Answer {
    if from.flags().is_none() || to.flags().is_none() {
        return error(libc::EBADF);
    }
    let types = from.type_bits().and_then(|one| Ok([one, to.type_bits()?]));
    let types = match types {
        Ok(types) => types,
        Err(why) => return why,
    };
    error(if types.contains(&libc::S_IFDIR) {
        libc::EISDIR
    } else if types != [libc::S_IFREG; 2] {
        libc::EINVAL
    } else if !from.may_be_read() || !to.may_be_written() {
        libc::EBADF
    } else {
        // As between file systems of different types: programs then read and write.
        libc::EXDEV
    })
}

pub(super) fn sendfile(call: &mut SystemCall) -> Decision {
    let [to, from, from_at, count, ..] = call.arguments;
    let (from, to) = (Side::new(from, from_at), Side::new(to, 0));
    if from.inside.is_none() && to.inside.is_none() {
        return Pass;
    }
    // SAFETY: the program vouches for its pointers.
    Done(unsafe { copy(from, to, count, Until::Enough) })
}

/// splice(2) between a pipe and a file in the arena.
pub(super) fn splice(call: &mut SystemCall) -> Decision {
    let [from, from_at, to, to_at, count, how] = call.arguments;
    let (from, to) = (Side::new(from, from_at), Side::new(to, to_at));
    let (side, event) = match (from.inside, to.inside) {
        (None, None) => return Pass,
        (Some(_), Some(_)) => return Done(error(libc::EINVAL)),
        (Some(_), None) => (to, libc::POLLOUT),
        (None, Some(_)) => (from, libc::POLLIN),
    };
    match side.type_bits() {
        Ok(libc::S_IFIFO) => {}
        Ok(_) => return Done(error(libc::EINVAL)),
        Err(why) => return Done(why),
    }
    let pipe = Pipe { number: side.number, event };
    if count > 0 && int(how).cast_unsigned() & libc::SPLICE_F_NONBLOCK != 0 && !pipe.is_ready() {
        return Done(error(libc::EAGAIN));
    }
    let mut moved = 0;
    while moved < count.min(LENGTH_MAX) {
        // That much can be moved without waiting if the pipe is ready at all. Only the first piece
        // may wait.
        let wanted = (count - moved).min(libc::PIPE_BUF);
        // SAFETY: the program vouches for its pointers.
        let done = unsafe { copy(from, to, wanted, Until::OneRead) };
        match usize::try_from(done) {
            Ok(0) => break,
            Ok(done) => moved += done,
            Err(_) if moved == 0 => return Done(done),
            Err(_) => break,
        }
        if !pipe.is_ready() {
            break;
        }
    }
    Done(moved.cast_signed())
}

/// A pipe's end, and what it is to be ready for.
struct Pipe {
    number: c_int,
    event: libc::c_short,
}

impl Pipe {
    fn is_ready(&self) -> bool {
        let mut polled = libc::pollfd { fd: self.number, events: self.event, revents: 0 };
        let at = (&raw mut polled).expose_provenance();
        // SAFETY: there is one of them.
        unsafe { raw::system_call(libc::SYS_poll, [at, 1, 0, 0, 0, 0]) > 0 }
    }
}
