//! The guardian: a small process that removes what the kernel does not when fsprism dies.
//!
//! Mounts, loop devices and images vanish with the process that made them: they live in its private
//! mount namespace, are cleared by their last user, or have no name. Cgroups, the mount area,
//! arenas and work directories have names in the host's file systems, and somebody must remove
//! those after any death, including SIGKILL. The guardian is told about each of them through a pipe
//! *before* it is made; end of file on the pipe means that fsprism has died. Messages are written
//! whole (they are shorter than `PIPE_BUF`), and outlive their writer in the pipe.
//!
//! A process that delays a device's requests (`delay=`) ends by itself when nothing uses the device
//! any more, which the guardian waits for. If it takes too long, it is killed: the kernel then
//! fails what is still asked for, so nothing can hang on it. That includes fsprism itself, whose
//! death closes the device, which writes what is dirty, before it closes the pipe.
//!
//! It is forked while fsprism has one thread, and before the private mount namespace is made so
//! that it does not keep that alive. It has its own session and blocks every signal, so that
//! neither the terminal nor a kill of fsprism's process group reaches it. Its only descriptors are
//! its pipes, fsprism's pidfd, and the directories that contain work directories.

pub(crate) mod owner;
pub(crate) mod work_directory;

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, WaitId, WaitIdOptions, WaitOptions, getpid, pidfd_open, waitid, waitpid,
};

use crate::guardian::owner::{Leftover, Owner};
use crate::read_ahead;
use crate::removal;

/// Something that is still busy is retried this often, with this pause: ten seconds in all.
const ATTEMPTS: u32 = 400;
const PAUSE: Duration = Duration::from_millis(25);
/// How long a dying process may wait for its servers before they are killed.
const SERVERS_SECONDS: i64 = 5;
/// How long to wait for a dying process to release its mounts before removing its things.
const DEATH_SECONDS: i64 = 30;

/// What a registered path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ResourceKind {
    /// The mount area, which is an empty directory on the host.
    MountArea = b'd',
    /// A cgroup.
    Cgroup = b'c',
    /// A work directory, with all its content.
    WorkDirectory = b'w',
    /// An image that briefly has a name.
    Image = b'f',
    /// The file of an arena.
    Arena = b'a',
    /// The sysfs directory of a loop device's binding: not to be removed, only waited for.
    LoopBinding = b'l',
    /// The number and the start of a process that delays a device's requests: it ends by itself.
    Server = b's',
    /// A symbolic link that names a device's read-ahead setting, our value and the former one.
    ReadAhead = b'r',
}

impl ResourceKind {
    fn from_byte(byte: u8) -> Option<Self> {
        let kinds = [
            Self::MountArea,
            Self::Cgroup,
            Self::WorkDirectory,
            Self::Image,
            Self::Arena,
            Self::LoopBinding,
            Self::Server,
            Self::ReadAhead,
        ];
        kinds.into_iter().find(|&kind| kind as u8 == byte)
    }
}

const ADD: u8 = b'+';
const REMOVE: u8 = b'-';
const QUIT: u8 = b'q';

/// Our end of the guardian.
#[derive(Debug)]
pub(crate) struct Guardian {
    pid: Pid,
    pipe: Mutex<Option<File>>,
}

impl Guardian {
    /// Forks the guardian. The caller must make sure that this process has only one thread.
    pub(crate) fn start(owner: Owner) -> io::Result<Self> {
        let parent = pidfd_open(getpid(), PidfdFlags::empty())?;
        let (orders, our_end) = pipe_with(PipeFlags::CLOEXEC)?;
        let (ready, says_ready) = pipe_with(PipeFlags::CLOEXEC)?;
        let child = || {
            settle(&[orders.as_fd(), says_ready.as_fd(), parent.as_fd()])
                .and_then(|()| Ok(rustix::io::write(&says_ready, b"r")?))
                .map_or(102, |_| watch(owner, &orders, &parent))
        };
        let pid = system_calls::fork_blocking_signals(child)?;
        drop(says_ready);
        // Until it has its own session, a signal to our process group would reach it.
        let mut byte = [0];
        if File::from(ready).read(&mut byte)? == 0 {
            return Err(io::Error::other("the guardian process died at the start"));
        }
        Ok(Self { pid, pipe: Mutex::new(Some(File::from(our_end))) })
    }

