//! The parts of the paper, and what each needs.

/// The operations of Figure 1. Figure 2 uses them here too, since the paper does not name its own.
pub const FIGURE_OPERATIONS: [&str; 3] = ["create", "unlink", "rename"];
/// The operations against which the statements of section 2 are checked.
pub(super) const OPERATIONS: [&str; 6] = ["create", "unlink", "rename", "stat", "write", "read"];
/// The paper's file systems.
const FILE_SYSTEMS: [&str; 5] = ["btrfs", "ext4", "f2fs", "tmpfs", "xfs"];
/// DenseFS in a guest's kernel, before and after its code was made compact.
const COMPACTION: [&str; 2] =
    ["densefs-plain=densefs:layout=plain", "densefs-ordered=densefs:layout=ordered"];

/// What can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// Figure 1: cachemaps of three operations on xfs.
    Figure1,
    /// Figure 2: cgstacks of five file systems.
    Figure2,
    /// Figure 3: cachemaps of creat on DenseFS.
    Figure3,
    /// Figure 4: how much longer user code takes.
    Figure4,
    /// What section 2 says about footprints.
    Section2,
    /// Section 3.1: the bytes of an inode.
    Section31,
    /// Section 3.2: the lines of code.
    Section32,
    /// Section 4: Figure 4, and grep.
    Section4,
}

impl Part {
    /// The parts by name, except the whole.
    const NAMED: [(&str, Self); 8] = [
        ("figure-1", Self::Figure1),
        ("figure-2", Self::Figure2),
        ("figure-3", Self::Figure3),
        ("figure-4", Self::Figure4),
        ("section-2", Self::Section2),
        ("section-3.1", Self::Section31),
        ("section-3.2", Self::Section32),
        ("section-4", Self::Section4),
    ];

    /// The names of all parts.
    #[must_use]
    pub fn names() -> [&'static str; 8] {
        Self::NAMED.map(|(name, _)| name)
    }

    /// The part with this name, such as `figure-1`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(one, _)| *one == name).map(|(_, part)| part)
    }

    /// The file systems that are traced for it; none if nothing is.
    #[must_use]
    pub fn file_systems(self) -> &'static [&'static str] {
        match self {
            Self::Figure1 => &["xfs"],
            Self::Figure2 | Self::Section2 | Self::Whole => &FILE_SYSTEMS,
            Self::Figure3 | Self::Figure4 | Self::Section31 | Self::Section32 | Self::Section4 => {
                &[]
            }
        }
    }

    /// The layouts of DenseFS in the kernel that are traced for it.
    #[must_use]
    pub fn compaction(self) -> &'static [&'static str] {
        if self.has(Self::Figure3) { &COMPACTION } else { &[] }
    }

    /// The operations that are traced for it.
    #[must_use]
    pub fn operations(self) -> &'static [&'static str] {
        match self {
            Self::Figure1 | Self::Figure2 => &FIGURE_OPERATIONS,
            Self::Figure3 => &["create"],
            Self::Whole | Self::Section2 => &OPERATIONS,
            Self::Figure4 | Self::Section31 | Self::Section32 | Self::Section4 => &[],
        }
    }

    /// Whether it takes traces.
    #[must_use]
    pub fn is_traced(self) -> bool {
        !self.operations().is_empty()
    }

    /// Whether it takes a run of the suite `pollution`.
    #[must_use]
    pub fn is_timed(self) -> bool {
        self.has(Self::Figure4)
    }

    /// Whether it takes the places of a kernel's functions.
    #[must_use]
    pub fn has_functions(self) -> bool {
        self.has(Self::Section32)
    }

    /// Whether it takes executions of grep.
    #[must_use]
    pub fn has_grep(self) -> bool {
        self.has(Self::Section4)
    }

    /// Whether it has all that another part has.
    pub(super) fn has(self, other: Self) -> bool {
        self == Self::Whole || self == other || (self == Self::Section4 && other == Self::Figure4)
    }
}
