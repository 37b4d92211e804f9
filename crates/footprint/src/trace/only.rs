//! An observer that sees some regions of a walk alone.

use super::code::Code;
use super::stacks::StackTree;
use super::walk::{Completeness, Observer, Region, Step, Touch};

/// Passes on what belongs to some regions.
#[derive(Debug)]
pub struct Only<'a, O> {
    observer: O,
    /// None: all of them.
    regions: Option<&'a [Region]>,
    /// The vCPUs that are in one of them.
    vcpus: Vec<u32>,
}

impl<'a, O: Observer> Only<'a, O> {
    /// Passes on to `observer` what belongs to one of `regions`; everything where there are none.
    pub fn new(observer: O, regions: Option<&'a [Region]>) -> Self {
        Self { observer, regions, vcpus: Vec::new() }
    }

    /// The observer that it passes on to.
    pub fn observer(&mut self) -> &mut O {
        &mut self.observer
    }
}

impl<O: Observer> Observer for Only<'_, O> {
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
