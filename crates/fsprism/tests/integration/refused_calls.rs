//! System calls that a kernel refuses, one at a time, as the filters of containers do: what is
//! still measured is right, what is not is reported in a sentence, and nothing is left behind.

use crate::place::{Place, names_in};
use crate::poor::under;

/// The system calls, with their numbers, of runs and of the programs that they start, as counted by
/// strace, except those that start and end a process.
const CALLS: [(&str, u32); 126] = [
    ("read", 0),
    ("write", 1),
    ("open", 2),
    ("close", 3),
    ("fstat", 5),
    ("poll", 7),
    ("lseek", 8),
    ("mmap", 9),
    ("mprotect", 10),
    ("munmap", 11),
    ("brk", 12),
    ("rt_sigaction", 13),
    ("rt_sigprocmask", 14),
    ("ioctl", 16),
    ("pread64", 17),
    ("pwrite64", 18),
    ("access", 21),
    ("sched_yield", 24),
    ("mremap", 25),
    ("mincore", 27),
    ("madvise", 28),
    ("dup", 32),
    ("dup2", 33),
    ("nanosleep", 35),
    ("getpid", 39),
    ("sendfile", 40),
    ("sendto", 44),
    ("recvfrom", 45),
    ("sendmsg", 46),
    ("recvmsg", 47),
    ("getpeername", 52),
    ("socketpair", 53),
    ("clone", 56),
    ("wait4", 61),
    ("kill", 62),
    ("uname", 63),
    ("fcntl", 72),
    ("flock", 73),
    ("fsync", 74),
    ("fdatasync", 75),
    ("ftruncate", 77),
    ("getcwd", 79),
    ("chdir", 80),
    ("fchdir", 81),
    ("rename", 82),
    ("mkdir", 83),
    ("rmdir", 84),
    ("link", 86),
    ("unlink", 87),
    ("symlink", 88),
    ("readlink", 89),
    ("chmod", 90),
    ("fchmod", 91),
    ("chown", 92),
    ("fchown", 93),
    ("gettimeofday", 96),
    ("getrusage", 98),
    ("sysinfo", 99),
    ("times", 100),
    ("getuid", 102),
    ("getgid", 104),
    ("geteuid", 107),
    ("getegid", 108),
    ("getppid", 110),
    ("setsid", 112),
    ("setreuid", 113),
    ("setregid", 114),
    ("getpgid", 121),
    ("sigaltstack", 131),
    ("statfs", 137),
    ("fstatfs", 138),
    ("setpriority", 141),
    ("mlock", 149),
    ("prctl", 157),
    ("arch_prctl", 158),
    ("mount", 165),
    ("umount2", 166),
    ("gettid", 186),
    ("getxattr", 191),
    ("fgetxattr", 193),
    ("futex", 202),
    ("sched_setaffinity", 203),
    ("sched_getaffinity", 204),
    ("getdents64", 217),
    ("set_tid_address", 218),
    ("fadvise64", 221),
    ("clock_gettime", 228),
    ("clock_getres", 229),
    ("clock_nanosleep", 230),
    ("tgkill", 234),
    ("waitid", 247),
    ("ioprio_set", 251),
    ("openat", 257),
    ("mkdirat", 258),
    ("mknodat", 259),
    ("fchownat", 260),
    ("newfstatat", 262),
    ("unlinkat", 263),
    ("renameat", 264),
    ("linkat", 265),
    ("readlinkat", 267),
    ("ppoll", 271),
    ("unshare", 272),
    ("set_robust_list", 273),
    ("utimensat", 280),
    ("fallocate", 285),
    ("pipe2", 293),
    ("perf_event_open", 298),
    ("prlimit64", 302),
    ("syncfs", 306),
    ("process_vm_readv", 310),
    ("getrandom", 318),
    ("memfd_create", 319),
    ("bpf", 321),
    ("membarrier", 324),
    ("copy_file_range", 326),
    ("statx", 332),
    ("rseq", 334),
    ("pidfd_send_signal", 424),
    ("io_uring_setup", 425),
    ("pidfd_open", 434),
    ("clone3", 435),
    ("close_range", 436),
    ("openat2", 437),
    ("faccessat2", 439),
    ("cachestat", 451),
];
/// What filters answer with: EPERM, or ENOSYS for calls that are newer than the filter or the
/// kernel.
const PERM: u32 = 1;
const NOSYS: u32 = 38;
const YOUNG: [&str; 13] = [
    "cachestat",
    "clone3",
    "close_range",
    "copy_file_range",
    "faccessat2",
    "io_uring_setup",
    "membarrier",
    "memfd_create",
    "openat2",
    "pidfd_open",
    "pidfd_send_signal",
    "rseq",
    "statx",
];
/// Calls that are only made for sets of many files, which take long to make.
const OF_NAMES: [&str; 4] = ["mkdirat", "mknodat", "renameat", "utimensat"];
/// If one of these is refused, no program can start or report anything: the loader or the language
/// runtime ends it.
const SPEECHLESS: [&str; 12] = [
    "arch_prctl",
    "close",
    "futex",
    "mmap",
    "mprotect",
    "newfstatat",
    "openat",
    "poll",
    "pread64",
    "read",
    "rt_sigaction",
    "write",
];

#[test]
fn whichever_call_is_refused_nothing_stays_and_what_is_wrong_is_said() {
    let test = "calls that are refused one at a time";
    let Some(_) = Place::as_root(test) else { return };
    let Some(_) = under(test, "425 0 1") else { return };
    let errors = |name| if YOUNG.contains(&name) { &[PERM, NOSYS][..] } else { &[PERM] };
    let mut faults = Vec::new();
    for (name, number) in CALLS {
        let each = errors(name).iter();
        faults.extend(each.filter_map(|&error| refused(test, name, number, error)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is wrong with a run for which a call is refused, if anything.
fn refused(test: &str, name: &str, number: u32, error: u32) -> Option<String> {
    let place = Place::new();
    place.make("data");
    let command = under(test, &format!("{number} 0 {error}"))?;
    let what = match OF_NAMES.contains(&name) {
        true => "survey/metadata --benchmark stat-100 --size 1m",
        false => "survey/in-memory --benchmark sequential-read-4k-warm --size 4m",
    };
    let arguments = format!(
        "run {what} data memory=tmpfs:size=64m --blocks 1 --budget 1s --scratch scratch --out run"
    );
    let (outcome, mut left) = place.finish_with_rest(place.here(command, &arguments));
    let said = &outcome.stderr;
    let mut wrong = Vec::new();
    match outcome.code {
        Some(0) if !place.path("run/report.html").exists() => wrong.push("no page".to_owned()),
        Some(0) => {}
        _ if SPEECHLESS.contains(&name) => {}
        Some(1 | 2) if said.lines().any(|line| line.starts_with("fsprism: ")) => {}
        // What could not be measured must each be reported with the call.
        Some(1) if said.lines().any(|line| line.starts_with("given up: ")) => {
            let all = said.lines().filter(|line| line.starts_with("given up: "));
            if !all.into_iter().all(|line| line.contains("filter of system calls")) {
                wrong.push("no advice".to_owned());
            }
        }
        _ => wrong.push("no sentence".to_owned()),
    }
    if said.contains("panicked") {
        wrong.push("a panic".to_owned());
    }
    left.extend(names_in(&place.path("data")));
    if !left.is_empty() {
        wrong.push(format!("{left:?} stay"));
    }
    let last = said.lines().last().unwrap_or_default();
    let wrong = wrong.join(", ");
    (!wrong.is_empty()).then(|| format!("{name}, error {error}: {wrong}: {last}"))
}
