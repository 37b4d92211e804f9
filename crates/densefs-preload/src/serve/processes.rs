//! Processes: how they are made, execute programs, and end.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::{CString, c_char, c_long};

use densefs_c::attached;

use super::paths::{AT_FIRST, PathArguments};
use crate::call::SystemCall;
use crate::decision::Answer;
use crate::decision::Decision::{self, Done, Executed, Pass, Refused};
use crate::outcome::error;
use crate::raw::int;
use crate::{environment, exec, limits, links, mount, numbers, own, raw, spawn};

pub(super) fn execve(call: &mut SystemCall) -> Decision {
    let [path, arguments, environment, ..] = call.arguments;
    execute(libc::SYS_execve, [path, arguments, environment, 0, 0], 2)
}

pub(super) fn execveat(call: &mut SystemCall) -> Decision {
    let [directory, _, arguments, environment, how, _] = call.arguments;
    let path = AT_FIRST.path(call);
    // SAFETY: the program vouches for its strings.
    let is_empty = !path.is_null() && unsafe { *path } == 0;
    let file = numbers::inside(int(directory));
    let Some(file) = file.filter(|_| !is_absolute(AT_FIRST, call)) else {
        return execute(
            libc::SYS_execveat,
            [directory, path.expose_provenance(), arguments, environment, how],
            3,
        );
    };
    // The kernel finds it by its path only.
    let found = if is_empty {
        links::path_of(file).and_then(|path| CString::new(path).map_err(|_| libc::EINVAL))
    } else {
        links::mounted_path(crate::inside::Inside { directory: file, path })
    };
    match found {
        Ok(path) => {
            let path = path.as_ptr().expose_provenance();
            execute(libc::SYS_execve, [path, arguments, environment, 0, 0], 2)
        }
        Err(why) => Done(error(why)),
    }
}

fn is_absolute(which: PathArguments, call: &SystemCall) -> bool {
    let path = which.path(call);
    // SAFETY: the program vouches for its strings.
    !path.is_null() && unsafe { *path }.cast_unsigned() == b'/'
}

/// Executes a program, which takes over what this one has open. Returns only on failure.
fn execute(number: c_long, arguments: [usize; 5], environment_at: usize) -> Decision {
    let Some(told) = environment::told() else { return Pass };
    if number == libc::SYS_execve
        && let Some(why) = missing(arguments[0])
    {
        return Executed(why);
    }
    mount::enter_working_directory();
    let handed = match exec::hand_over() {
        Ok(handed) => handed,
        Err(why) => return Done(error(why)),
    };
    let state = handed.as_ref().map(exec::Handed::number);
    let asked = std::ptr::with_exposed_provenance(arguments[environment_at]);
    // SAFETY: the program vouches for its environment.
    let Some(environment) = (unsafe { environment::ForExec::new(asked, told, state) }) else {
        return Done(error(libc::EINVAL));
    };
    let [first, second, third, fourth, fifth] = arguments;
    let mut arguments = [first, second, third, fourth, fifth, 0];
    arguments[environment_at] = environment.as_ptr().expose_provenance();
    // SAFETY: the program has asked for this.
    let failed = unsafe { raw::system_call(number, arguments) };
    drop(handed);
    Executed(failed)
}

/// Why there is nothing at an absolute path, if that is so. Programs try one directory of `PATH`
/// after another, and what is prepared for the one that is there takes longer than looking.
fn missing(path: usize) -> Option<Answer> {
    let text = std::ptr::with_exposed_provenance::<c_char>(path);
    // SAFETY: the program vouches for its strings.
    if text.is_null() || unsafe { *text }.cast_unsigned() != b'/' {
        return None;
    }
    let arguments = [path, raw::number(libc::F_OK), 0, 0, 0, 0];
    // SAFETY: the program vouches for its strings.
    let found = unsafe { raw::system_call(libc::SYS_access, arguments) };
    [libc::ENOENT, libc::ENOTDIR].map(error).contains(&found).then_some(found)
}

/// Makes a process or a thread.
pub(super) fn clone(call: &mut SystemCall) -> Decision {
    const VFORK: u64 = (libc::CLONE_VM | libc::CLONE_VFORK) as u64;
    /// A signal, which all who use these flags want to be the usual one.
    const EXIT_SIGNAL: u64 = 0xff;
    /// `CLONE_CLEAR_SIGHAND`: what the execution of a program does anyway.
    const CLEAR_HANDLERS: u64 = 1 << 32;
    const NEW_PROCESS: u64 = libc::CLONE_VM as u64 | libc::CLONE_THREAD as u64;
    let request = spawn::Request::new(call);
    if request.flags & libc::CLONE_THREAD as u64 != 0 {
        return Pass;
    }
    if request.flags & VFORK == VFORK {
        // What else is asked for would be missing in the copy.
        return match request.flags & !(VFORK | EXIT_SIGNAL | CLEAR_HANDLERS) {
            0 => spawn::spawn(call, &request),
            _ => Refused(libc::ENOSYS),
        };
    }
    if request.flags & NEW_PROCESS == 0 && attached().is_ok() {
        return spawn::fork(call, &request);
    }
    Pass
}

pub(super) fn exit_group(_: &mut SystemCall) -> Decision {
    spawn::report_failure();
    if numbers::all().next().is_some()
        && let Ok(files) = attached()
    {
        // Others need not find out that this process is dead.
        files.close_all().ok();
    }
    Pass
}

pub(super) fn umask(call: &mut SystemCall) -> Decision {
    densefs_c::attributes::dfs_umask(int(call.arguments[0]).cast_unsigned());
    Pass
}

/// Changes limits: of the sizes of files, and of descriptors, which ours must stay below.
pub(super) fn set_limits(call: &mut SystemCall) -> Decision {
    let is_question = call.number as c_long == libc::SYS_prlimit64 && call.arguments[2] == 0;
    if is_question {
        return Pass;
    }
    // SAFETY: the program has asked for this.
    let done = unsafe { raw::system_call(call.number as c_long, call.arguments) };
    if done == 0 {
        limits::read();
        own::choose_lowest();
    }
    Executed(done)
}

/// Changes the identity under which the process works.
pub(super) fn set_ids(call: &mut SystemCall) -> Decision {
    let is_question = matches!(call.number as c_long, libc::SYS_setfsuid | libc::SYS_setfsgid)
        && int(call.arguments[0]) == -1;
    // The library asks in this way itself.
    let Some(files) = attached().ok().filter(|_| !is_question) else { return Pass };
    // SAFETY: the program has asked for this.
    let done = unsafe { raw::system_call(call.number as c_long, call.arguments) };
    files.refresh_credentials();
    Executed(done)
}
