//! System calls with two paths, both of which must be in the arena, or both elsewhere.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::{CStr, CString, c_char, c_int, c_long};

use densefs_c::attributes;
use densefs_c::names as dfs;

use super::paths::{AT_FIRST, Arrival, Ended, FIRST, OUTSIDE, PathArguments, outside};
use crate::call::SystemCall;
use crate::decision::Answer;
use crate::decision::Decision::{self, Done, Executed, Pass};
use crate::inside::{Inside, Place};
use crate::links;
use crate::outcome::{call as calling, error};
use crate::place::place;
use crate::raw::{self, int};

/// A call with two paths.
struct TwoPaths {
    old: PathArguments,
    new: PathArguments,
}

const BOTH: TwoPaths = TwoPaths { old: FIRST, new: PathArguments { directory: None, path: 1 } };
const BOTH_AT: TwoPaths =
    TwoPaths { old: AT_FIRST, new: PathArguments { directory: Some(2), path: 3 } };

/// What a call does with two paths in the arena.
type Act = dyn Fn(&SystemCall, Inside, Inside) -> Answer;

/// Serves a call, unless both paths are elsewhere.
fn with_two_paths(call: &mut SystemCall, which: &TwoPaths, act: &Act) -> Decision {
    // SAFETY: the program vouches for its strings.
    let (old, new) = unsafe {
        (
            place(which.old.directory(call), which.old.path(call)),
            place(which.new.directory(call), which.new.path(call)),
        )
    };
    let is_missing = which.old.path(call).is_null() || which.new.path(call).is_null();
    match (old, new) {
        (Place::Outside, Place::Outside) => Pass,
        _ if is_missing => Done(error(libc::EFAULT)),
        (Place::OpenFile(file), Place::Inside(to)) => Done(link_open(call, file, to)),
        (Place::Inside(from), Place::Inside(to)) => match act(call, from, to) {
            OUTSIDE => carefully(call, which, act),
            done => Done(done),
        },
        _ => carefully(call, which, act),
    }
}

/// Gives an open file without a name its first one, by the name that the system gives to open
/// files.
fn link_open(call: &SystemCall, file: c_int, to: Inside) -> Answer {
    let follows = call.number as c_long == libc::SYS_linkat
        && int(call.arguments[4]) & libc::AT_SYMLINK_FOLLOW != 0;
    if !follows {
        return error(libc::EXDEV);
    }
    let empty = c"".as_ptr();
    // SAFETY: the program vouches for its strings.
    calling(|| unsafe { dfs::dfs_linkat(file, empty, to.directory, to.path, libc::AT_EMPTY_PATH) })
}

/// Where a path leads in the end.
enum End {
    Inside(Found),
    Outside(Elsewhere),
}

/// A path in the arena.
struct Found {
    inside: Inside,
    /// What its path points to, unless that is the program's.
    _text: Option<CString>,
}

/// A path elsewhere.
struct Elsewhere {
    directory: c_int,
    path: *const c_char,
    /// What `path` points to, unless that is the program's.
    _text: Option<CString>,
}

/// Follows a path to where it ends, which `look` in the arena tells.
fn end_of(
    call: &SystemCall,
    which: PathArguments,
    look: &mut dyn FnMut(Inside) -> Answer,
) -> Result<End, Answer> {
    let (directory, path) = (which.directory(call), which.path(call));
    // SAFETY: the program vouches for its strings.
    match unsafe { place(directory, path) } {
        Place::Closed => Err(error(libc::EBADF)),
        Place::Outside | Place::OpenFile(_) => {
            Ok(End::Outside(Elsewhere { directory, path, _text: None }))
        }
        Place::Inside(inside) => match arrive(inside, look) {
            Ended::Inside(arrival) if arrival.answer < 0 => Err(arrival.answer),
            Ended::Inside(arrival) => {
                Ok(End::Inside(Found { inside: arrival.at, _text: arrival.path }))
            }
            Ended::Outside(text) => {
                let path = text.as_ptr();
                Ok(End::Outside(Elsewhere { directory: libc::AT_FDCWD, path, _text: Some(text) }))
            }
        },
    }
}

