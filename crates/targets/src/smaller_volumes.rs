//! Why images without a given size are smaller than an ordinary volume, if they are.

use std::fmt;
use std::path::PathBuf;

use textual::size;

const GIB: u64 = 1 << 30;
/// The size of an image if none is given: that of an ordinary volume, so that mkfs uses the
/// defaults for one. The image is sparse and takes only what is written.
pub(crate) const VOLUME_BYTES: u64 = 64 * GIB;

/// Says that images without a given size are smaller than an ordinary volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallerVolumes {
    /// The size of each of them.
    pub image_bytes: u64,
    /// Why they are not larger.
    pub why: WhySmaller,
}

/// Why images are smaller than an ordinary volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhySmaller {
    /// All or most of at least one of them is written.
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
