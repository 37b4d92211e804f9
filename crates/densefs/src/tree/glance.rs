//! The fast path for path lookups, called a glance. It handles almost all of them: nobody changes
//! anything on the way, names are short, and there are no symbolic links. Everything else is left
//! to the careful walk, which starts over.
//!
//! The steps that every call needs are separate functions that are not inlined, so that calls share
//! their code in the processor's caches, and none of them needs more values at a time than there
//! are registers.

use core::sync::atomic::{Ordering, compiler_fence};

use super::path::last_slash;
use super::{Follow, LastName, PATH_MAX, Stat};
use crate::arena::{Line, Ref};
use crate::errno::Errno;
use crate::layout::cell;
use crate::member::{Evidence, Member, Node};
use crate::modes::{AsCaller, Caller, EXECUTE, SYMLINK, TYPE};
use crate::name::Name;
use crate::seams::Seams;
use crate::stamp::Stamp;

/// A glance was not enough; the careful walk is needed.
#[derive(Debug)]
pub struct Unclear;

impl From<Errno> for Unclear {
    #[inline(always)]
    fn from(_: Errno) -> Self {
        Self
    }
}

/// Where a relative path starts.
#[derive(Clone, Copy, Debug)]
pub enum Start<'n> {
    /// The working directory, as the member has cached it.
    Working,
    /// Another directory.
    At(&'n Node),
}

/// Where a glance has got to.
#[derive(Clone, Copy)]
enum CurrentDirectory<'n> {
    Root,
    Working,
    At(&'n Node),
}

/// What a glance into a directory has found.
#[derive(Default)]
struct Lookup<'a> {
    directory: Ref,
    /// The inode, if there is an entry with that name, and its stamp.
    at: Ref,
    inode: Option<Line<'a>>,
    stamp: Stamp,
    /// The directory's stamp before the lookup.
    before: Stamp,
    /// The length of the name.
    length: usize,
}

