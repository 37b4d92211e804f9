//! The program's numbers: duplicating and closing them, and their flags.
#![expect(unsafe_code, reason = "the program vouches for its pointers")]

use std::ffi::{c_int, c_long};

use densefs_c::{control, files as dfs};

use super::files::with_number;
use crate::call::SystemCall;
use crate::decision::Answer;
use crate::decision::Decision::{self, Done, Executed, Pass, Refused};
use crate::outcome::{call as calling, error, restarted};
use crate::raw::int;
use crate::{numbers, own, raw};

/// A call that makes a number of the kernel's.
pub(super) fn makes_numbers(_: &mut SystemCall) -> Decision {
    numbers::release();
    Pass
}

/// Closes a number that stands for a file in the arena.
#[inline]
fn close_inside(number: c_int) -> Option<Answer> {
    let descriptor = numbers::free(number)?;
    Some(calling(|| dfs::dfs_close(descriptor)))
}

pub(super) fn close(call: &mut SystemCall) -> Decision {
    let number = int(call.arguments[0]);
    if let Some(answer) = close_inside(number) {
        return Done(answer);
    }
    if numbers::is_kept(number) || own::is_own(number) {
        return Done(error(libc::EBADF));
    }
    numbers::closed_outside(number);
    Pass
}

pub(super) fn close_range(call: &mut SystemCall) -> Decision {
    let [first, last, how, ..] = call.arguments;
    #[expect(clippy::cast_possible_truncation, reason = "the kernel ignores the upper half")]
    let (first, last, how) = (first as u32, last as u32, how as u32);
    if first > last || how & !(libc::CLOSE_RANGE_UNSHARE | libc::CLOSE_RANGE_CLOEXEC) != 0 {
        return Pass;
    }
    let is_in = |number: c_int| (first..=last).contains(&number.cast_unsigned());
    if how & libc::CLOSE_RANGE_CLOEXEC != 0 {
        for one in numbers::all().filter(|one| is_in(one.number)) {
            set_closes_on_exec(one.descriptor, true);
        }
        // All that is ours has this flag anyway.
        return Pass;
    }
    for one in numbers::all().filter(|one| is_in(one.number)) {
        close_inside(one.number);
    }
    numbers::release();
    // What is ours stays open.
    let mut own = own::all();
    own.sort_unstable();
    let mut from = first;
    let ends = own.into_iter().filter(|&number| is_in(number)).map(c_int::cast_unsigned);
    for end in ends.chain([last.saturating_add(1)]) {
        let is_last = end == last.saturating_add(1);
        let to = if is_last && last == u32::MAX { last } else { end.wrapping_sub(1) };
        if from <= to && end > from {
            let arguments = [from as usize, to as usize, how as usize, 0, 0, 0];
            // SAFETY: the program wants these closed.
            let done = unsafe { raw::system_call(libc::SYS_close_range, arguments) };
            if done != 0 {
                return Done(done);
            }
        }
        from = end.saturating_add(1);
    }
    Done(0)
}

fn set_closes_on_exec(descriptor: c_int, closes: bool) -> Answer {
    let flags = if closes { libc::FD_CLOEXEC } else { 0 };
    // SAFETY: this command has no pointer.
    calling(|| unsafe { control::dfs_fcntl(descriptor, libc::F_SETFD, raw::number(flags)) })
}

/// Gives a number to a new duplicate of one of the arena's descriptors, which is an error if it is
/// negative.
fn give_number(duplicate: Answer, add: impl FnOnce(c_int) -> Answer) -> Answer {
    let Ok(descriptor) = c_int::try_from(duplicate) else { return duplicate };
    if descriptor < 0 {
        return duplicate;
    }
    let number = add(descriptor);
    if number < 0 {
        dfs::dfs_close(descriptor);
    }
    number
}

pub(super) fn dup(call: &mut SystemCall) -> Decision {
    let decision =
        with_number(call, |file, _| give_number(calling(|| dfs::dfs_dup(file)), numbers::add));
    if decision == Pass {
        let number = int(call.arguments[0]);
        if numbers::is_kept(number) {
            return Done(error(libc::EBADF));
        }
        numbers::release();
    }
    decision
}

pub(super) fn dup2(call: &mut SystemCall) -> Decision {
    let [from, to, ..] = call.arguments.map(int);
    if from == to {
        return match numbers::inside(from) {
            Some(_) => Done(from as Answer),
            None if numbers::is_kept(from) => Done(error(libc::EBADF)),
            None => Pass,
        };
    }
    replace(from, to, 0)
}

