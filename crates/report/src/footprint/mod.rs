//! Footprints as text and as documents: what `fsprism footprint map|stacks|diff` prints about
//! studied traces. [`documents`] is what is printed as JSON, [`text`] is what terminals show.

pub mod documents;
#[cfg(test)]
mod tests;
pub mod text;
