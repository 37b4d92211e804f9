//! `null`: nothing is done, so that what remains is the cost of the job itself.

use rustix::io::Errno;

use super::{Answer, Completion, Engine, Request};

/// Everything is complete at once.
pub(super) struct AtOnce;

impl Engine for AtOnce {
    fn is_synchronous(&self) -> bool {
        true
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        Answer::Complete(Ok(request.span.length()))
    }
}

/// Everything is complete when it is asked for.
#[derive(Default)]
pub(super) struct Later {
    queued: Vec<Completion>,
    done: Vec<Completion>,
}

impl Engine for Later {
    fn is_synchronous(&self) -> bool {
        false
    }

    fn queue(&mut self, request: &Request<'_>) -> Answer {
        if !self.done.is_empty() {
            return Answer::Busy;
        }
        self.queued.push(Completion { unit: request.unit, moved: Ok(request.span.length()) });
        Answer::Queued
    }

    fn commit(&mut self) -> Result<usize, Errno> {
        if !self.done.is_empty() {
            return Ok(0);
        }
        std::mem::swap(&mut self.queued, &mut self.done);
        Ok(self.done.len())
    }

    fn reap(
        &mut self,
        least: usize,
        _most: usize,
        into: &mut Vec<Completion>,
    ) -> Result<(), Errno> {
        if least > 0 {
            into.append(&mut self.done);
        }
        Ok(())
    }
}