impl Lookup<'_> {
    /// The inode as a node.
    #[inline(always)]
    fn node(&self) -> Node {
        let evidence =
            Evidence::Seen { stamp: self.stamp, by: self.directory, by_stamp: self.before };
        Node { at: self.at, evidence }
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// Calls `tell` with the attributes of the inode that a path names, relative to a directory;
    /// again if the inode changes meanwhile.
    ///
    /// # Errors
    /// As [`Self::walk`].
    #[inline(always)]
    pub fn stat_path(
        &self,
        caller: &Caller<'_>,
        from: Node,
        path: &[u8],
        follow: Follow,
        mut tell: impl FnMut(&Stat),
    ) -> Result<(), Errno> {
        match self.stat_at_a_glance(caller, Start::At(&from), path, follow, &mut tell) {
            Ok(found) => found,
            Err(Unclear) => {
                self.stat_carefully(caller, &from, path, follow).map(|stat| tell(&stat))
            }
        }
    }

    /// Like [`Self::stat_path`], but only by a glance.
    ///
    /// # Errors
    /// [`Unclear`] if that is not enough.
    #[inline(always)]
    pub fn stat_at_a_glance(
        &self,
        caller: &impl AsCaller,
        from: Start<'_>,
        path: &[u8],
        follow: Follow,
        tell: &mut impl FnMut(&Stat),
    ) -> Result<Result<(), Errno>, Unclear> {
        let found = self.glance_along(caller, from, path, |at, line| {
            let stat = self.stat_of(at, line)?;
            if stat.mode.mode & TYPE == SYMLINK && follow == Follow::Yes {
                return Err(Unclear);
            }
            tell(&stat);
            Ok(())
        })?;
        Ok(if found.inode.is_some() { Ok(()) } else { Err(Errno::NOENT) })
    }

    #[cold]
    #[inline(never)]
    fn stat_carefully(
        &self,
        caller: &Caller<'_>,
        from: &Node,
        path: &[u8],
        follow: Follow,
    ) -> Result<Stat, Errno> {
        let node = self.walk_carefully(caller, from, path, follow)?;
        self.read_node(node, |line| self.stat_of(node.at, line))
    }

    /// Looks a path up by a glance: the inode, or none if the last name is missing.
    #[inline(always)]
    pub(crate) fn glance_at(
        &self,
        caller: &impl AsCaller,
        from: Start<'_>,
        path: &[u8],
        follow: Follow,
    ) -> Result<Option<Node>, Unclear> {
        let lookup = self.glance_along(caller, from, path, |_, line| {
            let may_be_link = follow == Follow::Yes;
            if may_be_link && self.mode(line.load(cell::MODE))?.mode & TYPE == SYMLINK {
                return Err(Unclear);
            }
            Ok(())
        })?;
        Ok(lookup.inode.map(|_| lookup.node()))
    }

    /// Looks up a path's last name in its directory. The closure sees the inode at a moment when
    /// nobody changes it.
    #[inline(always)]
    fn glance_along(
        &self,
        caller: &impl AsCaller,
        from: Start<'_>,
        path: &[u8],
        mut look: impl FnMut(Ref, Line<'a>) -> Result<(), Unclear>,
    ) -> Result<Lookup<'a>, Unclear> {
        if path.len() > PATH_MAX {
            return Err(Unclear);
        }
        let (mut current, rest) = match path {
            [b'/', rest @ ..] => (CurrentDirectory::Root, rest),
            _ => match from {
                Start::Working => (CurrentDirectory::Working, path),
                Start::At(node) => (CurrentDirectory::At(node), path),
            },
        };
        let at = match current {
            CurrentDirectory::Root => self.root()?.at,
            CurrentDirectory::Working => self.working.get().ok_or(Unclear)?.at,
            CurrentDirectory::At(node) => node.at,
        };
        let mut lookup = Lookup { directory: at, ..Lookup::default() };
        let mut directory = self.line(at)?;
        if !self.glance_into(caller, directory, rest, &mut lookup) {
            return Err(Unclear);
        }
        let walked;
        if lookup.length < rest.len() {
            walked = self.glance_further(caller, current, rest, &mut lookup).ok_or(Unclear)?;
            (current, directory) = (CurrentDirectory::At(&walked), self.line(lookup.directory)?);
        }
        if let Some(inode) = lookup.inode {
            look(lookup.at, inode)?;
            compiler_fence(Ordering::SeqCst);
            if S::IS_SHARED && Stamp::current(inode) != lookup.stamp {
                return Err(Unclear);
            }
        }
        if self.is_as_before(current, directory, lookup.before) { Ok(lookup) } else { Err(Unclear) }
    }

    /// Continues with the other names of a path, up to the last; returns the directory of the last
    /// one. A separate function, so that paths of a single name do not need its stack frame.
    #[inline(never)]
    fn glance_further(
        &self,
        caller: &impl AsCaller,
        current: CurrentDirectory<'_>,
        mut rest: &[u8],
        lookup: &mut Lookup<'a>,
    ) -> Option<Node> {
        let mut directory = self.line(lookup.directory).ok()?;
        if lookup.inode.is_none() || !self.is_as_before(current, directory, lookup.before) {
            return None;
        }
        loop {
            let node = lookup.node();
            (directory, lookup.directory) = (lookup.inode?, lookup.at);
            rest = rest.get(lookup.length + 1..)?;
            if !self.glance_into(caller, directory, rest, lookup) {
                return None;
            }
            if lookup.length == rest.len() {
                return Some(node);
            }
            if !self.is_as_before(CurrentDirectory::At(&node), directory, lookup.before) {
                return None;
            }
        }
    }

    /// Walks to the directory of a path's last name by a glance; false if that is not enough, or if
    /// a slash ends the path.
    #[inline(always)]
    pub(super) fn glance_to_last<'p>(
        &self,
        caller: &Caller<'_>,
        from: &Node,
        path: &'p [u8],
        last: &mut LastName<'p>,
    ) -> bool {
        self.try_glance_to_last(caller, from, path, last).is_some()
    }

    #[inline(always)]
    fn try_glance_to_last<'p>(
        &self,
        caller: &Caller<'_>,
        from: &Node,
        path: &'p [u8],
        last: &mut LastName<'p>,
    ) -> Option<()> {
        let slash = last_slash(path).filter(|slash| slash + 1 < path.len())?;
        let mut rest = path.get(..slash)?;
        last.name = path.get(slash + 1..)?;
        let is_absolute = path.first() == Some(&b'/');
        let mut lookup = Lookup::default();
        if is_absolute {
            last.directory = self.root().ok()?;
            lookup.directory = last.directory.at;
            rest = rest.get(1..).unwrap_or_default();
        } else {
            lookup.directory = from.at;
        }
        let mut is_first = true;
        while !rest.is_empty() {
            let directory = self.line(lookup.directory).ok()?;
            let is_clear = self.glance_into(caller, directory, rest, &mut lookup);
            let inode = lookup.inode.filter(|_| is_clear)?;
            // It may be a symbolic link.
            let is_directory = self.mode(inode.load(cell::MODE)).ok()?.is_directory();
            let current = match (is_first, is_absolute) {
                (true, true) => CurrentDirectory::Root,
                (true, false) => CurrentDirectory::At(from),
                (false, _) => CurrentDirectory::At(&last.directory),
            };
            if !is_directory || !self.is_as_before(current, directory, lookup.before) {
                return None;
            }
            last.directory = lookup.node();
            lookup.directory = lookup.at;
            rest = rest.get(lookup.length + 1..).unwrap_or_default();
            is_first = false;
        }
        Some(())
    }

    /// Whether a directory still has this stamp, and is still the same directory.
    #[inline(always)]
    fn is_as_before(
        &self,
        current: CurrentDirectory<'_>,
        directory: Line<'a>,
        before: Stamp,
    ) -> bool {
        compiler_fence(Ordering::SeqCst);
        if !S::IS_SHARED {
            return true;
        }
        Stamp::current(directory) == before
            && match current {
                CurrentDirectory::Root => true,
                CurrentDirectory::Working => self.is_still_working(),
                CurrentDirectory::At(node) => self.is_recognised(node, before),
            }
    }

    #[inline(never)]
    fn is_recognised(&self, node: &Node, now: Stamp) -> bool {
        self.recognise(node, || now).is_ok()
    }

    /// Looks up the first name of a path in a directory; false if a glance is not enough. The
    /// caller checks whether anything has changed meanwhile.
    #[inline(never)]
    fn glance_into(
        &self,
        caller: &impl AsCaller,
        directory: Line<'a>,
        path: &[u8],
        lookup: &mut Lookup<'a>,
    ) -> bool {
        self.try_glance_into(caller, directory, path, lookup).is_some()
    }

    #[inline(always)]
    fn try_glance_into(
        &self,
        caller: &impl AsCaller,
        directory: Line<'a>,
        path: &[u8],
        lookup: &mut Lookup<'a>,
    ) -> Option<()> {
        let (name, length) = Name::first_of(path, self.secret())?;
        (lookup.before, lookup.length) = (self.stamp_if_free(directory)?, length);
        compiler_fence(Ordering::SeqCst);
        self.directory_mode(directory).ok()?.allow(caller, EXECUTE).ok()?;
        let Some((mut at, mut line)) = self.find_short(directory, &name).ok()? else {
            lookup.inode = None;
            return Some(());
        };
        if line.load(cell::MODE) == cell::LINK_MARK {
            at = Ref(line.load(cell::TARGET));
            line = self.line(at).ok()?;
        }
        (lookup.at, lookup.inode, lookup.stamp) = (at, Some(line), self.stamp_if_free(line)?);
        compiler_fence(Ordering::SeqCst);
        Some(())
    }
}
