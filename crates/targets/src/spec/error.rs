//! Why a target's text is refused.

/// Why a target's text was not understood, or asks for something impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// Neither a file system nor a directory.
    #[error(
        "`{given}` is neither a file system that fsprism makes nor an existing directory\
         {suggestion}; a path starts with / or ./"
    )]
    UnknownFileSystem {
        /// The name as given.
        given: String,
        /// The most similar known name, if there is one.
        suggestion: String,
    },
    /// Something of that name exists, but cannot be accessed.
    #[error(
        "`{given}` is no file system that fsprism makes, and what has that name here cannot be \
         looked at ({why}): give another directory, or make this one accessible"
    )]
    Unseen {
        /// The name as given.
        given: String,
        /// The kernel's error.
        why: String,
    },
    /// A file system that is known but cannot be made.
    #[error("fsprism does not make {given}: {why}; {instead}")]
    NotMade {
        /// The name as given.
        given: String,
        /// Why, as a clause.
        why: &'static str,
        /// What to do instead, as a clause.
        instead: &'static str,
    },
    /// An option that does not exist.
    #[error("a target has no option `{given}`{suggestion}")]
    UnknownOption {
        /// The option as given.
        given: String,
        /// The most similar known option.
        suggestion: String,
    },
    /// An option given twice.
    #[error("the option `{key}=` appears twice in `{target}`; leave one out")]
    RepeatedOption {
        /// The option.
        key: &'static str,
        /// The target's text.
        target: String,
    },
    /// A size or rate that is not a number.
    #[error("`{key}={value}` is not a size; write a whole number, optionally with k, m, g or t")]
    BadSize {
        /// The option.
        key: &'static str,
        /// The value as given.
        value: String,
    },
    /// An unknown value of `image=`.
    #[error("`image={value}` is not a known value; write `image=allocated`, or leave it out")]
    BadImage {
        /// The value as given.
        value: String,
    },
    /// An unknown value of `door=`.
    #[error("`door={value}` is not a known way in: write `door=library` or `door=preload`")]
    BadDoor {
        /// The value as given.
        value: String,
    },
    /// A way in that is not measured.
    #[error("`{target}` cannot be measured by that way in here: {why}; leave out `door=`")]
    NoWayIn {
        /// The target's text, without a label.
        target: String,
        /// What is measured instead, as a clause.
        why: &'static str,
    },
    /// A size or rate of 0.
    #[error("`{key}={value}` leaves nothing to measure; give `{key}=` a value above 0")]
    Zero {
        /// The option.
        key: &'static str,
        /// The value as given.
        value: String,
    },
    /// A read-ahead that is not a whole number of pages.
    #[error(
        "`{key}={value}` is not a whole number of pages; write 0 or a multiple of {page_bytes} \
        bytes"
    )]
    NotWholePages {
        /// The option.
        key: &'static str,
        /// The value as given.
        value: String,
        /// The kernel's page size.
        page_bytes: u64,
    },
    /// Not a time.
    #[error("`{key}={value}` is not a time; write a whole number with us, ms or s, such as 2ms")]
    BadTime {
        /// The option.
        key: &'static str,
        /// The value as given.
        value: String,
    },
    /// A delay that a device cannot have.
    #[error("`{key}={value}` is out of range: give a time of {least} to {most}")]
    BadDelay {
        /// The option.
        key: &'static str,
        /// The value as given.
        value: String,
        /// The shortest.
        least: String,
        /// The longest.
        most: String,
    },
    /// A cache that would take too much memory to simulate.
    #[error("`{key}={value}` is too large: give {most} at most")]
    LargeCache {
        /// The option.
        key: &'static str,
        /// The value as given.
        value: String,
        /// The largest.
        most: &'static str,
    },
    /// Not a number of rounds, or too many.
    #[error("`{key}={value}` is not a valid number of rounds; write a whole number up to {most}")]
    BadRounds {
        /// The option.
        key: &'static str,
        /// The value as given.
        value: String,
        /// The maximum.
        most: u32,
    },
    /// A share that is not valid, or leaves no room to work in.
    #[error("`{key}={value}` is not a valid share of the space; write 10% to 95%")]
    BadShare {
        /// The option.
        key: &'static str,
        /// The value as given.
        value: String,
    },
    /// An option without a value.
    #[error("`{key}=` has no value; give one or leave the option out")]
    Empty {
        /// The option.
        key: &'static str,
    },
    /// An option that has no effect on this kind of target.
    #[error("`{key}=` does not apply to {place}: {reason}; leave it out")]
    NotForThis {
        /// The option.
        key: &'static str,
        /// The file system, or "a directory".
        place: String,
        /// Why.
        reason: &'static str,
    },
    /// An option for mkfs or mount that names another device or file.
    #[error(
        "`{key}=` must not name another device or file, as `{word}` does, because fsprism formats \
        and mounts only its own image or the device named with device=; leave it out"
    )]
    NamesADevice {
        /// The option.
        key: &'static str,
        /// The word that does.
        word: String,
    },
    /// A label that reports could not show.
    #[error(
        "`{label}` cannot be a label; use letters, digits and _ + - . (in `{target}`), or put ./ \
         before a path that contains an equals sign"
    )]
    BadLabel {
        /// The label as given.
        label: String,
        /// The target's text.
        target: String,
    },
    /// Two targets with the same label.
    #[error("two targets are labelled `{label}`; put a label before one of them: `other={target}`")]
    DuplicateLabel {
        /// The label.
        label: String,
        /// The second target, without a label.
        target: String,
    },
}