    /// The guardian's process.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether it is still there to clean up.
    pub(crate) fn is_alive(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(self.pid), options), Ok(None))
    }

    /// Announces something that is about to be made.
    pub(crate) fn add(&self, kind: ResourceKind, path: &Path) -> io::Result<()> {
        self.send(ADD, kind, path)
    }

    /// Reports that something is gone.
    pub(crate) fn remove(&self, kind: ResourceKind, path: &Path) -> io::Result<()> {
        self.send(REMOVE, kind, path)
    }

    /// Lets the guardian remove what is left, and waits for it. A second call does nothing.
    ///
    /// # Errors
    /// If something could not be removed.
    pub(crate) fn finish(&self) -> io::Result<()> {
        let pipe = self.pipe.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let Some(mut pipe) = pipe else { return Ok(()) };
        // If the guardian is dead, waiting for it reports that.
        let _told = pipe.write_all(&[QUIT, 0, 0, 0]);
        drop(pipe);
        let status = waitpid(Some(self.pid), WaitOptions::empty())?;
        match status.and_then(|(_, status)| status.exit_status()) {
            Some(0) => Ok(()),
            _ => Err(io::Error::other("the guardian process could not remove everything")),
        }
    }

    fn send(&self, order: u8, kind: ResourceKind, path: &Path) -> io::Result<()> {
        let path = path.as_os_str().as_bytes();
        let length = u16::try_from(path.len()).map_err(|_| io::ErrorKind::InvalidFilename)?;
        let mut message = vec![order, kind as u8];
        message.extend(length.to_le_bytes());
        message.extend(path);
        match &mut *self.pipe.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(pipe) => pipe.write_all(&message),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let _nobody_to_tell = self.finish();
    }
}

