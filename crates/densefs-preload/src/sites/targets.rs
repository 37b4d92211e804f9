//! Where branches go, as far as that bears on a function: what may be moved out of it is that into
//! which no branch goes.

use std::ops::Range;

use super::{
    instruction::{self, Flow},
    text::Text,
};

/// The longest function that is looked at. Those that make system calls are far shorter.
const LONGEST: usize = 32 << 10;

/// Compilers move what rarely runs out of its function, and linkers put all of that at the
/// beginning of the text. From there, branches go back into the middle of functions. Other
/// functions are only entered at their beginning, which is never in the middle of what is moved.
const RARELY_RUN: usize = 16 << 10;

/// The most branches that are noted of what rarely runs.
const MOST_RARE: usize = 2048;

/// The targets of direct branches in one function after the other.
pub(super) struct Targets {
    function: Range<usize>,
    /// A bit for each byte of the function.
    targets: [u64; LONGEST / 64],
    /// Whether any byte might be a target: the function has a jump through a table, or cannot be
    /// decoded or is too long.
    are_unknown: bool,
    /// The targets of branches from what rarely runs.
    rare: [u32; MOST_RARE],
    rare_count: usize,
    /// Whether those have been looked for.
    has_rare: bool,
}

impl Targets {
    pub(super) fn new() -> Self {
        Self {
            function: 0..0,
            targets: [0; LONGEST / 64],
            are_unknown: true,
            rare: [0; MOST_RARE],
            rare_count: 0,
            has_rare: false,
        }
    }

    /// Looks at `function`, unless that was the last one.
    pub(super) fn look_at(&mut self, text: &Text, function: &Range<usize>) {
        if !self.has_rare {
            self.has_rare = true;
            self.note_rare(text.bytes);
        }
        if self.function != *function {
            self.function = function.clone();
            // If there was no room for all of those, nothing is certain.
            self.are_unknown = self.note(text.bytes).is_none() || self.rare_count == MOST_RARE;
        }
    }

    /// Whether a branch may go to `offset` in the function that was looked at.
    pub(super) fn may_have(&self, offset: usize) -> bool {
        let at = offset.wrapping_sub(self.function.start);
        let is_target = self.targets.get(at / 64).is_none_or(|bits| bits >> (at % 64) & 1 != 0);
        self.are_unknown || is_target
    }

    /// Notes the function's branches. `None` if some are not known.
    fn note(&mut self, text: &[u8]) -> Option<()> {
        self.targets[..self.function.len().min(LONGEST).div_ceil(64)].fill(0);
        let mut is_complete = self.function.len() <= LONGEST;
        let mut at = self.function.start;
        while at < self.function.end {
            let step = instruction::step(text, at)?;
            if !step.may_branch {
                at = step.end;
                continue;
            }
            let instruction = instruction::decode(text, at)?;
            is_complete &= instruction.flow != Flow::Computed;
            let target = instruction.flow.target().and_then(|target| usize::try_from(target).ok());
            if let Some(target) = target {
                self.mark(target);
            }
            at = instruction.end;
        }
        for index in 0..self.rare_count {
            self.mark(self.rare[index] as usize);
        }
        is_complete.then_some(())
    }

    /// Marks `target` if it is in the function.
    fn mark(&mut self, target: usize) {
        if self.function.contains(&target) {
            let bit = target - self.function.start;
            if let Some(bits) = self.targets.get_mut(bit / 64) {
                *bits |= 1 << (bit % 64);
            }
        }
    }

    /// Notes the targets of whatever looks like a branch in what rarely runs. No branch is
    /// overlooked; what is noted in excess costs a choice at most.
    fn note_rare(&mut self, text: &[u8]) {
        let text = &text[..text.len().min(RARELY_RUN)];
        for (at, pair) in text.windows(2).enumerate() {
            let distance_at = match *pair {
                [0xe9, _] => at + 1,
                [0x0f, 0x80..=0x8f] => at + 2,
                _ => continue,
            };
            let Some(distance) = instruction::distance(text, distance_at) else { continue };
            let Some(target) = (distance_at + 4).checked_add_signed(distance) else { continue };
            if let Some(place) = self.rare.get_mut(self.rare_count)
                && let Ok(target) = u32::try_from(target)
            {
                *place = target;
                self.rare_count += 1;
            }
        }
    }
}