/// Looks at a path in the arena, and follows it where it leads out.
fn arrive(inside: Inside, look: &mut dyn FnMut(Inside) -> Answer) -> Ended {
    match look(inside) {
        OUTSIDE => outside(inside, look),
        answer => Ended::Inside(Arrival { answer, at: inside, path: None }),
    }
}

/// Makes a call of whose paths at least one is elsewhere, or leads there.
#[cold]
#[inline(never)]
fn carefully(call: &mut SystemCall, which: &TwoPaths, act: &Act) -> Decision {
    let is_link = [libc::SYS_link, libc::SYS_linkat].contains(&(call.number as c_long));
    let how = if which.old.directory.is_some() { int(call.arguments[4]) } else { 0 };
    let has_flags = ![libc::SYS_renameat].contains(&(call.number as c_long));
    if has_flags && !is_valid(is_link, how) {
        return Done(error(libc::EINVAL));
    }
    let look_at_old = |inside| {
        if is_link { stat(inside, how_of_stat(how)) } else { links::check_directory(inside) }
    };
    // All that is wrong with the old path comes before what is wrong with the new one.
    let old = match end_of(call, which.old, &mut { look_at_old }) {
        Ok(old) => old,
        Err(why) => return Done(why),
    };
    if let End::Outside(elsewhere) = &old {
        let found = if is_link { old.check(how) } else { elsewhere.check_directory() };
        if let Err(why) = found {
            return Done(why);
        }
    }
    let new = match end_of(call, which.new, &mut links::check_directory) {
        Ok(new) => new,
        Err(why) => return Done(why),
    };
    match (&old, &new) {
        (End::Inside(from), End::Inside(to)) => match act(call, from.inside, to.inside) {
            // The old path's last name is a symbolic link that is followed.
            OUTSIDE => Done(error(libc::EXDEV)),
            done => Done(done),
        },
        (End::Outside(from), End::Outside(to)) => {
            let mut arguments = call.arguments;
            arguments[which.old.path] = from.path.expose_provenance();
            arguments[which.new.path] = to.path.expose_provenance();
            // SAFETY: the program has asked for this, and the paths are C strings.
            Executed(unsafe { raw::system_call(call.number as c_long, arguments) })
        }
        (End::Inside(_), End::Outside(_)) | (End::Outside(_), End::Inside(_)) => {
            // Between the arena and elsewhere, nothing can be linked or renamed.
            let checked = new.check_directory().and_then(|()| {
                if is_link { new.check_vacancy(which.new.path(call)) } else { Ok(()) }
            });
            Done(checked.err().unwrap_or(error(libc::EXDEV)))
        }
    }
}

/// Whether Linux accepts the flags of a call, which it looks at before the paths.
fn is_valid(is_link: bool, how: c_int) -> bool {
    if is_link {
        return how & !(libc::AT_SYMLINK_FOLLOW | libc::AT_EMPTY_PATH) == 0;
    }
    const KNOWN: u32 = libc::RENAME_NOREPLACE | libc::RENAME_EXCHANGE | libc::RENAME_WHITEOUT;
    let how = how.cast_unsigned();
    let excludes = libc::RENAME_NOREPLACE | libc::RENAME_WHITEOUT;
    how & !KNOWN == 0 && (how & libc::RENAME_EXCHANGE == 0 || how & excludes == 0)
}

impl End {
    /// Checks that the directory of the path's last name is there.
    fn check_directory(&self) -> Result<(), Answer> {
        match self {
            Self::Inside(found) => or_error(links::check_directory(found.inside)),
            Self::Outside(elsewhere) => elsewhere.check_directory(),
        }
    }

    /// Checks that the path names nothing, and can be a file's. `path` is its text.
    fn check_vacancy(&self, path: *const c_char) -> Result<(), Answer> {
        // What is above the root is there as well.
        if matches!(self.check(libc::AT_SYMLINK_NOFOLLOW), Ok(()) | Err(OUTSIDE)) {
            return Err(error(libc::EEXIST));
        }
        // SAFETY: it is a C string.
        let ends_with_slash = unsafe { CStr::from_ptr(path) }.to_bytes().last() == Some(&b'/');
        if ends_with_slash { Err(error(libc::ENOENT)) } else { Ok(()) }
    }

