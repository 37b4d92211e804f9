//! Which targets to make. All are checked before any is made.

use record::Skipped;
use thiserror::Error;

use crate::availability::{Unavailable, availability};
use crate::error::TargetError;
use crate::live::Target;
use crate::smaller_volumes::SmallerVolumes;
use crate::spec::{Location, SpecError, TargetSpec, refuse_duplicate_labels};
use crate::surroundings::Surroundings;
use crate::workshop::Workshop;

/// Targets that can be made here.
#[derive(Debug)]
pub struct Selection {
    specs: Vec<TargetSpec>,
    skipped: Vec<Skipped>,
    surroundings: Surroundings,
}

/// Why targets cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// Two have the same label.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// One cannot be made here.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl Selection {
    /// Selects all of these targets. Images that do not fit beside each other are made smaller.
    ///
    /// # Errors
    /// Two have the same label, or one cannot be made here.
    pub fn all(specs: Vec<TargetSpec>, surroundings: Surroundings) -> Result<Self, SelectionError> {
        refuse_duplicate_labels(&specs)?;
        let surroundings = fitted(surroundings, &specs);
        for spec in &specs {
            availability(spec, &surroundings)?;
        }
        Ok(Self { specs, skipped: Vec::new(), surroundings })
    }

    /// Selects those targets that can be made here, and skips the others, with the reason.
    #[must_use]
    pub fn possible(specs: Vec<TargetSpec>, surroundings: Surroundings) -> Self {
        let surroundings = fitted(surroundings, &specs);
        let mut selection = Self { specs: Vec::new(), skipped: Vec::new(), surroundings };
        selection.extend(specs);
        selection
    }

    /// Adds those of these targets that can be made here, and skips the others.
    pub fn extend(&mut self, specs: Vec<TargetSpec>) {
        for spec in specs {
            match availability(&spec, &self.surroundings) {
                Ok(()) => self.specs.push(spec),
                Err(why) => {
                    self.skipped.push(Skipped { target: spec.label, why: why.to_string() });
                }
            }
        }
    }

    /// Whether there is nothing to make.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// The targets that cannot be made here, with the reasons.
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Whether images without a given size are smaller than an ordinary volume, and why.
    #[must_use]
    pub fn smaller_volumes(&self) -> Option<SmallerVolumes> {
        self.surroundings.smaller_volumes(&self.specs)
    }

    /// Makes the targets. The process must still have only one thread.
    ///
    /// # Errors
    /// What failed, after removing everything that was made.
    pub fn make(self) -> Result<(Workshop, Vec<Target>), TargetError> {
        let workshop = Workshop::open(self.surroundings)?;
        let made = self.specs.iter().map(|spec| workshop.make(spec)).collect::<Result<_, _>>()?;
        Ok((workshop, made))
    }
}

fn fitted(mut surroundings: Surroundings, specs: &[TargetSpec]) -> Surroundings {
    if specs.iter().any(|spec| matches!(spec.location, Location::Scratch(_))) {
        surroundings.fit_images(specs);
    }
    surroundings
}
