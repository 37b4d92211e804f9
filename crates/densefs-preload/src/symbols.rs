//! Functions of the C library that programs call most, in front of its own.
//!
//! All of them work without this as well, since the C library's own functions come to
//! [`crate::serve`] where they make their system call. This is the shorter way, for what is in the
//! arena and needs no care. Everything else goes to the C library's function, which knows what else
//! there is to do, such as cancelling threads.
#![expect(unsafe_code, reason = "functions of the C library, for programs in C")]
#![cfg_attr(test, expect(dead_code, reason = "tests have the C library's own"))]
#![allow(clippy::missing_safety_doc, reason = "these are documented in the manual of Linux")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use densefs_c::{attributes, files, has_led_outside, names};
use libc::{mode_t, off_t, size_t, ssize_t};

use crate::inside::{Inside, Place};
use crate::place::place;
use crate::serve::{give_number, open_otherwise};
use crate::signals::held;
use crate::{numbers, prefix};

/// A function of the C library that is behind ours.
struct Next {
    name: &'static CStr,
    at: AtomicPtr<c_void>,
}

impl Next {
    const fn new(name: &'static CStr) -> Self {
        Self { name, at: AtomicPtr::new(std::ptr::null_mut()) }
    }

    #[inline(always)]
    fn get(&self) -> *mut c_void {
        let at = self.at.load(Ordering::Relaxed);
        if at.is_null() { self.find() } else { at }
    }

    #[cold]
    #[inline(never)]
    fn find(&self) -> *mut c_void {
        // SAFETY: the name is a C string.
        let at = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if at.is_null() {
            // No program calls a function that its C library does not have.
            std::process::abort();
        }
        self.at.store(at, Ordering::Relaxed);
        at
    }
}

/// What a call of the library returned, unless the path leads out of the arena.
#[inline(always)]
fn unless_outside(act: impl FnOnce() -> c_int) -> Option<c_int> {
    let done = held(act);
    if done == -1 && has_led_outside() { None } else { Some(done) }
}

/// Sets `errno` from an answer of the kernel's form.
#[inline(always)]
fn from_answer(answer: isize) -> c_int {
    match c_int::try_from(answer) {
        Ok(done @ 0..) => done,
        _ => {
            // SAFETY: the location is this thread's own.
            unsafe { *libc::__errno_location() = c_int::try_from(-answer).unwrap_or(libc::EIO) };
            -1
        }
    }
}

/// Defines functions of the same form: what they do in the arena, if that is possible in a simple
/// way, and the C library's own function otherwise.
macro_rules! functions {
    ($(
        $(#[$about:meta])*
        fn $($name:ident),+ ($($argument:ident: $type:ty),*) -> $result:ty
        { $inside:expr }
    )*) => {
        $(functions!(@each [$($name)+] [($($argument: $type),*) -> $result { $inside }]);)*
    };
    (@each [$($name:ident)+] $form:tt) => {
        $(functions!(@one $name $form);)+
    };
    (@one $name:ident [($($argument:ident: $type:ty),*) -> $result:ty { $inside:expr }]) => {
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            static NEXT: Next = Next::new(
                // SAFETY: a zero is only at the end.
                unsafe {
                    CStr::from_bytes_with_nul_unchecked(
                        concat!(stringify!($name), "\0").as_bytes(),
                    )
                },
            );
            // SAFETY: guaranteed by the program.
            #[allow(unused_unsafe, reason = "some have no pointers")]
            let served: Option<$result> = unsafe { $inside };
            if let Some(done) = served {
                return done;
            }
            // SAFETY: the C library's function has this form.
            unsafe {
                let next: unsafe extern "C" fn($($type),*) -> $result =
                    std::mem::transmute(NEXT.get());
                next($($argument),*)
            }
        }
    };
}

/// Opens a file in the arena, if the path leads there.
#[inline(always)]
unsafe fn open_at(
    directory: c_int,
    path: *const c_char,
    how: c_int,
    mode: mode_t,
) -> Option<c_int> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let inside = inside(directory, path)?;
        match held(|| files::dfs_openat(inside.directory, inside.path, how, mode)) {
            -1 => not_opened(inside, how, mode),
            descriptor => Some(from_answer(give_number(descriptor))),
        }
    }
}

/// What else can be done about a file that the library has not opened.
#[cold]
#[inline(never)]
fn not_opened(inside: Inside, how: c_int, mode: mode_t) -> Option<c_int> {
    if has_led_outside() {
        return None;
    }
    // SAFETY: the location is this thread's own.
    let why = unsafe { *libc::__errno_location() };
    Some(open_otherwise(inside, how, mode, why).map_or(-1, from_answer))
}

/// Where a path leads in the arena; none if it leads elsewhere, or needs care.
#[inline(always)]
unsafe fn inside(directory: c_int, path: *const c_char) -> Option<Inside> {
    if path.is_null() || prefix::take_the_long_way() {
        return None;
    }
    // SAFETY: guaranteed by the caller.
    match unsafe { place(directory, path) } {
        Place::Inside(inside) => Some(inside),
        Place::Outside | Place::OpenFile(_) | Place::Closed => None,
    }
}

