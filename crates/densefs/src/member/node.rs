//! How an operation identifies the inode that it works on.
//!
//! The root always stays where it is. Any other inode may be freed right after a walk has found it,
//! and its cell may be another inode by then. So a [`Node`] carries evidence: a directory in which
//! it was found, and the stamps of both at that moment; or the descriptor by which it is open. An
//! operation checks the evidence, after locking the inode or after reading it. The inode is still
//! the same if it has not changed at all, or if the directory has not: to free an inode, a thread
//! must change the directory first.

use crate::arena::{LINE_BYTES, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{description, superblock};
use crate::member::Member;
use crate::seams::Seams;
use crate::stamp::Stamp;

/// An inode, and the evidence that it is still there.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub(crate) at: Ref,
    pub(crate) evidence: Evidence,
}

/// Evidence that a cell is still the same inode.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Evidence {
    /// None needed: it always stays.
    Stays,
    /// It had this stamp when the directory `by` had `by_stamp` and an entry for it.
    Seen { stamp: Stamp, by: Ref, by_stamp: Stamp },
    /// It is open: the evidence holds as long as the entry in the descriptor table refers to a
    /// description of this inode with these flags. The table may move meanwhile.
    Open(OpenEvidence),
    /// It is the working directory that the member has cached, and the process has not changed that
    /// since.
    Working,
}

/// The descriptor by which a node is open: a process' record, an index into its table, and the
/// entry there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenEvidence {
    pub(crate) of: Ref,
    pub(crate) index: u32,
    pub(crate) entry: u64,
    /// The flags of the description.
    pub(crate) flags: u32,
}

impl Node {
    /// No inode yet: what a walk replaces.
    pub(crate) const NOWHERE: Self = Self { at: Ref::NONE, evidence: Evidence::Stays };
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Node {}

impl<'a, S: Seams> Member<'a, S> {
    /// The root directory.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if the arena has none.
    #[inline]
    pub fn root(&self) -> Result<Node, Errno> {
        let at = Ref(self.line(superblock::FIXED)?.load(superblock::ROOT));
        Ok(Node { at, evidence: Evidence::Stays })
    }

    /// An inode's number: unique among existing inodes, but possibly reused.
    #[inline(always)]
    #[must_use]
    pub fn ino(&self, node: Node) -> u64 {
        self.ino_at(node.at)
    }

    /// The number of the inode in this cell: its offset, obscured by a secret. It stays the same
    /// wherever the arena is attached.
    #[inline(always)]
    pub(crate) fn ino_at(&self, at: Ref) -> u64 {
        (u64::from(at.0) * LINE_BYTES as u64) ^ self.ino_secret()
    }

    /// Locks an inode.
    ///
    /// # Errors
    /// [`Errno::STALE`] if it is no longer the same inode; otherwise as [`Member::lock`].
    #[inline(always)]
    pub(crate) fn lock_node(&self, node: &Node) -> Result<Line<'a>, Errno> {
        let line = self.lock_of(node.at, Some(node))?;
        match self.recognise(node, || Stamp::before_lock(line)) {
            Ok(()) => Ok(line),
            Err(why) => {
                self.unlock();
                Err(why)
            }
        }
    }

    /// Returns what the closure finds in an inode while nobody changes it.
    ///
    /// # Errors
    /// [`Errno::STALE`] if it is no longer the same inode; what the closure returns; otherwise as
    /// [`Member::read`].
    #[inline(always)]
    pub(crate) fn read_node<T>(
        &self,
        node: Node,
        look: impl FnMut(Line<'a>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        Ok(self.read_node_at(node, look)?.0)
    }

    /// Like [`Self::read_node`], but also returns the inode's stamp at that moment.
    #[inline(always)]
    pub(crate) fn read_node_at<T>(
        &self,
        node: Node,
        look: impl FnMut(Line<'a>) -> Result<T, Errno>,
    ) -> Result<(T, Stamp), Errno> {
        let (found, stamp) = self.read(node.at, look)?;
        self.recognise(&node, || stamp)?;
        Ok((found?, stamp))
    }

    /// The stamp of a cell whose lock is free, if stamps are needed; none if it is held.
    #[inline(always)]
    pub(crate) fn stamp_if_free(&self, line: Line<'_>) -> Option<Stamp> {
        if S::IS_SHARED { Stamp::current_if_free(line) } else { Some(Stamp::default()) }
    }

    /// Checks that a node is still the same inode, without waiting. For a thread with locks that
    /// the owner of the changed cell might be waiting for.
    pub(crate) fn check_unchanged(&self, node: &Node) -> Result<(), Errno> {
        let line = self.line(node.at)?;
        match node.evidence {
            Evidence::Seen { by, by_stamp, .. } if self.holds(self.line(by)?) => {
                let is_same = Stamp::before_lock(self.line(by)?) == by_stamp;
                if is_same { Ok(()) } else { self.recognise(node, || Stamp::current(line)) }
            }
            Evidence::Seen { .. } | Evidence::Stays | Evidence::Open(_) | Evidence::Working => {
                self.recognise(node, || Stamp::current(line))
            }
        }
    }

    /// Checks that a node is still the same inode; `now` is its current stamp.
    #[inline(always)]
    pub(crate) fn recognise(&self, node: &Node, now: impl FnOnce() -> Stamp) -> Result<(), Errno> {
        let is_same = match node.evidence {
            _ if !S::IS_SHARED => true,
            Evidence::Stays => true,
            Evidence::Seen { stamp, by, by_stamp } => {
                stamp == now() || Stamp::current(self.line(by)?) == by_stamp
            }
            Evidence::Open(opening) => self.is_open(node.at, opening)?,
            Evidence::Working => self.is_still_working(),
        };
        if is_same { Ok(()) } else { Err(Errno::STALE) }
    }

    #[inline(always)]
    fn is_open(&self, at: Ref, by: OpenEvidence) -> Result<bool, Errno> {
        // The entry may have the same content again, with a new description in the same cell.
        let description = self.line(Ref(u32::from_bits(by.entry)))?;
        Ok(self.is_still_entry(by.of, by.index, by.entry)?
            && description.load(description::INODE) == at.0
            && description.load(description::FLAGS) == by.flags)
    }
}
