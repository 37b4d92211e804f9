//! The file system as programs use it.

mod raw;

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use densefs::check::{Checked, Problem, Report};
use densefs::modes::{Caller, Mode};
use densefs::{Errno, Follow, LastName, Member, Node, is_only_name};

use crate::attachment::{Attachment, ProcessSeams};
use crate::credentials::Credentials;
use crate::file::ArenaError;
use crate::numbers::number_of_nothing;
use crate::users::{Role, is_unused_soon};
use crate::{fork, thread_slot};

/// The core, as used by this thread.
pub(crate) type Core<'m> = &'m Member<'static, ProcessSeams>;

/// Where relative paths start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The process' working directory in this file system.
    Working,
    /// An open directory.
    Descriptor(u32),
}

impl Base {
    /// The directory where a path starts.
    #[inline(always)]
    pub(crate) fn node(self, member: Core<'_>, path: &[u8]) -> Result<Node, Errno> {
        if path.first() == Some(&b'/') { member.root() } else { self.start(member) }
    }

    /// The last name of a path that is a single name; none for any other path.
    #[inline(always)]
    pub(crate) fn only_name<'p>(
        self,
        member: Core<'_>,
        path: &'p [u8],
    ) -> Result<Option<LastName<'p>>, Errno> {
        if !is_only_name(path) {
            return Ok(None);
        }
        Ok(Some(LastName { directory: self.start(member)?, name: path, is_directory: false }))
    }

    /// Walks to the directory of a path's last name.
    #[inline(never)]
    pub(crate) fn find_last<'p>(
        self,
        member: Core<'_>,
        caller: &Caller<'_>,
        path: &'p [u8],
        last: &mut LastName<'p>,
    ) -> Result<(), Errno> {
        member.walk_to_last(caller, &self.node(member, path)?, path, last)
    }

    /// The directory where a relative path starts.
    #[inline(always)]
    fn start(self, member: Core<'_>) -> Result<Node, Errno> {
        match self {
            Self::Working => member.working_directory(),
            Self::Descriptor(descriptor) => member.node(descriptor),
        }
    }

    /// Checks that the caller may look for the last name of a path in its directory: the first
    /// thing that Linux checks, before the other path of a call, and before the name itself. For
    /// calls that have failed, which leave no evidence of what they found.
    ///
    /// # Errors
    /// [`Errno::NOTDIR`], [`Errno::ACCES`], or why the directory is not there; for a name that is
    /// too long, also [`Errno::NOENT`] if it has been removed.
    #[cold]
    #[inline(never)]
    pub(crate) fn check_search_of_last(
        self,
        member: Core<'_>,
        caller: &Caller<'_>,
        path: &[u8],
    ) -> Result<(), Errno> {
        member.retry(|| {
            let mut last = LastName::unknown();
            self.find_last(member, caller, path, &mut last)?;
            member.check_search_of_last(caller, &last)
        })
    }
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name, never `.` or `..`.
    pub name: Vec<u8>,
    /// Its inode number.
    pub ino: u64,
    /// Its inode's type, as in `st_mode`.
    pub type_bits: u32,
    /// Where a listing continues after it.
    pub next: u64,
}

/// How full a file system is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Total size of the space for inodes, names and content, in bytes.
    pub bytes: u64,
    /// How much of that is in free pages.
    pub free_bytes: u64,
    /// How many threads may use it at the same time.
    pub threads: u32,
    /// How many do, the caller's included.
    pub threads_used: u32,
}

/// A DenseFS that this process has attached. All clones share one attachment.
///
/// A forked child has it as well, with everything that is open. Children created in other ways must
/// not use it, and must not outlive their parent before they execute another program, unless what
/// [`crate::fork`] offers is called around that.
#[derive(Clone, Debug)]
pub struct DenseFs {
    pub(crate) attachment: Arc<Attachment>,
}

