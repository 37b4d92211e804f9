//! Paths, and where they start.

use densefs::modes::Caller;
use densefs::{Errno, LastName, Node, is_only_name, is_refused_unseen};

use crate::process::{Core, Process};

/// `AT_FDCWD`: relative paths start in the working directory.
const AT_WORKING: i32 = -100;

/// A path in kernel memory: `struct densefs_path`.
#[derive(Debug)]
#[repr(C)]
pub struct PathArgument {
    start: *const u8,
    length: usize,
    /// The descriptor of the directory in which a relative path starts, or `AT_FDCWD`.
    base: i32,
}

/// What a descriptor refers to, or the working directory.
#[inline(always)]
pub(crate) fn node_of_base(core: Core<'_>, base: i32) -> Result<Node, Errno> {
    if base == AT_WORKING {
        return core.working_directory();
    }
    core.node(u32::try_from(base).map_err(|_| Errno::BADF)?)
}

impl PathArgument {
    /// Its bytes.
    #[inline(always)]
    #[expect(unsafe_code, reason = "a pointer from C")]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: C passes that many bytes, and leaves them alone until the call returns.
        unsafe { core::slice::from_raw_parts(self.start, self.length) }
    }

    /// The descriptor that an empty path stands for, if there is one.
    pub(crate) fn base_itself(&self) -> Option<i32> {
        (self.length == 0 && self.base != AT_WORKING).then_some(self.base)
    }

    /// Whether a relative path starts in the working directory.
    #[inline(always)]
    pub(crate) fn is_of_working(&self) -> bool {
        self.base == AT_WORKING
    }

    /// The directory in which a relative path starts.
    #[inline(always)]
    pub(crate) fn start(&self, core: Core<'_>) -> Result<Node, Errno> {
        node_of_base(core, self.base)
    }

    /// The directory where the path starts.
    #[inline(always)]
    pub(crate) fn from(&self, core: Core<'_>) -> Result<Node, Errno> {
        match self.bytes().first() {
            Some(b'/') => core.root(),
            Some(_) => self.start(core),
            None => Err(Errno::NOENT),
        }
    }

    /// Walks to the directory of the path's last name.
    pub(crate) fn find_last<'p>(
        &'p self,
        core: Core<'_>,
        caller: &Caller<'_>,
        last: &mut LastName<'p>,
    ) -> Result<(), Errno> {
        core.walk_to_last(caller, &self.from(core)?, self.bytes(), last)
    }

    /// Checks that the caller may look for the last name in its directory, which is the first thing
    /// that Linux checks; for calls that have failed.
    #[cold]
    #[inline(never)]
    pub(crate) fn check_search_of_last(
        &self,
        core: Core<'_>,
        caller: &Caller<'_>,
    ) -> Result<(), Errno> {
        let mut last = LastName::unknown();
        self.find_last(core, caller, &mut last)?;
        core.check_search_of_last(caller, &last)
    }
}

impl Process {
    /// Does something with the last name of a path, and its directory.
    #[inline(always)]
    pub(crate) fn with_last<T>(
        &self,
        path: &PathArgument,
        mut act: impl FnMut(Core<'_>, &Caller<'_>, &LastName<'_>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let (core, caller) = (self.core(), self.caller());
        let done = core.retry(|| {
            let mut last = LastName::unknown();
            if is_only_name(path.bytes()) {
                (last.directory, last.name) = (path.start(core)?, path.bytes());
            } else {
                path.find_last(core, caller, &mut last)?;
            }
            act(core, caller, &last)
        });
        if done.is_err() && is_refused_unseen(path.bytes()) {
            path.check_search_of_last(core, caller)?;
        }
        done
    }

    /// Does something with the inode at a path.
    #[inline(always)]
    pub(crate) fn with_node<T>(
        &self,
        path: &PathArgument,
        follow: densefs::Follow,
        mut act: impl FnMut(Core<'_>, &Caller<'_>, Node) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let (core, caller) = (self.core(), self.caller());
        core.retry(|| {
            let node = core.walk(caller, path.from(core)?, path.bytes(), follow)?;
            act(core, caller, node)
        })
    }
}
