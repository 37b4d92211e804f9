//! What happens when the library is loaded.
#![expect(unsafe_code, reason = "the dynamic linker calls us")]

use std::ffi::{CString, c_char, c_int};

use crate::environment::{self, Told};
use crate::{
    arena, counting, exec, handed_sites, limits, own, prefix, raw, serve, signals, sites, ways_in,
};

/// The dynamic linker calls this before the program begins.
#[used]
#[cfg_attr(not(test), unsafe(link_section = ".init_array"))]
static START: extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) = start;

extern "C" fn start(_: c_int, _: *mut *mut c_char, environment: *mut *mut c_char) {
    // SAFETY: it is the program's own, which has not begun yet.
    let Some(told) = (unsafe { environment::read(environment) }) else { return };
    own::choose_lowest();
    // The kernel must have our handlers before what sets them comes here.
    signals::start();
    // As long as there is no prefix, all calls pass.
    let known = told.sites.and_then(handed_sites::take);
    // SAFETY: no other thread exists yet.
    let (outcome, found) =
        unsafe { sites::rewrite(serve::serve, &serve::is_served, known.as_ref()) };
    if let Some(missing) = outcome.missing() {
        if told.state.is_some() {
            arena::end(&missing.to_string());
        }
        return arena::without_library(told, &missing.to_string());
    }
    if !prefix::set(&told.prefix) {
        return arena::without_library(told, "its prefix is too long");
    }
    if let Some(found) = found.filter(|_| known.is_none()) {
        handed_sites::keep(&found, own::lowest());
    }
    ways_in::note(&told.prefix);
    if let Some(report) = told.report {
        counting::start(report);
    }
    limits::read();
    densefs_c::set_prefix_length(told.prefix.len());
    if let Some(device) = told.device {
        densefs_c::set_device(device);
    }
    if let Some(state) = told.state {
        take_over(told, state);
    }
    if !prefix::is_working_inside() {
        raw::with_working_directory(enter_working_directory);
    }
}

/// Makes the working directory the arena's own, if the program was started in the mounted arena.
fn enter_working_directory(path: &[u8]) {
    let Ok(path) = CString::new(path) else { return };
    if path.as_bytes().first() != Some(&b'/') {
        return;
    }
    // SAFETY: it is a C string.
    let Some(inside) = (unsafe { prefix::strip(path.as_ptr()) }) else { return };
    // SAFETY: it is a C string.
    if arena::attach() && unsafe { densefs_c::names::dfs_chdir(inside) } == 0 {
        prefix::set_working_inside(true);
    }
}

/// Takes over what the program had before it executed this one.
fn take_over(told: &Told, state: c_int) {
    match exec::take_over(told, state).map(arena::take) {
        Ok(true) => {}
        Ok(false) => arena::end("no descriptor is left for it"),
        Err(why) => arena::end(&why),
    }
}