impl DenseFs {
    /// Attaches the arena in a file. What dead processes left unfinished is completed.
    ///
    /// # Errors
    /// [`ArenaError`].
    pub fn attach(path: impl AsRef<Path>) -> Result<Self, ArenaError> {
        let attachment = Attachment::attach(path.as_ref())?;
        fork::note(&attachment);
        Ok(Self { attachment })
    }

    /// The file that contains the arena.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.attachment.path()
    }

    #[inline(always)]
    pub(crate) fn with<T>(
        &self,
        mut act: impl FnMut(Core<'_>, &Caller<'_>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let caller = self.attachment.credentials.caller();
        thread_slot::with(&self.attachment, |member| act(member, &caller))
    }

    /// Does something on the fast path; none if that is not possible.
    #[inline(always)]
    pub(crate) fn briefly<T>(
        &self,
        act: impl FnOnce(Core<'_>, &Credentials) -> Option<T>,
    ) -> Option<T> {
        thread_slot::briefly(&self.attachment, |member| act(member, &self.attachment.credentials))
    }

    /// Calls the core from this thread. The closure chooses on whose behalf.
    ///
    /// # Errors
    /// What the closure returns; [`Errno::NFILE`] if all slots are in use.
    #[inline(always)]
    pub fn with_core<T>(
        &self,
        act: impl FnMut(&Member<'static, ProcessSeams>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        thread_slot::with(&self.attachment, act)
    }

    /// Does something with the inode at a path.
    #[inline]
    pub(crate) fn with_node<T>(
        &self,
        base: Base,
        path: &Path,
        follow: Follow,
        mut act: impl FnMut(Core<'_>, &Caller<'_>, Node) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let path = path.as_os_str().as_bytes();
        self.with(|member, caller| {
            member.retry(|| {
                let node = member.walk(caller, base.node(member, path)?, path, follow)?;
                act(member, caller, node)
            })
        })
    }

    /// Does something with the last name of a path, and its directory.
    #[inline]
    pub(crate) fn with_last<T>(
        &self,
        base: Base,
        path: &Path,
        mut act: impl FnMut(Core<'_>, &Caller<'_>, &LastName<'_>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let path = path.as_os_str().as_bytes();
        self.with(|member, caller| {
            let done = member.retry(|| {
                // Two calls, so that the first needs none of the checks that other paths do.
                if let Some(last) = base.only_name(member, path)? {
                    return act(member, caller, &last);
                }
                let mut last = LastName::unknown();
                base.find_last(member, caller, path, &mut last)?;
                act(member, caller, &last)
            });
            if done.is_err() && densefs::is_refused_unseen(path) {
                base.check_search_of_last(member, caller, path)?;
            }
            done
        })
    }

    /// How full the file system is.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`].
    pub fn usage(&self) -> Result<Usage, Errno> {
        self.with_core(|member| {
            let (all, free) = member.pages()?;
            let bytes = |pages: u32| u64::from(pages) * crate::supply::PAGE_BYTES;
            let (threads, threads_used) = self.attachment.threads();
            Ok(Usage { bytes: bytes(all), free_bytes: bytes(free), threads, threads_used })
        })
    }

    /// Returns the memory of free pages to the system, in pieces of 256 KiB; returns how many bytes
    /// that was. It is taken again when it is needed; if the system has none left then, calls fail
    /// with [`Errno::NOSPC`].
    ///
    /// # Errors
    /// [`Errno::CORRUPT`], [`Errno::INTR`].
    pub fn trim(&self) -> Result<u64, Errno> {
        let pages = self.with_core(Member::trim)?;
        Ok(u64::from(pages) * crate::supply::PAGE_BYTES)
    }

    /// Sets the umask for new files; returns the old one.
    #[must_use]
    pub fn set_umask(&self, umask: u32) -> u32 {
        self.attachment.credentials.set_umask(umask)
    }

    /// Reads again under which IDs the calling thread works: its user and group for file systems,
    /// which follow the effective ones, its supplementary groups, and its real user and group. They
    /// are those that it had when the arena was attached until this is called. From now on they are
    /// those of all threads; calls that others are making find old or new ones. To be called after
    /// setuid(2), setgroups(2), setfsuid(2) and the like, but not in a child made by vfork(2), in
    /// which it would change its parent's.
    ///
    /// As there, user 0 may do everything. The umask stays as it is.
    pub fn refresh_credentials(&self) {
        self.attachment.credentials.refresh();
    }

    /// From now on, `..` of the root directory and symbolic links with an absolute target lead out
    /// of this file system, as from a mount: calls whose paths go along them fail with
    /// [`Errno::OUTSIDE`], and their caller can go on from there. Otherwise, the root directory is
    /// above itself, and absolute targets start there. Paths given to calls always do.
    pub fn lead_out(&self) {
        self.attachment.credentials.lead_out();
    }

    /// Whether paths may lead out of this file system, after [`Self::lead_out`].
    #[must_use]
    pub fn may_lead_out(&self) -> bool {
        self.attachment.credentials.may_lead_out()
    }

    /// Calls `each` with the number of each of the system's descriptors that the process has for
    /// this file system, which programs must not close or replace: the arena's file, open once or
    /// several times, and a file without content that what is mapped needs. They may change with
    /// every call. Allocates nothing, and makes no system call.
    pub fn own_numbers(&self, each: &mut dyn FnMut(i32)) {
        self.attachment.each_number(each);
        number_of_nothing().into_iter().for_each(each);
    }

    /// Reclaims what dead processes have left.
    pub(crate) fn sweep(&self) -> Result<(), Errno> {
        self.with_core(|member| self.attachment.sweep(member))
    }

    /// Releases the slot that this thread has in the arena. The arena itself is detached once all
    /// threads have left and all clones are gone. The thread's next call takes a slot again.
    pub fn leave(&self) {
        thread_slot::leave(&self.attachment);
    }

    /// Abandons the operation that this thread is in, if it is in one, as if the thread had died:
    /// it is either done or not. For handlers of signals that do not return to where it was, as
    /// those of a fault at an address that the program has passed.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`].
    pub fn abandon_operation() -> Result<(), Errno> {
        thread_slot::abandon()
    }

    /// Declares that this process serves a mount. Once that is unmounted, whoever needs the arena
    /// alone waits for the process to [`Self::detach`] it.
    pub fn declare_server(&self) {
        self.attachment.set_role(self.attachment.record(), Role::Server);
    }

    /// Closes all that this process has open, and lets others know that it no longer uses the
    /// arena. All threads must have left, except this one. Later calls fail with [`Errno::NXIO`].
    ///
    /// # Errors
    /// [`Errno::CORRUPT`].
    pub fn detach(self) -> Result<(), Errno> {
        let record = self.attachment.record();
        let closed = self.with_core(|member| member.reap(record));
        self.leave();
        self.attachment.give_record_back();
        closed
    }

    /// Closes all that this process has open, and makes the root its working directory.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`].
    pub fn close_all(&self) -> Result<(), Errno> {
        let record = self.attachment.record();
        self.with_core(|member| {
            member.reap(record)?;
            member.begin_process(record)
        })
    }

    /// Checks the whole arena. No other process may have it attached; one that has served a mount
    /// is given some seconds to let go of it.
    ///
    /// # Errors
    /// [`ArenaError::InUse`]; [`ArenaError::Core`]. Inconsistencies are returned as a value.
    pub fn check(&self) -> Result<Result<Report, Problem>, ArenaError> {
        self.check_showing(&mut |_| {})
    }

    /// Like [`Self::check`], and shows from time to time how far it has come.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn check_showing(
        &self,
        show: &mut dyn FnMut(Checked),
    ) -> Result<Result<Report, Problem>, ArenaError> {
        let path = || self.path().to_owned();
        let is_unused = is_unused_soon(self.path(), || self.attachment.others());
        let checked = self.with_core(|member| {
            if !is_unused {
                return Err(Errno::BUSY);
            }
            // Not earlier: the last of the others may have died just before.
            self.attachment.sweep(member)?;
            let mut seen = vec![0; member.arena().lines() as usize];
            Ok(member.check_showing(&mut seen, show))
        });
        checked.map_err(|why| match why {
            Errno::BUSY => ArenaError::InUse { path: path() },
            why => ArenaError::Core { path: path(), why },
        })
    }

    /// The process' owner and group with this mode, for a new root directory.
    #[must_use]
    pub fn new_root(mode: u32) -> Mode {
        Mode {
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            mode,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;
    use crate::file::{NewArena, make};
    use densefs::flags;

    fn attached(path: &Path) -> DenseFs {
        let root = DenseFs::new_root(0o700);
        make(path, &NewArena::new(1 << 20, root)).expect("room");
        DenseFs::attach(path).expect("it was just made")
    }

    #[test]
    fn an_arena_that_all_threads_have_left_is_not_mapped_any_more() {
        let place = tempfile::tempdir().expect("a directory");
        let maps = || std::fs::read_to_string("/proc/self/maps").expect("/proc is mounted");
        let count_mapped = || maps().matches("left-behind").count();
        let with_notes = |name: &str| {
            let files = attached(&place.path().join(name));
            files.make_directory("notes", 0o700).expect("there is room");
            files
        };
        let (first, second) = (with_notes("left-behind-1"), with_notes("left-behind-2"));
        first.make_directory("more", 0o700).expect("there is room");
        assert_eq!(count_mapped(), 2);
        for files in [second, first] {
            let before = count_mapped();
            files.leave();
            // Forking must not count as using the arena. With a user id set, the child is created
            // by fork().
            let uid = rustix::process::getuid().as_raw();
            assert!(Command::new("true").uid(uid).status().expect("every system has it").success());
            drop(files);
            assert_eq!(count_mapped(), before - 1);
        }
        let again = DenseFs::attach(place.path().join("left-behind-1")).expect("it is there");
        assert!(again.stat("more").expect("it was made").mode.is_directory());
    }

    #[test]
    fn what_is_opened_to_be_truncated_is_empty() {
        let place = tempfile::tempdir().expect("a directory");
        let files = attached(&place.path().join("arena"));
        let file = files.open("/notes", flags::WRITE | flags::CREATE, 0o600).expect("room");
        file.write(b"it rains").expect("there is room");
        files.open("/notes", flags::WRITE, 0).expect("it is there");
        assert_eq!(files.stat("/notes").expect("it is there").size, 8);
        files.open("/notes", flags::WRITE | flags::TRUNCATE, 0).expect("it is there");
        assert_eq!(files.stat("/notes").expect("it is there").size, 0);
    }

    /// Each thread caches it, and checks whether another has changed it since.
    #[test]
    fn all_threads_of_a_process_have_one_working_directory() {
        let place = tempfile::tempdir().expect("a directory");
        let files = attached(&place.path().join("arena"));
        for (directory, file) in [("/one", "/one/first"), ("/two", "/two/second")] {
            files.make_directory(directory, 0o700).expect("there is room");
            files.open(file, flags::WRITE | flags::CREATE, 0o600).expect("there is room");
        }
        // It is the root until somebody changes it.
        files.stat("one/first").expect("it is there");
        std::thread::scope(|scope| {
            scope.spawn(|| files.change_directory("/one").expect("it is there"));
        });
        assert_eq!(files.stat("one/first").map(drop), Err(Errno::NOENT));
        assert_eq!(files.open("one/first", 0, 0).map(drop), Err(Errno::NOENT));
        files.stat("first").expect("it is there");
        std::thread::scope(|scope| {
            scope.spawn(|| files.change_directory("/two").expect("it is there"));
        });
        assert_eq!(files.stat("first").map(drop), Err(Errno::NOENT));
        assert_eq!(files.open("first", 0, 0).map(drop), Err(Errno::NOENT));
        files.stat("second").expect("it is there");
        files.open("second", 0, 0).expect("it is there");
    }
}
