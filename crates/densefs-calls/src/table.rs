//! The system calls of Linux on x86-64, and which of their arguments are files.
//!
//! Written from the kernel's own table (`arch/x86/entry/syscalls/syscall_64.tbl`, Linux 6.17) and
//! the manual, independently of what any library serves, so that one can be checked by the other.

/// Something among the arguments of a call, counted from 0, that names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A descriptor.
    Descriptor(usize),
    /// A path, from the working directory on if it is relative.
    Path(usize),
    /// The descriptor of a directory, and a path from there on.
    At(usize, usize),
    /// Files are named in the memory that an argument points to, or the call is about a range of
    /// descriptors, the working directory or the like.
    Hidden,
}

use Argument::{At, Descriptor, Hidden, Path};

/// A system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its number.
    pub number: usize,
    /// Its name in the manual's section 2, and in the kernel.
    pub name: &'static str,
    /// Those of its arguments that name files; empty if none can.
    pub arguments: &'static [Argument],
}

/// All system calls have numbers below this.
pub const NUMBERS: usize = 512;

/// A system call by its number, if Linux has one.
pub fn call(number: usize) -> Option<Call> {
    let with = ON_FILES.iter().find(|&&(at, ..)| usize::from(at) == number);
    if let Some(&(_, name, arguments)) = with {
        return Some(Call { number, name, arguments });
    }
    let other = OTHERS.iter().find(|&&(at, _)| usize::from(at) == number);
    other.map(|&(_, name)| Call { number, name, arguments: &[] })
}

/// All system calls that name files, by their numbers.
pub fn on_files() -> impl Iterator<Item = Call> {
    let call = |&(number, name, arguments)| Call { number: usize::from(number), name, arguments };
    ON_FILES.iter().map(call)
}

