//! One setting: an option with its value.

use std::fmt;

use crate::place::Place;

/// `bs=4k`, or an option without a value, such as `direct`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The option.
    pub name: String,
    /// Its value; `None` without `=`.
    pub value: Option<String>,
    /// Where it was written.
    pub place: Place,
}

impl fmt::Display for Setting {
    /// As it was written.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(formatter, "{}={value}", self.name),
            None => formatter.write_str(&self.name),
        }
    }
}
