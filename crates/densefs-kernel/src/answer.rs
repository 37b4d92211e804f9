//! What functions return to C.

use densefs::Errno;

/// What a call that has succeeded returns.
pub(crate) trait Answer {
    /// As the system call returns it.
    fn number(self) -> i64;
}

impl Answer for () {
    #[inline(always)]
    fn number(self) -> i64 {
        0
    }
}

impl Answer for u32 {
    #[inline(always)]
    fn number(self) -> i64 {
        self.into()
    }
}

impl Answer for usize {
    #[inline(always)]
    fn number(self) -> i64 {
        i64::try_from(self).unwrap_or(i64::MAX)
    }
}

impl Answer for u64 {
    #[inline(always)]
    fn number(self) -> i64 {
        self.cast_signed()
    }
}

/// What C gets for what a call has returned.
#[inline(always)]
pub(crate) fn answer<T: Answer>(done: Result<T, Errno>) -> i64 {
    match done {
        Ok(answer) => answer.number(),
        Err(why) => -i64::from(why.0),
    }
}
