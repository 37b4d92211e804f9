//! What reproducing a paper yields: something to print, and what is left to do afterwards.

use ::reproduce::{Reproduced, Statement};

use crate::arguments::analysis::AnswerFormat;
use crate::exit::Outcome;
use crate::output;

/// A reproduction, whatever its paper.
pub(super) struct Answer {
    reproduced: Box<dyn Printable>,
    end: Box<dyn FnOnce() -> Outcome>,
}

impl Answer {
    /// Something that is only computed.
    pub(super) fn computed(reproduced: impl Reproduced + 'static) -> Self {
        Self::measured(reproduced, || Outcome::Success)
    }

    /// Something that was measured; `end` is done once it is printed, and tells how the command
    /// ends.
    pub(super) fn measured(
        reproduced: impl Reproduced + 'static,
        end: impl FnOnce() -> Outcome + 'static,
    ) -> Self {
        Self { reproduced: Box::new(reproduced), end: Box::new(end) }
    }

    /// What the paper says, and whether it holds here.
    pub(super) fn statements(&self) -> Vec<&Statement> {
        self.reproduced.statements()
    }

    /// Prints it.
    pub(super) fn print(self, format: AnswerFormat) -> anyhow::Result<Outcome> {
        self.reproduced.print(format)?;
        Ok(self.end())
    }

    /// Does what is left without printing anything.
    pub(super) fn end(self) -> Outcome {
        (self.end)()
    }
}

/// [`Reproduced`] as an object.
trait Printable {
    fn print(&self, format: AnswerFormat) -> anyhow::Result<Outcome>;
    fn statements(&self) -> Vec<&Statement>;
}

impl<T: Reproduced> Printable for T {
    fn print(&self, format: AnswerFormat) -> anyhow::Result<Outcome> {
        output::print_answer(format, self, |width| self.text(width))
    }

    fn statements(&self) -> Vec<&Statement> {
        Reproduced::statements(self)
    }
}
