//! The annex of an inode: fields for which its cell has no room. Decides where an inode's data and
//! form are: in its cell, or in its annex if it has one.
//!
//! An inode gets an annex when it first needs something that a cell cannot hold (extended
//! attributes, file locks or an access time), and keeps it.

use crate::arena::{Field, LINE_BYTES, LINES_PER_PAGE, Line, Ref};
use crate::errno::Errno;
use crate::layout::{annex, cell, file_lock};
use crate::member::Member;
use crate::seams::Seams;

/// The cell of a locked inode, and where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InodeCell<'a> {
    pub(crate) at: Ref,
    pub(crate) line: Line<'a>,
}

/// A locked inode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inode<'a> {
    pub(crate) at: Ref,
    pub(crate) line: Line<'a>,
    /// Where its `DATA` and `FORM` are.
    pub(crate) body_at: Ref,
    pub(crate) body: Line<'a>,
}

impl<'a> Inode<'a> {
    /// Its cell.
    pub(crate) fn cell(&self) -> InodeCell<'a> {
        InodeCell { at: self.at, line: self.line }
    }

    /// Whether it has an annex.
    #[inline(always)]
    pub(crate) fn has_annex(&self) -> bool {
        self.at != self.body_at
    }
}

impl<'a, S: Seams> Member<'a, S> {
    /// The inode in this cell.
    #[inline(always)]
    pub(crate) fn inode(&self, at: Ref, line: Line<'a>) -> Result<Inode<'a>, Errno> {
        let body_at = if line.load(cell::FORM) == cell::ANNEX { annex_of(line) } else { at };
        Ok(Inode { at, line, body_at, body: self.line(body_at)? })
    }

    /// Gives an inode an annex if it has none. The log must be empty. The run `other` stays in
    /// stock, for what is to be stored next.
    #[cold]
    pub(crate) fn with_annex(&self, inode: Inode<'a>, other: Ref) -> Result<Inode<'a>, Errno> {
        if inode.has_annex() {
            return Ok(inode);
        }
        self.ready_to_give()?;
        let at = self.obtain_run_besides(1, &[other])?;
        self.zero(at, 1)?;
        let body = self.line(at)?;
        self.fill(body, cell::DATA, inode.line.load(cell::DATA));
        self.fill(body, cell::FORM, inode.line.load(cell::FORM));
        self.take_run(at)?;
        self.put(inode.at, cell::DATA, at.0);
        self.put(inode.at, cell::FORM, cell::ANNEX);
        self.commit();
        Ok(Inode { body_at: at, body, ..inode })
    }

    /// Logs that an inode's annex is freed. The annex must no longer refer to any content.
    pub(crate) fn give_annex(&self, inode: &Inode<'a>) -> Result<(), Errno> {
        if !inode.has_annex() {
            return Ok(());
        }
        for (run, lines) in runs_of(inode.body) {
            if lines > 0 {
                self.give_run(run, lines)?;
            }
        }
        self.give_run(inode.body_at, 1)?;
        self.put(inode.at, cell::DATA, 0_u32);
        self.put(inode.at, cell::FORM, 0_u8);
        Ok(())
    }

    /// Logs that a field of an annex refers to another run, which is in stock, instead of its old
    /// run of `old_bytes` bytes. The caller logs the new length.
    pub(crate) fn replace_run(
        &self,
        inode: &Inode<'a>,
        field: Field<u32>,
        old_bytes: u32,
        new: Option<Ref>,
    ) -> Result<(), Errno> {
        if let Some(new) = new {
            self.take_run(new)?;
        }
        if old_bytes > 0 {
            self.give_run(Ref(inode.body.load(field)), lines_for(old_bytes))?;
        }
        self.put(inode.body_at, field, new.unwrap_or(Ref::NONE).0);
        Ok(())
    }

    /// The line with an inode's data and form.
    #[inline(always)]
    pub(crate) fn body(&self, line: Line<'a>) -> Result<Line<'a>, Errno> {
        if line.load(cell::FORM) == cell::ANNEX { self.line(annex_of(line)) } else { Ok(line) }
    }
}

/// When the inode with this body was last accessed, if that has ever been set.
#[inline(always)]
pub(crate) fn accessed(line: Line<'_>, body: Line<'_>) -> Option<i64> {
    if line.is(body) { None } else { atime_of(body.load(annex::ATIME)) }
}

/// Stands for the modification time.
pub(crate) const NO_ATIME: u64 = 0;

/// A time in the form in which an annex has it: without the one that stands for another.
pub(crate) fn stored_atime(time: u64) -> u64 {
    let is_before_1970 = time.cast_signed() < 0;
    if is_before_1970 { time } else { time + 1 }
}

fn atime_of(stored: u64) -> Option<i64> {
    match stored.cast_signed() {
        0 => None,
        before @ ..0 => Some(before),
        after @ 1.. => Some(after - 1),
    }
}

/// Bytes in a line.
const LINE: u32 = 64;
const _: () = assert!(LINE as usize == LINE_BYTES);

/// How many lines a run needs to hold this many bytes.
pub(crate) fn lines_for(bytes: u32) -> u32 {
    let lines = bytes.div_ceil(LINE);
    if lines < LINES_PER_PAGE { lines } else { lines.next_multiple_of(LINES_PER_PAGE) }
}

/// The runs that this annex refers to, each with its number of lines.
pub(crate) fn runs_of(annex: Line<'_>) -> [(Ref, u32); 2] {
    let lock_bytes = annex.load(annex::LOCK_COUNT).saturating_mul(file_lock::BYTES);
    [
        (Ref(annex.load(annex::ATTRIBUTES)), lines_for(annex.load(annex::ATTRIBUTE_BYTES))),
        (Ref(annex.load(annex::LOCKS)), lines_for(lock_bytes)),
    ]
}

/// Where an inode's annex is; the inode must have one.
#[inline(always)]
fn annex_of(line: Line<'_>) -> Ref {
    Ref(line.load(cell::DATA))
}
