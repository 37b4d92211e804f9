//! System calls on files in the arena, served.

mod attributes;
mod descriptors;
mod directories;
mod files;
mod memory;
mod names;
mod open_files;
mod paths;
mod polling;
mod processes;
mod transfer;
mod two_paths;

pub(crate) use files::{give_number, open_otherwise};

use std::ffi::c_long;

use crate::call::{Served, SystemCall};
use crate::counting;
use crate::decision::Decision::{self, Done, Executed, Pass, Refused};
use crate::outcome::error;

/// A function that serves a system call.
type Server = fn(&mut SystemCall) -> Decision;

/// The system calls that may concern the arena, and the functions that serve them. All others have
/// nothing to do with files, or always belong to the kernel.
#[rustfmt::skip]
const SERVED: &[(c_long, Server)] = &[
    (libc::SYS_open, files::open),
    (libc::SYS_creat, files::creat),
    (libc::SYS_openat, files::openat),
    (libc::SYS_openat2, files::openat2),
    (libc::SYS_close, descriptors::close),
    (libc::SYS_close_range, descriptors::close_range),
    (libc::SYS_read, files::read),
    (libc::SYS_write, files::write),
    (libc::SYS_pread64, files::pread),
    (libc::SYS_pwrite64, files::pwrite),
    (libc::SYS_readv, files::readv),
    (libc::SYS_writev, files::writev),
    (libc::SYS_preadv, files::preadv),
    (libc::SYS_pwritev, files::pwritev),
    (libc::SYS_preadv2, files::preadv2),
    (libc::SYS_pwritev2, files::pwritev2),
    (libc::SYS_lseek, files::lseek),
    (libc::SYS_truncate, files::truncate),
    (libc::SYS_ftruncate, files::ftruncate),
    (libc::SYS_fallocate, files::fallocate),
    (libc::SYS_fsync, files::fsync),
    (libc::SYS_fdatasync, files::fsync),
    (libc::SYS_syncfs, files::fsync),
    (libc::SYS_fadvise64, files::advise),
    (libc::SYS_readahead, files::advise),
    (libc::SYS_sync_file_range, files::advise),
    (libc::SYS_flock, files::flock),
    (libc::SYS_fcntl, descriptors::fcntl),
    (libc::SYS_ioctl, descriptors::ioctl),
    (libc::SYS_dup, descriptors::dup),
    (libc::SYS_dup2, descriptors::dup2),
    (libc::SYS_dup3, descriptors::dup3),
    (libc::SYS_stat, attributes::stat),
    (libc::SYS_lstat, attributes::lstat),
    (libc::SYS_fstat, attributes::fstat),
    (libc::SYS_newfstatat, attributes::fstatat),
    (libc::SYS_statx, attributes::statx),
    (libc::SYS_statfs, attributes::statfs),
    (libc::SYS_fstatfs, attributes::fstatfs),
    (libc::SYS_access, attributes::access),
    (libc::SYS_faccessat, attributes::faccessat),
    (libc::SYS_faccessat2, attributes::faccessat2),
    (libc::SYS_chmod, attributes::chmod),
    (libc::SYS_fchmod, attributes::fchmod),
    (libc::SYS_fchmodat, attributes::fchmodat),
    (FCHMODAT2, attributes::fchmodat2),
    (libc::SYS_chown, attributes::chown),
    (libc::SYS_lchown, attributes::lchown),
    (libc::SYS_fchown, attributes::fchown),
    (libc::SYS_fchownat, attributes::fchownat),
    (libc::SYS_utime, attributes::utime),
    (libc::SYS_utimes, attributes::utimes),
    (libc::SYS_futimesat, attributes::futimesat),
    (libc::SYS_utimensat, attributes::utimensat),
    (libc::SYS_setxattr, attributes::setxattr),
    (libc::SYS_lsetxattr, attributes::lsetxattr),
    (libc::SYS_fsetxattr, attributes::fsetxattr),
    (libc::SYS_getxattr, attributes::getxattr),
    (libc::SYS_lgetxattr, attributes::lgetxattr),
    (libc::SYS_fgetxattr, attributes::fgetxattr),
    (libc::SYS_listxattr, attributes::listxattr),
    (libc::SYS_llistxattr, attributes::llistxattr),
    (libc::SYS_flistxattr, attributes::flistxattr),
    (libc::SYS_removexattr, attributes::removexattr),
    (libc::SYS_lremovexattr, attributes::lremovexattr),
    (libc::SYS_fremovexattr, attributes::fremovexattr),
    (libc::SYS_mkdir, names::mkdir),
    (libc::SYS_mkdirat, names::mkdirat),
    (libc::SYS_mknod, names::mknod),
    (libc::SYS_mknodat, names::mknodat),
    (libc::SYS_rmdir, names::rmdir),
    (libc::SYS_unlink, names::unlink),
    (libc::SYS_unlinkat, names::unlinkat),
    (libc::SYS_symlink, names::symlink),
    (libc::SYS_symlinkat, names::symlinkat),
    (libc::SYS_readlink, names::readlink),
    (libc::SYS_readlinkat, names::readlinkat),
    (libc::SYS_link, two_paths::link),
    (libc::SYS_linkat, two_paths::linkat),
    (libc::SYS_rename, two_paths::rename),
    (libc::SYS_renameat, two_paths::renameat),
    (libc::SYS_renameat2, two_paths::renameat2),
    (libc::SYS_getdents64, directories::getdents64),
    (libc::SYS_getdents, directories::getdents),
    (libc::SYS_chdir, directories::chdir),
    (libc::SYS_fchdir, directories::fchdir),
    (libc::SYS_getcwd, directories::getcwd),
    (libc::SYS_chroot, directories::chroot),
    (libc::SYS_pivot_root, directories::chroot),
    (libc::SYS_mmap, memory::mmap),
    (libc::SYS_munmap, memory::munmap),
    (libc::SYS_mremap, memory::mremap),
    (libc::SYS_copy_file_range, transfer::copy_file_range),
    (libc::SYS_sendfile, transfer::sendfile),
    (libc::SYS_splice, transfer::splice),
    (libc::SYS_poll, polling::poll),
    (libc::SYS_ppoll, polling::ppoll),
    (libc::SYS_select, polling::select),
    (libc::SYS_pselect6, polling::pselect6),
    (libc::SYS_epoll_ctl, polling::epoll_ctl),
    (libc::SYS_execve, processes::execve),
    (libc::SYS_execveat, processes::execveat),
    (libc::SYS_clone, processes::clone),
    (libc::SYS_clone3, processes::clone),
    (libc::SYS_fork, processes::clone),
    (libc::SYS_vfork, processes::clone),
    (libc::SYS_exit_group, processes::exit_group),
    (libc::SYS_rt_sigaction, crate::signals::sigaction),
    (libc::SYS_umask, processes::umask),
    (libc::SYS_setrlimit, processes::set_limits),
    (libc::SYS_prlimit64, processes::set_limits),
    (libc::SYS_setuid, processes::set_ids),
    (libc::SYS_setgid, processes::set_ids),
    (libc::SYS_setreuid, processes::set_ids),
    (libc::SYS_setregid, processes::set_ids),
    (libc::SYS_setresuid, processes::set_ids),
    (libc::SYS_setresgid, processes::set_ids),
    (libc::SYS_setfsuid, processes::set_ids),
    (libc::SYS_setfsgid, processes::set_ids),
    (libc::SYS_setgroups, processes::set_ids),
    (libc::SYS_inotify_add_watch, paths::refuse_watch),
    (libc::SYS_name_to_handle_at, paths::refuse_handle),
    (libc::SYS_io_uring_setup, refuse_entirely),
    (libc::SYS_io_submit, polling::io_submit),
    (libc::SYS_sendmsg, polling::sendmsg),
    (libc::SYS_sendmmsg, polling::sendmmsg),
    (libc::SYS_pipe, descriptors::makes_numbers),
    (libc::SYS_pipe2, descriptors::makes_numbers),
    (libc::SYS_socket, descriptors::makes_numbers),
    (libc::SYS_socketpair, descriptors::makes_numbers),
    (libc::SYS_accept, descriptors::makes_numbers),
    (libc::SYS_accept4, descriptors::makes_numbers),
    (libc::SYS_epoll_create, descriptors::makes_numbers),
    (libc::SYS_epoll_create1, descriptors::makes_numbers),
    (libc::SYS_eventfd, descriptors::makes_numbers),
    (libc::SYS_eventfd2, descriptors::makes_numbers),
    (libc::SYS_signalfd, descriptors::makes_numbers),
    (libc::SYS_signalfd4, descriptors::makes_numbers),
    (libc::SYS_timerfd_create, descriptors::makes_numbers),
    (libc::SYS_inotify_init, descriptors::makes_numbers),
    (libc::SYS_inotify_init1, descriptors::makes_numbers),
    (libc::SYS_fanotify_init, descriptors::makes_numbers),
    (libc::SYS_memfd_create, descriptors::makes_numbers),
    (libc::SYS_userfaultfd, descriptors::makes_numbers),
    (libc::SYS_perf_event_open, descriptors::makes_numbers),
    (libc::SYS_bpf, descriptors::makes_numbers),
    (libc::SYS_pidfd_open, descriptors::makes_numbers),
    (libc::SYS_pidfd_getfd, descriptors::makes_numbers),
    (libc::SYS_open_by_handle_at, descriptors::makes_numbers),
    (libc::SYS_recvmsg, descriptors::makes_numbers),
    (libc::SYS_recvmmsg, descriptors::makes_numbers),
    (libc::SYS_open_tree, descriptors::makes_numbers),
    (libc::SYS_fsopen, descriptors::makes_numbers),
    (libc::SYS_fsmount, descriptors::makes_numbers),
    (libc::SYS_fspick, descriptors::makes_numbers),
];

