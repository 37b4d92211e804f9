//! How an operation knows the inode that it is about.
//!
//! The root stays. What a walk found may have gone the next moment, and its cell may be another
//! inode by then. So a [`Node`] carries what speaks for it: a directory in which it was found, and
//! the state of both at that moment, or the descriptor by which it is open. Whoever uses a node
//! looks at that again, under its lock or after having read from it. It is still the same if it has
//! not changed at all, or if the directory has not: who wants to be rid of an inode has to change
//! the directory first.

use crate::arena::{LINE_BYTES, Line, Ref, Word};
use crate::errno::Errno;
use crate::layout::{description, superblock};
use crate::member::Member;
use crate::seams::Seams;
use crate::stamp::Stamp;

/// An inode, and how it is known.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub(crate) at: Ref,
    pub(crate) known: Known,
}

/// What speaks for a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    /// Nothing has to: it stays.
    Stays,
    /// It had this stamp when the line `by` had the other, and said that it is there.
    Seen { stamp: Stamp, by: Ref, by_stamp: Stamp },
    /// It is open, as long as this place of a process' table of descriptors, wherever that lies,
    /// refers to a description that says so, with these flags.
    Open(Opening),
    /// It is the working directory that the member remembers, and that has not been changed since.
    Working,
}

/// By what a node is open: which place of which process' table of descriptors has what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub(crate) of: Ref,
    pub(crate) place: u32,
    pub(crate) entry: u64,
    /// The flags of the description.
    pub(crate) flags: u32,
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
        Ok(Node { at, known: Known::Stays })
    }

    /// An inode's number: unlike all others now, and perhaps like that of one that is gone.
    #[inline(always)]
    #[must_use]
    pub fn ino(&self, node: Node) -> u64 {
        self.ino_at(node.at)
    }

    /// The number of the inode in this cell: where it is, which stays the same when the arena is
    /// attached elsewhere, made unrecognisable.
    #[inline(always)]
    pub(crate) fn ino_at(&self, at: Ref) -> u64 {
        (u64::from(at.0) * LINE_BYTES as u64) ^ self.ino_secret()
    }

    /// Locks an inode.
    ///
    /// # Errors
    /// [`Errno::STALE`] if it is no longer what it was; as [`Member::lock`].
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

    /// What the closure finds in an inode while nobody changes it.
    ///
    /// # Errors
    /// [`Errno::STALE`] if it is no longer what it was; what the closure says; as [`Member::read`].
    #[inline(always)]
    pub(crate) fn read_node<T>(
        &self,
        node: Node,
        look: impl FnMut(Line<'a>) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        Ok(self.read_node_at(node, look)?.0)
    }

    /// The same, and the inode's stamp at that moment.
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

    /// Checks that a node is what it was, without waiting: for whoever holds locks that the holder
    /// of what it has become might wait for.
    pub(crate) fn check_unchanged(&self, node: &Node) -> Result<(), Errno> {
        let line = self.line(node.at)?;
        match node.known {
            Known::Seen { by, by_stamp, .. } if self.holds(self.line(by)?) => {
                let is_same = Stamp::before_lock(self.line(by)?) == by_stamp;
                if is_same { Ok(()) } else { self.recognise(node, || Stamp::of(line)) }
            }
            Known::Seen { .. } | Known::Stays | Known::Open(_) | Known::Working => {
                self.recognise(node, || Stamp::of(line))
            }
        }
    }

    /// Whether a node is what it was when it was found, now that its stamp is this.
    #[inline(always)]
    pub(crate) fn recognise(&self, node: &Node, now: impl FnOnce() -> Stamp) -> Result<(), Errno> {
        let is_same = match node.known {
            Known::Stays => true,
            Known::Seen { stamp, by, by_stamp } => {
                stamp == now() || Stamp::of(self.line(by)?) == by_stamp
            }
            Known::Open(opening) => self.is_open(node.at, opening)?,
            Known::Working => self.is_still_working(),
        };
        if is_same { Ok(()) } else { Err(Errno::STALE) }
    }

    #[inline(always)]
    fn is_open(&self, at: Ref, by: Opening) -> Result<bool, Errno> {
        // A description may have become another's, at the same place.
        let description = self.line(Ref(u32::of_bits(by.entry)))?;
        Ok(self.is_in_place(by.of, by.place, by.entry)?
            && description.load(description::INODE) == at.0
            && description.load(description::FLAGS) == by.flags)
    }
}
