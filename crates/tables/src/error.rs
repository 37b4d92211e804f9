//! What is wrong with a table or a series, in one sentence that names the place.

/// Why a file's text is not what an analysis needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// There is nothing in it but, perhaps, a header.
    #[error("{file} contains no values")]
    Empty {
        /// The file.
        file: String,
    },
    /// It is no table of separated values.
    #[error("{file}, line {line}: {why}")]
    NotATable {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        why: String,
    },
    /// A column was named that is not there.
    #[error("{file} has no column {column}; it has {there}")]
    MissingColumn {
        /// The file.
        file: String,
        /// The column asked for.
        column: String,
        /// The columns that are there, separated by commas.
        there: String,
    },
    /// Two columns have one name.
    #[error("{file} has two columns named {column}: rename one")]
    DoubleColumn {
        /// The file.
        file: String,
        /// Their name.
        column: String,
    },
    /// A cell should hold a number and does not.
    #[error("{file}, line {line}, column {column}: {text:?} is not a finite number")]
    NotANumber {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column's name or, without a header, its number from 1.
        column: String,
        /// What the cell holds.
        text: String,
    },
    /// A factor's cell is empty.
    #[error("{file}, line {line}, column {column}: the level is missing")]
    NoLevel {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column's name.
        column: String,
    },
    /// One column serves two purposes.
    #[error("column {column} is named twice: factors and response must be different columns")]
    NamedTwice {
        /// The column.
        column: String,
    },
    /// A file with several columns, and none of them chosen.
    #[error("{file} has several columns ({there}): choose one with --column")]
    WhichColumn {
        /// The file.
        file: String,
        /// The columns that are there, separated by commas.
        there: String,
    },
    /// A wide table has two factors, and other than two were named.
    #[error("a wide table has two factors, rows and columns, but --factors names {named}")]
    WideFactors {
        /// How many were named.
        named: usize,
    },
}
