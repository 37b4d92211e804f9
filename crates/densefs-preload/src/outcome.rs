//! Results of the library's calls, as the kernel would return them.
#![expect(unsafe_code, reason = "C's errno")]

use std::ffi::c_int;

use densefs_process::Errno;

use crate::decision::Answer;
use crate::signals::{held, take_restart};

/// An error as a system call returns it.
pub(crate) const fn error(number: c_int) -> Answer {
    -(number as isize)
}

/// Makes a call of the library, which sets `errno`; the program's own stays as it is.
#[inline(always)]
pub(crate) fn call<T: Into<i64>>(act: impl FnOnce() -> T) -> Answer {
    // SAFETY: the location is this thread's own, and stays its own.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *place };
    let result: i64 = held(act).into();
    if result != -1 {
        return result as isize;
    }
    // SAFETY: as above.
    unsafe {
        let why = *place;
        *place = before;
        error(why)
    }
}

/// Like [`call`], for one that returns a length.
#[inline(always)]
pub(crate) fn length(act: impl FnOnce() -> isize) -> Answer {
    call(|| act() as i64)
}

/// Makes a call that may wait; again after each signal whose action is to restart such calls.
pub(crate) fn restarted(mut act: impl FnMut() -> Answer) -> Answer {
    loop {
        // Of earlier calls.
        let _forgotten = take_restart();
        let done = act();
        if done != error(libc::EINTR) || !take_restart() {
            return done;
        }
    }
}

/// Makes a call of the safe library.
pub(crate) fn answer(act: impl FnOnce() -> Result<usize, Errno>) -> Answer {
    match held(act) {
        Ok(value) => value.cast_signed(),
        Err(why) => error(why.0),
    }
}