const ON_FILES: &[(u16, &str, &[Argument])] = &[
    (0, "read", &[Descriptor(0)]),
    (1, "write", &[Descriptor(0)]),
    (2, "open", &[Path(0)]),
    (3, "close", &[Descriptor(0)]),
    (4, "stat", &[Path(0)]),
    (5, "fstat", &[Descriptor(0)]),
    (6, "lstat", &[Path(0)]),
    (7, "poll", &[Hidden]),
    (8, "lseek", &[Descriptor(0)]),
    (9, "mmap", &[Descriptor(4)]),
    (16, "ioctl", &[Descriptor(0)]),
    (17, "pread64", &[Descriptor(0)]),
    (18, "pwrite64", &[Descriptor(0)]),
    (19, "readv", &[Descriptor(0)]),
    (20, "writev", &[Descriptor(0)]),
    (21, "access", &[Path(0)]),
    (23, "select", &[Hidden]),
    (32, "dup", &[Descriptor(0)]),
    (33, "dup2", &[Descriptor(0), Descriptor(1)]),
    (40, "sendfile", &[Descriptor(0), Descriptor(1)]),
    (46, "sendmsg", &[Hidden]),
    (59, "execve", &[Path(0)]),
    (72, "fcntl", &[Descriptor(0)]),
    (73, "flock", &[Descriptor(0)]),
    (74, "fsync", &[Descriptor(0)]),
    (75, "fdatasync", &[Descriptor(0)]),
    (76, "truncate", &[Path(0)]),
    (77, "ftruncate", &[Descriptor(0)]),
    (78, "getdents", &[Descriptor(0)]),
    (79, "getcwd", &[Hidden]),
    (80, "chdir", &[Path(0)]),
    (81, "fchdir", &[Descriptor(0)]),
    (82, "rename", &[Path(0), Path(1)]),
    (83, "mkdir", &[Path(0)]),
    (84, "rmdir", &[Path(0)]),
    (85, "creat", &[Path(0)]),
    (86, "link", &[Path(0), Path(1)]),
    (87, "unlink", &[Path(0)]),
    (88, "symlink", &[Path(1)]),
    (89, "readlink", &[Path(0)]),
    (90, "chmod", &[Path(0)]),
    (91, "fchmod", &[Descriptor(0)]),
    (92, "chown", &[Path(0)]),
    (93, "fchown", &[Descriptor(0)]),
    (94, "lchown", &[Path(0)]),
    (132, "utime", &[Path(0)]),
    (133, "mknod", &[Path(0)]),
    (134, "uselib", &[Path(0)]),
    (137, "statfs", &[Path(0)]),
    (138, "fstatfs", &[Descriptor(0)]),
    (155, "pivot_root", &[Path(0), Path(1)]),
    (161, "chroot", &[Path(0)]),
    (163, "acct", &[Path(0)]),
    (165, "mount", &[Path(0), Path(1)]),
    (166, "umount2", &[Path(0)]),
    (167, "swapon", &[Path(0)]),
    (168, "swapoff", &[Path(0)]),
    (179, "quotactl", &[Path(1)]),
    (187, "readahead", &[Descriptor(0)]),
    (188, "setxattr", &[Path(0)]),
    (189, "lsetxattr", &[Path(0)]),
    (190, "fsetxattr", &[Descriptor(0)]),
    (191, "getxattr", &[Path(0)]),
    (192, "lgetxattr", &[Path(0)]),
    (193, "fgetxattr", &[Descriptor(0)]),
    (194, "listxattr", &[Path(0)]),
    (195, "llistxattr", &[Path(0)]),
    (196, "flistxattr", &[Descriptor(0)]),
    (197, "removexattr", &[Path(0)]),
    (198, "lremovexattr", &[Path(0)]),
    (199, "fremovexattr", &[Descriptor(0)]),
    (209, "io_submit", &[Hidden]),
    (217, "getdents64", &[Descriptor(0)]),
    (221, "fadvise64", &[Descriptor(0)]),
    (233, "epoll_ctl", &[Descriptor(2)]),
    (235, "utimes", &[Path(0)]),
    (254, "inotify_add_watch", &[Path(1)]),
    (257, "openat", &[At(0, 1)]),
    (258, "mkdirat", &[At(0, 1)]),
    (259, "mknodat", &[At(0, 1)]),
    (260, "fchownat", &[At(0, 1)]),
    (261, "futimesat", &[At(0, 1)]),
    (262, "newfstatat", &[At(0, 1)]),
    (263, "unlinkat", &[At(0, 1)]),
    (264, "renameat", &[At(0, 1), At(2, 3)]),
    (265, "linkat", &[At(0, 1), At(2, 3)]),
    (266, "symlinkat", &[At(1, 2)]),
    (267, "readlinkat", &[At(0, 1)]),
    (268, "fchmodat", &[At(0, 1)]),
    (269, "faccessat", &[At(0, 1)]),
    (270, "pselect6", &[Hidden]),
    (271, "ppoll", &[Hidden]),
    (275, "splice", &[Descriptor(0), Descriptor(2)]),
    (276, "tee", &[Descriptor(0), Descriptor(1)]),
    (277, "sync_file_range", &[Descriptor(0)]),
    (278, "vmsplice", &[Descriptor(0)]),
    (280, "utimensat", &[At(0, 1)]),
    (285, "fallocate", &[Descriptor(0)]),
    (292, "dup3", &[Descriptor(0), Descriptor(1)]),
    (295, "preadv", &[Descriptor(0)]),
    (296, "pwritev", &[Descriptor(0)]),
    (301, "fanotify_mark", &[At(3, 4)]),
    (303, "name_to_handle_at", &[At(0, 1)]),
    (304, "open_by_handle_at", &[Descriptor(0)]),
    (306, "syncfs", &[Descriptor(0)]),
    (307, "sendmmsg", &[Hidden]),
    (308, "setns", &[Descriptor(0)]),
    (312, "kcmp", &[Hidden]),
    (313, "finit_module", &[Descriptor(0)]),
    (316, "renameat2", &[At(0, 1), At(2, 3)]),
    (320, "kexec_file_load", &[Descriptor(0), Descriptor(1)]),
    (321, "bpf", &[Hidden]),
    (322, "execveat", &[At(0, 1)]),
    (326, "copy_file_range", &[Descriptor(0), Descriptor(2)]),
    (327, "preadv2", &[Descriptor(0)]),
    (328, "pwritev2", &[Descriptor(0)]),
    (332, "statx", &[At(0, 1)]),
    (425, "io_uring_setup", &[Hidden]),
    (428, "open_tree", &[At(0, 1)]),
    (429, "move_mount", &[At(0, 1), At(2, 3)]),
    (433, "fspick", &[At(0, 1)]),
    (436, "close_range", &[Hidden]),
    (437, "openat2", &[At(0, 1)]),
    (439, "faccessat2", &[At(0, 1)]),
    (442, "mount_setattr", &[At(0, 1)]),
    (443, "quotactl_fd", &[Descriptor(0)]),
    (445, "landlock_add_rule", &[Hidden]),
    (451, "cachestat", &[Descriptor(0)]),
    (452, "fchmodat2", &[At(0, 1)]),
    (463, "setxattrat", &[At(0, 1)]),
    (464, "getxattrat", &[At(0, 1)]),
    (465, "listxattrat", &[At(0, 1)]),
    (466, "removexattrat", &[At(0, 1)]),
    (467, "open_tree_attr", &[At(0, 1)]),
    (468, "file_getattr", &[At(0, 1)]),
    (469, "file_setattr", &[At(0, 1)]),
];

