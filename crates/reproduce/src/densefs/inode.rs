//! Section 3.1: how an inode of 112 bytes became one of 56, and what ours takes.
//!
//! The paper does not print its structs. Those here have the fields that it names: those of `struct
//! stat` that an inode has, a lock, a count of openings, and a union of pointers. Their sizes are
//! those of the types, so the table says that the paper's arithmetic is right, and which of its
//! steps our inode takes too.

use densefs::InodeBytes;
use serde::Serialize;
use textual::Columns;

use crate::statement::{Statement, statement};

/// An inode as `struct stat` suggests it.
#[repr(C)]
struct Straightforward {
    lock: u32,
    number: u64,
    mode: u32,
    links: u32,
    owner: u32,
    group: u32,
    size: u64,
    blocks: u64,
    /// As `struct timespec`: last access, change of content, change of attributes.
    times: [[u64; 2]; 3],
    opens: u32,
    content: u64,
}

/// With times of the kernel's type `ktime_t`, and without that of the last access.
#[repr(C)]
struct ShortTimes {
    lock: u32,
    number: u64,
    mode: u32,
    links: u32,
    owner: u32,
    group: u32,
    size: u64,
    blocks: u64,
    times: [u64; 2],
    opens: u32,
    content: u64,
}

/// Also without its number.
#[repr(C)]
struct Numberless {
    lock: u32,
    mode: u32,
    links: u32,
    owner: u32,
    group: u32,
    size: u64,
    blocks: u64,
    times: [u64; 2],
    opens: u32,
    content: u64,
}

/// Also with owner, group and mode in a table, and in another order.
#[repr(C)]
struct Compact {
    lock: u32,
    links: u32,
    opens: u32,
    owner_and_mode: u16,
    size: u64,
    blocks: u64,
    times: [u64; 2],
    content: u64,
}

const SIZES: [usize; 4] = [
    size_of::<Straightforward>(),
    size_of::<ShortTimes>(),
    size_of::<Numberless>(),
    size_of::<Compact>(),
];
/// What the index of a table saves beside owner, group and mode.
const BY_TABLE: usize = 3 * size_of::<u32>() - size_of::<u16>();
const OURS: InodeBytes = InodeBytes::OURS;
const LINE_BYTES: usize = 64;

/// A step of section 3.1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InodeStep {
    /// What is done.
    pub step: &'static str,
    /// The bytes of the inode, or those saved, in the paper.
    pub published: &'static str,
    /// The same of a struct with the fields that the paper names.
    pub rebuilt: String,
    /// What our inode has of it.
    pub ours: String,
}

/// The steps, in the paper's order.
pub(super) fn steps() -> Vec<InodeStep> {
    let saved = |from: usize, to: usize| format!("-{}", SIZES[from] - SIZES[to]);
    let step = |step, published, rebuilt: String, ours: String| InodeStep {
        step,
        published,
        rebuilt,
        ours,
    };
    vec![
        step("like struct stat", "112", SIZES[0].to_string(), String::new()),
        step("times of 8 bytes, no atime", "-32", saved(0, 1), format!("{} for times", OURS.times)),
        step("no inode number", "-8", saved(1, 2), format!("{} for a number", OURS.left())),
        step(
            "owner, group, mode in a table",
            "-10",
            format!("-{BY_TABLE}"),
            format!("{} for an index", OURS.owner_and_mode),
        ),
        step(
            "padding, another order",
            "56",
            SIZES[3].to_string(),
            format!("{} and a name of {}", OURS.whole - OURS.name, OURS.name),
        ),
    ]
}

/// What the paper says of them.
pub(super) fn statements() -> Vec<Statement> {
    let said = |claim, published, measured: String, holds| {
        statement("section 3.1", claim, published, Some((measured, holds))).within("exact")
    };
    vec![
        said(
            "an inode like struct stat, with a lock, a count and a pointer, has 112 bytes",
            "112 bytes",
            format!("{} bytes with the fields that the paper names", SIZES[0]),
            SIZES[0] == 112,
        ),
        said(
            "times of 8 bytes instead of 16, and no atime, save 32 bytes",
            "48 to 16 bytes of times",
            format!("{} bytes less; our inode has {} of times", SIZES[0] - SIZES[1], OURS.times),
            SIZES[0] - SIZES[1] == 32 && OURS.times == 16,
        ),
        said(
            "a number that is made from the inode's address saves 8 bytes",
            "8 bytes",
            format!("{} bytes less; our inode has {} left", SIZES[1] - SIZES[2], OURS.left()),
            SIZES[1] - SIZES[2] == 8 && OURS.left() == 0,
        ),
        said(
            "a table of owners, groups and modes saves 10 bytes",
            "12 to 2 bytes",
            format!("{BY_TABLE} bytes less; our inode has an index of {}", OURS.owner_and_mode),
            BY_TABLE == 10 && OURS.owner_and_mode == 2,
        ),
        said(
            "the inode fits in a line of 64 bytes",
            "56 bytes",
            format!(
                "{} bytes so far; ours has {}, of which {} are its name, which the paper's has \
                 elsewhere",
                SIZES[3], OURS.whole, OURS.name
            ),
            SIZES[3] == 56 && OURS.whole <= LINE_BYTES,
        ),
    ]
}

pub(super) fn text(steps: &[InodeStep]) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let mut columns = Columns::headed(["step", "paper", "rebuilt", "our inode"]);
    for one in steps {
        columns.row([
            one.step.to_owned(),
            one.published.to_owned(),
            one.rebuilt.clone(),
            one.ours.clone(),
        ]);
    }
    format!("\nSection 3.1: bytes of an inode\n{}", columns.render())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::Outcome;

    #[test]
    fn the_structs_have_the_published_sizes() {
        assert_eq!(SIZES, [112, 80, 72, 56]);
        // The last 6 bytes were padding.
        assert_eq!(SIZES[2] - BY_TABLE - SIZES[3], 6);
        assert_eq!((OURS.whole, OURS.left()), (64, 0));
        assert!(statements().iter().all(|one| one.outcome == Outcome::Holds));
    }

    #[test]
    fn each_step_is_beside_the_published_one() {
        for step in steps() {
            assert_eq!(step.rebuilt, step.published, "{}", step.step);
        }
    }
}
