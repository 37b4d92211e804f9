//! Observers for pairs of observers, optional observers, and references to observers.

use super::code::Code;
use super::stacks::StackTree;
use super::walk::{Completeness, Observer, Region, Step, Touch};

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn begin(&mut self, vcpu: u32, region: Region) {
        self.0.begin(vcpu, region);
        self.1.begin(vcpu, region);
    }

    #[inline]
    fn execute(&mut self, code: &Code, stacks: &StackTree, step: Step<'_>) {
        self.0.execute(code, stacks, step);
        self.1.execute(code, stacks, step);
    }

    #[inline]
    fn access(&mut self, code: &Code, stacks: &StackTree, touch: Touch<'_>) {
        self.0.access(code, stacks, touch);
        self.1.access(code, stacks, touch);
    }

    fn end(&mut self, vcpu: u32, completeness: Completeness) {
        self.0.end(vcpu, completeness);
        self.1.end(vcpu, completeness);
    }
}

impl<O: Observer> Observer for Option<O> {
    fn begin(&mut self, vcpu: u32, region: Region) {
        if let Some(observer) = self {
            observer.begin(vcpu, region);
        }
    }

    #[inline]
    fn execute(&mut self, code: &Code, stacks: &StackTree, step: Step<'_>) {
        if let Some(observer) = self {
            observer.execute(code, stacks, step);
        }
    }

    #[inline]
    fn access(&mut self, code: &Code, stacks: &StackTree, touch: Touch<'_>) {
        if let Some(observer) = self {
            observer.access(code, stacks, touch);
        }
    }

    fn end(&mut self, vcpu: u32, completeness: Completeness) {
        if let Some(observer) = self {
            observer.end(vcpu, completeness);
        }
    }
}

impl<O: Observer> Observer for &mut O {
    fn begin(&mut self, vcpu: u32, region: Region) {
        (**self).begin(vcpu, region);
    }

    #[inline]
    fn execute(&mut self, code: &Code, stacks: &StackTree, step: Step<'_>) {
        (**self).execute(code, stacks, step);
    }

    #[inline]
    fn access(&mut self, code: &Code, stacks: &StackTree, touch: Touch<'_>) {
        (**self).access(code, stacks, touch);
    }

    fn end(&mut self, vcpu: u32, completeness: Completeness) {
        (**self).end(vcpu, completeness);
    }
}
