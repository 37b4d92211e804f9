//! Paths looked along at a glance: as almost all of them can be, where nobody changes anything on
//! the way, names are short, and no symbolic link comes in between. Whatever else there may be is
//! for the careful walk, which begins anew.

use core::sync::atomic::{Ordering, compiler_fence};

use super::node::Known;
use super::{Follow, Node, PATH_MOST, Stat};
use crate::arena::{Line, Ref};
use crate::errno::Errno;
use crate::layout::cell;
use crate::member::Member;
use crate::modes::{Caller, EXECUTE, SYMLINK, TYPE};
use crate::name::Name;
use crate::seams::Seams;
use crate::stamp::Stamp;

/// A glance does not tell: more care is needed.
#[derive(Debug)]
pub(super) struct Unclear;

impl From<Errno> for Unclear {
    #[inline(always)]
    fn from(_: Errno) -> Self {
        Self
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// What is known of the inode that a path names, from a directory on.
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
        into: &mut Stat,
    ) -> Result<(), Errno> {
        let found = self.glance_along(caller, from, path, |at, line| {
            self.stat_into(at, line, into)?;
            let is_link = into.mode.mode & TYPE == SYMLINK && follow == Follow::Yes;
            if is_link { Err(Unclear) } else { Ok(()) }
        });
        match found {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Errno::NOENT),
            Err(Unclear) => self.stat_carefully(caller, &from, path, follow, into),
        }
    }

    #[cold]
    #[inline(never)]
    fn stat_carefully(
        &self,
        caller: &Caller<'_>,
        from: &Node,
        path: &[u8],
        follow: Follow,
        into: &mut Stat,
    ) -> Result<(), Errno> {
        let node = self.walk_carefully(caller, from, path, follow)?;
        self.read_node(node, |line| self.stat_into(node.at, line, into))
    }

    /// The inode that a path names, if it is seen at a glance; none if its last name is missing.
    #[inline(always)]
    pub(super) fn glance_at(
        &self,
        caller: &Caller<'_>,
        from: Node,
        path: &[u8],
        follow: Follow,
    ) -> Result<Option<Node>, Unclear> {
        self.glance_along(caller, from, path, |_, line| {
            let may_be_link = follow == Follow::Yes;
            if may_be_link && self.mode(line.load(cell::MODE))?.mode & TYPE == SYMLINK {
                return Err(Unclear);
            }
            Ok(())
        })
    }

    /// The same; what the closure looks at in that inode it sees while nobody changes it.
    #[inline(always)]
    fn glance_along(
        &self,
        caller: &Caller<'_>,
        from: Node,
        path: &[u8],
        mut look: impl FnMut(Ref, Line<'a>) -> Result<(), Unclear>,
    ) -> Result<Option<Node>, Unclear> {
        if path.len() > PATH_MOST {
            return Err(Unclear);
        }
        let (mut here, mut rest) = match path {
            [b'/', rest @ ..] => (self.root()?, rest),
            _ => (from, path),
        };
        loop {
            let (name, behind) = Name::first_of(rest, self.secret()).ok_or(Unclear)?;
            let is_last = behind.is_empty();
            let directory = self.line(here.at)?;
            let before = Stamp::of_free(directory).ok_or(Unclear)?;
            compiler_fence(Ordering::SeqCst);
            let entry = self.glance_into(caller, directory, &name)?;
            let found = match entry {
                None => None,
                Some((at, inode)) => {
                    let stamp = Stamp::of_free(inode).ok_or(Unclear)?;
                    if is_last {
                        compiler_fence(Ordering::SeqCst);
                        look(at, inode)?;
                        compiler_fence(Ordering::SeqCst);
                        if Stamp::of(inode) != stamp {
                            return Err(Unclear);
                        }
                    }
                    Some((at, stamp))
                }
            };
            compiler_fence(Ordering::SeqCst);
            if Stamp::of(directory) != before {
                return Err(Unclear);
            }
            self.recognise(&here, || before)?;
            let Some((at, stamp)) = found else {
                return Ok(None);
            };
            here = Node { at, known: Known::Seen { stamp, by: here.at, by_stamp: before } };
            if is_last {
                return Ok(Some(here));
            }
            rest = behind.get(1..).unwrap_or_default();
        }
    }

    /// The inode of this name in a directory; the caller looks whether anything changed meanwhile.
    #[inline(always)]
    fn glance_into(
        &self,
        caller: &Caller<'_>,
        directory: Line<'a>,
        name: &Name<'_>,
    ) -> Result<Option<(Ref, Line<'a>)>, Unclear> {
        self.directory_mode(directory)?.allow(caller, EXECUTE)?;
        let Some((at, line)) = self.find_short(directory, name)? else {
            return Ok(None);
        };
        if line.load(cell::MODE) != cell::LINK_MARK {
            return Ok(Some((at, line)));
        }
        let at = Ref(line.load(cell::TARGET));
        Ok(Some((at, self.line(at)?)))
    }
}
