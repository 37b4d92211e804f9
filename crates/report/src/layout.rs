//! How text for people is laid out.

/// How a report is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal; 40 to 120 of them are used.
    pub width: usize,
    /// Whether headings and doubts are highlighted with escape sequences.
    pub colour: bool,
}

impl Default for Options {
    /// 80 columns, no colour.
    fn default() -> Self {
        Self { width: 80, colour: false }
    }
}
