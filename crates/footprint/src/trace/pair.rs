//! Two observers that see the same walk.

use super::code::Code;
use super::stacks::StackTree;
use super::walk::{Completeness, Observer, Region, Step, Touch};

impl<A: Observer, B: Observer> Observer for (&mut A, &mut B) {
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
