//! How often an inode is open, and what that keeps of it.
//!
//! An open description keeps an inode with its content, even when all names are gone. One that is
//! [`description::NUMBER_ONLY`] keeps the cell, so that no other inode gets the same number, but
//! not the content: that of a file goes with the last name and the last other description.

use crate::arena::Line;
use crate::errno::Errno;
use crate::layout::{cell, description};

/// How many descriptions of either kind an inode has: the content of [`cell::OPENS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opens(pub(crate) u16);

/// The bits that count the descriptions that keep the content.
const WHOLE: u16 = 0x3fff;
/// Stands for their number while the content of a file that nobody has open is being freed.
const BEING_FREED: u16 = WHOLE;
/// One description that keeps only the number; two bits count these.
const NUMBER: u16 = WHOLE + 1;

impl Opens {
    /// How often the inode in this cell is open.
    #[inline(always)]
    pub(crate) fn from_inode(line: Line<'_>) -> Self {
        Self(line.load(cell::OPENS))
    }

    /// With one description more, and that description's flags. If so many keep only the number
    /// that one more cannot be counted, it keeps the content as well.
    ///
    /// # Errors
    /// [`Errno::NFILE`] if there would be too many.
    #[inline(always)]
    pub(crate) fn opened(self, how: u32) -> Result<(Self, u32), Errno> {
        if is_number_only(how) {
            return self.opened_for_number(how);
        }
        if self.0 & WHOLE >= BEING_FREED - 1 {
            return Err(Errno::NFILE);
        }
        Ok((Self(self.0 + 1), how))
    }

    #[cold]
    #[inline(never)]
    fn opened_for_number(self, how: u32) -> Result<(Self, u32), Errno> {
        match self.0.checked_add(NUMBER) {
            Some(opens) => Ok((Self(opens), how)),
            None => self.opened(how & !description::NUMBER_ONLY | description::PATH),
        }
    }

    /// Without a description that had these flags.
    ///
    /// # Errors
    /// [`Errno::CORRUPT`] if there is no such description.
    #[inline(always)]
    pub(crate) fn closed(self, how: u32) -> Result<Self, Errno> {
        let (one, is_counted) = if is_number_only(how) {
            (NUMBER, self.0 >= NUMBER)
        } else {
            (1, self.has_content() && !self.is_being_freed())
        };
        if is_counted { Ok(Self(self.0 - one)) } else { Err(Errno::CORRUPT) }
    }

    /// Whether nothing keeps the inode.
    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether something keeps the content: a description, or whoever is about to free it.
    #[inline(always)]
    pub(crate) fn has_content(self) -> bool {
        self.0 & WHOLE != 0
    }

    /// Whether the content is being freed.
    #[inline(always)]
    pub(crate) fn is_being_freed(self) -> bool {
        self.0 & WHOLE == BEING_FREED
    }

    /// While the content, which no description keeps, is being freed.
    pub(crate) fn freeing(self) -> Self {
        Self(self.0 | BEING_FREED)
    }

    /// After the content has been freed.
    pub(crate) fn freed(self) -> Self {
        Self(self.0 & !WHOLE)
    }

    /// How many descriptions there are.
    pub(crate) fn count(self) -> u64 {
        let whole = if self.is_being_freed() { 0 } else { self.0 & WHOLE };
        u64::from(whole + self.0 / NUMBER)
    }
}

#[inline(always)]
fn is_number_only(how: u32) -> bool {
    how & description::NUMBER_ONLY == description::NUMBER_ONLY
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER_ONLY: u32 = description::NUMBER_ONLY;

    fn opened(opens: Opens, how: u32) -> Opens {
        opens.opened(how).expect("there are not that many").0
    }

    #[test]
    fn both_kinds_of_descriptions_are_counted_apart() {
        let whole = opened(Opens(0), 0);
        let both = opened(whole, NUMBER_ONLY);
        assert_eq!((both.count(), both.has_content()), (2, true));
        let number = both.closed(0).expect("it is open");
        assert_eq!((number.count(), number.has_content(), number.is_none()), (1, false, false));
        assert_eq!(number.closed(0), Err(Errno::CORRUPT));
        assert_eq!(whole.closed(NUMBER_ONLY), Err(Errno::CORRUPT));
        assert_eq!(number.closed(NUMBER_ONLY), Ok(Opens(0)));
    }

    #[test]
    fn a_description_that_cannot_be_counted_keeps_the_content() {
        let three = (0..3).fold(Opens(0), |opens, _| opened(opens, NUMBER_ONLY));
        let (four, how) = three.opened(NUMBER_ONLY).expect("it is counted with the others");
        assert_eq!((four.count(), four.has_content(), how), (4, true, description::PATH));
        assert_eq!(four.closed(how), Ok(three));
    }

    #[test]
    fn as_many_are_counted_as_fit() {
        let most = (0..16_382).fold(opened(Opens(0), NUMBER_ONLY), |opens, _| opened(opens, 0));
        assert_eq!(most.opened(0), Err(Errno::NFILE));
        assert_eq!((most.count(), most.is_being_freed()), (16_383, false));
    }

    #[test]
    fn content_that_is_being_freed_cannot_be_opened_or_closed() {
        let freeing = opened(Opens(0), NUMBER_ONLY).freeing();
        assert_eq!((freeing.count(), freeing.has_content()), (1, true));
        assert_eq!(freeing.opened(0), Err(Errno::NFILE));
        assert_eq!(freeing.closed(0), Err(Errno::CORRUPT));
        assert_eq!(freeing.closed(NUMBER_ONLY).map(Opens::freed), Ok(Opens(0)));
        assert_eq!(freeing.freed().count(), 1);
    }
}