pub(super) fn dup3(call: &mut SystemCall) -> Decision {
    let [from, to, how, ..] = call.arguments.map(int);
    if from == to || how & !libc::O_CLOEXEC != 0 {
        return Pass;
    }
    replace(from, to, how)
}

/// Makes one number stand for what another does.
fn replace(from: c_int, to: c_int, how: c_int) -> Decision {
    let Some(file) = numbers::inside(from) else {
        if numbers::is_kept(from) {
            return Done(error(libc::EBADF));
        }
        if own::is_own(to) {
            return Refused(libc::EMFILE);
        }
        let arguments = [from, to, how].map(raw::number);
        let [old, new, flags] = arguments;
        // SAFETY: the program has asked for this.
        let done = unsafe { raw::system_call(libc::SYS_dup3, [old, new, flags, 0, 0, 0]) };
        if done >= 0
            && let Some(replaced) = numbers::forget(to)
        {
            dfs::dfs_close(replaced);
        }
        return Executed(done);
    };
    if own::is_own(to) {
        return Refused(libc::EMFILE);
    }
    let command = if how == 0 { libc::F_DUPFD } else { libc::F_DUPFD_CLOEXEC };
    // SAFETY: these commands have no pointer.
    let duplicate = calling(|| unsafe { control::dfs_fcntl(file, command, 0) });
    Done(give_number(duplicate, |descriptor| {
        let replaced = numbers::inside(to);
        let done = numbers::add_at(descriptor, to);
        if done >= 0
            && let Some(replaced) = replaced
        {
            dfs::dfs_close(replaced);
        }
        done
    }))
}

pub(super) fn fcntl(call: &mut SystemCall) -> Decision {
    let [number, command, argument, ..] = call.arguments;
    let (number, command) = (int(number), int(command));
    let Some(file) = numbers::inside(number) else {
        if numbers::is_kept(number) {
            return Done(error(libc::EBADF));
        }
        if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) {
            numbers::release();
        }
        return Pass;
    };
    Done(match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => {
            if int(argument) < 0 {
                return Done(error(libc::EINVAL));
            }
            // SAFETY: these commands have no pointer.
            let duplicate = calling(|| unsafe { control::dfs_fcntl(file, command, 0) });
            give_number(duplicate, |descriptor| numbers::add_from(descriptor, int(argument)))
        }
        // SAFETY: the program vouches for its pointer.
        _ => restarted(|| calling(|| unsafe { control::dfs_fcntl(file, command, argument) })),
    })
}

/// ioctl(2), of which regular files know little.
pub(super) fn ioctl(call: &mut SystemCall) -> Decision {
    with_number(call, |file, &[_, request, argument, ..]| {
        match request as c_long as libc::Ioctl {
            libc::FIOCLEX => set_closes_on_exec(file, true),
            libc::FIONCLEX => set_closes_on_exec(file, false),
            libc::FIONREAD => bytes_left(file, argument),
            // Files do not block anyway.
            libc::FIONBIO => 0,
            FICLONE | FICLONERANGE => error(libc::EOPNOTSUPP),
            _ => error(libc::ENOTTY),
        }
    })
}

const FICLONE: libc::Ioctl = 0x4004_9409;
const FICLONERANGE: libc::Ioctl = 0x4020_940d;

/// How much of a file is after its offset.
fn bytes_left(file: c_int, into: usize) -> Answer {
    // SAFETY: all zeros is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: there is room.
    let known = calling(|| unsafe { dfs::dfs_fstat(file, &raw mut stat) });
    if known < 0 {
        return known;
    }
    if stat.st_mode & libc::S_IFMT != libc::S_IFREG {
        return error(libc::ENOTTY);
    }
    let at = calling(|| dfs::dfs_lseek(file, 0, libc::SEEK_CUR));
    if at < 0 {
        return at;
    }
    let left = stat.st_size.saturating_sub(at as libc::off_t);
    let into = std::ptr::with_exposed_provenance_mut::<c_int>(into);
    if into.is_null() {
        return error(libc::EFAULT);
    }
    // SAFETY: the program vouches for it.
    unsafe { into.write(c_int::try_from(left).unwrap_or(c_int::MAX)) };
    0
}
