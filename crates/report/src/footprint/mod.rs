//! Footprints in words and documents: what `fsprism footprint map|stacks|diff` print of studied
//! traces. [`documents`] holds what is printed as JSON, [`text`] what terminals show.

pub mod documents;
#[cfg(test)]
mod tests;
pub mod text;
