//! Who uses the processors: this program, kernel threads, or other programs.
//!
//! Every process has a CPU-time clock that anyone may read and that is up to date even while the
//! process runs. Reading them all costs a fifth of a microsecond per process.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rustix::process::{Pid, getpid};

/// The processes that `fsprism densefs exec` starts for a command, and that end some time after it.
const SERVERS: [&str; 2] = ["densefs-server", "densefs-remover"];
/// The flag of a kernel thread in `/proc/PID/stat` (`PF_KTHREAD` of the kernel's `linux/sched.h`).
const KERNEL_THREAD: u64 = 0x0020_0000;
/// The device that a server of FUSE file systems holds open.
const FUSE: &str = "/dev/fuse";

/// Who a process belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// This program: the process itself and its descendants.
    Own,
    /// A FUSE server, which does a file system's work on behalf of its callers, or what starts one.
    Server,
    /// The kernel.
    Kernel,
    /// Anyone else.
    Other,
}

/// A process that was seen.
#[derive(Clone, Debug)]
struct KnownProcess {
    owner: Owner,
    name: String,
    /// CPU time at the last reading, in nanoseconds.
    used_ns: u64,
}

/// CPU time used by processes since some unspecified moment: only the difference of two readings is
/// meaningful.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessTimes {
    /// This program and its descendants.
    pub own_ns: u64,
    /// Servers of FUSE file systems.
    pub servers_ns: u64,
    /// Kernel threads; `None` if they are not visible, as in a container.
    pub kernel_ns: Option<u64>,
    /// Every other running program, by process ID.
    pub others_ns: BTreeMap<u32, u64>,
}

impl ProcessTimes {
    /// What each other program has used since `earlier`, by process ID. Programs that have exited
    /// since are missing.
    #[must_use]
    pub fn others_since(&self, earlier: &Self) -> BTreeMap<u32, u64> {
        let used = |(&pid, &now): (&u32, &u64)| {
            let then = earlier.others_ns.get(&pid).copied().unwrap_or(0);
            // If the value fell, the ID has been reused by another process.
            (pid, now.checked_sub(then).unwrap_or(now))
        };
        self.others_ns.iter().map(used).filter(|&(_, used_ns)| used_ns > 0).collect()
    }
}

/// Reads [`ProcessTimes`].
#[derive(Debug, Default)]
pub struct ProcessTimesReader {
    known: BTreeMap<u32, KnownProcess>,
    /// The time used by processes that have exited.
    ended: ProcessTimes,
    /// The most recently assigned ID when processes were last listed.
    newest: Option<u64>,
}

impl ProcessTimesReader {
    /// A reader that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The times now; empty if `/proc` cannot be listed.
    pub fn read(&mut self) -> ProcessTimes {
        self.take_in_new();
        let mut times =
            ProcessTimes { kernel_ns: None, others_ns: BTreeMap::new(), ..self.ended.clone() };
        let mut kernel_ns = 0;
        let mut ended = Vec::new();
        for (&id, known) in &mut self.known {
            match used_ns(id) {
                Some(used_ns) if used_ns >= known.used_ns => known.used_ns = used_ns,
                _ => {
                    ended.push(id);
                    // What it had used still counts: `forget` adds it to `self.ended`, except for
                    // other programs.
                }
            }
            match known.owner {
                Owner::Own => times.own_ns += known.used_ns,
                Owner::Server => times.servers_ns += known.used_ns,
                Owner::Kernel => kernel_ns += known.used_ns,
                Owner::Other => _ = times.others_ns.insert(id, known.used_ns),
            }
        }
        let sees_kernel = self.known.values().any(|known| known.owner == Owner::Kernel);
        kernel_ns += self.ended.kernel_ns.unwrap_or(0);
        times.kernel_ns = sees_kernel.then_some(kernel_ns);
        for id in ended {
            times.others_ns.remove(&id);
            self.forget(id);
        }
        times
    }

    /// The name of a process that was seen: the first 15 bytes, as in the kernel's `comm`.
    #[must_use]
    pub fn name(&self, id: u32) -> Option<&str> {
        self.known.get(&id).map(|known| &*known.name)
    }

    /// Checks again which programs serve FUSE file systems. Only root can see this for programs of
    /// other users.
    pub fn look_for_servers(&mut self) {
        self.take_in_new();
        for (id, known) in &mut self.known {
            if known.owner == Owner::Other && is_server(*id) {
                known.owner = Owner::Server;
            }
        }
    }

    fn forget(&mut self, id: u32) {
        let Some(KnownProcess { owner, used_ns, .. }) = self.known.remove(&id) else { return };
        match owner {
            Owner::Own => self.ended.own_ns += used_ns,
            Owner::Server => self.ended.servers_ns += used_ns,
            Owner::Kernel => *self.ended.kernel_ns.get_or_insert(0) += used_ns,
            Owner::Other => {}
        }
        // Its ID may have been reused.
        self.newest = None;
    }

    /// Lists processes if there can be new ones since the last time.
    fn take_in_new(&mut self) {
        let newest = newest_id();
        if newest.is_some() && newest == self.newest {
            return;
        }
        let Ok(entries) = fs::read_dir("/proc") else { return };
        let id = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
        let mut ids: Vec<u32> = entries.flatten().filter_map(id).collect();
        // So that parents usually come before their children.
        ids.sort_unstable();
        for id in ids {
            if !self.known.contains_key(&id)
                && let Some(known) = self.look_at(id)
            {
                self.known.insert(id, known);
            }
        }
        self.newest = newest;
    }

