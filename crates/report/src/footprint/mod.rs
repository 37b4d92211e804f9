//! Footprints as text and as documents: what `fsprism footprint map|stacks|diff|pollution` prints
//! about studied traces. [`documents`] is what is printed as JSON, [`text`] is what terminals show;
//! [`polluted`] is both for code around operations, and [`applications`] for whole programs.

pub mod applications;
pub mod documents;
pub mod polluted;
#[cfg(test)]
mod tests;
pub mod text;
