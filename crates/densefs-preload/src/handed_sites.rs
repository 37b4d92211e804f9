//! What is known about the sites of libraries, handed on from program to program.
//!
//! The first program of a command searches the C library, and keeps what it has found in a file
//! without a name, which all that it executes inherit and nobody can change. So nothing is written
//! anywhere, and nothing stays.
#![expect(unsafe_code, reason = "a descriptor that has been handed on")]

use std::ffi::c_int;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd, pread};

use crate::sites::Plan;

/// The most bytes.
const ROOM: usize = 16 << 10;

/// The descriptor; -1 if there is none.
static NUMBER: AtomicI32 = AtomicI32::new(-1);

/// The descriptor, by which the next program finds it.
pub(crate) fn number() -> Option<c_int> {
    Some(NUMBER.load(Ordering::Relaxed)).filter(|&number| number >= 0)
}

fn seals() -> SealFlags {
    SealFlags::GROW | SealFlags::SHRINK | SealFlags::WRITE | SealFlags::SEAL
}

/// Takes what another program has handed on; none if that is something else.
pub(crate) fn take(number: c_int) -> Option<Plan> {
    // SAFETY: it is open, or the kernel says that it is not. Nobody else runs yet.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    if fcntl_get_seals(file).ok()? != seals() {
        return None;
    }
    let mut bytes = [0; ROOM];
    let length = pread(file, &mut bytes, 0).ok()?;
    let plan = Plan::from_bytes(&bytes[..length])?;
    NUMBER.store(number, Ordering::Relaxed);
    Some(plan)
}

/// Keeps what has been found, for programs that are executed, by a descriptor from `lowest` on.
/// They can do without.
pub(crate) fn keep(plan: &Plan, lowest: c_int) {
    if let Ok(number) = written(plan, lowest) {
        NUMBER.store(number, Ordering::Relaxed);
    }
}

fn written(plan: &Plan, lowest: c_int) -> io::Result<c_int> {
    let made = memfd_create("densefs-sites", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = File::from(fcntl_dupfd_cloexec(&made, lowest)?);
    drop(made);
    file.write_all(&plan.to_bytes())?;
    fcntl_add_seals(&file, seals())?;
    fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file.into_raw_fd())
}
