//! From a path to an inode.
//!
//! No locks are taken: each step reads a directory while nobody changes it, and its result is the
//! evidence for the next step ([`Node`]). If anything on the way has become something else
//! meanwhile, the walk fails with [`Errno::STALE`], and [`Member::retry`] starts over.

use super::glance::Start;
use super::path::{Follow, LastName, MissingName, Reached, split_first, split_last};
use crate::arena::{Line, Ref};
use crate::errno::Errno;
use crate::layout::cell;
use crate::member::{Evidence, Member, Node};
use crate::modes::{Caller, EXECUTE, SYMLINK, TYPE};
use crate::seams::Seams;
use crate::stamp::Stamp;

/// The longest path, in bytes.
pub const PATH_MAX: usize = 4_095;
/// Most symbolic links followed in one path.
pub(crate) const FOLLOWED_MAX: u32 = 40;
/// How often an operation is retried before it fails. Only malice could invalidate it that often.
const TRIES_MAX: u32 = 1 << 20;

impl<'a, S: Seams> Member<'a, S> {
    /// Retries an operation as long as it fails with [`Errno::STALE`].
    ///
    /// # Errors
    /// What it returns; [`Errno::BUSY`] if it is invalidated again and again.
    #[inline(always)]
    pub fn retry<T>(&self, mut act: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
        for _ in 0..TRIES_MAX {
            match act() {
                Err(Errno::STALE) => self.working.set(None),
                done => return done,
            }
        }
        Err(Errno::BUSY)
    }

    /// Where a path starts: at the root, or in the given directory.
    #[inline(always)]
    fn start(&self, from: Node, path: &[u8]) -> Result<Node, Errno> {
        match path {
            [] => Err(Errno::NOENT),
            _ if path.len() > PATH_MAX => Err(Errno::NAMETOOLONG),
            [b'/', ..] => self.root(),
            _ => Ok(from),
        }
    }

