//! What a Rust library that is linked to this one relies on: it attaches the arena itself, and says
//! which device number files have.
#![expect(unsafe_code, reason = "the functions are those for C")]

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

use densefs_c::resolved::dfs_realpath;
use densefs_c::{attach, attached, dfs_attach, dfs_detach, set_device};
use densefs_process::{DenseFs, Errno, NewArena, make};

fn stat(name: &CStr) -> libc::stat {
    let mut into = MaybeUninit::uninit();
    // SAFETY: a C string, and there is room.
    let done = unsafe { densefs_c::attributes::dfs_stat(name.as_ptr(), into.as_mut_ptr()) };
    assert_eq!(done, 0);
    // SAFETY: it has been written.
    unsafe { into.assume_init() }
}

fn statx(name: &CStr) -> libc::statx {
    let mut into = MaybeUninit::uninit();
    let (name, into_pointer) = (name.as_ptr(), into.as_mut_ptr());
    // SAFETY: a C string, and there is room.
    let done = unsafe {
        densefs_c::status::dfs_statx(libc::AT_FDCWD, name, 0, libc::STATX_BASIC_STATS, into_pointer)
    };
    assert_eq!(done, 0);
    // SAFETY: it has been written.
    unsafe { into.assume_init() }
}

fn errno() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// One test, as a process has only one file system attached.
#[test]
fn a_file_system_that_a_library_has_attached_is_that_of_the_functions() {
    let place = tempfile::tempdir_in("/dev/shm").expect("there is room");
    let arena = place.path().join("arena");
    make(&arena, &NewArena::new(1 << 20, DenseFs::new_root(0o755))).expect("there is room");
    let files = DenseFs::attach(&arena).expect("it was made");
    files.make_directory("/below", 0o755).expect("there is room");
    assert_eq!(attached().map(drop), Err(Errno::NXIO));
    attach(files.clone()).expect("none is attached");
    assert_eq!(attached().expect("it is attached").path(), arena);
    // Neither way attaches another.
    assert_eq!(attach(files.clone()), Err(Errno::BUSY));
    let name = std::ffi::CString::new(arena.into_os_string().into_encoded_bytes()).expect("no 0");
    // SAFETY: a C string.
    assert_eq!((unsafe { dfs_attach(name.as_ptr(), 0) }, errno()), (-1, libc::EBUSY));

    let ino = files.stat("/below").expect("it was made").ino;
    assert_eq!((stat(c"/below").st_ino, stat(c"/below").st_dev), (ino, 0xdf5));
    // A number of which each part has more bits than one of a byte.
    let device = libc::makedev(0xabc, 0x12345);
    set_device(device);
    assert_eq!(stat(c"/below").st_dev, device);
    let told = statx(c"/below");
    assert_eq!((told.stx_dev_major, told.stx_dev_minor), (0xabc, 0x12345));

    files.make_link("/below", "/out").expect("there is room");
    let resolved = |name: &CStr| {
        // SAFETY: a C string, and the function allocates the result.
        let found = unsafe { dfs_realpath(name.as_ptr(), std::ptr::null_mut()) };
        // SAFETY: a C string that is ours.
        unsafe { libc::free(found.cast()) };
        if found.is_null() { errno() } else { 0 }
    };
    assert_eq!([c"/out", c"/below/../.."].map(resolved), [0, 0]);
    files.lead_out();
    assert_eq!([c"/out", c"/below/../.."].map(resolved), [Errno::OUTSIDE.0; 2]);
    assert_eq!([c"/below", c"/below/.."].map(resolved), [0, 0]);

    assert_eq!(dfs_detach(), 0);
    assert_eq!(attached().map(drop), Err(Errno::NXIO));
    // The values of its own are still good.
    files.stat("/below").expect("it was made");
}