    fn look_at(&self, id: u32) -> Option<KnownProcess> {
        let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let Stat { name, parent, flags } = stat(&text)?;
        let is_own = |id: u32| self.known.get(&id).is_some_and(|known| known.owner == Owner::Own);
        let myself = getpid().as_raw_nonzero().get().cast_unsigned();
        let owner = if flags & KERNEL_THREAD != 0 {
            Owner::Kernel
        } else if id == myself || parent == myself || is_own(parent) {
            Owner::Own
        } else if SERVERS.contains(&name) {
            Owner::Server
        } else {
            Owner::Other
        };
        Some(KnownProcess { owner, name: name.to_owned(), used_ns: 0 })
    }
}

/// The most recently assigned process or thread ID, the last field of `/proc/loadavg`.
fn newest_id() -> Option<u64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().last()?.parse().ok()
}

/// The CPU time that a process has used; `None` if it has exited.
fn used_ns(id: u32) -> Option<u64> {
    let id = Pid::from_raw(i32::try_from(id).ok()?)?;
    let used = system_calls::processor_time_of(id).ok()?;
    u64::try_from(used.as_nanos()).ok()
}

/// Whether it holds the FUSE device open.
fn is_server(id: u32) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{id}/fd")) else { return false };
    let leads_to = |entry: fs::DirEntry| fs::read_link(entry.path()).ok();
    open.flatten().filter_map(leads_to).any(|path| path == Path::new(FUSE))
}

/// The fields of `/proc/PID/stat` that are used.
#[derive(Debug, PartialEq, Eq)]
struct Stat<'a> {
    name: &'a str,
    parent: u32,
    flags: u64,
}

/// `pid (name) state ppid pgrp session tty_nr tpgid flags ...`, where the name may contain
/// anything.
fn stat(text: &str) -> Option<Stat<'_>> {
    let (start, rest) = text.rsplit_once(") ")?;
    let (_, name) = start.split_once(" (")?;
    let mut columns = rest.split_whitespace().skip(1);
    let parent = columns.next()?.parse().ok()?;
    let flags = columns.nth(4)?.parse().ok()?;
    Some(Stat { name, parent, flags })
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn a_name_may_hold_what_separates_names() {
        let text = "17 (a) (b c) S 3 17 17 0 -1 2129984 0 0";
        assert_eq!(stat(text), Some(Stat { name: "a) (b c", parent: 3, flags: 2_129_984 }));
        assert_eq!(stat("17 (sh) S 3 17"), None);
        assert_eq!(stat(""), None);
    }

    /// A shell that is killed when dropped.
    struct Shell(Child);

    impl Shell {
        fn new(script: &str) -> Self {
            let shell =
                Command::new("setsid").args(["sh", "-c", script]).stdout(Stdio::piped()).spawn();
            Self(shell.expect("there is a shell"))
        }

        /// The next line that it prints.
        fn line(&mut self) -> String {
            let mut line = String::new();
            let out = self.0.stdout.as_mut().expect("it is piped");
            BufReader::with_capacity(1, out).read_line(&mut line).expect("it prints");
            line.trim().to_owned()
        }
    }

    impl Drop for Shell {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Kills the process with this ID when dropped.
    struct Orphan(u32);

    impl Drop for Orphan {
        fn drop(&mut self) {
            let id = Pid::from_raw(self.0.cast_signed()).expect("it is no zero");
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
    }

    #[test]
    fn programs_of_others_are_told_from_own_ones_and_the_kernels() {
        let mut reader = ProcessTimesReader::new();
        // Its parent exits at once, so that it is not a descendant of this process.
        let mut parent = Shell::new("sh -c 'while :; do :; done' >&2 & echo $!");
        let orphan = Orphan(parent.line().parse().expect("a process id"));
        let _ = parent.0.wait();
        let child = Shell::new("while :; do :; done");
        let before = reader.read();
        let passed = loop {
            let now = reader.read();
            let theirs = now.others_since(&before).get(&orphan.0).copied().unwrap_or(0);
            if theirs >= 20_000_000 && now.own_ns >= before.own_ns + 40_000_000 {
                break now;
            }
            std::thread::yield_now();
        };
        assert_eq!(reader.name(orphan.0), Some("sh"));
        assert!(!passed.others_ns.contains_key(&child.0.id()), "a child is an own one");
        drop(child);
        let after = reader.read();
        assert!(after.own_ns >= passed.own_ns, "what a child had used stays used");
        if rustix::process::geteuid().is_root() && Path::new("/proc/2/stat").exists() {
            assert!(after.kernel_ns >= before.kernel_ns && before.kernel_ns > Some(0));
        }
    }

    #[test]
    fn what_ended_is_missing_and_a_reused_id_is_new() {
        let at = |pairs: &[(u32, u64)]| ProcessTimes {
            others_ns: pairs.iter().copied().collect(),
            ..ProcessTimes::default()
        };
        let earlier = at(&[(1, 5), (2, 50), (3, 7)]);
        let later = at(&[(1, 9), (2, 20), (4, 3), (5, 0)]);
        let expected = BTreeMap::from([(1, 4), (2, 20), (4, 3)]);
        assert_eq!(later.others_since(&earlier), expected);
    }
}
