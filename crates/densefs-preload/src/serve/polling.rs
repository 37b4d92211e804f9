//! Waiting for descriptors, and passing them to others. Files in the arena are always ready, as
//! regular files are.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::{c_int, c_long, c_short};
use std::slice;

use crate::call::SystemCall;
use crate::decision::Decision::{self, Done, Pass, Refused};
use crate::numbers;
use crate::outcome::error;
use crate::raw::{self, int};

/// What a regular file is ready for.
const READY: c_short = libc::POLLIN | libc::POLLOUT | libc::POLLRDNORM | libc::POLLWRNORM;

/// The program's list of descriptors to wait for.
fn polled<'a>(call: &SystemCall) -> &'a mut [libc::pollfd] {
    let [list, count, ..] = call.arguments;
    let list = std::ptr::with_exposed_provenance_mut::<libc::pollfd>(list);
    if list.is_null() || count > 1 << 20 {
        return &mut [];
    }
    // SAFETY: the program vouches for its pointers.
    unsafe { slice::from_raw_parts_mut(list, count) }
}

/// Waits, if nothing in the arena is asked for; otherwise does not wait, and says that those are
/// ready. `at_once` makes the call one that does not wait.
fn poll_with(call: &mut SystemCall, at_once: impl FnOnce(&mut [usize; 6])) -> Decision {
    // Numbers that the program has closed are to be invalid.
    numbers::release();
    let list = polled(call);
    if !list.iter().any(|one| numbers::inside(one.fd).is_some()) {
        return Pass;
    }
    // The kernel ignores negative numbers.
    let mut others = list.to_vec();
    for one in others.iter_mut().filter(|one| numbers::inside(one.fd).is_some()) {
        one.fd = -1;
    }
    let is_any_ready =
        list.iter().any(|one| numbers::inside(one.fd).is_some() && one.events & READY != 0);
    let mut arguments = call.arguments;
    arguments[0] = others.as_mut_ptr().expose_provenance();
    let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    if is_any_ready {
        at_once(&mut arguments);
        if call.number as c_long == libc::SYS_ppoll {
            arguments[2] = (&raw const zero).expose_provenance();
        }
    }
    // SAFETY: the program has asked for this.
    let done = unsafe { raw::system_call(call.number as c_long, arguments) };
    if done < 0 {
        return Done(done);
    }
    let mut ready = 0;
    for (one, other) in list.iter_mut().zip(&others) {
        one.revents = match numbers::inside(one.fd) {
            Some(_) => one.events & READY,
            None => other.revents,
        };
        ready += isize::from(one.revents != 0);
    }
    Done(ready)
}

pub(super) fn poll(call: &mut SystemCall) -> Decision {
    poll_with(call, |arguments| arguments[2] = 0)
}

pub(super) fn ppoll(call: &mut SystemCall) -> Decision {
    poll_with(call, |_| {})
}

/// The sets of select(2): what may be read, what may be written, what is exceptional.
type Sets = [*mut u64; 3];

fn sets(call: &SystemCall) -> Sets {
    let [_, reads, writes, exceptions, ..] = call.arguments;
    [reads, writes, exceptions].map(std::ptr::with_exposed_provenance_mut)
}

/// Whether a set has a number; takes it out.
///
/// # Safety
/// The set must be null, or large enough.
unsafe fn take(set: *mut u64, number: c_int) -> bool {
    if set.is_null() {
        return false;
    }
    let (word, bit) = (number as usize / 64, 1 << (number % 64));
    // SAFETY: guaranteed by the caller.
    unsafe {
        let had = *set.add(word) & bit != 0;
        *set.add(word) &= !bit;
        had
    }
}

/// # Safety
/// The set must be large enough.
unsafe fn put(set: *mut u64, number: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe { *set.add(number as usize / 64) |= 1 << (number % 64) };
}

fn select_with(call: &mut SystemCall) -> Decision {
    let (sets, count) = (sets(call), int(call.arguments[0]));
    let mut ready = Vec::new();
    for one in numbers::all().take_while(|one| one.number < count) {
        for (index, &set) in sets.iter().enumerate() {
            // SAFETY: the program vouches for its sets.
            if unsafe { take(set, one.number) } && index < 2 {
                ready.push((set, one.number));
            }
        }
    }
    if ready.is_empty() {
        return Pass;
    }
    let mut arguments = call.arguments;
    let mut zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // A timeval of zeros looks the same.
    arguments[4] = (&raw mut zero).expose_provenance();
    // SAFETY: the program has asked for this.
    let done = unsafe { raw::system_call(call.number as c_long, arguments) };
    if done < 0 {
        return Done(done);
    }
    for &(set, number) in &ready {
        // SAFETY: the set had this number.
        unsafe { put(set, number) };
    }
    Done(done + ready.len().cast_signed())
}

pub(super) fn select(call: &mut SystemCall) -> Decision {
    select_with(call)
}

pub(super) fn pselect6(call: &mut SystemCall) -> Decision {
    select_with(call)
}

/// epoll(7) does not take regular files.
pub(super) fn epoll_ctl(call: &mut SystemCall) -> Decision {
    let [_, _, number, ..] = call.arguments;
    if numbers::inside(int(number)).is_some() { Done(error(libc::EPERM)) } else { Pass }
}

/// Requests of Linux's own asynchronous I/O; none may be for a file in the arena.
pub(super) fn io_submit(call: &mut SystemCall) -> Decision {
    let [_, count, list, ..] = call.arguments;
    let list = std::ptr::with_exposed_provenance::<*const libc::iocb>(list);
    if list.is_null() || count > 1 << 16 {
        return Pass;
    }
    for index in 0..count {
        // SAFETY: the program vouches for its requests.
        let number = unsafe { list.add(index).read().as_ref() }.map(|one| one.aio_fildes);
        if number.is_some_and(|number| numbers::inside(number.cast_signed()).is_some()) {
            return Refused(libc::EINVAL);
        }
    }
    Pass
}

/// Whether a message would pass a file in the arena to another process.
///
/// # Safety
/// It must be null or a valid message.
unsafe fn passes_inside(message: *const libc::msghdr) -> bool {
    if message.is_null() {
        return false;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut head = libc::CMSG_FIRSTHDR(message);
        while let Some(one) = head.as_ref() {
            if one.cmsg_level == libc::SOL_SOCKET && one.cmsg_type == libc::SCM_RIGHTS {
                let bytes = one.cmsg_len.saturating_sub(libc::CMSG_LEN(0) as usize);
                let numbers = libc::CMSG_DATA(head).cast::<c_int>();
                for index in 0..bytes / size_of::<c_int>() {
                    if numbers::inside(numbers.add(index).read_unaligned()).is_some() {
                        return true;
                    }
                }
            }
            head = libc::CMSG_NXTHDR(message, head);
        }
    }
    false
}

pub(super) fn sendmsg(call: &mut SystemCall) -> Decision {
    let message = std::ptr::with_exposed_provenance(call.arguments[1]);
    // SAFETY: the program vouches for its messages.
    if unsafe { passes_inside(message) } { Refused(libc::EBADF) } else { Pass }
}

pub(super) fn sendmmsg(call: &mut SystemCall) -> Decision {
    let [_, list, count, ..] = call.arguments;
    let list = std::ptr::with_exposed_provenance::<libc::mmsghdr>(list);
    if list.is_null() {
        return Pass;
    }
    for index in 0..count.min(1024) {
        // SAFETY: the program vouches for its messages.
        if unsafe { passes_inside(&raw const (*list.add(index)).msg_hdr) } {
            return Refused(libc::EBADF);
        }
    }
    Pass
}
