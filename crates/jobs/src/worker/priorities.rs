//! Which operations have a priority other than their job's: drawn when they are handed to the
//! engine, as in fio.

use job_offsets::{Direction, Generator, JobSeeds, Purpose};
use job_results::{DirectionResult, PriorityLatencies};

use super::Worker;
use crate::plan::{JobPlan, PriorityShare};

/// Draws the priorities of a job's operations.
pub(super) struct Priorities {
    own: u16,
    shares: [Vec<PriorityShare>; 2],
    generator: Generator,
}

impl Priorities {
    /// `None` if all operations have the job's.
    pub(super) fn new(plan: &JobPlan, seeds: &JobSeeds) -> Option<Self> {
        let all = &plan.priorities;
        let used = |way: Direction, shares: &[PriorityShare]| match plan.has(way) {
            true => shares.to_vec(),
            false => Vec::new(),
        };
        let shares = [used(Direction::Read, &all.reads), used(Direction::Write, &all.writes)];
        let own = plan.process.io_priority.unwrap_or(0);
        let generator = seeds.generator(Purpose::Priority);
        let is_used = shares.iter().any(|shares| !shares.is_empty());
        is_used.then_some(Self { own, shares, generator })
    }

    fn shares(&self, direction: Direction) -> &[PriorityShare] {
        match direction {
            Direction::Read => &self.shares[0],
            Direction::Write => &self.shares[1],
            Direction::Trim => &[],
        }
    }

    fn draw(&mut self, direction: Direction, length: u64) -> Option<u16> {
        let is_for = |share: &PriorityShare| share.block_bytes.is_none_or(|own| own == length);
        let sum: u32 = self.shares(direction).iter().filter(|one| is_for(one)).map(percent).sum();
        if sum == 0 {
            return None;
        }
        let drawn = self.generator.between(0, 99);
        let mut below = 0;
        self.shares(direction).iter().filter(|one| is_for(one)).find_map(|share| {
            below += u64::from(share.percent);
            (drawn < below).then_some(share.priority)
        })
    }

    /// The latencies of a direction by priority, of which there are none yet: first the job's.
    pub(super) fn begin(&self, direction: Direction, result: &mut DirectionResult) {
        let shares = self.shares(direction);
        let own = (!shares.is_empty()).then_some(self.own);
        for priority in own.into_iter().chain(shares.iter().map(|share| share.priority)) {
            if !result.priorities.iter().any(|one| one.priority == priority) {
                let latencies = job_results::Latencies::default();
                result.priorities.push(PriorityLatencies { priority, latencies });
            }
        }
    }
}

fn percent(share: &PriorityShare) -> u32 {
    share.percent
}

impl Worker<'_> {
    /// Draws the priority of a unit that is about to be issued. One that the engine could not take
    /// keeps what was drawn.
    pub(super) fn draw_priority(&mut self, unit: u32) {
        let Some(priorities) = &mut self.priorities else { return };
        let own = &mut self.units[unit as usize];
        let Some(direction) = own.direction() else { return };
        if !std::mem::replace(&mut own.has_drawn, true) {
            own.priority = priorities.draw(direction, own.length as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use job_offsets::Width;

    use super::*;

    fn priorities(reads: Vec<PriorityShare>) -> Priorities {
        let generator = Generator::new(Width::Bits32, 1);
        Priorities { own: 0, shares: [reads, Vec::new()], generator }
    }

    #[test]
    fn shares_are_kept() {
        let share =
            |block_bytes, percent, priority| PriorityShare { block_bytes, percent, priority };
        let mut priorities = priorities(vec![share(Some(4096), 20, 1), share(Some(4096), 30, 2)]);
        let mut counts = [0; 3];
        for _ in 0..10_000 {
            counts[usize::from(priorities.draw(Direction::Read, 4096).unwrap_or(0))] += 1;
        }
        for (count, expected) in counts.into_iter().zip([5000_i32, 2000, 3000]) {
            assert!((expected - 200..expected + 200).contains(&count), "{counts:?}");
        }
        assert_eq!(priorities.draw(Direction::Read, 8192), None);
        assert_eq!(priorities.draw(Direction::Write, 4096), None);
        let mut result = DirectionResult::default();
        priorities.begin(Direction::Read, &mut result);
        let all: Vec<u16> = result.priorities.iter().map(|one| one.priority).collect();
        assert_eq!(all, [0, 1, 2]);
    }
}