    /// Checks that what the path names is there. `how` has flags of linkat(2), or says that it is
    /// not followed.
    fn check(&self, how: c_int) -> Result<(), Answer> {
        let how = how_of_stat(how);
        or_error(match self {
            Self::Inside(found) => stat(found.inside, how),
            Self::Outside(Elsewhere { directory, path, .. }) => {
                // SAFETY: all zeros is a valid value.
                let mut stat: libc::stat = unsafe { std::mem::zeroed() };
                let into = (&raw mut stat).expose_provenance();
                let path = path.expose_provenance();
                let arguments = [raw::number(*directory), path, into, raw::number(how), 0, 0];
                // SAFETY: the path is a C string, and there is room.
                unsafe { raw::system_call(libc::SYS_newfstatat, arguments) }
            }
        })
    }
}

/// The flags of fstatat(2) that follow a path as these of linkat(2) do.
fn how_of_stat(how: c_int) -> c_int {
    let follows = how & libc::AT_SYMLINK_FOLLOW != 0;
    how & libc::AT_EMPTY_PATH | if follows { 0 } else { libc::AT_SYMLINK_NOFOLLOW }
}

fn stat(inside: Inside, how: c_int) -> Answer {
    // SAFETY: all zeros is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the path is a C string, and there is room.
    calling(|| unsafe {
        attributes::dfs_fstatat(inside.directory, inside.path, &raw mut stat, how)
    })
}

impl Elsewhere {
    fn check_directory(&self) -> Result<(), Answer> {
        // SAFETY: it is a C string.
        let path = unsafe { CStr::from_ptr(self.path) }.to_bytes();
        if path.is_empty() {
            return Err(error(libc::ENOENT));
        }
        let end = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
        let start = path[..end].iter().rposition(|&byte| byte == b'/');
        let here: &[u8] = if path[0] == b'/' { b"/" } else { b"." };
        let directory = start.map_or(here, |slash| &path[..=slash]);
        // It must also be one that may be searched.
        let directory = [directory, b"/."].concat();
        let directory = CString::new(directory).map_err(|_| error(libc::EINVAL))?;
        let how = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        let path = directory.as_ptr().expose_provenance();
        let arguments = [raw::number(self.directory), path, raw::number(how), 0, 0, 0];
        // SAFETY: the path is a C string.
        let opened = unsafe { raw::system_call(libc::SYS_openat, arguments) };
        or_error(opened)?;
        raw::close(int(opened.cast_unsigned()));
        Ok(())
    }
}

fn or_error(answer: Answer) -> Result<(), Answer> {
    if answer < 0 { Err(answer) } else { Ok(()) }
}

macro_rules! with_both_paths {
    ($($name:ident, $which:expr, |$from:ident, $to:ident, $arguments:pat_param| $act:expr;)*) => {
        $(
            pub(super) fn $name(call: &mut SystemCall) -> Decision {
                with_two_paths(call, $which, &|call, $from, $to| {
                    let $arguments = call.arguments;
                    // SAFETY: the program vouches for its strings.
                    calling(|| unsafe { $act })
                })
            }
        )*
    };
}

with_both_paths! {
    link, &BOTH, |from, to, _|
        dfs::dfs_linkat(from.directory, from.path, to.directory, to.path, 0);
    linkat, &BOTH_AT, |from, to, [_, _, _, _, how, _]|
        dfs::dfs_linkat(from.directory, from.path, to.directory, to.path, int(how));
    rename, &BOTH, |from, to, _|
        dfs::dfs_renameat(from.directory, from.path, to.directory, to.path);
    renameat, &BOTH_AT, |from, to, _|
        dfs::dfs_renameat(from.directory, from.path, to.directory, to.path);
    renameat2, &BOTH_AT, |from, to, [_, _, _, _, how, _]|
        dfs::dfs_renameat2(from.directory, from.path, to.directory, to.path, how_to_rename(how));
}

fn how_to_rename(argument: usize) -> u32 {
    let how: c_int = int(argument);
    how.cast_unsigned()
}