/// Those that name none, or only what is no file, such as sockets.
#[rustfmt::skip]
const OTHERS: &[(u16, &str)] = &[
    (10, "mprotect"), (11, "munmap"), (12, "brk"), (13, "rt_sigaction"), (14, "rt_sigprocmask"),
    (15, "rt_sigreturn"), (22, "pipe"), (24, "sched_yield"), (25, "mremap"), (26, "msync"),
    (27, "mincore"), (28, "madvise"), (29, "shmget"), (30, "shmat"), (31, "shmctl"),
    (34, "pause"), (35, "nanosleep"), (36, "getitimer"), (37, "alarm"), (38, "setitimer"),
    (39, "getpid"), (41, "socket"), (42, "connect"), (43, "accept"), (44, "sendto"),
    (45, "recvfrom"), (47, "recvmsg"), (48, "shutdown"), (49, "bind"), (50, "listen"),
    (51, "getsockname"), (52, "getpeername"), (53, "socketpair"), (54, "setsockopt"),
    (55, "getsockopt"), (56, "clone"), (57, "fork"), (58, "vfork"), (60, "exit"), (61, "wait4"),
    (62, "kill"), (63, "uname"), (64, "semget"), (65, "semop"), (66, "semctl"), (67, "shmdt"),
    (68, "msgget"), (69, "msgsnd"), (70, "msgrcv"), (71, "msgctl"), (95, "umask"),
    (96, "gettimeofday"), (97, "getrlimit"), (98, "getrusage"), (99, "sysinfo"), (100, "times"),
    (101, "ptrace"), (102, "getuid"), (103, "syslog"), (104, "getgid"), (105, "setuid"),
    (106, "setgid"), (107, "geteuid"), (108, "getegid"), (109, "setpgid"), (110, "getppid"),
    (111, "getpgrp"), (112, "setsid"), (113, "setreuid"), (114, "setregid"), (115, "getgroups"),
    (116, "setgroups"), (117, "setresuid"), (118, "getresuid"), (119, "setresgid"),
    (120, "getresgid"), (121, "getpgid"), (122, "setfsuid"), (123, "setfsgid"), (124, "getsid"),
    (125, "capget"), (126, "capset"), (127, "rt_sigpending"), (128, "rt_sigtimedwait"),
    (129, "rt_sigqueueinfo"), (130, "rt_sigsuspend"), (131, "sigaltstack"), (135, "personality"),
    (136, "ustat"), (139, "sysfs"), (140, "getpriority"), (141, "setpriority"),
    (142, "sched_setparam"), (143, "sched_getparam"), (144, "sched_setscheduler"),
    (145, "sched_getscheduler"), (146, "sched_get_priority_max"), (147, "sched_get_priority_min"),
    (148, "sched_rr_get_interval"), (149, "mlock"), (150, "munlock"), (151, "mlockall"),
    (152, "munlockall"), (153, "vhangup"), (154, "modify_ldt"), (156, "_sysctl"), (157, "prctl"),
    (158, "arch_prctl"), (159, "adjtimex"), (160, "setrlimit"), (162, "sync"),
    (164, "settimeofday"), (169, "reboot"), (170, "sethostname"), (171, "setdomainname"),
    (172, "iopl"), (173, "ioperm"), (174, "create_module"), (175, "init_module"),
    (176, "delete_module"), (177, "get_kernel_syms"), (178, "query_module"), (180, "nfsservctl"),
    (181, "getpmsg"), (182, "putpmsg"), (183, "afs_syscall"), (184, "tuxcall"), (185, "security"),
    (186, "gettid"), (200, "tkill"), (201, "time"), (202, "futex"), (203, "sched_setaffinity"),
    (204, "sched_getaffinity"), (205, "set_thread_area"), (206, "io_setup"), (207, "io_destroy"),
    (208, "io_getevents"), (210, "io_cancel"), (211, "get_thread_area"), (212, "lookup_dcookie"),
    (213, "epoll_create"), (214, "epoll_ctl_old"), (215, "epoll_wait_old"),
    (216, "remap_file_pages"), (218, "set_tid_address"), (219, "restart_syscall"),
    (220, "semtimedop"), (222, "timer_create"), (223, "timer_settime"), (224, "timer_gettime"),
    (225, "timer_getoverrun"), (226, "timer_delete"), (227, "clock_settime"),
    (228, "clock_gettime"), (229, "clock_getres"), (230, "clock_nanosleep"), (231, "exit_group"),
    (232, "epoll_wait"), (234, "tgkill"), (236, "vserver"), (237, "mbind"),
    (238, "set_mempolicy"), (239, "get_mempolicy"), (240, "mq_open"), (241, "mq_unlink"),
    (242, "mq_timedsend"), (243, "mq_timedreceive"), (244, "mq_notify"), (245, "mq_getsetattr"),
    (246, "kexec_load"), (247, "waitid"), (248, "add_key"), (249, "request_key"), (250, "keyctl"),
    (251, "ioprio_set"), (252, "ioprio_get"), (253, "inotify_init"), (255, "inotify_rm_watch"),
    (256, "migrate_pages"), (272, "unshare"), (273, "set_robust_list"), (274, "get_robust_list"),
    (279, "move_pages"), (281, "epoll_pwait"), (282, "signalfd"), (283, "timerfd_create"),
    (284, "eventfd"), (286, "timerfd_settime"), (287, "timerfd_gettime"), (288, "accept4"),
    (289, "signalfd4"), (290, "eventfd2"), (291, "epoll_create1"), (293, "pipe2"),
    (294, "inotify_init1"), (297, "rt_tgsigqueueinfo"), (298, "perf_event_open"),
    (299, "recvmmsg"), (300, "fanotify_init"), (302, "prlimit64"), (305, "clock_adjtime"),
    (309, "getcpu"), (310, "process_vm_readv"), (311, "process_vm_writev"),
    (314, "sched_setattr"), (315, "sched_getattr"), (317, "seccomp"), (318, "getrandom"),
    (319, "memfd_create"), (323, "userfaultfd"), (324, "membarrier"), (325, "mlock2"),
    (329, "pkey_mprotect"), (330, "pkey_alloc"), (331, "pkey_free"), (333, "io_pgetevents"),
    (334, "rseq"), (335, "uretprobe"), (424, "pidfd_send_signal"), (426, "io_uring_enter"),
    (427, "io_uring_register"), (430, "fsopen"), (431, "fsconfig"), (432, "fsmount"),
    (434, "pidfd_open"), (435, "clone3"), (438, "pidfd_getfd"), (440, "process_madvise"),
    (441, "epoll_pwait2"), (444, "landlock_create_ruleset"), (446, "landlock_restrict_self"),
    (447, "memfd_secret"), (448, "process_mrelease"), (449, "futex_waitv"),
    (450, "set_mempolicy_home_node"), (453, "map_shadow_stack"), (454, "futex_wake"),
    (455, "futex_wait"), (456, "futex_requeue"), (457, "statmount"), (458, "listmount"),
    (459, "lsm_get_self_attr"), (460, "lsm_set_self_attr"), (461, "lsm_list_modules"),
    (462, "mseal"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_and_each_name_is_there_once() {
        let numbers = ON_FILES.iter().map(|one| one.0).chain(OTHERS.iter().map(|one| one.0));
        let mut numbers: Vec<_> = numbers.collect();
        let names = ON_FILES.iter().map(|one| one.1).chain(OTHERS.iter().map(|one| one.1));
        let mut names: Vec<_> = names.collect();
        let all = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        names.sort_unstable();
        names.dedup();
        assert_eq!((numbers.len(), names.len()), (all, all));
        assert!(numbers.iter().all(|&number| usize::from(number) < NUMBERS));
    }

    #[test]
    fn calls_are_found_by_their_numbers() {
        let name = |number| call(number).map(|call| call.name);
        assert_eq!(
            [0, 202, 257, 500].map(name),
            [Some("read"), Some("futex"), Some("openat"), None]
        );
        let rename = on_files().find(|call| call.name == "renameat2").expect("it is there");
        assert_eq!((rename.number, rename.arguments), (316, &[At(0, 1), At(2, 3)][..]));
        assert_eq!(call(316), Some(rename));
    }
}
