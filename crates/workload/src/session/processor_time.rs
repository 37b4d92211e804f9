//! Processor time, as threads use it.

/// Processor time of one or several threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessorTime {
    /// In this program's own code.
    pub user_ns: u64,
    /// In the kernel, on behalf of the threads' own calls.
    pub system_ns: u64,
}

impl ProcessorTime {
    /// The exact sum `all_ns`, shared out as `user_ns` and `system_ns` are to each other.
    pub(crate) fn shared_out(all_ns: u64, user_ns: u64, system_ns: u64) -> Self {
        let sampled = u128::from(user_ns) + u128::from(system_ns);
        let user = u128::from(all_ns) * u128::from(user_ns) / sampled.max(1);
        let user_ns = u64::try_from(user).unwrap_or(all_ns).min(all_ns);
        Self { user_ns, system_ns: all_ns - user_ns }
    }

    /// Both together.
    #[must_use]
    pub fn all_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }

    /// What was used after `earlier`. The sum stays exact should the shares go back a little.
    pub(crate) fn since(self, earlier: Self) -> Self {
        let all_ns = self.all_ns().saturating_sub(earlier.all_ns());
        let user_ns = self.user_ns.saturating_sub(earlier.user_ns).min(all_ns);
        Self { user_ns, system_ns: all_ns - user_ns }
    }
}

impl std::ops::AddAssign for ProcessorTime {
    fn add_assign(&mut self, more: Self) {
        self.user_ns += more.user_ns;
        self.system_ns += more.system_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_exact_and_shared_out_in_proportion() {
        let shared = ProcessorTime::shared_out(1_001, 1_000, 3_000);
        assert_eq!((shared.user_ns, shared.system_ns), (250, 751));
        assert_eq!(ProcessorTime::shared_out(5, 0, 0).system_ns, 5);
    }

    #[test]
    fn a_difference_keeps_its_sum_though_a_share_goes_back() {
        let earlier = ProcessorTime { user_ns: 50, system_ns: 50 };
        let later = ProcessorTime { user_ns: 40, system_ns: 80 };
        assert_eq!(later.since(earlier), ProcessorTime { user_ns: 0, system_ns: 20 });
    }
}
