//! A run of Bonnie in the forms that Bonnie and Bonnie++ print: the table of the former, and the
//! comma-separated lines of the latter, which its `bon_csv2html` reads.
//!
//! Figures are medians over replicates. Anything that took less than half a second has no figure:
//! Bonnie++ prints `+++++` for it, since the clocks of its day could not measure that.

mod csv;
mod figures;
mod table;

use std::fmt;

use record::{Document, Run};
use thiserror::Error;

use self::figures::Figures;

/// The suites: Bonnie's phases, the same phases as a paper used them, and the tests that Bonnie++
/// added.
const BONNIE: &str = "bonnie";
const BONNIE_ANOVA: &str = "bonnie-anova";
const BONNIE_METADATA: &str = "bonnie-metadata";

/// One of the two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BonnieForm {
    /// The table of Bonnie, for its own phases only.
    Table,
    /// A line for each target as Bonnie++ prints it, for either suite.
    Csv,
}

/// A run that cannot be written in this form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("--format {form} is for runs of {suites}, not of '{suite}': use --format csv-summary")]
pub struct NotBonnie {
    form: BonnieForm,
    suites: &'static str,
    suite: String,
}

/// A run in one of the forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BonnieExport {
    /// The whole text, including the last line break.
    pub text: String,
    /// A sentence for each target with phases that were too short.
    pub notes: Vec<String>,
}

impl fmt::Display for BonnieForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Table => "bonnie",
            Self::Csv => "bonnie++",
        })
    }
}

impl BonnieForm {
    /// Checks that the form is applicable to runs of a suite.
    ///
    /// # Errors
    /// If it is not.
    pub fn check(self, suite: &str) -> Result<(), NotBonnie> {
        let has_phases = [BONNIE, BONNIE_ANOVA].contains(&suite);
        let (suites, is_for) = match self {
            Self::Table => (BONNIE, has_phases),
            Self::Csv => ("bonnie and bonnie-metadata", has_phases || suite == BONNIE_METADATA),
        };
        if is_for {
            return Ok(());
        }
        Err(NotBonnie { form: self, suites, suite: suite.to_owned() })
    }

    /// A run in this form.
    ///
    /// # Errors
    /// If it is a run of another suite.
    pub fn render(self, document: &Document, run: &Run) -> Result<BonnieExport, NotBonnie> {
        let suite = &run.manifest.run.suite;
        self.check(suite)?;
        let figures = Figures::from_run(document, run);
        let figures = figures.ok_or_else(|| NotBonnie {
            form: self,
            suites: BONNIE,
            suite: suite.clone(),
        })?;
        let text = match self {
            Self::Table => table::render(&figures),
            Self::Csv => csv::render(&figures, &run.manifest),
        };
        Ok(BonnieExport { text, notes: figures.notes() })
    }
}

#[cfg(test)]
mod tests;
