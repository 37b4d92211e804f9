//! How the module's code is laid out: the steps of section 3.2 of "DenseFS", one after another, so
//! that each can be measured by itself.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// How the module's code is laid out. Each layout also has what those before it have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// As compilers leave it that know nothing: functions begin at multiples of 16, and code that
    /// is hardly ever executed lies where it was written.
    Plain,
    /// Functions begin anywhere, one directly after another.
    Aligned,
    /// Code that is hardly ever executed lies apart.
    Hinted,
    /// Functions that the same calls execute lie together.
    #[default]
    Ordered,
}

impl Layout {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Aligned, Self::Hinted, Self::Ordered];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Aligned => "aligned",
            Self::Hinted => "hinted",
            Self::Ordered => "ordered",
        }
    }

    /// What the module's `Kbuild` must know of it.
    pub(super) fn c_variables(self) -> impl Iterator<Item = &'static str> {
        let is_packed = (self >= Self::Aligned).then_some("DENSEFS_PACKED=1");
        let is_hinted = (self >= Self::Hinted).then_some("DENSEFS_HINTED=1");
        let is_ordered = (self >= Self::Ordered).then_some("DENSEFS_ORDERED=1");
        [is_packed, is_hinted, is_ordered].into_iter().flatten()
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Layout {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|layout| layout.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no layout '{name}': choose from {names}")
        })
    }
}