#[inline(always)]
unsafe fn stat_at(
    directory: c_int,
    path: *const c_char,
    into: *mut libc::stat,
    how: c_int,
) -> Option<c_int> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let inside = inside(directory, path)?;
        unless_outside(|| attributes::dfs_fstatat(inside.directory, inside.path, into, how))
    }
}

/// Does something with a file of the arena.
#[inline(always)]
fn with<T>(number: c_int, act: impl FnOnce(c_int) -> T) -> Option<T> {
    let file = numbers::inside(number).filter(|_| !numbers::take_the_long_way());
    file.map(|file| held(|| act(file)))
}

const NO_FOLLOW: c_int = libc::AT_SYMLINK_NOFOLLOW;
const HERE: c_int = libc::AT_FDCWD;

functions! {
    fn open, open64(path: *const c_char, how: c_int, mode: mode_t) -> c_int {
        open_at(HERE, path, how, mode)
    }
    fn __open_2, __open64_2(path: *const c_char, how: c_int) -> c_int {
        open_at(HERE, path, how, 0)
    }
    fn openat, openat64(directory: c_int, path: *const c_char, how: c_int, mode: mode_t) -> c_int {
        open_at(directory, path, how, mode)
    }
    fn __openat_2, __openat64_2(directory: c_int, path: *const c_char, how: c_int) -> c_int {
        open_at(directory, path, how, 0)
    }
    fn creat, creat64(path: *const c_char, mode: mode_t) -> c_int {
        open_at(HERE, path, libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC, mode)
    }
    fn close(number: c_int) -> c_int {
        if numbers::take_the_long_way() {
            None
        } else {
            numbers::free(number).map(|file| held(|| files::dfs_close(file)))
        }
    }
    fn read(number: c_int, into: *mut c_void, count: size_t) -> ssize_t {
        with(number, |file| files::dfs_read(file, into, count))
    }
    fn write(number: c_int, from: *const c_void, count: size_t) -> ssize_t {
        with(number, |file| files::dfs_write(file, from, count))
    }
    fn pread, pread64(number: c_int, into: *mut c_void, count: size_t, at: off_t) -> ssize_t {
        with(number, |file| files::dfs_pread(file, into, count, at))
    }
    fn pwrite, pwrite64(number: c_int, from: *const c_void, count: size_t, at: off_t) -> ssize_t {
        with(number, |file| files::dfs_pwrite(file, from, count, at))
    }
    fn lseek, lseek64(number: c_int, by: off_t, whence: c_int) -> off_t {
        with(number, |file| files::dfs_lseek(file, by, whence))
    }
    fn stat, stat64(path: *const c_char, into: *mut libc::stat) -> c_int {
        stat_at(HERE, path, into, 0)
    }
    fn lstat, lstat64(path: *const c_char, into: *mut libc::stat) -> c_int {
        stat_at(HERE, path, into, NO_FOLLOW)
    }
    fn fstat, fstat64(number: c_int, into: *mut libc::stat) -> c_int {
        with(number, |file| files::dfs_fstat(file, into))
    }
    fn fstatat, fstatat64(
        directory: c_int,
        path: *const c_char,
        into: *mut libc::stat,
        how: c_int
    ) -> c_int {
        stat_at(directory, path, into, how)
    }
    fn access(path: *const c_char, wanted: c_int) -> c_int {
        inside(HERE, path).and_then(|inside| unless_outside(|| {
            densefs_c::permissions::dfs_faccessat(inside.directory, inside.path, wanted, 0)
        }))
    }
    fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
        inside(HERE, path).and_then(|inside| unless_outside(|| {
            names::dfs_mkdirat(inside.directory, inside.path, mode)
        }))
    }
    fn mkdirat(directory: c_int, path: *const c_char, mode: mode_t) -> c_int {
        inside(directory, path).and_then(|inside| unless_outside(|| {
            names::dfs_mkdirat(inside.directory, inside.path, mode)
        }))
    }
    fn rmdir(path: *const c_char) -> c_int {
        inside(HERE, path).and_then(|inside| unless_outside(|| {
            names::dfs_unlinkat(inside.directory, inside.path, libc::AT_REMOVEDIR)
        }))
    }
    fn unlink(path: *const c_char) -> c_int {
        inside(HERE, path).and_then(|inside| unless_outside(|| {
            names::dfs_unlinkat(inside.directory, inside.path, 0)
        }))
    }
    fn unlinkat(directory: c_int, path: *const c_char, how: c_int) -> c_int {
        inside(directory, path).and_then(|inside| unless_outside(|| {
            names::dfs_unlinkat(inside.directory, inside.path, how)
        }))
    }
    fn rename(old: *const c_char, new: *const c_char) -> c_int {
        inside(HERE, old).zip(inside(HERE, new)).and_then(|(old, new)| unless_outside(|| {
            names::dfs_renameat(old.directory, old.path, new.directory, new.path)
        }))
    }
}
