//! What is wrong with a table or a series, in one sentence that says where.

/// Why a file's text cannot be analysed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// It is empty, or has only a header.
    #[error("{file} contains no values")]
    Empty {
        /// The file.
        file: String,
    },
    /// It is not a table of comma-separated values.
    #[error("{file}, line {line}: {why}")]
    NotATable {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong there.
        why: String,
    },
    /// The requested column does not exist.
    #[error("{file} has no column {column}; it has {there}")]
    MissingColumn {
        /// The file.
        file: String,
        /// The column asked for.
        column: String,
        /// The existing columns, separated by commas.
        there: String,
    },
    /// Two columns have the same name.
    #[error("{file} has two columns named {column}: rename one")]
    DoubleColumn {
        /// The file.
        file: String,
        /// Their name.
        column: String,
    },
    /// A cell that should contain a number does not.
    #[error("{file}, line {line}, column {column}: {text:?} is not a finite number")]
    NotANumber {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column's name or, if there is no header, its number from 1.
        column: String,
        /// The cell's content.
        text: String,
    },
    /// The cell of a factor is empty.
    #[error("{file}, line {line}, column {column}: the level is missing")]
    NoLevel {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column's name.
        column: String,
    },
    /// One column is used for two purposes.
    #[error("column {column} is named twice: factors and response must be different columns")]
    NamedTwice {
        /// The column.
        column: String,
    },
    /// The file has several columns, and none was chosen.
    #[error("{file} has several columns ({there}): choose one with --column")]
    WhichColumn {
        /// The file.
        file: String,
        /// The existing columns, separated by commas.
        there: String,
    },
    /// A wide table has two factors, but a different number of names was given.
    #[error("a wide table has two factors, rows and columns, but --factors names {named}")]
    WideFactors {
        /// How many names were given.
        named: usize,
    },
}