/// Releases everything of fsprism's that the guardian does not need.
fn settle(kept: &[std::os::fd::BorrowedFd<'_>]) -> io::Result<()> {
    rustix::process::setsid()?;
    rustix::thread::set_name(c"fsprism-guard")?;
    rustix::process::chdir("/")?;
    let null = File::options().read(true).write(true).open("/dev/null")?;
    for standard in 0..3 {
        system_calls::duplicate_onto(&null, standard)?;
    }
    system_calls::close_all_but(kept);
    // `null` may just have been closed; it must not be closed again.
    std::mem::forget(null);
    Ok(())
}

/// Follows orders until fsprism quits or dies, then removes what is left. Returns the exit status.
fn watch(owner: Owner, orders: &OwnedFd, parent: &OwnedFd) -> i32 {
    let mut state = GuardianState { owner, resources: Vec::new(), bytes: Vec::new() };
    let mut buffer = [0; 4096];
    let mut dying_s = 0;
    let quit = loop {
        if !has_orders(orders) {
            dying_s = if owner.is_dying() { dying_s + 1 } else { 0 };
            if dying_s == SERVERS_SECONDS {
                state.kill_servers();
            }
            continue;
        }
        match rustix::io::read(orders, &mut buffer) {
            Ok(0) => break false,
            Ok(length) => {
                state.bytes.extend_from_slice(&buffer[..length]);
                if state.follow_orders() {
                    break true;
                }
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => break false,
        }
    };
    if !quit {
        // Its mounts and cgroup membership go after its descriptors, so wait until it is fully
        // dead. It may wait for a server meanwhile, to write what is dirty.
        let ends_within = |seconds| {
            let timeout = Timespec { tv_sec: seconds, tv_nsec: 0 };
            let ended = poll(&mut [PollFd::new(parent, PollFlags::IN)], Some(&timeout));
            ended.is_ok_and(|ended| ended > 0)
        };
        if !ends_within(SERVERS_SECONDS) {
            state.kill_servers();
            let _in_any_case = ends_within(DEATH_SECONDS);
        }
    }
    i32::from(!state.remove_all())
}

/// Whether there is something to read, or the end, within a second.
fn has_orders(orders: &OwnedFd) -> bool {
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    match poll(&mut [PollFd::new(orders, PollFlags::IN)], Some(&second)) {
        Ok(ready) => ready > 0,
        // Reading says what is wrong.
        Err(error) => error != rustix::io::Errno::INTR,
    }
}

/// The guardian's state.
struct GuardianState {
    owner: Owner,
    resources: Vec<RegisteredResource>,
    bytes: Vec<u8>,
}

/// Something to be removed.
struct RegisteredResource {
    kind: ResourceKind,
    path: PathBuf,
    /// The directory that contains a work directory, held open from registration on: by the time of
    /// removal, its owner may have put something else at the path.
    parent: Option<(OwnedFd, CString)>,
}

impl RegisteredResource {
    fn new(kind: ResourceKind, path: PathBuf) -> Self {
        let is_others = kind == ResourceKind::WorkDirectory;
        let parent = is_others.then(|| removal::parent_of(&path).ok()).flatten();
        Self { kind, path, parent }
    }

    fn is_removed(&self) -> bool {
        let path = &self.path;
        match self.kind {
            ResourceKind::MountArea => removal::remove_empty(path).is_ok(),
            ResourceKind::Cgroup => removal::remove_cgroup(path).is_ok(),
            ResourceKind::WorkDirectory => match &self.parent {
                Some((parent, name)) => work_directory::remove(parent, name).is_ok(),
                None => match removal::parent_of(path) {
                    Ok((parent, name)) => work_directory::remove(parent, &name).is_ok(),
                    // If the parent directory does not exist, nothing was made.
                    Err(error) => error.kind() == io::ErrorKind::NotFound,
                },
            },
            ResourceKind::Image | ResourceKind::Arena => removal::remove_file(path).is_ok(),
            ResourceKind::LoopBinding => !path.exists(),
            ResourceKind::Server => Owner::from_path(path).is_none_or(Owner::has_ended),
            ResourceKind::ReadAhead => read_ahead::put_back_at(path).is_ok(),
        }
    }
}

impl GuardianState {
    /// Takes every complete message from `bytes`; true if one of them says to quit.
    fn follow_orders(&mut self) -> bool {
        while let [order, kind, low, high, ..] = self.bytes[..] {
            let end = 4 + usize::from(u16::from_le_bytes([low, high]));
            if self.bytes.len() < end {
                return false;
            }
            let path = PathBuf::from(std::ffi::OsStr::from_bytes(&self.bytes[4..end]));
            self.bytes.drain(..end);
            match (order, ResourceKind::from_byte(kind)) {
                (QUIT, _) => return true,
                (ADD, Some(kind)) if self.may_touch(kind, &path) => {
                    self.resources.push(RegisteredResource::new(kind, path));
                }
                (REMOVE, Some(kind)) => {
                    self.resources
                        .retain(|resource| resource.kind != kind || resource.path != path);
                }
                _ => {}
            }
        }
        false
    }

    /// Whether the name in the path says that our process made it.
    fn may_touch(&self, kind: ResourceKind, path: &Path) -> bool {
        let leftover = match kind {
            ResourceKind::MountArea => Leftover::MountArea,
            ResourceKind::Cgroup => Leftover::Cgroup,
            ResourceKind::WorkDirectory => Leftover::WorkDirectory,
            ResourceKind::Image => Leftover::Image,
            ResourceKind::Arena => Leftover::Arena,
            ResourceKind::LoopBinding => return true,
            ResourceKind::Server => return Owner::from_path(path).is_some(),
            ResourceKind::ReadAhead => Leftover::Setting,
        };
        let name = path.file_name().and_then(|name| name.to_str());
        name.and_then(|name| leftover.owner_of(name)) == Some(self.owner)
    }

    /// Waits for servers, and kills those that do not end. This comes before everything else: to
    /// remove the mount area may be to unmount what is in it, which waits for them without end.
    fn end_servers(&self) {
        let is_there =
            |one: &RegisteredResource| one.kind == ResourceKind::Server && !one.is_removed();
        for _ in 0..ATTEMPTS / 2 {
            if !self.resources.iter().any(is_there) {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        self.kill_servers();
    }

    /// Ends the servers that have not ended by themselves.
    fn kill_servers(&self) {
        let servers = self.resources.iter().filter(|one| one.kind == ResourceKind::Server);
        servers.filter_map(|server| Owner::from_path(&server.path)).for_each(Owner::kill);
    }

    /// Removes everything, most recent first; true if nothing is left.
    fn remove_all(&mut self) -> bool {
        self.resources.reverse();
        self.end_servers();
        for _ in 0..ATTEMPTS {
            self.resources.retain(|resource| !resource.is_removed());
            if self.resources.is_empty() {
                return true;
            }
            std::thread::sleep(PAUSE);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> GuardianState {
        let owner = Owner::this().expect("/proc is mounted");
        GuardianState { owner, resources: Vec::new(), bytes: Vec::new() }
    }

    fn resources(state: &GuardianState) -> Vec<(ResourceKind, PathBuf)> {
        state.resources.iter().map(|resource| (resource.kind, resource.path.clone())).collect()
    }

    fn message(order: u8, kind: ResourceKind, path: &str) -> Vec<u8> {
        let length = u16::try_from(path.len()).expect("short").to_le_bytes();
        [&[order, kind as u8, length[0], length[1]], path.as_bytes()].concat()
    }

    #[test]
    fn messages_may_arrive_in_pieces() {
        let mut state = state();
        let path = format!("/x/{}-1", state.owner);
        let bytes = message(ADD, ResourceKind::Cgroup, &path);
        state.bytes.extend(&bytes[..7]);
        assert!(!state.follow_orders() && state.resources.is_empty());
        state.bytes.extend(&bytes[7..]);
        state.bytes.extend([QUIT, 0, 0, 0]);
        assert!(state.follow_orders());
        assert_eq!(resources(&state), [(ResourceKind::Cgroup, PathBuf::from(&path))]);
        state.bytes.extend(message(REMOVE, ResourceKind::Cgroup, &path));
        state.follow_orders();
        assert!(state.resources.is_empty());
    }

    #[test]
    fn only_names_of_its_own_process_are_taken() {
        let mut state = state();
        let undotted = format!("/x/{}-1", state.owner);
        let longer = format!("/x/.{}-1-results", state.owner);
        for path in ["/home", "/x/.fsprism-1-2-3", "/", &undotted, &longer] {
            state.bytes.extend(message(ADD, ResourceKind::WorkDirectory, path));
        }
        for path in ["/run/fsprism-1-2-3.setting", "/sys/class/bdi/7:0/read_ahead_kb/128"] {
            state.bytes.extend(message(ADD, ResourceKind::ReadAhead, path));
        }
        state.follow_orders();
        assert!(state.resources.is_empty());
    }
}
