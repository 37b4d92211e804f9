//! An observer that sees only some regions of a walk.

use super::code::Code;
use super::stacks::StackTree;
use super::walk::{Completeness, Observer, Region, Step, Touch};

/// Forwards what belongs to some regions.
#[derive(Debug)]
pub struct RegionFilter<'a, O> {
    observer: O,
    /// `None` means all of them.
    regions: Option<&'a [Region]>,
    /// The vCPUs that are in one of them.
    vcpus: Vec<u32>,
}

impl<'a, O: Observer> RegionFilter<'a, O> {
    /// Forwards to `observer` what belongs to one of `regions`, or everything if `None`.
    pub fn new(observer: O, regions: Option<&'a [Region]>) -> Self {
        Self { observer, regions, vcpus: Vec::new() }
    }

    /// The observer that it forwards to.
    pub fn observer(&mut self) -> &mut O {
        &mut self.observer
    }
}

impl<O: Observer> Observer for RegionFilter<'_, O> {
    fn begin(&mut self, vcpu: u32, region: Region) {
        if self.regions.is_none_or(|regions| regions.contains(&region)) {
            self.vcpus.push(vcpu);
            self.observer.begin(vcpu, region);
        }
    }

    #[inline]
    fn execute(&mut self, code: &Code, stacks: &StackTree, step: Step<'_>) {
        if self.vcpus.contains(&step.vcpu) {
            self.observer.execute(code, stacks, step);
        }
    }

    #[inline]
    fn access(&mut self, code: &Code, stacks: &StackTree, touch: Touch<'_>) {
        if self.vcpus.contains(&touch.step.vcpu) {
            self.observer.access(code, stacks, touch);
        }
    }

    fn end(&mut self, vcpu: u32, completeness: Completeness) {
        if let Some(at) = self.vcpus.iter().position(|&known| known == vcpu) {
            self.vcpus.swap_remove(at);
            self.observer.end(vcpu, completeness);
        }
    }
}