/// fchmodat2, which the libc crate does not know for glibc.
const FCHMODAT2: c_long = 452;
/// System calls have numbers below this.
const NUMBERS: usize = 512;

static SERVERS: [Option<Server>; NUMBERS] = {
    let mut servers: [Option<Server>; NUMBERS] = [None; NUMBERS];
    let mut index = 0;
    while index < SERVED.len() {
        let (number, server) = SERVED[index];
        servers[number as usize] = Some(server);
        index += 1;
    }
    servers
};

/// Whether any program's call of this number may concern the arena.
pub(crate) fn is_served(number: usize) -> bool {
    SERVERS.get(number).is_some_and(Option::is_some)
}

/// Serves a system call if it concerns the arena.
pub(crate) extern "C" fn serve(call: &mut SystemCall) -> Served {
    let Some(&Some(server)) = SERVERS.get(call.number) else { return Served::No };
    let decision = server(call);
    counting::note(call.number, decision);
    let answer = match decision {
        Pass => return Served::No,
        Done(answer) | Executed(answer) => answer,
        Refused(why) => error(why),
    };
    call.arguments[0] = answer.cast_unsigned();
    Served::Yes
}

/// Ways to the kernel that cannot be followed. Programs have others.
fn refuse_entirely(_: &mut SystemCall) -> Decision {
    Refused(libc::ENOSYS)
}
