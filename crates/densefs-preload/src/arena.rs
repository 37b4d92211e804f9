//! The arena, attached when the program first needs it.
#![expect(unsafe_code, reason = "a system call")]

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use densefs_process::DenseFs;

use crate::{environment, numbers, own, raw};

/// Whether the arena has been attached, or cannot be.
static IS_ATTACHED: AtomicBool = AtomicBool::new(false);

/// Takes an arena that has been attached.
pub(crate) fn take(files: DenseFs) {
    files.lead_out();
    if !make_placeholder() {
        say("there is no descriptor left, so that the arena cannot be used");
    } else if densefs_c::attach(files).is_err() {
        say("the arena is attached already");
    }
    IS_ATTACHED.store(true, Ordering::Release);
}

/// Says why the arena cannot be attached. All calls on it will fail.
pub(crate) fn give_up(why: &str) {
    say(why);
    IS_ATTACHED.store(true, Ordering::Release);
}

/// Attaches the arena, unless it has been.
#[inline(always)]
pub(crate) fn attach() {
    if !IS_ATTACHED.load(Ordering::Acquire) {
        attach_now();
    }
}

#[cold]
#[inline(never)]
fn attach_now() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if let Some(told) = environment::told() {
            match DenseFs::attach(&told.arena) {
                Ok(files) => take(files),
                Err(why) => give_up(&why.to_string()),
            }
        }
    });
}

/// Says something where the program's errors go.
pub(crate) fn say(what: &str) {
    let text = format!("fsprism: {what}\n");
    let arguments = [2, text.as_ptr().expose_provenance(), text.len(), 0, 0, 0];
    // SAFETY: the text outlives the call.
    unsafe { raw::system_call(libc::SYS_write, arguments) };
}

/// Opens what the placeholders of all files are duplicates of.
fn make_placeholder() -> bool {
    let how = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
    let Ok(root) = rustix::fs::open("/", how, rustix::fs::Mode::empty()) else { return false };
    let Ok(root) = rustix::io::fcntl_dupfd_cloexec(&root, own::lowest()) else { return false };
    numbers::set_placeholder(std::os::fd::IntoRawFd::into_raw_fd(root));
    true
}
