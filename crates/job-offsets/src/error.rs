//! Why no offsets can be chosen for a job.

/// Why the value of an option, or a job, has no offsets. Each message names the option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OffsetError {
    /// A size in a list is none.
    #[error("{option}: `{text}` is not a size")]
    NotASize {
        /// The option.
        option: &'static str,
        /// The text.
        text: String,
    },
    /// A number in a value is none.
    #[error("{option}: `{text}` is not a number")]
    NotANumber {
        /// The option.
        option: &'static str,
        /// The text.
        text: String,
    },
    /// A number is outside of what it may be.
    #[error("{option}: {what} must be {range}")]
    OutOfRange {
        /// The option.
        option: &'static str,
        /// What the number is.
        what: &'static str,
        /// What it may be, as the rest of the sentence.
        range: &'static str,
    },
    /// A name that an option does not know.
    #[error("{option}: `{text}` is not one of its values")]
    Unknown {
        /// The option.
        option: &'static str,
        /// The name.
        text: String,
    },
    /// A list is too long.
    #[error("{option}: more than {most} entries")]
    TooManyEntries {
        /// The option.
        option: &'static str,
        /// How many it may have.
        most: usize,
    },
    /// Percentages of a list do not add up.
    #[error("{option}: the percentages add up to {sum} instead of 100")]
    PercentagesDoNotAddUp {
        /// The option.
        option: &'static str,
        /// What they add up to.
        sum: u64,
    },
    /// There is no file to choose.
    #[error("nrfiles: a job without files has no offsets")]
    NoFiles,
    /// The register of `random_generator=lfsr` would not move.
    #[error(
        "random_generator=lfsr: no register for {blocks} blocks starts from this seed; choose \
         another randseed, with randrepeat=0"
    )]
    StuckLfsr {
        /// Blocks of the file.
        blocks: u64,
    },
    /// Block sizes that cannot be.
    #[error("bs: sizes must be at least 1 byte, and the lowest no more than the highest")]
    BlockSizes,
    /// The offset is beyond the end of the file.
    #[error("offset: {offset_bytes} bytes are beyond the end of a file of {file_bytes} bytes")]
    OffsetBeyondEnd {
        /// The offset.
        offset_bytes: u64,
        /// The size of the file.
        file_bytes: u64,
    },
    /// No size is known.
    #[error("size: needed, as none of the files has a size")]
    NoSize,
    /// Less than one block.
    #[error("size: {size_bytes} bytes are less than the smallest block, {block_bytes} bytes")]
    LessThanABlock {
        /// The size.
        size_bytes: u64,
        /// The block.
        block_bytes: u64,
    },
}
