//! That images which name no size are smaller than an ordinary volume, and why.

use std::fmt;
use std::path::PathBuf;

use textual::size;

const GIB: u64 = 1 << 30;
/// The size of an image that names none: a volume like people's, for which mkfs takes the defaults
/// of one. Sparse, it takes what is written.
pub(crate) const VOLUME_BYTES: u64 = 64 * GIB;

/// Images that name no size, made smaller than an ordinary volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallerVolumes {
    /// What each of them has.
    pub image_bytes: u64,
    /// Why it is not more.
    pub why: WhySmaller,
}

/// What keeps images from having the size of an ordinary volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhySmaller {
    /// At least one of them is written as a whole, or for the most part.
    Written,
    /// The scratch directory cannot hold more.
    Scratch(PathBuf),
}

impl fmt::Display for SmallerVolumes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, volume) = (size(self.image_bytes as f64, 3), size(VOLUME_BYTES as f64, 3));
        write!(formatter, "images are {bytes}, not the usual {volume}, because ")?;
        match &self.why {
            WhySmaller::Written => write!(
                formatter,
                "much of one is written first (aged=, image=allocated, or filled= where nothing \
                 can be reserved); to choose a size, give size="
            )?,
            WhySmaller::Scratch(directory) => write!(
                formatter,
                "{} cannot hold larger ones; name another directory with --scratch",
                directory.display()
            )?,
        }
        write!(formatter, ". Some figures depend on the size, above all random writes on btrfs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_names_what_to_change() {
        let said = |why| SmallerVolumes { image_bytes: 405 << 20, why }.to_string();
        let scratch = said(WhySmaller::Scratch(PathBuf::from("/small")));
        assert!(scratch.starts_with("images are 405 MiB, not the usual 64 GiB"), "{scratch}");
        assert!(scratch.contains("/small") && scratch.contains("--scratch"), "{scratch}");
        assert!(said(WhySmaller::Written).contains("size="));
    }
}
