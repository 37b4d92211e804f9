//! When a job verifies, or trims, in between its writes: `verify_backlog`, `trim_backlog`.
//!
//! Before each operation, [`TrimBacklog`] is asked after [`VerifyBacklog`] has said no. `logged` is
//! the number of pieces in the [`History`](super::History), and `last_was_read` says whether the
//! operation that ended last was a read, those that verify included.

/// When to verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyBacklog {
    /// `verify_backlog`, in blocks. 0 means never.
    every: u64,
    /// `verify_backlog_batch`, or as many as `every`.
    batch: u64,
    left: u64,
}

impl VerifyBacklog {
    /// A batch of 0 is as large as the backlog.
    pub fn new(every: u64, batch: u64) -> Self {
        Self { every, batch: if batch == 0 { every } else { batch }, left: 0 }
    }

    /// Whether a block is to be verified now, if one can be: call [`verified`](Self::verified)
    /// then.
    pub fn is_due(&mut self, logged: usize, last_was_read: bool) -> bool {
        if self.every == 0 || logged == 0 {
            return false;
        }
        if self.left > 0 {
            return true;
        }
        if !(logged as u64).is_multiple_of(self.every) || last_was_read {
            return false;
        }
        self.left = self.batch;
        true
    }

    /// A block was taken to be verified.
    pub fn verified(&mut self) {
        self.left = self.left.saturating_sub(1);
    }
}

/// When to trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimBacklog {
    /// `trim_backlog`, in blocks. 0 means never.
    every: u64,
    /// `trim_backlog_batch`, or as many as `every`.
    batch: u64,
    left: u64,
}

impl TrimBacklog {
    /// A batch of 0 is as large as the backlog. The block that a batch begins with comes on top.
    pub fn new(every: u64, batch: u64) -> Self {
        Self { every, batch: if batch == 0 { every } else { batch }, left: 0 }
    }

    /// Whether a block is to be trimmed now. `trims` is [`History::trims`](super::History::trims).
    pub fn is_due(&mut self, logged: usize, trims: usize, last_was_read: bool) -> bool {
        if self.every == 0 || trims == 0 {
            return false;
        }
        if self.left > 0 {
            self.left -= 1;
            return true;
        }
        if !(logged as u64).is_multiple_of(self.every) || last_was_read {
            return false;
        }
        self.left = self.batch;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_verified_after_every_backlog() {
        let mut backlog = VerifyBacklog::new(4, 2);
        assert!(!backlog.is_due(0, false));
        assert!(!backlog.is_due(3, false));
        assert!(!backlog.is_due(4, true));
        assert!(backlog.is_due(4, false));
        backlog.verified();
        assert!(backlog.is_due(3, true));
        backlog.verified();
        assert!(!backlog.is_due(2, true));
        assert!(!VerifyBacklog::new(0, 2).is_due(4, false));
        let mut whole = VerifyBacklog::new(2, 0);
        assert!(whole.is_due(2, false));
        whole.verified();
        assert!(whole.is_due(1, true));
    }

    #[test]
    fn a_batch_is_trimmed_after_every_backlog_and_one_on_top() {
        let mut backlog = TrimBacklog::new(4, 2);
        assert!(!backlog.is_due(4, 0, false));
        assert!(backlog.is_due(4, 3, false));
        assert!(backlog.is_due(3, 2, false));
        assert!(backlog.is_due(3, 1, false));
        assert!(!backlog.is_due(3, 1, false));
        assert!(!TrimBacklog::new(0, 2).is_due(4, 1, false));
    }
}
