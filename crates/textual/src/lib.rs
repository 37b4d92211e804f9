//! Plain text for people: lines that fit, columns that line up, numbers with a sensible number of
//! digits, suggestions for misspelt names.

mod columns;
mod lines;
mod numbers;
mod plain;
mod sizes;
mod words;

pub use columns::{Columns, GAP, INDENT, Layout, widest};
pub use lines::{Indent, UNBREAKABLE, paragraph, unbroken, wrap};
pub use numbers::{figure, grouped, p_equation, p_value, percent, two_digits};
pub use plain::{plain_json, plain_path, plain_text};
pub use sizes::{on_axis, size};
pub use words::{
    did_you_mean, list, nearest, plural, program, set_program, shell_path, shell_word,
};
