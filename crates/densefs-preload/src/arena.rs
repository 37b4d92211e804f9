//! The arena, attached when the program first needs it.
#![expect(unsafe_code, reason = "a system call")]

use std::os::fd::IntoRawFd;
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use densefs_process::DenseFs;

use crate::environment::{self, Told};
use crate::{numbers, own, raw};

/// Whether the arena has been attached.
static IS_ATTACHED: AtomicBool = AtomicBool::new(false);

/// Takes an arena that has been attached; returns whether it can be used.
pub(crate) fn take(files: DenseFs) -> bool {
    files.lead_out();
    let is_usable = make_placeholder(files.path()) && densefs_c::attach(files).is_ok();
    IS_ATTACHED.store(is_usable, Ordering::Release);
    is_usable
}

/// Attaches the arena, unless it has been; returns whether paths lead into it. If it cannot be
/// attached, they lead to where it is mounted.
#[inline(always)]
pub(crate) fn attach() -> bool {
    IS_ATTACHED.load(Ordering::Acquire) || attach_now()
}

#[cold]
#[inline(never)]
fn attach_now() -> bool {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Some(told) = environment::told() else { return };
        let taken = DenseFs::attach(&told.arena).map(take);
        match taken {
            Ok(true) => {}
            Ok(false) => without_library(told, "no descriptor is left for it"),
            Err(why) => without_library(told, &why.to_string()),
        }
    });
    IS_ATTACHED.load(Ordering::Relaxed)
}

/// Leaves the arena to the mount, or ends the program if there is none: it would see something else
/// below the prefix, or nothing.
pub(crate) fn without_library(told: &Told, why: &str) {
    if told.device.is_none() {
        end(why);
    }
}

/// Ends the program, which cannot go on, with a sentence.
pub(crate) fn end(why: &str) -> ! {
    say(&format!("this program cannot use the arena: {why}"));
    // SAFETY: it does not return.
    unsafe { libc::_exit(2) }
}

/// Says something where the program's errors go.
fn say(what: &str) {
    let text = format!("fsprism: {what}\n");
    let arguments = [2, text.as_ptr().expose_provenance(), text.len(), 0, 0, 0];
    // SAFETY: the text outlives the call.
    unsafe { raw::system_call(libc::SYS_write, arguments) };
}

/// Opens what the placeholders of all files are duplicates of: the arena, which is no directory, so
/// that calls that we do not see find nothing from there on.
fn make_placeholder(arena: &Path) -> bool {
    let how = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
    let open = |path: &Path| rustix::fs::open(path, how, rustix::fs::Mode::empty());
    // What has been handed over may have no path any more.
    let Ok(file) = open(arena).or_else(|_| open(Path::new("/"))) else { return false };
    let file = file.into_raw_fd();
    let ours = raw::duplicate(file, own::lowest());
    raw::close(file);
    let Ok(ours @ 0..) = i32::try_from(ours) else { return false };
    numbers::set_placeholder(ours);
    true
}
