//! Why io_uring cannot be used here, as precisely as can be determined.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// Why io_uring cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UringRefusal {
    /// ENOSYS.
    #[error(
        "this kernel has no io_uring (it came with Linux 5.1 and can be left out of a build), or a \
         seccomp filter hides it; use another I/O path"
    )]
    Missing,
    /// EPERM, and the sysctl that turns io_uring off is set.
    #[error(
        "io_uring is turned off here: the sysctl kernel.io_uring_disabled is {value}; set it to 0 \
         (`sysctl kernel.io_uring_disabled=0`){}",
        if *.value == 1 { ", or run as root or as a member of kernel.io_uring_group" } else { "" }
    )]
    SwitchedOff {
        /// 1: off except for privileged processes and one group; 2: off for everyone.
        value: u8,
    },
    /// EPERM or EACCES in a process with a seccomp filter, as in containers.
    #[error(
        "a seccomp filter denies this process io_uring, as default container profiles do; allow \
         io_uring_setup, io_uring_enter and io_uring_register, or run without the filter"
    )]
    Filtered,
    /// EPERM or EACCES for another reason.
    #[error(
        "the kernel denies this process io_uring ({0}), although neither the sysctl \
         kernel.io_uring_disabled nor a seccomp filter does; check the security module's policy"
    )]
    Forbidden(Errno),
    /// EINVAL for something that all our rings need.
    #[error("this kernel's io_uring is too old: rings that are enabled later need Linux 5.10")]
    TooOld,
    /// ENOMEM, and locked memory is limited.
    #[error(
        "io_uring cannot lock its buffers: they need {needed_bytes} bytes, but all rings of this \
         user together may lock {limit_bytes}; raise the limit (`ulimit -l`, RLIMIT_MEMLOCK), or \
         use a smaller queue depth or request"
    )]
    LockedMemory {
        /// The size of one thread's buffers.
        needed_bytes: u64,
        /// The limit in force.
        limit_bytes: u64,
    },
    /// ENOMEM for another reason.
    #[error(
        "not enough memory for io_uring's {needed_bytes} bytes of buffers; use a smaller queue \
         depth or request"
    )]
    NoMemory {
        /// The size of one thread's buffers.
        needed_bytes: u64,
    },
    /// Any other error of the kernel.
    #[error("{call}: {errno}")]
    System {
        /// The call that failed.
        call: &'static str,
        /// The kernel's error.
        errno: Errno,
    },
}

impl UringRefusal {
    /// Why `call` failed for a ring with `needed_bytes` of buffers.
    pub(crate) fn from_errno(call: &'static str, errno: Errno, needed_bytes: u64) -> Self {
        match errno {
            Errno::NOSYS => Self::Missing,
            Errno::PERM | Errno::ACCESS => {
                let sysctl = fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
                let status = fs::read_to_string("/proc/self/status");
                Self::forbidden(errno, sysctl.as_deref().ok(), status.as_deref().ok())
            }
            Errno::NOMEM => match getrlimit(Resource::Memlock).current {
                Some(limit_bytes) => Self::LockedMemory { needed_bytes, limit_bytes },
                None => Self::NoMemory { needed_bytes },
            },
            Errno::INVAL if call == "io_uring_setup" => Self::TooOld,
            _ => Self::System { call, errno },
        }
    }

    /// Finds out what denies it, from the sysctl and from the process's `/proc/self/status`.
    fn forbidden(errno: Errno, sysctl: Option<&str>, status: Option<&str>) -> Self {
        match sysctl.and_then(|text| text.trim().parse().ok()) {
            Some(value) if value > 0 => return Self::SwitchedOff { value },
            _ => {}
        }
        // 2 is SECCOMP_MODE_FILTER (linux/seccomp.h).
        let is_filtered = status
            .and_then(|text| text.lines().find_map(|line| line.strip_prefix("Seccomp:")))
            .is_some_and(|mode| mode.trim() == "2");
        if is_filtered { Self::Filtered } else { Self::Forbidden(errno) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_forbids_it_is_named() {
        let filtered = Some("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n");
        let free = Some("Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n");
        let of = |sysctl, status| UringRefusal::forbidden(Errno::PERM, sysctl, status);
        let root = of(Some("1\n"), filtered);
        assert_eq!(root, UringRefusal::SwitchedOff { value: 1 });
        assert!(root.to_string().contains("kernel.io_uring_group"), "{root}");
        let all = of(Some("2\n"), free);
        assert_eq!(all, UringRefusal::SwitchedOff { value: 2 });
        assert!(all.to_string().contains("sysctl kernel.io_uring_disabled=0"), "{all}");
        assert!(!all.to_string().contains("kernel.io_uring_group"), "{all}");
        for sysctl in [Some("0\n"), None] {
            assert_eq!(of(sysctl, filtered), UringRefusal::Filtered);
            assert_eq!(of(sysctl, free), UringRefusal::Forbidden(Errno::PERM));
            assert_eq!(of(sysctl, None), UringRefusal::Forbidden(Errno::PERM));
        }
    }

    #[test]
    fn each_answer_of_the_kernel_has_its_reason() {
        let of = |call, errno| UringRefusal::from_errno(call, errno, 4096);
        assert_eq!(of("io_uring_setup", Errno::NOSYS), UringRefusal::Missing);
        assert_eq!(of("io_uring_setup", Errno::INVAL), UringRefusal::TooOld);
        let (call, errno) = ("io_uring_register", Errno::INVAL);
        assert_eq!(of(call, errno), UringRefusal::System { call, errno });
        assert!(matches!(
            of(call, Errno::NOMEM),
            UringRefusal::LockedMemory { needed_bytes: 4096, .. }
                | UringRefusal::NoMemory { needed_bytes: 4096 }
        ));
    }
}