    /// The inode that a path names.
    ///
    /// # Errors
    /// [`Errno::NOENT`], [`Errno::NOTDIR`], [`Errno::ACCES`], [`Errno::LOOP`],
    /// [`Errno::NAMETOOLONG`]; [`Errno::OUTSIDE`] for a caller whose paths may lead there;
    /// [`Errno::STALE`] if the walk must be repeated.
    #[inline(always)]
    pub fn walk(
        &self,
        caller: &Caller<'_>,
        from: Node,
        path: &[u8],
        follow: Follow,
    ) -> Result<Node, Errno> {
        let start = match from.evidence {
            Evidence::Working => Start::Working,
            Evidence::Stays | Evidence::Seen { .. } | Evidence::Open(_) => Start::At(&from),
        };
        match self.glance_at(caller, start, path, follow) {
            Ok(Some(node)) => Ok(node),
            Ok(None) => Err(Errno::NOENT),
            Err(_) => self.walk_carefully(caller, &from, path, follow),
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn walk_carefully(
        &self,
        caller: &Caller<'_>,
        from: &Node,
        path: &[u8],
        follow: Follow,
    ) -> Result<Node, Errno> {
        let start = self.start(*from, path)?;
        self.walk_from(caller, start, path, follow)
    }

    /// Walks to the directory of a path's last name. The answer is not returned but stored: a
    /// [`LastName`] that is copied right after it was stored in pieces makes the processor wait for
    /// longer than the walk takes.
    ///
    /// # Errors
    /// As [`Self::walk`].
    #[inline(never)]
    pub fn walk_to_last<'p>(
        &self,
        caller: &Caller<'_>,
        from: &Node,
        path: &'p [u8],
        last: &mut LastName<'p>,
    ) -> Result<(), Errno> {
        if path.len() > PATH_MAX || !self.glance_to_last(caller, from, path, last) {
            *last = self.walk_to_last_carefully(caller, from, path)?;
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn walk_to_last_carefully<'p>(
        &self,
        caller: &Caller<'_>,
        from: &Node,
        path: &'p [u8],
    ) -> Result<LastName<'p>, Errno> {
        let start = self.start(*from, path)?;
        let (before, name, is_directory) = split_last(path);
        let directory = self.walk_from(caller, start, before, Follow::Yes)?;
        Ok(LastName { directory, name, is_directory })
    }

    #[inline(always)]
    fn walk_from(
        &self,
        caller: &Caller<'_>,
        start: Node,
        path: &[u8],
        follow: Follow,
    ) -> Result<Node, Errno> {
        let (mut before, mut here) = (start, start);
        let (mut name, mut rest) = split_first(path);
        while !name.is_empty() {
            let found = match self.step_to(caller, here, name) {
                Err(Errno::NOTDIR) => {
                    let reached = Reached { directory: before, node: here };
                    return self.walk_on(caller, reached, name, rest, follow);
                }
                found => found?,
            };
            (before, here) = (here, found);
            let must_be_directory = !rest.is_empty();
            (name, rest) = split_first(rest);
            if name.is_empty() && (must_be_directory || follow == Follow::Yes) {
                let mut links = FOLLOWED_MAX;
                let reached = Reached { directory: before, node: here };
                return self.end(caller, reached, must_be_directory, &mut links);
            }
        }
        Ok(here)
    }

    /// Continues a walk where a step found that it was not in a directory: through a symbolic link,
    /// if it is one.
    #[cold]
    #[inline(never)]
    fn walk_on(
        &self,
        caller: &Caller<'_>,
        reached: Reached,
        name: &[u8],
        rest: &[u8],
        follow: Follow,
    ) -> Result<Node, Errno> {
        if reached.directory.at == reached.node.at {
            // It is where the path starts, which is not followed if it is a symbolic link.
            return Err(Errno::NOTDIR);
        }
        let (mut reached, mut name, mut rest) = (reached, name, rest);
        let mut links = FOLLOWED_MAX;
        while !name.is_empty() {
            let node = match self.step(caller, reached.node, name) {
                Err(Errno::NOTDIR) => {
                    reached.node = self.through(caller, reached, &mut links, None)?;
                    self.step(caller, reached.node, name)?
                }
                found => found?,
            };
            reached = Reached { directory: reached.node, node };
            let must_be_directory = !rest.is_empty();
            (name, rest) = split_first(rest);
            if name.is_empty() && (must_be_directory || follow == Follow::Yes) {
                return self.end(caller, reached, must_be_directory, &mut links);
            }
        }
        Ok(reached.node)
    }

    /// Checks what a path's last name refers to, and follows it if it is a symbolic link.
    #[cold]
    #[inline(never)]
    fn end(
        &self,
        caller: &Caller<'_>,
        reached: Reached,
        must_be_directory: bool,
        links: &mut u32,
    ) -> Result<Node, Errno> {
        let mut node = reached.node;
        let mut mode = self.mode_of(node)?;
        if mode & TYPE == SYMLINK {
            node = self.through(caller, reached, links, None)?;
            mode = self.mode_of(node)?;
        }
        let is_directory = mode & TYPE == crate::modes::DIRECTORY;
        if must_be_directory && !is_directory { Err(Errno::NOTDIR) } else { Ok(node) }
    }

    /// Checks that the caller may look for a name in a directory: the first thing that Linux
    /// checks, before the name itself.
    ///
    /// # Errors
    /// [`Errno::NOTDIR`], [`Errno::ACCES`]; [`Errno::STALE`] if it must be looked up again.
    #[cold]
    #[inline(never)]
    pub fn check_search(&self, caller: &Caller<'_>, directory: Node) -> Result<(), Errno> {
        let mode = self.stat(directory)?.mode;
        if mode.is_directory() { mode.allow(caller, EXECUTE) } else { Err(Errno::NOTDIR) }
    }

    fn mode_of(&self, node: Node) -> Result<u32, Errno> {
        self.read_node(node, |line| Ok(self.mode(line.load(cell::MODE))?.mode))
    }

    /// The inode of this name in a directory.
    ///
    /// # Errors
    /// [`Errno::NOENT`], [`Errno::NOTDIR`], [`Errno::ACCES`], [`Errno::NAMETOOLONG`];
    /// [`Errno::OUTSIDE`] for `..` of the root, if the caller may be led there; [`Errno::STALE`] if
    /// the directory must be looked up again.
    #[inline(never)]
    pub fn step(&self, caller: &Caller<'_>, directory: Node, name: &[u8]) -> Result<Node, Errno> {
        self.step_to(caller, directory, name)
    }

    #[inline(always)]
    fn step_to(&self, caller: &Caller<'_>, directory: Node, name: &[u8]) -> Result<Node, Errno> {
        if name.first() == Some(&b'.') && name.len() <= 2 {
            return self.step_dots(caller, directory, name);
        }
        self.step_name(caller, directory, name)
    }

    /// A step to a name that is neither `.` nor `..`.
    #[inline(always)]
    fn step_name(&self, caller: &Caller<'_>, directory: Node, name: &[u8]) -> Result<Node, Errno> {
        let name = self.name(name);
        self.found_in(directory, |line| {
            self.searched_mode(line, caller)?;
            let entry = self.find(line, &name?)?.ok_or(Errno::NOENT)?;
            Ok(self.inode_of(&entry)?.0)
        })
    }

    /// A step to a name that may be `.` or `..`.
    #[cold]
    #[inline(never)]
    fn step_dots(&self, caller: &Caller<'_>, directory: Node, name: &[u8]) -> Result<Node, Errno> {
        match name {
            // It may have been removed.
            b"." => self.check_search(caller, directory).map(|()| directory),
            b".." => {
                let parent = self.found_in(directory, |line| {
                    self.searched_mode(line, caller)?;
                    Ok(Ref(line.load(cell::PARENT)))
                })?;
                if parent.at != directory.at {
                    return Ok(parent);
                }
                // The root is not evidence for itself: that would end when it is locked.
                if caller.may_lead_out { Err(Errno::OUTSIDE) } else { Ok(directory) }
            }
            _ => self.step_name(caller, directory, name),
        }
    }

    /// The inode that the closure finds in a directory, as a node.
    #[inline(always)]
    fn found_in(
        &self,
        directory: Node,
        mut look: impl FnMut(Line<'a>) -> Result<Ref, Errno>,
    ) -> Result<Node, Errno> {
        let found = self.read_node_at(directory, |line| {
            let at = look(line)?;
            let inode = self.line(at)?;
            if let Some(stamp) = self.stamp_if_free(inode) {
                return Ok((at, stamp));
            }
            self.held_meanwhile(at, inode)
        });
        let ((at, stamp), by_stamp) = found?;
        Ok(Node { at, evidence: Evidence::Seen { stamp, by: directory.at, by_stamp } })
    }

    /// Handles an inode whose lock is held. A thread only waits for it without holding locks, as
    /// the inode may be above them.
    #[cold]
    #[inline(never)]
    fn held_meanwhile(&self, at: Ref, inode: Line<'a>) -> Result<(Ref, Stamp), Errno> {
        if self.holds(inode) {
            // The root: it is its own parent, and this thread has it locked.
            return Ok((at, Stamp::before_lock(inode)));
        }
        if !self.holds_any() {
            // It may become another inode meanwhile, but then the directory has changed.
            self.await_release(at, inode)?;
        }
        Err(Errno::AGAIN)
    }

    /// Follows a symbolic link in a directory to its end. If only the last name does not exist, it
    /// is noted in `missing`, if that is given.
    ///
    /// # Errors
    /// [`Errno::NOTDIR`] if it is not a symbolic link; otherwise as [`Self::walk`].
    #[cold]
    #[inline(never)]
    pub(crate) fn through(
        &self,
        caller: &Caller<'_>,
        link: Reached,
        links: &mut u32,
        mut missing: Option<&mut MissingName>,
    ) -> Result<Node, Errno> {
        let Reached { mut directory, node: mut link } = link;
        // The rest of the path still to walk, at the end of the buffer.
        let mut buffer = [0; 2 * (PATH_MAX + 1)];
        let mut at = buffer.len();
        'link: loop {
            *links = links.checked_sub(1).ok_or(Errno::LOOP)?;
            at = self.prepend_target(link, &mut buffer, at)?;
            let mut here = match buffer.get(at) {
                Some(b'/') if caller.may_lead_out => return Err(Errno::OUTSIDE),
                Some(b'/') => self.root()?,
                _ => directory,
            };
            loop {
                let (name, rest) = split_first(buffer.get(at..).unwrap_or_default());
                if name.is_empty() {
                    return Ok(here);
                }
                let must_be_directory = !rest.is_empty();
                let is_last = rest.iter().all(|&byte| byte == b'/');
                let left = rest.len();
                let is_made = missing.is_some() && !matches!(name, b"." | b"..");
                if is_made && is_last && must_be_directory {
                    self.check_search(caller, here)?;
                    return Err(Errno::ISDIR);
                }
                let found = match self.step(caller, here, name) {
                    Err(Errno::NOENT) if is_last && !must_be_directory => {
                        if let Some(missing) = missing.as_deref_mut() {
                            missing.note(here, name);
                        }
                        return Err(Errno::NOENT);
                    }
                    found => found?,
                };
                at = buffer.len() - left;
                let mode = self.mode_of(found)?;
                if mode & TYPE == SYMLINK {
                    (directory, link) = (here, found);
                    continue 'link;
                }
                if must_be_directory && mode & TYPE != crate::modes::DIRECTORY {
                    return Err(Errno::NOTDIR);
                }
                here = found;
            }
        }
    }

    /// Copies a symbolic link's target to before `at`; returns where it begins.
    fn prepend_target(&self, link: Node, buffer: &mut [u8], at: usize) -> Result<usize, Errno> {
        self.read_node(link, |line| {
            if self.mode(line.load(cell::MODE))?.mode & TYPE != SYMLINK {
                return Err(Errno::NOTDIR);
            }
            let length = usize::try_from(line.load(cell::SIZE)).unwrap_or(usize::MAX);
            let from = at.checked_sub(length).ok_or(Errno::NAMETOOLONG)?;
            let into = buffer.get_mut(from..at).ok_or(Errno::CORRUPT)?;
            self.copy_content(line, 0, into)?;
            Ok(from)
        })
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use crate::format::{FormatRequest, make};
    use crate::member::Member;
    use crate::memory::Memory;
    use crate::modes::{Caller, FILE, Mode};
    use crate::quiet::Quiet;
    use crate::tree::Remove;

    /// The root is its own parent. If it changes all the time, it is read under its lock, and the
    /// thread must not wait for itself then.
    #[test]
    fn what_is_above_the_root_is_found_whatever_changes() {
        let mut memory = Memory::of_pages(80);
        let root = Mode { uid: 0, gid: 0, mode: 0o755 };
        let request = FormatRequest { secret: 0x5eed, ino_secret: 0x1234, root, threads: None };
        make(memory.arena(), Quiet, &request).expect("there is room");
        let arena = memory.arena();
        let member = |slot| Member::new(arena, Quiet, slot, slot).expect("there are slots");
        let (one, other) = (member(0), member(1));
        let root = one.root().expect("it is there");
        let looks = Cell::new(0);
        let found = one.found_in(root, |line| {
            looks.set(looks.get() + 1);
            assert!(looks.get() < 10_000, "it goes on for ever");
            if !one.holds(line) {
                other.make_at(&Caller::ROOT, root, b"a", FILE | 0o600)?;
                other.remove_at(&Caller::ROOT, root, b"a", Remove::Name)?;
            }
            Ok(root.at)
        });
        assert_eq!(found, Ok(root));
        assert!(looks.get() > 1, "nothing changed");
    }
}
