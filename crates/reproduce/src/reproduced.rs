//! What all reproductions have in common.

use serde::Serialize;

use crate::statement::Statement;
use crate::{bonnie_anova, densefs, fscache, memory_rich, rocket_science};

/// A paper, or one of its items, beside what was computed or measured here.
pub trait Reproduced: Serialize {
    /// Renders it for people.
    fn text(&self, width: usize) -> String;

    /// What the paper says, and whether it holds here.
    fn statements(&self) -> Vec<&Statement>;
}

impl Reproduced for rocket_science::Reproduction {
    fn text(&self, width: usize) -> String {
        self.text(width)
    }

    fn statements(&self) -> Vec<&Statement> {
        self.statements.iter().collect()
    }
}

/// What is only computed judges nothing.
impl Reproduced for rocket_science::Survey {
    fn text(&self, width: usize) -> String {
        self.text(width)
    }

    fn statements(&self) -> Vec<&Statement> {
        Vec::new()
    }
}

impl Reproduced for memory_rich::Reproduction {
    fn text(&self, width: usize) -> String {
        self.text(width)
    }

    fn statements(&self) -> Vec<&Statement> {
        self.statements.iter().collect()
    }
}

impl Reproduced for Vec<memory_rich::ModelRow> {
    fn text(&self, _width: usize) -> String {
        memory_rich::model_text(self)
    }

    fn statements(&self) -> Vec<&Statement> {
        Vec::new()
    }
}

impl Reproduced for bonnie_anova::Reproduction {
    fn text(&self, width: usize) -> String {
        self.text(width)
    }

    /// Those of the run that was timed or, if it lacks some of the paper's file systems, of the one
    /// that was counted.
    fn statements(&self) -> Vec<&Statement> {
        let run = self.counted.as_ref().or(self.measured.as_ref());
        run.map_or(Vec::new(), |run| run.statements.iter().collect())
    }
}

impl Reproduced for densefs::Reproduction {
    fn text(&self, width: usize) -> String {
        self.text(width)
    }

    fn statements(&self) -> Vec<&Statement> {
        self.statements.iter().collect()
    }
}

impl Reproduced for fscache::Reproduction {
    fn text(&self, width: usize) -> String {
        self.text(width)
    }

    fn statements(&self) -> Vec<&Statement> {
        self.statements.iter().collect()
    }
}
